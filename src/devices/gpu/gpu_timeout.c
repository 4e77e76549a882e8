/* SPDX-License-Identifier: MIT
 *
 * The time limit for the driver and devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/gpu/gpu_parts.h"
#include "util/run/process_environment.h"

enum { DEFAULT_SECONDS = 30, LONGEST_SECONDS = 86400, MILLISECONDS = 1000 };

/* "0.25": digits, and at most three decimals. */
static bool parse_milliseconds(const char *text, unsigned *ret)
{
    unsigned whole = 0, part = 0, unit = MILLISECONDS;
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        whole = whole * 10 + (unsigned)(*text - '0');
        if (whole > LONGEST_SECONDS)
            return false;
    }
    if (*text == '.') {
        text++;
        if (*text < '0' || *text > '9')
            return false;
        for (; *text >= '0' && *text <= '9'; text++) {
            unit /= 10;
            if (unit == 0)
                return false;
            part += unit * (unsigned)(*text - '0');
        }
    }
    *ret = whole * MILLISECONDS + part;
    return *text == '\0' && *ret > 0 && *ret <= LONGEST_SECONDS * MILLISECONDS;
}

enum dti_status dti_gpu_timeout_parse(const char *text, double *ret, struct dti_error *reterr)
{
    unsigned milliseconds;
    if (parse_milliseconds(text, &milliseconds)) {
        *ret = (double)milliseconds / MILLISECONDS;
        return DTI_OK;
    }
    char quoted[DTI_QUOTE_SIZE];
    dti_fail(reterr, DTI_BAD_ENVIRONMENT,
             "environment variable DTINFO_CUDA_TIMEOUT takes 0.001 to %u seconds, not %s",
             (unsigned)LONGEST_SECONDS, dti_quote(quoted, text, strlen(text)));
    dti_error_argument(reterr, text, strlen(text));
    return DTI_BAD_ENVIRONMENT;
}

double dti_gpu_timeout(void)
{
    const char *const text = dti_environment("DTINFO_CUDA_TIMEOUT");
    double seconds = DEFAULT_SECONDS;
    if (text && dti_gpu_timeout_parse(text, &seconds, NULL) != DTI_OK)
        seconds = DEFAULT_SECONDS;
    return seconds;
}

enum dti_status dti_gpu_late(const char *what, const char *did_not, double seconds,
                             struct dti_error *reterr)
{
    const unsigned milliseconds = (unsigned)(seconds * MILLISECONDS + 0.5);
    char part[8] = "";
    if (milliseconds % MILLISECONDS != 0) {
        snprintf(part, sizeof part, ".%03u", milliseconds % MILLISECONDS);
        for (size_t end = strlen(part); part[end - 1] == '0'; end--)
            part[end - 1] = '\0';
    }
    return dti_fail(reterr, DTI_DEVICE_FAILED,
                    "%s %s within %u%s s; DTINFO_CUDA_TIMEOUT sets the limit", what, did_not,
                    milliseconds / MILLISECONDS, part);
}
