/* SPDX-License-Identifier: MIT
 *
 * The cache of a model, for people. */
#include <string.h>

#include "cli/mem/mem_job.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"

/* "cache of a llama model: 32768 tokens x 4 sequences" */
static enum dti_status put_title(const struct dti_command_context *cx,
                                 const struct dti_mem_cache *cache, struct dti_error *reterr)
{
    struct dti_line line = dti_command_context_line(cx);
    const struct dti_kv_model *const model = &cache->model;
    dti_line_text(&line, "cache of a model of type ");
    if (!dti_line_safe(&line, DTI_STYLE_BOLD, model->type, strlen(model->type)))
        return dti_no_memory(reterr);
    if (strcmp(model->type, model->like) != 0)
        dti_line_print(&line, DTI_STYLE_PLAIN, ", by the rule of %s", model->like);
    dti_line_print(&line, DTI_STYLE_PLAIN, "   %llu token%s%s%s%s x %llu sequence%s",
                   (unsigned long long)cache->context, cache->context == 1 ? "" : "s",
                   cache->context_given ? "" : " (",
                   cache->context_given ? "" : model->context_member,
                   cache->context_given ? "" : ")", (unsigned long long)cache->batch,
                   cache->batch == 1 ? "" : "s");
    dti_line_end(&line);
    return DTI_OK;
}

/* With -v: what each layer keeps, and the product. */
static enum dti_status put_layers(const struct dti_command_context *cx,
                                  const struct dti_mem_cache *cache, struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("keeps|dtype|bytes>|rule", "");
    char text[DTI_MEM_RULE];
    const struct dti_mem_cache_size *const size = &cache->sizes[0];
    for (size_t i = 0; i < cache->model.count; i++) {
        const struct dti_kv_group *const group = &cache->model.groups[i];
        dti_text_cell(table, dti_mem_cache_kind(group->kind));
        dti_text_cell(table, dti_mem_cache_dtype(cache, size, group));
        dti_number_cell(table, size->groups[i]);
        dti_mem_cache_rule(text, cache, group);
        dti_text_cell(table, text);
    }
    return dti_put_table(cx, table, 2, reterr);
}

static void put_notes(const struct dti_command_context *cx, const struct dti_mem_cache *cache)
{
    const struct dti_kv_model *const model = &cache->model;
    char text[2 * DTI_MEM_RULE];
    if (cx->verbose) {
        (void)snprintf(text, sizeof text, "rule: %s (%s)", model->like, model->source);
        dti_mem_put_note(cx, text);
    }
    if (model->defaults[0] != '\0') {
        (void)snprintf(text, sizeof text, "not in the file, as %s takes it: %s",
                       model->gguf ? "llama.cpp" : "transformers", model->defaults);
        dti_mem_put_note(cx, text);
    }
    if (model->shared > 0) {
        (void)snprintf(text, sizeof text, "%llu of %llu layers use the cache of an earlier layer",
                       (unsigned long long)model->shared, (unsigned long long)model->layers);
        dti_mem_put_note(cx, text);
    }
    if (model->without > 0) {
        (void)snprintf(text, sizeof text, "%llu of %llu layers keep nothing",
                       (unsigned long long)model->without, (unsigned long long)model->layers);
        dti_mem_put_note(cx, text);
    }
}

static enum dti_status put_sizes(const struct dti_command_context *cx,
                                 const struct dti_mem_cache *cache, struct dti_error *reterr)
{
    bool states = false;
    for (size_t i = 0; i < cache->size_count; i++)
        states |= cache->sizes[i].state_bytes > 0;
    struct dti_table *const table =
        dti_table_titled(states ? "dtype|bytes>|binary>|decimal>|of these, states>"
                                : "dtype|bytes>|binary>|decimal>",
                         states ? "97654" : "9765");
    for (size_t i = 0; i < cache->size_count; i++) {
        dti_text_cell(table, dti_stored_name(&cache->sizes[i].as.as));
        dti_mem_cell_bytes(table, cache->sizes[i].bytes);
        if (states)
            dti_number_cell(table, cache->sizes[i].state_bytes);
    }
    return dti_put_table(cx, table, 2, reterr);
}

/* Weights and cache together. */
static enum dti_status put_totals(const struct dti_command_context *cx, const struct dti_mem *mem,
                                  struct dti_error *reterr)
{
    struct dti_line line = dti_command_context_line(cx);
    struct dti_table *const table =
        dti_table_titled("weights|cache|bytes>|binary>|decimal>|", "987658");
    for (size_t i = 0; i < mem->cache->total_count; i++) {
        const struct dti_mem_total *const total = &mem->cache->totals[i];
        dti_text_cell(table, !total->weights             ? "-"
                             : total->weights->as_stored ? "as stored"
                                                         : dti_stored_name(&total->weights->as));
        dti_text_cell(table, dti_stored_name(&total->cache->as.as));
        dti_mem_cell_bytes(table, total->bytes);
        dti_mem_cell_verdict(table, mem, &total->verdict);
    }
    dti_line_text(&line, "together");
    dti_line_end(&line);
    return dti_put_table(cx, table, 2, reterr);
}

enum dti_status dti_mem_cache_human(const struct dti_command_context *cx, const struct dti_mem *mem,
                                    struct dti_error *reterr)
{
    const struct dti_mem_cache *const cache = mem->cache;
    enum dti_status status = put_title(cx, cache, reterr);
    if (status == DTI_OK)
        status = put_sizes(cx, cache, reterr);
    if (status == DTI_OK && cx->verbose)
        status = put_layers(cx, cache, reterr);
    if (status != DTI_OK)
        return status;
    put_notes(cx, cache);
    return mem->size_count > 0 || mem->capacity.asked ? put_totals(cx, mem, reterr) : DTI_OK;
}
