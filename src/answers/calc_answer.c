/* SPDX-License-Identifier: MIT
 *
 * Expressions computed in dtypes as JSON, and what is said about them in words: see calc_answer.h.
 */
#include "answers/calc_answer.h"

#include <string.h>

#include "answers/rows.h"
#include "dtinfo/arith.h"

/* One number of a result. */
struct calc_element {
    const struct dti_calc_result *result;
    size_t index;
};

struct calc_true_text {
    const struct dti_calc_true *truth;
    const char *text;
};

struct calc_error_text {
    struct dti_spelled absolute, relative, ulp; /* JSON numbers */
    char room[3][DTI_TEXT_SIZE];
};

/* The spelled members of a number; free_number() frees it. */
struct calc_number_text {
    struct dti_number_answer number;
    struct dti_value value;
    bool has_truth, has_error;
    struct dti_calc_true known;
    struct calc_true_text truth;
    struct calc_error_text error;
    struct dti_buffer buffer;
    char room[DTI_EXACT_ROOM];
};

struct calc_step_text {
    const char *operand[3];
    bool has_error;
    struct calc_error_text error;
    char room[3][DTI_TEXT_SIZE];
};

struct calc_event_counts {
    const uint64_t *of; /* by enum dti_calc_event_kind */
};

DTI_WORDS(subnormal_words, "keep", "flush")
DTI_WORDS(order_words, "sequential", "pairwise", "blocked", "kahan")

static const char *event_words(size_t index)
{
    return index < DTI_CALC_EVENT_COUNT ? dti_calc_event_name((enum dti_calc_event_kind)index)
                                        : NULL;
}

const char *dti_calc_event_words(char buffer[DTI_CALC_WORDS_SIZE], enum dti_calc_event_kind kind)
{
    const char *const name = dti_calc_event_name(kind);
    size_t i = 0;
    for (; name[i] != '\0' && i + 1 < DTI_CALC_WORDS_SIZE; i++)
        buffer[i] = (char)(name[i] == '_' ? ' ' : name[i]);
    buffer[i] = '\0';
    return buffer;
}

/* Which element, where it is one of several: of a result, or of what a reduction goes over. */
static void put_place(struct dti_buffer *buffer, const struct dti_calc_step *step,
                      const struct dti_calc_event *event)
{
    char text[DTI_TEXT_SIZE];
    if (step->within) {
        dti_buffer_puts(buffer, ", in ");
        dti_buffer_puts(buffer, step->within);
    }
    if (step->count > 1 || event->element > 0) {
        dti_spell_u64(text, event->element);
        dti_buffer_puts(buffer, ", element ");
        dti_buffer_puts(buffer, text);
    }
}

void dti_calc_sentence(struct dti_buffer *buffer, const struct dti_calc_result *result,
                       const struct dti_calc_step *step, const struct dti_calc_event *event)
{
    char words[DTI_CALC_WORDS_SIZE];
    const bool told = event->op == DTI_CALC_OP_COUNT || event->kind == DTI_CALC_ABSORBED ||
                      event->kind == DTI_CALC_TO_ZERO || event->kind == DTI_CALC_SUBNORMAL;
    dti_buffer_puts(buffer, dti_calc_event_words(words, event->kind));
    dti_buffer_puts(buffer, told ? ": " : " at ");
    dti_calc_event_text(buffer, step, event);
    if (strcmp(step->format.name, result->value.format.name) != 0) {
        dti_buffer_puts(buffer, ", in ");
        dti_buffer_puts(buffer, step->format.name);
    }
    put_place(buffer, step, event);
}

struct dti_value dti_calc_ulps(const struct dti_format *format, const struct dti_value *stored,
                               const struct dti_value *absolute)
{
    struct dti_value ulps = *absolute;
    if (ulps.class == DTI_CLASS_FINITE)
        ulps.exponent -= dti_format_step_exponent(format, stored);
    return ulps;
}

bool dti_calc_step_error(const struct dti_calc_step *step, struct dti_value *ret_absolute,
                         struct dti_value *ret_relative)
{
    struct dti_value stored, first = step->exact, rest;
    dti_decode(&step->format, step->code, &stored);
    if (stored.class > DTI_CLASS_FINITE || first.class > DTI_CLASS_FINITE)
        return false;
    if (first.class == DTI_CLASS_ZERO) {
        *ret_absolute = stored;
        *ret_relative = (struct dti_value){.class = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
        return true;
    }
    /* operands have 64 bits: the exact result is two of them */
    first.lo = 0;
    first.sticky = false;
    dti_value_set(&rest, first.negative, step->exact.lo, (int64_t)first.exponent - 127);
    struct dti_value difference;
    (void)dti_value_subtract(&difference, &stored, &first, DTI_ROUND_NEAREST_EVEN);
    difference.lo = 0;
    difference.sticky = false;
    (void)dti_value_subtract(&difference, &difference, &rest, DTI_ROUND_NEAREST_EVEN);
    *ret_absolute = difference;
    difference.lo = 0;
    difference.sticky = false;
    first.negative = false;
    (void)dti_value_divide(ret_relative, &difference, &first);
    return true;
}

static void spell_error(struct calc_error_text *ret, const struct dti_format *format,
                        const struct dti_value *stored, const struct dti_value *absolute,
                        const struct dti_value *relative)
{
    const struct dti_value ulps = dti_calc_ulps(format, stored, absolute);
    ret->absolute = dti_rounded_token(ret->room[0], absolute);
    ret->relative = dti_rounded_token(ret->room[1], relative);
    ret->ulp = dti_rounded_token(ret->room[2], &ulps);
}

static void spell_element(struct calc_number_text *ret, struct dti_json *json,
                          const struct calc_element *element)
{
    const struct dti_calc_result *const result = element->result;
    const struct dti_format *const format = &result->value.format;
    const uint64_t code = dti_calc_code(&result->value, element->index);
    dti_decode(format, code, &ret->value);
    ret->number = (struct dti_number_answer){format, code, &ret->value, {NULL, 0}};
    dti_calc_true_get(result, element->index, &ret->known);
    dti_buffer_borrow(&ret->buffer, ret->room, sizeof ret->room);
    ret->has_truth = ret->known.known && dti_calc_true_text(result, element->index, &ret->buffer);
    ret->truth = (struct calc_true_text){&ret->known, ret->buffer.data};
    ret->has_error = ret->known.has_error;
    if (ret->has_error)
        spell_error(&ret->error, format, &ret->value, &ret->known.absolute, &ret->known.relative);
    if (ret->buffer.failed)
        dti_json_out_of_memory(json);
}

static void free_number(struct calc_number_text *spelled)
{
    dti_buffer_free(&spelled->buffer);
}

static void spell_step(struct calc_step_text *ret, const struct dti_calc_step *step)
{
    struct dti_value stored, absolute, relative;
    for (unsigned i = 0; i < step->operand_count; i++) {
        (void)dti_spell_rounded(ret->room[i], &step->operand[i]);
        ret->operand[i] = ret->room[i];
    }
    dti_decode(&step->format, step->code, &stored);
    ret->has_error = dti_calc_step_error(step, &absolute, &relative);
    if (ret->has_error)
        spell_error(&ret->error, &step->format, &stored, &absolute, &relative);
}

#define DTI_ROWS "answers/calc_answer.def"
#include "answers/rows.h"
