/* SPDX-License-Identifier: MIT
 *
 * dtinfo mem: how much memory numbers take, stored as this or that dtype, and in training. */
#include <stdlib.h>

#include "cli/mem/mem_job.h"

static const struct dti_choice optimizers[] = {
#define TRAINING(id, name_, states, first, second, state, block, least, source) \
    {.name = (name_), .value = 1 << DTI_TRAINING_##id, .help = (source)},
#include "dtinfo/trainings.def"
#undef TRAINING
    {.name = "all", .value = (1 << DTI_TRAINING_COUNT) - 1, .help = "each of these"},
    {.name = NULL},
};

static const struct dti_choice no_master[] = {
    {.name = "none", .help = "there is no copy of the weights"},
    {.name = NULL},
};

static const struct dti_choice some_capacities[] = {
    {.name = "cpu", .help = "the memory that is free on this machine"},
    {.name = "cuda", .help = "what is free on the first CUDA device; cuda:N is another one"},
    {.name = "auto", .help = "the first CUDA device, or this machine where there is none"},
    {.name = NULL},
};

static const struct dti_option options[] = {
    OPT_SET(0, "train", struct mem_args, train, "OPTIMIZER,...", optimizers,
            "account for training: weights, gradients, master weights, optimizer states"),
    OPT_DTYPE(0, "dtype", struct mem_args, dtype, "DTYPE,...",
              "the dtypes, instead of after the operands; with --train, of the weights"),
    OPT_DTYPE(0, "gradients", struct mem_args, mem.gradients, "DTYPE",
              "with --train: dtype of the gradients; by default that of the weights"),
    {.kind = DTI_OPTION_DTYPE,
     .long_name = "master",
     .metavar = "DTYPE",
     .help = "with --train: dtype of the master weights; by default fp32 if weights are narrower",
     .choices = no_master,
     .offset = DTI_FIELD(struct mem_args, mem.master, const char *),
     .given_offset = DTI_NO_GIVEN},
    OPT_DTYPE(0, "states", struct mem_args, mem.states, "DTYPE",
              "with --train: dtype of the optimizer's states; by default fp32"),
    OPT_LIST(0, "fit", struct mem_args, mem.fit, "DEVICE|BYTES", some_capacities,
             "say what fits into a device's free memory, or into 80GB or 24GiB"),
    DTI_ROW_INPUT(struct mem_args, input, "a file", "an amount"),
    DTI_ROW_ONLY(struct mem_args, mem.only, "files: count only these tensors"),
    DTI_ROW_KEEP(struct mem_args, mem.keep),
    DTI_SOURCE_OPTIONS(struct mem_args, file),
    OPT_END,
};

static enum dti_status check_options(const struct mem_args *args, struct dti_error *reterr)
{
    const char *const option = args->mem.gradients ? "--gradients"
                               : args->mem.master  ? "--master"
                               : args->mem.states  ? "--states"
                                                   : NULL;
    if (option && !args->train)
        return dti_fail(reterr, DTI_USAGE, "%s is of training; say --train adam, or leave it out",
                        option);
    return DTI_OK;
}

static enum dti_status gather(struct mem_job *job, char **operands, int operand_count,
                              struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    enum dti_status status = check_options(args, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&job->source, &args->file, job->cx, reterr);
    job->mem = args->mem;
    job->mem.train = (unsigned)args->train;
    job->mem.list_tensors = job->cx->verbose;
    job->mem.notes = job->source.notes;
    job->mem.note_count = job->source.note_count;
    if (status == DTI_OK)
        status = dti_mem_operands(job, operands, operand_count, reterr);
    if (status == DTI_OK)
        status = args->train ? dti_mem_train(job, reterr) : dti_mem_sum(&job->mem, reterr);
    return status == DTI_OK ? dti_mem_capacity(job, reterr) : status;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    struct mem_job *const job = calloc(1, sizeof *job);
    if (!job)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    job->args = args;
    job->cx = cx;
    enum dti_status status = gather(job, operands, operand_count, reterr);
    const bool any = status == DTI_OK && (!job->mem.capacity.asked || dti_mem_judge(&job->mem));
    if (status == DTI_OK)
        status = cx->output == DTI_OUTPUT_HUMAN ? dti_mem_human(cx, &job->mem, reterr)
                                                : DTI_ANSWER(cx, mem, &job->mem, reterr);
    dti_mem_free(&job->mem);
    free(job);
    if (status == DTI_OK && !any)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", ""); /* the answer says how much is missing */
    return status;
}

const struct dti_command dti_command_mem = {
    .name = "mem",
    .group = "ask",
    .summary = "bytes of numbers in any dtype, for training, and what fits",
    .synopsis = "COUNT|SHAPE|FILE... [DTYPE,...]",
    .details = "COUNT is 7B, 1.5B, 176e9, 350M or 2^20 (K, M, B and T are 1e3, 1e6, 1e9,\n"
               "1e12); SHAPE is 32x1024x4096 or 32,1024,4096; FILE is a safetensors file,\n"
               "the index of a sharded checkpoint or its folder, an npy, npz or GGUF file;\n"
               "only headers are read. Several operands are added up. DTYPE is any dtype or\n"
               "block format; the default is a selection. -v lists the tensors of files. -q\n"
               "prints only the bytes, or with --fit the names of what fits. If nothing\n"
               "fits, the exit status is 1.",
    .examples = "dtinfo mem 7B\n"
                "dtinfo mem 176e9 bf16\n"
                "dtinfo mem 32x1024x4096 fp32,mxfp4\n"
                "dtinfo mem 7B --train adam --dtype bf16\n"
                "dtinfo mem 7B --fit 24GiB\n"
                "dtinfo mem model.safetensors mxfp4 --keep '*norm*'\n",
    .schema = "dtinfo.mem/1",
    .operands = DTI_OPERANDS_VALUE_FORMAT,
    .options = options,
    .args_size = sizeof(struct mem_args),
    .run = run,
};
