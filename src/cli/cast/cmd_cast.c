/* SPDX-License-Identifier: MIT
 *
 * dtinfo cast: what happens to a value when it is stored in a dtype; and to an array or a file of
 * tensors. */

#include "cli/cast/array.h"
#include "cli/cast/values.h"
#include "cli/rewrite/rewrite_page.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/operand_kinds.h"
#include "requests/amount.h"
#include "requests/cast/cast_args.h"
#include "util/text/ascii.h"

/* Options for values, for arrays and files, and for files of tensors only. */
static const char of_values[] = "stacks digits";
static const char of_transfers[] = "output as force count packing from-packing endian report";
static const char of_transfers_and_lines[] = "threads";
static const char of_tensors[] = "cast-only keep select allow-unmatched no-copy ints shape assume "
                                 "lenient max-memory dry-run template set set-from "
                                 "max-shard-size part finish";

/* A file of tensors. The report: a summary line, a line per pair of dtypes, the losses, and the
 * tensors that lost most (with -v all of them). */

static const char *const kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept: --keep",
    [DTI_FATE_ONLY] = "kept: not in --cast-only",
    [DTI_FATE_INTEGER] = "kept: --ints casts integers",
    [DTI_FATE_COMPLEX] = "kept: complex",
    [DTI_FATE_PART] = "kept: part of a quantized tensor",
    [DTI_FATE_BLOCKS] = "kept: quantized",
    [DTI_FATE_CONVENTION] = "fp32 by convention",
};

/* Not all columns are shown at once: some only with -v, one only for dtypes that lack codes. */
static enum dti_status put_table(const struct dti_rewrite_job *job, const size_t *list,
                                 size_t count, struct dti_error *reterr)
{
    const bool dry = !job->losses, brief = dry || !job->front->cx->verbose;
    const struct dti_rewrite_column columns[] = {
        {"bytes", DTI_COLUMN_BYTES, 0, !dry},
        {"overflowed", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.overflowed), dry},
        {"to zero", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.to_zero), dry},
        {"no code", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.no_code),
         dry || job->rewrite->loss.no_code == 0},
        {"to subnormal", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.to_subnormal), brief},
        {"nan", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.nan_in), brief},
        {"inf", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.inf_in), brief},
        {"max abs error", DTI_COLUMN_LOSS, DTI_COLUMN_OF(loss.max_absolute), dry},
        {"max rel", DTI_COLUMN_RELATIVE, DTI_COLUMN_OF(loss.max_relative), dry},
        {"SQNR dB", DTI_COLUMN_LOSS, DTI_COLUMN_OF(loss.sqnr_db), dry},
    };
    return dti_rewrite_table(job, columns, sizeof columns / sizeof *columns, list, count, reterr);
}

static double share(uint64_t count, uint64_t elements)
{
    return elements > 0 ? (double)count / (double)elements : 0;
}

/* Whether a lost more than b: numbers beyond the range or without a code weigh most. */
static bool is_worse(const struct dti_loss_summary *a, const struct dti_loss_summary *b)
{
    const double beyond_a = share(a->overflowed + a->no_code, a->elements);
    const double beyond_b = share(b->overflowed + b->no_code, b->elements);
    const double zero_a = share(a->to_zero, a->elements), zero_b = share(b->to_zero, b->elements);
    if (beyond_a > beyond_b || beyond_a < beyond_b)
        return beyond_a > beyond_b;
    if (a->max_relative > b->max_relative || a->max_relative < b->max_relative)
        return a->max_relative > b->max_relative;
    return zero_a > zero_b;
}

static bool lost_numbers(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_loss_summary *const loss = &dti_rewrite_outcome(rewrite, tensor)->loss;
    return loss->overflowed > 0 || loss->to_zero > 0 || loss->no_code > 0;
}

static void put_loss(struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_rewrite *const rewrite = job->rewrite;
    const struct dti_cast_recipe *const recipe = &rewrite->request.cast;
    if (rewrite->changed_count == 0 || !job->losses)
        return;
    dti_loss_human_counts(job->answer.loss, line);
    dti_rewrite_errors(job, line);
    dti_loss_human_policies(&recipe->cast, recipe->rule, line);
    dti_cast_device_human(&job->job.device, line);
    if (job->front->cx->verbose) {
        dti_rewrite_machine(job, line);
        for (size_t i = 0; i < rewrite->plan_count; i++) {
            char kernels[DTI_PLAN_TEXT_SIZE];
            dti_line_text(line, "   ");
            dti_line_put(line, DTI_STYLE_DIM, dti_plan_describe_device(rewrite->plans[i], kernels));
        }
        dti_line_end(line);
    }
    dti_loss_human_hint(&recipe->cast, recipe->rule, job->answer.loss, line);
}

/* With -v all, else those that lost whole numbers, if there are several. */
static enum dti_status put_tables(const struct dti_rewrite_job *job, struct dti_error *reterr)
{
    if (job->front->cx->verbose)
        return put_table(job, NULL, job->rewrite->tensor_count, reterr);
    if (!job->losses || job->rewrite->changed_count < 2)
        return DTI_OK;
    return dti_rewrite_worst(job, lost_numbers, is_worse, put_table, "  ... of ",
                             "tensors that lost numbers", reterr);
}

static const struct dti_rewrite_page page = {
    .verb = "cast",
    .example = "as in 'dtinfo cast model.safetensors bf16 -o model.bf16.safetensors'",
    .kept = kept,
    .loss = put_loss,
    .tables = put_tables,
};

static enum dti_status cast_files(const struct cast_args *args, const char *surplus,
                                  struct dti_command_context *cx, char **operands, int count,
                                  struct dti_error *reterr)
{
    const struct dti_rewrite_front front = dti_rewrite_front(cx, &page);
    const char *path = NULL, *dtype = NULL;
    const enum dti_status status = dti_rewrite_operands(&page, args->transfer.input, false,
                                                        operands, count, &path, &dtype, reterr);
    if (status != DTI_OK)
        return status;
    if (surplus)
        return dti_fail(reterr, DTI_USAGE, "--%s is for values, not for files; leave it out",
                        surplus);
    return dti_cast_file_run(args, &front, path, dtype, reterr);
}

enum kind { VALUES, ARRAY, FILES };

/* Decides what the user means. is_number: the first operand is a number. */
static enum kind decide(const struct dti_transfer_args *args, char **operands, int count,
                        bool is_number)
{
    const char *const path = args->input ? args->input : count > 0 ? operands[0] : NULL;
    if (!args->from) {
        if (path && (args->input || !is_number) && dti_container_is(path))
            return FILES;
        return args->input ? ARRAY : VALUES;
    }
    if (!path || dti_ascii_equal(args->from, "text"))
        return ARRAY;
    return dti_transfer_makes_file(args) ? FILES : ARRAY;
}

/* Values take no options of arrays and files, except values on lines: if such an option is given,
 * the operand is a file. */
static enum dti_status refuse_options(const struct cast_args *args, char **operands, int count,
                                      struct dti_error *reterr)
{
    const bool lines = count > 0 && strcmp(operands[0], "-") == 0;
    const char *const of_both =
        lines ? NULL : dti_option_given(dti_cast_options, args, of_transfers_and_lines);
    const char *const name =
        of_both ? of_both : dti_option_given(dti_cast_options, args, of_transfers);
    const char *const tensors = dti_option_given(dti_cast_options, args, of_tensors);
    const char *const other = tensors ? tensors : args->transfer.progress_given ? "progress" : NULL;
    if (!name && !other)
        return DTI_OK;
    const enum dti_status status =
        count > 0 ? dti_operand_refuse_file(operands[0], reterr) : DTI_OK;
    if (status != DTI_OK)
        return status;
    if (!name)
        return dti_fail(
            reterr, DTI_USAGE,
            "--%s is for files of tensors, as in 'dtinfo cast model.safetensors bf16 -o "
            "out.safetensors'",
            other);
    return dti_fail(reterr, DTI_USAGE,
                    "--%s is for arrays; give the dtype of the input with --from, as in 'dtinfo "
                    "cast in.bin bf16 --from fp32 -o out.bin'",
                    name);
}

static enum dti_status run_cast(const void *args_, char **operands, int count,
                                struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct cast_args *const args = args_;
    struct cast_value_args values = {
        .digits = args->digits, .digits_given = args->digits_given, .stacks = args->stacks};
    struct cast_numbers numbers = {.count = 0};
    enum dti_status status = DTI_OK;
    if (!args->transfer.from && !args->transfer.input && count > 0)
        status =
            dti_cast_numbers_read(&numbers, operands, count > 1 ? (size_t)count - 1 : 1, reterr);
    if (status != DTI_OK)
        return status;
    const char *const surplus = dti_option_given(dti_cast_options, args, of_values);
    const struct cast_array_args array = {&args->policy, &args->transfer, surplus,
                                          dti_option_given(dti_cast_options, args, of_tensors)};
    switch (decide(&args->transfer, operands, count, numbers.count > 0)) {
    case VALUES:
        status = refuse_options(args, operands, count, reterr);
        if (status == DTI_OK && args->transfer.threads)
            status = dti_amount_threads(args->transfer.threads, strlen(args->transfer.threads),
                                        &values.threads, reterr);
        if (status == DTI_OK)
            status = dti_cast_values(&args->policy, &values, cx, operands, count, &numbers, reterr);
        break;
    case ARRAY:
        status = dti_cast_array(&array, cx, operands, count, reterr);
        break;
    case FILES:
        status = cast_files(args, surplus, cx, operands, count, reterr);
        break;
    }
    dti_cast_numbers_free(&numbers);
    return status;
}

const struct dti_command dti_command_cast = {
    .name = "cast",
    .group = "ask",
    .summary = "cast values or files to any dtype and show the error",
    .reads = true,
    .writes = true,
    .synopsis = "VALUE...|FILE DTYPE[,DTYPE...]",
    .details = "VALUE is a decimal of any length, a C99 hexfloat, a quotient such as 1/3,\n"
               "inf or nan; '-' reads one value per line from standard input. It is rounded\n"
               "once, to the dtype. DTYPE is a name from 'dtinfo list', any\n"
               "[u]eXmY[fn|fnuz][bBIAS], intN or uintN, a comma-separated list of them, or\n"
               "'all'. -q prints only the stored value.\n"
               "\n"
               "--from casts an array: FILE, or '-' for standard input, holds codes of a\n"
               "dtype or, with --from text, numbers separated by blanks or commas. The\n"
               "report shows what was lost:\n"
               "dtinfo cast in.bin bf16 --from fp32 -o out.bin\n"
               "\n"
               "Files of tensors and sharded checkpoints need no --from. Floats are cast,\n"
               "everything else is kept, and the report shows what each tensor lost:\n"
               "dtinfo cast model.safetensors bf16 -o model.bf16.safetensors --keep '*norm*'",
    .examples = "dtinfo cast 70000 bf16\n"
                "dtinfo cast 0.1 all\n"
                "dtinfo cast model.safetensors bf16 -o model.bf16.safetensors --keep '*norm*'\n"
                "dtinfo cast 1/3 fp64,fp32,fp16,bf16 --digits 60\n"
                "dtinfo cast 500 fp8_e4m3fn --stacks\n"
                "dtinfo cast -q -1.5 int8 --round nearest-even\n"
                "dtinfo cast - fp8_e4m3fn --from text -o /dev/null\n"
                "dtinfo cast - bf16 --from fp32 -o /dev/null\n"
                "dtinfo cast model.safetensors.index.json fp8_e4m3fn --dry-run\n",
    .schema = "dtinfo.cast/1",
    .other_schemas = {"dtinfo.cast_array/1", "dtinfo.cast_file/1"},
    .operands = DTI_OPERANDS_VALUE_DTYPE,
    .options = dti_cast_options,
    .args_size = sizeof(struct cast_args),
    .run = run_cast,
};
