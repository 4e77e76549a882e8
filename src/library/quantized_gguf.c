/* SPDX-License-Identifier: MIT
 *
 * Quantizes arrays to blocks of GGUF and back, cut into chunks that the threads share. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "kernels/quant/quant_kernel.h"
#include "library/quantizers.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"

enum {
    CHUNK = 2 * DTI_TILE, /* elements at once: whole blocks and tiles */
    MEMBER_CHUNKS = 16,   /* less is not worth a thread */
};

struct memory {
    float x[CHUNK], back[CHUNK];
};

struct gguf_work {
    const struct dti_quantizer *quantizer;
    struct dti_gguf_coder coder;
    struct dti_nvfp4_encoder nv;
    float tensor_scale;
    unsigned char *numbers, *blocks;
    size_t number_bytes; /* of one */
    bool plain;          /* fp32 in place */
    struct dti_loss_rule rule;
    const struct dti_loss_kernel *kernel;
    size_t members;
    atomic_uint_fast64_t next; /* the next chunk */
    atomic_bool failed;
    pthread_mutex_t mutex; /* of what follows */
    struct dti_range range;
    struct dti_quant_report *report;
    enum dti_status status;
    uint64_t at; /* the first element that failed */
    struct dti_error *reterr;
};

/* A thread's view of the work. */
struct gguf_part {
    struct gguf_work *work;
    struct memory *memory;
    struct dti_loss loss;
    struct dti_range range;
    uint64_t first;
    size_t n;
};

static void fail(struct gguf_work *work, uint64_t at, enum dti_status status,
                 const struct dti_error *error)
{
    atomic_store(&work->failed, true);
    (void)pthread_mutex_lock(&work->mutex);
    if (work->status == DTI_OK || at < work->at) {
        work->status = status;
        work->at = at;
        if (work->reterr)
            *work->reterr = *error;
    }
    (void)pthread_mutex_unlock(&work->mutex);
}

static bool next_chunk(struct gguf_part *part)
{
    const uint64_t elements = part->work->quantizer->sizes.elements;
    struct dti_error error;
    if (atomic_load(&part->work->failed))
        return false;
    if (dti_interrupted()) {
        fail(part->work, 0, dti_cancelled(&error), &error);
        return false;
    }
    part->first = atomic_fetch_add(&part->work->next, 1) * CHUNK;
    if (part->first >= elements)
        return false;
    part->n = elements - part->first < CHUNK ? (size_t)(elements - part->first) : CHUNK;
    return true;
}

static void *numbers_at(const struct gguf_part *part)
{
    return part->work->numbers + part->first * part->work->number_bytes;
}

static unsigned char *blocks_at(const struct gguf_part *part)
{
    const struct dti_gguf_type *const type = part->work->quantizer->type;
    return part->work->blocks + part->first / type->elements * type->bytes;
}

static const float *load(struct gguf_part *part, struct dti_error *reterr)
{
    if (part->work->plain)
        return numbers_at(part);
    const enum dti_status status =
        dti_plan_run(part->work->quantizer->load, part->memory->x, numbers_at(part), part->n,
                     part->first, DTI_STORES_CACHED, NULL, reterr);
    if (status != DTI_OK)
        fail(part->work, part->first, status, reterr);
    return status == DTI_OK ? part->memory->x : NULL;
}

static void find_range(struct gguf_part *part)
{
    struct dti_error error;
    const struct dti_quant_kernel *const kernel =
        dti_quant_find_range(false, part->work->quantizer->context->level);
    while (next_chunk(part)) {
        const float *const x = load(part, &error);
        if (x)
            kernel->run.range(x, part->n, &part->range);
    }
}

static void count_loss(struct gguf_part *part, const float *x)
{
    const struct gguf_work *const work = part->work;
    for (size_t i = 0; i < part->n; i += DTI_TILE)
        work->kernel->run(&work->rule, x + i, part->memory->back + i,
                          part->n - i < DTI_TILE ? part->n - i : DTI_TILE, part->first + i,
                          &part->loss);
}

static void encode(struct gguf_part *part)
{
    struct gguf_work *const work = part->work;
    struct dti_error error;
    size_t at;
    while (next_chunk(part)) {
        const float *const x = load(part, &error);
        if (!x)
            return;
        const enum dti_gguf_coded coded = dti_gguf_code(
            &work->coder, blocks_at(part), x, part->n, NULL, part->memory->back, work->report, &at);
        if (coded != DTI_GGUF_CODED) {
            const enum dti_status status =
                dti_gguf_refuse(work->coder.type, coded, "the array", part->first + at, &error);
            fail(work, part->first + at, status, &error);
            return;
        }
        if (work->report)
            count_loss(part, x);
    }
}

static void decode(struct gguf_part *part)
{
    const struct gguf_work *const work = part->work;
    struct dti_error error;
    while (next_chunk(part)) {
        float *const x = work->plain ? numbers_at(part) : part->memory->x;
        work->coder.decode(x, blocks_at(part), part->n / work->coder.type->elements,
                           work->tensor_scale);
        if (work->plain)
            continue;
        const enum dti_status status =
            dti_plan_run(work->quantizer->store, numbers_at(part), x, part->n, part->first,
                         DTI_STORES_CACHED, NULL, &error);
        if (status != DTI_OK)
            fail(part->work, part->first, status, &error);
    }
}

static void run_member(struct gguf_work *work, size_t member, void (*job)(struct gguf_part *part))
{
    struct gguf_part part = {.work = work};
    struct dti_error error;
    if (member >= work->members)
        return;
    part.memory = dti_malloc(sizeof *part.memory);
    if (!part.memory) {
        fail(work, 0, dti_no_memory(&error), &error);
        return;
    }
    dti_loss_init(&part.loss);
    dti_range_init(&part.range);
    job(&part);
    dti_free(part.memory);
    (void)pthread_mutex_lock(&work->mutex);
    dti_range_merge(&work->range, &part.range);
    if (work->report)
        dti_loss_merge(&work->report->loss, &part.loss);
    (void)pthread_mutex_unlock(&work->mutex);
}

static void range_member(void *work, size_t member, size_t size)
{
    (void)size;
    run_member(work, member, find_range);
}

static void encode_member(void *work, size_t member, size_t size)
{
    (void)size;
    run_member(work, member, encode);
}

static void decode_member(void *work, size_t member, size_t size)
{
    (void)size;
    run_member(work, member, decode);
}

static void run_team(struct gguf_work *work, struct dti_team *team,
                     void (*job)(void *context, size_t member, size_t size))
{
    const uint64_t worth = work->quantizer->sizes.elements / CHUNK / MEMBER_CHUNKS + 1;
    atomic_store(&work->next, 0);
    work->members = team ? dti_team_size(team) : 1;
    if (work->members > worth)
        work->members = (size_t)worth;
    if (work->members == 1)
        job(work, 0, 1);
    else
        dti_team_run(team, job, work);
}

static enum dti_status work_init(struct gguf_work *ret, const struct dti_quantizer *quantizer,
                                 const void *numbers, void *blocks, struct dti_error *reterr)
{
    const struct dti_format *const fp32 = dti_format_get(DTI_FP32);
    const enum dti_level level = quantizer->context->level;
    memset(ret, 0, sizeof *ret);
    ret->quantizer = quantizer;
    ret->tensor_scale = 1;
    ret->numbers = (unsigned char *)(uintptr_t)numbers;
    ret->blocks = blocks;
    ret->number_bytes = (size_t)dti_format_container(&quantizer->number);
    ret->plain = quantizer->number.id == DTI_FP32 && (uintptr_t)numbers % sizeof(float) == 0;
    ret->reterr = reterr;
    dti_gguf_coder_init(&ret->coder, quantizer->type, level);
    dti_loss_rule_init(&ret->rule, fp32, fp32, &(struct dti_policy){.round = 0});
    ret->kernel = dti_loss_kernel_find(ret->rule.hub, level);
    dti_range_init(&ret->range);
    atomic_init(&ret->next, 0);
    atomic_init(&ret->failed, false);
    return pthread_mutex_init(&ret->mutex, NULL) == 0 ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_quantized_gguf_plan(struct dti_quantizer *quantizer, struct dti_error *reterr)
{
    const struct dti_format *const number = &quantizer->number;
    const struct dti_layout bare = {.packing = DTI_PACKING_BYTES};
    const struct dti_request load = {
        .src = *number,
        .src_layout = bare,
        .dst_layout = bare,
        .cast = {.dst = *dti_format_get(DTI_FP32), .round_given = true}};
    const struct dti_request store = {.src = *dti_format_get(DTI_FP32),
                                      .src_layout = bare,
                                      .dst_layout = bare,
                                      .cast = {.dst = *number, .round_given = true}};
    const enum dti_level level = quantizer->context->level;
    if (number->kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "arrays of %s cannot be quantized; quantize their parts, %s", number->name,
                        dti_format_get(number->component)->name);
    const enum dti_status status = dti_plan_new(&quantizer->load, &load, level, reterr);
    if (status != DTI_OK || !dti_format_is_float(number))
        return status;
    return dti_plan_new(&quantizer->store, &store, level, reterr);
}

/* The scale of the tensor from its largest magnitude. */
static void choose_scale(struct gguf_work *work, struct dti_team *team)
{
    run_team(work, team, range_member);
    const struct dti_range *const range = &work->range;
    const float amax = range->min > range->max    ? 0
                       : -range->min > range->max ? -range->min
                                                  : fabsf(range->max);
    dti_nvfp4_encoder_init(&work->nv, amax, work->quantizer->context->level);
    work->tensor_scale = work->nv.scale;
    work->coder.nv = &work->nv;
}

enum dti_status dti_quantized_gguf_run(const struct dti_quantizer *quantizer, struct dti_team *team,
                                       const void *numbers, struct dti_quantized *ret,
                                       struct dti_quant_report *report, struct dti_error *reterr)
{
    if (!dti_gguf_encodes(quantizer->type))
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "%s can only be dequantized: no encoder of it is known without importances",
                        quantizer->type->word);
    struct gguf_work *const work = dti_malloc(sizeof *work);
    if (!work)
        return dti_no_memory(reterr);
    enum dti_status status = work_init(work, quantizer, numbers, ret->codes, reterr);
    if (status == DTI_OK) {
        work->report = report;
        if (quantizer->sizes.has_tensor_scale)
            choose_scale(work, team);
        if (work->status == DTI_OK)
            run_team(work, team, encode_member);
        status = work->status;
        ret->tensor_scale = work->tensor_scale;
        (void)pthread_mutex_destroy(&work->mutex);
    }
    dti_free(work);
    return status;
}

enum dti_status dti_quantized_gguf_back(const struct dti_quantizer *quantizer,
                                        struct dti_team *team, const struct dti_quantized *parts,
                                        void *numbers, struct dti_error *reterr)
{
    struct gguf_work *const work = dti_malloc(sizeof *work);
    if (!work)
        return dti_no_memory(reterr);
    enum dti_status status = work_init(work, quantizer, numbers, parts->codes, reterr);
    if (status == DTI_OK) {
        if (quantizer->sizes.has_tensor_scale)
            work->tensor_scale = parts->tensor_scale;
        run_team(work, team, decode_member);
        status = work->status;
        (void)pthread_mutex_destroy(&work->mutex);
    }
    dti_free(work);
    return status;
}
