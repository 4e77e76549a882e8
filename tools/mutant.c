/* SPDX-License-Identifier: MIT
 * What tools/mutate.py links into the copy that it plants faults in: which fault is chosen, and a
 * map of those reached, shared through a file so that it outlives a killed program. Tests often
 * start programs with a bare environment: then the nearest ancestor that has the variables counts.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mutant.h"

static unsigned char unseen[DTI_MUTANTS];
int dti_mutant_chosen = -1;
unsigned char *dti_mutant_reached = unseen;
static char kept[1 << 17];

static size_t load(const char *name, int pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    ssize_t got = 1;
    while (fd >= 0 && got > 0 && size < sizeof kept - 1) {
        got = read(fd, kept + size, sizeof kept - 1 - size);
        size += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    kept[size] = 0;
    return size;
}

static const char *ancestral(const char *name)
{
    size_t length = strlen(name);
    int pid = getppid();
    for (int depth = 0; pid > 1 && depth < 30; depth++) {
        size_t size = load("environ", pid);
        for (size_t at = 0; at < size; at += strlen(kept + at) + 1) {
            const char *entry = kept + at;
            if (strncmp(entry, name, length) == 0 && entry[length] == '=')
                return entry + length + 1;
        }
        const char *end = load("stat", pid) ? strrchr(kept, ')') : NULL;
        if (!end || sscanf(end + 1, " %*c %d", &pid) != 1)
            break;
    }
    return NULL;
}

__attribute__((constructor)) static void choose(void)
{
    const char *id = getenv("DTI_MUTANT");
    if (!id)
        id = ancestral("DTI_MUTANT");
    if (id)
        dti_mutant_chosen = atoi(id);
    const char *map = getenv("DTI_MUTANT_MAP");
    if (!map)
        map = ancestral("DTI_MUTANT_MAP");
    int fd = map && *map ? open(map, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *at = mmap(NULL, sizeof unseen, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED)
        dti_mutant_reached = at;
    close(fd);
}
