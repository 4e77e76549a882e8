/* SPDX-License-Identifier: MIT
 *
 * dtinfo.bench/1: what was measured, with all that is needed to judge it. */
#include "cli/bench/bench_job.h"
#include "cli/shared/choices.h"

static void put_cast_options(struct dti_json *json, const struct bench_job *job)
{
    const struct bench_args *const args = job->args;
    dti_json_string(json, "data", dti_choice_name(dti_choice_bench_data, args->data));
    dti_json_uint(json, "seed", dti_bench_seed(job));
    dti_json_string(json, "cache", dti_choice_name(dti_choice_bench_cache, args->cache));
    dti_json_string(json, "round", dti_choice_name(dti_choice_round, args->round));
    dti_json_string(json, "overflow", dti_choice_name(dti_choice_overflow, args->overflow));
    dti_json_bool(json, "loss_report", args->loss);
}

static void put_table_options(struct dti_json *json, const struct bench_job *job)
{
    const struct bench_args *const args = job->args;
    dti_json_uint(json, "seed", dti_bench_seed(job));
    dti_json_string(json, "cache", dti_choice_name(dti_choice_bench_cache, args->cache));
    dti_json_bool(json, "with_alloc", args->with_alloc);
    dti_json_string(json, "engine", args->engine);
}

void dti_bench_json_begin(struct dti_json *json, const struct bench_job *job)
{
    dti_json_begin(json, job->kind ? "dtinfo.bench_table/1" : "dtinfo.bench/1");
    dti_json_string(json, "benchmark", dti_bench_name(job));
    dti_json_object(json, "options");
    if (job->kind)
        put_table_options(json, job);
    else
        put_cast_options(json, job);
    dti_bench_json_number(json, "time_seconds", true, (double)job->nanoseconds * 1e-9);
    dti_json_end(json);
    dti_bench_host_json(json, job);
    if (!job->kind)
        dti_json_null(json, "kernels");
    dti_json_array(json, "results");
}

/* The rate of a row beside the best of a role. */
static void put_share(struct dti_json *json, const char *key,
                      const struct dti_bench_cast_result *result, size_t row,
                      enum dti_bench_role role, enum dti_bench_place place)
{
    struct dti_bench_figure ratio = {0};
    const size_t best = dti_bench_cast_best(result, role, result->rows[row].where, place);
    if (best < result->row_count)
        dti_bench_ratio(&ratio, &result->bench, best, row, place);
    dti_bench_json_ratio(json, key, &ratio);
}

static void put_row(struct dti_json *json, const struct bench_done *done, size_t at,
                    enum dti_bench_place place)
{
    static const char *const roles[] = {
        [DTI_BENCH_CAST] = "cast", [DTI_BENCH_COPY] = "copy", [DTI_BENCH_SHAPE] = "shape"};
    static const char *const places[] = {[DTI_BENCH_ON_CPU] = "cpu",
                                         [DTI_BENCH_RESIDENT] = "device",
                                         [DTI_BENCH_WHOLE] = "there_and_back"};
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
    const bool own = row->where == DTI_BENCH_ON_CPU;
    dti_json_string(json, "where", places[row->where]);
    dti_json_string(json, "level", own ? dti_level_name(row->level) : NULL);
    dti_json_bool(json, "loss_report", row->loss);
    dti_json_string(json, "stores", !own ? NULL : row->stream ? "streamed" : "cached");
    dti_json_uint(json, "read_bytes", row->bytes_read);
    dti_json_uint(json, "written_bytes", row->bytes_written);
    dti_json_uint(json, "passes", result->bench.passes[at]);
    dti_json_uint(json, "samples", time.samples);
    dti_json_uint(json, "discarded", result->bench.discarded[at]);
    dti_bench_json_time(json, &time);
    dti_bench_json_number(json, "element_seconds", known, time.median / (double)result->elements);
    dti_bench_json_number(json, "rate_bytes_per_second", known, bytes / time.median);
    put_share(json, "of_copy", result, at, DTI_BENCH_COPY, place);
    put_share(json, "of_shape", result, at, DTI_BENCH_SHAPE, place);
    dti_bench_json_ratio(json, "relative_time", &relative);
    dti_bench_json_samples(json, done, at, place);
    dti_json_end(json);
}

static void put_place(struct dti_json *json, const struct bench_done *done,
                      enum dti_bench_place place)
{
    const struct dti_bench_cast_result *const result = done->result;
    dti_json_object(json, NULL);
    dti_json_string(json, "src", done->pair->src.name);
    dti_json_string(json, "dst", done->pair->dst.name);
    dti_json_uint(json, "elements", result->elements);
    dti_json_uint(json, "src_bytes", result->bytes_read);
    dti_json_uint(json, "dst_bytes", result->bytes_written);
    dti_json_string(json, "device", done->device->id);
    dti_bench_json_place(json, done, place);
    dti_json_bool(json, "within_last_cache", result->in_cache);
    dti_json_uint(json, "buffer_sets", result->sets);
    dti_json_uint(json, "memory_bytes", result->memory);
    dti_json_uint(json, "huge_page_bytes", result->huge_page_bytes);
    dti_json_array(json, "candidates");
    for (size_t i = 0; i < result->row_count; i++)
        put_row(json, done, i, place);
    dti_json_end(json);
    dti_json_end(json);
}

void dti_bench_json_result(struct dti_json *json, const struct bench_done *done)
{
    for (unsigned i = 0; i < DTI_BENCH_PLACES; i++) {
        const enum dti_bench_place place = (enum dti_bench_place)i;
        if (!dti_bench_tells(done->bench, place))
            continue;
        if (done->table)
            dti_bench_json_table(json, done, place);
        else
            put_place(json, done, place);
    }
}
