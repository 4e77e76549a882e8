/* SPDX-License-Identifier: MIT
 *
 * What takes nearly all the time of an encoder of GGUF, above all searches for scales, as functions
 * that a level may have with intrinsics (GGUF_SEARCHES). Groups are lanes; results are those of the
 * portable loops. */
#ifndef KERNELS_GGUF_GGUF_SEARCH_H
#define KERNELS_GGUF_GGUF_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/* Enough for two chains of additions side by side. */
#ifdef __AVX512BW__
enum { GGUF_LANES = 32 };
#else
enum { GGUF_LANES = 16 };
#endif
typedef float gguf_lanes[GGUF_LANES]; /* one number of each group */

/* A number is code * scale + least. Codes are those of (x - base) * inverse. */
struct gguf_affine {
    gguf_lanes scale, least, inverse, base, error;
    gguf_lanes most, sum_w, sum_x;
};

/* The scale of each group, and the factor that gave its codes, which is 0 if there is no scale. */
struct gguf_scaled {
    gguf_lanes scale, inverse, best, largest;
};

/* The scales that a search tries: as if codes went up to `most` plus `from`, then `step` more each
 * time, `last` times. */
struct gguf_tries {
    float from, step;
    unsigned last;
};

/* gguf_affine_search() for n of 16 or 32; of sums, it sets sum_w. False: a quotient may be too
 * large for this function. */
typedef bool gguf_affine_search_fn(struct gguf_affine *to, const gguf_lanes *x, const gguf_lanes *w,
                                   unsigned n, int most, struct gguf_tries tries, bool absolute);
/* gguf_transpose(), for n that are multiples of 4 */
typedef void gguf_transpose_fn(gguf_lanes *to, const unsigned char *x, unsigned n);
/* gguf_affine_weights() */
typedef void gguf_affine_weights_fn(gguf_lanes *w, const gguf_lanes *x);
/* What gguf_scale_search() does after gguf_first_largest(), for n of 16 or 32. */
typedef void gguf_scale_search_fn(struct gguf_scaled *to, const gguf_lanes *x, const gguf_lanes *w,
                                  unsigned n, int most);
/* What gguf_table_search() does after gguf_first_largest(). w may be NULL. middles, steps: 15 of
 * the table. */
typedef void gguf_table_search_fn(float *scale, const gguf_lanes *x, const gguf_lanes *w,
                                  const float *largest, const float *middles, const float *steps);
/* Blocks of q8_0. False: not a number of blocks for this function, or their numbers are not. */
typedef bool gguf_q8_0_fn(unsigned char *blocks, const unsigned char *x, size_t count);

#ifdef DTI_HAVE_X86
gguf_table_search_fn dti_gguf_table_search_avx512, dti_gguf_table_search_avx2;
gguf_q8_0_fn dti_gguf_q8_0_avx512, dti_gguf_q8_0_avx2;
gguf_affine_search_fn dti_gguf_affine_search_avx512, dti_gguf_affine_search_avx2;
gguf_transpose_fn dti_gguf_transpose_avx512, dti_gguf_transpose_avx2;
gguf_affine_weights_fn dti_gguf_affine_weights_avx512, dti_gguf_affine_weights_avx2;
gguf_scale_search_fn dti_gguf_scale_search_avx512, dti_gguf_scale_search_avx2;
#endif

#endif
