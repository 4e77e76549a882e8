/* SPDX-License-Identifier: MIT
 *
 * Collects what a model asks of its loader: demands.h. */
#include "files/loaders/demands.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "containers/gguf/gguf_edits.h"
#include "files/dequant/dequant_layouts.h"
#include "files/dequant/dequant_tensor.h"
#include "files/stored/layouts.h"
#include "util/text/ascii.h"

static const char main_file[] = "config.json";

/* Words of files are untrusted: what is no letter, digit or mark of names becomes '?'. */
static void tame(char ret[DTI_DEMAND_SUBJECT], const char *text, size_t length)
{
    size_t i = 0;
    for (; i < length && i + 1 < DTI_DEMAND_SUBJECT; i++) {
        const char byte = text[i];
        const bool known = dti_ascii_digit(byte) || (byte >= 'a' && byte <= 'z') ||
                           (byte >= 'A' && byte <= 'Z') || (byte != '\0' && strchr("_-. ':", byte));
        ret[i] = known ? byte : '?';
    }
    ret[i] = '\0';
}

/* Adds one, or counts a tensor of one that is there. The last ones are the likely ones. */
static enum dti_status add(struct dti_loader_demands *demands, enum dti_loader_topic topic,
                           const char *subject, size_t tensor, struct dti_error *reterr)
{
    char tamed[DTI_DEMAND_SUBJECT];
    tame(tamed, subject, strlen(subject));
    for (size_t i = demands->count; i-- > 0;) {
        struct dti_loader_demand *const demand = &demands->list[i];
        if (demand->topic == topic && strcmp(demand->subject, tamed) == 0) {
            demand->tensors++;
            return DTI_OK;
        }
    }
    if (demands->count == demands->capacity) {
        const size_t used = demands->count * sizeof *demands->list;
        const size_t capacity = demands->capacity > 0 ? 2 * demands->capacity : 16;
        struct dti_loader_demand *const larger =
            dti_pool_grow(&demands->pool, demands->list, used, capacity * sizeof *demands->list);
        if (!larger)
            return dti_no_memory(reterr);
        demands->list = larger;
        demands->capacity = capacity;
    }
    struct dti_loader_demand *const demand = &demands->list[demands->count++];
    *demand =
        (struct dti_loader_demand){.topic = topic, .tensor = tensor, .tensors = tensor != SIZE_MAX};
    memcpy(demand->subject, tamed, sizeof tamed);
    return DTI_OK;
}

/* The layout's name. Whether the parts are those of compressed-tensors or of ModelOpt often follows
 * from the configuration alone. */
static const char *layout_of(const struct dti_form_traits *form, const char *method)
{
    const struct dti_layout_ops *const own = dti_layout_called(form->layout);
    const struct dti_layout_ops *const row =
        method[0] != '\0' ? dti_layout_of_method(method) : NULL;
    return own && own->tensor_scales && row && row->name ? row->name : form->layout;
}

static const char *per_of(const struct dti_form_traits *form)
{
    if (form->per == DTI_PER_TENSOR)
        return "tensor";
    if (form->per == DTI_PER_CHANNEL)
        return "channel";
    return form->group[0] > 1 ? "block" : "group";
}

static enum dti_status add_gguf(struct dti_loader_demands *demands, const struct dti_tensor *tensor,
                                size_t at, const char *architecture, struct dti_error *reterr)
{
    char subject[DTI_DEMAND_SUBJECT];
    const char *const type = dti_tensor_form(tensor)    ? dti_tensor_form(tensor)->is->dtype
                             : dti_tensor_gguf(tensor)  ? dti_tensor_gguf(tensor)->word
                             : dti_tensor_block(tensor) ? dti_tensor_block(tensor)->name
                             : tensor->format           ? tensor->format->name
                                                        : "not ggml's";
    (void)snprintf(subject, sizeof subject, "%.60s %.24s", architecture,
                   tensor->undefined ? "not ggml's" : type);
    return add(demands, DTI_LOADER_GGUF, subject, at, reterr);
}

/* The file that the container is a view of, and its names once they were asked for. */
struct demanded_file {
    const struct dti_container *file;
    const struct dti_quant_config *config; /* or NULL */
    struct dti_quant_names names;
    bool named;
};

/* Whether its algorithm ("quant_algo") takes the scale of activations from the file, which has
 * none.
 */
static enum dti_status find_lack(struct demanded_file *from, const struct dti_tensor *tensor,
                                 bool *ret_lacks, struct dti_error *reterr)
{
    static const char end[] = ".weight";
    const struct dti_form_traits *const form = dti_tensor_form(tensor)->is;
    const bool fp8 = strcmp(form->dtype, "fp8_e4m3fn") == 0 && form->per == DTI_PER_TENSOR;
    const bool nvfp4 = strcmp(form->dtype, "nvfp4") == 0 && from->config;
    *ret_lacks = false;
    if (!(fp8 || nvfp4) || !dti_quant_name_ends(tensor->name, tensor->name_length, end))
        return DTI_OK;
    const size_t stem = tensor->name_length - (sizeof end - 1);
    if (nvfp4) { /* of 16 bits or of 4 */
        struct dti_quant_module module;
        const enum dti_status status =
            dti_quant_config_module(from->config, tensor->name, stem, &module, reterr);
        if (status != DTI_OK || module.count != 1 || !module.hints[0].inputs)
            return status;
    }
    if (!from->named && !dti_quant_names_init(&from->names, from->file))
        return dti_no_memory(reterr);
    from->named = true;
    size_t at;
    *ret_lacks = !dti_quant_names_find(&from->names, tensor->name, stem, ".input_scale", &at);
    return DTI_OK;
}

/* Whether modules have algorithms of their own: not all are known there. */
static bool is_mixture(const struct dti_quant_config *config)
{
    return config && strcasecmp(config->algorithm, DTI_MIXED_PRECISION) == 0;
}

enum { ASIDE = 64 };

/* Of compressed-tensors: the format of the tensor's group, else that of all groups. */
static enum dti_status find_format(const struct demanded_file *from,
                                   const struct dti_tensor *tensor, char ret[ASIDE],
                                   struct dti_error *reterr)
{
    const struct dti_quant_config *const config = from->config;
    struct dti_quant_module module = {.count = 0};
    const enum dti_status status =
        config ? dti_quant_config_module(config, tensor->name, dti_quant_module_length(tensor),
                                         &module, reterr)
               : DTI_OK;
    if (status != DTI_OK || module.count == 0 || !module.hints[0].format)
        return status;
    const struct dti_quant_hint *const hint = &module.hints[0];
    bool several = false, ordered = hint->ordered;
    for (size_t i = 1; i < module.count; i++) {
        several = several || strcmp(module.hints[i].format, hint->format) != 0;
        ordered = ordered || module.hints[i].ordered;
    }
    (void)snprintf(
        ret, ASIDE, " as %s%s%s",
        several                   ? "one of several formats"
        : hint->format[0] == '\0' ? "no format"
                                  : hint->format,
        several || strcmp(hint->format, config->checkpoint_format) == 0 ? "" : " of its group",
        ordered ? " with actorder" : "");
    return DTI_OK;
}

static enum dti_status add_tensor(struct dti_loader_demands *demands, struct demanded_file *from,
                                  const struct dti_tensor *tensor, size_t at,
                                  struct dti_error *reterr)
{
    char subject[DTI_DEMAND_SUBJECT];
    if (dti_tensor_form(tensor)) {
        const struct dti_form_traits *const form = dti_tensor_form(tensor)->is;
        const char *const layout = layout_of(form, demands->method);
        const struct dti_layout_ops *const ops = dti_layout_called(layout);
        const bool algorithms = ops && ops->algorithms;
        char aside[ASIDE] = "";
        bool lacks = false;
        enum dti_status status = DTI_OK;
        if (algorithms)
            status = find_lack(from, tensor, &lacks, reterr);
        else if (ops == &dti_layout_compressed_tensors)
            status = find_format(from, tensor, aside, reterr);
        if (status != DTI_OK)
            return status;
        const struct dti_tensor *const scales =
            dti_form_part(dti_tensor_form(tensor), DTI_PART_SCALE);
        if (algorithms)
            (void)snprintf(aside, sizeof aside, "%s%s%s",
                           is_mixture(from->config) ? " in a mixture" : "",
                           lacks ? " without input_scale" : "",
                           scales && scales->rank == 4 ? " by scales of four dimensions" : "");
        (void)snprintf(subject, sizeof subject, "%.40s %.24s %s%s", layout, form->dtype,
                       per_of(form), aside);
        return add(demands, DTI_LOADER_LAYOUT, subject, at, reterr);
    }
    if (tensor->coded_weights)
        return add(demands, DTI_LOADER_LAYOUT, "codes that dtinfo does not read", at, reterr);
    return add(demands, DTI_LOADER_DTYPE,
               tensor->format             ? tensor->format->name
               : dti_tensor_block(tensor) ? dti_tensor_block(tensor)->name
                                          : tensor->stored_as,
               at, reterr);
}

/* Tensors that are quantized, in layouts that only a configuration can state, without one. */
static enum dti_status add_unstated(struct dti_loader_demands *demands,
                                    const struct dti_container *container, const size_t *tensors,
                                    size_t count, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &container->tensors[tensors[i]];
        char subject[DTI_DEMAND_SUBJECT];
        if (!dti_tensor_form(tensor) || strcmp(dti_tensor_form(tensor)->is->layout, "comfy") == 0)
            continue;
        (void)snprintf(subject, sizeof subject, "no quantization_config for %.40s %.24s",
                       dti_tensor_form(tensor)->is->layout, dti_tensor_form(tensor)->is->dtype);
        status = add(demands, DTI_LOADER_CONFIG, subject, tensors[i], reterr);
    }
    return status;
}

/* config.json: whether it is there, what it says of quantization, or which other file does. */
/* What a configuration of algorithms lacks, or NULL. */
static const char *lacking(const struct dti_quant_config *config)
{
    const struct dti_layout_ops *const row = dti_layout_of_method(config->method);
    if (!row || !row->algorithms)
        return NULL;
    if (config->algorithm[0] == '\0')
        return "no quant_algo";
    return is_mixture(config) && !config->layered ? "no quantized_layers" : NULL;
}

static enum dti_status add_config(struct dti_loader_demands *demands,
                                  struct dti_container *container, const size_t *tensors,
                                  size_t count, struct dti_error *reterr)
{
    const struct dti_container *const file = container->stored ? container->stored : container;
    const struct dti_quant_config *const config =
        container->stored ? dti_dequant_config(container->own) : NULL;
    const bool read = container->stored && config;
    bool missing = false;
    char subject[DTI_DEMAND_SUBJECT];
    enum dti_status status = dti_quant_config_is_missing(file, &missing, reterr);
    if (status == DTI_OK && (missing || file->alone)) {
        status = add(demands, DTI_LOADER_CONFIG, "no config.json", SIZE_MAX, reterr);
        if (status == DTI_OK)
            demands->list[demands->count - 1].unsure = file->alone;
    }
    if (status != DTI_OK || !read)
        return status;
    if (!config->file)
        return missing || file->alone ? DTI_OK
                                      : add_unstated(demands, container, tensors, count, reterr);
    (void)snprintf(demands->method, sizeof demands->method, "%s", config->method);
    if (strcmp(config->file, main_file) != 0) {
        (void)snprintf(subject, sizeof subject, "only in %.40s", config->file);
        status = add(demands, DTI_LOADER_CONFIG, subject, SIZE_MAX, reterr);
    }
    if (status == DTI_OK && config->method[0] != '\0')
        status = add(demands, DTI_LOADER_METHOD, config->method, SIZE_MAX, reterr);
    const char *const lack = lacking(config);
    return status == DTI_OK && lack ? add(demands, DTI_LOADER_CONFIG, lack, SIZE_MAX, reterr)
                                    : status;
}

/* A folder of one file is loaded as that file. */
static const char *kind_of(const struct dti_container *container)
{
    const struct dti_container *const file = container->stored ? container->stored : container;
    const bool one = dti_is_sharded(file->kind) && file->file_count == 1 && !file->index;
    const enum dti_container_kind own =
        one ? dti_container_named(file->files[0].path) : DTI_CONTAINER_COUNT;
    return dti_container_name(dti_container_is_known(own) ? own : file->kind);
}

static const char *architecture_of(const struct dti_container *container,
                                   char room[DTI_DEMAND_SUBJECT])
{
    const struct dti_metadata *const entry = dti_gguf_pair_of(container, "general.architecture");
    const bool word = entry && entry->kind == DTI_METADATA_STRING;
    tame(room, word ? entry->value : "?", word ? entry->value_length : 1);
    return room;
}

enum dti_status dti_loader_demands(struct dti_loader_demands *ret, struct dti_container *container,
                                   const size_t *tensors, size_t count, struct dti_error *reterr)
{
    char architecture[DTI_DEMAND_SUBJECT];
    const bool gguf = dti_is_gguf(container->kind);
    struct demanded_file from = {
        .file = container->stored ? container->stored : container,
        .config = container->stored && !gguf ? dti_dequant_config(container->own) : NULL};
    *ret = (struct dti_loader_demands){.list = NULL};
    enum dti_status status = add(ret, DTI_LOADER_KIND, kind_of(container), SIZE_MAX, reterr);
    if (status == DTI_OK && gguf)
        status =
            add(ret, DTI_LOADER_ARCH, architecture_of(container, architecture), SIZE_MAX, reterr);
    else if (status == DTI_OK && dti_container_has(container->kind, DTI_TRAIT_CONFIG))
        status = add_config(ret, container, tensors, count, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &container->tensors[tensors[i]];
        status = gguf ? add_gguf(ret, tensor, tensors[i], architecture, reterr)
                      : add_tensor(ret, &from, tensor, tensors[i], reterr);
    }
    if (from.named)
        dti_quant_names_free(&from.names);
    return status;
}

void dti_loader_demands_free(struct dti_loader_demands *demands)
{
    dti_pool_free(&demands->pool);
}
