/* SPDX-License-Identifier: MIT
 *
 * Projections that loaders store as one matrix, identified by the names of their weights. */
#ifndef FILES_STORED_FUSED_MODULES_H
#define FILES_STORED_FUSED_MODULES_H

#include <stdbool.h>
#include <stddef.h>

enum { DTI_FUSED_MOST = 3 }; /* parts of a matrix */

/* The weight of one part. Each part's name is the first `prefix` bytes of this name plus one of the
 * endings. */
struct dti_fused_name {
    const char *const *endings; /* DTI_FUSED_MOST entries; NULL after the last one */
    unsigned part;              /* index of this part in endings */
    size_t prefix;
};
/* Returns false if the name is not that of such a weight. Does not check whether the other parts
 * exist. */
bool dti_fused_name_read(struct dti_fused_name *ret, const char *name, size_t length);

#endif
