/* SPDX-License-Identifier: MIT
 *
 * The thread body of each row of gpu_kernels.def: dti_body_<name>(). */
#ifndef DEVICES_CUDA_CUDA_BODIES_H
#define DEVICES_CUDA_CUDA_BODIES_H

#include "devices/cuda/cuda_chunk.h"
#include "devices/cuda/cuda_loss.h"
#include "devices/cuda/cuda_math.h"
#include "devices/cuda/cuda_move.h"
#include "devices/cuda/cuda_packed.h"

#define DTI_BODY(name)                                                  \
    DTI_LANE void dti_body_##name(const struct dti_gpu_cast_args *args, \
                                  const struct dti_thread *thread)

/* Element by element. */
#define DTI_BODY_ELEMENTS(name, op, then)                                                       \
    DTI_BODY(name)                                                                              \
    {                                                                                           \
        dti_run_elements(args, thread, DTI_OP_##op, DTI_OP_##then, args->encoder.policy.round); \
    }
/* The same, rounding to nearest even. */
#define DTI_BODY_NEAR(name, op, then)                                                       \
    DTI_BODY(name)                                                                          \
    {                                                                                       \
        dti_run_elements(args, thread, DTI_OP_##op, DTI_OP_##then, DTI_ROUND_NEAREST_EVEN); \
    }
/* In chunks. */
#define DTI_BODY_CHUNKS(name, op_, then_, from, to)                                        \
    DTI_BODY(name)                                                                         \
    {                                                                                      \
        const struct dti_chunk_path path = {DTI_OP_##op_, DTI_OP_##then_, DTI_FROM_##from, \
                                            DTI_TO_##to};                                  \
        dti_run_chunks(args, thread, path);                                                \
    }

DTI_BODY_CHUNKS(fp32_to_bf16, ENCODE_HUB32, COUNT, FP32, BF16)
DTI_BODY_CHUNKS(fp32_to_fp16, ENCODE_HUB32, COUNT, FP32, FP16)
DTI_BODY_CHUNKS(fp64_to_fp32, ENCODE_HUB64, COUNT, FP64, FP32)
DTI_BODY_CHUNKS(bf16_to_fp32, DECODE_HUB32, COUNT, BF16, FP32)
DTI_BODY_CHUNKS(fp16_to_fp32, DECODE_HUB32, COUNT, FP16, FP32)
DTI_BODY_CHUNKS(fp32_to_fp64, DECODE_HUB64, COUNT, FP32, FP64)
DTI_BODY_CHUNKS(fp64_to_bf16, ODD_HUB64_HUB32, ENCODE_HUB32, FP64, BF16)
DTI_BODY_CHUNKS(fp64_to_fp16, ODD_HUB64_HUB32, ENCODE_HUB32, FP64, FP16)

/* Small floats with and without a minus zero get separate loops. */
DTI_LANE void dti_run_small(const struct dti_gpu_cast_args *args, const struct dti_thread *thread,
                            enum dti_operation op, enum dti_operation then,
                            enum dti_chunk_source source)
{
    const struct dti_chunk_path with = {op, then, source, DTI_TO_SMALL};
    const struct dti_chunk_path without = {op, then, source, DTI_TO_SMALL_FNUZ};
    if (args->encoder.zero[1] != 0)
        dti_run_chunks(args, thread, with);
    else
        dti_run_chunks(args, thread, without);
}

DTI_BODY(fp32_to_small)
{
    dti_run_small(args, thread, DTI_OP_ENCODE_HUB32, DTI_OP_COUNT, DTI_FROM_FP32);
}

DTI_BODY(fp64_to_small)
{
    dti_run_small(args, thread, DTI_OP_ODD_HUB64_HUB32, DTI_OP_ENCODE_HUB32, DTI_FROM_FP64);
}

/* Sources other than fp16 and bf16 are converted element by element. */
DTI_LANE bool dti_is_half(const struct dti_decoder *d, unsigned man_bits)
{
    return d->format.kind == DTI_KIND_FLOAT && d->format.specials == DTI_SPECIALS_IEEE &&
           d->format.width == 16 && d->man_bits == man_bits &&
           d->bias == (1 << (14 - man_bits)) - 1;
}

DTI_BODY(half_to_bf16)
{
    const struct dti_chunk_path path = {DTI_OP_DECODE_HUB32, DTI_OP_ENCODE_HUB32, DTI_FROM_FP16,
                                        DTI_TO_BF16};
    if (dti_is_half(&args->decoder, 10))
        dti_run_chunks(args, thread, path);
    else
        dti_run_elements(args, thread, path.op, path.then, DTI_ROUND_NEAREST_EVEN);
}

DTI_BODY(half_to_fp16)
{
    const struct dti_chunk_path path = {DTI_OP_DECODE_HUB32, DTI_OP_ENCODE_HUB32, DTI_FROM_BF16,
                                        DTI_TO_FP16};
    if (dti_is_half(&args->decoder, 7))
        dti_run_chunks(args, thread, path);
    else
        dti_run_elements(args, thread, path.op, path.then, DTI_ROUND_NEAREST_EVEN);
}

DTI_BODY(half_to_small)
{
    if (dti_is_half(&args->decoder, 7))
        dti_run_small(args, thread, DTI_OP_DECODE_HUB32, DTI_OP_ENCODE_HUB32, DTI_FROM_BF16);
    else if (dti_is_half(&args->decoder, 10))
        dti_run_small(args, thread, DTI_OP_DECODE_HUB32, DTI_OP_ENCODE_HUB32, DTI_FROM_FP16);
    else
        dti_run_elements(args, thread, DTI_OP_DECODE_HUB32, DTI_OP_ENCODE_HUB32,
                         DTI_ROUND_NEAREST_EVEN);
}

DTI_BODY_NEAR(encode_f32_near, ENCODE_HUB32, COUNT)
DTI_BODY_NEAR(encode_f64_near, ENCODE_HUB64, COUNT)
DTI_BODY_ELEMENTS(encode_f32, ENCODE_HUB32, COUNT)
DTI_BODY_ELEMENTS(encode_f64, ENCODE_HUB64, COUNT)
DTI_BODY_ELEMENTS(encode_i64, ENCODE_I64, COUNT)
DTI_BODY_ELEMENTS(encode_u64, ENCODE_U64, COUNT)
DTI_BODY_ELEMENTS(decode_f32, DECODE_HUB32, COUNT)
DTI_BODY_ELEMENTS(decode_f64, DECODE_HUB64, COUNT)
DTI_BODY_ELEMENTS(decode_i64, DECODE_I64, COUNT)
DTI_BODY_ELEMENTS(odd_f64_f32, ODD_HUB64_HUB32, COUNT)
DTI_BODY_ELEMENTS(odd_i64_f64, ODD_I64_HUB64, COUNT)
DTI_BODY_ELEMENTS(odd_u64_f64, ODD_U64_HUB64, COUNT)
DTI_BODY_ELEMENTS(decode_encode_f32, DECODE_HUB32, ENCODE_HUB32)
DTI_BODY_ELEMENTS(decode_encode_f64, DECODE_HUB64, ENCODE_HUB64)
DTI_BODY_ELEMENTS(decode_encode_i64, DECODE_I64, ENCODE_I64)
DTI_BODY_ELEMENTS(odd_encode_f32, ODD_HUB64_HUB32, ENCODE_HUB32)

DTI_BODY(table)
{
    DTI_SHARED struct dti_shared_table table;
    dti_run_table(args, thread, &table);
}

DTI_BODY(unpack_table)
{
    DTI_SHARED struct dti_shared_table table;
    dti_run_unpack_table(args, thread, &table);
}

DTI_BODY(table_pack)
{
    DTI_SHARED struct dti_shared_table table;
    dti_run_table_pack(args, thread, &table);
}

DTI_BODY(unpack)
{
    dti_run_unpack(args, thread);
}

DTI_BODY(pack)
{
    dti_run_pack(args, thread);
}

DTI_BODY(small_pack)
{
    dti_run_small_pack(args, thread);
}

DTI_BODY(swap)
{
    dti_run_move(args, thread, args->bits);
}

DTI_BODY(copy)
{
    dti_run_move(args, thread, 1);
}

#define DTI_BODY_OTHER(name, type)                                   \
    DTI_LANE void dti_body_##name(const struct dti_gpu_##type *args, \
                                  const struct dti_thread *thread)

DTI_BODY_OTHER(loss_f32, loss_args)
{
    dti_run_loss(args, thread, false);
}

DTI_BODY_OTHER(loss_f64, loss_args)
{
    dti_run_loss(args, thread, true);
}

DTI_BODY_OTHER(loss_fold, loss_args)
{
    dti_run_loss_fold(args, thread);
}

DTI_BODY_OTHER(expsin, math_args)
{
    dti_run_expsin(args, thread);
}

DTI_BODY_OTHER(sum, math_args)
{
    dti_run_parts(args, thread, false);
}

DTI_BODY_OTHER(dot, math_args)
{
    dti_run_parts(args, thread, true);
}

#endif
