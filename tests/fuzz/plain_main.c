/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzz target without an engine: on the files of a corpus, on cuts of each of them, and on
 * inputs generated from the target's dictionary by a deterministic generator.
 *
 *     fuzz_parse 20000 tests/fuzz/seeds/parse
 *
 * runs 20000 generated inputs, then every file of the folder, each with 200 cuts and changes.
 *
 * DTI_TEST_QUICK in the environment reduces the generated inputs to a fifth, unless the first
 * argument is --long. */
#include <dirent.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

enum { INPUT_MAX = 1 << 16, WORDS_MAX = 24, PLACES_MAX = 256 };

static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

/* SplitMix64 */
static uint64_t random_u64(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t make_input(uint8_t *data, size_t word_count)
{
    size_t size = 0;
    const size_t longest = random_u64() % 4 == 0 ? WORDS_MAX : WORDS_MAX / 4;
    const size_t words = random_u64() % longest;
    for (size_t i = 0; i < words; i++) {
        if (random_u64() % 32 == 0) {
            data[size++] = (uint8_t)random_u64();
            continue;
        }
        const char *const word = dti_fuzz_words[random_u64() % word_count];
        memcpy(data + size, word, strlen(word));
        size += strlen(word);
    }
    return size;
}

static size_t run_made(size_t count)
{
    static uint8_t data[INPUT_MAX];
    size_t word_count = 0;
    while (dti_fuzz_words[word_count])
        word_count++;
    for (size_t i = 0; i < count; i++) {
        const size_t size = make_input(data, word_count);
        (void)LLVMFuzzerTestOneInput(data, size);
    }
    return count;
}

/* Runs the whole file and, at several places, its prefix, its suffix and the file with one byte
 * changed. */
static size_t run_file(const char *path, size_t places)
{
    static uint8_t data[INPUT_MAX];
    FILE *const file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    const size_t size = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(data, size);
    size_t runs = 1;
    const size_t step = size > places ? size / places : 1;
    for (size_t i = 0; i < size; i += step) {
        const uint8_t kept = data[i];
        (void)LLVMFuzzerTestOneInput(data, i);
        (void)LLVMFuzzerTestOneInput(data + i, size - i);
        data[i] = (uint8_t)random_u64();
        (void)LLVMFuzzerTestOneInput(data, size);
        data[i] = kept;
        runs += 3;
    }
    return runs;
}

static size_t run_folder(const char *folder, size_t places)
{
    size_t runs = 0;
    DIR *const listing = opendir(folder);
    if (!listing) {
        perror(folder);
        exit(EXIT_FAILURE);
    }
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        runs += run_file(path, places);
    }
    (void)closedir(listing);
    if (runs == 0) {
        (void)fprintf(stderr, "%s: there are no seeds\n", folder);
        exit(EXIT_FAILURE);
    }
    return runs;
}

int main(int argc, char **argv)
{
    const bool whole = argc > 1 && strcmp(argv[1], "--long") == 0;
    argc -= whole;
    argv += whole;
    if (argc < 2) {
        (void)fprintf(stderr, "usage: fuzz_x [--long] COUNT [FOLDER...]\n");
        return 2;
    }
    const size_t count = (size_t)strtoul(argv[1], NULL, 10);
    const size_t places = count / 100 < 1 ? 1 : count / 100 < PLACES_MAX ? count / 100 : PLACES_MAX;
    size_t runs = run_made(getenv("DTI_TEST_QUICK") && !whole ? count / 5 : count);
    for (int i = 2; i < argc; i++)
        runs += run_folder(argv[i], places);
    (void)fprintf(stderr, "%zu inputs, nothing broken\n", runs);
    return 0;
}
