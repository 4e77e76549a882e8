/* SPDX-License-Identifier: MIT
 *
 * Encoder probe for GGUF blocks, for the oracle tests: encode_probe TYPE LEVEL reads fp32 from
 * standard input and writes blocks; TYPE as in "q4_k". The input is deliberately unaligned. Exit
 * 77: this machine lacks the level. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gguf/gguf_kernel.h"

enum { BATCH = 997, SKEW = 1 }; /* blocks; not a multiple of any lane count */

static unsigned char numbers[SKEW + BATCH * DTI_GGUF_BLOCK_MAX * sizeof(float)];
static unsigned char blocks[BATCH * DTI_GGUF_BLOCK_MAX];

int main(int count, char **words)
{
    struct dti_error error;
    enum dti_level level;
    if (count != 3 || dti_level_lookup(words[2], &level, &error) != DTI_OK)
        return 2;
    const struct dti_gguf_type *const type = dti_gguf_type_named(words[1]);
    if (!type)
        return 2;
    if (!dti_level_present(level))
        return 77;
    dti_gguf_encode_fn *const encode = dti_gguf_find_encoder(type->blocks, level);
    if (!encode)
        return 3;
    const size_t bytes = type->elements * sizeof(float);
    for (;;) {
        const size_t n = fread(numbers + SKEW, bytes, BATCH, stdin);
        if (n == 0)
            return ferror(stdout) || fflush(stdout) ? 1 : 0;
        encode(blocks, (const float *)(const void *)(numbers + SKEW), n);
        (void)fwrite(blocks, type->bytes, n, stdout);
    }
}
