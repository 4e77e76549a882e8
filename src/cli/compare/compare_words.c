/* SPDX-License-Identifier: MIT
 *
 * What is to be said of a pair of tensors. */
#include <string.h>

#include "cli/compare/compare.h"
#include "cli/shared/tensor_words.h"
#include "cli/shell/remedy_words.h"

const struct dti_tensor *dti_compare_tensor(const struct compare_job *job,
                                            const struct compare_result *result)
{
    return result->way == COMPARE_ONLY_B ? &job->b->tensors[result->b]
                                         : &job->a->tensors[result->a];
}

const char *dti_compare_reason(char buffer[COMPARE_REASON_SIZE], const struct compare_job *job,
                               const struct compare_result *result)
{
    const struct dti_tensor *const tensor = dti_compare_tensor(job, result);
    const char *const dtype = dti_tensor_dtype(tensor);
    char why[DTI_SCAN_WHY_SIZE], words[DTI_REMEDY_WORDS];
    enum dti_remedy remedy;
    switch (result->way) {
    case COMPARE_NUMBERS:
        buffer[0] = '\0';
        break;
    case COMPARE_BYTES:
        if (result->first_byte == UINT64_MAX)
            (void)snprintf(buffer, COMPARE_REASON_SIZE, "%.40s, the same bytes", dtype);
        else
            (void)snprintf(buffer, COMPARE_REASON_SIZE, "%.40s, bytes differ from byte %llu on",
                           dtype, (unsigned long long)result->first_byte);
        break;
    case COMPARE_NEVER:
        (void)dti_scan_comparable(tensor, &job->b->tensors[result->b], why, &remedy);
        (void)snprintf(buffer, COMPARE_REASON_SIZE, "%s", dti_remedy_words(words, remedy, why));
        break;
    case COMPARE_ONLY_A:
    case COMPARE_ONLY_B: {
        char shape[DTI_SHAPE_SIZE];
        (void)snprintf(buffer, COMPARE_REASON_SIZE, "%.40s %s", dtype,
                       dti_shape_words(shape, tensor));
        break;
    }
    }
    return buffer;
}
