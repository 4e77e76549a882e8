#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dtinfo transcode --to gguf: the bytes of each block, written from ggml's struct definitions; the numbers that gguf-py
decodes from them, times X.scale; how many blocks keep their numbers, and the largest error of the others, computed from
the codes that a block may have with exact fractions. Sources are nvfp4 of ModelOpt, compressed-tensors, ComfyUI and MLX,
mxfp4 of these and of gpt-oss, and integers in groups of all layouts.

usage: test_transcode_gguf.py DTINFO
"""
import json
import os
import struct
import sys
import tempfile
from fractions import Fraction

from harness import QUICK, have
from transcode_check import (E2M1, E4M3, F32, RANDOM, TALLY, equal, np, nvfp4, pairs, run, shards, torch, write)
from layout_files import E5M2, tiles

gguf = have("gguf")
if gguf is None:
    print("skipped: needs gguf")
    sys.exit(77)
TYPES = gguf.GGMLQuantizationType
ROUNDS = 1 if QUICK else 3


# Files.

def template(path, shapes):
    writer = gguf.GGUFWriter(path, "test")
    writer.add_uint32("general.file_type", 1)
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    for name, shape in shapes.items():
        writer.add_tensor(name, np.zeros(shape, F32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_gguf(path):
    """name -> (type, shape, bytes)"""
    return {t.name: (t.tensor_type.name, tuple(int(n) for n in t.shape[::-1]), t.data.tobytes())
            for t in gguf.GGUFReader(path).tensors}


def decoded(tensors, name):
    """By gguf-py."""
    kind, shape, data = tensors[name]
    if kind == "F32":
        return np.frombuffer(data, F32).reshape(shape)
    if kind == "BF16":
        return (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(F32).reshape(shape)
    if kind == "F16":
        return np.frombuffer(data, np.float16).astype(F32).reshape(shape)
    return gguf.quants.dequantize(np.frombuffer(data, np.uint8), TYPES[kind]).astype(F32).reshape(shape)


def to_gguf(source, shapes, *words, code=0):
    """The report on each tensor, and the tensors; or the error."""
    template("template.gguf", shapes)
    said = run("transcode", source, "--to", "gguf", "-o", "out.gguf", "--template", "template.gguf", "--force", "--json",
               *words, code=code)
    if code:
        return said
    return {t["name"]: t for t in json.loads(said)["translated"]}, read_gguf("out.gguf")


# Blocks, as ggml-common.h defines them.

def halves(codes, group):
    """Two codes a byte: the first half of each group in the low nibbles, the second half in the high ones."""
    codes = codes.reshape(-1, 2, group // 2)
    return (codes[:, 0] | codes[:, 1] << 4).astype(np.uint8)


def block_nvfp4(codes, scales):
    """struct { uint8_t d[4]; uint8_t qs[32]; }"""
    blocks = codes.size // 64
    return np.concatenate([scales.reshape(blocks, 4), halves(codes, 16).reshape(blocks, 32)], 1).tobytes()


def block_mxfp4(codes, scales):
    """struct { uint8_t e; uint8_t qs[16]; }"""
    blocks = codes.size // 32
    return np.concatenate([scales.reshape(blocks, 1), halves(codes, 32).reshape(blocks, 16)], 1).tobytes()


def block_q4(codes, d, m=None):
    """struct { ggml_half d; [ggml_half m;] uint8_t qs[16]; }"""
    blocks = codes.size // 32
    head = [x.reshape(blocks, 1).view(np.uint8).reshape(blocks, 2) for x in (d, m) if x is not None]
    return np.concatenate([*head, halves(codes, 32).reshape(blocks, 16)], 1).tobytes()


def block_q8_0(codes, d):
    """struct { ggml_half d; int8_t qs[32]; }"""
    blocks = codes.size // 32
    return np.concatenate([d.reshape(blocks, 1).view(np.uint8).reshape(blocks, 2),
                           codes.reshape(blocks, 32).astype(np.int8).view(np.uint8)], 1).tobytes()


# nvfp4 and mxfp4.

def swapped(codes):
    return (codes << 4 | codes >> 4).astype(np.uint8)


def text(form):
    return np.frombuffer(json.dumps(form).encode(), np.uint8)


def nv_sources(codes, scales, factor):
    """Each: layout, tensors, configuration; the same codes and scales."""
    packed = (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8)
    one, divisor = np.array(factor, F32), np.array([F32(1) / F32(factor)], F32)
    yield "modelopt", {"a.weight": ("U8", packed), "a.weight_scale": ("F8_E4M3", scales), "a.weight_scale_2": ("F32", one),
                       "a.input_scale": ("F32", np.array(.25, F32))}, {
        "quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}
    yield "compressed-tensors", {
        "a.weight_packed": ("U8", packed), "a.weight_scale": ("F8_E4M3", scales), "a.weight_global_scale": ("F32", divisor),
        "a.input_global_scale": ("F32", np.array([4], F32))}, {
        "quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "config_groups": {"group_0": {
            "targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}}}}
    if codes.ndim == 2:
        yield "comfy", {"a.weight": ("U8", swapped(packed)), "a.weight_scale": ("F8_E4M3", tiles(scales)),
                        "a.weight_scale_2": ("F32", one), "a.comfy_quant": ("U8", text({"format": "nvfp4"}))}, None
    yield "mlx", {"a.weight": ("U32", packed.view(np.uint32)), "a.scales": ("U8", scales)}, {
        "group_size": 16, "bits": 4, "mode": "nvfp4"}


def judge_nvfp4():
    for shape, factor in (((6, 128), 0.0123), ((3, 64), 0.25), ((2, 5, 192), 0.37), ((300, 1088), 3e-5)) * ROUNDS:
        codes = RANDOM.integers(0, 16, shape).astype(np.uint8)
        scales = RANDOM.integers(0, 0x7f, (*shape[:-1], shape[-1] // 16)).astype(np.uint8)
        for layout, tensors, config in nv_sources(codes, scales, factor):
            what = "nvfp4 of %s %s" % (layout, shape)
            mlx = layout == "mlx"
            source = "in/model.safetensors" if config else "in.safetensors"
            write(source, tensors, config)
            if mlx:
                rewrite_config(config)
            said, got = to_gguf("in" if config else source, {"a.weight": shape})
            one = said["a.weight"]
            TALLY.check(what + ": block", got["a.weight"], ("NVFP4", shape, block_nvfp4(codes, scales)))
            TALLY.check(what + ": names", sorted(got), sorted(
                ["a.weight"] + (["a.scale"] if not mlx else []) +
                (["a.input_scale"] if layout in ("modelopt", "compressed-tensors") else [])))
            if "a.input_scale" in got:
                TALLY.check(what + ": scale of activations", got["a.input_scale"][2], F32(.25).tobytes())
            parts = dict((name, array) for name, (_, array) in tensors.items())
            whole = F32(1)
            if not mlx:
                whole = np.frombuffer(got["a.scale"][2], F32)[0]
                want = F32(1) / F32(parts["a.weight_global_scale"][0]) if layout == "compressed-tensors" else F32(factor)
                TALLY.check(what + ": scale", (got["a.scale"][:2], whole), (("F32", (1,)), want))
            old = np.repeat(E4M3[scales] * (F32(1) if mlx else F32(factor)), 16, -1) * E2M1[codes]
            if layout == "compressed-tensors":
                old = np.repeat(E4M3[scales] / parts["a.weight_global_scale"][0], 16, -1) * E2M1[codes]
                same = np.array([all(E4M3[s] / parts["a.weight_global_scale"][0] * e == E4M3[s] * whole * e
                                     for e in E2M1[1:8]) for s in range(0x7f)])
                count = int(same[scales].sum()) + 1     # and the scale of activations
            else:
                equal(what + ": numbers", np.repeat(E4M3[scales] * whole, 16, -1) * E2M1[codes], old)
                count = scales.size
            # ggml: code x scale / 2, then the scale of the tensor
            plain = decoded(got, "a.weight")
            equal(what + ": gguf-py", plain + F32(0), np.repeat(E4M3[scales], 16, -1) * E2M1[codes] + F32(0))
            extra = layout == "compressed-tensors"
            TALLY.check(what + ": lossless", (one["to"], one["blocks"], one["lossless_blocks"]),
                        ("nvfp4", scales.size + extra, count))
            if count == scales.size:
                run("compare", "in" if config else source, "out.gguf", "-q")
            back_to_floats(what, old if count == scales.size else None)
    TALLY.part("nvfp4")


def rewrite_config(config):
    with open("in/config.json", "w") as file:
        json.dump({"quantization": config, "quantization_config": config}, file)


def back_to_floats(what, want):
    """The reader multiplies by X.scale."""
    run("quant", "out.gguf", "fp32", "--dequant", "-o", "back.safetensors", "--force", "-q")
    from transcode_check import read
    back = read("back.safetensors")
    TALLY.check(what + ": scale is no tensor of its own", "a.scale" in back, False)
    if want is not None:
        equal(what + ": read back", back["a.weight"] + F32(0), want + F32(0))     # ggml has no -0


def judge_mxfp4():
    for shape in ((5, 96), (2, 3, 64), (130, 2080)) * ROUNDS:
        codes = RANDOM.integers(0, 16, shape).astype(np.uint8)
        scales = RANDOM.integers(0, 255, (*shape[:-1], shape[-1] // 32)).astype(np.uint8)
        packed = (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8)
        sources = [("compressed-tensors", {"a.weight_packed": ("U8", packed), "a.weight_scale": ("U8", scales)}, None),
                   ("modelopt", {"a.weight": ("U8", packed), "a.weight_scale": ("U8", scales)},
                    {"quant_method": "modelopt", "quant_algo": "MXFP4", "group_size": 32}),
                   ("mlx", {"a.weight": ("U32", packed.view(np.uint32)), "a.scales": ("U8", scales)},
                    {"group_size": 32, "bits": 4, "mode": "mxfp4"})]
        for layout, tensors, config in sources:
            what = "mxfp4 of %s %s" % (layout, shape)
            source = "in/model.safetensors" if config else "in.safetensors"
            write(source, tensors, config)
            if layout == "mlx":
                rewrite_config(config)
            said, got = to_gguf("in" if config else source, {"a.weight": shape})
            TALLY.check(what + ": block", got, {"a.weight": ("MXFP4", shape, block_mxfp4(codes, scales))})
            TALLY.check(what + ": lossless", (said["a.weight"]["blocks"], said["a.weight"]["lossless_blocks"]),
                        (scales.size,) * 2)
            with np.errstate(over="ignore"):
                want = np.repeat(np.ldexp(F32(1), scales.astype(int) - 127).astype(F32), 32, -1) * E2M1[codes]
            back_to_floats(what, want)
            run("compare", "in" if config else source, "out.gguf", "-q")
    experts, rows, groups = 3, 6, 2
    codes = RANDOM.integers(0, 16, (experts, rows, groups, 32)).astype(np.uint8)
    scales = RANDOM.integers(110, 130, (experts, rows, groups)).astype(np.uint8)
    write("in.safetensors", {"x.down_proj_blocks": ("U8", (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8)),
                             "x.down_proj_scales": ("U8", scales)})
    said, got = to_gguf("in.safetensors", {"x.down_proj": (experts, rows, groups * 32)})
    TALLY.check("mxfp4 of gpt-oss: rows of each expert",
                got, {"x.down_proj": ("MXFP4", (experts, rows, groups * 32), block_mxfp4(codes, scales))})
    TALLY.part("mxfp4")


# Integers in groups.

def half(number):
    """fp16 of an exact number, rounded once to nearest even."""
    number = Fraction(number)
    if number == 0:
        return np.float16(0)
    magnitude, exponent = abs(number), 0
    while magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while magnitude < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** max(exponent - 10, -24)
    steps, rest = divmod(magnitude, step)
    if rest * 2 > step or (rest * 2 == step and steps % 2):
        steps += 1
    return np.float16(float(steps * step) * (1 if number > 0 else -1))


def old_numbers(m, scale, zero, mlx):
    """Of all codes of a group, as the source's program computes them."""
    codes = np.arange(2 ** m.bits)
    if not mlx:
        return [F32(float(Fraction(int(c) - int(zero)) * Fraction(float(scale)))) for c in codes]    # 32 bits: exact
    s = torch.tensor(float(scale), dtype=m.dtype)
    b = torch.tensor(float(-Fraction(int(zero)) * Fraction(float(scale))), dtype=torch.float64).to(m.dtype)
    products = (torch.from_numpy(codes.astype(F32)) * s.float()).to(m.dtype)
    return [F32(x) for x in (products.float() + b.float()).to(m.dtype).float().numpy()]


def judge_integers():
    if not (torch and have("safetensors")):
        return TALLY.skip("integers in groups: needs torch and safetensors")
    import safetensors.torch
    import word_layouts
    from word_layouts import BRAIN, FLOAT, HALF, Matrix
    word_layouts.RANDOM = RANDOM
    sources = {"gptq": word_layouts.as_gptq, "gptq_v2": word_layouts.as_gptq_v2, "awq": word_layouts.as_awq,
               "packed": word_layouts.as_packed, "int8": word_layouts.as_int8, "mlx": word_layouts.as_mlx,
               "quark": lambda m: word_layouts.quark(m, "uint4", "reorder"), "pairs": word_layouts.as_pairs}
    kinds = {}
    for source, build in sources.items():
        for i in range(12 * ROUNDS):
            bits = {"awq": 4, "quark": 4, "pairs": 4, "int8": 8}.get(source, int(RANDOM.choice([2, 4, 8])))
            length = int(RANDOM.choice([32, 64, 128]))
            rows, columns = 32 * int(RANDOM.integers(1, 5)), length * int(RANDOM.integers(2, 6))
            zeros = "middle" if source == "pairs" or bits == 8 and i % 4 else ("any", "middle")[i % 2]
            if source in ("packed", "int8", "gptq") and i % 5 == 4:
                length = columns
            dtype = (HALF, BRAIN, FLOAT)[i % 3] if source != "mlx" else (HALF, BRAIN)[i % 2]
            m = Matrix(rows, columns, bits, length, dtype, zeros, "short" if i % 4 == 3 else "any", negative=i % 3 == 1)
            wanted = {0: None, 1: "q8_0" if bits < 8 else None, 2: "q4_1" if bits <= 4 else None}[i % 3]
            if source == "mlx" and (bits == 8 or wanted == "q8_0"):
                continue    # biases are multiples of scales only where nothing rounds
            tensors, config = build(m)
            what = "%s %d x %d, %d bits, groups of %d, %s, zero points %s, as %s" % (
                source, rows, columns, bits, length, dtype, zeros, wanted)
            os.makedirs("ints", exist_ok=True)
            safetensors.torch.save_file({n: t.contiguous() for n, t in tensors.items()}, "ints/model.safetensors")
            with open("ints/config.json", "w") as file:
                json.dump({"quantization_config": config, **({"quantization": config} if source == "mlx" else {})}, file)
            kind = judge_matrix(what, m, wanted, source == "mlx")
            kinds[kind] = kinds.get(kind, 0) + 1
    TALLY.part("integers in groups: " + ", ".join("%s %d" % pair for pair in sorted(kinds.items())))


def judge_matrix(what, m, wanted, mlx):
    words = ["--type", "a.weight=" + wanted] if wanted else []
    middle = bool((m.zeros == m.middle).all())
    if m.bits == 8 and not middle:
        error = to_gguf("ints", {"a.weight": (m.rows, m.columns)}, *words, code=2)
        TALLY.check(what + ": refused", ("'a." in error, error.count("\n")), (True, 1))
        return "refused"
    said, got = to_gguf("ints", {"a.weight": (m.rows, m.columns)}, *words)
    kind = wanted or ("q8_0" if m.bits == 8 else "q4_0" if middle and not mlx else "q4_1")
    scales, zeros = m.scales.double().numpy(), m.zeros
    d = np.array([half(float(s)) for s in scales.reshape(-1)], np.float16).reshape(scales.shape)
    lows = None
    each = m.length // 32
    spread = lambda values: np.repeat(values, each, 1)
    steps = m.codes - np.repeat(zeros, m.length, 1)
    if kind == "q4_0":
        want = block_q4(steps + 8, spread(d))
    elif kind == "q8_0":
        want = block_q8_0(steps, spread(d))
    else:
        lows = [-Fraction(int(z)) * Fraction(float(s)) for s, z in zip(scales.reshape(-1), zeros.reshape(-1))]
        if mlx:     # the bias as it is stored
            lows = [Fraction(float(torch.tensor(float(low), dtype=torch.float64).to(m.dtype))) for low in lows]
        lows = np.array([half(low) for low in lows], np.float16).reshape(scales.shape)
        if mlx:     # a bias of -0 stays one
            lows = np.where(zeros == 0, np.copysign(np.float16(0), -scales.astype(np.float16)), lows)
        want = block_q4(m.codes, spread(d), spread(lows))
    TALLY.check(what + ": type", (said["a.weight"]["to"], got["a.weight"][:2]), (kind, (kind.upper(), (m.rows, m.columns))))
    TALLY.check(what + ": bytes", got["a.weight"][2] == want, True)
    lossless, worst = 0, Fraction(0)
    for row in range(m.rows):
        for group in range(m.count):
            old = old_numbers(m, scales[row, group], zeros[row, group], mlx)
            scale = F32(d[row, group])
            if kind == "q4_1":
                new = [F32(F32(c) * scale) + F32(lows[row, group]) for c in range(2 ** m.bits)]
            else:
                new = [F32(F32(c - int(zeros[row, group])) * scale) for c in range(2 ** m.bits)]
            errors = [abs(Fraction(float(n)) - Fraction(float(o))) / abs(Fraction(float(o or scales[row, group])))
                      for o, n in zip(old, new) if o != n]
            lossless += 0 if errors else each
            worst = max([worst, *errors])
    one = said["a.weight"]
    TALLY.check(what + ": blocks", (one["blocks"], one["lossless_blocks"], one["lossless"]),
                (m.rows * m.count * each, lossless, lossless == m.rows * m.count * each))
    if worst:
        TALLY.check(what + ": worst error", abs(one["worst_error"] - float(worst)) <= 1e-12 * float(worst), True)
    equal(what + ": gguf-py", decoded(got, "a.weight"),
          steps.astype(F32) * np.repeat(d.astype(F32), m.length, 1) if kind != "q4_1" else
          m.codes.astype(F32) * np.repeat(d.astype(F32), m.length, 1) + np.repeat(lows.astype(F32), m.length, 1))
    strict = to_gguf("ints", {"a.weight": (m.rows, m.columns)}, "--require-lossless", *words,
                     code=0 if one["lossless"] else 1)
    TALLY.check(what + ": required", isinstance(strict, str), not one["lossless"])
    return kind


def judge_int8():
    """A scale for the tensor or for each row; and two products, as bitsandbytes has them."""
    for kind in ("tensor", "rows", "bitsandbytes"):
        for scale in (2.0 ** -7, 0.0123):
            codes = RANDOM.integers(-127, 128, (20, 96)).astype(np.int8)
            scales = np.full((1,) if kind == "tensor" else (20, 1), scale, F32) * (127 if kind == "bitsandbytes" else 1)
            if kind == "bitsandbytes":
                write("in.safetensors", {"a.weight": ("I8", codes), "a.SCB": ("F32", scales.reshape(-1)),
                                         "a.weight_format": ("U8", np.array(0, np.uint8))})
            else:
                write("in/model.safetensors", {"a.weight": ("I8", codes), "a.weight_scale": ("F32", scales)}, {
                    "quant_method": "compressed-tensors", "format": "int-quantized", "config_groups": {"group_0": {
                        "targets": ["Linear"], "weights": {"num_bits": 8, "type": "int", "symmetric": True,
                                                           "strategy": "tensor" if kind == "tensor" else "channel"}}}})
            said, got = to_gguf("in" if kind != "bitsandbytes" else "in.safetensors", {"a.weight": codes.shape})
            what = "int8 of %s x %g" % (kind, scale)
            factor = F32(1) / F32(127) if kind == "bitsandbytes" else F32(1)
            d = half(Fraction(float(scales.flat[0])) * Fraction(float(factor)))
            TALLY.check(what, got["a.weight"] == ("Q8_0", codes.shape, block_q8_0(codes, np.full(60, d, np.float16))), True)
            every = np.arange(-128, 128).astype(F32)
            same = bool((every * scales.flat[0] * factor == every * F32(d)).all())
            TALLY.check(what + ": blocks", (said["a.weight"]["blocks"], said["a.weight"]["lossless_blocks"]), (60, 60 * same))
    TALLY.part("int8 without groups")


# fp8, which GGUF does not have, and other floats.

def bf16(numbers):
    bits = np.ascontiguousarray(numbers, F32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(F32)


def judge_floats():
    for kind, table in (("F8_E4M3", E4M3), ("F8_E5M2", E5M2)):
        for scale in (0.5, 0.0123):
            codes = np.array([c for c in RANDOM.integers(0, 256, 4000) if np.isfinite(table[c])][:6 * 96], np.uint8).reshape(6, 96)
            write("in.safetensors", {"a.weight": (kind, codes), "a.weight_scale": ("F32", np.array(scale, F32)),
                                     "n.weight": ("BF16", RANDOM.integers(0, 0x3f80, 7).astype(np.uint16))})
            old = table[codes] * F32(scale)
            for wanted, new in ((None, bf16(old)), ("fp16", old.astype(np.float16).astype(F32)), ("fp32", old)):
                said, got = to_gguf("in.safetensors", {"n.weight": (7,), "a.weight": codes.shape},
                                    *(["--type", "a*=" + wanted] if wanted else []))
                what = "%s x %g to %s" % (kind, scale, wanted)
                equal(what, decoded(got, "a.weight"), new)
                same = [bool((a == b).all()) for a, b in zip(old, new)]
                TALLY.check(what + ": rows", (said["a.weight"]["to"], said["a.weight"]["blocks"], said["a.weight"]["lossless_blocks"]),
                            (wanted or "bf16", 6, sum(same)))
                if not all(same):
                    worst = max(abs(Fraction(float(n)) - Fraction(float(o))) / abs(Fraction(float(o)))
                                for o, n in zip(old.reshape(-1), new.reshape(-1)) if o != n)
                    TALLY.check(what + ": worst", abs(said["a.weight"]["worst_error"] - float(worst)) <= 1e-12, True)
    TALLY.part("fp8")


# A language model: names, and rows of q and k in the order of llama.cpp's rope, blocks and all.

def rope_rows(array, heads):
    """convert_hf_to_gguf.py: the halves of a head become pairs."""
    return array.reshape(heads, 2, array.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(array.shape)


def judge_model():
    heads, kv_heads, width = 4, 2, 128
    rows = {"self_attn.q_proj": ("attn_q", 128, heads), "self_attn.k_proj": ("attn_k", 64, kv_heads),
            "self_attn.v_proj": ("attn_v", 64, 0), "self_attn.o_proj": ("attn_output", 128, 0),
            "mlp.gate_proj": ("ffn_gate", 192, 0), "mlp.up_proj": ("ffn_up", 192, 0)}
    tensors, wanted = {}, {}
    for layer in range(2):
        for name, (other, count, of) in rows.items():
            stem, to = "model.layers.%d.%s" % (layer, name), "blk.%d.%s" % (layer, other)
            factor, inputs = F32(RANDOM.uniform(1e-4, 1)), F32(RANDOM.uniform(1e-4, 1))
            if name.endswith("v_proj"):     # fp8 in between
                codes = RANDOM.integers(0, 0x7f, (count, width)).astype(np.uint8)
                tensors[stem + ".weight"] = ("F8_E4M3", codes)
                tensors[stem + ".weight_scale"] = ("F32", np.array(factor, F32))
                wanted[to + ".weight"] = ("BF16", codes.shape, (bf16(E4M3[codes] * factor).view(np.uint32) >> 16).astype(np.uint16).tobytes())
                continue
            codes = RANDOM.integers(0, 16, (count, width)).astype(np.uint8)
            scales = RANDOM.integers(0, 0x7f, (count, width // 16)).astype(np.uint8)
            tensors[stem + ".weight"] = ("U8", (codes[:, ::2] | codes[:, 1::2] << 4).astype(np.uint8))
            tensors[stem + ".weight_scale"] = ("F8_E4M3", scales)
            tensors[stem + ".weight_scale_2"] = ("F32", np.array(factor, F32))
            tensors[stem + ".input_scale"] = ("F32", np.array(inputs, F32))
            if of:
                codes, scales = rope_rows(codes, of), rope_rows(scales, of)
            wanted[to + ".weight"] = ("NVFP4", (count, width), block_nvfp4(codes, scales))
            wanted[to + ".scale"] = ("F32", (1,), factor.tobytes())
            wanted[to + ".input_scale"] = ("F32", (), inputs.tobytes())
        down = RANDOM.integers(0, 0x3f80, (width, 192)).astype(np.uint16)
        tensors["model.layers.%d.mlp.down_proj.weight" % layer] = ("BF16", down)
        wanted["blk.%d.ffn_down.weight" % layer] = ("BF16", down.shape, down.tobytes())
        for name, other in (("input_layernorm", "attn_norm"), ("post_attention_layernorm", "ffn_norm")):
            norm = RANDOM.integers(0, 0x3f80, width).astype(np.uint16)
            tensors["model.layers.%d.%s.weight" % (layer, name)] = ("BF16", norm)
            wanted["blk.%d.%s.weight" % (layer, other)] = ("F32", norm.shape, (norm.astype(np.uint32) << 16).tobytes())
    for name, other, shape in (("model.embed_tokens", "token_embd", (32, width)), ("lm_head", "output", (32, width))):
        plain = RANDOM.integers(0, 0x3f80, shape).astype(np.uint16)
        tensors[name + ".weight"] = ("BF16", plain)
        wanted[other + ".weight"] = ("BF16", shape, plain.tobytes())
    norm = RANDOM.standard_normal(width).astype(F32)
    tensors["model.norm.weight"] = ("F32", norm)
    wanted["output_norm.weight"] = ("F32", norm.shape, norm.tobytes())
    write("in/model.safetensors", tensors, {})
    with open("in/config.json", "w") as file:
        json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2, "hidden_size": width,
                   "intermediate_size": 192, "num_attention_heads": heads, "num_key_value_heads": kv_heads, "vocab_size": 32,
                   "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "quantization_config": {
                       "quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
                           "model.layers.%d.%s" % (layer, name): {"quant_algo": "FP8"} if name.endswith("v_proj") else
                           {"quant_algo": "NVFP4", "group_size": 16} for layer in range(2) for name in rows}}}, file)
    for words in ([], ["--threads", "3", "--max-memory", "64KiB"], ["--max-shard-size", "40KiB"]):
        for name in os.listdir("."):
            if name.endswith(".gguf"):
                os.remove(name)
        run("transcode", "in", "--to", "gguf", "-o", "out.gguf", "-q", *words)
        files = sorted(name for name in os.listdir(".") if name.endswith(".gguf"))
        TALLY.check("parts of the model", len(files) > 1, words[:1] == ["--max-shard-size"])
        got = {}
        for name in files:
            got.update(read_gguf(name))
        TALLY.check("names of the model", sorted(got), sorted(wanted))
        for name, want in wanted.items():
            TALLY.check("model: " + name, got.get(name, (None,))[:2], want[:2])
            TALLY.check("model: bytes of " + name, got.get(name, (None, None, None))[2] == want[2], True)
    TALLY.part("a mixed model of nvfp4 and fp8")


# What is refused: one line that names the tensor; nothing is written.

def judge_refused():
    codes = RANDOM.integers(0, 256, (4, 32)).astype(np.uint8)
    scales = RANDOM.integers(0, 0x7f, (4, 4)).astype(np.uint8)
    def modelopt(codes, scales, more=()):
        write("in.safetensors", dict({"a.weight": ("U8", codes), "a.weight_scale": ("F8_E4M3", scales),
                                      "a.weight_scale_2": ("F32", np.array(2, F32))}, **dict(more)))
    def refused(what, word, *words):
        if os.path.exists("out.gguf"):
            os.remove("out.gguf")
        error = to_gguf("in.safetensors", {"a.weight": (4, 64)}, *words, code=2)
        TALLY.check(what, (word in error, "'a.weight" in error, error.count("\n"), os.path.exists("out.gguf")),
                    (True, True, 1, False))
    for code, word in ((0x7f, "NaN"), (0xff, "NaN"), (0x81, "negative"), (0x80, "negative")):
        broken = scales.copy()
        broken[2, 1] = code
        modelopt(codes, broken)
        refused("a block scale %#x" % code, "block 9 is " + word)
    modelopt(codes[:, :24], scales[:, :3])
    refused("rows of 48", "whole blocks of 64")
    modelopt(codes, scales)
    refused("nvfp4 as q4_0", "without quantizing again", "--type", "a*=q4_0")
    powers = np.full((4, 2), 255, np.uint8)
    write("in.safetensors", {"a.weight_packed": ("U8", codes), "a.weight_scale": ("U8", powers)})
    refused("NaN of mxfp4", "block 0 is NaN")
    write("in.safetensors", {"a.weight": ("F8_E4M3", pairs(codes)), "a.weight_scale": ("U8", powers - 128)})
    refused("mxfp8", "gguf has no blocks with such codes")
    write("in.safetensors", {"a.weight": ("F8_E4M3", np.full((4, 64), 0x7e, np.uint8)),
                             "a.weight_scale": ("F32", np.array(1e3, F32))})
    refused("beyond fp16", "beyond fp16", "--type", "a*=fp16")
    TALLY.part("refusals")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        judge_nvfp4()
        judge_mxfp4()
        judge_integers()
        judge_int8()
        judge_floats()
        judge_model()
        judge_refused()
        os.chdir("/")
    return TALLY.finish()


sys.exit(main())
