/* SPDX-License-Identifier: MIT
 *
 * A piece of a quantized tensor in progress: shared by the readers of single codes and of whole
 * blocks. */
#ifndef DTINFO_FILES_DEQUANT_PIECE_H
#define DTINFO_FILES_DEQUANT_PIECE_H

#include <string.h>

#include "files/dequant_tensor.h"

/* A thread's memory. */
struct dti_dequant_scratch {
    struct dti_window *view; /* of codes */
    struct dti_dequant_window window;
    unsigned char raw[2 * DTI_DEQUANT_CHUNK + 256];        /* codes, where they are copied */
    unsigned char codes[DTI_DEQUANT_CHUNK + 256];          /* and one a byte */
    unsigned char scales[4 * DTI_DEQUANT_CHUNK / 16 + 64]; /* of blocks */
    float head[DTI_BLOCK_LENGTH_MAX];                      /* a block that is begun before */
    uint64_t kept_at; /* offset of words that `raw` holds, in the tensor's file, and */
    size_t kept;      /* their bytes; 0: none */
};

/* Elements column to column + n - 1 of a row, at most a chunk. */
struct dti_dequant_segment {
    uint64_t row, column;
    size_t n;
    float *numbers;
};

static inline uint64_t dti_dequant_scale_of(const struct dti_scale_map *map, uint64_t row,
                                            uint64_t column)
{
    const uint64_t slab = map->length * map->mid, place = row / map->mid % map->length;
    const uint64_t group = map->group_of ? map->group_of[place] : place / map->group_rows;
    return row / slab * map->of_outer + group * map->of_length + row % map->mid * map->of_mid +
           column / map->group_columns * map->of_column;
}

static inline uint32_t dti_dequant_bits(float number)
{
    uint32_t code;
    memcpy(&code, &number, sizeof code);
    return code;
}

static inline void dti_dequant_reverse(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char low = bytes[2 * i];
        bytes[2 * i] = bytes[2 * i + 1];
        bytes[2 * i + 1] = low;
    }
}

/* Whether its blocks run along rows, and are whole ones of the format. */
static inline bool dti_dequant_along(const struct dti_dequant_tensor *tensor)
{
    return tensor->block && tensor->map.group_columns > 1 &&
           tensor->map.group_columns % tensor->block->length == 0;
}

/* Where a row of codes begins. */
static inline uint64_t dti_dequant_row(const struct dti_dequant_tensor *tensor, uint64_t row)
{
    const uint64_t stored = row / tensor->slab * tensor->stored_slab + row % tensor->slab;
    return tensor->codes.offset + stored * tensor->row_bytes;
}

/* dequant_blocks.c: a segment of a row of blocks, and of a tensor of ggml; *segment is used up. */
enum dti_status dti_dequant_blocks(const struct dti_dequant_tensor *tensor,
                                   struct dti_dequant_segment *segment,
                                   struct dti_dequant_scratch *scratch, struct dti_error *reterr);
enum dti_status dti_dequant_interleaved(const struct dti_dequant_tensor *tensor,
                                        const struct dti_dequant_segment *segment,
                                        struct dti_dequant_scratch *scratch,
                                        struct dti_error *reterr);
/* dequant_words.c: the codes of a segment that do not lie along its row, one a byte, to
 * scratch->codes. */
enum dti_status dti_dequant_words(const struct dti_dequant_tensor *tensor,
                                  const struct dti_dequant_segment *segment,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr);
/* dequant_read.c: the codes of n elements, in the order in which they are stored, within a row
 * unless dti_dequant_is_flat(), a container each; *ret_codes points at the first of them, maybe in
 * the view. */
enum dti_status dti_dequant_codes(const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                  struct dti_dequant_scratch *scratch,
                                  const unsigned char **ret_codes, struct dti_error *reterr);
/* Its kernel. */
void dti_dequant_init_blocks(struct dti_dequant_method *ret,
                             const struct dti_dequant_tensor *tensor);

#endif
