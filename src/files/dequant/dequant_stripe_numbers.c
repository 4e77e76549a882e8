/* SPDX-License-Identifier: MIT
 *
 * What is made of the codes in a stripe: numbers, or the codes themselves, a byte each. */
#include <string.h>

#include "files/dequant/dequant_stripes.h"

/* n codes of a column, from a row of the stripe on, one a byte. */
static const unsigned char *codes_of(const struct dti_stripe *stripe, size_t row, size_t column,
                                     size_t n, struct dti_dequant_scratch *scratch)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    const unsigned char *const words = stripe->codes + column * stripe->words * 4;
    const size_t skip = row % 8;
    if (stripe->bits == 8)
        return words + row;
    tensor->method->unpack->run(&tensor->method->unpack_args, scratch->codes,
                                words + row / 8 * stripe->bits, skip + n);
    dti_dequant_flip(tensor, scratch->codes + skip, n);
    return scratch->codes + skip;
}

/* The scale and zero point of each of n rows, from those of the groups of a column. zeros: NULL if
 * there are none. */
static void spread(const struct dti_stripe *stripe, uint64_t place, const float *restrict scales,
                   const int32_t *restrict zeros, size_t n, float *restrict scale,
                   int32_t *restrict zero)
{
    const struct dti_scale_map *const map = &stripe->tensor->map;
    for (size_t i = 0; i < n; i++) {
        const size_t group = map->group_of
                                 ? map->group_of[place + i]
                                 : (size_t)((place + i) / map->group_rows - stripe->group);
        scale[i] = scales[group];
        if (zeros)
            zero[i] = zeros[group];
    }
}

/* n numbers of a column: a scale each. scales, zeros: those of the column. */
static void compute_each(const struct dti_stripe *stripe, uint64_t place, const float *scales,
                         const int32_t *zeros, const unsigned char *codes, size_t n, float *numbers,
                         struct dti_dequant_scratch *scratch)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    const struct dti_scale_map *const map = &tensor->map;
    struct dti_dequant_window *const window = &scratch->window;
    const float *scale = window->scale;
    if (!map->group_of && map->group_rows == 1 && !zeros) {
        scale = scales + (place - stripe->group);
    } else {
        window->count = 0; /* its memory has another use */
        spread(stripe, place, scales, zeros, n, window->scale, window->zero);
    }
    if (!tensor->method->kernel) { /* codes that are no numbers */
        for (size_t i = 0; i < n; i++)
            numbers[i] = tensor->parts->numbers[codes[i]] * scale[i];
        return;
    }
    struct dti_affine_args args = tensor->method->affine_args;
    args.scales = args.inverses = scale; /* the latter are not looked at */
    args.zero_points = zeros ? window->zero : NULL;
    tensor->method->kernel->run.affine_back(&args, numbers, codes, n);
}

/* The same by groups. */
static void compute_groups(const struct dti_stripe *stripe, uint64_t place, const float *scales,
                           const int32_t *zeros, const unsigned char *codes, size_t n,
                           float *numbers)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    const uint64_t length = tensor->map.group_rows;
    struct dti_affine_args args = tensor->method->affine_args;
    for (size_t done = 0; done < n;) {
        const uint64_t left = length - (place + done) % length;
        const size_t run = n - done < left ? n - done : (size_t)left;
        const size_t group = (size_t)((place + done) / length - stripe->group);
        args.scale = args.inverse = scales[group];
        args.zero_point = zeros ? zeros[group] : tensor->zero_offset;
        if (!tensor->method->kernel) {
            for (size_t i = done; i < done + run; i++)
                numbers[i] = tensor->parts->numbers[codes[i]] * args.scale;
        } else {
            tensor->method->kernel->run.affine_back(&args, numbers + done, codes + done, run);
        }
        done += run;
    }
}

static void make_numbers(const struct dti_stripe *stripe, size_t row, size_t column, size_t n,
                         void *to, struct dti_dequant_scratch *scratch)
{
    float *const numbers = to;
    const struct dti_scale_map *const map = &stripe->tensor->map;
    const bool each = dti_stripes_spread(map);
    const bool has_zeros = stripe->tensor->zero_form != DTI_ZERO_NONE;
    for (size_t done = 0; done < n; row = 0, column++) {
        const size_t left = stripe->rows - row, some = n - done < left ? n - done : left;
        const size_t at =
            (size_t)((stripe->column + column) / map->group_columns - stripe->scale_column) *
            stripe->groups;
        const uint64_t place = (stripe->row + row) % stripe->tensor->matrix;
        const unsigned char *const codes = codes_of(stripe, row, column, some, scratch);
        const int32_t *const zeros = has_zeros ? stripe->zeros + at : NULL;
        if (each)
            compute_each(stripe, place, stripe->scales + at, zeros, codes, some, numbers + done,
                         scratch);
        else
            compute_groups(stripe, place, stripe->scales + at, zeros, codes, some, numbers + done);
        done += some;
    }
}

enum dti_status dti_stripes_read(struct dti_stripes *stripes,
                                 const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                 float *numbers, struct dti_dequant_scratch *scratch,
                                 struct dti_error *reterr)
{
    static const struct dti_stripe_use use = {
        .scales = true, .size = sizeof *numbers, .make = make_numbers};
    return dti_stripes_walk(stripes, tensor, &use, first, n, numbers, scratch, reterr);
}

static void make_codes(const struct dti_stripe *stripe, size_t row, size_t column, size_t n,
                       void *to, struct dti_dequant_scratch *scratch)
{
    unsigned char *const codes = to;
    for (size_t done = 0; done < n; row = 0, column++) {
        const size_t left = stripe->rows - row, some = n - done < left ? n - done : left;
        memcpy(codes + done, codes_of(stripe, row, column, some, scratch), some);
        done += some;
    }
}

enum dti_status dti_stripes_codes(struct dti_stripes *stripes,
                                  const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                  unsigned char *codes, struct dti_dequant_scratch *scratch,
                                  struct dti_error *reterr)
{
    static const struct dti_stripe_use use = {.size = 1, .make = make_codes};
    return dti_stripes_walk(stripes, tensor, &use, first, n, codes, scratch, reterr);
}
