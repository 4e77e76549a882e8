/* SPDX-License-Identifier: MIT
 *
 * Nodes that make numbers of codes: of those, and of no others, the walk keeps the names of the
 * inputs and the attributes that matter. Which tensors they mean is known when all was read
 * (onnx_weights.c). */
#include <string.h>

#include "containers/onnx.h"
#include "dtinfo/ascii.h"

enum { NONE = DTI_ONNX_INPUTS, NAME_MAX_SIZE = 20 };

/* The places of their inputs. Sources: Operators.md of onnx 1.23, ContribOperators.md of
 * onnxruntime 1.32. */
static const struct operator_row {
    const char *name;
    bool standard; /* it is one of ONNX's as well as of onnxruntime's */
    unsigned char codes, scale, zero, order;
} operators[DTI_ONNX_OPERATORS] = {
    [DTI_ONNX_DEQUANTIZE_LINEAR] = {"DequantizeLinear", true, 0, 1, 2, NONE},
    [DTI_ONNX_MATMUL_NBITS] = {"MatMulNBits", false, 1, 2, 3, 4},
    [DTI_ONNX_GATHER_BLOCK_QUANTIZED] = {"GatherBlockQuantized", false, 0, 2, 3, NONE},
};

/* In the order of dti_onnx_arguments.integers; onnx_weights.c has their places, too. */
static const char *const attributes[DTI_ONNX_INTEGERS] = {
    "axis", "block_size", "output_dtype", "quantize_axis", "bits", "N", "K"};

bool dti_onnx_graph(struct dti_onnx_reading *reading, struct dti_onnx_frame *frame, size_t outer)
{
    frame->graph = outer;
    if (frame->message != DTI_ONNX_GRAPH && frame->message != DTI_ONNX_FUNCTION)
        return true;
    if (!dti_opening_grow(reading->opening, &reading->graphs, reading->graph_count, 2,
                          &reading->graph_capacity, sizeof *reading->graphs))
        return false;
    if (reading->graph_count == 0) /* 0 is none */
        reading->graphs[reading->graph_count++] = 0;
    frame->graph = reading->graph_count++;
    reading->graphs[frame->graph] = outer;
    return true;
}

/* A short text that must be one of ours; "" where it is longer. */
static bool read_word(struct dti_onnx_reading *reading, struct dti_onnx_text text,
                      char ret[NAME_MAX_SIZE + 1])
{
    const size_t length = text.size <= NAME_MAX_SIZE ? (size_t)text.size : 0;
    ret[length] = '\0';
    return dti_wire_copy(&reading->wire, text.at, ret, length);
}

bool dti_onnx_attribute(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    enum { NAME, REFERENCE };
    struct dti_onnx_frame *const node = &reading->frames[reading->depth - 2];
    const bool referred = frame->texts[REFERENCE].size > 0;
    char name[NAME_MAX_SIZE + 1];
    if (node->message != DTI_ONNX_NODE || (!frame->has_integer && !referred))
        return true;
    if (!read_word(reading, frame->texts[NAME], name))
        return false;
    for (unsigned i = 0; i < DTI_ONNX_INTEGERS; i++) {
        if (strcmp(name, attributes[i]) != 0)
            continue;
        node->arguments.integers[i] = frame->integer;
        node->arguments.given |= 1U << i;
        node->arguments.referred |= (referred ? 1U : 0U) << i;
    }
    return true;
}

/* A name that a tensor of ours may have. */
static bool read_name(struct dti_onnx_reading *reading, struct dti_onnx_text text,
                      struct dti_onnx_name *ret)
{
    *ret = (struct dti_onnx_name){.text = NULL};
    if (text.size == 0 || text.size > DTI_ONNX_TEXT_MAX)
        return true;
    ret->text = dti_onnx_text(reading, text, DTI_ONNX_TEXT_MAX, &ret->length);
    return ret->text != NULL;
}

static struct dti_onnx_text input_at(const struct dti_onnx_arguments *arguments, unsigned place)
{
    return place < arguments->input_count ? arguments->inputs[place]
                                          : (struct dti_onnx_text){.size = 0};
}

/* NULL: none of ours. */
static bool find_operator(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                          const struct operator_row **ret)
{
    enum { OP = 1, DOMAIN_TEXT = 3 };
    char op[NAME_MAX_SIZE + 1], domain[NAME_MAX_SIZE + 1];
    *ret = NULL;
    for (size_t i = 0; i < DTI_ONNX_OPERATORS; i++) {
        const struct operator_row *const row = &operators[i];
        if (frame->texts[OP].size != strlen(row->name)) /* most nodes are others: nothing is read */
            continue;
        if (!read_word(reading, frame->texts[OP], op) ||
            !read_word(reading, frame->texts[DOMAIN_TEXT], domain))
            return false;
        const bool standard = strcmp(domain, "ai.onnx") == 0 || frame->texts[DOMAIN_TEXT].size == 0;
        if (strcmp(op, row->name) == 0 &&
            ((row->standard && standard) || strcmp(domain, "com.microsoft") == 0))
            *ret = row;
    }
    return true;
}

bool dti_onnx_node(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    const struct dti_onnx_arguments *const arguments = &frame->arguments;
    const struct operator_row *row;
    if (!find_operator(reading, frame, &row))
        return false;
    if (!row)
        return true;
    if (reading->node_count == DTI_ONNX_NODES_MAX) {
        reading->nodes_skipped++;
        return true;
    }
    if (!dti_opening_grow(reading->opening, &reading->nodes, reading->node_count, 1,
                          &reading->node_capacity, sizeof *reading->nodes))
        return false;
    struct dti_onnx_node *const node = &reading->nodes[reading->node_count++];
    *node = (struct dti_onnx_node){.op = (enum dti_onnx_operator)(row - operators),
                                   .graph = frame->graph,
                                   .order = input_at(arguments, row->order).size > 0,
                                   .given = arguments->given,
                                   .referred = arguments->referred};
    memcpy(node->integers, arguments->integers, sizeof node->integers);
    node->has_zero = input_at(arguments, row->zero).size > 0;
    return read_name(reading, input_at(arguments, row->codes), &node->codes) &&
           read_name(reading, input_at(arguments, row->scale), &node->scale) &&
           read_name(reading, input_at(arguments, row->zero), &node->zero);
}

/* They hide what is called the same in outer graphs. Those of the model's graph hide nothing; an
 * initializer of the same name is their default. */
bool dti_onnx_input(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    struct dti_onnx_input input = {.graph = frame->graph};
    if (reading->graphs[frame->graph] == 0)
        return true;
    if (!read_name(reading, frame->texts[0], &input.name))
        return false;
    if (!input.name.text)
        return true;
    if (!dti_opening_grow(reading->opening, &reading->inputs, reading->input_count, 1,
                          &reading->input_capacity, sizeof *reading->inputs))
        return false;
    reading->inputs[reading->input_count++] = input;
    return true;
}
