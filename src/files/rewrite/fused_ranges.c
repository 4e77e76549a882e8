/* SPDX-License-Identifier: MIT
 *
 * Which tensors of a container share a tensor scale. */
#include "files/rewrite/fused_ranges.h"

#include <stdlib.h>

#include "files/rewrite/rewrite_parts.h"
#include "util/run/allocate.h"

static bool is_member(const struct dti_quant_names *names, size_t at)
{
    const struct dti_tensor *const tensor = &names->container->tensors[at];
    return dti_tensor_is_read(tensor) && tensor->format->kind != DTI_KIND_COMPLEX &&
           dti_quantize_fate(names, tensor, at) == DTI_FATE_CHANGED;
}

/* The parts of the matrix that can be quantized, in order. */
static void find_members(const struct dti_quant_names *names, const struct dti_fused_match *match,
                         struct dti_fused_set *ret)
{
    ret->count = 0;
    for (size_t i = 0; i < match->count; i++) {
        if (is_member(names, match->members[i]))
            ret->members[ret->count++] = (struct dti_fused_member){.tensor = match->members[i]};
    }
}

static bool add_set(struct dti_fused_ranges *ranges, const struct dti_fused_set *set)
{
    const size_t count = ranges->set_count;
    if ((count & (count - 1)) == 0) { /* grow the capacity to the next power of two */
        const size_t room = count > 0 ? 2 * count : 1;
        struct dti_fused_set *const more = dti_realloc(ranges->sets, room * sizeof *more);
        if (!more)
            return false;
        ranges->sets = more;
    }
    for (size_t i = 0; i < set->count; i++)
        ranges->set_of[set->members[i].tensor] = count;
    ranges->sets[ranges->set_count++] = *set;
    return true;
}

/* The first part of a matrix creates its set; *ret_own: some are of the user's group. */
static bool find_sets(struct dti_fused_ranges *ranges, const struct dti_quant_names *names,
                      const struct dti_fused_own *own, bool *ret_own)
{
    const struct dti_container *const container = ranges->container;
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        struct dti_fused_match match;
        struct dti_fused_set set;
        if (!dti_fused_find(own, names, tensor->name, tensor->name_length, &match))
            continue;
        *ret_own = *ret_own || match.own;
        find_members(names, &match, &set);
        if (set.count > 1 && set.members[0].tensor == i && !add_set(ranges, &set))
            return false;
    }
    return true;
}

enum dti_status dti_fused_ranges_new(struct dti_fused_ranges **ret, struct dti_container *container,
                                     const struct dti_fused_own *own, struct dti_error *reterr)
{
    struct dti_quant_names names = {.buffer = NULL};
    struct dti_fused_ranges *const ranges = dti_calloc(1, sizeof *ranges);
    if (!ranges)
        return dti_no_memory(reterr);
    ranges->container = container;
    ranges->set_of = dti_malloc((container->tensor_count + 1) * sizeof *ranges->set_of);
    for (size_t i = 0; i < container->tensor_count && ranges->set_of; i++)
        ranges->set_of[i] = SIZE_MAX;
    bool of_own = false;
    const bool found = ranges->set_of && dti_quant_names_init(&names, container) &&
                       find_sets(ranges, &names, own, &of_own);
    dti_quant_names_free(&names);
    if (found && (of_own || !own)) {
        *ret = ranges;
        return DTI_OK;
    }
    dti_fused_ranges_free(ranges);
    return found ? dti_fused_own_refuse(own, reterr) : dti_no_memory(reterr);
}

void dti_fused_ranges_free(struct dti_fused_ranges *ranges)
{
    if (!ranges)
        return;
    dti_free(ranges->sets);
    dti_free(ranges->set_of);
    dti_free(ranges);
}

struct dti_fused_set *dti_fused_set_of(const struct dti_fused_ranges *ranges, size_t tensor)
{
    const size_t set = ranges->set_of[tensor];
    return set == SIZE_MAX ? NULL : &ranges->sets[set];
}
