/* SPDX-License-Identifier: MIT
 *
 * Casts one number to one dtype and reports everything about the result: what was stored, its
 * neighbours, and the error. */
#ifndef CORE_CODE_SCALAR_H
#define CORE_CODE_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/number/number.h"
#include "core/number/spell.h"
#include "core/value.h"

enum { DTI_VIA_MAX = 4 };

/* A cast. Without `via` the number is rounded once. */
struct dti_cast {
    struct dti_format dst; /* not complex: cast its components */
    struct dti_format via[DTI_VIA_MAX];
    size_t via_count;
    struct dti_policy policy;
    bool round_given; /* if false, integer destinations truncate toward zero */
};

/* The result. Neighbours: the numbers of dst that bracket the input (infinities count); if the
 * input itself is stored, the next ones on either side. A number of dst that was lost on the way
 * is both. */
struct dti_scalar {
    struct dti_value input; /* the number as given */
    struct dti_value stored;
    uint64_t code;
    unsigned flags; /* enum dti_flag, over all stages; INEXACT compares stored with the input */
    size_t stage;   /* the first that overflowed or had no code: index in via, or via_count */
    size_t no_nan_stage; /* the stage where a NaN met a dtype without NaN (DTI_FLAG_NO_NAN) */
    bool has_below, has_above, has_step;
    uint64_t below, above;
    int32_t step_exponent; /* spacing of dst at the stored value is 2^this; finite results only */
};

/* Whether all members of a policy are values of their enums. All functions that take one assume it:
 * a caller's values are checked where they come in. */
bool dti_policy_exists(const struct dti_policy *policy);

/* The rounding mode that applies to a destination: the policy's, or toward zero for integers unless
 * one was given. */
enum dti_round dti_cast_round(const struct dti_cast *cast, const struct dti_format *dst);

/* The dtype of a stage of a cast. */
const struct dti_format *dti_cast_stage(const struct dti_cast *cast, size_t stage);

/* Random bits: the last stage uses stream policy.stream, which is 0 for real numbers and 1 for
 * imaginary parts; earlier stages add 2, 4, ... to it. */

/* Computes only the stored code and flags: the fast path for streams. number may be NULL if the
 * value is complete; --overflow wrap needs it for numbers longer than 128 bits. */
void dti_scalar_store(const struct dti_cast *cast, const struct dti_value *input,
                      const struct dti_number *number, uint64_t index, struct dti_scalar *ret);

/* dti_scalar_store() plus the neighbours and the step. */
void dti_scalar_cast(const struct dti_cast *cast, const struct dti_value *input,
                     const struct dti_number *number, uint64_t index, struct dti_scalar *ret);

/* Computes the neighbours and the step of a result made elsewhere (ret->input, stored and code
 * must be filled). */
void dti_scalar_bracket(const struct dti_format *dst, struct dti_scalar *ret);

/* Sets INEXACT if the stored number differs from the input (a NaN equals only a NaN). */
void dti_scalar_compare(struct dti_scalar *scalar);

/* Converts an error to ulps: units of the dtype's spacing at the stored value, which must have
 * one. */
struct dti_value dti_scalar_ulps(const struct dti_scalar *scalar, const struct dti_value *error);

/* Flags of a number that was lost: out of range, or without a code. */
enum { DTI_FLAGS_LOST = DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID | DTI_FLAG_NO_NAN };

/* -1 rounded down, 1 rounded up, 0 exact or not comparable (NaN). */
int dti_scalar_direction(const struct dti_scalar *scalar);

/* Spells a stored number: all digits for integer dtypes, else like dti_spell_text(). Returns the
 * length. value is the decoded code. */
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
