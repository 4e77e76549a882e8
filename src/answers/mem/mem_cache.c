/* SPDX-License-Identifier: MIT
 *
 * What a model keeps of its context, in bytes: each group of layers as blocks or dtypes store it.
 */
#include <stdio.h>
#include <string.h>

#include "answers/mem/mem.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"

const char *dti_mem_cache_kind(size_t kind)
{
    static const char *const words[] = {"full attention", "sliding window", "chunks",         "MLA",
                                        "indexer",        "convolution",    "recurrent state"};
    return kind < DTI_KV_KINDS ? words[kind] : NULL;
}

uint64_t dti_mem_cache_tokens(const struct dti_mem_cache *cache, const struct dti_kv_group *group)
{
    if (dti_kv_is_state(group->kind))
        return 0;
    return group->window > 0 && group->window < cache->context ? group->window : cache->context;
}

const char *dti_mem_cache_dtype(const struct dti_mem_cache *cache,
                                const struct dti_mem_cache_size *size,
                                const struct dti_kv_group *group)
{
    return !dti_kv_is_state(group->kind) ? dti_stored_name(&size->as.as)
           : group->fp32                 ? dti_format_get(DTI_FP32)->name
                                         : cache->state.name;
}

void dti_mem_cache_rule(char text[DTI_MEM_RULE], const struct dti_mem_cache *cache,
                        const struct dti_kv_group *group)
{
    typedef unsigned long long ull;
    size_t used = (size_t)snprintf(text, DTI_MEM_RULE, "%llu layer%s x %llu sequence%s",
                                   (ull)group->layers, group->layers == 1 ? "" : "s",
                                   (ull)cache->batch, cache->batch == 1 ? "" : "s");
    if (!dti_kv_is_state(group->kind))
        used += (size_t)snprintf(text + used, DTI_MEM_RULE - used, " x %llu tokens",
                                 (ull)dti_mem_cache_tokens(cache, group));
    if (group->kind == DTI_KV_LATENT || group->kind == DTI_KV_INDEXER)
        (void)snprintf(text + used, DTI_MEM_RULE - used, " x %llu",
                       (ull)(group->heads * group->key));
    else if (!dti_kv_is_state(group->kind))
        (void)snprintf(text + used, DTI_MEM_RULE - used,
                       " x (%llu x %llu keys + %llu x %llu values)", (ull)group->heads,
                       (ull)group->key, (ull)group->heads, (ull)group->value);
    else if (group->value > 1)
        (void)snprintf(text + used, DTI_MEM_RULE - used, " x %llu x %llu x %llu", (ull)group->heads,
                       (ull)group->key, (ull)group->value);
    else
        (void)snprintf(text + used, DTI_MEM_RULE - used, " x %llu x %llu", (ull)group->heads,
                       (ull)group->key);
}

enum dti_status dti_mem_add_cache_size(struct dti_mem *mem, const struct dti_mem_size *size,
                                       struct dti_error *reterr)
{
    struct dti_mem_cache *const cache = mem->cache;
    struct dti_mem_cache_size *const grown =
        dti_grown(cache->sizes, cache->size_count, &cache->size_capacity, sizeof *grown);
    if (!grown)
        return dti_no_memory(reterr);
    cache->sizes = grown;
    cache->sizes[cache->size_count++] = (struct dti_mem_cache_size){.as = *size};
    return DTI_OK;
}

/* The bytes of an array of `rows` rows of `first` x `second` elements, for each of `layers`. */
static bool add_array(const struct dti_stored *as, uint64_t layers, uint64_t rows, uint64_t first,
                      uint64_t second, uint64_t *sum)
{
    struct dti_extent extent;
    struct dti_footprint one;
    uint64_t bytes;
    return dti_mul_u64(first, second, &extent.row) &&
           dti_mul_u64(rows, extent.row, &extent.elements) && dti_footprint_of(as, &extent, &one) &&
           dti_mul_u64(one.bytes, layers, &bytes) && dti_add_u64(*sum, bytes, sum);
}

static bool sum_group(const struct dti_mem_cache *cache, const struct dti_kv_group *group,
                      struct dti_mem_cache_size *size, uint64_t *ret)
{
    const struct dti_stored states = {.format =
                                          group->fp32 ? *dti_format_get(DTI_FP32) : cache->state};
    uint64_t rows, bytes = 0;
    bool fits;
    if (dti_kv_is_state(group->kind)) {
        fits = dti_mul_u64(cache->batch, group->value, &rows) &&
               add_array(&states, group->layers, rows, group->heads, group->key, &bytes) &&
               dti_add_u64(size->state_bytes, bytes, &size->state_bytes);
    } else {
        const struct dti_stored *const as = &size->as.as;
        fits = dti_mul_u64(cache->batch, dti_mem_cache_tokens(cache, group), &rows) &&
               add_array(as, group->layers, rows, group->heads, group->key, &bytes) &&
               add_array(as, group->layers, rows, group->heads, group->value, &bytes) &&
               dti_add_u64(size->token_bytes, bytes, &size->token_bytes);
    }
    *ret = bytes;
    return fits;
}

static enum dti_status too_large(const struct dti_mem *mem, struct dti_error *reterr)
{
    const char *const text = mem->operands[0].text;
    return dti_fail(reterr, DTI_BAD_VALUE, "%s: the cache exceeds 64 bits",
                    DTI_QUOTED(text, strlen(text)));
}

/* The dtype of the model, as a default for its cache and for its states. */
static enum dti_status use_dtype(struct dti_mem *mem, struct dti_error *reterr)
{
    struct dti_mem_cache *const cache = mem->cache;
    const struct dti_kv_model *const model = &cache->model;
    const char *const text = mem->operands[0].text, *note;
    char quoted[DTI_QUOTE_SIZE], dtype[DTI_QUOTE_SIZE];
    bool needed = cache->size_count == 0;
    for (size_t i = 0; i < model->count; i++)
        needed |= dti_kv_is_state(model->groups[i].kind) && !model->groups[i].fp32;
    if (model->gguf)
        cache->state = *dti_format_get(DTI_FP16);
    else if (needed && model->dtype[0] == '\0' && cache->size_count > 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: config.json has no dtype, which its states are kept in",
                        dti_quote(quoted, text, strlen(text)));
    else if (needed && model->dtype[0] == '\0')
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_KV_DTYPE,
                               "%s: config.json has no dtype, which its cache is kept in",
                               dti_quote(quoted, text, strlen(text)));
    else if (needed && dti_format_lookup(model->dtype, &cache->state, &note, NULL) != DTI_OK)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_KV_DTYPE,
                               "%s: the dtype of config.json is not known: %s",
                               dti_quote(quoted, text, strlen(text)),
                               dti_quote(dtype, model->dtype, strlen(model->dtype)));
    return cache->size_count > 0
               ? DTI_OK
               : dti_mem_add_cache_size(mem, &(struct dti_mem_size){.as.format = cache->state},
                                        reterr);
}

/* Each dtype of the weights with each of the cache. */
static enum dti_status add_totals(struct dti_mem *mem, struct dti_error *reterr)
{
    struct dti_mem_cache *const cache = mem->cache;
    const size_t weights = mem->size_count > 0 ? mem->size_count : 1;
    cache->totals = dti_calloc(weights * cache->size_count, sizeof *cache->totals);
    if (!cache->totals)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < weights; i++) {
        for (size_t k = 0; k < cache->size_count; k++) {
            struct dti_mem_total *const total = &cache->totals[cache->total_count++];
            total->weights = mem->size_count > 0 ? &mem->sizes[i] : NULL;
            total->cache = &cache->sizes[k];
            if (!dti_add_u64(total->weights ? total->weights->bytes : 0, total->cache->bytes,
                             &total->bytes))
                return too_large(mem, reterr);
        }
    }
    return DTI_OK;
}

/* What to know about the figures. */
static void note(struct dti_mem_cache *cache, const char *code, enum dti_remedy remedy,
                 const char *text)
{
    const size_t at = cache->note_count++;
    (void)snprintf(cache->note_text[at], DTI_MEM_RULE, "%s", text);
    cache->notes[at] =
        (struct dti_note){.code = code, .text = cache->note_text[at], .remedy = remedy};
}

static void add_notes(struct dti_mem_cache *cache)
{
    char text[DTI_MEM_RULE];
    const struct dti_kv_model *const model = &cache->model;
    if (model->context > 0 && cache->context > model->context) {
        (void)snprintf(text, sizeof text,
                       "a context of %llu tokens exceeds the %llu that the model is made for (%s)",
                       (unsigned long long)cache->context, (unsigned long long)model->context,
                       model->context_member);
        note(cache, "long_context", DTI_REMEDY_NONE, text);
    }
    if (model->scheme && cache->size_count == 0)
        note(cache, "kv_cache_scheme", DTI_REMEDY_KV_DTYPE,
             "the model's quantization_config covers its cache, too, mostly in fp8");
}

enum dti_status dti_mem_cache_sum(struct dti_mem *mem, struct dti_error *reterr)
{
    struct dti_mem_cache *const cache = mem->cache;
    const struct dti_mem_operand *const operand = &mem->operands[0];
    enum dti_status status =
        operand->container
            ? dti_kv_model_read(operand->container, cache->like, &cache->model, reterr)
            : dti_kv_config_read(operand->text, cache->like, &cache->model, reterr);
    if (status == DTI_OK && !cache->context_given && cache->model.context == 0)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_CONTEXT,
                               "%s: it does not say how long its context may be",
                               DTI_QUOTED(operand->text, strlen(operand->text)));
    if (status == DTI_OK && !cache->context_given)
        cache->context = cache->model.context;
    if (status == DTI_OK) {
        add_notes(cache);
        status = use_dtype(mem, reterr);
    }
    for (size_t i = 0; i < cache->size_count && status == DTI_OK; i++) {
        struct dti_mem_cache_size *const size = &cache->sizes[i];
        for (size_t k = 0; k < cache->model.count && status == DTI_OK; k++) {
            if (!sum_group(cache, &cache->model.groups[k], size, &size->groups[k]))
                status = too_large(mem, reterr);
        }
        if (status == DTI_OK && !dti_add_u64(size->token_bytes, size->state_bytes, &size->bytes))
            status = too_large(mem, reterr);
    }
    return status == DTI_OK ? add_totals(mem, reterr) : status;
}

void dti_mem_cache_free(struct dti_mem_cache *cache)
{
    dti_free(cache->sizes);
    dti_free(cache->totals);
}
