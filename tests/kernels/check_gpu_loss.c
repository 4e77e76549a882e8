/* SPDX-License-Identifier: MIT
 *
 * Compares the loss computed by devices with that of the CPU: every member, bit for bit. Tiles that
 * a device leaves to the host are counted on the host; this may only happen with stochastic
 * rounding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_gpu.h"

enum { LANES = 16, TILES_MAX = 9 };

static enum dti_gpu_kernel current;

/* Counts a run of whole tiles; the last one may be short. */
static void count(const struct dti_loss_rule *rule, const void *source, const void *stored,
                  size_t n, uint64_t index, struct dti_gpu_loss_tile *tiles, uint64_t grid)
{
    static struct dti_gpu_loss_lane lanes[LANES * TILES_MAX];
    struct dti_gpu_loss_args args;
    dti_gpu_loss_args_init(&args, rule);
    memset(lanes, 0x5a, sizeof lanes);
    args.x = (uintptr_t)source;
    args.y = (uintptr_t)stored;
    args.n = n;
    args.index = index;
    args.lanes = (uintptr_t)lanes;
    args.tiles = (uintptr_t)tiles;
    dti_gpu_host_run(rule->hub == DTI_LOSS_HUB32 ? DTI_GPU_LOSS_HUB32 : DTI_GPU_LOSS_HUB64, &args,
                     grid);
    dti_gpu_host_run(DTI_GPU_LOSS_FOLD, &args, grid);
}

static void count_tile(const struct dti_loss_rule *rule, const void *source, const void *stored,
                       size_t n, uint64_t index, struct dti_loss *loss)
{
    struct dti_gpu_loss_tile tile;
    if (n == 0)
        return;
    count(rule, source, stored, n, index, &tile, 1 + n % 40);
    if (!dti_gpu_loss_add(loss, &tile, n) && rule->policy.round == DTI_ROUND_STOCHASTIC)
        dti_loss_kernel_find(rule->hub, DTI_LEVEL_SCALAR)
            ->run(rule, source, stored, n, index, loss);
}

const struct dti_loss_kernel *gpu_as_loss_kernel(enum dti_gpu_kernel kernel)
{
    static struct dti_loss_kernel as;
    if (kernel != DTI_GPU_LOSS_HUB32 && kernel != DTI_GPU_LOSS_HUB64)
        return NULL;
    current = kernel;
    as = (struct dti_loss_kernel){.name = dti_gpu_rows[current].name,
                                  .run = count_tile,
                                  .hub = kernel == DTI_GPU_LOSS_HUB32 ? DTI_LOSS_HUB32
                                                                      : DTI_LOSS_HUB64,
                                  .level = DTI_LEVEL_SCALAR};
    return &as;
}

/* bf16 of random fp32 numbers, many tiles in one launch. */
bool check_gpu_losses(struct check *check)
{
    static uint32_t x[TILES_MAX * DTI_TILE], y[TILES_MAX * DTI_TILE];
    static struct dti_gpu_loss_tile tiles[TILES_MAX];
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    const struct dti_loss_kernel *cpu;
    struct dti_loss_rule rule;
    dti_loss_rule_init(&rule, dti_format_get(DTI_FP32), dti_format_get(DTI_BF16), &policy);
    cpu = dti_loss_kernel_find(rule.hub, DTI_LEVEL_SCALAR);
    for (unsigned turn = 0; turn < 20; turn++) {
        const size_t n = 1 + check_below(check, TILES_MAX * DTI_TILE);
        const uint64_t index = DTI_TILE * (check_random(check) >> 20);
        struct dti_loss got, want;
        dti_loss_init(&got);
        dti_loss_init(&want);
        for (size_t i = 0; i < n; i++) {
            x[i] = (uint32_t)check_random(check) & UINT32_C(0xbfffffff);
            y[i] = (x[i] + UINT32_C(0x7fff) + (x[i] >> 16 & 1)) & UINT32_C(0xffff0000);
        }
        count(&rule, x, y, n, index, tiles, 1 + check_below(check, 200));
        for (size_t at = 0; at < n; at += DTI_TILE) {
            const size_t part = n - at < DTI_TILE ? n - at : DTI_TILE;
            cpu->run(&rule, x + at, y + at, part, index + at, &want);
            if (!dti_gpu_loss_add(&got, &tiles[at / DTI_TILE], part))
                check_fail(check, "a tile is doubtful without a reason");
        }
        if (!same_loss(check, &got, &want, "tiles at once"))
            return false;
    }
    return true;
}
