/* SPDX-License-Identifier: MIT
 *
 * Computing results, recording events, and -o: the numbers of a result as a file with one tensor,
 * "data". */
#include <stdlib.h>
#include <string.h>

#include "cli/calc/calc_job.h"
#include "cli/shell/command.h"
#include "io/output.h"
#include "requests/rewrite/file_target.h"
#include "requests/rewrite/leftover_words.h"
#include "util/run/allocate.h"

enum { PIECE = 1 << 20 }; /* codes written at once; they fill whole bytes */

enum dti_status dti_calc_output_open(struct calc_job *job, struct dti_error *reterr)
{
    const char *const path = job->args->output;
    struct dti_output_leftovers leftovers = {.count = {0}};
    if (job->cast.target_count != 1)
        return dti_fail(reterr, DTI_USAGE, "-o writes the numbers of one dtype; give one");
    const enum dti_container_kind kind = dti_container_named(path);
    char endings[DTI_ENDINGS_SIZE];
    if (!dti_names_file(path) || dti_container_has(kind, DTI_TRAIT_REMADE))
        return dti_fail_word(reterr, DTI_USAGE, path, strlen(path),
                             "%s has no known extension; give a name that ends in %s",
                             DTI_QUOTED(path, strlen(path)), dti_file_endings(endings, NULL, NULL));
    dti_output_guard_signals();
    enum dti_status status =
        dti_output_leftovers_find(&leftovers, path, false, job->args->force, reterr);
    if (status != DTI_OK)
        return status;
    dti_output_warn_leftovers(&leftovers, path, dti_cast_job_warn, &job->cast);
    status = dti_output_open(&job->output, path, job->args->force, 0, reterr);
    if (status == DTI_OK && dti_container_has(kind, DTI_TRAIT_PLACED) &&
        !dti_output_seekable(job->output))
        return dti_fail_word(reterr, DTI_USAGE, path, strlen(path),
                             "%s is not a regular file, and %s files are not written in sequence; "
                             "use -o with the name of a file",
                             DTI_QUOTED(path, strlen(path)), dti_container_name(kind));
    return status;
}

/* The codes as the file stores them, a piece at a time. */
static enum dti_status write_codes(struct dti_output_file *output,
                                   const struct dti_calc_array *array,
                                   const struct dti_new_tensor *tensor, struct dti_error *reterr)
{
    const struct dti_layout *const layout = &tensor->layout;
    uint64_t at = tensor->offset;
    const size_t most = array->count < PIECE ? array->count : PIECE;
    enum dti_status status = DTI_OK;
    const bool same = dti_calc_codes_are_stored(&array->format, layout);
    const size_t each = dti_calc_code_bytes(&array->format);
    unsigned char *const made = same ? NULL : dti_malloc(most * sizeof(uint64_t) + 1);
    if (!same && !made)
        return dti_no_memory(reterr);
    for (size_t done = 0; done < array->count && status == DTI_OK; done += most) {
        const size_t left = array->count - done, count = left < most ? left : most;
        uint64_t bytes;
        (void)dti_format_bytes(&array->format, layout, count, &bytes);
        const unsigned char *const piece =
            same ? (const unsigned char *)array->codes + done * each : made;
        if (!same)
            memset(made, 0, (size_t)bytes);
        for (size_t i = 0; i < count && !same; i++)
            dti_storage_put(&array->format, layout, made, i, dti_calc_code(array, done + i));
        status = dti_output_seekable(output)
                     ? dti_output_write_at(output, piece, (size_t)bytes, at, reterr)
                     : dti_output_write(output, piece, (size_t)bytes, reterr);
        at += bytes;
    }
    dti_free(made);
    return status;
}

static enum dti_status write_file(struct calc_job *job, const struct dti_calc_array *array,
                                  struct dti_error *reterr)
{
    static const char name[] = "data";
    const enum dti_container_kind kind = dti_container_named(job->args->output);
    struct dti_new_tensor tensor = {.name = name,
                                    .name_length = sizeof name - 1,
                                    .format = &array->format,
                                    .rank = array->rank,
                                    .shape = array->shape};
    struct dti_new_head head;
    if (!dti_container_stores(kind, &array->format, &tensor.layout))
        return dti_fail(reterr, DTI_WRONG_KIND, "%s files have no name for %s",
                        dti_container_name(kind), array->format.name);
    dti_new_head_init(&head);
    enum dti_status status =
        dti_container_layout(kind, &tensor, 1, NULL, 0, &head, &job->written.bytes, reterr);
    if (status == DTI_OK)
        status = dti_new_head_write(&head, job->output, reterr);
    if (status == DTI_OK)
        status = write_codes(job->output, array, &tensor, reterr);
    if (status == DTI_OK)
        status = dti_new_head_finish(&head, job->output, reterr);
    dti_new_head_free(&head);
    return status;
}

static enum dti_status write_output(struct calc_job *job, const struct dti_calc_array *array,
                                    struct dti_error *reterr)
{
    enum dti_status status = write_file(job, array, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_output_commit(job->output, reterr);
    job->output = NULL;
    if (status != DTI_OK)
        return status;
    job->written.path = job->args->output;
    dti_output_is_complete(job->args->output);
    return DTI_OK;
}

/* A bar for each step. */
static void show(void *context, uint64_t done, uint64_t total)
{
    struct calc_job *const job = context;
    if (total != job->progress.total || done < job->reported) {
        FILE *const out = job->progress.out;
        dti_progress_end(&job->progress);
        dti_progress_start(&job->progress, out, total, "elements");
    }
    job->reported = done;
    dti_progress_show(&job->progress, done);
}

static void follow(struct calc_job *job)
{
    const enum dti_progress_when when = (enum dti_progress_when)job->args->progress;
    if (!dti_progress_wanted(when, job->cx, false))
        return;
    dti_progress_start(&job->progress, job->cx->err, 0, "elements");
    job->options.progress = show;
    job->options.progress_context = job;
}

enum dti_status dti_calc_job_run(struct calc_job *job, size_t target, struct dti_calc_result *ret,
                                 struct dti_error *reterr)
{
    follow(job);
    const enum dti_status status =
        dti_calc_run(job->tree, &job->cast.targets[target].dtype, &job->options, ret, reterr);
    dti_progress_end(&job->progress);
    if (status != DTI_OK)
        return status;
    for (int i = 0; i < DTI_CALC_EVENT_COUNT; i++)
        job->happened |= ret->events[i] > 0 ? 1U << i : 0;
    job->happened |= ret->flags & DTI_FLAG_INEXACT ? (unsigned)FAIL_INEXACT : 0;
    job->happened |= ret->flags & DTI_FLAG_INVALID ? (unsigned)FAIL_INVALID : 0;
    if (!job->output)
        return DTI_OK;
    const enum dti_status written = write_output(job, &ret->value, reterr);
    if (written != DTI_OK)
        dti_calc_result_free(ret);
    return written;
}
