/* SPDX-License-Identifier: MIT
 *
 * The option parser: one pass over the words, operands moved to the front. It writes only through
 * the rows' offsets and into *reterr, never to a stream, so that a fuzzer can drive it. */
#include <stdio.h>
#include <string.h>

#include "cli/shell/hints.h"
#include "cli/shell/option_parse.h"
#include "util/text/ascii.h"
#include "util/text/nearest.h"

struct parser {
    const struct dti_option *options, *globals;
    void *args, *global_args;
    char **argv;
    int count;
    int next; /* the word after the current one */
};

/* A row, and the struct its offset refers to. */
struct target {
    const struct dti_option *option;
    void *args;
};

static bool starts_with_word(const char *text, const char *word)
{
    for (; *word != '\0'; text++, word++) {
        if (dti_ascii_lower(*text) != *word)
            return false;
    }
    return true;
}

bool dti_is_option_word(const char *word)
{
    if (word[0] != '-' || word[1] == '\0')
        return false;
    const char *const rest = word + 1;
    const bool number = (rest[0] >= '0' && rest[0] <= '9') || rest[0] == '.' ||
                        starts_with_word(rest, "inf") || starts_with_word(rest, "nan");
    return !number;
}

static const struct dti_option *row_of_letter(const struct dti_option *options, char name)
{
    for (; options && options->kind != DTI_OPTION_END; options++) {
        if (options->short_name == name && name != '\0')
            return options;
    }
    return NULL;
}

static struct target find_long(const struct parser *parser, const char *name, size_t length)
{
    const struct dti_option *const own = dti_option_find_long(parser->options, name, length);
    if (own)
        return (struct target){.option = own, .args = parser->args};
    return (struct target){.option = dti_option_find_long(parser->globals, name, length),
                           .args = parser->global_args};
}

static struct target find_short(const struct parser *parser, char name)
{
    const struct dti_option *const own = row_of_letter(parser->options, name);
    if (own)
        return (struct target){.option = own, .args = parser->args};
    return (struct target){.option = row_of_letter(parser->globals, name),
                           .args = parser->global_args};
}

static enum dti_status unknown_option(const struct parser *parser, const char *shown,
                                      size_t shown_length, const char *name, size_t length,
                                      struct dti_error *reterr)
{
    const char *const use = dti_hint_option(parser->options, parser->globals, name, length);
    if (use) {
        dti_fail_word(reterr, DTI_UNKNOWN_OPTION, shown, shown_length, "unknown option %s; use %s",
                      DTI_QUOTED(shown, shown_length), use);
        dti_hint_suggest(use, reterr);
        return DTI_UNKNOWN_OPTION;
    }
    struct dti_nearest nearest;
    dti_nearest_init(&nearest, name, length);
    nearest.prefix = "--";
    const struct dti_option *const lists[] = {parser->options, parser->globals};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (const struct dti_option *row = lists[i]; row && row->kind != DTI_OPTION_END; row++)
            dti_nearest_offer(&nearest, dti_option_name(row));
    }
    dti_fail_word(reterr, DTI_UNKNOWN_OPTION, shown, shown_length, "unknown option %s%s",
                  DTI_QUOTED(shown, shown_length),
                  nearest.count > 0 ? "" : "; --help lists the options");
    dti_nearest_suggest(&nearest, reterr);
    return DTI_UNKNOWN_OPTION;
}

/* Takes the value of an option that needs one: the rest of the same word, else the next word.
 */
static enum dti_status take_value(struct parser *parser, const struct target *target,
                                  const char *shown, const char *attached, struct dti_error *reterr)
{
    if (!attached && parser->next == parser->count) {
        const char *const metavar = dti_option_metavar(target->option);
        const struct dti_choice *const choices = dti_option_choices(target->option);
        char list[DTI_CHOICES_SIZE];
        return dti_fail_word(reterr, DTI_USAGE, shown, strlen(shown), "%s needs %s %s%s%s", shown,
                             strchr("AEIOU", metavar[0]) ? "an" : "a", metavar,
                             !choices                                   ? ""
                             : target->option->kind == DTI_OPTION_DTYPE ? ", or "
                                                                        : "; there are ",
                             choices ? dti_choices_list(list, choices) : "");
    }
    return dti_option_store(target->option, target->args, shown,
                            attached ? attached : parser->argv[parser->next++], reterr);
}

/* The parser stops at the help flag: the remaining words need not be valid. */
static bool is_help(const struct dti_option *option)
{
    return strcmp(dti_option_name(option), "help") == 0;
}

static enum dti_status parse_long(struct parser *parser, const char *word, enum dti_help *ret_help,
                                  struct dti_error *reterr)
{
    const char *const name = word + 2;
    const size_t length = strcspn(name, "=");
    const char *const attached = name[length] == '=' ? name + length + 1 : NULL;
    const struct target target = find_long(parser, name, length);
    if (!target.option)
        return unknown_option(parser, word, length + 2, name, length, reterr);

    char shown[64];
    snprintf(shown, sizeof shown, "--%s", dti_option_name(target.option));
    if (target.option->kind != DTI_OPTION_FLAG)
        return take_value(parser, &target, shown, attached, reterr);
    if (attached)
        return dti_fail_word(reterr, DTI_USAGE, word, strlen(word), "%s takes no value", shown);
    if (is_help(target.option))
        *ret_help = DTI_HELP_FULL;
    return dti_option_store(target.option, target.args, shown, NULL, reterr);
}

/* "-qv", "-rzero", "-r zero" */
static enum dti_status parse_short(struct parser *parser, const char *word, enum dti_help *ret_help,
                                   struct dti_error *reterr)
{
    for (const char *letter = word + 1; *letter != '\0' && *ret_help == DTI_HELP_NONE; letter++) {
        const char shown[] = {'-', *letter, '\0'};
        const struct target target = find_short(parser, *letter);
        if (!target.option) {
            /* "-json" is more likely a long option with a missing dash than a letter j; and the
             * first byte of a UTF-8 character alone would be unreadable */
            return unknown_option(parser, word, strlen(word), word + 1, strlen(word + 1), reterr);
        }
        if (target.option->kind != DTI_OPTION_FLAG)
            return take_value(parser, &target, shown, letter[1] != '\0' ? letter + 1 : NULL,
                              reterr);
        if (is_help(target.option))
            *ret_help = DTI_HELP_SHORT;
        const enum dti_status status =
            dti_option_store(target.option, target.args, shown, NULL, reterr);
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}

enum dti_status dti_options_parse(const struct dti_option *options, void *args,
                                  const struct dti_option *globals, void *global_args, char **argv,
                                  int count, int *ret_operands, enum dti_help *ret_help,
                                  struct dti_error *reterr)
{
    struct parser parser = {.options = options,
                            .globals = globals,
                            .args = args,
                            .global_args = global_args,
                            .argv = argv,
                            .count = count};
    enum dti_help help = DTI_HELP_NONE;
    bool options_ended = false;
    int operands = 0;
    while (parser.next < count && help == DTI_HELP_NONE) {
        char *const word = argv[parser.next++];
        if (options_ended || !dti_is_option_word(word)) {
            argv[operands++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options_ended = true;
            continue;
        }
        const enum dti_status status = word[1] == '-' ? parse_long(&parser, word, &help, reterr)
                                                      : parse_short(&parser, word, &help, reterr);
        if (status != DTI_OK)
            return status;
    }
    *ret_operands = operands;
    *ret_help = help;
    return DTI_OK;
}

bool dti_option_awaits_value(const struct dti_option *options, const struct dti_option *globals,
                             const char *word, const struct dti_option **ret_option)
{
    const struct parser parser = {.options = options, .globals = globals};
    if (!dti_is_option_word(word))
        return false;
    struct target target;
    if (word[1] == '-') {
        target = find_long(&parser, word + 2, strlen(word + 2));
    } else {
        const char *letter = word + 1;
        do
            target = find_short(&parser, *letter);
        while (target.option && target.option->kind == DTI_OPTION_FLAG && *++letter != '\0');
        if (letter[0] != '\0' && letter[1] != '\0')
            return false;
    }
    if (!target.option || target.option->kind == DTI_OPTION_FLAG)
        return false;
    *ret_option = target.option;
    return true;
}
