/* SPDX-License-Identifier: MIT
 *
 * The failures of a check, as text and as JSON. */
#include "answers/check/check_answer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/common.h"
#include "answers/rows.h"
#include "answers/tensors.h"
#include "core/code/scalar.h"
#include "util/run/grown.h"

enum dti_status dti_check_fail(struct dti_check_report *report,
                               const struct dti_check_failure *failure, struct dti_error *reterr)
{
    struct dti_check_failure *const larger = dti_grown(report->failures, report->failure_count,
                                                       &report->failure_capacity, sizeof *larger);
    if (!larger)
        return dti_no_memory(reterr);
    report->failures = larger;
    report->failures[report->failure_count++] = *failure;
    return DTI_OK;
}

enum dti_status dti_check_fail_text(struct dti_check_report *report,
                                    const struct dti_check_failure *failure,
                                    struct dti_error *reterr, const char *format, ...)
{
    struct dti_check_failure with = *failure;
    char text[DTI_CHECK_DETAIL];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    with.text = dti_pool_text(&report->texts, text, strlen(text));
    return with.text ? dti_check_fail(report, &with, reterr) : dti_no_memory(reterr);
}

enum dti_check_outcome dti_check_outcome(const struct dti_check_tally *tally)
{
    const size_t counted = tally->failures - tally->known;
    return counted > tally->unreadable ? DTI_CHECK_FAILED
           : counted > 0               ? DTI_CHECK_UNDECIDED
           : tally->known > 0          ? DTI_CHECK_KNOWN
                                       : DTI_CHECK_OK;
}

/* The offending number as a code of the tensor's own dtype. */
static uint64_t code_of(const struct dti_format *format, const struct dti_check_failure *failure)
{
    static const struct dti_policy exact = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome own;
    dti_decode(dti_stats_hub_format(failure->hub), failure->code, &value);
    dti_encode(format, &value, &exact, 0, &own);
    return own.code;
}

const char *dti_check_name(size_t kind)
{
    static const char *const names[] = {
        "valid",       "digest",    "pickle",  "dtype",  "shape",   "max-bits-per-weight",
        "loader",      "quantized", "no-nan",  "no-inf", "max-abs", "fits",
        "max-to-zero", "max-error", "min-sqnr"};
    return kind <= DTI_CHECK_MIN_SQNR ? names[kind] : NULL;
}

/* "12 NaN, first at [3, 4]", "1 infinity at [0]", "2 NaN, which int8 lacks, first at [0]" */
static void put_special(char buffer[DTI_CHECK_DETAIL], const struct dti_check_assertion *assertion,
                        const struct dti_check_failure *failure, const struct dti_tensor *tensor)
{
    const bool one = failure->count == 1, fits = assertion->kind == DTI_CHECK_FITS;
    const char *const what = failure->fault == DTI_CHECK_HAS_NAN ? "NaN"
                             : one                               ? "infinity"
                                                                 : "infinities";
    char place[DTI_SHAPE_SIZE], lacks[DTI_NAME_SIZE + 16] = "";
    if (fits)
        (void)snprintf(lacks, sizeof lacks, ", which %s lacks", assertion->format.name);
    (void)snprintf(buffer, DTI_CHECK_DETAIL, "%llu %s%s%s at %s",
                   (unsigned long long)failure->count, what, lacks,
                   !one   ? ", first"
                   : fits ? ","
                          : "",
                   dti_place_words(place, tensor, failure->index));
}

static void put_extreme(char buffer[DTI_CHECK_DETAIL], const struct dti_check_failure *failure,
                        const struct dti_tensor *tensor)
{
    struct dti_value value;
    char number[DTI_TEXT_SIZE], place[DTI_SHAPE_SIZE];
    const struct dti_format *const hub = dti_stats_hub_format(failure->hub);
    dti_decode(hub, failure->code, &value);
    dti_spell_stored(number, hub, failure->code, &value);
    (void)snprintf(buffer, DTI_CHECK_DETAIL, "%s %s at %s",
                   failure->fault == DTI_CHECK_TOO_HIGH ? "max" : "min", number,
                   dti_place_words(place, tensor, failure->index));
}

/* "75 % of its nonzero elements become 0", "max abs error 0.5 at [3, 4]" */
static void put_loss(char buffer[DTI_CHECK_DETAIL], const struct dti_check_failure *failure,
                     const struct dti_tensor *tensor)
{
    const bool zero = failure->fault == DTI_CHECK_TO_ZERO;
    char figure[DTI_TEXT_SIZE], place[DTI_SHAPE_SIZE];
    dti_figure_words(figure, zero ? 100 * failure->figure : failure->figure, 4);
    if (zero)
        (void)snprintf(buffer, DTI_CHECK_DETAIL, "%s %% of its nonzero elements become 0", figure);
    else if (failure->fault == DTI_CHECK_ERROR)
        (void)snprintf(buffer, DTI_CHECK_DETAIL, "max abs error %s at %s", figure,
                       dti_place_words(place, tensor, failure->index));
    else if (failure->fault == DTI_CHECK_SQNR)
        (void)snprintf(buffer, DTI_CHECK_DETAIL, "SQNR %s dB", figure);
    else
        (void)snprintf(buffer, DTI_CHECK_DETAIL, "%llu number%s inf or nan",
                       (unsigned long long)failure->count,
                       failure->count == 1 ? " becomes" : "s become");
}

/* "is sha256:01ba...", "'model-00002.safetensors' is sha256:01ba..." */
static void put_digest(char buffer[DTI_CHECK_DETAIL], const struct dti_check_report *report,
                       const struct dti_check_failure *failure)
{
    const struct dti_container *const container = report->container;
    const char *const path = dti_digest_file(container, (size_t)failure->index)->path;
    const bool one = dti_digest_count(container) == 1;
    char digest[DTI_DIGEST_TEXT], quoted[DTI_QUOTE_SIZE] = "";
    (void)snprintf(buffer, DTI_CHECK_DETAIL, "%s%sis %s",
                   one ? "" : dti_quote(quoted, path, strlen(path)), one ? "" : " ",
                   dti_digest_spell(digest, &report->digests[failure->index]));
}

/* "imports 'os.system', called once"; "imports a name that the pickle computes, never called" */
static void put_global(char buffer[DTI_CHECK_DETAIL], const struct dti_pickle_import *import)
{
    const char *const text = import->module ? import->module : import->name;
    const size_t module = import->module ? import->module_length + 1 : 0;
    char quoted[DTI_QUOTE_SIZE] = "a name that the pickle computes", calls[40] = "never called";
    if (text)
        dti_quote(quoted, text, module + import->name_length);
    if (import->calls == 1)
        (void)snprintf(calls, sizeof calls, "called once");
    else if (import->calls > 1)
        (void)snprintf(calls, sizeof calls, "called %llu times", (unsigned long long)import->calls);
    (void)snprintf(buffer, DTI_CHECK_DETAIL, "imports %s, %s", quoted, calls);
}

/* The same name however often it is called; of a long one the digest, because it is cut. */
static const char *name_global(char buffer[DTI_QUOTE_SIZE + DTI_DIGEST_TEXT],
                               const struct dti_pickle_import *import)
{
    const char *const text = import->module ? import->module : import->name;
    const size_t length = (import->module ? import->module_length + 1 : 0) + import->name_length;
    struct dti_digest digest;
    if (!text)
        return "a name that the pickle computes";
    dti_quote(buffer, text, length);
    if (length > 40) {
        dti_digest_bytes(text, length, &digest);
        dti_digest_spell(buffer + strlen(buffer), &digest);
    }
    return buffer;
}

/* A tensor whose numbers cannot be read; undefined: its type does not exist in the format. */
static void put_unreadable(char buffer[DTI_CHECK_DETAIL], const struct dti_check_report *report,
                           const struct dti_tensor *tensor, bool undefined)
{
    char words[DTI_REMEDY_WORDS];
    assert(tensor); /* only failures of a tensor are of these kinds */
    if (undefined)
        (void)snprintf(buffer, DTI_CHECK_DETAIL,
                       "%.40s, which %s does not define; write the file "
                       "again with a type that programs read",
                       tensor->stored_as,
                       dti_is_gguf(report->container->kind) ? "ggml" : "the format");
    else if (dti_tensor_refusal(tensor))
        (void)snprintf(buffer, DTI_CHECK_DETAIL, "%.200s",
                       report->request->words(words, tensor->remedy, dti_tensor_refusal(tensor)));
    else
        (void)snprintf(buffer, DTI_CHECK_DETAIL, "%.40s, whose numbers cannot be read",
                       tensor->stored_as);
}

/* A description that is stored as text; NULL: it is made of figures. */
static const char *finished_text(const struct dti_check_report *report,
                                 const struct dti_check_failure *failure)
{
    switch (failure->fault) {
    case DTI_CHECK_INVALID:
        return report->problem;
    case DTI_CHECK_NOT_DONE:
        return "not checked";
    case DTI_CHECK_OTHER_WEIGHTS:
        return report->container->notes[failure->index].text;
    case DTI_CHECK_PICKLES:
        return report->pickles.faults[failure->index - report->pickles.import_count];
    case DTI_CHECK_LINT:
        assert(failure->finding); /* which such a failure is made of */
        return failure->finding->text;
    default:
        return failure->text;
    }
}

static void put_detail(char buffer[DTI_CHECK_DETAIL], const struct dti_check_report *report,
                       const struct dti_check_failure *failure)
{
    const struct dti_check_assertion *const assertion =
        &report->request->assertions[failure->assertion];
    const struct dti_tensor *const tensor =
        failure->tensor == SIZE_MAX ? NULL : &report->container->tensors[failure->tensor];
    char shape[DTI_SHAPE_SIZE], quoted[DTI_QUOTE_SIZE];
    const char *const finished = finished_text(report, failure);
    if (finished)
        (void)snprintf(buffer, DTI_CHECK_DETAIL, "%s", finished);
    switch (failure->fault) {
    case DTI_CHECK_OTHER_DIGEST:
        put_digest(buffer, report, failure);
        break;
    case DTI_CHECK_UNREADABLE:
    case DTI_CHECK_UNDEFINED:
        put_unreadable(buffer, report, tensor, failure->fault == DTI_CHECK_UNDEFINED);
        break;
    case DTI_CHECK_WRONG_DTYPE:
        (void)snprintf(buffer, DTI_CHECK_DETAIL, "is %.40s", dti_tensor_dtype(tensor));
        break;
    case DTI_CHECK_WRONG_SHAPE:
        (void)snprintf(buffer, DTI_CHECK_DETAIL, "is %s", dti_shape_words(shape, tensor));
        break;
    case DTI_CHECK_UNMATCHED: {
        const struct dti_check_item *const item = &assertion->items[failure->index];
        (void)snprintf(buffer, DTI_CHECK_DETAIL, "no tensor name matches %s",
                       dti_quote(quoted, item->glob, item->glob_length));
        break;
    }
    case DTI_CHECK_HAS_NAN:
    case DTI_CHECK_HAS_INF:
        put_special(buffer, assertion, failure, tensor);
        break;
    case DTI_CHECK_TO_ZERO:
    case DTI_CHECK_ERROR:
    case DTI_CHECK_SQNR:
    case DTI_CHECK_LOST:
        put_loss(buffer, failure, tensor);
        break;
    case DTI_CHECK_TOO_HIGH:
    case DTI_CHECK_TOO_LOW:
        put_extreme(buffer, failure, tensor);
        break;
    case DTI_CHECK_GLOBAL:
        put_global(buffer, &report->pickles.imports[failure->index]);
        break;
    default: /* finished_text() */
        break;
    }
}

void dti_check_words(struct dti_check_words *ret, const struct dti_check_report *report,
                     const struct dti_check_failure *failure)
{
    const struct dti_lint_finding *const finding = failure->finding;
    const struct dti_tensor *const tensor =
        failure->tensor == SIZE_MAX ? NULL : &report->container->tensors[failure->tensor];
    ret->failure = failure;
    ret->tensor = finding ? finding->tensor : tensor ? tensor->name : NULL;
    ret->tensor_length = finding ? finding->tensor_length : tensor ? tensor->name_length : 0;
    ret->rule = finding ? &dti_lint_rows[finding->rule] : NULL;
    put_detail(ret->detail, report, failure);
    ret->subject = ret->detail;
    if (failure->fault == DTI_CHECK_GLOBAL)
        ret->subject = name_global(ret->global, &report->pickles.imports[failure->index]);
    else if (failure->fault == DTI_CHECK_BITS ||
             (ret->tensor && failure->fault != DTI_CHECK_UNREADABLE &&
              failure->fault < DTI_CHECK_UNCLEAR))
        ret->subject = NULL;
}

static const char *rule_words(size_t index)
{
    return index < DTI_LINT_RULES ? dti_lint_rows[index].word : NULL;
}

static const char *effect_words(size_t index)
{
    return index < DTI_LINT_OUTCOMES ? dti_lint_outcomes[index] : NULL;
}

bool dti_check_comfyui(struct dti_check_comfyui *ret, const struct dti_check_report *report)
{
    ret->layers = report->container ? dti_logical_comfy(report->container) : NULL;
    if (!ret->layers)
        return false;
    ret->least = dti_comfy_formats[dti_comfy_newest(ret->layers, &ret->known)].release;
    ret->since = ret->known == DTI_COMFY_SINCE ? ret->least : NULL;
    return true;
}

DTI_WORDS(place_words, "comfy_quant", "metadata")
DTI_WORDS(known_words, "release", "none", "unknown")
DTI_WORDS(outcome_words, "ok", "failed", "unreadable", "known")

/* Precomputed values for the rows in check.def. */
struct checked_failure {
    struct dti_check_words words;
    const char *rule, *remedy, *effect; /* or NULL */
    bool counted, figured;
    struct dti_place at;
    const struct dti_format *format; /* of the offending number, or NULL */
    uint64_t code;
};
struct checked_assertion {
    const struct dti_check_report *report;
    const struct dti_check_assertion *of;
    const struct dti_check_tally *tally;
    const struct dti_check_failure *failures;
    const struct dti_format *as; /* or NULL */
};
struct checked_note {
    const char *code, *text;
};
struct comfyui_format {
    const struct dti_comfy_format *row;
    const char *place, *since; /* or NULL */
    size_t layers;
};
struct checked_file {
    const struct dti_check_report *report;
    const struct dti_check_comfyui *comfyui; /* or NULL */
    struct dti_check_comfyui room;
    bool known; /* kind is valid */
    enum dti_container_kind kind;
    const struct dti_pickle_scan *pickles; /* or NULL */
    const struct dti_fused_tally *fused;   /* likewise */
};
struct check {
    const struct dti_check_answer *of;
    struct check_walk {
        const struct dti_check_answer *of;
        bool ok; /* no file has failed so far */
    } * walk, room;
};

static void fill_failure(struct checked_failure *ret, const struct dti_check_report *report,
                         const struct dti_check_failure *failure)
{
    const enum dti_check_fault fault = failure->fault;
    const struct dti_tensor *const tensor =
        failure->tensor == SIZE_MAX ? NULL : &report->container->tensors[failure->tensor];
    memset(ret, 0, sizeof *ret);
    dti_check_words(&ret->words, report, failure);
    if (ret->words.rule) {
        ret->rule = ret->words.rule->word;
        ret->remedy = ret->words.rule->remedy;
        ret->effect = dti_lint_outcomes[dti_lint_worst(failure->finding->rule)];
    }
    if (report->request->assertions[failure->assertion].kind == DTI_CHECK_LOADER &&
        (fault == DTI_CHECK_LOADS || fault == DTI_CHECK_UNCLEAR))
        ret->effect = dti_lint_outcomes[failure->effect];
    ret->counted =
        fault == DTI_CHECK_HAS_NAN || fault == DTI_CHECK_HAS_INF || fault == DTI_CHECK_LOST;
    ret->figured =
        (fault >= DTI_CHECK_TO_ZERO && fault <= DTI_CHECK_SQNR) || fault == DTI_CHECK_BITS;
    if (tensor && fault < DTI_CHECK_BITS)
        ret->at = dti_place_of(tensor, failure->index);
    if (fault == DTI_CHECK_TOO_HIGH || fault == DTI_CHECK_TOO_LOW) {
        ret->format = dti_real_format(tensor->format);
        ret->code = code_of(ret->format, failure);
    }
}

static void fill_file(struct checked_file *ret, const struct dti_check_report *report)
{
    const struct dti_container *const container = report->container;
    ret->report = report;
    ret->kind = container ? container->kind : report->pickles.kind;
    ret->known = container || (report->scanned && dti_container_is_known(ret->kind));
    ret->pickles = report->scanned ? &report->pickles : NULL;
    ret->fused = report->lint && report->linted ? dti_lint_tally(report->lint) : NULL;
    ret->comfyui = dti_check_comfyui(&ret->room, report) ? &ret->room : NULL;
}

static void fill_check(struct check *ret, const struct dti_check_answer *answer)
{
    ret->of = answer;
    ret->room = (struct check_walk){answer, true};
    ret->walk = &ret->room;
}

static void put_failures(struct dti_json *json, const struct checked_assertion *assertion);
static void put_assertions(struct dti_json *json, const struct dti_check_report *report);
static void put_formats(struct dti_json *json, const struct dti_check_comfyui *comfyui);
static void put_notes(struct dti_json *json, const struct dti_check_report *report);
static void put_files(struct dti_json *json, struct check_walk *walk);
static void put_warnings(struct dti_json *json, const struct dti_check_answer *answer);

#define DTI_ROWS "answers/check/check.def"
#include "answers/rows.h"

static void put_failures(struct dti_json *json, const struct checked_assertion *assertion)
{
    for (size_t i = 0; i < assertion->tally->failures; i++) {
        struct checked_failure failure;
        fill_failure(&failure, assertion->report, &assertion->failures[i]);
        dti_put_check_failure(json, NULL, &failure);
    }
}

static void put_assertions(struct dti_json *json, const struct dti_check_report *report)
{
    const struct dti_check_failure *failure = report->failures;
    for (size_t i = 0; i < report->request->assertion_count; i++) {
        const struct dti_check_assertion *const of = &report->request->assertions[i];
        const struct dti_check_tally *const tally = &report->tally[i];
        const struct checked_assertion assertion = {.report = report,
                                                    .of = of,
                                                    .tally = tally,
                                                    .failures = failure,
                                                    .as = of->kind > DTI_CHECK_FITS ? &of->format
                                                                                    : NULL};
        dti_put_check_assertion(json, NULL, &assertion);
        if (tally->failures > 0) /* failures is NULL if there are none */
            failure += tally->failures;
    }
}

static void put_formats(struct dti_json *json, const struct dti_check_comfyui *comfyui)
{
    for (size_t i = 0; i < DTI_COMFY_FORMATS; i++) {
        const struct dti_comfy_format *const row = &dti_comfy_formats[i];
        const bool placed = row->place == DTI_COMFY_OWN || row->place == DTI_COMFY_ENTRY;
        const struct comfyui_format format = {
            .row = row,
            .place = placed ? place_words(row->place == DTI_COMFY_ENTRY) : NULL,
            .since = row->known == DTI_COMFY_SINCE ? row->release : NULL,
            .layers = comfyui->layers[i]};
        if (format.layers > 0)
            dti_put_check_comfyui_format(json, NULL, &format);
    }
}

static void put_notes(struct dti_json *json, const struct dti_check_report *report)
{
    const struct dti_container *const container = report->container;
    for (size_t i = 0; container && i < container->note_count; i++) {
        const struct dti_note *const note = &container->notes[i];
        char words[DTI_REMEDY_WORDS];
        const char *const text = report->request->words(words, note->remedy, note->text);
        dti_put_check_note(json, NULL, &(struct checked_note){note->code, text});
    }
}

static void put_files(struct dti_json *json, struct check_walk *walk)
{
    const struct dti_check_report *report;
    while ((report = walk->of->next(walk->of->context)) != NULL) {
        dti_put_checked_file(json, NULL, report);
        walk->ok = walk->ok && dti_check_holds(&report->all);
    }
}

static void put_warnings(struct dti_json *json, const struct dti_check_answer *answer)
{
    struct dti_warning_answer warning = {.code = NULL};
    for (size_t i = 0;
         (warning.message = answer->warning(answer->context, i, &warning.code)) != NULL; i++)
        dti_put_warning(json, NULL, &warning);
}
