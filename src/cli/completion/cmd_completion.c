/* SPDX-License-Identifier: MIT
 *
 * dtinfo completion SHELL: prints the completion script that is also installed. */
#include <string.h>

#include "cli/completion/shells.h"
#include "completion_scripts.h"

/* completions/dtinfo.bash and the other scripts, converted to arrays by the build. */
static const struct {
    const char *text;
    size_t length;
} scripts[] = {
    {completion_bash, sizeof completion_bash},
    {completion_zsh, sizeof completion_zsh},
    {completion_fish, sizeof completion_fish},
};

/* value: the index of its script */
const struct dti_choice dti_completion_shells[] = {
    {.name = "bash", .value = 0},
    {.name = "zsh", .value = 1},
    {.name = "fish", .value = 2},
    {.name = NULL},
};

static enum dti_status run_completion(const void *args, char **operands, int operand_count,
                                      struct dti_command_context *cx, struct dti_error *reterr)
{
    char list[DTI_CHOICES_SIZE];
    (void)args;
    dti_choices_list(list, dti_completion_shells);
    if (operand_count != 1)
        return dti_fail(reterr, DTI_USAGE, "expected one SHELL: %s", list);
    const size_t length = strlen(operands[0]);
    const struct dti_choice *const shell =
        dti_choice_find(dti_completion_shells, operands[0], length);
    if (shell) {
        (void)fwrite(scripts[shell->value].text, 1, scripts[shell->value].length, cx->out);
        return DTI_OK;
    }
    dti_fail_word(reterr, DTI_USAGE, operands[0], length, "SHELL is one of %s; got %s", list,
                  DTI_QUOTED(operands[0], length));
    dti_choices_suggest(dti_completion_shells, operands[0], length, reterr);
    return DTI_USAGE;
}

const struct dti_command dti_command_completion = {
    .name = "completion",
    .group = "other",
    .summary = "print the completion script of a shell",
    .synopsis = "SHELL",
    .details = "SHELL is bash, zsh or fish. To try it:  source <(dtinfo completion bash)",
    .examples = "dtinfo completion bash\n",
    .verbatim = true,
    .operands = DTI_OPERANDS_SHELL,
    .run = run_completion,
};
