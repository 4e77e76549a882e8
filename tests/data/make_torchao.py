#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes torchao.safetensors, with tensors quantized and flattened by torchao 0.18, and torchao_numbers.safetensors,
with the fp32 values that torchao dequantizes them to. Uses torch 2.15.

    make_torchao.py FOLDER
"""
import os
import sys

import safetensors.torch
import torch
from torchao.prototype.mx_formats.mx_tensor import MXTensor
from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor
from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
from torchao.quantization import Float8Tensor, Int8Tensor, IntxUnpackedToInt8Tensor, MappingType, granularity


def main(folder):
    torch.manual_seed(18)
    x = torch.randn(6, 64)
    scale = torch.tensor(0.01)
    made = {"a.weight": Float8Tensor.from_hp(x, granularity=granularity.PerRow()),
            "b.weight": Int8Tensor.from_hp(x, granularity=granularity.PerGroup(32)),
            "c.weight": IntxUnpackedToInt8Tensor.from_hp(x, (1, 16), torch.int4, mapping_type=MappingType.ASYMMETRIC),
            "d.weight": MXTensor.to_mx(x, torch.float4_e2m1fn_x2, 32),
            "e.weight": NVFP4Tensor.to_nvfp4(x, per_tensor_scale=scale, is_swizzled_scales=True),
            "f.bias": torch.randn(6)}
    tensors, metadata = flatten_tensor_state_dict(made)
    safetensors.torch.save_file(tensors, os.path.join(folder, "torchao.safetensors"), metadata)
    numbers = {name: tensor if name == "f.bias" else tensor.dequantize() for name, tensor in made.items()}
    safetensors.torch.save_file(numbers, os.path.join(folder, "torchao_numbers.safetensors"))


main(sys.argv[1])
