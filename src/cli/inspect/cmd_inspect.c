/* SPDX-License-Identifier: MIT
 *
 * dtinfo inspect: the contents of files of tensors. */
#include <stdlib.h>
#include <string.h>

#include "cli/inspect/inspect_view.h"
#include "cli/shared/cast_list.h"
#include "cli/shared/file_source.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

struct inspect_args {
    struct dti_file_args file;
    struct dti_inspect_request request; /* the request for each file */
    const char *as;
    int sort;
    bool sort_given, tree, metadata;
};

static const struct dti_choice sorts[] = {
    {.name = "file",
     .value = DTI_INSPECT_SORT_FILE,
     .help = "in the order of the file (the default)"},
    {.name = "name", .value = DTI_INSPECT_SORT_NAME, .help = "by name, layers.2 before layers.10"},
    {.name = "size", .value = DTI_INSPECT_SORT_SIZE, .help = "by bytes, largest first"},
    {.name = "elements", .value = DTI_INSPECT_SORT_ELEMENTS, .help = "by elements, largest first"},
    {.name = "dtype", .value = DTI_INSPECT_SORT_DTYPE, .help = "by the name of the dtype"},
    {.name = "offset", .value = DTI_INSPECT_SORT_OFFSET, .help = "by position in the file"},
    {.name = NULL},
};

static const struct dti_option options[] = {
    OPT_FLAG(0, "tree", struct inspect_args, tree,
             "fold names at their dots, and numbers in them to '#'", .matters = true),
    OPT_CHOICE(0, "sort", struct inspect_args, sort, sort_given, "ORDER", sorts,
               "order of the tensors", .matters = true),
    OPT_FLAG(0, "reverse", struct inspect_args, request.reverse, "reverse the order"),
    OPT_UINT(0, "limit", struct inspect_args, request.limit, request.limited, 0, UINT64_MAX, "N",
             "list only the first N tensors; --stats, --saturation and --as read only these",
             .matters = true),
    DTI_ROW_ONLY(struct inspect_args, request.only,
                 "only tensors whose names match: '*norm*,lm_head.*'"),
    OPT_TEXT(0, "grep", struct inspect_args, request.grep_text, "REGEX",
             "only tensors whose names match this extended regular expression", .matters = true),
    OPT_FLAG(0, "stats", struct inspect_args, request.stats,
             "read the data: extremes, mean, zeros, NaN, infinities, dtypes without overflow",
             .matters = true),
    OPT_FLAG(0, "saturation", struct inspect_args, request.saturation,
             "read codes and scales of quantized tensors: how many are at their limits"),
    OPT_DTYPE(0, "as", struct inspect_args, as, "DTYPE,...",
              "read the data: losses of a cast to each of these dtypes, per tensor"),
    OPT_FLAG(0, "histogram", struct inspect_args, request.histogram,
             "read the data: draw a histogram of exponents with the ranges of narrower dtypes",
             .matters = true),
    OPT_FLAG(0, "each", struct inspect_args, request.each,
             "with --histogram: also draw one per tensor"),
    OPT_FLAG(0, "digest", struct inspect_args, request.digest,
             "read the files: print only the SHA-256 of each, as sha256sum does", .matters = true),
    OPT_FLAG(0, "metadata", struct inspect_args, metadata, "show all metadata entries in full",
             .matters = true),
    DTI_LOGICAL_OPTIONS(struct inspect_args, file),
    DTI_LIKE_OPTION(struct inspect_args, file),
    DTI_SOURCE_OPTIONS(struct inspect_args, file),
    DTI_SHAPE_OPTION(struct inspect_args, file),
    DTI_SCAN_OPTIONS(struct inspect_args, file),
    OPT_END,
};

/* One run over all operands. */
struct inspect_job {
    const struct inspect_args *args;
    struct dti_command_context *cx;
    struct dti_file_source source;
    struct dti_file_bar bar;
    struct dti_inspect_request request;
    struct dti_cast_list as;
    const char *notes[2 + DTI_CAST_LIST]; /* on names of dtypes */
    size_t note_count;
    regex_t grep;
    char **paths;
    int count, next;
    bool line_taken;                  /* JSON Lines: this document's file was already returned */
    struct dti_inspect_report report; /* report on the last file */
    struct dti_inspect_file file;
    struct dti_error error; /* its error, or why there is no answer */
    char message[DTI_ERROR_TEXT];
    enum dti_status status;
    enum dti_status first; /* status of the errors reported so far */
};

static enum dti_status check_options(const struct inspect_args *args,
                                     const struct dti_command_context *cx, int operands,
                                     struct dti_error *reterr)
{
    const bool json = cx->output != DTI_OUTPUT_HUMAN;
    const char *const reading = dti_option_given(options, args, "stats saturation as histogram");
    const char *const other = dti_option_given(
        options, args, "stats saturation as histogram tree metadata only grep sort reverse limit");
    if (operands == 0)
        return dti_fail(
            reterr, DTI_USAGE,
            "nothing to inspect; give a file, as in 'dtinfo inspect model.safetensors'");
    /* the digest lines are a list for 'check' and sha256sum, without anything else */
    if (args->request.digest && !json && (other || cx->quiet))
        return dti_fail(reterr, DTI_USAGE, "--digest prints only digests; leave %s%s out",
                        other ? "--" : "-q", other ? other : "");
    if (args->request.each && !args->request.histogram)
        return dti_fail(reterr, DTI_USAGE, "--each needs --histogram; give both");
    if (args->tree && (args->request.stats || args->request.saturation || args->as))
        return dti_fail(reterr, DTI_USAGE, "--tree and --%s exclude each other; give one of them",
                        reading);
    if (args->tree && args->request.limited)
        return dti_fail(reterr, DTI_USAGE,
                        "--tree and --limit exclude each other; give one of them");
    if (args->tree && json)
        return dti_fail(reterr, DTI_USAGE, "--tree is for people; leave it out with --json");
    if (cx->quiet && args->tree)
        return dti_fail(reterr, DTI_USAGE, "-q prints only names; leave --tree out");
    if (cx->quiet && reading && !json)
        return dti_fail(reterr, DTI_USAGE, "-q prints only names; leave --%s out", reading);
    if (!reading && (args->file.threads || args->file.max_memory))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is for reading data; give --stats, --saturation, --as or --histogram, "
                        "or leave it out",
                        args->file.threads ? "--threads" : "--max-memory");
    return DTI_OK;
}

static enum dti_status compile_grep(struct inspect_job *job, struct dti_error *reterr)
{
    const char *const pattern = job->args->request.grep_text;
    char why[128];
    if (!pattern)
        return DTI_OK;
    const int code = regcomp(&job->grep, pattern, REG_EXTENDED | REG_NOSUB);
    if (code == 0) {
        job->request.grep = &job->grep;
        return DTI_OK;
    }
    if (code == REG_ESPACE)
        return dti_no_memory(reterr);
    (void)regerror(code, &job->grep, why, sizeof why);
    why[0] = dti_ascii_lower(why[0]);
    return dti_fail_word(reterr, DTI_USAGE, pattern, strlen(pattern),
                         "--grep takes an extended regular expression; in %s: %s",
                         DTI_QUOTED(pattern, strlen(pattern)), why);
}

static enum dti_status put_digests(const struct inspect_job *job, struct dti_error *reterr)
{
    const struct dti_container *const container = job->report.container;
    struct dti_buffer text;
    dti_buffer_init(&text);
    for (size_t i = 0; i < dti_digest_count(container); i++)
        dti_digest_line(&text, &job->report.digests[i], dti_digest_file(container, i)->path);
    const bool failed = text.failed;
    (void)fputs(text.data, job->cx->raw);
    dti_buffer_free(&text);
    return failed ? dti_no_memory(reterr) : DTI_OK;
}

/* With several files an error is reported immediately; in JSON it takes the place of the file. */
static const struct dti_inspect_file *next_file(void *context)
{
    struct inspect_job *const job = context;
    dti_inspect_report_free(&job->report);
    job->report = (struct dti_inspect_report){.container = NULL};
    if (job->next == job->count || job->status != DTI_OK)
        return NULL;
    const char *const path = job->paths[job->next++];
    const enum dti_status status = dti_inspect_run(&job->request, path, &job->report, &job->error);
    if (status == DTI_OK) {
        job->file = (struct dti_inspect_file){
            .path = path, .report = &job->report, .count = job->report.shown_count};
        return &job->file;
    }
    if (status == DTI_NO_MEMORY || job->count == 1) {
        job->status = status;
        return NULL;
    }
    dti_complain(job->cx, &job->error);
    if (job->first == DTI_OK)
        job->first = status;
    job->file = (struct dti_inspect_file){
        .path = path, .error = &job->error, .message = dti_error_words(job->message, &job->error)};
    return &job->file;
}

static enum dti_status show_files(struct inspect_job *job, struct dti_error *reterr)
{
    const struct dti_command_context *const cx = job->cx;
    const struct inspect_view view = {.cx = cx,
                                      .report = &job->report,
                                      .tree = job->args->tree,
                                      .all_metadata = job->args->metadata,
                                      .packing_given = job->args->file.packing_given};
    const struct dti_inspect_file *file;
    enum dti_status status = DTI_OK;
    while (status == DTI_OK && (file = next_file(job)) != NULL) {
        if (file->report && file->report->digests) {
            status = put_digests(job, reterr);
        } else if (file->report) {
            if (job->next > 1 && !cx->quiet)
                (void)fputc('\n', cx->out);
            status = dti_inspect_human(&view, reterr);
            if (status == DTI_OK)
                status = dti_command_context_turn(cx, reterr);
        }
    }
    return status;
}

/* The file of the current line, returned once. */
static const struct dti_inspect_file *this_file(void *context)
{
    struct inspect_job *const job = context;
    const bool taken = job->line_taken;
    job->line_taken = true;
    return taken ? NULL : &job->file;
}

/* For each file a document per tensor, then one for everything else. */
static enum dti_status write_lines(struct inspect_job *job, const struct dti_inspect_answer *answer,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    while (status == DTI_OK && next_file(job)) {
        const size_t tensors = job->file.count;
        for (size_t i = 0; i <= tensors && status == DTI_OK; i++) {
            job->file.first = i;
            job->file.count = i < tensors;
            job->file.part = i < tensors;
            job->line_taken = false;
            status = DTI_ANSWER(job->cx, inspect, answer, reterr);
        }
    }
    return status;
}

static enum dti_status inspect(struct inspect_job *job, struct dti_error *reterr)
{
    struct dti_command_context *const cx = job->cx;
    const bool lines = cx->output == DTI_OUTPUT_JSONL;
    const struct dti_inspect_answer answer = {
        .request = &job->request,
        .next = lines ? this_file : next_file,
        .context = job,
        .notes = job->notes,
        .note_count = job->note_count,
        .out = &cx->sink,
    };
    enum dti_status status = DTI_OK;
    if (cx->output == DTI_OUTPUT_HUMAN)
        status = show_files(job, reterr);
    else if (lines)
        status = write_lines(job, &answer, reterr);
    else
        dti_document_inspect(cx->json, &answer);
    if (job->status != DTI_OK) {
        *reterr = job->error;
        return job->status;
    }
    if (cx->output == DTI_OUTPUT_JSON)
        status = dti_document_write(cx->json, cx->out, reterr);
    if (status == DTI_OK && job->first != DTI_OK)
        return dti_fail(reterr, job->first, "%s", ""); /* already reported */
    return status;
}

static enum dti_status gather(struct inspect_job *job, struct dti_error *reterr)
{
    const struct inspect_args *const args = job->args;
    job->request = args->request;
    job->request.container = &job->source.logical;
    job->request.words = dti_remedy_words;
    job->request.sort = (enum dti_inspect_sort)args->sort;
    job->request.from = args->file.from;
    job->request.assume = args->file.assume;
    enum dti_status status = check_options(args, job->cx, job->count, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&job->source, &args->file, job->cx, reterr);
    if (status == DTI_OK)
        status =
            dti_file_reading_init(&job->request.reading, &job->bar, &args->file, job->cx, reterr);
    if (status == DTI_OK)
        status = dti_cast_list_read(&job->as, args->as, job->cx, &job->request.reading, reterr);
    for (size_t i = 0; i < job->source.note_count; i++)
        job->notes[job->note_count++] = job->source.notes[i];
    for (size_t i = 0; i < job->as.note_count; i++)
        job->notes[job->note_count++] = job->as.notes[i];
    return status == DTI_OK ? compile_grep(job, reterr) : status;
}

static enum dti_status run_inspect(const void *args, char **operands, int operand_count,
                                   struct dti_command_context *cx, struct dti_error *reterr)
{
    struct inspect_job *const job = dti_calloc(1, sizeof *job);
    if (!job)
        return dti_no_memory(reterr);
    job->args = args;
    job->cx = cx;
    job->paths = operands;
    job->count = operand_count;
    enum dti_status status = gather(job, reterr);
    if (status == DTI_OK)
        status = inspect(job, reterr);
    if (job->request.grep)
        regfree(&job->grep);
    dti_inspect_report_free(&job->report);
    dti_free(job);
    return status;
}

const struct dti_command dti_command_inspect = {
    .name = "inspect",
    .group = "files",
    .summary = "show the tensors in files: dtypes, shapes, statistics",
    .reads = true,
    .synopsis = "FILE...",
    .details = "FILE is a file of tensors, the index of a sharded checkpoint or its folder, or\n"
               "raw codes with --from. Only headers are read, however large the file is;\n"
               "--stats and --histogram read the data. -v adds offsets and the sizes of\n"
               "shards, -q prints only the names of the tensors. --digest prints SHA-256\n"
               "digests for 'dtinfo check --digest'. A quantized tensor is one tensor; --raw\n"
               "shows its codes and scales.",
    .examples = "dtinfo inspect model.safetensors\n"
                "dtinfo inspect model.safetensors.index.json --tree\n"
                "dtinfo inspect model.safetensors --stats --only '*norm*'\n"
                "dtinfo inspect model.safetensors --digest\n"
                "dtinfo inspect model.gguf --json\n",
    .schema = "dtinfo.inspect/1",
    .operands = DTI_OPERANDS_FILES,
    .options = options,
    .args_size = sizeof(struct inspect_args),
    .run = run_inspect,
};
