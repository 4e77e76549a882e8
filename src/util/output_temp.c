/* SPDX-License-Identifier: MIT
 *
 * Temporary files, and the list of them that the signal handler works through. */
#define _GNU_SOURCE /* getrandom() */
#include "util/output_temp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/random.h>
#endif

#include "dtinfo/output.h"
#include "util/descriptor.h"

enum {
    SLOTS = 512, /* files at a time that a signal removes; further ones would stay */
    ATTEMPTS = 100,
    RANDOM_LETTERS = 6,
};

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_LIVE };

/* name and folder are written before state becomes SLOT_LIVE, and not while it is. */
static struct {
    atomic_int state;
    int folder;
    char name[NAME_MAX + 1];
} slots[SLOTS];

static _Atomic(const char *) new_folder;

static const char infix[] = ".dtinfo-";

/* Unpredictable where the system can help, and at least different otherwise. */
static uint64_t random_number(unsigned attempt)
{
    uint64_t number;
#ifdef __linux__
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) == (ssize_t)sizeof number)
        return number;
#endif
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    number = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec + attempt;
    number = (number ^ ((uint64_t)getpid() << 32)) * UINT64_C(0x9E3779B97F4A7C15);
    return number ^ (number >> 29);
}

static void make_name(char ret[NAME_MAX + 1], const char *name, unsigned attempt)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const size_t room = NAME_MAX - 1 - (sizeof infix - 1) - RANDOM_LETTERS;
    size_t length = strlen(name);
    if (length > room) {
        length = room;
        while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80)
            length--; /* not inside a UTF-8 sequence */
    }
    char *to = ret;
    *to++ = '.';
    memcpy(to, name, length);
    to += length;
    memcpy(to, infix, sizeof infix - 1);
    to += sizeof infix - 1;
    uint64_t number = random_number(attempt);
    for (int i = 0; i < RANDOM_LETTERS; i++) {
        *to++ = letters[number % (sizeof letters - 1)];
        number /= sizeof letters - 1;
    }
    *to = '\0';
}

static size_t take_slot(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        int expected = SLOT_FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_TAKEN))
            return i;
    }
    return SLOTS;
}

int dti_output_temp_make(struct dti_output_temp *ret, int folder, const char *name, mode_t mode)
{
    struct dti_output_temp temp = {.folder = folder, .slot = take_slot()};
    int fd = -1;
    errno = EEXIST;
    for (unsigned i = 0; i < ATTEMPTS && fd < 0 && (errno == EEXIST || errno == EINTR); i++) {
        make_name(temp.name, name, i);
        /* Listed before it exists: there is no moment at which a signal could leave it. */
        if (temp.slot < SLOTS) {
            atomic_store(&slots[temp.slot].state, SLOT_TAKEN);
            slots[temp.slot].folder = folder;
            memcpy(slots[temp.slot].name, temp.name, sizeof temp.name);
            atomic_store(&slots[temp.slot].state, SLOT_LIVE);
        }
        fd = openat(folder, temp.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno == EEXIST && temp.slot < SLOTS)
            atomic_store(&slots[temp.slot].state, SLOT_TAKEN); /* somebody else's */
    }
    if (fd >= 0) {
        fd = dti_descriptor_above_standard(fd);
        if (fd < 0) {
            const int error = errno;
            dti_output_temp_remove(&temp);
            errno = error;
            return -1;
        }
    }
    if (fd < 0) {
        const int error = errno;
        dti_output_temp_forget(&temp);
        errno = error;
        return -1;
    }
    *ret = temp;
    return fd;
}

void dti_output_temp_forget(struct dti_output_temp *temp)
{
    if (temp->slot < SLOTS)
        atomic_store(&slots[temp->slot].state, SLOT_FREE);
    temp->slot = SLOTS;
}

void dti_output_temp_remove(struct dti_output_temp *temp)
{
    (void)unlinkat(temp->folder, temp->name, 0);
    dti_output_temp_forget(temp);
}

void dti_output_temp_folder(const char *path)
{
    atomic_store(&new_folder, path);
}

/* Only what may be called in a handler. The signal is blocked here and its default action restored
 * (SA_RESETHAND), so the one raised again ends the process as soon as this returns. */
static void remove_and_raise(int number)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (atomic_load(&slots[i].state) == SLOT_LIVE)
            (void)unlinkat(slots[i].folder, slots[i].name, 0);
    }
    const char *const folder = atomic_load(&new_folder);
    if (folder)
        (void)rmdir(folder);
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
