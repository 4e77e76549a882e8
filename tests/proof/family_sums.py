# SPDX-License-Identifier: MIT
"""The exact sums of losses and statistics (exact_sum.c): 34 words of 64 bits in two's complement, in units of 2^-1074.

  adding     for every finite double: its significand, shifted, goes to the word where it belongs, added or subtracted by its sign
  carrying   for each of the 33 words where it may go and for all 2,176 bits of the sum: the sum afterwards is the sum of integers
  merging    likewise, of two sums

No carry is lost: a double is less than 2^2098 units, so 2^64 of them are less than 2^2162, far from the sign at bit 2,175. Not in the
claim: the rounding of a sum to a double at the end, which goes through the value path (dti_encode)."""
import ctypes
import json
import pathlib
import struct
import subprocess
import tempfile

import z3

from seeded import Bug, native
from structural import array, equal, space, written
from symbolic import Run
from theorem import Claim, Theorem, compiled, defined

FAMILY = "Exact sums of losses and statistics: `exact_sum.c`, all doubles, all 2,176 bits of a sum"
WORDS = 34
C = '''
#include <stdint.h>
struct dti_exact_sum;
static __attribute__((noinline)) void add_at(struct dti_exact_sum *sum, unsigned at, uint64_t low, uint64_t high);
static __attribute__((noinline)) void subtract_at(struct dti_exact_sum *sum, unsigned at, uint64_t low, uint64_t high);
#include "kernels/exact_sum.c"
void add_double(struct dti_exact_sum *sum, uint64_t bits) { dti_exact_sum_add(sum, dti_fp64_from_bits(bits)); }
void carry_add(struct dti_exact_sum *sum, unsigned at, uint64_t low, uint64_t high) { add_at(sum, at, low, high); }
void carry_subtract(struct dti_exact_sum *sum, unsigned at, uint64_t low, uint64_t high) { subtract_at(sum, at, low, high); }
'''
STORED = 8 * WORDS + 8  # bytes


def sum_of(run, name, words=None):
    """A sum of symbolic words, or of these: the words, and a pointer. Nothing special was added to it."""
    words = words or [z3.BitVec("%s%d" % (name, i), 64) for i in range(WORDS)]
    data = [z3.Extract(at + 7, at, word) for word in words for at in range(0, 64, 8)]
    return words, run.object(name, data + [z3.BitVecVal(0, 8)] * (STORED - 8 * WORDS))


def joined(words):
    return z3.Concat(*reversed(words))


def adding():
    """What add_at and subtract_at are called with."""
    run, bits = Run(compiled(C)), z3.BitVec("bits", 64)
    seen = []

    def called(sign):
        def rule(run, _kind, arguments, path):
            seen.append((sign, path, arguments[1:]))
        return rule
    run.calls.update(add_at=called(0), subtract_at=called(1))
    words, pointer = sum_of(run, "sum")
    run.call("add_double", [pointer, bits])
    exponent, fraction = z3.Extract(62, 52, bits), z3.Extract(51, 0, bits)
    significand = z3.Concat(z3.If(exponent == 0, z3.BitVecVal(0, 1), z3.BitVecVal(1, 1)), fraction)
    place = z3.If(exponent == 0, z3.BitVecVal(0, 32), z3.ZeroExt(21, exponent) - 1)
    finite = exponent != 0x7ff
    goals = [z3.Or(*[path for _, path, _ in seen]) == finite, equal(written(run, "sum", 64, WORDS), words)]
    for sign, path, (at, low, high) in seen:
        shift = z3.ZeroExt(128 - 32, place - 64 * at.bits)
        whole = z3.Concat(high.bits, low.bits)
        goals.append(z3.Implies(path, z3.And(
            defined(at, low, high), z3.Extract(63, 63, bits) == sign, z3.ULT(at.bits, WORDS - 1), z3.ULE(64 * at.bits, place),
            z3.ULT(place - 64 * at.bits, 64), whole == z3.ZeroExt(75, significand) << shift)))
    flags = run.memory["sum"]
    special = z3.Concat(*[flags[8 * WORDS + i].bits for i in (3, 2, 1, 0)])
    wanted = z3.If(finite, z3.BitVecVal(0, 32), z3.If(fraction != 0, z3.BitVecVal(4, 32), z3.If(
        z3.Extract(63, 63, bits) == 1, z3.BitVecVal(2, 32), z3.BitVecVal(1, 32))))
    return Claim(run, {"bits": bits}, z3.And(special == wanted, *goals))


def carrying(name, sign, at):
    def claim():
        run, low, high = Run(compiled(C)), z3.BitVec("low", 64), z3.BitVec("high", 64)
        words, pointer = sum_of(run, "sum")
        run.call(name, [pointer, z3.BitVecVal(at, 32), low, high])
        found = written(run, "sum", 64, WORDS)
        term = z3.Concat(high, low) if at == WORDS - 2 else z3.Concat(z3.BitVecVal(0, 64 * (WORDS - 2 - at)), high, low)
        below, above = words[:at], joined(words[at:])
        whole = above + term if sign > 0 else above - term
        goal = z3.And(defined(found), equal(found[:at], below), joined([each.bits for each in found[at:]]) == whole)
        return Claim(run, dict(zip(map(str, words), words), low=low, high=high), goal)
    return claim


def merging():
    run = Run(compiled(C))
    words, pointer = sum_of(run, "sum")
    others, other = sum_of(run, "other")
    run.call("dti_exact_sum_merge", [pointer, other])
    found = written(run, "sum", 64, WORDS)
    return Claim(run, {str(each): each for each in words + others},
                 z3.And(defined(found), joined([each.bits for each in found]) == joined(words) + joined(others)))


def theorems(sample):
    yield Theorem("sums", "a double, added to its words", adding)
    for name, sign in (("carry_add", 1), ("carry_subtract", -1)):
        for at in (32,) if sample else range(WORDS - 1):
            yield Theorem("sums", "%s from word %d on" % (name.replace("_", ", to "), at), carrying(name, sign, at))
    if not sample:
        yield Theorem("sums", "two sums, merged", merging)


STUBS = """
void dti_encode(const struct dti_format *f, const struct dti_value *v, const struct dti_policy *p, uint64_t i, struct dti_outcome *r) {}
void dti_value_set(struct dti_value *v, bool n, uint64_t s, int64_t e) {}
void dti_value_set_wide(struct dti_value *v, bool n, uint64_t h, uint64_t l, bool s, int64_t e) {}
const struct dti_format *dti_format_get(enum dti_dtype id) { return 0; }
void dti_decode(const struct dti_format *f, uint64_t c, struct dti_value *v) {}
bool dti_code_smallest_normal(const struct dti_format *f, uint64_t *c) { return false; }
"""


def one_number(inputs, program):
    """The sum of one number, as a fraction; the program shows it as the mean."""
    bits = inputs["bits"]
    with native(C + STUBS) as code:
        words = (ctypes.c_uint64 * (WORDS + 1))()
        code.add_double(words, ctypes.c_uint64(bits))
        whole = sum(word << 64 * i for i, word in enumerate(words[:WORDS]))
    whole -= (whole >> (64 * WORDS - 1)) << (64 * WORDS)
    with tempfile.TemporaryDirectory() as folder:
        given = pathlib.Path(folder) / "in.bin"
        given.write_bytes(struct.pack("<Q", bits))
        done = subprocess.run([program, "inspect", str(given), "--from", "fp64", "--stats", "--json"], check=True, stdout=subprocess.PIPE,
                              universal_newlines=True)
    mean = float.fromhex(json.loads(done.stdout)["files"][0]["tensors"][0]["stats"]["mean"]["hexfloat"])
    number = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return hex(whole), hex(units(mean)), hex(units(number))


def units(number):
    """In units of 2^-1074."""
    top, bottom = number.as_integer_ratio()
    return (top << 1074) // bottom


SEEDED = (
    Bug("the upper part is shifted one place too few", "kernels/exact_sum.c", "significand >> (64 - shift)", "significand >> (63 - shift)",
        "a double, added to its words", {}, one_number),
)
