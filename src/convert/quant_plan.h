/* SPDX-License-Identifier: MIT
 *
 * Quantization of a whole array, and dequantization: which kernels, how it is cut into pieces,
 * where scales are. A plan is constant after it was made, and threads share it. An array is done in
 * one pass over its pieces, or in two where scales come from more than a piece: range, then codes.
 *
 * The array is outer x length x inner (row-major). Codes keep its order; packed codes are packed in
 * that order (blocks along the last axis: block by block). Scales have the shape of the array with
 * the axis shortened to one place a group: outer x ceil(length / group) x inner; per channel: the
 * length of the axis; per tensor: one. */
#ifndef CONVERT_QUANT_PLAN_H
#define CONVERT_QUANT_PLAN_H

#include "convert/plan.h"
#include "kernels/quant/quant_kernel.h"
#include "kernels/scan/loss.h"
#include "util/run/parallel.h"

struct dti_quant_request {
    struct dti_quant_scheme scheme;
    struct dti_format number;   /* of the numbers: source, or destination of the way back; floats
                                 * (integers too as source). Beyond fp32: rounded to it */
    struct dti_layout layout;   /* of the numbers */
    enum dti_block_order order; /* of codes below 8 bits: LOW, HIGH or BYTES; affine codes too */
    uint64_t outer, length, inner;
    bool pad; /* blocks and groups: rows are filled up with zeros to whole groups, and codes are as
               * many. Otherwise the last group of a row may be short */
};

struct dti_quant_plan;
/* Fails with DTI_WRONG_KIND, DTI_USAGE (sizes that overflow), DTI_NO_MEMORY. */
enum dti_status dti_quant_plan_new(struct dti_quant_plan **ret,
                                   const struct dti_quant_request *request, enum dti_level allowed,
                                   struct dti_error *reterr);
/* The same for another shape: the request differs from that of `like` in outer, length, inner and
 * pad alone. It is much cheaper, and uses what `like` has, which must live longer. */
enum dti_status dti_quant_plan_new_like(struct dti_quant_plan **ret,
                                        const struct dti_quant_request *request,
                                        const struct dti_quant_plan *like,
                                        struct dti_error *reterr);
void dti_quant_plan_free(struct dti_quant_plan *plan); /* NULL is fine */
const struct dti_quant_request *dti_quant_plan_request(const struct dti_quant_plan *plan);
/* Kernels by name, joined by " + ". */
const char *dti_quant_plan_describe(const struct dti_quant_plan *plan, bool back,
                                    char buffer[DTI_PLAN_TEXT_SIZE]);

struct dti_quant_sizes {
    uint64_t elements; /* outer x length x inner */
    uint64_t codes;    /* as many, or more with pad */
    uint64_t code_bytes;
    uint64_t groups;      /* along the axis */
    uint64_t scales;      /* how many; so many zero points, affine */
    uint64_t scale_bytes; /* fp32 for affine, of the format's scale dtype for blocks */
    uint64_t grain;       /* elements: pieces begin at multiples of it; the last piece may be short.
                           * code bytes and scales of a piece then are whole: */
    uint64_t grain_code_bytes; /* of so many elements: a piece that begins at element k grain */
    uint64_t grain_scales;     /* begins at code byte k grain_code_bytes and scale k grain_scales;
                                * 0 where all scales are known before */
};
void dti_quant_plan_sizes(const struct dti_quant_plan *plan, struct dti_quant_sizes *ret);

/* The first pass: per tensor and per channel (not `fixed`), nvfp4 with a tensor scale, and nested
 * scales. */
bool dti_quant_plan_needs_range(const struct dti_quant_plan *plan);
/* Ranges of one array: one, or one a channel. */
struct dti_quant_ranges;
enum dti_status dti_quant_ranges_new(struct dti_quant_ranges **ret,
                                     const struct dti_quant_plan *plan, struct dti_error *reterr);
void dti_quant_ranges_free(struct dti_quant_ranges *ranges);
/* Adds a piece: n elements whose first is `first`. Not from two threads with the same ranges: give
 * each its own and merge. */
void dti_quant_range(const struct dti_quant_plan *plan, struct dti_quant_ranges *ranges,
                     uint64_t first, const void *numbers, size_t n);
void dti_quant_ranges_merge(struct dti_quant_ranges *ranges, const struct dti_quant_ranges *part);
/* The range of the whole array, and what other numbers add to it: not per channel. */
struct dti_range dti_quant_ranges_all(const struct dti_quant_ranges *ranges);
void dti_quant_ranges_add(struct dti_quant_ranges *ranges, const struct dti_range *range);

/* The scales of one array that are known before its codes: of the tensor, or of all channels. */
struct dti_quant_scales {
    size_t count;           /* 0 for groups and blocks */
    size_t repeats;         /* how often all of them repeat, see _ready() */
    float *scale, *inverse; /* inverse: 1 / scale */
    int32_t *zero_point;
    float tensor_scale;   /* DTI_BLOCKS_NV; else 1 */
    float tensor_divisor; /* whose reciprocal it is, where a layout stores that; else 0 */
    float offset;         /* nested: the mean of all scales; NaN where a block has no finite one */
    struct dti_range range; /* of the whole array; empty without a first pass */
};
/* From ranges (NULL: fixed ones, or none), by dti_affine_choose() and dti_nv_tensor_scale(). */
enum dti_status dti_quant_scales_new(struct dti_quant_scales **ret,
                                     const struct dti_quant_plan *plan,
                                     const struct dti_quant_ranges *ranges,
                                     struct dti_error *reterr);
/* Memory for scales from a file: the caller fills scale and zero_point, then calls _ready().
 */
enum dti_status dti_quant_scales_alloc(struct dti_quant_scales **ret,
                                       const struct dti_quant_plan *plan, struct dti_error *reterr);
void dti_quant_scales_ready(struct dti_quant_scales *scales); /* fills inverse */
void dti_quant_scales_free(struct dti_quant_scales *scales);

/* What quantization did to an array. loss: the source compared with the dequantized numbers, both
 * as fp32, by tiles that start again with each grain, so that it does not depend on pieces. */
struct dti_quant_report {
    struct dti_quant_count count;
    struct dti_loss loss;
};
void dti_quant_report_init(struct dti_quant_report *ret);
void dti_quant_report_merge(struct dti_quant_report *report, const struct dti_quant_report *part);

/* One piece, in the calling thread. codes: of this piece alone. scales, zero_points: of groups and
 * blocks, of this piece alone (fp32 and int32 arrays for groups; the format's scale codes for
 * blocks); not looked at where `known` has them. Scales that are to be nested come as they are:
 * only the report is of numbers that come back through nested ones. zero_points may be NULL where
 * all are the same: any symmetry but DTI_SYMMETRY_NONE, float codes. report: added to, NULL for
 * counts and losses not needed; with one, stores are not streamed. scratch:
 * dti_quant_plan_scratch() bytes, aligned as malloc() does, the thread's own. */
size_t dti_quant_plan_scratch(const struct dti_quant_plan *plan);
void dti_quant_run(const struct dti_quant_plan *plan, const struct dti_quant_scales *known,
                   uint64_t first, const void *numbers, size_t n, void *codes, void *scales,
                   int32_t *zero_points, enum dti_stores stores, struct dti_quant_report *report,
                   void *scratch);
/* The way back. */
void dti_quant_back(const struct dti_quant_plan *plan, const struct dti_quant_scales *known,
                    uint64_t first, void *numbers, size_t n, const void *codes, const void *scales,
                    const int32_t *zero_points, enum dti_stores stores, void *scratch);

/* A whole array in memory by a team (NULL: this thread): both passes. */
struct dti_quantized_array {
    void *codes, *scales; /* dti_quant_plan_sizes() */
    /* affine; NULL: not wanted, of groups only where dti_quant_run() says so */
    int32_t *zero_points;
    float tensor_scale;
};
enum dti_status dti_quant_array(const struct dti_quant_plan *plan, struct dti_team *team,
                                const void *numbers, struct dti_quantized_array *array,
                                enum dti_stores stores, struct dti_quant_report *report,
                                struct dti_error *reterr);
enum dti_status dti_quant_array_back(const struct dti_quant_plan *plan, struct dti_team *team,
                                     const struct dti_quantized_array *array, void *numbers,
                                     enum dti_stores stores, struct dti_error *reterr);

#endif
