/* SPDX-License-Identifier: MIT
 *
 * Checks a caller's cast. */
#include "library/cast_spec.h"

#include <string.h>

#include "library/context.h"
#include "util/text/nearest.h"

static enum dti_status out_of_range(struct dti_error *reterr, const char *member, int value)
{
    return dti_fail(reterr, DTI_USAGE, "dti_cast_spec.%s is %d, which is no enumerator", member,
                    value);
}

static enum dti_status check_policies(const struct dti_cast_spec *spec, struct dti_error *reterr)
{
    if ((unsigned)spec->round > DTI_ROUND_STOCHASTIC)
        return out_of_range(reterr, "round", (int)spec->round);
    if ((unsigned)spec->overflow > DTI_OVERFLOW_WRAP)
        return out_of_range(reterr, "overflow", (int)spec->overflow);
    if ((unsigned)spec->nan > DTI_NAN_CANONICAL)
        return out_of_range(reterr, "nan", (int)spec->nan);
    if (spec->via_count > DTI_ROUTE_MAX)
        return dti_fail(reterr, DTI_USAGE, "a cast has at most %d stages on the way, got %zu",
                        DTI_ROUTE_MAX, spec->via_count);
    const bool sets = spec->round_given || spec->overflow != DTI_OVERFLOW_NATIVE ||
                      spec->nan != DTI_NAN_QUIET || spec->via_count > 0;
    if (spec->like && sets)
        return dti_fail(reterr, DTI_USAGE,
                        "like '%.40s' sets route and policies; leave the others at zero",
                        spec->like);
    return DTI_OK;
}

static enum dti_status find_rule(const char *word, const struct dti_format *dst,
                                 const struct dti_stack_rule **ret, struct dti_error *reterr)
{
    struct dti_nearest nearest;
    const size_t length = strlen(word);
    dti_nearest_init(&nearest, word, length);
    size_t at;
    if (dti_nearest_find(&nearest, dti_stack_word, &at)) {
        *ret = dti_stack_find((enum dti_stack)at, dst);
        return *ret ? DTI_OK
                    : dti_fail_word(reterr, DTI_WRONG_KIND, dst->name, strlen(dst->name),
                                    "%s has no %s", word, dst->name);
    }
    (void)dti_fail_word(reterr, DTI_UNKNOWN_OPTION, word, length,
                        "%s is no library or instruction set whose casts are known",
                        DTI_QUOTED(word, length));
    dti_nearest_suggest(&nearest, reterr);
    return DTI_UNKNOWN_OPTION;
}

enum dti_status dti_cast_spec_take(struct dti_cast_spec *ret, struct dti_cast *ret_cast,
                                   const struct dti_stack_rule **ret_rule,
                                   const struct dti_cast_spec *given, struct dti_error *reterr)
{
    if (!dti_struct_take(ret, sizeof *ret, given))
        return dti_struct_newer(reterr, "dti_cast_spec");
    if (!ret->dst)
        return dti_fail(reterr, DTI_USAGE, "dti_cast_spec.dst is NULL");
    enum dti_status status = check_policies(ret, reterr);
    if (status != DTI_OK)
        return status;
    *ret_rule = NULL;
    *ret_cast = (struct dti_cast){
        .dst = *dti_real_format(ret->dst),
        .via_count = ret->via_count,
        .policy = {.round = ret->round_given ? ret->round : DTI_ROUND_NEAREST_EVEN,
                   .overflow = ret->overflow,
                   .nan = ret->nan,
                   .seed = ret->seed},
        .round_given = ret->round_given};
    for (size_t i = 0; i < ret->via_count; i++) {
        if (!ret->via[i])
            return dti_fail(reterr, DTI_USAGE, "dti_cast_spec.via[%zu] is NULL", i);
        if (ret->via[i]->kind == DTI_KIND_COMPLEX)
            return dti_fail(reterr, DTI_WRONG_KIND, "a stage on the way is real; %s is complex",
                            ret->via[i]->name);
        ret_cast->via[i] = *ret->via[i];
    }
    return ret->like ? find_rule(ret->like, &ret_cast->dst, ret_rule, reterr) : DTI_OK;
}
