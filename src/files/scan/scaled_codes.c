/* SPDX-License-Identifier: MIT
 *
 * Finds tensors of codes that have scales, and reports them. */
#include "files/scan/scaled_codes.h"

#include <stdio.h>

#include "files/dequant/dequant_layouts.h"

/* Most files have no codes and need no name index. A quantization state consists of bytes, whatever
 * its codes are called. */
static bool any_narrow(const struct dti_container *container)
{
    for (size_t i = 0; i < container->tensor_count; i++) {
        if (dti_may_be_codes(&container->tensors[i]))
            return true;
    }
    return false;
}

bool dti_scaled_codes_find(struct dti_scaled_codes *ret, const struct dti_container *container,
                           const struct dti_tensor *const *tensors, size_t count)
{
    struct dti_scaled_codes found = {.count = 0};
    struct dti_quant_names names = {.buffer = NULL};
    const bool narrow = any_narrow(container);
    const bool done = !narrow || dti_quant_names_init(&names, container);
    for (size_t i = 0; i < count && narrow && done; i++) {
        const size_t at = (size_t)(tensors[i] - container->tensors);
        struct dti_named_codes codes;
        if ((!dti_quant_names_codes(&names, at, &codes) || !codes.scaled) &&
            !dti_layouts_scale(&names, at, &codes.scale))
            continue;
        if (found.count++ == 0) {
            found.first = tensors[i];
            found.scale = &container->tensors[codes.scale];
        }
    }
    dti_quant_names_free(&names);
    if (done)
        *ret = found;
    return done;
}

struct dti_note dti_scaled_codes_note(const struct dti_scaled_codes *codes,
                                      char buffer[DTI_SCALED_CODES_TEXT])
{
    char name[DTI_QUOTE_SIZE], scale[DTI_QUOTE_SIZE], more[64] = "";
    if (codes->count == 2)
        (void)snprintf(more, sizeof more, ", and neither is that of another tensor");
    else if (codes->count > 2)
        (void)snprintf(more, sizeof more, ", and neither are those of %zu other tensors",
                       codes->count - 1);
    (void)snprintf(buffer, DTI_SCALED_CODES_TEXT,
                   "tensor %s holds codes, and its scale %s is not applied%s",
                   dti_quote(name, codes->first->name, codes->first->name_length),
                   dti_quote(scale, codes->scale->name, codes->scale->name_length), more);
    return (struct dti_note){
        .code = "scale_not_applied", .text = buffer, .remedy = DTI_REMEDY_APPLY_SCALES};
}
