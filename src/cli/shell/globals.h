/* SPDX-License-Identifier: MIT
 *
 * The options of every command, and the context they determine. */
#ifndef CLI_SHELL_GLOBALS_H
#define CLI_SHELL_GLOBALS_H

#include "cli/shell/command.h"

enum dti_colour { DTI_COLOUR_AUTO, DTI_COLOUR_ALWAYS, DTI_COLOUR_NEVER };

struct dti_globals {
    bool json, jsonl, ascii, quiet, verbose, help, version, wide, width_given;
    int colour;
    int sandbox; /* enum dti_sandbox_when */
    uint64_t width;
    const char *columns;
};

/* The context for a command line that has not been parsed yet: the output form is guessed from the
 * raw words, so that an error in the first option is already reported in the requested form.
 */
void dti_command_context_init(struct dti_command_context *cx, char **argv, int count, FILE *out,
                              FILE *err);

/* Colour according to the options parsed so far; also applies to an error that ends the parsing. */
void dti_command_context_colour(struct dti_command_context *cx, const struct dti_globals *globals);

/* Completes the context once the options are known. */
enum dti_status dti_command_context_settle(struct dti_command_context *cx,
                                           const struct dti_globals *globals,
                                           struct dti_error *reterr);

/* Whether to use colour: decided by --color, then NO_COLOR, then CLICOLOR_FORCE and FORCE_COLOR,
 * then the terminal. */
bool dti_colour_wanted(enum dti_colour when, bool is_terminal);

/* Whether output may contain more than ASCII: decided by the first of LC_ALL, LC_CTYPE and LANG
 * that is set, because the program does not call setlocale(). */
bool dti_locale_is_utf8(void);

#endif
