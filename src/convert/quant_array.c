/* SPDX-License-Identifier: MIT
 *
 * Quantizes a whole array with a team: each member processes a part, first for its range, then
 * for its codes. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "convert/plan_parts.h"
#include "convert/quant_plan_parts.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"

enum {
    MEMBER_BYTES = 1 << 18, /* bytes of numbers: less is not worth a thread */
    LOOK_AFTER = 1 << 20,   /* numbers between two looks whether the call is cancelled */
    PIECE_BYTES = 1 << 14,  /* bytes of numbers that stay in the cache between their range and
                             * their codes, with as many that are prefetched */
    CHANNEL_MOST = 1 << 16, /* numbers of a channel that do */
};

/* State shared by the members of a team. */
struct quant_work {
    const struct dti_quant_plan *plan;
    struct dti_quant_scales *known;
    unsigned char *numbers;
    const struct dti_quantized_array *array;
    int32_t *zero_points;
    size_t members; /* that take part */
    uint64_t units; /* number of grains */
    enum dti_stores stores;
    bool back;
    pthread_mutex_t mutex; /* guards the members below */
    struct dti_quant_ranges *ranges;
    struct dti_quant_report *report;
    enum dti_status status;
    struct dti_error *reterr;
};

/* Whole grains of a member's part, which is balanced: all, or some if the call can be cancelled. */
struct member_share {
    uint64_t grain, first;
    size_t n;
    unsigned char *numbers, *codes, *scales;
    int32_t *zero_points;
};

static uint64_t part_begin(const struct quant_work *work, size_t member)
{
    const uint64_t share = work->units / work->members, more = work->units % work->members;
    return share * member + (member < more ? member : more);
}

/* The next share of a member, from grain *at on, which it moves. False at the end. */
static bool next_share(const struct quant_work *work, size_t member, uint64_t *at,
                       struct member_share *ret)
{
    const struct dti_quant_plan *const plan = work->plan;
    const struct dti_quant_sizes *const sizes = &plan->sizes;
    const uint64_t some = sizes->grain < LOOK_AFTER ? LOOK_AFTER / sizes->grain : 1;
    const uint64_t begin = *at;
    uint64_t end = part_begin(work, member + 1);
    if (begin >= end)
        return false;
    if (dti_interruptible() && end - begin > some)
        end = begin + some;
    *at = end;
    const uint64_t first = begin * sizes->grain;
    const uint64_t n = end == work->units ? sizes->elements - first : (end - begin) * sizes->grain;
    const uint64_t scale = begin * sizes->grain_scales;
    *ret = (struct member_share){.grain = begin, .first = first, .n = (size_t)n};
    /* a grain of packed numbers has whole bytes, unless it is the whole array */
    ret->numbers = work->numbers + (begin == 0 ? 0 : first / 8 * plan->number_bits);
    if (plan->number_bits >= 8)
        ret->numbers = work->numbers + first * (plan->number_bits / 8);
    ret->codes = (unsigned char *)work->array->codes + begin * sizes->grain_code_bytes;
    if (plan->group > 0) {
        ret->scales = (unsigned char *)work->array->scales + scale * plan->scale_bytes;
        ret->zero_points = work->zero_points ? work->zero_points + scale : NULL;
    }
    return true;
}

static void note(struct quant_work *work, enum dti_status status, const struct dti_error *error)
{
    if (status == DTI_OK || work->status != DTI_OK)
        return;
    work->status = status;
    if (work->reterr)
        *work->reterr = *error;
}

static void range_member(void *context, size_t member, size_t size)
{
    struct quant_work *const work = context;
    struct dti_quant_ranges *ranges = NULL;
    struct dti_error error;
    struct member_share part;
    (void)size;
    if (member >= work->members)
        return;
    uint64_t at = part_begin(work, member);
    enum dti_status status = dti_quant_ranges_new(&ranges, work->plan, &error);
    while (status == DTI_OK && next_share(work, member, &at, &part)) {
        dti_quant_range(work->plan, ranges, part.first, part.numbers, part.n);
        status = dti_interrupted() ? dti_cancelled(&error) : DTI_OK;
    }
    pthread_mutex_lock(&work->mutex);
    note(work, status, &error);
    if (status == DTI_OK)
        dti_quant_ranges_merge(work->ranges, ranges);
    pthread_mutex_unlock(&work->mutex);
    dti_quant_ranges_free(ranges);
}

static void run_member(void *context, size_t member, size_t size)
{
    struct quant_work *const work = context;
    struct dti_quant_report report;
    struct dti_error error;
    struct member_share part;
    enum dti_status status = DTI_OK;
    (void)size;
    if (member >= work->members)
        return;
    uint64_t at = part_begin(work, member);
    dti_quant_report_init(&report);
    void *const scratch = dti_malloc(dti_quant_plan_scratch(work->plan));
    if (!scratch)
        status = dti_no_memory(&error);
    while (status == DTI_OK && next_share(work, member, &at, &part)) {
        if (work->back)
            dti_quant_back(work->plan, work->known, part.first, part.numbers, part.n, part.codes,
                           part.scales, part.zero_points, work->stores, scratch);
        else
            dti_quant_run(work->plan, work->known, part.first, part.numbers, part.n, part.codes,
                          part.scales, part.zero_points, work->stores,
                          work->report ? &report : NULL, scratch);
        status = dti_interrupted() ? dti_cancelled(&error) : DTI_OK;
    }
    dti_free(scratch);
    pthread_mutex_lock(&work->mutex);
    note(work, status, &error);
    if (work->report)
        dti_quant_report_merge(work->report, &report);
    pthread_mutex_unlock(&work->mutex);
}

/* Whether the codes of a channel depend on no number outside it and begin at a whole byte, as its
 * numbers do, which stay in the cache; and there are channels for all members. Tiles of a report
 * cross channels. */
static bool is_by_channel(const struct quant_work *work)
{
    const struct dti_quant_plan *const plan = work->plan;
    const struct dti_quant_request *const request = &plan->request;
    return !work->report && request->scheme.per == DTI_PER_CHANNEL &&
           dti_quant_plan_needs_range(plan) && request->outer == 1 &&
           request->inner >= DTI_QUANT_RUN_LEAST && plan->repeats == 1 &&
           request->inner <= CHANNEL_MOST && request->length >= 4 * work->members &&
           request->inner % 8 * plan->code_bits % 8 == 0 &&
           request->inner % 8 * plan->number_bits % 8 == 0;
}

/* Some channels at a time: their ranges, their scales, and their codes while the numbers are in
 * the cache. */
static enum dti_status run_channels(struct quant_work *work, struct dti_quant_ranges *ranges,
                                    size_t first, size_t end, void *scratch,
                                    struct dti_error *reterr)
{
    const struct dti_quant_plan *const plan = work->plan;
    const size_t inner = (size_t)plan->request.inner;
    const size_t number_bytes = inner / 8 * plan->number_bits + inner % 8 * plan->number_bits / 8;
    const size_t code_bytes = inner / 8 * plan->code_bits + inner % 8 * plan->code_bits / 8;
    const size_t some = number_bytes < PIECE_BYTES ? PIECE_BYTES / number_bytes : 1;
    const struct dti_streaming *const stream =
        work->stores == DTI_STORES_STREAMED ? &dti_streamings[DTI_STREAMING_PLAIN] : NULL;
    for (size_t at = first; at < end; at += some) {
        const size_t count = end - at < some ? end - at : some;
        const unsigned char *const numbers = work->numbers + at * number_bytes;
        dti_quant_range(plan, ranges, at * inner, numbers, count * inner);
        dti_quant_scales_choose(work->known, plan, ranges, at, count);
        dti_quant_run_channels(plan, work->known, at * inner, numbers, count * inner,
                               (unsigned char *)work->array->codes + at * code_bytes, stream,
                               scratch);
        if (dti_interrupted())
            return dti_cancelled(reterr);
    }
    if (stream)
        dti_stores_order();
    return DTI_OK;
}

static void channels_member(void *context, size_t member, size_t size)
{
    struct quant_work *const work = context;
    struct dti_quant_ranges *ranges = NULL;
    struct dti_error error;
    (void)size;
    if (member >= work->members)
        return;
    void *const scratch = dti_malloc(dti_quant_plan_scratch(work->plan));
    enum dti_status status =
        scratch ? dti_quant_ranges_new(&ranges, work->plan, &error) : dti_no_memory(&error);
    if (status == DTI_OK)
        status = run_channels(work, ranges, (size_t)part_begin(work, member),
                              (size_t)part_begin(work, member + 1), scratch, &error);
    dti_quant_ranges_free(ranges);
    dti_free(scratch);
    pthread_mutex_lock(&work->mutex);
    note(work, status, &error);
    pthread_mutex_unlock(&work->mutex);
}

static void run_team(struct quant_work *work, struct dti_team *team,
                     void (*job)(void *context, size_t member, size_t size))
{
    pthread_mutex_init(&work->mutex, NULL);
    if (work->members == 1)
        job(work, 0, 1);
    else
        dti_team_run(team, job, work);
    pthread_mutex_destroy(&work->mutex);
}

static void share_out(struct quant_work *work, struct dti_team *team, enum dti_stores stores)
{
    const struct dti_quant_sizes *const sizes = &work->plan->sizes;
    const uint64_t worth = sizes->elements / 8 * work->plan->number_bits / MEMBER_BYTES + 1;
    work->units = sizes->elements / sizes->grain + (sizes->elements % sizes->grain != 0);
    work->members = team ? dti_team_size(team) : 1;
    if (work->members > worth)
        work->members = (size_t)worth;
    work->stores = dti_quant_streaming(work->plan, stores, sizes->elements) ? DTI_STORES_STREAMED
                                                                            : DTI_STORES_CACHED;
}

/* Stores the tensor's or channels' scales, which are part of the array too. */
static void save_known(const struct dti_quant_scales *known, struct dti_quantized_array *array)
{
    array->tensor_scale = known->tensor_scale;
    array->offset = known->offset;
    if (known->count > 0)
        memcpy(array->scales, known->scale, known->count * sizeof(float));
    if (known->count > 0 && array->zero_points)
        memcpy(array->zero_points, known->zero_point, known->count * sizeof(int32_t));
}

enum dti_status dti_quant_array(const struct dti_quant_plan *plan, struct dti_team *team,
                                const void *numbers, struct dti_quantized_array *array,
                                enum dti_stores stores, struct dti_quant_report *report,
                                struct dti_error *reterr)
{
    struct dti_quant_scales *known = NULL;
    struct quant_work work = {.plan = plan,
                              .numbers = (unsigned char *)(uintptr_t)numbers,
                              .array = array,
                              .zero_points = array->zero_points,
                              .report = report,
                              .reterr = reterr};
    share_out(&work, team, stores);
    if (is_by_channel(&work)) {
        work.status = dti_quant_scales_alloc(&known, plan, reterr);
        if (work.status != DTI_OK)
            return work.status;
        work.known = known;
        work.units = known->count;
        run_team(&work, team, channels_member);
        if (work.status == DTI_OK)
            save_known(known, array);
        dti_quant_scales_free(known);
        return work.status;
    }
    if (dti_quant_plan_needs_range(plan)) {
        work.status = dti_quant_ranges_new(&work.ranges, plan, reterr);
        if (work.status == DTI_OK)
            run_team(&work, team, range_member);
    }
    if (work.status == DTI_OK)
        work.status = dti_quant_scales_new(&known, plan, work.ranges, reterr);
    dti_quant_ranges_free(work.ranges);
    if (work.status == DTI_OK) {
        assert(known); /* it is new */
        work.known = known;
        save_known(known, array);
        run_team(&work, team, run_member);
    }
    dti_quant_scales_free(known);
    return work.status;
}

enum dti_status dti_quant_array_back(const struct dti_quant_plan *plan, struct dti_team *team,
                                     const struct dti_quantized_array *array, void *numbers,
                                     enum dti_stores stores, struct dti_error *reterr)
{
    struct dti_quant_scales *known = NULL;
    struct quant_work work = {.plan = plan,
                              .numbers = numbers,
                              .array = array,
                              .zero_points = array->zero_points,
                              .back = true,
                              .reterr = reterr};
    share_out(&work, team, stores);
    work.status = dti_quant_scales_alloc(&known, plan, reterr);
    if (work.status == DTI_OK) {
        known->tensor_scale = array->tensor_scale;
        if (known->count > 0)
            memcpy(known->scale, array->scales, known->count * sizeof(float));
        if (known->count > 0 && array->zero_points)
            memcpy(known->zero_point, array->zero_points, known->count * sizeof(int32_t));
        dti_quant_scales_ready(known);
        work.known = known;
        run_team(&work, team, run_member);
    }
    dti_quant_scales_free(known);
    return work.status;
}
