/* SPDX-License-Identifier: MIT
 *
 * Dequantization with a bias: every code with scales and biases of all magnitudes and signs,
 * rounded twice. The reference computes in fp64, where products are exact and the sum of two fp32
 * numbers keeps more than twice their bits, and rounds to a multiple of the unit in the last place.
 */
#include <math.h>
#include <stdio.h>

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
