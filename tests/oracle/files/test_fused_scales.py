#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nvfp4 of projections that loaders fuse into one matrix: their shared tensor scale, block scales and codes, against
numpy and ml_dtypes, which compute them from the largest magnitude of all members. The bytes do not depend on which
part of the input a run writes; explain and verify find the recipe, and check --quantized agrees.

usage: test_fused_scales.py DTINFO
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from harness import Tally, have
from tensor_files import read_file, write_file

PROGRAM = os.path.abspath(sys.argv[1])
np, ml_dtypes = have("numpy"), have("ml_dtypes")
if not np or not ml_dtypes or not hasattr(ml_dtypes, "float4_e2m1fn"):
    print("skipped: needs numpy and ml_dtypes with float4_e2m1fn")
    sys.exit(77)
TALLY = Tally()
RANDOM = np.random.default_rng(19)
DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16}
LAYOUTS = {"compressed-tensors": ("_packed", "_scale", "_global_scale"), "modelopt": ("", "_scale", "_scale_2")}
LAYER = "model.layers.%d."
# Sets of (member, dtype, rows, largest magnitude); in the next layer the next member has that magnitude
SETS = [
    [("self_attn.q_proj", "BF16", 32, 0.1), ("self_attn.k_proj", "BF16", 16, 3.0), ("self_attn.v_proj", "BF16", 16, 0.02)],
    [("mlp.gate_proj", "BF16", 48, 0.5), ("mlp.up_proj", "BF16", 48, 0.7)],
    [("mlp.experts.0.w1", "F32", 8, 2.0), ("mlp.experts.0.w3", "F16", 8, 1.0)],
    [("mlp.experts.1.w1", "F32", 8, 1e-3), ("mlp.experts.1.w3", "F64", 8, 900.0)],
    [("mla.q_a_proj", "BF16", 8, 1.0), ("mla.kv_a_proj_with_mqa", "F32", 5, 6.0)],
    [("linear.in_proj_qkv", "F32", 7, 1.0), ("linear.in_proj_z", "F32", 9, 0.0)],
    [("linear.in_proj_b", "F32", 7, 4.0), ("linear.in_proj_a", "F32", 9, 2.0)],
    # alone: without the other member, in another module, or under another name
    [("self_attn.o_proj", "BF16", 16, 1.5)], [("mlp.down_proj", "BF16", 16, 0.3)], [("shared.up_proj", "F32", 4, 0.2)],
    [("other.k_proj", "F32", 4, 5.0)], [("mlp.experts.0.w2", "F32", 8, 0.4)], [("self_attn.xq_proj", "F32", 4, 0.9)],
    [("self_attn.xk_proj", "F32", 4, 1.9)],
]
COLUMNS = 64


def numbers(rows, largest):
    made = RANDOM.standard_normal((rows, COLUMNS)) * np.exp(RANDOM.standard_normal((rows, 1)) * 2)
    return made / np.abs(made).max() * largest


def make_model():
    """{name: array}, and {name: the other members}."""
    arrays, others = {}, {}
    for layer in range(3):
        for members in SETS:
            names = [LAYER % layer + name + ".weight" for name, *_ in members]
            for at, (name, (_, dtype, rows, _)) in enumerate(zip(names, members)):
                arrays[name] = numbers(rows, members[(at - layer) % len(members)][3]).astype(DTYPES[dtype])
                others[name] = [other for other in names if other != name]
    for name in ("q_proj.weight", "k_proj.weight"):     # not part of any module
        arrays[name] = numbers(4, 0.1 if name[0] == "q" else 8.0).astype(np.float32)
    others["q_proj.weight"], others["k_proj.weight"] = ["k_proj.weight"], ["q_proj.weight"]
    # special values are outside the range; the only other member is integers
    arrays[LAYER % 0 + "mlp.gate_proj.weight"][3, 5] = np.inf
    arrays[LAYER % 1 + "mlp.up_proj.weight"][0, 0] = np.nan
    arrays["bits.w1.weight"] = numbers(4, 1.0).astype(np.float32)
    others["bits.w1.weight"] = []
    return arrays, others


def stored(array):
    dtype = next(name for name, kind in DTYPES.items() if array.dtype == kind)
    return dtype, array.shape, array.tobytes()


def write_model(folder, arrays, shards=3):
    """Members of a set are in different shards."""
    os.makedirs(folder, exist_ok=True)
    places = {}
    files = [{} for _ in range(shards)]
    for at, (name, array) in enumerate(arrays.items()):
        files[at % shards][name] = stored(array)
    files[0]["bits.w3.weight"] = ("I32", (4, 4), bytes(range(64)))
    for at, tensors in enumerate(files):
        path = "model-%05d-of-%05d.safetensors" % (at + 1, shards)
        write_file(os.path.join(folder, path), tensors)
        places.update({name: path for name in tensors})
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as file:
        json.dump({"metadata": {}, "weight_map": places}, file)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump({"model_type": "llama"}, file)


def run(*words, code=0):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    TALLY.check("exit code of %s: %s" % (" ".join(words), done.stderr), done.returncode, code)
    return done.stdout


def quant(source, target, *words):
    run("quant", source, "nvfp4", "-o", target, "-q", "--force", *words)


def read_model(path):
    tensors = {}
    names = [path] if not os.path.isdir(path) else [os.path.join(path, name) for name in sorted(os.listdir(path))]
    for name in names:
        if name.endswith(".safetensors"):
            tensors.update(read_file(name))
    return tensors


def largest(arrays):
    """The largest magnitude of all finite numbers, as fp32."""
    with np.errstate(over="ignore"):
        all_of = np.concatenate([np.asarray(array).astype(np.float32).ravel() for array in arrays])
    return np.abs(all_of[np.isfinite(all_of)]).max(initial=np.float32(0))


def expected(array, amax, layout, rule):
    """Codes, block scales and the tensor scale as stored. All-zero tensors have the tensor scale 1; a block with scale
    0, or with a special value, has codes 0."""
    x = np.asarray(array).astype(np.float32).reshape(array.shape[0], -1, 16)
    scale = np.float32(amax) / np.float32(rule) if amax else np.float32(1)
    kept = scale
    if layout == "compressed-tensors":
        kept = np.float32(1) / scale
        scale = np.float32(1) / kept
    with np.errstate(all="ignore"):
        special = ~np.isfinite(x).all(-1, keepdims=True)
        clean = np.where(special, 0, x)
        blocks = np.abs(clean).max(-1, keepdims=True) / np.float32(6) / scale
        blocks = np.minimum(blocks, np.float32(448)).astype(ml_dtypes.float8_e4m3fn)
        factor = blocks.astype(np.float32)
        factor = factor / kept if layout == "compressed-tensors" else factor * scale
        quotient = np.where(factor == 0, 0, clean / factor).astype(np.float32)
        codes = np.clip(quotient, -6, 6).astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 15
    codes = np.where(special | (factor == 0), 0, codes)
    scales = np.where(special, 0x7F, blocks.view(np.uint8)).astype(np.uint8)
    return codes, scales[..., 0], kept


def check_model(what, path, arrays, others, layout, shared=True, rule=2688):
    """Checks every tensor of the file with numpy."""
    made, wrong = read_model(path), 0
    packed, block, tensor = LAYOUTS[layout]
    for name, array in arrays.items():
        if name + packed not in made:
            continue
        together = [array] + [arrays[other] for other in others[name] if shared]
        codes, scales, kept = expected(array, largest(together), layout, rule)
        got = np.frombuffer(made[name + packed][2], np.uint8)
        got = np.stack([got & 15, got >> 4], axis=-1).reshape(codes.shape)
        got_scales = np.frombuffer(made[name + block][2], np.uint8).reshape(scales.shape)
        got_scale = np.frombuffer(made[name + tensor][2], np.float32)[0]
        TALLY.check("%s: %s: tensor scale" % (what, name), float(got_scale), float(kept))
        wrong += (got_scales != scales).sum() + (got != codes).sum()
        TALLY.checked += scales.size + codes.size
    TALLY.check(what + ": block scales and codes that differ", wrong, 0)


def by_numpy(arrays, others):
    for layout in LAYOUTS:
        for words, shared, rule in (([], True, 2688), (["--tensor-scale", "auto"], True, 2688),
                                    (["--tensor-scale", "own"], False, 2688)):
            what = " ".join([layout, *words])
            quant("model", "out", "--layout", layout, *words)
            check_model(what, "out", arrays, others, layout, shared, rule)
            TALLY.check(what + ": all are there", sum(name + LAYOUTS[layout][2] in read_model("out") for name in arrays),
                        len(arrays))
            shutil.rmtree("out")
    quant("model", "fours", "--nv-scale", "four-six")
    for name, array in arrays.items():      # blocks choose individually; the tensor scale is shared
        kept = expected(array, largest([array] + [arrays[other] for other in others[name]]), "compressed-tensors", 1536)[2]
        got = np.frombuffer(read_model("fours")[name + "_global_scale"][2], np.float32)[0]
        TALLY.check("four-six: " + name, float(got), float(kept))
    TALLY.part("numpy and ml_dtypes")


def told(arrays, others):
    answer = json.loads(run("quant", "model", "nvfp4", "-o", "told", "--json"))
    TALLY.check("how many share scales", answer["totals"]["fused"], sum(len(others[name]) > 0 for name in arrays))
    for entry in answer["tensors"]:
        name = entry["name"]
        TALLY.check("with which %s does" % name, sorted(other["name"] for other in entry["fused_with"]),
                    sorted(others.get(name, [])))
        if name in arrays:      # the range still comes from the tensor itself
            finite = arrays[name].astype(np.float32)
            finite = finite[np.isfinite(finite)]
            TALLY.check(name + ": range", (entry["min"]["value"], entry["max"]["value"]), (finite.min(), finite.max()))
    answer = json.loads(run("quant", "model", "nvfp4", "-o", "own", "--tensor-scale", "own", "--json"))
    TALLY.check("none with own", (answer["totals"]["fused"], [entry["fused_with"] for entry in answer["tensors"] if entry["fused_with"]]),
                (0, []))
    planned = json.loads(run("quant", "model", "nvfp4", "-o", "planned", "--dry-run", "--json"))
    TALLY.check("--dry-run", planned["totals"]["fused"], sum(len(others[name]) > 0 for name in arrays))
    TALLY.part("the report")


def parts_of(tensors, name):
    return {key: value for key, value in tensors.items() if key.startswith(name + "_")}


def the_same_bytes(arrays):
    """Independent of what else the same run writes."""
    quant("model", "whole")
    whole = read_model("whole")
    for words in (["--threads", "1"], ["--threads", "7"], ["--max-memory", "1MiB", "--threads", "2"]):
        quant("model", "again", *words)
        TALLY.check(" ".join(words), read_model("again") == whole, True)
        shutil.rmtree("again")
    for count in (2, 3, 5):
        for part in range(1, count + 1):
            quant("model", "parts", "--part", "%d/%d" % (part, count))
        quant("model", "parts", "--finish")
        for name in sorted(os.listdir("whole")):
            with open(os.path.join("whole", name), "rb") as one, open(os.path.join("parts", name), "rb") as other:
                TALLY.check("%d parts: %s" % (count, name), one.read() == other.read(), True)
        shutil.rmtree("parts")
    for name in arrays:
        for words in (["--select", name], ["--quant-only", name]):
            quant("model", "one.safetensors", *words)
            TALLY.check(" ".join(words), parts_of(read_file("one.safetensors"), name), parts_of(whole, name))
    quant("model", "kept.safetensors", "--keep", "*k_proj*,*up_proj*,*w3*")
    kept = read_file("kept.safetensors")
    for name in arrays:
        if "k_proj" not in name and "up_proj" not in name and "w3" not in name:
            TALLY.check("others are kept: " + name, parts_of(kept, name), parts_of(whole, name))
    many = {"layers.%d.%s_proj.weight" % (layer, which): numbers(2, 1 + RANDOM.random()).astype(np.float32)
            for layer in range(150) for which in "qkv"}
    write_file("many.safetensors", {name: stored(array) for name, array in many.items()})
    quant("many.safetensors", "all.safetensors")
    quant("many.safetensors", "some.safetensors", "--quant-only", "*k_proj*")   # many other members to read
    everything, some = read_file("all.safetensors"), read_file("some.safetensors")
    for name in many:
        if "k_proj" in name:
            TALLY.check("of many: " + name, parts_of(some, name), parts_of(everything, name))
    os.mkdir("spread")      # members far apart, and in one file
    write_file("spread/model.safetensors", {name: stored(array) for name, array in sorted(arrays.items(), key=lambda pair: pair[0][::-1])})
    quant("spread/model.safetensors", "spread.safetensors")
    TALLY.check("one file", {k: v for k, v in read_file("spread.safetensors").items() if not k.startswith("bits")},
                {k: v for k, v in whole.items() if not k.startswith("bits")})
    # column-major arrays are quantized one after the other: the others are read only for their ranges
    npz = {name: array.astype(np.float32) for name, array in arrays.items()}
    for save in (np.savez, np.savez_compressed):
        save("model.npz", **{name: np.asfortranarray(array) if at % 3 else array for at, (name, array) in enumerate(npz.items())})
        quant("model.npz", "npz.safetensors")
        got = read_file("npz.safetensors")
        for name, array in arrays.items():
            if array.dtype != np.float64:       # the numbers of fp64 arrays were rounded
                TALLY.check("%s: %s" % (save.__name__, name), parts_of(got, name), parts_of(whole, name))
    TALLY.part("parts, patterns, orders")


def explained():
    def recipes(path):
        return {entry["name"]: entry for entry in json.loads(run("explain", "model", path, "--json"))["tensors"]}

    quant("model", "own", "--tensor-scale", "own")
    for path, other in (("whole", "own"), ("own", "whole")):
        found = recipes(path)
        for name, entry in found.items():
            TALLY.check("%s: %s" % (path, entry), entry["outcome"], "explained")
        q, k = found[LAYER % 0 + "self_attn.q_proj.weight"], found[LAYER % 0 + "self_attn.k_proj.weight"]
        TALLY.check(path + ": q", q["recipe"], "quant nvfp4" + (" --tensor-scale own" if path == "own" else ""))
        TALLY.check(path + ": k, whose number is the largest", k["recipe"] in ("quant nvfp4", q["recipe"]), True)
        TALLY.check(path + ": o", found[LAYER % 0 + "self_attn.o_proj.weight"]["recipe"], "quant nvfp4")
        with open("recipe.json", "w") as file:
            file.write(run("explain", "model", path, "--json"))
        run("verify", "model", path, "--recipe", "recipe.json", "-q")
        run("verify", "model", other, "--recipe", "recipe.json", "-q", code=1)
    for text, path, code in (("quant nvfp4", "whole", 0), ("quant nvfp4 --tensor-scale own", "own", 0),
                             ("quant nvfp4", "own", 1), ("quant nvfp4 --tensor-scale own", "whole", 1)):
        with open("recipe.txt", "w") as file:
            json.dump({"recipe": text, "tensors": [{"name": "bits.w3.weight", "recipe": "kept"}]}, file)
        run("verify", "model", path, "--recipe", "recipe.txt", "-q", code=code)
    TALLY.part("explain and verify")


def linted(others):
    def found(path):
        done = subprocess.run([PROGRAM, "check", path, "--quantized", "--json"], capture_output=True, text=True, check=False)
        failures = [failure for assertion in json.loads(done.stdout)["files"][0]["assertions"] for failure in assertion["failures"]]
        return {failure["tensor"] for failure in failures if failure["rule"] == "fused_scale"}

    TALLY.check("check of shared scales", found("whole"), set())
    flagged = found("own")
    TALLY.check("check of own scales", all(others[name] for name in flagged) and len(flagged) >= sum(map(bool, others.values())) // 2, True)
    TALLY.part("check --quantized")


def main():
    with tempfile.TemporaryDirectory(prefix="dtinfo-fused-") as folder:
        os.chdir(folder)
        arrays, others = make_model()
        write_model("model", arrays)
        by_numpy(arrays, others)
        told(arrays, others)
        the_same_bytes(arrays)
        shutil.rmtree("own")
        explained()
        linted(others)
        os.chdir("/")
    TALLY.finish()


main()
