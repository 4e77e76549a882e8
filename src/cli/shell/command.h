/* SPDX-License-Identifier: MIT
 *
 * The definition and the context of a command. A command writes its result to cx->out, never prints
 * an error and never exits: it returns a status, and dti_command_line() does the rest. */
#ifndef CLI_SHELL_COMMAND_H
#define CLI_SHELL_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/shell/option_parse.h"
#include "cli/shell/standard.h"
#include "containers/container.h"
#include "io/input.h"
#include "report/json.h"
#include "report/table.h"
#include "requests/asker.h"
#include "util/error.h"

enum dti_output { DTI_OUTPUT_HUMAN, DTI_OUTPUT_JSON, DTI_OUTPUT_JSONL };

/* Runs the arguments after the program name, which may be reordered, and returns the exit code.
 * Results go to out, which is closed; an error becomes a line on err and, with --json, a document
 * on out. */
int dti_command_line(char **words, int count, FILE *out, FILE *err);

/* The context of every command. */
struct dti_command_context {
    enum dti_output output;
    bool quiet;
    bool verbose;
    bool colour;       /* use colour on stdout */
    bool colour_error; /* use colour on stderr */
    bool ascii;        /* draw pictures with ASCII characters only */
    int width;         /* columns of the terminal, or 80: for pictures */
    int limit;         /* width limit of lines and tables, or 0 */
    const char *command;
    FILE *out; /* for answers: stdout, or a page (page.h) that fits lines to the width */
    FILE *raw; /* stdout, fully buffered, for unmodified data; dti_command_line() flushes and checks
                * it at the end */
    struct dti_sink sink;          /* raw, for documents */
    FILE *err;                     /* for warnings: through dti_warn() only */
    struct dti_page *page;         /* the page of out, or NULL */
    struct dti_table_picks *picks; /* the value of --columns, or NULL */
    struct dti_json *json;         /* for documents, one at a time */
    struct dti_asker asker; /* the same, for requests that a library's caller can make, too */
};

/* A line on stdout, and a complete line with a style and indentation. */
static inline struct dti_line dti_command_context_line(const struct dti_command_context *cx)
{
    return (struct dti_line){.out = cx->out, .colour = cx->colour};
}
void dti_put_line(const struct dti_command_context *cx, enum dti_style style, size_t indent,
                  const char *format, ...) DTI_PRINTF(4, 5);

/* Writes a table, fitted to the width, and a line that names the hidden columns, and frees it.
 * Fails with DTI_NO_MEMORY. */
enum dti_status dti_put_table(const struct dti_command_context *cx, struct dti_table *table,
                              size_t indent, struct dti_error *reterr);

/* Writes the page so far: between the parts of an answer that takes long or is endless. Fails with
 * DTI_NO_MEMORY. */
enum dti_status dti_command_context_turn(const struct dti_command_context *cx,
                                         struct dti_error *reterr);

/* The same, and flushes stdout, before work that is useless without a reader. Fails with
 * DTI_WRITE_FAILED and no text: dti_standard_close() reports why. */
enum dti_status dti_command_context_flush(const struct dti_command_context *cx,
                                          struct dti_error *reterr);

/* Writes an answer as a document: DTI_ANSWER(cx, finfo, &answer, reterr) calls
 * dti_document_finfo().
 */
#define DTI_ANSWER(cx, name, answer, reterr)           \
    (dti_inputs_unchanged(reterr) != DTI_OK            \
         ? DTI_BAD_INPUT                               \
         : (dti_document_##name((cx)->json, (answer)), \
            dti_document_write((cx)->json, (cx)->out, (reterr))))

/* "dtinfo cast: warning text" on stderr, unless -q. The text must be safe (dti_quote). */
void dti_warn(const struct dti_command_context *cx, const char *format, ...) DTI_PRINTF(2, 3);

/* "dtinfo cast: error text" on stderr immediately, for errors after which a command continues (an
 * invalid line in a stream); it must return that error's status at the end with an empty text. */
void dti_complain(const struct dti_command_context *cx, const struct dti_error *error);
/* Appends that line, to be written to cx->err later, in order. */
void dti_complain_later(const struct dti_command_context *cx, const struct dti_error *error,
                        struct dti_buffer *ret);

/* An error as a JSON document, to be written; line is the number of the input line, or 0.
 * dti_command_line() does this for the error that ends a command; a command that continues does it
 * itself in place of an answer. */
void dti_error_document(struct dti_json *json, const struct dti_error *error, uint64_t line);

enum dti_operands {
    DTI_OPERANDS_NONE,          /* an operand is an error, before the command runs */
    DTI_OPERANDS_DTYPES,        /* completion offers dtypes */
    DTI_OPERANDS_VALUE_DTYPE,   /* values or a file, then a dtype */
    DTI_OPERANDS_VALUE_FORMAT,  /* the same, where the dtype may be a block format */
    DTI_OPERANDS_COMMAND,       /* completion offers commands */
    DTI_OPERANDS_SHELL,         /* completion offers shells */
    DTI_OPERANDS_BENCH,         /* a subject, then pairs of dtypes */
    DTI_OPERANDS_PAIRS,         /* pairs of dtypes, and the other words of test vectors */
    DTI_OPERANDS_ARCHITECTURES, /* completion offers architectures */
    DTI_OPERANDS_FILES,         /* the shell completes names of files */
    DTI_OPERANDS_WORDS,         /* all words unparsed, including options */
};

struct dti_command {
    const char *name;     /* "cast" */
    const char *group;    /* "ask", "files", "machine", "other"; NULL hides the command */
    const char *summary;  /* one line, lower case, no full stop */
    const char *synopsis; /* operands for the usage line: "VALUE... DTYPE[,DTYPE...]" */
    const char *details;  /* further text for --help, one or several lines, or NULL */
    const char *examples; /* lines "dtinfo cast 70000 bf16", each one runs and exits 0, the best
                           * first; or NULL */
    const char *schema;   /* schema of its JSON output: "dtinfo.cast/1"; NULL if it has none */
    const char *other_schemas[3]; /* other schemas of its answers: "dtinfo.cast_array/1"; NULL after
                                   * the last */
    bool reads;                   /* reads tensor files, of all kinds */
    bool writes;                  /* writes tensor files, of the writable kinds */
    unsigned writes_only; /* if not 0: only kinds with one of these traits (DTI_TRAIT_TEXTS ...) */
    unsigned writes_none; /* only kinds without any of these traits */
    bool encodes;         /* writes GGUF blocks, of all types with an encoder */
    enum dti_operands operands;
    bool verbatim; /* its output is for programs: no page */
    /* Calls take() for each file that the operands name, if they are not names of files or other
     * words; and loads what the work needs and a sandbox would keep out. NULL: take them as they
     * are. */
    void (*files)(char **operands, int operand_count, void (*take)(void *context, const char *path),
                  void *context);
    const struct dti_option *options;
    size_t args_size;
    /* args: the command's own struct, zeroed, then filled from its options. */
    enum dti_status (*run)(const void *args, char **operands, int operand_count,
                           struct dti_command_context *cx, struct dti_error *reterr);
};

/* Every cmd_x.c defines `const struct dti_command dti_command_x`; commands.def lists the x. */
extern const struct dti_command *const dti_commands[];
extern const size_t dti_command_count;
const struct dti_command *dti_command_find(const char *name); /* NULL if there is none */

/* The same, failing with DTI_UNKNOWN_COMMAND and the nearest name. */
enum dti_status dti_command_lookup(const char *name, const struct dti_command **ret_command,
                                   struct dti_error *reterr);

/* The options of every command (--json, --jsonl, --color, --ascii, -q, -v, -h, --version). */
extern const struct dti_option dti_global_options[];

/* Messages of the layers below, with the options that follow their advice. */

/* A dti_remedy_words_fn. */
const char *dti_remedy_words(char buffer[DTI_REMEDY_WORDS], enum dti_remedy remedy,
                             const char *text);
/* The same for a note; and for an error, truncated like its text. */
const char *dti_note_words(char buffer[DTI_REMEDY_WORDS], const struct dti_note *note);
const char *dti_error_words(char buffer[DTI_ERROR_TEXT], const struct dti_error *error);

/* dti_status_meaning() */
const char *dti_status_words(enum dti_status status);

/* The output of --help, `dtinfo help` and a bare `dtinfo`, made only from the command and option
 * rows; and of --version: the program and its build. */

/* All commands by group, on stdout, or on stderr after a usage error. */
void dti_help_overview(FILE *out, bool colour, int width);

void dti_help_command(const struct dti_command *command, FILE *out, bool colour, int width);
/* A short form: usage, the first examples, the most used options. */
void dti_help_short(const struct dti_command *command, FILE *out, bool colour, int width);

/* The topics of `dtinfo help`, in addition to commands. A topic's value is its index. */
extern const struct dti_choice dti_help_topics[];
enum dti_status dti_help_topic(const struct dti_choice *topic, struct dti_command_context *cx,
                               struct dti_error *reterr);

enum dti_status dti_version_print(const struct dti_command_context *cx, struct dti_error *reterr);

/* Messages of the commands that write files, apart from their reports: about a complete result with
 * an incomplete report. */

/* The output has its final name, or was written completely to a pipe: a later failure of standard
 * output is still an error, but its message states that the output is complete. */
void dti_output_is_complete(const char *path);
/* The same for the report, whose status is given: if it failed, but not because of standard output,
 * the result stands, and a line on stderr reports that the report is incomplete. */
enum dti_status dti_output_report_end(const struct dti_command_context *cx, const char *path,
                                      enum dti_status status, struct dti_error *reterr);

#endif
