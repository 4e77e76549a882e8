/* SPDX-License-Identifier: MIT
 *
 * The highest codes of a tile, as signed and as unsigned integers, compiled once per level: two
 * operations a vector, so that it is read as fast as memory delivers it. */
#include "kernels/lanes_piece.h"
#include "kernels/scan/stats_kernels.h"

/* width: of a code. */
#define PEAKS_OF(width)                                                              \
    static struct dti_code_peaks peaks_of_##width(const unsigned char *at, size_t n) \
    {                                                                                \
        int##width##_t highest = INT##width##_MIN;                                   \
        uint##width##_t highest_word = 0;                                            \
        for (size_t i = 0; i < n; i++) {                                             \
            int##width##_t number;                                                   \
            uint##width##_t word;                                                    \
            memcpy(&number, at + i * sizeof number, sizeof number);                  \
            memcpy(&word, at + i * sizeof word, sizeof word);                        \
            highest = number > highest ? number : highest;                           \
            highest_word = word > highest_word ? word : highest_word;                \
        }                                                                            \
        return (struct dti_code_peaks){n > 0 ? highest : INT64_MIN, highest_word};   \
    }
PEAKS_OF(8)
PEAKS_OF(16)
PEAKS_OF(32)
PEAKS_OF(64)

struct dti_code_peaks DTI_LANES_NAME(dti_code_peaks)(const void *codes, size_t n, unsigned bits)
{
    return bits == 8    ? peaks_of_8(codes, n)
           : bits == 16 ? peaks_of_16(codes, n)
           : bits == 32 ? peaks_of_32(codes, n)
                        : peaks_of_64(codes, n);
}
