#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models that transformers saves, converted to GGUF and loaded again by transformers, which undoes the names, the order
of rows and the norms itself: their logits are the same numbers.

usage: test_gguf_transformers.py DTINFO
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import harness

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
torch, transformers = harness.have("torch"), harness.have("transformers")
if any(module is None for module in (torch, transformers, harness.have("accelerate"), harness.have("gguf"))):
    print("skipped: needs torch, transformers, accelerate and gguf")
    sys.exit(77)

DTINFO = os.path.abspath(sys.argv[1])
WORDS = 96
COMMON = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "intermediate_size": 96,
          "vocab_size": WORDS, "max_position_embeddings": 4096, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
# What its GGUF loader supports; of qwen3 it takes 128 for the elements of a head, whatever the file says.
MODELS = {"llama": ("LlamaConfig", {}), "mistral": ("MistralConfig", {"head_dim": 32, "sliding_window": None}),
          "qwen2": ("Qwen2Config", {"tie_word_embeddings": True}), "qwen3": ("Qwen3Config", {"head_dim": 128}),
          "gemma2": ("Gemma2Config", {"head_dim": 32, "sliding_window": 16}),
          "gemma3": ("Gemma3TextConfig", {"head_dim": 32, "sliding_window": 16}),
          "phi3": ("Phi3Config", {"original_max_position_embeddings": 4096})}
# It cannot be loaded again, but its config.json and names are read.
OTHERS = {"gemma": ("GemmaConfig", {"head_dim": 32}),
          "llama3": ("LlamaConfig", {"rope_theta": 500000.0, "rope_scaling": {
              "factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 1024,
              "rope_type": "llama3"}})}


def convert(folder, name, config, options):
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(getattr(transformers, config)(**COMMON | options)).float().eval()
    for parameter in model.parameters():
        parameter.data += torch.randn_like(parameter) * 0.05
    model.save_pretrained(folder / name)
    keys = [f"tokenizer.ggml.{word}_token_id={i}" for i, word in enumerate(("padding", "bos", "eos"))]
    keys.append("tokenizer.ggml.tokens=" + json.dumps([f"t{i}" for i in range(WORDS)]))
    done = subprocess.run([DTINFO, "cast", folder / name, "fp32", "-o", folder / name / "m.gguf", "-q",
                           *(word for key in keys for word in ("--set", key))], stderr=subprocess.PIPE, text=True, check=False)
    return model, done


def main():
    tally = harness.Tally()
    ids = torch.arange(1, 41)[None] % WORDS
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        folder = pathlib.Path(folder)
        for name, (config, options) in MODELS.items():
            model, done = convert(folder, name, config, options)
            tally.check(f"{name}: converted", (done.returncode, done.stderr), (0, ""))
            again = transformers.AutoModelForCausalLM.from_pretrained(folder / name, gguf_file="m.gguf", dtype=torch.float32)
            tally.check(f"{name}: logits", bool(torch.equal(model(ids).logits, again.eval()(ids).logits)), True)
        for name, (config, options) in OTHERS.items():
            done = convert(folder, name, config, options)[1]
            tally.check(f"{name}: converted", (done.returncode, done.stderr), (0, ""))
    tally.finish()


main()
