/* SPDX-License-Identifier: MIT
 *
 * The seconds between two events of a stream. */
#include "bench/measure/device_clock.h"

double dti_device_seconds(struct dti_gpu_stream *stream, struct dti_gpu_event *begin,
                          struct dti_gpu_event *end, enum dti_status status,
                          struct dti_error *reterr)
{
    double seconds = -1;
    if (status == DTI_OK)
        status = dti_gpu_record(stream, end, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(stream, reterr);
    if (status == DTI_OK)
        status = dti_gpu_elapsed(begin, end, &seconds, reterr);
    return status == DTI_OK ? seconds : -1;
}
