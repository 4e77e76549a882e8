/* SPDX-License-Identifier: MIT
 *
 * dtinfo compare: how far the numbers of two files are from each other. */
#include "cli/compare/compare_job.h"

static const struct dti_option options[] = {
    OPT_TEXT(0, "atol", struct compare_args, atol, "X",
             "absolute tolerance: |a - b| may be X + R |b|"),
    OPT_TEXT(0, "rtol", struct compare_args, rtol, "R", "relative tolerance, as above"),
    OPT_TEXT(0, "max-ulp", struct compare_args, max_ulp, "N",
             "floats may be N steps of the coarser dtype apart"),
    OPT_FLAG(0, "bitwise", struct compare_args, bitwise,
             "dtypes and stored bytes must be the same"),
    OPT_FLAG(0, "ignore-missing", struct compare_args, ignore_missing,
             "a tensor that only one file has is not a difference"),
    DTI_ROW_ONLY(struct compare_args, only, "compare only tensors whose names match"),
    OPT_UINT(0, "top", struct compare_args, top, top_given, 0, UINT64_MAX, "N",
             "show the N tensors that differ most; the default is 10, -v shows all"),
    DTI_SOURCE_OPTIONS(struct compare_args, file),
    DTI_SHAPE_OPTION(struct compare_args, file),
    DTI_SCAN_OPTIONS(struct compare_args, file),
    OPT_END,
};

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    struct compare_job job;
    enum dti_status status = dti_compare_init(&job, args, cx, operands, operand_count, reterr);
    if (status == DTI_OK)
        status = dti_compare_run(&job.compare, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN)
        status = DTI_ANSWER(cx, compare, &job.compare, reterr);
    else if (status == DTI_OK && !cx->quiet)
        status = dti_compare_human(&job, reterr);
    const bool differ = job.compare.tensors[DTI_COMPARE_DIFFERS] > 0;
    dti_compare_free(&job.compare);
    if (status == DTI_OK && differ)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", ""); /* the answer itself says so */
    return status;
}

const struct dti_command dti_command_compare = {
    .name = "compare",
    .group = "files",
    .summary = "how far the tensors of two files are from each other",
    .synopsis = "A B",
    .details = "A and B are files (safetensors, npy, npz, gguf, raw with --from), indexes or\n"
               "folders of shards; kinds and dtypes may differ. Tensors are paired by name;\n"
               "a single tensor on each side is paired whatever its name. Without a\n"
               "tolerance all numbers must be equal. The exit code is 0 if the files are\n"
               "equal or within the tolerance, and 1 if they differ.",
    .examples = "dtinfo compare model.safetensors model.safetensors.index.json\n"
                "dtinfo compare weights.npy arrays.npz --only 'data,half' --rtol 1e-3\n",
    .schema = "dtinfo.compare/1",
    .operands = DTI_OPERANDS_FILES,
    .options = options,
    .args_size = sizeof(struct compare_args),
    .run = run,
};
