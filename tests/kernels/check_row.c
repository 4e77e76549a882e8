/* SPDX-License-Identifier: MIT
 *
 * Checks a row of dti_kernels[] in everything that it claims to support: each format of its domain,
 * each rounding, overflow and NaN policy, and several first indices where they matter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* A quick run tries one in this many policies; sanitizer builds are much slower and try fewer. */
#ifndef QUICK_POLICIES
#define QUICK_POLICIES 10
#endif

enum { WORDS_MAX = TRIAL_BYTES_MAX / 8, TEXT_SIZE = 160 };

/* The first index of an array selects its random bits. The first index of a slice need not be
 * aligned. */
static const uint64_t indices[] = {
    0, 1, 2, 3, UINT32_MAX, (UINT64_C(1) << 35) - 5, UINT64_C(0x123456789abcdef)};
enum { INDICES = sizeof indices / sizeof indices[0] };

/* A source at the threshold of stochastic rounding: a number of dst plus a fraction of a step such
 * that fraction + random bits is 2^32 or 2^32 - 1. */
static uint64_t on_the_edge(const struct job *job, const struct pool *pool, uint64_t index)
{
    const struct dti_policy truncate = {.round = DTI_ROUND_ZERO};
    const uint32_t random = dti_random_bits(job->policy.seed, job->policy.stream, index);
    const uint64_t fraction =
        (UINT64_C(1) << 32) - random - (random == 0 ? 1 : index >> 2 & 1); /* below 1 */
    struct dti_outcome outcome;
    struct dti_value value;
    dti_encode(&job->dst, &pool->value[check_below(job->check, pool->count)], &truncate, 0,
               &outcome);
    dti_decode(&job->dst, outcome.code, &value);
    if (value.kind > DTI_CLASS_FINITE)
        dti_decode(&job->dst, 0, &value);
    const int32_t step = dti_format_step_exponent(&job->dst, &value);
    if (value.kind == DTI_CLASS_ZERO) {
        dti_value_set(&value, value.negative, fraction, step - 32);
    } else if (value.exponent - step <= 31) { /* the fraction's bits go below those of the number */
        value.hi |= fraction << (31 - (value.exponent - step));
    } else {
        const unsigned beyond = (unsigned)(value.exponent - step) - 31;
        value.hi |= beyond > 31 ? 0 : fraction >> beyond;
        value.lo |= fraction << (64 - beyond);
    }
    dti_encode(&job->src, &value, &truncate, 0, &outcome);
    return outcome.code;
}

bool check_job(const struct job *job)
{
    static uint8_t source[TRIAL_BYTES_MAX], wanted[TRIAL_BYTES_MAX];
    static char what[TEXT_SIZE];
    const struct pool *pool = pool_get(job->check, &job->src, &job->dst);
    const size_t src_bytes = dti_format_container(&job->src);
    const size_t dst_bytes = dti_format_container(&job->dst);
    size_t count = pool->count;
    if (count > TRIAL_BYTES_MAX / 8)
        count = TRIAL_BYTES_MAX / 8;
    for (size_t i = 0; i < count; i++) {
        struct dti_outcome outcome;
        struct dti_value value = pool->value[i];
        uint64_t code = pool->code[i];
        if (job->policy.round == DTI_ROUND_STOCHASTIC && check_below(job->check, 2) == 0) {
            code = on_the_edge(job, pool, job->args.index + i);
            dti_decode(&job->src, code, &value);
        }
        dti_encode(&job->dst, &value, &job->policy, job->args.index + i, &outcome);
        put_container(source, src_bytes, i, code << dti_format_code_shift(&job->src));
        put_container(wanted, dst_bytes, i, outcome.code << dti_format_code_shift(&job->dst));
    }
    snprintf(what, sizeof what, "%s -> %s %s", job->src.name, job->dst.name,
             check_policy_text(&job->policy));
    const struct trial trial = {.name = job->row->name,
                                .run = job->row->run,
                                .args = job->args,
                                .source = source,
                                .wanted = wanted,
                                .count = count,
                                .src_bits = (unsigned)src_bytes * 8,
                                .dst_bits = (unsigned)dst_bytes * 8,
                                .what = what};
    return trial_run(job->check, &trial, job->all_lengths);
}

bool check_job_indices(struct job *job)
{
    size_t runs = 1;
    if (job->policy.round == DTI_ROUND_STOCHASTIC)
        runs = job->check->effort == EFFORT_LONG ? INDICES : 2;
    const size_t first = check_below(job->check, INDICES);
    for (size_t i = 0; i < runs; i++) {
        job->args.index = indices[(first + i) % INDICES];
        if (!check_job(job))
            return false;
    }
    return true;
}

static bool is_integer_operation(enum dti_operation op)
{
    return op == DTI_OP_ENCODE_I64 || op == DTI_OP_ENCODE_U64;
}

static bool encodes(enum dti_operation op, const struct dti_format *dst)
{
    return is_integer_operation(op) ||
           (op == DTI_OP_ENCODE_HUB32 && dti_encoder_takes_hub32(dst)) ||
           (op == DTI_OP_ENCODE_HUB64 && dti_encoder_takes_hub64(dst));
}

static enum dti_dtype hub_of(enum dti_operation op)
{
    switch (op) {
    case DTI_OP_DECODE_HUB32:
    case DTI_OP_ENCODE_HUB32:
        return DTI_FP32;
    case DTI_OP_DECODE_I64:
    case DTI_OP_ENCODE_I64:
    case DTI_OP_ODD_I64_HUB64:
        return DTI_INT64;
    case DTI_OP_ENCODE_U64:
    case DTI_OP_ODD_U64_HUB64:
        return DTI_UINT64;
    default:
        return DTI_FP64;
    }
}

/* Whether this run includes a combination; a long run includes all. */
static bool is_sampled(struct check *check, const struct dti_policy *policy)
{
    if (check->effort == EFFORT_LONG)
        return true;
    if (check->effort == EFFORT_QUICK)
        return check_below(check, QUICK_POLICIES) == 0;
    /* NaN handling hardly depends on rounding */
    return policy->nan == DTI_NAN_QUIET || policy->round == DTI_ROUND_NEAREST_EVEN ||
           policy->round == DTI_ROUND_ZERO || check_below(check, 8) == 0;
}

static bool encode_policy(const struct dti_kernel *row, struct job *job, size_t *runs)
{
    struct dti_encoder encoder;
    dti_encoder_init(&encoder, &job->dst, &job->policy);
    job->args = (struct dti_kernel_args){.encoder = &encoder};
    if (!dti_kernel_fits(row, row->op, &job->args))
        return true;
    const bool first = *runs == 0 || job->check->effort == EFFORT_LONG;
    if (!first && !is_sampled(job->check, &job->policy))
        return true;
    job->all_lengths = first || check_below(job->check, 20) == 0;
    ++*runs;
    return check_job_indices(job);
}

static bool check_encode(struct check *check, const struct dti_kernel *row, size_t *runs)
{
    const struct dti_format *formats;
    const size_t count = check_formats(&formats);
    struct job job = {.check = check, .row = row, .src = *dti_format_get(hub_of(row->op))};
    for (size_t f = 0; f < count; f++) {
        if (!encodes(row->op, &formats[f]))
            continue;
        job.dst = formats[f];
        for (unsigned p = 0; p < ROUND_COUNT * OVERFLOW_COUNT * 2; p++) {
            job.policy =
                (struct dti_policy){.round = (enum dti_round)(p / 2 / OVERFLOW_COUNT),
                                    .overflow = (enum dti_overflow)(p / 2 % OVERFLOW_COUNT),
                                    .nan = (enum dti_nan)(p % 2),
                                    .seed = check_random(check),
                                    .stream = (uint32_t)check_below(check, 3)};
            if ((row->rounds >> job.policy.round & 1) != 0 &&
                (row->overflows >> job.policy.overflow & 1) != 0 && !encode_policy(row, &job, runs))
                return false;
        }
    }
    return true;
}

static bool decodes(enum dti_operation op, const struct dti_format *src)
{
    if (op == DTI_OP_DECODE_HUB32)
        return dti_format_fits_hub32(src);
    if (op == DTI_OP_DECODE_HUB64)
        return dti_format_fits_hub64(src);
    return dti_format_is_integer(src) && src->id != DTI_UINT64;
}

static bool check_decode(struct check *check, const struct dti_kernel *row, size_t *runs)
{
    const struct dti_format *formats;
    const size_t count = check_formats(&formats);
    struct job job = {.check = check, .row = row, .dst = *dti_format_get(hub_of(row->op))};
    for (size_t f = 0; f < count; f++) {
        struct dti_decoder decoder;
        if (!decodes(row->op, &formats[f]))
            continue;
        dti_decoder_init(&decoder, &formats[f]);
        job.src = formats[f];
        job.args = (struct dti_kernel_args){.decoder = &decoder};
        if (!dti_kernel_fits(row, row->op, &job.args))
            continue;
        job.all_lengths = true;
        ++*runs;
        if (!check_job(&job))
            return false;
    }
    return true;
}

static bool check_table(struct check *check, const struct dti_kernel *row, size_t *runs)
{
    static struct dti_code_table table;
    const struct dti_format *formats;
    const size_t count = check_formats(&formats);
    const size_t turns = check->effort == EFFORT_LONG ? 10 * OVERFLOW_COUNT : 2 * OVERFLOW_COUNT;
    struct job job = {.check = check, .row = row};
    for (size_t at = 0; at < count * count * turns; at++) {
        job.src = formats[at / turns / count];
        job.dst = formats[at / turns % count];
        job.policy =
            (struct dti_policy){.round = (enum dti_round)check_below(check, DTI_ROUND_STOCHASTIC),
                                .overflow = (enum dti_overflow)(at % OVERFLOW_COUNT),
                                .nan = (enum dti_nan)(at / OVERFLOW_COUNT % 2)};
        if (job.src.width > 8 || (check->effort == EFFORT_QUICK && check_below(check, 40) != 0))
            continue;
        dti_code_table_init(&table, &job.src, &job.dst, &job.policy);
        job.args = (struct dti_kernel_args){.table = &table};
        if (!dti_kernel_fits(row, row->op, &job.args))
            continue;
        job.all_lengths = *runs % 64 == 0;
        ++*runs;
        if (!check_job(&job))
            return false;
    }
    return true;
}

static bool check_odd(struct check *check, const struct dti_kernel *row, size_t *runs)
{
    struct job job = {.check = check,
                      .row = row,
                      .src = *dti_format_get(hub_of(row->op)),
                      .dst =
                          *dti_format_get(row->op == DTI_OP_ODD_HUB64_HUB32 ? DTI_FP32 : DTI_FP64),
                      .policy = {.round = DTI_ROUND_ODD},
                      .all_lengths = true};
    ++*runs;
    return check_job(&job);
}

bool check_row(struct check *check, const struct dti_kernel *row)
{
    size_t runs = 0;
    bool passed;
    check->told = 0;
    switch (row->op) {
    case DTI_OP_TABLE:
        passed = check_table(check, row, &runs);
        break;
    case DTI_OP_DECODE_HUB32:
    case DTI_OP_DECODE_HUB64:
    case DTI_OP_DECODE_I64:
        passed = check_decode(check, row, &runs);
        break;
    case DTI_OP_ENCODE_HUB32:
    case DTI_OP_ENCODE_HUB64:
    case DTI_OP_ENCODE_I64:
    case DTI_OP_ENCODE_U64:
        passed = check_encode(check, row, &runs);
        break;
    case DTI_OP_ODD_HUB64_HUB32:
    case DTI_OP_ODD_I64_HUB64:
    case DTI_OP_ODD_U64_HUB64:
        passed = check_odd(check, row, &runs);
        break;
    default:
        return check_move_row(check, row);
    }
    if (passed && runs == 0) {
        check_fail(check, "%s: its row fits nothing that there is", row->name);
        return false;
    }
    return passed;
}
