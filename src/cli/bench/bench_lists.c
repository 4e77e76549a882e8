/* SPDX-License-Identifier: MIT
 *
 * Words between commas: threads, levels, seconds, dtypes and sizes, which are bytes, elements
 * ("16777216", "2000x2000") or products of matrices ("1000", "1x2048x1024" for MxNxK). */
#include "cli/bench/bench_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shared/amount.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"
#include "dtinfo/nearest.h"

enum { FACTORS_MAX = 3, NAME_SIZE = 64 };

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

enum dti_status dti_bench_refuse(enum dti_status code, const char *what,
                                 const struct bench_word *word, struct dti_error *reterr)
{
    return dti_fail_word(reterr, code, word->text, word->length, "%s; got %s", what,
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

enum dti_status dti_bench_look_up(const struct bench_job *job, const struct bench_word *word,
                                  struct dti_format *ret, struct dti_error *reterr)
{
    char name[NAME_SIZE];
    const char *note = NULL;
    if (!word_copy(name, word))
        return dti_bench_refuse(DTI_UNKNOWN_DTYPE, "dtypes have short names", word, reterr);
    const enum dti_status status = dti_format_lookup(name, ret, &note, reterr);
    if (status == DTI_OK && note)
        dti_warn(job->cx, "%s", note);
    return status;
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

enum dti_status dti_bench_parse_levels(struct bench_job *job, const char *list,
                                       struct dti_error *reterr)
{
    enum dti_level *const level = &job->asked.setup.level; /* the highest there is, */
    enum dti_status status = dti_level_choose(getenv("DTINFO_CPU"), level, reterr);
    if (status == DTI_OK && !list)
        add_level(job, *level);
    if (status == DTI_OK)
        status = dti_bench_each_word(job, list, take_level, reterr);
    *level = job->asked.cast.levels[0]; /* the highest that was asked for */
    return status;
}

/* Thousandths of a number with up to three decimals, at the start of *rest, which moves past it.
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

/* n elements in all, in m rows; or a product of matrices, of which 1000 is a square one. */
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

/* For elements the label keeps the spelling of the user. */
enum dti_status dti_bench_take_size(struct bench_job *job, const struct bench_word *word,
                                    struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE];
    if (job->asked.size_count == DTI_BENCH_SIZES_MAX)
        return dti_bench_too_many("sizes", reterr);
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
        return dti_bench_refuse(DTI_USAGE,
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

enum dti_status dti_bench_take_dtype(struct bench_job *job, const struct bench_word *word,
                                     struct dti_error *reterr)
{
    char name[NAME_SIZE];
    struct dti_format format = {.id = DTI_NONE};
    struct dti_bench_job *const asked = &job->asked;
    const struct dti_bench_kind *const kind = asked->setup.kind;
    const struct dti_block_format *const block =
        word_copy(name, word) ? dti_block_lookup(name) : NULL;
    const enum dti_status status = block ? DTI_OK : dti_bench_look_up(job, word, &format, reterr);
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
        return dti_bench_too_many("dtypes", reterr);
    if (block)
        asked->blocks[(*count)++] = block->id;
    else
        asked->dtypes[(*count)++] = format.id;
    return DTI_OK;
}
