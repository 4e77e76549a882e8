/* SPDX-License-Identifier: MIT
 *
 * The findings of lint.h, and those known as soon as a checkpoint is open: each tensor that the
 * reader refuses.
 *
 * Compares the configuration with the modules of the file: entries that match nothing, modules that
 * are quantized but should not be, and the reverse. A refused tensor is reported only through its
 * refusal. */
#include <string.h>

#include "files/dequant/dequant_layouts.h"
#include "files/lint/lint_parts.h"
#include "files/stored/tensor_choice.h"
#include "util/run/allocate.h"

/* Strips a leading tensor place, if it names the tensor that is reported anyway, or the file name.
 */
static const char *without_place(const struct dti_lint *lint, size_t at, const char *text)
{
    const struct dti_container *const container = lint->dequant->container;
    const struct dti_tensor *const tensor = &container->tensors[at];
    char place[DTI_TENSOR_PLACE], label[DTI_QUOTE_SIZE];
    const size_t length = strlen(dti_tensor_place(container, at, place));
    const size_t file = strlen(dti_input_label(&container->files[tensor->file].input, label));
    if (strncmp(text, place, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        return text + length + 2;
    return strncmp(text, label, file) == 0 && strncmp(text + file, ": ", 2) == 0 ? text + file + 2
                                                                                 : text;
}

/* A configuration that cannot be read is one finding. */
static enum dti_status add_refusals(struct dti_lint *lint, struct dti_error *reterr)
{
    const struct dti_file_dequant *const dequant = lint->dequant;
    enum dti_status status = DTI_OK;
    for (const struct dti_dequant_refusal *refusal = dequant->refusals; refusal && status == DTI_OK;
         refusal = refusal->next) {
        const struct dti_tensor *const tensor = &dequant->container->tensors[refusal->at];
        const bool warning =
            refusal->rule == DTI_LINT_ZERO_POINT_WRAP || refusal->rule == DTI_LINT_ZERO_POINT_LABEL;
        if (!warning && (!lint->only || dti_tensor_fits(lint->only, tensor)))
            lint->refused++;
        if (refusal->rule != DTI_LINT_CONFIG_UNREADABLE)
            status = dti_lint_add(lint, refusal->rule, tensor, reterr, "%s",
                                  without_place(lint, refusal->at, refusal->text));
    }
    return status;
}

/* Adds what the file reader notes about the index. */
static enum dti_status add_notes(struct dti_lint *lint, struct dti_error *reterr)
{
    const struct dti_container *const container = lint->dequant->container;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < container->note_count && status == DTI_OK; i++) {
        if (strcmp(container->notes[i].code, "total_size") == 0)
            status = dti_lint_add(lint, DTI_LINT_TOTAL_SIZE, NULL, reterr, "%s",
                                  container->notes[i].text);
    }
    return status;
}

/* The last component of a module's name; whether it equals a word. */
static const char *last_of(const char *name, size_t length, size_t *ret_length)
{
    size_t begin = length;
    while (begin > 0 && name[begin - 1] != '.')
        begin--;
    *ret_length = length - begin;
    return name + begin;
}

static bool is_last(const char *name, size_t length, const char *word)
{
    size_t found;
    const char *const last = last_of(name, length, &found);
    return found == strlen(word) && memcmp(last, word, found) == 0;
}

static enum dti_status add_unused(struct dti_lint *lint, const struct dti_quant_config *config,
                                  struct dti_error *reterr)
{
    const struct dti_module_rule *rule;
    enum dti_status status = DTI_OK;
    for (size_t at = 0; status == DTI_OK && (rule = dti_quant_config_unused(config, &at)) != NULL;)
        status = dti_lint_add(lint, DTI_LINT_ENTRY_UNMATCHED, NULL, reterr,
                              rule->ignore ? "%s ignores modules by %s, which matches none"
                                           : "%s has %s for modules, which matches none",
                              config->file, DTI_QUOTED(rule->text, rule->length));
    return status;
}

/* MLX lists modules individually; its other `false` members do not refer to any module. */
static enum dti_status check_own(struct dti_lint *lint, const struct dti_quant_config *config,
                                 struct dti_error *reterr)
{
    struct dti_name_order order = {.count = 0};
    enum dti_status status = DTI_OK;
    size_t at;
    if (config->own.count == 0)
        return DTI_OK;
    if (!dti_name_order_init(&order, lint->view->tensor_count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < lint->view->tensor_count; i++)
        dti_name_order_add(&order, lint->view->tensors[i].name,
                           dti_quant_module_length(&lint->view->tensors[i]));
    dti_name_order_sort(&order);
    for (size_t i = 0; i < config->own.count && status == DTI_OK; i++) {
        const struct dti_config_module *const module = &config->own.list[i];
        const bool named = !module->scheme.plain || memchr(module->path, '.', module->path_length);
        if (named && !dti_name_order_find(&order, module->path, module->path_length, &at))
            status = dti_lint_add(lint, DTI_LINT_ENTRY_UNMATCHED, NULL, reterr,
                                  "%s has %s for modules, which matches none", config->file,
                                  DTI_QUOTED(module->path, module->path_length));
    }
    dti_name_order_free(&order);
    return status;
}

/* Whether a float matrix is the weight of a linear module. Embeddings, norms and routers are mostly
 * of other classes than Linear. */
static bool is_linear(const struct dti_tensor *tensor)
{
    static const char *const others[] = {"gate", "router"};
    size_t length;
    const char *const last = last_of(tensor->name, dti_quant_module_length(tensor), &length);
    if (dti_quant_names_other(tensor->name, dti_quant_module_length(tensor)))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (is_last(last, length, others[i]))
            return false;
    }
    return true;
}

static bool is_plain_weight(const struct dti_tensor *tensor)
{
    return tensor->format && dti_format_is_float(tensor->format) && tensor->format->width > 8 &&
           tensor->rank == 2 && tensor->shape[0] > 1 && tensor->shape[1] > 1 &&
           dti_quant_name_ends(tensor->name, tensor->name_length, ".weight");
}

/* Reports an unquantized weight that a config group declares as quantized. */
static enum dti_status check_plain(struct dti_lint *lint, const struct dti_quant_config *config,
                                   const struct dti_tensor *tensor,
                                   const struct dti_quant_module *module, struct dti_error *reterr)
{
    const bool groups = config->count > 0 && !config->whole;
    const bool named = module->rule && module->rule_length == dti_quant_module_length(tensor) &&
                       memcmp(module->rule, tensor->name, module->rule_length) == 0;
    if (!groups || module->stated != DTI_STATED_QUANTIZED || !is_plain_weight(tensor) ||
        !(named || ((module->rule || config->linear) && is_linear(tensor))))
        return DTI_OK;
    return dti_lint_add(lint, DTI_LINT_NOT_QUANTIZED, tensor, reterr,
                        "it has no codes, and %s says by %s that it is quantized", config->file,
                        module->rule ? DTI_QUOTED(module->rule, module->rule_length) : "'Linear'");
}

static enum dti_status check_found(struct dti_lint *lint, const struct dti_quant_config *config,
                                   const struct dti_tensor *tensor,
                                   const struct dti_quant_module *module, struct dti_error *reterr)
{
    if (module->stated == DTI_STATED_IGNORED)
        return dti_lint_add(lint, DTI_LINT_IGNORED, tensor, reterr,
                            "it has codes, and %s says by %s that it is not quantized",
                            config->file, DTI_QUOTED(module->rule, module->rule_length));
    if (module->stated == DTI_STATED_NOTHING)
        return dti_lint_add(lint, DTI_LINT_NOT_COVERED, tensor, reterr,
                            "it has codes, and no group of %s is for it", config->file);
    return DTI_OK;
}

static enum dti_status check_modules(struct dti_lint *lint, const struct dti_quant_config *config,
                                     struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < lint->view->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &lint->view->tensors[i];
        struct dti_quant_module module;
        const bool found = dti_lint_found(lint, i) != NULL;
        if (!found && !is_plain_weight(tensor))
            continue;
        status = dti_quant_config_module(config, tensor->name, dti_quant_module_length(tensor),
                                         &module, reterr);
        if (status == DTI_OK)
            status = found ? check_found(lint, config, tensor, &module, reterr)
                           : check_plain(lint, config, tensor, &module, reterr);
    }
    return status;
}

/* With tied embeddings, loaders use the embedding and ignore any other tensor. */
static enum dti_status check_tied(struct dti_lint *lint, const struct dti_quant_config *config,
                                  struct dti_error *reterr)
{
    const struct dti_tensor *output = NULL;
    bool embedding = false;
    for (size_t i = 0; i < lint->view->tensor_count && config->model.tied; i++) {
        const struct dti_tensor *const tensor = &lint->view->tensors[i];
        const size_t length = dti_quant_module_length(tensor);
        if (dti_lint_found(lint, i) && is_last(tensor->name, length, "lm_head"))
            output = tensor;
        embedding = embedding || is_last(tensor->name, length, "embed_tokens") ||
                    is_last(tensor->name, length, "wte");
    }
    if (!output || !embedding)
        return DTI_OK;
    return dti_lint_add(lint, DTI_LINT_TIED, output, reterr,
                        "it is quantized, and config.json says tie_word_embeddings: loaders take "
                        "the embedding instead");
}

/* Compares the configuration with the modules in the file. */
static enum dti_status lint_config(struct dti_lint *lint, struct dti_error *reterr)
{
    if (!dti_container_has(lint->dequant->container->kind, DTI_TRAIT_CONFIG))
        return DTI_OK;
    const struct dti_quant_config *const config = dti_dequant_config(lint->dequant);
    struct dti_error error;
    enum dti_status status = lint->dequant->config_status;
    if (!config)
        return status == DTI_BAD_INPUT
                   ? dti_lint_add(lint,
                                  lint->dequant->config.conflict[0] != '\0'
                                      ? DTI_LINT_CONFIG_CONFLICT
                                      : DTI_LINT_CONFIG_UNREADABLE,
                                  NULL, reterr, "%s", lint->dequant->config_error.text)
                   : dti_no_memory(reterr);
    status = dti_quant_config_use(config, lint->view, &error);
    if (status == DTI_OK)
        status = add_unused(lint, config, &error);
    if (status == DTI_OK && config->mlx)
        status = check_own(lint, config, &error);
    if (status == DTI_OK && config->file)
        status = check_modules(lint, config, &error);
    if (status == DTI_OK)
        status = check_tied(lint, config, &error);
    if (status != DTI_OK)
        *reterr = error;
    return status;
}

static enum dti_status look(struct dti_lint *lint, struct dti_error *reterr)
{
    lint->tensors = dti_calloc(lint->view->tensor_count + 1, sizeof *lint->tensors);
    if (!lint->tensors || !dti_quant_names_init(&lint->names, lint->view))
        return dti_no_memory(reterr);
    enum dti_status status = add_refusals(lint, reterr);
    if (status == DTI_OK)
        status = add_notes(lint, reterr);
    if (status == DTI_OK)
        status = lint_config(lint, reterr);
    return status == DTI_OK ? dti_lint_fused(lint, reterr) : status;
}

enum dti_status dti_lint_new(struct dti_lint **ret, struct dti_container *container,
                             const char *only, const struct dti_fused_own *own,
                             struct dti_error *reterr)
{
    struct dti_lint *const lint = dti_calloc(1, sizeof *lint);
    if (!lint)
        return dti_no_memory(reterr);
    pthread_mutex_init(&lint->lock, NULL);
    lint->view = container;
    lint->dequant = container->own;
    lint->only = only;
    lint->own = own;
    lint->fused.worst = 1;
    const enum dti_status status = look(lint, reterr);
    if (status == DTI_OK)
        *ret = lint;
    else
        dti_lint_free(lint);
    return status;
}

void dti_lint_free(struct dti_lint *lint)
{
    if (!lint)
        return;
    pthread_mutex_destroy(&lint->lock);
    dti_quant_names_free(&lint->names);
    dti_pool_free(&lint->pool);
    dti_free(lint->findings);
    dti_free(lint->tensors);
    dti_free(lint);
}

bool dti_lint_wants(const struct dti_lint *lint, size_t tensor)
{
    return dti_lint_found(lint, tensor) && !lint->tensors[tensor].unreadable &&
           (!lint->only || dti_tensor_fits(lint->only, &lint->view->tensors[tensor]));
}

size_t dti_lint_tensors(const struct dti_lint *lint)
{
    size_t count = lint->refused;
    for (size_t i = 0; i < lint->view->tensor_count; i++)
        count += dti_lint_found(lint, i) &&
                 (!lint->only || dti_tensor_fits(lint->only, &lint->view->tensors[i]));
    return count;
}
