/* SPDX-License-Identifier: MIT
 *
 * A file's tensor names as a tree: dot-separated parts are branches, all numeric parts share a
 * branch "#", and tensors with the same dtype and shape at one place share a leaf. One line per
 * branch that forks, one per leaf. */
#include <stdlib.h>
#include <string.h>

#include "answers/amounts.h"
#include "answers/tensors.h"
#include "cli/inspect/inspect_view.h"
#include "cli/shared/tensor_cells.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/clock.h"
#include "util/run/grown.h"
#include "util/text/escape.h"

/* Parts of a name beyond this depth stay together. */
enum { INSPECT_TREE_DEPTH = 32 };

enum inspect_branch { INSPECT_BRANCH, INSPECT_NUMBERS, INSPECT_LEAF };

#define INSPECT_NOWHERE SIZE_MAX

struct inspect_node {
    enum inspect_branch kind;
    size_t parent, first_child, last_child, next; /* or INSPECT_NOWHERE */
    const char *text;                             /* a branch's part of the name */
    size_t length;
    const struct dti_tensor *tensor; /* a leaf's first */
    size_t tensors;
    uint64_t elements, bytes;
    size_t seen; /* the first of its numbers, once the tree is complete */
    uint64_t hash;
};

/* A number from a name: at a "#", or at the level-th "#" on the path to a leaf. */
struct inspect_number {
    size_t node;
    unsigned level;
    uint64_t number;
};

struct inspect_tree {
    struct inspect_node *nodes; /* the first is the root */
    size_t count, capacity;
    size_t *slots; /* a hash table: a node's number, or INSPECT_NOWHERE */
    size_t slot_count;
    uint64_t seed;
    struct inspect_number *numbers; /* sorted, each once */
    size_t number_count, number_capacity;
};

enum { FIRST = 64, DIGITS = 18 };

/* Nodes are looked up in a hash table with a secret seed, so that no choice of names makes it slow.
 * The key of a node below its parent. */
struct key {
    size_t parent;
    enum inspect_branch kind;
    const char *text;
    size_t length;
    const struct dti_tensor *tensor; /* for leaves */
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0xBF58476D1CE4E5B9);
    return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const char *text, size_t length)
{
    hash = mix(hash, length);
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = mix(hash, word);
    }
    uint64_t last = 0;
    for (size_t i = 0; i < length; i++)
        last = last << 8 | (unsigned char)text[i];
    return mix(hash, last);
}

static uint64_t hash_of(const struct inspect_tree *tree, const struct key *key)
{
    uint64_t hash = mix(mix(tree->seed, key->parent), key->kind);
    if (key->kind == INSPECT_BRANCH)
        return mix_bytes(hash, key->text, key->length);
    if (key->kind == INSPECT_NUMBERS)
        return hash;
    const char *const dtype = dti_tensor_dtype(key->tensor);
    hash = mix_bytes(hash, dtype, strlen(dtype));
    for (unsigned i = 0; i < key->tensor->rank; i++)
        hash = mix(hash, key->tensor->shape[i]);
    return hash;
}

static bool same_tensors(const struct dti_tensor *a, const struct dti_tensor *b)
{
    return a->rank == b->rank && strcmp(dti_tensor_dtype(a), dti_tensor_dtype(b)) == 0 &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

static bool is_same(const struct inspect_node *node, const struct key *key, uint64_t hash)
{
    if (node->hash != hash || node->parent != key->parent || node->kind != key->kind)
        return false;
    if (key->kind == INSPECT_LEAF)
        return same_tensors(node->tensor, key->tensor);
    return key->kind == INSPECT_NUMBERS ||
           (node->length == key->length && memcmp(node->text, key->text, key->length) == 0);
}

/* The slot of a node, or the free one where it belongs. */
static size_t find_slot(const struct inspect_tree *tree, const struct key *key, uint64_t hash)
{
    size_t at = (size_t)hash & (tree->slot_count - 1);
    while (tree->slots[at] != INSPECT_NOWHERE && !is_same(&tree->nodes[tree->slots[at]], key, hash))
        at = (at + 1) & (tree->slot_count - 1);
    return at;
}

static bool grow(struct inspect_tree *tree)
{
    const size_t capacity = tree->capacity > 0 ? tree->capacity * 2 : FIRST;
    if (capacity > SIZE_MAX / 4 / sizeof *tree->nodes)
        return false;
    struct inspect_node *const nodes = dti_realloc(tree->nodes, capacity * sizeof *nodes);
    if (!nodes)
        return false;
    tree->nodes = nodes;
    size_t *const slots = dti_malloc(2 * capacity * sizeof *slots);
    if (!slots)
        return false;
    dti_free(tree->slots);
    tree->slots = slots;
    tree->slot_count = 2 * capacity;
    tree->capacity = capacity;
    for (size_t i = 0; i < tree->slot_count; i++)
        slots[i] = INSPECT_NOWHERE;
    for (size_t i = 0; i < tree->count; i++) {
        size_t at = (size_t)tree->nodes[i].hash & (tree->slot_count - 1);
        while (slots[at] != INSPECT_NOWHERE)
            at = (at + 1) & (tree->slot_count - 1);
        slots[at] = i;
    }
    return true;
}

static void append_child(struct inspect_tree *tree, size_t parent, size_t child)
{
    if (parent == INSPECT_NOWHERE)
        return;
    struct inspect_node *const node = &tree->nodes[parent];
    if (node->first_child == INSPECT_NOWHERE)
        node->first_child = child;
    else
        tree->nodes[node->last_child].next = child;
    node->last_child = child;
}

/* The node of a key, created if missing; INSPECT_NOWHERE when out of memory. */
static size_t node_of(struct inspect_tree *tree, const struct key *key)
{
    const uint64_t hash = hash_of(tree, key);
    if (tree->count == tree->capacity && !grow(tree))
        return INSPECT_NOWHERE;
    const size_t slot = find_slot(tree, key, hash);
    if (tree->slots[slot] != INSPECT_NOWHERE)
        return tree->slots[slot];
    const size_t at = tree->count++;
    tree->nodes[at] = (struct inspect_node){.kind = key->kind,
                                            .parent = key->parent,
                                            .first_child = INSPECT_NOWHERE,
                                            .last_child = INSPECT_NOWHERE,
                                            .next = INSPECT_NOWHERE,
                                            .text = key->text,
                                            .length = key->length,
                                            .tensor = key->tensor,
                                            .hash = hash};
    tree->slots[slot] = at;
    append_child(tree, key->parent, at);
    return at;
}

static bool add_number(struct inspect_tree *tree, size_t node, unsigned level, uint64_t number)
{
    struct inspect_number *const numbers =
        dti_grown(tree->numbers, tree->number_count, &tree->number_capacity, sizeof *numbers);
    if (!numbers)
        return false;
    tree->numbers = numbers;
    tree->numbers[tree->number_count++] =
        (struct inspect_number){.node = node, .level = level, .number = number};
    return true;
}

static void add_sums(struct inspect_node *node, const struct dti_tensor *tensor)
{
    node->tensors++;
    if (!dti_add_u64(node->elements, tensor->elements, &node->elements))
        node->elements = UINT64_MAX;
    if (!dti_add_u64(node->bytes, tensor->bytes, &node->bytes))
        node->bytes = UINT64_MAX;
}

static bool read_number(const char *text, size_t length, uint64_t *ret_number)
{
    return length <= DIGITS && dti_amount_digits(&text, &length, ret_number) && length == 0;
}

/* Descends from the root, part by part, creating missing nodes. */
static bool add_tensor(struct inspect_tree *tree, const struct dti_tensor *tensor)
{
    uint64_t numbers[INSPECT_TREE_DEPTH];
    unsigned levels = 0, depth = 0;
    size_t at = 0, taken = 0;
    bool ended = false;
    add_sums(&tree->nodes[at], tensor);
    while (!ended) {
        const char *const part = tensor->name + taken;
        const size_t rest = tensor->name_length - taken;
        const char *const dot = ++depth < INSPECT_TREE_DEPTH ? memchr(part, '.', rest) : NULL;
        struct key key = {.parent = at, .kind = INSPECT_BRANCH, .text = part};
        key.length = dot ? (size_t)(dot - part) : rest;
        if (read_number(part, key.length, &numbers[levels]))
            key.kind = INSPECT_NUMBERS;
        at = node_of(tree, &key);
        if (at == INSPECT_NOWHERE)
            return false;
        add_sums(&tree->nodes[at], tensor);
        if (key.kind == INSPECT_NUMBERS && !add_number(tree, at, 0, numbers[levels++]))
            return false;
        ended = !dot;
        taken += key.length + 1;
    }
    const struct key leaf = {.parent = at, .kind = INSPECT_LEAF, .tensor = tensor};
    at = node_of(tree, &leaf);
    if (at == INSPECT_NOWHERE)
        return false;
    add_sums(&tree->nodes[at], tensor);
    for (unsigned i = 0; i < levels; i++) {
        if (!add_number(tree, at, i, numbers[i]))
            return false;
    }
    return true;
}

static int in_order(const void *left, const void *right)
{
    const struct inspect_number *const a = left, *const b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void sort_numbers(struct inspect_tree *tree)
{
    size_t kept = 0;
    if (tree->number_count == 0)
        return;
    qsort(tree->numbers, tree->number_count, sizeof *tree->numbers, in_order);
    for (size_t i = 0; i < tree->number_count; i++) {
        if (kept == 0 || in_order(&tree->numbers[kept - 1], &tree->numbers[i]) != 0)
            tree->numbers[kept++] = tree->numbers[i];
    }
    tree->number_count = kept;
    for (size_t i = kept; i-- > 0;)
        tree->nodes[tree->numbers[i].node].seen = i;
}

static enum dti_status tree_init(struct inspect_tree *ret, const struct dti_inspect_report *report,
                                 struct dti_error *reterr)
{
    const struct key root = {.parent = INSPECT_NOWHERE, .kind = INSPECT_BRANCH, .text = ""};
    memset(ret, 0, sizeof *ret);
    ret->seed = mix((uint64_t)dti_clock_now(), (uint64_t)(uintptr_t)ret);
    bool fits = node_of(ret, &root) != INSPECT_NOWHERE;
    for (size_t i = 0; i < report->shown_count && fits; i++)
        fits = add_tensor(ret, report->shown[i]);
    if (!fits)
        return dti_no_memory(reterr);
    sort_numbers(ret);
    return DTI_OK;
}

/* Free the tree in any case. */
static void tree_free(struct inspect_tree *tree)
{
    dti_free(tree->nodes);
    dti_free(tree->slots);
    dti_free(tree->numbers);
}

/* The numbers of a node at a level: how many, and the first. */
static size_t numbers_of(const struct inspect_tree *tree, size_t node, unsigned level,
                         const struct inspect_number **ret_first)
{
    size_t at = tree->nodes[node].seen, count = 0;
    while (at < tree->number_count && tree->numbers[at].node == node &&
           tree->numbers[at].level < level)
        at++;
    while (at + count < tree->number_count && tree->numbers[at + count].node == node &&
           tree->numbers[at + count].level == level)
        count++;
    *ret_first = tree->numbers + at;
    return count;
}

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
    const size_t count = numbers_of(p->tree, node, level, &numbers);
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

/* The "#" nodes on the path to a node, outermost first. */
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
    bool reported = false;
    for (unsigned i = 0; i < levels; i++)
        expected *= numbers_of(p->tree, above[i], 0, &unused);
    if (p->tree->nodes[leaf].tensors == expected)
        return;
    for (unsigned i = 0; i < levels; i++) {
        const size_t own = numbers_of(p->tree, leaf, i, &unused);
        if (own == numbers_of(p->tree, above[i], 0, &unused))
            continue;
        add_separator(p);
        if (!reported)
            dti_buffer_puts(&p->remark, "only ");
        add_numbers(p, above[i], leaf, i);
        reported = true;
    }
    if (reported)
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
    if (p->remark.length >
        before) { /* truncates: the branch's text is also used for the next leaf */
        p->remark.data[before] = '\0';
        p->remark.length = before;
    }
}

/* Prints the line of a branch, including chains of single children. Returns the node that forks,
 * whose children are still to be printed; INSPECT_NOWHERE if there is none. */
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

/* Prints everything below the root, in the order in which names first occurred. */
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

static enum dti_status print(const struct dti_command_context *cx, const struct inspect_tree *tree,
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
    enum dti_status status = tree_init(&tree, view->report, reterr);
    if (status == DTI_OK && view->report->shown_count > 0)
        status = print(view->cx, &tree, reterr);
    tree_free(&tree);
    return status;
}
