/* SPDX-License-Identifier: MIT
 *
 * dtinfo completion SHELL: prints the completion script that is also installed. */
#include <string.h>

#include "cli/completion/completion.h"
#include "cli/shell/command.h"
#include "completion_scripts.h"
#include "dtinfo/nearest.h"

const struct dti_shell dti_shells[] = {
    {.name = "bash", .script = completion_bash, .length = sizeof completion_bash},
    {.name = "zsh", .script = completion_zsh, .length = sizeof completion_zsh},
    {.name = "fish", .script = completion_fish, .length = sizeof completion_fish},
};
const size_t dti_shell_count = sizeof dti_shells / sizeof dti_shells[0];

enum { LIST_SIZE = 64 };

/* "bash, zsh, fish" */
static void list_shells(char list[LIST_SIZE])
{
    size_t length = 0;
    for (size_t i = 0; i < dti_shell_count && length < LIST_SIZE; i++) {
        const int written = snprintf(list + length, LIST_SIZE - length, "%s%s", i > 0 ? ", " : "",
                                     dti_shells[i].name);
        length += written > 0 ? (size_t)written : 0;
    }
}

static enum dti_status unknown_shell(const char *name, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], list[LIST_SIZE] = "";
    list_shells(list);
    struct dti_nearest nearest;
    dti_nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < dti_shell_count; i++)
        dti_nearest_offer(&nearest, dti_shells[i].name);
    dti_fail(reterr, DTI_USAGE, "SHELL is one of %s; %s is none of them", list,
             dti_quote(quoted, name, strlen(name)));
    dti_error_argument(reterr, name, strlen(name));
    for (size_t i = 0; i < nearest.count; i++)
        dti_error_suggest(reterr, nearest.names[i]);
    return DTI_USAGE;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    (void)args;
    if (operand_count != 1) {
        char list[LIST_SIZE] = "";
        list_shells(list);
        return dti_fail(reterr, DTI_USAGE, "needs one SHELL: %s", list);
    }
    for (size_t i = 0; i < dti_shell_count; i++) {
        if (strcmp(dti_shells[i].name, operands[0]) == 0) {
            (void)fwrite(dti_shells[i].script, 1, dti_shells[i].length, cx->out);
            return DTI_OK;
        }
    }
    return unknown_shell(operands[0], reterr);
}

const struct dti_command dti_command_completion = {
    .name = "completion",
    .group = "other",
    .summary = "print the completion script of a shell",
    .synopsis = "SHELL",
    .details = "SHELL is bash, zsh or fish. To try it:  source <(dtinfo completion bash)",
    .examples = "dtinfo completion bash\n",
    .operands = DTI_OPERANDS_SHELL,
    .run = run,
};
