/* SPDX-License-Identifier: MIT
 *
 * The names of parts, from the tables of layouts. */
#include "files/dequant/dequant_names.h"

#include <string.h>

#include "files/stored/quant_state.h"

static void add_name(struct dti_part_names *names, const char *codes, const char *part,
                     const char *scale, const char *state, bool sure)
{
    size_t at = 0;
    while (at < names->count &&
           (strcmp(names->list[at].codes, codes) != 0 || strcmp(names->list[at].part, part) != 0))
        at++;
    if (at == names->count && at < DTI_PART_NAMES)
        names->list[names->count++] = (struct dti_part_name){
            .codes = codes, .part = part, .scale = scale, .state = state, .sure = sure};
}

void dti_part_names_init(struct dti_part_names *ret)
{
    ret->count = 0;
    static const char *const activations[] = {".input_scale", ".pre_quant_scale"};
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        for (unsigned part = 0; part < DTI_PART_COUNT; part++) {
            if (part != DTI_PART_CODES && (*row)->suffix[part])
                add_name(ret, (*row)->codes, (*row)->suffix[part], (*row)->suffix[DTI_PART_SCALE],
                         NULL, (*row)->sure);
        }
    }
    for (size_t i = 0; i < dti_quant_row_count; i++) {
        const struct dti_quant_row *const row = &dti_quant_rows[i];
        const char *const codes = dti_quant_suffix(row, DTI_PART_CODES);
        for (int part = DTI_PART_SCALE; part < DTI_PART_COUNT; part++) {
            const char *const suffix = dti_quant_suffix(row, (enum dti_quant_part)part);
            if (suffix)
                add_name(ret, codes, suffix, dti_quant_suffix(row, DTI_PART_SCALE),
                         dti_quant_suffix(row, DTI_PART_STATE), codes[0] != '\0');
        }
    }
    add_name(ret, "", "_scale_inv", "_scale_inv", NULL, false);
    add_name(ret, dti_weight_end, ".scale", ".scale", NULL, false);
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        add_name(ret, dti_weight_end, activations[i], ".weight_scale", NULL, false);
        ret->list[ret->count - 1].activations = true;
    }
}

bool dti_part_is_vague(const char *part)
{
    static const char *const vague[] = {".scale", ".scales", ".biases", ".global_scale"};
    bool is = false;
    for (size_t i = 0; i < sizeof vague / sizeof *vague; i++)
        is = is || strcmp(vague[i], part) == 0;
    return is;
}

bool dti_part_names_has(const struct dti_part_names *names, const struct dti_tensor *tensor)
{
    for (size_t i = 0; i < names->count; i++) {
        if (dti_quant_name_ends(tensor->name, tensor->name_length, names->list[i].part))
            return true;
    }
    return false;
}

int dti_codes_class(const struct dti_tensor *tensor)
{
    static const signed char classes[DTI_DTYPE_COUNT] = {
        [DTI_FP8_E4M3FN] = DTI_CODES_FP8 + 1,   [DTI_FP8_E5M2] = DTI_CODES_FP8 + 1,
        [DTI_FP8_E4M3FNUZ] = DTI_CODES_FP8 + 1, [DTI_FP8_E5M2FNUZ] = DTI_CODES_FP8 + 1,
        [DTI_INT8] = DTI_CODES_INT8 + 1,        [DTI_UINT8] = DTI_CODES_UINT8 + 1,
        [DTI_INT16] = DTI_CODES_INT16 + 1,      [DTI_UINT16] = DTI_CODES_INT16 + 1,
        [DTI_INT32] = DTI_CODES_WORDS + 1,      [DTI_UINT32] = DTI_CODES_WORDS + 1,
        [DTI_FP4_E2M1] = DTI_CODES_FP4 + 1,
    };
    return tensor->format && !tensor->refusal ? classes[tensor->format->id] - 1 : -1;
}

size_t dti_module_length(const struct dti_tensor *tensor)
{
    size_t length = tensor->name_length;
    while (length > 0 && tensor->name[length - 1] != '.')
        length--;
    return length - (length > 0);
}
