/* SPDX-License-Identifier: MIT
 *
 * The reference for all plans: casts arrays element by element with the scalar core, without
 * kernels, hubs or tables. Slow and simple. */
#include <string.h>

#include "convert/plan_parts.h"

/* Casts one element; false if the stack's result is unknown. */
static bool cast_element(const struct dti_request *request, bool copy, uint64_t code,
                         uint64_t index, struct dti_value *ret_value, uint64_t *ret_code)
{
    struct dti_scalar scalar = {.code = code};
    struct dti_cast stages;
    dti_decode(&request->src, code, ret_value);
    if (request->rule) {
        if (!dti_stack_cast(request->rule, &request->cast.dst, dti_format_is_integer(&request->src),
                            ret_value, &stages, &scalar))
            return false;
    } else if (!copy) {
        dti_scalar_store(&request->cast, ret_value, NULL, index, &scalar);
    }
    *ret_code = scalar.code;
    return true;
}

enum dti_status dti_reference_run(const struct dti_request *request, void *dst, const void *src,
                                  size_t n, uint64_t index, struct dti_loss *loss,
                                  struct dti_error *reterr)
{
    struct dti_value values[DTI_TILE];
    uint64_t codes[DTI_TILE], bytes;
    struct dti_loss_rule rule;
    const struct dti_format *const to = &request->cast.dst;
    const bool copy = dti_request_is_copy(request);
    const enum dti_status status = dti_request_check(request, reterr);
    if (status != DTI_OK)
        return status;

    dti_loss_rule_init_cast(&rule, &request->src, &request->cast, request->rule);
    if (n > 0 && dti_format_bytes(to, &request->dst_layout, n, &bytes))
        memset(dst, 0, (size_t)bytes); /* zero the last byte's padding */

    for (size_t at = 0; at < n; at += DTI_TILE) {
        const size_t part = n - at < DTI_TILE ? n - at : DTI_TILE;
        for (size_t i = 0; i < part; i++) {
            const uint64_t code = dti_storage_get(&request->src, &request->src_layout, src, at + i);
            if (!cast_element(request, copy, code, index + at + i, &values[i], &codes[i]))
                return dti_fail_unknown(request->rule, &request->src, code, to, index + at + i,
                                        reterr);
            dti_storage_put(to, &request->dst_layout, dst, at + i, codes[i]);
        }
        if (loss)
            dti_loss_add_values(&rule, values, codes, part, index + at, loss);
    }
    if (loss)
        loss->stray += dti_storage_stray(&request->src, &request->src_layout, src, n);
    return DTI_OK;
}
