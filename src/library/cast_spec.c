/* SPDX-License-Identifier: MIT
 *
 * Reads struct dti_cast_spec: an enumerator may be any number, a pointer may be missing. */
#include "library/cast_spec.h"

#include <string.h>

static enum dti_status check_numbers(const struct dti_cast_spec *spec, struct dti_error *reterr)
{
    const struct {
        const char *name;
        unsigned value, last;
    } members[] = {
        {"round", spec->round, DTI_ROUND_STOCHASTIC},
        {"overflow", spec->overflow, DTI_OVERFLOW_WRAP},
        {"nan", spec->nan, DTI_NAN_CANONICAL},
        {"src_packing", spec->src_packing, DTI_PACKING_BYTES},
        {"dst_packing", spec->dst_packing, DTI_PACKING_BYTES},
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (members[i].value > members[i].last)
            return dti_fail(reterr, DTI_USAGE, "dti_cast_spec.%s is %u; it is at most %u",
                            members[i].name, members[i].value, members[i].last);
    }
    if (spec->via_count > DTI_ROUTE_MAX)
        return dti_fail(reterr, DTI_USAGE, "a cast has at most %d stages on the way, not %zu",
                        DTI_ROUTE_MAX, spec->via_count);
    if (!spec->src || !spec->dst)
        return dti_fail(reterr, DTI_USAGE, "dti_cast_spec.%s is missing",
                        spec->src ? "dst" : "src");
    for (size_t i = 0; i < spec->via_count; i++) {
        if (!spec->via[i])
            return dti_fail(reterr, DTI_USAGE, "dti_cast_spec.via[%zu] is missing", i);
    }
    return DTI_OK;
}

static enum dti_status find_rule(const char *word, const struct dti_format *dst,
                                 const struct dti_stack_rule **ret, struct dti_error *reterr)
{
    enum dti_stack stack = (enum dti_stack)0;
    while (stack < DTI_STACK_COUNT && strcmp(dti_stack_name(stack), word) != 0)
        stack = (enum dti_stack)(stack + 1);
    if (stack == DTI_STACK_COUNT)
        return dti_fail_word(reterr, DTI_UNKNOWN_OPTION, word, strlen(word),
                             "%s is not a stack whose casts can be imitated",
                             DTI_QUOTED(word, strlen(word)));
    *ret = dti_stack_find(stack, dst);
    if (!*ret)
        return dti_fail(reterr, DTI_WRONG_KIND, "%s has no %s", dti_stack_name(stack), dst->name);
    return DTI_OK;
}

static struct dti_layout layout_of(const struct dti_format *format, enum dti_packing packing,
                                   bool swapped)
{
    const bool packs = dti_format_packs(format);
    return (struct dti_layout){.packing = packs ? packing : DTI_PACKING_BYTES,
                               .swapped = swapped && dti_format_container(format) > 1};
}

static enum dti_status set_cast(const struct dti_cast_spec *spec, struct dti_request *request,
                                struct dti_error *reterr)
{
    struct dti_cast *const cast = &request->cast;
    if (spec->like)
        return find_rule(spec->like, &cast->dst, &request->rule, reterr);
    cast->via_count = spec->via_count;
    for (size_t i = 0; i < spec->via_count; i++)
        cast->via[i] = *dti_real_format(spec->via[i]);
    cast->round_given = spec->round_given;
    cast->policy.round = spec->round_given ? spec->round : DTI_ROUND_NEAREST_EVEN;
    cast->policy.overflow = spec->overflow;
    cast->policy.nan = spec->nan;
    if (cast->policy.round == DTI_ROUND_STOCHASTIC)
        cast->policy.seed = spec->seed;
    return DTI_OK;
}

enum dti_status dti_cast_spec_take(const struct dti_cast_spec *given, struct dti_request *ret,
                                   unsigned *ret_parts, struct dti_error *reterr)
{
    struct dti_cast_spec spec;
    if (!dti_struct_take(&spec, sizeof spec, given))
        return dti_struct_newer(reterr, "dti_cast_spec");
    const enum dti_status status = check_numbers(&spec, reterr);
    if (status != DTI_OK)
        return status;
    const bool from = spec.src->kind == DTI_KIND_COMPLEX, to = spec.dst->kind == DTI_KIND_COMPLEX;
    if (from != to)
        return dti_fail(
            reterr, DTI_WRONG_KIND, "%s is complex and %s is not; cast the parts, which are %s",
            from ? spec.src->name : spec.dst->name, from ? spec.dst->name : spec.src->name,
            dti_real_format(from ? spec.src : spec.dst)->name);
    const struct dti_format *const src = dti_real_format(spec.src), *const dst =
                                                                        dti_real_format(spec.dst);
    memset(ret, 0, sizeof *ret);
    ret->src = *src;
    ret->cast.dst = *dst;
    ret->src_layout = layout_of(src, spec.src_packing, spec.src_swapped);
    ret->dst_layout = layout_of(dst, spec.dst_packing, spec.dst_swapped);
    ret->flags = spec.flags;
    *ret_parts = from ? 2 : 1;
    return set_cast(&spec, ret, reterr);
}

/* Names of formats without a row define them. */
static bool same_format(const struct dti_format *a, const struct dti_format *b)
{
    return a->id == b->id && (a->id < DTI_DTYPE_COUNT || strcmp(a->name, b->name) == 0);
}

static bool same_layout(const struct dti_layout *a, const struct dti_layout *b)
{
    return a->packing == b->packing && a->swapped == b->swapped;
}

bool dti_request_equal(const struct dti_request *a, const struct dti_request *b)
{
    const struct dti_policy *const p = &a->cast.policy, *const q = &b->cast.policy;
    if (!same_format(&a->src, &b->src) || !same_format(&a->cast.dst, &b->cast.dst) ||
        !same_layout(&a->src_layout, &b->src_layout) ||
        !same_layout(&a->dst_layout, &b->dst_layout) || a->rule != b->rule ||
        a->flags != b->flags || a->cast.via_count != b->cast.via_count ||
        a->cast.round_given != b->cast.round_given || p->round != q->round ||
        p->overflow != q->overflow || p->nan != q->nan || p->seed != q->seed ||
        p->stream != q->stream)
        return false;
    for (size_t i = 0; i < a->cast.via_count; i++) {
        if (!same_format(&a->cast.via[i], &b->cast.via[i]))
            return false;
    }
    return true;
}

static uint32_t mix(uint32_t hash, unsigned more)
{
    return (hash ^ more) * UINT32_C(0x9e3779b1);
}

static unsigned key_of(const struct dti_format *format)
{
    return (unsigned)format->id * 5U + format->width * 67U + format->exp_bits * 1031U +
           (unsigned)format->bias;
}

uint32_t dti_request_hash(const struct dti_request *request)
{
    const struct dti_policy *const policy = &request->cast.policy;
    uint32_t hash = mix(key_of(&request->src), key_of(&request->cast.dst));
    hash = mix(hash, (unsigned)policy->round | (unsigned)policy->overflow << 4 |
                         (unsigned)policy->nan << 8 | (unsigned)request->cast.via_count << 12);
    const bool yes[] = {request->src_layout.swapped, request->dst_layout.swapped, request->flags,
                        request->rule != NULL};
    hash = mix(hash,
               (unsigned)request->src_layout.packing | (unsigned)request->dst_layout.packing << 4);
    for (size_t i = 0; i < sizeof yes; i++)
        hash = mix(hash, yes[i]);
    return hash ^ hash >> 15;
}
