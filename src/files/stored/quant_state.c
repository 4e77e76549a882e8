/* SPDX-License-Identifier: MIT
 *
 * What flattened tensors become, and the text of their states. */
#include "files/stored/quant_state.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "dtinfo/checked.h"
#include "dtinfo/nested_scales.h"
#include "dtinfo/spell.h"

const struct dti_quant_state_name dti_quant_state_names[] = {
#define QUANT_STATE(id, dtype_name, state_word, state_suffix) \
    {.layout = DTI_LAYOUT_##id, .dtype = dtype_name, .word = state_word, .suffix = state_suffix},
#include "dtinfo/quant_layouts.def"
#undef QUANT_STATE
};
const size_t dti_quant_state_name_count =
    sizeof dti_quant_state_names / sizeof dti_quant_state_names[0];

const struct dti_quant_state_name *dti_quant_state_name(const struct dti_quant_row *row)
{
    for (size_t i = 0; i < dti_quant_state_name_count; i++) {
        if (dti_quant_state_names[i].layout == row->layout &&
            strcmp(dti_quant_state_names[i].dtype, dti_quant_row_name(row)) == 0)
            return &dti_quant_state_names[i];
    }
    return NULL;
}

const char *dti_quant_state_dtype(const struct dti_format *number)
{
    return number && number->id == DTI_FP16   ? "float16"
           : number && number->id == DTI_BF16 ? "bfloat16"
                                              : "float32";
}

/* Python's json.dumps of a finite float that fp64 holds. */
static void spell_offset(float offset, char buffer[DTI_TEXT_SIZE])
{
    uint32_t code;
    struct dti_value value;
    memcpy(&code, &offset, sizeof code);
    dti_decode(dti_format_get(DTI_FP32), code, &value);
    const size_t length = dti_spell_text(buffer, &value);
    if (strcspn(buffer, ".e") == length)
        memcpy(buffer + length, ".0", 3);
}

static size_t add(char *buffer, size_t used, const char *text)
{
    const size_t length = strlen(text);
    assert(used + length < DTI_QUANT_STATE_SIZE_MAX); /* 16 dimensions have at most 22 each */
    memcpy(buffer + used, text, length + 1);
    return used + length;
}

size_t dti_quant_state_text(const struct dti_quant_stored *stored, float offset,
                            char buffer[DTI_QUANT_STATE_SIZE_MAX])
{
    static const char widest[] = "-1.1754943508222875e-38"; /* as long as any */
    char text[160], number[DTI_TEXT_SIZE];
    (void)snprintf(text, sizeof text,
                   "{\"quant_type\": \"%s\", \"blocksize\": %lu, \"dtype\": \"%s\", \"shape\": [",
                   dti_quant_state_name(stored->row)->word, (unsigned long)stored->group,
                   dti_quant_state_dtype(stored->number));
    size_t used = add(buffer, 0, text);
    for (unsigned i = 0; i < stored->rank; i++) {
        (void)snprintf(text, sizeof text, "%s%llu", i > 0 ? ", " : "",
                       (unsigned long long)stored->shape[i]);
        used = add(buffer, used, text);
    }
    used = add(buffer, used, "]");
    if (!stored->nested)
        return add(buffer, used, "}");
    (void)snprintf(text, sizeof text,
                   ", \"nested_blocksize\": %d, \"nested_dtype\": \"float32\", \"nested_offset\": ",
                   (int)DTI_NESTED_BLOCK);
    used = add(buffer, used, text);
    const size_t end = used + sizeof widest;
    spell_offset(offset, number);
    used = add(buffer, add(buffer, used, number), "}");
    memset(buffer + used, ' ', end - used);
    buffer[end] = '\0';
    return end;
}

static struct dti_quant_part_shape vector(enum dti_dtype dtype, uint64_t length)
{
    return (struct dti_quant_part_shape){
        .there = true, .dtype = dtype, .rank = 1, .shape = {length}};
}

void dti_quant_flat_parts(const struct dti_quant_stored *stored,
                          struct dti_quant_part_shape ret[DTI_PART_COUNT])
{
    const struct dti_quant_row *const row = stored->row;
    char state[DTI_QUANT_STATE_SIZE_MAX];
    uint64_t n = 1;
    for (unsigned i = 0; i < stored->rank; i++)
        n *= stored->shape[i]; /* the elements of a tensor */
    const uint64_t blocks = dti_divide_up(n, stored->group);
    for (size_t i = 0; i < DTI_PART_COUNT; i++)
        ret[i] = (struct dti_quant_part_shape){.there = false};
    ret[DTI_PART_CODES] = (struct dti_quant_part_shape){
        .there = true, .dtype = row->codes, .rank = 2, .shape = {dti_divide_up(n, 2), 1}};
    ret[DTI_PART_SCALE] = vector(stored->nested ? DTI_UINT8 : row->scale, blocks);
    ret[DTI_PART_MAP] = vector(DTI_FP32, DTI_QUANT_MAP_SIZE);
    ret[DTI_PART_STATE] = vector(DTI_UINT8, dti_quant_state_text(stored, 0, state));
    if (!stored->nested)
        return;
    ret[DTI_PART_NESTED_SCALE] = vector(DTI_FP32, dti_divide_up(blocks, DTI_NESTED_BLOCK));
    ret[DTI_PART_NESTED_MAP] = vector(DTI_FP32, DTI_NESTED_CODES);
}
