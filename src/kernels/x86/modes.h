/* SPDX-License-Identifier: MIT
 *
 * One loop per rounding mode and NaN policy of an encoding. Given
 *
 *     DTI_INLINE void x_block(const void *constants, unsigned char *dst, const unsigned char *src,
 *                             bool stream, enum dti_round round, bool plain)
 *
 * where round and plain are constants after inlining, one of these macros defines x_by_mode():
 * DTI_ONE_MODE(x, ...) for nearest-even only, DTI_FOUR_MODES(x, ...) for the modes of the
 * processor, DTI_SIX_MODES(x, ...). plain: NaNs keep sign and upper payload and become quiet;
 * otherwise they all become the positive NaN without payload. */
#ifndef KERNELS_X86_MODES_H
#define KERNELS_X86_MODES_H

#include "kernels/kernels.h"
#include "kernels/x86/blocks.h"

#define DTI_MODE(x, mode, block_units, src_bytes, dst_bytes)                                   \
    DTI_INLINE void x##_plain_##mode(const void *constants, unsigned char *dst,                \
                                     const unsigned char *src, bool stream)                    \
    {                                                                                          \
        x##_block(constants, dst, src, stream, DTI_ROUND_##mode, true);                        \
    }                                                                                          \
    DTI_INLINE void x##_canonical_##mode(const void *constants, unsigned char *dst,            \
                                         const unsigned char *src, bool stream)                \
    {                                                                                          \
        x##_block(constants, dst, src, stream, DTI_ROUND_##mode, false);                       \
    }                                                                                          \
    static void x##_##mode(const void *constants, bool plain, void *dst, const void *src,      \
                           size_t n, const struct dti_streaming *stream)                       \
    {                                                                                          \
        const struct dti_blocks plains = {x##_plain_##mode, block_units, src_bytes, dst_bytes, \
                                          false};                                              \
        const struct dti_blocks canonicals = {x##_canonical_##mode, block_units, src_bytes,    \
                                              dst_bytes, false};                               \
        if (plain)                                                                             \
            dti_blocks_run(plains, constants, dst, src, n, stream);                            \
        else                                                                                   \
            dti_blocks_run(canonicals, constants, dst, src, n, stream);                        \
    }

#define DTI_MODE_CASE(x, mode)                             \
    case DTI_ROUND_##mode:                                 \
        x##_##mode(constants, plain, dst, src, n, stream); \
        break;

/* Rows list the modes they support, so the default case is nearest-even. */
#define DTI_BY_MODE(x, cases)                                                                      \
    static void x##_by_mode(const void *constants, const struct dti_kernel_args *args, bool plain, \
                            void *dst, const void *src, size_t n)                                  \
    {                                                                                              \
        const struct dti_streaming *const stream = args->stream;                                   \
        switch (args->encoder->policy.round) {                                                     \
            cases default : x##_NEAREST_EVEN(constants, plain, dst, src, n, stream);               \
            break;                                                                                 \
        }                                                                                          \
    }

#define DTI_ONE_MODE(x, units, in, out)       \
    DTI_MODE(x, NEAREST_EVEN, units, in, out) \
    DTI_BY_MODE(x, )

#define DTI_FOUR_CASES(x) DTI_MODE_CASE(x, ZERO) DTI_MODE_CASE(x, UP) DTI_MODE_CASE(x, DOWN)
#define DTI_HARDWARE_MODES(x, units, in, out) \
    DTI_MODE(x, NEAREST_EVEN, units, in, out) \
    DTI_MODE(x, ZERO, units, in, out)         \
    DTI_MODE(x, UP, units, in, out)           \
    DTI_MODE(x, DOWN, units, in, out)

#define DTI_FOUR_MODES(x, units, in, out) \
    DTI_HARDWARE_MODES(x, units, in, out) \
    DTI_BY_MODE(x, DTI_FOUR_CASES(x))

#define DTI_SIX_MODES(x, units, in, out)      \
    DTI_HARDWARE_MODES(x, units, in, out)     \
    DTI_MODE(x, NEAREST_AWAY, units, in, out) \
    DTI_MODE(x, ODD, units, in, out)          \
    DTI_BY_MODE(x, DTI_FOUR_CASES(x) DTI_MODE_CASE(x, NEAREST_AWAY) DTI_MODE_CASE(x, ODD))

/* The end of a function: converts x with CONVERT(x, how), with the rounding mode in the
 * instruction. */
#define DTI_RETURN_BY_ROUND(CONVERT, x, round)                            \
    switch (round) {                                                      \
    case DTI_ROUND_ZERO:                                                  \
        return CONVERT(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);        \
    case DTI_ROUND_UP:                                                    \
        return CONVERT(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);     \
    case DTI_ROUND_DOWN:                                                  \
        return CONVERT(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);     \
    default:                                                              \
        return CONVERT(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); \
    }

/* The value of `plain` for encodings to floats. */
DTI_INLINE bool dti_keeps_nan(const struct dti_kernel_args *args)
{
    return args->encoder->policy.nan == DTI_NAN_QUIET;
}

#endif
