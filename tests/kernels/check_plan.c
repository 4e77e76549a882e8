/* SPDX-License-Identifier: MIT
 *
 * Compares whole plans with dti_reference_run(): the same bytes and the same loss at every level,
 * for any team, chunk size and layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "convert/plan.h"

enum {
    COUNT_MAX = 4 * DTI_TILE + 77,
    COUNT_LARGE = 70 * DTI_TILE + 5, /* every team member gets a part */
    BYTES_MAX = COUNT_LARGE * 8,
    GUARD = 64,
    TEAMS = 3,
};

/* One cast of one array, and the reference result. */
struct shot {
    struct check *check;
    struct dti_request request;
    size_t n;
    uint64_t index;
    size_t src_bytes, dst_bytes;
    bool with_loss;
    enum dti_status status;
    struct dti_loss loss;
};

static uint8_t source[BYTES_MAX], wanted[BYTES_MAX], result[BYTES_MAX + 2 * GUARD];
static struct dti_team *teams[TEAMS];

static const char *shot_text(const struct shot *shot)
{
    static const char *const packings[] = {"low", "high", "bytes"};
    static char text[400];
    const struct dti_request *rq = &shot->request;
    int length =
        snprintf(text, sizeof text, "%s (%s%s)", rq->src.name, packings[rq->src_layout.packing],
                 rq->src_layout.swapped ? " swapped" : "");
    for (size_t i = 0; i < rq->cast.via_count; i++)
        length +=
            snprintf(text + length, sizeof text - (size_t)length, " -> %s", rq->cast.via[i].name);
    snprintf(text + length, sizeof text - (size_t)length, " -> %s (%s%s) %s%s%s%s, n %zu at %llu",
             rq->cast.dst.name, packings[rq->dst_layout.packing],
             rq->dst_layout.swapped ? " swapped" : "", check_policy_text(&rq->cast.policy),
             rq->cast.round_given ? ", rounding given" : "", rq->rule ? ", like " : "",
             rq->rule ? dti_stack_name(rq->rule->stack) : "", shot->n,
             (unsigned long long)shot->index);
    return text;
}

/* Runs the plan in pieces that start at multiples of the tile, in order. */
static enum dti_status run_pieces(const struct shot *shot, const struct dti_plan *plan,
                                  uint8_t *dst, struct dti_loss *loss)
{
    enum dti_status status = DTI_OK;
    for (size_t at = 0; at < shot->n && status == DTI_OK;) {
        uint64_t src_at = 0, dst_at = 0;
        size_t n = DTI_TILE * (1 + check_below(shot->check, 2));
        if (n > shot->n - at)
            n = shot->n - at;
        (void)dti_plan_src_bytes(plan, at, &src_at);
        (void)dti_plan_dst_bytes(plan, at, &dst_at);
        const enum dti_stores stores = (enum dti_stores)check_below(shot->check, 3);
        status = dti_plan_run(plan, dst + dst_at, source + src_at, n, shot->index + at, stores,
                              loss, NULL);
        at += n;
    }
    return status;
}

static bool judge(const struct shot *shot, const char *how, enum dti_status status, uint8_t poison,
                  const uint8_t *dst, const struct dti_loss *loss)
{
    char what[700];
    struct check *check = shot->check;
    snprintf(what, sizeof what, "%s, %s", shot_text(shot), how);
    check->arrays++;
    if (status != shot->status) {
        check_fail(check, "%s: status %d, not %d", what, (int)status, (int)shot->status);
        return false;
    }
    for (size_t i = 1; i <= GUARD; i++) {
        if (dst[-(ptrdiff_t)i] != poison || dst[shot->dst_bytes + i - 1] != poison) {
            check_fail(check, "%s: writes outside its result", what);
            return false;
        }
    }
    if (status != DTI_OK)
        return true;
    for (size_t i = 0; i < shot->dst_bytes; i++) {
        if (dst[i] != wanted[i]) {
            check_fail(check, "%s: byte %zu of %zu is 0x%02x, not 0x%02x", what, i, shot->dst_bytes,
                       (unsigned)dst[i], (unsigned)wanted[i]);
            return false;
        }
    }
    return !shot->with_loss || same_loss(check, loss, &shot->loss, what);
}

static bool check_level(const struct shot *shot, enum dti_level level)
{
    struct check *check = shot->check;
    struct dti_plan *plan = NULL;
    struct dti_error error;
    char text[DTI_PLAN_TEXT_SIZE], how[DTI_PLAN_TEXT_SIZE + 64];
    uint64_t bytes = 0;
    bool passed = true;
    if (dti_plan_new(&plan, &shot->request, level, &error) != DTI_OK) {
        check_fail(check, "%s at level %s: no plan", shot_text(shot), dti_level_name(level));
        return false;
    }
    if (!dti_plan_dst_bytes(plan, shot->n, &bytes) || bytes != shot->dst_bytes) {
        check_fail(check, "%s: the plan says %llu bytes, not %zu", shot_text(shot),
                   (unsigned long long)bytes, shot->dst_bytes);
        passed = false;
    }
    for (unsigned turn = 0; turn < 3 && passed; turn++) { /* whole, in pieces, with a team */
        const size_t team = check_below(check, TEAMS);
        struct dti_loss loss, *into = shot->with_loss ? &loss : NULL;
        uint8_t *dst = result + GUARD;
        enum dti_status status;
        const uint8_t poison = (uint8_t)check_random(check);
        if (turn > 0 && check_below(check, 3) != 0 && check->effort != EFFORT_LONG)
            continue;
        memset(result, poison, shot->dst_bytes + 2 * GUARD);
        dti_loss_init(&loss);
        if (turn == 0)
            status = dti_plan_run(plan, dst, source, shot->n, shot->index, DTI_STORES_AUTO, into,
                                  &error);
        else if (turn == 1)
            status = run_pieces(shot, plan, dst, into);
        else
            status = dti_plan_run_team(plan, teams[team], dst, source, shot->n, shot->index,
                                       DTI_STORES_STREAMED, into, &error);
        snprintf(how, sizeof how, "%s, %s: %s", dti_level_name(level),
                 turn == 0   ? "whole"
                 : turn == 1 ? "in pieces"
                             : "by a team",
                 dti_plan_describe(plan, text));
        passed = judge(shot, how, status, poison, dst, &loss);
    }
    dti_plan_free(plan);
    return passed;
}

static size_t random_count(struct check *check)
{
    static const size_t counts[] = {
        0, 1, 2, 5, 8, 63, 300, DTI_TILE - 1, DTI_TILE, DTI_TILE + 1, 2 * DTI_TILE + 37, COUNT_MAX};
    const size_t kinds = sizeof counts / sizeof counts[0];
    if (check_below(check, 3) != 0) /* the reference is slow */
        return check_below(check, 400);
    if (check_below(check, 25) == 0)
        return COUNT_LARGE;
    return counts[check_below(check, kinds)];
}

static struct dti_layout random_layout(struct check *check)
{
    return (struct dti_layout){.packing = (enum dti_packing)check_below(check, 3),
                               .swapped = check_below(check, 4) == 0};
}

/* Fills the source. junk: also sets the unused bits of containers, which casts must ignore. */
static void fill_source(struct shot *shot, const struct pool *pool, bool junk)
{
    struct check *check = shot->check;
    const struct dti_format *src = &shot->request.src;
    const struct dti_layout *layout = &shot->request.src_layout;
    const size_t bytes = dti_format_container(src);
    const unsigned shift = dti_format_code_shift(src);
    const bool packed = dti_format_stored_bits(src, layout) < 8;
    size_t at = check_below(check, pool->count);
    memset(source, junk ? 0xff : 0, shot->src_bytes);
    for (size_t i = 0; i < shot->n; i++) {
        at = check_below(check, 8) == 0 ? check_below(check, pool->count) : (at + 1) % pool->count;
        if (packed || !junk) {
            dti_storage_put(src, layout, source, i, pool->code[at]);
            continue;
        }
        const uint64_t unused = ~(dti_low_bits(src->width) << shift);
        uint64_t container = pool->code[at] << shift | (check_random(check) & unused);
        uint8_t *to = source + i * bytes;
        put_container(to, bytes, 0, container);
        for (size_t b = 0; layout->swapped && b < bytes / 2; b++) {
            const uint8_t byte = to[b];
            to[b] = to[bytes - 1 - b];
            to[bytes - 1 - b] = byte;
        }
    }
}

static bool shoot(struct check *check, const struct dti_request *request)
{
    struct shot shot = {.check = check, .request = *request, .n = random_count(check)};
    const struct pool *pool = pool_get(check, &request->src, &request->cast.dst);
    uint64_t bytes = 0;
    shot.index = DTI_TILE * (check_random(check) >> (16 + check_below(check, 40)));
    shot.with_loss = check_below(check, 2) == 0;
    (void)dti_format_bytes(&request->src, &request->src_layout, shot.n, &bytes);
    shot.src_bytes = (size_t)bytes;
    (void)dti_format_bytes(&request->cast.dst, &request->dst_layout, shot.n, &bytes);
    shot.dst_bytes = (size_t)bytes;
    fill_source(&shot, pool, check_below(check, 4) == 0);
    memset(wanted, 0xee, shot.dst_bytes);
    dti_loss_init(&shot.loss);
    shot.status = dti_reference_run(request, wanted, source, shot.n, shot.index,
                                    shot.with_loss ? &shot.loss : NULL, NULL);
    check->told = 0;
    for (unsigned level = 0; level < DTI_LEVEL_COUNT; level++)
        if (dti_level_present((enum dti_level)level) && !check_level(&shot, (enum dti_level)level))
            return false;
    return true;
}

static bool start_teams(void)
{
    static const size_t sizes[TEAMS] = {1, 2, 7};
    for (size_t i = 0; i < TEAMS; i++)
        if (!teams[i] && dti_team_new(&teams[i], sizes[i], DTI_WAIT_SLEEP, false, NULL) != DTI_OK)
            return false;
    return true;
}

static void random_request(struct check *check, struct dti_request *ret)
{
    const struct dti_format *formats;
    const size_t count = check_formats(&formats);
    ret->src_layout = random_layout(check);
    ret->dst_layout = random_layout(check);
    ret->cast.policy = (struct dti_policy){
        .round = check_below(check, 3) == 0 ? DTI_ROUND_NEAREST_EVEN
                                            : (enum dti_round)check_below(check, ROUND_COUNT),
        .overflow = (enum dti_overflow)check_below(check, OVERFLOW_COUNT),
        .nan = check_below(check, 4) == 0 ? DTI_NAN_CANONICAL : DTI_NAN_QUIET,
        .seed = check_random(check),
        .stream = (uint32_t)check_below(check, 2)};
    ret->cast.round_given = check_below(check, 2) == 0;
    if (check_below(check, 8) == 0)
        ret->cast.via_count = 1 + check_below(check, DTI_VIA_MAX);
    for (size_t i = 0; i < ret->cast.via_count; i++)
        ret->cast.via[i] = formats[check_below(check, count)];
}

/* Every pair of rows of dtypes.def; then pairs with parsed formats. */
bool check_plans(struct check *check)
{
    const struct dti_format *formats;
    const size_t count = check_formats(&formats), named = check_named_formats();
    const size_t turns = check->effort == EFFORT_LONG ? 60 : check->effort == EFFORT_PUSH ? 3 : 1;
    const size_t pairs = named * named, others = pairs / 4;
    size_t failed = 0;
    if (!start_teams()) {
        check_fail(check, "no threads");
        return false;
    }
    for (size_t i = 0; i < (pairs + others) * turns && failed < 12; i++) {
        const size_t pair = i / turns;
        struct dti_request request = {.rule = NULL};
        if (check->effort == EFFORT_QUICK && check_below(check, 10) != 0)
            continue;
        random_request(check, &request);
        request.src = formats[pair < pairs ? pair / named : check_below(check, count)];
        request.cast.dst = formats[pair < pairs ? pair % named : check_below(check, count)];
        if (check_below(check, 30) == 0) {
            request.cast.dst = request.src; /* moves only */
            request.cast.policy.nan = DTI_NAN_QUIET;
        }
        failed += !shoot(check, &request);
    }
    return failed == 0;
}

bool check_rules(struct check *check)
{
    const size_t named = check_named_formats();
    const struct dti_format *formats;
    const size_t count = check_formats(&formats);
    size_t failed = 0;
    if (!start_teams()) {
        check_fail(check, "no threads");
        return false;
    }
    for (size_t s = 0; s < DTI_STACK_COUNT && failed < 12; s++) {
        for (size_t pair = 0; pair < named * count; pair++) {
            const size_t odds = check->effort == EFFORT_LONG   ? 1
                                : check->effort == EFFORT_PUSH ? 3
                                                               : 24;
            struct dti_request request = {.src = formats[pair / named]};
            request.cast.dst = formats[pair % named];
            request.rule = dti_stack_find((enum dti_stack)s, &request.cast.dst);
            if (!request.rule || check_below(check, odds) != 0)
                continue;
            request.src_layout = random_layout(check);
            request.dst_layout = random_layout(check);
            failed += !shoot(check, &request);
        }
    }
    return failed == 0;
}
