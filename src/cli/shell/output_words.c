/* SPDX-License-Identifier: MIT
 *
 * What is said of an output beside the report on it. */
#include "cli/shell/output_words.h"

#include <string.h>

#include "cli/shell/standard.h"
#include "dtinfo/output.h"

static const struct {
    const char *code, *one, *several;
} words[DTI_LEFTOVER_COUNT] = {
    [DTI_LEFTOVER_KILLED] = {"stray_left", "was left by a run that was killed; --force removes it",
                             "were left by runs that were killed; --force removes them"},
    [DTI_LEFTOVER_REMOVED] = {"stray_removed", "was left by a run that was killed, and is removed",
                              "were left by runs that were killed, and are removed"},
    [DTI_LEFTOVER_STUCK] = {"stray_stuck",
                            "may be left from a run that was killed, and cannot be removed; see "
                            "whether a run uses it, and remove it by hand",
                            "may be left from runs that were killed, and cannot be removed; see "
                            "whether a run uses them, and remove them by hand"},
    [DTI_LEFTOVER_LIVE] = {"other_run",
                           "belongs to another run that is writing here; wait for it, or give -o "
                           "another name",
                           "belong to other runs that are writing here; wait for them, or give -o "
                           "another name"},
};

void dti_output_warn_leftovers(const struct dti_output_leftovers *leftovers, const char *beside,
                               dti_warn_fn *warn, void *warn_context)
{
    char label[DTI_QUOTE_SIZE], text[512], others[48];
    dti_quote(label, beside, strlen(beside));
    for (size_t i = 0; i < DTI_LEFTOVER_COUNT; i++) {
        const size_t count = leftovers->count[i];
        if (count == 0)
            continue;
        (void)snprintf(others, sizeof others, " and %zu more", count - 1);
        (void)snprintf(text, sizeof text, "%s%s beside %s %s", leftovers->first[i],
                       count > 1 ? others : "", label, count > 1 ? words[i].several : words[i].one);
        const struct dti_note note = {.code = words[i].code, .text = text};
        warn(warn_context, &note);
    }
}

static const char *label_of(const char *path, char label[DTI_QUOTE_SIZE])
{
    if (dti_output_is_standard(path))
        return "the output";
    return dti_quote(label, path, strlen(path));
}

void dti_output_is_complete(const char *path)
{
    char label[DTI_QUOTE_SIZE];
    if (!dti_output_is_standard(path))
        dti_standard_note_complete(label_of(path, label));
}

enum dti_status dti_output_report_end(const struct dti_context *cx, const char *path,
                                      enum dti_status status, struct dti_error *reterr)
{
    struct dti_error error;
    char label[DTI_QUOTE_SIZE], said[DTI_ERROR_TEXT];
    if (status == DTI_OK || status == DTI_WRITE_FAILED)
        return status;
    (void)dti_fail(&error, status, "%s is complete, but the report on it is not: %s",
                   label_of(path, label), dti_error_words(said, reterr));
    dti_complain(cx, &error);
    return DTI_OK;
}
