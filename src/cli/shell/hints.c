/* SPDX-License-Identifier: MIT
 *
 * The rows of hints.def, and the search in them. */
#include "cli/shell/hints.h"

#include <stdio.h>
#include <string.h>

#include "calc/calc.h"
#include "util/text/ascii.h"

static const struct {
    char words[60], where[16], use[72]; /* where: an option that the command must have, or "" */
} options_hinted[] = {
#define OPTION_WORDS(list, option, what) {.words = list, .where = option, .use = what},
#include "cli/shell/hints.def"
#undef OPTION_WORDS
};

static const struct {
    char words[44], use[16];
} commands_hinted[] = {
#define COMMAND_WORDS(list, command) {.words = list, .use = command},
#include "cli/shell/hints.def"
#undef COMMAND_WORDS
};

/* list: words separated by blanks. */
static bool is_among(const char *list, const char *name, size_t length)
{
    for (size_t word; (word = strcspn(list, " ")) > 0; list += word + (list[word] == ' ')) {
        if (word == length && dti_ascii_equal_start(list, name, length))
            return true;
    }
    return false;
}

const char *dti_hint_option(const struct dti_option *options, const struct dti_option *globals,
                            const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof options_hinted / sizeof *options_hinted; i++) {
        const char *const where = options_hinted[i].where;
        if (is_among(options_hinted[i].words, name, length) &&
            (where[0] == '\0' || dti_option_find_long(options, where, strlen(where)) ||
             dti_option_find_long(globals, where, strlen(where))))
            return options_hinted[i].use;
    }
    return NULL;
}

const char *dti_hint_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands_hinted / sizeof *commands_hinted; i++) {
        if (is_among(commands_hinted[i].words, name, strlen(name)))
            return commands_hinted[i].use;
    }
    return NULL;
}

bool dti_hint_is_expression(const char *text)
{
    struct dti_calc_tree *tree;
    struct dti_error ignored;
    if (dti_calc_parse(&tree, text, strlen(text), &ignored) != DTI_OK)
        return false;
    dti_calc_tree_free(tree);
    return true;
}

void dti_hint_suggest(const char *use, struct dti_error *reterr)
{
    char option[sizeof reterr->suggestions[0]];
    (void)snprintf(option, sizeof option, "%.*s", (int)strcspn(use, " ,"), use);
    if (option[0] == '-')
        dti_error_suggest(reterr, option);
}
