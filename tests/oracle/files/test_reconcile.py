#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""transcode --reconcile: every byte of the output and every figure of the report against a model in exact fractions, which
knows the layouts from their documents and e4m3 from its definition, and the rule of vLLM for w13 applied to the files.
check --quantized counts the matrices as the model does.

usage: test_reconcile.py DTINFO
"""
import bisect
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

import make_fused
from harness import Tally
from make_fused import make_tensors, write_model
from tensor_files import read_file, write_file

PROGRAM = os.path.abspath(sys.argv[1])
TALLY = Tally()
NAN = 0x7f
# Tensor scale and scale of activations of a module, and whether they are divisors
WORDS = {"modelopt": (".weight_scale_2", ".input_scale", False), "fp8": (".weight_scale", ".input_scale", False),
         "compressed-tensors": (".weight_global_scale", ".input_global_scale", True)}
# What is fused, by the mappings of vLLM's models; written again here, on purpose
FUSED = [("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"), ("q_a_proj", "kv_a_proj_with_mqa"),
         ("in_proj_qkv", "in_proj_z"), ("in_proj_b", "in_proj_a")]


def e4m3(code):
    """The number of a code without a sign, from the definition: 4 bits of exponent with bias 7, 3 of fraction."""
    field, fraction = code >> 3, code & 7
    return Fraction(8 + fraction, 8) * Fraction(2) ** (field - 7) if field else Fraction(fraction, 8) * Fraction(2) ** -6


NUMBERS = [e4m3(code) for code in range(NAN)]


def nearest(number):
    """The code nearest to a number of at most 448; the even one of two."""
    at = bisect.bisect_left(NUMBERS, number)
    if at == len(NUMBERS):
        return at - 1
    if at == 0 or NUMBERS[at] == number:
        return at
    below, above = number - NUMBERS[at - 1], NUMBERS[at] - number
    return at if above < below or (above == below and at % 2 == 0) else at - 1


def rescaled(codes, ratio):
    """New codes, how many keep their number, and the worst relative error of the others."""
    to, errors = {}, {}
    for code in set(codes):
        size = code & 0x7f
        to[code], errors[code] = code, Fraction(0)
        if size not in (0, NAN):
            new = nearest(NUMBERS[size] * ratio)
            to[code] = new | code & 0x80
            errors[code] = abs(NUMBERS[new] / (NUMBERS[size] * ratio) - 1)
    return bytes(to[code] for code in codes), sum(errors[code] == 0 for code in codes), max(errors.values())


def number_of(tensor):
    return Fraction(struct.unpack("<f", tensor[2])[0])


def read_model(path):
    tensors = {}
    for name in sorted(os.listdir(path)) if os.path.isdir(path) else [""]:
        if name == "" or name.endswith(".safetensors"):
            tensors.update(read_file(os.path.join(path, name) if name else path))
    return tensors


def matrices(tensors, layout, fused=None):
    """Lists of stems that are one matrix for loaders, with scales."""
    scale = WORDS[layout][0]
    stems = {name[:-len(scale)] for name in tensors if name.endswith(scale)}
    parents = {stem.rpartition(".")[0] for stem in stems}
    for parent in sorted(parents):
        for names in fused or FUSED:
            there = [parent + "." + name for name in names if parent + "." + name in stems]
            if len(there) > 1:
                yield there


def largest(tensors, names, divides):
    """The number that all share: the largest as a factor."""
    numbers = {name: number_of(tensors[name]) for name in names}
    return min(numbers.values()) if divides else max(numbers.values())


def ratio_of(tensors, names):
    numbers = [number_of(tensors[name]) for name in names]
    return max(numbers) / min(numbers)


class Model:
    """What the output and the report should be."""

    def __init__(self, tensors, layout, fused=None, chosen=lambda stem: True):
        self.tensors, self.layout = dict(tensors), layout
        self.changed = {}      # stem: (blocks, lossless, worst)
        self.weights, self.inputs, self.left = [], [], 0
        for stems in matrices(tensors, layout, fused):
            self.settle(tensors, stems, chosen)

    def settle(self, tensors, stems, chosen):
        scale, given, divides = WORDS[self.layout]
        names = [stem + scale for stem in stems]
        inputs = [stem + given for stem in stems if stem + given in tensors]
        self.weights.append(ratio_of(tensors, names))
        if len(inputs) > 1:
            self.inputs.append(ratio_of(tensors, inputs))
        if self.weights[-1] == 1 and (len(inputs) < 2 or self.inputs[-1] == 1):
            return
        if not chosen(stems[0]):
            self.left += 1
            return
        shared = largest(tensors, names, divides)
        for stem, name in zip(stems, names):
            codes = stem + (".weight" if self.layout == "fp8" else ".weight_scale")
            dtype, shape, raw = tensors[codes]
            own = number_of(tensors[name])
            new, same, worst = rescaled(raw, shared / own if divides else own / shared)
            self.changed[stem + ".weight"] = (len(raw), same, worst)
            self.tensors[codes] = (dtype, shape, new)
            self.set(name, shared)
        for name in inputs:
            self.set(name, largest(tensors, inputs, divides))

    def set(self, name, number):
        dtype, shape, _ = self.tensors[name]
        self.tensors[name] = (dtype, shape, struct.pack("<f", float(number)))

    def totals(self):
        def tally(ratios):
            return {"matrices": len(ratios), "differing": sum(ratio != 1 for ratio in ratios),
                    "worst_ratio": float(max(ratios, default=1))}
        return {"weights": tally(self.weights), "inputs": tally(self.inputs), "left": self.left}


def run(*words, code=0):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    TALLY.check("exit code of %s: %s" % (" ".join(words), done.stderr), done.returncode, code)
    return done


def fused_of(path):
    done = subprocess.run([PROGRAM, "check", path, "--quantized", "--json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["files"][0]["fused"]


def judge(what, path, report, model):
    """The files, then the report."""
    made = read_model(path)
    TALLY.check(what + ": names", sorted(made), sorted(model.tensors))
    for name, tensor in model.tensors.items():
        TALLY.check("%s: %s" % (what, name), made.get(name),
                    (tensor[0], list(tensor[1]), tensor[2]))
    told = {entry["name"]: entry for entry in report["translated"]}
    TALLY.check(what + ": tensors", sorted(told), sorted(model.changed))
    for name, (blocks, same, worst) in model.changed.items():
        entry = told[name]
        TALLY.check("%s: %s" % (what, name), (entry["blocks"], entry["lossless_blocks"], entry["worst_error"]),
                    (blocks, same, float(worst) if same < blocks else None))
    totals = report["totals"]
    TALLY.check(what + ": matrices", totals["reconciled"], model.totals())
    TALLY.check(what + ": blocks", (totals["blocks"], totals["lossless_blocks"], totals["lossless"]),
                (sum(blocks for blocks, _, _ in model.changed.values()), sum(same for _, same, _ in model.changed.values()),
                 sum(blocks == same for blocks, same, _ in model.changed.values())))
    TALLY.check(what + ": worst", totals["worst_error"] or 0.0, float(max((w for _, _, w in model.changed.values()), default=0)))
    part = {entry["name"]: entry["of"] for entry in report["tensors"] if entry["fate"] == "translated"}
    TALLY.check(what + ": parts", set(part.values()) <= set(model.changed), True)
    TALLY.check(what + ": other parts are as they were",
                all(made[name] == tuple(model.tensors[name]) for name in made if name not in part), True)


def rule_of_vllm(tensors, layout):
    """The pairs of w13 for which vLLM would take one scale of two that differ: fused_moe's weight_scale_2[:, 0] and [:, 1],
    or the global scales of compressed-tensors. And the worst ratio."""
    scale, pairs, differing, worst = WORDS[layout][0], 0, 0, 1.0
    for name in tensors:
        if ".experts." in name and name.endswith(".gate_proj" + scale):
            w1, w3 = (struct.unpack("<f", tensors[other][2])[0] for other in
                      (name, name.replace(".gate_proj.", ".up_proj.")))
            pairs += 1
            differing += w1 != w3
            worst = max(worst, w1 / w3, w3 / w1)
    return pairs, differing, worst


def many_experts():
    """Hundreds of pairs, as in the thread."""
    for layout, shards in (("modelopt", 3), ("compressed-tensors", 1)):
        tensors = make_tensors(layout, layers=6, experts=96)
        write_model("in", tensors, layout, shards)
        pairs, differing, worst = rule_of_vllm(read_model("in"), layout)
        TALLY.check(layout + ": pairs are as in the thread", pairs == 576 and differing > 350 and 9 < worst <= 10, True)
        model = Model(read_file("in/model.safetensors") if shards == 1 else read_model("in"), layout)
        before = fused_of("in")
        TALLY.check(layout + ": check", before, model.totals()["weights"])
        report = json.loads(run("transcode", "in", "--reconcile", "-o", "out", "--json").stdout)
        judge(layout, "out", report, model)
        TALLY.check(layout + ": vLLM's rule", rule_of_vllm(read_model("out"), layout), (pairs, 0, 1.0))
        TALLY.check(layout + ": check again", fused_of("out"), {"matrices": before["matrices"], "differing": 0, "worst_ratio": 1})
        for name in ("config.json",) + (("model.safetensors.index.json",) if shards > 1 else ()):
            with open("in/" + name) as one, open("out/" + name) as other:
                TALLY.check("%s: %s" % (layout, name), json.load(other), json.load(one))
        again = json.loads(run("transcode", "out", "--reconcile", "-o", "again", "--json").stdout)
        TALLY.check(layout + ": nothing more to do", (again["totals"]["translated"], read_model("again") == read_model("out")),
                    (0, True))
        for folder in ("in", "out", "again"):
            shutil.rmtree(folder)
    TALLY.part("hundreds of pairs")


def the_thread():
    """Its table, before and after."""
    tensors = make_fused.like_the_thread()
    write_model("in", tensors, "modelopt", 8)
    pairs = make_fused.THREAD_LAYERS * make_fused.THREAD_EXPERTS
    TALLY.check("the thread: pairs", rule_of_vllm(tensors, "modelopt"), (12384, 8563, 10.0))
    TALLY.check("the thread: check", fused_of("in"), {"matrices": pairs, "differing": 8563, "worst_ratio": 10})
    note = [line for line in subprocess.run([PROGRAM, "check", "in", "--quantized"], capture_output=True, text=True,
                                            check=False).stdout.splitlines() if "fused modules" in line]
    TALLY.check("the thread: one line", note, ["note: fused modules: tensor scales differ in 8563 of 12384 matrices, up to 10 "
                                               "times; 'dtinfo transcode --reconcile' gives each its largest"])
    report = json.loads(run("transcode", "in", "--reconcile", "-o", "out", "--json").stdout)
    judge("the thread", "out", report, Model({name: (dtype, list(shape), raw) for name, (dtype, shape, raw) in tensors.items()},
                                             "modelopt"))
    TALLY.check("the thread: after", rule_of_vllm(read_model("out"), "modelopt"), (pairs, 0, 1.0))
    TALLY.check("the thread: check after", fused_of("out"), {"matrices": pairs, "differing": 0, "worst_ratio": 1})
    shutil.rmtree("in")
    shutil.rmtree("out")
    TALLY.part("the thread's table")


def every_code():
    """All codes with many ratios: powers of two, neighbours, halfway cases, and ratios at which blocks become 0."""
    ratios = [1.0, 0.5, 0.25, 2.0 ** -9, 2.0 ** -10, 2.0 ** -18, 2.0 ** -19, 2.0 ** -60, 0.75, 0.9375, 0.96875, 0.1, 1 / 3, 1e-3,
              1 - 2.0 ** -24, 0.5 + 2.0 ** -24, 2.0 ** -10 + 2.0 ** -33, 2.0 ** -10 - 2.0 ** -35]
    for layout in ("modelopt", "compressed-tensors", "fp8"):
        divides, tensors = WORDS[layout][2], {}
        for base in (1.0, 1.1754943508222875e-38 * 4, 2.0 ** 100, 1e-5):
            for at, ratio in enumerate(ratios):
                for name, factor in (("gate_proj", base), ("up_proj", base * ratio)):
                    if not 1e-38 < base * ratio < 1e38 or not 1e-38 < 1 / (base * ratio) < 1e38:
                        continue
                    stem = "m%d.%d.%s.weight" % (int(base > 1) * 4 + int(base < 1e-9) * 2 + int(base == 1), at, name)
                    number = struct.pack("<f", 1 / factor if divides else factor)
                    if layout == "fp8":
                        tensors[stem] = ("F8_E4M3", [4, 64], bytes(code for code in range(256)))
                        tensors[stem + "_scale"] = ("F32", [], number)
                        continue
                    packed, scale = ("_packed", "_global_scale") if divides else ("", "_scale_2")
                    tensors[stem + packed] = ("U8", [16, 128], bytes(range(256)) * 8)
                    tensors[stem + "_scale"] = ("F8_E4M3", [16, 16], bytes(range(256)))
                    tensors[stem + scale] = ("F32", [1] if divides else [], number)
        write_file("all.safetensors", tensors)
        report = json.loads(run("transcode", "all.safetensors", "--reconcile", "-o", "new.safetensors", "--json").stdout)
        judge("all codes of " + layout, "new.safetensors", report, Model(read_file("all.safetensors"), layout))
        os.remove("new.safetensors")
    TALLY.part("all codes and many ratios")


def by_numpy():
    """The numbers, in fp64 by numpy and ml_dtypes, where they are installed: no error is above the worst, and blocks that
    count as the same are."""
    try:
        import ml_dtypes
        import numpy as np
    except ImportError:
        TALLY.skip("numpy and ml_dtypes")
        return
    tensors = make_tensors("modelopt", layers=2, experts=24, seed=3)
    write_model("in", tensors, "modelopt")
    report = json.loads(run("transcode", "in", "--reconcile", "-o", "out", "--json").stdout)
    made = read_model("out")

    def scales(of, stem):
        codes = np.frombuffer(of[stem + "_scale"][2], np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
        return codes * float(number_of(of[stem + "_scale_2"]))
    for entry in report["translated"]:
        old, new = scales(tensors, entry["name"]), scales(made, entry["name"])
        errors = np.abs(new - old) / old
        TALLY.check("numpy: " + entry["name"], (int((new == old).sum()), abs(errors.max() - (entry["worst_error"] or 0)) < 1e-12),
                    (entry["lossless_blocks"], True))
    shutil.rmtree("in")
    shutil.rmtree("out")
    TALLY.part("numbers by numpy")


def choices():
    """Patterns, groups of the user, missing members, long names, require-lossless."""
    tensors = make_tensors("modelopt", layers=2, experts=4, seed=7)
    write_model("in", tensors, "modelopt", 2)
    given = read_model("in")

    def reconciled(what, words, model):
        report = json.loads(run("transcode", "in", "--reconcile", "-o", "out", "--json", *words).stdout)
        judge(what, "out", report, model)
        shutil.rmtree("out")
    reconciled("--only", ["--only", "*experts*"], Model(given, "modelopt", None, lambda stem: ".experts." in stem))
    reconciled("--keep", ["--keep", "*layers.1.*,*q_proj*,*k_proj*,*v_proj*"],
               Model(given, "modelopt", None, lambda stem: ".layers.1." not in stem and "self_attn" not in stem))
    own = [("o_proj", "q_proj", "k_proj", "v_proj")] + FUSED[1:]
    reconciled("--fused", ["--fused", "q_proj,k_proj,v_proj,o_proj"], Model(given, "modelopt", own))
    reconciled("--fused, without v_proj", ["--fused", "q_proj,o_proj"],
               Model(given, "modelopt", [("q_proj", "o_proj")] + FUSED[1:]))
    reconciled("threads", ["--threads", "3", "--max-memory", "1MiB"], Model(given, "modelopt"))
    done = run("transcode", "in", "--reconcile", "-o", "out", "--only", "*q_proj*", code=2)
    TALLY.check("a part of a matrix", "which the patterns leave as it is" in done.stderr and not os.path.exists("out"), True)
    run("transcode", "in", "--reconcile", "-o", "out", "--select", "*layers.0.self_attn.k_proj*")
    everything = Model(given, "modelopt").tensors
    TALLY.check("--select", {k: v[2] for k, v in read_model("out").items()},
                {k: v[2] for k, v in everything.items() if "layers.0.self_attn.k_proj" in k})
    shutil.rmtree("out")
    for part in (1, 2):
        run("transcode", "in", "--reconcile", "-o", "out", "--part", "%d/2" % part)
    run("transcode", "in", "--reconcile", "-o", "out", "--finish")
    TALLY.check("--part", read_model("out"), {k: (v[0], list(v[1]), v[2]) for k, v in everything.items()})
    shutil.rmtree("out")
    done = run("transcode", "in", "--reconcile", "-o", "out", "--require-lossless", code=1)
    TALLY.check("--require-lossless", "nothing is written" in done.stderr and not os.path.exists("out"), True)
    done = run("transcode", "in", "--reconcile", "-o", "out", "--fused", "a_proj,b_proj", code=2)
    TALLY.check("--fused that nothing has", "--fused" in done.stderr, True)
    for words in (["--fused", "q_proj"], ["--fused", "q_proj,"], ["--fused", "q_*,k_proj"], ["--fused", "q_proj,q_proj"],
                  ["--fused", ",".join("abcdefghi")], ["--fused", "x" * 60 + ",b"], ["--to", "modelopt"], ["--dtype", "nvfp4"]):
        run("transcode", "in", "--reconcile", "-o", "out", *words, code=2)
    shutil.rmtree("in")
    TALLY.part("patterns and options")


def pair(layout, first, second, names=("gate_proj", "up_proj"), parent="model.layers.0.mlp.", inputs=()):
    tensors, compressed = {}, layout == "compressed-tensors"
    rng = make_fused.random.Random(5)
    for name, scale in zip(names, (first, second)):
        tensors.update(make_fused.nvfp4(rng, parent + name, 4, 1.0, compressed))
        tensors[parent + name + WORDS[layout][0]] = ("F32", [1] if compressed else [], struct.pack("<f", scale))
    for name, number in zip(names, inputs):
        tensors[parent + name + WORDS[layout][1]] = ("F32", [1] if compressed else [], struct.pack("<f", number))
    return tensors


def errors():
    def refused(what, tensors, code, words, *more):
        write_file("bad.safetensors", tensors)
        done = run("transcode", "bad.safetensors", "--reconcile", "-o", "new.safetensors", *more, code=code)
        TALLY.check(what, (all(word in done.stderr for word in words), done.stderr.count("\n"), os.path.exists("new.safetensors")),
                    (True, 1, False))
    for layout in ("modelopt", "compressed-tensors"):
        for bad in (0.0, -1.0, float("nan"), float("inf")):
            refused("%s: a tensor scale %s" % (layout, bad), pair(layout, 0.5, bad), 3, ["up_proj", "finite number above 0"])
            refused("%s: a scale of activations %s" % (layout, bad), pair(layout, 0.5, 0.25, inputs=(1.0, bad)), 3,
                    ["up_proj", "above 0"])
    one = pair("modelopt", 0.5, 0.25)
    for name in [name for name in one if "up_proj" in name]:
        missing = {key: value for key, value in one.items() if key != name}
        if name.endswith("_scale") or name.endswith(".weight"):
            refused("without " + name, missing, 3, ["up_proj"])
    alone = {key: value for key, value in one.items() if "up_proj" not in key}
    refused("the partner is missing", alone, 3, ["no fused modules", "--fused"])
    # a power of two apart: lossless, unless scales of activations differ
    write_file("two.safetensors", pair("modelopt", 0.5, 0.25))
    scale = "model.layers.0.mlp.up_proj.weight_scale"
    tensors = read_file("two.safetensors")
    tensors[scale] = (*tensors[scale][:2], bytes(range(0x38, 0x38 + 16)))
    write_file("two.safetensors", tensors)
    report = json.loads(run("transcode", "two.safetensors", "--reconcile", "-o", "new.safetensors", "--require-lossless", "--json").stdout)
    judge("a power of two", "new.safetensors", report, Model(tensors, "modelopt"))
    os.remove("new.safetensors")
    tensors["model.layers.0.mlp.gate_proj.input_scale"] = ("F32", [], struct.pack("<f", 1.0))
    tensors["model.layers.0.mlp.up_proj.input_scale"] = ("F32", [], struct.pack("<f", 1.5))
    refused("--require-lossless and activations", tensors, 1, ["gate_proj.input_scale", "nothing is written"], "--require-lossless")
    long = "a" * 3000 + "." + "b" * 900 + "."
    write_file("long.safetensors", pair("compressed-tensors", 3.0, 1.0, parent=long))
    report = json.loads(run("transcode", "long.safetensors", "--reconcile", "-o", "new.safetensors", "--json").stdout)
    judge("long names", "new.safetensors", report, Model(read_file("long.safetensors"), "compressed-tensors"))
    os.remove("new.safetensors")
    TALLY.part("errors, and the ends of what is possible")


def comfy():
    """ComfyUI's tiles: scales are in tiles of 128 rows by 4 columns, with padding that is not counted."""
    rng, tensors = make_fused.random.Random(11), {}
    rows, columns = 24, 96
    for name, scale in (("attn.to_q", 3e-4), ("attn.to_k", 1e-4), ("attn.to_v", 2.5e-4)):
        tensors[name + ".weight"] = ("U8", [rows, columns // 2], rng.randbytes(rows * columns // 2))
        tiles = bytearray(128 * 8)
        for row in range(rows):
            for column in range(columns // 16):
                at = column // 4 * 512 + row % 32 * 16 + row // 32 * 4 + column % 4
                tiles[at] = rng.randrange(1, 0x7f)
        tensors[name + ".weight_scale"] = ("F8_E4M3", [128, 8], bytes(tiles))
        tensors[name + ".weight_scale_2"] = ("F32", [], struct.pack("<f", scale))
        tensors[name + ".comfy_quant"] = ("U8", [19], b'{"format": "nvfp4"}')
    write_file("comfy.safetensors", tensors, {"_quantization_metadata": json.dumps({"layers": {}})})
    done = run("transcode", "comfy.safetensors", "--reconcile", "-o", "new.safetensors", code=3)
    TALLY.check("ComfyUI fuses nothing", "--fused" in done.stderr, True)
    report = json.loads(run("transcode", "comfy.safetensors", "--reconcile", "--fused", "to_q,to_k,to_v", "-o", "new.safetensors",
                            "--json").stdout)
    made, shared = read_file("new.safetensors"), number_of(tensors["attn.to_q.weight_scale_2"])
    for name in ("attn.to_q", "attn.to_k", "attn.to_v"):
        raw = tensors[name + ".weight_scale"][2]
        new, _, _ = rescaled(raw, number_of(tensors[name + ".weight_scale_2"]) / shared)
        _, same, worst = rescaled(bytes(code for code in raw if code), number_of(tensors[name + ".weight_scale_2"]) / shared)
        entry = next(entry for entry in report["translated"] if entry["name"] == name + ".weight")
        TALLY.check("comfy: " + name, (made[name + ".weight_scale"][2], made[name + ".weight"][2], made[name + ".comfy_quant"][2]),
                    (new, tensors[name + ".weight"][2], tensors[name + ".comfy_quant"][2]))
        TALLY.check("comfy: figures of " + name, (entry["blocks"], entry["lossless_blocks"], entry["worst_error"] or 0),
                    (rows * columns // 16, same, float(worst)))
    with open("new.safetensors", "rb") as file:
        TALLY.check("comfy: metadata", b"_quantization_metadata" in file.read(4096), True)
    os.remove("new.safetensors")
    TALLY.part("ComfyUI's tiles")


def rows_of_the_table():
    """Names of every architecture: which of them are one matrix."""
    cases = [("kimi", ["q_proj", "k_proj", "v_proj", "b_proj", "f_a_proj", "g_proj"], True),
             ("kimi.gate", ["q_proj", "k_proj", "v_proj", "b_proj", "forget_gate.f_a_proj"], True),
             ("gemma", ["q_proj", "k_proj"], True), ("mistral", ["wq", "wk", "wv"], True), ("w13", ["w1", "w3"], True),
             ("latent", ["q_a_proj", "kv_a_proj_with_mqa", "g_proj"], True), ("mistral3", ["wq_a", "wkv_a_with_mqa"], True),
             ("v4", ["q_a_proj", "kv_proj"], True), ("v4.native", ["wq_a", "wkv"], True),
             ("qwen", ["in_proj_qkv", "in_proj_z"], True), ("qwen.small", ["in_proj_b", "in_proj_a"], True),
             ("no.q_lora", ["q_proj", "kv_a_proj_with_mqa", "g_proj"], False), ("v_alone", ["v_proj", "o_proj"], False),
             ("next", ["in_proj_qkvz", "in_proj_ba"], False), ("no.v", ["gate_proj", "down_proj"], False)]
    for parent, names, fused in cases:
        tensors, stem = {}, parent + "."
        for at, name in enumerate(names):
            tensors.update({key: value for key, value in pair("modelopt", 0.5, 1 / (at + 3), names=("x", name), parent=stem).items()
                            if key.startswith(stem + name + ".")})
        write_file("rows.safetensors", tensors)
        counts = fused_of("rows.safetensors")
        TALLY.check(parent, (counts["matrices"], counts["differing"]), (int(fused), int(fused)))
        if fused:
            report = json.loads(run("transcode", "rows.safetensors", "--reconcile", "-o", "new.safetensors", "--json").stdout)
            TALLY.check(parent + ": all of them", sorted(entry["name"] for entry in report["translated"]),
                        sorted(stem + name + ".weight" for name in names))
            TALLY.check(parent + ": after", fused_of("new.safetensors")["differing"], 0)
            os.remove("new.safetensors")
    TALLY.part("rows of the table")


def main():
    with tempfile.TemporaryDirectory(prefix="dtinfo-reconcile-") as folder:
        os.chdir(folder)
        many_experts()
        the_thread()
        every_code()
        by_numpy()
        choices()
        errors()
        comfy()
        rows_of_the_table()
    return TALLY.finish()


if __name__ == "__main__":
    sys.exit(main())
