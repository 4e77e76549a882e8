/* SPDX-License-Identifier: MIT
 *
 * The version and what a bug report needs beside it. */
#include "cli/shell/version.h"

#include "answers/shell.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

enum dti_status dti_version_print(const struct dti_context *cx, struct dti_error *reterr)
{
    if (cx->output == DTI_OUTPUT_HUMAN) {
        (void)fprintf(cx->out, "dtinfo %s\ncompiler   %s\nlibraries  cJSON %s\n", DTI_VERSION,
                      COMPILER, dti_json_library_version());
        return DTI_OK;
    }
    return DTI_ANSWER(cx, version, (&(struct dti_version_answer){COMPILER}), reterr);
}
