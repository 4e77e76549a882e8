/* SPDX-License-Identifier: MIT
 *
 * Sizes of --fit: bytes with units of either kind, "80GB", "24GiB". */
#ifndef REQUESTS_FIT_BYTES_H
#define REQUESTS_FIT_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* False: it is none, or does not fit into 64 bits. */
bool dti_fit_bytes(const char *text, uint64_t *ret_bytes);
/* Whether it is a small number without a unit, which probably lacks it. */
bool dti_fit_lacks_unit(const char *text, uint64_t bytes);

#endif
