/* SPDX-License-Identifier: MIT
 *
 * Pools that a caller brings for a team: one task after another, the last one first, and threads.
 */
#ifndef DTINFO_TESTS_POOLS_H
#define DTINFO_TESTS_POOLS_H

#include <pthread.h>
#include <stdlib.h>

#include "util/run/parallel.h"

static inline void pool_in_turn(void *context, void (*task)(void *argument, size_t i),
                                void *argument, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        task(argument, i);
}

static inline void pool_backwards(void *context, void (*task)(void *argument, size_t i),
                                  void *argument, size_t count)
{
    (void)context;
    while (count > 0)
        task(argument, --count);
}

struct pool_task {
    void (*task)(void *argument, size_t i);
    void *argument;
    size_t i;
    pthread_t thread;
};

static inline void *pool_main(void *context)
{
    const struct pool_task *const task = context;
    task->task(task->argument, task->i);
    return NULL;
}

/* None of them is the thread that calls. */
static inline void pool_of_threads(void *context, void (*task)(void *argument, size_t i),
                                   void *argument, size_t count)
{
    struct pool_task *const tasks = calloc(count, sizeof *tasks);
    (void)context;
    if (!tasks)
        exit(1);
    for (size_t i = 0; i < count; i++) {
        tasks[i] = (struct pool_task){.task = task, .argument = argument, .i = i};
        if (pthread_create(&tasks[i].thread, NULL, pool_main, &tasks[i]) != 0)
            exit(1);
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(tasks[i].thread, NULL);
    free(tasks);
}

static dti_run_tasks_fn *const pools[] = {pool_in_turn, pool_backwards, pool_of_threads};
enum { POOLS = sizeof pools / sizeof pools[0] };

#endif
