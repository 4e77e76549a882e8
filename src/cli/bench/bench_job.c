/* SPDX-License-Identifier: MIT
 *
 * What `bench` measures, from its options and operands. Many are comma-separated lists: threads,
 * levels, seconds, dtypes and sizes. Sizes are bytes, elements ("16777216", "2000x2000") or matrix
 * products ("1000", "1x2048x1024" for MxNxK). */
#include "cli/bench/bench_job.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench_page.h"
#include "convert/resident.h"
#include "requests/amount.h"
#include "requests/option_rows.h"
#include "util/checked.h"
#include "util/run/library.h"
#include "util/text/ascii.h"
#include "util/text/nearest.h"

enum { FACTORS_MAX = 3, NAME_SIZE = 64 };

/* A word of a list, and the callback for each word. */
struct bench_word {
    const char *text;
    size_t length;
};
typedef enum dti_status bench_take_fn(struct bench_job *job, const struct bench_word *word,
                                      struct dti_error *reterr);

/* The next word of a list; *list moves past its comma, or becomes NULL at the end. */
static struct bench_word next_word(const char **list)
{
    const struct bench_word word = {.text = *list, .length = strcspn(*list, ",")};
    *list = word.text[word.length] == ',' ? word.text + word.length + 1 : NULL;
    return word;
}

static bool word_is(const struct bench_word *word, const char *text)
{
    return word->length == strlen(text) && dti_ascii_equal_start(word->text, text, word->length);
}

/* "what; got 'word'" */
static enum dti_status refuse(enum dti_status code, const char *what, const struct bench_word *word,
                              struct dti_error *reterr)
{
    return dti_fail_word(reterr, code, word->text, word->length, "%s; got %s", what,
                         DTI_QUOTED(word->text, word->length));
}

/* "what; got 'word'", and "too many ... for one run". */
static enum dti_status too_many(const char *what, struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_USAGE, "too many %s for one run; measure them in parts", what);
}

static enum dti_status each_word(struct bench_job *job, const char *list, bench_take_fn *take,
                                 struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    while (list && status == DTI_OK) {
        const struct bench_word word = next_word(&list);
        status = take(job, &word, reterr);
    }
    return status;
}

/* Copies the word; false if it is too long for a name. */
static bool word_copy(char ret[NAME_SIZE], const struct bench_word *word)
{
    if (word->length >= NAME_SIZE)
        return false;
    memcpy(ret, word->text, word->length);
    ret[word->length] = '\0';
    return true;
}

/* A dtype by its name, with a warning if the name has two meanings. */
static enum dti_status look_up_dtype(const struct bench_job *job, const struct bench_word *word,
                                     struct dti_format *ret, struct dti_error *reterr)
{
    char name[NAME_SIZE];
    const char *note = NULL;
    if (!word_copy(name, word))
        return refuse(DTI_UNKNOWN_DTYPE, "dtypes have short names", word, reterr);
    const enum dti_status status = dti_format_lookup(name, ret, &note, reterr);
    if (status == DTI_OK && note)
        dti_warn(job->cx, "%s", note);
    return status;
}

/* Callbacks for the words of a list: each parses one word and adds it to the job. */
static enum dti_status take_threads(struct bench_job *job, const struct bench_word *word,
                                    struct dti_error *reterr)
{
    size_t number;
    const size_t cpus = dti_cpu_count();
    if (job->asked.thread_count == DTI_BENCH_THREADS_MAX)
        return too_many("numbers of threads", reterr);
    const enum dti_status status = dti_amount_threads(word->text, word->length, &number, reterr);
    if (status != DTI_OK)
        return status;
    if (number > cpus)
        dti_warn(job->cx,
                 "%zu threads share %zu CPU%s; the figures include the system's scheduling", number,
                 cpus, cpus == 1 ? "" : "s");
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
    struct dti_bench_cast *const cast = &job->asked.cast;
    size_t at = 0;
    for (; at < cast->level_count; at++) {
        if (cast->levels[at] == level)
            return;
        if (dti_level_includes(level, cast->levels[at]))
            break;
    }
    memmove(cast->levels + at + 1, cast->levels + at,
            (cast->level_count - at) * sizeof *cast->levels);
    cast->levels[at] = level;
    cast->level_count++;
}

static enum dti_status take_level(struct bench_job *job, const struct bench_word *word,
                                  struct dti_error *reterr)
{
    const enum dti_level highest = job->asked.setup.level;
    enum dti_level level;
    char name[32] = "";
    memcpy(name, word->text, word->length < sizeof name ? word->length : sizeof name - 1);
    if (word_is(word, "all")) {
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

static enum dti_status parse_levels(struct bench_job *job, const char *list,
                                    struct dti_error *reterr)
{
    enum dti_level *const level = &job->asked.setup.level; /* the highest level available */
    enum dti_status status = dti_level_choose(getenv("DTINFO_CPU"), level, reterr);
    if (status == DTI_OK && !list)
        add_level(job, *level);
    if (status == DTI_OK)
        status = each_word(job, list, take_level, reterr);
    *level = job->asked.cast.levels[0]; /* the highest level requested */
    return status;
}

/* Parses a number with up to three decimals as thousandths, at the start of *rest, and advances
 * past it. */
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

/* --time: seconds from 0.001 to below 3600. */
static enum dti_status parse_time(struct bench_job *job, const char *text, struct dti_error *reterr)
{
    static const uint64_t longest = 3600;
    const struct bench_word word = {.text = text, .length = strlen(text)};
    struct bench_word rest = word;
    uint64_t milliseconds;
    if (!thousandths(&rest, longest - 1, &milliseconds) || rest.length > 0 || milliseconds == 0)
        return refuse(DTI_USAGE, "--time takes seconds from 0.001 to below 3600", &word, reterr);
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
        return refuse(DTI_USAGE, "--max-regression takes percent, as in 10% or 2.5%", &word,
                      reterr);
    *ret_share = (double)share / 100000;
    return DTI_OK;
}

/* "2000x1000": up to three numbers above 0. */
static bool parse_factors(const struct bench_word *word, uint64_t factors[FACTORS_MAX],
                          size_t *ret_count)
{
    const char *at = word->text;
    size_t left = word->length;
    for (size_t count = 0; count < FACTORS_MAX; count++) {
        if (!dti_amount_digits(&at, &left, &factors[count]) || factors[count] == 0)
            return false;
        if (left == 0) {
            *ret_count = count + 1;
            return true;
        }
        if (*at != 'x')
            return false;
        at++, left--;
    }
    return false;
}

/* n elements in m rows; or a matrix product, where 1000 stands for a square one. */
static bool parse_shape(const struct bench_word *word, bool product, struct dti_bench_size *ret)
{
    uint64_t factors[FACTORS_MAX], n = 1;
    size_t count;
    if (!parse_factors(word, factors, &count) || (product && count == 2))
        return false;
    for (size_t i = 0; i < count && !product; i++) {
        if (!dti_mul_u64(n, factors[i], &n))
            return false;
    }
    ret->m = product || count > 1 ? factors[0] : 0;
    ret->n = !product ? n : count == 1 ? factors[0] : factors[1];
    ret->k = !product ? 0 : count == 1 ? factors[0] : factors[2];
    return true;
}

/* For elements the label keeps the user's spelling. */
static enum dti_status take_size(struct bench_job *job, const struct bench_word *word,
                                 struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE];
    if (job->asked.size_count == DTI_BENCH_SIZES_MAX)
        return too_many("sizes", reterr);
    struct dti_bench_size *const ret = &job->asked.sizes[job->asked.size_count++];
    const bool product = job->asked.setup.kind->size_is == DTI_BENCH_PRODUCT;
    if (job->asked.setup.kind->size_is == DTI_BENCH_BYTES) {
        const enum dti_status status =
            dti_amount_bytes("--size", word->text, word->length, &ret->n, reterr);
        if (status == DTI_OK)
            (void)snprintf(ret->label, sizeof ret->label, "%s", dti_bench_bytes(text, ret->n));
        return status;
    }
    if (!parse_shape(word, product, ret))
        return refuse(DTI_USAGE,
                      product ? "--size takes products of matrices, as in 1000 (square) "
                                "or 1x2048x1024 (MxNxK)"
                              : "--size takes elements, as in 16777216 or 2000x2000",
                      word, reterr);
    if (product)
        (void)snprintf(ret->label, sizeof ret->label, "%llux%llux%llu", (unsigned long long)ret->m,
                       (unsigned long long)ret->n, (unsigned long long)ret->k);
    else
        (void)snprintf(ret->label, sizeof ret->label, "%.*s%s", (int)word->length, word->text,
                       memchr(word->text, 'x', word->length) ? ""
                       : ret->n == 1                         ? " element"
                                                             : " elements");
    return DTI_OK;
}

/* Whether the kind's lists contain a dtype. */
static bool offers(const struct dti_bench_kind *kind, const char *name)
{
    const char *const lists[] = {kind->dtypes, kind->more};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *list = lists[i];
        while (list) {
            const struct bench_word word = next_word(&list);
            if (word_is(&word, name))
                return true;
        }
    }
    return false;
}

static enum dti_status take_dtype(struct bench_job *job, const struct bench_word *word,
                                  struct dti_error *reterr)
{
    char name[NAME_SIZE];
    struct dti_format format = {.id = DTI_NONE};
    struct dti_bench_job *const asked = &job->asked;
    const struct dti_bench_kind *const kind = asked->setup.kind;
    const struct dti_block_format *const block =
        word_copy(name, word) ? dti_block_lookup(name) : NULL;
    const enum dti_status status = block ? DTI_OK : look_up_dtype(job, word, &format, reterr);
    if (status != DTI_OK)
        return status;
    const char *const found = block ? block->name : format.name;
    if ((!block && format.id == DTI_NONE) || !offers(kind, found))
        return dti_fail_word(reterr, DTI_WRONG_KIND, word->text, word->length,
                             "'bench %s' has no %s; it measures %s%s%s", kind->name, found,
                             kind->dtypes, kind->more ? "," : "", kind->more ? kind->more : "");
    size_t *const count = block ? &asked->request.block_count : &asked->request.dtype_count;
    for (size_t i = 0; i < *count; i++) {
        if (block ? asked->blocks[i] == block->id : asked->dtypes[i] == format.id)
            return DTI_OK;
    }
    if (*count == DTI_BENCH_DTYPES_MAX)
        return too_many("dtypes", reterr);
    if (block)
        asked->blocks[(*count)++] = block->id;
    else
        asked->dtypes[(*count)++] = format.id;
    return DTI_OK;
}

static const char default_pairs[] = "fp32:bf16,fp32:fp16,bf16:fp32,fp16:fp32,fp64:fp32,"
                                    "fp32:fp8_e4m3fn,fp32:fp8_e5m2,fp8_e4m3fn:fp32,"
                                    "fp32:int8,int8:fp32";

/* A run of the default suite takes about a minute. */
static const uint64_t suite_nanoseconds = 42000000000, least_nanoseconds = 1000000000,
                      most_nanoseconds = 5000000000;

static enum dti_status look_up_real(const struct bench_job *job, const char *text, size_t length,
                                    struct dti_format *ret, struct dti_error *reterr)
{
    const struct bench_word word = {.text = text, .length = length};
    if (length == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "a cast is SRC:DST, as in fp32:bf16; a dtype is missing next to the colon");
    const enum dti_status status = look_up_dtype(job, &word, ret, reterr);
    if (status != DTI_OK || ret->kind != DTI_KIND_COMPLEX)
        return status;
    return dti_fail_word(reterr, DTI_WRONG_KIND, text, length,
                         "%s is complex; measure its parts, %s", ret->name,
                         dti_format_get(ret->component)->name);
}

static enum dti_status take_pair(struct bench_job *job, const struct bench_word *word,
                                 struct dti_error *reterr)
{
    const char *const colon = memchr(word->text, ':', word->length);
    if (!colon)
        return refuse(DTI_USAGE, "a cast is SRC:DST, as in fp32:bf16", word, reterr);
    if (job->asked.pair_count == DTI_BENCH_PAIRS_MAX)
        return too_many("casts", reterr);
    struct dti_bench_pair *const pair = &job->asked.pairs[job->asked.pair_count++];
    const size_t first = (size_t)(colon - word->text);
    enum dti_status status = look_up_real(job, word->text, first, &pair->src, reterr);
    if (status == DTI_OK)
        status = look_up_real(job, colon + 1, word->length - first - 1, &pair->dst, reterr);
    if (status == DTI_OK && job->args->overflow == DTI_OVERFLOW_WRAP &&
        !dti_format_is_integer(&pair->dst))
        status = dti_fail(reterr, DTI_USAGE,
                          "--overflow wrap is for integer dtypes; %s is a float: use saturate",
                          pair->dst.name);
    return status;
}

static void share_time(struct bench_job *job)
{
    const uint64_t subjects =
        job->asked.setup.kind->casts ? job->asked.pair_count : job->asked.cast.level_count;
    const uint64_t measurements =
        subjects * job->asked.thread_count * job->asked.size_count * job->asked.device_count;
    const uint64_t share = suite_nanoseconds / measurements;
    job->asked.setup.nanoseconds = share < least_nanoseconds  ? least_nanoseconds
                                   : share > most_nanoseconds ? most_nanoseconds
                                                              : share;
}

static enum dti_status no_operand(const struct dti_bench_kind *kind, const char *operand,
                                  struct dti_error *reterr)
{
    const size_t length = strlen(operand);
    return dti_fail_word(
        reterr, DTI_USAGE, operand, length, "'bench %s' takes no operands; got %s%s", kind->name,
        DTI_QUOTED(operand, length),
        kind->dtypes[0] != '\0' ? ": name dtypes with --dtype, sizes with --size" : "");
}

static void add_device(struct bench_job *job, const char *id, struct dti_gpu *gpu,
                       struct dti_runner *runner)
{
    struct dti_bench_device *const device = &job->asked.devices[job->asked.device_count++];
    *device = (struct dti_bench_device){.gpu = gpu, .runner = runner};
    (void)snprintf(device->id, sizeof device->id, "%s", id);
}

/* Plans of casts need a runner, which owns its device. */
static enum dti_status add_gpu(struct bench_job *job, unsigned number, struct dti_error *reterr)
{
    const struct dti_device_choice choice = {.kind = DTI_DEVICE_CUDA, .number = number};
    struct dti_gpu *gpu;
    struct dti_runner *runner;
    const bool casts = job->asked.setup.kind->casts;
    const enum dti_status status =
        casts ? dti_runner_open(&runner, &choice, reterr) : dti_gpu_open(&gpu, number, reterr);
    if (status == DTI_OK && casts)
        add_device(job, dti_runner_device(runner), dti_runner_gpu(runner), runner);
    else if (status == DTI_OK)
        add_device(job, dti_gpu_facts(gpu)->id, gpu, NULL);
    return status;
}

/* A hanging loader would block the CPU's threads, too. */
static enum dti_status check_loader(const char *why, struct dti_error *reterr)
{
    if (dti_library_is_opening())
        return dti_fail(reterr, DTI_DEVICE_FAILED, "%s; use --device cpu", why);
    return DTI_OK;
}

/* Adds every device that works and warns about the others. */
static enum dti_status add_all(struct bench_job *job, struct dti_error *reterr)
{
    struct dti_gpu_list list;
    add_device(job, "cpu", NULL, NULL);
    const enum dti_status status = dti_gpu_probe(&list, reterr);
    if (status != DTI_OK)
        return status;
    if (list.count == 0)
        (void)snprintf(job->device_reason, sizeof job->device_reason, "no CUDA device: %s",
                       list.why_not);
    for (size_t i = 0; i < list.count && job->asked.device_count < DTI_BENCH_DEVICES_MAX; i++) {
        struct dti_error error = {.status = DTI_OK};
        if (add_gpu(job, list.gpus[i].number, &error) != DTI_OK)
            dti_warn(job->cx, "cuda:%u is skipped: %s", list.gpus[i].number, error.text);
    }
    const enum dti_status loader = check_loader(list.why_not, reterr);
    dti_gpu_list_free(&list);
    return loader;
}

/* The devices of --device. A driver is loaded only if --device asks for one. */
static enum dti_status open_devices(struct bench_job *job, const char *text,
                                    struct dti_error *reterr)
{
    struct dti_device_choice choice;
    enum dti_status status = dti_device_choice_parse(&choice, text, reterr);
    if (status != DTI_OK)
        return status;
    if (choice.kind == DTI_DEVICE_ALL)
        return add_all(job, reterr);
    if (choice.kind == DTI_DEVICE_CUDA)
        return add_gpu(job, choice.number, reterr);
    if (choice.kind == DTI_DEVICE_AUTO) {
        struct dti_error error = {.status = DTI_OK};
        if (add_gpu(job, 0, &error) == DTI_OK)
            return DTI_OK;
        status = check_loader(error.text, reterr);
        if (status != DTI_OK)
            return status;
        (void)snprintf(job->device_reason, sizeof job->device_reason, "cpu: %s", error.text);
    }
    add_device(job, "cpu", NULL, NULL);
    return DTI_OK;
}

/* --a and --b: they determine the size, and dtypes in which they overflow are left out. */
static enum dti_status take_operands(struct bench_job *job, struct dti_error *reterr)
{
    struct dti_bench_job *const asked = &job->asked;
    const char *overflow[DTI_BENCH_DTYPES_MAX];
    size_t kept = 0;
    const enum dti_status status = dti_bench_operands_read(
        &job->operands, asked->setup.kind, job->args->a, job->args->b, &asked->sizes[0], reterr);
    if (status != DTI_OK)
        return status;
    asked->size_count = 1;
    asked->request.operands = job->operands.list;
    assert(asked->request.dtype_count > 0); /* there are defaults */
    for (size_t i = 0; i < asked->request.dtype_count; i++) {
        overflow[i] = dti_bench_operands_overflow(job->operands.list, asked->dtypes[i]);
        kept += !overflow[i];
    }
    if (kept == 0)
        return dti_fail(reterr, DTI_BAD_VALUE, "nothing can be measured in %s: %s",
                        dti_format_get(asked->dtypes[0])->name, overflow[0]);
    kept = 0;
    for (size_t i = 0; i < asked->request.dtype_count; i++) {
        if (overflow[i])
            dti_warn(job->cx, "%s is left out: %s", dti_format_get(asked->dtypes[i])->name,
                     overflow[i]);
        else
            asked->dtypes[kept++] = asked->dtypes[i];
    }
    asked->request.dtype_count = kept;
    return DTI_OK;
}

enum dti_status dti_bench_job_init(struct bench_job *ret, const struct dti_bench_kind *kind,
                                   const struct bench_args *args, char **operands,
                                   int operand_count, const struct dti_command_context *cx,
                                   struct dti_error *reterr)
{
    const uint64_t seed = args->seed_given ? args->seed : 1;
    *ret = (struct bench_job){
        .asked = {.setup = {.kind = kind,
                            .data = dti_choice_name(dti_choice_bench_data, args->data),
                            .cache = dti_choice_name(dti_choice_bench_cache, args->cache),
                            .round = dti_choice_name(dti_choice_round, args->round),
                            .overflow = dti_choice_name(dti_choice_overflow, args->overflow),
                            .engine = args->engine,
                            .a = args->a,
                            .b = args->b,
                            .seed = seed,
                            .loss = args->loss,
                            .with_alloc = args->with_alloc,
                            .samples = args->samples,
                            .cpus = dti_cpu_count()},
                  .request = {.cache = (enum dti_bench_cache)args->cache,
                              .with_alloc = args->with_alloc,
                              .engine = args->engine,
                              .seed = seed,
                              .options = {.seed = seed, .cpus = dti_cpu_count()}},
                  .cast = {.policy = {.round = (enum dti_round)args->round,
                                      .overflow = (enum dti_overflow)args->overflow,
                                      .seed = seed},
                           .loss = args->loss,
                           .data = (enum dti_bench_data)args->data},
                  .usual_sizes = !args->size && !args->a},
        .args = args,
        .cx = cx,
    };
    enum dti_status status = parse_levels(ret, args->level, reterr);
    if (status == DTI_OK && !args->a)
        status = each_word(ret, args->size ? args->size : kind->sizes, take_size, reterr);
    if (status == DTI_OK)
        status = each_word(ret, args->threads ? args->threads : "all", take_threads, reterr);
    if (status == DTI_OK && !kind->casts && operand_count > 0)
        status = no_operand(kind, operands[0], reterr);
    for (int i = 0; i < operand_count && status == DTI_OK; i++)
        status = each_word(ret, operands[i], take_pair, reterr);
    if (status == DTI_OK && kind->casts && operand_count == 0)
        status = each_word(ret, default_pairs, take_pair, reterr);
    if (status == DTI_OK && (args->dtypes || kind->dtypes[0] != '\0'))
        status = each_word(ret, args->dtypes ? args->dtypes : kind->dtypes, take_dtype, reterr);
    if (status == DTI_OK && args->a)
        status = take_operands(ret, reterr);
    if (status == DTI_OK && args->time)
        status = parse_time(ret, args->time, reterr);
    if (status == DTI_OK)
        status = open_devices(ret, args->device, reterr);
    if (status == DTI_OK && !args->time)
        share_time(ret);
    return status;
}

void dti_bench_job_end(struct bench_job *job)
{
    for (size_t i = 0; i < job->asked.device_count; i++)
        if (job->asked.devices[i].runner)
            dti_runner_close(job->asked.devices[i].runner);
        else
            dti_gpu_close(job->asked.devices[i].gpu);
    job->asked.device_count = 0;
    dti_bench_operands_free(&job->operands);
}
