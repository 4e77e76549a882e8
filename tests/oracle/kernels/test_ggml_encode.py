#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every encoder of GGUF blocks, at every CPU level, against ggml's own C code and, for the types that it can write,
llama.cpp's package `gguf`: byte for byte. Those with an importance matrix: against ggml's own C code. Types whose codes
are points of a grid need one.

ggml's C code: llama_cpp/lib of an installed llama-cpp-python, or the library in DTI_GGML_LIBRARY: ggml-quants.c
compiled without contraction (gcc -O2 -ffp-contract=off -DNDEBUG). Compiled with contraction (-march=native) it differs
in some blocks of IQ4_NL and the K types; compiled with assertions it cannot be used, since some numbers trigger them.

usage: test_ggml_encode.py PROBE [--long]
       test_ggml_encode.py --hashes     the table of tests/unit/test_gguf_encode.c
"""
import ctypes
import mmap
import os
import resource
import subprocess
import sys

import harness

np, gguf = harness.have("numpy"), harness.have("gguf")
if np is None:
    print("skipped: needs numpy")
    sys.exit(77)

LEVELS = ("none", "avx2", "avx512")
# elements, bytes of a block; elements that share a scale; ggml's function
TYPES = {
    "q4_0": (32, 18, 32, "quantize_row_q4_0_ref"), "q4_1": (32, 20, 32, "quantize_row_q4_1_ref"),
    "q5_0": (32, 22, 32, "quantize_row_q5_0_ref"), "q5_1": (32, 24, 32, "quantize_row_q5_1_ref"),
    "q8_0": (32, 34, 32, "quantize_row_q8_0_ref"), "q2_k": (256, 84, 16, "quantize_row_q2_K_ref"),
    "q3_k": (256, 110, 16, "quantize_row_q3_K_ref"), "q4_k": (256, 144, 32, "quantize_row_q4_K_ref"),
    "q5_k": (256, 176, 32, "quantize_row_q5_K_ref"), "q6_k": (256, 210, 16, "quantize_row_q6_K_ref"),
    "iq4_nl": (32, 18, 32, "quantize_iq4_nl"), "iq4_xs": (256, 136, 32, "quantize_iq4_xs"),
    "tq1_0": (256, 54, 256, "quantize_row_tq1_0_ref"), "tq2_0": (256, 66, 256, "quantize_row_tq2_0_ref"),
    "mxfp4": (32, 17, 32, "quantize_row_mxfp4_ref"), "q1_0": (128, 18, 128, "quantize_row_q1_0_ref"),
    "q2_0": (64, 18, 64, "quantize_row_q2_0_ref"),
}
# those that need weights, whose codes are points of a grid
GRIDS = {
    "iq1_s": (256, 50, 32, None), "iq1_m": (256, 56, 16, None), "iq2_xxs": (256, 66, 32, None), "iq2_xs": (256, 74, 16, None),
    "iq2_s": (256, 82, 16, None), "iq3_xxs": (256, 98, 32, None), "iq3_s": (256, 110, 32, None),
}
SHAPES = {**TYPES, **GRIDS}
BY_PACKAGE = ("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "tq1_0", "tq2_0", "mxfp4")
NUMBERS = {"q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "q2_k": 10, "q3_k": 11, "q4_k": 12, "q5_k": 13, "q6_k": 14,
           "iq4_nl": 20, "iq4_xs": 23, "tq1_0": 34, "tq2_0": 35, "mxfp4": 39, "q1_0": 41, "q2_0": 42,
           "iq1_s": 19, "iq1_m": 29, "iq2_xxs": 16, "iq2_xs": 17, "iq2_s": 22, "iq3_xxs": 18, "iq3_s": 21}    # ggml's ids
# the types that take weights
WEIGHTED = ("q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs")
FIELDS = {"q4_0": (0,), "q4_1": (0, 2), "q5_0": (0,), "q5_1": (0, 2)}
TALLY = harness.Tally()


LIBRARY = harness.ggml_library()


def by_ggml(name, numbers):
    elements, size, _, function = TYPES[name]
    blocks = np.zeros((len(numbers) // elements, size), np.uint8)
    call, to, count = getattr(LIBRARY, function), ctypes.c_void_p(blocks.ctypes.data), ctypes.c_int64(numbers.size)
    if function.endswith("_ref"):
        call(ctypes.c_void_p(numbers.ctypes.data), to, count)
    else:
        call(ctypes.c_void_p(numbers.ctypes.data), to, ctypes.c_int64(1), count, None)
    return blocks


def by_ggml_weighted(name, rows, weights, blocks=None):
    elements, size, _, _ = SHAPES[name]
    blocks = np.zeros((rows.size // elements, size), np.uint8) if blocks is None else blocks
    call = getattr(LIBRARY, "quantize_" + name.replace("_k", "_K"))
    call(ctypes.c_void_p(rows.ctypes.data), ctypes.c_void_p(blocks.ctypes.data), ctypes.c_int64(rows.shape[0]),
         ctypes.c_int64(rows.shape[1]), ctypes.c_void_p(weights.ctypes.data))
    return blocks


def by_package(name, numbers):
    kind = getattr(gguf.GGMLQuantizationType, name.upper())
    with np.errstate(all="ignore"):
        return gguf.quants.quantize(numbers.reshape(-1, TYPES[name][0]), kind)


def without_zero_signs(name, blocks):
    """The package gives other signs to a zero scale and a zero minimum."""
    blocks = blocks.copy()
    for at in FIELDS.get(name, ()):
        blocks[(blocks[:, at] == 0) & (blocks[:, at + 1] == 0x80), at + 1] = 0
    return blocks


def ours(name, numbers, level, weights=None):
    """weights: those of a row, of which there are several."""
    words = [] if weights is None else [str(weights.size)]
    data = numbers.tobytes() if weights is None else weights.tobytes() + numbers.tobytes()
    done = subprocess.run([PROBE, name, level, *words], input=data, stdout=subprocess.PIPE, check=False)
    if done.returncode == 77:
        return None
    if done.returncode != 0:
        sys.exit("the probe ended with status %d" % done.returncode)
    return np.frombuffer(done.stdout, np.uint8).reshape(-1, SHAPES[name][1])


def put_in_place(name, blocks, rows):
    """Where 32 numbers of a block of iq3_s are zeros, ggml puts the codes and signs of later ones into their places, though
    not their high bits and scales, so that its own blocks are decoded to other numbers. Ours are where they belong."""
    if name != "iq3_s":
        return blocks
    there = (rows.reshape(-1, 8, 32) != 0).any(axis=2)
    moved = blocks.copy()
    for at in np.flatnonzero(~there.all(axis=1)):
        for first, each in ((2, 8), (74, 4)):
            codes = moved[at, first:first + 8 * each].reshape(8, each)
            packed = codes[:there[at].sum()].copy()
            codes[:] = 0
            codes[there[at]] = packed
    return moved


def by_ggml_grid(name, rows, weights):
    """Blocks, and which rows ggml has an answer for: it stops where no point has a finite error or a scale is not a
    number, so it works in child processes. For IQ1 it then reads numbers that are not of the block: such rows are left
    out by a bound of the errors."""
    elements, size, _, _ = SHAPES[name]
    each = rows.shape[1] // elements * size
    memory = mmap.mmap(-1, rows.shape[0] * (each + 1))
    blocks = np.frombuffer(memory, np.uint8, rows.shape[0] * each).reshape(rows.shape[0], each)
    done = np.frombuffer(memory, np.uint8, rows.shape[0], rows.shape[0] * each)
    at = 0
    while at < len(rows):
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            for i in range(at, len(rows)):
                by_ggml_weighted(name, rows[i:i + 1], weights, blocks[i])
                done[i] = 1
            os._exit(0)
        os.waitpid(child, 0)
        while at < len(rows) and done[at]:
            at += 1
        at += at < len(rows)
    known = done.astype(bool)
    if name.startswith("iq1"):
        with np.errstate(all="ignore"):
            known &= 1e4 * np.abs(rows.astype(float)).max(axis=1) ** 3 * weights.max() < 3e38
    return put_in_place(name, blocks.reshape(-1, size), rows), np.repeat(known, rows.shape[1] // elements)


# Numbers: functions of a generator, the number of groups, and the numbers per group.

def f32(numbers):
    with np.errstate(all="ignore"):
        return np.clip(numbers, -3.4028234663852886e38, 3.4028234663852886e38).astype(np.float32)


def normal(r, n, m):
    return f32(r.standard_normal((n, m), np.float32) * np.float32(0.02))


def spread(r, n, m):
    """Groups of very different magnitudes in a block."""
    return f32(normal(r, n, m) * np.exp2(r.integers(-12, 12, (n, 1))))


def outliers(r, n, m):
    numbers = normal(r, n, m)
    numbers[r.random((n, m)) < 0.01] *= 50
    return numbers


def bf16(r, n, m):
    return (normal(r, n, m).view(np.uint32) & 0xffff0000).view(np.float32)


def ties(r, n, m):
    """Small multiples of 1/2, and of a step that is not a power of two."""
    return f32(r.integers(-64, 65, (n, m)) * 0.5 * r.choice([1, 0.25, 3, 127, 1 / 127, 0.1], (n, 1)))


def signs(r, n, m):
    """The largest number with both signs, and zeros with both signs."""
    return f32(r.choice([-1.0, -0.0, 0.0, 1.0], (n, m)) * r.choice([0, 1, 0.3], (n, 1)))


def offset(r, n, m):
    """Far from zero, in a narrow range."""
    return f32(r.choice([-1, 1], (n, 1)) * r.uniform(0.1, 10, (n, 1)) + r.standard_normal((n, m)) * np.exp2(-r.integers(2, 25, (n, 1))))


def few(r, n, m):
    """Zeros with a few exceptions."""
    return f32(normal(r, n, m) * (r.random((n, m)) < r.choice([0, 0.02, 0.2], (n, 1))))


def below_powers(r, n, m):
    """The largest just below, at, and above powers of two."""
    numbers = r.uniform(-0.5, 0.5, (n, m))
    numbers[:, 3 % m] = (1 + r.integers(-60, 3, n) * 2.0 ** -24) * r.choice([-1, 1], n)
    return f32(numbers * np.exp2(r.integers(-30, 31, (n, 1))))


FAMILIES = {
    "normal": normal, "spread": spread, "outliers": outliers, "bf16": bf16, "ties": ties, "signs": signs, "offset": offset,
    "few": few, "below powers": below_powers,
    "uniform": lambda r, n, m: f32(r.uniform(-1, 1, (n, m))),
    "positive": lambda r, n, m: np.abs(normal(r, n, m)),
    "negative": lambda r, n, m: -np.abs(normal(r, n, m)),
    "constant": lambda r, n, m: f32(np.repeat(r.standard_normal((n, 1)) * r.choice([0, -0.0, 1, 1e-20], (n, 1)), m, axis=1)),
    "ramps": lambda r, n, m: f32(np.linspace(-1, 1, m)[None] * r.uniform(0, 2, (n, 1)) + r.integers(-1, 2, (n, 1))),
}
EXTREMES = {
    "fp16 subnormals": lambda r, n, m: f32(normal(r, n, m) * np.exp2(-r.uniform(10, 30, (n, 1)))),
    "beyond fp16": lambda r, n, m: f32(normal(r, n, m) * np.exp2(r.uniform(15, 40, (n, 1)))),
    "small": lambda r, n, m: f32(normal(r, n, m) * np.exp2(-r.uniform(30, 125, (n, 1)))),
    "subnormal": lambda r, n, m: f32(normal(r, n, m).astype(float) * np.exp2(-r.uniform(115, 150, (n, 1)))),
    "large": lambda r, n, m: f32(normal(r, n, m) * np.exp2(r.uniform(40, 127, (n, 1)))),
    "huge": lambda r, n, m: f32(r.standard_normal((n, m)) * np.exp2(r.uniform(120, 129, (n, 1)))),
    "far offset": lambda r, n, m: f32(offset(r, n, m) * np.exp2(r.uniform(-60, 60, (n, 1)))),
    "any bits": lambda r, n, m: np.nan_to_num(r.integers(0, 1 << 32, (n, m), np.uint32).view(np.float32), nan=1, posinf=2, neginf=3),
    "powers": lambda r, n, m: f32(r.choice([-1, 1], (n, m)) * np.exp2(r.uniform(-149, 128, (n, 1)) // 1 + r.integers(-3, 1, (n, m)))),
    "below all powers": lambda r, n, m: f32(below_powers(r, n, m) * np.exp2(r.integers(-110, 98, (n, 1)))),
}


# Weights: functions of a generator, the number of columns, and the columns per group.

def in_groups(r, n, m, choices):
    """Each number of a group, or all of them, times one of the choices."""
    each = np.repeat(r.choice(choices, -(-n // m)), m)[:n]
    return f32(r.exponential(1, n) * each * r.choice([1, 1, 1, 0], n))


WEIGHTS = {
    "ones": lambda r, n, m: np.ones(n, np.float32),
    "squares": lambda r, n, m: f32(r.standard_normal(n) ** 2),
    "spread": lambda r, n, m: f32(r.exponential(1, n) * np.exp2(r.integers(-30, 30, n))),
    "zeros": lambda r, n, m: in_groups(r, n, m, [0, 1]),
    "all zeros": lambda r, n, m: np.zeros(n, np.float32),
    "few": lambda r, n, m: f32(r.exponential(1, n) * (r.random(n) < 0.05)),
    "outliers": lambda r, n, m: f32(r.exponential(1, n) * np.where(r.random(n) < 0.02, 1e4, 1)),
}
EXTREME_WEIGHTS = {
    "huge": lambda r, n, m: in_groups(r, n, m, [1, 1e20, 1e30, 1e37]),
    "small": lambda r, n, m: in_groups(r, n, m, [1, 1e-20, 1e-30, 1e-38, 1e-44]),
    "any bits": lambda r, n, m: np.nan_to_num(r.integers(0, 1 << 31, n, np.uint32).view(np.float32), nan=1, posinf=2),
}


def numbers_of(name, family, count, seed):
    """Blocks of one family."""
    elements, _, group, _ = SHAPES[name]
    make = FAMILIES.get(family) or EXTREMES[family]
    return np.ascontiguousarray(make(np.random.default_rng(seed), count * elements // group, group).reshape(-1), np.float32)


def library_has_assertions():
    """Tested in a child process."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for name in TYPES:
            for seed, family in enumerate(EXTREMES):
                by_ggml(name, numbers_of(name, family, 64, seed))
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def judges(name, numbers, extreme):
    if LIBRARY:
        yield "ggml", by_ggml(name, numbers)
    if gguf and name in BY_PACKAGE and not extreme and (LIBRARY is None or len(numbers) < 10 ** 6):
        yield "the package", by_package(name, numbers)


def same(name, family, numbers, levels, extreme, counts):
    made = [(level, ours(name, numbers, level)) for level in levels]
    for who, want in judges(name, numbers, extreme):
        for level, blocks in made:
            if blocks is None:
                continue
            if who == "the package":
                blocks, want = without_zero_signs(name, blocks), without_zero_signs(name, want)
            bad = np.flatnonzero((blocks != want).any(axis=1))
            TALLY.checked += len(want)
            count = counts.setdefault(who, [0, 0])
            count[0], count[1] = count[0] + len(want), count[1] + len(bad)
            if bad.size:
                TALLY.differ("%s of %s at level %s, by %s, %d of %d blocks" % (name, family, level, who, bad.size, len(want)),
                             "block %d: %s" % (bad[0], blocks[bad[0]].tobytes().hex()), want[bad[0]].tobytes().hex())
                TALLY.differences += len(bad) - 1


def every_type(long):
    for name, (elements, _, _, _) in TYPES.items():
        counts, each = {}, 37 + (1 << 14) // elements * (8 if long else 1)
        for seed, family in enumerate([*FAMILIES, *EXTREMES]):
            numbers = numbers_of(name, family, each, seed)
            same(name, family, numbers, LEVELS, family in EXTREMES, counts)
        if long:
            for seed in range(100):     # ten million blocks of 32, or as many numbers
                family = [*FAMILIES, "normal", "normal"][seed % (len(FAMILIES) + 2)]
                same(name, family, numbers_of(name, family, 32 * 10 ** 5 // elements, 1000 + seed),
                     LEVELS[-1:] if seed % 10 else LEVELS, False, counts)
        print("%-8s %s" % (name, ", ".join("%d blocks, %d different by %s" % (*counts[who], who) for who in counts) or "no judge"), flush=True)
    if not LIBRARY:
        TALLY.skip("most types: ggml's C is not there (DTI_GGML_LIBRARY)")


def every_weighted_type(long):
    """Rows of some lengths, of all families of numbers, with all families of weights."""
    for name in WEIGHTED:
        elements, size, group, _ = TYPES[name]
        count, bad = 0, 0
        for seed, family in enumerate([*FAMILIES, *EXTREMES]):
            for kind, make in {**WEIGHTS, **EXTREME_WEIGHTS}.items():
                for blocks in (1, 5, 37) if long else (1 + seed % 3 * 18,):
                    weights = np.ascontiguousarray(make(np.random.default_rng(seed), blocks * elements, group), np.float32)
                    rows = numbers_of(name, family, 6 * blocks, seed).reshape(6, -1)
                    want = by_ggml_weighted(name, rows, weights)
                    for level in LEVELS:
                        made = ours(name, rows, level, weights)
                        if made is None:
                            continue
                        differing = np.flatnonzero((made != want).any(axis=1))
                        TALLY.checked += len(want)
                        count, bad = count + len(rows), bad + len(differing)
                        if differing.size:
                            at = differing[0]
                            TALLY.differ("%s of %s weighted by %s at level %s, %d of %d blocks" % (
                                name, family, kind, level, differing.size, len(want)),
                                "block %d: %s" % (at, made[at].tobytes().hex()), want[at].tobytes().hex())
        print("%-8s weighted: %d rows, %d blocks different by ggml" % (name, count, bad), flush=True)


def every_grid_type(long):
    """The same for the types that need weights. Rows that ggml does not encode are encoded alike at all levels."""
    harness.ggml_neighbours(LIBRARY)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, (elements, _, group, _) in GRIDS.items():
        count, bad, without = 0, 0, 0
        for seed, family in enumerate([*FAMILIES, *EXTREMES]):
            for kind, make in {**WEIGHTS, **EXTREME_WEIGHTS}.items():
                for blocks in (1, 2, 9) if long else (1 + seed % 2,):
                    weights = np.ascontiguousarray(make(np.random.default_rng(seed), blocks * elements, group), np.float32)
                    each = 36 if family in FAMILIES else 8
                    rows = numbers_of(name, family, each * blocks, seed).reshape(each, -1)
                    want, known = by_ggml_grid(name, rows, weights)
                    all_made = [made for made in (ours(name, rows, level, weights) for level in LEVELS) if made is not None]
                    for made in all_made:
                        differing = np.flatnonzero((made != np.where(known[:, None], want, all_made[0])).any(axis=1))
                        TALLY.checked += len(want)
                        if differing.size:
                            at = differing[0]
                            TALLY.differ("%s of %s weighted by %s, %d of %d blocks" % (name, family, kind, differing.size, len(want)),
                                         "block %d: %s" % (at, made[at].tobytes().hex()), want[at].tobytes().hex())
                        bad += len(differing)
                    count, without = count + len(rows), without + int((~known).sum()) // blocks
        print("%-8s weighted: %d rows, %d blocks different by ggml, which has no answer for %d rows" % (name, count, bad, without), flush=True)


def made_numbers(number, elements, large=2.0 ** 126):
    """The numbers that test_gguf_encode.c generates; squares of large ones overflow."""
    run, kinds = 6, 8
    random, state = np.zeros((run * kinds + 1) * elements, np.uint32), number
    for i in range(random.size):
        random[i] = state = (state * 1664525 + 1013904223) & 0xffffffff
    top = ((random >> 8).astype(np.int64) - (1 << 23))
    block = np.arange(random.size) // elements
    kind = block // run % kinds
    signs = np.where(random >> 31, np.float32(-1), np.float32(1)) * (random >> 30 & 1).astype(np.float32) * np.where(block % 2, np.float32(0.3), np.float32(1))
    coarse = np.trunc(top / (1 << 17)).astype(np.float32) * np.float32(2 ** -6)
    few = np.where(random >> 28 == 0, np.float32(1), np.float32(0))
    scales = np.float32([1, 2.0 ** -20, 2.0 ** 20, 2.0 ** -130, large, 0, 0, 1])[kind]
    ordinary = top.astype(np.float32) * np.float32(2.0 ** -24) * scales
    return np.select([kind == 5, kind == 6, kind == 7], [signs, coarse, np.where(few > 0, ordinary, np.float32(0))], ordinary)


def made_weights(number, elements):
    """Its weights."""
    random, state = np.zeros(49 * elements, np.uint32), number + 1000
    for i in range(random.size):
        random[i] = state = (state * 1664525 + 1013904223) & 0xffffffff
    zero = ((random >> 8 & 7) == 0) | (np.arange(random.size) // elements % 11 == 10)
    return np.where(zero, np.float32(0), (random >> 20).astype(np.float32) * np.float32(2 ** -6))


def print_hash(name, blocks):
    total = 0x811c9dc5
    for byte in blocks:
        total = (total ^ byte) * 0x01000193 & 0xffffffff
    print("    {DTI_GGUF_%s, 0x%08x}," % (name.upper(), total))


def print_hashes():
    """Prints hashes for blocks of numbers from a linear congruential generator; then those with weights, in rows of six
    blocks."""
    for name, (elements, _, _, _) in TYPES.items():
        print_hash(name, by_ggml(name, made_numbers(NUMBERS[name], elements)).tobytes())
    harness.ggml_neighbours(LIBRARY)
    for name in (*WEIGHTED, *GRIDS):
        row = 6 * SHAPES[name][0]
        numbers = made_numbers(NUMBERS[name], SHAPES[name][0], 2.0 ** (8 if name in GRIDS else 126))
        weights = made_weights(NUMBERS[name], SHAPES[name][0])
        blocks = np.concatenate([by_ggml_weighted(name, numbers[at:at + row].reshape(1, -1), weights[at:at + row])
                                 for at in range(0, numbers.size, row)])
        print_hash(name, put_in_place(name, blocks, numbers).tobytes())


if sys.argv[1:] == ["--hashes"]:
    print_hashes()
else:
    PROBE, LONG = harness.arguments()
    if LIBRARY and library_has_assertions():
        TALLY.skip("the library of ggml, which has assertions")
        LIBRARY = None
    every_type(LONG)
    if LIBRARY:
        every_weighted_type(LONG)
        every_grid_type(LONG)
    TALLY.finish()
