/* SPDX-License-Identifier: MIT
 *
 * Encodes arrays of fp32, fp64, int64 and uint64 to any format that their kernels support.
 * Compiled once per level. */
#include "kernels/cast/lanes_float.h"
#include "kernels/cast/lanes_integer.h"
#include "kernels/kernels.h"
#include "kernels/lanes_piece.h"

/* Encodes one piece of an array. */
typedef void piece_fn(const struct dti_encoder *e, unsigned char *dst, const unsigned char *src,
                      size_t n, uint64_t index);

static void encode(const struct dti_kernel_args *args, unsigned char *dst, const unsigned char *src,
                   size_t n, size_t bytes, piece_fn *piece)
{
    const struct dti_encoder *e = args->encoder;
    for (size_t done = 0; done < n; done += DTI_PIECE) {
        const size_t count = n - done < DTI_PIECE ? n - done : DTI_PIECE;
        piece(e, dst + e->container * done, src + bytes * done, count, args->index + done);
    }
}

/* Defines name_loop(): encodes elements of `from` bits to `width` bits with code_of(). */
#define LOOP(name, width, from, code_of)                                                          \
    DTI_LANE void name##_loop(const struct dti_encoder *encoder, uint##width##_t *restrict codes, \
                              const unsigned char *restrict src, size_t n,                        \
                              const uint32_t *restrict random, enum dti_round round)              \
    {                                                                                             \
        const struct dti_encoder e = *encoder;                                                    \
        for (size_t i = 0; i < n; i++)                                                            \
            codes[i] = code_of(&e, dti_lane_load##from(src + from / 8 * i), round,                \
                               round == DTI_ROUND_STOCHASTIC ? random[i] : 0);                    \
    }
#define PIECE(name, width, from, code_of, shift)                                                \
    LOOP(name, width, from, code_of)                                                            \
    static void name(const struct dti_encoder *e, unsigned char *dst, const unsigned char *src, \
                     size_t n, uint64_t index)                                                  \
    {                                                                                           \
        uint32_t block[DTI_PIECE_RANDOM];                                                       \
        const uint32_t *const random = dti_piece_random(block, &e->policy, index, n);           \
        uint##width##_t codes[DTI_PIECE];                                                       \
        DTI_LANES_BY_ROUND(e->policy.round, name##_loop, e, codes, src, n, random)              \
        dti_piece_narrow##width(dst, codes, n, e->container, shift);                            \
    }
/* Nothing is rounded. */
#define EXACT_PIECE(name, width, from, code_of)                                                 \
    LOOP(name, width, from, code_of)                                                            \
    static void name(const struct dti_encoder *e, unsigned char *dst, const unsigned char *src, \
                     size_t n, uint64_t index)                                                  \
    {                                                                                           \
        uint##width##_t codes[DTI_PIECE];                                                       \
        (void)index;                                                                            \
        name##_loop(e, codes, src, n, NULL, DTI_ROUND_ZERO);                                    \
        dti_piece_narrow##width(dst, codes, n, e->container, 0);                                \
    }
/* nonzero: a condition on the element's bits. */
#define BOOL_PIECE(name, from, nonzero)                                           \
    static void name(const struct dti_encoder *e, unsigned char *restrict dst,    \
                     const unsigned char *restrict src, size_t n, uint64_t index) \
    {                                                                             \
        (void)e;                                                                  \
        (void)index;                                                              \
        for (size_t i = 0; i < n; i++) {                                          \
            const uint##from##_t bits = dti_lane_load##from(src + from / 8 * i);  \
            dst[i] = nonzero;                                                     \
        }                                                                         \
    }

/* fp32 to int64 and uint64 */
DTI_LANE uint64_t wide_code(const struct dti_encoder *e, uint32_t bits, enum dti_round round,
                            uint32_t random)
{
    return dti_lane_integer_f64(e, dti_lane_widen_f32(bits), round, random);
}

#define OF_INTEGER(name, lane, has_sign, ...)                                                \
    DTI_LANE uint64_t name(const struct dti_encoder *e, uint64_t bits, enum dti_round round, \
                           uint32_t random)                                                  \
    {                                                                                        \
        (void)round;                                                                         \
        (void)random;                                                                        \
        return lane(e, dti_lane_magnitude(bits, has_sign),                                   \
                    dti_lane_negative(bits, has_sign) __VA_ARGS__);                          \
    }
#define AND ,
OF_INTEGER(i64_float_code, dti_lane_float_u64, true, AND round AND random)
OF_INTEGER(u64_float_code, dti_lane_float_u64, false, AND round AND random)
OF_INTEGER(i64_integer_code, dti_lane_integer_u64, true, )
OF_INTEGER(u64_integer_code, dti_lane_integer_u64, false, )

PIECE(f32_to_float, 32, 32, dti_lane_float_f32, e->code_shift)
PIECE(f32_to_integer, 32, 32, dti_lane_integer_f32, 0)
PIECE(f32_to_wide, 64, 32, wide_code, 0)
BOOL_PIECE(f32_to_bool, 32, (bits & UINT32_C(0x7fffffff)) != 0)
PIECE(f64_to_float, 64, 64, dti_lane_float_f64, e->code_shift)
PIECE(f64_to_integer, 64, 64, dti_lane_integer_f64, 0)
BOOL_PIECE(f64_to_bool, 64, bits << 1 != 0)
PIECE(i64_to_float, 64, 64, i64_float_code, e->code_shift)
PIECE(u64_to_float, 64, 64, u64_float_code, e->code_shift)
EXACT_PIECE(i64_to_integer, 64, 64, i64_integer_code)
EXACT_PIECE(u64_to_integer, 64, 64, u64_integer_code)
BOOL_PIECE(i64_to_bool, 64, bits != 0)

#define ENCODE(type, bytes, to_bool, to_integer, to_float)                                         \
    void DTI_LANES_NAME(dti_encode_##type)(const struct dti_kernel_args *args, void *restrict dst, \
                                           const void *restrict src, size_t n)                     \
    {                                                                                              \
        const struct dti_encoder *e = args->encoder;                                               \
        encode(args, dst, src, n, bytes,                                                           \
               e->format.kind == DTI_KIND_BOOL     ? to_bool                                       \
               : dti_format_is_integer(&e->format) ? to_integer                                    \
                                                   : to_float);                                    \
    }
ENCODE(f32, 4, f32_to_bool, e->container <= 4 ? f32_to_integer : f32_to_wide, f32_to_float)
ENCODE(f64, 8, f64_to_bool, f64_to_integer, f64_to_float)
ENCODE(i64, 8, i64_to_bool, i64_to_integer, i64_to_float)
ENCODE(u64, 8, i64_to_bool, u64_to_integer, u64_to_float)
