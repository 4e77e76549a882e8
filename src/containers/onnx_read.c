/* SPDX-License-Identifier: MIT
 *
 * ONNX models, *.onnx: the tensors of a protocol buffer, and of the files that it names. Models are
 * read and not written: the types of tensors flow through the graph, so that a tensor of another
 * type needs other operators. */
#include <inttypes.h>
#include <stdlib.h>

#include "containers/containers.h"
#include "containers/onnx.h"

static bool add_notes(const struct dti_onnx_reading *reading)
{
    struct dti_opening *const opening = reading->opening;
    return (reading->sparse_count == 0 ||
            dti_opening_note(opening, "sparse", "%zu tensor%s sparse: listed, but not read",
                             reading->sparse_count,
                             reading->sparse_count == 1 ? " is" : "s are")) &&
           (reading->nodes_skipped == 0 ||
            dti_opening_note(
                opening, "nodes", "%zu node%s with quantized weights %s ignored; the limit is %u",
                reading->nodes_skipped, reading->nodes_skipped == 1 ? "" : "s",
                reading->nodes_skipped == 1 ? "is" : "are", (unsigned)DTI_ONNX_NODES_MAX)) &&
           (reading->too_long == 0 ||
            dti_opening_note(opening, "external_length",
                             "%zu tensor%s more external data than %s elements need",
                             reading->too_long, reading->too_long == 1 ? " has" : "s have",
                             reading->too_long == 1 ? "its" : "their")) &&
           (reading->other_keys == 0 ||
            dti_opening_note(opening, "external_keys",
                             "%zu unknown key%s of external data %s ignored", reading->other_keys,
                             reading->other_keys == 1 ? "" : "s",
                             reading->other_keys == 1 ? "is" : "are"));
}

/* All of the model that is not the data of its tensors. */
static void count_header(const struct dti_opening *opening)
{
    struct dti_container_file *const file = &opening->container->files[0];
    uint64_t data = 0;
    for (size_t i = 0; i < opening->container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &opening->container->tensors[i];
        if (tensor->file == 0 && !tensor->compressed)
            data += tensor->bytes; /* of parts of the file, so within its size */
    }
    file->header_bytes = file->input.size - data;
}

static bool open_onnx(struct dti_opening *opening)
{
    struct dti_onnx *const own = dti_opening_array(opening, 1, sizeof *own);
    struct dti_onnx_reading *const reading = calloc(1, sizeof *reading);
    bool good = own && (reading || dti_opening_no_memory(opening));
    if (good) {
        reading->opening = reading->wire.opening = opening;
        good = dti_onnx_walk(reading) && dti_onnx_name_tensors(reading) &&
               dti_onnx_open_external(reading) && dti_onnx_find_weights(reading) &&
               add_notes(reading);
    }
    if (good) {
        *own = (struct dti_onnx){.tensors = reading->tensors};
        opening->container->own = own;
        count_header(opening);
    }
    free(reading);
    return good;
}

/* A number of at most 64 bits, if the bytes reach so far. */
static bool get_varint(const unsigned char *head, size_t size, size_t *at, uint64_t *ret)
{
    *ret = 0;
    for (unsigned i = 0; i < DTI_WIRE_VARINT_MAX && *at < size; i++) {
        const unsigned char byte = head[(*at)++];
        *ret |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Protocol buffers have no magic number. But a model begins with its version, and then there are
 * fields of ModelProto, one after another, up to the end of the file. */
static bool detect(const unsigned char *head, size_t head_size, uint64_t file_size)
{
    enum { VERSION = DTI_WIRE_VARINT | 1 << 3, MODEL_VERSION = DTI_WIRE_VARINT | 5 << 3 };
    static const unsigned char fields[] = {2, 3, 4, 6, 7, 8, 14, 20, 25, 26}; /* bytes */
    enum { ENOUGH = 3, VERSION_MAX = 99 };
    size_t at = 0, count = 0;
    uint64_t tag, value;
    bool graph = false;
    if (!get_varint(head, head_size, &at, &tag) || tag != VERSION ||
        !get_varint(head, head_size, &at, &value) || value == 0 || value > VERSION_MAX)
        return false;
    while (at < head_size) {
        bool known = false;
        if (!get_varint(head, head_size, &at, &tag) || !get_varint(head, head_size, &at, &value))
            return count >= ENOUGH && head_size < file_size;
        if (tag != MODEL_VERSION && (tag & 7) != DTI_WIRE_BYTES)
            return false;
        for (size_t i = 0; i < sizeof fields && !known; i++)
            known = tag == (DTI_WIRE_BYTES | (unsigned)fields[i] << 3);
        if (tag == MODEL_VERSION)
            continue;
        if (!known || value > file_size - at)
            return false;
        graph |= tag == (DTI_WIRE_BYTES | 7 << 3);
        count++;
        if (value > head_size - at)
            return graph || count >= ENOUGH;
        at += (size_t)value;
    }
    return graph || (count >= ENOUGH && head_size < file_size);
}

const struct dti_container_ops dti_onnx_ops = {
    .traits = DTI_TRAIT_GRAPH,
    .packed = "typed field",
    .detect = detect,
    .open = open_onnx,
    .data = dti_onnx_data,
    .free = dti_onnx_free,
};
