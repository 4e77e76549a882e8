# SPDX-License-Identifier: MIT
"""check --fits at the limits of every dtype, against exact rationals: the largest number, the last number that still
rounds to it and the first that does not, the smallest and half of it, zeros of both signs, infinities and NaN, each as
a separate tensor in fp64, fp32 and int64, in npz and in npy.

The rule of dtinfo-check(1): every finite number must round to a finite one (to nearest, ties to even; towards zero for
an integer dtype), and NaNs and infinities need a dtype that has them.

Usage: test_fits.py DTINFO [--long]
"""
import itertools
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import zipfile
from fractions import Fraction

import harness
from formats import FORMATS, floor_log2, power_of_two

NAN, INF = math.nan, math.inf
# numpy descr, bytes, struct format
SOURCES = {"fp64": ("<f8", 8, "<d"), "fp32": ("<f4", 4, "<f"), "int64": ("<i8", 8, "<q")}
BITS = {"fp64": (53, -1074, 1024), "fp32": (24, -149, 128)}     # significand bits, exponent of the smallest step, exponent limit


def limit(fmt):
    """(the midpoint between the largest number and its would-be successor, whether the midpoint itself still fits). A posit has no
    successor: what exceeds its largest number does not fit."""
    if fmt.posit:
        return fmt.magnitude(fmt.max_index), True
    return (fmt.magnitude(fmt.max_index) + fmt.magnitude(fmt.max_index + 1)) / 2, not fmt.is_odd(fmt.max_index)


def integer_ends(fmt):
    return (-(1 << fmt.width - 1), (1 << fmt.width - 1) - 1) if fmt.signed else (0, (1 << fmt.width) - 1)


def fits(fmt, x):
    if x != x:
        return bool(fmt.is_float and fmt.nan)
    if x in (INF, -INF):
        return fmt.is_float and len(fmt.inf) > (0 if x > 0 else 1)
    if fmt.kind == "bool":
        return True     # anything nonzero is true
    x = Fraction(x)
    if not fmt.is_float:
        low, high = integer_ends(fmt)
        return low <= math.trunc(x) <= high
    end, tie = limit(fmt)
    if x < 0 and not fmt.signed:        # only values that round to zero fit, and a scale format has no zero
        return not fmt.scale and -x <= fmt.magnitude(1) / 2
    return abs(x) < end or (abs(x) == end and tie)


def is_held(x, digits, least, beyond):
    """Whether a dtype holds a rational exactly."""
    odd = abs(x.numerator) // (x.numerator & -x.numerator) if x else 0
    return odd.bit_length() <= digits and (x / power_of_two(least)).denominator == 1 and abs(x) < power_of_two(beyond)


def around(value, source):
    """Numbers of a source dtype at a rational or on both sides of it, and their neighbours."""
    if source == "int64":
        whole = value // 1
        return [whole + d for d in (-1, 0, 1, 2) if -2**63 <= whole + d < 2**63]
    digits, least, beyond = BITS[source]
    if value == 0:
        return [k * power_of_two(least) for k in (0, 1, -1)]
    step = power_of_two(max(floor_log2(abs(value)) - digits + 1, least))
    found = [(value // step + d) * step for d in (-1, 0, 1, 2)] + [value // step * step + step / 2]
    return [x for x in found if is_held(x, digits, least, beyond)]


def edges(fmt):
    """Rationals where the answer may change, or would change with a common mistake."""
    if fmt.kind == "bool":
        return [Fraction(n) for n in (0, 1, 2, 255, 256)]
    if not fmt.is_float:
        low, high = integer_ends(fmt)
        half = Fraction(1, 2)
        return [Fraction(n) for n in (low - 1, low - half, low, 0, -half, half, high, high + half, high + 1, 2 * high, 2 * low)]
    largest, end = fmt.magnitude(fmt.max_index), limit(fmt)[0]
    magnitudes = [largest, end, fmt.magnitude(fmt.max_index + 1), 2 * largest, fmt.magnitude(0 if fmt.scale else 1),
                  fmt.magnitude(0 if fmt.scale else 1) / 2, fmt.magnitude(1) / 4, Fraction(0), Fraction(1)]
    return [sign * m for m in magnitudes for sign in (1, -1)]


def numbers(fmt, source, rng, count):
    found = {int(x) if source == "int64" else x for edge in edges(fmt) for x in around(edge, source)}
    if source == "int64":
        found |= {-2**63, 2**63 - 1, 0, 2**53 + 1, -2**53 - 1}
        found |= {rng.randrange(-2**63, 2**63) >> rng.randrange(64) for _ in range(count)}
        return sorted(found)
    pack, unpack = SOURCES[source][2], "<" + ("Q" if source == "fp64" else "I")
    some = [struct.unpack(pack, struct.pack(unpack, rng.getrandbits(8 * struct.calcsize(pack))))[0] for _ in range(count)]
    some += [math.ldexp(rng.choice((1, -1)) * rng.random(), rng.randrange(-20, 70)) for _ in range(count)]
    some = [struct.unpack(pack, struct.pack(pack, x))[0] for x in some]
    return [float(x) for x in sorted(found)] + [0.0, -0.0, INF, -INF, NAN, -NAN] + some


def npy(descr, shape, data):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + data


def write_npz(path, source, tensors):
    """One tensor per list of numbers, named by its position."""
    descr, _, pack = SOURCES[source]
    with zipfile.ZipFile(path, "w") as file:
        for i, values in enumerate(tensors):
            data = b"".join(struct.pack(pack, x) for x in values)
            file.writestr("t%d.npy" % i, npy(descr, "(%d,)" % len(values), data))


def failing(program, path, fmt, *words):
    """(the names of the tensors that do not fit, how many were checked)."""
    done = subprocess.run([program, "check", path, "--fits", fmt.name, "--json", *words], stdout=subprocess.PIPE)
    if done.returncode not in (0, 1):
        sys.exit("check %s --fits %s: exit %d" % (path, fmt.name, done.returncode))
    found = json.loads(done.stdout)["files"][0]["assertions"][0]
    names = {failure["tensor"] for failure in found["failures"]}
    if (not names) != found["ok"] or (done.returncode == 0) != found["ok"]:
        sys.exit("check %s --fits %s: %s" % (path, fmt.name, found))
    return names, found["tensors"]


def judge(tally, program, fmt, source, tensors):
    write_npz("x.npz", source, tensors)
    names, asked = failing(program, "x.npz", fmt, "--ints")
    tally.check("%s of %s: tensors" % (fmt.name, source), asked, len(tensors))
    for i, values in enumerate(tensors):
        tally.check("%s of %s: %s fits" % (fmt.name, source, [x.hex() if isinstance(x, float) else x for x in values]),
                    "t%d" % i not in names, all(fits(fmt, x) for x in values))


def main():
    program, long = harness.arguments()
    program = os.path.abspath(program)
    tally = harness.Tally()
    rng = random.Random(19)
    listed = json.loads(subprocess.run([program, "list", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    names = [row["dtype"] for row in listed["dtypes"] if row["kind"] != "complex"]
    tally.check("dtypes without a model", [name for name in names if name not in FORMATS], [])
    with tempfile.TemporaryDirectory(prefix="dtinfo-fits-") as folder:
        os.chdir(folder)
        for fmt, source in itertools.product(FORMATS.values(), SOURCES):
            if fmt.name == source:
                continue
            single = numbers(fmt, source, rng, 500 if long else 5)
            judge(tally, program, fmt, source, [[x] for x in single])
            several = [[rng.choice(single) for _ in range(rng.randrange(2, 5))] for _ in range(500 if long else 20)]
            judge(tally, program, fmt, source, several)
        tally.part("%d dtypes, edges in npz" % len(FORMATS))
        for name, source in itertools.product(("fp16", "fp8_e4m3fn", "int8", "uint8"), SOURCES):
            fmt = FORMATS[name]
            for x in numbers(fmt, source, rng, 0):
                descr, _, pack = SOURCES[source]
                with open("x.npy", "wb") as file:
                    file.write(npy(descr, "()", struct.pack(pack, x)))
                tally.check("%s of %s in npy: %r" % (name, source, x), not failing(program, "x.npy", fmt, "--ints")[0],
                            fits(fmt, x))
        write_npz("x.npz", "int64", [[1 << 40]])
        tally.check("integers without --ints", failing(program, "x.npz", FORMATS["int8"]), (set(), 0))
        tally.part("npy")
        os.chdir("/")
    tally.finish()


main()
