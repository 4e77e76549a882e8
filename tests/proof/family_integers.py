# SPDX-License-Identifier: MIT
"""Integers that everything else stands on: util/checked.h (a sum or product of sizes is refused exactly where it does not fit 64
bits), core/wide.h (128-bit products, sums with carry, normalisation), the packing of codes of 1 to 7 bits in both orders (the bytes
are the codes' bits in order, and unpacking gives them back; 75 codes: whole groups, the last groups, and a rest), and the order of
4-bit codes in GGUF's blocks. For all inputs. The machine's division and its product of two
words are taken for what they are: q b + r = a with r < b, and some number up to (2^64 - 1)^2."""
import ctypes

import z3

from seeded import Bug, array_cast, native
from structural import array, space, written
from symbolic import Run
from theorem import Claim, Theorem, compiled, defined

FAMILY = "Helpers on integers and the packing of codes: checked arithmetic, wide products, shifts; for all inputs"
SOURCE = '''
#include "util/checked.h"
#include "core/wide.h"
#include "kernels/cast/pack.c"
#include "kernels/gguf/gguf_halves.h"
bool add(uint64_t a, uint64_t b, uint64_t *ret) { return dti_add_u64(a, b, ret); }
bool mul(uint64_t a, uint64_t b, uint64_t *ret) { return dti_mul_u64(a, b, ret); }
uint64_t up(uint64_t a, uint64_t b) { return dti_divide_up(a, b); }
uint64_t mul_add(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t *h) { return dti_wide_mul_add(a, b, c, d, h); }
unsigned wide_add(uint64_t *a, uint64_t b, unsigned carry) { return dti_wide_add(a, b, carry); }
unsigned wide_sub(uint64_t *a, uint64_t b, unsigned carry) { return dti_wide_sub(a, b, carry); }
unsigned normalise(uint64_t *high, uint64_t *low) { return dti_wide_normalise(high, low); }
bool scale(uint64_t *high, uint64_t *low, uint64_t factor) { return dti_wide_scale(high, low, factor); }
uint64_t spread(uint32_t x) { return dti_gguf_spread(x); }
void halves(unsigned char *to, const unsigned char *from) { dti_gguf_pair_halves(to, from, HALF); }
void pack_codes(unsigned char *to, const unsigned char *from) { pack(to, from, 75, BITS, HIGH); }
void unpack_codes(unsigned char *to, const unsigned char *from) { unpack(to, from, 75, BITS, HIGH); }
'''
COUNT = 75


def module(bits=1, high=0, half=8):
    return compiled(SOURCE, ("-DBITS=%d" % bits, "-DHIGH=%d" % high, "-DHALF=%d" % half))


def words(*names):
    return {name: z3.BitVec(name, 64) for name in names}


def wide(x, width=128):
    return z3.ZeroExt(width - x.size(), x)


def checked(name, exact):
    def claim():
        run, x = Run(module()), words("a", "b")
        (before,), ret = array(run, "before", 1, 64)
        fits = run.call(name, [x["a"], x["b"], ret])
        (after,) = written(run, "before", 64)
        value = exact(wide(x["a"]), wide(x["b"]))
        holds = z3.LShR(value, 64) == 0
        goal = z3.And(defined(fits), (fits.bits == 1) == holds, after.bits == z3.If(holds, z3.Extract(63, 0, value), before))
        return Claim(run, x, goal)
    return claim


def divide_up():
    """With q and r for the quotient and the remainder: q + (r > 0), and that does not wrap."""
    run, x = Run(module()), words("a", "b", "q", "r")
    run.assumptions.append(x["b"] != 0)
    found = run.call("up", [x["a"], x["b"]])
    pairs = [(z3.UDiv(x["a"], x["b"]), x["q"]), (z3.URem(x["a"], x["b"]), x["r"])]
    run.axioms += [x["b"] != 0, wide(x["q"]) * wide(x["b"]) + wide(x["r"]) == wide(x["a"]), z3.ULT(x["r"], x["b"])]
    exact = wide(x["q"], 65) + z3.If(x["r"] != 0, z3.BitVecVal(1, 65), z3.BitVecVal(0, 65))
    run.undefined = [z3.substitute(each, *pairs) for each in run.undefined]
    return Claim(run, x, z3.substitute(z3.And(defined(found), wide(found.bits, 65) == exact), *pairs))


def word_of(term):
    """The word of 64 bits that a longer number is."""
    while term.size() > 64 and term.decl().kind() in (z3.Z3_OP_ZERO_EXT, z3.Z3_OP_SIGN_EXT, z3.Z3_OP_CONCAT):
        if term.num_args() > 1 and not z3.is_true(z3.simplify(term.arg(0) == 0)):
            break
        term = term.arg(term.num_args() - 1)
    if term.size() != 64:
        raise ValueError("not one word: %s" % term)
    return term


def unexplained(claim):
    """The claim with every product of 128 bits replaced by any number that such a product may be: the multiplication itself is
    not what is proved."""
    known, pairs, stack, seen = {}, [], [claim.goal, *claim.run.undefined], set()
    while stack:
        term = stack.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        stack += term.children()
        if z3.is_bv(term) and term.decl().kind() == z3.Z3_OP_BMUL and term.size() >= 128:
            key = tuple(sorted(z3.simplify(word_of(each)).sexpr() for each in term.children()))
            found = known.setdefault(key, z3.BitVec("product%d" % len(known), 128))
            pairs.append((term, wide(found, term.size()) if term.size() > 128 else found))
    claim.run.axioms += [z3.ULE(each, ((1 << 64) - 1) ** 2) for each in known.values()]
    claim.run.undefined = [z3.substitute(each, *pairs) for each in claim.run.undefined]
    return claim._replace(goal=z3.substitute(claim.goal, *pairs))


def product():
    run, x = Run(module()), words("a", "b", "c", "d")
    low = run.call("mul_add", [*x.values(), space(run, "high", 8)])
    (high,) = written(run, "high", 64)
    exact = wide(x["a"]) * wide(x["b"]) + wide(x["c"]) + wide(x["d"])
    return unexplained(Claim(run, x, z3.And(defined(low, high), z3.Concat(high.bits, low.bits) == exact)))


def carried(name, sign):
    def claim():
        run, x = Run(module()), {"b": z3.BitVec("b", 64), "carry": z3.BitVec("carry", 32)}
        (a,), pointer = array(run, "a", 1, 64)
        run.axioms.append(z3.ULE(x["carry"], 1))
        out = run.call(name, [pointer, x["b"], x["carry"]])
        (after,) = written(run, "a", 64)
        exact = wide(a) + sign * (wide(x["b"]) + wide(x["carry"]))
        total = wide(after.bits) + sign * (wide(out.bits) << 64)
        return Claim(run, dict(x, a=a), z3.And(defined(out, after), z3.ULE(out.bits, 1), exact == total))
    return claim


def normalised():
    run = Run(module())
    (high,), one = array(run, "high", 1, 64)
    (low,), other = array(run, "low", 1, 64)
    run.axioms.append(high | low != 0)
    run.assumptions.append(high | low != 0)
    shift = run.call("normalise", [one, other])
    (new_high,), (new_low,) = written(run, "high", 64), written(run, "low", 64)
    goal = z3.And(defined(shift, new_high, new_low), z3.ULT(shift.bits, 128), z3.Extract(63, 63, new_high.bits) == 1,
                  z3.LShR(z3.Concat(new_high.bits, new_low.bits), wide(shift.bits)) == z3.Concat(high, low))
    return Claim(run, {"high": high, "low": low}, goal)


def scaled():
    run, factor = Run(module()), z3.BitVec("factor", 64)
    (high,), one = array(run, "high", 1, 64)
    (low,), other = array(run, "low", 1, 64)
    fits = run.call("scale", [one, other, factor])
    (new_high,), (new_low,) = written(run, "high", 64), written(run, "low", 64)
    # the product of the low words, plus that of the high ones, as 192 bits
    first = wide(low) * wide(factor)
    second = wide(high) * wide(factor) + z3.LShR(first, 64)
    exact = z3.Concat(second, z3.Extract(63, 0, first))
    goal = z3.And(defined(fits, new_high, new_low), (fits.bits == 1) == (z3.LShR(exact, 128) == 0),
                  z3.Concat(new_high.bits, new_low.bits) == z3.Extract(127, 0, exact))
    return unexplained(Claim(run, {"high": high, "low": low, "factor": factor}, goal))


def packed_bytes(codes, bits, high):
    """The codes' bits in order, as bytes; the last is padded with zeros."""
    parts = [z3.Extract(bits - 1, 0, code) for code in codes]
    padding = -len(codes) * bits % 8
    if padding:
        parts.append(z3.BitVecVal(0, padding))
    whole = z3.Concat(*(parts if high else reversed(parts)))
    found = [z3.Extract(at + 7, at, whole) for at in range(0, whole.size(), 8)]
    return found[::-1] if high else found


def packing(bits, high):
    def claim():
        run = Run(module(bits, high))
        codes, source = array(run, "code", COUNT, 8)
        run.call("pack_codes", [space(run, "packed", (COUNT * bits + 7) // 8), source])
        found = written(run, "packed", 8)
        want = packed_bytes(codes, bits, high)
        return Claim(run, dict(zip(map(str, codes), codes)),
                     z3.And(defined(found), *[one.bits == other for one, other in zip(found, want, strict=True)]))
    return claim


def unpacking(bits, high):
    def claim():
        run = Run(module(bits, high))
        data, source = array(run, "byte", (COUNT * bits + 7) // 8, 8)
        run.call("unpack_codes", [space(run, "codes", COUNT), source])
        found = written(run, "codes", 8)
        again = packed_bytes([code.bits for code in found], bits, high)
        spare = -COUNT * bits % 8  # of the last byte, not read
        data_bits = list(data)
        if spare:
            kept = z3.BitVecVal((0xff << spare if high else 0xff >> spare) & 0xff, 8)
            data_bits[-1] = data[-1] & kept
        return Claim(run, dict(zip(map(str, data), data)),
                     z3.And(defined(found), *[z3.ULT(code.bits, 1 << bits) for code in found],
                            *[one == other for one, other in zip(again, data_bits, strict=True)]))
    return claim


def halves(half):
    def claim():
        run = Run(module(half=half))
        data, source = array(run, "byte", 2 * half, 8)
        run.call("halves", [space(run, "to", 2 * half), source])
        found = written(run, "to", 8)
        codes = [z3.Extract(at + 3, at, byte) for byte in data for at in (0, 4)]
        want = [z3.Concat(codes[i + 2 * half], codes[i]) for i in range(2 * half)]
        return Claim(run, dict(zip(map(str, data), data)),
                     z3.And(defined(found), *[one.bits == other for one, other in zip(found, want, strict=True)]))
    return claim


def theorems(sample):
    yield Theorem("integers", "dti_add_u64: sum or refusal", checked("add", lambda a, b: a + b))
    yield Theorem("integers", "dti_mul_u64: product or refusal", checked("mul", lambda a, b: a * b))
    yield Theorem("integers", "dti_divide_up", divide_up)
    yield Theorem("integers", "dti_wide_mul_add", product)
    yield Theorem("integers", "dti_wide_add", carried("wide_add", 1))
    yield Theorem("integers", "dti_wide_sub", carried("wide_sub", -1))
    yield Theorem("integers", "dti_wide_normalise", normalised)
    yield Theorem("integers", "dti_wide_scale", scaled)
    for half in (8, 16, 64):
        yield Theorem("integers", "GGUF's order of halves, %d bytes" % (2 * half), halves(half))
    for bits in (4, 6) if sample else range(1, 8):
        for high in (0,) if sample else (0, 1):
            order = "high" if high else "low"
            yield Theorem("integers", "packing %d codes of %d bits, %s first" % (COUNT, bits, order), packing(bits, high))
            yield Theorem("integers", "unpacking %d codes of %d bits, %s first" % (COUNT, bits, order), unpacking(bits, high))


def packed_natively(bits):
    """The bytes of 75 codes: planted, dtinfo's, in Python's integers."""
    def shows(inputs, program):
        codes = bytes(inputs["code%d" % i] & ((1 << bits) - 1) for i in range(COUNT))
        whole = sum(code << bits * i for i, code in enumerate(codes))
        with native("#define BITS %d\n#define HIGH 0\n#define HALF 8\n" % bits + SOURCE) as code:
            target = ctypes.create_string_buffer((COUNT * bits + 7) // 8)
            code.pack_codes(target, codes)
            wrong = target.raw
        return wrong, array_cast(program, codes, "uint8", "uint%d" % bits), whole.to_bytes(len(wrong), "little")
    return shows


SEEDED = (
    Bug("every second code is masked as the first", "kernels/cast/lanes_packed.h", "(word >> by & low << bits)", "(word >> by & low)",
        "packing 75 codes of 4 bits, low first", {"code1": 5}, packed_natively(4)),
)
