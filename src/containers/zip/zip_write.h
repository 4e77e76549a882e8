/* SPDX-License-Identifier: MIT
 *
 * The records of a zip archive that is written; zip.h has what is read. zip64 forms are used where
 * a number needs them. */
#ifndef CONTAINERS_ZIP_ZIP_WRITE_H
#define CONTAINERS_ZIP_ZIP_WRITE_H

#include "containers/new_head.h"
#include "containers/zip/zip.h"
#include "io/output.h"
#include "util/buffer.h"

/* Of the data in the file, as torch.save() has it: numpy's own are where they happen to be. */
enum { DTI_ZIP_ALIGNMENT = 64 };

/* An archive as far as it is laid out, whose members begin with bytes that are known, before data
 * that are not; dti_zip_sums_put() fills in what their sums are. */
struct dti_zip_writing {
    struct dti_new_head *head;
    struct dti_zip_member *members;
    size_t count;
    uint64_t at; /* where the next member begins */
};
/* Room for `count` members; to be freed in any case. Fails with DTI_NO_MEMORY. */
enum dti_status dti_zip_begin(struct dti_zip_writing *ret, struct dti_new_head *head, size_t count,
                              struct dti_error *reterr);
void dti_zip_writing_free(struct dti_zip_writing *file);
/* Adds one, whose name must stay until the end; *ret_data: where its data are. Both fail with
 * DTI_NO_MEMORY, DTI_BAD_INPUT for what is too large. */
enum dti_status dti_zip_add(struct dti_zip_writing *file, const char *name, size_t name_length,
                            const struct dti_buffer *start, uint64_t data_bytes, uint64_t *ret_data,
                            struct dti_error *reterr);
/* The directory. *ret_size: of the file. */
enum dti_status dti_zip_finish(const struct dti_zip_writing *file, uint64_t *ret_size,
                               struct dti_error *reterr);

/* The CRCs of the members of a head, which go into the text at the end. */
void dti_zip_sums_free(struct dti_zip_sums *sums); /* NULL is fine */

/* Adds what is written into the data of the members. */
struct dti_output_watch *dti_zip_sums_watch(struct dti_zip_sums *sums);
/* Puts the CRCs where they belong in the text. Fails with DTI_BUG unless all data were written, and
 * once. */
enum dti_status dti_zip_sums_put(const struct dti_zip_sums *sums, struct dti_buffer *text,
                                 struct dti_error *reterr);

#endif
