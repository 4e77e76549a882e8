#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo inspect --stats --json` of bf16 and fp16 tensors of many tiles, with each level of the processor and with two
threads, against numpy and exact rationals: counts, extremes and their places, mean and deviation.

usage: test_command_stats.py DTINFO
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from fractions import Fraction

from harness import QUICK, have
from make_checkpoint import safetensors

np = have("numpy")
PROGRAM = os.path.abspath(sys.argv[1])
TILE = 2048
COUNT = (12 if QUICK else 60) * TILE + 37
NORMAL = {"BF16": 0x80, "F16": 0x400}  # the smallest normal number's code
checks = 0


def require(holds, *details):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(" ".join(str(detail)[:300] for detail in details))


def codes_of(stored, numbers):
    if stored == "F16":
        return numbers.astype(np.float16).view(np.uint16)
    return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def numbers_of(stored, codes):
    if stored == "F16":
        return codes.view(np.float16).astype(np.float64)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def tensors(stored):
    """Arrays that take different ways: most tiles have no new extreme, some have something special."""
    random = np.random.default_rng(1)
    plain = codes_of(stored, random.standard_normal(COUNT) * 0.02)
    places = random.integers(0, COUNT, COUNT // 3)
    made = {"plain": plain, "positive": plain & 0x7fff, "negative": plain | 0x8000,
            "shifted": codes_of(stored, random.standard_normal(COUNT) * 0.1 + 100),
            "rising": codes_of(stored, np.sort(numbers_of(stored, plain))),
            "any": random.integers(0, 1 << 16, COUNT).astype(np.uint16)}
    for name in ("zeros", "subnormals", "special"):
        made[name] = plain.copy()
    made["zeros"][places] &= 0x8000
    half = NORMAL[stored] // 2
    made["subnormals"][places] &= 0x8000 | half - 1
    made["subnormals"][TILE * 3:] |= np.where(made["subnormals"][TILE * 3:] & 0x7fff < half, half, 0).astype(np.uint16)
    made["special"][[5 * TILE, 7 * TILE + 9, 9 * TILE + 5]] = codes_of(stored, np.array([math.inf, math.nan, -math.inf]))
    made["falling"] = made["rising"][::-1].copy()
    return made


def near(got, want, of):
    return got is not None and abs(Fraction(got["value"]) - want) <= Fraction(of) * Fraction(1, 10 ** 12)


def check_tensor(name, stored, codes, stats):
    numbers, magnitude = numbers_of(stored, codes), codes & 0x7fff
    finite = np.isfinite(numbers)
    counts = {"elements": len(codes), "finite": finite.sum(), "nan": np.isnan(numbers).sum(),
              "inf": np.isinf(numbers).sum(), "zeros": (magnitude == 0).sum(), "negative": (numbers < 0).sum(),
              "subnormals": ((magnitude > 0) & (magnitude < NORMAL[stored])).sum()}
    for key, count in counts.items():
        require(stats[key] == count, name, stored, key, stats[key], count)
    values = numbers[finite]
    for key, value in (("min", values.min()), ("max", values.max())):
        require(stats[key]["value"] == value, name, stored, key, stats[key], value)
        first = int(np.nonzero(finite & (numbers == value))[0][0])
        require(stats[key + "_index"] == [first], name, stored, key, stats[key + "_index"], first)
    mean = sum(map(Fraction, values)) / len(values)
    square = sum(Fraction(value) ** 2 for value in values) / len(values)
    largest = float(abs(values).max())
    require(near(stats["mean"], mean, largest), name, stored, stats["mean"], float(mean))
    if name != "any":
        require(near(stats["standard_deviation"], Fraction(math.sqrt(square - mean * mean)), largest), name, stored, stats["standard_deviation"])


def main():
    if not np:
        print("skipped: the Python package numpy is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="dtinfo-stats-") as folder:
        for stored in NORMAL:
            made = tensors(stored)
            path = pathlib.Path(folder) / (stored + ".safetensors")
            path.write_bytes(safetensors([(name, stored, [COUNT], codes.tobytes()) for name, codes in made.items()]))
            first = None
            for level in ("scalar", "avx2", ""):
                for threads in ("1", "2"):
                    done = subprocess.run([PROGRAM, "inspect", str(path), "--stats", "--json", "--threads", threads],
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                                          env={**os.environ, **({"DTINFO_CPU": level} if level else {})})
                    if done.returncode != 0 and level == "avx2":
                        continue  # a processor without it
                    require(done.returncode == 0, level, done.returncode, done.stderr.decode())
                    got = {one["name"]: one["stats"] for one in json.loads(done.stdout)["files"][0]["tensors"]}
                    if first is None:
                        for name, codes in made.items():
                            check_tensor(name, stored, codes, got[name])
                    first = first or got
                    require(got == first, "level", level, "threads", threads, stored)
    print("%d checks" % checks)
    return 0 if checks > 200 else 1


if __name__ == "__main__":
    sys.exit(main())
