/* SPDX-License-Identifier: MIT
 *
 * The fields of a code. */
#include "answers/cast/fields.h"

#include <string.h>

#include "core/code/taper.h"
#include "core/number/spell.h"
#include "report/picture.h"

/* Sign, prefix, exponent and mantissa; an integer is one field. Only tapered formats have a prefix,
 * and there the code determines the widths. */
enum { FIELDS = 4 };

static void split(const struct dti_format *f, uint64_t code, size_t ret_bits[FIELDS])
{
    unsigned bits[3] = {0, f->exp_bits, f->man_bits};
    const bool fields = dti_format_is_float(f);
    ret_bits[0] = fields ? dti_format_is_signed(f) : f->width;
    if (dti_format_is_tapered(f))
        dti_taper_fields(f, code, bits);
    for (size_t i = 0; i < 3; i++)
        ret_bits[1 + i] = fields ? bits[i] : 0;
}

void dti_fields_cell(struct dti_table *table, const struct dti_format *f, const uint64_t *codes,
                     size_t count)
{
    char binary[DTI_BINARY_SIZE];
    const char *blank = "";
    size_t bits[FIELDS];
    split(f, 0, bits);
    if (dti_format_is_float(f))
        dti_table_parts(table, bits[0] > 0 ? 0 : 1, "");
    else
        dti_table_cell(table, DTI_STYLE_PLAIN, "");
    for (size_t i = 0; i < count; i++) {
        const char *digits = binary;
        split(f, codes[i], bits);
        dti_spell_binary(binary, codes[i], f->width);
        for (unsigned field = 0; field < FIELDS; digits += bits[field++]) {
            if (bits[field] == 0)
                continue;
            dti_table_more(table, "%s%.*s", blank, (int)bits[field], digits);
            blank = " ";
        }
    }
}

/* One character per bit, split into the fields. */
static void put_fields(struct dti_line *line, const struct dti_format *f, uint64_t code,
                       const char *bit)
{
    size_t bits[FIELDS];
    split(f, code, bits);
    if (!dti_format_is_float(f)) {
        dti_line_text(line, bit);
        return;
    }
    for (unsigned i = 0; i < FIELDS; bit += bits[i++]) {
        dti_line_part(line, i < 2 ? i : i - 1, bit, bits[i]); /* prefix and exponent alike */
        dti_line_text(line, bits[i] > 0 && i + 1 < FIELDS ? " " : "");
    }
}

void dti_fields_put(struct dti_line *line, const struct dti_format *f, uint64_t code)
{
    char binary[DTI_BINARY_SIZE];
    dti_spell_binary(binary, code, f->width);
    put_fields(line, f, code, binary);
}

void dti_fields_put_names(struct dti_line *line, const struct dti_format *f, uint64_t code)
{
    char letters[DTI_BINARY_SIZE];
    size_t bits[FIELDS];
    split(f, code, bits);
    char *letter = letters;
    for (size_t i = 0; i < FIELDS; letter += bits[i++])
        memset(letter, "sdem"[i], bits[i]);
    *letter = '\0';
    put_fields(line, f, code, letters);
}
