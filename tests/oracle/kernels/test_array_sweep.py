# SPDX-License-Identifier: MIT
"""All 2^32 fp32 codes through array plans at every level. The probe answers with runs of source codes that are stored
as the same code; rounding is monotonic, so if formats.py gives a run's code at both ends, it does so everywhere in
between: the check is a proof. NaNs are not ordered; their runs are checked against the rule for their bits in the same
way, since truncating a payload is monotonic too.
Usage: test_array_sweep.py ARRAY_PROBE [LEVEL...] [--long]
"""

import hashlib
import subprocess
import sys

import arrays
import formats
from formats import FORMATS
from harness import Tally

SOURCE = FORMATS["fp32"]
INF = SOURCE.inf[0]
PARTS = ((0, INF), (INF + 1, SOURCE.sign_bit - 1),
         (SOURCE.sign_bit, SOURCE.sign_bit | INF), (SOURCE.sign_bit | INF + 1, (1 << 32) - 1))
DESTINATIONS = ("bf16", "fp16", "fp8_e4m3fn", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e5m2fnuz", "fp6_e3m2",
                "fp6_e2m3", "fp4_e2m1", "fp8_e8m0", "hif8", "posit8", "posit16",
                "tf32", "int8")
MODES = [mode for mode in formats.ROUNDS if mode != "stochastic"]      # stochastic rounding is not monotonic


def wanted(fmt, code, mode, overflow):
    cls, negative, value = SOURCE.decode(code)
    if cls == formats.NAN and fmt.is_float:
        return arrays.nan_code(SOURCE, code, fmt)
    return formats.encode(fmt, cls, negative, value, mode, overflow)[0]


def judge(tally, fmt, first, last, mode, overflow, answer):
    due = first
    for line in answer.decode().splitlines():
        begin, end, code = (int(word, 16) for word in line.split())
        name = f"fp32 -> {fmt.name} {mode} {overflow}: {line}"
        tally.check(name + " starts", begin, due)
        for at in {begin, end}:
            tally.check(name + f" at {at:#x}", hex(code), hex(wanted(fmt, at, mode, overflow)))
        due = end + 1
    tally.check(f"fp32 -> {fmt.name} {mode} {overflow}: end of the range", due, last + 1)


def sweep(tally, probe, levels, fmt, mode, overflow, parts):
    """Identical answers from several levels are checked only once."""
    for first, last in parts:
        judged = set()
        for level in levels:
            command = [probe, "sweep", level, "fp32", f"{first:x}", f"{last:x}", fmt.name, mode,
                       overflow]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
            if done.returncode != 0:
                sys.exit(f"the array probe ended with status {done.returncode}")
            digest = hashlib.sha256(done.stdout).digest()
            tally.checked += 1
            if digest not in judged:
                judge(tally, fmt, first, last, mode, overflow, done.stdout)
            judged.add(digest)


def main():
    words = [word for word in sys.argv[1:] if word != "--long"]
    if not words:
        sys.exit("usage: test_array_sweep.py ARRAY_PROBE [LEVEL...] [--long]")
    probe, long = words[0], "--long" in sys.argv
    levels = words[1:] or arrays.levels(probe)
    print("levels: " + " ".join(levels))
    tally = Tally()
    for name in DESTINATIONS:
        for mode in MODES:
            parts = PARTS
            if not long:            # ranges around 1 and at both ends
                parts = ((0x3f7ff000, 0x3f81ffff), (0x7f7f0000, INF), (INF + 1, INF + 0x1ffff),
                         (0x80000000, 0x8001ffff))
            sweep(tally, probe, levels, FORMATS[name], mode, "native", parts)
        sweep(tally, probe, levels, FORMATS[name], "nearest-even", "saturate",
              PARTS if long else ((0x43000000, 0x437fffff),))
        tally.part(f"fp32 into {name}, {'all codes' if long else 'a few codes'}")
    tally.finish()


if __name__ == "__main__":
    main()
