/* SPDX-License-Identifier: MIT
 *
 * A check as JSON. */
#include "answers/check_answer.h"

#include <string.h>

#include "answers/common.h"
#include "answers/tensors.h"

/* A failure, an assertion of a report. */
struct failure_of {
    const struct dti_check_report *report;
    const struct dti_check_failure *failure;
};

struct assertion_of {
    const struct dti_check_report *report;
    const struct dti_check_failure *first; /* of its failures */
    size_t at;
};

struct note_of {
    const struct dti_check_report *report;
    const struct dti_note *note;
};

static const struct dti_tensor *tensor_of(const struct failure_of *of)
{
    const size_t tensor = of->failure->tensor;
    return tensor == SIZE_MAX ? NULL : &of->report->container->tensors[tensor];
}

/* The number at fault as a code of the tensor's own dtype. */
static uint64_t code_of(const struct dti_format *format, const struct dti_check_failure *failure)
{
    static const struct dti_policy exact = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome own;
    dti_decode(dti_stats_hub_format(failure->hub), failure->code, &value);
    dti_encode(format, &value, &exact, 0, &own);
    return own.code;
}

#define DTI_ROWS "answers/check.def"
#include "answers/rows.h"
