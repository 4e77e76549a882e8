# SPDX-License-Identifier: MIT
"""Statistics of arrays against exact rationals and the reference formats, at every level: counts, extremes and their
places exactly, sums bit for bit and close to the exact sums; also numpy for means and deviations.

Usage: test_stats.py STATS_PROBE [--long]
"""

import functools
import math
import random
import struct
from fractions import Fraction

import harness
from array_model import HUBS, LEVELS, NONE, TILE, Questions, Sums, bits, draw, mean_of, rounded, signed
from formats import FORMATS, NAN, OVERFLOW, encode, floor_log2

try:
    import numpy
except ImportError:
    numpy = None

RANGES = ("fp16", "bf16", "fp8_e4m3fn", "fp8_e5m2")


@functools.lru_cache(maxsize=1 << 20)
def fates(value):
    """The result of a magnitude in each range: "overflow", "zero", "subnormal" or None."""
    result = []
    for name in RANGES:
        fmt = FORMATS[name]
        code, flags = encode(fmt, "finite", False, value)
        result.append("overflow" if flags & OVERFLOW else "zero" if code == 0 else
                      "subnormal" if code < 1 << fmt.man else None)
    return tuple(result)


def hub_code(hub, negative, cls, value):
    if hub == "F32":
        word = struct.unpack("<I", struct.pack("<f", float(value)))[0]
        return word | (1 << 31 if negative else 0)
    if hub == "F64":
        return int(bits(rounded(value)), 16) | (1 << 63 if negative else 0)
    return int(value) % (1 << 64)


def want_stats(name, shift, index, codes):
    """The probe's answer, and the exact mean and variance."""
    fmt, hub = FORMATS[name], HUBS.get(name, "F32")
    normal = None
    if fmt.is_float:
        normal = fmt.magnitude(fmt.normal_index())
    counts = dict.fromkeys(("nan", "inf", "ninf", "zeros", "negative", "subnormals", "finite"), 0)
    first = {"nan": NONE, "inf": NONE}
    best = {}
    binades, fate = {}, {}
    sums = Sums(2)
    values = []
    for at, code in enumerate(codes):
        if at and at % TILE == 0:
            sums.end()
        cls, value = signed(name, code)
        if cls == NAN or value is None:
            key = "nan" if cls == NAN else "inf"
            counts[key] += 1
            counts["ninf"] += cls == "-inf"
            counts["negative"] += cls == "-inf"
            first[key] = min(first[key], index + at)
            continue
        values.append(value)
        counts["finite"] += 1
        counts["zeros"] += value == 0
        counts["negative"] += value < 0
        counts["subnormals"] += normal is not None and value != 0 and abs(value) < normal
        number = Fraction(rounded(value)) if hub == "F64" else value
        minus = value == 0 and FORMATS[name].decode(code)[1]
        for key, beyond in (("min", lambda a, b: a < b), ("max", lambda a, b: a > b),
                            ("abs", lambda a, b: abs(a) > abs(b))):
            if key not in best or beyond(number, best[key][0]):
                size = abs(number) if key == "abs" else number
                negative = (size < 0 or minus) and key != "abs"
                best[key] = (number, hub_code(hub, negative and hub in ("F32", "F64"), cls,
                                              abs(size) if hub in ("F32", "F64") else size), index + at)
        d = rounded(value) - shift
        sums.add(at, (d, d * d))
        if number:
            binade = floor_log2(abs(number))
            binades[binade] = binades.get(binade, 0) + 1
            for key in enumerate(fates(abs(number))):
                fate[key] = fate.get(key, 0) + 1
    sums.end()
    total, squared = sums.totals()
    n = counts["finite"]
    if n == 0:
        mean = deviation = math.nan
    else:
        mean = math.nan
        if not sums.special[0]:
            whole = rounded(sums.exact[0] + Fraction(shift) * n)
            mean = mean_of(whole, n) if math.isfinite(whole) else math.nan
        same = best["min"][0] == best["max"][0]
        if same:
            deviation = 0.0
        elif not math.isfinite(total) or not math.isfinite(squared) or squared < 2.0 ** -960:
            deviation = math.nan
        else:
            m, s = mean_of(total, n), mean_of(squared, n)
            variance = rounded(Fraction(s) - Fraction(m) ** 2)
            deviation = math.sqrt(variance) if variance > 0 else 0.0
    empty = (0, 0, 0)
    order = [best.get(key, empty) for key in ("min", "max", "abs")]
    words = [len(codes), *counts.values()]
    words += [format(entry[1], "x") for entry in order] + [entry[2] for entry in order]
    words += [first["nan"], first["inf"]] + [bits(x) for x in (shift, total, squared, mean, deviation)]
    words += [f"{k}:{binades[k]}" for k in sorted(binades)]
    words += ["/".join(str(fate.get((k, f), 0)) for f in ("overflow", "zero", "subnormal"))
              for k in range(len(RANGES))]
    exact = None
    if values:
        mean_exact = sum(values) / n
        exact = (mean_exact, sum(v * v for v in values) / n - mean_exact ** 2, mean, deviation,
                 max(abs(v) for v in values))
    return " ".join(map(str, words)), exact


def check_exact(tally, subject, exact):
    """Means close to the exact mean, relative to the largest magnitude; deviations close to the exact one."""
    mean, variance, got_mean, got_deviation, largest = exact
    if largest > 2 ** 500 or (largest and largest < Fraction(1, 2 ** 400)):
        return
    if abs(Fraction(got_mean) - mean) > largest * Fraction(1, 1 << 48):
        tally.differ(f"{subject}: mean", got_mean, float(mean))
    if variance > 0 and abs(got_deviation / math.sqrt(variance) - 1) > 1e-9:
        tally.differ(f"{subject}: deviation", got_deviation, math.sqrt(variance))


class Statistics(Questions):
    def stats(self, subject, name, codes, index=0, skew=0, shift=0.0):
        answer, exact = want_stats(name, shift, index, codes)
        if exact and shift == 0.0 and "shifted" not in subject:
            check_exact(self.tally, subject, exact)
        tail = f"{index} {len(codes)} {skew} " + " ".join(format(code, "x") for code in codes)
        self.put(f"{subject} {name}", ("stats", name, bits(shift)), tail, answer)


def edges(name):
    """Codes around the range limits of a wide format, and those of fp16, bf16 and fp8."""
    fmt = FORMATS[name]
    found = {0, 1, 2, fmt.max_index, fmt.max_index - 1, (1 << fmt.man) - 1, 1 << fmt.man, (1 << fmt.man) + 1}
    for other in RANGES + ("fp32",):
        small = FORMATS[other]
        marks = [small.magnitude(i) for i in (1, 2, 1 << small.man, small.max_index)]
        marks += [marks[0] / 2, (small.magnitude((1 << small.man) - 1) + marks[2]) / 2]
        marks += [marks[3] + (marks[3] - small.magnitude(small.max_index - 1)) / 2]
        for mark in marks:
            code = encode(fmt, "finite", False, mark, overflow="saturate")[0]
            found.update(c for c in range(code - 2, code + 3) if 0 <= c <= fmt.max_index)
    found.update((fmt.inf[0], fmt.inf[0] + 1, fmt.inf[0] | 1 << (fmt.man - 1)))
    return [c | s for c in sorted(found) for s in (0, fmt.sign_bit)]


def ask_stats(questions, rng, long):
    for name in ("bf16", "fp16"):
        codes = range(rng.randrange(64), 1 << 16, 64) if harness.QUICK else range(1 << 16)
        questions.stats("all codes,", name, list(codes))
        questions.stats("all finite codes,", name, [c for c in codes if signed(name, c)[1] is not None])
    small = [f for f in FORMATS.values() if f.width <= 8 and f.exp < 12]
    for fmt in small:
        codes = list(range(2 if fmt.kind == "bool" else 1 << fmt.width))
        questions.stats("all codes,", fmt.name, codes)
        rng.shuffle(codes)
        questions.stats("all codes,", fmt.name, codes * 3, index=TILE * 7, skew=rng.randrange(64))
    questions.ask("statistics of all codes")
    for name in ("fp32", "fp64"):
        codes = edges(name)
        questions.stats("edges", name, codes)
        questions.stats("finite edges", name, [c for c in codes if signed(name, c)[1] is not None])
    for name, ends in (("int64", (1 << 63, (1 << 63) - 1, 0, (1 << 64) - 1, 1, (1 << 53) + 1)),
                       ("uint64", (0, 1, (1 << 64) - 1, 1 << 63, (1 << 53) + 1, (1 << 24) - 1))):
        questions.stats("ends,", name, list(ends))
        questions.stats("ends,", name, [e for e in ends for _ in range(5)])
    names = ("fp32", "fp64", "int64", "uint64", "int32", "uint32", "int8", "uint8", "int16", "bool", "bf16", "fp16",
             "tf32", "fp8_e4m3fn", "fp8_e8m0", "int4", "fp4_e2m1", "e15m48")
    lengths = (0, 1, 2, 15, 16, 17, 31, 33, 100, 2047, 2048, 2049, 4096, 4100)
    for name in names:
        for kind in ("any", "normal", "special", "small", "large", "few", "shifted"):
            if name == "e15m48" and kind not in ("normal", "shifted"):
                continue        # values that fp64 cannot hold are not compared directly
            for n in lengths if long else rng.sample(lengths[:9] if harness.QUICK else lengths, 1):
                codes = [draw(rng, FORMATS[name], kind) for _ in range(n)]
                shift = 0.0 if kind != "shifted" else rounded(signed(name, codes[0])[1] or 0) if codes else 1.0
                if not math.isfinite(shift):
                    shift = 0.0
                questions.stats(f"{kind}, {n} elements,", name, codes, TILE * rng.randrange(1 << 40), rng.randrange(64), shift)
    questions.ask("statistics")


def ask_numpy(probe, tally, rng):
    """numpy's own figures: an independent check of the definitions."""
    for name, dtype, word in (("fp32", numpy.float32, numpy.uint32), ("fp64", numpy.float64, numpy.uint64),
                              ("fp16", numpy.float16, numpy.uint16)):
        for scale, offset in ((1, 0), (1e-3, 5), (1, 1000)):
            generator = numpy.random.default_rng(rng.randrange(1 << 32))
            x = (generator.standard_normal(50000) * scale + offset).astype(dtype)
            wide = x.astype(numpy.longdouble)
            codes = " ".join(format(code, "x") for code in x.view(word).tolist())
            lines = [f"stats {level} {name} auto 0 {len(x)} 0 {codes}" for level in LEVELS]
            for level, got in zip(LEVELS, harness.ask(probe, lines), strict=True):
                if got == "skipped":
                    continue
                subject, words = f"numpy {name} {scale} {offset} {level}", got.split()
                mean, deviation = (struct.unpack("<d", int(w, 16).to_bytes(8, "little"))[0] for w in words[19:21])
                tally.check(subject + " mean", abs(mean - wide.mean()) < 1e-12 * (1 + offset), True)
                tally.check(subject + " std", abs(deviation / wide.std() - 1) < 1e-9, True)
                tally.check(subject + " places", words[11:14], [str(v) for v in (x.argmin(), x.argmax(), abs(x).argmax())])
    tally.part("numpy")


def main():
    probe, long = harness.arguments()
    rng, tally = random.Random(1), harness.Tally()
    ask_stats(Statistics(probe, tally), rng, long)
    if numpy:
        ask_numpy(probe, tally, rng)
    else:
        tally.skip("numpy")
    tally.finish()


if __name__ == "__main__":
    main()
