/* SPDX-License-Identifier: MIT
 *
 * Finds the tensors of read-only layouts: see dequant_layouts.h. */
#include "files/dequant/dequant_layouts.h"

#include <string.h>

static size_t stem_of(const struct dti_layout_ops *layout, const struct dti_tensor *tensor)
{
    return tensor->name_length - strlen(layout->codes);
}

static bool is_called(const struct dti_layout_ops *layout, const struct dti_tensor *tensor)
{
    return layout->codes && dti_tensor_is_read(tensor) &&
           (layout->dtype == DTI_NONE ? dti_may_be_codes(tensor)
                                      : tensor->format->id == layout->dtype) &&
           dti_quant_name_ends(tensor->name, tensor->name_length, layout->codes);
}

/* Collects the existing parts. */
static void gather(struct dti_file_dequant *dequant, const struct dti_layout_ops *layout, size_t at,
                   struct dti_dequant_group *ret)
{
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    struct dti_dequant_group group = {.at = at, .layout_read = layout, .view = dequant};
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

/* Whether only the codes exist. */
static bool is_alone(const struct dti_dequant_group *group)
{
    unsigned parts = 0;
    for (unsigned i = 0; i < DTI_PART_COUNT; i++)
        parts += group->part[i].container != NULL;
    return parts == 1;
}

/* Sets the name of the numbers; codes may already have it. */
static enum dti_status name_numbers(struct dti_file_dequant *dequant,
                                    struct dti_dequant_group *group, struct dti_error *reterr)
{
    const struct dti_layout_ops *const layout = group->layout_read;
    const struct dti_tensor *const tensor = &dequant->container->tensors[group->at];
    const size_t stem = stem_of(layout, tensor), end = strlen(layout->numbers);
    size_t taken;
    char quoted[DTI_QUOTE_SIZE];
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
                                  "there is a tensor %s besides, which is what it becomes",
                                  dti_quote(quoted, name, stem + end));
    return DTI_OK;
}

enum dti_status dti_dequant_layout_of(struct dti_file_dequant *dequant, size_t at,
                                      struct dti_dequant_group *group, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        const struct dti_layout_ops *const layout = *row;
        struct dti_dequant_group found;
        if (!is_called(layout, tensor) ||
            (dequant->request.layout_given &&
             strcmp(layout->name, dti_quant_layout_name(dequant->request.layout)) != 0))
            continue;
        gather(dequant, layout, at, &found);
        if ((!layout->sure && is_alone(&found)) || (layout->fits && !layout->fits(&found)))
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
    dti_dequant_set_rule(group, DTI_LINT_PART_MISSING);
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                              "it needs a tensor '...%s', which is missing",
                              group->layout_read->suffix[part] + 1);
}

enum dti_status dti_dequant_refuse_config(const struct dti_dequant_group *group,
                                          const struct dti_quant_config *config, const char *what,
                                          uint64_t stated, uint64_t found, struct dti_error *reterr)
{
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_OVERRIDE_CONFIG,
                              "its shapes mean %s %llu, and %s says %llu", what,
                              (unsigned long long)found, config->file, (unsigned long long)stated);
}

static void set_parts(const struct dti_dequant_group *group, struct dti_dequant_tensor *how)
{
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    DTI_SET_PART(how, codes, group->part[DTI_PART_CODES]);
    DTI_SET_PART(how, scales, group->part[DTI_PART_SCALE]);
    DTI_SET_PART(how, zeros, group->part[DTI_PART_ZERO_POINT]);
    how->is->slab = how->is->stored_slab = 1;
    how->is->scale_count = scales->elements;
    how->is->scale_rows = scales->rank > 1 ? scales->shape[scales->rank - 2] : 1;
    how->is->scale_columns = scales->rank > 0 ? scales->shape[scales->rank - 1] : 1;
    how->tensor_scale = 1;
}

enum dti_status dti_dequant_set_unsigned(struct dti_file_dequant *dequant,
                                         const struct dti_dequant_group *group, unsigned bits,
                                         struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    struct dti_dequant_tensor *const how = &ret->how;
    how->is->affine =
        (struct dti_affine){.code = *dti_format_get(DTI_UINT8), .high = (INT32_C(1) << bits) - 1};
    set_parts(group, how);
    how->is->bits = bits;
    how->is->order = DTI_BLOCK_BYTES;
    how->is->scale_plan = dti_dequant_scale_plan(dequant, scales->format, &scales->layout);
    return how->is->scale_plan ? DTI_OK : dti_no_memory(reterr);
}

bool dti_dequant_same_rows(const struct dti_tensor *codes, const struct dti_tensor *scales)
{
    bool same = codes->rank == scales->rank && codes->rank > 0;
    for (unsigned i = 0; same && i + 1 < codes->rank; i++)
        same = codes->shape[i] == scales->shape[i];
    return same;
}

enum dti_status dti_dequant_set_blocks(struct dti_file_dequant *dequant,
                                       const struct dti_dequant_group *group,
                                       const struct dti_block_format *block,
                                       struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    struct dti_dequant_tensor *const how = &ret->how;
    how->is->block = block;
    how->is->bits = dti_format_get(block->code)->width;
    how->is->order = how->is->bits < 8 ? DTI_BLOCK_LOW : DTI_BLOCK_BYTES;
    set_parts(group, how);
    how->is->parts = dti_dequant_block_parts(dequant, block);
    how->is->scale_plan =
        dti_dequant_scale_plan(dequant, dti_format_get(block->scale), &scales->layout);
    return how->is->parts && how->is->scale_plan ? DTI_OK : dti_no_memory(reterr);
}

bool dti_layouts_part(const struct dti_quant_names *names, size_t at)
{
    const struct dti_tensor *const tensors = names->container->tensors;
    const char *const name = tensors[at].name;
    const size_t length = tensors[at].name_length;
    if (tensors[at].part_of_weight)
        return true;
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        for (unsigned part = 0; part < DTI_PART_COUNT; part++) {
            const char *const suffix = (*row)->suffix[part];
            size_t codes;
            if (part != DTI_PART_CODES && suffix && dti_quant_name_ends(name, length, suffix) &&
                dti_quant_names_find(names, name, length - strlen(suffix), (*row)->codes, &codes) &&
                is_called(*row, &tensors[codes]))
                return true;
        }
    }
    return false;
}

bool dti_layouts_scale(const struct dti_quant_names *names, size_t at, size_t *ret_scale)
{
    const struct dti_tensor *const tensor = &names->container->tensors[at];
    const struct dti_onnx_weight *const weight = dti_container_weight(names->container, at);
    if (weight && weight->scale != SIZE_MAX) {
        *ret_scale = weight->scale;
        return true;
    }
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        const char *const suffix = (*row)->suffix[DTI_PART_SCALE];
        if (suffix && is_called(*row, tensor) &&
            dti_quant_names_find(names, tensor->name, stem_of(*row, tensor), suffix, ret_scale))
            return true;
    }
    return false;
}

/* Suffixes that begin with "_" are too common: they only count if the tensor could be one-byte
 * scales. Suffixes in the table of layouts only count if the name of the codes alone identifies the
 * layout. */
bool dti_layouts_orphan(const struct dti_quant_names *names, size_t at, const char **ret_codes)
{
    static const enum dti_quant_part parts[] = {DTI_PART_SCALE, DTI_PART_ZERO_POINT, DTI_PART_ORDER,
                                                DTI_PART_STATE};
    const struct dti_tensor *const tensor = &names->container->tensors[at];
    const char *missing = NULL;
    size_t stem;
    const bool usual = dti_quant_is_side_name(tensor->name, tensor->name_length, &stem);
    if (dti_quant_name_ends(tensor->name, tensor->name_length, ".scale") && tensor->format &&
        tensor->format->id == DTI_FP8_E8M0) { /* of rectangles or blocks */
        *ret_codes = ".weight";
        return !dti_quant_names_find(names, tensor->name,
                                     tensor->name_length - (sizeof ".scale" - 1), ".weight", &stem);
    }
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            const char *const suffix = (*row)->suffix[parts[k]];
            size_t codes;
            if (!suffix || (!(*row)->sure && usual) ||
                !dti_quant_name_ends(tensor->name, tensor->name_length, suffix))
                continue;
            if (dti_quant_names_find(names, tensor->name, tensor->name_length - strlen(suffix),
                                     (*row)->codes, &codes))
                return false;
            if (suffix[0] == '.' || dti_may_be_codes(tensor)) /* of several, the last wins */
                missing = (*row)->codes;
        }
    }
    *ret_codes = missing;
    return missing != NULL;
}

enum dti_status dti_dequant_match_as(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group,
                                     const struct dti_quant_hint *hint,
                                     struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_dequant_knowledge known = {
        .hints = hint, .count = 1, .source = group->layout_read->name};
    const enum dti_status status = dti_dequant_match(dequant, &known, group, ret, reterr);
    if (status == DTI_OK)
        ret->form.is->layout = group->layout_read->name;
    return status;
}
