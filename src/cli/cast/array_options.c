/* SPDX-License-Identifier: MIT
 *
 * The request of an array cast, from operands, options and the environment: input, dtypes, output.
 * Nothing is opened here. */
#include <stdlib.h>
#include <string.h>

#include "cli/cast/array.h"
#include "cli/shared/operand_kinds.h"
#include "containers/containers.h"
#include "dtinfo/ascii.h"
#include "dtinfo/parallel.h"

#define EXAMPLE "as in 'dtinfo cast in.bin bf16 --from fp32 -o out.bin'"

/* The file and the name of the destination. */
static enum dti_status read_operands(struct cast_array *array, char **operands, int count,
                                     const char **ret_dtype, struct dti_error *reterr)
{
    const struct dti_transfer_args *args = array->args;
    const int files = args->input ? 0 : 1;
    if (count == 0)
        return dti_fail(reterr, DTI_USAGE, "nothing to cast; give %s, " EXAMPLE,
                        args->input ? "a dtype" : "a file and a dtype");
    if (count > files + 1 && args->input)
        return dti_fail_word(reterr, DTI_USAGE, operands[1], strlen(operands[1]),
                             "--input names the file, and an array goes to one dtype; %s is one "
                             "operand too many",
                             DTI_QUOTED(operands[1], strlen(operands[1])));
    if (count > files + 1)
        return dti_rewrite_surplus(operands[2], reterr);
    array->path = args->input ? args->input : operands[0];
    enum dti_input_kind kind;
    const int cause = strcmp(array->path, "-") != 0 ? dti_input_find(array->path, &kind) : 0;
    if (!args->from && cause != 0)
        return dti_no_such_file(array->path, cause, reterr);
    if (!args->from)
        return dti_operand_needs_from(array->path, reterr);
    if (count == files)
        return dti_fail(reterr, DTI_USAGE, "the target dtype of %s is missing; give one, " EXAMPLE,
                        DTI_QUOTED(array->path, strlen(array->path)));
    *ret_dtype = operands[files];
    if (args->input || strcmp(array->path, "-") == 0)
        return DTI_OK;
    if (!dti_operand_is_number(array->path))
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "%s is a number, and --from is for files; leave it out, or write './%s' or "
                    "--input %s for the file of that name",
                    DTI_QUOTED(array->path, strlen(array->path)), array->path, array->path);
}

static enum dti_status check_options(const struct cast_array *array, const char *of_values,
                                     const char *of_tensors, struct dti_error *reterr)
{
    const struct dti_transfer_args *args = array->args;
    if (of_values)
        return dti_fail(reterr, DTI_USAGE, "--%s is for values, not for arrays; leave it out",
                        of_values);
    if (array->cx->quiet && args->report)
        return dti_fail(reterr, DTI_USAGE, "-q and --report exclude each other; give one of them");
    if (of_tensors)
        return dti_fail(
            reterr, DTI_USAGE,
            "--%s is for files of tensors; -o x.npy or --as npy turns raw codes into one",
            of_tensors);
    if (args->as_given && args->as > DTI_AS_TEXT)
        return dti_fail(reterr, DTI_USAGE,
                        "text is cast to raw codes or to text; cast it with --as raw first, then "
                        "the result with --from");
    if (!array->out_path)
        return dti_fail(reterr, DTI_USAGE,
                        "missing output; give -o FILE, or '-o -' for standard output");
    if (array->to_stdout && array->cx->output != DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE,
                        "--json and the data would both go to standard output; give -o FILE");
    if (args->endian_given && array->from_text)
        return dti_fail(reterr, DTI_USAGE,
                        "--endian is the byte order of raw input; text has none: leave it out");
    if (array->recipe->from_packing_given && array->from_text)
        return dti_fail(reterr, DTI_USAGE,
                        "--from-packing is for raw codes; text has none: leave it out");
    if (args->count_given && array->from_text)
        return dti_fail(reterr, DTI_USAGE,
                        "--count is for raw codes; text needs no count: leave it out");
    return DTI_OK;
}

/* Packing applies to codes of less than 8 bits. */
static enum dti_status check_packing(const struct cast_array *array, struct dti_error *reterr)
{
    const struct dti_recipe *const recipe = array->recipe;
    const struct dti_request *request = &array->request;
    const bool source = !array->from_text && dti_format_packs(&request->src);
    const bool result = !array->to_text && dti_format_packs(&request->cast.dst);
    const char *option = recipe->packing_given && !source && !result ? "--packing"
                         : recipe->from_packing_given && !source     ? "--from-packing"
                                                                     : NULL;
    if (!option)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "%s is for codes of less than 8 bits, and there are none%s: leave it out",
                    option, option[2] == 'f' ? " in the input" : "");
}

static enum dti_status refuse_complex(const struct dti_format *dtype, bool source,
                                      struct dti_error *reterr)
{
    const char *component = dti_format_get(dtype->component)->name;
    if (source)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "arrays of %s cannot be cast directly; --from %s reads the parts, "
                        "alternating real and imaginary",
                        dtype->name, component);
    return dti_fail(
        reterr, DTI_WRONG_KIND,
        "arrays cannot be cast to %s; cast the parts, alternating real and imaginary, to %s",
        dtype->name, component);
}

/* Files are little-endian unless --endian gives another byte order for the input. */
static enum dti_status read_dtypes(struct cast_array *array, const char *dtype,
                                   struct dti_error *reterr)
{
    const struct dti_transfer_args *args = array->args;
    const struct dti_recipe *const recipe = array->recipe;
    struct dti_cast_job *job = &array->job;
    if (job->target_count != 1 || !job->targets[0].named)
        return dti_fail(reterr, DTI_USAGE, "an array goes to one dtype; %s stands for several",
                        DTI_QUOTED(dtype, strlen(dtype)));
    const struct dti_cast_target *target = &job->targets[0];
    if (target->dtype.kind == DTI_KIND_COMPLEX)
        return refuse_complex(&target->dtype, false, reterr);

    struct dti_request *request = &array->request;
    request->cast = target->cast;
    request->rule = target->rule;
    request->dst_layout = dti_file_layout(&target->dtype, (enum dti_packing)recipe->packing, false);
    if (array->from_text)
        return DTI_OK;
    struct dti_dtype_operand source;
    enum dti_status status = dti_dtype_operand_read(args->from, NULL, array->cx, &source, reterr);
    if (status != DTI_OK)
        return status;
    if (source.format.kind == DTI_KIND_COMPLEX)
        return refuse_complex(&source.format, true, reterr);
    if (source.note)
        dti_warnings_add(&job->warnings, "dtype_name", source.format.name, 0, source.note);
    request->src = source.format;
    request->src_layout = dti_file_layout(
        &source.format,
        (enum dti_packing)(recipe->from_packing_given ? recipe->from_packing : recipe->packing),
        args->endian == (int)DTI_ENDIAN_BIG);
    return DTI_OK;
}

enum dti_status dti_cast_array_init(struct cast_array *ret,
                                    const struct cast_array_args *array_args,
                                    const struct dti_context *cx, char **operands, int count,
                                    struct dti_error *reterr)
{
    const struct dti_transfer_args *const args = array_args->transfer;
    const bool fails = array_args->policy->fail_on != 0;
    const char *dtype = NULL;
    memset(ret, 0, sizeof *ret);
    ret->args = args;
    ret->recipe = &array_args->policy->recipe;
    ret->cx = cx;
    ret->from_text = args->from && dti_ascii_equal(args->from, "text");
    ret->to_text = args->as == DTI_AS_TEXT;
    ret->count = args->count_given ? args->count : DTI_UNTIL_END;
    ret->out_path = args->output ? args->output : ret->to_text ? "-" : NULL;
    ret->to_stdout = ret->out_path && dti_output_is_standard(ret->out_path);
    enum dti_status status = read_operands(ret, operands, count, &dtype, reterr);
    if (status == DTI_OK)
        status = check_options(ret, array_args->of_values, array_args->of_tensors, reterr);
    if (status == DTI_OK)
        status =
            dti_transfer_amounts(args->threads, NULL, &ret->threads, NULL, &ret->level, reterr);
    if (status != DTI_OK)
        return status;

    status = dti_cast_job_init(&ret->job, array_args->policy, cx, dtype, reterr);
    if (status != DTI_OK)
        return status;
    status = read_dtypes(ret, dtype, reterr);
    if (status == DTI_OK)
        status = check_packing(ret, reterr);
    if (status != DTI_OK) {
        dti_cast_job_free(&ret->job);
        return status;
    }
    const struct dti_format *dst = &ret->request.cast.dst;
    /* a NaN without a code is an error, found by counting */
    const bool refuses = dti_format_is_float(dst) && !dti_format_has_nan(dst) &&
                         ret->request.cast.policy.overflow == DTI_OVERFLOW_NATIVE;
    const bool json = cx->output != DTI_OUTPUT_HUMAN;
    ret->shown = json || (!cx->quiet && (!ret->to_stdout || args->report));
    ret->request.flags = fails;
    ret->counted = ret->shown || fails || refuses || ret->request.cast.via_count > 0;
    return DTI_OK;
}
