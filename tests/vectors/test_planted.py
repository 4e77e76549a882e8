# SPDX-License-Identifier: MIT
"""Plants faults in copies of vector files and in the second implementation: each must be reported.

Usage: test_planted.py PROGRAM
"""

import contextlib
import io
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]

import blocks     # noqa: E402
import casting     # noqa: E402
import published     # noqa: E402
import rounded     # noqa: E402
from harness import Tally     # noqa: E402
from published import TOO_HIGH     # noqa: E402
from test_second import check_file, vectors_of     # noqa: E402


def differences(text, name):
    tally = Tally()
    with contextlib.redirect_stdout(io.StringIO()):
        check_file(tally, text, name)
    return tally.differences


def changed(text, begin, column, to):
    """The text with another cell in the first line that begins so."""
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(begin))
    cells = lines[at].split("\t")
    assert cells[column] != to, (begin, column, to)
    cells[column] = to
    return "\n".join(lines[:at] + ["\t".join(cells)] + lines[at + 1:])


def without(text, begin):
    kept = [line for line in text.split("\n") if not line.startswith(begin)]
    assert "\n".join(kept) != text, begin
    return "\n".join(kept)


FILE_FAULTS = (
    ("fp32:fp8_e4m3fn", "a tie to the odd neighbour", lambda t: changed(t, "0x43d80000\t", 2, "0x7d")),
    ("fp32:fp8_e4m3fn", "overflow one step late", lambda t: changed(t, "0x43e80001\tnative", 2, "0x7e")),
    ("fp32:fp8_e4m3fn", "another sign of a NaN", lambda t: changed(t, "0xffc00000\tquiet", 2, "0x7f")),
    ("fp32:fp8_e4m3fn", "a missing tie", lambda t: without(t, "0x43d80000\t")),
    ("fp32:fp8_e4m3fn", "a missing policy", lambda t: without(t, "0x43e80001\tsaturate\t")),
    ("fp32:fp8_e4m3fn", "one line for all policies", lambda t: changed(t, "0x43e80001\tnative", 1, "any")),
    ("fp32:fp8_e4m3fn", "another version", lambda t: t.replace("vectors 1", "vectors 2", 1)),
    ("fp8_e4m3fn:text", "a code's value", lambda t: changed(t, "0x7e", 2, "449")),
    ("fp8_e4m3fn:text", "a missing code", lambda t: without(t, "0x10\t")),
    ("add:fp6_e3m2", "1 + 1", lambda t: changed(t, "0x0c\t0x0c\t", 3, "0x11")),
    ("fp32:mxfp4", "a scale", lambda t: changed(t, "floor\t-\t0x7f\t", 2, "0x80")),
)


def replaced(module, name, made):
    """A fault in the second implementation: one function made from the right one."""
    @contextlib.contextmanager
    def plant():
        right = getattr(module, name)
        setattr(module, name, made(right))
        published.published.cache_clear()
        try:
            yield
        finally:
            setattr(module, name, right)
            published.published.cache_clear()
    return plant


def ties_away(right):
    return lambda table, x, at, mode: right(table, x, at, "nearest-away" if mode == "nearest-even" else mode)


def never_too_high(right):
    def place(table, x, mode, word):
        found = right(table, x, mode, word)
        return table.codes[-1] if found == TOO_HIGH and mode.startswith("nearest") else found
    return place


def payload_lost(right):
    return lambda table, negative, payload, bits, rule: right(table, negative, 0, bits, rule)


MODEL_FAULTS = (
    ("fp32:fp8_e4m3fn", "ties away from zero", replaced(rounded, "among", ties_away)),
    ("fp32:fp8_e5m2", "no overflow to nearest", replaced(rounded, "past_the_end", never_too_high)),
    ("fp32:fp16", "NaNs without payload", replaced(rounded, "nan_code", payload_lost)),
    ("fp32:mxfp4", "powers of two one too high", replaced(blocks, "floor_log2", lambda right: lambda x: right(x) + 1)),
    ("fp32:fp8_e5m2 stochastic", "another random word",
     replaced(casting, "random_bits", lambda right: lambda seed, index: right(seed, index + 1))),
    ("add:fp6_e3m2", "a sum with the other sign of zero",
     replaced(casting, "zero", lambda right: lambda negative: right(not negative))),
)


def main():
    program = sys.argv[1]
    texts = {}

    def text_of(pair):
        if pair not in texts:
            name, *stochastic = pair.split(" ")
            texts[pair] = vectors_of(program, name, *(["--round", "stochastic"] if stochastic else []))
            if differences(texts[pair], pair):
                sys.exit(f"{pair} differs without a fault")
        return texts[pair]

    missed = []
    for pair, fault, plant in FILE_FAULTS:
        if not differences(plant(text_of(pair)), pair):
            missed.append(fault)
    for pair, fault, plant in MODEL_FAULTS:
        text_of(pair)
        with plant():
            if not differences(texts[pair], pair):
                missed.append(fault)
    for fault in missed:
        print(f"MISSED {fault}")
    print(f"{len(FILE_FAULTS) + len(MODEL_FAULTS)} faults planted, {len(missed)} missed")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
