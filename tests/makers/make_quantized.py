# SPDX-License-Identifier: MIT
"""Writes sharded checkpoints of any size in the layouts of quantized tensors: codes in one shard, their scales and
other parts in the next, so that a reader needs the index to find them.

    make_quantized.py FOLDER LAYOUT TENSORS ROWS COLUMNS [SHARDS] [--holes]

Codes are random bytes, the same MiB repeated; with --holes they are file holes: zeros that take no disk space. A
gpt-oss tensor has 8 experts.
"""
import json
import os
import random
import struct
import sys

SIZES = {"U8": 1, "I8": 1, "F8_E4M3": 1, "F16": 2, "BF16": 2, "F32": 4, "I32": 4, "U32": 4, "I64": 8}
MIB = 1 << 20
EXPERTS = 8
RANDOM = random.Random(3)
NOISE = RANDOM.randbytes(MIB)
FINITE = bytes(byte & 0x77 for byte in NOISE)  # fp8_e4m3fn without NaN
NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
       -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634,
       0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]


def halves(*values):
    return struct.pack("<%de" % len(values), *values)


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


SCALES = halves(*(0.001 * (1 + i % 7) for i in range(1024)))
BF16 = struct.pack("<1024H", *(0x3C00 + 16 * (i % 7) for i in range(1024)))


def compressed(form, bits, kind, strategy, group):
    weights = {"num_bits": bits, "type": kind, "strategy": strategy, "symmetric": True, "dynamic": False}
    if group:
        weights["group_size"] = group
    return {"quant_method": "compressed-tensors", "format": form, "quantization_status": "compressed", "ignore": [],
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}


def gptq(rows, columns):
    groups = columns // 128
    return {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}, {
        "qweight": ("I32", [columns // 8, rows], NOISE), "qzeros": ("I32", [groups, rows // 8], b"\x77" * 4),
        "scales": ("F16", [groups, rows], SCALES),
        "g_idx": ("I32", [columns], struct.pack("<%di" % columns, *(i // 128 for i in range(columns))))}


def awq(rows, columns):
    groups = columns // 128
    return {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm", "zero_point": True}, {
        "qweight": ("I32", [columns, rows // 8], NOISE), "qzeros": ("I32", [groups, rows // 8], b"\x77" * 4),
        "scales": ("F16", [groups, rows], SCALES)}


def mlx(rows, columns):
    return {"group_size": 64, "bits": 4}, {
        "weight": ("U32", [rows, columns // 8], NOISE), "scales": ("F16", [rows, columns // 64], SCALES),
        "biases": ("F16", [rows, columns // 64], SCALES)}


def nvfp4(rows, columns):
    return compressed("nvfp4-pack-quantized", 4, "float", "tensor_group", 16), {
        "weight_packed": ("U8", [rows, columns // 2], NOISE), "weight_scale": ("F8_E4M3", [rows, columns // 16], FINITE),
        "weight_global_scale": ("F32", [1], floats(700.5))}


def modelopt(rows, columns):
    return None, {
        "weight": ("U8", [rows, columns // 2], NOISE), "weight_scale": ("F8_E4M3", [rows, columns // 16], FINITE),
        "weight_scale_2": ("F32", [], floats(0.0015))}


def int4(rows, columns):
    return compressed("pack-quantized", 4, "int", "group", 128), {
        "weight_packed": ("I32", [rows, columns // 8], NOISE), "weight_scale": ("BF16", [rows, columns // 128], BF16),
        "weight_shape": ("I64", [2], struct.pack("<2q", rows, columns))}


def int8(rows, columns):
    return compressed("int-quantized", 8, "int", "channel", 0), {
        "weight": ("I8", [rows, columns], NOISE), "weight_scale": ("BF16", [rows, 1], BF16)}


def fp8(rows, columns):
    return {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}, {
        "weight": ("F8_E4M3", [rows, columns], FINITE),
        "weight_scale_inv": ("F32", [-(-rows // 128), -(-columns // 128)], floats(0.01, 0.02, 0.03))}


def gpt_oss(rows, columns):
    shape = [EXPERTS, rows // EXPERTS, columns // 32]
    return {"quant_method": "mxfp4"}, {
        "blocks": ("U8", shape + [16], NOISE), "scales": ("U8", shape, bytes(range(110, 130)))}


def bitsandbytes(rows, columns):
    blocks = rows * columns // 64
    state = {"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [rows, columns], "nested_blocksize": 256,
             "nested_dtype": "float32", "nested_offset": 0.015}
    text = json.dumps(state).encode()
    return {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, {
        "weight": ("U8", [rows * columns // 2, 1], NOISE), "weight.absmax": ("U8", [blocks], NOISE),
        "weight.quant_map": ("F32", [16], floats(*NF4)),
        "weight.nested_absmax": ("F32", [-(-blocks // 256)], floats(0.01, 0.02, 0.03)),
        "weight.nested_quant_map": ("F32", [256], floats(*(i / 128 - 1 for i in range(256)))),
        "weight.quant_state.bitsandbytes__nf4": ("U8", [len(text)], text)}


LAYOUTS = {"gptq": gptq, "awq": awq, "mlx": mlx, "nvfp4": nvfp4, "modelopt": modelopt, "int4": int4, "int8": int8,
           "fp8": fp8, "gpt-oss": gpt_oss, "bitsandbytes": bitsandbytes}


def bytes_of(part):
    size = SIZES[part[0]]
    for length in part[1]:
        size *= length
    return size


def fill(file, size, pattern):
    """Writes size bytes of a repeated pattern; None: a hole of zeros that takes no disk space."""
    if pattern is None:
        file.seek(size, os.SEEK_CUR)
        return
    block = pattern * (MIB // len(pattern) or 1)
    for done in range(0, size - size % len(block), len(block)):
        file.write(block)
    file.write(block[:size % len(block)])


def write_shard(path, parts):
    """Writes parts of tensors, {name: (dtype, shape, pattern)}, and returns their size in bytes."""
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, part in parts.items():
        header[name] = {"dtype": part[0], "shape": part[1], "data_offsets": [end, end + bytes_of(part)]}
        end += bytes_of(part)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for part in parts.values():
            fill(file, bytes_of(part), part[2])
        file.truncate(8 + len(text) + end)
    return end


def write_checkpoint(folder, layout, count, rows, columns, shards=3, holes=False):
    """Returns the total bytes of all tensors."""
    config, _ = LAYOUTS[layout](rows, columns)
    files = [{} for _ in range(shards)]
    for i in range(count):
        parts = LAYOUTS[layout](rows, columns)[1]
        for at, (suffix, part) in enumerate(parts.items()):
            joint = "_" if layout == "gpt-oss" else "."
            name = "model.layers.%d.mlp.experts.gate_up_proj%s%s" % (i, joint, suffix)
            if holes and len(part[2]) == MIB:
                part = part[:2] + (None,)
            files[(i * shards // count + (at > 0)) % shards][name] = part
    member = "quantization" if layout == "mlx" else "quantization_config"
    return write_files(folder, files, {"model_type": "llama", member: config} if config else None)


def write_files(folder, files, config=None):
    """Writes shards, their index and config.json."""
    os.makedirs(folder)
    total, places = 0, {}
    for at, parts in enumerate(files):
        name = "model-%05d-of-%05d.safetensors" % (at + 1, len(files))
        parts = dict(sorted(parts.items(), key=lambda entry: -SIZES[entry[1][0]]))
        total += write_shard(os.path.join(folder, name), parts)
        places.update({tensor: name for tensor in parts})
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as file:
        json.dump({"metadata": {"total_size": total}, "weight_map": places}, file)
    if config:
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump(config, file)
    return total


def main(folder, layout, *words):
    numbers = [int(word) for word in words if word != "--holes"]
    write_checkpoint(folder, layout, *numbers, holes="--holes" in words)


if __name__ == "__main__":
    main(*sys.argv[1:])
