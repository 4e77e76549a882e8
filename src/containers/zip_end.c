/* SPDX-License-Identifier: MIT
 *
 * The end of a zip archive: a record that stands last but for a comment, and before it its 64-bit
 * form with a locator. Both tell where the directory is. */
#include <stdlib.h>

#include "containers/containers.h"
#include "containers/zip_parts.h"
#include "dtinfo/checked.h"

enum {
    END_MARK = 0x06054b50,
    LOCATOR_MARK = 0x07064b50,
    END64_MARK = 0x06064b50,
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    COMMENT_MAX = 0xFFFF,
    DIRECTORY_MAX = 100000000, /* bytes; a million members of ordinary names */
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

/* The 64-bit forms, when there are any before the end record at `at`. */
static enum dti_status read_end64(const struct dti_input *input, uint64_t at,
                                  struct dti_zip_end *end, struct dti_error *reterr)
{
    unsigned char bytes[END64_SIZE];
    if (at < LOCATOR_SIZE + END64_SIZE)
        return DTI_OK;
    enum dti_status status =
        dti_input_read_at(input, bytes, LOCATOR_SIZE, at - LOCATOR_SIZE, reterr);
    if (status != DTI_OK || dti_zip_number(bytes, 4) != LOCATOR_MARK)
        return status;
    const uint64_t there = at - LOCATOR_SIZE - END64_SIZE;
    if (dti_zip_number(bytes + 4, 4) != 0 || dti_zip_number(bytes + 16, 4) > 1)
        return dti_zip_fail(input, reterr, "the zip archive is split over several files");
    if (dti_zip_number(bytes + 8, 8) != there)
        return dti_zip_fail(input, reterr,
                            "damaged: the 64-bit end record of the zip archive is not where "
                            "its locator says");
    status = dti_input_read_at(input, bytes, END64_SIZE, there, reterr);
    if (status != DTI_OK)
        return status;
    if (dti_zip_number(bytes, 4) != END64_MARK || dti_zip_number(bytes + 4, 8) != END64_SIZE - 12)
        return dti_zip_fail(input, reterr,
                            "damaged: the 64-bit end record of the zip archive is not one");
    if (dti_zip_number(bytes + 16, 8) != 0 ||
        dti_zip_number(bytes + 24, 8) != dti_zip_number(bytes + 32, 8))
        return dti_zip_fail(input, reterr, "the zip archive is split over several files");
    if (!widen(&end->count, dti_zip_number(bytes + 32, 8), 2) ||
        !widen(&end->size, dti_zip_number(bytes + 40, 8), 4) ||
        !widen(&end->directory, dti_zip_number(bytes + 48, 8), 4))
        return dti_zip_fail(input, reterr,
                            "damaged: the two end records of the zip archive disagree");
    end->limit = there;
    return DTI_OK;
}

/* Where the end record begins in the last bytes of a file, which is where Python's zipfile takes it
 * to be: at the very end, or at its last mark if a comment follows. SIZE_MAX: nowhere. */
static size_t find_end(const unsigned char *tail, size_t size)
{
    if (size < END_SIZE)
        return SIZE_MAX;
    size_t at = size - END_SIZE;
    if (dti_zip_number(tail + at, 4) == END_MARK && dti_zip_number(tail + size - 2, 2) == 0)
        return at;
    at = size - 4;
    while (at > 0 && dti_zip_number(tail + at, 4) != END_MARK)
        at--;
    if (dti_zip_number(tail + at, 4) != END_MARK || size - at < END_SIZE ||
        dti_zip_number(tail + at + END_SIZE - 2, 2) != size - at - END_SIZE)
        return SIZE_MAX;
    return at;
}

static enum dti_status read_both(const struct dti_input *input, struct dti_zip_end *ret,
                                 struct dti_error *reterr)
{
    const size_t size =
        input->size < END_SIZE + COMMENT_MAX ? (size_t)input->size : END_SIZE + COMMENT_MAX;
    unsigned char *const tail = malloc(size + 1);
    if (!tail)
        return dti_no_memory(reterr);
    const uint64_t start = input->size - size;
    enum dti_status status = dti_input_read_at(input, tail, size, start, reterr);
    const size_t at = status == DTI_OK ? find_end(tail, size) : SIZE_MAX;
    struct dti_zip_end end = {.limit = 0};
    if (status == DTI_OK && at == SIZE_MAX) {
        status = dti_zip_fail(
            input, reterr,
            "truncated: a zip archive without its end record, or with bytes behind it");
    } else if (status == DTI_OK) {
        const unsigned char *const record = tail + at;
        if (dti_zip_number(record + 4, 2) != 0 || dti_zip_number(record + 6, 2) != 0 ||
            dti_zip_number(record + 8, 2) != dti_zip_number(record + 10, 2))
            status = dti_zip_fail(input, reterr, "the zip archive is split over several files");
        end.count = dti_zip_number(record + 10, 2);
        end.size = dti_zip_number(record + 12, 4);
        end.directory = dti_zip_number(record + 16, 4);
        end.limit = start + at;
    }
    free(tail);
    if (status == DTI_OK)
        status = read_end64(input, end.limit, &end, reterr);
    if (status == DTI_OK)
        *ret = end;
    return status;
}

static enum dti_status check_end(const struct dti_input *input, const struct dti_zip_end *end,
                                 struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    uint64_t last;
    dti_input_label(input, label);
    if (!dti_add_u64(end->directory, end->size, &last) || last != end->limit)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: damaged: the directory of the zip archive has %llu bytes from byte "
                        "%llu on, and its end stands at byte %llu",
                        label, (unsigned long long)end->size, (unsigned long long)end->directory,
                        (unsigned long long)end->limit);
    if (end->size > DIRECTORY_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: the directory of the zip archive has %llu bytes, more than %d", label,
                        (unsigned long long)end->size, (int)DIRECTORY_MAX);
    if (end->count > end->size / DTI_ZIP_ENTRY_SIZE)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: damaged: the directory of the zip archive has %llu bytes, too few for "
                        "%llu members",
                        label, (unsigned long long)end->size, (unsigned long long)end->count);
    return DTI_OK;
}

enum dti_status dti_zip_find_end(const struct dti_input *input, struct dti_zip_end *ret,
                                 struct dti_error *reterr)
{
    struct dti_zip_end end;
    enum dti_status status = read_both(input, &end, reterr);
    if (status == DTI_OK)
        status = check_end(input, &end, reterr);
    if (status == DTI_OK)
        *ret = end;
    return status;
}
