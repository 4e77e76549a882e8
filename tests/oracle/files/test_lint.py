#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check --quantized: healthy checkpoints of every readable layout pass, including those made by the original programs
(tests/data); and for each rule, checkpoints broken in one place fail with exactly that finding.

usage: test_lint.py DTINFO FOLDER     FOLDER: tests/data
"""
import copy
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

from harness import Tally, have

if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import numpy as np
import lint_files
from lint_files import all_of, array, drop, group, put, put_tensor, rename, say
from tensor_files import read_file, write_file

PROGRAM, DATA = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
TALLY, SEEN = Tally(), set()
ASIDE = ("note: ", "ComfyUI: ")
LAYER = "model.layers.0."
Q, K, UP, GATE = (LAYER + name for name in ("self_attn.q_proj", "self_attn.k_proj", "mlp.up_proj", "mlp.gate_proj"))


def check(path, *more):
    done = subprocess.run([PROGRAM, "check", path, "--quantized", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def findings(what, path, *more):
    """The findings as {(rule, tensor)}; also checks that all output formats agree."""
    code, text, error = check(path, "--json", *more)
    if error or code > 1:
        TALLY.differ(what + ": runs", (code, error), (0, ""))
        return None
    file = json.loads(text)["files"][0]
    rows = {a["name"]: a for a in file["assertions"]}
    valid, quantized = rows["valid"], rows["quantized"]
    TALLY.check(what + ": exit status", code, 0 if valid["ok"] and quantized["ok"] else 1)
    found = [(f["rule"], f["tensor"]) for f in quantized["failures"]]
    for f in quantized["failures"]:
        TALLY.check(what + ": row", (bool(f["rule"]), bool(f["remedy"]), f["detail"].isprintable(), "\n" in f["detail"]),
                    (True, True, True, False) if valid["ok"] else (False, False, True, False))
        TALLY.check(what + ": effect", f["effect"], EFFECTS.get(f["rule"]))
    SEEN.update(rule for rule, _ in found)
    lines = check(path, "-v", *more)[1].splitlines()
    TALLY.check(what + ": lines", len([line for line in lines if not line.startswith(ASIDE)]),
                1 + max(1, len(quantized["failures"])))
    short = check(path, *more)[1].splitlines()
    TALLY.check(what + ": a line for each rule", len([line for line in short if not line.startswith(ASIDE)]),
                1 + max(1, len({rule for rule, _ in found})))
    return found


def write(tensors, config, metadata=None):
    shutil.rmtree("case", ignore_errors=True)
    os.mkdir("case")
    write_file("case/model.safetensors", tensors, metadata)
    if config is not None:
        with open("case/config.json", "w") as file:
            file.write(config if isinstance(config, str) else json.dumps(config))


def healthy(name, tensors, config):
    write(tensors, config)
    TALLY.check(name + ": is healthy", findings(name, "case/model.safetensors"), [])
    TALLY.check(name + ": with one thread", findings(name, "case", "--threads", "1", "--max-memory", "64KiB"), [])


BASES = lint_files.checkpoints()


def broken(what, base, change, *want):
    """change: modifies copies of tensors and configuration. want: (rule, tensor or module) in order."""
    tensors, config = copy.deepcopy(BASES[base])
    replaced = change(tensors, config)
    write(tensors, config if replaced is None else replaced)
    TALLY.check("%s, %s" % (base, what), findings(what, "case/model.safetensors"), sorted(want, key=lambda it: (RULES.index(it[0]), it[1] or "")))


# EFFECTS: by rule, the worst known effect
RULES, EFFECTS = lint_files.rules(pathlib.Path(__file__).resolve().parents[3] / "src/files")
NAN16, INF16, MINUS16 = 0x7fc0, 0x7f80, 0xbc23


def scales():
    for name, value in (("NaN", NAN16), ("infinite", INF16)):
        broken("a scale is " + name, "pack-quantized", put(UP + ".weight_scale", 3, value, "H"), ("scale_not_finite", UP + ".weight"))
    broken("a scale of e8m0 is 255", "mxfp4", put(UP + ".weight_scale", 3, 255, "B"), ("scale_not_finite", UP + ".weight"))
    broken("a scale of gpt-oss is 255", "gpt-oss", put(LAYER + "mlp.experts.down_proj_scales", 3, 255, "B"),
           ("scale_not_finite", LAYER + "mlp.experts.down_proj"))
    broken("a scale is 255", "fp8 of powers of two", put("layers.0.attn.wq_a.scale", 3, 255, "B"),
           ("scale_not_finite", "layers.0.attn.wq_a.weight"))
    broken("a scale of e4m3 is NaN", "nvfp4", put(UP + ".weight_scale", 3, 0x7f, "B"), ("scale_not_finite", UP + ".weight"))
    broken("a bias is NaN", "mlx", put(UP + ".biases", 3, NAN16, "H"), ("scale_not_finite", UP + ".weight"))
    broken("a scale is NaN", "gptq", put(UP + ".scales", 3, 0x7e00, "H"), ("scale_not_finite", UP + ".weight"))
    broken("a scale is NaN", "fp8 blocks", put(UP + ".weight_scale_inv", 3, float("nan"), "f"), ("scale_not_finite", UP + ".weight"))
    broken("a scale is negative", "pack-quantized", put(UP + ".weight_scale", 3, MINUS16, "H"), ("scale_negative", UP + ".weight"))
    broken("a scale is negative", "awq", put(UP + ".scales", 3, 0xa000, "H"), ("scale_negative", UP + ".weight"))
    broken("a scale is negative", "nvfp4", put(UP + ".weight_scale", 3, 0xd0, "B"), ("scale_negative", UP + ".weight"))
    for base, part, kind in (("pack-quantized", "weight_scale", "H"), ("fp8", "weight_scale", "f"), ("nvfp4", "weight_scale", "B"),
                             ("gptq", "scales", "H"), ("awq", "scales", "H"), ("mlx", "scales", "H"), ("asymmetric", "weight_scale", "H"),
                             ("fp8 blocks", "weight_scale_inv", "f")):
        broken("a scale is 0", base, put(UP + "." + part, 1, 0, kind), ("scale_zero", UP + ".weight"))

    def nothing(tensors, _):
        codes = np.frombuffer(tensors[UP + ".weight_packed"][2], np.uint8).reshape(8, 16).copy()
        codes[0, :8] = 0
        tensors[UP + ".weight_packed"] = array(codes)
        put(UP + ".weight_scale", 0, 0, "B")(tensors, _)
    broken("a scale is 0 over codes that are", "nvfp4", nothing)

    def many(tensors, config):  # more than are read again at once; every third has nothing under the scale
        for layer in range(200):
            name = "model.layers.%d.mlp.up_proj" % (layer + 1)
            for part in ("weight_packed", "weight_scale", "weight_global_scale"):
                tensors[name + "." + part] = copy.deepcopy(tensors[UP + "." + part])
            if layer % 3 == 0:
                codes = np.frombuffer(tensors[name + ".weight_packed"][2], np.uint8).reshape(8, 16).copy()
                codes[0, :8] = 0
                tensors[name + ".weight_packed"] = array(codes)
            put(name + ".weight_scale", 0, 0, "B")(tensors, config)
    broken("a scale of many tensors is 0", "nvfp4", many, *(("scale_zero", "model.layers.%d.mlp.up_proj.weight" % (layer + 1))
                                                            for layer in range(200) if layer % 3))
    broken("a scale is 0 over codes that are, and there is a bias", "mlx", all_of(
        put(UP + ".scales", 0, 0, "H"), *(put(UP + ".weight", i, 0, "I") for i in range(4))))
    for name, value in (("0", 0.0), ("negative", -1.0), ("NaN", float("nan")), ("infinite", float("inf"))):
        broken("the tensor scale is " + name, "nvfp4", put(UP + ".weight_global_scale", 0, value, "f"), ("tensor_scale", UP + ".weight_packed"))
        broken("the scale of activations is " + name, "fp8 of one scale", put(UP + ".input_scale", 0, value, "f"),
               ("tensor_scale", UP + ".input_scale"))
    broken("the tensor scale is the reciprocal", "nvfp4", all_of(*(put(LAYER + name + ".weight_global_scale", 0, 1 / 27000, "f")
                                                                   for name in lint_files.LINEARS)),
           *(("tensor_scale_direction", LAYER + name + ".weight") for name in lint_files.LINEARS))
    broken("the tensor scale is the reciprocal", "nvfp4 of ModelOpt",
           all_of(*(put(LAYER + name + ".weight_scale_2", 0, 27000.0, "f") for name in lint_files.LINEARS)),
           *(("tensor_scale_direction", LAYER + name + ".weight") for name in lint_files.LINEARS))
    broken("numbers overflow fp16", "pack-quantized", all_of(put(UP + ".weight_scale", 3, 0x4700, "H"),
                                                             lambda _, config: config.update(dtype="float16")), ("overflow", UP + ".weight"))
    broken("numbers are large in bf16", "pack-quantized", put(UP + ".weight_scale", 3, 0x4700, "H"))
    broken("numbers overflow fp32", "pack-quantized", put(UP + ".weight_scale", 3, 0x7f7f, "H"), ("overflow", UP + ".weight"))
    tensors = read_file(DATA / "bitsandbytes.safetensors")
    state = "fp4.weight.quant_state.bitsandbytes__fp4"
    tensors[state] = *tensors[state][:2], tensors[state][2].replace(b'"bfloat16"', b'"float16" ')
    tensors["fp4.weight.absmax"] = *tensors["fp4.weight.absmax"][:2], struct.pack("<f", 1e6) + tensors["fp4.weight.absmax"][2][4:]
    write(tensors, None)
    TALLY.check("numbers overflow the dtype of a state", findings("a state", "case"), [("overflow", "fp4.weight")])
    broken("numbers overflow the scales' dtype", "gptq",
           all_of(put(UP + ".scales", 3, 0x7bff, "H"), lambda _, config: config.pop("dtype")), ("overflow", UP + ".weight"))


def codes():
    for code in (0x7f, 0xff):
        broken("a code is NaN", "fp8", put(UP + ".weight", 5, code, "B"), ("code_not_finite", UP + ".weight"))
        broken("a code is NaN", "fp8 blocks", put(UP + ".weight", 5, code, "B"), ("code_not_finite", UP + ".weight"))
    broken("a zero point is none of int8", "integers", put(Q + ".weight_zero_point", 3, 128, "i"), ("zero_point_range", Q + ".weight"))
    broken("the lowest zero point", "integers", put(Q + ".weight_zero_point", 3, -128, "i"))
    broken("a zero point is 0, stored minus one", "gptq", put(UP + ".qzeros", 1, -1, "i"), ("zero_point_wrap", UP + ".qweight"))
    wide = {UP + "." + part: value for part, value in lint_files.gptq(n=16384).items()}
    broken("the last zero point of many is 0", "gptq", all_of(lambda tensors, _: tensors.update(wide), put(UP + ".qzeros", 8191, -1, "i")), ("zero_point_wrap", UP + ".qweight"))
    for base, other in (("gptq_v2", "gptq"), ("gptq", "gptq_v2")):
        broken("zero points are those of " + other, base, say(checkpoint_format=other),
               *(("zero_point_label", LAYER + name + ".qweight") for name in lint_files.LINEARS))
    for base, word in (("pack-quantized", 9), ("packed int8", 8)):
        broken("a row does not end with zeros", base, put(UP + ".weight_packed", word, -1, "i"), ("padding", UP + ".weight"))
    broken("a column does not end with zeros", "gptq of a part of a word", put(UP + ".qweight", 7 * 16 + 3, -1, "i"), ("padding", UP + ".weight"))
    narrow, odd = ({UP + "." + part: value for part, value in parts.items()} for parts in (lint_files.packed(n=12, zeros=True), lint_files.gptq(n=20)))
    broken("a column of zero points does not end with zeros", "asymmetric",
           all_of(lambda tensors, _: tensors.update(narrow), put(UP + ".weight_zero_point", 4, 1 << 16, "i")), ("padding", UP + ".weight"))
    for end in (0xffff, 0xeeef, 0xeeee, 1):    # zeros minus one by fields, and by words, where fields borrow from the next; others
        change = all_of(lambda tensors, _: tensors.update(odd), put(UP + ".qzeros", 2, end << 16 | 0x7777, "I"))
        broken("zero points end with %x" % end, "gptq", change, *[("padding", UP + ".weight")] * (end == 1))
    broken("a row has no group", "gptq", put(UP + ".g_idx", 3, 4, "i"), ("group_index", UP + ".qweight"))


def parts():
    broken("scales are missing", "pack-quantized", drop(UP + ".weight_scale"), ("part_missing", UP + ".weight_packed"))
    broken("scales are there twice", "fp8", put_tensor(UP + ".weight_scale_inv", lint_files.f32(1.0)), ("part_surplus", UP + ".weight"))
    broken("zero points are missing", "asymmetric", drop(UP + ".weight_zero_point"), ("part_missing", UP + ".weight_packed"))
    broken("zero points are missing", "gptq", drop(UP + ".qzeros"), ("part_missing", UP + ".qweight"))
    broken("biases are missing", "mlx", drop(UP + ".biases"), ("part_missing", UP + ".weight"))
    broken("scales are missing", "gpt-oss", drop(LAYER + "mlp.experts.down_proj_scales"), ("part_missing", LAYER + "mlp.experts.down_proj_blocks"))
    broken("codes are missing", "pack-quantized", drop(UP + ".weight_packed"), ("codes_missing", UP + ".weight_scale"),
           ("codes_missing", UP + ".weight_shape"))
    broken("codes are missing", "gptq", drop(UP + ".qweight"), *(("codes_missing", UP + "." + part) for part in ("g_idx", "qzeros", "scales")))
    broken("codes are missing", "gpt-oss", drop(LAYER + "mlp.experts.down_proj_blocks"),
           ("codes_missing", LAYER + "mlp.experts.down_proj_scales"))
    broken("scales do not fit", "fp8 blocks", put_tensor(UP + ".weight_scale_inv", array(np.ones((3, 2), np.float32))),
           ("config_differs", UP + ".weight"))
    broken("two parts do not fit, of all tensors", "gptq", all_of(*(put_tensor(LAYER + name + ".scales", array(np.ones((4, 15), np.float16)))
                                                                  for name in lint_files.LINEARS[:2])),
           *(("parts_do_not_fit", LAYER + name + ".qweight") for name in lint_files.LINEARS[:2]))
    broken("nothing says how long groups are", "gptq", lambda tensors, config: {"dtype": "float16"})
    broken("nothing says how many bits codes have", "asymmetric", lambda tensors, config: {},
           *(("ambiguous", LAYER + name + ".weight_packed") for name in lint_files.LINEARS))

    def random_zeros(tensors, _):
        tensors[UP + ".qzeros"] = array(np.arange(8, dtype=np.int32).reshape(4, 2))
        return {}
    broken("nothing says what zero points are", "gptq", random_zeros, ("ambiguous", UP + ".qweight"))
    broken("words of 3 bits, with gaps or without", "pack-quantized", all_of(
        *(all_of(put_tensor(LAYER + name + ".weight_packed", array(np.zeros((8, 4), np.int32)))) for name in lint_files.LINEARS),
        group(0, num_bits=3)), *(("parts_do_not_fit", LAYER + name + ".weight_packed") for name in lint_files.LINEARS))


def configuration():
    linears = [LAYER + name + ".weight_packed" for name in lint_files.LINEARS]
    broken("it is no JSON", "pack-quantized", lambda tensors, config: "{", ("config_unreadable", None))
    broken("an ignored name matches nothing", "pack-quantized", say(ignore=["lm_head", "model.layers.1.mlp.up_proj"]), ("entry_unmatched", None))
    broken("an ignored module has no tensor of its own", "pack-quantized", say(ignore=["lm_head", "model.layers.0.mlp"]), ("entry_unmatched", None))
    broken("a pattern is meant to match anywhere", "pack-quantized", say(ignore=["lm_head", "re:layers.0.nothing"]), ("entry_unmatched", None))
    broken("a pattern matches from the start only", "two groups", group(0, targets=["re:self_attn"]), ("entry_unmatched", None),
           *(("not_covered", name) for name in linears[:3]))
    broken("a pattern is not anchored at the end", "two groups", group(0, targets=["re:.*self_"]))
    broken("one of two groups has the length of the other", "two groups", group(1, group_size=12), *(("config_differs", name) for name in linears[3:]))
    broken("an output layer that is the embedding is ignored", "tied embeddings", lambda tensors, config: None)
    broken("a module is ignored", "pack-quantized", say(ignore=["lm_head", UP]), ("ignored_but_quantized", UP + ".weight_packed"))
    broken("a module is ignored", "gptq", say(dynamic={"-:.*up_proj": {}}), ("ignored_but_quantized", UP + ".qweight"))
    broken("a module is ignored", "mlx", lambda _, config: config["quantization"].update({UP: False}), ("ignored_but_quantized", UP + ".weight"))
    broken("no group is for a module", "two groups", group(1, targets=["re:.*gate_proj"]), ("not_covered", UP + ".weight_packed"))
    broken("the output layer is not ignored", "pack-quantized", say(ignore=[]), ("not_quantized", "lm_head.weight"))
    broken("a matrix is not quantized", "pack-quantized", put_tensor(LAYER + "mlp.down_proj.weight", lint_files.plain(8, 8)),
           ("not_quantized", LAYER + "mlp.down_proj.weight"))
    broken("a router is not quantized", "pack-quantized", put_tensor(LAYER + "mlp.gate.weight", lint_files.plain(8, 8)))
    broken("bits", "pack-quantized", group(0, num_bits=8), *(("config_differs", name) for name in linears))
    broken("length of groups", "pack-quantized", group(0, group_size=18), *(("config_differs", name) for name in linears))
    broken("the sides of blocks", "fp8 blocks", say(weight_block_size=[64, 128]), ("config_differs", UP + ".weight"))
    broken("bits", "gptq", say(bits=8), *(("config_differs", LAYER + name + ".qweight") for name in lint_files.LINEARS))
    broken("a format for kernels", "pack-quantized", say(format="marlin-24"), *(("unsupported", name) for name in linears))
    broken("a name of MLX matches nothing", "mlx", lambda _, config: config["quantization"].update({"model.layers.9.x": {"bits": 4}}),
           ("entry_unmatched", None))
    broken("a pattern of GPTQ matches nothing", "gptq", say(dynamic={"+:model.layers.7": {"bits": 4}}), ("entry_unmatched", None))
    broken("exclusions of ModelOpt", "nvfp4 of ModelOpt", say(ignore=["lm_head", "model.layers.0.mlp*", "*visual*"]), ("entry_unmatched", None),
           *(("ignored_but_quantized", name + ".weight") for name in (GATE, UP)))
    broken("a module of modules is excluded", "nvfp4 of ModelOpt", all_of(put_tensor("vision.blocks.0.qkv.weight", lint_files.plain(8, 8)),
                                                                          say(ignore=["lm_head", "vision.blocks"])))
    broken("the output layer is tied, and there is another", "gptq",
           all_of(drop("lm_head.weight"), lambda tensors, config: tensors.update({"lm_head." + part: value for part, value in lint_files.gptq().items()}),
                  say(dynamic={}), lambda _, config: config.update(tie_word_embeddings=True)), ("tied", "lm_head.weight"))


def two_files():
    write(*BASES["nvfp4 of ModelOpt"])
    pathlib.Path("case/hf_quant_config.json").write_text('{"quantization": {"quant_algo": "FP8"}}')
    TALLY.check("two configurations", findings("two configurations", "case/model.safetensors"), [("config_conflict", None)])


def fused():
    broken("gate and up have scales of their own", "nvfp4", put(UP + ".weight_global_scale", 0, 26000.0, "f"), ("fused_scale", UP + ".weight"))
    broken("q and k have scales of their own", "nvfp4 of ModelOpt", put(K + ".weight_scale_2", 0, 1 / 26000, "f"), ("fused_scale", K + ".weight"))
    broken("w1 and w3 have scales of their own", "nvfp4", all_of(
        rename(GATE, LAYER + "mlp.experts.0.w1"), rename(UP, LAYER + "mlp.experts.0.w3"),
        put(LAYER + "mlp.experts.0.w3.weight_global_scale", 0, 26000.0, "f")), ("fused_scale", LAYER + "mlp.experts.0.w3.weight"))
    broken("scales of fp8 may differ", "fp8 of one scale", all_of(put(UP + ".weight_scale", 0, 0.0002, "f"), put(UP + ".input_scale", 0, 0.7, "f")))
    broken("up is ignored, gate is not", "pack-quantized", all_of(
        drop(*(UP + part for part in (".weight_packed", ".weight_scale", ".weight_shape"))), put_tensor(UP + ".weight", lint_files.plain(8, 36)),
        say(ignore=["lm_head", UP])), ("fused_scheme", UP + ".weight"))
    broken("up has other groups than gate", "two groups", all_of(
        lambda tensors, config: tensors.update({UP + "." + part: value for part, value in lint_files.packed(k=48, group=12).items()}),
        group(0, targets=["re:.*self_attn.*", UP]), group(1, targets=["re:.*gate_proj"])), ("fused_scheme", UP + ".weight"))


def shards():
    tensors, config = BASES["nvfp4"]
    names = sorted(tensors)

    def lay_out(first, second, index):
        shutil.rmtree("case", ignore_errors=True)
        os.mkdir("case")
        for file, part in (("a.safetensors", first), ("b.safetensors", second)):
            write_file("case/" + file, {name: tensors[name] for name in part})
        with open("case/config.json", "w") as file:
            json.dump(config, file)
        with open("case/model.safetensors.index.json", "w") as file:
            json.dump(index, file)

    def valid(what, good):
        code, text, _ = check("case", "--json")
        rows = {a["name"]: a for a in json.loads(text)["files"][0]["assertions"]}
        TALLY.check("shards: %s" % what, (code, rows["valid"]["ok"]), (0 if good else 1, good))
        TALLY.check("shards: %s: the rest" % what, rows["quantized"]["outcome"], "ok" if good else "unreadable")
    size = sum(len(raw) for _, _, raw in tensors.values())
    index = {"metadata": {"total_size": size}, "weight_map": {name: "ab"[i % 2] + ".safetensors" for i, name in enumerate(names)}}
    lay_out(names[::2], names[1::2], index)    # parts of a tensor are in different shards
    valid("healthy", True)
    lay_out(names[::2], names[1::2], dict(index, metadata={"total_size": size + 1}))
    TALLY.check("shards: total_size", findings("total_size", "case"), [("total_size", None)])
    lay_out(names[::2], names[1::2] + names[:1], index)
    valid("a name twice", False)
    lay_out(names[::2], names[1::2], dict(index, weight_map=dict(index["weight_map"], **{names[0]: "b.safetensors"})))
    valid("a part in another shard", False)
    lay_out(names[::2], names[1::2], dict(index, weight_map={n: f for n, f in index["weight_map"].items() if n != names[0]}))
    valid("a part that is not listed", False)
    lay_out(names[::2], names[1::2], index)
    os.remove("case/b.safetensors")
    valid("a shard is missing", False)


def made_by_others():
    """Files made by the original programs."""
    method = {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False, "sym": False}
    for name, config in (("awq", None), ("bitsandbytes", None), ("bitsandbytes_int8", None), ("comfy", None), ("gpt_oss", None),
                         ("modelopt_awq", None), ("torchao", None), ("mlx", "mlx.json"),
                         ("bitnet", {"quantization_config": {"quant_method": "bitnet"}}),
                         ("quark", {"quantization_config": {
                             "quant_method": "quark", "export": {"pack_method": "reorder"},
                             "global_quant_config": {"weight": {"dtype": "int4", "qscheme": "per_group", "group_size": 16}}}})):
        if isinstance(config, str):
            with open(DATA / config) as file:
                config = json.load(file)
        if name in ("torchao", "comfy"):    # with its metadata
            TALLY.check("tests/data/%s: is healthy" % name, findings(name, str(DATA / (name + ".safetensors"))), [])
        else:
            healthy("tests/data/" + name, read_file(DATA / (name + ".safetensors")), config)
    tensors = read_file(DATA / "gptq.safetensors")
    for name, (bits, length, act) in {"four": (4, 32, False), "order": (4, 16, True), "three": (3, 64, False), "two": (2, 32, True),
                                      "eight": (8, 32, False), "odd": (4, 20, False)}.items():
        healthy("tests/data/gptq, " + name, {key: value for key, value in tensors.items() if key.startswith(name + ".")},
                {"quantization_config": dict(method, bits=bits, group_size=length, desc_act=act)})


def by_compressed_tensors():
    """Modules with random weights, quantized and packed by the library itself; then with a changed configuration."""
    torch = have("torch")
    if not (torch and have("compressed_tensors") and have("safetensors")):
        return TALLY.skip("compressed-tensors is not there")
    from compressed_tensors.compressors import ModelCompressor
    from compressed_tensors.quantization import QuantizationConfig, apply_quantization_config
    from compressed_tensors.quantization.utils import calculate_qparams
    from safetensors.torch import save_file
    torch.manual_seed(18)
    for preset in ("W4A16", "W4A16_ASYM", "W8A8", "W8A16", "FP8_DYNAMIC"):
        model = torch.nn.Module()
        for name in ("up_proj", "gate_proj", "lm_head"):
            model.add_module(name, torch.nn.Linear(256, 48, bias=name == "up_proj"))
        apply_quantization_config(model, QuantizationConfig.model_validate({"config_groups": {preset: ["Linear"]}, "ignore": ["lm_head"]}))
        for module in (model.up_proj, model.gate_proj):
            args = module.quantization_scheme.weights
            rows = module.weight.detach().reshape(48, -1, args.group_size if args.group_size and args.group_size > 0 else 256)
            scale, zero = calculate_qparams(rows.amin(2), rows.amax(2), args)
            for name, value in (("weight_scale", scale), ("weight_zero_point", zero)):
                if getattr(module, name, None) is not None:
                    getattr(module, name).data.copy_(value.reshape(getattr(module, name).shape))
        compressor = ModelCompressor.from_pretrained_model(model)
        compressor.compress_model(model)
        config = {"quantization_config": compressor.quantization_config.model_dump(mode="json")}
        shutil.rmtree("case", ignore_errors=True)
        os.mkdir("case")
        save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()}, "case/model.safetensors")
        for what, ignore, want in (("is healthy", ["lm_head"], []), ("ignores too much", ["lm_head", "re:up"], ["ignored_but_quantized"]),
                                   ("ignores nothing", [], ["not_quantized"])):
            config["quantization_config"]["ignore"] = ignore
            with open("case/config.json", "w") as file:
                json.dump(config, file)
            TALLY.check("compressed-tensors, %s: %s" % (preset, what), [rule for rule, _ in findings(preset, "case")], want)


def left_out():
    """--only drops findings about other tensors; --raw sees no quantized tensors."""
    tensors, config = copy.deepcopy(BASES["pack-quantized"])
    put(UP + ".weight_scale", 3, NAN16, "H")(tensors, config)
    drop(K + ".weight_scale")(tensors, config)
    write(tensors, config)
    TALLY.check("--only this one", findings("--only", "case", "--only", "*up_proj*"), [("scale_not_finite", UP + ".weight")])
    TALLY.check("--only others", findings("--only", "case", "--only", "*gate_proj*"), [])
    TALLY.check("--raw", check("case", "--raw")[0], 2)
    code, text, _ = check("case", "--no-nan", "--json")
    rows = {a["name"]: a for a in json.loads(text)["files"][0]["assertions"]}
    TALLY.check("with other assertions", (code, rows["quantized"]["ok"], rows["no-nan"]["ok"]), (1, False, False))


def gguf():
    """Scales between codes; blocks that are not read."""
    from make_checkpoint import write_others
    write({}, None)
    write_others(pathlib.Path("case"), unknown=True)
    row = json.loads(check("case/model.gguf", "--json")[1])["files"][0]["assertions"][1]
    TALLY.check("gguf", (row["outcome"], row["tensors"], [f["tensor"] for f in row["failures"]]), ("unreadable", 2, ["blk.0.ffn_up.weight"]))
    write_others(pathlib.Path("case"))
    TALLY.check("gguf: types that are read", check("case/model.gguf", "--only", "*attn*")[0], 0)
    data = bytearray(pathlib.Path("case/model.gguf").read_bytes())
    listed = json.loads(subprocess.run([PROGRAM, "inspect", "case/model.gguf", "--json"], stdout=subprocess.PIPE).stdout)["files"][0]["tensors"]
    struct.pack_into("<H", data, next(t["offset"] for t in listed if t["block"] == "q8_0"), 0x7e00)
    pathlib.Path("case/model.gguf").write_bytes(data)
    TALLY.check("gguf: a scale is NaN", findings("gguf", "case/model.gguf", "--only", "*attn*"), [("scale_not_finite", "blk.0.attn_q.weight")])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, (tensors, config) in BASES.items():
            healthy(name, tensors, config)
        TALLY.part("healthy")
        made_by_others()
        TALLY.part("made by other programs")
        for subject in (scales, codes, parts, configuration, two_files, fused, shards, gguf, by_compressed_tensors, left_out):
            subject()
            TALLY.part(subject.__name__)
        TALLY.check("every rule was broken", sorted(set(RULES) - SEEN), [])
        os.chdir("/")
    return TALLY.finish()


sys.exit(main())
