# SPDX-License-Identifier: MIT
"""fp32 in Python floats, which hold it exactly: bit patterns, and operations that round once."""

import ctypes
import math
import struct
from fractions import Fraction

from formats import floor_log2, power_of_two

LARGEST = float.fromhex("0x1.fffffep127")
LEAST_NORMAL, EPS = 2.0**-126, 2.0**-23


def bits(x):
    return 0x7FC00000 if math.isnan(x) else struct.unpack("<I", struct.pack("<f", x))[0]


def number(code):
    return struct.unpack("<f", struct.pack("<I", code))[0]


def near(x):
    """Rounds a double to fp32, once."""
    return ctypes.c_float(x).value


def round32(value, negative=None):
    """Rounds a Fraction to fp32, once; negative: the sign of a zero result."""
    magnitude = abs(value)
    negative = value < 0 if negative is None else negative
    if magnitude:
        step = power_of_two(max(floor_log2(magnitude), -126) - 23)
        magnitude = round(magnitude / step) * step
    result = math.inf if magnitude >= power_of_two(128) else float(magnitude)
    return -result if negative else result


def multiply(a, b):
    return near(a * b)      # at most 48 bits, and far from the fp64 limits


def divide(a, b):
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    if a == 0 or not math.isfinite(a) or not math.isfinite(b):
        return a / b
    return round32(Fraction(a) / Fraction(b))


def add(a, b):
    if a == 0 or b == 0 or a == -b:
        return a + b
    return round32(Fraction(a) + Fraction(b))
