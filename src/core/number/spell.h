/* SPDX-License-Identifier: MIT
 *
 * Numbers to text. No locale, no libc formatting. Classes without digits are "nan", "inf",
 * "-inf"; minus zero is "-0". Numbers in fp64's range never allocate memory. If memory runs out
 * for others, functions with a fixed-size buffer write a hexfloat instead of a decimal. */
#ifndef CORE_NUMBER_SPELL_H
#define CORE_NUMBER_SPELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype/dtype.h"
#include "core/value.h"
#include "util/buffer.h"

enum {
    DTI_TEXT_SIZE = 48,   /* holds every result of the fixed-size functions below and its NUL, */
    DTI_BINARY_SIZE = 72, /* except that of dti_spell_binary() */
};

/* The shortest decimal that reads back as exactly this number in fp64, laid out like Python's
 * repr but without a trailing ".0": 70144, 0.10009765625, 1.161928703861588e+18, -0. value is
 * exact: up to 64 significant bits, not sticky. For numbers outside fp64: integers of up to 64
 * bits get all digits; others get the shortest decimal that reads back among floats of 64
 * significant bits (more than any format has). Returns the length. */
size_t dti_spell_text(char buffer[DTI_TEXT_SIZE], const struct dti_value *value);

/* Whether fp64 holds the value exactly (then dti_spell_text() is a faithful JSON number), or it
 * is an integer of up to 64 bits, which gets all digits. */
bool dti_value_fits_json(const struct dti_value *value);

/* The value rounded to the nearest fp64, ties to even, spelled like dti_spell_text(): for
 * derived figures such as relative errors. Honours sticky. */
size_t dti_spell_rounded(char buffer[DTI_TEXT_SIZE], const struct dti_value *value);

/* The fewest digits that read back as `code` under nearest-even in the dtype itself; of those
 * the nearest to the value; laid out like %.Ng ("7e+04", "0.1", "6.55e+04"). Integers and bool:
 * all digits. */
size_t dti_spell_shortest(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                          uint64_t code);
/* The same for a code that was decoded to `value`. */
size_t dti_spell_shortest_value(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                                const struct dti_value *value);
/* The same except for powers of two in tapered formats. */
size_t dti_spell_regular(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                         const struct dti_value *value);
/* Writes both dti_spell_text() and dti_spell_shortest() of an fp64 value, whose digits are the
 * same. Returns false, with unusable output, if it is not FINITE or memory ran out. */
bool dti_spell_fp64_texts(char text[DTI_TEXT_SIZE], char shortest[DTI_TEXT_SIZE],
                          const struct dti_value *value);

/* For human readers: correctly rounded (ties to even on the exact value, honours sticky) to
 * `digits` significant digits, 1 to 17, laid out like C's %.*g. 3.3895314e+38 has 8 digits. */
size_t dti_spell_digits(char buffer[DTI_TEXT_SIZE], const struct dti_value *value, unsigned digits);

/* Like C's %.*e: d.ddde+XX with `decimals` digits after the point, 0 to 17; rounded the same
 * way. */
size_t dti_spell_scientific(char buffer[DTI_TEXT_SIZE], const struct dti_value *value,
                            unsigned decimals);

/* C99 %a with the fewest hex digits and a leading 1: 0x1.12p+16, -0x1p-149, 0x0p+0. */
size_t dti_spell_hexfloat(char buffer[DTI_TEXT_SIZE], const struct dti_value *value);

/* Appends the full decimal expansion, without exponent: "70144", "0.333984375". Returns false
 * and appends nothing if it would be longer than DTI_EXACT_MAX (number.h), is unknown (sticky),
 * or memory ran out (see buffer->failed). */
bool dti_spell_exact(struct dti_buffer *buffer, const struct dti_value *value);

/* --digits: appends the value with exactly `decimals` digits after the point, correctly rounded,
 * ties to even, like C's %.*f. Returns false as above, except that zeros after the end of the
 * expansion do not count toward DTI_EXACT_MAX. */
bool dti_spell_fixed(struct dti_buffer *buffer, const struct dti_value *value, size_t decimals);

/* Spells a code of 1 to 64 bits: "0x4789" with as many hex digits as the width needs, or its
 * `width` binary digits without prefix or blanks, which callers split into fields. */
size_t dti_spell_code(char buffer[DTI_TEXT_SIZE], uint64_t code, unsigned width);
size_t dti_spell_binary(char buffer[DTI_BINARY_SIZE], uint64_t code, unsigned width);

/* Integers. */
size_t dti_spell_u64(char buffer[DTI_TEXT_SIZE], uint64_t value);

#endif
