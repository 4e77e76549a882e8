# SPDX-License-Identifier: MIT
"""Quantization of values, written again from its definition in exact rationals; nothing is shared with
the C core. fp32 numbers are Python floats, which hold them exactly."""
import math
import pathlib
import struct
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import formats  # noqa: E402

FORMATS = formats.build()
NAN, INF = float("nan"), float("inf")
LEAST_NORMAL, LARGEST, EPS = 2.0 ** -126, float((2 - Fraction(2) ** -23) * 2 ** 127), 2.0 ** -23
INTEGERS = ["int2", "int4", "int8", "int16", "uint2", "uint4", "uint8", "uint16"]
FLOATS = ["fp8_e4m3fn", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e3m4", "fp6_e3m2", "fp6_e2m3", "fp4_e2m1"]
# name: code dtype, scale dtype, length
BLOCKS = {"mxfp8_e4m3": ("fp8_e4m3fn", "fp8_e8m0", 32), "mxfp8_e5m2": ("fp8_e5m2", "fp8_e8m0", 32),
          "mxfp6_e3m2": ("fp6_e3m2", "fp8_e8m0", 32), "mxfp6_e2m3": ("fp6_e2m3", "fp8_e8m0", 32),
          "mxfp4": ("fp4_e2m1", "fp8_e8m0", 32), "mxint8": ("int8", "fp8_e8m0", 32),
          "nvfp4": ("fp4_e2m1", "fp8_e4m3fn", 16), "nf4": ("uint4", "fp32", 64),
          "q8_0": ("int8", "fp16", 32), "q4_0": ("uint4", "fp16", 32)}
NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
       -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
       0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
       0.7229568362236023, 1.0]


def floor_log2(number):
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1


def to_grid(number, mantissa, least_exponent):
    """The nearest number of so many bits behind the leading one, ties to even."""
    if number == 0:
        return Fraction(0)
    exponent = max(floor_log2(abs(number)), least_exponent)
    quantum = Fraction(2) ** (exponent - mantissa)
    return round(number / quantum) * quantum


def fp32(number, zero=0.0):
    """zero: the zero that a number too small becomes, with its sign."""
    rounded = to_grid(number, 23, -126)
    if abs(rounded) > Fraction(LARGEST):
        return INF if number > 0 else -INF
    return float(rounded) if rounded else math.copysign(0.0, zero if not number else 1 if number > 0 else -1)


def multiply(a, b):
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    return fp32(Fraction(a) * Fraction(b), math.copysign(1, a) * math.copysign(1, b))


def divide(a, b):
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 and b == 0):
        return NAN
    if math.isinf(a) or b == 0:
        return sign * INF
    if math.isinf(b):
        return sign * 0.0
    return fp32(Fraction(a) / Fraction(b), sign)


def bits32(number):
    return 0x7fc00000 if math.isnan(number) else struct.unpack("<I", struct.pack("<f", number))[0]


def encode(name, number):
    """To nearest even, saturating: code, and whether it was beyond the largest. number: a Fraction
    or a float; floats keep the sign of zero."""
    dtype = FORMATS[name]
    special = isinstance(number, float) and not math.isfinite(number)
    if special and math.isnan(number):
        return (dtype.canonical_nan() or 0), False
    negative = math.copysign(1, number) < 0 if isinstance(number, float) else number < 0
    largest = dtype.magnitude(dtype.max_code())
    rounded = largest + 1 if special else to_grid(abs(Fraction(number)), dtype.man, 1 - dtype.bias)
    beyond = rounded > largest
    magnitude = min(rounded, largest)
    if magnitude == 0:
        return (dtype.sign_bit if negative and dtype.minus_zero else 0), False
    return dtype.values()[-magnitude if negative else magnitude], beyond


def decode(name, code):
    kind, negative, value = FORMATS[name].decode(code)
    if kind == formats.NAN:
        return NAN
    value = INF if kind == formats.INF else float(value)
    return -abs(value) if negative else value


def choose(name, symmetry, rule, low, high, least, most):
    """scale, zero point, and the range that was taken"""
    amax = max(abs(least), abs(most))
    middle = 0 if name.startswith("int") else 1 << (FORMATS[name].width - 1)
    if name in FLOATS:
        scale, zero = divide(amax, float(FORMATS[name].magnitude(FORMATS[name].max_code()))), 0
        rule = "onnx"
    elif symmetry == "none":
        least, most = min(least, 0.0), max(most, 0.0)
        amax = max(abs(least), abs(most))
        exact = to_grid(Fraction(most) - Fraction(least), 23, -126)  # beyond the largest, too
        scale, zero = fp32(exact / (high - low)), None
    else:
        steps = high - middle if symmetry == "full" else Fraction(high - low, 2)
        scale, zero = fp32(Fraction(amax) / steps), middle
    if amax == 0:
        scale = EPS if rule == "torch" else 1.0
    scale = min(max(scale, LEAST_NORMAL, EPS if rule == "torch" else 0), LARGEST)
    if zero is None:
        quotient = divide(least, scale)
        if rule == "torch":
            zero = low - round(Fraction(quotient))
        else:
            zero = round(Fraction(fp32(low - Fraction(quotient))))
        zero = min(max(zero, low), high)
    return scale, zero, least, most


class Affine:
    """One scale for all of a group."""

    def __init__(self, name, how, values):
        dtype = FORMATS[name]
        self.name, self.how, self.integer = name, how, name in INTEGERS
        self.low, self.high = 0, 0
        self.least = self.most = None
        if self.integer:
            self.low = -(1 << dtype.width - 1) if name.startswith("int") else 0
            self.high = self.low + (1 << dtype.width) - 1
            if how["symmetry"] == "full":
                self.low += 1
        if "scale" in how:
            self.scale, self.zero = how["scale"], how["zero"]
            return
        finite = [x for x in values if math.isfinite(x)] or [0.0]
        least, most = how.get("min", min(finite)), how.get("max", max(finite))
        self.scale, self.zero, self.least, self.most = choose(
            name, how["symmetry"], how["rule"], self.low, self.high, least, most)

    def quotient(self, x):
        if self.how["division"] == "true":
            return divide(x, self.scale)
        if self.how["division"] == "reciprocal":
            return multiply(x, divide(1.0, self.scale))
        return Fraction(x) / Fraction(self.scale) if math.isfinite(x) and x else x

    def store(self, x):
        """code, clipped"""
        quotient = self.quotient(x)
        if not self.integer:
            code, beyond = encode(self.name, quotient)
            return code, beyond and math.isfinite(x)
        nan, finite = quotient != quotient, quotient not in (INF, -INF) and quotient == quotient
        placed = round(Fraction(quotient)) + self.zero if finite else None
        clipped = math.isfinite(x) and (nan is False) and (
            placed is None or not self.low <= placed <= self.high)
        if self.how["specials"] == "torch":
            cut = 2147483520 if nan or quotient > 2147483520 else max(quotient, -2 ** 31)
            placed = (round(Fraction(cut)) + self.zero + 2 ** 31) % 2 ** 32 - 2 ** 31
        elif placed is None:
            of_nan = 0 if self.how["specials"] == "torch_channel" else self.zero
            placed = of_nan if nan else self.high if quotient > 0 else self.low
        return min(max(placed, self.low), self.high) % (1 << FORMATS[self.name].width), clipped

    def number(self, code):
        return decode(self.name, code)

    def back(self, code):
        if not self.integer:
            return multiply(decode(self.name, code), self.scale)
        return fp32((int(decode(self.name, code)) - self.zero) * Fraction(self.scale))


class Block:
    def __init__(self, name, how, values):
        self.name, self.how = name, how
        self.code_name, self.scale_name, self.length = BLOCKS[name]
        self.special = any(not math.isfinite(x) for x in values)
        self.amax = NAN if self.special else max(abs(x) for x in values)
        self.tensor = how.get("tensor", 1.0)
        self.all_clipped = False
        if self.special:
            self.scale_code = FORMATS[self.scale_name].canonical_nan()
        elif name.startswith("mx"):
            self.scale_code = self.shared_exponent() + 127
        elif name == "nvfp4":
            exact = Fraction(self.amax) / 6 / Fraction(self.tensor)
            if how["division"] != "exact":
                exact = divide(divide(self.amax, 6.0), self.tensor)
            self.scale_code = encode("fp8_e4m3fn", exact)[0]
        elif name == "nf4":
            self.scale_code = bits32(self.amax)
        else:
            first = next((x for x in values if abs(x) == self.amax), 0.0) if self.amax else 0.0
            self.d = divide(self.amax, 127.0) if name == "q8_0" else divide(first, -8.0)
            self.scale_code = struct.unpack("<H", self.half(self.d))[0]
            self.all_clipped = self.scale_code & 0x7fff == 0x7c00
        self.scale = decode(self.scale_name, self.scale_code)
        self.multiplier = multiply(self.scale, self.tensor) if name == "nvfp4" else self.scale

    @staticmethod
    def half(number):
        try:
            return struct.pack("<e", number)
        except OverflowError:
            return struct.pack("<H", 0x7c00 if number > 0 else 0xfc00)

    def largest(self):
        if self.name == "mxint8":
            return Fraction(127, 64)
        return FORMATS[self.code_name].magnitude(FORMATS[self.code_name].max_code())

    def shared_exponent(self):
        if self.amax == 0:
            return -127
        amax, largest = Fraction(self.amax), self.largest()
        emax = floor_log2(largest)
        exponent = floor_log2(amax)
        mantissa = 6 if self.name == "mxint8" else FORMATS[self.code_name].man
        if self.how["mx_scale"] == "ceil":
            exponent += amax > Fraction(2) ** exponent
        elif self.how["mx_scale"] == "rceil":
            exponent = floor_log2(amax / largest)
            exponent += amax / largest > Fraction(2) ** exponent
            emax = 0
        elif self.how["mx_scale"] == "even":
            quantum = Fraction(2) ** (exponent - mantissa)
            exponent = floor_log2(math.floor(amax / quantum + Fraction(1, 2)) * quantum)
        return min(max(exponent - emax, -127), 127)

    def quotient(self, x):
        """None: there is none."""
        if not math.isfinite(x) or self.special:
            return None
        if self.name in ("q8_0", "q4_0"):
            inverse = divide(1.0, self.d) if self.d else INF
            return multiply(x, inverse) if math.isfinite(inverse) else None
        if self.multiplier == 0:
            return None
        if self.name.startswith("mx") or self.how["division"] == "exact":
            return Fraction(x) / Fraction(self.multiplier) if x else x
        if self.how["division"] == "reciprocal":
            inverse = divide(1.0, self.multiplier)
            if self.name == "nvfp4":
                inverse = divide(divide(1.0, self.tensor), self.scale)
            if math.isfinite(inverse):
                return multiply(x, inverse)
        return divide(x, self.multiplier)

    def store(self, x):
        zero = {"nf4": 7, "q4_0": 8}.get(self.name, 0)
        quotient = self.quotient(x)
        if quotient is None:
            return zero, self.all_clipped
        if self.name == "mxint8":
            placed = round(64 * Fraction(quotient))
            return min(max(placed, -128), 127) % 256, not -128 <= placed <= 127
        if self.name == "nf4":
            distance = [abs(Fraction(entry) - Fraction(quotient)) for entry in NF4]
            return distance.index(min(distance)), False
        if self.name == "q8_0":
            placed = math.floor(abs(Fraction(quotient)) + Fraction(1, 2))
            return (placed if quotient >= 0 else -placed) % 256, self.all_clipped
        if self.name == "q4_0":
            placed = int(Fraction(fp32(Fraction(quotient) + Fraction(17, 2))))
            return min(placed, 15), self.all_clipped or placed > 15
        return encode(self.code_name, quotient)

    def number(self, code):
        if self.name == "nf4":
            return NF4[code]
        if self.name == "q4_0":
            return float(code - 8)
        return decode(self.code_name, code) / (64 if self.name == "mxint8" else 1)

    def back(self, code):
        return multiply(self.number(code), self.multiplier)


def pack(width, codes, high):
    """Codes without gaps; of two bytes and more little-endian."""
    joined, size = 0, (len(codes) * width + 7) // 8
    if not high or width >= 8:
        return sum(code << i * width for i, code in enumerate(codes)).to_bytes(size, "little")
    for code in codes:
        joined = joined << width | code
    return (joined << size * 8 - len(codes) * width).to_bytes(size, "big")
