/* SPDX-License-Identifier: MIT
 *
 * Quantized npy files: each part is a separate file. OUT.npy has the codes, OUT_scale.npy and so on
 * are next to it. */
#include <errno.h>
#include <stdlib.h>

#include "dtinfo/new_files.h"
#include "files/dequant/dequant_find.h"

/* The file with a part, open; *ret stays NULL where there is none. */
static enum dti_status open_beside(const struct dti_file_dequant *dequant, const char *suffix,
                                   struct dti_container **ret, struct dti_error *reterr)
{
    bool named;
    char *const name =
        dti_path_beside(dequant->container->path, dequant->container->kind, suffix, &named);
    if (!name)
        return dti_no_memory(reterr);
    enum dti_status status = DTI_OK;
    const int there = dti_input_there(name);
    if (named && there == 0)
        status = dti_container_open(ret, name, &dequant->request.open, reterr);
    else if (named &&
             there != ENOENT) /* codes without what belongs to them would be other numbers */
        status = dti_input_fail(&(struct dti_input){.name = name}, there, reterr);
    free(name);
    return status;
}

/* Suffixes are those of the requested layout, else of the first. */
enum dti_status dti_dequant_npy(struct dti_file_dequant *dequant, struct dti_dequant_found **found,
                                struct dti_error *reterr)
{
    const enum dti_quant_layout layout =
        dequant->request.layout_given ? dequant->request.layout : DTI_LAYOUT_COMPRESSED_TENSORS;
    if (dti_quant_layout_is_flat(layout))
        return DTI_OK; /* it needs names */
    const struct dti_quant_row *const row = dti_quant_row_find(layout, "int8");
    struct dti_container *const container = dequant->container;
    const struct dti_tensor *const tensor = &container->tensors[0];
    struct dti_dequant_group group = {.view = dequant,
                                      .name = tensor->name,
                                      .name_length = tensor->name_length,
                                      .free_name = true,
                                      .bound = true,
                                      .layout = layout,
                                      .part[DTI_PART_CODES] = {.container = container}};
    for (int part = DTI_PART_SCALE; part < DTI_PART_COUNT; part++) {
        const char *const suffix = dti_quant_suffix(row, (enum dti_quant_part)part);
        struct dti_container *beside = NULL;
        if (!suffix)
            continue;
        const enum dti_status status = open_beside(dequant, suffix, &beside, reterr);
        if (status != DTI_OK)
            return status;
        dequant->beside[part] = beside;
        group.part[part].container = beside && beside->tensor_count == 1 ? beside : NULL;
    }
    if (!dti_dequant_has(&group, DTI_PART_SCALE))
        return DTI_OK;
    found[0] = dti_dequant_found_new(dequant);
    if (!found[0])
        return dti_no_memory(reterr);
    dequant->states[0] = DTI_DEQUANT_PART;
    const uint64_t length = dequant->request.block;
    const struct dti_quant_hint hint = {.bits = dequant->request.bits, .group = {length, length}};
    const struct dti_dequant_knowledge known = {
        .hints = &hint, .count = 1, .source = dequant->request.said_by};
    return dti_dequant_match(dequant, &known, &group, found[0], reterr);
}
