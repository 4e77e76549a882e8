/* SPDX-License-Identifier: MIT
 *
 * Tensors of files as operands of expressions: any container, its codes as they are stored; of a
 * quantized tensor the numbers that it stands for, as fp32. */
#include <stdlib.h>
#include <string.h>

#include "answers/calc_answer.h"
#include "dtinfo/checked.h"
#include "dtinfo/logical_tensors.h"

enum { PIECE = 1 << 20, LINE = 64 }; /* bytes read at once; alignment of scratch */

static const struct dti_tensor *find_named(const struct dti_container *container, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (tensor->name_length == length && memcmp(tensor->name, name, length) == 0)
            return tensor;
    }
    return NULL;
}

/* There is no option to read what is stored. */
static enum dti_status refuse(struct dti_error *reterr)
{
    reterr->remedy = DTI_REMEDY_COMPLETE;
    return DTI_BAD_INPUT;
}

/* A tensor of the view, or else a stored part of one: then *container becomes the stored one. */
static enum dti_status find_tensor(struct dti_container **container, const char *path,
                                   const char *name, const struct dti_tensor **ret,
                                   struct dti_error *reterr)
{
    struct dti_container *const view = *container;
    if (!name && view->tensor_count != 1)
        return dti_fail(reterr, DTI_BAD_VALUE, "%s has %zu tensors; name one, as in FILE:TENSOR",
                        DTI_QUOTED(path, strlen(path)), view->tensor_count);
    *ret = name ? find_named(view, name) : &view->tensors[0];
    if (*ret && dti_logical_refuse(view, *ret, reterr) != DTI_OK)
        return refuse(reterr);
    if (!*ret && view->stored) {
        *container = view->stored;
        *ret = find_named(view->stored, name);
    }
    if (*ret)
        return DTI_OK;
    if (dti_logical_refuse_named(view, name, strlen(name), reterr) != DTI_OK)
        return refuse(reterr);
    return dti_fail(reterr, DTI_BAD_VALUE,
                    "%s has no tensor %s; 'dtinfo inspect' lists its tensors",
                    DTI_QUOTED(path, strlen(path)), DTI_QUOTED(name, strlen(name)));
}

static enum dti_status check_tensor(const struct dti_tensor *tensor, const char *path,
                                    struct dti_error *reterr)
{
    char file[DTI_QUOTE_SIZE];
    const char *const name = DTI_QUOTED(tensor->name, tensor->name_length);
    uint64_t bytes;
    dti_quote(file, path, strlen(path));
    if (tensor->refusal)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, tensor->remedy, "%s of %s %s", name, file,
                               tensor->refusal);
    if (!tensor->format)
        return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_DEQUANTIZE,
                               "%s of %s is stored in blocks (%s), not as numbers of a dtype", name,
                               file, tensor->stored_as);
    if (tensor->format->kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND, "%s of %s is complex; only real numbers are read",
                        name, file);
    if (tensor->rank > DTI_CALC_RANK_MAX)
        return dti_fail(reterr, DTI_BAD_VALUE,
                        "%s of %s has %u dimensions; at most %d are possible", name, file,
                        tensor->rank, DTI_CALC_RANK_MAX);
    if (tensor->elements > DTI_CALC_ELEMENTS_MAX ||
        !dti_mul_u64(tensor->elements, dti_calc_code_bytes(tensor->format), &bytes) ||
        bytes > DTI_CALC_BYTES_MAX)
        return dti_fail(reterr, DTI_BAD_VALUE,
                        "%s of %s has %llu elements; all arrays together may have %d elements and "
                        "%d MiB",
                        name, file, (unsigned long long)tensor->elements, DTI_CALC_ELEMENTS_MAX,
                        DTI_CALC_BYTES_MAX >> 20);
    return DTI_OK;
}

/* Where an element goes that a file has with its first dimension varying fastest: place[] counts
 * its indices up. */
static uint64_t next_place(const struct dti_tensor *tensor, uint64_t place[DTI_CALC_RANK_MAX])
{
    uint64_t index = 0;
    for (unsigned i = 0; i < tensor->rank; i++)
        index = index * tensor->shape[i] + place[i];
    for (unsigned i = 0; i < tensor->rank && ++place[i] == tensor->shape[i]; i++)
        place[i] = 0;
    return index;
}

/* Where the elements of a tensor come from. */
struct calc_source {
    const struct dti_batch_source *source; /* NULL: a range of a file */
    const struct dti_input *input;
    uint64_t offset;
    void *scratch;
};

static enum dti_status open_source(struct dti_container *container, const struct dti_tensor *tensor,
                                   struct calc_source *ret, struct dti_error *reterr)
{
    *ret = (struct calc_source){.source = NULL};
    const enum dti_status status =
        dti_logical_data(container, (size_t)(tensor - container->tensors), &ret->source,
                         &ret->input, &ret->offset, reterr);
    if (status != DTI_OK || !ret->source)
        return status;
    ret->scratch = aligned_alloc(LINE, (ret->source->scratch_bytes / LINE + 1) * LINE);
    return ret->scratch ? DTI_OK : dti_no_memory(reterr);
}

static enum dti_status read_piece(const struct calc_source *source, unsigned char *piece,
                                  size_t bytes, uint64_t offset, struct dti_error *reterr)
{
    struct dti_window window = {.way = DTI_WINDOW_COPY};
    if (!source->source)
        return dti_input_read_at(source->input, piece, bytes, source->offset + offset, reterr);
    const enum dti_status status = source->source->read(source->source->context, piece, bytes,
                                                        offset, &window, source->scratch, reterr);
    dti_window_free(&window);
    return status;
}

static enum dti_status read_codes(const struct calc_source *source, const struct dti_tensor *tensor,
                                  struct dti_calc_array *array, unsigned char *piece,
                                  struct dti_error *reterr)
{
    uint64_t place[DTI_CALC_RANK_MAX] = {0};
    const unsigned bits = dti_format_stored_bits(tensor->format, &tensor->layout);
    const uint64_t at_once = (uint64_t)PIECE * 8 / bits / 8 * 8; /* whole bytes of any width */
    for (uint64_t done = 0; done < tensor->elements;) {
        const uint64_t left = tensor->elements - done, count = left < at_once ? left : at_once;
        uint64_t bytes;
        (void)dti_format_bytes(tensor->format, &tensor->layout, count, &bytes);
        const enum dti_status status =
            read_piece(source, piece, (size_t)bytes, done * bits / 8, reterr);
        if (status != DTI_OK)
            return status;
        for (uint64_t i = 0; i < count; i++)
            dti_calc_put(array, tensor->fortran ? next_place(tensor, place) : done + i,
                         dti_storage_get(tensor->format, &tensor->layout, piece, i));
        done += count;
    }
    return DTI_OK;
}

static enum dti_status read_tensor(struct dti_container *container, const char *path,
                                   const char *name, struct dti_calc_array *ret,
                                   struct dti_error *reterr)
{
    const struct dti_tensor *tensor = NULL;
    struct calc_source source = {.scratch = NULL};
    enum dti_status status = find_tensor(&container, path, name, &tensor, reterr);
    if (status == DTI_OK)
        status = check_tensor(tensor, path, reterr);
    if (status == DTI_OK)
        status = open_source(container, tensor, &source, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_calc_array array = {
        .format = *tensor->format, .rank = tensor->rank, .count = (size_t)tensor->elements};
    if (tensor->rank > 0)
        memcpy(array.shape, tensor->shape, tensor->rank * sizeof *array.shape);
    array.codes = malloc(array.count > 0 ? array.count * dti_calc_code_bytes(&array.format) : 1);
    unsigned char *const piece = malloc(PIECE);
    status = array.codes && piece ? read_codes(&source, tensor, &array, piece, reterr)
                                  : dti_no_memory(reterr);
    free(piece);
    free(source.scratch);
    if (status == DTI_OK)
        *ret = array;
    else
        dti_calc_array_free(&array);
    return status;
}

enum dti_status dti_calc_load(void *context, const char *path, const char *tensor,
                              struct dti_calc_array *ret, struct dti_error *reterr)
{
    struct dti_container *container;
    enum dti_status status = dti_logical_open(&container, path, context, reterr);
    if (status == DTI_UNRECOGNIZED)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is a file without a known format; tensors are read from safetensors, "
                        "npy, npz and gguf files",
                        DTI_QUOTED(path, strlen(path)));
    if (status != DTI_OK)
        return status;
    status = read_tensor(container, path, tensor, ret, reterr);
    dti_logical_close(container);
    if (status == DTI_OK)
        status = dti_inputs_unchanged(reterr);
    return status;
}
