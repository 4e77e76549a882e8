/* SPDX-License-Identifier: MIT
 *
 * The end of a zip archive: a record at the end, except for a comment, and before it its 64-bit
 * form with a locator. Both give the position of the directory. */
#include <inttypes.h>
#include <stdlib.h>

#include "containers/zip.h"
#include "dtinfo/checked.h"
#include "dtinfo/little_endian.h"

enum {
    END_MARK = 0x06054b50,
    LOCATOR_MARK = 0x07064b50,
    END64_MARK = 0x06064b50,
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    COMMENT_MAX = 0xFFFF,
};
/* A field of the end record and its 64-bit form, which holds the number when the field is full. */
static bool widen(uint64_t *field, uint64_t wide, size_t bytes)
{
    const uint64_t full = (UINT64_C(1) << (8 * bytes)) - 1;
    if (*field != full && *field != wide)
        return false;
    *field = wide;
    return true;
}

static bool fail_split(struct dti_opening *opening)
{
    return dti_opening_refuse(opening, ": the zip archive is split over several files");
}

/* The 64-bit forms, when there are any before the end record at `at`. */
static bool read_end64(struct dti_opening *opening, uint64_t at, struct dti_zip_end *end)
{
    unsigned char bytes[END64_SIZE];
    if (at < LOCATOR_SIZE + END64_SIZE)
        return true;
    if (!dti_opening_read(opening, bytes, LOCATOR_SIZE, at - LOCATOR_SIZE))
        return false;
    if (dti_little_get(bytes, 4) != LOCATOR_MARK)
        return true;
    const uint64_t there = at - LOCATOR_SIZE - END64_SIZE;
    if (dti_little_get(bytes + 4, 4) != 0 || dti_little_get(bytes + 16, 4) > 1)
        return fail_split(opening);
    if (dti_little_get(bytes + 8, 8) != there)
        return dti_opening_refuse(opening, ": damaged: the 64-bit end record of the zip archive is "
                                           "not where its locator says");
    if (!dti_opening_read(opening, bytes, END64_SIZE, there))
        return false;
    if (dti_little_get(bytes, 4) != END64_MARK || dti_little_get(bytes + 4, 8) != END64_SIZE - 12)
        return dti_opening_refuse(opening,
                                  ": damaged: the 64-bit end record of the zip archive is invalid");
    if (dti_little_get(bytes + 16, 8) != 0 ||
        dti_little_get(bytes + 24, 8) != dti_little_get(bytes + 32, 8))
        return fail_split(opening);
    end->limit = there;
    return (widen(&end->count, dti_little_get(bytes + 32, 8), 2) &&
            widen(&end->size, dti_little_get(bytes + 40, 8), 4) &&
            widen(&end->directory, dti_little_get(bytes + 48, 8), 4)) ||
           dti_opening_refuse(opening,
                              ": damaged: the two end records of the zip archive disagree");
}

/* Where the end record begins in the last bytes of a file, which is where Python's zipfile takes it
 * to be: at the very end, or at its last mark if a comment follows. SIZE_MAX: nowhere. */
static size_t find_end(const unsigned char *tail, size_t size)
{
    if (size < END_SIZE)
        return SIZE_MAX;
    size_t at = size - END_SIZE;
    if (dti_little_get(tail + at, 4) == END_MARK && dti_little_get(tail + size - 2, 2) == 0)
        return at;
    at = size - 4;
    while (at > 0 && dti_little_get(tail + at, 4) != END_MARK)
        at--;
    if (dti_little_get(tail + at, 4) != END_MARK || size - at < END_SIZE ||
        dti_little_get(tail + at + END_SIZE - 2, 2) != size - at - END_SIZE)
        return SIZE_MAX;
    return at;
}

/* The end record, which is among the `size` last bytes. */
static bool read_end(struct dti_opening *opening, const unsigned char *tail, size_t size,
                     struct dti_zip_end *ret)
{
    const size_t at = find_end(tail, size);
    if (at == SIZE_MAX)
        return dti_opening_refuse(
            opening, ": truncated: a zip archive without its end record, or with bytes after it");
    const unsigned char *const record = tail + at;
    *ret = (struct dti_zip_end){
        .count = dti_little_get(record + 10, 2),
        .size = dti_little_get(record + 12, 4),
        .directory = dti_little_get(record + 16, 4),
        .limit = opening->file->input.size - size + at,
    };
    return (dti_little_get(record + 4, 2) == 0 && dti_little_get(record + 6, 2) == 0 &&
            dti_little_get(record + 8, 2) == ret->count) ||
           fail_split(opening);
}

static bool check_end(struct dti_opening *opening, const struct dti_zip_end *end)
{
    uint64_t last;
    if (!dti_add_u64(end->directory, end->size, &last) || last != end->limit)
        return dti_opening_refuse(opening,
                                  ": damaged: the directory of the zip archive has %" PRIu64
                                  " bytes from byte %" PRIu64
                                  " on, but its end record is at byte %" PRIu64,
                                  end->size, end->directory, end->limit);
    if (end->size > DTI_ZIP_DIRECTORY_MAX)
        return dti_opening_refuse(
            opening, ": the directory of the zip archive has %" PRIu64 " bytes, more than %d",
            end->size, (int)DTI_ZIP_DIRECTORY_MAX);
    return end->count <= end->size / DTI_ZIP_ENTRY_SIZE ||
           dti_opening_refuse(opening,
                              ": damaged: the directory of the zip archive has %" PRIu64
                              " bytes, too few for %" PRIu64 " members",
                              end->size, end->count);
}

bool dti_zip_find_end(struct dti_opening *opening, struct dti_zip_end *ret)
{
    const uint64_t all = opening->file->input.size;
    const size_t size = all < END_SIZE + COMMENT_MAX ? (size_t)all : END_SIZE + COMMENT_MAX;
    unsigned char *const tail = malloc(size + 1);
    if (!tail)
        return dti_opening_no_memory(opening);
    const bool good =
        dti_opening_read(opening, tail, size, all - size) && read_end(opening, tail, size, ret);
    free(tail);
    return good && read_end64(opening, ret->limit, ret) && check_end(opening, ret);
}
