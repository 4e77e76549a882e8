/* SPDX-License-Identifier: MIT
 *
 * Preloaded: simulates an unreadable disk. At the DTI_TEST_EIO_AT-th mapping of a file window,
 * or read at an offset beyond the header, an access to that window raises SIGBUS and the read
 * fails with EIO. With DTI_TEST_EIO_STAYS all later reads fail too; otherwise the next one
 * works. */
#undef _FORTIFY_SOURCE /* it defines inline functions with these names */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT, memfd_create() */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST = 4096 };

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset);
ssize_t pread64(int fd, void *buffer, size_t size, off_t offset);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long calls;

/* ISO C has no conversion between object and function pointers; POSIX guarantees the same
 * representation. */
#define FIND(pointer, name) (*(void **)(&(pointer)) = dlsym(RTLD_NEXT, name))

static bool fails(void)
{
    const char *const text = getenv("DTI_TEST_EIO_AT");
    const unsigned long at = text ? strtoul(text, NULL, 10) : 0;
    pthread_mutex_lock(&lock);
    calls++;
    const bool now = at > 0 && (calls == at || (calls > at && getenv("DTI_TEST_EIO_STAYS")));
    pthread_mutex_unlock(&lock);
    return now;
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t);
    FIND(real, "mmap64");
    void *const memory = real(address, size, protection, flags, fd, offset);
    if (memory == MAP_FAILED || fd < 0 || protection != PROT_READ || flags != MAP_SHARED ||
        !fails())
        return memory;
    const int empty = memfd_create("empty", 0);
    if (empty < 0 || real(memory, size, PROT_READ, MAP_SHARED | MAP_FIXED, empty, 0) == MAP_FAILED)
        abort();
    (void)close(empty);
    return memory;
}

ssize_t pread64(int fd, void *buffer, size_t size, off_t offset)
{
    ssize_t (*real)(int, void *, size_t, off_t);
    FIND(real, "pread64");
    if (offset >= FIRST && fails()) {
        errno = EIO;
        return -1;
    }
    return real(fd, buffer, size, offset);
}
