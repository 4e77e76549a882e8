/* SPDX-License-Identifier: MIT
 *
 * State of reading a piece of a quantized tensor: shared by the readers of single codes and of
 * whole blocks. */
#ifndef FILES_DEQUANT_DEQUANT_PIECE_H
#define FILES_DEQUANT_DEQUANT_PIECE_H

#include <string.h>

#include "files/dequant/dequant_tensor.h"

/* Per-thread memory. */
struct dti_dequant_scratch {
    struct dti_window *view; /* of codes */
    struct dti_dequant_window window;
    unsigned char raw[4 * DTI_DEQUANT_CHUNK + 256];        /* codes, if they are copied */
    unsigned char codes[DTI_DEQUANT_CHUNK + 256];          /* codes, one per byte */
    unsigned char scales[4 * DTI_DEQUANT_CHUNK / 16 + 64]; /* of blocks */
    float head[DTI_GGUF_BLOCK_MAX];                        /* a block of which only a part is
                                                            * used */
};

/* Elements column to column + n - 1 of a row; at most a chunk. */
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

/* The bytes per unpacked code. */
static inline unsigned dti_dequant_code_bytes(const struct dti_dequant_tensor *tensor)
{
    return tensor->is->bits <= 8 ? 1 : tensor->is->bits / 8;
}

/* The group of each column of the matrix as shown, if it has a custom order. */
static inline const uint16_t *dti_dequant_order(const struct dti_dequant_tensor *tensor)
{
    return tensor->is->map.group_of ? tensor->is->map.group_of : tensor->is->map.column_of;
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
    const unsigned char flip = tensor->is->flip;
    for (size_t i = 0; i < n && flip != 0; i++)
        codes[i] ^= flip;
}

/* Swaps the byte order of codes of `size` bytes. */
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

/* Whether its blocks run along rows and are whole blocks of the format. */
static inline bool dti_dequant_along(const struct dti_dequant_tensor *tensor)
{
    return tensor->is->block && tensor->is->matrix == 0 && !tensor->probe &&
           tensor->is->map.group_columns > 1 &&
           tensor->is->map.group_columns % tensor->is->block->length == 0;
}

/* The offset of a row in the codes. */
static inline uint64_t dti_dequant_row(const struct dti_dequant_tensor *tensor, uint64_t row)
{
    const uint64_t stored =
        row / tensor->is->slab * tensor->is->stored_slab + row % tensor->is->slab;
    return stored * tensor->is->row_bytes;
}

/* dequant_rotated.c: reads a segment of a row whose codes are rotated. */
enum dti_status dti_dequant_rotated_read(const struct dti_dequant_tensor *tensor,
                                         const struct dti_dequant_segment *segment,
                                         struct dti_dequant_scratch *scratch,
                                         struct dti_error *reterr);
/* dequant_gguf.c: reads a segment of the single row of a GGUF tensor. */
enum dti_status dti_dequant_gguf_read(const struct dti_dequant_tensor *tensor,
                                      const struct dti_dequant_segment *segment,
                                      struct dti_dequant_scratch *scratch,
                                      struct dti_error *reterr);
/* Codes of a transposed matrix, in little-endian words, each of which holds vertically adjacent
 * codes of one column without gaps: dti_dequant_word_bits() bits per code. */
struct dti_word_rows {
    uint64_t row, column; /* stored, of the first code: starts a word and a group of eight
                           * columns */
    uint64_t rows;        /* codes below are zero */
    size_t columns;
    size_t first, n; /* range of words */
};
/* 4-bit codes along rows can also be transposed eight by eight; other codes along rows are expanded
 * to bytes. */
static inline unsigned dti_dequant_word_bits(const struct dti_dequant_tensor *tensor)
{
    const bool eights = tensor->is->arrangement == DTI_CODES_ALONG && tensor->is->bits == 4 &&
                        tensor->is->order == DTI_BLOCK_LOW && tensor->is->columns % 8 == 0;
    const bool words =
        tensor->is->arrangement == DTI_CODES_DOWN || tensor->is->arrangement == DTI_CODES_LANES;
    return words || eights ? tensor->is->bits : 8;
}
/* dequant_words.c: reads n x columns words. Codes of rows that were expanded to bytes are already
 * flipped. */
enum dti_status dti_dequant_words(const struct dti_dequant_tensor *tensor,
                                  const struct dti_word_rows *rows, unsigned char *words,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr);
/* dti_lanes_of_words(): turns a row of words of eight codes each into eight rows in DTI_CODES_LANES
 * order, columns / 2 bytes each; columns is a multiple of 8. dti_lanes_pack(): packs n codes, one
 * per byte, that way. */
void dti_lanes_of_words(unsigned char *rows, const unsigned char *words, size_t columns);
void dti_lanes_pack(unsigned char *words, const unsigned char *codes, size_t n);
/* dequant_words.c: reads the codes of n elements in stored order, within one row unless
 * dti_dequant_is_flat(), one container each. *ret_codes points at the first one, possibly inside
 * the view's window. */
enum dti_status dti_dequant_codes(const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                  struct dti_dequant_scratch *scratch,
                                  const unsigned char **ret_codes, struct dti_error *reterr);

#endif
