# SPDX-License-Identifier: MIT
"""Casts every source code into every smaller float format: 16-bit sources in all modes, with --long fp32 too, all 2^32
codes. The core answers with runs of source codes that are stored as the same code. Rounding is monotonic, so if
formats.py gives a run's code at both ends, it does so everywhere in between.
"""

import random

import formats
from formats import FORMATS
from harness import QUICK, Tally, arguments, ask

MODES = [mode for mode in formats.ROUNDS if mode != "stochastic"]     # stochastic rounding is not monotonic


def check(tally, probe, source, fmt, mode, overflow):
    inf = source.inf[0]
    halves = ((0, inf), (source.sign_bit, source.sign_bit | inf))
    requests = [f"sweep {source.name} {first:x} {last:x} {fmt.name} {mode} {overflow}"
                for first, last in halves]
    after = {inf: source.sign_bit, source.sign_bit | inf: None}
    due = 0
    for line in ask(probe, requests):
        first, last, code = (int(word, 16) for word in line.split())
        name = f"{source.name} {line} {fmt.name} {mode} {overflow}"
        tally.check(name + " starts", first, due)
        for end in (first, last):
            cls, negative, value = source.decode(end)
            want = formats.encode(fmt, cls, negative, value, mode, overflow)[0]
            tally.check(name + f" at {end:#x}", code, want)
        due = after.get(last, last + 1)
    tally.check(f"{source.name} {fmt.name} {mode} swept", due, None)


def main():
    probe, long = arguments()
    tally, rng = Tally(), random.Random(1)
    for source in (FORMATS["fp16"], FORMATS["bf16"]):
        for fmt in formats.floats(8):
            for mode in rng.sample(MODES, 2) if QUICK else MODES:
                check(tally, probe, source, fmt, mode, "native")
            check(tally, probe, source, fmt, "nearest-even", "saturate")
        tally.part(f"{source.name} into formats of 8 bits and fewer")
    check(tally, probe, FORMATS["bf16"], FORMATS["fp16"], "nearest-even", "native")
    check(tally, probe, FORMATS["fp16"], FORMATS["bf16"], "nearest-even", "native")
    if long:
        for fmt in formats.floats(19):
            if not fmt.name.startswith("binary"):
                check(tally, probe, FORMATS["fp32"], fmt, "nearest-even", "native")
                tally.part(f"fp32 into {fmt.name}, all codes")
    tally.finish()


if __name__ == "__main__":
    main()
