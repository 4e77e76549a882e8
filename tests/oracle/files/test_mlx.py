#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reading checkpoints of MLX and the experts of gpt-oss: against a model of both layouts in exact arithmetic and, if
installed, against MLX itself on the CPU and the code of transformers.

usage: test_mlx.py DTINFO [--long]
"""
import functools
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import warnings
from fractions import Fraction

from harness import Tally, have
from tensor_files import read_file, write_file

PROGRAM = os.path.abspath(sys.argv[1])
LONG = "--long" in sys.argv[2:]
warnings.simplefilter("ignore")
np = have("numpy")
if not np:
    print("skipped: needs numpy")
    sys.exit(77)

TALLY = Tally()
RNG = np.random.default_rng(random.randrange(2 ** 32) if LONG else 20261123)
# digits, exponents of the smallest normal and the largest number; storage type and dtype of the file
NUMBERS = {"F32": (24, -126, 127, np.uint32), "F16": (11, -14, 15, np.uint16), "BF16": (8, -126, 127, np.uint16)}
WIDTHS, GROUPS = (1, 2, 3, 4, 5, 6, 8), (32, 64, 128)
MODES = {"mxfp4": (4, 32), "mxfp8": (8, 32), "nvfp4": (4, 16)}
E2M1 = [Fraction(n, 2) for n in (0, 1, 2, 3, 4, 6, 8, 12)]
NAN = 0x7fc00000


def power(exponent):
    return Fraction(2) ** exponent


def nearest(x, dtype):
    """Rounds a rational; returns a rational, or the sign of an infinity as a string."""
    digits, least, most, _ = NUMBERS[dtype]
    if x == 0:
        return x
    exponent = abs(x).numerator.bit_length() - x.denominator.bit_length()
    exponent -= power(exponent) > abs(x)
    unit = power(max(exponent, least) - digits + 1)
    rounded = round(x / unit) * unit        # ties to even
    if abs(rounded) >= power(most + 1):
        return "+" if x > 0 else "-"
    return rounded


def parse(code, dtype):
    """The number of a code: sign and a rational, or "inf", or None for NaN."""
    digits, least, most, container = NUMBERS[dtype]
    width, man = 8 * container().itemsize, digits - 1
    sign, exponent, rest = code >> width - 1, (code >> man) & (1 << width - 1 - man) - 1, code & (1 << man) - 1
    if exponent == (1 << width - 1 - man) - 1:
        return (sign, None if rest else "inf")
    if exponent == 0:
        return (sign, rest * power(least - man))
    return (sign, (rest + (1 << man)) * power(least + exponent - 1 - man))


def fp32_bits(sign, value):
    """The bits of a number that fp32 holds exactly."""
    if value is None:
        return NAN
    if value == "inf":
        return sign << 31 | 0x7f800000
    return struct.unpack("<I", struct.pack("<f", float(value)))[0] | sign << 31


@functools.lru_cache(maxsize=None)
def biased(code, scale, bias, dtype):
    """Codes of scale and bias -> fp32 bits: two roundings, signs as in IEEE 754."""
    (s, x), (t, b) = parse(scale, dtype), parse(bias, dtype)
    if x is None or b is None or (x == "inf" and code == 0):
        return NAN
    product = "inf" if x == "inf" else nearest(code * x, dtype)
    if isinstance(product, str):            # infinite, possibly by rounding
        return NAN if b == "inf" and s != t else fp32_bits(s, "inf")
    if b == "inf":
        return fp32_bits(t, "inf")
    total = nearest((-product if s else product) + (-b if t else b), dtype)
    if isinstance(total, str):
        return fp32_bits(total == "-", "inf")
    if total == 0:
        return fp32_bits(s & t if product == 0 and b == 0 else 0, Fraction(0))
    return fp32_bits(int(total < 0), abs(total))


def e4m3(code):
    sign, exponent, rest = code >> 7, code >> 3 & 15, code & 7
    if code & 127 == 127:
        return (sign, None)
    return (sign, rest * power(-9) if exponent == 0 else (rest + 8) * power(exponent - 10))


@functools.lru_cache(maxsize=None)
def block_number(mode, code, scale, largest):
    """A number in a mode without biases; largest: fp32 bits, or None."""
    sign, number = e4m3(code) if mode == "mxfp8" else (code >> 3, E2M1[code & 7])
    if mode == "nvfp4":
        other, factor = e4m3(scale)
        sign ^= other
    else:
        factor = None if scale == 255 else power(scale - 127)
    if number is None or factor is None:
        return NAN
    if largest is not None:
        of_all = nearest(parse(largest, "F32")[1] / 2688, "F32")
        factor = nearest(factor * of_all, "F32")
    product = nearest(number * factor, "F32")
    return fp32_bits(sign, "inf" if isinstance(product, str) else product)


def words_of(codes, bits):
    """A bit stream along the last dimension, in words from the lowest bit on."""
    stream = (codes[..., None] >> np.arange(bits)) & 1
    stream = stream.reshape(*codes.shape[:-1], -1, 32).astype(np.uint64)
    return (stream << np.arange(32, dtype=np.uint64)).sum(-1).astype("<u4")


def floats(shape, dtype, wild):
    """Codes of numbers: of ordinary size and either sign, or any bits."""
    container = NUMBERS[dtype][3]
    if wild:
        return RNG.integers(0, 2 ** (8 * container().itemsize), shape, dtype=np.uint64).astype(container)
    x = (RNG.normal(size=shape) * np.exp(RNG.normal(size=shape))).astype(np.float32)
    if dtype == "F16":
        return x.astype(np.float16).view(np.uint16)
    return (x.view(np.uint32) >> 16).astype(np.uint16) if dtype == "BF16" else x.view(np.uint32)


def tensor(array, dtype):
    return (dtype, array.shape, array.tobytes())


def some_shape(length):
    """A shape of codes with rows of whole groups; sometimes a stack, rarely more than a thread reads at once."""
    rows, groups = int(RNG.integers(1, 30)), int(RNG.integers(1, 9))
    if RNG.random() < 0.1:
        rows, groups = 150, 2 ** 14 // length + 3
    stack = (int(RNG.integers(1, 4)),) if RNG.random() < 0.3 else ()
    return (*stack, rows, groups * length)


def affine(name, bits, group, dtype, wild):
    """Parts of a tensor, and the fp32 bits of its numbers."""
    shape = some_shape(group)
    codes = RNG.integers(0, 2 ** bits, shape)
    of_groups = (*shape[:-1], shape[-1] // group)
    scales, biases = floats(of_groups, dtype, wild), floats(of_groups, dtype, wild)
    table = np.array([[biased(q, int(s), int(b), dtype) for q in range(2 ** bits)]
                      for s, b in zip(scales.reshape(-1)[:100], biases.reshape(-1)[:100])], np.uint32)
    few = len(table)                        # exact arithmetic is slow: only these groups of a long tensor
    want = np.take_along_axis(table, codes.reshape(-1, group)[:few], 1)
    parts = {name + ".weight": tensor(words_of(codes, bits), "U32"), name + ".scales": tensor(scales, dtype),
             name + ".biases": tensor(biases, dtype)}
    return parts, (shape, want.reshape(-1))


def blocks(name, mode, with_largest):
    bits, group = MODES[mode]
    shape = some_shape(group)
    codes = RNG.integers(0, 2 ** bits, shape)
    scales = RNG.integers(0, 256, (*shape[:-1], shape[-1] // group)).astype(np.uint8)
    if RNG.random() < 0.5:
        scales = (120 + scales % 16 if mode != "nvfp4" else scales % 127).astype(np.uint8)
    largest = int(np.float32(abs(RNG.normal()) * 5 + 1e-3).view(np.uint32)) if with_largest else None
    parts = {name + ".weight": tensor(words_of(codes, bits), "U32"), name + ".scales": tensor(scales, "U8")}
    if with_largest:
        parts[name + ".global_scale"] = ("F32", [], struct.pack("<I", largest))
    few = scales.reshape(-1)[:500]
    table = np.array([[block_number(mode, q, s, largest) for q in range(2 ** bits)] for s in range(256)], np.uint32)
    return parts, (shape, table[few[:, None], codes.reshape(-1, group)[:len(few)]].reshape(-1))


def gpt_oss(name, shape, wild):
    """shape: experts, rows, blocks."""
    codes = RNG.integers(0, 16, (*shape, 32))
    scales = RNG.integers(0, 256, shape) if wild else RNG.integers(110, 130, shape)
    raw = (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8)
    table = np.array([[block_number("mxfp4", q, s, None) for q in range(16)] for s in range(256)], np.uint32)
    want = table[scales[..., None], codes].reshape(shape[0], shape[1], -1).transpose(0, 2, 1)
    parts = {name + "_blocks": tensor(raw, "U8"), name + "_scales": tensor(scales.astype(np.uint8), "U8"),
             name + "_bias": tensor(floats(shape[:2], "BF16", False), "BF16")}
    return parts, (want.shape, want.reshape(-1))


def run(*words, fails=False):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if (done.returncode != 0) != fails:
        sys.exit("%s: %d %s" % (" ".join(words), done.returncode, done.stderr.decode()))
    return (done.stderr if fails else done.stdout).decode()


def same(what, got, want):
    """Compares fp32 bits, of the first numbers that `want` has."""
    got = got[:len(want)]
    TALLY.checked += len(want)
    if len(got) != len(want) or not np.array_equal(got, want):
        at = int(np.argmax(got != want)) if len(got) == len(want) else -1
        TALLY.differ("%s: element %d, %d differ" % (what, at, (got != want).sum() if at >= 0 else -1),
                     hex(got[at]) if at >= 0 else len(got), hex(want[at]) if at >= 0 else len(want))


def dequantized(path, *words):
    run("quant", path, "fp32", "--dequant", "-o", "out.safetensors", "--force", "-q", *words)
    return {name: (tuple(shape), np.frombuffer(raw, np.uint32)) for name, (_, shape, raw)
            in read_file("out.safetensors").items()}


def check_file(what, parts, wanted, config=None, words=()):
    """Reads the file in every way."""
    if os.path.exists("config.json"):
        os.remove("config.json")
    if config:
        with open("config.json", "w") as file:
            json.dump(config, file)
    write_file("in.safetensors", parts)
    got = dequantized("in.safetensors", *words)
    for name, (shape, bits) in wanted.items():
        TALLY.check("%s: shape of %s" % (what, name), got.get(name, ((),))[0], tuple(shape))
        if name in got:
            same("%s: %s" % (what, name), got[name][1], bits)
    again = dequantized("in.safetensors", "--threads", "1", *words)
    TALLY.check(what + ": threads", all(np.array_equal(got[name][1], again[name][1]) for name in got), True)
    seen = {row["name"]: row for row in json.loads(run("inspect", "in.safetensors", "--json", *words))["files"][0]["tensors"]}
    for name, (shape, _) in wanted.items():
        TALLY.check("%s: inspect %s" % (what, name), seen.get(name, {}).get("shape"), list(shape))
    TALLY.check(what + ": nothing is left", [name for name in seen if name.endswith((".scales", "_scales"))], [])
    report = json.loads(run("compare", "in.safetensors", "out.safetensors", "--json", *words))
    TALLY.check(what + ": compare", report["outcome"], "equal")


def mlx_config(quantization):
    return {"model_type": "llama", "quantization": quantization, "quantization_config": quantization}


def mixed_files():
    """Modules of all kinds in one file, by the paths in its configuration."""
    turns = 12 if LONG else 2
    for turn in range(turns):
        for dtype in NUMBERS:
            bits, group = int(RNG.choice(WIDTHS)), int(RNG.choice(GROUPS))
            quantization = {"group_size": group, "bits": bits}
            if turn % 2:
                quantization["mode"] = "affine"
            parts, wanted = {}, {}
            for i, (b, g) in enumerate(itertools.product(WIDTHS, GROUPS)):
                name = "model.layers.%d.mlp.up_proj" % i
                own, want = affine(name, b, g, dtype, (i + turn) % 4 == 0)
                if (b, g) != (bits, group):
                    quantization[name] = {"group_size": g, "bits": b}
                    if (b, g) == (4, 64) or i % 3 == 0:
                        quantization[name]["mode"] = "affine"
                    if (b, g) == (4, 64):
                        quantization[name] = {"mode": "affine"}      # MLX's defaults
                parts.update(own)
                wanted[name + ".weight"] = want
            for mode, largest in itertools.product(MODES, (False, True)):
                name = "model.%s.%d" % (mode, largest)
                if largest and mode != "nvfp4":
                    continue
                own, want = blocks(name, mode, largest)
                quantization[name] = {"mode": mode} if turn % 2 else {"mode": mode, "bits": MODES[mode][0],
                                                                     "group_size": MODES[mode][1]}
                parts.update(own)
                wanted[name + ".weight"] = want
            parts["model.norm.weight"] = tensor(floats((7,), dtype, False), dtype)
            quantization["model.norm"] = False
            config = mlx_config(quantization)
            if turn == 1:
                del config["quantization"]      # keep only the copy
            check_file("%s, %d bits in groups of %d" % (dtype, bits, group), parts, wanted, config)
        TALLY.part("turn %d" % turn)


def by_shapes():
    """Without a configuration."""
    products = [b * g for b, g in itertools.product(WIDTHS, GROUPS)]
    for bits, group in itertools.product(WIDTHS, GROUPS):
        what = "%d bits in groups of %d, no configuration" % (bits, group)
        parts, want = affine("a", bits, group, "BF16", False)
        wanted = {"a.weight": want}
        if products.count(bits * group) == 1:
            check_file(what, parts, wanted)
            continue
        write_file("in.safetensors", parts)
        if os.path.exists("config.json"):
            os.remove("config.json")
        text = run("quant", "in.safetensors", "fp32", "--dequant", "-o", "out.safetensors", "--force", "-q", fails=True)
        TALLY.check(what + ": refused", "--bits or --block" in text and "%d bits in groups of %d" % (bits, group) in text,
                    True)
        check_file(what + ", --bits", parts, wanted, None, ("--bits", str(bits)))
        check_file(what + ", --block", parts, wanted, None, ("--block", str(group)))
    for mode in MODES:
        parts, want = blocks("b", mode, False)
        check_file(mode + ", no configuration", parts, {"b.weight": want})
    TALLY.part("by shapes")


def experts():
    shapes = [(1, 1, 1), (2, 3, 5), (3, 64, 4), (1, 6000, 60), (2, 100, 90), (5, 33, 2)] + [(1, 20000, 9)] * LONG
    for i, shape in enumerate(shapes):
        parts, want = gpt_oss("model.layers.0.mlp.experts.gate_up_proj", shape, i % 2)
        config = {"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}} if i % 3 else None
        check_file("experts %r" % (shape,), parts, {"model.layers.0.mlp.experts.gate_up_proj": want}, config)
    TALLY.part("experts")


def against_mlx():
    """MLX's own tensors, dequantized by MLX: affine ones in their dtype, others in fp32."""
    if not have("mlx"):
        TALLY.skip("MLX is not installed")
        return
    import mlx.core as mx
    dtypes = {"F32": mx.float32, "F16": mx.float16, "BF16": mx.bfloat16}
    spell = {mx.uint32: "U32", mx.uint8: "U8", **{there: here for here, there in dtypes.items()}}

    def raw(array):
        kind = spell[array.dtype]
        plain = array.view(mx.uint16) if array.dtype in (mx.bfloat16, mx.float16) else array
        return (kind, list(array.shape), np.array(plain).tobytes())

    def bits_of(array):
        return np.array(array.astype(mx.float32)).view(np.uint32).reshape(-1)
    parts, wanted, quantization = {}, {}, {"group_size": 64, "bits": 4}
    rows = 256 if LONG else 48
    for dtype, bits, group in itertools.product(NUMBERS, WIDTHS, GROUPS):
        name = "%s.%d.%d" % (dtype, bits, group)
        weight = mx.array((RNG.normal(size=(2, rows, 384)) * 0.05).astype(np.float32)).astype(dtypes[dtype])
        q, s, b = mx.quantize(weight, group, bits)
        parts.update({name + ".weight": raw(q), name + ".scales": raw(s), name + ".biases": raw(b)})
        quantization[name] = {"bits": bits, "group_size": group}
        wanted[name + ".weight"] = ((2, rows, 384), bits_of(mx.dequantize(q, s, b, group, bits)))
    for mode, (bits, group) in MODES.items():
        for largest in (None, mx.array(np.float32(0.2183))) if mode == "nvfp4" else (None,):
            name = "%s.%s" % (mode, largest is not None)
            weight = mx.array((RNG.normal(size=(rows, 384)) * 0.05).astype(np.float32))
            own = {} if largest is None else {"global_scale": largest}
            q, s = mx.quantize(weight, group, bits, mode=mode, **own)
            parts.update({name + ".weight": raw(q), name + ".scales": raw(s)})
            if own:
                parts[name + ".global_scale"] = raw(largest)
            quantization[name] = {"mode": mode}
            numbers = mx.dequantize(q, s, None, group, bits, mode=mode, dtype=mx.float32, **own)
            wanted[name + ".weight"] = ((rows, 384), bits_of(numbers))
    check_file("MLX", parts, wanted, mlx_config(quantization))
    TALLY.part("MLX %s" % mx.__version__ if hasattr(mx, "__version__") else "MLX")


def against_transformers():
    """transformers decodes a scale of 255 as 2^128."""
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    if not (have("torch") and have("transformers")):
        TALLY.skip("transformers is not installed")
        return
    import torch
    from transformers.integrations import mxfp4
    for shape in ((2, 64, 6), (3, 96, 2)):
        codes = RNG.integers(0, 256, (*shape, 16)).astype(np.uint8)
        for top, dtype in ((253, torch.bfloat16), (255, torch.float32)):
            scales = RNG.integers(0, top, shape).astype(np.uint8)
            there = mxfp4._convert_moe_packed_tensors(torch.tensor(codes), torch.tensor(scales), dtype=dtype)
            want = there.float().numpy().view(np.uint32)
            check_file("transformers, %s" % dtype, {"x_blocks": tensor(codes, "U8"), "x_scales": tensor(scales, "U8")},
                       {"x": (want.shape, want.reshape(-1))})
    TALLY.part("transformers")


def main():
    with tempfile.TemporaryDirectory(prefix="dtinfo-mlx-") as folder:
        os.chdir(folder)
        by_shapes()
        mixed_files()
        experts()
        against_mlx()
        against_transformers()
        os.chdir("/")
    TALLY.finish()


main()
