/* SPDX-License-Identifier: MIT
 *
 * Decodes arrays of codes of any format to fp32, fp64 or int64. Compiled once per level. */
#include "kernels/cast/lanes_decode.h"
#include "kernels/kernels.h"
#include "kernels/lanes_piece.h"

/* Defines name(): decodes n elements in containers of `width` bits with number_of(). */
#define LOOP(name, width, type, number_of)                                           \
    static void name(const struct dti_decoder *decoder, unsigned char *restrict dst, \
                     const uint##width##_t *restrict containers, size_t n)           \
    {                                                                                \
        const struct dti_decoder d = *decoder;                                       \
        for (size_t i = 0; i < n; i++) {                                             \
            const type number = number_of(&d, containers[i]);                        \
            memcpy(dst + i * sizeof number, &number, sizeof number);                 \
        }                                                                            \
    }

DTI_LANE float integer_f32(const struct dti_decoder *d, uint32_t container)
{
    return (float)(int32_t)dti_lane_decode_i64(d, container);
}

/* Integers from -2^51 to 2^51 - 1, added to the mantissa of 2^52 + 2^51. */
DTI_LANE double integer_f64(const struct dti_decoder *d, uint64_t container)
{
    const uint64_t base = UINT64_C(0x4338000000000000);
    const uint64_t shifted = base + (uint64_t)dti_lane_decode_i64(d, container);
    return dti_lane_f64(shifted) - dti_lane_f64(base);
}

LOOP(floats_f32, 32, uint32_t, dti_lane_decode_f32)
LOOP(integers_f32, 32, float, integer_f32)
LOOP(floats_f64, 64, uint64_t, dti_lane_decode_f64)
LOOP(integers_f64, 64, double, integer_f64)
LOOP(integers_i64, 64, int64_t, dti_lane_decode_i64)

static void narrow_floats_f64(const struct dti_decoder *decoder, unsigned char *restrict dst,
                              const uint32_t *restrict containers, size_t n)
{
    const struct dti_decoder d = *decoder;
    uint32_t wide[DTI_PIECE];
    for (size_t i = 0; i < n; i++)
        wide[i] = dti_lane_decode_wide(&d, containers[i]);
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = dti_lane_finish_wide(&d, wide[i], containers[i]);
        memcpy(dst + 8 * i, &bits, sizeof bits);
    }
}

void DTI_LANES_NAME(dti_decode_f32)(const struct dti_kernel_args *args, void *restrict dst,
                                    const void *restrict src, size_t n)
{
    const struct dti_decoder *d = args->decoder;
    uint32_t containers[DTI_PIECE];
    for (size_t done = 0; done < n; done += DTI_PIECE) {
        const size_t count = n - done < DTI_PIECE ? n - done : DTI_PIECE;
        unsigned char *to = (unsigned char *)dst + 4 * done;
        dti_piece_widen32(containers, (const unsigned char *)src + d->container * done, count,
                          d->container);
        if (dti_format_is_integer(&d->format))
            integers_f32(d, to, containers, count);
        else
            floats_f32(d, to, containers, count);
    }
}

void DTI_LANES_NAME(dti_decode_f64)(const struct dti_kernel_args *args, void *restrict dst,
                                    const void *restrict src, size_t n)
{
    const struct dti_decoder *d = args->decoder;
    const bool narrow = !dti_format_is_integer(&d->format) && dti_format_fits_hub32(&d->format);
    uint32_t containers32[DTI_PIECE];
    uint64_t containers[DTI_PIECE];
    for (size_t done = 0; done < n; done += DTI_PIECE) {
        const size_t count = n - done < DTI_PIECE ? n - done : DTI_PIECE;
        const unsigned char *from = (const unsigned char *)src + d->container * done;
        unsigned char *to = (unsigned char *)dst + 8 * done;
        if (narrow) {
            dti_piece_widen32(containers32, from, count, d->container);
            narrow_floats_f64(d, to, containers32, count);
            continue;
        }
        dti_piece_widen64(containers, from, count, d->container);
        if (dti_format_is_integer(&d->format))
            integers_f64(d, to, containers, count);
        else
            floats_f64(d, to, containers, count);
    }
}

void DTI_LANES_NAME(dti_decode_i64)(const struct dti_kernel_args *args, void *restrict dst,
                                    const void *restrict src, size_t n)
{
    const struct dti_decoder *d = args->decoder;
    uint64_t containers[DTI_PIECE];
    for (size_t done = 0; done < n; done += DTI_PIECE) {
        const size_t count = n - done < DTI_PIECE ? n - done : DTI_PIECE;
        dti_piece_widen64(containers, (const unsigned char *)src + d->container * done, count,
                          d->container);
        integers_i64(d, (unsigned char *)dst + 8 * done, containers, count);
    }
}
