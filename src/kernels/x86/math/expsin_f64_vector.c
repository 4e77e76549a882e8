/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) of fp64 arrays with AVX2 and AVX-512, by the steps of lanes_expsin.h; four
 * registers in parallel, because each step depends on the previous one. */
#include "kernels/math/expsin_far.h"
#include "kernels/math/expsin_kernels.h"
#include "kernels/math/lanes_expsin.h"
#include "kernels/x86/vector.h"

#ifdef __AVX512BW__
typedef __m512d vector_pd;
#define BITS(numbers) _mm512_castpd_si512(numbers)
#define NUMBERS(bits) _mm512_castsi512_pd(bits)
#else
typedef __m256d vector_pd;
#define BITS(numbers) _mm256_castpd_si256(numbers)
#define NUMBERS(bits) _mm256_castsi256_pd(bits)
#endif

enum { LANES = VECTOR / 8, VECTORS = 4, STEP = VECTORS * LANES };

DTI_INLINE vector_pd all_of(double number)
{
    return VECTOR_BITS(set1_pd)(number);
}

DTI_INLINE vector_pd reduce(vector_pd x)
{
    const double pi[] = DTI_EXPSIN_PI_F64;
    const vector_pd integer = all_of(0x1.8p52);
    const vector_pd shifted = VECTOR_BITS(fmadd_pd)(x, all_of(pi[0]), integer);
    const vector_pd k = VECTOR_BITS(sub_pd)(shifted, integer);
    const vector_pd most = VECTOR_BITS(fnmadd_pd)(k, all_of(pi[1]), x);
    const vector_pd r = VECTOR_BITS(fnmadd_pd)(k, all_of(pi[2]), most);
    return NUMBERS(VECTOR_WHOLE(xor)(BITS(r), VECTOR_BITS(slli_epi64)(BITS(shifted), 63)));
}

DTI_INLINE vector_pd expsin(vector_pd x)
{
/* clang-format off */
#define FIRST(c) all_of(c);
#define TAIL(c)  tail = VECTOR_BITS(fmadd_pd)(tail, square, all_of(c));
#define SUM(c)   sum = VECTOR_BITS(fmadd_pd)(sum, s, all_of(c));
    const vector_pd r = reduce(x), square = VECTOR_BITS(mul_pd)(r, r);
    vector_pd tail = DTI_EXPSIN_SINE_F64(FIRST, TAIL)
    const vector_pd s = VECTOR_BITS(fmadd_pd)(VECTOR_BITS(mul_pd)(r, square), tail, r);
    vector_pd sum = DTI_EXPSIN_EXP_F64(FIRST, SUM)
    return VECTOR_BITS(fmadd_pd)(VECTOR_BITS(mul_pd)(s, s), sum, VECTOR_BITS(add_pd)(s, all_of(1)));
#undef FIRST
#undef TAIL
#undef SUM
    /* clang-format on */
}

/* One bit per lane that is beyond the limit or NaN. */
DTI_INLINE unsigned far_lanes(vector_pd x)
{
    const vector_pd magnitude = VECTOR_BITS(max_pd)(x, VECTOR_BITS(sub_pd)(all_of(0), x));
#ifdef __AVX512BW__
    return _mm512_cmp_pd_mask(magnitude, all_of(DTI_EXPSIN_LIMIT), _CMP_NLE_UQ);
#else
    const vector_pd far = _mm256_cmp_pd(magnitude, all_of(DTI_EXPSIN_LIMIT), _CMP_NLE_UQ);
    return (unsigned)_mm256_movemask_pd(far);
#endif
}

/* Recomputes elements beyond the limit one by one. */
static __attribute__((noinline)) void repair(double result[STEP], const double argument[STEP])
{
    for (int i = 0; i < STEP; i++) {
        if (!dti_lane_expsin_takes(argument[i]))
            result[i] = dti_expsin_far(argument[i]);
    }
}

/* Processes STEP elements; dst may be src. */
DTI_INLINE void step(unsigned char *dst, const unsigned char *src)
{
    vector_pd x[VECTORS], y[VECTORS];
    unsigned far = 0;
    for (int i = 0; i < VECTORS; i++)
        x[i] = NUMBERS(load_vector(src + i * VECTOR));
    for (int i = 0; i < VECTORS; i++)
        far |= far_lanes(x[i]);
    for (int i = 0; i < VECTORS; i++)
        y[i] = expsin(x[i]);
    if (far) {
        double argument[STEP], result[STEP];
        for (int i = 0; i < VECTORS; i++) {
            VECTOR_BITS(storeu_pd)(argument + i * LANES, x[i]);
            VECTOR_BITS(storeu_pd)(result + i * LANES, y[i]);
        }
        repair(result, argument);
        memcpy(dst, result, sizeof result);
        return;
    }
    for (int i = 0; i < VECTORS; i++)
        store_vector(dst + i * VECTOR, BITS(y[i]), false);
}

void VECTOR_NAME(dti_expsin_fp64)(void *dst, const void *src, size_t n)
{
    const unsigned char *const in = src;
    unsigned char *const out = dst;
    size_t at = 0;
    for (; n - at >= STEP; at += STEP)
        step(out + 8 * at, in + 8 * at);
    if (at < n) {
        unsigned char rest[8 * STEP] = {0};
        memcpy(rest, in + 8 * at, 8 * (n - at));
        step(rest, rest);
        memcpy(out + 8 * at, rest, 8 * (n - at));
    }
}
