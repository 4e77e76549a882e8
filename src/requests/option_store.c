/* SPDX-License-Identifier: MIT
 *
 * Values of options: numbers, words of tables, texts, stored where their row says. Writes only
 * through the row's offsets and into *reterr, so that a fuzzer can drive it. */
#include <stdio.h>
#include <string.h>

#include "requests/option.h"
#include "util/text/ascii.h"
#include "util/text/nearest.h"

/* A row, and the struct its offset refers to. */
struct stored {
    const struct dti_option *option;
    void *args;
};

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
    const char *const of_models = dti_option_more(option)->of_models;
    if (of_models && dti_text_ends(value, length, ".gguf"))
        return dti_fail_word(reterr, DTI_USAGE, value, length,
                             "%s takes the name of a stack; use --%s %s", shown, of_models,
                             DTI_QUOTED(value, length));
    dti_fail_word(reterr, DTI_USAGE, value, length, "%s takes %s of %s; got %s", shown,
                  option->kind == DTI_OPTION_SET ? "some" : "one",
                  dti_choices_list(list, option->choices), DTI_QUOTED(value, length));
    dti_choices_suggest(option->choices, value, length, reterr);
    return DTI_USAGE;
}

/* Fields are written by memcpy: the struct's type is not known here. */
static void store(const struct stored *target, const void *value, size_t size)
{
    memcpy((char *)target->args + target->option->offset, value, size);
}

static enum dti_status store_set(const struct stored *target, const char *shown, const char *value,
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

static enum dti_status store_item(const struct stored *target, const char *shown, const char *value,
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

enum dti_status dti_option_store(const struct dti_option *option, void *args, const char *shown,
                                 const char *value, struct dti_error *reterr)
{
    const struct stored all = {.option = option, .args = args}, *const target = &all;
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
        memcpy((char *)args + option->given_offset, &(bool){true}, sizeof(bool));
    return DTI_OK;
}
