/* SPDX-License-Identifier: MIT
 *
 * Finds config.json and the layouts' own configuration files, and turns them into hints. */
#include "files/config/quant_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/config/quant_config_block.h"
#include "files/stored/layouts.h"
#include "files/stored/unread_layouts.h"
#include "io/net/remote.h"
#include "util/run/allocate.h"

enum { CONFIG_MAX = 16 << 20 };

/* Where the object may be; the first place that has it wins. */
enum config_place { QUANTIZATION, COMPRESSION, OF_TEXT, OF_MLX, PLACES };
struct config_candidates {
    struct dti_config_block blocks[PLACES];
    char expert[DTI_CONFIG_WORD];
    struct dti_config_model model;
};

/* Reads "text_config" of multimodal models. */
static enum dti_status read_text(struct dti_config_reading *reading,
                                 struct config_candidates *found, struct dti_error *reterr)
{
    char key[DTI_CONFIG_WORD];
    bool there;
    enum dti_status status = dti_config_open_object(reading, "text_config", &there, reterr);
    while (status == DTI_OK && there &&
           (status = dti_config_next_key(reading, key, reterr)) == DTI_OK && key[0] != '\0') {
        if (strcmp(key, "quantization_config") == 0)
            status = dti_config_read_block(reading, key, &found->blocks[OF_TEXT], reterr);
        else
            status = dti_config_read_model(reading, key, &found->model, reterr);
    }
    return status;
}

/* Reads "quantization", which may have any type in other configurations. */
static enum dti_status read_mlx(struct dti_config_reading *reading, struct dti_config_block *block,
                                struct dti_error *reterr)
{
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    return token == DTI_JSON_OBJECT ? dti_config_read_members(reading, block, reterr)
                                    : dti_config_skip_rest(reading, token, reterr);
}

/* Files to look for; the first that exists wins: config.json, then the layouts' own. The object is
 * the member named `member`, or the whole document. method: the default for a missing
 * "quant_method". */
struct config_file {
    const char *name, *member, *method;
};
static const char main_file[] = "config.json";

/* File i; false: no such file. */
static bool file_at(size_t i, struct config_file *ret)
{
    *ret = (struct config_file){main_file, "quantization_config", ""};
    for (const struct dti_layout_ops *const *row = dti_layouts; *row && i > 0; row++) {
        if ((*row)->config_file && --i == 0)
            *ret = (struct config_file){(*row)->config_file, (*row)->config_member,
                                        (*row)->methods[0]};
    }
    return i == 0;
}

static enum dti_status read_members(struct dti_config_reading *reading,
                                    const struct config_file *file, struct config_candidates *found,
                                    struct dti_error *reterr)
{
    char key[DTI_CONFIG_WORD];
    enum dti_json_token token;
    const bool own = file->name != main_file;
    enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status == DTI_OK && token != DTI_JSON_OBJECT)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                               "%s is not a JSON object", reading->label);
    if (!file->member) {
        status = dti_config_read_members(reading, &found->blocks[QUANTIZATION], reterr);
        return status == DTI_OK ? dti_config_next(reading, &token, reterr) : status;
    }
    while (status == DTI_OK && (status = dti_config_next_key(reading, key, reterr)) == DTI_OK &&
           key[0] != '\0') {
        if (strcmp(key, file->member) == 0)
            status = dti_config_read_block(reading, key, &found->blocks[QUANTIZATION], reterr);
        else if (!own && strcmp(key, "compression_config") == 0)
            status = dti_config_read_block(reading, key, &found->blocks[COMPRESSION], reterr);
        else if (!own && strcmp(key, "quantization") == 0)
            status = read_mlx(reading, &found->blocks[OF_MLX], reterr);
        else if (!own && strcmp(key, "text_config") == 0)
            status = read_text(reading, found, reterr);
        else if (strcmp(key, "expert_dtype") == 0)
            status = dti_config_read_word(reading, key, found->expert, reterr);
        else
            status = dti_config_read_model(reading, key, &found->model, reterr);
    }
    return status == DTI_OK ? dti_config_next(reading, &token, reterr) : status; /* the end token */
}

static void add_scheme(struct dti_quant_config *config, unsigned bits,
                       enum dti_quant_strategy strategy, uint64_t rows, uint64_t columns)
{
    config->hints[config->count++] = (struct dti_quant_hint){
        .bits = bits, .number = DTI_NUMBER_FLOAT, .strategy = strategy, .group = {rows, columns}};
}

/* DeepSeek: rectangles or one scale; fp4 experts have two codes per byte in blocks of 32. */
static void use_fp8(const struct dti_config_block *block, const char *expert,
                    struct dti_quant_config *config)
{
    const char *const own = block->expert[0] != '\0' ? block->expert : expert;
    add_scheme(config, 8, block->side[0] > 0 ? DTI_STRATEGY_BLOCK : DTI_STRATEGY_OPEN,
               block->side[0], block->side[1]);
    if (strcmp(own, "fp4") == 0)
        add_scheme(config, 4, DTI_STRATEGY_GROUP, 0, 32);
}

/* Converts to lower case, since loaders ignore case. */
static void copy_lower(char ret[DTI_CONFIG_WORD], const char *word)
{
    size_t i = 0;
    for (; word[i] != '\0' && i + 1 < DTI_CONFIG_WORD; i++)
        ret[i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] - 'A' + 'a' : word[i]);
    ret[i] = '\0';
}

/* The names of the method and of its word packing. AutoRound has its own names for formats that
 * other methods write. */
static void use_words(const struct dti_config_block *block, struct dti_quant_config *config)
{
    const bool own = block->checkpoint_format[0] != '\0';
    const char *method = block->method, *format = own ? block->checkpoint_format : block->format;
    const char *version = block->version;
    for (const struct dti_layout_ops *const *row = dti_layouts; *row; row++) {
        for (const struct dti_layout_packing *of = (*row)->packings; of->packing; of++) {
            if (strcmp(block->packing, of->packing) == 0) {
                method = (*row)->methods[0];
                format = version = of->format;
            }
        }
    }
    copy_lower(config->method, method);
    copy_lower(config->checkpoint_format, block->marlin ? "marlin" : format);
    copy_lower(config->version, version[0] != '\0' ? version : format);
}

/* Applies the settings for all tensors. */
static enum dti_status use(const struct dti_config_reading *reading,
                           const struct dti_config_block *block, const char *expert,
                           struct dti_quant_config *config, struct dti_error *reterr)
{
    const bool compressed = strncmp(block->method, "compressed", 10) == 0 || block->count > 0;
    const char *const format = dti_pool_text(reading->pool, block->format, strlen(block->format));
    if (!format)
        return dti_no_memory(reterr);
    if (compressed && block->count == 0 && !dti_quant_config_reads(format))
        memcpy(config->unread, block->format, sizeof config->unread);
    if (dti_unread_layout_of_method(block->method))
        memcpy(config->unread, block->method, sizeof config->unread);
    use_words(block, config);
    config->own_order = block->own_order;
    memcpy(config->algorithm, block->algorithm, sizeof config->algorithm);
    config->quark = block->quark;
    dti_config_end_quark(&config->quark);
    memcpy(config->linear_class, block->linear_class, sizeof config->linear_class);
    if (config->linear_class[0] == '\0' && strcmp(config->method, "bitnet") == 0)
        memcpy(config->linear_class, "bitlinear", sizeof "bitlinear"); /* the default */
    config->bits = block->bits;
    config->group_size = block->group_size;
    config->whole = dti_config_algorithm(block->algorithm, block->group_size, config->hints);
    if (strcmp(block->method, "fp8") == 0) {
        config->whole = true;
        use_fp8(block, expert, config);
    } else if (config->whole) {
        config->count = 1;
    } else {
        memcpy(config->hints, block->hints, sizeof config->hints);
        config->count = block->count;
    }
    for (size_t i = 0; i < config->count && !config->whole; i++) {
        if (!config->hints[i].format)
            config->hints[i].format = format;
    }
    return dti_config_make_rules(reading, block, config, reterr);
}

void dti_quant_config_free(struct dti_quant_config *config)
{
    dti_quant_modules_free(config->modules);
    config->modules = NULL;
    dti_config_free_modules(&config->own);
    dti_pool_free(&config->pool);
}

/* MLX writes its object as "quantization", plus a copy as "quantization_config", without
 * "quant_method". */
static enum dti_status use_modules(const struct config_candidates *found,
                                   struct dti_quant_config *config, struct dti_error *reterr)
{
    const struct dti_config_block *const own = &found->blocks[OF_MLX];
    const struct dti_config_block *const copy = &found->blocks[QUANTIZATION];
    const struct dti_config_block *const block = own->there ? own : copy;
    config->mlx = block->there && block->method[0] == '\0' && block->bits > 0;
    if (!config->mlx)
        return DTI_OK;
    config->all.bits = block->bits;
    config->all.group_size = block->group_size;
    memcpy(config->all.mode, block->mode, sizeof config->all.mode);
    config->all.mode[sizeof config->all.mode - 1] = '\0';
    config->own = block->modules;
    return dti_config_sort_modules(&config->own) ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_quant_config_parse(const char *label, const char *file, const char *text,
                                       size_t length, struct dti_quant_config *ret,
                                       struct dti_error *reterr)
{
    struct config_candidates *const found = dti_calloc(1, sizeof *found);
    struct dti_quant_config *const config = dti_calloc(1, sizeof *config);
    if (!found || !config) {
        dti_free(found);
        dti_free(config);
        return dti_no_memory(reterr);
    }
    struct dti_config_reading reading = {.pool = &config->pool};
    struct config_file kind = {.name = ""};
    for (size_t i = 0; file_at(i, &kind) && strcmp(kind.name, file) != 0;)
        i++;
    (void)snprintf(reading.label, sizeof reading.label, "%s", label);
    dti_json_reader_init(&reading.json, text, length);
    reading.json.nonfinite = true;
    enum dti_status status = read_members(&reading, &kind, found, reterr);
    dti_json_reader_free(&reading.json);
    if (status == DTI_OK)
        status = dti_config_check_repeats(&reading, text, length, kind.name != main_file, reterr);
    for (unsigned i = 0; i < PLACES && status == DTI_OK; i++) {
        if (!found->blocks[i].there)
            continue;
        config->file = file;
        if (found->blocks[i].method[0] == '\0')
            (void)snprintf(found->blocks[i].method, DTI_CONFIG_WORD, "%s", kind.method);
        status = dti_config_check_block(&reading, &found->blocks[i], reterr);
        if (status == DTI_OK)
            status = use(&reading, &found->blocks[i], found->expert, config, reterr);
        break;
    }
    if (status == DTI_OK)
        status = use_modules(found, config, reterr);
    config->model = found->model;
    if (status == DTI_OK)
        *ret = *config;
    else
        dti_quant_config_free(config);
    dti_free(config);
    dti_free(found);
    return status;
}

static enum dti_status read_file(const char *path, const char *file, struct dti_quant_config *ret,
                                 struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    struct dti_input input;
    enum dti_status status = dti_input_open_file(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    (void)dti_input_label(&input, label);
    const size_t size = input.seekable && input.size <= CONFIG_MAX ? (size_t)input.size : 0;
    char *const text = dti_malloc(size + 1);
    if (!input.seekable)
        status = dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                                 "%s is not a regular file", label);
    else if (input.size > CONFIG_MAX)
        status = dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                                 "%s has %llu bytes; a configuration may have at most %d", label,
                                 (unsigned long long)input.size, (int)CONFIG_MAX);
    else if (!text)
        status = dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_input_read_at(&input, text, size, 0, reterr);
    if (status == DTI_OK)
        status = dti_quant_config_parse(label, file, text, size, ret, reterr);
    dti_free(text);
    dti_input_close(&input);
    return status;
}

/* A layout whose file nests the object in a member keeps that file next to config.json. From a
 * server it is only requested if config.json names the layout's method. */
static enum dti_status compare_second(char *path, size_t folder, struct dti_quant_config *config,
                                      struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (const struct dti_layout_ops *const *row = dti_layouts; *row && status == DTI_OK; row++) {
        struct dti_quant_config other = {.file = NULL};
        if (!(*row)->config_member ||
            (dti_is_address(path) && dti_layout_of_method(config->method) != *row))
            continue;
        memcpy(path + folder, (*row)->config_file, strlen((*row)->config_file) + 1);
        if (!dti_input_may_be_there(path))
            continue;
        status = read_file(path, (*row)->config_file, &other, reterr);
        if (status == DTI_OK && other.file)
            dti_quant_config_compare(config, &other);
        dti_quant_config_free(status == DTI_OK ? &other : config);
    }
    return status;
}

/* The path of the folder of the first file, with room for a name behind it; NULL: it is in none, or
 * only the file itself counts. Fails with DTI_NO_MEMORY. */
static enum dti_status folder_of(const struct dti_container *container, char **ret,
                                 size_t *ret_length, struct dti_error *reterr)
{
    *ret = NULL;
    if (container->file_count == 0 || container->alone)
        return DTI_OK;
    const char *const first = container->files[0].path;
    const char *const slash = strrchr(first, '/');
    *ret_length = slash ? (size_t)(slash - first) + 1 : 0;
    *ret = dti_malloc(*ret_length + DTI_CONFIG_NAME);
    if (!*ret)
        return dti_no_memory(reterr);
    memcpy(*ret, first, *ret_length);
    return DTI_OK;
}

enum dti_status dti_quant_config_is_missing(const struct dti_container *container, bool *ret,
                                            struct dti_error *reterr)
{
    char *path;
    size_t folder;
    *ret = false;
    const enum dti_status status = folder_of(container, &path, &folder, reterr);
    if (status != DTI_OK || !path)
        return status;
    memcpy(path + folder, main_file, sizeof main_file);
    *ret = !dti_input_may_be_there(path);
    dti_free(path);
    return DTI_OK;
}

enum dti_status dti_quant_config_read(const struct dti_container *container,
                                      struct dti_quant_config *ret, struct dti_error *reterr)
{
    char *path;
    size_t folder;
    *ret = (struct dti_quant_config){.file = NULL};
    enum dti_status status = folder_of(container, &path, &folder, reterr);
    if (status != DTI_OK || !path)
        return status;
    struct dti_config_model model = {.dtype = ""}; /* from config.json */
    struct config_file file;
    for (size_t i = 0; status == DTI_OK && !ret->file && file_at(i, &file); i++) {
        memcpy(path + folder, file.name, strlen(file.name) + 1);
        if (dti_input_may_be_there(path)) /* without it, it would be another model */
            status = read_file(path, file.name, ret, reterr);
        if (i == 0)
            model = ret->model;
    }
    ret->model = model;
    if (status == DTI_OK && ret->file == main_file)
        status = compare_second(path, folder, ret, reterr);
    dti_free(path);
    return status;
}

const char *dti_quant_hint_words(const struct dti_quant_hint *hint,
                                 char buffer[DTI_QUANT_HINT_TEXT])
{
    static const char *const strategies[] = {"", ", strategy tensor", ", strategy channel",
                                             ", strategy group", ", strategy block"};
    static const char *const numbers[] = {"", ", type int", ", type float"};
    char bits[32] = "", length[64] = "";
    if (hint->bits > 0)
        (void)snprintf(bits, sizeof bits, ", num_bits %u", hint->bits);
    if (hint->strategy == DTI_STRATEGY_BLOCK && hint->group[0] > 0)
        (void)snprintf(length, sizeof length, ", blocks of %llu x %llu",
                       (unsigned long long)hint->group[0], (unsigned long long)hint->group[1]);
    else if (hint->group[1] > 0)
        (void)snprintf(length, sizeof length, ", group_size %llu",
                       (unsigned long long)hint->group[1]);
    char all[DTI_QUANT_HINT_TEXT + 2];
    (void)snprintf(all, sizeof all, "%s%s%s%s", bits, numbers[hint->number],
                   strategies[hint->strategy], length);
    (void)snprintf(buffer, DTI_QUANT_HINT_TEXT, "%s", all[0] != '\0' ? all + 2 : "nothing");
    return buffer;
}
