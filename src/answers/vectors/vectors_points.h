/* SPDX-License-Identifier: MIT
 *
 * The numbers where conversions to a format go wrong, and the codes of a source next to them. */
#ifndef ANSWERS_VECTORS_VECTORS_POINTS_H
#define ANSWERS_VECTORS_VECTORS_POINTS_H

#include "core/value.h"

/* Numbers, or codes of one format with their numbers. near: the neighbours are inputs, too. */
struct dti_vectors_item {
    struct dti_value value;
    uint64_t code;
    bool near;
};
struct dti_vectors_items {
    struct dti_vectors_item *at;
    size_t count, room;
    bool failed; /* memory ran out */
};
void dti_vectors_items_code(struct dti_vectors_items *items, const struct dti_format *format,
                            uint64_t code);
/* Ascending by number, -0 before 0, NaNs last by code; each one once. */
void dti_vectors_items_sort(struct dti_vectors_items *items);
void dti_vectors_items_free(struct dti_vectors_items *items);

/* Numbers of a format that stand for all of them: every one up to 8 bits, else some in each binade;
 * with zero, each sign where there are two. For each one calls take() with its code. */
typedef void dti_vectors_take(void *context, const struct dti_format *format, uint64_t code);
void dti_vectors_numbers(const struct dti_format *format, bool negative, dti_vectors_take *take,
                         void *context);

/* The boundaries of a target, sorted. integers: next to powers of two below 2^integers. */
void dti_vectors_points(struct dti_vectors_items *ret, const struct dti_format *target,
                        unsigned integers);

/* The inputs of a cast: codes of the source, sorted. */
void dti_vectors_inputs(struct dti_vectors_items *ret, const struct dti_format *source,
                        const struct dti_format *target);
/* Adds what is special in the source: zeros, infinities, NaNs, its smallest and largest numbers. */
void dti_vectors_inputs_own(struct dti_vectors_items *codes, const struct dti_format *source);
/* Adds the codes next to a number: the one below, it or the one above, and if it is a code the one
 * after it. */
void dti_vectors_inputs_near(struct dti_vectors_items *codes, const struct dti_format *source,
                             const struct dti_value *value);

/* The number of a code that stands `part` / 2^32 of the way to the next one away from zero; beyond
 * the largest one, to the number that would come next. False without one. */
bool dti_vectors_between(const struct dti_format *format, uint64_t code, uint64_t part,
                         struct dti_value *ret);

/* Random bits that are the same in every run; stream: any number for each purpose. */
uint64_t dti_vectors_random(uint32_t stream, uint64_t index);

#endif
