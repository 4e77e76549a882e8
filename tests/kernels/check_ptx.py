#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the built-in PTX: its entry points are exactly the rows of the table, with parameters of the right size.
If ptxas is installed, the PTX must also assemble for every device without spilling registers.

  check_ptx.py CHECKGPU [PTXAS] [--long]"""
import concurrent.futures
import re
import shutil
import subprocess
import sys
import tempfile

DEVICES = {False: ["75", "90"], True: ["75", "80", "86", "87", "89", "90", "100", "103", "110", "120", "121"]}
SKIPPED = 77


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, **options)


def entries_of(text):
    """Maps each entry point to the size of its parameter in bytes."""
    pattern = r"^\.visible \.entry (\w+)\(\s*\.param \.align 8 \.b8 \w+\[(\d+)\]\s*\)"
    return {name: int(size) for name, size in re.findall(pattern, text, re.MULTILINE)}


def check_text(text, rows):
    entries = entries_of(text)
    yield from ("the PTX has no entry %s" % name for name in sorted(set(rows) - set(entries)))
    yield from ("%s is in the PTX and not in the table" % name
                for name in sorted(set(entries) - set(rows)))
    for name in sorted(set(entries) & set(rows)):
        if entries[name] != rows[name]:
            yield "%s: %d bytes of parameters in the PTX, %d in the program" % (
                name, entries[name], rows[name])
    if text.count(".entry") != len(entries):
        yield "%d entries are declared in another way" % (text.count(".entry") - len(entries))
    for wanted in (".version 6.3", ".target sm_75", ".address_size 64"):
        if not re.search("^" + re.escape(wanted) + "$", text, re.MULTILINE):
            yield "no line '%s'" % wanted
    for line in re.findall(r"^.*(?:\.extern|vprintf|malloc|\bcall\b).*$", text, re.MULTILINE):
        yield "calls what it does not have: %s" % line
    for line in re.findall(r"^(?:fma|mad)\.[^;]*ftz.*$|^.*\.approx.*$|^div\.full.*$", text, re.MULTILINE):
        yield "an operation that does not round as IEEE 754 does: %s" % line


def assemble(ptxas, ptx, device):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
        done = run(ptxas, "-v", "-arch=sm_" + device, "-o", cubin.name, ptx)
    if done.returncode != 0:
        if "not defined for option 'gpu-name'" in done.stderr:
            return device, None, []
        return device, [], [done.stderr[:2000]]
    problems = [line.strip() for line in done.stderr.splitlines()
                if re.search(r"stack frame", line) and
                not line.strip().startswith("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill")]
    registers = [int(count) for count in re.findall(r"Used (\d+) registers", done.stderr)]
    return device, registers, problems


def main():
    words = [word for word in sys.argv[1:] if word != "--long"]
    checker, ptxas = words[0], (words[1:] or [shutil.which("ptxas")])[0]
    program, listed = run(checker, "program"), run(checker, "list")
    if "built without CUDA kernels" in program.stderr:
        print(program.stderr.strip())
        return SKIPPED
    if program.returncode != 0 or listed.returncode != 0:
        print("checkgpu fails: %s" % (program.stderr + listed.stderr))
        return 1
    rows = {name: int(size) for name, size in (line.split() for line in listed.stdout.splitlines())}
    problems = list(check_text(program.stdout, rows))
    print("%d entries, %d bytes of PTX" % (len(rows), len(program.stdout)))
    if ptxas:
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as ptx, \
                concurrent.futures.ThreadPoolExecutor(2) as pool:
            ptx.write(program.stdout)
            ptx.flush()
            for device, registers, wrong in pool.map(
                    lambda device: assemble(ptxas, ptx.name, device), DEVICES["--long" in sys.argv]):
                problems += ["sm_%s: %s" % (device, line) for line in wrong]
                if registers is None:
                    print("sm_%s: this ptxas does not know it" % device)
                elif registers:
                    print("sm_%s: %d kernels, %d to %d registers" % (
                        device, len(registers), min(registers), max(registers)))
    else:
        print("no ptxas: not assembled")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
