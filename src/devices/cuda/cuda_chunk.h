/* SPDX-License-Identifier: MIT
 *
 * Fast paths for rounding to nearest even and for exact conversions. They work on chunks whose
 * wider side has 16 bytes: neighbouring threads take neighbouring chunks, and four loads are in
 * flight before the first store. A chunk is converted via fp32 bits: the source is widened to
 * them, then rounded to the destination. Source and destination formats are constants where this
 * is inlined. Chunks with NaN, infinities, or overflow of fp16 and bf16 are redone by the slow
 * path. */
#ifndef DEVICES_CUDA_CUDA_CHUNK_H
#define DEVICES_CUDA_CUDA_CHUNK_H

#include "devices/cuda/cuda_convert.h"
#include "devices/cuda/cuda_element.h"

enum dti_chunk_source { DTI_FROM_FP32, DTI_FROM_FP16, DTI_FROM_BF16, DTI_FROM_FP64 };
enum dti_chunk_result {
    DTI_TO_FP64, /* from fp32 */
    DTI_TO_FP32,
    DTI_TO_FP16,
    DTI_TO_BF16,
    DTI_TO_SMALL,      /* DTI_DOMAIN_SMALL with a minus zero */
    DTI_TO_SMALL_FNUZ, /* DTI_DOMAIN_SMALL without a minus zero */
};

enum { DTI_CHUNKS_AT_ONCE = 4 };

DTI_LANE unsigned dti_source_bytes(enum dti_chunk_source source)
{
    return source == DTI_FROM_FP64 ? 8 : source == DTI_FROM_FP32 ? 4 : 2;
}

DTI_LANE unsigned dti_result_bytes(enum dti_chunk_result result)
{
    return result == DTI_TO_FP64                            ? 8
           : result == DTI_TO_FP32                          ? 4
           : result == DTI_TO_FP16 || result == DTI_TO_BF16 ? 2
                                                            : 1;
}

/* A small format's parameters, precomputed for the rounding below. */
struct dti_near {
    uint32_t drop, rebias, smallest_normal, magic;
    uint32_t overflow, sign_bit, sign_shift;
};

DTI_LANE struct dti_near dti_near_of(const struct dti_encoder *e)
{
    struct dti_near near;
    const uint32_t field = (uint32_t)(e->min_exponent + 127);
    near.drop = 23 - e->man_bits;
    near.smallest_normal = field << 23;
    near.rebias = ((field - 1) << 23) - ((UINT32_C(1) << near.drop >> 1) - 1);
    near.magic = (field + near.drop) << 23;
    near.overflow = (uint32_t)e->overflow[0];
    near.sign_bit = (uint32_t)e->sign_bit;
    near.sign_shift = 32U - e->format.width;
    return near;
}

/* Numbers in the format's normal binades round as integers: to nearest even by the lowest kept
 * bit. Smaller ones round by adding a power of two whose last bit is the subnormals' last bit.
 * An overflow gets the overflow code: the largest finite one or the next. */
DTI_LANE uint32_t dti_near_small(const struct dti_near *near, uint32_t bits, bool minus_zero)
{
    const uint32_t a = bits & UINT32_C(0x7fffffff);
    const uint32_t normal = (a - near->rebias + (a >> near->drop & 1)) >> near->drop;
    const float sum = dti_lane_f32(a) + dti_lane_f32(near->magic);
    uint32_t magnitude = a < near->smallest_normal ? dti_lane_bits_f32(sum) - near->magic : normal;
    magnitude = dti_lane_min32(magnitude, near->overflow);
    const uint32_t sign = bits >> near->sign_shift & near->sign_bit;
    return magnitude | (minus_zero || magnitude != 0 ? sign : 0);
}

/* Rounds to nearest even; the result must not overflow. */
DTI_LANE uint32_t dti_near_bf16(uint32_t bits)
{
    return (bits + UINT32_C(0x7fff) + (bits >> 16 & 1)) >> 16;
}

DTI_LANE uint64_t dti_word_pair(const uint32_t w[DTI_WORDS], unsigned i)
{
    return (uint64_t)w[2 * i + 1] << 32 | w[2 * i];
}

/* fp64 to fp32 rounded to odd. */
DTI_LANE uint32_t dti_odd_fp64(uint64_t bits)
{
    const uint32_t cut = dti_cut_fp64(bits);
    return cut | (dti_widen_fp32(cut) != bits);
}

/* Widens an element of the source to fp32 bits. */
DTI_LANE uint32_t dti_chunk_take(enum dti_chunk_source source, enum dti_chunk_result result,
                                 const uint32_t in[DTI_WORDS], unsigned i)
{
    switch (source) {
    case DTI_FROM_FP32:
        break;
    case DTI_FROM_FP16:
        return dti_widen_fp16(dti_word_get(in, 2, i));
    case DTI_FROM_BF16:
        return dti_word_get(in, 2, i) << 16;
    case DTI_FROM_FP64:
        return result == DTI_TO_FP32 ? dti_near_fp64(dti_word_pair(in, i))
                                     : dti_odd_fp64(dti_word_pair(in, i));
    }
    return in[i];
}

DTI_LANE void dti_chunk_give(enum dti_chunk_result result, const struct dti_near *near,
                             uint32_t out[DTI_WORDS], unsigned i, uint32_t bits)
{
    uint64_t wide;
    switch (result) {
    case DTI_TO_FP64:
        wide = dti_widen_fp32(bits);
        out[2 * i] = (uint32_t)wide;
        out[2 * i + 1] = (uint32_t)(wide >> 32);
        break;
    case DTI_TO_FP32:
        out[i] = bits;
        break;
    case DTI_TO_FP16:
        dti_word_put(out, 2, i, dti_near_fp16(bits));
        break;
    case DTI_TO_BF16:
        dti_word_put(out, 2, i, dti_near_bf16(bits));
        break;
    case DTI_TO_SMALL:
        dti_word_put(out, 1, i, dti_near_small(near, bits, true));
        break;
    case DTI_TO_SMALL_FNUZ:
        dti_word_put(out, 1, i, dti_near_small(near, bits, false));
        break;
    }
}

/* The magnitude from which elements are left to dti_elements(): those that round to infinity,
 * infinities, or NaN. */
DTI_LANE uint32_t dti_chunk_limit(enum dti_chunk_source source, enum dti_chunk_result result)
{
    switch (result) {
    case DTI_TO_FP16:
        return UINT32_C(0x477ff000);
    case DTI_TO_BF16:
        return UINT32_C(0x7f7f8000);
    case DTI_TO_FP32:
        return UINT32_C(0x7f800000) + (source != DTI_FROM_FP64);
    case DTI_TO_FP64:
        return UINT32_C(0x7f800001);
    case DTI_TO_SMALL:
    case DTI_TO_SMALL_FNUZ:
        break;
    }
    return UINT32_C(0x7f800000);
}

struct dti_chunk_path {
    enum dti_operation op, then;
    enum dti_chunk_source source;
    enum dti_chunk_result result;
};

/* Returns false if the chunk has elements that need dti_elements(). */
DTI_LANE bool dti_chunk_convert(struct dti_chunk_path path, const struct dti_near *near,
                                unsigned per, const uint32_t in[DTI_WORDS], uint32_t out[DTI_WORDS])
{
    uint32_t largest = 0;
    DTI_FLAT
    for (unsigned i = 0; i < DTI_WORDS; i++)
        out[i] = 0;
    DTI_FLAT
    for (unsigned i = 0; i < per; i++) {
        const uint32_t bits = dti_chunk_take(path.source, path.result, in, i);
        largest = dti_lane_max32(largest, bits & UINT32_C(0x7fffffff));
        dti_chunk_give(path.result, near, out, i, bits);
    }
    return largest < dti_chunk_limit(path.source, path.result);
}

/* Converts chunks c, c + step, ...: `count` of them, a constant. Bit k of the result: chunk k
 * was not stored. */
DTI_LANE uint32_t dti_chunk_move(const struct dti_gpu_cast_args *args, struct dti_chunk_path path,
                                 const struct dti_near *near, uint64_t c, uint64_t step,
                                 unsigned count)
{
    const unsigned from = dti_source_bytes(path.source), to = dti_result_bytes(path.result);
    const unsigned per = 16 / (from > to ? from : to);
    uint32_t in[DTI_CHUNKS_AT_ONCE][DTI_WORDS], out[DTI_WORDS], left = 0;
    DTI_FLAT
    for (unsigned k = 0; k < count; k++)
        dti_load(args->src + (c + k * step) * (from * per), from * per, in[k]);
    DTI_FLAT
    for (unsigned k = 0; k < count; k++) {
        if (dti_chunk_convert(path, near, per, in[k], out))
            dti_store(args->dst + (c + k * step) * (to * per), to * per, out);
        else
            left |= 1U << k;
    }
    return left;
}

DTI_LANE void dti_run_chunks(const struct dti_gpu_cast_args *args, const struct dti_thread *thread,
                             struct dti_chunk_path path)
{
    const unsigned from = dti_source_bytes(path.source), to = dti_result_bytes(path.result);
    const unsigned per = 16 / (from > to ? from : to);
    const struct dti_near near = dti_near_of(&args->encoder);
    const bool aligned = args->src % (from * per) == 0 && args->dst % (to * per) == 0;
    const uint64_t chunks = aligned ? args->n / per : 0, step = thread->count;
    const uint64_t most = (DTI_CHUNKS_AT_ONCE - 1) * step;
    uint64_t next = thread->index;
    bool done;
    do {
        uint64_t c = next;
        uint32_t left = 0;
        for (; left == 0 && next + most < chunks; next += DTI_CHUNKS_AT_ONCE * step) {
            c = next;
            left = dti_chunk_move(args, path, &near, c, step, DTI_CHUNKS_AT_ONCE);
        }
        for (; left == 0 && next < chunks; next += step) {
            c = next;
            left = dti_chunk_move(args, path, &near, c, step, 1);
        }
        /* One by one: the chunks that were not stored, and finally the incomplete one. */
        done = left == 0;
        do {
            const uint64_t begin = done ? chunks * per + thread->index : c * per;
            const uint64_t end = done ? args->n : (left & 1) != 0 ? begin + per : 0;
            for (uint64_t i = begin; i < end; i += done ? step : 1) {
                const uint64_t word = dti_load_number(args->src + i * from, from);
                dti_store_number(args->dst + i * to, to,
                                 dti_elements(args, path.op, path.then, DTI_ROUND_NEAREST_EVEN,
                                              word, args->index + i));
            }
            left >>= 1;
            c += step;
        } while (left != 0);
    } while (!done);
}

#endif
