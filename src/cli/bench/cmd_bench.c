/* SPDX-License-Identifier: MIT
 *
 * dtinfo bench: trustworthy timings compared with the limits of the machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench_job.h"
#include "report/table.h"
#include "requests/option_rows.h"
#include "util/run/allocate.h"
#include "util/text/nearest.h"

const struct dti_choice dti_choice_bench_data[] = {
    {.name = "normal",
     .value = DTI_BENCH_NORMAL,
     .help = "normal; integers: spread over their range"},
    {.name = "uniform", .value = DTI_BENCH_UNIFORM, .help = "uniform in [1, 2); integers: any"},
    {.name = "bits", .value = DTI_BENCH_BITS, .help = "any code"},
    {.name = "subnormal",
     .value = DTI_BENCH_SUBNORMAL,
     .help = "below the smallest normal of the destination"},
    {.name = "nan1", .value = DTI_BENCH_NAN1, .help = "normal, 1 % NaN and infinities"},
    {.name = NULL},
};

const struct dti_choice dti_choice_bench_cache[] = {
    {.name = "hot", .value = DTI_BENCH_HOT, .help = "the same buffers again and again"},
    {.name = "warm", .value = DTI_BENCH_HOT, .help = "the same as hot"},
    {.name = "cold",
     .value = DTI_BENCH_COLD,
     .help = "many buffers in turn, larger than the caches together"},
    {.name = NULL},
};

static const struct dti_choice threads_choices[] = {
    {.name = "1", .help = "one thread"},
    {.name = "all", .help = "one on each CPU"},
    {.name = NULL},
};

static const struct dti_choice level_choices[] = {
    {.name = "all", .help = "all levels of this CPU"},
#define LEVEL(id, level_name, architecture, what) {.name = level_name, .help = what},
#include "kernels/levels.def"
#undef LEVEL
    {.name = NULL},
};

static const struct dti_choice device_choices[] = {
    {.name = "cpu", .help = "the CPU (default)"},
    {.name = "cuda", .help = "the first CUDA device"},
    {.name = "auto", .help = "a CUDA device if there is one, else the CPU"},
    {.name = "all", .help = "every device"},
    {.name = NULL},
};

static const struct dti_choice engine_choices[] = {
    {.name = "dtinfo", .help = "the program's own kernels"},
    {.name = "onednn", .help = "oneDNN, if installed"},
    {.name = "openblas", .help = "OpenBLAS, if installed"},
    {.name = "cublaslt", .help = "cuBLASLt, for CUDA devices"},
    {.name = NULL},
};

static const struct dti_option options[] = {
    OPT_LIST(0, "device", struct bench_args, device, "DEVICE", device_choices,
             "cpu, cuda, cuda:N, auto or all (default cpu)", .matters = true),
    OPT_TEXT(0, "size", struct bench_args, size, "SIZE[,SIZE...]",
             "cast, copy: bytes (4096, 64KiB, 1GiB); expsin, dot, quant: elements (16777216, "
             "2000x2000); matmul: 1000 or MxNxK (1x2048x1024)",
             .matters = true),
    OPT_DTYPE(0, "dtype", struct bench_args, dtypes, "DTYPE,...",
              "expsin, dot, matmul, quant: only these dtypes", .matters = true,
              DTI_MORE(.alias = "dtypes")),
    OPT_FILE(0, "a", struct bench_args, a, "FILE[:TENSOR]",
             "dot, matmul: the first operand, from a file of tensors, instead of random numbers"),
    OPT_FILE(0, "b", struct bench_args, b, "FILE[:TENSOR]",
             "the second operand; both are cast to each dtype once"),
    OPT_LIST(0, "threads", struct bench_args, threads, "N[,N...]", threads_choices,
             "numbers of threads, or all: one on each CPU (the default)", .matters = true),
    OPT_LIST(0, "level", struct bench_args, level, "LEVEL[,LEVEL...]", level_choices,
             "CPU levels to compare, or all (default the highest)", .matters = true),
    OPT_CHOICE(0, "cache", struct bench_args, cache, cache_given, "STATE", dti_choice_bench_cache,
               "state of the caches (default hot)"),
    OPT_TEXT(0, "time", struct bench_args, time, "SECONDS",
             "limit for each measurement (default 5, less when there are many)", .matters = true),
    OPT_UINT(0, "seed", struct bench_args, seed, seed_given, 0, UINT64_MAX, "N",
             "seed of the data and of the order of measuring (default 1)"),
    OPT_FLAG(0, "with-alloc", struct bench_args, with_alloc,
             "expsin, matmul: also measure with the result allocated each time"),
    OPT_LIST(0, "engine", struct bench_args, engine, "ENGINE", engine_choices,
             "matmul: only this engine (default all installed ones)"),
    OPT_FLAG(0, "loss", struct bench_args, loss,
             "cast: also measure the cast with its loss report"),
    OPT_CHOICE(0, "data", struct bench_args, data, data_given, "DATA", dti_choice_bench_data,
               "cast: distribution of the source data"),
    OPT_CHOICE('r', "round", struct bench_args, round, round_given, "MODE", dti_choice_round,
               "cast: rounding mode, also to integers"),
    OPT_CHOICE(0, "overflow", struct bench_args, overflow, overflow_given, "POLICY",
               dti_choice_overflow, "cast: what to store for values beyond the range"),
    OPT_FILE(0, "baseline", struct bench_args, baseline, "FILE",
             "exit 1 if anything is slower than in this JSON document of an earlier run",
             .matters = true),
    OPT_TEXT(0, "max-regression", struct bench_args, max_regression, "PERCENT",
             "accepted slowdown with --baseline (default 10%)"),
    OPT_FILE(0, "compare", struct bench_args, compare, "FILE",
             "compare times with those of this JSON document", .matters = true),
    OPT_FLAG(0, "samples", struct bench_args, samples, "include every sample in the JSON document"),
    OPT_FLAG(0, "list", struct bench_args, list, "list the kernels of casts, without measuring",
             .matters = true),
    OPT_END,
};

static const char measuring_options[] =
    "size threads level time loss samples data seed cache round overflow device dtype engine "
    "with-alloc baseline max-regression compare a b";

/* Checks for options that contradict or need each other. */
static enum dti_status check_options(const struct bench_args *args,
                                     const struct dti_command_context *cx, int operand_count,
                                     struct dti_error *reterr)
{
    if (args->samples && cx->output == DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE,
                        "--samples is for JSON documents; give --json or --jsonl with it");
    if (args->list && (operand_count > 1 || dti_option_given(options, args, measuring_options)))
        return dti_fail(reterr, DTI_USAGE,
                        "--list measures nothing; do not combine it with other options");
    if (!args->a != !args->b)
        return dti_fail(reterr, DTI_USAGE, "--a and --b belong together; give both");
    if (args->a && args->size)
        return dti_fail(reterr, DTI_USAGE, "--a and --b have the size; leave --size out");
    if (args->baseline && args->compare)
        return dti_fail(reterr, DTI_USAGE,
                        "--baseline and --compare exclude each other; give one of them");
    if (args->max_regression && !args->baseline)
        return dti_fail(reterr, DTI_USAGE, "--max-regression is for --baseline FILE");
    return DTI_OK;
}

static enum dti_status check_engine(const char *engine, struct dti_error *reterr)
{
    struct dti_nearest nearest;
    const size_t length = strlen(engine);
    dti_nearest_init(&nearest, engine, length);
    for (const struct dti_choice *choice = engine_choices; choice->name; choice++) {
        if (strcmp(engine, choice->name) == 0)
            return DTI_OK;
        dti_nearest_offer(&nearest, choice->name);
    }
    dti_fail_word(reterr, DTI_USAGE, engine, length,
                  "unknown engine %s; the engines are dtinfo, onednn, openblas and cublaslt",
                  DTI_QUOTED(engine, length));
    dti_nearest_suggest(&nearest, reterr);
    return DTI_USAGE;
}

/* Options that apply to some measurements only. */
static enum dti_status check_subject(const struct dti_bench_kind *kind,
                                     const struct bench_args *args, struct dti_error *reterr)
{
    const struct {
        bool useful;
        const char *names;
    } rows[] = {
        {kind->casts, "loss data round overflow"},
        {kind->dtypes[0] != '\0', "dtype"},
        {kind->has_operands, "a b"},
        {kind->size_is == DTI_BENCH_PRODUCT, "engine"},
        {kind->size_is != DTI_BENCH_BYTES && !kind->keeps_memory, "with-alloc"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const given = dti_option_given(options, args, rows[i].names);
        if (given && !rows[i].useful)
            return dti_fail(reterr, DTI_USAGE, "--%s does not apply to 'bench %s'%s", given,
                            kind->name,
                            kind->casts && args->dtypes ? "; name the casts, as in fp32:bf16" : "");
    }
    return args->engine ? check_engine(args->engine, reterr) : DTI_OK;
}

enum { NAMES_SIZE = 128 };

/* "'cast', 'expsin' or 'copy'" */
static const char *subjects(char names[NAMES_SIZE])
{
    size_t used = 0;
    for (size_t i = 0; i < dti_bench_kind_count && used < NAMES_SIZE; i++)
        used += (size_t)snprintf(names + used, NAMES_SIZE - used, "%s'%s'",
                                 i == 0                         ? ""
                                 : i + 1 < dti_bench_kind_count ? ", "
                                                                : " or ",
                                 dti_bench_kinds[i]->name);
    return names;
}

static enum dti_status unknown_subject(const char *word, struct dti_error *reterr)
{
    char names[NAMES_SIZE];
    struct dti_nearest nearest;
    const size_t length = strlen(word);
    const bool pair = strchr(word, ':');
    dti_fail_word(reterr, DTI_USAGE, word, length, "unknown subject %s%s; the subjects are %s",
                  DTI_QUOTED(word, length), pair ? ", which belongs after the word cast" : "",
                  subjects(names));
    dti_nearest_init(&nearest, word, length);
    for (size_t i = 0; i < dti_bench_kind_count; i++)
        dti_nearest_offer(&nearest, dti_bench_kinds[i]->name);
    if (!pair)
        dti_nearest_suggest(&nearest, reterr);
    return DTI_USAGE;
}

static enum dti_status find_subject(const char *word, const struct dti_bench_kind **ret_kind,
                                    struct dti_error *reterr)
{
    for (size_t i = 0; i < dti_bench_kind_count; i++) {
        if (strcmp(word, dti_bench_kinds[i]->name) == 0) {
            *ret_kind = dti_bench_kinds[i];
            return DTI_OK;
        }
    }
    return unknown_subject(word, reterr);
}

static enum dti_status bench(const struct dti_bench_kind *kind, const struct bench_args *args,
                             char **operands, int count, const struct dti_command_context *cx,
                             struct dti_error *reterr)
{
    struct bench_job *const job = dti_malloc(sizeof *job);
    if (!job)
        return dti_no_memory(reterr);
    enum dti_status status = dti_bench_job_init(job, kind, args, operands, count, cx, reterr);
    if (status == DTI_OK)
        status = dti_bench_run_job(job, reterr);
    dti_bench_job_end(job);
    dti_free(job);
    return status;
}

/* --list: the kernels that are built in, and which of them this CPU can run. */
static enum dti_status list_kernels(struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_bench_kernel kernel;
    if (cx->output != DTI_OUTPUT_HUMAN) {
        dti_bench_begin(cx->json, NULL);
        dti_bench_end(cx->json, NULL, NULL);
        return dti_document_write(cx->json, cx->out, reterr);
    }
    struct dti_table *const table = dti_table_titled("kernel|operation|level|here", "");
    for (size_t i = 0; dti_bench_kernel_at(i, &kernel); i++) {
        dti_table_cell(table, DTI_STYLE_BOLD, kernel.name);
        dti_table_cell(table, DTI_STYLE_PLAIN, kernel.operation);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_level_name(kernel.level));
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_level_present(kernel.level) ? "yes" : "no");
    }
    return dti_put_table(cx, table, 0, reterr);
}

static enum dti_status run_bench(const void *args_, char **operands, int operand_count,
                                 struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct bench_args *const args = args_;
    const struct dti_bench_kind *kind;
    char names[NAMES_SIZE];
    enum dti_status status = check_options(args, cx, operand_count, reterr);
    if (status != DTI_OK)
        return status;
    if (args->list && operand_count == 0)
        return list_kernels(cx, reterr);
    if (operand_count == 0)
        return dti_fail(reterr, DTI_USAGE, "nothing to measure; name one of %s", subjects(names));
    status = find_subject(operands[0], &kind, reterr);
    if (status != DTI_OK)
        return status;
    if (args->list && !kind->casts)
        return dti_fail(
            reterr, DTI_USAGE,
            "--list shows the kernels of all benchmarks; do not combine it with other options");
    if (args->list)
        return list_kernels(cx, reterr);
    status = check_subject(kind, args, reterr);
    if (status != DTI_OK)
        return status;
    return bench(kind, args, operands + 1, operand_count - 1, cx, reterr);
}

const struct dti_command dti_command_bench = {
    .name = "bench",
    .group = "machine",
    .summary = "timings compared with this machine's own limits",
    .synopsis = "cast [SRC:DST[,SRC:DST...]] | expsin | dot | matmul | quant | copy",
    .details = "  cast    casts of arrays, compared with copies of the same number of bytes\n"
               "  expsin  exp(sin x) of arrays, with its largest error\n"
               "  dot     dot products, compared with reading alone, with their error\n"
               "  matmul  matrix products, compared with the peak of the arithmetic\n"
               "  quant   quantizing and dequantizing arrays, compared with copies\n"
               "  copy    copying, reading, writing and creating memory\n"
               "Candidates take turns in the same rounds. The default sizes and casts take\n"
               "about a minute. GB/s count bytes read plus bytes written.",
    .examples = "dtinfo bench cast fp32:bf16 --size 64KiB --time 0.1\n"
                "dtinfo bench cast fp32:fp8_e4m3fn --size 4KiB --level all --time 0.1\n"
                "dtinfo bench cast fp32:fp16 --size 64KiB --loss --time 0.1 --json\n"
                "dtinfo bench copy --size 64KiB --time 0.1\n"
                "dtinfo bench cast --list",
    .schema = "dtinfo.bench/1",
    .other_schemas = {"dtinfo.bench_table/1"},
    .operands = DTI_OPERANDS_BENCH,
    .options = options,
    .args_size = sizeof(struct bench_args),
    .run = run_bench,
};
