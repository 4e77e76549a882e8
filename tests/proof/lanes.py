# SPDX-License-Identifier: MIT
"""The portable lanes as compiled, what they read, and what they should give.

The code is src/kernels/cast/lanes_encode.c and lanes_decode.c as they stand: the loop over a piece of an array, for one element.
Its constants are the bytes that dti_encoder_init() makes (encoders.c); the policy for overflow and NaN is an input of each theorem
beside the number. What should come out is written from tests/oracle/formats.py, which shares nothing with the core: of IEEE
formats in SMT-LIB's floats, of others by their tables of values: a code is right if the number lies between the two numbers of the
source that are the first to round to this code and to the next one. Both are bit patterns, since numbers grow with them."""
import functools
import pathlib
import subprocess
import sys
from fractions import Fraction

import z3

import theorem
from symbolic import Run, as_float, lookup
from theorem import ROOT, Claim, compiled, defined

sys.path.insert(0, str(ROOT / "tests/oracle"))
from formats import FORMATS, INF, OVERFLOWS, encode, floor_log2, nan_code, negative_into_unsigned, power_of_two  # noqa: E402

ROUNDS = ("nearest-even", "nearest-away", "zero", "up", "down", "odd")
NANS = ("quiet", "canonical")
POLICIES = [(overflow, nan) for overflow in OVERFLOWS for nan in NANS]
MODES = {"nearest-even": z3.RNE(), "nearest-away": z3.RNA(), "zero": z3.RTZ(), "up": z3.RTP(), "down": z3.RTN()}
# The weak function is not called by what is proved, and not linked where a bug is shown.
C = """
#pragma weak dti_format_fits_hub32
#include "kernels/cast/lanes_encode.c"
#undef LOOP
#undef ENCODE
#include "kernels/cast/lanes_decode.c"
#include "kernels/cast/lanes_odd.c"
#define ENCODE(name) void of_##name(const struct dti_encoder *e, unsigned char *dst, const unsigned char *src) { name(e, dst, src, 1, 0); }
#define DRAW(name, width) void draw_##name(const struct dti_encoder *e, uint##width##_t *code, const unsigned char *src, \\
    const uint32_t *random) { name##_loop(e, code, src, 1, random, DTI_ROUND_STOCHASTIC); }
#define DECODE(name, width) void of_##name(const struct dti_decoder *d, unsigned char *dst, const uint##width##_t *src) { name(d, dst, src, 1); }
ENCODE(f32_to_float) ENCODE(f32_to_integer) ENCODE(f32_to_wide) ENCODE(f32_to_bool) ENCODE(f64_to_float) ENCODE(f64_to_integer)
ENCODE(f64_to_bool) ENCODE(i64_to_float) ENCODE(u64_to_float) ENCODE(i64_to_integer) ENCODE(u64_to_integer) ENCODE(i64_to_bool)
DRAW(f32_to_float, 32) DRAW(f32_to_integer, 32) DRAW(f32_to_wide, 64) DRAW(f64_to_float, 64) DRAW(f64_to_integer, 64)
DRAW(i64_to_float, 64) DRAW(u64_to_float, 64)
DECODE(floats_f32, 32) DECODE(integers_f32, 32) DECODE(floats_f64, 64) DECODE(integers_f64, 64) DECODE(integers_i64, 64)
DECODE(narrow_floats_f64, 32)
void odd_f64(unsigned char *dst, const unsigned char *src) { dti_odd_f64_f32_scalar(NULL, dst, src, 1); }
void odd_i64(unsigned char *dst, const unsigned char *src) { dti_odd_i64_f64_scalar(NULL, dst, src, 1); }
void odd_u64(unsigned char *dst, const unsigned char *src) { dti_odd_u64_f64_scalar(NULL, dst, src, 1); }
"""


def module():
    return compiled(C)


class Source:
    """What is encoded. hub: the lane that takes it, after a decoder where it is not a hub itself."""

    def __init__(self, name, hub=None, chain=None):
        self.name, self.hub, self.chain = name, hub, chain
        self.format = FORMATS[name]
        self.width, self.is_float = self.format.width, self.format.is_float

    def sort(self):
        return z3.FPSort(self.format.exp, self.format.man + 1)

    def sign(self, x):
        """Whether x is negative (or minus zero)."""
        return z3.BoolVal(False) if self.format.kind == "uint" else z3.Extract(self.width - 1, self.width - 1, x) == 1

    def magnitude(self, x):
        """Its size as a pattern; of integers with one bit more, for the first that is none."""
        if self.is_float:
            return x & ((1 << (self.width - 1)) - 1)
        return z3.ZeroExt(1, x if self.format.kind == "uint" else z3.If(x < 0, -x, x))

    def infinity(self):
        """The pattern of infinity; of integers the first one that is none."""
        return self.format.inf[0] if self.is_float else 1 << (self.width - (self.format.kind == "int")) | (self.format.kind == "int")

    def pattern(self, value, strict):
        """The first magnitude pattern whose number is value or more; strict: more."""
        if not self.is_float:
            found = -(-value.numerator // value.denominator)
            return min(found + (strict and found == value), self.infinity())
        f = self.format
        exponent = max(floor_log2(value) if value else 1 - f.bias, 1 - f.bias)
        units = value / power_of_two(exponent - f.man)
        whole = -(-units.numerator // units.denominator)
        whole += strict and whole == units
        return min((exponent + f.bias - 1 << f.man) + whole, self.infinity())

    def number(self, mode, x, sort):
        """x rounded to a sort."""
        if self.is_float:
            return z3.fpFPToFP(mode, as_source(self, x), sort)
        return (z3.fpSignedToFP if self.format.kind == "int" else z3.fpUnsignedToFP)(mode, x, sort)


def as_source(source, x):
    return z3.fpBVToFP(x, source.sort())


# Sources that are no hub go through the decoder of their format first, as in a plan.
SOURCES = {each.name: each for each in (
    Source("fp64", "f64"), Source("fp32", "f32"), Source("int64", "i64"), Source("uint64", "u64"),
    Source("fp16", "f32", "floats_f32"), Source("bf16", "f32", "floats_f32"),
    Source("int32", "i64", "integers_i64"), Source("uint32", "i64", "integers_i64"))}


@functools.lru_cache(maxsize=None)
def constants():
    """What encoders.c writes: {("decoder", format): bytes, ("encoder", format, round): [bytes of each policy], ("takes", format):
    {hub: bool}, ("parts", blocks): bytes}."""
    done = subprocess.run([theorem.ENCODERS], stdout=subprocess.PIPE, check=True, universal_newlines=True)
    found = {}
    for words in map(str.split, done.stdout.splitlines()):
        if words[0] in ("decoder", "parts"):
            found[words[0], words[1]] = bytes.fromhex(words[2])
        elif words[0] == "takes":
            found["takes", words[1]] = dict(zip(("f32", "f64", "odd32", "odd64"), (word == "1" for word in words[2:])))
        else:
            rows = found.setdefault(("encoder", words[1], words[2]), [])
            assert (words[3], words[4]) == POLICIES[len(rows)]
            rows.append(bytes.fromhex(words[5]))
    return found


def formats(kinds):
    """The formats of the table of these kinds, as the oracle knows them."""
    return [FORMATS[key[1]] for key in constants() if key[0] == "takes" and FORMATS[key[1]].kind in kinds]


def takes(fmt, hub):
    return hub in ("i64", "u64") or constants()["takes", fmt.name][hub]


def chosen(policy, values, width):
    """The value of the policy that is an input."""
    return lookup([z3.BitVecVal(value, width) for value in values], policy, 2)


def encoder_bytes(fmt, mode, policy):
    """An encoder's bytes as terms: those that depend on the policy are a choice by it."""
    rows = constants()["encoder", fmt.name, mode]
    return [chosen(policy, column, 8) if len(set(column)) > 1 else z3.BitVecVal(column[0], 8) for column in zip(*rows)]


def bytes_of(x):
    return [z3.Extract(i + 7, i, x) for i in range(0, x.size(), 8)]


def container(fmt):
    """Bits of a code in an array, and where its lowest bit is."""
    width = next(each for each in (8, 16, 32, 64) if each >= fmt.width)
    return width, 13 if fmt.name == "tf32" else 0


def decoded(run, source, x):
    """The memory with a source's number as its hub's lane reads it."""
    if source.chain is None:
        return run.object("source", bytes_of(x))
    decoder = run.object("decoder", [z3.BitVecVal(byte, 8) for byte in constants()["decoder", source.name]])
    wide = 64 if source.hub == "i64" else 32
    hub = run.object("hub", [None] * (wide // 8))
    run.call("of_" + source.chain, [decoder, hub, run.object("source", bytes_of(z3.ZeroExt(wide - x.size(), x) if x.size() < wide else x))])
    return hub


def lane(fmt, hub):
    """The name of the piece that encodes to a format."""
    if fmt.kind == "bool":
        return {"u64": "i64"}.get(hub, hub) + "_to_bool"
    if fmt.is_float:
        return hub + "_to_float"
    return hub + ("_to_wide" if hub == "f32" and container(fmt)[0] > 32 else "_to_integer")


def encoded(run, source, fmt, mode, x, policy):
    """The container that the code gives for x, as a Scalar."""
    width, _ = container(fmt)
    encoder = run.object("encoder", encoder_bytes(fmt, mode, policy))
    target = run.object("target", [None] * (width // 8))
    run.call("of_" + lane(fmt, source.hub), [encoder, target, decoded(run, source, x)])
    return run.value_of_bytes(("int", width), [run.memory["target"][i] for i in range(width // 8)])


def encoding_claim(source, fmt, mode, is_right):
    """That the code encodes x as is_right says, for every number and policy."""
    run = Run(module())
    x, policy = z3.BitVec("x", source.width), z3.BitVec("policy", 3)
    stored = encoded(run, source, fmt, mode, x, policy)
    return Claim(run, {"x": x, "policy": policy}, z3.And(defined(stored), is_right(source, fmt, mode, x, policy, stored.bits)))


# What should come out.

def special(fmt, mode, policy, negative, of):
    """of(overflow, negative, nan) for the policy and the sign that are inputs, as a code."""
    width = container(fmt)[0]
    plus, minus = [chosen(policy, [of(overflow, sign, nan) for overflow, nan in POLICIES], width) for sign in (False, True)]
    return plus if plus.eq(minus) else z3.If(negative, minus, plus)


def infinity_code(fmt, mode, policy, negative):
    return special(fmt, mode, policy, negative, lambda overflow, minus, nan: encode(fmt, INF, minus, None, mode, overflow)[0])


def beyond_code(fmt, mode, policy, negative):
    huge = power_of_two(100000)
    return special(fmt, mode, policy, negative, lambda overflow, minus, nan: encode(fmt, "finite", minus, huge, mode, overflow)[0])


def zero_code(fmt, mode, policy, negative):
    return special(fmt, mode, policy, negative, lambda overflow, minus, nan: encode(fmt, "zero", minus, Fraction(0), mode, overflow)[0])


def not_a_number(fmt, mode, policy, source, x):
    """Quiet: sign and the payload's top bits stay, the quiet bit is set. Canonical: the positive one. None: the largest number."""
    negative, width = source.sign(x), container(fmt)[0]

    def of(_overflow, minus, nan):
        if not fmt.nan:
            return fmt.max_code()
        return fmt.canonical_nan() if nan == "canonical" else nan_code(fmt, minus)
    code = special(fmt, mode, policy, negative, of)
    count = min(fmt.man, source.format.man) - 1
    if not fmt.ieee or count < 1:
        return code
    kept = z3.Extract(source.format.man - 2, source.format.man - 1 - count, x)
    payload = z3.ZeroExt(width - count, kept) << (fmt.man - 1 - count) if width > count else kept
    quiet = chosen(policy, [(1 << width) - 1 if nan == "quiet" else 0 for _, nan in POLICIES], width)
    return code | (payload & quiet)


def border(fmt, mode, minus, index):
    """(value, whether the value itself is below): from where on magnitudes round to this index or a higher one."""
    low, high = fmt.magnitude(index - 1), fmt.magnitude(index)
    odd = fmt.is_odd(index - 1)
    if mode in ("nearest-even", "nearest-away"):
        return (low + high) / 2, mode == "nearest-even" and not odd
    if mode == "odd":
        return (high, False) if odd else (low, True)
    away = (mode == "up" and not minus) or (mode == "down" and minus)
    return (low, True) if away else (high, False)


@functools.lru_cache(maxsize=None)
def borders(source_name, name, mode, minus):
    """The first pattern of the source that rounds to each magnitude index, and to none."""
    source, fmt = SOURCES[source_name], FORMATS[name]
    first = [0] + [source.pattern(*border(fmt, mode, minus, index)) for index in range(1, fmt.max_index + 2)]
    assert first == sorted(first)
    return first


def between(source, fmt, mode, minus, magnitude, index):
    """Whether a magnitude rounds to this index, a term, of at most max_index."""
    first = borders(source.name, fmt.name, mode, minus)
    width, bit = magnitude.size(), max(fmt.max_index.bit_length() - 1, 0)
    size = 1 << (bit + 1)

    def entries(values):
        return lookup([z3.BitVecVal(value, width) for value in (values + values[-1:] * size)[:size]], index, bit)
    return z3.And(z3.ULE(entries(first[:-1]), magnitude), z3.ULT(magnitude, entries(first[1:])))


def by_table(source, fmt, mode, x, policy, code):
    """Whether the code is right for a finite number that is not zero."""
    negative, magnitude, width = source.sign(x), source.magnitude(x), code.size()
    index_bits = max(fmt.max_index.bit_length(), 1)

    def of_sign(minus):
        beyond = z3.UGE(magnitude, borders(source.name, fmt.name, mode, minus)[-1])
        first = borders(source.name, fmt.name, mode, minus)[1]
        sign = z3.BoolVal(minus)
        overflow = code == beyond_code(fmt, mode, policy, sign)
        if minus and not fmt.signed:
            wrong = code == chosen(policy, [negative_into_unsigned(fmt, overflow_, False)[0] for overflow_, _ in POLICIES], width)
            return wrong if fmt.scale else z3.If(z3.ULT(magnitude, first), code == 0, wrong)
        index = code & (((1 << width) - 1) ^ fmt.sign_bit)
        signed = code & fmt.sign_bit if fmt.signed else z3.BitVecVal(0, width)
        wanted = z3.If(z3.Or(index != 0, z3.BoolVal(bool(fmt.minus_zero))), z3.BitVecVal(fmt.sign_bit if minus else 0, width), z3.BitVecVal(0, width))
        inside = z3.And(z3.ULE(index, fmt.max_index), signed == wanted,
                        between(source, fmt, mode, minus, magnitude, z3.Extract(index_bits - 1, 0, index)))
        return z3.If(beyond, overflow, inside)
    if source.format.kind == "uint":
        return of_sign(False)
    return z3.If(negative, of_sign(True), of_sign(False))


def by_sort(source, fmt, mode, x, policy, code):
    """The same for IEEE formats, in SMT-LIB's floats; rounding to odd there is made of rounding toward zero."""
    sort, number = z3.FPSort(fmt.exp, fmt.man + 1), z3.Extract(fmt.width - 1, 0, code)
    clean = z3.Extract(code.size() - 1, fmt.width, code) == 0 if code.size() > fmt.width else z3.BoolVal(True)
    beyond = code == beyond_code(fmt, mode, policy, source.sign(x))
    if mode != "odd":
        rounded = source.number(MODES[mode], x, sort)
        return z3.If(z3.fpIsInf(rounded), beyond, z3.And(clean, z3.fpBVToFP(number, sort) == rounded))
    below = source.number(z3.RTZ(), x, sort)
    if source.is_float:
        exact = z3.fpEQ(z3.fpFPToFP(z3.RNE(), below, source.sort()), as_source(source, x))
    else:
        to = z3.fpToSBV if source.format.kind == "int" else z3.fpToUBV
        exact = to(z3.RTZ(), below, z3.BitVecSort(source.width)) == x
    odd = z3.And(z3.Extract(0, 0, number) == 1, z3.Or(z3.fpBVToFP(number, sort) == below, z3.fpBVToFP(number - 1, sort) == below))
    return z3.And(clean, z3.If(exact, z3.fpBVToFP(number, sort) == below, odd))


def has_sort(fmt, source):
    """Whether SMT-LIB's floats describe a format and hold what the source needs."""
    return fmt.ieee and fmt.kind == "float" and fmt.man > 0 and fmt.bias == (1 << (fmt.exp - 1)) - 1


def right(source, fmt, mode, x, policy, stored):
    """Whether what is stored in the container is right."""
    width, shift = container(fmt)
    code = z3.LShR(stored, shift) if shift else stored
    spec = by_sort if has_sort(fmt, source) else by_table
    magnitude, negative = source.magnitude(x), source.sign(x)
    goal = z3.If(magnitude == 0, code == zero_code(fmt, mode, policy, negative), spec(source, fmt, mode, x, policy, code))
    if source.is_float:
        infinity = source.infinity()
        goal = z3.If(z3.UGT(magnitude, infinity), code == not_a_number(fmt, mode, policy, source, x),
                     z3.If(magnitude == infinity, code == infinity_code(fmt, mode, policy, negative), goal))
    return z3.And(goal, stored & ((1 << shift) - 1) == 0) if shift else goal


__all__ = [name for name in dir() if not name.startswith("_")]
