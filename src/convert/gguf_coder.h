/* SPDX-License-Identifier: MIT
 *
 * Blocks of GGUF of finite numbers: encodes, and looks whether the blocks can hold the numbers. */
#ifndef CONVERT_GGUF_CODER_H
#define CONVERT_GGUF_CODER_H

#include "convert/nvfp4_encoder.h"
#include "core/dtype/gguf_type.h"
#include "kernels/gguf/gguf_kernel.h"

struct dti_gguf_coder {
    const struct dti_gguf_type *type;
    dti_gguf_encode_fn *encode;             /* NULL: there is none without weights, or nvfp4 */
    const struct dti_gguf_weigher *weigher; /* NULL: the type takes no weights */
    dti_gguf_decode_fn *decode;
    const struct dti_nvfp4_encoder *nv; /* nvfp4 that is encoded, of the caller; else NULL */
    const struct dti_quant_kernel *range;
};
void dti_gguf_coder_init(struct dti_gguf_coder *ret, const struct dti_gguf_type *type,
                         enum dti_level level);
/* Whether blocks of a type can be made without weights. */
bool dti_gguf_encodes(const struct dti_gguf_type *type);

/* Weights of an importance matrix for a tensor: for each of its matrices, one per column. */
struct dti_gguf_weights {
    const float *columns;
    uint64_t row, rows; /* elements of a row, rows of a matrix */
};
/* Numbers that have weights. */
struct dti_gguf_weighted {
    const struct dti_gguf_weights *weights;
    uint64_t first;     /* the index of the first number in its tensor */
    const float *means; /* weigher->of_row: of the rows in which they are; else unused */
};

/* The index of the first NaN or infinity; count: there is none. */
size_t dti_gguf_find_special(const float *x, size_t count);

enum dti_gguf_coded {
    DTI_GGUF_CODED,
    DTI_GGUF_SPECIAL,     /* a number is NaN or infinite */
    DTI_GGUF_SCALE_LARGE, /* a block needs a scale beyond fp16 */
};
/* Encodes `count` numbers, whole blocks. weighted: NULL, or for a coder with a weigher, after
 * dti_gguf_prepare(). back:
 * memory for as many numbers; with `decoded` it receives the decoded numbers. *ret_at: the element
 * that cannot be coded. */
enum dti_gguf_coded dti_gguf_code(const struct dti_gguf_coder *coder, unsigned char *blocks,
                                  const float *x, size_t count,
                                  const struct dti_gguf_weighted *weighted, float *back,
                                  bool decoded, size_t *ret_at);

/* The errors of these. place: "tensor 'x'"; first: the index of the first number. */
enum dti_status dti_gguf_refuse(const struct dti_gguf_type *type, enum dti_gguf_coded coded,
                                const char *place, uint64_t element, struct dti_error *reterr);

#endif
