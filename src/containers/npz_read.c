/* SPDX-License-Identifier: MIT
 *
 * Finding the arrays of a .npz: the headers of its members say what they hold, and of compressed
 * ones no more than that is unpacked here. What the directory says of a member's size must be what
 * its header says, so that nothing has to be believed while the data are unpacked. */
#include <stdio.h>
#include <string.h>

#include "containers/crc32.h"
#include "containers/npy_header.h"
#include "containers/npz.h"
#include "containers/npz_parts.h"

enum { USUAL_HEADER = 128 }; /* bytes of one; what is longer takes another read of the file */

static bool ends(const struct dti_zip_member *member, const char *suffix)
{
    const size_t length = strlen(suffix);
    return member->name_length >= length &&
           memcmp(member->name + member->name_length - length, suffix, length) == 0;
}

static bool is_array(const struct dti_zip_member *member)
{
    return ends(member, ".npy");
}

/* What all members are read with. */
struct npz_reading {
    struct dti_pool *pool;
    const struct dti_input *input;
    const struct dti_format *assume;
    struct dti_inflate *stream; /* NULL until there is something compressed */
    struct dti_buffer header;
    bool guessed; /* any of them */
};

enum dti_status dti_npz_check_method(const char *label, const struct dti_zip_member *member,
                                     struct dti_error *reterr)
{
    if (member->flags & DTI_ZIP_ENCRYPTED)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s is encrypted", label);
    if (member->flags & DTI_ZIP_PATCH)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s is a patch of another file", label);
    if (member->method != DTI_ZIP_STORED && member->method != DTI_ZIP_DEFLATED)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is compressed by method %u; only stored (0) and deflated (8) are read",
                        label, member->method);
    if (member->method == DTI_ZIP_STORED && member->packed != member->size)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is stored as it is, but its sizes differ: %llu and %llu bytes", label,
                        (unsigned long long)member->packed, (unsigned long long)member->size);
    return DTI_OK;
}

/* The next bytes of a member: at `at` when it is stored, else those that follow in its stream. */
static enum dti_status read_next(const struct npz_reading *reading,
                                 const struct dti_zip_member *member, const char *label,
                                 void *bytes, size_t size, uint64_t at, struct dti_error *reterr)
{
    size_t got = size;
    const enum dti_status status =
        member->method == DTI_ZIP_STORED
            ? dti_input_read_at(reading->input, bytes, size, member->data + at, reterr)
            : dti_inflate_read(reading->stream, bytes, size, &got, reterr);
    if (status == DTI_OK && got != size)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: damaged: it unpacks to %llu bytes, the directory says %llu", label,
                        (unsigned long long)(at + got), (unsigned long long)member->size);
    return status;
}

static enum dti_status read_header(struct npz_reading *reading, const struct dti_zip_member *member,
                                   const char *label, struct dti_npy_preamble *ret_preamble,
                                   uint32_t *ret_crc, struct dti_error *reterr)
{
    unsigned char head[USUAL_HEADER];
    const size_t most = member->method == DTI_ZIP_STORED ? sizeof head : DTI_NPY_PREAMBLE;
    const size_t size = member->size < most ? (size_t)member->size : most;
    struct dti_npy_preamble preamble;
    enum dti_status status = read_next(reading, member, label, head, size, 0, reterr);
    if (status == DTI_OK)
        status = dti_npy_preamble(label, head, size, member->size, &preamble, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_buffer *const header = &reading->header;
    dti_buffer_clear(header);
    if (!dti_buffer_reserve(header, preamble.length))
        return dti_no_memory(reterr);
    const size_t read = size - preamble.start,
                 there = read < preamble.length ? read : preamble.length;
    memcpy(header->data, head + preamble.start, there);
    if (there < preamble.length)
        status = read_next(reading, member, label, header->data + there, preamble.length - there,
                           size, reterr);
    if (status != DTI_OK)
        return status;
    *ret_preamble = preamble;
    *ret_crc = dti_crc32(dti_crc32(0, head, preamble.start), header->data, preamble.length);
    return DTI_OK;
}

static enum dti_status check_size(const char *label, const struct dti_zip_member *member,
                                  size_t start, struct dti_tensor *tensor, struct dti_error *reterr)
{
    const uint64_t there = member->size - start;
    if (tensor->bytes == UINT64_MAX) /* a pickle takes what it takes */
        tensor->bytes = there;
    if (there < tensor->bytes)
        return dti_npy_fail_short(label, tensor, there, reterr);
    if (there > tensor->bytes)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: %llu elements of type %s need %llu bytes, and the member has %llu",
                        label, (unsigned long long)tensor->elements, tensor->stored_as,
                        (unsigned long long)tensor->bytes, (unsigned long long)there);
    return DTI_OK;
}

static enum dti_status read_array(struct npz_reading *reading, struct dti_zip *zip, size_t index,
                                  struct dti_tensor *ret, struct dti_npz_array *ret_array,
                                  struct dti_error *reterr)
{
    const struct dti_zip_member *const member = &zip->members[index];
    char label[DTI_ZIP_LABEL_SIZE];
    struct dti_npy_preamble preamble;
    struct dti_tensor tensor;
    uint32_t crc = 0;
    bool guessed;
    dti_zip_label(label, reading->input, member);
    enum dti_status status = dti_npz_check_method(label, member, reterr);
    if (status == DTI_OK)
        status = dti_zip_locate(reading->input, zip, index, reterr);
    if (status != DTI_OK)
        return status;
    if (member->method == DTI_ZIP_DEFLATED) {
        if (!reading->stream)
            reading->stream = dti_inflate_new();
        if (!reading->stream)
            return dti_no_memory(reterr);
        dti_inflate_start(reading->stream, reading->input, member->data, member->packed, label);
    }
    status = read_header(reading, member, label, &preamble, &crc, reterr);
    if (status == DTI_OK)
        status = dti_npy_describe(reading->pool, label, reading->header.data, &preamble,
                                  reading->assume, &tensor, &guessed, reterr);
    if (status == DTI_OK)
        status = check_size(label, member, preamble.start + preamble.length, &tensor, reterr);
    if (status != DTI_OK)
        return status;
    tensor.name_length = member->name_length - strlen(".npy");
    tensor.name = dti_pool_text(reading->pool, member->name, tensor.name_length);
    if (!tensor.name)
        return dti_no_memory(reterr);
    tensor.compressed = member->method != DTI_ZIP_STORED;
    *ret_array = (struct dti_npz_array){
        .member = index, .start = preamble.start + preamble.length, .header_crc = crc};
    tensor.offset = member->data + (tensor.compressed ? 0 : ret_array->start);
    reading->guessed |= guessed;
    *ret = tensor;
    return DTI_OK;
}

static enum dti_status read_arrays(struct npz_reading *reading, struct dti_npz *npz,
                                   struct dti_tensor *tensors, struct dti_error *reterr)
{
    size_t count = 0;
    for (size_t i = 0; i < npz->zip.count; i++) {
        if (!is_array(&npz->zip.members[i]))
            continue;
        const enum dti_status status =
            read_array(reading, &npz->zip, i, &tensors[count], &npz->arrays[count], reterr);
        if (status != DTI_OK)
            return status;
        count++;
    }
    return DTI_OK;
}

/* How many arrays there are; an archive of other things is of another kind. */
static enum dti_status count_arrays(const struct dti_input *input, const struct dti_zip *zip,
                                    struct dti_notes *notes, size_t *ret_count,
                                    struct dti_error *reterr)
{
    const struct dti_zip_member *other = NULL;
    size_t count = 0;
    bool pickle = false;
    char label[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 80];
    for (size_t i = 0; i < zip->count; i++) {
        const struct dti_zip_member *const member = &zip->members[i];
        pickle |= ends(member, "data.pkl");
        count += is_array(member);
        if (!is_array(member) && !other)
            other = member;
    }
    dti_input_label(input, label);
    if (count == 0 && pickle)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is a PyTorch file, whose pickle could run code and is never read; load "
                        "it with torch.load(weights_only=True) and save it with Python's "
                        "safetensors",
                        label);
    if (count == 0 && other)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s is a zip archive without any .npy member",
                        label);
    if (other) {
        const size_t others = zip->count - count;
        (void)snprintf(text, sizeof text, "%zu member%s no .npy file%s: %s%s", others,
                       others == 1 ? " is" : "s are", others == 1 ? "" : "s",
                       dti_quote(label, other->name, other->name_length),
                       others == 1 ? "" : " and so on");
        if (!dti_notes_add(notes, "other_members", text))
            return dti_no_memory(reterr);
    }
    *ret_count = count;
    return DTI_OK;
}

enum dti_status dti_npz_open(struct dti_pool *pool, struct dti_container *container,
                             const struct dti_container_options *options, struct dti_error *reterr)
{
    const struct dti_input *const input = &container->files[0].input;
    struct dti_npz *const npz = dti_pool_alloc(pool, sizeof *npz);
    if (!npz)
        return dti_no_memory(reterr);
    *npz = (struct dti_npz){.pool = pool};
    struct dti_notes notes = {.pool = pool};
    size_t count = 0;
    enum dti_status status = dti_zip_open(pool, input, &npz->zip, reterr);
    if (status == DTI_OK)
        status = count_arrays(input, &npz->zip, &notes, &count, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_tensor *const tensors = dti_pool_array(pool, count, sizeof *tensors);
    npz->arrays = dti_pool_array(pool, count, sizeof *npz->arrays);
    if (!tensors || !npz->arrays)
        return dti_no_memory(reterr);
    struct npz_reading reading = {
        .pool = pool, .input = input, .assume = options ? options->assume : NULL};
    dti_buffer_init(&reading.header);
    status = read_arrays(&reading, npz, tensors, reterr);
    dti_inflate_free(reading.stream);
    dti_buffer_free(&reading.header);
    if (status != DTI_OK)
        return status;
    if (reading.guessed && !dti_npy_note_guess(&notes))
        return dti_no_memory(reterr);
    container->tensors = tensors;
    container->tensor_count = count;
    container->notes = notes.notes;
    container->note_count = notes.count;
    npz->count = count;
    container->own = npz;
    return DTI_OK;
}
