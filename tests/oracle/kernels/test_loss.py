# SPDX-License-Identifier: MIT
"""The loss of arrays against exact rationals: the definition in src/kernels/scan/loss.c evaluated with Fractions and
the reference formats, every kernel level against that, bit for bit; and the sums of a tile against the exact sums,
within the rounding error of fp32 (8.4e-7) and fp64.

Usage: test_loss.py LOSS_PROBE [--long]
"""

import math
import random
import struct
from fractions import Fraction

import harness
from formats import FORMATS, INF, INVALID, NAN, OVERFLOW, OVERFLOWS, ROUNDS, encode

LANES, GROUP, TILE = 16, 128, 2048
# Exponents around the limits for adding in fp32: of sources, and of their errors in bf16.
EDGES = {"large": (60, 62), "tiny": (-60, -61), "tiny errors": (-51, -52)}
# Arrays of numbers of one sort, or of all of them beside ordinary ones.
SORTS = ("nan", "infinite", "subnormal", "huge")
LEVELS = ("definition", "scalar", "avx2", "avx512", "neon")
NONE = (1 << 64) - 1
PAIRS = (
    ("fp32", "bf16"), ("fp32", "fp16"), ("fp32", "fp8_e4m3fn"), ("fp32", "fp4_e2m1"), ("fp32", "int8"),
    ("fp32", "uint8"), ("fp32", "fp8_e8m0"), ("fp32", "binary8p3ue"), ("bf16", "fp8_e5m2"), ("fp16", "bf16"),
    ("int16", "fp8_e4m3"), ("fp32", "fp32"), ("fp64", "fp32"), ("fp64", "bf16"), ("fp64", "int32"),
    ("int32", "fp32"), ("fp64", "fp64"), ("int64", "fp32"), ("fp64", "uint64"), ("uint64", "fp64"),
    ("e15m48", "fp64"), ("fp64", "e15m48"), ("e15m48", "bf16"), ("fp32", "bool"),
)


def rounded(value):
    """Rounds a Fraction or infinity to fp64, to nearest even."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def plus(accumulator, value):
    """accumulator + value, rounded once; value is a Fraction or infinity."""
    if math.isinf(accumulator) or (isinstance(value, float) and math.isinf(value)):
        return math.inf
    return rounded(Fraction(accumulator) + Fraction(value))


def square(value):
    return value if math.isinf(value) else Fraction(value) ** 2


def single(value):
    """Rounds a non-negative Fraction to fp32, to nearest even."""
    if value == 0:
        return value
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > value
    unit = Fraction(2) ** max(exponent - 23, -149)
    answer = round(value / unit) * unit
    return math.inf if answer >= 2**128 else answer


def fits_single(fmt):
    if not fmt.is_float:
        return fmt.max_code() <= 1 << 24
    return fmt.man <= 23 and fmt.magnitude(1) >= Fraction(1, 1 << 149) and fmt.magnitude(fmt.max_index) < 2**128


def group_in_single(errors, sources):
    """The sums of a lane's part of a group in fp32; None if they must be in fp64."""
    errors = [single(error) for error in errors]
    for numbers in (errors, sources):
        if max(numbers) and not Fraction(1, 1 << 60) <= max(numbers) < 1 << 60:
            return None
    sums = [Fraction(0)] * 3
    for error, source in zip(errors, sources):
        sums = [single(sums[0] + error), single(sums[1] + error**2), single(sums[2] + source**2)]
    return sums


def tree(lanes):
    half = LANES // 2
    lanes = list(lanes)
    while half:
        for i in range(half):
            lanes[i] = plus(lanes[i], lanes[i + half])
        half //= 2
    return lanes[0]


def pairs(sums):
    """The pairwise sum in fp32 of a power of two of them: neighbours, then neighbours of the results."""
    while len(sums) > 1:
        sums = [single(a + b) for a, b in zip(sums[::2], sums[1::2])]
    return sums[0]


def add_lanes(elements, in_single):
    """The lanes' sums of (|y - x|, |x|) over all elements, zeros where there is no error."""
    sums = [[0.0] * LANES for _ in range(3)]
    groups = [[[Fraction(0)] * (TILE // GROUP) for _ in range(LANES)] for _ in range(3)]
    for first in range(0, len(elements), GROUP):
        group = elements[first:first + GROUP]
        for lane in range(LANES):
            part = group[lane::LANES]
            quick = group_in_single(*zip(*part)) if in_single and len(group) == GROUP else None
            for i, value in enumerate(quick or ()):
                groups[i][lane][first // GROUP] = value
            for error, source in () if quick else part:
                error, source = rounded(error), rounded(source)
                for i, value in enumerate((error, square(error), square(source))):
                    sums[i][lane] = plus(sums[i][lane], value)
    return [[plus(total, pairs(lane)) for total, lane in zip(totals, lanes)]
            for totals, lanes in zip(sums, groups)]


def bits(value):
    return format(struct.unpack("<Q", struct.pack("<d", value))[0], "x")


def is_normal(fmt, value):
    if not fmt.is_float or fmt.scale:
        return True
    return abs(value) >= fmt.magnitude(fmt.normal_index())


def want(src, dst, mode, overflow, seed, index, sources, stored):
    """The probe's answer, and the exact sums of |e|, e^2 and x^2."""
    counts = dict.fromkeys(("inexact", "overflowed", "to_zero", "to_subnormal", "nan", "inf", "no_code",
                            "compared"), 0)
    largest, largest_at, ratio, first_no_code = 0.0, 0, 0.0, NONE
    elements = [(Fraction(0), Fraction(0))] * len(sources)
    exact = [Fraction(0)] * 3
    for i, (x_code, y_code) in enumerate(zip(sources, stored)):
        x_class, x_negative, x = src.decode(x_code)
        y_class, y_negative, y = dst.decode(y_code)
        signed_x, signed_y = (None if v is None else -v if negative else v
                              for v, negative in ((x, x_negative), (y, y_negative)))
        flags = encode(dst, x_class, x_negative, x, mode, overflow, seed, index + i)[1]
        counts["nan"] += x_class == NAN
        counts["inf"] += x_class == INF
        below = x_class == INF and x_negative or signed_x is not None and signed_x < 0
        no_code = (dst.is_float and not dst.nan and x_class == NAN
                   or dst.kind == "ufloat" and below and y_class == NAN)
        counts["no_code"] += no_code
        if no_code:
            first_no_code = min(first_no_code, index + i)
        if x is not None:
            counts["overflowed"] += bool(flags & OVERFLOW) or y is None and not no_code
        if x is None or y is None:
            same = x_class == y_class and (x_class == NAN or x_negative == y_negative)
            counts["inexact"] += not same
            continue
        counts["inexact"] += signed_x != signed_y
        counts["compared"] += 1
        counts["to_zero"] += x != 0 and y == 0
        counts["to_subnormal"] += (x != 0 and is_normal(src, x) and y != 0 and not is_normal(dst, y))
        error = rounded(abs(signed_y - signed_x))
        size = rounded(x)
        elements[i] = (abs(signed_y - signed_x), x)
        exact = [exact[0] + abs(signed_y - signed_x), exact[1] + (signed_y - signed_x) ** 2, exact[2] + x * x]
        if error > largest:
            largest, largest_at = error, index + i
        if x > 0 and (size == 0 or math.isinf(size)):       # beyond the fp64 range: moved to [1, 2)
            binade = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length())
            binade = binade if binade <= x else binade / 2
            part = rounded(abs(signed_y - signed_x) / binade)
            relative = part if math.isinf(part) else rounded(Fraction(part) / Fraction(rounded(x / binade)))
            ratio = max(ratio, relative)
        if size > 0 and not math.isinf(size):
            relative = error if math.isinf(error) else rounded(Fraction(error) / Fraction(size))
            ratio = max(ratio, relative)
    totals = [tree(lanes) for lanes in add_lanes(elements, fits_single(src) and fits_single(dst))]
    n = counts["compared"]
    # nan marks what fp64 cannot hold, or not accurately
    held = [not math.isinf(totals[0]), not math.isinf(totals[1]) and not (largest > 0 and totals[1] < 2.0 ** -960)]
    means = [0.0 if n == 0 else rounded(Fraction(total) / n) if good else math.nan
             for total, good in zip(totals[:2], held)]
    words = [len(sources), *counts.values(), largest_at, first_no_code]
    figures = [largest, ratio, *totals, means[0], math.sqrt(means[1])]
    return " ".join([*map(str, words), *map(bits, figures)]), totals, exact


def draw_sort(rng, src, sort):
    """A float of that sort: with the highest exponent, the one below it, or the lowest."""
    code = rng.getrandbits(src.width)
    exponents = (1 << src.width - 1) - (1 << src.man)
    if sort == "subnormal":
        return code & ~exponents
    if sort == "huge":
        return code & ~(1 << src.man) | exponents & ~(1 << src.man)
    if sort == "infinite":
        return code & 1 << src.width - 1 | exponents
    return code | exponents | 1 << rng.randrange(src.man)


def draw(rng, src, dst, kind):
    """A source code: random, a number of a sort, or a number near dst's range."""
    if kind == "mixed":
        kind = rng.choice(SORTS + ("any", "end", "small", "range"))
    if kind in SORTS:
        return draw_sort(rng, src, kind) if src.is_float else rng.getrandbits(src.width)
    if kind == "any" or rng.random() < 0.02:
        return rng.getrandbits(src.width)
    top = dst.magnitude(dst.max_index) if dst.is_float else Fraction(dst.max_code())
    if kind == "end":
        value = top * Fraction(rng.randrange(900, 1100), 1000)
    elif kind in EDGES:
        value = Fraction(rng.getrandbits(24), 1 << 24) * Fraction(2) ** rng.choice(EDGES[kind])
    elif kind == "small":
        least = dst.magnitude(1) if dst.is_float else Fraction(1)
        value = least * Fraction(rng.getrandbits(30), 1 << rng.randrange(20, 34))
    else:
        value = top * Fraction(rng.getrandbits(24), 1 << rng.randrange(24, 36))
    negative = rng.random() < 0.5
    return encode(src, "finite" if value else "zero", negative, value)[0]


def check_sums(tally, subject, in_single, totals, exact):
    """Each lane adds at most TILE / LANES numbers in fp64, and the tree adds four more: the error is at most that many
    half ulps. In fp32 a lane's part of a group has 8 additions, groups have 4, and errors are rounded, twice in
    squares."""
    for name, total, want_sum in zip(("absolute", "squared", "source squared"), totals, exact):
        if math.isinf(total) or want_sum < Fraction(2) ** -900:
            continue
        slack = want_sum * (Fraction(84 * in_single, 10**8) + Fraction(TILE // LANES + 8, 1 << 53))
        if abs(Fraction(total) - want_sum) > slack:
            tally.differ(f"{subject}: sum {name}", total, float(want_sum))


def main():
    probe, long = harness.arguments()
    rng = random.Random(1)
    tally = harness.Tally()
    lines, wants = [], []
    for src_name, dst_name in PAIRS:
        src, dst = FORMATS[src_name], FORMATS[dst_name]
        in_single = fits_single(src) and fits_single(dst)
        for kind in ("any", "end", "small", "range", "mixed", *EDGES, *SORTS):
            for unrelated in (False, True):
                for _ in range(20 if long else 1):
                    mode, overflow = rng.choice(ROUNDS), rng.choice(OVERFLOWS)
                    n = rng.choice((1, 5, 31, 100, 128, 300, 512, 700, 2048) if long else
                                   (1, 5, 31, 100, 128) if harness.QUICK else (1, 5, 31, 128, 128, 300, 512, 1300))
                    index, seed = TILE * rng.randrange(1 << 30), rng.getrandbits(64)
                    sources = [draw(rng, src, dst, kind) for _ in range(n)]
                    stored = [rng.getrandbits(dst.width) if unrelated and dst.kind != "bool" else
                              encode(dst, *src.decode(code), mode, overflow, seed, index + i)[0]
                              for i, code in enumerate(sources)]
                    answer, totals, exact = want(src, dst, mode, overflow, seed, index, sources, stored)
                    subject = f"{src_name} -> {dst_name}, {mode}, {overflow}, {kind}, {n} elements"
                    check_sums(tally, subject, in_single, totals, exact)
                    codes = " ".join(format(code, "x") for code in sources + stored)
                    for level in LEVELS:
                        lines.append(f"{level} {src_name} {dst_name} {mode} {overflow} {seed:x} {index} {n} {codes}")
                        wants.append((f"{subject}, {level}", answer))
    for (subject, answer), got in zip(wants, harness.ask(probe, lines), strict=True):
        if got != "skipped":
            tally.check(subject, got, answer)
    tally.part("losses")
    tally.finish()


if __name__ == "__main__":
    main()
