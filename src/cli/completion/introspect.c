/* SPDX-License-Identifier: MIT
 *
 * dtinfo __introspect: every table that users see, as JSON. The man pages, the README and the tests
 * compare themselves with it, so nothing of it is printed for people. */
#include <string.h>

#include "answers/document.h"
#include "answers/spelled.h"
#include "cli/shell/command.h"
#include "cli/shell/environment.h"
#include "cli/shell/remedy_words.h"
#include "dtinfo/dtype.h"

static const char *option_kind(enum dti_option_kind kind)
{
    static const char *const names[] = {
        [DTI_OPTION_END] = "end",   [DTI_OPTION_FLAG] = "flag",     [DTI_OPTION_UINT] = "uint",
        [DTI_OPTION_TEXT] = "text", [DTI_OPTION_DTYPE] = "dtype",   [DTI_OPTION_FILE] = "file",
        [DTI_OPTION_GLOB] = "glob", [DTI_OPTION_CHOICE] = "choice", [DTI_OPTION_SET] = "set",
    };
    return names[kind];
}

static const char *operand_kind(enum dti_operands operands)
{
    static const char *const names[] = {
        [DTI_OPERANDS_NONE] = "none",
        [DTI_OPERANDS_DTYPES] = "dtypes",
        [DTI_OPERANDS_VALUE_DTYPE] = "value_dtype",
        [DTI_OPERANDS_VALUE_FORMAT] = "value_format",
        [DTI_OPERANDS_COMMAND] = "command",
        [DTI_OPERANDS_SHELL] = "shell",
        [DTI_OPERANDS_BENCH] = "bench",
        [DTI_OPERANDS_FILES] = "files",
        [DTI_OPERANDS_WORDS] = "words",
    };
    return names[operands];
}

static void put_choices(struct dti_json *json, const struct dti_choice *choices)
{
    if (!choices) {
        dti_json_null(json, "choices");
        return;
    }
    dti_json_array(json, "choices");
    for (; dti_choice_shown(choices); choices++) {
        dti_json_object(json, NULL);
        dti_json_string(json, "name", choices->name);
        dti_json_string(json, "help", choices->help);
        dti_json_end(json);
    }
    dti_json_end(json);
}

static void put_options(struct dti_json *json, const char *key, const struct dti_option *options)
{
    dti_json_array(json, key);
    for (; options && options->kind != DTI_OPTION_END; options++) {
        dti_json_object(json, NULL);
        dti_json_string(json, "long", options->long_name);
        dti_json_text(json, "short", options->short_name != '\0' ? &options->short_name : NULL, 1);
        dti_json_string(json, "kind", option_kind(options->kind));
        dti_json_string(json, "metavar", options->metavar);
        dti_json_string(json, "help", options->help);
        if (options->kind == DTI_OPTION_UINT) {
            dti_json_uint(json, "minimum", options->minimum);
            dti_json_uint(json, "maximum", options->maximum);
        } else {
            dti_json_null(json, "minimum");
            dti_json_null(json, "maximum");
        }
        put_choices(json, options->choices);
        dti_json_end(json);
    }
    dti_json_end(json);
}

/* A text of several lines as an array of them. */
static void put_lines(struct dti_json *json, const char *key, const char *text)
{
    dti_json_array(json, key);
    while (text && *text != '\0') {
        const size_t length = strcspn(text, "\n");
        dti_json_text(json, NULL, text, length);
        text += length + (text[length] == '\n');
    }
    dti_json_end(json);
}

static void put_commands(struct dti_json *json)
{
    dti_json_array(json, "commands");
    for (size_t i = 0; i < dti_command_count; i++) {
        const struct dti_command *const command = dti_commands[i];
        dti_json_object(json, NULL);
        dti_json_string(json, "name", command->name);
        dti_json_bool(json, "hidden", !command->group);
        dti_json_string(json, "group", command->group);
        dti_json_string(json, "summary", command->summary);
        dti_json_string(json, "synopsis", command->synopsis ? command->synopsis : "");
        put_lines(json, "details", command->details);
        put_lines(json, "examples", command->examples);
        dti_json_string(json, "schema", command->schema);
        dti_json_string(json, "operands", operand_kind(command->operands));
        put_options(json, "options", command->options);
        dti_json_end(json);
    }
    dti_json_end(json);
}

static void put_dtypes(struct dti_json *json)
{
    dti_json_array(json, "dtypes");
    for (unsigned i = 0; i < DTI_DTYPE_COUNT; i++) {
        const struct dti_format *const format = dti_format_get((enum dti_dtype)i);
        dti_json_object(json, NULL);
        dti_json_string(json, "name", format->name);
        dti_json_string(json, "kind", dti_kind_name(format->kind));
        dti_json_uint(json, "bits", format->width);
        dti_put_members_dtype_names(json, format);
        dti_json_end(json);
    }
    dti_json_end(json);
}

static void put_statuses(struct dti_json *json)
{
    dti_json_array(json, "statuses");
    for (unsigned i = 0; i < DTI_STATUS_COUNT; i++) {
        const enum dti_status status = (enum dti_status)i;
        dti_json_object(json, NULL);
        dti_json_string(json, "code", dti_status_code(status));
        dti_json_int(json, "exit", dti_status_exit(status));
        dti_json_string(json, "meaning", dti_status_words(status));
        dti_json_end(json);
    }
    dti_json_end(json);
}

static void put_environment(struct dti_json *json)
{
    dti_json_array(json, "environment");
    for (size_t i = 0; i < dti_variable_count; i++) {
        dti_json_object(json, NULL);
        dti_json_string(json, "name", dti_variables[i].name);
        dti_json_string(json, "help", dti_variables[i].help);
        put_choices(json, dti_variables[i].choices);
        dti_json_end(json);
    }
    dti_json_end(json);
}

/* Those of the commands, and those that belong to none. */
static void put_schemas(struct dti_json *json)
{
    dti_json_array(json, "schemas");
    for (size_t i = 0; i < dti_command_count; i++) {
        if (dti_commands[i]->schema && dti_commands[i]->group)
            dti_json_string(json, NULL, dti_commands[i]->schema);
        for (const char *const *other = dti_commands[i]->other_schemas; *other; other++)
            dti_json_string(json, NULL, *other);
    }
    dti_json_string(json, NULL, "dtinfo.error/1");
    dti_json_string(json, NULL, "dtinfo.version/1");
    dti_json_end(json);
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    (void)args, (void)operands, (void)operand_count;
    struct dti_json *const json = cx->json;
    dti_json_begin(json, "dtinfo.introspect/1");
    put_commands(json);
    put_options(json, "global_options", dti_global_options);
    put_dtypes(json);
    put_statuses(json);
    put_environment(json);
    put_schemas(json);
    return dti_json_write(json, cx->out, reterr);
}

static enum dti_status run_schema(const void *args, char **operands, int operand_count,
                                  struct dti_context *cx, struct dti_error *reterr)
{
    (void)args, (void)operands, (void)operand_count;
    dti_json_begin_plain(cx->json);
    dti_schemas_put(cx->json);
    return dti_json_write(cx->json, cx->out, reterr);
}

/* The JSON Schemas, for the build. */
const struct dti_command dti_command_schemas = {
    .name = "__schemas",
    .summary = "print the JSON Schema of every document",
    .operands = DTI_OPERANDS_NONE,
    .run = run_schema,
};

const struct dti_command dti_command_introspect = {
    .name = "__introspect",
    .summary = "print the program's tables as JSON",
    .schema = "dtinfo.introspect/1",
    .operands = DTI_OPERANDS_NONE,
    .run = run,
};
