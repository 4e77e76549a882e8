/* SPDX-License-Identifier: MIT
 *
 * Quantized values: the rules, their meaning for a dtype (a target), the numbers, and the results.
 * All numbers are fp32 codes. */
#ifndef ANSWERS_REWRITE_QUANTIZED_H
#define ANSWERS_REWRITE_QUANTIZED_H

#include "answers/document.h"
#include "convert/quant_plan.h"
#include "core/number/number.h"
#include "files/scan/loss_summary.h"
#include "files/stored/fused_modules.h"
#include "files/stored/quant_layout.h"
#include "util/buffer.h"
#include "util/sink.h"

/* Whose arithmetic to follow. */
enum dti_quant_like {
    DTI_QUANT_LIKE_NONE,
    DTI_QUANT_LIKE_TORCH,
    DTI_QUANT_LIKE_ONNX,
    DTI_QUANT_LIKE_VLLM, /* only for reading */
};
/* Events of numbers: a set. */
enum dti_quant_event { DTI_QUANT_CLIPPED = 1, DTI_QUANT_SPECIAL = 2, DTI_QUANT_INEXACT = 4 };
enum dti_tensor_scale {
    DTI_TENSOR_SCALE_AUTO,  /* from the largest magnitude of all tensors that loaders fuse */
    DTI_TENSOR_SCALE_OWN,   /* from this tensor alone */
    DTI_TENSOR_SCALE_NONE,  /* always 1 */
    DTI_TENSOR_SCALE_GIVEN, /* scheme.blocks.tensor_scale */
};
/* Kinds of targets: a set. */
enum dti_quant_family {
    DTI_FAMILY_INTEGER = 1,
    DTI_FAMILY_FLOAT = 2,
    DTI_FAMILY_MX = 4,
    DTI_FAMILY_NV = 8,
    DTI_FAMILY_NF = 16,
    DTI_FAMILY_GGML = 32,
    DTI_FAMILY_AFFINE = DTI_FAMILY_INTEGER | DTI_FAMILY_FLOAT,
};

/* The words of rules: ROW(value, word, meaning). */
#define DTI_QUANT_SYMMETRIES(ROW)                                             \
    ROW(DTI_SYMMETRY_FULL, "full",                                            \
        "largest magnitude / 127 for 8 bits; -128 is not used (the default)") \
    ROW(DTI_SYMMETRY_HALF, "half", "largest magnitude / 127.5, half the range of codes (torch)")
#define DTI_QUANT_DIVISIONS(ROW)                                                        \
    ROW(DTI_DIVIDE_TRUE, "true", "x / scale in fp32 (ONNX; the default)")               \
    ROW(DTI_DIVIDE_RECIPROCAL, "reciprocal", "x times 1 / scale, both in fp32 (torch)") \
    ROW(DTI_DIVIDE_EXACT, "exact", "the exact quotient: only the code is rounded")
#define DTI_QUANT_LIKES(ROW)                                                                   \
    ROW(DTI_QUANT_LIKE_TORCH, "torch", "quantize_per_tensor with the scale of MinMaxObserver") \
    ROW(DTI_QUANT_LIKE_ONNX, "onnx", "QuantizeLinear with the scale of DynamicQuantizeLinear")
#define DTI_QUANT_MX_SCALES(ROW)                                                           \
    ROW(DTI_MX_FLOOR, "floor", "as OCP MX 1.0 says (the default)")                         \
    ROW(DTI_MX_CEIL, "ceil", "the next power of two up")                                   \
    ROW(DTI_MX_RCEIL, "rceil", "the lowest that clips nothing (NVIDIA)")                   \
    ROW(DTI_MX_EVEN, "even", "floor, of the magnitude rounded as the element (AMD Quark)") \
    ROW(DTI_MX_RFLOOR, "rfloor", "one power of two below, which clips the largest magnitudes")
#define DTI_QUANT_NV_SCALES(ROW)                                            \
    ROW(DTI_NV_SIX, "six", "the largest magnitude becomes 6 (the default)") \
    ROW(DTI_NV_FOUR_SIX, "four-six",                                        \
        "6 or 4, whichever has the smaller squared error (Four Over Six)")  \
    ROW(DTI_NV_UNROUNDED, "unrounded", "6, and codes by the scale before it is rounded")
#define DTI_QUANT_PERS(ROW)                                        \
    ROW(DTI_PER_TENSOR, "tensor", "one scale (the default)")       \
    ROW(DTI_PER_CHANNEL, "channel", "one per index along an axis") \
    ROW(DTI_PER_GROUP, "block", "one per block of neighbours")
#define DTI_QUANT_ORDERS(ROW)                                               \
    ROW(DTI_BLOCK_LOW, "low", "the first in the lowest bits (the default)") \
    ROW(DTI_BLOCK_HIGH, "high", "the first in the highest bits")
#define DTI_QUANT_TENSOR_SCALES(ROW)                                                        \
    ROW(DTI_TENSOR_SCALE_AUTO, "auto",                                                      \
        "largest magnitude / 2688, with four-six / 1536 (the default)")                     \
    ROW(DTI_TENSOR_SCALE_OWN, "own", "auto, but tensors that loaders fuse do not share it") \
    ROW(DTI_TENSOR_SCALE_NONE, "none", "1: scales of blocks alone")

enum { DTI_QUANT_GROUP_MAX = 65536 }; /* elements that share a scale */

/* The rules, independent of the dtype. Zeros are the defaults. */
struct dti_quant_rules {
    int like;         /* enum dti_quant_like */
    int symmetry;     /* enum dti_quant_symmetry; DTI_SYMMETRY_NONE: derived from the other rules */
    int division;     /* enum dti_quant_division */
    int mx_scale;     /* enum dti_mx_scale */
    int nv_scale;     /* enum dti_nv_scale */
    int per;          /* enum dti_quant_per; DTI_PER_TENSOR: derived from block and has_axis */
    int order;        /* enum dti_block_order, of codes below 8 bits: DTI_BLOCK_LOW or HIGH */
    int tensor_scale; /* enum dti_tensor_scale */
    bool symmetric, affine;
    uint64_t block; /* consecutive elements that share a scale, or 0 */
    /* Without has_scale the scale is computed from the range, which is that of the values unless
     * given. */
    bool has_min, has_max, has_scale, has_axis;
    uint32_t min, max, scale;
    bool has_zero_point; /* with has_scale; otherwise it is in the middle */
    int32_t zero_point;
    uint32_t tensor_scale_number; /* DTI_TENSOR_SCALE_GIVEN */
    int64_t axis;                 /* negative: from the end */
};

/* Applies a file layout to the rules: a layout that flattens tensors packs the first code into the
 * highest bits, and has its own arithmetic unless another is given. */
void dti_quant_rules_settle(struct dti_quant_rules *rules, enum dti_quant_layout layout,
                            bool arithmetic_given);

/* One dtype and the rules applied to it. */
struct dti_quant_target {
    struct dti_quant_scheme scheme; /* fixed if the scale or the whole range is given */
    const char *name;               /* as every command spells it; stored in the target */
    struct dti_format code;         /* the dtype whose encoding the codes use */
    bool has_min, has_max;
    uint32_t min, max;
    enum dti_tensor_scale tensor_scale;
    struct dti_fused_own own;   /* tensor_scale AUTO: a group of fused modules */
    enum dti_block_order order; /* of codes below 8 bits */
    bool has_axis;              /* otherwise the last one for blocks and groups, 0 for channels */
    int64_t axis;               /* negative: from the end */
    const char *note;           /* a note about the spelling of the dtype, or NULL */
    bool gguf; /* blocks of GGUF files: only per and the group count of the scheme are set */
};

/* quant_inputs.c: looks up a dtype or block format. Points into itself: do not copy it. Fails with
 * DTI_UNKNOWN_DTYPE, DTI_AMBIGUOUS_DTYPE, DTI_WRONG_KIND. */
enum dti_status dti_quant_target_find(struct dti_quant_target *ret, const char *name,
                                      struct dti_error *reterr);
/* Applies the rules to a target. */
void dti_quant_target_settle(struct dti_quant_target *target, const struct dti_quant_rules *rules);
enum dti_quant_family dti_quant_family(const struct dti_quant_target *target);
/* Whether its scale was given instead of computed from a range. */
bool dti_quant_scale_given(const struct dti_quant_target *target);

/* quant_inputs.c: numbers as given. */
struct dti_quant_input {
    size_t text; /* its index among the texts */
    uint32_t x;
    bool rounded; /* x differs from the given number */
};
struct dti_quant_inputs {
    struct dti_buffer texts; /* each ends with a NUL */
    struct dti_quant_input *list;
    size_t count, capacity;
    size_t rounded; /* how many of them are rounded */
};
void dti_quant_inputs_init(struct dti_quant_inputs *ret);
void dti_quant_inputs_free(struct dti_quant_inputs *numbers);
enum dti_status dti_quant_inputs_add(struct dti_quant_inputs *numbers, const char *text,
                                     size_t length, struct dti_error *reterr);
static inline const char *dti_quant_text(const struct dti_quant_inputs *numbers, size_t at)
{
    return numbers->texts.data + numbers->list[at].text;
}

struct dti_quant_element {
    uint32_t code, back;
    bool clipped, special;
};
/* The values that share a scale: all, a group of neighbours, or a block. */
struct dti_quant_group {
    size_t first, count;
    bool has_range;              /* affine, unless the scale was given */
    uint32_t min, max;           /* affine: widened to include zero if there is a zero point */
    uint32_t seen_min, seen_max; /* the range before widening */
    struct dti_affine_scale affine;
    uint32_t amax, scale;            /* blocks: fp32 code, code of the scale's dtype */
    size_t finite, clipped, special; /* finite: of affine groups */
};
struct dti_quant_result {
    const struct dti_quant_target *target;
    const struct dti_quant_inputs *numbers;
    struct dti_block_recipe recipe; /* blocks: with the tensor scale */
    struct dti_quant_group *groups;
    size_t group_count;
    struct dti_quant_element *elements; /* one per number */
    size_t clipped, special;
    struct dti_loss_summary loss;
    uint64_t code_bytes, scale_bytes; /* packed */
};

/* quant_result.c: quantizes all numbers, of which there is at least one. If only one end of the
 * range is given, it must not lie beyond the numbers: see dti_quant_range_is_empty(). False when
 * out of memory. */
bool dti_quant_result_make(struct dti_quant_result *ret, const struct dti_quant_target *target,
                           const struct dti_quant_inputs *numbers);
void dti_quant_result_free(struct dti_quant_result *result);
/* Whether the only given end of a range is beyond all numbers; *ret_end is the other end, from the
 * numbers. */
bool dti_quant_range_is_empty(const struct dti_quant_target *target,
                              const struct dti_quant_inputs *numbers, uint32_t *ret_end);
/* A set of enum dti_quant_event. */
unsigned dti_quant_events(const struct dti_quant_result *result);

/* quantized.c: values derived from a result. */
/* The group's scale: the factor of element numbers. NaN for NaN scales. */
uint32_t dti_quant_multiplier(const struct dti_quant_result *result,
                              const struct dti_quant_group *group);
/* Affine: the numbers of the lowest and the highest code. */
void dti_quant_reach(const struct dti_quant_target *target, const struct dti_quant_group *group,
                     uint32_t *ret_lowest, uint32_t *ret_highest);
/* The value of a code, without scale and zero point. */
void dti_quant_code_number(const struct dti_quant_target *target, uint32_t code,
                           struct dti_value *ret_value);
/* The group's packed codes in hexadecimal; ggml: with the scale first. Out of memory: hex->failed.
 */
void dti_quant_packed(const struct dti_quant_result *result, const struct dti_quant_group *group,
                      bool ggml, struct dti_buffer *hex);
bool dti_quant_has_ggml(const struct dti_quant_target *target);

/* A number of a result, and its derived values. */
struct dti_quant_facts {
    size_t index;
    const struct dti_format *format; /* of the code */
    const struct dti_quant_input *number;
    const struct dti_quant_element *stored;
    int64_t code;             /* signed for signed integer dtypes */
    bool has_scaled;          /* not for specials, nor if the scale is zero or NaN */
    struct dti_value scaled;  /* before rounding to a code: x / scale with the target's division,
                               * exactly for blocks */
    struct dti_value element; /* the value of the code */
    const char *input;        /* as it was given */
    bool has_error;           /* x and the dequantized number are finite */
    bool has_relative;        /* and x is not zero */
    struct dti_difference difference; /* dequantized - x */
    struct dti_buffer exact;          /* the same with all digits */
    bool failed;                      /* memory ran out */
};
void dti_quant_facts(const struct dti_quant_result *result, const struct dti_quant_group *group,
                     size_t at, struct dti_quant_facts *ret);
void dti_quant_facts_free(struct dti_quant_facts *facts);

/* quantized.c: the document. Targets are quantized one by one while it is written. */
struct dti_quant_answer {
    const struct dti_quant_rules *rules;
    const struct dti_quant_target *targets;
    size_t count;
    const struct dti_quant_inputs *numbers;
    const struct dti_sink *stream; /* stream for elements, which are written one by one; or NULL */
    unsigned *ret_events;          /* receives the events of all results */
};
void dti_document_quant(struct dti_json *json, const struct dti_quant_answer *answer);
const char *dti_quant_like_word(int like); /* "torch"; NULL for DTI_QUANT_LIKE_NONE */
/* Shared with other documents. */
dti_object_rows dti_object_quant_recipe, dti_object_quant_options;
void dti_put_quant_recipe(struct dti_json *json, const char *key,
                          const struct dti_quant_target *target);
void dti_put_members_quant_options(struct dti_json *json, const struct dti_quant_rules *rules);

#endif
