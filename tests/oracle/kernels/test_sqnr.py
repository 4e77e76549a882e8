# SPDX-License-Identifier: MIT
"""Every SQNR in JSON against exact rationals of inputs and outputs: casts of arrays and files, quantized values and
files, and dequantization. 10 log10(sum x^2 / sum (y - x)^2) over pairs of finite numbers, the logarithm to 60 digits.

A figure may have a relative error of 1e-12 or, near 0 dB, the number of dB that a relative error of 1e-12 in the ratio
makes (4.4e-12). If fp32 holds all numbers, both sums may have a relative error of 8.4e-7, and the figure the resulting
error (7.3e-6).

Usage: test_sqnr.py DTINFO [--long]
"""
import decimal
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
from decimal import Decimal
from fractions import Fraction

import harness
from formats import FORMATS
from tensor_files import read_file, write_file

decimal.getcontext().prec = 60
RELATIVE, ABSOLUTE, SINGLE = Decimal("1e-12"), Decimal("4.4e-12"), Decimal("7.3e-6")
WIDE = ("fp64", "F64", "int64", "uint64", "int32")
NAMES = {"F64": "fp64", "F32": "fp32", "F16": "fp16", "BF16": "bf16", "F8_E4M3": "fp8_e4m3fn", "F8_E5M2": "fp8_e5m2"}
CASTS = (("fp32", "bf16"), ("fp32", "fp16"), ("fp32", "fp8_e4m3fn"), ("fp32", "int8"), ("fp32", "uint8"), ("fp64", "fp32"),
         ("fp64", "bf16"), ("fp64", "int32"), ("bf16", "fp8_e5m2"), ("fp16", "bf16"), ("int16", "fp8_e4m3fn"),
         ("int64", "fp32"), ("uint64", "fp64"), ("fp32", "fp32"))
QUANTIZED = ("int8", "uint8", "int4", "int16", "fp8_e4m3fn", "fp8_e5m2", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp4",
             "mxint8", "nvfp4", "nf4", "bnb_fp4", "q8_0", "q4_0")


def ask(program, *words):
    done = subprocess.run([program, words[0], "--json", *words[1:]], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit("%s: exit %d" % (" ".join(words), done.returncode))
    return json.loads(done.stdout)


def values(name, data):
    """Codes in bytes as Fractions; None for NaN and infinities."""
    fmt, found = FORMATS[name], []
    size = fmt.width // 8
    for at in range(0, len(data), size):
        _, negative, value = fmt.decode(int.from_bytes(data[at:at + size], "little"))
        found.append(-value if negative and value is not None else value)
    return found


def decibels(x, y):
    """(SQNR, None for infinity; whether there is a signal and at least one pair)."""
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    signal, noise = sum(a * a for a, _ in pairs), sum((b - a) ** 2 for a, b in pairs)
    if noise == 0 or signal == 0:
        return None, signal != 0
    ratio = signal / noise
    return 10 * (Decimal(ratio.numerator) / Decimal(ratio.denominator)).log10(), True


def judge(tally, subject, loss, x, y, single=True):
    want, known = decibels(x, y)
    got = loss["sqnr_db"]
    if not known:
        tally.check(subject + ", no signal", got is None or got["value"] is None, True)
    elif want is None:
        # special values that became something else are a loss of unknown size
        tally.check(subject + ", no noise", got and got["text"], None if loss["inexact"] else "inf")
    else:
        off = abs(Decimal(got["value"]) - want)
        most = max(RELATIVE * abs(want), SINGLE if single else ABSOLUTE)
        tally.check("%s: %r, not %s" % (subject, got["value"], want), off <= most, True)


# Data.

def floats(rng, kind, count):
    """Doubles of one kind: ordinary, of any size, next to a large one, with special values, small, all close to
    zero dB."""
    if kind == "wide":
        return [rng.gauss(0, 1) * 2.0 ** rng.uniform(-30, 30) for _ in range(count)]
    if kind == "offset":
        return [1000 + rng.gauss(0, 0.01) for _ in range(count)]
    if kind == "specials":
        return [rng.choice((math.nan, math.inf, -math.inf, rng.gauss(0, 30), 0.0)) for _ in range(count)]
    if kind == "small":
        return [rng.gauss(0, 1e-30) for _ in range(count)]
    if kind == "lost":      # about as much noise as signal
        return [rng.uniform(-0.9, 0.9) for _ in range(count)] + [254.0 + rng.random(), -1e-3]
    return [rng.gauss(0, 1) for _ in range(count)]


KINDS = ("normal", "wide", "offset", "specials", "small", "lost")


def encoded(name, numbers, rng):
    """Numbers as bytes of a dtype, by the machine's rounding or plain truncation: only the stored value matters."""
    pack = {"fp64": "<d", "fp32": "<f", "fp16": "<e"}.get(name)
    if pack:
        return b"".join(struct.pack(pack, x) for x in numbers)
    if name == "bf16":
        return b"".join(struct.pack("<f", x)[2:] for x in numbers)
    size = FORMATS[name].width // 8
    return rng.randbytes(size * len(numbers))


def within(name, kind):
    return not (name == "fp16" and kind == "wide")


# The commands.

def arrays(tally, program, rng, turns):
    for source, target in CASTS:
        for kind in KINDS:
            for _ in range(turns if within(source, kind) else 0):
                data = encoded(source, floats(rng, kind, rng.choice((1, 2, 17, 600, 2500))), rng)
                with open("in.bin", "wb") as file:
                    file.write(data)
                words = ["--overflow", rng.choice(("native", "saturate"))]
                answer = ask(program, "cast", "--from", source, "in.bin", target, "-o", "out.bin", "--force", *words)
                with open("out.bin", "rb") as file:
                    made = file.read()
                judge(tally, "%s to %s, %s" % (source, target, kind), answer["loss"], values(source, data), values(target, made),
                      source not in WIDE and target not in WIDE)


def read(path):
    """name: numbers, for tensors that are not codes."""
    return {name: values(NAMES[dtype], raw) for name, (dtype, _, raw) in read_file(path).items() if dtype in NAMES}


def checkpoint(rng, dtype, kinds):
    shape = lambda: [rng.randrange(1, 5), rng.choice((64, 192))]
    made = {}
    for kind in kinds:
        rows, columns = shape()
        numbers = floats(rng, kind, rows * columns)[:rows * columns]
        made[kind] = (dtype, [rows, columns], encoded(NAMES[dtype], numbers, rng))
    return made


def judge_file(tally, subject, answer, x, y, single=True):
    """The figure of each tensor, and of all together."""
    every = [[], []]
    for row in answer["tensors"]:
        if row["loss"] is None:
            continue
        name = row["name"]
        judge(tally, "%s, %s" % (subject, name), row["loss"], x[name], y[name], single)
        every[0] += x[name]
        every[1] += y[name]
    judge(tally, subject + ", all", answer["totals"]["loss"], *every, single)


def files(tally, program, rng, turns):
    for _ in range(turns):
        for source, target in (("F32", "bf16"), ("F32", "fp8_e4m3fn"), ("F64", "fp32"), ("BF16", "fp8_e5m2")):
            write_file("in.safetensors", checkpoint(rng, source, KINDS))
            answer = ask(program, "cast", "in.safetensors", target, "-o", "out.safetensors", "--force")
            judge_file(tally, "file of %s to %s" % (source, target), answer, read("in.safetensors"), read("out.safetensors"),
                       source not in WIDE)


def quantization(tally, program, rng, turns):
    """Dequantized numbers are read from the file that --dequant makes; other oracle tests check that."""
    for target in QUANTIZED:
        for _ in range(turns):
            write_file("in.safetensors", checkpoint(rng, "F32", ("normal", "offset", "lost", "wide")))
            answer = ask(program, "quant", "in.safetensors", target, "-o", "q.safetensors", "--force")
            ask(program, "quant", "q.safetensors", "fp32", "--dequant", "-o", "back.safetensors", "--force")
            judge_file(tally, "quant to " + target, answer, read("in.safetensors"), read("back.safetensors"))
            for narrow in ("bf16", "fp8_e4m3fn"):
                there = ask(program, "quant", "q.safetensors", narrow, "--dequant", "-o", "narrow.safetensors", "--force")
                judge_file(tally, "%s dequantized to %s" % (target, narrow), there, read("back.safetensors"),
                           read("narrow.safetensors"))


def quantized_values(tally, program, rng, turns):
    for target in QUANTIZED:
        for _ in range(turns):
            numbers = [struct.unpack("<f", struct.pack("<f", rng.gauss(0, 3)))[0] for _ in range(rng.randrange(1, 100))]
            words = [repr(x) for x in numbers]
            loss = ask(program, "quant", "--", *words, target)["results"][0]["loss"]
            back = subprocess.run([program, "quant", "-q", "--", *words, target], stdout=subprocess.PIPE, check=True).stdout
            back = [struct.unpack("<f", struct.pack("<f", float(x)))[0] for x in back.split()]
            judge(tally, "values to " + target, loss, [Fraction(x) for x in numbers], [Fraction(x) for x in back])


def benchmarks(tally, program):
    """The figure in a benchmark report follows from the relative error next to it; the report does not contain the
    numbers."""
    for what in (["quant", "--size", "65536"], ["matmul", "--size", "64"]):
        for result in ask(program, "bench", *what, "--time", "0.001")["results"]:
            for row in result["candidates"]:
                total = row["total_error"]
                if not total or not total["relative"] or total["sqnr_db"] is None:
                    continue
                want = -20 * Decimal(total["relative"]).log10()
                got = total["sqnr_db"]
                off = abs(Decimal(got) - want)
                tally.check("bench %s: %r, not %s" % (what[0], got, want), off <= max(RELATIVE * abs(want), ABSOLUTE), True)


def main():
    program, long = harness.arguments()
    program = os.path.abspath(program)
    tally, rng = harness.Tally(), random.Random(11)
    turns = 10 if long else 1
    with tempfile.TemporaryDirectory(prefix="dtinfo-sqnr-") as folder:
        os.chdir(folder)
        arrays(tally, program, rng, 2 * turns)
        tally.part("casts of arrays")
        files(tally, program, rng, turns)
        tally.part("casts of files")
        quantization(tally, program, rng, turns)
        tally.part("quantized files and back")
        quantized_values(tally, program, rng, 2 * turns)
        tally.part("quantized values")
        if long:
            benchmarks(tally, program)
            tally.part("benchmarks")
        os.chdir("/")
    tally.finish()


main()
