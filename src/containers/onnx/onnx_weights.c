/* SPDX-License-Identifier: MIT
 *
 * Resolves node inputs to tensors. Innermost scope wins: a name is looked up in the node's graph,
 * then in the enclosing graph, and so on. Definitions are sorted once, so each lookup is a binary
 * search. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "containers/onnx/onnx.h"
#include "util/run/allocate.h"

enum { AXIS, BLOCK_SIZE, OUTPUT, QUANTIZE_AXIS, BITS, N, K };
static const size_t none = SIZE_MAX;

/* A name that a graph defines. */
struct definition {
    struct dti_onnx_name name;
    size_t graph;
    size_t tensor; /* none: an input */
};
struct definitions {
    const size_t *graphs;
    struct definition *list;
    size_t count;
};

static int compare_names(const struct dti_onnx_name *a, const struct dti_onnx_name *b)
{
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return memcmp(a->text, b->text, a->length);
}

static int compare_places(const struct definition *a, const struct dti_onnx_name *name,
                          size_t graph)
{
    const int order = compare_names(&a->name, name);
    if (order != 0)
        return order;
    return a->graph == graph ? 0 : a->graph < graph ? -1 : 1;
}

static int compare(const void *a, const void *b)
{
    const struct definition *const x = a, *const y = b;
    const int order = compare_places(x, &y->name, y->graph);
    if (order != 0)
        return order;
    return x->tensor == y->tensor ? 0 : x->tensor < y->tensor ? -1 : 1;
}

/* The first definition that is not before this name and graph. */
static size_t find_first(const struct definitions *all, const struct dti_onnx_name *name,
                         size_t graph)
{
    size_t low = 0, high = all->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_places(&all->list[middle], name, graph) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The tensor that a name refers to in a graph. */
static size_t find(const struct definitions *all, const struct dti_onnx_name *name, size_t graph)
{
    if (!name->text)
        return none;
    const size_t first = find_first(all, name, 0);
    if (first == all->count || compare_names(&all->list[first].name, name) != 0)
        return none; /* most inputs: outputs of other nodes */
    for (; graph != 0; graph = all->graphs[graph]) {
        const size_t at = find_first(all, name, graph);
        if (at < all->count && compare_places(&all->list[at], name, graph) == 0)
            return all->list[at].tensor;
    }
    return none;
}

static bool define(const struct dti_onnx_reading *reading, struct definitions *ret)
{
    const size_t tensors = reading->opening->container->tensor_count;
    *ret = (struct definitions){.graphs = reading->graphs};
    ret->list = dti_calloc(tensors + reading->input_count + 1, sizeof *ret->list);
    if (!ret->list)
        return false;
    for (size_t i = 0; i < tensors; i++) {
        const struct dti_onnx_tensor *const own = &reading->tensors[i];
        struct dti_onnx_name name = {own->name, own->name_length};
        if (!own->initializer) {
            name.text = own->scope ? dti_onnx_constant_of(own) : NULL;
            name.length = name.text ? strlen(name.text) : 0;
        }
        if (name.text)
            ret->list[ret->count++] = (struct definition){name, own->graph, i};
    }
    for (size_t i = 0; i < reading->input_count; i++)
        ret->list[ret->count++] =
            (struct definition){reading->inputs[i].name, reading->inputs[i].graph, none};
    qsort(ret->list, ret->count, sizeof *ret->list, compare);
    return true;
}

/* An attribute, or its default if it is absent. */
static int64_t integer_of(const struct dti_onnx_node *node, unsigned which, int64_t otherwise)
{
    return (node->given >> which & 1) != 0 ? node->integers[which] : otherwise;
}

/* The node's parameters, without tensors. An unused axis is 0. */
static struct dti_onnx_weight describe(const struct dti_onnx_node *node)
{
    static const int64_t usual_bits = 4, usual_block = 128;
    struct dti_onnx_weight ret = {.op = node->op};
    struct dti_onnx_type type;
    int64_t output = 0;
    switch (node->op) {
    case DTI_ONNX_DEQUANTIZE_LINEAR:
        ret.axis = integer_of(node, AXIS, 1);
        ret.block = integer_of(node, BLOCK_SIZE, 0);
        output = integer_of(node, OUTPUT, 0);
        break;
    case DTI_ONNX_MATMUL_NBITS:
        ret.block = integer_of(node, BLOCK_SIZE, 0);
        ret.bits = integer_of(node, BITS, usual_bits);
        ret.n = integer_of(node, N, 0);
        ret.k = integer_of(node, K, 0);
        break;
    default:
        ret.axis = integer_of(node, QUANTIZE_AXIS, 1);
        ret.block = integer_of(node, BLOCK_SIZE, usual_block);
        ret.bits = integer_of(node, BITS, usual_bits);
        break;
    }
    if (output != 0 && dti_onnx_type((uint64_t)output, &type))
        ret.output = type.format;
    const bool number = ret.output && (ret.output->id == DTI_FP32 || ret.output->id == DTI_FP16 ||
                                       ret.output->id == DTI_BF16);
    if (output != 0 && !number)
        ret.problem = "the output_dtype of its node is not that of numbers";
    return ret;
}

static bool is_same(const struct dti_onnx_weight *a, const struct dti_onnx_weight *b)
{
    return a->op == b->op && a->problem == b->problem && a->scale == b->scale &&
           a->zero == b->zero && a->axis == b->axis && a->block == b->block && a->bits == b->bits &&
           a->n == b->n && a->k == b->k && a->output == b->output;
}

static struct dti_onnx_weight look_at(const struct definitions *all,
                                      const struct dti_onnx_node *node, size_t codes)
{
    struct dti_onnx_weight ret = describe(node);
    ret.scale = find(all, &node->scale, node->graph);
    ret.zero = find(all, &node->zero, node->graph);
    if (node->referred != 0)
        ret.problem = "its node takes attributes from the caller of a function";
    else if (ret.scale == none)
        ret.problem = "its node has scales that are not stored in the model";
    else if (node->has_zero && ret.zero == none)
        ret.problem = "its node has zero points that are not stored in the model";
    else if (ret.scale == codes || ret.zero == codes)
        ret.problem = "its node takes it as codes and as scales or zero points";
    else if (node->order)
        ret.problem = "its node assigns columns to groups (g_idx), which is not supported";
    return ret;
}

/* Marks its scales and zero points, which are not codes. */
static void mark(const struct definitions *all, const struct dti_onnx_node *node,
                 struct dti_tensor *tensors, bool activations)
{
    const size_t parts[] = {find(all, &node->scale, node->graph),
                            find(all, &node->zero, node->graph)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] == none)
            continue;
        tensors[parts[i]].part_of_weight |= !activations;
        tensors[parts[i]].scales_activations |= activations;
    }
}

static bool add_weight(struct dti_onnx_reading *reading, const struct definitions *all,
                       const struct dti_onnx_node *node)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_tensor *const tensors = opening->container->tensors;
    const size_t at = find(all, &node->codes, node->graph);
    mark(all, node, tensors, at == none);
    if (at == none)
        return true;
    const struct dti_onnx_weight **const own = &opening->container->weights[at];
    struct dti_onnx_weight weight = look_at(all, node, at);
    if (*own && is_same(*own, &weight))
        return true;
    if (*own) {
        weight = **own;
        weight.problem = "nodes make numbers of it in several ways";
        if ((*own)->problem == weight.problem)
            return true;
    }
    *own = dti_opening_copy(opening, &weight, 1, sizeof weight);
    return *own != NULL;
}

bool dti_onnx_find_weights(struct dti_onnx_reading *reading)
{
    struct dti_container *const container = reading->opening->container;
    struct definitions all;
    bool good = true;
    if (reading->node_count == 0)
        return true;
    container->weights = dti_opening_array(reading->opening, container->tensor_count + 1,
                                           sizeof *container->weights);
    if (!container->weights)
        return false;
    for (size_t i = 0; i < container->tensor_count; i++)
        container->weights[i] = NULL;
    if (!define(reading, &all))
        return dti_opening_no_memory(reading->opening);
    for (size_t i = 0; i < reading->node_count && good; i++)
        good = add_weight(reading, &all, &reading->nodes[i]);
    dti_free(all.list);
    return good;
}
