# SPDX-License-Identifier: MIT
"""The test vectors against numpy, ml_dtypes and torch: equal where those round once; where they do not, docs/vectors-peers.md
counts the lines that differ.

Usage: test_vector_peers.py PROGRAM [--long]      a sample, or all pairs and the page
       test_vector_peers.py PROGRAM --write       writes the page
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]

from harness import Tally     # noqa: E402
from judged import has_no_fault_in_rounding, judge, policy_of     # noqa: E402
from peers import ML_NAMES, peers     # noqa: E402

PAGE = HERE.parents[1] / "docs/vectors-peers.md"
SAMPLE = ("fp64:fp16", "fp32:fp8_e4m3fn", "bf16:fp8_e5m2", "fp16:fp4_e2m1", "int64:fp8_e4m3fnuz", "fp8_e4m3fn:text",
          "sqrt:fp16", "add:fp8_e4m3fn")
OPERATIONS = ("add", "sub", "mul", "div", "sqrt")
TITLE = """# Other libraries on the test vectors

What numpy, ml_dtypes and torch store for the inputs of [the test vectors](vectors.md), on the CPU, rounding to nearest even, beside
the one right code. `tests/vectors/test_vector_peers.py dtinfo --write` makes this page; the versions are {versions}.

A line *differs* if the code does. Each input is counted once, with the policies that the library follows: *native*, and for torch
into fp8_e4m3fn *saturate*; NaNs are compared with *quiet*. `text` is `float(text)` in Python, which rounds to fp64 first.
"""
SECTIONS = (
    ("rounding", "## Finite numbers within the range",
     "Casts from fp64, decimal text and large integers that go through fp32 (or text through fp64) round twice. fp8_e8m0: ml_dtypes "
     "makes NaN of zero, and both libraries round all between 2^-127 and 2^-126 up."),
    ("beyond", "## Beyond the range, and infinities",
     "Double rounding at the threshold; and torch's cast to fp8_e8m0, which ignores the sign."),
    ("nan", "## Codes of NaNs",
     "All of these are NaNs; the sign, the quiet bit or the payload is another one."),
)


def text_of(program, words):
    done = subprocess.run([program, "vectors", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"vectors {' '.join(words)} ended with {done.returncode}: {done.stderr.decode()[:300]}")
    return done.stdout.decode()


def pairs_of_set(program):
    """The pairs of the published set that a peer may know: casts, codes and operations of its dtypes."""
    known = set(ML_NAMES) | {"fp16"}
    found = []
    for line in text_of(program, ["--list"]).splitlines():
        words = line.split("\t")[1].split(" ")
        if len(words) == 1:
            first, second = words[0].split(":")
            if second in known or second == "text" and first in known:
                found.append(words[0])
    return found


def verdicts(program, pairs, found):
    for pair in pairs:
        first, second = pair.split(":")
        target = first if second == "text" else second
        interested = [peer for peer in found if target in peer.names]
        if interested and (first != "fma"):
            text = text_of(program, [pair])
            for peer in interested:
                verdict = judge(peer, text, pair, policy_of(peer, target))
                if verdict:
                    yield verdict


def check(tally, verdict):
    if not has_no_fault_in_rounding(verdict):
        return
    tally.checked += verdict.totals["rounding"]
    if verdict.counts["rounding"]:
        shown, got, want = verdict.examples["rounding"]
        tally.differ(f"{verdict.peer.name} {' '.join(verdict.pair)}: {shown}, the first of "
                     f"{verdict.counts['rounding']}", got, want)


def code(value):
    return f"`{value:#x}`"


def shortened(text):
    return text if len(text) <= 28 else text[:25] + "..."


def row(verdict, what):
    shown, got, want = verdict.examples[what]
    return f"| {verdict.peer.name} | {' '.join(verdict.pair)} | {verdict.totals[what]:,} | {verdict.counts[what]:,} | " \
           f"`{shortened(shown)}` | {code(got)} | {code(want)} |"


def without_differences(found):
    """Peers and pairs that never differ, a line a peer and source."""
    lines = {}
    for verdict in found:
        if not any(verdict.counts.values()):
            subject = {"cast": f"casts from {verdict.pair[0]} to", "decode": "values of all codes of",
                       "arith": f"{verdict.pair[0]} of"}[verdict.kind]
            lines.setdefault((verdict.peer.name, subject), []).append(verdict.pair[-1])
    return [f"- {name}, {subject} {', '.join(pairs)}" for (name, subject), pairs in lines.items()]


def page(found, versions):
    parts = [TITLE.format(versions=versions), "## No line differs", *without_differences(found), ""]
    parts.insert(2, "")
    for what, title, text in SECTIONS:
        rows = [row(verdict, what) for verdict in found if verdict.counts[what]]
        parts += [title, "", text, "", "| library | vectors | lines | differ | first input | stored | right |",
                  "|---|---|---:|---:|---|---|---|", *rows, ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def compare_page(tally, made, versions):
    there = PAGE.read_text()
    if versions not in there:
        tally.skip(f"the page is of other versions than {versions}")
        return
    differing = [pair for pair in zip(there.splitlines(), made.splitlines()) if pair[0] != pair[1]]
    tally.check("docs/vectors-peers.md, made with --write", differing[:2] or there == made, True)


def main():
    words = sys.argv[1:]
    found, missing = peers()
    tally = Tally()
    for name in missing:
        tally.skip(f"{name} is not installed")
    if not found:
        tally.finish()
    versions = ", ".join(f"{peer.name} {peer.version}" for peer in found)
    everything = "--long" in words or "--write" in words
    judged = list(verdicts(words[0], pairs_of_set(words[0]) if everything else SAMPLE, found))
    for verdict in judged:
        check(tally, verdict)
    if "--write" in words:
        if missing:
            sys.exit("the page needs all of them")
        PAGE.write_text(page(judged, versions))
    elif everything and not missing:
        compare_page(tally, page(judged, versions), versions)
    print(versions)
    tally.finish()


if __name__ == "__main__":
    main()
