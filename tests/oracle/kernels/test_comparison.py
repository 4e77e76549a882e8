# SPDX-License-Identifier: MIT
"""Comparisons of arrays against exact rationals and the reference formats, at every level: counts and places exactly,
sums bit for bit, distances in steps along the formats' own codes; also numpy's isclose and nulp.

Usage: test_comparison.py STATS_PROBE [--long]
"""

import functools
import math
import random
import struct
from fractions import Fraction

import harness
from array_model import HUBS, LEVELS, NONE, TILE, Questions, Sums, bits, draw, rounded, signed
from formats import FORMATS, encode, floor_log2, power_of_two

try:
    import numpy
except ImportError:
    numpy = None

PAIR_HUBS = {("int64", "uint64"): "WIDE", ("int64", "fp32"): "WIDE", ("fp64", "int64"): "WIDE", ("e15m48", "fp64"): "WIDE",
             ("uint64", "fp16"): "WIDE", ("e15m48", "e15m48"): "WIDE", ("uint64", "uint8"): "U64",
             ("uint64", "uint64"): "U64", ("int8", "int64"): "I64", ("int64", "int64"): "I64",
             ("fp8_e8m0", "fp32"): "F64", ("fp8_e8m0", "fp8_e8m0"): "F64"}


# Distances along the number line.

@functools.lru_cache(maxsize=1 << 20)
def place(name, value, resolution):
    """For a magnitude: its index among the format's magnitudes, extended beyond the largest, and the fraction of the
    way to the next; small fractions to the nearest `resolution`, None for exact."""
    fmt = FORMATS[name]
    least = -fmt.bias if fmt.scale else 1 - fmt.bias
    step = power_of_two(least - fmt.man)
    if value < power_of_two(least):
        at = value / step
        if resolution:      # evenly spaced: adding 2^least rounds to nearest even
            units = at / resolution
            whole = units // 1
            rest = units - whole
            at = (whole + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1))) * resolution
    else:
        exponent = floor_log2(value)
        at = ((exponent - least) << fmt.man) + value / power_of_two(exponent - fmt.man)
    if value in magnitudes(name) and at != magnitudes(name)[value]:
        raise SystemExit(f"{name}: the place of {value} is {at}, not {magnitudes(name)[value]}")
    return at


@functools.lru_cache(maxsize=None)
def magnitudes(name):
    """The positions of all magnitudes of a small format, from its table; a scale's first is one above zero."""
    fmt = FORMATS[name]
    if fmt.width > 16:
        return {}
    return {value: index + fmt.scale for index, value in enumerate(fmt.table()[:fmt.max_index + 1])}


def ulp_format(a, b):
    if not FORMATS[a].is_float or not FORMATS[b].is_float:
        return None
    man_a, man_b = FORMATS[a].man, FORMATS[b].man
    if man_a != man_b:
        return a if man_a < man_b else b
    return a if FORMATS[a].width < FORMATS[b].width else b


def pair_hub(a, b):
    found = PAIR_HUBS.get((a, b)) or PAIR_HUBS.get((b, a))
    if found:
        return found
    return "F64" if "F64" in (HUBS.get(a), HUBS.get(b)) else "F32"


def ulps(a, b, hub, x, y):
    name = ulp_format(a, b)
    if name is None:
        return 0.0
    man = FORMATS[name].man
    resolution = {"F32": Fraction(1 << man, 1 << 23), "F64": Fraction(1 << man, 1 << 52), "WIDE": None}[hub]
    p, q = (place(name, abs(v), resolution) * (-1 if v < 0 else 1) for v in (x, y))
    if hub == "WIDE":       # to 64 bits
        p, q = (Fraction(int(abs(v) * (1 << 64)), 1 << 64) * (-1 if v < 0 else 1) for v in (p, q))
    return rounded(abs(p - q))


def want_comparison(a, b, atol, rtol, index, codes_a, codes_b):
    hub = pair_hub(a, b)
    counts = dict.fromkeys(("differing", "unmatched", "exceeding", "compared"), 0)
    largest, largest_at, ratio, steps = 0.0, 0, 0.0, 0.0
    first_differing = first_unmatched = NONE
    sums = Sums(5)
    for at, (code_a, code_b) in enumerate(zip(codes_a, codes_b)):
        if at and at % TILE == 0:
            sums.end()
        class_a, x = signed(a, code_a)
        class_b, y = signed(b, code_b)
        if x is None or y is None:
            if class_a != class_b:
                for key in ("differing", "unmatched", "exceeding"):
                    counts[key] += 1
                first_differing = min(first_differing, index + at)
                first_unmatched = min(first_unmatched, index + at)
            continue
        counts["compared"] += 1
        error = rounded(abs(x - y))
        fx, fy = rounded(x), rounded(y)
        if x != y:
            counts["differing"] += 1
            first_differing = min(first_differing, index + at)
        counts["exceeding"] += error > atol + rtol * abs(fy)
        if error > largest:
            largest, largest_at = error, index + at
        if y != 0:
            if fy == 0 or math.isinf(fy):
                binade = power_of_two(floor_log2(abs(y)))
                part = rounded(abs(x - y) / binade)
                ratio = max(ratio, part if math.isinf(part) else rounded(Fraction(part) / Fraction(rounded(abs(y) / binade))))
            else:
                ratio = max(ratio, error if math.isinf(error) else rounded(Fraction(error) / Fraction(abs(fy))))
        steps = max(steps, ulps(a, b, hub, x, y))
        sums.add(at, (error, error * error, fx * fx, fy * fy, fx * fy))
    sums.end()
    totals = sums.totals()
    absolute, squared, aa, bb, ab = totals
    n = counts["compared"]
    mean = 0.0 if n == 0 else rounded(Fraction(absolute) / n) if math.isfinite(absolute) else math.nan
    if n == 0:
        rms = 0.0
    elif not math.isfinite(squared) or (largest > 0 and squared < 2.0 ** -960):
        rms = math.nan
    else:
        rms = math.sqrt(rounded(Fraction(squared) / n))
    held = all(math.isfinite(t) and t >= 2.0 ** -960 for t in (aa, bb)) and math.isfinite(ab)
    cosine = math.nan
    if n and held:
        product = aa * bb
        good = product > 2.0 ** -900 and math.isfinite(product)
        cosine = ab / math.sqrt(product) if good else ab / math.sqrt(aa) / math.sqrt(bb)
        cosine = min(1.0, max(-1.0, cosine))
    words = [len(codes_a), *counts.values(), bits(largest), largest_at, bits(ratio), bits(steps),
             first_differing, first_unmatched, *map(bits, totals), bits(mean), bits(rms), bits(cosine)]
    return " ".join(map(str, words))


def near(rng, b, x_class, x):
    """A code of b near a number of a, or its own rounding, or a random one."""
    fmt = FORMATS[b]
    choice = rng.random()
    if x is None or choice < 0.05:
        return draw(rng, fmt, rng.choice(("any", "few")))
    if choice < 0.5:
        x = x * Fraction(rng.randrange(990, 1011), 1000)
    if choice > 0.98:
        x = -x
    negative = x < 0
    mode = "nearest-even" if fmt.is_float else "zero"
    return encode(fmt, "finite" if x else "zero", negative, abs(x), mode, overflow="saturate")[0]


class Comparisons(Questions):
    def compare(self, subject, a, b, codes_a, codes_b, atol=0.0, rtol=0.0, index=0, skew=0):
        answer = want_comparison(a, b, atol, rtol, index, codes_a, codes_b)
        codes = " ".join(format(code, "x") for code in [*codes_a, *codes_b])
        self.put(f"{subject} {a} {b}", ("compare", a, b, bits(atol), bits(rtol)),
                 f"{index} {len(codes_a)} {skew} {codes}", answer)


def ask_comparisons(questions, rng, long):
    pairs = (("fp32", "fp32"), ("fp32", "bf16"), ("bf16", "fp32"), ("fp32", "fp16"), ("bf16", "bf16"), ("fp16", "fp16"),
             ("fp16", "bf16"), ("fp16", "tf32"), ("fp32", "fp8_e4m3fn"), ("fp8_e5m2", "fp8_e4m3fn"), ("fp8_e4m3fn", "fp8_e4m3fn"),
             ("fp8_e8m0", "fp32"), ("fp8_e8m0", "fp8_e8m0"), ("fp64", "fp32"), ("fp64", "fp64"), ("fp64", "bf16"), ("fp32", "binary8p3se"),
             ("int8", "int8"), ("int16", "fp32"), ("int32", "int32"), ("int32", "fp64"), ("int64", "int64"), ("int8", "int64"),
             ("uint64", "uint64"), ("uint64", "uint8"), ("int64", "uint64"), ("int64", "fp32"), ("fp64", "int64"), ("uint64", "fp16"),
             ("bool", "bool"), ("bool", "uint8"), ("e15m48", "fp64"), ("e15m48", "e15m48"), ("fp4_e2m1", "fp4_e2m1"))
    for a, b in pairs:
        for kind in ("any", "normal", "special", "small", "large", "few"):
            wide = pair_hub(a, b) == "WIDE"
            for n in rng.sample((0, 1, 7, 16, 17, 33, 300) if harness.QUICK else (0, 1, 7, 16, 17, 33, 300, 2049, 4100), 4 if long else 1):
                n = min(n, 300) if wide and not long else n
                codes_a = [draw(rng, FORMATS[a], kind) for _ in range(n)]
                codes_b = [near(rng, b, *signed(a, code)) for code in codes_a]
                if kind == "normal" and a == b:
                    codes_b = [code if rng.random() < 0.9 else other for code, other in zip(codes_a, codes_b)]
                atol, rtol = rng.choice(((0.0, 0.0), (1e-3, 0.0), (0.0, 4e-3), (1e-8, 1e-5)))
                questions.compare(f"{kind}, {n} pairs,", a, b, codes_a, codes_b, atol, rtol,
                                  TILE * rng.randrange(1 << 40), rng.randrange(64))
    questions.ask("comparisons")
    for name in ("fp8_e4m3fn", "fp8_e5m2", "fp6_e3m2", "fp8_e4m3fnuz", "binary8p3se"):
        codes = range(1 << FORMATS[name].width)     # all pairs, one at a time: every distance is checked
        sample = [(x, y) for x in codes for y in codes]
        for x, y in sample if long else rng.sample(sample, 300):
            questions.compare("one pair,", name, name, [x], [y])
    questions.ask("pairs of fp8 and fp6")


def ask_numpy(probe, tally, rng):
    """numpy's own figures: an independent check of the definitions."""
    for name, dtype, word in (("fp32", numpy.float32, numpy.uint32), ("fp64", numpy.float64, numpy.uint64),
                              ("fp16", numpy.float16, numpy.uint16)):
        for scale, offset in ((1, 0), (1e-3, 5)):
            generator = numpy.random.default_rng(rng.randrange(1 << 32))
            x = (generator.standard_normal(50000) * scale + offset).astype(dtype)
            y = (x * dtype(1.001)).astype(dtype)
            codes = [" ".join(format(code, "x") for code in v.view(word).tolist()) for v in (x, y)]
            lines = [f"compare {level} {name} {name} 0 {bits(0.001)} 0 {len(x)} 0 {codes[0]} {codes[1]}" for level in LEVELS]
            apart = abs(x.astype(numpy.longdouble) - y.astype(numpy.longdouble))
            steps = float(numpy.testing._private.utils.nulp_diff(x, y, dtype).max())
            close = numpy.isclose(x.astype(float), y.astype(float), rtol=0.001, atol=0)
            for level, got in zip(LEVELS, harness.ask(probe, lines), strict=True):
                if got == "skipped":
                    continue
                subject, words = f"numpy {name} {scale} {offset} {level}", got.split()
                mean = struct.unpack("<d", int(words[16], 16).to_bytes(8, "little"))[0]
                tally.check(subject + " exceeding", words[3], str((~close).sum()))
                tally.check(subject + " nulp", words[8], bits(steps))
                tally.check(subject + " mean", abs(mean / apart.mean() - 1) < 1e-12, True)
    tally.part("numpy")


def main():
    probe, long = harness.arguments()
    rng, tally = random.Random(1), harness.Tally()
    ask_comparisons(Comparisons(probe, tally), rng, long)
    if numpy:
        ask_numpy(probe, tally, rng)
    else:
        tally.skip("numpy")
    tally.finish()


if __name__ == "__main__":
    main()
