/* SPDX-License-Identifier: MIT
 *
 * What a new file holds besides its data: written before the data, or, if it contains checksums of
 * them, once these are known. */
#include "containers/new_head.h"

#include <assert.h>
#include <stdlib.h>

#include "containers/container.h"
#include "containers/zip/zip_write.h"
#include "util/run/allocate.h"

static void get_listed(const void *context, size_t at, struct dti_new_tensor *ret)
{
    const struct dti_new_tensor *const tensors = context;
    *ret = tensors[at];
}

static void set_listed(void *context, size_t at, uint64_t bytes, uint64_t offset)
{
    struct dti_new_tensor *const tensors = context;
    tensors[at].bytes = bytes;
    tensors[at].offset = offset;
}

static void shift_listed(void *context, size_t count, uint64_t bytes)
{
    struct dti_new_tensor *const tensors = context;
    for (size_t i = 0; i < count; i++)
        tensors[i].offset += bytes;
}

struct dti_new_source dti_new_source_of(struct dti_new_tensor *tensors, size_t count)
{
    return (struct dti_new_source){.count = count,
                                   .get = get_listed,
                                   .set = set_listed,
                                   .shift = shift_listed,
                                   .context = tensors,
                                   .items = tensors,
                                   .named = DTI_NAMED(struct dti_new_tensor, name)};
}

void dti_new_head_init(struct dti_new_head *ret)
{
    *ret = (struct dti_new_head){.count = 0};
    dti_buffer_init(&ret->text);
}

void dti_new_head_free(struct dti_new_head *head)
{
    dti_buffer_free(&head->text);
    dti_free(head->pieces);
    dti_zip_sums_free(head->sums);
    head->pieces = NULL;
    head->sums = NULL;
    head->count = 0;
}

/* The rest, in pieces. */
static enum dti_status write_rest(const struct dti_new_head *head, struct dti_output_file *output,
                                  struct dti_error *reterr)
{
    enum { PIECE = 64 << 10 };
    const struct dti_head_rest *const rest = &head->rest;
    const bool seekable = dti_output_seekable(output);
    uint64_t at = head->text.length;
    struct dti_buffer out;
    enum dti_status status = DTI_OK;
    dti_buffer_init(&out);
    for (size_t i = 0; i <= rest->source.count && status == DTI_OK; i++) {
        if (i < rest->source.count)
            rest->put(head, i, &out);
        else
            dti_buffer_puts(&out, rest->end);
        if (out.failed)
            status = dti_no_memory(reterr);
        if (status != DTI_OK || (out.length < PIECE && i < rest->source.count))
            continue;
        status = seekable ? dti_output_write_at(output, out.data, out.length, at, reterr)
                          : dti_output_write(output, out.data, out.length, reterr);
        at += out.length;
        dti_buffer_clear(&out);
    }
    dti_buffer_free(&out);
    assert(status != DTI_OK || at == head->text.length + rest->bytes); /* as it was measured */
    return status;
}

static enum dti_status write_all(const struct dti_new_head *head, struct dti_output_file *output,
                                 struct dti_error *reterr)
{
    const char *text = head->text.data;
    if (!dti_output_seekable(output))
        return dti_output_write(output, text, head->text.length, reterr);
    if (head->count == 0)
        return dti_output_write_at(output, text, head->text.length, 0, reterr);
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < head->count && status == DTI_OK; i++) {
        status = dti_output_write_at(output, text, head->pieces[i].length, head->pieces[i].offset,
                                     reterr);
        text += head->pieces[i].length;
    }
    return status;
}

enum dti_status dti_new_head_write(struct dti_new_head *head, struct dti_output_file *output,
                                   struct dti_error *reterr)
{
    if (!head->sums) {
        const enum dti_status status = write_all(head, output, reterr);
        return status == DTI_OK && head->rest.put ? write_rest(head, output, reterr) : status;
    }
    dti_output_watch(output, dti_zip_sums_watch(head->sums));
    return DTI_OK;
}

enum dti_status dti_new_head_finish(struct dti_new_head *head, struct dti_output_file *output,
                                    struct dti_error *reterr)
{
    if (!head->sums)
        return DTI_OK;
    dti_output_watch(output, NULL);
    const enum dti_status status = dti_zip_sums_put(head->sums, &head->text, reterr);
    return status == DTI_OK ? write_all(head, output, reterr) : status;
}
