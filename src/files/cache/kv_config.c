/* SPDX-License-Identifier: MIT
 *
 * The cache of a model as config.json describes it, by the rules of kv_models.def. */
#include <stdio.h>
#include <string.h>

#include "files/cache/kv_members.h"
#include "util/run/allocate.h"
#include "util/text/nearest.h"

enum kv_config_layers {
    FULL,
    WINDOW,
    UPPER,
    USED,
    EVERY,
    CHUNKS,
    INTERVAL,
    PERIOD,
    LISTED,
    STATE,
    BOTH,
    PATTERN,
    UNUSED,
};
enum kv_config_keeps { GQA, MLA, DSA, GLOBAL };
enum kv_config_state { NONE, DELTA, MAMBA, MAMBA2, MAMBA2_HEADS, SHORT_CONV };

static const struct kv_rule {
    char type[24], source[76];
    enum kv_config_layers layers;
    enum kv_config_keeps keeps;
    enum kv_config_state state;
    uint32_t heads, kv_heads, head_dim, window, every, shared;
} rules[] = {
#define KV_MODEL(type_, layers_, keeps_, state_, heads_, kv_, dim_, window_, every_, shared_, \
                 source_)                                                                     \
    {.type = type_,                                                                           \
     .source = "transformers 5.24, models/" source_,                                          \
     .layers = layers_,                                                                       \
     .keeps = keeps_,                                                                         \
     .state = state_,                                                                         \
     .heads = heads_,                                                                         \
     .kv_heads = kv_,                                                                         \
     .head_dim = dim_,                                                                        \
     .window = window_,                                                                       \
     .every = every_,                                                                         \
     .shared = shared_},
#include "files/cache/kv_models.def"
#undef KV_MODEL
};
enum { RULES = sizeof rules / sizeof *rules, LAYERS_MOST = 1 << 16, LETTERS_MOST = 1 << 12 };

/* One configuration while it is read. */
struct kv_config_reading {
    const struct kv_rule *rule;
    struct dti_kv_members *members; /* of the language model */
    struct dti_kv_model *model;
    struct dti_kv_group indexer;       /* heads 0: none */
    uint64_t global_heads, global_dim; /* of layers that keep all tokens; 0: as the others */
    struct dti_kv_group attention;     /* what an attention layer keeps, of all tokens */
    struct dti_kv_group states[2];     /* what the other layers keep */
    size_t state_count;
    uint64_t every, stored; /* stored: layers that have a cache of their own */
};

static const struct kv_rule *find_rule(const char *type)
{
    for (size_t i = 0; i < RULES; i++) {
        if (strcmp(rules[i].type, type) == 0)
            return &rules[i];
    }
    return NULL;
}

static enum dti_status choose_rule(struct kv_config_reading *work, const char *like,
                                   struct dti_error *reterr)
{
    struct dti_kv_model *const model = work->model;
    const char *const label = work->members->label;
    char quoted[DTI_QUOTE_SIZE];
    struct dti_nearest nearest;
    work->rule = find_rule(like ? like : model->type);
    if (work->rule) {
        model->like = work->rule->type;
        model->source = work->rule->source;
        return DTI_OK;
    }
    if (like) {
        (void)dti_fail_word(reterr, DTI_USAGE, like, strlen(like),
                            "the cache of model type %s is not known",
                            dti_quote(quoted, like, strlen(like)));
        dti_nearest_init(&nearest, like, strlen(like));
        for (size_t i = 0; i < RULES; i++)
            dti_nearest_offer(&nearest, rules[i].type);
        dti_nearest_suggest(&nearest, reterr);
        return DTI_USAGE;
    }
    if (model->type[0] == '\0')
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_KV_LIKE,
                               "%s: it has no model_type, which the rule of its cache follows from",
                               label);
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_KV_LIKE,
                           "%s: how models of type %s keep their context is not known", label,
                           dti_quote(quoted, model->type, strlen(model->type)));
}

/* A number with the default of the rule, which is noted if it is used; 0: it must be there. */
static enum dti_status number(struct kv_config_reading *work, const char *names, uint64_t otherwise,
                              uint64_t *ret, struct dti_error *reterr)
{
    if (otherwise > 0 && !dti_kv_find(work->members, names))
        dti_kv_note_default(work->model, names, otherwise);
    return dti_kv_number(work->members, names, otherwise > 0 ? otherwise : DTI_KV_NEEDED, ret,
                         reterr);
}

/* Heads and their width. */
static enum dti_status read_heads(struct kv_config_reading *work, struct dti_error *reterr)
{
    static const char heads_name[] = "num_attention_heads|n_head";
    const struct kv_rule *const rule = work->rule;
    struct dti_kv_group *const layer = &work->attention;
    uint64_t heads = 0, hidden = 0;
    const bool alone = dti_kv_find(work->members, "num_key_value_heads") != NULL;
    const bool wide = rule->head_dim > 0 || dti_kv_find(work->members, "head_dim") != NULL;
    enum dti_status status = DTI_OK;
    /* null, like a member that is missing, means as many as heads in classes without a default */
    if (!alone || !wide)
        status = number(work, heads_name, rule->heads, &heads, reterr);
    if (status == DTI_OK && (alone || rule->kv_heads > 0))
        status = number(work, "num_key_value_heads", rule->kv_heads, &layer->heads, reterr);
    else
        layer->heads = heads;
    if (status == DTI_OK && wide)
        status = number(work, "head_dim", rule->head_dim, &layer->key, reterr);
    else if (status == DTI_OK)
        status = number(work, "hidden_size|n_embd", 0, &hidden, reterr);
    if (status == DTI_OK && !wide && (heads == 0 || hidden % heads != 0))
        return dti_kv_refuse(work->members->label, reterr,
                             "its hidden_size %llu is not divisible by its %llu heads, and it has "
                             "no head_dim",
                             (unsigned long long)hidden, (unsigned long long)heads);
    if (!wide && status == DTI_OK)
        layer->key = hidden / heads;
    layer->value = layer->key;
    return status;
}

/* MLA: one row for all heads. */
static enum dti_status read_latent(struct kv_config_reading *work, struct dti_error *reterr)
{
    static const char pattern[] = "indexer_types|index_topk_pattern|index_topk_freq";
    uint64_t rank = 0, rope = 0, width = 0;
    const struct dti_kv_member *const some =
        work->rule->keeps == DSA ? dti_kv_find(work->members, pattern) : NULL;
    if (some)
        return dti_kv_refuse(work->members->label, reterr,
                             "it has an %.*s: which layers keep keys of an indexer is not known",
                             (int)some->name_length, some->name);
    enum dti_status status = number(work, "kv_lora_rank", 0, &rank, reterr);
    if (status == DTI_OK)
        status = number(work, "qk_rope_head_dim", 0, &rope, reterr);
    if (status == DTI_OK && work->rule->keeps == DSA)
        status = number(work, "index_head_dim", 0, &width, reterr);
    if (status != DTI_OK)
        return status;
    work->attention = (struct dti_kv_group){.kind = DTI_KV_LATENT, .heads = 1, .key = rank + rope};
    if (work->rule->keeps == DSA)
        work->indexer = (struct dti_kv_group){.kind = DTI_KV_INDEXER, .heads = 1, .key = width};
    return DTI_OK;
}

/* Layers that keep all tokens may have heads of their own. */
static enum dti_status read_global(struct kv_config_reading *work, struct dti_error *reterr)
{
    static const char heads[] = "num_global_key_value_heads";
    enum { GLOBAL_DIM = 512 };
    enum dti_status status = read_heads(work, reterr);
    if (status == DTI_OK)
        status = number(work, "global_head_dim", GLOBAL_DIM, &work->global_dim, reterr);
    if (status == DTI_OK && dti_kv_is_true(work->members, "attention_k_eq_v") &&
        dti_kv_find(work->members, heads))
        status = number(work, heads, 0, &work->global_heads, reterr);
    return status;
}

static enum dti_status read_attention(struct kv_config_reading *work, struct dti_error *reterr)
{
    switch (work->rule->keeps) {
    case MLA:
    case DSA:
        return read_latent(work, reterr);
    case GLOBAL:
        return read_global(work, reterr);
    default:
        return read_heads(work, reterr);
    }
}

/* Several numbers that must be there. */
static enum dti_status numbers(struct kv_config_reading *work, const char *const *names,
                               size_t count, uint64_t *ret, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = number(work, names[i], 0, &ret[i], reterr);
    return status;
}

static void add_state(struct kv_config_reading *work, enum dti_kv_kind kind, bool fp32,
                      uint64_t heads, uint64_t key, uint64_t value)
{
    work->states[work->state_count++] = (struct dti_kv_group){
        .kind = kind, .fp32 = fp32, .heads = heads, .key = key, .value = value};
}

/* Gated delta rule: a matrix for each head of values, and the inputs of a convolution over queries,
 * keys and values. */
static enum dti_status read_delta(struct kv_config_reading *work, struct dti_error *reterr)
{
    static const char *const names[] = {"linear_num_key_heads", "linear_key_head_dim",
                                        "linear_num_value_heads", "linear_value_head_dim",
                                        "linear_conv_kernel_dim"};
    uint64_t n[5];
    const enum dti_status status = numbers(work, names, 5, n, reterr);
    if (status != DTI_OK)
        return status;
    add_state(work, DTI_KV_CONV, false, 2 * n[0] * n[1] + n[2] * n[3], n[4], 1);
    add_state(work, DTI_KV_RECURRENT, true, n[2], n[1], n[3]);
    return DTI_OK;
}

/* Mamba keeps a state for each inner channel; Mamba-2's convolution runs over B and C, too. States
 * are in fp32. Some models may have another width than expand x hidden_size. */
static enum dti_status read_mamba(struct kv_config_reading *work, bool second,
                                  struct dti_error *reterr)
{
    static const char *const names[] = {"mamba_expand|expand", "hidden_size",
                                        "mamba_d_state|state_size|ssm_state_size",
                                        "mamba_d_conv|conv_kernel", "mamba_n_groups|n_groups"};
    const bool both = work->rule->layers == BOTH;
    const char *const own = both ? "mamba_d_ssm" : "intermediate_size";
    const bool given =
        (both || (!second && work->rule->layers == STATE)) && dti_kv_find(work->members, own);
    uint64_t n[5] = {0}, inner = 0;
    enum dti_status status = numbers(work, names, second ? 5 : 4, n, reterr);
    if (status == DTI_OK && given)
        status = number(work, own, 0, &inner, reterr);
    if (status != DTI_OK)
        return status;
    inner = given ? inner : n[0] * n[1];
    add_state(work, DTI_KV_CONV, false, inner + 2 * n[4] * n[2], n[3], 1);
    add_state(work, DTI_KV_RECURRENT, true, inner, n[2], 1);
    return DTI_OK;
}

/* The same with a width that is given as heads. */
static enum dti_status read_mamba_heads(struct kv_config_reading *work, struct dti_error *reterr)
{
    static const char *const names[] = {"mamba_num_heads", "mamba_head_dim", "ssm_state_size",
                                        "conv_kernel|mamba_d_conv", "n_groups|mamba_n_groups"};
    uint64_t n[5];
    const enum dti_status status = numbers(work, names, 5, n, reterr);
    if (status != DTI_OK)
        return status;
    add_state(work, DTI_KV_CONV, false, n[0] * n[1] + 2 * n[4] * n[2], n[3], 1);
    add_state(work, DTI_KV_RECURRENT, true, n[0], n[1], n[2]);
    return DTI_OK;
}

static enum dti_status read_short_conv(struct kv_config_reading *work, struct dti_error *reterr)
{
    static const char *const names[] = {"hidden_size", "conv_L_cache"};
    uint64_t n[2];
    const enum dti_status status = numbers(work, names, 2, n, reterr);
    if (status == DTI_OK)
        add_state(work, DTI_KV_CONV, false, n[0], n[1], 1);
    return status;
}

static enum dti_status read_state(struct kv_config_reading *work, struct dti_error *reterr)
{
    switch (work->rule->state) {
    case DELTA:
        return read_delta(work, reterr);
    case MAMBA:
    case MAMBA2:
        return read_mamba(work, work->rule->state == MAMBA2, reterr);
    case MAMBA2_HEADS:
        return read_mamba_heads(work, reterr);
    case SHORT_CONV:
        return read_short_conv(work, reterr);
    default:
        return DTI_OK;
    }
}

static enum dti_status add_attention(struct kv_config_reading *work, enum dti_kv_kind kind,
                                     struct dti_error *reterr)
{
    static const char *const members[] = {"sliding_window", "attention_chunk_size"};
    struct dti_kv_group layer = work->attention;
    enum dti_status status = DTI_OK;
    if (kind == DTI_KV_FULL && work->global_dim > 0)
        layer.key = layer.value = work->global_dim;
    if (kind == DTI_KV_FULL && work->global_heads > 0)
        layer.heads = work->global_heads;
    if (kind != DTI_KV_FULL && layer.kind == DTI_KV_LATENT)
        return dti_kv_refuse(work->members->label, reterr,
                             "windows of layers with MLA are not known");
    if (kind != DTI_KV_FULL) {
        const char *const name = members[kind == DTI_KV_CHUNKED];
        const uint64_t otherwise = work->rule->window;
        layer.kind = kind;
        status = dti_kv_number(work->members, name, otherwise > 0 ? otherwise : DTI_KV_NEEDED,
                               &layer.window, reterr);
    }
    if (status == DTI_OK)
        status = dti_kv_add(work->model, work->members->label, &layer, reterr);
    return status == DTI_OK && work->indexer.heads > 0
               ? dti_kv_add(work->model, work->members->label, &work->indexer, reterr)
               : status;
}

static enum dti_status add_states(struct kv_config_reading *work, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (work->state_count == 0)
        return dti_kv_refuse(work->members->label, reterr,
                             "it has layers that keep a state, which models of type %s do not",
                             work->rule->type);
    for (size_t i = 0; i < work->state_count && status == DTI_OK; i++)
        status = dti_kv_add(work->model, work->members->label, &work->states[i], reterr);
    return status;
}

/* One element of layer_types. */
static enum dti_status take_type(void *context, size_t index, const struct dti_kv_element *element,
                                 struct dti_error *reterr)
{
    static const struct {
        const char *word;
        enum { ATTENTION, STATES, NOTHING } what;
        enum dti_kv_kind kind;
    } words[] = {
        {"full_attention", ATTENTION, DTI_KV_FULL},
        {"attention", ATTENTION, DTI_KV_FULL},
        {"indexed_attention", ATTENTION, DTI_KV_FULL},
        {"sliding_attention", ATTENTION, DTI_KV_SLIDING},
        {"chunked_attention", ATTENTION, DTI_KV_CHUNKED},
        {"linear_attention", STATES, DTI_KV_RECURRENT},
        {"mamba", STATES, DTI_KV_RECURRENT},
        {"conv", STATES, DTI_KV_CONV},
        {"mlp", NOTHING, DTI_KV_FULL},
        {"moe", NOTHING, DTI_KV_FULL},
    };
    struct kv_config_reading *const work = context;
    char quoted[DTI_QUOTE_SIZE];
    if (index >= work->stored)
        return DTI_OK; /* shares the cache of an earlier layer; too many are reported later */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(element->text, words[i].word) != 0)
            continue;
        work->model->without += words[i].what == NOTHING;
        return words[i].what == ATTENTION ? add_attention(work, words[i].kind, reterr)
               : words[i].what == STATES  ? add_states(work, reterr)
                                          : DTI_OK;
    }
    return dti_kv_refuse(work->members->label, reterr, "what a layer of type %s keeps is not known",
                         dti_quote(quoted, element->text, strlen(element->text)));
}

/* llama4: 1 for layers with rotary embedding, which keep a chunk. */
static enum dti_status take_rope(void *context, size_t index, const struct dti_kv_element *element,
                                 struct dti_error *reterr)
{
    (void)index;
    return add_attention(context, element->number != 0 ? DTI_KV_CHUNKED : DTI_KV_FULL, reterr);
}

static enum dti_status check_length(const struct kv_config_reading *work, const char *name,
                                    size_t count, struct dti_error *reterr)
{
    return count == work->model->layers
               ? DTI_OK
               : dti_kv_refuse(work->members->label, reterr,
                               "its %s has %zu elements for %llu layers", name, count,
                               (unsigned long long)work->model->layers);
}

/* The layers whose numbers are listed are attention. */
struct listed_layers {
    struct kv_config_reading *work;
    bool is[LAYERS_MOST];
};

static enum dti_status take_index(void *context, size_t index, const struct dti_kv_element *element,
                                  struct dti_error *reterr)
{
    struct listed_layers *const listed = context;
    (void)index;
    if (element->text[0] != '\0' || element->number >= listed->work->model->layers)
        return dti_kv_refuse(listed->work->members->label, reterr,
                             "its list of attention layers names one that it does not have");
    listed->is[element->number] = true;
    return DTI_OK;
}

static enum dti_status add_listed(struct kv_config_reading *work, struct dti_error *reterr)
{
    const struct dti_kv_member *const member =
        dti_kv_find(work->members, "attn_layer_indices|full_attn_idxs");
    if (!member)
        return dti_kv_refuse(work->members->label, reterr,
                             "it has no layer_types, which the size of its cache follows from");
    struct listed_layers *const listed = dti_calloc(1, sizeof *listed);
    size_t count;
    if (!listed)
        return dti_no_memory(reterr);
    listed->work = work;
    enum dti_status status = dti_kv_each(work->members, member, take_index, listed, &count, reterr);
    for (size_t i = 0; i < work->stored && status == DTI_OK; i++)
        status =
            listed->is[i] ? add_attention(work, DTI_KV_FULL, reterr) : add_states(work, reterr);
    dti_free(listed);
    return status;
}

/* A letter for each layer. */
static enum dti_status add_letters(struct kv_config_reading *work, struct dti_error *reterr)
{
    char text[LETTERS_MOST];
    enum dti_status status = DTI_OK;
    if (!dti_kv_letters(work->members, "hybrid_override_pattern", text, sizeof text))
        return dti_kv_refuse(work->members->label, reterr,
                             "it has no hybrid_override_pattern, which the size of its cache "
                             "follows from");
    status = check_length(work, "hybrid_override_pattern", strlen(text), reterr);
    for (size_t i = 0; text[i] != '\0' && status == DTI_OK; i++) {
        if (text[i] == 'M')
            status = add_states(work, reterr);
        else if (text[i] == '*')
            status = add_attention(work, DTI_KV_FULL, reterr);
        else if (text[i] == '-' || text[i] == 'E')
            work->model->without++;
        else
            status =
                dti_kv_refuse(work->members->label, reterr,
                              "what a layer of its hybrid_override_pattern keeps is not known: "
                              "'%c'",
                              text[i] > ' ' && text[i] <= '~' ? text[i] : '?');
    }
    return status;
}

/* Where the pattern of layers comes from. */
struct pattern {
    uint64_t every, offset, upper;
    bool windows; /* sliding_window applies */
};

static enum dti_status read_pattern(struct kv_config_reading *work, struct pattern *ret,
                                    struct dti_error *reterr)
{
    const struct kv_rule *const rule = work->rule;
    const struct dti_kv_members *const members = work->members;
    enum dti_status status = DTI_OK;
    *ret = (struct pattern){.every = rule->every};
    switch (rule->layers) {
    case WINDOW: /* a window of null is none; a missing one the default */
        for (size_t i = 0; i < members->count && !ret->windows; i++)
            ret->windows =
                members->list[i].name_length == strlen("sliding_window") &&
                memcmp(members->list[i].name, "sliding_window", members->list[i].name_length) == 0;
        ret->windows =
            ret->windows ? dti_kv_find(members, "sliding_window") != NULL : rule->window > 0;
        break;
    case UPPER:
    case USED:
        ret->windows = dti_kv_is_true(members, "use_sliding_window");
        if (ret->windows && rule->layers == UPPER)
            status = number(work, "max_window_layers", 0, &ret->upper, reterr);
        break;
    case UNUSED:
        if (dti_kv_is_true(members, "use_sliding_window"))
            return dti_kv_refuse(members->label, reterr,
                                 "its use_sliding_window is true, and which layers that means is "
                                 "not known");
        break;
    case EVERY:
        status = number(work, "sliding_window_pattern|_sliding_window_pattern", rule->every,
                        &ret->every, reterr);
        break;
    case CHUNKS:
        status = number(work, "no_rope_layer_interval", rule->every, &ret->every, reterr);
        break;
    case INTERVAL:
        status = number(work, "full_attention_interval", rule->every, &ret->every, reterr);
        break;
    case PERIOD:
        status = number(work, "attn_layer_period", 0, &ret->every, reterr);
        if (status == DTI_OK)
            status = number(work, "attn_layer_offset", 0, &ret->offset, reterr);
        break;
    default:
        break;
    }
    if (status == DTI_OK && ret->every == 0 && (rule->every > 0 || rule->layers == PERIOD))
        return dti_kv_refuse(members->label, reterr, "the period of its layers is 0");
    return status;
}

static enum dti_status add_layer(struct kv_config_reading *work, const struct pattern *pattern,
                                 uint64_t i, struct dti_error *reterr)
{
    const bool last = pattern->every > 0 &&
                      ((i + 1) % pattern->every == 0 ||
                       (work->rule->keeps == GLOBAL && i + 1 == work->model->layers)); /* Gemma 4 */
    switch (work->rule->layers) {
    case WINDOW:
    case UPPER:
    case USED:
        return add_attention(
            work, pattern->windows && i >= pattern->upper ? DTI_KV_SLIDING : DTI_KV_FULL, reterr);
    case EVERY:
        return add_attention(work, last ? DTI_KV_FULL : DTI_KV_SLIDING, reterr);
    case CHUNKS:
        return add_attention(work, last ? DTI_KV_FULL : DTI_KV_CHUNKED, reterr);
    case INTERVAL:
        return last ? add_attention(work, DTI_KV_FULL, reterr) : add_states(work, reterr);
    case PERIOD:
        return i % pattern->every == pattern->offset ? add_attention(work, DTI_KV_FULL, reterr)
                                                     : add_states(work, reterr);
    case STATE:
        return add_states(work, reterr);
    case BOTH: {
        const enum dti_status status = add_states(work, reterr);
        return status == DTI_OK ? add_attention(work, DTI_KV_FULL, reterr) : status;
    }
    default:
        return add_attention(work, DTI_KV_FULL, reterr);
    }
}

static enum dti_status add_layers(struct kv_config_reading *work, struct dti_error *reterr)
{
    const struct dti_kv_member *const types =
        dti_kv_find(work->members, "layer_types|layers_block_type");
    const struct dti_kv_member *const ropes =
        work->rule->layers == CHUNKS ? dti_kv_find(work->members, "no_rope_layers") : NULL;
    struct pattern pattern;
    size_t count = 0;
    enum dti_status status;
    if (types) {
        status = dti_kv_each(work->members, types, take_type, work, &count, reterr);
        return status == DTI_OK ? check_length(work, "layer_types", count, reterr) : status;
    }
    if (ropes && strncmp(ropes->value, "[]", 2) != 0) {
        status = dti_kv_each(work->members, ropes, take_rope, work, &count, reterr);
        return status == DTI_OK ? check_length(work, "no_rope_layers", count, reterr) : status;
    }
    if (work->rule->layers == LISTED)
        return add_listed(work, reterr);
    if (work->rule->layers == PATTERN)
        return add_letters(work, reterr);
    status = read_pattern(work, &pattern, reterr);
    for (uint64_t i = 0; i < work->stored && status == DTI_OK; i++)
        status = add_layer(work, &pattern, i, reterr);
    return status;
}

/* Windows that the default of transformers gives are noted. */
static void note_window(struct kv_config_reading *work)
{
    for (size_t i = 0; i < work->model->count; i++) {
        const struct dti_kv_group *const group = &work->model->groups[i];
        const char *const name =
            group->kind == DTI_KV_CHUNKED ? "attention_chunk_size" : "sliding_window";
        if (group->window > 0 && !dti_kv_find(work->members, name))
            dti_kv_note_default(work->model, name, group->window);
    }
}

static enum dti_status read_model(struct kv_config_reading *work, struct dti_error *reterr)
{
    static const char shared[] = "num_kv_shared_layers";
    struct dti_kv_model *const model = work->model;
    const enum kv_config_layers layers = work->rule->layers;
    enum dti_status status = number(work, "num_hidden_layers|n_layer", 0, &model->layers, reterr);
    if (status == DTI_OK && model->layers > LAYERS_MOST)
        return dti_kv_refuse(work->members->label, reterr, "it has more than %d layers",
                             (int)LAYERS_MOST);
    if (status == DTI_OK && layers != STATE)
        status = read_attention(work, reterr);
    if (status == DTI_OK)
        status = read_state(work, reterr);
    if (status == DTI_OK && (work->rule->shared > 0 || dti_kv_find(work->members, shared)))
        status = number(work, shared, work->rule->shared, &model->shared, reterr);
    if (status == DTI_OK && model->shared > model->layers)
        return dti_kv_refuse(work->members->label, reterr,
                             "its num_kv_shared_layers exceeds its num_hidden_layers");
    work->stored = model->layers - model->shared;
    if (status == DTI_OK)
        status = add_layers(work, reterr);
    if (status == DTI_OK)
        note_window(work);
    model->context_member = "max_position_embeddings";
    return status == DTI_OK ? dti_kv_number(work->members, "max_position_embeddings|n_positions", 0,
                                            &model->context, reterr)
                            : status;
}

/* The members of the language model of a model of several parts. */
static enum dti_status read_text(const struct dti_kv_members *all, struct dti_kv_members *ret,
                                 const char *label, struct dti_error *reterr)
{
    const struct dti_kv_member *const text =
        dti_kv_find(all, "text_config|llm_config|language_config");
    if (!text || *text->value != '{') {
        *ret = (struct dti_kv_members){.label = label};
        return DTI_OK;
    }
    return dti_kv_members_read(ret, label, text->value, text->value_length, reterr);
}

/* Whether the quantization covers the cache: kv_cache_scheme of compressed-tensors,
 * kv_cache_quant_algo of ModelOpt. */
static enum dti_status read_scheme(const struct dti_kv_members *all, bool *ret,
                                   struct dti_error *reterr)
{
    const struct dti_kv_member *const member = dti_kv_find(all, "quantization_config");
    struct dti_kv_members inner;
    if (!member || *member->value != '{')
        return DTI_OK;
    const enum dti_status status =
        dti_kv_members_read(&inner, all->label, member->value, member->value_length, reterr);
    *ret = status == DTI_OK && dti_kv_find(&inner, "kv_cache_scheme|kv_cache_quant_algo");
    dti_kv_members_free(&inner);
    return status;
}

enum dti_status dti_kv_config_parse(const char *label, const char *text, size_t length,
                                    const char *like, struct dti_kv_model *ret,
                                    struct dti_error *reterr)
{
    struct dti_kv_members all, inner = {.count = 0};
    struct kv_config_reading work = {.model = ret};
    *ret = (struct dti_kv_model){.gguf = false};
    enum dti_status status = dti_kv_members_read(&all, label, text, length, reterr);
    if (status == DTI_OK)
        status = read_text(&all, &inner, label, reterr);
    if (status == DTI_OK)
        status = read_scheme(&all, &ret->scheme, reterr);
    if (status == DTI_OK) {
        work.members = inner.count > 0 ? &inner : &all;
        dti_kv_text(work.members, "model_type", ret->type);
        if (ret->type[0] == '\0')
            dti_kv_text(&all, "model_type", ret->type);
        dti_kv_text(work.members, "dtype|torch_dtype", ret->dtype);
        if (ret->dtype[0] == '\0')
            dti_kv_text(&all, "dtype|torch_dtype", ret->dtype);
        status = choose_rule(&work, like, reterr);
    }
    const struct dti_kv_member *const own =
        status == DTI_OK ? dti_kv_find(work.members, "per_layer_config") : NULL;
    if (own && strncmp(own->value, "{}", 2) != 0)
        status = dti_kv_refuse(label, reterr,
                               "it has a per_layer_config, so that layers may differ in more than "
                               "is known");
    if (status == DTI_OK)
        status = read_model(&work, reterr);
    dti_kv_members_free(&inner);
    dti_kv_members_free(&all);
    return status;
}

enum { CONFIG_MOST = 16 << 20 };

enum dti_status dti_kv_config_read(const char *path, const char *like, struct dti_kv_model *ret,
                                   struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_buffer text;
    char label[DTI_QUOTE_SIZE];
    dti_buffer_init(&text);
    enum dti_status status = dti_input_open(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_input_read_all(&input, CONFIG_MOST, "a configuration", &text, reterr);
    if (status == DTI_OK)
        status = dti_kv_config_parse(dti_input_label(&input, label), text.data, text.length, like,
                                     ret, reterr);
    dti_buffer_free(&text);
    dti_input_close(&input);
    return status;
}
