/* SPDX-License-Identifier: MIT
 *
 * The sums of PyTorch files: the zip form has a CRC-32 of each member in its directory, which
 * torch.load() does not look at. */
#include <stdlib.h>

#include "containers/crc32.h"
#include "containers/torch_parts.h"

enum { PIECE = 256 * 1024 };

struct torch_sums {
    void (*progress)(void *context, uint64_t done_bytes);
    void *context;
    unsigned char *piece; /* PIECE bytes */
    uint64_t before;      /* bytes of the files before this one */
};

static enum dti_status verify_member(const struct torch_sums *with, const struct dti_input *input,
                                     const struct dti_zip_member *member, struct dti_error *reterr)
{
    uint32_t crc = 0;
    for (uint64_t done = 0; done < member->size;) {
        const uint64_t left = member->size - done;
        size_t got = left < PIECE ? (size_t)left : PIECE;
        const enum dti_status status =
            dti_input_read_at(input, with->piece, got, member->data + done, reterr);
        if (status != DTI_OK)
            return status;
        crc = dti_crc32(crc, with->piece, got);
        done += got;
        if (with->progress)
            with->progress(with->context, with->before + member->data + done);
    }
    char label[DTI_ZIP_LABEL_SIZE];
    return dti_zip_check_crc(dti_zip_label(label, input, member), member, crc, reterr);
}

static enum dti_status verify_file(const struct torch_sums *with, struct dti_container *container,
                                   size_t file, struct dti_zip *zip, struct dti_error *reterr)
{
    struct dti_opening opening = {.container = container, .error = reterr};
    dti_opening_turn_to(&opening, &container->files[file]);
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < zip->count && status == DTI_OK; i++) {
        if (!dti_torch_locate(&opening, zip, i))
            return opening.status;
        status = verify_member(with, &container->files[file].input, &zip->members[i], reterr);
    }
    return status;
}

enum dti_status dti_torch_verify(struct dti_container *container,
                                 void (*progress)(void *context, uint64_t done_bytes),
                                 void *context, struct dti_error *reterr)
{
    struct dti_torch *const torch = container->own;
    struct torch_sums with = {.progress = progress, .context = context, .piece = malloc(PIECE)};
    enum dti_status status = with.piece ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0; i < torch->zip_count && status == DTI_OK; i++) {
        if (dti_torch_has_sums(&torch->zips[i]))
            status = verify_file(&with, container, i, &torch->zips[i], reterr);
        with.before += container->files[i].input.size;
    }
    free(with.piece);
    return status;
}
