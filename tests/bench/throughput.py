#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Streams: values and records per second, memory at two sizes, a very long number. usage: throughput.py DTINFO MEASURE"""
import os
import random
import statistics
import sys
import tempfile

from figures import measure, report

REPEATS = 5
LARGE, SMALL = 2000000, 200000


def made_values(kind, count):
    """Returns values of one kind, one per line, always the same."""
    source = random.Random(1)
    make = {
        "decimals of 6 digits": lambda: "%.6g" % source.uniform(-1000, 1000),
        "fp64 as printed by repr": lambda: repr(source.gauss(0, 1)),
        "integers": lambda: str(source.randrange(-10 ** 6, 10 ** 6)),
        "wide exponents": lambda: "%.17ge%d" % (source.uniform(1, 10), source.randrange(-300, 300)),
    }[kind]
    return "".join(make() + "\n" for _ in range(count))


def rate(words, path, count):
    """Returns values per second by median wall time and by median CPU time, which load affects less."""
    runs = measure(REPEATS, words, stdin=path)[0]
    return [count / statistics.median(run[i] for run in runs) for i in (0, 2)]


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def streams(program, folder):
    for kind in ("decimals of 6 digits", "fp64 as printed by repr", "integers", "wide exponents"):
        path = write(folder, "values", made_values(kind, LARGE))
        for dtype in ("bf16", "fp8_e4m3fn"):
            speed, cpu = rate([program, "cast", "-q", "-", dtype], path, LARGE)
            report("cast -q - %s, %s" % (dtype, kind), "%.2f" % (speed / 1e6), "M values/s",
                   ">= 2 M/s", speed >= 2e6)
            print("    %.2f M values per second of CPU time" % (cpu / 1e6))
    for kind in ("decimals of 6 digits", "fp64 as printed by repr", "integers"):
        path = write(folder, "values", made_values(kind, SMALL))
        speed, cpu = rate([program, "cast", "-", "bf16", "--jsonl"], path, SMALL)
        report("cast - bf16 --jsonl, %s" % kind, "%.0f" % (speed / 1e3), "k records/s", ">= 300 k/s",
               speed >= 3e5)
        print("    %.0f k records per second of CPU time" % (cpu / 1e3))


def memory(program, folder):
    few = write(folder, "few", made_values("fp64 as printed by repr", 10000))
    many = write(folder, "many", made_values("fp64 as printed by repr", 400000))
    for words in (["-q"], ["--jsonl"], ["--json"], []):
        command = [program, "cast", "-", "bf16"] + words
        small, large = (max(run[1] for run in measure(3, command, stdin=path)[0])
                        for path in (few, many))
        report("peak memory of cast - bf16 %s, 10k and 400k lines" % " ".join(words),
               "%d, %d" % (small, large), "KiB", "constant", large - small <= 512)


def long_numbers(program, folder):
    digits = "".join(random.Random(2).choice("0123456789") for _ in range(10 ** 6))
    for what, text in (("10^6 digits", "1" + digits), ("10^6 decimals", "0." + digits),
                       ("10^6 digits and e-10^6", "1" + digits + "e-1000000"),
                       ("quotient of 10^6 digits each", "1" + digits + "/3" + digits),
                       ("10^6 hexadecimal digits", "0x1" + digits)):
        path = write(folder, "number", text + "\n")
        seconds = 1 / rate([program, "cast", "-q", "-", "fp64"], path, 1)[0]
        report("cast -q, " + what, "%.3f" % seconds, "s", "< 1 s", seconds < 1)
        full = measure(1, [program, "cast", "-", "fp64", "--json"], stdin=path)[0][0]
        print("    in full as JSON: %.3f s, %d KiB" % full[:2])


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        streams(program, folder)
        memory(program, folder)
        long_numbers(program, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
