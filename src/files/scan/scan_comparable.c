/* SPDX-License-Identifier: MIT
 *
 * Whether two tensors can be compared. */
#include <stdio.h>
#include <string.h>

#include "dtinfo/scan.h"

/* "[2, 3]", cut with "..." when there are too many dimensions. */
static void spell_shape(char *text, size_t size, const struct dti_tensor *tensor)
{
    size_t used = 1;
    text[0] = '[';
    for (unsigned i = 0; i < tensor->rank; i++) {
        char number[32];
        const int length = snprintf(number, sizeof number, "%s%llu", i > 0 ? ", " : "",
                                    (unsigned long long)tensor->shape[i]);
        if (used + (size_t)length + sizeof "..., ]" > size) {
            memcpy(text + used, ", ...", 5);
            used += 5;
            break;
        }
        memcpy(text + used, number, (size_t)length);
        used += (size_t)length;
    }
    memcpy(text + used, "]", 2);
}

static bool same_shape(const struct dti_tensor *a, const struct dti_tensor *b)
{
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

static bool is_complex(const struct dti_tensor *tensor)
{
    return tensor->format->kind == DTI_KIND_COMPLEX;
}

/* Several elements in a byte: they are not brought into another order. */
static bool is_packed(const struct dti_tensor *tensor)
{
    return !is_complex(tensor) && dti_format_stored_bits(tensor->format, &tensor->layout) < 8;
}

bool dti_scan_comparable(const struct dti_tensor *a, const struct dti_tensor *b,
                         char why[DTI_SCAN_WHY_SIZE], enum dti_remedy *ret_remedy)
{
    *ret_remedy = DTI_REMEDY_NONE;
    char shape_a[64], shape_b[64];
    const struct dti_tensor *const unread = a->refusal || !a->format   ? a
                                            : b->refusal || !b->format ? b
                                                                       : NULL;
    if (!same_shape(a, b)) {
        spell_shape(shape_a, sizeof shape_a, a);
        spell_shape(shape_b, sizeof shape_b, b);
        (void)snprintf(why, DTI_SCAN_WHY_SIZE, "shapes %s and %s differ", shape_a, shape_b);
    } else if (unread) {
        (void)snprintf(why, DTI_SCAN_WHY_SIZE, "its type %.40s %s", unread->stored_as,
                       unread->refusal ? unread->refusal : "holds blocks, which are not supported");
        *ret_remedy = unread->remedy;
    } else if (is_complex(a) != is_complex(b)) {
        (void)snprintf(why, DTI_SCAN_WHY_SIZE, "one is complex, the other is real");
    } else if (a->fortran != b->fortran && (b->quantized || is_packed(b))) {
        (void)snprintf(why, DTI_SCAN_WHY_SIZE, "one is in Fortran order, the other is %s",
                       b->quantized ? "quantized" : "packed");
    } else {
        return true;
    }
    return false;
}
