/* SPDX-License-Identifier: MIT
 *
 * External data: tensors whose bytes are in other files, named relative to the model's folder. The
 * names come from the untrusted model and must stay inside that folder: input.h describes how they
 * are opened. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "containers/onnx/onnx.h"
#include "io/descriptor.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

enum { FEW_FILES = 200 }; /* files that may be open without raising the limit */

/* Decimal text, up to 2^63 - 1. */
static bool read_decimal(struct dti_onnx_reading *reading, const struct dti_tensor *tensor,
                         const struct dti_onnx_frame *frame, const char *what,
                         struct dti_onnx_text text, uint64_t *ret)
{
    char digits[20], quoted[DTI_QUOTE_SIZE];
    const size_t length = text.size < sizeof digits ? (size_t)text.size : sizeof digits;
    uint64_t value = 0;
    if (!dti_wire_copy(&reading->wire, text.at, digits, length))
        return false;
    bool good = length > 0 && length < sizeof digits;
    for (size_t i = 0; i < length && good; i++) {
        good = dti_ascii_digit(digits[i]);
        value = 10 * value + (uint64_t)(digits[i] - '0');
    }
    *ret = value;
    return (good && value <= INT64_MAX) ||
           dti_onnx_refuse(reading, tensor, frame->start,
                           ": the %s of its external data, %s, is not a number below 2^63", what,
                           dti_quote(quoted, digits, length));
}

/* NULL, or what is wrong with a name; removes "." and empty components from it. */
static const char *check_location(char *name, size_t *length)
{
    size_t used = 0;
    if (*length == 0)
        return "is empty";
    if (memchr(name, '\0', *length) || memchr(name, '\\', *length))
        return "has a backslash or a NUL in it";
    if (name[0] == '/' || (*length > 1 && name[1] == ':'))
        return "is an absolute path";
    if (name[*length - 1] == '/')
        return "is the name of a folder";
    for (size_t at = 0; at < *length;) {
        const char *const part = name + at;
        const size_t size = strcspn(part, "/");
        if (size == 2 && memcmp(part, "..", 2) == 0)
            return "leads out of the model's folder";
        at += size + 1;
        if (size == 0 || (size == 1 && part[0] == '.'))
            continue;
        if (used > 0)
            name[used++] = '/';
        memmove(name + used, part, size);
        used += size;
    }
    name[used] = '\0';
    *length = used;
    return used == 0 ? "is the name of a folder" : NULL;
}

/* Reuses the last location, since tensors in the same file are mostly adjacent. */
static bool read_location(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                          const struct dti_tensor *tensor, struct dti_onnx_tensor *own)
{
    const struct dti_onnx_text text = reading->draft.location;
    char quoted[DTI_QUOTE_SIZE];
    size_t length;
    if (text.size >= DTI_ONNX_TEXT_MAX)
        return dti_onnx_refuse(reading, tensor, frame->start,
                               ": the location of its external data has %" PRIu64 " bytes",
                               text.size);
    char name[DTI_ONNX_TEXT_MAX];
    if (!dti_wire_copy(&reading->wire, text.at, name, (size_t)text.size))
        return false;
    length = (size_t)text.size;
    name[length] = '\0';
    dti_quote(quoted, name, length);
    const char *const wrong = check_location(name, &length);
    if (wrong)
        return dti_onnx_refuse(reading, tensor, frame->start,
                               ": the location of its external data, %s, %s; it must be a file in "
                               "the model's folder",
                               quoted, wrong);
    if (!reading->location || !dti_text_is(name, length, reading->location))
        reading->location = dti_opening_text(reading->opening, name, length);
    own->location = reading->location;
    own->location_length = length;
    return own->location != NULL;
}

bool dti_onnx_place_external(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                             struct dti_tensor *tensor, struct dti_onnx_tensor *own)
{
    const struct dti_onnx_draft *const draft = &reading->draft;
    uint64_t length = tensor->bytes;
    tensor->offset = 0;
    if (!read_location(reading, frame, tensor, own) ||
        (draft->has_offset &&
         !read_decimal(reading, tensor, frame, "offset", draft->offset, &tensor->offset)) ||
        (draft->has_length &&
         !read_decimal(reading, tensor, frame, "length", draft->length, &length)))
        return false;
    if (dti_tensor_refusal(tensor) || !tensor->format)
        tensor->bytes = length;
    else if (length < tensor->bytes)
        return dti_onnx_refuse(reading, tensor, frame->start,
                               ": %" PRIu64 " elements of type %s need %" PRIu64
                               " bytes, but its external data have %" PRIu64,
                               tensor->elements, tensor->stored_as, tensor->bytes, length);
    own->claimed = length;
    reading->too_long += length > tensor->bytes;
    return true;
}

/* Joins the folder of a path, including the slash, and a name. */
static char *join(struct dti_opening *opening, const char *path, const char *name, size_t length)
{
    const char *const slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    char *const joined = dti_opening_array(opening, folder + length + 1, 1);
    if (!joined)
        return NULL;
    memcpy(joined, path, folder);
    memcpy(joined + folder, name, length);
    joined[folder + length] = '\0';
    return joined;
}

static bool open_file(struct dti_onnx_reading *reading, struct dti_container_file *file,
                      size_t first)
{
    struct dti_opening *const opening = reading->opening;
    const struct dti_container *const container = opening->container;
    const struct dti_onnx_tensor *const own = &reading->tensors[first];
    const struct dti_tensor *const tensor = &container->tensors[first];
    char name[DTI_QUOTE_SIZE];
    struct dti_error error = {.status = DTI_OK};
    if (container->alone)
        return dti_opening_refuse_of(
            opening, (struct dti_subject){"tensor", tensor->name, tensor->name_length, false},
            " is in another file; give the name of the model's file");
    *file = (struct dti_container_file){
        .path = join(opening, container->path, own->location, own->location_length)};
    if (!file->path)
        return false;
    const enum dti_status status =
        dti_input_open_inside(&file->input, container->path, own->location, file->path, &error);
    if (status == DTI_OK)
        return true;
    dti_fail(opening->error, status, "%s: the data of tensor %s: %s", opening->label,
             dti_quote(name, tensor->name, tensor->name_length), error.text);
    dti_error_argument(opening->error, file->path, strlen(file->path));
    return dti_opening_goes_on(opening, status);
}

/* A location, and the first tensor that uses it. */
struct location {
    const char *name;
    size_t name_length;
    size_t tensor;
};

/* Opens each file once, in tensor order, and sets the file index of each tensor. */
static bool open_files(struct dti_onnx_reading *reading, const struct dti_name_order *order,
                       const struct location *locations, size_t count)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_container *const container = opening->container;
    struct dti_container_file *const files =
        dti_opening_array(opening, count + 1, sizeof *container->files);
    unsigned *const numbers = dti_opening_array(opening, count, sizeof *numbers);
    size_t first;
    if (!files || !numbers)
        return false;
    files[0] = container->files[0];
    container->files = files;
    dti_opening_turn_to(opening, &files[0]);
    dti_descriptor_allow(count < FEW_FILES ? 0 : count + FEW_FILES);
    for (size_t i = 0; i < count; i++) {
        (void)dti_name_order_find(order, locations[i].name, locations[i].name_length, &first);
        if (first == i) {
            if (!open_file(reading, &files[container->file_count], locations[i].tensor))
                return false;
            if (container->file_count > DTI_FILES_MAX)
                return dti_opening_refuse(reading->opening, ": it has more than %d files of data",
                                          (int)DTI_FILES_MAX);
            numbers[i] = (unsigned)container->file_count++;
        }
        container->tensors[locations[i].tensor].file = (uint16_t)numbers[first];
    }
    return true;
}

static bool check_end(struct dti_onnx_reading *reading, size_t at)
{
    const struct dti_container *const container = reading->opening->container;
    const struct dti_tensor *const tensor = &container->tensors[at];
    const struct dti_input *const input = &container->files[tensor->file].input;
    const uint64_t claimed = reading->tensors[at].claimed;
    const uint64_t rest = tensor->offset <= input->size ? input->size - tensor->offset : 0;
    char label[DTI_QUOTE_SIZE];
    if (tensor->offset <= input->size && claimed <= rest)
        return true;
    const bool whole = tensor->offset <= input->size && tensor->bytes <= rest;
    if (whole && reading->opening->options.lenient)
        return true; /* more is claimed than needed; this only causes a note */
    (void)dti_onnx_refuse(reading, tensor, 0,
                          ": truncated: it has %" PRIu64 " bytes from byte %" PRIu64
                          " of %s on, which has %" PRIu64,
                          claimed, tensor->offset, dti_input_label(input, label), input->size);
    if (whole && reading->opening->error)
        reading->opening->error->remedy = DTI_REMEDY_ACCEPT_TRAILING;
    return false;
}

/* Sort key: the position of a tensor's data. */
struct order_row {
    unsigned file;
    uint64_t offset;
    size_t index;
};

static int compare(const void *a, const void *b)
{
    const struct order_row *const x = a, *const y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Sorts tensors by the position of their data, file after file. */
static bool sort(struct dti_onnx_reading *reading)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_container *const container = opening->container;
    const size_t count = container->tensor_count;
    struct order_row *const rows = dti_calloc(count + 1, sizeof *rows);
    struct dti_tensor *const tensors = dti_opening_array(opening, count, sizeof *tensors);
    struct dti_onnx_tensor *const own = dti_opening_array(opening, count, sizeof *own);
    if (rows && tensors && own) {
        for (size_t i = 0; i < count; i++)
            rows[i] =
                (struct order_row){container->tensors[i].file, container->tensors[i].offset, i};
        qsort(rows, count, sizeof *rows, compare);
        for (size_t i = 0; i < count; i++) {
            tensors[i] = container->tensors[rows[i].index];
            own[i] = reading->tensors[rows[i].index];
        }
        container->tensors = tensors;
        reading->tensors = own;
    }
    dti_free(rows);
    return (rows && tensors && own) || dti_opening_no_memory(opening);
}

static bool open_located(struct dti_onnx_reading *reading, struct location *locations)
{
    const struct dti_container *const container = reading->opening->container;
    struct dti_name_order order;
    size_t count = 0;
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_onnx_tensor *const own = &reading->tensors[i];
        if (own->location)
            locations[count++] = (struct location){own->location, own->location_length, i};
    }
    if (count == 0)
        return true;
    if (strcmp(container->path, "-") == 0)
        return dti_opening_refuse(reading->opening, ": a model with external data needs a file "
                                                    "name, since these are in the same folder");
    if (!dti_name_order_of(&order, locations, count, DTI_NAMED(struct location, name)))
        return dti_opening_no_memory(reading->opening);
    bool good = open_files(reading, &order, locations, count);
    dti_name_order_free(&order);
    for (size_t i = 0; i < count && good; i++)
        good = check_end(reading, locations[i].tensor);
    return good && sort(reading);
}

bool dti_onnx_open_external(struct dti_onnx_reading *reading)
{
    const size_t count = reading->opening->container->tensor_count;
    struct location *const locations = dti_calloc(count + 1, sizeof *locations);
    const bool good =
        locations ? open_located(reading, locations) : dti_opening_no_memory(reading->opening);
    dti_free(locations);
    return good;
}
