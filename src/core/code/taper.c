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

/* Numbers in a run. */
static uint64_t size_of(const struct dti_taper *run)
{
    return (uint64_t)(run->last - run->first + 1) << run->man_bits;
}

/* Position in a run, by code to position by size and back: the binades are reversed. */
static uint64_t reversed(const struct dti_taper *run, uint64_t at)
{
    const uint64_t binades = ~dti_low_bits(run->man_bits);
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

void dti_taper_fields(const struct dti_format *format, uint64_t code, unsigned ret_bits[3])
{
    const uint64_t magnitude = code & dti_low_bits(format->width) & ~dti_format_sign_bit(format);
    const uint64_t place = dti_taper_place(format, magnitude);
    const struct dti_taper *const run = run_at(format, place); /* zero and NaN: like the smallest */
    ret_bits[0] = run->prefix_bits;
    ret_bits[1] = run->exp_bits;
    ret_bits[2] = format->width - 1U - run->prefix_bits - run->exp_bits;
}

void dti_taper_number(const struct dti_format *format, uint64_t place, int32_t *ret_exponent,
                      uint64_t *ret_mantissa, const struct dti_taper **ret_run)
{
    const struct dti_taper *const run = run_at(format, place);
    const uint64_t at = place - run->place;
    *ret_exponent = run->first + (int32_t)(at >> run->man_bits);
    *ret_mantissa = at & dti_low_bits(run->man_bits);
    *ret_run = run;
}
