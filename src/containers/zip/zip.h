/* SPDX-License-Identifier: MIT
 *
 * The directory of a zip archive, including zip64. Strict where readers differ: nothing before the
 * members or after the end record, no overlaps, and duplicate fields must agree. */
#ifndef CONTAINERS_ZIP_ZIP_H
#define CONTAINERS_ZIP_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "containers/opening.h"

enum { DTI_ZIP_STORED = 0, DTI_ZIP_DEFLATED = 8 }; /* methods */
enum {
    DTI_ZIP_ENCRYPTED = 0x2041, /* flag mask: any of these bits */
    DTI_ZIP_DESCRIPTOR = 0x8,   /* sizes and CRC follow the data; they are also in the directory */
    DTI_ZIP_PATCH = 0x20,
    DTI_ZIP_UTF8 = 0x800,
};

struct dti_zip_member {
    const char *name; /* contains no NUL */
    size_t name_length;
    unsigned method, flags;
    uint32_t crc;
    uint64_t packed, size; /* bytes in the archive and unpacked, from the directory */
    uint64_t header;       /* offset of its local header */
    uint64_t data;         /* offset of its bytes; known after dti_zip_locate() */
};

struct dti_zip {
    struct dti_zip_member *members; /* sorted by header offset */
    size_t count;
    uint64_t end; /* of the members: where the directory starts */
};

/* Reads the directory of the opening's file. Duplicate member names are an error. */
bool dti_zip_open(struct dti_opening *opening, struct dti_zip *ret);

/* Refuses an archive written by torch.jit.save(), with the reason; returns false. */
bool dti_zip_refuse_script(struct dti_opening *opening);

/* Reads the local header of member `index`, which must agree with the directory, and locates its
 * data, which must end before the next member. */
bool dti_zip_locate(struct dti_opening *opening, struct dti_zip *zip, size_t index);

/* "'x.npz': member 'a.npy'" for messages. Returns buffer. */
enum { DTI_ZIP_LABEL_SIZE = 2 * DTI_QUOTE_SIZE + 16 };
const char *dti_zip_label(char buffer[DTI_ZIP_LABEL_SIZE], const struct dti_input *input,
                          const struct dti_zip_member *member);

/* Compares a CRC with the one in the directory; label is the member's, for messages. */
enum dti_status dti_zip_check_crc(const char *label, const struct dti_zip_member *member,
                                  uint32_t crc, struct dti_error *reterr);

enum {
    DTI_ZIP_ENTRY_SIZE = 46, /* of a directory entry, without its variable-length fields */
    DTI_ZIP_DIRECTORY_MAX = 100000000, /* bytes; a million members with names of typical length */
};

#endif
