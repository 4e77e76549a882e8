#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dtinfo reads what dtinfo writes: each layout that quant and transcode write, with its config.json and as a single
file, by each command that reads. The numbers equal those of the quantization they came from where the report claims
so, otherwise they are within the reported error; and the quantization is close to its input. What a layout cannot hold
is a one-line error, and nothing is written. On a push a quantization is a folder or a single file, in turn.

usage: test_layout_walk.py DTINFO
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from harness import QUICK, Tally, have
from tensor_files import read_file, write_file

PROGRAM = os.path.abspath(sys.argv[1])
np = have("numpy")
if not np:
    print("skipped: needs numpy")
    sys.exit(77)
TALLY = Tally()
NAMES = ["model.layers.0.mlp.%s_proj.weight" % word for word in ("up", "down")]

# DTYPE, options, and the minimum signal-to-noise ratio of the numbers in dB
QUANT = [
    ("int8", "", 20), ("int8", "--per channel", 20), ("int8", "--per block --block 128", 20),
    ("uint8", "--per channel", 20), ("uint8", "--per block --block 64", 20), ("int16", "--per channel", 60),
    ("int4", "--per channel", 8), ("uint4", "--per block --block 128", 10),
    *(("int4", "--per block --block %d" % length, 10) for length in (32, 64, 128)),
    ("uint4", "--per block --block 32", 10),
    ("int2", "--per block --block 32", 0), ("uint2", "--per block --block 64", 0),
    ("fp8_e4m3fn", "", 20), ("fp8_e4m3fn", "--per channel", 20), ("fp8_e5m2", "--per channel", 15),
    *((dtype, "", 10) for dtype in ("mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4", "mxint8", "nvfp4",
                                    "nf4", "bnb_fp4", "q8_0", "q4_0")),
    ("int8", "--layout modelopt", 20), ("fp8_e4m3fn", "--layout modelopt", 20),
    ("mxfp4", "--layout modelopt", 10), ("nvfp4", "--layout modelopt", 10), ("mxfp8_e4m3", "--layout modelopt", 10),
    ("int8", "--layout comfy", 20), ("int8", "--layout comfy --per channel", 20), ("fp8_e4m3fn", "--layout comfy", 20),
    ("fp8_e5m2", "--layout comfy", 15), ("mxfp8_e4m3", "--layout comfy", 10), ("nvfp4", "--layout comfy", 10),
    ("nf4", "--layout bitsandbytes", 10), ("bnb_fp4", "--layout bitsandbytes --nested-absmax", 10),
]
# --to, and more options
TARGETS = [("compressed-tensors", ""), ("modelopt", ""), ("deepseek", ""), ("gptq", ""), ("gptq_v2", ""), ("awq", ""),
           ("mlx", ""), ("mlx", "--mode nvfp4"), ("comfy", ""), ("comfy", "--dtype nvfp4"), ("modelopt", "--dtype nvfp4"),
           ("gpt-oss", ""),
           *((layout, "--scale-dtype " + dtype) for layout in ("gptq", "gptq_v2", "awq", "compressed-tensors")
             for dtype in ("fp16", "bf16"))]
written = {}    # layout: the dtypes that it was written from


def run(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def save(path, tensors):
    write_file(path, {name: ("F32", array.shape, array.astype("<f4").tobytes()) for name, array in tensors.items()})


def load(path):
    """The floats of a file, or of the single shard of a folder."""
    if os.path.isdir(path):
        path = os.path.join(path, next(name for name in sorted(os.listdir(path)) if name.endswith(".safetensors")))
    tensors = {}
    for name, (dtype, shape, raw) in read_file(path).items():
        if dtype == "F32":
            tensors[name] = np.frombuffer(raw, "<f4").reshape(shape)
        elif dtype == "BF16":
            tensors[name] = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4").reshape(shape)
    return tensors


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def check_run(what, done, status=0):
    if done.returncode != status:
        TALLY.differ(what, "%d: %s" % (done.returncode, (done.stderr or done.stdout).decode()[:300]), status)
    TALLY.checked += 1
    return done.returncode == status


def to_bf16(array):
    codes = np.ascontiguousarray(array, "<f4").view("<u4").astype(np.uint64)
    codes = (codes + 0x7fff + (codes >> 16 & 1)) >> 16
    return (codes.astype("<u4") << 16).view("<f4")


def read(what, path, wanted, worst):
    """All commands that read; wanted: the numbers, exact or with relative errors of at most worst."""
    for words in (["inspect", path], ["inspect", path, "--stats"], ["check", path, "--quantized"]):
        check_run("%s: %s" % (what, " ".join(words[::2])), run(*words))
    shown = run("inspect", path, "--json")
    if check_run(what + ": inspect --json", shown):
        tensors = {one["name"]: one for one in json.loads(shown.stdout)["files"][0]["tensors"]}
        for name in NAMES:
            TALLY.check(what + ": inspect shows " + name, name in tensors and tensors[name]["shape"],
                        list(wanted[name].shape))
    read_back = None
    for words, out, rounded in ((["quant", path, "fp32", "--dequant"], "numbers", False),
                                (["transcode", path, "--to", "bf16"], "floats", True)):
        out += ".safetensors" if path.endswith(".safetensors") else ""
        remove(out)
        if not check_run("%s: %s" % (what, words[0]), run(*words, "-o", out)):
            continue
        got = load(out)
        TALLY.check(what + ": names", sorted(got), sorted(wanted))
        read_back = read_back or got
        for name in NAMES:
            if name not in got:
                continue
            numbers, want = got[name], to_bf16(read_back[name]) if rounded else wanted[name]
            allowed = abs(wanted[name]).astype(float) * (0 if rounded else worst * (1 + 1e-12))
            TALLY.check("%s: numbers of %s by %s" % (what, name, words[0]),
                        numbers.shape == want.shape and bool((abs(numbers.astype(float) - want) <= allowed).all()), True)
        if not rounded:
            check_run(what + ": compare", run("compare", path, out))
    operand = path if path.endswith(".safetensors") else os.path.join(
        path, next((name for name in sorted(os.listdir(path)) if name.endswith(".safetensors")), ""))
    done = run("calc", "max(abs(@%s:%s))" % (operand, NAMES[0]), "fp32", "-q")
    if check_run(what + ": calc", done):
        most = float(abs(wanted[NAMES[0]]).max())
        TALLY.check(what + ": calc", abs(float(done.stdout) - most) <= most * worst * 1.0001, True)


def transcode(what, source, numbers, layout, options, folder):
    out = "to" if folder else "to.safetensors"
    remove(out)
    done = run("transcode", source, "--to", layout, *options.split(), "-o", out, "--json")
    if done.returncode:
        TALLY.check(what + ": refused", (done.returncode, done.stderr.count(b"\n"), os.path.exists(out)), (2, 1, False))
        return False
    totals = json.loads(done.stdout)["totals"]
    same = totals["lossless_blocks"] == totals["blocks"]
    read(what, out, numbers, 0 if same else totals["worst_error"])
    return True


def walk(dtype, options, least, model, folder):
    what = "%s %s, %s" % (dtype, options, "folder" if folder else "file")
    source = "made" if folder else "made.safetensors"
    remove(source)
    done = run("quant", "model" if folder else "model/model.safetensors", dtype, *options.split(), "--quant-only",
               "*_proj*", "-o", source, "--force")
    if not check_run(what, done):
        return
    remove("exact.safetensors")
    if not check_run(what + ": dequantized", run("quant", source, "fp32", "--dequant", "-o", "exact.safetensors")):
        return
    numbers = load("exact.safetensors")
    for name in NAMES:
        noise = ((numbers[name].astype(float) - model[name])**2).sum()
        TALLY.check("%s: %s is near" % (what, name), float(10 * np.log10((model[name]**2).sum() / noise)) >= least, True)
    read(what, source, numbers, 0)
    for layout, more in TARGETS:
        if transcode("%s -> %s %s" % (what, layout, more), source, numbers, layout, more, folder):
            written.setdefault((layout + " " + more).strip(), set()).add(dtype)


# The sources from which each layout is written here: an empty set would make the walk vacuous.
TAKEN = {
    "compressed-tensors": {"int8", "int4", "uint4", "int2", "uint2", "fp8_e4m3fn", "mxfp4", "mxfp8_e4m3", "nvfp4"},
    "modelopt": {"fp8_e4m3fn", "mxfp4", "mxfp8_e4m3", "nvfp4"}, "modelopt --dtype nvfp4": {"mxfp4", "nvfp4"},
    "gptq_v2 --scale-dtype fp16": {"int8", "int4", "int2", "uint8", "uint4", "uint2"},
    "gptq --scale-dtype bf16": {"int8", "int4", "int2"}, "awq --scale-dtype fp16": {"int4", "uint4"},
    "awq --scale-dtype bf16": {"int4", "uint4"}, "compressed-tensors --scale-dtype fp16": {"int4", "uint4", "int8"},
    "comfy": {"int8", "fp8_e4m3fn", "fp8_e5m2", "mxfp8_e4m3", "nvfp4"}, "comfy --dtype nvfp4": {"mxfp4", "nvfp4"},
    "deepseek": {"fp8_e4m3fn"}, "mlx --mode nvfp4": {"mxfp4", "nvfp4"},
    "mlx": {"int8", "uint8", "int4", "uint4", "int2", "uint2", "mxfp4", "mxfp8_e4m3", "nvfp4"},
}


def main():
    random = np.random.default_rng(29)
    model = {name: random.normal(0, 0.05, (64, 256)).astype("<f4") for name in NAMES}
    model["model.norm.weight"] = np.ones(64, "<f4")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("model")
        save("model/model.safetensors", model)
        with open("model/config.json", "w") as file:
            json.dump({"model_type": "llama"}, file)
        for index, (dtype, options, least) in enumerate(QUANT):
            for folder in (index % 2 == 0,) if QUICK else (True, False):
                walk(dtype, options, least, model, folder)
        for layout, dtypes in TAKEN.items():
            TALLY.check("what is written as " + layout, sorted(dtypes - written.get(layout, set())), [])
        os.chdir("/")
    TALLY.finish()


main()
