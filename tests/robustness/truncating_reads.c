/* SPDX-License-Identifier: MIT
 *
 * Preloaded: truncates the file named by DTI_TEST_TRUNCATE to DTI_TEST_TRUNCATE_TO bytes at the
 * DTI_TEST_TRUNCATE_AT-th mapping of a file window or read at an offset beyond the header,
 * before the program sees the bytes. DTI_TEST_CHANGE selects another change: append, write (the
 * byte at DTI_TEST_TRUNCATE_TO), set-back (the same, with the times restored), touch, chmod,
 * link, rename, replace (by the file NAME.new), unlink. */
#undef _FORTIFY_SOURCE /* it defines inline functions with these names */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 4096 };

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset);
ssize_t pread64(int fd, void *buffer, size_t size, off_t offset);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long calls;

/* ISO C has no conversion between object and function pointers; POSIX guarantees the same
 * representation. */
#define FIND(pointer, name) (*(void **)(&(pointer)) = dlsym(RTLD_NEXT, name))

static unsigned long number(const char *variable)
{
    const char *const text = getenv(variable);
    return text ? strtoul(text, NULL, 10) : 0;
}

/* Uses its own descriptors. False: it failed. */
static int put(const char *name, off_t at, int set_back)
{
    struct stat st = {0};
    char byte = 0;
    const int fd = open(name, O_RDWR);
    int good = fd >= 0 && fstat(fd, &st) == 0;
    if (at < 0)
        at = st.st_size;
    else
        good = good && lseek(fd, at, SEEK_SET) == at &&
               read(fd, &byte, 1) == 1; /* pread() is interposed below */
    byte ^= 1;
    good = good && pwrite(fd, &byte, 1, at) == 1;
    const struct timespec times[] = {st.st_atim, st.st_mtim};
    good = good && (!set_back || futimens(fd, times) == 0);
    return fd >= 0 && close(fd) == 0 && good;
}

static int change(const char *name, const char *how, off_t at)
{
    char other[4096];
    const int is = snprintf(other, sizeof other, "%s.new", name);
    if (!how)
        return truncate(name, at) == 0;
    if (is <= 0 || (size_t)is >= sizeof other)
        return 0;
    return strcmp(how, "append") == 0     ? put(name, -1, 0)
           : strcmp(how, "write") == 0    ? put(name, at, 0)
           : strcmp(how, "set-back") == 0 ? put(name, at, 1)
           : strcmp(how, "touch") == 0    ? utimensat(AT_FDCWD, name, NULL, 0) == 0
           : strcmp(how, "chmod") == 0    ? chmod(name, 0640) == 0
           : strcmp(how, "link") == 0     ? link(name, other) == 0
           : strcmp(how, "rename") == 0   ? rename(name, other) == 0
           : strcmp(how, "replace") == 0  ? rename(other, name) == 0
           : strcmp(how, "unlink") == 0   ? unlink(name) == 0
                                          : 0;
}

static void count(void)
{
    const char *const name = getenv("DTI_TEST_TRUNCATE");
    pthread_mutex_lock(&lock);
    if (name && ++calls == number("DTI_TEST_TRUNCATE_AT") &&
        !change(name, getenv("DTI_TEST_CHANGE"), (off_t)number("DTI_TEST_TRUNCATE_TO")))
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
