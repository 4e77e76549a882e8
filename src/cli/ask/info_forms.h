/* SPDX-License-Identifier: MIT
 *
 * The forms that the answers of finfo, iinfo and bits take. */
#ifndef DTINFO_CLI_INFO_FORMS_H
#define DTINFO_CLI_INFO_FORMS_H

#include "cli/shared/operands.h"

/* finfo_human.c: the full block of each dtype, a blank line between two; or, of all there are, a
 * line for each. */
enum dti_status dti_finfo_human(const struct dti_dtype_operand *list, size_t count, bool all,
                                struct dti_context *cx, struct dti_error *reterr);

/* info_style.c: what finfo and iinfo do. --style prints as other libraries do, character for
 * character, for those who compare; a dtype that the library lacks is an error, or left out when
 * all were asked for. */
struct dti_info {
    bool integers;
    dti_dtype_check *takes, *takes_for_all;
    enum dti_status (*human)(const struct dti_dtype_operand *list, size_t count, bool all,
                             struct dti_context *cx, struct dti_error *reterr);
    void (*document)(struct dti_json *json, const struct dti_dtypes_answer *dtypes);
};
struct dti_info_args {
    int style;
    bool style_given;
};
extern const struct dti_option dti_info_options[];
enum dti_status dti_info_run(const struct dti_info *info, const struct dti_info_args *args,
                             char **operands, int count, struct dti_context *cx,
                             struct dti_error *reterr);

/* bits_human.c: one reading in full, several in a table. */
void dti_bits_human_one(const struct dti_context *cx, const struct dti_bits_reading *reading);
enum dti_status dti_bits_human_table(const struct dti_context *cx, unsigned width,
                                     const struct dti_bits_answer *bits, struct dti_error *reterr);

#endif
