/* SPDX-License-Identifier: MIT
 *
 * One number: text to operand, where a complex one has Python's form (1+2j, -3j); and what is
 * stored of it in one dtype, by policies or as a stack does it, and its text. */
#include "answers/cast.h"

#include <string.h>

#include "dtinfo/spell.h"

static bool is_integer_literal(const char *text, size_t length)
{
    size_t start = length > 0 && (text[0] == '-' || text[0] == '+');
    bool prefixed = length > start + 1 && text[start] == '0' &&
                    strchr("xXbB", text[start + 1]) != NULL && text[start + 1] != '\0';
    const char exponent = prefixed ? 'p' : 'e', special = prefixed ? 'p' : 'n'; /* inf and nan */
    for (size_t i = start; i < length; i++) {
        const char letter = (char)(text[i] | 0x20);
        if (text[i] == '.' || text[i] == '/' || letter == exponent || letter == special)
            return false;
    }
    return true;
}

/* Whether the number that ends before `end` is hexadecimal: then an e is a digit. */
static bool ends_hexadecimal(const char *text, size_t end)
{
    size_t start = end;
    while (start > 0 && text[start - 1] != '+' && text[start - 1] != '-')
        start--;
    return end - start > 1 && text[start] == '0' && (text[start + 1] | 0x20) == 'x';
}

/* Where the imaginary part of "a+bj" starts: the last sign that is not an exponent's. 0 when all of
 * it is imaginary. */
static size_t imaginary_start(const char *text, size_t length)
{
    for (size_t i = length; i-- > 1;) {
        char before = (char)(text[i - 1] | 0x20);
        bool exponent = before == 'p' || (before == 'e' && !ends_hexadecimal(text, i));
        if ((text[i] == '+' || text[i] == '-') && !exponent)
            return i;
    }
    return 0;
}

static enum dti_status parse_component(struct dti_cast_operand *operand, size_t component,
                                       const char *text, size_t length, struct dti_error *reterr)
{
    struct dti_number *const number = &operand->number[component];
    const enum dti_status status =
        dti_number_parse_value(number, &operand->value[component], text, length, reterr);
    if (status != DTI_OK)
        memset(number, 0, sizeof *number);
    return status;
}

enum dti_status dti_cast_operand_parse(struct dti_cast_operand *ret, const char *text,
                                       size_t length, uint64_t index, struct dti_error *reterr)
{
    enum dti_status status;
    ret->text = text;
    ret->length = length;
    ret->index = index;
    ret->integer_literal = is_integer_literal(text, length);
    ret->components = 1;

    if (length > 2 && text[0] == '(' && text[length - 1] == ')') { /* as Python prints it */
        text++;
        length -= 2;
    }
    bool complex = length > 0 && (text[length - 1] | 0x20) == 'j';
    if (!complex)
        return parse_component(ret, 0, text, length, reterr);

    size_t split = imaginary_start(text, length - 1);
    const char *imaginary = text + split;
    size_t count = length - 1 - split;
    char unit[3] = {'1', '\0', '\0'}; /* "j" and "-j" */
    if (count == 0 || (count == 1 && (imaginary[0] == '+' || imaginary[0] == '-'))) {
        if (count == 1)
            memcpy(unit, (char[]){imaginary[0], '1', '\0'}, sizeof unit);
        imaginary = unit;
        count = strlen(unit);
    }
    ret->components = 2;
    memset(&ret->number[1], 0, sizeof ret->number[1]); /* not read yet where the first one fails */
    status = parse_component(ret, 0, split > 0 ? text : "0", split > 0 ? split : 1, reterr);
    if (status == DTI_OK)
        status = parse_component(ret, 1, imaginary, count, reterr);
    if (status == DTI_OK)
        return DTI_OK;
    dti_cast_operand_free(ret);
    if (status == DTI_BAD_VALUE) {
        (void)dti_fail_word(reterr, DTI_BAD_VALUE, ret->text, ret->length,
                            "%s is not a number; a complex one is written 1+2j",
                            DTI_QUOTED(ret->text, ret->length));
    }
    return status;
}

void dti_cast_operand_free(struct dti_cast_operand *operand)
{
    for (size_t i = 0; i < operand->components; i++)
        dti_number_free(&operand->number[i]);
}

/* The component of an operand; a real number has no imaginary one. */
static const struct dti_value *component_of(const struct dti_cast_operand *operand,
                                            size_t component, struct dti_value *zero)
{
    if (component < operand->components)
        return &operand->value[component];
    dti_value_set(zero, false, 0, 0);
    return zero;
}

static void cast_by_rule(const struct dti_cast_operand *operand, struct dti_cast_result *ret)
{
    const struct dti_cast_target *const target = ret->target;
    struct dti_value zero;
    ret->by_rule = target->cast;
    for (size_t i = 0; i < ret->components && ret->known; i++) {
        ret->known =
            dti_stack_cast(target->rule, &target->cast.dst, operand->integer_literal,
                           component_of(operand, i, &zero), &ret->by_rule, &ret->component[i]);
    }
    ret->note = ret->known ? target->rule->note : target->rule->why_unknown;
}

static void cast_by_policies(const struct dti_cast_operand *operand, bool refuses,
                             struct dti_cast_result *ret)
{
    const struct dti_cast *const cast = &ret->target->cast;
    struct dti_value zero;
    if (ret->components == 1) {
        dti_scalar_cast(cast, &operand->value[0], &operand->number[0], operand->index,
                        &ret->component[0]);
    } else {
        struct dti_cast own = *cast; /* each has random bits of its own */
        for (size_t i = 0; i < ret->components; i++) {
            own.policy.stream = (uint32_t)i;
            dti_scalar_cast(&own, component_of(operand, i, &zero),
                            i < operand->components ? &operand->number[i] : NULL, operand->index,
                            &ret->component[i]);
        }
    }
    for (size_t i = 0;
         i < ret->components && refuses && cast->policy.overflow == DTI_OVERFLOW_NATIVE; i++)
        ret->no_code = ret->no_code || (ret->component[i].flags & DTI_FLAG_NO_NAN) != 0;
}

void dti_cast_value(const struct dti_cast_target *target, const struct dti_cast_operand *operand,
                    bool refuses, struct dti_cast_result *ret)
{
    ret->target = target;
    ret->known = true;
    ret->no_code = false;
    ret->note = NULL;
    ret->device = "cpu";
    ret->device_reason = NULL;
    ret->components = target->dtype.kind == DTI_KIND_COMPLEX ? 2 : 1;
    ret->flags = 0;
    if (target->rule)
        cast_by_rule(operand, ret);
    else
        cast_by_policies(operand, refuses, ret);
    for (size_t i = 0; i < ret->components && ret->known; i++)
        ret->flags |= ret->component[i].flags;
}

bool dti_cast_by_stack(const struct dti_cast_result *own, const struct dti_cast_operand *operand,
                       enum dti_stack stack, struct dti_cast_target *target,
                       struct dti_cast_result *ret)
{
    *target = *own->target;
    target->rule = dti_stack_find(stack, &target->cast.dst);
    if (target->rule)
        dti_cast_value(target, operand, false, ret);
    return target->rule != NULL;
}

static bool is_nothing(const struct dti_cast_result *result)
{
    return !result->known || result->no_code;
}

size_t dti_cast_text(char buffer[DTI_CAST_TEXT_SIZE], const struct dti_cast_result *result)
{
    const struct dti_scalar *const component = result->component;
    if (is_nothing(result)) {
        memcpy(buffer, "-", 2);
        return 1;
    }
    size_t length = dti_spell_stored(buffer, &result->target->cast.dst, component[0].code,
                                     &component[0].stored);
    if (result->components == 2) {
        if (!component[1].stored.negative || component[1].stored.class == DTI_CLASS_NAN)
            buffer[length++] = '+';
        length += dti_spell_text(buffer + length, &component[1].stored);
        memcpy(buffer + length++, "j", 2);
    }
    return length;
}

size_t dti_cast_bits(char buffer[DTI_CAST_TEXT_SIZE], const struct dti_cast_result *result)
{
    const unsigned width = result->target->cast.dst.width;
    if (is_nothing(result)) {
        memcpy(buffer, "-", 2);
        return 1;
    }
    size_t length = dti_spell_code(buffer, result->component[0].code, width);
    if (result->components == 2) {
        char imaginary[DTI_TEXT_SIZE];
        const size_t more = dti_spell_code(imaginary, result->component[1].code, width);
        memcpy(buffer + length, imaginary + 2, more - 1);
        length += more - 2;
    }
    return length;
}

bool dti_cast_saturated(const struct dti_cast_result *result,
                        const struct dti_cast_operand *operand, char ret_text[DTI_TEXT_SIZE])
{
    if (!result->known || result->components != 1 ||
        !(result->component[0].flags & DTI_FLAG_OVERFLOW) ||
        operand->value[0].class == DTI_CLASS_NAN ||
        dti_format_is_integer(&result->target->cast.dst))
        return false;
    struct dti_cast cast = *dti_cast_route(result);
    struct dti_scalar other;
    cast.policy.overflow = DTI_OVERFLOW_SATURATE;
    dti_scalar_store(&cast, &operand->value[0], &operand->number[0], operand->index, &other);
    if (other.code == result->component[0].code)
        return false;
    dti_spell_text(ret_text, &other.stored);
    return true;
}

bool dti_cast_digits(struct dti_buffer *buffer, const struct dti_cast_result *result,
                     size_t decimals)
{
    if (is_nothing(result))
        dti_buffer_puts(buffer, "-");
    for (size_t i = 0; i < result->components && !is_nothing(result); i++) {
        const struct dti_value *const stored = &result->component[i].stored;
        if (i > 0 && !stored->negative)
            dti_buffer_puts(buffer, "+");
        if (!dti_spell_fixed(buffer, stored, decimals))
            return false;
        if (i > 0)
            dti_buffer_puts(buffer, "j");
    }
    return !buffer->failed;
}
