/* SPDX-License-Identifier: MIT
 *
 * SANITIZED: a sanitizer is active. It reserves terabytes of address space, so that address space
 * cannot be limited. */
#ifndef DTINFO_UNIT_SANITIZED_H
#define DTINFO_UNIT_SANITIZED_H

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif

#endif
