/* SPDX-License-Identifier: MIT
 *
 * dtinfo.bench/1: what was measured, with all that is needed to judge it. */
#include <string.h>

#include "cli/bench_job.h"
#include "cli/choices.h"
#include "dtinfo/clock.h"

static void put_number(struct dti_json *json, const char *key, double number)
{
    char text[DTI_TEXT_SIZE];
    uint64_t code;
    struct dti_value value;
    memcpy(&code, &number, sizeof code);
    dti_decode(dti_format_get(DTI_FP64), code, &value);
    if (value.class == DTI_CLASS_NAN || value.class == DTI_CLASS_INF) {
        dti_json_null(json, key);
        return;
    }
    dti_json_token(json, key, text, dti_spell_text(text, &value));
}

static void put_if(struct dti_json *json, const char *key, bool known, double number)
{
    if (known)
        put_number(json, key, number);
    else
        dti_json_null(json, key);
}

static void put_options(struct dti_json *json, const struct bench_job *job)
{
    const struct bench_args *const args = job->args;
    dti_json_object(json, "options");
    dti_json_string(json, "data", dti_choice_name(dti_choice_bench_data, args->data));
    dti_json_uint(json, "seed", args->seed_given ? args->seed : 1);
    dti_json_string(json, "cache", dti_choice_name(dti_choice_bench_cache, args->cache));
    dti_json_string(json, "round", dti_choice_name(dti_choice_round, args->round));
    dti_json_string(json, "overflow", dti_choice_name(dti_choice_overflow, args->overflow));
    dti_json_bool(json, "loss_report", args->loss);
    put_number(json, "time_seconds", (double)job->nanoseconds * 1e-9);
    dti_json_end(json);
}

void dti_bench_json_begin(struct dti_json *json, const struct bench_job *job)
{
    dti_json_begin(json, "dtinfo.bench/1");
    dti_json_string(json, "benchmark", "cast");
    put_options(json, job);
    dti_json_object(json, "host");
    dti_json_string(json, "level", dti_level_name(job->levels[0]));
    dti_json_uint(json, "cpus", job->cpus);
    dti_json_uint(json, "last_cache_bytes", dti_last_cache_bytes());
    put_number(json, "clock_resolution_seconds", (double)dti_clock_resolution() * 1e-9);
    dti_json_end(json);
    dti_json_null(json, "kernels");
    dti_json_array(json, "results");
}

enum dti_status dti_bench_json_end(struct dti_json *json, const struct dti_context *cx,
                                   struct dti_error *reterr)
{
    dti_json_end(json);
    return dti_json_write(json, cx->out, reterr);
}

/* A ratio with its interval; null without samples. */
static void put_ratio(struct dti_json *json, const char *key, const struct dti_bench_figure *ratio)
{
    static const char *const verdicts[] = {[DTI_BENCH_LESS] = "less",
                                           [DTI_BENCH_MORE] = "more",
                                           [DTI_BENCH_CANNOT_TELL] = "cannot_tell"};
    if (ratio->samples == 0) {
        dti_json_null(json, key);
        return;
    }
    dti_json_object(json, key);
    put_number(json, "median", ratio->median);
    put_if(json, "low", ratio->has_interval, ratio->low);
    put_if(json, "high", ratio->has_interval, ratio->high);
    dti_json_string(json, "verdict", verdicts[dti_bench_judge(ratio)]);
    dti_json_end(json);
}

/* The rate of a row beside the best of a role. */
static void put_share(struct dti_json *json, const char *key,
                      const struct dti_bench_cast_result *result, size_t row,
                      enum dti_bench_role role, enum dti_bench_place place)
{
    struct dti_bench_figure ratio = {0};
    const size_t best = dti_bench_cast_best(result, role, place);
    if (best < result->row_count)
        dti_bench_ratio(&ratio, &result->bench, best, row, place);
    put_ratio(json, key, &ratio);
}

static void put_samples(struct dti_json *json, const struct dti_bench *bench, size_t row,
                        enum dti_bench_place place)
{
    dti_json_array(json, "samples_seconds");
    for (size_t round = 0; round < bench->rounds; round++) {
        const double seconds = bench->seconds[round * bench->candidates + row];
        if (bench->places[round] == place)
            put_if(json, NULL, seconds > 0 || bench->disturbed, seconds < 0 ? -seconds : seconds);
    }
    dti_json_end(json);
}

static void put_row(struct dti_json *json, const struct bench_done *done, size_t at,
                    enum dti_bench_place place)
{
    static const char *const roles[] = {
        [DTI_BENCH_CAST] = "cast", [DTI_BENCH_COPY] = "copy", [DTI_BENCH_SHAPE] = "shape"};
    const struct dti_bench_cast_result *const result = done->result;
    const struct dti_bench_row *const row = &result->rows[at];
    struct dti_bench_figure time, relative;
    dti_bench_time(&time, &result->bench, at, place);
    dti_bench_ratio(&relative, &result->bench, at, 0, place);
    const bool known = time.samples > 0;
    const double bytes = (double)(row->bytes_read + row->bytes_written);
    dti_json_object(json, NULL);
    dti_json_string(json, "role", roles[row->role]);
    dti_json_string(json, "kernel", row->kernel);
    dti_json_string(json, "level", dti_level_name(row->level));
    dti_json_bool(json, "loss_report", row->loss);
    dti_json_string(json, "stores", row->stream ? "streamed" : "cached");
    dti_json_uint(json, "read_bytes", row->bytes_read);
    dti_json_uint(json, "written_bytes", row->bytes_written);
    dti_json_uint(json, "passes", result->bench.passes[at]);
    dti_json_uint(json, "samples", time.samples);
    dti_json_uint(json, "discarded", result->bench.discarded[at]);
    put_if(json, "median_seconds", known, time.median);
    put_if(json, "low_seconds", known && time.has_interval, time.low);
    put_if(json, "high_seconds", known && time.has_interval, time.high);
    put_if(json, "minimum_seconds", known, time.minimum);
    put_if(json, "relative_mad", time.has_mad, time.mad);
    put_if(json, "element_seconds", known, time.median / (double)result->elements);
    put_if(json, "rate_bytes_per_second", known, bytes / time.median);
    put_share(json, "of_copy", result, at, DTI_BENCH_COPY, place);
    put_share(json, "of_shape", result, at, DTI_BENCH_SHAPE, place);
    put_ratio(json, "relative_time", &relative);
    if (done->job->args->samples)
        put_samples(json, &result->bench, at, place);
    else
        dti_json_null(json, "samples_seconds");
    dti_json_end(json);
}

static void put_place(struct dti_json *json, const struct bench_done *done,
                      enum dti_bench_place place)
{
    const struct dti_bench_cast_result *const result = done->result;
    const struct dti_bench *const bench = &result->bench;
    size_t rounds = 0;
    double trip = 0;
    for (size_t i = 0; i < bench->rounds; i++) {
        if (bench->places[i] == place) {
            trip = rounds == 0 || bench->round_trips[i] < trip ? bench->round_trips[i] : trip;
            rounds++;
        }
    }
    dti_json_object(json, NULL);
    dti_json_string(json, "src", done->pair->src.name);
    dti_json_string(json, "dst", done->pair->dst.name);
    dti_json_uint(json, "elements", result->elements);
    dti_json_uint(json, "src_bytes", result->bytes_read);
    dti_json_uint(json, "dst_bytes", result->bytes_written);
    dti_json_uint(json, "threads", done->threads);
    dti_json_string(json, "place", dti_bench_place_name(place));
    put_if(json, "round_trip_seconds", trip > 0, trip);
    dti_json_bool(json, "within_last_cache", result->in_cache);
    dti_json_uint(json, "buffer_sets", result->sets);
    dti_json_uint(json, "memory_bytes", result->memory);
    dti_json_uint(json, "huge_page_bytes", result->huge_page_bytes);
    dti_json_uint(json, "rounds", rounds);
    dti_json_string(json, "stopped", dti_bench_stop_name(bench->stop));
    dti_json_bool(json, "disturbed", bench->disturbed);
    dti_json_bool(json, "verified", true);
    dti_json_array(json, "candidates");
    for (size_t i = 0; i < result->row_count; i++)
        put_row(json, done, i, place);
    dti_json_end(json);
    dti_json_end(json);
}

void dti_bench_json_result(struct dti_json *json, const struct bench_done *done)
{
    for (unsigned place = 0; place < DTI_BENCH_PLACES; place++) {
        if (dti_bench_tells(&done->result->bench, (enum dti_bench_place)place))
            put_place(json, done, (enum dti_bench_place)place);
    }
}
