/* SPDX-License-Identifier: MIT
 *
 * The growing byte buffer. */
#include "unit.h"
#include "util/buffer.h"

static void is_an_empty_string_at_first_and_after_free(void)
{
    struct dti_buffer buffer;
    dti_buffer_init(&buffer);
    CHECK_STR(buffer.data, "");
    dti_buffer_append(&buffer, "", 0);
    dti_buffer_clear(&buffer);
    CHECK_STR(buffer.data, "");
    dti_buffer_puts(&buffer, "x");
    dti_buffer_free(&buffer);
    CHECK_STR(buffer.data, "");
    CHECK_SIZE(buffer.length, 0);
    dti_buffer_free(&buffer);
}

static void keeps_all_bytes_while_growing(void)
{
    struct dti_buffer buffer;
    dti_buffer_init(&buffer);
    for (unsigned i = 0; i < 100000; i++) {
        const char byte = (char)(i % 251);
        dti_buffer_append(&buffer, &byte, 1);
    }
    CHECK(!buffer.failed);
    CHECK_SIZE(buffer.length, 100000);
    for (unsigned i = 0; i < 100000; i++) {
        if (!CHECK(buffer.data[i] == (char)(i % 251)))
            break;
    }
    CHECK(buffer.data[buffer.length] == '\0');
    dti_buffer_free(&buffer);
}

static void appends_texts_and_fills(void)
{
    struct dti_buffer buffer;
    dti_buffer_init(&buffer);
    dti_buffer_puts(&buffer, "ab");
    dti_buffer_fill(&buffer, '-', 3);
    dti_buffer_fill(&buffer, '-', 0);
    CHECK_STR(buffer.data, "ab---");
    dti_buffer_clear(&buffer);
    CHECK_STR(buffer.data, "");
    dti_buffer_puts(&buffer, "c");
    CHECK_STR(buffer.data, "c");
    dti_buffer_free(&buffer);
}

static void stays_failed_and_unchanged_after_running_out_of_memory(void)
{
    struct dti_buffer buffer;
    dti_buffer_init(&buffer);
    dti_buffer_puts(&buffer, "kept");
    CHECK(!dti_buffer_reserve(&buffer, SIZE_MAX));
    CHECK(buffer.failed);
    dti_buffer_puts(&buffer, "lost");
    dti_buffer_fill(&buffer, 'x', 1);
    CHECK_STR(buffer.data, "kept");
    dti_buffer_clear(&buffer);
    CHECK(!buffer.failed);
    dti_buffer_puts(&buffer, "again");
    CHECK_STR(buffer.data, "again");
    dti_buffer_free(&buffer);
}

static void a_reserve_that_was_granted_needs_no_further_growth(void)
{
    struct dti_buffer buffer;
    dti_buffer_init(&buffer);
    CHECK(dti_buffer_reserve(&buffer, 1000));
    const char *const before = buffer.data;
    for (int i = 0; i < 100; i++)
        dti_buffer_puts(&buffer, "0123456789");
    CHECK(buffer.data == before);
    CHECK_SIZE(buffer.length, 1000);
    dti_buffer_free(&buffer);
}

static void borrows_room_until_it_is_too_short(void)
{
    struct dti_buffer buffer;
    char room[8];
    dti_buffer_borrow(&buffer, room, sizeof room);
    CHECK_STR(buffer.data, "");
    dti_buffer_puts(&buffer, "1234567");
    CHECK(buffer.data == room);
    dti_buffer_puts(&buffer, "8");
    CHECK(buffer.data != room);
    CHECK_STR(buffer.data, "12345678");
    CHECK_STR(room, "1234567");
    dti_buffer_free(&buffer);
    dti_buffer_borrow(&buffer, room, sizeof room);
    dti_buffer_puts(&buffer, "x");
    dti_buffer_free(&buffer);
    CHECK_STR(buffer.data, "");
    CHECK_STR(room, "x");
}

UNIT_MAIN(is_an_empty_string_at_first_and_after_free, keeps_all_bytes_while_growing,
          appends_texts_and_fills, stays_failed_and_unchanged_after_running_out_of_memory,
          a_reserve_that_was_granted_needs_no_further_growth, borrows_room_until_it_is_too_short)
