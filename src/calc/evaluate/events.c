/* SPDX-License-Identifier: MIT
 *
 * Describes events with numbers: "256 + 1 = 256 (spacing 2)", "10000*10000: 1e+08 > 65504". */
#include <string.h>

#include "calc/evaluate/evaluate.h"
#include "core/number/spell.h"

enum { DIGITS_MAX = 17 };

/* Enough digits to distinguish the numbers of a format, with a minimum for readability. */
static unsigned format_digits(const struct dti_format *format)
{
    const unsigned digits = 2 + (format->man_bits + 1u) * 302 / 1000;
    return digits < 6 ? 6 : digits > DIGITS_MAX ? DIGITS_MAX : digits;
}

static void put_number(struct dti_buffer *buffer, const struct dti_value *value, unsigned digits)
{
    char text[DTI_TEXT_SIZE];
    dti_spell_digits(text, value, digits);
    dti_buffer_puts(buffer, text);
}

static void put_power(struct dti_buffer *buffer, int64_t exponent)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value number;
    dti_buffer_puts(buffer, "2^");
    dti_value_set(&number, exponent < 0, (uint64_t)(exponent < 0 ? -exponent : exponent), 0);
    dti_spell_text(text, &number);
    dti_buffer_puts(buffer, text);
}

/* Formats a stored code as a number. */
static void put_code(struct dti_buffer *buffer, const struct dti_format *format, uint64_t code)
{
    struct dti_value value;
    dti_decode(format, code, &value);
    put_number(buffer, &value, format_digits(format));
}

/* Whether the exact result exceeds the range of a value; nothing else is known about it. */
static bool is_clamped(const struct dti_value *exact)
{
    return exact->kind == DTI_CLASS_FINITE &&
           (exact->exponent >= DTI_EXPONENT_LIMIT || exact->exponent <= -DTI_EXPONENT_LIMIT);
}

/* Formats a literal: as in the source text if a value cannot hold it. */
static void put_literal(struct dti_buffer *buffer, const struct dti_calc_step *step,
                        const struct dti_calc_event *event)
{
    if (!is_clamped(&event->exact))
        put_number(buffer, &event->exact, format_digits(&step->format));
    else if (strcmp(step->op, "literal") == 0)
        dti_buffer_append(buffer, step->text, step->length);
    else
        put_power(buffer, event->exact.exponent);
}

/* The operation with its operands: "10000*10000", "inf - inf", "exp(-20)"; a literal is just
 * itself. */
static void put_operation(struct dti_buffer *buffer, const struct dti_calc_step *step,
                          const struct dti_calc_event *event)
{
    const unsigned digits = format_digits(&step->format);
    if (event->op == DTI_CALC_OP_COUNT) {
        put_literal(buffer, step, event);
        return;
    }
    const char *const name = dti_calc_op_get(event->op)->name;
    const bool infix = event->operand_count == 2 && strchr("+-*/^", name[0]);
    if (event->op == DTI_CALC_FMA) { /* as in a contracted expression */
        put_number(buffer, &event->operand[0], digits);
        dti_buffer_puts(buffer, "*");
        put_number(buffer, &event->operand[1], digits);
        dti_buffer_puts(buffer, " + ");
        put_number(buffer, &event->operand[2], digits);
        return;
    }
    if (!infix) {
        dti_buffer_puts(buffer, name);
        dti_buffer_puts(buffer, "(");
    }
    for (unsigned i = 0; i < event->operand_count; i++) {
        const bool spaced = infix && strchr("+-", name[0]);
        dti_buffer_puts(buffer, i == 0 ? "" : spaced ? " " : infix ? "" : ", ");
        dti_buffer_puts(buffer, i > 0 && infix ? name : "");
        dti_buffer_puts(buffer, i > 0 && spaced ? " " : "");
        /* an exponent is an integer from the text */
        put_number(buffer, &event->operand[i],
                   event->op == DTI_CALC_POWER && i == 1 ? DIGITS_MAX : digits);
    }
    dti_buffer_puts(buffer, infix ? "" : ")");
}

/* "1e+08 > 65504", with enough digits to tell the two apart. */
static void put_overflow(struct dti_buffer *buffer, const struct dti_calc_step *step,
                         const struct dti_calc_event *event)
{
    const struct dti_format *const format = &step->format;
    const bool negative = event->exact.negative;
    struct dti_value limit;
    uint64_t code = 0;
    char beyond[DTI_TEXT_SIZE], last[DTI_TEXT_SIZE];
    (void)(negative ? dti_code_lowest(format, &code) : dti_code_max(format, &code));
    dti_decode(format, code, &limit);
    unsigned digits = format_digits(format);
    do {
        dti_spell_digits(beyond, &event->exact, digits);
        dti_spell_digits(last, &limit, digits);
    } while (strcmp(beyond, last) == 0 && ++digits <= DIGITS_MAX);
    const bool clamped = is_clamped(&event->exact);
    if (event->op != DTI_CALC_OP_COUNT || clamped)
        put_operation(buffer, step, event);
    if (!clamped) {
        dti_buffer_puts(buffer, event->op != DTI_CALC_OP_COUNT ? ": " : "");
        dti_buffer_puts(buffer, beyond);
    }
    dti_buffer_puts(buffer, negative ? " < " : " > ");
    dti_buffer_puts(buffer, last);
}

/* "exp(-20) < 2^-25": below half of the smallest number; or below the smallest number if
 * rounding is toward zero or subnormals are flushed. */
static void put_to_zero(struct dti_buffer *buffer, const struct dti_calc_step *step,
                        const struct dti_calc_event *event)
{
    const struct dti_format *const format = &step->format;
    struct dti_value smallest, magnitude = event->exact;
    uint64_t code;
    magnitude.negative = false;
    if (!dti_code_smallest_subnormal(format, &code) && !dti_code_smallest_normal(format, &code))
        dti_value_set(&smallest, false, 1, 0);
    else
        dti_decode(format, code, &smallest);
    int64_t exponent = smallest.exponent;
    if (magnitude.exponent >= exponent) { /* flushed */
        exponent = dti_format_min_exponent(format);
    } else if (magnitude.exponent < exponent - 1) {
        exponent--;
    } else { /* in the upper half: a tie, or rounded toward zero */
        struct dti_value half;
        dti_value_set(&half, false, 1, exponent - 1);
        if (dti_value_compare(&magnitude, &half) == 0) {
            put_operation(buffer, step, event);
            dti_buffer_puts(buffer, event->exact.negative ? " = -" : " = ");
            put_power(buffer, exponent - 1);
            dti_buffer_puts(buffer, ", rounded to 0");
            return;
        }
    }
    put_operation(buffer, step, event);
    dti_buffer_puts(buffer, event->exact.negative ? " > -" : " < ");
    if (dti_format_is_float(format))
        put_power(buffer, exponent);
    else
        dti_buffer_puts(buffer, "1");
}

static void put_spacing(struct dti_buffer *buffer, const struct dti_calc_step *step,
                        const struct dti_calc_event *event)
{
    enum { WRITTEN_OUT = 20 };
    const struct dti_format *const format = &step->format;
    struct dti_value stored, spacing;
    dti_decode(format, event->code, &stored);
    const int32_t exponent = dti_format_step_exponent(format, &stored);
    put_operation(buffer, step, event);
    dti_buffer_puts(buffer, " = ");
    put_code(buffer, format, event->code);
    dti_buffer_puts(buffer, " (spacing ");
    if (exponent >= 0 && exponent <= WRITTEN_OUT) {
        dti_value_set(&spacing, false, 1, exponent);
        put_number(buffer, &spacing, DIGITS_MAX);
    } else {
        put_power(buffer, exponent);
    }
    dti_buffer_puts(buffer, ")");
}

static void put_bits(struct dti_buffer *buffer, unsigned bits)
{
    char text[DTI_TEXT_SIZE];
    dti_spell_u64(text, bits);
    dti_buffer_puts(buffer, text);
}

void dti_calc_event_text(struct dti_buffer *buffer, const struct dti_calc_step *step,
                         const struct dti_calc_event *event)
{
    const struct dti_format *const format = &step->format;
    switch (event->kind) {
    case DTI_CALC_OVERFLOW:
        put_overflow(buffer, step, event);
        break;
    case DTI_CALC_TO_ZERO:
        put_to_zero(buffer, step, event);
        break;
    case DTI_CALC_ABSORBED:
    case DTI_CALC_SUBNORMAL:
        put_spacing(buffer, step, event);
        break;
    case DTI_CALC_CANCELLATION:
        put_operation(buffer, step, event);
        dti_buffer_puts(buffer, ": ");
        put_bits(buffer, event->bits);
        dti_buffer_puts(buffer, " of ");
        put_bits(buffer, format->man_bits + 1u);
        dti_buffer_puts(buffer, " bits lost");
        break;
    default:
        put_operation(buffer, step, event);
    }
}
