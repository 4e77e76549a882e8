/* SPDX-License-Identifier: MIT
 *
 * Writes .npy headers: byte for byte what numpy.save() writes, but little-endian on every machine.
 * Dtypes without a numpy name are stored as ml_dtypes stores them: bf16 as 2-byte void, formats of
 * up to 8 bits as 1-byte void, one code per byte. Exception: ml_dtypes writes float8_e5m2 as "<f1",
 * which numpy cannot load; it is 1-byte void here. */
#include <string.h>

#include "containers/containers.h"
#include "containers/npy/npy.h"
#include "core/number/spell.h"
#include "util/checked.h"

enum {
    ALIGNMENT = 64,      /* of the data in the file */
    GROWTH_DIGITS = 21,  /* room that numpy reserves for the first dimension to grow */
    PREAMBLE_BYTES = 10, /* version 1.0, which is enough for headers of up to 64 dimensions */
};

/* NULL: numpy has no dtype that could hold the codes. */
static const char *descr_of(const struct dti_format *format)
{
    const char *found = NULL;
    if (format->kind != DTI_KIND_COMPLEX && dti_format_container(format) == 1)
        found = "<V1";
    for (size_t i = 0; i < dti_dtype_name_count && format->id < DTI_DTYPE_COUNT; i++) {
        const struct dti_dtype_name *const row = &dti_dtype_names[i];
        if (row->system == DTI_SYSTEM_NPY && row->dtype == format->id &&
            strcmp(row->name, "<f1") != 0)
            found = row->name;
    }
    return found;
}

bool dti_npy_stores(const struct dti_format *format, struct dti_layout *ret_layout)
{
    if (!descr_of(format))
        return false;
    *ret_layout = dti_file_layout(
        format, dti_format_packs(format) ? DTI_PACKING_BYTES : DTI_PACKING_LOW, false);
    return true;
}

bool dti_npy_is_bytes(const struct dti_format *format, const char **ret_dtype)
{
    const char *const descr = descr_of(format);
    *ret_dtype = NULL;
    if (!descr || descr[1] != 'V')
        return false;
    for (size_t i = dti_dtype_name_count; i-- > 0 && format->id < DTI_DTYPE_COUNT;) {
        const struct dti_dtype_name *const row = &dti_dtype_names[i];
        if (row->system == DTI_SYSTEM_ML_DTYPES && row->dtype == format->id)
            *ret_dtype = row->name; /* ends up as the first one */
    }
    return true;
}

static bool measure(const struct dti_new_tensor *tensor, uint64_t *ret_bytes)
{
    uint64_t bytes = tensor->format->kind == DTI_KIND_COMPLEX
                         ? tensor->format->width / 8u
                         : dti_format_container(tensor->format);
    bool empty = false;
    for (unsigned i = 0; i < tensor->rank; i++) {
        empty |= tensor->shape[i] == 0;
        if (tensor->shape[i] != 0 && !dti_mul_u64(bytes, tensor->shape[i], &bytes))
            return false;
    }
    *ret_bytes = empty ? 0 : bytes;
    return bytes <= INT64_MAX;
}

static void append_dictionary(struct dti_buffer *buffer, const struct dti_new_tensor *tensor)
{
    const unsigned growing = tensor->fortran ? tensor->rank - 1 : 0;
    char number[DTI_TEXT_SIZE];
    size_t padding = 0;
    dti_buffer_puts(buffer, "{'descr': '");
    dti_buffer_puts(buffer, descr_of(tensor->format));
    dti_buffer_puts(buffer, tensor->fortran ? "', 'fortran_order': True, 'shape': ("
                                            : "', 'fortran_order': False, 'shape': (");
    for (unsigned i = 0; i < tensor->rank; i++) {
        dti_buffer_puts(buffer, i > 0 ? ", " : "");
        const size_t digits = dti_spell_u64(number, tensor->shape[i]);
        dti_buffer_append(buffer, number, digits);
        if (i == growing)
            padding = GROWTH_DIGITS - digits;
    }
    dti_buffer_puts(buffer, tensor->rank == 1 ? ",), }" : "), }");
    dti_buffer_fill(buffer, ' ', padding);
}

enum dti_status dti_npy_head(struct dti_new_tensor *tensor, struct dti_buffer *ret_text,
                             struct dti_error *reterr)
{
    char name[DTI_QUOTE_SIZE];
    uint64_t bytes;
    dti_quote(name, tensor->name, tensor->name_length);
    if (!descr_of(tensor->format))
        return dti_fail(reterr, DTI_WRONG_KIND, "tensor %s: numpy has no name for %s", name,
                        tensor->format->name);
    if (tensor->rank > DTI_NPY_RANK_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "tensor %s has %u dimensions; numpy has at most %d",
                        name, tensor->rank, (int)DTI_NPY_RANK_MAX);
    if (!measure(tensor, &bytes))
        return dti_fail(reterr, DTI_BAD_INPUT, "tensor %s is too large for numpy", name);

    struct dti_buffer text;
    dti_buffer_init(&text);
    append_dictionary(&text, tensor);
    /* at least one space, as in numpy, and the newline */
    const size_t past = (PREAMBLE_BYTES + text.length + 1) % ALIGNMENT;
    dti_buffer_fill(&text, ' ', ALIGNMENT - past);
    dti_buffer_append(&text, "\n", 1);
    const char length[] = {(char)(text.length & 0xFF), (char)(text.length >> 8)};
    dti_buffer_append(ret_text, "\x93NUMPY\1\0", PREAMBLE_BYTES - sizeof length);
    dti_buffer_append(ret_text, length, sizeof length);
    dti_buffer_append(ret_text, text.data, text.length);
    const bool failed = text.failed || ret_text->failed;
    dti_buffer_free(&text);
    tensor->bytes = bytes;
    return failed ? dti_no_memory(reterr) : DTI_OK;
}

enum dti_status dti_npy_layout(struct dti_new_tensor *tensors, size_t count,
                               const struct dti_metadata *metadata, size_t metadata_count,
                               struct dti_new_head *ret_head, uint64_t *ret_size,
                               struct dti_error *reterr)
{
    (void)metadata;
    (void)metadata_count;
    if (count != 1)
        return dti_fail(reterr, DTI_BAD_INPUT, "a .npy file holds one tensor, not %zu", count);
    const size_t before = ret_head->text.length;
    const enum dti_status status = dti_npy_head(&tensors[0], &ret_head->text, reterr);
    if (status != DTI_OK)
        return status;
    tensors[0].offset = ret_head->text.length - before;
    *ret_size = tensors[0].offset + tensors[0].bytes; /* no overflow: both are at most INT64_MAX */
    return DTI_OK;
}
