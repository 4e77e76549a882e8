#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rules of check --loader against the programs themselves: what the packages transformers and gguf list, and small
models in each layout that transformers loads. And the bits a weight against headers that are read here.

usage: test_loader_rules.py DTINFO
"""
import fnmatch
import fractions
import json
import logging
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import warnings

from harness import Tally, have

DTINFO = os.path.abspath(sys.argv[1])
TALLY = Tally()
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
os.environ["TORCHDYNAMO_DISABLE"] = "1"
RULES = json.loads(subprocess.run([DTINFO, "__introspect"], stdout=subprocess.PIPE, check=True).stdout)["loader_rules"]
KEPT = ["--keep", "*embed*,*norm*,lm_head*"]
# layouts of a small model: the options of quant, and whether transformers refuses or misreads it (or None: it loads)
LAYOUTS = {"int4": ["int4", "--per", "block", "--block", "32"], "fp8": ["fp8_e4m3fn"], "int8": ["int8", "--per", "channel"],
           "nvfp4": ["nvfp4"], "mxfp4": ["mxfp4"], "mxfp8": ["mxfp8_e4m3"],
           "modelopt fp8": ["fp8_e4m3fn", "--layout", "modelopt"], "modelopt nvfp4": ["nvfp4", "--layout", "modelopt"],
           "modelopt mxfp8": ["mxfp8_e4m3", "--layout", "modelopt"], "comfy int8": ["int8", "--layout", "comfy"],
           "comfy fp8": ["fp8_e4m3fn", "--layout", "comfy"], "comfy nvfp4": ["nvfp4", "--layout", "comfy"]}

BARE = ["int4", "fp8", "int8", "nvfp4", "mxfp8", "modelopt fp8", "modelopt nvfp4"]   # once more without quantization_config


def run(*words):
    done = subprocess.run([DTINFO, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def rule(loader, topic, subject):
    """The verdict of the first row that matches, without a release."""
    for row in RULES:
        if row["loader"] == loader and row["topic"] == topic and \
                any(fnmatch.fnmatchcase(subject, pattern) for pattern in row["subject"].split(",")):
            return row["verdict"]
    return None


def named(loader, topic, verdict):
    """The subjects of rows that are names, not patterns."""
    return {name for row in RULES if (row["loader"], row["topic"], row["verdict"]) == (loader, topic, verdict)
            for name in row["subject"].split(",") if "*" not in name}


def check_lists():
    """Methods and architectures of transformers, types of gguf."""
    auto = have("torch") and have("transformers")
    if auto:
        from transformers.quantizers import auto
        mapping = {name.replace("_4bit", "").replace("_8bit", "") for name in auto.AUTO_QUANTIZATION_CONFIG_MAPPING}
        for name in sorted(mapping):
            TALLY.check(f"method {name}", rule("transformers", "method", name), "refuses" if name == "nvfp4" else "loads")
        TALLY.check("methods that transformers lacks", sorted(named("transformers", "method", "loads") - mapping), [])
    gguf = have("gguf")
    if auto and gguf:
        from transformers import modeling_gguf_pytorch_utils as models
        from transformers.integrations.gguf.gguf_conversion_mapping import GGUF_ARCHS
        alias = {"qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe", "gpt_oss": "gpt-oss", "minimax_m2": "minimax-m2"}
        known = {alias.get(name, name) for name in models.GGUF_SUPPORTED_ARCHITECTURES} | set(GGUF_ARCHS)
        known -= {"general", "tokenizer"}
        for name in sorted(known):
            TALLY.check(f"architecture {name}", rule("transformers", "arch", name), "loads")
        source = pathlib.Path(models.__file__).read_text(encoding="utf-8")
        others = named("transformers", "arch", "loads") - known
        TALLY.check("architectures that transformers lacks", sorted(name for name in others if name not in source), [])
    if gguf:
        from gguf import quants
        plain = {"F32": "fp32", "F16": "fp16"}
        for kind in gguf.GGMLQuantizationType:
            able = kind.name in plain or kind in quants._type_traits
            subject = "llama " + plain.get(kind.name, kind.name.lower())
            if kind.name != "F64" and (kind.name[0] != "I" or kind.name[1] == "Q"):
                TALLY.check(f"type {kind.name}", rule("transformers", "gguf", subject), "loads" if able else "refuses")
            if kind.name not in ("Q8_1", "Q8_K") and (kind.name[0] not in "IF" or kind.name[1] == "Q"):
                TALLY.check(f"type {kind.name} of llama.cpp", rule("llama.cpp", "gguf", subject), "loads")


def header(path):
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        tensors = json.loads(file.read(length))
    tensors.pop("__metadata__", None)
    return tensors


def elements(tensor):
    count = 1
    for side in tensor["shape"]:
        count *= side
    return count


def check_bits(name, folder, weights):
    """The bound is exact: the figure holds, the decimal below it fails; so is the JSON."""
    stored = sum(t["data_offsets"][1] - t["data_offsets"][0] for t in header(folder / "model.safetensors").values())
    exact = fractions.Fraction(8 * stored, weights)
    for places in (1, 3, 9, 14):
        above = -(-exact * 10**places // 1)
        for digits in (above, above - 1):
            text = str(int(digits // 10**places)) + "." + str(int(digits % 10**places)).zfill(places)
            code = run("check", folder, "--max-bits-per-weight", text)[0]
            TALLY.check(f"{name}: {text} for {float(exact)}", code, 0 if fractions.Fraction(text) >= exact else 1)
    answer = json.loads(run("check", folder, "--max-bits-per-weight", "99", "--json")[1])
    TALLY.check(f"{name}: figure", answer["files"][0]["assertions"][0]["figure"]["value"], float(exact))


def outcome(transformers, torch, folder, plain):
    """What transformers makes of a model."""
    how = {}
    config = json.loads((folder / "config.json").read_text())
    if config.get("quantization_config", {}).get("quant_method") == "compressed-tensors":
        how["quantization_config"] = transformers.CompressedTensorsConfig(run_compressed=False)
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16, **how)
    except (RuntimeError, ValueError):
        return "refuse"
    state = model.state_dict()
    same = all(name in state and torch.equal(state[name].float(), tensor.float()) for name, tensor in plain.items())
    return None if same else "misread"


def check_load(transformers, torch, name, out, plain):
    code, text, _ = run("check", out, "--loader", "transformers", "--json")
    failures = json.loads(text)["files"][0]["assertions"][0]["failures"]
    known = {failure["effect"] for failure in failures} - {"unknown"}
    theirs = outcome(transformers, torch, out, plain)
    TALLY.check(f"{name}: transformers", (code, known), (1 if theirs else 0, {theirs} if theirs else set()))


def check_models(folder):
    torch, transformers = have("torch"), have("transformers")
    if not (torch and transformers and have("safetensors") and have("compressed_tensors")):
        print("without models: needs torch, transformers, safetensors and compressed-tensors")
        return
    from safetensors.torch import load_file, save_file
    torch.manual_seed(36)
    config = transformers.LlamaConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=1,
                                      num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder / "model")
    weights = sum(map(elements, header(folder / "model/model.safetensors").values()))
    check_bits("plain", folder / "model", weights)
    for name, words in LAYOUTS.items():
        out = folder / name.replace(" ", "_")
        TALLY.check(f"{name}: made", run("quant", folder / "model", *words, *KEPT, "-o", out, "-q")[0], 0)
        TALLY.check(f"{name}: numbers", run("quant", out, "bf16", "--dequant", "-o", folder / "plain.safetensors", "-q", "--force")[0], 0)
        plain = load_file(folder / "plain.safetensors")
        check_load(transformers, torch, name, out, plain)
        if "comfy" not in name:
            check_bits(name, out, weights)
        if name == "nvfp4":     # modules that others fuse, with a tensor scale each: transformers does not fuse them
            tensors = load_file(out / "model.safetensors")
            tensors["model.layers.0.self_attn.k_proj.weight_global_scale"] *= 2
            save_file(tensors, out / "model.safetensors")
            run("quant", out, "bf16", "--dequant", "-o", folder / "plain.safetensors", "-q", "--force")
            plain = load_file(folder / "plain.safetensors")
            TALLY.check("a scale each: vllm", run("check", out, "--loader", "vllm")[0], 1)
            check_load(transformers, torch, "nvfp4, a scale each", out, plain)
        config = json.loads((out / "config.json").read_text())
        if name in BARE:
            TALLY.check(f"{name}: a block", bool(config.pop("quantization_config", None)) or "fp8" in name, True)
            (out / "config.json").write_text(json.dumps(config))
            check_load(transformers, torch, name + " without quantization_config", out, plain)


def check_random(folder):
    """Files of plain floats of random dtypes and sizes, with integers that do not count."""
    sizes = {"F64": 8, "F32": 4, "BF16": 2, "F8_E5M2": 1, "I32": 4}
    draw = random.Random(36)
    for number in range(20):
        at, tensors = 0, {}
        for i in range(draw.randint(1, 5)):
            dtype = draw.choice(list(sizes))
            count = draw.randint(1, 999)
            tensors[f"t{i}"] = {"dtype": dtype, "shape": [count], "data_offsets": [at, at + sizes[dtype] * count]}
            at += sizes[dtype] * count
        tensors["w"] = {"dtype": "F16", "shape": [7], "data_offsets": [at, at + 14]}
        text = json.dumps(tensors).encode()
        path = folder / f"r{number}" / "model.safetensors"
        path.parent.mkdir()
        path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(at + 14))
        floats = [t for t in tensors.values() if t["dtype"] != "I32"]
        stored = sum(t["data_offsets"][1] - t["data_offsets"][0] for t in floats)
        exact = fractions.Fraction(8 * stored, sum(map(elements, floats)))
        answer = json.loads(run("check", path, "--max-bits-per-weight", "16.5", "--json")[1])["files"][0]["assertions"][0]
        TALLY.check(f"random {number}", (answer["figure"]["value"], answer["ok"]), (float(exact), exact <= fractions.Fraction("16.5")))


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_lists()
        check_random(pathlib.Path(folder))
        check_models(pathlib.Path(folder))
    TALLY.finish()


main()
