/* SPDX-License-Identifier: MIT
 *
 * Weights of groups of layers: see advise_group_weights.h. */
#include "requests/advise/advise_group_weights.h"

#include <string.h>

#include "files/stored/quant_names.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"

bool dti_group_weights_layer(struct dti_group_weights *weights, const char *name, size_t length)
{
    struct dti_named_types *const layers = &weights->layers;
    const char *const copy = dti_pool_text(&weights->pool, name, length);
    void *const list =
        dti_grown(layers->list, layers->count, &weights->layer_room, sizeof *layers->list);
    if (list)
        layers->list = list;
    if (!list || !copy)
        return false;
    layers->list[layers->count++] =
        (struct dti_named_type){.name = copy, .length = length, .type = (uint32_t)weights->count};
    return true;
}

bool dti_group_weights_add(struct dti_group_weights *weights, double weight)
{
    void *const list =
        dti_grown(weights->groups, weights->count, &weights->room, sizeof *weights->groups);
    if (!list)
        return false;
    weights->groups = list;
    weights->groups[weights->count++] = (struct dti_group_weight){.weight = weight};
    return true;
}

/* The group of a tensor X.weight, or NULL. */
static struct dti_group_weight *group_of(const struct dti_group_weights *weights,
                                         const struct dti_measured_tensor *tensor)
{
    static const char ending[] = ".weight";
    const size_t cut = sizeof ending - 1, length = tensor->name_length;
    if (!dti_quant_name_ends(tensor->name, length, ending))
        return NULL;
    const struct dti_named_type *const layer = dti_named_type_of(
        &weights->layers,
        &(struct dti_tensor){.name = tensor->name, .name_length = (uint32_t)(length - cut)});
    return layer ? &weights->groups[layer->type] : NULL;
}

enum dti_status dti_group_weights_apply(struct dti_group_weights *weights,
                                        struct dti_measured *measured, const char *label,
                                        struct dti_error *reterr)
{
    const struct dti_named_types *const layers = &weights->layers;
    const size_t twice = dti_named_types_sort(&weights->layers);
    if (twice < layers->count)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s names layer %s twice", label,
                        DTI_QUOTED(layers->list[twice].name, layers->list[twice].length));
    for (size_t i = 0; i < measured->tensor_count; i++) {
        const struct dti_measured_tensor *const tensor = &measured->tensors[i];
        struct dti_group_weight *const group = tensor->taken ? group_of(weights, tensor) : NULL;
        if (tensor->taken && !group)
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "%s has no group with tensor %s, which --keep would leave as it is",
                            label, DTI_QUOTED(tensor->name, tensor->name_length));
        if (group)
            group->elements += tensor->elements;
    }
    for (size_t i = 0; i < measured->tensor_count; i++) {
        struct dti_measured_tensor *const tensor = &measured->tensors[i];
        const struct dti_group_weight *const group =
            tensor->taken ? group_of(weights, tensor) : NULL;
        if (group)
            tensor->weight = group->weight * (double)tensor->elements / (double)group->elements;
    }
    return DTI_OK;
}

void dti_group_weights_free(struct dti_group_weights *weights)
{
    dti_free(weights->groups);
    dti_free(weights->layers.list);
    dti_pool_free(&weights->pool);
}
