/* SPDX-License-Identifier: MIT
 *
 * The topics of `dtinfo help` besides commands, printed from the program's own tables. */
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"

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

static enum dti_status show_dtypes(struct dti_context *cx, struct dti_error *reterr)
{
    const struct dti_command *const list = dti_command_find("list");
    void *const args = calloc(1, list->args_size);
    if (!args)
        return dti_no_memory(reterr);
    const enum dti_status status = list->run(args, NULL, 0, cx, reterr);
    free(args);
    return status;
}

static enum dti_status show_exit_codes(struct dti_context *cx, struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("exit>|error code|meaning", "");
    for (unsigned i = 0; i < DTI_STATUS_COUNT; i++) {
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

static enum dti_status show_json(struct dti_context *cx, struct dti_error *reterr)
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

enum dti_status dti_help_topic(const struct dti_choice *topic, struct dti_context *cx,
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
