# SPDX-License-Identifier: MIT
"""The AVX-512 kernels of casts, also with VBMI and BF16."""
import vector_rules as rules
import vectors
from vector_theorems import Case, Row, common_rows, encodings, of_row, packing_theorems, plain, table_rows, twice_theorems

FAMILY = ("the AVX-512 kernels of casts (with VBMI and BF16) as clang compiles them with the flags of their level: every lane of a block "
          "for all inputs, arrays around one and two blocks, streaming stores; fp64 by way of fp32 rounded to odd")
NAME = "vectors_avx512"
SAMPLE = ("dti_fp32_to_bf16_avx512: nearest-even, NaN quiet", "dti_bf16_to_fp32_avx512", "dti_fp32_to_fp16_avx512: nearest-even, NaN quiet",
          "dti_fp32_to_small_avx512: to fp8_e4m3fn, overflow native, NaN quiet", "dti_fp64_to_fp32_odd_avx512")


def rows():
    found = common_rows("avx512")
    for function, bits, target, good in (
            ("dti_fp64_to_fp32_odd", 64, 32, rules.float_to_float("fp64", "fp32", "odd")),
            ("dti_int64_to_fp64_odd", 64, 64, rules.integer_to_float("fp64", True, "odd")),
            ("dti_uint64_to_fp64_odd", 64, 64, rules.integer_to_float("fp64", False, "odd"))):
        found.append(Row(function, "wide_avx512", "avx512", bits, target, 32, plain(good)))
    found.append(Row("dti_int32_to_fp64", "wide_avx512", "avx512", 32, 64, 32, [
        Case("from " + name, lambda f=name: vectors.decoder(f), lambda f=name: rules.integer_to_float("fp64", f == "int32"))
        for name in ("int32", "uint32")]))
    found.append(Row("dti_fp32_to_bf16", "bf16_avx512bf16", "avx512bf16", 32, 16, 64, encodings("fp32", "bf16", ("nearest-even",))))
    return found + table_rows("avx512vbmi", "table_avx512vbmi")


def theorems(sample):
    found = [each for row in rows() for each in of_row(NAME, row)] + twice_theorems(NAME) + packing_theorems(NAME)
    return [each for each in found if each.name in SAMPLE] if sample else found
