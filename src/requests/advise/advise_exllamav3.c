/* SPDX-License-Identifier: MIT
 *
 * Weights of errors from the measurement.json of exllamav3: for each group of layers by how much
 * the KL divergence of the model changes if the group has more bits than the rest. All groups then
 * have lost about the same share of their error, so what the divergence falls by is
 * the weight of that error. */
#include "answers/advise/member_reader.h"
#include "files/stored/named_types.h"
#include "files/stored/quant_names.h"
#include "requests/advise/advise_args.h"
#include "util/run/allocate.h"

struct kld_group {
    double weight;     /* the fall of the divergence; 0: it does not fall */
    uint64_t elements; /* of its tensors that are quantized */
};

struct kld_reading {
    struct dti_member_reader reader;
    struct dti_pool pool; /* names of layers */
    struct kld_group *groups;
    size_t group_count, group_room, named_room;
    struct dti_named_types layers; /* type: the group */
};

/* A list with room for one more. */
static void *grown(struct kld_reading *reading, void *list, size_t count, size_t *room, size_t size)
{
    struct dti_member_reader *const reader = &reading->reader;
    if (count < *room)
        return list;
    const size_t more = count > 0 ? 2 * count : 64;
    void *const grown = dti_realloc(list, more * size);
    if (grown)
        *room = more;
    else if (reader->status == DTI_OK)
        reader->status = dti_no_memory(reader->reterr);
    return grown ? grown : list;
}

static void read_layers(struct kld_reading *reading)
{
    struct dti_member_reader *const reader = &reading->reader;
    struct dti_named_types *const layers = &reading->layers;
    if (!dti_members_list(reader))
        return;
    while (dti_members_element(reader)) {
        struct dti_named_type layer = {.type = (uint32_t)reading->group_count};
        layer.name = dti_members_text(reader, &reading->pool, &layer.length);
        if (!layer.name)
            dti_members_refuse(reader, "a layer has no name");
        layers->list =
            grown(reading, layers->list, layers->count, &reading->named_room, sizeof *layers->list);
        if (reader->status == DTI_OK)
            layers->list[layers->count++] = layer;
    }
}

/* Of the candidate with the most bits. */
static double read_candidates(struct kld_reading *reading)
{
    struct dti_member_reader *const reader = &reading->reader;
    double change = 0, most = -1;
    if (!dti_members_list(reader))
        return 0;
    while (dti_members_element(reader)) {
        double dkld = 0, bits = 0;
        (void)dti_members_object(reader);
        while (dti_members_next(reader)) {
            if (dti_members_is(reader, "dkld"))
                dkld = dti_members_double(reader);
            else if (dti_members_is(reader, "dbits"))
                bits = dti_members_double(reader);
            else
                dti_members_skip(reader);
        }
        change = bits > most ? dkld : change;
        most = bits > most ? bits : most;
    }
    return change;
}

static void read_group(struct kld_reading *reading)
{
    struct dti_member_reader *const reader = &reading->reader;
    const size_t layers = reading->layers.count;
    double change = 0;
    (void)dti_members_object(reader);
    while (dti_members_next(reader)) {
        if (dti_members_is(reader, "layers"))
            read_layers(reading);
        else if (dti_members_is(reader, "candidates"))
            change = read_candidates(reading);
        else
            dti_members_skip(reader);
    }
    if (reading->layers.count == layers || !(change > -1e100 && change < 1e100))
        dti_members_refuse(reader, "a group lacks its layers, or a change that is a number");
    reading->groups = grown(reading, reading->groups, reading->group_count, &reading->group_room,
                            sizeof *reading->groups);
    if (reader->status == DTI_OK)
        reading->groups[reading->group_count++] =
            (struct kld_group){.weight = change < 0 ? -change : 0};
}

/* The group of a tensor X.weight, or NULL. */
static struct kld_group *group_of(const struct kld_reading *reading,
                                  const struct dti_measured_tensor *tensor)
{
    static const char ending[] = ".weight";
    const size_t cut = sizeof ending - 1, length = tensor->name_length;
    if (!dti_quant_name_ends(tensor->name, length, ending))
        return NULL;
    const struct dti_named_type *const layer = dti_named_type_of(
        &reading->layers,
        &(struct dti_tensor){.name = tensor->name, .name_length = (uint32_t)(length - cut)});
    return layer ? &reading->groups[layer->type] : NULL;
}

/* A group's weight is divided by the number of elements. */
static enum dti_status weigh(struct dti_measured *measured, struct kld_reading *reading,
                             struct dti_error *reterr)
{
    const size_t twice = dti_named_types_sort(&reading->layers);
    if (twice < reading->layers.count)
        return dti_fail(
            reterr, DTI_BAD_INPUT, "%s names layer %s twice", reading->reader.label,
            DTI_QUOTED(reading->layers.list[twice].name, reading->layers.list[twice].length));
    for (size_t i = 0; i < measured->tensor_count; i++) {
        const struct dti_measured_tensor *const tensor = &measured->tensors[i];
        struct kld_group *const group = tensor->taken ? group_of(reading, tensor) : NULL;
        if (tensor->taken && !group)
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "%s has no group with tensor %s, which --keep would leave as it is",
                            reading->reader.label, DTI_QUOTED(tensor->name, tensor->name_length));
        if (group)
            group->elements += tensor->elements;
    }
    for (size_t i = 0; i < measured->tensor_count; i++) {
        struct dti_measured_tensor *const tensor = &measured->tensors[i];
        const struct kld_group *const group = tensor->taken ? group_of(reading, tensor) : NULL;
        if (group)
            tensor->weight = group->weight * (double)tensor->elements / (double)group->elements;
    }
    return DTI_OK;
}

enum dti_status dti_advise_weigh_exllamav3(struct dti_measured *measured, const char *path,
                                           struct dti_error *reterr)
{
    struct kld_reading reading = {.groups = NULL};
    struct dti_member_reader *const reader = &reading.reader;
    dti_members_open(reader, path, "weights", reterr);
    (void)dti_members_object(reader);
    while (dti_members_next(reader)) {
        if (dti_members_is(reader, "groups") && dti_members_list(reader)) {
            while (dti_members_element(reader))
                read_group(&reading);
        } else {
            dti_members_skip(reader);
        }
    }
    if (reading.group_count == 0)
        dti_members_refuse(reader, "this is no measurement of exllamav3: it has no groups");
    enum dti_status status = reader->status;
    if (status == DTI_OK)
        status = weigh(measured, &reading, reterr);
    dti_members_close(reader);
    dti_free(reading.groups);
    dti_free(reading.layers.list);
    dti_pool_free(&reading.pool);
    return status;
}
