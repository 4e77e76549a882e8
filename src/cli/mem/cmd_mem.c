/* SPDX-License-Identifier: MIT
 *
 * dtinfo mem: how much memory numbers take, stored in a dtype or in training. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mem/mem_job.h"
#include "requests/fit_bytes.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

static enum dti_status add_dtypes(struct mem_job *job, const char *list, struct dti_error *reterr)
{
    return dti_mem_each_dtype(job, list, dti_mem_add_size, &job->mem, reterr);
}

/* Whether a word is a list of dtypes, judged by its first name, which may be ambiguous. */
static bool names_dtype(const char *word)
{
    struct dti_mem_size size;
    struct dti_error error;
    char name[128] = "";
    const size_t length = strcspn(word, ",");
    if (length >= sizeof name)
        return false;
    memcpy(name, word, length);
    return dti_mem_look_up(name, &size, &error) != DTI_UNKNOWN_DTYPE;
}

static enum dti_status add_word(struct mem_job *job, const char *word, struct dti_error *reterr)
{
    struct dti_mem *const mem = &job->mem;
    const bool first = mem->operand_count == 0;
    if (dti_mem_is_amount(word))
        return dti_mem_add_amount(mem, word, reterr);
    if (dti_mem_is_config(word))
        return dti_mem_add_config(mem, word, reterr);
    const bool dtype = names_dtype(word);
    if (dtype && !first)
        return add_dtypes(job, word, reterr);
    if (strchr(word, '/') || dti_input_there(word) != ENOENT || strcmp(word, "-") == 0 ||
        dti_container_is(word))
        return dti_mem_add_file(mem, word, reterr);
    if (!first)
        return add_dtypes(job, word, reterr); /* reports the error */
    if (dtype)
        return dti_fail(reterr, DTI_USAGE,
                        "the amount is missing before %s; give a count, a shape or a file, as in "
                        "'dtinfo mem 7B bf16'",
                        DTI_QUOTED(word, strlen(word)));
    return dti_fail_word(
        reterr, DTI_BAD_VALUE, word, strlen(word),
        "%s is neither a count (7B, 176e9), nor a shape (32x1024x4096), nor a file",
        DTI_QUOTED(word, strlen(word)));
}

static enum dti_status check_selection(const struct mem_job *job, struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    const struct dti_mem *const mem = &job->mem;
    const char *const option = args->mem.only ? "--only" : args->mem.keep ? "--keep" : NULL;
    bool files = false;
    for (size_t i = 0; i < mem->operand_count; i++) {
        files |= mem->operands[i].kind == DTI_MEM_FILE;
        if (mem->operands[i].kind == DTI_MEM_CONFIG && !mem->cache)
            return dti_fail(reterr, DTI_USAGE,
                            "%s describes a model and holds no numbers; --context TOKENS computes "
                            "the cache of that model",
                            DTI_QUOTED(mem->operands[i].text, strlen(mem->operands[i].text)));
    }
    if (option && !files)
        return dti_fail(reterr, DTI_USAGE, "%s is for tensors of files; leave it out", option);
    if (args->mem.only && mem->item_count == 0)
        return dti_fail(reterr, DTI_USAGE, "--only %s matches no tensor",
                        DTI_QUOTED(args->mem.only, strlen(args->mem.only)));
    if (args->train && files && mem->numbers == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "no tensor holds floats: there are no parameters to train");
    return DTI_OK;
}

/* Adds the operands, which are amounts, files of tensors and dtypes. */
static enum dti_status read_operands(struct mem_job *job, char **words, int count,
                                     struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    struct dti_mem *const mem = &job->mem;
    enum dti_status status = DTI_OK;
    if (count == 0 && !args->input)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to store; give a count, a shape or a file, as in 'dtinfo mem 7B "
                        "bf16'");
    if (args->input)
        status = (dti_mem_is_config(args->input) ? dti_mem_add_config
                                                 : dti_mem_add_file)(mem, args->input, reterr);
    for (int i = 0; i < count && status == DTI_OK; i++)
        status = add_word(job, words[i], reterr);
    for (size_t i = 0; i < mem->operand_count && status == DTI_OK; i++) {
        if (mem->operands[i].container)
            dti_file_source_warn(&job->cx->asker, mem->operands[i].container);
    }
    if (status == DTI_OK)
        status = check_selection(job, reterr);
    if (status == DTI_OK && args->dtype && mem->size_count > 0)
        return dti_fail(reterr, DTI_USAGE, "dtypes are given twice: after %s and with --dtype",
                        mem->amounts ? "the amount" : "the file");
    if (status == DTI_OK && args->dtype)
        status = add_dtypes(job, args->dtype, reterr);
    if (status == DTI_OK && mem->size_count == 0 && mem->operands[0].kind != DTI_MEM_CONFIG)
        status = dti_mem_add_ladder(mem, reterr);
    return status;
}

/* A dtype of --gradients and similar options. */
static enum dti_status read_float(const struct mem_job *job, const char *option, const char *name,
                                  struct dti_format *ret, struct dti_error *reterr)
{
    const char *note;
    const enum dti_status status = dti_format_lookup(name, ret, &note, reterr);
    if (status != DTI_OK)
        return status;
    if (ret->kind != DTI_KIND_FLOAT) {
        return dti_fail_word(reterr, DTI_WRONG_KIND, name, strlen(name),
                             "%s takes a float dtype; got %s", option, ret->name);
    }
    if (note)
        dti_warn(job->cx, "%s", note);
    return DTI_OK;
}

/* Overrides the defaults with the options. */
struct overrides {
    bool no_master;
    struct dti_format gradients, master, state;
};

static enum dti_status read_overrides(const struct mem_job *job, struct overrides *ret,
                                      struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    enum dti_status status = DTI_OK;
    *ret =
        (struct overrides){.no_master = args->mem.master && strcmp(args->mem.master, "none") == 0};
    if (args->mem.gradients)
        status = read_float(job, "--gradients", args->mem.gradients, &ret->gradients, reterr);
    if (status == DTI_OK && args->mem.master && !ret->no_master)
        status = read_float(job, "--master", args->mem.master, &ret->master, reterr);
    if (status == DTI_OK && args->mem.states)
        status = read_float(job, "--states", args->mem.states, &ret->state, reterr);
    return status;
}

static enum dti_status check_plan(const struct mem_job *job, const struct dti_stored *weights,
                                  const struct dti_training_row *row, struct dti_error *reterr)
{
    if (!weights->block && weights->format.kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "training of %s weights is not supported; use %s with twice the parameters",
                        weights->format.name, dti_format_get(weights->format.component)->name);
    if (job->args->mem.states && row->block > 0)
        return dti_fail(reterr, DTI_USAGE,
                        "the states of %s are always 8-bit codes; leave --states out", row->name);
    return DTI_OK;
}

static enum dti_status train(struct mem_job *job, const struct overrides *overrides,
                             enum dti_training training, const struct dti_stored *weights,
                             struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    struct dti_training_plan plan;
    const enum dti_status status = check_plan(job, weights, dti_training_get(training), reterr);
    if (status != DTI_OK)
        return status;
    dti_training_defaults(&plan, training, weights);
    if (args->mem.gradients)
        plan.gradients = overrides->gradients;
    if (args->mem.master)
        plan.has_master = !overrides->no_master;
    if (args->mem.master && plan.has_master)
        plan.master = overrides->master;
    if (args->mem.states)
        plan.state = overrides->state;
    return dti_mem_add_training(&job->mem, &plan, reterr);
}

/* The trainings of --train. */
static enum dti_status add_trainings(struct mem_job *job, struct dti_error *reterr)
{
    struct overrides overrides;
    enum dti_status status = read_overrides(job, &overrides, reterr);
    for (size_t i = 0; i < job->mem.size_count && status == DTI_OK; i++) {
        for (unsigned t = 0; t < DTI_TRAINING_COUNT && status == DTI_OK; t++) {
            if (job->args->train & 1 << t)
                status =
                    train(job, &overrides, (enum dti_training)t, &job->mem.sizes[i].as, reterr);
        }
    }
    return status;
}

/* The bytes of one device. given: all of --fit, for the message. */
static enum dti_status read_bytes(const char *text, const char *given, uint64_t *ret_bytes,
                                  struct dti_error *reterr)
{
    if (dti_fit_bytes(text, ret_bytes))
        return DTI_OK;
    return dti_fail_word(reterr, DTI_USAGE, given, strlen(given),
                         "--fit takes a device (cpu, cuda:0, auto), bytes, as in 80GB or 24GiB, or "
                         "several times bytes, as in 8x80GB; got %s",
                         DTI_QUOTED(given, strlen(given)));
}

/* "8x80GB": parses the 8 before "80GB"; 1 if there is no such number. */
static const char *read_devices(const char *text, uint64_t *ret_devices)
{
    const char *at = text;
    uint64_t devices = 0;
    while (dti_ascii_digit(*at) && dti_mul_u64(devices, 10, &devices) &&
           dti_add_u64(devices, (uint64_t)(*at - '0'), &devices))
        at++;
    const bool several = at > text && (*at == 'x' || *at == 'X') && devices > 0;
    *ret_devices = several ? devices : 1;
    return several ? at + 1 : text;
}

static enum dti_status capacity_of_device(struct dti_mem_capacity *ret, const char *text,
                                          struct dti_error *reterr)
{
    struct dti_device_choice choice;
    enum dti_status status = dti_device_choice_parse(&choice, text, reterr);
    if (status == DTI_OK && choice.kind == DTI_DEVICE_ALL)
        return dti_fail(reterr, DTI_USAGE,
                        "--fit takes one device (cpu, cuda:0, auto) or bytes, as in 80GB or 24GiB");
    if (status == DTI_OK)
        status = dti_mem_device_capacity(ret, &choice, text, reterr);
    if (status != DTI_OK || ret->bytes != DTI_UNKNOWN)
        return status;
    if (strcmp(ret->device, "cpu") == 0)
        return dti_fail(
            reterr, DTI_UNAVAILABLE,
            "this system does not report its free memory; give bytes, as in --fit 64GiB");
    return dti_fail(reterr, DTI_UNAVAILABLE, "device %s does not report its memory; give bytes",
                    DTI_QUOTED(text, strlen(text)));
}

/* The capacity of --fit. */
static enum dti_status read_capacity(struct mem_job *job, struct dti_error *reterr)
{
    const char *const text = job->args->mem.fit;
    struct dti_mem_capacity *const capacity = &job->mem.capacity;
    if (!text)
        return DTI_OK;
    if (!dti_mem_is_amount(text))
        return capacity_of_device(capacity, text, reterr);
    *capacity = (struct dti_mem_capacity){.asked = true, .all = DTI_UNKNOWN};
    capacity->amount = read_devices(text, &capacity->devices);
    uint64_t room;
    const enum dti_status status = read_bytes(capacity->amount, text, &capacity->bytes, reterr);
    if (status == DTI_OK && !dti_mul_u64(capacity->bytes, capacity->devices, &room))
        return dti_fail_word(reterr, DTI_USAGE, text, strlen(text),
                             "--fit %s: the total exceeds 64 bits", DTI_QUOTED(text, strlen(text)));
    if (status == DTI_OK && dti_fit_lacks_unit(text, capacity->bytes))
        dti_warn(job->cx, "--fit %s is %llu bytes; for gigabytes write %sGB or %sGiB", text,
                 (unsigned long long)capacity->bytes, text, text);
    return status;
}

static const struct dti_choice optimizers[] = {
#define TRAINING(id, name_, states, first, second, state, block, least, source) \
    {.name = (name_), .value = 1 << DTI_TRAINING_##id, .help = (source)},
#include "core/dtype/trainings.def"
#undef TRAINING
    {.name = "all", .value = (1 << DTI_TRAINING_COUNT) - 1, .help = "all of these"},
    {.name = NULL},
};

static const struct dti_choice no_master[] = {
    {.name = "none", .help = "no copy of the weights"},
    {.name = NULL},
};

static const struct dti_choice some_capacities[] = {
    {.name = "cpu", .help = "free memory of this machine"},
    {.name = "cuda", .help = "free memory of the first CUDA device; cuda:N selects another one"},
    {.name = "auto", .help = "the first CUDA device, or this machine without one"},
    {.name = NULL},
};

static const struct dti_option options[] = {
    OPT_SET(0, "train", struct mem_args, train, "OPTIMIZER,...", optimizers,
            "include training: weights, gradients, master weights, optimizer states",
            .matters = true),
    OPT_DTYPE(0, "dtype", struct mem_args, dtype, "DTYPE,...",
              "the dtypes, instead of the last operand; with --train, those of the weights",
              .matters = true),
    OPT_DTYPE(0, "gradients", struct mem_args, mem.gradients, "DTYPE",
              "with --train: dtype of the gradients (default that of the weights)"),
    OPT_DTYPE_OR(
        0, "master", struct mem_args, mem.master, "DTYPE", no_master,
        "with --train: dtype of the master weights (default fp32 if the weights are narrower)"),
    OPT_DTYPE(0, "states", struct mem_args, mem.states, "DTYPE",
              "with --train: dtype of the optimizer states (default fp32)"),
    OPT_TEXT(0, "context", struct mem_args, context, "TOKENS",
             "include the cache for that many tokens, such as 32k (k is 1024)", .matters = true),
    OPT_UINT(0, "batch", struct mem_args, batch, batch_given, 1, 1 << 20, "N",
             "sequences that the cache is for (default 1)", .matters = true),
    OPT_DTYPE(0, "kv-dtype", struct mem_args, kv_dtype, "DTYPE,...",
              "dtypes of the cache (default that of the model; gguf: fp16)", .matters = true),
    OPT_TEXT(0, "kv-like", struct mem_args, kv_like, "TYPE",
             "compute the cache by the rule of this type of models, such as llama"),
    OPT_LIST(0, "fit", struct mem_args, mem.fit, "DEVICE|BYTES", some_capacities,
             "show what fits into a device's free memory, into 80GB or 24GiB, or into 8x80GB",
             .matters = true),
    DTI_ROW_INPUT(struct mem_args, input, "a file", "an amount"),
    DTI_ROW_ONLY(struct mem_args, mem.only, "files: count only these tensors"),
    DTI_ROW_KEEP(struct mem_args, mem.keep),
    DTI_LOGICAL_OPTIONS(struct mem_args, file),
    DTI_SOURCE_OPTIONS(struct mem_args, file),
    OPT_END,
};

static enum dti_status check_options(const struct mem_args *args, struct dti_error *reterr)
{
    const char *const option = dti_option_given(options, args, "gradients master states");
    if (option && !args->train)
        return dti_fail(reterr, DTI_USAGE,
                        "--%s is for training; add --train adam, or leave it out", option);
    return DTI_OK;
}

static enum dti_status gather(struct mem_job *job, char **operands, int operand_count,
                              struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    enum dti_status status = check_options(args, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&job->source, &args->file, &job->cx->asker, reterr);
    job->mem = args->mem;
    job->mem.options = job->source.logical;
    job->mem.words = dti_remedy_words;
    job->mem.train = (unsigned)args->train;
    job->mem.list_tensors = job->cx->verbose;
    job->mem.notes = job->source.notes;
    job->mem.note_count = job->source.note_count;
    if (status == DTI_OK)
        status = dti_mem_read_cache(job, reterr);
    if (status == DTI_OK)
        status = read_operands(job, operands, operand_count, reterr);
    if (status == DTI_OK)
        status = args->train ? add_trainings(job, reterr) : dti_mem_sum(&job->mem, reterr);
    if (status == DTI_OK)
        status = dti_mem_sum_cache(job, reterr);
    return status == DTI_OK ? read_capacity(job, reterr) : status;
}

static enum dti_status run_mem(const void *args, char **operands, int operand_count,
                               struct dti_command_context *cx, struct dti_error *reterr)
{
    struct mem_job *const job = dti_calloc(1, sizeof *job);
    if (!job)
        return dti_no_memory(reterr);
    job->args = args;
    job->cx = cx;
    enum dti_status status = gather(job, operands, operand_count, reterr);
    const bool any = status == DTI_OK && (!job->mem.capacity.asked || dti_mem_judge(&job->mem));
    if (status == DTI_OK)
        status = cx->output == DTI_OUTPUT_HUMAN ? dti_mem_human(cx, &job->mem, reterr)
                                                : DTI_ANSWER(cx, mem, &job->mem, reterr);
    dti_mem_free(&job->mem);
    dti_mem_cache_free(&job->cache);
    dti_free(job);
    if (status == DTI_OK && !any)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", ""); /* the answer shows how much is missing */
    return status;
}

const struct dti_command dti_command_mem = {
    .name = "mem",
    .group = "ask",
    .summary = "show the memory of numbers or models: stored, served, trained",
    .reads = true,
    .synopsis = "COUNT|SHAPE|FILE... [DTYPE,...]",
    .details = "COUNT is 7B, 1.5B, 176e9, 350M or 2^20 (K, M, B and T are 1e3, 1e6, 1e9,\n"
               "1e12); SHAPE is 32x1024x4096 or 32,1024,4096; FILE is a file of tensors, the\n"
               "index of a sharded checkpoint or its folder; only headers are read. Several\n"
               "operands are added up. DTYPE is any dtype, block format or type of GGUF, such\n"
               "as q4_k; the default is a selection. With --context, what a model keeps of its\n"
               "context counts, too, as its config.json or its gguf describes it; config.json\n"
               "alone has the cache alone. -v lists the tensors of files, and the formula of a\n"
               "cache. -q prints only the bytes, or with --fit the names of what fits. If\n"
               "nothing fits, the exit code is 1, and the answer says how many devices hold it.",
    .examples = "dtinfo mem 7B\n"
                "dtinfo mem 176e9 bf16\n"
                "dtinfo mem 32x1024x4096 fp32,mxfp4\n"
                "dtinfo mem 7B --train adam --dtype bf16\n"
                "dtinfo mem 7B --fit 24GiB\n"
                "dtinfo mem 176e9 bf16,int8 --fit 8x80GB\n"
                "dtinfo mem model.safetensors mxfp4 --keep '*norm*'\n",
    .schema = "dtinfo.mem/1",
    .operands = DTI_OPERANDS_VALUE_FORMAT,
    .options = options,
    .args_size = sizeof(struct mem_args),
    .run = run_mem,
};
