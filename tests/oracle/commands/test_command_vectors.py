#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The published set of test vectors: the program still makes the same bytes, its decoded codes are those of the published
value tables, and lines have the form that docs/vectors.md promises. A sample of files; with --long all of them.

    test_command_vectors.py build/dtinfo [--long]
"""
import hashlib
import importlib.util
import pathlib
import re
import subprocess
import sys

from harness import Tally

ROOT = pathlib.Path(__file__).resolve().parents[3]
EVERY = 1 if "--long" in sys.argv else 9
CODE = re.compile(r"0x[0-9a-f]+$")
# Choices of one overflow policy and one for NaN. Each input has exactly one line for each choice.
POLICIES = [("native", "quiet"), ("saturate", "quiet"), ("saturate-finite", "canonical"), ("wrap", "canonical")]


def maker():
    spec = importlib.util.spec_from_file_location("make_vectors", ROOT / "tools" / "make-vectors.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(text):
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return lines[0].split("\t"), [line.split("\t") for line in lines[1:]]


def check_form(tally, path, text):
    lines = text.splitlines()
    kind, name = path[:-len(".tsv")].split("/")
    tally.check(path + " version", lines[0], "# dtinfo vectors 1")
    tally.check(path + " title", lines[1], "# %s %s" % (kind, name.replace("-", " ")))
    heads, cells = rows(text)
    tally.check(path + " cells", {len(row) for row in cells}, {len(heads)})
    tally.check(path + " empty cells", sum(not cell for row in cells for cell in row), 0)
    if "policy" not in heads:
        return
    at = heads.index("policy")
    inputs = [tuple(row[:at]) for row in cells]
    results = {cell for row in cells for cell in row[at + 1:]}
    tally.check(path + " results", [cell for cell in results if cell != "-" and not CODE.match(cell)], [])
    wraps = any(row[at] == "wrap" for row in cells)
    for overflow, nan in POLICIES if wraps else POLICIES[:3]:
        chosen = [key for key, row in zip(inputs, cells) if row[at] in ("any", overflow, nan)]
        tally.check("%s lines of %s, %s" % (path, overflow, nan), len(chosen), len(set(chosen)))
        tally.check("%s inputs of %s, %s" % (path, overflow, nan), set(chosen), set(inputs))


def check_published(tally, program, tables):
    for path, text in tables:
        name = path.split("/")[-1]
        made = subprocess.run([program, "-q", "vectors", name + ":text"], stdout=subprocess.PIPE, check=True).stdout.decode()
        tally.check(path + " as decoded", rows(made), rows(text))


def main():
    program, tally = sys.argv[1], Tally()
    make = maker()
    want = make.kept_sums()
    listed = 0
    for path, data in make.made(program, EVERY):
        listed += 1
        tally.check(path, hashlib.sha256(data).hexdigest(), want.get(path))
        if not path.startswith("published/"):
            check_form(tally, path, data.decode())
    if EVERY == 1:
        tally.check("files", listed, len(want))
    check_published(tally, program, make.published())
    tally.finish()


if __name__ == "__main__":
    main()
