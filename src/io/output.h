/* SPDX-License-Identifier: MIT
 *
 * A file that appears complete or not at all (atomic rename): written under a temporary name in
 * the target's folder, synced, then renamed. Or a pipe, written directly. */
#ifndef IO_OUTPUT_H
#define IO_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct dti_output_file; /* opaque */

/* Opens an output. PATH "-" is standard output. A named pipe or character device is written
 * directly; a terminal, a block device and a folder are refused; anything else is replaced at
 * the end. Symbolic links are followed: the target is replaced, or created if missing. But in a
 * sticky world-writable folder such as /tmp, a link (also one of a folder on the way) must
 * belong to the user or to the folder's owner. Replacing a file needs force and keeps its
 * permissions (owner and group too if allowed; otherwise the group gets the permissions of
 * others); a new file gets 0666 minus the umask. Other hard links to a replaced file keep the
 * old content. size: expected bytes, to detect a full disk early; 0 if unknown. Fails with
 * DTI_WRITE_FAILED (also if PATH exists), with DTI_USAGE if another PATH would help, with
 * DTI_NO_MEMORY. */
enum dti_status dti_output_open(struct dti_output_file **ret, const char *path, bool force,
                                uint64_t size, struct dti_error *reterr);

/* The error dti_output_open() would report for PATH, as far as it can be checked without
 * creating anything. */
enum dti_status dti_output_check(const char *path, bool force, struct dti_error *reterr);

/* Whether output to PATH goes to standard output: one of its names, or the same pipe. False for
 * a file that will be replaced, and for devices such as /dev/null. */
bool dti_output_is_standard(const char *path);

/* Whether dti_output_write_at() works: for a file that is renamed at the end. Standard output
 * never qualifies, even if it is a regular file. */
bool dti_output_seekable(const struct dti_output_file *output);

/* Whether writes go directly to the regular file with this device and inode: standard output
 * that is also the input. */
bool dti_output_is_file(const struct dti_output_file *output, uint64_t device, uint64_t inode);

/* A closed reader (EPIPE) is an error with an empty text, because the process ends and there is
 * nothing to report; for a caller other than the process it has a text. */
enum dti_status dti_output_write(struct dti_output_file *output, const void *data, size_t size,
                                 struct dti_error *reterr);
/* Usable from any thread; requires dti_output_seekable(). */
enum dti_status dti_output_write_at(struct dti_output_file *output, const void *data, size_t size,
                                    uint64_t offset, struct dti_error *reterr);

/* An observer of what dti_output_write_at() has written, called from any thread. */
struct dti_output_watch {
    void (*take)(struct dti_output_watch *watch, const void *data, size_t size, uint64_t offset);
};
void dti_output_watch(struct dti_output_file *output, struct dti_output_watch *watch); /* or NULL */

/* An output without a file: dti_output_write_at() passes the data to the callback take(), from
 * any thread. Discard it, do not commit it. NULL if memory ran out. */
typedef enum dti_status dti_output_take(void *context, const void *data, size_t size,
                                        uint64_t offset, struct dti_error *reterr);
struct dti_output_file *dti_output_to(dti_output_take *take, void *context);

/* Syncs, renames, and syncs the folder; always frees output. Without force, does not replace a
 * file that appeared in the meantime. A failure leaves nothing behind, except that if syncing
 * the folder fails, the complete new file stays. */
enum dti_status dti_output_commit(struct dti_output_file *output, struct dti_error *reterr);
/* Leaves the target as it was; NULL is fine. */
void dti_output_discard(struct dti_output_file *output);

/* Of a message about a file that cannot be removed: "BEFORE 'PATH'AFTER cannot be removed: ...". */
struct dti_output_removal {
    const char *before, *after;
    enum dti_remedy remedy;
};

/* Removes old files of a folder, named by the last components of these paths; of a symbolic
 * link, the link itself. Keeps folders, and files that are one of `kept` under another name;
 * ignores missing ones. The first `lead` removals are synced before the rest. Fails with
 * DTI_WRITE_FAILED, DTI_NO_MEMORY. */
enum dti_status dti_output_remove(const char *folder, const char *const *paths, size_t count,
                                  size_t lead, const char *const *kept, size_t kept_count,
                                  const struct dti_output_removal *words, struct dti_error *reterr);
/* The error of dti_output_remove() for a path and an errno value. */
enum dti_status dti_output_fail_remove(const char *path, int error,
                                       const struct dti_output_removal *words,
                                       struct dti_error *reterr);

/* Installs handlers that remove this process's temporary files and then run the default action
 * of SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM and SIGXCPU. Signals that are ignored or
 * already handled stay so. SIGXFSZ is ignored, so that write() returns an error. A process
 * killed in another way leaves at most one ".NAME.dtinfo-XXXXXX" next to NAME per output: see
 * output_leftovers.h. */
void dti_output_guard_signals(void);
/* Text that these handlers write to standard error: clears a progress bar from the screen. Must
 * not change while it is set; NULL for none. */
void dti_output_farewell(const char *text);

#endif
