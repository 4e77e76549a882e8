/* SPDX-License-Identifier: MIT
 *
 * The instructions that array kernels may use. The levels of each architecture form a ladder:
 * each one includes all those below it. */
#ifndef KERNELS_CPU_H
#define KERNELS_CPU_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

enum dti_level {
#define LEVEL(id, ...) DTI_LEVEL_##id,
#include "kernels/levels.def"
#undef LEVEL
    DTI_LEVEL_COUNT
};

const char *dti_level_name(enum dti_level level);    /* "avx512" */
const char *dti_level_meaning(enum dti_level level); /* "avx2 and AVX-512 F, BW, CD, DQ, VL" */

/* Looks up a level by name ("none" is scalar). Fails with DTI_BAD_VALUE; the message lists the
 * valid names. */
enum dti_status dti_level_lookup(const char *name, enum dti_level *ret_level,
                                 struct dti_error *reterr);

/* Whether this build has kernels of a level: those of its architecture. */
bool dti_level_is_built(enum dti_level level);

/* Whether this build, CPU and operating system can run a level. */
bool dti_level_present(enum dti_level level);

/* Whether this process may run kernels of a level that is present. Linux grants the AMX tiles
 * only on request; the first call for that level makes the request. If not permitted, *ret_why
 * is the reason, a static string. Levels other than AMX are always permitted. */
bool dti_level_permitted(enum dti_level level, const char **ret_why);

/* Features that a kernel may need beyond its level; not all CPUs of higher levels have them. */
enum dti_unit { DTI_UNIT_NONE, DTI_UNIT_AVX_VNNI };

/* Whether this build, CPU and operating system can use a unit. */
bool dti_unit_present(enum dti_unit unit);

/* The family and the model that CPUID reports for a processor whose maker it calls that
 * ("AuthenticAMD", "GenuineIntel"): 25 are Zen 3 and 4; 6 with model 143 is Sapphire Rapids. The
 * family is 0 for others. */
unsigned dti_cpu_family(const char *maker, unsigned *ret_model);

/* Whether kernels of level `needed` may run if `allowed` is the highest level in use: both are
 * on the same ladder, and `needed` is not above `allowed`. */
bool dti_level_includes(enum dti_level allowed, enum dti_level needed);

/* The highest level present, limited by `limit`, the value of DTINFO_CPU (NULL or "" for no
 * limit). A limit above what is present has no effect; a level of another architecture fails
 * with DTI_UNAVAILABLE, an unknown name with DTI_BAD_ENVIRONMENT. */
enum dti_status dti_level_choose(const char *limit, enum dti_level *ret_level,
                                 struct dti_error *reterr);

/* A store fence after a series of kernels with streaming stores: other threads see this thread's
 * earlier stores before its later ones. Call it once per run, because it waits for memory. */
void dti_stores_order(void);

/* Bytes of the last-level cache that one core sees; 32 MiB if the system does not report it. */
size_t dti_last_cache_bytes(void);
/* Bytes of the data cache of a level (1, 2, 3); 0 if the system does not report it. */
size_t dti_cache_bytes(unsigned level);

#endif
