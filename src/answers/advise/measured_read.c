/* SPDX-License-Identifier: MIT
 *
 * Reads measurements that were written to a file. */
#include <math.h>
#include <string.h>

#include "answers/advise/measured.h"
#include "answers/advise/member_reader.h"
#include "answers/amounts.h"
#include "util/checked.h"
#include "util/run/allocate.h"

/* no name of such a file is too long for a tensor */
_Static_assert((int)DTI_MEMBERS_BYTES_MAX <= (int)DTI_NAME_MAX, "names fit");

#define SHARE_MOST 1e100 /* so that weighted sums of errors are finite */

/* Grows a list to a power of two, with zeros. NULL: out of memory. */
static void *grow(void *list, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return list;
    const size_t room = count > 0 ? 2 * count : 1;
    char *const grown = room > SIZE_MAX / size / 2 ? NULL : dti_realloc(list, room * size);
    if (grown)
        memset(grown + count * size, 0, (room - count) * size);
    return grown;
}

static void read_formats(struct dti_member_reader *reader, struct dti_measured *measured)
{
    if (measured->tensor_count > 0 || measured->format_count > 0)
        dti_members_refuse(reader, "the formats must come once, before the tensors");
    if (!dti_members_list(reader))
        return;
    while (dti_members_element(reader)) {
        const char **const grown =
            grow((void *)measured->formats, measured->format_count, sizeof(const char *));
        if (!grown) {
            reader->status = dti_no_memory(reader->reterr);
            return;
        }
        measured->formats = grown;
        measured->formats[measured->format_count] = dti_members_text(reader, &measured->pool, NULL);
        if (reader->status == DTI_OK && !measured->formats[measured->format_count])
            dti_members_refuse(reader, "a format is null");
        measured->format_count += reader->status == DTI_OK;
    }
}

static void read_figure(struct dti_member_reader *reader, struct dti_measured *measured,
                        size_t tensor)
{
    struct dti_measured_figure figure = {.there = true, .error.there = true};
    const char *format = NULL;
    size_t at = 0;
    if (!dti_members_object(reader))
        return;
    while (dti_members_next(reader)) {
        if (dti_members_is(reader, "format"))
            format = dti_members_text(reader, &measured->pool, NULL);
        else if (dti_members_is(reader, "bytes"))
            figure.bytes = dti_members_u64(reader);
        else if (dti_members_is(reader, "squared_error"))
            figure.error.squared = dti_members_double(reader);
        else if (dti_members_is(reader, "signal"))
            figure.error.signal = dti_members_double(reader);
        else if (dti_members_is(reader, "clipped"))
            figure.clipped = dti_members_u64(reader);
        else if (dti_members_is(reader, "to_zero"))
            figure.to_zero = dti_members_u64(reader);
        else if (dti_members_is(reader, "worst_row"))
            figure.error.worst_row = dti_members_u64(reader);
        else if (dti_members_is(reader, "worst_error"))
            figure.error.worst = dti_members_double(reader);
        else
            dti_members_skip(reader);
    }
    while (format && at < measured->format_count && strcmp(measured->formats[at], format) != 0)
        at++;
    if (!format || at == measured->format_count)
        dti_members_refuse(reader, "a figure is of no format of the list before it");
    else if (!isfinite(figure.error.squared) || !isfinite(figure.error.signal) ||
             figure.error.squared < 0 || dti_measured_share(&figure) > SHARE_MOST ||
             figure.error.signal < 0 || figure.bytes > UINT64_MAX >> 16)
        dti_members_refuse(reader, "a figure is negative or too large");
    else if (reader->status == DTI_OK)
        *dti_measured_at(measured, tensor, at) = figure;
}

static void read_shape(struct dti_member_reader *reader, struct dti_pool *pool,
                       struct dti_measured_tensor *tensor)
{
    uint64_t *const shape = dti_pool_array(pool, DTI_SHAPE_RANK_MAX, sizeof *shape);
    if (!shape) {
        reader->status = dti_no_memory(reader->reterr);
        return;
    }
    tensor->shape = shape;
    tensor->rank = 0;
    tensor->elements = 1;
    if (!dti_members_list(reader))
        return;
    while (dti_members_element(reader)) {
        const uint64_t length = dti_members_u64(reader);
        if (tensor->rank == DTI_SHAPE_RANK_MAX ||
            !dti_mul_u64(tensor->elements, length, &tensor->elements))
            dti_members_refuse(reader, "a shape is too large");
        else
            shape[tensor->rank++] = length;
    }
}

static void read_tensor(struct dti_member_reader *reader, struct dti_measured *measured, size_t at)
{
    struct dti_measured_tensor *const tensor = &measured->tensors[at];
    size_t length = 0;
    if (!dti_members_object(reader))
        return;
    while (dti_members_next(reader)) {
        if (dti_members_is(reader, "name"))
            tensor->name = dti_members_text(reader, &measured->pool, &length);
        else if (dti_members_is(reader, "name_hex"))
            dti_members_hex(reader, &measured->pool, &tensor->name, &length);
        else if (dti_members_is(reader, "shape"))
            read_shape(reader, &measured->pool, tensor);
        else if (dti_members_is(reader, "dtype"))
            tensor->dtype = dti_members_text(reader, &measured->pool, NULL);
        else if (dti_members_is(reader, "bytes"))
            tensor->bytes = dti_members_u64(reader);
        else if (dti_members_is(reader, "figures") && dti_members_list(reader)) {
            while (dti_members_element(reader))
                read_figure(reader, measured, at);
        } else
            dti_members_skip(reader);
    }
    for (size_t f = 0; f < measured->format_count; f++)
        tensor->taken = tensor->taken || dti_measured_at(measured, at, f)->there;
    tensor->name_length = (uint32_t)length;
    if (!tensor->name || !tensor->dtype || !tensor->shape || tensor->bytes > UINT64_MAX >> 16)
        dti_members_refuse(reader, "a tensor lacks its name, its dtype or its shape");
}

static void read_tensors(struct dti_member_reader *reader, struct dti_measured *measured)
{
    const size_t formats = measured->format_count;
    if (formats == 0)
        dti_members_refuse(reader, "the formats must come before the tensors");
    if (!dti_members_list(reader))
        return;
    while (dti_members_element(reader)) {
        const size_t count = measured->tensor_count;
        void *const tensors = grow(measured->tensors, count, sizeof *measured->tensors);
        if (tensors)
            measured->tensors = tensors;
        void *const figures = grow(measured->figures, count, formats * sizeof *measured->figures);
        if (figures)
            measured->figures = figures;
        if (!tensors || !figures) {
            reader->status = dti_no_memory(reader->reterr);
            return;
        }
        measured->tensor_count++;
        read_tensor(reader, measured, count);
    }
}

enum dti_status dti_measured_read(struct dti_measured *ret, const char *path,
                                  struct dti_error *reterr)
{
    struct dti_member_reader reader;
    bool schema = false;
    memset(ret, 0, sizeof *ret);
    dti_members_open(&reader, path, "measurements", reterr);
    (void)dti_members_object(&reader);
    while (dti_members_next(&reader)) {
        if (dti_members_is(&reader, "schema")) {
            dti_members_schema(&reader, "dtinfo.advise_measurements/1");
            schema = true;
        } else if (dti_members_is(&reader, "digest")) {
            const char *const digest = dti_members_text(&reader, &ret->pool, NULL);
            if (digest && strlen(digest) < sizeof ret->digest)
                memcpy(ret->digest, digest, strlen(digest) + 1);
        } else if (dti_members_is(&reader, "loader")) {
            ret->loader = dti_members_text(&reader, &ret->pool, NULL);
        } else if (dti_members_is(&reader, "keep")) {
            ret->keep = dti_members_text(&reader, &ret->pool, NULL);
        } else if (dti_members_is(&reader, "formats")) {
            read_formats(&reader, ret);
        } else if (dti_members_is(&reader, "tensors")) {
            read_tensors(&reader, ret);
        } else {
            dti_members_skip(&reader);
        }
    }
    if (!schema || !ret->loader || ret->tensor_count == 0)
        dti_members_refuse(&reader, "these are no measurements of dtinfo");
    dti_members_close(&reader);
    return reader.status;
}
