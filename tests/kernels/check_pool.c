/* SPDX-License-Identifier: MIT
 *
 * Source codes for a cast. They depend only on the rows of the two formats, not on any kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { POOLS = 8, CODES_SAMPLED = 220, NEAR = 6 };

struct filling {
    struct pool *pool;
    size_t capacity;
    struct check *check;
};

void put_container(void *array, size_t bytes, size_t at, uint64_t container)
{
    uint8_t *to = (uint8_t *)array + bytes * at;
    const uint8_t narrow1 = (uint8_t)container;
    const uint16_t narrow2 = (uint16_t)container;
    const uint32_t narrow4 = (uint32_t)container;
    switch (bytes) {
    case 1:
        *to = narrow1;
        break;
    case 2:
        memcpy(to, &narrow2, 2);
        break;
    case 4:
        memcpy(to, &narrow4, 4);
        break;
    default:
        memcpy(to, &container, 8);
        break;
    }
}

uint64_t get_container(const void *array, size_t bytes, size_t at)
{
    const uint8_t *from = (const uint8_t *)array + bytes * at;
    uint16_t narrow2;
    uint32_t narrow4;
    uint64_t container;
    switch (bytes) {
    case 1:
        return *from;
    case 2:
        memcpy(&narrow2, from, 2);
        return narrow2;
    case 4:
        memcpy(&narrow4, from, 4);
        return narrow4;
    default:
        memcpy(&container, from, 8);
        return container;
    }
}

static void *grown(void *memory, size_t bytes)
{
    void *more = realloc(memory, bytes);
    if (!more) {
        puts("out of memory");
        exit(1);
    }
    return more;
}

static void push(struct filling *to, uint64_t code)
{
    struct pool *pool = to->pool;
    if (pool->count == to->capacity) {
        to->capacity = to->capacity ? 2 * to->capacity : 4096;
        pool->code = grown(pool->code, to->capacity * sizeof *pool->code);
    }
    pool->code[pool->count++] = code & dti_low_bits(pool->format.width);
}

/* A code, its neighbours, two codes a random power of two away, and their negatives. */
static void push_around(struct filling *to, uint64_t code)
{
    const uint64_t sign = dti_format_sign_bit(&to->pool->format);
    const uint64_t far = UINT64_C(1) << check_below(to->check, to->pool->format.width);
    const uint64_t near[] = {code - 1, code, code + 1, code + far, code - far};
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        push(to, near[i]);
        if (sign)
            push(to,
                 to->pool->format.kind == DTI_KIND_INT ? UINT64_C(0) - near[i] : near[i] ^ sign);
    }
}

static void push_value(struct filling *to, const struct dti_value *value)
{
    const struct dti_policy policy = {.round = DTI_ROUND_ZERO};
    struct dti_outcome outcome;
    dti_encode(&to->pool->format, value, &policy, 0, &outcome);
    push_around(to, outcome.code);
}

/* A number of the destination, and the midpoint to the next one away from zero. */
static void push_code_of(struct filling *to, const struct dti_format *dst, uint64_t code)
{
    struct dti_value value, middle;
    dti_decode(dst, code, &value);
    push_value(to, &value);
    const int32_t half = dti_format_step_exponent(dst, &value) - 1;
    if (value.kind == DTI_CLASS_ZERO) {
        dti_value_set(&middle, false, 1, half);
        push_value(to, &middle);
    } else if (value.kind == DTI_CLASS_FINITE && value.exponent - half <= 63) {
        middle = value;
        middle.hi |= UINT64_C(1) << (63 - (value.exponent - half));
        push_value(to, &middle);
    }
}

static void push_float_destination(struct filling *to, const struct dti_format *dst)
{
    uint64_t max = 0, normal = 0;
    (void)dti_code_max(dst, &max);
    (void)dti_code_smallest_normal(dst, &normal);
    if (max <= 512) {
        for (uint64_t code = 0; code <= max; code++)
            push_code_of(to, dst, code);
        return;
    }
    for (uint64_t i = 0; i <= NEAR; i++) {
        push_code_of(to, dst, i);
        push_code_of(to, dst, max - i);
        push_code_of(to, dst, normal + i);
        if (normal > i)
            push_code_of(to, dst, normal - i);
    }
    for (int i = 0; i < CODES_SAMPLED; i++) {
        uint64_t code = check_random(to->check) % max;
        if (i % 4 == 0) /* the last code of a binade */
            code |= dti_low_bits(dst->man_bits);
        if (code <= max)
            push_code_of(to, dst, code);
    }
}

/* Halves near small numbers, near the limits and near powers of two. */
static void push_integer_destination(struct filling *to, const struct dti_format *dst)
{
    struct dti_value value;
    const unsigned top = dst->kind == DTI_KIND_INT ? dst->width - 1u : dst->width;
    for (uint64_t twice = 0; twice < 24; twice++) {
        dti_value_set(&value, false, twice, -1);
        push_value(to, &value);
    }
    for (unsigned power = 0; power <= top && power <= 61; power++) {
        const uint64_t twice = UINT64_C(2) << power;
        for (uint64_t i = 0; i < 9; i++) {
            if (twice + i < 4)
                continue;
            dti_value_set(&value, false, twice + i - 4, -1);
            push_value(to, &value);
        }
    }
}

static void push_float_source(struct filling *to, const struct dti_format *src)
{
    const uint64_t fields = dti_low_bits(src->exp_bits), fraction = dti_low_bits(src->man_bits);
    const uint64_t step = fields > 300 ? fields / 150 : 1;
    for (uint64_t field = 0; field <= fields; field += field + 6 > fields || field < 6 ? 1 : step) {
        const uint64_t base = field << src->man_bits;
        push_around(to, base);
        push_around(to, base | fraction);
        push_around(to, base | (fraction ^ fraction >> 1));
        push(to, base | (check_random(to->check) & fraction));
    }
    for (unsigned bit = 0; bit < src->man_bits; bit++) /* subnormals; NaN payloads */
        for (int i = 0; i < 2; i++) {
            push_around(to, UINT64_C(1) << bit);
            push_around(to, fields << src->man_bits | UINT64_C(1) << bit);
            push_around(to, fields << src->man_bits | (check_random(to->check) & fraction));
        }
}

static void push_integer_source(struct filling *to, const struct dti_format *src)
{
    for (unsigned bit = 0; bit < src->width; bit++) {
        push_around(to, UINT64_C(1) << bit);
        push_around(to, (UINT64_C(3) << bit) - 1);
        for (int i = 0; i < 6; i++)
            push_around(to, check_random(to->check) >> bit);
    }
}

static void fill(struct filling *to, const struct dti_format *dst)
{
    const struct dti_format *src = &to->pool->format;
    if (src->width <= 16) {
        for (uint64_t code = 0; code <= dti_low_bits(src->width); code++)
            push(to, code);
    } else {
        if (dti_format_is_float(src))
            push_float_source(to, src);
        else
            push_integer_source(to, src);
        if (dti_format_is_float(dst))
            push_float_destination(to, dst);
        else
            push_integer_destination(to, dst);
        for (int i = 0; i < 500; i++)
            push(to, check_random(to->check));
    }
    while (to->pool->count % 8 != 0 || to->pool->count < DTI_TILE + 8) /* pad small pools */
        push(to, to->pool->code[check_below(to->check, to->pool->count)]);
}

static bool same_format(const struct dti_format *a, const struct dti_format *b)
{
    return strcmp(a->name, b->name) == 0;
}

const struct pool *pool_get(struct check *check, const struct dti_format *src,
                            const struct dti_format *dst)
{
    static struct {
        struct pool pool;
        struct dti_format dst;
    } kept[POOLS];
    static size_t turn;
    const bool any_dst = src->width <= 16; /* the pool is then independent of dst */
    for (size_t i = 0; i < POOLS; i++)
        if (kept[i].pool.count && same_format(&kept[i].pool.format, src) &&
            (any_dst || same_format(&kept[i].dst, dst)))
            return &kept[i].pool;
    struct pool *pool = &kept[turn].pool;
    kept[turn].dst = *dst;
    turn = (turn + 1) % POOLS;
    free(pool->code);
    free(pool->value);
    *pool = (struct pool){.format = *src};
    struct filling filling = {.pool = pool, .check = check};
    fill(&filling, dst);
    pool->value = grown(NULL, pool->count * sizeof *pool->value);
    for (size_t i = 0; i < pool->count; i++)
        dti_decode(src, pool->code[i], &pool->value[i]);
    return pool;
}
