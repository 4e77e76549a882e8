/* SPDX-License-Identifier: MIT
 *
 * What a cast of a file is asked to do, from operands, options and the environment. No tensor file
 * is opened here, save to see whether an operand is one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cast/cast_file.h"
#include "cli/shared/amount.h"
#include "dtinfo/ascii.h"

#define EXAMPLE "as in 'dtinfo cast model.safetensors bf16 -o model.bf16.safetensors'"

const char *dti_cast_file_option(const struct cast_args *args)
{
    return args->only             ? "--only"
           : args->keep           ? "--keep"
           : args->select         ? "--select"
           : args->ints           ? "--ints"
           : args->shape          ? "--shape"
           : args->assume         ? "--assume"
           : args->lenient        ? "--lenient"
           : args->max_memory     ? "--max-memory"
           : args->dry_run        ? "--dry-run"
           : args->progress_given ? "--progress"
                                  : NULL;
}

bool dti_cast_is_files(const struct cast_args *args, char **operands, int count)
{
    const char *const path = args->input ? args->input : count > 0 ? operands[0] : NULL;
    if (!path)
        return false;
    if (!args->from)
        return (args->input || !dti_cast_is_number(path)) && dti_container_is(path);
    if (dti_ascii_equal(args->from, "text"))
        return false;
    if (args->as_given)
        return args->as == CAST_AS_NPY || args->as == CAST_AS_SAFETENSORS;
    return args->output && dti_names_file(args->output);
}

enum dti_status dti_cast_file_surplus(const char *operand, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, DTI_USAGE,
                   "one file goes to one dtype at a time; %s is one operand too many",
                   dti_quote(quoted, operand, strlen(operand)));
    dti_error_argument(reterr, operand, strlen(operand));
    return DTI_USAGE;
}

static enum dti_status read_operands(struct cast_file *file, char **operands, int count,
                                     const char **ret_dtype, struct dti_error *reterr)
{
    const int files = file->args->input ? 0 : 1;
    char quoted[DTI_QUOTE_SIZE];
    file->path = file->args->input ? file->args->input : operands[0];
    if (strcmp(file->path, "-") != 0 && access(file->path, F_OK) != 0)
        return dti_cast_no_such_file(file->path, errno, reterr);
    if (count > files + 1)
        return dti_cast_file_surplus(operands[files + 1], reterr);
    if (count == files)
        return dti_fail(reterr, DTI_USAGE, "%s has no dtype to be cast to; give one, " EXAMPLE,
                        dti_quote(quoted, file->path, strlen(file->path)));
    *ret_dtype = operands[files];
    return DTI_OK;
}

static enum dti_status check_options(const struct cast_file *file, struct dti_error *reterr)
{
    const struct cast_args *const args = file->args;
    const char *const single = args->stacks ? "--stacks" : args->digits_given ? "--digits" : NULL;
    if (single)
        return dti_fail(reterr, DTI_USAGE, "%s is for values, not for files; leave it out", single);
    if (file->cx->quiet && args->report)
        return dti_fail(reterr, DTI_USAGE, "-q and --report exclude each other; give one of them");
    if (!file->out_path && !args->dry_run)
        return dti_fail(reterr, DTI_USAGE,
                        "no place for the result; give -o FILE, or --dry-run to see what it would "
                        "be");
    if (file->to_stdout && !args->dry_run && file->cx->output != DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE,
                        "--json answers on standard output, where the data goes; give -o FILE");
    if (args->count_given && (!args->from || args->shape))
        return dti_fail(reterr, DTI_USAGE,
                        "--count is for raw codes without --shape; leave it out");
    if (args->threads && file->to_text)
        return dti_fail(reterr, DTI_USAGE, "text is written by one thread; leave out --threads");
    return DTI_OK;
}

static enum dti_status read_amounts(struct cast_file *file, struct dti_error *reterr)
{
    const struct cast_args *const args = file->args;
    enum dti_status status = DTI_OK;
    if (args->threads && strcmp(args->threads, "all") != 0)
        status = dti_amount_threads(args->threads, strlen(args->threads), &file->threads, reterr);
    if (status == DTI_OK && args->max_memory)
        status = dti_amount_bytes("--max-memory", args->max_memory, strlen(args->max_memory),
                                  &file->max_memory, reterr);
    if (status == DTI_OK)
        status = dti_level_choose(getenv("DTINFO_CPU"), &file->level, reterr);
    return status;
}

/* What the input is, where it does not say so itself. */
static enum dti_status read_source(struct cast_file *file, struct dti_error *reterr)
{
    const struct cast_args *const args = file->args;
    struct dti_file_source *const source = &file->source;
    const struct dti_file_args how = {
        .from = args->from,
        .shape = args->shape,
        .assume = args->assume,
        .lenient = args->lenient,
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
        dti_cast_json_warn(&file->job, "dtype_name", NULL, 0, source->notes[i]);
    return DTI_OK;
}

static enum dti_status check_target(const struct cast_file *file, const char *dtype,
                                    struct dti_error *reterr)
{
    const struct cast_job *const job = &file->job;
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

enum dti_status dti_cast_file_init(struct cast_file *ret, const struct cast_args *args,
                                   const struct dti_context *cx, char **operands, int count,
                                   struct dti_error *reterr)
{
    const char *dtype = NULL;
    memset(ret, 0, sizeof *ret);
    ret->args = args;
    ret->cx = cx;
    ret->to_text = args->as_given && args->as == CAST_AS_TEXT;
    ret->out_path = args->output ? args->output : ret->to_text ? "-" : NULL;
    ret->to_stdout = ret->out_path && dti_output_is_standard(ret->out_path);
    enum dti_status status = read_operands(ret, operands, count, &dtype, reterr);
    if (status == DTI_OK)
        status = check_options(ret, reterr);
    if (status == DTI_OK)
        status = read_amounts(ret, reterr);
    if (status != DTI_OK)
        return status;
    const bool json = cx->output != DTI_OUTPUT_HUMAN;
    const bool aside = ret->to_stdout && !args->dry_run;
    ret->shown = json || (!cx->quiet && (!aside || args->report));
    status = dti_cast_job_init(&ret->job, args, cx, dtype, reterr);
    if (status != DTI_OK)
        return status;
    status = check_target(ret, dtype, reterr);
    if (status == DTI_OK)
        status = read_source(ret, reterr);
    if (status != DTI_OK)
        dti_cast_file_end(ret);
    return status;
}

void dti_cast_file_end(struct cast_file *file)
{
    dti_file_cast_free(file->cast);
    dti_container_free(file->container);
    dti_file_target_free(&file->target);
    dti_cast_job_free(&file->job);
}
