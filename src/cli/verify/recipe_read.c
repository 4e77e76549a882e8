/* SPDX-License-Identifier: MIT
 *
 * Recipes are read through the option rows of cast and quant. */
#include "cli/verify/recipe_read.h"

#include <string.h>

#include "answers/explain/explain.h"
#include "cli/shell/option_parse.h"
#include "requests/amount.h"
#include "requests/explain/recipe_words.h"

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
        const size_t length = strlen(dti_recipe_arrangements[i]);
        if (strncmp(word, dti_recipe_arrangements[i], length) != 0)
            continue;
        const char *rest = word + length + strspn(word + length, " ");
        size_t left = strlen(rest);
        const bool given =
            dti_recipe_has_heads(i) && dti_amount_digits(&rest, &left, &ret->head) && ret->head > 0;
        ret->arrangement = i;
        if (left == 0 && given == dti_recipe_has_heads(i))
            return DTI_OK;
    }
    return dti_fail(reterr, DTI_USAGE,
                    "after ';' a recipe says in which order the elements are: '%s', '%s', '%s N' "
                    "or '%s N'; got %s",
                    dti_recipe_arrangements[1], dti_recipe_arrangements[2],
                    dti_recipe_arrangements[3], dti_recipe_arrangements[4],
                    DTI_QUOTED(word, strlen(word)));
}

enum { WORDS_MAX = 64 };

/* Parses one command: its options and the dtype. */
static enum dti_status read_command(struct dti_recipe *ret, const char *names, char **words,
                                    int count, struct dti_error *reterr)
{
    struct dti_option options[DTI_RECIPE_OPTIONS];
    enum dti_help help = DTI_HELP_NONE;
    int operands = 0;
    dti_recipe_options(options, words[0], names);
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
        return read_command(ret, dti_recipe_cast_names, words, count, reterr);
    }
    if (count == 0 || strcmp(words[0], "quant") != 0)
        return dti_fail(reterr, DTI_USAGE,
                        "a recipe is kept, renamed, or begins with cast or quant; got %s",
                        DTI_QUOTED(count > 0 ? words[0] : "", count > 0 ? strlen(words[0]) : 0));
    const enum dti_status status = read_command(ret, dti_recipe_quant_names, words, then, reterr);
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
    return read_command(ret, dti_recipe_cast_names, words + then + 1, count - then - 1, reterr);
}

/* Checks the meaning of the words, before any tensor is examined. */
static enum dti_status check(const struct dti_recipe *recipe, struct dti_error *reterr)
{
    const char *const given = recipe->axis ? recipe->axis : "0", *at = given;
    size_t length = strlen(at);
    uint64_t axis = 0;
    struct dti_rewrite_request request;
    struct dti_quant_target target;
    if (!dti_amount_digits(&at, &length, &axis) || length > 0 ||
        axis > 63) /* a negative axis is rejected, too */
        return dti_fail(reterr, DTI_USAGE, "--axis takes a number from 0 to 63; got %s",
                        DTI_QUOTED(given, strlen(given)));
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
