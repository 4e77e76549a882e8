/* SPDX-License-Identifier: MIT
 *
 * Compares one cast on the device with the same cast on the CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_device.h"

static const char *request_text(const struct dti_request *request)
{
    static char text[400];
    const struct dti_cast *const cast = &request->cast;
    size_t used = (size_t)snprintf(text, sizeof text, "%s", request->src.name);
    for (size_t i = 0; i < cast->via_count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " -> %s", cast->via[i].name);
    (void)snprintf(text + used, sizeof text - used, " -> %s (packing %d%s to %d%s), %s",
                   cast->dst.name, (int)request->src_layout.packing,
                   request->src_layout.swapped ? " swapped" : "", (int)request->dst_layout.packing,
                   request->dst_layout.swapped ? " swapped" : "", check_policy_text(&cast->policy));
    return text;
}

/* Creates both plans. *ret_device is NULL if the device does not support the cast. */
static bool make_plans(struct device_check *gpu, const struct dti_request *request,
                       struct dti_plan **ret_device, struct dti_plan **ret_cpu)
{
    struct dti_error error;
    const char *why = NULL;
    *ret_device = *ret_cpu = NULL;
    enum dti_status status = dti_plan_new(ret_cpu, request, gpu->check.level, &error);
    if (status == DTI_OK)
        status = dti_plan_new(ret_device, request, gpu->check.level, &error);
    if (status == DTI_OK)
        status = dti_plan_set_runner(*ret_device, gpu->runner, &why, &error);
    if (status == DTI_OK && !why)
        return true;
    dti_plan_free(*ret_device);
    *ret_device = NULL;
    if (status == DTI_OK || status == DTI_UNAVAILABLE)
        return true;
    check_fail(&gpu->check, "%s: %s", request_text(request), error.text);
    return false;
}

static bool same_bytes(struct device_check *gpu, const struct dti_request *request,
                       const uint8_t *got, const uint8_t *want, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (got[i] == want[i])
            continue;
        check_fail(&gpu->check, "%s: byte %zu of %zu is 0x%02x, not 0x%02x", request_text(request),
                   i, bytes, (unsigned)got[i], (unsigned)want[i]);
        return false;
    }
    return true;
}

static bool compare_once(struct device_check *gpu, const struct dti_request *request,
                         struct dti_plan *plans[2], const void *src, size_t n, uint64_t index,
                         bool with_loss)
{
    struct dti_error error;
    uint8_t *results[2] = {NULL, NULL};
    struct dti_loss losses[2];
    uint64_t bytes = 0;
    bool passed = dti_plan_dst_bytes(plans[0], n, &bytes);
    for (size_t i = 0; i < 2 && passed; i++) {
        results[i] = malloc((size_t)bytes + 1);
        if (!results[i])
            exit(1);
        memset(results[i], (int)(0x55 << i), (size_t)bytes + 1);
        dti_loss_init(&losses[i]);
        const enum dti_status status =
            dti_plan_run_team(plans[i], i == 0 ? gpu->team : NULL, results[i], src, n, index,
                              DTI_STORES_CACHED, with_loss ? &losses[i] : NULL, &error);
        if (status != DTI_OK) {
            check_fail(&gpu->check, "%s: %s", request_text(request), error.text);
            passed = false;
        } else if (results[i][bytes] != 0x55 << i) {
            check_fail(&gpu->check, "%s: writes behind its result", request_text(request));
            passed = false;
        }
    }
    passed = passed && same_bytes(gpu, request, results[1], results[0], (size_t)bytes);
    if (passed && with_loss)
        passed = same_loss(&gpu->check, &losses[1], &losses[0], request_text(request));
    free(results[0]);
    free(results[1]);
    gpu->plans++;
    return passed;
}

bool device_compare(struct device_check *gpu, const struct dti_request *request, const void *src,
                    size_t n, uint64_t index)
{
    struct dti_plan *plans[2];
    if (!make_plans(gpu, request, &plans[1], &plans[0])) {
        dti_plan_free(plans[0]);
        return false;
    }
    bool passed = true;
    if (plans[1]) {
        passed = compare_once(gpu, request, plans, src, n, index, false) &&
                 compare_once(gpu, request, plans, src, n, index, true);
    } else {
        gpu->left++;
    }
    dti_plan_free(plans[0]);
    dti_plan_free(plans[1]);
    return passed;
}
