/* SPDX-License-Identifier: MIT
 *
 * dtinfo vectors: test vectors of casts, formats, blocks and operations, as lines of text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answers/vectors/vectors.h"
#include "cli/shell/command.h"
#include "io/output.h"
#include "requests/option_rows.h"
#include "requests/rewrite/leftover_words.h"

struct vectors_args {
    int round, overflow, nan;
    bool round_given, overflow_given, nan_given, seed_given;
    uint64_t seed;
    const char *output;
    bool force, list;
};

static const struct dti_option options[] = {
    OPT_CHOICE('r', "round", struct vectors_args, round, round_given, "MODE", dti_choice_round,
               "only the column of this mode; stochastic: one line for each random word",
               .matters = true),
    OPT_CHOICE(0, "overflow", struct vectors_args, overflow, overflow_given, "POLICY",
               dti_choice_overflow, "only lines that are true with this policy", .matters = true),
    OPT_CHOICE(0, "nan", struct vectors_args, nan, nan_given, "POLICY", dti_choice_nan,
               "only lines that are true with this policy"),
    OPT_UINT(0, "seed", struct vectors_args, seed, seed_given, 0, UINT64_MAX, "N",
             "seed of --round stochastic"),
    OPT_FLAG(0, "list", struct vectors_args, list,
             "list the files of the published set, and what makes each one", .matters = true),
    DTI_ROW_OUTPUT(struct vectors_args, output, "the file to write"),
    DTI_ROW_FORCE(struct vectors_args, force, ""),
    OPT_END,
};

/* A sink to a file that appears complete or not at all. */
struct file_sink {
    struct dti_output_file *file;
    enum dti_status status;
    struct dti_error error;
};

static int write_file(void *context, const char *bytes, size_t size)
{
    struct file_sink *const to = context;
    to->status = dti_output_write(to->file, bytes, size, &to->error);
    return to->status == DTI_OK ? 0 : EIO;
}

/* Standard output, whose first failure is the one to report. */
static int write_standard(void *context, const char *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, context) == size)
        return 0;
    dti_standard_note_failure();
    return EIO;
}

static void warn(void *cx, const struct dti_note *note)
{
    char words[DTI_REMEDY_WORDS];
    dti_warn(cx, "%s", dti_note_words(words, note));
}

static enum dti_status open_file(const struct vectors_args *args, struct dti_command_context *cx,
                                 struct file_sink *ret, struct dti_error *reterr)
{
    struct dti_output_leftovers leftovers = {.count = {0}};
    dti_output_guard_signals();
    const enum dti_status status =
        dti_output_leftovers_find(&leftovers, args->output, false, args->force, reterr);
    if (status != DTI_OK)
        return status;
    dti_output_warn_leftovers(&leftovers, args->output, warn, cx);
    return dti_output_open(&ret->file, args->output, args->force, 0, reterr);
}

/* Options that do not belong to a pair are errors. */
static enum dti_status settle(struct dti_vectors *what, const char *pair, struct dti_error *reterr)
{
    const bool policies = what->round_given || what->overflow_given || what->nan_given;
    if (what->kind == DTI_VECTORS_BLOCK || what->kind == DTI_VECTORS_DECODE)
        return !policies ? DTI_OK
                         : dti_fail_word(reterr, DTI_USAGE, pair, strlen(pair),
                                         "--round, --overflow and --nan do not apply to %s; leave "
                                         "them out",
                                         DTI_QUOTED(pair, strlen(pair)));
    if (what->overflow_given && what->policy.overflow == DTI_OVERFLOW_WRAP &&
        dti_format_is_float(&what->target))
        return dti_fail(reterr, DTI_USAGE,
                        "--overflow wrap is for integer dtypes; %s is a float: use saturate",
                        what->target.name);
    if (!what->round_given || what->policy.round != DTI_ROUND_STOCHASTIC)
        return DTI_OK;
    if (what->kind != DTI_VECTORS_CAST || what->from_text)
        return dti_fail_word(reterr, DTI_USAGE, pair, strlen(pair),
                             "--round stochastic is for casts between dtypes; %s is none",
                             DTI_QUOTED(pair, strlen(pair)));
    what->kind = DTI_VECTORS_STOCHASTIC;
    return DTI_OK;
}

/* A file of the published set, and the words that make it. */
static void list_one(void *context, enum dti_vectors_kind kind, const char *source,
                     const char *target)
{
    const bool decode = kind == DTI_VECTORS_DECODE;
    dti_buffer_print(context, "%s/%s%s%s.tsv\t%s%s:%s\n", dti_vectors_kind_name(kind), source,
                     decode ? "" : "-", decode ? "" : target,
                     kind == DTI_VECTORS_STOCHASTIC ? "--round stochastic " : "", source, target);
}

static enum dti_status write_list(const struct dti_sink *sink, struct dti_error *reterr)
{
    struct dti_buffer text;
    enum dti_status status = DTI_OK;
    dti_buffer_init(&text);
    dti_vectors_each(list_one, &text);
    if (text.failed)
        status = dti_no_memory(reterr);
    else if (sink->write(sink->context, text.data, text.length) != 0)
        status = dti_fail(reterr, DTI_WRITE_FAILED, "%s", "");
    dti_buffer_free(&text);
    return status;
}

/* sink: NULL to check the pairs. */
static enum dti_status write_pairs(const struct vectors_args *args, char **pairs, int count,
                                   const struct dti_sink *sink, struct dti_command_context *cx,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (args->list)
        return write_list(sink, reterr);
    for (int i = 0; i < count && status == DTI_OK; i++) {
        struct dti_vectors what = {.round_given = args->round_given,
                                   .overflow_given = args->overflow_given,
                                   .nan_given = args->nan_given,
                                   .seed_given = args->seed_given,
                                   .policy = {.round = (enum dti_round)args->round,
                                              .overflow = (enum dti_overflow)args->overflow,
                                              .nan = (enum dti_nan)args->nan,
                                              .seed = args->seed}};
        status = dti_vectors_read(&what, pairs[i], reterr);
        if (status == DTI_OK)
            status = settle(&what, pairs[i], reterr);
        if (status == DTI_OK && sink)
            status = dti_vectors_write(&what, sink, reterr);
        else if (status == DTI_OK && what.note)
            dti_warn(cx, "%s", what.note);
    }
    return status;
}

static enum dti_status to_file(const struct vectors_args *args, char **pairs, int count,
                               struct dti_command_context *cx, struct dti_error *reterr)
{
    struct file_sink to = {.status = DTI_OK};
    const struct dti_sink sink = {.write = write_file, .context = &to};
    enum dti_status status = open_file(args, cx, &to, reterr);
    if (status != DTI_OK)
        return status;
    status = write_pairs(args, pairs, count, &sink, cx, reterr);
    if (to.status != DTI_OK) {
        status = to.status;
        *reterr = to.error;
    }
    if (status == DTI_OK)
        return dti_output_commit(to.file, reterr);
    dti_output_discard(to.file);
    return status;
}

static enum dti_status check(const struct vectors_args *args, char **pairs, int count,
                             struct dti_command_context *cx, struct dti_error *reterr)
{
    if (cx->output != DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE,
                        "writes lines separated by tabs; leave out --json and --jsonl");
    if (args->list && count > 0)
        return dti_fail_word(reterr, DTI_USAGE, pairs[0], strlen(pairs[0]),
                             "--list takes no operands; %s is one",
                             DTI_QUOTED(pairs[0], strlen(pairs[0])));
    if (!args->list && count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "missing operands; give a pair, as in 'dtinfo vectors fp32:fp8_e4m3fn', "
                        "or --list");
    if (args->seed_given && !(args->round_given && args->round == DTI_ROUND_STOCHASTIC))
        return dti_fail(reterr, DTI_USAGE, "--seed needs --round stochastic");
    return args->list ? DTI_OK : write_pairs(args, pairs, count, NULL, cx, reterr);
}

static enum dti_status run_vectors(const void *all_args, char **operands, int operand_count,
                                   struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct vectors_args *const args = all_args;
    const struct dti_sink standard = {.write = write_standard, .context = cx->raw};
    const enum dti_status status = check(args, operands, operand_count, cx, reterr);
    if (status != DTI_OK)
        return status;
    return args->output ? to_file(args, operands, operand_count, cx, reterr)
                        : write_pairs(args, operands, operand_count, &standard, cx, reterr);
}

const struct dti_command dti_command_vectors = {
    .name = "vectors",
    .group = "ask",
    .summary = "test vectors of casts, formats, blocks and arithmetic",
    .synopsis = "PAIR...",
    .details =
        "PAIR is SOURCE:TARGET, two dtypes: inputs at the boundaries of the cast, and their\n"
        "codes in every rounding mode. text:DTYPE casts from decimal text, DTYPE:text\n"
        "decodes all codes, fp32:BLOCK quantizes blocks, and add, sub, mul, div, sqrt or\n"
        "fma:DTYPE compute. Lines have columns separated by tabs; the same come in every\n"
        "run. Without options they are those of the published set, dtinfo-vectors-1.",
    .examples = "dtinfo vectors fp32:fp8_e4m3fn\n"
                "dtinfo vectors text:fp16 --round nearest-even --overflow native\n"
                "dtinfo vectors fp8_e4m3fn:text\n"
                "dtinfo vectors fp32:mxfp4\n"
                "dtinfo vectors fp64:fp8_e5m2 --round stochastic --seed 7\n"
                "dtinfo vectors mul:fp4_e2m1\n"
                "dtinfo vectors --list\n",
    .operands = DTI_OPERANDS_PAIRS,
    .verbatim = true,
    .options = options,
    .args_size = sizeof(struct vectors_args),
    .run = run_vectors,
};
