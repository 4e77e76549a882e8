#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that calc reads and writes, against numpy: inputs of every dtype, rank and order of numpy; numpy reads the
results back and must have computed the same. Errors in documents are checked with fractions.

usage: test_command_calc.py DTINFO
"""
import json
import math
import operator
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

try:
    import numpy
except ImportError:
    print("skipped: needs numpy")
    sys.exit(77)
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

PROGRAM = os.path.abspath(sys.argv[1])
FLOATS = {"float16": "fp16", "float32": "fp32", "float64": "fp64"}
INTEGERS = {"int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
            "uint16": "uint16", "uint32": "uint32", "uint64": "uint64"}
SHAPES = [(), (0, 3), (1,), (7,), (3, 5), (2, 3, 4), (1, 4, 1, 2)]
checks = 0


def require(holds, *details):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(" ".join(str(detail)[:600] for detail in details))


def calc(expression, dtype, *words):
    done = subprocess.run([PROGRAM, "calc", expression, dtype, "--true-value", "never", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    require(done.returncode == 0, expression, dtype, words, done.stderr)
    return done.stdout.decode()


def same(got, want, *details):
    require(got.dtype == want.dtype and got.shape == want.shape, got.dtype, got.shape, want.dtype, want.shape,
            *details)
    require(numpy.ascontiguousarray(got).tobytes() == numpy.ascontiguousarray(want).tobytes(), got, want, *details)


def orders(array):
    yield "C", array
    yield "Fortran", array.copy(order="F")
    yield "swapped", array.astype(array.dtype.newbyteorder())


def judge_arithmetic(random):
    """Every operation rounds once, as numpy does with two operands of one dtype."""
    for name, dtype in FLOATS.items():
        for shape in SHAPES:
            a = random.normal(size=shape).astype(name)
            b = random.normal(size=shape).astype(name)
            for order, stored in orders(a):
                numpy.save("a.npy", stored)
                numpy.save("b.npy", b)
                calc("@a.npy * @b.npy + @a.npy / @b.npy", dtype, "-o", "out.npy", "--force", "-q")
                same(numpy.load("out.npy"), numpy.asarray(a * b + a / b), order, name)
    for name, dtype in INTEGERS.items():
        for shape in SHAPES:
            limits = numpy.iinfo(name)
            a = random.integers(limits.min, limits.max, size=shape, dtype=name, endpoint=True)
            for order, stored in orders(numpy.asarray(a)):
                numpy.save("a.npy", stored)
                calc("@a.npy * @a.npy + 1", dtype, "--overflow", "wrap", "-o", "out.npy", "--force", "-q")
                with numpy.errstate(over="ignore"):
                    same(numpy.load("out.npy"), numpy.asarray(a * a + numpy.asarray(1, name)), order, name)


def judge_casts(random):
    """Operands are rounded to the dtype."""
    a = random.normal(size=(9, 5)) * 100
    numpy.save("a.npy", a)
    for name, dtype in FLOATS.items():
        calc("@a.npy", dtype, "-o", "out.npy", "--force", "-q")
        same(numpy.load("out.npy"), a.astype(name), name)
        text = calc("@a.npy", dtype, "-q").split()
        same(numpy.array([float(word) for word in text]).astype(name).reshape(a.shape), a.astype(name), name)
    document = json.loads(calc("@a.npy", "fp32", "--json"))["results"][0]
    require(document["shape"] == list(a.shape), document["shape"])
    require([number["value"] for number in document["list"]] == a.astype("float32").ravel().tolist())
    numpy.savez("a.npz", first=a, second=a.astype("float32") + 1)
    calc("@a.npz:second - @a.npz:first", "fp64", "-o", "out.npy", "--force", "-q")
    same(numpy.load("out.npy"), (a.astype("float32") + 1).astype("float64") - a)


def judge_sums(random):
    """Sequential sums, each step rounded."""
    for name, dtype in FLOATS.items():
        a = random.random(size=3000).astype(name)
        numpy.save("a.npy", a)
        total = numpy.zeros((), name)[()]
        for number in a:
            total = (total + number).astype(name)
        calc("sum(@a.npy)", dtype, "-o", "out.npy", "--force", "-q")
        same(numpy.load("out.npy"), numpy.asarray(total), name)


def judge_matrices(random):
    """Small integers: exact in any order."""
    a = random.integers(-9, 9, size=(4, 6)).astype("float32")
    b = random.integers(-9, 9, size=(6, 3)).astype("float32")
    numpy.save("a.npy", a)
    numpy.save("b.npy", numpy.asfortranarray(b))
    calc("matmul(@a.npy, @b.npy)", "fp32", "-o", "out.npy", "--force", "-q")
    same(numpy.load("out.npy"), a @ b)


def read_safetensors(path):
    with open(path, "rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        return head["data"], file.read()


def judge_safetensors(random):
    a = random.normal(size=(3, 4)).astype("float32")
    numpy.save("a.npy", a)
    calc("@a.npy * 2", "fp32", "-o", "out.safetensors", "-q")
    tensor, data = read_safetensors("out.safetensors")
    require(tensor == {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, tensor)
    require(data == (a * 2).astype("<f4").tobytes())
    calc("@out.safetensors:data / 2", "fp32", "-o", "back.npy", "-q")
    same(numpy.load("back.npy"), a)
    if not ml_dtypes:
        print("without ml_dtypes: bf16 and fp8 are not judged")
        return
    for name, dtype in (("bfloat16", "bf16"), ("float8_e4m3fn", "fp8_e4m3fn"), ("float8_e5m2", "fp8_e5m2")):
        want = a.astype(getattr(ml_dtypes, name))
        calc("@a.npy", dtype, "-o", "out.safetensors", "--force", "-q")
        require(read_safetensors("out.safetensors")[1] == want.tobytes(), name)
        calc("@a.npy", dtype, "-o", "out.npy", "--force", "-q")
        stored = numpy.load("out.npy")
        require(stored.shape == want.shape and stored.tobytes() == want.tobytes(), name)
    want = numpy.arange(-8, 8).astype(ml_dtypes.int4)
    calc("arange(-8, 8)", "int4", "-o", "out.npy", "--force", "-q")
    require((numpy.load("out.npy").view("uint8") & 15 == want.astype("int8").view("uint8") & 15).all())


def errors(stored, exact, step):
    """The errors as documented: rounded to fp64 once."""
    absolute = stored - exact
    return {"absolute": float(absolute), "relative": float(absolute / abs(exact)) if exact else None,
            "ulp": float(absolute / step)}


def spacing(number, significand, least):
    """The spacing of floats with this many significand bits at a finite number."""
    exponent = math.frexp(number)[1] - significand if number else least
    return Fraction(2) ** max(exponent, least)


def judge_errors(random):
    """Errors of results and of single operations, against fractions. +0.0 and -0.0 count as equal."""
    operations = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
    for dtype, significand, least in (("fp16", 11, -24), ("bf16", 8, -133), ("fp32", 24, -149), ("fp64", 53, -1074)):
        for sign, apply in operations.items():
            for _ in range(6):
                a, b = (f"{number:.{random.integers(1, 30)}g}" for number in random.normal(size=2) * 10)
                expression = f"{a} {sign} ({b})"
                done = subprocess.run([PROGRAM, "calc", "--json", "--steps", "--", expression, dtype],
                                      stdout=subprocess.PIPE, check=True, timeout=120)
                result = json.loads(done.stdout)["results"][0]
                number, step = result["number"], result["steps"][-1]["worst"]
                stored = Fraction(number["exact"])
                size = spacing(float(stored), significand, least)
                rounded = apply(*(Fraction(one["worst"]["stored"]["exact"]) for one in result["steps"][:2]))
                require(step["error"] == errors(stored, rounded, size), expression, dtype, step, rounded)
                require(float(step["exact"]) == float(rounded), expression, dtype, step, rounded)
                if number["true_value"] is None:
                    continue
                exact = apply(Fraction(a), Fraction(b))
                if number["true_value"]["exact"]:
                    require(Fraction(number["true_value"]["text"]) == exact, expression, number, exact)
                else:
                    off = abs(Fraction(number["true_value"]["text"]) / exact - 1)
                    require(off < Fraction(1, 10 ** 29), expression, number, exact)
                require(number["error"] == errors(stored, exact, size), expression, dtype, number, exact)


def main():
    random = numpy.random.default_rng(16)
    with tempfile.TemporaryDirectory(prefix="dtinfo-calc-") as folder:
        os.chdir(folder)
        for judge in (judge_arithmetic, judge_casts, judge_sums, judge_matrices, judge_safetensors,
                      judge_errors):
            judge(random)
        os.chdir("/")
    print(f"{checks} checks")


main()
