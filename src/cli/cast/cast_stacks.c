/* SPDX-License-Identifier: MIT
 *
 * --stacks: the same cast as other number stacks do it, side by side. */
#include <string.h>

#include "cli/cast/cast.h"
#include "cli/cast/cast_words.h"
#include "dtinfo/table.h"

/* The stack's answer as a result of its own; false when it has no such dtype. */
static bool stack_result(enum dti_stack stack, const struct cast_operand *operand,
                         const struct cast_result *own, struct cast_target *target,
                         struct cast_result *ret)
{
    *target = *own->target;
    target->rule = dti_stack_find(stack, &target->cast.dst);
    if (!target->rule)
        return false;
    ret->target = target;
    ret->no_code = false;
    ret->route = target->cast;
    ret->components = own->components;
    dti_cast_by_rule(target->rule, operand, ret);
    return true;
}

enum dti_status dti_cast_human_stacks(const struct cast_job *job,
                                      const struct cast_operand *operand,
                                      const struct cast_result *result, struct dti_error *reterr)
{
    char text[CAST_TEXT_SIZE];
    struct dti_table *table = dti_table_new(4);
    if (!table)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_table_cell(table, DTI_STYLE_DIM, "stack");
    dti_table_cell(table, DTI_STYLE_DIM, "stored");
    dti_table_cell(table, DTI_STYLE_DIM, "bits");
    dti_table_cell(table, DTI_STYLE_DIM, "");
    for (int i = 0; i < DTI_STACK_COUNT; i++) {
        struct cast_target target;
        struct cast_result other;
        bool there = stack_result((enum dti_stack)i, operand, result, &target, &other);
        bool known = there && other.known;
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_stack_name((enum dti_stack)i));
        dti_table_cell(table, DTI_STYLE_BOLD, known ? dti_cast_result_text(&other, text) : "-");
        dti_table_cell(table, DTI_STYLE_PLAIN, known ? dti_cast_result_bits(&other, text) : "-");
        if (!there)
            dti_table_cell(table, DTI_STYLE_DIM, "has no such dtype, or nothing is known of it");
        else if (!known)
            dti_table_cell(table, DTI_STYLE_WARN, other.note);
        else
            dti_table_cell(table, DTI_STYLE_DIM, other.note ? other.note : "");
    }
    bool done = dti_table_write(table, job->cx->out, job->cx->colour, 2);
    dti_table_free(table);
    return done ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

void dti_cast_json_stacks(const struct cast_job *job, const struct cast_operand *operand,
                          const struct cast_result *result)
{
    struct dti_json *json = job->json;
    char text[CAST_TEXT_SIZE];
    dti_json_array(json, "stacks");
    for (int i = 0; i < DTI_STACK_COUNT; i++) {
        struct cast_target target;
        struct cast_result other;
        bool there = stack_result((enum dti_stack)i, operand, result, &target, &other);
        bool known = there && other.known;
        dti_json_object(json, NULL);
        dti_json_string(json, "stack", dti_stack_name((enum dti_stack)i));
        dti_json_string(json, "title", dti_stack_title((enum dti_stack)i));
        dti_json_bool(json, "has_dtype", there);
        dti_json_bool(json, "known", known);
        dti_json_string(json, "text", known ? dti_cast_result_text(&other, text) : NULL);
        dti_json_string(json, "bits", known ? dti_cast_result_bits(&other, text) : NULL);
        dti_json_string(json, "note", there ? other.note : NULL);
        dti_json_end(json);
    }
    dti_json_end(json);
}
