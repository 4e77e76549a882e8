/* SPDX-License-Identifier: MIT
 *
 * A file's quantization as JSON: see quant_file.h. Tensors are written one after another, so memory
 * does not grow with their number. */
#include "answers/quant_file.h"

#include <string.h>

#include "answers/common.h"
#include "answers/dequant.h"
#include "answers/part_words.h"
#include "answers/rows.h"

/* The sources of objects. */
struct quant_tensor_of {
    const struct dti_quant_file_answer *answer;
    size_t at;
};
struct quant_part_of {
    const char *part, *suffix; /* suffix: behind the tensor's name */
    const struct dti_tensor *source;
    const struct dti_rewrite_part *written;
    const char *dtype;
    unsigned rank;
    const uint64_t *shape;
};
/* NULL if nothing was quantized. */
struct quant_figures {
    bool there, blocks, gguf;
    const struct dti_quant_count *count;
    const struct dti_loss_summary *loss;
};

/* By enum dti_fate without DTI_FATE_SAME. */
DTI_WORDS(fate_words, "quantized", [DTI_FATE_KEEP - 1] = "keep", [DTI_FATE_ONLY - 1] = "not_only",
          [DTI_FATE_INTEGER - 1] = "integer", [DTI_FATE_COMPLEX - 1] = "complex",
          [DTI_FATE_NARROW - 1] = "narrow", [DTI_FATE_SCALAR - 1] = "scalar",
          [DTI_FATE_PART - 1] = "part", [DTI_FATE_BLOCKS - 1] = "blocks",
          [DTI_FATE_CONVENTION - 1] = "convention", [DTI_FATE_CONVENTION] = "same_dtype")
DTI_WORDS(part_words, DTI_PART_WORDS, [DTI_PART_COUNT] = "tensor")

const char *dti_quant_output_words(size_t index)
{
    static const enum dti_container_kind kinds[] = {DTI_CONTAINER_SAFETENSORS,
                                                    DTI_CONTAINER_SHARDED, DTI_CONTAINER_NPY,
                                                    DTI_CONTAINER_NPZ, DTI_CONTAINER_GGUF};
    return index < sizeof kinds / sizeof *kinds ? dti_container_name(kinds[index]) : NULL;
}

static const char *layout_words(size_t index)
{
    return index < DTI_LAYOUT_COUNT    ? dti_quant_layout_name((enum dti_quant_layout)index)
           : index == DTI_LAYOUT_COUNT ? "gguf"
                                       : NULL;
}

static bool encodes(const struct dti_rewrite *rewrite)
{
    return rewrite->request.recipe == DTI_RECIPE_ENCODE;
}

uint64_t dti_quant_file_input(const struct dti_rewrite *rewrite)
{
    uint64_t bytes = 0;
    if (!encodes(rewrite))
        return rewrite->input_bytes;
    for (size_t i = 0; i < rewrite->tensor_count; i++)
        bytes += dti_dequant_stored_bytes(rewrite, i);
    return bytes;
}

/* In the input: before it is dequantized. */
static const char *from_words(const struct dti_rewrite *rewrite, size_t at)
{
    return encodes(rewrite) ? dti_dequant_from(rewrite, at)
                            : dti_rewrite_source(rewrite, at)->format->name;
}

static uint64_t from_bytes(const struct dti_rewrite *rewrite, size_t at)
{
    return encodes(rewrite) ? dti_dequant_stored_bytes(rewrite, at)
                            : dti_rewrite_source(rewrite, at)->bytes;
}

static uint64_t changed_input(const struct dti_rewrite *rewrite)
{
    uint64_t bytes = 0;
    if (!encodes(rewrite))
        return rewrite->changed_input;
    for (size_t i = 0; i < rewrite->tensor_count; i++)
        bytes += rewrite->tensors[i].fate == DTI_FATE_CHANGED ? from_bytes(rewrite, i) : 0;
    return bytes;
}

static uint32_t code_of(float number)
{
    uint32_t code;
    memcpy(&code, &number, sizeof code);
    return code;
}

/* The tensor of a set at a place, itself left out. */
static const struct dti_tensor *fused_tensor(const struct quant_tensor_of *of,
                                             const struct dti_fused_set *set, size_t at)
{
    const struct dti_rewrite *const rewrite = of->answer->rewrite;
    const size_t own = rewrite->tensors[of->at].source; /* of the whole container */
    size_t i = 0;
    while (set->members[i].tensor == own || at-- > 0)
        i++;
    return &rewrite->fused->container->tensors[set->members[i].tensor];
}

static void put_parts(struct dti_json *json, const struct quant_tensor_of *of);

#define DTI_ROWS "answers/quant_file.def"
#include "answers/rows.h"

/* A tensor that is kept, or becomes blocks of GGUF, is the only part of itself. */
static void put_parts(struct dti_json *json, const struct quant_tensor_of *of)
{
    const struct dti_rewrite *const rewrite = of->answer->rewrite;
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[of->at];
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, of->at);
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_quant_stored stored;
    struct dti_error error;
    if (tensor->fate != DTI_FATE_CHANGED || encodes(rewrite)) {
        const struct quant_part_of part = {
            .part = part_words(DTI_PART_COUNT),
            .suffix = "",
            .source = source,
            .written = tensor->part,
            .dtype = tensor->format->name,
            .rank = source->rank,
            .shape = source->shape,
        };
        dti_put_quant_part(json, NULL, &part);
        return;
    }
    dti_rewrite_stored(rewrite, of->at, &stored);
    if (dti_quant_parts(&stored, parts, &error) != DTI_OK)
        return; /* which the plan has ruled out */
    for (size_t i = 0; i < DTI_PART_COUNT; i++) {
        const struct quant_part_of part = {
            .part = part_words(i),
            .suffix = dti_quant_suffix(rewrite->row, (enum dti_quant_part)i),
            .source = source,
            .written = dti_rewrite_part(tensor, (enum dti_quant_part)i),
            .dtype = dti_format_get(parts[i].dtype)->name,
            .rank = parts[i].rank,
            .shape = parts[i].shape,
        };
        if (parts[i].there)
            dti_put_quant_part(json, NULL, &part);
    }
}
