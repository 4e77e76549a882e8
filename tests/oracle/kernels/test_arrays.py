# SPDX-License-Identifier: MIT
"""Array casts at every level against formats.py, in the manner of Berkeley TestFloat: critical exponents and
significands, all IEEE modes, a single rounding from every source; stochastic rounding with the random bits of
philox.py; and the worked examples of vectors.tsv.
Usage: test_arrays.py ARRAY_PROBE VECTORS.TSV [--quick|--long]

--quick, or DTI_TEST_QUICK in the environment: two modes per pair.
"""

import random
import re
import sys
from fractions import Fraction

import arrays
import formats
from formats import FORMATS
from harness import QUICK, Tally
from test_vectors import rows

MODES = ("nearest-even", "nearest-away", "zero", "up", "down")
NAMES = ("fp16", "fp32", "fp64", "int32", "int64", "uint32", "uint64")
SMALLER = ("bf16", "tf32", "fp8_e5m2", "fp8_e4m3fn", "fp8_e4m3fnuz", "fp8_e8m0", "fp6_e2m3",
           "fp4_e2m1", "hif8", "posit16", "binary8p3se", "binary8p1uf", "int8", "uint16", "e6m9", "e15m48", "bool")


def patterns(bits, long):
    """Significands: one bit, ones up to a bit, ones down to a bit; with long, two of these combined."""
    top = (1 << bits) - 1
    single = {0, 1, top, top - 1, top >> 1, (top >> 1) + 1}
    for bit in range(bits):
        single |= {1 << bit, (1 << bit) - 1, top ^ ((1 << bit) - 1), top ^ (1 << bit)}
    if not long:
        return sorted(single)
    return sorted({a ^ b for a in single for b in single})


def float_codes(fmt, long, rng, count):
    top = (1 << fmt.exp) - 1
    exponents = {0, 1, 2, top, top - 1, top - 2}
    for edge in (0, 1, 10, 11, 23, 24, 31, 32, 52, 53, 62, 63, 64, 14, 15, 16, 126, 127, 128):
        exponents |= {fmt.bias + edge, fmt.bias - edge, fmt.bias - edge - fmt.man // 2}
    for least in (-14, -24, -25, -126, -149, -150, -6, -9, -10):   # where other formats become subnormal
        exponents |= {fmt.bias + least, fmt.bias + least - 1}
    significands = patterns(fmt.man, long)
    found = [e << fmt.man | s for e in sorted(exponents) if 0 <= e <= top for s in significands]
    if len(found) > count:
        found = rng.sample(found, count)
    return [code | fmt.sign_bit * rng.getrandbits(1) for code in found]


def integer_codes(fmt, long, rng, count):
    found = patterns(fmt.width, long)
    found += [rng.getrandbits(fmt.width) >> rng.randrange(fmt.width) for _ in range(count // 2)]
    found += [-code % (1 << fmt.width) for code in found]
    return rng.sample(found, count) if len(found) > count else found


def wanted_codes(source, fmt, codes, modes, overflow):
    """{mode: codes}; the position among the destination's values is found once for all modes."""
    found = {mode: [] for mode in modes}
    for code in codes:
        cls, negative, value = source.decode(code)
        if cls == formats.NAN and fmt.is_float:
            for mode in modes:
                found[mode].append(arrays.nan_code(source, code, fmt))
            continue
        place = fmt.locate(value) if fmt.is_float and value else None
        for mode in modes:
            found[mode].append(formats.encode(fmt, cls, negative, value, mode, overflow,
                                              place=place)[0])
    return found


def compare(tally, subject, codes, got, want):
    tally.checked += len(codes)
    if got != want:
        for code, ours, theirs in zip(codes, got, want, strict=True):
            if ours != theirs:
                tally.differ(f"{subject} {code:#x}", hex(ours), hex(theirs))


def testfloat_part(tally, probe, found, long, quick, rng):
    count = 30000 if long else 200 if quick else 500
    for name in NAMES:
        source = FORMATS[name]
        make = float_codes if source.is_float else integer_codes
        codes = make(source, long, rng, count)
        for other in NAMES + SMALLER:
            fmt = FORMATS[other]
            some = codes if other in NAMES else codes[: len(codes) // 2]
            overflow = rng.choice(formats.OVERFLOWS) if other in SMALLER else "native"
            if other == name:
                continue
            modes = ("nearest-even", rng.choice(MODES[1:])) if quick else MODES
            want = wanted_codes(source, fmt, some, modes, overflow)
            for level in found:
                for mode in modes:
                    got = arrays.cast_codes(probe, level, source, fmt, some,
                                            policy=(mode, overflow, "quiet"))
                    compare(tally, f"{level} {name} -> {other} {mode} {overflow}", some, got,
                            want[mode])
        tally.part(f"{name}, {len(codes)} inputs")


def stochastic_part(tally, probe, found, long, rng):
    for name, other in (("fp32", "bf16"), ("fp32", "fp8_e4m3fn"), ("fp64", "fp32"),
                        ("fp64", "fp16"), ("int64", "bf16"), ("fp32", "int8"), ("bf16", "fp8_e5m2"),
                        ("fp64", "fp6_e3m2"), ("uint64", "fp32")):
        source, fmt = FORMATS[name], FORMATS[other]
        make = float_codes if source.is_float else integer_codes
        codes = make(source, False, rng, 5000 if long else 350)
        codes = [code for code in codes if source.decode(code)[0] != formats.NAN]
        seed, index = rng.getrandbits(64), 2048 * rng.getrandbits(40)
        want = []
        for at, code in enumerate(codes):
            cls, negative, value = source.decode(code)
            want.append(formats.encode(fmt, cls, negative, value, "stochastic", "native", seed,
                                       index + at)[0])
        for level in found:
            got = arrays.cast_codes(probe, level, source, fmt, codes, seed=seed, index=index,
                                    policy=("stochastic", "native", "quiet"))
            compare(tally, f"{level} {name} -> {other} stochastic", codes, got, want)
    tally.part("stochastic")


def read_exact(text):
    """(negative, Fraction) of a number in text form, or None."""
    sign, text = text.startswith("-"), text.lstrip("+-")
    hexadecimal = re.fullmatch(r"0x([0-9a-f]*)\.?([0-9a-f]*)p([-+]?\d+)", text)
    if hexadecimal:
        whole, fraction, exponent = hexadecimal.groups()
        value = Fraction(int(whole + fraction, 16))
        return sign, value * formats.power_of_two(int(exponent) - 4 * len(fraction))
    if re.fullmatch(r"\d+\.?\d*(e[-+]?\d+)?|\.\d+", text):
        return sign, Fraction(text)
    return None


def source_codes(text):
    """[(format, code, exact)]: arrays that hold the input of a vector; the nearest fp64 if none does."""
    name, colon, code = text.partition(":")
    if colon:
        return [(FORMATS[name], int(code, 16), True)]
    number = read_exact(text)
    if number is None:
        cls = text.lstrip("-")
        return [(FORMATS[s], formats.encode(FORMATS[s], cls, text.startswith("-"), None)[0], True)
                for s in ("fp64", "fp32") if cls in (formats.INF, formats.NAN)]
    found = []
    negative, value = number
    cls = "finite" if value else "zero"
    written_whole = value != 0 and not set(text) & set(".ep")
    for name in ("fp64", "fp32", "int64", "uint64"):
        code, flags = formats.encode(FORMATS[name], cls, negative, value)
        if flags == 0 and (FORMATS[name].is_float or written_whole):
            found.append((FORMATS[name], code, True))
    return found or [(FORMATS["fp64"], formats.encode(FORMATS["fp64"], cls, negative, value)[0],
                      False)]


def meets(row, fmt, code):
    """Whether a stored code matches the row: its code, or otherwise its value."""
    if row["code"] != "-":
        return code == int(row["code"], 16)
    cls, negative, value = fmt.decode(code)
    wanted = row["value"]
    if wanted.lstrip("-") in (formats.INF, formats.NAN):
        return cls == wanted.lstrip("-")
    return value is not None and (-value if negative else value) == Fraction(wanted)


def wanted_of(row, source, code):
    """What formats.py stores; shows whether the nearest fp64 of an input can replace the input."""
    stages = [FORMATS[name] for name in (row["via"], row["dtype"]) if name != "-"]
    for fmt in stages:
        code = formats.encode(fmt, *source.decode(code), row["round"], row["overflow"])[0]
        source = fmt
    return code


def vectors_part(tally, probe, found, path):
    left_out = []
    for row in rows(path):
        fmt = FORMATS[row["dtype"]]
        default = row["round"] == "nearest-even" and row["overflow"] == "native"
        sources = [(source, code) for source, code, exact in source_codes(row["input"])
                   if exact or meets(row, fmt, wanted_of(row, source, code))]
        if not sources or (row["via"] != "-" and not default) or row["value"].count("e") and \
                row["code"] == "-":     # a rounded decimal
            left_out.append(row["section"] + " " + row["dtype"] + " " + row["input"])
            continue
        via = () if row["via"] == "-" else (row["via"],)
        for source, code in sources:
            for level in found:
                got = arrays.cast_codes(probe, level, source, fmt, [code] * 70, via=via,
                                        policy=(row["round"], row["overflow"], "quiet"))
                name = f"{level} {source.name} " + " ".join(row.values())
                tally.check(name, {(hex(c), meets(row, fmt, c)) for c in got}, {(hex(got[0]), True)})
    tally.part(f"vectors.tsv, but {len(left_out)} rows that no array can hold: {left_out}")


def identity_part(tally, probe, found, rng):
    """A dtype cast to itself: codes, including signalling NaNs, are unchanged unless a policy changes a number. The
    plan and checkkern's reference share this decision, so neither can check the other."""
    names = ("fp16", "bf16", "tf32", "fp32", "fp64", "fp8_e5m2", "fp8_e4m3fn", "fp8_e4m3fnuz",
             "fp8_e3m4", "fp8_e8m0", "fp6_e2m3", "fp4_e2m1", "hif8", "posit16", "binary8p3se", "int8", "uint64", "bool")
    for name in names:
        fmt = FORMATS[name]
        codes = list(range(0, 1 << fmt.width, 7 if QUICK and fmt.width > 9 else 1)) if fmt.width <= 16 else (
            float_codes(fmt, False, rng, 800 if QUICK else 4000) if fmt.is_float else integer_codes(fmt, False, rng, 900))
        for overflow, nan in (("native", "quiet"), ("native", "canonical"), ("saturate", "quiet"),
                              ("saturate-finite", "quiet"), ("saturate", "canonical")):
            want = [identity(fmt, code, overflow, nan) for code in codes]
            for level in found:
                got = arrays.cast_codes(probe, level, fmt, fmt, codes,
                                        policy=("nearest-even", overflow, nan))
                compare(tally, f"{level} {name} to itself {overflow} {nan}", codes, got, want)
    tally.part("a dtype to itself")


def identity(fmt, code, overflow, nan):
    if fmt.kind == "bool":
        return int(code != 0)
    if not fmt.is_float:
        return code
    cls, negative, _ = fmt.decode(code)
    clamps = overflow == "saturate" and bool(fmt.inf)
    if cls == formats.NAN:
        if nan == "canonical":
            return fmt.canonical_nan()
        # tf32 does not fill its container, so it is never copied bit for bit
        return arrays.nan_code(fmt, code, fmt) if clamps or fmt.name == "tf32" else code
    if cls == formats.INF and clamps:
        return fmt.lowest_code() if negative else fmt.max_code()
    return code


def main():
    words = [word for word in sys.argv[1:] if word not in ("--long", "--quick")]
    if len(words) != 2:
        sys.exit("usage: test_arrays.py ARRAY_PROBE VECTORS.TSV [--quick|--long]")
    probe, path, long, quick = words[0], words[1], "--long" in sys.argv, "--quick" in sys.argv or QUICK
    tally, rng = Tally(), random.Random(20260702)
    found = arrays.levels(probe)
    print("levels: " + " ".join(found))
    vectors_part(tally, probe, found, path)
    identity_part(tally, probe, found, rng)
    testfloat_part(tally, probe, found, long, quick, rng)
    stochastic_part(tally, probe, found, long, rng)
    tally.finish()


if __name__ == "__main__":
    main()
