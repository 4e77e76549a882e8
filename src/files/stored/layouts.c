/* SPDX-License-Identifier: MIT
 *
 * The list of layouts: see layouts.h. */
#include "files/stored/layouts.h"

#include <string.h>
#include <strings.h>

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

const struct dti_layout_ops *dti_layout_called(const char *name)
{
    const struct dti_layout_ops *const *row = dti_layouts;
    while (*row && strcmp((*row)->name, name) != 0)
        row++;
    return *row;
}

const char *dti_layout_name(size_t index)
{
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        if (dti_layout_called((*row)->name) == *row && index-- == 0)
            return (*row)->name;
        if ((*row)->variant && index-- == 0)
            return (*row)->variant;
    }
    return NULL;
}
