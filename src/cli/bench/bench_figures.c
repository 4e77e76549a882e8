/* SPDX-License-Identifier: MIT
 *
 * Figures in the JSON documents of `bench`: times with intervals, ratios, where the threads were.
 */
#include <string.h>

#include "cli/bench/bench_job.h"
#include "cli/shared/human.h"

void dti_bench_json_number(struct dti_json *json, const char *key, bool known, double number)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_double_value(number, &value);
    if (!known || value.class == DTI_CLASS_NAN || value.class == DTI_CLASS_INF)
        dti_json_null(json, key);
    else
        dti_json_number(json, key, text, dti_spell_text(text, &value));
}

void dti_bench_json_ratio(struct dti_json *json, const char *key,
                          const struct dti_bench_figure *ratio)
{
    static const char *const verdicts[] = {[DTI_BENCH_LESS] = "less",
                                           [DTI_BENCH_MORE] = "more",
                                           [DTI_BENCH_CANNOT_TELL] = "cannot_tell"};
    if (ratio->samples == 0) {
        dti_json_null(json, key);
        return;
    }
    dti_json_object(json, key);
    dti_bench_json_number(json, "median", true, ratio->median);
    dti_bench_json_number(json, "low", ratio->has_interval, ratio->low);
    dti_bench_json_number(json, "high", ratio->has_interval, ratio->high);
    dti_json_string(json, "verdict", verdicts[dti_bench_judge(ratio)]);
    dti_json_end(json);
}

void dti_bench_json_time(struct dti_json *json, const struct dti_bench_figure *time)
{
    const bool known = time->samples > 0;
    dti_bench_json_number(json, "median_seconds", known, time->median);
    dti_bench_json_number(json, "low_seconds", known && time->has_interval, time->low);
    dti_bench_json_number(json, "high_seconds", known && time->has_interval, time->high);
    dti_bench_json_number(json, "minimum_seconds", known, time->minimum);
    dti_bench_json_number(json, "relative_mad", time->has_mad, time->mad);
}

void dti_bench_json_samples(struct dti_json *json, const struct bench_done *done, size_t at,
                            enum dti_bench_place place)
{
    const struct dti_bench *const bench = done->bench;
    if (!done->job->args->samples) {
        dti_json_null(json, "samples_seconds");
        return;
    }
    dti_json_array(json, "samples_seconds");
    for (size_t round = 0; round < bench->rounds; round++) {
        const double seconds = bench->seconds[round * bench->candidates + at];
        if (bench->places[round] == place)
            dti_bench_json_number(json, NULL, seconds > 0 || bench->disturbed,
                                  seconds < 0 ? -seconds : seconds);
    }
    dti_json_end(json);
}

/* The rounds at one place, and how they ended. */
void dti_bench_json_place(struct dti_json *json, const struct bench_done *done,
                          enum dti_bench_place place)
{
    const struct dti_bench *const bench = done->bench;
    size_t rounds = 0;
    double trip = 0;
    for (size_t i = 0; i < bench->rounds; i++) {
        if (bench->places[i] == place) {
            trip = rounds == 0 || bench->round_trips[i] < trip ? bench->round_trips[i] : trip;
            rounds++;
        }
    }
    dti_json_uint(json, "threads", done->threads);
    dti_json_string(json, "place", dti_bench_place_name(place));
    dti_bench_json_number(json, "round_trip_seconds", trip > 0, trip);
    dti_json_uint(json, "rounds", rounds);
    dti_json_string(json, "stopped", dti_bench_stop_name(bench->stop));
    dti_json_bool(json, "disturbed", bench->disturbed);
    dti_json_bool(json, "verified", true);
}
