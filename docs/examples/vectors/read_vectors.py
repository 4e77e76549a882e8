# SPDX-License-Identifier: MIT
"""Runs a cast against a file of test vectors and prints the mismatches.

    python3 read_vectors.py cast/fp32-bf16.tsv                       the cast below
    python3 read_vectors.py cast/fp32-bf16.tsv my_module my_cast     yours: from the input's code to the output's
"""
import importlib
import sys

MODE = "nearest-even"
POLICIES = ("any", "native", "quiet")       # of overflow and of NaN; native or saturate, quiet or canonical, ...


def bf16_of_fp32(code):
    """To nearest even; a NaN keeps its sign and what fits of its payload."""
    if code & 0x7fffffff > 0x7f800000:
        return code >> 16 | 0x40
    return code + 0x7fff + (code >> 16 & 1) >> 16


def vectors(path):
    """(input, output) of each line for MODE and POLICIES."""
    with open(path, encoding="ascii") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    mode, policy = rows[0].index(MODE), rows[0].index("policy")
    return [(int(row[0], 16), int(row[mode], 16)) for row in rows[1:] if row[policy] in POLICIES and row[mode] != "-"]


def main(path, module=None, name=None):
    sys.path.insert(0, "")      # modules in the current folder
    cast = getattr(importlib.import_module(module), name) if module else bf16_of_fp32
    wrong = [(code, cast(code), want) for code, want in vectors(path) if cast(code) != want]
    for code, got, want in wrong:
        print(f"{code:#x} becomes {got:#x}, not {want:#x}")
    print(f"{len(wrong)} of {len(vectors(path))} are wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
