# SPDX-License-Identifier: MIT
"""The random bits of stochastic rounding, implemented from the paper: Philox4x32-10 of Salmon, Moraes, Dror, Shaw,
"Parallel random numbers: as easy as 1, 2, 3", SC11."""


def philox4x32(counter, key):
    """Philox4x32-10 of Salmon, Moraes, Dror, Shaw, SC11, figure 2: four words from four and two."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c0, 1 << 32)
        high1, low1 = divmod(0xCD9E8D57 * c2, 1 << 32)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) % (1 << 32), (k1 + 0xBB67AE85) % (1 << 32)
    return c0, c1, c2, c3


def random_bits(seed, index):
    block = index // 4
    words = philox4x32((block % (1 << 32), block >> 32, 0, 0), (seed % (1 << 32), seed >> 32))
    return words[index % 4]


def check_philox():
    """The published known-answer vectors (Random123, kat_vectors: philox4x32 10)."""
    ones = 0xffffffff
    answers = [
        ((0, 0, 0, 0), (0, 0), (0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8)),
        ((ones,) * 4, (ones,) * 2, (0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd)),
        ((0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344), (0xa4093822, 0x299f31d0),
         (0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1)),
    ]
    for counter, key, want in answers:
        assert philox4x32(counter, key) == want, (counter, key)
