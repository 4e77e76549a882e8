/* SPDX-License-Identifier: MIT
 *
 * The formats that checkkern tests, random numbers, and failure messages. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { TOLD_MAX = 12, FORMATS_MAX = 160 };

/* Formats that are not rows of dtypes.def: every kind of special codes, unusual biases, formats at
 * and beyond the range and precision of fp32 and fp64, the narrowest formats, and integers around
 * the same precisions. */
static const char *const parsed[] = {
    "e6m9",        "e8m7b120",     "e5m10b20",     "e2m3b1",        "e4m3fnuzb9",   "e3m4fn",
    "e11m20",      "e11m52b1000",  "e7m8",         "e1m14",         "e5m0",         "e8m0b127",
    "e1m1",        "e1m2",         "e2m1fnuz",     "e3m0",          "e4m0b7",       "e5m2fn",
    "e8m1",        "e8m10b100",    "e8m15",        "e8m21",         "e8m22",        "e8m23b126",
    "e8m23b128",   "e8m23fn",      "e8m23fnuz",    "e9m6",          "e9m22",        "e10m5",
    "e11m4b2000",  "e11m50",       "e11m51",       "e11m52fn",      "e12m3",        "e15m48",
    "e15m16",      "e19m44",       "e4m3b100",     "e4m3fnb0",      "e5m2b140",     "e6m1fn",
    "e4m11fnuz",   "e2m13",        "e1m62",        "binary3p1se",   "binary3p2uf",  "binary5p2se",
    "binary7p3uf", "binary12p5ue", "binary16p8se", "binary16p11sf", "binary16p1ue", "ue3m4",
    "ue2m3fn",     "ue5m0fn",      "ue6m10",       "ue11m52",       "int3",         "uint5",
    "uint7",       "int9",         "int12",        "uint23",        "int24",        "uint25",
    "int26",       "int48",        "uint51",       "int52",         "uint52",       "int53",
    "uint63",
};

size_t check_formats(const struct dti_format **ret_formats)
{
    static struct dti_format formats[FORMATS_MAX];
    static size_t count;
    if (count == 0) {
        count = check_named_formats();
        size_t at = 0;
        for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++)
            if (dti_format_get((enum dti_dtype)id)->kind != DTI_KIND_COMPLEX)
                formats[at++] = *dti_format_get((enum dti_dtype)id);
        for (size_t i = 0; i < sizeof parsed / sizeof parsed[0]; i++) {
            if (dti_format_lookup(parsed[i], &formats[at], NULL, NULL) != DTI_OK) {
                printf("no dtype %s\n", parsed[i]);
                exit(1);
            }
            at++;
        }
        count = at;
    }
    *ret_formats = formats;
    return count;
}

size_t check_named_formats(void)
{
    size_t count = 0;
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++)
        count += dti_format_get((enum dti_dtype)id)->kind != DTI_KIND_COMPLEX;
    return count;
}

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t check_random(struct check *check)
{
    uint64_t z = check->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

size_t check_below(struct check *check, size_t limit)
{
    return (size_t)(check_random(check) % limit);
}

const struct dti_streaming *check_streaming(struct check *check)
{
    const size_t way = check_below(check, 2 * DTI_STREAMING_COUNT);
    return way < DTI_STREAMING_COUNT ? &dti_streamings[way] : NULL;
}

void check_fail(struct check *check, const char *format, ...)
{
    va_list arguments;
    check->failures++;
    if (check->silent || ++check->told > TOLD_MAX)
        return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

const char *check_policy_text(const struct dti_policy *policy)
{
    static const char *const rounds[] = {"nearest-even", "nearest-away", "zero",      "up",
                                         "down",         "odd",          "stochastic"};
    static const char *const overflows[] = {"native", "saturate", "saturate-finite", "wrap"};
    static const char *const nans[] = {"quiet", "canonical"};
    static char text[64];
    snprintf(text, sizeof text, "%s %s %s", rounds[policy->round], overflows[policy->overflow],
             nans[policy->nan]);
    return text;
}
