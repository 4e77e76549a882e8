/* SPDX-License-Identifier: MIT
 *
 * Shorthand for sets of rounding and overflow policies in the rows of kernels. */
#ifndef KERNELS_POLICY_WORDS_H
#define KERNELS_POLICY_WORDS_H

#include "core/value.h"

enum {
    NONE = 0,
    RNE = 1 << DTI_ROUND_NEAREST_EVEN,
    RNA = 1 << DTI_ROUND_NEAREST_AWAY,
    RTZ = 1 << DTI_ROUND_ZERO,
    RUP = 1 << DTI_ROUND_UP,
    RDN = 1 << DTI_ROUND_DOWN,
    ODD = 1 << DTI_ROUND_ODD,
    STOCHASTIC = 1 << DTI_ROUND_STOCHASTIC,
    ALL_ROUNDS = RNE | RNA | RTZ | RUP | RDN | ODD | STOCHASTIC,
    NATIVE = 1 << DTI_OVERFLOW_NATIVE,
    SATURATE = 1 << DTI_OVERFLOW_SATURATE,
    SATURATE_FINITE = 1 << DTI_OVERFLOW_SATURATE_FINITE,
    WRAP = 1 << DTI_OVERFLOW_WRAP,
    ALL_OVERFLOWS = NATIVE | SATURATE | SATURATE_FINITE | WRAP
};

#endif
