/* SPDX-License-Identifier: MIT
 *
 * Encodes GGUF blocks of the types IQ1 to IQ3, which need weights: the same bytes as the functions
 * quantize_row_*_impl() of ggml-quants.c, compiled without contraction. Searches are those of a
 * level: see gguf_grid_search.h. */
#include "kernels/gguf/gguf_encode_weighted.h"
#include "kernels/gguf/gguf_grid_search.h"
#include "kernels/gguf/gguf_kernels.h"

enum { BLOCK = 256, POINTS = 64, GROUPS = 16 };

#define GRID_TYPES(TYPE, level)   \
    TYPE(IQ1_S, iq1_s, level)     \
    TYPE(IQ1_M, iq1_m, level)     \
    TYPE(IQ2_XXS, iq2_xxs, level) \
    TYPE(IQ2_XS, iq2_xs, level)   \
    TYPE(IQ2_S, iq2_s, level)     \
    TYPE(IQ3_XXS, iq3_xxs, level) \
    TYPE(IQ3_S, iq3_s, level)
#define TYPE(name, word, level) name,
enum { GRID_TYPES(TYPE, ) };
#undef TYPE

/* What differs from type to type. Weights use the mean square of a block, or twice that. Numbers
 * that are all below `least` are zeros. Signs: one for each number; or of eight numbers an even
 * number, of which seven are stored. A block's scale is the largest one divided by `steps`, and
 * stored times `factor`. */
/* clang-format off */
static const struct grid_row {
    enum dti_gguf_blocks type;
    enum dti_gguf_grid grid;
    unsigned bytes;
    struct dti_gguf_way way;
    bool even;
    float means, least, steps, factor;
} rows[] = {
#define GRID(name, grid, bytes, n, length, tries, step, again, even, means, least, steps, factor) \
    [name] = {DTI_GGUF_##name, DTI_GGUF_GRID_##grid, bytes, \
              {n, length, tries, step, DTI_GGUF_AGAIN_##again}, even, means, least, steps, factor},
/*       name     grid    bytes   n length tries step  again even means  least steps factor */
    GRID(IQ1_S,   IQ1,      50,  32, 8,     0, 0,      OFF, false, 2, 1e-12F,  15, 1.125F)
    GRID(IQ1_M,   IQ1,      56,  16, 8,     0, 0,      OFF, false, 2, 1e-7F,   15, 1.1125F)
    GRID(IQ2_XXS, IQ2_XXS,  66,  32, 8,     6, 0.1F,   ALL, true,  1, 1e-15F,  31, 1)
    GRID(IQ2_XS,  IQ2_XS,   74,  16, 8,     9, 0.1F,   OFF, true,  1, 1e-15F,  31, 1)
    GRID(IQ2_S,   IQ2_S,    82,  16, 8,     9, 0.1F,   OFF, false, 2, 1e-8F,   31, 0.9875F)
    GRID(IQ3_XXS, IQ3_XXS,  98,  32, 4,    15, 0.2F,   OFF, true,  2, 1e-8F,   31, 1.0125F)
    GRID(IQ3_S,   IQ3_S,   110,  32, 4,     9, 0.2F,   ANY, false, 2, 0,       31, 1.033F)
#undef GRID
};
/* clang-format on */

/* A block: its groups, what was found, and what is stored. */
struct grid_block {
    const struct grid_row *row;
    const struct dti_gguf_near *near;
    struct dti_gguf_group group[GROUPS];
    unsigned groups;
    bool zero[GROUPS];           /* nothing was looked for */
    float scale[GROUPS], most;   /* and the largest */
    unsigned char level[GROUPS]; /* of scales */
    uint16_t index[POINTS];
    unsigned char sign[BLOCK / 8];
    bool less[BLOCK / 8]; /* IQ1 */
};

/* The searches of a level. */
struct grid_searches {
    dti_gguf_grid_search_fn *search;
    dti_gguf_thirds_fn *thirds_s, *thirds_m;
};

/* The index of a point in its grid. */
static unsigned index_of(const struct dti_gguf_near *near, unsigned point, unsigned length)
{
    const unsigned base = length == 8 ? 3 : 8, bits = length == 8 ? 2 : 3;
    unsigned combination = 0;
    for (unsigned i = length; i-- > 0;)
        combination = combination * base + (point >> (bits * i) & ((1u << bits) - 1));
    return near->places[combination];
}

/* Numbers and their weights: those of the columns, times the root of a mean and the square. */
static void weigh_groups(struct grid_block *block, const unsigned char *x,
                         const unsigned char *columns)
{
    const unsigned n = block->row->way.n;
    float sum = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        const float number = gguf_at(x, i);
        sum = gguf_add(sum, gguf_mul(number, number));
    }
    const float mean = gguf_mul3(block->row->means, sum, 0x1p-8F);
    for (size_t g = 0; g < block->groups; g++) {
        struct dti_gguf_group *const group = &block->group[g];
        memcpy(group->x, x + g * n * sizeof sum, n * sizeof sum);
        memcpy(group->weight, columns + g * n * sizeof sum, n * sizeof sum);
        for (unsigned i = 0; i < n; i++)
            group->weight[i] *= sqrtf(gguf_add(mean, gguf_mul(group->x[i], group->x[i])));
        for (unsigned i = 0; i < n; i++)
            group->root[i] = sqrtf(group->weight[i]);
    }
}

/* Of eight numbers with an odd number of minus signs: the one that matters least gets the other
 * sign. */
static unsigned even_out(float *x, const float *weight, unsigned sign)
{
    unsigned least = 0;
    float smallest = gguf_mul3(weight[0], x[0], x[0]);
    for (unsigned i = 1; i < 8; i++) {
        const float error = gguf_mul3(weight[i], x[i], x[i]);
        least = error < smallest ? i : least;
        smallest = error < smallest ? error : smallest;
    }
    x[least] = -x[least];
    return sign ^ 1u << least;
}

/* Takes off the signs. */
static void take_signs(struct grid_block *block, struct dti_gguf_group *group, unsigned char *signs)
{
    for (size_t at = 0; at < block->row->way.n; at += 8) {
        float *const x = group->x + at;
        unsigned sign = 0, odd = 0;
        for (unsigned i = 0; i < 8; i++) {
            const bool minus = !(x[i] >= 0);
            x[i] = minus ? -x[i] : x[i];
            sign |= (unsigned)minus << i;
            odd ^= minus;
        }
        if (block->row->even && odd)
            sign = even_out(x, group->weight + at, sign);
        signs[at / 8] = (unsigned char)(block->row->even ? sign & 127 : sign);
    }
}

static bool is_zero(const struct grid_row *row, float largest)
{
    return largest < row->least || largest == 0;
}

/* The scales of 8 groups of 32 numbers by levels from 0 to 4, as make_qp_quants() finds them: where
 * IQ2_XXS starts. */
static void start(struct dti_gguf_group *groups)
{
    struct gguf_levels levels = {0};
    for (unsigned g = 0; g < 8; g++)
        for (unsigned i = 0; i < 32; i++) {
            levels.x[i][g] = groups[g].x[i];
            levels.w[i][g] = groups[g].weight[i];
        }
    gguf_levels_search(&levels, 32, 8, 4);
    for (unsigned g = 0; g < 8; g++)
        groups[g].scale = levels.scale[g];
}

/* Finds a group's scale and points. A scale that is not a number is 0; ggml stops there. */
static void find_group(struct grid_block *block, size_t g, const struct grid_searches *searches)
{
    const struct grid_row *const row = block->row;
    const unsigned n = row->way.n, points = n / row->way.length;
    struct dti_gguf_group *const group = &block->group[g];
    unsigned char *const sign = block->sign + g * n / 8;
    float largest = group->x[0];
    for (unsigned i = 1; i < n; i++)
        largest = largest > group->x[i] ? largest : group->x[i];
    block->zero[g] = is_zero(row, largest);
    if (row->type == DTI_GGUF_IQ2_XXS) { /* the start is in `scale` */
        largest = gguf_mul(group->scale, 3);
        block->zero[g] = block->zero[g] || largest <= 0;
    } else {
        group->scale = largest / (row->way.length == 8 ? 5 : 15);
    }
    group->largest = largest;
    if (block->zero[g]) {
        memset(sign, 0, n / 8);
        return;
    }
    searches->search(group, &row->way, block->near);
    if (group->scale < 0) {
        group->scale = -group->scale;
        for (unsigned i = 0; i < n / 8; i++)
            sign[i] ^= row->even ? 127 : 255;
    }
    block->scale[g] = group->scale >= 0 ? group->scale : 0;
    for (unsigned k = 0; k < points; k++)
        block->index[g * points + k] =
            (uint16_t)index_of(block->near, group->point[k], row->way.length);
}

/* The same for IQ1. */
static void find_thirds(struct grid_block *block, size_t g, const struct grid_searches *searches)
{
    const unsigned n = block->row->way.n;
    struct dti_gguf_group *const group = &block->group[g];
    float largest = 0;
    for (unsigned i = 0; i < n; i++)
        largest = largest > fabsf(group->x[i]) ? largest : fabsf(group->x[i]);
    const bool is_s = block->row->type == DTI_GGUF_IQ1_S;
    block->zero[g] =
        is_zero(block->row, largest) ||
        !(is_s ? searches->thirds_s(group, block->near) : searches->thirds_m(group, block->near));
    if (block->zero[g])
        return;
    block->scale[g] = group->scale >= 0 ? group->scale : 0;
    for (unsigned k = 0; k < n / 8; k++) {
        block->index[g * n / 8 + k] = (uint16_t)index_of(block->near, group->point[k], 8);
        block->less[g * n / 8 + k] = group->less[k];
    }
}

/* The groups' scales: a level l stands for (2 l + 1) / 2, or 2 l + 1, steps. Returns the step. */
static float find_levels(struct grid_block *block)
{
    const float step = block->most / block->row->steps, inverse = 1 / step;
    const int32_t top = block->row->grid == DTI_GGUF_GRID_IQ1 ? 7 : 15;
    for (unsigned g = 0; g < block->groups; g++) {
        const float level = gguf_mul(0.5F, gguf_sub(gguf_mul(inverse, block->scale[g]), 1));
        block->level[g] = (unsigned char)gguf_level(level, 0, top);
    }
    return step;
}

static void put_u32(unsigned char *to, uint32_t word)
{
    gguf_put_u16(to, word);
    gguf_put_u16(to + 2, word >> 16);
}

/* Seven bits of each of four signs, and a level. */
static uint32_t signs_and_level(const struct grid_block *block, size_t g)
{
    uint32_t word = (uint32_t)block->level[g] << 28;
    for (unsigned k = 0; k < 4; k++)
        word |= (uint32_t)block->sign[4 * g + k] << (7 * k);
    return word;
}

/* Levels of 4 bits, the first in the low ones. */
static void put_levels(unsigned char *to, const struct grid_block *block)
{
    for (unsigned g = 0; g < block->groups; g += 2)
        to[g / 2] = (unsigned char)(block->level[g] | block->level[g + 1] << 4);
}

static void put_iq2_xxs(unsigned char *to, const struct grid_block *block)
{
    for (size_t g = 0; g < 8; g++, to += 8) {
        for (unsigned k = 0; k < 4; k++)
            to[k] = (unsigned char)block->index[4 * g + k];
        put_u32(to + 4, signs_and_level(block, g));
    }
}

static void put_iq2_xs(unsigned char *to, const struct grid_block *block)
{
    for (size_t k = 0; k < 32; k++)
        gguf_put_u16(to + 2 * k, block->index[k] | (uint32_t)block->sign[k] << 9);
    put_levels(to + 64, block);
}

static void put_iq2_s(unsigned char *to, const struct grid_block *block)
{
    for (size_t k = 0; k < 32; k++) {
        to[k] = (unsigned char)block->index[k];
        to[64 + k / 4] |= (unsigned char)(block->index[k] >> 8 << (k % 4 * 2));
    }
    memcpy(to + 32, block->sign, 32);
    put_levels(to + 72, block);
}

static void put_iq3_xxs(unsigned char *to, const struct grid_block *block)
{
    for (size_t k = 0; k < 64; k++)
        to[k] = (unsigned char)block->index[k];
    for (size_t g = 0; g < 8; g++)
        put_u32(to + 64 + 4 * g, signs_and_level(block, g));
}

static void put_iq3_s(unsigned char *to, const struct grid_block *block)
{
    for (size_t k = 0; k < 64; k++) {
        to[k] = (unsigned char)block->index[k];
        to[64 + k / 8] |= (unsigned char)(block->index[k] >> 8 << (k % 8));
    }
    memcpy(to + 72, block->sign, 32);
    put_levels(to + 104, block);
}

static void put_iq1_s(unsigned char *to, const struct grid_block *block)
{
    for (size_t g = 0; g < 8; g++) {
        uint32_t word = (uint32_t)block->level[g] << 12 | (uint32_t)block->less[4 * g] << 15;
        for (unsigned k = 0; k < 4; k++) {
            to[4 * g + k] = (unsigned char)block->index[4 * g + k];
            word |= (uint32_t)(block->index[4 * g + k] >> 8) << (3 * k);
        }
        gguf_put_u16(to + 32 + 2 * g, word);
    }
}

/* The scale that fits all numbers of a block best, with the levels of its groups. */
static float fit(const struct grid_block *block, float otherwise)
{
    float sum_qx = 0, sum_q2 = 0;
    for (unsigned i = 0; i < BLOCK; i++) {
        const struct dti_gguf_group *const group = &block->group[i / 16];
        const unsigned k = i / 8, digit = block->near->points[block->index[k]] >> (i % 8 * 2) & 3;
        const float number = gguf_add((float)digit, block->less[k] ? -1.125F : -0.875F);
        const int level = 2 * block->level[i / 16] + 1;
        const float q = gguf_mul(number, (float)level);
        sum_qx = gguf_add(sum_qx, gguf_mul3(group->weight[i % 16], q, group->x[i % 16]));
        sum_q2 = gguf_add(sum_q2, gguf_mul3(group->weight[i % 16], q, q));
    }
    return sum_q2 > 0 ? sum_qx / sum_q2 : otherwise;
}

/* The scale is in the top 4 bits of each word of levels. */
static void put_iq1_m(unsigned char *to, const struct grid_block *block, float scale)
{
    const uint32_t half = gguf_half_bits(scale);
    for (size_t k = 0; k < 32; k++) {
        to[k] = (unsigned char)block->index[k];
        to[32 + k / 2] |=
            (unsigned char)((block->index[k] >> 8 | (unsigned)block->less[k] << 3) << (k % 2 * 4));
    }
    for (size_t w = 0; w < 4; w++) {
        uint32_t word = half >> (4 * w) << 12;
        for (unsigned k = 0; k < 4; k++)
            word |= (uint32_t)block->level[4 * w + k] << (3 * k);
        gguf_put_u16(to + 48 + 2 * w, word);
    }
}

/* Without a scale, the types with an even number of signs are zeros; others keep points and signs,
 * but not which way their codes are off. */
static void put_block(unsigned char *to, struct grid_block *block)
{
    const struct grid_row *const row = block->row;
    const bool none = !(block->most > 0 || block->most < 0);
    memset(to, 0, row->bytes);
    if (none && row->even)
        return;
    memset(block->level, 0, sizeof block->level);
    if (none)
        memset(block->less, 0, sizeof block->less);
    float scale = none ? 0 : find_levels(block);
    if (row->type == DTI_GGUF_IQ1_M) {
        scale = none ? 0 : fit(block, scale);
        put_iq1_m(to, block, gguf_mul(scale, row->factor));
        return;
    }
    gguf_put_half(to, gguf_mul(scale, row->factor));
    switch (row->type) {
    case DTI_GGUF_IQ2_XXS:
        put_iq2_xxs(to + 2, block);
        break;
    case DTI_GGUF_IQ2_XS:
        put_iq2_xs(to + 2, block);
        break;
    case DTI_GGUF_IQ2_S:
        put_iq2_s(to + 2, block);
        break;
    case DTI_GGUF_IQ3_XXS:
        put_iq3_xxs(to + 2, block);
        break;
    case DTI_GGUF_IQ3_S:
        put_iq3_s(to + 2, block);
        break;
    default:
        put_iq1_s(to + 2, block);
        break;
    }
}

static void encode_block(unsigned char *to, struct grid_block *block, const unsigned char *x,
                         const unsigned char *columns, const struct grid_searches *searches)
{
    const bool thirds = block->row->grid == DTI_GGUF_GRID_IQ1;
    const unsigned n = block->row->way.n;
    memset(block->index, 0, sizeof block->index);
    memset(block->less, 0, sizeof block->less);
    memset(block->scale, 0, sizeof block->scale);
    block->most = 0;
    weigh_groups(block, x, columns);
    for (size_t g = 0; g < block->groups && !thirds; g++)
        take_signs(block, &block->group[g], block->sign + g * n / 8);
    if (block->row->type == DTI_GGUF_IQ2_XXS)
        start(block->group);
    for (size_t g = 0; g < block->groups; g++) {
        if (thirds)
            find_thirds(block, g, searches);
        else
            find_group(block, g, searches);
        block->most = block->most > block->scale[g] ? block->most : block->scale[g];
    }
    put_block(to, block);
}

static void encode(const struct grid_row *row, unsigned char *blocks, const float *x, size_t count,
                   const float *weights, const struct grid_searches *searches)
{
    const unsigned char *from = (const unsigned char *)x, *columns = (const unsigned char *)weights;
    struct grid_block block = {
        .row = row, .near = dti_gguf_near(row->grid), .groups = BLOCK / row->way.n};
    for (; count > 0; count--, blocks += row->bytes) {
        encode_block(blocks, &block, from, columns, searches);
        from += BLOCK * sizeof *x;
        columns += BLOCK * sizeof *x;
    }
}

#define WEIGH(name, word, level)                                                            \
    static void weigh_##word##_##level(unsigned char *blocks, const float *x, size_t count, \
                                       const float *weights, float mean)                    \
    {                                                                                       \
        (void)mean;                                                                         \
        encode(&rows[name], blocks, x, count, weights, &searches_##level);                  \
    }
#define ROW(name, word, level) {.run = weigh_##word##_##level},
#define LEVEL(level)                                                                         \
    static const struct grid_searches searches_##level = {                                   \
        dti_gguf_grid_search_##level, dti_gguf_thirds_s_##level, dti_gguf_thirds_m_##level}; \
    GRID_TYPES(WEIGH, level)                                                                 \
    static const struct dti_gguf_weigher weighers_##level[] = {GRID_TYPES(ROW, level)};
LEVEL(scalar)
#ifdef DTI_HAVE_X86
LEVEL(avx2)
#endif

/* NULL: a type of another kind. */
static const struct grid_row *row_of(enum dti_gguf_blocks blocks)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].type == blocks)
            return &rows[i];
    return NULL;
}

const struct dti_gguf_weigher *dti_gguf_grid_weigher(enum dti_gguf_blocks blocks,
                                                     enum dti_level level)
{
    const struct grid_row *const row = row_of(blocks);
    if (!row)
        return NULL;
#ifdef DTI_HAVE_X86
    if (level != DTI_LEVEL_SCALAR)
        return &weighers_avx2[row - rows];
#endif
    (void)level;
    return &weighers_scalar[row - rows];
}

bool dti_gguf_prepare(enum dti_gguf_blocks blocks)
{
    const struct grid_row *const row = row_of(blocks);
    return !row || dti_gguf_near(row->grid) != NULL;
}
