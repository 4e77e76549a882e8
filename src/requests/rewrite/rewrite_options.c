/* SPDX-License-Identifier: MIT
 *
 * The request of a rewrite, from options. */
#include <string.h>

#include "requests/amount.h"
#include "requests/rewrite/rewrite_job.h"

void dti_rewrite_job_init(struct dti_rewrite_job *ret, const struct dti_rewrite_verb *verb,
                          const struct dti_transfer_args *transfer,
                          const struct dti_tensor_args *tensors,
                          const struct dti_rewrite_front *front, const char *path)
{
    memset(ret, 0, sizeof *ret);
    ret->verb = verb;
    ret->transfer = transfer;
    ret->tensors = tensors;
    ret->front = front;
    ret->job.asker = front->asker;
    ret->path = path;
    ret->to_text = transfer->as_given && transfer->as == DTI_AS_TEXT;
    ret->out_path = transfer->output ? transfer->output : ret->to_text ? "-" : NULL;
    ret->to_stdout = ret->out_path && !verb->regular && dti_output_is_standard(ret->out_path);
}

enum dti_status dti_transfer_amounts(const struct dti_asker *asker, const char *threads,
                                     const char *max_memory, size_t *ret_threads,
                                     uint64_t *ret_memory, enum dti_level *ret_level,
                                     struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (threads && strcmp(threads, "all") != 0)
        status = dti_amount_threads(threads, strlen(threads), ret_threads, reterr);
    if (status == DTI_OK && max_memory)
        status =
            dti_amount_bytes("--max-memory", max_memory, strlen(max_memory), ret_memory, reterr);
    return status == DTI_OK ? dti_level_choose(asker->cpu_level, ret_level, reterr) : status;
}

enum { PARTS_MAX = 1000000 };

/* "K/N" */
static enum dti_status read_part(const char *text, struct dti_run_part *ret,
                                 struct dti_error *reterr)
{
    const char *at = text;
    size_t length = strlen(text);
    uint64_t index = 0, count = 0;
    char quoted[DTI_QUOTE_SIZE];
    bool read = dti_amount_digits(&at, &length, &index) && length > 0 && *at == '/';
    if (read) {
        at++, length--;
        read = dti_amount_digits(&at, &length, &count) && length == 0 && count <= PARTS_MAX;
    }
    if (!read || count == 0)
        return dti_fail_word(reterr, DTI_USAGE, text, strlen(text),
                             "--part takes K/N, as in 1/8, with at most %d parts; got %s",
                             (int)PARTS_MAX, dti_quote(quoted, text, strlen(text)));
    if (index == 0 || index > count)
        return dti_fail_word(
            reterr, DTI_USAGE, text, strlen(text),
            "there is no part %llu of %llu; --part counts from 1/%llu to %llu/%llu",
            (unsigned long long)index, (unsigned long long)count, (unsigned long long)count,
            (unsigned long long)count, (unsigned long long)count);
    *ret = (struct dti_run_part){index, count};
    return DTI_OK;
}

static enum dti_status read_share(const struct dti_tensor_args *tensors,
                                  struct dti_rewrite_request *ret, struct dti_error *reterr)
{
    if (tensors->part && tensors->finish)
        return dti_fail(reterr, DTI_USAGE,
                        "--finish runs once, after all parts; leave out --part or --finish");
    if (tensors->check_parts && !tensors->finish)
        return dti_fail(reterr, DTI_USAGE, "--check-parts is for --finish; leave it out");
    ret->finish = tensors->finish;
    return tensors->part ? read_part(tensors->part, &ret->part, reterr) : DTI_OK;
}

enum dti_status dti_rewrite_options(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct dti_asker *const asker = job->front->asker;
    const struct dti_transfer_args *const args = job->transfer;
    const struct dti_tensor_args *const tensors = job->tensors;
    if (asker->quiet && args->report)
        return dti_fail(reterr, DTI_USAGE, "-q and --report exclude each other; give one of them");
    if (!job->out_path && !tensors->dry_run)
        return dti_fail(reterr, DTI_USAGE,
                        "missing output; give -o FILE, or --dry-run to see what would be written");
    if (job->to_stdout && !tensors->dry_run && asker->document)
        return dti_fail(reterr, DTI_USAGE,
                        "--json and the data would both go to standard output; give -o FILE");
    if (args->count_given && (!args->from || tensors->shape))
        return dti_fail(reterr, DTI_USAGE,
                        "--count is for raw codes without --shape; leave it out");
    if (args->threads && job->to_text)
        return dti_fail(reterr, DTI_USAGE, "text is written by one thread; leave out --threads");
    const enum dti_status status = read_share(tensors, &job->request, reterr);
    if (status != DTI_OK)
        return status;
    job->shown = asker->document || (!asker->quiet && (!dti_rewrite_aside(job) || args->report));
    return dti_transfer_amounts(asker, args->threads, tensors->max_memory, &job->threads,
                                &job->max_memory, &job->request.level, reterr);
}

enum dti_status dti_rewrite_source_options(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    struct dti_file_source *const source = &job->source;
    const struct dti_cast_recipe *const cast = &job->request.cast;
    const struct dti_file_args how = {
        .from = job->transfer->from,
        .shape = job->tensors->shape,
        .assume = job->tensors->assume,
        .lenient = job->tensors->lenient,
        .endian = job->transfer->endian,
        .endian_given = job->transfer->endian_given,
        .packing = (int)(cast->from_packing_given ? cast->from_packing : cast->packing),
    };
    const enum dti_status status = dti_file_source_init(source, &how, job->front->asker, reterr);
    if (status != DTI_OK)
        return status;
    if (job->transfer->count_given) {
        source->raw.shaped = true;
        source->raw.rank = 1;
        source->shape[0] = job->transfer->count;
    }
    for (size_t i = 0; i < source->note_count; i++)
        dti_warnings_add(&job->job.warnings, "dtype_name", NULL, 0, source->notes[i]);
    return DTI_OK;
}

static enum dti_status check_target(const struct dti_rewrite_job *job, const char *dtype,
                                    struct dti_error *reterr)
{
    const struct dti_cast_job *const cast = &job->job;
    char quoted[DTI_QUOTE_SIZE];
    if (cast->target_count != 1 || !cast->targets[0].named)
        return dti_fail(reterr, DTI_USAGE, "a file goes to one dtype; %s stands for several",
                        dti_quote(quoted, dtype, strlen(dtype)));
    const struct dti_format *const format = &cast->targets[0].dtype;
    if (format->kind != DTI_KIND_COMPLEX)
        return DTI_OK;
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "tensors cannot be cast to %s; complex tensors keep their dtype, others go to "
                    "real dtypes such as %s",
                    format->name, dti_format_get(format->component)->name);
}

enum dti_status dti_rewrite_cast(struct dti_rewrite_job *job, const struct dti_policy_args *policy,
                                 const char *dtype, struct dti_error *reterr)
{
    enum dti_status status = dti_cast_job_init(&job->job, policy, job->front->asker, dtype, reterr);
    if (status == DTI_OK)
        status = check_target(job, dtype, reterr);
    if (status != DTI_OK)
        return status;
    job->fail_on = (unsigned)policy->fail_on;
    dti_recipe_request_cast(&job->request, &policy->recipe, &job->job.targets[0].cast,
                            job->job.targets[0].rule);
    job->request.cast.flags = job->fail_on != 0;
    return DTI_OK;
}
