/* SPDX-License-Identifier: MIT
 *
 * Tensors in words: see tensors.h. */
#include "answers/tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/common.h"
#include "files/dequant/file_dequant.h"
#include "util/run/allocate.h"
#include "util/text/glob.h"

static bool is_complex(const struct dti_tensor *tensor)
{
    return tensor->format && tensor->format->kind == DTI_KIND_COMPLEX;
}

static struct dti_place start(const struct dti_tensor *tensor, uint64_t index)
{
    return (struct dti_place){.tensor = tensor,
                              .index = is_complex(tensor) ? index / 2 : index,
                              .stride = tensor->elements};
}

struct dti_place dti_place_of(const struct dti_tensor *tensor, uint64_t index)
{
    return index == UINT64_MAX ? (struct dti_place){.tensor = NULL} : start(tensor, index);
}

static uint64_t next_coordinate(struct dti_place *place)
{
    const uint64_t length = place->tensor->shape[place->next++];
    uint64_t at;
    if (length == 0)
        return 0;
    if (place->tensor->fortran) {
        at = place->index % length;
        place->index /= length;
    } else {
        place->stride /= length;
        at = place->stride > 0 ? place->index / place->stride : 0;
        place->index -= at * place->stride;
    }
    return at;
}

void dti_put_place(struct dti_json *json, struct dti_place place)
{
    if (!place.tensor) {
        dti_json_null(json, NULL);
        return;
    }
    dti_json_array(json, NULL);
    while (place.next < place.tensor->rank)
        dti_json_uint(json, NULL, next_coordinate(&place));
    dti_json_end(json);
}

/* Adds ", 3"; false if there is only room for "...". */
static bool add_number(char *buffer, size_t *used, uint64_t number)
{
    char text[DTI_TEXT_SIZE + 2];
    const int length =
        snprintf(text, sizeof text, "%s%llu", *used > 1 ? ", " : "", (unsigned long long)number);
    if (*used + (size_t)length + sizeof ", ...] imaginary" > DTI_SHAPE_SIZE) {
        memcpy(buffer + *used, ", ...", 5);
        *used += 5;
        return false;
    }
    memcpy(buffer + *used, text, (size_t)length);
    *used += (size_t)length;
    return true;
}

const char *dti_shape_words(char buffer[DTI_SHAPE_SIZE], const struct dti_tensor *tensor)
{
    size_t used = 1;
    buffer[0] = '[';
    for (unsigned i = 0; i < tensor->rank && add_number(buffer, &used, tensor->shape[i]); i++) {
    }
    memcpy(buffer + used, "]", 2);
    return buffer;
}

const char *dti_place_words(char buffer[DTI_SHAPE_SIZE], const struct dti_tensor *tensor,
                            uint64_t index)
{
    struct dti_place place = start(tensor, index);
    size_t used = 1;
    buffer[0] = '[';
    while (place.next < tensor->rank && add_number(buffer, &used, next_coordinate(&place))) {
    }
    const char *const end = !is_complex(tensor) ? "]" : index % 2 == 0 ? "] real" : "] imaginary";
    memcpy(buffer + used, end, strlen(end) + 1);
    return buffer;
}

const char *dti_tensor_dtype(const struct dti_tensor *tensor)
{
    return dti_tensor_form(tensor)    ? dti_tensor_form(tensor)->is->dtype
           : tensor->format           ? tensor->format->name
           : dti_tensor_block(tensor) ? dti_tensor_block(tensor)->name
           : dti_tensor_gguf(tensor)  ? dti_tensor_gguf(tensor)->word
                                      : tensor->stored_as;
}

const char *dti_figure_words(char buffer[DTI_TEXT_SIZE], double figure, unsigned digits)
{
    struct dti_value value;
    dti_double_value(figure, &value);
    if (isnan(figure))
        memcpy(buffer, "-", 2);
    else
        dti_spell_digits(buffer, &value, digits);
    return buffer;
}

bool dti_tensor_holds_floats(const struct dti_container *container, const struct dti_tensor *tensor)
{
    if (tensor->format)
        return tensor->format->kind == DTI_KIND_FLOAT && !tensor->scales_activations;
    return dti_tensor_block(tensor) || tensor->coded_weights || dti_is_gguf(container->kind);
}

size_t *dti_tensors_named(const struct dti_container *container, const char *only,
                          size_t *ret_count)
{
    size_t *const tensors = dti_malloc((container->tensor_count + 1) * sizeof *tensors);
    size_t count = 0;
    for (size_t i = 0; tensors && i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (!only || dti_glob_list_match(only, tensor->name, tensor->name_length))
            tensors[count++] = i;
    }
    *ret_count = count;
    return tensors;
}
