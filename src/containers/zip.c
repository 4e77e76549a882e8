/* SPDX-License-Identifier: MIT
 *
 * The central directory of zip archives.
 *
 *     member 0: local header, data    member 1 ...    directory    [end 64, locator 64]    end
 */
#include "containers/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/name_order.h"
#include "containers/zip_parts.h"

enum {
    ENTRY_MARK = 0x02014b50,
    VERSION_MAX = 63,
    EXTRA_ZIP64 = 1,
};
enum dti_status dti_zip_fail(const struct dti_input *input, struct dti_error *reterr,
                             const char *problem)
{
    char label[DTI_QUOTE_SIZE];
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: %s", dti_input_label(input, label), problem);
}

const char *dti_zip_label(char buffer[DTI_ZIP_LABEL_SIZE], const struct dti_input *input,
                          const struct dti_zip_member *member)
{
    char label[DTI_QUOTE_SIZE], name[DTI_QUOTE_SIZE];
    (void)snprintf(buffer, DTI_ZIP_LABEL_SIZE, "%s: member %s", dti_input_label(input, label),
                   dti_quote(name, member->name, member->name_length));
    return buffer;
}

enum dti_status dti_zip_fail_member(const struct dti_input *input,
                                    const struct dti_zip_member *member, struct dti_error *reterr,
                                    const char *problem)
{
    char label[DTI_ZIP_LABEL_SIZE];
    return dti_fail(reterr, DTI_BAD_INPUT, "%s %s", dti_zip_label(label, input, member), problem);
}

/* Takes the 64-bit forms of the fields that are full from the extra field of an entry. */
bool dti_zip_extra(const unsigned char *extra, size_t length, uint64_t *const fields[],
                   size_t count)
{
    while (length >= 4) {
        const size_t id = (size_t)dti_zip_number(extra, 2),
                     size = (size_t)dti_zip_number(extra + 2, 2);
        if (size > length - 4)
            return false;
        const unsigned char *at = extra + 4;
        size_t left = id == EXTRA_ZIP64 ? size : 0;
        for (size_t i = 0; i < count && id == EXTRA_ZIP64; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (left < 8)
                return false;
            *fields[i] = dti_zip_number(at, 8);
            at += 8;
            left -= 8;
        }
        extra += 4 + size;
        length -= 4 + size;
    }
    return true;
}

/* One entry of the directory; *ret_size tells how long it is. */
static enum dti_status read_entry(struct dti_pool *pool, const struct dti_input *input,
                                  const unsigned char *entry, size_t left,
                                  struct dti_zip_member *ret, size_t *ret_size,
                                  struct dti_error *reterr)
{
    if (left < DTI_ZIP_ENTRY_SIZE || dti_zip_number(entry, 4) != ENTRY_MARK)
        return dti_zip_fail(input, reterr,
                            "damaged: the directory of the zip archive holds something else "
                            "than members");
    const size_t name = (size_t)dti_zip_number(entry + 28, 2),
                 extra = (size_t)dti_zip_number(entry + 30, 2);
    const size_t size = DTI_ZIP_ENTRY_SIZE + name + extra + (size_t)dti_zip_number(entry + 32, 2);
    if (size > left)
        return dti_zip_fail(input, reterr,
                            "damaged: the directory of the zip archive stops in the middle "
                            "of a member");
    struct dti_zip_member member = {
        .flags = (unsigned)dti_zip_number(entry + 8, 2),
        .method = (unsigned)dti_zip_number(entry + 10, 2),
        .crc = (uint32_t)dti_zip_number(entry + 16, 4),
        .packed = dti_zip_number(entry + 20, 4),
        .size = dti_zip_number(entry + 24, 4),
        .header = dti_zip_number(entry + 42, 4),
        .name_length = name,
    };
    member.name = dti_pool_text(pool, (const char *)entry + DTI_ZIP_ENTRY_SIZE, name);
    if (!member.name)
        return dti_no_memory(reterr);
    uint64_t *const fields[] = {&member.size, &member.packed, &member.header};
    if (!dti_zip_extra(entry + DTI_ZIP_ENTRY_SIZE + name, extra, fields, 3))
        return dti_zip_fail_member(input, &member, reterr, "has a damaged extra field");
    if (memchr(member.name, '\0', name))
        return dti_zip_fail_member(input, &member, reterr, "has NUL in its name");
    if (dti_zip_number(entry + 34, 2) != 0)
        return dti_zip_fail(input, reterr, "the zip archive is split over several files");
    if ((dti_zip_number(entry + 6, 2) & 0xFF) > VERSION_MAX)
        return dti_zip_fail_member(input, &member, reterr,
                                   "needs a newer version of the zip format");
    *ret = member;
    *ret_size = size;
    return DTI_OK;
}

static int compare_headers(const void *a, const void *b)
{
    const struct dti_zip_member *const one = a, *const other = b;
    return one->header < other->header ? -1 : one->header > other->header;
}

static enum dti_status check_names(const struct dti_input *input, const struct dti_zip *zip,
                                   struct dti_error *reterr)
{
    struct dti_name_order order;
    size_t repeated;
    if (!dti_name_order_init(&order, zip->count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < zip->count; i++)
        dti_name_order_add(&order, zip->members[i].name, zip->members[i].name_length);
    dti_name_order_sort(&order);
    const bool found = dti_name_order_repeated(&order, &repeated);
    dti_name_order_free(&order);
    return found ? dti_zip_fail_member(input, &zip->members[repeated], reterr, "is there twice")
                 : DTI_OK;
}

/* Where the next member or the directory begins. */
static uint64_t end_of(const struct dti_zip *zip, size_t index)
{
    return index + 1 < zip->count ? zip->members[index + 1].header : zip->end;
}

/* Members follow each other from the first byte on: each has room for what it must have. */
static enum dti_status check_places(const struct dti_input *input, const struct dti_zip *zip,
                                    struct dti_error *reterr)
{
    if (zip->count > 0 && zip->members[0].header != 0)
        return dti_zip_fail(input, reterr,
                            "there are bytes before the first member of the zip archive");
    for (size_t i = 0; i < zip->count; i++) {
        const struct dti_zip_member *const member = &zip->members[i];
        const uint64_t end = end_of(zip, i),
                       least = DTI_ZIP_LOCAL_SIZE + (uint64_t)member->name_length;
        if (member->header > zip->end)
            return dti_zip_fail_member(input, member, reterr,
                                       "begins behind the end of the members");
        if (end - member->header < least || end - member->header - least < member->packed)
            return dti_zip_fail_member(input, member, reterr, "reaches into what comes behind it");
    }
    return DTI_OK;
}

static enum dti_status read_directory(struct dti_pool *pool, const struct dti_input *input,
                                      const struct dti_zip_end *end, struct dti_zip *zip,
                                      struct dti_error *reterr)
{
    unsigned char *const directory = malloc((size_t)end->size + 1);
    zip->members = dti_pool_array(pool, (size_t)end->count, sizeof *zip->members);
    enum dti_status status = directory && zip->members ? DTI_OK : dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_input_read_at(input, directory, (size_t)end->size, end->directory, reterr);
    size_t at = 0;
    while (status == DTI_OK && zip->count < end->count) {
        size_t size = 0;
        status = read_entry(pool, input, directory + at, (size_t)end->size - at,
                            &zip->members[zip->count], &size, reterr);
        at += size;
        zip->count += status == DTI_OK;
    }
    free(directory);
    if (status == DTI_OK && at != end->size)
        return dti_zip_fail(input, reterr,
                            "damaged: the directory of the zip archive holds more than the "
                            "members that it counts");
    return status;
}

enum dti_status dti_zip_open(struct dti_pool *pool, const struct dti_input *input,
                             struct dti_zip *ret, struct dti_error *reterr)
{
    struct dti_zip_end end;
    struct dti_zip zip = {.count = 0};
    enum dti_status status = dti_zip_find_end(input, &end, reterr);
    if (status == DTI_OK)
        status = read_directory(pool, input, &end, &zip, reterr);
    if (status == DTI_OK)
        status = check_names(input, &zip, reterr);
    if (status != DTI_OK)
        return status;
    zip.end = end.directory;
    if (zip.count > 0)
        qsort(zip.members, zip.count, sizeof *zip.members, compare_headers);
    status = check_places(input, &zip, reterr);
    if (status == DTI_OK)
        *ret = zip;
    return status;
}
