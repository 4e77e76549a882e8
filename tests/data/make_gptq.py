#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes gptq.safetensors, matrices packed by GPTQModel 7.7.0, and awq.safetensors, a matrix packed by AutoAWQ 0.2.9;
and gptq_numbers.safetensors and awq_numbers.safetensors, with the fp32 and fp16 values from their own dequantizers.
Uses torch 2.15 and the sources of both on PYTHONPATH; only their packing and unpacking code is run.

    make_gptq.py FOLDER
"""
import importlib
import os
import sys
import types
from unittest.mock import MagicMock

import numpy as np
import safetensors.torch
import torch


def package(name, path=None):
    """A package without its own __init__.py."""
    module = types.ModuleType(name)
    module.__path__ = [path or os.path.join(*next(
        (base, name) for base in sys.path if os.path.isdir(os.path.join(base, name))))]
    sys.modules[name] = module
    return module.__path__[0]


def sources():
    for name, parts in (("gptqmodel", ("utils", "nn_modules")), ("awq", ("utils", "modules"))):
        path = package(name)
        for part in parts:
            package(name + "." + part, os.path.join(path, part))
    package("awq.modules.linear", os.path.join(sys.modules["awq.modules"].__path__[0], "linear"))
    for name in ("gptqmodel.quantization", "gptqmodel.quantization.dtype", "gptqmodel.utils.logger",
                 "gptqmodel.adapter", "gptqmodel.adapter.adapter", "gptqmodel.models", "gptqmodel.models._const",
                 "gptqmodel.utils.backend", "gptqmodel.utils.env", "gptqmodel.utils.safe"):
        sys.modules[name] = MagicMock(__name__=name, __path__=[])
    awq = types.ModuleType("awq.utils.module")
    awq.try_import = lambda name: (None, "")
    sys.modules["awq.utils.module"] = awq
    best = types.ModuleType("awq.utils.utils")
    best.get_best_device = lambda: "cpu"
    sys.modules["awq.utils.utils"] = best
    return [importlib.import_module(name) for name in (
        "gptqmodel.utils.model_dequant", "gptqmodel.nn_modules.qlinear", "awq.modules.linear.gemm",
        "awq.utils.packing_utils")]


# name: bits, rows, columns, group length, desc_act
MATRICES = {"four": (4, 96, 40, 32, False), "order": (4, 64, 32, 16, True), "three": (3, 64, 32, 64, False),
            "two": (2, 64, 64, 32, True), "eight": (8, 64, 36, 32, False), "odd": (4, 60, 36, 20, False)}


def gptq(folder, dequant, qlinear):
    files, numbers = {"norm.weight": torch.ones(4)}, {"norm.weight": torch.ones(4)}
    for name, (bits, rows, columns, length, act) in MATRICES.items():
        groups = torch.arange(rows) // length
        groups = groups[torch.randperm(rows)] if act else groups
        scales = torch.rand(columns, rows // length) * 0.1 + 0.01
        zeros = torch.randint(1, 2 ** bits, scales.shape).float()
        own = types.SimpleNamespace(bits=bits, maxq=2 ** bits - 1, planar=False, pack_dtype_bits=32,
                                    pack_factor=32 // bits, pack_dtype=torch.int32, pack_np_math_dtype=np.uint32,
                                    pack_np_dtype=np.int32)
        own.register_buffer = lambda name, value, own=own: setattr(own, name, value)
        linear = types.SimpleNamespace(weight=types.SimpleNamespace(data=torch.randn(columns, rows)), bias=None)
        qlinear.PackableQuantLinear.pack_original(own, linear, scales, zeros, groups.to(torch.int32))
        fields = dequant.unpack_cols(own.qzeros, bits)[:, :columns]     # as modules hold them: unchanged
        if name != "odd":   # its file packer needs whole words
            own.qzeros = dequant._revert_gptq_v1_qzeros_correction(own.qzeros, bits)
        else:
            own.qzeros = own.qzeros - 0x11111111    # as its modules do
        for part in ("qweight", "qzeros", "scales", "g_idx"):
            files[name + "." + part] = getattr(own, part).contiguous()
        codes = dequant.unpack_rows(own.qweight, bits)[:rows]
        numbers[name + ".weight"] = ((codes.float() - fields.float()[groups]) * own.scales.float()[groups]).t().contiguous()
    safetensors.torch.save_file(files, os.path.join(folder, "gptq.safetensors"))
    safetensors.torch.save_file(numbers, os.path.join(folder, "gptq_numbers.safetensors"))


def awq(folder, gemm, packing):
    linear = torch.nn.Linear(96, 64, bias=True).half()
    scales, zeros = torch.rand(3, 64).half() * 0.1 + 0.01, torch.randint(0, 16, (3, 64))
    codes = torch.randint(0, 16, (96, 64))
    linear.weight.data = ((codes - zeros.repeat_interleave(32, 0)) * scales.repeat_interleave(32, 0)).t().contiguous()
    own = gemm.WQLinear_GEMM.from_linear(linear, 4, 32, scales=scales, zeros=zeros)
    files = {"a." + name: part.contiguous() for name, part in own.state_dict().items()}
    back = packing.dequantize_gemm(own.qweight, own.qzeros, own.scales, 4, 32)
    numbers = {"a.weight": back.t().contiguous(), "a.bias": own.bias}
    safetensors.torch.save_file(files, os.path.join(folder, "awq.safetensors"))
    safetensors.torch.save_file(numbers, os.path.join(folder, "awq_numbers.safetensors"))


def main(folder):
    torch.manual_seed(18)
    dequant, qlinear, gemm, packing = sources()
    gptq(folder, dequant, qlinear)
    awq(folder, gemm, packing)


main(sys.argv[1])
