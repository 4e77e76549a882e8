/* SPDX-License-Identifier: MIT
 *
 * Matches the tensors of a container with those of a template: names and shapes must be the same.
 * Names of other architectures, and their tokenizers, are left to other programs. */
#include "files/stored/model_template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/name_order.h"
#include "files/stored/quant_names.h"
#include "util/run/allocate.h"

/* The number of tensors that do not match, and the first of them. */
struct misfits {
    size_t count;
    const struct dti_tensor *first, *other;
};

static void add_misfit(struct misfits *misfits, const struct dti_tensor *tensor,
                       const struct dti_tensor *other)
{
    if (misfits->count++ == 0) {
        misfits->first = tensor;
        misfits->other = other;
    }
}

/* "[2, 3]" */
static const char *shape_words(char text[96], const struct dti_tensor *tensor)
{
    size_t used = 0;
    for (unsigned i = 0; i < tensor->rank && used < 64; i++)
        used += (size_t)snprintf(text + used, 96 - used, "%s%llu", i > 0 ? ", " : "[",
                                 (unsigned long long)tensor->shape[i]);
    (void)snprintf(text + used, 96 - used, "%s",
                   tensor->rank == 0 ? "[]"
                   : used < 64       ? "]"
                                     : ", ...]");
    return text;
}

static enum dti_status refuse_names(const struct misfits *missing,
                                    const struct dti_container *there,
                                    const struct dti_container *absent, struct dti_error *reterr)
{
    char has[DTI_QUOTE_SIZE], lacks[DTI_QUOTE_SIZE], name[DTI_QUOTE_SIZE];
    const bool one = missing->count == 1;
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "%zu of %zu tensors of %s %s missing in %s, the first is %s; names and "
                    "tokenizers of other architectures are translated by llama.cpp's "
                    "convert_hf_to_gguf.py",
                    missing->count, there->tensor_count,
                    dti_quote(has, there->path, strlen(there->path)), one ? "is" : "are",
                    dti_quote(lacks, absent->path, strlen(absent->path)),
                    dti_quote(name, missing->first->name, missing->first->name_length));
}

static enum dti_status refuse_shapes(const struct misfits *others,
                                     const struct dti_container *model, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], name[DTI_QUOTE_SIZE], own[96], wanted[96];
    const bool one = others->count == 1;
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "%zu tensor%s %s than in %s, the first is %s: %s, there %s; tensors of other "
                    "models are arranged by llama.cpp's convert_hf_to_gguf.py",
                    others->count, one ? "" : "s", one ? "has another shape" : "have other shapes",
                    dti_quote(quoted, model->path, strlen(model->path)),
                    dti_quote(name, others->first->name, others->first->name_length),
                    shape_words(own, others->first), shape_words(wanted, others->other));
}

/* "blk.0.attn_q.scale" and "blk.0.attn_q.input_scale" belong to "blk.0.attn_q.weight": one number,
 * or one per matrix. Whether the file has them depends on its type, so a template need not have
 * them. */
static bool is_of_weight(const struct dti_tensor *tensor, const struct dti_name_order *names)
{
    static const char *const suffixes[] = {".scale", ".input_scale"};
    char weight[256];
    size_t at;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t suffix = strlen(suffixes[i]);
        if (!dti_quant_name_ends(tensor->name, tensor->name_length, suffixes[i]) ||
            tensor->rank > 1 || !tensor->format || tensor->format->id != DTI_FP32 ||
            tensor->name_length + 8 > sizeof weight)
            continue;
        const size_t stem = tensor->name_length - suffix;
        memcpy(weight, tensor->name, stem);
        memcpy(weight + stem, ".weight", 8);
        if (dti_name_order_find(names, weight, stem, &at) ||
            dti_name_order_find(names, weight, stem + 7, &at))
            return true;
    }
    return false;
}

/* used: one flag per tensor of the container. */
static enum dti_status match(struct dti_model_template *ret, struct dti_container *container,
                             const struct dti_container *model, const struct dti_name_order *names,
                             unsigned char *used, struct dti_error *reterr)
{
    struct misfits absent = {.count = 0}, surplus = {.count = 0}, shapes = {.count = 0};
    for (size_t i = 0; i < model->tensor_count; i++) {
        const struct dti_tensor *const wanted = &model->tensors[i];
        size_t at;
        if (!dti_name_order_find(names, wanted->name, wanted->name_length, &at)) {
            if (!is_of_weight(wanted, names))
                add_misfit(&absent, wanted, NULL);
            continue;
        }
        const struct dti_tensor *const own = &container->tensors[at];
        if (!dti_tensor_same_shape(own, wanted))
            add_misfit(&shapes, own, wanted);
        used[at] = 1;
        ret->places[ret->view.tensor_count] = (uint32_t)at;
        ret->view.tensors[ret->view.tensor_count++] = *own;
    }
    for (size_t i = 0; i < container->tensor_count; i++) {
        if (used[i])
            continue;
        if (is_of_weight(&container->tensors[i], names)) {
            ret->places[ret->view.tensor_count] = (uint32_t)i;
            ret->view.tensors[ret->view.tensor_count++] = container->tensors[i];
        } else {
            add_misfit(&surplus, &container->tensors[i], NULL);
        }
    }
    return absent.count > 0    ? refuse_names(&absent, model, container, reterr)
           : surplus.count > 0 ? refuse_names(&surplus, container, model, reterr)
           : shapes.count > 0  ? refuse_shapes(&shapes, model, reterr)
                               : DTI_OK;
}

enum dti_status dti_model_template_init(struct dti_model_template *ret,
                                        struct dti_container *container,
                                        const struct dti_container *model, struct dti_error *reterr)
{
    struct dti_name_order names = {.rows = NULL};
    unsigned char *const used = dti_calloc(container->tensor_count + 1, 1);
    struct dti_model_template made = {.view = *container};
    const size_t most = model->tensor_count + container->tensor_count;
    made.places = dti_calloc(most + 1, sizeof *made.places);
    made.view.tensors = dti_calloc(most + 1, sizeof *made.view.tensors);
    made.view.tensor_count = 0;
    made.view.own = NULL;
    made.view.stored = container;
    made.view.stored_at = made.places;
    const bool room = used && made.places && made.view.tensors &&
                      dti_name_order_of(&names, container->tensors, container->tensor_count,
                                        DTI_NAMED(struct dti_tensor, name));
    const enum dti_status status =
        room ? match(&made, container, model, &names, used, reterr) : dti_no_memory(reterr);
    if (room)
        dti_name_order_free(&names);
    dti_free(used);
    if (status == DTI_OK)
        *ret = made;
    else
        dti_model_template_free(&made);
    return status;
}

void dti_model_template_free(struct dti_model_template *match)
{
    dti_free(match->places);
    dti_free(match->view.tensors);
    *match = (struct dti_model_template){.places = NULL};
}
