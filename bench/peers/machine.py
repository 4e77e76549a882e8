#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures whether dtinfo is as fast as this machine allows: compares the figures that matter with limits
and rivals that share no code with it, in interleaved runs.

    machine.py DTINFO [AFTER] [--rows copy,loss,...] [--large] [--rounds 5] [--time SECONDS] [--best]
               [--folder DIR] [--size SIZE]

AFTER is a second program to compare. A row has several cases. In each round of a case, the rivals and the
programs run one after the other in a new random order. Ratios are taken within a round, so that other load
and a varying host affect both sides alike. Prints medians over the rounds, with quartiles. The C probes in
this folder and in tests/bench are compiled for this machine, in a temporary folder. torch is a rival if it
is installed. --large adds copies of 256 MiB and 1 GiB, and a checkpoint on disk of twice --size, the size
of files. A busy machine makes all figures worse; the load is printed, and nothing fails. With --best, the
fastest sample of a run counts instead of the median: where programs share a CPU, medians mean nothing.
"""
import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import limits
import peers
from machine_cases import CORES, ROWS

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "bench"


class CannotRun(Exception):
    """A case cannot run, for example because an older program lacks a feature that it needs."""


def figure(values):
    """Formats the median and quartiles of values; for a run of bench, its own median and interval."""
    if not values:
        return "      -"
    if math.nan in values:
        return "unknown"
    low, middle, high = values[0] if isinstance(values[0], tuple) else statistics.quantiles(
        values if len(values) > 1 else values * 2, n=4, method="inclusive")
    return "%7.3g [%.3g .. %.3g]" % (middle, low, high)


def turn(case, programs, order):
    """Runs one round. Returns the ratios of each program."""
    ours, theirs = [None] * len(programs), {}
    turns = [(False, at) for at in range(len(programs))] + [(True, name) for name in case.rivals]
    order.shuffle(turns)
    for is_rival, which in turns:
        try:
            if is_rival:
                theirs[which] = case.rivals[which]()
            else:
                ours[which] = case.ours(programs[which])
        except CannotRun as reason:
            print("    left out: %s" % reason)
    return [[ratio(own, theirs) if own else None for _, ratio, _ in case.ratios] for own in ours]


def measure(case, programs, rounds, order):
    """Runs a case and prints a line for each ratio, with a column for each program."""
    found = [turn(case, programs, order) for _ in range(case.rounds or rounds)]
    for at, (heading, _, target) in enumerate(case.ratios):
        columns = [[row[which][at] for row in found if row[which][at] is not None]
                   for which in range(len(programs))]
        words, holds = target or ("", None)
        if not any(columns):
            continue
        middle = statistics.median(columns[-1]) if holds and columns[-1] else math.nan
        met = "unknown" if math.isnan(middle) else "met" if holds(middle) else "MISSED"
        print("%-30s %-32s %s  %s" % (case.name, heading, "  ".join("%-27s" % figure(column) for column in columns),
                                      words and words + "  " + met))
    sys.stdout.flush()


class Machine:
    """Shared by the rows: options, probes, and functions that run programs as processes."""

    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.torch = peers.optional("torch")
        self.choose, self.time = (min, "minimum_seconds") if options.best else (statistics.median,
                                                                               "median_seconds")
        self.probe = limits.build(folder)
        self.runner, self.reader = self.build("measure"), self.build("read_floor")
        self.sizes = ["64MiB"] + (["256MiB", "1GiB"] if options.large else [])

    def build(self, name):
        program = self.folder / name
        subprocess.run(["cc", "-std=gnu11", "-O2", "-march=native", "-pthread", "-o", str(program),
                        str(TESTS / (name + ".c"))], check=True)
        return str(program)

    def path(self, name):
        return str(self.folder / name)

    def run(self, words, runs=1, stdin="/dev/null"):
        """Runs a command `runs` times. Returns its seconds (median, or best with --best) and peak MiB."""
        done = subprocess.run([self.runner, str(runs), stdin, *words], stdout=subprocess.PIPE, check=True,
                              universal_newlines=True)
        rows = [list(map(int, line.split())) for line in done.stdout.splitlines()]
        if any(row[4] for row in rows):
            raise CannotRun("%s: wait status %d" % (" ".join(words)[:200], rows[0][4]))
        return {"s": self.choose(row[1] for row in rows) * 1e-9,
                "MiB": max(row[3] for row in rows) / 1024}

    def run_torch(self, call):
        """Returns the seconds of a call."""
        timed = peers.call_passes(call)
        passes = peers.calibrate(timed)
        return self.choose(timed(passes) for _ in range(5)) / passes * 1e-9

    def bench(self, program, *words, seconds=None):
        """Returns the candidates that bench measured, in the thread placement with the most rounds."""
        words = [program, "bench", *words, "--time", str(seconds or self.options.time), "--json"]
        done = subprocess.run(words, check=False, stdout=subprocess.PIPE)
        if done.returncode != 0:
            raise CannotRun("%s: exit status %d" % (" ".join(words), done.returncode))
        return max(json.loads(done.stdout)["results"], key=lambda each: each["rounds"])["candidates"]


def describe():
    """Describes the CPU for which the figures hold."""
    facts = {}
    with open("/proc/cpuinfo", encoding="utf-8") as text:
        for line in text:
            name, _, value = line.partition(":")
            facts.setdefault(name.strip(), value.strip())
    return "%s, %s family %s model %s, %d CPUs" % tuple(
        [facts.get(name, "?") for name in ("model name", "vendor_id", "cpu family", "model")] + [CORES])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="DTINFO")
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--time", type=float, default=1)
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--folder")
    parser.add_argument("--size", default="1GiB")
    options = parser.parse_args()
    rows = options.rows.split(",")
    if len(options.programs) > 2 or not set(rows) <= set(ROWS):
        parser.error("one program, or two to compare; rows: " + ",".join(ROWS))
    programs, order = list(map(os.path.abspath, options.programs)), random.Random(1)
    print(describe())
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="dtinfo-machine-") as folder:
        machine = Machine(options, folder)
        print("%-30s %-32s %s  target" % ("", "", "  ".join(
            "%-27s" % name for name in ("before", "after")[:len(programs)])))
        for row in rows:
            print("== %s: %s  load %.1f" % (row, ROWS[row].__doc__, os.getloadavg()[0]))
            for case in ROWS[row](machine):
                measure(case, programs, options.rounds, order)
    return 0


if __name__ == "__main__":
    sys.exit(main())
