/* SPDX-License-Identifier: MIT
 *
 * dtinfo inspect: what files of tensors hold. */
#include <stdlib.h>
#include <string.h>

#include "cli/inspect/inspect.h"
#include "dtinfo/ascii.h"

const struct dti_choice dti_inspect_sorts[] = {
    {.name = "file", .value = INSPECT_SORT_FILE, .help = "as the file has them (the default)"},
    {.name = "name", .value = INSPECT_SORT_NAME, .help = "by name, layers.2 before layers.10"},
    {.name = "size", .value = INSPECT_SORT_SIZE, .help = "by bytes, the largest first"},
    {.name = "elements", .value = INSPECT_SORT_ELEMENTS, .help = "by elements, the most first"},
    {.name = "dtype", .value = INSPECT_SORT_DTYPE, .help = "by the name of the dtype"},
    {.name = "offset", .value = INSPECT_SORT_OFFSET, .help = "by place in the file"},
    {.name = NULL},
};

static const struct dti_option options[] = {
    OPT_FLAG(0, "tree", struct inspect_args, tree,
             "fold names at their dots, and numbers in them to '#'"),
    OPT_CHOICE(0, "sort", struct inspect_args, sort, sort_given, "ORDER", dti_inspect_sorts,
               "in which order"),
    OPT_FLAG(0, "reverse", struct inspect_args, reverse, "the other way round"),
    OPT_GLOB(0, "only", struct inspect_args, only, "PATTERN,...",
             "only tensors whose name is as one of these: '*norm*,lm_head.*'"),
    OPT_TEXT(0, "grep", struct inspect_args, grep, "REGEX",
             "only tensors in whose name this extended regular expression is found"),
    OPT_FLAG(0, "stats", struct inspect_args, stats,
             "read the data: extremes, mean, zeros, NaN, infinities, which dtypes would do"),
    OPT_FLAG(0, "histogram", struct inspect_args, histogram,
             "read the data: draw its exponents against the ranges of narrower dtypes"),
    OPT_FLAG(0, "each", struct inspect_args, each, "with --histogram: of each tensor, too"),
    OPT_FLAG(0, "digest", struct inspect_args, digest,
             "read the files: the SHA-256 of each, as sha256sum prints it, and nothing else"),
    OPT_FLAG(0, "metadata", struct inspect_args, metadata, "all metadata, and all of it"),
    DTI_SOURCE_OPTIONS(struct inspect_args, file),
    DTI_SHAPE_OPTION(struct inspect_args, file),
    DTI_SCAN_OPTIONS(struct inspect_args, file),
    OPT_END,
};

/* One run over all operands. */
struct inspect_job {
    const struct inspect_args *args;
    const struct dti_context *cx;
    struct dti_file_source source;
    struct dti_reading reading;
    struct dti_file_bar bar;
    regex_t grep;
    bool has_grep;
    struct dti_json *json; /* or NULL */
    bool several;
    enum dti_status first; /* of the errors told so far */
};

/* Lines of digests are a list for 'check' and sha256sum: nothing else may stand there. */
static const char *beside_digest(const struct inspect_args *args, const struct dti_context *cx)
{
    return args->stats        ? "--stats"
           : args->histogram  ? "--histogram"
           : args->tree       ? "--tree"
           : args->metadata   ? "--metadata"
           : args->only       ? "--only"
           : args->grep       ? "--grep"
           : args->sort_given ? "--sort"
           : args->reverse    ? "--reverse"
           : cx->quiet        ? "-q"
                              : NULL;
}

static enum dti_status check_options(const struct inspect_args *args, const struct dti_context *cx,
                                     int operands, struct dti_error *reterr)
{
    const bool json = cx->output != DTI_OUTPUT_HUMAN;
    const char *const reading = args->stats ? "--stats" : args->histogram ? "--histogram" : NULL;
    const char *const beside = args->digest && !json ? beside_digest(args, cx) : NULL;
    if (operands == 0)
        return dti_fail(
            reterr, DTI_USAGE,
            "nothing to inspect; give a file, as in 'dtinfo inspect model.safetensors'");
    if (beside)
        return dti_fail(reterr, DTI_USAGE, "--digest prints digests alone; leave %s out", beside);
    if (args->each && !args->histogram)
        return dti_fail(reterr, DTI_USAGE, "--each is of --histogram; give both");
    if (args->tree && args->stats)
        return dti_fail(reterr, DTI_USAGE,
                        "--tree and --stats exclude each other; give one of them");
    if (args->tree && json)
        return dti_fail(reterr, DTI_USAGE, "--tree is for people; leave it out with --json");
    if (cx->quiet && args->tree)
        return dti_fail(reterr, DTI_USAGE, "-q prints names alone; leave --tree out");
    if (cx->quiet && reading && !json)
        return dti_fail(reterr, DTI_USAGE, "-q prints names alone; leave %s out", reading);
    if (!reading && (args->file.threads || args->file.max_memory))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is for reading data; give --stats or --histogram, or leave it out",
                        args->file.threads ? "--threads" : "--max-memory");
    return DTI_OK;
}

static enum dti_status compile_grep(struct inspect_job *job, struct dti_error *reterr)
{
    const char *const pattern = job->args->grep;
    char quoted[DTI_QUOTE_SIZE], why[128];
    if (!pattern)
        return DTI_OK;
    const int code = regcomp(&job->grep, pattern, REG_EXTENDED | REG_NOSUB);
    job->has_grep = code == 0;
    if (code == 0)
        return DTI_OK;
    if (code == REG_ESPACE)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    (void)regerror(code, &job->grep, why, sizeof why);
    why[0] = dti_ascii_lower(why[0]);
    (void)dti_fail(reterr, DTI_USAGE, "--grep takes an extended regular expression; in %s: %s",
                   dti_quote(quoted, pattern, strlen(pattern)), why);
    dti_error_argument(reterr, pattern, strlen(pattern));
    return DTI_USAGE;
}

static void free_report(struct inspect_report *report)
{
    for (size_t i = 0; report->figures && i < report->shown_count; i++)
        free(report->figures[i].histogram.binade);
    free(report->all.histogram.binade);
    free(report->figures);
    free(report->digests);
    free(report->totals.groups);
    free((void *)report->shown);
    dti_container_free(report->container);
}

static enum dti_status digest(struct inspect_report *report, const struct dti_reading *reading,
                              struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    report->digests = calloc(dti_digest_count(container) + 1, sizeof *report->digests);
    if (!report->digests)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_reading_start_alone(reading, dti_digest_input_bytes(container));
    const enum dti_status status =
        dti_digest_files(container, report->digests, reading->options.progress,
                         reading->options.progress_context, reterr);
    dti_reading_end_alone(reading);
    return status;
}

/* Reads all there is to say about a file before anything of it is printed. */
static enum dti_status make_report(struct inspect_job *job, const char *path,
                                   struct inspect_report *report, struct dti_error *reterr)
{
    *report = (struct inspect_report){.args = job->args, .cx = job->cx};
    enum dti_status status =
        dti_container_open(&report->container, path, &job->source.options, reterr);
    if (status == DTI_OK)
        status = dti_inspect_select(report, job->has_grep ? &job->grep : NULL, reterr);
    if (status == DTI_OK)
        status = dti_inspect_sum(report, reterr);
    if (status == DTI_OK && (job->args->stats || job->args->histogram))
        status = dti_inspect_scan(report, &job->reading, reterr);
    if (status == DTI_OK && job->args->digest)
        status = digest(report, &job->reading, reterr);
    return status;
}

static enum dti_status put_digests(const struct inspect_report *report, struct dti_error *reterr)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    for (size_t i = 0; i < dti_digest_count(report->container); i++)
        dti_digest_line(&text, &report->digests[i], dti_digest_file(report->container, i)->path);
    const bool failed = text.failed;
    (void)fputs(text.data, report->cx->out);
    dti_buffer_free(&text);
    return failed ? dti_fail(reterr, DTI_NO_MEMORY, "out of memory") : DTI_OK;
}

static void begin_document(struct inspect_job *job)
{
    dti_json_begin(job->json, "dtinfo.inspect/1");
    dti_inspect_json_options(job->json, job->args);
    dti_json_array(job->json, "files");
}

static enum dti_status end_document(struct inspect_job *job, struct dti_error *reterr)
{
    dti_json_end(job->json);
    dti_json_source_notes(job->json, &job->source);
    return dti_json_write(job->json, job->cx->out, reterr);
}

/* An error among several files is told at once, and in JSON in the file's place. */
static enum dti_status tell_error(struct inspect_job *job, const char *path,
                                  const struct dti_error *error, struct dti_error *reterr)
{
    struct dti_json *const json = job->json;
    dti_complain(job->cx, error);
    if (job->first == DTI_OK)
        job->first = error->status;
    if (!json)
        return DTI_OK;
    return dti_inspect_json_failure(json, path, error, reterr);
}

static enum dti_status inspect(struct inspect_job *job, const char *path, bool first,
                               struct dti_error *reterr)
{
    const bool jsonl = job->cx->output == DTI_OUTPUT_JSONL;
    struct inspect_report report;
    struct dti_error error;
    enum dti_status status = make_report(job, path, &report, &error);
    const bool told = status != DTI_OK && status != DTI_NO_MEMORY && job->several;
    if (status != DTI_OK && !told)
        *reterr = error;
    if (job->json && (first || jsonl) && (status == DTI_OK || told))
        begin_document(job);
    if (told) {
        status = tell_error(job, path, &error, reterr);
    } else if (status == DTI_OK && job->json) {
        status = dti_inspect_json(&report, job->json, reterr);
    } else if (status == DTI_OK && report.digests) {
        status = put_digests(&report, reterr);
    } else if (status == DTI_OK) {
        if (!first && !job->cx->quiet)
            (void)fputc('\n', job->cx->out);
        status = dti_inspect_human(&report, reterr);
    }
    if (status == DTI_OK && jsonl)
        status = end_document(job, reterr);
    free_report(&report);
    return status;
}

static enum dti_status inspect_all(struct inspect_job *job, char **operands, int count,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    job->several = count > 1;
    for (int i = 0; i < count && status == DTI_OK; i++)
        status = inspect(job, operands[i], i == 0, reterr);
    if (status == DTI_OK && job->cx->output == DTI_OUTPUT_JSON)
        status = end_document(job, reterr);
    if (status == DTI_OK && job->first != DTI_OK)
        return dti_fail(reterr, job->first, "%s", ""); /* told already */
    return status;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    struct inspect_job *const job = calloc(1, sizeof *job);
    if (!job)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    job->args = args;
    job->cx = cx;
    enum dti_status status = check_options(args, cx, operand_count, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&job->source, &job->args->file, cx, reterr);
    if (status == DTI_OK)
        status = dti_file_reading_init(&job->reading, &job->bar, &job->args->file, cx, reterr);
    if (status == DTI_OK)
        status = compile_grep(job, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN) {
        job->json = dti_json_new();
        if (!job->json)
            status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    if (status == DTI_OK)
        status = inspect_all(job, operands, operand_count, reterr);
    if (job->has_grep)
        regfree(&job->grep);
    dti_json_free(job->json);
    free(job);
    return status;
}

const struct dti_command dti_command_inspect = {
    .name = "inspect",
    .group = "files",
    .summary = "what files of tensors hold: names, dtypes, shapes, sizes, statistics",
    .synopsis = "FILE...",
    .details =
        "FILE is a safetensors file, the index of a sharded checkpoint or its folder, an npy,\n"
        "npz or GGUF file; with --from it holds raw codes. Headers alone are read, however\n"
        "large the file, unless --stats or --histogram asks for the data. With -v offsets\n"
        "are shown, and the sizes of shards; with -q the names of the tensors alone. --digest\n"
        "prints SHA-256 digests, which 'dtinfo check --digest' takes.",
    .examples = "dtinfo inspect model.safetensors\n"
                "dtinfo inspect model.safetensors.index.json --tree\n"
                "dtinfo inspect model.safetensors --stats --only '*norm*'\n"
                "dtinfo inspect model.safetensors --digest\n"
                "dtinfo inspect model.gguf --json\n",
    .schema = "dtinfo.inspect/1",
    .operands = DTI_OPERANDS_FILES,
    .options = options,
    .args_size = sizeof(struct inspect_args),
    .run = run,
};
