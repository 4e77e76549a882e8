/* SPDX-License-Identifier: MIT
 *
 * The names by which a comparison pairs tensors that the files call differently. */
#ifndef ANSWERS_COMPARE_COMPARE_MAP_H
#define ANSWERS_COMPARE_COMPARE_MAP_H

#include "answers/compare/compare.h"
#include "files/model/model_heads.h"
#include "files/model/model_names.h"

/* The name that a tensor is paired by. */
struct dti_compare_name {
    const char *name;
    size_t name_length;
    bool renamed;
    enum dti_model_change change; /* the checkpoint's side: how its GGUF differs */
};

/* Makes the names of both containers, by compare->map. Fails with DTI_BAD_INPUT: the rules cannot
 * be read, two tensors get one name, or the files are not a GGUF and a checkpoint. */
enum dti_status dti_compare_map_new(struct dti_compare *compare, struct dti_error *reterr);
void dti_compare_map_free(struct dti_compare_map *map); /* NULL is fine */

/* The names of a container's tensors: 0 is a, 1 is b. */
const struct dti_compare_name *dti_compare_map_names(const struct dti_compare_map *map,
                                                     unsigned side);
/* Sets how the numbers of a pair are changed, or why they cannot be. */
void dti_compare_map_apply(const struct dti_compare *compare, struct dti_compare_result *result);
/* Whether the names of a result match a list of patterns: those of the files and those that they
 * are paired by. */
bool dti_compare_map_matches(const struct dti_compare *compare,
                             const struct dti_compare_result *result, const char *only);
/* Fills compare->mapped. */
void dti_compare_map_count(struct dti_compare *compare);

#endif
