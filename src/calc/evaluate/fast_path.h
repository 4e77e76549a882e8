/* SPDX-License-Identifier: MIT
 *
 * Ways around the exact path for long lists, each with its results. */
#ifndef CALC_EVALUATE_FAST_PATH_H
#define CALC_EVALUATE_FAST_PATH_H

#include "calc/evaluate/bulk.h"
#include "calc/evaluate/evaluate.h"

/* Whether a list is long enough: no marks are kept of it, so that nothing is lost. */
bool dti_calc_is_long(size_t count);

/* Adds what dti_bulk_compute() counted to a step; and the first element with which something went
 * wrong, where nothing had yet. */
void dti_calc_add_counts(struct dti_calc_recorder *recorder,
                         const struct dti_calc_bulk_counts *counts, uint64_t operations);
bool dti_calc_first_wrong(const struct dti_calc_recorder *recorder,
                          const struct dti_calc_bulk_counts *counts, size_t *ret);

/* What computes lists of a format, the run's dtype or the one that it accumulates in; or NULL. */
struct dti_bulk *dti_calc_bulk_of(struct dti_calc_engine *engine, const struct dti_format *format);

/* A whole elementwise operation on nodes. False: not this one. */
bool dti_calc_fast_path(struct dti_calc_recorder *recorder, enum dti_calc_op op,
                        const size_t *operands, unsigned count, struct dti_calc_slot *slot,
                        struct dti_calc_bulk_counts *counts);

/* A function's result as exact as rounding to a narrow dtype needs it; `count` is the list's
 * length. */
bool dti_calc_function_soon(const struct dti_calc_recorder *recorder, size_t count,
                            struct dti_calc_element *e);

/* A function of codes of up to 16 bits: what became of each code, where it was met before. NULL:
 * nothing is kept. */
uint32_t *dti_calc_known_new(const struct dti_calc_recorder *recorder,
                             const struct dti_format *operand, size_t count);
void dti_calc_known_set(uint32_t *known, const struct dti_calc_rounded *rounded);
bool dti_calc_known_get(struct dti_calc_recorder *recorder, uint32_t known,
                        struct dti_calc_rounded *ret);

#endif
