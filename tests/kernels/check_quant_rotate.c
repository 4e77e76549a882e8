/* SPDX-License-Identifier: MIT
 *
 * Rotation by the regular Hadamard matrix and back, against the matrix itself: the sum of each
 * result is computed one product at a time, in the order that quant_kernel.h states, or in fp64,
 * where sums of codes are exact. */
#include <math.h>
#include <stdio.h>

#include "check_quant.h"

enum { GROUPS = 5, MOST = 4096 };

/* An entry of the matrix before it is divided by the square root of its length. */
static float hadamard(unsigned length, size_t i, size_t j)
{
    float sign = 1;
    for (; length > 1; length /= 4, i /= 4, j /= 4) {
        if (i % 4 + j % 4 == 3)
            sign = -sign;
    }
    return sign;
}

static float root_of(unsigned length)
{
    float root = 1;
    for (; length > 1; length /= 4)
        root *= 2;
    return root;
}

struct rotate_call {
    const struct dti_quant_kernel *row;
    float *y;
    const float *x;
    const unsigned char *codes;
    size_t groups;
    struct dti_unrotate_args args;
};

static void run_rotate(void *context)
{
    const struct rotate_call *const call = context;
    if (call->row->work == DTI_QUANT_ROTATE)
        call->row->run.rotate(call->y, call->x, call->groups, call->args.group);
    else
        call->row->run.unrotate(&call->args, call->y, call->codes, call->groups);
}

/* The sum of a row of the matrix times the numbers. */
static float rotated(const float *x, unsigned group, size_t i)
{
    volatile float sums[2] = {0};
    for (size_t k = 0; k < group; k++) {
        const volatile float product = x[k] / root_of(group);
        sums[k / 128] = sums[k / 128] + product * hadamard(group, i, k);
    }
    const volatile float sum = sums[0] + sums[1];
    return group > 128 ? sum : sums[0];
}

static float unrotated(const struct dti_unrotate_args *args, const unsigned char *codes, size_t i)
{
    double sum = 0;
    for (size_t k = 0; k < args->group; k++) {
        const int code = codes[k] - (codes[k] > 127 ? 256 : 0) - args->middle;
        sum += code * (double)hadamard(args->group, i, k);
    }
    return (float)(sum / (double)root_of(args->group) * (double)args->scale);
}

static bool run(struct check *check, struct rotate_call *call)
{
    check->arrays++;
    if (!touches_foreign_memory(run_rotate, call) && guarded_is_whole(1))
        return true;
    check_fail(check, "%s: %zu groups of %u: touches memory outside its arrays", call->row->name,
               call->groups, call->args.group);
    return false;
}

static bool is_same(struct check *check, const struct rotate_call *call, size_t i, float want)
{
    const float got = float_of((uint32_t)get_container(call->y, 4, i));
    if (bits_of(got) == bits_of(want) || (got == 0 && want == 0))
        return true;
    check_fail(check, "%s: %zu groups of %u: element %zu is %a, not %a", call->row->name,
               call->groups, call->args.group, i, (double)got, (double)want);
    return false;
}

bool check_rotate_row(struct check *check, const struct dti_quant_kernel *row)
{
    static float x[GROUPS * DTI_ROTATE_MOST];
    const size_t turns = check->effort == EFFORT_LONG ? 60 : check->effort == EFFORT_PUSH ? 6 : 2;
    for (size_t turn = 0; turn < turns * 3; turn++) {
        struct rotate_call call = {.row = row, .args = {.group = 16U << (turn % 3 * 2)}};
        call.groups = turn < 3 ? GROUPS : check_below(check, GROUPS + 1);
        const size_t n = call.groups * call.args.group;
        for (size_t i = 0; i < n; i++) {
            const double usual = (double)check_below(check, 1 << 24) / (1 << 24) - 0.5;
            x[i] = (float)(turn % 2 == 0 ? usual : ldexp(usual, -(int)check_below(check, 60)));
        }
        call.x = guarded_copy_floats(check, 0, x, n);
        call.y = (float *)(void *)guarded_new(check, 1, n * sizeof *x);
        if (!run(check, &call))
            return false;
        for (size_t i = 0; i < n; i++) {
            const size_t first = i / call.args.group * call.args.group;
            if (!is_same(check, &call, i, rotated(x + first, call.args.group, i - first)))
                return false;
        }
    }
    return true;
}

bool check_unrotate_row(struct check *check, const struct dti_quant_kernel *row)
{
    static unsigned char codes[GROUPS * MOST];
    const size_t turns = check->effort == EFFORT_LONG ? 20 : check->effort == EFFORT_PUSH ? 4 : 2;
    for (size_t turn = 0; turn < turns * 6; turn++) {
        struct rotate_call call = {.row = row,
                                   .args = {.group = 4U << (turn % 6 * 2),
                                            .middle = turn / 6 % 2 == 1 ? 8 : 0,
                                            .scale = float_of(quant_scale(check))}};
        call.groups = call.args.group > 256 ? 1 : check_below(check, GROUPS + 1);
        const size_t n = call.groups * call.args.group;
        for (size_t i = 0; i < n; i++)
            codes[i] = (unsigned char)(turn < 6 && check_below(check, 2) == 0 ? 128
                                       : call.args.middle > 0 ? check_below(check, 16)
                                                              : check_random(check));
        call.codes = guarded_copy(check, 0, codes, n);
        call.y = (float *)(void *)guarded_new(check, 1, n * sizeof(float));
        if (!run(check, &call))
            return false;
        for (size_t i = 0; i < n; i++) {
            const size_t first = i / call.args.group * call.args.group;
            if (!is_same(check, &call, i, unrotated(&call.args, codes + first, i - first)))
                return false;
        }
    }
    return true;
}
