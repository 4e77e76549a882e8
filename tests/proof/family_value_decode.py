# SPDX-License-Identifier: MIT
"""The value path backwards, dti_decode(): every code of every format, bits above its width included, becomes the struct dti_value that
is its number: class, sign, and a normalized significand with its exponent, compared exactly with the code's fields."""
import ctypes
import json
import struct
import subprocess

import z3

from exact import EXPONENT, at_least, fields
from family_value import ABSENT, FINITE, INF_CLASS, NAN_CLASS, ZERO
from lanes import FORMATS, Fraction, Run, compiled, constants, formats, power_of_two
from seeded import Bug, native
from theorem import Claim, Theorem, defined

FAMILY = "Every code of every format to a struct dti_value: `codes.c`"
C = "".join("#pragma weak %s\n" % name for name in ABSENT) + """
#include "core/code/codes.c"
void of_code(const struct dti_format *f, uint64_t code, struct dti_value *ret) { dti_decode(f, code, ret); }
"""


def is_one_of(code, codes):
    return z3.Or(z3.BoolVal(False), *[code == each for each in codes])


def specials(fmt, code):
    """Conditions: an infinity, a NaN."""
    if not fmt.is_float:
        return z3.BoolVal(False), z3.BoolVal(False)
    if fmt.ieee:
        magnitude = code & ((1 << (fmt.exp + fmt.man)) - 1)
        return is_one_of(code, fmt.inf), z3.UGT(magnitude, fmt.inf[0])
    return is_one_of(code, fmt.inf), is_one_of(code, fmt.nan)


def claim(fmt):
    run, x = Run(compiled(C)), z3.BitVec("x", 64)
    target = run.object("value", [None] * 32)
    run.call("of_code", [run.object("format", [z3.BitVecVal(byte, 8) for byte in constants()["decoder", fmt.name]]), x, target])

    def member(at, width):
        return run.value_of_bytes(("int", width), [run.memory["value"][at + i] for i in range(width // 8)])
    parts = [member(at, width) for at, width in ((0, 32), (4, 8), (5, 8), (8, 32), (16, 64), (24, 64))]
    kind, negative, sticky, exponent, hi, lo = [part.bits for part in parts]
    code = z3.Extract(fmt.width - 1, 0, x)
    minus = code & fmt.sign_bit != 0 if fmt.signed else z3.BoolVal(False)
    signed = negative == z3.If(minus, z3.BitVecVal(1, 8), z3.BitVecVal(0, 8))
    if fmt.kind == "int":
        magnitude = z3.ZeroExt(1, z3.If(minus, -code, code))
    else:
        magnitude = z3.ZeroExt(1, z3.If(code != 0, z3.BitVecVal(1, 8), z3.BitVecVal(0, 8)) if fmt.kind == "bool"
                               else code & (((1 << fmt.width) - 1) ^ fmt.sign_bit))
    number, (infinite, nan) = fields(fmt, magnitude), specials(fmt, code)
    value = z3.Concat(hi, lo), z3.Extract(EXPONENT - 1, 0, exponent) - 127
    same = z3.And(at_least(number, value), at_least(value, number), exponent < 1 << 24, exponent > -(1 << 24))
    finite = z3.And(kind == FINITE, signed, z3.Extract(63, 63, hi) == 1, sticky == 0, same)
    empty = z3.And(hi == 0, lo == 0, exponent == 0, sticky == 0)
    quiet = z3.BoolVal(True)
    if fmt.ieee:
        quiet = z3.And(signed, hi == z3.ZeroExt(64 - fmt.man, z3.Extract(fmt.man - 1, 0, code)) << (64 - fmt.man), lo == 0)
    goal = z3.If(nan, z3.And(kind == NAN_CLASS, quiet), z3.If(infinite, z3.And(kind == INF_CLASS, signed, empty), z3.If(
        number[0] == 0, z3.And(kind == ZERO, signed, empty), finite)))
    return Claim(run, {"x": x}, z3.And(defined(*parts), goal))


def theorems(sample):
    for count, fmt in enumerate(formats(("float", "ufloat", "int", "uint", "bool"))):
        if not sample or count % 12 == 5:
            yield Theorem("value_decode", fmt.name, lambda fmt=fmt: claim(fmt))


def shows(inputs, program):
    """Of fp16."""
    code = inputs["x"] & 0xFFFF
    with native(C) as library:
        target = ctypes.create_string_buffer(32)
        library.of_code(constants()["decoder", "fp16"], ctypes.c_uint64(inputs["x"]), target)
    _, negative, _, exponent, hi, _ = struct.unpack("<I??xxixxxxQQ", target.raw)
    done = subprocess.run([program, "bits", "0x%04x" % code, "fp16", "--json"], check=True, stdout=subprocess.PIPE)
    _, minus, value = FORMATS["fp16"].decode(code)
    planted = hi * power_of_two(exponent - 63)
    return -planted if negative else planted, Fraction(json.loads(done.stdout)["results"][0]["exact"]), -value if minus else value


SEEDED = (
    Bug("subnormals have an exponent of their own", "core/code/codes.c", "exponent = 1; /* subnormals", "exponent = 0; /* subnormals", "fp16",
        {}, shows),
)
