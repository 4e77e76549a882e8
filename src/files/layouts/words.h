/* SPDX-License-Identifier: MIT
 *
 * Shared by the files that read GPTQ. */
#ifndef DTINFO_FILES_LAYOUTS_GPTQ_H
#define DTINFO_FILES_LAYOUTS_GPTQ_H

#include "files/dequant/dequant_layouts.h"

struct dti_gptq_shape {
    uint64_t rows, columns; /* K and N */
    uint64_t groups, group; /* G; how many rows share one: 0 where there are none */
    unsigned bits;
};

/* gptq_parts.c: looks at the part DTI_PART_ORDER; sets map->group_of where the order is not
 * the usual one. */
enum dti_status dti_gptq_order(struct dti_file_dequant *dequant,
                               const struct dti_dequant_group *group,
                               const struct dti_gptq_shape *shape, struct dti_scale_map *map,
                               struct dti_error *reterr);

/* gptq_parts.c: what is added to stored zero points, modulo 2^bits: 0 or 1. Notes what
 * looks as if something else was meant. Fails with DTI_BAD_INPUT where nothing tells. */
enum dti_status dti_gptq_zero_offset(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group,
                                     const struct dti_quant_config *config, unsigned bits,
                                     int32_t *ret, struct dti_error *reterr);

#endif
