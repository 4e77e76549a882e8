/* SPDX-License-Identifier: MIT
 *
 * Numbers cast to dtypes as JSON: see cast.h. */
#include "answers/cast.h"

#include <string.h>

#include "answers/rows.h"

/* One of the results. */
struct one_result {
    const struct dti_cast_results *of;
    const struct dti_cast_result *result;
};

/* A real number in one dtype: a result, or a component of one. */
struct cast_number {
    const struct dti_cast_operand *operand;
    size_t component;
    const struct dti_format *format;
    const struct dti_scalar *scalar; /* NULL: there is not one number */
    const struct dti_number_answer *number;
    struct dti_spelled text; /* its text, if known */
};

/* A decimal expansion. */
struct exact_text {
    struct dti_spelled text;
    struct dti_buffer buffer;
    char room[DTI_EXACT_ROOM];
};

struct error_text {
    struct dti_spelled absolute, relative, ulp; /* JSON numbers */
    char room[3][DTI_TEXT_SIZE];
    struct exact_text exact;
};

struct number_beside {
    struct dti_number_answer answer;
    struct dti_value value;
};

struct stack_text {
    enum dti_stack stack;
    bool there, known;
    const char *note;
    char text[DTI_CAST_TEXT_SIZE], bits[DTI_CAST_TEXT_SIZE];
};

/* The spelled members of a result. */
struct result_text {
    struct dti_spelled token, text, shortest, exact, hexfloat, bits;
    struct dti_spellings number; /* of a real one */
    bool real;
    struct dti_number_answer answer;
    struct cast_number rounding;
    char complex_text[DTI_CAST_TEXT_SIZE], complex_bits[DTI_CAST_TEXT_SIZE];
};

DTI_WORDS(direction_words, "up", "down", "none")

static const char *direction_of(const struct dti_scalar *scalar)
{
    const int direction = dti_scalar_direction(scalar);
    return direction_words(direction > 0 ? 0 : direction < 0 ? 1 : 2);
}

static const char *class_words(size_t index)
{
    return index <= DTI_NUMBER_NAN ? dti_number_class_name((enum dti_number_class)index) : NULL;
}

#define FIELDS_OF(format, code) \
    (dti_format_is_float(format) ? &(struct dti_fields_answer){format, code} : NULL)

static void spell_input(struct exact_text *ret, struct dti_json *json,
                        const struct dti_cast_operand *operand)
{
    const bool finite = operand->components == 1 && operand->value[0].class <= DTI_CLASS_FINITE;
    dti_buffer_borrow(&ret->buffer, ret->room, sizeof ret->room);
    const bool has_exact = finite && dti_number_exact(&operand->number[0], &ret->buffer);
    ret->text = dti_spelled_if(has_exact, ret->buffer.data, ret->buffer.length);
    if (ret->buffer.failed)
        dti_json_out_of_memory(json);
}

/* False without an error; else free exact. */
static bool spell_error(struct error_text *ret, struct dti_json *json,
                        const struct cast_number *number)
{
    const struct dti_scalar *const scalar = number->scalar;
    struct dti_difference difference;
    bool has_exact = false;
    if (!scalar || !scalar->has_step || number->component >= number->operand->components ||
        scalar->input.class > DTI_CLASS_FINITE)
        return false;
    struct dti_buffer *const exact = &ret->exact.buffer;
    dti_buffer_borrow(exact, ret->exact.room, sizeof ret->exact.room);
    if (!dti_number_difference(&number->operand->number[number->component], &scalar->stored,
                               &difference, exact, &has_exact) ||
        exact->failed) {
        dti_json_out_of_memory(json);
        dti_buffer_free(exact);
        return false;
    }
    const struct dti_value ulp = dti_scalar_ulps(scalar, &difference.absolute);
    ret->exact.text = dti_spelled_if(has_exact, exact->data, exact->length);
    if (has_exact && dti_is_own_rounding(exact->data, exact->length))
        ret->absolute = ret->exact.text;
    else
        ret->absolute = dti_rounded_token(ret->room[0], &difference.absolute);
    ret->relative = dti_rounded_token(ret->room[1], &difference.relative);
    ret->ulp = dti_rounded_token(ret->room[2], &ulp);
    return true;
}

static struct dti_spelled spell_step(char room[DTI_TEXT_SIZE], const struct dti_scalar *scalar)
{
    struct dti_value step;
    if (!scalar || !scalar->has_step)
        return dti_spelled(NULL);
    dti_value_set(&step, false, 1, scalar->step_exponent);
    if (!dti_value_fits_json(&step))
        return dti_spelled(NULL);
    return (struct dti_spelled){room, dti_spell_text(room, &step)};
}

/* A number of the dtype; NULL if absent. */
static const struct dti_number_answer *beside(struct number_beside *ret,
                                              const struct cast_number *number, bool there,
                                              uint64_t code)
{
    if (!there)
        return NULL;
    const bool same = code == number->scalar->code;
    ret->answer = (struct dti_number_answer){number->format, code, &number->scalar->stored,
                                             same ? number->text : dti_spelled(NULL)};
    if (!same) {
        dti_decode(number->format, code, &ret->value);
        ret->answer.value = &ret->value;
    }
    return &ret->answer;
}

static void spell_result(struct result_text *ret, struct dti_json *json,
                         const struct one_result *one)
{
    const struct dti_cast_result *const result = one->result;
    const struct dti_scalar *const scalar = &result->component[0];
    const bool known = result->known && !result->no_code;
    ret->real = known && result->components == 1;
    ret->rounding = (struct cast_number){.operand = one->of->operand};
    ret->token = ret->text = ret->shortest = ret->exact = ret->hexfloat = ret->bits =
        dti_spelled(NULL);
    if (ret->real) {
        const struct dti_format *const format = &result->target->cast.dst;
        ret->answer = (struct dti_number_answer){format, scalar->code, &scalar->stored, {NULL, 0}};
        dti_spell_number(&ret->number, json, &ret->answer);
        ret->token = ret->number.token;
        ret->text = ret->number.text;
        ret->shortest = ret->number.shortest;
        ret->exact = ret->number.exact;
        ret->hexfloat = ret->number.hexfloat;
        ret->bits = ret->number.bits;
        ret->rounding.format = format;
        ret->rounding.scalar = scalar;
        ret->rounding.text = ret->number.text;
    } else if (known) {
        ret->text.text = ret->complex_text;
        ret->text.length = dti_cast_text(ret->complex_text, result);
        ret->bits.text = ret->complex_bits;
        ret->bits.length = dti_cast_bits(ret->complex_bits, result);
    }
}

static void free_result(struct result_text *spelled)
{
    if (spelled->real)
        dti_buffer_free(&spelled->number.expansion);
}

static void spell_digits(struct dti_buffer *ret, struct dti_json *json,
                         const struct one_result *one)
{
    dti_buffer_init(ret);
    if (!dti_cast_digits(ret, one->result, one->of->digits))
        dti_json_out_of_memory(json);
}

static void put_real(struct dti_json *json, const char *key, const struct one_result *one);
static void put_imaginary(struct dti_json *json, const char *key, const struct one_result *one);
static void put_stack(struct dti_json *json, const struct one_result *one, enum dti_stack stack);

#define DTI_ROWS "answers/cast.def"
#include "answers/rows.h"

static void put_component(struct dti_json *json, const char *key, const struct one_result *one,
                          size_t component)
{
    const struct dti_format *const format = &one->result->target->cast.dst;
    const struct dti_scalar *const scalar = &one->result->component[component];
    const struct dti_number_answer number = {format, scalar->code, &scalar->stored, {NULL, 0}};
    dti_put_cast_component(
        json, key,
        &(struct cast_number){one->of->operand, component, format, scalar, &number, {NULL, 0}});
}

static void put_real(struct dti_json *json, const char *key, const struct one_result *one)
{
    put_component(json, key, one, 0);
}

static void put_imaginary(struct dti_json *json, const char *key, const struct one_result *one)
{
    put_component(json, key, one, 1);
}

static void put_stack(struct dti_json *json, const struct one_result *one, enum dti_stack stack)
{
    struct dti_cast_target target;
    struct dti_cast_result other;
    struct stack_text text = {.stack = stack};
    text.there = dti_cast_by_stack(one->result, one->of->operand, stack, &target, &other);
    if (!text.there && dti_stack_is_hardware(stack))
        return;
    text.known = text.there && other.known;
    text.note = text.there ? other.note : NULL;
    if (text.known) {
        (void)dti_cast_text(text.text, &other);
        (void)dti_cast_bits(text.bits, &other);
    }
    dti_put_cast_stack(json, NULL, &text);
}

void dti_put_cast_results(struct dti_json *json, const struct dti_cast_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        dti_put_cast_result(json, NULL, &(struct one_result){results, &results->list[i]});
}

/* A cast of an array. */
DTI_WORDS(form_words, "raw", "text")
DTI_WORDS(order_words, "little", "big")

#define DTI_ROWS "answers/cast_array.def"
#include "answers/rows.h"
