# SPDX-License-Identifier: MIT
"""The AVX-512 kernels of casts, also with VBMI and BF16: as family_vectors_avx2.py, and fp64 by way of fp32 rounded to odd."""
import vectors
from seeded import Bug
from vector_shown import encoding
from vector_theorems import Row, common_rows, encodings, of_row, packing_theorems, small_cases, table_rows, twice_theorems

FAMILY = ("The AVX-512 kernels of casts, with VBMI and BF16: every lane of a block, whatever the other lanes hold; other lengths; streaming "
          "stores; fp64 to bf16 and fp16 in two steps is one rounding")
NAME = "vectors_avx512"
SAMPLE = ("dti_fp32_to_bf16_avx512: nearest-even, NaN quiet", "dti_bf16_to_fp32_avx512", "dti_fp32_to_fp16_avx512: nearest-even, NaN quiet",
          "dti_fp32_to_small_avx512: to fp8_e4m3fn, overflow native, NaN quiet", "dti_fp64_to_fp32_odd_avx512")


def rows():
    found = common_rows("avx512")
    found.append(Row("dti_fp32_to_bf16", "bf16_avx512bf16", "avx512bf16", 32, 16, 64, encodings("fp32", "bf16", ("nearest-even",))))
    found.append(Row("dti_fp32_to_small", "small_avx512vbmi", "avx512vbmi", 32, 8, 64, small_cases()))
    return found + table_rows("avx512vbmi", "table_avx512vbmi")


def theorems(sample):
    found = [each for row in rows() for each in of_row(NAME, row)] + twice_theorems(NAME) + packing_theorems(NAME)
    return [each for each in found if each.name in SAMPLE] if sample else found


def odd_and_bf16():
    return [("wide_vector", "avx512", "dti_fp64_to_fp32_odd_avx512", vectors.NO_PARAMETERS, 4),
            ("bf16_avx512", "avx512", "dti_fp32_to_bf16_avx512", vectors.encoder("bf16"), 2)]


SEEDED = (
    Bug("what was cut is forgotten: two roundings", "kernels/x86/cast/wide_vector.c",
        "return _mm256_mask_or_epi32(bits, lost, bits, _mm256_set1_epi32(1));", "(void)lost;\n    return bits;",
        "fp64 by way of fp32 rounded to odd to bf16, nearest-even, NaN quiet", {}, encoding("fp64", "bf16", "nearest-even", odd_and_bf16)),
    Bug("a carry is lost", "kernels/x86/cast/bf16_avx512.c", "_mm512_test_epi32_mask(bits, last), sum,\n", "0, sum,\n",
        "dti_fp32_to_bf16_avx512: nearest-even, NaN quiet", {},
        encoding("fp32", "bf16", "nearest-even", lambda: odd_and_bf16()[1:])),
)
