/* SPDX-License-Identifier: MIT
 *
 * Runs every fp32 number through a quantization kernel. Codes are monotonic in the numbers, so a
 * run of equal codes is right if both of its ends are. The definition is evaluated only at these
 * ends and at the limits of the finite range. */
#include <stdio.h>

#include "check_quant.h"

enum { CHUNK = 1 << 15, MAX_FINITE = 0x7f7fffff, INFINITE = 0x7f800000 };

/* A sweep: the codes of numbers with consecutive fp32 codes. */
struct sweep {
    struct check *check;
    const struct dti_quant_kernel *row;
    struct dti_affine_args affine;
    struct dti_affine_scale scale;
    struct dti_block_args blocks;
    uint32_t amax;
    uint32_t before; /* code of the previous number */
    char what[96];
};

static uint32_t wanted_code(const struct sweep *sweep, uint32_t bits)
{
    struct dti_quantized_number number;
    struct dti_quantized_block block;
    const uint32_t pair[2] = {sweep->amax, bits};
    if (sweep->row->work == DTI_QUANT_AFFINE) {
        dti_affine_quantize(sweep->affine.affine, &sweep->scale, bits, &number);
        return number.code;
    }
    dti_block_quantize(sweep->blocks.recipe, pair, 2, &block);
    return block.code[1];
}

static bool is_right(struct sweep *sweep, uint32_t bits, uint32_t got)
{
    const uint32_t want = wanted_code(sweep, bits);
    if (got == want)
        return true;
    check_fail(sweep->check, "%s %s: 0x%08x is 0x%x, not 0x%x", sweep->row->name, sweep->what,
               (unsigned)bits, (unsigned)got, (unsigned)want);
    return false;
}

/* Checks the codes of n consecutive numbers from `first` on. */
static bool judge(struct sweep *sweep, uint32_t first, const uint8_t *codes, size_t n, bool begins)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = first + (uint32_t)i, a = bits & INT32_MAX;
        const uint32_t before = i > 0 ? codes[i - 1] : sweep->before;
        const bool edge = a == MAX_FINITE || a == INFINITE || a == INFINITE + 1 || a == INT32_MAX;
        if ((i == 0 && begins) || edge || codes[i] != before) {
            if (!is_right(sweep, bits, codes[i]) ||
                (!(i == 0 && begins) && !is_right(sweep, bits - 1, before)))
                return false;
        }
    }
    sweep->before = codes[n - 1];
    return true;
}

static bool sweep_affine(struct sweep *sweep)
{
    static uint32_t x[CHUNK];
    static uint8_t codes[CHUNK];
    for (uint64_t first = 0; first <= UINT32_MAX; first += CHUNK) {
        struct dti_quant_count count = {0};
        for (size_t i = 0; i < CHUNK; i++)
            x[i] = (uint32_t)first + (uint32_t)i;
        sweep->row->run.affine(&sweep->affine, codes, (const float *)(const void *)x, CHUNK,
                               &count);
        sweep->check->arrays++;
        if (!judge(sweep, (uint32_t)first, codes, CHUNK, first % (UINT32_C(1) << 31) == 0))
            return false;
    }
    return is_right(sweep, UINT32_MAX, sweep->before);
}

bool check_affine_sweep(struct check *check, const struct dti_quant_kernel *row)
{
    static const uint32_t scales[] = {0x3dcccccd, 0x3c810204, 0x3f800000, 0x7e7ffff1, 0x00012345};
    struct dti_affine_recipe recipe;
    if (row->columns || (row->codes != DTI_QUANT_CODES_ANY && row->codes != DTI_QUANT_CODES_8))
        return true;
    dti_affine_recipe_init(&recipe, dti_format_get(DTI_INT8), DTI_SYMMETRY_NONE);
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        const enum dti_quant_division division = (enum dti_quant_division)(i % 3);
        struct sweep sweep = {.check = check, .row = row, .scale = {scales[i], -3}};
        recipe.affine.division = division;
        sweep.affine = (struct dti_affine_args){.affine = &recipe.affine,
                                                .scale = float_of(scales[i]),
                                                .inverse = 1.0f / float_of(scales[i]),
                                                .zero_point = -3};
        snprintf(sweep.what, sizeof sweep.what, "int8, scale 0x%08x, %s division",
                 (unsigned)scales[i], quant_divisions[division]);
        if (!sweep_affine(&sweep))
            return false;
    }
    return true;
}

/* Blocks of `length` numbers; the first number of each block is amax. */
static bool sweep_half(struct sweep *sweep, uint32_t sign)
{
    static uint32_t x[CHUNK];
    static uint8_t codes[CHUNK], scales[4 * CHUNK], swept[CHUNK];
    const size_t length = sweep->blocks.recipe->format->length, blocks = CHUNK / length;
    uint32_t bits = 0;
    while (bits <= sweep->amax) {
        const uint32_t first = bits;
        struct dti_quant_count count = {0};
        size_t n = 0;
        for (size_t i = 0; i < blocks * length; i++)
            x[i] = i % length == 0 ? sweep->amax : bits++ | sign;
        if (bits > sweep->amax) /* larger numbers would become the maximum of the block */
            for (size_t i = 0; i < blocks * length; i++)
                x[i] = (x[i] & INT32_MAX) > sweep->amax ? sweep->amax | sign : x[i];
        sweep->row->run.blocks(&sweep->blocks, codes, scales, (const float *)(const void *)x,
                               blocks * length, &count);
        sweep->check->arrays++;
        for (size_t i = 0; i < blocks * length; i++)
            if (i % length != 0)
                swept[n++] = codes[i];
        if (bits > sweep->amax)
            n -= bits - 1 - sweep->amax;
        if (!judge(sweep, first | sign, swept, n, first == 0))
            return false;
    }
    return is_right(sweep, sweep->amax | sign, sweep->before);
}

bool check_blocks_sweep(struct check *check, const struct dti_quant_kernel *row)
{
    static const enum dti_block formats[] = {DTI_BLOCK_MXFP8_E4M3, DTI_BLOCK_MXFP4, DTI_BLOCK_NVFP4,
                                             DTI_BLOCK_Q8_0, DTI_BLOCK_NF4};
    static const uint32_t amaxes[] = {0x3f800000, 0x4079ffff, 0x3e555555};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const struct dti_block_format *format = &dti_block_formats[formats[i]];
        static struct dti_block_parts parts;
        if (!(row->blocks >> formats[i] & 1) || !(row->orders >> DTI_BLOCK_BYTES & 1))
            continue;
        for (size_t a = 0; a < sizeof amaxes / sizeof amaxes[0]; a++) {
            const struct dti_block_recipe recipe = {.format = format,
                                                    .mx = (enum dti_mx_scale)a,
                                                    .division = (enum dti_quant_division)a,
                                                    .tensor_scale = 0x3f800000};
            dti_block_parts_init(&parts, &recipe);
            struct sweep sweep = {.check = check, .row = row, .amax = amaxes[a]};
            sweep.blocks = (struct dti_block_args){.recipe = &recipe,
                                                   .parts = &parts,
                                                   .order = DTI_BLOCK_BYTES,
                                                   .code_stride = format->length,
                                                   .scale_stride = quant_scale_bytes(format)};
            snprintf(sweep.what, sizeof sweep.what, "%s, amax 0x%08x", format->name,
                     (unsigned)amaxes[a]);
            if (!sweep_half(&sweep, 0) || !sweep_half(&sweep, UINT32_C(1) << 31))
                return false;
        }
    }
    return true;
}
