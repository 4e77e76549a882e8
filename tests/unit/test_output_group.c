/* SPDX-License-Identifier: MIT
 *
 * Output files that appear together, new folders, and what can be checked before an output is
 * opened. */
#include "io/output_group.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "folder.h"
#include "io/output_leftovers.h"
#include "unit.h"

static struct dti_output_group *group;
static struct dti_error error;

static const struct dti_output_member two[] = {{.path = "new/a"}, {.path = "new/b"}};
static const struct dti_output_member limit_item[] = {
    {.path = "a"}, {.path = "b"}, {.path = "link"}};

static enum dti_status begin(const char *folder, const struct dti_output_member *members,
                             size_t count, bool force)
{
    error.text[0] = '\0';
    const enum dti_status status =
        dti_output_group_open(&group, folder, members, count, count - 1, force, &error);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        CHECK(dti_output_write_at(dti_output_group_file(group, i), "12", 2, 0, &error) == DTI_OK);
    return status;
}

/* Counts names with this prefix, such as those of incomplete outputs. The last one is kept in
 * `name`. */
static char name[300];
static unsigned leftovers(const char *prefix)
{
    unsigned count = 0;
    DIR *const dir = opendir(".");
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        snprintf(name, sizeof name, "%s", entry->d_name);
        count++;
    }
    closedir(dir);
    return count;
}

static void a_new_folder_appears_whole(void)
{
    static const char *const folders[] = {"new", "new/", "./new//", "link", "link/"};
    struct stat st = {0};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        folder_enter();
        CHECK(symlink("./new", "link") == 0);
        const mode_t old = umask(027);
        CHECK(begin(folders[i], two, 2, false) == DTI_OK);
        CHECK(stat("new", &st) != 0 && leftovers(".new.dtinfo-") == 1);
        dti_output_group_discard(group);
        CHECK(stat("new", &st) != 0 && leftovers(".new.dtinfo-") == 0);
        CHECK(begin(folders[i], two, 2, false) == DTI_OK);
        CHECK(dti_output_group_commit(group, &error) == DTI_OK);
        CHECK(file_is("new/a", "12", 2) && file_is("new/b", "12", 2));
        CHECK(stat("new", &st) == 0 && (st.st_mode & 0777) == 0750);
        CHECK(stat("new/a", &st) == 0 && (st.st_mode & 0777) == 0640);
        (void)umask(old);
        CHECK(unlink("new/a") == 0 && unlink("new/b") == 0);
        CHECK_U64(folder_leave(), 2);
    }
    dti_output_group_discard(NULL);
}

static void files_in_a_folder_that_is_there_are_replaced_by_force(void)
{
    struct stat st = {0};
    folder_enter();
    CHECK(mkdir("new", 0700) == 0 && symlink("new", "link") == 0);
    file_make("new/b", "old", 3);
    CHECK(chmod("new/b", 0604) == 0);
    CHECK(begin("link", two, 2, false) == DTI_WRITE_FAILED);
    CHECK_STR(error.text, "'new/b' exists");
    CHECK(error.remedy == DTI_REMEDY_REPLACE);
    CHECK_STR(error.argument, "new/b");
    CHECK(begin("link", two, 2, true) == DTI_OK && file_is("new/b", "old", 3));
    dti_output_group_discard(group);
    CHECK(file_is("new/b", "old", 3) && access("new/a", F_OK) != 0);
    CHECK(begin("link", two, 2, true) == DTI_OK);
    CHECK(dti_output_group_commit(group, &error) == DTI_OK);
    CHECK(file_is("new/a", "12", 2) && file_is("new/b", "12", 2));
    CHECK(stat("new/b", &st) == 0 && (st.st_mode & 0777) == 0604);
    CHECK(unlink("new/a") == 0 && unlink("new/b") == 0);
    CHECK_U64(folder_leave(), 2);
}

static void files_anywhere_appear_together(void)
{
    folder_enter();
    CHECK(mkdir("dir", 0700) == 0 && symlink("dir/far", "link") == 0);
    CHECK(begin(NULL, limit_item, 3, false) == DTI_OK);
    CHECK_U64(leftovers("."), 2); /* "." and "..": the output behind the link is in dir */
    CHECK(dti_output_group_commit(group, &error) == DTI_OK);
    CHECK(file_is("a", "12", 2) && file_is("b", "12", 2) && file_is("dir/far", "12", 2));
    CHECK(unlink("dir/far") == 0);
    CHECK_U64(folder_leave(), 4);
}

static void a_file_that_appears_meanwhile_is_not_replaced(void)
{
    folder_enter();
    CHECK(begin(NULL, limit_item, 2, false) == DTI_OK);
    file_make("b", "theirs", 6);
    CHECK(dti_output_group_commit(group, &error) == DTI_WRITE_FAILED);
    CHECK_STR(error.text, "cannot put 'b' in place: File exists; 'a' is new, and it is not in "
                          "place");
    CHECK(error.remedy == DTI_REMEDY_REPLACE_AGAIN);
    CHECK(file_is("b", "theirs", 6) && file_is("a", "12", 2));
    CHECK_U64(folder_leave(), 2);
}

static void what_is_no_folder_is_named(void)
{
    bool there = true;
    folder_enter();
    file_make("file", "1", 1);
    CHECK(symlink("nowhere", "dangling") == 0 && symlink("file", "to_file") == 0);
    CHECK(mkfifo("pipe", 0600) == 0);
    static const char *const paths[] = {"file", "to_file", "to_file/", "pipe"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        CHECK(begin(paths[i], two, 2, true) == DTI_USAGE);
        CHECK(strstr(error.text, paths[i]) && strstr(error.text, "is not a folder"));
        CHECK_STR(error.argument, paths[i]);
        CHECK(dti_output_folder_check(paths[i], &there, &error) == DTI_USAGE && there);
    }
    CHECK(begin("none/new", two, 2, true) == DTI_WRITE_FAILED);
    CHECK_STR(error.text, "cannot write 'none/new': No such file or directory");
    CHECK(begin("file/new", two, 2, true) == DTI_WRITE_FAILED);
    CHECK(dti_output_folder_check("none", &there, &error) == DTI_OK && !there);
    CHECK(dti_output_folder_check("dangling/", &there, &error) == DTI_OK && !there);
    CHECK(dti_output_folder_check("none/new/", &there, &error) == DTI_WRITE_FAILED);
    CHECK_STR(error.text, "cannot write 'none/new/': No such file or directory");
    CHECK(dti_output_folder_check("file/new", &there, &error) == DTI_WRITE_FAILED);
    static const char *const folders[] = {"", ".", "./", "/", ".."};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        there = false;
        CHECK(dti_output_folder_check(folders[i], &there, &error) == DTI_OK && there);
    }
    const struct dti_output_member pipes[] = {{.path = "a"}, {.path = "pipe"}};
    CHECK(begin(NULL, pipes, 2, true) == DTI_USAGE);
    CHECK_STR(error.text, "'pipe' is not a regular file, so it cannot be replaced");
    CHECK_U64(folder_leave(), 4);
}

static void a_folder_is_made_once_and_removed_when_empty(void)
{
    bool made = false;
    folder_enter();
    file_make("file", "1", 1);
    CHECK(dti_output_folder_make("new/", &made, &error) == DTI_OK && made);
    CHECK(dti_output_folder_make("new", &made, &error) == DTI_OK && !made);
    CHECK(dti_output_folder_make("", &made, &error) == DTI_OK && !made);
    CHECK(dti_output_folder_make("file", &made, &error) == DTI_USAGE);
    CHECK(dti_output_folder_make("none/new", &made, &error) == DTI_WRITE_FAILED);
    file_make("new/a", "1", 1);
    dti_output_folder_unmake("new");
    CHECK(file_is("new/a", "1", 1));
    CHECK(unlink("new/a") == 0);
    dti_output_folder_unmake("new");
    dti_output_folder_unmake("none/new");
    CHECK(access("new", F_OK) != 0);
    CHECK_U64(folder_leave(), 1);
}

enum { MANY = 900 };

static void a_signal_removes_any_number_of_files(void)
{
    struct stat st = {0};
    static char paths[MANY][16];
    static struct dti_output_member many[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(paths[i], sizeof paths[i], "new/%d", i);
        many[i].path = paths[i];
    }
    folder_enter();
    for (int there = 0; there < 2; there++) {
        CHECK(!there || mkdir("new", 0700) == 0);
        const pid_t child = fork();
        if (child == 0) {
            struct rlimit limit;
            CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
            limit.rlim_cur = limit.rlim_max;
            CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
            dti_output_guard_signals();
            if (begin("new", many, MANY, false) != DTI_OK)
                _exit(1);
            raise(SIGTERM);
            _exit(3);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
              WTERMSIG(status) == SIGTERM);
        CHECK((stat("new", &st) == 0) == (there != 0));
        CHECK_U64(leftovers(".new"), 0);
    }
    CHECK(rmdir("new") == 0); /* it is empty */
    CHECK_U64(folder_leave(), 0);
}

static void outputs_beside_each_other_are_all_removed(void)
{
    folder_enter();
    const pid_t child = fork();
    if (child == 0) {
        struct dti_output_file *outputs[40];
        char path[32];
        dti_output_guard_signals();
        for (int i = 0; i < 40; i++) {
            snprintf(path, sizeof path, "%d", i);
            if (dti_output_open(&outputs[i], path, false, 0, &error) != DTI_OK)
                _exit(2);
        }
        if (begin("new", two, 2, false) == DTI_OK)
            raise(SIGTERM);
        _exit(3);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK_U64(folder_leave(), 0);
}

/* Starts a run that is killed while it writes, or that continues until it gets a signal. */
static pid_t start_run(bool go_on, int *ret_end)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        dti_output_guard_signals();
        if (begin("new", two, 2, true) != DTI_OK)
            _exit(1);
        CHECK(write(ends[1], "x", 1) == 1);
        if (!go_on)
            raise(SIGKILL);
        pause();
    }
    char byte;
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 1);
    *ret_end = ends[0];
    return child;
}

static void what_a_kill_leaves_is_found_and_removed_and_a_live_run_left_alone(void)
{
    struct dti_output_leftovers found = {.count = {0}};
    char label[DTI_QUOTE_SIZE];
    int status, end;
    folder_enter();
    CHECK(waitpid(start_run(false, &end), &status, 0) > 0);
    close(end);
    CHECK_U64(leftovers(".new.dtinfo-"), 1);
    CHECK(dti_output_leftovers_find(&found, "new/", true, false, &error) == DTI_OK);
    CHECK_U64(found.count[DTI_LEFTOVER_KILLED], 1);
    CHECK_STR(found.first[DTI_LEFTOVER_KILLED], dti_quote(label, name, strlen(name)));
    CHECK_U64(leftovers(".new.dtinfo-"), 1);
    const pid_t live = start_run(true, &end);
    CHECK_U64(leftovers(".new.dtinfo-"), 2);
    file_make(".new.dtinfo-file00", "1", 1);
    file_make(".new.dtinfo-short", "1", 1);
    CHECK(symlink("file", ".new.dtinfo-link00") == 0);
    memset(&found, 0, sizeof found);
    CHECK(dti_output_leftovers_find(&found, "new", true, true, &error) == DTI_OK);
    CHECK_U64(found.count[DTI_LEFTOVER_KILLED], 0);
    CHECK_U64(found.count[DTI_LEFTOVER_REMOVED], 2);
    CHECK_U64(found.count[DTI_LEFTOVER_LIVE], 1);
    CHECK_U64(found.count[DTI_LEFTOVER_STUCK], 0);
    CHECK(access(".new.dtinfo-file00", F_OK) != 0 && access(".new.dtinfo-short", F_OK) == 0);
    CHECK(kill(live, SIGKILL) == 0 && waitpid(live, &status, 0) == live);
    close(end);
    /* a folder is kept if it contains anything other than files */
    CHECK(unlink(".new.dtinfo-link00") == 0 && unlink(".new.dtinfo-short") == 0);
    CHECK_U64(leftovers(".new.dtinfo-"), 1);
    char inner[320];
    snprintf(inner, sizeof inner, "%s/dir", name);
    CHECK(mkdir(inner, 0700) == 0);
    memset(&found, 0, sizeof found);
    CHECK(dti_output_leftovers_find(&found, "new", true, true, &error) == DTI_OK);
    CHECK_U64(found.count[DTI_LEFTOVER_STUCK], 1);
    CHECK(rmdir(inner) == 0);
    /* a path that cannot be read has no leftovers, and neither do pipes and devices */
    memset(&found, 0, sizeof found);
    CHECK(dti_output_leftovers_find(&found, "none/new", true, true, &error) == DTI_OK);
    CHECK(dti_output_leftovers_find(&found, "/dev/null", false, true, &error) == DTI_OK);
    CHECK(dti_output_leftovers_find(&found, "-", false, true, &error) == DTI_OK);
    for (size_t i = 0; i < DTI_LEFTOVER_COUNT; i++)
        CHECK_U64(found.count[i], 0);
    CHECK_U64(folder_leave(), 1);
}

static void an_output_is_judged_without_being_made(void)
{
    folder_enter();
    file_make("old", "1", 1);
    CHECK(mkdir("dir", 0700) == 0);
    CHECK(dti_output_check("new", false, &error) == DTI_OK);
    CHECK(dti_output_check("-", false, &error) == DTI_OK);
    CHECK(dti_output_check("/dev/null", false, &error) == DTI_OK);
    CHECK(dti_output_check("old", true, &error) == DTI_OK);
    CHECK(dti_output_check("old", false, &error) == DTI_WRITE_FAILED);
    CHECK_STR(error.text, "'old' exists");
    CHECK_STR(error.argument, "old");
    CHECK(dti_output_check("dir", true, &error) == DTI_WRITE_FAILED);
    CHECK(dti_output_check("none/new", true, &error) == DTI_WRITE_FAILED);
    CHECK(file_is("old", "1", 1));
    CHECK_U64(folder_leave(), 2);
}

UNIT_MAIN(a_new_folder_appears_whole, files_in_a_folder_that_is_there_are_replaced_by_force,
          files_anywhere_appear_together, a_file_that_appears_meanwhile_is_not_replaced,
          what_is_no_folder_is_named, a_folder_is_made_once_and_removed_when_empty,
          a_signal_removes_any_number_of_files, outputs_beside_each_other_are_all_removed,
          what_a_kill_leaves_is_found_and_removed_and_a_live_run_left_alone,
          an_output_is_judged_without_being_made)
