# SPDX-License-Identifier: MIT
"""A reference model of quantization in exact rationals, written from the specifications and sources: OCP Microscaling
Formats 1.0, NVIDIA's NVFP4, QLoRA's NF4, bitsandbytes' FP4, ggml's Q8_0 and Q4_0, ONNX QuantizeLinear,
torch.quantize_per_tensor.

fp32 numbers are Python floats, which hold them exactly. It shares nothing with the C core.
"""

import array
import bisect
import ctypes
import math
import random
import struct
import subprocess
import sys
from fractions import Fraction

from formats import FORMATS, NAN, floor_log2, power_of_two
from fp32_model import EPS, LARGEST, LEAST_NORMAL, add, bits, divide, multiply, near, number, round32

TRUE, RECIPROCAL, EXACT = range(3)
CLAMP, AS_TORCH, AS_TORCH_CHANNEL = range(3)
NONE, FULL, HALF = range(3)
ZERO_ONNX, ZERO_TORCH = range(2)
FLOOR, CEIL, RCEIL, EVEN, RFLOOR = range(5)
SIX, FOUR_SIX, UNROUNDED, FOUR = range(4)      # FOUR is half of FOUR_SIX

INTEGERS = ("int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16")
FLOATS = ("fp8_e4m3fn", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e5m2fnuz", "fp8_e4m3", "fp8_e3m4", "fp6_e3m2", "fp6_e2m3",
          "fp4_e2m1", "binary8p3se")

# name: family, element, scale, length
BLOCKS = {"mxfp8_e4m3": ("mx", "fp8_e4m3fn", "fp8_e8m0", 32), "mxfp8_e5m2": ("mx", "fp8_e5m2", "fp8_e8m0", 32),
          "mxfp6_e3m2": ("mx", "fp6_e3m2", "fp8_e8m0", 32), "mxfp6_e2m3": ("mx", "fp6_e2m3", "fp8_e8m0", 32),
          "mxfp4": ("mx", "fp4_e2m1", "fp8_e8m0", 32), "mxint8": ("mx", "int8", "fp8_e8m0", 32),
          "nvfp4": ("nv", "fp4_e2m1", "fp8_e4m3fn", 16), "nf4": ("nf", "uint4", "fp32", 64),
          "bnb_fp4": ("nf", "uint4", "fp32", 64),
          "q8_0": ("q8", "int8", "fp16", 32), "q4_0": ("q4", "uint4", "fp16", 32)}

NF4 = [ctypes.c_float(x).value for x in
       (-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
        -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
        0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0)]
# get_4bit_type("fp4"): twelfths, by code; zero has no sign.
BNB_FP4 = [ctypes.c_float(sign * (x / 12)).value for sign in (1, -1) for x in (0, 0.0625, 8, 12, 4, 6, 2, 3)]
BNB_FP4[8] = 0.0
BNB_FP4_PIVOTS = [ctypes.c_float(x).value for x in
                  (0.00260417, 0.0859375, 0.20833333, 0.29166667, 0.4166667, 0.583333, 0.8333333)]
TABLES = {"nf4": NF4, "bnb_fp4": BNB_FP4}
ZERO = {"nf4": 7, "q4_0": 8}  # the code of zero, if not 0


def bnb_fp4_code(q):
    """The search of dQuantizeFP4 (csrc/kernels.cu) through its pivots, level by level."""
    x, sign = abs(q), 8 if q < 0 else 0
    p = BNB_FP4_PIVOTS
    if x > p[3]:
        return sign + ((3 if x > p[6] else 2) if x > p[5] else (5 if x > p[4] else 4))
    if x > p[1]:
        return sign + (7 if x > p[2] else 6)
    return sign + (1 if x > p[0] else 0)


# Talking to the probe.

def ask(probe, requests):
    """The answers, one array of 32-bit words each, to requests of (line, words)."""
    data = b"".join(line.encode() + b"\n" + words.tobytes() for line, words in requests)
    done = subprocess.run([probe], input=data, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"the probe ended with status {done.returncode}")
    answer = array.array("I")
    answer.frombytes(done.stdout)
    return answer


def words(numbers):
    return array.array("I", numbers)


# Codes.

class Element:
    """A small format: encodes a magnitude to nearest even, saturating."""

    def __init__(self, name):
        self.format = FORMATS[name]
        table = self.format.table()
        self.borders = [(a + b) / 2 for a, b in zip(table, table[1:])]
        self.fast = [float(b) for b in self.borders]
        self.largest = table[self.format.max_index]

    def encode(self, x, negative):
        """(code, whether it saturated) of x, a float or a Fraction, possibly infinite."""
        magnitude = abs(x)
        borders = self.fast if isinstance(x, float) else self.borders
        index = bisect.bisect_left(borders, magnitude)
        if index < len(borders) and borders[index] == magnitude and index % 2 == 1:
            index += 1
        beyond = index > self.format.max_index
        index = min(index, self.format.max_index)
        sign = negative and (index > 0 or self.format.minus_zero)
        return index | (self.format.sign_bit if sign else 0), beyond

    def nan(self):
        return 0 if not self.format.nan else self.format.canonical_nan()


_elements = {}


def element(name):
    return _elements.setdefault(name, None) or _elements.__setitem__(name, Element(name)) or _elements[name]


def value_of(name, code):
    """The value of a code, as a float."""
    cls, negative, value = FORMATS[name].decode(code)
    if cls == NAN:
        return math.nan
    magnitude = math.inf if value is None else float(value)
    return -magnitude if negative else magnitude


def integer_range(name):
    width = FORMATS[name].width
    return (-(1 << width - 1), (1 << width - 1) - 1) if FORMATS[name].signed else (0, (1 << width) - 1)


def mask(name, integer):
    return integer & (1 << FORMATS[name].width) - 1


# Affine.

def quotient(division, x, s):
    if division == TRUE:
        return divide(x, s)
    if division == RECIPROCAL:
        return multiply(x, divide(1.0, s))
    return x if x == 0 or not math.isfinite(x) else Fraction(x) / Fraction(s)


def affine_quantize(code, low, high, division, specials, s, z, x):
    """(code, what)."""
    q = quotient(division, x, s)
    finite = math.isfinite(x)
    nan = not isinstance(q, Fraction) and math.isnan(q)
    what = 0 if finite else 2
    if code not in INTEGERS:
        if nan:
            return element(code).nan(), what
        made, beyond = element(code).encode(q, math.copysign(1.0, x) < 0)
        return made, what | (beyond and finite)
    if nan:
        place = z
        if specials != CLAMP:
            place = 0 if specials == AS_TORCH_CHANNEL else 2147483520 + z
    else:
        infinite = not isinstance(q, Fraction) and math.isinf(q)
        place = (10**12 if q > 0 else -10**12) if infinite else round(q) + z
        what |= finite and not low <= place <= high
        if specials == AS_TORCH:
            place = max(min(10**12 if infinite and q > 0 else place - z, 2147483520), -2**31) + z
    if specials == AS_TORCH:
        place = (place + 2**31) % 2**32 - 2**31
    if not (nan and specials == AS_TORCH_CHANNEL):
        place = max(low, min(high, place))
    return mask(code, place), what


def affine_back(code, s, z, bits_of_code):
    value = value_of(code, bits_of_code)
    return near((value - z) * s) if code in INTEGERS else multiply(value, s)


def choose(code, symmetry, rule, low_end, high_end):
    """(scale, zero point, low, high)."""
    a, b = Fraction(min(low_end, 0.0)), Fraction(max(high_end, 0.0))
    amax = max(abs(Fraction(low_end)), abs(Fraction(high_end)))
    zero, low, high = 0, 0, 0
    if code not in INTEGERS:
        rule, top, span = ZERO_ONNX, amax, element(code).largest
    else:
        low, high = integer_range(code)
        signed = low < 0
        zero = 0 if signed else (high + 1) // 2
        if symmetry == FULL:
            low = -high if signed else 1
            top, span = amax, high - zero
        elif symmetry == HALF:
            top, span = amax, Fraction(high - low, 2)
        else:
            step = power_of_two(max(floor_log2(b - a), -126) - 23) if b != a else 1
            top, span = round((b - a) / step) * step, high - low
    least = EPS if rule == ZERO_TORCH else LEAST_NORMAL
    s = max(least, min(LARGEST, round32(top / span))) if top else (EPS if rule == ZERO_TORCH else 1.0)
    if code in INTEGERS and symmetry == NONE:
        steps = divide(float(a), s)
        zero = low - round(Fraction(steps)) if rule == ZERO_TORCH else round(Fraction(add(float(low), -steps)))
        zero = max(low, min(high, zero))
    return s, zero, low, high


# Blocks.

def is_special(block):
    return any(not math.isfinite(x) for x in block)


def mx_exponent(name, rule, amax):
    code = BLOCKS[name][1]
    largest = Fraction(127, 64) if code == "int8" else element(code).largest
    mantissa = 6 if code == "int8" else FORMATS[code].man
    if amax == 0:
        return -127
    amax = Fraction(amax)
    emax = floor_log2(largest)
    if rule == FLOOR:
        exponent = floor_log2(amax) - emax
    elif rule == CEIL:
        exponent = floor_log2(amax) + (amax != power_of_two(floor_log2(amax))) - emax
    elif rule in (RCEIL, RFLOOR):
        exponent = floor_log2(amax / largest)
        exponent += rule == RCEIL and amax > largest * power_of_two(exponent)
    else:
        step = power_of_two(floor_log2(amax) - mantissa)
        exponent = floor_log2((amax / step + Fraction(1, 2)) // 1 * step) - emax
    return max(-127, min(127, exponent))


def half(d):
    """(fp16 code, whether it is infinite)."""
    magnitude = abs(d)
    if magnitude >= 65520:
        code = 0x7C00
    else:
        code = struct.unpack("<H", struct.pack("<e", magnitude))[0]
    return code | (0x8000 if math.copysign(1.0, d) < 0 else 0), code == 0x7C00


class Block:
    """The scale of one block, and the encoding of each of its numbers."""

    def __init__(self, name, block, rule=FLOOR, division=TRUE, tensor=1.0, divisor=None):
        self.name, self.division, self.tensor = name, division, tensor
        self.family, self.code_name, self.scale_name, self.length = BLOCKS[name]
        self.special, self.all_clipped, self.inverse = is_special(block), False, math.inf
        self.amax = math.nan if self.special else max(abs(x) for x in block)
        self.scale_code = FORMATS[self.scale_name].canonical_nan() if self.special else self.choose(block, rule)
        self.scale = value_of(self.scale_name, self.scale_code)
        self.multiplier = self.by = self.scale   # of numbers; what codes are divided by
        if self.family == "nv":   # a file may store a divisor, the reciprocal of the tensor scale
            whole = lambda scale: divide(scale, divisor) if divisor else multiply(scale, tensor)
            unrounded = rule == UNROUNDED and not self.special
            used = divide(divide(self.amax, 6.0), tensor) if unrounded else self.scale
            self.multiplier = whole(self.scale)
            self.by = divide(self.amax, 6.0) if unrounded and division == EXACT else whole(used)
            self.inverse = divide(divide(1.0, tensor), used)
        elif self.family == "nf":
            self.inverse = divide(1.0, self.scale)
        if self.family == "nv" and rule == FOUR_SIX and not self.special:
            four = Block(name, block, FOUR, division, tensor, divisor)
            if four.error(block) < self.error(block):
                self.__dict__.update(four.__dict__)

    def error(self, block):
        """The sum of squares: differences in fp32, the sum in fp64."""
        total = 0.0
        for x in block:
            back = self.back(self.store(x)[0])
            difference = round32(Fraction(back) - Fraction(x)) if math.isfinite(back) else back - x
            total += difference * difference
        return total

    def choose(self, block, rule):
        """Chooses the code of the scale."""
        if self.family == "mx":
            return mx_exponent(self.name, rule, self.amax) + 127
        if self.family == "nv":
            exact = self.division == EXACT
            scale = Fraction(self.amax) / ((4 if rule == FOUR else 6) * Fraction(self.tensor)) if exact else \
                multiply(divide(divide(self.amax, 6.0), self.tensor), 1.5 if rule == FOUR else 1.0)
            return element(self.scale_name).encode(scale, False)[0]
        if self.family == "nf":
            return bits(self.amax)
        d = divide(self.amax, 127.0)
        if self.family == "q4":
            d = divide(next(x for x in block if abs(x) == self.amax) if self.amax else 0.0, -8.0)
        self.inverse = divide(1.0, d)
        code, self.all_clipped = half(d)
        return code

    def quotient(self, x):
        """A number in units of the scale; None if undefined."""
        if self.special or not math.isfinite(x):
            return None
        if self.family in ("q8", "q4"):
            return multiply(x, self.inverse) if math.isfinite(self.inverse) else None
        if self.family == "mx":
            return math.ldexp(x, 127 - self.scale_code)
        if self.by == 0:
            return None
        if self.division == RECIPROCAL:
            return multiply(x, self.inverse) if math.isfinite(self.inverse) else divide(x, self.by)
        return quotient(self.division, x, self.by)

    def store(self, x):
        """(code, whether it was clipped)."""
        q = self.quotient(x)
        if q is None:
            return ZERO.get(self.name, 0), self.all_clipped
        if self.name == "mxint8":
            place = round(Fraction(q) * 64)
            return max(-128, min(127, place)) & 255, not -128 <= place <= 127
        if self.name == "bnb_fp4":
            return bnb_fp4_code(q), False
        if self.family == "nf":
            return min(range(16), key=lambda k: (abs(Fraction(NF4[k]) - Fraction(q)), k)), False
        if self.family == "q8":
            return (1 if q >= 0 else -1) * ((abs(Fraction(q)) + Fraction(1, 2)) // 1) & 255, self.all_clipped
        if self.family == "q4":
            place = math.trunc(add(q, 8.5))
            return min(15, place), self.all_clipped or place > 15
        return element(self.code_name).encode(q, math.copysign(1.0, x) < 0)

    def number(self, code):
        return element_value(self.name, code)

    def back(self, code):
        return multiply(self.number(code), self.multiplier)


def block_quantize(name, rule, division, tensor, block):
    """amax, scale, clipped, special, codes."""
    made = Block(name, block, rule, division, tensor)
    stored = [made.store(x) for x in block]
    return [bits(made.amax), made.scale_code, sum(clipped for _, clipped in stored), int(made.special)] + \
        [code for code, _ in stored]


def element_value(name, code):
    family, dtype, _, _ = BLOCKS[name]
    if family == "nf":
        return TABLES[name][code]
    if family == "q4":
        return float(code - 8)
    value = value_of(dtype, code)
    return value / 64 if name == "mxint8" else value


# Numbers to try.

def neighbours(x, reach=1):
    """x and the neighbouring fp32 numbers."""
    code = bits(x)
    return [number(max(0, min(0x7F7FFFFF, (code & 0x7FFFFFFF) + d)) | code & 0x80000000)
            for d in range(-reach, reach + 1)]


def random_number(rng, spread):
    return number(bits(near(rng.gauss(0, 1) * 2.0**rng.uniform(-spread, spread))))


def any_number(rng):
    """A finite number with a random exponent."""
    return number(rng.randrange(0x7F800000) | rng.choice((0, 0x80000000)))


def generator(*seed):
    return random.Random(repr(seed))
