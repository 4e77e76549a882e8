/* SPDX-License-Identifier: MIT
 *
 * Launches device code on the host. Checks rows that fuse two operations: each element against the
 * definition, with one rounding. */
#include "check_gpu.h"

#include <stdio.h>
#include <string.h>

enum { COUNT = 3 * DTI_TILE, BYTES = COUNT * 8, TEXT_SIZE = 160 };

static enum dti_gpu_kernel current;

/* Threads in a grid: both fewer and more than there is work for. */
static uint64_t grid_size(void)
{
    static const uint64_t sizes[] = {1, 33, 3, 64, 7, 150};
    static size_t turn;
    turn = (turn + 1) % (sizeof sizes / sizeof *sizes);
    return sizes[turn];
}

static void launch(const struct dti_kernel_args *args, void *restrict dst, const void *restrict src,
                   size_t n)
{
    const bool pair = dti_gpu_rows[current].then != DTI_OP_COUNT;
    struct dti_gpu_cast_args cast;
    dti_gpu_cast_args_init(&cast, args, pair ? args : NULL);
    cast.src = (uintptr_t)src;
    cast.dst = (uintptr_t)dst;
    cast.n = n;
    cast.index = args->index;
    cast.table = (uintptr_t)args->table;
    dti_gpu_host_run(current, &cast, grid_size());
}

const struct dti_kernel *gpu_as_kernel(enum dti_gpu_kernel kernel)
{
    static struct dti_kernel as;
    const struct dti_gpu_row *const row = &dti_gpu_rows[kernel];
    current = kernel;
    as = (struct dti_kernel){.name = row->name,
                             .run = launch,
                             .op = row->op,
                             .domain = row->domain,
                             .rounds = row->rounds,
                             .overflows = row->overflows,
                             .level = DTI_LEVEL_SCALAR};
    return &as;
}

static bool encodes_at_all(enum dti_operation op)
{
    return op == DTI_OP_ENCODE_HUB32 || op == DTI_OP_ENCODE_HUB64 || op == DTI_OP_ENCODE_I64;
}

/* Whether the fused operations support the formats: they round once where two steps would round
 * twice. */
static bool pair_takes(const struct dti_gpu_row *row, const struct dti_format *src,
                       const struct dti_encoder *encoder)
{
    if (dti_format_is_tapered(src))
        return false;
    switch (row->op) {
    case DTI_OP_DECODE_HUB32:
        return dti_format_fits_hub32(src) && dti_encoder_takes_hub32(&encoder->format);
    case DTI_OP_DECODE_HUB64:
        return dti_format_fits_hub64(src) && dti_encoder_takes_hub64(&encoder->format);
    case DTI_OP_DECODE_I64:
        return dti_format_is_integer(src) && src->man_bits <= 63;
    case DTI_OP_ODD_HUB64_HUB32:
        return src->id == DTI_FP64 && dti_encoder_takes_odd_hub32(encoder);
    default:
        return false;
    }
}

static bool run_pair(struct job *job, enum dti_gpu_kernel kernel, size_t *runs)
{
    const struct dti_gpu_row *const row = &dti_gpu_rows[kernel];
    struct dti_decoder decoder;
    struct dti_encoder encoder;
    dti_decoder_init(&decoder, &job->src);
    dti_encoder_init(&encoder, &job->dst, &job->policy);
    job->args = (struct dti_kernel_args){.decoder = &decoder, .encoder = &encoder};
    const struct dti_kernel second = {
        .op = row->then, .domain = row->domain, .rounds = row->rounds, .overflows = row->overflows};
    if (!pair_takes(row, &job->src, &encoder) || !dti_kernel_fits(&second, row->then, &job->args))
        return true;
    job->all_lengths = *runs % 97 == 0;
    ++*runs;
    return check_job_indices(job);
}

/* Casts of unpacked elements. */
static bool check_casts(struct check *check, enum dti_gpu_kernel kernel, size_t *runs)
{
    static const enum dti_dtype halves[] = {DTI_BF16, DTI_FP16, DTI_FP8_E4M3FN, DTI_INT16};
    const struct dti_format *formats;
    const size_t count = check_formats(&formats);
    const size_t turns = check->effort == EFFORT_LONG   ? 40000
                         : check->effort == EFFORT_PUSH ? 2500
                                                        : 500;
    struct job job = {.check = check, .row = gpu_as_kernel(kernel)};
    for (size_t turn = 0; turn < turns; turn++) {
        job.src = dti_gpu_rows[kernel].op == DTI_OP_ODD_HUB64_HUB32 ? *dti_format_get(DTI_FP64)
                  : turn % 3 == 0 ? *dti_format_get(halves[check_below(check, 4)])
                                  : formats[check_below(check, count)];
        job.dst = formats[check_below(check, count)];
        job.policy =
            (struct dti_policy){.round = (enum dti_round)check_below(check, ROUND_COUNT),
                                .overflow = (enum dti_overflow)check_below(check, OVERFLOW_COUNT),
                                .nan = (enum dti_nan)check_below(check, 2),
                                .seed = check_random(check)};
        if (dti_gpu_rows[kernel].rounds == 1U << DTI_ROUND_NEAREST_EVEN)
            job.policy.round = DTI_ROUND_NEAREST_EVEN;
        if (job.src.width > 16 && dti_gpu_rows[kernel].domain == DTI_DOMAIN_ANY && turn % 4 != 0)
            continue;
        if (!run_pair(&job, kernel, runs))
            return false;
    }
    return true;
}

/* A cast with packed source or result codes. */
struct packed {
    struct dti_format src, dst;
    struct dti_policy policy;
    bool packs_src, packs_dst, high_first;
};

static void put_element(uint8_t *array, const struct dti_format *format, bool packs,
                        bool high_first, size_t i, uint64_t code)
{
    if (packs)
        put_packed(array, i, format->width, high_first, (unsigned)code);
    else
        put_container(array, dti_format_container(format), i,
                      code << dti_format_code_shift(format));
}

static bool run_packed(struct check *check, const struct dti_kernel *row,
                       const struct packed *packed, const struct dti_kernel_args *args)
{
    static uint8_t source[BYTES], wanted[BYTES];
    static char what[TEXT_SIZE];
    const struct pool *const pool = pool_get(check, &packed->src, &packed->dst);
    memset(source, 0, sizeof source);
    memset(wanted, 0, sizeof wanted);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t at = pool->count > COUNT ? check_below(check, pool->count) : i % pool->count;
        struct dti_outcome outcome;
        dti_encode(&packed->dst, &pool->value[at], &packed->policy, 0, &outcome);
        put_element(source, &packed->src, packed->packs_src, packed->high_first, i, pool->code[at]);
        put_element(wanted, &packed->dst, packed->packs_dst, packed->high_first, i, outcome.code);
    }
    snprintf(what, sizeof what, "%s -> %s %s", packed->src.name, packed->dst.name,
             check_policy_text(&packed->policy));
    const unsigned src_bits =
        packed->packs_src ? packed->src.width : 8 * (unsigned)dti_format_container(&packed->src);
    const unsigned dst_bits =
        packed->packs_dst ? packed->dst.width : 8 * (unsigned)dti_format_container(&packed->dst);
    const struct trial trial = {.name = row->name,
                                .run = row->run,
                                .args = *args,
                                .source = source,
                                .wanted = wanted,
                                .count = COUNT,
                                .src_bits = src_bits,
                                .dst_bits = dst_bits,
                                .what = what};
    return trial_run(check, &trial, check_below(check, 8) == 0);
}

static bool check_packed(struct check *check, enum dti_gpu_kernel kernel, size_t *runs)
{
    static struct dti_code_table table;
    const struct dti_gpu_row *const row = &dti_gpu_rows[kernel];
    const struct dti_kernel *const as = gpu_as_kernel(kernel);
    const struct dti_format *formats;
    const size_t count = check_formats(&formats);
    const size_t turns = check->effort == EFFORT_LONG   ? 40000
                         : check->effort == EFFORT_PUSH ? 1500
                                                        : 300;
    for (size_t turn = 0; turn < turns; turn++) {
        const bool small = row->op == DTI_OP_ENCODE_HUB32;
        struct packed packed = {
            .src = small ? *dti_format_get(DTI_FP32) : formats[check_below(check, count)],
            .dst = formats[check_below(check, count)],
            .policy = {.round = small ? DTI_ROUND_NEAREST_EVEN
                                      : (enum dti_round)check_below(check, DTI_ROUND_STOCHASTIC),
                       .overflow = (enum dti_overflow)check_below(check, OVERFLOW_COUNT),
                       .nan = (enum dti_nan)check_below(check, 2)},
            .packs_src = row->op == DTI_OP_UNPACK,
            .packs_dst = row->then == DTI_OP_PACK,
            .high_first = turn % 2 != 0};
        const struct dti_format *const codes = packed.packs_src ? &packed.src : &packed.dst;
        struct dti_encoder encoder;
        if (codes->width >= 8 || (!small && packed.src.width > 8))
            continue;
        dti_code_table_init(&table, packed.src.width > 8 ? &packed.dst : &packed.src, &packed.dst,
                            &packed.policy);
        dti_encoder_init(&encoder, &packed.dst, &packed.policy);
        const struct dti_kernel_args args = {.table = &table,
                                             .encoder = small ? &encoder : NULL,
                                             .bits = codes->width,
                                             .high_first = packed.high_first};
        if (small && !dti_kernel_fits(as, row->op, &args))
            continue;
        ++*runs;
        if (!run_packed(check, as, &packed, &args))
            return false;
    }
    return true;
}

bool check_gpu_pair(struct check *check, enum dti_gpu_kernel kernel)
{
    const bool casts = encodes_at_all(dti_gpu_rows[kernel].then);
    size_t runs = 0;
    check->told = 0;
    const bool passed =
        casts ? check_casts(check, kernel, &runs) : check_packed(check, kernel, &runs);
    if (passed && runs == 0)
        check_fail(check, "%s: fits nothing that there is", dti_gpu_rows[kernel].name);
    return passed && runs > 0;
}
