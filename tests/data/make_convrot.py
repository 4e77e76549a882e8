#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes convrot.safetensors, with layers that comfy-kitchen 0.2.40 rotated and quantized as ComfyUI saves them, and
convrot_numbers.safetensors, with the weights that they were made of. Uses torch 2.15.

    make_convrot.py FOLDER
"""
import json
import os
import sys

import safetensors.torch
import torch
from comfy_kitchen import tensor

LAYERS = {"a": (tensor.TensorWiseINT8Layout, {"format": "int8_tensorwise", "convrot": True, "convrot_groupsize": 64},
                (3, 128), {"per_channel": True, "convrot": True, "convrot_groupsize": 64}),
          "b": (tensor.TensorWiseINT8Layout, {"format": "int8_tensorwise", "convrot": True}, (2, 256),
                {"per_channel": True, "convrot": True}),
          "c": (tensor.TensorCoreConvRotW4A4Layout, {"format": "convrot_w4a4", "convrot_groupsize": 16}, (2, 64),
                {"convrot_groupsize": 16}),
          "d": (tensor.TensorWiseINT8Layout, {"format": "int8_tensorwise"}, (4, 8), {"per_channel": True})}


def main(folder):
    torch.manual_seed(28)
    files, numbers = {}, {}
    for name, (layout, form, shape, options) in LAYERS.items():
        numbers["model.%s.weight" % name] = torch.randn(shape)
        codes, more = layout.quantize(numbers["model.%s.weight" % name], **options)
        for end, part in layout.state_dict_tensors(codes, more).items():
            files["model.%s.weight%s" % (name, end)] = part
        text = json.dumps(form).encode()
        files["model.%s.comfy_quant" % name] = torch.tensor(list(text), dtype=torch.uint8)
    safetensors.torch.save_file(files, os.path.join(folder, "convrot.safetensors"))
    safetensors.torch.save_file(numbers, os.path.join(folder, "convrot_numbers.safetensors"))


main(sys.argv[1])
