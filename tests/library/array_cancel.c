/* SPDX-License-Identifier: MIT
 *
 * Long calls end when the caller's `interrupted` says so, with DTI_CANCELLED; only the thread that
 * called is asked, and not before 20 ms; the same call succeeds afterwards. And tasks that a caller
 * runs itself, in reverse order and one after the other, give the same bytes. An element that
 * cannot be stored is noticed in each part of a call. Linked with the shared library alone. */
#include <dtinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of e15m48, which no kernel decodes: a call takes some tenths of a second. One that took LONG_MS
 * is expected to ask, though on a busy machine the caller's thread may now and then sleep until the
 * others are done; of short ones, one among many. */
enum { SIDE = 2000, NUMBERS = SIDE * SIDE, LONG_MS = 100, LONG_TRIES = 3, SHORT_TRIES = 50 };

static struct {
    pthread_t thread;
    bool stop;
    size_t asked, tasks;
} caller;
static uint64_t *numbers;
static unsigned char *room, *expected;

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "%s\n", what);
    exit(1);
}

static bool interrupted(void *context)
{
    require(context == &caller && pthread_equal(pthread_self(), caller.thread) != 0,
            "asked in another thread");
    caller.asked++;
    return caller.stop;
}

static void run_tasks(void *context, dti_task_fn *task, void *argument, size_t count)
{
    require(context == &caller, "context of tasks");
    caller.tasks += count;
    for (size_t i = count; i-- > 0;)
        task(argument, i);
}

/* What a call is made of: the five that may take long. */
struct subject {
    struct dti_context *context;
    const struct dti_format *wide, *bf16;
    struct dti_caster *caster;
};
enum { CALLS = 5 };

static enum dti_status call(const struct subject *s, int which, struct dti_error *error)
{
    const size_t shape[2] = {SIDE, SIDE};
    const ptrdiff_t strides[2] = {sizeof *numbers, SIDE * (ptrdiff_t)sizeof *numbers};
    struct dti_cast_report report = {.size = sizeof report};
    struct dti_array_stats stats = {.size = sizeof stats};
    struct dti_array_difference difference = {.size = sizeof difference};
    switch (which) {
    case 0:
        return dti_caster_run(s->caster, room, numbers, NUMBERS, NULL, error);
    case 1:
        return dti_caster_run(s->caster, room, numbers, NUMBERS, &report, error);
    case 2:
        return dti_caster_run_strided(s->caster, room, numbers, 2, shape, strides, NULL, error);
    case 3:
        return dti_array_stats(s->context, s->wide, DTI_PACKING_BYTES, numbers, NUMBERS, &stats,
                               error);
    default:
        return dti_array_compare(s->context, s->wide, numbers, s->bf16, expected, NUMBERS, 0, 0,
                                 &difference, error);
    }
}

static void open(struct subject *ret, const struct dti_context_options *options)
{
    struct dti_error error;
    require(dti_context_new(&ret->context, options, &error) == DTI_OK, "context");
    require(dti_format_find(ret->context, "e15m48", &ret->wide, NULL, &error) == DTI_OK, "e15m48");
    require(dti_format_find(ret->context, "bf16", &ret->bf16, NULL, &error) == DTI_OK, "bf16");
    const struct dti_cast_spec spec = {.size = sizeof spec, .src = ret->wide, .dst = ret->bf16};
    require(dti_caster_new(&ret->caster, ret->context, &spec, &error) == DTI_OK, "caster");
}

static void finish(const struct subject *subject)
{
    dti_caster_free(subject->caster);
    dti_context_free(subject->context);
}

/* Of all threads, so that other programs do not count. */
static double milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Makes the call until it is cancelled. */
static enum dti_status cancel(const struct subject *subject, int which, int tries)
{
    enum dti_status status = DTI_OK;
    struct dti_error error;
    caller.stop = true;
    for (int i = 0; i < tries && status == DTI_OK; i++) {
        caller.asked = 0;
        status = call(subject, which, &error);
        require(caller.asked <= 1, "asked again");
    }
    caller.stop = false;
    require(status == DTI_OK || (error.status == DTI_CANCELLED && error.text[0] != '\0'),
            "no error");
    return status;
}

/* Returns how many calls were long enough. */
static int check_cancelled(size_t threads)
{
    struct subject subject;
    struct dti_error error;
    const struct dti_context_options options = {.size = sizeof options,
                                                .threads = threads,
                                                .interrupted = interrupted,
                                                .interrupted_context = &caller};
    int asked = 0;
    open(&subject, &options);
    for (int i = 0; i < CALLS; i++) {
        const double before = milliseconds();
        require(call(&subject, i, &error) == DTI_OK, "does not work");
        const bool is_long = milliseconds() - before > (double)threads * LONG_MS;
        const enum dti_status status = cancel(&subject, i, is_long ? LONG_TRIES : SHORT_TRIES);
        require(status == DTI_CANCELLED || (status == DTI_OK && !is_long), "not cancelled");
        asked += status == DTI_CANCELLED;
        require(call(&subject, i, &error) == DTI_OK, "does not work afterwards");
    }
    finish(&subject);
    return asked;
}

static void check_tasks(void)
{
    struct subject subject;
    struct dti_error error;
    const struct dti_context_options options = {
        .size = sizeof options, .threads = 4, .run_tasks = run_tasks, .run_tasks_context = &caller};
    open(&subject, &options);
    for (int i = 0; i < CALLS; i++) {
        caller.tasks = 0;
        memset(room, 0xa5, 2 * (size_t)NUMBERS);
        require(call(&subject, i, &error) == DTI_OK, "with tasks of the caller");
        require(caller.tasks > 1, "no tasks");
        require(i > 1 || memcmp(room, expected, 2 * (size_t)NUMBERS) == 0, "other bytes");
    }
    finish(&subject);
}

/* What numpy stores for a float beyond int8 depends on the processor. A call that may be
 * interrupted works in parts, and fails with the one that has such an element. */
static void check_unknown(void)
{
    enum { COUNT = 100000 };
    struct subject s = {.context = NULL};
    struct dti_error error;
    const struct dti_format *fp32, *int8;
    const struct dti_context_options options = {.size = sizeof options,
                                                .threads = 1,
                                                .interrupted = interrupted,
                                                .interrupted_context = &caller};
    float *const source = calloc(COUNT, sizeof *source);
    require(source != NULL, "out of memory");
    require(dti_context_new(&s.context, &options, &error) == DTI_OK, "context");
    require(dti_format_find(s.context, "fp32", &fp32, NULL, &error) == DTI_OK, "fp32");
    require(dti_format_find(s.context, "int8", &int8, NULL, &error) == DTI_OK, "int8");
    const struct dti_cast_spec spec = {
        .size = sizeof spec, .src = fp32, .dst = int8, .like = "numpy"};
    require(dti_caster_new(&s.caster, s.context, &spec, &error) == DTI_OK, "caster like numpy");
    require(dti_caster_run(s.caster, room, source, COUNT, NULL, &error) == DTI_OK, "zeros");
    for (int at = COUNT - 1; at > 0; at /= 2) {
        source[at] = 300;
        require(dti_caster_run(s.caster, room, source, COUNT, NULL, &error) ==
                    DTI_NOT_REPRESENTABLE,
                "an unknown element is taken");
        source[at] = 0;
    }
    free(source);
    finish(&s);
}

int main(void)
{
    struct subject subject;
    struct dti_error error;
    const struct dti_context_options alone = {.size = sizeof alone, .threads = 1};
    caller.thread = pthread_self();
    numbers = malloc(NUMBERS * sizeof *numbers);
    room = malloc(2 * (size_t)NUMBERS);
    expected = calloc(2, NUMBERS);
    require(numbers && room && expected, "out of memory");
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] = (UINT64_C(16383) << 48) + i * UINT64_C(0x123456789ab) % (UINT64_C(1) << 50);
    open(&subject, &alone);
    require(call(&subject, 0, &error) == DTI_OK, "cast");
    memcpy(expected, room, 2 * (size_t)NUMBERS);
    finish(&subject);
    const int by_one = check_cancelled(1), cancelled = by_one + check_cancelled(3);
    require(by_one == CALLS, "too few calls cancelled");
    check_tasks();
    check_unknown();
    free(numbers);
    free(room);
    free(expected);
    (void)printf("%d of %d calls cancelled, %d run by the caller's tasks\n", cancelled, 2 * CALLS,
                 CALLS);
    return 0;
}
