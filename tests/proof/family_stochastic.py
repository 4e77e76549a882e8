# SPDX-License-Identifier: MIT
"""Stochastic rounding and its random word, form A of P3109: with d the discarded part of a last place, away from zero when
floor(d 2^32) + R >= 2^32. The specification is exact: the border at which a number goes up is v + ulp (2^32 - R) / 2^32. The
random word is an input, as are the number and the policies."""
import z3

from exact import EXPONENT, Rounding, fields
from family_encode_integer import REACH, WIDE, stored_integer
from lanes import SOURCES, Run, beyond_code, bytes_of, container, decoded, encoder_bytes, \
    formats, infinity_code, lane, module, not_a_number, takes, zero_code
from lanes_shown import RANDOM, encoding
from seeded import Bug
from theorem import Claim, Theorem, defined

FAMILY = "Stochastic rounding's condition on its random word: `lanes_encode.c`, for all numbers and all random words"
ROUND = "stochastic"


def parts(source, x):
    """A source's magnitude: significand and exponent of its last bit."""
    return fields(source.format, source.magnitude(x))


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
        rounding = Rounding(fmt, ROUND, parts(source, x), negative, random)
        goal = z3.If(magnitude == 0, code == zero_code(fmt, ROUND, policy, negative),
                     rounding.float_right(policy, code, code == beyond_code(fmt, ROUND, policy, negative)))
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
