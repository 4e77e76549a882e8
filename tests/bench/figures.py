# SPDX-License-Identifier: MIT
"""Shared by the benchmarks: report() prints a figure with its target, measure() times commands."""
import subprocess
import sys


def report(what, figure, unit, target, holds):
    print("%-52s %12s %-10s target %-14s %s" %
          (what, figure, unit, target, "met" if holds else "MISSED"))
    sys.stdout.flush()


def measure(rounds, *commands, stdin="/dev/null"):
    """Returns for each command its runs as (seconds, peak KiB, seconds of CPU time). The commands alternate, A B A B.
    argv[2] is the program that spawns and measures them. Exits if a run fails."""
    words = [word for command in commands for word in ["---"] + command][1:]
    done = subprocess.run([sys.argv[2], str(rounds), stdin] + words, stdout=subprocess.PIPE,
                          universal_newlines=True, check=True)
    runs = [[] for _ in commands]
    for line in done.stdout.splitlines():
        index, nanoseconds, cpu, peak, status = map(int, line.split())
        if status != 0:
            sys.exit("%s failed: wait status %d" % (" ".join(commands[index])[:100], status))
        runs[index].append((nanoseconds * 1e-9, peak, cpu * 1e-9))
    return runs
