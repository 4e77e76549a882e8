/* SPDX-License-Identifier: MIT
 *
 * Kinds of tensors: see tensor_kinds.h. */
#include "cli/shared/tensor_kinds.h"

#include <string.h>

#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"

static bool is_same(const struct dti_tensor_kind *a, const struct dti_tensor_kind *b)
{
    return a->first == b->first && a->axis == b->axis && !a->to == !b->to &&
           (!a->to || strcmp(a->to, b->to) == 0) && strcmp(a->from, b->from) == 0 &&
           strcmp(a->words, b->words) == 0;
}

void dti_kinds_add(struct dti_tensor_kinds *kinds, const struct dti_tensor_kind *kind)
{
    size_t at = 0;
    while (at < kinds->count && !is_same(&kinds->list[at], kind))
        at++;
    at -= at == DTI_KINDS_MAX;
    struct dti_tensor_kind *const sum = &kinds->list[at];
    if (at < kinds->count) {
        sum->count += kind->count;
        sum->input += kind->input;
        sum->output += kind->output;
    } else {
        *sum = *kind;
        kinds->count++;
    }
}

enum dti_status dti_kinds_write(const struct dti_tensor_kinds *kinds, FILE *out, bool colour,
                                struct dti_error *reterr)
{
    if (kinds->count == 0)
        return DTI_OK;
    struct dti_table *const table = dti_table_new(4);
    for (size_t i = 0; i < 2 * kinds->count; i++) {
        const struct dti_tensor_kind *const kind = &kinds->list[i % kinds->count];
        char cell[DTI_PLURAL_SIZE], from[DTI_TEXT_SIZE], to[DTI_TEXT_SIZE];
        if (kind->first != (i < kinds->count))
            continue;
        dti_table_print(table, DTI_STYLE_PLAIN, kind->to ? "%s -> %s" : "%s", kind->from, kind->to);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_plural_words(cell, kind->count, "tensor"));
        dti_table_print(table, DTI_STYLE_PLAIN, kind->same_bytes ? "%s" : "%s -> %s",
                        dti_human_bytes(from, kind->input), dti_human_bytes(to, kind->output));
        dti_table_cell(table, DTI_STYLE_DIM, kind->words);
    }
    const bool written = dti_table_write(table, out, colour, 2);
    dti_table_free(table);
    return written ? DTI_OK : dti_no_memory(reterr);
}
