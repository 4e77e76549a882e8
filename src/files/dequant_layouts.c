/* SPDX-License-Identifier: MIT
 *
 * Finds the tensors of layouts that are only read: see dequant_layouts.h. */
#include "files/dequant_layouts.h"

#include <string.h>

static const struct dti_read_layout *const layouts[] = {&dti_layout_gptq, &dti_layout_awq};

static size_t stem_of(const struct dti_read_layout *layout, const struct dti_tensor *tensor)
{
    return tensor->name_length - strlen(layout->codes);
}

static bool is_called(const struct dti_read_layout *layout, const struct dti_tensor *tensor)
{
    return tensor->format && tensor->format->id == layout->dtype && !tensor->refusal &&
           dti_quant_name_ends(tensor->name, tensor->name_length, layout->codes);
}

/* The parts that there are. */
static void gather(struct dti_file_dequant *dequant, const struct dti_read_layout *layout,
                   size_t at, struct dti_dequant_group *ret)
{
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    struct dti_dequant_group group = {.at = at, .layout_read = layout};
    for (unsigned i = 0; i < DTI_PART_COUNT; i++) {
        size_t found = at;
        if (i == DTI_PART_CODES ||
            (layout->suffix[i] &&
             dti_quant_names_find(&dequant->names, tensor->name, stem_of(layout, tensor),
                                  layout->suffix[i], &found)))
            group.part[i] =
                (struct dti_dequant_part){.container = dequant->container, .tensor = found};
    }
    *ret = group;
}

/* Codes under the name of the numbers have it already. */
static enum dti_status name_numbers(struct dti_file_dequant *dequant,
                                    struct dti_dequant_group *group, struct dti_error *reterr)
{
    const struct dti_read_layout *const layout = group->layout_read;
    const struct dti_tensor *const tensor = &dequant->container->tensors[group->at];
    const size_t stem = stem_of(layout, tensor), end = strlen(layout->numbers);
    size_t taken;
    char *const name = dti_pool_alloc(&dequant->pool, stem + end + 1);
    if (!name)
        return dti_no_memory(reterr);
    memcpy(name, tensor->name, stem);
    memcpy(name + stem, layout->numbers, end + 1);
    group->name = name;
    group->name_length = stem + end;
    if (strcmp(layout->codes, layout->numbers) != 0 &&
        dti_quant_names_find(&dequant->names, name, stem, layout->numbers, &taken))
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                  "there is a tensor '...%s' besides, which is what it becomes",
                                  layout->numbers);
    return DTI_OK;
}

enum dti_status dti_dequant_layout_of(struct dti_file_dequant *dequant, size_t at,
                                      struct dti_dequant_group *group, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct dti_read_layout *const layout = layouts[i];
        struct dti_dequant_group found;
        if (!is_called(layout, tensor))
            continue;
        gather(dequant, layout, at, &found);
        const bool scaled = dti_dequant_has(&found, DTI_PART_SCALE);
        if ((!scaled && !layout->sure) || (scaled && layout->fits && !layout->fits(&found)))
            continue;
        *group = found;
        return name_numbers(dequant, group, reterr);
    }
    group->layout_read = NULL;
    return DTI_OK;
}

enum dti_status dti_dequant_need(const struct dti_dequant_group *group, enum dti_quant_part part,
                                 struct dti_error *reterr)
{
    if (dti_dequant_has(group, part))
        return DTI_OK;
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                              "it needs a tensor '...%s', which is missing",
                              group->layout_read->suffix[part]);
}

enum dti_status dti_dequant_refuse_config(const struct dti_dequant_group *group,
                                          const struct dti_quant_config *config, const char *what,
                                          uint64_t said, uint64_t found, struct dti_error *reterr)
{
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_OVERRIDE_CONFIG,
                              "its shapes mean %s %llu, and %s says %llu", what,
                              (unsigned long long)found, config->file, (unsigned long long)said);
}

enum dti_status dti_dequant_set_unsigned(struct dti_file_dequant *dequant,
                                         const struct dti_dequant_group *group, unsigned bits,
                                         struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    struct dti_dequant_tensor *const how = &ret->how;
    how->affine =
        (struct dti_affine){.code = *dti_format_get(DTI_UINT8), .high = (INT32_C(1) << bits) - 1};
    how->codes = group->part[DTI_PART_CODES];
    how->scales = group->part[DTI_PART_SCALE];
    how->zeros = group->part[DTI_PART_ZERO_POINT];
    how->slab = how->stored_slab = 1;
    how->bits = bits;
    how->order = DTI_BLOCK_BYTES;
    how->scale_count = scales->elements;
    how->scale_rows = scales->rank > 1 ? scales->shape[scales->rank - 2] : 1;
    how->scale_columns = scales->rank > 0 ? scales->shape[scales->rank - 1] : 1;
    how->tensor_scale = 1;
    how->scale_plan = dti_dequant_scale_plan(dequant, scales->format, &scales->layout);
    return how->scale_plan ? DTI_OK : dti_no_memory(reterr);
}
