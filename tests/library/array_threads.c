/* SPDX-License-Identifier: MIT
 *
 * Threads that share a context, its casters and its team: plans made, kept, dropped and run at the
 * same time, reports asked for first by several threads, scans and casts. Results are compared
 * with those of one thread alone. Build with -Db_sanitize=thread to see races. Linked with the
 * shared library alone. */
#include <dtinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 40, NUMBERS = 400000, SMALL = 1000 };

static struct dti_context *context;
static const struct dti_format *fp32, *formats[4];
static float *numbers;
static unsigned char *expected[4];
static struct dti_cast_report reports[4];
static struct dti_array_stats stats;
static struct dti_caster *shared[4];

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "%s\n", what);
    exit(1);
}

static void done(enum dti_status status, const struct dti_error *error)
{
    check(status == DTI_OK, error->text);
}

static struct dti_cast_spec spec_of(size_t i)
{
    return (struct dti_cast_spec){.size = sizeof(struct dti_cast_spec),
                                  .src = fp32,
                                  .dst = formats[i],
                                  .dst_packing = DTI_PACKING_BYTES};
}

static bool same_report(const struct dti_cast_report *a, const struct dti_cast_report *b)
{
    return a->inexact == b->inexact && a->max_index == b->max_index && a->elements == b->elements &&
           memcmp(&a->mean_absolute, &b->mean_absolute, sizeof a->mean_absolute) == 0 &&
           memcmp(&a->sqnr_db, &b->sqnr_db, sizeof a->sqnr_db) == 0;
}

/* All casts of one round: with the shared caster, and with one that others make, too. */
static void run_round(size_t number, unsigned char *buffer)
{
    struct dti_error error;
    const size_t i = number % 4, bytes = dti_caster_dst_bytes(shared[i], NUMBERS);
    struct dti_caster *own = NULL;
    struct dti_cast_spec spec = spec_of(i);
    done(dti_caster_new(&own, context, &spec, &error), &error);
    done(dti_caster_run(own, buffer, numbers, SMALL, NULL, &error), &error);
    check(memcmp(buffer, expected[i], dti_caster_dst_bytes(own, SMALL)) == 0, "small cast");
    struct dti_cast_report report = {.size = sizeof report};
    memset(buffer, 0xa5, bytes);
    done(dti_caster_run(shared[i], buffer, numbers, NUMBERS, &report, &error), &error);
    check(memcmp(buffer, expected[i], bytes) == 0, "cast with a report");
    check(same_report(&report, &reports[i]), "report");
    memset(buffer, 0xa5, bytes);
    const size_t shape[2] = {NUMBERS / 100, 100};
    const ptrdiff_t strides[2] = {100 * sizeof(float), sizeof(float)};
    done(dti_caster_run_strided(own, buffer, numbers, 2, shape, strides, NULL, &error), &error);
    check(memcmp(buffer, expected[i], bytes) == 0, "cast of rows");
    struct dti_array_stats found = {.size = sizeof found};
    done(dti_array_stats(context, fp32, DTI_PACKING_BYTES, numbers, NUMBERS, &found, &error),
         &error);
    check(found.max_index == stats.max_index && found.negative == stats.negative, "statistics");
    spec.round_given = true; /* others, so that kept ones are dropped */
    spec.round = DTI_ROUND_STOCHASTIC;
    spec.seed = number;
    struct dti_caster *other = NULL;
    done(dti_caster_new(&other, context, &spec, &error), &error);
    done(dti_caster_run(other, buffer, numbers, SMALL, NULL, &error), &error);
    dti_caster_free(other);
    dti_caster_free(own);
}

static void *work(void *argument)
{
    const size_t first = *(const size_t *)argument;
    unsigned char *const buffer = malloc(NUMBERS * sizeof(float));
    check(buffer != NULL, "out of memory");
    for (size_t i = 0; i < ROUNDS; i++)
        run_round(first + i, buffer);
    free(buffer);
    return NULL;
}

static void prepare(void)
{
    static const char *const names[4] = {"bf16", "fp16", "fp8_e4m3fn", "fp4_e2m1"};
    struct dti_error error;
    const struct dti_context_options alone = {.size = sizeof alone, .threads = 1};
    struct dti_context *one = NULL;
    done(dti_context_new(&one, &alone, &error), &error);
    const struct dti_context_options options = {.size = sizeof options, .threads = 3};
    done(dti_context_new(&context, &options, &error), &error);
    done(dti_format_find(context, "fp32", &fp32, NULL, &error), &error);
    numbers = malloc(NUMBERS * sizeof *numbers);
    check(numbers != NULL, "out of memory");
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] = (float)((double)(i * 2654435761U % 100003) / 997 - 50);
    for (size_t i = 0; i < 4; i++) {
        struct dti_caster *caster = NULL;
        done(dti_format_find(context, names[i], &formats[i], NULL, &error), &error);
        const struct dti_cast_spec spec = spec_of(i);
        done(dti_caster_new(&caster, one, &spec, &error), &error);
        expected[i] = malloc(dti_caster_dst_bytes(caster, NUMBERS));
        check(expected[i] != NULL, "out of memory");
        reports[i].size = sizeof reports[i];
        done(dti_caster_run(caster, expected[i], numbers, NUMBERS, &reports[i], &error), &error);
        dti_caster_free(caster);
        done(dti_caster_new(&shared[i], context, &spec, &error), &error);
    }
    stats.size = sizeof stats;
    done(dti_array_stats(one, fp32, DTI_PACKING_BYTES, numbers, NUMBERS, &stats, &error), &error);
    dti_context_free(one);
}

int main(void)
{
    pthread_t threads[THREADS];
    size_t first[THREADS];
    prepare();
    for (size_t i = 0; i < THREADS; i++) {
        first[i] = i;
        check(pthread_create(&threads[i], NULL, work, &first[i]) == 0, "no thread");
    }
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 4; i++) {
        dti_caster_free(shared[i]);
        free(expected[i]);
    }
    free(numbers);
    dti_context_free(context);
    (void)printf("%d threads, %d rounds each: the same bytes and figures\n", THREADS, ROUNDS);
    return 0;
}
