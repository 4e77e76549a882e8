/* SPDX-License-Identifier: MIT
 *
 * What is kept of a .npz between finding its arrays, handing out their data and verifying them. */
#ifndef DTINFO_NPZ_PARTS_H
#define DTINFO_NPZ_PARTS_H

#include "containers/inflate.h"
#include "containers/zip.h"
#include "dtinfo/input.h"
#include "dtinfo/memory_pool.h"

struct dti_npz_array {
    size_t member;               /* its index in the archive */
    size_t start;                /* of the data in the unpacked member */
    uint32_t header_crc;         /* of what stands before the data; of stored ones only */
    bool unpacked;               /* and its CRC was right */
    struct dti_npz_watch *watch; /* of a stored one, once its data were asked for */
};
struct dti_npz {
    struct dti_pool *pool;
    struct dti_zip zip;
    size_t count;
    struct dti_npz_array *arrays; /* one for each tensor, in the order of the members */
    bool unpacking;               /* scratch is open */
    struct dti_input scratch;     /* what has been unpacked, one array behind the other */
};

/* npz_read.c: whether a member is stored or deflated. */
enum dti_status dti_npz_check_method(const char *label, const struct dti_zip_member *member,
                                     struct dti_error *reterr);

/* npz_unpack.c: all of a deflated member, whose label is given, and whether its length and its CRC
 * are right; what comes behind `start` goes to scratch, unless that is NULL. piece is of
 * DTI_NPZ_PIECE bytes. */
enum { DTI_NPZ_PIECE = 256 * 1024 };
enum dti_status dti_npz_inflate(struct dti_inflate *stream, const struct dti_input *input,
                                const struct dti_zip_member *member, const char *label,
                                uint64_t start, unsigned char *piece, struct dti_input *scratch,
                                struct dti_error *reterr);
enum dti_status dti_npz_check_crc(const char *label, const struct dti_zip_member *member,
                                  uint32_t crc, struct dti_error *reterr);

/* npz_watch.c: another view of the archive's file, whose reader is told DTI_BAD_INPUT when it has
 * read all data of a stored array and the CRC is not that of the directory: in whatever pieces and
 * threads, whatever is read twice. Where there are no data, it is told here. */
enum dti_status dti_npz_watch(struct dti_npz *npz, struct dti_npz_array *array,
                              const struct dti_input *input, struct dti_input *ret,
                              struct dti_error *reterr);
bool dti_npz_watch_is_whole(struct dti_npz_watch *watch); /* all was read, and was right */
void dti_npz_watch_free(struct dti_npz_watch *watch);     /* NULL is fine */

#endif
