/* SPDX-License-Identifier: MIT
 *
 * Provides the data of a PyTorch file's tensors: in the file, or gathered or decoded into a
 * temporary file. Verifies checksums where the file has them. */
#include <stdlib.h>

#include "containers/torch/torch_parts.h"
#include "containers/zip/crc32.h"
#include "io/scratch.h"
#include "util/run/allocate.h"

/* Decodes bytes that are stored as UTF-8 characters, in pieces; a character is never split. */
static enum dti_status decode(struct dti_gathered *gathered, const struct dti_input *input,
                              const struct dti_tensor *tensor, uint64_t encoded,
                              struct dti_error *reterr)
{
    enum { TWO = 0xC2, TWO_END = 0xC4, MORE = 0x80, MORE_MASK = 0xC0 };
    unsigned char *const from = gathered->buffers, *const to = gathered->buffers + DTI_GATHER_PIECE;
    uint64_t done = 0, written = 0;
    char label[DTI_QUOTE_SIZE];
    bool good = true;
    while (good && done < encoded) {
        const size_t size =
            encoded - done < DTI_GATHER_PIECE ? (size_t)(encoded - done) : DTI_GATHER_PIECE;
        size_t at = 0, used = 0;
        enum dti_status status =
            dti_input_read_at(input, from, size, tensor->offset + done, reterr);
        if (status != DTI_OK)
            return status;
        while (at < size && from[at] < MORE)
            to[used++] = from[at++];
        while (good && at < size && (from[at] < MORE || at + 1 < size)) {
            const bool two = from[at] >= MORE;
            good = !two ||
                   (from[at] >= TWO && from[at] < TWO_END && (from[at + 1] & MORE_MASK) == MORE);
            to[used++] =
                (unsigned char)(two ? from[at] << 6 | (from[at + 1] & ~MORE_MASK) : from[at]);
            at += 1 + two;
        }
        good = good && at > 0 && used <= tensor->bytes - written;
        if (good)
            status = dti_scratch_write_at(&gathered->scratch, to, used, gathered->used + written,
                                          reterr);
        if (status != DTI_OK)
            return status;
        done += at;
        written += used;
    }
    if (good && written == tensor->bytes)
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s: array %s: damaged: its text is not that of its bytes",
                    dti_input_label(input, label), DTI_QUOTED(tensor->name, tensor->name_length));
}

enum dti_status dti_torch_data(struct dti_container *container, size_t index,
                               const struct dti_input **ret_input, uint64_t *ret_offset,
                               struct dti_error *reterr)
{
    struct dti_torch *const torch = container->own;
    struct dti_gathered *const gathered = &torch->gathered;
    const struct dti_tensor *const tensor = &container->tensors[index];
    const struct dti_input *const input = &container->files[tensor->file].input;
    struct dti_torch_place *const place = &torch->places[index];
    if (place->encoded > 0 && !place->gather.gathered) {
        enum dti_status status = dti_gathered_room(gathered, input->name, tensor->bytes, reterr);
        if (status == DTI_OK)
            status = decode(gathered, input, tensor, place->encoded, reterr);
        if (status != DTI_OK)
            return status;
        dti_gathered_add(gathered, &place->gather, tensor->bytes);
    }
    if (place->gather.strides || place->encoded > 0)
        return dti_gather(gathered, &place->gather, tensor, input, tensor->offset, ret_input,
                          ret_offset, reterr);
    *ret_input = input;
    *ret_offset = tensor->offset;
    return DTI_OK;
}

void dti_torch_free(struct dti_container *container)
{
    struct dti_torch *const torch = container->own;
    dti_gathered_free(&torch->gathered);
    container->own = NULL;
}

/* The zip format has a CRC-32 of each member in its directory, which torch.load() ignores. */

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
    struct torch_sums with = {.progress = progress, .context = context, .piece = dti_malloc(PIECE)};
    enum dti_status status = with.piece ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0; i < torch->zip_count && status == DTI_OK; i++) {
        if (dti_torch_has_sums(&torch->zips[i]))
            status = verify_file(&with, container, i, &torch->zips[i], reterr);
        with.before += container->files[i].input.size;
    }
    dti_free(with.piece);
    return status;
}
