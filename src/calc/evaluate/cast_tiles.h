/* SPDX-License-Identifier: MIT
 *
 * Casts of long lists in a step, by the kernels of casts: files, casts, and random numbers. The
 * same codes, counts, marks and first event as dti_calc_round() element by element. */
#ifndef CALC_EVALUATE_CAST_TILES_H
#define CALC_EVALUATE_CAST_TILES_H

#include "calc/evaluate/evaluate.h"
#include "convert/plan.h"
#include "kernels/arith/arith_kernel.h"

enum { DTI_CAST_TILE = 1024 }; /* elements at once */

struct dti_cast_tiles {
    struct dti_calc_recorder *recorder; /* casts to its format */
    struct dti_format source;
    const struct dti_arith_kernel *kernel;
    struct dti_plan *cast;
    struct dti_plan *source_number, *stored_number; /* to fp32 or fp64; NULL: codes are that */
    bool doubles;                                   /* numbers are compared in fp64 */
    struct dti_rounded_limits limits;
};

/* False if a list of `count` elements is to be cast one by one: it is short, a format or policy
 * has no kernels here, or each element's error is wanted. Then nothing needs to be closed. */
bool dti_cast_tiles_open(struct dti_cast_tiles *ret, struct dti_calc_recorder *recorder,
                         const struct dti_format *source, size_t count);
void dti_cast_tiles_close(struct dti_cast_tiles *tiles);

/* Casts n <= DTI_CAST_TILE codes to the elements `first` and up of a slot. marks: inexact elements
 * of the slot are marked. */
void dti_cast_tiles_run(const struct dti_cast_tiles *tiles, const void *codes, size_t n,
                        size_t first, struct dti_calc_slot *slot, bool marks);

/* Casts any number of codes, telling the progress. False: the call is cancelled. */
bool dti_cast_tiles_list(const struct dti_cast_tiles *tiles, const void *codes, size_t n,
                         size_t first, struct dti_calc_slot *slot);

#endif
