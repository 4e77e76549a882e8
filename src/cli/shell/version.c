/* SPDX-License-Identifier: MIT
 *
 * The version and what a bug report needs beside it. */
#include "cli/shell/version.h"

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
    struct dti_json *const json = dti_json_new();
    if (!json)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_json_begin(json, "dtinfo.version/1");
    dti_json_string(json, "compiler", COMPILER);
    dti_json_array(json, "libraries");
    dti_json_object(json, NULL);
    dti_json_string(json, "name", "cJSON");
    dti_json_string(json, "version", dti_json_library_version());
    dti_json_end(json);
    dti_json_end(json);
    const enum dti_status status = dti_json_write(json, cx->out, reterr);
    dti_json_free(json);
    return status;
}
