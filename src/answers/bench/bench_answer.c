/* SPDX-License-Identifier: MIT
 *
 * The results of `bench`: see bench_answer.h. Runs everything a job asks for, one measurement after
 * another. */
#include "answers/bench/bench_answer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/common.h"
#include "answers/rows.h"
#include "devices/machine/machine.h"
#include "kernels/math/dot.h"
#include "kernels/math/expsin.h"
#include "kernels/math/matmul.h"
#include "util/run/allocate.h"
#include "util/run/clock.h"
#include "util/text/nearest.h"

/* "0.52 0.41 0.30 1/123 4567": the first number, which has two decimals. */
static double read_load(void)
{
    char text[64];
    const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    const ssize_t length = read(file, text, sizeof text - 1);
    (void)close(file);
    text[length > 0 ? length : 0] = '\0';
    const size_t whole = strspn(text, "0123456789");
    if (whole == 0 || whole > 9 || text[whole] != '.' ||
        strspn(text + whole + 1, "0123456789") != 2)
        return -1;
    double hundredths = 0;
    for (size_t i = 0; i < whole + 3; i++) {
        if (i != whole)
            hundredths = hundredths * 10 + (text[i] - '0');
    }
    return hundredths / 100;
}

void dti_bench_host_read(struct dti_bench_host *ret)
{
    *ret = (struct dti_bench_host){.load = read_load()};
    struct dti_machine *const machine = dti_malloc(sizeof *machine);
    if (machine && dti_machine_read(machine, NULL, NULL) == DTI_OK) {
        memcpy(ret->model, machine->model, sizeof ret->model);
        memcpy(ret->governor, machine->governor, sizeof ret->governor);
    }
    dti_free(machine);
}

/* The number of rounds at a place, and the shortest of their round trips. */
static size_t rounds_at(const struct dti_bench *bench, enum dti_bench_place place, double *ret_trip)
{
    size_t rounds = 0;
    *ret_trip = 0;
    for (size_t i = 0; i < bench->rounds; i++) {
        if (bench->places[i] != place)
            continue;
        if (rounds++ == 0 || bench->round_trips[i] < *ret_trip)
            *ret_trip = bench->round_trips[i];
    }
    return rounds;
}

bool dti_bench_tells(const struct dti_bench *bench, enum dti_bench_place place)
{
    enum { ENOUGH = 5 };
    double trip;
    return place == dti_bench_main_place(bench) ||
           (place != DTI_BENCH_MOVED && rounds_at(bench, place, &trip) >= ENOUGH);
}

const struct dti_bench_figure *dti_bench_share(struct dti_bench_figure *ret,
                                               const struct dti_bench_table *table, size_t at,
                                               const char *role, enum dti_bench_place place)
{
    const size_t best = dti_bench_fastest(table, role, table->items[at].where, place);
    if (best == table->count)
        return NULL;
    dti_bench_ratio(ret, &table->bench, best, at, place);
    return ret->samples > 0 ? ret : NULL;
}

bool dti_bench_kernel_at(size_t at, struct dti_bench_kernel *ret)
{
#define FAMILY(family, operation_)                                                         \
    if (at < dti_##family##kernel_count) {                                                 \
        *ret = (struct dti_bench_kernel){dti_kernel_title(dti_##family##kernels[at].name), \
                                         operation_, dti_##family##kernels[at].level};     \
        return true;                                                                       \
    }                                                                                      \
    at -= dti_##family##kernel_count;
    FAMILY(, dti_operation_name(dti_kernels[at].op))
    FAMILY(expsin_, "expsin")
    FAMILY(dot_, "dot")
    FAMILY(matmul_, "matmul")
#undef FAMILY
    return false;
}

static size_t kernel_count(void)
{
    return dti_kernel_count + dti_expsin_kernel_count + dti_dot_kernel_count +
           dti_matmul_kernel_count;
}

enum dti_status dti_bench_records_add(struct dti_bench_records *records,
                                      const struct dti_bench_result *result,
                                      struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    const struct dti_bench_setup *const setup = result->setup;
    const struct dti_bench_kind *const kind = setup->kind;
    const struct dti_bench_table *const table = result->table;
    const bool product = kind->size_is == DTI_BENCH_PRODUCT;
    for (size_t i = 0; i < table->count && status == DTI_OK; i++) {
        const struct dti_bench_item *const item = &table->items[i];
        struct dti_bench_figure time;
        struct dti_bench_subject subject = {
            .benchmark = kind->name,
            .role = item->role,
            .dtype = item->dtype,
            .engine = item->engine,
            .device = result->device,
            .place = dti_bench_place_name(result->place),
            .cache = setup->cache,
            .limit = item->limit,
            .loss_report = item->loss,
            .with_alloc = setup->with_alloc,
            .bytes = kind->casts                        ? table->items[0].bytes_read
                     : kind->size_is == DTI_BENCH_BYTES ? result->request->n
                                                        : 0,
            .elements = result->request->n,
            .m = product ? result->request->m : 0,
            .n = result->request->n,
            .k = result->request->k,
            .threads = result->threads,
        };
        if (kind->casts) {
            subject.src = result->request->cast->src.name;
            subject.dst = result->request->cast->dst.name;
            subject.data = setup->data;
            subject.round = setup->round;
            subject.overflow = setup->overflow;
        }
        dti_bench_time(&time, &table->bench, i, result->place);
        if (time.samples > 0)
            subject.median = time.median;
        if (time.samples > 0 && time.has_interval) {
            subject.low = time.low;
            subject.high = time.high;
        }
        status = dti_bench_record(records, &subject, "this run", reterr);
    }
    return status;
}

/* Source structs of the rows: one candidate of a result, and a record that has a partner. */
struct bench_candidate {
    const struct dti_bench_result *of;
    size_t at;
};
struct bench_matched {
    const struct dti_bench_comparison *of;
    const struct dti_bench_record *now;
};

/* Precomputed values for the rows in bench_answer.def. */
struct host {
    const struct dti_bench_setup *of;
    uint64_t last_cache, usable_cache; /* bytes */
    const struct dti_streaming *streaming;
    double resolution; /* clock resolution in seconds */
    bool loaded;       /* the load is known */
};
struct judged_ratio {
    const struct dti_bench_figure *of;
    size_t verdict;
};
struct rounds {
    const struct dti_bench_result *of;
    const struct dti_bench *bench;
    size_t rounds;
    double trip; /* seconds */
    bool timed;  /* a round trip was measured */
    bool verified;
};
struct candidate {
    const struct dti_bench_result *of;
    size_t at;
    const struct dti_bench_item *item;
    uint64_t passes, discarded;
    struct dti_bench_figure time;
    bool own; /* it ran on the CPU */
    bool per_element, moves, operates, operates_timed, limit_item,
        scaled;                                     /* which of these values are known: */
    double element_seconds, rate, flops, scales[2]; /* rate: bytes per second */
    const struct dti_bench_figure *of_copy, *of_shape, *relative, *of_limit; /* or NULL */
    struct dti_bench_figure figures[3];
    const struct dti_bench_total *total; /* or NULL */
};
struct table_result {
    const struct dti_bench_result *of;
    const struct dti_bench_table *table;
    const struct dti_bench_request *request;
    bool bytes, elements, product; /* what the size counts */
};
struct matched {
    const struct dti_bench_record *now, *then;
    struct dti_bench_figure ratio;
    size_t verdict;
    bool regression;
};
struct kernel {
    struct dti_bench_kernel of;
    bool available;
};
struct timed_setup {
    const struct dti_bench_setup *of;
    double seconds;
};
struct cast_setup {
    const struct dti_bench_setup *of; /* NULL: the document lists kernels */
    const char *benchmark;
};

static void fill_host(struct host *ret, const struct dti_bench_setup *setup)
{
    *ret = (struct host){
        .of = setup,
        .last_cache = dti_last_cache_bytes(),
        .usable_cache = dti_usable_cache_bytes(),
        .streaming = dti_streaming_for(UINT64_MAX),
        .resolution = (double)dti_clock_resolution() * 1e-9,
        .loaded = setup->host.load >= 0,
    };
}

static void fill_ratio(struct judged_ratio *ret, const struct dti_bench_figure *figure)
{
    *ret = (struct judged_ratio){figure, (size_t)dti_bench_judge(figure)};
}

/* A result that differs from its reference is an error and is not written, so all are verified. */
static void fill_rounds(struct rounds *ret, const struct dti_bench_result *result)
{
    *ret = (struct rounds){.of = result, .bench = &result->table->bench, .verified = true};
    ret->rounds = rounds_at(ret->bench, result->place, &ret->trip);
    ret->timed = ret->trip > 0;
}

static void fill_candidate(struct candidate *ret, const struct bench_candidate *candidate)
{
    const struct dti_bench_table *const table = candidate->of->table;
    const struct dti_bench_item *const item = &table->items[candidate->at];
    *ret = (struct candidate){
        .of = candidate->of,
        .at = candidate->at,
        .item = item,
        .passes = table->bench.passes[candidate->at],
        .discarded = table->bench.discarded[candidate->at],
        .own = item->where == DTI_BENCH_ON_CPU,
    };
    dti_bench_time(&ret->time, &table->bench, candidate->at, candidate->of->place);
    ret->rate = ((double)item->bytes_read + (double)item->bytes_written) / ret->time.median;
}

static void fill_cast(struct candidate *ret, const struct bench_candidate *candidate)
{
    const struct dti_bench_table *const table = candidate->of->table;
    const enum dti_bench_place place = candidate->of->place;
    const size_t at = candidate->at;
    fill_candidate(ret, candidate);
    ret->element_seconds = ret->time.median / (double)table->elements;
    ret->of_copy = dti_bench_share(&ret->figures[0], table, at, "copy", place);
    ret->of_shape = dti_bench_share(&ret->figures[1], table, at, "shape", place);
    dti_bench_ratio(&ret->figures[2], &table->bench, at, 0, place);
    ret->relative = ret->figures[2].samples > 0 ? &ret->figures[2] : NULL;
}

static void fill_item(struct candidate *ret, const struct bench_candidate *candidate)
{
    const struct dti_bench_result *const result = candidate->of;
    fill_candidate(ret, candidate);
    const struct dti_bench_item *const item = ret->item;
    const bool known = ret->time.samples > 0;
    ret->per_element = known && result->setup->kind->size_is == DTI_BENCH_ELEMENTS;
    ret->element_seconds = ret->time.median / (double)result->request->n;
    ret->moves = known && item->bytes_read + item->bytes_written > 0;
    ret->operates = item->operations > 0;
    ret->operates_timed = known && ret->operates;
    ret->flops = item->operations / ret->time.median;
    ret->limit_item =
        dti_bench_of_limit(&ret->figures[0], result->table, candidate->at, result->place);
    ret->of_limit = ret->limit_item && ret->figures[0].samples > 0 ? &ret->figures[0] : NULL;
    ret->scaled = item->scales[0] != 0;
    for (size_t i = 0; i < 2; i++)
        ret->scales[i] = (double)item->scales[i];
    ret->total = item->total.elements > 0 ? &item->total : NULL;
}

static void fill_table(struct table_result *ret, const struct dti_bench_result *result)
{
    const struct dti_bench_kind *const kind = result->setup->kind;
    *ret = (struct table_result){
        .of = result,
        .table = result->table,
        .request = result->request,
        .bytes = kind->size_is == DTI_BENCH_BYTES,
        .product = kind->size_is == DTI_BENCH_PRODUCT,
    };
    ret->elements = !ret->bytes && !ret->product;
}

static void fill_matched(struct matched *ret, const struct bench_matched *of)
{
    ret->now = of->now;
    ret->then = dti_bench_partner(of->of, of->now);
    dti_bench_compare_times(&ret->ratio, &ret->then->time, &ret->now->time);
    ret->verdict = (size_t)dti_bench_judge(&ret->ratio);
    ret->regression = dti_bench_is_regression(of->of, &ret->ratio);
}

static void fill_kernel(struct kernel *ret, const size_t *at)
{
    (void)dti_bench_kernel_at(*at, &ret->of);
    ret->available = dti_level_present(ret->of.level);
}

static void fill_options(struct timed_setup *ret, const struct dti_bench_setup *setup)
{
    *ret = (struct timed_setup){setup, (double)setup->nanoseconds * 1e-9};
}

static void fill_setup(struct cast_setup *ret, const struct dti_bench_setup *setup)
{
    *ret = (struct cast_setup){setup, setup ? "cast" : NULL};
}

static void put_samples(struct dti_json *json, const char *key, const struct candidate *candidate)
{
    const struct dti_bench *const bench = &candidate->of->table->bench;
    if (!candidate->of->setup->samples) {
        dti_json_null(json, key);
        return;
    }
    dti_json_array(json, key);
    for (size_t round = 0; round < bench->rounds; round++) {
        const double seconds = bench->seconds[round * bench->candidates + candidate->at];
        if (bench->places[round] != candidate->of->place)
            continue;
        if (seconds > 0 || bench->disturbed)
            dti_put_double(json, NULL, seconds < 0 ? -seconds : seconds);
        else
            dti_json_null(json, NULL);
    }
    dti_json_end(json);
}

/* Lists the measurements that the other run lacks. */
static void put_alone(struct dti_json *json, const struct dti_bench_records *records)
{
    for (size_t i = 0; i < records->count; i++) {
        if (records->rows[i].partner == SIZE_MAX)
            dti_json_string(json, NULL, records->rows[i].label);
    }
}

DTI_WORDS(role_words, "cast", "copy", "shape")
DTI_WORDS(where_words, [DTI_BENCH_ON_CPU] = "cpu", [DTI_BENCH_RESIDENT] = "device",
          [DTI_BENCH_WHOLE] = "there_and_back")
DTI_WORDS(store_words, "cached", "streamed")
DTI_WORDS(clock_words, "host", "device")
DTI_WORDS(cache_words, "hot", "cold")
DTI_WORDS(ratio_words, [DTI_BENCH_LESS] = "less", [DTI_BENCH_MORE] = "more",
          [DTI_BENCH_CANNOT_TELL] = "cannot_tell")
DTI_WORDS(speed_words, [DTI_BENCH_LESS] = "faster", [DTI_BENCH_MORE] = "slower",
          [DTI_BENCH_CANNOT_TELL] = "cannot_tell")

/* The kinds except casts, which come first in the table. */
static const char *kind_words(size_t index)
{
    return index + 1 < dti_bench_kind_count ? dti_bench_kinds[index + 1]->name : NULL;
}

static void put_matched(struct dti_json *json, const struct dti_bench_comparison *comparison);

#define DTI_ROWS "answers/bench/bench_answer.def"
#include "answers/rows.h"

static void put_matched(struct dti_json *json, const struct dti_bench_comparison *comparison)
{
    for (size_t i = 0; i < comparison->now.count; i++) {
        const struct dti_bench_record *const now = &comparison->now.rows[i];
        if (now->partner != SIZE_MAX)
            dti_put_bench_matched(json, NULL, &(struct bench_matched){comparison, now});
    }
}

const struct dti_document *dti_bench_schema(const struct dti_bench_setup *setup)
{
    return setup && !setup->kind->casts ? &dti_schema_bench_table : &dti_schema_bench;
}

void dti_bench_begin(struct dti_json *json, const struct dti_bench_setup *setup)
{
    (setup && !setup->kind->casts ? dti_document_bench_table : dti_document_bench)(json, setup);
}

void dti_bench_put(struct dti_json *json, const struct dti_bench_result *result)
{
    (result->setup->kind->casts ? dti_put_bench_cast_result
                                : dti_put_bench_table_result)(json, NULL, result);
}

void dti_bench_end(struct dti_json *json, const struct dti_bench_setup *setup,
                   const struct dti_bench_comparison *comparison)
{
    (setup && !setup->kind->casts ? dti_put_bench_table_end : dti_put_bench_end)(json, comparison);
}

/* One measurement. */
struct bench_step {
    const struct dti_bench_job *job;
    const struct dti_bench_sink *sink;
    struct dti_bench_cast cast;
    struct dti_bench_request request;
    struct dti_bench_result result;
    bool first; /* the first measurement of its dtype pair */
};

/* Thread counts apply to the CPU only; all levels of a cast are compared within one measurement. */
static void step_init(struct bench_step *ret, const struct dti_bench_job *job, size_t pair,
                      size_t size_at, size_t device_at, size_t level, size_t threads)
{
    const struct dti_bench_device *const device = &job->devices[device_at];
    const struct dti_bench_size *const size = &job->sizes[size_at];
    const struct dti_bench_setup *const setup = &job->setup;
    *ret = (struct bench_step){
        .job = job,
        .cast = job->cast,
        .request = job->request,
        .result = {.setup = setup,
                   .request = &ret->request,
                   .size = size->label,
                   .device = device->id,
                   .threads = device->gpu || device->runner ? 1 : job->threads[threads]},
        .first = size_at + device_at + threads == 0,
    };
    ret->cast.src = job->pairs[pair].src;
    ret->cast.dst = job->pairs[pair].dst;
    ret->request.cast = setup->kind->casts ? &ret->cast : NULL;
    ret->request.dtypes = job->dtypes;
    ret->request.blocks = job->blocks;
    ret->request.m = size->m;
    ret->request.n = size->n;
    ret->request.k = size->k;
    ret->request.level = job->cast.levels[level];
    ret->request.gpu = device->runner ? NULL : device->gpu;
    ret->request.runner = device->runner;
    ret->request.options.nanoseconds = setup->nanoseconds;
}

typedef enum dti_status visit_fn(struct bench_step *step, struct dti_error *reterr);

/* Calls a function for every measurement: casts by pair, device, threads and size; others by size,
 * device, level and threads. */
static enum dti_status visit_all(const struct dti_bench_job *job, const struct dti_bench_sink *sink,
                                 visit_fn *visit, struct dti_error *reterr)
{
    const bool casts = job->setup.kind->casts;
    const size_t last = casts ? job->size_count : 1, levels = casts ? 1 : job->cast.level_count;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < (casts ? job->pair_count : job->size_count); i++) {
        for (size_t d = 0; d < job->device_count; d++) {
            const bool gpu = job->devices[d].gpu || job->devices[d].runner;
            const size_t each = gpu ? 1 : levels * job->thread_count;
            for (size_t at = 0; at < each * last && status == DTI_OK; at++) {
                const size_t by_threads = at / last, size = casts ? at % last : i;
                struct bench_step step;
                step_init(&step, job, casts ? i : 0, size, d, by_threads / job->thread_count,
                          by_threads % job->thread_count);
                step.sink = sink;
                status = visit(&step, reterr);
            }
        }
    }
    return status;
}

/* Default sizes are skipped if memory is too small, except for casts. */
static bool may_be_left_out(const struct bench_step *step)
{
    return step->job->usual_sizes && !step->job->setup.kind->casts;
}

static enum dti_status check_one(struct bench_step *step, struct dti_error *reterr)
{
    const enum dti_status status = dti_bench_check(step->job->setup.kind, &step->request, reterr);
    return status == DTI_UNAVAILABLE && may_be_left_out(step) ? DTI_OK : status;
}

/* A requested engine that is missing. */
static enum dti_status check_engine(const struct dti_bench_table *table, const char *engine,
                                    struct dti_error *reterr)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!table->items[i].limit)
            return DTI_OK;
    }
    return dti_fail_word(reterr, DTI_UNAVAILABLE, engine, strlen(engine),
                         "engine %s is not available%s%s", DTI_QUOTED(engine, strlen(engine)),
                         table->note_count > 0 ? ": " : "",
                         table->note_count > 0 ? table->notes[0] : "");
}

/* A single thread is not pinned to a CPU: the system finds an idle one. */
static enum dti_status measure(struct bench_step *step, struct dti_bench_table *table,
                               struct dti_error *reterr)
{
    struct dti_bench_result *const result = &step->result;
    const struct dti_bench_setup *const setup = &step->job->setup;
    struct dti_team *team = NULL;
    enum dti_status status = DTI_OK;
    if (result->threads > 1)
        status = dti_team_new(&team, result->threads, DTI_WAIT_SPIN, true, reterr);
    if (status == DTI_OK)
        status = dti_bench_measure(table, setup->kind, &step->request, team, reterr);
    dti_team_free(team);
    if (status != DTI_OK)
        return status;
    result->table = table;
    if (setup->engine)
        status = check_engine(table, setup->engine, reterr);
    if (status == DTI_OK)
        status = step->sink->done(step->sink->context, result, reterr);
    dti_bench_table_free(table);
    return status;
}

static enum dti_status measure_one(struct bench_step *step, struct dti_error *reterr)
{
    const struct dti_bench_sink *const sink = step->sink;
    const struct dti_bench_kind *const kind = step->job->setup.kind;
    struct dti_error error = {.status = DTI_OK};
    enum dti_status status = DTI_OK;
    if (kind->casts && step->first)
        status = sink->begin(sink->context, &step->result, reterr);
    if (status != DTI_OK)
        return status;
    if (may_be_left_out(step) && dti_bench_check(kind, &step->request, &error) == DTI_UNAVAILABLE) {
        sink->left_out(sink->context, &step->result, &error);
        return DTI_OK;
    }
    struct dti_bench_table *const table = dti_calloc(1, sizeof *table);
    if (!table)
        return dti_no_memory(reterr);
    status = measure(step, table, reterr);
    dti_free(table);
    return status;
}

enum dti_status dti_bench_check_job(const struct dti_bench_job *job, struct dti_error *reterr)
{
    return visit_all(job, NULL, check_one, reterr);
}

enum dti_status dti_bench_measure_job(const struct dti_bench_job *job,
                                      const struct dti_bench_sink *sink, struct dti_error *reterr)
{
    return visit_all(job, sink, measure_one, reterr);
}
