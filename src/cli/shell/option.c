/* SPDX-License-Identifier: MIT
 *
 * The option parser: one pass over the words, operands moved to the front. It writes only through
 * the rows' offsets and into *reterr, never to a stream, so that a fuzzer can drive it. */
#include <stdio.h>
#include <string.h>

#include "cli/shell/hints.h"
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
            dti_nearest_offer(&nearest, row->long_name);
    }
    dti_fail_word(reterr, DTI_UNKNOWN_OPTION, shown, shown_length, "unknown option %s%s",
                  DTI_QUOTED(shown, shown_length),
                  nearest.count > 0 ? "" : "; --help lists the options");
    dti_nearest_suggest(&nearest, reterr);
    return DTI_UNKNOWN_OPTION;
}

/* Decimal or 0x hexadecimal digits, nothing else. */
static bool parse_uint(const char *text, uint64_t *ret_value)
{
    const bool hexadecimal = text[0] == '0' && dti_ascii_lower(text[1]) == 'x';
    const unsigned base = hexadecimal ? 16 : 10;
    if (hexadecimal)
        text += 2;
    uint64_t value = 0;
    const char *const first = text;
    for (; *text != '\0'; text++) {
        const char c = dti_ascii_lower(*text);
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (hexadecimal && c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            return false;
        if (value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *ret_value = value;
    return text != first;
}

const struct dti_choice *dti_choice_find(const struct dti_choice *choices, const char *name,
                                         size_t length)
{
    for (; choices->name; choices++) {
        if (strlen(choices->name) == length && dti_ascii_equal_start(choices->name, name, length))
            return choices;
    }
    return NULL;
}

const char *dti_choices_list(char list[DTI_CHOICES_SIZE], const struct dti_choice *choices)
{
    size_t used = 0;
    list[0] = '\0';
    for (const struct dti_choice *choice = choices; dti_choice_shown(choice); choice++) {
        const int added = snprintf(list + used, DTI_CHOICES_SIZE - used, "%s%s",
                                   used > 0 ? ", " : "", choice->name);
        if (added > 0 && (size_t)added < DTI_CHOICES_SIZE - used)
            used += (size_t)added;
        else
            list[used] = '\0';
    }
    return list;
}

void dti_choices_suggest(const struct dti_choice *choices, const char *word, size_t length,
                         struct dti_error *reterr)
{
    struct dti_nearest nearest;
    dti_nearest_init(&nearest, word, length);
    for (; dti_choice_shown(choices); choices++)
        dti_nearest_offer(&nearest, choices->name);
    for (size_t i = 0; i < nearest.count; i++)
        dti_error_suggest(reterr, nearest.names[i]);
}

/* "--round takes one of nearest-even, zero; got 'nearest'" */
static enum dti_status not_a_choice(const struct dti_option *option, const char *shown,
                                    const char *value, size_t length, struct dti_error *reterr)
{
    char list[DTI_CHOICES_SIZE];
    if (option->of_models && dti_text_ends(value, length, ".gguf"))
        return dti_fail_word(reterr, DTI_USAGE, value, length,
                             "%s takes the name of a stack; use --%s %s", shown, option->of_models,
                             DTI_QUOTED(value, length));
    dti_fail_word(reterr, DTI_USAGE, value, length, "%s takes %s of %s; got %s", shown,
                  option->kind == DTI_OPTION_SET ? "some" : "one",
                  dti_choices_list(list, option->choices), DTI_QUOTED(value, length));
    dti_choices_suggest(option->choices, value, length, reterr);
    return DTI_USAGE;
}

/* Fields are written by memcpy: the struct's type is not known here. */
static void store(const struct target *target, const void *value, size_t size)
{
    memcpy((char *)target->args + target->option->offset, value, size);
}

static enum dti_status store_set(const struct target *target, const char *shown, const char *value,
                                 struct dti_error *reterr)
{
    int set;
    memcpy(&set, (const char *)target->args + target->option->offset, sizeof set);
    for (const char *item = value;;) {
        const size_t length = strcspn(item, ",");
        const struct dti_choice *const choice =
            dti_choice_find(target->option->choices, item, length);
        if (!choice)
            return not_a_choice(target->option, shown, item, length, reterr);
        set |= choice->value;
        if (item[length] == '\0')
            break;
        item += length + 1;
    }
    store(target, &set, sizeof set);
    return DTI_OK;
}

static enum dti_status store_item(const struct target *target, const char *shown, const char *value,
                                  struct dti_error *reterr)
{
    struct dti_option_list *const list =
        (struct dti_option_list *)(void *)((char *)target->args + target->option->offset);
    if (list->count == DTI_OPTION_LIST_MOST)
        return dti_fail_word(reterr, DTI_USAGE, value, strlen(value),
                             "%s can be given %d times; %s is one too many", shown,
                             (int)DTI_OPTION_LIST_MOST, DTI_QUOTED(value, strlen(value)));
    list->items[list->count++] = value;
    return DTI_OK;
}

static enum dti_status store_value(const struct target *target, const char *shown,
                                   const char *value, struct dti_error *reterr)
{
    const struct dti_option *const option = target->option;
    switch (option->kind) {
    case DTI_OPTION_FLAG:
        store(target, &(bool){true}, sizeof(bool));
        break;
    case DTI_OPTION_UINT: {
        uint64_t number;
        if (!parse_uint(value, &number) || number < option->minimum || number > option->maximum)
            return dti_fail_word(reterr, DTI_USAGE, value, strlen(value),
                                 "%s takes a number from %llu to %llu; got %s", shown,
                                 (unsigned long long)option->minimum,
                                 (unsigned long long)option->maximum,
                                 DTI_QUOTED(value, strlen(value)));
        store(target, &number, sizeof number);
        break;
    }
    case DTI_OPTION_CHOICE: {
        const struct dti_choice *const choice =
            dti_choice_find(option->choices, value, strlen(value));
        if (!choice)
            return not_a_choice(option, shown, value, strlen(value), reterr);
        store(target, &choice->value, sizeof choice->value);
        break;
    }
    case DTI_OPTION_SET: {
        const enum dti_status status = store_set(target, shown, value, reterr);
        if (status != DTI_OK)
            return status;
        break;
    }
    case DTI_OPTION_LIST:
        return store_item(target, shown, value, reterr);
    case DTI_OPTION_TEXT:
    case DTI_OPTION_DTYPE:
    case DTI_OPTION_FILE:
    case DTI_OPTION_GLOB:
        store(target, &value, sizeof value);
        break;
    case DTI_OPTION_END:
        break;
    }
    if (option->given_offset != DTI_NO_GIVEN)
        memcpy((char *)target->args + option->given_offset, &(bool){true}, sizeof(bool));
    return DTI_OK;
}

/* Takes the value of an option that needs one: the rest of the same word, else the next word.
 */
static enum dti_status take_value(struct parser *parser, const struct target *target,
                                  const char *shown, const char *attached, struct dti_error *reterr)
{
    if (!attached && parser->next == parser->count) {
        const char *const metavar = target->option->metavar;
        const struct dti_choice *const choices = target->option->choices;
        char list[DTI_CHOICES_SIZE];
        return dti_fail_word(reterr, DTI_USAGE, shown, strlen(shown), "%s needs %s %s%s%s", shown,
                             strchr("AEIOU", metavar[0]) ? "an" : "a", metavar,
                             !choices                                   ? ""
                             : target->option->kind == DTI_OPTION_DTYPE ? ", or "
                                                                        : "; there are ",
                             choices ? dti_choices_list(list, choices) : "");
    }
    return store_value(target, shown, attached ? attached : parser->argv[parser->next++], reterr);
}

/* The parser stops at the help flag: the remaining words need not be valid. */
static bool is_help(const struct dti_option *option)
{
    return strcmp(option->long_name, "help") == 0;
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
    snprintf(shown, sizeof shown, "--%s", target.option->long_name);
    if (target.option->kind != DTI_OPTION_FLAG)
        return take_value(parser, &target, shown, attached, reterr);
    if (attached)
        return dti_fail_word(reterr, DTI_USAGE, word, strlen(word), "%s takes no value", shown);
    if (is_help(target.option))
        *ret_help = DTI_HELP_FULL;
    return store_value(&target, shown, NULL, reterr);
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
        const enum dti_status status = store_value(&target, shown, NULL, reterr);
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
