/* SPDX-License-Identifier: MIT
 *
 * The answer of a dequantization as JSON: see dequant.h. Tensors are written one after another, so
 * memory does not grow with their number. */
#include "answers/dequant.h"

#include <string.h>

#include "answers/common.h"
#include "answers/quant_file.h"
#include "answers/rows.h"

struct dequant_tensor_of {
    const struct dti_dequant_answer *answer;
    size_t at;
};

DTI_WORDS(config_words, "config.json", "hf_quant_config.json")
/* After the first: why it was kept, by enum dti_fate. */
DTI_WORDS(fate_words, "dequantized", [1 + DTI_FATE_CHANGED] = "cast",
          [1 + DTI_FATE_SAME] = "same_dtype", [1 + DTI_FATE_KEEP] = "keep",
          [1 + DTI_FATE_ONLY] = "not_only", [1 + DTI_FATE_INTEGER] = "integer",
          [1 + DTI_FATE_COMPLEX] = "complex")

void dti_dequant_sum(const struct dti_rewrite *rewrite, struct dti_dequant_totals *ret)
{
    memset(ret, 0, sizeof *ret);
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[i];
        const bool quantized = dti_dequant_form(rewrite, i)->dtype != NULL;
        uint64_t nan, inf;
        dti_file_dequant_specials(rewrite->request.dequant,
                                  dti_rewrite_place(rewrite, tensor->source), &nan, &inf);
        ret->dequantized += quantized;
        ret->cast += !quantized && tensor->fate == DTI_FATE_CHANGED;
        ret->nan += nan;
        ret->inf += inf;
        ret->stored_bytes += dti_dequant_stored_bytes(rewrite, i);
    }
}

#define DTI_ROWS "answers/dequant.def"
#include "answers/rows.h"
