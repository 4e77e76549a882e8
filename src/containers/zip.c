/* SPDX-License-Identifier: MIT
 *
 * The members of zip archives, in the central directory and in headers of their own, which must
 * agree, since some programs trust the one and some the other.
 *
 *     member 0: local header, data    member 1 ...    directory    [end 64, locator 64]    end
 */
#include "containers/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/little_endian.h"

enum {
    ENTRY_MARK = 0x02014b50,
    LOCAL_MARK = 0x04034b50,
    LOCAL_SIZE = 30,  /* of a local header, without its names */
    USUAL_SIZE = 256, /* of one with its names; what is longer takes another read */
    VERSION_MAX = 63,
    EXTRA_ZIP64 = 1,
    FLAGS_COMPARED = DTI_ZIP_ENCRYPTED | DTI_ZIP_DESCRIPTOR | DTI_ZIP_PATCH | DTI_ZIP_UTF8,
};

const char *dti_zip_label(char buffer[DTI_ZIP_LABEL_SIZE], const struct dti_input *input,
                          const struct dti_zip_member *member)
{
    char label[DTI_QUOTE_SIZE], name[DTI_QUOTE_SIZE];
    (void)snprintf(buffer, DTI_ZIP_LABEL_SIZE, "%s: member %s", dti_input_label(input, label),
                   dti_quote(name, member->name, member->name_length));
    return buffer;
}

enum dti_status dti_zip_check_crc(const char *label, const struct dti_zip_member *member,
                                  uint32_t crc, struct dti_error *reterr)
{
    if (crc == member->crc)
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s: damaged: its CRC-32 is %08lx, but the directory says %08lx", label,
                    (unsigned long)crc, (unsigned long)member->crc);
}

/* "'x.npz': member 'a.npy' PROBLEM" */
static bool fail_member(struct dti_opening *opening, const struct dti_zip_member *member,
                        const char *problem)
{
    const struct dti_subject subject = {
        .what = "member", .name = member->name, .length = member->name_length};
    return dti_opening_refuse_of(opening, subject, " %s", problem);
}

/* Takes the 64-bit forms of those fields that are full (2^32 - 1) from an extra field. False: they
 * are not there, or it is damaged. */
static bool take_zip64(const unsigned char *extra, size_t length, uint64_t *const fields[],
                       size_t count)
{
    while (length >= 4) {
        const size_t id = (size_t)dti_little_get(extra, 2),
                     size = (size_t)dti_little_get(extra + 2, 2);
        if (size > length - 4)
            return false;
        const unsigned char *at = extra + 4;
        size_t left = id == EXTRA_ZIP64 ? size : 0;
        for (size_t i = 0; i < count && id == EXTRA_ZIP64; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (left < 8)
                return false;
            *fields[i] = dti_little_get(at, 8);
            at += 8;
            left -= 8;
        }
        extra += 4 + size;
        length -= 4 + size;
    }
    return true;
}

/* One entry of the directory; *ret_size is its length. */
static bool read_entry(struct dti_opening *opening, const unsigned char *entry, size_t left,
                       struct dti_zip_member *ret, size_t *ret_size)
{
    if (left < DTI_ZIP_ENTRY_SIZE || dti_little_get(entry, 4) != ENTRY_MARK)
        return dti_opening_refuse(
            opening, ": damaged: an entry in the directory of the zip archive is not a member");
    const size_t name = (size_t)dti_little_get(entry + 28, 2),
                 extra = (size_t)dti_little_get(entry + 30, 2);
    *ret_size = DTI_ZIP_ENTRY_SIZE + name + extra + (size_t)dti_little_get(entry + 32, 2);
    if (*ret_size > left)
        return dti_opening_refuse(
            opening, ": damaged: the directory of the zip archive ends in the middle of a member");
    *ret = (struct dti_zip_member){
        .flags = (unsigned)dti_little_get(entry + 8, 2),
        .method = (unsigned)dti_little_get(entry + 10, 2),
        .crc = (uint32_t)dti_little_get(entry + 16, 4),
        .packed = dti_little_get(entry + 20, 4),
        .size = dti_little_get(entry + 24, 4),
        .header = dti_little_get(entry + 42, 4),
        .name = dti_opening_text(opening, (const char *)entry + DTI_ZIP_ENTRY_SIZE, name),
        .name_length = name,
    };
    if (!ret->name)
        return false;
    uint64_t *const fields[] = {&ret->size, &ret->packed, &ret->header};
    if (!take_zip64(entry + DTI_ZIP_ENTRY_SIZE + name, extra, fields, 3))
        return fail_member(opening, ret, "has a damaged extra field");
    if (memchr(ret->name, '\0', name))
        return fail_member(opening, ret, "has a NUL in its name");
    if (dti_little_get(entry + 34, 2) != 0)
        return dti_opening_refuse(opening, ": the zip archive is split over several files");
    return (dti_little_get(entry + 6, 2) & 0xFF) <= VERSION_MAX ||
           fail_member(opening, ret, "needs a newer version of the zip format");
}

static int compare_headers(const void *a, const void *b)
{
    const struct dti_zip_member *const one = a, *const other = b;
    return one->header < other->header ? -1 : one->header > other->header;
}

/* Where the next member or the directory begins. */
static uint64_t end_of(const struct dti_zip *zip, size_t index)
{
    return index + 1 < zip->count ? zip->members[index + 1].header : zip->end;
}

/* Members follow each other from the first byte on: each has room for what it must have. */
static bool check_places(struct dti_opening *opening, const struct dti_zip *zip)
{
    if (zip->count > 0 && zip->members[0].header != 0)
        return dti_opening_refuse(opening,
                                  ": there are bytes before the first member of the zip archive");
    for (size_t i = 0; i < zip->count; i++) {
        const struct dti_zip_member *const member = &zip->members[i];
        const uint64_t end = end_of(zip, i), least = LOCAL_SIZE + (uint64_t)member->name_length;
        if (member->header > zip->end)
            return fail_member(opening, member, "begins after the end of the members");
        if (end - member->header < least || end - member->header - least < member->packed)
            return fail_member(opening, member, "overlaps what follows it");
    }
    return true;
}

static bool read_directory(struct dti_opening *opening, const struct dti_zip_end *end,
                           struct dti_zip *zip)
{
    unsigned char *const directory = malloc((size_t)end->size + 1);
    zip->members = dti_opening_array(opening, (size_t)end->count, sizeof *zip->members);
    bool good = directory ? zip->members != NULL : dti_opening_no_memory(opening);
    good = good && dti_opening_read(opening, directory, (size_t)end->size, end->directory);
    size_t at = 0;
    for (; good && zip->count < end->count; zip->count++) {
        size_t size = 0;
        good = read_entry(opening, directory + at, (size_t)end->size - at,
                          &zip->members[zip->count], &size);
        at += size;
    }
    free(directory);
    return good && (at == end->size ||
                    dti_opening_refuse(opening, ": damaged: the directory of the zip archive has "
                                                "data after the members that it counts"));
}

bool dti_zip_open(struct dti_opening *opening, struct dti_zip *ret)
{
    struct dti_zip_end end;
    *ret = (struct dti_zip){.count = 0};
    if (!dti_zip_find_end(opening, &end) || !read_directory(opening, &end, ret) ||
        !dti_opening_check_names(opening, ret->members, ret->count,
                                 DTI_NAMED(struct dti_zip_member, name),
                                 (struct dti_subject){.what = "member"}, " occurs twice"))
        return false;
    ret->end = end.directory;
    if (ret->count > 0)
        qsort(ret->members, ret->count, sizeof *ret->members, compare_headers);
    return check_places(opening, ret);
}

/* Sizes and CRC may be zero in a header that was written before they were known. */
static bool agrees(const struct dti_zip_member *member, const unsigned char *local, uint64_t packed,
                   uint64_t size)
{
    const bool later = (member->flags & DTI_ZIP_DESCRIPTOR) != 0;
    const uint64_t crc = dti_little_get(local + 14, 4);
    if (((dti_little_get(local + 6, 2) ^ member->flags) & FLAGS_COMPARED) != 0 ||
        dti_little_get(local + 8, 2) != member->method)
        return false;
    return (crc == member->crc || (later && crc == 0)) &&
           ((packed == member->packed && size == member->size) ||
            (later && packed == 0 && size == 0));
}

/* names: the name and the extra field that follow the local header. */
static bool check_local(struct dti_opening *opening, const struct dti_zip_member *member,
                        const unsigned char *local, const unsigned char *names, size_t extra)
{
    uint64_t packed = dti_little_get(local + 18, 4), size = dti_little_get(local + 22, 4);
    uint64_t *const fields[] = {&size, &packed};
    if (member->name_length > 0 && memcmp(names, member->name, member->name_length) != 0)
        return fail_member(opening, member,
                           "has different names in its own header and in the directory");
    if (!take_zip64(names + member->name_length, extra, fields, 2))
        return fail_member(opening, member, "has a damaged extra field");
    return agrees(member, local, packed, size) ||
           fail_member(
               opening, member,
               "has different sizes, CRCs or methods in its own header and in the directory");
}

bool dti_zip_locate(struct dti_opening *opening, struct dti_zip *zip, size_t index)
{
    struct dti_zip_member *const member = &zip->members[index];
    const uint64_t available = end_of(zip, index) - member->header;
    unsigned char usual[USUAL_SIZE], *local = usual;
    const size_t first = available < sizeof usual ? (size_t)available : sizeof usual;
    if (!dti_opening_read(opening, local, first, member->header))
        return false;
    const size_t name = (size_t)dti_little_get(local + 26, 2),
                 extra = (size_t)dti_little_get(local + 28, 2), size = LOCAL_SIZE + name + extra;
    if (dti_little_get(local, 4) != LOCAL_MARK || name != member->name_length)
        return fail_member(opening, member,
                           "is not where the directory says: its header is not there");
    if (size > available || available - size < member->packed)
        return fail_member(opening, member, "overlaps what follows it");
    bool good = true;
    if (size > first) {
        local = malloc(size);
        good = local ? dti_opening_read(opening, local, size, member->header)
                     : dti_opening_no_memory(opening);
    }
    good = good && check_local(opening, member, local, local + LOCAL_SIZE, extra);
    if (local != usual)
        free(local);
    member->data = member->header + size;
    return good;
}
