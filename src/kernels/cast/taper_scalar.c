/* SPDX-License-Identifier: MIT
 *
 * Casts to and from formats whose precision depends on the exponent (core/code/taper.h). The lanes
 * of the other floats shift every significand by one amount; here each binade has its own, from a
 * table that is made per call, and the codes are a table too. Portable; decoding from 8 bits is
 * DTI_OP_TABLE, as for all formats. */
#include <string.h>

#include "core/code/taper.h"
#include "kernels/kernels.h"
#include "kernels/lanes_piece.h"

enum { BINADES = 128, PLACES = 256 };

struct tables {
    int32_t first; /* exponent of the smallest number */
    int32_t count; /* binades */
    uint64_t max;  /* place of the largest finite number */
    bool posit;    /* codes are places, in two's complement; nothing overflows or becomes zero */
    struct {
        uint16_t place; /* of the first number at or above the power of two */
        int8_t man_bits;
        uint8_t above; /* binades above the run's first one */
    } binade[BINADES];
    uint8_t code[PLACES]; /* by place; not for posits */
};

static void fill_codes(struct tables *ret, const struct dti_taper *run)
{
    const int32_t last = run->last - run->first;
    for (int32_t i = 0; i <= last; i++) {
        const int32_t up = i << run->man_bits;
        const int32_t at = (run->down ? last - i : i) << run->man_bits;
        for (int32_t m = 0; m < 1 << run->man_bits; m++)
            ret->code[run->place + up + m] = (uint8_t)(run->code + at + m);
    }
}

static void fill(struct tables *ret, const struct dti_format *format)
{
    size_t count;
    const struct dti_taper *run = dti_taper_runs(format, &count);
    ret->posit = format->specials == DTI_SPECIALS_POSIT;
    ret->first = run->first;
    ret->count = 0;
    ret->code[0] = 0;
    for (; count > 0; count--, run++) {
        for (int32_t i = 0; i <= run->last - run->first; i++) {
            ret->binade[ret->count].place = run->place;
            ret->binade[ret->count].above = (uint8_t)i;
            ret->binade[ret->count++].man_bits = run->man_bits;
        }
        if (!ret->posit)
            fill_codes(ret, run);
    }
    uint64_t max = 0;
    (void)dti_code_max(format, &max);
    ret->max = dti_taper_place(format, max);
}

/* A positive number below the smallest one, 1.fraction x 2^exponent, as a fraction of it. */
DTI_LANE uint64_t tiny_cut(const struct tables *t, int32_t exponent, uint64_t fraction)
{
    const uint32_t shift = (uint32_t)(t->first - exponent - 1);
    const uint64_t significand = UINT64_C(1) << 63 | fraction >> 1;
    if (shift > 63)
        return 1;
    return significand >> shift | ((significand & (dti_low_bits(shift))) != 0 || (fraction & 1));
}

/* The code of a place after rounding; cut: what rounding discards is not 0. */
DTI_LANE uint32_t code_at(const struct tables *t, const struct dti_encoder *e, uint32_t place,
                          bool cut, uint32_t up, uint32_t negative)
{
    const bool beyond = place + up > t->max || (t->posit && cut && place >= t->max);
    place += up;
    if (beyond)
        return (uint32_t)e->overflow[negative];
    if (t->posit) {
        place = place == 0 ? 1 : place;
        return negative != 0 ? 0 - place : place;
    }
    const uint32_t code = t->code[place];
    return code == 0 ? (uint32_t)e->zero[negative] : code | (negative << (e->format.width - 1));
}

/* Rounds 1.fraction x 2^exponent: fraction is left-aligned, and its last bit is only set if more
 * follows. */
DTI_LANE uint32_t code_of(const struct tables *t, const struct dti_encoder *e, int32_t exponent,
                          uint64_t fraction, uint32_t negative, enum dti_round round,
                          uint32_t random)
{
    const int32_t at = exponent - t->first;
    uint64_t place = 0, cut;
    if (at >= t->count)
        return (uint32_t)e->overflow[negative];
    if (at < 0) {
        cut = tiny_cut(t, exponent, fraction);
    } else {
        /* (binades above the run's first one + fraction) x 2^man_bits */
        const int man_bits = t->binade[at].man_bits;
        const uint64_t above = t->binade[at].above;
        const unsigned up = man_bits > 0 ? (unsigned)man_bits : 0,
                       down = man_bits < 0 ? (unsigned)-man_bits : 0;
        const uint64_t whole = (above << up) + (fraction >> 1 >> (63 - up));
        const uint64_t part = fraction << up;
        place = t->binade[at].place + (whole >> down);
        cut = down == 0 ? part
                        : whole << (64 - down) | part >> down | ((part & dti_low_bits(down)) != 0);
    }
    const uint64_t up = dti_lane_up64(round, cut, place & 1, negative, random);
    return code_at(t, e, (uint32_t)place, cut != 0, (uint32_t)up, negative);
}

DTI_LANE uint32_t f32_code(const struct tables *t, const struct dti_encoder *e, uint32_t bits,
                           enum dti_round round, uint32_t random)
{
    const uint32_t a = bits & UINT32_C(0x7fffffff), inf = UINT32_C(0x7f800000);
    const uint32_t negative = bits >> 31;
    if (a >= inf)
        return (uint32_t)(a > inf ? e->nan[negative] : e->inf[negative]);
    if (a == 0)
        return (uint32_t)e->zero[negative];
    /* (binades above the run's first one + fraction) x 2^man_bits, in 32 bits */
    const int32_t at = (int32_t)(a >> 23) - 127 - t->first;
    if (at >= 0 && at < t->count) {
        const uint32_t steps = (uint32_t)t->binade[at].above << 23 | (a & UINT32_C(0x7fffff));
        const uint32_t drop = (uint32_t)(23 - t->binade[at].man_bits);
        const uint32_t place = t->binade[at].place + (steps >> drop), cut = steps << (32 - drop);
        return code_at(t, e, place, cut != 0,
                       dti_lane_up32(round, cut, place & 1, negative, random), negative);
    }
    /* subnormals are so far below the smallest number that only their being nonzero counts */
    return code_of(t, e, (int32_t)(a >> 23) - 127, (uint64_t)a << 41, negative, round, random);
}

DTI_LANE uint32_t f64_code(const struct tables *t, const struct dti_encoder *e, uint64_t bits,
                           enum dti_round round, uint32_t random)
{
    const uint64_t a = bits & ~(UINT64_C(1) << 63), inf = UINT64_C(0x7ff) << 52;
    const uint32_t negative = (uint32_t)(bits >> 63);
    if (a >= inf)
        return (uint32_t)(a > inf ? e->nan[negative] : e->inf[negative]);
    if (a == 0)
        return (uint32_t)e->zero[negative];
    return code_of(t, e, (int32_t)(a >> 52) - 1023, a << 12, negative, round, random);
}

DTI_LANE uint32_t integer_code(const struct tables *t, const struct dti_encoder *e,
                               uint64_t magnitude, uint32_t negative, enum dti_round round,
                               uint32_t random)
{
    int32_t exponent = 63;
    if (magnitude == 0)
        return (uint32_t)e->zero[0];
    for (; magnitude >> 63 == 0; exponent--)
        magnitude <<= 1;
    return code_of(t, e, exponent, magnitude << 1, negative, round, random);
}

DTI_LANE uint32_t i64_code(const struct tables *t, const struct dti_encoder *e, uint64_t bits,
                           enum dti_round round, uint32_t random)
{
    const uint64_t minus = 0 - (bits >> 63);
    return integer_code(t, e, (bits ^ minus) - minus, (uint32_t)(bits >> 63), round, random);
}

DTI_LANE uint32_t u64_code(const struct tables *t, const struct dti_encoder *e, uint64_t bits,
                           enum dti_round round, uint32_t random)
{
    return integer_code(t, e, bits, 0, round, random);
}

/* Encodes n elements of `width` bits with name_code(). */
#define ENCODE(name, width)                                                                       \
    DTI_LANE void name##_loop(const struct tables *t, const struct dti_encoder *encoder,          \
                              uint32_t *restrict codes, const unsigned char *restrict src,        \
                              size_t n, const uint32_t *restrict random, enum dti_round round)    \
    {                                                                                             \
        const struct dti_encoder e = *encoder;                                                    \
        for (size_t i = 0; i < n; i++)                                                            \
            codes[i] = name##_code(t, &e, dti_lane_load##width(src + width / 8 * i), round,       \
                                   round == DTI_ROUND_STOCHASTIC ? random[i] : 0);                \
    }                                                                                             \
    void dti_encode_##name##_taper_scalar(const struct dti_kernel_args *args, void *restrict dst, \
                                          const void *restrict src, size_t n)                     \
    {                                                                                             \
        const struct dti_encoder *const e = args->encoder;                                        \
        struct tables tables;                                                                     \
        uint32_t block[DTI_PIECE_RANDOM], codes[DTI_PIECE];                                       \
        fill(&tables, &e->format);                                                                \
        for (size_t done = 0; done < n; done += DTI_PIECE) {                                      \
            const size_t count = n - done < DTI_PIECE ? n - done : DTI_PIECE;                     \
            unsigned char *const to = (unsigned char *)dst + e->container * done;                 \
            const unsigned char *const from = (const unsigned char *)src + width / 8 * done;      \
            const uint32_t *const random =                                                        \
                dti_piece_random(block, &e->policy, args->index + done, count);                   \
            DTI_LANES_BY_ROUND(e->policy.round, name##_loop, &tables, e, codes, from, count,      \
                               random)                                                            \
            dti_piece_narrow32(to, codes, count, e->container, 0);                                \
        }                                                                                         \
    }
ENCODE(f32, 32)
ENCODE(f64, 64)
ENCODE(i64, 64)
ENCODE(u64, 64)

/* Decodes n codes to containers of `width` bits. */
#define DECODE(name, width, hub)                                                                  \
    void dti_decode_##name##_taper_scalar(const struct dti_kernel_args *args, void *restrict dst, \
                                          const void *restrict src, size_t n)                     \
    {                                                                                             \
        const struct dti_policy exact = {.round = DTI_ROUND_NEAREST_EVEN};                        \
        const struct dti_decoder *const d = args->decoder;                                        \
        uint32_t codes[DTI_PIECE];                                                                \
        for (size_t done = 0; done < n; done += DTI_PIECE) {                                      \
            const size_t count = n - done < DTI_PIECE ? n - done : DTI_PIECE;                     \
            dti_piece_widen32(codes, (const unsigned char *)src + d->container * done, count,     \
                              d->container);                                                      \
            for (size_t i = 0; i < count; i++) {                                                  \
                struct dti_value value;                                                           \
                struct dti_outcome outcome;                                                       \
                dti_decode(&d->format, codes[i], &value);                                         \
                dti_encode(dti_format_get(hub), &value, &exact, 0, &outcome);                     \
                const uint##width##_t bits = (uint##width##_t)outcome.code;                       \
                memcpy((unsigned char *)dst + width / 8 * (done + i), &bits, sizeof bits);        \
            }                                                                                     \
        }                                                                                         \
    }
DECODE(f32, 32, DTI_FP32)
DECODE(f64, 64, DTI_FP64)
