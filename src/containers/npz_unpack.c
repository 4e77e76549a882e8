/* SPDX-License-Identifier: MIT
 *
 * Where the data of a .npz are. Compressed ones are unpacked, in a fixed amount of memory and up to
 * the size that the header said: what would unpack to more is refused at that point. */
#include <stdlib.h>

#include "containers/crc32.h"
#include "containers/npz.h"
#include "containers/npz_parts.h"
#include "dtinfo/scratch.h"

enum dti_status dti_npz_check_crc(const char *label, const struct dti_zip_member *member,
                                  uint32_t crc, struct dti_error *reterr)
{
    if (crc == member->crc)
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s: damaged: its CRC-32 is %08lx, the directory says %08lx", label,
                    (unsigned long)crc, (unsigned long)member->crc);
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
                        "%s: damaged: it unpacks to %llu bytes, the directory says %llu", label,
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
    return dti_npz_check_crc(label, member, crc, reterr);
}

enum dti_status dti_npz_inflate(struct dti_inflate *stream, const struct dti_input *input,
                                const struct dti_zip_member *member, const char *label,
                                uint64_t start, unsigned char *piece, struct dti_input *scratch,
                                struct dti_error *reterr)
{
    uint64_t done = 0;
    uint32_t crc = 0;
    dti_inflate_start(stream, input, member->data, member->packed, label);
    while (done < member->size) {
        const uint64_t left = (done < start ? start : member->size) - done;
        const size_t wanted = left < DTI_NPZ_PIECE ? (size_t)left : DTI_NPZ_PIECE;
        size_t got;
        enum dti_status status = dti_inflate_read(stream, piece, wanted, &got, reterr);
        if (status == DTI_OK && got == 0)
            break;
        if (status == DTI_OK && scratch && done >= start)
            status = dti_scratch_append(scratch, piece, got, reterr);
        if (status != DTI_OK)
            return status;
        crc = dti_crc32(crc, piece, got);
        done += got;
    }
    return check_end(stream, member, done, crc, label, reterr);
}

static enum dti_status unpack(struct dti_npz *npz, struct dti_npz_array *array,
                              const struct dti_input *input, struct dti_input *ret_input,
                              uint64_t *ret_offset, struct dti_error *reterr)
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
    struct dti_inflate *const stream = dti_inflate_new();
    unsigned char *const piece = malloc(DTI_NPZ_PIECE);
    const uint64_t offset = npz->scratch.size;
    const enum dti_status status = stream && piece
                                       ? dti_npz_inflate(stream, input, member, label, array->start,
                                                         piece, &npz->scratch, reterr)
                                       : dti_no_memory(reterr);
    free(piece);
    dti_inflate_free(stream);
    if (status != DTI_OK)
        return status;
    array->unpacked = true;
    *ret_input = npz->scratch;
    *ret_offset = offset;
    return DTI_OK;
}

enum dti_status dti_npz_data(struct dti_container *container, const struct dti_tensor *tensor,
                             struct dti_input *ret_input, uint64_t *ret_offset,
                             struct dti_error *reterr)
{
    struct dti_npz *const npz = container->own;
    struct dti_npz_array *const array = &npz->arrays[tensor - container->tensors];
    const struct dti_input *const input = &container->files[0].input;
    if (tensor->compressed)
        return unpack(npz, array, input, ret_input, ret_offset, reterr);
    const enum dti_status status = dti_npz_watch(npz, array, input, ret_input, reterr);
    if (status == DTI_OK)
        *ret_offset = tensor->offset;
    return status;
}

void dti_npz_free(struct dti_container *container)
{
    struct dti_npz *const npz = container->own;
    if (npz && npz->unpacking)
        dti_input_close(&npz->scratch);
    for (size_t i = 0; npz && i < npz->count; i++)
        dti_npz_watch_free(npz->arrays[i].watch);
    container->own = NULL;
}
