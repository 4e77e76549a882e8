/* SPDX-License-Identifier: MIT
 *
 * Bytes of a regular file at a place in memory: in a mapped window of the file, or copied into a
 * buffer, whichever is faster on this machine. The bytes and the errors are the same.
 *
 *     status = dti_window_look(&window, input, buffer, size, offset, &bytes, reterr);
 *     if (status == DTI_OK)
 *         status = dti_window_done(&window, use(bytes), reterr);
 */
#ifndef IO_WINDOW_H
#define IO_WINDOW_H

#include <signal.h>
#include <stdbool.h>

#include "io/input.h"

enum dti_window_way { DTI_WINDOW_UNDECIDED, DTI_WINDOW_COPY, DTI_WINDOW_MAP };

/* A sample of a way: what was read so, and the processor time from look to done. */
struct dti_window_trial {
    struct dti_window_device *device;
    enum dti_window_way way;
    unsigned samples; /* complete ones in a row */
    uint64_t size, time, start;
};

/* A zeroed window is closed and ready. Use it in one thread at a time, and free it before any of
 * its inputs is closed. */
struct dti_window {
    enum dti_window_way way; /* chosen while looking, unless set before */
    int fd;                  /* the mapped file */
    unsigned char *bytes;    /* NULL: nothing is mapped */
    size_t size;
    uint64_t begin; /* file offset of bytes */
    /* the current look */
    const struct dti_input *input; /* NULL: no look, or its bytes are in the buffer */
    uint64_t end;                  /* file offset */
    uint64_t offset;
    volatile sig_atomic_t torn; /* zeros replace bytes that the file no longer has */
    struct dti_window *next;    /* next window this thread looks into */
    /* Copy-ahead buffer for small pieces: many tensors with one system call. */
    unsigned char *ahead;
    const struct dti_input *ahead_of; /* NULL: it is empty */
    uint64_t ahead_offset;
    size_t ahead_size;
    uint64_t last_end; /* end of the small piece that was read last */
    struct dti_window_trial trial;
};

/* Returns the bytes offset to offset + size - 1 of a regular file, read-only, at any alignment,
 * valid until dti_window_done(), which must follow on the same thread; close several looks in
 * reverse order. The bytes may be copied to buffer, of size bytes. Never pass them to a system
 * call: if the file was truncated, it would fail with EFAULT. Fails as dti_input_read_at() does;
 * then do not call dti_window_done(). */
enum dti_status dti_window_look(struct dti_window *window, const struct dti_input *input,
                                void *buffer, size_t size, uint64_t offset, const void **ret_bytes,
                                struct dti_error *reterr);

/* Reads into the buffer as dti_input_read_at() does; small pieces that follow each other, in any
 * number of tensors, with few system calls. window may be NULL. */
enum dti_status dti_window_copy(struct dti_window *window, const struct dti_input *input,
                                void *buffer, size_t size, uint64_t offset,
                                struct dti_error *reterr);

/* Call after using the bytes, and before anything derived from them leaves the process. Returns
 * `status`, unless the file was truncated during the look: then fails as dti_input_read_at()
 * does and overwrites *reterr. */
enum dti_status dti_window_done(struct dti_window *window, enum dti_status status,
                                struct dti_error *reterr);

void dti_window_free(struct dti_window *window); /* leaves it closed */

/* Allows mapping files, which needs a SIGBUS handler, or forbids it. Only the owner of the process
 * may call it, before any thread is started. Until then all bytes are copied, and always for a
 * caller other than the process (util/run/caller.h). Once allowed, the environment variable
 * DTINFO_READ says how files are read; without it, both ways are tried and timed from
 * dti_window_look() to dti_window_done() with the first large pieces of a large input, once per
 * device. */
void dti_window_allow(bool mapping);

#endif
