# SPDX-License-Identifier: MIT
"""Number formats as their specifications publish them: a table of the value of every code, read from its bits as text.

IEEE 754-2019 3.4, OCP OFP8 1.0, OCP Microscaling 1.0, the fnuz formats of Graphcore and AMD (LLVM's APFloat.h names
them), IEEE P3109 interim report 4.0, HiFloat8 (arXiv 2409.16626), the posit standard of 2022. Shared with nothing:
neither the program nor the other models of the tests use this, and this uses none of them.
"""

import bisect
import functools
import math
import re
from fractions import Fraction

INF, MINUS_INF, NAN = "inf", "-inf", "nan"


def exactly(value):
    """A value as a Python float where that is exact, which compares as exactly as a Fraction and faster."""
    if isinstance(value, float):
        return value
    try:
        return float(value) if Fraction(float(value)) == value else value
    except OverflowError:
        return value


def two_to(power):
    return Fraction(2) ** power


def scaled(count, power):
    """count x 2^power exactly; count is a small integer."""
    return math.ldexp(count, power) if -1000 < power < 950 else count * two_to(power)


def is_number(value):
    return not isinstance(value, str)


def binary_value(exponent, mantissa, bias):
    """0.mantissa x 2^(1 - bias) or 1.mantissa x 2^(exponent - bias); both fields are texts of bits."""
    fraction, length = int(mantissa or "0", 2), len(mantissa)
    if int(exponent, 2) == 0:
        return scaled(fraction, 1 - bias - length)
    return scaled((1 << length) + fraction, int(exponent, 2) - bias - length)


TOO_HIGH, TOO_LOW = "too high", "too low"


class Published:
    """One format: its values in order on the number line, and its special codes.

    line        values in ascending order, zero once, the largest and the lowest included
    codes       the code of each; TOO_LOW for the negative values that a format without a sign does not have
    halfway     the point between line[i] and line[i + 1] where rounding to nearest changes
    odd         whether the significand of each is odd (posits, HiFloat8, P3109: whether the code is)
    above       the value that would follow the largest one if there were no limit
    """

    def __init__(self, name, width, values, signed, above, ieee=None, minus_zero=None, one_digit=False,
                 smallest_normal=0):
        self.name, self.width, self.signed, self.kind, self.posit = name, width, signed, "float", None
        self.values = values                        # code -> number, or INF, MINUS_INF, NAN as text
        self.inf = {value: code for code, value in values.items() if value in (INF, MINUS_INF)}
        self.nans = frozenset(code for code, value in values.items() if value == NAN)
        self.minus_zero, self.ieee = minus_zero, ieee
        finite = [(value, code) for code, value in values.items() if is_number(value) and code != minus_zero]
        if not all(isinstance(value, float) for value, _ in finite):        # their sums would be rounded
            finite = [(Fraction(value), code) for value, code in finite]
            above = Fraction(above)
        self.has_zero = values.get(0) == 0
        if not signed:
            finite += [(-value, TOO_LOW) for value, _ in finite if value]
        finite.sort(key=lambda pair: pair[0])
        exact = [value for value, _ in finite]
        self.line = [exactly(value) for value in exact]
        self.codes = [code for _, code in finite]
        magnitudes = {abs(values[code]): code for code in self.codes if code != TOO_LOW}
        self.odd = [value != 0 if one_digit else magnitudes[abs(value)] & 1 == 1 for value in exact]
        self.halfway = [exactly((low + high) / 2) for low, high in zip(exact, exact[1:])]
        self.smallest_normal = smallest_normal
        self.above = exactly(above)
        self.overflow_at = exactly((exact[-1] + above) / 2)
        self.smallest = min(abs(value) for value in self.line if value)
        self.lowest = 0 if not signed else self.codes[0]
        self.largest = self.codes[-1]

    def code_of(self, value):
        """The code of a value that the format has."""
        at = bisect.bisect_left(self.line, value)
        assert self.line[at] == value, (self.name, value)
        return self.codes[at]

    def kind_of(self, code):
        """zero, subnormal, normal, inf or nan."""
        value = self.values[code]
        if value in (INF, MINUS_INF, NAN):
            return value.lstrip("-")
        return "zero" if value == 0 else "subnormal" if abs(value) < self.smallest_normal else "normal"

    def zero(self, negative):
        return self.minus_zero if negative and self.minus_zero is not None else 0


def signed_table(width, magnitude_of, specials):
    """All codes of a sign and a magnitude; specials: code -> text."""
    top = 1 << width - 1
    values = {}
    for code in range(1 << width):
        if code in specials:
            values[code] = specials[code]
        else:
            magnitude = magnitude_of(format(code & top - 1, f"0{width - 1}b"))
            values[code] = -magnitude if code & top else magnitude
    return values


def with_fields(exponent_bits, bias):
    return lambda bits: binary_value(bits[:exponent_bits], bits[exponent_bits:], bias)


def float_format(name, exponent_bits, mantissa_bits, bias, family, signed=True):
    """ieee, fn, fnuz or all (every code a number), with a sign or without."""
    bits = exponent_bits + mantissa_bits
    width = bits + signed
    sign = 1 << bits
    ones = (1 << bits) - 1
    read = with_fields(exponent_bits, bias)
    magnitudes = {code: read(format(code, f"0{bits}b")) for code in range(1 << bits)}
    special = {}
    if family == "ieee":
        infinite = ((1 << exponent_bits) - 1) << mantissa_bits
        special = {code: INF if code == infinite else NAN for code in range(infinite, 1 << bits)}
    elif family == "fn":
        special = {ones: NAN}
    values = {**magnitudes, **special}
    if signed:
        opposite = {INF: MINUS_INF, NAN: NAN}
        values.update({code | sign: opposite.get(value) or -value for code, value in list(values.items())})
    if family == "fnuz":
        values[sign] = NAN
    largest = max(value for value in values.values() if is_number(value))
    return Published(name, width, values, signed, largest + ulp_at(largest, mantissa_bits, 1 - bias),
                     (exponent_bits, mantissa_bits) if family == "ieee" else None,
                     sign if signed and family != "fnuz" else None, mantissa_bits == 0,
                     two_to(1 - bias))


def ulp_at(value, mantissa_bits, lowest_exponent):
    value = Fraction(value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()     # floor(log2(value)), or one more
    exponent -= two_to(exponent) > value
    return scaled(1, max(exponent, lowest_exponent) - mantissa_bits)


def scale_format(name):
    """OCP Microscaling 5.4.1: 2^(code - 127), 0xff is NaN."""
    values = {code: scaled(1, code - 127) for code in range(255)}
    values[255] = NAN
    return Published(name, 8, values, False, scaled(1, 128), one_digit=True)


def p3109_format(name):
    k, p, sign, domain = re.fullmatch(r"binary(\d+)p(\d+)([su])([ef])", name).groups()
    k, p, signed = int(k), int(p), sign == "s"
    bias = 1 << (k - p - 1 if signed else k - p)
    bits = k - 1 if signed else k
    # Precision 1 has no fraction: every code but zero is 2^(exponent - bias), as the report's decoding says.
    read = with_fields(bits - p + 1, bias)
    special = {1 << k - 1: NAN} if signed else {(1 << k) - 1: NAN}
    if domain == "e":
        if signed:
            special.update({(1 << k - 1) - 1: INF, (1 << k) - 1: MINUS_INF})
        else:
            special[(1 << k) - 2] = INF
    values = signed_table(k, read, special) if signed else {
        code: special.get(code) or read(format(code, f"0{k}b")) for code in range(1 << k)}
    largest = max(value for value in values.values() if is_number(value))
    return Published(name, k, values, signed, largest + ulp_at(largest, p - 1, 1 - bias),
                     smallest_normal=two_to(1 - bias))


def hifloat8():
    """Table 1 of the paper: dot field, exponent with its own sign and a hidden leading one, mantissa."""
    def magnitude(bits):
        for dot, width in ("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0):
            if bits.startswith(dot):
                field, mantissa = bits[len(dot):len(dot) + width], bits[len(dot) + width:]
                exponent = int("1" + field[1:], 2) * (-1 if field[0] == "1" else 1) if width else 0
                return scaled((1 << len(mantissa)) + int(mantissa, 2), exponent - len(mantissa))
        return scaled(1, int(bits, 2) - 23) if int(bits, 2) else 0.0
    special = {0x80: NAN, 0x6f: INF, 0xef: MINUS_INF}
    return Published("hif8", 8, signed_table(8, magnitude, special), True, magnitude("1101111"),
                     smallest_normal=two_to(-15))


def posit_value(width, code):
    """The standard's decoding of any width, so that wider posits give the points between narrower ones."""
    if code == 0:
        return 0.0
    if code >> width - 1:
        return -posit_value(width, -code % (1 << width))
    bits = format(code, f"0{width - 1}b")
    run = len(bits) - len(bits.lstrip(bits[0]))
    power = run - 1 if bits[0] == "1" else -run
    tail = bits[run + 1:]
    exponent, fraction = tail[:2].ljust(2, "0"), tail[2:]
    return scaled((1 << len(fraction)) + int(fraction or "0", 2), 4 * power + int(exponent, 2) - len(fraction))


def posit(name, width):
    nar = 1 << width - 1
    values = {code: posit_value(width, code) for code in range(1 << width) if code != nar}
    largest = max(values.values())
    values[nar] = NAN
    made = Published(name, width, values, True, 16 * largest)
    made.posit = width
    # The code with infinitely many bits is rounded: halfway between two codes is the code of one bit more.
    made.halfway = [exactly(posit_value(width + 1, (2 * code + 1) % (2 << width))) for code in made.codes[:-1]]
    return made


def integer(name, width, signed):
    """Compared as integers, no table."""
    made = Published.__new__(Published)
    made.name, made.width, made.signed, made.kind = name, width, signed, "int"
    made.minimum = -(1 << width - 1) if signed else 0
    made.maximum = (1 << width - signed) - 1
    return made


NAMED = {
    "fp16": (5, 10, 15, "ieee"), "bf16": (8, 7, 127, "ieee"), "fp8_e5m2": (5, 2, 15, "ieee"),
    "fp8_e4m3fn": (4, 3, 7, "fn"), "fp8_e5m2fnuz": (5, 2, 16, "fnuz"), "fp8_e4m3fnuz": (4, 3, 8, "fnuz"),
    "fp8_e4m3": (4, 3, 7, "ieee"), "fp8_e3m4": (3, 4, 3, "ieee"), "fp8_e4m3b11fnuz": (4, 3, 11, "fnuz"),
    "fp8_ue4m3": (4, 3, 7, "fn", False), "fp8_ue5m3": (5, 3, 15, "fn", False),
    "fp6_e3m2": (3, 2, 3, "all"), "fp6_e2m3": (2, 3, 1, "all"), "fp4_e2m1": (2, 1, 1, "all"),
}


@functools.lru_cache(maxsize=None)
def published(name):
    """The table of a format of up to 16 bits, by its name in dtinfo-dtypes(7)."""
    if name in NAMED:
        return float_format(name, *NAMED[name])
    if name == "fp8_e8m0":
        return scale_format(name)
    if name == "hif8":
        return hifloat8()
    if name in ("posit8", "posit16"):
        return posit(name, int(name[5:]))
    if name.startswith("binary"):
        return p3109_format(name)
    if name == "bool":
        made = integer(name, 8, False)
        made.kind = "bool"
        return made
    found = re.fullmatch(r"(u?)int(\d+)", name)
    if found:
        return integer(name, int(found[2]), not found[1])
    name = {"e4m3": "fp8_e4m3fn", "e3m2": "fp6_e3m2", "e2m3": "fp6_e2m3", "e2m1": "fp4_e2m1"}.get(name, name)
    if name in NAMED:
        return published(name)
    found = re.fullmatch(r"(u?)e(\d+)m(\d+)(fnuz|fn|)(?:b(\d+))?", name)
    if not found:
        raise KeyError(name)
    unsigned, exponent, mantissa, family, bias = found.groups()
    usual = (1 << int(exponent) - 1) - 1 + (family == "fnuz")
    return float_format(name, int(exponent), int(mantissa), int(bias) if bias else usual, family or "ieee",
                        not unsigned)
