/* SPDX-License-Identifier: MIT
 *
 * Readings of a bit pattern for people. */
#include <stdio.h>
#include <string.h>

#include "cli/ask/info_forms.h"
#include "cli/shared/human.h"
#include "dtinfo/scalar.h"
#include "dtinfo/spell.h"
#include "dtinfo/table.h"

enum { VALUE_COLUMN = 12, FORMULA_COLUMN = 37 };

static void put_indented(const struct dti_context *cx, const char *text)
{
    (void)fprintf(cx->out, "  %s\n", text);
}

/* The value, and what it means or how it is made up. */
static void put_value(const struct dti_context *cx, const char *text, const char *meaning)
{
    struct dti_line line = dti_context_line(cx);
    dti_line_text(&line, "  value");
    dti_line_to(&line, VALUE_COLUMN);
    dti_line_put(&line, DTI_STYLE_BOLD, text);
    if (meaning) {
        dti_line_to(&line, FORMULA_COLUMN);
        dti_line_text(&line, meaning);
    }
    dti_line_end(&line);
}

static void put_numeric_fields(const struct dti_context *cx, const struct dti_format *f,
                               uint64_t code, const struct dti_value *value)
{
    const struct dti_bits_anatomy a = dti_bits_dissect(f, code);
    struct dti_line line = dti_context_line(cx);
    char significand[DTI_TEXT_SIZE], text[DTI_TEXT_SIZE], formula[160];
    const char *const sign = value->negative ? "-" : "+";
    dti_spell_text(significand, &a.significand);
    dti_line_to(&line, 2);
    if (dti_format_is_signed(f))
        dti_line_print(&line, DTI_STYLE_PLAIN, "sign %s   ", sign);
    if (a.subnormal)
        dti_line_print(&line, DTI_STYLE_PLAIN, "exponent 0, so 1 - %d = %d", (int)f->bias,
                       (int)a.exponent);
    else
        dti_line_print(&line, DTI_STYLE_PLAIN, "exponent %d - %d = %d", (int)a.field, (int)f->bias,
                       (int)a.exponent);
    if (f->man_bits > 0)
        dti_line_print(&line, DTI_STYLE_PLAIN, "   significand %d + %llu/%llu = %s", !a.subnormal,
                       (unsigned long long)a.mantissa, 1ULL << f->man_bits, significand);
    dti_line_end(&line);
    dti_spell_text(text, value);
    (void)snprintf(formula, sizeof formula, "= %s%s x 2^%d", sign, significand, (int)a.exponent);
    put_value(cx, text, formula);
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
    put_value(cx, text, value.class > DTI_CLASS_FINITE ? special_meaning(f, &value) : NULL);
}

void dti_bits_human_one(const struct dti_context *cx, const struct dti_bits_reading *reading)
{
    char code[DTI_TEXT_SIZE], imaginary[DTI_TEXT_SIZE];
    unsigned width = reading->component.width;
    dti_spell_code(code, reading->code[0], width);
    if (reading->components == 1) {
        (void)fprintf(cx->out, "%s  %s\n", reading->dtype.name, code);
        put_component(cx, &reading->component, reading->code[0]);
        if (dti_bits_noncanonical(reading))
            put_indented(cx, DTI_BITS_NONCANONICAL);
        return;
    }
    dti_spell_code(imaginary, reading->code[1], width);
    (void)fprintf(cx->out, "%s  %s%s\n", reading->dtype.name, code, imaginary + 2);
    (void)fprintf(cx->out, "real part  %s  %s\n", reading->component.name, code);
    put_component(cx, &reading->component, reading->code[0]);
    (void)fprintf(cx->out, "imaginary part  %s  %s\n", reading->component.name, imaginary);
    put_component(cx, &reading->component, reading->code[1]);
}

/* "1+2j" of a complex dtype. */
static void put_number(struct dti_table *table, const struct dti_bits_reading *reading)
{
    char number[DTI_TEXT_SIZE], imaginary[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_decode(&reading->component, reading->code[0], &value);
    dti_spell_stored(number, &reading->component, reading->code[0], &value);
    if (reading->components == 1) {
        dti_table_cell(table, DTI_STYLE_BOLD, number);
        return;
    }
    dti_decode(&reading->component, reading->code[1], &value);
    dti_spell_text(imaginary, &value);
    dti_table_print(table, DTI_STYLE_BOLD, "%s%s%sj", number, imaginary[0] == '-' ? "" : "+",
                    imaginary);
}

enum dti_status dti_bits_human_table(const struct dti_context *cx, unsigned width,
                                     const struct dti_bits_answer *bits, struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("dtype|value|fields|class");
    for (size_t i = 0; i < bits->count; i++) {
        const struct dti_bits_reading *const reading = &bits->readings[i];
        const struct dti_format *const component = &reading->component;
        char real[HUMAN_FIELDS_SIZE], imaginary[HUMAN_FIELDS_SIZE] = "";
        const bool complex = reading->components == 2;
        dti_table_cell(table, DTI_STYLE_PLAIN, reading->dtype.name);
        put_number(table, reading);
        dti_human_fields(real, component, reading->code[0], NULL);
        if (complex)
            dti_human_fields(imaginary, component, reading->code[1], NULL);
        dti_table_print(table, DTI_STYLE_PLAIN, "%s%s%s", real, complex ? " " : "", imaginary);
        dti_table_cell(table, DTI_STYLE_DIM,
                       dti_format_is_float(&reading->dtype)
                           ? dti_number_class_name(dti_code_class(component, reading->code[0]))
                       : dti_bits_noncanonical(reading) ? "not canonical"
                                                        : "");
    }
    if (table)
        (void)fprintf(cx->out, "%s  %u bits\n", bits->text, width);
    return dti_table_end(table, cx->out, cx->colour, 2, reterr);
}
