/* SPDX-License-Identifier: MIT
 *
 * Facts from the headers of a file: the selected tensors and their order; totals by dtype,
 * parameters, and sizes in other dtypes. */
#include "answers/inspect/inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answers/tensors.h"
#include "containers/containers.h"
#include "core/dtype/footprint.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"
#include "util/text/glob.h"

/* The length of a run of digits, and of its leading zeros. */
static size_t digits(const char *text, size_t length, size_t *ret_zeros)
{
    size_t count = 0, zeros = 0;
    while (count < length && dti_ascii_digit(text[count])) {
        zeros += zeros == count && text[count] == '0';
        count++;
    }
    *ret_zeros = zeros;
    return count;
}

/* Compares bytes, but runs of digits by value: layers.2 before layers.10. */
static int compare_names(const struct dti_tensor *a, const struct dti_tensor *b)
{
    size_t i = 0, j = 0;
    while (i < a->name_length && j < b->name_length) {
        const char *const left = a->name + i, *const right = b->name + j;
        if (dti_ascii_digit(*left) && dti_ascii_digit(*right)) {
            size_t zeros_left, zeros_right;
            const size_t m = digits(left, a->name_length - i, &zeros_left);
            const size_t n = digits(right, b->name_length - j, &zeros_right);
            if (m - zeros_left != n - zeros_right)
                return m - zeros_left < n - zeros_right ? -1 : 1;
            const int order = memcmp(left + zeros_left, right + zeros_right, m - zeros_left);
            if (order != 0)
                return order;
            i += m;
            j += n;
        } else {
            if (*left != *right)
                return (unsigned char)*left < (unsigned char)*right ? -1 : 1;
            i++;
            j++;
        }
    }
    const size_t rest_a = a->name_length - i, rest_b = b->name_length - j;
    return (rest_a > rest_b) - (rest_a < rest_b);
}

/* A comparison for qsort() of pointers to tensors, `order` of a and b. Tensors are in one array in
 * the order of the file, which breaks ties. */
#define ORDER(name, order)                                                           \
    static int name(const void *left, const void *right)                             \
    {                                                                                \
        const struct dti_tensor *const a = *(const struct dti_tensor *const *)left;  \
        const struct dti_tensor *const b = *(const struct dti_tensor *const *)right; \
        const int found = (order);                                                   \
        return found != 0 ? found : DIFFERENCE(a, b);                                \
    }
#define DIFFERENCE(a, b) (((a) > (b)) - ((a) < (b)))

ORDER(by_name, compare_names(a, b))
ORDER(by_size, DIFFERENCE(b->bytes, a->bytes))
ORDER(by_elements, DIFFERENCE(b->elements, a->elements))
ORDER(by_dtype, strcmp(dti_tensor_dtype(a), dti_tensor_dtype(b)))
ORDER(by_offset,
      a->file != b->file ? DIFFERENCE(a->file, b->file) : DIFFERENCE(a->offset, b->offset))

static void sort(const struct dti_tensor **shown, size_t count, enum dti_inspect_sort order)
{
    static int (*const orders[])(const void *, const void *) = {
        [DTI_INSPECT_SORT_NAME] = by_name,         [DTI_INSPECT_SORT_SIZE] = by_size,
        [DTI_INSPECT_SORT_DTYPE] = by_dtype,       [DTI_INSPECT_SORT_OFFSET] = by_offset,
        [DTI_INSPECT_SORT_ELEMENTS] = by_elements,
    };
    if (order != DTI_INSPECT_SORT_FILE && count > 1)
        qsort((void *)shown, count, sizeof *shown, orders[order]);
}

static void reverse(const struct dti_tensor **shown, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const struct dti_tensor *const other = shown[count - 1 - i];
        shown[count - 1 - i] = shown[i];
        shown[i] = other;
    }
}

/* regexec() stops at the first NUL, so a name that contains NUL is matched only up to it. When out
 * of memory, glibc (2.36) reports no match; only errno, set by malloc(), reveals it. */
static enum dti_status is_wanted(const struct dti_inspect_request *request,
                                 const struct dti_tensor *tensor, bool *ret,
                                 struct dti_error *reterr)
{
    *ret = !request->only || dti_glob_list_match(request->only, tensor->name, tensor->name_length);
    if (!*ret || !request->grep)
        return DTI_OK;
    errno = 0;
    const int code = regexec(request->grep, tensor->name, 0, NULL, 0);
    if (code != 0 && (code != REG_NOMATCH || errno == ENOMEM))
        return dti_no_memory(reterr);
    *ret = code == 0;
    return DTI_OK;
}

static enum dti_status select_tensors(struct dti_inspect_report *report, struct dti_error *reterr)
{
    const struct dti_inspect_request *const request = report->request;
    const struct dti_container *const container = report->container;
    const size_t count = container->tensor_count;
    report->shown = dti_calloc(count > 0 ? count : 1, sizeof *report->shown);
    if (!report->shown)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        bool wanted;
        const enum dti_status status = is_wanted(request, &container->tensors[i], &wanted, reterr);
        if (status != DTI_OK)
            return status;
        if (wanted)
            report->shown[report->selected_count++] = &container->tensors[i];
    }
    sort(report->shown, report->selected_count, request->sort);
    if (request->reverse)
        reverse(report->shown, report->selected_count);
    report->shown_count = report->selected_count;
    if (request->limited && request->limit < report->shown_count)
        report->shown_count = (size_t)request->limit;
    report->hidden_count = report->selected_count - report->shown_count;
    return container->stored || /* a view's notes already mention it */
                   dti_scaled_codes_find(&report->scaled, container, report->shown,
                                         report->selected_count)
               ? DTI_OK
               : dti_no_memory(reterr);
}

const char *const dti_inspect_as[DTI_INSPECT_AS] = {"fp32", "bf16", "fp8_e4m3fn", "mxfp4"};

bool dti_inspect_has_byte_order(const struct dti_tensor *tensor, bool *ret_big)
{
    if (!tensor->format || dti_tensor_form(tensor) ||
        dti_format_container(dti_real_format(tensor->format)) == 1)
        return false;
    *ret_big = dti_is_swapped(tensor->layout.swapped); /* swapping is its own inverse */
    return true;
}

/* The dtypes named by dti_inspect_as. */
static void read_targets(struct dti_stored targets[DTI_INSPECT_AS])
{
    for (size_t i = 0; i < DTI_INSPECT_AS; i++) {
        if (!dti_stored_find(dti_inspect_as[i], &targets[i]))
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

/* Saturates: elements without bytes can be any number. */
static void add_capped(uint64_t *sum, uint64_t more)
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
            !dti_add_u64(totals->as[i].bytes, bytes, &totals->as[i].bytes))
            totals->as[i].bytes = UINT64_MAX;
    }
}

static int dtype_order(const void *left, const void *right)
{
    const struct dti_inspect_group *const a = left, *const b = right;
    return strcmp(a->dtype, b->dtype);
}

static int largest_first(const void *left, const void *right)
{
    const struct dti_inspect_group *const a = left, *const b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return strcmp(a->dtype, b->dtype);
}

/* One of the most recent groups, or a new one; NULL when out of memory. Dtype names come from a few
 * tables, so most compare equal by pointer; equal names at different addresses are merged later. */
static struct dti_inspect_group *group_of(struct dti_inspect_totals *totals, const char *dtype)
{
    enum { LOOK_BACK = 16 };
    const size_t count = totals->group_count;
    for (size_t i = count; i > 0 && count - i < LOOK_BACK; i--) {
        if (totals->groups[i - 1].dtype == dtype)
            return &totals->groups[i - 1];
    }
    if ((count & (count - 1)) == 0) { /* the capacity is a power of two */
        const size_t room = count > 0 ? 2 * count : 1;
        struct dti_inspect_group *const more =
            room <= SIZE_MAX / sizeof *more ? dti_realloc(totals->groups, room * sizeof *more)
                                            : NULL;
        if (!more)
            return NULL;
        totals->groups = more;
    }
    totals->groups[count] = (struct dti_inspect_group){.dtype = dtype};
    return &totals->groups[totals->group_count++];
}

/* Sorts the groups and merges those of the same dtype. */
static void merge_groups(struct dti_inspect_totals *totals)
{
    struct dti_inspect_group *const groups = totals->groups;
    size_t kept = 0;
    qsort(groups, totals->group_count, sizeof *groups, dtype_order);
    for (size_t i = 1; i < totals->group_count; i++) {
        if (dtype_order(&groups[kept], &groups[i]) != 0) {
            groups[++kept] = groups[i];
            continue;
        }
        groups[kept].tensors += groups[i].tensors;
        add_capped(&groups[kept].elements, groups[i].elements);
        add_capped(&groups[kept].bytes, groups[i].bytes);
    }
    totals->group_count = kept + 1;
    qsort(groups, totals->group_count, sizeof *groups, largest_first);
}

static enum dti_status group(struct dti_inspect_report *report, struct dti_error *reterr)
{
    struct dti_inspect_totals *const totals = &report->totals;
    for (size_t i = 0; i < report->selected_count; i++) {
        const struct dti_tensor *const tensor = report->shown[i];
        struct dti_inspect_group *const at = group_of(totals, dti_tensor_dtype(tensor));
        if (!at)
            return dti_no_memory(reterr);
        at->tensors++;
        add_capped(&at->elements, tensor->elements);
        add_capped(&at->bytes, tensor->bytes);
    }
    if (totals->group_count > 0)
        merge_groups(totals);
    return DTI_OK;
}

static enum dti_status sum(struct dti_inspect_report *report, struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    struct dti_inspect_totals *const totals = &report->totals;
    struct dti_stored targets[DTI_INSPECT_AS];
    read_targets(targets);
    for (size_t i = 0; i < container->tensor_count; i++)
        add_capped(&totals->data_bytes, container->tensors[i].bytes);
    for (size_t i = 0; i < container->file_count; i++) {
        add_capped(&totals->file_bytes, container->files[i].input.size);
        totals->header_bytes += container->files[i].header_bytes;
    }
    for (size_t i = 0; i < report->selected_count; i++) {
        const struct dti_tensor *const tensor = report->shown[i];
        const bool floats = dti_tensor_holds_floats(container, tensor);
        const bool counted = floats || (tensor->format && tensor->format->kind == DTI_KIND_COMPLEX);
        add_capped(&totals->elements, tensor->elements);
        add_capped(&totals->bytes, tensor->bytes);
        add_capped(counted ? &totals->parameters : &totals->others, tensor->elements);
        if (!counted && !tensor->format)
            add_capped(&totals->unread, tensor->elements);
        if (tensor->scales_activations)
            add_capped(&totals->scales, tensor->elements);
        add_as(totals, targets, tensor, floats);
    }
    for (size_t i = 0; i < DTI_INSPECT_AS; i++)
        totals->as[i].known = totals->as[i].bytes != UINT64_MAX;
    return group(report, reterr);
}

static void free_histogram(struct dti_inspect_histogram *histogram)
{
    if (histogram)
        dti_free(histogram->binade);
    dti_free(histogram);
}

void dti_inspect_report_free(struct dti_inspect_report *report)
{
    for (size_t i = 0; report->figures && i < report->selected_count; i++)
        free_histogram(report->figures[i].histogram);
    free_histogram(report->all.histogram);
    dti_free(report->figures);
    dti_free(report->losses);
    dti_free(report->digests);
    dti_free((void *)report->limits);
    dti_free(report->limited);
    dti_free(report->saturation);
    dti_free(report->totals.groups);
    dti_free((void *)report->shown);
    dti_logical_close(report->container);
}

/* Every selected tensor must be readable as numbers. */
static enum dti_status check_whole(const struct dti_inspect_report *report,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < report->selected_count && status == DTI_OK; i++)
        status = dti_logical_refuse(report->container, report->shown[i], reterr);
    return status;
}

enum dti_status dti_inspect_run(const struct dti_inspect_request *request, const char *path,
                                struct dti_inspect_report *ret, struct dti_error *reterr)
{
    *ret = (struct dti_inspect_report){.request = request};
    enum dti_status status = dti_logical_open(&ret->container, path, request->container, reterr);
    if (status == DTI_OK)
        status = select_tensors(ret, reterr);
    if (status == DTI_OK)
        status = sum(ret, reterr);
    const bool reads = request->stats || request->histogram || request->reading.as_count > 0;
    if (status == DTI_OK && (reads || request->saturation))
        status = check_whole(ret, reterr);
    if (status == DTI_OK && reads)
        status = dti_inspect_scan(ret, reterr);
    if (status == DTI_OK && request->saturation)
        status = dti_inspect_limits(ret, reterr);
    if (status == DTI_OK && request->digest)
        status = dti_reading_digests(&request->reading, ret->container, &ret->digests, reterr);
    return status;
}

const struct dti_inspect_shard *dti_inspect_next_shard(const struct dti_container *container,
                                                       struct dti_inspect_shard *shard)
{
    const size_t first = shard->end;
    shard->file = &container->files[shard->number];
    shard->bytes = 0;
    for (; shard->end < container->tensor_count &&
           container->tensors[shard->end].file == shard->number;
         shard->end++)
        shard->bytes += container->tensors[shard->end].bytes;
    shard->tensors = shard->end - first;
    shard->number++;
    return shard;
}
