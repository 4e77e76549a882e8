/* SPDX-License-Identifier: MIT
 *
 * A temporary folder for a test of files. It is the current folder while the test runs. */
#ifndef DTINFO_TESTS_FOLDER_H
#define DTINFO_TESTS_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char folder_path[256];

static inline void folder_enter(void)
{
    const char *const base = getenv("TMPDIR");
    snprintf(folder_path, sizeof folder_path, "%s/dtinfo-unit-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder_path) || chdir(folder_path) != 0) {
        perror(folder_path);
        exit(1);
    }
}

/* Removes the folder (with one level of subfolders) and returns how many names it held, without "."
 * and "..". */
static inline unsigned folder_leave(void)
{
    unsigned count = 0;
    DIR *const dir = opendir(".");
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        if (unlink(entry->d_name) != 0)
            (void)rmdir(entry->d_name);
    }
    if (dir)
        closedir(dir);
    CHECK(chdir("/") == 0 && rmdir(folder_path) == 0);
    return count;
}

static inline void file_make(const char *name, const void *data, size_t size)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

/* Whether the file holds exactly these bytes. */
static inline bool file_is(const char *name, const void *data, size_t size)
{
    unsigned char *const got = malloc(size + 1);
    const int fd = open(name, O_RDONLY);
    size_t length = 0;
    ssize_t part = 0;
    while (got && fd >= 0 && length <= size &&
           (part = read(fd, got + length, size + 1 - length)) > 0)
        length += (size_t)part;
    const bool same = got && fd >= 0 && length == size && memcmp(got, data, size) == 0;
    if (fd >= 0)
        close(fd);
    free(got);
    return same;
}

#endif
