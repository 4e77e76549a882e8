/* SPDX-License-Identifier: MIT
 *
 * Opens and reads files, pipes and standard input. */
#include "io/input.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include "folder.h"

static struct dti_input input;
static struct dti_error error;
static char buffer[256];

static void refused(const char *path, const char *want)
{
    CHECK(dti_input_open(&input, path, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, want);
}

static void expect_rest(const char *want)
{
    size_t size = 0;
    CHECK(dti_input_read(&input, buffer, sizeof buffer - 1, &size, &error) == DTI_OK);
    buffer[size] = '\0';
    CHECK_STR(buffer, want);
}

static void files_are_read_in_sequence_and_anywhere(void)
{
    folder_enter();
    file_make("in", "0123456789", 10);
    if (CHECK(dti_input_open(&input, "in", &error) == DTI_OK)) {
        CHECK(input.seekable);
        CHECK_U64(input.size, 10);
        CHECK(dti_input_read_at(&input, buffer, 3, 7, &error) == DTI_OK);
        CHECK(memcmp(buffer, "789", 3) == 0);
        size_t size = 0;
        CHECK(dti_input_read(&input, buffer, 4, &size, &error) == DTI_OK && size == 4);
        CHECK(dti_input_read_at(&input, buffer, 2, 0, &error) == DTI_OK);
        expect_rest("456789");
        expect_rest("");
        struct stat st = {0};
        CHECK(stat("in", &st) == 0 && input.inode == (uint64_t)st.st_ino);
        dti_input_close(&input);
    }
    CHECK_U64(folder_leave(), 1);
}

static void what_cannot_be_read_is_named(void)
{
    folder_enter();
    CHECK(mkdir("dir", 0700) == 0);
    refused("dir", "cannot read 'dir': Is a directory");
    refused("none", "cannot read 'none': No such file or directory");
    refused("", "cannot read '': No such file or directory");
    refused("/dev/zero", "'/dev/zero' is a device; dtinfo reads files and pipes");
    CHECK(symlink("loop", "loop") == 0);
    refused("loop", "cannot read 'loop': Too many levels of symbolic links");
    folder_leave();
}

static void a_file_that_shrinks_is_an_error(void)
{
    folder_enter();
    file_make("in", "0123456789", 10);
    if (CHECK(dti_input_open(&input, "in", &error) == DTI_OK)) {
        CHECK(truncate("in", 6) == 0);
        memset(&error, 0, sizeof error);
        CHECK(dti_input_read_at(&input, buffer, 4, 2, &error) == DTI_OK);
        CHECK(dti_input_read_at(&input, buffer, 5, 2, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text, "'in' shrank while being read: it ends at byte 6 of 10");
        dti_input_close(&input);
    }
    folder_leave();
}

static void offsets_beyond_63_bits_are_refused(void)
{
    folder_enter();
    file_make("in", "0123456789", 10);
    if (CHECK(dti_input_open(&input, "in", &error) == DTI_OK)) {
        CHECK(dti_input_read_at(&input, buffer, 1, UINT64_MAX, &error) == DTI_BAD_INPUT);
        CHECK(strstr(error.text, strerror(EOVERFLOW)) != NULL);
        error.text[0] = '\0';
        CHECK(dti_input_read_at(&input, buffer, 8, INT64_MAX - 7, &error) == DTI_BAD_INPUT);
        CHECK(strstr(error.text, strerror(EOVERFLOW)) != NULL);
        dti_input_close(&input);
    }
    folder_leave();
}

/* Runs in a child, so that standard input can be replaced. Its exit code is the number of failed
 * checks. */
static void as_standard_input(int fd, void (*body)(void))
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        unit_failures = 0;
        CHECK(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
        body();
        fflush(stdout);
        _exit((int)unit_failures);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void from_the_middle(void)
{
    if (!CHECK(dti_input_open(&input, "-", &error) == DTI_OK))
        return;
    CHECK(input.seekable);
    CHECK_U64(input.start, 4);
    CHECK_U64(input.size, 6);
    CHECK(dti_input_read_at(&input, buffer, 3, 3, &error) == DTI_OK);
    CHECK(memcmp(buffer, "789", 3) == 0);
    CHECK(dti_input_read_at(&input, buffer, 3, 4, &error) == DTI_BAD_INPUT);
    expect_rest("456789");
    char label[DTI_QUOTE_SIZE];
    CHECK_STR(dti_input_label(&input, label), "standard input");
    dti_input_close(&input);
    CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}

static void standard_input_begins_where_it_stands(void)
{
    folder_enter();
    file_make("in", "0123456789", 10);
    const int fd = open("in", O_RDONLY);
    CHECK(lseek(fd, 4, SEEK_SET) == 4);
    as_standard_input(fd, from_the_middle);
    close(fd);
    folder_leave();
}

static void empty_device(void)
{
    if (!CHECK(dti_input_open(&input, "-", &error) == DTI_OK))
        return;
    CHECK(!input.seekable);
    expect_rest("");
}

static void standard_input_may_be_a_device(void)
{
    const int fd = open("/dev/null", O_RDONLY);
    as_standard_input(fd, empty_device);
    close(fd);
}

static void pieces_of_a_pipe_are_put_together(void)
{
    folder_enter();
    CHECK(mkfifo("pipe", 0600) == 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open("pipe", O_WRONLY);
        for (int i = 0; i < 10; i++) {
            const struct timespec pause = {.tv_nsec = 2000000};
            nanosleep(&pause, NULL);
            if (write(fd, &"0123456789"[i], 1) != 1)
                _exit(1);
        }
        _exit(0);
    }
    if (CHECK(dti_input_open(&input, "pipe", &error) == DTI_OK)) {
        CHECK(!input.seekable);
        size_t size = 0;
        CHECK(dti_input_read(&input, buffer, 7, &size, &error) == DTI_OK && size == 7);
        CHECK(memcmp(buffer, "0123456", 7) == 0);
        expect_rest("789");
        dti_input_close(&input);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    folder_leave();
}

static void a_silent_pipe_is_left_when_told_to_stop(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], "abc", 3) == 3);
    atomic_bool stop = false;
    input = (struct dti_input){.name = "pipe", .fd = ends[0], .stop = &stop};
    size_t size = 0;
    CHECK(dti_input_read(&input, buffer, 3, &size, &error) == DTI_OK && size == 3);
    atomic_store(&stop, true);
    size = 99;
    CHECK(dti_input_read(&input, buffer, 3, &size, &error) == DTI_OK && size == 0);
    close(ends[1]);
    dti_input_close(&input);
}

static void a_pipe_that_does_not_wait_is_waited_for(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const struct timespec pause = {.tv_nsec = 20000000};
        nanosleep(&pause, NULL);
        _exit(write(ends[1], "late", 4) != 4);
    }
    close(ends[1]);
    input = (struct dti_input){.name = "pipe", .fd = ends[0]};
    expect_rest("late");
    dti_input_close(&input);
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void files_that_tell_no_size_are_read_to_their_end(void)
{
    if (access("/proc/version", R_OK) != 0)
        return;
    if (CHECK(dti_input_open(&input, "/proc/version", &error) == DTI_OK)) {
        CHECK(!input.seekable);
        size_t size = 0;
        CHECK(dti_input_read(&input, buffer, sizeof buffer, &size, &error) == DTI_OK && size > 9);
        dti_input_close(&input);
    }
    CHECK(dti_input_open(&input, "/proc/self/mem", &error) == DTI_BAD_INPUT);
}

static void an_empty_file_is_a_file_of_size_0(void)
{
    folder_enter();
    file_make("in", "", 0);
    if (CHECK(dti_input_open(&input, "in", &error) == DTI_OK)) {
        CHECK(input.seekable && input.size == 0);
        dti_input_close(&input);
    }
    folder_leave();
}

UNIT_MAIN(files_are_read_in_sequence_and_anywhere, what_cannot_be_read_is_named,
          a_file_that_shrinks_is_an_error, offsets_beyond_63_bits_are_refused,
          standard_input_begins_where_it_stands, standard_input_may_be_a_device,
          pieces_of_a_pipe_are_put_together, a_silent_pipe_is_left_when_told_to_stop,
          a_pipe_that_does_not_wait_is_waited_for, files_that_tell_no_size_are_read_to_their_end,
          an_empty_file_is_a_file_of_size_0)
