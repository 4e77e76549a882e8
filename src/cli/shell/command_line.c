/* SPDX-License-Identifier: MIT
 *
 * Runs a command line, from its words to its exit code: finds the command, parses its options, runs
 * it, reports its error, closes its output. This is the only place where an error becomes a line on
 * stderr and an exit code. Separate from main() so that fuzz targets can run it. */
#include <stdlib.h>
#include <string.h>

#include "cli/shell/addresses.h"
#include "cli/shell/confine.h"
#include "cli/shell/environment.h"
#include "cli/shell/globals.h"
#include "cli/shell/page.h"
#include "cli/shell/standard.h"
#include "core/dtype/dtype.h"
#include "io/input.h"
#include "io/window.h"
#include "util/run/allocate.h"
#include "util/run/process_environment.h"
#include "util/text/nearest.h"

/* POSIX leaves the declaration to the program. */
extern char **environ;

/* The words before the command: global options and their values. */
static int leading_options(char **words, int count)
{
    int i = 0;
    while (i < count && dti_is_option_word(words[i])) {
        const struct dti_option *option;
        i += dti_option_awaits_value(NULL, dti_global_options, words[i], &option) ? 2 : 1;
    }
    return i < count ? i : count;
}

/* The work after the options are known. */
static enum dti_status answer(const struct dti_command *command, void *args,
                              const struct dti_globals *globals, enum dti_help help, char **words,
                              int operand_count, struct dti_command_context *cx,
                              struct dti_error *reterr)
{
    if (help != DTI_HELP_NONE) {
        (help == DTI_HELP_SHORT ? dti_help_short : dti_help_command)(command, cx->out, cx->colour,
                                                                     cx->width);
        return DTI_OK;
    }
    if (globals->version)
        return dti_version_print(cx, reterr);
    enum dti_status status = dti_environment_check(environ, reterr);
    if (status != DTI_OK) {
        cx->command = NULL; /* the answer is the same for every command */
        return status;
    }
    if (command->operands == DTI_OPERANDS_NONE && operand_count > 0) {
        const size_t length = strlen(words[0]);
        struct dti_format format;
        const bool device = dti_option_find_long(command->options, "device", 6) != NULL;
        const bool dtype = dti_format_lookup(words[0], &format, NULL, NULL) == DTI_OK;
        return dti_fail_word(reterr, DTI_USAGE, words[0], length,
                             dtype    ? "takes no operands; for %s use 'dtinfo info %s'"
                             : device ? "takes no operands; for %s use --device %.32s"
                                      : "takes no operands; %s is one",
                             DTI_QUOTED(words[0], length),
                             dtype ? format.name : DTI_QUOTED(words[0], length));
    }
    status = dti_confine(command, args, globals->sandbox, words, operand_count, reterr);
    return status == DTI_OK ? command->run(args, words, operand_count, cx, reterr) : status;
}

/* asked: --help was given before the command. */
static enum dti_status run_command(const struct dti_command *command, void *args,
                                   struct dti_globals *globals, enum dti_help asked, char **words,
                                   int count, struct dti_command_context *cx,
                                   struct dti_error *reterr)
{
    int operand_count = count;
    enum dti_help help = DTI_HELP_NONE;
    enum dti_status status = DTI_OK;
    if (command->operands != DTI_OPERANDS_WORDS)
        status = dti_options_parse(command->options, args, dti_global_options, globals, words,
                                   count, &operand_count, &help, reterr);
    if (status != DTI_OK) {
        dti_command_context_colour(cx, globals);
        return status;
    }
    status = dti_command_context_settle(cx, globals, reterr);
    if (status != DTI_OK)
        return status;
    if (command->verbatim)
        cx->limit = 0;
    struct dti_page page;
    status = dti_page_open(&page, cx, globals->columns, reterr);
    if (status == DTI_OK)
        status = answer(command, args, globals, help != DTI_HELP_NONE ? help : asked, words,
                        operand_count, cx, reterr);
    return dti_page_end(&page, cx, status, reterr);
}

static bool has_json(struct dti_command_context *cx, struct dti_error *reterr)
{
    if (!cx->json)
        cx->json = dti_json_new();
    if (!cx->json)
        (void)dti_no_memory(reterr);
    return cx->json != NULL;
}

/* No command: help and version are still answers, anything else is an error. */
static enum dti_status run_without_command(const struct dti_globals *globals,
                                           struct dti_command_context *cx, struct dti_error *reterr)
{
    const enum dti_status status = dti_command_context_settle(cx, globals, reterr);
    if (status != DTI_OK)
        return status;
    if (globals->help) {
        dti_help_overview(cx->out, cx->colour, cx->width);
        return DTI_OK;
    }
    if (globals->version)
        return has_json(cx, reterr) ? dti_version_print(cx, reterr) : DTI_NO_MEMORY;
    dti_help_overview(cx->err, cx->colour_error, cx->width);
    return dti_fail(reterr, DTI_USAGE, "missing command");
}

static enum dti_status run_words(char **words, int count, struct dti_command_context *cx,
                                 struct dti_error *reterr)
{
    struct dti_globals globals = {0};
    const int leading = leading_options(words, count);
    int unused;
    enum dti_help help;
    enum dti_status status = dti_options_parse(NULL, NULL, dti_global_options, &globals, words,
                                               leading, &unused, &help, reterr);
    if (status != DTI_OK)
        return status;
    if (leading == count)
        return run_without_command(&globals, cx, reterr);

    const struct dti_command *command;
    status = dti_command_lookup(words[leading], &command, reterr);
    if (status != DTI_OK)
        return status;
    cx->command = command->name;
    void *const args = dti_calloc(1, command->args_size > 0 ? command->args_size : 1);
    if (!args || !has_json(cx, reterr)) {
        dti_free(args);
        return dti_no_memory(reterr);
    }
    status = run_command(command, args, &globals, help, words + leading + 1, count - leading - 1,
                         cx, reterr);
    dti_free(args);
    return status;
}

/* The text is empty if the command has already reported the error, or if its answer shows that it
 * is "no". */
static void report(struct dti_command_context *cx, const struct dti_error *error)
{
    if (error->text[0] == '\0')
        return;
    dti_complain(cx, error);
    if (cx->output == DTI_OUTPUT_HUMAN)
        return;
    if (has_json(cx, NULL)) {
        dti_error_document(cx->json, error, 0);
        (void)dti_document_write(cx->json, cx->out, NULL);
    }
}

int dti_command_line(char **words, int count, FILE *out, FILE *err)
{
    struct dti_command_context cx;
    struct dti_error error = {.status = DTI_OK}, changed;
    dti_environment_use(true);
    dti_window_allow(true);
    dti_command_context_init(&cx, words, count, out, err);

    enum dti_status status = DTI_OK;
    for (int i = 0; i < count && status == DTI_OK; i++)
        status = dti_addresses_take_query(words[i], &error);
    if (status == DTI_OK)
        status = run_words(words, count, &cx, &error);
    if ((status == DTI_OK || status == DTI_ANSWER_NO) && dti_inputs_unchanged(&changed) != DTI_OK) {
        status = changed.status; /* the answer is already written, but unreliable */
        error.text[0] = '\0';
        dti_complain(&cx, &changed);
    }
    dti_inputs_forget();
    /* a failed write is detected again, with its cause, when out is closed */
    if (status != DTI_OK && !(status == DTI_WRITE_FAILED && ferror(out)))
        report(&cx, &error);
    dti_json_free(cx.json);

    struct dti_error lost;
    const enum dti_status closed = dti_standard_close(out, &lost);
    if (closed != DTI_OK && lost.text[0] != '\0') {
        cx.command = NULL;
        dti_complain(&cx, &lost);
    }
    /* the first error is the answer, written or not */
    return dti_status_exit(status == DTI_OK || status == DTI_ANSWER_NO
                               ? (closed != DTI_OK ? closed : status)
                               : status);
}
