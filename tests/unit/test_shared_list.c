/* SPDX-License-Identifier: MIT
 *
 * Items that are equal to one of the last sixteen share its place; all others get the next one. */
#include <string.h>

#include "tally.h"
#include "unit.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/shared_list.h"

static uint64_t item_at(const struct dti_shared_list *list, size_t place)
{
    uint64_t item;
    memcpy(&item, (const char *)list->items + place * sizeof item, sizeof item);
    return item;
}

/* Numbers whose place is known beforehand: a new one for each that is none of the last places. */
static void recent_items_share_a_place(void)
{
    struct dti_shared_list list = {.items = NULL};
    uint64_t there[4000];
    size_t count = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        const uint64_t item = i % 7 == 0 ? i / 7 : i * i % 23 + 1000 * (i / 500);
        size_t want = count, first = count < DTI_SHARED_RECENT ? 0 : count - DTI_SHARED_RECENT;
        for (; first < count && want == count; first++)
            want = there[first] == item ? first : want;
        uint32_t place = 0;
        CHECK(dti_shared_list_share(&list, &item, sizeof item, &place));
        CHECK_U64(place, want);
        if (want == count)
            there[count++] = item;
        CHECK_U64(list.count, count);
        CHECK_U64(item_at(&list, place), item);
    }
    CHECK(count > 100 && count < 4000);
    for (size_t i = 0; i < count; i++)
        CHECK_U64(item_at(&list, i), there[i]);
    dti_free(list.items);
}

static void added_items_never_share(void)
{
    struct dti_shared_list list = {.items = NULL};
    const uint64_t item = 5;
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t place = 99;
        CHECK(dti_shared_list_add(&list, &item, sizeof item, &place) && place == i);
    }
    uint32_t place = 99;
    CHECK(dti_shared_list_share(&list, &item, sizeof item, &place));
    CHECK(list.count == 40 && place >= 40 - DTI_SHARED_RECENT && place < 40);
    dti_free(list.items);
}

static void a_failure_changes_nothing(void)
{
    struct tally tally = {0};
    struct dti_caller caller = tally_caller(&tally);
    struct dti_call call;
    dti_call_begin(&call, &caller);
    struct dti_shared_list list = {.items = NULL};
    uint32_t place = 7;
    uint64_t item = 0;
    for (; item == 0 || list.count < list.room; item++)
        CHECK(dti_shared_list_add(&list, &item, sizeof item, &place));
    const size_t count = list.count;
    tally.fails_at = 1;
    CHECK(!dti_shared_list_add(&list, &item, sizeof item, &place));
    CHECK(!dti_shared_list_share(&list, &item, sizeof item, &place));
    CHECK(list.count == count && item_at(&list, count - 1) == count - 1);
    dti_free(list.items);
    dti_call_end(&call);
    CHECK(tally.live == 0);
}

UNIT_MAIN(recent_items_share_a_place, added_items_never_share, a_failure_changes_nothing)
