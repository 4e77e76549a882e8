/* SPDX-License-Identifier: MIT
 *
 * Unpacking arrays of a .npz, in a fixed amount of memory and up to the size that the header said:
 * what would unpack to more is refused at that point. */
#include <stdlib.h>

#include "containers/npz.h"
#include "containers/npz_parts.h"
#include "dtinfo/scratch.h"

enum { PIECE = 256 * 1024 };

/* All of a member from its first byte on; what comes behind `start` goes to scratch. */
static enum dti_status unpack(struct dti_inflate *stream, const struct dti_zip_member *member,
                              uint64_t start, unsigned char *piece, struct dti_input *scratch,
                              uint32_t *ret_crc, struct dti_error *reterr)
{
    uint32_t crc = 0;
    enum dti_status status = DTI_OK;
    for (uint64_t done = 0; done < member->size && status == DTI_OK;) {
        const uint64_t left = (done < start ? start : member->size) - done;
        size_t got;
        status = dti_inflate_read(stream, piece, left < PIECE ? (size_t)left : PIECE, &got, reterr);
        if (status != DTI_OK || got == 0)
            break;
        crc = dti_crc32(crc, piece, got);
        if (done >= start)
            status = dti_scratch_append(scratch, piece, got, reterr);
        done += got;
    }
    if (status == DTI_OK)
        *ret_crc = crc;
    return status;
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
    if (crc != member->crc)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: damaged: its CRC-32 is %08lx, the directory says %08lx", label,
                        (unsigned long)crc, (unsigned long)member->crc);
    return DTI_OK;
}

enum dti_status dti_npz_unpack(struct dti_container *container, const struct dti_tensor *tensor,
                               struct dti_input *ret_input, uint64_t *ret_offset,
                               struct dti_error *reterr)
{
    struct dti_npz *const npz = container->own;
    const struct dti_npz_array *const array = &npz->arrays[tensor - container->tensors];
    const struct dti_zip_member *const member = &npz->zip.members[array->member];
    const struct dti_input *const input = &container->files[0].input;
    char label[DTI_ZIP_LABEL_SIZE];
    dti_zip_label(label, input, member);
    if (!npz->unpacking) {
        const enum dti_status status = dti_scratch_open(&npz->scratch, input->name, 0, reterr);
        if (status != DTI_OK)
            return status;
        npz->unpacking = true;
    }
    struct dti_inflate *const stream = dti_inflate_new();
    unsigned char *const piece = malloc(PIECE);
    const uint64_t offset = npz->scratch.size;
    uint32_t crc = 0;
    enum dti_status status = stream && piece ? DTI_OK : dti_container_no_memory(reterr);
    if (status == DTI_OK) {
        dti_inflate_start(stream, input, member->data, member->packed, label);
        status = unpack(stream, member, array->start, piece, &npz->scratch, &crc, reterr);
    }
    if (status == DTI_OK)
        status = check_end(stream, member, array->start + (npz->scratch.size - offset), crc, label,
                           reterr);
    free(piece);
    dti_inflate_free(stream);
    if (status != DTI_OK)
        return status;
    *ret_input = npz->scratch;
    *ret_offset = offset;
    return DTI_OK;
}

void dti_npz_free(struct dti_container *container)
{
    struct dti_npz *const npz = container->own;
    if (npz && npz->unpacking)
        dti_input_close(&npz->scratch);
    container->own = NULL;
}
