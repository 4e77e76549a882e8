#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes src/cli/start.ld, which places what short commands need side by side: the system maps a program's file in
pieces of 64 KiB, so that a start takes as many of them as it touches. usage: tools/start-order.py BUILD

Traces the commands with valgrind, and asks the linker what is where."""
import bisect
import os
import re
import subprocess
import sys
import tempfile

COMMANDS = ["cast 70000 bf16", "cast 0.1 fp8_e4m3fn --json", "bits 0x3fc0 bf16", "finfo bf16", "iinfo int8", "info", "list",
            "calc 1/3 --dtype bf16", "--version", "cast --help"]
KINDS = (".text", ".rodata")
TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "cli", "start.ld")
SCRIPT = """/* SPDX-License-Identifier: MIT
 *
 * Made by tools/start-order.py: code and constants of short commands, those first that most of them need. */
SECTIONS
{
  .text.start :
  {
%s
  }
}
INSERT BEFORE .text;
SECTIONS
{
  .rodata.start :
  {
%s
  }
}
INSERT AFTER .rodata;
"""


def placed(build, folder):
    """(address, size, kind, object) of each piece of the program, in order, and the program."""
    command = subprocess.run(["ninja", "-C", build, "-t", "commands", "dtinfo"], capture_output=True, text=True, check=True)
    program, listing = os.path.join(folder, "dtinfo"), os.path.join(folder, "map")
    line = command.stdout.splitlines()[-1]
    line = re.sub(r" -Wl,-T,\S+", "", line).replace(" -o dtinfo ", " -o %s -Wl,-Map=%s " % (program, listing), 1)
    subprocess.run(line, shell=True, cwd=build, check=True)
    pieces, kind = [], None
    with open(listing) as file:
        text = file.read().split("Linker script and memory map")[1]
    for row in text.splitlines():
        name = re.match(r"^ (\.\S+)(.*)$", row)
        kind = name[1] if name else kind
        found = re.match(r"^\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S+)$", name[2] if name else row)
        if found and kind and int(found[2], 16) > 0:
            pieces.append((int(found[1], 16), int(found[2], 16), kind, found[3]))
    return sorted(pieces), program


def touched(program, command):
    """Addresses in the program's file that a command runs or reads."""
    done = subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", "-v", "-v", "-v", "-d", program] + command.split(),
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    own, actual = (int(x, 16) for x in re.search(r"svma 0x([0-9a-f]+), avma 0x([0-9a-f]+)", done.stderr).groups())
    return {int(x, 16) - actual + own for x in set(re.findall(r"^(?:I | L| M) +([0-9a-f]+),", done.stderr, re.M))}


def pattern(name):
    """Of an object, for the linker: in a folder of the build, or in a library of the system."""
    library, _, member = os.path.basename(name).partition("(")
    return "*%s:%s" % (library, member[:-1]) if member else "*/" + os.path.join(*name.split("/")[-2:])


def main():
    build, counts = sys.argv[1], {}
    with tempfile.TemporaryDirectory() as folder:
        pieces, program = placed(build, folder)
        starts = [piece[0] for piece in pieces]
        for command in COMMANDS:
            seen = set()
            for address in touched(program, command):
                at = bisect.bisect_right(starts, address) - 1
                if at >= 0 and address < starts[at] + pieces[at][1] and ".a" in pieces[at][3]:
                    # equal strings are one, in whatever object: each has those of its own code
                    seen.update([(pieces[at][2], pieces[at][3])] if pieces[at][2] in KINDS else [])
            seen.update((".rodata", name) for kind, name in list(seen) if kind == ".text" and "(" not in name)
            for item in seen:
                counts[item] = counts.get(item, 0) + 1
    lines = []
    for kind in KINDS:
        order = sorted((item for item in counts if item[0] == kind), key=lambda item: (-counts[item], item))
        lines.append("\n".join("    %s(%s %s.*)" % (pattern(item[1]), kind, kind) for item in order))
    with open(TARGET, "w") as file:
        file.write(SCRIPT % tuple(lines))


if __name__ == "__main__":
    sys.exit(main())
