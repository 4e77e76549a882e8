#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantized files of every layout, width and small shape, with and without the config.json that their writers store
next to them: quant --dequant gives the exact numbers or refuses the file, and never gives other numbers. Files are
packed and numbers computed here with numpy, by the rules of the layouts' own writers: compressed-tensors (0.20, and
the word packing of its versions before June 2026), DeepSeek, ModelOpt, BitNet.

usage: test_dequant_shapes.py DTINFO [--all]
"""
import collections
import concurrent.futures
import json
import math
import os
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
except ImportError:
    print("skipped: needs numpy")
    sys.exit(77)

from harness import QUICK
from tensor_files import read_file, write_file

PROGRAM = os.path.abspath(sys.argv[1])
ALL = "--all" in sys.argv
RANDOM = np.random.default_rng(20261122)
F32 = np.float32
E2M1 = np.array([s * m for s in (1, -1) for m in (0, .5, 1, 1.5, 2, 3, 4, 6)], F32)


def small_float(codes, exponent, mantissa, bias):
    """Finite codes of a small float."""
    rest = codes & ((1 << (exponent + mantissa)) - 1)
    e, m = (rest >> mantissa).astype(np.int32), (rest & ((1 << mantissa) - 1)).astype(F32)
    number = np.where(e == 0, np.ldexp(m, 1 - bias - mantissa), np.ldexp(1 + m / F32(1 << mantissa), e - bias))
    return np.where(codes >> (exponent + mantissa), -number, number).astype(F32)


def e4m3(codes):
    return small_float(codes, 4, 3, 7)


def some_e4m3(*shape):
    return (RANDOM.integers(1, 0x7e, shape) | RANDOM.integers(0, 2, shape) << 7).astype(np.uint8)


def ceil(a, b):
    return -(-a // b)


def dense(codes, bits):
    """Rows of codes as a bit stream in 32-bit words: pack_to_int32."""
    rows, columns = codes.shape
    stream = (codes[:, :, None] >> np.arange(bits) & 1).reshape(rows, columns * bits).astype(np.uint8)
    stream = np.pad(stream, ((0, 0), (0, -columns * bits % 32)))
    return np.ascontiguousarray(np.packbits(stream, axis=1, bitorder="little")).reshape(rows, -1).view("<i4")


def gapped(codes, bits):
    """The packing before June 2026: a word has floor(32 / bits) codes."""
    rows, columns = codes.shape
    each = 32 // bits
    wide = np.pad(codes, ((0, 0), (0, -columns % each))).reshape(rows, -1, each).astype(np.uint64)
    return np.ascontiguousarray((wide << (np.arange(each, dtype=np.uint64) * np.uint64(bits))).sum(2).astype("<u4")).view("<i4")


def packed_bytes(codes, bits):
    rows, columns = codes.shape
    stream = (codes[:, :, None] >> np.arange(bits) & 1).reshape(rows, columns * bits).astype(np.uint8)
    return np.packbits(stream, axis=1, bitorder="little")


TYPES = {"int8": "I8", "uint8": "U8", "int32": "I32", "int64": "I64", "float32": "F32", "float16": "F16"}


def write(path, tensors, metadata):
    """tensors: arrays, or (safetensors dtype, array of the same bytes)."""
    pairs = {name: array if isinstance(array, tuple) else (TYPES[array.dtype.name], array)
             for name, array in tensors.items()}
    write_file(path, {name: (dtype, array.shape, np.ascontiguousarray(array).tobytes())
                      for name, (dtype, array) in pairs.items()}, metadata)


def read(path):
    _, shape, raw = read_file(path)["m.weight"]
    return np.frombuffer(raw, "<f4").reshape(shape)


# A case: its description, its tensors, the numbers, the configuration, and whether each of the two files (with and
# without the configuration) must be read; otherwise it may be refused.
Case = collections.namedtuple("Case", "layout what tensors want config must metadata")
CASES = []


def add(layout, what, tensors, want, config=None, must=(False, False), metadata=None):
    CASES.append(Case(layout, what, {"m." + k: v for k, v in tensors.items()}, want, config, must, metadata))


def compressed(form, **arguments):
    group = {"targets": ["Linear"], "weights": dict({"type": "int", "symmetric": True}, **arguments)}
    return {"quantization_config": {"quant_method": "compressed-tensors", "format": form,
                                    "config_groups": {"group_0": group}}}


def uniform(*shape):
    return RANDOM.uniform(0.01, 3, shape).astype(F32)


def spread(scale, shape, sides):
    """The scale of each element: sides[i] neighbours along axis i share one."""
    for axis, side in enumerate(sides):
        scale = np.repeat(scale, side, axis=axis)
    return scale[tuple(slice(n) for n in shape)]


ROWS = (1, 2, 3, 7, 8)
COLUMNS = (1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 15, 16, 17, 20, 24, 30, 31, 32, 33, 40, 48, 60, 62, 64, 72, 80, 96, 100, 120,
           127, 128, 129, 160, 190, 192, 200, 224, 250, 256, 257, 288, 300, 320, 333, 384, 400, 448, 480, 500, 511, 512)
GROUPS = (2, 8, 16, 20, 24, 31, 32, 48, 50, 64, 96, 100, 128, 192, 250, 256)
FEW_COLUMNS = (1, 8, 16, 20, 32, 33, 62, 64, 96, 100, 128, 192, 200, 256, 384, 512)


def thin(cases, share):
    """In the push suite a fixed share of the cases."""
    cases = list(cases)
    if ALL:
        return cases
    return [cases[i] for i in sorted(RANDOM.permutation(len(cases))[:max(1, int(len(cases) * share))])]


def forms(rows, columns):
    """Scales: strategy, their shape, how many neighbours along each axis share one, the configuration."""
    yield "tensor", (1, 1), (rows, columns), {}
    yield "channel", (rows, 1), (1, columns), {}
    for group in GROUPS:
        if columns % group == 0:
            yield "group", (rows, columns // group), (1, group), {"group_size": group}


def pack_quantized():
    every = [(bits, pack, rows, columns, form, zeros) for bits in range(1, 9)
             for pack in ((dense, gapped) if bits in (3, 5, 6, 7) else (dense,))
             for rows in ROWS for columns in COLUMNS for form in forms(rows, columns) for zeros in (False, True)]
    shipped = [(8, dense, 8, 128, ("channel", (8, 1), (1, 128), {}), False)]
    for bits, pack, rows, columns, (strategy, some, sides, more), zeros in shipped + thin(every, 0.03):
        if zeros and strategy == "tensor":
            continue
        codes = RANDOM.integers(0, 1 << bits, (rows, columns))
        zero = RANDOM.integers(0, 1 << bits, some) if zeros else np.full(some, 1 << (bits - 1))
        scale = uniform(*some)
        want = (codes - spread(zero, codes.shape, sides)).astype(F32) * spread(scale, codes.shape, sides)
        tensors = {"weight_packed": pack(codes, bits), "weight_scale": scale[0] if strategy == "tensor" else scale,
                   "weight_shape": np.array(codes.shape, np.int64)}
        if zeros:
            tensors["weight_zero_point"] = np.ascontiguousarray(pack(zero.T, bits).T)
        wide = bits == 4 and columns >= 64 and all(n & (n - 1) == 0 for n in more.values())
        known = bits in (2, 4, 8)
        config = compressed("pack-quantized", num_bits=bits, strategy=strategy, symmetric=not zeros, **more)
        add("pack-quantized", "%d bits%s, %s of [%d, %d]%s" % (bits, "" if pack is dense else " with gaps", strategy + str(more), rows, columns,
                                                               ", zero points" if zeros else ""),
            tensors, want, config, (known, known and wide))


def told():
    """The metadata that quant writes if the parts alone are ambiguous."""
    for bits, rows, columns, group in thin(((b, r, c, g) for b in (2, 4) for r in ROWS for c in COLUMNS for g in GROUPS
                                            if g < c), 0.05):
        count = ceil(columns, group)
        codes = RANDOM.integers(0, 1 << bits, (rows, columns))
        scale = uniform(rows, count)
        padded = np.pad(codes, ((0, 0), (0, count * group - columns)))
        want = (codes - (1 << (bits - 1))).astype(F32) * spread(scale, codes.shape, (1, group))
        add("dtinfo's metadata", "%d bits, groups of %d of [%d, %d]" % (bits, group, rows, columns),
            {"weight_packed": dense(padded, bits), "weight_scale": scale,
             "weight_shape": np.array(codes.shape, np.int64)}, want, None, (True, True),
            {"dtinfo.quant.m.weight": "int%d low %d" % (bits, group)})


def blocks_of(rows, columns):
    for high, wide in ((128, 128), (64, 64), (64, 128), (32, 32), (100, 100), (96, 96), (120, 120), (128, 100), (1, 128), (16, 48)):
        yield "block", (ceil(rows, high), ceil(columns, wide)), (high, wide), {"block_structure": [high, wide]}


def plain():
    """int-quantized and float-quantized."""
    shapes = [(r, c) for r in ROWS for c in COLUMNS] + [(100, 96), (128, 128), (192, 128), (200, 300), (256, 100), (300, 64)]
    every = [(number, shape, form, zeros) for number in ("int", "float") for shape in shapes
             for form in list(forms(*shape)) + list(blocks_of(*shape)) for zeros in (False, True)]
    for number, shape, (strategy, some, sides, more), zeros in thin(every, 0.04):
        zeros = zeros and number == "int" and strategy != "block"
        raw = some_e4m3(*shape) if number == "float" else RANDOM.integers(-128, 128, shape).astype(np.int8)
        codes = e4m3(raw) if number == "float" else raw.astype(F32)
        scale = uniform(*some)
        zero = RANDOM.integers(-128, 128, some).astype(np.int8)
        want = (codes - spread(zero, shape, sides) if zeros else codes).astype(F32) * spread(scale, shape, sides)
        tensors = {"weight": ("F8_E4M3", raw) if number == "float" else raw,
                   "weight_scale": scale[0] if strategy == "tensor" else scale}
        if zeros:
            tensors["weight_zero_point"] = zero
        wide = all(n & (n - 1) == 0 for n in sides) if strategy == "group" else \
            all(n >= shape[i] or n == 1 or (n == 128 and shape[i] % 128 == 0) for i, n in enumerate(sides))
        wide = wide and (strategy in ("tensor", "channel") or shape[0] > 1)
        config = compressed(number + "-quantized", num_bits=8, type=number, strategy=strategy, symmetric=not zeros, **more)
        exact = all(shape[i] % n == 0 or shape[i] < n for i, n in enumerate(sides))
        add(number + "-quantized", "%s %s of %s" % (strategy, more, shape), tensors, want, config, (True, wide and exact))


def deepseek():
    shapes = [(r, c) for r in ROWS for c in FEW_COLUMNS] + [(128, 128), (192, 128), (200, 300), (256, 384), (576, 100), (300, 64)]
    for shape, side, kind in thin(((s, n, k) for s in shapes for n in (128, 64, 100, 96) for k in ("inv", "e8m0", "f32")), 0.5):
        raw = some_e4m3(*shape)
        some = (ceil(shape[0], side), ceil(shape[1], side))
        scale = uniform(*some)
        config = {"quantization_config": {"quant_method": "fp8", "weight_block_size": [side, side]}}
        if kind == "e8m0":
            powers = RANDOM.integers(100, 140, some).astype(np.uint8)
            scale, stored = np.ldexp(F32(1), powers.astype(np.int32) - 127), ("F8_E8M0", powers)
        else:
            stored = scale
        want = e4m3(raw) * spread(scale.astype(F32), shape, (side, side))
        name = "weight_scale_inv" if kind == "inv" else "scale"
        usual = side == 128 and all(n % 128 == 0 or n < 128 for n in shape)
        add("DeepSeek", "%s, %d of %s" % (kind, side, shape), {"weight": ("F8_E4M3", raw), name: stored}, want, config,
            (True, usual))
    for rows in ROWS:
        for count in (1, 2, 3, 4, 8):
            codes = RANDOM.integers(0, 16, (rows, 32 * count))
            powers = RANDOM.integers(100, 140, (rows, count)).astype(np.uint8)
            want = E2M1[codes] * np.repeat(np.ldexp(F32(1), powers.astype(np.int32) - 127), 32, axis=1).astype(F32)
            config = {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128], "expert_dtype": "fp4"}}
            add("DeepSeek", "experts [%d, %d]" % codes.shape,
                {"weight": packed_bytes(codes, 4).view(np.int8), "scale": ("F8_E8M0", powers)}, want, config, (True, True))


def in_blocks():
    """MX formats and nvfp4 with the block lengths of the layouts."""
    for rows in ROWS:
        for count in (1, 2, 3, 4, 6, 8, 12, 16):
            for bits, form, table in ((4, "mxfp4-pack-quantized", E2M1[:16]),
                                      (6, "mxfp6-pack-quantized", small_float(np.arange(64), 2, 3, 1))):
                codes = RANDOM.integers(0, 1 << bits, (rows, 32 * count))
                powers = RANDOM.integers(100, 140, (rows, count)).astype(np.uint8)
                scale = np.repeat(np.ldexp(F32(1), powers.astype(np.int32) - 127), 32, axis=1).astype(F32)
                add(form, "[%d, %d]" % codes.shape,
                    {"weight_packed": packed_bytes(codes, bits), "weight_scale": powers}, table[codes] * scale,
                    compressed(form, num_bits=bits, type="float", strategy="group", group_size=32), (True, True))
            raw = some_e4m3(rows, 32 * count)
            for kind in ("U8", "F8_E8M0"):
                add("mxfp8-quantized", "%s [%d, %d]" % (kind, *raw.shape),
                    {"weight": ("F8_E4M3", raw), "weight_scale": (kind, powers)}, e4m3(raw) * scale,
                    compressed("mxfp8-quantized", num_bits=8, type="float", strategy="group", group_size=32), (True, True))
            codes = RANDOM.integers(0, 16, (rows, 16 * count))
            raw = RANDOM.integers(8, 0x7e, (rows, count)).astype(np.uint8)
            factor = F32(0.0371)
            for modelopt in (False, True):
                scale = np.repeat(e4m3(raw) * factor if modelopt else e4m3(raw) / factor, 16, axis=1).astype(F32)
                parts = {"weight": packed_bytes(codes, 4), "weight_scale": ("F8_E4M3", raw),
                         "weight_scale_2": np.array(factor)} if modelopt else \
                    {"weight_packed": packed_bytes(codes, 4), "weight_scale": ("F8_E4M3", raw),
                     "weight_global_scale": np.array([factor])}
                config = {"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}} \
                    if modelopt else compressed("nvfp4-pack-quantized", num_bits=4, type="float", strategy="tensor_group",
                                                group_size=16)
                add("nvfp4 of ModelOpt" if modelopt else "nvfp4-pack-quantized", "[%d, %d]" % codes.shape, parts,
                    scale * E2M1[codes], config, (True, True))


def others():
    """uint8 codes; and BitNet's, which look the same but hold four numbers each."""
    for rows in ROWS:
        for columns in FEW_COLUMNS:
            codes = RANDOM.integers(0, 256, (rows, columns)).astype(np.uint8)
            scale = uniform(1)
            zero = RANDOM.integers(0, 256, 1).astype(np.uint8)
            add("uint8", "[%d, %d]" % codes.shape, {"weight": codes, "weight_scale": scale, "weight_zero_point": zero},
                (codes.astype(F32) - zero.astype(F32)) * scale, None, (True, True))
            trits = RANDOM.integers(0, 3, (4 * rows, columns))
            bytes_ = sum(trits[i * rows:(i + 1) * rows] << (2 * i) for i in range(4)).astype(np.uint8)
            add("BitNet", "[%d, %d]" % trits.shape, {"weight": bytes_, "weight_scale": scale},
                (trits - 1).astype(F32) / scale, {"quantization_config": {"quant_method": "bitnet"}}, (True, False))
    for rows in ROWS:
        for columns in FEW_COLUMNS:
            raw = some_e4m3(rows, columns)
            scale = uniform(rows)
            for form, some, algo in (([rows, 1], scale, "FP8_PER_CHANNEL_PER_TOKEN"), ([1, 1], scale[0], "FP8")):
                add("fp8 of ModelOpt", "%s of [%d, %d]" % (form, rows, columns),
                    {"weight": ("F8_E4M3", raw), "weight_scale": np.array(some)}, e4m3(raw) * some.reshape(-1, 1),
                    {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": algo}}, (True, True))


def asked(number):
    """On a push a case is asked either with its configuration or without, always the same."""
    case = number // 2
    return number % 2 == (zlib.crc32(b"%d" % case) % 2 if CASES[case].config else 1) if QUICK and not ALL else True


def ask(number):
    """Returns exact, refused or wrong, with the message."""
    case, configured = CASES[number // 2], number % 2 == 0
    if configured and not case.config:
        return None
    folder = "%d" % number
    os.mkdir(folder)
    path, out = folder + "/in.safetensors", folder + "/out.safetensors"
    write(path, case.tensors, case.metadata)
    if configured:
        modelopt = "producer" in case.config
        with open(folder + ("/hf_quant_config.json" if modelopt else "/config.json"), "w") as file:
            json.dump(case.config, file)
    done = subprocess.run([PROGRAM, "quant", path, "fp32", "--dequant", "-o", out, "-q", "--threads", "1"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode == 0:
        got = read(out)
        exact = got.shape == case.want.shape and (got.astype(F32) == case.want.astype(F32)).all()
        answer = ("exact", "") if exact else ("wrong", "shape %s" % (got.shape,))
    else:
        refusal = done.returncode == 3 and b"m." in done.stderr
        answer = ("refused" if refusal else "wrong", done.stderr.decode().strip())
    for name in os.listdir(folder):
        os.remove(folder + "/" + name)
    os.rmdir(folder)
    return answer


def main():
    for part in (pack_quantized, told, plain, deepseek, in_blocks, others):
        part()
    numbers = [number for number in range(2 * len(CASES)) if asked(number)]
    counts, bad = collections.defaultdict(collections.Counter), 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        os.chdir(folder)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for number, answer in zip(numbers, pool.map(ask, numbers)):
                if not answer:
                    continue
                case, where = CASES[number // 2], "without config.json" if number % 2 else "with config.json"
                verdict, said = answer
                if verdict == "refused" and case.must[number % 2]:
                    verdict = "refused needlessly"
                counts[case.layout, where][verdict] += 1
                if verdict not in ("exact", "refused"):
                    bad += 1
                    if bad <= 40:
                        print("%s: %s, %s, %s: %s" % (verdict.upper(), case.layout, case.what, where, said))
        os.chdir("/")
    total = collections.Counter()
    print("%-24s %-20s %7s %8s" % ("layout", "", "exact", "refused"))
    for (layout, where), verdicts in counts.items():
        more = "".join("  %d %s" % (n, v) for v, n in verdicts.items() if v not in ("exact", "refused"))
        print("%-24s %-20s %7d %8d%s" % (layout, where, verdicts["exact"], verdicts["refused"], more))
        total.update(verdicts)
    print("%d files: %d exact, %d refused, %d others" % (sum(total.values()), total["exact"], total["refused"], bad))
    sys.exit(bad > 0)


main()
