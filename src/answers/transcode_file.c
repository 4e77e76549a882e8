/* SPDX-License-Identifier: MIT
 *
 * The answer of a translation as JSON: see transcode_file.h. Tensors are written one after another,
 * so memory does not grow with their number. */
#include "answers/transcode_file.h"

#include <string.h>

#include "answers/common.h"
#include "answers/quant_file.h"
#include "answers/rows.h"

struct transcode_tensor_of {
    const struct dti_transcode_answer *answer;
    size_t at;
};

static const char *layout_words(size_t index)
{
    return index < DTI_TRANSCODE_COUNT ? dti_transcode_layout_name((enum dti_transcode_layout)index)
                                       : NULL;
}

DTI_WORDS(config_words, "config.json", "hf_quant_config.json")
/* By enum dti_fate. */
DTI_WORDS(fate_words, [DTI_FATE_CHANGED] = "translated", [DTI_FATE_SAME] = "copied",
          [DTI_FATE_KEEP] = "keep", [DTI_FATE_ONLY] = "not_only")

static enum dti_fate fate_of(const struct dti_rewrite_tensor *tensor)
{
    return tensor->fate > DTI_FATE_ONLY ? DTI_FATE_SAME : tensor->fate;
}

bool dti_transcode_begins(const struct dti_rewrite *rewrite, size_t at, size_t *ret_origin,
                          const struct dti_transcode_verdict **ret)
{
    const struct dti_file_transcode *const transcode = rewrite->request.transcode;
    const size_t place = rewrite->tensors[at].source;
    *ret_origin = dti_file_transcode_origin(transcode, place);
    *ret = dti_file_transcode_verdict(transcode, *ret_origin);
    return (*ret)->first == place;
}

void dti_transcode_sum(const struct dti_rewrite *rewrite, struct dti_transcode_totals *ret)
{
    memset(ret, 0, sizeof *ret);
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_transcode_verdict *verdict;
        size_t origin;
        if (!dti_transcode_begins(rewrite, i, &origin, &verdict))
            continue;
        if (!verdict->changed) {
            ret->kept++;
            ret->stored_bytes += dti_rewrite_source(rewrite, i)->bytes;
            continue;
        }
        ret->stored_bytes += dti_file_dequant_form(rewrite->request.dequant, origin)->stored_bytes;
        ret->translated++;
        ret->lossless += verdict->lossless == verdict->blocks;
        ret->blocks += verdict->blocks;
        ret->lossless_blocks += verdict->lossless;
        ret->worst = verdict->worst > ret->worst ? verdict->worst : ret->worst;
    }
}

#define DTI_ROWS "answers/transcode_file.def"
#include "answers/rows.h"
