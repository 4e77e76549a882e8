#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of one answer as a whole process: time compared with /bin/true, memory, opened files. usage: startup.py DTINFO MEASURE"""
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from figures import measure, report

PAIRS = 400
TRUE = shutil.which("true", path="/bin:/usr/bin")
LOADER_AND_LIBRARIES = re.compile(r"/etc/ld\.so\.(cache|preload)$|.*/lib[^/]*\.so(\.[0-9]+)*$|.*/ld-[^/]*$"
                                  r"|/dev/(null|tty)$|/sys/devices/system/cpu/.*")


def paired_seconds(ours, theirs):
    """Returns the medians of alternating runs (A B A B), so that changes in machine speed affect both."""
    measure(20, ours, theirs)
    return [statistics.median(run[0] for run in runs)
            for runs in measure(PAIRS, ours, theirs)]


def peak_kib(words):
    return max(run[1] for run in measure(10, words)[0])


def other_files(words):
    """Returns the files that a run opens, except those of the loader and libraries; None without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("r") as trace:
        done = subprocess.run(["strace", "-f", "-e", "trace=open,openat,creat", "-o", trace.name] + words,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        opened = re.findall(r'open(?:at)?\([^"]*"([^"]*)"[^\n]*= [0-9]', trace.read())
    if done.returncode != 0 or not opened:
        return None
    return [path for path in opened if not LOADER_AND_LIBRARIES.match(path)]


def main():
    program = sys.argv[1]
    for words in (["cast", "70000", "bf16"], ["cast", "-q", "70000", "bf16"],
                  ["cast", "70000", "bf16", "--json"], ["finfo", "bf16"], ["--help"]):
        ours, theirs = paired_seconds([program] + words, [TRUE])
        report("dtinfo " + " ".join(words), "%.3f" % (ours * 1e3), "ms", "1.4 x /bin/true",
               ours <= 1.4 * theirs)
        print("    /bin/true %.3f ms, ratio %.2f" % (theirs * 1e3, ours / theirs))
    for words in (["cast", "70000", "bf16"], ["cast", "0.1", "all"], ["cast", "70000", "bf16", "--json"],
                  ["list"], ["finfo"]):
        peak = peak_kib([program] + words)
        report("peak memory of " + " ".join(words), "%d" % peak, "KiB", "< 3072 KiB", peak < 3072)
    print("    /bin/true %d KiB" % peak_kib([TRUE]))
    opened = other_files([program, "cast", "70000", "bf16"])
    if opened is None:
        print("files opened: strace is not here, or may not trace")
    else:
        report("files opened beyond the libraries", "%d" % len(opened), "", "0", not opened)
        for path in opened:
            print("    " + path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
