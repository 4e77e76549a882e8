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

struct item {
    const char *name;
    size_t name_length;
};

static size_t repeated(size_t count)
{
    static struct item items[MOST];
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct item){names[i], strlen(names[i])};
    CHECK(dti_names_repeated(items, count, DTI_NAMED(struct item, name), &at));
    return at;
}

static void lists_have_the_first_repeated_name(void)
{
    struct dti_name_order order;
    static const size_t twins[] = {0, 1, 17, 1000, MOST / 2};
    for (size_t k = 0; k < sizeof twins / sizeof *twins; k++) {
        if (!fill(&order, MOST, twins[k]))
            return;
        CHECK_U64(repeated(MOST), dti_name_order_repeated(&order));
        CHECK_U64(repeated(MOST), twins[k] > 0 ? MOST - twins[k] : SIZE_MAX);
        dti_name_order_free(&order);
    }
    CHECK_U64(repeated(0), SIZE_MAX);
    CHECK_U64(repeated(1), SIZE_MAX);
}

static struct item items[MOST];

/* Names of eight bytes whose hashes, as name_order.c computes them, differ in these bits only. */
static void craft(unsigned shift)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t inverse = odd;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - odd * inverse;
    for (size_t i = 0; i < MOST; i++) {
        const uint64_t hash = (uint64_t)(i + 1) << shift;
        uint64_t before = hash;
        for (int k = 0; k < 3; k++)
            before = hash ^ before >> 29;
        const uint64_t word = before * inverse ^ 8 * odd;
        memcpy(names[i], &word, sizeof word);
        items[i] = (struct item){names[i], sizeof word};
    }
}

static void crafted_names_are_told_apart(void)
{
    size_t at = 0;
    craft(40);
    CHECK(dti_names_repeated(items, MOST, DTI_NAMED(struct item, name), &at) && at == SIZE_MAX);
    memcpy(names[MOST - 1], names[7], 8);
    memcpy(names[MOST - 9], names[8], 8);
    CHECK(dti_names_repeated(items, MOST, DTI_NAMED(struct item, name), &at) && at == MOST - 9);
}

/* Rows have the upper half of a hash: names that have the same one are in one bucket. */
static void names_with_the_same_half_of_a_hash_are_found(void)
{
    struct dti_name_order order;
    size_t at = 0, wrong = 0;
    craft(0);
    if (!CHECK(dti_name_order_over(&order, items, MOST - 1, DTI_NAMED(struct item, name))))
        return;
    for (size_t i = 0; i < MOST - 1; i++)
        wrong += !dti_name_order_find(&order, items[i].name, items[i].name_length, &at) || at != i;
    CHECK_U64(wrong, 0);
    CHECK(!dti_name_order_find(&order, items[MOST - 1].name, items[MOST - 1].name_length, &at));
    CHECK_U64(dti_name_order_repeated(&order), SIZE_MAX);
    memcpy(names[70], names[7], 8);
    dti_name_order_free(&order);
    if (!CHECK(dti_name_order_over(&order, items, MOST, DTI_NAMED(struct item, name))))
        return;
    CHECK_U64(dti_name_order_repeated(&order), 70);
    CHECK(dti_name_order_find(&order, names[70], 8, &at) && at == 7);
    dti_name_order_free(&order);
}

UNIT_MAIN(finds_every_name_and_no_other, finds_the_first_of_several, many_in_one_bucket_are_sorted,
          lists_have_the_first_repeated_name, crafted_names_are_told_apart,
          names_with_the_same_half_of_a_hash_are_found)
