/* SPDX-License-Identifier: MIT
 *
 * The shells that completion is written for; the scripts themselves are completions/dtinfo.bash and
 * its neighbours, made into arrays by the build. */
#ifndef DTINFO_CLI_COMPLETION_H
#define DTINFO_CLI_COMPLETION_H

#include <stddef.h>

struct dti_shell {
    const char *name;
    const char *script;
    size_t length;
};
extern const struct dti_shell dti_shells[];
extern const size_t dti_shell_count;

#endif
