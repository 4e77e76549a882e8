/* SPDX-License-Identifier: MIT
 *
 * PyTorch files as a container: which of the two forms it is, and the tensors in the order of their
 * data. Tensors may share their data. */
#include <stdlib.h>
#include <string.h>

#include "containers/torch_parts.h"

enum { HEAD = 32 }; /* bytes that tell the forms apart */

static int compare(const void *a, const void *b)
{
    const struct dti_torch_found *const one = a, *const other = b;
    if (one->tensor.offset != other->tensor.offset)
        return one->tensor.offset < other->tensor.offset ? -1 : 1;
    return one->order < other->order ? -1 : one->order > other->order;
}

/* The tensors that begin within another, or where another does. */
static bool note_shared(struct dti_torch_reading *reading)
{
    const struct dti_torch_found *const found = reading->found;
    const struct dti_tensor *first = NULL, *with = NULL, *widest = NULL;
    uint64_t end = 0;
    size_t count = 0;
    for (size_t i = 0; i < reading->found_count; i++) {
        const struct dti_tensor *const tensor = &found[i].tensor;
        if (tensor->bytes == 0)
            continue;
        if (tensor->offset < end) {
            first = count == 0 ? tensor : first;
            with = count == 0 ? widest : with;
            count++;
        }
        const uint64_t span_end = tensor->offset + found[i].span;
        if (span_end > end) {
            end = span_end;
            widest = tensor;
        }
    }
    return count == 0 ||
           dti_opening_note(
               reading->opening, "shared_data", "%zu tensor%s: %s with %s%s", count,
               count == 1 ? " shares its data with another" : "s share their data with others",
               DTI_QUOTED(first->name, first->name_length),
               DTI_QUOTED(with->name, with->name_length), count == 1 ? "" : " and so on");
}

static bool keep(struct dti_torch_reading *reading, unsigned file_index, struct dti_torch *torch)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_torch_found *const found = reading->found;
    const size_t count = reading->found_count;
    if (count > 0)
        qsort(found, count, sizeof *found, compare);
    struct dti_tensor *const tensors = dti_opening_tensors(opening, count);
    if (!tensors || !dti_opening_grow(opening, &torch->places, torch->count, count,
                                      &torch->capacity, sizeof *torch->places))
        return false;
    for (size_t i = 0; i < count; i++) {
        tensors[i] = found[i].tensor;
        tensors[i].file = file_index;
        torch->places[torch->count++] =
            (struct dti_torch_place){.gather = {.strides = found[i].strides, .item = found[i].item},
                                     .encoded = found[i].encoded};
    }
    return dti_opening_check_names(opening, tensors, count, DTI_NAMED(struct dti_tensor, name),
                                   (struct dti_subject){.what = "tensor"}, " occurs twice") &&
           note_shared(reading);
}

/* For dti_torch_verify(). */
static bool keep_zip(struct dti_torch_reading *reading, struct dti_torch *torch)
{
    if (!dti_opening_grow(reading->opening, &torch->zips, torch->zip_count, 1, &torch->zip_capacity,
                          sizeof *torch->zips))
        return false;
    torch->zips[torch->zip_count++] = reading->zip;
    return reading->zip.count == 0 || dti_torch_has_sums(&reading->zip) ||
           dti_opening_note(
               reading->opening, "no_checksums",
               "it was saved without checksums: damage to its data cannot be detected");
}

/* The number with which the older form begins, as a pickle. */
static bool is_legacy(const unsigned char *head, size_t size)
{
    static const unsigned char magic[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                          0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};
    enum { PROTOCOL_BYTES = 2, FRAME = 0x95, FRAME_BYTES = 9 };
    if (size < PROTOCOL_BYTES + sizeof magic || head[0] != 0x80 || head[1] < 2)
        return false;
    const size_t start = PROTOCOL_BYTES + (head[PROTOCOL_BYTES] == FRAME ? FRAME_BYTES : 0);
    return size >= start + sizeof magic && memcmp(head + start, magic, sizeof magic) == 0;
}

bool dti_torch_read(struct dti_opening *opening, unsigned file_index, struct dti_torch *ret)
{
    struct dti_torch_reading reading = {.opening = opening};
    unsigned char head[HEAD];
    const uint64_t size = opening->file->input.size;
    const size_t there = size < sizeof head ? (size_t)size : sizeof head;
    bool good = dti_opening_read(opening, head, there, 0);
    if (good)
        good = dti_begins(head, there, "PK") ? dti_torch_open_zip(&reading)
               : is_legacy(head, there)      ? dti_torch_open_legacy(&reading)
                                        : dti_opening_refuse(opening, " is not a PyTorch file");
    good = good && dti_torch_walk(&reading) && keep(&reading, file_index, ret) &&
           keep_zip(&reading, ret);
    dti_name_order_free(&reading.order);
    dti_pickle_free(&reading.pickle);
    return good;
}

bool dti_torch_detect(const unsigned char *head, size_t head_size)
{
    return dti_is_zip(head, head_size, DTI_TORCH_FIRST) || is_legacy(head, head_size);
}

static bool detect(const unsigned char *head, size_t head_size, uint64_t file_size)
{
    (void)file_size;
    return dti_torch_detect(head, head_size);
}

static bool open_torch(struct dti_opening *opening)
{
    struct dti_torch *const torch = dti_opening_array(opening, 1, sizeof *torch);
    if (!torch)
        return false;
    *torch = (struct dti_torch){.count = 0};
    if (!dti_torch_read(opening, 0, torch))
        return false;
    opening->container->own = torch;
    return true;
}

const struct dti_container_ops dti_torch_ops = {
    .traits = DTI_TRAIT_CONFIG,
    .detect = detect,
    .other_extension = ".pth",
    .open = open_torch,
    .data = dti_torch_data,
    .verify = dti_torch_verify,
    .free = dti_torch_free,
};
