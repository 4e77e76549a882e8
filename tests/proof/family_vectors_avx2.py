# SPDX-License-Identifier: MIT
"""The AVX2 kernels of casts."""
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
