#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes comfy.safetensors, with layers quantized by comfy-kitchen 0.2.40 as ComfyUI saves them, and
comfy_numbers.safetensors, with the fp32 values that comfy-kitchen dequantizes them to. Uses torch 2.15.

    make_comfy.py FOLDER
"""
import json
import os
import sys

import safetensors.torch
import torch
from comfy_kitchen import tensor

LAYERS = {"a": (tensor.TensorCoreFP8Layout, "float8_e4m3fn", (5, 7), {}),
          "b": (tensor.TensorCoreFP8Layout, "float8_e5m2", (4, 4), {"dtype": torch.float8_e5m2}),
          "c": (tensor.TensorWiseINT8Layout, "int8_tensorwise", (6, 32), {"per_channel": True}),
          "d": (tensor.TensorCoreMXFP8Layout, "mxfp8", (3, 64), {}),
          "e": (tensor.TensorCoreNVFP4Layout, "nvfp4", (128, 64), {})}


def main(folder):
    torch.manual_seed(18)
    files, numbers = {}, {}
    for name, (layout, form, shape, options) in LAYERS.items():
        codes, more = layout.quantize(torch.randn(shape), **options)
        for end, part in layout.state_dict_tensors(codes, more).items():
            files["model.%s.weight%s" % (name, end)] = part
        text = json.dumps({"format": form}).encode()
        files["model.%s.comfy_quant" % name] = torch.tensor(list(text), dtype=torch.uint8)
        numbers["model.%s.weight" % name] = layout.dequantize(codes, more)
    safetensors.torch.save_file(files, os.path.join(folder, "comfy.safetensors"))
    safetensors.torch.save_file(numbers, os.path.join(folder, "comfy_numbers.safetensors"))


main(sys.argv[1])
