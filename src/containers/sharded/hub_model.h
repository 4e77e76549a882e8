/* SPDX-License-Identifier: MIT
 *
 * A model on the hub that is named without a file: which of its files is opened. */
#ifndef CONTAINERS_SHARDED_HUB_MODEL_H
#define CONTAINERS_SHARDED_HUB_MODEL_H

#include "containers/container.h"
#include "util/run/memory_pool.h"

/* The code of that note, the first of its container. */
#define DTI_HUB_NOTE "hub_file"

/* Lists the files of the model that is the container's path, hf://org/model[@revision], and
 * replaces that path with the address of the file that holds the model; a note says which one.
 * Fails with DTI_BAD_INPUT if there is no such model, no such file, or more than one of equal rank.
 */
enum dti_status dti_hub_choose(struct dti_container *container, struct dti_pool *pool,
                               struct dti_error *reterr);

/* The file among these names, as above: its index, count if there is none. *ret_several: how many
 * were of equal rank, the first of them at that index, or 0. Exposed for tests. */
size_t dti_hub_choose_name(const char *const *names, size_t count, size_t *ret_several);

#endif
