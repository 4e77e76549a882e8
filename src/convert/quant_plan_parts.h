/* SPDX-License-Identifier: MIT
 *
 * The parts of a quantization plan, for the files of this folder.
 *
 * Element (o, a, i) of outer x length x inner is number o length inner + a inner + i of the array.
 * Its code has the same place, but that rows of a padded axis are longer; blocks along the last
 * axis are packed one by one, each from a whole byte on. */
#ifndef CONVERT_QUANT_PLAN_PARTS_H
#define CONVERT_QUANT_PLAN_PARTS_H

#include <string.h>

#include "convert/quant_plan.h"

/* How scales follow from ranges. */
struct dti_quant_choice {
    float divisor;        /* of amax, or of the width of the range */
    float least, nothing; /* scales: not below; of zeros alone */
    bool widens;          /* the range is widened to zero, which has a zero point: */
    int32_t zero_point;   /* otherwise this one */
};

/* What does not depend on the shape, and is large. */
struct dti_quant_shared {
    struct dti_encoder encoder; /* of float codes */
    struct dti_decoder decoder;
    struct dti_block_parts parts;
    struct dti_loss_rule loss_rule;
};

struct dti_quant_plan {
    struct dti_quant_request request;
    struct dti_quant_shared *shared;
    bool borrows; /* `shared`, load and store belong to another plan */
    struct dti_quant_sizes sizes;
    enum dti_level level;

    /* Shape. group: neighbours along the axis that share a scale; 0: scales are known before. */
    uint64_t group, places; /* codes along the axis */
    uint64_t unit;          /* elements: groups do not cross its multiples */
    bool whole;             /* rows are whole groups */
    bool alone;             /* blocks along the last axis: packed one by one */
    unsigned code_bits;     /* that a code takes: 8 and 16 in containers */
    unsigned container;     /* bytes of a code that is not packed */
    size_t scale_bytes;     /* of one scale */
    size_t block_bytes;     /* of the codes of a whole block */
    uint64_t row_bytes;     /* of the codes of the axis, once */
    size_t repeats;         /* how often the scales of all channels are repeated: rows at once */

    /* Numbers. */
    bool plain;             /* fp32 of this machine: no conversion */
    unsigned number_bits;   /* in their array */
    struct dti_plan *load;  /* to fp32 */
    struct dti_plan *store; /* from fp32, packed ones as bytes; NULL for integers */

    /* Kernels; of blocks also with a byte for each code. */
    const struct dti_quant_kernel *range, *range_columns;
    const struct dti_quant_kernel *affine, *columns, *affine_back, *columns_back;
    const struct dti_quant_kernel *blocks, *blocks_back, *bytes;
    const struct dti_kernel *pack, *unpack; /* of codes */
    const struct dti_kernel *pack_numbers;  /* of packed numbers */
    struct dti_affine_args affine_args;     /* without scales */
    struct dti_block_args block_args;       /* without tensor scale */
    struct dti_quant_choice choice;         /* its zero point is taken where none are given */

    const struct dti_loss_kernel *loss;
};

enum {
    DTI_QUANT_TILE = DTI_TILE, /* elements between numbers and codes */
    DTI_QUANT_RUN_LEAST = 64,  /* elements with one scale that are worth a call */
};

/* A thread's own memory. */
struct dti_quant_scratch {
    float x[DTI_QUANT_TILE + DTI_BLOCK_LENGTH_MAX]; /* numbers */
    float y[DTI_QUANT_TILE + DTI_BLOCK_LENGTH_MAX]; /* what comes back */
    float scale[DTI_QUANT_TILE], inverse[DTI_QUANT_TILE];
    int32_t zero_point[DTI_QUANT_TILE];
    unsigned char codes[2 * DTI_QUANT_TILE + DTI_BLOCK_LENGTH_MAX];
    unsigned char bytes[2 * DTI_QUANT_TILE + DTI_BLOCK_LENGTH_MAX];
};

/* A piece of an array on its way. Positions are counted from the piece's first element. */
struct dti_quant_job {
    const struct dti_quant_plan *plan;
    const struct dti_quant_scales *known;
    struct dti_block_recipe recipe; /* with the tensor scale */
    uint64_t first;                 /* the piece's place in the array */
    size_t n;
    const void *numbers;
    unsigned char *codes; /* written on the way there */
    unsigned char *scales;
    int32_t *zero_points; /* NULL: not wanted, or all plan->zero_point */
    const struct dti_streaming *stream;
    struct dti_quant_count *count;
    struct dti_quant_scratch *scratch;
};

/* The numbers of n elements as fp32, n <= DTI_QUANT_TILE unless plan->plain; in `buffer` if they
 * cannot stay where they are. */
const float *dti_quant_load(const struct dti_quant_plan *plan, const void *numbers, size_t at,
                            size_t n, float *buffer);
/* Numbers of n elements to where they are kept; not for plan->plain. bytes: room for them. */
void dti_quant_store(const struct dti_quant_plan *plan, void *numbers, size_t at, const float *x,
                     size_t n, unsigned char *bytes);

/* n codes, one in each container, to place `at` of an array of codes as the plan packs them, and
 * from there. Of the last byte the bits after them become 0: codes come in order. With `among`
 * they stay as they are. */
void dti_quant_put(const struct dti_quant_plan *plan, unsigned char *codes, uint64_t at,
                   const unsigned char *containers, size_t n, bool among);
void dti_quant_get(const struct dti_quant_plan *plan, unsigned char *containers,
                   const unsigned char *codes, uint64_t at, size_t n);

/* Places in arrays, counted from element `first`, where a group begins, to element `first + at`. */
uint64_t dti_quant_code_place(const struct dti_quant_plan *plan, uint64_t first, uint64_t at);
uint64_t dti_quant_scale_place(const struct dti_quant_plan *plan, uint64_t first, uint64_t at);

/* The first byte of the codes of a block along the last axis, counted the same way. */
size_t dti_quant_block_offset(const struct dti_quant_plan *plan, uint64_t first, uint64_t at);

/* Parameters of kernels. */
struct dti_affine_args dti_quant_affine_args(const struct dti_quant_job *job,
                                             const struct dti_affine_scale *scale);
struct dti_block_args dti_quant_block_args(const struct dti_quant_job *job, bool bytes);

/* The scale that follows from a range, or the fixed one. */
struct dti_affine_scale dti_quant_choose(const struct dti_quant_plan *plan,
                                         const struct dti_range *range);

/* The same by the place of a channel, whose neighbours follow. */
struct dti_affine_args dti_quant_channel_args(const struct dti_quant_job *job, size_t channel);

/* Zeros for packed codes that do not come in order. */
void dti_quant_clear(const struct dti_quant_job *job);
/* NULL: stores stay in the caches. */
const struct dti_streaming *dti_quant_streaming(const struct dti_quant_plan *plan,
                                                enum dti_stores stores, uint64_t n);

/* The scales of all elements from `at` on, in scratch. */
void dti_quant_spread(const struct dti_quant_job *job, uint64_t at, size_t n);
struct dti_affine_args dti_quant_spread_args(const struct dti_quant_job *job);

/* Elements at to at + n, n <= DTI_QUANT_TILE, as fp32. */
void dti_quant_back_affine(const struct dti_quant_job *job, size_t at, size_t n, float *y);
void dti_quant_back_blocks(const struct dti_quant_job *job, size_t at, size_t n, float *y);

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
