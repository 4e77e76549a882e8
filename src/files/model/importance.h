/* SPDX-License-Identifier: MIT
 *
 * Importance matrices as llama-imatrix writes them: for tensors of a model, by their names in GGUF,
 * the mean squares of what the columns of their matrices are multiplied by. Two forms: GGUF with
 * the tensors X.in_sum2 and X.counts, and the binary one before it. */
#ifndef FILES_MODEL_IMPORTANCE_H
#define FILES_MODEL_IMPORTANCE_H

#include "containers/container.h"
#include "util/run/memory_pool.h"

struct dti_importance;

/* Opens a file and reads what it says of its entries. path must outlive the result. Fails with
 * DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_importance_open(struct dti_importance **ret, const char *path,
                                    struct dti_error *reterr);
void dti_importance_free(struct dti_importance *importance); /* NULL is allowed */

/* The weights for a tensor, by its name: for each of its matrices, one per column, in memory of
 * the pool. *ret is NULL if there is no entry of its name. Fails with DTI_BAD_INPUT for an entry of
 * another length, and for weights that are negative, infinite or NaN; with DTI_NO_MEMORY. */
enum dti_status dti_importance_read(const struct dti_importance *importance,
                                    const struct dti_tensor *of, struct dti_pool *pool,
                                    const float **ret, struct dti_error *reterr);

const char *dti_importance_path(const struct dti_importance *importance);

/* What a file says of itself. */
struct dti_importance_facts {
    size_t entries;
    const char
        *dataset; /* the first text that was read, for as long as the importance lives; NULL */
    size_t dataset_length;
    uint64_t chunks; /* of texts; 0: not stated */
};
struct dti_importance_facts dti_importance_facts(const struct dti_importance *importance);

#endif
