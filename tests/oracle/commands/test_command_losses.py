#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Losses in casts of a file's tensors, against numpy and ml_dtypes: the shares, errors and ratios of `dtinfo inspect
--as`, the bounds of `dtinfo check --as`, the warnings of `dtinfo cast`. Also runs the printed Python line that reads
an npy file of bytes.

usage: test_command_losses.py DTINFO
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy
except ImportError:
    print("numpy and ml_dtypes are needed")
    sys.exit(77)

PROGRAM = os.path.abspath(sys.argv[1])
TYPES = {"bf16": ml_dtypes.bfloat16, "fp16": numpy.float16, "fp8_e4m3fn": ml_dtypes.float8_e4m3fn,
         "fp8_e5m2": ml_dtypes.float8_e5m2, "fp4_e2m1": ml_dtypes.float4_e2m1fn}
VOID = {**TYPES, "fp6_e3m2": ml_dtypes.float6_e3m2fn, "fp6_e2m3": ml_dtypes.float6_e2m3fn,
        "fp8_e8m0": ml_dtypes.float8_e8m0fnu, "int4": ml_dtypes.int4, "uint2": ml_dtypes.uint2}
COUNT = 5000  # two tiles and a partial one
SQNR_SLACK = 7.3e-6  # dB: two sums with relative errors up to 8.4e-7
checks = 0


def require(holds, *details):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(" ".join(str(detail)[:300] for detail in details))


def run(*words, codes=(0,)):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    require(done.returncode in codes, words, done.returncode, done.stderr.decode())
    return done


def arrays():
    rng = numpy.random.default_rng(15)
    yield "weights", (0.02 * rng.standard_normal(COUNT)).astype(numpy.float32)
    yield "wide", (rng.standard_normal(COUNT) * 2.0 ** rng.integers(-30, 20, COUNT)).astype(numpy.float32)
    sparse = numpy.zeros(COUNT, numpy.float32)
    sparse[::50] = 1e-9
    sparse[::150] = 1.5
    yield "sparse", sparse
    yield "special", numpy.array([0, -0.0, numpy.nan, numpy.inf, -numpy.inf, 1, 1e-30, 70000, 448], numpy.float32)
    yield "zeros", numpy.zeros((3, 7), numpy.float32)
    yield "halves", rng.standard_normal((40, 5)).astype(numpy.float16)
    yield "doubles", numpy.asfortranarray(rng.standard_normal((7, 9)) * 1e-3)


class Facts:
    """The loss of a cast of an array, by numpy."""

    def __init__(self, array, dtype):
        source = array.astype(numpy.float64).ravel(order="A")
        with numpy.errstate(all="ignore"):
            stored = array.astype(TYPES[dtype]).astype(numpy.float64).ravel(order="A")
        finite = numpy.isfinite(source)
        both = finite & numpy.isfinite(stored)
        self.nonzero = int(numpy.count_nonzero(source))
        self.to_zero = int(numpy.count_nonzero(finite & (source != 0) & (stored == 0)))
        self.lost = int(numpy.count_nonzero(finite & ~numpy.isfinite(stored)))
        error = numpy.abs(stored[both] - source[both])
        self.largest = error.max(initial=0)
        noise, signal = math.fsum(error ** 2), math.fsum(source[both] ** 2)
        self.sqnr = None if signal == 0 else math.inf if noise == 0 else 10 * math.log10(signal / noise)


def figure(twins):
    return None if twins is None else float(twins["text"])


def judge_inspect(path, array):
    told = json.loads(run("inspect", path, "--as", ",".join(TYPES), "--json").stdout)["files"][0]["tensors"][0]
    require([cast["to"] for cast in told["as"]] == list(TYPES), "dtypes")
    for cast in told["as"]:
        facts = Facts(array, cast["to"])
        where = (path, cast["to"])
        require(cast["nonzero"] == facts.nonzero and cast["loss"]["to_zero"] == facts.to_zero, where,
                cast["nonzero"], facts.nonzero, cast["loss"]["to_zero"], facts.to_zero)
        share = facts.to_zero / facts.nonzero if facts.nonzero else None
        require(figure(cast["to_zero_share"]) == share, where, cast["to_zero_share"], share)
        if cast["to"] in ("fp16", "bf16", "fp8_e4m3fn", "fp8_e5m2"):  # dtypes with infinity or NaN
            require(cast["loss"]["overflowed"] == facts.lost, where, "overflowed", facts.lost)
            require(figure(cast["clipped_share"]) == facts.lost / array.size, where, "clipped")
        require(figure(cast["loss"]["max_absolute_error"]) == facts.largest, where, facts.largest)
        sqnr = figure(cast["loss"]["sqnr_db"])
        require(sqnr == facts.sqnr or abs(sqnr - facts.sqnr) < SQNR_SLACK, where, sqnr, facts.sqnr)


def judge_check(path, array):
    """Each bound passes on one side of the figure and fails on the other, even by a tiny margin."""
    for dtype in TYPES:
        facts = Facts(array, dtype)
        share = facts.to_zero / facts.nonzero if facts.nonzero else 0
        bounds = [("--max-to-zero", repr(share), True)]
        if share > 0:
            bounds.append(("--max-to-zero", repr(math.nextafter(share, 0)), False))
        bounds.append(("--max-error", repr(float(facts.largest)), facts.lost == 0))
        if facts.largest > 0:
            bounds.append(("--max-error", repr(math.nextafter(facts.largest, 0)), False))
        if facts.sqnr is not None and math.isfinite(facts.sqnr):
            bounds.append(("--min-sqnr", repr(facts.sqnr - SQNR_SLACK), facts.lost == 0))
            bounds.append(("--min-sqnr", repr(facts.sqnr + SQNR_SLACK), False))
        for option, bound, holds in bounds:
            done = run("check", path, "--as", dtype, option, bound, codes=(0, 1))
            require((done.returncode == 0) == holds, path, dtype, option, bound, done.stdout.decode())


def judge_cast(path, array):
    for dtype in TYPES:
        if dtype == "fp4_e2m1" and numpy.isnan(array).any():
            continue  # it has no NaN
        facts = Facts(array, dtype)
        done = run("cast", path, dtype, "-o", "out.bin", "--as", "raw", "--force")
        found = re.search(r"'data': (all|[0-9.]+ %) of its nonzero", done.stderr.decode())
        require(bool(found) == (2 * facts.to_zero > facts.nonzero), path, dtype, done.stderr.decode())
        if found:
            share = 100 * facts.to_zero / facts.nonzero
            told = 100 if found[1] == "all" else float(found[1][:-2])
            require(told <= share < told + 0.01, path, dtype, found[1], share)


def judge_python(array):
    """Runs the line exactly as printed."""
    for dtype, kind in VOID.items():
        done = run("cast", "halves.npy", dtype, "-o", "void.npy", "--force", "--overflow", "saturate")
        line = re.search(r"in Python: (.*)", done.stderr.decode())
        if dtype == "fp16":
            require(line is None, dtype, done.stderr.decode())
            continue
        space = {}
        head, _, last = line[1].rpartition("; ")
        exec(head, space)  # pylint: disable=exec-used
        got = eval(last, space)  # pylint: disable=eval-used
        require(got.dtype == kind and got.shape == array.shape, dtype, got.dtype, got.shape)
        if dtype in TYPES:
            with numpy.errstate(all="ignore"):
                require(got.tobytes() == array.astype(kind).tobytes(), dtype, "other numbers")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, array in arrays():
            path = name + ".npy"
            numpy.save(path, array)
            judge_inspect(path, array)
            judge_check(path, array)
            judge_cast(path, array)
            if name == "halves":
                judge_python(array)
        os.chdir("/")
    print("%d checks" % checks)


main()
