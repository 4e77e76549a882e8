/* SPDX-License-Identifier: MIT
 *
 * Modules that loaders store as one matrix, identified by the names of their weights: the rows of
 * fused_modules.def, and a group that the user gives. */
#ifndef FILES_STORED_FUSED_MODULES_H
#define FILES_STORED_FUSED_MODULES_H

#include <stdbool.h>
#include <stddef.h>

#include "files/stored/quant_names.h"
#include "util/error.h"

enum {
    DTI_FUSED_MOST = 8,     /* modules of a matrix */
    DTI_FUSED_LONGEST = 48, /* bytes of a module's name */
};

/* A group that the rows do not have: any two of its modules that have the same parent. Rows that
 * need one of them do not apply. count 0: none. */
struct dti_fused_own {
    size_t count;
    char names[DTI_FUSED_MOST][DTI_FUSED_LONGEST + 1];
};
/* Reads "q_proj,k_proj". Fails with DTI_USAGE. */
enum dti_status dti_fused_own_read(struct dti_fused_own *ret, const char *text,
                                   struct dti_error *reterr);

/* Fails with DTI_USAGE because the group has no two tensors in a file. */
enum dti_status dti_fused_own_refuse(const struct dti_fused_own *own, struct dti_error *reterr);

/* The weights of a matrix, in the order of its row. */
struct dti_fused_match {
    size_t count;                   /* 2 or more */
    size_t members[DTI_FUSED_MOST]; /* their indices */
    size_t self;                    /* which of them was looked for */
    bool own;                       /* it is the user's group */
};
/* Finds the matrix that a tensor is a part of, among all names of the container; own: may be NULL.
 * False: none, or no other part of it exists. The name must be one of these names, or not longer
 * than the longest. */
bool dti_fused_find(const struct dti_fused_own *own, const struct dti_quant_names *names,
                    const char *name, size_t length, struct dti_fused_match *ret);
/* Whether a name, regardless of others, may be that of such a weight. */
bool dti_fused_may_be(const struct dti_fused_own *own, const char *name, size_t length);

#endif
