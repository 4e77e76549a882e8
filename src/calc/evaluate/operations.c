/* SPDX-License-Identifier: MIT
 *
 * The names of operations and events. */
#include "calc/evaluate/evaluate.h"
#include "util/text/ascii.h"

static const struct dti_calc_op_row rows[] = {
#define OPERATION(id, name, kind, least, most, help) {name, help, NULL, least, most},
#define COMPOSITE(id, name, arguments, body, help)   {name, help, body, arguments, arguments},
#include "calc/calc_operations.def"
#undef OPERATION
#undef COMPOSITE
};

enum dti_calc_op_kind dti_calc_op_kind(enum dti_calc_op op)
{
    static const enum dti_calc_op_kind kinds[] = {
#define OPERATION(id, name, kind, ...) [DTI_CALC_##id] = DTI_CALC_KIND_##kind,
#define COMPOSITE(id, ...)             [DTI_CALC_##id] = DTI_CALC_KIND_COMPOSITE,
#include "calc/calc_operations.def"
#undef OPERATION
#undef COMPOSITE
    };
    return kinds[op];
}

const struct dti_calc_op_row *dti_calc_op_get(enum dti_calc_op op)
{
    return &rows[op];
}

bool dti_calc_op_find(const char *name, size_t length, enum dti_calc_op *ret)
{
    for (enum dti_calc_op op = 0; op < DTI_CALC_OP_COUNT; op++) {
        if (dti_text_is(name, length, dti_calc_op_get(op)->name)) {
            *ret = op;
            return true;
        }
    }
    return false;
}

const char *dti_calc_event_name(enum dti_calc_event_kind kind)
{
    static const char *const names[] = {
        [DTI_CALC_OVERFLOW] = "overflow",
        [DTI_CALC_NAN] = "nan",
        [DTI_CALC_DIVIDE_BY_ZERO] = "divide_by_zero",
        [DTI_CALC_TO_ZERO] = "to_zero",
        [DTI_CALC_SUBNORMAL] = "subnormal",
        [DTI_CALC_ABSORBED] = "absorbed",
        [DTI_CALC_CANCELLATION] = "cancellation",
    };
    return names[kind];
}
