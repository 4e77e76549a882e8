/* SPDX-License-Identifier: MIT
 *
 * Kernels without arithmetic, with which the others are compared: copies, reading or writing alone,
 * and loops that move as many bytes in and out as a cast does. */
#ifndef KERNELS_CAST_COPY_H
#define KERNELS_CAST_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/cpu.h"
#include "kernels/streaming.h"

/* n elements from src to dst, which do not overlap; any alignment. Bytes are counted by the row:
 * n x in are read, n x out are written. A kernel with out == 0 still leaves 8 bytes at dst, which
 * depend on all that was read; one with in == 0 does not look at src. streaming: its row's. */
typedef void dti_copy_fn(void *restrict dst, const void *restrict src, size_t n,
                         const struct dti_streaming *streaming);

struct dti_copy {
    const char *name; /* "dti_copy_nt_ahead_avx512" */
    dti_copy_fn *run;
    unsigned in, out; /* bytes of an element; 1 and 1: a plain copy, also the shape of n to n */
    bool exact;       /* dst becomes src: memcpy() and its like; else dst is of no use */
    const struct dti_streaming *stream; /* stores go past the caches; NULL: they do not */
    enum dti_level level;
};
extern const struct dti_copy dti_copies[];
extern const size_t dti_copy_count;

#endif
