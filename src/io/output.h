/* SPDX-License-Identifier: MIT
 *
 * A file that appears whole or not at all: written under a temporary name in the target's folder,
 * synced, then renamed. Or a pipe, written directly. */
#ifndef IO_OUTPUT_H
#define IO_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/error.h"

struct dti_output_file; /* opaque */

/* PATH "-" is standard output; a PATH that names a pipe or a character device is written as it
 * comes; a terminal, a block device and a folder are refused; anything else is replaced at the end.
 * A symbolic link is followed: what it points to is replaced, or made where there is nothing yet;
 * but in a folder that is open to all (sticky, as /tmp) a link, of a folder on the way as well,
 * must be the user's own or the folder's owner's. An existing file needs force, and keeps its
 * permissions (owner and group too where that is allowed; otherwise the group may do no more than
 * others); a new one gets 0666 less the umask. Other hard links to a replaced file keep the old
 * content. size: bytes that will come, for early notice of a full disk; 0 when unknown. Fails with
 * DTI_WRITE_FAILED (PATH exists, too), with DTI_USAGE where the remedy is another PATH, with
 * DTI_NO_MEMORY. */
enum dti_status dti_output_open(struct dti_output_file **ret, const char *path, bool force,
                                uint64_t size, struct dti_error *reterr);

/* What dti_output_open() would say of PATH, as far as that can be known without making anything. */
enum dti_status dti_output_check(const char *path, bool force, struct dti_error *reterr);

/* Whether what is written to PATH goes where standard output goes: one of its names, or the pipe
 * that it is. Not so for a file that will be replaced, nor for devices such as /dev/null, where
 * nothing meets. */
bool dti_output_is_standard(const char *path);

/* Whether dti_output_write_at() works: a file that is renamed at the end. Standard output is not,
 * even where it is a regular file. */
bool dti_output_seekable(const struct dti_output_file *output);

/* Whether bytes go at once into the regular file of that device and inode: standard output that is
 * also the input. */
bool dti_output_is_file(const struct dti_output_file *output, uint64_t device, uint64_t inode);

/* A reader that is gone (EPIPE) is an error with an empty text: nobody needs to be told. */
enum dti_status dti_output_write(struct dti_output_file *output, const void *data, size_t size,
                                 struct dti_error *reterr);
/* From any thread; where dti_output_seekable(). */
enum dti_status dti_output_write_at(struct dti_output_file *output, const void *data, size_t size,
                                    uint64_t offset, struct dti_error *reterr);

/* Someone who is shown what dti_output_write_at() has written, from any thread. */
struct dti_output_watch {
    void (*take)(struct dti_output_watch *watch, const void *data, size_t size, uint64_t offset);
};
void dti_output_watch(struct dti_output_file *output, struct dti_output_watch *watch); /* or NULL */

/* An output that is no file: dti_output_write_at() hands all that is written to take(), from any
 * thread. To be discarded, not committed. NULL: memory ran out. */
typedef enum dti_status dti_output_take(void *context, const void *data, size_t size,
                                        uint64_t offset, struct dti_error *reterr);
struct dti_output_file *dti_output_to(dti_output_take *take, void *context);

/* Syncs, renames, syncs the folder; frees output in any case. Without force a file that has
 * appeared in the meantime is not replaced. On failure nothing is left, except that a folder that
 * cannot be synced holds the complete new file. */
enum dti_status dti_output_commit(struct dti_output_file *output, struct dti_error *reterr);
/* Leaves the target as it was; NULL is fine. */
void dti_output_discard(struct dti_output_file *output);

/* Removes old files of a folder: the names that these paths end in; of a link the link. What is not
 * there, a folder, and what is one of the `kept` files under another name stays. The first `lead`
 * of them are gone for good before the next. Fails with DTI_WRITE_FAILED, DTI_NO_MEMORY. */
enum dti_status dti_output_remove(const char *folder, const char *const *paths, size_t count,
                                  size_t lead, const char *const *kept, size_t kept_count,
                                  struct dti_error *reterr);

/* Installs handlers that remove the temporary files of this process and then let SIGINT, SIGTERM,
 * SIGHUP, SIGQUIT, SIGPIPE, SIGALRM and SIGXCPU do what they do; those that are ignored, or handled
 * by the process itself, stay so. SIGXFSZ is ignored, so that it is an error of write(). A process
 * that is killed otherwise leaves at most one ".NAME.dtinfo-XXXXXX" next to NAME for each output:
 * see output_leftovers.h. */
void dti_output_guard_signals(void);
/* What these handlers write to standard error, as long as it is set: to take a progress bar off the
 * screen. It must not change while it is set; NULL for nothing. */
void dti_output_farewell(const char *text);

#endif
