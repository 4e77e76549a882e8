# SPDX-License-Identifier: MIT
"""NVFP4, the same kernel: a block of 16 symbolic numbers, any fp32 as the tensor's scale.

  scale   the e4m3 code nearest to rounded(rounded(amax / 6) / tensor scale), saturating; 0x7f with a NaN or an infinity
  factor  p: the number of that code times the tensor's scale
  code    the e2m1 code nearest to x / p, or to x r with r = (1 / tensor scale) / S, saturating; 0 where p is not above 0

Which numbers are divided by which is part of the claim; what a division or product of fp32 gives is not looked at. So each code is
one rounding to e2m1 of the documented quotient, for any quotient. Not in the claim: scales that are stored as a divisor, Four Over Six, unrounded scales, and the exact division."""
import z3

from family_blocks import C, INFINITY, SATURATING, block, cut_at_maximum, number
from lanes import FORMATS, SOURCES, right
from structural import Structural, Uniform, array, divide, multiply, operations, same
from symbolic import as_float, lookup
from theorem import Claim, Theorem, compiled, defined

FAMILY = "NVFP4, the scale of a block and codes: `quant_lanes_blocks.c`, for all numbers of a block and all tensor scales"
SIX, ONE = number(0x40c00000), number(0x3f800000)
DIVISIONS = ("x / p", "x r")
E4M3 = FORMATS["fp8_e4m3fn"]


def number_of(scale):
    """The fp32 pattern of an e4m3 code of 8 bits; negative ones and NaNs aside."""
    values = [SOURCES["fp32"].pattern(E4M3.magnitude(index), False) for index in range(E4M3.max_index + 1)]
    return lookup([number(value) for value in values + values[-1:] * (128 - len(values))], z3.Extract(6, 0, scale), 6)


def quantized(division):
    def claim():
        amax = z3.BitVec("amax", 32)
        run = Structural(compiled(C), ("fp.mul", "fp.div"), cut_at_maximum(amax))
        numbers, x = array(run, "x", 16, 32)
        tensor = z3.BitVec("tensor", 32)
        codes, scale = block("nvfp4", run, x, 0, 0, division, tensor)
        share, s, p, r = divide(divide(amax, SIX), tensor), z3.BitVec("share", 32), z3.BitVec("p", 32), z3.BitVec("r", 32)
        of_scale = number_of(scale.bits)
        alike = Uniform(numbers, "x", [(share, s)])
        special = z3.UGE(amax, INFINITY)
        alike.add(0, z3.And(defined(scale), z3.If(special, scale.bits == 0x7f, right(
            SOURCES["fp32"], E4M3, "nearest-even", s, SATURATING, scale.bits))))
        operands, pairs = [], {}
        for i, code in enumerate(codes):
            for each in operations(code.bits, "fp.div_32", numbers[i]):
                operands.append((each.arg(1), multiply(of_scale, tensor), p))
            for each in operations(code.bits, "fp.mul_32", numbers[i]):
                other = each.arg(0) if each.arg(1).eq(numbers[i]) else each.arg(1)
                operands.append((other, divide(divide(ONE, tensor), of_scale), r))
        for code_of, wanted, name in operands:
            if code_of.get_id() not in pairs:
                pairs[code_of.get_id()] = (code_of, name)
                normal = z3.And(z3.Not(special), z3.ULE(alike.general(scale.bits), E4M3.max_index))
                alike.add(0, z3.Implies(normal, alike.general(same(code_of, wanted))))
        alike.replaced = list(pairs.values()) + alike.replaced
        q = divide(alike.number, p)
        if division == 1:
            q = z3.If(z3.ULT(r & 0x7fffffff, INFINITY), multiply(alike.number, r), q)
        any_q, code_bits = z3.BitVec("q", 32), z3.BitVec("code", 8)
        ok = z3.If(z3.Or(special, z3.Not(z3.fpGT(as_float(p), as_float(number(0))))), code_bits == 0,
                   z3.And(right(SOURCES["fp32"], FORMATS["fp4_e2m1"], "nearest-even", any_q, SATURATING, code_bits)))
        for i, code in enumerate(codes):
            alike.add(i, z3.substitute(z3.And(defined(code), ok), (any_q, q), (code_bits, alike.general(code.bits))))
            for each in run.undefined:
                alike.add(i, z3.Not(each))
        run.undefined = []
        run.axioms += [z3.ULE(alike.number & 0x7fffffff, amax), z3.ULT(amax, 1 << 31)]
        return Claim(run, {str(each): each for each in (alike.number, amax, tensor, p, r, s)}, alike.goal())
    return claim


def theorems(sample):
    for division, name in enumerate(DIVISIONS):
        if not sample or division == 0:
            yield Theorem("nvfp4", name, quantized(division))
