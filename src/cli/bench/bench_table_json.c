/* SPDX-License-Identifier: MIT
 *
 * The results of dtinfo.bench_table/1: computations and copies beside the limits of their device.
 */
#include "cli/bench/bench_job.h"

static void put_errors(struct dti_json *json, const struct dti_bench_item *item)
{
    dti_bench_json_number(json, "max_ulp", item->has_ulp, item->max_ulp);
    dti_bench_json_number(json, "sum", item->has_sum, item->sum);
    dti_bench_json_number(json, "exact_sum", item->has_sum, item->exact);
    dti_bench_json_number(json, "error", item->has_sum, item->error);
    dti_bench_json_number(json, "relative_error", item->has_sum, item->relative_error);
}

/* Of the operands of a product that were quantized. */
static void put_scales(struct dti_json *json, const struct dti_bench_item *item)
{
    if (item->scales[0] == 0) {
        dti_json_null(json, "scales");
        return;
    }
    dti_json_array(json, "scales");
    dti_bench_json_number(json, NULL, true, (double)item->scales[0]);
    dti_bench_json_number(json, NULL, true, (double)item->scales[1]);
    dti_json_end(json);
}

static void put_total(struct dti_json *json, const struct dti_bench_total *total)
{
    if (total->elements == 0) {
        dti_json_null(json, "total_error");
        return;
    }
    dti_json_object(json, "total_error");
    dti_json_uint(json, "elements", total->elements);
    dti_bench_json_number(json, "relative", true, total->relative);
    dti_bench_json_number(json, "sqnr_db", true, total->sqnr);
    dti_bench_json_number(json, "largest", true, total->largest);
    dti_bench_json_number(json, "value", true, total->got);
    dti_bench_json_number(json, "exact", true, total->exact);
    dti_json_end(json);
}

static void put_words(struct dti_json *json, const char *key, const char *text)
{
    dti_json_string(json, key, text[0] != '\0' ? text : NULL);
}

/* Rates, and what they are of the limit's. */
static void put_rates(struct dti_json *json, const struct bench_done *done, size_t at,
                      const struct dti_bench_figure *time, enum dti_bench_place place)
{
    const struct dti_bench_item *const item = &done->table->items[at];
    const double bytes = (double)item->bytes_read + (double)item->bytes_written;
    const bool known = time->samples > 0;
    const bool elements = done->job->kind->size_is == DTI_BENCH_ELEMENTS;
    struct dti_bench_figure share = {0};
    const bool beside = dti_bench_of_limit(&share, done->table, at, place);
    dti_bench_json_number(json, "element_seconds", known && elements,
                          time->median / (double)done->size->n);
    dti_bench_json_number(json, "rate_bytes_per_second", known && bytes > 0, bytes / time->median);
    dti_bench_json_number(json, "rate_flops", known && item->operations > 0,
                          item->operations / time->median);
    if (!beside)
        share.samples = 0;
    dti_bench_json_ratio(json, "of_limit", &share);
    if (beside)
        dti_json_uint(json, "limit_index", item->beside);
    else
        dti_json_null(json, "limit_index");
}

static void put_item(struct dti_json *json, const struct bench_done *done, size_t at,
                     enum dti_bench_place place)
{
    const struct dti_bench_table *const table = done->table;
    const struct dti_bench_item *const item = &table->items[at];
    struct dti_bench_figure time;
    dti_bench_time(&time, &table->bench, at, place);
    dti_json_object(json, NULL);
    dti_json_string(json, "role", item->role);
    dti_json_bool(json, "limit", item->limit);
    dti_json_string(json, "device", item->device);
    put_words(json, "dtype", item->dtype);
    put_words(json, "engine", item->engine);
    put_words(json, "kernel", item->kernel);
    put_words(json, "arithmetic", item->arithmetic);
    dti_json_string(json, "clock", item->from_events ? "device" : "host");
    dti_json_uint(json, "read_bytes", item->bytes_read);
    dti_json_uint(json, "written_bytes", item->bytes_written);
    dti_bench_json_number(json, "operations", item->operations > 0, item->operations);
    dti_json_uint(json, "passes", table->bench.passes[at]);
    dti_json_uint(json, "samples", time.samples);
    dti_json_uint(json, "discarded", table->bench.discarded[at]);
    dti_bench_json_time(json, &time);
    put_rates(json, done, at, &time, place);
    put_errors(json, item);
    put_scales(json, item);
    put_total(json, &item->total);
    dti_bench_json_samples(json, done, at, place);
    dti_json_end(json);
}

static void put_factor(struct dti_json *json, const char *key, uint64_t factor)
{
    if (factor > 0)
        dti_json_uint(json, key, factor);
    else
        dti_json_null(json, key);
}

void dti_bench_json_table(struct dti_json *json, const struct bench_done *done,
                          enum dti_bench_place place)
{
    const struct dti_bench_table *const table = done->table;
    const bool bytes = done->job->kind->size_is == DTI_BENCH_BYTES;
    const bool product = done->job->kind->size_is == DTI_BENCH_PRODUCT;
    dti_json_object(json, NULL);
    dti_json_string(json, "device", done->device->id);
    dti_json_string(json, "level", dti_level_name(done->level));
    put_factor(json, "size_bytes", bytes ? done->size->n : 0);
    put_factor(json, "elements", !bytes && !product ? done->size->n : 0);
    put_factor(json, "m", product ? done->size->m : 0);
    put_factor(json, "n", product ? done->size->n : 0);
    put_factor(json, "k", product ? done->size->k : 0);
    dti_bench_json_place(json, done, place);
    dti_json_bool(json, "within_last_cache", table->in_cache);
    dti_json_uint(json, "buffer_sets", table->sets);
    dti_json_uint(json, "memory_bytes", table->memory);
    dti_json_uint(json, "huge_page_bytes", table->huge_page_bytes);
    dti_json_array(json, "notes");
    for (size_t i = 0; i < table->note_count; i++)
        dti_json_string(json, NULL, table->notes[i]);
    dti_json_end(json);
    dti_json_array(json, "candidates");
    for (size_t i = 0; i < table->count; i++)
        put_item(json, done, i, place);
    dti_json_end(json);
    dti_json_end(json);
}
