/* SPDX-License-Identifier: MIT
 *
 * Compares plans with dti_reference_run(): same bytes, same losses, for every pair of dtypes,
 * policy, layout, route and team. */
#include "convert/plan.h"

#include <stdlib.h>

#include "unit.h"

enum { ELEMENTS_MAX = 3 * DTI_TILE, BYTES_MAX = 8 * ELEMENTS_MAX + 64, GUARD = 0xa5 };

static const struct dti_layout low = {.packing = DTI_PACKING_LOW};

static struct dti_request request_of(enum dti_dtype src, enum dti_dtype dst)
{
    return (struct dti_request){.src = *dti_format_get(src),
                                .src_layout = low,
                                .dst_layout = low,
                                .cast = {.dst = *dti_format_get(dst)}};
}

static enum dti_level highest_level(void)
{
    enum dti_level level = DTI_LEVEL_SCALAR;
    CHECK(dti_level_choose(NULL, &level, NULL) == DTI_OK);
    return level;
}

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state ^ random_state >> 29;
}

/* Random codes, numbers of ordinary magnitude, and numbers near a rounding tie. */
static uint64_t random_code(const struct dti_format *format)
{
    const uint64_t bits = next_random();
    const struct dti_policy odd = {.round = DTI_ROUND_ODD};
    struct dti_value value;
    struct dti_outcome outcome;
    switch (bits >> 60) {
    case 0:
    case 1:
    case 2:
        return bits & dti_low_bits(format->width);
    case 3: /* near a tie */
        dti_value_set(&value, bits & 1, (next_random() >> 52 << 16) + (bits >> 8 & 3) - 1, -24);
        break;
    case 4:
        dti_value_set(&value, bits & 1, next_random(), (int64_t)(bits >> 8 & 127) - 128);
        break;
    default:
        dti_value_set(&value, bits & 1, next_random() >> (bits >> 8 & 31), -60);
        break;
    }
    dti_encode(format, &value, &odd, 0, &outcome);
    return outcome.code;
}

static void fill(void *array, const struct dti_format *format, const struct dti_layout *layout,
                 size_t n)
{
    for (size_t i = 0; i < n; i++)
        dti_storage_put(format, layout, array, i, random_code(format));
}

/* NaN equals NaN: a mean of squares that overflows fp64. */
static bool same(double a, double b)
{
    return !(a < b) && !(a > b);
}

static bool same_loss(const struct dti_loss *a, const struct dti_loss *b)
{
    return a->elements == b->elements && a->inexact == b->inexact &&
           a->overflowed == b->overflowed && a->to_zero == b->to_zero &&
           a->to_subnormal == b->to_subnormal && a->nan_in == b->nan_in && a->inf_in == b->inf_in &&
           a->no_code == b->no_code && a->stray == b->stray && a->compared == b->compared &&
           a->max_index == b->max_index && a->first_no_code == b->first_no_code &&
           memcmp(&a->max_absolute, &b->max_absolute, sizeof(double)) == 0 &&
           memcmp(&a->max_relative, &b->max_relative, sizeof(double)) == 0 &&
           same(dti_loss_mean_absolute(a), dti_loss_mean_absolute(b)) &&
           same(dti_loss_root_mean_square(a), dti_loss_root_mean_square(b));
}

static unsigned char source_memory[BYTES_MAX], wanted[BYTES_MAX], got[BYTES_MAX];

static void tell(const struct dti_request *request, const struct dti_plan *plan, const char *what)
{
    char text[DTI_PLAN_TEXT_SIZE];
    printf("  %s to %s, round %d, overflow %d, nan %d, via %zu, rule %s: %s\n  %s\n",
           request->src.name, request->cast.dst.name, (int)request->cast.policy.round,
           (int)request->cast.policy.overflow, (int)request->cast.policy.nan,
           request->cast.via_count, request->rule ? dti_stack_name(request->rule->stack) : "none",
           what, dti_plan_describe(plan, text));
}

/* Runs one plan over n random elements, `skew` bytes off alignment; false on a difference. */
static bool check_plan(const struct dti_request *request, enum dti_level level, size_t n,
                       uint64_t index, size_t skew)
{
    unsigned char *const src = source_memory + skew, *const dst = got + skew;
    struct dti_plan *plan = NULL;
    struct dti_loss want_loss;
    struct dti_error error;
    uint64_t bytes = 0;
    enum dti_status status;
    if (!CHECK(dti_plan_new(&plan, request, level, &error) == DTI_OK))
        return false;
    memset(source_memory, 0, sizeof source_memory);
    fill(src, &request->src, &request->src_layout, n);
    dti_loss_init(&want_loss);
    const enum dti_status want =
        dti_reference_run(request, wanted, src, n, index, &want_loss, &error);
    bool ok = CHECK(dti_plan_dst_bytes(plan, n, &bytes));
    for (int way = 0; ok && way < 4; way++) {
        const enum dti_stores stores = way % 2 == 0 ? DTI_STORES_CACHED : DTI_STORES_STREAMED;
        struct dti_loss loss;
        dti_loss_init(&loss);
        memset(got, GUARD, sizeof got);
        status = dti_plan_run(plan, dst, src, n, index, stores, way < 2 ? NULL : &loss, &error);
        ok = CHECK(status == want);
        if (want == DTI_OK) {
            ok = ok && CHECK(memcmp(dst, wanted, (size_t)bytes) == 0);
            ok = CHECK(dst[bytes] == GUARD) && ok;
            ok = ok && (way < 2 || CHECK(same_loss(&loss, &want_loss)));
        }
        if (!ok)
            tell(request, plan, way < 2 ? "without loss" : "with loss");
    }
    dti_plan_free(plan);
    return ok;
}

static bool check_levels(const struct dti_request *request, size_t n, uint64_t index, size_t skew)
{
    const enum dti_level highest = highest_level();
    return check_plan(request, highest, n, index, skew) &&
           (highest == DTI_LEVEL_SCALAR || check_plan(request, DTI_LEVEL_SCALAR, n, index, skew));
}

static bool is_castable(unsigned dtype)
{
    return dti_format_get((enum dti_dtype)dtype)->kind != DTI_KIND_COMPLEX;
}

static void every_pair_of_dtypes_is_cast_as_the_reference_does(void)
{
    for (unsigned src = 0; src < DTI_DTYPE_COUNT; src++) {
        for (unsigned dst = 0; dst < DTI_DTYPE_COUNT; dst++) {
            const struct dti_request request = request_of((enum dti_dtype)src, (enum dti_dtype)dst);
            if (!is_castable(src) || !is_castable(dst) ||
                (unit_quick() && (src * 5 + dst) % (8 * unit_each(3)) != 0))
                continue;
            if (!check_levels(&request, 131, 0, 0))
                return;
        }
    }
}

/* Formats of every kind of hub, and parsed formats that need no hub or have no kernel. */
static const char *const some[] = {
    "fp64",     "fp32",     "tf32",        "fp16",   "bf16",   "fp8_e4m3fn", "fp8_e5m2",
    "fp8_e8m0", "fp4_e2m1", "binary8p3se", "int64",  "uint64", "int32",      "uint8",
    "int4",     "bool",     "e6m9",        "e15m48", "e5m6",   "e2m2",       "e8m23b126"};
enum { SOME = sizeof some / sizeof some[0] };

static struct dti_format format_of(const char *name)
{
    struct dti_format format = {.name = ""};
    CHECK(dti_format_lookup(name, &format, NULL, NULL) == DTI_OK);
    return format;
}

static struct dti_request random_request(void)
{
    struct dti_request request = request_of(DTI_FP32, DTI_FP32);
    const uint64_t bits = next_random() >> 8;
    request.src = format_of(some[(next_random() >> 20) % SOME]);
    request.cast.dst = format_of(some[(next_random() >> 20) % SOME]);
    request.cast.policy.round = (enum dti_round)((bits & 0xff) % (DTI_ROUND_STOCHASTIC + 1u));
    request.cast.policy.overflow = (enum dti_overflow)(bits >> 8 & 3);
    request.cast.policy.nan = (enum dti_nan)(bits >> 10 & 1);
    request.cast.round_given = bits >> 11 & 1;
    request.cast.policy.seed = bits >> 12;
    request.src_layout.packing = (enum dti_packing)((bits >> 13 & 0xff) % 3);
    request.dst_layout.packing = (enum dti_packing)((bits >> 21 & 0xff) % 3);
    request.src_layout.swapped = bits >> 29 & 1;
    request.dst_layout.swapped = bits >> 30 & 1;
    request.cast.policy.stream = bits >> 31 & 1;
    if ((bits >> 32 & 3) == 0) {
        request.cast.via_count = 1 + (bits >> 34) % DTI_VIA_MAX;
        for (size_t i = 0; i < request.cast.via_count; i++)
            request.cast.via[i] = format_of(some[(next_random() >> 20) % SOME]);
    }
    return request;
}

static void policies_layouts_and_routes_follow_the_reference(void)
{
    const unsigned count = (unit_quick() ? 1000 : 6000) / unit_each(3);
    for (unsigned i = 0; i < count; i++) {
        const struct dti_request request = random_request();
        const uint64_t bits = next_random() >> 16;
        if (!check_levels(&request, (bits & 0xfff) % 300, DTI_TILE * (bits >> 20 & 7),
                          bits >> 24 & 7))
            return;
    }
}

static void long_runs_follow_the_reference(void)
{
    for (unsigned i = 0; i < 60 / unit_each(3); i++) {
        const struct dti_request request = random_request();
        const uint64_t bits = next_random() >> 16;
        if (!check_levels(&request, 2 * DTI_TILE + (bits & 0x7ff), DTI_TILE * (bits >> 20 & 7),
                          bits >> 24 & 7))
            return;
    }
}

static void other_stacks_follow_their_rules(void)
{
    for (size_t r = 0; r < dti_stack_rule_count; r++) {
        for (unsigned dst = 0; dst < DTI_DTYPE_COUNT; dst++) {
            const struct dti_stack_rule *const rule = &dti_stack_rules[r];
            if (dti_stack_find(rule->stack, dti_format_get((enum dti_dtype)dst)) != rule)
                continue;
            for (size_t s = 0; s < SOME; s += unit_quick() ? 5 : 1) {
                struct dti_request request = request_of(DTI_FP32, (enum dti_dtype)dst);
                request.src = format_of(some[s]);
                request.rule = rule;
                if (!check_plan(&request, highest_level(), 77, 0, 0))
                    return;
            }
        }
    }
}

static void a_team_of_any_size_gives_the_same(void)
{
    static const enum dti_dtype pairs[][2] = {
        {DTI_FP32, DTI_BF16}, {DTI_BF16, DTI_FP4_E2M1}, {DTI_INT64, DTI_FP16}};
    const size_t n = (size_t)(300 / unit_each(3)) * DTI_TILE + 999;
    unsigned char *const src = malloc(n * 8), *const one = malloc(n * 8),
                         *const many = malloc(n * 8);
    for (size_t p = 0; p < 3 && CHECK(src && one && many); p++) {
        struct dti_request request = request_of(pairs[p][0], pairs[p][1]);
        struct dti_plan *plan = NULL;
        struct dti_loss loss_one, loss_many;
        uint64_t bytes = 0;
        request.cast.policy.round = DTI_ROUND_STOCHASTIC;
        fill(src, &request.src, &low, n);
        if (!CHECK(dti_plan_new(&plan, &request, highest_level(), NULL) == DTI_OK))
            break;
        CHECK(dti_plan_dst_bytes(plan, n, &bytes));
        dti_loss_init(&loss_one);
        dti_plan_run_team(plan, NULL, one, src, n, DTI_TILE, DTI_STORES_AUTO, &loss_one, NULL);
        for (size_t threads = 1; threads <= 7; threads += 2) {
            struct dti_team *team = NULL;
            if (!CHECK(dti_team_new(&team, threads, DTI_WAIT_SLEEP, false, NULL) == DTI_OK))
                break;
            memset(many, GUARD, n * 8);
            dti_loss_init(&loss_many);
            CHECK(dti_plan_run_team(plan, team, many, src, n, DTI_TILE, DTI_STORES_AUTO, &loss_many,
                                    NULL) == DTI_OK);
            CHECK(memcmp(one, many, (size_t)bytes) == 0);
            CHECK(bytes == n * 8 || many[bytes] == GUARD);
            CHECK(same_loss(&loss_one, &loss_many));
            CHECK_U64(loss_many.elements, n);
            dti_team_free(team);
        }
        dti_plan_free(plan);
    }
    free(src);
    free(one);
    free(many);
}

static void the_first_unknown_answer_wins_in_a_team(void)
{
    struct dti_request request = request_of(DTI_FP32, DTI_INT8);
    const size_t n = 200 * DTI_TILE;
    float *const numbers = calloc(n, sizeof *numbers);
    signed char *const stored = malloc(n);
    struct dti_plan *plan = NULL;
    struct dti_team *team = NULL;
    struct dti_error error = {.text = ""};
    request.rule = dti_stack_find(DTI_STACK_NUMPY, &request.cast.dst);
    if (CHECK(numbers && stored) &&
        CHECK(dti_plan_new(&plan, &request, highest_level(), NULL) == DTI_OK) &&
        CHECK(dti_team_new(&team, 4, DTI_WAIT_SLEEP, false, NULL) == DTI_OK)) {
        numbers[n - 1] = numbers[n / 2] = numbers[70000] = 1000;
        CHECK(dti_plan_run_team(plan, team, stored, numbers, n, 0, DTI_STORES_CACHED, NULL,
                                &error) == DTI_NOT_REPRESENTABLE);
        CHECK(strncmp(error.text, "element 70000, 1000: ", 21) == 0);
    }
    dti_team_free(team);
    dti_plan_free(plan);
    free(numbers);
    free(stored);
}

static void nothing_is_nothing(void)
{
    const struct dti_request request = request_of(DTI_FP16, DTI_FP8_E4M3FN);
    CHECK(check_plan(&request, highest_level(), 0, 0, 0));
}

UNIT_MAIN(every_pair_of_dtypes_is_cast_as_the_reference_does,
          policies_layouts_and_routes_follow_the_reference, long_runs_follow_the_reference,
          other_stacks_follow_their_rules, a_team_of_any_size_gives_the_same,
          the_first_unknown_answer_wins_in_a_team, nothing_is_nothing)
