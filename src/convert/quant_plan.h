/* SPDX-License-Identifier: MIT
 *
 * Quantization and dequantization of whole arrays: which kernels to use, how to cut the array
 * into pieces, where scales are. A plan is immutable, so threads share it. An array is processed
 * in one pass over its pieces, or in two (range, then codes) if scales depend on more than one
 * piece.
 *
 * The array is outer x length x inner (row-major). Codes keep its order and are packed in that
 * order (blocks along the last axis: block by block). Scales have the shape of the array with
 * the axis reduced to one entry per group: outer x ceil(length / group) x inner; per channel:
 * the length of the axis; per tensor: one. */
#ifndef CONVERT_QUANT_PLAN_H
#define CONVERT_QUANT_PLAN_H

#include "convert/plan.h"
#include "kernels/quant/quant_kernel.h"
#include "kernels/scan/loss.h"
#include "util/run/parallel.h"

struct dti_quant_request {
    struct dti_quant_scheme scheme;
    struct dti_format number;   /* source, or destination when dequantizing. Floats, or integers as
                                 * source. Values beyond fp32 are rounded to it */
    struct dti_layout layout;   /* of the numbers */
    enum dti_block_order order; /* of packed codes (affine too): LOW, HIGH or BYTES */
    uint64_t outer, length, inner;
    bool pad; /* blocks and groups: zero-pad rows to whole groups, which adds codes. Otherwise the
                 last group of a row may be short */
};

struct dti_quant_plan;
/* Fails with DTI_WRONG_KIND, DTI_USAGE (sizes that overflow, values that no enum has),
 * DTI_NO_MEMORY. */
enum dti_status dti_quant_plan_new(struct dti_quant_plan **ret,
                                   const struct dti_quant_request *request, enum dti_level allowed,
                                   struct dti_error *reterr);
/* The same for another shape: the request may differ from that of `like` only in outer, length,
 * inner and pad. Much cheaper; shares the resources of `like`, which must outlive it. */
enum dti_status dti_quant_plan_new_like(struct dti_quant_plan **ret,
                                        const struct dti_quant_request *request,
                                        const struct dti_quant_plan *like,
                                        struct dti_error *reterr);
void dti_quant_plan_free(struct dti_quant_plan *plan); /* NULL is fine */
const struct dti_quant_request *dti_quant_plan_request(const struct dti_quant_plan *plan);
/* Names of the kernels, joined by " + ". */
const char *dti_quant_plan_describe(const struct dti_quant_plan *plan, bool back,
                                    char buffer[DTI_PLAN_TEXT_SIZE]);

struct dti_quant_sizes {
    uint64_t elements; /* outer x length x inner */
    uint64_t codes;    /* the same number, or more with pad */
    uint64_t code_bytes;
    uint64_t groups;      /* along the axis */
    uint64_t scales;      /* number of scales; affine: also of zero points or biases */
    uint64_t scale_bytes; /* fp32 for affine; the format's scale dtype for blocks */
    uint64_t grain; /* elements: pieces start at multiples of it; the last piece may be short. A
                       piece then has whole code bytes and scales: */
    uint64_t grain_code_bytes; /* per grain: a piece that starts at element k * grain */
    uint64_t grain_scales; /* starts at code byte k * grain_code_bytes and scale k * grain_scales; 0
                              if all scales are known in advance */
};
void dti_quant_plan_sizes(const struct dti_quant_plan *plan, struct dti_quant_sizes *ret);

/* Whether a first pass is needed: per tensor and per channel (not `fixed`), nvfp4 with a tensor
 * scale, and nested scales. */
bool dti_quant_plan_needs_range(const struct dti_quant_plan *plan);
/* Ranges of one array: a single one, or one per channel. */
struct dti_quant_ranges;
enum dti_status dti_quant_ranges_new(struct dti_quant_ranges **ret,
                                     const struct dti_quant_plan *plan, struct dti_error *reterr);
void dti_quant_ranges_free(struct dti_quant_ranges *ranges);
/* Adds a piece: n elements starting at `first`. Not thread-safe: give each thread its own ranges
 * and merge them. */
void dti_quant_range(const struct dti_quant_plan *plan, struct dti_quant_ranges *ranges,
                     uint64_t first, const void *numbers, size_t n);
void dti_quant_ranges_merge(struct dti_quant_ranges *ranges, const struct dti_quant_ranges *part);
/* The range of the whole array; adding a range of other numbers (not per channel). */
struct dti_range dti_quant_ranges_all(const struct dti_quant_ranges *ranges);
void dti_quant_ranges_add(struct dti_quant_ranges *ranges, const struct dti_range *range);

/* The scales of one array that are known before its codes: of the tensor, or of all channels. */
struct dti_quant_scales {
    size_t count;           /* 0 for groups and blocks */
    size_t repeats;         /* number of copies of all scales, see _ready() */
    float *scale, *inverse; /* inverse: 1 / scale */
    int32_t *zero_point;
    float tensor_scale;   /* DTI_BLOCKS_NV; else 1 */
    float tensor_divisor; /* tensor_scale is its reciprocal, in layouts that store it; else 0 */
    float offset;         /* nested: the mean of all scales; NaN if a block's scale is not finite */
    struct dti_range range; /* of the whole array; empty without a first pass */
};
/* Computes scales from ranges (NULL: fixed scales, or none) with dti_affine_choose() and
 * dti_nv_tensor_scale(). */
enum dti_status dti_quant_scales_new(struct dti_quant_scales **ret,
                                     const struct dti_quant_plan *plan,
                                     const struct dti_quant_ranges *ranges,
                                     struct dti_error *reterr);
/* Allocates scales that come from a file: the caller fills scale and zero_point, then calls
 * _ready(). */
enum dti_status dti_quant_scales_alloc(struct dti_quant_scales **ret,
                                       const struct dti_quant_plan *plan, struct dti_error *reterr);
void dti_quant_scales_ready(struct dti_quant_scales *scales); /* fills inverse and the repeats */
void dti_quant_scales_free(struct dti_quant_scales *scales);

/* Sees the numbers of arrays and what is stored for them: n numbers from `index` on, by any thread.
 * array: a number that the caller gave it. */
struct dti_error_watch {
    void (*add)(void *context, size_t array, const float *numbers, const float *stored, size_t n,
                uint64_t index);
    void *context;
};

/* Statistics of a quantized array. loss: compares the source with the dequantized numbers, both
 * as fp32. Its tiles restart at each grain, so it does not depend on the pieces. */
struct dti_quant_report {
    struct dti_quant_count count;
    struct dti_loss loss;
    const struct dti_error_watch *watch; /* also sees the numbers that are compared; NULL: none */
    size_t watched;                      /* its number of the array */
};
void dti_quant_report_init(struct dti_quant_report *ret);
void dti_quant_report_merge(struct dti_quant_report *report, const struct dti_quant_report *part);

/* The dtype of scales and biases for numbers of a dtype: theirs, or else fp32. */
enum dti_dtype dti_quant_biased_number(const struct dti_format *number);

/* Quantizes one piece in the calling thread. codes: of this piece only. scales, zero_points: of
 * the groups or blocks of this piece only (fp32 and int32 arrays for groups; the format's scale
 * codes for blocks); unused if `known` has the scales. Nested scales are returned before
 * nesting; only the report uses the dequantized nested scales. zero_points may be NULL if all
 * are equal: any symmetry but DTI_SYMMETRY_NONE, and float codes. With biased groups it has their
 * biases, which are floats; scales and biases are fp32 numbers that dti_quant_biased_number() has.
 * report: added to; NULL if
 * counts and losses are not needed; with a report, stores are not streamed. scratch:
 * dti_quant_plan_scratch() bytes, aligned like malloc(), private to the thread. */
size_t dti_quant_plan_scratch(const struct dti_quant_plan *plan);
void dti_quant_run(const struct dti_quant_plan *plan, const struct dti_quant_scales *known,
                   uint64_t first, const void *numbers, size_t n, void *codes, void *scales,
                   int32_t *zero_points, enum dti_stores stores, struct dti_quant_report *report,
                   void *scratch);
/* Dequantizes one piece. */
void dti_quant_back(const struct dti_quant_plan *plan, const struct dti_quant_scales *known,
                    uint64_t first, void *numbers, size_t n, const void *codes, const void *scales,
                    const int32_t *zero_points, enum dti_stores stores, void *scratch);

/* Quantizes a whole array in memory with a team (NULL: the calling thread): both passes. */
struct dti_quantized_array {
    void *codes, *scales; /* sizes: see dti_quant_plan_sizes() */
    /* affine only; NULL: not wanted (for groups only where dti_quant_run() allows it) */
    int32_t *zero_points;
    float tensor_scale;
    float offset; /* nested: see dti_quant_scales; unused on the way back */
};
enum dti_status dti_quant_array(const struct dti_quant_plan *plan, struct dti_team *team,
                                const void *numbers, struct dti_quantized_array *array,
                                enum dti_stores stores, struct dti_quant_report *report,
                                struct dti_error *reterr);
enum dti_status dti_quant_array_back(const struct dti_quant_plan *plan, struct dti_team *team,
                                     const struct dti_quantized_array *array, void *numbers,
                                     enum dti_stores stores, struct dti_error *reterr);

#endif
