/* SPDX-License-Identifier: MIT
 *
 * Dynamic programming over a growing core of groups, as Pisinger's minimal algorithm for
 * multiple-choice knapsacks: all groups begin with their item of the linear program, and those
 * whose change would cost least come first. A state is a sum of bytes and units over all groups; a
 * group already seen has any of its items, the others have that of the program. A state is dropped
 * if another one has no more bytes and no more units, or if it cannot become better than the best
 * whole choice so far: by the slopes of the groups that are left, or by the program's price of
 * bytes and the cheapest change that is left. Both are compared as exact products of integers. Most
 * searches end after a few groups, when no state is left.
 *
 * If there are too many, only the most promising states stay, and the smallest bound of all that
 * were given up is the bound of the result. */
#include <stdlib.h>
#include <string.h>

#include "core/wide.h"
#include "files/advise/core_search.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/grown.h"

enum {
    STATES_MOST = 1 << 15,
    STATES_FEW = 1 << 6, /* after so much work: */
    WORK_MOST = 1 << 23, /* states made */
    NODES_MOST = 1 << 22
};
static const uint32_t none = UINT32_MAX;
static const uint64_t units_most = UINT64_C(1) << (DTI_RELAX_BITS + 2);

struct wide_product {
    uint64_t high, low;
};

static struct wide_product product(uint64_t a, uint64_t b)
{
    struct wide_product result;
    result.low = dti_wide_mul_add(a, b, 0, 0, &result.high);
    return result;
}

static struct wide_product sum(struct wide_product a, struct wide_product b)
{
    const unsigned carry = dti_wide_add(&a.low, b.low, 0);
    (void)dti_wide_add(&a.high, b.high, carry);
    return a;
}

static bool above(struct wide_product a, struct wide_product b)
{
    return a.high > b.high || (a.high == b.high && a.low > b.low);
}

struct search_state {
    uint64_t bytes, units;
    uint32_t node; /* the changes that led here */
    uint32_t item; /* and the one of the group at hand; or none */
};
struct search_states {
    struct search_state *list; /* bytes grow, units shrink */
    size_t count, capacity;
};
struct search_node {
    uint32_t before, item;
};

/* What the groups from one place of the order on can still do. */
struct search_rest {
    uint64_t save_rise, save_run;   /* least units that a byte less costs; run 0: none can */
    uint64_t spend_rise, spend_run; /* most units that a byte more saves; rise 0: none can */
    struct wide_product change;     /* least price of any change */
};

struct ranked_group {
    double change;
    uint32_t group;
};

struct core_search {
    const struct dti_relax *relax;
    const uint32_t *base;
    uint64_t budget, rise, run; /* price of a byte: rise / run units */
    struct ranked_group *order;
    struct search_rest *rest; /* n_order + 1 */
    uint32_t n_order;
    struct search_states states, made, merged;
    struct search_node *nodes;
    size_t n_nodes, nodes_capacity;
    uint64_t best, given_up; /* units */
    uint32_t best_node, best_item;
    bool improved;
    size_t work;
};

/* The price of changing a group's item, in units times `run`; its sign is never negative, because
 * the program's items cost least. */
static struct wide_product price(const struct core_search *core, const struct dti_relax_item *base,
                                 const struct dti_relax_item *item)
{
    struct wide_product more, less;
    if (item->bytes > base->bytes) {
        more = product(item->bytes - base->bytes, core->rise);
        less = product(base->units - item->units, core->run);
    } else {
        more = product(item->units - base->units, core->run);
        less = product(base->bytes - item->bytes, core->rise);
    }
    const unsigned borrow = dti_wide_sub(&more.low, less.low, 0);
    (void)dti_wide_sub(&more.high, less.high, borrow);
    return more;
}

static int order_groups(const void *left, const void *right)
{
    const struct ranked_group *const a = left, *const b = right;
    if (a->change != b->change)
        return a->change < b->change ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

/* Adds what a group can do to what the groups behind it can. */
static void add_rest(const struct core_search *core, uint32_t group, struct search_rest *rest)
{
    const struct dti_relax *const relax = core->relax;
    const struct dti_relax_item *const base = &relax->items[core->base[group]];
    for (uint32_t i = relax->starts[group]; i < relax->starts[group + 1]; i++) {
        const struct dti_relax_item *const item = &relax->items[i];
        if (item == base)
            continue;
        const struct wide_product change = price(core, base, item);
        if (above(rest->change, change))
            rest->change = change;
        if (item->bytes < base->bytes) {
            const uint64_t rise = item->units - base->units, run = base->bytes - item->bytes;
            if (rest->save_run == 0 || dti_relax_above(rest->save_rise, run, rise, rest->save_run))
                rest->save_rise = rise, rest->save_run = run;
        } else {
            const uint64_t rise = base->units - item->units, run = item->bytes - base->bytes;
            if (dti_relax_above(rise, rest->spend_run, rest->spend_rise, run))
                rest->spend_rise = rise, rest->spend_run = run;
        }
    }
}

/* The groups that can change, the cheapest change first. */
static void rank_groups(struct core_search *core)
{
    const struct dti_relax *const relax = core->relax;
    const struct search_rest nothing = {.spend_run = 1, .change = {UINT64_MAX / 4, 0}};
    for (uint32_t group = 0; group < relax->n_groups; group++) {
        struct search_rest alone = nothing;
        if (relax->starts[group + 1] - relax->starts[group] < 2)
            continue;
        add_rest(core, group, &alone);
        core->order[core->n_order++] = (struct ranked_group){
            (double)alone.change.high * 0x1p64 + (double)alone.change.low, group};
    }
    qsort(core->order, core->n_order, sizeof *core->order, order_groups);
    core->rest[core->n_order] = nothing;
    for (uint32_t i = core->n_order; i-- > 0;) {
        core->rest[i] = core->rest[i + 1];
        add_rest(core, core->order[i].group, &core->rest[i]);
    }
}

/* Whether no choice that agrees with this state in the groups seen so far has less than the best
 * number of units. */
static bool hopeless(const struct core_search *core, const struct search_rest *rest, uint64_t bytes,
                     uint64_t units)
{
    const uint64_t goal = core->best - 1;
    struct wide_product cost = rest->change, room = {0, 0};
    if (bytes > core->budget) {
        const uint64_t over = bytes - core->budget;
        if (units > goal || rest->save_run == 0 ||
            dti_relax_above(over, rest->save_rise, goal - units, rest->save_run))
            return true;
        cost = sum(cost, product(over, core->rise));
        room = product(goal - units, core->run);
    } else {
        /* whole already, so the best one has no more units: more than the goal */
        const uint64_t left = core->budget - bytes, excess = units - goal;
        if (dti_relax_above(excess, rest->spend_run, left, rest->spend_rise))
            return true;
        cost = sum(cost, product(excess, core->run));
        room = product(left, core->rise);
    }
    return above(cost, room);
}

/* A lower bound of the units of all choices that agree with this state in the groups seen so far,
 * which is not hopeless. */
static uint64_t bound_of(const struct core_search *core, const struct search_rest *rest,
                         const struct search_state *state)
{
    const bool over = state->bytes > core->budget;
    const uint64_t bytes = over ? state->bytes - core->budget : core->budget - state->bytes;
    const struct wide_product change =
        over ? product(bytes, rest->save_rise) : product(bytes, rest->spend_rise);
    const uint64_t run = over ? rest->save_run : rest->spend_run;
    uint64_t remainder;
    if (change.high >= run) /* more than all numbers of units */
        return over ? core->best : 0;
    const uint64_t units = dti_wide_div(change.high, change.low, run, &remainder);
    if (over)
        return state->units + units + (remainder > 0);
    return state->units > units ? state->units - units : 0;
}

static bool reserve(struct search_states *states, size_t count)
{
    if (count <= states->capacity)
        return true;
    const size_t capacity = count + count / 2 + 64;
    struct search_state *const list = dti_realloc(states->list, capacity * sizeof *list);
    if (!list)
        return false;
    states->list = list;
    states->capacity = capacity;
    return true;
}

static void give_up(struct core_search *core, uint64_t bound)
{
    core->given_up = bound < core->given_up ? bound : core->given_up;
}

/* The next state, from *at on, with another item of a group, unless it is hopeless. */
static bool next_changed(struct core_search *core, const struct search_rest *rest,
                         const struct dti_relax_item *from, uint32_t item, size_t *at,
                         struct search_state *ret)
{
    const struct dti_relax_item *const to = &core->relax->items[item];
    while (*at < core->states.count) {
        const struct search_state *const state = &core->states.list[(*at)++];
        *ret = (struct search_state){.bytes = state->bytes - from->bytes + to->bytes,
                                     .units = state->units - from->units + to->units,
                                     .node = state->node,
                                     .item = from == to ? none : item};
        core->work++;
        if (ret->bytes <= core->budget && ret->units < core->best) {
            core->best = ret->units;
            core->best_node = ret->node;
            core->best_item = ret->item;
            core->improved = true;
        }
        if (core->best == 0 || hopeless(core, rest, ret->bytes, ret->units))
            continue;
        if (ret->units < units_most)
            return true;
        give_up(core, 0);
    }
    return false;
}

static void append(struct search_states *states, const struct search_state *state)
{
    if (states->count == 0 || state->units < states->list[states->count - 1].units)
        states->list[states->count++] = *state;
}

static bool comes_first(const struct search_state *a, const struct search_state *b)
{
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->units <= b->units;
}

/* Merges the states with one item of a group into those with its items before. */
static bool merge_item(struct core_search *core, const struct search_rest *rest,
                       const struct dti_relax_item *base, uint32_t item)
{
    struct search_states *const out = &core->merged, *const made = &core->made;
    struct search_state state;
    size_t at = 0, old = 0;
    if (!reserve(out, made->count + core->states.count))
        return false;
    out->count = 0;
    bool more = next_changed(core, rest, base, item, &at, &state);
    while (more || old < made->count) {
        if (!more || (old < made->count && comes_first(&made->list[old], &state))) {
            append(out, &made->list[old++]);
        } else {
            append(out, &state);
            more = next_changed(core, rest, base, item, &at, &state);
        }
    }
    const struct search_states spare = *made;
    *made = *out;
    *out = spare;
    return true;
}

static int order_bounds(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Keeps the `most` states with the smallest bounds. */
static bool trim(struct core_search *core, const struct search_rest *rest, size_t most)
{
    struct search_states *const made = &core->made;
    if (made->count <= most)
        return true;
    uint64_t *const bounds = dti_calloc(made->count, sizeof *bounds);
    if (!bounds)
        return false;
    for (size_t i = 0; i < made->count; i++)
        bounds[i] = bound_of(core, rest, &made->list[i]);
    qsort(bounds, made->count, sizeof *bounds, order_bounds);
    const uint64_t limit = bounds[most];
    size_t ties = most, kept = 0;
    while (ties > 0 && bounds[ties - 1] == limit)
        ties--;
    ties = most - ties; /* that many with this bound stay */
    dti_free(bounds);
    give_up(core, limit);
    for (size_t i = 0; i < made->count; i++) {
        const uint64_t bound = bound_of(core, rest, &made->list[i]);
        if (bound < limit || (bound == limit && ties > 0)) {
            ties -= bound == limit;
            made->list[kept++] = made->list[i];
        }
    }
    made->count = kept;
    return true;
}

/* Records the changes of this group. Those for which there is no room are given up. */
static bool add_nodes(struct core_search *core, const struct search_rest *rest)
{
    size_t kept = 0;
    for (size_t i = 0; i < core->made.count; i++) {
        struct search_state state = core->made.list[i];
        if (state.item != none && core->n_nodes == NODES_MOST) {
            give_up(core, bound_of(core, rest, &state));
            continue;
        }
        if (state.item != none) {
            struct search_node *const nodes =
                dti_grown(core->nodes, core->n_nodes, &core->nodes_capacity, sizeof *nodes);
            if (!nodes)
                return false;
            core->nodes = nodes;
            core->nodes[core->n_nodes] = (struct search_node){state.node, state.item};
            state.node = (uint32_t)core->n_nodes++;
            state.item = none;
        }
        core->made.list[kept++] = state;
    }
    core->made.count = kept;
    return true;
}

/* Gives a group all of its items. */
static bool add_group(struct core_search *core, uint32_t place)
{
    const uint32_t group = core->order[place].group;
    const struct search_rest *const rest = &core->rest[place + 1];
    const struct dti_relax_item *const base = &core->relax->items[core->base[group]];
    core->made.count = 0;
    for (uint32_t i = core->relax->starts[group]; i < core->relax->starts[group + 1]; i++) {
        if (!merge_item(core, rest, base, i))
            return false;
    }
    if (!trim(core, rest, core->work < WORK_MOST ? STATES_MOST : STATES_FEW) ||
        !add_nodes(core, rest))
        return false;
    const struct search_states spare = core->states;
    core->states = core->made;
    core->made = spare;
    return true;
}

/* The best state's items; the group of an item is found among the starts. */
static void set_item(const struct dti_relax *relax, uint32_t item, uint32_t *items)
{
    uint32_t low = 0, high = relax->n_groups - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (relax->starts[middle] <= item)
            low = middle;
        else
            high = middle - 1;
    }
    items[low] = item;
}

static void set_items(const struct core_search *core, uint32_t *items)
{
    memcpy(items, core->base, core->relax->n_groups * sizeof *items);
    if (core->best_item != none)
        set_item(core->relax, core->best_item, items);
    for (uint32_t node = core->best_node; node != none; node = core->nodes[node].before)
        set_item(core->relax, core->nodes[node].item, items);
}

static enum dti_status search(struct core_search *core, struct dti_error *reterr)
{
    const struct dti_relax *const relax = core->relax;
    core->order = dti_calloc(relax->n_groups, sizeof *core->order);
    core->rest = dti_calloc((size_t)relax->n_groups + 1, sizeof *core->rest);
    if (!core->order || !core->rest || !reserve(&core->states, 1))
        return dti_no_memory(reterr);
    rank_groups(core);
    core->states.list[core->states.count++] =
        (struct search_state){.bytes = dti_relax_bytes(relax, core->base),
                              .units = dti_relax_units(relax, core->base),
                              .node = none,
                              .item = none};
    for (uint32_t place = 0; place < core->n_order && core->states.count > 0; place++) {
        if (dti_interrupted())
            return dti_cancelled(reterr);
        if (!add_group(core, place))
            return dti_no_memory(reterr);
    }
    return DTI_OK;
}

enum dti_status dti_core_search(const struct dti_relax *relax, uint64_t budget, uint32_t step,
                                const uint32_t *base, uint32_t *items, struct dti_core_result *ret,
                                struct dti_error *reterr)
{
    struct core_search core = {.relax = relax,
                               .base = base,
                               .budget = budget,
                               .rise = relax->steps[step].rise,
                               .run = relax->steps[step].run,
                               .best = ret->units,
                               .given_up = UINT64_MAX};
    const enum dti_status status = search(&core, reterr);
    if (status == DTI_OK) {
        if (core.improved)
            set_items(&core, items);
        ret->units = core.best;
        ret->proved = core.given_up >= core.best;
        ret->bound = ret->proved ? core.best : core.given_up;
    }
    dti_free(core.order);
    dti_free(core.rest);
    dti_free(core.nodes);
    dti_free(core.states.list);
    dti_free(core.made.list);
    dti_free(core.merged.list);
    return status;
}
