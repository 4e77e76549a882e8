/* SPDX-License-Identifier: MIT
 *
 * The choices that can be best, and the choice as a linear program: each group may mix two of its
 * choices. Its solution takes the steps of all groups' convex hulls in the order of their slopes,
 * the steepest first, and is whole but for the last step. */
#ifndef FILES_ADVISE_RELAX_H
#define FILES_ADVISE_RELAX_H

#include "files/advise/choose.h"

/* A choice that no other one of its group beats in both bytes and error. Within a group, bytes
 * grow and errors shrink. */
struct dti_relax_item {
    uint64_t bytes;
    uint64_t units; /* the error in units, rounded down; 0: no units */
    double error;   /* or units as a double */
    uint32_t choice;
};

/* From an item to a larger one of its group, both on the hull. */
struct dti_relax_step {
    double slope;  /* error for a byte */
    uint64_t rise; /* error in units; 0: no units */
    uint64_t run;  /* bytes */
    uint32_t group, from, to;
};

struct dti_relax {
    struct dti_relax_item *items;
    uint32_t *starts; /* of each group's items, as those of a set */
    struct dti_relax_step *steps;
    uint32_t n_groups, n_steps;
};

/* The largest number of units. Sums of any two such numbers fit into 63 bits. */
enum { DTI_RELAX_BITS = 60 };

/* Choices with an error above `most` are left out; each group must have one that is not. exponent
 * NULL: slopes are doubles; else a unit is 2^-exponent, no error has more than DTI_RELAX_BITS
 * bits, and slopes are compared exactly. */
enum dti_status dti_relax_new(const struct dti_choice_set *set, double most, const int *exponent,
                              struct dti_relax *ret, struct dti_error *reterr);
void dti_relax_free(struct dti_relax *relax);

/* Orders all steps, the steepest first. */
void dti_relax_sort(struct dti_relax *relax);

/* The items of all groups after the steps that fit into the budget, up to the first one that does
 * not, whose place is returned: n_steps if all fit. Moves the steps: those before that place are
 * steeper, those behind it less steep. The first item of all groups must fit. */
uint32_t dti_relax_fill(struct dti_relax *relax, uint64_t budget, uint32_t *ret_items);
/* Goes on from there, with any later step that fits. */
void dti_relax_fill_up(const struct dti_relax *relax, uint64_t budget, uint32_t step,
                       uint32_t *items);
/* The bytes, and the units, of a choice of items. */
uint64_t dti_relax_bytes(const struct dti_relax *relax, const uint32_t *items);
uint64_t dti_relax_units(const struct dti_relax *relax, const uint32_t *items);

/* A finite error that is not negative, in units, rounded down. */
uint64_t dti_relax_to_units(double error, int exponent);

/* a * b > c * d */
bool dti_relax_above(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

#endif
