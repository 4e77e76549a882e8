/* SPDX-License-Identifier: MIT
 *
 * Kernels without arithmetic, for comparison with the others: copies, reads or writes alone, and
 * loops that move as many bytes in and out as a cast does. */
#ifndef KERNELS_CAST_COPY_H
#define KERNELS_CAST_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/cpu.h"
#include "kernels/streaming.h"

/* Processes n elements from src to dst, which must not overlap; any alignment. Reads n x in and
 * writes n x out bytes, as given by the row. A kernel with out == 0 still writes 8 bytes to dst
 * that depend on everything it read; one with in == 0 ignores src. streaming: that of its row. */
typedef void dti_copy_fn(void *restrict dst, const void *restrict src, size_t n,
                         const struct dti_streaming *streaming);

enum { DTI_COPY_CACHED = -1 };
struct dti_copy {
    char name[40];    /* "dti_copy_nt_ahead_avx512" */
    unsigned in, out; /* bytes per element; 1 and 1: a plain copy, which also stands for any n to
                       * n */
    bool exact;       /* dst becomes a copy of src: memcpy() and the like; otherwise dst has no
                       * meaningful contents */
    int stream;       /* enum dti_streaming_id; DTI_COPY_CACHED: cached stores */
    enum dti_level level;
};
extern const struct dti_copy dti_copies[];
extern const size_t dti_copy_count;

/* A row's function, and its way of streaming, or NULL. The rows have no pointers, which would be
 * relocated at each start. */
dti_copy_fn *dti_copy_run(const struct dti_copy *copy);
static inline const struct dti_streaming *dti_copy_stream(const struct dti_copy *copy)
{
    return copy->stream == DTI_COPY_CACHED ? NULL : &dti_streamings[copy->stream];
}

#endif
