#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A checkpoint with experts as in vllm-project/vllm#54974: modules that loaders fuse into one matrix have tensor scales
of their own, up to 10 times apart. The bytes follow from the arguments alone; nothing but Python is needed.

usage: make_fused.py FOLDER [LAYOUT] [LAYERS] [EXPERTS] [SHARDS]

LAYOUT: compressed-tensors, modelopt (both nvfp4), fp8 (ModelOpt's, one scale for each tensor)
"""
import json
import os
import random
import struct
import sys

from tensor_files import write_file

COLUMNS = 64
# Groups of modules in a layer, with rows of each
ATTENTION = [("self_attn.q_proj", 4), ("self_attn.k_proj", 2), ("self_attn.v_proj", 2)]
LINEAR = [("linear_attn.in_proj_qkv", 6), ("linear_attn.in_proj_z", 2)]
SMALL = [("linear_attn.in_proj_b", 1), ("linear_attn.in_proj_a", 1)]
LATENT = [("mla.q_a_proj", 2), ("mla.kv_a_proj_with_mqa", 3)]
ALONE = [("self_attn.o_proj", 4), ("shared.up_proj", 2)]


def groups_of(experts):
    for group in (ATTENTION, LINEAR, SMALL, LATENT):
        yield group
    for expert in range(experts):
        stem = "mlp.experts.%d." % expert
        yield [(stem + "gate_proj", 4), (stem + "up_proj", 4)]
    for name, rows in ALONE:
        yield [(name, rows)]
    for expert in range(experts):
        yield [("mlp.experts.%d.down_proj" % expert, 4)]


def fp32(number):
    """The nearest fp32."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def scales_of(rng, count):
    """Factors: equal, apart by a power of two, or by any ratio up to 10."""
    first = fp32(2.0 ** rng.uniform(-18, -10))
    kind = rng.random()
    scales = [first]
    for _ in range(count - 1):
        ratio = 1.0 if kind < 0.3 else 2.0 ** rng.randrange(4) if kind < 0.45 else 10.0 ** rng.random()
        scales.append(fp32(first * ratio))
    if kind > 0.98:     # one step of fp32 apart
        bits = struct.unpack("<I", struct.pack("<f", first))[0]
        scales[-1] = struct.unpack("<f", struct.pack("<I", bits + 1))[0]
    rng.shuffle(scales)
    return scales


def block_scales(rng, count):
    """Codes of e4m3 without a sign: all of them but 0, and few are subnormal."""
    return bytes(rng.randrange(1, 0x7f) if rng.random() < 0.3 else rng.randrange(0x40, 0x7f) for _ in range(count))


def nvfp4(rng, stem, rows, scale, compressed):
    number = 1 / scale if compressed else scale
    packed, tensor = ("_packed", "_global_scale") if compressed else ("", "_scale_2")
    yield stem + ".weight" + packed, ("U8", [rows, COLUMNS // 2], rng.randbytes(rows * COLUMNS // 2))
    yield stem + ".weight_scale", ("F8_E4M3", [rows, COLUMNS // 16], block_scales(rng, rows * COLUMNS // 16))
    yield stem + ".weight" + tensor, ("F32", [1] if compressed else [], struct.pack("<f", fp32(number)))


def fp8(rng, stem, rows, scale):
    codes = bytes(code if code & 0x7f != 0x7f else 0 for code in rng.randbytes(rows * COLUMNS))
    yield stem + ".weight", ("F8_E4M3", [rows, COLUMNS], codes)
    yield stem + ".weight_scale", ("F32", [], struct.pack("<f", scale))


def make_tensors(layout="modelopt", layers=2, experts=8, seed=54974, inputs=True):
    """{name: (dtype, shape, bytes)}, in the order of names."""
    rng, tensors = random.Random(seed), {}
    compressed = layout == "compressed-tensors"
    for layer in range(layers):
        for group in groups_of(experts):
            for (name, rows), scale in zip(group, scales_of(rng, len(group))):
                stem = "model.layers.%d.%s" % (layer, name)
                tensors.update(fp8(rng, stem, rows, scale) if layout == "fp8" else
                               nvfp4(rng, stem, rows, scale, compressed))
                if inputs:
                    range_of = fp32(2.0 ** rng.choice([-8, -8, -8, -7.5, -6]))
                    number = fp32(1 / range_of) if compressed else range_of
                    shape, word = ([1], "input_global_scale") if compressed else ([], "input_scale")
                    tensors["%s.%s" % (stem, word)] = ("F32", shape, struct.pack("<f", number))
        tensors["model.layers.%d.mlp.gate.weight" % layer] = ("BF16", [experts, COLUMNS], rng.randbytes(2 * experts * COLUMNS))
        tensors["model.layers.%d.input_layernorm.weight" % layer] = ("BF16", [COLUMNS], b"\x80\x3f" * COLUMNS)
    return dict(sorted(tensors.items()))


# vllm-project/vllm#54974: pairs of gate_proj and up_proj, and those whose tensor scales differ
THREAD_LAYERS, THREAD_EXPERTS, THREAD_DIFFERING = 43, 288, 8563


def like_the_thread(seed=54974):
    """As many pairs as in the thread, with one row of 16 columns each; the worst are exactly 10 times apart."""
    rng, tensors = random.Random(seed), {}
    places = [(layer, expert) for layer in range(THREAD_LAYERS) for expert in range(THREAD_EXPERTS)]
    ratios = [10.0] + [10.0 ** rng.uniform(0.01, 1) for _ in range(THREAD_DIFFERING - 1)]
    ratios += [1.0] * (len(places) - THREAD_DIFFERING)
    rng.shuffle(ratios)
    for (layer, expert), ratio in zip(places, ratios):
        base = 2.0 ** rng.randrange(-18, -10)
        scales = [base, fp32(base * ratio)]
        rng.shuffle(scales)
        for name, scale in zip(("gate_proj", "up_proj"), scales):
            stem = "model.layers.%d.mlp.experts.%d.%s.weight" % (layer, expert, name)
            tensors[stem] = ("U8", [1, 8], rng.randbytes(8))
            tensors[stem + "_scale"] = ("F8_E4M3", [1, 1], block_scales(rng, 1))
            tensors[stem + "_scale_2"] = ("F32", [], struct.pack("<f", scale))
    return tensors


def configuration(layout):
    if layout == "compressed-tensors":
        weights = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "symmetric": True, "dynamic": False}
        return {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "quantization_status": "compressed",
                "ignore": ["lm_head", "re:.*mlp.gate$"],
                "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": {
                    "num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "symmetric": True, "dynamic": "local"}}}}
    if layout == "fp8":
        return {"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["lm_head"]}
    return {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "ignore": ["lm_head"]}


def write_model(folder, tensors, layout, shards=1):
    """Members of a group are in different shards."""
    os.makedirs(folder, exist_ok=True)
    files, places = [{} for _ in range(shards)], {}
    for at, (name, tensor) in enumerate(tensors.items()):
        files[at % shards][name] = tensor
    for at, part in enumerate(files):
        path = "model.safetensors" if shards == 1 else "model-%05d-of-%05d.safetensors" % (at + 1, shards)
        write_file(os.path.join(folder, path), part, {"format": "pt"})
        places.update({name: path for name in part})
    if shards > 1:
        with open(os.path.join(folder, "model.safetensors.index.json"), "w") as file:
            json.dump({"metadata": {"total_size": sum(len(raw) for _, _, raw in tensors.values())}, "weight_map": places}, file)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump({"model_type": "qwen3_moe", "torch_dtype": "bfloat16", "quantization_config": configuration(layout)}, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    folder, layout, *numbers = (sys.argv[1:] + ["modelopt"])[:2] + sys.argv[3:]
    layers, experts, shards = [int(number) for number in numbers] + [2, 8, 1][len(numbers):]
    write_model(folder, make_tensors(layout, layers, experts), layout, shards)
