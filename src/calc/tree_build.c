/* SPDX-License-Identifier: MIT
 *
 * Nodes and names of a tree while it is parsed: growing arrays, and their bounds. */
#include "calc/tree_build.h"

/* `items` with room for `more` items behind the first `count`; NULL when memory ran out. */
static void *grown(void *items, size_t *capacity, size_t count, size_t more, size_t size)
{
    size_t wanted = *capacity ? *capacity : 16;
    if (items && count + more <= *capacity)
        return items;
    while (wanted < count + more)
        wanted *= 2;
    void *const moved = realloc(items, wanted * size);
    if (moved)
        *capacity = wanted;
    return moved;
}

enum dti_status dti_builder_init(struct dti_builder *b, const char *text, size_t length)
{
    if (length > DTI_CALC_TEXT_MAX)
        return dti_fail(b->error, DTI_BAD_VALUE,
                        "the expression has %zu characters; the limit is %d", length,
                        DTI_CALC_TEXT_MAX);
    size_t size = length + 1;
    for (enum dti_calc_op op = 0; op < DTI_CALC_OP_COUNT; op++)
        size += dti_calc_op_get(op)->body ? strlen(dti_calc_op_get(op)->body) : 0;
    b->tree = calloc(1, sizeof *b->tree);
    char *const source = b->tree ? malloc(size) : NULL;
    if (!source)
        return dti_no_memory(b->error);
    b->tree->source = source;
    b->tree->own_length = length;
    if (length > 0)
        memcpy(source, text, length);
    size_t at = length;
    for (enum dti_calc_op op = 0; op < DTI_CALC_OP_COUNT; op++) {
        const char *const body = dti_calc_op_get(op)->body;
        b->bodies[op] = at;
        if (body) {
            memcpy(source + at, body, strlen(body));
            at += strlen(body);
        }
    }
    source[at] = '\0';
    b->reader = (struct dti_reader){.source = source, .end = length};
    return DTI_OK;
}

void dti_builder_free(struct dti_builder *b)
{
    free(b->names);
    free(b->pending);
}

void dti_calc_tree_free(struct dti_calc_tree *tree)
{
    if (!tree)
        return;
    for (size_t i = 0; i < tree->node_count; i++) {
        if (tree->nodes[i].number)
            dti_number_free(tree->nodes[i].number);
        free(tree->nodes[i].number);
        free(tree->nodes[i].path);
        free(tree->nodes[i].tensor);
    }
    free(tree->nodes);
    free(tree->children);
    free(tree->source);
    free(tree);
}

enum dti_status dti_builder_add(struct dti_builder *b, enum dti_calc_node_kind kind,
                                enum dti_calc_op op, const size_t *children, size_t count,
                                size_t start, size_t end, size_t *ret)
{
    struct dti_calc_tree *const tree = b->tree;
    if (tree->node_count >= DTI_CALC_NODES_MAX)
        return dti_fail(b->error, DTI_BAD_VALUE,
                        "the expression has more than %d parts; read long lists from a file: "
                        "@list.npy",
                        DTI_CALC_NODES_MAX);
    void *const nodes =
        grown(tree->nodes, &b->node_capacity, tree->node_count, 1, sizeof *tree->nodes);
    if (!nodes)
        return dti_no_memory(b->error);
    tree->nodes = nodes;
    void *const slots =
        grown(tree->children, &b->child_capacity, tree->child_count, count, sizeof *tree->children);
    if (!slots)
        return dti_no_memory(b->error);
    tree->children = slots;
    tree->nodes[tree->node_count] = (struct dti_calc_node){.kind = kind,
                                                           .op = op,
                                                           .first = tree->child_count,
                                                           .count = count,
                                                           .text = start,
                                                           .length = end - start};
    if (count > 0)
        memcpy(tree->children + tree->child_count, children, count * sizeof *children);
    tree->child_count += count;
    *ret = tree->node_count++;
    return DTI_OK;
}

enum dti_status dti_builder_number(struct dti_builder *b, size_t *ret)
{
    struct dti_number *const number = calloc(1, sizeof *number);
    enum dti_status status =
        number ? dti_reader_number(&b->reader, number, b->error) : dti_no_memory(b->error);
    if (status == DTI_OK) {
        status = dti_builder_add(b, DTI_NODE_NUMBER, DTI_CALC_OP_COUNT, NULL, 0, b->reader.start,
                                 b->reader.start + b->reader.length, ret);
        if (status == DTI_OK) {
            b->tree->nodes[*ret].number = number;
            return DTI_OK;
        }
        dti_number_free(number);
    }
    free(number);
    return status;
}

enum dti_status dti_builder_push(struct dti_builder *b, size_t node)
{
    void *const pending =
        grown(b->pending, &b->pending_capacity, b->pending_count, 1, sizeof *b->pending);
    if (!pending)
        return dti_no_memory(b->error);
    b->pending = pending;
    b->pending[b->pending_count++] = node;
    return DTI_OK;
}

enum dti_status dti_builder_name(struct dti_builder *b, const char *text, size_t length,
                                 size_t node)
{
    if (b->name_count >= DTI_CALC_NODES_MAX)
        return dti_fail(b->error, DTI_BAD_VALUE, "more than %d names", DTI_CALC_NODES_MAX);
    void *const names = grown(b->names, &b->name_capacity, b->name_count, 1, sizeof *b->names);
    if (!names)
        return dti_no_memory(b->error);
    b->names = names;
    b->names[b->name_count++] =
        (struct dti_builder_name){.text = text, .length = length, .node = node};
    return DTI_OK;
}
