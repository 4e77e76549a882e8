# SPDX-License-Identifier: MIT
"""What the benchmarks share: a line that holds a figure beside its target, and a run that is measured."""
import os
import sys
import time


def report(what, figure, unit, target, holds):
    print("%-52s %12s %-10s target %-14s %s" %
          (what, figure, unit, target, "met" if holds else "MISSED"))
    sys.stdout.flush()


def spawn(words, stdin="/dev/null", stdout="/dev/null"):
    """(seconds, peak resident set in KiB) of one run of a program; ends the benchmark when it fails."""
    actions = [(os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
    start = time.perf_counter()
    child = os.posix_spawn(words[0], words, os.environ, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit("%s failed: wait status %d" % (" ".join(words)[:100], status))
    return seconds, usage.ru_maxrss
