/* SPDX-License-Identifier: MIT
 *
 * Rows of tapers.def: which places and codes the numbers of a tapered format have. */
#include "core/code/taper.h"

#include <assert.h>

#define UP   false
#define DOWN true

static const struct dti_taper runs[] = {
#define TAPER(id, first_, last_, mantissa_, place_, code_, down_, prefix_, exponent_) \
    {.first = (first_),                                                               \
     .last = (last_),                                                                 \
     .man_bits = (mantissa_),                                                         \
     .down = (down_),                                                                 \
     .place = (place_),                                                               \
     .code = (code_),                                                                 \
     .prefix_bits = (prefix_),                                                        \
     .exp_bits = (exponent_)},
#include "core/code/tapers.def"
#undef TAPER
};

static const enum dti_dtype owners[] = {
#define TAPER(id, ...) DTI_##id,
#include "core/code/tapers.def"
#undef TAPER
};

enum { RUNS = sizeof runs / sizeof *runs };

const struct dti_taper *dti_taper_runs(const struct dti_format *format, size_t *ret_count)
{
    size_t begin = 0;
    while (begin < RUNS && owners[begin] != format->id)
        begin++;
    size_t end = begin;
    while (end < RUNS && owners[end] == format->id)
        end++;
    assert(end > begin);
    *ret_count = end - begin;
    return &runs[begin];
}

const struct dti_taper *dti_taper_run(const struct dti_format *format, int64_t exponent)
{
    size_t count;
    const struct dti_taper *run = dti_taper_runs(format, &count);
    for (; count > 1 && exponent > run->last; count--)
        run++;
    return run;
}

/* count x 2^bits */
static uint64_t scaled(uint64_t count, int bits)
{
    return bits < 0 ? count >> -bits : count << bits;
}

/* Numbers in a run. */
static uint64_t size_of(const struct dti_taper *run)
{
    const int binades = run->last - run->first + 1;
    return scaled((uint64_t)binades, run->man_bits);
}

/* Position in a run, by code to position by size and back: the binades are reversed. */
static uint64_t reversed(const struct dti_taper *run, uint64_t at)
{
    const uint64_t binades = ~dti_low_bits(run->down ? (unsigned)run->man_bits : 0);
    return run->down ? ((size_of(run) - 1 - at) & binades) | (at & ~binades) : at;
}

uint64_t dti_taper_place(const struct dti_format *format, uint64_t magnitude)
{
    size_t count;
    const struct dti_taper *run = dti_taper_runs(format, &count);
    for (; count > 0; count--, run++) {
        if (magnitude >= run->code && magnitude - run->code < size_of(run))
            return run->place + reversed(run, magnitude - run->code);
    }
    return 0;
}

/* The run that has a place > 0. */
static const struct dti_taper *run_at(const struct dti_format *format, uint64_t place)
{
    size_t count;
    const struct dti_taper *run = dti_taper_runs(format, &count);
    for (; count > 1 && place >= run[1].place; count--)
        run++;
    return run;
}

uint64_t dti_taper_code(const struct dti_format *format, uint64_t place)
{
    if (place == 0)
        return 0;
    const struct dti_taper *const run = run_at(format, place);
    return run->code + reversed(run, place - run->place);
}

uint64_t dti_taper_magnitude(const struct dti_format *format, uint64_t code)
{
    const uint64_t sign = dti_format_sign_bit(format), mask = dti_low_bits(format->width);
    if (format->specials != DTI_SPECIALS_POSIT)
        return code & mask & ~sign;
    return (code & sign) != 0 ? (UINT64_C(0) - code) & mask & ~sign : code & mask;
}

uint64_t dti_taper_signed(const struct dti_format *format, bool negative, uint64_t magnitude)
{
    if (!negative || magnitude == 0)
        return magnitude;
    if (format->specials != DTI_SPECIALS_POSIT)
        return magnitude | dti_format_sign_bit(format);
    return (UINT64_C(0) - magnitude) & dti_low_bits(format->width);
}

/* The bits of a posit after its sign that are equal, and the one that ends them. */
static unsigned regime_bits(const struct dti_format *format, uint64_t code)
{
    const unsigned most = format->width - 1U;
    unsigned bits = 1;
    while (bits < most && (((code >> (most - 1)) ^ (code >> (most - 1 - bits))) & 1) == 0)
        bits++;
    return bits < most ? bits + 1 : most;
}

void dti_taper_fields(const struct dti_format *format, uint64_t code, unsigned ret_bits[3])
{
    enum { POSIT_EXPONENT = 2 };
    const struct dti_taper *const run =
        run_at(format, dti_taper_place(format, dti_taper_magnitude(format, code)));
    const unsigned most = format->width - 1U;
    ret_bits[0] = run->prefix_bits; /* zero and NaN: like the smallest */
    ret_bits[1] = run->exp_bits;
    if (format->specials == DTI_SPECIALS_POSIT) { /* of the code as it is, negative or not */
        ret_bits[0] = regime_bits(format, code);
        ret_bits[1] = most - ret_bits[0] < POSIT_EXPONENT ? most - ret_bits[0] : POSIT_EXPONENT;
    }
    ret_bits[2] = most - ret_bits[0] - ret_bits[1];
}

struct dti_taper_number dti_taper_number(const struct dti_format *format, uint64_t place)
{
    const struct dti_taper *const run = run_at(format, place);
    const uint64_t at = place - run->place;
    const unsigned man_bits = run->man_bits > 0 ? (unsigned)run->man_bits : 0;
    return (struct dti_taper_number){
        .exponent = run->first + (int32_t)scaled(at, -run->man_bits),
        .man_bits = man_bits,
        .mantissa = at & dti_low_bits(man_bits),
    };
}
