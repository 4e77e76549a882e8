/* SPDX-License-Identifier: MIT
 *
 * The rows of hints.def: their advice refers to existing options, and no row uses a word that is
 * already taken. */
#include "cli/shell/command.h"
#include "cli/shell/hints.h"
#include "unit.h"

struct row {
    const char *words, *where, *use;
};

static const struct row option_rows[] = {
#define OPTION_WORDS(list, option, what) {.words = list, .where = option, .use = what},
#include "cli/shell/hints.def"
#undef OPTION_WORDS
};

static const struct row command_rows[] = {
#define COMMAND_WORDS(list, command) {.words = list, .use = command},
#include "cli/shell/hints.def"
#undef COMMAND_WORDS
};

enum { OPTION_ROWS = sizeof option_rows / sizeof *option_rows };

/* In each command that has the row's option, the words of the row lead to an existing option. */
static void options_lead_to_options_of_the_command(void)
{
    bool used[OPTION_ROWS] = {false};
    for (size_t c = 0; c < dti_command_count; c++) {
        const struct dti_option *const options = dti_commands[c]->options;
        for (size_t i = 0; i < OPTION_ROWS; i++) {
            for (const char *word = option_rows[i].words; *word != '\0';) {
                const size_t length = strcspn(word, " ");
                const char *const use = dti_hint_option(options, dti_global_options, word, length);
                used[i] = used[i] || (use && strcmp(use, option_rows[i].use) == 0);
                if (use && use[0] == '-') {
                    const size_t name = strcspn(use + 2, " ,");
                    CHECK(dti_option_find_long(options, use + 2, name) ||
                          dti_option_find_long(dti_global_options, use + 2, name));
                }
                word += length + (word[length] == ' ');
            }
        }
    }
    for (size_t i = 0; i < OPTION_ROWS; i++) {
        if (!CHECK(used[i]))
            printf("    (%s)\n", option_rows[i].words);
    }
}

static void commands_lead_to_commands(void)
{
    for (size_t i = 0; i < sizeof command_rows / sizeof *command_rows; i++) {
        char name[32] = "";
        memcpy(name, command_rows[i].use, strcspn(command_rows[i].use, " "));
        CHECK(dti_command_find(name) != NULL);
        for (const char *word = command_rows[i].words; *word != '\0';) {
            const size_t length = strcspn(word, " ");
            memcpy(name, word, length);
            name[length] = '\0';
            CHECK(dti_command_find(name) == NULL);
            CHECK_STR(dti_hint_command(name), command_rows[i].use);
            word += length + (word[length] == ' ');
        }
    }
    CHECK(dti_hint_command("xyzzy") == NULL);
    CHECK(dti_hint_option(NULL, dti_global_options, "limit", 5) == NULL);
}

UNIT_MAIN(options_lead_to_options_of_the_command, commands_lead_to_commands)
