/* SPDX-License-Identifier: MIT
 *
 * The rewrite of a recipe is judged against another file. */
#include "answers/made.h"

#include <stdlib.h>
#include <string.h>

#include "containers/name_order.h"

static struct dti_container *stored_of(struct dti_container *container)
{
    return container->stored ? container->stored : container;
}

static size_t place_of(const struct dti_container *container, size_t tensor)
{
    return container->stored ? container->stored_at[tensor] : tensor;
}

enum dti_status dti_made_files_init(struct dti_made_files *ret, struct dti_container *a,
                                    struct dti_container *b, enum dti_level level,
                                    struct dti_error *reterr)
{
    *ret = (struct dti_made_files){.a = a, .b = b, .level = level};
    struct dti_container *const stored = stored_of(b);
    ret->other.container = stored;
    ret->other.names = calloc(1, sizeof *ret->other.names);
    if (ret->other.names &&
        dti_name_order_of(ret->other.names, stored->tensors, stored->tensor_count,
                          DTI_NAMED(struct dti_tensor, name)))
        return DTI_OK;
    free(ret->other.names);
    ret->other.names = NULL;
    return dti_no_memory(reterr);
}

void dti_made_files_free(struct dti_made_files *files)
{
    if (files->other.names)
        dti_name_order_free(files->other.names);
    free(files->other.names);
    dti_fused_ranges_free(files->fused);
    files->other.names = NULL;
    files->fused = NULL;
}

enum { AT_ONCE = 4096 }; /* tensors whose rewrite is in memory */

static enum dti_container_kind kind_of(const struct dti_made_files *files)
{
    return dti_container_first(dti_is_numpy(files->b->kind) ? DTI_TRAIT_NUMPY : DTI_TRAIT_TEXTS);
}

size_t dti_made_most(const struct dti_made_files *files)
{
    return dti_is_array(kind_of(files)) ? 1 : AT_ONCE;
}

/* A choice of tensors of a, as rewrites take it. */
struct made_choice {
    struct dti_container container;
    struct dti_tensor *tensors;
    size_t *places, *part_counts;
};

static void free_choice(struct made_choice *choice)
{
    free(choice->tensors);
    free(choice->places);
    free(choice->part_counts);
}

static bool choose(struct made_choice *ret, const struct dti_made_files *files, bool stored,
                   const struct dti_made_pair *pairs, size_t count, const uint64_t *elements)
{
    const struct dti_container *const a = files->a;
    const struct dti_container *const whole = stored && a->stored ? a->stored : a;
    ret->tensors = calloc(count + 1, sizeof *ret->tensors);
    ret->places = calloc(count + 1, sizeof *ret->places);
    ret->part_counts = calloc(count + 1, sizeof *ret->part_counts);
    if (!ret->tensors || !ret->places || !ret->part_counts)
        return false;
    ret->container = *whole;
    ret->container.tensors = ret->tensors;
    ret->container.tensor_count = count;
    ret->container.metadata_count = ret->container.note_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct dti_tensor *const to = &files->b->tensors[pairs[i].b];
        ret->places[i] = stored ? place_of(a, pairs[i].a) : pairs[i].a;
        ret->part_counts[i] = to->quantized ? to->quantized->part_count : 1;
        struct dti_tensor *const tensor = &ret->tensors[i];
        *tensor = whole->tensors[ret->places[i]];
        if (tensor->quantized) { /* as numbers */
            tensor->quantized = NULL;
            tensor->block = NULL;
            tensor->bytes = tensor->elements * 4;
        }
        if (*elements > 0) { /* fewer than there are */
            tensor->rank = 1;
            tensor->shape = elements;
            tensor->elements = *elements;
            (void)dti_format_bytes(tensor->format, &tensor->layout, *elements, &tensor->bytes);
        }
    }
    return true;
}

/* The tensors of a that share scales are found once, and so are their ranges. */
static enum dti_status find_fused(struct dti_made_files *files, struct dti_rewrite_request *request,
                                  struct dti_error *reterr)
{
    const struct dti_quantize_recipe *const recipe = &request->quantize;
    enum dti_status status = DTI_OK;
    if (request->recipe != DTI_RECIPE_QUANTIZE || !recipe->fused || !recipe->scheme.tensor_scale)
        return DTI_OK;
    if (!files->fused)
        status = dti_fused_ranges_new(&files->fused, stored_of(files->a), reterr);
    request->fused = files->fused;
    return status;
}

/* Not of the recipe: of this machine or of the file. */
static bool is_grave(enum dti_status status)
{
    return status == DTI_NO_MEMORY || status == DTI_WRITE_FAILED || status == DTI_BUG ||
           status == DTI_UNAVAILABLE;
}

static enum dti_status judge_rewrite(struct dti_made_files *files, const struct dti_recipe *made,
                                     const struct dti_made_pair *pairs, size_t count,
                                     const struct dti_judge_options *options,
                                     struct dti_verdict *ret, bool *ret_refused,
                                     struct dti_error *reterr)
{
    const bool stored = made->by != DTI_MADE_DEQUANT;
    for (size_t i = 0; i < count; i++) {
        if ((files->a->tensors[pairs[i].a].quantized != NULL) != stored)
            continue;
        *ret_refused = true;
        (void)dti_fail(reterr, DTI_WRONG_KIND,
                       stored ? "it is quantized in the first file" : "it is not quantized");
        return DTI_OK;
    }
    const bool alone =
        files->a->tensor_count == 1 && files->b->tensor_count == 1 && !files->b->stored;
    const struct dti_judge_other first = {.container = files->other.container};
    struct made_choice choice = {.tensors = NULL};
    struct dti_rewrite_request request = {
        .kind = kind_of(files), .level = files->level, .path = ""};
    struct dti_quant_target target;
    struct dti_rewrite *rewrite = NULL;
    enum dti_status status = dti_recipe_prepare(&request, &target, made, reterr);
    if (status == DTI_OK && !choose(&choice, files, stored, pairs, count, &options->elements))
        status = dti_no_memory(reterr);
    request.whole = stored ? stored_of(files->a) : files->a;
    request.places = choice.places;
    if (status == DTI_OK && options->skip > 0)
        request.skip = options->skip / 8 *
                       dti_format_stored_bits(choice.tensors[0].format, &choice.tensors[0].layout);
    request.row_major = !files->b->tensors[pairs[0].b].fortran;
    request.dequant = stored ? NULL : files->a->own;
    if (status == DTI_OK)
        status = find_fused(files, &request, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_new(&rewrite, &choice.container, &request, reterr);
    bool refused = status != DTI_OK && !is_grave(status);
    if (status == DTI_OK) {
        status = dti_judge_rewrite(rewrite, alone ? &first : &files->other, choice.part_counts,
                                   options, ret, reterr);
        refused = status == DTI_NOT_REPRESENTABLE;
    }
    dti_rewrite_free(rewrite);
    free_choice(&choice);
    *ret_refused = refused;
    return refused ? DTI_OK : status;
}

/* The parts of a tensor in the container as it is stored. */
static size_t part_of(const struct dti_container *container, size_t tensor, size_t part)
{
    const struct dti_dequant_form *const form = container->tensors[tensor].quantized;
    const struct dti_container *const stored = container->stored ? container->stored : container;
    const struct dti_tensor *const stored_part = form ? form->parts[part]
                                                 : part == DTI_PART_CODES
                                                     ? &stored->tensors[place_of(container, tensor)]
                                                     : NULL;
    if (!stored_part || stored_part < stored->tensors ||
        stored_part >= stored->tensors + stored->tensor_count)
        return SIZE_MAX;
    return (size_t)(stored_part - stored->tensors);
}

/* Whether a part is in a file of its own: of npy. */
static bool is_elsewhere(const struct dti_container *container, size_t tensor, size_t part)
{
    const struct dti_dequant_form *const form = container->tensors[tensor].quantized;
    return form && form->parts[part] && part_of(container, tensor, part) == SIZE_MAX;
}

static bool same_form(const struct dti_tensor *a, const struct dti_tensor *b, bool renamed)
{
    const bool same_dtype = a->format && b->format
                                ? strcmp(a->format->name, b->format->name) == 0 &&
                                      a->layout.swapped == b->layout.swapped
                                : strcmp(a->stored_as, b->stored_as) == 0;
    return a->bytes == b->bytes && a->fortran == b->fortran && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0) &&
           !a->pickled && !b->pickled && same_dtype != renamed;
}

/* With the same name: of parts. */
static bool same_name(const struct dti_tensor *a, const struct dti_tensor *b)
{
    return a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0;
}

/* Whether the two could be the same bytes: equal in form, in dtype unless renamed. */
static bool may_be_kept(const struct dti_made_files *files, const struct dti_made_pair *pair,
                        bool renamed)
{
    const bool quantized = files->a->tensors[pair->a].quantized != NULL;
    const struct dti_container *const a = files->a->stored ? files->a->stored : files->a;
    if (quantized != (files->b->tensors[pair->b].quantized != NULL) || (quantized && renamed))
        return false;
    for (size_t i = 0; i < DTI_PART_COUNT; i++) {
        const size_t from = part_of(files->a, pair->a, i), to = part_of(files->b, pair->b, i);
        if (from == SIZE_MAX && to == SIZE_MAX && !is_elsewhere(files->a, pair->a, i))
            continue;
        if (from == SIZE_MAX || to == SIZE_MAX ||
            !same_form(&a->tensors[from], &files->other.container->tensors[to], renamed) ||
            (quantized && !same_name(&a->tensors[from], &files->other.container->tensors[to])))
            return false;
    }
    return part_of(files->a, pair->a, DTI_PART_CODES) != SIZE_MAX;
}

/* Parts become copies; the verdict of a pair is that of the first part that differs. */
static enum dti_status judge_copies(struct dti_made_files *files, const struct dti_recipe *made,
                                    const struct dti_made_pair *pairs, size_t count,
                                    const struct dti_judge_options *options,
                                    struct dti_verdict *ret, bool *ret_refused,
                                    struct dti_error *reterr)
{
    struct dti_judge_copy *const copies = calloc(count + 1, DTI_PART_COUNT * sizeof *copies);
    struct dti_verdict *const verdicts = calloc(count + 1, DTI_PART_COUNT * sizeof *verdicts);
    size_t n = 0;
    *ret_refused = false;
    enum dti_status status = copies && verdicts ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (!may_be_kept(files, &pairs[i], made->by == DTI_MADE_RENAMED)) {
            *ret_refused = true;
            status = dti_fail(reterr, DTI_WRONG_KIND, "dtypes or shapes differ");
        }
        for (size_t part = 0; part < DTI_PART_COUNT && status == DTI_OK; part++) {
            copies[n].from = part_of(files->a, pairs[i].a, part);
            copies[n].to = part_of(files->b, pairs[i].b, part);
            n += copies[n].from != SIZE_MAX;
        }
    }
    if (status == DTI_OK)
        status = dti_judge_copies(stored_of(files->a), files->other.container, copies, n, options,
                                  verdicts, reterr);
    n = 0;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        ret[i] = (struct dti_verdict){.kind = DTI_VERDICT_SAME};
        for (size_t part = 0; part < DTI_PART_COUNT; part++) {
            if (part_of(files->a, pairs[i].a, part) == SIZE_MAX)
                continue;
            if (ret[i].kind == DTI_VERDICT_SAME)
                ret[i] = verdicts[n];
            n++;
        }
    }
    free(copies);
    free(verdicts);
    return *ret_refused ? DTI_OK : status;
}

enum dti_status dti_made_judge(struct dti_made_files *files, const struct dti_recipe *made,
                               const struct dti_made_pair *pairs, size_t count,
                               const struct dti_judge_options *options, struct dti_verdict *ret,
                               bool *ret_refused, struct dti_error *reterr)
{
    const bool copies = made->by == DTI_MADE_KEPT || made->by == DTI_MADE_RENAMED;
    return (copies ? judge_copies : judge_rewrite)(files, made, pairs, count, options, ret,
                                                   ret_refused, reterr);
}
