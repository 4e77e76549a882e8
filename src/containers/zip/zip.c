/* SPDX-License-Identifier: MIT
 *
 * The members of zip archives, described both in the central directory and in local headers. The
 * two must agree, since some programs trust one and some the other. The end record, whose 64-bit
 * form is found through a locator, gives the position of the directory.
 *
 *     member 0: local header, data    member 1 ...    directory    [end 64, locator 64]    end */
#include "containers/zip/zip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

enum {
    END_MARK = 0x06054b50,
    LOCATOR_MARK = 0x07064b50,
    END64_MARK = 0x06064b50,
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    COMMENT_MAX = 0xFFFF,
};

/* The contents of the end records: start and size of the directory, number of members, and the
 * start of those records. The directory is within the file and large enough for that many members.
 */
struct zip_end {
    uint64_t directory, size, count, limit;
};

/* Merges a field of the end record with its 64-bit form, which applies if the field is saturated.
 */
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

/* Reads the 64-bit records, if there are any before the end record at `at`. */
static bool read_end64(struct dti_opening *opening, uint64_t at, struct zip_end *end)
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

/* Finds the end record in the last bytes of a file, by the rule of Python's zipfile: at the very
 * end, or at the last signature if a comment follows. SIZE_MAX: not found. */
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

/* Reads the end record, which is in the last `size` bytes. */
static bool read_end(struct dti_opening *opening, const unsigned char *tail, size_t size,
                     struct zip_end *ret)
{
    const size_t at = find_end(tail, size);
    if (at == SIZE_MAX)
        return dti_opening_refuse(
            opening, ": truncated: a zip archive without its end record, or with bytes after it");
    const unsigned char *const record = tail + at;
    *ret = (struct zip_end){
        .count = dti_little_get(record + 10, 2),
        .size = dti_little_get(record + 12, 4),
        .directory = dti_little_get(record + 16, 4),
        .limit = opening->file->input.size - size + at,
    };
    return (dti_little_get(record + 4, 2) == 0 && dti_little_get(record + 6, 2) == 0 &&
            dti_little_get(record + 8, 2) == ret->count) ||
           fail_split(opening);
}

static bool check_end(struct dti_opening *opening, const struct zip_end *end)
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

static bool find_directory(struct dti_opening *opening, struct zip_end *ret)
{
    const uint64_t all = opening->file->input.size;
    const size_t size = all < END_SIZE + COMMENT_MAX ? (size_t)all : END_SIZE + COMMENT_MAX;
    unsigned char *const tail = dti_malloc(size + 1);
    if (!tail)
        return dti_opening_no_memory(opening);
    const bool good =
        dti_opening_read(opening, tail, size, all - size) && read_end(opening, tail, size, ret);
    dti_free(tail);
    return good && read_end64(opening, ret->limit, ret) && check_end(opening, ret);
}

enum {
    ENTRY_MARK = 0x02014b50,
    LOCAL_MARK = 0x04034b50,
    LOCAL_SIZE = 30,  /* of a local header, without its variable-length fields */
    USUAL_SIZE = 256, /* of a typical one with these fields; a longer one takes a second read */
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

/* Reads the 64-bit forms of saturated fields (2^32 - 1) from an extra field. False: missing or
 * damaged. */
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

/* Reads one directory entry; *ret_size is its length. */
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

/* The start of the next member or of the directory. */
static uint64_t end_of(const struct dti_zip *zip, size_t index)
{
    return index + 1 < zip->count ? zip->members[index + 1].header : zip->end;
}

/* Members must be consecutive from the first byte on, each with enough room for its header, name
 * and data. */
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

static bool read_directory(struct dti_opening *opening, const struct zip_end *end,
                           struct dti_zip *zip)
{
    unsigned char *const directory = dti_malloc((size_t)end->size + 1);
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
    dti_free(directory);
    return good && (at == end->size ||
                    dti_opening_refuse(opening, ": damaged: the directory of the zip archive has "
                                                "data after the members that it counts"));
}

bool dti_zip_open(struct dti_opening *opening, struct dti_zip *ret)
{
    struct zip_end end = {.count = 0};
    *ret = (struct dti_zip){.count = 0};
    if (!find_directory(opening, &end) || !read_directory(opening, &end, ret) ||
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

/* names: the name and the extra field after the local header. */
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
        local = dti_malloc(size);
        good = local ? dti_opening_read(opening, local, size, member->header)
                     : dti_opening_no_memory(opening);
    }
    good = good && check_local(opening, member, local, local + LOCAL_SIZE, extra);
    if (local != usual)
        dti_free(local);
    member->data = member->header + size;
    return good;
}

bool dti_zip_refuse_script(struct dti_opening *opening)
{
    return dti_opening_refuse(opening, " is a TorchScript archive, which holds code; save the "
                                       "state_dict() of its module with torch.save()");
}
