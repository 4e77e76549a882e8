/* SPDX-License-Identifier: MIT
 *
 * A file, a pipe, standard input or a file behind an address, opened once and never by name
 * again. */
#ifndef IO_INPUT_H
#define IO_INPUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/error.h"
#include "util/buffer.h"

/* Someone who is shown what is read at offsets of an input, from any thread. once: the reader goes
 * over all bytes and reads none of them twice. A failure is one of the reading. */
struct dti_watch {
    enum dti_status (*take)(struct dti_watch *watch, const void *bytes, size_t size,
                            uint64_t offset, bool once, struct dti_error *reterr);
};

struct dti_input;

/* What reads an input that is no descriptor. */
struct dti_input_source {
    enum dti_status (*read_at)(const struct dti_input *input, void *buffer, size_t size,
                               uint64_t offset, struct dti_error *reterr);
    void (*close)(struct dti_input *input);
};

struct dti_input {
    const char *name; /* as given; "standard input" for "-"; of an address without its query */
    int fd;           /* -1: another source has the bytes */
    bool seekable;    /* a regular file: size is known, dti_input_read_at() works */
    uint64_t start;   /* the position of standard input at opening; all offsets count from there */
    uint64_t size; /* from start, at opening; what is appended later is not read. Seekable only */
    uint64_t device, inode;  /* of regular files: identifies an output that is the same file */
    const atomic_bool *stop; /* NULL, or makes dti_input_read() return early once it is true */
    struct dti_watch *watch; /* NULL, or sees what dti_input_read_at() reads */
    const struct dti_input_source *source; /* NULL: the descriptor */
    void *remote;                          /* of the source */
    uint64_t position;                     /* of dti_input_read() from a source */
};

/* Opens PATH ("-" is standard input; remote.h has the addresses). Refuses directories, and devices
 * other than terminals, which may never end; as standard input any device will do. A regular file
 * that reports no size though it has content (/proc) is read as a pipe is. Fails with DTI_BAD_INPUT
 * and the name. path must live as long as the input. */
enum dti_status dti_input_open(struct dti_input *ret, const char *path, struct dti_error *reterr);
/* The same for what will be read with dti_input_read_at() alone: does not wait for the writer of a
 * named pipe, which may never come. */
enum dti_status dti_input_open_file(struct dti_input *ret, const char *path,
                                    struct dti_error *reterr);
/* A file that another file names: `name` in the folder of the path `beside`, or below it, without
 * "..", and a regular file. Of an address: on that server. No symbolic link is followed, except one
 * that leads into the same folder, or into that of the file that `beside` is a link to. path is how
 * messages call it, and must live as long as the input. Fails with DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_input_open_inside(struct dti_input *ret, const char *beside, const char *name,
                                      const char *path, struct dti_error *reterr);
/* The same for what is already open; fd is closed on failure. */
enum dti_status dti_input_take(struct dti_input *ret, int fd, const char *path,
                               struct dti_error *reterr);
void dti_input_close(struct dti_input *input); /* leaves standard input open */

/* Reads until `size` bytes are there or the end comes; *ret_size is their number. In sequence. */
enum dti_status dti_input_read(struct dti_input *input, void *buffer, size_t size, size_t *ret_size,
                               struct dti_error *reterr);
/* Appends all that there is, which must not be more than `most` bytes: "too many for PURPOSE".
 * Fails with DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_input_read_all(struct dti_input *input, size_t most, const char *purpose,
                                   struct dti_buffer *ret, struct dti_error *reterr);
/* Reads exactly size bytes from offset of a regular file, from any thread; an earlier end is
 * "became shorter while it was read" (DTI_BAD_INPUT). */
enum dti_status dti_input_read_at(const struct dti_input *input, void *buffer, size_t size,
                                  uint64_t offset, struct dti_error *reterr);
/* The same for a reader that goes over all of a tensor and reads no byte twice, in pieces so many
 * and so scattered that a watch would need much memory to know that. */
enum dti_status dti_input_read_once_at(const struct dti_input *input, void *buffer, size_t size,
                                       uint64_t offset, struct dti_error *reterr);

enum dti_input_kind { DTI_INPUT_REGULAR, DTI_INPUT_FOLDER, DTI_INPUT_SPECIAL };

/* What a path leads to: 0, or an errno value. An address counts as a regular file, without asking
 * its server. */
int dti_input_find(const char *path, enum dti_input_kind *ret_kind);
/* Whether there is anything of that name: 0; ENOENT where there is not and cannot be; another errno
 * value where that is not to be known, and opening says why. Asks the server of an address. */
int dti_input_there(const char *path);

/* Whether each regular file that was opened since dti_inputs_forget(), and read or closed since, is
 * as it was then: its size, the time of its modification, and that of its status unless links,
 * owner, permissions or the name explain it. For those who publish what they read, and once a
 * command is done. A file that another one has replaced under its name is as it was. Fails with
 * DTI_BAD_INPUT. What is read from an address is compared by its reader; pipes cannot be. */
enum dti_status dti_inputs_unchanged(struct dti_error *reterr);
/* What was read until now has been published, or will not be. */
void dti_inputs_forget(void);

/* "cannot read LABEL: ..." of an errno value; of ENOMEM DTI_NO_MEMORY. */
enum dti_status dti_input_fail(const struct dti_input *input, int error, struct dti_error *reterr);

/* The name for messages: in quotes, or "standard input". Returns buffer. */
const char *dti_input_label(const struct dti_input *input, char buffer[DTI_QUOTE_SIZE]);

#endif
