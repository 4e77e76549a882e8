/* SPDX-License-Identifier: MIT
 *
 * Lazy DFA: a set of NFA nodes is a state. States and transitions are cached until the cache is
 * full, then dropped and rebuilt. Time stays within its bound, and usual names take one lookup
 * per byte. */
#include "util/text/regexes.h"

#include <stdlib.h>
#include <string.h>

#include "util/run/allocate.h"
#include "util/run/memory_pool.h"
#include "util/text/regex.h"

enum { STATES = 4096, TABLE = 2 * STATES, MEMORY = 4 << 20 };
enum { STEPS_A_BYTE = 64 };
static const uint64_t STEPS = UINT64_C(1) << 27;

struct regex_state {
    uint32_t *nodes; /* ascending, without JOIN and FORK */
    uint32_t count;
    uint32_t *accepts; /* its ACCEPT nodes */
    uint32_t accept_count;
    bool ends;          /* has an END node */
    uint16_t at_end[2]; /* state after END: [1] at the start of the name, [0] elsewhere; index + 1,
                           0 if unknown */
    uint16_t next[256]; /* transition by byte; index + 1, 0 if unknown */
};

struct dti_regexes {
    struct dti_regex_program program;
    size_t count; /* number of patterns */
    /* buffers for running, sized for the current nodes and patterns once `ready` */
    bool ready;
    uint32_t *list, *stack; /* epsilon closure: nodes found, nodes to visit */
    uint32_t listed;
    uint32_t *marks, mark; /* per node: the last closure that visited it */
    uint64_t *seen, run;   /* per pattern: the last run that matched it */
    size_t *found, found_count;
    struct dti_pool pool; /* memory of the states */
    struct regex_state *states[STATES];
    uint16_t table[TABLE]; /* hash table of states by their nodes: index + 1 */
    uint32_t state_count;
    size_t memory;
    uint16_t first;          /* index of the start state + 1 */
    unsigned long forgotten; /* number of cache resets */
    uint64_t steps, bytes;   /* steps taken; bytes of names read */
    bool trusted;            /* steps have no limit */
};

struct dti_regexes *dti_regexes_new(void)
{
    struct dti_regexes *const set = dti_calloc(1, sizeof *set);
    if (set)
        dti_regex_program_init(&set->program);
    return set;
}

static void forget(struct dti_regexes *set)
{
    dti_pool_free(&set->pool);
    memset(set->table, 0, sizeof set->table);
    set->state_count = 0;
    set->memory = 0;
    set->first = 0;
    set->forgotten++;
}

static void release(struct dti_regexes *set)
{
    dti_free(set->list);
    dti_free(set->stack);
    dti_free(set->marks);
    dti_free(set->seen);
    dti_free(set->found);
    set->list = set->stack = set->marks = NULL;
    set->seen = NULL;
    set->found = NULL;
    set->ready = false;
    forget(set);
}

void dti_regexes_free(struct dti_regexes *set)
{
    if (!set)
        return;
    release(set);
    dti_regex_program_free(&set->program);
    dti_free(set);
}

enum dti_status dti_regexes_add(struct dti_regexes *set, enum dti_regex_kind kind, const char *text,
                                size_t length, struct dti_error *reterr)
{
    release(set);
    const enum dti_status status =
        dti_regex_parse(&set->program, kind, text, length, (uint32_t)set->count, reterr);
    if (status == DTI_OK)
        set->count++;
    return status;
}

static bool prepare(struct dti_regexes *set)
{
    const size_t nodes = set->program.count + 1, patterns = set->count + 1;
    if (set->ready)
        return true;
    release(set);
    set->list = dti_calloc(nodes, sizeof *set->list);
    set->stack = dti_calloc(nodes, sizeof *set->stack);
    set->marks = dti_calloc(nodes, sizeof *set->marks);
    set->seen = dti_calloc(patterns, sizeof *set->seen);
    set->found = dti_calloc(patterns, sizeof *set->found);
    set->mark = 0;
    set->run = 0;
    set->ready = set->list && set->stack && set->marks && set->seen && set->found;
    return set->ready;
}

static void begin(struct dti_regexes *set)
{
    set->listed = 0;
    if (++set->mark == 0) {
        memset(set->marks, 0, set->program.count * sizeof *set->marks);
        set->mark = 1;
    }
}

static uint32_t push(struct dti_regexes *set, uint32_t depth, uint32_t node)
{
    if (set->marks[node] == set->mark)
        return depth;
    set->marks[node] = set->mark;
    set->stack[depth] = node;
    return depth + 1;
}

/* Lists the epsilon closure of a node. Each node is pushed at most once. */
static void reach(struct dti_regexes *set, uint32_t from, bool start, bool end)
{
    uint32_t depth = push(set, 0, from);
    while (depth > 0) {
        const uint32_t at = set->stack[--depth];
        const struct dti_regex_node *const node = &set->program.nodes[at];
        set->steps++;
        if (node->kind == DTI_NODE_JOIN || node->kind == DTI_NODE_FORK ||
            (node->kind == DTI_NODE_BEGIN && start) || (node->kind == DTI_NODE_END && end))
            depth = push(set, depth, node->next);
        if (node->kind == DTI_NODE_FORK)
            depth = push(set, depth, node->other);
        if (node->kind == DTI_NODE_BYTE || node->kind == DTI_NODE_SET ||
            node->kind == DTI_NODE_END || node->kind == DTI_NODE_ACCEPT)
            set->list[set->listed++] = at;
    }
}

static int ascending(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Finds or adds the state for the listed nodes. Returns its index + 1; 0 if memory ran out. */
static uint16_t intern(struct dti_regexes *set)
{
    uint32_t hash = 2166136261U, accepts = 0;
    bool ends = false;
    for (uint32_t i = 1; i < set->listed; i++) {
        if (set->list[i - 1] > set->list[i]) {
            qsort(set->list, set->listed, sizeof *set->list, ascending);
            break;
        }
    }
    for (uint32_t i = 0; i < set->listed; i++) {
        hash = (hash ^ set->list[i]) * 16777619U;
        accepts += set->program.nodes[set->list[i]].kind == DTI_NODE_ACCEPT;
        ends = ends || set->program.nodes[set->list[i]].kind == DTI_NODE_END;
    }
    uint32_t slot = (hash ^ hash >> 15) % TABLE;
    for (; set->table[slot] != 0; slot = (slot + 1) % TABLE) {
        const struct regex_state *const other = set->states[set->table[slot] - 1];
        if (other->count == set->listed &&
            memcmp(other->nodes, set->list, set->listed * sizeof *set->list) == 0)
            return set->table[slot];
    }
    const size_t more = sizeof(struct regex_state) + (set->listed + accepts) * sizeof(uint32_t);
    if (set->state_count == STATES || (set->memory + more > MEMORY && set->state_count > 0)) {
        forget(set);
        return intern(set); /* retry with an empty cache */
    }
    struct regex_state *const state = dti_pool_alloc(&set->pool, sizeof *state);
    uint32_t *const nodes = dti_pool_array(&set->pool, set->listed + 1, sizeof *nodes);
    uint32_t *const list = dti_pool_array(&set->pool, accepts + 1, sizeof *list);
    if (!state || !nodes || !list)
        return 0;
    *state =
        (struct regex_state){.nodes = nodes, .count = set->listed, .accepts = list, .ends = ends};
    memcpy(nodes, set->list, set->listed * sizeof *nodes);
    for (uint32_t i = 0; i < set->listed; i++) {
        if (set->program.nodes[nodes[i]].kind == DTI_NODE_ACCEPT)
            list[state->accept_count++] = nodes[i];
    }
    set->memory += more;
    set->states[set->state_count++] = state;
    set->table[slot] = (uint16_t)set->state_count;
    return set->table[slot];
}

static uint16_t first_state(struct dti_regexes *set)
{
    if (set->first != 0)
        return set->first;
    begin(set);
    for (size_t i = 0; i < DTI_REGEX_ROOTS; i++) {
        if (set->program.roots[i] != 0)
            reach(set, set->program.roots[i], true, false);
    }
    return set->first = intern(set);
}

/* The next state for a byte; 0 if memory ran out. */
static uint16_t after(struct dti_regexes *set, uint16_t number, unsigned char byte)
{
    struct regex_state *const state = set->states[number - 1];
    const unsigned long forgotten = set->forgotten;
    if (state->next[byte] != 0)
        return state->next[byte];
    begin(set);
    set->steps += state->count;
    for (uint32_t i = 0; i < state->count; i++) {
        const struct dti_regex_node *const node = &set->program.nodes[state->nodes[i]];
        if (node->kind == DTI_NODE_BYTE
                ? node->value == byte
                : node->kind == DTI_NODE_SET &&
                      dti_regex_set_has(&set->program.sets[node->other], byte))
            reach(set, node->next, false, false);
    }
    const uint16_t result = intern(set);
    if (set->forgotten == forgotten)
        state->next[byte] = result;
    return result;
}

/* The state after following END nodes; 0 if memory ran out. */
static uint16_t at_end(struct dti_regexes *set, uint16_t number, bool start)
{
    struct regex_state *const state = set->states[number - 1];
    const unsigned long forgotten = set->forgotten;
    if (!state->ends)
        return number;
    if (state->at_end[start] != 0)
        return state->at_end[start];
    begin(set);
    for (uint32_t i = 0; i < state->count; i++)
        reach(set, state->nodes[i], start, true);
    const uint16_t result = intern(set);
    if (set->forgotten == forgotten)
        state->at_end[start] = result;
    return result;
}

/* Records the patterns that match up to here. */
static void note(struct dti_regexes *set, const struct regex_state *state, bool part, bool whole)
{
    set->steps += state->accept_count;
    for (uint32_t i = 0; i < state->accept_count; i++) {
        const struct dti_regex_node *const node = &set->program.nodes[state->accepts[i]];
        if ((node->value == DTI_REGEX_PART && !part) ||
            (node->value >= DTI_REGEX_WILDCARD && !whole) || set->seen[node->other] == set->run)
            continue;
        set->seen[node->other] = set->run;
        set->found[set->found_count++] = node->other;
    }
}

static int by_number(const void *a, const void *b)
{
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

void dti_regexes_trust(struct dti_regexes *set)
{
    set->trusted = true;
}

enum dti_status dti_regexes_match(struct dti_regexes *set, const char *name, size_t length,
                                  const size_t **ret_matches, size_t *ret_count,
                                  struct dti_error *reterr)
{
    uint16_t number = prepare(set) ? first_state(set) : 0;
    set->run++;
    set->bytes += length;
    set->found_count = 0;
    for (size_t i = 0; number != 0; i++) {
        const bool end = i == length;
        if (end || (i + 1 == length && name[i] == '\n'))
            number = at_end(set, number, i == 0);
        if (number == 0)
            break;
        const struct regex_state *const state = set->states[number - 1];
        const bool part = end || name[i] == '.' || (i > 0 && name[i - 1] == '.') ||
                          (i + 1 == length && name[i] == '\n');
        note(set, state, part, end);
        if (end || state->count == 0)
            break;
        if (++set->steps > STEPS + STEPS_A_BYTE * set->bytes && !set->trusted)
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "matching names with its patterns takes more than 2^27 steps, and 64 "
                            "for each byte of the names");
        number = after(set, number, (unsigned char)name[i]);
    }
    if (number == 0)
        return dti_no_memory(reterr);
    qsort(set->found, set->found_count, sizeof *set->found, by_number);
    *ret_matches = set->found;
    *ret_count = set->found_count;
    return DTI_OK;
}
