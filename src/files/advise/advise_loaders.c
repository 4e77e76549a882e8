/* SPDX-License-Identifier: MIT
 *
 * Loaders and their groups: see advise_loaders.h. A tensor of a group is known by a key: the name
 * up to its experts, or that of the first module of its matrix. Tensors with the same key are a
 * group. */
#include "files/advise/advise_loaders.h"

#include <stdlib.h>
#include <string.h>

#include "files/stored/fused_modules.h"
#include "files/stored/tensor_choice.h"
#include "util/run/allocate.h"

static const struct dti_advise_row rows[] = {
#define SAFETENSORS false
#define GGUF        true
#define ADVISE_LOADER(id, name_, gguf_, layout_, channels_, modules_, experts_, stacks_, kept_, \
                      menu_, source)                                                            \
    {.name = name_,                                                                             \
     .gguf = (gguf_),                                                                           \
     .layout = DTI_LAYOUT_##layout_,                                                            \
     .channels = (channels_),                                                                   \
     .modules = (modules_),                                                                     \
     .experts = (experts_),                                                                     \
     .stacks = (stacks_),                                                                       \
     .kept = kept_,                                                                             \
     .menu = menu_},
#include "files/advise/advise_loaders.def"
#undef SAFETENSORS
#undef GGUF
};

const struct dti_advise_row *dti_advise_row_of(enum dti_advise_loader loader)
{
    return &rows[loader];
}

bool dti_advise_takes(const struct dti_advise_row *row, const struct dti_tensor *tensor)
{
    return tensor->format && dti_format_is_float(tensor->format) && tensor->format->width > 8 &&
           (tensor->rank == 2 || (tensor->rank == 3 && row->stacks)) && tensor->elements > 0 &&
           !dti_tensor_refusal(tensor) &&
           dti_quant_name_ends(tensor->name, tensor->name_length, ".weight") &&
           !dti_tensor_fits(row->kept, tensor);
}

struct group_key {
    const char *text;
    size_t length;
    uint32_t tensor;
};

static int compare_texts(const struct group_key *a, const struct group_key *b)
{
    const size_t shorter = a->length < b->length ? a->length : b->length;
    const int texts = memcmp(a->text, b->text, shorter);
    return texts != 0 ? texts : (a->length > b->length) - (a->length < b->length);
}

static int compare(const void *a, const void *b)
{
    const struct group_key *const one = a, *const other = b;
    const int texts = compare_texts(one, other);
    return texts != 0 ? texts : (one->tensor > other->tensor) - (one->tensor < other->tensor);
}

/* The length of "model.layers.0.mlp.experts."; 0: it is no expert's. */
static size_t experts_of(const struct dti_tensor *tensor)
{
    static const char experts[] = ".experts.";
    enum { LENGTH = sizeof experts - 1 };
    for (size_t end = LENGTH; end <= tensor->name_length; end++) {
        if (memcmp(tensor->name + end - LENGTH, experts, LENGTH) == 0)
            return end;
    }
    return 0;
}

static struct group_key key_of(const struct dti_advise_row *row,
                               const struct dti_quant_names *names, uint32_t at)
{
    const struct dti_tensor *const tensor = &names->container->tensors[at];
    struct group_key ret = {.text = tensor->name, .length = tensor->name_length, .tensor = at};
    const size_t experts = row->experts ? experts_of(tensor) : 0;
    struct dti_fused_match match;
    if (experts > 0) {
        ret.length = experts;
    } else if (row->modules &&
               dti_fused_find(NULL, names, tensor->name, tensor->name_length, &match)) {
        const struct dti_tensor *const first = &names->container->tensors[match.members[0]];
        ret.text = first->name;
        ret.length = first->name_length;
    }
    return ret;
}

enum dti_status dti_advise_groups(const struct dti_advise_row *row,
                                  const struct dti_container *container, uint32_t *ret,
                                  struct dti_error *reterr)
{
    const size_t count = container->tensor_count;
    struct dti_quant_names names = {.buffer = NULL};
    struct group_key *const keys = dti_malloc((count + 1) * sizeof *keys);
    if (!keys || !dti_quant_names_init(&names, container)) {
        dti_free(keys);
        return dti_no_memory(reterr);
    }
    for (size_t i = 0; i < count; i++)
        keys[i] = key_of(row, &names, (uint32_t)i);
    if (count > 0)
        qsort(keys, count, sizeof *keys, compare);
    for (size_t i = 0; i < count; i++) {
        const bool same = i > 0 && compare_texts(&keys[i - 1], &keys[i]) == 0;
        ret[keys[i].tensor] = same ? ret[keys[i - 1].tensor] : keys[i].tensor;
    }
    dti_quant_names_free(&names);
    dti_free(keys);
    return DTI_OK;
}
