/* SPDX-License-Identifier: MIT
 *
 * Unnamed temporary files: written data reads back, and nothing remains in any folder. */
#define _GNU_SOURCE /* unsetenv() */
#include "io/scratch.h"

#include "folder.h"

static struct dti_error error;
static char *given; /* the test's own $TMPDIR */

static void enter(void)
{
    given = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    folder_enter();
    CHECK(setenv("TMPDIR", ".", 1) == 0);
}

static void leave(void)
{
    CHECK_U64(folder_leave(), 0);
    CHECK((given ? setenv("TMPDIR", given, 1) : unsetenv("TMPDIR")) == 0);
    free(given);
}

static void what_is_written_is_read_back_and_no_name_is_seen(void)
{
    struct dti_input scratch;
    char bytes[6];
    enter();
    if (CHECK(dti_scratch_open(&scratch, "model.npz", 0, &error) == DTI_OK)) {
        CHECK(scratch.fd > 2 && scratch.seekable && scratch.size == 0);
        CHECK((fcntl(scratch.fd, F_GETFD) & FD_CLOEXEC) != 0);
        CHECK(dti_scratch_append(&scratch, "abc", 3, &error) == DTI_OK);
        CHECK(dti_scratch_append(&scratch, "def", 3, &error) == DTI_OK);
        CHECK_U64(scratch.size, 6);
        CHECK(dti_scratch_write_at(&scratch, "XY", 2, 2, &error) == DTI_OK);
        CHECK(dti_input_read_at(&scratch, bytes, 6, 0, &error) == DTI_OK);
        CHECK(memcmp(bytes, "abXYef", 6) == 0);
        CHECK(dti_scratch_write_at(&scratch, "XY", 2, 5, &error) == DTI_BUG);
        CHECK(dti_input_read_at(&scratch, bytes, 2, 5, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text, "'model.npz' shrank while being read: it ends at byte 6 of 6");
        dti_input_close(&scratch);
    }
    leave();
}

static void bytes_that_were_not_written_are_zero(void)
{
    static const uint64_t sizes[] = {1000, 3 << 20}; /* space is reserved for the second */
    enter();
    for (size_t i = 0; i < 2; i++) {
        struct dti_input scratch;
        char bytes[4] = "wxyz";
        if (!CHECK(dti_scratch_open(&scratch, "x", sizes[i], &error) == DTI_OK))
            continue;
        CHECK_U64(scratch.size, sizes[i]);
        CHECK(dti_scratch_write_at(&scratch, "a", 1, sizes[i] - 3, &error) == DTI_OK);
        CHECK(dti_input_read_at(&scratch, bytes, 4, sizes[i] - 4, &error) == DTI_OK);
        CHECK(memcmp(bytes, "\0a\0\0", 4) == 0);
        dti_input_close(&scratch);
    }
    leave();
}

static void a_folder_that_cannot_be_written_is_named(void)
{
    struct dti_input scratch;
    enter();
    CHECK(setenv("TMPDIR", "./nowhere", 1) == 0);
    CHECK(dti_scratch_open(&scratch, "x.npz", 0, &error) == DTI_WRITE_FAILED);
    CHECK_STR(error.text, "'x.npz' needs a temporary file, but writing one in './nowhere' failed: "
                          "No such file or directory; set TMPDIR to another folder");
    CHECK(setenv("TMPDIR", ".", 1) == 0);
    CHECK(dti_scratch_open(&scratch, "x.npz", UINT64_MAX, &error) == DTI_WRITE_FAILED);
    CHECK(setenv("TMPDIR", "", 1) == 0);
    if (CHECK(dti_scratch_open(&scratch, "x.npz", 0, &error) == DTI_OK))
        dti_input_close(&scratch);
    CHECK(unsetenv("TMPDIR") == 0);
    if (CHECK(dti_scratch_open(&scratch, "x.npz", 0, &error) == DTI_OK))
        dti_input_close(&scratch);
    leave();
}

UNIT_MAIN(what_is_written_is_read_back_and_no_name_is_seen, bytes_that_were_not_written_are_zero,
          a_folder_that_cannot_be_written_is_named)
