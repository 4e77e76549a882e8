# SPDX-License-Identifier: MIT
"""Encoding to floats: each source, each format of the table that its lane takes, six rounding modes; all numbers and all policies
for overflow and NaN in one theorem."""
from lanes import POLICIES, ROUNDS, SOURCES, encoding_claim, formats, right, takes
from lanes_shown import encoding
from seeded import Bug
from theorem import Theorem

FAMILY = "One number to any float format, rounded once: `lanes_encode.c`, for all numbers and all policies of overflow and NaN"


def theorems(sample):
    assert len(POLICIES) == 8  # 3 bits
    for count, (source, fmt) in enumerate((source, fmt) for source in SOURCES.values() for fmt in formats(("float", "ufloat"))
                                          if takes(fmt, source.hub)):
        for at, mode in enumerate(ROUNDS):
            if not sample or (count % 7 == 0 and at == count // 7 % len(ROUNDS)):
                yield Theorem("encode", "%s to %s, %s" % (source.name, fmt.name, mode),
                              lambda source=source, fmt=fmt, mode=mode: encoding_claim(source, fmt, mode, right))


SEEDED = (
    Bug("fp64 rounds to fp32 on the way", "kernels/cast/lanes_encode.c",
        "PIECE(f64_to_float, 64, 64, dti_lane_float_f64, e->code_shift)",
        "DTI_LANE uint64_t twice(const struct dti_encoder *e, uint64_t bits, enum dti_round round, uint64_t random) { double wide; "
        "memcpy(&wide, &bits, 8); const float narrow = (float)wide; uint32_t word; memcpy(&word, &narrow, 4); "
        "return dti_lane_float_f32(e, word, round, (uint32_t)random); }\nPIECE(f64_to_float, 64, 64, twice, e->code_shift)",
        "fp64 to bf16, nearest-even", {"policy": 0}, encoding("fp64", "bf16", "nearest-even", options=("--via", "fp32"))),
    Bug("every tie goes up", "kernels/lanes.h", "return (cut | odd) > UINT32_C(0x80000000);", "return cut >= UINT32_C(0x80000000);",
        "fp32 to fp16, nearest-even", {"policy": 0}, encoding("fp32", "fp16", "nearest-even")),
    Bug("up means away from zero", "kernels/lanes.h", "return inexact & (negative ^ 1);", "return inexact;",
        "fp32 to fp8_e5m2, up", {"policy": 0}, encoding("fp32", "fp8_e5m2", "up")),
    Bug("the largest number overflows", "kernels/cast/lanes_float.h", "code = magnitude > (uint32_t)e->max_magnitude",
        "code = magnitude >= (uint32_t)e->max_magnitude", "fp32 to fp8_e4m3fn, down", {"policy": 0}, encoding("fp32", "fp8_e4m3fn", "down")),
    Bug("a subnormal has its own exponent", "kernels/cast/lanes_float.h", "dti_lane_max32(a >> 23, 1);", "dti_lane_max32(a >> 23, 0);",
        "fp32 to bf16, nearest-even", {"policy": 0}, encoding("fp32", "bf16", "nearest-even")),
    Bug("an integer is not normalized to its last bit", "kernels/cast/lanes_float.h", "    dti_lane_climb(&significand, &own, 1);\n", "",
        "int64 to fp16, nearest-even", {"policy": 0}, encoding("int64", "fp16", "nearest-even")),
    Bug("minus zero where there is none", "kernels/cast/lanes_float.h", "e->zero[1] != 0 ? ~UINT32_C(0) : 0", "~UINT32_C(0)",
        "fp32 to fp8_e4m3fnuz, nearest-even", {"policy": 0}, encoding("fp32", "fp8_e4m3fnuz", "nearest-even")),
)
