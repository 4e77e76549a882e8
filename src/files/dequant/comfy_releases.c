/* SPDX-License-Identifier: MIT
 *
 * The releases of ComfyUI: comfy_releases.h. */
#include "files/dequant/comfy_releases.h"

#include <stdbool.h>
#include <string.h>

#define SINCE(major, minor, patch) \
    DTI_COMFY_SINCE, {major, minor, patch}, #major "." #minor "." #patch
#define NONE    DTI_COMFY_NONE, {0}, ""
#define UNKNOWN DTI_COMFY_UNKNOWN, {0}, ""
const struct dti_comfy_format dti_comfy_formats[DTI_COMFY_FORMATS] = {
#define COMFY_FORMAT(format, place, release, source) {format, DTI_COMFY_##place, release, source},
#include "files/dequant/comfy_releases.def"
#undef COMFY_FORMAT
};

size_t dti_comfy_format_find(const char *name, enum dti_comfy_place place)
{
    size_t at = 0;
    for (; at + 1 < DTI_COMFY_FORMATS; at++) {
        const struct dti_comfy_format *const row = &dti_comfy_formats[at];
        if (strcmp(row->name, name) == 0 && (row->place == DTI_COMFY_ANY || row->place == place))
            break;
    }
    return at;
}

static bool is_newer(const struct dti_comfy_format *one, const struct dti_comfy_format *other)
{
    for (size_t i = 0; i < sizeof one->number / sizeof *one->number; i++) {
        if (one->number[i] != other->number[i])
            return one->number[i] > other->number[i];
    }
    return false;
}

size_t dti_comfy_newest(const size_t layers[DTI_COMFY_FORMATS], enum dti_comfy_known *ret_known)
{
    size_t newest = DTI_COMFY_FORMATS;
    *ret_known = DTI_COMFY_SINCE;
    for (size_t i = 0; i < DTI_COMFY_FORMATS; i++) {
        const struct dti_comfy_format *const row = &dti_comfy_formats[i];
        if (layers[i] == 0)
            continue;
        if (newest == DTI_COMFY_FORMATS || is_newer(row, &dti_comfy_formats[newest]))
            newest = i;
        if (row->known == DTI_COMFY_NONE ||
            (row->known == DTI_COMFY_UNKNOWN && *ret_known == DTI_COMFY_SINCE))
            *ret_known = row->known;
    }
    return newest;
}
