/* SPDX-License-Identifier: MIT
 *
 * The forms that the answers of finfo, iinfo and list take. */
#ifndef CLI_ASK_INFO_FORMS_H
#define CLI_ASK_INFO_FORMS_H

#include "cli/shared/operand_kinds.h"

/* info_style.c: what finfo and iinfo do. --like prints exactly what other libraries print; a dtype
 * that the library lacks is an error, or is skipped when all dtypes are listed. */
struct dti_info {
    bool integers;
    const char *bare; /* the members that -q prints */
    dti_dtype_check *takes, *takes_for_all;
    /* left_out: the number of P3109 formats omitted from a list of all dtypes; NULL if the dtypes
     * were named. */
    enum dti_status (*human)(const struct dti_dtype_operand *list, size_t count,
                             const size_t *left_out, struct dti_command_context *cx,
                             struct dti_error *reterr);
    void (*document)(struct dti_json *json, const struct dti_dtypes_answer *dtypes);
};
struct dti_info_args {
    int style;
    bool style_given, all;
    const char *field;
};
extern const struct dti_option dti_info_options[];
enum dti_status dti_info_run(const struct dti_info *info, const struct dti_info_args *args,
                             char **operands, int count, struct dti_command_context *cx,
                             struct dti_error *reterr);

/* ranges.c: the dynamic ranges of float dtypes as bars on one axis, in up to 78 columns. common:
 * the axis covers that of fp32, and the bars of wider dtypes extend beyond it; otherwise it covers
 * all dtypes. */
void dti_ranges_draw(const struct dti_dtype_operand *list, size_t count, bool common,
                     const struct dti_command_context *cx);

#endif
