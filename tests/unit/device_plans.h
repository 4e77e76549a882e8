/* SPDX-License-Identifier: MIT
 *
 * For tests that run plans on a device, usually the fake one: compares a plan with a runner to one
 * without. Both must give the same bytes and losses. */
#ifndef DTINFO_TESTS_DEVICE_PLANS_H
#define DTINFO_TESTS_DEVICE_PLANS_H

#include <stdlib.h>

#include "convert/runner.h"
#include "unit.h"

static struct dti_error error;

static inline struct dti_runner *runner_new(enum dti_device_kind kind, unsigned number)
{
    const struct dti_device_choice choice = {.kind = kind, .number = number};
    struct dti_runner *runner = NULL;
    if (!CHECK(dti_runner_open(&runner, &choice, &error) == DTI_OK)) {
        printf("  %s\n", error.text);
        exit(1);
    }
    return runner;
}

static inline struct dti_request request_of(enum dti_dtype src, enum dti_dtype dst)
{
    const struct dti_layout low = {.packing = DTI_PACKING_LOW};
    return (struct dti_request){.src = *dti_format_get(src),
                                .src_layout = low,
                                .dst_layout = low,
                                .cast = {.dst = *dti_format_get(dst)}};
}

static uint64_t random_state = 1;

static inline uint64_t next_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state ^ random_state >> 29;
}

/* Random codes, or numbers of ordinary magnitude. */
static inline uint64_t random_code(const struct dti_format *format)
{
    const struct dti_policy odd = {.round = DTI_ROUND_ODD};
    const uint64_t bits = next_random();
    struct dti_value value;
    struct dti_outcome outcome;
    if (bits >> 62 == 0)
        return bits & dti_low_bits(format->width);
    dti_value_set(&value, bits & 1, next_random() >> (bits >> 8 & 31), -(int64_t)(bits >> 16 & 63));
    dti_encode(format, &value, &odd, 0, &outcome);
    return outcome.code;
}

/* Random elements. Some unused bits next to the codes are set, and all bits after the last code. */
static inline unsigned char *source_new(const struct dti_request *request, size_t n)
{
    const struct dti_format *const format = &request->src;
    const size_t size = dti_format_container(format);
    const bool fills = dti_format_stored_bits(format, &request->src_layout) == format->width;
    unsigned char *const src = malloc(8 * n + 8);
    if (!src)
        exit(1);
    memset(src, 0xff, 8 * n + 8);
    for (size_t i = 0; i < n; i++) {
        dti_storage_put(format, &request->src_layout, src, i, random_code(format));
        if (!fills && i % 5 == 0)
            src[i * size] |= dti_format_code_shift(format) > 0 ? 1 : 0x80;
    }
    return src;
}

static inline bool same_number(double a, double b)
{
    return !(a < b) && !(a > b);
}

static inline bool same_loss(const struct dti_loss *a, const struct dti_loss *b)
{
    return a->elements == b->elements && a->inexact == b->inexact &&
           a->overflowed == b->overflowed && a->to_zero == b->to_zero &&
           a->to_subnormal == b->to_subnormal && a->nan_in == b->nan_in && a->inf_in == b->inf_in &&
           a->no_code == b->no_code && a->stray == b->stray && a->compared == b->compared &&
           a->max_index == b->max_index && a->first_no_code == b->first_no_code &&
           a->flags == b->flags && same_number(a->max_absolute, b->max_absolute) &&
           same_number(a->max_relative, b->max_relative) &&
           same_number(dti_loss_mean_absolute(a), dti_loss_mean_absolute(b)) &&
           same_number(dti_loss_root_mean_square(a), dti_loss_root_mean_square(b)) &&
           same_number(dti_loss_sqnr_db(a), dti_loss_sqnr_db(b));
}

/* Runs a plan once and adds its loss to *loss. The caller frees the result. Checks the guard byte
 * 0xa5 after the result. */
static inline unsigned char *run_plan(const struct dti_plan *plan, struct dti_team *team,
                                      const unsigned char *src, size_t n, uint64_t index,
                                      struct dti_loss *loss, enum dti_status *ret_status)
{
    uint64_t bytes = 0;
    CHECK(dti_plan_dst_bytes(plan, n, &bytes));
    unsigned char *const dst = malloc((size_t)bytes + 1);
    if (!dst)
        exit(1);
    memset(dst, 0xa5, (size_t)bytes + 1);
    *ret_status =
        dti_plan_run_team(plan, team, dst, src, n, index, DTI_STORES_CACHED, loss, &error);
    CHECK(dst[bytes] == 0xa5);
    return dst;
}

enum { WITHOUT_LOSS = 1, WITH_LOSS = 2 };

/* Runs n random elements in the given ways. */
static inline bool check_ways(unsigned ways, const struct dti_request *request,
                              struct dti_runner *runner, struct dti_team *team, size_t n,
                              uint64_t index)
{
    struct dti_plan *plain = NULL, *plan = NULL;
    const char *why = NULL;
    uint64_t bytes = 0;
    unsigned char *const src = source_new(request, n);
    bool ok = CHECK(dti_plan_new(&plain, request, DTI_LEVEL_SCALAR, &error) == DTI_OK) &&
              CHECK(dti_plan_new(&plan, request, DTI_LEVEL_SCALAR, &error) == DTI_OK) &&
              CHECK(dti_plan_set_runner(plan, runner, &why, &error) == DTI_OK) &&
              CHECK(dti_plan_dst_bytes(plan, n, &bytes));
    for (int way = 0; way < 2 && ok; way++) {
        if ((ways >> way & 1) == 0)
            continue;
        struct dti_loss want_loss, loss;
        enum dti_status want_status, status;
        dti_loss_init(&want_loss);
        dti_loss_init(&loss);
        unsigned char *const want =
            run_plan(plain, NULL, src, n, index, way ? &want_loss : NULL, &want_status);
        unsigned char *const got = run_plan(plan, team, src, n, index, way ? &loss : NULL, &status);
        ok = CHECK(status == DTI_OK && want_status == DTI_OK) &&
             CHECK(memcmp(got, want, (size_t)bytes) == 0) && CHECK(same_loss(&loss, &want_loss));
        free(want);
        free(got);
    }
    if (!ok) {
        char text[DTI_PLAN_TEXT_SIZE];
        printf("  %s to %s, round %d, overflow %d, %zu elements: %s; %s\n", request->src.name,
               request->cast.dst.name, (int)request->cast.policy.round,
               (int)request->cast.policy.overflow, n,
               plan ? dti_plan_describe_device(plan, text) : "no plan", error.text);
    }
    dti_plan_free(plan);
    dti_plan_free(plain);
    free(src);
    return ok;
}

static inline bool check_on_device(const struct dti_request *request, struct dti_runner *runner,
                                   struct dti_team *team, size_t n, uint64_t index)
{
    return check_ways(WITHOUT_LOSS | WITH_LOSS, request, runner, team, n, index);
}

#endif
