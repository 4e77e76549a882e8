/* SPDX-License-Identifier: MIT
 *
 * Expressions computed in dtypes, as JSON and as sentences: see calc_answer.h.
 *
 * Operands may also be tensors in files: any container, with codes as stored; a quantized tensor is
 * read as its dequantized numbers, as fp32. */
#include "answers/calc/calc_answer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "answers/rows.h"
#include "core/code/arith.h"
#include "files/dequant/logical_tensors.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"

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

/* Precomputed values for the rows in calc_answer.def. */
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
    const struct calc_element *number,
        *worst;                          /* number: of a single number; worst: of a list; or NULL */
    const char *truth_reason;            /* why there are no true values, or NULL */
    const struct dti_calc_result *event; /* NULL if there was no event */
    bool listed, compared, stepped;
    uint64_t different;
    struct calc_element element;
};

struct calc_event_counts {
    const uint64_t *of; /* indexed by enum dti_calc_event_kind */
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

/* Names the element if there are several: of a result, or of the range of a reduction. */
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
    const bool reported = event->op == DTI_CALC_OP_COUNT || event->kind == DTI_CALC_ABSORBED ||
                          event->kind == DTI_CALC_TO_ZERO || event->kind == DTI_CALC_SUBNORMAL;
    dti_buffer_puts(buffer, dti_calc_event_words(words, event->kind));
    dti_buffer_puts(buffer, reported ? ": " : " at ");
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
    if (ulps.kind == DTI_CLASS_FINITE)
        ulps.exponent -= dti_format_step_exponent(format, stored);
    return ulps;
}

bool dti_calc_step_error(const struct dti_calc_step *step, struct dti_value *ret_absolute,
                         struct dti_value *ret_relative)
{
    struct dti_value stored, first = step->exact, rest;
    dti_decode(&step->format, step->code, &stored);
    if (stored.kind > DTI_CLASS_FINITE || first.kind > DTI_CLASS_FINITE)
        return false;
    if (first.kind == DTI_CLASS_ZERO) {
        *ret_absolute = stored;
        *ret_relative = (struct dti_value){.kind = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
        return true;
    }
    /* operands have 64 bits, so the exact result is split into two of them */
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

#define DTI_ROWS "answers/calc/calc_answer.def"
#include "answers/rows.h"

enum { PIECE = 1 << 20, LINE = 64 }; /* bytes read at once; alignment of scratch */

static const struct dti_tensor *find_named(const struct dti_container *container, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (tensor->name_length == length && memcmp(tensor->name, name, length) == 0)
            return tensor;
    }
    return NULL;
}

/* calc has no option to read the stored codes instead, so the remedy is a complete file. */
static enum dti_status refuse(struct dti_error *reterr)
{
    reterr->remedy = DTI_REMEDY_COMPLETE;
    return DTI_BAD_INPUT;
}

/* Finds a tensor of the view, else a stored part of one; then *container becomes the stored
 * container. */
static enum dti_status find_tensor(struct dti_container **container, const char *path,
                                   const char *name, const struct dti_tensor **ret,
                                   struct dti_error *reterr)
{
    struct dti_container *const view = *container;
    if (!name && view->tensor_count != 1)
        return dti_fail(reterr, DTI_BAD_VALUE, "%s has %zu tensors; name one, as in FILE:TENSOR",
                        DTI_QUOTED(path, strlen(path)), view->tensor_count);
    *ret = name ? find_named(view, name) : &view->tensors[0];
    if (*ret && dti_logical_refuse(view, *ret, reterr) != DTI_OK)
        return refuse(reterr);
    assert(*ret || name);
    if (!*ret && view->stored) {
        *container = view->stored;
        *ret = find_named(view->stored, name);
    }
    if (*ret)
        return DTI_OK;
    if (dti_logical_refuse_named(view, name, strlen(name), reterr) != DTI_OK)
        return refuse(reterr);
    return dti_fail_remedy(reterr, DTI_BAD_VALUE, DTI_REMEDY_LIST_TENSORS, "%s has no tensor %s",
                           DTI_QUOTED(path, strlen(path)), DTI_QUOTED(name, strlen(name)));
}

static enum dti_status check_tensor(const struct dti_tensor *tensor, const char *path,
                                    struct dti_error *reterr)
{
    char file[DTI_QUOTE_SIZE];
    const char *const name = DTI_QUOTED(tensor->name, tensor->name_length);
    uint64_t bytes;
    dti_quote(file, path, strlen(path));
    if (dti_tensor_refusal(tensor))
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, tensor->remedy, "%s of %s %s", name, file,
                               dti_tensor_refusal(tensor));
    if (!tensor->format)
        return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_DEQUANTIZE,
                               "%s of %s is stored in blocks (%s), not as numbers of a dtype", name,
                               file, tensor->stored_as);
    if (tensor->format->kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND, "%s of %s is complex; only real numbers are read",
                        name, file);
    if (tensor->rank > DTI_CALC_RANK_MAX)
        return dti_fail(reterr, DTI_BAD_VALUE,
                        "%s of %s has %u dimensions; at most %d are possible", name, file,
                        tensor->rank, DTI_CALC_RANK_MAX);
    if (tensor->elements > DTI_CALC_ELEMENTS_MAX ||
        !dti_mul_u64(tensor->elements, dti_calc_code_bytes(tensor->format), &bytes) ||
        bytes > DTI_CALC_BYTES_MAX)
        return dti_fail(reterr, DTI_BAD_VALUE,
                        "%s of %s has %llu elements; all arrays together may have %d elements and "
                        "%d MiB",
                        name, file, (unsigned long long)tensor->elements, DTI_CALC_ELEMENTS_MAX,
                        DTI_CALC_BYTES_MAX >> 20);
    return DTI_OK;
}

/* Row-major index of the next element of a tensor stored column-major; advances place[], its
 * indices. */
static size_t next_place(const struct dti_tensor *tensor, uint64_t place[DTI_CALC_RANK_MAX])
{
    size_t index = 0; /* all elements are in memory */
    for (unsigned i = 0; i < tensor->rank; i++)
        index = index * (size_t)tensor->shape[i] + (size_t)place[i];
    for (unsigned i = 0; i < tensor->rank && ++place[i] == tensor->shape[i]; i++)
        place[i] = 0;
    return index;
}

/* Where the elements of a tensor come from. */
struct calc_source {
    struct dti_batch_source source; /* none: a range of a file */
    const struct dti_input *input;
    uint64_t offset;
    void *scratch;
};

static enum dti_status open_source(struct dti_container *container, const struct dti_tensor *tensor,
                                   struct calc_source *ret, struct dti_error *reterr)
{
    *ret = (struct calc_source){.scratch = NULL};
    const enum dti_status status =
        dti_logical_data(container, (size_t)(tensor - container->tensors), &ret->source,
                         &ret->input, &ret->offset, reterr);
    if (status != DTI_OK || !ret->source.read)
        return status;
    ret->scratch = dti_malloc_aligned(LINE, (ret->source.scratch_bytes / LINE + 1) * LINE);
    return ret->scratch ? DTI_OK : dti_no_memory(reterr);
}

static enum dti_status read_piece(const struct calc_source *source, unsigned char *piece,
                                  size_t bytes, uint64_t offset, struct dti_error *reterr)
{
    struct dti_window window = {.way = DTI_WINDOW_COPY};
    if (!source->source.read)
        return dti_input_read_at(source->input, piece, bytes, source->offset + offset, reterr);
    const enum dti_status status = source->source.read(source->source.context, piece, bytes, offset,
                                                       &window, source->scratch, reterr);
    dti_window_free(&window);
    return status;
}

/* Whether the tensor has the bytes of codes, in their order. */
static bool has_codes(const struct dti_tensor *tensor)
{
    return !tensor->fortran && dti_calc_codes_are_stored(tensor->format, &tensor->layout);
}

/* taker: takes the pieces, and the array has no codes; else NULL. */
static enum dti_status read_codes(const struct calc_source *source, const struct dti_tensor *tensor,
                                  struct dti_calc_array *array, unsigned char *piece,
                                  struct dti_calc_taker *taker, struct dti_error *reterr)
{
    uint64_t place[DTI_CALC_RANK_MAX] = {0};
    const bool same = has_codes(tensor), whole = same && !taker;
    const unsigned bits = dti_format_stored_bits(tensor->format, &tensor->layout);
    const uint64_t at_once = (uint64_t)PIECE * 8 / bits / 8 * 8; /* whole bytes of any width */
    for (uint64_t done = 0; done < tensor->elements;) {
        const uint64_t left = tensor->elements - done, count = left < at_once ? left : at_once;
        uint64_t bytes;
        (void)dti_format_bytes(tensor->format, &tensor->layout, count, &bytes);
        const enum dti_status status =
            read_piece(source, whole ? (unsigned char *)array->codes + done * bits / 8 : piece,
                       (size_t)bytes, done * bits / 8, reterr);
        if (status != DTI_OK)
            return status;
        if (taker && !taker->take(taker, piece, (size_t)count))
            return dti_cancelled(reterr);
        for (uint64_t i = 0; i < count && !same; i++)
            dti_calc_put(array, tensor->fortran ? next_place(tensor, place) : (size_t)(done + i),
                         dti_storage_get(tensor->format, &tensor->layout, piece, i));
        done += count;
    }
    return DTI_OK;
}

static enum dti_status read_tensor(struct dti_container *container, const char *path,
                                   const char *name, struct dti_calc_taker *taker,
                                   struct dti_calc_array *ret, struct dti_error *reterr)
{
    const struct dti_tensor *tensor = NULL;
    struct calc_source source = {.scratch = NULL};
    enum dti_status status = find_tensor(&container, path, name, &tensor, reterr);
    if (status == DTI_OK)
        status = check_tensor(tensor, path, reterr);
    if (status == DTI_OK)
        status = open_source(container, tensor, &source, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_calc_array array = {
        .format = *tensor->format, .rank = tensor->rank, .count = (size_t)tensor->elements};
    if (tensor->rank > 0)
        memcpy(array.shape, tensor->shape, tensor->rank * sizeof *array.shape);
    if (taker && !(has_codes(tensor) && taker->begin(taker, &array)))
        taker = NULL;
    array.codes = taker ? NULL : dti_calc_codes_new(&array.format, array.count);
    unsigned char *const piece = dti_malloc(PIECE);
    status = (taker || array.codes) && piece
                 ? read_codes(&source, tensor, &array, piece, taker, reterr)
                 : dti_no_memory(reterr);
    dti_free(piece);
    dti_free(source.scratch);
    if (status == DTI_OK)
        *ret = array;
    else
        dti_calc_array_free(&array);
    return status;
}

enum dti_status dti_calc_load(void *context, const char *path, const char *tensor,
                              struct dti_calc_taker *taker, struct dti_calc_array *ret,
                              struct dti_error *reterr)
{
    struct dti_container *container;
    enum dti_status status = dti_logical_open(&container, path, context, reterr);
    if (status == DTI_UNRECOGNIZED)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is a file without a known format; tensors are read from safetensors, "
                        "npy, npz and gguf files",
                        DTI_QUOTED(path, strlen(path)));
    if (status != DTI_OK)
        return status;
    status = read_tensor(container, path, tensor, taker, ret, reterr);
    dti_logical_close(container);
    if (status == DTI_OK)
        status = dti_inputs_unchanged(reterr);
    return status;
}
