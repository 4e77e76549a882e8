/* SPDX-License-Identifier: MIT
 *
 * How a tensor was made from another one: a recipe with the meaning of options of the commands that
 * make files, and the rewrite that it stands for. The command line spells and reads it. */
#ifndef DTINFO_ANSWERS_MADE_H
#define DTINFO_ANSWERS_MADE_H

#include "answers/quantized.h"
#include "dtinfo/judge.h"

enum dti_made_by {
    DTI_MADE_KEPT,    /* the same bytes under the same dtype */
    DTI_MADE_RENAMED, /* the same bytes under another dtype */
    DTI_MADE_CAST,
    DTI_MADE_QUANT,
    DTI_MADE_DEQUANT, /* to dtype; with then: to fp32, and that is cast */
};

/* Zeros are the defaults. An option without its _given is its default. Texts are the caller's. */
struct dti_made {
    enum dti_made_by by;
    const char *dtype;
    /* casts */
    bool then;       /* DTI_MADE_DEQUANT: these are given too */
    const char *via; /* dtypes with commas, or NULL */
    int round, overflow, nan, like, packing, from_packing;
    bool round_given, overflow_given, nan_given, like_given, packing_given, from_packing_given;
    bool ints;
    /* DTI_MADE_QUANT */
    struct dti_quant_rules rules;
    bool quant_like_given, symmetry_given, division_given, mx_scale_given, nv_scale_given,
        per_given, block_given, order_given, tensor_scale_given, layout_given;
    int layout;
    uint64_t axis; /* with rules.has_axis */
    bool pad, nested;
    bool dequant; /* DTI_MADE_DEQUANT */
};

/* A recipe as a rewrite. Points into itself: must not be copied. */
struct dti_made_request {
    struct dti_rewrite_request request;
    struct dti_quant_target target;
};
/* DTI_MADE_CAST, DTI_MADE_QUANT, DTI_MADE_DEQUANT, to one file of the kind; what the container is
 * chosen from, and the view of DTI_MADE_DEQUANT, are the caller's to add. Fails as lookups do. */
enum dti_status dti_made_prepare(struct dti_made_request *ret, const struct dti_made *made,
                                 enum dti_container_kind kind, enum dti_level level,
                                 struct dti_error *reterr);

/* Which tensors of one file are held against which of another. */
struct dti_made_pair {
    size_t a, b; /* of the two containers, which may be views */
};
struct dti_made_files {
    struct dti_container *a, *b;
    struct dti_judge_other other;   /* b as stored */
    struct dti_fused_ranges *fused; /* of a, once a recipe needed them; else NULL */
    enum dti_level level;
};
enum dti_status dti_made_files_init(struct dti_made_files *ret, struct dti_container *a,
                                    struct dti_container *b, enum dti_level level,
                                    struct dti_error *reterr);
void dti_made_files_free(struct dti_made_files *files); /* not the containers */

/* Whether a recipe works element by element, so that the beginning of a tensor can be made. */
static inline bool dti_made_is_elementwise(const struct dti_made *made)
{
    return made->by == DTI_MADE_CAST || made->by == DTI_MADE_DEQUANT;
}

/* Makes so many tensors of a by the recipe, and fills a verdict for each pair. *ret_refused: the
 * recipe cannot make them, for the reason in reterr, and there is no verdict. Fails as
 * dti_judge_rewrite() does. */
enum dti_status dti_made_judge(struct dti_made_files *files, const struct dti_made *made,
                               const struct dti_made_pair *pairs, size_t count,
                               const struct dti_judge_options *options, struct dti_verdict *ret,
                               bool *ret_refused, struct dti_error *reterr);
/* How many pairs may be given at once. */
size_t dti_made_most(const struct dti_made_files *files);

/* The recipes that could have made one tensor from the other, the simplest first. Grows the list,
 * which is to be freed; texts in it last as long as the program. False: memory ran out. */
struct dti_made_list {
    struct dti_made *list;
    size_t count, capacity;
    bool failed;
};
/* Whether loaders may fuse it with others: then the space has scales of their own too. */
bool dti_made_may_be_fused(const struct dti_tensor *to);
bool dti_made_space(struct dti_made_list *ret, const struct dti_container *a,
                    const struct dti_tensor *from, const struct dti_container *b,
                    const struct dti_tensor *to);

#endif
