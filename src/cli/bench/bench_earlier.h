/* SPDX-License-Identifier: MIT
 *
 * The earlier run that --baseline and --compare name. */
#ifndef DTINFO_CLI_BENCH_EARLIER_H
#define DTINFO_CLI_BENCH_EARLIER_H

#include "cli/bench/bench_job.h"

/* Reads the other document, and warns where it is of another machine. Fails with DTI_BAD_INPUT. */
enum dti_status dti_bench_earlier_read(struct dti_bench_comparison *ret,
                                       const struct bench_job *job, struct dti_error *reterr);
/* After all was measured. With --baseline DTI_ANSWER_NO when something became slower; DTI_BAD_INPUT
 * when nothing that was measured is in the document. */
enum dti_status dti_bench_earlier_judge(struct dti_bench_comparison *comparison,
                                        const struct bench_job *job, struct dti_error *reterr);

#endif
