/* SPDX-License-Identifier: MIT
 *
 * Output files that appear completely or not at all (atomic rename). */
#define _GNU_SOURCE /* syscall(), flock() */
#include "io/output.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "folder.h"
#include "util/run/caller.h"

static struct dti_output_file *output;
static struct dti_error error;

static bool begin(const char *path, bool force, const char *text)
{
    error.text[0] = '\0';
    return CHECK(dti_output_open(&output, path, force, 0, &error) == DTI_OK) &&
           CHECK(dti_output_write(output, text, strlen(text), &error) == DTI_OK);
}

static void replace(const char *path, bool force, const char *text)
{
    if (begin(path, force, text))
        CHECK(dti_output_commit(output, &error) == DTI_OK);
    CHECK_STR(error.text, "");
}

static void refused(const char *path, bool force, enum dti_status want, const char *text)
{
    CHECK_U64(dti_output_open(&output, path, force, 0, &error), want);
    CHECK_STR(error.text, text);
}

static mode_t mode_of(const char *path)
{
    struct stat st = {0};
    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static void a_new_file_appears_at_the_end(void)
{
    folder_enter();
    const mode_t old = umask(027);
    if (begin("out", false, "abc")) {
        CHECK(dti_output_seekable(output));
        CHECK(access("out", F_OK) != 0);
        CHECK(dti_output_write_at(output, "XY", 2, 5, &error) == DTI_OK);
        CHECK(dti_output_commit(output, &error) == DTI_OK);
    }
    CHECK(file_is("out", "abc\0\0XY", 7));
    CHECK_U64(mode_of("out"), 0640);
    umask(old);
    CHECK_U64(folder_leave(), 1);
}

static void an_existing_file_is_replaced_only_by_force_and_keeps_its_mode(void)
{
    folder_enter();
    file_make("out", "old", 3);
    CHECK(chmod("out", 04604) == 0);
    refused("out", false, DTI_WRITE_FAILED, "'out' exists");
    CHECK(error.remedy == DTI_REMEDY_REPLACE && strcmp(error.argument, "out") == 0);
    if (begin("out", true, "new")) {
        CHECK(file_is("out", "old", 3));
        CHECK(dti_output_commit(output, &error) == DTI_OK);
    }
    CHECK(file_is("out", "new", 3));
    CHECK_U64(mode_of("out"), 0604);
    CHECK_U64(folder_leave(), 1);
}

static void a_file_that_appears_meanwhile_is_not_replaced(void)
{
    folder_enter();
    if (begin("out", false, "new")) {
        file_make("out", "theirs", 6);
        CHECK(dti_output_commit(output, &error) == DTI_WRITE_FAILED);
        CHECK_STR(error.text, "'out' exists");
    }
    CHECK(file_is("out", "theirs", 6));
    CHECK_U64(folder_leave(), 1);
}

/* In place of the C library's: the next `held` files seem to be locked by another run, which is
 * about to remove them as leftovers. */
static unsigned held, locked;

int flock(int fd, int operation)
{
    if (held > 0) {
        held--;
        errno = EWOULDBLOCK;
        return -1;
    }
    locked++;
    return (int)syscall(SYS_flock, fd, operation);
}

static void a_file_that_another_run_has_locked_is_left_for_the_next_name(void)
{
    folder_enter();
    held = 2;
    locked = 0;
    if (begin("out", false, "abc")) {
        CHECK_U64(held, 0);
        CHECK_U64(locked, 1);
        CHECK(dti_output_commit(output, &error) == DTI_OK);
    }
    held = 0;
    CHECK(file_is("out", "abc", 3));
    CHECK_U64(folder_leave(), 1);
}

static void what_is_discarded_leaves_nothing(void)
{
    folder_enter();
    file_make("out", "old", 3);
    if (begin("out", true, "new"))
        dti_output_discard(output);
    dti_output_discard(NULL);
    CHECK(file_is("out", "old", 3));
    CHECK_U64(folder_leave(), 1);
}

static void links_are_followed_to_what_they_point_to(void)
{
    folder_enter();
    CHECK(mkdir("dir", 0700) == 0);
    CHECK(symlink("dir/second", "first") == 0);
    CHECK(symlink("../target", "dir/second") == 0);
    replace("first", false, "new"); /* dangling: creates its target */
    CHECK(file_is("target", "new", 3));
    replace("./dir/../first", true, "newer");
    CHECK(file_is("target", "newer", 5));
    struct stat st = {0};
    CHECK(lstat("first", &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat("dir/second", &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(unlink("dir/second") == 0);
    CHECK_U64(folder_leave(), 3);
}

static void the_other_name_of_a_file_keeps_the_old_content(void)
{
    folder_enter();
    file_make("a", "old", 3);
    CHECK(link("a", "b") == 0);
    replace("b", true, "new");
    CHECK(file_is("a", "old", 3));
    CHECK(file_is("b", "new", 3));
    folder_leave();
}

static void what_cannot_be_written_is_named(void)
{
    folder_enter();
    char longest[4000];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    CHECK(mkdir("dir", 0700) == 0);
    CHECK(symlink("dir", "to_dir") == 0);
    CHECK(symlink("loop", "loop") == 0);
    static const char *const folders[] = {"dir", "dir/", "to_dir", "dir/.", "."};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        CHECK(dti_output_open(&output, folders[i], true, 0, &error) == DTI_WRITE_FAILED);
        CHECK(strstr(error.text, "Is a directory") != NULL);
    }
    refused("loop", true, DTI_WRITE_FAILED,
            "cannot write 'loop': Too many levels of symbolic links");
    refused("none/out", true, DTI_WRITE_FAILED,
            "cannot write 'none/out': No such file or directory");
    refused("", true, DTI_WRITE_FAILED, "cannot write '': No such file or directory");
    CHECK(dti_output_open(&output, longest, true, 0, &error) == DTI_WRITE_FAILED);
    CHECK(strstr(error.text, strerror(ENAMETOOLONG)) != NULL);
    longest[NAME_MAX + 1] = '\0';
    CHECK(dti_output_open(&output, longest, true, 0, &error) == DTI_WRITE_FAILED);
    CHECK(strstr(error.text, strerror(ENAMETOOLONG)) != NULL);
    CHECK_U64(folder_leave(), 3);
}

static void the_longest_name_works(void)
{
    folder_enter();
    char name[NAME_MAX + 1] = "x";
    for (size_t i = 1; i + 3 <= NAME_MAX; i += 3)
        memcpy(name + i, "\xE2\x82\xAC", 4);
    if (begin(name, false, "new")) {
        /* the temporary name is cut between characters, because some file systems require valid
         * UTF-8 */
        DIR *const dir = opendir(".");
        for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            const char *const infix = strstr(entry->d_name, ".dtinfo-");
            CHECK(!infix || (infix - entry->d_name) % 3 == 2);
        }
        closedir(dir);
        CHECK(dti_output_commit(output, &error) == DTI_OK);
    }
    CHECK(file_is(name, "new", 3));
    CHECK_U64(folder_leave(), 1);
}

static void a_pipe_is_written_as_it_comes(void)
{
    folder_enter();
    CHECK(mkfifo("pipe", 0600) == 0);
    const int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    if (begin("pipe", false, "abc")) {
        char got[4] = "";
        CHECK(!dti_output_seekable(output));
        CHECK(read(reader, got, 3) == 3);
        CHECK_STR(got, "abc");
        CHECK(dti_output_commit(output, &error) == DTI_OK);
    }
    if (begin("pipe", false, "abc")) {
        close(reader);
        signal(SIGPIPE, SIG_IGN);
        CHECK(dti_output_write(output, "x", 1, &error) == DTI_WRITE_FAILED);
        CHECK_STR(error.text, "");
        signal(SIGPIPE, SIG_DFL);
        dti_output_discard(output);
    }
    CHECK_U64(folder_leave(), 1);
}

static void a_full_device_is_reported_with_the_place(void)
{
    if (access("/dev/full", W_OK) != 0)
        return;
    CHECK(dti_output_open(&output, "/dev/full", false, 9, &error) == DTI_OK);
    CHECK(dti_output_write(output, "abc", 3, &error) == DTI_WRITE_FAILED);
    CHECK_STR(error.text, "cannot write '/dev/full': No space left on device, at byte 0 of 9");
    dti_output_discard(output);
}

/* Runs body in a child and returns its wait status. */
static int in_child(void (*body)(void))
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        unit_failures = 0;
        body();
        fflush(stdout);
        _exit((int)unit_failures);
    }
    int status = 1 << 8;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static int ending_signal;

static void die_while_writing(void)
{
    (void)signal(ending_signal, SIG_DFL); /* may be ignored by the parent */
    dti_output_guard_signals();
    if (begin("out", true, "new") && begin("other", true, "new"))
        (void)raise(ending_signal);
}

static void signals_end_the_process_and_leave_nothing(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        folder_enter();
        const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        file_make("out", "old", 3);
        ending_signal = signals[i];
        const int status = in_child(die_while_writing);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        CHECK(file_is("out", "old", 3));
        CHECK_U64(folder_leave(), 1);
    }
}

static void a_killed_process_leaves_a_name_to_recognise(void)
{
    folder_enter();
    file_make("out", "old", 3);
    ending_signal = SIGKILL;
    (void)in_child(die_while_writing);
    CHECK(file_is("out", "old", 3));
    unsigned leftovers = 0;
    DIR *const dir = opendir(".");
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        leftovers += strncmp(entry->d_name, ".out.dtinfo-", 12) == 0 && strlen(entry->d_name) == 18;
    closedir(dir);
    CHECK_U64(leftovers, 1);
    CHECK_U64(folder_leave(), 3);
}

static void finish_ignoring(void)
{
    signal(SIGHUP, SIG_IGN);
    dti_output_guard_signals();
    if (begin("out", true, "new")) {
        (void)raise(SIGHUP);
        CHECK(dti_output_commit(output, &error) == DTI_OK);
    }
}

static void an_ignored_signal_stays_ignored(void)
{
    folder_enter();
    CHECK_U64((unsigned)in_child(finish_ignoring), 0);
    CHECK(file_is("out", "new", 3));
    CHECK_U64(folder_leave(), 1);
}

static void write_too_much(void)
{
    const struct rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
    dti_output_guard_signals();
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(dti_output_open(&output, "out", true, 5000, &error) == DTI_OK);
    char data[5000] = "";
    CHECK(dti_output_write_at(output, data, sizeof data, 0, &error) == DTI_WRITE_FAILED);
    CHECK_STR(error.text, "cannot write 'out': File too large, at byte 4096 of 5000");
    dti_output_discard(output);
    /* with a size large enough to reserve space for, before anything is written */
    CHECK(dti_output_open(&output, "out", true, 8 << 20, &error) == DTI_WRITE_FAILED ||
          access("/proc/version", F_OK) != 0);
}

static void the_file_size_limit_is_an_error(void)
{
    folder_enter();
    CHECK_U64((unsigned)in_child(write_too_much), 0);
    CHECK_U64(folder_leave(), 0);
}

static void write_with_closed_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        close(fd);
    if (dti_output_open(&output, "out", true, 0, &error) != DTI_OK)
        _exit(1);
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            _exit(2);
    }
    if (dti_output_write(output, "new", 3, &error) != DTI_OK ||
        dti_output_commit(output, &error) != DTI_OK)
        _exit(3);
}

static void closed_standard_files_are_not_taken(void)
{
    folder_enter();
    CHECK_U64((unsigned)in_child(write_with_closed_standard_files), 0);
    CHECK(file_is("out", "new", 3));
    folder_leave();
}

static void write_through_stdout(void)
{
    const int fd = open("out", O_RDWR | O_CREAT, 0600);
    struct stat st = {0};
    CHECK(fstat(fd, &st) == 0);
    (void)dup2(fd, STDOUT_FILENO);
    unit_failures += dti_output_open(&output, "-", false, 0, &error) != DTI_OK;
    unit_failures += dti_output_seekable(output);
    unit_failures += !dti_output_is_file(output, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
    unit_failures += dti_output_is_file(output, (uint64_t)st.st_dev, (uint64_t)st.st_ino + 1);
    unit_failures += dti_output_write(output, "new", 3, &error) != DTI_OK;
    unit_failures += dti_output_commit(output, &error) != DTI_OK;
}

static void standard_output_is_written_in_place(void)
{
    folder_enter();
    CHECK_U64((unsigned)in_child(write_through_stdout), 0);
    CHECK(file_is("out", "new", 3));
    CHECK_U64(folder_leave(), 1);
}

static void write_as_nobody(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return;
    refused("closed/out", false, DTI_WRITE_FAILED, "cannot write 'closed/out': Permission denied");
    /* a folder may be writable but not readable */
    replace("blind/out", false, "new");
    /* root's link in a world-writable folder like /tmp that does not belong to root */
    CHECK(dti_output_open(&output, "shared/link", true, 0, &error) == DTI_WRITE_FAILED);
    CHECK(strstr(error.text, "another user's symbolic link in a world-writable folder") != NULL);
    /* a link of root in a folder of root */
    replace("tmp/link", false, "new");
    CHECK(symlink("../blind/mine", "shared/mine") == 0);
    replace("shared/mine", false, "new");
    /* neither owner nor group can be kept: the group gets the permissions of others */
    replace("shared/old", true, "new");
    CHECK_U64(mode_of("shared/old"), 0644);
}

static void other_users_are_kept_apart(void)
{
    if (geteuid() != 0)
        return;
    folder_enter();
    CHECK(chmod(".", 0755) == 0);
    CHECK(mkdir("closed", 0555) == 0 && mkdir("blind", 0700) == 0 && mkdir("shared", 0700) == 0);
    CHECK(mkdir("tmp", 0700) == 0 && chmod("tmp", 01777) == 0);
    CHECK(symlink("../blind/roots", "tmp/link") == 0);
    CHECK(chmod("blind", 0333) == 0);
    file_make("shared/old", "old", 3);
    CHECK(chmod("shared/old", 04664) == 0);
    CHECK(symlink("../target", "shared/link") == 0);
    CHECK(chown("shared", 65534, 65534) == 0 && chmod("shared", 01777) == 0);
    CHECK_U64((unsigned)in_child(write_as_nobody), 0);
    CHECK(access("target", F_OK) != 0);
    CHECK(file_is("blind/mine", "new", 3));
    static const char *const files[] = {"shared/old", "shared/link", "shared/mine", "blind/mine",
                                        "blind/out",  "blind/roots", "tmp/link"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        CHECK(unlink(files[i]) == 0);
    CHECK_U64(folder_leave(), 4);
}

/* A caller's process gets an error, and no signal. */
static void a_closed_reader_is_an_error_for_a_caller(void)
{
    static char data[1 << 20];
    struct dti_caller caller = {.allocate = NULL};
    struct dti_call call;
    sigset_t pending;
    int ends[2];
    char name[32];
    if (!CHECK(pipe(ends) == 0))
        return;
    (void)snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    dti_call_begin(&call, &caller);
    CHECK(dti_output_open(&output, name, false, 0, &error) == DTI_OK);
    close(ends[0]);
    close(ends[1]);
    CHECK(dti_output_write(output, data, sizeof data, &error) == DTI_WRITE_FAILED);
    CHECK(strstr(error.text, "Broken pipe") != NULL);
    dti_output_discard(output);
    dti_call_end(&call);
    sigemptyset(&pending);
    CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGPIPE));
    dti_caller_end(&caller);
}

UNIT_MAIN(a_closed_reader_is_an_error_for_a_caller, a_new_file_appears_at_the_end,
          an_existing_file_is_replaced_only_by_force_and_keeps_its_mode,
          a_file_that_appears_meanwhile_is_not_replaced,
          a_file_that_another_run_has_locked_is_left_for_the_next_name,
          what_is_discarded_leaves_nothing, links_are_followed_to_what_they_point_to,
          the_other_name_of_a_file_keeps_the_old_content, what_cannot_be_written_is_named,
          the_longest_name_works, a_pipe_is_written_as_it_comes,
          a_full_device_is_reported_with_the_place, signals_end_the_process_and_leave_nothing,
          a_killed_process_leaves_a_name_to_recognise, an_ignored_signal_stays_ignored,
          the_file_size_limit_is_an_error, closed_standard_files_are_not_taken,
          standard_output_is_written_in_place, other_users_are_kept_apart)
