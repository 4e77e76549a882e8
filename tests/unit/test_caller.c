/* SPDX-License-Identifier: MIT
 *
 * Calls on behalf of somebody: whose allocator, who is asked whether to go on, in which threads,
 * and what a fork leaves behind. */
#include "util/run/caller.h"

#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pools.h"
#include "tally.h"
#include "unit.h"
#include "util/run/allocate.h"
#include "util/run/clock.h"
#include "util/run/once.h"
#include "util/run/parallel.h"
#include "util/run/track.h"

enum { MEMBERS = 4 };

static void calls_nest_each_with_its_allocator(void)
{
    struct tally outer = {0}, inner = {0};
    struct dti_caller a = tally_caller(&outer), b = tally_caller(&inner);
    struct dti_call first, second;
    CHECK(dti_caller_is_process());
    dti_call_begin(&first, &a);
    void *const one = dti_malloc(8);
    CHECK(dti_caller_current() == &a && !dti_caller_is_process());
    dti_call_begin(&second, &b);
    void *const two = dti_malloc(8);
    dti_free(two);
    dti_call_end(&second);
    CHECK_SIZE(atomic_load(&outer.live), 1);
    dti_free(one);
    dti_call_end(&first);
    CHECK(dti_caller_is_process());
    CHECK_SIZE(atomic_load(&inner.calls), 1);
    tally_is_even(&a, &outer);
    tally_is_even(&b, &inner);
}

struct asking {
    pthread_t caller;
    atomic_uint asked, elsewhere;
    uint64_t until; /* the moment from which the answer is yes */
};

static bool is_late(void *context)
{
    struct asking *const asking = context;
    atomic_fetch_add(&asking->asked, 1);
    atomic_fetch_add(&asking->elsewhere, !pthread_equal(pthread_self(), asking->caller));
    return dti_clock_now() >= asking->until;
}

static void look_until_stopped(void *context, size_t member, size_t size)
{
    atomic_uint *const stopped = context;
    const uint64_t end = dti_clock_now() + UINT64_C(10000000000);
    (void)member, (void)size;
    while (!dti_interrupted() && dti_clock_now() < end)
        continue;
    atomic_fetch_add(stopped, dti_clock_now() < end);
}

/* Member 0 waits for the others, which do not ask. */
static void leave_at_once(void *context, size_t member, size_t size)
{
    if (member > 0)
        look_until_stopped(context, member, size);
}

static void only_the_caller_is_asked_and_all_members_stop(void)
{
    void (*const jobs[])(void *, size_t, size_t) = {look_until_stopped, leave_at_once};
    for (unsigned i = 0; i < 2; i++) {
        struct asking asking = {.caller = pthread_self()};
        struct dti_caller caller = {.interrupted = is_late, .interrupted_context = &asking};
        struct dti_call call;
        struct dti_team *team = NULL;
        atomic_uint stopped = 0;
        dti_call_begin(&call, &caller);
        CHECK(dti_team_new(&team, MEMBERS, DTI_WAIT_SLEEP, false, NULL) == DTI_OK);
        asking.until = dti_clock_now() + 120000000;
        dti_team_run(team, jobs[i], &stopped);
        CHECK_U64(atomic_load(&stopped), MEMBERS - i);
        CHECK(dti_interrupted());
        dti_team_free(team);
        dti_call_end(&call);
        CHECK(!dti_interrupted());
        CHECK_U64(atomic_load(&asking.elsewhere), 0);
        CHECK(atomic_load(&asking.asked) >= 1 && atomic_load(&asking.asked) <= 120 / 20 + 2);
    }
}

/* On a busy machine a call may be long although it does little: then another one is made. */
static void a_short_call_asks_no_one(void)
{
    bool is_short = false;
    for (unsigned tries = 0; !is_short && tries < 1000; tries++) {
        struct asking asking = {.caller = pthread_self()};
        struct dti_caller caller = {.interrupted = is_late, .interrupted_context = &asking};
        struct dti_call call;
        unsigned interrupted = 0;
        const uint64_t begin = dti_clock_now();
        dti_call_begin(&call, &caller);
        for (unsigned i = 0; i < 100; i++)
            interrupted += dti_interrupted();
        dti_call_end(&call);
        is_short = dti_clock_now() - begin < UINT64_C(1000000) * DTI_POLL_MS;
        CHECK(!is_short || (interrupted == 0 && atomic_load(&asking.asked) == 0));
    }
    CHECK(is_short);
}

struct turns {
    struct dti_caller *caller;
    atomic_uint ran[MEMBERS], wrong;
};

static void take_turn(void *context, size_t member, size_t size)
{
    struct turns *const turns = context;
    void *const block = dti_malloc(100); /* from the caller's allocator */
    atomic_fetch_add(&turns->ran[member], 1);
    atomic_fetch_add(&turns->wrong,
                     size != MEMBERS || dti_caller_current() != turns->caller || !block);
    dti_free(block);
}

static void teams_run_in_any_pool_for_the_caller(void)
{
    for (size_t i = 0; i <= POOLS; i++) {
        struct tally tally = {0};
        struct dti_caller caller = tally_caller(&tally);
        struct turns turns = {.caller = &caller};
        struct dti_call call;
        struct dti_team *team = NULL;
        dti_call_begin(&call, &caller);
        if (i < POOLS)
            CHECK(dti_team_new_with(&team, pools[i], NULL, MEMBERS, NULL) == DTI_OK);
        else
            CHECK(dti_team_new(&team, MEMBERS, DTI_WAIT_SLEEP, false, NULL) == DTI_OK);
        for (unsigned job = 1; job <= 50; job++) {
            dti_team_run(team, take_turn, &turns);
            for (size_t k = 0; k < MEMBERS; k++)
                CHECK_U64(atomic_load(&turns.ran[k]), job);
        }
        CHECK_SIZE(dti_team_size(team), MEMBERS);
        CHECK_U64(atomic_load(&turns.wrong), 0);
        CHECK_SIZE(atomic_load(&tally.calls), 1 + 50 * MEMBERS);
        dti_team_free(team);
        dti_call_end(&call);
        tally_is_even(&caller, &tally);
    }
    struct dti_team *none = NULL;
    CHECK(dti_team_new_with(&none, pool_in_turn, NULL, 0, NULL) == DTI_BUG && !none);
}

struct kept {
    struct dti_caller_state state;
    void *block;
    atomic_uint uses;
};

static void begin_kept(void *state)
{
    ((struct kept *)state)->block = dti_malloc(10);
}

static void end_kept(struct dti_caller_state *state)
{
    dti_free(((struct kept *)(void *)state)->block);
}

static void *use_kept(void *context)
{
    struct dti_call call;
    dti_call_begin(&call, context);
    for (unsigned i = 0; i < 1000; i++) {
        struct kept *const kept =
            dti_caller_state(DTI_STATE_NAMES, sizeof *kept, begin_kept, end_kept);
        atomic_fetch_add(&kept->uses, 1);
    }
    dti_call_end(&call);
    return NULL;
}

static void state_is_of_one_caller_and_of_all_its_threads(void)
{
    struct tally tallies[2] = {{0}};
    struct dti_caller callers[2] = {tally_caller(&tallies[0]), tally_caller(&tallies[1])};
    pthread_t threads[4];
    struct dti_call call;
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, use_kept, &callers[i % 2]) == 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 2; i++) {
        dti_call_begin(&call, &callers[i]);
        struct kept *const kept = dti_caller_state_there(DTI_STATE_NAMES);
        CHECK(kept && atomic_load(&kept->uses) == 2000);
        CHECK(!dti_caller_state_there(DTI_STATE_REMOTE));
        dti_call_end(&call);
        tally_is_even(&callers[i], &tallies[i]);
    }
    CHECK(!dti_caller_state_there(DTI_STATE_NAMES)); /* of the process */
}

static struct dti_once once;
static atomic_bool held, let_go;

static void *hold(void *context)
{
    (void)context;
    CHECK(dti_once_begin(&once));
    atomic_store(&held, true);
    while (!atomic_load(&let_go))
        (void)poll(NULL, 0, 1);
    dti_once_end(&once, false);
    return NULL;
}

static void a_lock_held_by_another_thread_survives_fork(void)
{
    pthread_t thread;
    int status = -1;
    CHECK(pthread_create(&thread, NULL, hold, NULL) == 0);
    while (!atomic_load(&held))
        (void)poll(NULL, 0, 1);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        if (!dti_once_begin(&once))
            _exit(1);
        dti_once_end(&once, true);
        _exit(dti_once_begin(&once) ? 2 : 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    atomic_store(&let_go, true);
    pthread_join(thread, NULL);
    CHECK(dti_once_begin(&once)); /* it failed, so that the next one tries again */
    dti_once_end(&once, true);
    CHECK(!dti_once_begin(&once));
}

/* Blocks from before, made and resized meanwhile, in any order. */
static void what_a_computation_leaves_behind_is_freed(void)
{
    enum { BLOCKS = 500 };
    void *before[BLOCKS], *since[BLOCKS];
    for (int drop = 0; drop < 2; drop++) {
        struct tally tally = {0};
        struct dti_caller caller = tally_caller(&tally);
        struct dti_call call;
        struct dti_track track;
        dti_call_begin(&call, &caller);
        for (size_t i = 0; i < BLOCKS; i++)
            before[i] = dti_malloc(i + 1);
        dti_track_begin(&track);
        for (size_t i = 0; i < BLOCKS; i++) {
            since[i] = i % 2 ? dti_malloc_aligned(64, i) : dti_calloc(i, 3);
            before[i] = dti_realloc(before[i], 2 * i);
        }
        for (size_t i = 0; i < BLOCKS; i += 2)
            since[i] = dti_realloc(since[i], 5 * i);
        for (size_t i = 0; i < BLOCKS; i += 3) {
            dti_free(since[i]);
            since[i] = NULL;
        }
        struct kept *const kept =
            dti_caller_state(DTI_STATE_NAMES, sizeof *kept, begin_kept, end_kept);
        CHECK(kept != NULL); /* belongs to the caller */
        dti_track_end(&track, drop == 1);
        CHECK_SIZE(atomic_load(&tally.live),
                   BLOCKS + 2 + (drop == 1 ? 0 : BLOCKS - (BLOCKS + 2) / 3));
        for (size_t i = 0; i < BLOCKS; i++) {
            dti_free(before[i]);
            if (drop == 0)
                dti_free(since[i]);
        }
        dti_call_end(&call);
        tally_is_even(&caller, &tally);
    }
}

UNIT_MAIN(calls_nest_each_with_its_allocator, only_the_caller_is_asked_and_all_members_stop,
          a_short_call_asks_no_one, teams_run_in_any_pool_for_the_caller,
          state_is_of_one_caller_and_of_all_its_threads,
          a_lock_held_by_another_thread_survives_fork, what_a_computation_leaves_behind_is_freed)
