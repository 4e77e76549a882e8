# SPDX-License-Identifier: MIT
"""The quantization definition against the model in exact rationals: every code of every format dequantizes correctly,
and numbers at, next to and between midpoints get the right codes.

Usage: test_quant.py QUANT_PROBE [--long]
"""

import math

import harness
import quant_model as model
from formats import FORMATS
from quant_model import ask, bits, number, words

SPECIALS = (math.nan, math.inf, -math.inf, 0.0, -0.0, model.LARGEST, -model.LARGEST, 2.0**-149, -2.0**-149, 1e10, -1e10)
SCALES = (0.1, 1.0, 0.0123, 2.0**-149, 3 * 2.0**-140, 2.0**-126, 2.0**127, model.LARGEST, 1e-30)


def compare(tally, subject, got, want):
    """Compares arrays of words; reports the first differences by position."""
    if len(got) != len(want):
        tally.differ(subject, f"{len(got)} words", f"{len(want)}")
        return
    tally.checked += len(want)
    if list(got) != want:
        for i, (g, w) in enumerate(zip(got, want)):
            if g != w:
                tally.checked -= 1
                tally.check(f"{subject} [{i}]", hex(g), hex(w))


def block_codes(tally, probe, long):
    """All pairs of scale and element codes of each block format; push suite: only some pairs with fp16 scales."""
    rng = model.generator("scales")
    for name, (family, dtype, scale, _) in model.BLOCKS.items():
        codes = range(1 << FORMATS[dtype].width)
        tensors = [1.0]
        if FORMATS[scale].width > 8:
            scales = list(range(1 << 16)) if scale == "fp16" else \
                [bits(model.any_number(rng)) for _ in range(3000)] + [bits(x) for x in SPECIALS]
            some = codes if len(scales) < 1 << 16 or long else {"q8": (1, 127, 128), "q4": (0, 8, 15)}[family]
            pairs = [(s, c) for s in scales for c in some]
            if some is not codes:
                pairs += [(s, c) for s in (*range(0, 1 << 16, 997), 0x7C00, 0x7E00, 0xFC00) for c in codes]
        else:
            pairs = [(s, c) for s in range(256) for c in codes]
            if family == "nv":
                tensors += [0.01, 2.0**-149, 2.0**-130, 1 / 3, 3e38] + [abs(model.any_number(rng)) for _ in range(8)]
                tensors = [model.near(t) for t in tensors]
        values = [model.element_value(name, c) for c in range(1 << FORMATS[dtype].width)]
        for tensor in tensors:
            factors = {}
            for s in {s for s, _ in pairs}:
                factor = model.value_of(scale, s)
                factors[s] = model.multiply(factor, tensor) if family == "nv" else factor
            got = ask(probe, [(f"block_back {name} {bits(tensor):x} {len(pairs)}", words([x for p in pairs for x in p]))])
            # at most 24 + 24 bits: the product is exact in fp64 and rounded once
            compare(tally, f"{name} back, tensor scale {tensor!r}", got,
                    [bits(model.near(values[c] * factors[s])) for s, c in pairs])


def affine_codes(tally, probe):
    """All codes of each dtype under several scales and zero points."""
    for code in model.INTEGERS + model.FLOATS:
        width = FORMATS[code].width
        low, high = model.integer_range(code) if code in model.INTEGERS else (0, 0)
        codes = range(1 << width) if width <= 8 else sorted({*range(0, 1 << 16, 251), 0x7FFF, 0x8000, 0xFFFF})
        for s in SCALES:
            for z in sorted({low, high, 0, (low + high) // 2}):
                s = model.near(s)
                got = ask(probe, [(f"affine_back {code} {bits(s):x} {z} {len(codes)}", words(codes))])
                compare(tally, f"{code} back, scale {s!r}, zero {z}", got,
                        [bits(model.affine_back(code, s, z, c)) for c in codes])


def hard_numbers(rng, code, s, z, count):
    """Special values, midpoints between neighbouring codes and numbers next to them, random numbers."""
    found = list(SPECIALS)
    for _ in range(count):
        if code in model.INTEGERS:
            low, high = model.integer_range(code)
            middle = rng.choice((low, high, z, rng.randint(low, high))) - z + rng.choice((0.5, -0.5, 0))
        else:
            borders = model.element(code).borders
            middle = float(borders[rng.choice((rng.randrange(len(borders)), -1))]) * rng.choice((1, -1))
        x = model.near(middle * s)
        if math.isfinite(x):
            found += model.neighbours(x)
        found.append(model.any_number(rng))
    return found


def affine_numbers(tally, probe, count):
    for code in model.INTEGERS + model.FLOATS:
        integer = code in model.INTEGERS
        low, high = model.integer_range(code) if integer else (0, 0)
        rng = model.generator("affine", code)
        requests, want, subjects = [], [], []
        for division in (model.TRUE, model.RECIPROCAL, model.EXACT):
            for specials in (model.CLAMP, model.AS_TORCH, model.AS_TORCH_CHANNEL) if integer else (model.CLAMP,):
                for s in SCALES[:4] + (abs(model.any_number(rng)) or 1.0, abs(model.random_number(rng, 20)) or 1.0):
                    s = model.near(s)
                    first = rng.choice((low, low + 1, -high)) if low < 0 else rng.choice((low, 1)) if integer else 0
                    z = rng.randint(first, high)
                    numbers = hard_numbers(rng, code, s, z, count)
                    requests.append((f"affine {code} {first} {high} {division} {specials} {bits(s):x} {z} {len(numbers)}",
                                     words(bits(x) for x in numbers)))
                    for x in numbers:
                        want += model.affine_quantize(code, first, high, division, specials, s, z, x)
                        subjects += 2 * [f"{requests[-1][0]}: {x!r}"]
        got = ask(probe, requests)
        tally.check(f"{code}: words", len(got), len(want))
        for g, w, subject in zip(got, want, subjects):
            tally.check(subject, g, w)


def scales(tally, probe, count):
    for code in model.INTEGERS + model.FLOATS:
        rng = model.generator("choose", code)
        ranges = [(-1.0, 3.0), (0.0, 0.0), (-0.0, 0.0), (1.0, 2.0), (-3.0, -1.0), (0.0, 2.0**-149), (-2.0**-149, 0.0),
                  (-model.LARGEST, model.LARGEST), (0.0, model.LARGEST), (-model.LARGEST, 2.0**-149),
                  (-63.5 + 2.0**-18, 191.5)]
        for _ in range(count):
            make = rng.choice((model.any_number, lambda r: model.random_number(r, 10)))
            ends = sorted((make(rng), make(rng)))
            ranges.append(tuple(ends))
        for symmetry in (model.NONE, model.FULL, model.HALF):
            for rule in (model.ZERO_ONNX, model.ZERO_TORCH):
                got = ask(probe, [(f"choose {code} {symmetry} {rule} {len(ranges)}", words(bits(x) for r in ranges for x in r))])
                for i, (a, b) in enumerate(ranges):
                    s, z, low, high = model.choose(code, symmetry, rule, a, b)
                    tally.check(f"choose {code} {symmetry} {rule} of {a!r} {b!r}", list(got[4 * i:4 * i + 4]),
                                [bits(s), z % 2**32, low % 2**32, high % 2**32])


def unit_of(name, rule, division, tensor, block):
    """The step of a block's codes: the divisor of its elements."""
    amax, scale = model.block_quantize(name, rule, division, tensor, block)[:2]
    family, _, dtype, _ = model.BLOCKS[name]
    if family in ("q8", "q4"):
        return model.divide(number(amax), 127.0 if family == "q8" else 8.0)
    unit = model.value_of(dtype, scale) / (64 if name == "mxint8" else 1)
    return model.multiply(unit, tensor) if family == "nv" else unit


def borders_of(name):
    """The boundaries between codes, in units."""
    family, dtype, _, _ = model.BLOCKS[name]
    if name == "bnb_fp4":
        return [*model.BNB_FP4_PIVOTS, *(-p for p in model.BNB_FP4_PIVOTS)]
    if family == "nf":
        return [(a + b) / 2 for a, b in zip(model.NF4, model.NF4[1:])]
    if family in ("q8", "q4") or dtype == "int8":
        return [k + 0.5 for k in range(8 if family == "q4" else 128)]
    return [float(b) for b in model.element(dtype).borders]


def soft_block(rng, length):
    """Numbers of one kind: extremes of any size, subnormal, ordinary, zeros, special values."""
    kind = rng.random()
    if kind < 0.03:
        return [rng.choice(SPECIALS + (1.0,)) for _ in range(length)]
    if kind < 0.06:
        return [rng.choice((0.0, -0.0)) for _ in range(length)]
    if kind < 0.16:
        return [model.any_number(rng) for _ in range(length)]
    if kind < 0.26:
        return [number(rng.randrange(1 << rng.randint(1, 23)) | rng.choice((0, 0x80000000))) for _ in range(length)]
    exponent = rng.choice((rng.randint(-8, 8), rng.randint(-148, 126), rng.randint(-40, 30)))
    shape = (1.0, 1.5, 1.75, 1.875, 1.984375, 1.9375, 1.9921875, rng.uniform(1, 2))
    extreme = rng.choice(model.neighbours(math.ldexp(rng.choice(shape), exponent)))
    block = [model.near(rng.choice((1, -1, rng.uniform(-1, 1), rng.gauss(0, 0.2))) * extreme) for _ in range(length)]
    block[rng.randrange(length)] = extreme * rng.choice((1, -1))
    return block


def hard_block(rng, name, rule, division, tensor, length):
    """A block with half of its numbers at or next to the boundaries between codes."""
    block = soft_block(rng, length)
    if model.is_special(block):
        return block
    unit, borders, amax = unit_of(name, rule, division, tensor, block), borders_of(name), max(map(abs, block))
    for i, x in enumerate(block):
        at = model.near(rng.choice(borders) * unit * rng.choice((1, -1)))
        if abs(x) < amax and abs(at) < amax and rng.random() < 0.5:
            block[i] = rng.choice(model.neighbours(at))
    return block


def block_numbers(tally, probe, count):
    for name, (family, _, _, most) in model.BLOCKS.items():
        rng = model.generator("block", name)
        fixed = [[-0.0, 0.0], [0.0, 0.0], [model.LARGEST, 1.0], [-2.0**127, 2.0**127], [-2.0**-149, 0.0], [8.0, -8.0]]
        fixed += [[x, 0.0] for m in range(1, 8) for x in model.neighbours(2 - 2.0**-m)]
        tensors = [1.0] if family != "nv" else \
            [1.0, 1 / 2688, abs(model.any_number(rng)) or 1.0, 2.0**-149, 2.0**-128, 2.0**-127, rng.uniform(1e-4, 1), 1e-30]
        for rule in range({"mx": 5, "nv": 3}.get(family, 1)):
            for division in range(3) if family in ("nv", "nf") else (0,):
                for tensor in map(model.near, tensors):
                    for length in (most, 2, rng.randint(3, most - 1), 1):
                        blocks = [hard_block(rng, name, rule, division, tensor, length) for _ in range(count)]
                        blocks += fixed if length == 2 else []
                        head = f"block {name} {rule} {division} {bits(tensor):x} {length} {len(blocks)}"
                        got = ask(probe, [(head, words(bits(x) for b in blocks for x in b))])
                        for i, block in enumerate(blocks):
                            tally.check(f"{head}: {[x.hex() for x in block]}",
                                        list(got[i * (length + 4):(i + 1) * (length + 4)]),
                                        model.block_quantize(name, rule, division, tensor, block))


def tensor_scales(tally, probe, count):
    rng = model.generator("tensor")
    numbers = [abs(model.any_number(rng)) for _ in range(count)] + [0.0, 2.0**-149, 2.0**-138, 2688.0, model.LARGEST, math.inf]
    for rule, most in (model.SIX, 2688.0), (model.FOUR_SIX, 1536.0), (model.UNROUNDED, 2688.0):
        got = ask(probe, [(f"tensor_scale {rule} {len(numbers)}", words(bits(x) for x in numbers))])
        for g, x in zip(got, numbers):
            want = model.divide(x, most) if math.isfinite(x) else 1.0
            tally.check(f"tensor scale {rule} of {x!r}", g, bits(want or 1.0))


def main():
    probe, long = harness.arguments()
    tally = harness.Tally()
    block_codes(tally, probe, long)
    tally.part("blocks: every pair of codes")
    affine_codes(tally, probe)
    tally.part("affine: every code")
    affine_numbers(tally, probe, 2000 if long else 8)
    tally.part("affine: numbers")
    scales(tally, probe, 5000 if long else 30)
    tally.part("scales and zero points")
    block_numbers(tally, probe, 2000 if long else 12)
    tensor_scales(tally, probe, 20000 if long else 200)
    tally.part("blocks: numbers")
    tally.finish()


main()
