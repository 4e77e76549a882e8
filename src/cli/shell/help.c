/* SPDX-License-Identifier: MIT
 *
 * Help texts and the topics of `dtinfo help`, laid out from the program's own tables. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/common.h"
#include "cli/shell/command.h"
#include "cli/shell/confine.h"
#include "containers/container.h"
#include "files/rewrite/rewrite.h"
#include "report/table.h"
#include "util/run/allocate.h"

enum { DTYPES, EXIT_CODES, JSON };

const struct dti_choice dti_help_topics[] = {
    {.name = "dtypes", .value = DTYPES, .help = "every dtype, as 'dtinfo list' shows them"},
    {.name = "exit-codes", .value = EXIT_CODES, .help = "exit codes and the codes of errors"},
    {.name = "json", .value = JSON, .help = "the documents of --json and their schemas"},
    {.name = "dtype", .value = DTYPES, .help = ""},
    {.name = "exit-status", .value = EXIT_CODES, .help = ""},
    {.name = "exit", .value = EXIT_CODES, .help = ""},
    {.name = "errors", .value = EXIT_CODES, .help = ""},
    {.name = "jsonl", .value = JSON, .help = ""},
    {.name = "schemas", .value = JSON, .help = ""},
    {.name = NULL},
};

static enum dti_status show_dtypes(struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct dti_command *const list = dti_command_find("list");
    void *const args = dti_calloc(1, list->args_size);
    if (!args)
        return dti_no_memory(reterr);
    const enum dti_status status = list->run(args, NULL, 0, cx, reterr);
    dti_free(args);
    return status;
}

static enum dti_status show_exit_codes(struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("exit>|error code|meaning", "");
    for (unsigned i = 0; i < DTI_STATUS_COMMAND_LINE; i++) {
        const enum dti_status status = (enum dti_status)i;
        dti_table_print(table, DTI_STYLE_BOLD, "%d", dti_status_exit(status));
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_status_code(status));
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_status_words(status));
    }
    dti_table_cell(table, DTI_STYLE_BOLD, "128+n");
    dti_table_cell(table, DTI_STYLE_PLAIN, "-");
    dti_table_cell(table, DTI_STYLE_PLAIN, "killed by signal n");
    const enum dti_status status = dti_put_table(cx, table, 0, reterr);
    if (status == DTI_OK)
        (void)fputs("\nWith --json an error is a document, dtinfo.error/1, with the error code.\n",
                    cx->out);
    return status;
}

static enum dti_status show_json(struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("command|documents", "");
    (void)fputs("--json prints one document, --jsonl one for each record of a stream. Its member\n"
                "\"schema\" is the name of its form:\n\n",
                cx->out);
    for (size_t i = 0; i < dti_command_count; i++) {
        const struct dti_command *const command = dti_commands[i];
        char text[128];
        if (!command->group || !command->schema)
            continue;
        (void)snprintf(text, sizeof text, "%s", command->schema);
        for (const char *const *other = command->other_schemas; *other; other++)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), " %s", *other);
        dti_table_cell(table, DTI_STYLE_BOLD, command->name);
        dti_table_cell(table, DTI_STYLE_PLAIN, text);
    }
    dti_table_cell(table, DTI_STYLE_BOLD, "--version");
    dti_table_cell(table, DTI_STYLE_PLAIN, "dtinfo.version/1");
    dti_table_cell(table, DTI_STYLE_BOLD, "an error");
    dti_table_cell(table, DTI_STYLE_PLAIN, "dtinfo.error/1");
    const enum dti_status status = dti_put_table(cx, table, 0, reterr);
    if (status == DTI_OK)
        (void)fputs("\nThe JSON Schemas are installed in share/dtinfo/schemas, as\n"
                    "dtinfo.cast.schema.json; dtinfo-json(5) explains every member.\n",
                    cx->out);
    return status;
}

enum dti_status dti_help_topic(const struct dti_choice *topic, struct dti_command_context *cx,
                               struct dti_error *reterr)
{
    switch (topic->value) {
    case DTYPES:
        return show_dtypes(cx, reterr);
    case EXIT_CODES:
        return show_exit_codes(cx, reterr);
    default:
        return show_json(cx, reterr);
    }
}

enum { NARROWEST = 80, WIDEST = 100, OPTION_COLUMN_MAX = 30, CHOICE_COLUMN = 8 };
enum { SHORT_OPTIONS = 10, SHORT_EXAMPLES = 3 }; /* limits of -h */

struct page {
    struct dti_line line;
    size_t width;
};

static struct page page_start(FILE *out, bool colour, int width)
{
    const int kept = width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
    return (struct page){.line = {.out = out, .colour = colour}, .width = (size_t)kept};
}

static void put(struct page *page, const char *text)
{
    dti_line_text(&page->line, text);
}

static void heading(struct page *page, const char *text)
{
    dti_line_end(&page->line);
    dti_line_print(&page->line, DTI_STYLE_BOLD, "%s\n", text);
}

static void indent_to(struct page *page, size_t column)
{
    if (page->line.column + page->line.owed < column)
        dti_line_to(&page->line, column);
}

/* Words from the current position, continued at `column` of the next lines. */
static void put_words(struct page *page, size_t column, const char *text)
{
    bool first = true;
    while (*text != '\0') {
        char word[128];
        const size_t length = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        const size_t now = page->line.column + page->line.owed;
        if (!first && now + 1 + strlen(word) > page->width) {
            dti_line_end(&page->line);
            indent_to(page, column);
        } else if (!first) {
            put(page, " ");
        }
        put(page, word);
        first = false;
        text += length;
        text += strspn(text, " ");
    }
}

/* The lines of a text, at most `lines`, indented by two. */
static void put_lines(struct page *page, const char *text, size_t lines)
{
    for (; *text != '\0' && lines > 0; lines--) {
        const size_t length = strcspn(text, "\n");
        if (length > 0)
            dti_line_print(&page->line, DTI_STYLE_PLAIN, "  %.*s", (int)length, text);
        dti_line_end(&page->line);
        text += length + (text[length] == '\n');
    }
}

/* "-r, --round MODE" */
static void spell_option(char text[96], const struct dti_option *option)
{
    const char short_form[] = {'-', option->short_name, ',', ' ', '\0'};
    const char *const metavar = dti_option_metavar(option);
    snprintf(text, 96, "  %s--%s%s%s", option->short_name != '\0' ? short_form : "    ",
             dti_option_name(option), metavar[0] != '\0' ? " " : "", metavar);
}

/* The column where the explanations of a list begin. */
static size_t option_column(const struct dti_option *options)
{
    size_t column = 0;
    for (; options->kind != DTI_OPTION_END; options++) {
        char text[96];
        spell_option(text, options);
        const size_t wanted = strlen(text) + 2;
        if (wanted > column && wanted <= OPTION_COLUMN_MAX)
            column = wanted;
    }
    return column;
}

/* Below their option, with explanations in the same column if possible. */
static void put_choices(struct page *page, const struct dti_choice *choices, size_t column)
{
    size_t widest = 0;
    for (const struct dti_choice *choice = choices; dti_choice_shown(choice); choice++) {
        const size_t length = strlen(choice->name);
        widest = length > widest ? length : widest;
    }
    const size_t needed = CHOICE_COLUMN + widest + 2;
    const size_t help_column = needed > column ? needed : column;
    for (const struct dti_choice *choice = choices; dti_choice_shown(choice); choice++) {
        indent_to(page, CHOICE_COLUMN);
        dti_line_put(&page->line, DTI_STYLE_BOLD, choice->name);
        if (choice->help) {
            indent_to(page, help_column);
            put_words(page, help_column, choice->help);
        }
        dti_line_end(&page->line);
    }
}

static void put_option(struct page *page, const struct dti_option *option, size_t column)
{
    char text[96];
    spell_option(text, option);
    put(page, text);
    if (strlen(text) + 2 > column)
        dti_line_end(&page->line);
    indent_to(page, column);
    put_words(page, column, dti_option_help(option));
    if (option->kind == DTI_OPTION_UINT && option->maximum < UINT64_MAX)
        dti_line_print(&page->line, DTI_STYLE_PLAIN, " (%llu to %llu)",
                       (unsigned long long)option->minimum, (unsigned long long)option->maximum);
    dti_line_end(&page->line);
}

static void put_options(struct page *page, const struct dti_option *options)
{
    const size_t column = option_column(options);
    for (; options->kind != DTI_OPTION_END; options++) {
        const char *const group = dti_option_more(options)->group;
        if (group) {
            dti_line_end(&page->line);
            dti_line_print(&page->line, DTI_STYLE_BOLD, "  %s\n", group);
        }
        put_option(page, options, column);
        if (dti_option_choices(options))
            put_choices(page, dti_option_choices(options), column);
    }
}

/* The first status with an exit code explains the code. */
static void put_exit_codes(struct page *page)
{
    int last = -1;
    for (unsigned i = 0; i < DTI_STATUS_COMMAND_LINE; i++) {
        const enum dti_status status = (enum dti_status)i;
        const int code = dti_status_exit(status);
        if (code == last)
            continue;
        dti_line_print(&page->line, DTI_STYLE_PLAIN, "%4d  %s\n", code, dti_status_words(status));
        last = code;
    }
}

static void put_commands(struct page *page)
{
    size_t column = 0;
    for (size_t i = 0; i < dti_command_count; i++) {
        const size_t length = dti_commands[i]->group ? strlen(dti_commands[i]->name) + 4 : 0;
        column = length > column ? length : column;
    }
    const char *group = "";
    for (size_t i = 0; i < dti_command_count; i++) {
        const struct dti_command *const command = dti_commands[i];
        if (!command->group)
            continue;
        if (strcmp(group, command->group) != 0) {
            group = command->group;
            heading(page, group);
        }
        dti_line_print(&page->line, DTI_STYLE_PLAIN, "  %s", command->name);
        indent_to(page, column);
        put_words(page, column, command->summary);
        dti_line_end(&page->line);
    }
}

/* "levels     scalar, avx2" */
static void put_fact(FILE *out, const char *name, const char *const *texts, size_t count)
{
    (void)fprintf(out, "%-11s", name);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "%s%s", i > 0 ? ", " : "", texts[i]);
    (void)fprintf(out, "%s\n", count == 0 ? "none" : "");
}

static void put_version(FILE *out, const struct dti_version_answer *version)
{
    const char *levels[DTI_LEVEL_COUNT];
    for (size_t i = 0; i < version->level_count; i++)
        levels[i] = dti_level_name(version->levels[i]);
    (void)fprintf(out, "dtinfo %s\n", DTI_VERSION);
    put_fact(out, "commit", (const char *[]){version->commit ? version->commit : "not known"}, 1);
    put_fact(out, "compiler", &version->compiler, 1);
    put_fact(out, "flags", &version->flags, 1);
    put_fact(out, "levels", levels, version->level_count);
    (void)fprintf(out, "libraries ");
    for (size_t i = 0; i < DTI_LINKED_LIBRARIES; i++)
        (void)fprintf(out, "%s %s %s", i > 0 ? "," : "", dti_linked_libraries[i].name,
                      dti_linked_libraries[i].version);
    (void)fputc('\n', out);
    put_fact(out, "loads", version->loaded, version->loaded_count);
    if (version->is_static)
        (void)fprintf(out, "           a static program loads no driver, MPFR or libcurl\n");
}

enum dti_status dti_version_print(const struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_version_answer version;
    dti_version_fill(&version);
    if (cx->output != DTI_OUTPUT_HUMAN)
        return DTI_ANSWER(cx, version, &version, reterr);
    put_version(cx->out, &version);
    if (cx->verbose)
        dti_confine_describe(cx->out);
    return DTI_OK;
}

void dti_help_overview(FILE *out, bool colour, int width)
{
    struct page page = page_start(out, colour, width);
    put_words(
        &page, 7,
        "usage: dtinfo [--json | --jsonl] [--color WHEN] [-q | -v] COMMAND [options] [operands]");
    dti_line_end(&page.line);
    put_commands(&page);
    dti_line_end(&page.line);
    put(&page, "'dtinfo COMMAND --help' explains a command, 'dtinfo help TOPIC' a topic:");
    dti_line_end(&page.line);
    put_choices(&page, dti_help_topics, 0);
}

/* The usage line and the summary, without a blank line after them. */
static bool put_usage(struct page *page, const struct dti_command *command)
{
    const bool has_options = command->options && command->options->kind != DTI_OPTION_END;
    dti_line_print(&page->line, DTI_STYLE_PLAIN, "usage: dtinfo %s%s %s\n", command->name,
                   has_options ? " [options]" : "", command->synopsis ? command->synopsis : "");
    put(page, "  ");
    put_words(page, 2, command->summary);
    dti_line_end(&page->line);
    return has_options;
}

/* Whether it writes files of that kind. */
static bool writes_kind(const struct dti_command *command, enum dti_container_kind kind)
{
    return dti_container_is_written(kind) && !dti_container_has(kind, command->writes_none) &&
           (command->writes_only == 0 || dti_container_has(kind, command->writes_only));
}

static void put_list(struct page *page, const char *title, const char *text)
{
    enum { LIST_COLUMN = 11 };
    dti_line_print(&page->line, DTI_STYLE_PLAIN, "  %s", title);
    indent_to(page, LIST_COLUMN);
    put_words(page, LIST_COLUMN, text);
    dti_line_end(&page->line);
}

/* Their names, or of those that can be written. */
static void put_kinds(struct page *page, const char *title, const struct dti_command *written)
{
    char text[256];
    size_t used = 0;
    for (unsigned i = 0; dti_container_words(i); i++) {
        const enum dti_container_kind kind = (enum dti_container_kind)i;
        if (written && !writes_kind(written, kind))
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "",
                                 dti_container_name(kind));
    }
    put_list(page, title, text);
}

enum { ENCODED_WORDS = 256 };

/* The types of blocks that quant makes. */
static const char *encoded_words(char text[ENCODED_WORDS])
{
    size_t used = 0;
    for (size_t i = 0; dti_encode_type(i) && used < ENCODED_WORDS; i++)
        used += (size_t)snprintf(text + used, ENCODED_WORDS - used, "%s%s", i > 0 ? ", " : "",
                                 dti_encode_type(i)->word);
    return text;
}

static void put_files(struct page *page, const struct dti_command *command)
{
    char words[ENCODED_WORDS];
    if (!command->reads)
        return;
    heading(page, "files of tensors");
    put_kinds(page, "read", NULL);
    if (command->writes)
        put_kinds(page, "written", command);
    if (command->encodes)
        put_list(page, "in gguf", encoded_words(words));
}

void dti_help_command(const struct dti_command *command, FILE *out, bool colour, int width)
{
    struct page page = page_start(out, colour, width);
    const bool has_options = put_usage(&page, command);
    if (command->examples) {
        heading(&page, "examples");
        put_lines(&page, command->examples, SIZE_MAX);
    }
    if (command->details) {
        dti_line_end(&page.line);
        put_lines(&page, command->details, SIZE_MAX);
    }
    put_files(&page, command);
    if (has_options) {
        heading(&page, "options");
        put_options(&page, command->options);
    }
    heading(&page, "global options");
    put_options(&page, dti_global_options);
    heading(&page, "exit codes");
    put_exit_codes(&page);
}

static size_t count_rows(const struct dti_option *options)
{
    size_t count = 0;
    while (options && options[count].kind != DTI_OPTION_END)
        count++;
    return count;
}

/* All options if the command has few, else the most used ones. */
static void put_some_options(struct page *page, const struct dti_option *options, size_t count)
{
    const size_t column = option_column(options);
    for (const struct dti_option *option = options; option->kind != DTI_OPTION_END; option++) {
        if (option->matters || count <= SHORT_OPTIONS)
            put_option(page, option, column);
    }
}

void dti_help_short(const struct dti_command *command, FILE *out, bool colour, int width)
{
    struct page page = page_start(out, colour, width);
    const size_t count = count_rows(command->options);
    const bool has_options = put_usage(&page, command);
    if (command->examples) {
        heading(&page, "examples");
        put_lines(&page, command->examples, SHORT_EXAMPLES);
    }
    if (has_options) {
        heading(&page, count <= SHORT_OPTIONS ? "options" : "most used options");
        put_some_options(&page, command->options, count);
    }
    dti_line_end(&page.line);
    if (count > SHORT_OPTIONS)
        dti_line_print(&page.line, DTI_STYLE_PLAIN,
                       "'dtinfo %s --help' lists all %zu options and explains the operands.\n",
                       command->name, count);
    else
        dti_line_print(&page.line, DTI_STYLE_PLAIN, "'dtinfo %s --help' has the details.\n",
                       command->name);
}
