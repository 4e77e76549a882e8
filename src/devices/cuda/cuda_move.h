/* SPDX-License-Identifier: MIT
 *
 * Moves codes unchanged: copies and byte swaps, 16 bytes at a time. */
#ifndef DEVICES_CUDA_CUDA_MOVE_H
#define DEVICES_CUDA_CUDA_MOVE_H

#include "devices/cuda/cuda_chunk.h"

/* Reverses the byte order within each `bytes` bytes of a word. */
DTI_LANE uint32_t dti_word_swapped(uint32_t word, unsigned bytes)
{
    const uint32_t pairs = (word << 8 & UINT32_C(0xff00ff00)) | (word >> 8 & UINT32_C(0x00ff00ff));
    return bytes == 2 ? pairs : bytes == 1 ? word : pairs << 16 | pairs >> 16;
}

/* Swaps 16 bytes; bytes: element size 2, 4 or 8, or 1 for a plain copy. */
DTI_LANE void dti_words_swap(uint32_t w[DTI_WORDS], unsigned bytes)
{
    uint32_t swapped[DTI_WORDS];
    DTI_FLAT
    for (unsigned i = 0; i < DTI_WORDS; i++)
        swapped[i] = dti_word_swapped(w[i], bytes);
    DTI_FLAT
    for (unsigned i = 0; i < DTI_WORDS; i++)
        w[i] = bytes == 8 ? swapped[i ^ 1] : swapped[i];
}

/* Moves blocks of 16 bytes c, c + step, ...: `count` of them, a constant. */
DTI_LANE void dti_block_move(const struct dti_gpu_cast_args *args, uint64_t c, uint64_t step,
                             unsigned count, unsigned swap)
{
    uint32_t w[DTI_CHUNKS_AT_ONCE][DTI_WORDS];
    DTI_FLAT
    for (unsigned k = 0; k < count; k++)
        dti_load(args->src + (c + k * step) * 16, 16, w[k]);
    DTI_FLAT
    for (unsigned k = 0; k < count; k++) {
        dti_words_swap(w[k], swap);
        dti_store(args->dst + (c + k * step) * 16, 16, w[k]);
    }
}

/* Moves args->n elements of args->bits bytes; swap: 1, or the bytes of an element. */
DTI_LANE void dti_run_move(const struct dti_gpu_cast_args *args, const struct dti_thread *thread,
                           unsigned swap)
{
    const uint64_t bytes = args->n * args->bits, step = thread->count;
    const uint64_t chunks = (args->src | args->dst) % 16 == 0 ? bytes / 16 : 0;
    const uint64_t most = (DTI_CHUNKS_AT_ONCE - 1) * step;
    uint64_t c = thread->index;
    for (; c + most < chunks; c += DTI_CHUNKS_AT_ONCE * step)
        dti_block_move(args, c, step, DTI_CHUNKS_AT_ONCE, swap);
    for (; c < chunks; c += step)
        dti_block_move(args, c, step, 1, swap);
    for (uint64_t i = chunks * 16 + thread->index; i < bytes; i += step) {
        const uint64_t byte = dti_load_number(args->src + i, 1);
        dti_store_number(args->dst + (swap == 1 ? i : i ^ (swap - 1)), 1, byte);
    }
}

#endif
