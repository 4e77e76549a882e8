#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes bitsandbytes.safetensors, with tensors quantized and saved by bitsandbytes 0.50.2, and
bitsandbytes_numbers.safetensors, with the fp32 values that its Python code dequantizes them to. The same for 8-bit
layers: bitsandbytes_int8.safetensors and bitsandbytes_int8_numbers.safetensors. Uses torch 2.15.

    make_bitsandbytes.py FOLDER
"""
import os
import sys

os.environ["TORCHDYNAMO_DISABLE"] = "1"
import safetensors.torch  # noqa: E402
import torch  # noqa: E402
from bitsandbytes import nn  # noqa: E402
from bitsandbytes import functional  # noqa: E402
from bitsandbytes.backends.default import ops  # noqa: E402

# name: shape, dtype, quant_type, blocksize, nested, storage
TENSORS = {
    "nf4.weight": ((10, 25), torch.float32, "nf4", 64, False, torch.uint8),
    "fp4.weight": ((8, 32), torch.bfloat16, "fp4", 64, False, torch.uint8),
    "nested.weight": ((3, 17, 171), torch.float16, "nf4", 32, True, torch.uint8),
    "stored.weight": ((16, 24), torch.bfloat16, "nf4", 128, True, torch.bfloat16),
    "long.weight": ((33, 130), torch.float32, "fp4", 4096, False, torch.uint8),
}


def main(folder):
    torch.manual_seed(16)
    files, numbers = {"norm.weight": torch.ones(4)}, {"norm.weight": torch.ones(4)}
    for name, (shape, dtype, kind, block, nested, storage) in TENSORS.items():
        codes, state = functional.quantize_4bit(torch.randn(shape).to(dtype), blocksize=block, quant_type=kind,
                                                compress_statistics=nested, quant_storage=storage)
        files[name] = codes
        for key, value in state.as_dict(packed=True).items():
            files[name + "." + key] = value.clone()
        absmax = state.absmax
        if nested:
            absmax = functional.dequantize_blockwise(state.absmax, state.state2) + state.offset
        table = functional.get_4bit_type(kind, device="cpu")
        numbers[name] = ops._dequantize_4bit_compute(codes.reshape(-1).view(torch.uint8), absmax, table, block, shape,
                                                     torch.float32).reshape(shape)
    safetensors.torch.save_file(files, os.path.join(folder, "bitsandbytes.safetensors"))
    safetensors.torch.save_file(numbers, os.path.join(folder, "bitsandbytes_numbers.safetensors"))
    layers(folder)


def layers(folder):
    files, numbers = {}, {}
    for name, (rows, columns) in {"a": (5, 7), "model.b": (16, 64), "c": (1, 33)}.items():
        layer = nn.Linear8bitLt(columns, rows, has_fp16_weights=False)
        weight = torch.randn(rows, columns).half()
        weight[rows // 2, 3] = 40
        layer.load_state_dict({"weight": weight, "bias": torch.randn(rows)})
        state = layer.to("cpu").state_dict(prefix=name + ".")
        files.update((key, value.clone()) for key, value in state.items())
        numbers[name + ".weight"] = functional.int8_vectorwise_dequant(state[name + ".weight"], state[name + ".SCB"])
        numbers[name + ".bias"] = state[name + ".bias"]
    safetensors.torch.save_file(files, os.path.join(folder, "bitsandbytes_int8.safetensors"))
    safetensors.torch.save_file(numbers, os.path.join(folder, "bitsandbytes_int8_numbers.safetensors"))


main(sys.argv[1])
