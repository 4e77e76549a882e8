/* SPDX-License-Identifier: MIT
 *
 * Which instructions the array kernels may use. Levels form a ladder on each architecture: a level
 * includes those before it. */
#ifndef KERNELS_CPU_H
#define KERNELS_CPU_H

#include <stdbool.h>
#include <stddef.h>

#include "dtinfo/error.h"

enum dti_level {
#define LEVEL(id, ...) DTI_LEVEL_##id,
#include "kernels/levels.def"
#undef LEVEL
    DTI_LEVEL_COUNT
};

const char *dti_level_name(enum dti_level level);    /* "avx512" */
const char *dti_level_meaning(enum dti_level level); /* "avx2 and AVX-512 F, BW, CD, DQ, VL" */

/* The level of that name ("none" is scalar); fails with DTI_BAD_VALUE, naming those there are. */
enum dti_status dti_level_lookup(const char *name, enum dti_level *ret_level,
                                 struct dti_error *reterr);

/* Whether this program on this CPU under this operating system can run a level. */
bool dti_level_present(enum dti_level level);

/* Whether kernels of a level that is present may run in this process. Linux hands out the tiles of
 * AMX on request only: the first question about that level is the request. Otherwise *ret_why says
 * why not, in words that last; levels other than AMX are always permitted. */
bool dti_level_permitted(enum dti_level level, const char **ret_why);

/* What a kernel may need beyond its level: not all CPUs of higher levels have it. */
enum dti_unit { DTI_UNIT_NONE, DTI_UNIT_AVX_VNNI };

/* Whether this program on this CPU under this operating system can use a unit. */
bool dti_unit_present(enum dti_unit unit);

/* Whether kernels of level `needed` may run where `allowed` is the highest level in use: needed is
 * on allowed's ladder, and not above it. */
bool dti_level_includes(enum dti_level allowed, enum dti_level needed);

/* The highest level present, limited by `limit`, the value of DTINFO_CPU (NULL or "" for none). A
 * limit above what is present changes nothing; one of another architecture fails with
 * DTI_UNAVAILABLE, an unknown name with DTI_BAD_ENVIRONMENT. */
enum dti_status dti_level_choose(const char *limit, enum dti_level *ret_level,
                                 struct dti_error *reterr);

/* Ends a row of kernels that streamed their results: what this thread stored is seen by other
 * threads before anything that it stores later. Once a run, since each waits for the memory. */
void dti_stores_order(void);

/* Bytes of the last cache level that one core sees, 32 MiB when the system does not report it. */
size_t dti_last_cache_bytes(void);
/* Bytes of the data cache of that level (1, 2, 3); 0 when the system does not report it. */
size_t dti_cache_bytes(unsigned level);

#endif
