/* SPDX-License-Identifier: MIT
 *
 * Encoder probe for GGUF blocks, for the oracle tests: encode_probe TYPE LEVEL [ROW] reads fp32
 * from standard input and writes blocks; TYPE as in "q4_k". With ROW, a number of elements, the
 * first ROW numbers are weights, and rows follow. The input is deliberately unaligned. Exit 77:
 * this machine lacks the level. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gguf/gguf_kernel.h"

enum { BATCH = 997, SKEW = 1 }; /* blocks; not a multiple of any lane count */
enum { MOST = BATCH * DTI_GGUF_BLOCK_MAX };

static unsigned char numbers[SKEW + MOST * sizeof(float)], weights[SKEW + MOST * sizeof(float)];
static unsigned char blocks[MOST];

static const float *floats(const unsigned char *bytes)
{
    return (const float *)(const void *)(bytes + SKEW);
}

/* In two parts, of which the first is short. */
static void encode_row(const struct dti_gguf_type *type, const struct dti_gguf_weigher *weigher,
                       size_t row)
{
    const size_t count = row / type->elements, first = count / 3, done = first * type->elements;
    float sum = 0;
    for (size_t i = 0; i < row; i++) {
        float number;
        memcpy(&number, numbers + SKEW + sizeof number * i, sizeof number);
        const float square = number * number;
        sum += square;
    }
    const float mean = weigher->of_row ? sum / (float)row : -1;
    weigher->run(blocks, floats(numbers), first, floats(weights), mean);
    weigher->run(blocks + first * type->bytes, floats(numbers + done * sizeof(float)),
                 count - first, floats(weights + done * sizeof(float)), mean);
    (void)fwrite(blocks, type->bytes, count, stdout);
}

static int weigh(const struct dti_gguf_type *type, enum dti_level level, size_t row)
{
    const struct dti_gguf_weigher *const weigher = dti_gguf_find_weigher(type->blocks, level);
    if (!weigher)
        return 3;
    if (row == 0 || row > MOST || row % type->elements != 0 ||
        fread(weights + SKEW, sizeof(float), row, stdin) != row)
        return 2;
    while (fread(numbers + SKEW, sizeof(float), row, stdin) == row)
        encode_row(type, weigher, row);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}

static int encode(const struct dti_gguf_type *type, enum dti_level level)
{
    const size_t bytes = type->elements * sizeof(float);
    dti_gguf_encode_fn *const encoder = dti_gguf_find_encoder(type->blocks, level);
    if (!encoder)
        return 3;
    for (;;) {
        const size_t n = fread(numbers + SKEW, bytes, BATCH, stdin);
        if (n == 0)
            return ferror(stdout) || fflush(stdout) ? 1 : 0;
        encoder(blocks, floats(numbers), n);
        (void)fwrite(blocks, type->bytes, n, stdout);
    }
}

int main(int count, char **words)
{
    struct dti_error error;
    enum dti_level level;
    if (count < 3 || count > 4 || dti_level_lookup(words[2], &level, &error) != DTI_OK)
        return 2;
    const struct dti_gguf_type *const type = dti_gguf_type_named(words[1]);
    if (!type)
        return 2;
    if (!dti_level_present(level))
        return 77;
    return count == 4 ? weigh(type, level, (size_t)strtoull(words[3], NULL, 10))
                      : encode(type, level);
}
