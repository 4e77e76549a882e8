# SPDX-License-Identifier: MIT
"""Shared by the tests of statistics and comparisons: arrays of codes, their exact values, sums in the order defined in
src/kernels/scan/tile_sum.h, and requests to stats_probe at every level.
"""

import functools
import math
import struct
from fractions import Fraction

import harness
from formats import FORMATS, INF, encode

LANES, TILE = 16, 2048
LEVELS = ("scalar", "avx2", "avx512", "neon")
NONE = (1 << 64) - 1
HUBS = {"fp64": "F64", "int32": "F64", "uint32": "F64", "int64": "I64", "uint64": "U64", "e15m48": "F64"}


def rounded(value):
    """Rounds a Fraction or an int to fp64, to nearest even."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def bits(value):
    if value != value:
        return "7ff8000000000000"
    return format(struct.unpack("<Q", struct.pack("<d", value))[0], "x")


def tree(lanes):
    half, lanes = LANES // 2, list(lanes)
    while half:
        for i in range(half):
            lanes[i] = lanes[i] + lanes[i + half]
        half //= 2
    return lanes[0]


@functools.lru_cache(maxsize=1 << 20)
def signed(name, code):
    """(class, value): a signed Fraction, or None; for infinities the class is "-inf" or "inf"."""
    cls, negative, value = FORMATS[name].decode(code)
    if cls == INF:
        return ("-inf" if negative else "inf"), None
    return cls, (-value if negative and value else value)


class Sums:
    """Sums tiles in lanes, then exactly."""

    def __init__(self, count):
        self.exact = [Fraction(0)] * count
        self.special = [0.0] * count
        self.count = count
        self.begin()

    def begin(self):
        self.lanes = [[0.0] * LANES for _ in range(self.count)]

    def add(self, i, terms):
        for lanes, term in zip(self.lanes, terms):
            lanes[i % LANES] += term

    def end(self):
        for k, lanes in enumerate(self.lanes):
            total = tree(lanes)
            if math.isfinite(total):
                self.exact[k] += Fraction(total)
            else:
                self.special[k] += total
        self.begin()

    def totals(self):
        return [special if special else rounded(exact) for special, exact in zip(self.special, self.exact)]


def mean_of(total, count):
    return math.copysign(rounded(Fraction(abs(total)) / count), total) if total else 0.0


# Arrays.

def draw(rng, fmt, kind):
    """A random code; kind: any bits, ordinary numbers near 1, subnormals and zeros, near the largest, few values."""
    word = rng.getrandbits(fmt.width)
    if kind == "any" or (kind == "special" and rng.random() < 0.05):
        return word & 1 if fmt.kind == "bool" else word
    if fmt.kind == "bool":
        return word & 1
    if not fmt.is_float:
        if kind == "few":
            return rng.choice((0, 1, fmt.max_code(), fmt.sign_bit)) & ((1 << fmt.width) - 1)
        return (rng.getrandbits(max(1, fmt.width // 2)) * rng.choice((1, -1 if fmt.signed else 1))) % (1 << fmt.width)
    if kind == "few":
        return rng.choice((0, fmt.sign_bit, 1, fmt.max_code(), 1 << fmt.man))
    if kind == "small":
        value = fmt.magnitude(1) * rng.randrange(0, 4 << min(fmt.man, 8))
    elif kind == "large":
        value = fmt.magnitude(fmt.max_index) * Fraction(rng.randrange(700, 1001), 1000)
    else:
        value = Fraction(rng.gauss(1 if kind == "shifted" else 0, 0.001 if kind == "shifted" else 1))
    negative = value < 0 or (rng.random() < 0.5 and kind in ("small", "large"))
    return encode(fmt, "finite" if value else "zero", negative and fmt.signed, abs(value), overflow="saturate")[0]


class Questions:
    """Request lines for every level with the expected answers."""

    def __init__(self, probe, tally):
        self.probe, self.tally, self.lines, self.due = probe, tally, [], []

    def put(self, subject, head, tail, answer):
        for level in LEVELS:
            self.lines.append(f"{head[0]} {level} {' '.join(head[1:])} {tail}")
            self.due.append((f"{subject}, {level}", answer))

    def ask(self, what):
        for (subject, answer), got in zip(self.due, harness.ask(self.probe, self.lines), strict=True):
            if got != "skipped":
                self.tally.check(subject, got, answer)
        self.lines, self.due = [], []
        self.tally.part(what)
