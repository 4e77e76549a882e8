/* SPDX-License-Identifier: MIT
 *
 * Tensor names of a model. An initializer of the main graph keeps its name; the value of a Constant
 * gets the name of its node's output. Names in subgraphs, functions and training graphs may repeat;
 * then they are prefixed with their path, as in "if_1/then_branch/w". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "containers/onnx/onnx.h"
#include "util/run/allocate.h"

/* How detailed a name is. */
enum level { BARE, PATH, NUMBERED, LEVELS };

/* "aten_add", "pkg.torch.aten_add:2". */
static void put_function(struct dti_buffer *out, const struct dti_onnx_scope *scope)
{
    if (scope->texts[1]) {
        dti_buffer_puts(out, scope->texts[1]);
        dti_buffer_puts(out, ".");
    }
    dti_buffer_puts(out, scope->texts[0] ? scope->texts[0] : "function");
    if (scope->texts[2]) {
        dti_buffer_puts(out, ":");
        dti_buffer_puts(out, scope->texts[2]);
    }
}

/* "if_1"; for an unnamed node "If_3". */
static void put_node(struct dti_buffer *out, const struct dti_onnx_scope *scope, enum level level)
{
    const bool named = scope->texts[0] != NULL;
    dti_buffer_puts(out, named ? scope->texts[0] : scope->texts[1] ? scope->texts[1] : "node");
    if (!named || level == NUMBERED)
        dti_buffer_print(out, "%c%" PRIu64, named ? '#' : '_', scope->place);
}

static void put_scope(struct dti_buffer *out, const struct dti_onnx_scope *scope, enum level level)
{
    enum { INITIALIZATION = 1 };
    switch (scope->message) {
    case DTI_ONNX_TRAINING:
        dti_buffer_puts(out, "training");
        if (level == NUMBERED)
            dti_buffer_print(out, "#%" PRIu64, scope->place);
        break;
    case DTI_ONNX_FUNCTION:
        put_function(out, scope);
        break;
    case DTI_ONNX_NODE:
        put_node(out, scope, level);
        break;
    case DTI_ONNX_ATTRIBUTE:
        dti_buffer_puts(out, scope->texts[0] ? scope->texts[0] : "attribute");
        break;
    default: /* a graph */
        if (scope->parent && scope->parent->message == DTI_ONNX_TRAINING)
            dti_buffer_puts(out, scope->field == INITIALIZATION ? "initialization" : "algorithm");
        else
            dti_buffer_print(out, "%" PRIu64, scope->place);
        break;
    }
}

/* An attribute's first graph adds no path component of its own. */
static bool is_silent(const struct dti_onnx_scope *scope)
{
    return scope->message == DTI_ONNX_GRAPH && scope->parent &&
           scope->parent->message == DTI_ONNX_ATTRIBUTE && scope->place == 0;
}

static void put_path(struct dti_buffer *out, const struct dti_onnx_scope *scope, enum level level)
{
    const struct dti_onnx_scope *path[DTI_ONNX_DEPTH_MAX];
    size_t count = 0;
    for (; scope && count < DTI_ONNX_DEPTH_MAX; scope = scope->parent)
        path[count++] = scope;
    while (count-- > 0) {
        if (is_silent(path[count]))
            continue;
        if (out->length > 0)
            dti_buffer_puts(out, "/");
        put_scope(out, path[count], level);
    }
}

const char *dti_onnx_constant_of(const struct dti_onnx_tensor *own)
{
    enum { NAME, OP, OUTPUT };
    const struct dti_onnx_scope *const node = own->scope->parent;
    const bool is = own->scope->message == DTI_ONNX_ATTRIBUTE && node &&
                    node->message == DTI_ONNX_NODE && node->texts[OP] &&
                    strcmp(node->texts[OP], "Constant") == 0;
    return is ? node->texts[OUTPUT] : NULL;
}

static bool set_name(struct dti_onnx_reading *reading, struct dti_tensor *tensor,
                     const struct dti_onnx_tensor *own, enum level level, struct dti_buffer *name)
{
    const char *const output = dti_onnx_constant_of(own);
    if (level == BARE && !output && own->name_length > 0)
        return true;
    dti_buffer_clear(name);
    if (level > BARE || !output)
        put_path(name, own->scope, level);
    if (output || own->name_length > 0) {
        dti_buffer_puts(name, name->length > 0 ? "/" : "");
        dti_buffer_append(name, output ? output : own->name,
                          output ? strlen(output) : own->name_length);
    } else if (own->place > 0) {
        dti_buffer_print(name, "/%" PRIu64, own->place);
    }
    if (name->failed)
        return dti_opening_no_memory(reading->opening);
    reading->path_bytes += name->length;
    if (reading->path_bytes > DTI_ONNX_PATHS_MAX)
        return dti_opening_refuse(reading->opening,
                                  ": the names of tensors in subgraphs and nodes need more than %u "
                                  "bytes",
                                  (unsigned)DTI_ONNX_PATHS_MAX);
    tensor->name = dti_opening_text(reading->opening, name->data, name->length);
    tensor->name_length = (uint32_t)name->length;
    return tensor->name != NULL;
}

/* Marks names that occur more than once; *ret_any: whether there are any. */
static bool find_repeated(const struct dti_container *container, bool *again, bool *ret_any)
{
    struct dti_name_order order;
    size_t first;
    *ret_any = false;
    if (!dti_name_order_of(&order, container->tensors, container->tensor_count,
                           DTI_NAMED(struct dti_tensor, name)))
        return false;
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (dti_name_order_find(&order, tensor->name, tensor->name_length, &first) && first != i)
            again[first] = again[i] = *ret_any = true;
    }
    dti_name_order_free(&order);
    return true;
}

static bool name_all(struct dti_onnx_reading *reading, bool *again, struct dti_buffer *name)
{
    const struct dti_container *const container = reading->opening->container;
    const size_t count = container->tensor_count;
    bool any = true;
    memset(again, true, count);
    for (enum level level = BARE; level < LEVELS && any; level++) {
        for (size_t i = 0; i < count; i++) {
            const struct dti_onnx_tensor *const own = &reading->tensors[i];
            if (again[i] && own->scope &&
                !set_name(reading, &container->tensors[i], own, level, name))
                return false;
        }
        memset(again, false, count);
        if (!find_repeated(container, again, &any))
            return dti_opening_no_memory(reading->opening);
    }
    return true;
}

bool dti_onnx_name_tensors(struct dti_onnx_reading *reading)
{
    struct dti_opening *const opening = reading->opening;
    const struct dti_container *const container = opening->container;
    struct dti_buffer name;
    bool *const again = dti_malloc(container->tensor_count + 1);
    dti_buffer_init(&name);
    const bool good = again ? name_all(reading, again, &name) : dti_opening_no_memory(opening);
    dti_buffer_free(&name);
    dti_free(again);
    return good && dti_opening_check_names(opening, container->tensors, container->tensor_count,
                                           DTI_NAMED(struct dti_tensor, name),
                                           (struct dti_subject){.what = "tensor", .argument = true},
                                           " occurs twice");
}
