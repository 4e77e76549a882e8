/* SPDX-License-Identifier: MIT
 *
 * Detects tensors that, by dtype and name, are codes with scales: their elements are not the
 * numbers that they encode, so reading them as numbers gives a warning. */
#ifndef FILES_SCAN_SCALED_CODES_H
#define FILES_SCAN_SCALED_CODES_H

#include "containers/container.h"

struct dti_scaled_codes {
    size_t count;                           /* number of such tensors */
    const struct dti_tensor *first, *scale; /* the first one and its scales, or NULL */
};
/* Examines `count` of the container's tensors. False: out of memory. */
bool dti_scaled_codes_find(struct dti_scaled_codes *ret, const struct dti_container *container,
                           const struct dti_tensor *const *tensors, size_t count);

/* "tensor 'w' holds codes, and its scale 'w_scale' is not applied". Requires count > 0; the text is
 * in buffer. */
enum { DTI_SCALED_CODES_TEXT = 2 * DTI_QUOTE_SIZE + 256 };
struct dti_note dti_scaled_codes_note(const struct dti_scaled_codes *codes,
                                      char buffer[DTI_SCALED_CODES_TEXT]);

#endif
