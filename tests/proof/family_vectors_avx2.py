# SPDX-License-Identifier: MIT
"""The AVX2 kernels of casts."""
import vectors
from seeded import Bug
from vector_shown import by_table, encoding
from vector_theorems import common_rows, loop_theorems, of_row, packing4_theorems, table_rows

FAMILY = ("the AVX2 kernels of casts as clang compiles them with the flags of their level: every lane of a block for all inputs, "
          "arrays around one and two blocks, streaming stores")
NAME = "vectors_avx2"
SAMPLE = ("dti_fp32_to_bf16_avx2: nearest-even, NaN quiet", "dti_fp32_to_bf16_avx2: odd, NaN canonical", "dti_bf16_to_fp32_avx2",
          "dti_fp32_to_fp16_avx2: nearest-even, NaN quiet", "dti_fp64_to_fp32_avx2: nearest-even, NaN quiet",
          "dti_fp32_to_small_avx2: to fp8_e4m3fn, overflow native, NaN quiet")


def theorems(sample):
    found = [each for row in common_rows("avx2") + table_rows("avx2", "table_avx2") for each in of_row(NAME, row)]
    found += packing4_theorems(NAME, "avx2") + loop_theorems(NAME)
    return [each for each in found if each.name in SAMPLE] if sample else found


def kernel(file, function, parameters, size):
    return lambda: [(file, "avx2", function, parameters(), size)]


SEEDED = (
    Bug("ties go up", "kernels/x86/cast/bf16_avx2.c", "_mm256_set1_epi32(0x7fff)), odd)", "_mm256_set1_epi32(0x8000)), odd)",
        "dti_fp32_to_bf16_avx2: nearest-even, NaN quiet", {},
        encoding("fp32", "bf16", "nearest-even", kernel("bf16_avx2", "dti_fp32_to_bf16_avx2", lambda: vectors.encoder("bf16"), 2))),
    Bug("up means down", "kernels/x86/modes.h", "CONVERT(x, _MM_FROUND_TO_POS_INF", "CONVERT(x, _MM_FROUND_TO_NEG_INF",
        "dti_fp32_to_fp16_avx2: up, NaN quiet", {},
        encoding("fp32", "fp16", "up", kernel("hardware_vector", "dti_fp32_to_fp16_avx2", lambda: vectors.encoder("fp16", "up"), 2))),
    Bug("subnormal results have too many bits", "kernels/x86/cast/small_vector.c",
        "_mm256_max_epu32(_mm256_and_si256(x, exponent_field), c->least)", "_mm256_and_si256(x, exponent_field)",
        "dti_fp32_to_small_avx2: to fp8_e4m3fn, overflow native, NaN quiet", {},
        encoding("fp32", "fp8_e4m3fn", "nearest-even",
                 kernel("small_vector", "dti_fp32_to_small_avx2", lambda: vectors.encoder("fp8_e4m3fn"), 1))),
    Bug("the negative NaN is a number", "kernels/x86/cast/table_avx2.c", "        ignored = 0x8000;\n        nan = 0x8000 |", "        nan =",
        "dti_table_avx2: fp8_e4m3fn to fp32", {},
        by_table("fp8_e4m3fn", "fp32", kernel("table_avx2", "dti_table_avx2", lambda: vectors.table("fp8_e4m3fn", "fp32"), 4))),
)
