/* SPDX-License-Identifier: MIT
 *
 * The rows of the global options, and the context they determine. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/shell/globals.h"
#include "dtinfo/ascii.h"

enum { WIDTH = 80, NARROWEST = 20, WIDEST = 10000 };

static const struct dti_choice colours[] = {
    {.name = "auto",
     .value = DTI_COLOUR_AUTO,
     .help = "on a terminal, unless NO_COLOR is set (the default)"},
    {.name = "always", .value = DTI_COLOUR_ALWAYS, .help = "always"},
    {.name = "never", .value = DTI_COLOUR_NEVER, .help = "never"},
    {.name = NULL},
};

const struct dti_option dti_global_options[] = {
    OPT_FLAG(0, "json", struct dti_globals, json, "print one JSON document"),
    OPT_FLAG(0, "jsonl", struct dti_globals, jsonl, "print one JSON document per record"),
    DTI_OPTION(CHOICE, 0, "color", "WHEN", struct dti_globals, colour, int,
               .given_offset = DTI_NO_GIVEN, .choices = colours, .help = "when to use colour"),
    OPT_UINT(0, "width", struct dti_globals, width, width_given, 0, WIDEST, "COLS",
             "fit output to COLS columns; 0: no limit"),
    OPT_FLAG(0, "wide", struct dti_globals, wide,
             "show tables and lines in full, as --width 0 does"),
    OPT_TEXT(0, "columns", struct dti_globals, columns, "HEAD,...",
             "show only these columns of tables, by heading"),
    OPT_FLAG(0, "ascii", struct dti_globals, ascii, "draw pictures with ASCII characters only"),
    OPT_FLAG('q', "quiet", struct dti_globals, quiet, "print only the answer, no warnings"),
    OPT_FLAG('v', "verbose", struct dti_globals, verbose, "print more"),
    OPT_FLAG('h', "help", struct dti_globals, help,
             "explain the command and exit; -h is the short form"),
    OPT_FLAG('V', "version", struct dti_globals, version, "print the version and exit"),
    OPT_END,
};

static bool is_set(const char *variable)
{
    const char *const value = getenv(variable);
    return value && value[0] != '\0';
}

static bool is_forced(const char *variable)
{
    return is_set(variable) && strcmp(getenv(variable), "0") != 0;
}

bool dti_colour_wanted(enum dti_colour when, bool is_terminal)
{
    if (when != DTI_COLOUR_AUTO)
        return when == DTI_COLOUR_ALWAYS;
    if (is_set("NO_COLOR"))
        return false;
    if (is_forced("CLICOLOR_FORCE") || is_forced("FORCE_COLOR"))
        return true;
    return is_terminal && is_set("TERM") && strcmp(getenv("TERM"), "dumb") != 0;
}

bool dti_locale_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (!is_set(variables[i]))
            continue;
        /* "de_DE.UTF-8@euro"; "UTF-8" alone is macOS's LC_CTYPE */
        const char *const name = getenv(variables[i]);
        const char *const dot = strchr(name, '.');
        const char *const codeset = dot ? dot + 1 : name;
        const size_t length = strcspn(codeset, "@");
        return (length == 5 && dti_ascii_equal_start(codeset, "utf-8", length)) ||
               (length == 4 && dti_ascii_equal_start(codeset, "utf8", length));
    }
    return false;
}

static int terminal_width(void)
{
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col < WIDEST ? size.ws_col : WIDEST;
#endif
    return WIDTH;
}

void dti_context_init(struct dti_context *cx, char **argv, int count, FILE *out, FILE *err)
{
    *cx = (struct dti_context){
        .output = DTI_OUTPUT_HUMAN, .width = WIDTH, .out = out, .raw = out, .err = err};
    for (int i = 0; i < count && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0)
            cx->output = DTI_OUTPUT_JSON;
        else if (strcmp(argv[i], "--jsonl") == 0)
            cx->output = DTI_OUTPUT_JSONL;
    }
}

void dti_context_colour(struct dti_context *cx, const struct dti_globals *globals)
{
    const enum dti_colour when = (enum dti_colour)globals->colour;
    cx->colour = dti_colour_wanted(when, isatty(STDOUT_FILENO));
    cx->colour_error = dti_colour_wanted(when, isatty(STDERR_FILENO));
}

/* The width of lines and of pictures. */
static enum dti_status settle_width(struct dti_context *cx, const struct dti_globals *globals,
                                    struct dti_error *reterr)
{
    const bool terminal = isatty(STDOUT_FILENO);
    if (globals->wide && globals->width_given)
        return dti_fail(reterr, DTI_USAGE,
                        "--wide and --width exclude each other; give one of them");
    if (globals->width_given && globals->width > 0 && globals->width < NARROWEST)
        return dti_fail(reterr, DTI_USAGE, "--width takes 0 or %d to %d", NARROWEST, WIDEST);
    cx->width = terminal ? terminal_width() : WIDTH;
    cx->limit = terminal && !globals->wide && cx->width >= NARROWEST ? cx->width : 0;
    if (globals->width_given)
        cx->limit = (int)globals->width;
    if (cx->limit > 0)
        cx->width = cx->limit;
    return DTI_OK;
}

enum dti_status dti_context_settle(struct dti_context *cx, const struct dti_globals *globals,
                                   struct dti_error *reterr)
{
    dti_context_colour(cx, globals);
    cx->quiet = globals->quiet;
    cx->verbose = globals->verbose;
    cx->ascii = globals->ascii || !dti_locale_is_utf8();
    const enum dti_status status = settle_width(cx, globals, reterr);
    if (status != DTI_OK)
        return status;
    if (globals->json && globals->jsonl)
        return dti_fail(reterr, DTI_USAGE,
                        "--json and --jsonl exclude each other; give one of them");
    if (globals->quiet && globals->verbose)
        return dti_fail(reterr, DTI_USAGE, "-q and -v exclude each other; give one of them");
    cx->output = globals->jsonl  ? DTI_OUTPUT_JSONL
                 : globals->json ? DTI_OUTPUT_JSON
                                 : DTI_OUTPUT_HUMAN;
    if (globals->columns && cx->output != DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE, "--columns is for tables; leave it out with --json");
    return DTI_OK;
}
