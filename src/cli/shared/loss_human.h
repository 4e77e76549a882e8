/* SPDX-License-Identifier: MIT
 *
 * The losses and policies of a cast, for people: lines that the reports on arrays and files share.
 */
#ifndef CLI_SHARED_LOSS_HUMAN_H
#define CLI_SHARED_LOSS_HUMAN_H

#include "answers/common.h"
#include "core/code/stack.h"
#include "files/scan/loss_summary.h"
#include "report/table.h"
#include "requests/cast_device.h"

/* "   to zero 1", highlighted unless it is 0; the first of a line is indented less. */
void dti_loss_human_count(struct dti_line *line, const char *name, uint64_t count);

/* "  inexact 3 (75 %)   overflowed 1   to zero 1   ..." */
void dti_loss_human_counts(const struct dti_loss_summary *loss, struct dti_line *line);

/* "  max abs error 2.441e-05 (PLACE)   mean abs error ...", or a line without errors. */
void dti_loss_human_errors(const struct dti_loss_summary *loss, const char *place,
                           struct dti_line *line);

/* "  round nearest-even   overflow native   nan quiet", of the last rounding, and the route. */
void dti_loss_human_policies(const struct dti_cast *cast, const struct dti_stack_rule *rule,
                             struct dti_line *line);

/* "  hint: --overflow saturate stores 448 instead of nan", if numbers overflowed. */
void dti_loss_human_hint(const struct dti_cast *cast, const struct dti_stack_rule *rule,
                         const struct dti_loss_summary *loss, struct dti_line *line);

/* "  device cuda:0", if --device was given. */
void dti_cast_device_human(struct dti_cast_device *device, struct dti_line *line);

#endif
