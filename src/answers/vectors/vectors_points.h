/* SPDX-License-Identifier: MIT
 *
 * The numbers where conversions to a format go wrong, and the codes of a source next to them. */
#ifndef ANSWERS_VECTORS_VECTORS_POINTS_H
#define ANSWERS_VECTORS_VECTORS_POINTS_H

#include "core/value.h"

/* A number. near: its neighbours are inputs, too. */
struct dti_vectors_point {
    struct dti_value value;
    bool near;
};
struct dti_vectors_points {
    struct dti_vectors_point *at;
    size_t count, room;
    bool failed; /* memory ran out */
};

/* Numbers of a format that stand for all of them: every one up to 8 bits, else some in each binade;
 * with zero, each sign where there are two. For each one calls take() with its code. */
typedef void dti_vectors_take(void *context, const struct dti_format *format, uint64_t code);
void dti_vectors_numbers(const struct dti_format *format, bool negative, dti_vectors_take *take,
                         void *context);

/* The boundaries of a target, ascending, each one once. integers: next to powers of two below
 * 2^integers. */
void dti_vectors_points_of(struct dti_vectors_points *ret, const struct dti_format *target,
                           unsigned integers);
void dti_vectors_points_free(struct dti_vectors_points *points);

/* Codes of a source, ascending by value, NaNs last, each one once. */
struct dti_vectors_codes {
    uint64_t *at;
    size_t count, room;
    bool failed;
};
void dti_vectors_codes_of(struct dti_vectors_codes *ret, const struct dti_format *source,
                          const struct dti_format *target);
/* Adds a code, at the end. */
void dti_vectors_codes_add(struct dti_vectors_codes *codes, uint64_t code);
/* Adds the codes next to a number: the one below, it or the one above, and if it is a code the one
 * after it. */
void dti_vectors_codes_near(struct dti_vectors_codes *codes, const struct dti_format *source,
                            const struct dti_value *value);
void dti_vectors_codes_sort(struct dti_vectors_codes *codes, const struct dti_format *source);
void dti_vectors_codes_free(struct dti_vectors_codes *codes);

/* The number of a code that stands `part` / 2^32 of the way to the next one away from zero; beyond
 * the largest one, to the number that would come next. False without one. */
bool dti_vectors_between(const struct dti_format *format, uint64_t code, uint64_t part,
                         struct dti_value *ret);

/* Random bits that are the same in every run; stream: any number for each purpose. */
uint64_t dti_vectors_random(uint32_t stream, uint64_t index);

#endif
