/* SPDX-License-Identifier: MIT
 *
 * dtinfo check: assertions on files, for scripts. For people: a line for each assertion, and below
 * it what did not fit on that line, such as what the pickles of a file would import and call. */
#include <string.h>

#include "answers/check/check_answer.h"
#include "answers/tensors.h"
#include "cli/check/check_forms.h"
#include "cli/shared/file_bar.h"
#include "cli/shared/tensor_cells.h"
#include "cli/shell/command.h"
#include "report/table.h"
#include "util/run/allocate.h"

/* "pytorch, 1 pickle, 4 known globals" */
static void pickles_cell(struct dti_table *table, const struct dti_pickle_scan *scan)
{
    const char *const end = scan->pickle_count == 1 ? "" : "s";
    dti_text_cell(table, "");
    if (dti_container_is_known(scan->kind))
        dti_table_more(table, "%s, ", dti_container_name(scan->kind));
    if (scan->file_count > 1)
        dti_table_more(table, "%zu files, ", scan->file_count);
    dti_table_more(table, "%zu pickle%s", scan->pickle_count, end);
    if (scan->pickle_count > 0)
        dti_table_more(table, ", %zu known global%s", scan->import_count,
                       scan->import_count == 1 ? "" : "s");
}

/* "  opcodes  REDUCE 2, GLOBAL 3" */
static void put_opcodes(const struct dti_command_context *cx, const struct dti_pickle_scan *scan)
{
    struct dti_line line = dti_command_context_line(cx);
    if (scan->run_count == 0)
        return;
    dti_line_text(&line, "  opcodes that import or call: ");
    for (size_t i = 0; i < scan->run_count; i++)
        dti_line_print(&line, DTI_STYLE_PLAIN, "%s%s %llu", i > 0 ? ", " : "", scan->runs[i].name,
                       (unsigned long long)scan->runs[i].count);
    dti_line_end(&line);
}

/* The globals as a table. */
static enum dti_status put_pickles(const struct dti_command_context *cx,
                                   const struct dti_pickle_scan *scan, struct dti_error *reterr)
{
    if (scan->import_count == 0)
        return DTI_OK;
    struct dti_table *const table = dti_table_titled("global|imported>|called>|", "9788");
    for (size_t i = 0; i < scan->import_count; i++) {
        const struct dti_pickle_import *const import = &scan->imports[i];
        const char *const text = import->module ? import->module : import->name;
        const size_t module = import->module ? import->module_length + 1 : 0;
        dti_text_cell(table, text ? "" : "(computed)");
        if (text)
            dti_table_safe(table, text, module + import->name_length);
        dti_number_cell(table, import->imports);
        dti_number_cell(table, import->calls);
        dti_table_cell(table, import->known ? DTI_STYLE_PLAIN : DTI_STYLE_BAD,
                       import->known ? "" : "unknown");
    }
    const enum dti_status status = dti_put_table(cx, table, 2, reterr);
    if (status == DTI_OK)
        put_opcodes(cx, scan);
    return status;
}

/* "FAIL  fits fp16"; the argument is the user's own, but is escaped too. */
static void put_label(struct dti_table *table, const struct dti_check_report *report, size_t at)
{
    const struct dti_check_assertion *const assertion = &report->request->assertions[at];
    static const struct {
        enum dti_style style;
        const char *word;
    } outcomes[] = {[DTI_CHECK_OK] = {DTI_STYLE_GOOD, "ok"},
                    [DTI_CHECK_FAILED] = {DTI_STYLE_BAD, "FAIL"},
                    [DTI_CHECK_UNDECIDED] = {DTI_STYLE_BAD, "unreadable"},
                    [DTI_CHECK_KNOWN] = {DTI_STYLE_WARN, "known"}};
    const enum dti_check_outcome outcome = dti_check_outcome(&report->tally[at]);
    dti_table_cell(table, outcomes[outcome].style, outcomes[outcome].word);
    dti_text_cell(table, assertion->kind == DTI_CHECK_FITS ? "no overflow in"
                                                           : dti_check_name(assertion->kind));
    if (assertion->argument) {
        dti_table_more(table, " ");
        dti_table_safe(table, assertion->argument, strlen(assertion->argument));
    }
    if (assertion->kind > DTI_CHECK_FITS)
        dti_table_more(table, " as %s", assertion->format.name);
}

static void put_held(struct dti_table *table, const struct dti_check_report *report, size_t at)
{
    const struct dti_container *const container = report->container;
    const enum dti_check_kind kind = report->request->assertions[at].kind;
    if (kind == DTI_CHECK_PICKLE) {
        pickles_cell(table, &report->pickles);
        return;
    }
    char figure[DTI_TEXT_SIZE];
    const bool digest = kind == DTI_CHECK_DIGEST;
    const size_t held = digest ? dti_digest_count(container) : report->tally[at].tensors;
    dti_text_cell(table, "");
    if (kind == DTI_CHECK_VALID)
        dti_table_more(table, "%s, ", dti_container_name(container->kind));
    if (kind == DTI_CHECK_VALID && container->file_count > 1)
        dti_table_more(table, "%zu files, ", container->file_count);
    dti_table_more(table, "%zu %s%s", held, digest ? "file" : "tensor", held == 1 ? "" : "s");
    if (report->tally[at].figured)
        dti_table_more(table, ", %s bits a weight",
                       dti_figure_words(figure, report->tally[at].figure, 7));
    if (report->tally[at].since)
        dti_table_more(table, ", known of %s and newer", report->tally[at].since);
}

/* "model.norm.weight: max 70144 at [12]"; false: memory ran out. */
static bool put_failure(struct dti_table *table, const struct dti_check_report *report,
                        const struct dti_check_failure *failure, size_t more)
{
    struct dti_buffer sentence;
    dti_buffer_init(&sentence);
    dti_check_put_sentence(&sentence, report, failure);
    dti_text_cell(table, "");
    dti_table_safe(table, sentence.data, sentence.length);
    if (more > 0)
        dti_table_more(table, "   (and %zu more; -v lists them)", more);
    const bool whole = !sentence.failed;
    dti_buffer_free(&sentence);
    return whole;
}

/* Failures that share a line: those of one assertion, for lint those of one rule; of what a loader
 * does with a layout each has its own. */
static size_t count_alike(const struct dti_check_report *report,
                          const struct dti_check_failure *failure, size_t most)
{
    size_t count = 1;
    const bool loader = report->request->assertions[failure->assertion].kind == DTI_CHECK_LOADER &&
                        failure->fault >= DTI_CHECK_UNCLEAR && !failure->finding;
    while (count < most && !loader && failure->fault != DTI_CHECK_OTHER_WEIGHTS &&
           failure->known == failure[count].known &&
           (failure->fault != DTI_CHECK_GLOBAL || failure[count].fault == DTI_CHECK_GLOBAL) &&
           !failure->finding == !failure[count].finding &&
           (!failure->finding || failure[count].finding->rule == failure->finding->rule))
        count++;
    return count;
}

/* False: memory ran out. */
static bool put_assertions(struct dti_table *table, const struct dti_check_report *report,
                           bool verbose)
{
    const struct dti_check_failure *failure = report->failures;
    bool whole = true;
    for (size_t at = 0; at < report->request->assertion_count; at++) {
        const size_t failures = report->tally[at].failures;
        put_label(table, report, at);
        if (failures == 0)
            put_held(table, report, at);
        for (size_t i = 0; i < failures; i++) {
            const size_t alike = count_alike(report, failure + i, failures - i);
            if (i > 0) {
                const bool known = failure[i].known && !dti_check_holds(&report->tally[at]);
                dti_table_cell(table, DTI_STYLE_WARN, known ? "known" : "");
                dti_text_cell(table, "");
            }
            whole = put_failure(table, report, failure + i, verbose ? 0 : alike - 1) && whole;
            i += verbose ? 0 : alike - 1;
        }
        if (failures > 0) /* failure may be NULL if there are none */
            failure += failures;
    }
    return whole;
}

/* "ComfyUI: 0.27.0 or newer; int8_tensorwise since 0.27.0 (2 layers)" */
static void put_comfyui(const struct dti_command_context *cx, const struct dti_check_report *report)
{
    static const char *const unknown[] = {
        [DTI_COMFY_NONE] = "in no release", [DTI_COMFY_UNKNOWN] = "not known since when"};
    struct dti_check_comfyui comfyui;
    struct dti_line line = dti_command_context_line(cx);
    if (report->request->assertions[0].kind != DTI_CHECK_VALID ||
        !dti_check_comfyui(&comfyui, report))
        return;
    dti_line_text(&line, "ComfyUI: ");
    if (comfyui.known == DTI_COMFY_NONE)
        dti_line_print(&line, DTI_STYLE_WARN, "no release loads it");
    else if (!comfyui.since && comfyui.least[0] == '\0')
        dti_line_text(&line, "not known which releases load it");
    else
        dti_line_print(&line, DTI_STYLE_PLAIN, comfyui.since ? "%s or newer" : "at least %s",
                       comfyui.least);
    const char *before = "; ";
    for (size_t i = 0; i < DTI_COMFY_FORMATS; i++) {
        const struct dti_comfy_format *const row = &dti_comfy_formats[i];
        const size_t layers = comfyui.layers[i];
        if (layers == 0)
            continue;
        dti_line_print(&line, DTI_STYLE_PLAIN, "%s%s %s%s (%zu layer%s)", before, row->name,
                       row->known == DTI_COMFY_SINCE ? "since " : "",
                       row->known == DTI_COMFY_SINCE ? row->release : unknown[row->known], layers,
                       layers == 1 ? "" : "s");
        before = ", ";
    }
    dti_line_end(&line);
}

/* Unusual properties of a valid file; and the quantized tensors that are checked as stored, unless
 * that is the failure. */
static void put_notes(const struct dti_command_context *cx, const struct dti_check_report *report)
{
    const struct dti_container *const container = report->container;
    struct dti_line line = dti_command_context_line(cx);
    const bool asked = report->request->assertions[0].kind == DTI_CHECK_VALID;
    size_t logical = 0;
    if (container)
        (void)dti_logical_notes(container, &logical);
    const size_t stored = container ? container->note_count - logical : 0;
    const size_t end = report->linted ? stored : stored + logical;
    const struct dti_note *const hub = container ? dti_container_hub_note(container) : NULL;
    if (hub && !asked)
        dti_line_print(&line, DTI_STYLE_WARN, "note: %s\n", hub->text);
    for (size_t i = asked ? 0 : stored; i < end; i++) {
        const struct dti_note *const note = &container->notes[i];
        char words[DTI_REMEDY_WORDS];
        if (asked && dti_check_is_invalid_note(note))
            continue;
        dti_line_put(&line, DTI_STYLE_WARN, "note: ");
        dti_line_print(&line, DTI_STYLE_WARN, "%s\n", dti_note_words(words, note));
    }
}

/* "note: fused modules: tensor scales differ in 8563 of 12384 matrices, up to 10 times; 'dtinfo
 * transcode
 * --reconcile' gives each its largest"; if none differ, with -v alone. */
static void put_fused(const struct dti_command_context *cx, const struct dti_check_report *report)
{
    const struct dti_fused_tally *const tally =
        report->linted && report->lint ? dti_lint_tally(report->lint) : NULL;
    struct dti_line line = dti_command_context_line(cx);
    char text[DTI_TEXT_SIZE];
    if (!tally || tally->matrices == 0 || (tally->differing == 0 && !cx->verbose))
        return;
    const char *const matrices = tally->matrices == 1 ? "matrix" : "matrices";
    if (tally->differing == 0)
        dti_line_print(&line, DTI_STYLE_DIM,
                       "note: fused modules: %llu %s, each with one tensor scale",
                       (unsigned long long)tally->matrices, matrices);
    else
        dti_line_print(&line, DTI_STYLE_WARN,
                       "note: fused modules: tensor scales differ in %llu of %llu %s, up to %s "
                       "times; 'dtinfo transcode --reconcile' gives each its largest",
                       (unsigned long long)tally->differing, (unsigned long long)tally->matrices,
                       matrices, dti_figure_words(text, tally->worst, 3));
    dti_line_end(&line);
}

/* One file. named: its name is printed first. */
static enum dti_status show(const struct dti_command_context *cx,
                            const struct dti_check_report *report, bool named,
                            struct dti_error *reterr)
{
    struct dti_line line = dti_command_context_line(cx);
    if (named && !dti_line_safe(&line, DTI_STYLE_BOLD, report->path, strlen(report->path)))
        return dti_no_memory(reterr);
    if (named && report->request->policy_rule > 0)
        dti_line_print(&line, DTI_STYLE_DIM, ", rule %zu", report->request->policy_rule);
    if (named)
        dti_line_end(&line);
    struct dti_table *const table = dti_table_new(3);
    const bool whole = put_assertions(table, report, cx->verbose);
    enum dti_status status = dti_put_table(cx, table, 0, reterr);
    if (status == DTI_OK && !whole)
        status = dti_no_memory(reterr);
    if (status == DTI_OK && report->scanned)
        status = put_pickles(cx, &report->pickles, reterr);
    put_comfyui(cx, report);
    put_notes(cx, report);
    put_fused(cx, report);
    return status;
}

static enum dti_status check_files(struct check_files *files, struct dti_command_context *cx,
                                   struct dti_error *reterr)
{
    const struct dti_check_answer answer = dti_check_answer_of(files);
    const struct dti_check_report *report;
    enum dti_status status = DTI_OK;
    while (cx->output != DTI_OUTPUT_HUMAN && files->next < files->count && status == DTI_OK) {
        files->end = cx->output == DTI_OUTPUT_JSONL ? files->next + 1 : files->count;
        dti_document_check(cx->json, &answer);
        status =
            files->status == DTI_OK ? dti_document_write(cx->json, cx->out, reterr) : files->status;
    }
    while (cx->output == DTI_OUTPUT_HUMAN && (report = dti_check_next(files)) != NULL) {
        if (!cx->quiet)
            files->status =
                show(cx, report, files->count > 1 || files->args->policy, &files->error);
        if (files->status == DTI_OK)
            files->status = dti_command_context_turn(cx, &files->error);
    }
    if (files->status != DTI_OK)
        *reterr = files->error;
    return files->status != DTI_OK ? files->status : status;
}

/* "no longer found: 3 known failures; the first is model.safetensors: no-nan: w" */
static void put_gone(struct check_files *files, const struct dti_command_context *cx)
{
    size_t count = 0;
    while (dti_check_gone(files, count))
        count++;
    const char *const first = dti_check_gone(files, 0);
    if (!first)
        return;
    dti_warn(cx, "%zu known failure%s no longer found; remove %s from the baseline: %s%s", count,
             count == 1 ? " is" : "s are", count == 1 ? "it" : "them", first,
             count == 1    ? ""
             : cx->verbose ? " ..."
                           : " ... (-v lists them)");
    for (size_t i = 1; i < count && cx->verbose; i++)
        dti_warn(cx, "no longer found: %s", dti_check_gone(files, i));
}

/* The form that the options ask for: --format, --json or --jsonl. */
static enum dti_status settle_form(const struct check_args *args, struct dti_command_context *cx,
                                   struct dti_error *reterr)
{
    const char *const form = dti_choice_name(dti_check_forms, args->format);
    const bool json = args->format == DTI_CHECK_FORM_JSON;
    if (!args->format_given)
        return DTI_OK;
    if (cx->output != DTI_OUTPUT_HUMAN && !(json && cx->output == DTI_OUTPUT_JSON))
        return dti_fail(reterr, DTI_USAGE, "--format %s and --%s exclude each other; give one",
                        form, cx->output == DTI_OUTPUT_JSON ? "json" : "jsonl");
    if (args->format != DTI_CHECK_FORM_TEXT && cx->picks)
        return dti_fail(reterr, DTI_USAGE, "--columns is for tables; leave it out with --format %s",
                        form);
    if (json) {
        cx->output = DTI_OUTPUT_JSON;
        cx->asker.document = true;
        cx->out = cx->raw;
    }
    return DTI_OK;
}

static enum dti_status run_check(const void *args, char **operands, int operand_count,
                                 struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct check_args *const asked = args;
    struct dti_file_bar bar;
    enum dti_status status = settle_form(asked, cx, reterr);
    if (status != DTI_OK)
        return status;
    if (operand_count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to check; give files, as in 'dtinfo check model.safetensors'");
    struct check_files *const files = dti_calloc(1, sizeof *files);
    if (!files)
        return dti_no_memory(reterr);
    status = dti_check_files_init(files, asked, (const char *const *)operands, operand_count,
                                  &cx->asker, reterr);
    for (size_t i = 0; i < files->job_count; i++)
        dti_file_bar_attach(&bar, &files->jobs[i].request.reading, &asked->file, cx);
    if (status == DTI_OK)
        status = asked->format > DTI_CHECK_FORM_JSON ? dti_check_forms_write(files, cx, reterr)
                                                     : check_files(files, cx, reterr);
    if (status == DTI_OK && cx->output == DTI_OUTPUT_HUMAN)
        put_gone(files, cx);
    if (status == DTI_OK)
        status = dti_check_verdict(files, reterr);
    const bool unreadable =
        status == DTI_BAD_INPUT && files->unreadable && !files->failed && files->status == DTI_OK;
    dti_check_files_free(files);
    dti_free(files);
    /* the printed lines show what failed */
    if (unreadable)
        dti_complain(cx, reterr);
    return unreadable ? dti_fail(reterr, DTI_BAD_INPUT, "%s", "") : status;
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
    .options = dti_check_options,
    .args_size = sizeof(struct check_args),
    .run = run_check,
};
