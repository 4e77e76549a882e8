#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One verdict on configurations: quant --dequant and transcode refuse exactly what check --quantized refuses. Every
member of the configuration of every layout is removed, duplicated, and set to values of every type; what
compressed-tensors and transformers refuse must be refused. Also: NaN and Infinity as Python writes them, many groups
with patterns, and hf_quant_config.json next to config.json.

usage: test_hostile_configs.py DTINFO FOLDER [--long]     FOLDER: tests/data
"""
import copy
import json
import logging
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import warnings

from harness import QUICK, Tally, have

if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import lint_files
from tensor_files import write_file

PROGRAM, DATA = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
LONG = "--long" in sys.argv
TALLY = Tally()
random.seed(29)
INF, NAN = float("inf"), float("nan")
VALUES = [None, True, False, "", "foo", "128", -7, -1, 0, 1, 3, 7, 17, 64, 1.5, 10 ** 30, INF, -INF, NAN, [], {}, ["foo"], [1, 2], [0, 0],
          [64, 64, 64], {"foo": 1}, [None]]

# Findings of check about numbers, and advice: readers still read these files.
READ = {"entry_unmatched", "not_quantized", "fused_scale", "fused_scheme", "tied", "total_size", "padding", "scale_not_finite",
        "scale_negative", "scale_zero", "tensor_scale", "tensor_scale_direction", "overflow", "code_not_finite", "zero_point_wrap",
        "zero_point_label"}
# Of the others, those for which commands that only look at numbers show the stored tensors with a note.
SHOWN = {"ambiguous", "unsupported"}

# Files of tests/data, with the configuration that their programs write.
STORED = {
    "awq": {"quant_method": "awq", "bits": 4, "zero_point": True, "version": "gemm"},
    "bitsandbytes": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "llm_int8_skip_modules": None},
    "bitsandbytes_int8": {"quant_method": "bitsandbytes", "load_in_8bit": True},
    "bitnet": {"quant_method": "bitnet"},
    "comfy": {"quant_method": "fp8"},
    "gpt_oss": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]},
    "quark": {"quant_method": "quark", "export": {"pack_method": "reorder", "kv_cache_group": []}, "layer_quant_config": {}, "exclude": [],
              "global_quant_config": {"weight": {"dtype": "int4", "qscheme": "per_group", "group_size": 16}}},
    "torchao": {"quant_method": "torchao", "quant_type": {"default": {"_type": "Int8WeightOnlyConfig", "_version": 2, "_data": {}}}},
}


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def say(config, name="config.json"):
    with open("case/" + name, "w") as file:
        file.write(config if isinstance(config, str) else json.dumps(config))


def write(tensors):
    shutil.rmtree("case", ignore_errors=True)
    os.mkdir("case")
    if isinstance(tensors, dict):
        write_file("case/model.safetensors", tensors)
    else:
        shutil.copy(tensors, "case/model.safetensors")


def verdict(what, folder="case"):
    """Whether every reader refuses the configuration; and the rules of the findings."""
    code, text, error = run("check", "--quantized", "--json", folder)
    if error or code > 1:
        TALLY.differ(what + ": check runs", (code, error), (0, ""))
        return None, set()
    rules = {failure["rule"] for row in json.loads(text)["files"][0]["assertions"] for failure in row["failures"]}
    refused = bool(rules - READ)
    for reader in (["quant", "--dequant", folder, "fp32", "-o", "out.safetensors"], ["transcode", "--to", "fp32", folder, "-o", "out"]):
        code, _, error = run(*reader, "--dry-run", "--force")
        code = 0 if "no quantized tensors found" in error else code    # then check finds none either
        TALLY.check("%s: %s reads what check finds nothing in, and nothing else (%s; %s)" % (what, reader[0], sorted(rules), error.strip()),
                    (code != 0, code in (0, 3, 5), error.count("\n") <= 1 or code == 0), (refused, True, True))
    code, _, error = run("inspect", "--stats", folder)
    TALLY.check("%s: inspect --stats (%s; %s)" % (what, sorted(rules), error.strip()), code, 3 if rules - READ - SHOWN else 0)
    return refused, rules


def paths(value, path=()):
    for key, inner in (value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()):
        yield path + (key,)
        yield from paths(inner, path + (key,))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def text(value, twice, path=()):
    """JSON with the member at path `twice` duplicated."""
    if isinstance(value, dict):
        members = []
        for key, inner in value.items():
            one = json.dumps(key) + ": " + text(inner, twice, path + (key,))
            members += [one, one] if path + (key,) == twice else [one]
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(text(inner, twice, path + (i,)) for i, inner in enumerate(value)) + "]"
    return json.dumps(value)


def loader(block):
    """The verdict of the method's own program; None: accepted, or not installed."""
    try:
        if not isinstance(block, dict):
            return "it is no dict"
        if block.get("quant_method") == "compressed-tensors" and have("compressed_tensors"):
            from compressed_tensors.quantization import QuantizationConfig
            QuantizationConfig.model_validate(copy.deepcopy(block))
        elif block.get("quant_method") in ("gptq", "awq", "fp8", "mxfp4") and have("transformers"):
            from transformers.quantizers.auto import AutoQuantizationConfig
            AutoQuantizationConfig.from_dict(copy.deepcopy(block))
    except Exception as error:
        return "%s: %s" % (type(error).__name__, " ".join(str(error).split()))
    return None


def is_known(path, value, why):
    """Values that loaders refuse but dtinfo reads: no numbers depend on them, or shapes decide; and members that a
    version does not know."""
    last = path[-1]
    return ("Extra inputs are not permitted" in why or last in ("activation_scheme", "scale_fmt", "dynamic", "desc_act", "sym", "zero_point") or
            (last == "format" and value is None) or (last in ("version", "strategy") and value == "") or
            (last in ("bits", "group_size") and value in (None, 0, -1)) or (last == "symmetric"))


def broken(name, config, path, value, remove=False):
    changed = copy.deepcopy(config)
    if remove:
        at(changed, path[:-1]).pop(path[-1])
    else:
        at(changed, path[:-1])[path[-1]] = value
    what = "%s, %s %s" % (name, ".".join(map(str, path)), "removed" if remove else "= " + repr(value))
    say(changed)
    refused, rules = verdict(what)
    block = changed.get("quantization_config")
    why = loader(block) if block is not None and "quantization_config" in path else None
    if why and not refused and not rules and not is_known(path, None if remove else value, why):
        TALLY.differ(what + ": refused by its program, " + why[:300], "ok", "refused")
    else:
        TALLY.checked += 1


def refused_by_programs():
    """What compressed-tensors 0.20 and vLLM refuse, whether they are installed or not."""
    weights = ("config_groups", "group_0", "weights")
    rows = [("nvfp4", weights + ("group_size",), 0), ("nvfp4", weights + ("group_size",), None), ("nvfp4", weights + ("group_size",), -1),
            ("nvfp4", weights + ("group_size",), INF), ("nvfp4", weights + ("strategy",), "foo"), ("nvfp4", weights + ("strategy",), "channel"),
            ("nvfp4", weights + ("strategy",), "block"), ("nvfp4", weights + ("strategy",), "token"), ("nvfp4", weights + ("type",), "foo"),
            ("pack-quantized", weights + ("strategy",), None), ("pack-quantized", weights + ("type",), None), ("fp8", weights + ("group_size",), 16),
            ("fp8", weights + ("block_structure",), [128, 128]), ("fp8", weights + ("strategy",), "group"), ("fp8", ("config_groups",), None),
            ("fp8", ("config_groups", "group_0", "targets"), None), ("fp8", ("config_groups", "FP9"), ["Linear"]), ("fp8", ("quant_method",), "foo"),
            ("nvfp4 of ModelOpt", ("quant_algo",), "foo"), ("gptq", ("group_size",), 0), ("awq", ("group_size",), 0)]
    bases = lint_files.checkpoints()
    for name, path, value in rows:
        tensors, config = bases[name]
        changed = copy.deepcopy(config)
        at(changed["quantization_config"], path[:-1])[path[-1]] = value
        write(tensors)
        say(changed)
        what = "%s, %s = %r" % (name, ".".join(path), value)
        allowed = what == "pack-quantized, config_groups.group_0.weights.strategy = None"    # it follows from the group size
        TALLY.check(what + ": is refused", verdict(what), (not allowed, set() if allowed else {"config_unreadable"}))


def hostile():
    bases = dict(lint_files.checkpoints())
    for name, block in STORED.items():
        bases["tests/data/" + name] = DATA / (name + ".safetensors"), {"quantization_config": block}
    for name, (tensors, config) in bases.items():
        write(tensors)
        say(config)
        healthy, _ = verdict(name)
        TALLY.check(name + ": is read", healthy, False)
        for path in paths(config):
            if path[0] in ("dtype", "tie_word_embeddings"):
                continue
            broken(name, config, path, None, remove=True)
            others = [value for value in VALUES if json.dumps(value) != json.dumps(at(config, path))]
            for value in others if LONG else random.sample(others, 1 if QUICK else 3) + [random.choice([INF, -INF, NAN])]:
                broken(name, config, path, value)
            if isinstance(path[-1], str):
                say(text(config, path))
                refused, rules = verdict("%s, %s twice" % (name, path))
                TALLY.check("%s, %s twice: is refused" % (name, path), (refused, rules), (True, {"config_unreadable"}))
            if path[-1] == "group_size" and isinstance(at(config, path), int):
                changed = copy.deepcopy(config)
                at(changed, path[:-1])["group_size"] *= 2
                say(changed)
                refused, rules = verdict("%s, %s doubled" % (name, path))
                TALLY.check("%s, %s doubled: is refused" % (name, path), (refused, bool(rules & {"config_differs", "parts_do_not_fit"})),
                            (True, True))


def python_numbers():
    """NaN and Infinity outside the block: read, and copied unchanged; our JSON has none."""
    tensors, config = lint_files.checkpoints()["fp8"]
    write(tensors)
    more = {"time_step_limit": [0.0, INF], "x": NAN, "inner": {"y": -INF}}
    say(dict(more, **config))
    TALLY.check("NaN and Infinity are read", verdict("NaN and Infinity"), (False, set()))
    for command in (["inspect", "case"], ["check", "--quantized", "case"]):
        printed = run(*command, "--json")[1]
        TALLY.check("JSON of " + command[0], "NaN" in printed or "Infinity" in printed, False)
    for command in (["transcode", "--to", "bf16", "case", "-o", "out"], ["cast", "case", "fp16", "-o", "out"],
                    ["quant", "--dequant", "case", "bf16", "-o", "out"]):
        shutil.rmtree("out", ignore_errors=True)
        os.mkdir("out")
        code, _, error = run(*command, "--force")
        TALLY.check("NaN and Infinity, " + command[0], (code, error.count("not JSON")), (0, 0))
        with open("out/config.json") as file:
            written = file.read()
        TALLY.check("carried over by " + command[0], all(one in written for one in ("[0.0, Infinity]", '"x": NaN', '{"y": -Infinity}')), True)
        TALLY.check("and still JSON of Python", "time_step_limit" in json.loads(written), True)
    with open("case/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {"total_size": NAN, "x": INF}, "weight_map": {name: "model.safetensors" for name in tensors}}, file)
    TALLY.check("an index with NaN", run("inspect", "case/model.safetensors.index.json")[0], 0)


def many_groups():
    """700 groups with a pattern each, for four modules per layer: one verdict, quickly."""
    modules = ["q_proj", "k_proj", "v_proj", "o_proj"]
    parts = lint_files.packed(k=24)
    tensors, groups = {}, {}
    for layer in range(700):
        for module in modules:
            tensors.update({"model.layers.%d.self_attn.%s.%s" % (layer, module, part): value for part, value in parts.items()})
        groups["group_%d" % layer] = {"targets": ["re:.*layers.%d.self_attn.%s" % (layer, module) for module in modules],
                                      "weights": dict(lint_files.INT4, num_bits=4)}
    write(tensors)
    say(lint_files.quantization(quant_method="compressed-tensors", format="pack-quantized", config_groups=groups, ignore=[]))
    TALLY.check("700 groups", verdict("700 groups"), (False, set()))
    groups["group_7"]["targets"] = ["re:" + "(a|b|c)" * 20 + ".*" + ".{1000}" * 60]
    say(lint_files.quantization(quant_method="compressed-tensors", format="pack-quantized", config_groups=groups, ignore=[]))
    TALLY.check("a pattern that is too long", verdict("a pattern that is too long"), (True, {"config_unreadable"}))


def slow_patterns():
    """Patterns that stay possible at hundreds of positions: all commands have the same step limit."""
    parts = lint_files.packed(k=24)
    names = ["model." + "".join(random.choice("abcdefgh") for _ in range(960)) for _ in range(60)]
    write({name + "." + part: value for name in names for part, value in parts.items()})
    for count in (1, 8):
        groups = {"group_%d" % i: {"targets": ["re:.*%c.{900}x" % "abcdefgh"[i]], "weights": lint_files.INT4} for i in range(count)}
        groups["all"] = {"targets": ["Linear"], "weights": lint_files.INT4}
        say(lint_files.quantization(quant_method="compressed-tensors", format="pack-quantized", config_groups=groups, ignore=[]))
        refused, rules = verdict("%d slow patterns" % count)
        TALLY.check("%d slow patterns" % count, (refused, "config_unreadable" in rules), (count == 8, count == 8))


def two_files():
    """hf_quant_config.json next to config.json: (its contents, whether it contradicts)."""
    base = lint_files.checkpoints()
    rows = [("nvfp4 of ModelOpt", {"quant_algo": "NVFP4", "group_size": 16, "exclude_modules": ["lm_head"]}, set()),
            ("nvfp4 of ModelOpt", {"quant_algo": "nvfp4"}, set()),
            ("nvfp4 of ModelOpt", {"quant_algo": None}, set()),
            ("nvfp4 of ModelOpt", {"quant_algo": "FP8"}, {"config_conflict"}),
            ("nvfp4 of ModelOpt", {"quant_algo": "MXFP8", "group_size": 32}, {"config_conflict"}),
            ("nvfp4 of ModelOpt", {"quant_algo": "NVFP4", "group_size": 32}, {"config_conflict"}),
            ("nvfp4 of ModelOpt", {"group_size": 32}, {"config_conflict"}),
            ("nvfp4 of ModelOpt", {"quant_algo": "foo"}, {"config_unreadable"}),
            ("nvfp4", {"quant_algo": "NVFP4", "group_size": 16}, set()),
            ("nvfp4", {"quant_algo": "FP8"}, {"config_conflict"}),
            ("nvfp4", {"quant_algo": "NVFP4", "group_size": 32}, {"config_conflict"}),
            ("fp8", {"quant_algo": "FP8"}, set()),
            ("fp8", {"quant_algo": "NVFP4"}, {"config_conflict"})]
    for name, says, want in rows:
        tensors, config = base[name]
        write(tensors)
        say(config)
        say({"producer": {"name": "modelopt"}, "quantization": says}, "hf_quant_config.json")
        what = "%s and hf_quant_config.json %s" % (name, says)
        TALLY.check(what, verdict(what), (bool(want), want))
    say("{", "hf_quant_config.json")
    TALLY.check("hf_quant_config.json is not JSON", verdict("hf_quant_config.json is not JSON"), (True, {"config_unreadable"}))


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        two_files()
        python_numbers()
        many_groups()
        slow_patterns()
        refused_by_programs()
        hostile()
        os.chdir("/")
    return TALLY.finish()


sys.exit(main())
