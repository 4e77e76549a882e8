/* SPDX-License-Identifier: MIT
 *
 * Compares loss kernels with the definition, dti_loss_add_values(): every member after every tile.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { TEXT_SIZE = 160, CHAIN = 6 };

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool same_sum(const struct dti_exact_sum *a, const struct dti_exact_sum *b)
{
    return same_double(dti_exact_sum_value(a), dti_exact_sum_value(b));
}

static void tell_double(struct check *check, const char *what, const char *member, double got,
                        double want)
{
    check_fail(check, "%s: %s is %a, not %a", what, member, got, want);
}

bool same_loss(struct check *check, const struct dti_loss *got, const struct dti_loss *want,
               const char *what)
{
    bool same = true;
#define MEMBER(name)                                                                              \
    if (got->name != want->name) {                                                                \
        check_fail(check, "%s: " #name " is %llu, not %llu", what, (unsigned long long)got->name, \
                   (unsigned long long)want->name);                                               \
        same = false;                                                                             \
    }
#define DOUBLE(name)                                            \
    if (!same_double(got->name, want->name)) {                  \
        tell_double(check, what, #name, got->name, want->name); \
        same = false;                                           \
    }
#define SUM(name)                                                        \
    if (!same_sum(&got->name, &want->name)) {                            \
        tell_double(check, what, #name, dti_exact_sum_value(&got->name), \
                    dti_exact_sum_value(&want->name));                   \
        same = false;                                                    \
    }
    MEMBER(elements)
    MEMBER(inexact)
    MEMBER(overflowed)
    MEMBER(to_zero)
    MEMBER(to_subnormal)
    MEMBER(nan_in)
    MEMBER(inf_in)
    MEMBER(no_code)
    MEMBER(stray)
    MEMBER(compared)
    DOUBLE(max_absolute)
    MEMBER(max_index)
    DOUBLE(max_relative)
    MEMBER(first_no_code)
    SUM(sum_absolute)
    SUM(sum_squared)
    SUM(sum_source_squared)
#undef MEMBER
#undef DOUBLE
#undef SUM
    check->arrays++;
    return same;
}

/* One tile: values, the codes stored for them, and the arrays passed to the kernel. */
struct tile {
    const struct dti_loss_kernel *row;
    const struct dti_loss_rule *rule;
    const void *source, *stored;
    size_t n;
    uint64_t index;
    struct dti_loss *loss;
};

static void run_tile(void *context)
{
    const struct tile *tile = context;
    tile->row->run(tile->rule, tile->source, tile->stored, tile->n, tile->index, tile->loss);
}

static uint64_t hub_code(const struct dti_loss_rule *rule, const struct dti_value *value,
                         uint64_t code)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_outcome outcome;
    if (rule->hub == DTI_LOSS_WIDE)
        return code;
    dti_encode(dti_format_get(rule->hub == DTI_LOSS_HUB32 ? DTI_FP32 : DTI_FP64), value, &policy, 0,
               &outcome);
    return outcome.code;
}

/* How a tile is filled: with values of ordinary arrays, or also with exceptional ones. */
enum mixture { MIXTURE_ALL, MIXTURE_FINITE, MIXTURE_EXACT, MIXTURE_ONE_ODD, MIXTURES };

static bool is_taken(struct check *check, enum mixture mixture, const struct dti_value *value,
                     const struct dti_outcome *outcome)
{
    const unsigned lost = DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID | DTI_FLAG_NO_NAN;
    const bool ordinary = value->kind < DTI_CLASS_INF && (outcome->flags & lost) == 0;
    if (mixture == MIXTURE_FINITE)
        return ordinary;
    if (mixture == MIXTURE_ONE_ODD)
        return ordinary || check_below(check, 200) == 0;
    return mixture == MIXTURE_ALL || (ordinary && (outcome->flags & DTI_FLAG_INEXACT) == 0);
}

static bool check_tile(struct check *check, struct tile *tile, const struct pool *pool,
                       enum mixture mixture, struct dti_loss *want, const char *what)
{
    static struct dti_value values[DTI_TILE];
    static uint64_t codes[DTI_TILE];
    const struct dti_loss_rule *rule = tile->rule;
    const size_t bytes = rule->hub == DTI_LOSS_HUB32 ? 4 : 8;
    uint8_t *source = edge_buffer(0, tile->n * bytes), *stored = edge_buffer(1, tile->n * bytes);
    for (size_t i = 0; i < tile->n; i++) {
        struct dti_outcome outcome;
        struct dti_value result;
        size_t at = 0;
        for (unsigned tries = 0; tries < 40; tries++) {
            at = check_below(check, pool->count);
            dti_encode(&rule->dst, &pool->value[at], &rule->policy, tile->index + i, &outcome);
            if (is_taken(check, mixture, &pool->value[at], &outcome))
                break;
        }
        values[i] = pool->value[at];
        codes[i] = outcome.code;
        dti_decode(&rule->dst, outcome.code, &result);
        put_container(source, bytes, i, hub_code(rule, &values[i], pool->code[at]));
        put_container(stored, bytes, i, hub_code(rule, &result, codes[i]));
    }
    tile->source = source;
    tile->stored = stored;
    dti_loss_add_values(rule, values, codes, tile->n, tile->index, want);
    if (touches_foreign_memory(run_tile, tile)) {
        check_fail(check, "%s: touches memory outside its arrays", what);
        return false;
    }
    return same_loss(check, tile->loss, want, what);
}

static bool check_pair(struct check *check, const struct dti_loss_kernel *row,
                       const struct dti_loss_rule *rule)
{
    static const uint64_t bases[] = {0, UINT64_C(1) << 32, UINT64_C(3) << 50};
    const struct pool *pool = pool_get(check, &rule->src, &rule->dst);
    struct dti_loss got, want;
    char what[TEXT_SIZE];
    const enum mixture mixture = (enum mixture)check_below(check, MIXTURES);
    uint64_t index = bases[check_below(check, 3)];
    dti_loss_init(&got);
    dti_loss_init(&want);
    for (unsigned i = 0; i < CHAIN; i++) {
        struct tile tile = {.row = row, .rule = rule, .n = DTI_TILE, .index = index, .loss = &got};
        if (i % 3 != 1)
            tile.n = check_below(check, i % 3 == 0 ? 300 : DTI_TILE + 1);
        snprintf(what, sizeof what, "%s %s -> %s %s, n %zu at %llu", row->name, rule->src.name,
                 rule->dst.name, check_policy_text(&rule->policy), tile.n,
                 (unsigned long long)index);
        if (!check_tile(check, &tile, pool, mixture, &want, what))
            return false;
        index += DTI_TILE;
    }
    return true;
}

bool check_loss_row(struct check *check, const struct dti_loss_kernel *row)
{
    const struct dti_format *formats;
    const size_t count = check_formats(&formats);
    const size_t wanted = check->effort == EFFORT_LONG   ? 20000
                          : check->effort == EFFORT_PUSH ? 500
                                                         : 60;
    size_t runs = 0;
    check->told = 0;
    for (size_t tries = 0; tries < 40 * wanted && runs < wanted; tries++) {
        const struct dti_policy policy = {.round = (enum dti_round)check_below(check, ROUND_COUNT),
                                          .overflow =
                                              (enum dti_overflow)check_below(check, OVERFLOW_COUNT),
                                          .nan = (enum dti_nan)check_below(check, 2),
                                          .seed = check_random(check)};
        struct dti_loss_rule rule;
        dti_loss_rule_init(&rule, &formats[check_below(check, count)],
                           &formats[check_below(check, count)], &policy);
        if (rule.hub != row->hub)
            continue;
        runs++;
        if (!check_pair(check, row, &rule))
            return false;
    }
    if (runs == 0)
        check_fail(check, "%s: no pair of formats has its hub", row->name);
    return runs > 0;
}
