/* SPDX-License-Identifier: MIT
 *
 * Questions about the contents of files, from options. */
#include "requests/inspect/inspect_request.h"

#include <stdio.h>
#include <string.h>

#include "util/run/allocate.h"
#include "util/text/ascii.h"

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

const struct dti_option dti_inspect_options[] = {
    OPT_FLAG(0, "tree", struct inspect_args, tree,
             "fold names at their dots, and numbers in them to '#'", .matters = true,
             DTI_MORE(.elsewhere = "the document has the names")),
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
             .matters = true, DTI_MORE(.elsewhere = "the document has all of them")),
    DTI_LOGICAL_OPTIONS(struct inspect_args, file),
    DTI_LIKE_OPTION(struct inspect_args, file),
    DTI_SOURCE_OPTIONS(struct inspect_args, file),
    DTI_SHAPE_OPTION(struct inspect_args, file),
    DTI_SCAN_OPTIONS(struct inspect_args, file),
    OPT_END,
};

static enum dti_status check_options(const struct inspect_args *args, struct dti_error *reterr)
{
    const char *const reading =
        dti_option_given(dti_inspect_options, args, "stats saturation as histogram");
    if (args->request.each && !args->request.histogram)
        return dti_fail(reterr, DTI_USAGE, "--each needs --histogram; give both");
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

const struct dti_inspect_file *dti_inspect_next(void *context)
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
    if (job->asker->complain)
        job->asker->complain(job->asker->warn_context, &job->error);
    if (job->first.status == DTI_OK)
        job->first = job->error;
    (void)snprintf(
        job->message, sizeof job->message, "%s",
        job->asker->words((char[DTI_REMEDY_WORDS]){""}, job->error.remedy, job->error.text));
    job->file =
        (struct dti_inspect_file){.path = path, .error = &job->error, .message = job->message};
    return &job->file;
}

enum dti_status dti_inspect_init(struct inspect_job *job, const struct inspect_args *args,
                                 const struct dti_asker *asker, struct dti_error *reterr)
{
    memset(job, 0, sizeof *job);
    job->args = args;
    job->asker = asker;
    job->request = args->request;
    job->request.container = &job->source.logical;
    job->request.words = asker->words;
    job->request.sort = (enum dti_inspect_sort)args->sort;
    job->request.from = args->file.from;
    job->request.assume = args->file.assume;
    enum dti_status status = check_options(args, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&job->source, &args->file, asker, reterr);
    if (status == DTI_OK)
        status = dti_file_reading_init(&job->request.reading, &args->file, asker, reterr);
    if (status == DTI_OK)
        status = dti_cast_list_read(&job->as, args->as, asker, &job->request.reading, reterr);
    for (size_t i = 0; i < job->source.note_count; i++)
        job->notes[job->note_count++] = job->source.notes[i];
    for (size_t i = 0; i < job->as.note_count; i++)
        job->notes[job->note_count++] = job->as.notes[i];
    return status == DTI_OK ? compile_grep(job, reterr) : status;
}

void dti_inspect_free(struct inspect_job *job)
{
    if (job->request.grep)
        regfree(&job->grep);
    dti_inspect_report_free(&job->report);
}

struct dti_inspect_answer dti_inspect_answer_of(struct inspect_job *job)
{
    return (struct dti_inspect_answer){
        .request = &job->request,
        .next = dti_inspect_next,
        .context = job,
        .notes = job->notes,
        .note_count = job->note_count,
    };
}
