/* SPDX-License-Identifier: MIT
 *
 * The output layer of a model with tied embeddings: tied_output.h. */
#include "files/config/tied_output.h"

#include <stdio.h>

#include "files/config/quant_config.h"
#include "files/stored/tensor_choice.h"

bool dti_is_output_layer(const struct dti_tensor *tensor)
{
    return dti_tensor_fits("*lm_head.weight", tensor);
}

enum dti_status dti_tied_output_stays(const struct dti_container *container,
                                      enum dti_quant_layout layout, const char *keep, bool *ret,
                                      struct dti_error *reterr)
{
    struct dti_quant_config config = {.file = NULL};
    size_t at = layout == DTI_LAYOUT_MLX ? 0 : container->tensor_count;
    *ret = false;
    while (at < container->tensor_count && (!dti_is_output_layer(&container->tensors[at]) ||
                                            dti_tensor_fits(keep, &container->tensors[at])))
        at++;
    if (at == container->tensor_count)
        return DTI_OK;
    const enum dti_status status = dti_quant_config_read(container, &config, reterr);
    *ret = status == DTI_OK && config.model.tied;
    dti_quant_config_free(&config);
    if (status == DTI_BAD_INPUT && reterr) {
        dti_error_of_tensor(container, at, reterr);
        reterr->remedy = DTI_REMEDY_KEEP;
    }
    return status;
}

struct dti_note dti_tied_output_note(const struct dti_tensor *tensor, char buffer[DTI_TIED_NOTE])
{
    char name[DTI_QUOTE_SIZE];
    (void)snprintf(buffer, DTI_TIED_NOTE,
                   "%s stays as it is: config.json says tie_word_embeddings, so that mlx-lm takes "
                   "the embedding instead, and refuses the scales of another layer",
                   dti_quote(name, tensor->name, tensor->name_length));
    return (struct dti_note){.code = "tied_output", .text = buffer};
}
