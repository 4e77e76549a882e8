/* SPDX-License-Identifier: MIT
 *
 * Reads a safetensors file: checks its length against those of header and data, and turns the
 * header into tensors. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "containers/safetensors.h"
#include "dtinfo/checked.h"
#include "dtinfo/little_endian.h"

bool dti_safetensors_header_length(struct dti_opening *opening, const unsigned char *first,
                                   size_t size, uint64_t file_size, uint64_t *ret_length)
{
    if (size < DTI_SAFETENSORS_PREFIX)
        return dti_opening_refuse(opening,
                                  ": truncated: a safetensors file begins with 8 bytes that give "
                                  "the length of its header, but this one has %zu",
                                  size);
    const uint64_t length = dti_little_get(first, DTI_SAFETENSORS_PREFIX);
    if (length > DTI_SAFETENSORS_HEADER_MAX)
        return dti_opening_refuse(opening,
                                  ": its first 8 bytes announce a header of %" PRIu64
                                  " bytes; safetensors allows %d",
                                  length, (int)DTI_SAFETENSORS_HEADER_MAX);
    if (length + DTI_SAFETENSORS_PREFIX > file_size)
        return dti_opening_refuse(
            opening, ": truncated: the header needs %" PRIu64 " bytes, the file has %" PRIu64,
            length + DTI_SAFETENSORS_PREFIX, file_size);
    *ret_length = length;
    return true;
}

/* Whether the file ends where the data does, data_bytes after the header. */
static bool check_end(struct dti_opening *opening, uint64_t header_bytes, uint64_t data_bytes,
                      uint64_t file_size)
{
    uint64_t need;
    if (!dti_add_u64(header_bytes, data_bytes, &need))
        return dti_opening_refuse(opening,
                                  ": truncated: the tensors need %" PRIu64
                                  " bytes after the header, the file has %" PRIu64,
                                  data_bytes, file_size - header_bytes);
    if (need > file_size)
        return dti_opening_refuse(
            opening, ": truncated: the header needs %" PRIu64 " bytes, the file has %" PRIu64, need,
            file_size);
    const uint64_t rest = file_size - need;
    if (rest > 0 && !opening->options.lenient)
        return dti_opening_goes_on(opening, dti_fail_remedy(opening->error, DTI_BAD_INPUT,
                                                            DTI_REMEDY_ACCEPT_TRAILING,
                                                            "%s: the tensors end at byte %" PRIu64
                                                            ", the file has %" PRIu64,
                                                            opening->label, need, file_size));
    return rest == 0 || dti_opening_note(opening, "trailing_bytes",
                                         "%" PRIu64 " byte%s after the data %s ignored", rest,
                                         rest == 1 ? "" : "s", rest == 1 ? "is" : "are");
}

bool dti_safetensors_parse(struct dti_opening *opening, const char *text, size_t length,
                           uint64_t file_size, unsigned file_index)
{
    const struct dti_container *const container = opening->container;
    const size_t first_metadata = container->metadata_count;
    const size_t first = container->tensor_count;
    const uint64_t start = DTI_SAFETENSORS_PREFIX + (uint64_t)length;
    uint64_t data_end = 0;
    if (!dti_safetensors_header_read(opening, text, length) ||
        !dti_safetensors_header_check(opening, first, first_metadata))
        return false;
    for (size_t i = first; i < container->tensor_count; i++) {
        struct dti_tensor *const tensor = &container->tensors[i];
        data_end = tensor->bytes;
        tensor->bytes -= tensor->offset;
        tensor->offset += start;
        tensor->file = file_index;
        tensor->layout = dti_file_layout(tensor->format, opening->options.packing, false);
    }
    return (length == 0 || text[0] == '{' ||
            dti_opening_note(opening, "leading_space",
                             "white space precedes the header, which should begin with {")) &&
           check_end(opening, start, data_end, file_size);
}

bool dti_safetensors_read_at(struct dti_opening *opening, unsigned file_index, uint64_t begin,
                             uint64_t file_size, uint64_t *ret_start)
{
    const size_t before = opening->container->tensor_count;
    unsigned char first[DTI_SAFETENSORS_PREFIX];
    const size_t size = file_size < sizeof first ? (size_t)file_size : sizeof first;
    uint64_t length;
    if (!dti_opening_read(opening, first, size, begin) ||
        !dti_safetensors_header_length(opening, first, size, file_size, &length))
        return false;
    char *const header = malloc((size_t)length + 1);
    if (!header)
        return dti_opening_no_memory(opening);
    *ret_start = sizeof first + length;
    const bool good = dti_opening_read(opening, header, (size_t)length, begin + sizeof first) &&
                      dti_safetensors_parse(opening, header, (size_t)length, file_size, file_index);
    free(header);
    for (size_t i = before; i < opening->container->tensor_count && good; i++)
        opening->container->tensors[i].offset += begin;
    return good;
}

bool dti_safetensors_read(struct dti_opening *opening, unsigned file_index)
{
    return dti_safetensors_read_at(opening, file_index, 0, opening->file->input.size,
                                   &opening->file->header_bytes);
}

/* A header of a length that may be, and JSON in it. Nothing else begins with such a length: the
 * other kinds have no four bytes of zero there. */
static bool detect(const unsigned char *head, size_t head_size, uint64_t file_size)
{
    if (head_size <= DTI_SAFETENSORS_PREFIX ||
        dti_little_get(head, DTI_SAFETENSORS_PREFIX) > DTI_SAFETENSORS_HEADER_MAX)
        return false;
    const size_t first = dti_skip_space(head, head_size, DTI_SAFETENSORS_PREFIX);
    return first < head_size ? head[first] == '{' : file_size > head_size;
}

/* JSON, whatever its length. */
static bool resembles(const unsigned char *head, size_t head_size)
{
    return head_size > DTI_SAFETENSORS_PREFIX && head[DTI_SAFETENSORS_PREFIX] == '{' &&
           head[0] != '{';
}

static bool open_one(struct dti_opening *opening)
{
    return dti_safetensors_read(opening, 0);
}

const struct dti_container_ops dti_safetensors_ops = {
    .traits = DTI_TRAIT_SEVERAL | DTI_TRAIT_TEXTS | DTI_TRAIT_CONFIG | DTI_TRAIT_REPLACES,
    .detect = detect,
    .resembles = resembles,
    .open = open_one,
    .stores = dti_safetensors_stores,
    .layout = dti_safetensors_layout,
};
