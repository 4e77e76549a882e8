/* SPDX-License-Identifier: MIT
 *
 * Shared by the affine quantization kernels: steps of four vectors, quotients, the arrays. */
#ifndef KERNELS_X86_QUANT_QUANT_AFFINE_H
#define KERNELS_X86_QUANT_QUANT_AFFINE_H

#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
enum { STEP = 4 * LANES }; /* elements */

struct affine_common {
    const struct dti_affine_args *args;
    floats scale, inverse;
    size_t ahead; /* prefetch distance in bytes */
    bool stream;
};

static inline struct affine_common affine_common(const struct dti_affine_args *args,
                                                 const void *codes, size_t n)
{
    return (struct affine_common){
        .args = args,
        .scale = floats_of(args->scale),
        .inverse = floats_of(args->inverse),
        .ahead = args->ahead > 0 ? args->ahead : DTI_PREFETCH_DISTANCE,
        .stream = args->stream && n >= 4 * STEP &&
                  (args->affine->code.width <= 8 || (uintptr_t)codes % 2 == 0),
    };
}

/* Pointers into the arrays; the last three are for columns. */
struct affine_place {
    unsigned char *codes;
    const unsigned char *x, *scales, *inverses, *zero_points;
};

DTI_INLINE struct affine_place place_at(struct affine_place p, size_t at, size_t bytes,
                                        bool columns)
{
    p.codes += bytes * at;
    p.x += 4 * at;
    if (columns) {
        p.scales += 4 * at;
        p.inverses += 4 * at;
        p.zero_points = p.zero_points ? p.zero_points + 4 * at : NULL;
    }
    return p;
}

/* Processes n elements with the portable kernel. */
static DTI_NOINLINE void go_portable(const struct affine_common *c, struct affine_place p, size_t n,
                                     struct dti_quant_count *count)
{
    struct dti_affine_args args = *c->args;
    const float *x = (const float *)(const void *)p.x;
    if (!args.scales) {
        VECTOR_NAME(dti_quantize_affine)(&args, p.codes, x, n, count);
        return;
    }
    args.scales = (const float *)(const void *)p.scales;
    args.inverses = (const float *)(const void *)p.inverses;
    args.zero_points = (const int32_t *)(const void *)p.zero_points;
    VECTOR_NAME(dti_quantize_columns)(&args, p.codes, x, n, count);
}

DTI_INLINE floats quotient_of(const struct affine_common *c, struct affine_place p, unsigned i,
                              enum dti_quant_division division, bool columns)
{
    const floats x = load_floats(p.x + i * VECTOR);
    if (division == DTI_DIVIDE_RECIPROCAL)
        return VECTOR_BITS(mul_ps)(x, columns ? load_floats(p.inverses + i * VECTOR) : c->inverse);
    return VECTOR_BITS(div_ps)(x, columns ? load_floats(p.scales + i * VECTOR) : c->scale);
}

DTI_INLINE struct affine_place place_of(const struct dti_affine_args *args, void *codes,
                                        const float *x)
{
    return (struct affine_place){
        codes, (const unsigned char *)x, (const unsigned char *)args->scales,
        (const unsigned char *)args->inverses, (const unsigned char *)args->zero_points};
}

#endif

#endif
