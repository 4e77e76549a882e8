/* SPDX-License-Identifier: MIT
 *
 * Memory to measure in: on huge pages where the system has them, because of what the first touch
 * costs on small ones, and asked for before it is taken. */
#ifndef DTINFO_BENCH_ARENA_H
#define DTINFO_BENCH_ARENA_H

#include <stdint.h>

#include "dtinfo/error.h"

struct dti_arena {
    unsigned char *data; /* aligned to 2 MiB */
    size_t size;
    void *mapping;
    size_t mapping_size;
};

/* Bytes that this process may still take, as far as the system tells; UINT64_MAX otherwise. */
uint64_t dti_memory_available(void);

/* Fails with DTI_UNAVAILABLE, saying how much there is, when there is not so much. */
enum dti_status dti_arena_check(uint64_t size, struct dti_error *reterr);
/* The same, or DTI_NO_MEMORY. Not touched yet. */
enum dti_status dti_arena_new(struct dti_arena *ret, uint64_t size, struct dti_error *reterr);
void dti_arena_free(struct dti_arena *arena);

/* Bytes of this process that are on huge pages; 0 when the system does not tell. */
uint64_t dti_huge_page_bytes(void);

#endif
