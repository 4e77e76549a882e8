/* SPDX-License-Identifier: MIT
 *
 * The recipe of a divided run as text, which identifies the parts that belong together. Every
 * option affects the bytes, except those listed here: a new option belongs to the recipe. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "requests/rewrite/rewrite_job.h"

/* Options on where files are, how the work is done, what is shown. */
static const char *const others[] = {"input",       "output",  "part",           "finish",
                                     "check-parts", "force",   "dry-run",        "threads",
                                     "progress",    "device",  "max-memory",     "report",
                                     "no-copy",     "fail-on", "allow-unmatched"};

static bool decides(const struct dti_option *option)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(dti_option_name(option), others[i]) == 0)
            return false;
    }
    return true;
}

static void put(struct dti_buffer *text, const struct dti_option *option, const void *args)
{
    const void *const field = (const char *)args + option->offset;
    char number[32] = "";
    const char *words = number;
    if (option->kind == DTI_OPTION_UINT)
        (void)snprintf(number, sizeof number, "%" PRIu64, *(const uint64_t *)field);
    else if (option->kind == DTI_OPTION_CHOICE || option->kind == DTI_OPTION_SET)
        (void)snprintf(number, sizeof number, "%d", *(const int *)field);
    else if (option->kind != DTI_OPTION_FLAG)
        words = *(const char *const *)field;
    if (option->kind == DTI_OPTION_LIST) {
        const struct dti_option_list *const list = field;
        for (size_t i = 0; i < list->count; i++) {
            dti_buffer_puts(text, dti_option_name(option));
            dti_buffer_puts(text, "=");
            dti_buffer_puts(text, list->items[i]);
            dti_buffer_puts(text, "\n");
        }
        return;
    }
    dti_buffer_puts(text, dti_option_name(option));
    dti_buffer_puts(text, "=");
    dti_buffer_puts(text, words);
    dti_buffer_puts(text, "\n");
}

bool dti_rewrite_recipe(struct dti_rewrite_job *job)
{
    const struct dti_option *const options = job->verb->options;
    struct dti_buffer *const text = &job->recipe;
    dti_buffer_init(text);
    /* the arguments contain the tensor options, and so --finish */
    const struct dti_option *const finish = dti_option_find_long(options, "finish", 6);
    const void *const args = (const char *)&job->tensors->finish - finish->offset;
    dti_buffer_puts(text, job->front->asker->command);
    dti_buffer_puts(text, "\ndtype=");
    dti_buffer_puts(text, job->dtype ? job->dtype : "");
    dti_buffer_puts(text, "\n");
    for (const struct dti_option *option = options; option->kind != DTI_OPTION_END; option++) {
        if (decides(option) && dti_option_given(options, args, dti_option_name(option)))
            put(text, option, args);
    }
    return !text->failed;
}
