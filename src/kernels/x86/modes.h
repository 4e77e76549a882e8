/* SPDX-License-Identifier: MIT
 *
 * One kernel for several rounding modes and NaN policies of an encoding. Given
 *
 *     DTI_INLINE void x_block(const void *constants, unsigned char *dst, const unsigned char *src,
 *                             bool stream, enum dti_round round, bool plain)
 *
 * where round and plain are constants after inlining, one of these macros defines x_by_mode():
 * DTI_ONE_MODE(x, ...) for nearest-even only, DTI_FOUR_MODES(x, ...) for the modes of the
 * processor, DTI_WHOLE_MODES(x, ...) likewise, DTI_SIX_MODES(x, ...). plain: NaNs keep sign and
 * upper payload and become quiet; otherwise they all become the positive NaN without payload.
 *
 * Each has a loop of its own for plain nearest-even (DTI_WHOLE_MODES: and toward zero, as integers
 * are cast by default). All others share a loop that calls the block: a few cycles for each, and
 * a tenth of the code. */
#ifndef KERNELS_X86_MODES_H
#define KERNELS_X86_MODES_H

#include "kernels/kernels.h"
#include "kernels/x86/blocks.h"

/* The constants of x_called(). */
struct dti_mode {
    const void *constants;
    enum dti_round round;
    bool plain;
};

#define DTI_MODE_CASE(x, mode)                                                    \
    case DTI_ROUND_##mode:                                                        \
        if (how->plain)                                                           \
            x##_block(how->constants, dst, src, stream, DTI_ROUND_##mode, true);  \
        else                                                                      \
            x##_block(how->constants, dst, src, stream, DTI_ROUND_##mode, false); \
        break;

/* Rows list the modes they support, so the default case is nearest-even. */
#define DTI_MODES_CALLED(x, cases)                                                 \
    DTI_NOINLINE static void x##_called(const void *constants, unsigned char *dst, \
                                        const unsigned char *src, bool stream)     \
    {                                                                              \
        const struct dti_mode *const how = constants;                              \
        switch (how->round) {                                                      \
        default:                                                                   \
            cases                                                                  \
        }                                                                          \
    }

#define DTI_FAST_MODE(x, mode)                                            \
    DTI_INLINE void x##_##mode(const void *constants, unsigned char *dst, \
                               const unsigned char *src, bool stream)     \
    {                                                                     \
        x##_block(constants, dst, src, stream, DTI_ROUND_##mode, true);   \
    }

#define DTI_FAST_RUN(x, mode, units, in, out)                               \
    if (plain && how.round == DTI_ROUND_##mode) {                           \
        const struct dti_blocks fast = {x##_##mode, units, in, out, false}; \
        dti_blocks_run(fast, constants, dst, src, n, args->stream);         \
        return;                                                             \
    }

#define DTI_BY_MODE(x, fast, units, in, out)                                                       \
    static void x##_by_mode(const void *constants, const struct dti_kernel_args *args, bool plain, \
                            void *dst, const void *src, size_t n)                                  \
    {                                                                                              \
        const struct dti_mode how = {constants, args->encoder->policy.round, plain};               \
        const struct dti_blocks others = {x##_called, units, in, out, false};                      \
        fast dti_blocks_run(others, &how, dst, src, n, args->stream);                              \
    }

#define DTI_HARDWARE_CASES(x)      \
    DTI_MODE_CASE(x, NEAREST_EVEN) \
    DTI_MODE_CASE(x, ZERO) DTI_MODE_CASE(x, UP) DTI_MODE_CASE(x, DOWN)

#define DTI_SIX_CASES(x) DTI_HARDWARE_CASES(x) DTI_MODE_CASE(x, NEAREST_AWAY) DTI_MODE_CASE(x, ODD)

#define DTI_FAST_MODES(x, cases, units, in, out) \
    DTI_MODES_CALLED(x, cases)                   \
    DTI_FAST_MODE(x, NEAREST_EVEN)               \
    DTI_BY_MODE(x, DTI_FAST_RUN(x, NEAREST_EVEN, units, in, out), units, in, out)

#define DTI_ONE_MODE(x, units, in, out) \
    DTI_FAST_MODES(x, DTI_MODE_CASE(x, NEAREST_EVEN), units, in, out)
#define DTI_FOUR_MODES(x, units, in, out) DTI_FAST_MODES(x, DTI_HARDWARE_CASES(x), units, in, out)
#define DTI_SIX_MODES(x, units, in, out)  DTI_FAST_MODES(x, DTI_SIX_CASES(x), units, in, out)

#define DTI_WHOLE_MODES(x, units, in, out)                                                      \
    DTI_MODES_CALLED(x, DTI_HARDWARE_CASES(x))                                                  \
    DTI_FAST_MODE(x, NEAREST_EVEN)                                                              \
    DTI_FAST_MODE(x, ZERO)                                                                      \
    DTI_BY_MODE(                                                                                \
        x, DTI_FAST_RUN(x, NEAREST_EVEN, units, in, out) DTI_FAST_RUN(x, ZERO, units, in, out), \
        units, in, out)

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
