#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the sample files that README.md's recipes use, the same bytes on every machine.

    make_sample.py [FOLDER]     FOLDER/model.safetensors, FOLDER/activations.npy; by default here

model.safetensors has fp32 tensors with the names of a small model. activations.npy has fp32 numbers
with one outlier beyond the range of fp16, as the hidden states of large models have.
"""

import json
import pathlib
import struct
import sys

ROWS, HIDDEN = 16, 32


def uniform(seed):
    """Numbers from -1 to 1 (splitmix64)."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) % 2**64
        bits = seed
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
        yield ((bits ^ bits >> 31) >> 11) / 2**52 - 1


def normals(count, scale, seed):
    """Nearly normally distributed numbers: sums of three uniform ones."""
    source = uniform(seed)
    return [scale * (next(source) + next(source) + next(source)) for _ in range(count)]


def fp32(values):
    return struct.pack(f"<{len(values)}f", *values)


def model():
    """(name, dtype, shape, bytes)"""
    def weight(name, seed):
        return name, "F32", [ROWS, HIDDEN], fp32(normals(ROWS * HIDDEN, 0.02, seed))

    def norm(name, seed):
        return name, "F32", [HIDDEN], fp32([1 + n for n in normals(HIDDEN, 0.1, seed)])

    yield weight("embed.weight", 1)
    yield norm("layers.0.norm.weight", 2)
    yield weight("layers.0.attn.weight", 3)
    yield weight("layers.0.mlp.weight", 4)
    yield norm("norm.weight", 5)
    yield weight("head.weight", 6)


def safetensors(tensors):
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, dtype, shape, data in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(data for *_, data in tensors)


def npy(rows, columns, values):
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + fp32(values)


def activations():
    values = normals(8 * HIDDEN, 3, 7)
    values[5 * HIDDEN + 7] = 70000.0
    return npy(8, HIDDEN, values)


POLICY = """{
  "$schema": "check-policy.schema.json",
  "rules": [
    // all checkpoints
    { "files": "*.safetensors", "valid": true, "no-nan": true,
      "dtype": "fp32,bf16,int64:*_ids" },
    // only their norms
    { "files": "*.safetensors", "only": "*norm*",
      "as": "bf16", "max-to-zero": 0.01 },
    { "files": "*.npy,*.npz", "max-abs": 1000 },
  ],
}
"""


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    (folder / "model.safetensors").write_bytes(safetensors(list(model())))
    (folder / "activations.npy").write_bytes(activations())
    (folder / "policy.json").write_text(POLICY)


if __name__ == "__main__":
    main()
