/* SPDX-License-Identifier: MIT
 *
 * Compares block quantization kernels with dti_block_quantize(): every recipe of every format that
 * a row supports, numbers of all magnitudes, numbers near the midpoints between codes, orders,
 * strides. */
#include <stdio.h>

#include "check_quant.h"

enum { BLOCKS = 160, LENGTHS = 300, TEXT_SIZE = 160 };

const char *const quant_orders[] = {"low first", "high first", "in halves", "in bytes"};

size_t quant_recipes(struct check *check, const struct dti_block_format *format,
                     struct dti_block_recipe recipes[RECIPES_MAX])
{
    const uint32_t one = 0x3f800000;
    size_t count = 0;
    if (format->family == DTI_BLOCKS_MX) {
        for (unsigned rule = 0; rule <= DTI_MX_RFLOOR; rule++)
            recipes[count++] = (struct dti_block_recipe){
                .format = format, .mx = (enum dti_mx_scale)rule, .tensor_scale = one};
        return count;
    }
    if (format->family == DTI_BLOCKS_Q8 || format->family == DTI_BLOCKS_Q4) {
        recipes[count++] = (struct dti_block_recipe){.format = format, .tensor_scale = one};
        return count;
    }
    for (unsigned division = 0; division <= DTI_DIVIDE_EXACT; division++) {
        for (unsigned turn = 0; turn < (format->family == DTI_BLOCKS_NV ? 12 : 1); turn++) {
            const enum dti_nv_scale nv = (enum dti_nv_scale)(turn / 4);
            const uint32_t tensor_scale = turn % 4 == 0 ? one
                                          : turn % 4 == 1
                                              ? dti_nv_tensor_scale(nv, quant_scale(check))
                                              : quant_scale(check);
            const bool divides = format->family == DTI_BLOCKS_NV && turn % 4 > 1;
            recipes[count++] =
                (struct dti_block_recipe){.format = format,
                                          .nv = nv,
                                          .division = (enum dti_quant_division)division,
                                          .tensor_scale = tensor_scale,
                                          .tensor_divisor = divides ? quant_scale(check) : 0};
        }
    }
    return count;
}

unsigned quant_code_bits(const struct dti_block_format *format, enum dti_block_order order)
{
    return order == DTI_BLOCK_BYTES ? 8 : dti_format_get(format->code)->width;
}

bool quant_has_order(const struct dti_block_format *format, enum dti_block_order order)
{
    return order == DTI_BLOCK_BYTES || dti_format_get(format->code)->width < 8;
}

size_t quant_scale_bytes(const struct dti_block_format *format)
{
    return dti_format_get(format->scale)->width / 8;
}

size_t quant_code_bytes(const struct dti_block_format *format, enum dti_block_order order, size_t n)
{
    return (n * quant_code_bits(format, order) + 7) / 8;
}

void quant_put_codes(const struct dti_block_format *format, enum dti_block_order order,
                     uint8_t *bytes, const uint32_t *code, size_t n)
{
    const unsigned bits = quant_code_bits(format, order);
    memset(bytes, 0, quant_code_bytes(format, order, n));
    for (size_t i = 0; i < n; i++)
        put_packed(bytes, i, bits, order == DTI_BLOCK_HIGH, code[i]);
}

void quant_put_scale(const struct dti_block_format *format, uint8_t *bytes, uint32_t scale)
{
    for (size_t i = 0; i < quant_scale_bytes(format); i++)
        bytes[i] = (uint8_t)(scale >> 8 * i);
}

struct block_places quant_places(struct check *check, const struct dti_block_format *format,
                                 enum dti_block_order order)
{
    const size_t codes = quant_code_bytes(format, order, format->length);
    const size_t scale = quant_scale_bytes(format), gap = check_below(check, 3);
    struct block_places places = {.code_stride = codes, .scale_stride = scale};
    switch (check_below(check, 4)) {
    case 0: /* interleaved, scale first as in ggml's blocks */
    case 1: /* or scale last */
        places.together = true;
        places.code_stride = places.scale_stride = codes + scale + gap;
        break;
    case 2: /* separate arrays, with gaps */
        places.code_stride += gap;
        places.scale_stride += check_below(check, 3);
        break;
    default:
        break;
    }
    if (places.together && check_below(check, 2))
        places.code_offset = scale + gap;
    else if (places.together)
        places.scale_offset = codes + gap;
    return places;
}

size_t quant_codes_extent(const struct block_places *places, const struct dti_block_format *format,
                          enum dti_block_order order, size_t n)
{
    const size_t blocks = (n + format->length - 1) / format->length;
    if (blocks == 0)
        return 0;
    const size_t last = n - (blocks - 1) * format->length;
    const size_t codes = places->code_offset + quant_code_bytes(format, order, last);
    const size_t scale = places->scale_offset + quant_scale_bytes(format);
    return (blocks - 1) * places->code_stride + (places->together && scale > codes ? scale : codes);
}

size_t quant_scales_extent(const struct block_places *places, const struct dti_block_format *format,
                           size_t n)
{
    const size_t blocks = (n + format->length - 1) / format->length;
    return blocks == 0 ? 0 : (blocks - 1) * places->scale_stride + quant_scale_bytes(format);
}

/* The numbers of one trial, block by block, and their expected results. */
struct blocks_trial {
    const struct dti_quant_kernel *row;
    struct dti_block_args args;
    const struct dti_block_format *format;
    uint32_t numbers[BLOCKS * DTI_BLOCK_LENGTH_MAX];
    struct dti_quantized_block wanted[BLOCKS];
    char what[TEXT_SIZE];
};

/* The largest magnitude of a block: any, ordinary, or at the edge of a binade or of the scale's
 * range. */
static uint32_t largest_of(struct check *check, bool ordinary)
{
    static const float edges[] = {65520.0f * 8, 65520.0f * 127, 0x1p-25f * 8, 0x1p-25f * 127};
    const uint32_t bits = (uint32_t)check_random(check) & 0x7fffff;
    const uint32_t near = (uint32_t)check_below(check, 5) - 2;
    switch (check_below(check, 8) + (ordinary ? 3 : 0)) {
    case 0: /* any magnitude */
        return (uint32_t)check_below(check, 255) << 23 | bits;
    case 1: /* subnormal or slightly larger */
        return (uint32_t)check_random(check) & 0xffffff;
    case 2: /* 2^n and its neighbours, all n */
        return ((1 + (uint32_t)check_below(check, 253)) << 23) + near;
    case 3: /* limits of fp16 scales */
        return bits_of(edges[check_below(check, 4)]) + (bits & 0x3ffff) - 0x1ffff;
    case 4:
    case 5: /* few leading bits, like the largest codes, and neighbours */
        return ((117 + (uint32_t)check_below(check, 20)) << 23 | (bits & 0x7c0000)) + near;
    default:
        return (117 + (uint32_t)check_below(check, 20)) << 23 | bits;
    }
}

/* A number near the midpoint of two codes as given by the stored scale. ggml's formats use the
 * scale before it was rounded. */
static uint32_t middle_of(struct check *check, const struct dti_block_recipe *recipe,
                          uint32_t scale, uint32_t top)
{
    const uint32_t codes = UINT32_C(1) << dti_format_get(recipe->format->code)->width;
    const uint32_t code = (uint32_t)check_below(check, codes);
    const enum dti_block_family family = recipe->format->family;
    if (family == DTI_BLOCKS_Q8 || family == DTI_BLOCKS_Q4) {
        const double step = (double)float_of(top) / (family == DTI_BLOCKS_Q8 ? 127 : 8);
        const double k = (double)check_below(check, check_below(check, 4) ? codes / 2 : 2);
        return bits_of((float)((k + 0.5) * step)) + (uint32_t)check_below(check, 5) - 2;
    }
    return quant_between(check, dti_block_dequantize(recipe, scale, code),
                         dti_block_dequantize(recipe, scale, (code + 1) & (codes - 1)));
}

/* Where the scale of NVFP4, with the scale of the tensor, is about its largest: below, it is
 * rounded to either side; above, elements are clipped. */
static uint32_t full_of(struct check *check, const struct dti_block_recipe *recipe)
{
    const float largest = 6 * 448 * float_of(recipe->tensor_scale);
    return bits_of(largest * (0.875f + (float)check_below(check, 1000) / 2048));
}

/* Where that scale is in the middle of its range, as those of weights are. */
static uint32_t middling_of(struct check *check, const struct dti_block_recipe *recipe)
{
    const float one = 6 * float_of(recipe->tensor_scale);
    return bits_of(one * (float)(1 << check_below(check, 6)) *
                   (0.125f + (float)check_below(check, 1 << 20) * 0x1p-23f));
}

/* Tops of the blocks of a trial. */
enum tops {
    ANY,
    ORDINARY, /* no specials, no extreme magnitudes */
    FULL,
    MIDDLING, /* no block of zeros */
};

static void fill_block(struct check *check, const struct dti_block_recipe *recipe, uint32_t *x,
                       enum tops tops)
{
    const bool ordinary = tops != ANY;
    const size_t length = recipe->format->length, drawn = check_below(check, 16);
    const size_t sort = tops == MIDDLING && drawn == 0 ? 4 : drawn;
    const uint32_t top = tops == FULL       ? full_of(check, recipe)
                         : tops == MIDDLING ? middling_of(check, recipe)
                         : sort == 0        ? 0
                                            : largest_of(check, ordinary);
    struct dti_quantized_block probe;
    dti_block_quantize(recipe, &top, 1, &probe);
    for (size_t i = 0; i < length; i++) {
        const uint32_t sign = (uint32_t)check_below(check, 2) << 31;
        uint32_t number = middle_of(check, recipe, probe.scale, top);
        if (sort == 1 || (sort == 2 && check_below(check, 8) == 0)) /* other magnitudes */
            number = top - (uint32_t)check_below(check, (top >> 23) + 1) * 0x800000;
        if (sort == 3 && check_below(check, 3) == 0) /* the largest several times */
            number = top;
        if (sort == 0 || (sort == 4 && check_below(check, 2)))
            number = 0;
        if ((number & 0x7fffffff) > top)
            number = top > 0 ? (uint32_t)check_random(check) % top : 0;
        x[i] = number ^ sign;
    }
    x[check_below(check, length)] = top | (uint32_t)check_below(check, 2) << 31;
    if (sort == 5 && !ordinary && check_below(check, 3) == 0)
        x[check_below(check, length)] = quant_special(check);
    if (sort == 6 && !ordinary && check_below(check, 4) == 0)
        for (size_t i = 0; i < length; i++)
            x[i] = (uint32_t)check_random(check);
}

static void fill_trial(struct check *check, struct blocks_trial *trial, enum tops tops)
{
    const struct dti_block_recipe *recipe = trial->args.recipe;
    const size_t length = trial->format->length;
    for (size_t block = 0; block < BLOCKS; block++) {
        uint32_t *x = trial->numbers + block * length;
        fill_block(check, recipe, x, tops);
        dti_block_quantize(recipe, x, length, &trial->wanted[block]);
    }
}

struct blocks_call {
    const struct dti_quant_kernel *row;
    struct dti_block_args args;
    uint8_t *codes, *scales;
    const float *x;
    size_t n;
    struct dti_quant_count count;
};

static void run_blocks(void *context)
{
    struct blocks_call *call = context;
    call->row->run.blocks(&call->args, call->codes, call->scales, call->x, call->n, &call->count);
}

/* Compares an array including its gaps. Prints the first difference and returns false. */
static bool same_bytes(struct check *check, const struct blocks_trial *trial, size_t first,
                       size_t n, const char *array, const uint8_t *got, const uint8_t *want,
                       size_t bytes, size_t stride)
{
    for (size_t at = 0; at < bytes; at++) {
        if (got[at] == want[at])
            continue;
        const size_t block = at / stride;
        check_fail(check,
                   "%s %s: n %zu: %s, block %zu (amax 0x%08x, tensor 0x%08x), byte %zu: is 0x%02x, "
                   "not 0x%02x",
                   trial->row->name, trial->what, n, array, block,
                   (unsigned)trial->wanted[first + block].amax,
                   (unsigned)trial->args.recipe->tensor_scale, at % stride, got[at], want[at]);
        return false;
    }
    return true;
}

static bool check_slice(struct check *check, const struct blocks_trial *trial, size_t first,
                        size_t n)
{
    static uint8_t want_codes[GUARDED_BYTES_MAX], want_scales[GUARDED_BYTES_MAX];
    const struct dti_block_format *format = trial->format;
    const enum dti_block_order order = trial->args.order;
    const struct block_places places = quant_places(check, format, order);
    const size_t code_bytes = quant_codes_extent(&places, format, order, n);
    const size_t scale_bytes = places.together ? 0 : quant_scales_extent(&places, format, n);
    struct blocks_call call = {.row = trial->row, .args = trial->args, .n = n, .count = {3, 4, 5}};
    struct dti_quant_count want = call.count;
    uint8_t *codes = guarded_new(check, 0, code_bytes),
            *scales = guarded_new(check, 1, scale_bytes);
    memset(want_codes, guarded_poison(0), code_bytes);
    memset(want_scales, guarded_poison(1), scale_bytes);
    for (size_t at = 0, block = 0; at < n; at += format->length, block++) {
        const struct dti_quantized_block *whole = &trial->wanted[first + block];
        struct dti_quantized_block some;
        size_t length = format->length;
        if (n - at < length) {
            length = n - at;
            dti_block_quantize(trial->args.recipe,
                               trial->numbers + (first + block) * format->length, length, &some);
            whole = &some;
        }
        quant_put_codes(format, order, want_codes + places.code_offset + block * places.code_stride,
                        whole->code, length);
        quant_put_scale(format,
                        (places.together ? want_codes : want_scales) + places.scale_offset +
                            block * places.scale_stride,
                        whole->scale);
        want.clipped += whole->clipped;
        want.blocks += whole->clipped > 0;
        want.special += whole->special;
    }
    call.x = guarded_copy(check, 2, trial->numbers + first * format->length, n * 4);
    call.codes = codes + places.code_offset;
    call.scales = (places.together ? codes : scales) + places.scale_offset;
    call.args.code_stride = places.code_stride;
    call.args.scale_stride = places.scale_stride;
    call.args.stream = check_streaming(check);
    check->arrays++;
    if (touches_foreign_memory(run_blocks, &call) || !guarded_is_whole(0) || !guarded_is_whole(1) ||
        !guarded_is_whole(2)) {
        check_fail(check, "%s %s: n %zu: touches memory outside its arrays", trial->row->name,
                   trial->what, n);
        return false;
    }
    if (!same_bytes(check, trial, first, n, places.together ? "blocks" : "codes", codes, want_codes,
                    code_bytes, places.code_stride) ||
        !same_bytes(check, trial, first, n, "scales", scales, want_scales, scale_bytes,
                    places.scale_stride))
        return false;
    if (memcmp(&call.count, &want, sizeof want) != 0) {
        check_fail(
            check,
            "%s %s: n %zu: counts %llu clipped in %llu blocks, %llu special, not %llu, %llu, "
            "%llu",
            trial->row->name, trial->what, n, (unsigned long long)call.count.clipped - 3,
            (unsigned long long)call.count.blocks - 4, (unsigned long long)call.count.special - 5,
            (unsigned long long)want.clipped - 3, (unsigned long long)want.blocks - 4,
            (unsigned long long)want.special - 5);
        return false;
    }
    return true;
}

static bool check_order(struct check *check, const struct blocks_trial *trial, bool all_lengths)
{
    const size_t length = trial->format->length;
    if (!check_slice(check, trial, 0, BLOCKS * length))
        return false;
    for (size_t n = 0; n <= LENGTHS; n++)
        if ((all_lengths || check_below(check, 40) == 0) &&
            !check_slice(check, trial, check_below(check, BLOCKS - n / length), n))
            return false;
    for (unsigned turn = 0; turn < 4; turn++) {
        if (!check_slice(check, trial, 0, check_below(check, BLOCKS * length)))
            return false;
    }
    return true;
}

static bool check_tops(struct check *check, const struct dti_quant_kernel *row,
                       const struct dti_block_recipe *recipe, enum tops tops, bool all_lengths)
{
    static struct blocks_trial trial;
    static struct dti_block_parts parts;
    trial.row = row;
    trial.format = recipe->format;
    dti_block_parts_init(&parts, recipe);
    trial.args = (struct dti_block_args){.recipe = recipe, .parts = &parts};
    fill_trial(check, &trial, tops);
    for (unsigned order = 0; order <= DTI_BLOCK_BYTES; order++) {
        trial.args.order = (enum dti_block_order)order;
        if (!(row->orders >> order & 1) || !quant_has_order(trial.format, trial.args.order))
            continue;
        snprintf(trial.what, sizeof trial.what, "%s, scale rule %d, %s division, %s",
                 trial.format->name, (int)recipe->mx, quant_divisions[recipe->division],
                 quant_orders[order]);
        if (!check_order(check, &trial, all_lengths))
            return false;
    }
    return true;
}

static bool check_recipe(struct check *check, const struct dti_quant_kernel *row,
                         const struct dti_block_recipe *recipe, bool all_lengths)
{
    static const enum tops sorts[] = {ANY, ORDINARY, ANY, ORDINARY, FULL};
    const uint32_t scale = recipe->tensor_scale;
    const bool is_usual = scale > 0x20000000 && scale < 0x60000000;
    const enum tops tops = sorts[check_below(check, is_usual ? 5 : 2)];
    return check_tops(check, row, recipe, tops, all_lengths) &&
           (!is_usual || recipe->format->family != DTI_BLOCKS_NV ||
            check_tops(check, row, recipe, MIDDLING, false));
}

bool check_blocks_row(struct check *check, const struct dti_quant_kernel *row)
{
    const unsigned turns = check->effort == EFFORT_LONG   ? 200
                           : check->effort == EFFORT_PUSH ? 4
                                                          : 1;
    bool any = false;
    for (unsigned id = 0; id < DTI_BLOCK_COUNT; id++) {
        if (!(row->blocks >> id & 1))
            continue;
        for (unsigned turn = 0; turn < turns; turn++) {
            struct dti_block_recipe recipes[RECIPES_MAX];
            const size_t count = quant_recipes(check, &dti_block_formats[id], recipes);
            for (size_t i = 0; i < count; i++)
                if (!check_recipe(check, row, &recipes[i], turn == 0 && i % 4 == 0))
                    return false;
        }
        any = true;
    }
    return any;
}
