/* SPDX-License-Identifier: MIT
 *
 * Runs a plan. A single kernel processes a whole run; a chain processes it piece by piece, so
 * that intermediate results stay in the L1 cache; steps without a kernel go element by element.
 * With a loss report, each tile is cast and compared in the L1 cache, then written: one pass. */
#include <pthread.h>
#include <string.h>

#include "convert/device_parts.h"
#include "convert/plan_parts.h"
#include "util/run/caller.h"

enum dti_status dti_fail_unknown(const struct dti_stack_rule *rule, const struct dti_format *src,
                                 uint64_t code, const struct dti_format *dst, uint64_t index,
                                 struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_decode(src, code, &value);
    (void)dti_spell_stored(text, src, code, &value);
    dti_fail(reterr, DTI_NOT_REPRESENTABLE, "element %llu, %s: what %s stores in %s is unknown%s%s",
             (unsigned long long)index, text, dti_stack_name(rule->stack), dst->name,
             dti_stack_why_unknown(rule)[0] != '\0' ? "; " : "", dti_stack_why_unknown(rule));
    dti_error_argument(reterr, text, strlen(text));
    return DTI_NOT_REPRESENTABLE;
}

static enum dti_status run_elements(const struct dti_step *step, void *dst, const void *src,
                                    size_t n, uint64_t index, struct dti_error *reterr)
{
    static const struct dti_layout bare = {.packing = DTI_PACKING_BYTES, .swapped = false};
    for (size_t i = 0; i < n; i++) {
        uint64_t code = dti_storage_get(&step->src, &bare, src, i);
        struct dti_outcome outcome = {.code = code, .flags = 0};
        struct dti_value value;
        if (!step->keep)
            dti_decode(&step->src, code, &value);
        if (step->rule) {
            struct dti_cast stages;
            struct dti_scalar scalar;
            if (!dti_stack_cast(step->rule, &step->dst, dti_format_is_integer(&step->src), &value,
                                &stages, &scalar))
                return dti_fail_unknown(step->rule, &step->src, code, &step->dst, index + i,
                                        reterr);
            outcome.code = scalar.code;
        } else if (!step->keep) {
            dti_encode(&step->dst, &value, &step->policy, index + i, &outcome);
        }
        dti_storage_put(&step->dst, &bare, dst, i, outcome.code);
    }
    return DTI_OK;
}

/* Replaces every NaN of an 8-bit or 16-bit format by the rule's. */
static void run_nan(const struct dti_step *step, void *dst, const void *src, size_t n)
{
    const struct dti_format *const format = &step->dst;
    const unsigned sign = (unsigned)dti_format_sign_bit(format), ones = (1U << format->width) - 1;
    const unsigned magnitude = ones & ~sign,
                   inf = magnitude >> format->man_bits << format->man_bits;
    const unsigned kept = step->rule->quirk == DTI_STACK_QUIRK_NAN_ALL_ONES ? sign : 0;
    const unsigned char *const from = src;
    unsigned char *const to = dst;
    if (format->width == 8) {
        for (size_t i = 0; i < n; i++) {
            const unsigned code = from[i];
            to[i] = (unsigned char)((code & magnitude) > inf ? magnitude | (code & kept) : code);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint16_t code;
        memcpy(&code, from + 2 * i, sizeof code);
        code = (uint16_t)((code & magnitude) > inf ? magnitude | (code & kept) : code);
        memcpy(to + 2 * i, &code, sizeof code);
    }
}

/* Copies packed elements as bytes and zeroes the last byte's padding. */
static void copy_packed(const struct dti_step *step, const struct dti_kernel_args *args, void *dst,
                        const void *src, size_t n)
{
    const size_t bytes = n / 8 * step->src_bits + (n % 8 * step->src_bits + 7) / 8;
    const unsigned used = (unsigned)(n % 8) * step->src_bits % 8;
    step->kernel->run(args, dst, src, bytes);
    if (used > 0) {
        unsigned char *const last = (unsigned char *)dst + bytes - 1;
        *last &= (unsigned char)(args->high_first ? 0xff << (8 - used) : 0xff >> (8 - used));
    }
}

/* Runs one step on n elements of a tile; index is that of the first. */
static enum dti_status step_run(const struct dti_step *step, void *dst, const void *src, size_t n,
                                uint64_t index, bool stream, struct dti_error *reterr)
{
    if (step->only_nan) {
        run_nan(step, dst, src, n);
        return DTI_OK;
    }
    if (!step->kernel)
        return run_elements(step, dst, src, n, index, reterr);
    struct dti_kernel_args args = step->args;
    args.stream =
        stream ? dti_streaming_for(dti_tile_bytes(n, step->src_bits + step->dst_bits)) : NULL;
    args.index = index;
    if (step->kernel->op == DTI_OP_COPY && step->src_bits < 8)
        copy_packed(step, &args, dst, src, n);
    else
        step->kernel->run(&args, dst, src, n);
    return DTI_OK;
}

/* Runs steps [from, to) of a chain, at least one, on n elements of a tile; index is that of the
 * first. dst and src must not overlap. */
static enum dti_status chain_run(const struct dti_chain *chain, size_t from, size_t to, void *dst,
                                 const void *src, size_t n, uint64_t index, bool stream,
                                 struct dti_error *reterr)
{
    _Alignas(64) uint64_t between[2][DTI_TILE];
    for (size_t at = from; at < to; at++) {
        void *const result = at + 1 == to ? dst : between[at % 2];
        const enum dti_status status =
            step_run(&chain->step[at], result, src, n, index, stream && at + 1 == to, reterr);
        if (status != DTI_OK)
            return status;
        src = result;
    }
    return DTI_OK;
}

/* Numbers and codes of one tile. */
struct loss_chunk {
    _Alignas(64) uint64_t source[DTI_TILE];
    uint64_t codes[DTI_TILE];
    uint64_t stored[DTI_TILE];
};

/* Expands a tile of codes in containers to an array of uint64_t. */
static void widen(uint64_t *ret, const struct dti_format *format, const void *codes, size_t n)
{
    const struct dti_layout bare = {.packing = DTI_PACKING_BYTES, .swapped = false};
    for (size_t i = 0; i < n; i++)
        ret[i] = dti_storage_get(format, &bare, codes, i);
}

static void add_wide(const struct dti_plan *plan, const void *source, const void *codes, size_t n,
                     uint64_t index, struct dti_loss *loss)
{
    uint64_t given[DTI_TILE], kept[DTI_TILE];
    widen(given, &plan->loss_rule.src, source, n);
    widen(kept, &plan->loss_rule.dst, codes, n);
    plan->loss->run(&plan->loss_rule, given, kept, n, index, loss);
}

/* Loss kernels read numbers as C types; copies them if they are misaligned. */
static const void *aligned(const struct dti_plan *plan, uint64_t *buffer, const void *numbers,
                           size_t n)
{
    const size_t size = plan->loss_rule.hub == DTI_LOSS_HUB32 ? 4 : 8;
    if (plan->loss_rule.hub == DTI_LOSS_WIDE || (uintptr_t)numbers % size == 0)
        return numbers;
    memcpy(buffer, numbers, n * size);
    return buffer;
}

/* Processes a tile with a kernel that casts and counts in one pass. It writes the codes directly
 * to dst if no further steps follow. */
static enum dti_status run_counting(const struct dti_plan *plan, struct loss_chunk *tile, void *dst,
                                    const void *src, size_t n, uint64_t index, bool stream,
                                    struct dti_loss *loss, struct dti_error *reterr)
{
    const struct dti_chain *const chain = &plan->chain;
    const size_t before = plan->core_count - 1;
    const size_t size = plan->loss_cast.source_bytes;
    const bool direct = plan->core_count == chain->count;
    void *const codes = direct ? dst : tile->codes;
    const void *source = src;
    if (before > 0) {
        const enum dti_status status =
            chain_run(chain, 0, before, tile->source, src, n, index, false, reterr);
        if (status != DTI_OK)
            return status;
        source = tile->source;
    } else if ((uintptr_t)src % size != 0) {
        source = memcpy(tile->source, src, n * size);
    }
    plan->cast_loss(&plan->loss_rule, &plan->loss_cast, codes, source, n, index, stream && direct,
                    loss);
    return direct ? DTI_OK
                  : chain_run(chain, plan->core_count, chain->count, dst, codes, n, index, stream,
                              reterr);
}

static enum dti_status run_tile(const struct dti_plan *plan, struct loss_chunk *tile, void *dst,
                                const void *src, size_t n, uint64_t index, bool stream,
                                struct dti_loss *loss, struct dti_error *reterr)
{
    const struct dti_chain *const chain = &plan->chain;
    const size_t shared = plan->copies ? 0 : plan->shared_count;
    enum dti_status status = DTI_OK;
    /* Prefetch the next tile meanwhile, more of it before the slower phases. */
    const size_t share = dti_tile_bytes(n, chain->step[0].src_bits) / 8;
    const unsigned char *const next = (const unsigned char *)src + 8 * share;

    /* 1. the source's numbers */
    const void *source = src, *codes = src;
    const struct dti_chain *const to_source = shared > 0 ? chain : &plan->source;
    const size_t source_count = shared > 0 ? shared : plan->source.count;
    if (source_count > 0) {
        status = chain_run(to_source, 0, source_count, tile->source, src, n, index, false, reterr);
        source = tile->source;
        if (shared > 0)
            codes = source;
    }

    /* 2. the destination's codes; directly in dst if stores are cached: reading back
     * non-temporal stores is slow */
    dti_prefetch(next, share);
    const bool direct = !stream && plan->core_count == chain->count;
    void *const buffer = direct ? dst : tile->codes;
    if (status == DTI_OK && plan->copies) {
        status = chain_run(chain, 0, chain->count, dst, src, n, index, stream, reterr);
        codes = source;
    } else if (status == DTI_OK && plan->core_count > shared) {
        status = chain_run(chain, shared, plan->core_count, buffer, codes, n, index, false, reterr);
        codes = buffer;
    }
    if (status != DTI_OK)
        return status;

    /* 3. their numbers, and the loss */
    const void *stored = codes;
    dti_prefetch(next + share, 3 * share);
    if (!plan->copies && plan->stored.count > 0) {
        (void)chain_run(&plan->stored, 0, plan->stored.count, tile->stored, codes, n, index, false,
                        reterr);
        stored = tile->stored;
    }
    dti_prefetch(next + 4 * share, 4 * share);
    if (plan->loss_rule.hub == DTI_LOSS_WIDE) {
        add_wide(plan, source, stored, n, index, loss);
    } else {
        source = aligned(plan, tile->source, source, n);
        stored = plan->copies ? source : aligned(plan, tile->stored, stored, n);
        plan->loss->run(&plan->loss_rule, source, stored, n, index, loss);
        if (plan->request.flags)
            dti_loss_add_flags(&plan->loss_rule, source, stored, n, loss);
    }

    /* 4. the codes to the destination */
    if (plan->copies || codes == dst)
        return DTI_OK;
    if (plan->core_count == chain->count)
        return chain_run(&plan->copy, 0, 1, dst, codes, n, index, stream, reterr);
    return chain_run(chain, plan->core_count, chain->count, dst, codes, n, index, stream, reterr);
}

enum dti_status dti_plan_run_loss(const struct dti_plan *plan, void *dst, const void *src, size_t n,
                                  uint64_t index, bool stream, struct dti_loss *loss,
                                  struct dti_error *reterr)
{
    const unsigned src_bits = plan->chain.step[0].src_bits;
    const unsigned dst_bits = plan->chain.step[plan->chain.count - 1].dst_bits;
    const struct dti_request *const request = &plan->request;
    const struct dti_loss_cast *const cast = &plan->loss_cast;
    struct loss_chunk tile;
    if (plan->cast_loss && plan->core_count == 1 && plan->chain.count == 1 &&
        (uintptr_t)src % cast->source_bytes == 0) {
        plan->cast_loss(&plan->loss_rule, cast, dst, src, n, index, stream, loss);
        loss->stray += dti_storage_stray(&request->src, &request->src_layout, src, n);
        return DTI_OK;
    }
    for (size_t at = 0; at < n; at += DTI_TILE) {
        const size_t part = n - at < DTI_TILE ? n - at : DTI_TILE;
        const unsigned char *const begin =
            (const unsigned char *)src + dti_tile_bytes(at, src_bits);
        const enum dti_status status = (plan->cast_loss ? run_counting : run_tile)(
            plan, &tile, (unsigned char *)dst + dti_tile_bytes(at, dst_bits), begin, part,
            index + at, stream, loss, reterr);
        if (status != DTI_OK)
            return status;
        loss->stray += dti_storage_stray(&request->src, &request->src_layout, begin, part);
    }
    return DTI_OK;
}

enum {
    MEMBER_BYTES = 1 << 18,        /* bytes of source and destination: less is not worth a thread */
    DEVICE_MEMBER_BYTES = 1 << 24, /* the same, if a device does the work */
    UNIT_TILES = 16,               /* members' parts of large arrays start at page boundaries */
    PIECE = 1024, /* elements per step: worth a call, and well within a 48 KiB L1 cache */
};

static bool streams(const struct dti_plan *plan, enum dti_stores stores, size_t n)
{
    const struct dti_chain *const chain = &plan->chain;
    const unsigned bits = chain->step[0].src_bits + chain->step[chain->count - 1].dst_bits;
    return dti_stores_stream(stores, dti_tile_bytes(n, bits));
}

/* While later steps work in the L1 cache, the memory bus would be idle and the hardware
 * prefetcher would lose track, so each step first prefetches a share of the next piece. */
static enum dti_status run_pieces(const struct dti_plan *plan, unsigned char *dst,
                                  const unsigned char *src, size_t n, uint64_t index, bool stream,
                                  struct dti_error *reterr)
{
    const struct dti_chain *const chain = &plan->chain;
    const unsigned src_bits = chain->step[0].src_bits;
    const unsigned dst_bits = chain->step[chain->count - 1].dst_bits;
    const size_t ahead = dti_tile_bytes(PIECE, src_bits), share = ahead / chain->count;
    _Alignas(64) uint64_t between[2][PIECE];
    for (size_t at = 0; at < n; at += PIECE) {
        const size_t part = n - at < PIECE ? n - at : PIECE;
        const unsigned char *const begin = src + dti_tile_bytes(at, src_bits);
        const void *from = begin;
        for (size_t i = 0; i < chain->count; i++) {
            const bool last = i + 1 == chain->count;
            void *const to = last ? dst + dti_tile_bytes(at, dst_bits) : (void *)between[i % 2];
            dti_prefetch(begin + ahead + i * share, last ? ahead - i * share : share);
            const enum dti_status status =
                step_run(&chain->step[i], to, from, part, index + at, stream && last, reterr);
            if (status != DTI_OK)
                return status;
            from = to;
        }
    }
    return DTI_OK;
}

static enum dti_status run_on_cpu(const struct dti_plan *plan, void *dst, const void *src, size_t n,
                                  uint64_t index, bool stream, struct dti_loss *loss,
                                  struct dti_error *reterr)
{
    if (loss)
        return dti_plan_run_loss(plan, dst, src, n, index, stream, loss, reterr);
    if (plan->chain.count == 1)
        return step_run(&plan->chain.step[0], dst, src, n, index, stream, reterr);
    return run_pieces(plan, dst, src, n, index, stream, reterr);
}

enum { LOOK_FROM = 1 << 16, LOOK_FAST = 1 << 22 };

/* Elements between two looks whether the call is cancelled: a few milliseconds. Large enough to be
 * streamed. */
static size_t interval(const struct dti_plan *plan)
{
    for (size_t i = 0; i < plan->chain.count; i++) {
        if (!plan->chain.step[i].kernel && !plan->chain.step[i].only_nan)
            return LOOK_FROM;
    }
    return LOOK_FAST;
}

/* The same bytes and losses, which do not depend on how an array is cut into tiles. */
static enum dti_status run_interruptible(const struct dti_plan *plan, unsigned char *dst,
                                         const unsigned char *src, size_t n, uint64_t index,
                                         bool stream, struct dti_loss *loss,
                                         struct dti_error *reterr)
{
    const struct dti_chain *const chain = &plan->chain;
    const unsigned src_bits = chain->step[0].src_bits;
    const unsigned dst_bits = chain->step[chain->count - 1].dst_bits;
    const size_t most = interval(plan);
    enum dti_status status = DTI_OK;
    for (size_t at = 0; at < n && status == DTI_OK; at += most) {
        const size_t part = n - at < most ? n - at : most;
        if (dti_interrupted())
            return dti_cancelled(reterr);
        status =
            run_on_cpu(plan, dst + dti_tile_bytes(at, dst_bits), src + dti_tile_bytes(at, src_bits),
                       part, index + at, stream, loss, reterr);
    }
    return status;
}

enum dti_status dti_plan_run(const struct dti_plan *plan, void *dst, const void *src, size_t n,
                             uint64_t index, enum dti_stores stores, struct dti_loss *loss,
                             struct dti_error *reterr)
{
    const bool stream = streams(plan, stores, n);
    enum dti_status status;
    if (plan->device && n > 0 && dti_device_run(plan, dst, src, n, index, loss, &status, reterr))
        return status;
    if (n <= LOOK_FROM || !dti_interruptible())
        status = run_on_cpu(plan, dst, src, n, index, stream, loss, reterr);
    else
        status = run_interruptible(plan, dst, src, n, index, stream, loss, reterr);
    if (stream)
        dti_stores_order();
    return status;
}

/* State shared by the members of a team. */
struct run_work {
    const struct dti_plan *plan;
    unsigned char *dst;
    const unsigned char *src;
    unsigned src_bits, dst_bits;
    size_t n, members; /* that take part */
    uint64_t index;
    enum dti_stores stores;
    pthread_mutex_t mutex; /* guards the members below */
    struct dti_loss *loss;
    enum dti_status status; /* of the lowest member that failed */
    size_t failed;
    struct dti_error *reterr;
};

/* Start of a member's part: at a tile boundary, and for large arrays at a page boundary. */
static size_t part_begin(const struct run_work *work, size_t member)
{
    const size_t tiles = work->n / DTI_TILE + (work->n % DTI_TILE != 0);
    const size_t unit = tiles / work->members / UNIT_TILES >= 4 ? UNIT_TILES : 1;
    const size_t units = tiles / unit + (tiles % unit != 0);
    const size_t more = units % work->members;
    const size_t begin = units / work->members * member + (member < more ? member : more);
    return begin * unit < tiles ? begin * unit * DTI_TILE : work->n;
}

static void run_member(void *context, size_t member, size_t size)
{
    struct run_work *const work = context;
    (void)size;
    if (member >= work->members)
        return;
    const size_t begin = part_begin(work, member), end = part_begin(work, member + 1);
    if (begin >= end)
        return;
    struct dti_loss loss;
    struct dti_error error;
    dti_loss_init(&loss);
    const enum dti_status status =
        dti_plan_run(work->plan, work->dst + dti_tile_bytes(begin, work->dst_bits),
                     work->src + dti_tile_bytes(begin, work->src_bits), end - begin,
                     work->index + begin, work->stores, work->loss ? &loss : NULL, &error);
    pthread_mutex_lock(&work->mutex);
    if (work->loss)
        dti_loss_merge(work->loss, &loss);
    if (status != DTI_OK && member < work->failed) {
        work->status = status;
        work->failed = member;
        if (work->reterr)
            *work->reterr = error;
    }
    pthread_mutex_unlock(&work->mutex);
}

enum dti_status dti_plan_run_team(const struct dti_plan *plan, struct dti_team *team, void *dst,
                                  const void *src, size_t n, uint64_t index, enum dti_stores stores,
                                  struct dti_loss *loss, struct dti_error *reterr)
{
    const struct dti_chain *const chain = &plan->chain;
    struct run_work work = {.plan = plan,
                            .dst = dst,
                            .src = src,
                            .src_bits = chain->step[0].src_bits,
                            .dst_bits = chain->step[chain->count - 1].dst_bits,
                            .n = n,
                            .members = team ? dti_team_size(team) : 1,
                            .index = index,
                            .loss = loss,
                            .status = DTI_OK,
                            .failed = SIZE_MAX,
                            .reterr = reterr};
    const bool device = plan->device && dti_runner_is_on(plan->runner);
    const size_t worth = dti_tile_bytes(n, work.src_bits + work.dst_bits) /
                             (device ? DEVICE_MEMBER_BYTES : MEMBER_BYTES) +
                         1;
    if (device && work.members > DTI_RUNNER_LANES)
        work.members = DTI_RUNNER_LANES;
    if (work.members > worth)
        work.members = worth;
    if (work.members == 1)
        return dti_plan_run(plan, dst, src, n, index, stores, loss, reterr);
    work.stores = streams(plan, stores, n) ? DTI_STORES_STREAMED : DTI_STORES_CACHED;
    pthread_mutex_init(&work.mutex, NULL);
    dti_team_run(team, run_member, &work);
    pthread_mutex_destroy(&work.mutex);
    return work.status;
}
