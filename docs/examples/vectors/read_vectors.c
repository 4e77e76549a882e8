/* SPDX-License-Identifier: MIT
 *
 * Runs a cast against a file of test vectors and prints the mismatches.
 *
 *     cc read_vectors.c -o read_vectors            the cast below
 *     cc read_vectors.c mine.c -DCAST=mine -o ...  yours: from the input's code to the output's
 *     ./read_vectors cast/fp32-bf16.tsv            to nearest even
 *     ./read_vectors cast/fp32-bf16.tsv zero       another rounding mode */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CAST
#define CAST bf16_of_fp32
#endif
uint64_t CAST(uint64_t code);

/* To nearest even; a NaN keeps its sign and what fits of its payload. */
uint64_t bf16_of_fp32(uint64_t x)
{
    return (x & 0x7fffffff) > 0x7f800000 ? x >> 16 | 0x40 : (x + 0x7fff + (x >> 16 & 1)) >> 16;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[2] : "nearest-even";
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    char line[4096], *cells[16];
    int column = 0, lines = 0, wrong = 0;
    while (file && fgets(line, sizeof line, file)) {
        int count = 0;
        for (char *cell = strtok(line, "\t\n"); cell && count < 16; cell = strtok(NULL, "\t\n"))
            cells[count++] = cell;
        /* A comment, or no result. */
        if (count <= column || *cells[0] == '#' || *cells[column] == '-')
            continue;
        if (!column) { /* the names of the columns: input, policy and the modes */
            while (column < count && strcmp(cells[column], mode) != 0)
                column++;
        } else if (strstr("any native quiet", cells[1])) {
            const uint64_t got = CAST(strtoull(cells[0], NULL, 16));
            if (got != strtoull(cells[column], NULL, 16) && ++wrong)
                printf("%s becomes 0x%" PRIx64 ", not %s\n", cells[0], got, cells[column]);
            lines++;
        }
    }
    printf("%d of %d are wrong\n", wrong, lines);
    return lines == 0 ? 2 : wrong > 0;
}
