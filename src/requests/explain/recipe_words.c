/* SPDX-License-Identifier: MIT
 *
 * Recipes are written through the option rows of cast and quant. */
#include "requests/explain/recipe_words.h"

#include <stdio.h>
#include <string.h>

#include "answers/explain/explain.h"
#include "requests/cast/cast_args.h"
#include "requests/option_rows.h"
#include "requests/quant/quant_args.h"

const char dti_recipe_cast_names[] = "via round overflow nan like ints packing from-packing";
const char dti_recipe_quant_names[] =
    "per block axis symmetric affine symmetry division like mx-scale "
    "nv-scale tensor-scale fused pad "
    "packing layout nested-absmax convrot dequant";

void dti_recipe_options(struct dti_option ret[DTI_RECIPE_OPTIONS], const char *command,
                        const char *names)
{
    const struct dti_option *const all =
        strcmp(command, "cast") == 0 ? dti_cast_options : dti_quant_options;
    for (const char *at = names; *at != '\0'; ret++) {
        const size_t length = strcspn(at, " ");
        *ret = *dti_option_find_long(all, at, length);
        ret->short_name = '\0';
        ret->more = NULL;
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
    dti_buffer_puts(text, dti_option_name(option));
    dti_buffer_puts(text, word ? " " : "");
    dti_buffer_puts(text, word ? word : "");
}

static void put_command(struct dti_buffer *text, const char *command, const char *names,
                        const char *dtype, const struct dti_recipe *recipe)
{
    struct dti_option options[DTI_RECIPE_OPTIONS];
    dti_recipe_options(options, command, names);
    dti_buffer_puts(text, command);
    dti_buffer_puts(text, " ");
    dti_buffer_puts(text, dtype);
    for (const struct dti_option *option = options; option->kind != DTI_OPTION_END; option++) {
        if (dti_option_given(options, recipe, dti_option_name(option)))
            put_option(text, option, recipe);
    }
}

const char *const dti_recipe_arrangements[] = {
    [DTI_ARRANGED_NIBBLES] = "nibbles swapped",
    [DTI_ARRANGED_TRANSPOSED] = "transposed",
    [DTI_ARRANGED_PAIRS] = "rope pairs adjacent, heads of",
    [DTI_ARRANGED_HALVES] = "rope pairs half a head apart, heads of",
};

bool dti_recipe_has_heads(int arrangement)
{
    return arrangement == DTI_ARRANGED_PAIRS || arrangement == DTI_ARRANGED_HALVES;
}

/* "; transposed" */
static void put_arrangement(struct dti_buffer *text, const struct dti_recipe *recipe)
{
    if (recipe->arrangement == DTI_ARRANGED_AS_MADE)
        return;
    dti_buffer_print(text, "; %s", dti_recipe_arrangements[recipe->arrangement]);
    if (dti_recipe_has_heads(recipe->arrangement))
        dti_buffer_print(text, " %llu", (unsigned long long)recipe->head);
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
        put_command(&text, "cast", dti_recipe_cast_names, recipe->dtype, recipe);
        break;
    case DTI_VERB_QUANT:
        put_command(&text, "quant", dti_recipe_quant_names, recipe->dtype, recipe);
        break;
    case DTI_VERB_DEQUANT:
        put_command(&text, "quant", dti_recipe_quant_names, recipe->then ? "fp32" : recipe->dtype,
                    recipe);
        if (!recipe->then)
            break;
        dti_buffer_puts(&text, " then ");
        put_command(&text, "cast", dti_recipe_cast_names, recipe->dtype, recipe);
        break;
    }
    put_arrangement(&text, recipe);
    return buffer; /* every recipe fits in the buffer */
}
