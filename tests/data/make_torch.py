#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes torch.pt, a small checkpoint with views and shared data saved by torch.save(); torch_old.pt, the same in the
format before torch 1.6; and torch_object.pt, with an object of a class that only the writing program defines. Uses
torch 2.15.

    make_torch.py FOLDER
"""
import os
import sys

import torch


class Net:
    def __init__(self):
        self.layers = [1, 2]


def main(folder):
    weight = torch.arange(12, dtype=torch.float32).reshape(3, 4) / 8
    model = {"embed.weight": weight, "head.weight": weight, "proj.weight": weight.t(), "part": weight[:, 1:3],
             "bias": torch.nn.Parameter(torch.tensor([0.1, 70000, -1], dtype=torch.bfloat16)),
             "steps": torch.tensor(7), "codes": weight.to(torch.float8_e4m3fn)}
    torch.save({"epoch": 3, "model": model}, os.path.join(folder, "torch.pt"))
    torch.save({"epoch": 3, "model": model}, os.path.join(folder, "torch_old.pt"), _use_new_zipfile_serialization=False)
    torch.save({"args": Net(), "model": {"w": weight}}, os.path.join(folder, "torch_object.pt"))


main(sys.argv[1])
