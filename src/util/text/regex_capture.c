/* SPDX-License-Identifier: MIT
 *
 * Finds what the groups of one pattern match: a depth-first search in the order in which Python
 * tries alternatives, which enters each node at most once per place in the name. */
#include "util/text/regex.h"

#include <string.h>

#include "util/run/allocate.h"
#include "util/run/grown.h"

enum { SLOTS = 2 * DTI_REGEX_GROUPS };
static const uint64_t VISITS = UINT64_C(1) << 27;

/* What is left to do: to go on from a node, or, if node is 0, to put back a slot's value. */
struct capture_job {
    uint32_t node, slot;
    size_t value; /* the place in the name, or the value of the slot */
};

struct capture_search {
    const struct dti_regex_program *program;
    const char *name;
    size_t length;
    uint64_t *visited; /* a bit for each node and place */
    struct capture_job *jobs;
    size_t count, capacity;
    size_t slots[SLOTS];
    bool failed; /* out of memory */
};

static void push(struct capture_search *search, uint32_t node, uint32_t slot, size_t value)
{
    struct capture_job *const jobs =
        dti_grown(search->jobs, search->count, &search->capacity, sizeof *jobs);
    search->failed = search->failed || !jobs;
    if (!jobs)
        return;
    search->jobs = jobs;
    search->jobs[search->count++] =
        (struct capture_job){.node = node, .slot = slot, .value = value};
}

/* Whether the node was entered before at this place; from now on it was. */
static bool visit(struct capture_search *search, uint32_t node, size_t at)
{
    const size_t bit = node * (search->length + 1) + at;
    const bool before = (search->visited[bit / 64] >> bit % 64 & 1) != 0;
    search->visited[bit / 64] |= UINT64_C(1) << bit % 64;
    return before;
}

/* Follows nodes until none is left or the pattern accepts the whole name. */
static bool follow(struct capture_search *search, uint32_t node, size_t at)
{
    while (node != 0 && !search->failed && !visit(search, node, at)) {
        const struct dti_regex_node *const n = &search->program->nodes[node];
        const bool more = at < search->length;
        const unsigned char byte = more ? (unsigned char)search->name[at] : 0;
        bool passes = true;
        switch ((enum dti_regex_node_kind)n->kind) {
        case DTI_NODE_BYTE:
            passes = more && byte == n->value;
            at++;
            break;
        case DTI_NODE_SET:
            passes = more && dti_regex_set_has(&search->program->sets[n->other], byte);
            at++;
            break;
        case DTI_NODE_JOIN:
            break;
        case DTI_NODE_FORK:
            push(search, n->other, 0, at);
            break;
        case DTI_NODE_BEGIN:
            passes = at == 0;
            break;
        case DTI_NODE_END:
            passes = !more || (at + 1 == search->length && byte == '\n');
            break;
        case DTI_NODE_SAVE:
            push(search, 0, n->value, search->slots[n->value]);
            search->slots[n->value] = at;
            break;
        case DTI_NODE_ACCEPT:
            if (!more)
                return true;
            passes = false;
            break;
        }
        if (!passes)
            return false;
        node = n->next;
    }
    return false;
}

static bool run(struct capture_search *search)
{
    push(search, search->program->roots[0], 0, 0);
    while (search->count > 0 && !search->failed) {
        const struct capture_job job = search->jobs[--search->count];
        if (job.node == 0)
            search->slots[job.slot] = job.value;
        else if (follow(search, job.node, job.value))
            return true;
    }
    return false;
}

enum dti_status dti_regex_capture(const struct dti_regex_program *program, const char *name,
                                  size_t length, struct dti_regex_groups *ret, bool *ret_found,
                                  struct dti_error *reterr)
{
    struct capture_search search = {.program = program, .name = name, .length = length};
    if (length >= VISITS / program->count)
        return dti_fail(reterr, DTI_BAD_INPUT, "its name is too long for a regular expression");
    const size_t bits = program->count * (length + 1);
    search.visited = dti_calloc(bits / 64 + 1, sizeof *search.visited);
    for (unsigned i = 0; i < SLOTS; i++)
        search.slots[i] = SIZE_MAX;
    *ret_found = search.visited && run(&search);
    const bool failed = !search.visited || search.failed;
    for (size_t i = 1; i < DTI_REGEX_GROUPS; i++) {
        const bool both = search.slots[2 * i] != SIZE_MAX && search.slots[2 * i + 1] != SIZE_MAX;
        ret->begin[i] = both ? search.slots[2 * i] : SIZE_MAX;
        ret->end[i] = both ? search.slots[2 * i + 1] : SIZE_MAX;
    }
    ret->begin[0] = 0;
    ret->end[0] = length;
    dti_free(search.visited);
    dti_free(search.jobs);
    return failed ? dti_no_memory(reterr) : DTI_OK;
}
