/* SPDX-License-Identifier: MIT
 *
 * Judges the rewrite of a recipe against another file.
 *
 * Lists the recipes to try, in order: all options that dtypes and forms leave open, fewest options
 * first. dtinfo-explain(1) describes the search space. */
#include "answers/rewrite/recipe_space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "containers/name_order.h"
#include "files/stored/fused_modules.h"
#include "files/stored/quant_marks.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"

static struct dti_container *stored_of(struct dti_container *container)
{
    return container->stored ? container->stored : container;
}

static size_t place_of(const struct dti_container *container, size_t tensor)
{
    return container->stored ? container->stored_at[tensor] : tensor;
}

enum dti_status dti_recipe_files_init(struct dti_recipe_files *ret, struct dti_container *a,
                                      struct dti_container *b, enum dti_level level,
                                      struct dti_error *reterr)
{
    *ret = (struct dti_recipe_files){.a = a, .b = b, .level = level};
    struct dti_container *const stored = stored_of(b);
    ret->other.container = stored;
    ret->other.names = dti_calloc(1, sizeof *ret->other.names);
    if (ret->other.names &&
        dti_name_order_of(ret->other.names, stored->tensors, stored->tensor_count,
                          DTI_NAMED(struct dti_tensor, name)))
        return DTI_OK;
    dti_free(ret->other.names);
    ret->other.names = NULL;
    return dti_no_memory(reterr);
}

void dti_recipe_files_free(struct dti_recipe_files *files)
{
    if (files->other.names)
        dti_name_order_free(files->other.names);
    dti_free(files->other.names);
    dti_fused_ranges_free(files->fused);
    files->other.names = NULL;
    files->fused = NULL;
}

enum { AT_ONCE = 4096 }; /* tensors rewritten in memory at once */

static enum dti_container_kind kind_of(const struct dti_recipe_files *files)
{
    return dti_container_first(dti_is_numpy(files->b->kind) ? DTI_TRAIT_NUMPY : DTI_TRAIT_TEXTS);
}

size_t dti_recipe_pairs_most(const struct dti_recipe_files *files)
{
    return dti_is_array(kind_of(files)) ? 1 : AT_ONCE;
}

/* A selection of a's tensors, in the form that rewrites take. */
struct recipe_choice {
    struct dti_container container;
    struct dti_tensor *tensors;
    uint32_t *places;
    size_t *part_counts;
};

static void free_choice(struct recipe_choice *choice)
{
    dti_free(choice->tensors);
    dti_free(choice->places);
    dti_free(choice->part_counts);
}

static bool choose(struct recipe_choice *ret, const struct dti_recipe_files *files, bool stored,
                   const struct dti_recipe_pair *pairs, size_t count, const uint64_t *elements)
{
    const struct dti_container *const a = files->a;
    const struct dti_container *const whole = stored && a->stored ? a->stored : a;
    ret->tensors = dti_calloc(count + 1, sizeof *ret->tensors);
    ret->places = dti_calloc(count + 1, sizeof *ret->places);
    ret->part_counts = dti_calloc(count + 1, sizeof *ret->part_counts);
    if (!ret->tensors || !ret->places || !ret->part_counts)
        return false;
    ret->container = *whole;
    ret->container.tensors = ret->tensors;
    ret->container.tensor_count = count;
    ret->container.metadata_count = ret->container.note_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct dti_tensor *const to = &files->b->tensors[pairs[i].b];
        ret->places[i] = (uint32_t)(stored ? place_of(a, pairs[i].a) : pairs[i].a);
        ret->part_counts[i] = dti_tensor_form(to) ? dti_form_part_count(dti_tensor_form(to)) : 1;
        struct dti_tensor *const tensor = &ret->tensors[i];
        *tensor = whole->tensors[ret->places[i]];
        if (dti_tensor_form(tensor)) { /* viewed as numbers */
            tensor->viewed = false;
            tensor->own.refusal = NULL;
            dti_tensor_set_block(tensor, NULL);
            tensor->bytes = tensor->elements * 4;
        }
        if (*elements > 0) { /* only the first elements */
            tensor->rank = 1;
            tensor->shape = elements;
            tensor->elements = *elements;
            (void)dti_format_bytes(tensor->format, &tensor->layout, *elements, &tensor->bytes);
        }
    }
    return true;
}

/* Finds a's tensors that share scales, and their ranges, once. */
static enum dti_status find_fused(struct dti_recipe_files *files,
                                  struct dti_rewrite_request *request, struct dti_error *reterr)
{
    const struct dti_quantize_recipe *const quantize = &request->quantize;
    enum dti_status status = DTI_OK;
    if (request->recipe != DTI_RECIPE_QUANTIZE || !quantize->fused ||
        !quantize->scheme.tensor_scale)
        return DTI_OK;
    const struct dti_fused_own none = {.count = 0};
    const struct dti_fused_own *const own = quantize->own ? quantize->own : &none;
    if (files->fused && memcmp(&files->fused_own, own, sizeof *own) != 0) {
        dti_fused_ranges_free(files->fused);
        files->fused = NULL;
    }
    files->fused_own = *own;
    if (!files->fused)
        status = dti_fused_ranges_new(&files->fused, stored_of(files->a), quantize->own, reterr);
    request->fused = files->fused;
    return status;
}

/* Errors caused by the machine or the file, not by the recipe. */
static bool is_grave(enum dti_status status)
{
    return status == DTI_NO_MEMORY || status == DTI_WRITE_FAILED || status == DTI_BUG ||
           status == DTI_UNAVAILABLE;
}

static enum dti_status judge_rewrite(struct dti_recipe_files *files,
                                     const struct dti_recipe *recipe,
                                     const struct dti_recipe_pair *pairs, size_t count,
                                     const struct dti_judge_options *options,
                                     struct dti_verdict *ret, bool *ret_refused,
                                     struct dti_error *reterr)
{
    const bool stored = recipe->by != DTI_VERB_DEQUANT;
    for (size_t i = 0; i < count; i++) {
        if ((dti_tensor_form(&files->a->tensors[pairs[i].a]) != NULL) != stored)
            continue;
        *ret_refused = true;
        (void)dti_fail(reterr, DTI_WRONG_KIND,
                       stored ? "it is quantized in the first file" : "it is not quantized");
        return DTI_OK;
    }
    const bool alone =
        files->a->tensor_count == 1 && files->b->tensor_count == 1 && !files->b->stored;
    const struct dti_judge_other first = {.container = files->other.container};
    struct recipe_choice choice = {.tensors = NULL};
    struct dti_rewrite_request request = {
        .kind = kind_of(files), .level = files->level, .path = ""};
    struct dti_quant_target target;
    struct dti_rewrite *rewrite = NULL;
    enum dti_status status = dti_recipe_prepare(&request, &target, recipe, reterr);
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

/* The index of a tensor's part in the stored container. */
static size_t part_of(const struct dti_container *container, size_t tensor, size_t part)
{
    const struct dti_dequant_form *const form = dti_tensor_form(&container->tensors[tensor]);
    const struct dti_container *const stored = container->stored ? container->stored : container;
    const struct dti_tensor *const stored_part = form ? dti_form_part(form, part)
                                                 : part == DTI_PART_CODES
                                                     ? &stored->tensors[place_of(container, tensor)]
                                                     : NULL;
    if (!stored_part || stored_part < stored->tensors ||
        stored_part >= stored->tensors + stored->tensor_count)
        return SIZE_MAX;
    return (size_t)(stored_part - stored->tensors);
}

/* Whether a part is in a separate file, as in npy. */
static bool is_elsewhere(const struct dti_container *container, size_t tensor, size_t part)
{
    const struct dti_dequant_form *const form = dti_tensor_form(&container->tensors[tensor]);
    return form && dti_form_part(form, part) && part_of(container, tensor, part) == SIZE_MAX;
}

static bool same_form(const struct dti_tensor *a, const struct dti_tensor *b, bool renamed,
                      bool transposed)
{
    const bool same_dtype = (a->format && b->format ? strcmp(a->format->name, b->format->name) == 0
                                                    : strcmp(a->stored_as, b->stored_as) == 0) &&
                            a->layout.swapped == b->layout.swapped;
    return a->bytes == b->bytes && a->fortran == b->fortran && a->rank == b->rank &&
           (a->rank == 0 || transposed ||
            memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0) &&
           !a->pickled && !b->pickled && !a->beyond_bytes && !b->beyond_bytes &&
           same_dtype != renamed;
}

/* Whether two parts have the same name. */
static bool same_name(const struct dti_tensor *a, const struct dti_tensor *b)
{
    return a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0;
}

/* Whether the two could have the same bytes: the same form, and the same dtype unless renamed. */
static bool may_be_kept(const struct dti_recipe_files *files, const struct dti_recipe_pair *pair,
                        const struct dti_recipe *recipe)
{
    const bool renamed = recipe->by == DTI_VERB_RENAME;
    const bool transposed = recipe->arrangement == DTI_ARRANGED_TRANSPOSED;
    const bool quantized = dti_tensor_form(&files->a->tensors[pair->a]) != NULL;
    const struct dti_container *const a = files->a->stored ? files->a->stored : files->a;
    if (quantized != (dti_tensor_form(&files->b->tensors[pair->b]) != NULL) ||
        (quantized && renamed))
        return false;
    for (size_t i = 0; i < DTI_PART_COUNT; i++) {
        const size_t from = part_of(files->a, pair->a, i), to = part_of(files->b, pair->b, i);
        if (from == SIZE_MAX && to == SIZE_MAX && !is_elsewhere(files->a, pair->a, i))
            continue;
        if (from == SIZE_MAX || to == SIZE_MAX ||
            !same_form(&a->tensors[from], &files->other.container->tensors[to], renamed,
                       transposed) ||
            (quantized && !same_name(&a->tensors[from], &files->other.container->tensors[to])))
            return false;
    }
    return part_of(files->a, pair->a, DTI_PART_CODES) != SIZE_MAX;
}

/* Compares parts as copies; the verdict of a pair is that of its first differing part. */
static enum dti_status judge_copies(struct dti_recipe_files *files, const struct dti_recipe *recipe,
                                    const struct dti_recipe_pair *pairs, size_t count,
                                    const struct dti_judge_options *options,
                                    struct dti_verdict *ret, bool *ret_refused,
                                    struct dti_error *reterr)
{
    struct dti_judge_copy *const copies = dti_calloc(count + 1, DTI_PART_COUNT * sizeof *copies);
    struct dti_verdict *const verdicts = dti_calloc(count + 1, DTI_PART_COUNT * sizeof *verdicts);
    size_t n = 0;
    *ret_refused = false;
    enum dti_status status = copies && verdicts ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (!may_be_kept(files, &pairs[i], recipe)) {
            *ret_refused = true;
            status = dti_fail(reterr, DTI_WRONG_KIND, "dtypes or shapes differ");
        }
        for (size_t part = 0; part < DTI_PART_COUNT && status == DTI_OK; part++) {
            copies[n].from = part_of(files->a, pairs[i].a, part);
            copies[n].to = part_of(files->b, pairs[i].b, part);
            copies[n].part = (enum dti_quant_part)part;
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
    dti_free(copies);
    dti_free(verdicts);
    return *ret_refused ? DTI_OK : status;
}

enum dti_status dti_recipe_judge(struct dti_recipe_files *files, const struct dti_recipe *recipe,
                                 const struct dti_recipe_pair *pairs, size_t count,
                                 const struct dti_judge_options *options, struct dti_verdict *ret,
                                 bool *ret_refused, struct dti_error *reterr)
{
    const bool copies = recipe->by == DTI_VERB_KEEP || recipe->by == DTI_VERB_RENAME;
    struct dti_judge_options how = *options;
    how.arrangement = (enum dti_arrangement)recipe->arrangement;
    how.head = recipe->head;
    return (copies ? judge_copies : judge_rewrite)(files, recipe, pairs, count, &how, ret,
                                                   ret_refused, reterr);
}

static void add_recipe(struct dti_recipe_list *list, struct dti_recipe recipe)
{
    struct dti_recipe *const more =
        list->failed ? NULL : dti_grown(list->list, list->count, &list->capacity, sizeof *more);
    list->failed = !more;
    if (list->failed)
        return;
    list->list = more;
    list->list[list->count++] = recipe;
}

/* Copies a recipe with one more option. */
static struct dti_recipe rounded(struct dti_recipe recipe, int round)
{
    recipe.round = round;
    recipe.round_given = true;
    recipe.then = true;
    return recipe;
}
static struct dti_recipe clamped(struct dti_recipe recipe, int overflow)
{
    recipe.overflow = overflow;
    recipe.overflow_given = true;
    recipe.then = true;
    return recipe;
}
static struct dti_recipe canonical(struct dti_recipe recipe)
{
    recipe.nan = DTI_NAN_CANONICAL;
    recipe.nan_given = true;
    recipe.then = true;
    return recipe;
}
static struct dti_recipe routed(struct dti_recipe recipe, const char *via)
{
    recipe.via = via;
    recipe.then = true;
    return recipe;
}
static struct dti_recipe like(struct dti_recipe recipe, int stack)
{
    recipe.like = stack;
    recipe.like_given = true;
    recipe.then = true;
    return recipe;
}

/* Intermediate dtypes to try in routes with one step. */
static const enum dti_dtype steps[] = {DTI_FP32,     DTI_BF16,     DTI_FP16, DTI_FP8_E4M3FN,
                                       DTI_FP8_E5M2, DTI_FP4_E2M1, DTI_TF32};
enum { STEPS = sizeof steps / sizeof *steps };

/* Whether a float dtype represents all numbers of another one, so that a step through it changes
 * nothing. */
static bool holds(const struct dti_format *wide, const struct dti_format *narrow)
{
    if (dti_format_is_integer(narrow) || narrow->kind == DTI_KIND_BOOL)
        return narrow->width <= wide->man_bits + 1;
    return narrow->man_bits <= wide->man_bits && narrow->exp_bits <= wide->exp_bits &&
           narrow->bias <= wide->bias;
}

/* An intermediate dtype that a route may use, or NULL. */
static const char *step_of(size_t at, const struct dti_format *from, const struct dti_format *to)
{
    const struct dti_format *const step = dti_format_get(steps[at]);
    return holds(step, from) || step->id == to->id ? NULL : step->name;
}

/* Adds all elementwise casts that vary policies and route; *recipe has the dtype and packings. */
static void add_casts(struct dti_recipe_list *list, const struct dti_recipe *recipe,
                      const struct dti_format *from, const struct dti_format *to)
{
    const bool integer = dti_format_is_integer(to);
    const int usual = integer ? DTI_ROUND_ZERO : DTI_ROUND_NEAREST_EVEN;
    const int most = integer ? DTI_OVERFLOW_WRAP : DTI_OVERFLOW_SATURATE_FINITE;
    add_recipe(list, *recipe);
    for (int overflow = DTI_OVERFLOW_SATURATE; overflow <= most; overflow++)
        add_recipe(list, clamped(*recipe, overflow));
    add_recipe(list, canonical(*recipe));
    for (size_t i = 0; i < STEPS; i++) {
        if (step_of(i, from, to))
            add_recipe(list, routed(*recipe, step_of(i, from, to)));
    }
    for (int stack = 0; stack < DTI_STACK_COUNT; stack++) {
        if (dti_stack_find((enum dti_stack)stack, to))
            add_recipe(list, like(*recipe, stack));
    }
    for (int round = 0; round <= DTI_ROUND_STOCHASTIC; round++) {
        if (round != usual)
            add_recipe(list, rounded(*recipe, round));
    }
    for (int overflow = DTI_OVERFLOW_SATURATE; overflow <= most; overflow++) {
        add_recipe(list, canonical(clamped(*recipe, overflow)));
        for (size_t i = 0; i < STEPS; i++) {
            if (step_of(i, from, to))
                add_recipe(list, clamped(routed(*recipe, step_of(i, from, to)), overflow));
        }
        for (int round = 0; round <= DTI_ROUND_STOCHASTIC; round++) {
            if (round != usual)
                add_recipe(list, clamped(rounded(*recipe, round), overflow));
        }
    }
    for (int round = 0; round <= DTI_ROUND_STOCHASTIC; round++) {
        if (round == usual)
            continue;
        add_recipe(list, canonical(rounded(*recipe, round)));
        for (int overflow = DTI_OVERFLOW_SATURATE; overflow <= most; overflow++)
            add_recipe(list, canonical(clamped(rounded(*recipe, round), overflow)));
    }
}

static bool is_packed(const struct dti_container *container, const struct dti_format *format)
{
    return dti_format_packs(format) && dti_holds_texts(container->kind);
}

/* Adds casts with both packing orders of sub-byte codes, if the files leave them open. */
static void add_packed_casts(struct dti_recipe_list *list, struct dti_recipe recipe,
                             const struct dti_container *a, const struct dti_format *from,
                             const struct dti_container *b, const struct dti_format *to)
{
    recipe.from_packing_given = recipe.by == DTI_VERB_CAST && is_packed(a, from);
    recipe.packing_given = is_packed(b, to);
    recipe.then = recipe.packing_given;
    for (int source = 0; source <= recipe.from_packing_given; source++) {
        for (int result = 0; result <= recipe.packing_given; result++) {
            recipe.from_packing = source;
            recipe.packing = result;
            add_casts(list, &recipe, from, to);
        }
    }
}

static void add_divisions(struct dti_recipe_list *list, struct dti_recipe recipe, int usual)
{
    add_recipe(list, recipe);
    recipe.division_given = true;
    for (int division = DTI_DIVIDE_TRUE; division <= DTI_DIVIDE_EXACT; division++) {
        recipe.rules.division = division;
        if (division != usual)
            add_recipe(list, recipe);
    }
}

static struct dti_recipe as_torch(struct dti_recipe recipe)
{
    recipe.rules.like = DTI_QUANT_LIKE_TORCH;
    recipe.quant_like_given = true;
    return recipe;
}

static void add_symmetries(struct dti_recipe_list *list, struct dti_recipe recipe)
{
    add_divisions(list, recipe, DTI_DIVIDE_TRUE);
    add_recipe(list, as_torch(recipe));
    recipe.symmetry_given = true;
    recipe.rules.symmetric = false;
    recipe.rules.symmetry = DTI_SYMMETRY_HALF;
    add_divisions(list, recipe, DTI_DIVIDE_TRUE);
}

static void add_affine(struct dti_recipe_list *list, struct dti_recipe recipe,
                       const struct dti_format *code, bool zero_points)
{
    if (!dti_format_is_integer(code)) {
        add_divisions(list, recipe, DTI_DIVIDE_TRUE);
        add_recipe(list, as_torch(recipe));
        return;
    }
    if (zero_points) {
        recipe.rules.affine = code->kind == DTI_KIND_INT;
        add_divisions(list, recipe, DTI_DIVIDE_TRUE);
        add_recipe(list, as_torch(recipe));
        recipe.rules.affine = false;
    }
    recipe.rules.symmetric = code->kind == DTI_KIND_UINT;
    if (code->kind == DTI_KIND_UINT || !zero_points)
        add_symmetries(list, recipe);
}

/* Without a tensor scale in the file only `none`, a scale of 1, is tried. */
static void add_nv(struct dti_recipe_list *list, struct dti_recipe recipe,
                   const struct dti_tensor *to)
{
    const bool scaled = dti_tensor_form(to)->is->tensor_scale;
    const bool stems = dti_quant_layout_has_stems((enum dti_quant_layout)recipe.layout);
    const char *const sources[] = {"auto", "own", "none"};
    for (size_t i = scaled && !stems ? 0 : 2; i < sizeof sources / sizeof *sources; i++) {
        if (i == 1 && !dti_recipe_may_be_fused(to))
            continue;
        recipe.tensor_scale = i > 0 && !stems ? sources[i] : NULL;
        for (int scale = DTI_NV_SIX; scale <= DTI_NV_UNROUNDED; scale++) {
            recipe.rules.nv_scale = scale;
            recipe.nv_scale_given = scale != DTI_NV_SIX;
            add_divisions(list, recipe, DTI_DIVIDE_TRUE);
        }
    }
}

static void add_blocks(struct dti_recipe_list *list, struct dti_recipe recipe,
                       const struct dti_block_format *block, const struct dti_tensor *to)
{
    const struct dti_dequant_form *const form = dti_tensor_form(to);
    const bool flat = dti_quant_layout_is_flat((enum dti_quant_layout)recipe.layout);
    const bool stems = dti_quant_layout_has_stems((enum dti_quant_layout)recipe.layout);
    switch (block->family) {
    case DTI_BLOCKS_MX:
        for (int scale = DTI_MX_FLOOR; scale <= DTI_MX_RFLOOR; scale++) {
            recipe.rules.mx_scale = scale;
            recipe.mx_scale_given = scale != (stems ? DTI_MX_RCEIL : DTI_MX_FLOOR);
            add_recipe(list, recipe);
        }
        break;
    case DTI_BLOCKS_NV:
        add_nv(list, recipe, to);
        break;
    case DTI_BLOCKS_NF:
        recipe.nested = form->is->nested;
        add_divisions(list, recipe, flat ? DTI_DIVIDE_RECIPROCAL : DTI_DIVIDE_TRUE);
        break;
    case DTI_BLOCKS_Q8:
    case DTI_BLOCKS_Q4:
        add_recipe(list, recipe);
        break;
    }
}

bool dti_recipe_may_be_fused(const struct dti_tensor *to)
{
    return dti_fused_may_be(NULL, to->name, to->name_length);
}

/* The form of a tensor that add_in_order() found to be quantized. */
static const struct dti_dequant_form *form_of(const struct dti_tensor *quantized)
{
    const struct dti_dequant_form *const form = dti_tensor_form(quantized);
    assert(form);
    return form;
}

/* Sets what the stored form determines. False if no recipe writes that form. */
static bool begin_quant(struct dti_recipe *recipe, const struct dti_tensor *to)
{
    static const char axes[DTI_QUANT_RANK_MAX][3] = {"0", "1", "2",  "3",  "4",  "5",  "6",  "7",
                                                     "8", "9", "10", "11", "12", "13", "14", "15"};
    const struct dti_dequant_form *const form = form_of(to);
    size_t layout = 0;
    while (layout < DTI_LAYOUT_COUNT &&
           strcmp(dti_quant_layout_name((enum dti_quant_layout)layout), form->is->layout) != 0)
        layout++;
    if (layout == DTI_LAYOUT_COUNT || form->is->group[0] > 0 ||
        !dti_quant_row_find((enum dti_quant_layout)layout, form->is->dtype))
        return false;
    recipe->layout = (int)layout;
    const bool flat = dti_quant_layout_is_flat((enum dti_quant_layout)layout);
    const unsigned usual = form->is->per == DTI_PER_CHANNEL || to->rank == 0 ? 0 : to->rank - 1;
    recipe->axis = form->is->per != DTI_PER_TENSOR && !flat && form->is->axis != usual
                       ? axes[form->is->axis]
                       : NULL;
    return true;
}

/* The recipes of the list from `first` on, with the two codes of each byte swapped. */
static void add_swapped(struct dti_recipe_list *list, size_t first)
{
    const size_t count = list->count;
    for (size_t i = first; i < count && !list->failed; i++) {
        struct dti_recipe recipe = list->list[i];
        recipe.arrangement = DTI_ARRANGED_NIBBLES;
        add_recipe(list, recipe);
    }
}

/* Recipes for one row of the layout. */
static void add_row(struct dti_recipe_list *list, struct dti_recipe recipe,
                    const struct dti_quant_row *row, const struct dti_tensor *to)
{
    const struct dti_dequant_form *const form = form_of(to);
    const size_t first = list->count;
    recipe.dtype = dti_quant_row_name(row);
    recipe.layout = (int)row->layout;
    recipe.layout_given = row->layout != DTI_LAYOUT_COMPRESSED_TENSORS;
    const bool stems = dti_quant_layout_has_stems(row->layout);
    if (form->is->rotation > 0 && dti_quant_mark(row)) {
        recipe.convrot = form->is->rotation;
        recipe.convrot_given = true;
    }
    if (!row->block) {
        recipe.per_given = form->is->per == DTI_PER_CHANNEL;
        recipe.block_given = form->is->per == DTI_PER_GROUP;
        recipe.rules.per = recipe.per_given ? DTI_PER_CHANNEL : DTI_PER_TENSOR;
        recipe.rules.block = recipe.block_given ? form->is->group[1] : 0;
    }
    const bool open =
        row->packing == DTI_QUANT_BITS && !dti_quant_layout_is_read_elsewhere(row->layout);
    const uint64_t length = to->rank > 0 ? to->shape[form->is->axis] : 1;
    const uint64_t group = form->is->per == DTI_PER_GROUP ? form->is->group[1] : 1;
    const struct dti_quant_mark *const mark = dti_quant_mark(row);
    const bool rows = mark && to->rank == 2 && to->shape[0] % mark->rows != 0;
    const bool pads = (group > 0 && length % group != 0 && !dti_quant_is_flat(row)) || rows;
    for (int high = 0; high <= open; high++) {
        for (int pad = 0; pad <= pads; pad++) {
            recipe.order_given = high;
            recipe.rules.order = high ? DTI_BLOCK_HIGH : DTI_BLOCK_LOW;
            recipe.pad = pad;
            if (row->block)
                add_blocks(list, recipe, row->block, to);
            else if (stems)
                add_recipe(list, recipe); /* a single rule */
            else
                add_affine(list, recipe, dti_format_get(row->number), form->is->zero_points);
        }
    }
    if (!open && row->packing != DTI_QUANT_PLAIN && dti_quant_row_bits(row) == 4)
        add_swapped(list, first);
}

/* Whether tensors of one row could be taken for tensors of the other. */
static bool looks_like(const struct dti_quant_row *row, const struct dti_quant_row *other,
                       const struct dti_tensor *to)
{
    const struct dti_dequant_form *const form = form_of(to);
    const uint64_t last = to->rank > 0 ? to->shape[to->rank - 1] : 1;
    const uint64_t group = form->is->per == DTI_PER_GROUP ? form->is->group[1] : last;
    return dti_quant_layout_is_read_elsewhere(row->layout) ==
               dti_quant_layout_is_read_elsewhere(other->layout) &&
           dti_quant_is_flat(row) == dti_quant_is_flat(other) && row->codes == other->codes &&
           row->packing == other->packing && dti_quant_row_bits(row) == dti_quant_row_bits(other) &&
           (!row->block || group == row->block->length);
}

static void add_quants(struct dti_recipe_list *list, struct dti_recipe recipe,
                       const struct dti_tensor *to)
{
    const struct dti_dequant_form *const form = form_of(to);
    if (!begin_quant(&recipe, to))
        return;
    const struct dti_quant_row *const read =
        dti_quant_row_find((enum dti_quant_layout)recipe.layout, form->is->dtype);
    add_row(list, recipe, read, to);
    for (size_t i = 0; i < dti_quant_row_count; i++) {
        const struct dti_quant_row *const row = &dti_quant_rows[i];
        if (row != read && looks_like(row, read, to))
            add_row(list, recipe, row, to);
    }
}

/* The recipes of elements in another order: rows of heads of usual sizes, and a transposed matrix.
 */
static void add_arranged(struct dti_recipe_list *list, struct dti_recipe recipe,
                         const struct dti_tensor *from, const struct dti_tensor *to)
{
    static const uint64_t heads[] = {128, 64, 256, 96, 80, 32, 192, 112, 160, 512, 48, 40, 16, 8};
    recipe.arrangement = DTI_ARRANGED_TRANSPOSED;
    add_recipe(list, recipe); /* other tensors of the kind may be matrices */
    for (size_t i = 0; i < sizeof heads / sizeof *heads && dti_tensor_same_shape(from, to); i++) {
        recipe.head = heads[i];
        recipe.arrangement = DTI_ARRANGED_PAIRS;
        add_recipe(list, recipe);
        recipe.arrangement = DTI_ARRANGED_HALVES;
        add_recipe(list, recipe);
    }
}

/* Whether its codes have 4 bits, two in a byte. */
static bool has_nibbles(const struct dti_tensor *tensor)
{
    const struct dti_dequant_form *const form = dti_tensor_form(tensor);
    const struct dti_tensor *const codes = dti_form_part(form, DTI_PART_CODES);
    uint64_t bits;
    return codes && dti_mul_u64(codes->bytes, 8, &bits) && tensor->elements > 0 &&
           bits / tensor->elements == 4;
}

/* Recipes for elements in the order in which they are made. */
static bool add_in_order(struct dti_recipe_list *ret, const struct dti_container *a,
                         const struct dti_tensor *from, const struct dti_container *b,
                         const struct dti_tensor *to)
{
    struct dti_recipe recipe = {.by = DTI_VERB_KEEP};
    if (!dti_tensor_form(from) == !dti_tensor_form(to))
        add_recipe(ret, recipe);
    if (dti_tensor_refusal(from) || dti_tensor_refusal(to) || !from->format || !to->format ||
        from->format->kind == DTI_KIND_COMPLEX || to->format->kind == DTI_KIND_COMPLEX)
        return !ret->failed;
    if (!dti_tensor_form(from) && dti_tensor_form(to) && dti_holds_texts(b->kind)) {
        recipe.by = DTI_VERB_QUANT;
        add_quants(ret, recipe, to);
    } else if (!dti_tensor_form(to)) {
        const bool numbers = dti_tensor_form(from) != NULL;
        const struct dti_format *const source = numbers ? dti_format_get(DTI_FP32) : from->format;
        recipe.by = DTI_VERB_RENAME;
        if (!numbers && from->bytes == to->bytes && strcmp(source->name, to->format->name) != 0)
            add_recipe(ret, recipe);
        recipe.by = numbers ? DTI_VERB_DEQUANT : DTI_VERB_CAST;
        recipe.dequant = numbers;
        recipe.dtype = to->format->name;
        recipe.ints = !numbers && (dti_format_is_integer(source) || source->kind == DTI_KIND_BOOL);
        if (!numbers || dti_format_is_float(to->format))
            add_packed_casts(ret, recipe, a, source, b, to->format);
    }
    return !ret->failed;
}

bool dti_recipe_space(struct dti_recipe_list *ret, const struct dti_container *a,
                      const struct dti_tensor *from, const struct dti_container *b,
                      const struct dti_tensor *to)
{
    const bool numbers = dti_tensor_form(from) != NULL;
    struct dti_recipe recipe = {.by = DTI_VERB_KEEP};
    if (dti_tensor_same_shape(from, to) && !add_in_order(ret, a, from, b, to))
        return false;
    if (dti_tensor_refusal(from) || dti_tensor_refusal(to) || !from->format || !to->format ||
        from->format->kind == DTI_KIND_COMPLEX || to->format->kind == DTI_KIND_COMPLEX)
        return !ret->failed;
    if (numbers && dti_tensor_form(to)) {
        recipe.arrangement = DTI_ARRANGED_NIBBLES;
        if (dti_tensor_same_shape(from, to) && has_nibbles(from) && has_nibbles(to))
            add_recipe(ret, recipe);
    } else if (!dti_tensor_form(to)) {
        const struct dti_format *const source = numbers ? dti_format_get(DTI_FP32) : from->format;
        const bool kept = !numbers && strcmp(source->name, to->format->name) == 0;
        recipe.by = kept ? DTI_VERB_KEEP : numbers ? DTI_VERB_DEQUANT : DTI_VERB_CAST;
        recipe.dequant = numbers;
        recipe.dtype = to->format->name;
        recipe.ints = !numbers && (dti_format_is_integer(source) || source->kind == DTI_KIND_BOOL);
        if (kept || !numbers || dti_format_is_float(to->format))
            add_arranged(ret, recipe, from, to);
    }
    return !ret->failed;
}
