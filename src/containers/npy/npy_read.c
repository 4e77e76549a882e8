/* SPDX-License-Identifier: MIT
 *
 * numpy's .npy: one array after a header that is a Python literal. Converts the header into a
 * tensor: checks sizes and maps types to dtypes. As in numpy, missing data are an error and
 * trailing bytes are not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/npy/npy.h"
#include "util/run/allocate.h"

/* The fields of numpy records as tensors: each field of an array is a strided array whose stride is
 * the record size. */

void dti_npy_fields_init(struct dti_npy_fields *ret)
{
    *ret = (struct dti_npy_fields){.count = 0};
    dti_buffer_init(&ret->names);
}

void dti_npy_fields_free(struct dti_npy_fields *fields)
{
    dti_buffer_free(&fields->names);
    dti_free(fields->list);
}

/* "whole.field" */
static bool set_name(const struct dti_npy_reading *reading, const struct dti_npy_field *field,
                     const struct dti_tensor *whole, struct dti_tensor *ret)
{
    const size_t length = whole->name_length + 1 + field->name_length;
    char *const name = dti_opening_array(reading->opening, length + 1, 1);
    if (!name)
        return false;
    memcpy(name, whole->name, whole->name_length);
    name[whole->name_length] = '.';
    memcpy(name + whole->name_length + 1, reading->fields.names.data + field->name_at,
           field->name_length);
    name[length] = '\0';
    ret->name = name;
    ret->name_length = (uint32_t)length;
    return true;
}

/* Sets the shape, the dimensions of the array followed by those of the field, and the matching
 * strides. */
static bool set_shape(const struct dti_npy_reading *reading, const struct dti_npy_field *field,
                      struct dti_tensor *ret, uint64_t **ret_strides)
{
    const struct dti_npy_dictionary *const header = &reading->header;
    const unsigned outer = header->rank, rank = outer + field->rank;
    uint64_t *const shape = dti_opening_array(reading->opening, rank, sizeof *shape);
    uint64_t *const strides = dti_opening_array(reading->opening, rank, sizeof *strides);
    uint64_t step = header->item_bytes;
    if (!shape || !strides)
        return false;
    for (unsigned i = 0; i < outer; i++) {
        const unsigned at = header->fortran ? i : outer - 1 - i;
        shape[at] = header->shape[at];
        strides[at] = step;
        step *= shape[at]; /* fits, or there are no elements */
    }
    for (unsigned i = 0; i < field->rank; i++) {
        shape[rank - 1 - i] = field->shape[i];
        strides[rank - 1 - i] = field->strides[i];
    }
    ret->rank = rank;
    ret->shape = shape;
    *ret_strides = strides;
    return true;
}

/* Whether the elements are contiguous in row-major order. */
static bool is_plain(const struct dti_tensor *tensor, const uint64_t *strides, uint64_t step)
{
    for (unsigned i = tensor->rank; i-- > 0 && tensor->bytes > 0;) {
        if (tensor->shape[i] != 1 && strides[i] != step)
            return false;
        step *= tensor->shape[i];
    }
    return true;
}

static bool take_field(struct dti_npy_reading *reading, const struct dti_npy_field *field,
                       const struct dti_tensor *whole, struct dti_tensor *ret,
                       struct dti_gather_place *ret_place)
{
    struct dti_tensor tensor = {.compressed = whole->compressed};
    struct dti_npy_type type;
    uint64_t *strides;
    if (!dti_npy_type(field->descr, field->descr_length, &type) ||
        !set_name(reading, field, whole, &tensor) ||
        !set_shape(reading, field, &tensor, &strides) ||
        !dti_npy_settle(reading, field->descr, field->descr_length, &type, &tensor))
        return false;
    const struct dti_subject subject = {
        .what = "field", .name = tensor.name, .length = tensor.name_length};
    if (tensor.rank > DTI_NPY_RANK_MAX)
        return dti_opening_refuse_of(reading->opening, subject, " has more than 64 dimensions");
    if (!dti_npy_measure(tensor.shape, tensor.rank, type.item_bytes, &tensor))
        return dti_opening_refuse_of(reading->opening, subject, " is too large");
    const uint64_t inside = tensor.bytes > 0 ? field->offset : 0; /* there may be no record */
    tensor.offset = whole->offset + (whole->compressed ? 0 : inside);
    tensor.strided = !is_plain(&tensor, strides, type.item_bytes);
    *ret_place = (struct dti_gather_place){
        .strides = tensor.strided ? strides : NULL, .item = type.item_bytes, .inside = inside};
    *ret = tensor;
    return true;
}

bool dti_npy_tensors(struct dti_npy_reading *reading, const struct dti_tensor *whole,
                     struct dti_tensor *ret, struct dti_gather_place *ret_places)
{
    const struct dti_npy_fields *const fields = &reading->fields;
    const struct dti_gather_records all = {.count = whole->elements,
                                           .bytes = reading->header.item_bytes,
                                           .rank = whole->rank,
                                           .fields = fields->count};
    const struct dti_gather_records *records = NULL;
    *ret = *whole;
    *ret_places = (struct dti_gather_place){.inside = 0};
    if (fields->count > 1 && !whole->fortran &&
        !(records = dti_opening_copy(reading->opening, &all, 1, sizeof all)))
        return false;
    for (size_t i = 0; i < fields->count; i++) {
        if (!take_field(reading, &fields->list[i], whole, &ret[i], &ret_places[i]))
            return false;
        ret_places[i].records = records;
        ret_places[i].field = i;
    }
    return true;
}

bool dti_npy_check_names(struct dti_opening *opening)
{
    const struct dti_container *const container = opening->container;
    return dti_opening_check_names(opening, container->tensors, container->tensor_count,
                                   DTI_NAMED(struct dti_tensor, name),
                                   (struct dti_subject){.what = "field"}, " occurs twice");
}

/* The header. */

enum { SHAPE_TEXT = 200 };

static const char magic[] = "\x93NUMPY";

bool dti_npy_note_guess(const struct dti_npy_reading *reading)
{
    struct dti_opening *const opening = reading->opening;
    if (!reading->guessed)
        return true;
    if (!dti_opening_note(opening, "guessed_type",
                          "the type '<f1' is read as fp8_e5m2, for which ml_dtypes writes it"))
        return false;
    opening->container->notes[opening->container->note_count - 1].remedy = DTI_REMEDY_ASSUME_OTHER;
    return true;
}

bool dti_npy_preamble(struct dti_opening *opening, const unsigned char *head, size_t head_size,
                      uint64_t size, struct dti_npy_preamble *ret)
{
    static const char *const versions[] = {NULL, "1.0", "2.0", "3.0"};
    const size_t magic_size = sizeof magic - 1, at_length = magic_size + 2;
    if (memcmp(head, magic, head_size < magic_size ? head_size : magic_size) != 0)
        return dti_opening_refuse(opening, ": its first bytes are not those of .npy");
    if (head_size < at_length + 2)
        return dti_opening_refuse(
            opening, ": truncated: a .npy file begins with 10 bytes, but there are %zu", head_size);
    const unsigned major = head[magic_size], minor = head[magic_size + 1];
    if (major < 1 || major > 3 || minor != 0)
        return dti_opening_refuse(
            opening, ": unsupported .npy version %u.%u; 1.0, 2.0 and 3.0 are supported", major,
            minor);
    const size_t start = at_length + (major == 1 ? 2 : 4);
    if (head_size < start)
        return dti_opening_refuse(
            opening,
            ": truncated: a .npy file of version %s begins with %zu bytes, but there are %zu",
            versions[major], start, head_size);
    uint64_t length = 0;
    for (size_t i = at_length; i < start; i++)
        length |= (uint64_t)head[i] << (8 * (i - at_length));
    if (length > size - start)
        return dti_opening_refuse(
            opening, ": truncated: the header needs %" PRIu64 " bytes, but there are %" PRIu64,
            start + length, size);
    if (length > DTI_NPY_HEADER_MAX)
        return dti_opening_refuse(opening, ": the header has %" PRIu64 " bytes, more than %d",
                                  length, (int)DTI_NPY_HEADER_MAX);
    *ret = (struct dti_npy_preamble){
        .major = major, .version = versions[major], .start = start, .length = (size_t)length};
    return true;
}

/* "(2, 3)", "(3,)", "()"; truncated with "..." if there are too many dimensions. */
static const char *spell_shape(char text[SHAPE_TEXT], const struct dti_npy_dictionary *header)
{
    size_t used = 1;
    text[0] = '(';
    for (unsigned i = 0; i < header->rank; i++) {
        const int length = snprintf(text + used, SHAPE_TEXT - used, "%s%llu", i > 0 ? ", " : "",
                                    (unsigned long long)header->shape[i]);
        used += (size_t)length;
        if (used + 40 > SHAPE_TEXT) {
            memcpy(text + used, ", ...", 5);
            used += 5;
            break;
        }
    }
    memcpy(text + used, header->rank == 1 ? ",)" : ")", header->rank == 1 ? 3 : 2);
    return text;
}

/* Whether elements are stored in an order other than row-major. */
static bool is_fortran(const struct dti_npy_dictionary *header, uint64_t elements)
{
    unsigned longer = 0;
    for (unsigned i = 0; i < header->rank; i++)
        longer += header->shape[i] > 1;
    return header->fortran && longer > 1 && elements > 0;
}

/* Sets the reason why a structured array is not read. */
static bool refuse_structured(struct dti_npy_reading *reading, struct dti_tensor *ret)
{
    const struct dti_npy_dictionary *const header = &reading->header;
    char quoted[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 48];
    dti_quote(quoted, header->descr, header->descr_length);
    (void)snprintf(text, sizeof text, "has the type %s, which is not supported", quoted);
    ret->own.refusal = header->objects ? "holds Python objects (pickle), which is never read"
                       : reading->fields.problem
                           ? reading->fields.problem
                           : dti_opening_text(reading->opening, text, strlen(text));
    return ret->own.refusal != NULL;
}

bool dti_npy_describe(struct dti_npy_reading *reading, const char *text,
                      const struct dti_npy_preamble *preamble, uint64_t there,
                      struct dti_tensor *ret)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_npy_dictionary *const header = &reading->header;
    struct dti_npy_fields *const fields = &reading->fields;
    struct dti_npy_type type = {.sort = DTI_NPY_FOREIGN};
    char words[SHAPE_TEXT], quoted[DTI_QUOTE_SIZE];
    const char *const problem =
        dti_npy_parse(text, preamble->length, preamble->major, header, fields);
    if (problem)
        return dti_opening_refuse(opening, ": bad header: %s", problem);
    if (fields->names.failed)
        return dti_opening_no_memory(opening);
    dti_quote(quoted, header->descr, header->descr_length);
    if (!header->structured && !dti_npy_type(header->descr, header->descr_length, &type))
        return dti_opening_refuse(opening, ": bad header: descr %s is not a numpy type", quoted);
    if (header->structured)
        type.item_bytes = header->item_bytes;

    struct dti_tensor tensor = {.rank = header->rank, .stored_as = "structured"};
    if (!dti_npy_measure(header->shape, header->rank, type.item_bytes, &tensor))
        return dti_opening_refuse(opening, ": an array of shape %s and type %s is too large",
                                  spell_shape(words, header), quoted);
    tensor.pickled = header->objects || type.sort == DTI_NPY_OBJECT;
    if (tensor.pickled)
        tensor.bytes = there; /* the length of a pickle is unknown */
    tensor.fortran = is_fortran(header, tensor.elements);
    if (tensor.fortran && fields->count > DTI_NPY_FIELDS_FORTRAN)
        fields->problem = "has more than 64 fields, in Fortran order";
    if (fields->count > DTI_NPY_FIELDS_ALL - reading->field_count)
        fields->problem = "has fields, of which a file may have 16384 in all";
    if (header->objects || fields->problem)
        fields->count = 0;
    reading->field_count += fields->count;
    tensor.shape = dti_opening_copy(opening, header->shape, header->rank, sizeof *tensor.shape);
    if (!tensor.shape ||
        (header->structured
             ? fields->count == 0 && !refuse_structured(reading, &tensor)
             : !dti_npy_settle(reading, header->descr, header->descr_length, &type, &tensor)))
        return false;
    *ret = tensor;
    return there >= tensor.bytes ||
           dti_opening_refuse(opening,
                              ": truncated: %" PRIu64 " elements of type %s need %" PRIu64
                              " bytes, but there are %" PRIu64,
                              tensor.elements, tensor.stored_as, tensor.bytes, there);
}

/* All memory belongs to the pool, except for gathered data. */
struct npy {
    struct dti_gathered gathered;
    struct dti_gather_place *places;
};

/* Reads the header into `text`, which is large enough. */
static bool read_arrays(struct dti_npy_reading *reading, const struct dti_npy_preamble *preamble,
                        char *text)
{
    struct dti_opening *const opening = reading->opening;
    struct npy *const npy = dti_opening_array(opening, 1, sizeof *npy);
    struct dti_tensor whole;
    const uint64_t start = preamble->start + preamble->length, size = opening->file->input.size;
    if (!npy || !dti_opening_read(opening, text, preamble->length, preamble->start) ||
        !dti_npy_describe(reading, text, preamble, size - start, &whole))
        return false;
    whole.name = "data";
    whole.name_length = 4;
    whole.offset = opening->file->header_bytes = start;
    const size_t count = dti_npy_count(reading);
    struct dti_tensor *const tensors = dti_opening_tensors(opening, count);
    struct dti_gather_place *const places = dti_opening_array(opening, count, sizeof *places);
    if (!tensors || !places || !dti_npy_tensors(reading, &whole, tensors, places) ||
        !dti_npy_check_names(opening))
        return false;
    *npy = (struct npy){.places = places};
    opening->container->own = npy;
    const uint64_t rest = size - start - whole.bytes;
    return (rest == 0 || dti_opening_note(opening, "trailing_bytes",
                                          "%" PRIu64 " bytes after the data are ignored", rest)) &&
           dti_npy_note_guess(reading);
}

static bool open_npy(struct dti_opening *opening)
{
    const uint64_t size = opening->file->input.size;
    unsigned char head[DTI_NPY_PREAMBLE];
    const size_t head_size = size < sizeof head ? (size_t)size : sizeof head;
    struct dti_npy_preamble preamble;
    struct dti_npy_reading reading = {.opening = opening};
    if (!dti_opening_read(opening, head, head_size, 0) ||
        !dti_npy_preamble(opening, head, head_size, size, &preamble))
        return false;
    opening->container->version = preamble.version;
    char *const text = dti_malloc(preamble.length + 1);
    dti_npy_fields_init(&reading.fields);
    const bool good =
        text ? read_arrays(&reading, &preamble, text) : dti_opening_no_memory(opening);
    dti_npy_fields_free(&reading.fields);
    dti_free(text);
    return good;
}

static enum dti_status npy_data(struct dti_container *container, size_t tensor,
                                const struct dti_input **ret_input, uint64_t *ret_offset,
                                struct dti_error *reterr)
{
    struct npy *const npy = container->own;
    const struct dti_tensor *const wanted = &container->tensors[tensor];
    const struct dti_input *const input = &container->files[0].input;
    if (wanted->strided)
        return dti_gather(&npy->gathered, &npy->places[tensor], wanted, input, wanted->offset,
                          ret_input, ret_offset, reterr);
    *ret_input = input;
    *ret_offset = wanted->offset;
    return DTI_OK;
}

static void npy_free(struct dti_container *container)
{
    struct npy *const npy = container->own;
    dti_gathered_free(&npy->gathered);
    container->own = NULL;
}

static bool detect(const unsigned char *head, size_t head_size, uint64_t file_size)
{
    (void)file_size;
    return dti_begins(head, head_size, magic);
}

const struct dti_container_ops dti_npy_ops = {
    .traits = DTI_TRAIT_NUMPY,
    .becomes = DTI_CONTAINER_NPY,
    .detect = detect,
    .open = open_npy,
    .data = npy_data,
    .free = npy_free,
    .stores = dti_npy_stores,
    .layout = dti_npy_layout,
};
