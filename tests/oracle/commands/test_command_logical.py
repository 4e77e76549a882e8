#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantized checkpoints as inspect, mem, compare and check see them: a file that quant made has the tensors of its
source file, and compares with it exactly as the output of --dequant does. Every format of every layout, alone, in
shards and as npy. test_command_dequant.py checks the output of --dequant.

usage: test_command_logical.py DTINFO
"""
import json
import math
import os
import random
import struct

from quant_check import ask, judge, run, run_parts
from dequant_files import npy, write_file

RANDOM = random.Random(20240703)
BY_CHANNEL = ("int8 uint8 int16 uint16 int4 uint4 int2 uint2 fp8_e4m3fn fp8_e5m2 fp8_e4m3fnuz fp8_e5m2fnuz").split()
BLOCKS = "mxfp8_e4m3 mxfp8_e5m2 mxint8 mxfp6_e2m3 mxfp6_e3m2 mxfp4 nvfp4 nf4 bnb_fp4 q8_0 q4_0".split()
MODELOPT = "int8 fp8_e4m3fn mxfp8_e4m3 mxfp4 nvfp4".split()
ALIKE = {"uint4": "int4", "uint2": "int2", "q8_0": "int8"}    # stored identically in files
SHAPES = {"model.a.weight": [96, 64], "model.b.weight": [3, 32, 64], "model.c.weight": [300, 1024]}
COUNT = {name: math.prod(shape) for name, shape in SHAPES.items()}


def make(path):
    tensors = {name: ("F32", SHAPES[name], struct.pack("<%df" % n, *(RANDOM.gauss(0, 0.02) for _ in range(n))))
               for name, n in COUNT.items()}
    write_file(path, dict(tensors, **{"model.norm": ("BF16", [64], b"\x80\x3f" * 64)}))
    return tensors


def compare(a, b, *more, code=1):
    answer = json.loads(ask("compare", a, b, "--json", *more, code=code))
    figures = {pair["a"]["name"]: pair["figures"] for pair in answer["tensors"] if pair["figures"]}
    for pair in figures.values():
        del pair["identical"]    # present for equal dtypes only
    return answer, figures


def sees(what, path, dtype):
    answer = json.loads(ask("inspect", path, "--json"))["files"][0]
    judge(what + ": tensors", {t["name"]: (t["shape"], (t["quantized"] or {"format": t["dtype"]})["format"])
                               for t in answer["tensors"]},
          dict({name: (shape, dtype) for name, shape in SHAPES.items()}, **{"model.norm": ([64], "bf16")}))
    judge(what + ": parameters", answer["totals"]["parameters"], sum(COUNT.values()) + 64)
    judge(what + ": bytes", sum(t["bytes"] for t in answer["tensors"]), answer["data_bytes"])
    stored = json.loads(ask("inspect", path, "--raw", "--json"))["files"][0]
    judge(what + ": stored", (stored["tensor_count"], stored["data_bytes"], stored["totals"]["bytes"]),
          (answer["stored_tensor_count"], answer["data_bytes"], answer["data_bytes"]))
    judge(what + ": no parts", [t["stored_parts"] for t in stored["tensors"] if t["stored_parts"] or t["quantized"]], [])


def whole(what, dtype, *more):
    seen = ALIKE.get(dtype, dtype)
    run("in.safetensors", dtype, "-o", "q.safetensors", "--force", "-q", "--keep", "*norm", *more)
    run("q.safetensors", "fp32", "--dequant", "-o", "back.safetensors", "--force", "-q")
    sees(what, "q.safetensors", seen)
    _, by_codes = compare("in.safetensors", "q.safetensors")
    _, by_numbers = compare("in.safetensors", "back.safetensors")
    judge(what + ": figures", by_codes, by_numbers)
    _, little = compare("in.safetensors", "q.safetensors", "--threads", "3", "--max-memory", "64KiB")
    judge(what + ": figures of small pieces", little, by_codes)
    ask("compare", "q.safetensors", "back.safetensors", "--only", "*weight")
    ask("compare", "q.safetensors", "q.safetensors")
    ask("check", "q.safetensors", "--no-nan", "--no-inf", "--max-abs", "1", "--only", "*weight", "--dtype", seen)
    ask("check", "q.safetensors", "--dtype", "fp32", "--only", "*weight", code=1)
    stats = [[t["stats"] for t in json.loads(ask("inspect", path, "--stats", "--json", "--sort",
             "name", "--only", "*weight"))["files"][0]["tensors"]] for path in ("q.safetensors", "back.safetensors")]
    judge(what + ": statistics", stats[0], stats[1])


def formats():
    make("in.safetensors")
    for dtype in BY_CHANNEL:
        whole(dtype, dtype, "--per", "channel", "--axis", "0")
    for dtype in BLOCKS:
        whole(dtype, dtype)
    whole("int4 in groups", "int4", "--block", "32")
    whole("uint8 with zero points", "uint8", "--affine")
    for dtype in MODELOPT:
        whole(dtype + " of modelopt", dtype, "--layout", "modelopt")


def raw_and_bitwise():
    """Shows stored parts on request."""
    make("in.safetensors")
    run("in.safetensors", "nvfp4", "-o", "q.safetensors", "--force", "-q")
    answer, _ = compare("in.safetensors", "q.safetensors", "--raw")
    judge("parts alone", (answer["counts"]["only_in_a"], answer["counts"]["only_in_b"]), (4, 12))
    answer, _ = compare("q.safetensors", "q.safetensors", "--bitwise", code=0)
    judge("bits of parts", answer["counts"]["equal"], 12)
    answer = json.loads(ask("mem", "q.safetensors", "--raw", "--json"))
    judge("parts in memory", answer["numbers"] < sum(COUNT.values()) / 8, True)


def shards():
    tensors = make("in.safetensors")
    os.makedirs("model", exist_ok=True)
    names = sorted(tensors)
    for i, name in enumerate(names):
        write_file("model/model-%05d-of-%05d.safetensors" % (i + 1, len(names)), {name: tensors[name]})
    with open("model/model.safetensors.index.json", "w") as file:
        json.dump({"weight_map": {name: "model-%05d-of-%05d.safetensors" % (i + 1, len(names))
                                  for i, name in enumerate(names)}}, file)
    run("model", "nvfp4", "-o", "quantized", "--force", "-q")
    file = json.loads(ask("inspect", "quantized", "--json"))["files"][0]
    judge("shards", [(s["tensors"], s["data_bytes"]) for s in file["shards"]],
          [(1, t["bytes"]) for t in file["tensors"]])
    run("quantized", "fp32", "--dequant", "-o", "back.safetensors", "--force", "-q")
    ask("compare", "quantized", "back.safetensors")
    _, figures = compare("model", "quantized")
    judge("figures of shards", figures, compare("model", "back.safetensors")[1])


def arrays():
    npy("w.npy", "<f4", [20, 30], struct.pack("<600f", *(RANDOM.gauss(0, 1) for _ in range(600))))
    for more in (["int8"], ["uint8", "--affine"]):
        run("w.npy", *more, "-o", "codes.npy", "--force", "-q")
        run("codes.npy", "fp32", "--dequant", "-o", "back.npy", "--force", "-q")
        file = json.loads(ask("inspect", "codes.npy", "--json"))["files"][0]
        judge("npy %s" % more, (file["totals"]["parameters"], file["tensors"][0]["quantized"]["format"]), (600, more[0]))
        _, figures = compare("w.npy", "codes.npy")
        judge("figures of npy %s" % more, list(figures.values()), list(compare("w.npy", "back.npy")[1].values()))


if __name__ == "__main__":
    run_parts((formats, raw_and_bitwise, shards, arrays))
