/* SPDX-License-Identifier: MIT
 *
 * A comparison as text and as JSON. Tensors are written as they are built, so memory does not grow
 * with their number.
 *
 * Pairs tensors with the same name, or the only tensor of each side. All pairs are then read and
 * judged in groups, so memory does not grow with their number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/compare/compare.h"
#include "answers/compare/compare_map.h"
#include "answers/rows.h"
#include "answers/tensors.h"
#include "containers/name_order.h"
#include "io/window.h"
#include "util/run/allocate.h"

const struct dti_tensor *dti_compare_tensor(const struct dti_compare *compare,
                                            const struct dti_compare_result *result)
{
    return result->way == DTI_COMPARE_ONLY_B ? &compare->b->tensors[result->b]
                                             : &compare->a->tensors[result->a];
}

const char *dti_compare_reason(char buffer[DTI_COMPARE_REASON], const struct dti_compare *compare,
                               const struct dti_compare_result *result)
{
    const struct dti_tensor *const tensor = dti_compare_tensor(compare, result);
    const char *const dtype = dti_tensor_dtype(tensor);
    char why[DTI_SCAN_WHY_SIZE], words[DTI_REMEDY_WORDS];
    enum dti_remedy remedy;
    switch (result->way) {
    case DTI_COMPARE_NUMBERS:
        buffer[0] = '\0';
        break;
    case DTI_COMPARE_BYTES:
        if (result->first_byte == UINT64_MAX)
            (void)snprintf(buffer, DTI_COMPARE_REASON, "%.40s, the same bytes", dtype);
        else
            (void)snprintf(buffer, DTI_COMPARE_REASON, "%.40s, bytes differ from byte %llu on",
                           dtype, (unsigned long long)result->first_byte);
        break;
    case DTI_COMPARE_NEVER:
        if (result->why)
            return (void)snprintf(buffer, DTI_COMPARE_REASON, "%s", result->why), buffer;
        (void)dti_scan_comparable(tensor, &compare->b->tensors[result->b], why, &remedy);
        (void)snprintf(buffer, DTI_COMPARE_REASON, "%s", compare->words(words, remedy, why));
        break;
    case DTI_COMPARE_ONLY_A:
    case DTI_COMPARE_ONLY_B: {
        char shape[DTI_SHAPE_SIZE];
        (void)snprintf(buffer, DTI_COMPARE_REASON, "%.40s %s", dtype,
                       dti_shape_words(shape, tensor));
        break;
    }
    }
    return buffer;
}

/* Precomputed values for the rows on a result in compare.def. */
struct pair_rows {
    const struct dti_compare_result *result;
    const struct dti_tensor *a, *b;  /* NULL for a side that lacks it */
    const char *reason;              /* NULL unless they cannot be compared */
    const struct pair_rows *figures; /* the pair itself if numbers are compared, or NULL */
    bool differs;                    /* the bytes differ, at first_byte */
    struct dti_place most, first_differing, first_unmatched;
    char room[DTI_COMPARE_REASON];
};

DTI_WORDS(way_words, "numbers", "bytes", "not_comparable", "only_in_a", "only_in_b")
DTI_WORDS(outcome_words, "equal", "within_tolerance", "unreadable", "different", "ignored")
DTI_WORDS(verdict_words, "equal", "within_tolerance", "unreadable", "different")

/* Counts the results by outcome and by way, and determines the overall outcome. */
static void compare_count(struct dti_compare *compare)
{
    memset(compare->tensors, 0, sizeof compare->tensors);
    memset(compare->ways, 0, sizeof compare->ways);
    compare->outcome = DTI_COMPARE_EQUAL;
    for (size_t i = 0; i < compare->result_count; i++) {
        const enum dti_compare_outcome outcome = compare->results[i].outcome;
        compare->tensors[outcome]++;
        compare->ways[compare->results[i].way]++;
        if (outcome > compare->outcome && outcome != DTI_COMPARE_IGNORED)
            compare->outcome = outcome;
    }
}

struct dti_compare dti_compare_of_one(const struct dti_compare *compare, size_t result)
{
    struct dti_compare one = *compare;
    one.results += result;
    one.result_count = 1;
    compare_count(&one);
    one.total = one.results->way == DTI_COMPARE_NUMBERS
                    ? one.results->figures
                    : (struct dti_compare_figures){.elements = 0};
    return one;
}

static void fill_pair(struct pair_rows *ret, const struct dti_compare *compare,
                      const struct dti_compare_result *result)
{
    const struct dti_compare_figures *const figures = &result->figures;
    ret->result = result;
    ret->a = result->way == DTI_COMPARE_ONLY_B ? NULL : &compare->a->tensors[result->a];
    ret->b = result->way == DTI_COMPARE_ONLY_A ? NULL : &compare->b->tensors[result->b];
    ret->reason =
        result->way == DTI_COMPARE_NEVER ? dti_compare_reason(ret->room, compare, result) : NULL;
    ret->differs = result->way == DTI_COMPARE_BYTES && result->first_byte != UINT64_MAX;
    ret->figures = result->way == DTI_COMPARE_NUMBERS ? ret : NULL;
    if (ret->figures) {
        ret->most = dti_place_of(ret->a, figures->max_index);
        ret->first_differing = dti_place_of(ret->a, figures->first_differing);
        ret->first_unmatched = dti_place_of(ret->a, figures->first_unmatched);
    }
}

static void put_warnings(struct dti_json *json, const struct dti_compare *compare)
{
    for (size_t i = 0; i < compare->note_count; i++)
        dti_put_warning(json, NULL,
                        &(struct dti_warning_answer){"dtype_name", NULL, compare->notes[i], 0});
    dti_put_logical_warnings(json, compare->a, compare->words);
    dti_put_logical_warnings(json, compare->b, compare->words);
}

static void put_pairs(struct dti_json *json, const struct dti_compare *compare);

#define DTI_ROWS "answers/compare/compare.def"
#include "answers/rows.h"

static void put_pairs(struct dti_json *json, const struct dti_compare *compare)
{
    dti_json_stream(json, compare->out);
    for (size_t i = 0; i < compare->result_count && !compare->unlisted; i++) {
        struct pair_rows pair;
        fill_pair(&pair, compare, &compare->results[i]);
        dti_put_compared_pair(json, NULL, &pair);
    }
}

enum { GROUP = 1024, PIECE = 256 * 1024 };

/* The tensors of a side selected by `only`. */
struct side {
    const struct dti_container *container;
    size_t *tensors, count;
    const struct dti_compare_name *names; /* of the container's tensors; NULL: their own */
};

static const struct dti_tensor *tensor_of(const struct side *side, size_t at)
{
    return &side->container->tensors[side->tensors[at]];
}

/* The name that it is paired by. */
static const char *name_of(const struct side *side, size_t at, size_t *ret_length)
{
    const struct dti_tensor *const tensor = tensor_of(side, at);
    const struct dti_compare_name *const name =
        side->names ? &side->names[side->tensors[at]] : NULL;
    *ret_length = name ? name->name_length : tensor->name_length;
    return name ? name->name : tensor->name;
}

static enum dti_compare_way way_of(const struct dti_tensor *a, const struct dti_tensor *b)
{
    char why[DTI_SCAN_WHY_SIZE];
    enum dti_remedy remedy;
    if (dti_scan_comparable(a, b, why, &remedy))
        return DTI_COMPARE_NUMBERS;
    const bool unread = !dti_tensor_is_read(a) || !dti_tensor_is_read(b);
    const bool same = strcmp(a->stored_as, b->stored_as) == 0 && a->bytes == b->bytes &&
                      a->layout.swapped == b->layout.swapped && a->fortran == b->fortran &&
                      dti_tensor_gguf(a) == dti_tensor_gguf(b) && /* blocks in one byte order */
                      !a->beyond_bytes && !b->beyond_bytes && dti_tensor_same_shape(a, b);
    return unread && same ? DTI_COMPARE_BYTES : DTI_COMPARE_NEVER;
}

/* Drops results whose names `only` does not match. */
static void select_results(struct dti_compare *compare)
{
    size_t count = 0;
    for (size_t i = 0; i < compare->result_count; i++) {
        if (dti_compare_map_matches(compare, &compare->results[i], compare->only))
            compare->results[count++] = compare->results[i];
    }
    compare->result_count = count;
}

/* taken[i]: tensor i of b has a partner. */
static void fill(struct dti_compare *compare, const struct side *a, const struct side *b,
                 const struct dti_name_order *names, bool *taken)
{
    const bool alone = a->count == 1 && b->count == 1;
    struct dti_compare_result *result = compare->results;
    for (size_t i = 0; i < a->count; i++, result++) {
        const struct dti_tensor *const tensor = tensor_of(a, i);
        size_t at = 0, length;
        const char *const name = name_of(a, i, &length);
        result->a = a->tensors[i];
        result->way = DTI_COMPARE_ONLY_A;
        if (!alone && !dti_name_order_find(names, name, length, &at))
            continue;
        taken[at] = true;
        result->b = b->tensors[at];
        result->way = way_of(tensor, tensor_of(b, at));
        if (compare->mapping && result->way == DTI_COMPARE_NUMBERS)
            dti_compare_map_apply(compare, result);
        if (result->why)
            result->way = DTI_COMPARE_NEVER;
    }
    for (size_t i = 0; i < b->count; i++) {
        if (taken[i])
            continue;
        result->b = b->tensors[i];
        result++->way = DTI_COMPARE_ONLY_B;
    }
    compare->result_count = (size_t)(result - compare->results);
}

/* Fails if a quantized tensor of a side lacks a part. */
static enum dti_status check_whole(const struct dti_compare *compare, bool second,
                                   struct dti_error *reterr)
{
    const struct dti_container *const container = second ? compare->b : compare->a;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < compare->result_count && status == DTI_OK; i++) {
        const struct dti_compare_result *const result = &compare->results[i];
        if (result->way != (second ? DTI_COMPARE_ONLY_A : DTI_COMPARE_ONLY_B))
            status = dti_logical_refuse(
                container, &container->tensors[second ? result->b : result->a], reterr);
    }
    return status;
}

/* Pairs the tensors of two sides. */
static enum dti_status pair(struct dti_compare *compare, const struct side *a, const struct side *b,
                            struct dti_error *reterr)
{
    struct dti_name_order names = {0};
    bool *const taken = dti_calloc(b->count + 1, sizeof *taken);
    compare->results = dti_calloc(a->count + b->count + 1, sizeof *compare->results);
    const bool done = taken && compare->results && dti_name_order_init(&names, b->count);
    for (size_t i = 0, length; i < b->count && done; i++) {
        const char *const name = name_of(b, i, &length);
        dti_name_order_add(&names, name, length);
    }
    if (done) {
        dti_name_order_sort(&names);
        fill(compare, a, b, &names, taken);
    }
    dti_name_order_free(&names);
    dti_free(taken);
    return done ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_compare_pair(struct dti_compare *compare, struct dti_error *reterr)
{
    const char *const only = compare->map ? NULL : compare->only; /* else both names count */
    struct side a = {.container = compare->a}, b = {.container = compare->b};
    enum dti_status status = DTI_OK;
    if (compare->map)
        status = dti_compare_map_new(compare, reterr);
    if (status != DTI_OK)
        return status;
    a.tensors = dti_tensors_named(compare->a, only, &a.count);
    b.tensors = dti_tensors_named(compare->b, only, &b.count);
    a.names = compare->mapping ? dti_compare_map_names(compare->mapping, 0) : NULL;
    b.names = compare->mapping ? dti_compare_map_names(compare->mapping, 1) : NULL;
    status = a.tensors && b.tensors ? pair(compare, &a, &b, reterr) : dti_no_memory(reterr);
    if (status == DTI_OK && compare->mapping && compare->only)
        select_results(compare);
    if (status == DTI_OK && compare->mapping)
        dti_compare_map_count(compare);
    if (status == DTI_OK)
        status = check_whole(compare, false, reterr);
    if (status == DTI_OK)
        status = check_whole(compare, true, reterr);
    dti_free(a.tensors);
    dti_free(b.tensors);
    return status;
}

void dti_compare_free(struct dti_compare *compare)
{
    dti_free(compare->results);
    dti_compare_map_free(compare->mapping);
    dti_logical_close(compare->a);
    dti_logical_close(compare->b);
}

static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t size)
{
    size_t i = 0;
    while (i < size && a[i] == b[i])
        i++;
    return i;
}

/* Compares two tensors whose values cannot be read, byte by byte: the first difference, or
 * UINT64_MAX. */
static enum dti_status compare_bytes(struct dti_container *a, size_t tensor_a,
                                     struct dti_container *b, size_t tensor_b, uint64_t *ret_first,
                                     struct dti_error *reterr)
{
    const uint64_t bytes = a->tensors[tensor_a].bytes;
    const struct dti_input *input_a, *input_b;
    uint64_t offset_a, offset_b;
    enum dti_status status = dti_container_data(a, tensor_a, &input_a, &offset_a, reterr);
    if (status == DTI_OK)
        status = dti_container_data(b, tensor_b, &input_b, &offset_b, reterr);
    if (status != DTI_OK)
        return status;

    unsigned char *const buffer = dti_malloc(2 * (size_t)PIECE);
    if (!buffer)
        return dti_no_memory(reterr);
    struct dti_window window_a = {.way = DTI_WINDOW_UNDECIDED}, window_b = window_a;
    uint64_t first = UINT64_MAX;
    const bool to_end =
        input_a->watch || input_b->watch; /* read to the end so that checksums are verified */
    for (uint64_t done = 0; done < bytes && (to_end || first == UINT64_MAX); done += PIECE) {
        const size_t size = bytes - done < PIECE ? (size_t)(bytes - done) : PIECE;
        const void *bytes_a, *bytes_b;
        status =
            dti_window_look(&window_a, input_a, buffer, size, offset_a + done, &bytes_a, reterr);
        if (status != DTI_OK)
            break;
        status = dti_window_look(&window_b, input_b, buffer + PIECE, size, offset_b + done,
                                 &bytes_b, reterr);
        if (status == DTI_OK) {
            if (first == UINT64_MAX && memcmp(bytes_a, bytes_b, size) != 0)
                first = done + first_difference(bytes_a, bytes_b, size);
            status = dti_window_done(&window_b, DTI_OK, reterr);
        }
        status = dti_window_done(&window_a, status, reterr);
        if (status != DTI_OK)
            break;
    }
    dti_window_free(&window_a);
    dti_window_free(&window_b);
    dti_free(buffer);
    if (status == DTI_OK)
        *ret_first = first;
    return status;
}

struct comparison_run {
    struct dti_compare *compare;
    struct dti_tensor_pair *pairs;
    size_t *results; /* its pair */
    size_t count;
    uint64_t bytes; /* bytes in the group */
    struct dti_comparison total;
};

static struct dti_compare_figures figures_of(const struct dti_comparison *comparison, bool has_ulp)
{
    return (struct dti_compare_figures){
        .elements = comparison->elements,
        .differing = comparison->differing,
        .unmatched = comparison->unmatched,
        .exceeding = comparison->exceeding,
        .compared = comparison->compared,
        .max_absolute = comparison->max_absolute,
        .mean_absolute = dti_comparison_mean_absolute(comparison),
        .root_mean_square = dti_comparison_root_mean_square(comparison),
        .max_relative = comparison->max_relative,
        .sqnr_db = dti_comparison_sqnr_db(comparison),
        .nmse = dti_comparison_nmse(comparison),
        .cosine = dti_comparison_cosine(comparison),
        .max_ulp = has_ulp ? comparison->max_ulp : (double)NAN,
        .max_index = comparison->max_absolute > 0 ? comparison->max_index : UINT64_MAX,
        .first_differing = comparison->first_differing,
        .first_unmatched = comparison->first_unmatched,
    };
}

/* Integers have no ulp: with --max-ulp alone they must be equal. */
static enum dti_compare_outcome judge(const struct dti_compare *compare,
                                      const struct dti_compare_figures *figures)
{
    const bool ulps = compare->max_ulp.given;
    const bool tolerant = compare->atol.given || compare->rtol.given;
    if (compare->bitwise)
        return figures->identical ? DTI_COMPARE_EQUAL : DTI_COMPARE_DIFFERS;
    if (figures->differing == 0)
        return DTI_COMPARE_EQUAL;
    if ((!tolerant && !ulps) || (tolerant && figures->exceeding > 0))
        return DTI_COMPARE_DIFFERS;
    if (ulps && (figures->unmatched > 0 || !(figures->max_ulp <= compare->max_ulp.most)))
        return DTI_COMPARE_DIFFERS;
    return DTI_COMPARE_WITHIN;
}

/* Stores the result of a pair. */
static void settle(struct comparison_run *run, size_t at)
{
    struct dti_compare *const compare = run->compare;
    const struct dti_tensor_pair *const pair = &run->pairs[at];
    struct dti_compare_result *const result = &compare->results[run->results[at]];
    result->figures = figures_of(&pair->comparison, pair->rule.ulp.width > 0);
    result->figures.identical = pair->identical;
    result->outcome = judge(compare, &result->figures);

    const struct dti_compare_figures *const total = &compare->total;
    if (compare->max_result == SIZE_MAX ? result->figures.max_absolute > 0
                                        : result->figures.max_absolute > total->max_absolute) {
        compare->max_result = run->results[at];
        compare->total.max_absolute = result->figures.max_absolute;
        compare->total.max_index = result->figures.max_index;
    }
    if (compare->ulp_result == SIZE_MAX ? !isnan(result->figures.max_ulp)
                                        : result->figures.max_ulp > total->max_ulp) {
        compare->ulp_result = run->results[at];
        compare->total.max_ulp = result->figures.max_ulp;
    }
    compare->total.identical = compare->total.identical && pair->identical;
    dti_comparison_merge(&run->total, &pair->comparison);
    compare->total_count++;
}

static enum dti_status scan_group(struct comparison_run *run, struct dti_error *reterr)
{
    struct dti_compare *const compare = run->compare;
    const enum dti_status status =
        dti_scan_comparison(compare->a, compare->b, run->pairs, run->count, compare->atol.most,
                            compare->rtol.most, &compare->reading.options, reterr);
    for (size_t i = 0; i < run->count && status == DTI_OK; i++)
        settle(run, i);
    run->count = 0;
    compare->reading.done += run->bytes;
    run->bytes = 0;
    return status;
}

static uint64_t bytes_of(const struct dti_compare *compare, const struct dti_compare_result *result)
{
    return dti_scan_bytes_of(&compare->a->tensors[result->a]) +
           dti_scan_bytes_of(&compare->b->tensors[result->b]);
}

/* Whether one of them is reordered to match the other, which takes disk space. */
static bool is_reordered(const struct dti_compare *compare, const struct dti_compare_result *result)
{
    return compare->a->tensors[result->a].fortran != compare->b->tensors[result->b].fortran;
}

/* For blocks with different bytes the difference of their numbers is unknown. */
static enum dti_compare_outcome judge_bytes(const struct dti_compare *compare, uint64_t first)
{
    const bool tolerant = compare->atol.given || compare->rtol.given || compare->max_ulp.given;
    return first == UINT64_MAX ? DTI_COMPARE_EQUAL
           : tolerant          ? DTI_COMPARE_UNREADABLE
                               : DTI_COMPARE_DIFFERS;
}

/* A pair that is not comparable: because of its shapes, or because one is unreadable. */
static enum dti_compare_outcome judge_never(const struct dti_compare *compare,
                                            const struct dti_compare_result *result)
{
    const struct dti_tensor *const a = &compare->a->tensors[result->a];
    const struct dti_tensor *const b = &compare->b->tensors[result->b];
    return result->why || (dti_tensor_same_shape(a, b) &&
                           (!dti_tensor_is_read(a) || !dti_tensor_is_read(b)))
               ? DTI_COMPARE_UNREADABLE
               : DTI_COMPARE_DIFFERS;
}

static enum dti_status scan(struct comparison_run *run, struct dti_error *reterr)
{
    struct dti_compare *const compare = run->compare;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < compare->result_count && status == DTI_OK; i++) {
        struct dti_compare_result *const result = &compare->results[i];
        if (result->way == DTI_COMPARE_BYTES) {
            status = compare_bytes(compare->a, result->a, compare->b, result->b,
                                   &result->first_byte, reterr);
            result->outcome = judge_bytes(compare, result->first_byte);
            compare->reading.done += bytes_of(compare, result);
        } else if (result->way == DTI_COMPARE_NUMBERS) {
            run->pairs[run->count].a = result->a;
            run->pairs[run->count].b = result->b;
            run->pairs[run->count].change_a = result->change_a;
            run->pairs[run->count].change_b = result->change_b;
            run->results[run->count++] = i;
            run->bytes += bytes_of(compare, result);
            if (run->count == GROUP || is_reordered(compare, result))
                status = scan_group(run, reterr);
        } else if (result->way == DTI_COMPARE_NEVER) {
            result->outcome = judge_never(compare, result);
        } else {
            result->outcome = compare->ignore_missing ? DTI_COMPARE_IGNORED : DTI_COMPARE_DIFFERS;
        }
    }
    return status == DTI_OK && run->count > 0 ? scan_group(run, reterr) : status;
}

static uint64_t all_bytes(const struct dti_compare *compare)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < compare->result_count; i++) {
        if (compare->results[i].way <= DTI_COMPARE_BYTES)
            bytes += bytes_of(compare, &compare->results[i]);
    }
    return bytes;
}

/* Fills in the totals; the maxima, found pair by pair, are kept. */
static void finish(struct comparison_run *run)
{
    struct dti_compare *const compare = run->compare;
    const struct dti_compare_figures kept = compare->total;
    compare->total = figures_of(&run->total, false);
    compare->total.max_absolute = kept.max_absolute;
    compare->total.max_index = kept.max_index;
    compare->total.max_ulp = compare->ulp_result == SIZE_MAX ? (double)NAN : kept.max_ulp;
    compare->total.identical = kept.identical;
    compare_count(compare);
}

/* Lists both tensors of each pair in reading order, for the progress display. Returns NULL if pairs
 * are compared as bytes, too (they do not wait for their group), or when out of memory: then no
 * names are shown. */
static const struct dti_tensor **list_tensors(const struct dti_compare *compare)
{
    const struct dti_reading *const reading = &compare->reading;
    const struct dti_tensor **const list =
        reading->list ? dti_calloc(2 * compare->result_count + 1, sizeof(struct dti_tensor *))
                      : NULL;
    size_t count = 0;
    for (size_t i = 0; i < compare->result_count && list; i++) {
        const struct dti_compare_result *const result = &compare->results[i];
        if (result->way == DTI_COMPARE_BYTES) {
            dti_free(list);
            return NULL;
        }
        if (result->way != DTI_COMPARE_NUMBERS)
            continue;
        list[count++] = &compare->a->tensors[result->a];
        list[count++] = &compare->b->tensors[result->b];
    }
    if (list)
        reading->list(reading->context, list, count);
    return list;
}

enum dti_status dti_compare_run(struct dti_compare *compare, struct dti_error *reterr)
{
    struct comparison_run run = {.compare = compare};
    const struct dti_tensor **const list = list_tensors(compare);
    run.pairs = dti_calloc(GROUP, sizeof *run.pairs);
    run.results = dti_calloc(GROUP, sizeof *run.results);
    dti_comparison_init(&run.total);
    compare->max_result = compare->ulp_result = SIZE_MAX;
    compare->total.identical = true;
    enum dti_status status = run.pairs && run.results
                                 ? dti_reading_start(&compare->reading, all_bytes(compare), reterr)
                                 : dti_no_memory(reterr);
    if (status == DTI_OK) {
        status = scan(&run, reterr);
        dti_reading_end(&compare->reading);
    }
    if (status == DTI_OK)
        finish(&run);
    dti_free(run.pairs);
    dti_free(run.results);
    dti_free(list);
    return status;
}
