/* SPDX-License-Identifier: MIT
 *
 * Converts mxfp4 to nvfp4: see transcode_nvfp4.h. The result for a block only depends on its power
 * of two and its set of magnitudes. There are few combinations, so all are computed once. */
#include "files/transcode/transcode_nvfp4.h"
#include "util/run/allocate.h"
#include "util/run/once.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXPONENTS = 256, /* codes of fp8_e8m0; the last one is NaN */
    NO_NUMBER = 255, /* the NaN code */
    BIAS = 127,      /* of the exponent */
    SETS = 128,      /* of the magnitudes 1 to 7, one bit each */
    MAGNITUDES = 8,  /* codes without the sign */
    SCALES = 0x7f,   /* fp8_e4m3fn codes without a sign that are numbers; this one is NaN */
    LOW = -9,
    HIGH = 8,    /* range of powers of two in fp8_e4m3fn */
    FIRST = -14, /* here and below, all magnitudes become zero */
    LAST = 13,   /* here and above, no magnitude is unchanged */
    POWERS = LAST - FIRST + 1,
    POWER_MAX = 126, /* of a tensor scale, so that its reciprocal is not subnormal either */
    BLOCK_BYTES = DTI_NV_LENGTH / 2,
    WHOLE_BYTES = 2 * BLOCK_BYTES, /* of mxfp4 */
};

static const double magnitudes[MAGNITUDES] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

/* The result for a block: its scale, and a code for each magnitude. */
struct outcome {
    unsigned char scale, codes[MAGNITUDES];
    bool exact;
    float worst; /* largest |new - old| / |old| */
};
static struct outcome outcomes[POWERS][SETS]; /* constant once they are made */
static struct dti_once made;

/* Decodes fp8_e4m3fn without a sign. */
static double scale_of(unsigned code)
{
    const int exponent = (int)(code >> 3), digits = (int)(code & 7);
    return exponent > 0 ? ldexp(8 + digits, exponent - 10) : ldexp(digits, -9);
}

static unsigned char code_of_power(int power)
{
    return (unsigned char)(power >= -6 ? (power + 7) << 3 : 1 << (power + 9));
}

static unsigned nearest(double number, double scale)
{
    unsigned best = 0;
    for (unsigned i = 1; i < MAGNITUDES; i++) {
        const double old = fabs(number - scale * magnitudes[best]);
        const double own = fabs(number - scale * magnitudes[i]);
        if (own < old || (own == old && i % 2 == 0)) /* ties to even, as in a cast */
            best = i;
    }
    return best;
}

/* Tries a scale; returns the largest error and sets the codes. */
static double try_scale(unsigned code, int power, unsigned set, struct outcome *ret)
{
    const double scale = scale_of(code);
    double error = 0;
    *ret = (struct outcome){.scale = (unsigned char)code, .exact = true};
    for (unsigned i = 1; i < MAGNITUDES; i++) {
        if ((set >> (i - 1) & 1) == 0)
            continue;
        const double number = ldexp(magnitudes[i], power);
        const unsigned to = nearest(number, scale);
        const double own = fabs(number - scale * magnitudes[to]);
        const float ratio = (float)(own / number);
        ret->codes[i] = (unsigned char)to;
        ret->exact = ret->exact && own == 0;
        ret->worst = ratio > ret->worst ? ratio : ret->worst;
        error = own > error ? own : error;
    }
    return error;
}

static void make_outcome(int power, unsigned set)
{
    struct outcome *const best = &outcomes[power - FIRST][set];
    double least = INFINITY;
    if (set == 0 || (power >= LOW && power <= HIGH)) { /* zeros may have any scale */
        *best = (struct outcome){.exact = true};
        best->scale = code_of_power(power < LOW ? LOW : power > HIGH ? HIGH : power);
        for (unsigned i = 0; i < MAGNITUDES; i++)
            best->codes[i] = (unsigned char)i;
        return;
    }
    for (unsigned code = 1; code < SCALES; code++) {
        struct outcome trial;
        const double error = try_scale(code, power, set, &trial);
        if (error < least) {
            least = error;
            *best = trial;
        }
    }
}

static void make_outcomes(void)
{
    for (int power = FIRST; power <= LAST; power++) {
        for (unsigned set = 0; set < SETS; set++)
            make_outcome(power, set);
    }
}

/* The outcome for a block with this scale code, with a tensor scale of 2^power. */
static struct outcome outcome_of(unsigned exponent, unsigned set, int power)
{
    const int own = (int)exponent - BIAS - power;
    if (exponent == NO_NUMBER) {
        struct outcome nan = outcomes[LOW - FIRST][set];
        nan.scale = SCALES;
        nan.exact = true;
        return nan;
    }
    return outcomes[(own < FIRST ? FIRST : own > LAST ? LAST : own) - FIRST][set];
}

/* The set of magnitudes for each pair of codes. */
static void make_sets(unsigned char sets[256])
{
    for (unsigned i = 0; i < 256; i++)
        sets[i] = (unsigned char)(((1U << (i & 7)) | (1U << (i >> 4 & 7))) >> 1);
}

static unsigned set_of(const unsigned char sets[256], const unsigned char codes[BLOCK_BYTES])
{
    unsigned set = 0;
    for (size_t i = 0; i < BLOCK_BYTES; i++)
        set |= sets[codes[i]];
    return set;
}

/* The number of blocks of 16 of each kind. */
struct survey {
    unsigned char sets[256], scales[DTI_TRANSCODE_ROOM], codes[DTI_TRANSCODE_ROOM * WHOLE_BYTES];
    uint64_t powers[EXPONENTS]; /* blocks of mxfp4, counted by scale only */
    uint64_t counts[EXPONENTS][SETS];
};

static enum dti_status count_sets(const struct dti_dequant_tensor *how, struct survey *survey,
                                  struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    make_sets(survey->sets);
    for (uint64_t first = 0; first < how->is->scale_count && status == DTI_OK;) {
        const uint64_t left = how->is->scale_count - first;
        const size_t n = left < DTI_TRANSCODE_ROOM ? (size_t)left : DTI_TRANSCODE_ROOM;
        status = dti_dequant_raw_scales(how, DTI_PART_OF(how, scales), NULL, survey->scales, first,
                                        n, reterr);
        if (status == DTI_OK)
            status = dti_dequant_read_part(DTI_PART_OF(how, codes), survey->codes, n * WHOLE_BYTES,
                                           first * WHOLE_BYTES, reterr);
        for (size_t i = 0; i < 2 * n && status == DTI_OK; i++)
            survey->counts[survey->scales[i / 2]]
                          [set_of(survey->sets, survey->codes + i * BLOCK_BYTES)]++;
        first += n;
    }
    return status;
}

static int clamp_power(int power)
{
    return power > POWER_MAX ? POWER_MAX : power < -POWER_MAX ? -POWER_MAX : power;
}

/* The lowest and highest scale in use, except NaN; false: none. */
static bool find_range(const uint64_t powers[EXPONENTS], int *ret_low, int *ret_high)
{
    int low = 0, high = NO_NUMBER - 1;
    while (low < NO_NUMBER && powers[low] == 0)
        low++;
    while (high > low && powers[high] == 0)
        high--;
    *ret_low = low - BIAS;
    *ret_high = high - BIAS;
    return low < NO_NUMBER;
}

/* Evaluates a tensor scale; false: large numbers become smaller. */
static bool judge(const struct survey *survey, int power, struct dti_nvfp4_plan *ret)
{
    bool fits = true;
    ret->power = power;
    ret->same_codes = true;
    ret->lossless = 0;
    ret->worst = 0;
    for (unsigned exponent = 0; exponent < EXPONENTS; exponent++) {
        const int own = (int)exponent - BIAS - power;
        for (unsigned set = 0; set < SETS && survey->powers[exponent] > 0; set++) {
            const uint64_t count = survey->counts[exponent][set];
            const struct outcome outcome = outcome_of(exponent, set, power);
            const bool same = set == 0 || exponent == NO_NUMBER || (own >= LOW && own <= HIGH);
            if (count == 0)
                continue;
            ret->same_codes = ret->same_codes && same;
            ret->lossless += outcome.exact ? count : 0;
            if (!outcome.exact && (double)outcome.worst > ret->worst)
                ret->worst = (double)outcome.worst;
            fits = fits && (outcome.exact || own < LOW);
        }
    }
    return fits;
}

/* Blocks of zeros may have any scale, and are ignored. Starts with the highest power of the others
 * at HIGH, since a higher tensor scale only makes the low blocks worse; then tries lower ones. */
static void choose(struct survey *survey, struct dti_nvfp4_plan *ret)
{
    uint64_t powers[EXPONENTS] = {0};
    int low, high;
    for (unsigned exponent = 0; exponent < NO_NUMBER; exponent++) {
        for (unsigned set = 1; set < SETS && survey->powers[exponent] > 0; set++)
            powers[exponent] += survey->counts[exponent][set];
    }
    if (!find_range(powers, &low, &high))
        low = high = 0;
    (void)judge(survey, clamp_power(high - HIGH), ret);
    for (int power = high - HIGH - 1; power >= high - LAST && ret->lossless < ret->blocks;
         power--) {
        struct dti_nvfp4_plan trial = *ret;
        if (!judge(survey, clamp_power(power), &trial))
            return;
        if (trial.lossless > ret->lossless || trial.worst < ret->worst)
            *ret = trial;
    }
}

enum dti_status dti_nvfp4_plan(struct dti_dequant_tensor *how, bool plain,
                               struct dti_nvfp4_plan *ret, struct dti_error *reterr)
{
    struct dti_nvfp4_plan plan = {.how = how, .blocks = 2 * how->is->scale_count};
    struct survey *const survey = dti_calloc(1, sizeof *survey);
    int low = 0, high = 0;
    if (!survey)
        return dti_no_memory(reterr);
    if (dti_once_begin(&made)) {
        make_outcomes();
        dti_once_end(&made, true);
    }
    enum dti_status status = dti_transcode_count_scales(how, survey->powers, reterr);
    if (status == DTI_OK &&
        (!find_range(survey->powers, &low, &high) || high - low <= HIGH - LOW)) {
        plan.power = plain && low >= LOW && high <= HIGH ? 0 : clamp_power(high - HIGH);
        plan.same_codes = true;
        plan.lossless = plan.blocks;
    } else if (status == DTI_OK) {
        status = count_sets(how, survey, reterr);
        choose(survey, &plan);
    }
    dti_free(survey);
    if (status == DTI_OK)
        *ret = plan;
    return status;
}

/* Reads scales of mxfp4 and, where codes matter, the codes of blocks first to first + count - 1 of
 * 16. */
static enum dti_status read(const struct dti_nvfp4_plan *plan, uint64_t first, size_t count,
                            unsigned char *scales, unsigned char *codes, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = plan->how;
    const size_t wholes = (size_t)((first + count - 1) / 2 - first / 2 + 1);
    const enum dti_status status = dti_dequant_raw_scales(how, DTI_PART_OF(how, scales), NULL,
                                                          scales, first / 2, wholes, reterr);
    if (status != DTI_OK || !codes)
        return status;
    return dti_dequant_read_part(DTI_PART_OF(how, codes), codes, count * BLOCK_BYTES,
                                 first * BLOCK_BYTES, reterr);
}

enum dti_status dti_nvfp4_fill_scales(const void *context, unsigned char *units, uint64_t first,
                                      size_t count, unsigned char *memory, struct dti_error *reterr)
{
    const struct dti_nvfp4_plan *const plan = context;
    unsigned char *const codes = plan->same_codes ? NULL : memory + DTI_TRANSCODE_ROOM;
    unsigned char sets[256];
    const enum dti_status status = read(plan, first, count, memory, codes, reterr);
    make_sets(sets);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const unsigned exponent = memory[(first + i) / 2 - first / 2];
        /* without codes: they are unchanged, so their set does not matter */
        const unsigned set = codes ? set_of(sets, codes + i * BLOCK_BYTES) : 0;
        units[i] = outcome_of(exponent, set, plan->power).scale;
    }
    return status;
}

enum dti_status dti_nvfp4_fill_codes(const void *context, unsigned char *units, uint64_t first,
                                     size_t count, unsigned char *memory, struct dti_error *reterr)
{
    const struct dti_nvfp4_plan *const plan = context;
    unsigned char sets[256];
    const bool high = plan->how->is->order == DTI_BLOCK_HIGH;
    const enum dti_status status = read(plan, first, count, memory, units, reterr);
    make_sets(sets);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        unsigned char *const codes = units + i * BLOCK_BYTES;
        const struct outcome outcome =
            outcome_of(memory[(first + i) / 2 - first / 2], set_of(sets, codes), plan->power);
        for (size_t k = 0; k < BLOCK_BYTES; k++) {
            const unsigned pair = (codes[k] & 0x88U) | outcome.codes[codes[k] & 7] |
                                  (unsigned)outcome.codes[codes[k] >> 4 & 7] << 4;
            codes[k] = (unsigned char)(high ? pair << 4 | pair >> 4 : pair);
        }
    }
    return status;
}
