# SPDX-License-Identifier: MIT
"""Block formats from their definitions in OCP Microscaling 1.0, NVFP4, QLoRA, bitsandbytes and ggml, as dtinfo-quant(1)
and dtinfo-dtypes(7) state them: a block's scale by its rule, the codes, and the numbers they stand for. Where a definition
computes in fp32, each operation is one exact rational, rounded once.
"""

import math
import struct
from fractions import Fraction

from casting import INF, of_code
from published import published, two_to
from rounded import stored, stored_integer

ELEMENTS = {"mxfp8_e4m3": "fp8_e4m3fn", "mxfp8_e5m2": "fp8_e5m2", "mxfp6_e3m2": "fp6_e3m2", "mxfp6_e2m3": "fp6_e2m3",
            "mxfp4": "fp4_e2m1", "mxint8": "int8", "nvfp4": "fp4_e2m1"}
SIZES = {"nvfp4": 16, "nf4": 64, "bnb_fp4": 64}             # others: 32
PRECISION = {"fp8_e4m3fn": 4, "fp8_e5m2": 3, "fp6_e3m2": 3, "fp6_e2m3": 4, "fp4_e2m1": 2, "int8": 7}
NF4 = (-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0)
# Code 8, minus zero by its bits, is 0 in bitsandbytes' table of 16 numbers.
BNB_FP4 = (0, Fraction(1, 192), Fraction(2, 3), 1, Fraction(1, 3), Fraction(1, 2), Fraction(1, 6), Fraction(1, 4))
# The limits of bitsandbytes' kernel, in ascending order, and the codes between them.
BNB_LIMITS = ("0.00260417", "0.0859375", "0.20833333", "0.29166667", "0.4166667", "0.583333", "0.8333333")
BNB_ORDER = (0, 1, 6, 7, 4, 5, 2, 3)
QUIET_NAN = 0x7fc00000


def floor_log2(value):
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return power if two_to(power) <= value else power - 1


def ceil_log2(value):
    power = floor_log2(value)
    return power if two_to(power) == value else power + 1


def fp32(value):
    """The nearest fp32 number, ties to even; too large a magnitude is an infinity as a float. A float is exact before it,
    so that the struct module rounds it once."""
    if isinstance(value, float):
        try:
            return struct.unpack(">f", struct.pack(">f", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    value = Fraction(value)
    if value == 0:
        return value
    quantum = two_to(max(floor_log2(abs(value)), -126) - 23)
    count = abs(value) / quantum
    whole = count.numerator // count.denominator
    rest = count - whole
    if rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole % 2:
        whole += 1
    magnitude = whole * quantum
    if magnitude >= two_to(128):
        return float("-inf") if value < 0 else float("inf")
    return -magnitude if value < 0 else magnitude


def fp32_code(value, negative=False):
    """The code of an fp32 number; negative is the sign of a zero."""
    number = -0.0 if value == 0 and negative else float(value)
    return struct.unpack(">I", struct.pack(">f", number))[0]


def fp16_code(value, negative=False):
    """The code of the nearest fp16 number by the published table; negative is the sign of a zero."""
    return stored(published("fp16"), -0.0 if value == 0 and negative else value)


def product_with_fp16(code, factor):
    """The fp32 code of an fp16 scale times an integer, by the rules of IEEE 754 for zeros and infinities."""
    scale = of_code("fp16", code)
    negative = scale.negative != (factor < 0)
    if scale.kind == INF:
        return (0xff800000 if negative else 0x7f800000) if factor else QUIET_NAN
    return fp32_code(fp32(Fraction(scale.value) * factor), negative)


class Block:
    """One block: its inputs, the largest magnitude, and a place for the answer."""

    def __init__(self, cells, tensor_scale):
        self.inputs = [of_code("fp32", int(cell, 16)) for cell in cells]
        self.finite = all(x.kind == "finite" for x in self.inputs)
        self.values = [Fraction(x.value) if x.kind == "finite" else None for x in self.inputs]
        self.amax = max((abs(value) for value in self.values if value is not None), default=Fraction(0))
        self.tensor_scale = None if tensor_scale == "-" else Fraction(of_code("fp32", int(tensor_scale, 16)).value)


def element_limits(element):
    """The largest number of an element and the power of two in it; int8 counts in 1/64."""
    largest = Fraction(127, 64) if element == "int8" else Fraction(published(element).line[-1])
    return largest, floor_log2(largest)


def to_precision(value, bits):
    """A magnitude rounded to so many significant bits, halves up."""
    quantum = two_to(floor_log2(value) - bits + 1)
    count = value / quantum + Fraction(1, 2)
    return count.numerator // count.denominator * quantum


def mx_exponent(amax, element, rule):
    largest, emax = element_limits(element)
    if amax == 0:
        return -127
    power = {"floor": lambda: floor_log2(amax) - emax,
             "ceil": lambda: ceil_log2(amax) - emax,
             "rceil": lambda: ceil_log2(amax / largest),
             "rfloor": lambda: floor_log2(amax / largest),
             "even": lambda: floor_log2(to_precision(amax, PRECISION[element])) - emax}[rule]()
    return min(max(power, -127), 127)


def mx(block, name, rule):
    """Products and quotients by powers of two are exact in fp64, which fp32's range leaves room for."""
    element = ELEMENTS[name]
    if not block.finite:
        return broken(block, element, 0xff)
    power = mx_exponent(block.amax, element, rule)
    codes = [element_code(element, math.ldexp(x.value, -power), x.negative) for x in block.inputs]
    values = [fp32_code(fp32(math.ldexp(element_value(element, code), power)), is_minus(element, code))
              for code in codes]
    return power + 127, codes, values


def broken(block, element, scale):
    """A NaN or an infinity: the scale is NaN and so are all numbers."""
    del element
    return scale, None, [QUIET_NAN] * len(block.inputs)


def element_code(element, quotient, negative):
    table = published(element)
    if element == "int8":
        return stored_integer(table, quotient * 64, "nearest-even", "saturate")
    if quotient == 0:
        return table.zero(negative)
    return stored(table, quotient, "nearest-even", "saturate")


def element_value(element, code):
    if element == "int8":
        return of_code("int8", code).value / 64
    return published(element).values[code]


def is_minus(element, code):
    table = published(element)
    return element != "int8" and code == table.minus_zero or element_value(element, code) < 0


def nv_scale(amax, factor, tensor_scale):
    """amax / 6 / tensor scale times 1, or 3/2 to make the largest magnitude 4, in fp32, stored in fp8_e4m3fn, clamped."""
    wide = fp32(Fraction(fp32(fp32(amax / 6) / tensor_scale)) * factor)
    table = published("fp8_e4m3fn")
    code = table.largest if isinstance(wide, float) else stored(table, wide, "nearest-even", "saturate")
    return code, Fraction(table.values[code]), wide


def nv_codes(block, factor):
    if factor == 0:
        return [0] * len(block.inputs)
    return [element_code("fp4_e2m1", fp32(value / factor), x.negative) for value, x in zip(block.values, block.inputs)]


def nv_values(codes, factor):
    return [fp32(Fraction(element_value("fp4_e2m1", code)) * factor) for code in codes]


def nvfp4(block, rule):
    if not block.finite:
        return broken(block, "fp4_e2m1", 0x7f)
    candidates = []
    for larger in (1, Fraction(3, 2)) if rule == "four-six" else (1,):
        code, scale, wide = nv_scale(block.amax, larger, block.tensor_scale)
        factor = fp32(scale * block.tensor_scale)
        used = fp32(wide * block.tensor_scale) if rule == "unrounded" else factor
        codes = nv_codes(block, used)
        errors = sum((value - x) ** 2 for value, x in zip(nv_values(codes, factor), block.values))
        candidates.append((errors, code, codes, factor))
    _, code, codes, factor = min(candidates, key=lambda candidate: candidate[0])
    return code, codes, [fp32_code(value, is_minus("fp4_e2m1", c)) for value, c in zip(nv_values(codes, factor), codes)]


def nearest_nf4(quotient):
    """The index of the nearest of the 16 numbers."""
    table = [Fraction(value) for value in NF4]
    return min(range(16), key=lambda index: (abs(table[index] - quotient), index))


def nearest_bnb(quotient):
    limits = [fp32(Fraction(text)) for text in BNB_LIMITS]
    magnitude = BNB_ORDER[sum(abs(quotient) > limit for limit in limits)]
    return magnitude | (8 if quotient < 0 else 0)


def table_format(block, name):
    """nf4 and bnb_fp4: the scale is the largest magnitude, the code an index."""
    if not block.finite:
        return broken(block, name, QUIET_NAN)
    amax = block.amax
    quotients = [fp32(value / amax) if amax else Fraction(0) for value in block.values]
    if name == "nf4":
        codes = [nearest_nf4(q) for q in quotients]
        return fp32_code(amax), codes, [fp32_code(fp32(Fraction(NF4[code]) * amax)) for code in codes]
    codes = [nearest_bnb(q) for q in quotients]
    signed = [(-1 if code & 8 else 1) * fp32(Fraction(BNB_FP4[code & 7])) for code in codes]
    return fp32_code(amax), codes, [fp32_code(fp32(value * amax)) for value in signed]


def half_away(value):
    whole = (abs(value) + Fraction(1, 2)) // 1
    return -whole if value < 0 else whole


def reciprocal(scale):
    """1 / scale in fp32; 0 for a scale of zero and where it overflows: ggml leaves those codes to undefined behaviour of
    C, and all numbers are zeros anyway, because so is the scale in fp16."""
    inverse = fp32(1 / scale) if scale else Fraction(0)
    return Fraction(0) if isinstance(inverse, float) else inverse


def q8_0(block):
    """ggml: d = amax / 127 in fp32, stored as fp16; codes are round(x (1 / d)), halves away from zero."""
    if not block.finite:
        return broken(block, "int8", 0x7e00)
    scale = fp32(block.amax / 127)
    inverse = reciprocal(scale)
    codes = [int(half_away(fp32(value * inverse))) for value in block.values]
    code = fp16_code(scale)
    return code, [c % 256 for c in codes], [product_with_fp16(code, c) for c in codes]


def q4_0(block):
    """ggml: m, the first number of the largest magnitude, becomes -8: d = m / -8; codes are x (1 / d) + 8.5, cut."""
    if not block.finite:
        return broken(block, "uint4", 0x7e00)
    extreme = next((value for value in block.values if abs(value) == block.amax), Fraction(0))
    scale = fp32(extreme / -8)          # that of zeros is -0, because ggml begins with m = 0
    inverse = reciprocal(scale)
    codes = [min(15, int(fp32(fp32(value * inverse) + Fraction(17, 2)))) for value in block.values]
    code = fp16_code(scale, extreme >= 0)
    return code, codes, [product_with_fp16(code, c - 8) for c in codes]


def block_cells(name):
    """A function from a line's inputs to its scale, codes and values; codes are None where no definition gives any."""
    scale_digits = {"nf4": 8, "bnb_fp4": 8, "q8_0": 4, "q4_0": 4}.get(name, 2)
    code_digits = 2 if name[:5] in ("mxfp8", "mxfp6", "mxint") or name == "q8_0" else 1

    def expected(row):
        block = Block(row["inputs"].split(" "), row["tensor_scale"])
        if name == "nvfp4":
            scale, codes, values = nvfp4(block, row["rule"])
        elif name in ELEMENTS:
            scale, codes, values = mx(block, name, row["rule"])
        else:
            made = {"q8_0": q8_0, "q4_0": q4_0}.get(name)
            scale, codes, values = made(block) if made else table_format(block, name)
        codes = row["codes"] if codes is None else " ".join(f"0x{code:0{code_digits}x}" for code in codes)
        return {"scale": f"0x{scale:0{scale_digits}x}", "codes": codes,
                "values": " ".join(f"0x{value:08x}" for value in values)}
    return expected
