/* SPDX-License-Identifier: MIT
 *
 * Local headers of zip members: where the data are, and whether they tell what the directory tells,
 * since some programs believe the one and some the other. */
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/zip_parts.h"

enum {
    USUAL_SIZE = 256, /* of a header with its names; what is longer takes another read */
    LOCAL_MARK = 0x04034b50,
    FLAGS_COMPARED = DTI_ZIP_ENCRYPTED | DTI_ZIP_DESCRIPTOR | DTI_ZIP_PATCH | DTI_ZIP_UTF8,
};

/* Sizes and CRC may be zero in a header that was written before they were known. */
static bool agrees(const struct dti_zip_member *member, const unsigned char *local, uint64_t packed,
                   uint64_t size)
{
    const bool later = (member->flags & DTI_ZIP_DESCRIPTOR) != 0;
    const uint64_t crc = dti_zip_number(local + 14, 4);
    if (((dti_zip_number(local + 6, 2) ^ member->flags) & FLAGS_COMPARED) != 0 ||
        dti_zip_number(local + 8, 2) != member->method)
        return false;
    return (crc == member->crc || (later && crc == 0)) &&
           ((packed == member->packed && size == member->size) ||
            (later && packed == 0 && size == 0));
}

/* names: the name and the extra field that follow the local header. */
static enum dti_status check_local(const struct dti_input *input,
                                   const struct dti_zip_member *member, const unsigned char *local,
                                   const unsigned char *names, size_t extra,
                                   struct dti_error *reterr)
{
    uint64_t packed = dti_zip_number(local + 18, 4), size = dti_zip_number(local + 22, 4);
    uint64_t *const fields[] = {&size, &packed};
    if (member->name_length > 0 && memcmp(names, member->name, member->name_length) != 0)
        return dti_zip_fail_member(input, member, reterr,
                                   "has another name in its own header than in the directory");
    if (!dti_zip_extra(names + member->name_length, extra, fields, 2))
        return dti_zip_fail_member(input, member, reterr, "has a damaged extra field");
    if (!agrees(member, local, packed, size))
        return dti_zip_fail_member(input, member, reterr,
                                   "has other sizes, another CRC or another method in its own "
                                   "header than in the directory");
    return DTI_OK;
}

enum dti_status dti_zip_locate(const struct dti_input *input, struct dti_zip *zip, size_t index,
                               struct dti_error *reterr)
{
    struct dti_zip_member *const member = &zip->members[index];
    const uint64_t end = index + 1 < zip->count ? zip->members[index + 1].header : zip->end;
    const uint64_t available = end - member->header;
    unsigned char usual[USUAL_SIZE], *local = usual;
    const size_t first = available < sizeof usual ? (size_t)available : sizeof usual;
    enum dti_status status = dti_input_read_at(input, local, first, member->header, reterr);
    if (status != DTI_OK)
        return status;
    const size_t name = (size_t)dti_zip_number(local + 26, 2),
                 extra = (size_t)dti_zip_number(local + 28, 2),
                 size = DTI_ZIP_LOCAL_SIZE + name + extra;
    if (dti_zip_number(local, 4) != LOCAL_MARK || name != member->name_length)
        return dti_zip_fail_member(input, member, reterr,
                                   "is not where the directory says: there is no header of it");
    if (size > available || available - size < member->packed)
        return dti_zip_fail_member(input, member, reterr, "reaches into what comes behind it");
    if (size > first) {
        local = malloc(size);
        if (!local)
            return dti_no_memory(reterr);
        status = dti_input_read_at(input, local, size, member->header, reterr);
    }
    if (status == DTI_OK)
        status = check_local(input, member, local, local + DTI_ZIP_LOCAL_SIZE, extra, reterr);
    if (local != usual)
        free(local);
    if (status == DTI_OK)
        member->data = member->header + size;
    return status;
}
