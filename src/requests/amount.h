/* SPDX-License-Identifier: MIT
 *
 * Amounts in options: bytes with binary units, numbers of threads. */
#ifndef REQUESTS_AMOUNT_H
#define REQUESTS_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answers/amounts.h"
#include "util/error.h"

/* "4096", "64KiB", "1 GiB": bytes, not 0. option names the option in the error ("--size"). Fails
 * with DTI_USAGE; for "1M" and "1MB", which might be powers of ten, the error shows the right
 * spelling. */
enum dti_status dti_amount_bytes(const char *option, const char *text, size_t length,
                                 uint64_t *ret_bytes, struct dti_error *reterr);

/* A number from 1 to DTI_THREADS_MAX, or "all": one for each CPU. */
enum dti_status dti_amount_threads(const char *text, size_t length, size_t *ret_threads,
                                   struct dti_error *reterr);

#endif
