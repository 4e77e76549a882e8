#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares casts with the memory limit of this machine, as measured by a probe that shares no code with
dtinfo, and checks whether dtinfo's own benchmark finds the same limit.

    limits.py DTINFO [AFTER] [--pairs fp32:bf16,...] [--size 64MiB,...] [--threads 1,2]
              [--rounds 5] [--time SECONDS] [--best]

AFTER is a second program to compare. The script compiles the probe, limits_probe.c in this folder, for this
machine. In each round, every program runs right after a run of the probe, and the order of the programs
rotates. Ratios are taken within a round, so that other load and a varying host affect both sides alike.
Prints medians over the rounds: GB/s of the cast, its share of the probe's best copy of as many bytes and of
the best loop with the same reads and writes, and dtinfo's own best copy divided by the probe's. A line ends
with "agree" if that ratio is within 5 % of 1. With --best, the fastest sample of all rounds counts instead
of the median: load only slows samples down, so on a busy machine medians mean nothing.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

from peers import BYTES, UNITS

AGREEMENT = 0.05
PAIRS = "fp32:bf16,fp32:fp16,fp32:fp8_e4m3fn,bf16:fp32,fp16:fp32,fp64:fp32,fp32:int8"


def build(folder):
    probe = pathlib.Path(folder) / "limits_probe"
    source = pathlib.Path(__file__).with_name("limits_probe.c")
    subprocess.run(["cc", "-std=c11", "-O2", "-march=native", "-pthread", "-o", str(probe), str(source)],
                   check=True)
    return probe


def run_probe(probe, src, dst, size, threads, seconds, fastest):
    """Returns {"copy", "shape"}: (GB/s, method) of the best copy and of the best loop shaped like the cast."""
    done = subprocess.run([str(probe), str(BYTES[src]), str(BYTES[dst]), str(size), str(threads),
                           str(int(seconds * 1000))], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True)
    best = {}
    for line in done.stdout.splitlines():
        role, name, median, highest = line.split("\t")
        best[role] = max(best.get(role, (0, "")), (float(highest if fastest else median), name))
    return best


def run_bench(program, src, dst, size, threads, seconds, fastest):
    """Returns the GB/s of the cast and of the best copy, in the thread placement with the most rounds."""
    done = subprocess.run([program, "bench", "cast", src + ":" + dst, "--size", str(size), "--threads",
                           str(threads), "--time", str(seconds), "--json"], check=True,
                          stdout=subprocess.PIPE)
    result = max(json.loads(done.stdout)["results"], key=lambda each: each["rounds"])
    rates = {}
    for candidate in result["candidates"]:
        taken = candidate["minimum_seconds" if fastest else "median_seconds"] or math.inf
        rate = (candidate["read_bytes"] + candidate["written_bytes"]) / taken * 1e-9
        rates[candidate["role"]] = max(rates.get(candidate["role"], 0), rate)
    return rates["cast"], rates["copy"]


def compare(programs, probe, src, dst, size, threads, options):
    """Prints a line for each program. Returns whether all agree with the probe."""
    figures = [[] for _ in programs]
    names = []
    for turn in range(options.rounds):
        order = list(range(len(programs)))
        order = order[turn % len(order):] + order[:turn % len(order)]
        for at in order:
            limit = run_probe(probe, src, dst, size, threads, options.time, options.best)
            cast, copy = run_bench(programs[at], src, dst, size, threads, options.time, options.best)
            names.append(limit["copy"][1])
            figures[at].append((cast, limit["copy"][0], limit["shape"][0], copy,
                                cast / limit["copy"][0], cast / limit["shape"][0],
                                copy / limit["copy"][0]))
    agree = True
    for at, rows in enumerate(figures):
        if options.best:
            cast, own_copy = (max(row[i] for row in rows) for i in (0, 3))
            copy, shape = (max(row[i] for each in figures for row in each) for i in (1, 2))
            of_copy, of_shape, own = cast / copy, cast / shape, own_copy / copy
        else:
            cast, copy, shape, _, of_copy, of_shape, own = map(statistics.median, zip(*rows))
        within = abs(own - 1) <= AGREEMENT
        agree = agree and within
        print("%-18s %9s %2d  %-7s %6.1f %6.1f %6.1f  %4.0f %%  %4.0f %%  %5.2f %s" %
              (src + ":" + dst, size_words(size), threads,
               "" if len(programs) == 1 else ("before", "after")[at], cast, copy, shape, 100 * of_copy,
               100 * of_shape, own, "agree" if within else "DIFFER"))
    print("    the probe's best copy: %s" % statistics.mode(names))
    sys.stdout.flush()
    return agree


def size_words(size):
    for unit, words in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size % unit == 0:
            return "%d %s" % (size // unit, words)
    return str(size)


def size_of(text):
    digits = text.rstrip("KMGiBkmgb")
    return int(digits) * UNITS[text[len(digits):].lower()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="DTINFO")
    parser.add_argument("--pairs", default=PAIRS)
    parser.add_argument("--size", default="1MiB,64MiB,256MiB,1GiB")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--time", type=float, default=1)
    parser.add_argument("--best", action="store_true")
    options = parser.parse_args()
    if len(options.programs) > 2:
        parser.error("one program, or two to compare")
    print("%-18s %9s %2s  %-7s %6s %6s %6s  %6s  %6s  %5s" % ("cast", "size", "T", "", "GB/s", "copy",
                                                             "shape", "of copy", "shape", "own"))
    agree = True
    with tempfile.TemporaryDirectory() as folder:
        probe = build(folder)
        for size in map(size_of, options.size.split(",")):
            for threads in map(int, options.threads.split(",")):
                for pair in options.pairs.split(","):
                    src, dst = pair.split(":")
                    agree = compare(options.programs, probe, src, dst, size, threads, options) and agree
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
