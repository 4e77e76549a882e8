/* SPDX-License-Identifier: MIT
 *
 * Weights of errors from the measurement.json of exllamav3: for each group of layers by how much
 * the KL divergence of the model changes if the group has more bits than the rest. All groups then
 * have lost about the same share of their error, so what the divergence falls by is
 * the weight of that error. */
#include "answers/advise/member_reader.h"
#include "requests/advise/advise_args.h"
#include "requests/advise/advise_group_weights.h"

struct kld_reading {
    struct dti_member_reader reader;
    struct dti_pool pool; /* names of layers, as they are read */
    struct dti_group_weights weights;
};

static void no_memory(struct dti_member_reader *reader)
{
    if (reader->status == DTI_OK)
        reader->status = dti_no_memory(reader->reterr);
}

static void read_layers(struct kld_reading *reading)
{
    struct dti_member_reader *const reader = &reading->reader;
    if (!dti_members_list(reader))
        return;
    while (dti_members_element(reader)) {
        size_t length;
        const char *const name = dti_members_text(reader, &reading->pool, &length);
        if (!name)
            dti_members_refuse(reader, "a layer has no name");
        else if (!dti_group_weights_layer(&reading->weights, name, length))
            no_memory(reader);
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
    const size_t layers = reading->weights.layers.count;
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
    if (reading->weights.layers.count == layers || !(change > -1e100 && change < 1e100))
        dti_members_refuse(reader, "a group lacks its layers, or a change that is a number");
    if (reader->status == DTI_OK &&
        !dti_group_weights_add(&reading->weights, change < 0 ? -change : 0))
        no_memory(reader);
}

enum dti_status dti_advise_weigh_exllamav3(struct dti_measured *measured, const char *path,
                                           struct dti_error *reterr)
{
    struct kld_reading reading = {.pool = {.chunks = NULL}};
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
    if (reading.weights.count == 0)
        dti_members_refuse(reader, "this is no measurement of exllamav3: it has no groups");
    enum dti_status status = reader->status;
    if (status == DTI_OK)
        status = dti_group_weights_apply(&reading.weights, measured, reader->label, reterr);
    dti_members_close(reader);
    dti_group_weights_free(&reading.weights);
    dti_pool_free(&reading.pool);
    return status;
}
