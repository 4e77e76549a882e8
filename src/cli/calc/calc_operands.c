/* SPDX-License-Identifier: MIT
 *
 * Mistakes with the operands of `calc`: an expression or dtype that is missing, what its last two
 * may be, what the shell makes of '*', and a dtype to accumulate in that cannot hold what is added
 * up. */
#include <string.h>

#include "cli/calc/calc_job.h"
#include "cli/shared/operand_kinds.h"

/* Sums of floats in integers would be truncated at every step. */
enum dti_status dti_calc_check_accumulator(const struct calc_job *job, struct dti_error *reterr)
{
    const char *const name = job->options.accumulate.name;
    for (size_t i = 0; i < job->cast.target_count; i++) {
        const struct dti_format *const dtype = &job->cast.targets[i].dtype;
        if (dti_format_is_float(dtype) && !dti_format_is_float(&job->options.accumulate))
            return dti_fail_word(reterr, DTI_WRONG_KIND, name, strlen(name),
                                 "--accumulate %s drops the fractions of %s; use a float dtype "
                                 "such as fp32",
                                 name, dtype->name);
    }
    return DTI_OK;
}

static bool is_dtype(const char *text)
{
    struct dti_format format;
    return dti_format_lookup(text, &format, NULL, NULL) == DTI_OK;
}

/* What stands between the expression and the dtype: "to", another dtype. */
static enum dti_status check_beside(char **operands, int count, struct dti_error *reterr)
{
    const char *const beside = count > 2 ? operands[count - 2] : "";
    if (strcmp(beside, "to") == 0 || strcmp(beside, "as") == 0 || strcmp(beside, "in") == 0)
        return dti_fail_word(reterr, DTI_USAGE, beside, strlen(beside),
                             "leave out '%s': the dtype follows the expression, as in 'dtinfo calc "
                             "256+1 bf16'",
                             beside);
    if (count > 2 && is_dtype(beside))
        return dti_fail_word(reterr, DTI_USAGE, beside, strlen(beside),
                             "%s is one operand too many; several dtypes are joined by commas, as "
                             "in 'dtinfo calc 256+1 bf16,fp16'",
                             DTI_QUOTED(beside, strlen(beside)));
    return DTI_OK;
}

enum dti_status dti_calc_check_operands(char **operands, int count, struct dti_error *reterr)
{
    const char *const last = count > 0 ? operands[count - 1] : NULL;
    if (!last)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to compute; give an expression and a dtype, as in 'dtinfo calc "
                        "256+1 bf16'");
    if (count == 1 && is_dtype(last))
        return dti_fail(reterr, DTI_USAGE,
                        "the expression is missing before %s, as in 'dtinfo calc 256+1 bf16'",
                        DTI_QUOTED(last, strlen(last)));
    if (count == 1 || (!is_dtype(last) && dti_operand_is_number(last) && !is_dtype(operands[0])))
        return dti_fail(reterr, DTI_USAGE,
                        "the dtype is missing after %s, as in 'dtinfo calc 256+1 bf16'",
                        DTI_QUOTED(last, strlen(last)));
    if (is_dtype(operands[0]) && !is_dtype(last) && strcmp(last, "all") != 0 && !strchr(last, ','))
        return dti_fail(reterr, DTI_USAGE,
                        "expected an expression, got the dtype %s; the dtype comes last, as in "
                        "'dtinfo calc 256+1 bf16'",
                        DTI_QUOTED(operands[0], strlen(operands[0])));
    return check_beside(operands, count, reterr);
}

void dti_calc_explain_files(char **operands, int count, struct dti_error *error)
{
    for (int i = 0; count > 1 && i < count; i++) {
        if (dti_operand_is_file(operands[i])) {
            dti_fail_word(error, DTI_BAD_VALUE, operands[i], strlen(operands[i]),
                          "%s is a file; write '@' in front of it, or quote the '*' that it comes "
                          "from, as in 'dtinfo calc \"2 * 3\" bf16'",
                          DTI_QUOTED(operands[i], strlen(operands[i])));
            return;
        }
    }
}
