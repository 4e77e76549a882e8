/* SPDX-License-Identifier: MIT
 *
 * Runs a plan and measures its loss, in one pass: each tile is cast in the first cache, both ends
 * of it are compared there, and then it is written. */
#include <string.h>

#include "convert/plan_parts.h"

/* Numbers and codes of one tile. */
struct loss_chunk {
    _Alignas(64) uint64_t source[DTI_TILE];
    uint64_t codes[DTI_TILE];
    uint64_t stored[DTI_TILE];
};

/* A tile of codes in containers as an array of uint64_t. */
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

/* Numbers are compared as machine types, so they are moved when they are not aligned like machine
 * types. */
static const void *aligned(const struct dti_plan *plan, uint64_t *buffer, const void *numbers,
                           size_t n)
{
    const size_t size = plan->loss_rule.hub == DTI_LOSS_HUB32 ? 4 : 8;
    if (plan->loss_rule.hub == DTI_LOSS_WIDE || (uintptr_t)numbers % size == 0)
        return numbers;
    memcpy(buffer, numbers, n * size);
    return buffer;
}

/* A tile by a kernel that counts on the way: its codes go where they are kept at once, where
 * nothing else is to be done with them. */
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
            dti_chain_run(chain, 0, before, tile->source, src, n, index, false, reterr);
        if (status != DTI_OK)
            return status;
        source = tile->source;
    } else if ((uintptr_t)src % size != 0) {
        source = memcpy(tile->source, src, n * size);
    }
    plan->cast_loss(&plan->loss_rule, &plan->loss_cast, codes, source, n, index, stream && direct,
                    loss);
    return direct ? DTI_OK
                  : dti_chain_run(chain, plan->core_count, chain->count, dst, codes, n, index,
                                  stream, reterr);
}

static enum dti_status run_tile(const struct dti_plan *plan, struct loss_chunk *tile, void *dst,
                                const void *src, size_t n, uint64_t index, bool stream,
                                struct dti_loss *loss, struct dti_error *reterr)
{
    const struct dti_chain *const chain = &plan->chain;
    const size_t shared = plan->copies ? 0 : plan->shared_count;
    enum dti_status status = DTI_OK;
    /* The next tile is fetched meanwhile, more of it before what takes longer. */
    const size_t share = dti_tile_bytes(n, chain->step[0].src_bits) / 8;
    const unsigned char *const next = (const unsigned char *)src + 8 * share;

    /* 1. the source's numbers */
    const void *source = src, *codes = src;
    const struct dti_chain *const to_source = shared > 0 ? chain : &plan->source;
    const size_t source_count = shared > 0 ? shared : plan->source.count;
    if (source_count > 0) {
        status =
            dti_chain_run(to_source, 0, source_count, tile->source, src, n, index, false, reterr);
        source = tile->source;
        if (shared > 0)
            codes = source;
    }

    /* 2. the destination's codes, in the destination itself if it stays in the caches: reading back
     * what went past them is slow */
    dti_prefetch(next, share);
    const bool direct = !stream && plan->core_count == chain->count;
    void *const buffer = direct ? dst : tile->codes;
    if (status == DTI_OK && plan->copies) {
        status = dti_chain_run(chain, 0, chain->count, dst, src, n, index, stream, reterr);
        codes = source;
    } else if (status == DTI_OK && plan->core_count > shared) {
        status =
            dti_chain_run(chain, shared, plan->core_count, buffer, codes, n, index, false, reterr);
        codes = buffer;
    }
    if (status != DTI_OK)
        return status;

    /* 3. their numbers, and the difference */
    const void *stored = codes;
    dti_prefetch(next + share, 3 * share);
    if (!plan->copies && plan->stored.count > 0) {
        (void)dti_chain_run(&plan->stored, 0, plan->stored.count, tile->stored, codes, n, index,
                            false, reterr);
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

    /* 4. the codes to where they are kept */
    if (plan->copies || codes == dst)
        return DTI_OK;
    if (plan->core_count == chain->count)
        return dti_chain_run(&plan->copy, 0, 1, dst, codes, n, index, stream, reterr);
    return dti_chain_run(chain, plan->core_count, chain->count, dst, codes, n, index, stream,
                         reterr);
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
