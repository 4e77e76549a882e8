/* SPDX-License-Identifier: MIT
 *
 * Landlock: which files a process may open, and that it reaches no other process; and the order in
 * which both parts of the sandbox close.
 *
 * Landlock's rules are about what a path leads to, so links need no care while files are opened;
 * but the folders of all links on the way to a named file must be known before. */
#define _GNU_SOURCE /* syscall(), O_PATH */
#include "io/sandbox/sandbox.h"

#include <stdatomic.h>
#include <stddef.h>

#include "io/sandbox/filter.h"

static atomic_bool limits_files;

bool dti_sandbox_limits_files(void)
{
    return atomic_load(&limits_files);
}

#define RIGHT(bit)  (UINT64_C(1) << (bit))
#define WRITE_FILE  RIGHT(1)
#define READ_FILE   RIGHT(2)
#define READ_DIR    RIGHT(3)
#define REMOVE_DIR  RIGHT(4)
#define REMOVE_FILE RIGHT(5)
#define MAKE_DIR    RIGHT(7)
#define MAKE_REG    RIGHT(8)
#define REFER       RIGHT(13) /* moves between folders; before version 2 always refused */
#define TRUNCATE    RIGHT(14)
#define IOCTL       RIGHT(15) /* of devices: whether it is a terminal */
#define OF_FILES    (WRITE_FILE | READ_FILE | TRUNCATE | IOCTL)
#define OF_READERS  (READ_FILE | READ_DIR)
#define OF_SCRATCH  (WRITE_FILE | READ_FILE | TRUNCATE | REMOVE_FILE | MAKE_REG)
#define OF_WRITERS  (OF_SCRATCH | READ_DIR | REMOVE_DIR | MAKE_DIR | REFER)
#define TCP         (RIGHT(0) | RIGHT(1)) /* ports to bind and to connect to */
#define TCP_BIND    RIGHT(0)
#define OTHERS      (RIGHT(0) | RIGHT(1)) /* abstract sockets, signals */

size_t dti_sandbox_rules(struct dti_sandbox_rules *ret, long version, bool network)
{
    /* how many rights of files each version has, and the size of its struct */
    static const struct {
        unsigned char rights, size;
    } versions[] = {{0, 0}, {13, 8}, {14, 8}, {15, 8}, {15, 16}, {16, 16}, {16, 24}};
    const long most = (long)(sizeof versions / sizeof *versions) - 1;
    const long known = version < 0 ? 0 : version < most ? version : most;
    *ret = (struct dti_sandbox_rules){
        .files = RIGHT(versions[known].rights) - 1,
        .network = network ? TCP_BIND : TCP,
        .scopes = OTHERS,
    };
    return versions[known].size;
}

#if !defined DTI_SANDBOX
void dti_sandbox_begin(struct dti_sandbox *ret, bool network)
{
    *ret = (struct dti_sandbox){.lacks = dti_filter_lacks(), .rules = -1, .network = network};
}

void dti_sandbox_begin_as(struct dti_sandbox *ret, bool network, long version)
{
    (void)version;
    dti_sandbox_begin(ret, network);
}

void dti_sandbox_allow(struct dti_sandbox *sandbox, const char *path, enum dti_sandbox_use use)
{
    (void)sandbox, (void)path, (void)use;
}

void dti_sandbox_enter(struct dti_sandbox *sandbox)
{
    (void)sandbox;
}

void dti_sandbox_leave_out(struct dti_sandbox *sandbox)
{
    (void)sandbox;
}
#else
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/descriptor.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

/* The kernel's interface, of which older headers lack parts. What later versions added is handled
 * where the kernel has it. */
enum { VERSION_FLAG = 1, BENEATH = 1 };
struct path_rule {
    uint64_t rights;
    int32_t folder;
} __attribute__((packed));

void dti_sandbox_begin(struct dti_sandbox *ret, bool network)
{
    dti_sandbox_begin_as(ret, network,
                         syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, VERSION_FLAG));
}

void dti_sandbox_begin_as(struct dti_sandbox *ret, bool network, long version)
{
    struct dti_sandbox_rules wanted;
    const size_t size = dti_sandbox_rules(&wanted, version, network);
    *ret = (struct dti_sandbox){.lacks = dti_filter_lacks(), .rules = -1, .network = network};
    ret->handled = wanted.files;
    if (size > 0)
        ret->rules = (int)syscall(SYS_landlock_create_ruleset, &wanted, size, 0);
    if (ret->rules < 0)
        ret->lacks = "limits on files (Landlock)";
    if (ret->rules < 0 || !network)
        return;
#define PLACE(path, reason) dti_sandbox_allow(ret, path, DTI_SANDBOX_SYSTEM);
#include "io/sandbox/places.def"
#undef PLACE
}

/* Without a rule for a file it could not be read: then there are no rules at all. */
static void give_up(struct dti_sandbox *sandbox, const char *lacks)
{
    dti_sandbox_leave_out(sandbox);
    sandbox->lacks = lacks;
}

/* A file that this machine fails to look at would be refused later, as if it were forbidden. Only
 * what no author of a file can bring about ends the sandbox. */
static void note_error(struct dti_sandbox *sandbox)
{
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO)
        give_up(sandbox, "descriptors, memory or a look at files to limit which ones are opened");
}

/* An open file or folder, with rights that it can have. */
static void allow_open(struct dti_sandbox *sandbox, int fd, uint64_t rights)
{
    const struct path_rule rule = {.rights = rights & sandbox->handled, .folder = fd};
    if (sandbox->rules >= 0 &&
        syscall(SYS_landlock_add_rule, sandbox->rules, BENEATH, &rule, 0) != 0 &&
        errno != EBADFD) /* a pipe without a name, which needs no rule */
        give_up(sandbox, "limits on that kind of file (Landlock)");
}

static int open_at(struct dti_sandbox *sandbox, int folder, const char *path, int flags)
{
    int fd;
    DTI_AGAIN(fd = openat(folder, path, flags | O_CLOEXEC));
    if (fd < 0)
        note_error(sandbox);
    return fd;
}

/* Whether it is there. */
static bool allow_at(struct dti_sandbox *sandbox, int folder, const char *path, uint64_t rights)
{
    const int fd = open_at(sandbox, folder, path, O_PATH);
    struct stat st;
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0)
        allow_open(sandbox, fd, S_ISDIR(st.st_mode) ? rights : rights & OF_FILES);
    else
        note_error(sandbox);
    (void)close(fd);
    return true;
}

/* An entry of a folder, as the kernel has it. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* The files to which the links of a folder lead: shards and config.json of a download cache. Not
 * folders: the author of that link would choose what is open. */
static void allow_links(struct dti_sandbox *sandbox, int folder)
{
    _Alignas(struct entry) char block[8192]; /* a folder may have many entries */
    struct stat st;
    long got;
    while ((got = syscall(SYS_getdents64, folder, block, sizeof block)) > 0) {
        for (long at = 0; at < got;) {
            const struct entry *const entry = (const void *)(block + at);
            at += entry->size;
            if ((entry->type == DT_LNK || entry->type == DT_UNKNOWN) &&
                fstatat(folder, entry->name, &st, 0) == 0 && S_ISREG(st.st_mode))
                (void)allow_at(sandbox, folder, entry->name, READ_FILE);
        }
    }
    if (got < 0)
        note_error(sandbox);
}

/* Whether it is there. */
static bool allow_folder(struct dti_sandbox *sandbox, const char *path, uint64_t rights)
{
    int fd = -1;
    if (rights == OF_READERS)
        fd = open_at(sandbox, AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    if (fd < 0) /* it may be searched, but not listed */
        return allow_at(sandbox, AT_FDCWD, path, rights);
    allow_open(sandbox, fd, rights);
    allow_links(sandbox, fd);
    (void)close(fd);
    return true;
}

/* /dev/stdin and the like: their folder has devices, or what belongs to processes. */
static bool is_special(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           (strncmp(path, "/dev/", 5) == 0 && !strchr(path + 5, '/'));
}

/* The folder that a file is in. If there is none yet, output makes it in the folder above. */
static void allow_parent(struct dti_sandbox *sandbox, char *path, uint64_t rights)
{
    char *const slash = strrchr(path, '/');
    if (is_special(path))
        (void)allow_at(sandbox, AT_FDCWD, path, rights & OF_FILES);
    else if (!slash)
        (void)allow_folder(sandbox, ".", rights);
    else if (slash == path) /* all files of a machine are below the root */
        (void)allow_at(sandbox, AT_FDCWD, rights == OF_WRITERS ? "/" : path, rights);
    else {
        *slash = '\0';
        if (!allow_folder(sandbox, path, rights) && rights == OF_WRITERS)
            allow_parent(sandbox, path, rights);
        *slash = '/';
    }
}

/* Follows a link: the path, which has room for PATH_MAX bytes, becomes its target. */
static bool follow(struct dti_sandbox *sandbox, char *path)
{
    char target[PATH_MAX];
    const ssize_t length = readlink(path, target, sizeof target);
    if (length < 0)
        note_error(sandbox);
    if (length <= 0 || length == (ssize_t)sizeof target)
        return false;
    const char *const slash = target[0] == '/' ? NULL : strrchr(path, '/');
    const size_t kept = slash ? (size_t)(slash + 1 - path) : 0;
    if (kept + (size_t)length >= PATH_MAX)
        return false;
    memcpy(path + kept, target, (size_t)length);
    path[kept + (size_t)length] = '\0';
    return true;
}

/* The folders of a file, and of all links on the way to it. */
static void allow_file(struct dti_sandbox *sandbox, const char *path, uint64_t rights)
{
    enum { LINKS_MOST = 40 };
    char at[PATH_MAX];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length >= sizeof at)
        return;
    memcpy(at, path, length);
    at[length] = '\0';
    for (int links = 0; links < LINKS_MOST; links++) {
        allow_parent(sandbox, at, rights);
        if (!follow(sandbox, at))
            break;
        if (links == 0) /* by the way of /proc it may lead to a file without a name */
            (void)allow_at(sandbox, AT_FDCWD, path, rights);
    }
}

static void allow_output(struct dti_sandbox *sandbox, const char *path, bool there, mode_t mode)
{
    if ((sandbox->handled & REFER) == 0) { /* complete files could not get their names */
        give_up(sandbox, "limits on files that allow output (Landlock 2)");
        return;
    }
    if (there)
        (void)allow_at(sandbox, AT_FDCWD, path, S_ISCHR(mode) ? OF_WRITERS | IOCTL : OF_WRITERS);
    if (!there || S_ISDIR(mode) || S_ISREG(mode))
        allow_file(sandbox, path, OF_WRITERS);
}

void dti_sandbox_allow(struct dti_sandbox *sandbox, const char *path, enum dti_sandbox_use use)
{
    struct stat st = {.st_mode = 0};
    if (sandbox->rules < 0)
        return;
    if (use == DTI_SANDBOX_SYSTEM || use == DTI_SANDBOX_SCRATCH) {
        (void)allow_at(sandbox, AT_FDCWD, path,
                       use == DTI_SANDBOX_SYSTEM ? OF_READERS : OF_SCRATCH);
        return;
    }
    const bool there = stat(path, &st) == 0;
    if (!there)
        note_error(sandbox);
    if (use == DTI_SANDBOX_WRITE)
        allow_output(sandbox, path, there, st.st_mode);
    else if (S_ISDIR(st.st_mode))
        (void)allow_folder(sandbox, path, OF_READERS);
    else if (S_ISREG(st.st_mode))
        allow_file(sandbox, path, OF_READERS);
    else if (there)
        (void)allow_at(sandbox, AT_FDCWD, path, OF_READERS | IOCTL);
}

void dti_sandbox_enter(struct dti_sandbox *sandbox)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        sandbox->lacks = "a way to give up new privileges";
    else {
        if (sandbox->rules >= 0 && syscall(SYS_landlock_restrict_self, sandbox->rules, 0) == 0)
            atomic_store(&limits_files, true);
        else if (sandbox->rules >= 0 && !sandbox->lacks)
            sandbox->lacks = "limits on files (Landlock)";
        if (dti_filter_install(sandbox->network) != 0 && !sandbox->lacks)
            sandbox->lacks = "filters of system calls (seccomp)";
    }
    dti_sandbox_leave_out(sandbox);
}

void dti_sandbox_leave_out(struct dti_sandbox *sandbox)
{
    if (sandbox->rules >= 0)
        (void)close(sandbox->rules);
    sandbox->rules = -1;
}
#endif
