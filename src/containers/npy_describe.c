/* SPDX-License-Identifier: MIT
 *
 * From the bytes of a .npy header to a tensor: sizes are checked here, and what a type means to us
 * is decided. */
#include <stdio.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/npy_header.h"
#include "dtinfo/checked.h"

enum { SHAPE_TEXT = 200 };

bool dti_npy_note_guess(struct dti_notes *notes)
{
    if (!dti_notes_add(notes, "guessed_type",
                       "the type '<f1' is taken as fp8_e5m2, which ml_dtypes writes so"))
        return false;
    notes->notes[notes->count - 1].remedy = DTI_REMEDY_ASSUME_OTHER;
    return true;
}

enum dti_status dti_npy_preamble(const char *label, const unsigned char *head, size_t head_size,
                                 uint64_t size, struct dti_npy_preamble *ret,
                                 struct dti_error *reterr)
{
    static const char magic[] = "\x93NUMPY";
    static const char *const versions[] = {NULL, "1.0", "2.0", "3.0"};
    const size_t magic_size = sizeof magic - 1, at_length = magic_size + 2;
    if (memcmp(head, magic, head_size < magic_size ? head_size : magic_size) != 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: its first bytes are not those of .npy", label);
    if (head_size < at_length + 2)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: truncated: a .npy file begins with 10 bytes, there are %zu", label,
                        head_size);
    const unsigned major = head[magic_size], minor = head[magic_size + 1];
    if (major < 1 || major > 3 || minor != 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: version %u.%u of .npy is not known; 1.0, 2.0 and 3.0 are", label,
                        major, minor);
    const size_t start = at_length + (major == 1 ? 2 : 4);
    if (head_size < start)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: truncated: a .npy file of version %s begins with %zu bytes, there "
                        "are %zu",
                        label, versions[major], start, head_size);
    uint64_t length = 0;
    for (size_t i = at_length; i < start; i++)
        length |= (uint64_t)head[i] << (8 * (i - at_length));
    if (length > size - start)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: truncated: the header needs %llu bytes, there are %llu", label,
                        (unsigned long long)(start + length), (unsigned long long)size);
    if (length > DTI_NPY_HEADER_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: the header has %llu bytes, more than %d", label,
                        (unsigned long long)length, (int)DTI_NPY_HEADER_MAX);
    *ret = (struct dti_npy_preamble){
        .major = major, .version = versions[major], .start = start, .length = (size_t)length};
    return DTI_OK;
}

/* "(2, 3)", "(3,)", "()", cut with "..." when there are too many dimensions. */
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

/* Elements and bytes. As in numpy, the dimensions that are not 0 must fit all the same. */
static bool measure(const struct dti_npy_dictionary *header, uint64_t item_bytes,
                    uint64_t *ret_elements, uint64_t *ret_bytes)
{
    uint64_t elements = 1, bytes;
    bool empty = false;
    for (unsigned i = 0; i < header->rank; i++) {
        empty |= header->shape[i] == 0;
        if (header->shape[i] != 0 && !dti_mul_u64(elements, header->shape[i], &elements))
            return false;
    }
    if (!dti_mul_u64(elements, item_bytes, &bytes) || elements > INT64_MAX || bytes > INT64_MAX)
        return false;
    *ret_elements = empty ? 0 : elements;
    *ret_bytes = empty ? 0 : bytes;
    return true;
}

/* Whether elements come in another order than they would row by row. */
static bool is_fortran(const struct dti_npy_dictionary *header, uint64_t elements)
{
    unsigned longer = 0;
    for (unsigned i = 0; i < header->rank; i++)
        longer += header->shape[i] > 1;
    return header->fortran && longer > 1 && elements > 0;
}

static unsigned bytes_of(const struct dti_format *format)
{
    return format->kind == DTI_KIND_COMPLEX ? format->width / 8u
                                            : (unsigned)dti_format_container(format);
}

/* Why the values of a type that was lost cannot be read; and what makes them readable. */
static enum dti_remedy refuse_lost(char *text, size_t size, uint64_t bytes,
                                   const struct dti_format *assume)
{
    const enum dti_remedy remedy = bytes == 1   ? DTI_REMEDY_ASSUME_1_BYTE
                                   : bytes == 2 ? DTI_REMEDY_ASSUME_2_BYTES
                                   : bytes == 4 ? DTI_REMEDY_ASSUME_4_BYTES
                                   : bytes == 8 ? DTI_REMEDY_ASSUME_8_BYTES
                                                : DTI_REMEDY_NONE;
    if (remedy == DTI_REMEDY_NONE)
        (void)snprintf(text, size, "is %llu-byte void, the size of no dtype",
                       (unsigned long long)bytes);
    else if (assume)
        (void)snprintf(text, size, "is %llu-byte void, the dtype is lost, and %s has %u byte%s",
                       (unsigned long long)bytes, assume->name, bytes_of(assume),
                       bytes_of(assume) == 1 ? "" : "s");
    else
        (void)snprintf(text, size, "is %llu-byte void, the dtype is lost",
                       (unsigned long long)bytes);
    return assume ? DTI_REMEDY_NONE : remedy;
}

/* Decides what the type is, fills format, layout and refusal; false: memory ran out. */
static bool settle(struct dti_pool *pool, const struct dti_npy_type *type,
                   const struct dti_format *assume, struct dti_tensor *ret, bool *ret_guessed)
{
    const bool open = type->sort == DTI_NPY_LOST || type->guessed;
    const bool fits = open && assume && bytes_of(assume) == type->item_bytes;
    ret->format = type->sort == DTI_NPY_DTYPE ? type->format : NULL;
    ret->refusal = type->refusal;
    *ret_guessed = type->guessed && !fits;
    if (fits) {
        struct dti_format *const copy = dti_pool_alloc(pool, sizeof *copy);
        if (!copy)
            return false;
        *copy = *assume;
        ret->format = copy;
    } else if (type->sort == DTI_NPY_LOST) {
        char text[160];
        ret->remedy = refuse_lost(text, sizeof text, type->item_bytes, assume);
        ret->refusal = dti_pool_text(pool, text, strlen(text));
        return ret->refusal != NULL;
    }
    if (ret->format)
        ret->layout = dti_file_layout(ret->format,
                                      ret->format->width < 8 ? DTI_PACKING_BYTES : DTI_PACKING_LOW,
                                      type->big_endian);
    return true;
}

/* The same for lists of fields and arrays of types. */
static bool settle_structured(struct dti_pool *pool, const struct dti_npy_dictionary *header,
                              struct dti_tensor *ret)
{
    char quoted[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 32];
    dti_quote(quoted, header->descr, header->descr_length);
    quoted[strlen(quoted) - 1] = '\0';
    (void)snprintf(text, sizeof text, "has fields, %s, which are not read", quoted + 1);
    ret->stored_as = "structured";
    ret->refusal = header->objects ? "holds Python objects (pickle), which is never read"
                                   : dti_pool_text(pool, text, strlen(text));
    return ret->refusal != NULL;
}

enum dti_status dti_npy_describe(struct dti_pool *pool, const char *label, const char *text,
                                 const struct dti_npy_preamble *preamble,
                                 const struct dti_format *assume, struct dti_tensor *ret,
                                 bool *ret_guessed, struct dti_error *reterr)
{
    struct dti_npy_dictionary header;
    struct dti_npy_type type = {.sort = DTI_NPY_FOREIGN};
    char words[SHAPE_TEXT], quoted[DTI_QUOTE_SIZE];
    const char *const problem = dti_npy_parse(text, preamble->length, preamble->major, &header);
    if (problem)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: bad header: %s", label, problem);
    dti_quote(quoted, header.descr, header.descr_length);
    if (!header.structured && !dti_npy_type(header.descr, header.descr_length, &type))
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: bad header: descr %s is none of numpy's types",
                        label, quoted);
    if (header.structured)
        type.item_bytes = header.item_bytes;

    struct dti_tensor tensor = {.rank = header.rank};
    bool guessed = false;
    if (!measure(&header, type.item_bytes, &tensor.elements, &tensor.bytes))
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: an array of shape %s and type %s is too large",
                        label, spell_shape(words, &header), quoted);
    if (header.objects || type.sort == DTI_NPY_OBJECT)
        tensor.bytes = UINT64_MAX;
    tensor.fortran = is_fortran(&header, tensor.elements);

    uint64_t *const shape = dti_pool_array(pool, header.rank, sizeof *shape);
    if (!shape)
        return dti_no_memory(reterr);
    memcpy(shape, header.shape, header.rank * sizeof *shape);
    tensor.shape = shape;
    bool good;
    if (header.structured) {
        good = settle_structured(pool, &header, &tensor);
    } else {
        /* "|V2" tells no more than "V2" */
        const size_t mark = type.sort == DTI_NPY_LOST && strchr("<>=|", header.descr[0]) ? 1 : 0;
        tensor.stored_as = dti_pool_text(pool, header.descr + mark, header.descr_length - mark);
        good = tensor.stored_as && settle(pool, &type, assume, &tensor, &guessed);
    }
    if (!good)
        return dti_no_memory(reterr);
    *ret = tensor;
    *ret_guessed = guessed;
    return DTI_OK;
}

enum dti_status dti_npy_fail_short(const char *label, const struct dti_tensor *tensor,
                                   uint64_t there, struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s: truncated: %llu elements of type %s need %llu bytes, there are %llu",
                    label, (unsigned long long)tensor->elements, tensor->stored_as,
                    (unsigned long long)tensor->bytes, (unsigned long long)there);
}
