/* SPDX-License-Identifier: MIT
 *
 * The search: tensors of a kind share a search space of recipes. A trial ends at the first
 * difference; a recipe that explains a tensor is tried on all others of its kind at once.
 *
 * Many small tensors that no recipe has explained so far are searched together: each recipe is
 * tried on all of them at once, because a separate rewrite for each would take much longer than the
 * data itself. */
#include <stdlib.h>
#include <string.h>

#include "answers/explain/explain.h"
#include "util/run/allocate.h"

/* The key of a search space. It has no padding, because keys are compared as bytes. */
struct explain_kind {
    const struct dti_format *from, *to;
    const struct dti_block_format *from_block, *to_block;
    const char *dtype, *layout;
    uint64_t group[2], rest; /* rest: axis length modulo the group */
    uint64_t per, axis, rank, flags;
};

struct explain_work {
    struct explain_kind kind;
    size_t result;
};

struct explain_search {
    struct dti_explain *explain;
    struct dti_recipe_files files;
    struct dti_recipe_list space;
    bool *explains; /* per recipe of the space: it explains a tensor of the kind */
    bool *refuses;  /* per recipe: it cannot store a number of the tensor, behind the difference */
    struct dti_verdict *verdicts;
    struct dti_recipe_pair *pairs;
    size_t room; /* capacity of both */
};

static inline struct dti_explain_result *explain_result_of(const struct explain_search *search,
                                                           const struct explain_work *work)
{
    return &search->explain->results[work->result];
}

/* Smaller tensors do not use a thread team: waking it would take longer. */
enum { ALONE = 1 << 20 };
/* After this many tensors without a recipe, the remaining small ones are searched together. */
enum { MISSES = 8 };

static struct explain_kind kind_of(const struct dti_tensor *from, const struct dti_tensor *to)
{
    const struct dti_dequant_form *const form = dti_tensor_form(to);
    struct explain_kind kind;
    memset(&kind, 0, sizeof kind);
    kind.from = from->format;
    kind.to = to->format;
    kind.from_block = dti_tensor_block(from);
    kind.to_block = dti_tensor_block(to);
    kind.flags = (dti_tensor_form(from) ? 1u : 0u) | (from->bytes == to->bytes ? 2u : 0u) |
                 (dti_tensor_refusal(from) || dti_tensor_refusal(to) ? 4u : 0u) |
                 (dti_tensor_same_shape(from, to) ? 0u : 256u);
    if (!form)
        return kind;
    kind.dtype = form->is->dtype;
    kind.layout = form->is->layout;
    kind.group[0] = form->is->group[0];
    kind.group[1] = form->is->group[1];
    kind.rest =
        to->rank > 0 && form->is->group[1] > 0 ? to->shape[form->is->axis] % form->is->group[1] : 0;
    kind.per = form->is->per;
    kind.axis = form->is->axis;
    kind.rank = to->rank;
    kind.flags |= (form->is->zero_points ? 8u : 0u) | (form->is->tensor_scale ? 16u : 0u) |
                  (form->is->nested ? 32u : 0u) | (form->is->flat ? 64u : 0u) |
                  (form->is->tensor_scale && dti_recipe_may_be_fused(to) ? 128u : 0u);
    return kind;
}

static int by_kind(const void *a, const void *b)
{
    const struct explain_work *const x = a, *const y = b;
    const int order = memcmp(&x->kind, &y->kind, sizeof x->kind);
    return order != 0 ? order : (x->result > y->result) - (x->result < y->result);
}

static uint64_t bytes_of(const struct dti_explain *explain, const struct dti_explain_result *result)
{
    return explain->a->tensors[result->pair.a].bytes + explain->b->tensors[result->pair.b].bytes;
}

/* A piece of a tensor; all zeros means the whole tensor. */
struct explain_piece {
    uint64_t elements, skip;
};

static enum dti_status make_one(struct explain_search *search, size_t candidate,
                                const struct dti_recipe_pair *pair, bool stop,
                                const struct explain_piece *piece, struct dti_verdict *ret,
                                bool *ret_refused, struct dti_error *reterr)
{
    const struct dti_scan_options *const options = &search->explain->reading.options;
    const bool large = search->files.a->tensors[pair->a].bytes > ALONE;
    const struct dti_judge_options how = {.team = large ? options->team : NULL,
                                          .max_memory = options->max_memory,
                                          .elements = piece->elements,
                                          .skip = piece->skip,
                                          .stop = stop};
    return dti_recipe_judge(&search->files, &search->space.list[candidate], pair, 1, &how, ret,
                            ret_refused, reterr);
}

/* Tries one recipe on one tensor. */
static enum dti_status explain_try(struct explain_search *search, size_t candidate,
                                   const struct dti_recipe_pair *pair, bool stop,
                                   struct dti_verdict *ret, bool *ret_refused,
                                   struct dti_error *reterr)
{
    static const struct explain_piece whole = {0, 0};
    return make_one(search, candidate, pair, stop, &whole, ret, ret_refused, reterr);
}

/* Copies a recipe that explains results, or matches best, into the list that results point to. */
static enum dti_status explain_keep(struct explain_search *search, size_t candidate,
                                    const struct dti_recipe **ret, struct dti_error *reterr)
{
    struct dti_explain *const explain = search->explain;
    struct dti_recipe *const recipe = dti_malloc(sizeof *recipe);
    struct dti_recipe **more = explain->recipe;
    if (recipe && (explain->made_count & (explain->made_count - 1)) == 0)
        more = dti_realloc(explain->recipe,
                           2 * (explain->made_count + 1) * sizeof(struct dti_recipe *));
    if (!recipe || !more) {
        dti_free(recipe);
        return dti_no_memory(reterr);
    }
    *recipe = search->space.list[candidate];
    explain->recipe = more;
    explain->recipe[explain->made_count++] = recipe;
    *ret = recipe;
    return DTI_OK;
}

struct explain_best {
    size_t candidate; /* SIZE_MAX: none */
    double alike;
};

static bool is_arranged(const struct explain_search *search, size_t candidate)
{
    return search->space.list[candidate].arrangement != DTI_ARRANGED_AS_MADE;
}

/* Another order, or a rule that is a known mistake, is no explanation of a tensor unless nearly all
 * of its elements are right. */
static bool is_far_fetched(const struct explain_search *search, size_t candidate, double alike)
{
    const struct dti_recipe *const recipe = &search->space.list[candidate];
    const bool mistake = (recipe->nv_scale_given && recipe->rules.nv_scale == DTI_NV_UNROUNDED) ||
                         (recipe->mx_scale_given && recipe->rules.mx_scale == DTI_MX_RFLOOR);
    return (mistake || is_arranged(search, candidate)) && !(alike >= 0.9);
}

/* Tie-breaking: prefers a recipe that has explained another tensor, else the first. */
static bool is_better(const struct explain_search *search, size_t candidate, double alike,
                      const struct explain_best *best)
{
    if (is_far_fetched(search, candidate, alike) || search->refuses[candidate])
        return false;
    return alike > best->alike || (alike == best->alike && search->explains[candidate] &&
                                   !search->explains[best->candidate]);
}

/* How many elements of a large tensor to try before the whole; 0: the whole at once. */
static uint64_t counted_of(const struct explain_search *search, const struct dti_recipe_pair *pair)
{
    const struct dti_tensor *const a = &search->files.a->tensors[pair->a];
    const struct dti_tensor *const b = &search->files.b->tensors[pair->b];
    return a->elements > DTI_EXPLAIN_COUNTED && !a->fortran && !b->fortran ? DTI_EXPLAIN_COUNTED
                                                                           : 0;
}

/* Tries a recipe on a large tensor: first its beginning, then the piece where an earlier recipe
 * failed (`suspect` is an element of it, or UINT64_MAX), finally the whole. Most recipes fail
 * early. */
static enum dti_status try_pieces(struct explain_search *search, size_t candidate,
                                  const struct dti_recipe_pair *pair, uint64_t *suspect,
                                  struct dti_verdict *ret, bool *ret_refused,
                                  struct dti_error *reterr)
{
    const struct dti_recipe *const recipe = &search->space.list[candidate];
    const uint64_t size = counted_of(search, pair);
    const uint64_t all = search->files.b->tensors[pair->b].elements;
    struct explain_piece piece = {.elements = size};
    enum dti_status status = DTI_OK;
    if (size > 0 && dti_recipe_is_elementwise(recipe)) {
        status = make_one(search, candidate, pair, true, &piece, ret, ret_refused, reterr);
        if (status != DTI_OK || *ret_refused || ret->kind != DTI_VERDICT_SAME)
            return status;
        piece.skip = *suspect < all ? *suspect / size * size : 0;
        piece.elements = all - piece.skip < size ? all - piece.skip : size;
        /* an element's random numbers depend on its position */
        if (piece.skip > 0 && recipe->by == DTI_VERB_CAST &&
            recipe->round != DTI_ROUND_STOCHASTIC) {
            status = make_one(search, candidate, pair, true, &piece, ret, ret_refused, reterr);
            ret->alike = 1;
            if (status != DTI_OK || *ret_refused || ret->kind != DTI_VERDICT_SAME)
                return status;
        }
    }
    status = explain_try(search, candidate, pair, true, ret, ret_refused, reterr);
    if (status == DTI_OK && !*ret_refused && ret->kind == DTI_VERDICT_BYTES &&
        ret->part == DTI_PART_CODES)
        *suspect = ret->first;
    return status;
}

/* Tries all recipes in order. *ret_found: the first one that explains the tensor, or SIZE_MAX. */
static enum dti_status search_one(struct explain_search *search, struct dti_explain_result *result,
                                  size_t *ret_found, struct explain_best *ret_best,
                                  struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    uint64_t suspect = UINT64_MAX;
    *ret_found = SIZE_MAX;
    *ret_best = (struct explain_best){.candidate = SIZE_MAX, .alike = -1};
    for (size_t i = 0; i < search->space.count && status == DTI_OK; i++) {
        struct dti_verdict verdict = {.kind = DTI_VERDICT_SAME};
        struct dti_error error;
        bool refused = false;
        status = try_pieces(search, i, &result->pair, &suspect, &verdict, &refused, &error);
        if (status != DTI_OK) {
            *reterr = error;
        } else if (!refused && verdict.kind == DTI_VERDICT_SAME) {
            *ret_found = i;
            return DTI_OK;
        } else if (!refused && verdict.kind == DTI_VERDICT_BYTES) {
            if (is_better(search, i, verdict.alike, ret_best))
                *ret_best = (struct explain_best){.candidate = i, .alike = verdict.alike};
        } else if (!refused && !result->tried && !is_arranged(search, i)) {
            result->verdict = verdict;
            result->tried = true;
        }
    }
    return status;
}

/* Finds where the best recipe differs, over the whole tensor. One that cannot store a number there
 * is marked, and the outcome left open. */
static enum dti_status settle_best(struct explain_search *search, struct dti_explain_result *result,
                                   const struct explain_best *best, struct dti_error *reterr)
{
    struct dti_verdict verdict = {.kind = DTI_VERDICT_SAME};
    bool refused = false;
    const enum dti_status status =
        explain_try(search, best->candidate, &result->pair, false, &verdict, &refused, reterr);
    search->refuses[best->candidate] = refused;
    if (status != DTI_OK || refused)
        return status;
    result->verdict = verdict;
    result->outcome = DTI_EXPLAIN_DIFFERS;
    return explain_keep(search, best->candidate, &result->recipe, reterr);
}

/* Searches for the recipe of a tensor, or for the best one that can store all of it. *ret_found as
 * search_one() sets it. */
static enum dti_status search_best(struct explain_search *search, struct dti_explain_result *result,
                                   size_t *ret_found, struct dti_error *reterr)
{
    struct explain_best best;
    enum dti_status status;
    memset(search->refuses, 0, search->space.count * sizeof *search->refuses);
    do {
        status = search_one(search, result, ret_found, &best, reterr);
        if (status != DTI_OK || *ret_found != SIZE_MAX || best.candidate == SIZE_MAX)
            return status;
        status = settle_best(search, result, &best, reterr);
    } while (status == DTI_OK && search->refuses[best.candidate]);
    return status;
}

/* Counts the recipes after the found one that give the same bytes. */
static enum dti_status count_others(struct explain_search *search,
                                    struct dti_explain_result *result, size_t found,
                                    struct dti_error *reterr)
{
    const uint64_t elements = counted_of(search, &result->pair);
    enum dti_status status = DTI_OK;
    if (result->recipe->by == DTI_VERB_KEEP && result->recipe->arrangement == DTI_ARRANGED_AS_MADE)
        return DTI_OK; /* the tensor is an unchanged copy, so nothing is counted */
    result->counted = true;
    for (size_t i = found + 1; i < search->space.count && status == DTI_OK; i++) {
        const bool cut = dti_recipe_is_elementwise(&search->space.list[i]);
        struct dti_verdict verdict = {.kind = DTI_VERDICT_SAME};
        bool refused = false;
        const struct explain_piece piece = {.elements = cut ? elements : 0};
        status = make_one(search, i, &result->pair, true, &piece, &verdict, &refused, reterr);
        result->others += status == DTI_OK && !refused && verdict.kind == DTI_VERDICT_SAME;
    }
    return status;
}

/* Tries one recipe on all remaining tensors of a kind; it is assigned to those that it explains. */
static enum dti_status try_all(struct explain_search *search, size_t candidate,
                               const struct explain_work *work, size_t count,
                               const struct dti_recipe *recipe, struct dti_error *reterr)
{
    const struct dti_scan_options *const options = &search->explain->reading.options;
    const struct dti_judge_options how = {.team = options->team, .max_memory = options->max_memory};
    size_t next = 0;
    enum dti_status status = DTI_OK;
    while (next < count && status == DTI_OK) {
        const size_t first = next;
        size_t n = 0;
        bool refused = false;
        for (; next < count && n < search->room; next++) {
            if (explain_result_of(search, &work[next])->outcome == DTI_EXPLAIN_NONE)
                search->pairs[n++] = explain_result_of(search, &work[next])->pair;
        }
        if (n == 0)
            continue;
        status = dti_recipe_judge(&search->files, &search->space.list[candidate], search->pairs, n,
                                  &how, search->verdicts, &refused, reterr);
        n = 0;
        for (size_t i = first; i < next && status == DTI_OK && !refused; i++) {
            struct dti_explain_result *const result = explain_result_of(search, &work[i]);
            if (result->outcome == DTI_EXPLAIN_NONE &&
                search->verdicts[n++].kind == DTI_VERDICT_SAME) {
                result->outcome = DTI_EXPLAIN_FOUND;
                result->recipe = recipe;
            }
        }
    }
    return status;
}

static void show(struct explain_search *search, const struct dti_explain_result *result)
{
    struct dti_reading *const reading = &search->explain->reading;
    reading->done += bytes_of(search->explain, result);
    if (reading->show)
        reading->show(reading->context, reading->done);
}

enum { SMALL = 64 << 10 }; /* tensors of up to this many bytes are made whole for each recipe */

struct together_one {
    struct dti_explain_result *result;
    size_t candidate; /* the best so far; SIZE_MAX: none */
    double alike;
    struct dti_verdict verdict;
    bool found;
};

struct together {
    struct explain_search *search;
    struct together_one *list;
    size_t count;
    size_t *places;                   /* indices in the list of the tensors being tried */
    const struct dti_recipe **recipe; /* per recipe of the space: where it was kept */
};

static bool is_small(const struct explain_search *search, const struct dti_explain_result *result)
{
    return search->files.a->tensors[result->pair.a].elements <= SMALL / 8;
}

static void take_verdict(struct explain_search *search, size_t candidate, struct together_one *one,
                         const struct dti_verdict *verdict)
{
    if (verdict->kind == DTI_VERDICT_SAME) {
        one->found = true;
        one->candidate = candidate;
        search->explains[candidate] = true;
    } else if (verdict->kind != DTI_VERDICT_BYTES) {
        if (is_arranged(search, candidate))
            return;
        if (!one->result->tried)
            one->result->verdict = *verdict;
        one->result->tried = true;
    } else {
        const double alike = verdict->part != DTI_PART_CODES || verdict->elements == 0
                                 ? 1
                                 : 1 - (double)verdict->differing / (double)verdict->elements;
        if (is_far_fetched(search, candidate, alike))
            return;
        if (one->candidate != SIZE_MAX &&
            !(alike > one->alike || (alike == one->alike && search->explains[candidate] &&
                                     !search->explains[one->candidate])))
            return;
        one->candidate = candidate;
        one->alike = alike;
        one->verdict = *verdict;
    }
}

/* A number that a recipe cannot represent makes it fail for the whole batch: tries each tensor
 * alone. */
static enum dti_status try_each(struct together *job, size_t candidate, size_t count,
                                struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        struct together_one *const one = &job->list[job->places[i]];
        struct dti_verdict verdict = {.kind = DTI_VERDICT_SAME};
        bool refused = false;
        status = explain_try(job->search, candidate, &one->result->pair, false, &verdict, &refused,
                             reterr);
        if (status == DTI_OK && !refused)
            take_verdict(job->search, candidate, one, &verdict);
    }
    return status;
}

static enum dti_status try_recipe(struct together *job, size_t candidate, struct dti_error *reterr)
{
    struct explain_search *const search = job->search;
    const struct dti_scan_options *const options = &search->explain->reading.options;
    const struct dti_judge_options how = {.team = options->team, .max_memory = options->max_memory};
    struct dti_error error = {.status = DTI_OK};
    bool refused = false;
    size_t n = 0;
    for (size_t i = 0; i < job->count; i++) {
        if (job->list[i].found)
            continue;
        search->pairs[n] = job->list[i].result->pair;
        job->places[n++] = i;
    }
    if (n == 0)
        return DTI_OK;
    const enum dti_status status =
        dti_recipe_judge(&search->files, &search->space.list[candidate], search->pairs, n, &how,
                         search->verdicts, &refused, &error);
    if (status != DTI_OK)
        *reterr = error;
    else if (refused)
        return error.status == DTI_NOT_REPRESENTABLE ? try_each(job, candidate, n, reterr) : DTI_OK;
    for (size_t i = 0; i < n && status == DTI_OK; i++)
        take_verdict(search, candidate, &job->list[job->places[i]], &search->verdicts[i]);
    return status;
}

static enum dti_status settle(struct together *job, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->count && status == DTI_OK; i++) {
        const struct together_one *const one = &job->list[i];
        if (one->candidate == SIZE_MAX)
            continue;
        if (!job->recipe[one->candidate])
            status =
                explain_keep(job->search, one->candidate, &job->recipe[one->candidate], reterr);
        one->result->outcome = one->found ? DTI_EXPLAIN_FOUND : DTI_EXPLAIN_DIFFERS;
        one->result->recipe = job->recipe[one->candidate];
        if (!one->found)
            one->result->verdict = one->verdict;
    }
    return status;
}

static enum dti_status search_together(struct together *job, const struct explain_work *work,
                                       size_t count, struct dti_error *reterr)
{
    struct explain_search *const search = job->search;
    enum dti_status status = DTI_OK;
    for (size_t next = 0; next < count && status == DTI_OK;) {
        for (job->count = 0; next < count && job->count < search->room; next++) {
            struct dti_explain_result *const result = explain_result_of(search, &work[next]);
            if (result->outcome == DTI_EXPLAIN_NONE && is_small(search, result))
                job->list[job->count++] =
                    (struct together_one){.result = result, .candidate = SIZE_MAX};
        }
        for (size_t i = 0; i < search->space.count && status == DTI_OK; i++)
            status = try_recipe(job, i, reterr);
        if (status == DTI_OK)
            status = settle(job, reterr);
    }
    return status;
}

/* Settles all remaining small tensors of a kind as individual searches would, except that each gets
 * the first recipe of the space, and others are not counted. */
static enum dti_status explain_together(struct explain_search *search,
                                        const struct explain_work *work, size_t count,
                                        struct dti_error *reterr)
{
    struct together job = {.search = search};
    job.list = dti_calloc(search->room + 1, sizeof *job.list);
    job.places = dti_calloc(search->room + 1, sizeof *job.places);
    job.recipe = dti_calloc(search->space.count + 1, sizeof(const struct dti_recipe *));
    const enum dti_status status = job.list && job.places && job.recipe
                                       ? search_together(&job, work, count, reterr)
                                       : dti_no_memory(reterr);
    dti_free(job.list);
    dti_free(job.places);
    dti_free((void *)job.recipe);
    return status;
}

static enum dti_status explain_kind(struct explain_search *search, const struct explain_work *work,
                                    size_t count, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    size_t misses = 0;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        struct dti_explain_result *const result = explain_result_of(search, &work[i]);
        size_t found;
        show(search, result);
        if (result->outcome != DTI_EXPLAIN_NONE)
            continue;
        if (misses == MISSES)
            status = explain_together(search, work + i, count - i, reterr);
        misses += misses <= MISSES;
        if (status != DTI_OK || result->outcome != DTI_EXPLAIN_NONE)
            continue;
        status = search_best(search, result, &found, reterr);
        if (status == DTI_OK && found != SIZE_MAX) {
            result->outcome = DTI_EXPLAIN_FOUND;
            search->explains[found] = true;
            status = explain_keep(search, found, &result->recipe, reterr);
            if (status == DTI_OK)
                status = count_others(search, result, found, reterr);
            if (status == DTI_OK)
                status =
                    try_all(search, found, work + i + 1, count - i - 1, result->recipe, reterr);
        }
    }
    return status;
}

static enum dti_status explain_space(struct explain_search *search, const struct explain_work *work,
                                     size_t count, struct dti_error *reterr)
{
    const struct dti_explain *const explain = search->explain;
    const struct dti_explain_result *const first = explain_result_of(search, work);
    search->space.count = 0;
    if (!dti_recipe_space(&search->space, explain->a, &explain->a->tensors[first->pair.a],
                          explain->b, &explain->b->tensors[first->pair.b]))
        return dti_no_memory(reterr);
    dti_free(search->explains);
    dti_free(search->refuses);
    search->explains = dti_calloc(search->space.count + 1, sizeof *search->explains);
    search->refuses = dti_calloc(search->space.count + 1, sizeof *search->refuses);
    if (!search->explains || !search->refuses)
        return dti_no_memory(reterr);
    return explain_kind(search, work, count, reterr);
}

static enum dti_status explain_all(struct explain_search *search, struct explain_work *work,
                                   size_t count, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (count > 0)
        qsort(work, count, sizeof *work, by_kind);
    for (size_t i = 0, next; i < count && status == DTI_OK; i = next) {
        for (next = i + 1;
             next < count && memcmp(&work[next].kind, &work[i].kind, sizeof work[i].kind) == 0;)
            next++;
        status = explain_space(search, work + i, next - i, reterr);
    }
    return status;
}

static bool may_be_transposed(const struct dti_tensor *from, const struct dti_tensor *to)
{
    return from->rank == 2 && to->rank == 2 && from->shape[0] == to->shape[1] &&
           from->shape[1] == to->shape[0] && !dti_tensor_form(to);
}

/* Other pairs whose shapes differ have no search space. */
static struct explain_work *list_work(const struct dti_explain *explain, size_t *ret_count,
                                      uint64_t *ret_bytes)
{
    struct explain_work *const work = dti_calloc(explain->result_count + 1, sizeof *work);
    *ret_count = 0;
    *ret_bytes = 0;
    for (size_t i = 0; i < explain->result_count && work; i++) {
        const struct dti_explain_result *const result = &explain->results[i];
        if (result->outcome != DTI_EXPLAIN_NONE)
            continue;
        const struct dti_tensor *const from = &explain->a->tensors[result->pair.a];
        const struct dti_tensor *const to = &explain->b->tensors[result->pair.b];
        if (!dti_tensor_same_shape(from, to) && !may_be_transposed(from, to))
            continue;
        work[(*ret_count)++] = (struct explain_work){.kind = kind_of(from, to), .result = i};
        *ret_bytes += bytes_of(explain, result);
    }
    return work;
}

static void add_up(struct dti_explain *explain)
{
    for (size_t i = 0; i < explain->result_count; i++) {
        const struct dti_explain_result *const result = &explain->results[i];
        explain->outcomes[result->outcome]++;
        explain->kept += result->outcome == DTI_EXPLAIN_FOUND &&
                         result->recipe->by == DTI_VERB_KEEP &&
                         result->recipe->arrangement == DTI_ARRANGED_AS_MADE;
        explain->unexplained = explain->unexplained || (result->outcome != DTI_EXPLAIN_FOUND &&
                                                        result->outcome != DTI_EXPLAIN_ONLY_A);
    }
}

enum dti_status dti_explain_run(struct dti_explain *explain, struct dti_error *reterr)
{
    struct explain_search search = {.explain = explain};
    size_t count;
    uint64_t bytes;
    struct explain_work *const work = list_work(explain, &count, &bytes);
    enum dti_status status = work ? dti_recipe_files_init(&search.files, explain->a, explain->b,
                                                          explain->reading.options.level, reterr)
                                  : dti_no_memory(reterr);
    if (status == DTI_OK) {
        const size_t most = dti_recipe_pairs_most(&search.files);
        search.room = count < most ? count : most;
        search.pairs = dti_calloc(search.room + 1, sizeof *search.pairs);
        search.verdicts = dti_calloc(search.room + 1, sizeof *search.verdicts);
        status = search.pairs && search.verdicts
                     ? dti_reading_start(&explain->reading, bytes, reterr)
                     : dti_no_memory(reterr);
    }
    if (status == DTI_OK) {
        status = explain_all(&search, work, count, reterr);
        dti_reading_end(&explain->reading);
    }
    if (status == DTI_OK)
        add_up(explain);
    dti_recipe_files_free(&search.files);
    dti_free(search.space.list);
    dti_free(search.explains);
    dti_free(search.refuses);
    dti_free(search.pairs);
    dti_free(search.verdicts);
    dti_free(work);
    return status;
}
