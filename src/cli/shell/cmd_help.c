/* SPDX-License-Identifier: MIT
 *
 * dtinfo help [COMMAND|TOPIC...]: the same as --help, as a command. */
#include <string.h>

#include "cli/shell/command.h"

static enum dti_status run_help(const void *args, char **operands, int operand_count,
                                struct dti_command_context *cx, struct dti_error *reterr)
{
    (void)args;
    if (operand_count == 0) {
        dti_help_overview(cx->out, cx->colour, cx->width);
        return DTI_OK;
    }
    for (int i = 0; i < operand_count; i++) {
        const struct dti_choice *const topic =
            dti_choice_find(dti_help_topics, operands[i], strlen(operands[i]));
        const struct dti_command *command;
        enum dti_status status = topic ? DTI_OK : dti_command_lookup(operands[i], &command, reterr);
        if (status == DTI_OK && i > 0)
            (void)fputc('\n', cx->out);
        if (status == DTI_OK && topic)
            status = dti_help_topic(topic, cx, reterr);
        else if (status == DTI_OK)
            dti_help_command(command, cx->out, cx->colour, cx->width);
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}

const struct dti_command dti_command_help = {
    .name = "help",
    .group = "other",
    .summary = "explain commands and topics",
    .synopsis = "[COMMAND|TOPIC...]",
    .details = "TOPIC is dtypes, exit-codes or json.",
    .examples = "dtinfo help cast\n"
                "dtinfo help exit-codes\n",
    .operands = DTI_OPERANDS_COMMAND,
    .run = run_help,
};
