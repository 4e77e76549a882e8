/* SPDX-License-Identifier: MIT
 *
 * The slow path: one element at a time, any format and policy. Implements each operation of a
 * plan on a container, and loops over arrays for one or two operations. */
#ifndef DEVICES_CUDA_CUDA_ELEMENT_H
#define DEVICES_CUDA_CUDA_ELEMENT_H

#include "devices/cuda/cuda_memory.h"

/* The random bits of an element; 0 if the rounding needs none. */
DTI_LANE uint32_t dti_element_random(const struct dti_policy *policy, enum dti_round round,
                                     uint64_t index)
{
    uint32_t random[4];
    if (round != DTI_ROUND_STOCHASTIC)
        return 0;
    dti_lane_random(policy->seed, policy->stream, index / 4, random);
    const uint32_t low = index % 2 != 0 ? random[1] : random[0];
    const uint32_t high = index % 2 != 0 ? random[3] : random[2];
    return index % 4 > 1 ? high : low;
}

DTI_LANE uint64_t dti_encode_f32(const struct dti_encoder *e, uint32_t bits, enum dti_round round,
                                 uint64_t index)
{
    if (e->format.kind == DTI_KIND_BOOL)
        return (bits & UINT32_C(0x7fffffff)) != 0;
    const uint32_t random = dti_element_random(&e->policy, round, index);
    if (!dti_format_is_integer(&e->format))
        return dti_lane_float_f32(e, bits, round, random) << e->code_shift;
    if (e->container <= 4)
        return dti_lane_integer_f32(e, bits, round, random);
    return dti_lane_integer_f64(e, dti_lane_widen_f32(bits), round, random);
}

/* Encodes infinities and NaN to a float format. */
DTI_LANE uint32_t dti_encode_special(const struct dti_encoder *e, uint32_t bits)
{
    const uint32_t a = bits & UINT32_C(0x7fffffff), minus = 0 - (bits >> 31);
    const uint32_t payload = a >> (23 - e->man_bits) & (uint32_t)e->nan_payload;
    return a > UINT32_C(0x7f800000) ? dti_lane_pick32(e->nan, minus) | payload
                                    : dti_lane_pick32(e->inf, minus);
}

DTI_LANE uint64_t dti_encode_f64(const struct dti_encoder *e, uint64_t bits, enum dti_round round,
                                 uint64_t index)
{
    if (e->format.kind == DTI_KIND_BOOL)
        return bits << 1 != 0;
    const uint32_t random = dti_element_random(&e->policy, round, index);
    if (dti_format_is_integer(&e->format))
        return dti_lane_integer_f64(e, bits, round, random);
    return dti_lane_float_f64(e, bits, round, random) << e->code_shift;
}

DTI_LANE uint64_t dti_encode_64(const struct dti_encoder *e, uint64_t bits, bool has_sign,
                                enum dti_round round, uint64_t index)
{
    const uint64_t magnitude = dti_lane_magnitude(bits, has_sign);
    const uint64_t negative = dti_lane_negative(bits, has_sign);
    if (e->format.kind == DTI_KIND_BOOL)
        return bits != 0;
    if (dti_format_is_integer(&e->format))
        return dti_lane_integer_u64(e, magnitude, negative);
    const uint32_t random = dti_element_random(&e->policy, round, index);
    return dti_lane_float_u64(e, magnitude, negative, round, random) << e->code_shift;
}

DTI_LANE uint32_t dti_decode_f32(const struct dti_decoder *d, uint32_t container)
{
    if (dti_format_is_integer(&d->format))
        return dti_lane_bits_f32((float)(int32_t)dti_lane_decode_i64(d, container));
    return dti_lane_decode_f32(d, container);
}

/* Integers of at most 53 bits, which convert to fp64 exactly. */
DTI_LANE uint64_t dti_decode_f64(const struct dti_decoder *d, uint64_t container)
{
    if (dti_format_is_integer(&d->format))
        return dti_lane_bits_f64((double)dti_lane_decode_i64(d, container));
    return dti_lane_decode_f64(d, container);
}

DTI_LANE uint64_t dti_odd_64(uint64_t bits, bool has_sign)
{
    const struct dti_encoder e = DTI_LANES_ODD_FP64;
    return dti_lane_float_u64(&e, dti_lane_magnitude(bits, has_sign),
                              dti_lane_negative(bits, has_sign), DTI_ROUND_ODD, 0);
}

DTI_LANE uint32_t dti_odd_f32(uint64_t bits)
{
    const struct dti_encoder e = DTI_LANES_ODD_FP32;
    return (uint32_t)dti_lane_float_f64(&e, bits, DTI_ROUND_ODD, 0);
}

DTI_LANE uint64_t dti_swapped(uint64_t word, unsigned bytes)
{
    uint64_t swapped = 0;
    DTI_FLAT
    for (unsigned i = 0; i < 8; i++)
        swapped |= (word >> 8 * i & 0xff) << (56 - 8 * i);
    return swapped >> (64 - 8 * bytes);
}

/* Applies one operation; op, and possibly the rounding, is a constant where this is inlined. */
DTI_LANE uint64_t dti_element(const struct dti_gpu_cast_args *args, enum dti_operation op,
                              enum dti_round round, uint64_t word, uint64_t index)
{
    switch (op) {
    case DTI_OP_DECODE_HUB32:
        return dti_decode_f32(&args->decoder, (uint32_t)word);
    case DTI_OP_DECODE_HUB64:
        return dti_decode_f64(&args->decoder, word);
    case DTI_OP_DECODE_I64:
        return (uint64_t)dti_lane_decode_i64(&args->decoder, word);
    case DTI_OP_ENCODE_HUB32:
        return dti_encode_f32(&args->encoder, (uint32_t)word, round, index);
    case DTI_OP_ENCODE_HUB64:
        return dti_encode_f64(&args->encoder, word, round, index);
    case DTI_OP_ENCODE_I64:
        return dti_encode_64(&args->encoder, word, true, round, index);
    case DTI_OP_ENCODE_U64:
        return dti_encode_64(&args->encoder, word, false, round, index);
    case DTI_OP_ODD_HUB64_HUB32:
        return dti_odd_f32(word);
    case DTI_OP_ODD_I64_HUB64:
        return dti_odd_64(word, true);
    case DTI_OP_ODD_U64_HUB64:
        return dti_odd_64(word, false);
    case DTI_OP_SWAP:
        return dti_swapped(word, args->bits);
    default:
        return word;
    }
}

/* Bytes of an element before an operation, and after it. */
DTI_LANE unsigned dti_bytes_before(const struct dti_gpu_cast_args *args, enum dti_operation op)
{
    switch (op) {
    case DTI_OP_DECODE_HUB32:
    case DTI_OP_DECODE_HUB64:
    case DTI_OP_DECODE_I64:
        return args->decoder.container;
    case DTI_OP_ENCODE_HUB32:
        return 4;
    case DTI_OP_SWAP:
    case DTI_OP_COPY:
        return args->bits;
    default:
        return 8;
    }
}

DTI_LANE unsigned dti_bytes_after(const struct dti_gpu_cast_args *args, enum dti_operation op)
{
    switch (op) {
    case DTI_OP_ENCODE_HUB32:
    case DTI_OP_ENCODE_HUB64:
    case DTI_OP_ENCODE_I64:
    case DTI_OP_ENCODE_U64:
        return args->encoder.container;
    case DTI_OP_DECODE_HUB32:
    case DTI_OP_ODD_HUB64_HUB32:
        return 4;
    case DTI_OP_SWAP:
    case DTI_OP_COPY:
        return args->bits;
    default:
        return 8;
    }
}

DTI_LANE uint64_t dti_elements(const struct dti_gpu_cast_args *args, enum dti_operation op,
                               enum dti_operation then, enum dti_round round, uint64_t word,
                               uint64_t index)
{
    const uint64_t between = dti_element(args, op, round, word, index);
    return then == DTI_OP_COUNT ? between : dti_element(args, then, round, between, index);
}

/* Neighbouring threads process neighbouring elements. */
DTI_LANE void dti_run_elements(const struct dti_gpu_cast_args *args,
                               const struct dti_thread *thread, enum dti_operation op,
                               enum dti_operation then, enum dti_round round)
{
    const unsigned from = dti_bytes_before(args, op);
    const unsigned to = dti_bytes_after(args, then == DTI_OP_COUNT ? op : then);
    for (uint64_t i = thread->index; i < args->n; i += thread->count) {
        const uint64_t word = dti_load_container(args->src + i * from, from);
        dti_store_container(args->dst + i * to, to,
                            dti_elements(args, op, then, round, word, args->index + i));
    }
}

#endif
