/* SPDX-License-Identifier: MIT
 *
 * Sums over the tensors of a file: by dtype, as parameters, and what they would take in other
 * dtypes. */
#include <stdlib.h>
#include <string.h>

#include "answers/inspect_parts.h"
#include "answers/tensors.h"
#include "dtinfo/checked.h"
#include "dtinfo/footprint.h"

const char *const dti_inspect_as[DTI_INSPECT_AS] = {"fp32", "bf16", "fp8_e4m3fn", "mxfp4"};

bool dti_inspect_has_byte_order(const struct dti_tensor *tensor, bool *ret_big)
{
    const uint16_t probe = 1;
    unsigned char first;
    if (!tensor->format || dti_format_container(dti_real_format(tensor->format)) == 1)
        return false;
    memcpy(&first, &probe, 1);
    *ret_big = tensor->layout.swapped != (first == 0);
    return true;
}

static bool is_complex(const struct dti_tensor *tensor)
{
    return tensor->format && tensor->format->kind == DTI_KIND_COMPLEX;
}

/* What the names of dti_inspect_as stand for. */
static void read_targets(struct dti_stored targets[DTI_INSPECT_AS])
{
    for (size_t i = 0; i < DTI_INSPECT_AS; i++) {
        targets[i].block = dti_block_lookup(dti_inspect_as[i]);
        if (!targets[i].block)
            (void)dti_format_lookup(dti_inspect_as[i], &targets[i].format, NULL, NULL);
    }
}

static bool bytes_as(const struct dti_stored *target, const struct dti_tensor *tensor,
                     uint64_t *ret_bytes)
{
    struct dti_extent extent;
    struct dti_footprint footprint;
    if (!dti_extent_of(tensor->shape, tensor->rank, &extent) ||
        !dti_footprint_of(target, &extent, &footprint))
        return false;
    *ret_bytes = footprint.bytes;
    return true;
}

/* Elements without bytes may be any number of them. */
static void add(uint64_t *sum, uint64_t more)
{
    if (!dti_add_u64(*sum, more, sum))
        *sum = UINT64_MAX;
}

static void add_as(struct dti_inspect_totals *totals, const struct dti_stored *targets,
                   const struct dti_tensor *tensor, bool floats)
{
    for (size_t i = 0; i < DTI_INSPECT_AS; i++) {
        uint64_t bytes = tensor->bytes;
        if ((floats && !bytes_as(&targets[i], tensor, &bytes)) ||
            !dti_add_u64(totals->as[i], bytes, &totals->as[i]))
            totals->as[i] = UINT64_MAX;
    }
}

/* Names of dtypes are those of a few tables: most are told equal by their addresses. */
static int by_dtype(const void *left, const void *right)
{
    const char *const a = dti_tensor_dtype(*(const struct dti_tensor *const *)left);
    const char *const b = dti_tensor_dtype(*(const struct dti_tensor *const *)right);
    return a == b ? 0 : strcmp(a, b);
}

static int largest_first(const void *left, const void *right)
{
    const struct dti_inspect_group *const a = left, *const b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return strcmp(a->dtype, b->dtype);
}

static enum dti_status group(struct dti_inspect_report *report, struct dti_error *reterr)
{
    struct dti_inspect_totals *const totals = &report->totals;
    const size_t count = report->shown_count;
    if (count == 0)
        return DTI_OK;
    const struct dti_tensor **const sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    memcpy((void *)sorted, (const void *)report->shown, count * sizeof *sorted);
    qsort((void *)sorted, count, sizeof *sorted, by_dtype);
    size_t groups = 1;
    for (size_t i = 1; i < count; i++)
        groups += by_dtype(&sorted[i - 1], &sorted[i]) != 0;
    totals->groups = calloc(groups, sizeof *totals->groups);
    if (!totals->groups) {
        free((void *)sorted);
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    struct dti_inspect_group *at = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!at || by_dtype(&sorted[i - 1], &sorted[i]) != 0) {
            at = &totals->groups[totals->group_count++];
            at->dtype = dti_tensor_dtype(sorted[i]);
        }
        at->tensors++;
        add(&at->elements, sorted[i]->elements);
        add(&at->bytes, sorted[i]->bytes);
    }
    qsort(totals->groups, totals->group_count, sizeof *totals->groups, largest_first);
    free((void *)sorted);
    return DTI_OK;
}

enum dti_status dti_inspect_sum(struct dti_inspect_report *report, struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    struct dti_inspect_totals *const totals = &report->totals;
    struct dti_stored targets[DTI_INSPECT_AS];
    read_targets(targets);
    for (size_t i = 0; i < container->tensor_count; i++)
        add(&totals->data_bytes, container->tensors[i].bytes);
    for (size_t i = 0; i < container->file_count; i++) {
        add(&totals->file_bytes, container->files[i].input.size);
        totals->header_bytes += container->files[i].header_bytes;
    }
    for (size_t i = 0; i < report->shown_count; i++) {
        const struct dti_tensor *const tensor = report->shown[i];
        const bool floats = dti_tensor_holds_floats(container, tensor);
        const bool counted = floats || is_complex(tensor);
        add(&totals->elements, tensor->elements);
        add(&totals->bytes, tensor->bytes);
        add(counted ? &totals->parameters : &totals->others, tensor->elements);
        if (!counted && !tensor->format)
            add(&totals->unread, tensor->elements);
        add_as(totals, targets, tensor, floats);
    }
    return group(report, reterr);
}
