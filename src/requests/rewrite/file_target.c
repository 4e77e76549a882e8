/* SPDX-License-Identifier: MIT
 *
 * The kind of output file, from --as, from its name, or from the input; and the location of a
 * sharded one. */
#include "requests/rewrite/file_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/output.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

static bool is_file(enum dti_container_kind kind)
{
    return dti_container_is_written(kind) &&
           !dti_container_has(kind, DTI_TRAIT_BARE | DTI_TRAIT_FOLDER);
}

bool dti_names_file(const char *path)
{
    return is_file(dti_container_named(path));
}

static bool is_folder(const char *path)
{
    struct stat st = {0};
    return dti_text_ends(path, strlen(path), "/") || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* A pipe or a device: written in sequence, so it is one file. */
static bool is_stream(const char *path)
{
    struct stat st = {0};
    return dti_output_is_standard(path) ||
           (stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)));
}

/* ".txt" of "out.txt"; NULL: the name has none. */
static const char *ending_of(const char *path)
{
    const char *const name = dti_path_base(path);
    const char *const dot = strrchr(name, '.');
    return dot && dot != name && dot[1] != '\0' ? dot : NULL;
}

static bool is_made_of(enum dti_container_kind kind, const struct dti_container *input,
                       const struct dti_container *model)
{
    return !dti_container_has(kind, DTI_TRAIT_REMADE) ||
           (input && dti_container_remakes(kind, input->kind)) ||
           (model && dti_container_remakes(kind, model->kind));
}

const char *dti_file_endings(char text[DTI_ENDINGS_SIZE], const struct dti_container *input,
                             const struct dti_container *model)
{
    unsigned kinds = 0;
    size_t used = 0;
    for (unsigned i = 0; dti_container_words(i); i++) {
        const enum dti_container_kind kind = (enum dti_container_kind)i;
        if (is_file(kind) && is_made_of(kind, input, model))
            kinds |= 1u << i;
    }
    for (unsigned i = 0; kinds >> i != 0 && used < DTI_ENDINGS_SIZE; i++) {
        const char *const between = used == 0 ? "" : kinds >> (i + 1) == 0 ? " or " : ", ";
        if (kinds >> i & 1)
            used += (size_t)snprintf(text + used, DTI_ENDINGS_SIZE - used, "%s%s", between,
                                     dti_container_extension((enum dti_container_kind)i));
    }
    return text;
}

static const char from_template[] =
    "; 'dtinfo cast' and 'dtinfo quant' make them from config.json, --set or --template MODEL";

static enum dti_status choose_kind(const struct dti_container *input,
                                   const struct dti_container *model, const char *path,
                                   enum dti_container_kind form, struct dti_target_way way,
                                   struct dti_file_target *ret, struct dti_error *reterr)
{
    const bool sharded = way.cuts || dti_container_has(input->kind, DTI_TRAIT_FOLDER);
    const enum dti_container_kind named = dti_container_named(path ? path : "");
    char quoted[DTI_QUOTE_SIZE] = "the output", endings[DTI_ENDINGS_SIZE];
    const bool any = !dti_container_is_known(form) || dti_holds_texts(form);
    if (path)
        dti_quote(quoted, path, strlen(path));
    const bool bare = path && !ending_of(path) && !is_stream(path);
    if (any && sharded && path &&
        (is_folder(path) || (way.cuts && bare && !dti_container_is_known(named))))
        ret->kind = dti_container_first(DTI_TRAIT_SHARDS);
    else if (any && dti_is_sharded(named))
        ret->kind = named;
    else if (dti_container_is_known(form))
        ret->kind = form;
    else if (!dti_container_is_known(named) && path && ending_of(path) && !is_stream(path))
        return dti_fail(reterr, DTI_USAGE,
                        "%s has no known extension; give a name that ends in %s, or use --as",
                        quoted, dti_file_endings(endings, input, model));
    else
        ret->kind = dti_container_is_known(named)
                        ? named
                        : dti_container_becomes(input->kind, path && is_stream(path));
    const bool templates = dti_is_gguf(ret->kind);
    if (!is_made_of(ret->kind, input, model) && !(way.states && templates))
        return dti_fail(reterr, DTI_USAGE,
                        "%s: a %s file has the metadata of a model, which the input does not "
                        "have%s%s",
                        quoted, dti_container_name(ret->kind), templates ? from_template : "",
                        templates ? dti_container_extension(ret->kind) : "");
    if (model && !dti_container_remakes(ret->kind, model->kind))
        return dti_fail(reterr, DTI_USAGE,
                        "--template is for %s files; give -o a name that ends in %s",
                        dti_container_name(model->kind), dti_container_extension(model->kind));
    if (!dti_container_is_written(ret->kind))
        return dti_fail(reterr, DTI_USAGE,
                        "%s: %s files cannot be written; give a name that ends in %s", quoted,
                        dti_container_name(ret->kind), dti_file_endings(endings, input, model));
    if (dti_is_sharded(ret->kind) && !sharded)
        return dti_fail(reterr, DTI_USAGE,
                        "%s is an index of shards, and the input is one file; give a name that "
                        "ends in .safetensors",
                        quoted);
    if (dti_is_sharded(ret->kind) && path && !dti_is_sharded(named)) {
        struct stat st = {0};
        if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
            return dti_fail(
                reterr, DTI_USAGE,
                "%s is a file, but shards need a folder; --as safetensors joins them into one file",
                quoted);
    }
    return DTI_OK;
}

/* The folder of the shards, and the name of their index. */
static enum dti_status find_folder(const struct dti_container *input, const char *out_path,
                                   bool cuts, struct dti_file_target *ret, struct dti_error *reterr)
{
    const char *const path = out_path ? out_path : "";
    const char *const slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    const bool named = dti_is_sharded(dti_container_named(path)) && !is_folder(path);
    ret->folder = named ? dti_strndup(path, length) : dti_strdup(path);
    if (!ret->folder)
        return dti_no_memory(reterr);
    if (named)
        ret->index = path + length;
    else if (input->index && dti_is_sharded(input->kind))
        ret->index = input->index;
    else
        ret->index =
            cuts || input->index || input->file_count > 1 ? "model.safetensors.index.json" : NULL;
    return DTI_OK;
}

enum dti_status dti_file_target_choose(const struct dti_container *input,
                                       const struct dti_container *model, const char *path,
                                       enum dti_container_kind form, struct dti_target_way way,
                                       struct dti_file_target *ret, struct dti_error *reterr)
{
    struct dti_file_target target = {.folder = NULL};
    enum dti_status status = choose_kind(input, model, path, form, way, &target, reterr);
    if (status == DTI_OK && dti_is_sharded(target.kind))
        status = find_folder(input, path, way.cuts, &target, reterr);
    if (status == DTI_OK)
        *ret = target;
    return status;
}

void dti_file_target_free(struct dti_file_target *target)
{
    dti_free(target->folder);
    target->folder = NULL;
}

const char *dti_file_target_path(const struct dti_file_target *target, const char *path)
{
    if (dti_is_sharded(target->kind))
        return target->folder;
    return path ? path : "";
}
