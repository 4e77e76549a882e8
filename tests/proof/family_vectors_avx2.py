# SPDX-License-Identifier: MIT
"""The AVX2 kernels of casts.

For SOUNDNESS: a theorem is about a whole function of src/kernels/x86/cast, with the parameters that params.c makes, as clang compiles
the file with the flags of its level. It is run for one block with every element unknown: each lane's result must be right for
all inputs of that lane, whatever the other lanes hold, and no byte outside of the arrays may be read or written. For one set of
parameters of each kernel the same is proved for arrays of one element, around one and around two blocks, and with streaming stores,
whose addresses must be aligned. The loop over blocks, which all of them include, is proved apart for every length to three blocks.
Right is SMT-LIB's conversion, or thresholds and lists from the values in tests/oracle/formats.py. What an instruction does is
assumed from Intel's manual (x86.py); test_x86.py runs each of them on the processor beside its model. The mode of rounding and
flushing (MXCSR) is assumed to be the default. Not covered: the loops of the loss report in the same files, and copies; saturation to fp16
and bf16, small floats in other modes than to nearest even, and in AVX2 64-bit integers to fp64, all of which tests/kernels judges."""
import vectors
from seeded import Bug
from vector_shown import by_table, encoding
from vector_theorems import common_rows, loop_theorems, of_row, packing4_theorems, table_rows

FAMILY = "The AVX2 kernels of casts: every lane of a block, whatever the other lanes hold; other lengths; streaming stores; the loop over blocks"
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
