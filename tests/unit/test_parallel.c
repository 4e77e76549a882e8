/* SPDX-License-Identifier: MIT
 *
 * Thread teams: every member runs once per job, all threads are joined, and a failure to start
 * threads is reported. */
#include "util/run/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "sanitized.h"
#include "unit.h"

enum { MEMBERS_MAX = 64 };

struct count {
    atomic_uint ran[MEMBERS_MAX];
    atomic_uint sizes;
    atomic_uint distinct; /* members that did not run on the caller's thread */
    pthread_t caller;
};

static void count_member(void *context, size_t member, size_t size)
{
    struct count *const count = context;
    atomic_fetch_add(&count->ran[member], 1);
    atomic_fetch_add(&count->sizes, (unsigned)size);
    atomic_fetch_add(&count->distinct, !pthread_equal(pthread_self(), count->caller));
}

static void check_jobs(size_t threads, enum dti_waiting waiting, bool pin, unsigned jobs)
{
    struct dti_team *team = NULL;
    struct dti_error error;
    if (!CHECK(dti_team_new(&team, threads, waiting, pin, &error) == DTI_OK))
        return;
    CHECK_SIZE(dti_team_size(team), threads);
    static struct count count;
    memset(&count, 0, sizeof count);
    count.caller = pthread_self();
    for (unsigned job = 1; job <= jobs; job++) {
        dti_team_run(team, count_member, &count);
        for (size_t i = 0; i < threads; i++) {
            if (!CHECK_U64(count.ran[i], job))
                job = jobs;
        }
    }
    CHECK_U64(count.sizes, threads * threads * jobs);
    CHECK_U64(count.distinct, (threads - 1) * jobs);
    dti_team_free(team);
}

static void every_member_works_once_in_each_job(void)
{
    static const size_t sizes[] = {1, 2, 3, 7, MEMBERS_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_jobs(sizes[i], DTI_WAIT_SLEEP, false, 200);
}

static void spinning_members_do_the_same(void)
{
    check_jobs(2, DTI_WAIT_SPIN, true, 1000);
    check_jobs(5, DTI_WAIT_SPIN, false, 50);
}

static void a_team_may_be_freed_without_a_job(void)
{
    check_jobs(4, DTI_WAIT_SLEEP, true, 0);
    check_jobs(4, DTI_WAIT_SPIN, false, 0);
    dti_team_free(NULL);
}

static void pinning_the_caller_ends_with_the_team(void)
{
    const size_t before = dti_cpu_count();
    struct dti_team *team = NULL;
    CHECK(before >= 1);
    if (!CHECK(dti_team_new(&team, 2, DTI_WAIT_SLEEP, true, NULL) == DTI_OK))
        return;
#if defined __linux__
    CHECK_SIZE(dti_cpu_count(), 1);
#endif
    dti_team_free(team);
    CHECK_SIZE(dti_cpu_count(), before);
}

static void a_team_of_impossible_size_is_refused(void)
{
    struct dti_team *team = NULL;
    struct dti_error error;
    CHECK(dti_team_new(&team, 0, DTI_WAIT_SLEEP, false, &error) == DTI_BUG);
    CHECK(dti_team_new(&team, DTI_THREADS_MAX + 1, DTI_WAIT_SLEEP, false, &error) == DTI_BUG);
    CHECK(team == NULL);
}

/* No address space for stacks: some threads start and must be ended again. */
static void threads_that_cannot_be_had_are_unavailable(void)
{
#ifndef SANITIZED
    struct rlimit before, less;
    struct dti_team *team = NULL;
    struct dti_error error = {.text = ""};
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    less = before;
    less.rlim_cur = (rlim_t)256 << 20;
    if (setrlimit(RLIMIT_AS, &less) != 0)
        return;
    const enum dti_status status =
        dti_team_new(&team, DTI_THREADS_MAX, DTI_WAIT_SLEEP, false, &error);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    if (CHECK(status == DTI_UNAVAILABLE)) {
        CHECK(strstr(error.text, "of 1024 threads could be started") != NULL);
        CHECK(team == NULL);
    } else if (status == DTI_OK) {
        dti_team_free(team);
    }
#endif
}

/* First, because another test could leave the caller pinned. */
UNIT_MAIN(pinning_the_caller_ends_with_the_team, every_member_works_once_in_each_job,
          spinning_members_do_the_same, a_team_may_be_freed_without_a_job,
          a_team_of_impossible_size_is_refused, threads_that_cannot_be_had_are_unavailable)
