/* SPDX-License-Identifier: MIT
 *
 * One number cast to one dtype, with everything that can be said about it: what was stored, its
 * neighbours, how far off it is. */
#ifndef CORE_CODE_SCALAR_H
#define CORE_CODE_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/number/number.h"
#include "core/number/spell.h"
#include "dtinfo/value.h"

enum { DTI_VIA_MAX = 4 };

/* What is asked for. Without via the number is rounded once. */
struct dti_cast {
    struct dti_format dst; /* not complex: cast its components */
    struct dti_format via[DTI_VIA_MAX];
    size_t via_count;
    struct dti_policy policy;
    bool round_given; /* otherwise integer destinations truncate toward zero */
};

/* What came of it. Neighbours: the numbers of dst that bracket the input (infinities count); when
 * the input is itself a number of dst, those on either side of it. */
struct dti_scalar {
    struct dti_value input; /* the number as given */
    struct dti_value stored;
    uint64_t code;
    unsigned flags; /* enum dti_flag, over all stages; INEXACT compares stored with the input */
    size_t stage;   /* the first that overflowed or had no counterpart: in via; via_count is dst */
    size_t no_nan_stage; /* where a NaN met a dtype without one (DTI_FLAG_NO_NAN) */
    bool has_below, has_above, has_step;
    uint64_t below, above;
    int32_t step_exponent; /* dst's spacing at the stored value is 2^this; finite results only */
};

/* The rounding mode that applies to a destination: the policy's, or toward zero for integers unless
 * one was given. */
enum dti_round dti_cast_round(const struct dti_cast *cast, const struct dti_format *dst);

/* The dtype of a stage of a cast. */
const struct dti_format *dti_cast_stage(const struct dti_cast *cast, size_t stage);

/* Random bits: the last stage takes stream policy.stream, which is 0 for real numbers and 1 for
 * imaginary parts, the stages before it 2, 4, ... more. */

/* The stored code and flags only: the fast path of streams. number may be NULL when the value is
 * all there is; it is needed for --overflow wrap of numbers longer than 128 bits. */
void dti_scalar_store(const struct dti_cast *cast, const struct dti_value *input,
                      const struct dti_number *number, uint64_t index, struct dti_scalar *ret);

/* dti_scalar_store() and the neighbours and the step. */
void dti_scalar_cast(const struct dti_cast *cast, const struct dti_value *input,
                     const struct dti_number *number, uint64_t index, struct dti_scalar *ret);

/* The neighbours and the step of a result that was made elsewhere (ret->input, stored and code
 * filled). */
void dti_scalar_bracket(const struct dti_format *dst, struct dti_scalar *ret);

/* Sets INEXACT as the stored number differs from the input (a NaN differs from all but a NaN). */
void dti_scalar_compare(struct dti_scalar *scalar);

/* An error in steps of the dtype at the stored value, which has one: units in the last place. */
struct dti_value dti_scalar_ulps(const struct dti_scalar *scalar, const struct dti_value *error);

/* The flags of a number that was lost: beyond the range, or without a counterpart. */
enum { DTI_FLAGS_LOST = DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID | DTI_FLAG_NO_NAN };

/* -1 rounded down, 1 rounded up, 0 exact or not comparable (NaN). */
int dti_scalar_direction(const struct dti_scalar *scalar);

/* The text of a stored number: all digits for integer dtypes, else as dti_spell_text(). Returns the
 * length. value is what code decodes to. */
size_t dti_spell_stored(char buffer[DTI_TEXT_SIZE], const struct dti_format *format, uint64_t code,
                        const struct dti_value *value);

enum dti_number_class {
    DTI_NUMBER_ZERO,
    DTI_NUMBER_SUBNORMAL,
    DTI_NUMBER_NORMAL,
    DTI_NUMBER_INF,
    DTI_NUMBER_NAN,
};
/* Integers are zero or normal. */
enum dti_number_class dti_code_class(const struct dti_format *format, uint64_t code);
const char *dti_number_class_name(enum dti_number_class class);

#endif
