/* SPDX-License-Identifier: MIT
 *
 * dtinfo version: the same as --version, as a hidden command. */
#include "cli/shell/command.h"

static enum dti_status run_version(const void *args, char **operands, int operand_count,
                                   struct dti_command_context *cx, struct dti_error *reterr)
{
    (void)args, (void)operands, (void)operand_count;
    return dti_version_print(cx, reterr);
}

const struct dti_command dti_command_version = {
    .name = "version",
    .summary = "print the version",
    .operands = DTI_OPERANDS_NONE,
    .run = run_version,
};
