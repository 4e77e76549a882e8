/* SPDX-License-Identifier: MIT
 *
 * The global options and the DTINFO_* variables, and the context that they determine. */
#include "cli/shell/globals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/shell/confine.h"
#include "cli/shell/environment.h"
#include "devices/gpu/gpu.h"
#include "util/text/ascii.h"
#include "util/text/nearest.h"

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
    DTI_OPTION(CHOICE, 0, "color", "WHEN", struct dti_globals, colour, int, DTI_NO_GIVEN,
               .choices = colours, "when to use colour"),
    OPT_UINT(0, "width", struct dti_globals, width, width_given, 0, WIDEST, "COLS",
             "fit output to COLS columns; 0: no limit"),
    OPT_FLAG(0, "wide", struct dti_globals, wide,
             "show tables and lines in full, as --width 0 does"),
    OPT_TEXT(0, "columns", struct dti_globals, columns, "HEAD,...",
             "show only these columns of tables, by heading"),
    OPT_FLAG(0, "ascii", struct dti_globals, ascii, "draw pictures with ASCII characters only"),
    DTI_OPTION(CHOICE, 0, "sandbox", "WHEN", struct dti_globals, sandbox, int, DTI_NO_GIVEN,
               .choices = dti_sandbox_choices, "when to read files in a sandbox"),
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

void dti_command_context_init(struct dti_command_context *cx, char **argv, int count, FILE *out,
                              FILE *err)
{
    *cx = (struct dti_command_context){.output = DTI_OUTPUT_HUMAN,
                                       .width = WIDTH,
                                       .out = out,
                                       .raw = out,
                                       .sink = dti_sink_to_file(out),
                                       .err = err};
    for (int i = 0; i < count && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0)
            cx->output = DTI_OUTPUT_JSON;
        else if (strcmp(argv[i], "--jsonl") == 0)
            cx->output = DTI_OUTPUT_JSONL;
    }
}

void dti_command_context_colour(struct dti_command_context *cx, const struct dti_globals *globals)
{
    const enum dti_colour when = (enum dti_colour)globals->colour;
    cx->colour = dti_colour_wanted(when, isatty(STDOUT_FILENO));
    cx->colour_error = dti_colour_wanted(when, isatty(STDERR_FILENO));
}

/* The width of lines and of pictures. */
static enum dti_status settle_width(struct dti_command_context *cx,
                                    const struct dti_globals *globals, struct dti_error *reterr)
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

/* A dti_warn_fn: a line on stderr. */
static void warn_note(void *context, const struct dti_note *note)
{
    const struct dti_command_context *const cx = context;
    char words[DTI_REMEDY_WORDS];
    dti_warn(cx, "%s", dti_note_words(words, note));
}

static void complain(void *context, const struct dti_error *error)
{
    dti_complain(context, error);
}

enum dti_status dti_command_context_settle(struct dti_command_context *cx,
                                           const struct dti_globals *globals,
                                           struct dti_error *reterr)
{
    dti_command_context_colour(cx, globals);
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
    cx->asker = (struct dti_asker){
        .command = cx->command,
        .warn = warn_note,
        .complain = complain,
        .warn_context = cx,
        .words = dti_remedy_words,
        .cpu_level = getenv("DTINFO_CPU"),
        .document = cx->output != DTI_OUTPUT_HUMAN,
        .quiet = cx->quiet,
    };
    return DTI_OK;
}

static const struct dti_choice cpu_levels[] = {
    {.name = "none", .help = "the same as scalar"},
#define LEVEL(id, level_name, architecture, what) \
    {.name = level_name, .help = what " (" architecture ")"},
#include "kernels/levels.def"
#undef LEVEL
    {.name = NULL},
};

static const struct dti_choice ways_to_read[] = {
    {.name = "auto", .help = "whichever is faster, measured with the first pieces of a large file"},
    {.name = "map", .help = "through mapped windows"},
    {.name = "copy", .help = "copied into buffers"},
    {.name = NULL},
};

/* A name without a slash would be searched in the library folders. */
static enum dti_status check_path(const struct dti_variable *variable, const char *value,
                                  struct dti_error *reterr)
{
    if (strchr(value, '/'))
        return DTI_OK;
    return dti_fail_word(reterr, DTI_BAD_ENVIRONMENT, value, strlen(value),
                         "environment variable %s takes a path with a slash; got %s",
                         variable->name, DTI_QUOTED(value, strlen(value)));
}

static enum dti_status check_timeout(const struct dti_variable *variable, const char *value,
                                     struct dti_error *reterr)
{
    double seconds;
    (void)variable;
    return dti_gpu_timeout_parse(value, &seconds, reterr);
}

const struct dti_variable dti_variables[] = {
    {.name = "DTINFO_CPU",
     .help = "the highest CPU level that array kernels may use; a level above this machine's has "
             "no effect, one of another architecture is an error",
     .choices = cpu_levels},
    {.name = "DTINFO_CUDA_TIMEOUT",
     .help = "the timeout in seconds (0.001 to 86400, default 30) for calls of the CUDA driver and "
             "for work on a device",
     .check = check_timeout},
    {.name = "DTINFO_LIBCUDA",
     .help = "the path of the CUDA driver's library, instead of libcuda.so.1",
     .check = check_path},
    {.name = "DTINFO_LIBCURL",
     .help = "the path of libcurl, instead of libcurl.so.4",
     .check = check_path},
    {.name = "DTINFO_LIBGMP",
     .help = "the path of GMP's library, instead of libgmp.so.10",
     .check = check_path},
    {.name = "DTINFO_LIBMPFR",
     .help = "the path of MPFR's library, instead of libmpfr.so.6",
     .check = check_path},
    {.name = "DTINFO_LIBNVML",
     .help = "the path of NVIDIA's management library, instead of libnvidia-ml.so.1",
     .check = check_path},
    {.name = "DTINFO_READ",
     .help = "how the data of tensors are read from files; results are the same",
     .choices = ways_to_read},
};
const size_t dti_variable_count = sizeof dti_variables / sizeof dti_variables[0];

static const char prefix[] = "DTINFO_";

/* Appends a name to a comma-separated list, which has room for it. */
static void list_name(char list[256], const char *name)
{
    const size_t used = strlen(list);
    snprintf(list + used, 256 - used, "%s%s", used > 0 ? ", " : "", name);
}

static enum dti_status unknown_variable(const char *name, size_t length, struct dti_error *reterr)
{
    char list[256] = "";
    struct dti_nearest nearest;
    dti_nearest_init(&nearest, name, length);
    for (size_t i = 0; i < dti_variable_count; i++) {
        list_name(list, dti_variables[i].name);
        dti_nearest_offer(&nearest, dti_variables[i].name);
    }
    dti_fail_word(reterr, DTI_BAD_ENVIRONMENT, name, length,
                  "unknown environment variable %s; the variables are %s", DTI_QUOTED(name, length),
                  list);
    for (size_t i = 0; i < nearest.count; i++)
        dti_error_suggest(reterr, nearest.names[i]);
    return DTI_BAD_ENVIRONMENT;
}

static enum dti_status check_value(const struct dti_variable *variable, const char *value,
                                   struct dti_error *reterr)
{
    char list[DTI_CHOICES_SIZE];
    const size_t length = strlen(value);
    if (variable->check)
        return variable->check(variable, value, reterr);
    if (dti_choice_find(variable->choices, value, length))
        return DTI_OK;
    dti_fail_word(reterr, DTI_BAD_ENVIRONMENT, value, length,
                  "environment variable %s takes one of %s; got %s", variable->name,
                  dti_choices_list(list, variable->choices), DTI_QUOTED(value, length));
    dti_choices_suggest(variable->choices, value, length, reterr);
    return DTI_BAD_ENVIRONMENT;
}

static const struct dti_variable *find_variable(const char *name, size_t length)
{
    for (size_t i = 0; i < dti_variable_count; i++) {
        if (strlen(dti_variables[i].name) == length &&
            memcmp(dti_variables[i].name, name, length) == 0)
            return &dti_variables[i];
    }
    return NULL;
}

enum dti_status dti_environment_check(char *const *environment, struct dti_error *reterr)
{
    for (; environment && *environment; environment++) {
        const char *const entry = *environment;
        if (strncmp(entry, prefix, sizeof prefix - 1) != 0)
            continue;
        const size_t length = strcspn(entry, "=");
        const struct dti_variable *const variable = find_variable(entry, length);
        if (!variable)
            return unknown_variable(entry, length, reterr);
        const char *const value = entry[length] == '=' ? entry + length + 1 : "";
        const enum dti_status status = check_value(variable, value, reterr);
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}
