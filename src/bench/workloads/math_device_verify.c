/* SPDX-License-Identifier: MIT
 *
 * What a device computed, judged on the host. */
#include "bench/workloads/math_device_parts.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/fp64.h"

static enum dti_status verify_expsin(struct dti_math_device_data *data, unsigned char *arguments,
                                     unsigned char *results, struct dti_error *reterr)
{
    struct dti_math_device *const device = data->device;
    struct dti_bench_item *const item = &device->table->items[data->item];
    enum dti_status status = dti_gpu_fill(device->clock.stream, dti_math_operand_at(data, 0, 1),
                                          0xff, (size_t)data->bytes, reterr);
    if (status == DTI_OK)
        status = dti_math_kernel_pass(data, 0, reterr);
    if (status == DTI_OK)
        status = dti_gpu_download(device->clock.stream, arguments, dti_math_operand_at(data, 0, 0),
                                  (size_t)data->bytes, reterr);
    if (status == DTI_OK)
        status = dti_gpu_download(device->clock.stream, results, dti_math_operand_at(data, 0, 1),
                                  (size_t)data->bytes, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(device->clock.stream, reterr);
    if (status != DTI_OK || !dti_expsin_can_judge(data->dtype))
        return status;
    item->has_ulp = true;
    item->max_ulp = dti_expsin_largest_error(data->dtype, arguments, results, device->request->n);
    /* the same steps as the portable row takes */
    if (item->max_ulp <= dti_expsin_find(data->dtype, DTI_LEVEL_SCALAR)->max_ulp)
        return DTI_OK;
    return dti_fail(reterr, DTI_BUG, "%s is less accurate on %s than it promises; please report it",
                    item->kernel, item->device);
}

static double sum_of_parts(const struct dti_math_device_data *data, const unsigned char *parts)
{
    double sum = 0;
    for (size_t i = 0; i < data->parts; i++) {
        if (data->dtype == DTI_FP64) {
            double part;
            memcpy(&part, parts + 8 * i, sizeof part);
            sum = dti_fp64_add(sum, part);
        } else {
            float part;
            memcpy(&part, parts + 4 * i, sizeof part);
            sum = dti_fp64_add(sum, part);
        }
    }
    return sum;
}

static enum dti_status verify_dot(struct dti_math_device_data *data, unsigned char *a,
                                  unsigned char *b, struct dti_error *reterr)
{
    struct dti_math_device *const device = data->device;
    const uint64_t n = device->request->n;
    struct dti_exact_sum exact;
    enum dti_status status = dti_gpu_download(
        device->clock.stream, a, dti_math_operand_at(data, 0, 0), (size_t)data->bytes, reterr);
    if (status == DTI_OK)
        status = dti_gpu_download(device->clock.stream, b, dti_math_operand_at(data, 0, 1),
                                  (size_t)data->bytes, reterr);
    if (status == DTI_OK)
        status = dti_math_kernel_pass(data, 0, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(device->clock.stream, reterr);
    if (status != DTI_OK)
        return status;
    dti_exact_sum_init(&exact);
    dti_dot_exact(&exact, data->dtype, a, b, (size_t)n);
    status = dti_gpu_download(device->clock.stream, a, data->sums,
                              data->parts * (data->dtype == DTI_FP64 ? (size_t)8 : 4), reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(device->clock.stream, reterr);
    if (status != DTI_OK)
        return status;
    return dti_dot_judge(device->table, &device->table->items[data->item], data->dtype,
                         sum_of_parts(data, a), dti_exact_sum_value(&exact), device->request,
                         reterr);
}

enum dti_status dti_math_device_verify(struct dti_math_device_data *data, struct dti_error *reterr)
{
    /* partial sums take 8 bytes of each chunk at most */
    unsigned char *const first = malloc((size_t)data->bytes + DTI_MATH_CHUNK);
    unsigned char *const second = malloc((size_t)data->bytes + DTI_MATH_CHUNK);
    enum dti_status status = DTI_OK;
    if (!first || !second)
        status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    else if (dti_math_is_dot(data->device))
        status = verify_dot(data, first, second, reterr);
    else
        status = verify_expsin(data, first, second, reterr);
    free(first);
    free(second);
    return status;
}
