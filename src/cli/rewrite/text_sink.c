/* SPDX-License-Identifier: MIT
 *
 * The numbers of a tensor as text, one per line, as -q spells them. */
#include <stdlib.h>
#include <string.h>

#include "cli/rewrite/rewrite_page.h"
#include "cli/shell/standard.h"
#include "util/run/allocate.h"

struct sink {
    struct dti_output_file *output; /* NULL: out, which is standard output */
    FILE *out;
    uint64_t *ret_bytes; /* counts the bytes written */
    size_t used;
    char bytes[64 << 10];
};

static enum dti_status flush(struct sink *sink, struct dti_error *reterr)
{
    const size_t size = sink->used;
    *sink->ret_bytes += size;
    sink->used = 0;
    if (sink->output)
        return dti_output_write(sink->output, sink->bytes, size, reterr);
    if (fwrite(sink->bytes, 1, size, sink->out) == size)
        return DTI_OK;
    dti_standard_note_failure(); /* dti_standard_close() reports why */
    return dti_fail(reterr, DTI_WRITE_FAILED, "%s", "");
}

/* Writes as many bytes at a time as fit. */
static enum dti_status put_bytes(struct sink *sink, const void *bytes, size_t size,
                                 struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (sizeof sink->bytes - sink->used < size)
        status = flush(sink, reterr);
    if (status != DTI_OK)
        return status;
    memcpy(sink->bytes + sink->used, bytes, size);
    sink->used += size;
    return DTI_OK;
}

static enum dti_status put_number(struct sink *sink, const struct dti_format *format, uint64_t code,
                                  struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE + 1];
    struct dti_value value;
    dti_decode(format, code, &value);
    const size_t length = dti_spell_stored(text, format, code, &value);
    text[length] = '\n';
    return put_bytes(sink, text, length + 1, reterr);
}

static enum dti_status put_numbers(void *context, const struct dti_format *format,
                                   const struct dti_layout *layout, const void *codes, size_t n,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < n && status == DTI_OK; i++)
        status = put_number(context, format, dti_storage_get(format, layout, codes, i), reterr);
    return status;
}

enum dti_status dti_rewrite_text(struct dti_rewrite_job *job,
                                 const struct dti_rewrite_options *options,
                                 struct dti_error *reterr)
{
    struct sink *const sink = dti_malloc(sizeof *sink);
    if (!sink)
        return dti_no_memory(reterr);
    sink->output = job->rewrite->files.list[0].output;
    sink->out = job->front->cx->raw;
    sink->ret_bytes = &job->output_bytes;
    sink->used = 0;
    enum dti_status status = dti_rewrite_each(job->rewrite, options, put_numbers, sink, reterr);
    if (status == DTI_OK)
        status = flush(sink, reterr);
    dti_free(sink);
    return status;
}
