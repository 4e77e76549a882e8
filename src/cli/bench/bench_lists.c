/* SPDX-License-Identifier: MIT
 *
 * Words between commas; threads, levels and seconds. */
#include "cli/bench/bench_job.h"

#include <stdlib.h>
#include <string.h>

#include "cli/shared/amount.h"
#include "dtinfo/ascii.h"
#include "dtinfo/nearest.h"

struct bench_word dti_bench_next_word(const char **list)
{
    const struct bench_word word = {.text = *list, .length = strcspn(*list, ",")};
    *list = word.text[word.length] == ',' ? word.text + word.length + 1 : NULL;
    return word;
}

bool dti_bench_word_is(const struct bench_word *word, const char *text)
{
    return word->length == strlen(text) && dti_ascii_equal_start(word->text, text, word->length);
}

enum dti_status dti_bench_refuse(enum dti_status code, const char *what,
                                 const struct bench_word *word, struct dti_error *reterr)
{
    return dti_fail_word(reterr, code, word->text, word->length, "%s; %s is not", what,
                         DTI_QUOTED(word->text, word->length));
}

enum dti_status dti_bench_too_many(const char *what, struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_USAGE, "too many %s for one run; measure them in parts", what);
}

enum dti_status dti_bench_each_word(struct bench_job *job, const char *list, bench_take_fn *take,
                                    struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    while (list && status == DTI_OK) {
        const struct bench_word word = dti_bench_next_word(&list);
        status = take(job, &word, reterr);
    }
    return status;
}

enum dti_status dti_bench_look_up(const struct bench_job *job, const struct bench_word *word,
                                  struct dti_format *ret, struct dti_error *reterr)
{
    char name[BENCH_NAME_SIZE];
    const char *note = NULL;
    if (!dti_bench_word_copy(name, word))
        return dti_bench_refuse(DTI_UNKNOWN_DTYPE, "dtypes have short names", word, reterr);
    const enum dti_status status = dti_format_lookup(name, ret, &note, reterr);
    if (status == DTI_OK && note)
        dti_warn(job->cx, "%s", note);
    return status;
}

bool dti_bench_word_copy(char ret[BENCH_NAME_SIZE], const struct bench_word *word)
{
    if (word->length >= BENCH_NAME_SIZE)
        return false;
    memcpy(ret, word->text, word->length);
    ret[word->length] = '\0';
    return true;
}

enum dti_status dti_bench_take_threads(struct bench_job *job, const struct bench_word *word,
                                       struct dti_error *reterr)
{
    size_t number;
    const size_t cpus = dti_cpu_count();
    if (job->asked.thread_count == DTI_BENCH_THREADS_MAX)
        return dti_bench_too_many("numbers of threads", reterr);
    const enum dti_status status = dti_amount_threads(word->text, word->length, &number, reterr);
    if (status != DTI_OK)
        return status;
    if (number > cpus)
        dti_warn(job->cx, "%zu threads take turns on %zu CPU%s; that measures the system as well",
                 number, cpus, cpus == 1 ? "" : "s");
    job->asked.threads[job->asked.thread_count++] = number;
    return DTI_OK;
}

static enum dti_status no_level(enum dti_level level, enum dti_level highest,
                                struct dti_error *reterr)
{
    const char *const name = dti_level_name(level);
    return dti_fail_word(reterr, DTI_UNAVAILABLE, name, strlen(name),
                         dti_level_present(level)
                             ? "level '%s' is above %s, which DTINFO_CPU sets as the highest"
                             : "level '%s' is not available on this CPU; the highest is %s",
                         name, dti_level_name(highest));
}

static void add_level(struct bench_job *job, enum dti_level level)
{
    size_t at = 0;
    for (; at < job->asked.level_count; at++) {
        if (job->asked.levels[at] == level)
            return;
        if (dti_level_includes(level, job->asked.levels[at]))
            break;
    }
    memmove(job->asked.levels + at + 1, job->asked.levels + at,
            (job->asked.level_count - at) * sizeof *job->asked.levels);
    job->asked.levels[at] = level;
    job->asked.level_count++;
}

static enum dti_status take_level(struct bench_job *job, const struct bench_word *word,
                                  struct dti_error *reterr)
{
    const enum dti_level highest = job->asked.setup.level;
    enum dti_level level;
    char name[32] = "";
    memcpy(name, word->text, word->length < sizeof name ? word->length : sizeof name - 1);
    if (dti_bench_word_is(word, "all")) {
        for (unsigned i = 0; i < DTI_LEVEL_COUNT; i++) {
            if (dti_level_includes(highest, (enum dti_level)i))
                add_level(job, (enum dti_level)i);
        }
        return DTI_OK;
    }
    enum dti_status status = dti_level_lookup(name, &level, reterr);
    if (status == DTI_OK && !dti_level_includes(highest, level))
        status = no_level(level, highest, reterr);
    if (status == DTI_OK)
        add_level(job, level);
    return status;
}

enum dti_status dti_bench_parse_levels(struct bench_job *job, const char *list,
                                       struct dti_error *reterr)
{
    enum dti_level *const level = &job->asked.setup.level; /* the highest there is, */
    enum dti_status status = dti_level_choose(getenv("DTINFO_CPU"), level, reterr);
    if (status == DTI_OK && !list)
        add_level(job, *level);
    if (status == DTI_OK)
        status = dti_bench_each_word(job, list, take_level, reterr);
    *level = job->asked.levels[0]; /* the highest that was asked for */
    return status;
}

/* Thousandths of a number with up to three decimals, at the start of *rest, which moves behind it.
 */
static bool thousandths(struct bench_word *rest, uint64_t most, uint64_t *ret)
{
    uint64_t whole, fraction = 0;
    if (!dti_amount_digits(&rest->text, &rest->length, &whole) || whole > most)
        return false;
    if (rest->length > 0 && rest->text[0] == '.') {
        rest->text++, rest->length--;
        const size_t left = rest->length;
        if (!dti_amount_digits(&rest->text, &rest->length, &fraction) || left - rest->length > 3)
            return false;
        for (size_t i = left - rest->length; i < 3; i++)
            fraction *= 10;
    }
    *ret = whole * 1000 + fraction;
    return true;
}

enum dti_status dti_bench_parse_time(struct bench_job *job, const char *text,
                                     struct dti_error *reterr)
{
    static const uint64_t longest = 3600;
    const struct bench_word word = {.text = text, .length = strlen(text)};
    struct bench_word rest = word;
    uint64_t milliseconds;
    if (!thousandths(&rest, longest - 1, &milliseconds) || rest.length > 0 || milliseconds == 0)
        return dti_bench_refuse(DTI_USAGE, "--time takes seconds from 0.001 to below 3600", &word,
                                reterr);
    job->asked.setup.nanoseconds = milliseconds * 1000000;
    return DTI_OK;
}

enum dti_status dti_bench_parse_regression(const char *text, double *ret_share,
                                           struct dti_error *reterr)
{
    static const uint64_t most = 10000;
    const struct bench_word word = {.text = text, .length = strlen(text)};
    struct bench_word rest = word;
    uint64_t share;
    if (!thousandths(&rest, most, &share) || rest.length != 1 || rest.text[0] != '%')
        return dti_bench_refuse(DTI_USAGE, "--max-regression takes percent, as in 10% or 2.5%",
                                &word, reterr);
    *ret_share = (double)share / 100000;
    return DTI_OK;
}
