#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo quant --layout mlx`: words, scales and biases of each width and group length, for fp32, fp16 and bf16, against
a model of MLX's rule in numpy and, for a sample of groups, one in exact rationals; config.json; NaN and infinities; the
way back; blocks. test_quant_mlx_peer.py asks MLX itself.

usage: test_quant_mlx.py DTINFO [--long]
"""
import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

from harness import QUICK, Tally, have
from tensor_files import read_file, write_file

if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import numpy as np

import mlx_groups as model

PROGRAM = os.path.abspath(sys.argv[1])
LONG = "--long" in sys.argv[2:]
TALLY, RANDOM = Tally(), np.random.default_rng(20261129)
EXACT = 400 if LONG else 12 if QUICK else 40


def run(*words, fails=False):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if (done.returncode != 0) != fails:
        sys.exit(f"{' '.join(words)}: status {done.returncode}: {done.stderr.decode()}")
    return (done.stderr if fails else done.stdout).decode()


def make(tensors, config={"model_type": "llama"}):
    """The folder "in"; tensors: name -> (dtype, stored array)."""
    os.makedirs("in", exist_ok=True)
    write_file("in/model.safetensors", {name: (dtype, array.shape, array.tobytes())
                                        for name, (dtype, array) in tensors.items()})
    with open("in/config.json", "w") as file:
        json.dump(config, file)


def quantize(dtype, *words):
    """Tensors of the new file, and its configuration's member."""
    subprocess.run(["rm", "-rf", "out"], check=True)
    run("quant", "in", dtype, "--layout", "mlx", "-o", "out", *words)
    with open("out/config.json") as file:
        said = json.load(file)
    TALLY.check("both members", said["quantization"], said["quantization_config"])
    return read_file("out/model.safetensors"), said["quantization"]


def array(part, dtype):
    kind = {"U32": "<u4", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "U8": "u1"}[dtype]
    return np.frombuffer(part[2], kind).reshape(part[1])


def equal(what, got, want):
    """The same bits, where NaNs are all the same."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        TALLY.check(what + ": shape", got.shape, want.shape)
        return
    differ = got != want
    if got.dtype.kind == "f":
        differ &= ~(np.isnan(got) & np.isnan(want))
        differ |= np.signbit(got) != np.signbit(want) if not np.isnan(got).any() else False
    where = np.argwhere(differ)
    TALLY.check(what, None if len(where) == 0 else (tuple(where[0]), len(where)), None)


def check_parts(what, parts, stem, x, dtype, bits, length):
    codes, scale, bias = model.quantize(x, bits, length)
    rows = x.shape[0]
    TALLY.check(what + ": dtypes", [parts[stem + end][0] for end in (".weight", ".scales", ".biases")],
                ["U32", dtype, dtype])
    equal(what + ": words", array(parts[stem + ".weight"], "U32"), model.pack(codes, bits))
    for end, want in ((".scales", scale), (".biases", bias)):
        got = model.numbers(array(parts[stem + end], dtype), dtype)
        equal(what + end, got, model.numbers(model.stored(want.reshape(rows, -1), dtype), dtype))
    return codes, scale, bias


def check_exactly(what, x, bits, length, made):
    """Some groups in exact rationals."""
    codes, scale, bias = (part.reshape(-1, *shape) for part, shape in zip(made, ((length,), (), ())))
    groups = x.reshape(-1, length)
    for i in RANDOM.choice(len(groups), EXACT, replace=False):
        if not np.isfinite(groups[i]).all() or np.ptp(groups[i].astype(np.float64)) > 3e38:
            continue
        got = model.quantize_exactly(groups[i], bits)
        TALLY.check(f"{what}: group {i}, exactly", (list(codes[i]), Fraction(float(scale[i])), Fraction(float(bias[i]))), got)


def each_width():
    for length in model.LENGTHS:
        tensors, xs = {}, {}
        for dtype in ("F32", "F16", "BF16"):
            x = model.hard_groups(RANDOM, 240, length).reshape(120, -1)
            if dtype == "F16":
                x = np.clip(x, -65504, 65504)
            tensors[f"m.{dtype}.weight"] = (dtype, model.stored(x, dtype))
            xs[dtype] = model.numbers(model.stored(x, dtype), dtype)
        tensors["m.norm.weight"] = ("F32", np.ones(7, np.float32))
        make(tensors)
        for bits in model.WIDTHS:
            parts, said = quantize(f"uint{bits}", "--block", str(length))
            TALLY.check("config", said, {"group_size": length, "bits": bits, "mode": "affine"})
            for dtype, x in xs.items():
                what = f"{bits} bits, groups of {length}, {dtype}"
                made = check_parts(what, parts, f"m.{dtype}", x, dtype, bits, length)
                check_exactly(what, x, bits, length, made)
            TALLY.check("kept", parts["m.norm.weight"], ("F32", [7], np.ones(7, np.float32).tobytes()))
            there = run("explain", "in", "out")
            TALLY.check("explained", f"quant uint{bits} --block {length} --layout mlx  3 tensors" in there, True)


def each_mode():
    """Blocks: words, and scales of a byte; no biases."""
    for mode, name in (("mxfp4", "mxfp4"), ("mxfp8", "mxfp8_e4m3"), ("nvfp4", "nvfp4")):
        bits, length = 8 if mode == "mxfp8" else 4, model.MODES[mode][1]
        tensors, xs = {}, {}
        for dtype in ("F32", "F16", "BF16"):
            x = model.hard_groups(RANDOM, 240, 64).reshape(60, -1)
            x = np.clip(x, -65504, 65504) if dtype == "F16" else x
            tensors[dtype + ".weight"] = (dtype, model.stored(x, dtype))
            xs[dtype] = model.numbers(model.stored(x, dtype), dtype)
        tensors["stack.weight"] = ("F32", xs["F32"].reshape(4, 15, -1))
        xs["stack"] = xs["F32"]
        make(tensors)
        parts, said = quantize(name)
        TALLY.check(mode, said, {"group_size": length, "bits": bits, "mode": mode})
        TALLY.check(mode + ": names", sorted(parts), sorted(stem + end for stem in xs for end in (".weight", ".scales")))
        for stem, x in xs.items():
            codes, scales = model.blocks(x, mode)
            words = array(parts[stem + ".weight"], "U32")
            equal(f"{mode}, {stem}: scales", array(parts[stem + ".scales"], "U8").reshape(scales.shape), scales)
            equal(f"{mode}, {stem}: words", words.reshape(-1, words.shape[-1]), model.pack(codes, bits))
        text = run("explain", "in", "out")
        TALLY.check(f"{mode}: explained: {text}", f"quant {name} --layout mlx  4 tensors" in text, True)
    make({f"l.{i}.weight": ("F32", RANDOM.standard_normal((4, 64)).astype(np.float32)) for i in range(3)})
    parts, said = quantize("uint4", "--type", "l.1.*=nvfp4,l.2.*=mxfp8_e4m3")
    TALLY.check("modes", said, {"group_size": 64, "bits": 4, "mode": "affine", "l.1": {"group_size": 16, "bits": 4, "mode": "nvfp4"},
                                "l.2": {"group_size": 32, "bits": 8, "mode": "mxfp8"}})


def specials():
    """NaN counts for nothing; with an infinity, or a range beyond fp32, scales are not finite and the group is lost."""
    x = model.hard_groups(RANDOM, 24, 64)
    x[0, 5] = np.nan
    x[1] = np.nan
    x[2, 7], x[3, 9], x[4, 1] = np.inf, -np.inf, np.nan
    x[4, 2] = np.inf
    x[5, :2] = 3e38, -3e38
    make({"a.weight": ("F32", x)})
    parts, _ = quantize("uint4")
    check_parts("specials", parts, "a", x, "F32", 4, 64)
    figures = json.loads(run("quant", "in", "uint4", "--layout", "mlx", "-o", "out", "--force", "--json"))
    named = [t for t in figures["tensors"] if t["name"] == "a.weight"][0]
    TALLY.check("special", named["special"], int((~np.isfinite(x)).sum()))
    TALLY.check("a lost range counts as clipped", named["clipped"] >= 64 * 3 - 3, True)


def back():
    """The way back, and the errors that quant reports, in two roundings of the dtype."""
    for dtype in ("F32", "F16", "BF16"):
        x = model.numbers(model.stored(RANDOM.standard_normal((16, 256)).astype(np.float32), dtype), dtype)
        make({"a.weight": (dtype, model.stored(x, dtype))})
        parts, _ = quantize("uint5", "--block", "32")
        codes, _, _ = model.quantize(x, 5, 32)
        scale, bias = (model.numbers(array(parts["a" + end], dtype), dtype).repeat(32, 1) for end in (".scales", ".biases"))
        product = model.numbers(model.stored(codes.astype(np.float32) * scale, dtype), dtype)
        want = model.numbers(model.stored(product + bias, dtype), dtype)
        run("quant", "--dequant", "out", "fp32", "-o", "back.safetensors", "--force")
        equal(f"back, {dtype}", array(read_file("back.safetensors")["a.weight"], "F32"), want)
        figures = json.loads(run("quant", "in", "uint5", "--layout", "mlx", "--block", "32", "-o", "out", "--force",
                                 "--json"))
        error = float(np.abs(want.astype(np.float64) - x).max())
        TALLY.check(f"error, {dtype}", figures["totals"]["loss"]["max_absolute_error"]["value"], error)


def configurations():
    """Members for modules that differ, and false for matrices that stay."""
    shape = (4, 128)
    make({f"l.{i}.weight": ("BF16", model.stored(RANDOM.standard_normal(shape).astype(np.float32), "BF16")) for i in range(4)})
    parts, said = quantize("uint4", "--type", "l.1.*=uint8,l.2.*=uint3", "--keep", "l.3.*")
    scheme = {"group_size": 64, "bits": 4, "mode": "affine"}
    TALLY.check("members", said, {**scheme, "l.1": {**scheme, "bits": 8}, "l.2": {**scheme, "bits": 3}, "l.3": False})
    TALLY.check("names", sorted(parts), sorted([f"l.{i}{end}" for i in range(3) for end in (".weight", ".scales", ".biases")]
                                               + ["l.3.weight"]))
    run("check", "--quantized", "out")


def refusals():
    make({"a.weight": ("F32", np.ones((4, 96), np.float32))})
    for words, remedy in ((("int4",), "uint4"), (("uint4", "--block", "16"), "32, 64 and 128"),
                          (("uint4", "--symmetric"), "--symmetric"), (("uint4", "--scale", "1"), "--scale"),
                          (("uint4", "--axis", "0"), "--axis"), (("nvfp4", "--tensor-scale", "2"), "--tensor-scale"), (("uint4", "--per", "channel"), "--per"),
                          (("uint7",), "uint6"), (("fp8_e4m3fn",), "mxfp8"), (("uint4",), "64")):
        text = run("quant", "in", *words, "--layout", "mlx", "-o", "no", fails=True)
        TALLY.check(f"{words}: {text}", remedy in text and text.count("\n") == 1, True)
    TALLY.check("nothing written", os.path.exists("no"), False)


def main():
    with tempfile.TemporaryDirectory(prefix="dtinfo-quant-mlx-") as folder:
        os.chdir(folder)
        each_width()
        each_mode()
        specials()
        back()
        configurations()
        refusals()
        os.chdir("/")
    TALLY.finish()


if __name__ == "__main__":
    main()
