/* SPDX-License-Identifier: MIT
 *
 * Recipes are written and read through the option rows of cast and quant. */
#include "cli/shared/recipe_words.h"

#include <string.h>

#include "answers/explain/explain.h"
#include "cli/shared/amount.h"
#include "cli/shared/option_rows.h"
#include "cli/shell/command.h"

/* Options of these commands that recipes may have, in writing order. */
static const char cast_names[] = "via round overflow nan like ints packing from-packing";
static const char quant_names[] = "per block axis symmetric affine symmetry division like mx-scale "
                                  "nv-scale tensor-scale fused pad "
                                  "packing layout nested-absmax convrot dequant";

/* The command's rows for these names, each with one spelling; its arguments must begin with a
 * recipe. */
enum { OPTIONS_MAX = 20 };
static void find_options(struct dti_option ret[OPTIONS_MAX], const char *name, const char *names)
{
    const struct dti_command *command = NULL;
    struct dti_error ignored;
    (void)dti_command_lookup(name, &command, &ignored);
    for (const char *at = names; *at != '\0'; ret++) {
        const size_t length = strcspn(at, " ");
        *ret = *dti_option_find_long(command->options, at, length);
        ret->short_name = '\0';
        ret->alias = NULL;
        at += length + strspn(at + length, " ");
    }
    *ret = (struct dti_option)OPT_END;
}

static void put_option(struct dti_buffer *text, const struct dti_option *option,
                       const struct dti_recipe *recipe)
{
    const unsigned char *const value = (const unsigned char *)recipe + option->offset;
    const char *word = NULL;
    char number[24];
    uint64_t n;
    int choice;
    if (option->kind == DTI_OPTION_UINT) {
        memcpy(&n, value, sizeof n);
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)n);
        word = number;
    } else if (option->kind == DTI_OPTION_CHOICE) {
        memcpy(&choice, value, sizeof choice);
        word = dti_choice_name(option->choices, choice);
    } else if (option->kind != DTI_OPTION_FLAG) {
        memcpy(&word, value, sizeof word);
    }
    dti_buffer_puts(text, " --");
    dti_buffer_puts(text, option->long_name);
    dti_buffer_puts(text, word ? " " : "");
    dti_buffer_puts(text, word ? word : "");
}

static void put_command(struct dti_buffer *text, const char *command, const char *names,
                        const char *dtype, const struct dti_recipe *recipe)
{
    struct dti_option options[OPTIONS_MAX];
    find_options(options, command, names);
    dti_buffer_puts(text, command);
    dti_buffer_puts(text, " ");
    dti_buffer_puts(text, dtype);
    for (const struct dti_option *option = options; option->kind != DTI_OPTION_END; option++) {
        if (dti_option_given(options, recipe, option->long_name))
            put_option(text, option, recipe);
    }
}

/* Arrangements in words; those with heads are followed by a number. */
static const char *const arrangements[] = {
    [DTI_ARRANGED_NIBBLES] = "nibbles swapped",
    [DTI_ARRANGED_TRANSPOSED] = "transposed",
    [DTI_ARRANGED_PAIRS] = "rope pairs adjacent, heads of",
    [DTI_ARRANGED_HALVES] = "rope pairs half a head apart, heads of",
};

static bool has_heads(int arrangement)
{
    return arrangement == DTI_ARRANGED_PAIRS || arrangement == DTI_ARRANGED_HALVES;
}

/* "; transposed" */
static void put_arrangement(struct dti_buffer *text, const struct dti_recipe *recipe)
{
    if (recipe->arrangement == DTI_ARRANGED_AS_MADE)
        return;
    dti_buffer_print(text, "; %s", arrangements[recipe->arrangement]);
    if (has_heads(recipe->arrangement))
        dti_buffer_print(text, " %llu", (unsigned long long)recipe->head);
}

/* Reads what follows the semicolon, and cuts the text there. */
static enum dti_status read_arrangement(struct dti_recipe *ret, char *text,
                                        struct dti_error *reterr)
{
    char *const end = strchr(text, ';');
    if (!end)
        return DTI_OK;
    const char *word = end + 1 + strspn(end + 1, " ");
    *end = '\0';
    for (int i = DTI_ARRANGED_NIBBLES; i <= DTI_ARRANGED_HALVES; i++) {
        const size_t length = strlen(arrangements[i]);
        if (strncmp(word, arrangements[i], length) != 0)
            continue;
        const char *rest = word + length + strspn(word + length, " ");
        size_t left = strlen(rest);
        const bool given =
            has_heads(i) && dti_amount_digits(&rest, &left, &ret->head) && ret->head > 0;
        ret->arrangement = i;
        if (left == 0 && given == has_heads(i))
            return DTI_OK;
    }
    return dti_fail(reterr, DTI_USAGE,
                    "after ';' a recipe says in which order the elements are: '%s', '%s', '%s N' "
                    "or '%s N'; got %s",
                    arrangements[1], arrangements[2], arrangements[3], arrangements[4],
                    DTI_QUOTED(word, strlen(word)));
}

const char *dti_recipe_words(char *buffer, const struct dti_recipe *recipe)
{
    struct dti_buffer text;
    dti_buffer_borrow(&text, buffer, DTI_RECIPE_WORDS);
    switch (recipe->by) {
    case DTI_VERB_KEEP:
        dti_buffer_puts(&text, "kept");
        break;
    case DTI_VERB_RENAME:
        dti_buffer_puts(&text, "renamed");
        break;
    case DTI_VERB_CAST:
        put_command(&text, "cast", cast_names, recipe->dtype, recipe);
        break;
    case DTI_VERB_QUANT:
        put_command(&text, "quant", quant_names, recipe->dtype, recipe);
        break;
    case DTI_VERB_DEQUANT:
        put_command(&text, "quant", quant_names, recipe->then ? "fp32" : recipe->dtype, recipe);
        if (!recipe->then)
            break;
        dti_buffer_puts(&text, " then ");
        put_command(&text, "cast", cast_names, recipe->dtype, recipe);
        break;
    }
    put_arrangement(&text, recipe);
    return buffer; /* every recipe fits in the buffer */
}

enum { WORDS_MAX = 64 };

/* Parses one command: its options and the dtype. */
static enum dti_status read_command(struct dti_recipe *ret, const char *names, char **words,
                                    int count, struct dti_error *reterr)
{
    struct dti_option options[OPTIONS_MAX];
    enum dti_help help = DTI_HELP_NONE;
    int operands = 0;
    find_options(options, words[0], names);
    const enum dti_status status =
        dti_options_parse(options, ret, NULL, NULL, words + 1, count - 1, &operands, &help, reterr);
    if (status != DTI_OK)
        return status;
    if (operands == 1 && strlen(words[1]) < DTI_NAME_SIZE) {
        ret->dtype = words[1];
        return DTI_OK;
    }
    return dti_fail(reterr, DTI_USAGE, "%s takes one dtype, as in '%s bf16'", words[0], words[0]);
}

static enum dti_status read_words(struct dti_recipe *ret, char **words, int count,
                                  struct dti_error *reterr)
{
    int then = 0;
    while (then < count && strcmp(words[then], "then") != 0)
        then++;
    if (count == 1 && strcmp(words[0], "kept") == 0)
        return DTI_OK;
    if (count == 1 && strcmp(words[0], "renamed") == 0) {
        ret->by = DTI_VERB_RENAME;
        return DTI_OK;
    }
    if (count > 0 && then == count && strcmp(words[0], "cast") == 0) {
        ret->by = DTI_VERB_CAST;
        return read_command(ret, cast_names, words, count, reterr);
    }
    if (count == 0 || strcmp(words[0], "quant") != 0)
        return dti_fail(reterr, DTI_USAGE,
                        "a recipe is kept, renamed, or begins with cast or quant; got %s",
                        DTI_QUOTED(count > 0 ? words[0] : "", count > 0 ? strlen(words[0]) : 0));
    const enum dti_status status = read_command(ret, quant_names, words, then, reterr);
    if (status != DTI_OK)
        return status;
    ret->by = ret->dequant ? DTI_VERB_DEQUANT : DTI_VERB_QUANT;
    if (then == count)
        return DTI_OK;
    if (!ret->dequant || strcmp(ret->dtype, "fp32") != 0 || then + 1 == count ||
        strcmp(words[then + 1], "cast") != 0)
        return dti_fail(reterr, DTI_USAGE,
                        "only 'then cast' follows, and only 'quant fp32 --dequant'");
    ret->then = true;
    return read_command(ret, cast_names, words + then + 1, count - then - 1, reterr);
}

/* Checks the meaning of the words, before any tensor is examined. */
static enum dti_status check(const struct dti_recipe *recipe, struct dti_error *reterr)
{
    const char *at = recipe->axis ? recipe->axis : "0";
    size_t length = strlen(at);
    uint64_t axis = 0;
    struct dti_rewrite_request request;
    struct dti_quant_target target;
    if (!dti_amount_digits(&at, &length, &axis) || length > 0 ||
        axis > 63) /* a negative axis is rejected, too */
        return dti_fail(reterr, DTI_USAGE, "--axis takes a number from 0 to 63; got %s",
                        DTI_QUOTED(recipe->axis, strlen(recipe->axis)));
    if (recipe->by == DTI_VERB_KEEP || recipe->by == DTI_VERB_RENAME)
        return DTI_OK;
    return dti_recipe_prepare(&request, &target, recipe, reterr);
}

enum dti_status dti_recipe_read(struct dti_recipe *ret, char *text, struct dti_error *reterr)
{
    char *words[WORDS_MAX];
    int count = 0;
    memset(ret, 0, sizeof *ret);
    const enum dti_status order = read_arrangement(ret, text, reterr);
    if (order != DTI_OK)
        return order;
    for (char *at = text; *(at += strspn(at, " ")) != '\0';) {
        const size_t length = strcspn(at, " ");
        if (count == WORDS_MAX)
            return dti_fail(reterr, DTI_USAGE, "a recipe has at most %d words", WORDS_MAX);
        words[count++] = at;
        at += length;
        if (*at != '\0')
            *at++ = '\0';
    }
    const enum dti_status status = read_words(ret, words, count, reterr);
    return status == DTI_OK ? check(ret, reterr) : status;
}
