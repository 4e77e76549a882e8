/* SPDX-License-Identifier: MIT
 *
 * What a cast of a file is asked to do, from operands, options and the environment. No tensor file
 * is opened here, save to see whether an operand is one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shared/amount.h"
#include "cli/shared/cast_file.h"
#include "cli/shared/operand_kinds.h"

#define EXAMPLE "as in 'dtinfo cast model.safetensors bf16 -o model.bf16.safetensors'"

enum dti_status dti_cast_file_surplus(const char *operand, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, DTI_USAGE,
                   "one file goes to one dtype at a time; %s is one operand too many",
                   dti_quote(quoted, operand, strlen(operand)));
    dti_error_argument(reterr, operand, strlen(operand));
    return DTI_USAGE;
}

static enum dti_status read_operands(struct dti_cast_file *file, char **operands, int count,
                                     const char **ret_dtype, struct dti_error *reterr)
{
    const int files = file->args->input ? 0 : 1;
    char quoted[DTI_QUOTE_SIZE];
    file->path = file->args->input ? file->args->input : operands[0];
    if (strcmp(file->path, "-") != 0 && access(file->path, F_OK) != 0)
        return dti_no_such_file(file->path, errno, reterr);
    if (count > files + 1)
        return dti_cast_file_surplus(operands[files + 1], reterr);
    if (count == files)
        return dti_fail(reterr, DTI_USAGE, "%s has no dtype to be cast to; give one, " EXAMPLE,
                        dti_quote(quoted, file->path, strlen(file->path)));
    *ret_dtype = operands[files];
    return DTI_OK;
}

static enum dti_status check_options(const struct dti_cast_file *file, const char *surplus,
                                     struct dti_error *reterr)
{
    const struct dti_transfer_args *const args = file->args;
    const struct dti_tensor_args *const tensors = file->tensors;
    if (surplus)
        return dti_fail(reterr, DTI_USAGE, "--%s is for values, not for files; leave it out",
                        surplus);
    if (file->cx->quiet && args->report)
        return dti_fail(reterr, DTI_USAGE, "-q and --report exclude each other; give one of them");
    if (!file->out_path && !tensors->dry_run)
        return dti_fail(reterr, DTI_USAGE,
                        "no place for the result; give -o FILE, or --dry-run to see what it would "
                        "be");
    if (file->to_stdout && !tensors->dry_run && file->cx->output != DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE,
                        "--json answers on standard output, where the data goes; give -o FILE");
    if (args->count_given && (!args->from || tensors->shape))
        return dti_fail(reterr, DTI_USAGE,
                        "--count is for raw codes without --shape; leave it out");
    if (args->threads && file->to_text)
        return dti_fail(reterr, DTI_USAGE, "text is written by one thread; leave out --threads");
    return DTI_OK;
}

enum dti_status dti_transfer_amounts(const char *threads, const char *max_memory,
                                     size_t *ret_threads, uint64_t *ret_memory,
                                     enum dti_level *ret_level, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (threads && strcmp(threads, "all") != 0)
        status = dti_amount_threads(threads, strlen(threads), ret_threads, reterr);
    if (status == DTI_OK && max_memory)
        status =
            dti_amount_bytes("--max-memory", max_memory, strlen(max_memory), ret_memory, reterr);
    return status == DTI_OK ? dti_level_choose(getenv("DTINFO_CPU"), ret_level, reterr) : status;
}

/* What the input is, where it does not say so itself. */
static enum dti_status read_source(struct dti_cast_file *file, struct dti_error *reterr)
{
    const struct dti_transfer_args *const args = file->args;
    struct dti_file_source *const source = &file->source;
    const struct dti_file_args how = {
        .from = args->from,
        .shape = file->tensors->shape,
        .assume = file->tensors->assume,
        .lenient = file->tensors->lenient,
        .endian = args->endian,
        .endian_given = args->endian_given,
        .packing = args->from_packing_given ? args->from_packing : args->packing,
    };
    const enum dti_status status = dti_file_source_init(source, &how, file->cx, reterr);
    if (status != DTI_OK)
        return status;
    if (args->count_given) {
        source->raw.shaped = true;
        source->raw.rank = 1;
        source->shape[0] = args->count;
    }
    for (size_t i = 0; i < source->note_count; i++)
        dti_warnings_add(&file->job.warnings, "dtype_name", NULL, 0, source->notes[i]);
    return DTI_OK;
}

static enum dti_status check_target(const struct dti_cast_file *file, const char *dtype,
                                    struct dti_error *reterr)
{
    const struct dti_cast_job *const job = &file->job;
    char quoted[DTI_QUOTE_SIZE];
    if (job->target_count != 1 || !job->targets[0].named)
        return dti_fail(reterr, DTI_USAGE, "a file goes to one dtype; %s stands for several",
                        dti_quote(quoted, dtype, strlen(dtype)));
    const struct dti_format *const format = &job->targets[0].dtype;
    if (format->kind != DTI_KIND_COMPLEX)
        return DTI_OK;
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "tensors are not cast to %s; complex ones keep their dtype, and others go to "
                    "real dtypes such as %s",
                    format->name, dti_format_get(format->component)->name);
}

enum dti_status dti_cast_file_init(struct dti_cast_file *ret, const struct dti_cast_file_args *args,
                                   const struct dti_context *cx, char **operands, int count,
                                   struct dti_error *reterr)
{
    const struct dti_transfer_args *const transfer = &args->transfer;
    const char *dtype = NULL;
    memset(ret, 0, sizeof *ret);
    ret->args = transfer;
    ret->tensors = &args->tensors;
    ret->fail_on = (unsigned)args->policy.fail_on;
    ret->cx = cx;
    ret->to_text = transfer->as_given && transfer->as == DTI_AS_TEXT;
    ret->out_path = transfer->output ? transfer->output : ret->to_text ? "-" : NULL;
    ret->to_stdout = ret->out_path && dti_output_is_standard(ret->out_path);
    enum dti_status status = read_operands(ret, operands, count, &dtype, reterr);
    if (status == DTI_OK)
        status = check_options(ret, args->surplus, reterr);
    if (status == DTI_OK)
        status = dti_transfer_amounts(transfer->threads, args->tensors.max_memory, &ret->threads,
                                      &ret->max_memory, &ret->level, reterr);
    if (status != DTI_OK)
        return status;
    const bool json = cx->output != DTI_OUTPUT_HUMAN;
    ret->shown = json || (!cx->quiet && (!dti_cast_file_aside(ret) || transfer->report));
    status = dti_cast_job_init(&ret->job, &args->policy, cx, dtype, reterr);
    if (status != DTI_OK)
        return status;
    status = check_target(ret, dtype, reterr);
    if (status == DTI_OK)
        status = read_source(ret, reterr);
    if (status != DTI_OK)
        dti_cast_file_end(ret);
    return status;
}

void dti_cast_file_end(struct dti_cast_file *file)
{
    dti_file_cast_free(file->cast);
    dti_container_free(file->container);
    dti_file_target_free(&file->target);
    dti_cast_job_free(&file->job);
}
