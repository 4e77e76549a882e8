/* SPDX-License-Identifier: MIT
 *
 * --digits: the stored numbers with so many digits after the point, correctly rounded. */
#include <stdio.h>
#include <string.h>

#include "cli/cast/cast.h"
#include "dtinfo/spell.h"
#include "dtinfo/table.h"

enum dti_status dti_cast_digits_append(struct dti_buffer *buffer, const struct cast_result *result,
                                       size_t decimals)
{
    if (!result->known || result->no_code) {
        dti_buffer_puts(buffer, "-");
        return DTI_OK;
    }
    for (size_t i = 0; i < result->components; i++) {
        const struct dti_value *stored = &result->component[i].stored;
        if (i > 0 && !stored->negative)
            dti_buffer_puts(buffer, "+");
        if (!dti_spell_fixed(buffer, stored, decimals))
            return DTI_NO_MEMORY;
        if (i > 0)
            dti_buffer_puts(buffer, "j");
    }
    return buffer->failed ? DTI_NO_MEMORY : DTI_OK;
}

enum dti_status dti_cast_human_digits(const struct cast_job *job, const struct cast_result *results,
                                      struct dti_error *reterr)
{
    struct dti_buffer digits;
    size_t width = 0;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->target_count; i++) {
        size_t length = strlen(results[i].target->dtype.name);
        width = length > width ? length : width;
    }
    dti_buffer_init(&digits);
    for (size_t i = 0; i < job->target_count && status == DTI_OK; i++) {
        struct dti_line line = {.out = job->cx->out, .colour = job->cx->colour};
        dti_buffer_clear(&digits);
        status = dti_cast_digits_append(&digits, &results[i], (size_t)job->args->digits);
        if (!job->cx->quiet) {
            dti_line_put(&line, DTI_STYLE_PLAIN, results[i].target->dtype.name);
            dti_line_to(&line, width + 2);
        }
        dti_line_put(&line, DTI_STYLE_PLAIN, digits.data);
        dti_line_end(&line);
    }
    dti_buffer_free(&digits);
    return status == DTI_OK ? DTI_OK : dti_fail(reterr, status, "out of memory");
}
