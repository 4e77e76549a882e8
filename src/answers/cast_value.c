/* SPDX-License-Identifier: MIT
 *
 * One number in one dtype: what is stored, by policies or as a stack does it, and its text. */
#include <string.h>

#include "answers/cast.h"
#include "dtinfo/spell.h"

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
