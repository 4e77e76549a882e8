/* SPDX-License-Identifier: MIT
 *
 * What a cast lost, and under which policies, for people: lines that the reports on arrays and on
 * files share. */
#ifndef DTINFO_CLI_LOSS_HUMAN_H
#define DTINFO_CLI_LOSS_HUMAN_H

#include "answers/common.h"
#include "dtinfo/loss_summary.h"
#include "dtinfo/stack.h"
#include "dtinfo/table.h"

/* "   to zero 1", marked unless it is 0; the first of a line stands farther left. */
void dti_loss_human_count(struct dti_line *line, const char *name, uint64_t count);

/* "  inexact 3 (75 %)   overflowed 1   to zero 1   ..." */
void dti_loss_human_counts(const struct dti_loss_summary *loss, struct dti_line *line);

/* "  max abs error 2.441e-05 (PLACE)   mean abs error ...", or that there is none. */
void dti_loss_human_errors(const struct dti_loss_summary *loss, const char *place,
                           struct dti_line *line);

/* "  round nearest-even   overflow native   nan quiet", of the last rounding, and the route. */
void dti_loss_human_policies(const struct dti_cast *cast, const struct dti_stack_rule *rule,
                             struct dti_line *line);

/* "  hint: --overflow saturate stores 448 instead of nan", where numbers overflowed. */
void dti_loss_human_hint(const struct dti_cast *cast, const struct dti_stack_rule *rule,
                         const struct dti_loss_summary *loss, struct dti_line *line);

/* What --overflow saturate would store for a number beyond the range; false when the same. */
bool dti_loss_saturated(const struct dti_cast *cast, const struct dti_stack_rule *rule,
                        char ret_native[DTI_TEXT_SIZE], char ret_text[DTI_TEXT_SIZE]);

#endif
