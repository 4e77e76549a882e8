/* SPDX-License-Identifier: MIT
 *
 * What a model asks of the program that loads it, in the words of loader_rules.def: the kind of its
 * file, its configuration, and each layout and dtype of its tensors once. */
#ifndef FILES_LOADERS_DEMANDS_H
#define FILES_LOADERS_DEMANDS_H

#include <stdint.h>

#include "containers/container.h"
#include "files/loaders/loaders.h"
#include "util/run/memory_pool.h"

enum { DTI_DEMAND_SUBJECT = 160 };
struct dti_loader_demand {
    enum dti_loader_topic topic;
    bool unsure;                      /* whether it is so is not known */
    char subject[DTI_DEMAND_SUBJECT]; /* safe for a terminal */
    size_t tensor, tensors;           /* the first, and how many; SIZE_MAX and 0: of the file */
};
struct dti_loader_demands {
    struct dti_loader_demand *list; /* the first is the kind */
    size_t count, capacity;
    struct dti_pool pool;
    char method[32]; /* of the configuration; "" if there is none */
};

/* For a container of dti_logical_open() with `lint`, and the indices of its tensors to look at.
 * Always free the result. Fails with DTI_NO_MEMORY. */
enum dti_status dti_loader_demands(struct dti_loader_demands *ret, struct dti_container *container,
                                   const size_t *tensors, size_t count, struct dti_error *reterr);
void dti_loader_demands_free(struct dti_loader_demands *demands);

#endif
