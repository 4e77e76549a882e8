/* SPDX-License-Identifier: MIT
 *
 * Bytes into a buffer. */
#include "util/sink.h"

#include <errno.h>

static int append(void *context, const char *bytes, size_t size)
{
    struct dti_buffer *const buffer = context;
    dti_buffer_append(buffer, bytes, size);
    return buffer->failed ? ENOMEM : 0;
}

struct dti_sink dti_sink_to_buffer(struct dti_buffer *buffer)
{
    return (struct dti_sink){.write = append, .context = buffer};
}
