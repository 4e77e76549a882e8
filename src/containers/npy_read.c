/* SPDX-License-Identifier: MIT
 *
 * Reading .npy files: the header alone. As in numpy, missing data is an error and further bytes are
 * not. */
#include <stdio.h>
#include <stdlib.h>

#include "containers/npy.h"
#include "containers/npy_header.h"

static enum dti_status read_header(struct dti_pool *pool, const struct dti_input *input,
                                   const char *label, const struct dti_npy_preamble *preamble,
                                   const struct dti_format *assume, struct dti_tensor *ret,
                                   bool *ret_guessed, struct dti_error *reterr)
{
    char *const text = malloc(preamble->length + 1);
    if (!text)
        return dti_no_memory(reterr);
    enum dti_status status =
        dti_input_read_at(input, text, preamble->length, preamble->start, reterr);
    if (status == DTI_OK)
        status = dti_npy_describe(pool, label, text, preamble, assume, ret, ret_guessed, reterr);
    free(text);
    return status;
}

/* Holds the array against the bytes that there are, with a note for those left over. */
static enum dti_status check_size(struct dti_notes *notes, const char *label, uint64_t there,
                                  struct dti_tensor *tensor, struct dti_error *reterr)
{
    if (tensor->bytes == UINT64_MAX) /* a pickle takes what it takes */
        tensor->bytes = there;
    if (there < tensor->bytes)
        return dti_npy_fail_short(label, tensor, there, reterr);
    if (there == tensor->bytes)
        return DTI_OK;
    char text[80];
    (void)snprintf(text, sizeof text, "%llu bytes behind the data are ignored",
                   (unsigned long long)(there - tensor->bytes));
    return dti_notes_add(notes, "trailing_bytes", text) ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_npy_read(struct dti_pool *pool, struct dti_container *container,
                             const struct dti_container_options *options, struct dti_tensor *ret,
                             struct dti_error *reterr)
{
    struct dti_container_file *const file = &container->files[0];
    const struct dti_input *const input = &file->input;
    unsigned char head[DTI_NPY_PREAMBLE];
    const size_t head_size = input->size < sizeof head ? (size_t)input->size : sizeof head;
    char label[DTI_QUOTE_SIZE];
    struct dti_npy_preamble preamble;
    struct dti_tensor tensor;
    bool guessed;
    dti_input_label(input, label);
    enum dti_status status = dti_input_read_at(input, head, head_size, 0, reterr);
    if (status == DTI_OK)
        status = dti_npy_preamble(label, head, head_size, input->size, &preamble, reterr);
    if (status == DTI_OK)
        status = read_header(pool, input, label, &preamble, options ? options->assume : NULL,
                             &tensor, &guessed, reterr);
    if (status != DTI_OK)
        return status;

    struct dti_notes notes = {.pool = pool};
    file->header_bytes = preamble.start + preamble.length;
    tensor.name = "data";
    tensor.name_length = 4;
    tensor.offset = file->header_bytes;
    status = check_size(&notes, label, input->size - tensor.offset, &tensor, reterr);
    if (status != DTI_OK)
        return status;
    if (guessed && !dti_npy_note_guess(&notes))
        return dti_no_memory(reterr);
    container->version = preamble.version;
    container->notes = notes.notes;
    container->note_count = notes.count;
    *ret = tensor;
    return DTI_OK;
}
