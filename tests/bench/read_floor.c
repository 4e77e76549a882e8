/* SPDX-License-Identifier: MIT
 *
 * Reads files from beginning to end with several threads: a lower bound on the time of any program
 * that reads them. Each thread takes the next block of the next file. `copy` calls pread() and
 * ignores the bytes; `sum` also sums their 64-bit words; `map` maps the block and sums its words,
 * so that every page is touched.
 *
 *     read_floor copy|sum|map THREADS BLOCK_BYTES FILE... */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS_MAX = 256, FILES_MAX = 8 };

static bool maps, sums;
static size_t block; /* bytes; with `map`, whole pages */
static atomic_uint_fast64_t total;
static int files[FILES_MAX], file_count;
static uint64_t sizes[FILES_MAX], blocks;
static atomic_uint_fast64_t next_block;

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void sum_words(const void *from, size_t size)
{
    const uint64_t *const words = from;
    uint64_t sum = 0;
    for (size_t i = 0; i < size / sizeof *words; i++)
        sum += words[i];
    (void)atomic_fetch_add(&total, sum);
}

static void map_block(int file, size_t size, uint64_t offset)
{
    void *const mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, files[file], (off_t)offset);
    if (mapped == MAP_FAILED)
        die("mmap");
    sum_words(mapped, size);
    (void)munmap(mapped, size);
}

static void read_block(uint64_t at, char *buffer)
{
    /* alternates between the files, as a program that compares them does */
    const int file = (int)(at % (uint64_t)file_count);
    const uint64_t offset = at / (uint64_t)file_count * block;
    if (offset >= sizes[file])
        return;
    const size_t size = sizes[file] - offset < block ? (size_t)(sizes[file] - offset) : block;
    if (maps) {
        map_block(file, size, offset);
        return;
    }
    for (size_t done = 0; done < size;) {
        const ssize_t got = pread(files[file], buffer + done, size - done, (off_t)(offset + done));
        if (got <= 0)
            die("pread");
        done += (size_t)got;
    }
    if (sums)
        sum_words(buffer, size);
}

static void *work(void *unused)
{
    char *const buffer = malloc(block);
    if (!buffer)
        die("malloc");
    for (;;) {
        const uint64_t at = atomic_fetch_add(&next_block, 1);
        if (at >= blocks)
            break;
        read_block(at, buffer);
    }
    free(buffer);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    struct stat info;
    uint64_t longest = 0;
    if (argc < 5 || argc - 4 > FILES_MAX) {
        fprintf(stderr, "usage: %s copy|sum|map THREADS BLOCK_BYTES FILE...\n", argv[0]);
        return 2;
    }
    maps = strcmp(argv[1], "map") == 0;
    sums = strcmp(argv[1], "sum") == 0;
    const long count = strtol(argv[2], NULL, 10);
    block = (size_t)strtoul(argv[3], NULL, 10);
    if (count < 1 || count > THREADS_MAX || block == 0)
        return 2;
    for (int i = 4; i < argc; i++) {
        files[file_count] = open(argv[i], O_RDONLY);
        if (files[file_count] < 0 || fstat(files[file_count], &info) != 0)
            die(argv[i]);
        sizes[file_count] = (uint64_t)info.st_size;
        longest = sizes[file_count] > longest ? sizes[file_count] : longest;
        file_count++;
    }
    blocks = (longest + block - 1) / block * (uint64_t)file_count;
    for (long i = 1; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            die("pthread_create");
    }
    (void)work(NULL);
    for (long i = 1; i < count; i++)
        (void)pthread_join(threads[i], NULL);
    return 0;
}
