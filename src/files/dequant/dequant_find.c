/* SPDX-License-Identifier: MIT
 *
 * Finds quantized tensors by name: codes X or X_packed, with X_scale and the other parts in the
 * table of layouts. */
#include "files/dequant/dequant_find.h"

#include <string.h>

#include "files/dequant/dequant_layouts.h"
#include "files/stored/quant_marks.h"
#include "files/stored/unread_layouts.h"
#include "util/text/glob.h"

static const char packed[] = "_packed", inverse[] = "_scale_inv", order[] = "_g_idx";

/* Finds the tensor named X plus a suffix. */
static bool find_suffixed(struct dti_file_dequant *dequant, const char *name, size_t length,
                          const char *suffix, size_t *ret)
{
    return dti_quant_names_find(&dequant->names, name, length, suffix, ret);
}

static void add_part(struct dti_file_dequant *dequant, struct dti_dequant_group *group,
                     enum dti_quant_part part, const char *suffix)
{
    size_t at;
    if (suffix && find_suffixed(dequant, group->name, group->name_length, suffix, &at))
        group->part[part] =
            (struct dti_dequant_part){.container = dequant->container, .tensor = at};
}

/* Adds the parts by each layout's own suffixes, and derives the layout from them. */
static enum dti_status add_parts(struct dti_file_dequant *dequant, struct dti_dequant_group *group,
                                 struct dti_error *reterr)
{
    const struct dti_file_dequant_request *const request = &dequant->request;
    size_t tensor_scales = 0;
    group->bound = request->layout_given;
    group->layout = request->layout;
    for (size_t i = 0; i < dti_quant_row_count; i++) {
        const struct dti_quant_row *const row = &dti_quant_rows[i];
        if ((i > 0 && dti_quant_rows[i - 1].layout == row->layout) ||
            dti_quant_layout_is_read_elsewhere(row->layout) ||
            (request->layout_given && row->layout != request->layout))
            continue; /* rows of a layout are adjacent */
        const struct dti_dequant_part *const scale = &group->part[DTI_PART_TENSOR_SCALE];
        const struct dti_dequant_part before = *scale;
        for (int part = DTI_PART_SCALE + 1; part < DTI_PART_COUNT; part++)
            add_part(dequant, group, (enum dti_quant_part)part,
                     dti_quant_suffix(row, (enum dti_quant_part)part));
        if (scale->container && !before.container) {
            group->bound = true;
            group->layout = row->layout;
            tensor_scales++;
        } else if (scale->tensor != before.tensor) {
            tensor_scales++;
        }
    }
    if (tensor_scales > 1)
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_SAY_LAYOUT,
                                  "has tensor scales of several layouts");
    return DTI_OK;
}

static void read_entry(struct dti_file_dequant *dequant, struct dti_dequant_group *group)
{
    const struct dti_metadata *const entry = dti_dequant_entry(dequant, group);
    if (entry)
        group->has_entry =
            dti_quant_entry_parse(entry->value, entry->value_length, &group->entry_dtype,
                                  &group->entry_high, &group->entry_group);
}

/* Collects what is known apart from the parts, from one source: options, else metadata, else the
 * configuration; *own and *module provide memory for it. */
static enum dti_status learn(struct dti_file_dequant *dequant,
                             const struct dti_dequant_group *group, struct dti_quant_hint *own,
                             struct dti_quant_module *module, struct dti_dequant_knowledge *ret,
                             struct dti_error *reterr)
{
    const struct dti_file_dequant_request *const request = &dequant->request;
    const uint64_t length = request->block > 0 ? request->block : group->entry_group;
    *own = (struct dti_quant_hint){.bits = request->bits, .group = {length, length}};
    *ret = (struct dti_dequant_knowledge){
        .hints = own,
        .count = 1,
        .source = request->bits > 0 || request->block > 0 ? request->stated_by : "the metadata"};
    if (group->has_entry || request->bits > 0 || request->block > 0)
        return DTI_OK;
    const enum dti_status status = dti_dequant_configured(dequant, group, module, reterr);
    if (status != DTI_OK)
        return status;
    if (module->count > 0)
        *ret = (struct dti_dequant_knowledge){.hints = module->hints,
                                              .count = module->count,
                                              .source = dequant->config.file,
                                              .configured = true,
                                              .rule = module->rule,
                                              .rule_length = module->rule_length};
    return DTI_OK;
}

/* Whether a list of patterns matches the tensor or one of its parts. */
static bool names(const char *list, const struct dti_dequant_group *group)
{
    if (!list)
        return false;
    bool fits = dti_glob_list_match(list, group->name, group->name_length);
    for (unsigned i = 0; i < DTI_PART_COUNT && !fits; i++) {
        if (group->part[i].container) {
            const struct dti_tensor *const part = dti_dequant_part_tensor(&group->part[i]);
            fits = dti_glob_list_match(list, part->name, part->name_length);
        }
    }
    return fits;
}

static void mark(struct dti_file_dequant *dequant, const struct dti_dequant_group *group,
                 enum dti_dequant_state state)
{
    dequant->layout_kept |= group->layout_read && state >= DTI_DEQUANT_KEPT;
    for (unsigned i = 0; i < DTI_PART_COUNT; i++) {
        if (group->part[i].container != dequant->container)
            continue;
        unsigned char *const now = &dequant->states[group->part[i].tensor];
        *now = *now > state ? *now : (unsigned char)state; /* tensors may share a part */
    }
}

/* Matches a read-only layout. */
static enum dti_status match_read(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  struct dti_dequant_found *found, struct dti_error *reterr)
{
    static const struct dti_quant_config none = {.file = NULL};
    const struct dti_file_dequant_request *const request = &dequant->request;
    struct dti_quant_module module;
    enum dti_status status = DTI_OK;
    for (unsigned i = 0; i < DTI_PART_COUNT && status == DTI_OK; i++)
        status = dti_dequant_check_part(&group->part[i], reterr);
    if (status != DTI_OK)
        return status;
    if (!group->layout_read->suffix[DTI_PART_SCALE])
        return group->layout_read->match(dequant, group, &none, found, reterr);
    status = dti_dequant_configured(dequant, group, &module, reterr);
    if (status != DTI_OK && dequant->config_status == DTI_BAD_INPUT &&
        (request->bits > 0 || request->block > 0))
        return group->layout_read->match(dequant, group, &none, found, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_quant_config config = dequant->config; /* adjusted for this tensor */
    config.bits = module.bits;
    config.group_size = module.group_size;
    return group->layout_read->match(dequant, group, &config, found, reterr);
}

/* Whether a configuration next to the model files applies, which loaders read first, whatever the
 * tensors' own metadata say. */
static bool is_configured(const struct dti_file_dequant *dequant)
{
    return dti_holds_texts(dequant->container->kind) && dequant->request.bits == 0 &&
           dequant->request.block == 0;
}

enum dti_status dti_dequant_take(struct dti_file_dequant *dequant, struct dti_dequant_group *group,
                                 struct dti_dequant_found **ret, struct dti_error *reterr)
{
    const struct dti_file_dequant_request *const request = &dequant->request;
    if (request->select && !names(request->select, group))
        return DTI_OK;
    if (names(request->keep, group)) {
        mark(dequant, group, DTI_DEQUANT_KEPT);
        return DTI_OK;
    }
    if (request->only && !names(request->only, group)) {
        mark(dequant, group, DTI_DEQUANT_ONLY);
        return DTI_OK;
    }
    if (is_configured(dequant) && !dti_dequant_config(dequant)) {
        dequant->refusal_rule = DTI_LINT_CONFIG_UNREADABLE;
        *reterr = dequant->config_error;
        return dequant->config_status;
    }
    const bool named = !group->layout_read || group->layout_read->suffix[DTI_PART_SCALE];
    if (named && !dti_dequant_has(group, DTI_PART_SCALE)) {
        dti_dequant_set_rule(group, DTI_LINT_PART_MISSING);
        return dti_dequant_refuse(
            &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP_ALL,
            "packed codes need a tensor '...%s', which is missing",
            group->layout_read ? group->layout_read->suffix[DTI_PART_SCALE] + 1
            : group->stated    ? dti_quant_suffix(group->stated, DTI_PART_SCALE) + 1
                               : "_scale");
    }
    struct dti_dequant_found *const found = dti_dequant_found_new(dequant);
    if (!found)
        return dti_no_memory(reterr);
    struct dti_dequant_knowledge known;
    struct dti_quant_hint hint;
    struct dti_quant_module module;
    enum dti_status status = DTI_OK;
    if (group->layout_read) {
        status = match_read(dequant, group, found, reterr);
    } else if (group->stated) {
        status = dti_dequant_stated(dequant, group, found, reterr);
    } else {
        read_entry(dequant, group);
        status = learn(dequant, group, &hint, &module, &known, reterr);
        if (status == DTI_OK)
            status = dti_dequant_match(dequant, &known, group, found, reterr);
    }
    if (status != DTI_OK)
        return status;
    mark(dequant, group, DTI_DEQUANT_PART);
    *ret = found;
    return DTI_OK;
}

static bool is_left_out(const struct dti_file_dequant_request *request,
                        const struct dti_tensor *tensor)
{
    return (request->select &&
            !dti_glob_list_match(request->select, tensor->name, tensor->name_length)) ||
           (request->keep && dti_glob_list_match(request->keep, tensor->name, tensor->name_length));
}

/* Codes of a layout that is known but not decoded. */
static enum dti_status refuse_unread(struct dti_file_dequant *dequant, size_t at,
                                     const struct dti_unread_layout *layout,
                                     struct dti_error *reterr)
{
    const struct dti_dequant_part part = {.container = dequant->container, .tensor = at};
    dequant->refusal_rule = DTI_LINT_UNSUPPORTED;
    return dti_dequant_refuse(&part, reterr, DTI_REMEDY_KEEP,
                              "it holds codes of %s, which are not decoded; %s", layout->name,
                              layout->reader);
}

static enum dti_status look_at(struct dti_file_dequant *dequant, size_t at,
                               struct dti_dequant_found **ret, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    const struct dti_unread_layout *const unread = dti_unread_layout_of(&dequant->names, at);
    struct dti_named_codes codes;
    if (unread && !dequant->request.layout_given)
        return is_left_out(&dequant->request, tensor) ? DTI_OK
                                                      : refuse_unread(dequant, at, unread, reterr);
    if (!dequant->request.layout_given || dti_quant_layout_marks(dequant->request.layout) ||
        dti_quant_layout_has_stems(dequant->request.layout)) {
        struct dti_dequant_group read;
        const enum dti_status status = dti_dequant_layout_of(dequant, at, &read, reterr);
        if (status != DTI_OK || read.layout_read)
            return status == DTI_OK ? dti_dequant_take(dequant, &read, ret, reterr) : status;
    }
    if (!dti_quant_names_codes(&dequant->names, at, &codes))
        return DTI_OK;
    struct dti_dequant_group group = {
        .name = tensor->name,
        .name_length = codes.name_length,
        .at = at,
        .view = dequant,
        .packed_name = codes.packed,
        .inverse = codes.inverse,
        .sibling_scale = codes.sibling_scale,
        .part[DTI_PART_CODES] = {.container = dequant->container, .tensor = at},
    };
    if (codes.scaled)
        group.part[DTI_PART_SCALE] =
            (struct dti_dequant_part){.container = dequant->container, .tensor = codes.scale};
    if (codes.row) {
        if (dequant->request.layout_given && dequant->request.layout != codes.row->layout)
            return DTI_OK;
        group.stated = codes.row;
        for (int part = DTI_PART_SCALE + 1; part < DTI_PART_COUNT; part++)
            add_part(dequant, &group, (enum dti_quant_part)part,
                     dti_quant_suffix(codes.row, (enum dti_quant_part)part));
        return dti_dequant_take(dequant, &group, ret, reterr);
    }
    add_part(dequant, &group, DTI_PART_ORDER, order);
    if (dequant->request.layout_given &&
        dti_quant_layout_is_read_elsewhere(dequant->request.layout))
        return DTI_OK; /* in such layouts all codes have a state */
    const enum dti_status status = add_parts(dequant, &group, reterr);
    if (status != DTI_OK || (!group.packed_name && !dti_dequant_has(&group, DTI_PART_SCALE)))
        return status;
    return dti_dequant_take(dequant, &group, ret, reterr);
}

/* Whether the last component of the name is `word`: "input" of "model.layers.0.mlp.input". */
static bool is_called(const char *name, size_t length, const char *word)
{
    const size_t wanted = strlen(word);
    return length >= wanted && memcmp(name + length - wanted, word, wanted) == 0 &&
           (length == wanted || name[length - wanted - 1] == '.');
}

/* Examines a part without codes, such as a scale. Scales of activations have no codes, and stay as
 * they are. */
static enum dti_status look_at_orphan(struct dti_file_dequant *dequant, size_t at,
                                      struct dti_error *reterr)
{
    static const char *const activations[] = {"input", "output", "q", "k", "v", "kv", "prob"};
    static const char *const others[] = {".scale_input", "._weight_act_per_tensor_scale",
                                         "._weight_act_quant_scale",
                                         "._weight_act_quant_zero_point"};
    const struct dti_file_dequant_request *const request = &dequant->request;
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    const struct dti_dequant_part part = {.container = dequant->container, .tensor = at};
    const char *missing;
    size_t length, codes;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (dti_quant_name_ends(tensor->name, tensor->name_length, others[i]))
            dequant->states[at] = DTI_DEQUANT_KEPT;
    }
    if (!dequant->refused[at] && dti_layouts_orphan(&dequant->names, at, &missing) &&
        !is_left_out(request, tensor) &&
        (request->lint || !dti_quant_name_ends(tensor->name, tensor->name_length, ".scales") ||
         dti_dequant_is_quantized(dequant))) {
        dequant->refusal_rule = DTI_LINT_CODES_MISSING;
        return dti_dequant_refuse(&part, reterr, DTI_REMEDY_KEEP,
                                  "its codes are missing: there is no tensor '...%s'", missing + 1);
    }
    if (!dti_quant_is_side_name(tensor->name, tensor->name_length, &length)) {
        if (!dti_quant_name_ends(tensor->name, tensor->name_length, inverse))
            return DTI_OK;
        length = tensor->name_length - (sizeof inverse - 1);
    }
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        if (is_called(tensor->name, length, activations[i]))
            dequant->states[at] = DTI_DEQUANT_KEPT;
    }
    if (!is_called(tensor->name, length, "weight") || dequant->refused[at] ||
        is_left_out(request, tensor))
        return DTI_OK;
    if (find_suffixed(dequant, tensor->name, length, "", &codes) ||
        find_suffixed(dequant, tensor->name, length, packed, &codes))
        return DTI_OK;
    char name[DTI_QUOTE_SIZE];
    dequant->refusal_rule = DTI_LINT_CODES_MISSING;
    return dti_dequant_refuse(
        &part, reterr, DTI_REMEDY_KEEP,
        "its codes are missing: there is neither %s nor the same name with '%s'",
        dti_quote(name, tensor->name, length), packed);
}

enum dti_status dti_dequant_find(struct dti_file_dequant *dequant, struct dti_error *reterr)
{
    const size_t count = dequant->container->tensor_count;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (dequant->states[i] == DTI_DEQUANT_PLAIN) {
            struct dti_error error;
            struct dti_dequant_found *found = NULL;
            status = look_at(dequant, i, &found, &error);
            status = dti_dequant_settle(dequant, i, status, &error, found, reterr);
        }
    }
    if (status == DTI_OK)
        status = dti_dequant_whole(dequant, reterr);
    dequant->layout_kept |= dequant->ambiguities.count > 0;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (dequant->states[i] == DTI_DEQUANT_PLAIN) {
            struct dti_error error;
            status = look_at_orphan(dequant, i, &error);
            status = dti_dequant_settle(dequant, i, status, &error, NULL, reterr);
        }
        if (!dequant->layout_kept && dti_comfy_is_marker(&dequant->container->tensors[i]))
            dequant->states[i] = DTI_DEQUANT_PART;
    }
    return status;
}
