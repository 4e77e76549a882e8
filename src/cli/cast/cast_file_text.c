/* SPDX-License-Identifier: MIT
 *
 * The numbers of a tensor as text, one a line, in the spelling of -q. */
#include <stdlib.h>
#include <string.h>

#include "cli/cast/cast_file.h"
#include "cli/shell/standard.h"

enum { SINK_BYTES = 64 << 10 };

struct file_sink {
    struct cast_file *file;
    size_t used;
    char bytes[SINK_BYTES];
};

static enum dti_status flush_sink(struct file_sink *sink, struct dti_error *reterr)
{
    struct cast_file *const file = sink->file;
    struct dti_output_file *const output = file->cast->files.list[0].output;
    const size_t size = sink->used;
    file->output_bytes += size;
    sink->used = 0;
    if (output)
        return dti_output_write(output, sink->bytes, size, reterr);
    if (fwrite(sink->bytes, 1, size, file->cx->out) == size)
        return DTI_OK;
    dti_standard_note_failure(); /* dti_standard_close() says why */
    return dti_fail(reterr, DTI_WRITE_FAILED, "%s", "");
}

static enum dti_status put_numbers(void *context, const struct dti_format *format,
                                   const struct dti_layout *layout, const void *codes, size_t n,
                                   struct dti_error *reterr)
{
    struct file_sink *const sink = context;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < n && status == DTI_OK; i++) {
        char text[DTI_TEXT_SIZE + 1];
        struct dti_value value;
        const uint64_t code = dti_storage_get(format, layout, codes, i);
        dti_decode(format, code, &value);
        const size_t length = dti_spell_stored(text, format, code, &value);
        text[length] = '\n';
        if (SINK_BYTES - sink->used < length + 1)
            status = flush_sink(sink, reterr);
        memcpy(sink->bytes + sink->used, text, length + 1);
        sink->used += length + 1;
    }
    return status;
}

enum dti_status dti_cast_file_text(struct cast_file *file,
                                   const struct dti_file_cast_options *options,
                                   struct dti_error *reterr)
{
    struct file_sink *const sink = malloc(sizeof *sink);
    if (!sink)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    sink->file = file;
    sink->used = 0;
    enum dti_status status = dti_file_cast_each(file->cast, options, put_numbers, sink, reterr);
    if (status == DTI_OK)
        status = flush_sink(sink, reterr);
    free(sink);
    return status;
}
