/* SPDX-License-Identifier: MIT
 *
 * A list in which items that are equal share a place, if they follow each other closely: what many
 * tensors that are alike have in common. */
#ifndef UTIL_SHARED_LIST_H
#define UTIL_SHARED_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DTI_SHARED_RECENT = 16 };
/* All zeros: empty. The items move while it grows; dti_free() frees them. */
struct dti_shared_list {
    void *items;
    size_t count, room;
    uint32_t recent[DTI_SHARED_RECENT]; /* the last places, which are compared */
};

/* *ret: the place of the item, which has this size: that of a recent one with the same bytes, or a
 * new one. False: out of memory. */
bool dti_shared_list_share(struct dti_shared_list *list, const void *item, size_t size,
                           uint32_t *ret);
/* The same, always a new place. */
bool dti_shared_list_add(struct dti_shared_list *list, const void *item, size_t size,
                         uint32_t *ret);

#endif
