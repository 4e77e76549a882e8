/* SPDX-License-Identifier: MIT
 *
 * Growing arrays keep their elements, fail without a change where memory runs out, and never ask
 * for a size that wrapped around. */
#include <stdint.h>
#include <string.h>

#include "tally.h"
#include "unit.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/grown.h"

static void elements_stay(void)
{
    uint32_t *list = NULL;
    size_t capacity = 0, moves = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        const size_t before = capacity;
        uint32_t *const more = dti_grown(list, i, &capacity, sizeof *more);
        CHECK(more && capacity > i);
        CHECK(capacity == before ? more == list : capacity > before);
        moves += capacity != before;
        list = more;
        list[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        CHECK(list[i] == i);
    CHECK(moves <= 14); /* amortized: a power of two each */
    dti_free(list);
}

static void failures_change_nothing(void)
{
    struct tally tally = {0};
    struct dti_caller caller = tally_caller(&tally);
    struct dti_call call;
    dti_call_begin(&call, &caller);
    size_t capacity = 0;
    char *list = dti_grown(NULL, 0, &capacity, 3);
    const size_t there = capacity;
    CHECK(list && there > 0);
    memset(list, 7, 3 * there);
    tally.fails_at = 1;
    CHECK(!dti_grown(list, there, &capacity, 3) && capacity == there);
    CHECK(dti_grown(list, there - 1, &capacity, 3) == list);
    for (size_t i = 0; i < 3 * there; i++)
        CHECK(list[i] == 7);
    size_t none = 0;
    CHECK(!dti_grown(NULL, 0, &none, 3) && none == 0);
    tally.fails_at = 0;
    const size_t calls = tally.calls;
    size_t many = SIZE_MAX / 16; /* twice as many of 16 bytes wrap around */
    CHECK(!dti_grown(list, many, &many, 16) && many == SIZE_MAX / 16);
    many = SIZE_MAX / 4 + 1; /* to nothing, and small sizes, too */
    CHECK(!dti_grown(list, many, &many, 2) && many == SIZE_MAX / 4 + 1);
    CHECK(tally.calls == calls);
    dti_free(list);
    dti_call_end(&call);
    CHECK(tally.live == 0);
}

UNIT_MAIN(elements_stay, failures_change_nothing)
