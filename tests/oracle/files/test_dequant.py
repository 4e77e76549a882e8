#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What quant --dequant computes from files written by others: GGUF by the package `gguf`, whose decoders follow ggml,
and checkpoints by compressed-tensors and torch, against what they read themselves.

usage: test_dequant.py DTINFO
"""
import json
import os
import subprocess
import sys
import tempfile

from harness import Tally, have

PROGRAM = os.path.abspath(sys.argv[1])
try:
    import numpy as np
except ImportError:
    print("skipped: needs numpy")
    sys.exit(77)


gguf, torch, safetensors, compressed = (have(name) for name in ("gguf", "torch", "safetensors", "compressed_tensors"))
if safetensors:
    import safetensors.numpy
if safetensors and torch:
    import safetensors.torch
RANDOM = np.random.default_rng(20240623)
TALLY = Tally()


def dequant(path, dtype="fp32", *words, level=None):
    environment = dict(os.environ, **({"DTINFO_CPU": level} if level else {}))
    done = subprocess.run([PROGRAM, "quant", path, dtype, "--dequant", "-o", "out.safetensors", "--force", "-q", *words],
                          stderr=subprocess.PIPE, env=environment)
    if done.returncode:
        sys.exit("quant %s --dequant: %s" % (path, done.stderr.decode()))
    if torch:
        return {name: t.float().numpy() for name, t in safetensors.torch.load_file("out.safetensors").items()}
    return safetensors.numpy.load_file("out.safetensors")


def same(what, ours, theirs, relative=0.0, signs=False):
    """Bit for bit, except that any NaN matches any NaN, and without `signs` the sign of zero is ignored; or within
    a relative error."""
    ours, theirs = np.asarray(ours, np.float32), np.asarray(theirs, np.float32)
    TALLY.checked += ours.size
    if ours.shape != theirs.shape:
        TALLY.differ(what, ours.shape, theirs.shape)
        return
    with np.errstate(invalid="ignore"):
        good = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs)) | \
            (np.abs(ours - theirs) <= relative * np.abs(theirs))
    if signs:
        good &= np.isnan(ours) | (np.signbit(ours) == np.signbit(theirs))
    if not good.all():
        at = tuple(np.argwhere(~good)[0])
        TALLY.differ("%s at %s (%d of %d)" % (what, at, (~good).sum(), good.size), ours[at], theirs[at])


def write_gguf(path, raw, kind):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tensor("w", raw, raw_dtype=kind)
    writer.add_tensor("norm", np.ones(7, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def ggml_scale(name, byte):
    """A scale as ggml's C code reads it, half of the format's value: ggml_e8m0_to_fp32_half() and ggml_ue4m3_to_fp32()
    of ggml/src/ggml-impl.h."""
    if name == "MXFP4":
        return 2.0 ** (byte - 128)
    if byte in (0, 0x7f):
        return 0.0
    exponent, mantissa = byte >> 3 & 15, byte & 7
    return (mantissa * 2.0 ** -9 if exponent == 0 else (1 + mantissa / 8) * 2.0 ** (exponent - 7)) / 2


GGML_NUMBERS = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12]    # kvalues_mxfp4 of ggml/src/ggml-common.h


def ggml_pairs():
    """All 2^16 pairs of a scale byte and a byte with two codes, against the C rule and the package."""
    if not (gguf and safetensors):
        TALLY.skip("gguf")
        return
    pairs = {}
    for name, (blocks, code_bytes) in (("MXFP4", (1, 16)), ("NVFP4", (4, 8))):
        kind = getattr(gguf.GGMLQuantizationType, name, None)
        if kind is None:
            TALLY.skip("gguf knows no " + name)
            continue
        codes = np.tile(np.arange(256, dtype=np.uint8), 256).reshape(-1, code_bytes)
        scales = np.repeat(np.arange(256, dtype=np.uint8), 256 // code_bytes)
        raw = np.concatenate([scales.reshape(-1, blocks), codes.reshape(-1, blocks * code_bytes)], axis=1)
        write_gguf("in.gguf", raw.reshape(64, -1), kind)
        factors = np.array([ggml_scale(name, int(byte)) for byte in scales], np.float32)
        numbers = np.array(GGML_NUMBERS, np.float32)
        halves = np.concatenate([numbers[codes & 15], numbers[codes >> 4]], axis=1)
        with np.errstate(all="ignore"):
            rule = (halves * factors[:, None]).reshape(64, -1)
            package = gguf.quants.dequantize(raw.reshape(64, -1), kind).reshape(64, -1)
        for level in ("none", "avx2", None):
            ours = dequant("in.gguf", level=level)["w"]
            same("%s at level %s, ggml's C rule" % (name, level or "best"), ours, rule, signs=True)
            same("%s at level %s, the package" % (name, level or "best"), ours, package, signs=True)
            pairs[name] = pairs.get(name, 0) + 2 * ours.size
    TALLY.part("every scale of ggml with every byte of codes, numbers compared: %s" % pairs)


def ggml():
    if not (gguf and safetensors):
        TALLY.skip("gguf")
        return
    types = gguf.GGMLQuantizationType
    for name, size in (("Q8_0", 34), ("Q4_0", 18), ("MXFP4", 17), ("NVFP4", 36)):
        if not hasattr(types, name):
            TALLY.skip("gguf knows no " + name)
            continue
        kind = getattr(types, name)
        length = gguf.GGML_QUANT_SIZES[kind][0]
        blocks = RANDOM.integers(0, 256, (128 * 33, size), dtype=np.uint8)
        if name in ("Q8_0", "Q4_0"):
            every = np.arange(len(blocks), dtype=np.uint16) * 15
            blocks[:, :2] = every.view(np.uint8).reshape(-1, 2)
        raw = blocks.reshape(33, -1)
        write_gguf("in.gguf", raw, kind)
        with np.errstate(all="ignore"):
            want = gguf.quants.dequantize(raw, kind).reshape(33, 128 * length)
        ours = dequant("in.gguf")
        same(name, ours["w"], want, signs=True)
        if torch:
            half = torch.from_numpy(np.ascontiguousarray(want)).bfloat16().float().numpy()
            same(name + " to bf16", dequant("in.gguf", "bf16")["w"], half, signs=True)
    TALLY.part("gguf")


def by_compressed_tensors():
    if not (compressed and torch and safetensors):
        TALLY.skip("compressed-tensors")
        return
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    weight = torch.from_numpy(RANDOM.standard_normal((48, 256), dtype=np.float32))
    group, channel = dict(strategy="group", group_size=64), dict(strategy="channel")
    blocks = dict(strategy="group", group_size=32)
    cases = [
        ("int8", "naive-quantized", dict(num_bits=8, type="int", strategy="tensor"), (1,), False),
        ("int8", "naive-quantized", dict(num_bits=8, type="int", **channel), (48, 1), False),
        ("int8 with zero points", "naive-quantized", dict(num_bits=8, type="int", symmetric=False, **channel), (48, 1),
         True),
        ("fp8", "naive-quantized", dict(num_bits=8, type="float", strategy="tensor"), (1,), False),
        ("fp8", "naive-quantized", dict(num_bits=8, type="float", **channel), (48, 1), False),
        ("int4", "pack-quantized", dict(num_bits=4, type="int", **group), (48, 4), False),
        ("int4 with zero points", "pack-quantized", dict(num_bits=4, type="int", symmetric=False, **group), (48, 4),
         True),
        ("int8 in words", "pack-quantized", dict(num_bits=8, type="int", **channel), (48, 1), False),
        ("mxfp4", "mxfp4-pack-quantized", dict(num_bits=4, type="float", **blocks), (48, 8), False),
        ("mxfp8", "mxfp8-quantized", dict(num_bits=8, type="float", **blocks), (48, 8), False),
        ("nvfp4", "nvfp4-pack-quantized", dict(num_bits=4, type="float", strategy="tensor_group", group_size=16),
         (48, 16), False),
    ]
    for what, name, arguments, shape, zeros in cases:
        what = "%s by %s, %s" % (what, name, arguments["strategy"])
        try:
            compressor = BaseCompressor.get_value_from_registry(name)
            scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**arguments))
            low, high = (0.01, 0.05) if arguments["num_bits"] == 8 else (0.3, 0.9)
            scale = torch.from_numpy(RANDOM.uniform(low, high, shape).astype(np.float32))
            if what.startswith("mx"):
                scale = torch.exp2(torch.floor(torch.log2(scale)))
            state = {"weight": weight, "weight_scale": scale}
            if zeros:
                span = 1 << (arguments["num_bits"] - 1)
                state["weight_zero_point"] = torch.from_numpy(RANDOM.integers(-span, span, shape).astype(np.int8))
            if what.startswith("nvfp4"):
                state["weight_scale"] = (scale * 100).to(torch.float8_e4m3fn).float()
                state["weight_global_scale"] = torch.tensor([100.0])
            written = {key: value.contiguous() for key, value in compressor.compress(dict(state), scheme).items()}
            want = compressor.decompress(dict(written), scheme)["weight"]
        except (KeyError, ValueError, AttributeError, ImportError, TypeError, RuntimeError) as error:
            TALLY.skip("%s: %s: %s" % (what, type(error).__name__, str(error)[:100]))
            continue
        safetensors.torch.save_file({"layer." + key: value for key, value in written.items()}, "in.safetensors")
        with open("config.json", "w") as file:
            json.dump({"quantization_config": {"quant_method": "compressed-tensors", "format": name, "config_groups": {
                "group_0": {"targets": ["Linear"], "weights": arguments}}}}, file)
        ours = dequant("in.safetensors")
        TALLY.check(what + ": tensors", sorted(ours), ["layer.weight"])
        # some of it is computed in bf16 there
        same(what, ours["layer.weight"], want.float().numpy(),
             0 if want.dtype == torch.float32 and not what.startswith("nvfp4") else 2.0 ** -8)
        os.remove("config.json")
    TALLY.part("compressed-tensors")


def by_torch():
    """Files like DeepSeek's and ModelOpt's checkpoints, with torch's own dtypes."""
    if not (torch and safetensors):
        TALLY.skip("torch")
        return
    codes = torch.from_numpy(RANDOM.integers(0, 256, (300, 520), dtype=np.uint8)).view(torch.float8_e4m3fn)
    scale = torch.from_numpy(RANDOM.uniform(0.001, 3, (3, 5)).astype(np.float32))
    safetensors.torch.save_file({"w.weight": codes, "w.weight_scale_inv": scale}, "in.safetensors")
    wide = scale.repeat_interleave(128, 0).repeat_interleave(128, 1)[:300, :520]
    with open("config.json", "w") as file:
        json.dump({"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}, file)
    same("rectangles of fp8", dequant("in.safetensors")["w.weight"], (codes.float() * wide).numpy())
    if hasattr(torch, "float8_e8m0fnu"):
        powers = torch.from_numpy(RANDOM.integers(100, 140, (3, 5), dtype=np.uint8)).view(torch.float8_e8m0fnu)
        safetensors.torch.save_file({"w.weight": codes, "w.scale": powers}, "in.safetensors")
        wide = powers.float().repeat_interleave(128, 0).repeat_interleave(128, 1)[:300, :520]
        same("rectangles of fp8 with powers of two", dequant("in.safetensors")["w.weight"], (codes.float() * wide).numpy())
    os.remove("config.json")
    scale = torch.tensor(0.0123)
    safetensors.torch.save_file({"w.weight": codes, "w.weight_scale": scale, "w.input_scale": scale.clone()}, "in.safetensors")
    ours = dequant("in.safetensors", "bf16")
    same("one scale", ours["w.weight"], (codes.float() * scale).bfloat16().float().numpy())
    TALLY.check("scales of activations", (sorted(ours), float(ours["w.input_scale"])),
                (["w.input_scale", "w.weight"], float(scale)))
    x = torch.from_numpy(RANDOM.standard_normal((40, 60), dtype=np.float32))
    for axis in (0, 1):
        some = torch.from_numpy(RANDOM.uniform(0.01, 0.05, x.shape[axis]))
        zeros = torch.from_numpy(RANDOM.integers(-100, 100, x.shape[axis]))
        quantized = torch.quantize_per_channel(x, some, zeros, axis, torch.qint8)
        shape = [-1, 1] if axis == 0 else [1, -1]
        safetensors.torch.save_file({"w": quantized.int_repr(), "w_scale": some.float().reshape(shape),
                                     "w_zero_point": zeros.to(torch.int8).reshape(shape)}, "in.safetensors")
        same("quantize_per_channel, axis %d" % axis, dequant("in.safetensors")["w"],
             ((quantized.int_repr().float() - zeros.reshape(shape)) * some.float().reshape(shape)).numpy())
    TALLY.part("torch")


with tempfile.TemporaryDirectory(prefix="dtinfo-dequant-") as folder:
    os.chdir(folder)
    ggml()
    ggml_pairs()
    by_compressed_tensors()
    by_torch()
    os.chdir("/")
TALLY.finish()
