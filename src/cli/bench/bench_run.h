/* SPDX-License-Identifier: MIT
 *
 * All of a job: measured, compared, and told of. */
#ifndef DTINFO_CLI_BENCH_RUN_H
#define DTINFO_CLI_BENCH_RUN_H

#include "cli/bench/bench_job.h"

/* With --baseline DTI_ANSWER_NO when something became slower. */
enum dti_status dti_bench_run_job(const struct bench_job *job, struct dti_error *reterr);

#endif
