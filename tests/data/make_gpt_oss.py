#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes gpt_oss.safetensors, experts in the gpt-oss layout with random bytes and scales, and
gpt_oss_numbers.safetensors, with the bf16 values that transformers 5.23 computes from them
(_convert_moe_packed_tensors). Uses torch 2.15.

    make_gpt_oss.py FOLDER
"""
import os
import sys

os.environ["TORCHDYNAMO_DISABLE"] = "1"
import safetensors.torch  # noqa: E402
import torch  # noqa: E402
from transformers.integrations import mxfp4  # noqa: E402


def main(folder):
    torch.manual_seed(18)
    files, numbers = {}, {}
    for name, shape in {"gate_up_proj": (3, 12, 2), "down_proj": (3, 64, 1)}.items():
        path = "model.layers.0.mlp.experts." + name
        blocks = torch.randint(0, 256, (*shape, 16), dtype=torch.uint8)
        scales = torch.randint(0, 253, shape, dtype=torch.uint8)        # 6 x 2^126 overflows to infinity
        files.update({path + "_blocks": blocks, path + "_scales": scales})
        numbers[path] = mxfp4._convert_moe_packed_tensors(blocks, scales)
        files[path + "_bias"] = numbers[path + "_bias"] = torch.randn(shape[:2]).bfloat16()
    safetensors.torch.save_file(files, os.path.join(folder, "gpt_oss.safetensors"))
    safetensors.torch.save_file(numbers, os.path.join(folder, "gpt_oss_numbers.safetensors"))


main(sys.argv[1])
