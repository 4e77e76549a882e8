# SPDX-License-Identifier: MIT
"""Encoding to integers and bool: six rounding modes from floats, none from integers; all numbers and all policies for overflow
(clamp, or keep the low bits) in one theorem. The specification is SMT-LIB's conversion to an integer of 80 bits, and above 2^70 the
bits of the significand where they belong."""
import z3

from lanes import MODES, POLICIES, ROUNDS, SOURCES, as_source, chosen, container, encoding_claim, formats, infinity_code
from lanes_shown import encoding
from seeded import Bug
from theorem import Theorem

FAMILY = "One number to any integer format or bool, rounded once: `lanes_encode.c`, for all numbers and all policies of overflow"
WIDE, REACH = 80, 70


def whole(source, mode, x):
    """x rounded to an integer of WIDE bits; only for magnitudes below 2^REACH."""
    if not source.is_float:
        return (z3.ZeroExt if source.format.kind == "uint" else z3.SignExt)(WIDE - source.width, x)
    number, sort = as_source(source, x), z3.BitVecSort(WIDE)
    if mode != "odd":
        return z3.fpToSBV(MODES[mode], number, sort)
    cut = z3.fpToSBV(z3.RTZ(), number, sort)
    exact = z3.fpEQ(z3.fpRoundToIntegral(z3.RTZ(), number), number)
    away = z3.If(source.sign(x), cut - 1, cut + 1)
    return z3.If(z3.Or(exact, z3.Extract(0, 0, cut) == 1), cut, away)


def low_bits(source, x):
    """The low 64 bits of a float of at least 2^REACH, an integer."""
    f = source.format
    field = z3.ZeroExt(64 - f.exp, z3.Extract(f.exp + f.man - 1, f.man, x))
    significand = z3.ZeroExt(64 - f.man, z3.Extract(f.man - 1, 0, x)) | (1 << f.man)
    found = significand << (field - (f.bias + f.man))  # 0 for shifts of 64 and more
    return z3.If(source.sign(x), -found, found)


def stored_integer(source, fmt, policy, x, rounded):
    """The code for a finite number: rounded, an integer of WIDE bits, serves below 2^REACH."""
    width, mask = container(fmt)[0], (1 << fmt.width) - 1
    low, high = (-(1 << (fmt.width - 1)) if fmt.signed else 0), fmt.max_code()
    inside, below, bits = z3.And(rounded >= low, rounded <= high), rounded < low, z3.Extract(63, 0, rounded)
    if source.is_float and source.format.exp > 7:
        in_reach = z3.ULT(source.magnitude(x), source.pattern(1 << REACH, False))
        inside, below = z3.And(in_reach, inside), z3.If(in_reach, below, source.sign(x))
        bits = z3.If(in_reach, bits, low_bits(source, x))
    kept = z3.Extract(width - 1, 0, bits) & mask
    clamped = z3.If(below, z3.BitVecVal(low & mask, width), z3.BitVecVal(high, width))
    wraps = chosen(policy, [int(overflow == "wrap") for overflow, _ in POLICIES], 1) == 1
    return z3.If(z3.Or(inside, wraps), kept, clamped)


def right(source, fmt, mode, x, policy, code):
    if fmt.kind == "bool":
        return code == z3.If(source.magnitude(x) == 0, z3.BitVecVal(0, 8), z3.BitVecVal(1, 8))
    goal = code == stored_integer(source, fmt, policy, x, whole(source, mode, x))
    if not source.is_float:
        return goal
    return z3.If(z3.UGT(source.magnitude(x), source.infinity()), code == 0,
                 z3.If(source.magnitude(x) == source.infinity(), code == infinity_code(fmt, mode, policy, source.sign(x)), goal))


def theorems(sample):
    for count, (source, fmt) in enumerate((source, fmt) for source in SOURCES.values() for fmt in formats(("int", "uint", "bool"))):
        rounds = ROUNDS if source.is_float and fmt.kind != "bool" else ROUNDS[:1]
        for at, mode in enumerate(rounds):
            if not sample or (count % 9 == 0 and at == count // 9 % len(rounds)):
                yield Theorem("encode_integer", "%s to %s, %s" % (source.name, fmt.name, mode),
                              lambda source=source, fmt=fmt, mode=mode: encoding_claim(source, fmt, mode, right))


SEEDED = (
    Bug("ties go down", "kernels/cast/lanes_integer.h", "dti_lane_up32(round, cut, kept & 1, negative, random)",
        "dti_lane_up32(round, cut, 0, negative, random)", "fp32 to int8, nearest-even", {"policy": 0}, encoding("fp32", "int8", "nearest-even")),
    Bug("2^32 is within reach", "kernels/cast/lanes_integer.h", "code = own >= 127 + 32 ?", "code = own > 127 + 32 ?",
        "fp32 to uint32, zero", {"policy": 0}, encoding("fp32", "uint32", "zero")),
    Bug("a shift by more than 63", "kernels/cast/lanes_integer.h", "near = dti_lane_min64(down, 63);", "near = down;",
        "fp64 to int32, nearest-even", {"policy": 0, "x": 0x3F20000000000000}, encoding("fp64", "int32", "nearest-even")),
)
