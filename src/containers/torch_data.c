/* SPDX-License-Identifier: MIT
 *
 * Where the data of a PyTorch file's tensors are: in the file, or put into order or decoded in a
 * temporary one. */
#include "containers/torch.h"
#include "dtinfo/scratch.h"

/* Bytes that are the characters of a text in UTF-8, in pieces; a character is not divided. */
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
