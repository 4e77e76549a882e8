/* SPDX-License-Identifier: MIT
 *
 * What happened to a number, in words. */
#include "cli/cast/values.h"

#include <stdio.h>

#include "dtinfo/spell.h"

static const char *const roundings[][2] = {
    /* up, down */
    [DTI_ROUND_NEAREST_EVEN] = {"rounded up to nearest", "rounded down to nearest"},
    [DTI_ROUND_NEAREST_AWAY] = {"rounded up to nearest, ties away",
                                "rounded down to nearest, ties away"},
    [DTI_ROUND_ZERO] = {"truncated toward zero", "truncated toward zero"},
    [DTI_ROUND_UP] = {"rounded up", "rounded up"},
    [DTI_ROUND_DOWN] = {"rounded down", "rounded down"},
    [DTI_ROUND_ODD] = {"rounded up to odd", "rounded down to odd"},
    [DTI_ROUND_STOCHASTIC] = {"rounded up by chance", "rounded down by chance"},
};

const char *dti_cast_limit(const struct dti_cast_result *result, const struct dti_scalar *scalar,
                           char buffer[CAST_LIMIT_SIZE])
{
    const struct dti_cast *const route = dti_cast_route(result);
    const struct dti_format *f = dti_cast_stage(route, scalar->stage);
    bool on_the_way = scalar->stage < route->via_count;
    const char *where = on_the_way ? f->name : "", *gap = on_the_way ? " " : "";
    bool low = scalar->input.negative;
    char text[DTI_TEXT_SIZE];
    struct dti_value limit;
    uint64_t code = 0;
    if (scalar->input.class == DTI_CLASS_NAN) {
        (void)snprintf(buffer, CAST_LIMIT_SIZE, "%s%sno nan", where, gap);
        return buffer;
    }
    (void)(low ? dti_code_lowest(f, &code) : dti_code_max(f, &code));
    dti_decode(f, code, &limit);
    dti_spell_stored(text, f, code, &limit);
    (void)snprintf(buffer, CAST_LIMIT_SIZE, "%s%s%s %s", where, gap, low ? "lowest" : "max", text);
    return buffer;
}

const char *dti_cast_describe(const struct dti_cast_result *result, const struct dti_scalar *scalar,
                              char buffer[CAST_DESCRIPTION_SIZE])
{
    const struct dti_format *f = &result->target->cast.dst;
    const struct dti_cast *const route = dti_cast_route(result);
    const struct dti_policy *policy = &route->policy;
    char limit[CAST_LIMIT_SIZE];
    if (scalar->flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID)) {
        bool overflow = (scalar->flags & DTI_FLAG_OVERFLOW) != 0;
        const char *what = "no counterpart";
        if (policy->overflow == DTI_OVERFLOW_WRAP && dti_format_is_integer(f) && overflow)
            what = "wrapped to the low bits";
        else if (scalar->flags & DTI_FLAG_SATURATED)
            what = "saturated";
        else if (overflow)
            what = "beyond the range";
        (void)snprintf(buffer, CAST_DESCRIPTION_SIZE, "%s, %s%s (%s)", what,
                       overflow ? "overflow" : "",
                       scalar->flags & DTI_FLAG_INVALID ? overflow ? ", invalid" : "invalid" : "",
                       dti_cast_limit(result, scalar, limit));
    } else if (!(scalar->flags & DTI_FLAG_INEXACT)) {
        (void)snprintf(buffer, CAST_DESCRIPTION_SIZE, "exact");
    } else if (f->kind == DTI_KIND_BOOL) {
        (void)snprintf(buffer, CAST_DESCRIPTION_SIZE, "not zero, inexact");
    } else {
        enum dti_round round = result->target->rule && dti_format_is_integer(f)
                                   ? DTI_ROUND_ZERO
                                   : dti_cast_round(route, f);
        (void)snprintf(buffer, CAST_DESCRIPTION_SIZE, "%s, inexact%s",
                       roundings[round][dti_scalar_direction(scalar) < 0],
                       scalar->flags & DTI_FLAG_UNDERFLOW ? ", underflow" : "");
    }
    return buffer;
}
