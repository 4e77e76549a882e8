/* SPDX-License-Identifier: MIT
 *
 * How a quantized tensor is stored in its files, and how to read its numbers: any piece of them, by
 * any thread.
 *
 * Codes are seen as rows: the last dimension, and all others before it. Which scale an element has
 * follows from its row r and column c:
 *
 *   o = r / (length mid)   l = r / mid % length   m = r % mid
 *   o of_outer + l / group_rows of_length + m of_mid + c / group_columns of_column
 *
 * so that one scale, one for each place along any axis, groups along any axis and rectangles of a
 * matrix are the same. Where groups are assigned row by row, group_of[l] takes the place of
 * l / group_rows; where they are assigned column by column, column_of[c] that of c / group_columns.
 *
 * Matrices may be stored transposed: then rows and columns are those of the file, and the numbers
 * are read in the other order (dequant_stripes.c). */
#ifndef FILES_DEQUANT_DEQUANT_TENSOR_H
#define FILES_DEQUANT_DEQUANT_TENSOR_H

#include <stdatomic.h>

#include "containers/container.h"
#include "convert/batch.h"
#include "convert/plan.h"
#include "files/stored/tensor_choice.h"
#include "kernels/gguf/gguf_kernel.h"
#include "kernels/quant/nested_scales.h"
#include "kernels/quant/quant_kernel.h"

enum {
    DTI_DEQUANT_CHUNK = 16384,                  /* elements that are read at once */
    DTI_DEQUANT_WINDOW = DTI_DEQUANT_CHUNK + 2, /* scales that they may have */
};

/* A tensor of a container. */
struct dti_dequant_part {
    struct dti_container *container; /* NULL: there is none */
    size_t tensor;
    const struct dti_input *input; /* filled by dti_dequant_open() */
    uint64_t offset;
};

static inline const struct dti_tensor *dti_dequant_part_tensor(const struct dti_dequant_part *part)
{
    return &part->container->tensors[part->tensor];
}

struct dti_scale_map {
    uint64_t length, mid, group_rows, group_columns;
    const uint16_t *group_of;                        /* length of them; or NULL */
    const uint16_t *column_of;                       /* one a column; or NULL */
    uint64_t of_outer, of_length, of_mid, of_column; /* the last 0 or 1 */
};

/* Whether elements of more than a byte have their highest byte first. */
static inline bool dti_is_big_endian(const struct dti_layout *layout)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return !layout->swapped;
#else
    return layout->swapped;
#endif
}

/* Scales that are codes themselves: see nested_scales.h. */
struct dti_dequant_nested {
    struct dti_dequant_part scales; /* little-endian fp32, one for `block` scales */
    uint64_t block;
    float offset;
    float map[DTI_NESTED_CODES];
};

enum dti_zero_form {
    DTI_ZERO_NONE,
    DTI_ZERO_PLAIN, /* integers, as many as scales */
    DTI_ZERO_WORDS, /* packed down columns of scales in 32-bit words, of `bits` bits */
    DTI_ZERO_DOWN,  /* the same without gaps, where words end within one */
    DTI_ZERO_ALONG, /* packed along rows of scales, which end with whole words */
    DTI_ZERO_LANES, /* the same, 4 bits in the order of DTI_CODES_LANES */
    DTI_ZERO_BYTES, /* as DTI_ZERO_ALONG, but rows end with whole bytes */
};

/* How codes of less than 8 bits lie in the rows that are stored; down columns only in matrices that
 * are stored transposed, in shared bytes only in others. */
enum dti_code_arrangement {
    DTI_CODES_ALONG, /* along them, by `order` */
    DTI_CODES_DOWN,  /* down columns, in little-endian 32-bit words without gaps; a matrix begins
                      * with whole ones */
    DTI_CODES_LANES, /* along them, 8 of 4 bits in a word, in the order 0 2 4 6 1 3 5 7 */
    DTI_CODES_WHOLE, /* along them, 32 / bits whole ones in a word, low bits first */
    DTI_CODES_ROWS,  /* a byte has one of each of 8 / bits rows, row_step apart, low bits first */
};

/* How pieces are decoded: one for tensors that are alike. Must stay where it is. */
struct dti_dequant_method {
    struct dti_affine affine;
    struct dti_decoder decoder;
    struct dti_block_recipe recipe;
    struct dti_affine_args affine_args;
    struct dti_block_args block_args;
    const struct dti_quant_kernel *kernel, *range;
    const struct dti_kernel *unpack; /* codes of less than 8 bits in packed rows; or NULL */
    struct dti_kernel_args unpack_args;
    dti_gguf_decode_fn *decode; /* blocks of GGUF */
};

struct dti_dequant_tensor {
    /* what it is: filled by whoever finds one, the pointers included */
    const struct dti_block_format *block; /* NULL: affine, codes of struct dti_affine */
    struct dti_affine affine;
    struct dti_dequant_part codes, scales, zeros;
    struct dti_dequant_part biases; /* of codes x scale, in the dtype of both, which is `number` */
    enum dti_dtype number;
    bool centers; /* biases are zero points as floats: the bias of a code is -(scale x it) */
    struct dti_dequant_nested *nested; /* or NULL */
    bool spread; /* scales of blocks are loaded as numbers, and may be those of several blocks */
    const struct dti_gguf_type *gguf; /* blocks with codes and scales in one, of which `scales` may
                                       * be those of the whole tensor or of equal parts; or NULL */
    uint64_t elements;
    uint64_t rows, columns;     /* of numbers */
    uint64_t row_bytes;         /* of codes */
    uint64_t slab, stored_slab; /* rows are followed by others that are left out: of so many rows,
                                 * so many are numbers; the same where there are none */
    bool stream;                /* and rows follow each other without gaps, even within bytes */
    unsigned bits;              /* of a code, 8 or more: a container each */
    enum dti_block_order order;
    enum dti_code_arrangement arrangement; /* not ALONG: affine codes */
    uint64_t row_step;
    unsigned char
        flip;        /* packed affine codes are xored with it: two's complement becomes unsigned */
    bool divisors;   /* scales are */
    bool probe;      /* of lint: scales that are 0 are read as 1, all others, and biases, as 0 */
    uint64_t matrix; /* rows of each of the matrices that are stored transposed; 0: none are */
    struct dti_stripes *stripes; /* of the view */
    bool codes_swapped; /* codes of several bytes; of GGUF the two with which each block begins */
    struct dti_scale_map map;
    uint64_t scale_count, scale_rows, scale_columns; /* the last two dimensions of the scales */
    bool tiled; /* scales of one byte are in tiles of 128 rows by 4 columns, as kernels take them,
                 * the last ones filled up; those above are without that */
    enum dti_zero_form zero_form;
    int32_t zero_offset;  /* added to zero points, packed ones modulo 2^bits; the zero point where
                           * there are none */
    float tensor_scale;   /* as a factor; 1 where there is none */
    float tensor_divisor; /* of layouts that store its reciprocal: that, which scales are divided
                           * by; 0: none */
    bool reciprocal;      /* divisors are read as vLLM does: as the factor */
    float factor;         /* of numbers, once they are rounded; likewise */
    const struct dti_plan *narrow, *widen; /* numbers are rounded to a dtype, and back; or NULL */
    const struct dti_plan *scale_plan;     /* to fp32 */
    const struct dti_block_parts *parts;   /* blocks */
    enum dti_level level;
    /* what is made of that: dti_dequant_prepare() */
    const struct dti_dequant_method *method;
    struct dti_batch_source source; /* of fp32, in the order of the elements */
    /* what has been read */
    atomic_uint_least64_t nan, inf;
};

/* nvfp4: the scale of a block with that of its tensor. */
static inline float dti_dequant_block_scale(const struct dti_dequant_tensor *tensor, float scale)
{
    return tensor->tensor_divisor != 0 && !tensor->reciprocal ? scale / tensor->tensor_divisor
                                                              : scale * tensor->tensor_scale;
}

/* Whether rows of codes follow each other without gaps, all of them. */
static inline bool dti_dequant_is_flat(const struct dti_dequant_tensor *tensor)
{
    const uint64_t rest = tensor->columns % 8 * tensor->bits;
    return tensor->stream ||
           (tensor->arrangement == DTI_CODES_ALONG && tensor->slab == tensor->stored_slab &&
            rest % 8 == 0 && tensor->row_bytes == tensor->columns / 8 * tensor->bits + rest / 8);
}

/* Whether the method of one is right for the other. */
bool dti_dequant_is_alike(const struct dti_dequant_tensor *one,
                          const struct dti_dequant_tensor *other);
void dti_dequant_method_init(struct dti_dequant_method *ret,
                             const struct dti_dequant_tensor *tensor);
/* Fills the second part, and opens nothing. The tensor must stay where it is. */
void dti_dequant_prepare(struct dti_dequant_tensor *tensor,
                         const struct dti_dequant_method *method);
/* Finds the bytes of its parts. Not from several threads. */
enum dti_status dti_dequant_open(struct dti_dequant_tensor *tensor, struct dti_error *reterr);

/* Scales and zero points, or biases, in memory, those of a thread: the window first to first +
 * count - 1. */
struct dti_dequant_window {
    uint64_t first, count;
    float scale[DTI_DEQUANT_WINDOW];
    union {
        int32_t zero[DTI_DEQUANT_WINDOW];
        float bias[DTI_DEQUANT_WINDOW]; /* there are no zero points then */
    };
    unsigned char raw[DTI_DEQUANT_WINDOW * 8];
};
/* dequant_words.c: zero points first to first + n - 1 of packed rows, one a byte; words: the row's,
 * from its begin. */
void dti_dequant_packed_zeros(const struct dti_dequant_tensor *tensor, unsigned char *fields,
                              const unsigned char *words, uint64_t first, size_t n);
/* The bytes of scales, or of biases, in the order of the matrix. */
enum dti_status dti_dequant_raw_scales(const struct dti_dequant_tensor *tensor,
                                       const struct dti_dequant_part *part, void *buffer,
                                       uint64_t first, size_t count, struct dti_error *reterr);
/* Only scales, and biases, first to first + count - 1; and whether element i of the bytes of plain
 * zero points is within the codes. */
enum dti_status dti_dequant_load_scales(const struct dti_dequant_tensor *tensor,
                                        struct dti_dequant_window *window, uint64_t first,
                                        size_t count, struct dti_error *reterr);
bool dti_dequant_zero_of(const struct dti_dequant_tensor *tensor, const unsigned char *raw,
                         size_t i, int64_t *ret);
/* Makes the window hold the scales first to first + count - 1; count <= DTI_DEQUANT_WINDOW. */
enum dti_status dti_dequant_load(const struct dti_dequant_tensor *tensor,
                                 struct dti_dequant_window *window, uint64_t first, uint64_t count,
                                 struct dti_error *reterr);

#endif
