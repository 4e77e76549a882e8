/* SPDX-License-Identifier: MIT
 *
 * A thread team that runs one job after another until it is freed. */
#ifndef UTIL_RUN_PARALLEL_H
#define UTIL_RUN_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct dti_team;

enum dti_waiting {
    DTI_WAIT_SLEEP, /* idle threads sleep */
    DTI_WAIT_SPIN,  /* idle threads spin: for measurements */
};

enum { DTI_THREADS_MAX = 1024 };

/* CPUs that this process may run on, at least 1. */
size_t dti_cpu_count(void);

/* Creates a team of `threads` (1 to DTI_THREADS_MAX); the caller is member 0. If the current caller
 * (caller.h) brings a pool, it is dti_team_new_with() that pool. pin: member i
 * stays on the i-th allowed CPU (modulo their number); the caller too, until the team is freed.
 * Fails with DTI_UNAVAILABLE if threads cannot be started. */
enum dti_status dti_team_new(struct dti_team **ret_team, size_t threads, enum dti_waiting waiting,
                             bool pin, struct dti_error *reterr);
/* A team without threads of its own: its jobs run in the caller's pool. width: how many tasks a job
 * is divided into, 1 to DTI_THREADS_MAX. If no task runs in the thread that called, a cancelled
 * call ends only between two jobs. */
enum dti_status dti_team_new_with(struct dti_team **ret_team, dti_run_tasks_fn *run, void *context,
                                  size_t width, struct dti_error *reterr);
void dti_team_free(struct dti_team *team); /* NULL is fine */
size_t dti_team_size(const struct dti_team *team);

/* Runs job(context, member, size) once in every member, for the current call (caller.h); returns
 * when all have returned. Members may run one after another, in any order: none waits for another
 * one that has not begun. */
void dti_team_run(struct dti_team *team, void (*job)(void *context, size_t member, size_t size),
                  void *context);

#endif
