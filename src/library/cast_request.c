/* SPDX-License-Identifier: MIT
 *
 * Requests: made of what a caller gave, and compared. */
#include "library/cast_request.h"

#include <string.h>

static struct dti_layout layout_of(const struct dti_format *format, enum dti_packing packing,
                                   bool swapped)
{
    const bool packs = dti_format_packs(format);
    return (struct dti_layout){.packing = (unsigned char)(packs ? packing : DTI_PACKING_BYTES),
                               .swapped = swapped && dti_format_container(format) > 1};
}

static enum dti_status check_arrays(const struct dti_cast_spec *spec, struct dti_error *reterr)
{
    const unsigned from = (unsigned)spec->src_packing, to = (unsigned)spec->dst_packing;
    if (!spec->src)
        return dti_fail(reterr, DTI_USAGE, "dti_cast_spec.src is NULL");
    if (from > DTI_PACKING_BYTES || to > DTI_PACKING_BYTES)
        return dti_fail(reterr, DTI_USAGE, "dti_cast_spec.%s is %u, which is no enumerator",
                        from > DTI_PACKING_BYTES ? "src_packing" : "dst_packing",
                        from > DTI_PACKING_BYTES ? from : to);
    const bool complex = spec->src->kind == DTI_KIND_COMPLEX;
    if (complex == (spec->dst->kind == DTI_KIND_COMPLEX))
        return DTI_OK;
    const struct dti_format *const with = complex ? spec->src : spec->dst;
    return dti_fail(reterr, DTI_WRONG_KIND, "%s is complex and %s is not; cast the parts, %s",
                    with->name, complex ? spec->dst->name : spec->src->name,
                    dti_real_format(with)->name);
}

enum dti_status dti_cast_request_take(const struct dti_cast_spec *given, struct dti_request *ret,
                                      unsigned *ret_parts, struct dti_error *reterr)
{
    struct dti_cast_spec spec;
    memset(ret, 0, sizeof *ret);
    enum dti_status status = dti_cast_spec_take(&spec, &ret->cast, &ret->rule, given, reterr);
    if (status == DTI_OK)
        status = check_arrays(&spec, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_policy *const policy = &ret->cast.policy;
    if (policy->round != DTI_ROUND_STOCHASTIC)
        policy->seed = 0;
    ret->src = *dti_real_format(spec.src);
    ret->src_layout = layout_of(&ret->src, spec.src_packing, spec.src_swapped);
    ret->dst_layout = layout_of(&ret->cast.dst, spec.dst_packing, spec.dst_swapped);
    ret->flags = spec.flags;
    *ret_parts = spec.src->kind == DTI_KIND_COMPLEX ? 2 : 1;
    return DTI_OK;
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
