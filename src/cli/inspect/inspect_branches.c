/* SPDX-License-Identifier: MIT
 *
 * Printing the tree of names: a line for each branch that forks, a line for each leaf. */
#include <string.h>

#include "answers/tensors.h"
#include "cli/inspect/inspect_tree.h"
#include "cli/shared/tensor_cells.h"
#include "dtinfo/escape.h"

enum { NAME_WIDTH = 100, SHAPE_WIDTH = 40, RANGES = 60 };

struct printer {
    const struct inspect_tree *tree;
    struct dti_table *table;
    struct dti_buffer name, remark;
    bool failed;
};

/* "layers 0-3, 5": the name and the numbers of a node at a level; shortened if there are many
 * ranges. */
static void add_numbers(struct printer *p, size_t branch, size_t node, unsigned level)
{
    const struct inspect_node *const parent = &p->tree->nodes[p->tree->nodes[branch].parent];
    const struct inspect_number *numbers;
    const size_t count = dti_inspect_tree_numbers(p->tree, node, level, &numbers);
    char text[2 * DTI_TEXT_SIZE];
    if (parent->kind == INSPECT_BRANCH && parent->length > 0)
        dti_escape(&p->remark, parent->text, parent->length);
    else
        dti_buffer_puts(&p->remark, "#");
    const size_t before = p->remark.length;
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end + 1 < count && numbers[end + 1].number == numbers[end].number + 1)
            end++;
        if (p->remark.length - before > RANGES) {
            dti_buffer_puts(&p->remark, ", ...");
            return;
        }
        (void)snprintf(text, sizeof text, i > 0 ? ", %llu" : " %llu",
                       (unsigned long long)numbers[i].number);
        dti_buffer_puts(&p->remark, text);
        if (end > i) {
            (void)snprintf(text, sizeof text, end > i + 1 ? "-%llu" : ", %llu",
                           (unsigned long long)numbers[end].number);
            dti_buffer_puts(&p->remark, text);
        }
        i = end + 1;
    }
}

static void add_separator(struct printer *p)
{
    if (p->remark.length > 0)
        dti_buffer_puts(&p->remark, "; ");
}

/* The nodes "#" on the way to a node, the outermost first. */
static unsigned numbers_above(const struct inspect_tree *tree, size_t node,
                              size_t above[INSPECT_TREE_DEPTH])
{
    unsigned count = 0;
    for (size_t at = node; at != INSPECT_NOWHERE; at = tree->nodes[at].parent) {
        if (tree->nodes[at].kind == INSPECT_NUMBERS)
            above[count++] = at;
    }
    for (unsigned i = 0; i < count / 2; i++) {
        const size_t other = above[i];
        above[i] = above[count - 1 - i];
        above[count - 1 - i] = other;
    }
    return count;
}

/* If a leaf is not below every number: the numbers it is below. */
static void add_gaps(struct printer *p, size_t leaf)
{
    const struct inspect_number *unused;
    size_t above[INSPECT_TREE_DEPTH];
    const unsigned levels = numbers_above(p->tree, leaf, above);
    uint64_t expected = 1;
    bool told = false;
    for (unsigned i = 0; i < levels; i++)
        expected *= dti_inspect_tree_numbers(p->tree, above[i], 0, &unused);
    if (p->tree->nodes[leaf].tensors == expected)
        return;
    for (unsigned i = 0; i < levels; i++) {
        const size_t own = dti_inspect_tree_numbers(p->tree, leaf, i, &unused);
        if (own == dti_inspect_tree_numbers(p->tree, above[i], 0, &unused))
            continue;
        add_separator(p);
        if (!told)
            dti_buffer_puts(&p->remark, "only ");
        add_numbers(p, above[i], leaf, i);
        told = true;
    }
    if (told)
        return;
    add_separator(p);
    dti_buffer_puts(&p->remark, "not everywhere");
}

static void add_part(struct printer *p, const struct inspect_node *node)
{
    if (node->kind == INSPECT_NUMBERS)
        dti_buffer_puts(&p->name, "#");
    else
        dti_escape(&p->name, node->text, node->length);
}

static void put_row(struct printer *p, size_t at, enum dti_style style)
{
    const struct inspect_node *const node = &p->tree->nodes[at];
    char shape[DTI_SHAPE_SIZE];
    const bool leaf = node->kind == INSPECT_LEAF;
    dti_table_cell(p->table, style, p->name.data);
    dti_table_print(p->table, style, "%zu", node->tensors);
    dti_table_cell(p->table, style, leaf ? dti_tensor_dtype(node->tensor) : "");
    dti_table_cell(p->table, style, leaf ? dti_shape_words(shape, node->tensor) : "");
    dti_table_print(p->table, style, "%llu", (unsigned long long)node->elements);
    dti_table_print(p->table, style, "%llu", (unsigned long long)node->bytes);
    dti_table_cell(p->table, DTI_STYLE_DIM, p->remark.data);
    p->failed = p->failed || p->name.failed || p->remark.failed;
}

static bool has_one_child(const struct inspect_tree *tree, size_t at)
{
    const struct inspect_node *const node = &tree->nodes[at];
    return node->first_child != INSPECT_NOWHERE && node->first_child == node->last_child;
}

/* A node with only leaves: one place in the tree with tensors that differ. */
static bool has_leaves_only(const struct inspect_tree *tree, size_t at)
{
    size_t child = tree->nodes[at].first_child;
    while (child != INSPECT_NOWHERE && tree->nodes[child].kind == INSPECT_LEAF)
        child = tree->nodes[child].next;
    return child == INSPECT_NOWHERE;
}

static void put_leaf(struct printer *p, size_t at)
{
    const size_t before = p->remark.length;
    add_gaps(p, at);
    put_row(p, at, DTI_STYLE_PLAIN);
    if (p->remark.length > before) { /* the branch's text also holds for the next leaf */
        p->remark.data[before] = '\0';
        p->remark.length = before;
    }
}

/* The line of a branch, its only child's parts included. Returns the node that forks, whose
 * children are to be printed; INSPECT_NOWHERE when that was all. */
static size_t put_branch(struct printer *p, size_t at, unsigned depth)
{
    const struct inspect_tree *const tree = p->tree;
    dti_buffer_clear(&p->name);
    dti_buffer_clear(&p->remark);
    dti_buffer_fill(&p->name, ' ', 2 * (size_t)depth);
    if (tree->nodes[at].kind == INSPECT_LEAF) { /* next to branches that continue its name */
        dti_buffer_puts(&p->name, "(itself)");
        put_leaf(p, at);
        return INSPECT_NOWHERE;
    }
    for (;;) {
        add_part(p, &tree->nodes[at]);
        if (tree->nodes[at].kind == INSPECT_NUMBERS) {
            add_separator(p);
            add_numbers(p, at, at, 0);
        }
        if (!has_one_child(tree, at) ||
            tree->nodes[tree->nodes[at].first_child].kind == INSPECT_LEAF)
            break;
        at = tree->nodes[at].first_child;
        dti_buffer_puts(&p->name, ".");
    }
    if (!has_leaves_only(tree, at)) {
        put_row(p, at, DTI_STYLE_BOLD);
        return at;
    }
    for (size_t leaf = tree->nodes[at].first_child; leaf != INSPECT_NOWHERE;
         leaf = tree->nodes[leaf].next)
        put_leaf(p, leaf);
    return INSPECT_NOWHERE;
}

/* All below the root, in the order in which names were first met. */
static void put_branches(struct printer *p)
{
    const struct inspect_node *const nodes = p->tree->nodes;
    size_t way[INSPECT_TREE_DEPTH + 2]; /* the next node to print, at each depth */
    unsigned depth = 0;
    way[0] = nodes[0].first_child;
    for (;;) {
        const size_t at = way[depth];
        if (at == INSPECT_NOWHERE) {
            if (depth == 0)
                return;
            depth--;
            continue;
        }
        way[depth] = nodes[at].next;
        const size_t fork = put_branch(p, at, depth);
        if (fork != INSPECT_NOWHERE)
            way[++depth] = nodes[fork].first_child;
    }
}

static enum dti_status print(const struct dti_context *cx, const struct inspect_tree *tree,
                             struct dti_error *reterr)
{
    struct printer p = {
        .tree = tree,
        .table = dti_table_titled("name|tensors>|dtype|shape|elements>|bytes>|", "9487364")};
    dti_buffer_init(&p.name);
    dti_buffer_init(&p.remark);
    dti_table_limit(p.table, 0, NAME_WIDTH);
    dti_table_limit(p.table, 3, SHAPE_WIDTH);
    put_branches(&p);
    const enum dti_status status = dti_table_finish(p.table, !p.failed, cx, reterr);
    dti_buffer_free(&p.name);
    dti_buffer_free(&p.remark);
    return status;
}

enum dti_status dti_inspect_tree(const struct inspect_view *view, struct dti_error *reterr)
{
    struct inspect_tree tree;
    enum dti_status status = dti_inspect_tree_init(&tree, view->report, reterr);
    if (status == DTI_OK && view->report->shown_count > 0)
        status = print(view->cx, &tree, reterr);
    dti_inspect_tree_free(&tree);
    return status;
}
