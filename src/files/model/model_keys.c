/* SPDX-License-Identifier: MIT
 *
 * From members of config.json to key-values: the table, and what is computed from several of them.
 */
#include "files/model/model_keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/json/json_read.h"
#include "util/little_endian.h"
#include "util/run/mathematics.h"
#include "util/text/ascii.h"

enum { NEEDED, IF_THERE, OR_ZERO };
enum {
#define MODEL_ARCH(id, ...) id = 1 << DTI_MODEL_##id,
#include "files/model/model_archs.def"
#undef MODEL_ARCH
    ALL = (1 << DTI_MODEL_ARCHS) - 1
};

static const struct key_row {
    const char *key, *members;
    int need;
    unsigned archs;
} rows[] = {
#define MODEL_KEY(name, list, what, which) \
    {.key = (name), .members = (list), .need = (what), .archs = (unsigned)(which)},
#include "files/model/model_keys.def"
#undef MODEL_KEY
};

enum {
    KEY_SIZE = 128,
    DIMENSIONS_MAX = 1 << 16 /* of a head; more is a mistake */
};

struct keys_work {
    struct dti_model_keys *keys;
    const struct dti_model_config *config;
    const struct dti_container *given;
    enum dti_model_arch arch;
    char key[KEY_SIZE]; /* the one at hand, with the architecture */
};

static const char *set_key(struct keys_work *work, const char *key)
{
    (void)snprintf(work->key, sizeof work->key, "%s.%s", dti_model_arch_name(work->arch), key);
    return work->key;
}

static bool is_given(struct keys_work *work, const char *key)
{
    return dti_gguf_pair_of(work->given, set_key(work, key)) != NULL;
}

static enum dti_status fail_missing(struct keys_work *work, const char *key, const char *members,
                                    struct dti_error *reterr)
{
    const size_t length = strcspn(members, ",");
    set_key(work, key);
    return dti_fail_remedy(
        reterr, DTI_BAD_INPUT, DTI_REMEDY_SET_KEY, "%s has no member %.*s, which %s needs",
        work->config->there ? work->config->label : "config.json", (int)length, members, work->key);
}

/* Adds the key with a member's value. */
static enum dti_status put_member(struct keys_work *work, const char *key,
                                  const struct dti_model_member *member, struct dti_error *reterr)
{
    struct dti_gguf_edits *const edits = &work->keys->edits;
    struct dti_gguf_typed type = {DTI_GGUF_VALUES, DTI_GGUF_VALUES};
    struct dti_error why;
    set_key(work, key);
    (void)dti_gguf_key_type(work->key, strlen(work->key), &type);
    dti_gguf_edits_begin(edits, work->key, strlen(work->key));
    const enum dti_status status =
        dti_gguf_value_json(&edits->text, &type, member->json, member->length, &why);
    if (status == DTI_OK) {
        dti_gguf_edits_end(edits);
        return DTI_OK;
    }
    return dti_fail_remedy(reterr, status == DTI_NO_MEMORY ? status : DTI_BAD_INPUT,
                           DTI_REMEDY_SET_KEY, "%s: member %.*s: %s", work->config->label,
                           (int)(member->path_length < 80 ? member->path_length : 80), member->path,
                           why.text);
}

static enum dti_status put_rows(struct keys_work *work, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == DTI_OK; i++) {
        const struct key_row *const row = &rows[i];
        if (!(row->archs >> work->arch & 1) || is_given(work, row->key))
            continue;
        const struct dti_model_member *const member =
            dti_model_config_find(work->config, row->members);
        if (member)
            status = put_member(work, row->key, member, reterr);
        else if (row->need == OR_ZERO)
            dti_gguf_edits_number(&work->keys->edits, set_key(work, row->key), DTI_GGUF_UINT32, 0);
        else if (row->need == NEEDED)
            status = fail_missing(work, row->key, row->members, reterr);
    }
    return status;
}

/* An integer of config.json, or of a key that is given instead. False: neither is there. */
static bool integer_of(struct keys_work *work, const char *members, const char *key, uint64_t *ret)
{
    const struct dti_model_member *const member = dti_model_config_find(work->config, members);
    if (dti_gguf_integer_of(work->given, set_key(work, key), ret))
        return true;
    return member && dti_model_member_integer(member, ret);
}

/* Elements of a head that rope turns. */
static bool rope_dimensions(struct keys_work *work, uint64_t *ret)
{
    uint64_t hidden, heads;
    if (integer_of(work, "head_dim", "attention.key_length", ret))
        return true;
    if (!integer_of(work, "hidden_size,n_embd", "embedding_length", &hidden) ||
        !integer_of(work, "num_attention_heads,n_head", "attention.head_count", &heads) ||
        heads == 0)
        return false;
    const struct dti_model_member *const part = dti_model_config_find(
        work->config, "partial_rotary_factor,rope_parameters.partial_rotary_factor");
    const double factor =
        part && work->arch == DTI_MODEL_PHI3 ? dti_model_member_double(part) : 1.0;
    if (!(factor > 0 && factor <= 1) || hidden > 1 << 24)
        return false;
    *ret = (uint64_t)(factor * (double)hidden) / heads;
    return true;
}

static enum dti_status put_rope_dimensions(struct keys_work *work, struct dti_error *reterr)
{
    uint64_t dimensions;
    if ((work->arch != DTI_MODEL_LLAMA && work->arch != DTI_MODEL_PHI3) ||
        is_given(work, "rope.dimension_count"))
        return DTI_OK;
    if (!rope_dimensions(work, &dimensions) || dimensions > DIMENSIONS_MAX)
        return fail_missing(work, "rope.dimension_count", "head_dim", reterr);
    dti_gguf_edits_number(&work->keys->edits, set_key(work, "rope.dimension_count"),
                          DTI_GGUF_UINT32, dimensions);
    return DTI_OK;
}

/* A member of the rope scaling, by its name. */
static const struct dti_model_member *scaling(const struct keys_work *work, const char *name)
{
    char paths[3 * KEY_SIZE];
    (void)snprintf(paths, sizeof paths,
                   "rope_parameters.full_attention.%s,rope_parameters.%s,rope_scaling.%s", name,
                   name, name);
    return dti_model_config_find(work->config, paths);
}

static enum dti_status put_scaling(struct keys_work *work, const char *key, const char *name,
                                   bool needed, struct dti_error *reterr)
{
    const struct dti_model_member *const member = scaling(work, name);
    char path[KEY_SIZE];
    if (is_given(work, key))
        return DTI_OK;
    if (member)
        return put_member(work, key, member, reterr);
    (void)snprintf(path, sizeof path, "rope_scaling.%s", name);
    return needed ? fail_missing(work, key, path, reterr) : DTI_OK;
}

static void put_type(struct keys_work *work, const char *type)
{
    dti_gguf_edits_string(&work->keys->edits, set_key(work, "rope.scaling.type"), type,
                          strlen(type));
}

static enum dti_status put_linear(struct keys_work *work, struct dti_error *reterr)
{
    put_type(work, "linear");
    return put_scaling(work, "rope.scaling.factor", "factor", true, reterr);
}

static enum dti_status put_yarn(struct keys_work *work, struct dti_error *reterr)
{
    static const struct {
        const char *key, *name;
        bool needed;
    } members[] = {
        {"rope.scaling.factor", "factor", true},
        {"rope.scaling.original_context_length", "original_max_position_embeddings", true},
        {"rope.scaling.yarn_ext_factor", "extrapolation_factor", false},
        {"rope.scaling.yarn_attn_factor", "attention_factor", false},
        {"rope.scaling.yarn_beta_fast", "beta_fast", false},
        {"rope.scaling.yarn_beta_slow", "beta_slow", false},
    };
    enum dti_status status = DTI_OK;
    put_type(work, "yarn");
    for (size_t i = 0; i < sizeof members / sizeof *members && status == DTI_OK; i++)
        status = put_scaling(work, members[i].key, members[i].name, members[i].needed, reterr);
    return status;
}

static struct dti_model_made *make(struct keys_work *work, const char *name, uint64_t count)
{
    struct dti_model_keys *const keys = work->keys;
    struct dti_model_made *const made = &keys->made[keys->made_count];
    float *const numbers = dti_pool_array(&keys->pool, (size_t)count, sizeof *numbers);
    if (!numbers)
        return NULL;
    *made = (struct dti_model_made){.name = name, .numbers = numbers, .count = count};
    keys->made_count++;
    return made;
}

/* A number of the rope scaling; NAN: not there, or none. */
static double number_of(const struct keys_work *work, const char *name)
{
    const struct dti_model_member *const member = scaling(work, name);
    return member ? dti_model_member_double(member) : (double)NAN;
}

/* Llama 3.1: low frequencies are divided by the factor, high ones stay, those between them are
 * interpolated. In double, rounded once. */
static enum dti_status make_llama3(struct keys_work *work, struct dti_error *reterr)
{
    const struct dti_model_member *const theta = dti_model_config_find(
        work->config,
        "rope_theta,rope_parameters.rope_theta,rope_parameters.full_attention.rope_theta");
    const struct dti_model_member *old = scaling(work, "original_max_position_embeddings");
    if (!old)
        old = dti_model_config_find(work->config, "original_max_position_embeddings");
    const double base = theta ? dti_model_member_double(theta) : (double)NAN;
    const double context = old ? dti_model_member_double(old) : (double)NAN;
    const double factor = number_of(work, "factor"), low = number_of(work, "low_freq_factor");
    const double high = number_of(work, "high_freq_factor"), turn = 6.283185307179586476925;
    uint64_t dimensions;
    if (!(base > 0 && context > 0 && factor > 0 && low > 0 && high > low))
        return dti_fail(
            reterr, DTI_BAD_INPUT,
            "%s: the rope scaling llama3 needs the members rope_theta, factor, low_freq_factor, "
            "high_freq_factor and original_max_position_embeddings, all above 0",
            work->config->label);
    if (!rope_dimensions(work, &dimensions) || dimensions > DIMENSIONS_MAX)
        return fail_missing(work, "rope.dimension_count", "head_dim", reterr);
    const struct dti_mathematics *library;
    const enum dti_status status = dti_mathematics_get(&library, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_model_made *const made = make(work, "rope_freqs.weight", (dimensions + 1) / 2);
    for (uint64_t i = 0; made && i < made->count; i++) {
        const double length = turn * library->pow(base, (double)(2 * i) / (double)dimensions);
        const double smooth = (context / length - low) / (high - low);
        const double between = 1 / ((1 - smooth) / factor + smooth);
        made->numbers[i] = (float)(length < context / high  ? 1
                                   : length > context / low ? factor
                                                            : between);
    }
    return made ? DTI_OK : dti_no_memory(reterr);
}

/* The numbers of an array, as many as wanted. */
static enum dti_status make_list(struct keys_work *work, const char *member_name, const char *name,
                                 uint64_t wanted, struct dti_error *reterr)
{
    const struct dti_model_member *const member = scaling(work, member_name);
    struct dti_buffer value;
    const struct dti_gguf_typed type = {DTI_GGUF_ARRAY, DTI_GGUF_FLOAT32};
    enum { BEFORE = 4 + 4 + 8 }; /* type, type of elements, count */
    struct dti_error why = {.text = "it is missing"};
    dti_buffer_init(&value);
    enum dti_status status = DTI_BAD_INPUT;
    if (member)
        status = dti_gguf_value_json(&value, &type, member->json, member->length, &why);
    struct dti_model_made *const made =
        status == DTI_OK && !value.failed && (value.length - BEFORE) / sizeof(float) == wanted
            ? make(work, name, wanted)
            : NULL;
    for (uint64_t i = 0; made && i < wanted; i++) {
        const uint32_t bits = (uint32_t)dti_little_get(
            (const unsigned char *)value.data + BEFORE + i * sizeof(float), sizeof(float));
        memcpy(&made->numbers[i], &bits, sizeof bits);
    }
    dti_buffer_free(&value);
    if (made)
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: member rope_scaling.%s has to be %llu numbers%s%s",
                    work->config->label, member_name, (unsigned long long)wanted,
                    status == DTI_OK ? "" : ": ", status == DTI_OK ? "" : why.text);
}

/* Phi 3 with a long context: two lists of factors, and how attention is scaled. */
static enum dti_status make_longrope(struct keys_work *work, struct dti_error *reterr)
{
    uint64_t dimensions, context, old;
    if (work->arch != DTI_MODEL_PHI3)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_SET_KEY,
                               "%s: the rope scaling longrope is known for phi3 alone, not for %s",
                               work->config->label, dti_model_arch_name(work->arch));
    if (!rope_dimensions(work, &dimensions) || dimensions > DIMENSIONS_MAX ||
        !integer_of(work, "max_position_embeddings,n_positions", "context_length", &context) ||
        !integer_of(work,
                    "original_max_position_embeddings,rope_scaling.original_max_position_"
                    "embeddings,rope_parameters.original_max_position_embeddings",
                    "rope.scaling.original_context_length", &old) ||
        old < 2)
        return fail_missing(work, "rope.scaling.attn_factor", "original_max_position_embeddings",
                            reterr);
    const struct dti_mathematics *library;
    enum dti_status status = dti_mathematics_get(&library, reterr);
    if (status != DTI_OK)
        return status;
    put_type(work, "longrope");
    const double scale = (double)context / (double)old;
    const double share = scale > 1 ? library->log(scale) / library->log((double)old) : 0;
    const float factor = (float)sqrt(1 + share);
    uint32_t bits;
    memcpy(&bits, &factor, sizeof bits);
    if (!is_given(work, "rope.scaling.attn_factor"))
        dti_gguf_edits_number(&work->keys->edits, work->key, DTI_GGUF_FLOAT32, bits);
    status = make_list(work, "long_factor", "rope_factors_long.weight", dimensions / 2, reterr);
    return status == DTI_OK ? make_list(work, "short_factor", "rope_factors_short.weight",
                                        dimensions / 2, reterr)
                            : status;
}

static enum dti_status put_rope(struct keys_work *work, struct dti_error *reterr)
{
    const struct dti_model_member *member = scaling(work, "rope_type");
    const char *word = "", *known = "default";
    size_t length = strlen(known);
    if (!member)
        member = scaling(work, "type");
    if (is_given(work, "rope.scaling.type") || !member)
        return DTI_OK;
    if (!dti_model_member_string(member, &word, &length))
        length = 0;
    if (dti_text_is(word, length, "default"))
        return DTI_OK;
    if (dti_text_is(word, length, "linear"))
        return put_linear(work, reterr);
    if (dti_text_is(word, length, "yarn"))
        return put_yarn(work, reterr);
    if (dti_text_is(word, length, "llama3"))
        return make_llama3(work, reterr);
    if (dti_text_is(word, length, "longrope") || dti_text_is(word, length, "su"))
        return make_longrope(work, reterr);
    set_key(work, "rope.scaling.type");
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_SET_KEY,
                           "%s: no rule is known for the rope scaling %s, which %s would say",
                           work->config->label, DTI_QUOTED(word, length), work->key);
}

enum dti_status dti_model_keys_read(struct dti_model_keys *ret,
                                    const struct dti_model_config *config, enum dti_model_arch arch,
                                    const struct dti_container *given, struct dti_error *reterr)
{
    struct keys_work work = {.keys = ret, .config = config, .given = given, .arch = arch};
    *ret = (struct dti_model_keys){.made_count = 0};
    dti_gguf_edits_init(&ret->edits);
    enum dti_status status = put_rows(&work, reterr);
    if (status == DTI_OK)
        status = put_rope_dimensions(&work, reterr);
    if (status == DTI_OK)
        status = put_rope(&work, reterr);
    return status == DTI_OK && ret->edits.failed ? dti_no_memory(reterr) : status;
}

void dti_model_keys_free(struct dti_model_keys *keys)
{
    dti_gguf_edits_free(&keys->edits);
    dti_pool_free(&keys->pool);
}

enum dti_model_arch dti_model_config_arch(const struct dti_model_config *config,
                                          const char **ret_class, size_t *ret_length)
{
    const struct dti_model_member *const member = dti_model_config_find(config, "architectures");
    const char *first = "", *class;
    size_t first_length = 0, length;
    enum dti_model_arch arch = DTI_MODEL_ARCHS;
    struct dti_json_reader json;
    enum dti_json_token token = DTI_JSON_ARRAY;
    dti_json_reader_init(&json, member ? member->json : "", member ? member->length : 0);
    while (member && arch == DTI_MODEL_ARCHS && dti_json_next(&json, &token) &&
           token != DTI_JSON_END) {
        if (token != DTI_JSON_STRING || json.escaped)
            continue;
        dti_json_string_value(&json, &class, &length);
        arch = dti_model_arch_of_class(class, length);
        if (first_length == 0) {
            first = class;
            first_length = length;
        }
    }
    dti_json_reader_free(&json);
    if (ret_class) {
        *ret_class = first;
        *ret_length = first_length;
    }
    return arch;
}
