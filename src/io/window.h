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

/* A window of zeros is closed and ready. It is used by one thread at a time, and freed before any
 * of its inputs is closed. */
struct dti_window {
    enum dti_window_way way; /* decided by a look, unless it was set */
    int fd;                  /* of what is mapped */
    unsigned char *bytes;    /* NULL: nothing is */
    size_t size;
    uint64_t begin; /* of the bytes in the file */
    /* what is being looked at */
    const struct dti_input *input; /* NULL: nothing, or it is in the buffer */
    uint64_t end;                  /* in the file */
    uint64_t offset;
    volatile sig_atomic_t torn; /* zeros are in place of bytes that the file no longer has */
    struct dti_window *next;    /* that this thread looks into */
    /* What was copied ahead of small pieces: so many tensors come with one system call. */
    unsigned char *ahead;
    const struct dti_input *ahead_of; /* NULL: nothing was */
    uint64_t ahead_offset;
    size_t ahead_size;
    uint64_t last_end; /* of the small piece that was copied last */
};

/* The bytes offset to offset + size - 1 of a regular file, read-only, at any alignment: valid until
 * dti_window_done(), which has to follow on the same thread; of several windows, the last one that
 * was looked into is done with first. They may end up in buffer, of size
 * bytes. No system call may be given them, because where the file became shorter it would fail with
 * EFAULT. Fails as dti_input_read_at() does; then there is nothing to be done with. */
enum dti_status dti_window_look(struct dti_window *window, const struct dti_input *input,
                                void *buffer, size_t size, uint64_t offset, const void **ret_bytes,
                                struct dti_error *reterr);

/* After the bytes were used, and before anything that was made of them leaves the process. Returns
 * the status of that use, unless the file became shorter while it lasted: then it fails as
 * dti_input_read_at() does, and *reterr is overwritten. */
enum dti_status dti_window_done(struct dti_window *window, enum dti_status status,
                                struct dti_error *reterr);

void dti_window_free(struct dti_window *window); /* leaves it closed */

/* From now on files may be mapped, which needs a handler of SIGBUS: before any thread is started,
 * by whoever owns the process. Until then all are copied. */
void dti_window_allow(void);

/* How to read an input: measured once for each device, with the first pieces of a large input that
 * come by, or as the environment variable DTINFO_READ says. Undecided as long as no piece was large
 * enough; it is to be copied, then. The arguments are those of the look. */
enum dti_window_way dti_window_choose(const struct dti_input *input, void *buffer, size_t size,
                                      uint64_t offset);

#endif
