/* SPDX-License-Identifier: MIT
 *
 * Allocations from a pool are complete, aligned and do not overlap. */
#include <stdalign.h>
#include <string.h>

#include "unit.h"
#include "util/run/memory_pool.h"

static void gives_aligned_pieces_that_do_not_overlap(void)
{
    enum { PIECES = 4000 };
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    struct dti_pool pool = {.chunks = NULL};
    for (size_t i = 0; i < PIECES; i++) {
        sizes[i] = i % 97 == 0 ? i * 50 : i % 41; /* small, empty, and some larger than a chunk */
        pieces[i] = dti_pool_alloc(&pool, sizes[i]);
        const bool wide = sizes[i] > 0 && sizes[i] % alignof(max_align_t) == 0;
        const size_t alignment = wide ? alignof(max_align_t) : 8;
        if (!CHECK(pieces[i]) || !CHECK((uintptr_t)pieces[i] % alignment == 0))
            break;
        memset(pieces[i], (int)(i % 251), sizes[i]);
    }
    bool whole = true;
    for (size_t i = 0; i < PIECES && pieces[i]; i++)
        for (size_t at = 0; at < sizes[i]; at++)
            whole = whole && pieces[i][at] == i % 251;
    CHECK(whole);
    dti_pool_free(&pool);
}

static void gives_nothing_an_address_of_its_own(void)
{
    struct dti_pool pool = {.chunks = NULL};
    const void *const first = dti_pool_alloc(&pool, 0);
    const void *const second = dti_pool_array(&pool, 0, 8);
    CHECK(first && second && first != second);
    dti_pool_free(&pool);
}

static void copies_text_with_what_it_holds(void)
{
    struct dti_pool pool = {.chunks = NULL};
    const char *const text = dti_pool_text(&pool, "a\0b", 3);
    CHECK(text && memcmp(text, "a\0b", 4) == 0);
    CHECK_STR(dti_pool_text(&pool, NULL, 0), "");
    dti_pool_free(&pool);
}

static void refuses_what_no_memory_holds(void)
{
    struct dti_pool pool = {.chunks = NULL};
    CHECK(!dti_pool_array(&pool, SIZE_MAX / 2, 4));
    CHECK(!dti_pool_array(&pool, SIZE_MAX / 8 + 2, 8));
    CHECK(!dti_pool_alloc(&pool, SIZE_MAX));
    CHECK(!dti_pool_text(&pool, "", SIZE_MAX));
    CHECK(dti_pool_alloc(&pool, 1)); /* the pool stays usable */
    dti_pool_free(&pool);
}

static void grows_pieces_and_keeps_what_they_hold(void)
{
    enum { LAST = 1 << 20 };
    struct dti_pool pool = {.chunks = NULL};
    unsigned char *grown = NULL;
    const unsigned char *others[64];
    size_t other_count = 0, used = 0, wrong = 0;
    for (size_t size = 1; size <= LAST; size *= 2) {
        unsigned char *const more = dti_pool_grow(&pool, grown, used, size);
        if (!CHECK(more))
            break;
        for (size_t i = used; i < size; i++)
            more[i] = (unsigned char)(i % 251);
        grown = more;
        used = size;
        unsigned char *const other = dti_pool_alloc(&pool, size / 2 + 1);
        if (!CHECK(other))
            break;
        memset(other, 255, size / 2 + 1);
        others[other_count++] = other;
    }
    for (size_t i = 0; i < used; i++)
        wrong += grown[i] != i % 251;
    for (size_t i = 0; i < other_count; i++)
        wrong += others[i][0] != 255 || others[i][((size_t)1 << i) / 2] != 255;
    CHECK_U64(wrong, 0);
    CHECK(!dti_pool_grow(&pool, grown, used, SIZE_MAX));
    dti_pool_free(&pool);
}

static void is_empty_and_ready_after_it_was_freed(void)
{
    struct dti_pool pool = {.chunks = NULL};
    CHECK(dti_pool_alloc(&pool, 100000));
    dti_pool_free(&pool);
    CHECK(!pool.chunks);
    dti_pool_free(&pool);
    CHECK(dti_pool_alloc(&pool, 1));
    dti_pool_free(&pool);
}

UNIT_MAIN(gives_aligned_pieces_that_do_not_overlap, gives_nothing_an_address_of_its_own,
          copies_text_with_what_it_holds, grows_pieces_and_keeps_what_they_hold,
          refuses_what_no_memory_holds, is_empty_and_ready_after_it_was_freed)
