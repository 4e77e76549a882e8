#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Elements per second of the operations of calc, from the extra CPU time of a command with one or more of them over
the same command without. The two commands are interleaved. usage: expressions.py DTINFO MEASURE"""
import statistics
import sys

from figures import measure, report

REPEATS = 5
COUNT = 2000000
TIMES = 8
ARITHMETIC = {"x + y": 200, "x * y": 200, "x / y": 200, "sqrt(x)": 200, "fma(x, y, x)": 200}
# Kahan summation takes four operations per element, each dependent on the rounded result of the one before.
SUMS = {("sum(x)", "sequential"): 200, ("dot(x, y)", "sequential"): 200, ("sum(x)", "pairwise"): 200,
        ("dot(x, y)", "blocked:128"): 200, ("sum(x)", "kahan"): 50}
FUNCTIONS = {name + "(x)": 1 for name in ("rsqrt", "exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tan",
                                         "tanh", "erf", "sigmoid", "silu", "gelu")}


def rate(program, dtype, expression, times, count, options=()):
    """Returns elements per second of CPU time."""
    lists = f"x = linspace(0.5, 1.5, {count}); y = linspace(-2, 3, {count}); "
    names = "; ".join(f"z{i} = {expression}" for i in range(times))
    totals = [f"count({name})" for name in ["x", "y"] + [f"z{i}" for i in range(times)]]
    command = [program, "calc", "-q", "--true-value", "never", *options]
    runs = measure(REPEATS, command + [lists + "+".join(totals[:2]), dtype],
                   command + [lists + names + "; " + "+".join(totals), dtype])
    without, with_them = (statistics.median(run[2] for run in runs_of) for runs_of in runs)
    return times * count / (with_them - without)


def show(program, dtype, expression, target, times, count, options=()):
    speed = rate(program, dtype, expression, times, count, options) / 1e6
    report(" ".join([dtype, expression, *options]), "%.1f" % speed, "M/s", ">= %d M/s" % target, speed >= target)


def main():
    program = sys.argv[1]
    for dtype in ("fp32", "fp16", "bf16"):
        for expression, target in ARITHMETIC.items():
            show(program, dtype, expression, target, TIMES, COUNT)
        for (expression, order), target in SUMS.items():
            show(program, dtype, expression, target, TIMES, COUNT, ["--order", order])
        for expression, target in FUNCTIONS.items():
            show(program, dtype, expression, target, 1, COUNT)
    for dtype in ("fp64", "fp8_e4m3fn", "int8"):
        for expression in ("x + y", "x * y", "sqrt(x)"):
            show(program, dtype, expression, 1, 1, COUNT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
