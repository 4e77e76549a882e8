/* SPDX-License-Identifier: MIT
 *
 * Kernels that decode the blocks of GGUF to fp32: one for each row of gguf_types.def and each CPU
 * level, all with the same numbers but for the bits of NaNs. */
#ifndef DTINFO_GGUF_KERNEL_H
#define DTINFO_GGUF_KERNEL_H

#include <stddef.h>

#include "dtinfo/cpu.h"
#include "dtinfo/gguf_type.h"

/* `count` whole blocks, little-endian, one after the other; exactly their bytes are read and their
 * numbers written. tensor_scale: of NVFP4, whose scales are multiplied with it first; others do not
 * look at it. */
typedef void dti_gguf_decode_fn(float *x, const unsigned char *blocks, size_t count,
                                float tensor_scale);

struct dti_gguf_kernels {
    const char *name;
    enum dti_level level;
    enum dti_gguf_blocks only;         /* DTI_GGUF_BLOCKS_COUNT: all types, */
    dti_gguf_decode_fn *const *decode; /* by enum dti_gguf_blocks */
    dti_gguf_decode_fn *run;           /* of `only` */
};
extern const struct dti_gguf_kernels dti_gguf_kernels[];
extern const size_t dti_gguf_kernels_count;

/* That of a row for a type; NULL: it has none. */
static inline dti_gguf_decode_fn *dti_gguf_row(const struct dti_gguf_kernels *row,
                                               enum dti_gguf_blocks blocks)
{
    return row->decode ? row->decode[blocks] : row->only == blocks ? row->run : NULL;
}
/* That of the first row that is allowed and has one; never NULL. */
dti_gguf_decode_fn *dti_gguf_find(enum dti_gguf_blocks blocks, enum dti_level allowed);

#endif
