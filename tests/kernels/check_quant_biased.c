/* SPDX-License-Identifier: MIT
 *
 * Quantization with a bias, of groups at which MLX's rule may go wrong; and the way back: every
 * code with scales and biases of all magnitudes and signs, rounded twice. The reference computes in
 * fp64, where products are exact and the sum of two fp32 numbers keeps more than twice their bits,
 * and rounds to a multiple of the unit in the last place.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check_quant.h"

enum { CODES = 2048, LENGTHS = 300 };

struct biased_trial {
    const struct dti_quant_kernel *row;
    struct dti_biased_args args;
    uint8_t codes[CODES];
    float scales[CODES], biases[CODES];
    uint32_t wanted[CODES];
};

struct biased_call {
    const struct dti_quant_kernel *row;
    struct dti_biased_args args;
    float *x;
    const uint8_t *codes;
    size_t n;
};

static void run_biased(void *context)
{
    const struct biased_call *call = context;
    call->row->run.biased_back(&call->args, call->x, call->codes, call->n);
}

static double nearest_of(const struct dti_format *format, double x)
{
    const int digits = (int)format->man_bits + 1, least = 2 - (1 << (format->exp_bits - 1));
    int exponent;
    if (x == 0 || isnan(x) || isinf(x))
        return x;
    (void)frexp(x, &exponent);
    exponent = exponent - 1 < least ? least : exponent - 1;
    const double rounded = ldexp(nearbyint(ldexp(x, digits - 1 - exponent)), exponent - digits + 1);
    return fabs(rounded) >= ldexp(1, 2 - least) ? copysign((double)INFINITY, x) : rounded;
}

/* A number of the format: random bits, or of ordinary magnitude. */
static float number_of(struct check *check, const struct dti_format *format)
{
    const double any = (double)float_of((uint32_t)check_random(check));
    const double usual = ((double)check_below(check, 1 << 24) / (1 << 24) - 0.5) * 8;
    return (float)nearest_of(format, check_below(check, 4) == 0 ? any : usual);
}

static bool check_part(struct check *check, const struct biased_trial *trial, size_t first,
                       size_t n)
{
    const size_t groups = (n + trial->args.group - 1) / trial->args.group;
    const size_t from = first / trial->args.group;
    struct biased_call call = {.row = trial->row, .args = trial->args, .n = n};
    call.codes = guarded_copy(check, 0, trial->codes + first, n);
    call.x = (float *)(void *)guarded_new(check, 1, n * 4);
    call.args.scales = guarded_copy_floats(check, 2, trial->scales + from, groups);
    call.args.biases = guarded_copy_floats(check, 3, trial->biases + from, groups);
    check->arrays++;
    if (touches_foreign_memory(run_biased, &call) || !guarded_is_whole(1)) {
        check_fail(check, "%s: n %zu: touches memory outside its arrays", trial->row->name, n);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t got = (uint32_t)get_container(call.x, 4, i), want = trial->wanted[first + i];
        if (got == want)
            continue;
        check_fail(
            check,
            "%s %s: n %zu, groups of %zu: element %zu, of code %u, scale %a, bias %a: is "
            "0x%08x, not 0x%08x",
            trial->row->name, dti_format_get(trial->args.number)->name, n, trial->args.group, i,
            trial->codes[first + i], (double)trial->scales[(first + i) / trial->args.group],
            (double)trial->biases[(first + i) / trial->args.group], (unsigned)got, (unsigned)want);
        return false;
    }
    return true;
}

static void fill(struct check *check, struct biased_trial *trial)
{
    const struct dti_format *const format = dti_format_get(trial->args.number);
    for (size_t i = 0; i < CODES; i++) {
        const size_t group = i / trial->args.group;
        if (i % trial->args.group == 0) {
            trial->scales[group] = number_of(check, format);
            trial->biases[group] = number_of(check, format);
        }
        trial->codes[i] = (uint8_t)(i < 256 ? i : check_random(check));
        const double product =
            nearest_of(format, (double)trial->codes[i] * (double)trial->scales[group]);
        const double sum = nearest_of(format, product + (double)trial->biases[group]);
        trial->wanted[i] = isnan(sum) ? 0x7fc00000 : bits_of((float)sum);
    }
}

bool check_biased_back_row(struct check *check, const struct dti_quant_kernel *row)
{
    static struct biased_trial trial;
    static const enum dti_dtype numbers[] = {DTI_FP32, DTI_FP16, DTI_BF16};
    static const size_t groups[] = {1, 5, 32, 64, 128, 1000};
    const size_t turns = check->effort == EFFORT_LONG ? 100 : check->effort == EFFORT_PUSH ? 8 : 2;
    trial.row = row;
    for (size_t i = 0; i < turns * 18; i++) {
        trial.args = (struct dti_biased_args){.number = numbers[i % 3], .group = groups[i / 3 % 6]};
        fill(check, &trial);
        if (!check_part(check, &trial, 0, CODES))
            return false;
        for (size_t n = 0; n <= LENGTHS; n++) {
            const size_t first = check_below(check, CODES - n) / trial.args.group;
            if ((i < 18 || check_below(check, 30) == 0) &&
                !check_part(check, &trial, first * trial.args.group, n))
                return false;
        }
    }
    return true;
}

/* The way there. Quotients and sums of two fp32 numbers have the same fp32 rounding if they are
 * rounded to fp64 before. */

enum { GROUPS = 12, BIASED_NUMBERS = GROUPS * DTI_BIASED_MOST };

struct biased_way {
    const struct dti_quant_kernel *row;
    struct dti_biased_args args;
    const float *x;
    uint8_t *codes;
    float *scales, *biases;
    size_t n;
    struct dti_quant_count count;
};

static void run_biased_way(void *context)
{
    struct biased_way *way = context;
    way->row->run.biased(&way->args, way->codes, way->scales, way->biases, way->x, way->n,
                         &way->count);
}

static double as_fp32(double x)
{
    return nearest_of(dti_format_get(DTI_FP32), x);
}

/* Quantizes a group; bits of NaN are those of the kernels. */
static void want_group(const struct dti_biased_args *args, const float *x, uint8_t *codes,
                       uint32_t *ret_scale, uint32_t *ret_bias, struct dti_quant_count *count)
{
    const struct dti_format *const number = dti_format_get(args->number);
    const float least_step = 1e-7F; /* a variable: C may compute constants in double */
    const double most = (1 << args->bits) - 1, least = (double)least_step;
    double low = (double)INFINITY, high = -low, specials = 0, clipped = 0;
    for (size_t i = 0; i < args->group; i++) {
        const double value = (double)x[i];
        low = value < low ? value : low;
        high = value > high ? value : high;
        specials += !isfinite(value);
    }
    const bool is_low = fabs(low) > fabs(high);
    double step = as_fp32(as_fp32(high - low) / most);
    step = step < least ? least : step;
    step = is_low ? step : -step;
    const double edge = is_low ? low : high, turns = nearbyint(as_fp32(edge / step));
    const double scale = turns != 0 ? as_fp32(edge / turns) : step, bias = turns != 0 ? edge : 0;
    for (size_t i = 0; i < args->group; i++) {
        const double place = nearbyint(as_fp32(as_fp32((double)x[i] - bias) / scale));
        clipped += isfinite(x[i]) && (place < 0 || place > most);
        codes[i] = (uint8_t)(place > 0 ? place < most ? place : most : 0);
    }
    const double kept_scale = nearest_of(number, scale), kept_bias = nearest_of(number, bias);
    *ret_scale = isnan(kept_scale) ? 0x7fc00000 : bits_of((float)kept_scale);
    *ret_bias = isnan(kept_bias) ? 0x7fc00000 : bits_of((float)kept_bias);
    if (!isfinite(kept_scale) || !isfinite(kept_bias))
        clipped = (double)args->group - specials;
    count->special += (uint64_t)specials;
    count->clipped += (uint64_t)clipped;
}

static void fill_group(struct check *check, float *x, size_t n)
{
    const uint64_t kind = check_below(check, 8);
    const struct dti_format *const format = dti_format_get(DTI_FP32);
    const float first = number_of(check, format);
    for (size_t i = 0; i < n; i++) {
        const float usual = (float)((double)check_below(check, 1 << 24) / (1 << 23) - 1);
        x[i] = kind == 0   ? number_of(check, format)
               : kind == 1 ? first
               : kind == 2 ? fabsf(usual)
               : kind == 3 ? -fabsf(usual)
               : kind == 4 ? usual * 0x1p-130F
               : kind == 5 ? 1000 + usual / 64
               : kind == 6 ? nearbyintf(usual * 8) / 2
                           : usual;
    }
    if (check_below(check, 10) == 0)
        x[check_below(check, n)] = float_of(quant_special(check));
}

static bool check_way(struct check *check, struct biased_way *way, const float *x, size_t groups)
{
    static uint8_t codes[BIASED_NUMBERS];
    const size_t group = way->args.group;
    uint32_t scale = 0, bias = 0;
    struct dti_quant_count wanted = {.clipped = 0};
    way->n = groups * group;
    way->x = guarded_copy_floats(check, 0, x, way->n);
    way->codes = guarded_new(check, 1, way->n);
    way->scales = (float *)(void *)guarded_new(check, 2, 4 * groups);
    way->biases = (float *)(void *)guarded_new(check, 3, 4 * groups);
    way->count = (struct dti_quant_count){.clipped = 0};
    check->arrays++;
    if (touches_foreign_memory(run_biased_way, way) || !guarded_is_whole(1) ||
        !guarded_is_whole(2) || !guarded_is_whole(3)) {
        check_fail(check, "%s: %zu groups: touches memory outside its arrays", way->row->name,
                   groups);
        return false;
    }
    for (size_t i = 0; i < groups; i++) {
        want_group(&way->args, x + i * group, codes, &scale, &bias, &wanted);
        if (memcmp(codes, way->codes + i * group, group) == 0 &&
            (uint32_t)get_container(way->scales, 4, i) == scale &&
            (uint32_t)get_container(way->biases, 4, i) == bias)
            continue;
        check_fail(check, "%s %s: group %zu of %zu, %u bits: scale 0x%08x, bias 0x%08x wanted",
                   way->row->name, dti_format_get(way->args.number)->name, i, group, way->args.bits,
                   (unsigned)scale, (unsigned)bias);
        return false;
    }
    if (way->count.clipped == wanted.clipped && way->count.special == wanted.special)
        return true;
    check_fail(check, "%s: %u clipped and %u special, not %u and %u", way->row->name,
               (unsigned)way->count.clipped, (unsigned)way->count.special, (unsigned)wanted.clipped,
               (unsigned)wanted.special);
    return false;
}

bool check_biased_row(struct check *check, const struct dti_quant_kernel *row)
{
    static const enum dti_dtype numbers[] = {DTI_FP32, DTI_FP16, DTI_BF16};
    static const size_t groups[] = {16, 32, 64, 128};
    static const unsigned widths[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static float x[BIASED_NUMBERS];
    const size_t turns = check->effort == EFFORT_LONG ? 400 : check->effort == EFFORT_PUSH ? 24 : 6;
    for (size_t i = 0; i < turns * 96; i++) {
        struct biased_way way = {.row = row,
                                 .args = {.number = numbers[i % 3],
                                          .group = groups[i / 3 % 4],
                                          .bits = widths[i / 12 % 8]}};
        for (size_t at = 0; at < GROUPS; at++)
            fill_group(check, x + at * way.args.group, way.args.group);
        if (!check_way(check, &way, x, i % (GROUPS + 1)))
            return false;
    }
    return true;
}
