/* SPDX-License-Identifier: MIT
 *
 * An in-memory folder for the files of one input, used by targets that run whole commands. */
#ifndef DTINFO_FUZZ_FOLDER_H
#define DTINFO_FUZZ_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

enum { FUZZ_PATH = 512 };

static char fuzz_root[FUZZ_PATH / 2];

/* Empties a folder without removing it. Returns the number of entries it had. Closes fd. */
static inline size_t fuzz_empty_at(int fd)
{
    size_t count = 0;
    DIR *const listing = fdopendir(fd);
    REQUIRE(listing);
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        const char *const name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        count++;
        if (unlinkat(fd, name, 0) == 0)
            continue;
        (void)fuzz_empty_at(openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        REQUIRE(unlinkat(fd, name, AT_REMOVEDIR) == 0);
    }
    (void)closedir(listing);
    return count;
}

static inline size_t fuzz_empty(const char *path)
{
    return fuzz_empty_at(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
}

static inline void fuzz_remove_root(void)
{
    (void)fuzz_empty(fuzz_root);
    (void)rmdir(fuzz_root);
}

/* The path of the folder. The first call creates it; it is removed at exit. */
static inline const char *fuzz_folder(void)
{
    static const char *const parents[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < 2 && fuzz_root[0] == '\0'; i++) {
        (void)snprintf(fuzz_root, sizeof fuzz_root, "%s/dtinfo-fuzz-XXXXXX", parents[i]);
        if (!mkdtemp(fuzz_root))
            fuzz_root[0] = '\0';
        else
            REQUIRE(atexit(fuzz_remove_root) == 0);
    }
    REQUIRE(fuzz_root[0] != '\0');
    return fuzz_root;
}

/* The path of a name in the folder. A later call may overwrite it: four paths are kept. */
static inline const char *fuzz_path(const char *name)
{
    static char paths[4][FUZZ_PATH];
    static unsigned next;
    char *const path = paths[next++ % 4];
    (void)snprintf(path, FUZZ_PATH, "%s/%s", fuzz_folder(), name);
    return path;
}

static inline void fuzz_write(const char *name, const void *data, size_t size)
{
    const int fd = open(fuzz_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(fd >= 0);
    REQUIRE(write(fd, data, size) == (ssize_t)size);
    REQUIRE(close(fd) == 0);
}

#endif
