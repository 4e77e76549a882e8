# SPDX-License-Identifier: MIT
"""Rounding and overflow against formats.py: every value, every midpoint and both sides of each, at a relative distance
of 1e-45, in all rounding modes and overflow policies, from decimal text. Formats up to 9 bits completely; 16-bit
formats and the binary8 family completely with --long, otherwise a sample; wider ones at random places. With
DTI_TEST_QUICK in the environment samples of everything.
"""

import random
from fractions import Fraction

import formats
import philox
from formats import FORMATS, INF, NAN, OVERFLOWS, ROUNDS, decimal_text, hex_text, power_of_two
from harness import QUICK, Tally, arguments, ask

TINY = Fraction(1, 10 ** 45)
HEX_TINY = power_of_two(-150)       # for formats whose decimals would have thousands of digits
HEX_FROM = 12                       # exponent bits
SEEDS = (0, 1, 0x123456789abcdef0, 0xffffffffffffffff)


def around(value, tiny=TINY):
    return (value, value * (1 - tiny), value * (1 + tiny))


def interesting(fmt, low, tiny):
    """Magnitudes at and around a magnitude index and the midpoint to the next."""
    here, there = fmt.magnitude(low), fmt.magnitude(low + 1)
    step = there - here
    found = [x for p in (here, here + step / 2) for x in around(p, tiny) if x]
    found += [here + step / 4, here + step * 3 / 4 + tiny * step, here + step / power_of_two(32),
              there - step / power_of_two(33)]
    return found


def outside(fmt, tiny):
    """Magnitudes below the smallest and beyond the largest, near and very far."""
    top, last = fmt.magnitude(fmt.max_index), fmt.magnitude(fmt.max_index + 1)
    small = fmt.magnitude(0 if fmt.scale else 1)
    found = []
    for p in (last, (top + last) / 2, 2 * last, last * power_of_two(70)):
        found += around(p, tiny)
    for p in (small, small / 2, small / 4, small / power_of_two(31), small / power_of_two(32),
              small / power_of_two(33), small / power_of_two(200)):
        found += around(p, tiny)
    return found


def cases_of(fmt, long, rng):
    """Magnitudes to try."""
    top = fmt.max_index
    if (fmt.width <= 9 and not fmt.name.startswith("binary8")) or (fmt.width <= 16 and long):
        lows = range(rng.randrange(4), top + 1, 4) if QUICK else range(top + 1)
    elif fmt.width <= 16:
        lows = {0, 1, top - 1, top} | {rng.randrange(top) for _ in range((100 if QUICK else 900) if fmt.width > 9 else 3 if QUICK else 30)}
        lows |= {max(b + d, 0) for b in range(0, top + 1, (4 if QUICK else 1) << fmt.man) for d in (-1, 0, 1)}
    else:
        lows = {0, 1, (1 << fmt.man) - 1, 1 << fmt.man, top - 1, top}
        lows |= {rng.randrange(top) for _ in range(8000 if long else 80 if QUICK else 400)}
    tiny = HEX_TINY if fmt.exp >= HEX_FROM else TINY
    found = []
    for low in sorted(lows):
        found += interesting(fmt, low, tiny)
    return found + outside(fmt, tiny)


def want_row(fmt, cls, negative, value, place, seed, index):
    cells = []
    for mode in ROUNDS:
        for overflow in OVERFLOWS:
            code, flags = formats.encode(fmt, cls, negative, value, mode, overflow, seed, index,
                                         place)
            cells.append(f"{code:x}:{flags}")
    return cells


def check_float(tally, probe, fmt, long, rng):
    lines, wants = [], []

    def add(text, cls, negative, value, place=None):
        seed, index = rng.choice(SEEDS), rng.choice((0, 1, 2, 3, 4, 77, 2 ** 34 + 3))
        lines.append(f"matrix {fmt.name} {seed:x} {index} {text}")
        wants.append(want_row(fmt, cls, negative, value, place, seed, index))

    for negative in (False, True):
        sign = "-" if negative else ""
        add(sign + "0", "zero", negative, Fraction(0))
        add(sign + "inf", INF, negative, None)
        add(sign + "nan", NAN, negative, None)
        add(sign + "1e99999", "finite", negative, power_of_two(300000))
        add(sign + "1e-99999", "finite", negative, power_of_two(-300000))
    values = cases_of(fmt, long, rng)
    for value in rng.sample(values, len(values) // 4) if QUICK else values:
        place = fmt.locate(value)
        text = hex_text(value) if fmt.exp >= HEX_FROM else decimal_text(value)
        if fmt.width > 9 and rng.random() < 0.5:
            add("-" + text, "finite", True, value, place)
        else:
            add(text, "finite", False, value, place)
            if fmt.width <= 9:
                add("-" + text, "finite", True, value, place)
    compare(tally, probe, lines, wants)


def compare(tally, probe, lines, wants):
    names = [f"{mode} {overflow}" for mode in ROUNDS for overflow in OVERFLOWS]
    for line, got, want in zip(lines, ask(probe, lines), wants, strict=True):
        cells = got.split()
        tally.checked += len(want)
        if cells != want:
            for name, have, need in zip(names, cells, want):
                if have != need:
                    tally.differ(f"{line}   [{name}]", have, need)
            if len(cells) != len(want):
                tally.differ(line, got, want)


def check_integer(tally, probe, fmt, rng):
    """Limits of the type and of every half. Numbers fit in 128 bits: wrapping longer ones needs dti_number_low_bits()."""
    ends = {0, 1, 2, 3, fmt.max_code(), fmt.max_code() + 1, 1 << fmt.width, (1 << fmt.width) + 1}
    ends |= {rng.randrange(1 << fmt.width) for _ in range(60)}
    ends |= {rng.randrange(1 << fmt.width + 9) for _ in range(20)}
    values = {Fraction(e) + Fraction(q, 4) for e in ends for q in range(-3, 5)}
    values |= {x for e in ends for q in (0, Fraction(1, 2)) for x in around(e + q)}
    values |= {TINY, Fraction(10) ** 30, power_of_two(100) - 1}
    lines, wants = [], []
    values = sorted(v for v in values if v > 0)
    for value in rng.sample(values, len(values) // 4) if QUICK else values:
        for negative in (False, True):
            seed, index = rng.choice(SEEDS), rng.randrange(9)
            text = "-" * negative + decimal_text(value)
            lines.append(f"matrix {fmt.name} {seed:x} {index} {text}")
            wants.append(want_row(fmt, "finite", negative, value, None, seed, index))
    for text, cls, negative in (("0", "zero", False), ("-0", "zero", True), ("inf", INF, False),
                                ("-inf", INF, True), ("nan", NAN, False), ("-nan", NAN, True),
                                ("0x3p+997", "finite", False), ("-0x3p+997", "finite", True)):
        value = None if cls in (INF, NAN) else 3 * power_of_two(997) * ("997" in text)
        lines.append(f"matrix {fmt.name} 0 0 {text}")
        wants.append(want_row(fmt, cls, negative, value, None, 0, 0))
    compare(tally, probe, lines, wants)


def check_bool(tally, probe):
    texts = {"0": 0, "-0": 0, "1": 1, "0.25": 1, "-3": 1, "1e-400": 1, "-1e-99999": 1, "1e999": 1,
             "inf": 1, "-inf": 1, "nan": 1, "-nan": 1, "256": 1}
    lines = [f"matrix bool 0 0 {text}" for text in texts]
    for text, got in zip(texts, ask(probe, lines), strict=True):
        tally.check(f"bool of {text}", {cell.split(":")[0] for cell in got.split()},
                    {str(texts[text])})


def check_low_bits(tally, probe, rng):
    """The integer part modulo 2^64, for numbers of any length, truncated toward zero."""
    texts = {"0": 0, "-1": 2 ** 64 - 1, "1e400": 10 ** 400 % 2 ** 64, "-0.99999": 0,
             "18446744073709551617.5": 1, "nan": 0, "-inf": 0, "1e-30": 0, "0x1.8p+64": 2 ** 63,
             "0x1p+999": 0, "36893488147419103237/2": (36893488147419103237 // 2) % 2 ** 64}
    for _ in range(300):
        n = rng.randrange(10 ** rng.randrange(1, 90))
        texts[f"-{n}.875"] = -n % 2 ** 64
        texts[f"{n}e3"] = n * 1000 % 2 ** 64
    lines = [f"lowbits {text}" for text in texts]
    for text, got in zip(texts, ask(probe, lines), strict=True):
        tally.check(f"low bits of {text}", got, f"0x{texts[text]:x}")


def nan_codes(fmt, rng):
    """NaN codes of a format with a sign and, in IEEE formats, a payload."""
    if not fmt.ieee:
        return list(fmt.nan)
    top = (1 << fmt.exp) - 1 << fmt.man
    payloads = {1, 1 << fmt.man - 1, (1 << fmt.man) - 1, 1 << max(fmt.man - 2, 0)}
    payloads |= {rng.randrange(1, 1 << fmt.man) for _ in range(5 if QUICK else 20)}
    return [sign | top | payload for payload in payloads for sign in (0, fmt.sign_bit)]


def want_nan(source, code, fmt, policy):
    """IEEE 754-2019 6.2: sign and leading payload bits kept where they fit, and quiet."""
    if not fmt.nan:
        return fmt.max_code(), formats.INVALID | formats.INEXACT | formats.NO_NAN
    canonical = fmt.canonical_nan()
    if policy == "canonical":
        return canonical, 0
    if code & source.sign_bit and canonical | fmt.sign_bit in fmt.nan:
        canonical |= fmt.sign_bit
    if fmt.ieee and source.ieee:
        payload = code & (1 << source.man) - 1
        canonical |= payload >> source.man - fmt.man if source.man > fmt.man else (
            payload << fmt.man - source.man)
    return canonical, 0


def check_nans(tally, probe, rng):
    names = ("fp64", "fp32", "fp16", "bf16", "fp8_e5m2", "fp8_e4m3fn", "e15m48")
    lines, wants = [], []
    for source in (FORMATS[name] for name in names):
        for code in nan_codes(source, rng):
            for fmt in formats.floats():
                for policy in ("quiet", "canonical"):
                    lines.append(f"convert {source.name} {code:x} {fmt.name} nearest-even native "
                                 f"{policy} 0 0")
                    wants.append("0x{:x} {}".format(*want_nan(source, code, fmt, policy)))
    for line, got, want in zip(lines, ask(probe, lines), wants, strict=True):
        tally.check(line, got, want)


def check_casts(tally, probe, long, rng):
    """Casts every small format into every other: all codes with --long, otherwise some of each."""
    small = [f for f in FORMATS.values() if f.width <= 8 and f.kind != "bool"]
    lines, wants = [], []
    for source in small:
        everything = range(1 << source.width)
        for fmt in small + [FORMATS["fp16"], FORMATS["bf16"]]:
            codes = everything if long else rng.sample(everything, min(6, len(everything)))
            for code in codes:
                cls, negative, value = source.decode(code)
                if cls == NAN:
                    continue
                mode = rng.choice(ROUNDS)
                overflow = rng.choice(OVERFLOWS)
                lines.append(f"convert {source.name} {code:x} {fmt.name} {mode} {overflow} "
                             "quiet 5 9")
                wants.append("0x{:x} {}".format(
                    *formats.encode(fmt, cls, negative, value, mode, overflow, 5, 9)))
    for line, got, want in zip(lines, ask(probe, lines), wants, strict=True):
        tally.check(line, got, want)


def check_random_bits(tally, probe, rng):
    """The generator itself; the model's own is checked against the published vectors first."""
    philox.check_philox()
    known = [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]     # counter 0, key 0
    for index, got in enumerate(ask(probe, [f"random 0 {i}" for i in range(4)])):
        tally.check(f"random 0 {index}", int(got, 16), known[index])
    pairs = [(rng.getrandbits(64), rng.getrandbits(rng.choice((3, 20, 40, 64))))
             for _ in range(2000)]
    for (seed, index), got in zip(pairs, ask(probe, [f"random {s:x} {i}" for s, i in pairs])):
        tally.check(f"random {seed:x} {index}", int(got, 16), philox.random_bits(seed, index))


def check_stochastic_border(tally, probe, rng):
    """Form A has a sharp boundary at (2^32 - R) / 2^32 of an ulp: from there on it rounds up."""
    lines, wants = [], []
    for fmt in [f for f in formats.floats(16) if not f.scale]:
        for _ in range(12):
            seed, index = rng.getrandbits(64), rng.getrandbits(40)
            low = rng.randrange(fmt.max_index)
            here, there = fmt.magnitude(low), fmt.magnitude(low + 1)
            border = here + (there - here) * (2 ** 32 - philox.random_bits(seed, index)) / 2 ** 32
            for value, code in ((border, low + 1), (border - (there - here) * TINY, low)):
                lines.append(f"encode {fmt.name} stochastic native quiet {seed:x} {index} "
                             + decimal_text(value))
                wants.append(fmt.code_at(code))
    for line, got, want in zip(lines, ask(probe, lines), wants, strict=True):
        tally.check(line, int(got.split()[0], 16), want)


def main():
    probe, long = arguments()
    rng = random.Random(20260726)
    tally = Tally()
    check_random_bits(tally, probe, rng)
    check_stochastic_border(tally, probe, rng)
    check_bool(tally, probe)
    check_low_bits(tally, probe, rng)
    for fmt in formats.integers():
        check_integer(tally, probe, fmt, rng)
    tally.part("integers")
    check_nans(tally, probe, rng)
    check_casts(tally, probe, long, rng)
    tally.part("NaN and small format casts")
    for fmt in formats.floats():
        check_float(tally, probe, fmt, long, rng)
        tally.part(fmt.name)
    tally.finish()


if __name__ == "__main__":
    main()
