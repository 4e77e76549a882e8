/* SPDX-License-Identifier: MIT
 *
 * The records of a zip archive that is written; zip.h has what is read. zip64 forms are used where
 * a number needs them. */
#ifndef DTINFO_ZIP_WRITE_H
#define DTINFO_ZIP_WRITE_H

#include "containers/zip.h"
#include "dtinfo/buffer.h"

/* Of the data in the file, as torch.save() has it: numpy's own are where they happen to be. */
enum { DTI_ZIP_ALIGNMENT = 64 };

/* Appends the header of a member at member->header, so that its data, right after it, are aligned.
 * Returns where in the text its CRC is. */
size_t dti_zip_put_local(struct dti_buffer *out, const struct dti_zip_member *member);
/* The same of its entry in the directory. */
size_t dti_zip_put_entry(struct dti_buffer *out, const struct dti_zip_member *member);
/* What follows a directory of `count` members, which has `size` bytes from byte `directory` on. */
void dti_zip_put_end(struct dti_buffer *out, uint64_t count, uint64_t directory, uint64_t size);

#endif
