/* SPDX-License-Identifier: MIT
 *
 * A file, a pipe, standard input or a remote file. The path is resolved once, at opening. */
#ifndef IO_INPUT_H
#define IO_INPUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/error.h"

/* An observer of the bytes read by offset from an input, called from any thread. once: the
 * reader covers all bytes and reads none twice. A failure is reported as a failure of the read. */
struct dti_watch {
    enum dti_status (*take)(struct dti_watch *watch, const void *bytes, size_t size,
                            uint64_t offset, bool once, struct dti_error *reterr);
};

struct dti_input;

/* Callbacks of an input that is not a descriptor. */
struct dti_input_source {
    enum dti_status (*read_at)(const struct dti_input *input, void *buffer, size_t size,
                               uint64_t offset, struct dti_error *reterr);
    void (*close)(struct dti_input *input);
};

struct dti_input {
    const char *name; /* as given; "standard input" for "-"; an address without its query */
    int fd;           /* -1: the bytes come from `source` */
    bool seekable;    /* a regular file: size is known and dti_input_read_at() works */
    uint64_t start;   /* file position of standard input at opening; offsets are relative to it */
    uint64_t size; /* from start, at opening; data appended later is not read. Only if seekable */
    uint64_t device, inode;  /* of regular files: detect an output that is the same file */
    const atomic_bool *stop; /* NULL, or ends dti_input_read() early once true */
    struct dti_watch *watch; /* NULL, or an observer of dti_input_read_at() */
    const struct dti_input_source *source; /* NULL: read the descriptor */
    void *remote;                          /* private to the source */
    uint64_t position;                     /* of dti_input_read() with a source */
};

/* Opens PATH ("-" is standard input; see remote.h for addresses). Rejects directories, and
 * devices other than terminals, which may be endless; standard input may be any device. A
 * regular file that has content but reports no size (/proc) is read like a pipe. Fails with
 * DTI_BAD_INPUT and the name. path must outlive the input. */
enum dti_status dti_input_open(struct dti_input *ret, const char *path, struct dti_error *reterr);
/* The same for inputs read only with dti_input_read_at(): does not block on a named pipe, which
 * may never get a writer. */
enum dti_status dti_input_open_file(struct dti_input *ret, const char *path,
                                    struct dti_error *reterr);
/* Opens a file that another file refers to: `name`, a regular file in or below the folder of the
 * path `anchor`, without "..". For an address: on the same server. Symbolic links are not
 * followed, except one that leads into the same folder, or into the folder of the file that
 * `anchor` links to. path is the name in messages and must outlive the input. Fails with
 * DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_input_open_inside(struct dti_input *ret, const char *anchor, const char *name,
                                      const char *path, struct dti_error *reterr);
/* The same for a descriptor that is already open; closes fd on failure. */
enum dti_status dti_input_take(struct dti_input *ret, int fd, const char *path,
                               struct dti_error *reterr);
void dti_input_close(struct dti_input *input); /* leaves standard input open */

/* Reads sequentially until `size` bytes are there or the input ends; *ret_size is the number
 * read. */
enum dti_status dti_input_read(struct dti_input *input, void *buffer, size_t size, size_t *ret_size,
                               struct dti_error *reterr);
/* Appends the rest of the input, at most `most` bytes; more is an error: "too many for PURPOSE".
 * Fails with DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_input_read_all(struct dti_input *input, size_t most, const char *purpose,
                                   struct dti_buffer *ret, struct dti_error *reterr);
/* Reads exactly size bytes at offset of a regular file, from any thread. If the file ends
 * earlier, fails with "became shorter while it was read" (DTI_BAD_INPUT). */
enum dti_status dti_input_read_at(const struct dti_input *input, void *buffer, size_t size,
                                  uint64_t offset, struct dti_error *reterr);
/* The same for a reader that covers a whole tensor and reads no byte twice, in so many scattered
 * pieces that a watch would need much memory to detect that. */
enum dti_status dti_input_read_once_at(const struct dti_input *input, void *buffer, size_t size,
                                       uint64_t offset, struct dti_error *reterr);

enum dti_input_kind { DTI_INPUT_REGULAR, DTI_INPUT_FOLDER, DTI_INPUT_SPECIAL };

/* The kind of file at a path: 0, or an errno value. An address counts as a regular file; its
 * server is not asked. */
int dti_input_find(const char *path, enum dti_input_kind *ret_kind);
/* Whether the path exists: 0 if so; ENOENT if it does not exist; another errno value if that
 * cannot be determined (opening it reports why). Asks the server of an address. */
int dti_input_there(const char *path);
/* False if the path does not exist, or its server denies access to it, as some do then. Otherwise
 * opening it reports what keeps it from being read. */
bool dti_input_may_be_there(const char *path);

/* The path of a file in the folder of another one, for dti_free(). NULL: memory ran out. */
char *dti_input_same_folder(const char *path, const char *name);

/* Checks that each regular file that the current caller (caller.h) opened since
 * dti_inputs_forget(), or did not close before dti_inputs_resume(), is unchanged: its size, its
 * mtime, and its ctime unless links, owner, permissions or name explain the change. Call it
 * before publishing results, and at the end of a command. A file whose name now refers to a
 * replacement counts as unchanged. Fails with DTI_BAD_INPUT. Remote files are checked by their
 * reader; pipes cannot be. */
enum dti_status dti_inputs_unchanged(struct dti_error *reterr);
/* Forgets all inputs read so far: results from them have been published or dropped. */
void dti_inputs_forget(void);
/* For a caller that reads files which it opened in an earlier call: they count again, compared with
 * their state at opening. Files that were closed are forgotten. */
void dti_inputs_resume(void);

/* Reports "cannot read LABEL: ..." for an errno value; DTI_NO_MEMORY for ENOMEM. */
enum dti_status dti_input_fail(const struct dti_input *input, int error, struct dti_error *reterr);

/* The name for messages: quoted, or "standard input". Returns buffer. */
const char *dti_input_label(const struct dti_input *input, char buffer[DTI_QUOTE_SIZE]);

#endif
