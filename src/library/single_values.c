/* SPDX-License-Identifier: MIT
 *
 * Single numbers: from codes and texts, to texts, and cast with all that is known of the result. */
#include "dtinfo/dtype.h"

#include <string.h>

#include "library/cast_spec.h"
#include "library/context.h"
#include "library/single_values.h"

static size_t length_of(const char *text, size_t length)
{
    return length == SIZE_MAX ? strlen(text) : length;
}

bool dti_value_is_normal(const struct dti_value *value)
{
    if ((unsigned)value->kind > DTI_CLASS_NAN)
        return false;
    return value->kind != DTI_CLASS_FINITE ||
           (value->hi >> 63 == 1 && value->exponent <= DTI_EXPONENT_LIMIT &&
            value->exponent >= -DTI_EXPONENT_LIMIT);
}

void dti_value_of_code(const struct dti_format *format, uint64_t code, struct dti_value *ret)
{
    if (format->kind == DTI_KIND_COMPLEX)
        dti_value_set(ret, false, 0, 0);
    else
        dti_decode(format, code, ret);
}

enum dti_status dti_value_read(struct dti_context *context, const char *text, size_t length,
                               struct dti_value *ret, struct dti_error *reterr)
{
    struct dti_call call;
    dti_call_begin(&call, &context->caller);
    const enum dti_status status = dti_value_parse(ret, text, length_of(text, length), reterr);
    dti_call_end(&call);
    return status;
}

size_t dti_text_give(const char *text, size_t length, char *buffer, size_t capacity)
{
    if (capacity > 0) {
        const size_t room = length < capacity ? length : capacity - 1;
        memcpy(buffer, text, room);
        buffer[room] = '\0';
    }
    return length;
}

/* The value with 64 significant bits, to nearest even. */
static void shorten(struct dti_value *value)
{
    const uint64_t half = UINT64_C(1) << 63;
    const bool away =
        value->lo > half || (value->lo == half && (value->sticky || (value->hi & 1) != 0));
    value->lo = 0;
    value->sticky = false;
    value->hi += away;
    if (value->hi == 0) {
        value->hi = half;
        value->exponent++;
    }
}

/* No format has numbers beyond 2^+-FORMATS_MAX; the shortest text of those takes seconds. */
enum { FORMATS_MAX = 264000, DIGITS_BEYOND = 17 };

size_t dti_value_shortest(char text[DTI_TEXT_SIZE], const struct dti_value *value,
                          const struct dti_format *format)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    const bool ordinary = value->exponent < 1024 && value->exponent >= -1074; /* fp64's range */
    struct dti_value own = *value;
    struct dti_outcome outcome;
    if (value->kind != DTI_CLASS_FINITE)
        return dti_spell_text(text, value);
    if (!format && (value->lo != 0 || value->sticky) && ordinary)
        return dti_spell_rounded(text, value);
    if (!format && (value->exponent > FORMATS_MAX || value->exponent < -FORMATS_MAX))
        return dti_spell_digits(text, value, DIGITS_BEYOND);
    if (!format) {
        shorten(&own);
        return dti_spell_text(text, &own);
    }
    format = dti_real_format(format);
    dti_encode(format, value, &nearest, 0, &outcome);
    if (outcome.flags != 0)
        return 0;
    return dti_spell_shortest_value(text, format, value);
}

static size_t spell_exact(const struct dti_value *value, char *buffer, size_t capacity)
{
    struct dti_buffer text;
    char room[DTI_EXACT_ROOM];
    size_t length = 0;
    dti_buffer_borrow(&text, room, sizeof room);
    if (dti_spell_exact(&text, value))
        length = dti_text_give(text.data, text.length, buffer, capacity);
    dti_buffer_free(&text);
    return length;
}

size_t dti_value_spell(struct dti_context *context, const struct dti_value *value,
                       const struct dti_format *format, enum dti_spelling spelling, char *buffer,
                       size_t capacity)
{
    struct dti_call call;
    char text[DTI_TEXT_SIZE];
    size_t length = 0;
    if (capacity > 0)
        buffer[0] = '\0';
    if (!dti_value_is_normal(value))
        return 0;
    dti_call_begin(&call, &context->caller);
    switch (spelling) {
    case DTI_SPELL_SHORTEST:
        length = dti_text_give(text, dti_value_shortest(text, value, format), buffer, capacity);
        break;
    case DTI_SPELL_EXACT:
        length = spell_exact(value, buffer, capacity);
        break;
    case DTI_SPELL_HEX:
        if (!value->sticky)
            length = dti_text_give(text, dti_spell_hexfloat(text, value), buffer, capacity);
        break;
    }
    dti_call_end(&call);
    return length;
}

void dti_cast_operand_of_value(struct dti_cast_operand *ret, const struct dti_value *value)
{
    static const char digits[] = "0123456789abcdef";
    struct dti_number *const number = &ret->number[0];
    memset(ret, 0, sizeof *ret);
    ret->components = 1;
    ret->value[0] = *value;
    number->kind = value->kind;
    number->negative = value->negative;
    struct dti_term *const num = &number->num, *const den = &number->den;
    num->digits = num->own;
    num->hexadecimal = den->hexadecimal = true;
    den->digits = den->own;
    den->own[0] = '1';
    den->count = 1;
    if (value->kind != DTI_CLASS_FINITE) { /* as the parser leaves it */
        num->count = value->kind == DTI_CLASS_ZERO ? 0 : 1;
        num->own[0] = '1';
        return;
    }
    for (unsigned i = 0; i < 32; i++)
        num->own[i] = digits[(i < 16 ? value->hi : value->lo) >> (60 - 4 * (i % 16)) & 15];
    num->exponent = (int64_t)value->exponent - 127;
    for (num->count = 32; num->own[num->count - 1] == '0'; num->count--)
        num->exponent += 4;
}

static void find_neighbours(const struct dti_format *dst, const struct dti_scalar *scalar,
                            struct dti_cast_facts *ret)
{
    ret->has_below = scalar->has_below;
    ret->has_above = scalar->has_above;
    if (ret->has_below) {
        ret->below_code = scalar->below;
        dti_decode(dst, scalar->below, &ret->below);
    }
    if (ret->has_above) {
        ret->above_code = scalar->above;
        dti_decode(dst, scalar->above, &ret->above);
    }
}

static enum dti_status find_error(const struct dti_cast_operand *operand, bool whole,
                                  const struct dti_scalar *scalar, struct dti_cast_facts *ret,
                                  struct dti_error *reterr)
{
    struct dti_difference difference;
    struct dti_buffer exact;
    char room[DTI_EXACT_ROOM];
    bool has_exact;
    if (scalar->has_step)
        dti_value_set(&ret->step, false, 1, scalar->step_exponent);
    if (!scalar->has_step || !whole || scalar->input.kind > DTI_CLASS_FINITE)
        return DTI_OK;
    dti_buffer_borrow(&exact, room, sizeof room);
    const bool done = dti_number_difference(&operand->number[0], &scalar->stored, &difference,
                                            &exact, &has_exact);
    dti_buffer_free(&exact);
    if (!done)
        return dti_no_memory(reterr);
    ret->has_error = true;
    ret->error = difference.absolute;
    ret->relative = difference.relative;
    ret->ulps = dti_scalar_ulps(scalar, &difference.absolute);
    return DTI_OK;
}

/* whole: the operand's number is the whole one, without anything left to `sticky`. */
static enum dti_status cast_operand(const struct dti_cast_target *target,
                                    const struct dti_cast_operand *operand, bool whole,
                                    struct dti_cast_facts *ret, struct dti_error *reterr)
{
    struct dti_cast_result result;
    const struct dti_scalar *const scalar = &result.component[0];
    const struct dti_format *const dst = &target->cast.dst;
    if (operand->components != 1)
        return dti_fail_word(reterr, DTI_BAD_VALUE, operand->text, operand->length,
                             "%s is complex, and %s is not; cast its parts one by one",
                             DTI_QUOTED(operand->text, operand->length), dst->name);
    dti_cast_value(target, operand, false, &result);
    if (!result.known)
        return dti_fail(reterr, DTI_NOT_REPRESENTABLE, "what %s stores is not known: %s",
                        dti_stack_name(target->rule->stack), result.note);
    ret->code = scalar->code;
    ret->flags = scalar->flags;
    ret->exact = !(scalar->flags & DTI_FLAG_INEXACT);
    ret->direction = dti_scalar_direction(scalar);
    ret->given = scalar->input;
    ret->stored = scalar->stored;
    find_neighbours(dst, scalar, ret);
    return find_error(operand, whole, scalar, ret, reterr);
}

enum dti_status dti_value_cast(struct dti_context *context, const struct dti_cast_spec *spec,
                               const char *text, size_t length, const struct dti_value *value,
                               struct dti_cast_facts *ret, struct dti_error *reterr)
{
    struct dti_call call;
    struct dti_cast_spec taken;
    struct dti_cast_target target = {.named = true};
    struct dti_cast_operand operand;
    struct dti_cast_facts facts = {.size = sizeof facts};
    enum dti_status status = dti_cast_spec_take(&taken, &target.cast, &target.rule, spec, reterr);
    if (status != DTI_OK)
        return status;
    if (taken.dst->kind == DTI_KIND_COMPLEX)
        return dti_fail_word(reterr, DTI_WRONG_KIND, taken.dst->name, strlen(taken.dst->name),
                             "%s is complex; cast its parts one by one, to %s", taken.dst->name,
                             target.cast.dst.name);
    if (!text && (!value || !dti_value_is_normal(value)))
        return dti_fail(reterr, DTI_BAD_VALUE, "the value is not normalized");
    target.dtype = *taken.dst;
    dti_call_begin(&call, &context->caller);
    if (text)
        status = dti_cast_operand_parse(&operand, text, length_of(text, length), 0, reterr);
    else
        dti_cast_operand_of_value(&operand, value);
    if (status == DTI_OK) {
        status = cast_operand(&target, &operand, text || !value->sticky, &facts, reterr);
        if (text)
            dti_cast_operand_free(&operand);
    }
    dti_call_end(&call);
    if (status == DTI_OK)
        dti_struct_give(ret, &facts, sizeof facts);
    return status;
}
