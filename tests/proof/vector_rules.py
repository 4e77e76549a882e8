# SPDX-License-Identifier: MIT
"""What each kernel of casts has to compute, as conditions on one element x and its code.

Floats of 16 bits and more by SMT-LIB's conversions; floats of at most 8 bits by thresholds, the midpoints between the values
that tests/oracle/formats.py has from the published specifications; integers by SMT-LIB's rounding to integers."""
import sys
from fractions import Fraction

import z3

from symbolic import as_float, lookup
from theorem import ROOT

sys.path.insert(0, str(ROOT / "tests/oracle"))
import formats  # noqa: E402

MODES = {"nearest-even": z3.RNE(), "nearest-away": z3.RNA(), "zero": z3.RTZ(), "up": z3.RTP(), "down": z3.RTN()}
FIELDS = {"fp64": (11, 52), "fp32": (8, 23), "fp16": (5, 10), "bf16": (8, 7)}  # exponent and mantissa bits
FP32_INF = 0x7F800000


def sort_named(name):
    exponent, mantissa = FIELDS[name]
    return z3.FPSort(exponent, mantissa + 1)


def number_of(bits, name):
    return z3.fpBVToFP(bits, sort_named(name))


def nan_of(bits, source, target, nan):
    """The code of a NaN: sign and upper payload, quiet; or the positive one without payload."""
    (_, own), (exponent, wanted) = FIELDS[source], FIELDS[target]
    quiet = ((1 << exponent) - 1) << wanted | 1 << (wanted - 1)
    if nan == "canonical":
        return z3.BitVecVal(quiet, 1 + exponent + wanted)
    payload = z3.Extract(own - 1, 0, bits)
    payload = z3.Extract(own - 1, own - wanted, payload) if own >= wanted else z3.Concat(payload, z3.BitVecVal(0, wanted - own))
    return z3.Concat(z3.Extract(bits.size() - 1, bits.size() - 1, bits), z3.BitVecVal(0, exponent), payload) | quiet


def float_to_float(source, target, mode="nearest-even", nan="quiet"):
    """good(x, code) of a float format to another."""
    def good(x, code):
        value = number_of(x, source)
        if mode == "odd":
            right = nearest_odd(value, code, source, target)
        else:
            right = number_of(code, target) == z3.fpFPToFP(MODES[mode], value, sort_named(target))
        return z3.If(z3.fpIsNaN(value), code == nan_of(x, source, target, nan), right)
    return good


def nearest_odd(value, code, source, target):
    """Exact, or the neighbour whose last bit is one: of the truncated number, that or the next in magnitude."""
    cut = z3.fpFPToFP(z3.RTZ(), value, sort_named(target))
    exact = z3.fpFPToFP(z3.RNE(), cut, sort_named(source)) == value
    either_one = z3.Or(number_of(code, target) == cut, number_of(code & ~z3.BitVecVal(1, code.size()), target) == cut)
    return z3.If(exact, number_of(code, target) == cut, z3.And(z3.Extract(0, 0, code) == 1, either_one))


def float_to_integer(source, width, is_signed, mode):
    """Clamped; a NaN becomes 0."""
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)

    def good(x, code):
        value = z3.fpRoundToIntegral(MODES[mode], number_of(x, source))
        wide = z3.fpToSBV(z3.RTZ(), value, z3.BitVecSort(40))
        inside = z3.Extract(width - 1, 0, wide)
        beyond = z3.fpGT(value, z3.FPVal(high, value.sort())) if high < 1 << 24 else z3.fpGEQ(value, z3.FPVal(high + 1, value.sort()))
        least, most = z3.BitVecVal(low, width), z3.BitVecVal(high, width)
        under = z3.fpLT(value, z3.FPVal(low, value.sort()))
        return code == z3.If(z3.fpIsNaN(value), z3.BitVecVal(0, width), z3.If(under, least, z3.If(beyond, most, inside)))
    return good


def integer_to_float(target, is_signed, mode="nearest-even"):
    convert = z3.fpSignedToFP if is_signed else z3.fpUnsignedToFP

    def good(x, code):
        if mode == "odd":
            cut = convert(z3.RTZ(), x, sort_named(target))
            back = z3.fpRoundToIntegral(z3.RTZ(), cut)
            size = z3.BitVecSort(x.size() + 2)
            extended = (z3.SignExt if is_signed else z3.ZeroExt)(2, x)
            exact = (z3.fpToSBV if is_signed else z3.fpToUBV)(z3.RTZ(), back, size) == extended
            odd = z3.And(z3.Extract(0, 0, code) == 1, z3.Or(
                number_of(code, target) == cut, number_of(code & ~z3.BitVecVal(1, code.size()), target) == cut))
            return z3.If(exact, number_of(code, target) == cut, odd)
        return number_of(code, target) == convert(MODES[mode], x, sort_named(target))
    return good


# Small floats, from fp32 to nearest even.


def fp32_bits(value):
    """The fp32 of a positive number that it holds exactly, as a normal number."""
    exponent = formats.floor_log2(value)
    significand = value / formats.power_of_two(exponent) * (1 << 23)
    if significand.denominator != 1 or not -126 <= exponent <= 127:
        raise ValueError("not an fp32 number: %s" % value)
    return (exponent + 127 << 23) + int(significand) - (1 << 23)


def small_pieces(name, overflow, nan):
    """[(the first magnitude, as the lower 31 bits of an fp32; codes of both signs)]: a step function of x."""
    f, pieces = formats.FORMATS[name], []

    def code(cls, negative, value=None):
        return formats.encode(f, cls, negative, value, "nearest-even", overflow)[0]
    table = f.table()
    for index in range(f.max_index + 2):
        start = 0
        if index > 0:
            middle = fp32_bits((table[index - 1] + table[index]) / 2)
            start = middle + (1 if f.is_odd(index) else 0)  # a tie goes to the even one
        pieces.append((start, *[code("zero" if index == 0 else "finite", negative, table[index]) for negative in (False, True)]))
    pieces.append((FP32_INF, *[code(formats.INF, negative) for negative in (False, True)]))
    payloads = 1 << (f.man - 1) if f.ieee and nan == "quiet" and f.man > 1 else 1
    for top in range(1 << f.man if payloads > 1 else 1):
        codes = [code(formats.NAN, negative and nan == "quiet") | (top & (payloads - 1)) for negative in (False, True)]
        pieces.append((max(FP32_INF + 1, FP32_INF | top << (23 - f.man)), *codes))
    return pieces


def steps(pieces, magnitude, at):
    """The column `at` of the last piece that starts at or below the magnitude."""
    if len(pieces) == 1:
        return z3.BitVecVal(pieces[0][at], 8)
    half = len(pieces) // 2
    low, high = steps(pieces[:half], magnitude, at), steps(pieces[half:], magnitude, at)
    return low if low.eq(high) else z3.If(z3.ULT(magnitude, pieces[half][0]), low, high)


def float_to_small(name, overflow, nan):
    pieces = small_pieces(name, overflow, nan)

    def good(x, code):
        magnitude = z3.Extract(30, 0, x)
        return code == z3.If(z3.Extract(31, 31, x) == 1, steps(pieces, magnitude, 2), steps(pieces, magnitude, 1))
    return good


# Casts by table: the specification is a list of all codes.


def code_list(source, target, overflow="native", nan="quiet"):
    """The target's code of each source code (above the width: of its low bits)."""
    own, f = formats.FORMATS[source], formats.FORMATS[target]
    return [table_code(own, f, code & ((1 << own.width) - 1), overflow, nan) for code in range(256)]


def table_code(own, f, code, overflow, nan):
    cls, negative, value = own.decode(code)
    if cls == formats.NAN and (nan == "canonical" or own.nan == (own.sign_bit,)):  # the only NaN, at the code of -0, has no sign
        negative = False
    found = formats.encode(f, cls, negative, value, "nearest-even", overflow)[0]
    if cls == formats.NAN and nan == "quiet" and own.ieee and f.ieee and own.man > 1 and f.man > 1:
        payload, shift = code & ((1 << (own.man - 1)) - 1), f.man - own.man
        found |= payload << shift if shift >= 0 else payload >> -shift
    return found


def by_list(codes, width):
    entries = [z3.BitVecVal(each, width) for each in codes]
    return lambda x, code: code == lookup(entries, x, 7)
