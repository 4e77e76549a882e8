/* SPDX-License-Identifier: MIT
 *
 * The directory of a zip archive, zip64 included. Strict where readers differ: nothing before the
 * members or after the end record, no overlaps, and what is stored twice must agree. */
#ifndef CONTAINERS_ZIP_ZIP_H
#define CONTAINERS_ZIP_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "containers/opening.h"

enum { DTI_ZIP_STORED = 0, DTI_ZIP_DEFLATED = 8 }; /* methods */
enum {
    DTI_ZIP_ENCRYPTED = 0x2041, /* flags: any of these */
    DTI_ZIP_DESCRIPTOR = 0x8,   /* sizes and CRC follow the data, and are in the directory */
    DTI_ZIP_PATCH = 0x20,
    DTI_ZIP_UTF8 = 0x800,
};

struct dti_zip_member {
    const char *name; /* bytes; no NUL among them */
    size_t name_length;
    unsigned method, flags;
    uint32_t crc;
    uint64_t packed, size; /* bytes in the archive and unpacked, as the directory says */
    uint64_t header;       /* where its local header is */
    uint64_t data;         /* where its bytes begin; known after dti_zip_locate() */
};

struct dti_zip {
    struct dti_zip_member *members; /* in the order of their headers */
    size_t count;
    uint64_t end; /* of the members: where the directory begins */
};

/* Reads the directory of the opening's file. Two members of one name are an error. */
bool dti_zip_open(struct dti_opening *opening, struct dti_zip *ret);

/* Of an archive that torch.jit.save() wrote: false, with the reason. */
bool dti_zip_refuse_script(struct dti_opening *opening);

/* Reads the local header of member `index`, which must agree with the directory, and finds its data
 * between it and the next member. */
bool dti_zip_locate(struct dti_opening *opening, struct dti_zip *zip, size_t index);

/* "'x.npz': member 'a.npy'" for messages. Returns buffer. */
enum { DTI_ZIP_LABEL_SIZE = 2 * DTI_QUOTE_SIZE + 16 };
const char *dti_zip_label(char buffer[DTI_ZIP_LABEL_SIZE], const struct dti_input *input,
                          const struct dti_zip_member *member);

/* Whether that is the sum of a member's data; the label is that of the member. */
enum dti_status dti_zip_check_crc(const char *label, const struct dti_zip_member *member,
                                  uint32_t crc, struct dti_error *reterr);

enum {
    DTI_ZIP_ENTRY_SIZE = 46,           /* of a member in the directory, without its names */
    DTI_ZIP_DIRECTORY_MAX = 100000000, /* bytes; a million members of ordinary names */
};

#endif
