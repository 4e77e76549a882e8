/* SPDX-License-Identifier: MIT
 *
 * Which release of ComfyUI is the first to load a layer. */
#ifndef FILES_DEQUANT_COMFY_RELEASES_H
#define FILES_DEQUANT_COMFY_RELEASES_H

#include <stddef.h>

enum {
    DTI_COMFY_FORMATS = 0
#define COMFY_FORMAT(format, place, release, source) +1
#include "files/dequant/comfy_releases.def"
#undef COMFY_FORMAT
};

enum dti_comfy_place { DTI_COMFY_ANY, DTI_COMFY_OWN, DTI_COMFY_ENTRY, DTI_COMFY_OLD };
enum dti_comfy_known {
    DTI_COMFY_SINCE,   /* a release */
    DTI_COMFY_NONE,    /* no release loads it */
    DTI_COMFY_UNKNOWN, /* which one is not known */
};

/* A row of comfy_releases.def. */
struct dti_comfy_format {
    const char *name;
    enum dti_comfy_place place; /* where a layer has it */
    enum dti_comfy_known known;
    unsigned number[3];  /* of the release; zeros: none */
    const char *release; /* its text: "0.27.0"; "": none */
    const char *source;  /* where that is from */
};
extern const struct dti_comfy_format dti_comfy_formats[DTI_COMFY_FORMATS];

/* The row of a format, the last one if it is not listed. place: OWN, ENTRY or OLD. */
size_t dti_comfy_format_find(const char *name, enum dti_comfy_place place);

/* What the layers of a file need together: the row with the newest release; DTI_COMFY_FORMATS if
 * there are no layers. layers: their number by row. *ret_known: NONE before UNKNOWN before SINCE,
 * the first that any of them has. */
size_t dti_comfy_newest(const size_t layers[DTI_COMFY_FORMATS], enum dti_comfy_known *ret_known);

#endif
