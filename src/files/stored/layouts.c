/* SPDX-License-Identifier: MIT
 *
 * The list of layouts: see layouts.h. */
#include "files/stored/layouts.h"

#include <string.h>
#include <strings.h>

#include "dtinfo/file_dequant.h"

#define ROW(name) &dti_layout_##name
const struct dti_layout_ops *const dti_layouts[] = {DTI_LAYOUTS(ROW), NULL};
#undef ROW

const struct dti_layout_ops *dti_layout_of_method(const char *method)
{
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        for (const char *const *word = (*row)->methods; *word; word++) {
            if (strcasecmp(method, *word) == 0)
                return *row;
        }
    }
    return NULL;
}

/* Names of layouts, some of them several times; *ret_end: the index is beyond the last. */
static const char *any_name(size_t index, bool *ret_end)
{
    /* Of floats with scales beside them, and of formats that have layouts of their own. */
    static const char *const others[] = {"scale_inv", "scale", "gguf", "onnx"};
    *ret_end = false;
    if (index < DTI_LAYOUT_COUNT)
        return dti_quant_layout_name((enum dti_quant_layout)index);
    index -= DTI_LAYOUT_COUNT;
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++, index -= 2) {
        if (index < 2)
            return index == 0 ? (*row)->name : (*row)->variant;
    }
    *ret_end = index >= sizeof others / sizeof *others;
    return *ret_end ? NULL : others[index];
}

static bool is_new(size_t index, const char *name)
{
    bool end;
    for (size_t i = 0; name && i < index; i++) {
        const char *const other = any_name(i, &end);
        if (other && strcmp(other, name) == 0)
            return false;
    }
    return name != NULL;
}

const char *dti_stored_layout_name(size_t index)
{
    bool end;
    for (size_t i = 0;; i++) {
        const char *const name = any_name(i, &end);
        if (end || (is_new(i, name) && index-- == 0))
            return name;
    }
}
