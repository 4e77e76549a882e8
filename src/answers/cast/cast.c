/* SPDX-License-Identifier: MIT
 *
 * Casts of numbers as JSON: see cast.h.
 *
 * One number: from text to operand, with complex numbers in Python's form (1+2j, -3j); then the
 * number stored in one dtype, by policies or as a stack does it, and its text. */
#include "answers/cast/cast.h"

#include <string.h>

#include "answers/rows.h"
#include "core/number/spell.h"

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

/* Whether the number ending before `end` is hexadecimal, so that an e is a digit. */
static bool ends_hexadecimal(const char *text, size_t end)
{
    size_t start = end;
    while (start > 0 && text[start - 1] != '+' && text[start - 1] != '-')
        start--;
    return end - start > 1 && text[start] == '0' && (text[start + 1] | 0x20) == 'x';
}

/* Start of the imaginary part of "a+bj": the last sign that does not belong to an exponent. 0 if
 * the number is purely imaginary. */
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
    memset(&ret->number[1], 0, sizeof ret->number[1]); /* left unparsed if the first one fails */
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

/* A component of the operand; zero for the imaginary part of a real number. */
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
    const char *const note =
        ret->known ? dti_stack_note(target->rule) : dti_stack_why_unknown(target->rule);
    ret->note = note[0] != '\0' ? note : NULL;
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
        struct dti_cast own = *cast; /* each component has its own random bits */
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
        if (!component[1].stored.negative || component[1].stored.kind == DTI_CLASS_NAN)
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
        operand->value[0].kind == DTI_CLASS_NAN || dti_format_is_integer(&result->target->cast.dst))
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
    const struct dti_scalar *scalar; /* NULL: there is no single number */
    const struct dti_number_answer *number;
    struct dti_spelled text;                /* its text, if known */
    bool exact;                             /* equals the given number */
    size_t kind;                            /* index into the words */
    const struct dti_fields_answer *fields; /* NULL unless a float */
    struct dti_fields_answer fields_room;
};

/* A decimal expansion. */
struct exact_text {
    const struct dti_cast_operand *of;
    struct dti_spelled text;
    struct dti_buffer buffer;
    char room[DTI_EXACT_ROOM];
};

struct error_text {
    struct dti_spelled absolute, relative, ulp; /* JSON numbers */
    char room[3][DTI_TEXT_SIZE];
    struct exact_text exact;
};

struct number_neighbour {
    struct dti_number_answer answer;
    struct dti_value value;
};

/* How a number was rounded. */
struct rounded_number {
    bool there;       /* there is a single number */
    size_t direction; /* index into the words */
    struct dti_spelled step;
    const struct error_text *error;                /* or NULL */
    const struct dti_number_answer *below, *above; /* or NULL */
    char step_room[DTI_TEXT_SIZE];
    struct error_text error_room;
    struct number_neighbour neighbour[2];
};

struct policy {
    const struct dti_cast *route;
    const char *via, *note; /* or NULL */
    char room[DTI_VIA_TEXT_SIZE];
};

struct stack_text {
    const char *name, *title, *version, *note;
    bool there, known;
    const char *text, *bits; /* NULL unless known */
    char room[2][DTI_CAST_TEXT_SIZE];
};

/* The members of a result. */
struct result_text {
    const struct dti_cast_results *of;
    const struct dti_cast_result *result;
    bool known, real, complex, exact_match;
    struct dti_spelled token, text, shortest, exact, hexfloat, bits;
    struct dti_spellings number; /* for a real number */
    struct dti_number_answer answer;
    struct cast_number rounding;
    char complex_text[DTI_CAST_TEXT_SIZE], complex_bits[DTI_CAST_TEXT_SIZE];
    struct dti_buffer digits; /* with digits_given */
};

DTI_WORDS(direction_words, "up", "down", "none")

static const char *class_words(size_t index)
{
    return index <= DTI_NUMBER_NAN ? dti_number_class_name((enum dti_number_class)index) : NULL;
}

/* A number of a format that is stored. */
static void fill_number(struct cast_number *ret, const struct dti_cast_operand *operand,
                        size_t component, const struct dti_format *format,
                        const struct dti_scalar *scalar)
{
    ret->operand = operand;
    ret->component = component;
    ret->format = format;
    ret->scalar = scalar;
    ret->exact = !(scalar->flags & DTI_FLAG_INEXACT);
    ret->kind = (size_t)dti_code_class(format, scalar->code);
    ret->fields_room = (struct dti_fields_answer){format, scalar->code};
    ret->fields = dti_format_is_float(format) ? &ret->fields_room : NULL;
}

static void spell_input(struct exact_text *ret, struct dti_json *json,
                        const struct dti_cast_operand *operand)
{
    const bool finite = operand->components == 1 && operand->value[0].kind <= DTI_CLASS_FINITE;
    ret->of = operand;
    dti_buffer_borrow(&ret->buffer, ret->room, sizeof ret->room);
    const bool has_exact = finite && dti_number_exact(&operand->number[0], &ret->buffer);
    ret->text = dti_spelled_if(has_exact, ret->buffer.data, ret->buffer.length);
    if (ret->buffer.failed)
        dti_json_out_of_memory(json);
}

static void free_exact(struct exact_text *text)
{
    dti_buffer_free(&text->buffer);
}

/* Returns false if there is no error; else free exact. */
static bool spell_error(struct error_text *ret, struct dti_json *json,
                        const struct cast_number *number)
{
    const struct dti_scalar *const scalar = number->scalar;
    struct dti_difference difference;
    bool has_exact = false;
    if (!scalar || !scalar->has_step || number->component >= number->operand->components ||
        scalar->input.kind > DTI_CLASS_FINITE)
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

/* A neighbour in the dtype; NULL if absent. */
static const struct dti_number_answer *neighbour(struct number_neighbour *ret,
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

static void spell_rounding(struct rounded_number *ret, struct dti_json *json,
                           const struct cast_number *number)
{
    const struct dti_scalar *const scalar = number->scalar;
    ret->there = scalar;
    ret->error = spell_error(&ret->error_room, json, number) ? &ret->error_room : NULL;
    ret->step = spell_step(ret->step_room, scalar);
    ret->below = ret->above = NULL;
    if (!scalar)
        return;
    const int direction = dti_scalar_direction(scalar);
    ret->direction = direction > 0 ? 0 : direction < 0 ? 1 : 2;
    ret->below = neighbour(&ret->neighbour[0], number, scalar->has_below, scalar->below);
    ret->above = neighbour(&ret->neighbour[1], number, scalar->has_above, scalar->above);
}

static void free_rounding(struct rounded_number *rounding)
{
    if (rounding->error)
        dti_buffer_free(&rounding->error_room.exact.buffer);
}

static void fill_policy(struct policy *ret, const struct dti_cast_result *result)
{
    ret->route = dti_cast_route(result);
    ret->via = dti_via_text(ret->room, ret->route->via, ret->route->via_count);
    ret->note = result->note;
}

static void spell_result(struct result_text *ret, struct dti_json *json,
                         const struct one_result *one)
{
    const struct dti_cast_result *const result = one->result;
    const struct dti_scalar *const scalar = &result->component[0];
    ret->of = one->of;
    ret->result = result;
    ret->known = result->known && !result->no_code;
    ret->real = ret->known && result->components == 1;
    ret->complex = ret->known && result->components == 2;
    ret->exact_match = !(result->flags & DTI_FLAG_INEXACT);
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
        fill_number(&ret->rounding, one->of->operand, 0, format, scalar);
        ret->rounding.text = ret->number.text;
    } else if (ret->known) {
        ret->text.text = ret->complex_text;
        ret->text.length = dti_cast_text(ret->complex_text, result);
        ret->bits.text = ret->complex_bits;
        ret->bits.length = dti_cast_bits(ret->complex_bits, result);
    }
    dti_buffer_init(&ret->digits);
    if (one->of->digits_given && !dti_cast_digits(&ret->digits, result, one->of->digits))
        dti_json_out_of_memory(json);
}

static void free_result(struct result_text *spelled)
{
    if (spelled->real)
        dti_spellings_free(&spelled->number);
    dti_buffer_free(&spelled->digits);
}

static void put_component(struct dti_json *json, const char *key, const struct result_text *text,
                          size_t component);
static void put_real(struct dti_json *json, const char *key, const struct result_text *text)
{
    put_component(json, key, text, 0);
}
static void put_imaginary(struct dti_json *json, const char *key, const struct result_text *text)
{
    put_component(json, key, text, 1);
}
static void put_stacks(struct dti_json *json, const struct result_text *text);
static void put_results(struct dti_json *json, const struct dti_cast_answer *answer)
{
    answer->put(answer->context, json);
}

#define DTI_ROWS "answers/cast/cast.def"
#include "answers/rows.h"

static void put_component(struct dti_json *json, const char *key, const struct result_text *text,
                          size_t component)
{
    const struct dti_format *const format = &text->result->target->cast.dst;
    const struct dti_scalar *const scalar = &text->result->component[component];
    const struct dti_number_answer answer = {format, scalar->code, &scalar->stored, {NULL, 0}};
    struct cast_number number = {.number = &answer};
    fill_number(&number, text->of->operand, component, format, scalar);
    dti_put_cast_component(json, key, &number);
}

static void put_stack(struct dti_json *json, const struct result_text *own, enum dti_stack stack)
{
    struct dti_cast_target target;
    struct dti_cast_result other;
    struct stack_text text = {.name = dti_stack_name(stack),
                              .title = dti_stack_title(stack),
                              .version = dti_stack_version(stack)};
    text.there = dti_cast_by_stack(own->result, own->of->operand, stack, &target, &other);
    if (!text.there && dti_stack_is_hardware(stack))
        return;
    text.known = text.there && other.known;
    text.note = text.there ? other.note : NULL;
    if (text.known) {
        (void)dti_cast_text(text.room[0], &other);
        (void)dti_cast_bits(text.room[1], &other);
        text.text = text.room[0];
        text.bits = text.room[1];
    }
    dti_put_cast_stack(json, NULL, &text);
}

static void put_stacks(struct dti_json *json, const struct result_text *text)
{
    for (int i = 0; i < DTI_STACK_COUNT; i++)
        put_stack(json, text, (enum dti_stack)i);
}

void dti_put_cast_results(struct dti_json *json, const struct dti_cast_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        dti_put_cast_result(json, NULL, &(struct one_result){results, &results->list[i]});
}

/* A cast of an array. */
DTI_WORDS(form_words, "raw", "text")
DTI_WORDS(order_words, "little", "big")

#define DTI_ROWS "answers/cast/cast_array.def"
#include "answers/rows.h"
