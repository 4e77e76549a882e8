/* SPDX-License-Identifier: MIT
 *
 * One table of options writes and reads recipes. */
#include "cli/shared/made_words.h"

#include <string.h>

#include "answers/explain.h"
#include "cli/shared/amount.h"
#include "cli/shared/option_rows.h"

#define CHOICE(value_, name_, help_) {.name = name_, .value = value_, .help = help_},

static const struct dti_choice symmetry_choices[] = {DTI_QUANT_SYMMETRIES(CHOICE){.name = NULL}};
static const struct dti_choice division_choices[] = {DTI_QUANT_DIVISIONS(CHOICE){.name = NULL}};
static const struct dti_choice like_choices[] = {DTI_QUANT_LIKES(CHOICE){.name = NULL}};
static const struct dti_choice mx_choices[] = {DTI_QUANT_MX_SCALES(CHOICE){.name = NULL}};
static const struct dti_choice nv_choices[] = {DTI_QUANT_NV_SCALES(CHOICE){.name = NULL}};
static const struct dti_choice order_choices[] = {DTI_QUANT_ORDERS(CHOICE){.name = NULL}};
static const struct dti_choice per_choices[] = {{"tensor", DTI_PER_TENSOR, NULL},
                                                {"channel", DTI_PER_CHANNEL, NULL},
                                                {"block", DTI_PER_GROUP, NULL},
                                                {.name = NULL}};
static const struct dti_choice layout_choices[] = {
#define QUANT_LAYOUT(id, layout_name, ...) {.name = layout_name, .value = DTI_LAYOUT_##id},
#include "dtinfo/quant_layouts.def"
#undef QUANT_LAYOUT
    {.name = NULL},
};

/* As the commands call them. */
static const struct dti_option cast_options[] = {
    OPT_TEXT(0, "via", struct dti_recipe, via, "DTYPE,...", ""),
    OPT_CHOICE(0, "round", struct dti_recipe, round, round_given, "MODE", dti_choice_round, ""),
    OPT_CHOICE(0, "overflow", struct dti_recipe, overflow, overflow_given, "POLICY",
               dti_choice_overflow, ""),
    OPT_CHOICE(0, "nan", struct dti_recipe, nan, nan_given, "POLICY", dti_choice_nan, ""),
    OPT_CHOICE(0, "like", struct dti_recipe, like, like_given, "STACK", dti_choice_stack, ""),
    OPT_FLAG(0, "ints", struct dti_recipe, ints, ""),
    OPT_CHOICE(0, "packing", struct dti_recipe, packing, packing_given, "PACKING",
               dti_choice_packing, ""),
    OPT_CHOICE(0, "from-packing", struct dti_recipe, from_packing, from_packing_given, "PACKING",
               dti_choice_packing, ""),
    OPT_END,
};
static const struct dti_option quant_options[] = {
    OPT_CHOICE(0, "per", struct dti_recipe, rules.per, per_given, "WHAT", per_choices, ""),
    OPT_UINT(0, "block", struct dti_recipe, rules.block, block_given, 1, 65536, "N", ""),
    OPT_TEXT(0, "axis", struct dti_recipe, axis, "N", ""),
    OPT_FLAG(0, "symmetric", struct dti_recipe, rules.symmetric, ""),
    OPT_FLAG(0, "affine", struct dti_recipe, rules.affine, ""),
    OPT_CHOICE(0, "symmetry", struct dti_recipe, rules.symmetry, symmetry_given, "RULE",
               symmetry_choices, ""),
    OPT_CHOICE(0, "division", struct dti_recipe, rules.division, division_given, "RULE",
               division_choices, ""),
    OPT_CHOICE(0, "like", struct dti_recipe, rules.like, quant_like_given, "STACK", like_choices,
               ""),
    OPT_CHOICE(0, "mx-scale", struct dti_recipe, rules.mx_scale, mx_scale_given, "RULE", mx_choices,
               ""),
    OPT_CHOICE(0, "nv-scale", struct dti_recipe, rules.nv_scale, nv_scale_given, "RULE", nv_choices,
               ""),
    OPT_TEXT(0, "tensor-scale", struct dti_recipe, tensor_scale, "VALUE", ""),
    OPT_FLAG(0, "pad", struct dti_recipe, pad, ""),
    OPT_CHOICE(0, "packing", struct dti_recipe, rules.order, order_given, "PACKING", order_choices,
               ""),
    OPT_CHOICE(0, "layout", struct dti_recipe, layout, layout_given, "LAYOUT", layout_choices, ""),
    OPT_FLAG(0, "nested-absmax", struct dti_recipe, nested, ""),
    OPT_FLAG(0, "dequant", struct dti_recipe, dequant, ""),
    OPT_END,
};

static void put_option(struct dti_buffer *text, const struct dti_option *option,
                       const struct dti_recipe *made)
{
    const unsigned char *const args = (const unsigned char *)made;
    const void *const value = args + option->offset;
    const char *word = NULL;
    char number[24];
    bool given = false;
    if (option->given_offset != DTI_NO_GIVEN)
        memcpy(&given, args + option->given_offset, sizeof given);
    if (option->kind == DTI_OPTION_FLAG) {
        memcpy(&given, value, sizeof given);
    } else if (option->kind == DTI_OPTION_TEXT) {
        memcpy(&word, value, sizeof word);
        given = word != NULL;
    } else if (option->kind == DTI_OPTION_UINT) {
        uint64_t n;
        memcpy(&n, value, sizeof n);
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)n);
        word = number;
    } else if (given) {
        int choice;
        memcpy(&choice, value, sizeof choice);
        word = dti_choice_name(option->choices, choice);
    }
    if (!given)
        return;
    dti_buffer_puts(text, " --");
    dti_buffer_puts(text, option->long_name);
    if (word) {
        dti_buffer_puts(text, " ");
        dti_buffer_puts(text, word);
    }
}

static void put_command(struct dti_buffer *text, const char *command, const char *dtype,
                        const struct dti_option *options, const struct dti_recipe *made)
{
    dti_buffer_puts(text, command);
    dti_buffer_puts(text, dtype);
    for (const struct dti_option *option = options; option->kind != DTI_OPTION_END; option++)
        put_option(text, option, made);
}

const char *dti_made_words(char *buffer, const struct dti_recipe *made)
{
    struct dti_buffer text;
    dti_buffer_borrow(&text, buffer, DTI_MADE_WORDS);
    switch (made->by) {
    case DTI_MADE_KEPT:
        dti_buffer_puts(&text, "kept");
        break;
    case DTI_MADE_RENAMED:
        dti_buffer_puts(&text, "renamed");
        break;
    case DTI_MADE_CAST:
        put_command(&text, "cast ", made->dtype, cast_options, made);
        break;
    case DTI_MADE_QUANT:
        put_command(&text, "quant ", made->dtype, quant_options, made);
        break;
    case DTI_MADE_DEQUANT:
        put_command(&text, "quant ", made->then ? "fp32" : made->dtype, quant_options, made);
        if (made->then)
            put_command(&text, " then cast ", made->dtype, cast_options, made);
        break;
    }
    return buffer; /* no recipe has as many words as fit */
}

enum { WORDS_MAX = 64 };

/* One command: its options, and the dtype. */
static enum dti_status read_command(struct dti_recipe *ret, const struct dti_option *options,
                                    char **words, int count, const char **ret_dtype,
                                    struct dti_error *reterr)
{
    enum dti_help help = DTI_HELP_NONE;
    int operands = 0;
    const enum dti_status status =
        dti_options_parse(options, ret, NULL, NULL, words + 1, count - 1, &operands, &help, reterr);
    if (status != DTI_OK)
        return status;
    if (operands == 1 && strlen(words[1]) < DTI_NAME_SIZE) {
        *ret_dtype = words[1];
        return DTI_OK;
    }
    return dti_fail(reterr, DTI_USAGE, "%s takes one dtype, as in '%s bf16'", words[0], words[0]);
}

static enum dti_status read_words(struct dti_recipe *ret, char **words, int count,
                                  struct dti_error *reterr)
{
    const char *first;
    int then = 0;
    while (then < count && strcmp(words[then], "then") != 0)
        then++;
    if (count == 1 && strcmp(words[0], "kept") == 0)
        return DTI_OK;
    if (count == 1 && strcmp(words[0], "renamed") == 0) {
        ret->by = DTI_MADE_RENAMED;
        return DTI_OK;
    }
    if (count > 0 && then == count && strcmp(words[0], "cast") == 0) {
        ret->by = DTI_MADE_CAST;
        return read_command(ret, cast_options, words, count, &ret->dtype, reterr);
    }
    if (count == 0 || strcmp(words[0], "quant") != 0)
        return dti_fail(reterr, DTI_USAGE,
                        "a recipe is kept, renamed, or begins with cast or quant; got %s",
                        DTI_QUOTED(count > 0 ? words[0] : "", count > 0 ? strlen(words[0]) : 0));
    const enum dti_status status =
        read_command(ret, quant_options, words, then, &ret->dtype, reterr);
    if (status != DTI_OK)
        return status;
    ret->by = ret->dequant ? DTI_MADE_DEQUANT : DTI_MADE_QUANT;
    if (then == count)
        return DTI_OK;
    first = ret->dtype;
    if (!ret->dequant || strcmp(first, "fp32") != 0 || then + 1 == count ||
        strcmp(words[then + 1], "cast") != 0)
        return dti_fail(reterr, DTI_USAGE,
                        "only 'then cast' follows, and only 'quant fp32 --dequant'");
    ret->then = true;
    return read_command(ret, cast_options, words + then + 1, count - then - 1, &ret->dtype, reterr);
}

/* What the words mean, before a tensor is looked at. */
static enum dti_status check(const struct dti_recipe *made, struct dti_error *reterr)
{
    const char *at = made->axis ? made->axis : "0";
    size_t length = strlen(at);
    uint64_t axis = 0;
    struct dti_rewrite_request request;
    struct dti_quant_target target;
    if (!dti_amount_digits(&at, &length, &axis) || length > 0) /* counted from the first */
        return dti_fail(reterr, DTI_USAGE, "--axis takes a number from 0 to 63; got %s",
                        DTI_QUOTED(made->axis, strlen(made->axis)));
    if (made->by == DTI_MADE_KEPT || made->by == DTI_MADE_RENAMED)
        return DTI_OK;
    return dti_recipe_prepare(&request, &target, made, reterr);
}

enum dti_status dti_made_read(struct dti_recipe *ret, char *text, struct dti_error *reterr)
{
    char *words[WORDS_MAX];
    int count = 0;
    memset(ret, 0, sizeof *ret);
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
