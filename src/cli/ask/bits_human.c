/* SPDX-License-Identifier: MIT
 *
 * Readings of a bit pattern for people. */
#include <stdio.h>
#include <string.h>

#include "cli/ask/bits.h"
#include "cli/shared/human.h"
#include "dtinfo/scalar.h"
#include "dtinfo/spell.h"
#include "dtinfo/table.h"

enum { VALUE_COLUMN = 12, FORMULA_COLUMN = 37 };

static void put_indented(const struct dti_context *cx, const char *text)
{
    (void)fprintf(cx->out, "  %s\n", text);
}

static void put_numeric_fields(const struct dti_context *cx, const struct dti_format *f,
                               uint64_t code, const struct dti_value *value)
{
    struct bits_anatomy a = dti_bits_dissect(f, code);
    struct dti_line line = {.out = cx->out, .colour = cx->colour};
    char significand[DTI_TEXT_SIZE], text[DTI_TEXT_SIZE], formula[160], piece[96];
    const char *sign = value->negative ? "-" : "+";
    dti_spell_text(significand, &a.significand);

    dti_line_to(&line, 2);
    if (dti_format_is_signed(f)) {
        (void)snprintf(piece, sizeof piece, "sign %s   ", sign);
        dti_line_put(&line, DTI_STYLE_PLAIN, piece);
    }
    (void)snprintf(piece, sizeof piece,
                   a.subnormal ? "exponent 0, so 1 - %d = %d" : "exponent %d - %d = %d",
                   a.subnormal ? (int)f->bias : (int)a.field,
                   a.subnormal ? (int)a.exponent : (int)f->bias, (int)a.exponent);
    dti_line_put(&line, DTI_STYLE_PLAIN, piece);
    if (f->man_bits > 0) {
        (void)snprintf(piece, sizeof piece, "   significand %d + %llu/%llu = ", !a.subnormal,
                       (unsigned long long)a.mantissa, 1ULL << f->man_bits);
        dti_line_put(&line, DTI_STYLE_PLAIN, piece);
        dti_line_put(&line, DTI_STYLE_PLAIN, significand);
    }
    dti_line_end(&line);

    dti_spell_text(text, value);
    (void)snprintf(formula, sizeof formula, "= %s%s x 2^%d", sign, significand, (int)a.exponent);
    dti_line_put(&line, DTI_STYLE_PLAIN, "  value");
    dti_line_to(&line, VALUE_COLUMN);
    dti_line_put(&line, DTI_STYLE_BOLD, text);
    dti_line_to(&line, FORMULA_COLUMN);
    dti_line_put(&line, DTI_STYLE_PLAIN, formula);
    dti_line_end(&line);
}

static const char *special_meaning(const struct dti_format *f, const struct dti_value *value)
{
    if (value->class == DTI_CLASS_INF)
        return "infinity";
    if (f->specials != DTI_SPECIALS_IEEE)
        return "not a number";
    return value->hi >> 63 ? "not a number, quiet" : "not a number, signaling";
}

static void put_component(const struct dti_context *cx, const struct dti_format *f, uint64_t code)
{
    char fields[HUMAN_FIELDS_SIZE], letters[DTI_BINARY_SIZE], text[DTI_TEXT_SIZE];
    struct dti_line line = {.out = cx->out, .colour = cx->colour};
    struct dti_value value;
    dti_decode(f, code, &value);
    put_indented(cx, dti_human_fields(fields, f, code, NULL));
    if (dti_format_is_float(f)) {
        size_t sign = dti_format_is_signed(f);
        memset(letters, 's', sign);
        memset(letters + sign, 'e', f->exp_bits);
        memset(letters + sign + f->exp_bits, 'm', f->man_bits);
        letters[f->width] = '\0';
        put_indented(cx, dti_human_fields(fields, f, 0, letters));
        if (value.class <= DTI_CLASS_FINITE) {
            put_numeric_fields(cx, f, code, &value);
            return;
        }
    }
    dti_spell_stored(text, f, code, &value);
    dti_line_put(&line, DTI_STYLE_PLAIN, "  value");
    dti_line_to(&line, VALUE_COLUMN);
    dti_line_put(&line, DTI_STYLE_BOLD, text);
    if (value.class > DTI_CLASS_FINITE) {
        dti_line_to(&line, FORMULA_COLUMN);
        dti_line_put(&line, DTI_STYLE_PLAIN, special_meaning(f, &value));
    }
    dti_line_end(&line);
}

void dti_bits_human_one(const struct dti_context *cx, const struct bits_reading *reading)
{
    char code[DTI_TEXT_SIZE], imaginary[DTI_TEXT_SIZE];
    unsigned width = reading->component.width;
    dti_spell_code(code, reading->code[0], width);
    if (reading->components == 1) {
        (void)fprintf(cx->out, "%s  %s\n", reading->dtype.name, code);
        put_component(cx, &reading->component, reading->code[0]);
        if (dti_bits_noncanonical(reading))
            put_indented(cx, BITS_NONCANONICAL);
        return;
    }
    dti_spell_code(imaginary, reading->code[1], width);
    (void)fprintf(cx->out, "%s  %s%s\n", reading->dtype.name, code, imaginary + 2);
    (void)fprintf(cx->out, "real part  %s  %s\n", reading->component.name, code);
    put_component(cx, &reading->component, reading->code[0]);
    (void)fprintf(cx->out, "imaginary part  %s  %s\n", reading->component.name, imaginary);
    put_component(cx, &reading->component, reading->code[1]);
}

enum dti_status dti_bits_human_table(const struct dti_context *cx, const char *text, unsigned width,
                                     const struct bits_reading *readings, size_t count,
                                     struct dti_error *reterr)
{
    char cell[2 * HUMAN_FIELDS_SIZE], number[DTI_TEXT_SIZE], fields[HUMAN_FIELDS_SIZE];
    struct dti_table *table = dti_table_new(4);
    if (!table)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    (void)fprintf(cx->out, "%s  %u bits\n", text, width);
    dti_table_cell(table, DTI_STYLE_DIM, "dtype");
    dti_table_cell(table, DTI_STYLE_DIM, "value");
    dti_table_cell(table, DTI_STYLE_DIM, "fields");
    dti_table_cell(table, DTI_STYLE_DIM, "class");
    for (size_t i = 0; i < count; i++) {
        const struct bits_reading *reading = &readings[i];
        struct dti_value value[2];
        const char *class = "";
        for (size_t component = 0; component < reading->components; component++)
            dti_decode(&reading->component, reading->code[component], &value[component]);
        dti_table_cell(table, DTI_STYLE_PLAIN, reading->dtype.name);
        dti_spell_stored(number, &reading->component, reading->code[0], &value[0]);
        if (reading->components == 2) {
            char imaginary[DTI_TEXT_SIZE];
            dti_spell_text(imaginary, &value[1]);
            (void)snprintf(cell, sizeof cell, "%s%s%sj", number, imaginary[0] == '-' ? "" : "+",
                           imaginary);
            dti_table_cell(table, DTI_STYLE_BOLD, cell);
        } else {
            dti_table_cell(table, DTI_STYLE_BOLD, number);
            class = dti_number_class_name(dti_code_class(&reading->component, reading->code[0]));
        }
        cell[0] = '\0';
        for (size_t component = 0; component < reading->components; component++) {
            dti_human_fields(fields, &reading->component, reading->code[component], NULL);
            (void)snprintf(cell + strlen(cell), sizeof cell - strlen(cell), "%s%s",
                           component > 0 ? " " : "", fields);
        }
        dti_table_cell(table, DTI_STYLE_PLAIN, cell);
        if (!dti_format_is_float(&reading->dtype))
            class = dti_bits_noncanonical(reading) ? "not canonical" : "";
        dti_table_cell(table, DTI_STYLE_DIM, class);
    }
    bool done = dti_table_write(table, cx->out, cx->colour, 2);
    dti_table_free(table);
    return done ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}
