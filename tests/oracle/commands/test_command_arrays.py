#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo cast` of arrays against the reference formats of tests/oracle, in exact rationals: the bytes, and the counts
and errors of the report; from files and pipes, as text and raw, with any number of threads.

usage: test_command_arrays.py DTINFO
"""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

import formats

PROGRAM = os.path.abspath(sys.argv[1])
COUNT = 5000  # two tiles and a partial one
FORMATS = formats.build()
# source, destination, options
CASES = [("fp32", "bf16", []), ("fp32", "fp16", []), ("fp32", "fp8_e4m3fn", []),
         ("fp32", "fp8_e4m3fn", ["--overflow", "saturate"]), ("fp32", "int8", []),
         ("fp32", "int16", ["--round", "nearest-even"]), ("fp32", "fp8_e8m0", []),
         ("fp32", "uint8", ["--overflow", "wrap"]), ("fp32", "fp6_e3m2", ["--overflow", "saturate"]),
         ("fp32", "fp4_e2m1", ["--overflow", "saturate"]), ("fp32", "fp16", ["--round", "up"]),
         ("fp32", "bf16", ["--round", "stochastic", "--seed", "7"]), ("fp32", "fp64", []),
         ("fp64", "fp32", []), ("fp64", "bf16", []), ("fp64", "fp16", ["--round", "odd"]),
         ("fp64", "int64", []), ("fp16", "fp8_e5m2", []), ("bf16", "fp32", []), ("bf16", "fp16", []),
         ("fp8_e5m2", "fp16", []), ("fp8_e4m3fn", "fp4_e2m1", ["--overflow", "saturate"]),
         ("int64", "fp32", []), ("int64", "bf16", []), ("uint64", "fp16", []), ("int32", "int8", []),
         ("int8", "fp32", []), ("fp4_e2m1", "fp32", []), ("fp6_e2m3", "bf16", []), ("e5m6b3", "e6m9", []),
         ("bool", "fp16", []), ("tf32", "fp16", []), ("int4", "uint4", [])]


def wrong(message, *details):
    raise AssertionError(" ".join([message] + [repr(detail)[:300] for detail in details]))


def container(dtype):
    return 1 if dtype.width <= 8 else 2 if dtype.width <= 16 else 4 if dtype.width <= 32 else 8


def pack(dtype, codes, packing="low", order="little"):
    """The bytes of an array as the man page defines them, written with Python integers."""
    if dtype.width < 8 and packing != "bytes":
        fill = -len(codes) * dtype.width % 8
        if packing == "low":
            joined = sum(code << i * dtype.width for i, code in enumerate(codes))
            return joined.to_bytes((len(codes) * dtype.width + fill) // 8, "little")
        joined = 0
        for code in codes:
            joined = joined << dtype.width | code
        return (joined << fill).to_bytes((len(codes) * dtype.width + fill) // 8, "big")
    shift = 13 if dtype.name == "tf32" else 0
    return b"".join((code << shift).to_bytes(container(dtype), order) for code in codes)


def draw(dtype, rng, count):
    """Codes of all kinds; most floats of ordinary size, so that casts round and do not only overflow."""
    def one():
        if dtype.name == "bool":
            return rng.getrandbits(1)
        if not dtype.is_float or dtype.width <= 8 or rng.random() < 0.2:
            return rng.getrandbits(dtype.width)
        exponent = dtype.bias + rng.randint(-18, 17)
        if not 0 < exponent < (1 << dtype.exp) - 1:
            return rng.getrandbits(dtype.width)
        sign = dtype.sign_bit if rng.random() < 0.5 else 0
        return sign | exponent << dtype.man | rng.getrandbits(dtype.man)
    codes = [one() for _ in range(count)]
    # NaNs keep only their sign: other tests cover payloads
    return [dtype.canonical_nan() if code in (dtype.nan or ()) else code for code in codes]


def value_of(options, name, default):
    return options[options.index(name) + 1] if name in options else default


def expected(source, target, codes, options):
    """(codes, expected report) from the reference model."""
    mode = value_of(options, "--round", "nearest-even" if target.is_float else "zero")
    overflow, seed = value_of(options, "--overflow", "native"), int(value_of(options, "--seed", "0"))
    stored, errors, signal = [], [], Fraction(0)
    loss = dict.fromkeys(("inexact", "overflowed", "to_zero", "nan", "inf"), 0)
    for index, code in enumerate(codes):
        cls, negative, value = source.decode(code)
        new, flags = formats.encode(target, cls, negative, value, mode, overflow, seed, index)
        stored.append(new)
        new_cls, new_negative, new_value = target.decode(new)
        finite = value is not None and new_value is not None
        loss["nan"] += cls == formats.NAN
        loss["inf"] += cls == formats.INF
        loss["overflowed"] += value is not None and bool(flags & formats.OVERFLOW)
        before = -value if finite and negative else value
        after = -new_value if finite and new_negative else new_value
        same = before == after if finite else (cls, negative and cls != formats.NAN) == \
            (new_cls, new_negative and new_cls != formats.NAN)
        loss["inexact"] += not same
        loss["to_zero"] += bool(finite and before != 0 and after == 0)
        if finite:
            errors.append((abs(after - before), index, abs(before)))
            signal += before * before
    loss["compared"] = len(errors)
    return stored, loss, errors, signal


def to_float(value):
    """Infinity beyond the fp64 range: squares of large numbers overflow."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


SUMS = 8.4e-7  # relative error allowed for sums of numbers that fp32 holds


def is_near(node, want, what, relative=1e-12, absolute=0.0):
    """Sums round once per tile and once at the end. A value beyond fp64 must be null."""
    if not math.isfinite(want):
        if node is not None:
            wrong(what, node, None)
        return
    got = node["value"] if node["value"] is not None else float(node["text"])
    if not math.isclose(got, want, rel_tol=relative, abs_tol=absolute):
        wrong(what, got, want)


def fits_fp32(dtype):
    if not dtype.is_float:
        return dtype.max_code() <= 1 << 24
    return dtype.man <= 23 and dtype.magnitude(1) >= Fraction(1, 1 << 149) and \
        dtype.magnitude(dtype.max_index) < 2**128


def check_loss(loss, counts, errors, signal, single):
    for name, count in counts.items():
        if loss[name] != count:
            wrong(name, loss[name], count)
    if not errors:
        return
    largest = max(error for error, _, _ in errors)
    is_near(loss["max_absolute_error"], float(largest), "max absolute error")
    first = min(index for error, index, _ in errors if error == largest)
    if loss["max_absolute_error_index"] != (first if largest else None):
        # errors that fp64 cannot distinguish are tied
        tied = [index for error, index, _ in errors if float(error) == float(largest)]
        if loss["max_absolute_error_index"] not in tied:
            wrong("index", loss["max_absolute_error_index"], first)
    relative = SUMS if single else 1e-12
    total = sum(error for error, _, _ in errors)
    squares = sum(error * error for error, _, _ in errors)
    is_near(loss["mean_absolute_error"], float(total / len(errors)), "mean absolute error", relative)
    is_near(loss["root_mean_square_error"], math.sqrt(to_float(squares / len(errors))),
            "root mean square", relative)
    is_near(loss["max_relative_error"],
            float(max((error / size for error, _, size in errors if size), default=0)), "relative")
    known = all(2.0 ** -950 < to_float(sum_) < math.inf for sum_ in (squares, signal))
    if known:
        is_near(loss["sqnr_db"], 10 * math.log10(to_float(signal) / to_float(squares)), "SQNR",
                1e-12, 20 / math.log(10) * SUMS if single else 0.0)


def run(words, stdin=b"", code=0):
    done = subprocess.run([PROGRAM, "cast"] + words, input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    if done.returncode != code:
        wrong("exit code", words, done.returncode, done.stderr)
    return done.stdout


def number_text(dtype, code):
    """One number as exact text, for --from text."""
    cls, negative, value = dtype.decode(code)
    if value is None:
        return ("-" if negative else "") + cls
    return "%s%d/%d" % ("-" if negative else "", value.numerator, value.denominator)


def check_case(folder, source, target, options, rng):
    codes = draw(source, rng, COUNT)
    if source.width < 8:
        codes += [0] * (-len(codes) % 8)
    stored, counts, errors, signal = expected(source, target, codes, options)
    want = pack(target, stored)
    raw, out = folder / "in.bin", folder / "out.bin"
    raw.write_bytes(pack(source, codes))
    common = [target.name, "--from", source.name] + options
    document = json.loads(run([str(raw)] + common + ["-o", str(out), "--json", "--force"]))
    got = out.read_bytes()
    if got != want:
        at = next((i for i, pair in enumerate(zip(got, want)) if pair[0] != pair[1]), -1)
        wrong("bytes differ", len(got), len(want), at, got[at:at + 8], want[at:at + 8])
    if document["elements"] != len(codes) or document["output"]["bytes"] != len(want):
        wrong("sizes", document["elements"], document["output"])
    check_loss(document["loss"], counts, errors, signal, fits_fp32(source) and fits_fp32(target))
    for threads in ("2", "7"):
        again = json.loads(run([str(raw)] + common + ["-o", str(out), "--json", "--force",
                                                      "--threads", threads]))
        if out.read_bytes() != want or again["loss"] != document["loss"]:
            wrong("another answer with threads", threads)
    if run(["-"] + common + ["-o", "-"], raw.read_bytes()) != want:
        wrong("another answer through pipes")
    level = os.environ.copy()
    os.environ["DTINFO_CPU"] = "scalar"
    run([str(raw)] + common + ["-o", str(out), "-q", "--force"])
    os.environ.clear()
    os.environ.update(level)
    if out.read_bytes() != want:
        wrong("another answer at the level scalar")
    text = " ".join(number_text(source, code) for code in codes).encode("ascii")
    run(["-", target.name, "--from", "text", "-o", str(out), "-q", "--force"] + options, text)
    if out.read_bytes() != want:
        wrong("another answer from text")
    lines = run([str(raw)] + common + ["--as", "text"]).decode("ascii").split()
    back = [number for number in map(target.decode, stored)]
    for line, (cls, negative, value) in zip(lines, back):
        shown = ("-" if negative and cls != formats.NAN else "") + cls if value is None else None
        same = line == shown if value is None else target.width > 53 or \
            Fraction(float(line)) == (-value if negative else value)
        if not same:
            wrong("text", line, cls, negative, value)
    if len(lines) != len(stored):
        wrong("lines", len(lines))


def check_layouts(folder, rng):
    for name in ("fp4_e2m1", "fp6_e3m2", "int1", "uint2", "e2m2"):
        dtype = formats.ieee("e2m2", 2, 2) if name == "e2m2" else FORMATS[name]
        codes = [rng.getrandbits(dtype.width) for _ in range(1000)]
        for first in ("low", "high", "bytes"):
            (folder / "a").write_bytes(pack(dtype, codes, first))
            for second in ("low", "high", "bytes"):
                run([str(folder / "a"), name, "--from", name, "--from-packing", first, "--packing",
                     second, "-o", str(folder / "b"), "--force"])
                if (folder / "b").read_bytes() != pack(dtype, codes, second):
                    wrong("packing", name, first, second)
    for name in ("fp16", "fp32", "fp64", "int16", "uint64", "tf32"):
        dtype = FORMATS[name]
        codes = draw(dtype, rng, 1000)
        (folder / "a").write_bytes(pack(dtype, codes, order="big"))
        run([str(folder / "a"), name, "--from", name, "--endian", "big", "-o", str(folder / "b"),
             "--force"])
        if (folder / "b").read_bytes() != pack(dtype, codes):
            wrong("byte order", name)


def main():
    failed = 0
    # checks the test's own packing against another writer
    if pack(FORMATS["fp32"], [0x3f800000, 0xc0490fdb]) != struct.pack("<ff", 1, -3.14159274):
        wrong("the test is wrong")
    with tempfile.TemporaryDirectory(prefix="dtinfo-arrays-") as scratch:
        for number, (source, target, options) in enumerate(CASES):
            try:
                check_case(pathlib.Path(scratch), FORMATS[source], FORMATS[target], options,
                           random.Random(number))
            except AssertionError as error:
                failed += 1
                print("FAILED %s -> %s %s: %s" % (source, target, " ".join(options), error))
        try:
            check_layouts(pathlib.Path(scratch), random.Random(1))
        except AssertionError as error:
            failed += 1
            print("FAILED %s" % error)
    print("%d casts judged, %d failed" % (len(CASES), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
