/* SPDX-License-Identifier: MIT
 *
 * Writes the records of a zip archive; zip.h reads them. zip64 records are used only where a number
 * needs them. */
#ifndef CONTAINERS_ZIP_ZIP_WRITE_H
#define CONTAINERS_ZIP_ZIP_WRITE_H

#include "containers/new_head.h"
#include "containers/zip/zip.h"
#include "io/output.h"
#include "util/buffer.h"

/* Of the data in the file, as in torch.save(); numpy's own are not aligned. */
enum { DTI_ZIP_ALIGNMENT = 64 };

/* An archive being laid out. Each member starts with known bytes, followed by data that are written
 * later; dti_zip_sums_put() fills in the CRCs. */
struct dti_zip_writing {
    struct dti_new_head *head;
    struct dti_zip_member *members;
    size_t count;
    uint64_t at; /* offset of the next member */
};
/* Allocates room for `count` members; free it in any case. Fails with DTI_NO_MEMORY. */
enum dti_status dti_zip_begin(struct dti_zip_writing *ret, struct dti_new_head *head, size_t count,
                              struct dti_error *reterr);
void dti_zip_writing_free(struct dti_zip_writing *file);
/* Adds a member, whose name must stay valid until the end; *ret_data: the offset of its data. Both
 * functions fail with DTI_NO_MEMORY, and with DTI_BAD_INPUT if something is too large. */
enum dti_status dti_zip_add(struct dti_zip_writing *file, const char *name, size_t name_length,
                            const struct dti_buffer *start, uint64_t data_bytes, uint64_t *ret_data,
                            struct dti_error *reterr);
/* Writes the directory. *ret_size: of the file. */
enum dti_status dti_zip_finish(const struct dti_zip_writing *file, uint64_t *ret_size,
                               struct dti_error *reterr);

/* The CRCs of the members of a head, filled into the text at the end. */
void dti_zip_sums_free(struct dti_zip_sums *sums); /* NULL is allowed */

/* An observer that adds what is written to the CRCs. */
struct dti_output_watch *dti_zip_sums_watch(struct dti_zip_sums *sums);
/* Fills the CRCs into the text. Fails with DTI_BUG unless every data byte was written exactly once.
 */
enum dti_status dti_zip_sums_put(const struct dti_zip_sums *sums, struct dti_buffer *text,
                                 struct dti_error *reterr);

#endif
