#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `dtinfo bench dot` and `bench matmul` compute from operands in files, against exact fractions: each number is
cast to the dtype once (by the oracle's model), exact results are those of the cast numbers, and total errors are
relative to the numbers of the file. Products of int8 are exact, so their errors are known to the last digit.

usage: test_command_bench_operands.py DTINFO
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

from dequant_files import f32, npy
import formats
from tensor_files import write_file

PROGRAM = os.path.abspath(sys.argv[1])
RNG = random.Random(8)
FAILURES, CHECKS = [], [0]


def check(holds, *words):
    CHECKS[0] += 1
    if not holds:
        FAILURES.append(words)
        print("FAILED", *words)


def bench(*words):
    done = subprocess.run([PROGRAM, "bench", *words, "--threads", "1", "--time", "0.01", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    check(done.returncode == 0, "exit code", done.returncode, words, done.stderr)
    document = json.loads(done.stdout)
    return document["options"], {item["dtype"]: item for item in document["results"][0]["candidates"]
                                 if item["role"] == words[0]}, document["results"][0]


def cast(name, x):
    """The number of a dtype nearest to x, ties to even."""
    magnitude = abs(Fraction(x))
    code, _ = formats.encode(formats.FORMATS[name], "finite" if magnitude else "zero", x < 0, magnitude)
    _, negative, value = formats.FORMATS[name].decode(code)
    return -value if negative else value


def close(got, want, relative, *words):
    check(abs(Fraction(got) - want) <= abs(want) * Fraction(relative), *words, got, float(want))


def int8(numbers, scale):
    """The codes: x / scale rounded to fp32, then to an integer."""
    return [max(-128, min(127, round(Fraction(f32(float(Fraction(f32(x)) / Fraction(f32(scale)))))))) for x in numbers]


def judge_item(name, item, cast_terms, terms):
    """If every number is one element: a dot product."""
    exact, original = sum(cast_terms), sum(terms)
    close(item["exact_sum"], exact, 2.0 ** -52, name, "exact result of the cast numbers")
    total = item["total_error"]
    close(total["exact"], original, 2.0 ** -52, name, "exact result of the file's numbers")
    check(total["elements"] == 1 and total["mean"] == total["largest"], name, "one element", total)


def judge_dot(a, b, files):
    options, items, _ = bench("dot", "--a", files[0], "--b", files[1])
    check((options["a"], options["b"]) == files, "files", options)
    check(set(items) == {"fp32", "fp64", "fp16", "bf16", "int8"}, "dtypes", set(items))
    terms = [Fraction(x) * Fraction(y) for x, y in zip(a, b)]
    for name in ("fp64", "fp32", "fp16", "bf16"):
        judge_item(name, items[name], [cast(name, x) * cast(name, y) for x, y in zip(a, b)], terms)
    scales = items["int8"]["scales"]
    codes = [p * q for p, q in zip(int8(a, scales[0]), int8(b, scales[1]))]
    check(items["int8"]["sum"] == sum(codes), "int8 dot", items["int8"]["sum"], sum(codes))
    judge_item("int8", items["int8"], codes, terms)


def judge_matmul(m, n, k, a, b, files):
    _, items, result = bench("matmul", "--a", files[0], "--b", files[1], "--dtype", "fp32,bf16,int8,fp64", "--engine", "dtinfo")
    check((result["m"], result["n"], result["k"]) == (m, n, k), "sizes", result)
    want = [sum(Fraction(a[i * k + at]) * Fraction(b[at * n + j]) for at in range(k)) for i in range(m) for j in range(n)]
    if "int8" in items:
        total, (left, right) = items["int8"]["total_error"], items["int8"]["scales"]
        p, q = int8(a, left), int8(b, right)
        factor = Fraction(f32(left * right))
        got = [Fraction(f32(float(sum(p[i * k + at] * q[at * n + j] for at in range(k)) * factor)))
               for i in range(m) for j in range(n)]
        errors = [abs(x - y) for x, y in zip(got, want)]
        check(total["elements"] == m * n, "int8 elements", total)
        close(total["mean"], sum(errors) / len(errors), 1e-6, "int8 mean absolute error")
        close(total["largest"], max(errors), 1e-6, "int8 largest error")
    for name in ("fp32", "bf16", "fp64"):
        if name not in items:
            continue
        exact = [sum(cast(name, a[i * k + at]) * cast(name, b[at * n + j]) for at in range(k))
                 for i in range(m) for j in range(n)]
        item = items[name]
        check(any(abs(Fraction(item["exact_sum"]) - x) <= abs(x) * Fraction(2.0 ** -52) for x in exact),
              name, "the exact element is one of the product of the cast numbers", item["exact_sum"])
        if name == "fp64":
            check(item["total_error"] is None, "fp64 total", item)
            continue
        total = item["total_error"]
        check(any(abs(Fraction(total["exact"]) - x) <= abs(x) * Fraction(1e-12) for x in want), name, "exact element", total)
        check(0 < total["mean"] <= total["largest"], name, "mean error", total)
        if name == "bf16":
            close(total["mean"], sum(abs(x - y) for x, y in zip(exact, want)) / len(want), 1e-2,
                  name, "mean absolute error, nearly all of it from the cast")


def pack(kind, numbers):
    return struct.pack("<%d%s" % (len(numbers), kind), *numbers)


def main():
    with tempfile.TemporaryDirectory(prefix="dtinfo-operands-") as folder:
        os.chdir(folder)
        a = [RNG.gauss(0, 1) for _ in range(257)]
        b = [f32(RNG.gauss(0, 1)) for _ in range(257)]
        npy("a.npy", "<f8", [257], pack("d", a))
        npy("b.npy", "<f4", [257, 1], pack("f", b))
        judge_dot(a, b, ("a.npy", "b.npy"))
        m, n, k = 11, 9, 23
        left = [f32(RNG.gauss(0, 3)) for _ in range(m * k)]
        right = [RNG.randrange(-50, 50) for _ in range(k * n)]
        vector = [RNG.randrange(-(1 << 60), 1 << 60) for _ in range(k)]
        write_file("m.safetensors", {"x:left": ("F32", [m, k], pack("f", left)), "right": ("I64", [k, n], pack("q", right)),
                                     "v": ("I64", [k], pack("q", vector))})
        judge_matmul(m, n, k, left, right, ("m.safetensors:x:left", "m.safetensors:right"))
        judge_matmul(m, 1, k, left, vector, ("m.safetensors:x:left", "m.safetensors:v"))
        judge_matmul(1, n, k, vector, right, ("m.safetensors:v", "m.safetensors:right"))
        os.rename("a.npy", "a:b.npy")
        judge_dot(a, b, ("a:b.npy", "b.npy"))
    print("%d checks, %d failed" % (CHECKS[0], len(FAILURES)))
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
