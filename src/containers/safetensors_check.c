/* SPDX-License-Identifier: MIT
 *
 * Whether the tensors of a safetensors header fill the data from its start without holes, each
 * with as many bytes as its shape needs: the reference's checks in the reference's order, and names
 * that occur twice before them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "containers/safetensors.h"

/* "F32[2,3]", a long shape cut. */
enum { SHAPE_TEXT = 256 };
static const char *spell(char buffer[SHAPE_TEXT], const struct dti_tensor *tensor)
{
    enum { SHOWN = 8 };
    const unsigned shown = tensor->rank > SHOWN ? SHOWN : tensor->rank;
    int used = snprintf(buffer, SHAPE_TEXT, "%s[", tensor->stored_as);
    for (unsigned i = 0; i < shown; i++)
        used += snprintf(buffer + used, SHAPE_TEXT - (size_t)used, "%s%" PRIu64, i > 0 ? "," : "",
                         tensor->shape[i]);
    snprintf(buffer + used, SHAPE_TEXT - (size_t)used, tensor->rank > SHOWN ? ",...]" : "]");
    return buffer;
}

static struct dti_subject the(const struct dti_tensor *tensor)
{
    return (struct dti_subject){.what = "tensor", tensor->name, tensor->name_length};
}

static bool fail_offsets(struct dti_opening *opening, const struct dti_tensor *tensor,
                         const char *what)
{
    return dti_opening_refuse_of(opening, the(tensor),
                                 ": data_offsets [%" PRIu64 ", %" PRIu64 "] %s", tensor->offset,
                                 tensor->bytes, what);
}

/* By data_offsets, then in the order of the header. */
static int compare(const void *a, const void *b)
{
    const struct dti_tensor *const left = a, *const right = b;
    if (left->offset != right->offset)
        return left->offset < right->offset ? -1 : 1;
    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? -1 : 1;
    return left->elements < right->elements ? -1 : left->elements > right->elements;
}

static void sort(struct dti_tensor *tensors, size_t count)
{
    bool sorted = true; /* as most files are */
    for (size_t i = 1; sorted && i < count; i++)
        sorted = compare(&tensors[i - 1], &tensors[i]) < 0;
    if (!sorted)
        qsort(tensors, count, sizeof *tensors, compare);
}

static bool check_place(struct dti_opening *opening, const struct dti_tensor *tensor,
                        const struct dti_tensor *before)
{
    const uint64_t start = before ? before->bytes : 0;
    char name[DTI_QUOTE_SIZE], what[DTI_QUOTE_SIZE + 64];
    if (before && tensor->offset < start) {
        snprintf(what, sizeof what, "overlap tensor %s, which ends at %" PRIu64,
                 dti_quote(name, before->name, before->name_length), start);
        return fail_offsets(opening, tensor, what);
    }
    if (tensor->offset != start) {
        snprintf(what, sizeof what, "leave a hole; they should begin at %" PRIu64, start);
        return fail_offsets(opening, tensor, what);
    }
    return tensor->bytes >= tensor->offset ||
           fail_offsets(opening, tensor, "end before they begin");
}

static bool check_size(struct dti_opening *opening, struct dti_tensor *tensor)
{
    const uint64_t held = tensor->bytes - tensor->offset;
    uint64_t bits;
    char what[SHAPE_TEXT + 64], type[SHAPE_TEXT];
    if (!dti_safetensors_measure(tensor->format, tensor->shape, tensor->rank, &tensor->elements,
                                 &bits))
        return dti_opening_refuse_of(opening, the(tensor),
                                     ": %s is too large: its size in bits exceeds 64 bits",
                                     spell(type, tensor));
    if (bits % 8 != 0)
        return dti_opening_refuse_of(opening, the(tensor),
                                     ": %s takes %" PRIu64
                                     " bits, which is not a whole number of bytes",
                                     spell(type, tensor), bits);
    if (held == bits / 8)
        return true;
    snprintf(what, sizeof what, "hold %" PRIu64 " byte%s but %s needs %" PRIu64, held,
             held == 1 ? "" : "s", spell(type, tensor), bits / 8);
    return fail_offsets(opening, tensor, what);
}

bool dti_safetensors_header_check(struct dti_opening *opening, size_t first_tensor,
                                  size_t first_metadata)
{
    const struct dti_container *const container = opening->container;
    const size_t count = container->tensor_count - first_tensor;
    const size_t metadata_count = container->metadata_count - first_metadata;
    struct dti_tensor *const tensors = dti_opening_tensors_from(opening, first_tensor);
    if (!dti_opening_check_names(opening, dti_opening_metadata_from(opening, first_metadata),
                                 metadata_count, DTI_NAMED(struct dti_metadata, key),
                                 (struct dti_subject){.what = "metadata"}, " occurs twice") ||
        !dti_opening_check_names(opening, tensors, count, DTI_NAMED(struct dti_tensor, name),
                                 (struct dti_subject){.what = "tensor"}, " occurs twice"))
        return false;
    sort(tensors, count);
    for (size_t i = 0; i < count; i++) {
        if (!check_place(opening, &tensors[i], i > 0 ? &tensors[i - 1] : NULL) ||
            !check_size(opening, &tensors[i]))
            return false;
    }
    return true;
}
