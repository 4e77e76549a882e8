/* SPDX-License-Identifier: MIT
 *
 * Lists of items that are often equal. */
#include "util/shared_list.h"

#include <string.h>

#include "util/run/grown.h"

bool dti_shared_list_add(struct dti_shared_list *list, const void *item, size_t size, uint32_t *ret)
{
    void *const grown =
        list->count < UINT32_MAX ? dti_grown(list->items, list->count, &list->room, size) : NULL;
    if (!grown)
        return false;
    list->items = grown;
    *ret = (uint32_t)list->count;
    memcpy((char *)list->items + *ret * size, item, size); /* with what lies between members */
    list->recent[list->count++ % DTI_SHARED_RECENT] = *ret;
    return true;
}

bool dti_shared_list_share(struct dti_shared_list *list, const void *item, size_t size,
                           uint32_t *ret)
{
    for (size_t i = 0; i < DTI_SHARED_RECENT && i < list->count; i++) {
        *ret = list->recent[i];
        if (memcmp((const char *)list->items + *ret * size, item, size) == 0)
            return true;
    }
    return dti_shared_list_add(list, item, size, ret);
}
