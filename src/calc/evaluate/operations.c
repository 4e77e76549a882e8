/* SPDX-License-Identifier: MIT
 *
 * The names of operations and events. */
#include <stddef.h>
#include <string.h>

#include "calc/evaluate/evaluate.h"
#include "util/text/ascii.h"
#include "util/text/row_texts.h"

/* Help, and the body of a composite. */
static const struct op_texts {
#define OPERATION(id, name, kind, least, most, help) char DTI_ROW_TEXT[sizeof(help "\0")];
#define COMPOSITE(id, name, arguments, body, help)   char DTI_ROW_TEXT[sizeof(help "\0" body)];
#include "calc/calc_operations.def"
#undef OPERATION
#undef COMPOSITE
} texts = {
#define OPERATION(id, name, kind, least, most, help) help "\0",
#define COMPOSITE(id, name, arguments, body, help)   help "\0" body,
#include "calc/calc_operations.def"
#undef OPERATION
#undef COMPOSITE
};

#define TEXTS offsetof(struct op_texts, DTI_ROW_TEXT)
static const struct dti_calc_op_row rows[] = {
#define OPERATION(id, name, kind, least, most, help) {name, least, most, TEXTS},
#define COMPOSITE(id, name, arguments, body, help)   {name, arguments, arguments, TEXTS},
#include "calc/calc_operations.def"
#undef OPERATION
#undef COMPOSITE
};

const char *dti_calc_op_help(const struct dti_calc_op_row *row)
{
    return (const char *)&texts + row->texts;
}

const char *dti_calc_op_body(const struct dti_calc_op_row *row)
{
    return dti_text_after(dti_calc_op_help(row));
}

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

bool dti_calc_order_read(const char *text, enum dti_calc_order *ret_order, uint64_t *ret_block)
{
    static const char *const names[] = {
        [DTI_CALC_SEQUENTIAL] = "sequential",
        [DTI_CALC_PAIRWISE] = "pairwise",
        [DTI_CALC_BLOCKED] = "blocked",
        [DTI_CALC_KAHAN] = "kahan",
    };
    const size_t length = strcspn(text, ":");
    enum dti_calc_order order = 0;
    while (order <= DTI_CALC_KAHAN &&
           !(strlen(names[order]) == length && dti_ascii_equal_start(names[order], text, length)))
        order++;
    if (order > DTI_CALC_KAHAN || (text[length] == ':') != (order == DTI_CALC_BLOCKED))
        return false;
    uint64_t block = 0;
    const char *digit = text + length + (text[length] == ':');
    for (; dti_ascii_digit(*digit) && block < UINT32_MAX; digit++)
        block = 10 * block + (uint64_t)(*digit - '0');
    if (*digit != '\0' || (order == DTI_CALC_BLOCKED && block == 0))
        return false;
    *ret_order = order;
    if (order == DTI_CALC_BLOCKED)
        *ret_block = block;
    return true;
}
