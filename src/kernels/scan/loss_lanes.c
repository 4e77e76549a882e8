/* SPDX-License-Identifier: MIT
 *
 * Portable loss kernels: fp32 and fp64 use loss_group.h, codes of any format use the definition.
 */
#include "kernels/scan/loss_group.h"
#include "kernels/scan/loss_kernels.h"

DTI_LANE void add_arrays(const struct dti_loss_rule *rule, bool wide, const void *source,
                         const void *stored, size_t n, uint64_t index, struct dti_loss *loss)
{
    const size_t size = wide ? sizeof(double) : sizeof(float);
    struct dti_loss_lanes lanes = {{0}, {0}, {0}};
    struct dti_loss_groups groups;
    struct dti_loss_peak peak = dti_loss_peak_start(loss, index);
    loss->elements += n;
    for (size_t at = 0; at < n; at += DTI_LOSS_GROUP) {
        const size_t part = n - at < DTI_LOSS_GROUP ? n - at : DTI_LOSS_GROUP;
        dti_loss_add_group(rule, wide, (const unsigned char *)source + at * size,
                           (const unsigned char *)stored + at * size, part, index + at,
                           at / DTI_LOSS_GROUP, loss, &groups, &lanes, &peak);
    }
    if (!wide)
        dti_loss_fold_groups(&groups, n / DTI_LOSS_GROUP, &lanes);
    dti_loss_peak_end(&peak, loss);
    dti_loss_add_lanes(loss, &lanes);
}

void dti_loss_f32_scalar(const struct dti_loss_rule *rule, const void *source, const void *stored,
                         size_t n, uint64_t index, struct dti_loss *loss)
{
    add_arrays(rule, false, source, stored, n, index, loss);
}

void dti_loss_f64_scalar(const struct dti_loss_rule *rule, const void *source, const void *stored,
                         size_t n, uint64_t index, struct dti_loss *loss)
{
    add_arrays(rule, true, source, stored, n, index, loss);
}

void dti_loss_wide_scalar(const struct dti_loss_rule *rule, const void *source, const void *stored,
                          size_t n, uint64_t index, struct dti_loss *loss)
{
    struct dti_value value[DTI_TILE];
    uint64_t code[DTI_TILE];
    memcpy(code, source, n * sizeof code[0]);
    for (size_t i = 0; i < n; i++)
        dti_decode(&rule->src, code[i], &value[i]);
    memcpy(code, stored, n * sizeof code[0]);
    dti_loss_add_values(rule, value, code, n, index, loss);
}
