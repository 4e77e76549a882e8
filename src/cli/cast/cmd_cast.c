/* SPDX-License-Identifier: MIT
 *
 * dtinfo cast: what happens to a value when it is stored in a dtype. */
#include <stdlib.h>
#include <string.h>

#include "cli/cast/cast_file.h"
#include "cli/shared/choices.h"

static const struct dti_choice as_choices[] = {
    {.name = "raw", .value = CAST_AS_RAW, .help = "the codes, one after the other"},
    {.name = "text", .value = CAST_AS_TEXT, .help = "one number a line"},
    {.name = "npy", .value = CAST_AS_NPY, .help = "a NumPy array"},
    {.name = "safetensors", .value = CAST_AS_SAFETENSORS, .help = "a safetensors file"},
    {.name = NULL},
};

static const struct dti_choice from_choices[] = {
    {.name = "text", .help = "numbers, with white space or commas between them"},
    {.name = NULL},
};

static const struct dti_choice endian_choices[] = {
    {.name = "little", .value = CAST_ENDIAN_LITTLE, .help = "lowest byte first (the default)"},
    {.name = "big", .value = CAST_ENDIAN_BIG, .help = "highest byte first"},
    {.name = NULL},
};

static const struct dti_option options[] = {
    OPT_CHOICE('r', "round", struct cast_args, round, round_given, "MODE", dti_choice_round,
               "how to round; integer dtypes truncate unless it is given"),
    OPT_CHOICE(0, "overflow", struct cast_args, overflow, overflow_given, "POLICY",
               dti_choice_overflow, "what to store beyond the range"),
    OPT_CHOICE(0, "nan", struct cast_args, nan, nan_given, "POLICY", dti_choice_nan,
               "what to store for a NaN"),
    OPT_UINT(0, "seed", struct cast_args, seed, seed_given, 0, UINT64_MAX, "N",
             "seed of --round stochastic"),
    OPT_DTYPE(0, "via", struct cast_args, via, "DTYPE,...",
              "go through these dtypes on the way, rounding in each"),
    OPT_CHOICE(0, "like", struct cast_args, like, like_given, "STACK", dti_choice_stack,
               "set route and policies as this stack does"),
    OPT_FLAG(0, "stacks", struct cast_args, stacks, "show what each stack stores"),
    OPT_UINT(0, "digits", struct cast_args, digits, digits_given, 0, 100000, "N",
             "print N digits after the decimal point"),
    OPT_SET(0, "fail-on", struct cast_args, fail_on, "EVENT,...", dti_choice_fail_on,
            "exit 1 when one of these happens"),
    {.kind = DTI_OPTION_DTYPE,
     .long_name = "from",
     .metavar = "DTYPE",
     .help = "cast an array: what the input holds, a dtype or 'text'",
     .choices = from_choices,
     .offset = DTI_FIELD(struct cast_args, from, const char *),
     .given_offset = DTI_NO_GIVEN},
    OPT_FILE(0, "input", struct cast_args, input, "FILE",
             "the file to read, where its name could be taken for a number"),
    OPT_FILE('o', "output", struct cast_args, output, "FILE",
             "the file to write, '-' for standard output"),
    OPT_CHOICE(0, "as", struct cast_args, as, as_given, "FORM", as_choices,
               "how to write the result; otherwise as --output is named, or as the input is"),
    OPT_FLAG(0, "force", struct cast_args, force, "replace the output if it exists"),
    OPT_CHOICE(0, "packing", struct cast_args, packing, packing_given, "PACKING",
               dti_choice_packing, "how codes of less than 8 bits lie in input and output"),
    OPT_CHOICE(0, "from-packing", struct cast_args, from_packing, from_packing_given, "PACKING",
               dti_choice_packing, "the same of the input alone"),
    OPT_CHOICE(0, "endian", struct cast_args, endian, endian_given, "ORDER", endian_choices,
               "byte order of raw input; raw output is little-endian"),
    OPT_UINT(0, "count", struct cast_args, count, count_given, 0, UINT64_MAX, "N",
             "elements that the file holds, where bytes do not tell: 3 codes of 4 bits"),
    OPT_TEXT(0, "threads", struct cast_args, threads, "N",
             "threads for an array, or all: one on each CPU (the default)"),
    OPT_LIST(0, "device", struct cast_args, device, "DEVICE", dti_choice_device,
             "where to cast: cpu (the default), cuda, cuda:N or auto"),
    OPT_FLAG(0, "report", struct cast_args, report,
             "say what was lost on standard error, where the data goes to standard output"),
    OPT_GLOB(0, "only", struct cast_args, only, "GLOB,...",
             "files: cast these tensors alone, keep the others"),
    OPT_GLOB(0, "keep", struct cast_args, keep, "GLOB,...",
             "files: let these tensors keep their dtype"),
    OPT_GLOB(0, "select", struct cast_args, select, "GLOB,...", "files: write these tensors alone"),
    OPT_FLAG(0, "ints", struct cast_args, ints, "files: cast integers and bool too"),
    OPT_FLAG(0, "dry-run", struct cast_args, dry_run,
             "files: say what would be written, and write nothing"),
    OPT_TEXT(0, "shape", struct cast_args, shape, "N,...",
             "shape of raw codes that become npy or safetensors: 2,3 or 2x3"),
    OPT_DTYPE(0, "assume", struct cast_args, assume, "DTYPE",
              "what npy files hold whose type is V1, V2 or <f1"),
    OPT_FLAG(0, "lenient", struct cast_args, lenient,
             "accept bytes behind the data of safetensors"),
    OPT_TEXT(0, "max-memory", struct cast_args, max_memory, "SIZE",
             "files: memory for buffers of all threads, as in 64MiB; the default is 16MiB"),
    OPT_CHOICE(0, "progress", struct cast_args, progress, progress_given, "WHEN",
               dti_choice_progress, "whether a bar on standard error shows how far long work is"),
    OPT_END,
};

static enum dti_status show_results(struct cast_job *job, const struct cast_operand *operand,
                                    const struct cast_result *results, struct dti_error *reterr)
{
    const struct dti_context *cx = job->cx;
    enum dti_status status = DTI_OK;
    if (cx->output != DTI_OUTPUT_HUMAN) {
        for (size_t i = 0; i < job->target_count && status == DTI_OK; i++)
            status = dti_cast_json_result(job, operand, &results[i], reterr);
        return status;
    }
    if (job->args->digits_given)
        return dti_cast_human_digits(job, results, reterr);
    if (job->args->stacks) {
        for (size_t i = 0; i < job->target_count && status == DTI_OK; i++) {
            dti_cast_human_line(job, operand, &results[i]);
            status = dti_cast_human_stacks(job, operand, &results[i], reterr);
        }
        return status;
    }
    if (cx->quiet) {
        char text[CAST_TEXT_SIZE];
        for (size_t i = 0; i < job->target_count; i++)
            (void)fprintf(cx->out, "%s\n", dti_cast_result_text(&results[i], text));
        return DTI_OK;
    }
    if (job->single && job->target_count == 1)
        return dti_cast_human_full(job, operand, &results[0], reterr);
    if (job->single)
        return dti_cast_human_ladder(job, operand, results, reterr);
    for (size_t i = 0; i < job->target_count; i++)
        dti_cast_human_line(job, operand, &results[i]);
    return DTI_OK;
}

enum dti_status dti_cast_operand_show(struct cast_job *job, const struct cast_operand *operand,
                                      struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    bool jsonl = job->cx->output == DTI_OUTPUT_JSONL;
    for (size_t i = 0; i < job->target_count && status == DTI_OK; i++)
        status = dti_cast_job_run(job, &job->targets[i], operand, &job->results[i], reterr);
    if (status != DTI_OK)
        return status;
    if (job->cx->output != DTI_OUTPUT_HUMAN && !job->open)
        dti_cast_json_begin(job);
    status = show_results(job, operand, job->results, reterr);
    if (status == DTI_OK && job->cx->output != DTI_OUTPUT_HUMAN)
        dti_cast_json_hints(job, operand);
    if (status == DTI_OK && jsonl)
        status = dti_cast_json_end(job, reterr);
    return status;
}

static bool is_dtype(const char *text)
{
    struct dti_format format;
    return dti_format_lookup(text, &format, NULL, NULL) == DTI_OK;
}

static bool is_number(const char *text)
{
    struct dti_value value;
    return dti_value_parse(&value, text, strlen(text), NULL) == DTI_OK;
}

/* A dtype where a value should be. */
static enum dti_status check_order(char **operands, int count, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], other[DTI_QUOTE_SIZE];
    const char *last = operands[count - 1], *first = operands[count - 2];
    if (!is_dtype(first))
        return DTI_OK;
    dti_quote(quoted, first, strlen(first));
    dti_quote(other, last, strlen(last));
    if (is_dtype(last))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is a dtype where a value should be; join dtypes with commas: "
                        "%.64s,%.64s",
                        quoted, first, last);
    if (is_number(last))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is a number where the dtype should be; it comes last: %.64s %.64s",
                        other, last, first);
    return DTI_OK;
}

static enum dti_status parse_operand(struct cast_operand *operand, const char *text, size_t index,
                                     struct dti_error *reterr)
{
    struct dti_error error;
    enum dti_status status = dti_cast_operand_parse(operand, text, strlen(text), index, &error);
    if (status == DTI_OK)
        return status;
    dti_cast_array_hint(text, &error);
    *reterr = error;
    return error.status;
}

/* Nothing is printed before all operands are known to be good. */
static enum dti_status check_values(struct cast_job *job, char **operands, size_t count,
                                    struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        struct cast_operand operand;
        status = parse_operand(&operand, operands[i], i, reterr);
        if (status != DTI_OK)
            return status;
        for (size_t at = 0; at < job->target_count && status == DTI_OK; at++)
            status = dti_cast_job_run(job, &job->targets[at], &operand, &job->results[at], reterr);
        dti_cast_operand_free(&operand);
    }
    dti_cast_device_recount(&job->device);
    return status;
}

static enum dti_status cast_operands(struct cast_job *job, char **operands, size_t count,
                                     struct dti_error *reterr)
{
    enum dti_status status = count > 1 ? check_values(job, operands, count, reterr) : DTI_OK;
    bool human = job->cx->output == DTI_OUTPUT_HUMAN;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        struct cast_operand operand;
        status = parse_operand(&operand, operands[i], i, reterr);
        if (status != DTI_OK)
            break;
        bool gap =
            human && i > 0 && job->target_count > 1 && !job->cx->quiet && !job->args->digits_given;
        if (gap)
            (void)fputc('\n', job->cx->out);
        status = dti_cast_operand_show(job, &operand, reterr);
        dti_cast_operand_free(&operand);
    }
    return status;
}

static enum dti_status check_operands(char **operands, int count, struct dti_error *reterr)
{
    if (count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to cast; give values and a dtype, as in "
                        "'dtinfo cast 70000 bf16'");
    if (count == 1 && dti_cast_is_file(operands[0])) {
        struct dti_error error = {.status = DTI_BAD_VALUE};
        dti_cast_array_hint(operands[0], &error);
        *reterr = error;
        return error.status;
    }
    if (count == 1) {
        char quoted[DTI_QUOTE_SIZE];
        return dti_fail(reterr, DTI_USAGE,
                        "%s stands alone; give values and a dtype, as in 'dtinfo cast 70000 bf16'",
                        dti_quote(quoted, operands[0], strlen(operands[0])));
    }
    enum dti_status status = check_order(operands, count, reterr);
    if (status != DTI_OK)
        return status;
    for (int i = 0; i < count - 1; i++) {
        if (strcmp(operands[i], "-") == 0 && count > 2)
            return dti_fail(reterr, DTI_USAGE,
                            "'-' reads the values from standard input; give no others beside it");
    }
    return DTI_OK;
}

/* One run prints one document: an error that comes after its beginning is told inside it. */
static enum dti_status end_document(struct cast_job *job, enum dti_status status,
                                    struct dti_error *reterr)
{
    if (status == DTI_NO_MEMORY)
        return status; /* there is none for the document's end either */
    if (status != DTI_OK && reterr->text[0] != '\0') {
        dti_complain(job->cx, reterr);
        dti_cast_json_warn(job, dti_status_code(status), NULL, 0, reterr->text);
        reterr->text[0] = '\0';
    }
    struct dti_error error;
    enum dti_status written = dti_cast_json_end(job, &error);
    if (written == DTI_OK)
        return status;
    *reterr = error;
    return written;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    struct cast_job job;
    if (dti_cast_is_files(args, operands, operand_count))
        return dti_cast_file(args, cx, operands, operand_count, reterr);
    if (dti_cast_is_array(args))
        return dti_cast_array(args, cx, operands, operand_count, reterr);
    enum dti_status status = dti_cast_array_refuse(args, operands, operand_count, reterr);
    if (status == DTI_OK)
        status = check_operands(operands, operand_count, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_cast_job_init(&job, args, cx, operands[operand_count - 1], reterr);
    if (status != DTI_OK)
        return status;

    size_t count = (size_t)operand_count - 1;
    bool stream = count == 1 && strcmp(operands[0], "-") == 0;
    bool document = cx->output == DTI_OUTPUT_JSON;
    job.single = count == 1 && !stream;
    status = dti_cast_device_open_cross_check(&job.device, reterr);
    if (status == DTI_OK)
        status =
            stream ? dti_cast_stream(&job, reterr) : cast_operands(&job, operands, count, reterr);
    if (document && job.open)
        status = end_document(&job, status, reterr);
    unsigned fatal = (unsigned)job.args->fail_on & job.flags;
    if (status == DTI_OK)
        dti_cast_device_note(&job);
    dti_cast_job_free(&job);
    if (status == DTI_OK && fatal != 0)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", ""); /* the answer itself shows the event */
    return status;
}

const struct dti_command dti_command_cast = {
    .name = "cast",
    .group = "ask",
    .summary = "values and files to any dtype: what is stored, how far off it is",
    .synopsis = "VALUE...|FILE DTYPE[,DTYPE...]",
    .details =
        "VALUE is a decimal of any length, a C99 hexfloat, a quotient such as 1/3, inf or nan;\n"
        "'-' reads one value a line from standard input. It is rounded once, to the dtype.\n"
        "DTYPE is a name from 'dtinfo list', any eXmY[fn|fnuz][bBIAS], a comma-separated list of\n"
        "them, or 'all'. With -q only the stored value is printed.\n"
        "\n"
        "With --from an array is cast: FILE, or '-' for standard input, holds codes of a dtype "
        "or,\n"
        "with --from text, numbers with blanks or commas between them; what was lost is reported:\n"
        "dtinfo cast in.bin bf16 --from fp32 -o out.bin\n"
        "\n"
        "A FILE of tensors (safetensors, a sharded checkpoint, npy, npz, gguf) says itself what "
        "it\n"
        "holds: its floats are cast, everything else is kept, and each tensor's loss is reported:\n"
        "dtinfo cast model.safetensors bf16 -o model.bf16.safetensors --keep '*norm*'",
    .examples = "dtinfo cast 70000 bf16\n"
                "dtinfo cast 0.1 all\n"
                "dtinfo cast 1/3 fp64,fp32,fp16,bf16 --digits 60\n"
                "dtinfo cast 500 fp8_e4m3fn --stacks\n"
                "dtinfo cast -q -1.5 int8 --round nearest-even\n"
                "dtinfo cast - fp8_e4m3fn --from text -o /dev/null\n"
                "dtinfo cast - bf16 --from fp32 -o /dev/null\n"
                "dtinfo cast model.safetensors bf16 -o model.bf16.safetensors --keep '*norm*'\n"
                "dtinfo cast model.safetensors.index.json fp8_e4m3fn --dry-run\n",
    .schema = "dtinfo.cast/1",
    .other_schemas = {"dtinfo.cast_array/1", "dtinfo.cast_file/1"},
    .operands = DTI_OPERANDS_VALUE_DTYPE,
    .options = options,
    .args_size = sizeof(struct cast_args),
    .run = run,
};
