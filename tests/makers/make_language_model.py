#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a tiny language model as Hugging Face stores it: config.json and model.safetensors, the same on every machine.

    make_language_model.py FOLDER [WIDTH]

One layer of llama, with two heads and one of keys and values; WIDTH: columns of its matrices, 32. Uses only the standard
library.
"""
import json
import pathlib
import struct
import sys

import make_checkpoint
import tensor_files

HIDDEN = int(sys.argv[2]) if len(sys.argv) > 2 else 32
KEYS, INNER, WORDS = HIDDEN // 2, HIDDEN, 64
LAYER = "model.layers.0."
SHAPES = {"model.embed_tokens.weight": (WORDS, HIDDEN), LAYER + "input_layernorm.weight": (HIDDEN,),
          LAYER + "self_attn.q_proj.weight": (HIDDEN, HIDDEN), LAYER + "self_attn.k_proj.weight": (KEYS, HIDDEN),
          LAYER + "self_attn.v_proj.weight": (KEYS, HIDDEN), LAYER + "self_attn.o_proj.weight": (HIDDEN, HIDDEN),
          LAYER + "post_attention_layernorm.weight": (HIDDEN,), LAYER + "mlp.gate_proj.weight": (INNER, HIDDEN),
          LAYER + "mlp.up_proj.weight": (INNER, HIDDEN), LAYER + "mlp.down_proj.weight": (HIDDEN, INNER),
          "model.norm.weight": (HIDDEN,), "lm_head.weight": (WORDS, HIDDEN)}
CONFIG = {"architectures": ["LlamaForCausalLM"], "hidden_size": HIDDEN, "intermediate_size": INNER, "vocab_size": WORDS,
          "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 2048,
          "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "tie_word_embeddings": False}


def bfloat16(numbers):
    return b"".join(struct.pack("<I", struct.unpack("<I", struct.pack("<f", number))[0])[2:] for number in numbers)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for seed, (name, shape) in enumerate(SHAPES.items()):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        numbers = make_checkpoint.normals(count, seed) if len(shape) > 1 else [1.0] * count
        tensors[name] = ("BF16", shape, bfloat16(numbers))
    tensor_files.write_file(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=1) + "\n", encoding="utf-8")


main()
