#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo quant --layout mlx` against MLX and mlx-lm, if they are installed: words, scales and biases bit for bit as
mx.quantize() makes them on the CPU, of each width, group length and dtype; the numbers of mx.dequantize(); and mlx-lm
loads what was written, with several schemes in one file.

usage: test_quant_mlx_peer.py DTINFO [--long]
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

from harness import QUICK, Tally, have
from tensor_files import read_file, write_file

if not have("numpy") or not importlib.util.find_spec("mlx"):
    print("skipped: needs numpy and mlx")
    sys.exit(77)
import mlx.core as mx
import numpy as np

import mlx_groups as model

PROGRAM = os.path.abspath(sys.argv[1])
LONG = "--long" in sys.argv[2:]
TALLY, RANDOM = Tally(), np.random.default_rng(20261130)
ROWS = 2000 if LONG else 120 if QUICK else 480
KINDS = {"F32": mx.float32, "F16": mx.float16, "BF16": mx.bfloat16}
mx.set_default_device(mx.cpu)


def run(*words):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {done.returncode}: {done.stderr.decode()}")


def make(tensors, config):
    os.makedirs("in", exist_ok=True)
    write_file("in/model.safetensors", {name: (dtype, array.shape, array.tobytes())
                                        for name, (dtype, array) in tensors.items()})
    with open("in/config.json", "w") as file:
        json.dump(config, file)


def quantize(dtype, *words):
    subprocess.run(["rm", "-rf", "out"], check=True)
    run("quant", "in", dtype, "--layout", "mlx", "-o", "out", *words)
    return read_file("out/model.safetensors")


def raw(array):
    """The bytes of an array of MLX."""
    return np.array(array.view(mx.uint16) if array.dtype == mx.bfloat16 else array).tobytes()


def of(stored, dtype):
    return mx.array(stored).view(mx.bfloat16) if dtype == "BF16" else mx.array(stored)


def each_width():
    """Ranges beyond the largest number are left out: there MLX stores infinite scales, too, but computes codes from NaN."""
    for length in model.LENGTHS:
        tensors = {}
        for dtype in KINDS:
            x = model.hard_groups(RANDOM, ROWS, length).reshape(ROWS // 2, -1)
            if dtype == "F16":
                x = np.clip(x, -65504, 65504)
            tensors[dtype + ".weight"] = (dtype, model.stored(x, dtype))
        make(tensors, {"model_type": "llama"})
        for bits in model.WIDTHS:
            parts = quantize(f"uint{bits}", "--block", str(length))
            run("quant", "--dequant", "out", "fp32", "-o", "back.safetensors", "--force")
            back = read_file("back.safetensors")
            for dtype in KINDS:
                what = f"{bits} bits, groups of {length}, {dtype}"
                made = mx.quantize(of(tensors[dtype + ".weight"][1], dtype), group_size=length, bits=bits)
                for end, want in zip((".weight", ".scales", ".biases"), made):
                    TALLY.check(what + end, parts[dtype + end][2] == raw(want), True)
                number = mx.dequantize(*made, group_size=length, bits=bits).astype(mx.float32)
                TALLY.check(what + ": numbers", np.array_equal(np.frombuffer(back[dtype + ".weight"][2], np.float32),
                                                              np.array(number).reshape(-1), equal_nan=True), True)


def each_mode():
    """MLX computes blocks on the CPU in the dtype of the numbers, and takes the first of the nearest elements; quant does what
    its kernel for GPUs does, from fp32 and with ties to even. So scales are the same, but for zeros and subnormal numbers, and
    other codes of fp32 are ties or zeros of the other sign."""
    ties = {"mxfp8": [], "mxfp4": [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5], "nvfp4": [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5]}
    for mode, name in (("mxfp4", "mxfp4"), ("mxfp8", "mxfp8_e4m3"), ("nvfp4", "nvfp4")):
        length = model.MODES[mode][1]
        for dtype in ("F32", "BF16"):
            x = model.hard_groups(RANDOM, 12 * ROWS // 4, length)
            kind = np.arange(len(x)) % 12
            x = model.numbers(model.stored(x[(kind != 3) & (kind != 4)], dtype), dtype)
            make({"a.weight": (dtype, model.stored(x, dtype))}, {"model_type": "llama"})
            parts = quantize(name)
            words, scales = mx.quantize(of(model.stored(x, dtype), dtype), mode=mode)
            TALLY.check(f"{mode}, {dtype}: scales", parts["a.scales"][2] == raw(scales), True)
            if dtype == "BF16" and mode == "nvfp4":
                continue    # quotients are rounded to bf16 there
            theirs, own = np.array(words).view(np.uint8), np.frombuffer(parts["a.weight"][2], np.uint8).reshape(len(x), -1)
            if mode != "mxfp8":
                theirs, own = (np.stack([codes & 15, codes >> 4], 2).reshape(len(x), -1) for codes in (theirs, own))
            factor = np.exp2(np.array(scales).astype(np.float64) - 127) if mode != "nvfp4" else model.E4M3[np.array(scales)]
            with np.errstate(all="ignore"):
                quotient = np.abs(x / factor.astype(np.float32))
            # far above a saturated scale all distances are the same to it, and the first element is 0
            excused = np.isin(quotient, ties[mode]) | ((theirs == 0) & (own == 8)) | (quotient > 1e6)
            TALLY.check(f"{mode}, {dtype}: codes", int(((theirs != own) & ~excused).sum()), 0)


def loaded():
    """A tiny llama with three schemes and a matrix of floats."""
    if not importlib.util.find_spec("mlx_lm"):
        TALLY.skip("mlx-lm is not installed")
        return
    from pathlib import Path
    from mlx_lm.utils import load_model
    size, wide, tokens = 128, 256, 96
    config = {"model_type": "llama", "hidden_size": size, "num_hidden_layers": 1, "intermediate_size": wide,
              "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "vocab_size": tokens,
              "tie_word_embeddings": False}
    shapes = {"model.embed_tokens": (tokens, size), "lm_head": (tokens, size), "model.norm": (size,)}
    for name, shape in (("self_attn.q_proj", (size, size)), ("self_attn.k_proj", (size // 2, size)),
                        ("self_attn.v_proj", (size // 2, size)), ("self_attn.o_proj", (size, size)),
                        ("mlp.gate_proj", (wide, size)), ("mlp.up_proj", (wide, size)), ("mlp.down_proj", (size, wide)),
                        ("input_layernorm", (size,)), ("post_attention_layernorm", (size,))):
        shapes["model.layers.0." + name] = shape
    make({name + ".weight": ("BF16", model.stored(RANDOM.standard_normal(shape).astype(np.float32) / 8, "BF16"))
          for name, shape in shapes.items()}, config)
    for words in (("uint4",), ("uint4", "--type", "*.down_proj.*=uint8,*.q_proj.*=uint6,*.v_proj.*=uint3"),
                  ("uint2", "--block", "32", "--keep", "lm_head.*"),
                  ("mxfp4", "--type", "*.down_proj.*=nvfp4,*.q_proj.*=mxfp8_e4m3,*.v_proj.*=uint3")):
        quantize(*words)
        built, said = load_model(Path("out"))
        reference, _ = load_model(Path("in"))
        leaves = dict(built.named_modules())
        for name, module in reference.named_modules():
            if not hasattr(module, "to_quantized"):
                continue
            own = said["quantization"].get(name, said["quantization"])
            want = module.weight
            if own:
                TALLY.check(f"{words}: {name}", (leaves[name].bits, leaves[name].group_size), (own["bits"], own["group_size"]))
                TALLY.check(f"{words}: {name}: mode", leaves[name].mode, own["mode"])
                if own["mode"] != "affine":
                    continue    # see each_mode()
                parts = mx.quantize(want, group_size=own["group_size"], bits=own["bits"])
                for part, mine in zip(parts, (leaves[name].weight, leaves[name].scales, leaves[name].biases)):
                    TALLY.check(f"{words}: {name}: part", raw(mine) == raw(part), True)
            else:
                TALLY.check(f"{words}: {name}", raw(leaves[name].weight) == raw(want), True)
        out = built(mx.array([[1, 2, 3]]))
        TALLY.check(f"{words}: it runs", bool(mx.isfinite(out).all()), True)


def main():
    with tempfile.TemporaryDirectory(prefix="dtinfo-mlx-peer-") as folder:
        os.chdir(folder)
        each_width()
        each_mode()
        loaded()
        os.chdir("/")
    TALLY.finish()


if __name__ == "__main__":
    main()
