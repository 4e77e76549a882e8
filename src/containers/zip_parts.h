/* SPDX-License-Identifier: MIT
 *
 * What the parts of the zip reader share. */
#ifndef DTINFO_ZIP_PARTS_H
#define DTINFO_ZIP_PARTS_H

#include "containers/zip.h"

enum {
    DTI_ZIP_ENTRY_SIZE = 46, /* of a member in the directory, without its names */
    DTI_ZIP_LOCAL_SIZE = 30, /* of a local header, likewise */
};

/* What the end records say: where the directory begins, its bytes, its members, and where those
 * records begin. It lies in the file, and has room for so many members. */
struct dti_zip_end {
    uint64_t directory, size, count, limit;
};
enum dti_status dti_zip_find_end(const struct dti_input *input, struct dti_zip_end *ret,
                                 struct dti_error *reterr);

/* A little-endian number of up to 8 bytes. */
static inline uint64_t dti_zip_number(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    while (size-- > 0)
        value = value << 8 | bytes[size];
    return value;
}

/* Takes the 64-bit forms of those fields that are full (2^32 - 1) from an extra field. False: they
 * are not there, or it is damaged. */
bool dti_zip_extra(const unsigned char *extra, size_t length, uint64_t *const fields[],
                   size_t count);

/* "'x.npz': PROBLEM" and "'x.npz': member 'a.npy' PROBLEM" */
enum dti_status dti_zip_fail(const struct dti_input *input, struct dti_error *reterr,
                             const char *problem);
enum dti_status dti_zip_fail_member(const struct dti_input *input,
                                    const struct dti_zip_member *member, struct dti_error *reterr,
                                    const char *problem);

#endif
