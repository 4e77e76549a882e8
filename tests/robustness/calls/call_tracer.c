/* SPDX-License-Identifier: MIT
 *
 * Runs a program under ptrace() and counts its system calls from its entry point on, those of the
 * C library and of all threads too; those of the loader before that do not count. One of them can
 * fail, be cut short, or be the moment of a signal.
 *
 *     call_tracer [OPTION...] -- PROGRAM [WORD...]
 *
 *     --log FILE               one line for each call, see write_line(); with --fail etc. for those
 *                              that were changed
 *     --data FILE              what was written to regular files; the lines tell where
 *     --fail CALL AT ERRNO     the AT-th CALL (from 1) is not made and returns that error; brk()
 * tells that nothing was added
 *     --after CALL AT ERRNO    it is made, and returns that error all the same
 *     --cut CALL AT            its third argument, a size, is halved
 *     --stays                  so do all later ones of that kind
 *     --kill AT SIGNAL         that signal comes before the AT-th call of all is made
 *     --kill-after AT SIGNAL   or before it returns
 *
 * Ends as the program does; with 126 if a program cannot be traced here. x86-64 only. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_readv() */
#endif
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_TRACE = 126, THREADS_MOST = 256, ARGUMENTS = 6, NUMBERS = 512 };

/* Which arguments name files: a descriptor, a path, a folder and a path in it, and so on. */
enum names { NOTHING, FD, FD_LAST, PATH, FOLDER_PATH, TWO_FOLDER_PATHS };

static const struct {
    const char *name;
    enum names names;
} calls[NUMBERS] = {
#define CALL(name, names) [SYS_##name] = {#name, names}
    CALL(read, FD),
    CALL(write, FD),
    CALL(pread64, FD),
    CALL(pwrite64, FD),
    CALL(readv, FD),
    CALL(writev, FD),
    CALL(preadv, FD),
    CALL(pwritev, FD),
    CALL(lseek, FD),
    CALL(close, FD),
    CALL(dup, FD),
    CALL(fcntl, FD),
    CALL(flock, FD),
    CALL(open, PATH),
    CALL(openat, FOLDER_PATH),
    CALL(stat, PATH),
    CALL(lstat, PATH),
    CALL(newfstatat, FOLDER_PATH),
    CALL(fstat, FD),
    CALL(statx, FOLDER_PATH),
    CALL(statfs, PATH),
    CALL(fstatfs, FD),
    CALL(access, PATH),
    CALL(faccessat, FOLDER_PATH),
    CALL(faccessat2, FOLDER_PATH),
    CALL(readlink, PATH),
    CALL(readlinkat, FOLDER_PATH),
    CALL(getcwd, NOTHING),
    CALL(getdents64, FD),
    CALL(mkdir, PATH),
    CALL(mkdirat, FOLDER_PATH),
    CALL(rmdir, PATH),
    CALL(unlink, PATH),
    CALL(unlinkat, FOLDER_PATH),
    CALL(link, PATH),
    CALL(linkat, TWO_FOLDER_PATHS),
    CALL(rename, PATH),
    CALL(renameat, TWO_FOLDER_PATHS),
    CALL(renameat2, TWO_FOLDER_PATHS),
    CALL(ftruncate, FD),
    CALL(fallocate, FD),
    CALL(fadvise64, FD),
    CALL(fsync, FD),
    CALL(fdatasync, FD),
    CALL(sync_file_range, FD),
    CALL(copy_file_range, FD),
    CALL(sendfile, FD),
    CALL(fchmod, FD),
    CALL(fchown, FD),
    CALL(ioctl, FD),
    CALL(mmap, FD_LAST),
    CALL(munmap, NOTHING),
    CALL(mprotect, NOTHING),
    CALL(mremap, NOTHING),
    CALL(madvise, NOTHING),
    CALL(brk, NOTHING),
    CALL(clone, NOTHING),
    CALL(clone3, NOTHING),
    CALL(futex, NOTHING),
    CALL(set_robust_list, NOTHING),
    CALL(rseq, NOTHING),
    CALL(gettid, NOTHING),
    CALL(getpid, NOTHING),
    CALL(sched_yield, NOTHING),
    CALL(sched_getaffinity, NOTHING),
    CALL(prctl, NOTHING),
    CALL(arch_prctl, NOTHING),
    CALL(exit, NOTHING),
    CALL(exit_group, NOTHING),
    CALL(rt_sigaction, NOTHING),
    CALL(rt_sigprocmask, NOTHING),
    CALL(rt_sigreturn, NOTHING),
    CALL(sigaltstack, NOTHING),
    CALL(tgkill, NOTHING),
    CALL(geteuid, NOTHING),
    CALL(getuid, NOTHING),
    CALL(prlimit64, NOTHING),
    CALL(getrlimit, NOTHING),
    CALL(setrlimit, NOTHING),
    CALL(sysinfo, NOTHING),
    CALL(uname, NOTHING),
    CALL(getrandom, NOTHING),
    CALL(clock_gettime, NOTHING),
    CALL(clock_nanosleep, NOTHING),
    CALL(poll, NOTHING),
    CALL(ppoll, NOTHING),
    CALL(landlock_create_ruleset, NOTHING),
    CALL(landlock_add_rule, NOTHING),
    CALL(landlock_restrict_self, NOTHING),
    CALL(seccomp, NOTHING),
#undef CALL
};

enum action { NONE, FAIL, AFTER, CUT, KILL, KILL_AFTER };

static struct {
    enum action action;
    long call; /* its number; not for the signals */
    unsigned long at;
    long value; /* an error or a signal */
    bool stays;
    FILE *log, *data;
} want;

/* A file that an argument names: what it is now, and the folder and name through which it is
 * reached, of a descriptor neither. */
struct place {
    unsigned long long inode, folder;
    char path[2 * PATH_MAX];
    const char *leaf; /* in path */
};

struct thread {
    pid_t id; /* 0: free */
    bool inside, changed;
    struct user_regs_struct entry;
    unsigned long index;
    long long position; /* of a write() */
    struct place places[2];
};

static pid_t child;
static struct thread threads[THREADS_MOST];
static unsigned long total, counts[NUMBERS];

static _Noreturn void stop(const char *what)
{
    (void)fprintf(stderr, "call_tracer: %s: %s\n", what, strerror(errno));
    exit(CANNOT_TRACE);
}

static struct thread *thread_of(pid_t id)
{
    struct thread *unused = NULL;
    for (size_t i = 0; i < THREADS_MOST; i++) {
        if (threads[i].id == id)
            return &threads[i];
        if (threads[i].id == 0 && !unused)
            unused = &threads[i];
    }
    if (!unused) {
        errno = EAGAIN;
        stop("threads");
    }
    *unused = (struct thread){.id = id};
    return unused;
}

static const char *name_of(long number)
{
    static char text[32];
    if (number >= 0 && number < NUMBERS && calls[number].name)
        return calls[number].name;
    (void)snprintf(text, sizeof text, "call_%ld", number);
    return text;
}

static long number_of(const char *name)
{
    for (long i = 0; i < NUMBERS; i++) {
        if (calls[i].name && strcmp(calls[i].name, name) == 0)
            return i;
    }
    errno = ENOSYS;
    stop(name);
}

static unsigned long long argument(const struct user_regs_struct *state, int at)
{
    const unsigned long long list[ARGUMENTS] = {state->rdi, state->rsi, state->rdx,
                                                state->r10, state->r8,  state->r9};
    return list[at];
}

/* Text of the program, cut at size. */
static void read_text(char *ret, size_t size, unsigned long long address)
{
    size_t done = 0;
    while (done + 1 < size) {
        errno = 0;
        const long word = ptrace(PTRACE_PEEKDATA, child, (void *)(uintptr_t)(address + done), NULL);
        if (errno != 0)
            break;
        const size_t some = sizeof word < size - 1 - done ? sizeof word : size - 1 - done;
        memcpy(ret + done, &word, some);
        if (memchr(&word, '\0', some))
            return;
        done += some;
    }
    ret[done] = '\0';
}

static void resolve(char *path, size_t size, const char *link)
{
    const ssize_t length = readlink(link, path, size - 1);
    path[length > 0 ? length : 0] = '\0';
}

/* With its device; 0 if there is none. */
static unsigned long long inode_of(const char *path, bool follow)
{
    struct stat st = {0};
    if ((follow ? stat(path, &st) : lstat(path, &st)) != 0)
        return 0;
    return (unsigned long long)st.st_dev << 40 ^ (unsigned long long)st.st_ino;
}

static void find_descriptor(struct place *place, long fd)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/%ld/fd/%ld", (long)child, fd);
    *place = (struct place){.inode = fd >= 0 ? inode_of(link, true) : 0};
    if (fd >= 0)
        resolve(place->path, sizeof place->path, link);
    place->leaf = "";
}

/* The folder is a descriptor or AT_FDCWD. */
static void find_path(struct place *place, int folder, unsigned long long address)
{
    char from[64], text[PATH_MAX], path[PATH_MAX + 80], here[PATH_MAX];
    read_text(text, sizeof text, address);
    if (folder == AT_FDCWD)
        (void)snprintf(from, sizeof from, "/proc/%ld/cwd", (long)child);
    else
        (void)snprintf(from, sizeof from, "/proc/%ld/fd/%d", (long)child, folder);
    *place = (struct place){.inode = 0};
    if (text[0] == '\0') {
        place->inode = inode_of(from, true);
        resolve(place->path, sizeof place->path, from);
        place->leaf = "";
        return;
    }
    resolve(here, sizeof here, from);
    const bool absolute = text[0] == '/';
    (void)snprintf(path, sizeof path, "%s%s%s", absolute ? "" : from, absolute ? "" : "/", text);
    (void)snprintf(place->path, sizeof place->path, "%s%s%s", absolute ? "" : here,
                   absolute ? "" : "/", text);
    place->inode = inode_of(path, false);
    place->leaf = strrchr(place->path, '/') + 1;
    char *const slash = strrchr(path, '/');
    *slash = '\0';
    place->folder = inode_of(slash == path ? "/" : path, true);
}

static void find_places(struct thread *thread)
{
    const struct user_regs_struct *const state = &thread->entry;
    const long number = (long)state->orig_rax;
    struct place *const places = thread->places;
    places[0] = places[1] = (struct place){.leaf = ""};
    switch (number >= 0 && number < NUMBERS ? calls[number].names : NOTHING) {
    case FD:
        find_descriptor(&places[0], (int)state->rdi);
        break;
    case FD_LAST:
        find_descriptor(&places[0], (int)state->r8);
        break;
    case PATH:
        find_path(&places[0], AT_FDCWD, state->rdi);
        break;
    case FOLDER_PATH:
        find_path(&places[0], (int)state->rdi, state->rsi);
        break;
    case TWO_FOLDER_PATHS:
        find_path(&places[0], (int)state->rdi, state->rsi);
        find_path(&places[1], (int)state->rdx, state->r10);
        break;
    case NOTHING:
        break;
    }
    thread->position = -1;
    if (number == SYS_write) {
        char path[64], line[256];
        (void)snprintf(path, sizeof path, "/proc/%ld/fdinfo/%d", (long)child, (int)state->rdi);
        FILE *const file = fopen(path, "r");
        if (file && fgets(line, sizeof line, file))
            (void)sscanf(line, "pos: %lld", &thread->position);
        if (file)
            (void)fclose(file);
    } else if (number == SYS_pwrite64)
        thread->position = (long long)state->r10;
}

/* Appends what a write has written to the data. Returns how much it is. */
static unsigned long long take_data(const struct thread *thread, long long result)
{
    const long number = (long)thread->entry.orig_rax;
    char link[64], block[1 << 16];
    struct stat st = {0};
    (void)snprintf(link, sizeof link, "/proc/%ld/fd/%d", (long)child, (int)thread->entry.rdi);
    if (!want.data || (number != SYS_write && number != SYS_pwrite64) || result <= 0 ||
        stat(link, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    for (long long done = 0; done < result;) {
        const long long left = result - done;
        const size_t some = left < (long long)sizeof block ? (size_t)left : sizeof block;
        const struct iovec to = {block, some};
        const struct iovec from = {(void *)(uintptr_t)(thread->entry.rsi + (uint64_t)done), some};
        if (process_vm_readv(child, &to, 1, &from, 1, 0) != (ssize_t)some ||
            fwrite(block, 1, some, want.data) != some)
            stop("data");
        done += (long long)some;
    }
    return (unsigned long long)result;
}

/* INDEX THREAD NAME COUNT RESULT, six arguments, for both files INODE FOLDER LEAF PATH, then
 * POSITION and BYTES of what was written, and the inode of a result that is a new descriptor or a
 * new folder; separated by tabs. */
static void write_line(const struct thread *thread, long long result)
{
    const long number = (long)thread->entry.orig_rax;
    (void)fprintf(want.log, "%lu\t%ld\t%s\t%lu\t%lld", thread->index, (long)thread->id,
                  name_of(number), number >= 0 && number < NUMBERS ? counts[number] : 0, result);
    for (int i = 0; i < ARGUMENTS; i++)
        (void)fprintf(want.log, "\t%llu", argument(&thread->entry, i));
    for (int i = 0; i < 2; i++) {
        const struct place *const place = &thread->places[i];
        (void)fprintf(want.log, "\t%llu\t%llu\t%s\t%s", place->inode, place->folder, place->leaf,
                      place->path);
    }
    struct place made = {.inode = 0};
    if (result >= 0 && (number == SYS_openat || number == SYS_open))
        find_descriptor(&made, (long)result);
    else if (result == 0 && number == SYS_mkdirat)
        find_path(&made, (int)thread->entry.rdi, thread->entry.rsi);
    (void)fprintf(want.log, "\t%lld\t%llu\t%llu\n", thread->position, take_data(thread, result),
                  made.inode);
}

static bool is_wanted(const struct thread *thread, long number)
{
    if (want.action == KILL || want.action == KILL_AFTER)
        return thread->index == want.at;
    return want.action != NONE && number == want.call && number < NUMBERS &&
           (want.stays ? counts[number] >= want.at : counts[number] == want.at);
}

static void set_state(const struct thread *thread, const struct user_regs_struct *state)
{
    if (ptrace(PTRACE_SETREGS, thread->id, NULL, state) != 0 && errno != ESRCH)
        stop("registers");
}

static void enter_call(struct thread *thread)
{
    struct user_regs_struct state = thread->entry;
    const long number = (long)state.orig_rax;
    thread->index = ++total;
    if (number >= 0 && number < NUMBERS)
        counts[number]++;
    thread->changed = is_wanted(thread, number);
    if (want.log && (want.action == NONE || thread->changed))
        find_places(thread);
    if (!thread->changed)
        return;
    switch (want.action) {
    case FAIL:
        if (number == SYS_brk)
            state.rdi = 0;
        else
            state.orig_rax = SYS_getpid; /* which a sandbox allows, too */
        set_state(thread, &state);
        break;
    case CUT:
        state.rdx = (state.rdx + 1) / 2;
        set_state(thread, &state);
        break;
    case KILL:
        (void)kill(child, (int)want.value);
        break;
    case KILL_AFTER:
    case AFTER:
    case NONE:
        break;
    }
}

static void leave_call(struct thread *thread)
{
    struct user_regs_struct state;
    if (ptrace(PTRACE_GETREGS, thread->id, NULL, &state) != 0)
        return; /* it was killed */
    if (thread->changed && (want.action == FAIL || want.action == AFTER || want.action == CUT)) {
        const unsigned long long result = state.rax;
        const unsigned long long after_call[] = {state.rip, state.rcx, state.r11, state.eflags};
        state = thread->entry; /* a call changes no other register */
        state.rip = after_call[0], state.rcx = after_call[1];
        state.r11 = after_call[2], state.eflags = after_call[3];
        const bool fails = want.action != CUT && thread->entry.orig_rax != SYS_brk;
        state.rax = fails ? (unsigned long long)-want.value : result;
        set_state(thread, &state);
    }
    if (want.log && (want.action == NONE || thread->changed))
        write_line(thread, (long long)state.rax);
    if (thread->changed && want.action == KILL_AFTER)
        (void)kill(child, (int)want.value);
    thread->changed = false;
}

static void at_call(struct thread *thread)
{
    thread->inside = !thread->inside;
    if (!thread->inside) {
        leave_call(thread);
        return;
    }
    if (ptrace(PTRACE_GETREGS, thread->id, NULL, &thread->entry) != 0)
        return;
    enter_call(thread);
}

static unsigned long long entry_point(void)
{
    char path[64];
    Elf64_auxv_t item;
    (void)snprintf(path, sizeof path, "/proc/%ld/auxv", (long)child);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && read(fd, &item, sizeof item) == (ssize_t)sizeof item) {
        if (item.a_type == AT_ENTRY) {
            (void)close(fd);
            return item.a_un.a_val;
        }
    }
    stop("entry point");
}

static int wait_for(pid_t id)
{
    int status = 0;
    if (waitpid(id, &status, __WALL) != id || !WIFSTOPPED(status))
        stop("the program did not start");
    return WSTOPSIG(status);
}

/* Lets the loader finish: the program stops at its entry point. */
static void skip_loader(void)
{
    const unsigned long long at = entry_point();
    void *const address = (void *)(uintptr_t)at;
    struct user_regs_struct state;
    errno = 0;
    const long word = ptrace(PTRACE_PEEKTEXT, child, address, NULL);
    if (errno != 0 || ptrace(PTRACE_POKETEXT, child, address, (word & ~0xFFL) | 0xCC) != 0)
        stop("entry point");
    do {
        if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0)
            stop("entry point");
    } while (wait_for(child) != SIGTRAP);
    if (ptrace(PTRACE_POKETEXT, child, address, word) != 0 ||
        ptrace(PTRACE_GETREGS, child, NULL, &state) != 0 || state.rip != at + 1)
        stop("entry point");
    state.rip = at;
    if (ptrace(PTRACE_SETREGS, child, NULL, &state) != 0)
        stop("entry point");
}

static void begin(char **words)
{
    child = fork();
    if (child < 0)
        stop("fork");
    if (child == 0) {
        /* a shell ignores some for what runs in the background */
        static const int usual[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM};
        for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
            (void)signal(usual[i], SIG_DFL);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            stop("ptrace");
        (void)raise(SIGSTOP);
        execv(words[0], words);
        stop(words[0]);
    }
    const long options =
        PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;
    if (wait_for(child) != SIGSTOP || ptrace(PTRACE_SETOPTIONS, child, NULL, options) != 0 ||
        ptrace(PTRACE_CONT, child, NULL, NULL) != 0 || wait_for(child) != SIGTRAP)
        stop("ptrace");
    skip_loader();
    (void)thread_of(child);
    (void)ptrace(PTRACE_SYSCALL, child, NULL, NULL);
}

/* Until the program ends; returns its status. */
static int follow(void)
{
    for (;;) {
        int status = 0;
        const pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno != EINTR)
            stop("wait");
        if (id == child && !WIFSTOPPED(status))
            return status;
        if (id < 0 || !WIFSTOPPED(status)) {
            if (id > 0)
                thread_of(id)->id = 0;
            continue;
        }
        struct thread *const known = thread_of(id);
        long deliver = 0;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80))
            at_call(known);
        else if (status >> 16 == 0 &&
                 WSTOPSIG(status) != SIGSTOP) /* not the stop of a new thread */
            deliver = WSTOPSIG(status);
        (void)ptrace(PTRACE_SYSCALL, id, NULL, (void *)deliver);
    }
}

static FILE *open_file(const char *path)
{
    FILE *const file = fopen(path, "we");
    if (!file)
        stop(path);
    return file;
}

/* Takes one option with its words; returns how many there are. */
static int take_option(char **words)
{
    const char *const name = words[0];
    const bool kills = strncmp(name, "--kill", 6) == 0;
    if (strcmp(name, "--log") == 0) {
        want.log = open_file(words[1]);
        return 2;
    }
    if (strcmp(name, "--data") == 0) {
        want.data = open_file(words[1]);
        return 2;
    }
    if (strcmp(name, "--stays") == 0) {
        want.stays = true;
        return 1;
    }
    want.action = strcmp(name, "--fail") == 0         ? FAIL
                  : strcmp(name, "--after") == 0      ? AFTER
                  : strcmp(name, "--cut") == 0        ? CUT
                  : strcmp(name, "--kill") == 0       ? KILL
                  : strcmp(name, "--kill-after") == 0 ? KILL_AFTER
                                                      : NONE;
    if (want.action == NONE) {
        errno = EINVAL;
        stop(name);
    }
    if (!kills)
        want.call = number_of(words[1]);
    want.at = strtoul(words[kills ? 1 : 2], NULL, 10);
    if (want.action == CUT)
        return 3;
    want.value = strtol(words[kills ? 2 : 3], NULL, 10);
    return kills ? 3 : 4;
}

int main(int count, char **words)
{
    int at = 1;
    while (at < count && strcmp(words[at], "--") != 0)
        at += take_option(words + at);
    if (at + 1 >= count) {
        errno = EINVAL;
        stop("usage");
    }
    begin(words + at + 1);
    const int status = follow();
    if ((want.log && fclose(want.log) != 0) || (want.data && fclose(want.data) != 0))
        stop("log");
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(WTERMSIG(status), SIG_DFL);
    (void)raise(WTERMSIG(status));
    return CANNOT_TRACE;
}
