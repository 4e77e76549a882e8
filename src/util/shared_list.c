/* SPDX-License-Identifier: MIT
 *
 * Lists of items that are often equal. */
#include "util/shared_list.h"

#include <string.h>

#include "util/run/allocate.h"

bool dti_shared_list_add(struct dti_shared_list *list, const void *item, size_t size, uint32_t *ret)
{
    if (list->count == list->room) {
        const size_t more = list->count < 8 ? 8 : 2 * list->count;
        void *const grown = more <= UINT32_MAX && more <= SIZE_MAX / size
                                ? dti_realloc(list->items, more * size)
                                : NULL;
        if (!grown)
            return false;
        list->items = grown;
        list->room = more;
    }
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
