/* SPDX-License-Identifier: MIT
 *
 * Internals of a quantization plan, for the files of this folder.
 *
 * Element (o, a, i) of outer x length x inner has index (o * length + a) * inner + i. Its code
 * has the same index, except that padded rows are longer; blocks along the last axis are packed
 * one by one, each starting at a whole byte. */
#ifndef CONVERT_QUANT_PLAN_PARTS_H
#define CONVERT_QUANT_PLAN_PARTS_H

#include <string.h>

#include "convert/quant_plan.h"

/* How a scale is computed from a range. */
struct dti_quant_choice {
    float divisor;        /* divides amax or the width of the range */
    float least, nothing; /* minimum scale; scale of an all-zero range */
    bool widens;        /* the range is extended to include zero, and the zero point is computed: */
    int32_t zero_point; /* otherwise this constant */
};

/* Large parts that do not depend on the shape. */
struct dti_quant_shared {
    struct dti_encoder encoder; /* for float codes */
    struct dti_decoder decoder;
    struct dti_block_parts parts;
    struct dti_loss_rule loss_rule;
};

struct dti_quant_plan {
    struct dti_quant_request request;
    struct dti_quant_shared *shared;
    bool borrows; /* `shared`, load and store are owned by another plan */
    struct dti_quant_sizes sizes;
    enum dti_level level;

    /* Shape. group: consecutive elements along the axis that share a scale; 0: scales are known
     * in advance. */
    uint64_t group, places; /* codes along the axis */
    uint64_t unit;          /* elements: groups do not cross multiples of it */
    bool whole;             /* rows consist of whole groups */
    bool alone;             /* blocks along the last axis: packed one by one */
    unsigned code_bits;     /* bits per stored code: 8 and 16 in containers */
    unsigned container;     /* bytes of an unpacked code */
    size_t scale_bytes;     /* bytes per scale */
    size_t block_bytes;     /* code bytes of a whole block */
    uint64_t row_bytes;     /* code bytes of one row of the axis */
    size_t repeats;         /* copies of all channels' scales, to process several rows per call */

    /* Numbers. */
    bool plain;             /* native fp32: no conversion */
    unsigned number_bits;   /* bits per number in the array */
    struct dti_plan *load;  /* converts to fp32 */
    struct dti_plan *store; /* converts from fp32, unpacked; NULL for integers */

    /* Kernels; for blocks also one that writes a byte per code. */
    const struct dti_quant_kernel *range, *range_columns;
    const struct dti_quant_kernel *affine, *columns, *affine_back, *columns_back;
    const struct dti_quant_kernel *blocks, *blocks_back, *bytes;
    const struct dti_quant_kernel *biased, *biased_back; /* NULL unless the scheme is */
    enum dti_dtype biased_number;                        /* of scales and biases */
    const struct dti_kernel *pack, *unpack;              /* for codes */
    const struct dti_kernel *pack_numbers;               /* for packed numbers */
    struct dti_affine_args affine_args;                  /* without scales */
    struct dti_block_args block_args;                    /* without tensor scale */
    struct dti_quant_choice choice; /* its zero point is used if none are given */

    const struct dti_loss_kernel *loss;
};

enum {
    DTI_QUANT_TILE = DTI_TILE, /* elements per conversion between numbers and codes */
    DTI_QUANT_RUN_LEAST = 64,  /* minimum elements with one scale that are worth a call */
};

/* Per-thread scratch memory. */
struct dti_quant_scratch {
    float x[DTI_QUANT_TILE + DTI_BLOCK_LENGTH_MAX]; /* source numbers */
    float y[DTI_QUANT_TILE + DTI_BLOCK_LENGTH_MAX]; /* dequantized numbers */
    float scale[DTI_QUANT_TILE], inverse[DTI_QUANT_TILE];
    int32_t zero_point[DTI_QUANT_TILE];
    unsigned char codes[2 * DTI_QUANT_TILE + DTI_BLOCK_LENGTH_MAX];
    unsigned char bytes[2 * DTI_QUANT_TILE + DTI_BLOCK_LENGTH_MAX];
};

/* A piece of an array in progress. Positions are relative to the piece's first element. */
struct dti_quant_job {
    const struct dti_quant_plan *plan;
    const struct dti_quant_scales *known;
    struct dti_block_recipe recipe; /* including the tensor scale */
    uint64_t first;                 /* index of the piece's first element in the array */
    size_t n;
    const void *numbers;
    unsigned char *codes; /* written only when quantizing */
    unsigned char *scales;
    int32_t *zero_points; /* NULL: not wanted, or all equal the plan's */
    const struct dti_streaming *stream;
    size_t ahead; /* prefetch distance, as in struct dti_affine_args */
    struct dti_quant_count *count;
    struct dti_quant_scratch *scratch;
};

/* Loads n numbers as fp32; n <= DTI_QUANT_TILE unless plan->plain. Returns a pointer into the
 * array if possible, else `buffer`. */
const float *dti_quant_load(const struct dti_quant_plan *plan, const void *numbers, size_t at,
                            size_t n, float *buffer);
/* Stores n numbers; not for plan->plain. bytes: temporary memory. */
void dti_quant_store(const struct dti_quant_plan *plan, void *numbers, size_t at, const float *x,
                     size_t n, unsigned char *bytes);

/* Packs n codes, one per container, to index `at` of an array of codes, or unpacks them from
 * there. Packing zeroes the remaining bits of the last byte, so codes must come in order; with
 * `among` it keeps them. */
void dti_quant_put(const struct dti_quant_plan *plan, unsigned char *codes, uint64_t at,
                   const unsigned char *containers, size_t n, bool among);
void dti_quant_get(const struct dti_quant_plan *plan, unsigned char *containers,
                   const unsigned char *codes, uint64_t at, size_t n);

/* Index of the code or scale of element `first + at`, relative to that of element `first`, which
 * starts a group. */
uint64_t dti_quant_code_place(const struct dti_quant_plan *plan, uint64_t first, uint64_t at);
uint64_t dti_quant_scale_place(const struct dti_quant_plan *plan, uint64_t first, uint64_t at);

/* Byte offset of the codes of a block along the last axis, relative to the same start. */
size_t dti_quant_block_offset(const struct dti_quant_plan *plan, uint64_t first, uint64_t at);

/* Kernel arguments. */
struct dti_affine_args dti_quant_affine_args(const struct dti_quant_job *job,
                                             const struct dti_affine_scale *scale);
struct dti_block_args dti_quant_block_args(const struct dti_quant_job *job, bool bytes);

/* Computes the scale of a range, or returns the fixed one. */
struct dti_affine_scale dti_quant_choose(const struct dti_quant_plan *plan,
                                         const struct dti_range *range);

/* Computes the scales of some channels (or of the tensor: 0, 1), without their repeats. */
void dti_quant_scales_choose(struct dti_quant_scales *scales, const struct dti_quant_plan *plan,
                             const struct dti_quant_ranges *ranges, size_t first, size_t count);
/* dti_quant_run() for whole channels that are runs of elements, without a report; streamed stores
 * are not ordered. Prefetches as many numbers after them. */
void dti_quant_run_channels(const struct dti_quant_plan *plan, const struct dti_quant_scales *known,
                            uint64_t first, const void *numbers, size_t n, void *codes,
                            const struct dti_streaming *stream, void *scratch);

/* Kernel arguments with the scale of one channel. */
struct dti_affine_args dti_quant_channel_args(const struct dti_quant_job *job, size_t channel);

/* Zeroes packed codes that will not be written in order. */
void dti_quant_clear(const struct dti_quant_job *job);
/* NULL: stores stay in the cache. */
const struct dti_streaming *dti_quant_streaming(const struct dti_quant_plan *plan,
                                                enum dti_stores stores, uint64_t n);

/* Expands the scales of the elements from `at` on, one per element, into scratch. */
void dti_quant_spread(const struct dti_quant_job *job, uint64_t at, size_t n);
struct dti_affine_args dti_quant_spread_args(const struct dti_quant_job *job);

/* Dequantizes elements at to at + n - 1 to fp32, n <= DTI_QUANT_TILE unless plan->plain. */
void dti_quant_back_affine(const struct dti_quant_job *job, size_t at, size_t n, float *y);
void dti_quant_back_blocks(const struct dti_quant_job *job, size_t at, size_t n, float *y);
/* The same for groups with a bias; `at` starts a group. */
void dti_quant_back_biased(const struct dti_quant_job *job, size_t at, size_t n, float *y);
/* Quantizes a piece to groups with a bias. job->zero_points has the biases, as floats. */
void dti_quant_run_biased(const struct dti_quant_job *job);

static inline uint32_t dti_quant_bits(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline float dti_quant_float(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

#endif
