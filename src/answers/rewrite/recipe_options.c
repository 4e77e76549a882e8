/* SPDX-License-Identifier: MIT
 *
 * The options of quantization in a recipe: their words, which of them were given, and which of them
 * fit together and fit a dtype. Every given option has an effect or is an error. */
#include <stdio.h>
#include <string.h>

#include "answers/rewrite/recipe.h"
#include "core/block/quant_parts.h"
#include "util/text/ascii.h"
#include "util/text/nearest.h"

struct word {
    const char *name; /* NULL closes a table */
    int value;
};

#define WORD(value_, name_, help_) {.name = name_, .value = value_},
static const struct word symmetries[] = {DTI_QUANT_SYMMETRIES(WORD){.name = NULL}};
static const struct word divisions[] = {DTI_QUANT_DIVISIONS(WORD){.name = NULL}};
static const struct word likes[] = {DTI_QUANT_LIKES(WORD){.name = NULL}};
static const struct word mx_scales[] = {DTI_QUANT_MX_SCALES(WORD){.name = NULL}};
static const struct word nv_scales[] = {DTI_QUANT_NV_SCALES(WORD){.name = NULL}};
static const struct word pers[] = {DTI_QUANT_PERS(WORD){.name = NULL}};
static const struct word orders[] = {DTI_QUANT_ORDERS(WORD){.name = NULL}};
#undef WORD

#define AT(member) offsetof(struct dti_recipe, member)
/* given: of a bool, or of a text that is NULL if it is not. */
static const struct option {
    const char *name;
    bool text;
    size_t given;
    const struct word *words; /* NULL: the option has none, or a text may be something else */
    size_t value;             /* of an int */
} options[] = {
    {"min", true, AT(min), NULL, 0},
    {"max", true, AT(max), NULL, 0},
    {"scale", true, AT(scale), NULL, 0},
    {"zero-point", true, AT(zero_point), NULL, 0},
    {"tensor-scale", true, AT(tensor_scale), NULL, 0},
    {"fused", true, AT(fused), NULL, 0},
    {"axis", true, AT(axis), NULL, 0},
    {"symmetric", false, AT(rules.symmetric), NULL, 0},
    {"affine", false, AT(rules.affine), NULL, 0},
    {"symmetry", false, AT(symmetry_given), symmetries, AT(rules.symmetry)},
    {"division", false, AT(division_given), divisions, AT(rules.division)},
    {"like", false, AT(quant_like_given), likes, AT(rules.like)},
    {"mx-scale", false, AT(mx_scale_given), mx_scales, AT(rules.mx_scale)},
    {"nv-scale", false, AT(nv_scale_given), nv_scales, AT(rules.nv_scale)},
    {"per", false, AT(per_given), pers, AT(rules.per)},
    {"block", false, AT(block_given), NULL, 0},
    {"pad", false, AT(pad), NULL, 0},
    {"packing", false, AT(order_given), orders, AT(rules.order)},
    {"layout", false, AT(layout_given), NULL, 0},
    {"nested-absmax", false, AT(nested), NULL, 0},
    {"convrot", false, AT(convrot_given), NULL, 0},
};
enum { OPTIONS = sizeof options / sizeof *options };

static const struct option *find(const char *name, size_t length)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (strlen(options[i].name) == length && memcmp(options[i].name, name, length) == 0)
            return &options[i];
    return NULL;
}

static bool is_given(const struct dti_recipe *recipe, const struct option *option)
{
    const char *const at = (const char *)recipe + option->given;
    if (!option->text)
        return *(const bool *)at;
    const char *text;
    memcpy((void *)&text, at, sizeof text);
    return text != NULL;
}

/* The first given option of a list such as "min max scale", or NULL. */
static const char *first_given(const struct dti_recipe *recipe, const char *names)
{
    for (const char *at = names; *at;) {
        const size_t length = strcspn(at, " ");
        const struct option *const option = find(at, length);
        if (option && is_given(recipe, option))
            return option->name;
        at += length + (at[length] == ' ');
    }
    return NULL;
}

enum dti_status dti_recipe_set_word(struct dti_recipe *recipe, const char *name, const char *word,
                                    struct dti_error *reterr)
{
    enum { LIST = 128 };
    char list[LIST] = "";
    struct dti_nearest nearest;
    const size_t length = strlen(word);
    const struct option *const option = find(name, strlen(name));
    dti_nearest_init(&nearest, word, length);
    for (const struct word *at = option->words; at->name; at++) {
        const size_t used = strlen(list);
        if (dti_ascii_equal(at->name, word)) {
            memcpy((char *)recipe + option->value, &at->value, sizeof at->value);
            *(bool *)((char *)recipe + option->given) = true;
            return DTI_OK;
        }
        (void)snprintf(list + used, LIST - used, "%s%s", used > 0 ? ", " : "", at->name);
        dti_nearest_offer(&nearest, at->name);
    }
    (void)dti_fail_word(reterr, DTI_UNKNOWN_OPTION, word, length, "%s takes one of %s; got %s",
                        name, list, DTI_QUOTED(word, length));
    for (size_t i = 0; i < nearest.count; i++)
        dti_error_suggest(reterr, nearest.names[i]);
    return DTI_UNKNOWN_OPTION;
}

/* The rules that exclude each other. */
static enum dti_status check_rules(const struct dti_recipe *recipe, const char *dashes,
                                   struct dti_error *reterr)
{
    const struct dti_quant_rules *const rules = &recipe->rules;
    const char *const like = first_given(recipe, "division symmetry");
    if (rules->like == DTI_QUANT_LIKE_VLLM)
        return dti_fail(reterr, DTI_USAGE,
                        "%slike vllm is for dequantizing; give %sdequant, or leave it out", dashes,
                        dashes);
    if (recipe->quant_like_given && like)
        return dti_fail(reterr, DTI_USAGE, "%slike sets all rules; leave out %s%s", dashes, dashes,
                        like);
    if (rules->symmetric && rules->affine)
        return dti_fail(reterr, DTI_USAGE,
                        "%ssymmetric and %saffine exclude each other; give one of them", dashes,
                        dashes);
    if (recipe->symmetry_given && rules->affine)
        return dti_fail(reterr, DTI_USAGE,
                        "%ssymmetry is for symmetric quantization; leave out %saffine", dashes,
                        dashes);
    return DTI_OK;
}

static enum dti_status check_numbers(const struct dti_recipe *recipe, const char *dashes,
                                     struct dti_error *reterr)
{
    const struct dti_quant_rules *const rules = &recipe->rules;
    const char *const range = first_given(recipe, "min max");
    if (recipe->scale && range)
        return dti_fail(reterr, DTI_USAGE, "%sscale and a range exclude each other; leave out %s%s",
                        dashes, dashes, range);
    if (recipe->scale && rules->affine)
        return dti_fail(reterr, DTI_USAGE, "with %sscale, use %szero-point instead of %saffine",
                        dashes, dashes, dashes);
    if (recipe->zero_point && !recipe->scale)
        return dti_fail(reterr, DTI_USAGE,
                        "%szero-point needs %sscale; without it both are computed from the range",
                        dashes, dashes);
    if (recipe->zero_point && (rules->symmetric || recipe->symmetry_given))
        return dti_fail(reterr, DTI_USAGE,
                        "the zero point of symmetric quantization is in the middle; leave out "
                        "%szero-point or %ssymmetric",
                        dashes, dashes);
    return DTI_OK;
}

static enum dti_status check_places(const struct dti_recipe *recipe, const char *dashes,
                                    struct dti_error *reterr)
{
    const struct dti_quant_rules *const rules = &recipe->rules;
    const char *const one = first_given(recipe, "scale min max");
    const bool grouped = recipe->per_given ? rules->per == DTI_PER_GROUP : recipe->block_given;
    const bool channels =
        recipe->per_given ? rules->per == DTI_PER_CHANNEL : recipe->axis && !recipe->block_given;
    if (recipe->per_given && grouped && !recipe->block_given)
        return dti_fail(reterr, DTI_USAGE, "%sper block needs %sblock N, as in %sblock 128", dashes,
                        dashes, dashes);
    if (recipe->block_given && !grouped)
        return dti_fail(reterr, DTI_USAGE, "%sblock makes scales per block; leave out %sper %s",
                        dashes, dashes, channels ? "channel" : "tensor");
    if (recipe->per_given && rules->per == DTI_PER_TENSOR && recipe->axis)
        return dti_fail(reterr, DTI_USAGE, "a single scale has no axis; leave out %saxis or %sper",
                        dashes, dashes);
    if (one && recipe->block_given)
        return dti_fail(reterr, DTI_USAGE, "%s%s is for the whole tensor; leave out %sblock",
                        dashes, one, dashes);
    if (one && channels)
        return dti_fail(reterr, DTI_USAGE, "%s%s is for the whole tensor; leave out %s%s", dashes,
                        one, dashes, recipe->per_given ? "per channel" : "axis");
    return DTI_OK;
}

enum dti_status dti_recipe_check(const struct dti_recipe *recipe, const char *dashes,
                                 struct dti_error *reterr)
{
    enum dti_status status = check_rules(recipe, dashes, reterr);
    if (status == DTI_OK)
        status = check_numbers(recipe, dashes, reterr);
    return status == DTI_OK ? check_places(recipe, dashes, reterr) : status;
}

/* Range ends in the wrong order; invalid numbers are reported where they are parsed. */
static enum dti_status check_range(const struct dti_recipe *recipe, const char *dashes,
                                   struct dti_error *reterr)
{
    const char *const texts[] = {recipe->min, recipe->max};
    struct dti_value ends[2];
    struct dti_error ignored;
    for (size_t i = 0; i < 2; i++) {
        if (!texts[i] || dti_value_parse(&ends[i], texts[i], strlen(texts[i]), &ignored) != DTI_OK)
            return DTI_OK;
        dti_fp32_value(dti_fp32_round(&ends[i]), &ends[i]);
        if (ends[i].kind > DTI_CLASS_FINITE)
            return DTI_OK;
    }
    if (dti_value_compare(&ends[0], &ends[1]) <= 0)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE, "%smin %s is greater than %smax %s; swap them", dashes,
                    DTI_QUOTED(texts[0], strlen(texts[0])), dashes,
                    DTI_QUOTED(texts[1], strlen(texts[1])));
}

/* Which kinds of dtypes take an option. */
static enum dti_status check_families(const struct dti_recipe *recipe, unsigned families,
                                      const char *dtype, const char *dashes,
                                      struct dti_error *reterr)
{
    static const struct {
        const char *options;
        unsigned families; /* kinds of dtypes that accept the options */
        const char *takers, *remedy;
    } fits[] = {
        {"min max scale block per", DTI_FAMILY_AFFINE, "integers and scaled floats",
         "its blocks have their own scales"},
        {"zero-point", DTI_FAMILY_INTEGER, "integers", "its zero point is always 0"},
        {"symmetric symmetry affine", DTI_FAMILY_INTEGER, "integers", "leave it out"},
        {"division", DTI_FAMILY_AFFINE | DTI_FAMILY_NV | DTI_FAMILY_NF,
         "integers, scaled floats, nvfp4, nf4 and bnb_fp4", "the format defines the division"},
        {"like", DTI_FAMILY_AFFINE | DTI_FAMILY_NV | DTI_FAMILY_NF,
         "integers, scaled floats, nvfp4, nf4 and bnb_fp4", "leave it out"},
        {"mx-scale", DTI_FAMILY_MX, "the MX formats", "leave it out"},
        {"nv-scale", DTI_FAMILY_NV, "nvfp4", "leave it out"},
        {"tensor-scale", DTI_FAMILY_NV, "nvfp4", "leave it out"},
        {"fused", DTI_FAMILY_NV, "nvfp4", "leave it out"},
        {"nested-absmax", DTI_FAMILY_NF, "nf4 and bnb_fp4", "leave it out"},
    };
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        const char *const option = first_given(recipe, fits[i].options);
        if (option && !(families & fits[i].families))
            return dti_fail(reterr, DTI_USAGE, "%s%s is for %s, not for %s; %s", dashes, option,
                            fits[i].takers, dtype, fits[i].remedy);
    }
    return DTI_OK;
}

/* The layout mlx leaves few choices. */
static enum dti_status check_stems(const struct dti_recipe *recipe, unsigned families,
                                   const char *dashes, struct dti_error *reterr)
{
    const char *option = first_given(recipe, "axis pad packing fused");
    const char *const tensor_scale = recipe->tensor_scale;
    const uint64_t block = recipe->rules.block;
    if (!dti_quant_layout_has_stems((enum dti_quant_layout)recipe->layout))
        return DTI_OK;
    if (!option && (families & DTI_FAMILY_INTEGER))
        option = first_given(recipe, "min max scale zero-point symmetric affine symmetry division "
                                     "like");
    if (!option && tensor_scale && strcmp(tensor_scale, "none") != 0)
        option = "tensor-scale";
    if (!option && recipe->per_given && recipe->rules.per != DTI_PER_GROUP)
        option = "per";
    if (option)
        return dti_fail(reterr, DTI_USAGE,
                        "%slayout %s has groups along rows, with a scale and a bias by MLX's rule; "
                        "leave out %s%s",
                        dashes, dti_quant_layout_name((enum dti_quant_layout)recipe->layout),
                        dashes, option);
    if (recipe->block_given && block != 32 && block != 64 && block != 128)
        return dti_fail(reterr, DTI_USAGE,
                        "%slayout %s has groups of 32, 64 and 128; got %sblock %llu", dashes,
                        dti_quant_layout_name((enum dti_quant_layout)recipe->layout), dashes,
                        (unsigned long long)block);
    return DTI_OK;
}

enum dti_status dti_recipe_fit(const struct dti_recipe *recipe,
                               const struct dti_quant_target *targets, size_t count,
                               const char *dashes, struct dti_error *reterr)
{
    unsigned families = 0;
    bool narrow = false, blocks = recipe->block_given;
    for (size_t i = 0; i < count; i++) {
        families |= dti_quant_family(&targets[i]);
        narrow = narrow || targets[i].code.width < 8;
        blocks = blocks || targets[i].scheme.block;
    }
    enum dti_status status = check_families(recipe, families, targets[0].name, dashes, reterr);
    if (status == DTI_OK)
        status = check_stems(recipe, families, dashes, reterr);
    if (status != DTI_OK)
        return status;
    if (recipe->order_given && !narrow)
        return dti_fail(reterr, DTI_USAGE,
                        "%spacking is for codes of less than 8 bits; %s has %u: leave it out",
                        dashes, targets[0].name, (unsigned)targets[0].code.width);
    if (recipe->pad && !blocks)
        return dti_fail(reterr, DTI_USAGE, "%spad is for blocks; give %sblock N, or leave it out",
                        dashes, dashes);
    return check_range(recipe, dashes, reterr);
}

enum dti_status dti_recipe_fit_array(const struct dti_recipe *recipe, const char *what,
                                     const char *dashes, struct dti_error *reterr)
{
    if (!recipe->min == !recipe->max)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE, "for %s %s%s needs %s%s too", what, dashes,
                    recipe->min ? "min" : "max", dashes, recipe->min ? "max" : "min");
}

enum dti_status dti_recipe_fit_gguf(const struct dti_recipe *recipe, bool blocks,
                                    const char *dashes, struct dti_error *reterr)
{
    const char *const option = first_given(
        recipe,
        "min max scale zero-point tensor-scale fused axis symmetric affine symmetry division like "
        "mx-scale nv-scale per pad packing layout nested-absmax convrot");
    if (!option && !(blocks && recipe->block_given))
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "%s%s is not for gguf files, whose types say how numbers are quantized; leave "
                    "it out",
                    dashes, option ? option : "block");
}
