/* SPDX-License-Identifier: MIT
 *
 * A loss as JSON. */
#include "cli/shared/loss_json.h"

#include <math.h>

#include "cli/shared/file_json.h"

enum dti_status dti_loss_json(struct dti_json *json, const char *key,
                              const struct dti_loss_summary *loss, struct dti_error *reterr)
{
    const bool compared = loss->compared > 0;
    const double mean = loss->mean_absolute, sqnr = loss->sqnr_db;
    const double root = loss->root_mean_square;
    dti_json_object(json, key);
    dti_json_uint(json, "inexact", loss->inexact);
    dti_json_uint(json, "overflowed", loss->overflowed);
    dti_json_uint(json, "to_zero", loss->to_zero);
    dti_json_uint(json, "to_subnormal", loss->to_subnormal);
    dti_json_uint(json, "nan", loss->nan_in);
    dti_json_uint(json, "inf", loss->inf_in);
    dti_json_uint(json, "no_code", loss->no_code);
    dti_json_uint(json, "stray", loss->stray);
    dti_json_uint(json, "compared", loss->compared);
    enum dti_status status =
        dti_json_figure(json, "max_absolute_error", compared, loss->max_absolute, reterr);
    if (loss->max_absolute > 0)
        dti_json_uint(json, "max_absolute_error_index", loss->max_index);
    else
        dti_json_null(json, "max_absolute_error_index");
    if (status == DTI_OK)
        status =
            dti_json_figure(json, "mean_absolute_error", compared && !isnan(mean), mean, reterr);
    if (status == DTI_OK)
        status =
            dti_json_figure(json, "root_mean_square_error", compared && !isnan(root), root, reterr);
    if (status == DTI_OK)
        status = dti_json_figure(json, "max_relative_error", compared, loss->max_relative, reterr);
    if (status == DTI_OK)
        status = dti_json_figure(json, "sqnr_db", compared && !isnan(sqnr), sqnr, reterr);
    dti_json_end(json);
    return status;
}
