/* SPDX-License-Identifier: MIT
 *
 * The views of a file's contents that the inspect command shows. */
#ifndef DTINFO_CLI_INSPECT_VIEW_H
#define DTINFO_CLI_INSPECT_VIEW_H

#include "answers/inspect.h"
#include "cli/shell/command.h"
#include "dtinfo/table.h"

struct inspect_view {
    const struct dti_context *cx;
    const struct dti_inspect_report *report;
    bool tree, all_metadata, packing_given;
};

/* inspect_human.c and the files it uses: inspect_tables.c, inspect_branches.c, inspect_histogram.c
 * */
enum dti_status dti_inspect_human(const struct inspect_view *view, struct dti_error *reterr);
enum dti_status dti_inspect_list(const struct inspect_view *view, struct dti_error *reterr);
enum dti_status dti_inspect_stats_table(const struct inspect_view *view, struct dti_error *reterr);
enum dti_status dti_inspect_casts_table(const struct inspect_view *view, struct dti_error *reterr);
enum dti_status dti_inspect_tree(const struct inspect_view *view, struct dti_error *reterr);
/* tensor: their tensor; NULL for those of the file. */
enum dti_status dti_inspect_draw(const struct inspect_view *view,
                                 const struct dti_inspect_figures *figures,
                                 const struct dti_tensor *tensor, struct dti_error *reterr);

#endif
