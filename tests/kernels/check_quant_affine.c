/* SPDX-License-Identifier: MIT
 *
 * Compares affine quantization kernels with dti_affine_quantize(): every format that a row
 * supports, each division and each treatment of specials, scales of all magnitudes, and numbers
 * near the midpoints between codes. */
#include <stdio.h>

#include "check_quant.h"

enum { NUMBERS = 2000, LENGTHS = 300, TEXT_SIZE = 160, CODES_KEPT = 1 << 16 };

const char *const quant_divisions[] = {"true", "reciprocal", "exact"};

/* Arrays of one trial: numbers and their expected codes. */
struct affine_trial {
    const struct dti_quant_kernel *row;
    struct dti_affine_args args;
    size_t bytes; /* bytes per code */
    uint32_t numbers[NUMBERS];
    uint32_t scales[NUMBERS]; /* fp32 codes, as the kernel gets them; columns */
    uint32_t inverses[NUMBERS];
    int32_t zero_points[NUMBERS];
    struct dti_quantized_number wanted[NUMBERS];
    char what[TEXT_SIZE];
};

size_t quant_formats(enum dti_quant_codes codes, struct dti_format formats[QUANT_FORMATS_MAX])
{
    const struct dti_format *all;
    struct dti_affine_recipe recipe;
    const size_t count = check_formats(&all);
    size_t taken = 0;
    for (size_t i = 0; i < count && taken < QUANT_FORMATS_MAX; i++) {
        const bool is_float = dti_format_is_float(&all[i]);
        const enum dti_quant_codes own = is_float            ? DTI_QUANT_CODES_FLOAT
                                         : all[i].width <= 8 ? DTI_QUANT_CODES_8
                                                             : DTI_QUANT_CODES_16;
        if (dti_affine_recipe_init(&recipe, &all[i], DTI_SYMMETRY_NONE) &&
            dti_encoder_takes_hub32(&all[i]) && (codes == DTI_QUANT_CODES_ANY || codes == own))
            formats[taken++] = all[i];
    }
    return taken;
}

void quant_encoder(struct dti_encoder *ret, const struct dti_format *format)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN,
                                      .overflow = DTI_OVERFLOW_SATURATE,
                                      .nan = DTI_NAN_CANONICAL};
    dti_encoder_init(ret, format, &policy);
}

/* A number that is hard to quantize with this scale. */
static uint32_t number_for(struct check *check, const struct dti_affine *affine,
                           const struct dti_affine_scale *scale)
{
    const bool is_float = dti_format_is_float(&affine->code);
    const uint32_t mask = (uint32_t)dti_low_bits(affine->code.width);
    switch (check_below(check, 16)) {
    case 0:
        return (uint32_t)check_random(check);
    case 1:
        return quant_special(check);
    case 2: /* around zero */
        return (scale->scale | (uint32_t)check_below(check, 2) << 31) -
               ((uint32_t)check_below(check, 4) << 23);
    default:
        break;
    }
    if (is_float) { /* between neighbours; NaN or infinite neighbours give random bits */
        const uint32_t code = (uint32_t)check_random(check) & mask;
        return quant_between(check, dti_affine_dequantize(affine, scale, code),
                             dti_affine_dequantize(affine, scale, (code + 1) & mask));
    }
    /* k + 1/2 steps from zero, also beyond the range */
    const int64_t range = (int64_t)affine->high - affine->low + 8;
    const int64_t k =
        affine->low - 4 - scale->zero_point + (int64_t)check_below(check, (size_t)range);
    const float step = (float)((double)float_of(scale->scale) * (2.0 * (double)k + 1) / 2);
    const uint32_t bits = bits_of(step) + (uint32_t)check_below(check, 5) - 2;
    return quant_is_finite(bits) ? bits : quant_special(check);
}

static uint32_t inverse_of(uint32_t scale)
{
    return bits_of(1.0f / float_of(scale));
}

static void fill_trial(struct check *check, struct affine_trial *trial)
{
    const struct dti_affine *affine = trial->args.affine;
    const int32_t low = affine->low, span = affine->high - affine->low;
    const bool columns = trial->row->columns, is_float = dti_format_is_float(&affine->code);
    const bool own_zeros = columns && check_below(check, 3) != 0;
    struct dti_affine_scale scale = {quant_scale(check), 0};
    for (size_t i = 0; i < NUMBERS; i++) {
        if (i == 0 || columns)
            scale.scale = quant_scale(check);
        if ((i == 0 || own_zeros) && !is_float)
            scale.zero_point = check_below(check, 4)
                                   ? low + (int32_t)check_below(check, (size_t)span + 1)
                               : low > 0 ? low
                                         : 0;
        trial->numbers[i] = number_for(check, affine, &scale);
        trial->scales[i] = scale.scale;
        trial->inverses[i] = inverse_of(scale.scale);
        trial->zero_points[i] = scale.zero_point;
        dti_affine_quantize(affine, &scale, trial->numbers[i], &trial->wanted[i]);
    }
    trial->args.scale = float_of(trial->scales[0]);
    trial->args.inverse = float_of(trial->inverses[0]);
    trial->args.zero_point = trial->zero_points[0];
    trial->args.zero_points = own_zeros ? trial->zero_points : NULL;
}

struct affine_call {
    const struct dti_quant_kernel *row;
    struct dti_affine_args args;
    void *codes;
    const float *x;
    size_t n;
    struct dti_quant_count count;
};

static void run_affine(void *context)
{
    struct affine_call *call = context;
    call->row->run.affine(&call->args, call->codes, call->x, call->n, &call->count);
}

static bool check_slice(struct check *check, const struct affine_trial *trial, size_t first,
                        size_t n)
{
    struct affine_call call = {.row = trial->row, .args = trial->args, .n = n, .count = {3, 4, 5}};
    uint64_t clipped = 3, special = 5;
    call.x = guarded_copy(check, 0, trial->numbers + first, n * 4);
    call.codes = guarded_new(check, 1, n * trial->bytes);
    if (trial->row->columns) {
        call.args.scales = guarded_copy(check, 2, trial->scales + first, n * 4);
        call.args.inverses = guarded_copy(check, 3, trial->inverses + first, n * 4);
        if (trial->args.zero_points)
            call.args.zero_points = guarded_copy(check, 4, trial->zero_points + first, n * 4);
    }
    call.args.stream = check_streaming(check);
    check->arrays++;
    if (touches_foreign_memory(run_affine, &call) || !guarded_is_whole(0) || !guarded_is_whole(1)) {
        check_fail(check, "%s %s: n %zu: touches memory outside its arrays", trial->row->name,
                   trial->what, n);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct dti_quantized_number *want = &trial->wanted[first + i];
        const uint64_t got = get_container(call.codes, trial->bytes, i);
        clipped += want->clipped;
        special += want->special;
        if (got != want->code) {
            check_fail(
                check,
                "%s %s: n %zu: element %zu, of 0x%08x, scale 0x%08x, zero %d: is 0x%llx, not 0x%x",
                trial->row->name, trial->what, n, i, (unsigned)trial->numbers[first + i],
                (unsigned)trial->scales[first + i], (int)trial->zero_points[first + i],
                (unsigned long long)got, (unsigned)want->code);
            return false;
        }
    }
    if (call.count.clipped != clipped || call.count.special != special || call.count.blocks != 4) {
        check_fail(check, "%s %s: n %zu: counts %llu clipped, %llu special, not %llu, %llu",
                   trial->row->name, trial->what, n, (unsigned long long)call.count.clipped - 3,
                   (unsigned long long)call.count.special - 5, (unsigned long long)clipped - 3,
                   (unsigned long long)special - 5);
        return false;
    }
    return memcmp(call.x, trial->numbers + first, n * 4) == 0;
}

static bool check_trial(struct check *check, const struct affine_trial *trial, bool all_lengths)
{
    if (!check_slice(check, trial, 0, NUMBERS))
        return false;
    for (size_t n = 0; n <= LENGTHS; n++)
        if ((all_lengths || check_below(check, 40) == 0) &&
            !check_slice(check, trial, check_below(check, NUMBERS - n + 1), n))
            return false;
    return true;
}

/* Checks one format with one range of codes. */
static bool check_format(struct check *check, const struct dti_quant_kernel *row,
                         const struct dti_format *format, enum dti_quant_symmetry symmetry)
{
    static struct affine_trial trial;
    struct dti_affine_recipe recipe;
    struct dti_encoder encoder;
    const bool is_float = dti_format_is_float(format);
    const unsigned turns = check->effort == EFFORT_LONG ? 24 : check->effort == EFFORT_PUSH ? 2 : 1;
    if (!dti_affine_recipe_init(&recipe, format, symmetry))
        return false;
    if (is_float)
        quant_encoder(&encoder, format);
    trial.row = row;
    trial.bytes = format->width <= 8 ? 1 : 2;
    for (unsigned mode = 0; mode < 9; mode++) {
        struct dti_affine *affine = &recipe.affine;
        affine->division = (enum dti_quant_division)(mode % 3);
        affine->specials = (enum dti_quant_specials)(mode / 3);
        snprintf(trial.what, sizeof trial.what, "%.31s %d..%d, %s division, specials %d",
                 format->name, (int)affine->low, (int)affine->high,
                 quant_divisions[affine->division], (int)affine->specials);
        for (unsigned turn = 0; turn < turns; turn++) {
            trial.args =
                (struct dti_affine_args){.affine = affine, .encoder = is_float ? &encoder : NULL};
            fill_trial(check, &trial);
            if (!check_trial(check, &trial, check->effort != EFFORT_QUICK && turn == mode % 2))
                return false;
        }
    }
    return true;
}

bool check_affine_row(struct check *check, const struct dti_quant_kernel *row)
{
    struct dti_format formats[QUANT_FORMATS_MAX];
    const size_t count = quant_formats(row->codes, formats);
    for (size_t i = 0; i < count; i++) {
        const bool is_float = dti_format_is_float(&formats[i]);
        for (unsigned symmetry = 0; symmetry <= (is_float ? 0 : DTI_SYMMETRY_HALF); symmetry++)
            if (!check_format(check, row, &formats[i], (enum dti_quant_symmetry)symmetry))
                return false;
    }
    return count > 0;
}
