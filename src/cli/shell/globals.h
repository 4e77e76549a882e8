/* SPDX-License-Identifier: MIT
 *
 * The options that every command has, and what they make of a command's context. */
#ifndef DTINFO_CLI_GLOBALS_H
#define DTINFO_CLI_GLOBALS_H

#include "cli/shell/command.h"

enum dti_colour { DTI_COLOUR_AUTO, DTI_COLOUR_ALWAYS, DTI_COLOUR_NEVER };

struct dti_globals {
    bool json, jsonl, ascii, quiet, verbose, help, version, wide, width_given;
    int colour;
    uint64_t width;
    const char *columns;
};

/* The context for a command that has not been parsed yet: the output form as far as the bare words
 * tell, so that an error in the very first option is still reported in the form that was asked for.
 */
void dti_context_init(struct dti_context *cx, char **argv, int count, FILE *out, FILE *err);

/* Colour as far as the options read so far tell: also for the error that ends their reading. */
void dti_context_colour(struct dti_context *cx, const struct dti_globals *globals);

/* Settles the context once the options are known. */
enum dti_status dti_context_settle(struct dti_context *cx, const struct dti_globals *globals,
                                   struct dti_error *reterr);

/* Whether to colour: --color, then NO_COLOR, then CLICOLOR_FORCE and FORCE_COLOR, then the
 * terminal. */
bool dti_colour_wanted(enum dti_colour when, bool is_terminal);

/* Whether output may hold more than ASCII: what LC_ALL, LC_CTYPE or LANG says, the first that is
 * set, for there is no setlocale() here. */
bool dti_locale_is_utf8(void);

#endif
