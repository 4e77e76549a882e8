/* SPDX-License-Identifier: MIT
 *
 * The answer of `advise`: a format for each group of tensors, so that the checkpoint fits a size
 * with the least error, and what other mixtures would do. */
#ifndef ANSWERS_ADVISE_ADVISE_H
#define ANSWERS_ADVISE_ADVISE_H

#include "answers/advise/advise_forms.h"
#include "answers/advise/measured.h"
#include "answers/common.h"
#include "files/advise/advise_loaders.h"
#include "files/advise/choose.h"

/* Tensors that share a format. */
struct dti_advise_group {
    uint32_t first; /* its first tensor; next_in_group has the others */
    uint32_t tensor_count;
    uint64_t elements;
    double weight; /* of its tensors */
};

/* A mixture that needs no search, for comparison. */
struct dti_advise_mixture {
    char name[32];
    uint64_t bytes;
    double error;
    size_t without; /* groups that the format cannot hold, and that stay as they are */
};

struct dti_advise {
    const char *path, *fit, *weights, *plan; /* as given; weights and plan may be NULL */
    const struct dti_advise_row *row;
    uint64_t budget;
    enum dti_advise_form form; /* what the plan is written as */
    bool stored;               /* the menu has tensors as they are in the input */
    const char *stored_as;     /* the dtype that they must have then, or NULL */
    struct dti_measured measured;
    struct dti_measured file; /* that names are of, if they were read; else empty */

    struct dti_advise_group *groups;
    uint32_t group_count;
    uint32_t *group_of;      /* of each tensor; UINT32_MAX: it stays as it is in every mixture */
    uint32_t *next_in_group; /* of each tensor the next one of its group; UINT32_MAX: none */
    struct dti_format_choice *choices;
    uint32_t *choice_formats; /* of each choice; format_count: as stored */
    uint32_t *starts;
    uint32_t *picks; /* of each group, an index into the choices */

    size_t kept_tensors;
    uint64_t kept_bytes;      /* of tensors that stay in every mixture */
    double weight;            /* of all groups */
    struct dti_chosen chosen; /* without the tensors that stay */
    uint64_t bytes;           /* of all tensors of the new file: as `mem` counts them */
    uint64_t file_bytes;      /* of the new files */
    struct dti_advise_mixture *mixtures;
    size_t mixture_count;
    struct dti_frontier_point *frontier; /* bytes and errors without the tensors that stay */
    size_t frontier_count;
    struct dti_buffer document; /* the plan in that form, if quant's plan has it */
    struct dti_warnings warnings;
};

/* The format of a tensor; format_count: it stays as it is. */
static inline size_t dti_advise_format_of(const struct dti_advise *advise, size_t tensor)
{
    const uint32_t group = advise->group_of[tensor];
    return group == UINT32_MAX ? advise->measured.format_count
                               : advise->choice_formats[advise->picks[group]];
}
/* "int8", or "stored". */
static inline const char *dti_advise_format_name(const struct dti_advise *advise, size_t format)
{
    return format < advise->measured.format_count ? advise->measured.formats[format] : "stored";
}
/* The weighted sum of errors, divided by the sum of weights. */
static inline double dti_advise_mean(const struct dti_advise *advise, double error)
{
    return advise->weight > 0 ? error / advise->weight : 0;
}

/* advise_groups.c: groups and their choices, from measurements with groups and weights; then the
 * mixtures. Fails with DTI_NO_MEMORY, DTI_BAD_INPUT. */
enum dti_status dti_advise_prepare(struct dti_advise *advise, struct dti_error *reterr);
enum dti_status dti_advise_mix(struct dti_advise *advise, struct dti_error *reterr);
/* The choices as a set, for dti_choose(). */
static inline struct dti_choice_set dti_advise_set(const struct dti_advise *advise)
{
    return (struct dti_choice_set){advise->choices, advise->starts, advise->group_count};
}
void dti_advise_free(struct dti_advise *advise); /* a zeroed struct is fine */

/* tensor_types.c: the plan as llama-quantize reads it. Fails with DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_advise_tensor_types(const struct dti_advise *advise, struct dti_buffer *ret,
                                        struct dti_error *reterr);

void dti_document_advise(struct dti_json *json, const struct dti_advise *advise);
void dti_document_advise_plan(struct dti_json *json, const struct dti_advise *advise);

#endif
