/* SPDX-License-Identifier: MIT
 *
 * dtinfo bits: the fields of a value or of a bit pattern. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/ask.h"
#include "cli/ask/answer_fields.h"
#include "cli/shared/human.h"
#include "cli/shared/operand_kinds.h"
#include "core/code/scalar.h"
#include "core/number/spell.h"
#include "report/table.h"
#include "requests/option_rows.h"
#include "util/run/allocate.h"
#include "util/text/nearest.h"

enum { VALUE_COLUMN = 12, FORMULA_COLUMN = 37 };

static void put_indented(const struct dti_command_context *cx, const char *text)
{
    (void)fprintf(cx->out, "  %s\n", text);
}

/* The value, and its meaning or its parts. */
static void put_value(const struct dti_command_context *cx, const char *text, const char *meaning)
{
    struct dti_line line = dti_command_context_line(cx);
    dti_line_text(&line, "  value");
    dti_line_to(&line, VALUE_COLUMN);
    dti_line_put(&line, DTI_STYLE_BOLD, text);
    if (meaning) {
        dti_line_to(&line, FORMULA_COLUMN);
        dti_line_text(&line, meaning);
    }
    dti_line_end(&line);
}

static void put_numeric_fields(const struct dti_command_context *cx, const struct dti_format *f,
                               uint64_t code, const struct dti_value *value)
{
    const struct dti_bits_anatomy a = dti_bits_dissect(f, code);
    struct dti_line line = dti_command_context_line(cx);
    char significand[DTI_TEXT_SIZE], text[DTI_TEXT_SIZE], formula[160];
    const char *const sign = value->negative ? "-" : "+";
    dti_spell_text(significand, &a.significand);
    dti_line_to(&line, 2);
    if (dti_format_is_signed(f))
        dti_line_print(&line, DTI_STYLE_PLAIN, "sign %s   ", sign);
    if (dti_format_is_tapered(f))
        dti_line_print(&line, DTI_STYLE_PLAIN, "exponent %d", (int)a.exponent);
    else if (a.subnormal)
        dti_line_print(&line, DTI_STYLE_PLAIN, "exponent 0, so 1 - %d = %d", (int)f->bias,
                       (int)a.exponent);
    else
        dti_line_print(&line, DTI_STYLE_PLAIN, "exponent %d - %d = %d", (int)a.field, (int)f->bias,
                       (int)a.exponent);
    if (a.man_bits > 0)
        dti_line_print(&line, DTI_STYLE_PLAIN, "   significand %d + %llu/%llu = %s", !a.subnormal,
                       (unsigned long long)a.mantissa, 1ULL << a.man_bits, significand);
    dti_line_end(&line);
    dti_spell_text(text, value);
    (void)snprintf(formula, sizeof formula, "= %s%s x 2^%d", sign, significand, (int)a.exponent);
    put_value(cx, text, formula);
}

static const char *special_meaning(const struct dti_format *f, const struct dti_value *value)
{
    if (value->kind == DTI_CLASS_INF)
        return "infinity";
    if (f->specials != DTI_SPECIALS_IEEE)
        return "not a number";
    return value->hi >> 63 ? "not a number, quiet" : "not a number, signaling";
}

static void put_component(const struct dti_command_context *cx, const struct dti_format *f,
                          uint64_t code)
{
    struct dti_line line = dti_command_context_line(cx);
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_decode(f, code, &value);
    dti_line_to(&line, 2);
    dti_fields_put(&line, f, code);
    dti_line_end(&line);
    if (dti_format_is_float(f)) {
        dti_line_to(&line, 2);
        dti_fields_put_names(&line, f, code);
        dti_line_end(&line);
        if (value.kind <= DTI_CLASS_FINITE) {
            put_numeric_fields(cx, f, code, &value);
            return;
        }
    }
    dti_spell_stored(text, f, code, &value);
    put_value(cx, text, value.kind > DTI_CLASS_FINITE ? special_meaning(f, &value) : NULL);
}

static void put_one(const struct dti_command_context *cx, const struct dti_bits_reading *reading)
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

static enum dti_status put_table(const struct dti_command_context *cx, unsigned width, bool all,
                                 const struct dti_bits_answer *bits, struct dti_error *reterr)
{
    size_t hidden = 0;
    struct dti_table *const table = dti_table_titled("dtype|value|fields|class", "9974");
    for (size_t i = 0; i < bits->count; i++) {
        const struct dti_bits_reading *const reading = &bits->readings[i];
        const struct dti_format *const component = &reading->component;
        if (!all && dti_format_is_p3109(&reading->dtype)) {
            hidden++;
            continue;
        }
        dti_table_cell(table, DTI_STYLE_PLAIN, reading->dtype.name);
        put_number(table, reading);
        dti_fields_cell(table, component, reading->code, reading->components);
        dti_table_cell(table, DTI_STYLE_DIM,
                       dti_format_is_float(&reading->dtype)
                           ? dti_number_class_name(dti_code_class(component, reading->code[0]))
                       : dti_bits_noncanonical(reading) ? "not canonical"
                                                        : "");
    }
    if (table)
        (void)fprintf(cx->out, "%s  %u bits\n", bits->text, width);
    return dti_table_without_p3109(cx, table, hidden, 2, reterr);
}

struct bits_args {
    bool value, all;
    const char *field;
};

static const struct dti_option options[] = {
    OPT_FLAG(0, "value", struct bits_args, value, "0x and 0b are numbers, not bit patterns"),
    DTI_ROW_FIELD(struct bits_args, field, "results"),
    DTI_ROW_ALL(struct bits_args, all),
    OPT_END,
};

/* One document, or one per reading with JSON Lines. */
static enum dti_status print_documents(struct dti_command_context *cx,
                                       const struct dti_bits_answer *bits, struct dti_error *reterr)
{
    struct dti_bits_answer some = *bits;
    enum dti_status status = DTI_OK;
    if (cx->output == DTI_OUTPUT_JSONL)
        some.count = 1;
    const struct dti_bits_reading *const end = bits->readings + bits->count;
    for (; some.readings < end && status == DTI_OK; some.readings += some.count)
        status = DTI_ANSWER(cx, bits, &some, reterr);
    return status;
}

/* width: of a pattern that is read as every dtype of its width, or 0. all: the P3109 formats too.
 */
static enum dti_status show(struct dti_command_context *cx, const struct dti_bits_answer *bits,
                            unsigned width, bool all, const char *fields, struct dti_error *reterr)
{
    if (cx->output != DTI_OUTPUT_HUMAN)
        return print_documents(cx, bits, reterr);
    if (fields) {
        dti_document_bits(cx->json, bits);
        return dti_fields_print(cx, "results", fields, reterr);
    }
    if (width > 0)
        return put_table(cx, width, all, bits, reterr);
    for (size_t i = 0; i < bits->count; i++) {
        if (i > 0)
            (void)fputc('\n', cx->out);
        put_one(cx, &bits->readings[i]);
    }
    return DTI_OK;
}

static enum dti_status read_pattern(const char *text, const struct dti_bits_pattern *pattern,
                                    const struct dti_format *format, struct dti_bits_reading *ret,
                                    struct dti_error *reterr)
{
    const unsigned width = format->width;
    if (!dti_bits_pattern_fits(pattern, width) && pattern->fields)
        return dti_fail_word(reterr, DTI_BAD_PATTERN, text, strlen(text),
                             "%s has %u bits, but %s has %u", DTI_QUOTED(text, strlen(text)),
                             pattern->width, format->name, width);
    if (!dti_bits_pattern_fits(pattern, width))
        return dti_fail_word(reterr, DTI_BAD_PATTERN, text, strlen(text),
                             "%s does not fit in the %u bits of %s; --value reads it as a number",
                             DTI_QUOTED(text, strlen(text)), width, format->name);
    dti_bits_read_pattern(ret, pattern, format);
    return DTI_OK;
}

static enum dti_status read_value(struct dti_command_context *cx, const char *text,
                                  const struct dti_format *format, struct dti_bits_reading *ret,
                                  struct dti_error *reterr)
{
    struct dti_cast cast = {.via_count = 0};
    struct dti_value value;
    struct dti_scalar scalar;
    const enum dti_status status = dti_value_parse(&value, text, strlen(text), reterr);
    if (status != DTI_OK)
        return status;
    dti_bits_reading_init(ret, format);
    cast.dst = ret->component;
    for (size_t i = 0; i < ret->components; i++) {
        dti_scalar_store(&cast, &value, NULL, 0, &scalar);
        if (scalar.flags & DTI_FLAG_NO_NAN)
            return dti_fail(reterr, DTI_NOT_REPRESENTABLE, "%s has no NaN", format->name);
        if (scalar.flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID))
            dti_warn(cx, "%s does not fit %s; 'dtinfo cast' shows how it is rounded",
                     DTI_QUOTED(text, strlen(text)), format->name);
        ret->code[i] = scalar.code;
        dti_value_set(&value, false, 0, 0); /* the imaginary part */
    }
    return DTI_OK;
}

/* The value or pattern in the dtypes that are named. */
static enum dti_status show_dtypes(struct dti_command_context *cx, const char *text, bool pattern,
                                   char **names, int name_count, const char *fields,
                                   struct dti_error *reterr)
{
    struct dti_bits_pattern bits = {0};
    struct dti_dtype_operand *list = NULL;
    size_t count = 0;
    enum dti_status status =
        dti_dtype_operands_read(names, name_count, NULL, cx, &list, &count, reterr);
    if (status == DTI_OK && pattern)
        status = dti_bits_pattern_parse(&bits, text, reterr);
    struct dti_bits_reading *const readings =
        status == DTI_OK ? dti_calloc(count, sizeof *readings) : NULL;
    if (status == DTI_OK && !readings)
        status = dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const struct dti_format *const format = &list[i].format;
        status = pattern ? read_pattern(text, &bits, format, &readings[i], reterr)
                         : read_value(cx, text, format, &readings[i], reterr);
        readings[i].note = list[i].note;
    }
    if (status == DTI_OK)
        status = show(cx, &(struct dti_bits_answer){text, pattern, readings, count}, 0, false,
                      fields, reterr);
    dti_free(readings);
    dti_free(list);
    return status;
}

/* Every dtype of the pattern's width. */
static enum dti_status show_readings(struct dti_command_context *cx, const char *text, bool all,
                                     const char *fields, struct dti_error *reterr)
{
    struct dti_bits_pattern pattern;
    size_t count = 0;
    enum dti_status status = dti_bits_pattern_parse(&pattern, text, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_bits_reading *readings = dti_calloc(DTI_DTYPE_COUNT, sizeof *readings);
    if (!readings)
        return dti_no_memory(reterr);
    for (int i = 0; i < DTI_DTYPE_COUNT; i++) {
        const struct dti_format *dtype = dti_format_get((enum dti_dtype)i);
        if (dtype->width == pattern.width)
            dti_bits_read_pattern(&readings[count++], &pattern, dtype);
    }
    const struct dti_bits_answer bits = {text, true, readings, count};
    if (count == 0)
        status = dti_fail_word(reterr, DTI_BAD_PATTERN, text, strlen(text),
                               "%s has %u bits, and no dtype has that width; give a DTYPE, or 4 "
                               "bits per hexadecimal digit",
                               DTI_QUOTED(text, strlen(text)), pattern.width);
    else
        status = show(cx, &bits, pattern.width, all, fields, reterr);
    dti_free(readings);
    return status;
}

/* "3f80": hexadecimal digits without 0x. */
static bool is_bare_hexadecimal(const char *text)
{
    const size_t length = strlen(text);
    struct dti_value value;
    return length > 0 && length <= 16 && strspn(text, "0123456789abcdefABCDEF") == length &&
           dti_value_parse(&value, text, length, NULL) != DTI_OK;
}

static enum dti_status run_bits(const void *args, char **operands, int operand_count,
                                struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct bits_args *bits = args;
    if (operand_count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "missing operands; give a value and a dtype, as in 'dtinfo bits 0.1 bf16'");
    const char *text = operands[0], *fields;
    bool pattern = !bits->value && dti_bits_is_pattern(text);
    if (dti_format_lookup(text, &(struct dti_format){.width = 0}, NULL, NULL) == DTI_OK)
        return dti_fail(reterr, DTI_USAGE,
                        "%s is a dtype where the value should be; give the value, then the dtype, "
                        "as in 'dtinfo bits 0.1 bf16'",
                        DTI_QUOTED(text, strlen(text)));
    if (!pattern && is_bare_hexadecimal(text))
        return dti_fail(reterr, DTI_BAD_VALUE, "%s is not a number; write 0x%s for a bit pattern",
                        DTI_QUOTED(text, strlen(text)), text);
    int dtypes = operand_count - 1;
    const enum dti_status status = dti_fields_wanted(cx, bits->field, pattern ? "text" : "bits",
                                                     operands + 1, &dtypes, &fields, reterr);
    if (status != DTI_OK)
        return status;
    if (dtypes > 0)
        return show_dtypes(cx, text, pattern, operands + 1, dtypes, fields, reterr);
    if (!pattern)
        return dti_fail(reterr, DTI_USAGE,
                        "the value %s needs a dtype, as in 'dtinfo bits 0.1 bf16'",
                        DTI_QUOTED(text, strlen(text)));
    return show_readings(cx, text, bits->all, fields, reterr);
}

const struct dti_command dti_command_bits = {
    .name = "bits",
    .group = "ask",
    .summary = "the fields of a value or of a bit pattern",
    .synopsis = "VALUE|PATTERN [DTYPE...]",
    .details = "PATTERN is 0x and hexadecimal digits, 0b and binary digits, or the fields as\n"
               "they are printed, '0 01111111 0000000'; without DTYPE it is decoded as every\n"
               "dtype of its width (4 bits for each hexadecimal digit), the IEEE P3109\n"
               "formats only with --all. -q prints only the\n"
               "code of a value, or the value of a pattern.",
    .examples = "dtinfo bits 0.1 bf16\n"
                "dtinfo bits 0.1 bf16,fp16\n"
                "dtinfo bits '0 10001111 0001001' bf16\n"
                "dtinfo bits 0x7e fp8_e4m3fn\n"
                "dtinfo bits 0x4789\n"
                "dtinfo bits --value 0x4789 bf16\n",
    .schema = "dtinfo.bits/1",
    .operands = DTI_OPERANDS_VALUE_DTYPE,
    .options = options,
    .args_size = sizeof(struct bits_args),
    .run = run_bits,
};
