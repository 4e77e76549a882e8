/* SPDX-License-Identifier: MIT
 *
 * Building the tree of names. Nodes are found by a hash table with a secret seed, so that no choice
 * of names makes it slow. */
#include "cli/inspect/inspect_tree.h"

#include <stdlib.h>
#include <string.h>

#include "answers/amounts.h"
#include "answers/tensors.h"
#include "dtinfo/checked.h"
#include "dtinfo/clock.h"

enum { FIRST = 64, DIGITS = 18 };

/* The key of a node below its parent. */
struct key {
    size_t parent;
    enum inspect_branch kind;
    const char *text;
    size_t length;
    const struct dti_tensor *tensor; /* of leaves */
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
    struct inspect_node *const nodes = realloc(tree->nodes, capacity * sizeof *nodes);
    if (!nodes)
        return false;
    tree->nodes = nodes;
    size_t *const slots = malloc(2 * capacity * sizeof *slots);
    if (!slots)
        return false;
    free(tree->slots);
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
    if (tree->number_count == tree->number_capacity) {
        const size_t capacity = tree->number_capacity > 0 ? tree->number_capacity * 2 : FIRST;
        if (capacity > SIZE_MAX / 2 / sizeof *tree->numbers)
            return false;
        struct inspect_number *const numbers = realloc(tree->numbers, capacity * sizeof *numbers);
        if (!numbers)
            return false;
        tree->numbers = numbers;
        tree->number_capacity = capacity;
    }
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

/* Goes down from the root, part by part, creating missing nodes. */
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

enum dti_status dti_inspect_tree_init(struct inspect_tree *ret,
                                      const struct dti_inspect_report *report,
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

void dti_inspect_tree_free(struct inspect_tree *tree)
{
    free(tree->nodes);
    free(tree->slots);
    free(tree->numbers);
}

size_t dti_inspect_tree_numbers(const struct inspect_tree *tree, size_t node, unsigned level,
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
