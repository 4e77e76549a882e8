# SPDX-License-Identifier: MIT
"""Stochastic rounding and its random word, form A of P3109: with d the discarded part of a last place, away from zero when
floor(d 2^32) + R >= 2^32. The specification is exact: a number is a significand times a power of two, and so is the border
v + ulp (2^32 - R) / 2^32 at which it goes up; they are compared with their bits where they belong. The random word is an input, as
are the number and the policies."""
import z3

from family_encode_integer import REACH, WIDE, stored_integer
from lanes import POLICIES, SOURCES, Run, beyond_code, bytes_of, chosen, constants, container, decoded, encoder_bytes, \
    formats, infinity_code, lane, module, negative_into_unsigned, not_a_number, takes, zero_code
from lanes_shown import RANDOM, encoding
from seeded import Bug
from theorem import Claim, Theorem, defined

FAMILY = "Stochastic rounding's condition on its random word: `lanes_encode.c`, for all numbers and all random words"
ROUND = "stochastic"
EXPONENT = 20  # bits of exponents


def parts(source, x):
    """A source's magnitude: significand and exponent of its last bit."""
    if not source.is_float:
        magnitude = source.magnitude(x)
        return magnitude, z3.BitVecVal(0, EXPONENT)
    return fields(source.format, source.magnitude(x))


def fields(fmt, index):
    """Significand and exponent of the last bit of a magnitude index: of a float's code without its sign."""
    width = index.size()
    field = z3.LShR(index, fmt.man)
    mantissa = index & ((1 << fmt.man) - 1)
    wide = z3.ZeroExt(EXPONENT - width, field) if width < EXPONENT else z3.Extract(EXPONENT - 1, 0, field)
    if fmt.scale:
        return z3.BitVecVal(1, width), wide - fmt.bias
    significand = z3.If(field == 0, mantissa, mantissa | (1 << fmt.man))
    return significand, z3.If(wide == 0, z3.BitVecVal(1, EXPONENT), wide) - (fmt.bias + fmt.man)


def at_least(number, border, border_bits):
    """Whether one significand times a power of two is another or more. border: of at most border_bits bits."""
    (x, ex), (b, eb) = number, border
    width = max(x.size() + border_bits, border_bits + x.size()) + 2
    wide_x, wide_b = z3.ZeroExt(width - x.size(), x), z3.ZeroExt(width - b.size(), b)
    up, down = ex - eb, eb - ex

    def by(value, count, most):
        shift = z3.ZeroExt(width - EXPONENT, count) if width > EXPONENT else z3.Extract(width - 1, 0, count)
        return z3.If(z3.UGT(count, most), z3.BitVecVal(0, width), value << shift), z3.UGT(count, most)
    left, far_left = by(wide_x, up, border_bits)
    right, far_right = by(wide_b, down, x.size())
    # Shifted further than the other one is long, all but zero is larger.
    above = z3.If(far_left, z3.Or(x != 0, b == 0), z3.UGE(left, wide_b))
    below = z3.If(far_right, b == 0, z3.UGE(wide_x, right))
    return z3.If(up >= 0, above, below)


def float_right(source, fmt, x, random, policy, code):
    """Whether a code is right for a finite number that is not zero."""
    number, negative, width = parts(source, x), source.sign(x), code.size()
    bits = max(fmt.width, 33) + 34  # of borders
    beyond = code == beyond_code(fmt, ROUND, policy, negative)
    threshold = (z3.BitVecVal(1, 33) << 32) - z3.ZeroExt(1, random)  # 2^32 - R

    def from_index(index, more):
        """Whether the number is at least the value of an index plus more / 2^32 of its last place."""
        significand, exponent = fields(fmt, index)
        border = (z3.ZeroExt(bits - index.size(), significand) << 32) + z3.ZeroExt(bits - 33, more)
        return at_least(number, (border, exponent - 32), fmt.man + 35)

    none, one = z3.BitVecVal(0, 33), z3.BitVecVal(1, 33) << 32
    size = max(fmt.max_index.bit_length() + 1, 2)

    def holds(index):
        return z3.And(from_index(index, none), z3.Not(from_index(index, one)))
    magnitude = code & (((1 << width) - 1) ^ fmt.sign_bit)
    index = z3.Extract(size - 1, 0, z3.ZeroExt(size, magnitude))
    top = z3.BitVecVal(fmt.max_index, size)
    stays = z3.And(holds(index), z3.Not(from_index(index, threshold)))
    rises = z3.And(index != 0, holds(index - 1), from_index(index - 1, threshold))
    inside = z3.And(z3.ULE(magnitude, fmt.max_index), z3.Or(stays, rises), sign_right(fmt, code, magnitude, negative))
    overflows = z3.And(from_index(top, none), from_index(top, threshold))
    small = z3.BoolVal(False)
    if fmt.scale:  # all below the smallest number becomes it
        small = z3.Not(from_index(z3.BitVecVal(0, size), none))
    goal = z3.If(overflows, beyond, z3.If(small, code == 0, inside))
    if fmt.signed:
        return goal
    wrong = code == chosen(policy, [negative_into_unsigned(fmt, overflow, False)[0] for overflow, _ in POLICIES], width)
    zero = z3.BitVecVal(0, size)
    to_zero = z3.BoolVal(False) if fmt.scale else z3.And(holds(zero), z3.Not(from_index(zero, threshold)))
    return z3.If(negative, z3.If(to_zero, code == 0, wrong), goal)


def sign_right(fmt, code, magnitude, negative):
    if not fmt.signed:
        return z3.BoolVal(True)
    width = code.size()
    marked = z3.And(negative, z3.Or(magnitude != 0, z3.BoolVal(bool(fmt.minus_zero))))
    return code & fmt.sign_bit == z3.If(marked, z3.BitVecVal(fmt.sign_bit, width), z3.BitVecVal(0, width))


def integer_right(source, fmt, x, random, policy, code):
    """The magnitude in units of 2^-32, plus the random word, without its fraction."""
    (significand, exponent), size = parts(source, x), REACH + 34
    wide = z3.ZeroExt(size - significand.size(), significand)
    place = exponent + 32
    by = z3.SignExt(size - EXPONENT, place)
    units = z3.If(place >= 0, wide << by, z3.LShR(wide, -by))
    magnitude = z3.ZeroExt(WIDE, z3.LShR(units + z3.ZeroExt(size - 32, random), 32))
    rounded = z3.Extract(WIDE - 1, 0, z3.If(source.sign(x), -magnitude, magnitude))
    return code == stored_integer(source, fmt, policy, x, rounded)


def claim(source, fmt):
    run, size, hub = Run(module()), container(fmt)[0], source.hub
    x, policy, random = z3.BitVec("x", source.width), z3.BitVec("policy", 3), z3.BitVec("random", 32)
    wide = 32 if hub == "f32" and size <= 32 else 64
    target = run.object("target", [None] * (wide // 8))
    run.call("draw_" + lane(fmt, hub), [run.object("encoder", encoder_bytes(fmt, ROUND, policy)), target, decoded(run, source, x),
                                        run.object("random", bytes_of(random))])
    stored = run.value_of_bytes(("int", wide), [run.memory["target"][i] for i in range(wide // 8)])
    code, clean = z3.Extract(size - 1, 0, stored.bits), z3.LShR(stored.bits, size) == 0 if size < wide else z3.BoolVal(True)
    negative, magnitude = source.sign(x), source.magnitude(x)
    if fmt.is_float:
        goal = z3.If(magnitude == 0, code == zero_code(fmt, ROUND, policy, negative), float_right(source, fmt, x, random, policy, code))
        nan = lambda: not_a_number(fmt, ROUND, policy, source, x)
    else:
        goal = integer_right(source, fmt, x, random, policy, code)
        nan = lambda: z3.BitVecVal(0, size)
    if source.is_float:
        goal = z3.If(z3.UGT(magnitude, source.infinity()), code == nan(),
                     z3.If(magnitude == source.infinity(), code == infinity_code(fmt, ROUND, policy, negative), goal))
    return Claim(run, {"x": x, "policy": policy, "random": random}, z3.And(defined(stored), clean, goal))


def theorems(sample):
    """From the hubs; of P3109's many formats from fp32 alone. Other sources are numbers of a hub, which decoding proves."""
    pairs = [(SOURCES[name], fmt) for name in ("fp64", "fp32", "int64", "uint64") for fmt in formats(("float", "ufloat", "int", "uint"))]
    for count, (source, fmt) in enumerate((source, fmt) for source, fmt in pairs
                                          if takes(fmt, source.hub) and (source.is_float or fmt.is_float)
                                          and (source.name == "fp32" or not fmt.name.startswith("binary"))):
        if not sample or count in (12, 60):
            yield Theorem("stochastic", "%s to %s" % (source.name, fmt.name), lambda row=(source, fmt): claim(*row))


SEEDED = (
    Bug("up where the word is less than the fraction", "kernels/lanes.h", "return cut + random < cut;", "return random < cut;",
        "fp32 to bf16", {"policy": 0, "random": RANDOM}, encoding("fp32", "bf16", "stochastic")),
)
