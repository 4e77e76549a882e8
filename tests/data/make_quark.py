#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes quark.safetensors, an int4 matrix in groups packed by AMD Quark 0.13, and quark_numbers.safetensors, with the
fp32 values that its code dequantizes it to. Uses torch 2.15.

    make_quark.py FOLDER QUARK     the latter is the folder of its package
"""
import ast
import os
import sys

import safetensors.torch
import torch

GROUP = 16


def functions(path, wanted, names):
    """Extracts some functions from a file that imports a whole framework."""
    with open(path) as file:
        tree = ast.parse(file.read())
    tree.body = [part for part in tree.body if getattr(part, "name", "") in wanted]
    exec(compile(tree, path, "exec"), names)


def main(folder, quark):
    torch.manual_seed(18)
    names = {"torch": torch, "Tensor": torch.Tensor, "QTensorConfig": object}
    functions(os.path.join(quark, "torch/utils/pack.py"), ("PackMethod", "Pack_4_bits"), names)
    functions(os.path.join(quark, "torch/kernel/hw_emulation/hw_emulation_interface.py"),
              ("dequantize_int_per_group_affine", "_prepare_scale_for_group_dequant"), names)
    codes = torch.randint(-8, 8, (16, 48), dtype=torch.int32)
    zero, scale = torch.randint(-8, 8, (16, 3), dtype=torch.int32), torch.rand(16, 3)
    own = names["Pack_4_bits"]("per_group", "int4")
    safetensors.torch.save_file({"q.weight": own.pack(codes, True), "q.weight_zero_point": own.pack(zero, True),
                                 "q.weight_scale": scale.t().contiguous()}, os.path.join(folder, "quark.safetensors"))
    numbers = names["dequantize_int_per_group_affine"](codes, scale, zero, 1, GROUP)
    safetensors.torch.save_file({"q.weight": numbers}, os.path.join(folder, "quark_numbers.safetensors"))


main(*sys.argv[1:])
