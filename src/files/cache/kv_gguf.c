/* SPDX-License-Identifier: MIT
 *
 * The cache of a model as the key-values of a GGUF describe it, by the rules of kv_ggufs.def; and
 * which of the two descriptions a container has. */
#include <stdio.h>
#include <string.h>

#include "files/cache/kv_members.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

enum kv_gguf_layers { FULL, EVERY, IF_WINDOW, CHUNKS, INTERVAL, ZEROS, STATE };
enum kv_gguf_keeps { GQA, MLA };
enum kv_gguf_state { NONE, SSM, SHORT_CONV };

static const struct gguf_rule {
    char type[20];
    enum kv_gguf_layers layers;
    enum kv_gguf_keeps keeps;
    enum kv_gguf_state state;
    uint32_t window, every, stored;
} rules[] = {
#define KV_GGUF(type_, layers_, keeps_, state_, window_, every_, stored_) \
    {.type = type_,                                                       \
     .layers = layers_,                                                   \
     .keeps = keeps_,                                                     \
     .state = state_,                                                     \
     .window = window_,                                                   \
     .every = every_,                                                     \
     .stored = stored_},
#include "files/cache/kv_ggufs.def"
#undef KV_GGUF
};
enum { RULES = sizeof rules / sizeof *rules, LAYERS_MOST = 1 << 16 };

/* One file while it is read. */
struct kv_gguf_reading {
    const struct gguf_rule *rule;
    struct dti_container *container;
    struct dti_kv_members members; /* of the architecture, without its name */
    struct dti_kv_model *model;
    uint64_t layers;     /* without those that predict further tokens */
    uint32_t *kv_heads;  /* of each layer */
    uint32_t *windowed;  /* NULL, or whether each layer has a window */
    uint64_t key, value; /* elements of a head */
    uint64_t window, every, stored;
    struct dti_kv_group states[2];
    size_t state_count;
};

static const struct dti_metadata *find_key(const struct dti_container *container, const char *key)
{
    for (size_t i = 0; i < container->metadata_count; i++) {
        if (dti_text_is(container->metadata[i].key, container->metadata[i].key_length, key))
            return &container->metadata[i];
    }
    return NULL;
}

/* Lists the numbers of the architecture as members. */
static enum dti_status list_members(struct kv_gguf_reading *work, struct dti_error *reterr)
{
    const struct dti_container *const container = work->container;
    const size_t prefix = strlen(work->model->type);
    work->members.list = dti_calloc(container->metadata_count + 1, sizeof *work->members.list);
    if (!work->members.list)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < container->metadata_count; i++) {
        const struct dti_metadata *const entry = &container->metadata[i];
        if (entry->kind == DTI_METADATA_TOKEN && entry->key_length > prefix &&
            memcmp(entry->key, work->model->type, prefix) == 0 && entry->key[prefix] == '.')
            work->members.list[work->members.count++] =
                (struct dti_kv_member){entry->key + prefix + 1, entry->value,
                                       entry->key_length - prefix - 1, entry->value_length};
    }
    return DTI_OK;
}

static enum dti_status number(const struct kv_gguf_reading *work, const char *name,
                              uint64_t otherwise, uint64_t *ret, struct dti_error *reterr)
{
    return dti_kv_number(&work->members, name, otherwise, ret, reterr);
}

/* The key "ARCH.NAME" if it is an array. */
static const struct dti_metadata *find_array(const struct kv_gguf_reading *work, const char *name)
{
    char key[2 * DTI_KV_WORD];
    (void)snprintf(key, sizeof key, "%s.%s", work->model->type, name);
    const struct dti_metadata *const entry = find_key(work->container, key);
    return entry && entry->kind == DTI_METADATA_ARRAY ? entry : NULL;
}

static size_t width_of(const char *type)
{
    static const char *const types[] = {"array of int32", "array of uint32", "array of bool"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(type, types[i]) == 0)
            return i < 2 ? 4 : 1;
    }
    return 0;
}

/* Reads an array with a number for each layer: *ret, or NULL if there is no such array. */
static enum dti_status read_array(const struct kv_gguf_reading *work, const char *name,
                                  uint32_t **ret, struct dti_error *reterr)
{
    const struct dti_metadata *const entry = find_array(work, name);
    const char *const label = work->members.label;
    *ret = NULL;
    if (!entry)
        return DTI_OK;
    const size_t width = width_of(entry->type);
    if (width == 0)
        return dti_kv_refuse(label, reterr, "its %s is an %s, not of integers", name, entry->type);
    if (entry->count < work->layers)
        return dti_kv_refuse(label, reterr, "its %s has %llu elements for %llu layers", name,
                             (unsigned long long)entry->count, (unsigned long long)work->layers);
    const size_t size = (size_t)work->layers * width;
    unsigned char *const bytes = dti_malloc(size + 1);
    uint32_t *const numbers = dti_malloc((size_t)work->layers * sizeof *numbers + 1);
    enum dti_status status = bytes && numbers ? DTI_OK : dti_no_memory(reterr);
    if (status == DTI_OK) /* the elements are the last bytes of the entry */
        status = dti_input_read_at(&work->container->files[0].input, bytes, size,
                                   entry->offset + entry->bytes - entry->count * width, reterr);
    for (size_t i = 0; i < work->layers && status == DTI_OK; i++) {
        unsigned char *const at = bytes + i * width;
        if (work->container->pairs.big_endian && width == 4) {
            const unsigned char swapped[4] = {at[3], at[2], at[1], at[0]};
            memcpy(at, swapped, sizeof swapped);
        }
        numbers[i] = (uint32_t)dti_little_get(at, width);
    }
    dti_free(bytes);
    if (status == DTI_OK)
        *ret = numbers;
    else
        dti_free(numbers);
    return status;
}

/* The heads of each layer: a list, or one number for all. */
static enum dti_status read_heads(struct kv_gguf_reading *work, struct dti_error *reterr)
{
    uint64_t heads = 0, kv = 0, width = 0;
    const bool wide = dti_kv_find(&work->members, "attention.key_length") != NULL;
    enum dti_status status = read_array(work, "attention.head_count_kv", &work->kv_heads, reterr);
    if (status == DTI_OK && (!work->kv_heads || !wide))
        status = number(work, "attention.head_count", DTI_KV_NEEDED, &heads, reterr);
    if (status == DTI_OK && !work->kv_heads) {
        status = number(work, "attention.head_count_kv", heads, &kv, reterr);
        work->kv_heads = dti_malloc((size_t)work->layers * sizeof *work->kv_heads + 1);
        if (!work->kv_heads)
            return dti_no_memory(reterr);
        for (size_t i = 0; i < work->layers; i++)
            work->kv_heads[i] = (uint32_t)kv;
    }
    if (status == DTI_OK && !wide)
        status = number(work, "embedding_length", DTI_KV_NEEDED, &width, reterr);
    if (status == DTI_OK && !wide && (heads == 0 || width % heads != 0))
        return dti_kv_refuse(work->members.label, reterr,
                             "its embedding_length is not divisible by attention.head_count, and "
                             "it has no attention.key_length");
    if (status == DTI_OK && !wide)
        work->key = work->value = width / heads;
    if (status == DTI_OK && wide)
        status = number(work, "attention.key_length", DTI_KV_NEEDED, &work->key, reterr);
    return status == DTI_OK
               ? number(work, "attention.value_length", work->key, &work->value, reterr)
               : status;
}

static void add_state(struct kv_gguf_reading *work, enum dti_kv_kind kind, uint64_t heads,
                      uint64_t key)
{
    work->states[work->state_count++] =
        (struct dti_kv_group){.kind = kind, .fp32 = true, .heads = heads, .key = key, .value = 1};
}

static enum dti_status read_state(struct kv_gguf_reading *work, struct dti_error *reterr)
{
    uint64_t inner = 0, state = 0, groups = 0, width = 0;
    enum dti_status status = DTI_OK;
    if (work->rule->state == SHORT_CONV) {
        status = number(work, "embedding_length", DTI_KV_NEEDED, &inner, reterr);
        if (status == DTI_OK)
            status = number(work, "shortconv.l_cache", DTI_KV_NEEDED, &width, reterr);
        if (status == DTI_OK)
            add_state(work, DTI_KV_CONV, inner, width > 0 ? width - 1 : 0);
    } else if (work->rule->state == SSM) {
        status = number(work, "ssm.inner_size", DTI_KV_NEEDED, &inner, reterr);
        if (status == DTI_OK)
            status = number(work, "ssm.state_size", DTI_KV_NEEDED, &state, reterr);
        if (status == DTI_OK)
            status = number(work, "ssm.group_count", 0, &groups, reterr);
        if (status == DTI_OK)
            status = number(work, "ssm.conv_kernel", DTI_KV_NEEDED, &width, reterr);
        if (status != DTI_OK)
            return status;
        add_state(work, DTI_KV_CONV, inner + 2 * groups * state, width > 0 ? width - 1 : 0);
        add_state(work, DTI_KV_RECURRENT, inner, state);
    }
    return status;
}

/* The period of the layers that keep all tokens, and the window of the others. */
static enum dti_status read_window(struct kv_gguf_reading *work, struct dti_error *reterr)
{
    static const char window[] = "attention.sliding_window",
                      pattern[] = "attention.sliding_window_pattern";
    const struct gguf_rule *const rule = work->rule;
    const bool there = dti_kv_find(&work->members, window) != NULL;
    enum dti_status status = DTI_OK;
    work->every = rule->every;
    if (rule->layers == INTERVAL)
        return number(work, "full_attention_interval", rule->every, &work->every, reterr);
    if (rule->layers != EVERY && rule->layers != CHUNKS && !(rule->layers == IF_WINDOW && there)) {
        work->every = 1;
        return DTI_OK;
    }
    if (!there && rule->window > 0)
        dti_kv_note_default(work->model, window, rule->window);
    status = number(work, rule->layers == CHUNKS ? "attention.chunk_size" : window,
                    rule->window > 0 ? rule->window : DTI_KV_NEEDED, &work->window, reterr);
    if (status == DTI_OK)
        status = read_array(work, pattern, &work->windowed, reterr);
    if (status == DTI_OK && !work->windowed)
        status = number(work, pattern, rule->every, &work->every, reterr);
    return status;
}

static enum dti_status add_layer(struct kv_gguf_reading *work, size_t i, struct dti_error *reterr)
{
    const enum kv_gguf_layers layers = work->rule->layers;
    const char *const label = work->members.label;
    const bool last = work->every > 0 && (i + 1) % work->every == 0;
    const bool latent =
        work->rule->keeps == MLA && dti_kv_find(&work->members, "attention.key_length_mla") != NULL;
    enum dti_status status = DTI_OK;
    if (layers == STATE || (layers == INTERVAL && !last) ||
        (layers == ZEROS && work->kv_heads[i] == 0)) {
        for (size_t k = 0; k < work->state_count && status == DTI_OK; k++)
            status = dti_kv_add(work->model, label, &work->states[k], reterr);
        return status;
    }
    if (work->kv_heads[i] == 0) { /* no attention at all */
        work->model->without++;
        return DTI_OK;
    }
    const bool window = work->window > 0 && (work->windowed ? work->windowed[i] != 0 : !last);
    const struct dti_kv_group layer = {
        .kind = latent                       ? DTI_KV_LATENT
                : window && layers == CHUNKS ? DTI_KV_CHUNKED
                : window                     ? DTI_KV_SLIDING
                                             : DTI_KV_FULL,
        .window = window ? work->window : 0,
        .heads = work->kv_heads[i],
        .key = work->key,
        .value = latent ? 0 : work->value,
    };
    return dti_kv_add(work->model, label, &layer, reterr);
}

static enum dti_status read_layers(struct kv_gguf_reading *work, struct dti_error *reterr)
{
    struct dti_kv_model *const model = work->model;
    uint64_t predicting = 0;
    enum dti_status status = number(work, "block_count", DTI_KV_NEEDED, &model->layers, reterr);
    if (status == DTI_OK) /* used only for speculative decoding */
        status = number(work, "nextn_predict_layers", 0, &predicting, reterr);
    if (status == DTI_OK && (model->layers > LAYERS_MOST || predicting > model->layers))
        return dti_kv_refuse(work->members.label, reterr, "its block_count is out of range");
    work->layers = model->layers - predicting;
    model->without = predicting;
    if (status == DTI_OK && work->rule->layers != STATE)
        status = read_heads(work, reterr);
    if (status == DTI_OK)
        status = read_state(work, reterr);
    if (status == DTI_OK)
        status = read_window(work, reterr);
    if (status == DTI_OK)
        status = number(work, "attention.shared_kv_layers",
                        work->rule->stored > 0 && work->layers > work->rule->stored
                            ? work->layers - work->rule->stored
                            : 0,
                        &model->shared, reterr);
    if (status == DTI_OK && model->shared > work->layers)
        return dti_kv_refuse(work->members.label, reterr,
                             "its attention.shared_kv_layers exceeds its block_count");
    for (size_t i = 0; status == DTI_OK && i < work->layers - model->shared; i++)
        status = add_layer(work, i, reterr);
    model->context_member = "context_length";
    return status == DTI_OK ? number(work, "context_length", 0, &model->context, reterr) : status;
}

static enum dti_status choose_rule(struct kv_gguf_reading *work, const char *like,
                                   struct dti_error *reterr)
{
    const char *const type = like ? like : work->model->type;
    char quoted[DTI_QUOTE_SIZE];
    for (size_t i = 0; i < RULES && !work->rule; i++) {
        if (strcmp(rules[i].type, type) == 0)
            work->rule = &rules[i];
    }
    if (work->rule) {
        work->model->like = work->rule->type;
        work->model->source = "llama.cpp, load_arch_hparams() and llama-kv-cache.cpp";
        return DTI_OK;
    }
    dti_quote(quoted, type, strlen(type));
    if (like)
        return dti_fail_word(reterr, DTI_USAGE, like, strlen(like),
                             "the cache of architecture %s is not known", quoted);
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_KV_LIKE,
                           "%s: how models of architecture %s keep their context is not known",
                           work->members.label, quoted);
}

static enum dti_status read_gguf(struct dti_container *container, const char *label,
                                 const char *like, struct dti_kv_model *ret,
                                 struct dti_error *reterr)
{
    const struct dti_metadata *const name = find_key(container, "general.architecture");
    struct kv_gguf_reading work = {
        .container = container, .model = ret, .members = {.label = label}};
    *ret = (struct dti_kv_model){.gguf = true};
    if (!name || name->kind != DTI_METADATA_STRING || name->value_length == 0 ||
        name->value_length >= DTI_KV_WORD)
        return dti_kv_refuse(label, reterr,
                             "it has no general.architecture, which the rule of its cache follows "
                             "from");
    memcpy(ret->type, name->value, name->value_length);
    enum dti_status status = choose_rule(&work, like, reterr);
    if (status == DTI_OK)
        status = list_members(&work, reterr);
    if (status == DTI_OK)
        status = read_layers(&work, reterr);
    dti_kv_members_free(&work.members);
    dti_free(work.kv_heads);
    dti_free(work.windowed);
    return status;
}

/* The config.json in the folder of a file. */
static enum dti_status read_next_to(const char *file, const char *like, struct dti_kv_model *ret,
                                    struct dti_error *reterr)
{
    char *const path = dti_input_same_folder(file, "config.json");
    char quoted[DTI_QUOTE_SIZE];
    enum dti_status status;
    if (!path)
        return dti_no_memory(reterr);
    if (dti_input_there(path) != 0)
        status = dti_fail(reterr, DTI_BAD_INPUT,
                          "%s: there is no config.json next to it, which the size of its cache "
                          "follows from; name the config.json itself for the cache alone",
                          dti_quote(quoted, file, strlen(file)));
    else
        status = dti_kv_config_read(path, like, ret, reterr);
    dti_free(path);
    return status;
}

enum dti_status dti_kv_model_read(struct dti_container *container, const char *like,
                                  struct dti_kv_model *ret, struct dti_error *reterr)
{
    struct dti_container *const stored = container->stored ? container->stored : container;
    char label[DTI_QUOTE_SIZE];
    const char *const path = stored->file_count > 0 ? stored->files[0].path : stored->path;
    if (dti_is_gguf(stored->kind))
        return read_gguf(stored, dti_quote(label, path, strlen(path)), like, ret, reterr);
    return read_next_to(path, like, ret, reterr);
}
