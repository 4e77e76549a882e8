/* SPDX-License-Identifier: MIT
 *
 * Writes the records of a zip archive of stored members. Sizes are known in advance, so all offsets
 * are fixed at once; the CRCs are filled in last. Members have the date that numpy.savez() uses,
 * the earliest that the format allows. */
#include "containers/zip/zip_write.h"

#include <pthread.h>
#include <stdlib.h>

#include "containers/zip/crc32.h"
#include "util/checked.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

/* The CRCs of members, computed from the writes, in any order and from any thread. CRCs of pieces
 * can be combined in any order, so nothing is read back. */

/* A member: its own head, whose CRC is known, followed by data. */
struct zip_sum {
    uint64_t begin, end; /* of the data in the file */
    uint32_t head;       /* the CRC of the bytes before the data */
    size_t local, entry; /* text offsets of its CRC: in the local header, in the directory */
    uint32_t data;       /* contribution of the data written so far */
    uint64_t bytes;      /* number of data bytes written */
};

struct dti_zip_sums {
    struct dti_output_watch watch; /* must be first: pointers are cast between the two */
    pthread_mutex_t lock;
    size_t count;
    struct zip_sum list[];
};

/* The first member whose data end after `offset`; sums->count: there is none. */
static size_t find(const struct dti_zip_sums *sums, uint64_t offset)
{
    size_t low = 0, high = sums->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sums->list[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_written(struct dti_output_watch *watch, const void *bytes, size_t size,
                         uint64_t offset)
{
    struct dti_zip_sums *const sums = (struct dti_zip_sums *)watch;
    const uint64_t end = offset + size;
    for (size_t i = find(sums, offset); i < sums->count && sums->list[i].begin < end; i++) {
        struct zip_sum *const sum = &sums->list[i];
        const uint64_t from = sum->begin > offset ? sum->begin : offset,
                       to = sum->end < end ? sum->end : end;
        const char *const part = (const char *)bytes + (from - offset);
        const uint32_t adds =
            dti_crc32_part(dti_crc32(0, part, (size_t)(to - from)), sum->end - to);
        pthread_mutex_lock(&sums->lock);
        sum->data ^= adds;
        sum->bytes += to - from;
        pthread_mutex_unlock(&sums->lock);
    }
}

/* Allocates zeroed entries for `count` members, to be filled in order of offset; NULL: out of
 * memory. */
static struct dti_zip_sums *new_sums(size_t count)
{
    struct dti_zip_sums *sums = NULL;
    if (count < (SIZE_MAX - sizeof *sums) / sizeof *sums->list)
        sums = dti_calloc(1, sizeof *sums + count * sizeof *sums->list);
    if (!sums)
        return NULL;
    sums->watch.take = take_written;
    sums->count = count;
    pthread_mutex_init(&sums->lock, NULL);
    return sums;
}

void dti_zip_sums_free(struct dti_zip_sums *sums)
{
    if (sums)
        pthread_mutex_destroy(&sums->lock);
    dti_free(sums);
}

struct dti_output_watch *dti_zip_sums_watch(struct dti_zip_sums *sums)
{
    return &sums->watch;
}

enum dti_status dti_zip_sums_put(const struct dti_zip_sums *sums, struct dti_buffer *text,
                                 struct dti_error *reterr)
{
    for (size_t i = 0; i < sums->count; i++) {
        const struct zip_sum *const sum = &sums->list[i];
        const uint64_t bytes = sum->end - sum->begin;
        if (sum->bytes != bytes)
            return dti_fail(reterr, DTI_BUG, "member %zu has %llu bytes, but %llu were written", i,
                            (unsigned long long)bytes, (unsigned long long)sum->bytes);
        const uint32_t crc = dti_crc32_part(sum->head, bytes) ^ sum->data;
        dti_little_put((unsigned char *)text->data + sum->local, 4, crc);
        dti_little_put((unsigned char *)text->data + sum->entry, 4, crc);
    }
    return DTI_OK;
}

/* The records. */

enum {
    LOCAL_MARK = 0x04034b50,
    ENTRY_MARK = 0x02014b50,
    END64_MARK = 0x06064b50,
    LOCATOR_MARK = 0x07064b50,
    END_MARK = 0x06054b50,
    LOCAL_SIZE = 30,
    LOCAL_CRC = 14, /* offset of the CRC in a local header, and in an entry */
    ENTRY_CRC = 16,
    EXTRA_HEAD = 4,     /* id and length of an extra field */
    EXTRA_ZIP64 = 1,    /* id of the zip64 extra field */
    EXTRA_PAD = 0xD935, /* id of a padding field: the alignment, then zeros */
    EXTRA_PAD_MIN = EXTRA_HEAD + 2,
    VERSION = 20,
    VERSION_ZIP64 = 45,
    BY_UNIX = 3 << 8,
    FIRST_DAY = 0x21, /* 1 January 1980 */
    FULL16 = 0xFFFF,
    REGULAR_0644 = 0100644,
};

static void put(struct dti_buffer *out, size_t size, uint64_t value)
{
    unsigned char bytes[8];
    dti_little_put(bytes, size, value);
    dti_buffer_append(out, (const char *)bytes, size);
}

static bool is_full(uint64_t value)
{
    return value >= UINT32_MAX;
}

/* A 32-bit field, saturated if the value is in an extra field. */
static void put32(struct dti_buffer *out, uint64_t value)
{
    put(out, 4, is_full(value) ? UINT32_MAX : value);
}

/* Appends the local header of a member at member->header, padded so that the data after it are
 * aligned. Returns the offset of its CRC in the text. */
static size_t put_local(struct dti_buffer *out, const struct dti_zip_member *member)
{
    const bool large = is_full(member->size);
    const size_t zip64 = large ? EXTRA_HEAD + 16 : 0, start = out->length;
    const uint64_t least =
        member->header + LOCAL_SIZE + member->name_length + zip64 + EXTRA_PAD_MIN;
    const size_t zeros = (size_t)(-least % DTI_ZIP_ALIGNMENT);
    put(out, 4, LOCAL_MARK);
    put(out, 2, large ? VERSION_ZIP64 : VERSION);
    put(out, 2, member->flags);
    put(out, 2, member->method);
    put(out, 2, 0);
    put(out, 2, FIRST_DAY);
    put(out, 4, member->crc);
    put32(out, member->packed);
    put32(out, member->size);
    put(out, 2, member->name_length);
    put(out, 2, zip64 + EXTRA_PAD_MIN + zeros);
    dti_buffer_append(out, member->name, member->name_length);
    if (large) {
        put(out, 2, EXTRA_ZIP64);
        put(out, 2, 16);
        put(out, 8, member->size);
        put(out, 8, member->packed);
    }
    put(out, 2, EXTRA_PAD);
    put(out, 2, EXTRA_PAD_MIN - EXTRA_HEAD + zeros);
    put(out, 2, DTI_ZIP_ALIGNMENT);
    dti_buffer_fill(out, '\0', zeros);
    return start + LOCAL_CRC;
}

/* The same for its directory entry. */
static size_t put_entry(struct dti_buffer *out, const struct dti_zip_member *member)
{
    const uint64_t fields[] = {member->size, member->packed, member->header};
    const size_t start = out->length;
    size_t wide = 0;
    for (size_t i = 0; i < 3; i++)
        wide += is_full(fields[i]) ? 8 : 0;
    put(out, 4, ENTRY_MARK);
    put(out, 2, BY_UNIX | VERSION_ZIP64);
    put(out, 2, wide > 0 ? VERSION_ZIP64 : VERSION);
    put(out, 2, member->flags);
    put(out, 2, member->method);
    put(out, 2, 0);
    put(out, 2, FIRST_DAY);
    put(out, 4, member->crc);
    put32(out, member->packed);
    put32(out, member->size);
    put(out, 2, member->name_length);
    put(out, 2, wide > 0 ? EXTRA_HEAD + wide : 0);
    put(out, 2, 0); /* comment length */
    put(out, 2, 0); /* disk number */
    put(out, 2, 0);
    put(out, 4, (uint64_t)REGULAR_0644 << 16);
    put32(out, member->header);
    dti_buffer_append(out, member->name, member->name_length);
    if (wide > 0) {
        put(out, 2, EXTRA_ZIP64);
        put(out, 2, wide);
    }
    for (size_t i = 0; i < 3; i++) {
        if (is_full(fields[i]))
            put(out, 8, fields[i]);
    }
    return start + ENTRY_CRC;
}

/* Appends the end records of a directory of `count` members and `size` bytes at offset `directory`.
 */
static void put_end(struct dti_buffer *out, uint64_t count, uint64_t directory, uint64_t size)
{
    if (count >= FULL16 || is_full(directory) || is_full(size)) {
        put(out, 4, END64_MARK);
        put(out, 8, 44); /* bytes that follow */
        put(out, 2, BY_UNIX | VERSION_ZIP64);
        put(out, 2, VERSION_ZIP64);
        put(out, 8, 0); /* disk numbers */
        put(out, 8, count);
        put(out, 8, count);
        put(out, 8, size);
        put(out, 8, directory);
        put(out, 4, LOCATOR_MARK);
        put(out, 4, 0);
        put(out, 8, directory + size);
        put(out, 4, 1);
    }
    put(out, 4, END_MARK);
    put(out, 4, 0); /* disk numbers */
    put(out, 2, count < FULL16 ? count : FULL16);
    put(out, 2, count < FULL16 ? count : FULL16);
    put32(out, size);
    put32(out, directory);
    put(out, 2, 0); /* comment length */
}

enum dti_status dti_zip_begin(struct dti_zip_writing *ret, struct dti_new_head *head, size_t count,
                              struct dti_error *reterr)
{
    *ret = (struct dti_zip_writing){.head = head};
    head->pieces = dti_calloc(count + 1, sizeof *head->pieces);
    head->sums = new_sums(count);
    head->count = count + 1;
    ret->members = dti_calloc(count + 1, sizeof *ret->members);
    return head->pieces && head->sums && ret->members ? DTI_OK : dti_no_memory(reterr);
}

void dti_zip_writing_free(struct dti_zip_writing *file)
{
    dti_free(file->members);
    file->members = NULL;
}

static bool is_ascii(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)name[i] >= 0x80)
            return false;
    }
    return true;
}

enum dti_status dti_zip_add(struct dti_zip_writing *file, const char *name, size_t name_length,
                            const struct dti_buffer *start, uint64_t data_bytes, uint64_t *ret_data,
                            struct dti_error *reterr)
{
    struct dti_buffer *const text = &file->head->text;
    struct dti_zip_member *const member = &file->members[file->count];
    struct zip_sum *const sum = &file->head->sums->list[file->count];
    struct dti_head_piece *const piece = &file->head->pieces[file->count++];
    const size_t before = text->length;
    *member = (struct dti_zip_member){
        .name = name,
        .name_length = name_length,
        .method = DTI_ZIP_STORED,
        .flags = is_ascii(name, name_length) ? 0 : DTI_ZIP_UTF8,
        .packed = start->length + data_bytes,
        .size = start->length + data_bytes,
        .header = file->at,
    };
    sum->local = put_local(text, member);
    dti_buffer_append(text, start->data, start->length);
    *piece = (struct dti_head_piece){file->at, text->length - before};
    sum->head = dti_crc32(0, start->data, start->length);
    sum->begin = *ret_data = file->at + piece->length;
    if (!dti_add_u64(sum->begin, data_bytes, &sum->end) || sum->end > INT64_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "the file would have 2^63 bytes or more");
    file->at = sum->end;
    return text->failed ? dti_no_memory(reterr) : DTI_OK;
}

enum dti_status dti_zip_finish(const struct dti_zip_writing *file, uint64_t *ret_size,
                               struct dti_error *reterr)
{
    struct dti_buffer *const text = &file->head->text;
    const size_t before = text->length;
    for (size_t i = 0; i < file->count; i++)
        file->head->sums->list[i].entry = put_entry(text, &file->members[i]);
    const size_t size = text->length - before;
    if (size > DTI_ZIP_DIRECTORY_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "the directory of the file would have %zu bytes, more than %d", size,
                        (int)DTI_ZIP_DIRECTORY_MAX);
    put_end(text, file->count, file->at, size);
    file->head->pieces[file->count] = (struct dti_head_piece){file->at, text->length - before};
    *ret_size = file->at + file->head->pieces[file->count].length;
    return text->failed ? dti_no_memory(reterr) : DTI_OK;
}
