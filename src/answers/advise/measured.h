/* SPDX-License-Identifier: MIT
 *
 * What each tensor of a model becomes in each format of a menu: bytes and errors, measured by a
 * quantization that is not written. As a document it is the file of `advise --measurements`. */
#ifndef ANSWERS_ADVISE_MEASURED_H
#define ANSWERS_ADVISE_MEASURED_H

#include "files/advise/tensor_errors.h"
#include "files/scan/file_digest.h"
#include "report/json.h"
#include "util/run/memory_pool.h"

struct dti_measured_figure {
    bool there;     /* the format can hold the tensor */
    uint64_t bytes; /* of all parts, as they are written */
    uint64_t clipped, to_zero;
    struct dti_tensor_error error;
};

struct dti_measured_tensor {
    const char *name; /* in the new file */
    uint32_t name_length;
    unsigned rank;
    const uint64_t *shape;
    uint64_t elements;
    uint64_t bytes;    /* as written if it is not quantized */
    const char *dtype; /* likewise */
    bool taken;        /* some format can hold it; the others stay as they are */
    uint32_t group;    /* its group's first tensor; not in the document */
    double weight;     /* of its error; not in the document */
};

struct dti_measured {
    const char *path, *loader;
    const char *keep;             /* patterns of tensors that stay, as given, or NULL */
    char digest[DTI_DIGEST_TEXT]; /* of the input; empty until it is known */
    const char **formats;         /* names as `quant` takes them */
    size_t format_count;
    struct dti_measured_tensor *tensors; /* of the new file */
    size_t tensor_count;
    struct dti_measured_figure *figures; /* for each tensor one for each format */
    struct dti_pool pool;                /* of names */
};
void dti_measured_free(struct dti_measured *measured); /* a zeroed struct is fine */

static inline struct dti_measured_figure *dti_measured_at(const struct dti_measured *measured,
                                                          size_t tensor, size_t format)
{
    return &measured->figures[tensor * measured->format_count + format];
}
/* The relative squared error; 0 for a tensor of zeros. */
static inline double dti_measured_share(const struct dti_measured_figure *figure)
{
    return figure->error.signal > 0 ? figure->error.squared / figure->error.signal : 0;
}
/* Makes room for tensors and figures. Fails with DTI_NO_MEMORY. */
enum dti_status dti_measured_alloc(struct dti_measured *measured, size_t tensors,
                                   struct dti_error *reterr);
void dti_document_advise_measurements(struct dti_json *json, const struct dti_measured *measured);

/* measured_read.c: reads such a document; free it in any case. Fails with DTI_BAD_INPUT. */
enum dti_status dti_measured_read(struct dti_measured *ret, const char *path,
                                  struct dti_error *reterr);

#endif
