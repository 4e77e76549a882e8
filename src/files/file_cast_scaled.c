/* SPDX-License-Identifier: MIT
 *
 * Tensors that are cast although they are codes: what comes out are not the numbers that they stand
 * for, and that is said. */
#include <stdio.h>

#include "files/file_cast_parts.h"
#include "files/quant_names.h"

static void warn_of(const struct dti_file_cast *cast, const struct dti_quant_names *names)
{
    const struct dti_file_cast_request *const request = &cast->request;
    const struct dti_tensor *first = NULL, *scale = NULL;
    size_t others = 0;
    for (size_t i = 0; i < cast->tensor_count; i++) {
        const size_t at = cast->tensors[i].source;
        struct dti_named_codes codes;
        if (cast->tensors[i].fate != DTI_FATE_CAST || !dti_quant_names_codes(names, at, &codes) ||
            !codes.scaled)
            continue;
        others += first != NULL;
        scale = first ? scale : &names->container->tensors[codes.scale];
        first = first ? first : &names->container->tensors[at];
    }
    if (!first)
        return;
    char name[DTI_QUOTE_SIZE], of_scale[DTI_QUOTE_SIZE], more[64] = "";
    char text[2 * DTI_QUOTE_SIZE + 256];
    if (others > 0)
        (void)snprintf(more, sizeof more, ", nor are those of %zu other tensors", others);
    (void)snprintf(text, sizeof text,
                   "tensor %s holds codes, and its scale %s is not applied%s; 'quant --dequant' "
                   "applies scales",
                   dti_quote(name, first->name, first->name_length),
                   dti_quote(of_scale, scale->name, scale->name_length), more);
    request->warn(request->warn_context, "scale_not_applied", text);
}

enum dti_status dti_file_cast_warn_scaled(const struct dti_file_cast *cast,
                                          struct dti_error *reterr)
{
    struct dti_quant_names names = {.room = NULL};
    bool narrow = false;
    for (size_t i = 0; i < cast->tensor_count; i++) /* most files have no codes */
        narrow = narrow || (cast->tensors[i].fate == DTI_FATE_CAST &&
                            (dti_file_cast_source(cast, i)->format->width <= 8 ||
                             dti_format_is_integer(dti_file_cast_source(cast, i)->format)));
    if (!narrow || cast->request.view || !cast->request.warn)
        return DTI_OK;
    const bool done = dti_quant_names_init(&names, cast->container);
    if (done)
        warn_of(cast, &names);
    dti_quant_names_free(&names);
    return done ? DTI_OK : dti_file_cast_no_memory(reterr);
}
