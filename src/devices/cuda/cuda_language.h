/* SPDX-License-Identifier: MIT
 *
 * The language of device code: the common subset of C and CUDA C++. Compiled as CUDA it becomes
 * the kernels' PTX; compiled as C it becomes the same kernels for the host, one thread after the
 * other. The shared headers are C; they are compiled as CUDA C++ here so that their inline
 * functions run on the device. */
#ifndef DEVICES_CUDA_CUDA_LANGUAGE_H
#define DEVICES_CUDA_CUDA_LANGUAGE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __CUDA__ || defined __CUDACC__
#define DTI_ON_DEVICE  1
#define DTI_LANE_FUSED 1
#ifdef __clang__ /* without NVIDIA's headers */
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define memcpy     __builtin_memcpy
#endif
#define restrict __restrict__
#define class class_
#define _Static_assert static_assert
#define inline inline __device__
#else
#define DTI_ON_DEVICE 0
#endif

#include "devices/gpu/gpu_kernels.h"
#include "kernels/cast/lanes_decode.h"
#include "kernels/cast/lanes_float.h"
#include "kernels/cast/lanes_integer.h"
#include "kernels/cast/lanes_odd.h"
#include "kernels/lanes_random.h"
#include "kernels/math/lanes_expsin.h"

/* Structs shared by host and device must have exactly this layout. */
#define DTI_LAID_OUT(what) _Static_assert(sizeof(void *) != 8 || (what), #what)
DTI_LAID_OUT(sizeof(struct dti_gpu_cast_args) == 376);
DTI_LAID_OUT(offsetof(struct dti_gpu_cast_args, decoder) == 40);
DTI_LAID_OUT(offsetof(struct dti_gpu_cast_args, encoder) == 152);
DTI_LAID_OUT(offsetof(struct dti_gpu_cast_args, high_first) == 372);
DTI_LAID_OUT(offsetof(struct dti_decoder, nan) == 104);
DTI_LAID_OUT(offsetof(struct dti_encoder, policy) == 56);
DTI_LAID_OUT(offsetof(struct dti_encoder, overflow) == 128);
DTI_LAID_OUT(offsetof(struct dti_encoder, scale) == 210);
DTI_LAID_OUT(offsetof(struct dti_code_table, word) == 8);
DTI_LAID_OUT(sizeof(struct dti_gpu_loss_args) == 104);
DTI_LAID_OUT(offsetof(struct dti_gpu_loss_args, overflow_from) == 48);
DTI_LAID_OUT(sizeof(struct dti_gpu_loss_lane) == 96);
DTI_LAID_OUT(offsetof(struct dti_gpu_loss_lane, inexact) == 56);
DTI_LAID_OUT(sizeof(struct dti_gpu_math_args) == 40);
DTI_LAID_OUT(offsetof(struct dti_gpu_math_args, parts) == 36);

/* Unrolls a loop of constant length, so that arrays it indexes stay in registers. */
#if DTI_ON_DEVICE
#define DTI_FLAT _Pragma("unroll")
#else
#define DTI_FLAT
#endif

/* A thread's position: in the whole grid, and in its block, which shares memory. On the host
 * each thread is its own block. */
struct dti_thread {
    uint64_t index, count;
    uint32_t in_block, block_size;
};

#if DTI_ON_DEVICE
#ifdef __clang__
DTI_LANE struct dti_thread dti_thread_here(void)
{
    const uint32_t x = __nvvm_read_ptx_sreg_tid_x(), size = __nvvm_read_ptx_sreg_ntid_x();
    struct dti_thread here;
    here.index = (uint64_t)__nvvm_read_ptx_sreg_ctaid_x() * size + x;
    here.count = (uint64_t)__nvvm_read_ptx_sreg_nctaid_x() * size;
    here.in_block = x;
    here.block_size = size;
    return here;
}
DTI_LANE void dti_block_wait(void)
{
    __nvvm_bar_sync(0);
}
#else
DTI_LANE struct dti_thread dti_thread_here(void)
{
    struct dti_thread here;
    here.index = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    here.count = (uint64_t)gridDim.x * blockDim.x;
    here.in_block = threadIdx.x;
    here.block_size = blockDim.x;
    return here;
}
DTI_LANE void dti_block_wait(void)
{
    __syncthreads();
}
#endif
#define DTI_SHARED __shared__
#else
#define DTI_SHARED
DTI_LANE void dti_block_wait(void)
{
}
#endif

#endif
