/* SPDX-License-Identifier: MIT
 *
 * Provides the data of a .npz. Compressed data are unpacked in a fixed amount of memory and up to
 * the size in the header; a longer stream is rejected there. Also computes the CRC of every member,
 * array or not, without keeping its data. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/npy/npz.h"
#include "containers/zip/crc32.h"
#include "io/scratch.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"

/* Verifies the CRC of a stored array while it is read. Pieces arrive from several threads, in any
 * order, possibly more than once; each byte counts when it is first read. CRCs of pieces can be
 * combined in any order, so only the set of counted byte ranges has to be kept. */

struct file_range {
    uint64_t begin, end; /* file offsets */
};

/* Counted bytes, and their contribution to the CRC. */
struct tally {
    uint64_t bytes;
    uint32_t sum;
};

struct dti_npz_watch {
    struct dti_watch watch; /* must be first: pointers are cast between the two */
    struct dti_input input; /* the view whose reads are observed */
    const struct dti_zip_member *member;
    uint64_t begin, end; /* of the data in the file */
    pthread_mutex_t lock;
    struct tally known;       /* of `taken`, once the readers have added their CRCs */
    struct tally once;        /* of readers that read each byte once and need no ranges */
    struct file_range *taken; /* sorted, with gaps of at least a byte */
    size_t count, capacity;
    bool whole; /* everything was read, and correct: nothing more to check */
};

/* Inserts a range at index `at`. */
static bool insert(struct dti_npz_watch *watch, size_t at, struct file_range range)
{
    struct file_range *const larger =
        dti_grown(watch->taken, watch->count, &watch->capacity, sizeof *larger);
    if (!larger)
        return false;
    watch->taken = larger;
    memmove(&watch->taken[at + 1], &watch->taken[at], (watch->count - at) * sizeof range);
    watch->taken[at] = range;
    watch->count++;
    return true;
}

/* Claims the first unclaimed range of *left: stores it in *ret, adds it to `taken`, and advances
 * *left past it. *ret is empty if there is none. False: out of memory. */
static bool take_first(struct dti_npz_watch *watch, struct file_range *left, struct file_range *ret)
{
    struct file_range *const taken = watch->taken;
    size_t low = 0, high = watch->count;
    while (low < high) { /* binary search: the first range that ends at or after left->begin */
        const size_t middle = low + (high - low) / 2;
        if (taken[middle].end < left->begin)
            low = middle + 1;
        else
            high = middle;
    }
    const bool joins = low < watch->count && taken[low].begin <= left->begin;
    if (joins && taken[low].end > left->begin)
        left->begin = taken[low].end < left->end ? taken[low].end : left->end;
    const size_t next = low + joins;
    uint64_t end = left->end;
    if (next < watch->count && taken[next].begin < end)
        end = taken[next].begin;
    *ret = (struct file_range){left->begin, end};
    if (end == left->begin)
        return true;
    left->begin = end;
    const bool reaches = next < watch->count && taken[next].begin == end;
    if (joins && reaches) {
        taken[low].end = taken[next].end;
        watch->count--;
        memmove(&taken[next], &taken[next + 1], (watch->count - next) * sizeof *taken);
    } else if (joins) {
        taken[low].end = end;
    } else if (reaches) {
        taken[next].begin = ret->begin;
    } else {
        return insert(watch, low, *ret);
    }
    return true;
}

/* Adds bytes of the file to a tally. Called with the lock held; releases it during the CRC. */
static enum dti_status add_bytes(struct dti_npz_watch *watch, struct tally *tally,
                                 const void *bytes, struct file_range range,
                                 struct dti_error *reterr)
{
    pthread_mutex_unlock(&watch->lock);
    const size_t size = (size_t)(range.end - range.begin);
    const uint32_t part = dti_crc32_part(dti_crc32(0, bytes, size), watch->end - range.end);
    pthread_mutex_lock(&watch->lock);
    tally->sum ^= part;
    tally->bytes += size;
    if (watch->whole || tally->bytes < watch->end - watch->begin)
        return DTI_OK;
    char label[DTI_ZIP_LABEL_SIZE];
    dti_zip_label(label, &watch->input, watch->member);
    const enum dti_status status = dti_zip_check_crc(label, watch->member, tally->sum, reterr);
    watch->whole = status == DTI_OK;
    return status;
}

static enum dti_status note_read(struct dti_watch *own, const void *bytes, size_t size,
                                 uint64_t offset, bool once, struct dti_error *reterr)
{
    struct dti_npz_watch *const watch = (struct dti_npz_watch *)own;
    struct file_range left = {offset, offset + size}; /* no overflow: these bytes were read */
    if (left.begin < watch->begin)
        left.begin = watch->begin;
    if (left.end > watch->end)
        left.end = watch->end;
    enum dti_status status = DTI_OK;
    pthread_mutex_lock(&watch->lock);
    while (left.begin < left.end && !watch->whole && status == DTI_OK) {
        struct file_range range = left;
        if (once)
            left.begin = left.end;
        else if (!take_first(watch, &left, &range))
            status = dti_no_memory(reterr);
        if (status == DTI_OK && range.begin < range.end)
            status = add_bytes(watch, once ? &watch->once : &watch->known,
                               (const char *)bytes + (range.begin - offset), range, reterr);
    }
    pthread_mutex_unlock(&watch->lock);
    return status;
}

/* Returns another view of the archive's file. Once all data of a stored array have been read
 * through it, in any order, from any thread, with any repetition, a CRC mismatch makes the read
 * fail with DTI_BAD_INPUT. For an empty array it is reported here. */
static enum dti_status watch_array(struct dti_npz *npz, struct dti_npz_array *array,
                                   const struct dti_input *input, const struct dti_input **ret,
                                   struct dti_error *reterr)
{
    const struct dti_zip_member *const member = &npz->zip.members[array->member];
    const uint64_t size = member->size - array->start;
    struct dti_npz_watch *watch = array->watch;
    if (!watch) {
        watch = dti_pool_alloc(npz->pool, sizeof *watch);
        if (!watch)
            return dti_no_memory(reterr);
        const uint32_t header = dti_crc32_part(array->header_crc, size);
        *watch = (struct dti_npz_watch){
            .watch = {.take = note_read},
            .input = *input,
            .member = member,
            .begin = member->data + array->start,
            .end = member->data + member->size,
            .known = {.sum = header},
            .once = {.sum = header},
        };
        watch->input.watch = &watch->watch;
        pthread_mutex_init(&watch->lock, NULL);
        array->watch = watch;
    }
    if (size == 0) {
        char label[DTI_ZIP_LABEL_SIZE];
        dti_zip_label(label, input, member);
        const enum dti_status status = dti_zip_check_crc(label, member, array->header_crc, reterr);
        if (status != DTI_OK)
            return status;
        watch->whole = true;
    }
    *ret = &watch->input;
    return DTI_OK;
}

/* Whether all data were read, and correct. */
static bool is_whole(struct dti_npz_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    const bool whole = watch->whole;
    pthread_mutex_unlock(&watch->lock);
    return whole;
}

static void free_watch(struct dti_npz_watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_destroy(&watch->lock);
    dti_free(watch->taken);
}

/* Unpacking, and the data. */

enum { PIECE = 256 * 1024 };

bool dti_npz_check_method(struct dti_opening *opening, const struct dti_zip_member *member)
{
    if (member->flags & DTI_ZIP_ENCRYPTED)
        return dti_opening_refuse(opening, " is encrypted");
    if (member->flags & DTI_ZIP_PATCH)
        return dti_opening_refuse(opening, " is a patch of another file");
    if (member->method != DTI_ZIP_STORED && member->method != DTI_ZIP_DEFLATED)
        return dti_opening_refuse(
            opening, " uses compression method %u; only stored (0) and deflated (8) are supported",
            member->method);
    return member->method != DTI_ZIP_STORED || member->packed == member->size ||
           dti_opening_refuse(opening,
                              " is stored uncompressed, but its sizes differ: %" PRIu64
                              " and %" PRIu64 " bytes",
                              member->packed, member->size);
}

/* Checks that the stream ends where the directory says, both packed and unpacked, with the right
 * CRC. */
static enum dti_status check_end(struct dti_inflate *stream, const struct dti_zip_member *member,
                                 uint64_t unpacked, uint32_t crc, const char *label,
                                 struct dti_error *reterr)
{
    unsigned char byte;
    size_t more;
    if (unpacked != member->size)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: damaged: it unpacks to %llu bytes, but the directory says %llu", label,
                        (unsigned long long)unpacked, (unsigned long long)member->size);
    const enum dti_status status = dti_inflate_read(stream, &byte, 1, &more, reterr);
    if (status != DTI_OK)
        return status;
    if (more != 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: damaged: it unpacks to more than the %llu bytes that the directory "
                        "says",
                        label, (unsigned long long)member->size);
    if (dti_inflate_unused(stream) != 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: damaged: %llu bytes follow its compressed data",
                        label, (unsigned long long)dti_inflate_unused(stream));
    return dti_zip_check_crc(label, member, crc, reterr);
}

/* Reads a whole member and checks its length and CRC. Writes what follows `start` to scratch,
 * unless that is NULL. stream: NULL if the member is stored. piece has PIECE bytes. */
static enum dti_status read_all(struct dti_inflate *stream, const struct dti_input *input,
                                const struct dti_zip_member *member, const char *label,
                                uint64_t start, unsigned char *piece, struct dti_input *scratch,
                                struct dti_error *reterr)
{
    uint64_t done = 0;
    uint32_t crc = 0;
    if (stream)
        dti_inflate_start(stream, input, member->data, member->packed, label);
    while (done < member->size) {
        const uint64_t left = (done < start ? start : member->size) - done;
        size_t got = left < PIECE ? (size_t)left : PIECE;
        enum dti_status status =
            stream ? dti_inflate_read(stream, piece, got, &got, reterr)
                   : dti_input_read_at(input, piece, got, member->data + done, reterr);
        if (status == DTI_OK && got == 0)
            break;
        if (status == DTI_OK && scratch && done >= start)
            status = dti_scratch_append(scratch, piece, got, reterr);
        if (status != DTI_OK)
            return status;
        crc = dti_crc32(crc, piece, got);
        done += got;
    }
    return stream ? check_end(stream, member, done, crc, label, reterr)
                  : dti_zip_check_crc(label, member, crc, reterr);
}

static enum dti_status unpack(struct dti_npz *npz, struct dti_npz_array *array,
                              const struct dti_input *input, struct dti_error *reterr)
{
    const struct dti_zip_member *const member = &npz->zip.members[array->member];
    char label[DTI_ZIP_LABEL_SIZE];
    dti_zip_label(label, input, member);
    if (!npz->unpacking) {
        const enum dti_status status = dti_scratch_open(&npz->scratch, input->name, 0, reterr);
        if (status != DTI_OK)
            return status;
        npz->unpacking = true;
    }
    const bool stored = member->method == DTI_ZIP_STORED;
    struct dti_inflate *const stream = stored ? NULL : dti_inflate_new();
    unsigned char *const piece = dti_malloc(PIECE);
    array->offset = npz->scratch.size;
    const enum dti_status status =
        (stream || stored) && piece
            ? read_all(stream, input, member, label, array->start, piece, &npz->scratch, reterr)
            : dti_no_memory(reterr);
    dti_free(piece);
    dti_inflate_free(stream);
    array->unpacked = status == DTI_OK;
    return status;
}

enum dti_status dti_npz_data(struct dti_container *container, size_t tensor,
                             const struct dti_input **ret_input, uint64_t *ret_offset,
                             struct dti_error *reterr)
{
    struct dti_npz *const npz = container->own;
    struct dti_gather_place *const place = &npz->places[tensor];
    struct dti_npz_array *const array = &npz->arrays[place->array];
    const struct dti_input *const input = &container->files[0].input;
    const struct dti_tensor *const wanted = &container->tensors[tensor];
    enum dti_status status = DTI_OK;
    *ret_offset = wanted->offset;
    if (!wanted->compressed && !array->fields)
        return watch_array(npz, array, input, ret_input, reterr);
    if (!array->unpacked)
        status = unpack(npz, array, input, reterr);
    if (status != DTI_OK)
        return status;
    *ret_input = &npz->scratch;
    *ret_offset = array->offset + place->inside;
    return wanted->strided ? dti_gather(&npz->gathered, place, wanted, *ret_input, *ret_offset,
                                        ret_input, ret_offset, reterr)
                           : DTI_OK;
}

void dti_npz_free(struct dti_container *container)
{
    struct dti_npz *const npz = container->own;
    if (npz->unpacking)
        dti_input_close(&npz->scratch);
    dti_gathered_free(&npz->gathered);
    for (size_t i = 0; i < npz->count; i++)
        free_watch(npz->arrays[i].watch);
    container->own = NULL;
}

struct verification {
    const struct dti_input *input;
    struct dti_inflate *stream; /* NULL until something is compressed */
    unsigned char *piece;       /* PIECE bytes */
};

static enum dti_status verify(struct verification *with, const struct dti_zip_member *member,
                              const char *label, struct dti_error *reterr)
{
    const bool stored = member->method == DTI_ZIP_STORED;
    if (!stored && !with->stream)
        with->stream = dti_inflate_new();
    if (!stored && !with->stream)
        return dti_no_memory(reterr);
    return read_all(stored ? NULL : with->stream, with->input, member, label, 0, with->piece, NULL,
                    reterr);
}

/* Locates a member; one that is not an array has not been checked before. */
static enum dti_status locate(struct dti_container *container, struct dti_zip *zip, size_t index,
                              const char *label, struct dti_error *reterr)
{
    struct dti_opening opening = {.container = container, .error = reterr};
    dti_opening_turn_to(&opening, &container->files[0]);
    const char *const file_label = opening.label;
    opening.label = label;
    if (dti_npz_check_method(&opening, &zip->members[index])) {
        opening.label = file_label;
        (void)dti_zip_locate(&opening, zip, index);
    }
    return opening.status;
}

static enum dti_status verify_all(struct verification *with, struct dti_container *container,
                                  void (*progress)(void *context, uint64_t done_bytes),
                                  void *context, struct dti_error *reterr)
{
    struct dti_npz *const npz = container->own;
    enum dti_status status = DTI_OK;
    size_t next = 0; /* next array; a dduf has none */
    for (size_t i = 0; i < npz->zip.count && status == DTI_OK; i++) {
        const struct dti_zip_member *const member = &npz->zip.members[i];
        const struct dti_npz_array *const array =
            next < npz->count && npz->arrays[next].member == i ? &npz->arrays[next] : NULL;
        const bool known = array && (array->unpacked || (array->watch && is_whole(array->watch)));
        char label[DTI_ZIP_LABEL_SIZE];
        dti_zip_label(label, with->input, member);
        if (!array)
            status = locate(container, &npz->zip, i, label, reterr);
        if (status == DTI_OK && !known)
            status = verify(with, member, label, reterr);
        if (status == DTI_OK && progress)
            progress(context, member->header + member->packed);
        next += array != NULL;
    }
    return status;
}

enum dti_status dti_npz_verify(struct dti_container *container,
                               void (*progress)(void *context, uint64_t done_bytes), void *context,
                               struct dti_error *reterr)
{
    struct verification with = {.input = &container->files[0].input, .piece = dti_malloc(PIECE)};
    const enum dti_status status = with.piece
                                       ? verify_all(&with, container, progress, context, reterr)
                                       : dti_no_memory(reterr);
    dti_inflate_free(with.stream);
    dti_free(with.piece);
    return status;
}
