/* SPDX-License-Identifier: MIT
 *
 * A piece of a quantized tensor in progress: shared by the readers of single codes and of whole
 * blocks. */
#ifndef FILES_DEQUANT_DEQUANT_PIECE_H
#define FILES_DEQUANT_DEQUANT_PIECE_H

#include <string.h>

#include "files/dequant/dequant_tensor.h"

/* A thread's memory. */
struct dti_dequant_scratch {
    struct dti_window *view; /* of codes */
    struct dti_dequant_window window;
    unsigned char raw[4 * DTI_DEQUANT_CHUNK + 256];        /* codes, where they are copied */
    unsigned char codes[DTI_DEQUANT_CHUNK + 256];          /* and one a byte */
    unsigned char scales[4 * DTI_DEQUANT_CHUNK / 16 + 64]; /* of blocks */
    float head[DTI_GGUF_BLOCK_MAX];                        /* a block of which not all is taken */
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
           (map->column_of ? map->column_of[column] : column / map->group_columns * map->of_column);
}

/* The bytes of a code, once it is unpacked. */
static inline unsigned dti_dequant_code_bytes(const struct dti_dequant_tensor *tensor)
{
    return tensor->bits <= 8 ? 1 : tensor->bits / 8;
}

/* The group of each column of the matrix that is shown, if they have an order of their own. */
static inline const uint16_t *dti_dequant_order(const struct dti_dequant_tensor *tensor)
{
    return tensor->map.group_of ? tensor->map.group_of : tensor->map.column_of;
}

static inline uint32_t dti_dequant_bits(float number)
{
    uint32_t code;
    memcpy(&code, &number, sizeof code);
    return code;
}

static inline void dti_dequant_flip(const struct dti_dequant_tensor *tensor, unsigned char *codes,
                                    size_t n)
{
    const unsigned char flip = tensor->flip;
    for (size_t i = 0; i < n && flip != 0; i++)
        codes[i] ^= flip;
}

/* Codes of so many bytes, to the other order. */
static inline void dti_dequant_reverse(unsigned char *bytes, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char *const code = bytes + size * i;
        for (size_t k = 0; k < size / 2; k++) {
            const unsigned char low = code[k];
            code[k] = code[size - 1 - k];
            code[size - 1 - k] = low;
        }
    }
}

/* Whether its blocks run along rows, and are whole ones of the format. */
static inline bool dti_dequant_along(const struct dti_dequant_tensor *tensor)
{
    return tensor->block && tensor->matrix == 0 && !tensor->probe &&
           tensor->map.group_columns > 1 && tensor->map.group_columns % tensor->block->length == 0;
}

/* Where a row of codes begins. */
static inline uint64_t dti_dequant_row(const struct dti_dequant_tensor *tensor, uint64_t row)
{
    const uint64_t stored = row / tensor->slab * tensor->stored_slab + row % tensor->slab;
    return tensor->codes.offset + stored * tensor->row_bytes;
}

/* dequant_gguf.c: of the one row of a tensor of GGUF. */
enum dti_status dti_dequant_gguf_read(const struct dti_dequant_tensor *tensor,
                                      const struct dti_dequant_segment *segment,
                                      struct dti_dequant_scratch *scratch,
                                      struct dti_error *reterr);
/* Codes of a matrix that is stored transposed, in little-endian words that hold, for a column each,
 * some codes that are below each other, without gaps: dti_dequant_word_bits() bits a code. */
struct dti_word_rows {
    uint64_t row, column; /* stored, of the first code: it begins a word, and eight columns */
    uint64_t rows;        /* codes below are zeros */
    size_t columns;
    size_t first, n; /* of words */
};
/* Codes of 4 bits that lie along rows can be turned eight by eight as well; others of rows become
 * bytes. */
static inline unsigned dti_dequant_word_bits(const struct dti_dequant_tensor *tensor)
{
    const bool eights = tensor->arrangement == DTI_CODES_ALONG && tensor->bits == 4 &&
                        tensor->order == DTI_BLOCK_LOW && tensor->columns % 8 == 0;
    const bool words =
        tensor->arrangement == DTI_CODES_DOWN || tensor->arrangement == DTI_CODES_LANES;
    return words || eights ? tensor->bits : 8;
}
/* dequant_words.c: n x columns words. Codes of rows that became bytes are flipped already. */
enum dti_status dti_dequant_words(const struct dti_dequant_tensor *tensor,
                                  const struct dti_word_rows *rows, unsigned char *words,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr);
/* A row of words of eight codes each becomes eight rows as DTI_CODES_LANES has them, columns / 2
 * bytes each; columns is a multiple of 8. And n codes, one a byte, become one. */
void dti_lanes_of_words(unsigned char *rows, const unsigned char *words, size_t columns);
void dti_lanes_pack(unsigned char *words, const unsigned char *codes, size_t n);
/* dequant_words.c: the codes of n elements, in the order in which they are stored, within a row
 * unless dti_dequant_is_flat(), a container each; *ret_codes points at the first of them, maybe in
 * the view. */
enum dti_status dti_dequant_codes(const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                  struct dti_dequant_scratch *scratch,
                                  const unsigned char **ret_codes, struct dti_error *reterr);

#endif
