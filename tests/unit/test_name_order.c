/* SPDX-License-Identifier: MIT
 *
 * The index of names: which names are found, and which names are duplicates. */
#include <stdio.h>
#include <string.h>

#include "containers/name_order.h"
#include "unit.h"

enum { MOST = 5000, SIZE = 24 };
static char names[MOST][SIZE];

/* All names differ except the last `twins`, which repeat the first ones. */
static bool fill(struct dti_name_order *order, size_t count, size_t twins)
{
    if (!CHECK(dti_name_order_init(order, count)))
        return false;
    for (size_t i = 0; i < count; i++) {
        const size_t number = i < count - twins ? i : i - (count - twins);
        (void)snprintf(names[i], SIZE, "layers.%zu.weight", number * 7919 % MOST);
        dti_name_order_add(order, names[i], strlen(names[i]));
    }
    dti_name_order_sort(order);
    return true;
}

static void finds_every_name_and_no_other(void)
{
    static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 64, 1000, MOST};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct dti_name_order order;
        size_t at = 0, wrong = 0;
        if (!fill(&order, counts[k], 0))
            return;
        for (size_t i = 0; i < counts[k]; i++)
            wrong += !dti_name_order_find(&order, names[i], strlen(names[i]), &at) || at != i;
        CHECK_U64(wrong, 0);
        CHECK(!dti_name_order_find(&order, "", 0, &at));
        CHECK(!dti_name_order_find(&order, "layers.0.weigh", 14, &at));
        CHECK_U64(dti_name_order_repeated(&order), SIZE_MAX);
        dti_name_order_free(&order);
    }
}

static void finds_the_first_of_several(void)
{
    struct dti_name_order order;
    size_t at = 0, wrong = 0;
    if (!fill(&order, MOST, 1000))
        return;
    CHECK_U64(dti_name_order_repeated(&order), MOST - 1000);
    for (size_t i = MOST - 1000; i < MOST; i++)
        wrong += !dti_name_order_find(&order, names[i], strlen(names[i]), &at) ||
                 at != i - (MOST - 1000);
    CHECK_U64(wrong, 0);
    dti_name_order_free(&order);
}

/* A bucket with far more rows than others: one name repeated. */
static void many_in_one_bucket_are_sorted(void)
{
    struct dti_name_order order;
    size_t at = 0;
    if (!CHECK(dti_name_order_init(&order, MOST)))
        return;
    for (size_t i = 0; i < MOST; i++) {
        (void)snprintf(names[i], SIZE, "%s", i % 2 == 0 ? "same" : "other");
        dti_name_order_add(&order, names[i], strlen(names[i]));
    }
    dti_name_order_sort(&order);
    CHECK(dti_name_order_find(&order, "same", 4, &at) && at == 0);
    CHECK(dti_name_order_find(&order, "other", 5, &at) && at == 1);
    CHECK_U64(dti_name_order_repeated(&order), 2);
    dti_name_order_free(&order);
}

UNIT_MAIN(finds_every_name_and_no_other, finds_the_first_of_several, many_in_one_bucket_are_sorted)
