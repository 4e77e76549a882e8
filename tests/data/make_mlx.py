#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes mlx.safetensors, with tensors quantized by MLX 0.32.4 on the CPU, mlx.json, with the member "quantization" of
its config.json, and mlx_numbers.safetensors, with the results of mx.dequantize() in the dtype of scales and biases, or
fp32.

    make_mlx.py FOLDER
"""
import json
import os
import sys

import mlx.core as mx

# name: bits, group, dtype; or a mode, and whether it has a global scale
AFFINE = {"two": (2, 128, mx.float16), "three": (3, 32, mx.bfloat16), "four": (4, 64, mx.bfloat16), "five": (5, 64, mx.float32),
          "six": (6, 128, mx.float16), "eight": (8, 32, mx.bfloat16)}
MODES = {"mxfp4": ("mxfp4", False), "mxfp8": ("mxfp8", False), "nvfp4": ("nvfp4", False), "nvfp4_scaled": ("nvfp4", True)}


def main(folder):
    mx.random.seed(18)
    files, numbers, said = {}, {}, {"group_size": 64, "bits": 4, "mode": "affine"}
    files["model.norm.weight"] = numbers["model.norm.weight"] = mx.ones((8,)).astype(mx.bfloat16)
    for i, (name, (bits, group, dtype)) in enumerate(AFFINE.items()):
        path = "model.layers.0." + name
        shape = (2, 3, 128) if i % 2 else (5, 256)
        parts = mx.quantize(mx.random.normal(shape).astype(dtype), group, bits)
        files.update(zip([path + ".weight", path + ".scales", path + ".biases"], parts))
        numbers[path + ".weight"] = mx.dequantize(*parts, group, bits)
        said[path] = {"group_size": group, "bits": bits}
    for name, (mode, scaled) in MODES.items():
        path = "model.layers.1." + name
        weight = mx.random.normal((4, 96))
        own = {"global_scale": mx.abs(weight).max()} if scaled else {}
        codes, scales = mx.quantize(weight, mode=mode, **own)
        files.update({path + ".weight": codes, path + ".scales": scales})
        if scaled:
            files[path + ".global_scale"] = own["global_scale"]
        numbers[path + ".weight"] = mx.dequantize(codes, scales, mode=mode, dtype=mx.float32, **own)
        said[path] = {"mode": mode}
    said["model.norm"] = False
    mx.save_safetensors(os.path.join(folder, "mlx.safetensors"), files, {"format": "mlx"})
    mx.save_safetensors(os.path.join(folder, "mlx_numbers.safetensors"), numbers)
    with open(os.path.join(folder, "mlx.json"), "w") as file:
        json.dump({"model_type": "llama", "quantization": said, "quantization_config": said}, file, indent=1)
        file.write("\n")


main(sys.argv[1])
