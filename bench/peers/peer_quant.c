/* SPDX-License-Identifier: MIT
 *
 * Our quantization of arrays as a shared library for quant_peers.py. */
#include <stdlib.h>
#include <string.h>

#include "bench/measure/bench_table.h"
#include "convert/quant_plan.h"
#include "util/run/clock.h"

struct dti_quant_peer {
    struct dti_team *team;
    struct dti_quant_plan *plan;
    float tensor_scale;
};

struct dti_quant_peer *dti_quant_peer_open(const char *dtype, const char *way, uint64_t rows,
                                           uint64_t columns, float scale, size_t threads);
void dti_quant_peer_close(struct dti_quant_peer *peer);
void dti_quant_peer_describe(const struct dti_quant_peer *peer, int back, char *text, size_t size);
void dti_quant_peer_sizes(const struct dti_quant_peer *peer, uint64_t *ret_codes,
                          uint64_t *ret_scales);
uint64_t dti_quant_peer_run(struct dti_quant_peer *peer, void *numbers, void *codes, void *scales,
                            void *zero_points, int back, uint64_t passes);

static bool affine_request(struct dti_quant_request *ret, const char *dtype, const char *way,
                           float scale)
{
    struct dti_format format;
    struct dti_quant_scheme *const scheme = &ret->scheme;
    if (dti_format_lookup(dtype, &format, NULL, NULL) != DTI_OK ||
        !dti_affine_recipe_init(&scheme->affine, &format, DTI_SYMMETRY_FULL))
        return false;
    if (strcmp(way, "rows") == 0) {
        scheme->per = DTI_PER_CHANNEL;
        ret->inner = ret->length;
        ret->length = ret->outer;
    } else {
        ret->length *= ret->outer;
    }
    ret->outer = 1;
    scheme->fixed = strcmp(way, "given") == 0;
    if (scheme->fixed && format.kind == DTI_KIND_INT) { /* as torch does */
        scheme->affine.affine.division = DTI_DIVIDE_RECIPROCAL;
        scheme->affine.affine.low = -scheme->affine.affine.high - 1;
    }
    memcpy(&scheme->scale.scale, &scale, sizeof scale);
    return true;
}

static bool block_request(struct dti_quant_request *ret, const struct dti_block_format *format,
                          const char *way)
{
    static const uint32_t one = UINT32_C(0x3f800000);
    ret->scheme.block = format;
    ret->scheme.blocks = (struct dti_block_recipe){.format = format, .tensor_scale = one};
    ret->scheme.per = DTI_PER_GROUP;
    ret->scheme.group = format->length;
    ret->scheme.tensor_scale = strcmp(way, "two") == 0;
    return true;
}

/* way: "tensor", "given" (the argument `scale`) or "rows"; for block formats "blocks", and for
 * nvfp4 also "two", with a scale per tensor. Returns NULL if not available. */
struct dti_quant_peer *dti_quant_peer_open(const char *dtype, const char *way, uint64_t rows,
                                           uint64_t columns, float scale, size_t threads)
{
    enum dti_level level = DTI_LEVEL_SCALAR;
    struct dti_quant_request request = {.number = *dti_format_get(DTI_FP32),
                                        .layout = {.packing = DTI_PACKING_LOW},
                                        .order = DTI_BLOCK_LOW,
                                        .outer = rows,
                                        .length = columns,
                                        .inner = 1};
    const struct dti_block_format *const block = dti_block_lookup(dtype);
    struct dti_quant_peer *const peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    if (dti_level_choose(getenv("DTINFO_CPU"), &level, NULL) == DTI_OK &&
        (block ? block_request(&request, block, way)
               : affine_request(&request, dtype, way, scale)) &&
        dti_quant_plan_new(&peer->plan, &request, level, NULL) == DTI_OK &&
        (threads < 2 || dti_team_new(&peer->team, threads, DTI_WAIT_SPIN, false, NULL) == DTI_OK))
        return peer;
    dti_quant_peer_close(peer);
    return NULL;
}

void dti_quant_peer_close(struct dti_quant_peer *peer)
{
    if (!peer)
        return;
    dti_quant_plan_free(peer->plan);
    dti_team_free(peer->team);
    free(peer);
}

void dti_quant_peer_describe(const struct dti_quant_peer *peer, int back, char *text, size_t size)
{
    char words[DTI_PLAN_TEXT_SIZE];
    const char *const name = dti_quant_plan_describe(peer->plan, back != 0, words);
    const size_t length = strlen(name) < size ? strlen(name) : size - 1;
    memcpy(text, name, length);
    text[length] = '\0';
}

/* Returns the number of bytes of codes and the number of scales. */
void dti_quant_peer_sizes(const struct dti_quant_peer *peer, uint64_t *ret_codes,
                          uint64_t *ret_scales)
{
    struct dti_quant_sizes sizes;
    dti_quant_plan_sizes(peer->plan, &sizes);
    *ret_codes = sizes.code_bytes;
    *ret_scales = sizes.scales;
}

/* Returns the nanoseconds of `passes` passes, or 0 on failure. scales, zero_points: at least 4
 * bytes per scale. back: dequantize. */
uint64_t dti_quant_peer_run(struct dti_quant_peer *peer, void *numbers, void *codes, void *scales,
                            void *zero_points, int back, uint64_t passes)
{
    struct dti_quantized_array array = {.codes = codes,
                                        .scales = scales,
                                        .zero_points = zero_points,
                                        .tensor_scale = peer->tensor_scale};
    enum dti_status status = DTI_OK;
    if (dti_quant_plan_request(peer->plan)->scheme.block)
        array.zero_points = NULL;
    const uint64_t start = dti_clock_now();
    for (uint64_t pass = 0; pass < passes && status == DTI_OK; pass++)
        status = back ? dti_quant_array_back(peer->plan, peer->team, &array, numbers,
                                             DTI_STORES_AUTO, NULL)
                      : dti_quant_array(peer->plan, peer->team, numbers, &array, DTI_STORES_AUTO,
                                        NULL, NULL);
    peer->tensor_scale = array.tensor_scale;
    return status == DTI_OK ? dti_clock_now() - start : 0;
}
