/* SPDX-License-Identifier: MIT
 *
 * The view of a quantized file: its tensors, some of them combined from several, in file order.
 *
 * Quantized npy files: each part is a separate file. OUT.npy holds the codes, next to OUT_scale.npy
 * and so on. */
#include "files/dequant/file_dequant.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/dequant/dequant_find.h"
#include "files/dequant/dequant_layouts.h"
#include "files/dequant/dequant_parts.h"
#include "files/stored/unread_layouts.h"
#include "util/run/allocate.h"
#include "util/text/glob.h"

/* Opens the file with a part; *ret stays NULL if it does not exist. */
static enum dti_status open_sibling(const struct dti_file_dequant *dequant, const char *suffix,
                                    struct dti_container **ret, struct dti_error *reterr)
{
    bool named;
    if (dequant->container->alone)
        return DTI_OK;
    char *const name =
        dti_path_sibling(dequant->container->path, dequant->container->kind, suffix, &named);
    if (!name)
        return dti_no_memory(reterr);
    enum dti_status status = DTI_OK;
    const int there = dti_input_there(name);
    if (named && there == 0)
        status = dti_container_open(ret, name, &dequant->request.open, reterr);
    else if (named && there != ENOENT) /* codes without their parts would be other numbers */
        status = dti_input_fail(&(struct dti_input){.name = name}, there, reterr);
    dti_free(name);
    return status;
}

/* Finds the parts of the one tensor of an npy file in the files next to it. Suffixes are those of
 * the requested layout, else of the first. */
static enum dti_status dequant_npy(struct dti_file_dequant *dequant, struct dti_dequant_found **ret,
                                   struct dti_error *reterr)
{
    const enum dti_quant_layout layout =
        dequant->request.layout_given ? dequant->request.layout : DTI_LAYOUT_COMPRESSED_TENSORS;
    if (dti_quant_layout_is_read_elsewhere(layout))
        return DTI_OK; /* needs names */
    const struct dti_quant_row *const row = dti_quant_row_find(layout, "int8");
    struct dti_container *const container = dequant->container;
    const struct dti_tensor *const tensor = &container->tensors[0];
    struct dti_dequant_group group = {.view = dequant,
                                      .name = tensor->name,
                                      .name_length = tensor->name_length,
                                      .free_name = true,
                                      .bound = true,
                                      .layout = layout,
                                      .part[DTI_PART_CODES] = {.container = container}};
    for (int part = DTI_PART_SCALE; part < DTI_PART_COUNT; part++) {
        const char *const suffix = dti_quant_suffix(row, (enum dti_quant_part)part);
        struct dti_container *sibling = NULL;
        if (!suffix)
            continue;
        const enum dti_status status = open_sibling(dequant, suffix, &sibling, reterr);
        if (status != DTI_OK)
            return status;
        dequant->sibling[part] = sibling;
        group.part[part].container = sibling && sibling->tensor_count == 1 ? sibling : NULL;
    }
    if (!dti_dequant_has(&group, DTI_PART_SCALE))
        return DTI_OK;
    *ret = dti_dequant_found_new(dequant);
    if (!*ret)
        return dti_no_memory(reterr);
    dequant->states[0] = DTI_DEQUANT_PART;
    const uint64_t length = dequant->request.block;
    const struct dti_quant_hint hint = {.bits = dequant->request.bits, .group = {length, length}};
    const struct dti_dequant_knowledge known = {
        .hints = &hint, .count = 1, .source = dequant->request.stated_by};
    return dti_dequant_match(dequant, &known, &group, *ret, reterr);
}

enum dti_status dti_file_dequant_data(struct dti_file_dequant *dequant, size_t tensor,
                                      struct dti_batch_source *ret_source,
                                      const struct dti_input **ret_input, uint64_t *ret_offset,
                                      struct dti_error *reterr)
{
    struct dti_dequant_found *const found = dti_dequant_found_in(dequant, tensor);
    *ret_source = (struct dti_batch_source){.read = NULL};
    if (!found)
        return dti_container_data(dequant->container, dequant->view.stored_at[tensor], ret_input,
                                  ret_offset, reterr);
    if (!dequant->counts)
        dequant->counts = dti_calloc(dequant->view.tensor_count, sizeof *dequant->counts);
    if (!dequant->counts)
        return dti_no_memory(reterr);
    *ret_source = dti_dequant_counted(&found->how, &dequant->counts[tensor]);
    return dti_dequant_open(&found->how, reterr);
}

enum dti_dequant_state dti_dequant_state_of(const struct dti_file_dequant *dequant, size_t tensor)
{
    return dti_dequant_found_in(dequant, tensor)
               ? DTI_DEQUANT_PLAIN
               : (enum dti_dequant_state)dequant->states[dequant->view.stored_at[tensor]];
}

bool dti_dequant_fits(const struct dti_file_dequant *dequant, const char *pattern, size_t length)
{
    for (size_t i = 0; i < dequant->container->tensor_count; i++) {
        const struct dti_tensor *const tensor = dti_container_tensor(dequant->container, i);
        size_t base = tensor->name_length;
        if (dti_glob_match(pattern, length, tensor->name, tensor->name_length))
            return true;
        if (dequant->states[i] >= DTI_DEQUANT_KEPT &&
            dti_quant_is_side_name(tensor->name, tensor->name_length, &base) &&
            dti_glob_match(pattern, length, tensor->name, base))
            return true;
    }
    return false;
}

/* Reuses the method of the previous tensor if they are alike; false: out of memory. */
static bool prepare(struct dti_file_dequant *dequant, struct dti_dequant_tensor *tensor)
{
    if (dequant->last && dti_dequant_is_alike(dequant->last, tensor)) {
        tensor->method = dequant->last->method;
    } else {
        struct dti_dequant_method *const method = dti_pool_alloc(&dequant->pool, sizeof *method);
        if (!method)
            return false;
        dti_dequant_method_init(method, tensor);
        tensor->method = method;
    }
    dequant->last = tensor;
    return true;
}

/* A found tensor is shown as fp32; in a view for inspection, as its codes, with a form next to the
 * dequantized numbers. */
static bool finish(struct dti_file_dequant *dequant, struct dti_dequant_found *found)
{
    const bool logical = dequant->request.logical;
    const struct dti_format *const fp32 = dti_format_get(DTI_FP32);
    struct dti_tensor *const shown = found->shown;
    shown->format = fp32;
    dti_tensor_set_block(shown, logical ? found->how.is->block : NULL);
    shown->layout = (struct dti_layout){.swapped = false};
    shown->fortran = false;
    shown->own.refusal = NULL;
    shown->remedy = DTI_REMEDY_NONE;
    if (!prepare(dequant, &found->how))
        return false;
    if (logical) {
        shown->bytes = found->form.is->stored_bytes;
        shown->viewed = true;
        shown->own.form = &found->form;
    } else {
        shown->compressed = false;
        shown->offset = 0;
    }
    return true;
}

/* A matrix whose codes are not decoded appears with the shape of its numbers, if its layout shows
 * it. Returns false if memory ran out. */
static bool show_unread(struct dti_file_dequant *dequant, size_t at, struct dti_tensor *tensor)
{
    const struct dti_unread_layout *const layout = dti_unread_layout_of(&dequant->names, at);
    uint64_t shape[2], bits;
    char text[48];
    if (!layout || !dti_unread_shape(layout, tensor, shape, &bits))
        return true;
    uint64_t *const copy = dti_pool_array(&dequant->pool, 2, sizeof *copy);
    const int length =
        snprintf(text, sizeof text, "%s %llu bits", layout->name, (unsigned long long)bits);
    const char *const name = dti_pool_text(&dequant->pool, text, (size_t)length);
    if (!copy || !name)
        return false;
    memcpy(copy, shape, sizeof shape);
    tensor->stored_as = name;
    tensor->format = NULL;
    tensor->rank = 2;
    tensor->shape = copy;
    tensor->elements = shape[0] * shape[1];
    tensor->coded_weights = true;
    tensor->own.refusal = "holds codes of EXL3, which are not decoded";
    return true;
}

/* The tensor of the view for tensor `at` of the container, whose place is `to`. */
static enum dti_status fill_tensor(struct dti_file_dequant *dequant, size_t at,
                                   struct dti_dequant_found *found, struct dti_tensor *to,
                                   struct dti_error *reterr)
{
    const bool logical = dequant->request.logical;
    if (found) {
        *to = *found->shown;
        found->shown = to;
        if (!finish(dequant, found))
            return dti_no_memory(reterr);
        if (!logical && !dti_format_bytes(to->format, &to->layout, to->elements, &to->bytes))
            return dti_fail(reterr, DTI_BAD_INPUT, "the numbers of a tensor exceed 2^64 bytes");
        dequant->found_count++;
        return DTI_OK;
    }
    *to = dequant->container->tensors[at];
    to->scales_activations =
        logical && (dequant->states[at] == DTI_DEQUANT_KEPT ||
                    (dequant->ambiguities.count > 0 && dti_unread_is_side(&dequant->names, at)));
    return logical && dequant->refused[at] && !show_unread(dequant, at, to) ? dti_no_memory(reterr)
                                                                            : DTI_OK;
}

/* Backwards, so that no tensor takes the place of one that was found and is yet to move. */
static enum dti_status fill_view(struct dti_file_dequant *dequant, struct dti_error *reterr)
{
    const size_t count = dequant->container->tensor_count;
    struct dti_container *const view = &dequant->view;
    size_t shown = 0;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count; i++)
        shown += dequant->found_of[i] > 0 || dequant->states[i] != DTI_DEQUANT_PART;
    uint32_t *const stored_at = dti_pool_array(&dequant->pool, shown + 1, sizeof *stored_at);
    uint32_t *const found_in = dti_pool_array(&dequant->pool, shown + 1, sizeof *found_in);
    if (!stored_at || !found_in)
        return dti_no_memory(reterr);
    view->tensor_count = shown;
    for (size_t i = count; i > 0 && status == DTI_OK; i--) {
        struct dti_dequant_found *const own = dti_dequant_found_at(dequant, i - 1);
        if (!own && dequant->states[i - 1] == DTI_DEQUANT_PART)
            continue;
        stored_at[--shown] = (uint32_t)(i - 1);
        found_in[shown] = dequant->found_of[i - 1];
        status = fill_tensor(dequant, i - 1, own, &view->tensors[shown], reterr);
    }
    view->stored_at = stored_at;
    dequant->found_in = found_in;
    dti_free(dequant->found_of);
    dequant->found_of = NULL;
    return status;
}

/* Drops the metadata entries of quantized tensors, which no longer apply. */
static enum dti_status fill_metadata(struct dti_file_dequant *dequant, struct dti_error *reterr)
{
    const struct dti_container *const container = dequant->container;
    struct dti_metadata *const list =
        dti_pool_array(&dequant->pool, container->metadata_count + 1, sizeof *list);
    if (!list)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < container->metadata_count; i++) {
        const struct dti_metadata *const entry = &container->metadata[i];
        const bool stale =
            dti_comfy_is_entry(entry) || (dequant->torchao && dti_torchao_is_entry(entry));
        if (!dti_is_quant_entry(entry) && (dequant->layout_kept || !stale))
            list[dequant->view.metadata_count++] = *entry;
    }
    dequant->view.metadata = list;
    return DTI_OK;
}

/* Lists all input files: the output must not be one of them. */
static enum dti_status fill_files(struct dti_file_dequant *dequant, struct dti_error *reterr)
{
    struct dti_container *const view = &dequant->view;
    size_t count = dequant->container->file_count;
    for (size_t i = 0; i < DTI_PART_COUNT; i++)
        count += dequant->sibling[i] ? 1 : 0;
    struct dti_container_file *const files =
        dti_pool_array(&dequant->pool, count + 1, sizeof *files);
    if (!files)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < dequant->container->file_count; i++)
        files[view->file_count++] = dequant->container->files[i];
    for (size_t i = 0; i < DTI_PART_COUNT; i++) {
        if (dequant->sibling[i])
            files[view->file_count++] = dequant->sibling[i]->files[0];
    }
    view->files = files;
    return DTI_OK;
}

/* ggml blocks can only become numbers: no other file format holds them. */
static enum dti_status look_at_blocks(struct dti_file_dequant *dequant, size_t at,
                                      struct dti_dequant_found **ret, struct dti_error *reterr)
{
    const struct dti_file_dequant_request *const request = &dequant->request;
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    char place[DTI_TENSOR_PLACE];
    if (!dti_dequant_is_ggml(dequant->container, at) ||
        (request->select && !dti_tensor_fits(request->select, tensor)) ||
        (request->stays && request->stays(request->stays_context, tensor)))
        return DTI_OK;
    if (dti_tensor_fits(request->keep, tensor) ||
        (request->only && !dti_tensor_fits(request->only, tensor)))
        return dti_fail_remedy(
            reterr, DTI_WRONG_KIND, DTI_REMEDY_LEAVE_OUT,
            "%s holds blocks of %s, and what is kept next to numbers has to be numbers",
            dti_tensor_place(dequant->container, at, place), tensor->stored_as);
    *ret = dti_dequant_found_new(dequant);
    return *ret ? dti_dequant_ggml(dequant, at, *ret, reterr) : dti_no_memory(reterr);
}

static enum dti_status look(struct dti_file_dequant *dequant, struct dti_error *reterr)
{
    const struct dti_container *const container = dequant->container;
    const bool npy = dti_is_array(container->kind) && container->tensor_count == 1;
    enum dti_status status = DTI_OK;
    const bool onnx = dti_container_has(container->kind, DTI_TRAIT_GRAPH);
    if (!npy && !onnx && !dti_is_gguf(container->kind))
        return dti_dequant_find(dequant, reterr);
    for (size_t i = 0; i < container->tensor_count && status == DTI_OK; i++) {
        struct dti_dequant_found *found = NULL;
        struct dti_error error;
        status = npy    ? dequant_npy(dequant, &found, &error)
                 : onnx ? dti_dequant_onnx(dequant, i, &found, &error)
                        : look_at_blocks(dequant, i, &found, &error);
        status = dti_dequant_settle(dequant, i, status, &error, found, reterr);
    }
    return status;
}

static enum dti_status make(struct dti_file_dequant *dequant, struct dti_error *reterr)
{
    const struct dti_container *const container = dequant->container;
    const size_t count = container->tensor_count;
    dequant->view.tensors =
        dti_pool_array(&dequant->pool, count + 1, sizeof *dequant->view.tensors);
    dequant->states = dti_pool_alloc(&dequant->pool, count + 1);
    dequant->refused = dti_calloc(count + 1, sizeof *dequant->refused);
    dequant->found = dti_calloc(count + 1, sizeof *dequant->found);
    dequant->found_of = dti_calloc(count + 1, sizeof *dequant->found_of);
    if (count > UINT32_MAX - 1 || !dequant->found || !dequant->found_of || !dequant->view.tensors ||
        !dequant->states || !dequant->refused ||
        !dti_quant_names_init(&dequant->names, container) ||
        !dti_name_order_init(&dequant->metadata, container->metadata_count))
        return dti_no_memory(reterr);
    memset(dequant->states, DTI_DEQUANT_PLAIN, count);
    for (size_t i = 0; i < container->metadata_count; i++)
        dti_name_order_add(&dequant->metadata, container->metadata[i].key,
                           container->metadata[i].key_length);
    dti_name_order_sort(&dequant->metadata);
    enum dti_status status = look(dequant, reterr);
    if (status == DTI_OK)
        status = fill_view(dequant, reterr);
    if (status == DTI_OK)
        status = dti_dequant_notes(dequant, reterr);
    if (status == DTI_OK && dequant->request.logical) {
        dti_quant_names_free(&dequant->names); /* they take much memory */
        return DTI_OK;
    }
    if (status == DTI_OK)
        status = fill_metadata(dequant, reterr);
    return status == DTI_OK ? fill_files(dequant, reterr) : status;
}

enum dti_status dti_file_dequant_new(struct dti_file_dequant **ret, struct dti_container *container,
                                     const struct dti_file_dequant_request *request,
                                     struct dti_error *reterr)
{
    struct dti_file_dequant *const dequant = dti_calloc(1, sizeof *dequant);
    if (!dequant)
        return dti_no_memory(reterr);
    dequant->request = *request;
    dequant->refusal_rule = DTI_LINT_RULES;
    dequant->none.is = &dequant->nothing;
    if (!request->stated_by)
        dequant->request.stated_by = "the request";
    dequant->container = container;
    dequant->view = *container;
    dequant->view.own = NULL;
    dequant->view.tensor_count = 0;
    if (!request->logical)
        dequant->view.metadata_count = dequant->view.file_count = 0;
    dti_stripes_init(&dequant->stripes);
    const enum dti_status status = make(dequant, reterr);
    dti_window_free(&dequant->scales);
    if (status == DTI_OK)
        *ret = dequant;
    else
        dti_file_dequant_free(dequant);
    return status;
}

void dti_file_dequant_free(struct dti_file_dequant *dequant)
{
    if (!dequant)
        return;
    for (size_t i = 0; i < dequant->plan_count; i++)
        dti_plan_free(dequant->plans[i]);
    for (size_t i = 0; i < DTI_PART_COUNT; i++)
        dti_container_free(dequant->sibling[i]);
    dti_free(dequant->refused);
    dti_free(dequant->found);
    dti_free(dequant->found_of);
    dti_free(dequant->counts);
    dti_quant_config_free(&dequant->config);
    dti_quant_names_free(&dequant->names);
    dti_name_order_free(&dequant->metadata);
    dti_pool_free(&dequant->pool);
    dti_stripes_free(&dequant->stripes);
    dti_free(dequant);
}

const struct dti_dequant_form *dti_file_dequant_form(const struct dti_file_dequant *dequant,
                                                     size_t tensor)
{
    const struct dti_dequant_found *const found = dti_dequant_found_in(dequant, tensor);
    return found ? &found->form : &dequant->none;
}

void dti_file_dequant_specials(const struct dti_file_dequant *dequant, size_t tensor,
                               uint64_t *ret_nan, uint64_t *ret_inf)
{
    *ret_nan = dequant->counts ? atomic_load(&dequant->counts[tensor].nan) : 0;
    *ret_inf = dequant->counts ? atomic_load(&dequant->counts[tensor].inf) : 0;
}

const char *dti_file_dequant_config(const struct dti_file_dequant *dequant)
{
    return dequant->has_config && dequant->config.count > 0 ? dequant->config.file : NULL;
}

size_t dti_file_dequant_count(const struct dti_file_dequant *dequant)
{
    return dequant->found_count;
}
