/* SPDX-License-Identifier: MIT
 *
 * What a quantization of a file is asked to do, from operands, options and the environment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/quant/quant_files.h"
#include "cli/shared/operand_kinds.h"

#define EXAMPLE "as in 'dtinfo quant model.safetensors mxfp4 -o model.mxfp4.safetensors'"

static enum dti_status read_operands(struct quant_file *file, char **operands, int count,
                                     const char **ret_dtype, struct dti_error *reterr)
{
    const int files = file->args->transfer.input ? 0 : 1;
    char quoted[DTI_QUOTE_SIZE];
    if (count < files)
        return dti_fail(reterr, DTI_USAGE, "no file to quantize; give one, " EXAMPLE);
    file->answer.path = file->args->transfer.input ? file->args->transfer.input : operands[0];
    if (strcmp(file->answer.path, "-") == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "files are read more than once, which standard input may not allow; give "
                        "the name of a file");
    if (access(file->answer.path, F_OK) != 0)
        return dti_no_such_file(file->answer.path, errno, reterr);
    if (count > files + 1)
        return dti_cast_file_surplus(operands[files + 1], reterr);
    if (count == files)
        return dti_fail(reterr, DTI_USAGE, "%s has no dtype to be quantized to; give one, " EXAMPLE,
                        dti_quote(quoted, file->answer.path, strlen(file->answer.path)));
    *ret_dtype = operands[files];
    return DTI_OK;
}

static enum dti_status read_target(struct quant_file *file, const char *dtype,
                                   struct dti_error *reterr)
{
    const struct quant_args *const args = file->args;
    size_t count = 0;
    const enum dti_status status =
        dti_quant_targets_read(args, file->cx, dtype, &file->target, &count, reterr);
    char quoted[DTI_QUOTE_SIZE];
    if (status != DTI_OK)
        return status;
    if (count != 1)
        return dti_fail(reterr, DTI_USAGE, "a file goes to one dtype; %s are several",
                        dti_quote(quoted, dtype, strlen(dtype)));
    if (!args->min != !args->max)
        return dti_fail(reterr, DTI_USAGE, "of a file %s needs %s beside it",
                        args->min ? "--min" : "--max", args->min ? "--max" : "--min");
    const struct dti_quant_row *const row =
        dti_quant_row_find((enum dti_quant_layout)args->layout, file->target->name);
    if (args->nibble_given && row && row->packing == DTI_QUANT_WORDS)
        return dti_fail(reterr, DTI_USAGE,
                        "%s packs %s into words of 32 bits, the first in the lowest; leave out "
                        "--nibble",
                        dti_quant_layout_name(row->layout), file->target->name);
    return DTI_OK;
}

enum dti_status dti_quant_file_init(struct quant_file *ret, const struct quant_args *args,
                                    const struct dti_context *cx, char **operands, int count,
                                    struct dti_error *reterr)
{
    const struct dti_file_args how = {.assume = args->tensors.assume,
                                      .lenient = args->tensors.lenient};
    const char *dtype = NULL;
    memset(ret, 0, sizeof *ret);
    ret->args = args;
    ret->cx = cx;
    ret->answer = (struct dti_quant_file_answer){
        .out_path = args->transfer.output,
        .rules = &args->rules,
        .dry_run = args->tensors.dry_run,
        .notes = ret->source.notes,
        .warnings = ret->warnings,
        .stream = cx->out,
    };
    ret->shown = cx->output != DTI_OUTPUT_HUMAN || !cx->quiet;
    enum dti_status status = read_operands(ret, operands, count, &dtype, reterr);
    if (status == DTI_OK && args->bits_given)
        status = dti_fail(reterr, DTI_USAGE,
                          "--bits is for --dequant; the dtype says how many bits a code gets");
    if (status == DTI_OK && !args->transfer.output && !args->tensors.dry_run)
        status = dti_fail(reterr, DTI_USAGE,
                          "no place for the result; give -o FILE, or --dry-run to see what it "
                          "would be");
    if (status == DTI_OK)
        status = dti_transfer_amounts(args->transfer.threads, args->tensors.max_memory,
                                      &ret->answer.threads, &ret->max_memory, &ret->answer.level,
                                      reterr);
    if (status == DTI_OK)
        status = read_target(ret, dtype, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&ret->source, &how, cx, reterr);
    ret->answer.target = ret->target;
    ret->answer.note_count = ret->source.note_count;
    if (status != DTI_OK)
        dti_quant_file_end(ret);
    return status;
}

void dti_quant_file_end(struct quant_file *file)
{
    dti_file_quant_free(file->answer.quant);
    dti_container_free(file->answer.container);
    dti_file_target_free(&file->output);
    free(file->target);
}
