/* SPDX-License-Identifier: MIT
 *
 * Benchmark kernels: exp(sin x), sums and dot products. A partial sum takes every `parts`-th
 * chunk of 16 bytes, with one accumulator for each position in the chunk, so the result depends
 * on `parts` but not on the grid. */
#ifndef DEVICES_CUDA_CUDA_MATH_H
#define DEVICES_CUDA_CUDA_MATH_H

#include "devices/cuda/cuda_convert.h"
#include "devices/cuda/cuda_memory.h"

DTI_LANE unsigned dti_math_bytes(enum dti_dtype dtype)
{
    return dtype == DTI_FP64 ? 8 : dtype == DTI_FP32 ? 4 : 2;
}

/* Element i of a chunk of FP32, FP16 or BF16. */
DTI_LANE float dti_math_take(enum dti_dtype dtype, const uint32_t w[DTI_WORDS], unsigned i)
{
    if (dtype == DTI_FP32)
        return dti_lane_f32(w[i]);
    const uint32_t code = dti_word_get(w, 2, i);
    return dti_lane_f32(dtype == DTI_FP16 ? dti_widen_fp16(code) : code << 16);
}

DTI_LANE double dti_math_take_f64(const uint32_t w[DTI_WORDS], unsigned i)
{
    return dti_lane_f64((uint64_t)w[2 * i + 1] << 32 | w[2 * i]);
}

/* Loads `count` elements at i; with one load if they form an aligned whole chunk. */
DTI_LANE void dti_math_load(uint64_t from, unsigned bytes, unsigned count, bool aligned,
                            uint32_t w[DTI_WORDS])
{
    const unsigned per = 16 / bytes;
    if (aligned && count == per) {
        dti_load(from, 16, w);
        return;
    }
    DTI_FLAT
    for (unsigned i = 0; i < DTI_WORDS; i++)
        w[i] = 0;
    DTI_FLAT
    for (unsigned i = 0; i < per; i++) {
        if (i < count) {
            const uint64_t code = dti_load_number(from + i * bytes, bytes);
            if (bytes == 8)
                w[2 * i + 1] = (uint32_t)(code >> 32);
            dti_word_put(w, bytes == 2 ? 2 : 4, bytes == 8 ? 2 * i : i, (uint32_t)code);
        }
    }
}

DTI_LANE unsigned dti_math_count(const struct dti_gpu_math_args *args, uint64_t first, unsigned per)
{
    return args->n - first < per ? (unsigned)(args->n - first) : per;
}

DTI_LANE void dti_math_expsin(enum dti_dtype dtype, uint32_t w[DTI_WORDS])
{
    uint32_t out[DTI_WORDS] = {0, 0, 0, 0};
    const unsigned per = 16 / dti_math_bytes(dtype);
    DTI_FLAT
    for (unsigned i = 0; i < per; i++) {
        if (dtype == DTI_FP64) {
            const uint64_t bits = dti_lane_bits_f64(dti_lane_expsin_f64(dti_math_take_f64(w, i)));
            out[2 * i] = (uint32_t)bits;
            out[2 * i + 1] = (uint32_t)(bits >> 32);
        } else if (dtype == DTI_FP32) {
            out[i] = dti_lane_expsin_code_f32(w[i]);
        } else {
            const uint16_t code = (uint16_t)dti_word_get(w, 2, i);
            dti_word_put(out, 2, i,
                         dtype == DTI_FP16 ? dti_lane_expsin_f16(code)
                                           : dti_lane_expsin_bf16(code));
        }
    }
    DTI_FLAT
    for (unsigned i = 0; i < DTI_WORDS; i++)
        w[i] = out[i];
}

DTI_LANE void dti_run_expsin_of(const struct dti_gpu_math_args *args,
                                const struct dti_thread *thread, enum dti_dtype dtype)
{
    const unsigned bytes = dti_math_bytes(dtype), per = 16 / bytes;
    const bool aligned = (args->a | args->dst) % 16 == 0;
    const uint64_t chunks = (args->n + per - 1) / per;
    for (uint64_t c = thread->index; c < chunks; c += thread->count) {
        const unsigned count = dti_math_count(args, c * per, per);
        const uint64_t to = args->dst + c * 16;
        uint32_t w[DTI_WORDS];
        dti_math_load(args->a + c * 16, bytes, count, aligned, w);
        dti_math_expsin(dtype, w);
        if (aligned && count == per) {
            dti_store(to, 16, w);
            continue;
        }
        DTI_FLAT
        for (unsigned i = 0; i < per; i++) {
            const uint64_t code = bytes == 8 ? (uint64_t)w[2 * i + 1] << 32 | w[2 * i]
                                             : dti_word_get(w, bytes == 2 ? 2 : 4, i);
            if (i < count)
                dti_store_number(to + i * bytes, bytes, code);
        }
    }
}

DTI_LANE void dti_run_expsin(const struct dti_gpu_math_args *args, const struct dti_thread *thread)
{
    switch (args->dtype) {
    case DTI_FP64:
        dti_run_expsin_of(args, thread, DTI_FP64);
        break;
    case DTI_FP32:
        dti_run_expsin_of(args, thread, DTI_FP32);
        break;
    case DTI_FP16:
        dti_run_expsin_of(args, thread, DTI_FP16);
        break;
    default:
        dti_run_expsin_of(args, thread, DTI_BF16);
        break;
    }
}

/* Computes partial sum p. product: a constant: dot product, otherwise sum. Incomplete chunks are
 * padded with zeros. */
DTI_LANE float dti_math_part(const struct dti_gpu_math_args *args, enum dti_dtype dtype, uint64_t p,
                             bool product)
{
    enum { MOST = 8 };
    const unsigned bytes = dti_math_bytes(dtype), per = 16 / bytes;
    const uint64_t chunks = (args->n + per - 1) / per;
    const bool aligned = (args->a | (product ? args->b : 0)) % 16 == 0;
    float sum[MOST] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (uint64_t c = p; c < chunks; c += args->parts) {
        const unsigned count = dti_math_count(args, c * per, per);
        uint32_t a[DTI_WORDS], b[DTI_WORDS];
        dti_math_load(args->a + c * 16, bytes, count, aligned, a);
        if (product)
            dti_math_load(args->b + c * 16, bytes, count, aligned, b);
        DTI_FLAT
        for (unsigned i = 0; i < per; i++)
            sum[i] = product ? dti_fma_f32(dti_math_take(dtype, a, i), dti_math_take(dtype, b, i),
                                           sum[i])
                             : sum[i] + dti_math_take(dtype, a, i);
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

DTI_LANE double dti_math_part_f64(const struct dti_gpu_math_args *args, uint64_t p, bool product)
{
    enum { PER = 2 };
    const uint64_t chunks = (args->n + PER - 1) / PER;
    const bool aligned = (args->a | (product ? args->b : 0)) % 16 == 0;
    double sum[PER] = {0, 0};
    for (uint64_t c = p; c < chunks; c += args->parts) {
        const unsigned count = dti_math_count(args, c * PER, PER);
        uint32_t a[DTI_WORDS], b[DTI_WORDS];
        dti_math_load(args->a + c * 16, 8, count, aligned, a);
        if (product)
            dti_math_load(args->b + c * 16, 8, count, aligned, b);
        DTI_FLAT
        for (unsigned i = 0; i < PER; i++)
            sum[i] = product ? dti_fma_f64(dti_math_take_f64(a, i), dti_math_take_f64(b, i), sum[i])
                             : sum[i] + dti_math_take_f64(a, i);
    }
    return sum[0] + sum[1];
}

DTI_LANE void dti_run_parts(const struct dti_gpu_math_args *args, const struct dti_thread *thread,
                            bool product)
{
    for (uint64_t p = thread->index; p < args->parts; p += thread->count) {
        if (args->dtype == DTI_FP64) {
            const double sum = dti_math_part_f64(args, p, product);
            dti_store_number(args->dst + 8 * p, 8, dti_lane_bits_f64(sum));
        } else {
            const float sum = args->dtype == DTI_FP32   ? dti_math_part(args, DTI_FP32, p, product)
                              : args->dtype == DTI_FP16 ? dti_math_part(args, DTI_FP16, p, product)
                                                        : dti_math_part(args, DTI_BF16, p, product);
            dti_store_number(args->dst + 4 * p, 4, dti_lane_bits_f32(sum));
        }
    }
}

#endif
