/* SPDX-License-Identifier: MIT
 *
 * The bar counts bytes, and names the tensor that is being read. */
#include "cli/shared/file_bar.h"

static void list_bar(void *context, const struct dti_tensor *const *tensors, size_t count)
{
    struct dti_file_bar *const bar = context;
    bar->tensors = tensors;
    bar->count = count;
    bar->at = 0;
    bar->before = 0;
}

static const char *name_at_hand(void *context, uint64_t done, size_t *ret_length)
{
    struct dti_file_bar *const bar = context;
    for (; bar->at < bar->count; bar->at++) {
        const struct dti_tensor *const tensor = bar->tensors[bar->at];
        const uint64_t bytes = dti_reading_bytes(tensor);
        if (bar->before + bytes > done) {
            *ret_length = tensor->name_length;
            return tensor->name;
        }
        bar->before += bytes;
    }
    return NULL;
}

static void begin_bar(void *context, uint64_t bytes)
{
    struct dti_file_bar *const bar = context;
    dti_progress_start(&bar->progress, bar->out, bytes, "bytes");
    bar->progress.name = bar->tensors ? name_at_hand : NULL;
    bar->progress.name_context = bar;
}

static void show_bar(void *context, uint64_t done)
{
    struct dti_file_bar *const bar = context;
    dti_progress_show(&bar->progress, done);
}

static void end_bar(void *context)
{
    struct dti_file_bar *const bar = context;
    dti_progress_end(&bar->progress);
    bar->tensors = NULL;
}

void dti_file_bar_attach(struct dti_file_bar *bar, struct dti_reading *reading,
                         const struct dti_file_args *args, const struct dti_command_context *cx)
{
    const enum dti_progress_when when = (enum dti_progress_when)args->progress;
    bar->tensors = NULL;
    bar->out = dti_progress_wanted(when, cx, false) ? cx->err : NULL;
    reading->begin = begin_bar;
    reading->show = show_bar;
    reading->end = end_bar;
    reading->list = list_bar;
    reading->context = bar;
}
