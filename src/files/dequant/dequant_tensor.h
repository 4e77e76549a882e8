/* SPDX-License-Identifier: MIT
 *
 * How a quantized tensor is stored in its files, and how to read its numbers: any piece of them,
 * from any thread.
 *
 * Codes are treated as rows: the last dimension, and all others flattened before it. The scale of
 * an element follows from its row r and column c:
 *
 *   o = r / (length mid)   l = r / mid % length   m = r % mid
 *   o of_outer + l / group_rows of_length + m of_mid + c / group_columns of_column
 *
 * This covers a single scale, one scale per index along any axis, groups along any axis, and
 * rectangles of a matrix. Where groups are assigned per row, group_of[l] replaces l / group_rows;
 * where they are assigned per column, column_of[c] replaces c / group_columns.
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
    struct dti_container *container; /* NULL: missing */
    size_t tensor;
};

/* As dti_container_alike(). */
static inline const struct dti_tensor *dti_dequant_part_tensor(const struct dti_dequant_part *part)
{
    return dti_container_alike(part->container, part->tensor);
}

/* The parts that are read, as members of a tensor; for DTI_PART_OF() and DTI_SET_PART(). */
struct dti_dequant_from {
    struct dti_container *codes, *scales, *zeros; /* NULL: missing */
    struct dti_container *biases; /* added to codes x scale, in the dtype of both, which is
                                   * `number` */
};
struct dti_dequant_at {
    uint32_t codes, scales, zeros, biases; /* indices in those */
};
/* A part of a struct dti_dequant_tensor, until the end of the block; and to set it, before its
 * traits are shared. */
#define DTI_PART_OF(how, part) \
    (&(const struct dti_dequant_part){(how)->is->from.part, (how)->at.part})
#define DTI_SET_PART(how, part, given) \
    ((how)->is->from.part = (given).container, (how)->at.part = (uint32_t)(given).tensor)

struct dti_scale_map {
    uint64_t length, mid, group_rows, group_columns;
    const uint16_t *group_of;                        /* `length` entries; or NULL */
    const uint16_t *column_of;                       /* one per column; or NULL */
    uint64_t of_outer, of_length, of_mid, of_column; /* of_column is 0 or 1 */
};

/* Whether multi-byte elements have their highest byte first. */
static inline bool dti_is_big_endian(const struct dti_layout *layout)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return !layout->swapped;
#else
    return layout->swapped;
#endif
}

/* Scales that are quantized too: see nested_scales.h. */
struct dti_dequant_nested {
    struct dti_dequant_part scales; /* little-endian fp32, one for each `block` scales */
    uint64_t block;
    float offset;
    float map[DTI_NESTED_CODES];
};

enum dti_zero_form {
    DTI_ZERO_NONE,
    DTI_ZERO_PLAIN, /* integers, one per scale */
    DTI_ZERO_WORDS, /* `bits` bits each, packed down columns of scales in 32-bit words */
    DTI_ZERO_DOWN,  /* same without gaps: zero points may cross words */
    DTI_ZERO_ALONG, /* packed along rows of scales, which are padded to whole words */
    DTI_ZERO_LANES, /* same, 4 bits in DTI_CODES_LANES order */
    DTI_ZERO_BYTES, /* as DTI_ZERO_ALONG, but rows are padded to whole bytes */
};

/* How codes of less than 8 bits are packed in the stored rows. DOWN only occurs in transposed
 * matrices, ROWS only in others. */
enum dti_code_arrangement {
    DTI_CODES_ALONG, /* along rows, by `order` */
    DTI_CODES_DOWN,  /* down columns, in little-endian 32-bit words without gaps; each matrix starts
                      * on a word */
    DTI_CODES_LANES, /* along rows, eight 4-bit codes per word, in the order 0 2 4 6 1 3 5 7 */
    DTI_CODES_WHOLE, /* along rows, 32 / bits whole codes per word, low bits first */
    DTI_CODES_ROWS,  /* each byte has one code of each of 8 / bits rows, row_step apart, low bits
                      * first */
};

/* How pieces are decoded; shared by tensors that are alike. Must not move. */
struct dti_dequant_method {
    struct dti_affine affine;
    struct dti_decoder decoder;
    struct dti_affine_args affine_args;
    struct dti_block_args block_args; /* without the recipe, which has the scale of the tensor */
    const struct dti_quant_kernel *kernel, *range, *rotate;
    const struct dti_kernel *unpack; /* unpacks codes of less than 8 bits in packed rows; or NULL */
    struct dti_kernel_args unpack_args;
    dti_gguf_decode_fn *decode; /* GGUF blocks */
};

/* What a tensor has in common with tensors that are alike: filled by the code that finds it, and
 * shared, hence not changed, from dti_dequant_settle() on. */
struct dti_dequant_traits {
    struct dti_dequant_from from;
    const struct dti_block_format *block; /* NULL: affine codes of struct dti_affine */
    struct dti_affine affine;
    enum dti_dtype number; /* that of codes x scale and of biases */
    bool centers;          /* biases are zero points as floats: the bias is -(scale x zero point) */
    bool spread;           /* scales of blocks are loaded as numbers; one may span several blocks */
    const struct dti_gguf_type *gguf; /* blocks that contain codes and scales; `scales` may then
                                       * hold one for the whole tensor or one for each of equal
                                       * parts; or NULL */
    uint64_t elements;
    uint64_t rows, columns;     /* of numbers */
    uint64_t row_bytes;         /* of codes */
    uint64_t slab, stored_slab; /* of every stored_slab rows, the first slab are numbers and the
                                 * rest is padding; equal if there is none */
    bool stream;                /* rows follow each other without gaps, even within bytes */
    unsigned bits;              /* of a code; if 8 or more: one container each */
    enum dti_block_order order;
    enum dti_code_arrangement arrangement; /* other than ALONG: affine codes */
    uint64_t row_step;
    unsigned char
        flip;        /* packed affine codes are XORed with it: two's complement becomes unsigned */
    bool divisors;   /* scales are divisors */
    uint64_t matrix; /* rows of each transposed matrix; 0: not transposed */
    struct dti_stripes *stripes; /* owned by the view */
    struct dti_window *ahead;    /* likewise: for small parts of many tensors, by one thread */
    bool codes_swapped; /* codes of several bytes are byte-swapped; GGUF: the two bytes at the start
                         * of each block */
    struct dti_scale_map map;
    uint64_t scale_count, scale_rows, scale_columns; /* the last two dimensions of the scales */
    bool tiled; /* one-byte scales are in tiles of 128 rows by 4 columns, as kernels need them, with
                 * padded last tiles; the members above exclude that padding */
    enum dti_zero_form zero_form;
    int32_t zero_offset; /* added to zero points, modulo 2^bits for packed ones; without zero
                          * points, the zero point itself */
    bool reciprocal;     /* convert divisors to factors, as vLLM does */
    unsigned rotation;   /* each row consists of groups of that many codes that were quantized
                          * after a rotation by a Hadamard matrix; 0: not rotated */
    float factor;        /* applied to numbers after rounding; 1 if there is none */
    const struct dti_plan *narrow, *widen; /* numbers are rounded to a dtype and back; or NULL */
    const struct dti_plan *scale_plan;     /* to fp32 */
    const struct dti_block_parts *parts;   /* blocks */
    enum dti_level level;
};

struct dti_dequant_tensor {
    struct dti_dequant_traits *is;
    struct dti_dequant_at at;
    struct dti_dequant_nested *nested; /* or NULL */
    float tensor_scale;                /* as a factor; 1 if there is none */
    float tensor_divisor; /* for layouts that store the reciprocal: scales are divided by it; 0:
                           * none */
    bool probe;           /* for lint: scales of 0 are read as 1, all others and biases as 0 */
    const struct dti_dequant_method *method; /* how its pieces are decoded */
};

/* What the numbers of a tensor were, as far as they have been read. */
struct dti_dequant_counts {
    const struct dti_dequant_tensor *of;
    atomic_uint_least64_t nan, inf;
};

/* nvfp4: the scale of a block combined with that of its tensor. */
static inline float dti_dequant_block_scale(const struct dti_dequant_tensor *tensor, float scale)
{
    return tensor->tensor_divisor != 0 && !tensor->is->reciprocal ? scale / tensor->tensor_divisor
                                                                  : scale * tensor->tensor_scale;
}

/* Whether all rows of codes follow each other without gaps. */
static inline bool dti_dequant_is_flat(const struct dti_dequant_tensor *tensor)
{
    const uint64_t rest = tensor->is->columns % 8 * tensor->is->bits;
    return tensor->is->stream ||
           (tensor->is->arrangement == DTI_CODES_ALONG &&
            tensor->is->slab == tensor->is->stored_slab && rest % 8 == 0 &&
            tensor->is->row_bytes == tensor->is->columns / 8 * tensor->is->bits + rest / 8);
}

/* Whether a method made for one tensor also works for the other. */
bool dti_dequant_is_alike(const struct dti_dequant_tensor *one,
                          const struct dti_dequant_tensor *other);
void dti_dequant_method_init(struct dti_dequant_method *ret,
                             const struct dti_dequant_tensor *tensor);
/* Its numbers: fp32, in the order of the elements. The tensor must not move afterwards. */
struct dti_batch_source dti_dequant_source(const struct dti_dequant_tensor *tensor);
/* The same, and counts what it reads; zeros at first. */
struct dti_batch_source dti_dequant_counted(const struct dti_dequant_tensor *tensor,
                                            struct dti_dequant_counts *counts);
/* Makes its parts readable from any thread. Not thread-safe. */
enum dti_status dti_dequant_open(struct dti_dequant_tensor *tensor, struct dti_error *reterr);
/* Reads bytes offset to offset + size - 1 of a part: directly, or through a window, as
 * dti_window_look() and dti_window_copy() do. Only of an open tensor from several threads. */
enum dti_status dti_dequant_read_part(const struct dti_dequant_part *part, void *buffer,
                                      size_t size, uint64_t offset, struct dti_error *reterr);
enum dti_status dti_dequant_look(const struct dti_dequant_part *part, struct dti_window *view,
                                 void *buffer, size_t size, uint64_t offset, const void **ret,
                                 struct dti_error *reterr);
enum dti_status dti_dequant_copy(const struct dti_dequant_part *part, struct dti_window *view,
                                 void *buffer, size_t size, uint64_t offset,
                                 struct dti_error *reterr);

/* A thread's cached scales, and zero points or biases: the window first to first + count - 1. */
struct dti_dequant_window {
    struct dti_window *view; /* that plain scales are read through, or NULL; only while loading */
    uint64_t first, count;
    float scale[DTI_DEQUANT_WINDOW];
    union {
        int32_t zero[DTI_DEQUANT_WINDOW];
        float bias[DTI_DEQUANT_WINDOW]; /* only if there are no zero points */
    };
    unsigned char raw[DTI_DEQUANT_WINDOW * 8];
};
/* dequant_words.c: extracts zero points first to first + n - 1 of a packed row, one per byte;
 * words: the row from its start. */
void dti_dequant_packed_zeros(const struct dti_dequant_tensor *tensor, unsigned char *fields,
                              const unsigned char *words, uint64_t first, size_t n);
/* Reads the bytes of scales or biases, in matrix order, through the window, or with NULL without.
 */
enum dti_status dti_dequant_raw_scales(const struct dti_dequant_tensor *tensor,
                                       const struct dti_dequant_part *part, struct dti_window *view,
                                       void *buffer, uint64_t first, size_t count,
                                       struct dti_error *reterr);
/* dti_dequant_load_scales(): loads only scales and biases, first to first + count - 1, through the
 * view, which may be NULL, and in which no look may be open.
 * dti_dequant_zero_of(): reads plain zero point i; returns whether it is in the range of the
 * codes. */
enum dti_status dti_dequant_load_scales(const struct dti_dequant_tensor *tensor,
                                        struct dti_dequant_window *window, struct dti_window *view,
                                        uint64_t first, size_t count, struct dti_error *reterr);
bool dti_dequant_zero_of(const struct dti_dequant_tensor *tensor, const unsigned char *raw,
                         size_t i, int64_t *ret);
/* Loads the scales first to first + count - 1 into the window; count <= DTI_DEQUANT_WINDOW. */
enum dti_status dti_dequant_load(const struct dti_dequant_tensor *tensor,
                                 struct dti_dequant_window *window, uint64_t first, uint64_t count,
                                 struct dti_error *reterr);

#endif
