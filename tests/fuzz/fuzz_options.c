/* SPDX-License-Identifier: MIT
 *
 * Command lines, one word per line; the first is the command. The option parser accepts or refuses
 * every one. The operands it returns were given, and in that order. */
#include <string.h>

#include "cli/shell/command.h"
#include "cli/shell/globals.h"
#include "fuzz.h"

const char *const dti_fuzz_words[] = {
    "cast\n",      "bits\n",
    "finfo\n",     "list\n",
    "help\n",      "completion\n",
    "iinfo\n",     "--round\n",
    "--round=",    "-r\n",
    "-r",          "--seed\n",
    "--seed=",     "--digits\n",
    "--overflow=", "--nan=quiet",
    "--via\n",     "--json\n",
    "--jsonl\n",   "-qv\n",
    "-q\n",        "--color=",
    "always\n",    "auto\n",
    "up\n",        "nearest-even\n",
    "--\n",        "-\n",
    "-1.5\n",      "-inf\n",
    "-nan\n",      "--help\n",
    "-h\n",        "--version\n",
    "70000\n",     "bf16\n",
    "fp16,",       "\n",
    "=",           "--fail-on\n",
    "inexact,",    "overflow\n",
    "--stacks\n",  "--value\n",
    "--like\n",    "torch\n",
    "0x10\n",      "18446744073709551616\n",
    "--style=",    "numpy\n",
    "--names\n",   NULL,
};

enum { LINE_MAX_LENGTH = 4000, WORDS_MAX = 200 };

static int split(char *text, char **words)
{
    int count = 0;
    char *start = text;
    for (char *c = text; *c && count < WORDS_MAX; c++) {
        if (*c == '\n') {
            *c = '\0';
            words[count++] = start;
            start = c + 1;
        }
    }
    if (*start && count < WORDS_MAX)
        words[count++] = start;
    return count;
}

/* Operands are moved to the front in order: a subsequence of the given words. */
static void check_operands(char *const *operands, int operand_count, char *const *given, int count)
{
    int next = 0;
    REQUIRE(operand_count >= 0 && operand_count <= count);
    for (int i = 0; i < operand_count; i++) {
        while (next < count && given[next] != operands[i])
            next++;
        REQUIRE(next < count);
        next++;
    }
}

static void check_parse(const struct dti_command *command, char **words, int count)
{
    struct dti_globals globals = {0};
    struct dti_error error = {.status = DTI_OK};
    char *given[WORDS_MAX];
    int operand_count = 0;
    enum dti_help help = DTI_HELP_NONE;
    void *const args = calloc(1, command->args_size > 0 ? command->args_size : 1);
    REQUIRE(args);
    memcpy(given, words, (size_t)count * sizeof *words);
    const enum dti_status status =
        dti_options_parse(command->options, args, dti_global_options, &globals, words, count,
                          &operand_count, &help, &error);
    if (status == DTI_OK && help == DTI_HELP_NONE) {
        check_operands(words, operand_count, given, count);
    } else if (status != DTI_OK) {
        REQUIRE(status == DTI_USAGE || status == DTI_UNKNOWN_OPTION);
        REQUIRE(error.status == status && error.text[0] != '\0');
        for (const char *c = error.text; *c; c++)
            REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
    }
    free(args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[LINE_MAX_LENGTH + 1], *words[WORDS_MAX];
    struct dti_error error = {.status = DTI_OK};
    const struct dti_command *command;
    if (size > LINE_MAX_LENGTH)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    const int count = split(text, words);
    if (count == 0)
        return 0;
    if (dti_command_lookup(words[0], &command, &error) == DTI_OK) {
        check_parse(command, words + 1, count - 1);
        return 0;
    }
    REQUIRE(error.status == DTI_UNKNOWN_COMMAND && error.text[0] != '\0');
    check_parse(dti_commands[size % dti_command_count], words, count);
    return 0;
}
