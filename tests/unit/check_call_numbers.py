#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the numbers of calls.def with Linux's headers, those of this machine and of cross compilers. Skipped without any.
usage: check_call_numbers.py SOURCE_FOLDER COMPILER..."""
import os
import re
import shutil
import subprocess
import sys

SKIP = 77
ROW = re.compile(r"^CALL\((\w+), *(\d+|NONE), *(\d+|NONE), ", re.M)
# Machine, how its compiler says so, the column of its numbers, and calls that it does not have, to which no number belongs.
MACHINES = [("x86_64", "__x86_64__", 1, ()), ("aarch64", "__AARCH64EL__", 2, ()), ("riscv64", "__riscv", 2, ("renameat",))]


def numbers(compiler):
    """The compiler's macros, and the numbers of its machine's calls."""
    done = subprocess.run(compiler + ["-E", "-dM", "-x", "c", "-"], input="#include <asm/unistd.h>\n", check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    macros = dict(re.findall(r"^#define (\w+) +(.*)$", done.stdout, re.M))
    calls = {}
    for name, value in macros.items():
        value = macros.get(value, value)
        if name.startswith("__NR_") and value.isdigit():
            calls[name[len("__NR_"):]] = int(value)
    return macros, calls


def main():
    source, native = sys.argv[1], sys.argv[2:]
    with open(os.path.join(source, "src/io/sandbox/calls.def"), encoding="utf-8") as file:
        rows = ROW.findall(file.read())
    assert len(rows) > 100
    compared, wrong = 0, 0
    for machine, macro, column, lacking in MACHINES:
        cross = shutil.which(machine + "-linux-gnu-gcc")
        for compiler in [native] + ([[cross]] if cross else []):
            macros, calls = numbers(compiler)
            if macro not in macros or "__ILP32__" in macros or not calls:
                continue
            for row in rows:
                here = calls.get(row[0])
                want = None if row[column] == "NONE" or row[0] in lacking else int(row[column])
                # headers may be older than a call
                if here != want and not (here is None and want > max(calls.values())):
                    print("%s: %s is %s, not %s" % (machine, row[0], here, want))
                    wrong += 1
                compared += 1
            break
    if not compared:
        print("skipped: no headers of Linux")
        return SKIP
    print("%d numbers compared, %d wrong" % (compared, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
