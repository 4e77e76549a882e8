/* SPDX-License-Identifier: MIT
 *
 * New folders for outputs, and what can be known of an output before it is opened. */
#include "dtinfo/output_folder.h"

#include <signal.h>
#include <sys/wait.h>

#include "dtinfo/output.h"
#include "folder.h"
#include "unit.h"

static void a_new_folder_is_made_and_removed_again(void)
{
    struct dti_output_folder folder;
    struct dti_error error;
    struct stat st = {0};
    folder_enter();
    CHECK(dti_output_folder_make(&folder, "new/", &error) == DTI_OK);
    CHECK(folder.made && stat("new", &st) == 0 && S_ISDIR(st.st_mode));
    dti_output_folder_discard(&folder);
    CHECK(stat("new", &st) != 0);
    dti_output_folder_discard(&folder);
    dti_output_folder_keep(&folder);
    CHECK(dti_output_folder_make(&folder, "new", &error) == DTI_OK);
    dti_output_folder_keep(&folder);
    dti_output_folder_discard(&folder);
    CHECK(stat("new", &st) == 0);
    CHECK_U64(folder_leave(), 1);
}

static void a_folder_that_is_there_is_taken_and_left(void)
{
    struct dti_output_folder folder;
    struct dti_error error;
    struct stat st = {0};
    folder_enter();
    CHECK(mkdir("old", 0700) == 0 && symlink("old", "link") == 0);
    static const char *const paths[] = {"old", "old/", "link", "", "./old/."};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        CHECK(dti_output_folder_make(&folder, paths[i], &error) == DTI_OK && !folder.made);
        dti_output_folder_discard(&folder);
        CHECK(stat("old", &st) == 0);
    }
    CHECK_U64(folder_leave(), 2);
}

static void what_is_in_a_new_folder_keeps_it(void)
{
    struct dti_output_folder folder;
    struct dti_error error;
    folder_enter();
    CHECK(dti_output_folder_make(&folder, "new", &error) == DTI_OK);
    file_make("new/file", "1", 1);
    dti_output_folder_discard(&folder);
    CHECK(unlink("new/file") == 0);
    CHECK_U64(folder_leave(), 1);
}

static void what_is_no_folder_is_named(void)
{
    struct dti_output_folder folder;
    struct dti_error error;
    bool there = true;
    folder_enter();
    file_make("file", "1", 1);
    CHECK(symlink("nowhere", "dangling") == 0);
    static const char *const paths[] = {"file", "dangling"};
    for (size_t i = 0; i < 2; i++) {
        CHECK(dti_output_folder_make(&folder, paths[i], &error) == DTI_USAGE);
        CHECK(strstr(error.text, paths[i]) && strstr(error.text, "is no folder"));
        CHECK_STR(error.argument, paths[i]);
        CHECK(dti_output_folder_check(paths[i], &there, &error) == DTI_USAGE && !there);
    }
    CHECK(dti_output_folder_make(&folder, "none/new", &error) == DTI_WRITE_FAILED);
    CHECK_STR(error.text, "cannot write 'none/new': No such file or directory");
    CHECK(dti_output_folder_make(&folder, "file/new", &error) == DTI_WRITE_FAILED);
    CHECK(dti_output_folder_check("none", &there, &error) == DTI_OK && !there);
    CHECK(dti_output_folder_check("none/", &there, &error) == DTI_OK && !there);
    CHECK(dti_output_folder_check("none/new/", &there, &error) == DTI_WRITE_FAILED);
    CHECK_STR(error.text, "cannot write 'none/new/': No such file or directory");
    CHECK(dti_output_folder_check("file/new", &there, &error) == DTI_WRITE_FAILED);
    CHECK(dti_output_folder_check("", &there, &error) == DTI_OK && there);
    CHECK_U64(folder_leave(), 2);
}

static void a_signal_removes_a_new_folder_and_what_is_under_way_in_it(void)
{
    struct stat st = {0};
    folder_enter();
    for (int kept = 0; kept < 2; kept++) {
        const pid_t child = fork();
        if (child == 0) {
            struct dti_output_folder folder;
            struct dti_output_file *outputs[40];
            struct dti_error error;
            char name[32];
            dti_output_guard_signals();
            if (dti_output_folder_make(&folder, "new", &error) != DTI_OK)
                _exit(1);
            for (int i = 0; i < 40; i++) {
                snprintf(name, sizeof name, "new/%d", i);
                if (dti_output_open(&outputs[i], name, false, 0, &error) != DTI_OK)
                    _exit(2);
            }
            if (kept)
                dti_output_folder_keep(&folder);
            raise(SIGTERM);
            _exit(3);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
              WTERMSIG(status) == SIGTERM);
        CHECK((stat("new", &st) == 0) == (kept != 0));
    }
    CHECK(rmdir("new") == 0);
    CHECK_U64(folder_leave(), 0);
}

static void an_output_is_judged_without_being_made(void)
{
    struct dti_error error;
    folder_enter();
    file_make("old", "1", 1);
    CHECK(mkdir("dir", 0700) == 0);
    CHECK(dti_output_check("new", false, &error) == DTI_OK);
    CHECK(dti_output_check("-", false, &error) == DTI_OK);
    CHECK(dti_output_check("/dev/null", false, &error) == DTI_OK);
    CHECK(dti_output_check("old", true, &error) == DTI_OK);
    CHECK(dti_output_check("old", false, &error) == DTI_USAGE);
    CHECK_STR(error.text, "'old' exists; --force replaces it");
    CHECK_STR(error.argument, "old");
    CHECK(dti_output_check("dir", true, &error) == DTI_WRITE_FAILED);
    CHECK(dti_output_check("none/new", true, &error) == DTI_WRITE_FAILED);
    CHECK(file_is("old", "1", 1));
    CHECK_U64(folder_leave(), 2);
}

static void files_that_belong_together_are_synced_first(void)
{
    struct dti_output_file *output;
    struct dti_error error;
    folder_enter();
    CHECK(dti_output_open(&output, "new", false, 0, &error) == DTI_OK);
    CHECK(dti_output_write(output, "12", 2, &error) == DTI_OK);
    CHECK(dti_output_sync(output, &error) == DTI_OK);
    CHECK(access("new", F_OK) != 0);
    CHECK(dti_output_commit(output, &error) == DTI_OK);
    CHECK(file_is("new", "12", 2));
    CHECK(dti_output_open(&output, "/dev/null", false, 0, &error) == DTI_OK);
    CHECK(dti_output_sync(output, &error) == DTI_OK);
    dti_output_discard(output);
    CHECK_U64(folder_leave(), 1);
}

UNIT_MAIN(a_new_folder_is_made_and_removed_again, a_folder_that_is_there_is_taken_and_left,
          what_is_in_a_new_folder_keeps_it, what_is_no_folder_is_named,
          a_signal_removes_a_new_folder_and_what_is_under_way_in_it,
          an_output_is_judged_without_being_made, files_that_belong_together_are_synced_first)
