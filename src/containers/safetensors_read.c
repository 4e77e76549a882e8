/* SPDX-License-Identifier: MIT
 *
 * Reading a safetensors file: its length against those of header and data, and what the header
 * says as the tensors that everybody knows. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/safetensors_parts.h"
#include "dtinfo/checked.h"

enum dti_status dti_safetensors_header_length(const char *label, const unsigned char *first,
                                              size_t size, uint64_t file_size, uint64_t *ret_length,
                                              struct dti_error *reterr)
{
    if (size < DTI_SAFETENSORS_PREFIX)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: truncated: a safetensors file begins with 8 bytes that tell the "
                        "length of its header, this one has %zu",
                        label, size);
    uint64_t length = 0;
    for (unsigned i = 0; i < DTI_SAFETENSORS_PREFIX; i++)
        length |= (uint64_t)first[i] << 8 * i;
    if (length > DTI_SAFETENSORS_HEADER_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: its first 8 bytes announce a header of %" PRIu64
                        " bytes; safetensors allows %d",
                        label, length, (int)DTI_SAFETENSORS_HEADER_MAX);
    if (length + DTI_SAFETENSORS_PREFIX > file_size)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: truncated: the header needs %" PRIu64 " bytes, the file has %" PRIu64,
                        label, length + DTI_SAFETENSORS_PREFIX, file_size);
    *ret_length = length;
    return DTI_OK;
}

/* Whether the file ends where the data does. *ret_rest: bytes behind it. */
static enum dti_status check_end(const char *label, uint64_t header_bytes, uint64_t data_bytes,
                                 uint64_t file_size, bool lenient, uint64_t *ret_rest,
                                 struct dti_error *reterr)
{
    uint64_t need;
    if (!dti_add_u64(header_bytes, data_bytes, &need))
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: truncated: the tensors need %" PRIu64
                        " bytes behind the header, the file has %" PRIu64,
                        label, data_bytes, file_size - header_bytes);
    if (need > file_size)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: truncated: the header needs %" PRIu64 " bytes, the file has %" PRIu64,
                        label, need, file_size);
    *ret_rest = file_size - need;
    if (need < file_size && !lenient)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_ACCEPT_TRAILING,
                               "%s: the tensors end at byte %" PRIu64 ", the file has %" PRIu64,
                               label, need, file_size);
    return DTI_OK;
}

static enum dti_status add_notes(struct dti_pool *pool, const char *text, size_t length,
                                 uint64_t rest, struct dti_safetensors *safetensors,
                                 struct dti_error *reterr)
{
    struct dti_notes notes = {.pool = pool};
    char line[80];
    snprintf(line, sizeof line, "%" PRIu64 " byte%s behind the data %s ignored", rest,
             rest == 1 ? "" : "s", rest == 1 ? "is" : "are");
    if ((length > 0 && text[0] != '{' &&
         !dti_notes_add(&notes, "leading_space",
                        "white space stands before the header, which should begin with {")) ||
        (rest > 0 && !dti_notes_add(&notes, "trailing_bytes", line)))
        return dti_no_memory(reterr);
    safetensors->notes = notes.notes;
    safetensors->note_count = notes.count;
    return DTI_OK;
}

/* The tensors in the order of their data, which begins at data_start. */
static struct dti_tensor *make_tensors(struct dti_pool *pool,
                                       const struct dti_safetensors_header *header,
                                       const struct dti_safetensors_place *places,
                                       uint64_t data_start, unsigned file_index)
{
    struct dti_tensor *const tensors = dti_pool_array(pool, header->count, sizeof *tensors);
    for (size_t i = 0; tensors && i < header->count; i++) {
        const struct dti_safetensors_record *const record = &header->records[places[i].record];
        tensors[i] = (struct dti_tensor){
            .name = record->name,
            .name_length = record->name_length,
            .stored_as = record->type,
            .format = record->format,
            .layout = dti_file_layout(record->format, DTI_PACKING_LOW, false),
            .rank = record->rank,
            .shape = record->shape,
            .elements = places[i].elements,
            .bytes = record->end - record->begin,
            .file = file_index,
            .offset = data_start + record->begin,
        };
    }
    return tensors;
}

static enum dti_status parse(struct dti_pool *pool, struct dti_pool *scratch, const char *label,
                             const char *text, size_t length, uint64_t file_size,
                             unsigned file_index, bool lenient, struct dti_safetensors *ret,
                             struct dti_error *reterr)
{
    struct dti_safetensors_header header;
    struct dti_safetensors_place *places;
    uint64_t data_bytes, rest = 0;
    const uint64_t data_start = DTI_SAFETENSORS_PREFIX + (uint64_t)length;
    enum dti_status status =
        dti_safetensors_header_read(pool, scratch, label, text, length, &header, reterr);
    if (status == DTI_OK)
        status =
            dti_safetensors_header_check(scratch, label, &header, &places, &data_bytes, reterr);
    if (status == DTI_OK)
        status = check_end(label, data_start, data_bytes, file_size, lenient, &rest, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_safetensors safetensors = {
        .tensor_count = header.count,
        .tensors = make_tensors(pool, &header, places, data_start, file_index),
        .metadata_count = header.metadata_count,
        .metadata = header.metadata,
    };
    if (!safetensors.tensors)
        return dti_no_memory(reterr);
    status = add_notes(pool, text, length, rest, &safetensors, reterr);
    if (status == DTI_OK)
        *ret = safetensors;
    return status;
}

enum dti_status dti_safetensors_parse(struct dti_pool *pool, const char *label, const char *header,
                                      size_t length, uint64_t file_size, unsigned file_index,
                                      const struct dti_container_options *options,
                                      struct dti_safetensors *ret, struct dti_error *reterr)
{
    struct dti_pool scratch = {.chunks = NULL};
    const enum dti_status status = parse(pool, &scratch, label, header, length, file_size,
                                         file_index, options && options->lenient, ret, reterr);
    dti_pool_free(&scratch);
    for (size_t i = 0; status == DTI_OK && options && i < ret->tensor_count; i++)
        ret->tensors[i].layout = dti_file_layout(ret->tensors[i].format, options->packing, false);
    return status;
}

enum dti_status dti_safetensors_read(struct dti_pool *pool, struct dti_container_file *file,
                                     unsigned file_index,
                                     const struct dti_container_options *options,
                                     struct dti_safetensors *ret, struct dti_error *reterr)
{
    const struct dti_input *const input = &file->input;
    char label[DTI_QUOTE_SIZE];
    dti_input_label(input, label);
    if (!input->seekable)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: a safetensors file is read here and there, which a pipe does not "
                        "allow; write it to a file first",
                        label);
    unsigned char first[DTI_SAFETENSORS_PREFIX];
    const size_t size = input->size < sizeof first ? (size_t)input->size : sizeof first;
    uint64_t length;
    enum dti_status status = dti_input_read_at(input, first, size, 0, reterr);
    if (status == DTI_OK)
        status = dti_safetensors_header_length(label, first, size, input->size, &length, reterr);
    if (status != DTI_OK)
        return status;

    char *const header = malloc((size_t)length + 1);
    if (!header)
        return dti_no_memory(reterr);
    status = dti_input_read_at(input, header, (size_t)length, sizeof first, reterr);
    if (status == DTI_OK)
        status = dti_safetensors_parse(pool, label, header, (size_t)length, input->size, file_index,
                                       options, ret, reterr);
    free(header);
    if (status == DTI_OK)
        file->header_bytes = sizeof first + length;
    return status;
}
