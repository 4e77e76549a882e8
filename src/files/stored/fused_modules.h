/* SPDX-License-Identifier: MIT
 *
 * Projections that loaders store as one matrix, by the names of their weights. */
#ifndef FILES_STORED_FUSED_MODULES_H
#define FILES_STORED_FUSED_MODULES_H

#include <stdbool.h>
#include <stddef.h>

enum { DTI_FUSED_MOST = 3 }; /* parts of a matrix */

/* The weight of a part: the name of each part is the first `prefix` bytes of its name, and one of
 * the endings. */
struct dti_fused_name {
    const char *const *endings; /* DTI_FUSED_MOST; NULL: there are no more */
    unsigned part;              /* which of them it is */
    size_t prefix;
};
/* False: it is no such weight by its name. Whether the other parts are there is not looked at. */
bool dti_fused_name_read(struct dti_fused_name *ret, const char *name, size_t length);

#endif
