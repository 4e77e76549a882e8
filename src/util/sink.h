/* SPDX-License-Identifier: MIT
 *
 * Where a writer's bytes go: memory, or what the caller brings. Only the command line has one for
 * streams of the C library (cli/shell/standard.h). */
#ifndef UTIL_SINK_H
#define UTIL_SINK_H

#include <stddef.h>

#include "util/buffer.h"

struct dti_sink {
    /* Takes the bytes: 0, or an errno value. */
    int (*write)(void *context, const char *bytes, size_t size);
    void *context;
};

/* Appends to a buffer: ENOMEM if memory ran out. */
struct dti_sink dti_sink_to_buffer(struct dti_buffer *buffer);

#endif
