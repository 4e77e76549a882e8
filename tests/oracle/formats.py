# SPDX-License-Identifier: MIT
"""A reference model of every number format, written from the specifications.

Decoding goes code by code; rounding searches the format's own values and compares rationals exactly. It shares nothing
with the C core: neither its table of formats nor its way of truncating significands. Each format's source is named
next to it below.
"""

import bisect
import re
import sys
from fractions import Fraction

from philox import random_bits

INEXACT, OVERFLOW, UNDERFLOW, INVALID, SATURATED, NO_NAN = 1, 2, 4, 8, 16, 32

sys.set_int_max_str_digits(0)       # exact fp64 decimals have up to 1,075 digits, quotients more

ROUNDS = ("nearest-even", "nearest-away", "zero", "up", "down", "odd", "stochastic")
OVERFLOWS = ("native", "saturate", "saturate-finite", "wrap")

NAN, INF = "nan", "inf"


class Format:
    """One format. A magnitude index n counts magnitudes upward from code 0, as if no code were special; for every
    finite number it is the code without its sign."""

    def __init__(self, name, kind, exp, man, bias, inf=(), nan=(), minus_zero=False, ieee=False,
                 scale=False, even_code=False):
        self.name = name
        self.kind = kind                    # float, ufloat, int, uint, bool
        self.exp, self.man, self.bias = exp, man, bias
        self.signed = kind in ("float", "int")
        self.width = exp + man + (1 if self.signed else 0)
        self.sign_bit = 1 << (self.width - 1) if self.signed else 0
        self.inf = tuple(inf)               # code of +inf, then of -inf
        self.nan = nan                      # set of NaN codes
        self.minus_zero = minus_zero
        self.ieee = ieee                    # NaNs carry sign, quiet bit and payload
        self.scale = scale                  # powers of two without zero
        self.even_code = even_code          # P3109: without mantissa bits, the parity is that of the code
        self.is_float = kind in ("float", "ufloat")
        self._table = None
        self.posit = False
        if self.is_float:
            top = (1 << (self.width - (1 if self.signed else 0))) - 1
            if ieee:
                top = ((1 << exp) - 1 << man) - 1
            while top in self.nan or top in self.inf:
                top -= 1
            self.max_index = top

    def magnitude(self, index):
        """The value of a magnitude index, ignoring special codes."""
        if self.scale:
            return power_of_two(index - self.bias)
        exponent, mantissa = index >> self.man, index & ((1 << self.man) - 1)
        if exponent == 0:
            return mantissa * power_of_two(1 - self.bias - self.man)
        return ((1 << self.man) + mantissa) * power_of_two(exponent - self.bias - self.man)

    def table(self):
        """Magnitudes 0 .. max, and one more: the next one if the format had no limit."""
        if self._table is None:
            self._table = [self.magnitude(i) for i in range(self.max_index + 2)]
        return self._table

    def decode(self, code):
        """(class, negative, value): value is a Fraction, or None for inf and NaN."""
        if self.kind == "bool":
            return number(False, Fraction(int(code != 0)))
        if self.kind == "uint":
            return number(False, Fraction(code))
        if self.kind == "int":
            value = code - (1 << self.width) if code & self.sign_bit else code
            return number(value < 0, Fraction(abs(value)))
        negative = bool(code & self.sign_bit)
        if code in self.inf:
            return (INF, negative, None)
        if code in self.nan:
            return (NAN, negative, None)
        return number(negative, self.magnitude(code & ~self.sign_bit))

    def locate(self, value):
        """(index, fraction): the largest magnitude index at or below value >= 0, and the relative distance of value to
        the next one. Indices beyond max + 1 are not distinguished. A scale has no index below 2^-bias: (-1, None)."""
        if self.width <= 16:
            table = self.table()
            index = bisect.bisect_right(table, value) - 1
            if index > self.max_index:
                return self.max_index + 1, Fraction(0)
            if index < 0:
                return -1, None
            low, high = table[index], table[index + 1]
        else:
            if value >= self.magnitude(self.max_index + 1):
                return self.max_index + 1, Fraction(0)
            exponent = floor_log2(value) if value else 1 - self.bias
            exponent = max(exponent, 1 - self.bias)
            quantum = power_of_two(exponent - self.man)
            units = value // quantum
            index = (exponent + self.bias - 1 << self.man) + units
            low, high = self.magnitude(index), self.magnitude(index + 1)
        return index, (value - low) / (high - low)

    def is_odd(self, index):
        """Whether the significand of a magnitude index is odd (roundTiesToEven)."""
        if self.man > 0 or self.even_code:
            return bool(index & 1)
        return self.scale or index > 0      # every significand is 1, that of zero is 0

    def code_at(self, index):
        """The code of a magnitude index; index_of() is the inverse. Only tapered formats have another one."""
        return index

    def index_of(self, code):
        return code

    def unsigned(self, code):
        """A code without its sign; signed_code() is the inverse. Only posits have another one."""
        return code & ~self.sign_bit

    def signed_code(self, magnitude, negative):
        return magnitude | (self.sign_bit if negative and (magnitude or self.minus_zero) else 0)

    def normal_index(self):
        """That of the smallest normal number, which max_index may be below."""
        return 0 if self.scale else 1 << self.man

    def max_code(self):
        if self.kind == "bool":
            return 1
        if not self.is_float:
            return (1 << (self.width - (1 if self.signed else 0))) - 1
        return self.code_at(self.max_index)

    def lowest_code(self):
        if self.kind == "float":
            return self.signed_code(self.max_code(), True)
        return self.sign_bit if self.kind == "int" else 0

    def canonical_nan(self):
        if not self.nan:
            return None
        if self.ieee:
            return ((1 << self.exp) - 1 << self.man) | 1 << (self.man - 1)
        return min(self.nan)

    def values(self):
        """{value: code} of all finite codes, without negative zero."""
        found = {}
        for code in range(1 << self.width):
            cls, negative, value = self.decode(code)
            if cls not in (NAN, INF) and not (negative and value == 0):
                found[-value if negative else value] = code
        return found


class HiFloat8(Format):
    """Ascend HiFloat8 (arXiv 2409.16626): after the sign a dot field, a prefix code for the width D of the exponent
    field: 11 is 4, 10 is 3, 01 is 2, 001 is 1, 0001 is 0, and 0000 means a denormal number. The exponent field is a sign
    and a magnitude whose leading one is not stored; the rest is the mantissa. A denormal number's last three bits M
    are the exponent alone, 2^(M - 23). 0x80 is NaN, 0x6f and 0xef are infinities, and there is one zero.
    The magnitude index is the position in order of size."""

    DOTS = (("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0))

    def __init__(self, name):
        self.sorted = sorted((self.size(code), code) for code in range(128))
        self.index = {code: index for index, (_, code) in enumerate(self.sorted)}
        super().__init__(name, "float", 4, 3, 16, inf=(0x6f, 0xef), nan=(0x80,), even_code=True)
        self.max_index = self.index[0x6f] - 1

    @classmethod
    def size(cls, code):
        bits = f"{code:07b}"
        for dot, width in cls.DOTS:
            if bits.startswith(dot):
                exponent, mantissa = bits[len(dot):len(dot) + width], bits[len(dot) + width:]
                power = int("1" + exponent[1:], 2) if width else 0
                power = -power if exponent.startswith("1") else power
                return (1 + Fraction(int(mantissa, 2), 1 << len(mantissa))) * power_of_two(power)
        return power_of_two(code - 23) if code else Fraction(0)

    def magnitude(self, index):
        return self.sorted[index][0]

    def code_at(self, index):
        return self.sorted[index][1]

    def index_of(self, code):
        return self.index[code]

    def normal_index(self):
        return self.index[0x7e]             # 2^-15, the smallest number with a dot field for an exponent

    def decode(self, code):
        if code in self.inf or code in self.nan:
            return super().decode(code)
        return number(code >> 7 == 1, self.size(code & 0x7f))


class Posit(Format):
    """Standard for Posit Arithmetic (2022): after the sign, which negates the code in two's complement, a run of equal
    bits (the regime: r = run - 1 of ones, -run of zeros) and the bit that ends it, two exponent bits, of which those
    that do not fit are 0, and the fraction. The code of the sign alone is NaR. Rounding appends bits to the code: a
    number is rounded as its infinite code is, to nearest even; nothing becomes 0 or NaR."""

    def __init__(self, name, width):
        super().__init__(name, "float", 4, width - 5, {8: 25, 16: 57}[width], nan=(1 << width - 1,), even_code=True)
        self.max_index = (1 << width - 1) - 1
        self.posit = True

    @staticmethod
    def of_bits(bits):
        run = len(bits) - len(bits.lstrip(bits[0]))
        regime = run - 1 if bits[0] == "1" else -run
        rest = bits[run + 1:]
        fraction = rest[2:]
        power = 4 * regime + int(rest[:2].ljust(2, "0"), 2)
        return (1 + Fraction(int(fraction or "0", 2), 1 << len(fraction))) * power_of_two(power)

    def magnitude(self, index):
        if index == 0:
            return Fraction(0)
        if index > self.max_index:          # for callers that want a border
            return 16 * self.magnitude(self.max_index)
        return self.of_bits(f"{index:0{self.width - 1}b}")

    def locate(self, value):
        """The fraction is that of the infinite code: its bits after those that fit."""
        table = self.table()
        index = bisect.bisect_right(table, value) - 1
        if index >= self.max_index:
            return self.max_index + (value > table[self.max_index]), Fraction(0)
        if index == 0:
            return 0, value / table[1]
        regime, bits = divmod(floor_log2(value), 4)
        code = "1" * (regime + 1) + "0" if regime >= 0 else "0" * -regime + "1"
        code += f"{bits:02b}"
        fits = self.width - 1
        fraction = value / power_of_two(floor_log2(value)) - 1
        if len(code) <= fits:               # the fraction is cut
            return index, fraction * (1 << fits - len(code)) % 1
        rest = code[fits:]
        return index, (int(rest, 2) + fraction) / (1 << len(rest))

    def unsigned(self, code):
        return -code & (1 << self.width) - 1 if code & self.sign_bit else code

    def signed_code(self, magnitude, negative):
        return -magnitude & (1 << self.width) - 1 if negative else magnitude

    def normal_index(self):
        return 1

    def decode(self, code):
        if code in self.nan:
            return (NAN, False, None)
        return number(bool(code & self.sign_bit), self.magnitude(self.unsigned(code)))


def number(negative, magnitude):
    return ("zero" if magnitude == 0 else "finite", negative, magnitude)


def power_of_two(exponent):
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def floor_log2(value):
    """floor(log2(value)) of a positive Fraction."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if value >= power_of_two(guess) else guess - 1


class IeeeNans:
    """Exponent all ones and a nonzero mantissa, either sign."""

    def __init__(self, exp, man):
        self.inf, self.mask = ((1 << exp) - 1) << man, (1 << exp + man) - 1

    def __contains__(self, code):
        return code & self.mask > self.inf

    def __bool__(self):
        return self.mask > self.inf


def ieee(name, exp, man, bias=None):
    inf = ((1 << exp) - 1) << man
    return Format(name, "float", exp, man, (1 << exp - 1) - 1 if bias is None else bias,
                  inf=(inf, inf | 1 << exp + man), nan=IeeeNans(exp, man), minus_zero=True,
                  ieee=True)


def unsigned_ieee(name, exp, man):
    """The same without a sign: the magnitudes of the signed format."""
    return Format(name, "ufloat", exp, man, (1 << exp - 1) - 1, inf=(((1 << exp) - 1) << man,),
                  nan=IeeeNans(exp, man), ieee=True)


def p3109(name):
    """IEEE P3109 interim report 4.0: bias, the single zero, the single NaN, the place of infinity."""
    bits, precision, sign, domain = re.fullmatch(r"binary(\d+)p(\d+)([su])([ef])", name).groups()
    k, p, signed, extended = int(bits), int(precision), sign == "s", domain == "e"
    nan = 1 << k - 1 if signed else (1 << k) - 1
    inf = ()
    if extended:
        inf = ((1 << k - 1) - 1, (1 << k) - 1) if signed else ((1 << k) - 2,)
    return Format(name, "float" if signed else "ufloat", k - p if signed else k - p + 1, p - 1,
                  1 << (k - p - 1 if signed else k - p), inf=inf, nan=(nan,), even_code=True)


def finite_nan(name, exp, man, bias, nan, minus_zero=False):
    return Format(name, "float", exp, man, bias, nan=nan, minus_zero=minus_zero)


P3109_NAMES = (
    [f"binary8p{p}s{d}" for p in range(1, 8) for d in "ef"]
    + [f"binary8p{p}u{d}" for p in range(1, 9) for d in "ef"]
    + ["binary6p3sf", "binary6p4sf", "binary4p2se", "binary4p2sf"])


# Rows, and parsed names: around bytes, containers and the significand widths of the hub formats.
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 3, 5, 7, 9, 12, 24, 25, 48, 51, 52, 53, 54, 63)


def build():
    rows = [
        # IEEE 754-2019 table 3.5; bfloat16 and tf32 are the same with fewer mantissa bits
        ieee("fp64", 11, 52), ieee("fp32", 8, 23), ieee("fp16", 5, 10),
        ieee("tf32", 8, 10), ieee("bf16", 8, 7),
        # OCP OFP8 1.0
        ieee("fp8_e5m2", 5, 2),
        finite_nan("fp8_e4m3fn", 4, 3, 7, (0x7f, 0xff), minus_zero=True),
        # LLVM APFloat: Float8E5M2FNUZ, Float8E4M3FNUZ, Float8E4M3B11FNUZ, Float8E4M3, Float8E3M4
        finite_nan("fp8_e5m2fnuz", 5, 2, 16, (0x80,)),
        finite_nan("fp8_e4m3fnuz", 4, 3, 8, (0x80,)),
        finite_nan("fp8_e4m3b11fnuz", 4, 3, 11, (0x80,)),
        ieee("fp8_e4m3", 4, 3), ieee("fp8_e3m4", 3, 4),
        # OCP MX 1.0
        Format("fp8_e8m0", "ufloat", 8, 0, 127, nan=(0xff,), scale=True),
        # PTX ISA 9.4, 5.2.3: no sign, no infinity, one NaN; ue4m3 has 7 bits
        Format("fp8_ue4m3", "ufloat", 4, 3, 7, nan=(0x7f,)),
        Format("fp8_ue5m3", "ufloat", 5, 3, 15, nan=(0xff,)),
        finite_nan("fp6_e3m2", 3, 2, 3, (), minus_zero=True),
        finite_nan("fp6_e2m3", 2, 3, 1, (), minus_zero=True),
        finite_nan("fp4_e2m1", 2, 1, 1, (), minus_zero=True),
    ]
    rows += [HiFloat8("hif8"), Posit("posit8", 8), Posit("posit16", 16)]
    rows += [p3109(name) for name in P3109_NAMES]
    rows += [Format(f"int{n}", "int", 0, n - 1, 0) for n in WIDTHS]
    rows += [Format(f"uint{n}", "uint", 0, n, 0) for n in WIDTHS]
    rows += [Format("bool", "bool", 0, 8, 0)]
    # Parsed names: the general forms behind the rows above.
    rows += [
        ieee("e6m9", 6, 9), ieee("e15m48", 15, 48), ieee("e3m5", 3, 5), ieee("e5m0", 5, 0),
        ieee("e5m6b3", 5, 6, bias=3),
        finite_nan("e2m4fn", 2, 4, 1, (0x3f, 0x7f), minus_zero=True),
        finite_nan("e3m3fnuz", 3, 3, 4, (0x40,)),
        unsigned_ieee("ue3m4", 3, 4), unsigned_ieee("ue6m10", 6, 10),
        unsigned_ieee("ue11m52", 11, 52), Format("ue2m3fn", "ufloat", 2, 3, 1, nan=(0x1f,)),
        Format("ue5m0fn", "ufloat", 5, 0, 15, nan=(0x1f,)),
    ]
    return {row.name: row for row in rows}


FORMATS = build()


def floats(max_width=64, min_width=0):
    return [f for f in FORMATS.values() if f.is_float and min_width <= f.width <= max_width]


def integers():
    return [f for f in FORMATS.values() if f.kind in ("int", "uint")]


# Rounding and storing.

def goes_up(mode, fraction, odd, negative, seed, index):
    """Whether a magnitude `fraction` of the way to its upper neighbour rounds up to it."""
    if fraction == 0:
        return False
    if mode == "nearest-even":
        return fraction > Fraction(1, 2) or (fraction == Fraction(1, 2) and odd)
    if mode == "nearest-away":
        return fraction >= Fraction(1, 2)
    if mode == "zero":
        return False
    if mode == "up":
        return not negative
    if mode == "down":
        return negative
    if mode == "odd":
        return not odd
    return (fraction * (1 << 32)) // 1 + random_bits(seed, index) >= 1 << 32


def to_infinity(mode, negative):
    """IEEE 754-2019 7.4: whether an overflow becomes infinity."""
    return (mode in ("nearest-even", "nearest-away", "stochastic")
            or (mode == "up" and not negative) or (mode == "down" and negative))


def limit(fmt, negative, flags):
    return (fmt.lowest_code() if negative else fmt.max_code()), flags


def beyond(fmt, negative, flags):
    """Infinity, otherwise NaN, otherwise the largest finite number."""
    if fmt.inf and (not negative or fmt.signed):
        return fmt.inf[1 if negative else 0], flags
    if fmt.nan:
        return nan_code(fmt, negative), flags
    return limit(fmt, negative, flags | SATURATED)


def nan_code(fmt, negative):
    """The canonical NaN, with a sign if the format has NaNs of both signs."""
    code = fmt.canonical_nan()
    if negative and fmt.signed and (code | fmt.sign_bit) in fmt.nan:
        code |= fmt.sign_bit
    return code


def negative_into_unsigned(fmt, overflow, infinite):
    if overflow == "saturate" or (overflow == "saturate-finite" and not infinite):
        return fmt.lowest_code(), OVERFLOW | INEXACT | SATURATED
    return fmt.canonical_nan(), INVALID | INEXACT


def encode(fmt, cls, negative, value, mode="nearest-even", overflow="native", seed=0, index=0,
           place=None):
    """(code, flags) of a number: class, sign, magnitude. place: fmt.locate(value) if known. A NaN here has the quiet
    bit and no other payload."""
    if fmt.kind == "bool":
        return (0, 0) if cls == "zero" else (1, 0 if (cls, negative, value) == ("finite", False, 1)
                                             else INEXACT)
    if not fmt.is_float:
        return encode_integer(fmt, cls, negative, value, mode, overflow, seed, index)
    if cls == NAN:
        if not fmt.nan:
            return fmt.max_code(), INVALID | INEXACT | NO_NAN
        return nan_code(fmt, negative), 0
    if cls == INF:
        if negative and not fmt.signed:
            return negative_into_unsigned(fmt, overflow, True)
        if overflow == "saturate":
            return limit(fmt, negative, OVERFLOW | INEXACT | SATURATED)
        return beyond(fmt, negative, 0 if fmt.inf else OVERFLOW | INEXACT)
    if value == 0:
        if fmt.scale:
            return 0, INEXACT | UNDERFLOW
        return (fmt.sign_bit if negative and fmt.minus_zero else 0), 0

    low, fraction = place or fmt.locate(value)
    if fmt.scale and negative:
        return negative_into_unsigned(fmt, overflow, False)
    if low < 0:
        return 0, INEXACT | UNDERFLOW
    stored = low + goes_up(mode, fraction, fmt.is_odd(low), negative, seed, index)
    if fmt.posit:
        stored = max(stored, 1)
        if stored > fmt.max_index:
            return limit(fmt, negative, OVERFLOW | INEXACT | SATURATED)
    if negative and not fmt.signed and stored > 0:
        return negative_into_unsigned(fmt, overflow, False)
    if stored > fmt.max_index:
        flags = OVERFLOW | INEXACT
        if overflow in ("saturate", "saturate-finite"):
            return limit(fmt, negative, flags | SATURATED)
        if to_infinity(mode, negative):
            return beyond(fmt, negative, flags)
        return limit(fmt, negative, flags)
    flags = INEXACT if fraction else 0
    if flags and stored < fmt.normal_index():
        flags |= UNDERFLOW              # IEEE 754-2019 7.5; a scale's smallest number is normal
    return fmt.signed_code(fmt.code_at(stored), negative), flags


def encode_integer(fmt, cls, negative, value, mode, overflow, seed, index):
    if cls == NAN:
        return 0, INVALID | INEXACT
    low = -(1 << fmt.width - 1) if fmt.signed else 0
    high = fmt.max_code()
    mask = (1 << fmt.width) - 1
    if cls == INF:
        flags = INVALID | OVERFLOW | INEXACT
        if overflow == "wrap":
            return 0, flags
        return (low if negative else high) & mask, flags | SATURATED
    whole = value // 1
    whole += goes_up(mode, value - whole, bool(whole & 1), negative, seed, index)
    stored = -whole if negative else whole
    if not low <= stored <= high:
        if overflow == "wrap":
            return stored & mask, OVERFLOW | INEXACT
        return (low if stored < low else high) & mask, OVERFLOW | INEXACT | SATURATED
    return stored & mask, INEXACT if value.denominator != 1 else 0


# Text.

def decimal_text(value):
    """The exact decimal, in exponent form, of a Fraction whose denominator divides a power of ten."""
    denominator = value.denominator
    twos = (denominator & -denominator).bit_length() - 1
    fives, rest = 0, denominator >> twos
    while rest > 1:
        rest, remainder = divmod(rest, 5)
        assert remainder == 0, value
        fives += 1
    scale = max(twos, fives)
    digits = value.numerator * 2 ** (scale - twos) * 5 ** (scale - fives)
    return f"{digits}e-{scale}" if scale else str(digits)


def hex_text(value):
    """The exact hexadecimal form of a Fraction whose denominator is a power of two."""
    return f"0x{value.numerator:x}p-{value.denominator.bit_length() - 1}"
