/* SPDX-License-Identifier: MIT
 *
 * Blocks of many arrays: each element is processed once, in order if requested, and the first of
 * several errors in order is returned, for every team. */
#include "convert/block_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "convert/chunk_order.h"
#include "unit.h"
#include "util/run/caller.h"

enum { TEAMS = 3, PARTS = 40, LONGEST = 50 };

static struct dti_team *teams[TEAMS]; /* the first is NULL: no team */
static struct dti_error error;

/* What happened to the elements of each part. */
struct seen {
    pthread_mutex_t lock;
    const struct dti_queue_part *parts;
    unsigned char worked[PARTS][LONGEST], finished[PARTS][LONGEST];
    size_t member_limit;
    /* Still true? One flag per callback, because the three callbacks run concurrently. */
    bool good, in_order, grows;
    size_t last_part;               /* finished last */
    uint64_t last_first;            /* first element of its last block */
    uint64_t done;                  /* reported by progress */
    size_t fail_part, fail_again;   /* PARTS for none; fail_part fails slowly */
    enum dti_status fail_in_finish; /* DTI_OK for none */
};

static void make_teams(void)
{
    CHECK(dti_team_new(&teams[1], 2, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
    CHECK(dti_team_new(&teams[2], 7, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
}

static void free_teams(void)
{
    for (size_t i = 0; i < TEAMS; i++)
        dti_team_free(teams[i]);
}

/* Lengths 0 to LONGEST - 1 in mixed order, in blocks of 1 to 9. */
static uint64_t make_parts(struct dti_queue_part parts[PARTS])
{
    uint64_t total = 0;
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = (struct dti_queue_part){.elements = i * 37 % LONGEST, .block = 1 + i % 9};
        total += parts[i].elements;
    }
    return total;
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 2000000};
    nanosleep(&time, NULL);
}

static enum dti_status work(void *context, size_t member, size_t part, uint64_t first, size_t n,
                            struct dti_error *reterr)
{
    struct seen *const seen = context;
    const struct dti_queue_part *const whole = &seen->parts[part];
    pthread_mutex_lock(&seen->lock);
    seen->good = seen->good && member < seen->member_limit && first % whole->block == 0 && n > 0 &&
                 first + n <= whole->elements &&
                 (n == whole->block || first + n == whole->elements);
    for (uint64_t i = first; seen->good && i < first + n; i++)
        seen->worked[part][i]++;
    pthread_mutex_unlock(&seen->lock);
    if (part == seen->fail_part) {
        nap(); /* let the other error occur first */
        return dti_fail(reterr, DTI_BAD_INPUT, "part %zu, element %llu", part,
                        (unsigned long long)first);
    }
    if (part == seen->fail_again)
        return dti_fail(reterr, DTI_WRITE_FAILED, "later");
    return DTI_OK;
}

static enum dti_status finish(void *context, size_t member, size_t part, uint64_t first, size_t n,
                              struct dti_error *reterr)
{
    struct seen *const seen = context;
    /* Needs no lock: called one at a time, after work(), in order. */
    seen->in_order =
        seen->in_order && member < seen->member_limit && seen->worked[part][first] == 1 &&
        (part > seen->last_part || (part == seen->last_part && first > seen->last_first) ||
         (part == seen->last_part && first == 0));
    seen->last_part = part;
    seen->last_first = first;
    for (uint64_t i = first; i < first + n; i++)
        seen->finished[part][i]++;
    if (seen->fail_in_finish != DTI_OK && part == 11)
        return dti_fail(reterr, seen->fail_in_finish, "finish %zu", part);
    return DTI_OK;
}

static void see_progress(void *context, uint64_t done)
{
    struct seen *const seen = context;
    seen->grows = seen->grows && done > seen->done;
    seen->done = done;
}

static struct seen *seen_new(const struct dti_queue_part *parts)
{
    struct seen *const seen = calloc(1, sizeof *seen);
    if (!seen)
        exit(1);
    pthread_mutex_init(&seen->lock, NULL);
    seen->parts = parts;
    seen->good = seen->in_order = seen->grows = true;
    seen->member_limit = 7;
    seen->fail_part = seen->fail_again = PARTS;
    return seen;
}

static void seen_free(struct seen *seen)
{
    pthread_mutex_destroy(&seen->lock);
    free(seen);
}

static struct dti_queue queue_of(struct seen *seen)
{
    return (struct dti_queue){.parts = seen->parts,
                              .count = PARTS,
                              .work = work,
                              .context = seen,
                              .progress = see_progress,
                              .progress_context = seen};
}

static void every_element_is_done_once(void)
{
    struct dti_queue_part parts[PARTS];
    const uint64_t total = make_parts(parts);
    for (unsigned way = 0; way < 4 * TEAMS; way++) {
        struct seen *const seen = seen_new(parts);
        struct dti_queue queue = queue_of(seen);
        const bool ordered = way / TEAMS % 2 == 1;
        queue.finish = ordered ? finish : NULL;
        queue.members = way / TEAMS / 2 ? 3 : 0;
        seen->member_limit = queue.members ? 3 : 7;
        CHECK(dti_queue_run(&queue, teams[way % TEAMS], &error) == DTI_OK);
        for (size_t i = 0; i < PARTS; i++)
            for (size_t j = 0; j < LONGEST; j++)
                seen->good = seen->good && seen->worked[i][j] == (j < parts[i].elements) &&
                             seen->finished[i][j] == (ordered && j < parts[i].elements);
        CHECK(seen->good && seen->in_order && seen->grows);
        CHECK_U64(seen->done, total);
        seen_free(seen);
    }
}

static void nothing_to_do_is_done(void)
{
    struct dti_queue_part parts[PARTS] = {{0, 1}};
    struct seen *const seen = seen_new(parts);
    struct dti_queue queue = queue_of(seen);
    queue.count = 0;
    CHECK(dti_queue_run(&queue, teams[1], &error) == DTI_OK);
    queue.count = 1;
    queue.finish = finish;
    CHECK(dti_queue_run(&queue, teams[1], &error) == DTI_OK);
    CHECK(dti_queue_run(&queue, NULL, NULL) == DTI_OK);
    CHECK_U64(seen->done, 0);
    seen_free(seen);
}

/* All parts before the failed one are complete, including finish() if ordered; finish() did not run
 * for any later part. */
static void check_done_before(const struct seen *seen, size_t failed, bool ordered)
{
    for (size_t i = 0; i < PARTS; i++) {
        for (size_t j = 0; j < seen->parts[i].elements; j++) {
            if (i < failed && !CHECK(seen->worked[i][j] == 1 && seen->finished[i][j] == ordered))
                return;
            if (i > failed && !CHECK(seen->finished[i][j] == 0))
                return;
        }
    }
}

static void of_two_errors_the_first_in_order_is_returned(void)
{
    struct dti_queue_part parts[PARTS];
    (void)make_parts(parts);
    for (unsigned way = 0; way < 20 * TEAMS; way++) {
        struct seen *const seen = seen_new(parts);
        struct dti_queue queue = queue_of(seen);
        const bool ordered = way / TEAMS % 2 == 1;
        queue.finish = ordered ? finish : NULL;
        seen->fail_part = 13;
        seen->fail_again = way % 2 == 0 ? 14 : PARTS;
        parts[13].block = LONGEST; /* one block: a team runs both parts at once */
        CHECK(dti_queue_run(&queue, teams[way % TEAMS], &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text, "part 13, element 0");
        CHECK(seen->good && seen->in_order && seen->grows);
        check_done_before(seen, 13, ordered);
        seen_free(seen);
    }
}

static void an_error_of_finish_ends_the_order(void)
{
    struct dti_queue_part parts[PARTS];
    (void)make_parts(parts);
    for (unsigned way = 0; way < 20 * TEAMS; way++) {
        struct seen *const seen = seen_new(parts);
        struct dti_queue queue = queue_of(seen);
        queue.finish = finish;
        seen->fail_in_finish = DTI_WRITE_FAILED;
        seen->fail_part = 12; /* its work fails, but it comes later in order */
        CHECK(dti_queue_run(&queue, teams[way % TEAMS], &error) == DTI_WRITE_FAILED);
        CHECK_STR(error.text, "finish 11");
        CHECK(seen->good && seen->in_order && seen->grows);
        check_done_before(seen, 11, true);
        seen_free(seen);
    }
}

static enum dti_status fail_at_once(void *context, size_t member, size_t part, uint64_t first,
                                    size_t n, struct dti_error *reterr)
{
    (void)context, (void)member, (void)part, (void)n;
    if (first == 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "the first");
    nap();
    return DTI_OK;
}

static uint64_t last_done;

static void remember_slowly(void *context, uint64_t done)
{
    (void)context;
    nap(); /* other members finish in the meantime */
    last_done = done;
}

static enum dti_status succeed(void *context, size_t member, size_t part, uint64_t first, size_t n,
                               struct dti_error *reterr)
{
    (void)context, (void)member, (void)part, (void)first, (void)n, (void)reterr;
    return DTI_OK;
}

static void after_an_error_no_block_is_begun(void)
{
    const struct dti_queue_part part = {.elements = 10000, .block = 1};
    const struct dti_queue queue = {
        .parts = &part, .count = 1, .work = fail_at_once, .progress = remember_slowly};
    last_done = 0;
    for (size_t team = 0; team < TEAMS; team++)
        CHECK(dti_queue_run(&queue, teams[team], &error) == DTI_BAD_INPUT);
    CHECK(last_done < 1000);
}

static void the_end_is_reported_whoever_reports(void)
{
    const struct dti_queue_part part = {.elements = 10, .block = 1};
    const struct dti_queue queue = {
        .parts = &part, .count = 1, .work = succeed, .progress = remember_slowly};
    for (unsigned way = 0; way < 5 * TEAMS; way++) {
        CHECK(dti_queue_run(&queue, teams[way % TEAMS], &error) == DTI_OK);
        CHECK_U64(last_done, 10);
    }
}

static enum dti_status count_block(void *context, size_t member, size_t part, uint64_t first,
                                   size_t n, struct dti_error *reterr)
{
    uint64_t *const counts = context;
    (void)first, (void)reterr;
    counts[member] += n + (part == 99999);
    return DTI_OK;
}

static void a_hundred_thousand_tiny_parts_are_all_done(void)
{
    enum { MANY = 100000 };
    struct dti_queue_part *const parts = calloc(MANY, sizeof *parts);
    if (!parts)
        exit(1);
    for (size_t i = 0; i < MANY; i++)
        parts[i] = (struct dti_queue_part){.elements = 3, .block = 2048};
    for (size_t team = 0; team < TEAMS; team++) {
        uint64_t counts[7] = {0}, sum = 0;
        const struct dti_queue queue = {
            .parts = parts, .count = MANY, .work = count_block, .context = counts};
        CHECK(dti_queue_run(&queue, teams[team], &error) == DTI_OK);
        for (size_t i = 0; i < 7; i++)
            sum += counts[i];
        CHECK_U64(sum, 3 * MANY + 1);
    }
    free(parts);
}

/* A member that holds a mutex until all stops, or for ten seconds. */
struct holder {
    struct dti_chunk_order order;
    pthread_mutex_t mutex;
    atomic_bool holds, stopped;
};

static void *hold(void *context)
{
    struct holder *const holder = context;
    pthread_mutex_lock(&holder->mutex);
    atomic_store(&holder->holds, true);
    for (unsigned i = 0; i < 5000 && !dti_chunk_order_stopped(&holder->order); i++)
        nap();
    atomic_store(&holder->stopped, dti_chunk_order_stopped(&holder->order));
    pthread_mutex_unlock(&holder->mutex);
    return NULL;
}

static bool is_interrupted(void *context)
{
    (void)context;
    return true;
}

static void whoever_waits_for_a_reader_still_hears_of_the_end(void)
{
    static struct holder holder = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct dti_caller caller = {.interrupted = is_interrupted};
    struct dti_call call;
    pthread_t thread;
    dti_call_begin(&call, &caller);
    dti_chunk_order_init(&holder.order, NULL, NULL);
    if (CHECK(pthread_create(&thread, NULL, hold, &holder) == 0)) {
        while (!atomic_load(&holder.holds))
            nap();
        dti_chunk_order_lock(&holder.order, &holder.mutex);
        pthread_mutex_unlock(&holder.mutex);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(atomic_load(&holder.stopped));
    }
    CHECK(dti_chunk_order_end(&holder.order, &error) == DTI_CANCELLED);
    dti_call_end(&call);
    dti_caller_end(&caller);
}

UNIT_MAIN(make_teams, every_element_is_done_once, nothing_to_do_is_done,
          of_two_errors_the_first_in_order_is_returned, an_error_of_finish_ends_the_order,
          after_an_error_no_block_is_begun, the_end_is_reported_whoever_reports,
          a_hundred_thousand_tiny_parts_are_all_done,
          whoever_waits_for_a_reader_still_hears_of_the_end, free_teams)
