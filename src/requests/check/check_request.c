/* SPDX-License-Identifier: MIT
 *
 * Assertions from options. */
#include "requests/check/check_request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/number/number.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"
#include "util/text/glob.h"

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
    const enum dti_status status = dti_asker_dtype(job->asker, name, &operand, reterr);
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
    return dti_check_add(job, kind, text, &assertion, reterr);
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
            status = dti_check_add(job, kind, NULL, &assertion, reterr);
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
    if (status != DTI_OK || limit.kind == DTI_CLASS_NAN ||
        (limit.negative && limit.kind != DTI_CLASS_ZERO))
        return refuse("--max-abs takes a nonnegative number", text, strlen(text), reterr);
    status = dti_check_add(job, kind, text, &assertion, reterr);
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
    enum dti_status status = dti_check_add(job, kind, text, &assertion, reterr);
    if (status != DTI_OK)
        return status;
    for (const char *at = text; *at != '\0'; at++)
        most += *at == (dtype ? ',' : ';');
    assertion->items = dti_calloc(most, sizeof *assertion->items);
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

static enum dti_status refuse_digest(const char *piece, size_t length, const char *problem,
                                     struct dti_error *reterr)
{
    return dti_fail_word(reterr, DTI_USAGE, piece, length,
                         "--digest takes sha256:HEX or a list made by sha256sum; %s %s",
                         DTI_QUOTED(piece, length), problem);
}

/* Length of a prefix such as "sha512:" before hexadecimal digits; 0: the text is the name of a
 * list. */
static size_t algorithm(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t length = strspn(text, letters);
    if (length == 0 || text[length] != ':')
        return 0;
    const char *const rest = text + length + 1;
    return rest[strspn(rest, "0123456789abcdefABCDEF")] == '\0' ? length + 1 : 0;
}

/* Fills the digest of the request, or the list of them. */
static enum dti_status read_digest(struct dti_check_request *request, const char *text,
                                   struct dti_error *reterr)
{
    const size_t name = algorithm(text), length = strlen(text + name);
    const bool sha256 = name == DTI_DIGEST_NAME && dti_ascii_equal_start(text, "sha256", 6);
    if (name > 0 && !sha256)
        return refuse_digest(text, name + length, "uses another algorithm", reterr);
    if (name == 0 && dti_digest_parse(text, length, &request->digest))
        return refuse_digest(text, length, "lacks the prefix sha256:", reterr);
    if (name == 0)
        return dti_digest_list_read(&request->list, text, reterr);
    if (length == DTI_DIGEST_DIGITS && dti_digest_parse(text + name, length, &request->digest))
        return DTI_OK;
    char problem[48];
    (void)snprintf(problem, sizeof problem, "has %zu digits, not %d", length,
                   (int)DTI_DIGEST_DIGITS);
    return refuse_digest(text, name + length, problem, reterr);
}

static enum dti_status add_digest(struct check_job *job, enum dti_check_kind kind, const char *text,
                                  struct dti_error *reterr)
{
    const enum dti_status status = add_plain(job, kind, text, reterr);
    return status == DTI_OK ? read_digest(&job->request, text, reterr) : status;
}

/* The nearest fp64 of a number. */
static enum dti_status read_bound(const char *option, const char *text, const char *takes,
                                  double most, bool negative, double *ret, struct dti_error *reterr)
{
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    double bound = 0;
    const enum dti_status status = dti_value_parse(&value, text, strlen(text), reterr);
    if (status == DTI_NO_MEMORY)
        return status;
    if (status == DTI_OK) {
        dti_encode(dti_format_get(DTI_FP64), &value, &nearest, 0, &outcome);
        memcpy(&bound, &outcome.code, sizeof bound);
    }
    if (status != DTI_OK || value.kind == DTI_CLASS_NAN || bound > most || (bound < 0 && !negative))
        return dti_fail_word(reterr, DTI_USAGE, text, strlen(text), "--%s takes %s; got %s", option,
                             takes, DTI_QUOTED(text, strlen(text)));
    *ret = bound;
    return DTI_OK;
}

/* The assertions on what a cast would lose: one for each bound and each dtype of --as. */
static enum dti_status add_losses(struct check_job *job, struct dti_error *reterr)
{
    const struct check_args *const args = job->args;
    const struct {
        enum dti_check_kind kind;
        const char *text, *takes;
        double most;
        bool negative;
    } bounds[] = {
        {DTI_CHECK_MAX_TO_ZERO, args->max_to_zero, "a share from 0 to 1, as in 0.01", 1, false},
        {DTI_CHECK_MAX_ERROR, args->max_error, "a nonnegative number", HUGE_VAL, false},
        {DTI_CHECK_MIN_SQNR, args->min_sqnr, "a number of dB, as in 20", HUGE_VAL, true},
    };
    const struct dti_reading *const reading = &job->request.reading;
    bool any = false;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const char *const name = dti_check_name(bounds[i].kind);
        double bound = 0;
        if (!bounds[i].text)
            continue;
        any = true;
        if (!args->as)
            return dti_fail(reterr, DTI_USAGE,
                            "--%s is about a cast; give the target dtype with --as DTYPE", name);
        enum dti_status status = read_bound(name, bounds[i].text, bounds[i].takes, bounds[i].most,
                                            bounds[i].negative, &bound, reterr);
        if (status != DTI_OK)
            return status;
        for (size_t as = 0; as < reading->as_count; as++) {
            struct dti_check_assertion *assertion = NULL;
            status = dti_check_add(job, bounds[i].kind, bounds[i].text, &assertion, reterr);
            if (status != DTI_OK)
                return status;
            assertion->format = reading->as[as];
            assertion->as = as;
            assertion->bound = bound;
        }
    }
    if (args->as && !any)
        return dti_fail(reterr, DTI_USAGE,
                        "--as is for --max-to-zero, --max-error and --min-sqnr; give one of them");
    return DTI_OK;
}

/* Options that do not go together. */
static enum dti_status refuse_options(const struct check_args *args, struct dti_error *reterr)
{
    if (args->ints && !args->fits && !args->as)
        return dti_fail(reterr, DTI_USAGE,
                        "--ints is for --fits and --as; give one of them, or leave it out");
    if (args->fused && !args->quantized)
        return dti_fail(reterr, DTI_USAGE, "--fused is for --quantized; give it, or leave it out");
    if ((args->quantized || args->loader || args->max_bits) && (args->file.raw || args->file.from))
        return dti_fail(reterr, DTI_USAGE,
                        "--%s looks at quantized tensors, and %s at what is stored; leave one "
                        "of them out",
                        args->quantized ? "quantized"
                        : args->loader  ? "loader"
                                        : "max-bits-per-weight",
                        args->file.raw ? "--raw" : "--from");
    return DTI_OK;
}

enum dti_status dti_check_init(struct check_job *ret, const struct check_args *args,
                               const struct dti_asker *asker, struct dti_error *reterr)
{
    const bool others = args->no_nan || args->no_inf || args->fits || args->dtype ||
                        args->max_abs || args->shape || args->digest || args->as || args->pickle ||
                        args->max_bits || args->loader;
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
        {DTI_CHECK_MAX_BITS, args->max_bits, args->max_bits, dti_check_add_bits},
        {DTI_CHECK_LOADER, args->loader, args->loader, dti_check_add_loaders},
        {DTI_CHECK_QUANTIZED, args->quantized, NULL, add_plain},
        {DTI_CHECK_NO_NAN, args->no_nan, NULL, add_plain},
        {DTI_CHECK_NO_INF, args->no_inf, NULL, add_plain},
        {DTI_CHECK_MAX_ABS, args->max_abs, args->max_abs, add_max_abs},
        {DTI_CHECK_FITS, args->fits, args->fits, add_fits},
    };
    memset(ret, 0, sizeof *ret);
    ret->args = args;
    ret->asker = asker;
    enum dti_status status = refuse_options(args, reterr);
    if (status != DTI_OK)
        return status;
    ret->request.container = &ret->source.logical;
    ret->request.words = asker->words;
    ret->request.only = args->only;
    ret->request.ints = args->ints;
    if (args->fused)
        ret->request.own = &ret->own;
    if (args->fused)
        status = dti_fused_own_read(&ret->own, args->fused, reterr);
    if (status == DTI_OK)
        status = dti_file_reading_init(&ret->request.reading, &args->file, asker, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&ret->source, &args->file, asker, reterr);
    ret->source.logical.lint = args->quantized || args->loader;
    for (size_t i = 0; i < ret->source.note_count; i++)
        ret->notes[ret->note_count++] = ret->source.notes[i];
    for (size_t i = 0; i < sizeof asked / sizeof *asked && status == DTI_OK; i++) {
        if (asked[i].given)
            status = asked[i].add(ret, asked[i].kind, asked[i].text, reterr);
    }
    if (status == DTI_OK)
        status = dti_cast_list_read(&ret->as, args->as, asker, &ret->request.reading, reterr);
    for (size_t i = 0; i < ret->as.note_count; i++)
        ret->notes[ret->note_count++] = ret->as.notes[i];
    return status == DTI_OK ? add_losses(ret, reterr) : status;
}

void dti_check_free(struct check_job *job)
{
    for (size_t i = 0; i < job->request.assertion_count; i++)
        dti_free(job->request.assertions[i].items);
    dti_digest_list_free(&job->request.list);
    dti_free(job->loaders);
}

const struct dti_choice dti_check_forms[] = {
    {"text", DTI_CHECK_FORM_TEXT, "a line for each assertion (the default)"},
    {"json", DTI_CHECK_FORM_JSON, "as --json"},
    {"junit", DTI_CHECK_FORM_JUNIT, "JUnit XML, for what shows the results of tests"},
    {"sarif", DTI_CHECK_FORM_SARIF, "SARIF 2.1.0, for code scanning"},
    {"github", DTI_CHECK_FORM_GITHUB, "annotations of GitHub Actions"},
    {.name = NULL},
};

const struct dti_option dti_check_options[] = {
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
    OPT_TEXT(0, "max-bits-per-weight", struct check_args, max_bits, "X",
             "stored bits of all float tensors, scales included, divided by their numbers"),
    OPT_LIST(0, "loader", struct check_args, loader, "NAME[=RELEASE],...", dti_check_loaders,
             "these programs load the model and read the same numbers"),
    OPT_FLAG(0, "quantized", struct check_args, quantized,
             "valid, and quantized tensors, their parts and config.json fit each other",
             .matters = true),
    DTI_ROW_FUSED(struct check_args, fused, "with --quantized: "),
    OPT_FLAG(0, "no-nan", struct check_args, no_nan, "no element is NaN", .matters = true),
    OPT_FLAG(0, "no-inf", struct check_args, no_inf, "no element is infinite", .matters = true),
    OPT_TEXT(0, "max-abs", struct check_args, max_abs, "X", "no magnitude is greater than X",
             .matters = true),
    OPT_DTYPE(0, "fits", struct check_args, fits, "DTYPE,...",
              "floats can be cast to each of these without overflow", .matters = true),
    OPT_DTYPE(0, "as", struct check_args, as, "DTYPE,...",
              "target dtypes for the following options"),
    OPT_TEXT(0, "max-to-zero", struct check_args, max_to_zero, "SHARE",
             "at most this share of a tensor's nonzero elements becomes 0"),
    OPT_TEXT(0, "max-error", struct check_args, max_error, "X",
             "no element changes by more than X, or becomes inf or nan"),
    OPT_TEXT(0, "min-sqnr", struct check_args, min_sqnr, "DB",
             "the signal-to-quantization-noise ratio of a tensor is at least this"),
    OPT_FLAG(0, "ints", struct check_args, ints, "with --fits or --as: integer tensors too"),
    DTI_ROW_ONLY(struct check_args, only, "check only tensors whose names match"),
    OPT_FILE(0, "policy", struct check_args, policy, "FILE",
             "assertions for files by their names: JSON with the words of these options"),
    OPT_CHOICE(0, "format", struct check_args, format, format_given, "FORM", dti_check_forms,
               "what to print", DTI_MORE(.elsewhere = "the answer is a document")),
    OPT_FILE(0, "baseline", struct check_args, baseline, "FILE",
             "failures in this document of 'check --json' are known, and do not count"),
    DTI_LOGICAL_OPTIONS(struct check_args, file),
    DTI_SOURCE_OPTIONS(struct check_args, file),
    DTI_SCAN_OPTIONS(struct check_args, file),
    OPT_END,
};
