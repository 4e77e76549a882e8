/* SPDX-License-Identifier: MIT
 *
 * Settings become args, and words of the command line a caller's. */
#include "library/settings.h"

#include <stdio.h>
#include <string.h>

#include "util/text/nearest.h"

static enum dti_status unknown(const char *command, const struct dti_option *options,
                               const char *name, struct dti_error *reterr)
{
    struct dti_nearest nearest;
    dti_nearest_init(&nearest, name, strlen(name));
    for (; options->kind != DTI_OPTION_END; options++) {
        if (!dti_option_more(options)->elsewhere)
            dti_nearest_offer(&nearest, dti_option_name(options));
    }
    (void)dti_fail_word(reterr, DTI_UNKNOWN_OPTION, name, strlen(name), "%s has no setting %s",
                        command, DTI_QUOTED(name, strlen(name)));
    dti_nearest_suggest(&nearest, reterr);
    return DTI_UNKNOWN_OPTION;
}

static enum dti_status store(const char *command, const struct dti_option *options, void *args,
                             const struct dti_setting *setting, struct dti_error *reterr)
{
    const char *const name = setting->name, *const value = setting->value;
    if (!name)
        return dti_fail(reterr, DTI_USAGE, "a setting has no name");
    const struct dti_option *const option = dti_option_find_long(options, name, strlen(name));
    if (!option)
        return unknown(command, options, name, reterr);
    if (dti_option_more(option)->elsewhere)
        return dti_fail_word(reterr, DTI_UNKNOWN_OPTION, name, strlen(name),
                             "%s is not a setting: %s", dti_option_name(option),
                             dti_option_more(option)->elsewhere);
    if (option->kind != DTI_OPTION_FLAG)
        return value ? dti_option_store(option, args, dti_option_name(option), value, reterr)
                     : dti_fail_word(reterr, DTI_USAGE, name, strlen(name), "%s needs a value",
                                     dti_option_name(option));
    if (value && value[0] != '\0')
        return dti_fail_word(reterr, DTI_USAGE, value, strlen(value), "%s takes no value",
                             dti_option_name(option));
    return dti_option_store(option, args, dti_option_name(option), NULL, reterr);
}

enum dti_status dti_settings_store(const char *command, const struct dti_option *options,
                                   void *args, const struct dti_setting *settings, size_t count,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = store(command, options, args, &settings[i], reterr);
    return status;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* The length of "--" before a name, or of "-o"; *ret_words: what takes its place. */
static size_t dashes(const char *at, const char **ret_words)
{
    *ret_words = "";
    if (at[0] == '-' && at[1] == '-' && at[2] >= 'a' && at[2] <= 'z')
        return 2;
    *ret_words = "the output";
    return at[0] == '-' && at[1] == 'o' && !is_word(at[2]) ? 2 : 0;
}

/* Names of options without their dashes. What stands in quotes stays: it is a caller's text, or a
 * command line. */
static void reword(char *to, size_t size, const char *text)
{
    bool quoted = false;
    size_t used = 0;
    for (const char *at = text; *at != '\0' && used + 1 < size;) {
        const char before = at > text ? at[-1] : ' ';
        const char *words;
        const size_t length = quoted || is_word(before) ? 0 : dashes(at, &words);
        if (*at == '\'' && (quoted ? !is_word(at[1]) : !is_word(before)))
            quoted = !quoted;
        for (; length > 0 && *words != '\0' && used + 1 < size; words++)
            to[used++] = *words;
        if (length == 0)
            to[used++] = *at;
        at += length > 0 ? length : 1;
    }
    to[used] = '\0';
}

const char *dti_settings_words(char buffer[DTI_REMEDY_WORDS], enum dti_remedy remedy,
                               const char *text)
{
    if (!text)
        return NULL;
    reword(buffer, DTI_REMEDY_WORDS, text);
    const size_t length = strlen(buffer);
    if (remedy != DTI_REMEDY_NONE)
        (void)snprintf(buffer + length, DTI_REMEDY_WORDS - length, "; %s",
                       dti_remedy_advice(remedy));
    return buffer;
}

enum dti_status dti_settings_fail(struct dti_error *reterr, enum dti_status status)
{
    if (!reterr || status == DTI_OK)
        return status;
    char text[sizeof reterr->text];
    reword(text, sizeof text, reterr->text);
    memcpy(reterr->text, text, sizeof text);
    for (size_t i = 0; i < DTI_ERROR_SUGGESTIONS; i++) {
        char *const word = reterr->suggestions[i];
        if (word[0] == '-' && word[1] == '-')
            memmove(word, word + 2, strlen(word + 2) + 1);
    }
    return status;
}

struct dti_asker dti_settings_asker(const struct dti_context *context, const char *command,
                                    bool document)
{
    return (struct dti_asker){
        .command = command,
        .words = dti_settings_words,
        .cpu_level = dti_level_name(context->level),
        .threads = context->threads,
        .document = document,
        .quiet = !document,
    };
}
