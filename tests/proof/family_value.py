# SPDX-License-Identifier: MIT
"""The value path, dti_encode(): every number that struct dti_value can hold, of 128 bits and a mark for what lies beyond, to every
format, in all rounding modes; with that the flag for inexact results. There is no loop in it, so nothing is bounded but the exponent,
as the header says. What makes such a number of decimal text is not in here."""
import ctypes
import json
import struct
import subprocess

import z3

from exact import EXPONENT, Rounding
from lanes import INF, POLICIES, ROUNDS, Run, compiled, constants, container, formats, power_of_two, special
from lanes import FORMATS, Fraction, chosen, encode, nan_code
from seeded import Bug, native
from symbolic import Scalar
from theorem import Claim, Theorem, defined

FAMILY = "The value path's one rounding: `encode.c` for every struct dti_value, all policies of overflow (but wrap) and NaN, and its flag"
# Called by what is not proved here, and not linked where a bug is shown.
ABSENT = ("dti_random_bits", "dti_taper_run", "dti_taper_place", "dti_taper_code", "dti_taper_signed", "dti_taper_magnitude",
          "dti_taper_number")
C = "".join("#pragma weak %s\n" % name for name in ABSENT) + """
#include "core/code/encode.c"
#include "core/code/codes.c"
void of_value(const struct dti_format *f, const struct dti_value *v, const struct dti_policy *p, struct dti_outcome *ret)
{ dti_encode(f, v, p, 0, ret); }
"""
INEXACT, LIMIT = 1, 1 << 24
NAN_CLASS, INF_CLASS, FINITE, ZERO = 3, 2, 1, 0
MODES = ROUNDS + ("stochastic",)


def number(run, kind):
    """Memory with any value of this class, and its variables."""
    x = {name: z3.BitVec(name, width) for name, width in (("negative", 1), ("sticky", 1), ("exponent", 32), ("hi", 64), ("lo", 64))}
    if kind == FINITE:
        run.axioms += [z3.Extract(63, 63, x["hi"]) == 1, x["exponent"] < LIMIT, x["exponent"] >= -LIMIT]
    else:
        run.axioms += [x[name] == 0 for name in ("sticky", "exponent", "lo") + (() if kind == NAN_CLASS else ("hi",))]
    whole = z3.Concat(x["lo"], x["hi"], z3.BitVecVal(0, 32), x["exponent"], z3.BitVecVal(0, 16), z3.ZeroExt(7, x["sticky"]),
                      z3.ZeroExt(7, x["negative"]), z3.BitVecVal(kind, 32))
    return x, run.object("value", [z3.Extract(i + 7, i, whole) for i in range(0, 256, 8)])


def policy_memory(run, mode, policy):
    """struct dti_policy: mode, overflow and NaN in three words, then seed and stream."""
    words = [z3.BitVecVal(MODES.index(mode), 32), z3.ZeroExt(30, z3.Extract(2, 1, policy)), z3.ZeroExt(31, z3.Extract(0, 0, policy))]
    whole = z3.Concat(z3.BitVecVal(0, 160), *reversed(words))
    return run.object("policy", [z3.Extract(i + 7, i, whole) for i in range(0, 256, 8)])


def not_a_number(fmt, mode, policy, x, negative):
    def of(_overflow, minus, nan):
        if not fmt.is_float:
            return 0
        if not fmt.nan:
            return fmt.max_code()
        return fmt.canonical_nan() if nan == "canonical" else nan_code(fmt, minus)
    code, width = special(fmt, mode, policy, negative, of), container(fmt)[0]
    if not fmt.ieee:
        return code
    top = z3.Extract(63, 64 - fmt.man, x["hi"])  # with the quiet bit
    payload = z3.ZeroExt(width - fmt.man, top)
    return code | (payload & chosen(policy, [(1 << width) - 1 if nan == "quiet" else 0 for _, nan in POLICIES], width))


def finite(fmt, mode, policy, x, negative, random, code, flags):
    significand = z3.Concat(x["hi"], x["lo"], x["sticky"])
    wide = z3.Extract(EXPONENT - 1, 0, x["exponent"]) - 128
    rounding = Rounding(fmt, mode, (significand, wide), negative, random)
    inexact = z3.Extract(0, 0, flags) == INEXACT
    if not fmt.is_float:
        return rounding.integer_right(code)
    beyond = code == special(fmt, mode, policy, negative,
                             lambda overflow, minus, nan: encode(fmt, "finite", minus, power_of_two(100000), mode, overflow)[0])
    return rounding.float_right(policy, code, z3.And(beyond, inexact),
                                lambda index: inexact == z3.Or(rounding.beyond(index, 0, 1), z3.Not(rounding.from_on(index, 0, 1))))


def claim(fmt, mode, kind):
    random, policy = z3.BitVec("random", 32), z3.BitVec("policy", 3)
    run = Run(compiled(C), {"dti_random_bits": lambda *_: Scalar(random, False)})
    x, value = number(run, kind)
    target = run.object("outcome", [None] * 16)
    run.call("of_value", [run.object("format", [z3.BitVecVal(byte, 8) for byte in constants()["decoder", fmt.name]]), value,
                          policy_memory(run, mode, policy), target])
    stored, flags = [run.value_of_bytes(("int", size), [run.memory["outcome"][at + i] for i in range(size // 8)])
                     for at, size in ((0, 64), (8, 32))]
    width, negative = container(fmt)[0], x["negative"] == 1
    code = z3.Extract(width - 1, 0, stored.bits)
    clean = z3.LShR(stored.bits, width) == 0 if width < 64 else z3.BoolVal(True)
    if kind == FINITE:
        goal = finite(fmt, mode, policy, x, negative, random, code, flags.bits)
    elif kind == NAN_CLASS:
        goal = code == not_a_number(fmt, mode, policy, x, negative)
    else:
        goal = code == special(fmt, mode, policy, negative, lambda overflow, minus, nan: encode(
            fmt, INF if kind == INF_CLASS else "zero", minus, None if kind == INF_CLASS else Fraction(0), mode, overflow)[0])
    if not fmt.is_float:  # wrap keeps the low bits: tested
        goal = z3.Or(z3.Extract(2, 1, policy) == 3, goal)
    return Claim(run, dict(x, policy=policy, random=random), z3.And(defined(stored, flags), clean, goal))


def theorems(sample):
    for count, fmt in enumerate(formats(("float", "ufloat", "int", "uint"))):
        rare = fmt.name.startswith("binary")
        for mode in (("nearest-even",) if rare else MODES):
            if not sample or (count % 16 == 4 and mode == "nearest-even"):
                yield Theorem("value", "finite to %s, %s" % (fmt.name, mode), lambda row=(fmt, mode, FINITE): claim(*row))
        for name, kind in (("zero", ZERO), ("infinity", INF_CLASS), ("NaN", NAN_CLASS)):
            if not sample or count % 16 == 4:
                yield Theorem("value", "%s to %s" % (name, fmt.name), lambda row=(fmt, "nearest-even", kind): claim(*row))


def shown(name, mode):
    """shows() of a bug: the number is written as hexadecimal text, which the program reads by the same path."""
    fmt = FORMATS[name]

    def shows(inputs, program):
        significand, exponent = inputs["hi"] << 64 | inputs["lo"], inputs["exponent"] - (1 << 32 if inputs["exponent"] >> 31 else 0)
        magnitude = significand * power_of_two(exponent - 127)
        negative = bool(inputs["negative"])
        exact = encode(fmt, "finite", negative, magnitude, mode, "native")[0]
        text = "%s0x%xp%d" % ("-" if negative else "", significand, exponent - 127)
        done = subprocess.run([program, "cast", text, name, "--round", mode, "--json"], check=True, stdout=subprocess.PIPE)
        ours = int(json.loads(done.stdout)["results"][0]["bits"], 16)
        value = struct.pack("<I??xxixxxxQQ", FINITE, negative, False, exponent, inputs["hi"], inputs["lo"])
        with native(C) as library:
            outcome = ctypes.create_string_buffer(16)
            library.of_value(constants()["decoder", name], value, struct.pack("<III20x", MODES.index(mode), 0, 0), outcome)
        return hex(int.from_bytes(outcome.raw[:8], "little")), hex(ours), hex(exact)
    return shows


PINNED = {"policy": 0, "sticky": 0, "exponent": 0}
SEEDED = (
    Bug("a tie goes to the odd neighbour", "core/code/encode.c", "return cut->half && (cut->rest || odd);",
        "return cut->half && (cut->rest || !odd);", "finite to fp16, nearest-even", dict(PINNED, exponent=(1 << 32) - 20), shown("fp16", "nearest-even")),
    Bug("bits beyond the first 64 do not count", "core/code/encode.c", "cut.rest = (high << 1 | low) != 0 || sticky;",
        "cut.rest = (high << 1) != 0 || sticky;", "finite to bf16, up", PINNED, shown("bf16", "up")),
)
