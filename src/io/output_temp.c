/* SPDX-License-Identifier: MIT
 *
 * Temporary files and folders, and the list of them that the signal handler walks. */
#define _GNU_SOURCE /* syscall(), flock() */
#include "io/output_temp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "io/descriptor.h"
#include "io/output.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

enum { ATTEMPTS = 100, RANDOM_LETTERS = 6 };

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_LIVE };

/* All members but state and next are written before state becomes SLOT_LIVE, and not while it
 * is. Slots are reused and never freed, because the handler may be reading the list; so they are
 * the process's, not those of the caller that writes. */
struct dti_output_slot {
    atomic_int state;
    int folder;
    char name[NAME_MAX + 1];
    bool is_folder;
    struct dti_output_names names;
    _Atomic(struct dti_output_slot *) next;
};

static struct dti_output_slot first_slot; /* a second slot is rarely needed */

static const char infix[] = ".dtinfo-";
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* Unpredictable if the system provides random bytes; otherwise at least distinct. */
static uint64_t random_number(unsigned attempt)
{
    uint64_t number = 0;
#ifdef SYS_getrandom                    /* glibc has a function since 2.25 */
    static const unsigned nonblock = 1; /* GRND_NONBLOCK */
    if (syscall(SYS_getrandom, &number, sizeof number, nonblock) == (long)sizeof number)
        return number;
#endif
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    number = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec + attempt;
    number = (number ^ ((uint64_t)getpid() << 32)) * UINT64_C(0x9E3779B97F4A7C15);
    return number ^ (number >> 29);
}

/* Writes all of the temporary name but the random letters; returns its length. */
static size_t make_prefix(char ret[NAME_MAX + 1], const char *name)
{
    const size_t available = NAME_MAX - 1 - (sizeof infix - 1) - RANDOM_LETTERS;
    size_t length = strlen(name);
    if (length > available) {
        length = available;
        while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80)
            length--; /* do not cut a UTF-8 sequence */
    }
    ret[0] = '.';
    memcpy(ret + 1, name, length);
    memcpy(ret + 1 + length, infix, sizeof infix);
    return 1 + length + sizeof infix - 1;
}

static void make_name(char ret[NAME_MAX + 1], const char *name, unsigned attempt)
{
    char *to = ret + make_prefix(ret, name);
    uint64_t number = random_number(attempt);
    for (int i = 0; i < RANDOM_LETTERS; i++) {
        *to++ = letters[number % (sizeof letters - 1)];
        number /= sizeof letters - 1;
    }
    *to = '\0';
}

bool dti_output_temp_is(const char *other, const char *name)
{
    char prefix[NAME_MAX + 1];
    const size_t length = make_prefix(prefix, name);
    return strncmp(other, prefix, length) == 0 && strlen(other) == length + RANDOM_LETTERS &&
           strspn(other + length, letters) == RANDOM_LETTERS;
}

/* NULL if memory ran out. */
static struct dti_output_slot *take_slot(void)
{
    struct dti_output_slot *slot = &first_slot;
    for (;;) {
        int expected = SLOT_FREE;
        if (atomic_compare_exchange_strong(&slot->state, &expected, SLOT_TAKEN))
            return slot;
        struct dti_output_slot *next = atomic_load(&slot->next);
        if (!next) {
            struct dti_output_slot *const fresh = dti_process_calloc(1, sizeof *fresh);
            if (!fresh)
                return NULL;
            if (atomic_compare_exchange_strong(&slot->next, &next, fresh))
                next = fresh;
            else
                dti_process_free(fresh); /* another thread was faster: use the slot it added */
        }
        slot = next;
    }
}

/* Creates and opens the file or folder: a descriptor, or -1 and errno. */
static int make(const struct dti_output_temp *temp, mode_t mode, bool is_folder)
{
    const int flags =
        O_NOFOLLOW | O_CLOEXEC | (is_folder ? O_RDONLY | O_DIRECTORY : O_WRONLY | O_CREAT | O_EXCL);
    if (is_folder && mkdirat(temp->folder, temp->name, mode) != 0)
        return -1;
    int fd;
    DTI_AGAIN(fd = openat(temp->folder, temp->name, flags, mode));
    if (fd < 0 && is_folder && errno == ENOENT)
        errno = EEXIST; /* another run has already removed it as a leftover */
    return dti_descriptor_above_standard(fd);
}

/* Locks the file to show other runs that its owner is alive; without lock support in the file
 * system they cannot know. Returns false if another run is removing it as a leftover. */
static bool lock(int fd, const struct dti_output_temp *temp)
{
    struct stat st;
    int result;
    DTI_AGAIN(result = flock(fd, LOCK_EX | LOCK_NB));
    if (result != 0 && errno == EWOULDBLOCK)
        return false;
    return fstatat(temp->folder, temp->name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

static void remove_name(const struct dti_output_temp *temp, bool is_folder)
{
    const int error = errno;
    (void)unlinkat(temp->folder, temp->name, is_folder ? AT_REMOVEDIR : 0);
    errno = error;
}

int dti_output_temp_make(struct dti_output_temp *ret, int folder, const char *name, mode_t mode,
                         const struct dti_output_names *names)
{
    struct dti_output_temp temp = {.folder = folder, .slot = take_slot()};
    struct dti_output_slot *const slot = temp.slot;
    if (!slot)
        return -1;
    for (unsigned i = 0; i < ATTEMPTS; i++) {
        make_name(temp.name, name, i);
        /* Register it before creating it, so that no signal can leave it behind. */
        slot->folder = folder;
        memcpy(slot->name, temp.name, sizeof temp.name);
        slot->is_folder = names != NULL;
        slot->names = names ? *names : (struct dti_output_names){.count = 0};
        atomic_store(&slot->state, SLOT_LIVE);
        const int fd = make(&temp, mode, names != NULL);
        if (fd >= 0 && lock(fd, &temp)) {
            *ret = temp;
            return fd;
        }
        const bool again = fd >= 0 || errno == EEXIST; /* another run's */
        if (fd >= 0)
            (void)close(fd);
        if (fd >= 0 || errno != EEXIST)
            remove_name(&temp, names != NULL);
        atomic_store(&slot->state, SLOT_TAKEN);
        if (!again)
            break;
        errno = EEXIST;
    }
    atomic_store(&slot->state, SLOT_FREE);
    return -1;
}

void dti_output_temp_forget(struct dti_output_temp *temp)
{
    if (temp->slot)
        atomic_store(&temp->slot->state, SLOT_FREE);
    temp->slot = NULL;
    temp->name[0] = '\0';
}

void dti_output_temp_remove(struct dti_output_temp *temp)
{
    remove_name(temp, temp->slot && temp->slot->is_folder);
    dti_output_temp_forget(temp);
}

/* Removes a folder with its files, by paths that no longer exist once it is renamed. Another
 * thread may still be adding files, so retry up to ATTEMPTS times. */
static void remove_folder(const struct dti_output_slot *slot)
{
    char path[2 * NAME_MAX + 2];
    const size_t length = strlen(slot->name);
    memcpy(path, slot->name, length);
    path[length] = '/';
    for (unsigned i = 0; i < ATTEMPTS; i++) {
        for (size_t at = 0; at < slot->names.count; at++) {
            const char *const base = dti_path_base(slot->names.paths[at]);
            const size_t size = strlen(base) + 1;
            if (size <= NAME_MAX + 1) {
                memcpy(path + length + 1, base, size);
                (void)unlinkat(slot->folder, path, 0);
            }
        }
        if (unlinkat(slot->folder, slot->name, AT_REMOVEDIR) == 0 ||
            (errno != ENOTEMPTY && errno != EEXIST))
            return;
    }
}

static const char *_Atomic farewell;

void dti_output_farewell(const char *text)
{
    atomic_store(&farewell, text);
}

/* Signal handler: only async-signal-safe calls. The signal is blocked here and its default
 * action restored (SA_RESETHAND), so the raised signal ends the process as soon as this returns. */
static void remove_and_raise(int number)
{
    for (const struct dti_output_slot *slot = &first_slot; slot; slot = atomic_load(&slot->next)) {
        if (atomic_load(&slot->state) != SLOT_LIVE)
            continue;
        if (slot->is_folder)
            remove_folder(slot);
        else
            (void)unlinkat(slot->folder, slot->name, 0);
    }
    const char *const text = atomic_load(&farewell);
    if (text && write(STDERR_FILENO, text, strlen(text)) < 0) {
        /* ignored: only the screen would differ */
    }
    (void)raise(number);
}

void dti_output_guard_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU};
    struct sigaction guard = {.sa_handler = remove_and_raise};
    guard.sa_flags = (int)SA_RESETHAND;
    sigfillset(&guard.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction old;
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)sigaction(numbers[i], &guard, NULL);
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}
