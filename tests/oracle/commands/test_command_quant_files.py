#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that quant writes, against codes and scales recomputed in exact rationals (tests/oracle/quant_model.py);
names, shapes and places of the parts are reimplemented from the layout descriptions. Files are read and written by
hand.

usage: test_command_quant_files.py DTINFO
"""
import itertools
import json
import math
import os
import random
import struct
from fractions import Fraction

from quant_check import judge, run, run_parts
from quant_groups import model, pack
from quant_parts import SIZES, Expected, product

RANDOM = random.Random(20240607)


def write_file(path, tensors, metadata=None):
    """tensors: name -> dtype, shape, bytes"""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_file(path):
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack_from("<Q", content)[0]
    header = json.loads(content[8:8 + length])
    data = content[8 + length:]
    metadata = header.pop("__metadata__", {})
    end = 0
    for name, tensor in header.items():
        first, last = tensor["data_offsets"]
        judge(path + ": no gap before " + name, first, end)
        judge(path + ": aligned " + name, first % SIZES[tensor["dtype"]], 0)
        judge(path + ": size of " + name, last - first, product(tensor["shape"]) * SIZES[tensor["dtype"]])
        end = last
    judge(path + ": nothing behind the data", len(data), end)
    return {name: (t["dtype"], t["shape"], data[slice(*t["data_offsets"])]) for name, t in header.items()}, metadata


def make_numbers(dtype, count):
    """Numbers that the dtype holds, and their bytes."""
    sigma = RANDOM.choice([0.02, 1, 30])
    raw = b""
    numbers = []
    for _ in range(count):
        x = RANDOM.gauss(0, sigma) if RANDOM.random() < 0.9 else RANDOM.choice([0.0, -0.0, sigma * 6, sigma / 1000])
        if dtype == "BF16":
            code = struct.pack("<f", x)[2:]
            numbers.append(struct.unpack("<f", b"\0\0" + code)[0])
        else:
            code = struct.pack({"F32": "<f", "F16": "<e", "F64": "<d"}[dtype], x)
            number = struct.unpack({"F32": "<f", "F16": "<e", "F64": "<d"}[dtype], code)[0]
            numbers.append(model.round32(Fraction(number), math.copysign(1, number) < 0) if dtype == "F64" else number)
        raw += code
    return numbers, raw


SUMS = 8.4e-7  # relative error allowed for sums in fp32


def close(a, b, slack):
    return abs(a - b) <= slack


def judge_report(what, report, expected):
    judge(what + ": clipped", report["clipped"], expected.clipped)
    judge(what + ": special", report["special"], expected.special)
    judge(what + ": clipped blocks", report["clipped_blocks"], expected.clipped_blocks if expected.block else None)
    loss = report["loss"]
    judge(what + ": compared", loss["compared"], len(expected.errors))
    if not expected.errors:
        return
    most, noise = max(expected.errors), sum(error ** 2 for error in expected.errors)
    judge(what + ": max error", Fraction(float(loss["max_absolute_error"]["text"])), most)
    mean = float(sum(expected.errors) / len(expected.errors))
    judge(what + ": mean error", close(float(loss["mean_absolute_error"]["text"]), mean, SUMS * mean), True)
    if noise and expected.signal:
        judge(what + ": SQNR", close(float(loss["sqnr_db"]["text"]),
                                     10 * math.log10(float(expected.signal / noise)),
                                     20 / math.log(10) * SUMS), True)


def options_of(dtype, ask):
    words = [dtype]
    for option in ("axis", "block", "per", "layout"):
        if option in ask:
            words += ["--" + option, str(ask[option])]
    return words + ["--pad"] * ask.get("pad", False) + (["--nibble", "high"] if ask.get("high") else []) + \
        ask.get("words", [])


def ceil(a, b):
    return -(-a // b)


def open_width(columns, bits):
    """Whether codes of another width fill the same number of words, without gaps or with whole codes per word."""
    words = ceil(columns * bits, 32)
    return any(n != bits and words in (ceil(columns * n, 32), ceil(columns, 32 // n)) for n in range(1, 9))


def open_group(shape, ask, plain):
    """Whether another group length, with a shorter last group, would need as many scales: a power of two if this
    length is not one; any length if there is one row, or one column, in what may be a matrix in rectangles."""
    axis = ask.get("axis", -1) % len(shape)
    length, group = shape[axis], ask["block"]
    if length % group:
        return False
    others = [n for n in range(1, length) if n != group and ceil(length, n) == length // group > 1]
    thin = plain and len(shape) > 1 and axis >= len(shape) - 2 and shape[-1 if axis == len(shape) - 2 else -2] == 1
    return bool(others) and (thin or (group & (group - 1) != 0 and any(n & (n - 1) == 0 for n in others)))


def judge_case(number, source, shape, dtype, ask):
    numbers, raw = make_numbers(source, product(shape))
    if ask.get("specials"):
        for at in RANDOM.sample(range(len(numbers)), min(3, len(numbers))):
            numbers[at] = RANDOM.choice([float("inf"), float("-inf"), float("nan")])
        raw = struct.pack("<%df" % len(numbers), *numbers)
    others = {"ids": ("I64", [3], struct.pack("<3q", 1, 2, 3)), "one": ("F32", [], struct.pack("<f", 0.5))}
    write_file("in.safetensors", dict({"w": (source, shape, raw)}, **others), {"format": "pt"})
    expected = Expected("w", dtype, shape, numbers, ask)
    words = ["in.safetensors", "-o", "out.safetensors", "--force", "--threads", str(1 + number % 3), "--json"]
    report = json.loads(run(*words, *options_of(dtype, ask))[0])
    tensors, metadata = read_file("out.safetensors")
    what = "%s of %s %s %s" % (dtype, source, shape, ask)
    want = dict(expected.parts(), **others)
    judge(what + ": names", sorted(tensors), sorted(want))
    for name in want:
        if name in tensors:
            judge("%s: %s" % (what, name), tensors[name], tuple(want[name]))
    told = {"format": "pt"}
    few = dtype in ("int2", "uint2", "int4", "uint4") and open_width(shape[-1], expected.width)
    wide = "block" in ask and not expected.block and open_group(shape, ask, expected.width >= 8)
    filled = dtype in ("int2", "uint2", "int4", "uint4") and expected.code_shape[-1] != shape[-1]
    if dtype in ("mxfp6_e3m2", "bnb_fp4") or ask.get("high") or few or wide or filled:
        told["dtinfo.quant.w"] = "%s %s" % (dtype, "high" if ask.get("high") else "low")
    if filled or wide:
        told["dtinfo.quant.w"] += " %d" % ask["block"]
    judge(what + ": metadata", metadata, told)
    fates = {tensor["name"]: tensor["fate"] for tensor in report["tensors"]}
    judge(what + ": fates", fates, {"w": "quantized", "ids": "integer", "one": "scalar"})
    of_w = next(tensor for tensor in report["tensors"] if tensor["name"] == "w")
    judge(what + ": parts told", sorted((p["name"], p["shape"], p["bytes"]) for p in of_w["parts"]),
          sorted((name, list(part[1]), len(part[2])) for name, part in expected.parts().items()))
    judge_report(what, of_w, expected)


def judge_cases():
    number = itertools.count()

    def case(source, shape, dtype, **ask):
        judge_case(next(number), source, shape, dtype, ask)

    torch = dict(words=["--like", "torch"], how={"rule": "torch", "division": "reciprocal", "specials": "torch"})
    channel = dict(torch["how"], specials="torch_channel")
    for dtype in ("int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2", "fp8_e4m3fn", "fp8_e5m2",
                  "fp8_e4m3fnuz"):
        case("F32", [5, 24], dtype)
        case("F16", [3, 7], dtype, per="channel")
        case("BF16", [4, 6], dtype, per="channel", axis=1)
        case("F64", [2, 3, 16], dtype, block=8)
        case("F32", [6, 5], dtype, block=3, axis=0)
        case("F32", [2, 11], dtype, block=4, pad=True)
        case("F32", [13], dtype, specials=True)
    for dtype in ("int8", "int4"):
        case("F32", [17, 5], dtype, how={"symmetry": "none"}, words=["--affine"])
        case("F32", [17, 5], dtype, per="channel", how={"symmetry": "none"}, words=["--affine"])
        case("F32", [2, 9, 8], dtype, block=4, how={"symmetry": "none"}, words=["--affine"])
        case("F32", [9], dtype, per="channel", how={"symmetry": "none"}, words=["--affine"])
        case("F32", [8, 5], dtype, how=dict(torch["how"], symmetry="half"), words=torch["words"])
        case("F32", [8, 5], dtype, how=dict(channel, symmetry="none"), per="channel", specials=True,
             words=torch["words"] + ["--affine"])
        case("F32", [3, 4], dtype, how={"symmetry": "none", "scale": model.round32(Fraction(1, 10)), "zero": -3},
             words=["--scale", "0.1", "--zero-point", "-3"])
        case("F32", [3, 4], dtype, how={"min": -1.0, "max": 1.5}, words=["--min", "-1", "--max", "1.5"])
    case("F32", [4, 6], "uint2", per="channel")
    case("F32", [3, 20, 6], "uint4", per="channel", axis=2)
    for dtype, (_, _, _, length) in model.BLOCKS.items():
        case("F32", [3, 2 * length], dtype)
        case("BF16", [2, length + 4], dtype, pad=True)
        case("F16", [length, 8], dtype, axis=0)
        case("F32", [2, length], dtype, specials=True)
        if model.FORMATS[model.BLOCKS[dtype][1]].width < 8:
            case("F32", [2, length], dtype, high=True)
    for rule in ("ceil", "rceil", "even", "rfloor"):
        case("F32", [3, 64], "mxfp4", how={"mx_scale": rule}, words=["--mx-scale", rule])
    for layout in ("compressed-tensors", "modelopt"):
        case("F32", [9, 64], "nvfp4", layout=layout, how={"nv_scale": "four-six"}, words=["--nv-scale", "four-six"])
        case("F32", [9, 64], "nvfp4", layout=layout, how={"nv_scale": "unrounded"}, words=["--nv-scale", "unrounded"])
    case("F32", [4, 32], "int8", layout="modelopt", per="channel")
    case("F32", [4, 32], "fp8_e4m3fn", layout="modelopt")
    for dtype in ("mxfp8_e4m3", "mxfp4", "nvfp4"):
        case("F32", [2, 3, 64], dtype, layout="modelopt")


def judge_pieces():
    """Tensors of many chunks, by threads: with a known scale the codes are easy to predict."""
    for dtype, rows, columns in (("int4", 5, 9001), ("uint2", 61, 777), ("int8", 40, 1001), ("int16", 3, 15000)):
        numbers = [RANDOM.randrange(-9, 9) / 2 for _ in range(rows * columns)]
        write_file("in.safetensors", {"w": ("F32", [rows, columns], struct.pack("<%df" % len(numbers), *numbers))})
        width = int(dtype.lstrip("uint"))
        low = 0 if dtype[0] == "u" else -1 << width - 1
        codes = [min(max(round(2 * x), low), low + (1 << width) - 1) % (1 << width) for x in numbers]
        for threads, memory in ((1, "16MiB"), (3, "100KiB")):
            run("in.safetensors", dtype, "-o", "out.safetensors", "--force", "-q", "--scale", "0.5", "--threads",
                str(threads), "--max-memory", memory, "--zero-point", "0")
            tensors, _ = read_file("out.safetensors")
            raw = tensors["w_packed" if width < 8 else "w"][2]
            if width >= 8:
                want = b"".join(code.to_bytes(width // 8, "little") for code in codes)
            else:
                want = b""
                for first in range(0, len(codes), columns):
                    row = [c ^ (1 << width - 1 if low else 0) for c in codes[first:first + columns]]
                    want += pack(width, row + [0] * (-columns % (32 // width)), False)
            judge("pieces of %s, %d threads" % (dtype, threads), raw == want, True)


def judge_npy():
    numbers, raw = make_numbers("F32", 6 * 32)
    for order, fortran in (("C", "False"), ("F", "True")):
        text = "{'descr': '<f4', 'fortran_order': %s, 'shape': (6, 32), }" % fortran
        header = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
        body = numbers if order == "C" else [numbers[r * 32 + c] for c in range(32) for r in range(6)]
        with open("in.npy", "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
            file.write(struct.pack("<%df" % len(body), *body))
        for dtype, descr in (("uint8", "|u1"), ("mxfp4", "|u1"), ("int4", "<i4")):
            run("in.npy", dtype, "-o", "out.npy", "--force", "-q")
            if dtype == "uint8":    # its zero points would be read as those of other codes
                run("in.npy", "int8", "-o", "out.npy", "--force", "-q", code=2)
            want = Expected("", dtype, [6, 32], numbers, {}).parts()
            for name, (kind, shape, part) in want.items():
                path = "out%s.npy" % ("" if name == "_packed" else name)
                with open(path, "rb") as file:
                    content = file.read()
                length = struct.unpack_from("<H", content, 8)[0]
                told = eval(content[10:10 + length].decode(), {})  # a Python literal
                what = "%s of %s order, %s" % (dtype, order, path)
                judge(what, content[10 + length:], part)
                judge(what + ": shape", told["shape"], tuple(shape))
                if path == "out.npy":
                    judge(what + ": descr", told["descr"], descr)
                os.remove(path)
            judge("no stray files", [name for name in os.listdir(".") if name.endswith(".npy")], ["in.npy"])


def judge_shards():
    os.mkdir("shards")
    kept = {}
    names = {}
    for shard in (1, 2):
        tensors = {}
        for letter in "abc":
            numbers, raw = make_numbers("F32", 64)
            name = "%s%d" % (letter, shard)
            tensors[name] = "F32", [2, 32], raw
            kept[name] = numbers
            names[name] = "m-%d.safetensors" % shard
        write_file("shards/m-%d.safetensors" % shard, tensors, {"shard": str(shard)})
    with open("shards/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {"total_size": 6 * 256}, "weight_map": names}, file)
    run("shards", "mxfp6_e3m2", "-o", "made/", "-q", "--keep", "b*")
    with open("made/model.safetensors.index.json") as file:
        index = json.load(file)
    total = 0
    for shard in (1, 2):
        tensors, metadata = read_file("made/m-%d.safetensors" % shard)
        want = {}
        for letter in "ac":
            name = "%s%d" % (letter, shard)
            want.update(Expected(name, "mxfp6_e3m2", [2, 32], kept[name], {}).parts())
        name = "b%d" % shard
        want[name] = "F32", [2, 32], struct.pack("<64f", *kept[name])
        judge("shard %d: names" % shard, sorted(tensors), sorted(want))
        for name, part in want.items():
            judge("shard %d: %s" % (shard, name), tensors.get(name), part)
            judge("index of " + name, index["weight_map"].pop(name, None), "m-%d.safetensors" % shard)
            total += len(part[2])
        judge("shard %d: told" % shard, {k: v for k, v in metadata.items() if k.startswith("dtinfo")},
              {"dtinfo.quant.%s%d" % (letter, shard): "mxfp6_e3m2 low" for letter in "ac"})
    judge("index: nothing else", index["weight_map"], {})
    judge("index: total_size", index["metadata"]["total_size"], total)


run_parts((judge_cases, judge_pieces, judge_npy, judge_shards))
