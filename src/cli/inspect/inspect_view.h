/* SPDX-License-Identifier: MIT
 *
 * The views of a file's contents that the inspect command shows. */
#ifndef CLI_INSPECT_INSPECT_VIEW_H
#define CLI_INSPECT_INSPECT_VIEW_H

#include "answers/inspect/inspect.h"
#include "cli/shell/command.h"
#include "report/table.h"

struct inspect_view {
    const struct dti_command_context *cx;
    const struct dti_inspect_report *report;
    bool tree, all_metadata, packing_given;
};

/* The whole page. */
enum dti_status dti_inspect_human(const struct inspect_view *view, struct dti_error *reterr);
/* inspect_tree.c: names as a tree. */
enum dti_status dti_inspect_tree(const struct inspect_view *view, struct dti_error *reterr);
/* inspect_histogram.c: figures with a histogram. tensor: their tensor; NULL for those of the file.
 */
enum dti_status dti_inspect_draw(const struct inspect_view *view,
                                 const struct dti_inspect_figures *figures,
                                 const struct dti_tensor *tensor, struct dti_error *reterr);

#endif
