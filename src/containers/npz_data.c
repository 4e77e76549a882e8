/* SPDX-License-Identifier: MIT
 *
 * Where the data of a .npz are. Compressed data are unpacked, in a fixed amount of memory and up to
 * the size in the header: anything longer is rejected at that point. Also computes the CRC of every
 * member, arrays or not, without keeping its data. */
#include <inttypes.h>
#include <stdlib.h>

#include "containers/containers.h"
#include "containers/crc32.h"
#include "containers/npz.h"
#include "dtinfo/scratch.h"

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

/* The stream ends where the directory says, in the archive and unpacked, with the right sum. */
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

/* All of a member, and whether its length and its CRC are right; what follows `start` goes to
 * scratch, unless that is NULL. stream: NULL when it is stored. piece is of PIECE bytes. */
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
    unsigned char *const piece = malloc(PIECE);
    array->offset = npz->scratch.size;
    const enum dti_status status =
        (stream || stored) && piece
            ? read_all(stream, input, member, label, array->start, piece, &npz->scratch, reterr)
            : dti_no_memory(reterr);
    free(piece);
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
        return dti_npz_watch(npz, array, input, ret_input, reterr);
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
        dti_npz_watch_free(npz->arrays[i].watch);
    container->own = NULL;
}

struct verification {
    const struct dti_input *input;
    struct dti_inflate *stream; /* NULL until there is something compressed */
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

/* A member that is no array has not been looked at before. */
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
    size_t next = 0; /* of the arrays, which a dduf has none of */
    for (size_t i = 0; i < npz->zip.count && status == DTI_OK; i++) {
        const struct dti_zip_member *const member = &npz->zip.members[i];
        const struct dti_npz_array *const array =
            next < npz->count && npz->arrays[next].member == i ? &npz->arrays[next] : NULL;
        const bool known =
            array && (array->unpacked || (array->watch && dti_npz_watch_is_whole(array->watch)));
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
    struct verification with = {.input = &container->files[0].input, .piece = malloc(PIECE)};
    const enum dti_status status = with.piece
                                       ? verify_all(&with, container, progress, context, reterr)
                                       : dti_no_memory(reterr);
    dti_inflate_free(with.stream);
    free(with.piece);
    return status;
}
