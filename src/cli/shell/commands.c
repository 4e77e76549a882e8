/* SPDX-License-Identifier: MIT
 *
 * The table of commands, made from commands.def, and the search in it. */
#include <string.h>

#include "cli/shell/command.h"
#include "cli/shell/hints.h"
#include "core/dtype/dtype.h"
#include "core/number/number.h"
#include "io/input.h"
#include "util/text/nearest.h"

#define COMMAND(id) extern const struct dti_command dti_command_##id;
#include "cli/shell/commands.def"
#undef COMMAND

const struct dti_command *const dti_commands[] = {
#define COMMAND(id) &dti_command_##id,
#include "cli/shell/commands.def"
#undef COMMAND
};

const size_t dti_command_count = sizeof dti_commands / sizeof dti_commands[0];

const struct dti_command *dti_command_find(const char *name)
{
    for (size_t i = 0; i < dti_command_count; i++) {
        if (strcmp(dti_commands[i]->name, name) == 0)
            return dti_commands[i];
    }
    return NULL;
}

/* Whether the word is an operand of some command, so that the command is missing. */
static bool is_operand(const char *name, struct dti_error *reterr)
{
    enum { SHOWN = 40 };
    const size_t length = strlen(name);
    struct dti_format format;
    struct dti_value value;
    enum dti_input_kind kind;
    if (dti_value_parse(&value, name, length, NULL) == DTI_OK)
        dti_fail_word(reterr, DTI_UNKNOWN_COMMAND, name, length,
                      "%s is a number, not a command; use 'dtinfo cast %s bf16' or another dtype",
                      DTI_QUOTED(name, length), length <= SHOWN ? name : "VALUE");
    else if (dti_format_lookup(name, &format, NULL, NULL) == DTI_OK)
        dti_fail_word(reterr, DTI_UNKNOWN_COMMAND, name, length,
                      "%s is a dtype, not a command; use 'dtinfo info %s'",
                      DTI_QUOTED(name, length), format.name);
    else if (dti_input_find(name, &kind) == 0)
        dti_fail_word(reterr, DTI_UNKNOWN_COMMAND, name, length,
                      "%s is a file, not a command; use dtinfo inspect %s",
                      DTI_QUOTED(name, length), DTI_QUOTED(name, length));
    else if (dti_hint_is_expression(name))
        dti_fail_word(reterr, DTI_UNKNOWN_COMMAND, name, length,
                      "%s is an expression, not a command; use dtinfo calc %s bf16",
                      DTI_QUOTED(name, length),
                      length <= SHOWN ? DTI_QUOTED(name, length) : "EXPR");
    else
        return false;
    return true;
}

enum dti_status dti_command_lookup(const char *name, const struct dti_command **ret_command,
                                   struct dti_error *reterr)
{
    const struct dti_command *const command = dti_command_find(name);
    if (command) {
        *ret_command = command;
        return DTI_OK;
    }
    const size_t length = strlen(name);
    const char *const use = dti_hint_command(name);
    if (use) {
        dti_fail_word(reterr, DTI_UNKNOWN_COMMAND, name, length,
                      "unknown command %s; use 'dtinfo %s'", DTI_QUOTED(name, length), use);
        dti_error_suggest(reterr, use);
        return DTI_UNKNOWN_COMMAND;
    }
    if (is_operand(name, reterr))
        return DTI_UNKNOWN_COMMAND;
    struct dti_nearest nearest;
    dti_nearest_init(&nearest, name, length);
    for (size_t i = 0; i < dti_command_count; i++) {
        if (dti_commands[i]->group)
            dti_nearest_offer(&nearest, dti_commands[i]->name);
    }
    dti_fail_word(reterr, DTI_UNKNOWN_COMMAND, name, length, "unknown command %s%s",
                  DTI_QUOTED(name, length),
                  nearest.count > 0 ? "" : "; 'dtinfo help' lists the commands");
    dti_nearest_suggest(&nearest, reterr);
    return DTI_UNKNOWN_COMMAND;
}
