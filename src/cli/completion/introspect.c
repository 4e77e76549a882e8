/* SPDX-License-Identifier: MIT
 *
 * dtinfo __introspect: every table that users see, as JSON. The man pages, the README and the tests
 * are checked against it; it is not meant for people. */
#include <string.h>

#include "answers/rows.h"
#include "calc/calc.h"
#include "cli/shell/command.h"
#include "cli/shell/environment.h"
#include "files/lint/lint.h"
#include "files/loaders/loaders.h"
#include "files/stored/layouts.h"
#include "requests/check/check_policy.h"

static const char *option_kind(enum dti_option_kind kind)
{
    static const char *const names[] = {
        [DTI_OPTION_END] = "end",   [DTI_OPTION_FLAG] = "flag",     [DTI_OPTION_UINT] = "uint",
        [DTI_OPTION_TEXT] = "text", [DTI_OPTION_DTYPE] = "dtype",   [DTI_OPTION_FILE] = "file",
        [DTI_OPTION_GLOB] = "glob", [DTI_OPTION_CHOICE] = "choice", [DTI_OPTION_SET] = "set",
        [DTI_OPTION_LIST] = "list",
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
        [DTI_OPERANDS_PAIRS] = "pairs",
        [DTI_OPERANDS_ARCHITECTURES] = "architectures",
        [DTI_OPERANDS_FILES] = "files",
        [DTI_OPERANDS_WORDS] = "words",
    };
    return names[operands];
}

static size_t count_choices(const struct dti_choice *choices)
{
    size_t count = 0;
    while (choices && dti_choice_shown(&choices[count]))
        count++;
    return count;
}

static size_t count_options(const struct dti_option *options)
{
    size_t count = 0;
    while (options && options[count].kind != DTI_OPTION_END)
        count++;
    return count;
}

/* A text of several lines as elements of an array. */
static void put_lines(struct dti_json *json, const char *text)
{
    while (text && *text != '\0') {
        const size_t length = strcspn(text, "\n");
        dti_json_text(json, NULL, text, length);
        text += length + (text[length] == '\n');
    }
}

/* The schemas of the commands, and those that belong to no command. */
static void put_schemas(struct dti_json *json, const void *unused)
{
    (void)unused;
    for (size_t i = 0; i < dti_command_count; i++) {
        if (dti_commands[i]->schema && dti_commands[i]->group)
            dti_json_string(json, NULL, dti_commands[i]->schema);
        for (const char *const *other = dti_commands[i]->other_schemas; *other; other++)
            dti_json_string(json, NULL, *other);
    }
    dti_json_string(json, NULL, "dtinfo.error/1");
    dti_json_string(json, NULL, "dtinfo.version/1");
}

/* Layouts of quantized tensors that are read. */
static void put_layouts(struct dti_json *json, const void *unused)
{
    (void)unused;
    for (size_t i = 0; dti_layout_name(i); i++)
        dti_json_string(json, NULL, dti_layout_name(i));
}

struct instruction_set {
    const char *name, *note, *source;
};
static const struct instruction_set instruction_sets[] = {
#define INSTRUCTION_SET(name, note, source) {name, note, source},
#include "cli/completion/conversions.def"
#undef INSTRUCTION_SET
};

struct conversion {
    char instruction[24], to[16], round[20], over[12], tiny[12], nan[12], like[24];
};
static const struct conversion conversions[] = {
#define CONVERSION(...) {__VA_ARGS__},
#include "cli/completion/conversions.def"
#undef CONVERSION
};

static void put_loader_rules(struct dti_json *json, const void *unused);

#define DTI_ROWS "cli/completion/introspect.def"
#include "answers/rows.h"

static void put_loader_rules(struct dti_json *json, const void *unused)
{
    struct dti_loader_rule rule;
    (void)unused;
    for (size_t i = 0; dti_loader_rule(i, &rule); i++)
        dti_put_introspect_loader_rule(json, NULL, &rule);
}

static enum dti_status run_introspect(const void *args, char **operands, int operand_count,
                                      struct dti_command_context *cx, struct dti_error *reterr)
{
    (void)args, (void)operands, (void)operand_count;
    return DTI_ANSWER(cx, introspect, NULL, reterr);
}

static enum dti_status run_schema(const void *args, char **operands, int operand_count,
                                  struct dti_command_context *cx, struct dti_error *reterr)
{
    (void)args, (void)operands, (void)operand_count;
    dti_json_begin_plain(cx->json);
    dti_schemas_put(cx->json);
    dti_check_policy_schema_put(cx->json);
    return dti_document_write(cx->json, cx->out, reterr);
}

/* The JSON Schemas, for the build. */
const struct dti_command dti_command_schemas = {
    .name = "__schemas",
    .summary = "print the JSON Schema of every document",
    .verbatim = true,
    .operands = DTI_OPERANDS_NONE,
    .run = run_schema,
};

const struct dti_command dti_command_introspect = {
    .name = "__introspect",
    .summary = "print the program's tables as JSON",
    .schema = "dtinfo.introspect/1",
    .verbatim = true,
    .operands = DTI_OPERANDS_NONE,
    .run = run_introspect,
};
