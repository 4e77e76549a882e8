/* SPDX-License-Identifier: MIT
 *
 * Fast paths for long lists, with the same results as the exact path. */
#ifndef CALC_EVALUATE_FAST_PATH_H
#define CALC_EVALUATE_FAST_PATH_H

#include "calc/evaluate/bulk.h"
#include "calc/evaluate/evaluate.h"

/* Whether a list is long: it keeps no marks. */
bool dti_calc_is_long(size_t count);

/* Whether so many operations take longer than finding their kernels. */
bool dti_calc_is_worth(uint64_t count);

/* The marks of an operand from an element on: NULL if all or none are marked, as *ret_all says. */
const uint8_t *dti_calc_marks_from(const struct dti_calc_slot *slot, size_t first, bool *ret_all);
/* Whether some of `count` elements are marked. */
bool dti_calc_has_marks(const struct dti_calc_slot *slot, size_t first, size_t count);
/* Takes over marks, a 1 or a 0 for each element, as those of a new slot; frees them if there are
 * no ones. */
void dti_calc_marks_take(struct dti_calc_slot *slot, uint8_t *marks);

/* Adds the counts of dti_bulk_compute() to a step, and the first element where something went
 * wrong, if there was none yet. */
void dti_calc_add_counts(struct dti_calc_recorder *recorder,
                         const struct dti_calc_bulk_counts *counts, uint64_t operations);
bool dti_calc_first_wrong(const struct dti_calc_recorder *recorder,
                          const struct dti_calc_bulk_counts *counts, size_t *ret);

/* The bulk engine for a format, which is the run's dtype or its accumulation dtype; or NULL. */
struct dti_bulk *dti_calc_bulk_of(struct dti_calc_engine *engine, const struct dti_format *format);

/* A whole elementwise operation on nodes. False if there is no fast path for it. */
bool dti_calc_fast_path(struct dti_calc_recorder *recorder, enum dti_calc_op op,
                        const size_t *operands, unsigned count, struct dti_calc_slot *slot,
                        struct dti_calc_bulk_counts *counts);

/* A function's result, only as exact as rounding to a narrow dtype requires; `count` is the
 * length of the list. */
bool dti_calc_function_soon(const struct dti_calc_recorder *recorder, size_t count,
                            struct dti_calc_element *e);

/* A cache for functions of codes of up to 16 bits: the result and events of each code met so
 * far. NULL: no cache. */
uint32_t *dti_calc_known_new(const struct dti_calc_recorder *recorder,
                             const struct dti_format *operand, size_t count);
void dti_calc_known_set(uint32_t *known, const struct dti_calc_rounded *rounded);
bool dti_calc_known_get(struct dti_calc_recorder *recorder, uint32_t known,
                        struct dti_calc_rounded *ret);

#endif
