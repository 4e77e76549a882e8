/* SPDX-License-Identifier: MIT
 *
 * Writes a dduf from another one: each member with tensors is a new safetensors file, all others
 * are copied. */
#include <stdlib.h>
#include <string.h>

#include "containers/dduf/dduf.h"
#include "containers/safetensors/safetensors.h"
#include "containers/zip/crc32.h"
#include "containers/zip/zip_write.h"
#include "util/run/allocate.h"

enum {
    COPIED_MAX = 100 * 1000 * 1000, /* limit on copied bytes, which are held in memory */
    FOLDER_MAX = UINT16_MAX         /* bytes of a member's name */
};

struct dduf_writing {
    const struct dti_container *from;
    const struct dti_dduf *dduf; /* from->own */
    struct dti_zip_writing file;
    struct dti_new_tensor *tensors; /* grouped by part */
    size_t *ends;                   /* end of each part's tensors */
    struct dti_name_order folders;  /* of the parts */
    bool *lengths;                  /* by length: whether some folder name has this length */
    size_t copied;                  /* bytes copied so far */
};

/* The part that already has a tensor, or else the first one in its nearest enclosing folder;
 * dduf->count: there is none. */
static size_t part_of(const struct dduf_writing *work, const struct dti_name_order *order,
                      const struct dti_new_tensor *tensor)
{
    const struct dti_dduf *const dduf = work->dduf;
    size_t at, low = 0, high = dduf->count;
    if (dti_name_order_find(order, tensor->name, tensor->name_length, &at)) {
        while (low < high) { /* binary search: the first part that ends after it */
            const size_t middle = low + (high - low) / 2;
            if (dduf->parts[middle].first + dduf->parts[middle].tensor_count <= at)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
    for (size_t end = tensor->name_length < FOLDER_MAX ? tensor->name_length : FOLDER_MAX;; end--) {
        const bool ends = end == 0 || tensor->name[end - 1] == '/';
        if (ends && work->lengths[end] &&
            dti_name_order_find(&work->folders, tensor->name, end, &at))
            return at;
        if (end == 0)
            return dduf->count;
    }
}

/* False: out of memory. */
static bool list_folders(struct dduf_writing *work)
{
    const struct dti_dduf *const dduf = work->dduf;
    work->lengths = dti_calloc(FOLDER_MAX + 1, sizeof *work->lengths);
    if (!work->lengths || !dti_name_order_init(&work->folders, dduf->count))
        return false;
    for (size_t i = 0; i < dduf->count; i++) {
        const struct dti_dduf_part *const part = &dduf->parts[i];
        dti_name_order_add(&work->folders, dduf->npz.zip.members[part->member].name, part->folder);
        work->lengths[part->folder] = true;
    }
    dti_name_order_sort(&work->folders);
    return true;
}

/* Groups the tensors by part, and finds the end of each group. */
static enum dti_status sort(struct dduf_writing *work, const struct dti_new_tensor *tensors,
                            size_t count, const struct dti_name_order *order,
                            struct dti_error *reterr)
{
    const size_t parts = work->dduf->count;
    char name[DTI_QUOTE_SIZE];
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t part = part_of(work, order, &tensors[i]);
        if (part == parts)
            return dti_fail(reterr, DTI_WRONG_KIND,
                            "tensor %s is in no folder of the model; write safetensors",
                            dti_quote(name, tensors[i].name, tensors[i].name_length));
        work->ends[part]++;
    }
    for (size_t part = 0; part < parts; part++) { /* the start of each group; later its end */
        const size_t own = work->ends[part];
        work->ends[part] = end;
        end += own;
    }
    for (size_t i = 0; i < count; i++)
        work->tensors[work->ends[part_of(work, order, &tensors[i])]++] = tensors[i];
    return DTI_OK;
}

/* Adds a safetensors file in which tensor names are relative to the folder. */
static enum dti_status add_part(struct dduf_writing *work, size_t at, struct dti_error *reterr)
{
    const struct dti_dduf_part *const part = &work->dduf->parts[at];
    const struct dti_zip_member *const member = &work->dduf->npz.zip.members[part->member];
    const size_t first = at > 0 ? work->ends[at - 1] : 0, count = work->ends[at] - first;
    struct dti_new_tensor *const tensors = &work->tensors[first];
    struct dti_new_head head;
    uint64_t size, data;
    dti_new_head_init(&head);
    for (size_t i = 0; i < count; i++) {
        tensors[i].name += part->folder;
        tensors[i].name_length -= (uint32_t)part->folder;
    }
    enum dti_status status =
        dti_safetensors_layout(tensors, count, work->dduf->metadata + part->first_metadata,
                               part->metadata_count, &head, &size, reterr);
    if (status == DTI_OK)
        status = dti_zip_add(&work->file, member->name, member->name_length, &head.text,
                             size - head.text.length, &data, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        tensors[i].name -= part->folder;
        tensors[i].name_length += (uint32_t)part->folder;
        tensors[i].offset += data - head.text.length;
    }
    dti_new_head_free(&head);
    return status;
}

static enum dti_status add_copy(struct dduf_writing *work, const struct dti_zip_member *member,
                                struct dti_error *reterr)
{
    const struct dti_input *const input = &work->from->files[0].input;
    char label[DTI_ZIP_LABEL_SIZE];
    struct dti_buffer text;
    uint64_t end;
    dti_zip_label(label, input, member);
    if (member->size > COPIED_MAX - work->copied)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s has %llu bytes, but no more than %d of members without tensors are "
                        "copied",
                        label, (unsigned long long)member->size, (int)COPIED_MAX);
    work->copied += (size_t)member->size;
    dti_buffer_init(&text);
    enum dti_status status =
        dti_buffer_reserve(&text, (size_t)member->size + 1)
            ? dti_input_read_at(input, text.data, (size_t)member->size, member->data, reterr)
            : dti_no_memory(reterr);
    text.length = status == DTI_OK ? (size_t)member->size : 0;
    if (status == DTI_OK)
        status = dti_zip_check_crc(label, member, dti_crc32(0, text.data, text.length), reterr);
    if (status == DTI_OK)
        status =
            dti_zip_add(&work->file, member->name, member->name_length, &text, 0, &end, reterr);
    dti_buffer_free(&text);
    return status;
}

static enum dti_status add_members(struct dduf_writing *work, struct dti_error *reterr)
{
    const struct dti_zip *const zip = &work->dduf->npz.zip;
    enum dti_status status = DTI_OK;
    for (size_t i = 0, part = 0; i < zip->count && status == DTI_OK; i++) {
        const bool has_tensors = part < work->dduf->count && work->dduf->parts[part].member == i;
        status =
            has_tensors ? add_part(work, part++, reterr) : add_copy(work, &zip->members[i], reterr);
    }
    return status;
}

enum dti_status dti_dduf_layout(struct dti_new_tensor *tensors, size_t count,
                                const struct dti_metadata *metadata, size_t metadata_count,
                                struct dti_new_head *ret_head, uint64_t *ret_size,
                                struct dti_error *reterr)
{
    const struct dti_container *from = ret_head->from;
    (void)metadata, (void)metadata_count;
    while (from && from->stored) /* unwrap views */
        from = from->stored;
    if (!from || from->kind != DTI_CONTAINER_DDUF)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "a dduf file has the configuration of a model, which only a dduf file "
                        "has; write safetensors");
    struct dduf_writing work = {.from = from, .dduf = from->own};
    struct dti_name_order order;
    if (!dti_name_order_of(&order, from->tensors, from->tensor_count,
                           DTI_NAMED(struct dti_tensor, name)))
        return dti_no_memory(reterr);
    work.tensors = dti_calloc(count + 1, sizeof *work.tensors);
    work.ends = dti_calloc(work.dduf->count + 1, sizeof *work.ends);
    enum dti_status status = dti_zip_begin(&work.file, ret_head, work.dduf->npz.zip.count, reterr);
    if (status == DTI_OK)
        status = work.tensors && work.ends && list_folders(&work)
                     ? sort(&work, tensors, count, &order, reterr)
                     : dti_no_memory(reterr);
    if (status == DTI_OK)
        status = add_members(&work, reterr);
    if (status == DTI_OK)
        status = dti_zip_finish(&work.file, ret_size, reterr);
    if (status == DTI_OK && count > 0)
        memcpy(tensors, work.tensors, count * sizeof *tensors);
    dti_zip_writing_free(&work.file);
    dti_name_order_free(&order);
    dti_name_order_free(&work.folders);
    dti_free(work.lengths);
    dti_free(work.tensors);
    dti_free(work.ends);
    return status;
}
