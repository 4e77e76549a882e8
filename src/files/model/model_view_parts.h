/* SPDX-License-Identifier: MIT
 *
 * The tensors of a view of a model, for the code that makes it and the code that reads them. */
#ifndef FILES_MODEL_MODEL_VIEW_PARTS_H
#define FILES_MODEL_MODEL_VIEW_PARTS_H

#include "files/model/model_view.h"

/* How the data of a tensor are changed. */
struct dti_model_reading {
    enum dti_model_change change;
    bool made;                            /* no file has it */
    const float *numbers;                 /* made */
    uint64_t row_bytes, head_rows, bytes; /* of the result */
    /* where the data are: a source, or an input */
    struct dti_batch_source from;
    const struct dti_input *input;
    uint64_t offset;
    struct dti_plan *plan; /* DTI_MODEL_PLUS_ONE: from the file's dtype to fp32; NULL: it is fp32 */
    struct dti_input changed; /* what is read instead, of an input */
};

struct dti_model_tensor {
    bool fp32, plain;
    struct dti_model_reading *reading; /* NULL: as it is */
};

struct dti_model_view {
    struct dti_container view;
    struct dti_container *container;
    struct dti_pool pool;
    uint32_t *places;
    struct dti_model_tensor *tensors;
    enum dti_model_arch arch;
    size_t computed; /* tensors that are left out because llama.cpp computes them */
    bool whole;      /* nothing was left out */
    bool untied;     /* the output is no copy of the embeddings */
};

#endif
