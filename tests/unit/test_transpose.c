/* SPDX-License-Identifier: MIT
 *
 * Compares arrays in Fortran order with the definition: item (i, j, ...) is at i + d0 (j + d1
 * (...)). */
#include "convert/transpose.h"

#include "folder.h"
#include "tally.h"

enum { RANK_MAX = 8, ITEMS_MAX = 40000 };

static struct dti_error error;
static const size_t items[] = {1, 2, 4, 8, 16};
static const uint64_t memories[] = {0, 1, 100, 3000, 100000};
enum { ITEMS = 5, MEMORIES = 5 };

static uint64_t random_state = 1;

static unsigned next_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33);
}

/* Row by row of the result; each item is fetched from its position in the definition. */
static void turn_slowly(unsigned char *to, const unsigned char *from, unsigned rank,
                        const uint64_t *shape, size_t count, size_t item)
{
    for (size_t at = 0; at < count; at++) {
        size_t rest = at, place = 0;
        uint64_t index[RANK_MAX];
        for (unsigned i = rank; i-- > 0; rest /= (size_t)shape[i])
            index[i] = rest % shape[i];
        for (unsigned i = rank; i-- > 0;)
            place = place * (size_t)shape[i] + (size_t)index[i];
        memcpy(to + at * item, from + place * item, item);
    }
}

static bool expect(unsigned rank, const uint64_t *shape, size_t item, uint64_t memory)
{
    enum { BEFORE = 13, AFTER = 3 };
    size_t count = 1;
    for (unsigned i = 0; i < rank; i++)
        count *= (size_t)shape[i];
    const size_t size = count * item;
    unsigned char *const from = malloc(BEFORE + size + AFTER);
    unsigned char *const wanted = malloc(size + 1), *const got = malloc(size + 1);
    struct dti_input input, transposed;
    bool good = false;
    if (!from || !wanted || !got)
        exit(1);
    for (size_t i = 0; i < BEFORE + size + AFTER; i++)
        from[i] = (unsigned char)next_random();
    turn_slowly(wanted, from + BEFORE, rank, shape, count, item);
    file_make("in", from, BEFORE + size + AFTER);
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    if (CHECK(dti_transpose(&input, BEFORE, rank, shape, item, memory, &transposed, &error) ==
              DTI_OK)) {
        good = CHECK_U64(transposed.size, size) && CHECK_STR(transposed.name, "in") &&
               CHECK(dti_input_read_at(&transposed, got, size, 0, &error) == DTI_OK) &&
               CHECK(memcmp(got, wanted, size) == 0);
        dti_input_close(&transposed);
    }
    dti_input_close(&input);
    free(from);
    free(wanted);
    free(got);
    return good;
}

static void shapes_of_every_rank_are_turned_in_any_memory(void)
{
    folder_enter();
    bool good = true;
    for (unsigned round = 0; round < (unit_quick() ? 100 : 600) && good; round++) {
        uint64_t shape[RANK_MAX];
        const unsigned rank = next_random() % (RANK_MAX + 1);
        size_t count = 1;
        for (unsigned i = 0; i < rank; i++) {
            /* many small dimensions, sometimes a long one */
            const size_t longest = ITEMS_MAX / count;
            const size_t most = next_random() % 4 == 0 ? longest : longest < 9 ? longest : 9;
            shape[i] = 1 + next_random() % most;
            count *= (size_t)shape[i];
        }
        good = expect(rank, shape, items[round % ITEMS], memories[round / ITEMS % MEMORIES]);
        for (unsigned i = 0; i < rank && !good; i++)
            printf("  dimension %u of %u is %u\n", i, rank, (unsigned)shape[i]);
    }
    folder_leave();
}

static void matrices_of_whole_and_of_broken_lines_are_turned(void)
{
    static const uint64_t sides[] = {1, 2, 15, 16, 17, 63, 64, 65, 200};
    folder_enter();
    for (unsigned i = 0; i < 9 * 9 * ITEMS; i++) {
        const uint64_t shape[] = {sides[i % 9], sides[i / 9 % 9]};
        if (!expect(2, shape, items[i / 81], memories[i % MEMORIES]))
            break;
    }
    folder_leave();
}

static void nothing_is_turned_into_nothing(void)
{
    static const uint64_t empty[] = {3, 0, 5}, huge[] = {UINT64_MAX, 0, UINT64_MAX};
    struct dti_input input, transposed;
    folder_enter();
    CHECK(expect(3, empty, 4, 0));
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    if (CHECK(dti_transpose(&input, 0, 3, huge, 4, 0, &transposed, &error) == DTI_OK)) {
        CHECK_U64(transposed.size, 0);
        dti_input_close(&transposed);
    }
    dti_input_close(&input);
    folder_leave();
}

static void many_dimensions_of_one_do_not_matter(void)
{
    uint64_t shape[300];
    unsigned char bytes[6] = {0};
    struct dti_input input, transposed;
    for (unsigned i = 0; i < 300; i++)
        shape[i] = 1;
    shape[7] = 2;
    shape[280] = 3;
    folder_enter();
    file_make("in", "\1\2\3\4\5\6", 6);
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    if (CHECK(dti_transpose(&input, 0, 300, shape, 1, 0, &transposed, &error) == DTI_OK)) {
        CHECK(dti_input_read_at(&transposed, bytes, 6, 0, &error) == DTI_OK);
        CHECK(memcmp(bytes, "\1\3\5\2\4\6", 6) == 0);
        dti_input_close(&transposed);
    }
    dti_input_close(&input);
    folder_leave();
}

/* An allocator that notes its largest block. */
struct watched {
    struct tally tally;
    size_t largest;
};

static void *allocate_watched(void *context, void *block, size_t size, size_t alignment)
{
    struct watched *const watched = context;
    if (size > watched->largest)
        watched->largest = size;
    return tally_allocate(&watched->tally, block, size, alignment);
}

/* Two blocks of half the memory each, of no more than the array. */
static void memory_is_what_the_array_needs_and_at_most_what_is_given(void)
{
    enum { SIDE = 64, BYTES = SIDE * SIDE * 8 };
    static const uint64_t shape[] = {SIDE, SIDE}, given[] = {0, UINT64_C(1) << 40, 8000};
    static const size_t wanted[] = {2 * BYTES, 2 * BYTES, 8000};
    for (int i = 0; i < 3; i++) {
        struct watched watched = {.largest = 0};
        struct dti_caller caller = {.allocate = allocate_watched, .allocate_context = &watched};
        struct dti_input input, transposed;
        struct dti_call call;
        static unsigned char bytes[BYTES];
        folder_enter();
        file_make("in", bytes, BYTES);
        dti_call_begin(&call, &caller);
        CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
        if (CHECK(dti_transpose(&input, 0, 2, shape, 8, given[i], &transposed, &error) == DTI_OK))
            dti_input_close(&transposed);
        dti_input_close(&input);
        dti_call_end(&call);
        folder_leave();
        CHECK_SIZE(watched.largest, wanted[i]);
        CHECK(tally_is_even(&caller, &watched.tally));
    }
}

static void what_is_not_there_is_an_error(void)
{
    static const uint64_t shape[] = {3, 4}, wraps[] = {UINT64_C(1) << 32, UINT64_C(1) << 32};
    struct dti_input input, transposed;
    folder_enter();
    file_make("in", "0123456789ab", 12);
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    CHECK(dti_transpose(&input, 1, 2, shape, 1, 0, &transposed, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "'in' is too short for its array in Fortran order");
    CHECK(dti_transpose(&input, 0, 2, wraps, 1, 0, &transposed, &error) == DTI_BAD_INPUT);
    CHECK(dti_transpose(&input, UINT64_MAX, 2, shape, 1, 0, &transposed, &error) == DTI_BAD_INPUT);
    CHECK(truncate("in", 5) == 0);
    CHECK(dti_transpose(&input, 0, 2, shape, 1, 0, &transposed, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "'in' shrank while being read: it ends at byte 5 of 12");
    dti_input_close(&input);
    CHECK_U64(folder_leave(), 1);
}

UNIT_MAIN(shapes_of_every_rank_are_turned_in_any_memory,
          matrices_of_whole_and_of_broken_lines_are_turned, nothing_is_turned_into_nothing,
          many_dimensions_of_one_do_not_matter,
          memory_is_what_the_array_needs_and_at_most_what_is_given, what_is_not_there_is_an_error)
