/* SPDX-License-Identifier: MIT
 *
 * The other files of a checkpoint's folder: see model_folder.h.
 *
 * The quantization_config that loaders need for the tensors of a rewrite. */
#include "files/rewrite/model_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/config/quant_config_forms.h"
#include "files/config/quant_config_layers.h"
#include "files/stored/layouts.h"
#include "files/stored/quant_marks.h"
#include "files/stored/quant_names.h"
#include "files/transcode/file_transcode.h"
#include "files/transcode/transcode_mlx.h"
#include "io/net/remote.h"
#include "util/errno_text.h"
#include "util/json/json_edit.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"
#include "util/text/ascii.h"

static const char weight[] = ".weight";

/* Whether it is a matrix of a module, and stays unchanged. */
static bool is_kept(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, at);
    return rewrite->tensors[at].fate != DTI_FATE_CHANGED && tensor->rank >= 2 &&
           dti_quant_name_ends(tensor->name, tensor->name_length, weight);
}

/* Lists modules with a matrix that stays unchanged. */
static void put_kept(const struct dti_rewrite *rewrite, struct dti_buffer *out)
{
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, i);
        if (is_kept(rewrite, i))
            dti_config_add_module(out, 4, tensor->name, tensor->name_length);
    }
    dti_config_end_modules(out, 4);
}

static const char *strategy_of(const struct dti_quant_scheme *scheme)
{
    if (scheme->block)
        return scheme->block->family == DTI_BLOCKS_NV ? "tensor_group" : "group";
    return scheme->per == DTI_PER_TENSOR    ? "tensor"
           : scheme->per == DTI_PER_CHANNEL ? "channel"
                                            : "group";
}

/* Loaders expect channels along axis 0, and groups along the last axis. */
static bool is_usual(const struct dti_rewrite *rewrite)
{
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[i];
        const unsigned rank = dti_rewrite_source(rewrite, i)->rank;
        if (tensor->fate != DTI_FATE_CHANGED)
            continue;
        const struct dti_quant_scheme *const scheme = &tensor->way->by->recipe->scheme;
        const bool channel = !scheme->block && scheme->per == DTI_PER_CHANNEL;
        if ((scheme->block || scheme->per != DTI_PER_TENSOR) &&
            tensor->axis != (channel ? 0 : rank - 1))
            return false;
    }
    return true;
}

static struct dti_config_form form_of(const struct dti_quantize_form *form)
{
    const struct dti_quant_row *const row = form->row;
    const struct dti_quant_scheme *const scheme = &form->recipe->scheme;
    const bool grouped = scheme->block || scheme->per == DTI_PER_GROUP;
    const struct dti_format *const code = dti_quant_row_code(row);
    return (struct dti_config_form){
        .format = dti_config_format(row->block, row->number),
        .strategy = strategy_of(scheme),
        .bits = code->width,
        .floats = dti_format_is_float(code),
        .zero_points = form->zero_points,
        .group[1] = !grouped        ? 0
                    : scheme->block ? scheme->block->length
                                    : scheme->group,
        .scale = row->scale,
    };
}

/* Lists the modules of each form. */
static void put_modules(const struct dti_rewrite *rewrite, struct dti_buffer *targets)
{
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, i);
        const struct dti_quantize_form *const by = rewrite->tensors[i].way->by;
        if (by)
            dti_config_add_module(&targets[by - rewrite->forms], 8, tensor->name,
                                  tensor->name_length);
    }
}

/* Several dtypes: a group of compressed-tensors for each, which lists its modules. */
static void put_groups(const struct dti_rewrite *rewrite, const char *kept, struct dti_buffer *ret,
                       const char **ret_why)
{
    const size_t most = rewrite->request.quantize_rule_count + 1;
    struct dti_config_group *const groups = dti_calloc(most, sizeof *groups);
    struct dti_buffer *const targets = dti_calloc(most, sizeof *targets);
    size_t count = 0;
    ret->failed = ret->failed || !groups || !targets;
    for (size_t i = 0; i < most && !ret->failed; i++)
        dti_buffer_init(&targets[i]);
    if (!ret->failed)
        put_modules(rewrite, targets);
    for (size_t i = 0; i < most && !ret->failed; i++) {
        if (targets[i].length == 0)
            continue;
        dti_config_end_modules(&targets[i], 8);
        groups[count] = (struct dti_config_group){.form = form_of(&rewrite->forms[i]),
                                                  .targets = targets[i].data};
        if (!groups[count++].form.format)
            *ret_why = "no loader is known for one of these dtypes in this layout";
        ret->failed = targets[i].failed;
    }
    if (!ret->failed && !*ret_why)
        dti_config_put_compressed(ret, groups, count, kept);
    for (size_t i = 0; targets && i < most; i++)
        dti_buffer_free(&targets[i]);
    dti_free(groups);
    dti_free(targets);
}

static void warn_layers(const struct dti_rewrite *rewrite, const char *code, const char *text)
{
    const struct dti_note note = {
        .code = code, .text = text, .remedy = DTI_REMEDY_LAYOUT_WITH_NAMES};
    if (rewrite->request.warn)
        rewrite->request.warn(rewrite->request.warn_context, &note);
}

static struct dti_config_algorithm algorithm_of(const struct dti_quantize_form *form)
{
    const struct dti_quant_scheme *const scheme = &form->recipe->scheme;
    return dti_config_algorithm_of(scheme->block, form->row->number, scheme->per);
}

/* Several dtypes: an algorithm of ModelOpt for each module. */
static void add_layers(const struct dti_rewrite *rewrite, struct dti_config_layers *layers,
                       const char **ret_why)
{
    bool inputs = false, channels = false;
    for (size_t i = 0; i < rewrite->tensor_count && !*ret_why; i++) {
        const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, i);
        const struct dti_quantize_form *const by = rewrite->tensors[i].way->by;
        if (!by)
            continue;
        const struct dti_config_algorithm algorithm = algorithm_of(by);
        if (!algorithm.name)
            *ret_why = "no loader is known for one of these dtypes in this layout";
        else if (!dti_config_add_layer(layers, tensor->name, tensor->name_length, &algorithm))
            *ret_why = "its loaders have no module for some of the tensors";
        inputs = inputs || (algorithm.name && dti_config_needs_inputs(&algorithm));
        channels = channels || by->recipe->scheme.per == DTI_PER_CHANNEL;
    }
    if (!*ret_why && inputs)
        warn_layers(rewrite, "no_input_scales",
                    "config.json names FP8, and there are no scales of activations: TensorRT-LLM "
                    "computes them, vLLM expects them in the file");
    if (!*ret_why && channels && layers->several)
        warn_layers(rewrite, "channels_in_a_mixture",
                    "config.json has FP8_PER_CHANNEL_PER_TOKEN within MIXED_PRECISION: vLLM makes "
                    "such modules without quantization, and stops at their scales");
}

/* one: the form of all tensors, whose algorithm is that of the model; or NULL. */
static void put_layers(const struct dti_rewrite *rewrite, const struct dti_quantize_form *one,
                       const char *kept, struct dti_config_texts *ret, const char **ret_why)
{
    struct dti_config_layers layers;
    dti_config_layers_init(&layers);
    if (one)
        layers.first = algorithm_of(one);
    else
        add_layers(rewrite, &layers, ret_why);
    if (one && (!layers.first.name || dti_config_needs_inputs(&layers.first)))
        *ret_why = "no loader is known for this dtype in this layout";
    if (!*ret_why)
        dti_config_put_layers(ret, &layers, kept);
    dti_config_layers_free(&layers);
}

static struct dti_mlx_scheme mlx_scheme_of(const struct dti_quantize_form *form)
{
    const struct dti_quant_scheme *const scheme = &form->recipe->scheme;
    if (scheme->block)
        return dti_mlx_scheme_of_block(scheme->block->id);
    return (struct dti_mlx_scheme){scheme->group, dti_quant_row_bits(form->row), "affine"};
}

/* MLX: the scheme of the first matrix, and members for modules that differ from it. */
static void put_mlx(const struct dti_rewrite *rewrite, struct dti_buffer *ret)
{
    struct dti_mlx_scheme usual = {.mode = NULL};
    for (size_t i = 0; i < rewrite->tensor_count && !usual.mode; i++) {
        if (rewrite->tensors[i].way->by)
            usual = mlx_scheme_of(rewrite->tensors[i].way->by);
    }
    dti_mlx_config_begin(ret, &usual);
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, i);
        const struct dti_quantize_form *const by = rewrite->tensors[i].way->by;
        struct dti_mlx_scheme own = {.mode = NULL};
        if (by)
            own = mlx_scheme_of(by);
        if (by || is_kept(rewrite, i))
            dti_mlx_config_add(ret, &usual, by ? &own : NULL, tensor->name,
                               tensor->name_length - (sizeof weight - 1));
    }
    dti_buffer_puts(ret, "\n}");
}

/* The one form of all tensors; NULL: there are several. */
static const struct dti_quantize_form *only_form(const struct dti_rewrite *rewrite)
{
    const struct dti_quantize_form *form = NULL;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_quantize_form *const own = rewrite->tensors[i].way->by;
        if (own && form && own != form)
            return NULL;
        form = own ? own : form;
    }
    return form;
}

static void put(const struct dti_rewrite *rewrite, const char *kept, struct dti_config_texts *ret,
                const char **ret_why)
{
    const struct dti_quantize_form *const one = only_form(rewrite);
    const enum dti_quant_layout layout = rewrite->request.quantize.layout;
    const struct dti_layout_ops *const own = dti_layout_called(dti_quant_layout_name(layout));
    const bool flat = dti_quant_layout_is_flat(layout);
    bool high = false;
    for (size_t i = 0; i <= rewrite->request.quantize_rule_count; i++)
        high = high ||
               (rewrite->forms[i].recipe->high && rewrite->forms[i].row->packing == DTI_QUANT_BITS);
    if (dti_quant_layout_marks(layout))
        return; /* each matrix says what it is */
    if (dti_quant_layout_has_stems(layout))
        put_mlx(rewrite, &ret->value);
    else if (!flat && !is_usual(rewrite))
        *ret_why = "loaders have channels along axis 0 and groups along the last axis";
    else if (!flat && high)
        *ret_why = "loaders have the first code in the lowest bits";
    else if (own->algorithms)
        put_layers(rewrite, one, kept, ret, ret_why);
    else if (!one && layout == DTI_LAYOUT_COMPRESSED_TENSORS)
        put_groups(rewrite, kept, &ret->value, ret_why);
    else if (!one)
        *ret_why = "the tensors have several dtypes, and loaders of this layout expect one";
    else {
        const struct dti_config_form form = form_of(one);
        if (!own->config(one->row, &form, one->recipe->scheme.nested, kept, &ret->value))
            *ret_why = "no loader is known for this dtype in this layout";
    }
}

/* Writes the quantization_config by which loaders read the rewrite's quantized tensors, with
 * newlines and an indent of two spaces per level, and the layout's own file next to it, if it has
 * one. If no such config exists, *ret_why gives the reason: "no loader knows nf4 in the layout
 * compressed-tensors". */
static enum dti_status quant_config_write(const struct dti_rewrite *rewrite,
                                          struct dti_config_texts *ret, const char **ret_why,
                                          struct dti_error *reterr)
{
    const struct dti_file_transcode *const transcode = rewrite->request.transcode;
    struct dti_buffer kept;
    enum dti_status status = DTI_OK;
    *ret_why = NULL;
    dti_buffer_init(&kept);
    put_kept(rewrite, &kept);
    if (transcode)
        status = dti_file_transcode_config(transcode, kept.data, ret, ret_why, reterr);
    else
        put(rewrite, kept.data, ret, ret_why);
    const bool failed = ret->value.failed || ret->file.failed || kept.failed;
    dti_buffer_free(&kept);
    return status == DTI_OK && failed ? dti_no_memory(reterr) : status;
}

enum dti_status dti_rewrite_quant_config(const struct dti_rewrite *rewrite, struct dti_buffer *ret,
                                         const char **ret_why, struct dti_error *reterr)
{
    struct dti_config_texts texts = {.value = *ret};
    dti_buffer_init(&texts.file);
    const enum dti_status status = quant_config_write(rewrite, &texts, ret_why, reterr);
    *ret = texts.value;
    dti_buffer_free(&texts.file);
    return status;
}

static const char config_name[] = "config.json", member[] = "quantization_config";

/* Whether a file holds tensors or is an index of them. */
static bool is_of_tensors(const char *name)
{
    static const char *const ends[] = {".index.json", ".pth",  ".ckpt",  ".h5",
                                       ".msgpack",    ".data", ".tflite"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (dti_text_ends(name, strlen(name), ends[i]))
            return true;
    }
    return dti_container_is_known(dti_container_named(name));
}

/* Configuration files about how tensors were quantized, now outdated. */
static bool is_other_config(const char *name)
{
    bool is = false;
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++)
        is |= (*row)->config_file && strcmp(name, (*row)->config_file) == 0;
    return is;
}

struct companions {
    struct dti_rewrite *rewrite;
    const char *folder;
    size_t folder_length;
    char **names;
    size_t count, capacity;
    struct { /* files that are not copied */
        size_t count;
        char first[DTI_QUOTE_SIZE];
    } large, lost; /* lost: dangling links */
};

static char *path_of(const struct companions *list, const char *name)
{
    const size_t size = list->folder_length + strlen(name) + 1;
    char *const path = dti_malloc(size);
    if (path)
        (void)snprintf(path, size, "%.*s%s", (int)list->folder_length, list->folder, name);
    return path;
}

static enum dti_status add_name(struct companions *list, const char *name, struct dti_error *reterr)
{
    char **const names = dti_grown(list->names, list->count, &list->capacity, sizeof *names);
    if (!names)
        return dti_no_memory(reterr);
    list->names = names;
    const size_t size = strlen(name) + 1;
    list->names[list->count] = dti_malloc(size);
    if (!list->names[list->count])
        return dti_no_memory(reterr);
    memcpy(list->names[list->count++], name, size);
    return DTI_OK;
}

/* Whether the configuration has to describe other tensors than before. */
static bool is_described_anew(const struct dti_rewrite *rewrite)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    return request->recipe != DTI_RECIPE_CAST &&
           !(request->recipe == DTI_RECIPE_TRANSCODE &&
             dti_file_transcode_request(request->transcode)->reconcile);
}

static enum dti_status look_at(struct companions *list, const char *name, struct dti_error *reterr)
{
    const bool changes = is_described_anew(list->rewrite);
    struct stat info;
    if (name[0] == '.' || is_of_tensors(name) || (changes && is_other_config(name)))
        return DTI_OK;
    char *const path = path_of(list, name);
    if (!path)
        return dti_no_memory(reterr);
    const int error = stat(path, &info) == 0 ? 0 : errno;
    const bool lost = error == ENOENT || error == ENOTDIR || error == ELOOP; /* a link is */
    const struct dti_input input = {.name = path};
    const enum dti_status status =
        error == 0 || lost ? DTI_OK : dti_input_fail(&input, error, reterr);
    dti_free(path);
    if (lost && list->lost.count++ == 0)
        (void)dti_quote(list->lost.first, name, strlen(name));
    if (error != 0 || !S_ISREG(info.st_mode))
        return status;
    if (info.st_size <= DTI_SMALL_FILE)
        return add_name(list, name, reterr);
    if (list->large.count++ == 0)
        (void)dti_quote(list->large.first, name, strlen(name));
    return DTI_OK;
}

/* HTTP servers provide no folder listing; one file is no folder, but may have a configuration. */
static enum dti_status look_for_config(struct companions *list, struct dti_error *reterr)
{
    char *const path = path_of(list, config_name);
    if (!path)
        return dti_no_memory(reterr);
    const bool there = dti_input_may_be_there(path);
    dti_free(path);
    if (!there)
        return DTI_OK;
    return dti_is_address(list->folder) ? add_name(list, config_name, reterr)
                                        : look_at(list, config_name, reterr);
}

/* Whether the new files are in the folder of the old one, whose configuration is there already. */
static enum dti_status is_same_folder(const struct companions *list, bool *ret,
                                      struct dti_error *reterr)
{
    struct stat from, to;
    enum dti_status status = DTI_OK;
    int error = 0;
    *ret = false;
    if (dti_is_address(list->folder))
        return DTI_OK;
    char *const path = path_of(list, ".");
    if (!path)
        return dti_no_memory(reterr);
    const struct dti_input read = {.name = path};
    const char *const made = list->rewrite->request.path;
    if (stat(path, &from) != 0)
        status = dti_input_fail(&read, errno, reterr);
    else if (stat(made, &to) == 0)
        *ret = from.st_dev == to.st_dev && from.st_ino == to.st_ino;
    else
        error = errno;
    if (error != 0 && error != ENOENT && error != ENOTDIR)
        status =
            dti_fail(reterr, error == ENOMEM ? DTI_NO_MEMORY : DTI_WRITE_FAILED,
                     "cannot write %s: %s", DTI_QUOTED(made, strlen(made)), dti_errno_text(error));
    dti_free(path);
    return status;
}

static enum dti_status look(struct companions *list, struct dti_error *reterr)
{
    const bool several = dti_container_has(list->rewrite->container->kind, DTI_TRAIT_FOLDER);
    bool same = false;
    enum dti_status status = several ? DTI_OK : is_same_folder(list, &same, reterr);
    if (status != DTI_OK || same)
        return status;
    if (!several || dti_is_address(list->folder))
        return look_for_config(list, reterr);
    char *const path = path_of(list, ".");
    if (!path)
        return dti_no_memory(reterr);
    const struct dti_input input = {.name = path};
    DIR *folder;
    do
        folder = opendir(path);
    while (!folder && errno == EINTR);
    status = folder ? DTI_OK : dti_input_fail(&input, errno, reterr);
    while (status == DTI_OK) {
        errno = 0;
        const struct dirent *const entry = readdir(folder);
        if (!entry) {
            status = errno != 0 ? dti_input_fail(&input, errno, reterr) : DTI_OK;
            break;
        }
        status = look_at(list, entry->d_name, reterr);
    }
    if (folder)
        (void)closedir(folder);
    dti_free(path);
    if (list->count > 0)
        qsort(list->names, list->count, sizeof *list->names, dti_text_order);
    return status;
}

static void warn(const struct dti_rewrite *rewrite, const char *code, const char *text)
{
    const struct dti_note note = {.code = code, .text = text};
    if (rewrite->request.warn)
        rewrite->request.warn(rewrite->request.warn_context, &note);
}

/* MLX loaders read "quantization", a member that other writers use for their own data. */
static bool is_mlx(const struct dti_rewrite *rewrite)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    if (request->recipe == DTI_RECIPE_QUANTIZE)
        return dti_quant_layout_has_stems(request->quantize.layout);
    return request->recipe == DTI_RECIPE_TRANSCODE &&
           dti_file_transcode_request(rewrite->request.transcode)->layout == DTI_TRANSCODE_MLX;
}

/* The new text of config.json, whose quantization members match the new files, and the layout's
 * own file. */
static enum dti_status edit(struct dti_rewrite *rewrite, const char *path,
                            const struct dti_buffer *text, struct dti_config_texts *ret,
                            struct dti_error *reterr)
{
    static const char *const others[] = {"compression_config", "quantization"};
    struct dti_config_texts texts;
    struct dti_buffer before, after;
    const char *why = NULL, *problem = NULL;
    char label[DTI_QUOTE_SIZE], words[256];
    enum dti_status status = DTI_OK;
    dti_config_texts_init(&texts);
    dti_buffer_init(&before);
    dti_buffer_init(&after);
    dti_buffer_append(&before, text->data, text->length);
    if (rewrite->request.recipe >= DTI_RECIPE_QUANTIZE && rewrite->changed_count > 0)
        status = quant_config_write(rewrite, &texts, &why, reterr);
    const bool written = texts.value.length > 0, mlx = written && is_mlx(rewrite);
    bool fits = !texts.value.failed;
    for (size_t i = 0; i < 3 && fits && !before.failed; i++) {
        const char *const key = i == 0 ? member : others[i - 1];
        dti_buffer_clear(&after);
        const bool own = (i == 0 && written) || (i == 2 && mlx);
        fits = dti_json_set_member(before.data, before.length, key, own ? texts.value.data : NULL,
                                   &after, &problem);
        const struct dti_buffer swap = before;
        before = after;
        after = swap;
    }
    if (status == DTI_OK && !fits && problem)
        status =
            dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_NO_COPY, "%s cannot be edited: %s",
                            dti_quote(label, path, strlen(path)), problem);
    if (status == DTI_OK && (before.failed || texts.value.failed || !fits))
        status = dti_no_memory(reterr);
    if (status == DTI_OK && why) {
        (void)snprintf(words, sizeof words, "config.json gets no quantization_config: %s", why);
        warn(rewrite, "no_quantization_config", words);
    }
    rewrite->configured = written;
    rewrite->configured_twice = texts.file.length > 0;
    if (status == DTI_OK) {
        *ret = (struct dti_config_texts){before, texts.file};
        dti_buffer_init(&before);
        dti_buffer_init(&texts.file);
    }
    dti_buffer_free(&before);
    dti_buffer_free(&after);
    dti_config_texts_free(&texts);
    return status;
}

/* The name of the layout's own configuration. */
static const char *layout_file(const struct dti_rewrite *rewrite)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    const char *const name =
        request->transcode
            ? dti_transcode_layout_name(dti_file_transcode_request(request->transcode)->layout)
            : dti_quant_layout_name(request->quantize.layout);
    return dti_layout_called(name)->config_file;
}

static enum dti_status add_config(struct dti_rewrite *rewrite, const char *path,
                                  struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_buffer text;
    struct dti_config_texts edited;
    enum dti_status status = dti_input_open_file(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&text);
    dti_config_texts_init(&edited);
    status = dti_input_read_all(&input, DTI_SMALL_FILE, "a configuration", &text, reterr);
    dti_input_close(&input);
    if (status == DTI_OK)
        status = edit(rewrite, path, &text, &edited, reterr);
    if (status == DTI_OK)
        status = dti_new_files_add_text(&rewrite->files, config_name, &edited.value, reterr);
    if (status == DTI_OK && edited.file.length > 0)
        status =
            dti_new_files_add_text(&rewrite->files, layout_file(rewrite), &edited.file, reterr);
    else
        dti_buffer_free(&edited.file);
    dti_buffer_free(&text);
    return status;
}

static void warn_of_others(const struct companions *list)
{
    const size_t large = list->large.count, lost = list->lost.count;
    char text[DTI_QUOTE_SIZE + 128];
    (void)snprintf(text, sizeof text, "%zu file%s larger than %d MiB %s not copied, %s", large,
                   large == 1 ? "" : "s", (int)(DTI_SMALL_FILE >> 20), large == 1 ? "is" : "are",
                   list->large.first);
    if (large > 0)
        warn(list->rewrite, "large_files", text);
    (void)snprintf(text, sizeof text, "%zu link%s nowhere and %s not copied, %s", lost,
                   lost == 1 ? " leads" : "s lead", lost == 1 ? "is" : "are", list->lost.first);
    if (lost > 0)
        warn(list->rewrite, "lost_links", text);
}

/* A layout's own configuration that an older model left in the folder of the new files, which
 * programs would read for these. */
static void warn_of_old(const struct dti_rewrite *rewrite, const char *name)
{
    const char *const folder = rewrite->files.path;
    const size_t length = strlen(folder);
    char path[4096], label[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 128];
    size_t at = 0;
    const int size = snprintf(path, sizeof path, "%s%s%s", folder,
                              length > 0 && folder[length - 1] != '/' ? "/" : "", name);
    while (at < rewrite->files.count && strcmp(rewrite->files.list[at].path, path) != 0)
        at++;
    if (length == 0 || size < 0 || (size_t)size >= sizeof path || at < rewrite->files.count ||
        dti_input_there(path) != 0)
        return;
    (void)snprintf(text, sizeof text,
                   "%s stays in the folder, and programs that read it take the new tensors for "
                   "older ones",
                   dti_quote(label, path, strlen(path)));
    const struct dti_note note = {
        .code = "old_configuration", .text = text, .remedy = DTI_REMEDY_REMOVE_FILE};
    if (rewrite->request.warn)
        rewrite->request.warn(rewrite->request.warn_context, &note);
}

static void warn_of_old_ones(const struct dti_rewrite *rewrite)
{
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        const char *const name = (*row)->config_file;
        const struct dti_layout_ops *const *other = dti_layouts;
        while (name && (!(*other)->config_file || strcmp((*other)->config_file, name) != 0))
            other++;
        if (name && other == row) /* several layouts may have the same */
            warn_of_old(rewrite, name);
    }
}

enum dti_status dti_rewrite_add_companions(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const char *const first = rewrite->container->files[0].path;
    const char *const slash = strrchr(first, '/');
    struct companions list = {.rewrite = rewrite,
                              .folder = first,
                              .folder_length = slash ? (size_t)(slash - first) + 1 : 0};
    enum dti_status status = look(&list, reterr);
    for (size_t i = 0; i < list.count && status == DTI_OK; i++) {
        char *const path = path_of(&list, list.names[i]);
        if (!path)
            status = dti_no_memory(reterr);
        else if (is_described_anew(rewrite) && strcmp(list.names[i], config_name) == 0)
            status = add_config(rewrite, path, reterr);
        else
            status = dti_new_files_add_copy(&rewrite->files, list.names[i], path, reterr);
        dti_free(path);
    }
    if (status == DTI_OK)
        warn_of_others(&list);
    if (status == DTI_OK && is_described_anew(rewrite))
        warn_of_old_ones(rewrite);
    for (size_t i = 0; i < list.count; i++)
        dti_free(list.names[i]);
    dti_free(list.names);
    return status;
}
