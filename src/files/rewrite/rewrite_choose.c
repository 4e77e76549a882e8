/* SPDX-License-Identifier: MIT
 *
 * Selects the tensors of a file that are written, and those that the recipe applies to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/dequant/dequant_layouts.h"
#include "files/rewrite/rewrite_parts.h"
#include "util/run/allocate.h"
#include "util/text/glob.h"

/* Whether a pattern has an effect: by names of the new file or, in a transcoding, by those of the
 * input. */
static bool is_used(const struct dti_rewrite *rewrite, const char *pattern, size_t length)
{
    const struct dti_container *const container = rewrite->container;
    const bool renamed = rewrite->request.model_view != NULL;
    const bool stored = renamed && rewrite->request.recipe == DTI_RECIPE_TRANSCODE;
    for (size_t i = 0; i < container->tensor_count && !stored; i++) {
        const struct dti_tensor *const tensor = dti_container_tensor(container, i);
        if (dti_glob_match(pattern, length, tensor->name, tensor->name_length))
            return true;
    }
    const struct dti_recipe_ops *const ops = rewrite->ops;
    return (!renamed || stored) && ops->fits && ops->fits(rewrite, pattern, length);
}

/* "'norm' matches no tensor, but '*norm*' does": names are often incomplete. */
static void put_idle(const struct dti_rewrite *rewrite, const char *pattern, size_t length,
                     char *text, size_t size)
{
    enum { LONGEST = 64 };
    char quoted[DTI_QUOTE_SIZE], wider[LONGEST + 3];
    const int written =
        snprintf(text, size, "%s matches no tensor", dti_quote(quoted, pattern, length));
    if (length > LONGEST || written < 0 || (size_t)written >= size)
        return;
    const size_t wide = (size_t)snprintf(wider, sizeof wider, "*%.*s*", (int)length, pattern);
    if (is_used(rewrite, wider, wide))
        (void)snprintf(text + written, size - (size_t)written, ", but %s does",
                       dti_quote(quoted, wider, wide));
}

/* A pattern that matches nothing is most likely misspelt: an error with the given remedy or, if the
 * request allows it, a warning with the remedy `allowed`. */
static enum dti_status check_pattern(const struct dti_rewrite *rewrite, enum dti_remedy remedy,
                                     enum dti_remedy allowed, const char *at, size_t length,
                                     struct dti_error *reterr)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    char text[2 * DTI_QUOTE_SIZE + 64];
    if (is_used(rewrite, at, length))
        return DTI_OK;
    put_idle(rewrite, at, length, text, sizeof text);
    if (!request->allow_unmatched) {
        (void)dti_fail_remedy(reterr, DTI_USAGE, remedy, "%s", text);
        dti_error_argument(reterr, at, length);
        return DTI_USAGE;
    }
    const struct dti_note note = {.code = "idle_pattern", .text = text, .remedy = allowed};
    if (request->warn)
        request->warn(request->warn_context, &note);
    return DTI_OK;
}

/* The same for a list of patterns. */
static enum dti_status check_idle(const struct dti_rewrite *rewrite, enum dti_remedy remedy,
                                  enum dti_remedy allowed, const char *list,
                                  struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (const char *at = list; at && status == DTI_OK;) {
        const size_t length = dti_glob_list_item(at);
        status = check_pattern(rewrite, remedy, allowed, at, length, reterr);
        at = at[length] == '\0' ? NULL : at + length + 1;
    }
    return status;
}

static enum dti_status check_patterns(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    const struct dti_named_types *const named =
        request->quantize_named ? request->quantize_named : request->encode.named;
    static const enum dti_remedy allow[] = {
        [DTI_RECIPE_CAST] = DTI_REMEDY_ALLOW_CAST,
        [DTI_RECIPE_DEQUANTIZE] = DTI_REMEDY_ALLOW_QUANT,
        [DTI_RECIPE_QUANTIZE] = DTI_REMEDY_ALLOW_QUANT,
        [DTI_RECIPE_TRANSCODE] = DTI_REMEDY_ALLOW_ONLY,
        [DTI_RECIPE_ENCODE] = DTI_REMEDY_ALLOW_QUANT,
    };
    static const enum dti_remedy correct[] = {
        [DTI_RECIPE_CAST] = DTI_REMEDY_CORRECT_CAST,
        [DTI_RECIPE_DEQUANTIZE] = DTI_REMEDY_CORRECT_QUANT,
        [DTI_RECIPE_QUANTIZE] = DTI_REMEDY_CORRECT_QUANT,
        [DTI_RECIPE_TRANSCODE] = DTI_REMEDY_CORRECT_ONLY,
        [DTI_RECIPE_ENCODE] = DTI_REMEDY_CORRECT_QUANT,
    };
    enum dti_status status = check_idle(rewrite, DTI_REMEDY_ALLOW_SELECT, DTI_REMEDY_CORRECT_SELECT,
                                        request->select, reterr);
    if (status == DTI_OK)
        status = check_idle(rewrite, allow[request->recipe], correct[request->recipe],
                            request->only, reterr);
    if (status == DTI_OK)
        status = check_idle(rewrite, DTI_REMEDY_ALLOW_KEEP, DTI_REMEDY_CORRECT_KEEP, request->keep,
                            reterr);
    if (status == DTI_OK && named)
        return dti_named_types_check(named, rewrite->container, reterr);
    for (size_t i = 0; i < request->quantize_rule_count && status == DTI_OK; i++)
        status = check_pattern(rewrite, DTI_REMEDY_ALLOW_TYPE, DTI_REMEDY_CORRECT_TYPE,
                               request->quantize_rules[i].pattern,
                               request->quantize_rules[i].length, reterr);
    for (size_t i = 0; i < request->encode.count && status == DTI_OK; i++)
        status = check_pattern(rewrite, DTI_REMEDY_ALLOW_TYPE, DTI_REMEDY_CORRECT_TYPE,
                               request->encode.rules[i].pattern, request->encode.rules[i].length,
                               reterr);
    return status;
}

/* Names the first of `count` tensors whose values cannot be read. */
static enum dti_status refuse_unreadable(const struct dti_container *container, size_t first,
                                         size_t count, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = dti_container_tensor(container, first);
    const bool rest = container->tensor_count > count;
    char place[DTI_TENSOR_PLACE], such[48] = "", why[DTI_QUOTE_SIZE];
    if (dti_tensor_refusal(tensor))
        (void)snprintf(why, sizeof why, "%s", dti_tensor_refusal(tensor));
    else
        (void)snprintf(why, sizeof why, "holds %s, which is not supported", tensor->stored_as);
    if (count > 1)
        (void)snprintf(such, sizeof such, " (%zu such tensors)", count);
    const bool advised = tensor->remedy != DTI_REMEDY_NONE;
    enum dti_remedy remedy = tensor->remedy;
    if (!advised && dti_tensor_gguf(tensor))
        remedy = rest ? DTI_REMEDY_DEQUANTIZE_OR_SELECT : DTI_REMEDY_DEQUANTIZE;
    else if (!advised && rest)
        remedy = DTI_REMEDY_SELECT_OTHERS;
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, remedy, "%s %s%s",
                           dti_tensor_place(container, first, place), why, advised ? "" : such);
}

static enum dti_status refuse_selection(const struct dti_container *container, const char *list,
                                        struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_CORRECT_SELECT,
                          "%s matches none of %zu tensors", dti_quote(quoted, list, strlen(list)),
                          container->tensor_count);
    dti_error_argument(reterr, list, strlen(list));
    return DTI_USAGE;
}

/* Blocks copied into a new file of the same kind: sets a format for their bytes, named after their
 * type. Other unreadable tensors stay refused. */
static bool takes_blocks(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_tensor *const tensor = dti_container_tensor(rewrite->container, at);
    const enum dti_container_kind kind = rewrite->request.kind;
    const bool same = (rewrite->request.recipe == DTI_RECIPE_CAST ||
                       rewrite->request.recipe == DTI_RECIPE_ENCODE) &&
                      dti_is_gguf(rewrite->container->kind);
    const struct dti_format *const blocks =
        same ? dti_container_blocks(kind, dti_tensor_gguf(tensor)) : NULL;
    if (blocks)
        rewrite->container->tensors[at].format = blocks; /* no view: of a file */
    return blocks != NULL;
}

/* Selects the tensors that match `select`. */
static enum dti_status select_tensors(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    struct dti_container *const container = rewrite->container;
    const struct dti_recipe_ops *const ops = rewrite->ops;
    static const struct dti_rewrite_way none;
    const char *const select = rewrite->request.select;
    size_t unreadable = 0, first = 0;
    rewrite->tensors = dti_calloc(container->tensor_count + 1, sizeof *rewrite->tensors);
    if (!rewrite->tensors || container->tensor_count > UINT32_MAX / DTI_PART_COUNT)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = dti_container_tensor(container, i);
        if (select && !dti_tensor_fits(select, tensor) &&
            !(ops->selects && ops->selects(rewrite, i)))
            continue;
        if ((!tensor->format || dti_tensor_refusal(tensor)) && !takes_blocks(rewrite, i))
            first = unreadable++ == 0 ? i : first;
        else
            rewrite->tensors[rewrite->tensor_count++] =
                (struct dti_rewrite_tensor){.source = (uint32_t)i, .way = &none};
    }
    if (unreadable > 0)
        return refuse_unreadable(container, first, unreadable, reterr);
    if (select && rewrite->tensor_count == 0)
        return refuse_selection(container, select, reterr);
    return DTI_OK;
}

static bool has_state(const struct dti_quant_names *names, size_t at)
{
    struct dti_named_codes codes;
    return dti_quant_names_codes(names, at, &codes) && codes.row;
}

static bool has_codes(const struct dti_quant_names *names, const char *name, size_t length,
                      const char *suffix)
{
    size_t at;
    if (!dti_quant_names_find(names, name, length, suffix, &at))
        return false;
    const struct dti_format *const format = names->container->tensors[at].format;
    return has_state(names, at) || (format && format->kind != DTI_KIND_COMPLEX &&
                                    (format->width <= 8 || dti_format_is_integer(format)));
}

bool dti_rewrite_is_part(const struct dti_quant_names *names, size_t at)
{
    if (!names->container)
        return false;
    const struct dti_tensor *const tensor = &names->container->tensors[at];
    size_t length;
    if (has_state(names, at) || dti_layouts_part(names, at))
        return true;
    return dti_quant_is_side_name(tensor->name, tensor->name_length, &length) &&
           (has_codes(names, tensor->name, length, "") ||
            has_codes(names, tensor->name, length, "_packed"));
}

enum dti_fate dti_quantize_fate(const struct dti_quant_names *names,
                                const struct dti_tensor *tensor, size_t at)
{
    return dti_format_is_integer(tensor->format) ? DTI_FATE_INTEGER
           : tensor->format->width <= 8          ? DTI_FATE_NARROW
           : dti_rewrite_is_part(names, at)      ? DTI_FATE_PART
           : tensor->rank == 0                   ? DTI_FATE_SCALAR
                                                 : DTI_FATE_CHANGED;
}

/* Most files have no codes and need no name index. */
static bool may_have_codes(const struct dti_container *container)
{
    for (size_t i = 0; i < container->tensor_count; i++) {
        if (dti_may_be_codes(&container->tensors[i]))
            return true;
    }
    return false;
}

/* Patterns come first; the recipe decides the rest. */
static enum dti_fate fate_of(const struct dti_rewrite *rewrite, const struct dti_quant_names *names,
                             size_t tensor)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    const struct dti_recipe_ops *const ops = rewrite->ops;
    const struct dti_tensor *const source = dti_container_tensor(rewrite->container, tensor);
    enum dti_fate fate;
    if (dti_tensor_refusal(source) && request->recipe == DTI_RECIPE_CAST) /* and selected */
        return DTI_FATE_BLOCKS;
    if (ops->keeps && ops->keeps(rewrite, tensor, &fate))
        return fate;
    if (dti_tensor_fits(request->keep, source))
        return DTI_FATE_KEEP;
    if (request->only && !dti_tensor_fits(request->only, source))
        return DTI_FATE_ONLY;
    if (source->format->kind == DTI_KIND_COMPLEX)
        return DTI_FATE_COMPLEX;
    return ops->choose(rewrite, names, tensor);
}

enum dti_status dti_rewrite_choose(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    const struct dti_recipe_ops *const ops = rewrite->ops;
    struct dti_quant_names names = {.buffer = NULL};
    enum dti_status status = select_tensors(rewrite, reterr);
    if (status == DTI_OK && ops->names && may_have_codes(rewrite->container) &&
        !dti_quant_names_init(&names, rewrite->container))
        status = dti_no_memory(reterr);
    for (size_t i = 0; i < rewrite->tensor_count && status == DTI_OK; i++) {
        struct dti_rewrite_tensor *const tensor = &rewrite->tensors[i];
        tensor->fate = fate_of(rewrite, &names, tensor->source);
        rewrite->changed_count += tensor->fate == DTI_FATE_CHANGED;
    }
    dti_quant_names_free(&names);
    if (status == DTI_OK)
        status = check_patterns(rewrite, reterr);
    return status == DTI_OK && request->warn ? ops->warn(rewrite, reterr) : status;
}
