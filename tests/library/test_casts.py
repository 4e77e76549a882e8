# SPDX-License-Identifier: MIT
"""Casts of arrays by the shared library against the reference formats (tests/oracle/formats.py, written from the
specifications): every code of every format of at most 16 bits to every format; policies, routes, random rounding; packed
and swapped arrays by integer arithmetic on bits; copies with NaN payloads unchanged.

Usage: test_casts.py LIBRARY [--long]
"""

import random
import struct

import arrays
import harness
from formats import FORMATS, NAN, encode
from library import BYTES, HIGH, LOW, OVERFLOWS, Library

MODES = ("nearest-even", "nearest-away", "zero", "up", "down", "odd")


def raw(fmt, codes):
    return struct.pack(f"={len(codes)}{arrays.LETTERS[arrays.container(fmt)]}", *(code << arrays.shift(fmt) for code in codes))


def unraw(fmt, data):
    size = arrays.container(fmt)
    return [code >> arrays.shift(fmt) for code in struct.unpack(f"={len(data) // size}{arrays.LETTERS[size]}", data)]


def nan_code(src, code, dst):
    """arrays.nan_code(), but the code of -0 as the only NaN has no sign."""
    if not src.minus_zero:
        code &= ~src.sign_bit
    return arrays.nan_code(src, code, dst)


def stored(src, code, dst, mode=None, overflow="native", seed=0, index=0):
    """The code that a code becomes: one rounding."""
    cls, negative, value = src.decode(code)
    mode = mode or ("nearest-even" if dst.is_float else "zero")
    if cls == NAN and dst.is_float:
        return nan_code(src, code, dst)
    return encode(dst, cls, negative, value, mode, overflow, seed, index)[0]


def same(tally, subject, got, want):
    """Counts each element; shows the first that differs."""
    tally.checked += len(want)
    if got != want:
        at = next((i for i, (x, y) in enumerate(zip(got, want)) if x != y), min(len(got), len(want)))
        tally.differ(f"{subject}, element {at} of {len(want)}", [hex(x) for x in got[at:at + 1]], [hex(x) for x in want[at:at + 1]])


def is_copy(src, dst):
    return src is dst and src.kind != "bool" and (src.width <= 8 or src.width in (16, 32, 64))


def codes_of(src, step, start=0):
    if src.kind == "bool":
        return [0, 1]
    return list(range(start % step, 1 << src.width, step))


def check_all(library, tally, rng, long):
    sources = [f for f in FORMATS.values() if f.width <= 16]
    for src in sources:
        quick = harness.QUICK and not long
        step = (3 if quick else 1) if src.width <= 8 else 1 if long else 251 if quick else 13
        codes = codes_of(src, step, rng.randrange(1 << 16))
        data = raw(src, codes)
        decoded = [src.decode(code) for code in codes]
        for dst in FORMATS.values():
            if is_copy(src, dst):
                want = codes
            else:
                mode = "nearest-even" if dst.is_float else "zero"
                want = [nan_code(src, code, dst) if cls == NAN and dst.is_float else encode(dst, cls, negative, value, mode)[0]
                        for code, (cls, negative, value) in zip(codes, decoded)]
            how = {"src_packing": BYTES, "dst_packing": BYTES}
            got = unraw(dst, library.cast(library.caster(src.name, dst.name, **how), data, len(codes)))
            same(tally, f"{src.name} from {codes[0]:x} by {step} to {dst.name}", got, want)
    tally.part("all codes of up to 16 bits to all formats")


def wide_codes(rng, name, n):
    fmt = FORMATS[name]
    found = [rng.getrandbits(fmt.width) for _ in range(n // 2)]
    return found + [rng.getrandbits(fmt.man) | rng.randrange(fmt.bias - 20, fmt.bias + 20) << fmt.man | (fmt.sign_bit if rng.random() < .5 else 0)
                    for _ in range(n - n // 2)]


def check_policies(library, tally, rng, long):
    names = ("fp32", "fp16", "bf16", "fp8_e4m3fn", "fp8_e5m2", "fp8_e4m3fnuz", "fp4_e2m1", "fp8_e8m0", "int8", "uint4", "int32", "uint64")
    for source in ("fp32", "fp64", "bf16"):
        codes = wide_codes(rng, source, 400 if long else 16 if harness.QUICK else 60)
        for name in names:
            dst = FORMATS[name]
            for mode in MODES:
                for overflow in OVERFLOWS:
                    caster = library.caster(source, name, round=mode, overflow=overflow, src_packing=BYTES, dst_packing=BYTES)
                    got = unraw(dst, library.cast(caster, raw(FORMATS[source], codes), len(codes)))
                    for code, x in zip(codes, got):
                        if FORMATS[source] is dst and dst.decode(code)[0] == NAN:
                            continue    # checked with copies
                        tally.check(f"{source} {code:x} to {name}, {mode}, {overflow}", hex(x),
                                    hex(stored(FORMATS[source], code, dst, mode, overflow)))
    tally.part("policies")
    for name in ("fp32", "fp16", "bf16", "fp8_e5m2", "fp8_e4m3fn"):      # canonical NaNs: positive, without payload
        caster = library.caster("fp32", name, nan="canonical")
        got = unraw(FORMATS[name], library.cast(caster, raw(FORMATS["fp32"], [0x7f800001, 0xffc12345, 0x7fffffff]), 3))
        tally.check(f"canonical NaN of {name}", got, [FORMATS[name].canonical_nan()] * 3)
    tally.part("canonical NaNs")


def check_random(library, tally, rng):
    for name in ("bf16", "fp16", "fp8_e4m3fn", "fp4_e2m1"):
        for seed in (0, 1, 0xfeedfacecafebeef):
            codes = wide_codes(rng, "fp32", 5000)
            caster = library.caster("fp32", name, round="stochastic", seed=seed, dst_packing=BYTES)
            got = unraw(FORMATS[name], library.cast(caster, raw(FORMATS["fp32"], codes), len(codes)))
            for i in (*range(40), *range(2040, 2060), *range(4990, 5000)):
                tally.check(f"fp32 to {name}, seed {seed}, element {i}", got[i],
                            stored(FORMATS["fp32"], codes[i], FORMATS[name], "stochastic", "native", seed, i))
    tally.part("stochastic rounding")


def check_routes(library, tally, rng):
    for source, route, name in (("fp64", ["fp32"], "bf16"), ("fp64", ["fp32", "fp16"], "fp8_e4m3fn"), ("fp32", ["bf16"], "int8"),
                                ("int64", ["fp32"], "fp16"), ("fp64", ["fp32", "fp16", "bf16", "fp8_e5m2"], "fp32")):
        src = FORMATS[source]
        codes = wide_codes(rng, source, 500) if src.is_float else [rng.getrandbits(64) >> rng.randrange(64) for _ in range(500)]
        got = unraw(FORMATS[name], library.cast(library.caster(source, name, via=list(route)), raw(src, codes), len(codes)))
        for code, x in zip(codes, got):
            at, fmt = code, src
            for stage in (*route, name):
                at, fmt = stored(fmt, at, FORMATS[stage]), FORMATS[stage]
            tally.check(f"{source} {code:x} via {route} to {name}", hex(x), hex(at))
    tally.part("routes")


def pack(codes, width, packing):
    """Codes as one integer, low or high first."""
    if packing == LOW:
        whole = sum(code << i * width for i, code in enumerate(codes))
        return whole.to_bytes((len(codes) * width + 7) // 8, "little")
    size = (len(codes) * width + 7) // 8
    whole = 0
    for code in codes:
        whole = whole << width | code
    return (whole << size * 8 - len(codes) * width).to_bytes(size, "big")


def check_packing(library, tally, rng):
    layouts = (LOW, HIGH, BYTES)
    for fmt in (f for f in FORMATS.values() if f.width < 8 and f.name != "fp8_ue4m3"):
        for n in (0, 1, 3, 9, 2049) if harness.QUICK else (0, 1, 2, 3, 5, 8, 9, 100, 2047, 2048, 2049, 5001):
            codes = [rng.getrandbits(fmt.width) for _ in range(n)]
            forms = [bytes(codes) if p == BYTES else pack(codes, fmt.width, p) for p in layouts]
            for i, src in enumerate(layouts):
                for k, dst in enumerate(layouts):       # pack and unpack: a cast to the same format
                    caster = library.caster(fmt.name, fmt.name, src_packing=src, dst_packing=dst)
                    same(tally, f"{n} {fmt.name}, packing {src} to {dst}", library.cast(caster, forms[i], n), forms[k])
                wide = library.cast(library.caster(fmt.name, "fp32", src_packing=src), forms[i], n)
                same(tally, f"{n} packed {fmt.name} to fp32", unraw(FORMATS["fp32"], wide), [stored(fmt, c, FORMATS["fp32"]) for c in codes])
                back = library.cast(library.caster("fp32", fmt.name, dst_packing=src), wide, n)
                again = [stored(FORMATS["fp32"], c, fmt) for c in unraw(FORMATS["fp32"], wide)]
                same(tally, f"{n} fp32 to packed {fmt.name}", back, bytes(again) if src == BYTES else pack(again, fmt.width, src))
    tally.part("packed arrays")


def check_copies(library, tally, rng):
    for name in ("fp64", "fp32", "fp16", "bf16", "fp8_e5m2", "fp8_e4m3fn", "int16", "uint64"):
        fmt = FORMATS[name]
        nans = [] if not fmt.nan else [fmt.inf[0] | 1, fmt.inf[1] | 1 << fmt.man - 2 if fmt.man > 2 else fmt.inf[1] | 1] if fmt.inf else list(fmt.nan)
        codes = nans + [rng.getrandbits(fmt.width) for _ in range(3001)]
        size = arrays.container(fmt)
        data = raw(fmt, codes)
        swapped = b"".join(data[i:i + size][::-1] for i in range(0, len(data), size))
        for src, source in ((False, data), (True, swapped)):
            for dst, result in ((False, data), (True, swapped)):
                caster = library.caster(name, name, src_swapped=src, dst_swapped=dst)
                tally.check(f"{name} swapped {src} to {dst}", library.cast(caster, source, len(codes)) == result, True)
        if size > 1 and name != "fp32":
            caster = library.caster(name, "fp32", src_swapped=True)
            plain = library.caster(name, "fp32")
            tally.check(f"swapped {name} to fp32", library.cast(caster, swapped, len(codes)) == library.cast(plain, data, len(codes)), True)
    tally.part("copies and byte orders")


def check_complex(library, tally, rng):
    codes = wide_codes(rng, "fp32", 4002)
    data = raw(FORMATS["fp32"], codes)
    got = library.cast(library.caster("complex64", "complex32"), data, len(codes) // 2)
    same(tally, "complex64 to complex32", unraw(FORMATS["fp16"], got), [stored(FORMATS["fp32"], c, FORMATS["fp16"]) for c in codes])
    tally.part("complex numbers")


def check_kept(path, library, tally, rng):
    """A context keeps casters: thousands of look-ups among casts that differ in one thing give what a new context gives."""
    codes = [0x7f800001, 0xff800000, 0x3f9d7b80, 0xc7ffe123, 0x00012345, 0x4b1e240f, 0x3d0f5c29, 0xbe4ccccd] + wide_codes(rng, "fp32", 56)
    specs = []
    for src, dst in (("fp32", "bf16"), ("fp32", "fp4_e2m1"), ("bf16", "fp8_e5m2"), ("int8", "fp16"), ("fp16", "e4m5"), ("e4m5", "fp16"),
                     ("e4m6", "fp16"), ("complex64", "complex32")):
        for how in ({}, {"dst_swapped": True}, {"src_swapped": True}, {"dst_packing": HIGH}, {"dst_packing": BYTES}, {"nan": "canonical"},
                    *({"overflow": word} for word in OVERFLOWS[1:3]), *({"round": word} for word in MODES), {"via": ["bf16"]},
                    {"via": ["fp8_e5m2"]}, {"via": ["fp8_e4m3fn"]}, {"via": ["e5m3"]}, {"via": ["bf16", "fp16"]}, {"via": ["fp16", "bf16"]}, {"flags": True},
                    *({"round": "stochastic", "seed": seed} for seed in range(6))):
            specs.append((src, dst, how))
    names = ("fp32", "bf16", "fp16", "fp64", "int16", "fp8_e5m2", "fp4_e2m1", "fp6_e2m3", "e4m5", "e4m6", "e4m7", "e3m5", "ue3m5", "e4m4b3", "e4m4")
    for src in names:
        for dst in rng.sample(names, 8):
            specs += [(src, dst, how) for how in ({}, {"src_swapped": True}, {"dst_swapped": True}, {"src_swapped": True, "dst_swapped": True},
                                                  {"src_packing": HIGH}, {"dst_packing": HIGH}, {"src_packing": BYTES}, {"dst_packing": BYTES})]
    data = raw(FORMATS["fp32"], codes)

    def result(context, spec):
        src, dst, how = spec
        context.forget()
        return context.cast(context.caster(src, dst, **{**how, **({"via": list(how["via"])} if "via" in how else {})}), data, 32)

    want = []
    for spec in specs:
        alone = Library(path, threads=1)
        want.append(result(alone, spec))
        alone.close()
    for at in range(4000 if harness.QUICK else 20000):     # in bursts, because a context keeps few
        if at % 20 == 0:
            first = rng.randrange(len(specs))
        i = (first + rng.randrange(8)) % len(specs)
        tally.check(f"kept {specs[i]}", result(library, specs[i]) == want[i], True)
    tally.part("casters that a context keeps")


def main():
    path, long = harness.arguments()
    tally, rng = harness.Tally(), random.Random(33)
    library = Library(path)
    check_kept(path, library, tally, rng)
    check_policies(library, tally, rng, long)
    check_random(library, tally, rng)
    check_routes(library, tally, rng)
    check_packing(library, tally, rng)
    check_copies(library, tally, rng)
    check_complex(library, tally, rng)
    check_all(library, tally, rng, long)
    library.close()
    tally.finish()


if __name__ == "__main__":
    main()
