/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant: quantizes values, tensors and checkpoints. */
#include <errno.h>
#include <string.h>

#include "cli/quant/quant_words.h"
#include "cli/shared/operand_kinds.h"
#include "io/input.h"
#include "io/net/remote.h"

/* Whether the operands name a file (or --input, --output, ... imply one), not values. */
static bool is_files(const struct quant_args *args, char **operands, int count)
{
    const bool wanted =
        args->transfer.output || args->recipe.dequant || args->tensors.dry_run || args->plan;
    if (args->transfer.input)
        return true;
    return count > 0 && strcmp(operands[0], "-") != 0 && !dti_operand_is_number(operands[0]) &&
           (wanted || dti_is_address(operands[0]) || dti_input_there(operands[0]) != ENOENT);
}

static enum dti_status run_quant(const void *all_args, char **operands, int count,
                                 struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct quant_args *const args = all_args;
    if (!is_files(args, operands, count))
        return dti_quant_values(args, cx, operands, count, reterr);
    return dti_quant_files(args, cx, operands, count, reterr);
}

const struct dti_command dti_command_quant = {
    .name = "quant",
    .group = "ask",
    .summary = "quantize values or files, or dequantize them",
    .reads = true,
    .writes = true,
    .writes_none = DTI_TRAIT_BARE,
    .encodes = true,
    .synopsis = "VALUE...|FILE DTYPE[,DTYPE...]",
    .details =
        "Quantization divides numbers by a scale and keeps a code of few bits for\n"
        "each. DTYPE is int2 to int16, uint2 to uint16, a float of 8 bits or less, or\n"
        "a block format, whose elements share a scale: mxfp8_e4m3, mxfp8_e5m2,\n"
        "mxfp6_e3m2, mxfp6_e2m3, mxfp4, mxint8, nvfp4, nf4, bnb_fp4, q8_0, q4_0. All\n"
        "values together are one tensor. The scale follows from its range, or from --min and\n"
        "--max, or is --scale. '-' reads values from standard input. All arithmetic\n"
        "is in fp32. -q prints only the dequantized numbers.\n"
        "\n"
        "A FILE of tensors, or a sharded checkpoint, becomes one with codes and scales;\n"
        "--dequant turns it back into floats:\n"
        "dtinfo quant model.safetensors mxfp4 -o model.mxfp4.safetensors --pad\n"
        "\n"
        "Into a .gguf file tensors go as blocks of a type of ggml, those that\n"
        "llama-quantize quantizes. Metadata are those of the input or of --template, or\n"
        "come from config.json and --set, which names the tensors as llama.cpp does:\n"
        "dtinfo quant model/ q8_0 -o model.gguf --type 'output.weight=bf16'",
    .examples = "dtinfo quant -1 0.1 3 uint8\n"
                "dtinfo quant -1 0.1 3 int8 --like torch\n"
                "dtinfo quant -12.15 int8 --scale 0.1\n"
                "dtinfo quant 0.1 0.7 -3 mxfp4 --mx-scale rceil\n"
                "dtinfo quant 1 2 3 int8,int4,nvfp4,q4_0\n",
    .schema = "dtinfo.quant/1",
    .other_schemas = {"dtinfo.quant_file/1", "dtinfo.dequant/1"},
    .operands = DTI_OPERANDS_VALUE_FORMAT,
    .options = dti_quant_options,
    .args_size = sizeof(struct quant_args),
    .run = run_quant,
};
