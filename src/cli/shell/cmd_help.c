/* SPDX-License-Identifier: MIT
 *
 * dtinfo help [COMMAND]: the same as --help, for those who ask in words. */
#include "cli/shell/command.h"

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    (void)args;
    if (operand_count == 0) {
        dti_help_overview(cx->out, cx->colour, cx->width);
        return DTI_OK;
    }
    for (int i = 0; i < operand_count; i++) {
        const struct dti_command *command;
        const enum dti_status status = dti_command_lookup(operands[i], &command, reterr);
        if (status != DTI_OK)
            return status;
        if (i > 0)
            (void)fputc('\n', cx->out);
        dti_help_command(command, cx->out, cx->colour, cx->width);
    }
    return DTI_OK;
}

const struct dti_command dti_command_help = {
    .name = "help",
    .group = "other",
    .summary = "explain the commands, or one of them",
    .synopsis = "[COMMAND...]",
    .examples = "dtinfo help cast\n",
    .operands = DTI_OPERANDS_COMMAND,
    .run = run,
};
