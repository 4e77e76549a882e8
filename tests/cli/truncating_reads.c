/* SPDX-License-Identifier: MIT
 *
 * Preloaded: the file that DTI_TEST_TRUNCATE names is cut to DTI_TEST_TRUNCATE_TO bytes when the
 * program has mapped a window of a file, or is about to read at an offset beyond the header,
 * for the DTI_TEST_TRUNCATE_AT-th time: before it sees the bytes. */
#undef _FORTIFY_SOURCE /* it has inline functions of these names */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST = 4096 };

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset);
ssize_t pread64(int fd, void *buffer, size_t size, off_t offset);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long calls;

/* ISO C has no conversion between object and function pointers; POSIX has the representation. */
#define FIND(pointer, name) (*(void **)(&(pointer)) = dlsym(RTLD_NEXT, name))

static unsigned long number(const char *variable)
{
    const char *const text = getenv(variable);
    return text ? strtoul(text, NULL, 10) : 0;
}

static void count(void)
{
    const char *const name = getenv("DTI_TEST_TRUNCATE");
    pthread_mutex_lock(&lock);
    if (name && ++calls == number("DTI_TEST_TRUNCATE_AT") &&
        truncate(name, (off_t)number("DTI_TEST_TRUNCATE_TO")) != 0)
        abort();
    pthread_mutex_unlock(&lock);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t);
    FIND(real, "mmap64");
    void *const memory = real(address, size, protection, flags, fd, offset);
    if (memory != MAP_FAILED && fd >= 0 && protection == PROT_READ && flags == MAP_SHARED)
        count();
    return memory;
}

ssize_t pread64(int fd, void *buffer, size_t size, off_t offset)
{
    ssize_t (*real)(int, void *, size_t, off_t);
    FIND(real, "pread64");
    if (offset >= FIRST)
        count();
    return real(fd, buffer, size, offset);
}
