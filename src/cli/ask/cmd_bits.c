/* SPDX-License-Identifier: MIT
 *
 * dtinfo bits: the fields of a value or of a bit pattern. */
#include <stdlib.h>
#include <string.h>

#include "cli/ask/bits_human.h"
#include "cli/shared/dtype_operands.h"
#include "dtinfo/nearest.h"
#include "dtinfo/scalar.h"

struct bits_args {
    bool value;
};

static const struct dti_option options[] = {
    OPT_FLAG(0, "value", struct bits_args, value, "0x and 0b are numbers, not bit patterns"),
    OPT_END,
};

static enum dti_status show(struct dti_context *cx, const struct dti_bits_answer *bits,
                            struct dti_error *reterr)
{
    if (cx->output != DTI_OUTPUT_HUMAN)
        return DTI_ANSWER(cx, bits, bits, reterr);
    dti_bits_human_one(cx, bits->readings);
    return DTI_OK;
}

static enum dti_status show_pattern(struct dti_context *cx, const char *text, const char *name,
                                    struct dti_error *reterr)
{
    struct dti_bits_pattern pattern;
    struct dti_bits_reading reading;
    struct dti_dtype_operand operand;
    enum dti_status status = dti_dtype_operand_read(name, NULL, cx, &operand, reterr);
    if (status == DTI_OK)
        status = dti_bits_pattern_parse(&pattern, text, reterr);
    if (status != DTI_OK)
        return status;
    if (!dti_bits_pattern_fits(&pattern, operand.format.width))
        return dti_fail_word(reterr, DTI_BAD_PATTERN, text, strlen(text),
                             "%s does not fit the %u bits of %s; --value takes it as a number",
                             DTI_QUOTED(text, strlen(text)), (unsigned)operand.format.width,
                             operand.format.name);
    dti_bits_read_pattern(&reading, &pattern, &operand.format);
    return show(cx, &(struct dti_bits_answer){text, true, &reading, 1, operand.note}, reterr);
}

static enum dti_status show_value(struct dti_context *cx, const char *text, const char *name,
                                  struct dti_error *reterr)
{
    struct dti_cast cast = {.via_count = 0};
    struct dti_bits_reading reading;
    struct dti_dtype_operand operand;
    struct dti_value value;
    struct dti_scalar scalar;
    enum dti_status status = dti_dtype_operand_read(name, NULL, cx, &operand, reterr);
    if (status == DTI_OK)
        status = dti_value_parse(&value, text, strlen(text), reterr);
    if (status != DTI_OK)
        return status;
    dti_bits_reading_init(&reading, &operand.format);
    cast.dst = reading.component;
    for (size_t i = 0; i < reading.components; i++) {
        dti_scalar_store(&cast, &value, NULL, 0, &scalar);
        if (scalar.flags & DTI_FLAG_NO_NAN)
            return dti_fail(reterr, DTI_NOT_REPRESENTABLE, "%s has no NaN", operand.format.name);
        if (scalar.flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID))
            dti_warn(cx, "%s does not fit %s; 'dtinfo cast' tells what becomes of it",
                     DTI_QUOTED(text, strlen(text)), operand.format.name);
        reading.code[i] = scalar.code;
        dti_value_set(&value, false, 0, 0); /* the imaginary part */
    }
    return show(cx, &(struct dti_bits_answer){text, false, &reading, 1, operand.note}, reterr);
}

/* Every dtype of the pattern's width. */
static enum dti_status show_readings(struct dti_context *cx, const char *text,
                                     struct dti_error *reterr)
{
    struct dti_bits_pattern pattern;
    size_t count = 0;
    enum dti_status status = dti_bits_pattern_parse(&pattern, text, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_bits_reading *readings = calloc(DTI_DTYPE_COUNT, sizeof *readings);
    if (!readings)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (int i = 0; i < DTI_DTYPE_COUNT; i++) {
        const struct dti_format *dtype = dti_format_get((enum dti_dtype)i);
        if (dtype->width == pattern.width)
            dti_bits_read_pattern(&readings[count++], &pattern, dtype);
    }
    const struct dti_bits_answer bits = {text, true, readings, count, NULL};
    if (count == 0)
        status = dti_fail_word(reterr, DTI_BAD_PATTERN, text, strlen(text),
                               "%s has %u bits and no dtype is as wide; give a DTYPE, or 4 bits "
                               "for each hexadecimal digit",
                               DTI_QUOTED(text, strlen(text)), pattern.width);
    else if (cx->output != DTI_OUTPUT_HUMAN)
        status = DTI_ANSWER(cx, bits, &bits, reterr);
    else
        status = dti_bits_human_table(cx, pattern.width, &bits, reterr);
    free(readings);
    return status;
}

/* "3f80": digits that are no decimal number. */
static bool is_bare_hexadecimal(const char *text)
{
    const size_t length = strlen(text);
    struct dti_value value;
    return length > 0 && length <= 16 && strspn(text, "0123456789abcdefABCDEF") == length &&
           dti_value_parse(&value, text, length, NULL) != DTI_OK;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    const struct bits_args *bits = args;
    if (operand_count == 0 || operand_count > 2)
        return dti_fail(reterr, DTI_USAGE,
                        operand_count == 0
                            ? "nothing to take apart; give a value and a dtype, as in "
                              "'dtinfo bits 0.1 bf16'"
                            : "takes one value or pattern and one dtype");
    const char *text = operands[0];
    bool pattern = !bits->value && dti_bits_is_pattern(text);
    if (dti_format_lookup(text, &(struct dti_format){.width = 0}, NULL, NULL) == DTI_OK)
        return dti_fail(reterr, DTI_USAGE,
                        "%s is a dtype where the value should be; give the value, then the dtype, "
                        "as in 'dtinfo bits 0.1 bf16'",
                        DTI_QUOTED(text, strlen(text)));
    if (!pattern && is_bare_hexadecimal(text))
        return dti_fail(reterr, DTI_BAD_VALUE, "%s is not a number; write 0x%s for a bit pattern",
                        DTI_QUOTED(text, strlen(text)), text);
    if (operand_count == 2)
        return pattern ? show_pattern(cx, text, operands[1], reterr)
                       : show_value(cx, text, operands[1], reterr);
    if (!pattern)
        return dti_fail(reterr, DTI_USAGE,
                        "the value %s needs a dtype, as in 'dtinfo bits 0.1 bf16'",
                        DTI_QUOTED(text, strlen(text)));
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
