/* SPDX-License-Identifier: MIT
 *
 * The flags of a cast that its counts do not give, when requested (--fail-on). The scalar cast
 * decides what NaN and infinities raise; underflow follows from source and result. */
#include "dtinfo/loss.h"

#include <math.h>
#include <string.h>

#include "kernels/loss_tile.h"

/* What a tile has. */
struct seen {
    bool nan, inf[2], underflow; /* inf: [negative] */
};

/* Underflow: inexact, and stored below the normal numbers; or, for a dtype without zero, a number
 * below the least one. */
struct floor {
    double below;  /* of |stored|; 0 for dtypes that do not underflow */
    double source; /* of sources that are not negative; 0 for dtypes with a zero */
};

static struct floor floor_of(const struct dti_loss_rule *rule)
{
    struct dti_value least;
    if (!dti_format_is_float(&rule->dst))
        return (struct floor){0, 0};
    if (rule->dst.specials != DTI_SPECIALS_SCALE)
        return (struct floor){rule->dst_smallest_normal, 0};
    dti_decode(&rule->dst, 0, &least);
    return (struct floor){0, dti_fp64_from_value(&least)};
}

static void look(const struct floor *floor, double x, double y, struct seen *seen)
{
    seen->nan |= isnan(x) != 0;
    seen->inf[0] |= x > DBL_MAX;
    seen->inf[1] |= x < -DBL_MAX;
    seen->underflow |= ((x < y) | (x > y)) & (fabs(y) < floor->below) & (fabs(x) <= DBL_MAX);
    seen->underflow |= (x >= 0) & (x < floor->source);
}

static unsigned ask(const struct dti_loss_rule *rule, enum dti_class class, bool negative)
{
    struct dti_value value;
    struct dti_scalar scalar;
    dti_value_set(&value, negative, 0, 0);
    value.class = class;
    dti_scalar_store(&rule->cast, &value, NULL, 0, &scalar);
    return scalar.flags;
}

void dti_loss_add_flags(const struct dti_loss_rule *rule, const void *source, const void *stored,
                        size_t n, struct dti_loss *loss)
{
    const struct floor floor = floor_of(rule);
    const unsigned char *const x = source, *const y = stored;
    struct seen seen = {false, {false, false}, false};
    for (size_t i = 0; i < n; i++) {
        if (rule->hub == DTI_LOSS_HUB32) {
            float fx, fy;
            memcpy(&fx, x + i * sizeof fx, sizeof fx);
            memcpy(&fy, y + i * sizeof fy, sizeof fy);
            look(&floor, fx, fy, &seen);
        } else {
            double dx, dy;
            memcpy(&dx, x + i * sizeof dx, sizeof dx);
            memcpy(&dy, y + i * sizeof dy, sizeof dy);
            look(&floor, dx, dy, &seen);
        }
    }
    loss->flags |= seen.underflow ? DTI_FLAG_UNDERFLOW | DTI_FLAG_INEXACT : 0;
    loss->flags |= seen.nan ? ask(rule, DTI_CLASS_NAN, false) : 0;
    loss->flags |= seen.inf[0] ? ask(rule, DTI_CLASS_INF, false) : 0;
    loss->flags |= seen.inf[1] ? ask(rule, DTI_CLASS_INF, true) : 0;
}
