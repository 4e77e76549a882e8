/* SPDX-License-Identifier: MIT
 *
 * What `advise` plans for a loader: the rows of advise_loaders.def; and the groups of tensors that
 * must share a format there. */
#ifndef FILES_ADVISE_ADVISE_LOADERS_H
#define FILES_ADVISE_ADVISE_LOADERS_H

#include "containers/container.h"
#include "files/stored/quant_layout.h"

enum dti_advise_loader {
#define ADVISE_LOADER(id, ...) DTI_ADVISE_##id,
#include "files/advise/advise_loaders.def"
    DTI_ADVISE_LOADERS
};

struct dti_advise_row {
    char name[16];
    bool gguf; /* what is written */
    enum dti_quant_layout layout;
    bool channels, modules, experts, stacks;
    char kept[160], menu[64];
};
const struct dti_advise_row *dti_advise_row_of(enum dti_advise_loader loader);

/* Whether a tensor of a safetensors file may be quantized for the loader. */
bool dti_advise_takes(const struct dti_advise_row *row, const struct dti_tensor *tensor);

/* For each tensor of the container the first tensor of its group: itself, if it is alone. ret has
 * an entry for each. Fails with DTI_NO_MEMORY. */
enum dti_status dti_advise_groups(const struct dti_advise_row *row,
                                  const struct dti_container *container, uint32_t *ret,
                                  struct dti_error *reterr);

#endif
