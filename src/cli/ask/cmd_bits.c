/* SPDX-License-Identifier: MIT
 *
 * dtinfo bits: the fields of a value or of a bit pattern. */
#include <stdlib.h>
#include <string.h>

#include "cli/ask/bits.h"
#include "cli/shared/dtype_operands.h"
#include "dtinfo/scalar.h"

struct bits_args {
    bool value;
};

static const struct dti_option options[] = {
    OPT_FLAG(0, "value", struct bits_args, value, "0x and 0b are numbers, not bit patterns"),
    OPT_END,
};

static void set_components(struct bits_reading *reading, const struct dti_format *dtype)
{
    bool complex = dtype->kind == DTI_KIND_COMPLEX;
    reading->dtype = *dtype;
    reading->component = complex ? *dti_format_get(dtype->component) : *dtype;
    reading->components = complex ? 2 : 1;
}

static void read_pattern(const struct bits_pattern *pattern, const struct dti_format *dtype,
                         struct bits_reading *ret)
{
    set_components(ret, dtype);
    unsigned width = ret->component.width;
    if (ret->components == 1) {
        ret->code[0] = pattern->lo;
    } else { /* the real part is written first */
        ret->code[1] = pattern->lo & dti_low_bits(width);
        ret->code[0] = width == 64 ? pattern->hi : pattern->lo >> width & dti_low_bits(width);
    }
}

static bool pattern_fits(const struct bits_pattern *pattern, unsigned width)
{
    if (width >= 128)
        return true;
    if (width >= 64)
        return width == 64 ? pattern->hi == 0 : pattern->hi >> (width - 64) == 0;
    return pattern->hi == 0 && pattern->lo >> width == 0;
}

static enum dti_status show(const struct dti_context *cx, const char *text, bool pattern,
                            const struct bits_reading *reading, const char *note,
                            struct dti_error *reterr)
{
    if (cx->output != DTI_OUTPUT_HUMAN)
        return dti_bits_json(cx, text, pattern, reading, 1, note, reterr);
    dti_bits_human_one(cx, reading);
    return DTI_OK;
}

static enum dti_status show_pattern(const struct dti_context *cx, const char *text,
                                    const char *name, struct dti_error *reterr)
{
    struct bits_pattern pattern;
    struct bits_reading reading;
    struct dti_dtype_operand operand;
    char quoted[DTI_QUOTE_SIZE];
    enum dti_status status = dti_dtype_operand_read(name, NULL, cx, &operand, reterr);
    if (status == DTI_OK)
        status = dti_bits_pattern_parse(&pattern, text, reterr);
    if (status != DTI_OK)
        return status;
    if (!pattern_fits(&pattern, operand.format.width)) {
        status = dti_fail(reterr, DTI_BAD_PATTERN,
                          "%s does not fit the %u bits of %s; --value takes it as a number",
                          dti_quote(quoted, text, strlen(text)), (unsigned)operand.format.width,
                          operand.format.name);
        dti_error_argument(reterr, text, strlen(text));
        return status;
    }
    read_pattern(&pattern, &operand.format, &reading);
    return show(cx, text, true, &reading, operand.note, reterr);
}

static enum dti_status show_value(const struct dti_context *cx, const char *text, const char *name,
                                  struct dti_error *reterr)
{
    struct dti_cast cast = {.via_count = 0};
    struct bits_reading reading;
    struct dti_dtype_operand operand;
    struct dti_value value;
    struct dti_scalar scalar;
    char quoted[DTI_QUOTE_SIZE];
    enum dti_status status = dti_dtype_operand_read(name, NULL, cx, &operand, reterr);
    if (status == DTI_OK)
        status = dti_value_parse(&value, text, strlen(text), reterr);
    if (status != DTI_OK)
        return status;
    set_components(&reading, &operand.format);
    cast.dst = reading.component;
    for (size_t i = 0; i < reading.components; i++) {
        dti_scalar_store(&cast, &value, NULL, 0, &scalar);
        if (scalar.flags & DTI_FLAG_NO_NAN)
            return dti_fail(reterr, DTI_NOT_REPRESENTABLE, "%s has no NaN", operand.format.name);
        if (scalar.flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID))
            dti_warn(cx, "%s does not fit %s; 'dtinfo cast' tells what becomes of it",
                     dti_quote(quoted, text, strlen(text)), operand.format.name);
        reading.code[i] = scalar.code;
        dti_value_set(&value, false, 0, 0); /* the imaginary part */
    }
    return show(cx, text, false, &reading, operand.note, reterr);
}

/* Every dtype of the pattern's width. */
static enum dti_status show_readings(const struct dti_context *cx, const char *text,
                                     struct dti_error *reterr)
{
    struct bits_pattern pattern;
    size_t count = 0;
    char quoted[DTI_QUOTE_SIZE];
    enum dti_status status = dti_bits_pattern_parse(&pattern, text, reterr);
    if (status != DTI_OK)
        return status;
    struct bits_reading *readings = calloc(DTI_DTYPE_COUNT, sizeof *readings);
    if (!readings)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (int i = 0; i < DTI_DTYPE_COUNT; i++) {
        const struct dti_format *dtype = dti_format_get((enum dti_dtype)i);
        if (dtype->width == pattern.width)
            read_pattern(&pattern, dtype, &readings[count++]);
    }
    if (count == 0) {
        status =
            dti_fail(reterr, DTI_BAD_PATTERN,
                     "%s has %u bits and no dtype is as wide; give a DTYPE, or 4 bits for each "
                     "hexadecimal digit",
                     dti_quote(quoted, text, strlen(text)), pattern.width);
        dti_error_argument(reterr, text, strlen(text));
    } else if (cx->output != DTI_OUTPUT_HUMAN) {
        status = dti_bits_json(cx, text, true, readings, count, NULL, reterr);
    } else {
        status = dti_bits_human_table(cx, text, pattern.width, readings, count, reterr);
    }
    free(readings);
    return status;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    const struct bits_args *bits = args;
    char quoted[DTI_QUOTE_SIZE];
    if (operand_count == 0 || operand_count > 2)
        return dti_fail(reterr, DTI_USAGE,
                        operand_count == 0
                            ? "nothing to take apart; give a value and a dtype, as in "
                              "'dtinfo bits 0.1 bf16'"
                            : "takes one value or pattern and one dtype");
    const char *text = operands[0];
    bool pattern = !bits->value && dti_bits_is_pattern(text);
    if (operand_count == 2)
        return pattern ? show_pattern(cx, text, operands[1], reterr)
                       : show_value(cx, text, operands[1], reterr);
    if (!pattern)
        return dti_fail(reterr, DTI_USAGE,
                        "the value %s needs a dtype, as in 'dtinfo bits 0.1 bf16'",
                        dti_quote(quoted, text, strlen(text)));
    return show_readings(cx, text, reterr);
}

const struct dti_command dti_command_bits = {
    .name = "bits",
    .group = "ask",
    .summary = "the fields of a value or of a bit pattern",
    .synopsis = "VALUE|PATTERN [DTYPE]",
    .details =
        "PATTERN is 0x with hexadecimal or 0b with binary digits; without DTYPE it is read as\n"
        "every dtype of its width (4 bits for each hexadecimal digit).",
    .examples = "dtinfo bits 0.1 bf16\n"
                "dtinfo bits 0x7e fp8_e4m3fn\n"
                "dtinfo bits 0x4789\n"
                "dtinfo bits --value 0x4789 bf16\n",
    .schema = "dtinfo.bits/1",
    .operands = DTI_OPERANDS_VALUE_DTYPE,
    .options = options,
    .args_size = sizeof(struct bits_args),
    .run = run,
};
