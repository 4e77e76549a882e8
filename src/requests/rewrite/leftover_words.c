/* SPDX-License-Identifier: MIT
 *
 * What leftovers are and what to do with them. */
#include "requests/rewrite/leftover_words.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *code, *one, *several;
} words[DTI_LEFTOVER_COUNT] = {
    [DTI_LEFTOVER_KILLED] = {"stray_left", "was left by a killed run; --force removes it",
                             "were left by killed runs; --force removes them"},
    [DTI_LEFTOVER_REMOVED] = {"stray_removed", "was left by a killed run and is removed",
                              "were left by killed runs and are removed"},
    [DTI_LEFTOVER_STUCK] = {"stray_stuck",
                            "may be left from a killed run and cannot be removed; check that no "
                            "run uses it, then remove it by hand",
                            "may be left from killed runs and cannot be removed; check that no run "
                            "uses them, then remove them by hand"},
    [DTI_LEFTOVER_LIVE] =
        {"other_run",
         "belongs to another run that is writing here; wait for it, or use another name for -o",
         "belong to other runs that are writing here; wait for them, or use another name for -o"},
};

void dti_output_warn_leftovers(const struct dti_output_leftovers *leftovers, const char *output,
                               dti_warn_fn *warn, void *warn_context)
{
    char label[DTI_QUOTE_SIZE], text[512], others[48];
    dti_quote(label, output, strlen(output));
    for (size_t i = 0; i < DTI_LEFTOVER_COUNT; i++) {
        const size_t count = leftovers->count[i];
        if (count == 0)
            continue;
        (void)snprintf(others, sizeof others, " and %zu more", count - 1);
        (void)snprintf(text, sizeof text, "%s%s next to %s %s", leftovers->first[i],
                       count > 1 ? others : "", label, count > 1 ? words[i].several : words[i].one);
        const struct dti_note note = {.code = words[i].code, .text = text};
        warn(warn_context, &note);
    }
}
