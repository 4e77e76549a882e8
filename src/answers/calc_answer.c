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

/* What rows name. */
struct calc_options_text {
    const struct dti_calc_options *of;
    const struct dti_format *accumulate; /* or NULL */
    bool blocked;
    char seed[DTI_TEXT_SIZE];
};

struct calc_number_text {
    size_t index;
    struct dti_number_answer number;
    struct dti_value value;
    struct dti_calc_true known;
    const struct calc_true_text *true_value; /* or NULL */
    const struct calc_error_text *error;     /* or NULL */
    struct calc_true_text truth;
    struct calc_error_text off;
    struct dti_buffer buffer;
    char room[DTI_EXACT_ROOM];
};

struct calc_event_text {
    const struct dti_calc_event *event;
    const struct dti_calc_step *step;
    bool cancelled;
    struct dti_buffer text;
};

struct calc_step_text {
    const struct dti_calc_step *of;
    const char *operand[3];
    const struct calc_error_text *error; /* or NULL */
    struct calc_error_text off;
    char room[3][DTI_TEXT_SIZE], exact[DTI_TEXT_SIZE];
};

struct calc_result_text {
    const struct dti_calc_result *of;
    const struct calc_element *number, *worst; /* of one number; of a list; or NULL */
    const char *truth_reason;                  /* why there are no true values, or NULL */
    const struct dti_calc_result *event;       /* NULL: nothing went wrong */
    bool listed, compared, stepped;
    uint64_t different;
    struct calc_element element;
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

static void spell_options(struct calc_options_text *ret, const struct dti_calc_options *options)
{
    ret->of = options;
    ret->accumulate = options->accumulates ? &options->accumulate : NULL;
    ret->blocked = options->order == DTI_CALC_BLOCKED;
    dti_spell_u64(ret->seed, options->policy.seed);
}

static void spell_element(struct calc_number_text *ret, struct dti_json *json,
                          const struct calc_element *element)
{
    const struct dti_calc_result *const result = element->result;
    const struct dti_format *const format = &result->value.format;
    const uint64_t code = dti_calc_code(&result->value, element->index);
    dti_decode(format, code, &ret->value);
    ret->index = element->index;
    ret->number = (struct dti_number_answer){format, code, &ret->value, {NULL, 0}};
    dti_calc_true_get(result, element->index, &ret->known);
    dti_buffer_borrow(&ret->buffer, ret->room, sizeof ret->room);
    const bool known = ret->known.known && dti_calc_true_text(result, element->index, &ret->buffer);
    ret->truth = (struct calc_true_text){&ret->known, ret->buffer.data};
    ret->true_value = known ? &ret->truth : NULL;
    ret->error = ret->known.has_error ? &ret->off : NULL;
    if (ret->error)
        spell_error(&ret->off, format, &ret->value, &ret->known.absolute, &ret->known.relative);
    if (ret->buffer.failed)
        dti_json_out_of_memory(json);
}

static void free_number(struct calc_number_text *spelled)
{
    dti_buffer_free(&spelled->buffer);
}

static void spell_event(struct calc_event_text *ret, struct dti_json *json,
                        const struct dti_calc_result *result)
{
    ret->event = &result->first;
    ret->step = &result->first_step;
    ret->cancelled = result->first.kind == DTI_CALC_CANCELLATION;
    dti_buffer_init(&ret->text);
    dti_calc_sentence(&ret->text, result, ret->step, ret->event);
    if (ret->text.failed)
        dti_json_out_of_memory(json);
}

static void free_event(struct calc_event_text *spelled)
{
    dti_buffer_free(&spelled->text);
}

static void spell_step(struct calc_step_text *ret, const struct dti_calc_step *step)
{
    struct dti_value stored, absolute, relative;
    ret->of = step;
    for (unsigned i = 0; i < step->operand_count; i++) {
        (void)dti_spell_rounded(ret->room[i], &step->operand[i]);
        ret->operand[i] = ret->room[i];
    }
    (void)dti_spell_rounded(ret->exact, &step->exact);
    dti_decode(&step->format, step->code, &stored);
    ret->error = dti_calc_step_error(step, &absolute, &relative) ? &ret->off : NULL;
    if (ret->error)
        spell_error(&ret->off, &step->format, &stored, &absolute, &relative);
}

static void fill_result(struct calc_result_text *ret, const struct dti_calc_result *result)
{
    const bool list = result->value.rank > 0;
    size_t worst = 0;
    ret->of = result;
    ret->different = 0;
    ret->compared = dti_calc_worst(result, &worst, &ret->different);
    ret->element = (struct calc_element){result, list ? worst : 0};
    ret->number = list ? NULL : &ret->element;
    ret->worst = list && ret->compared && result->value.count > 0 ? &ret->element : NULL;
    ret->listed = list && result->value.count <= DTI_CALC_LISTED;
    ret->truth_reason = result->truth ? NULL : result->truth_reason;
    ret->event = result->went_wrong ? result : NULL;
    ret->stepped = result->steps != NULL;
}

static void put_results(struct dti_json *json, const struct dti_calc_answer *answer)
{
    answer->put(answer->context, json);
}

#define DTI_ROWS "answers/calc_answer.def"
#include "answers/rows.h"
