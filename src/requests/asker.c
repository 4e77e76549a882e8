/* SPDX-License-Identifier: MIT
 *
 * What askers hear while a request is made. */
#include "requests/asker.h"

void dti_asker_warn(const struct dti_asker *asker, const struct dti_note *note)
{
    if (asker->warn)
        asker->warn(asker->warn_context, note);
}

enum dti_status dti_asker_dtype(const struct dti_asker *asker, const char *name,
                                struct dti_dtype_operand *ret, struct dti_error *reterr)
{
    const enum dti_status status = dti_format_lookup(name, &ret->format, &ret->note, reterr);
    if (status == DTI_OK && ret->note)
        dti_asker_warn(asker, &(struct dti_note){.code = "dtype_name", .text = ret->note});
    return status;
}
