#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare --map: checkpoints against their GGUF, both ways, and files by rules.

The GGUF files are made here from the checkpoint by numpy, with what llama.cpp's converter does for each architecture:
its names (gguf-py's own table), the rows of q and k reordered by a reshape, 1 added to norms; gguf-py quantizes and
writes them. Every figure is numpy's, of the checkpoint's numbers against the numbers before that change. Rules are
compared with Python's re.

usage: test_compare_map.py DTINFO
"""
import json
import math
import os
import random
import re
import sys

import harness

gguf, np, ml_dtypes, safetensors = (harness.have(name) for name in ("gguf", "numpy", "ml_dtypes", "safetensors"))
if not (gguf and np and ml_dtypes and safetensors):
    print("skipped: needs gguf, numpy, ml_dtypes and safetensors")
    sys.exit(77)
from safetensors.numpy import save_file

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run
RANDOM = np.random.default_rng(32)
TYPES = gguf.GGMLQuantizationType
HEADS, KV, HEAD, HIDDEN, FFN, VOCAB, LAYERS = 8, 2, 16, 128, 256, 96, 2


def checkpoint(arch, dtype, biases=False):
    """name -> array, with the modules of the architecture."""
    def matrix(*shape):
        return RANDOM.normal(0, 0.05, shape).astype(dtype)
    norm = lambda n: (RANDOM.normal(0, 0.2, n) + (0 if arch.startswith("gemma") else 1)).astype(dtype)
    tensors = {"model.embed_tokens.weight": matrix(VOCAB, HIDDEN), "model.norm.weight": norm(HIDDEN)}
    if not arch.startswith("gemma"):
        tensors["lm_head.weight"] = matrix(VOCAB, HIDDEN)
    for layer in range(LAYERS):
        at = "model.layers.%d." % layer
        attention, mlp = at + "self_attn.", at + "mlp."
        if arch == "phi3":
            tensors[attention + "qkv_proj.weight"] = matrix((HEADS + 2 * KV) * HEAD, HIDDEN)
            tensors[mlp + "gate_up_proj.weight"] = matrix(2 * FFN, HIDDEN)
        else:
            for part, heads in (("q", HEADS), ("k", KV), ("v", KV)):
                tensors[attention + part + "_proj.weight"] = matrix(heads * HEAD, HIDDEN)
                if biases:
                    tensors[attention + part + "_proj.bias"] = matrix(heads * HEAD)
            tensors[mlp + "gate_proj.weight"] = matrix(FFN, HIDDEN)
            tensors[mlp + "up_proj.weight"] = matrix(FFN, HIDDEN)
        tensors[attention + "o_proj.weight"] = matrix(HIDDEN, HEADS * HEAD)
        tensors[mlp + "down_proj.weight"] = matrix(HIDDEN, FFN)
        names = ["input_layernorm", "post_attention_layernorm"]
        if arch in ("gemma2", "gemma3"):
            names += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
        for name in names:
            tensors[at + name + ".weight"] = norm(HIDDEN)
        if arch in ("qwen3", "gemma3"):
            tensors[attention + "q_norm.weight"] = norm(HEAD)
            tensors[attention + "k_norm.weight"] = norm(HEAD)
    return tensors


def permute(weights, heads):
    """As convert_hf_to_gguf.py reorders rows for its rope."""
    return (weights.reshape(heads, 2, weights.shape[0] // heads // 2, *weights.shape[1:]).swapaxes(1, 2)
            .reshape(weights.shape))


def changed(arch, name, x):
    """The numbers that the GGUF holds, in fp32, before they are stored."""
    x = x if x.dtype == np.float16 else x.astype(np.float32)
    if arch == "llama" and re.search(r"q_proj\.", name):
        return permute(x, HEADS)
    if arch == "llama" and re.search(r"k_proj\.", name):
        return permute(x, KV)
    if arch.startswith("gemma") and name.endswith("norm.weight"):
        return x + x.dtype.type(1)
    return x


def write_gguf(path, arch, tensors, kind, heads=True, unchanged=False, more=()):
    """Writes the GGUF; returns name in the checkpoint -> (name in the GGUF, numbers in the checkpoint's order)."""
    numbers = {arch_name: arch_id for arch_id, arch_name in gguf.MODEL_ARCH_NAMES.items()}
    table = gguf.get_tensor_name_map(numbers[arch], LAYERS)
    writer = gguf.GGUFWriter(path, arch)
    if heads:
        writer.add_head_count(HEADS)
        writer.add_head_count_kv(KV)
    result = {}
    for name, x in tensors.items():
        other = table.get_name(name, try_suffixes=(".weight", ".bias"))
        data = (x.astype(np.float32) if unchanged else changed(arch, name, x)).astype(np.float32)
        order = changed("llama" if arch == "llama" else "", name,
                        np.arange(data.size, dtype=np.float32).reshape(data.shape)).astype(np.int64).reshape(-1)
        as_kind = kind if data.ndim > 1 else TYPES.F32
        packed = gguf.quants.quantize(data, as_kind)
        writer.add_tensor(other, packed, raw_dtype=as_kind)
        stored = gguf.quants.dequantize(packed, as_kind).astype(np.float32).reshape(-1)
        back = np.empty_like(stored)
        back[order] = stored  # element i of the GGUF is element order[i] of the checkpoint
        result[name] = (other, back.reshape(x.shape), order)
    for name, x in more:
        writer.add_tensor(name, x)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return result


def compare(*words, status=0):
    return json.loads(run("compare", *words, "--json", status=status)[0])


def near(figure, want, what):
    require(abs(figure["value"] - want) <= 1e-12 * abs(want), what, figure, want)


def judge(answer, arch, tensors, made, from_gguf):
    """Every pair against numpy; the GGUF's figures are of numbers in the checkpoint's order."""
    seen = 0
    side, other = ("b", "a") if from_gguf else ("a", "b")
    squares = signal = 0.0
    for pair in answer["tensors"]:
        if not pair["a"] or not pair["b"]:
            continue
        name = pair[side]["name"]
        require(pair[other]["name"] == made[name][0], "names of", name, pair[other]["name"])
        x = changed("" if arch == "llama" else arch, name, tensors[name]).astype(np.float32).astype(np.float64)
        y, order = made[name][1].astype(np.float64), made[name][2]
        a, b = (y, x) if from_gguf else (x, y)
        if from_gguf:  # in the order of the first file
            a, b = a.reshape(-1)[order].reshape(x.shape), b.reshape(-1)[order].reshape(x.shape)
        error, figures = np.abs(a - b), pair["figures"]
        require(figures["differing"] == int((a != b).sum()), name, "differing", figures["differing"])
        require(figures["max_absolute"]["value"] == error.max(), name, "max", figures["max_absolute"])
        if error.any():
            at = [int(i) for i in np.unravel_index(error.argmax(), error.shape)]
            require(figures["max_absolute_at"] == at, name, "place", figures["max_absolute_at"], at)
            near(figures["nmse"], (error * error).sum() / (a * a).sum(), name + " nmse")
            near(figures["mean_absolute"], error.mean(), name + " mean")
        near(figures["cosine"], (a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum()), name + " cosine")
        squares, signal = squares + (error * error).sum(), signal + (a * a).sum()
        permuted = arch == "llama" and re.search(r"\.[qk]_proj\.", name)
        heads = (HEADS if ".q_" in name else KV) if permuted else None
        require(pair["heads"] == heads, name, "heads", pair["heads"])
        require(pair["plus_one"] == (arch.startswith("gemma") and name.endswith("norm.weight")), name, "one")
        seen += 1
    require(seen == len(tensors), arch, "pairs", seen, len(tensors))
    if squares:
        near(answer["total"]["nmse"], squares / signal, arch + " total nmse")


def models():
    cases = [(arch, np.dtype(ml_dtypes.bfloat16), kind) for arch in ("llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "phi3")
             for kind in (TYPES.BF16, TYPES.Q8_0)]
    cases += [("llama", np.float16, TYPES.F16), ("llama", np.float32, TYPES.F32), ("llama", np.float32, TYPES.Q4_0),
              ("gemma2", np.float16, TYPES.F16), ("gemma2", np.float32, TYPES.F32)]
    for arch, dtype, kind in cases:
        tensors = checkpoint(arch, dtype, biases=arch in ("llama", "qwen2"))
        save_file(tensors, "hf.safetensors")
        made = write_gguf("m.gguf", arch, tensors, kind)
        status = 1 if kind in (TYPES.Q8_0, TYPES.Q4_0) else 0
        for threads in ("1", "all"):
            judge(compare("hf.safetensors", "m.gguf", "--map", "hf-gguf", "--threads", threads, status=status), arch, tensors,
                  made, False)
        judge(compare("m.gguf", "hf.safetensors", "--map", "hf-gguf", status=status), arch, tensors, made, True)
        if status == 0 and arch == "llama":
            run("compare", "hf.safetensors", "m.gguf", "--map", "hf-gguf", "--max-ulp", "0")
            write_gguf("plain.gguf", arch, tensors, kind, unchanged=True)
            wrong = compare("hf.safetensors", "plain.gguf", "--map", "hf-gguf", status=1)
            differ = {pair["a"]["name"] for pair in wrong["tensors"] if pair["outcome"] == "different"}
            require(differ == {n for n in tensors if re.search(r"\.[qk]_proj\.", n)}, "rows not reordered", differ)
    print("models:", DTINFO.checks, "checks")


def heads():
    tensors = checkpoint("llama", np.float32)
    save_file(tensors, "hf.safetensors")
    made = write_gguf("m.gguf", "llama", tensors, TYPES.F32, heads=False)
    answer = compare("hf.safetensors", "m.gguf", "--map", "hf-gguf", status=3)
    unknown = [pair for pair in answer["tensors"] if pair["outcome"] == "unreadable"]
    require(len(unknown) == 2 * LAYERS and all("number of heads" in pair["reason"] for pair in unknown), "no heads", unknown)
    for config in ({"num_attention_heads": HEADS, "num_key_value_heads": KV},
                   {"x": [{"num_attention_heads": 3}], "text_config": {"num_attention_heads": HEADS, "num_key_value_heads": KV}}):
        with open("config.json", "w") as file:
            json.dump(config, file)
        judge(compare("m.gguf", "hf.safetensors", "--map", "hf-gguf"), "llama", tensors, made, True)
        judge(compare("hf.safetensors", "m.gguf", "--map", "hf-gguf"), "llama", tensors, made, False)
    with open("config.json", "w") as file:
        file.write('{"num_attention_heads": 7}')
    answer = compare("hf.safetensors", "m.gguf", "--map", "hf-gguf", status=3)
    require(sum("not those of its heads" in (pair["reason"] or "") for pair in answer["tensors"]) == 2 * LAYERS, "7 heads")
    with open("config.json", "w") as file:
        file.write('{"num_attention_heads": ')
    require("config.json" in run("compare", "hf.safetensors", "m.gguf", "--map", "hf-gguf", status=3)[1], "a broken config")
    os.remove("config.json")
    print("heads:", DTINFO.checks, "checks")


def surplus():
    """Tensors that only one side has; names of other checkpoints; a selection by either name."""
    tensors = checkpoint("llama", np.float32)
    made = write_gguf("m.gguf", "llama", tensors, TYPES.F32, more=[("rope_freqs.weight", np.ones(HEAD // 2, np.float32))])
    save_file(tensors | {"model.layers.0.self_attn.rotary_emb.inv_freq": np.ones(HEAD // 2, np.float32)}, "hf.safetensors")
    answer = compare("hf.safetensors", "m.gguf", "--map", "hf-gguf", status=1)
    alone = {(pair["a"] or pair["b"])["name"] for pair in answer["tensors"] if not (pair["a"] and pair["b"])}
    require(alone == {"rope_freqs.weight", "model.layers.0.self_attn.rotary_emb.inv_freq"}, "alone", alone)
    run("compare", "m.gguf", "hf.safetensors", "--map", "hf-gguf", "--ignore-missing", "-q")
    for only in ("blk.0.attn_q.weight,blk.0.attn_k.*", "model.layers.0.self_attn.[qk]_proj.weight"):
        answer = compare("hf.safetensors", "m.gguf", "--map", "hf-gguf", "--only", only)
        require(sorted(pair["b"]["name"] for pair in answer["tensors"]) == ["blk.0.attn_k.weight", "blk.0.attn_q.weight"], only)
    save_file({name.replace("model.", "model.language_model."): x for name, x in tensors.items()}, "vl.safetensors")
    run("compare", "vl.safetensors", "m.gguf", "--map", "hf-gguf", "--ignore-missing", "-q")
    # a checkpoint of shards in a folder of its own, and names that a rule of a file gives
    os.mkdir("shards")
    half = sorted(tensors)[::2]
    save_file({name: tensors[name] for name in half}, "shards/model-00001-of-00002.safetensors")
    save_file({name: x for name, x in tensors.items() if name not in half}, "shards/model-00002-of-00002.safetensors")
    with open("shards/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {}, "weight_map": {name: "model-0000%d-of-00002.safetensors" % (1 + (name not in half)) for name in tensors}}, file)
    write_gguf("bare.gguf", "llama", tensors, TYPES.F32, heads=False)
    with open("shards/config.json", "w") as file:
        json.dump({"num_attention_heads": HEADS, "num_key_value_heads": KV}, file)
    run("compare", "shards", "bare.gguf", "--map", "hf-gguf")
    run("compare", "bare.gguf", "shards", "--map", "hf-gguf")
    # a quantized checkpoint: the same figures as against the checkpoint itself, whose GGUF is exact
    run("quant", "hf.safetensors", "int8", "--per", "channel", "-o", "q.safetensors", "-q", "--force")
    direct = {p["a"]["name"]: p["figures"] for p in compare("hf.safetensors", "q.safetensors", status=1)["tensors"]}
    for words, side in ((("m.gguf", "q.safetensors"), "b"), (("q.safetensors", "m.gguf"), "a")):
        for pair in compare(*words, "--map", "hf-gguf", status=1)["tensors"]:
            if pair["a"] and pair["b"]:
                want, got = direct[pair[side]["name"]], pair["figures"]
                require(got["differing"] == want["differing"] and got["max_absolute"] == want["max_absolute"],
                        "a quantized checkpoint", pair["a"]["name"], got, want)
    print("one side, selections, quantized checkpoints:", DTINFO.checks, "checks")


def refusals():
    tensors = checkpoint("llama", np.float32)
    save_file(tensors, "hf.safetensors")
    write_gguf("m.gguf", "llama", tensors, TYPES.F32)
    for words, said in ((("hf.safetensors", "hf.safetensors"), "neither"), (("m.gguf", "m.gguf"), "each")):
        require(said in run("compare", *words, "--map", "hf-gguf", status=3)[1], words)
    writer = gguf.GGUFWriter("x.gguf", "rwkv7")
    writer.add_tensor("x", np.zeros(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    require("'rwkv7'" in run("compare", "hf.safetensors", "x.gguf", "--map", "hf-gguf", status=3)[1], "rwkv7")
    save_file({name: tensors[old] for old, name in (("model.norm.weight", "model.norm.weight"),
               ("model.layers.0.input_layernorm.weight", "norm.weight"))}, "twice.safetensors")
    require("would both be called 'output_norm.weight'" in
            run("compare", "twice.safetensors", "m.gguf", "--map", "hf-gguf", status=3)[1], "one name twice")
    print("refusals:", DTINFO.checks, "checks")


def renamed(rules, name):
    for regex, to in rules:
        found = re.fullmatch(regex, name)
        if found:
            return re.sub(r"\\(.)", lambda m: "\\" if m[1] == "\\" else found[int(m[1])] or "", to)
    return name


def by_rules():
    rng = random.Random(5)
    regexes = [r"model\.layers\.(\d+)\.(.*)", r"(a|b)+\.(\w*)", r"(.*)\.(weight|bias)", r"([^.]+)\.(x|y)?z", r"layer_(\d{1,2})(?:\.(.*))?",
               "q(_proj)?", r"(.)(.)(.)\3\2\1"[:9], r"\#.*", "a -x"]
    replacements = [r"blk.\1.\2", r"\2\1", r"x.\1", "same", r"\\\1", r"\1-\1"]
    words = ["model", "layers", "0", "17", "a", "b", "weight", "bias", "z", "xz", "layer_3", "q", "q_proj", "#1", "a -x"]
    collisions = 0
    for _ in range(150):
        rules = []
        for regex in rng.sample(regexes, 3):
            groups = re.compile(regex).groups
            rules.append((regex, rng.choice([r for r in replacements if max([0] + [int(c) for c in re.findall(r"\\(\d)", r)]) <= groups])))
        lines = ["# a table", ""]
        for regex, to in rules:
            lines.append(rng.choice(["%s -> %s", "  %s   ->  %s ", "%s\t%s", "%s -> %s\r"]) % (regex, to))
        with open("rules.txt", "w", newline="") as file:
            file.write("\n".join(lines) + rng.choice(["", "\n"]))
        names = sorted({".".join(rng.choice(words) for _ in range(rng.randint(1, 4))) for _ in range(12)})
        targets = [renamed(rules, name) for name in names]
        numbers = np.arange(len(names), dtype=np.float32)
        save_file({name: numbers[i:i + 1] for i, name in enumerate(names)}, "a.safetensors")
        if len(set(targets)) < len(targets):
            collisions += 1
            require("would both be called" in run("compare", "a.safetensors", "a.safetensors", "--map", "rules.txt", status=3)[1], rules)
            continue
        # the other side holds the new names, as far as the rules leave those alone
        kept = [i for i, name in enumerate(targets) if renamed(rules, name) == name]
        save_file({targets[i]: numbers[i:i + 1] for i in kept} | {"only in b": numbers[:1]}, "b.safetensors")
        answer = compare("a.safetensors", "b.safetensors", "--map", "rules.txt", status=1)
        got = {(pair["a"]["name"], pair["b"]["name"]) for pair in answer["tensors"] if pair["a"] and pair["b"]}
        require(got == {(names[i], targets[i]) for i in kept}, "pairs by rules", rules, got)
        require(all(pair["outcome"] == "equal" for pair in answer["tensors"] if pair["a"] and pair["b"]), "numbers", rules)
        back = compare("b.safetensors", "a.safetensors", "--map", "rules.txt", status=1)
        require({(pair["b"]["name"], pair["a"]["name"]) for pair in back["tensors"] if pair["a"] and pair["b"]} == got, "back")
    require(0 < collisions < 100, "collisions", collisions)
    for text, line, said in (("a -> b\nx\n", 2, "expected a regular expression"), ("(a -> b", 1, "a group is not closed"),
                             ("(a) -> \\2", 1, "refers to group 2"), ("a -> \\n", 1, "backslash"), ("a*? -> b", 1, "a lazy repetition"),
                             ("\n\n(?=a) -> b", 3, "a lookahead"), ("a ->", 1, "expected"), ("a\t", 1, "expected")):
        with open("rules.txt", "w") as file:
            file.write(text)
        problem = run("compare", "a.safetensors", "a.safetensors", "--map", "rules.txt", status=3)[1]
        require("line %d" % line in problem and said in problem, text, problem)
    with open("rules.txt", "w") as file:
        file.write("# nothing\n")
    require("has no rules" in run("compare", "a.safetensors", "a.safetensors", "--map", "rules.txt", status=3)[1], "no rules")
    print("rules:", DTINFO.checks, "checks")


harness.in_new_folder(models, heads, surplus, refusals, by_rules)
print(DTINFO.checks, "checks, 0 different")
