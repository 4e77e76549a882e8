/* SPDX-License-Identifier: MIT
 *
 * Encoders of GGUF's types IQ1 to IQ3 come in two parts. Searches take nearly all the time and are
 * compiled without AVX2 and with (gguf_grid_lanes.c); weights, signs and bytes of blocks are the
 * same for all levels (gguf_grid_blocks.c). */
#ifndef KERNELS_GGUF_GGUF_GRID_SEARCH_H
#define KERNELS_GGUF_GGUF_GRID_SEARCH_H

#include <stdbool.h>

#include "kernels/gguf/gguf_near.h"

enum { DTI_GGUF_GROUP_MAX = 32, DTI_GGUF_POINTS_MAX = 8 };

/* Numbers that share a scale: for IQ2 and IQ3 magnitudes, of which some may be negative. */
struct dti_gguf_group {
    float x[DTI_GGUF_GROUP_MAX], weight[DTI_GGUF_GROUP_MAX];
    float root[DTI_GGUF_GROUP_MAX]; /* of the weight */
    /* IQ2, IQ3: the number that the largest code stands for first, and the scale if no try is
     * better; then the scale found */
    float largest, scale;
    uint16_t point[DTI_GGUF_POINTS_MAX];
    /* IQ1: codes stand for -1, 0 and 1, plus 1/8 or, where this is set, minus 1/8 */
    bool less[DTI_GGUF_POINTS_MAX];
};

/* Which points are looked for again with the scale found. */
enum dti_gguf_again {
    DTI_GGUF_AGAIN_OFF, /* those that took the place of a combination off the grid */
    DTI_GGUF_AGAIN_ANY, /* all, if there is one of those, or none was found */
    DTI_GGUF_AGAIN_ALL,
};

/* How a type looks for a scale: numbers of a group and of a point; as if the largest number had a
 * code around the largest one, `tries` steps to each side. */
struct dti_gguf_way {
    unsigned n, length;
    int tries;
    float step;
    enum dti_gguf_again again;
};

/* Finds a scale and points. */
typedef void dti_gguf_grid_search_fn(struct dti_gguf_group *group, const struct dti_gguf_way *way,
                                     const struct dti_gguf_near *near);
/* The same for IQ1_S and IQ1_M. False: the group has no scale. */
typedef bool dti_gguf_thirds_fn(struct dti_gguf_group *group, const struct dti_gguf_near *near);

dti_gguf_grid_search_fn dti_gguf_grid_search_scalar;
dti_gguf_thirds_fn dti_gguf_thirds_s_scalar, dti_gguf_thirds_m_scalar;
#ifdef DTI_HAVE_X86
dti_gguf_grid_search_fn dti_gguf_grid_search_avx2;
dti_gguf_thirds_fn dti_gguf_thirds_s_avx2, dti_gguf_thirds_m_avx2;
#endif

#endif
