/* SPDX-License-Identifier: MIT
 *
 * The sandbox of readers, from inside: a child enters it as a command does, for a file in.bin, and
 * then tries what a reader would that a hostile file has taken over. */
#define _GNU_SOURCE /* syscall() */
#include "io/sandbox/sandbox.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "folder.h"

enum which { PLAIN, WITH_OUTPUT, WITH_NETWORK, OF_STREAMS };
enum { NEWEST = 6 }; /* version of Landlock, after which there are no new limits */
struct attempt {
    enum which which;
    long version;     /* of Landlock */
    int (*act)(void); /* 0, or an errno value */
};

/* Returns what it lacks, or NULL. */
static const char *enter(enum which which, long version)
{
    struct dti_sandbox sandbox;
    dti_sandbox_begin_as(&sandbox, which == WITH_NETWORK, version);
    dti_sandbox_allow(&sandbox, "in.bin", DTI_SANDBOX_READ);
    if (which == OF_STREAMS) {
        dti_sandbox_allow(&sandbox, "/dev/stdin", DTI_SANDBOX_READ);
        dti_sandbox_allow(&sandbox, "/dev/stdout", DTI_SANDBOX_WRITE);
    }
    if (which == WITH_OUTPUT)
        dti_sandbox_allow(&sandbox, "out/new.bin", DTI_SANDBOX_WRITE);
    dti_sandbox_enter(&sandbox);
    return sandbox.lacks;
}

static void in_child(FILE *out, const void *context)
{
    const struct attempt *const attempt = context;
    (void)enter(attempt->which, attempt->version);
    fprintf(out, "%d", attempt->act());
}

/* What an attempt ends with in a sandbox. */
static int outcome(enum which which, long version, int (*act)(void))
{
    struct child_result result;
    const struct attempt attempt = {which, version, act};
    child_run(&result, in_child, &attempt, NULL);
    return result.status == 0 ? atoi(result.output) : -1;
}

/* The result of a call as 0 or an errno value. */
static int result(long got)
{
    return got >= 0 ? 0 : errno;
}

static int read_named(void)
{
    return result(open("in.bin", O_RDONLY));
}
static int read_beside(void)
{
    return result(open("beside.bin", O_RDONLY));
}
static int read_below(void)
{
    return result(open("out/there.bin", O_RDONLY));
}
static int read_by_link(void)
{
    return result(open("link.bin", O_RDONLY));
}
static int list(void)
{
    return result(open(".", O_RDONLY | O_DIRECTORY));
}
static int read_passwd(void)
{
    return result(open("/etc/passwd", O_RDONLY));
}
static int read_passwd_by_way(void)
{
    return result(open("../../etc/passwd", O_RDONLY));
}
static int list_root(void)
{
    return result(open("/", O_RDONLY | O_DIRECTORY));
}
static int list_by_link(void)
{
    return result(open("root/etc", O_RDONLY | O_DIRECTORY));
}
static int write_named(void)
{
    return result(open("in.bin", O_WRONLY));
}
static int cut_named(void)
{
    return result(open("in.bin", O_WRONLY | O_TRUNC));
}
static int make_beside(void)
{
    return result(open("made.bin", O_WRONLY | O_CREAT, 0600));
}
static int remove_beside(void)
{
    return result(unlink("beside.bin"));
}
static int make_output(void)
{
    return result(open("out/.temporary", O_WRONLY | O_CREAT | O_EXCL, 0600));
}
static int name_output(void)
{
    return result(rename("out/there.bin", "out/new.bin"));
}
static int remove_output(void)
{
    return result(unlink("out/there.bin"));
}
static int make_link(void)
{
    return result(symlink("/etc", "out/etc"));
}
static int take_into_output(void)
{
    return result(rename("beside.bin", "out/beside.bin"));
}
static int change_mode(void)
{
    return result(syscall(SYS_fchmodat, AT_FDCWD, "in.bin", 0777));
}
static int start_process(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    return result(child);
}
static int start_process_by_clone3(void)
{
    unsigned long long args[8] = {0}; /* no flags: fork() */
    args[4] = SIGCHLD;
    const long child = syscall(435, args, sizeof args);
    if (child == 0)
        _exit(0);
    return result(child);
}
static int start_program(void)
{
    execl("/bin/true", "true", (char *)NULL);
    return errno;
}
static int open_socket(void)
{
    return result(socket(AF_INET, SOCK_STREAM, 0));
}
static int open_local_socket(void)
{
    return result(socket(AF_UNIX, SOCK_STREAM, 0));
}
static int open_raw_socket(void)
{
    return result(socket(17 /* AF_PACKET */, SOCK_RAW, 0));
}
static int connect_nowhere(void)
{
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? errno : result(connect(fd, (const struct sockaddr *)&to, sizeof to));
}
static int listen_somewhere(void)
{
    const struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(0)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? errno : result(bind(fd, (const struct sockaddr *)&here, sizeof here));
}
static int trace_parent(void)
{
    return result(syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, getppid(), 0, 0));
}
static int read_parent(void)
{
    return result(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
}
static int stop_parent(void)
{
    return result(kill(getppid(), 0));
}
static int stop_parents_thread(void)
{
    return result(syscall(SYS_tgkill, getppid(), getppid(), 0));
}
static int limit_parent(void)
{
    struct rlimit limit;
    return result(syscall(SYS_prlimit64, getppid(), RLIMIT_NOFILE, NULL, &limit));
}
static int mount_something(void)
{
    return result(syscall(SYS_mount, "none", ".", "tmpfs", 0, NULL));
}
static int change_user(void)
{
    return result(setuid(getuid()));
}
static int rings(void)
{
    return result(syscall(425 /* io_uring_setup */, 1, NULL));
}
static int keys(void)
{
    return result(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
}
static int steal_input(void)
{
    return result(ioctl(0, 0x5412 /* TIOCSTI */, ""));
}
static int undumpable(void)
{
    return result(syscall(SYS_prctl, 4 /* PR_SET_DUMPABLE */, 0, 0, 0, 0));
}
static int make_code(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
               ? errno
               : 0;
}
static int turn_into_code(void)
{
    void *const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? -1 : result(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}
static int call_unknown(void)
{
    return result(syscall(100000));
}
static int memory(void)
{
    void *const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    free(malloc(1 << 24));
    return page == MAP_FAILED ? errno : result(munmap(page, 4096));
}
static void *nothing(void *context)
{
    return context;
}
static int start_thread(void)
{
    pthread_t thread;
    const int failed = pthread_create(&thread, NULL, nothing, NULL);
    return failed ? failed : pthread_join(thread, NULL);
}
static volatile sig_atomic_t seen;
static void see(int number)
{
    seen = number;
}
static int signal_itself(void)
{
    signal(SIGUSR1, see);
    return raise(SIGUSR1) == 0 && seen == SIGUSR1 ? 0 : -1;
}

struct row {
    const char *name;
    int (*act)(void);
    int in[3];   /* in each sandbox: 0, or an errno value */
    int version; /* of Landlock, from which on it decides; 0: the filter alone does */
};
static const struct row rows[] = {
    {"read the named file", read_named, {0, 0, 0}, 1},
    {"read a file in its folder", read_beside, {0, 0, 0}, 1},
    {"read a file below its folder", read_below, {0, 0, 0}, 1},
    {"read by a link in its folder", read_by_link, {0, 0, 0}, 1},
    {"list its folder", list, {0, 0, 0}, 1},
    {"read /etc/passwd", read_passwd, {EACCES, EACCES, 0}, 1},
    {"read ../../etc/passwd", read_passwd_by_way, {EACCES, EACCES, 0}, 1},
    {"list /", list_root, {EACCES, EACCES, EACCES}, 1},
    {"list by a link to a folder", list_by_link, {EACCES, EACCES, 0}, 1},
    {"write to the named file", write_named, {EACCES, EACCES, EACCES}, 1},
    {"truncate the named file", cut_named, {EACCES, EACCES, EACCES}, 1},
    {"make a file beside it", make_beside, {EACCES, EACCES, EACCES}, 1},
    {"remove a file beside it", remove_beside, {EACCES, EACCES, EACCES}, 1},
    {"make a file beside the output", make_output, {EACCES, 0, EACCES}, 2},
    {"rename to the output", name_output, {EACCES, 0, EACCES}, 2},
    {"remove a file beside the output", remove_output, {EACCES, 0, EACCES}, 2},
    {"take a file into the output", take_into_output, {EACCES, EACCES, EACCES}, 2},
    {"make a link", make_link, {EPERM, EPERM, EPERM}, 0},
    {"change permissions", change_mode, {EPERM, EPERM, EPERM}, 0},
    {"fork", start_process, {EPERM, EPERM, EPERM}, 0},
    {"fork by clone3", start_process_by_clone3, {ENOSYS, ENOSYS, ENOSYS}, 0},
    {"exec", start_program, {EPERM, EPERM, EPERM}, 0},
    {"socket", open_socket, {EPERM, EPERM, 0}, 0},
    {"local socket", open_local_socket, {EPERM, EPERM, 0}, 0},
    {"raw socket", open_raw_socket, {EPERM, EPERM, EPERM}, 0},
    {"connect", connect_nowhere, {EPERM, EPERM, ECONNREFUSED}, 0},
    {"listen", listen_somewhere, {EPERM, EPERM, EACCES}, 4},
    {"trace the parent", trace_parent, {EPERM, EPERM, EPERM}, 0},
    {"read the parent", read_parent, {EPERM, EPERM, EPERM}, 0},
    {"signal the parent", stop_parent, {EPERM, EPERM, EPERM}, 0},
    {"signal the parent's thread", stop_parents_thread, {EPERM, EPERM, EPERM}, 0},
    {"limits of the parent", limit_parent, {EPERM, EPERM, EPERM}, 0},
    {"mount", mount_something, {EPERM, EPERM, EPERM}, 0},
    {"setuid", change_user, {EPERM, EPERM, EPERM}, 0},
    {"io_uring", rings, {EPERM, EPERM, EPERM}, 0},
    {"keys", keys, {EPERM, EPERM, EPERM}, 0},
    {"terminal input", steal_input, {EPERM, EPERM, EPERM}, 0},
    {"prctl", undumpable, {EPERM, EPERM, EPERM}, 0},
    {"map code", make_code, {EPERM, EPERM, 0}, 0},
    {"turn memory into code", turn_into_code, {EPERM, EPERM, 0}, 0},
    {"an unknown call", call_unknown, {ENOSYS, ENOSYS, ENOSYS}, 0},
    {"memory", memory, {0, 0, 0}, 0},
    {"thread", start_thread, {0, 0, 0}, 0},
    {"signal", signal_itself, {0, 0, 0}, 0},
};

static void prepare(void)
{
    folder_enter();
    file_make("in.bin", "in", 2);
    file_make("beside.bin", "b", 1);
    CHECK(mkdir("out", 0700) == 0);
    file_make("out/there.bin", "t", 1);
    CHECK(symlink("/bin/true", "link.bin") == 0 && symlink("/", "root") == 0);
}

static void leave(void)
{
    (void)unlink("out/there.bin");
    (void)unlink("out/new.bin");
    (void)unlink("out/.temporary");
    (void)folder_leave();
}

/* What the machine lacks, or NULL. */
static const char *lacks(void)
{
    struct dti_sandbox sandbox;
    dti_sandbox_begin(&sandbox, false);
    dti_sandbox_leave_out(&sandbox);
    return sandbox.lacks;
}

/* The newest version of Landlock that this machine can stand for. */
static long newest(void)
{
    const long version = syscall(444 /* landlock_create_ruleset */, NULL, 0, 1);
    return version < NEWEST ? version : NEWEST;
}

/* Without a version for output, output leaves files without limits. */
static bool decides(const struct row *row, enum which which, long version)
{
    return row->version == 0 || (version >= row->version && (version > 1 || which != WITH_OUTPUT));
}

/* With the limits of every kernel that this one can stand for, down to one without Landlock. */
static void what_is_not_needed_is_refused(void)
{
    if (lacks()) {
        printf("skipped: this machine or build lacks %s\n", lacks());
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int which = PLAIN; which <= WITH_NETWORK; which++) {
            for (long version = newest(); version >= 0; version--) {
                if (!decides(&rows[i], (enum which)which, version))
                    continue;
                prepare();
                const int got = outcome((enum which)which, version, rows[i].act);
                if (!CHECK(got == rows[i].in[which]))
                    printf("  %s, sandbox %d, Landlock %ld: %d, not %d\n", rows[i].name, which,
                           version, got, rows[i].in[which]);
                leave();
            }
        }
    }
}

static void name_what_it_lacks(FILE *out, const void *context)
{
    const struct attempt *const attempt = context;
    const char *const lacking = enter(attempt->which, attempt->version);
    fprintf(out, "%s; files %s", lacking ? lacking : "nothing",
            dti_sandbox_limits_files() ? "limited" : "not limited");
}

/* What older kernels lack is named, and only what they lack is left out. */
static void older_kernels_are_told_apart(void)
{
    static const struct {
        long version;
        enum which which;
        const char *lacking;
    } kernels[] = {
        {-1, PLAIN, "limits on files (Landlock); files not limited"},
        {0, PLAIN, "limits on files (Landlock); files not limited"},
        {0, WITH_OUTPUT, "limits on files (Landlock); files not limited"},
        {1, PLAIN, "nothing; files limited"},
        {1, WITH_OUTPUT, "limits on files that allow output (Landlock 2); files not limited"},
        {1, WITH_NETWORK, "nothing; files limited"},
        {2, WITH_OUTPUT, "nothing; files limited"},
        {3, WITH_OUTPUT, "nothing; files limited"},
        {4, WITH_NETWORK, "nothing; files limited"},
        {5, WITH_OUTPUT, "nothing; files limited"},
        {6, WITH_NETWORK, "nothing; files limited"},
        {1000, PLAIN, "nothing; files limited"},
    };
    if (lacks())
        return;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const struct attempt attempt = {kernels[i].which, kernels[i].version, NULL};
        struct child_result result;
        if (kernels[i].version > newest() && newest() < NEWEST)
            continue;
        prepare();
        child_run(&result, name_what_it_lacks, &attempt, NULL);
        if (!CHECK(strcmp(result.output, kernels[i].lacking) == 0))
            printf("  Landlock %ld, sandbox %d: %s\n", kernels[i].version, (int)kernels[i].which,
                   result.output);
        leave();
    }
}

/* The words of landlock(7): rights by their bits, and the size of the struct, by version. */
static void each_version_is_asked_what_it_knows(void)
{
    enum { EXECUTE_TO_MAKE_SYM = 0x1fff, REFER = 0x2000, TRUNCATE = 0x4000, IOCTL_DEV = 0x8000 };
    static const struct {
        long version;
        uint64_t files;
        size_t size;
    } versions[] = {
        {-1, 0, 0},
        {0, 0, 0},
        {1, EXECUTE_TO_MAKE_SYM, 8},
        {2, EXECUTE_TO_MAKE_SYM | REFER, 8},
        {3, EXECUTE_TO_MAKE_SYM | REFER | TRUNCATE, 8},
        {4, EXECUTE_TO_MAKE_SYM | REFER | TRUNCATE, 16},
        {5, EXECUTE_TO_MAKE_SYM | REFER | TRUNCATE | IOCTL_DEV, 16},
        {6, EXECUTE_TO_MAKE_SYM | REFER | TRUNCATE | IOCTL_DEV, 24},
        {7, EXECUTE_TO_MAKE_SYM | REFER | TRUNCATE | IOCTL_DEV, 24},
        {1000, EXECUTE_TO_MAKE_SYM | REFER | TRUNCATE | IOCTL_DEV, 24},
    };
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        for (int network = 0; network < 2; network++) {
            struct dti_sandbox_rules rules;
            CHECK_U64(dti_sandbox_rules(&rules, versions[i].version, network), versions[i].size);
            CHECK_U64(rules.files, versions[i].files);
            CHECK_U64(rules.network, network ? 1 : 3); /* bind, connect */
            CHECK_U64(rules.scopes, 3);                /* abstract sockets, signals */
        }
    }
}

static int read_device(void)
{
    return result(open("/dev/zero", O_RDONLY));
}
static int write_device(void)
{
    return result(open("/dev/full", O_WRONLY));
}
static int read_input(void)
{
    return result(open("/dev/stdin", O_RDONLY));
}

/* Streams by name do not open the folders of devices and processes. */
static void streams_by_name_lead_no_further(void)
{
    if (lacks())
        return;
    prepare();
    const int kept = dup(STDIN_FILENO), fd = open("beside.bin", O_RDONLY);
    CHECK(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    CHECK_I64(outcome(OF_STREAMS, newest(), read_input), 0);
    CHECK_I64(outcome(OF_STREAMS, newest(), read_device), EACCES);
    CHECK_I64(outcome(OF_STREAMS, newest(), write_device), EACCES);
    CHECK_I64(outcome(OF_STREAMS, newest(), read_passwd), EACCES);
    CHECK(dup2(kept, STDIN_FILENO) == STDIN_FILENO);
    (void)close(kept);
    (void)close(fd);
    leave();
}

/* Where there is no sandbox, the same succeeds: the test does not pass for another reason. */
static void without_a_sandbox_it_succeeds(void)
{
    static int (*const acts[])(void) = {read_passwd, list_root, start_process, open_socket};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        CHECK_I64(acts[i](), 0);
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    CHECK(!dti_sandbox_limits_files());
}

UNIT_MAIN(what_is_not_needed_is_refused, older_kernels_are_told_apart,
          each_version_is_asked_what_it_knows, streams_by_name_lead_no_further,
          without_a_sandbox_it_succeeds)
