/* SPDX-License-Identifier: MIT
 *
 * The parts of the bits command: a pattern read from text, one reading of it in a dtype, and the
 * two ways to show readings. */
#ifndef DTINFO_CLI_BITS_H
#define DTINFO_CLI_BITS_H

#include "cli/shell/command.h"
#include "dtinfo/json.h"
#include "dtinfo/number.h"

/* Bits as typed, most significant first: hi:lo, of which the low `width` count. */
struct bits_pattern {
    uint64_t hi, lo;
    unsigned width; /* from the digits: 4 for each of 0x, 1 for each of 0b; at most 128 */
};

/* One dtype's reading: the code of each component (two for complex, real first). */
struct bits_reading {
    struct dti_format dtype, component;
    size_t components;
    uint64_t code[2];
};

/* A bool byte other than 0 and 1. */
#define BITS_NONCANONICAL "not a canonical bool, which is 0 or 1; read as 1"
bool dti_bits_noncanonical(const struct bits_reading *reading);

/* "0x4789", "0b0100_0111". False when the text is not of that form (it may be a hexfloat). */
bool dti_bits_is_pattern(const char *text);
enum dti_status dti_bits_pattern_parse(struct bits_pattern *ret, const char *text,
                                       struct dti_error *reterr);

void dti_bits_human_one(const struct dti_context *cx, const struct bits_reading *reading);
enum dti_status dti_bits_human_table(const struct dti_context *cx, const char *text, unsigned width,
                                     const struct bits_reading *readings, size_t count,
                                     struct dti_error *reterr);
enum dti_status dti_bits_json(const struct dti_context *cx, const char *text, bool pattern,
                              const struct bits_reading *readings, size_t count, const char *note,
                              struct dti_error *reterr);

/* What the fields of a finite float mean: (-1)^sign x significand x 2^exponent. */
struct bits_anatomy {
    bool subnormal;
    uint64_t field, mantissa; /* as stored */
    int32_t exponent;
    struct dti_value significand;
};
struct bits_anatomy dti_bits_dissect(const struct dti_format *f, uint64_t code);

#endif
