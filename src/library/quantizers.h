/* SPDX-License-Identifier: MIT
 *
 * Planned quantizations, for the files that make and run them. */
#ifndef LIBRARY_QUANTIZERS_H
#define LIBRARY_QUANTIZERS_H

#include "answers/rewrite/recipe.h"
#include "convert/gguf_coder.h"
#include "dtinfo/block.h"
#include "kernels/quant/nested_scales.h"
#include "library/context.h"

struct dti_quantizer {
    struct dti_context *context;
    struct dti_format number;
    struct dti_quantized_sizes sizes;
    const struct dti_gguf_type *type; /* NULL: codes with parts */
    /* codes with parts: */
    struct dti_quant_target target;
    struct dti_quant_plan *plan;
    size_t scale_bytes, code_bytes; /* of one; code_bytes: of a container */
    uint64_t scales;
    /* blocks of GGUF: */
    struct dti_plan *load, *store; /* of numbers, from fp32 and to it; store: NULL for integers */
};

/* quantizer_plan.c: fills all but the context; what was made stays for the caller to free when it
 * fails. reterr is not NULL. */
enum dti_status dti_quantizer_plan(struct dti_quantizer *quantizer,
                                   const struct dti_quantize_spec *spec, struct dti_error *reterr);

/* quantized_parts.c: the buffers are there. */
enum dti_status dti_quantized_parts_run(const struct dti_quantizer *quantizer,
                                        struct dti_team *team, const void *numbers,
                                        struct dti_quantized *ret, struct dti_quant_report *report,
                                        struct dti_error *reterr);
enum dti_status dti_quantized_parts_back(const struct dti_quantizer *quantizer,
                                         struct dti_team *team, const struct dti_quantized *parts,
                                         void *numbers, struct dti_error *reterr);

/* quantized_gguf.c: plans; then the same for blocks of GGUF. */
enum dti_status dti_quantized_gguf_plan(struct dti_quantizer *quantizer, struct dti_error *reterr);
enum dti_status dti_quantized_gguf_run(const struct dti_quantizer *quantizer, struct dti_team *team,
                                       const void *numbers, struct dti_quantized *ret,
                                       struct dti_quant_report *report, struct dti_error *reterr);
enum dti_status dti_quantized_gguf_back(const struct dti_quantizer *quantizer,
                                        struct dti_team *team, const struct dti_quantized *parts,
                                        void *numbers, struct dti_error *reterr);

#endif
