#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the picture of docs/advise.md: the frontier of a model with the shape of a published one and synthetic weights.

    tools/advise-picture.py --program build/dtinfo [--folder FOLDER]      writes docs/advise-frontier.svg

The model takes 1 GB, in a temporary folder of FOLDER. Its weights are drawn by a seed: matrices have Student's t with 5 degrees of
freedom, as heavy-tailed as those of trained models, rows of different sizes, and a deviation that differs by layer.
"""
import argparse
import json
import pathlib
import struct
import subprocess
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS, HIDDEN, INNER, KEYS, WORDS = 24, 896, 4864, 128, 151936      # of Qwen2.5-0.5B
CONFIG = {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": HIDDEN, "intermediate_size": INNER,
          "vocab_size": WORDS, "num_hidden_layers": LAYERS, "num_attention_heads": 14, "num_key_value_heads": 2,
          "max_position_embeddings": 32768, "rms_norm_eps": 1e-06, "rope_theta": 1e6, "tie_word_embeddings": True}


def shapes():
    yield "model.embed_tokens.weight", (WORDS, HIDDEN)
    for layer in range(LAYERS):
        start = f"model.layers.{layer}."
        for part, shape in (("self_attn.q_proj", (HIDDEN, HIDDEN)), ("self_attn.k_proj", (KEYS, HIDDEN)), ("self_attn.v_proj", (KEYS, HIDDEN)),
                            ("self_attn.o_proj", (HIDDEN, HIDDEN)), ("mlp.gate_proj", (INNER, HIDDEN)), ("mlp.up_proj", (INNER, HIDDEN)),
                            ("mlp.down_proj", (HIDDEN, INNER))):
            yield start + part + ".weight", shape
        yield start + "input_layernorm.weight", (HIDDEN,)
        yield start + "post_attention_layernorm.weight", (HIDDEN,)
    yield "model.norm.weight", (HIDDEN,)


def weights(random, shape):
    if len(shape) == 1:
        numbers = numpy.ones(shape, numpy.float32)
    else:
        scale = 0.02 * numpy.exp(random.normal(0, 0.3)) * numpy.exp(random.normal(0, random.uniform(0.05, 0.5), (shape[0], 1)))
        numbers = (random.standard_t(5, shape) * scale).astype(numpy.float32)
    return (numbers.view(numpy.uint32) >> 16).astype("<u2").tobytes()


def write_model(folder):
    random = numpy.random.Generator(numpy.random.PCG64(37))
    header, at = {}, 0
    for name, shape in shapes():
        size = 2 * int(numpy.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, shape in shapes():
            file.write(weights(random, shape))
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", default=str(ROOT / "build/dtinfo"))
    parser.add_argument("--folder", help="where the temporary folder is")
    args = parser.parse_args()
    program = str(pathlib.Path(args.program).resolve())
    with tempfile.TemporaryDirectory(dir=args.folder) as work:
        folder = pathlib.Path(work) / "synthetic-0.5B"
        folder.mkdir()
        write_model(folder)
        subprocess.run([program, "advise", folder.name, "--fit", "600MB", "--svg", str(ROOT / "docs/advise-frontier.svg"), "--force",
                        "--progress", "never"], cwd=work, check=True)


if __name__ == "__main__":
    main()
