/* SPDX-License-Identifier: MIT
 *
 * The CRC of every member of a .npz, arrays or not, without keeping any of it. */
#include <stdlib.h>

#include "containers/containers.h"
#include "containers/crc32.h"
#include "containers/npz.h"
#include "containers/npz_parts.h"

struct verification {
    const struct dti_input *input;
    struct dti_inflate *stream; /* NULL until there is something compressed */
    unsigned char *piece;       /* DTI_NPZ_PIECE bytes */
};

static enum dti_status verify_stored(const struct verification *with,
                                     const struct dti_zip_member *member, const char *label,
                                     struct dti_error *reterr)
{
    uint32_t crc = 0;
    for (uint64_t done = 0; done < member->size;) {
        const uint64_t left = member->size - done;
        const size_t size = left < DTI_NPZ_PIECE ? (size_t)left : DTI_NPZ_PIECE;
        const enum dti_status status =
            dti_input_read_at(with->input, with->piece, size, member->data + done, reterr);
        if (status != DTI_OK)
            return status;
        crc = dti_crc32(crc, with->piece, size);
        done += size;
    }
    return dti_npz_check_crc(label, member, crc, reterr);
}

static enum dti_status verify(struct verification *with, const struct dti_zip_member *member,
                              const char *label, struct dti_error *reterr)
{
    if (member->method == DTI_ZIP_STORED)
        return verify_stored(with, member, label, reterr);
    if (!with->stream)
        with->stream = dti_inflate_new();
    if (!with->stream)
        return dti_no_memory(reterr);
    return dti_npz_inflate(with->stream, with->input, member, label, 0, with->piece, NULL, reterr);
}

/* A member that is no array has not been looked at before. */
static enum dti_status locate(const struct verification *with, struct dti_zip *zip, size_t index,
                              const char *label, struct dti_error *reterr)
{
    const enum dti_status status = dti_npz_check_method(label, &zip->members[index], reterr);
    return status == DTI_OK ? dti_zip_locate(with->input, zip, index, reterr) : status;
}

static enum dti_status verify_all(struct verification *with, struct dti_npz *npz,
                                  void (*progress)(void *context, uint64_t done_bytes),
                                  void *context, struct dti_error *reterr)
{
    const struct dti_npz_array *next = npz->arrays, *const end = npz->arrays + npz->count;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < npz->zip.count && status == DTI_OK; i++) {
        const struct dti_zip_member *const member = &npz->zip.members[i];
        const bool is_array = next < end && next->member == i;
        const bool known =
            is_array && (next->unpacked || (next->watch && dti_npz_watch_is_whole(next->watch)));
        char label[DTI_ZIP_LABEL_SIZE];
        dti_zip_label(label, with->input, member);
        if (!is_array)
            status = locate(with, &npz->zip, i, label, reterr);
        if (status == DTI_OK && !known)
            status = verify(with, member, label, reterr);
        if (status == DTI_OK && progress)
            progress(context, member->header + member->packed);
        next += is_array;
    }
    return status;
}

enum dti_status dti_npz_verify(struct dti_container *container,
                               void (*progress)(void *context, uint64_t done_bytes), void *context,
                               struct dti_error *reterr)
{
    struct verification with = {.input = &container->files[0].input,
                                .piece = malloc(DTI_NPZ_PIECE)};
    const enum dti_status status =
        with.piece ? verify_all(&with, container->own, progress, context, reterr)
                   : dti_no_memory(reterr);
    dti_inflate_free(with.stream);
    free(with.piece);
    return status;
}
