/* SPDX-License-Identifier: MIT
 *
 * The CRCs of stored members of a zip archive that is being written: taken from what is written, in
 * any order and from any thread, and put into the headers at the end. */
#ifndef DTINFO_ZIP_SUMS_H
#define DTINFO_ZIP_SUMS_H

#include "dtinfo/buffer.h"
#include "dtinfo/output.h"

/* A member: a head of its own, whose CRC is known, and data that follow it. */
struct dti_zip_sum {
    uint64_t begin, end; /* of the data in the file */
    uint32_t head;       /* the CRC of what precedes the data */
    size_t local, entry; /* where its CRC goes in the text: in its header, in the directory */
    uint32_t data;       /* what the data that were written add */
    uint64_t bytes;      /* of them */
};

struct dti_zip_sums;

/* For `count` members, all zero, to be filled in the order of their places; NULL: memory ran out.
 */
struct dti_zip_sums *dti_zip_sums_new(size_t count);
void dti_zip_sums_free(struct dti_zip_sums *sums); /* NULL is fine */
struct dti_zip_sum *dti_zip_sums_of(struct dti_zip_sums *sums, size_t member);

/* Adds what is written into the data of the members. */
struct dti_output_watch *dti_zip_sums_watch(struct dti_zip_sums *sums);
/* Puts the CRCs where they belong in the text. Fails with DTI_BUG unless all data were written, and
 * once. */
enum dti_status dti_zip_sums_put(const struct dti_zip_sums *sums, struct dti_buffer *text,
                                 struct dti_error *reterr);

#endif
