/* SPDX-License-Identifier: MIT
 *
 * dtinfo check: assertions on files, for scripts. */
#include <stdlib.h>
#include <string.h>

#include "cli/check/check_job.h"
#include "cli/shared/cast_list.h"
#include "cli/shared/file_source.h"
#include "cli/shared/operand_kinds.h"
#include "dtinfo/glob.h"
#include "dtinfo/number.h"

struct check_args {
    struct dti_file_args file;
    struct check_loss_args loss;
    bool valid, pickle, quantized, no_nan, no_inf, ints;
    const char *digest, *fits, *dtype, *max_abs, *shape, *only;
};

enum { CHECK_NOTES = DTI_CHECK_ASSERTIONS + 2 + DTI_CAST_LIST };

/* The request. Points into itself: must not be copied. */
struct check_job {
    const struct check_args *args;
    struct dti_context *cx;
    struct dti_file_source source;
    struct dti_file_bar bar;
    struct dti_check_request request;
    struct dti_cast_list as;
    const char *notes[CHECK_NOTES]; /* on spellings of dtypes */
    size_t note_count;
};

static enum dti_status add(struct check_job *job, enum dti_check_kind kind, const char *argument,
                           struct dti_check_assertion **ret, struct dti_error *reterr)
{
    struct dti_check_request *const request = &job->request;
    if (request->assertion_count == DTI_CHECK_ASSERTIONS)
        return dti_check_too_many(reterr);
    *ret = &request->assertions[request->assertion_count++];
    memset(*ret, 0, sizeof **ret);
    (*ret)->kind = kind;
    (*ret)->argument = argument;
    return DTI_OK;
}

/* "--max-abs takes a number; got 'x'" */
static enum dti_status refuse(const char *takes, const char *piece, size_t length,
                              struct dti_error *reterr)
{
    return dti_fail_word(reterr, DTI_USAGE, piece, length, "%s; got %s", takes,
                         DTI_QUOTED(piece, length));
}

/* A dtype's name that is part of a longer text. */
static enum dti_status look_up(struct check_job *job, const char *text, size_t length,
                               struct dti_format *ret, struct dti_error *reterr)
{
    char name[64];
    struct dti_dtype_operand operand;
    if (length >= sizeof name)
        return refuse("expected the name of a dtype", text, length, reterr);
    memcpy(name, text, length);
    name[length] = '\0';
    const enum dti_status status = dti_dtype_operand_read(name, NULL, job->cx, &operand, reterr);
    if (status != DTI_OK)
        return status;
    *ret = operand.format;
    if (operand.note && job->note_count < DTI_CHECK_ASSERTIONS + job->source.note_count)
        job->notes[job->note_count++] = operand.note;
    return DTI_OK;
}

static enum dti_status add_plain(struct check_job *job, enum dti_check_kind kind, const char *text,
                                 struct dti_error *reterr)
{
    struct dti_check_assertion *assertion;
    return add(job, kind, text, &assertion, reterr);
}

static enum dti_status add_fits(struct check_job *job, enum dti_check_kind kind, const char *text,
                                struct dti_error *reterr)
{
    struct dti_check_assertion *assertion = NULL;
    for (const char *name = text; name; name = strchr(name, ',')) {
        name += *name == ',';
        struct dti_format format;
        enum dti_status status = look_up(job, name, strcspn(name, ","), &format, reterr);
        if (status == DTI_OK)
            status = add(job, kind, NULL, &assertion, reterr);
        if (status != DTI_OK)
            return status;
        assertion->format = *dti_real_format(&format);
        assertion->argument = assertion->format.name;
    }
    return DTI_OK;
}

static enum dti_status add_max_abs(struct check_job *job, enum dti_check_kind kind,
                                   const char *text, struct dti_error *reterr)
{
    struct dti_check_assertion *assertion = NULL;
    struct dti_value limit;
    enum dti_status status = dti_value_parse(&limit, text, strlen(text), reterr);
    if (status == DTI_NO_MEMORY)
        return status;
    if (status != DTI_OK || limit.class == DTI_CLASS_NAN ||
        (limit.negative && limit.class != DTI_CLASS_ZERO))
        return refuse("--max-abs takes a nonnegative number", text, strlen(text), reterr);
    status = add(job, kind, text, &assertion, reterr);
    if (status == DTI_OK)
        assertion->limit = limit;
    return status;
}

/* "bf16", "fp32:*norm*", "q8_0" */
static enum dti_status read_dtype_item(struct check_job *job, const char *text, size_t length,
                                       struct dti_check_item *item, struct dti_error *reterr)
{
    const char *const colon = memchr(text, ':', length);
    const size_t name_length = colon ? (size_t)(colon - text) : length;
    char name[64] = "";
    if (colon) {
        item->glob = colon + 1;
        item->glob_length = length - name_length - 1;
    }
    if (name_length < sizeof name)
        memcpy(name, text, name_length);
    const struct dti_block_format *const block = dti_block_lookup(name);
    const struct dti_gguf_type *const gguf = block ? NULL : dti_gguf_type_named(name);
    item->block = block ? block->name : gguf ? gguf->word : NULL;
    return item->block ? DTI_OK : look_up(job, text, name_length, &item->format, reterr);
}

/* "GLOB:2,3" or "2,3": the shape follows the last colon. */
static enum dti_status read_shape_item(const char *text, size_t length, struct dti_check_item *item,
                                       struct dti_error *reterr)
{
    size_t at = length;
    while (at > 0 && text[at - 1] != ':')
        at--;
    item->shape = text + at;
    item->shape_length = length - at;
    if (at > 0) {
        item->glob = text;
        item->glob_length = at - 1;
    }
    if (dti_check_shape_is_pattern(item->shape, item->shape_length))
        return DTI_OK;
    return refuse("--shape takes GLOB:N,... with '*' for any N, as in '*norm*:4096'", text, length,
                  reterr);
}

/* Dtypes between commas (one in a pattern is "\,"), shapes between semicolons. */
static enum dti_status add_items(struct check_job *job, enum dti_check_kind kind, const char *text,
                                 struct dti_error *reterr)
{
    const bool dtype = kind == DTI_CHECK_DTYPE;
    struct dti_check_assertion *assertion = NULL;
    size_t most = 1;
    enum dti_status status = add(job, kind, text, &assertion, reterr);
    if (status != DTI_OK)
        return status;
    for (const char *at = text; *at != '\0'; at++)
        most += *at == (dtype ? ',' : ';');
    assertion->items = calloc(most, sizeof *assertion->items);
    if (!assertion->items)
        return dti_no_memory(reterr);
    for (;;) {
        struct dti_check_item *const item = &assertion->items[assertion->item_count++];
        const size_t length = dtype ? dti_glob_list_item(text) : strcspn(text, ";");
        status = dtype ? read_dtype_item(job, text, length, item, reterr)
                       : read_shape_item(text, length, item, reterr);
        if (status != DTI_OK || text[length] == '\0')
            return status;
        text += length + 1;
    }
}

static enum dti_status add_digest(struct check_job *job, enum dti_check_kind kind, const char *text,
                                  struct dti_error *reterr)
{
    const enum dti_status status = add_plain(job, kind, text, reterr);
    return status == DTI_OK ? dti_check_digest_read(&job->request, text, reterr) : status;
}

static enum dti_status check_init(struct check_job *ret, const struct check_args *args,
                                  struct dti_context *cx, struct dti_error *reterr)
{
    const bool others = args->no_nan || args->no_inf || args->fits || args->dtype ||
                        args->max_abs || args->shape || args->digest || args->loss.as ||
                        args->pickle;
    /* in the order of their kinds */
    const struct {
        enum dti_check_kind kind;
        bool given;
        const char *text;
        enum dti_status (*add)(struct check_job *, enum dti_check_kind, const char *,
                               struct dti_error *);
    } asked[] = {
        {DTI_CHECK_VALID, args->valid || args->quantized || !others, NULL, add_plain},
        {DTI_CHECK_DIGEST, args->digest, args->digest, add_digest},
        {DTI_CHECK_PICKLE, args->pickle, NULL, add_plain},
        {DTI_CHECK_DTYPE, args->dtype, args->dtype, add_items},
        {DTI_CHECK_SHAPE, args->shape, args->shape, add_items},
        {DTI_CHECK_QUANTIZED, args->quantized, NULL, add_plain},
        {DTI_CHECK_NO_NAN, args->no_nan, NULL, add_plain},
        {DTI_CHECK_NO_INF, args->no_inf, NULL, add_plain},
        {DTI_CHECK_MAX_ABS, args->max_abs, args->max_abs, add_max_abs},
        {DTI_CHECK_FITS, args->fits, args->fits, add_fits},
    };
    memset(ret, 0, sizeof *ret);
    ret->args = args;
    ret->cx = cx;
    if (args->ints && !args->fits && !args->loss.as)
        return dti_fail(reterr, DTI_USAGE,
                        "--ints is for --fits and --as; give one of them, or leave it out");
    if (args->quantized && (args->file.raw || args->file.from))
        return dti_fail(
            reterr, DTI_USAGE,
            "--quantized looks at quantized tensors, and %s at what is stored; leave one "
            "of them out",
            args->file.raw ? "--raw" : "--from");
    ret->request.container = &ret->source.logical;
    ret->request.words = dti_remedy_words;
    ret->request.only = args->only;
    ret->request.ints = args->ints;
    enum dti_status status =
        dti_file_reading_init(&ret->request.reading, &ret->bar, &args->file, cx, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&ret->source, &args->file, cx, reterr);
    ret->source.logical.lint = args->quantized;
    for (size_t i = 0; i < ret->source.note_count; i++)
        ret->notes[ret->note_count++] = ret->source.notes[i];
    for (size_t i = 0; i < sizeof asked / sizeof *asked && status == DTI_OK; i++) {
        if (asked[i].given)
            status = asked[i].add(ret, asked[i].kind, asked[i].text, reterr);
    }
    if (status == DTI_OK)
        status = dti_cast_list_read(&ret->as, args->loss.as, cx, &ret->request.reading, reterr);
    for (size_t i = 0; i < ret->as.note_count; i++)
        ret->notes[ret->note_count++] = ret->as.notes[i];
    return status == DTI_OK ? dti_check_losses_read(&ret->request, &args->loss, reterr) : status;
}

static void check_free(struct check_job *job)
{
    for (size_t i = 0; i < job->request.assertion_count; i++)
        free(job->request.assertions[i].items);
    dti_digest_list_free(&job->request.list);
}

static const struct dti_option options[] = {
    OPT_FLAG(
        0, "valid", struct check_args, valid,
        "headers, sizes and checksums are right, shards complete (the default without others)"),
    OPT_FILE(0, "digest", struct check_args, digest, "DIGEST",
             "the SHA-256 of the file, as sha256:HEX, or a list of the digests of its files"),
    OPT_FLAG(0, "pickle", struct check_args, pickle,
             "pickles (PyTorch files, .pkl) import only what torch.save() writes", .matters = true),
    OPT_DTYPE(0, "dtype", struct check_args, dtype, "DTYPE[:GLOB],...",
              "a tensor has the dtype of the last GLOB that matches its name, else one given "
              "without GLOB",
              .matters = true),
    OPT_TEXT(0, "shape", struct check_args, shape, "GLOB:N,...[;...]",
             "the shape of tensors whose names match; '*' is any N", .matters = true),
    OPT_FLAG(0, "quantized", struct check_args, quantized,
             "valid, and quantized tensors, their parts and config.json fit each other",
             .matters = true),
    OPT_FLAG(0, "no-nan", struct check_args, no_nan, "no element is NaN", .matters = true),
    OPT_FLAG(0, "no-inf", struct check_args, no_inf, "no element is infinite", .matters = true),
    OPT_TEXT(0, "max-abs", struct check_args, max_abs, "X", "no magnitude is greater than X",
             .matters = true),
    OPT_DTYPE(0, "fits", struct check_args, fits, "DTYPE,...",
              "floats can be cast to each of these without overflow", .matters = true),
    OPT_DTYPE(0, "as", struct check_args, loss.as, "DTYPE,...",
              "target dtypes for the following options"),
    OPT_TEXT(0, "max-to-zero", struct check_args, loss.max_to_zero, "SHARE",
             "at most this share of a tensor's nonzero elements becomes 0"),
    OPT_TEXT(0, "max-error", struct check_args, loss.max_error, "X",
             "no element changes by more than X, or becomes inf or nan"),
    OPT_TEXT(0, "min-sqnr", struct check_args, loss.min_sqnr, "DB",
             "the signal-to-quantization-noise ratio of a tensor is at least this"),
    OPT_FLAG(0, "ints", struct check_args, ints, "with --fits or --as: integer tensors too"),
    DTI_ROW_ONLY(struct check_args, only, "check only tensors whose names match"),
    DTI_LOGICAL_OPTIONS(struct check_args, file),
    DTI_SOURCE_OPTIONS(struct check_args, file),
    DTI_SCAN_OPTIONS(struct check_args, file),
    OPT_END,
};

/* One run over all operands. */
struct check_files {
    struct check_job job;
    char **paths;
    int count, next, end;           /* those up to end go into one document */
    struct dti_check_report report; /* of the last one */
    bool failed, unreadable;
    enum dti_status status;
    struct dti_error error;
};

static const struct dti_check_report *next_report(void *context)
{
    struct check_files *const files = context;
    struct dti_check_report *const report = &files->report;
    dti_check_report_free(report);
    *report = (struct dti_check_report){.path = NULL};
    if (files->next == files->end || files->status != DTI_OK)
        return NULL;
    files->status =
        dti_check_run(&files->job.request, files->paths[files->next++], report, &files->error);
    if (report->refusal)
        files->status = dti_check_refuse(report, &files->error);
    const enum dti_check_outcome outcome =
        dti_check_outcome(report->failure_count, report->unreadable_count);
    files->failed = files->failed || outcome == DTI_CHECK_FAILED;
    files->unreadable = files->unreadable || outcome == DTI_CHECK_UNDECIDED;
    return files->status == DTI_OK ? report : NULL;
}

static enum dti_status check_files(struct check_files *files, struct dti_error *reterr)
{
    struct dti_context *const cx = files->job.cx;
    const struct dti_check_answer answer = {
        .next = next_report,
        .context = files,
        .notes = files->job.notes,
        .note_count = files->job.note_count,
    };
    const struct dti_check_report *report;
    enum dti_status status = DTI_OK;
    while (cx->output != DTI_OUTPUT_HUMAN && files->next < files->count && status == DTI_OK) {
        files->end = cx->output == DTI_OUTPUT_JSONL ? files->next + 1 : files->count;
        dti_document_check(cx->json, &answer);
        status =
            files->status == DTI_OK ? dti_document_write(cx->json, cx->out, reterr) : files->status;
    }
    while (cx->output == DTI_OUTPUT_HUMAN && (report = next_report(files)) != NULL) {
        if (!cx->quiet)
            files->status = dti_check_human(cx, report, files->count > 1, &files->error);
        if (files->status == DTI_OK)
            files->status = dti_context_turn(cx, &files->error);
    }
    if (files->status != DTI_OK)
        *reterr = files->error;
    return files->status != DTI_OK ? files->status : status;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    if (operand_count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to check; give files, as in 'dtinfo check model.safetensors'");
    struct check_files *const files = calloc(1, sizeof *files);
    if (!files)
        return dti_no_memory(reterr);
    files->paths = operands;
    files->count = files->end = operand_count;
    enum dti_status status = check_init(&files->job, args, cx, reterr);
    if (status == DTI_OK)
        status = check_files(files, reterr);
    /* the lines say what failed */
    const enum dti_status verdict = files->failed       ? DTI_ANSWER_NO
                                    : files->unreadable ? DTI_BAD_INPUT
                                                        : DTI_OK;
    dti_check_report_free(&files->report);
    check_free(&files->job);
    free(files);
    if (status == DTI_OK && verdict == DTI_BAD_INPUT) {
        (void)dti_fail(reterr, verdict, "something is unreadable, and nothing else fails");
        dti_complain(cx, reterr);
    }
    return status == DTI_OK && verdict != DTI_OK ? dti_fail(reterr, verdict, "%s", "") : status;
}

const struct dti_command dti_command_check = {
    .name = "check",
    .group = "files",
    .summary = "check files of tensors against assertions: exit 0 or 1",
    .reads = true,
    .synopsis = "FILE...",
    .details = "FILE is a file of tensors, raw codes with --from, an index or a folder of\n"
               "shards. Each assertion gets a line, ok or FAIL; the exit code is 0 if all hold,\n"
               "1 if one fails, and 3 if nothing fails but something is unreadable. The data\n"
               "is read once, and only if an assertion needs it or the file has checksums, as\n"
               "npz does. A quantized tensor is one tensor, with the dequantized numbers.",
    .examples =
        "dtinfo check model.safetensors\n"
        "dtinfo check model.safetensors --no-nan --no-inf --fits fp16\n"
        "dtinfo check model.safetensors --as bf16 --max-to-zero 0.01 --min-sqnr 40\n"
        "dtinfo check model.safetensors --dtype 'bf16,fp32:*layers*,fp32:*norm*,int64:*ids'\n",
    .schema = "dtinfo.check/1",
    .operands = DTI_OPERANDS_FILES,
    .options = options,
    .args_size = sizeof(struct check_args),
    .run = run,
};
