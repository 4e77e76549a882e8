/* SPDX-License-Identifier: MIT
 *
 * The rows of hints.def, and the search in them. */
#include "cli/shell/hints.h"

#include <stdio.h>
#include <string.h>

#include "calc/calc.h"
#include "util/text/ascii.h"
#include "util/text/row_texts.h"

/* Words, an option that the command must have or "", what to use. */
static const struct option_texts {
#define OPTION_WORDS(list, option, what) char DTI_ROW_TEXT[sizeof(list "\0" option "\0" what)];
#include "cli/shell/hints.def"
#undef OPTION_WORDS
} options_hinted = {
#define OPTION_WORDS(list, option, what) list "\0" option "\0" what,
#include "cli/shell/hints.def"
#undef OPTION_WORDS
};

/* Words, what to use. */
static const struct command_texts {
#define COMMAND_WORDS(list, command) char DTI_ROW_TEXT[sizeof(list "\0" command)];
#include "cli/shell/hints.def"
#undef COMMAND_WORDS
} commands_hinted = {
#define COMMAND_WORDS(list, command) list "\0" command,
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
    const char *const end = (const char *)(&options_hinted + 1);
    for (const char *words = (const char *)&options_hinted, *use; words < end;
         words = dti_text_after(use)) {
        const char *const where = dti_text_after(words);
        use = dti_text_after(where);
        if (is_among(words, name, length) &&
            (where[0] == '\0' || dti_option_find_long(options, where, strlen(where)) ||
             dti_option_find_long(globals, where, strlen(where))))
            return use;
    }
    return NULL;
}

const char *dti_hint_command(const char *name)
{
    const char *const end = (const char *)(&commands_hinted + 1);
    for (const char *words = (const char *)&commands_hinted, *use; words < end;
         words = dti_text_after(use)) {
        use = dti_text_after(words);
        if (is_among(words, name, strlen(name)))
            return use;
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
