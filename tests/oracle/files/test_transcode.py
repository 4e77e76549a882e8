#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo transcode`: the output, decoded as its own layout defines it, has the numbers of the input wherever that is
claimed; transcoded back it has the same bytes. The test searches for false claims: tensor scales over all mantissas,
and mxfp4 as nvfp4 against exact fractions. Fixtures come from the original tools; compressed-tensors, ModelOpt and
transformers, if installed, decode and load the output.

usage: test_transcode.py DTINFO
"""
import json
import os
import sys
import tempfile
from fractions import Fraction

from harness import QUICK, have
from transcode_check import (F32, RANDOM, TALLY, equal, np, nvfp4, pairs, read, run, shards, torch, transcode, write)
from layout_files import E2M1, E4M3

ELEMENTS = [Fraction(v) for v in (0, .5, 1, 1.5, 2, 3, 4, 6)]


# Tensor scales.

def mantissas():
    """How many scales have a reciprocal whose reciprocal is the scale again."""
    x = (np.arange(1 << 23, dtype=np.uint32) | np.uint32(127 << 23)).view(F32)
    count = int((F32(1) / (F32(1) / x) == x).sum())
    TALLY.check("scales whose reciprocal inverts", count, 6949350)
    TALLY.part("%d of %d mantissas invert, %.1f %%" % (count, 1 << 23, 100 * count / (1 << 23)))


def same_blocks(codes, factor, divisor, like):
    """Which blocks have the same numbers with the factor and with the divisor, whatever their elements."""
    one = E4M3[codes] * factor
    two = E4M3[codes] * (F32(1) / divisor) if like else E4M3[codes] / divisor
    return np.all(one[..., None] * E2M1[1:8] == two[..., None] * E2M1[1:8], -1)


def tensor_scales(like=None):
    words = ["--like", like] if like else []
    count = 300 if QUICK else 3000
    tensors, scales = {}, {}
    for i in range(count):
        name = "m.%d.weight" % i
        x = np.array(RANDOM.integers(0, 1 << 23) | (RANDOM.integers(90, 130) << 23), np.uint32).view(F32)
        tensors[name] = ("U8", RANDOM.integers(0, 256, (3, 16)).astype(np.uint8))
        tensors[name + "_scale"] = ("F8_E4M3", RANDOM.integers(0, 0x7f, (3, 2)).astype(np.uint8))
        tensors[name + "_scale_2"] = ("F32", x)
        scales[name] = x
    write("in.safetensors", tensors)
    source, claimed = read("in.safetensors"), 0
    said = transcode("in.safetensors", "compressed-tensors", "ct.safetensors", *words)
    out = read("ct.safetensors")
    transcode("ct.safetensors", "modelopt", "back.safetensors")
    back = read("back.safetensors")
    for name, x in scales.items():
        inverse = F32(1) / x
        same = int(same_blocks(source[name + "_scale"], x, inverse, like).sum())
        want = same == 6
        claimed += want
        TALLY.check(name + ": lossless", (said[name]["lossless"], said[name]["lossless_blocks"]), (want, same))
        TALLY.check(name + ": parts", (out[name + "_packed"].tobytes(), out[name + "_scale"].tobytes(),
                                       out[name + "_global_scale"].tobytes()),
                    (source[name].tobytes(), source[name + "_scale"].tobytes(), inverse.tobytes()))
        old, new = nvfp4(source, name, "modelopt"), nvfp4(out, name, "compressed-tensors", like)
        if F32(1) / inverse == x:
            TALLY.check(name + ": and back", back[name + "_scale_2"].tobytes(), x.tobytes())
        if want:
            equal(name, new, old)
        else:
            with np.errstate(invalid="ignore"):
                error = np.nanmax(np.abs(new.astype(float) - old) / np.abs(old))
            TALLY.check(name + ": is within the error that is told",
                        0 <= error <= said[name]["worst_error"] * (1 + 1e-12) < 1e-6, True)
    TALLY.check("most are claimed, and not all", (0.7 if like else 0.01) < claimed / count < 0.9, True)
    again = transcode("ct.safetensors", "modelopt", "back.safetensors", *words)
    for name in scales:
        divisor = out[name + "_global_scale"][0]
        want = bool(same_blocks(out[name + "_scale"], F32(1) / divisor, divisor, like).all())
        TALLY.check(name + ": from the divisor", again[name]["lossless"], want)
        if want:
            equal(name + ": numbers of modelopt", nvfp4(back, name, "modelopt"), nvfp4(out, name, "compressed-tensors", like))
    before = sorted(os.listdir("."))
    error = run("transcode", "in.safetensors", "--to", "compressed-tensors", "-o", "no.safetensors",
                "--require-lossless", *words, code=1)
    named = [name for name in said if "'%s'" % name in error]
    TALLY.check("what is not lossless is named", ([said[n]["lossless"] for n in named], len(error.splitlines())),
                ([False], 1))
    TALLY.check("nothing is left", sorted(os.listdir(".")), before)
    TALLY.part("tensor scales of nvfp4%s: %d of %d claimed" % (" like " + like if like else "", claimed, count))
    if not like:
        libraries(source, out, said)


def libraries(source, out, said):
    """Decodes with the libraries themselves, in the dtypes that they support."""
    if not (torch and have("compressed_tensors")):
        return TALLY.skip("compressed-tensors' own decoding")
    from compressed_tensors.compressors.nvfp4.base import NVFP4PackedCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(
        num_bits=4, type="float", strategy="tensor_group", group_size=16))
    modelopt = have("modelopt.torch.quantization.qtensor.nvfp4_tensor")
    if not modelopt:
        TALLY.skip("ModelOpt's own decoding")
    bits = 0
    for name in [n for n in said if said[n]["lossless"]][:400]:
        state = {"weight_packed": torch.tensor(out[name + "_packed"]),
                 "weight_scale": torch.tensor(out[name + "_scale"]).view(torch.float8_e4m3fn),
                 "weight_global_scale": torch.tensor(out[name + "_global_scale"])}
        theirs = NVFP4PackedCompressor.decompress(state, scheme)["weight"].float().numpy()
        old = torch.tensor(nvfp4(source, name, "modelopt")).bfloat16().float().numpy()
        bits += int((theirs.view(np.uint32) != old.view(np.uint32)).sum())
        if modelopt:
            from modelopt.torch.quantization.qtensor.nvfp4_tensor import NVFP4QTensor
            codes = torch.tensor(source[name])
            tensor = NVFP4QTensor((3, 32), torch.float32, codes)
            own = tensor.dequantize(dtype=torch.float32, scale=torch.tensor(source[name + "_scale"]).view(torch.float8_e4m3fn),
                                    double_scale=torch.tensor(source[name + "_scale_2"]), block_sizes={-1: 16})
            equal(name + ": ModelOpt, which has no -0", own.numpy() + F32(0), nvfp4(source, name, "modelopt") + F32(0))
    TALLY.check("numbers of compressed-tensors in bf16 that are others", bits, 0)
    TALLY.part("decoded by the libraries")


def converter():
    """compressed-tensors' own converter makes the same bytes, including activation scales."""
    if not (torch and have("compressed_tensors")):
        return TALLY.skip("compressed-tensors' converter")
    from compressed_tensors.entrypoints.convert.converters.modelopt_nvfp4 import ModelOptNvfp4Converter
    from compressed_tensors.quantization import QuantizationConfig
    tensors, exact = {}, [0.25, 2.0 ** -11, 2688 / 2 ** 20]
    for i in range(40):
        name = "m.%d" % i
        tensors[name + ".weight"] = ("U8", RANDOM.integers(0, 256, (4, 16)).astype(np.uint8))
        tensors[name + ".weight_scale"] = ("F8_E4M3", RANDOM.integers(0, 0x7f, (4, 2)).astype(np.uint8))
        tensors[name + ".weight_scale_2"] = ("F32", np.array(RANDOM.choice(exact[:2]), F32))
        tensors[name + ".input_scale"] = ("F32", np.array(RANDOM.choice(exact) if i % 2 else RANDOM.uniform(0, 1), F32))
    write("act/m.safetensors", tensors, {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16})
    said, source = transcode("act", "compressed-tensors", "ct"), read("act/m.safetensors")
    out = shards("ct")
    kinds = {"weight": torch.uint8, "weight_scale": torch.float8_e4m3fn}
    state = {n: torch.tensor(a).view(kinds.get(n.split(".")[2], torch.float32)) for n, a in source.items()}
    theirs = ModelOptNvfp4Converter(targets=["re:.*"]).process(state)
    TALLY.check("converter: names", sorted(out), sorted(theirs))
    for name, tensor in theirs.items():
        TALLY.check("converter: " + name, out[name].tobytes(), tensor.contiguous().view(torch.uint8).numpy().tobytes()
                    if tensor.ndim else tensor.numpy().tobytes())
    inverts = {n: bool(F32(1) / (F32(1) / a) == a) for n, a in source.items() if n.endswith("input_scale")}
    for name, tensor in said.items():
        want = inverts[name.replace(".weight", ".input_scale")]
        TALLY.check("activations: " + name, (tensor["blocks"], tensor["lossless_blocks"]), (9, 8 + want))
    with open("ct/config.json") as file:
        how = QuantizationConfig.model_validate(json.load(file)["quantization_config"])
    TALLY.check("activations: configured", how.config_groups["group_0"].input_activations.dynamic, "local")
    transcode("ct", "modelopt", "back")
    back = shards("back")
    TALLY.check("activations: and back", [n for n in source if back[n].tobytes() != source[n].tobytes()],
                [n for n in source if not inverts.get(n, True)])
    with open("back/config.json") as file:
        TALLY.check("activations: ModelOpt", json.load(file)["quantization_config"]["quant_algo"], "NVFP4")
    TALLY.part("scales of activations, by compressed-tensors' converter")


# mxfp4 as nvfp4.

def values():
    """The numbers that each scale of fp8_e4m3fn allows."""
    return [(Fraction(float(E4M3[c])), [Fraction(float(E4M3[c])) * e for e in ELEMENTS]) for c in range(1, 0x7f)]


def judge_blocks(name, said, source, out, layout, table):
    codes, scales = pairs(source[name + "_packed"]), source[name + "_scale"]
    if layout == "modelopt":
        new, factor = pairs(out[name]), Fraction(float(out[name + "_scale_2"].reshape(())))
    else:
        new, factor = pairs(out[name + "_packed"]), 1 / Fraction(float(out[name + "_global_scale"][0]))
    blocks, lossless, worst = 0, 0, Fraction(0)
    for row in range(codes.shape[0]):
        for half in range(codes.shape[1] // 16):
            power = Fraction(2) ** (int(scales[row, half // 2]) - 127)
            scale = Fraction(float(E4M3[out[name + "_scale"][row, half]])) * factor
            place = slice(16 * half, 16 * half + 16)
            old = [ELEMENTS[c & 7] * power for c in codes[row, place]]
            got = [ELEMENTS[c & 7] * scale for c in new[row, place]]
            same = old == got
            TALLY.check(name + ": signs", (codes[row, place] & 8).tobytes(), (new[row, place] & 8).tobytes())
            blocks += 1
            lossless += same
            for a, b in zip(old, got):
                worst = max(worst, abs(a - b) / a if a else Fraction(0))
            if not same and table:   # no scale at all would have given them
                wanted = {v / factor for v in old}
                best = min(max(min(abs(v - w) for w in all_of) for v in wanted) for _, all_of in table)
                own = max(abs(a - b) for a, b in zip(old, got)) / factor
                TALLY.check(name + ": no other scale has them", best > 0, True)
                TALLY.check(name + ": the nearest", own, best)
    TALLY.check(name + ": blocks", (said["blocks"], said["lossless_blocks"]), (blocks, lossless))
    if lossless < blocks:
        TALLY.check(name + ": worst", abs(said["worst_error"] - float(worst)) <= 1e-6 * float(worst), True)
    return blocks, lossless


def blocks():
    table, all_blocks, all_lossless = values(), 0, 0
    tensors, spreads = {}, {}
    sets = [list(range(8)), [0, 1], [0, 4], [0, 2, 4, 6], [0, 1, 2, 3, 4], [6], [7], [0, 5, 7], [0, 3]]
    for i in range(40 if QUICK else 240):
        name, spread = "m.%d.weight" % i, int(RANDOM.integers(0, 24))
        low = int(RANDOM.integers(0, 255 - spread))
        scales = RANDOM.integers(low, low + spread + 1, (4, 3)).astype(np.uint8)
        codes = np.zeros((4, 96), np.uint8)
        for row in range(4):
            for half in range(6):
                magnitudes = np.array(sets[RANDOM.integers(0, len(sets)) if i % 3 else 0])
                codes[row, 16 * half:16 * half + 16] = RANDOM.choice(magnitudes, 16) | RANDOM.integers(0, 2, 16) << 3
        if i % 4 == 0:      # zeros with a distant scale, as encoders write them
            codes[1, :32], scales[1, 0] = RANDOM.integers(0, 2, 32) << 3, RANDOM.choice([0, 254])
        tensors[name + "_packed"] = ("U8", codes[:, ::2] | codes[:, 1::2] << 4)
        tensors[name + "_scale"] = ("U8", scales)
        used = [int(s) for s, c in zip(scales.ravel(), codes.reshape(-1, 32)) if (c & 7).any()]
        spreads[name] = max(used) - min(used) if used else 0
    write("mx.safetensors", tensors)
    source = read("mx.safetensors")
    for layout in ("modelopt", "compressed-tensors"):
        said = transcode("mx.safetensors", layout, "nv.safetensors", "--dtype", "nvfp4")
        out = read("nv.safetensors")
        for name, spread in spreads.items():
            count, same = judge_blocks(name, said[name], source, out, layout, None if QUICK else table)
            if spread <= 17:
                TALLY.check("%s: a spread of %d" % (name, spread), said[name]["lossless"], True)
            all_blocks, all_lossless = all_blocks + count, all_lossless + same
    TALLY.part("mxfp4 as nvfp4, against fractions: %d of %d blocks are the same" % (all_lossless, all_blocks))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        mantissas()
        tensor_scales()
        tensor_scales("vllm")
        converter()
        blocks()
        os.chdir("/")
    return TALLY.finish()


sys.exit(main())
