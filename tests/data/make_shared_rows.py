#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes modelopt_awq.safetensors, int4 packed by ModelOpt 0.47, and bitnet.safetensors, packed by transformers 5.23,
each with its values: a tensor n.weight in modelopt_awq_numbers.safetensors and so on. Uses torch 2.15.

    make_shared_rows.py FOLDER MODELOPT     the latter is its file torch/export/quant_utils.py
"""
import ast
import os
import sys

os.environ["TORCHDYNAMO_DISABLE"] = "1"
import safetensors.torch  # noqa: E402
import torch  # noqa: E402
from transformers.integrations.bitnet import pack_weights  # noqa: E402


def main(folder, modelopt):
    torch.manual_seed(18)

    def save(name, tensors):
        safetensors.torch.save_file(tensors, os.path.join(folder, name + ".safetensors"))
    with open(modelopt) as file:        # its module imports a whole framework
        tree = ast.parse(file.read())
    tree.body = [f for f in tree.body if getattr(f, "name", "") in ("pack_int4_in_uint8", "_validate_int4_block_size")]
    names = {"torch": torch}
    exec(compile(tree, modelopt, "exec"), names)
    scale = torch.rand(6, 2).bfloat16().float()
    numbers = torch.randint(-8, 8, (6, 32)).float() * scale.repeat_interleave(16, 1)
    save("modelopt_awq", {"n.weight": names["pack_int4_in_uint8"](numbers, scale, 16), "n.weight_scale": scale.bfloat16(),
                          "n.pre_quant_scale": torch.ones(32)})
    save("modelopt_awq_numbers", {"n.weight": numbers, "n.pre_quant_scale": torch.ones(32)})
    numbers = torch.randint(-1, 2, (12, 9)).float()
    scale = torch.tensor([0.75])
    save("bitnet", {"n.weight": pack_weights(numbers.clone()), "n.weight_scale": scale})
    save("bitnet_numbers", {"n.weight": numbers / scale})


main(*sys.argv[1:])
