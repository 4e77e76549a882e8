/* SPDX-License-Identifier: MIT
 *
 * A tile of an operation on lists: numbers of the dtype as fp32, results as fp64 and as codes. */
#ifndef DTINFO_CALC_BULK_PARTS_H
#define DTINFO_CALC_BULK_PARTS_H

#include "calc/bulk.h"
#include "dtinfo/arith_kernel.h"
#include "dtinfo/plan.h"

enum { DTI_BULK_TILE = 1024 }; /* numbers, results and codes of a tile stay in the nearest cache */

struct dti_bulk {
    const struct dti_format *format;
    const struct dti_calc_options *options;
    const struct dti_arith_kernel *kernel;
    struct dti_plan *to_fp32, *from_fp64;
    size_t code_bytes;
    float smallest_normal;
    struct dti_calc_bulk_counts *counts;
};

/* n codes as numbers, and the other way. */
void dti_bulk_load(const struct dti_bulk *bulk, float *ret, const void *codes, size_t n);
void dti_bulk_store(const struct dti_bulk *bulk, void *ret_code, float number);

/* The operation on up to DTI_BULK_TILE numbers, rounded: codes, and the same as numbers, NaNs as
 * the exact core makes them. Element i is at place first + step * i for the counts. */
void dti_bulk_tile(const struct dti_bulk *bulk, const struct dti_arith_tile *tile, size_t first,
                   size_t step, void *ret_codes, float *ret_numbers);
/* Counts alone, of results that are there. Returns how many are NaN. */
uint64_t dti_bulk_count(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                        size_t first, size_t step, const float *results);
/* One element by the exact core. */
float dti_bulk_exact_number(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                            size_t i);

/* What is added up: terms, or factors of terms that are not rounded (y, else NULL). */
struct dti_bulk_terms {
    const float *x, *y;
};
/* before[i] + term i, as the kernels' operation. */
struct dti_arith_tile dti_bulk_added(const struct dti_bulk_terms *terms, const float *before,
                                     size_t n);
/* Adds terms `from` to `to` to start one after another, keeping what was there before each and
 * after it. NaNs are the exact core's. Counts nothing. */
float dti_bulk_chain(const struct dti_bulk *bulk, const struct dti_bulk_terms *terms, size_t from,
                     size_t to, float start, float *before, float *after);

/* Kahan 1965: y = term - correction, t = sum + y, correction = (t - sum) - y, sum = t. Begins with
 * -0 and no correction. Counts the additions to the sum. False at an infinity or a NaN. */
struct dti_bulk_kahan {
    float sum, correction;
};
bool dti_bulk_add_kahan(const struct dti_bulk *bulk, struct dti_bulk_kahan *k, const float *terms,
                        size_t n, size_t first);

/* SUM of a, DOT of a and b. False: not that way. */
bool dti_bulk_reduce(const struct dti_bulk *bulk, bool dot, const void *a, const void *b,
                     size_t count, void *ret_code);

#endif
