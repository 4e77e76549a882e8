/* SPDX-License-Identifier: MIT
 *
 * What the candidates do in one pass, and the proof that the casts did it. */
#include <string.h>

#include "bench/measure/splitmix.h"
#include "bench/workloads/cast_buffers.h"

enum { LINE = 64, POISON = 0x5A, TILES_TRIED = 6 };

/* Bytes of the first n elements, which are not more than there are in the buffers. */
static size_t src_bytes(const struct dti_plan *plan, size_t n)
{
    uint64_t bytes = 0;
    (void)dti_plan_src_bytes(plan, n, &bytes);
    return (size_t)bytes;
}

static size_t dst_bytes(const struct dti_plan *plan, size_t n)
{
    uint64_t bytes = 0;
    (void)dti_plan_dst_bytes(plan, n, &bytes);
    return (size_t)bytes;
}

void dti_cast_pass_run(void *context, size_t set, size_t member, size_t size)
{
    struct dti_cast_pass *const pass = context;
    const struct dti_cast_buffers *const buffers = pass->buffers;
    unsigned char *src = buffers->cast.data + set * buffers->cast.set_size;
    unsigned char *dst = src + buffers->cast.second;
    struct dti_share share = {.first = 0, .count = buffers->elements};
    if (size > 1) {
        share = dti_share_of(buffers->elements, DTI_TILE, member, size);
        if (share.count == 0)
            return;
        src += src_bytes(pass->plan, share.first);
        dst += dst_bytes(pass->plan, share.first);
    }
    struct dti_loss loss;
    if (pass->loss)
        dti_loss_init(&loss);
    if (dti_plan_run(pass->plan, dst, src, share.count, share.first, pass->stores,
                     pass->loss ? &loss : NULL, NULL) != DTI_OK)
        atomic_store(&pass->failed, true);
}

void dti_copy_pass_run(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_copy_pass *const pass = context;
    const struct dti_copy *const copy = pass->copy;
    const struct dti_cast_buffers *const buffers = pass->buffers;
    unsigned char *const src = buffers->copy.data + set * buffers->copy.set_size;
    const struct dti_share share = dti_share_of(pass->n, LINE, member, size);
    if (share.count > 0)
        copy->run(src + buffers->copy.second + share.first * copy->out,
                  src + share.first * copy->in, share.count);
}

/* Compares the tile that begins at an element. */
static enum dti_status verify_tile(const struct dti_cast_pass *pass, size_t first,
                                   struct dti_error *reterr)
{
    unsigned char want[DTI_TILE * 8];
    const struct dti_cast_buffers *const buffers = pass->buffers;
    const size_t left = buffers->elements - first;
    const size_t n = left < DTI_TILE ? left : DTI_TILE;
    const unsigned char *const src = buffers->cast.data + src_bytes(pass->plan, first);
    const unsigned char *const got =
        buffers->cast.data + buffers->cast.second + dst_bytes(pass->plan, first);
    const enum dti_status status =
        dti_reference_run(dti_plan_request(pass->plan), want, src, n, first, NULL, reterr);
    if (status != DTI_OK)
        return status;
    if (memcmp(want, got, dst_bytes(pass->plan, n)) == 0)
        return DTI_OK;
    char text[DTI_PLAN_TEXT_SIZE];
    return dti_fail(reterr, DTI_BUG, "%s is wrong within elements %llu to %llu; please report it",
                    dti_plan_describe(pass->plan, text), (unsigned long long)first,
                    (unsigned long long)(first + n - 1));
}

static void cast_job(void *pass, size_t member, size_t size)
{
    dti_cast_pass_run(pass, 0, member, size);
}

enum dti_status dti_cast_pass_verify(struct dti_cast_pass *pass, struct dti_team *team,
                                     uint64_t seed, struct dti_error *reterr)
{
    const struct dti_cast_buffers *const buffers = pass->buffers;
    const size_t tiles = buffers->elements / DTI_TILE + (buffers->elements % DTI_TILE > 0);
    memset(buffers->cast.data + buffers->cast.second, POISON, buffers->dst_bytes);
    dti_in_team(team, cast_job, pass);
    if (atomic_load(&pass->failed))
        return dti_fail(reterr, DTI_BUG, "a cast failed while it was measured");
    enum dti_status status = verify_tile(pass, 0, reterr);
    if (status == DTI_OK)
        status = verify_tile(pass, (tiles - 1) * DTI_TILE, reterr);
    for (int i = 0; i < TILES_TRIED && status == DTI_OK; i++)
        status = verify_tile(pass, (size_t)(dti_splitmix(&seed) % tiles) * DTI_TILE, reterr);
    return status;
}
