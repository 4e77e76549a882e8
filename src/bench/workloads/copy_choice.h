/* SPDX-License-Identifier: MIT
 *
 * Which of the kernels without arithmetic are limits: those that no other one of their sort beats
 * by its instructions alone. */
#ifndef DTINFO_BENCH_COPY_CHOICE_H
#define DTINFO_BENCH_COPY_CHOICE_H

#include "dtinfo/copy.h"

/* Portable, or of the highest level in use that has one of its sort; stores past the caches only
 * where the caches would not do, since they are half as fast otherwise. */
bool dti_copy_competes(const struct dti_copy *copy, enum dti_level allowed, bool in_cache);

/* "vector loop", since the same thing has a name of its own at each CPU level. */
const char *dti_copy_words(const struct dti_copy *copy);

#endif
