/* SPDX-License-Identifier: MIT
 *
 * Warnings, kept and as JSON: see warnings.h. */
#include "answers/warnings.h"

#include <stdlib.h>

#include "answers/common.h"

void dti_warnings_add(struct dti_warnings *warnings, const char *code, const char *dtype,
                      uint64_t line, const char *message)
{
    if (!warnings->list)
        warnings->list = calloc(DTI_WARNINGS_MAX, sizeof *warnings->list);
    warnings->failed = !warnings->list;
    if (warnings->failed || warnings->total++ >= DTI_WARNINGS_MAX)
        return;
    struct dti_warning *const warning = &warnings->list[warnings->count++];
    warning->code = code;
    warning->line = line;
    (void)snprintf(warning->dtype, sizeof warning->dtype, "%s", dtype ? dtype : "");
    (void)snprintf(warning->message, sizeof warning->message, "%s", message);
}

void dti_warnings_clear(struct dti_warnings *warnings)
{
    warnings->count = warnings->total = 0;
}

void dti_warnings_free(struct dti_warnings *warnings)
{
    free(warnings->list);
    *warnings = (struct dti_warnings){.list = NULL};
}

static void put_kept(struct dti_json *json, const struct dti_warning *kept)
{
    dti_put_warning(
        json, NULL,
        &(struct dti_warning_answer){.code = kept->code,
                                     .dtype = kept->dtype[0] != '\0' ? kept->dtype : NULL,
                                     .line = kept->line,
                                     .message = kept->message});
}

static void put_more(struct dti_json *json, size_t count)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%zu more warnings are left out", count);
    dti_put_warning(json, NULL,
                    &(struct dti_warning_answer){.code = "more_warnings", .message = text});
}

#define DTI_ROWS "answers/warnings.def"
#include "answers/rows.h"
