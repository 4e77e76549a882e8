/* SPDX-License-Identifier: MIT
 *
 * Dequantization kernels: every code with scales of all magnitudes. For blocks: every pair of a
 * scale code and an element code. */
#include <stdio.h>

#include "check_quant.h"

enum { NUMBERS = 1 << 16, LENGTHS = 300, TEXT_SIZE = 160, BLOCKS_MAX = 1024 };

struct back_trial {
    const struct dti_quant_kernel *row;
    struct dti_affine_args args;
    size_t bytes, count; /* bytes per code; number of codes */
    uint32_t codes[NUMBERS], scales[NUMBERS], inverses[NUMBERS], wanted[NUMBERS];
    int32_t zero_points[NUMBERS];
    char what[TEXT_SIZE];
};

struct back_call {
    const struct dti_quant_kernel *row;
    struct dti_affine_args args;
    struct dti_block_args blocks;
    float *x;
    const uint8_t *codes, *scales;
    size_t n;
};

static void run_back(void *context)
{
    const struct back_call *call = context;
    if (call->row->work == DTI_QUANT_AFFINE_BACK)
        call->row->run.affine_back(&call->args, call->x, call->codes, call->n);
    else
        call->row->run.blocks_back(&call->blocks, call->x, call->codes, call->scales, call->n);
}

static bool check_slice(struct check *check, const struct back_trial *trial, size_t first, size_t n)
{
    struct back_call call = {.row = trial->row, .args = trial->args, .n = n};
    uint8_t *codes = guarded_new(check, 0, n * trial->bytes);
    for (size_t i = 0; i < n; i++)
        put_container(codes, trial->bytes, i, trial->codes[first + i]);
    call.codes = codes;
    call.x = (float *)(void *)guarded_new(check, 1, n * 4);
    if (trial->row->columns) {
        call.args.scales = guarded_copy(check, 2, trial->scales + first, n * 4);
        call.args.inverses = guarded_copy(check, 4, trial->inverses + first, n * 4);
        if (trial->args.zero_points)
            call.args.zero_points = guarded_copy(check, 3, trial->zero_points + first, n * 4);
    }
    call.args.stream = check_streaming(check);
    check->arrays++;
    if (touches_foreign_memory(run_back, &call) || !guarded_is_whole(0) || !guarded_is_whole(1)) {
        check_fail(check, "%s %s: n %zu: touches memory outside its arrays", trial->row->name,
                   trial->what, n);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t got = (uint32_t)get_container(call.x, 4, i), want = trial->wanted[first + i];
        if (got != want) {
            check_fail(check,
                       "%s %s: n %zu: element %zu, of code 0x%x, scale 0x%08x, zero %d: is 0x%08x, "
                       "not 0x%08x",
                       trial->row->name, trial->what, n, i, (unsigned)trial->codes[first + i],
                       (unsigned)trial->scales[first + i], (int)trial->zero_points[first + i],
                       (unsigned)got, (unsigned)want);
            return false;
        }
    }
    return true;
}

static void fill_trial(struct check *check, struct back_trial *trial)
{
    const struct dti_affine *affine = trial->args.affine;
    const uint32_t mask = (uint32_t)dti_low_bits(affine->code.width);
    const bool columns = trial->row->columns, is_float = dti_format_is_float(&affine->code);
    const bool own_zeros = columns && check_below(check, 3) != 0;
    const size_t span = (size_t)(affine->high - affine->low) + 1;
    struct dti_affine_scale scale = {quant_scale(check), 0};
    trial->count = mask + 1 < 2048 ? 2048 : mask + 1;
    for (size_t i = 0; i < trial->count; i++) {
        if (i == 0 || columns)
            scale.scale = quant_scale(check);
        if ((i == 0 || own_zeros) && !is_float)
            scale.zero_point = affine->low + (int32_t)check_below(check, span);
        trial->codes[i] = (uint32_t)i & mask;
        trial->scales[i] = scale.scale;
        trial->inverses[i] = bits_of(1.0f / float_of(scale.scale));
        trial->zero_points[i] = scale.zero_point;
        trial->wanted[i] = dti_affine_dequantize(affine, &scale, trial->codes[i]);
    }
    trial->args.scale = float_of(trial->scales[0]);
    trial->args.inverse = 1.0f / trial->args.scale;
    trial->args.zero_point = trial->zero_points[0];
    trial->args.zero_points = own_zeros ? trial->zero_points : NULL;
}

bool check_affine_back_row(struct check *check, const struct dti_quant_kernel *row)
{
    static struct back_trial trial;
    struct dti_format formats[QUANT_FORMATS_MAX];
    const size_t count = quant_formats(row->codes, formats);
    const size_t turns = check->effort == EFFORT_LONG ? 40 : check->effort == EFFORT_PUSH ? 4 : 1;
    for (size_t i = 0; i < count; i++) {
        struct dti_affine_recipe recipe;
        struct dti_decoder decoder;
        const bool is_float = dti_format_is_float(&formats[i]);
        dti_affine_recipe_init(&recipe, &formats[i], DTI_SYMMETRY_NONE);
        dti_decoder_init(&decoder, &formats[i]);
        trial.row = row;
        trial.bytes = formats[i].width <= 8 ? 1 : 2;
        snprintf(trial.what, sizeof trial.what, "%.31s", formats[i].name);
        for (size_t turn = 0; turn < turns; turn++) {
            trial.args = (struct dti_affine_args){.affine = &recipe.affine,
                                                  .decoder = is_float ? &decoder : NULL};
            fill_trial(check, &trial);
            if (!check_slice(check, &trial, 0, trial.count))
                return false;
            for (size_t n = 0; n <= LENGTHS; n++)
                if ((turn == 0 || check_below(check, 30) == 0) &&
                    !check_slice(check, &trial, check_below(check, trial.count - n + 1), n))
                    return false;
        }
    }
    return count > 0;
}

/* Blocks: the codes and scales of one trial. */
struct blocks_trial {
    const struct dti_quant_kernel *row;
    struct dti_block_args args;
    const struct dti_block_format *format;
    uint32_t scale[BLOCKS_MAX], code[BLOCKS_MAX * DTI_BLOCK_LENGTH_MAX];
    uint32_t wanted[BLOCKS_MAX * DTI_BLOCK_LENGTH_MAX];
    size_t blocks;
};

static bool check_blocks_slice(struct check *check, const struct blocks_trial *trial, size_t first,
                               size_t n)
{
    const struct dti_block_format *format = trial->format;
    const enum dti_block_order order = trial->args.order;
    const struct block_places places = quant_places(check, format, order);
    struct back_call call = {.row = trial->row, .blocks = trial->args, .n = n};
    uint8_t *codes = guarded_new(check, 0, quant_codes_extent(&places, format, order, n));
    uint8_t *scales =
        places.together ? codes : guarded_new(check, 1, quant_scales_extent(&places, format, n));
    codes += places.code_offset;
    scales += places.scale_offset;
    for (size_t at = 0, block = 0; at < n; at += format->length, block++) {
        const size_t some = n - at < format->length ? n - at : format->length;
        quant_put_codes(format, order, codes + block * places.code_stride,
                        &trial->code[(first + block) * format->length], some);
        quant_put_scale(format, scales + block * places.scale_stride, trial->scale[first + block]);
    }
    call.codes = codes;
    call.scales = scales;
    call.blocks.code_stride = places.code_stride;
    call.blocks.scale_stride = places.scale_stride;
    call.blocks.stream = check_streaming(check);
    call.x = (float *)(void *)guarded_new(check, 2, n * 4);
    check->arrays++;
    if (touches_foreign_memory(run_back, &call) || !guarded_is_whole(0) || !guarded_is_whole(2)) {
        check_fail(check, "%s %s %s: n %zu: touches memory outside its arrays", trial->row->name,
                   format->name, quant_orders[order], n);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t at = first * format->length + i;
        const uint32_t got = (uint32_t)get_container(call.x, 4, i);
        if (got != trial->wanted[at]) {
            check_fail(check,
                       "%s %s %s: n %zu: element %zu, of code 0x%x, scale 0x%x, tensor 0x%08x: is "
                       "0x%08x, not 0x%08x",
                       trial->row->name, format->name, quant_orders[order], n, i,
                       (unsigned)trial->code[at],
                       (unsigned)trial->scale[first + i / format->length],
                       (unsigned)trial->args.recipe->tensor_scale, (unsigned)got,
                       (unsigned)trial->wanted[at]);
            return false;
        }
    }
    return true;
}

/* Fills the trial with blocks `first` and following of the enumeration of all pairs; the scale
 * varies fastest. Scales of 32 bits are random. */
static void fill_blocks(struct check *check, struct blocks_trial *trial, size_t first, bool random)
{
    const struct dti_block_format *format = trial->format;
    const unsigned scale_bits = dti_format_get(format->scale)->width;
    const uint32_t codes = UINT32_C(1) << dti_format_get(format->code)->width;
    const uint32_t scale_mask = (uint32_t)dti_low_bits(scale_bits > 16 ? 1 : scale_bits);
    for (size_t block = 0; block < BLOCKS_MAX; block++) {
        uint32_t scale = (uint32_t)(first + block) & scale_mask;
        const size_t turn = (first + block) / (scale_mask + 1);
        if (scale_bits > 16)
            scale = (uint32_t)check_random(check) & 0x7fffffff;
        trial->scale[block] = scale;
        for (size_t i = 0; i < format->length; i++) {
            const size_t at = block * format->length + i;
            trial->code[at] =
                (uint32_t)(random ? check_random(check) : turn * format->length + i) & (codes - 1);
            trial->wanted[at] = dti_block_dequantize(trial->args.recipe, scale, trial->code[at]);
        }
    }
}

/* The number of blocks in which every scale occurs with every code. */
static size_t blocks_of_all(const struct dti_block_format *format)
{
    const unsigned scale_bits = dti_format_get(format->scale)->width;
    const size_t codes = (size_t)1 << dti_format_get(format->code)->width;
    const size_t turns = (codes + format->length - 1) / format->length;
    return turns * ((size_t)1 << (scale_bits > 16 ? 6 : scale_bits));
}

static bool check_recipe(struct check *check, const struct dti_quant_kernel *row,
                         const struct dti_block_recipe *recipe, bool first_recipe)
{
    static struct blocks_trial trial;
    const struct dti_block_format *format = recipe->format;
    static struct dti_block_parts parts;
    size_t all = blocks_of_all(format);
    trial.row = row;
    trial.format = format;
    dti_block_parts_init(&parts, recipe);
    trial.args = (struct dti_block_args){.recipe = recipe, .parts = &parts};
    if (check->effort == EFFORT_QUICK && all > BLOCKS_MAX)
        all = BLOCKS_MAX;
    const size_t stride = check->effort == EFFORT_PUSH && all > 1 << 16 ? 16 : 1;
    for (size_t first = 0; first < all; first += BLOCKS_MAX * stride) {
        fill_blocks(check, &trial, first + check_below(check, stride) * BLOCKS_MAX, false);
        for (unsigned order = 0; order <= DTI_BLOCK_BYTES; order++) {
            trial.args.order = (enum dti_block_order)order;
            if ((row->orders >> order & 1) && quant_has_order(format, trial.args.order) &&
                !check_blocks_slice(check, &trial, 0, BLOCKS_MAX * format->length))
                return false;
        }
    }
    fill_blocks(check, &trial, 0, true);
    for (unsigned order = 0; order <= DTI_BLOCK_BYTES; order++) {
        trial.args.order = (enum dti_block_order)order;
        if (!(row->orders >> order & 1) || !quant_has_order(format, trial.args.order))
            continue;
        for (size_t n = 0; n <= LENGTHS; n++) {
            if ((first_recipe || check_below(check, 20) == 0) &&
                !check_blocks_slice(check, &trial, check_below(check, BLOCKS_MAX - 300), n))
                return false;
        }
    }
    return true;
}

bool check_blocks_back_row(struct check *check, const struct dti_quant_kernel *row)
{
    bool any = false;
    for (unsigned id = 0; id < DTI_BLOCK_COUNT; id++) {
        struct dti_block_recipe recipes[RECIPES_MAX];
        if (!(row->blocks >> id & 1))
            continue;
        size_t count = quant_recipes(check, &dti_block_formats[id], recipes);
        if (dti_block_formats[id].family != DTI_BLOCKS_NV)
            count = 1; /* these recipes differ only in quantization */
        for (size_t i = 0; i < count; i++) {
            if (!check_recipe(check, row, &recipes[i], i == 0))
                return false;
        }
        any = true;
    }
    return any;
}
