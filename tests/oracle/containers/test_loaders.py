#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small Llama with random weights, quantized by dtinfo and loaded by transformers unmodified: every weight that
compressed-tensors decompresses has the bits of our own dequantization. With accelerate, bitsandbytes' layers load too,
and their states dequantize to the same values. The libraries' configuration classes accept the written config.

usage: test_loaders.py DTINFO
"""
import json
import logging
import os
import subprocess
import sys
import tempfile
import warnings

from harness import Tally, have

PROGRAM = os.path.abspath(sys.argv[1])
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
os.environ["TORCHDYNAMO_DISABLE"] = "1"
torch, safetensors = have("torch"), have("safetensors")
transformers = torch and have("transformers")
if not (safetensors and transformers and have("compressed_tensors")):
    print("skipped: needs torch, safetensors, transformers and compressed-tensors")
    sys.exit(77)
from compressed_tensors.quantization import QuantizationConfig
from safetensors.torch import load_file
from transformers.quantizers import AutoQuantizationConfig

TALLY = Tally()
KEPT = "*embed*,*norm*,lm_head*"
COMPRESSED = [["int4", "--per", "block", "--block", "32"], ["int4", "--per", "block", "--block", "32", "--affine"],
              ["uint4", "--per", "block", "--block", "64"], ["int8"], ["int8", "--per", "tensor"],
              ["int8", "--per", "channel"], ["fp8_e4m3fn"], ["fp8_e4m3fn", "--per", "channel"], ["mxfp4"], ["nvfp4"],
              ["mxfp8_e4m3"], ["mxfp6_e2m3"]]
OTHERS = [["nf4", "--layout", "bitsandbytes"], ["nf4", "--layout", "bitsandbytes", "--nested-absmax"],
          ["bnb_fp4", "--layout", "bitsandbytes"]]


def run(*words):
    done = subprocess.run([PROGRAM, "quant", *words, "--force", "-q"], stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit("quant %s: %s" % (" ".join(words), done.stderr.decode()))


def make(folder):
    torch.manual_seed(20261123)
    config = transformers.LlamaConfig(vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=2,
                                      num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64)
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder, max_shard_size="300KB")


def quantized(words, number):
    """The folder, and its tensors as dtinfo reads them."""
    folder = "out%d" % number
    run("model", *words, "-o", folder, "--keep", KEPT)
    run(folder, "bf16", "--dequant", "-o", "plain.safetensors")
    return folder, load_file("plain.safetensors")


def same(what, ours, theirs):
    TALLY.checked += ours.numel()
    if theirs is None or theirs.shape != ours.shape or theirs.dtype != ours.dtype:
        TALLY.differ(what, (ours.shape, ours.dtype), None if theirs is None else (theirs.shape, theirs.dtype))
    elif not torch.equal(ours.view(torch.int16), theirs.view(torch.int16)):
        TALLY.differ(what, "equal bits", "%d others" % (ours != theirs).sum())


def block_of(folder):
    with open(os.path.join(folder, "config.json")) as file:
        return json.load(file)["quantization_config"]


def check_kept(what, listed):
    """Loaders also detect quantized modules by shapes: so check that the list itself names the modules kept
    unquantized."""
    TALLY.check(what + ": modules that are kept", sorted(listed), ["lm_head", "model.embed_tokens"])


def check_compressed(words, number):
    what = " ".join(words)
    folder, ours = quantized(words, number)
    check_kept(what, block_of(folder)["ignore"])
    QuantizationConfig.model_validate(block_of(folder))
    how = transformers.CompressedTensorsConfig(run_compressed=False)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16, quantization_config=how)
    theirs = model.state_dict()
    TALLY.check(what + ": names", sorted(ours), sorted(theirs))
    changed = load_file("original.safetensors")
    TALLY.check(what + ": it was quantized",
                torch.equal(theirs["model.layers.0.mlp.up_proj.weight"], changed["model.layers.0.mlp.up_proj.weight"]),
                False)
    for name, tensor in ours.items():
        same("%s: %s" % (what, name), tensor, theirs.get(name))


def check_bitsandbytes(words, number):
    from bitsandbytes.backends.default import ops
    from bitsandbytes import functional
    what = " ".join(words)
    folder, ours = quantized(words, number)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    for name, tensor in ours.items():
        theirs = dict(model.named_parameters())[name]
        state = getattr(theirs, "quant_state", None)
        if state is not None:
            absmax = state.absmax
            if state.nested:
                absmax = functional.dequantize_blockwise(state.absmax, state.state2) + state.offset
            theirs = ops._dequantize_4bit_compute(theirs.data.reshape(-1), absmax, state.code, state.blocksize,
                                                  state.shape, torch.float32).reshape(state.shape).bfloat16()
        same("%s: %s" % (what, name), tensor, theirs.data)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make("model")
        subprocess.run([PROGRAM, "cast", "model", "bf16", "-o", "original.safetensors", "-q"], check=True)
        for number, words in enumerate(COMPRESSED):
            check_compressed(words, number)
        for number, words in enumerate(OTHERS, len(COMPRESSED)):
            run("model", *words, "-o", "other%d" % number, "--keep", KEPT)
            block, what = block_of("other%d" % number), " ".join(words)
            config = AutoQuantizationConfig.from_dict(block)
            check_kept(what, block["llm_int8_skip_modules"])
            TALLY.check(what + ": type", config.bnb_4bit_quant_type, {"nf4": "nf4", "bnb_fp4": "fp4"}[words[0]])
            TALLY.check(what + ": nested", config.bnb_4bit_use_double_quant, "--nested-absmax" in words)
            if have("accelerate") and have("bitsandbytes"):
                check_bitsandbytes(words, number)
        os.chdir("/")
    return TALLY.finish()


sys.exit(main())
