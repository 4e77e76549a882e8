/* SPDX-License-Identifier: MIT
 *
 * The one place that decides whether a tensor is codes that lack a part. After all layouts have
 * been matched, it examines the rest: parts of found tensors that their layout does not have; parts
 * whose codes tensor holds no codes; and codes that nothing matched. Such codes count as quantized
 * without a scale if one of these indicates it, checked in this order:
 *
 *   - another of their parts: X_zero_point of X, X.absmax, the scale of their activations
 *   - the layout of the file: an entry of the metadata, or ComfyUI's tensor `scaled_fp8`
 *   - their siblings: in the same file or model, a tensor with codes of the same kind has a scale
 *   - the configuration: their module is quantized, in a layout that names codes that way
 *
 * The last three apply to matrices only, except embeddings, norms, and modules that the
 * configuration ignores or assigns to no group. All other codes are plain numbers of their dtype,
 * complete as they are: for example fp8 weights without scales, as written by `cast`.
 *
 * The names of parts come from the tables of layouts. */
#include <stdio.h>
#include <string.h>

#include "files/dequant/dequant_layouts.h"
#include "files/dequant/dequant_names.h"
#include "files/stored/quant_marks.h"
#include "files/stored/quant_state.h"
#include "util/run/allocate.h"
#include "util/text/glob.h"

/* A part has the name of its codes with a different suffix. */
struct dti_part_name {
    const char *codes, *part;
    const char *scale, *state; /* the other parts of such codes; state may be NULL */
    bool sure;                 /* only codes have such names */
    bool activations;          /* not needed for the numbers, but implies that there are codes */
};

enum { DTI_PART_NAMES = 160 };
struct dti_part_names {
    struct dti_part_name list[DTI_PART_NAMES];
    size_t count;
};

static void add_name(struct dti_part_names *names, const char *codes, const char *part,
                     const char *scale, const char *state, bool sure)
{
    size_t at = 0;
    while (at < names->count &&
           (strcmp(names->list[at].codes, codes) != 0 || strcmp(names->list[at].part, part) != 0))
        at++;
    if (at == names->count && at < DTI_PART_NAMES)
        names->list[names->count++] = (struct dti_part_name){
            .codes = codes, .part = part, .scale = scale, .state = state, .sure = sure};
}

static void part_names_init(struct dti_part_names *ret)
{
    ret->count = 0;
    static const char *const activations[] = {".input_scale", ".pre_quant_scale"};
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        for (unsigned part = 0; part < DTI_PART_COUNT; part++) {
            if (part != DTI_PART_CODES && (*row)->suffix[part])
                add_name(ret, (*row)->codes, (*row)->suffix[part], (*row)->suffix[DTI_PART_SCALE],
                         NULL, (*row)->sure);
        }
    }
    for (size_t i = 0; i < dti_quant_row_count; i++) {
        const struct dti_quant_row *const row = &dti_quant_rows[i];
        const char *const codes = dti_quant_suffix(row, DTI_PART_CODES);
        if (dti_quant_layout_marks(row->layout))
            continue; /* its names are those of dti_layout_comfy */
        for (int part = DTI_PART_SCALE; part < DTI_PART_COUNT; part++) {
            const char *const suffix = dti_quant_suffix(row, (enum dti_quant_part)part);
            if (suffix)
                add_name(ret, codes, suffix, dti_quant_suffix(row, DTI_PART_SCALE),
                         dti_quant_suffix(row, DTI_PART_STATE), codes[0] != '\0');
        }
    }
    add_name(ret, "", "_scale_inv", "_scale_inv", NULL, false);
    add_name(ret, dti_weight_end, ".scale", ".scale", NULL, false);
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        add_name(ret, dti_weight_end, activations[i], ".weight_scale", NULL, false);
        ret->list[ret->count - 1].activations = true;
    }
}

/* Whether parameters of other modules may have that suffix. */
static bool part_is_vague(const char *part)
{
    static const char *const vague[] = {".scale", ".scales", ".biases", ".global_scale"};
    bool is = false;
    for (size_t i = 0; i < sizeof vague / sizeof *vague; i++)
        is = is || strcmp(vague[i], part) == 0;
    return is;
}

/* Whether the tensor is named like a part: then it holds no codes. */
static bool part_names_has(const struct dti_part_names *names, const struct dti_tensor *tensor)
{
    for (size_t i = 0; i < names->count; i++) {
        if (dti_quant_name_ends(tensor->name, tensor->name_length, names->list[i].part))
            return true;
    }
    return false;
}

/* The enum dti_codes_class of a dtype; -1: it holds no codes. */
static int codes_class(const struct dti_tensor *tensor)
{
    static const signed char classes[DTI_DTYPE_COUNT] = {
        [DTI_FP8_E4M3FN] = DTI_CODES_FP8 + 1,   [DTI_FP8_E5M2] = DTI_CODES_FP8 + 1,
        [DTI_FP8_E4M3FNUZ] = DTI_CODES_FP8 + 1, [DTI_FP8_E5M2FNUZ] = DTI_CODES_FP8 + 1,
        [DTI_INT8] = DTI_CODES_INT8 + 1,        [DTI_UINT8] = DTI_CODES_UINT8 + 1,
        [DTI_INT16] = DTI_CODES_INT16 + 1,      [DTI_UINT16] = DTI_CODES_INT16 + 1,
        [DTI_INT32] = DTI_CODES_WORDS + 1,      [DTI_UINT32] = DTI_CODES_WORDS + 1,
        [DTI_FP4_E2M1] = DTI_CODES_FP4 + 1,
    };
    return dti_tensor_is_read(tensor) ? classes[tensor->format->id] - 1 : -1;
}

/* The scale of other codes of a class, indexed by whether they are named Y.weight. */
struct sibling {
    const struct dti_tensor *codes; /* NULL: none */
    const char *suffix;             /* of their scale, after Y or X */
};

struct whole {
    struct dti_file_dequant *dequant;
    struct dti_part_names names;
    struct own_part {
        size_t at;
        const struct dti_part_name *name; /* NULL: none */
    } * own;                              /* per tensor: a part that it has */
    const struct dti_tensor *scale;       /* the tensor scale of some nvfp4 tensor; or NULL */
    const struct dti_tensor *zeros;       /* zero points of some AWQ tensor; or NULL */
    struct sibling siblings[DTI_CODES_CLASSES][2];
};

static const struct dti_dequant_found *found_at(const struct whole *whole, size_t at)
{
    return dti_dequant_found_at(whole->dequant, at);
}

/* Whether patterns exclude it, so that it stays as it is. */
static bool is_left_out(const struct whole *whole, const struct dti_tensor *tensor)
{
    const struct dti_file_dequant_request *const request = &whole->dequant->request;
    return (request->select && !dti_tensor_fits(request->select, tensor)) ||
           dti_tensor_fits(request->keep, tensor) ||
           (request->only && !dti_tensor_fits(request->only, tensor));
}

/* Refusals. */

/* Shows the parts of a tensor again that is not read after all. */
static enum dti_status settle(struct whole *whole, size_t at, enum dti_lint_rule rule,
                              const struct dti_error *error, struct dti_error *reterr)
{
    struct dti_file_dequant *const dequant = whole->dequant;
    const struct dti_container *const container = dequant->container;
    const struct dti_dequant_found *const found = found_at(whole, at);
    for (unsigned i = 0; found && i < DTI_PART_COUNT; i++) {
        const struct dti_tensor *const part = dti_form_part(&found->form, i);
        if (part && dequant->request.logical)
            dequant->states[part - container->tensors] = DTI_DEQUANT_PLAIN;
    }
    dequant->refusal_rule = rule;
    return dti_dequant_settle(dequant, at, DTI_BAD_INPUT, error, NULL, reterr);
}

static struct dti_dequant_part part_at(const struct whole *whole, size_t at)
{
    return (struct dti_dequant_part){.container = whole->dequant->container, .tensor = at};
}

static enum dti_status refuse_missing(struct whole *whole, size_t at, const char *missing,
                                      const char *why, struct dti_error *reterr)
{
    const struct dti_dequant_part part = part_at(whole, at);
    struct dti_error error;
    (void)dti_dequant_refuse(&part, &error, DTI_REMEDY_KEEP,
                             "it needs a tensor '...%s', which is missing: %s",
                             missing + (missing[0] == '.'), why);
    return settle(whole, at, DTI_LINT_PART_MISSING, &error, reterr);
}

static enum dti_status refuse_surplus(struct whole *whole, size_t codes, size_t at,
                                      struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &whole->dequant->container->tensors[at];
    const struct dti_dequant_part part = part_at(whole, codes);
    struct dti_error error;
    (void)dti_dequant_refuse(&part, &error, DTI_REMEDY_KEEP,
                             "it has a tensor %s besides its other parts, which its layout, %s, "
                             "does not have",
                             DTI_QUOTED(tensor->name, tensor->name_length),
                             found_at(whole, codes)->form.is->layout);
    const enum dti_status status = settle(whole, codes, DTI_LINT_PART_SURPLUS, &error, reterr);
    whole->dequant->refused[at] = whole->dequant->refused[codes];
    return status;
}

static enum dti_status refuse_numbers(struct whole *whole, size_t codes, size_t at,
                                      struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &whole->dequant->container->tensors[at];
    const struct dti_tensor *const numbers = &whole->dequant->container->tensors[codes];
    const struct dti_dequant_part part = part_at(whole, codes);
    struct dti_error error;
    (void)dti_dequant_refuse(&part, &error, DTI_REMEDY_KEEP,
                             "the codes of %s are missing: it holds %s",
                             DTI_QUOTED(tensor->name, tensor->name_length),
                             numbers->format ? numbers->format->name : "no numbers");
    return settle(whole, codes, DTI_LINT_CODES_MISSING, &error, reterr);
}

/* Leftover parts. */

static enum dti_status look_at_codes(struct whole *whole, const struct dti_part_name *name,
                                     size_t codes, size_t at, struct dti_error *reterr)
{
    struct dti_file_dequant *const dequant = whole->dequant;
    const struct dti_tensor *const tensor = &dequant->container->tensors[codes];
    struct dti_quant_module module;
    if (codes_class(tensor) >= 0) {
        if (!whole->own[codes].name || !name->activations)
            whole->own[codes] = (struct own_part){.at = at, .name = name};
        return DTI_OK;
    }
    const bool factors = strcmp(name->part, ".scale_weight") == 0 && /* ComfyUI's, of any weight */
                         tensor->format && dti_format_is_float(tensor->format);
    if (name->activations || factors || dequant->request.layout_given ||
        is_left_out(whole, tensor) ||
        (!name->sure &&
         (!dti_is_weight(tensor) ||
          dti_dequant_statement(whole->dequant, tensor, &module) == DTI_MODULE_PLAIN)) ||
        (part_is_vague(name->part) && !dti_dequant_is_quantized(dequant)))
        return DTI_OK;
    return refuse_numbers(whole, codes, at, reterr);
}

/* Finds codes for the same numbers or module that were found, although their layout has no part of
 * that name. */
static bool find_other(const struct whole *whole, const struct dti_part_name *name,
                       const struct dti_tensor *tensor, size_t *ret)
{
    static const char *const codes[] = {".weight", ".weight_packed", ".qweight", "._weight_qdata"};
    const size_t length = tensor->name_length - strlen(name->part);
    size_t stem = length;
    if (name->part[0] == '_' &&
        dti_quant_names_find(&whole->dequant->names, tensor->name, length, "_blocks", ret) &&
        found_at(whole, *ret))
        return true;
    if (dti_quant_name_ends(tensor->name, length, dti_weight_end))
        stem -= sizeof dti_weight_end - 1;
    else if (name->part[0] != '.')
        return false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (dti_quant_names_find(&whole->dequant->names, tensor->name, stem, codes[i], ret) &&
            found_at(whole, *ret))
            return true;
    }
    return false;
}

/* Examines a part. Uses the first tensor that it could belong to, preferring those that were
 * found. */
static enum dti_status look_at_part(struct whole *whole, size_t at, struct dti_error *reterr)
{
    struct dti_file_dequant *const dequant = whole->dequant;
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    const struct dti_part_name *first = NULL;
    size_t codes, first_codes = 0;
    for (size_t i = 0; i < whole->names.count; i++) {
        const struct dti_part_name *const name = &whole->names.list[i];
        if (!dti_quant_name_ends(tensor->name, tensor->name_length, name->part))
            continue;
        const bool there =
            dti_quant_names_find(&dequant->names, tensor->name,
                                 tensor->name_length - strlen(name->part), name->codes, &codes) &&
            codes != at;
        if ((there && found_at(whole, codes)) ||
            (!there && !name->activations && find_other(whole, name, tensor, &codes)))
            return name->activations || dequant->request.layout_given
                       ? DTI_OK
                       : refuse_surplus(whole, codes, at, reterr);
        if (there && (dequant->refused[codes] || dequant->states[codes] != DTI_DEQUANT_PLAIN))
            return DTI_OK;
        if (there && !first) {
            first = name;
            first_codes = codes;
        }
    }
    return first ? look_at_codes(whole, first, first_codes, at, reterr) : DTI_OK;
}

/* Tensors that were found. */

static void add_sibling(struct whole *whole, const struct dti_dequant_found *found)
{
    const struct dti_tensor *const codes = dti_form_part(&found->form, DTI_PART_CODES);
    const struct dti_tensor *const scale = dti_form_part(&found->form, DTI_PART_SCALE);
    const int class = codes_class(codes);
    const size_t stem = codes->name_length - (dti_is_weight(codes) ? sizeof dti_weight_end - 1 : 0);
    if (found->form.is->tensor_scale && !whole->scale && found->how.is->block &&
        found->how.is->block->family == DTI_BLOCKS_NV)
        whole->scale = dti_form_part(&found->form, DTI_PART_TENSOR_SCALE);
    if (found->form.is->zero_points && strcmp(found->form.is->layout, "awq") == 0)
        whole->zeros = dti_form_part(&found->form, DTI_PART_ZERO_POINT);
    if (class < 0 || !scale || whole->siblings[class][dti_is_weight(codes)].codes ||
        scale->name_length <= stem || memcmp(scale->name, codes->name, stem) != 0)
        return;
    const char *const copy =
        dti_pool_text(&whole->dequant->pool, scale->name + stem, scale->name_length - stem);
    if (copy)
        whole->siblings[class][dti_is_weight(codes)] =
            (struct sibling){.codes = codes, .suffix = copy};
}

/* Whether the tensor's own metadata entry describes how it is stored. */
static bool is_named(const struct whole *whole, const char *name, size_t length)
{
    const size_t key = sizeof DTI_QUANT_KEY - 1;
    char *const buffer = whole->dequant->names.buffer;
    size_t at;
    memcpy(buffer, DTI_QUANT_KEY, key);
    memcpy(buffer + key, name, length);
    return dti_name_order_find(&whole->dequant->metadata, buffer, key + length, &at);
}

/* Some layouts always store the tensor scale of nvfp4. It may be missing if neither the
 * configuration nor a sibling shows that the file has such a layout. */
static enum dti_status check_tensor_scale(struct whole *whole, size_t at, struct dti_error *reterr)
{
    const struct dti_dequant_found *const found = found_at(whole, at);
    const struct dti_tensor *const codes = &whole->dequant->container->tensors[at];
    const struct dti_layout_ops *layout = NULL;
    struct dti_quant_module module;
    char why[DTI_QUOTE_SIZE + 64];
    if (!found || found->form.is->tensor_scale || !found->how.is->block ||
        found->how.is->block->family != DTI_BLOCKS_NV ||
        !(layout = dti_layout_called(found->form.is->layout)) || !layout->tensor_scales ||
        is_named(whole, found->shown->name, found->shown->name_length))
        return DTI_OK;
    const bool packed = codes->name_length > found->shown->name_length;
    if (dti_dequant_statement(whole->dequant, codes, &module) == DTI_MODULE_QUANTIZED)
        (void)snprintf(why, sizeof why, "%s says that its module is quantized",
                       whole->dequant->config.file);
    else if (whole->scale)
        (void)snprintf(why, sizeof why, "there is %s",
                       DTI_QUOTED(whole->scale->name, whole->scale->name_length));
    else
        return DTI_OK;
    return refuse_missing(whole, at, packed ? ".weight_global_scale" : ".weight_scale_2", why,
                          reterr);
}

/* In AWQ models without zero points, all tensors use the middle instead. */
static enum dti_status check_zeros(struct whole *whole, size_t at, struct dti_error *reterr)
{
    const struct dti_dequant_found *const found = found_at(whole, at);
    char why[DTI_QUOTE_SIZE + 64];
    if (!found || !whole->zeros || found->form.is->zero_points ||
        strcmp(found->form.is->layout, "awq") != 0)
        return DTI_OK;
    (void)snprintf(why, sizeof why, "there is %s",
                   DTI_QUOTED(whole->zeros->name, whole->zeros->name_length));
    return refuse_missing(whole, at, ".qzeros", why, reterr);
}

/* Leftover codes. */

static const struct dti_tensor *find_marker(const struct whole *whole,
                                            const struct dti_tensor *tensor)
{
    static const size_t end = sizeof "scaled_fp8" - 1;
    const struct dti_container *const container = whole->dequant->container;
    for (size_t dot = tensor->name_length + 1; dot-- > 0;) { /* of the modules that contain it */
        size_t at;
        if ((dot == 0 || tensor->name[dot - 1] == '.') &&
            dti_quant_names_find(&whole->dequant->names, tensor->name, dot, "scaled_fp8", &at) &&
            container->tensors[at].name_length == dot + end &&
            dti_comfy_is_marker(&container->tensors[at]))
            return &container->tensors[at];
    }
    return NULL;
}

/* Explains why the tensor is quantized, and returns what it lacks; NULL: it is not quantized. */
static const char *missing_of(const struct whole *whole, size_t at, char why[DTI_ERROR_TEXT],
                              size_t size)
{
    struct dti_file_dequant *const dequant = whole->dequant;
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    const int class = codes_class(tensor);
    const bool named = dti_is_weight(tensor);
    const size_t length = dti_module_length(tensor);
    const struct sibling *const sibling = &whole->siblings[class][named];
    const struct dti_tensor *marker = NULL;
    struct dti_quant_module module;
    if (is_named(whole, tensor->name, tensor->name_length)) {
        (void)snprintf(why, size, "the metadata say that it is quantized");
        return "_scale";
    }
    if (named && dti_comfy_has_layer(dequant, tensor->name, length)) {
        (void)snprintf(why, size, "the metadata say that it is quantized");
        return ".weight_scale";
    }
    if (tensor->rank < 2 || tensor->elements == 0 || dti_quant_names_other(tensor->name, length))
        return NULL;
    const enum dti_dequant_statement stated =
        dti_dequant_statement(whole->dequant, tensor, &module);
    if (stated == DTI_MODULE_PLAIN)
        return NULL;
    if (named && class == DTI_CODES_FP8 && (marker = find_marker(whole, tensor)) != NULL) {
        (void)snprintf(why, size, "%s marks layers with scales",
                       DTI_QUOTED(marker->name, marker->name_length));
        return ".scale_weight";
    }
    if (sibling->codes) {
        (void)snprintf(why, size, "%s has one",
                       DTI_QUOTED(sibling->codes->name, sibling->codes->name_length));
        return sibling->suffix;
    }
    const char *const scale = stated == DTI_MODULE_QUANTIZED &&
                                      (named || class == DTI_CODES_FP8 || class == DTI_CODES_FP4)
                                  ? dti_dequant_scale_name(&dequant->config, &module, class)
                                  : NULL;
    if (scale)
        (void)snprintf(why, size, "%s says that its module is quantized", dequant->config.file);
    return scale && !named ? "_scale" : scale;
}

/* Refuses codes that have another of their parts: their scale or state is missing, or everything
 * exists but they are not codes of such a layout. */
static enum dti_status refuse_own(struct whole *whole, size_t at, struct dti_error *reterr)
{
    const struct own_part *const own = &whole->own[at];
    const struct dti_container *const container = whole->dequant->container;
    const struct dti_tensor *const codes = &container->tensors[at];
    const struct dti_tensor *const tensor = &container->tensors[own->at];
    const struct dti_dequant_part part = part_at(whole, at);
    const char *const missing = own->name->state ? ".quant_state.*" : own->name->scale;
    char why[DTI_QUOTE_SIZE + 16], shape[DTI_DEQUANT_SHAPE_TEXT];
    struct dti_error error;
    (void)snprintf(why, sizeof why, "there is %s", DTI_QUOTED(tensor->name, tensor->name_length));
    if (strcmp(own->name->part, missing) != 0)
        return refuse_missing(whole, at, missing, why, reterr);
    (void)dti_dequant_refuse(&part, &error, DTI_REMEDY_KEEP,
                             "it holds %s of shape %s, which cannot be codes with a tensor %s",
                             codes->format->name, dti_dequant_shape_words(codes, shape),
                             DTI_QUOTED(tensor->name, tensor->name_length));
    return settle(whole, at, DTI_LINT_PARTS, &error, reterr);
}

static enum dti_status look_at_alone(struct whole *whole, size_t at, struct dti_error *reterr)
{
    struct dti_file_dequant *const dequant = whole->dequant;
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    char why[DTI_ERROR_TEXT] = "";
    if (found_at(whole, at) || dequant->refused[at] || dequant->states[at] != DTI_DEQUANT_PLAIN ||
        codes_class(tensor) < 0 || is_left_out(whole, tensor) ||
        part_names_has(&whole->names, tensor) ||
        (whole->own[at].name && dequant->request.layout_given))
        return DTI_OK;
    if (whole->own[at].name)
        return refuse_own(whole, at, reterr);
    const char *const missing = missing_of(whole, at, why, sizeof why);
    return missing ? refuse_missing(whole, at, missing, why, reterr) : DTI_OK;
}

static enum dti_status look_at_all(struct whole *whole, struct dti_error *reterr)
{
    const size_t count = whole->dequant->container->tensor_count;
    enum dti_status status = DTI_OK;
    part_names_init(&whole->names);
    for (size_t i = 0; i < count; i++) {
        whole->dequant->any_found |= found_at(whole, i) != NULL;
        if (found_at(whole, i))
            add_sibling(whole, found_at(whole, i));
    }
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        status = check_tensor_scale(whole, i, reterr);
        if (status == DTI_OK)
            status = check_zeros(whole, i, reterr);
    }
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (!found_at(whole, i) && whole->dequant->states[i] == DTI_DEQUANT_PLAIN &&
            !whole->dequant->refused[i])
            status = look_at_part(whole, i, reterr);
    }
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = look_at_alone(whole, i, reterr);
    return status;
}

enum dti_status dti_dequant_whole(struct dti_file_dequant *dequant, struct dti_error *reterr)
{
    const size_t count = dequant->container->tensor_count;
    struct whole *const whole = dti_pool_alloc(&dequant->pool, sizeof *whole);
    struct own_part *const own = dti_calloc(count + 1, sizeof *own); /* few are used */
    enum dti_status status = whole && own ? DTI_OK : dti_no_memory(reterr);
    if (status == DTI_OK) {
        *whole = (struct whole){.dequant = dequant, .own = own};
        status = look_at_all(whole, reterr);
    }
    dti_free(own);
    return status;
}
