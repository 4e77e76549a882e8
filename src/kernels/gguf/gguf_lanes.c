/* SPDX-License-Identifier: MIT
 *
 * The portable decoders, one function per row of gguf_types.def. */
#include "kernels/gguf/gguf_kernels.h"
#include "kernels/gguf/gguf_lanes_grid.h"
#include "kernels/gguf/gguf_lanes_k.h"
#include "kernels/gguf/gguf_lanes_small.h"
#include "kernels/lanes_piece.h"

#define GGUF_DTYPE(...)
#define GGUF_BLOCKS(id, name, word, elements, bytes, group, others, unit, minima)     \
    static void decode_##word(float *x, const unsigned char *blocks, size_t count,    \
                              float tensor_scale)                                     \
    {                                                                                 \
        struct gguf_block block = {.tensor_scale = tensor_scale};                     \
        for (size_t i = 0; i < count; i++) {                                          \
            word(&block, blocks + i * (bytes));                                       \
            gguf_multiply(x + i * (elements), &block, elements, group, unit, minima); \
        }                                                                             \
    }
#include "core/dtype/gguf_types.def"
#undef GGUF_BLOCKS

dti_gguf_decode_fn *const DTI_LANES_NAME(dti_gguf_decode)[DTI_GGUF_BLOCKS_COUNT] = {
#define GGUF_BLOCKS(id, name, word, ...) [DTI_GGUF_##name] = decode_##word,
#include "core/dtype/gguf_types.def"
#undef GGUF_BLOCKS
#undef GGUF_DTYPE
};
