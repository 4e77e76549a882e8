/* SPDX-License-Identifier: MIT
 *
 * SHA-256 of whole files, and checksum lists in the format of sha256sum. */
#ifndef FILES_SCAN_FILE_DIGEST_H
#define FILES_SCAN_FILE_DIGEST_H

#include "containers/container.h"
#include "util/buffer.h"

enum { DTI_DIGEST_BYTES = 32, DTI_DIGEST_DIGITS = 2 * DTI_DIGEST_BYTES };
struct dti_digest {
    unsigned char bytes[DTI_DIGEST_BYTES];
};

/* Parses 64 hexadecimal digits of either case; false: invalid. */
bool dti_digest_parse(const char *text, size_t length, struct dti_digest *ret);
/* "sha256:" and 64 digits; without the prefix: buffer + DTI_DIGEST_NAME. */
enum { DTI_DIGEST_NAME = 7, DTI_DIGEST_TEXT = DTI_DIGEST_NAME + DTI_DIGEST_DIGITS + 1 };
const char *dti_digest_spell(char buffer[DTI_DIGEST_TEXT], const struct dti_digest *digest);

void dti_digest_bytes(const void *bytes, size_t size, struct dti_digest *ret);

/* The files of a checkpoint: those with tensors, then its index if it has one. */
static inline size_t dti_digest_count(const struct dti_container *container)
{
    return container->file_count + (container->index_file.path ? 1 : 0);
}
static inline const struct dti_container_file *dti_digest_file(
    const struct dti_container *container, size_t at)
{
    return at < container->file_count ? &container->files[at] : &container->index_file;
}
uint64_t dti_digest_input_bytes(const struct dti_container *container); /* of all of them */

/* Hashes all of them; ret has dti_digest_count() entries. progress may be NULL. Fails with
 * DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_digest_files(const struct dti_container *container, struct dti_digest *ret,
                                 void (*progress)(void *context, uint64_t done_bytes),
                                 void *context, struct dti_error *reterr);

/* Appends a line in sha256sum format: a name with backslashes or newlines is escaped and marked.
 * Other terminal control characters are escaped too, which sha256sum does not understand. */
void dti_digest_line(struct dti_buffer *text, const struct dti_digest *digest, const char *path);

/* The digests of a list. Names are relative to the list's folder, or to the current one if the list
 * is not a regular file. */
struct dti_digest_list {
    const char *path;
    struct dti_digest_entry *entries; /* those of existing files, sorted */
    size_t count;
};
/* Reads lines of 'HEX  NAME', 'HEX *NAME' and 'SHA256 (NAME) = HEX'; after a leading backslash, \\,
 * \n and \r in a name mean the same as in C. Empty lines and lines starting with # are skipped.
 * Fails with DTI_BAD_INPUT on any other line, and if a file has two digests; with DTI_NO_MEMORY.
 * path must outlive the list. */
enum dti_status dti_digest_list_read(struct dti_digest_list *ret, const char *path,
                                     struct dti_error *reterr);
void dti_digest_list_free(struct dti_digest_list *list);
/* The digest of an open file, whatever its name in the list; NULL: none. */
const struct dti_digest *dti_digest_list_find(const struct dti_digest_list *list,
                                              const struct dti_input *input);

#endif
