/* SPDX-License-Identifier: MIT
 *
 * Multiplies codes of fp8_e4m3fn by a ratio of two scales, exactly, with one rounding to nearest
 * even: a table of what becomes of each code. */
#ifndef FILES_TRANSCODE_RESCALE_H
#define FILES_TRANSCODE_RESCALE_H

#include <stdint.h>

struct dti_rescale {
    unsigned char to[256];
    double error[256]; /* |new - old| / |old| of the numbers, rounded once; 0: exactly the same, as
                        * NaN and zero are; 1: it became zero */
};
/* For the ratio numerator / denominator, of finite numbers above 0, at most 1. */
void dti_rescale_make(struct dti_rescale *ret, float numerator, float denominator);

/* What becomes of codes that occur counts[code] times: how many stay exactly the same, and the
 * largest error. */
struct dti_rescaled {
    uint64_t codes, same;
    double worst;
};
struct dti_rescaled dti_rescale_count(const struct dti_rescale *rescale,
                                      const uint64_t counts[256]);

#endif
