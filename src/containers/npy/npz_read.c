/* SPDX-License-Identifier: MIT
 *
 * Lists the arrays of a .npz by the headers of its members; of a compressed member only the header
 * is unpacked here. The member size in the directory must agree with the header, so unpacking needs
 * no further trust. */
#include <inttypes.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/npy/npy.h"
#include "containers/npy/npz.h"
#include "containers/zip/crc32.h"
#include "util/text/ascii.h"

enum { USUAL_HEADER = 128 }; /* bytes of a typical header; a longer one takes a second read */

static bool is_array(const struct dti_zip_member *member)
{
    return dti_text_ends(member->name, member->name_length, ".npy");
}

/* State shared by all members. */
struct npz_reading {
    struct dti_opening *opening;
    struct dti_inflate *stream; /* NULL until something is compressed */
    struct dti_buffer header;
    struct dti_npy_reading arrays;
    bool fields; /* whether any array has fields */
};

/* Reads the next bytes of a member: at offset `at` if it is stored, else the next in its stream. */
static bool read_next(const struct npz_reading *reading, const struct dti_zip_member *member,
                      void *bytes, size_t size, uint64_t at)
{
    struct dti_opening *const opening = reading->opening;
    size_t got;
    if (member->method == DTI_ZIP_STORED)
        return dti_opening_read(opening, bytes, size, member->data + at);
    return dti_opening_goes_on(
               opening, dti_inflate_read(reading->stream, bytes, size, &got, opening->error)) &&
           (got == size || dti_opening_refuse(opening,
                                              ": damaged: it unpacks to %" PRIu64
                                              " bytes, but the directory says %" PRIu64,
                                              at + got, member->size));
}

/* Reads the header into reading->header. */
static bool read_header(struct npz_reading *reading, const struct dti_zip_member *member,
                        struct dti_npy_preamble *ret_preamble, uint32_t *ret_crc)
{
    unsigned char head[USUAL_HEADER];
    const size_t most = member->method == DTI_ZIP_STORED ? sizeof head : DTI_NPY_PREAMBLE;
    const size_t size = member->size < most ? (size_t)member->size : most;
    struct dti_npy_preamble preamble;
    if (!read_next(reading, member, head, size, 0) ||
        !dti_npy_preamble(reading->opening, head, size, member->size, &preamble))
        return false;
    struct dti_buffer *const header = &reading->header;
    dti_buffer_clear(header);
    if (!dti_buffer_reserve(header, preamble.length))
        return dti_opening_no_memory(reading->opening);
    const size_t read = size - preamble.start,
                 there = read < preamble.length ? read : preamble.length;
    memcpy(header->data, head + preamble.start, there);
    if (there < preamble.length &&
        !read_next(reading, member, header->data + there, preamble.length - there, size))
        return false;
    *ret_preamble = preamble;
    *ret_crc = dti_crc32(dti_crc32(0, head, preamble.start), header->data, preamble.length);
    return true;
}

/* Reads the array in a member; the opening's label is the member's. */
static bool read_array(struct npz_reading *reading, const struct dti_zip_member *member,
                       struct dti_tensor *ret, struct dti_npz_array *array)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_npy_preamble preamble;
    if (member->method == DTI_ZIP_DEFLATED) {
        if (!reading->stream)
            reading->stream = dti_inflate_new();
        if (!reading->stream)
            return dti_opening_no_memory(opening);
        dti_inflate_start(reading->stream, &opening->file->input, member->data, member->packed,
                          opening->label);
    }
    if (!read_header(reading, member, &preamble, &array->header_crc))
        return false;
    array->start = preamble.start + preamble.length;
    const uint64_t there = member->size - array->start;
    struct dti_tensor tensor;
    if (!dti_npy_describe(&reading->arrays, reading->header.data, &preamble, there, &tensor))
        return false;
    if (there > tensor.bytes)
        return dti_opening_refuse(opening,
                                  ": %" PRIu64 " elements of type %s need %" PRIu64
                                  " bytes, but the member has %" PRIu64,
                                  tensor.elements, tensor.stored_as, tensor.bytes, there);
    tensor.name_length = (uint32_t)(member->name_length - strlen(".npy"));
    tensor.name = dti_opening_text(opening, member->name, tensor.name_length);
    tensor.compressed = member->method != DTI_ZIP_STORED;
    tensor.offset = member->data + (tensor.compressed ? 0 : array->start);
    *ret = tensor;
    return tensor.name != NULL;
}

/* Adds the tensors of the array with this index. */
static bool add_tensors(struct npz_reading *reading, struct dti_npz *npz, size_t array,
                        const struct dti_tensor *whole)
{
    struct dti_opening *const opening = reading->opening;
    const size_t count = dti_npy_count(&reading->arrays), first = opening->container->tensor_count;
    if (!dti_opening_grow(opening, &npz->places, first, count, &npz->place_capacity,
                          sizeof *npz->places))
        return false;
    struct dti_tensor *const tensors = dti_opening_tensors(opening, count);
    npz->arrays[array].fields = reading->arrays.fields.count > 0;
    reading->fields |= npz->arrays[array].fields;
    if (!tensors || !dti_npy_tensors(&reading->arrays, whole, tensors, &npz->places[first]))
        return false;
    for (size_t i = 0; i < count; i++)
        npz->places[first + i].array = array;
    return true;
}

static bool read_arrays(struct npz_reading *reading, struct dti_npz *npz)
{
    struct dti_opening *const opening = reading->opening;
    const char *const file_label = opening->label;
    bool good = true;
    for (size_t i = 0; i < npz->zip.count && good; i++) {
        const struct dti_zip_member *const member = &npz->zip.members[i];
        struct dti_npz_array *const array = &npz->arrays[npz->count];
        struct dti_tensor whole;
        char label[DTI_ZIP_LABEL_SIZE];
        if (!is_array(member))
            continue;
        *array = (struct dti_npz_array){.member = i};
        dti_zip_label(label, &opening->file->input, member);
        opening->label = label;
        good = dti_npz_check_method(opening, member);
        opening->label = file_label;
        good = good && dti_zip_locate(opening, &npz->zip, i);
        opening->label = label;
        good = good && read_array(reading, member, &whole, array) &&
               add_tensors(reading, npz, npz->count++, &whole);
        opening->label = file_label;
    }
    return good;
}

/* Counts the arrays; an archive without any is of another kind. */
static bool count_arrays(struct dti_opening *opening, const struct dti_zip *zip, size_t *ret_count)
{
    const struct dti_zip_member *other = NULL;
    size_t count = 0;
    bool pickle = false, script = false;
    char name[DTI_QUOTE_SIZE];
    for (size_t i = 0; i < zip->count; i++) {
        const struct dti_zip_member *const member = &zip->members[i];
        pickle |= dti_text_ends(member->name, member->name_length, "data.pkl");
        script |= dti_text_ends(member->name, member->name_length, "constants.pkl");
        count += is_array(member);
        if (!is_array(member) && !other)
            other = member;
    }
    if (count == 0 && pickle && script)
        return dti_zip_refuse_script(opening);
    if (count == 0 && pickle)
        return dti_opening_refuse(opening,
                                  " is a zip archive that does not begin with data.pkl, as a "
                                  "PyTorch file does; load it with torch.load(weights_only=True) "
                                  "and save it again");
    if (count == 0 && other)
        return dti_opening_refuse(opening, " is a zip archive without .npy members");
    *ret_count = count;
    const size_t others = zip->count - count;
    return !other || dti_opening_note(opening, "other_members", "%zu member%s: %s%s", others,
                                      others == 1 ? " is not a .npy file" : "s are not .npy files",
                                      dti_quote(name, other->name, other->name_length),
                                      others == 1 ? "" : " and so on");
}

static bool open_npz(struct dti_opening *opening)
{
    struct dti_npz *const npz = dti_opening_array(opening, 1, sizeof *npz);
    size_t count = 0;
    if (!npz)
        return false;
    *npz = (struct dti_npz){.pool = opening->pool};
    if (!dti_zip_open(opening, &npz->zip) || !count_arrays(opening, &npz->zip, &count))
        return false;
    struct dti_container *const container = opening->container;
    npz->arrays = dti_opening_array(opening, count, sizeof *npz->arrays);
    if (!npz->arrays ||
        !dti_opening_grow(opening, &container->tensors, 0, count, &opening->tensor_capacity,
                          sizeof *container->tensors) ||
        !dti_opening_grow(opening, &npz->places, 0, count, &npz->place_capacity,
                          sizeof *npz->places))
        return false;
    struct npz_reading reading = {.opening = opening, .arrays = {.opening = opening}};
    dti_buffer_init(&reading.header);
    dti_npy_fields_init(&reading.arrays.fields);
    const bool good = read_arrays(&reading, npz);
    dti_inflate_free(reading.stream);
    dti_buffer_free(&reading.header);
    dti_npy_fields_free(&reading.arrays.fields);
    if (!good || (reading.fields && !dti_npy_check_names(opening)) ||
        !dti_npy_note_guess(&reading.arrays))
        return false;
    opening->container->own = npz;
    return true;
}

static bool detect(const unsigned char *head, size_t head_size, uint64_t file_size)
{
    (void)file_size;
    return dti_is_zip(head, head_size, "") && !dti_is_zip(head, head_size, DTI_TORCH_FIRST);
}

const struct dti_container_ops dti_npz_ops = {
    .traits = DTI_TRAIT_SEVERAL | DTI_TRAIT_NUMPY | DTI_TRAIT_PLACED,
    .becomes = DTI_CONTAINER_NPZ,
    .detect = detect,
    .open = open_npz,
    .data = dti_npz_data,
    .verify = dti_npz_verify,
    .free = dti_npz_free,
    .stores = dti_npy_stores,
    .layout = dti_npz_layout,
};
