/* SPDX-License-Identifier: MIT
 *
 * What `bench cast` is to measure: lists of pairs, sizes, threads and levels. */
#include <stdlib.h>
#include <string.h>

#include "cli/amount.h"
#include "cli/bench_job.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"

static const char default_pairs[] = "fp32:bf16,fp32:fp16,bf16:fp32,fp16:fp32,fp64:fp32,"
                                    "fp32:fp8_e4m3fn,fp32:fp8_e5m2,fp8_e4m3fn:fp32,"
                                    "fp32:int8,int8:fp32";
static const char default_sizes[] = "4KiB,1MiB,64MiB";

/* A run of the default suite takes about a minute. */
static const uint64_t suite_nanoseconds = 42000000000, least_nanoseconds = 1000000000,
                      most_nanoseconds = 5000000000;

/* The next word of a list; *list moves behind its comma, or becomes NULL at the end. */
struct word {
    const char *text;
    size_t length;
};

static struct word next_word(const char **list)
{
    const struct word word = {.text = *list, .length = strcspn(*list, ",")};
    *list = word.text[word.length] == ',' ? word.text + word.length + 1 : NULL;
    return word;
}

static enum dti_status refuse(enum dti_status code, const char *what, const struct word *word,
                              struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, code, "%s; %s is not", what,
                   dti_quote(quoted, word->text, word->length));
    dti_error_argument(reterr, word->text, word->length);
    return code;
}

static enum dti_status too_many(const char *what, struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_USAGE, "too many %s for one run; measure them in parts", what);
}

static bool equals(const struct word *word, const char *text)
{
    return word->length == strlen(text) && dti_ascii_equal_start(word->text, text, word->length);
}

static enum dti_status parse_sizes(struct bench_job *job, const char *list,
                                   struct dti_error *reterr)
{
    while (list) {
        const struct word word = next_word(&list);
        if (job->size_count == BENCH_SIZES_MAX)
            return too_many("sizes", reterr);
        const enum dti_status status = dti_amount_bytes("--size", word.text, word.length,
                                                        &job->sizes[job->size_count], reterr);
        if (status != DTI_OK)
            return status;
        job->size_count++;
    }
    return DTI_OK;
}

static enum dti_status parse_threads(struct bench_job *job, const char *list,
                                     struct dti_error *reterr)
{
    while (list) {
        const struct word word = next_word(&list);
        size_t number;
        if (job->thread_count == BENCH_THREADS_MAX)
            return too_many("numbers of threads", reterr);
        const enum dti_status status = dti_amount_threads(word.text, word.length, &number, reterr);
        if (status != DTI_OK)
            return status;
        if (number > dti_cpu_count())
            dti_warn(job->cx,
                     "%zu threads take turns on %zu CPU%s; that measures the system as well",
                     number, dti_cpu_count(), dti_cpu_count() == 1 ? "" : "s");
        job->threads[job->thread_count++] = number;
    }
    return DTI_OK;
}

static enum dti_status no_level(enum dti_level level, enum dti_level highest,
                                struct dti_error *reterr)
{
    const char *const name = dti_level_name(level);
    if (dti_level_present(level))
        (void)dti_fail(reterr, DTI_UNAVAILABLE,
                       "level '%s' is above %s, which DTINFO_CPU sets as the highest", name,
                       dti_level_name(highest));
    else
        (void)dti_fail(reterr, DTI_UNAVAILABLE,
                       "level '%s' is not available on this CPU; the highest is %s", name,
                       dti_level_name(highest));
    dti_error_argument(reterr, name, strlen(name));
    return DTI_UNAVAILABLE;
}

static void add_level(struct bench_job *job, enum dti_level level)
{
    size_t at = 0;
    for (; at < job->level_count; at++) {
        if (job->levels[at] == level)
            return;
        if (dti_level_includes(level, job->levels[at]))
            break;
    }
    memmove(job->levels + at + 1, job->levels + at, (job->level_count - at) * sizeof *job->levels);
    job->levels[at] = level;
    job->level_count++;
}

static enum dti_status parse_levels(struct bench_job *job, const char *list,
                                    struct dti_error *reterr)
{
    enum dti_level highest;
    enum dti_status status = dti_level_choose(getenv("DTINFO_CPU"), &highest, reterr);
    if (status == DTI_OK && !list)
        add_level(job, highest);
    while (status == DTI_OK && list) {
        const struct word word = next_word(&list);
        enum dti_level level;
        char name[32] = "";
        memcpy(name, word.text, word.length < sizeof name ? word.length : sizeof name - 1);
        if (equals(&word, "all")) {
            for (unsigned i = 0; i < DTI_LEVEL_COUNT; i++) {
                if (dti_level_includes(highest, (enum dti_level)i))
                    add_level(job, (enum dti_level)i);
            }
            continue;
        }
        status = dti_level_lookup(name, &level, reterr);
        if (status == DTI_OK && !dti_level_includes(highest, level))
            status = no_level(level, highest, reterr);
        if (status == DTI_OK)
            add_level(job, level);
    }
    return status;
}

static enum dti_status look_up(const struct bench_job *job, const char *text, size_t length,
                               struct dti_format *ret, struct dti_error *reterr)
{
    char name[64];
    const char *note = NULL;
    const struct word word = {.text = text, .length = length};
    if (length == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "a cast is SRC:DST, as in fp32:bf16; a dtype is missing beside the colon");
    if (length >= sizeof name)
        return refuse(DTI_UNKNOWN_DTYPE, "dtypes have short names", &word, reterr);
    memcpy(name, text, length);
    name[length] = '\0';
    const enum dti_status status = dti_format_lookup(name, ret, &note, reterr);
    if (status != DTI_OK)
        return status;
    if (note)
        dti_warn(job->cx, "%s", note);
    if (ret->kind != DTI_KIND_COMPLEX)
        return DTI_OK;
    (void)dti_fail(reterr, DTI_WRONG_KIND, "%s is a pair of numbers; measure its parts, %s",
                   ret->name, dti_format_get(ret->part)->name);
    dti_error_argument(reterr, text, length);
    return DTI_WRONG_KIND;
}

static enum dti_status parse_pairs(struct bench_job *job, const char *list,
                                   struct dti_error *reterr)
{
    while (list) {
        const struct word word = next_word(&list);
        const char *const colon = memchr(word.text, ':', word.length);
        if (!colon)
            return refuse(DTI_USAGE, "a cast is SRC:DST, as in fp32:bf16", &word, reterr);
        if (job->pair_count == BENCH_PAIRS_MAX)
            return too_many("casts", reterr);
        struct bench_pair *const pair = &job->pairs[job->pair_count];
        const size_t first = (size_t)(colon - word.text);
        enum dti_status status = look_up(job, word.text, first, &pair->src, reterr);
        if (status == DTI_OK)
            status = look_up(job, colon + 1, word.length - first - 1, &pair->dst, reterr);
        if (status == DTI_OK && job->args->overflow == DTI_OVERFLOW_WRAP &&
            !dti_format_is_integer(&pair->dst))
            status = dti_fail(reterr, DTI_USAGE,
                              "--overflow wrap is for integer dtypes; %s is a float: use saturate",
                              pair->dst.name);
        if (status != DTI_OK)
            return status;
        job->pair_count++;
    }
    return DTI_OK;
}

/* Seconds with up to three decimals. */
static enum dti_status parse_time(struct bench_job *job, const char *text, struct dti_error *reterr)
{
    static const uint64_t longest = 3600;
    const struct word word = {.text = text, .length = strlen(text)};
    struct word rest = word;
    uint64_t seconds = 0, fraction = 0;
    bool good = dti_amount_digits(&rest.text, &rest.length, &seconds);
    if (good && rest.length > 0 && rest.text[0] == '.') {
        rest.text++, rest.length--;
        const size_t digits = rest.length;
        good = digits <= 3 && dti_amount_digits(&rest.text, &rest.length, &fraction);
        for (size_t i = digits; i < 3; i++)
            fraction *= 10;
    }
    if (!good || rest.length > 0 || seconds + fraction == 0 || seconds >= longest)
        return refuse(DTI_USAGE, "--time takes seconds from 0.001 to below 3600", &word, reterr);
    job->nanoseconds = (seconds * 1000 + fraction) * 1000000;
    return DTI_OK;
}

static void share_time(struct bench_job *job)
{
    const uint64_t measurements = job->pair_count * job->thread_count * job->size_count;
    const uint64_t share = suite_nanoseconds / measurements;
    job->nanoseconds = share < least_nanoseconds  ? least_nanoseconds
                       : share > most_nanoseconds ? most_nanoseconds
                                                  : share;
}

enum dti_status dti_bench_job_init(struct bench_job *ret, const struct bench_args *args,
                                   char **operands, int operand_count, const struct dti_context *cx,
                                   struct dti_error *reterr)
{
    *ret = (struct bench_job){.args = args, .cx = cx, .cpus = dti_cpu_count()};
    enum dti_status status = parse_levels(ret, args->level, reterr);
    if (status == DTI_OK)
        status = parse_sizes(ret, args->size ? args->size : default_sizes, reterr);
    if (status == DTI_OK)
        status = parse_threads(ret, args->threads ? args->threads : "1", reterr);
    for (int i = 0; i < operand_count && status == DTI_OK; i++)
        status = parse_pairs(ret, operands[i], reterr);
    if (status == DTI_OK && operand_count == 0)
        status = parse_pairs(ret, default_pairs, reterr);
    if (status == DTI_OK && args->time)
        status = parse_time(ret, args->time, reterr);
    else if (status == DTI_OK)
        share_time(ret);
    return status;
}
