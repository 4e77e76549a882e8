#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo mem --json` against independent arithmetic: integers and fractions, sizes of dtypes and blocks listed here,
file headers read here. Then the table against the document.

usage: test_command_mem.py DTINFO
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

import make_checkpoint

PROGRAM = os.path.abspath(sys.argv[1])
LIMIT = 1 << 64
# bits per number in an array
BITS = {"fp64": 64, "fp32": 32, "tf32": 32, "fp16": 16, "bf16": 16, "fp8_e4m3fn": 8, "fp8_e5m2": 8,
        "fp8_e8m0": 8, "fp6_e3m2": 6, "fp6_e2m3": 6, "fp4_e2m1": 4, "int64": 64, "int32": 32, "int16": 16,
        "int8": 8, "uint8": 8, "int4": 4, "uint2": 2, "int1": 1, "bool": 8, "complex64": 64, "complex128": 128,
        "e5m6": 16, "e8m15": 32, "e11m40": 64, "e2m0": 3, "e3m3": 7}
# numbers per block, bytes of its codes, bytes of its scale, bytes of a tensor scale
BLOCKS = {"mxfp8_e4m3": (32, 32, 1, 0), "mxfp8_e5m2": (32, 32, 1, 0), "mxfp6_e3m2": (32, 24, 1, 0),
          "mxfp6_e2m3": (32, 24, 1, 0), "mxfp4": (32, 16, 1, 0), "mxint8": (32, 32, 1, 0),
          "nvfp4": (16, 8, 1, 4), "nf4": (64, 32, 4, 0), "bnb_fp4": (64, 32, 4, 0), "q8_0": (32, 32, 2, 0), "q4_0": (32, 16, 2, 0)}
FLOATS = ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3fn", "fp8_e5m2", "fp6_e3m2", "fp4_e2m1", "e5m6",
          "e8m15", "e11m40", "e2m0", "e3m3"]
STATES = {"adam": ("first moment", "second moment"), "adamw": ("first moment", "second moment"),
          "momentum": ("momentum",), "sgd": (), "adam8bit": ("first moment", "second moment"),
          "momentum8bit": ("momentum",)}
UNITS = {"": 1, "B": 1, "kB": 10 ** 3, "MB": 10 ** 6, "GB": 10 ** 9, "TB": 10 ** 12, "KiB": 1 << 10,
         "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
RNG = random.Random(20)
checks = 0


def require(holds, *details):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(" ".join(str(detail)[:400] for detail in details))


def run(*words):
    return subprocess.run([PROGRAM, "mem", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", timeout=60)


def ceil(a, b):
    return -(-a // b)


def footprint(name, elements, row):
    """(bytes, bytes of scales among them, blocks, padding) of an array in a dtype."""
    if name in BITS:
        return ceil(elements * BITS[name], 8), 0, 0, 0
    length, codes, scale, tensor = BLOCKS[name]
    if elements == 0:
        return 0, 0, 0, 0
    blocks = elements // row * ceil(row, length)
    return blocks * (codes + scale) + tensor, blocks * scale + tensor, blocks, blocks * length - elements


def total(name, arrays):
    return tuple(map(sum, zip((0, 0, 0, 0), *(footprint(name, *array) for array in arrays))))


def parts_of(optimizer, weights, arrays, gradients=None, master=None, states=None):
    """[(part, dtype, bytes)] by the rules of the manual."""
    wide = weights in FLOATS and BITS[weights] >= 32
    gradients = gradients or (weights if weights in FLOATS and BITS[weights] >= 16 else "bf16")
    master = master or ("none" if wide else "fp32")
    parts = [("weights", weights, total(weights, arrays)[0]),
             ("gradients", gradients, total(gradients, arrays)[0])]
    if master != "none":
        parts.append(("master weights", master, total(master, arrays)[0]))
    for state in STATES[optimizer]:
        if optimizer.endswith("8bit"):
            size = sum(4 * n if n < 4096 else n + 4 * ceil(n, 256) for n, _ in arrays)
            parts.append((state, "uint8", size))
        else:
            parts.append((state, states or "fp32", total(states or "fp32", arrays)[0]))
    return parts


def same_ratio(got, top, bottom):
    return got is None if bottom == 0 else abs(Fraction(got) / Fraction(top, bottom) - 1) < Fraction(1, 10 ** 15)


def check_verdict(entry, room, *details):
    if room is None:
        require(entry["fits"] is None and entry["left_bytes"] is None and entry["missing_bytes"] is None,
                *details)
        return
    left = room - entry["bytes"]
    require((entry["fits"], entry["left_bytes"], entry["missing_bytes"]) == (left >= 0, max(left, 0),
                                                                              max(-left, 0)), *details)


def check_sizes(document, names, arrays, others=0, room=None):
    numbers = sum(n for n, _ in arrays)
    require(document["numbers"] == numbers and document["other_bytes"] == others, document)
    require([size["dtype"] for size in document["sizes"]] == names, document["sizes"], names)
    for size, name in zip(document["sizes"], names):
        wanted = total(name, arrays)
        got = tuple(size[key] for key in ("bytes", "scale_bytes", "blocks", "padding_elements"))
        require(got == (wanted[0] + others, *wanted[1:]), name, arrays, got, wanted)
        require(same_ratio(size["bits_per_number"], 8 * wanted[0], numbers), name, size)
        require(size["block_elements"] == (BLOCKS[name][0] if name in BLOCKS else None), name, size)
        check_verdict(size, room, name, size, room)


def check_trainings(document, combinations, arrays, others=0, room=None, **given):
    require([(t["dtype"], t["optimizer"]) for t in document["trainings"]] == combinations, combinations)
    numbers = sum(n for n, _ in arrays)
    for training in document["trainings"]:
        parts = parts_of(training["optimizer"], training["dtype"], arrays, **given)
        got = [(part["part"], part["dtype"], part["bytes"]) for part in training["parts"]]
        require(got == parts, training["optimizer"], training["dtype"], got, parts)
        whole = sum(size for _, _, size in parts)
        require(training["bytes"] == whole + others, training)
        require(same_ratio(training["bytes_per_parameter"], whole, numbers), training)
        terms = re.findall(r"([0-9.e+-]+)(?: \+| =| bytes)", training["rule"])
        require(len(terms) == len(parts) + 1, training["rule"])
        check_verdict(training, room, training, room)


def document_of(*words, code=0):
    done = run(*words, "--json")
    require(done.returncode == code, words, done.returncode, done.stderr)
    return json.loads(done.stdout)


def spell_count(count):
    """One of the spellings of a count."""
    ways = [str(count), "%de0" % count, "{:_}".format(count)]
    for suffix, power in (("K", 3), ("m", 6), ("B", 9), ("T", 12)):
        if count % 10 ** max(power - 3, 0) == 0:
            whole, rest = divmod(count, 10 ** power)
            digits = ("%0*d" % (power, rest)).rstrip("0")
            ways.append("%d%s%s%s" % (whole, "." if digits else "", digits, suffix))
    if count & (count - 1) == 0 and count > 1:
        ways.append("2^%d" % (count.bit_length() - 1))
    return RNG.choice(ways)


def draw_count():
    count = RNG.choice([RNG.randrange(1, 5000), RNG.randrange(1, 10 ** 6), RNG.randrange(1, 200) * 10 ** 9,
                        1 << RNG.randrange(1, 50), RNG.randrange(1, 10 ** 15)])
    return spell_count(count), (count, count)


def draw_shape():
    shape = [RNG.choice([1, 2, 3, 17, 31, 32, 33, 64, 100, 4096]) for _ in range(RNG.randrange(1, 5))]
    elements = 1
    for size in shape:
        elements *= size
    text = RNG.choice(["x", ",", ", "]).join(map(str, shape))
    if len(shape) == 1 or RNG.random() < 0.3:
        text = "[%s]" % text
    return text, (elements, shape[-1])


def draw_amounts():
    drawn = [RNG.choice([draw_count, draw_shape])() for _ in range(RNG.choice([1, 1, 1, 2, 3]))]
    return [text for text, _ in drawn], [array for _, array in drawn]


def draw_room(around):
    unit = RNG.choice([unit for unit, factor in UNITS.items() if factor <= 16 * around or not unit])
    number = "%d" % max(1, around // UNITS[unit])
    if unit and RNG.random() < 0.5:
        number += ".%d" % RNG.randrange(1, 1000)
    room = Fraction(number) * UNITS[unit]
    return number + unit, room.numerator // room.denominator


def amounts():
    for _ in range(120):
        words, arrays = draw_amounts()
        names = RNG.sample([*BITS, *BLOCKS], RNG.randrange(1, 5))
        largest = [total(name, arrays)[0] for name in names]
        text, room = draw_room(RNG.choice(largest)) if RNG.random() < 0.5 else (None, None)
        extra = ["--fit", text] if text else []
        code = 1 if text and min(largest) > room else 0
        document = document_of(*words, ",".join(names), *extra, code=code)
        require([o["elements"] for o in document["operands"]] == [n for n, _ in arrays], words, document)
        require((document["room"] or {"bytes": None})["bytes"] == room, text, room, document["room"])
        check_sizes(document, names, arrays, room=room)


def trainings():
    for _ in range(80):
        words, arrays = draw_amounts()
        names = RNG.sample([*FLOATS, "int8", *BLOCKS], RNG.randrange(1, 3))
        optimizers = [name for name in STATES if RNG.random() < 0.4] or ["adam"]
        given = {key: RNG.choice(["fp32", "bf16", "fp8_e5m2", "tf32"])
                 for key in ("gradients", "master", "states") if RNG.random() < 0.3}
        if RNG.random() < 0.2:
            given["master"] = "none"
        if any(name.endswith("8bit") for name in optimizers):
            given.pop("states", None)
        extra = [word for key, dtype in given.items() for word in ("--" + key, dtype)]
        document = document_of(*words, "--train", ",".join(optimizers), "--dtype", ",".join(names), *extra)
        check_trainings(document, [(n, o) for n in names for o in optimizers], arrays, **given)


def header(path):
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return {name: entry for name, entry in json.loads(file.read(length)).items() if name != "__metadata__"}


def files():
    """Floats take the dtype; integers, and tensors that --keep names, are unchanged."""
    floats = {"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"}
    with tempfile.TemporaryDirectory() as folder:
        make_checkpoint.write_single(pathlib.Path(folder))
        make_checkpoint.write_sharded(pathlib.Path(folder))
        single = os.path.join(folder, "model.safetensors")
        for keep in (None, "norm", "proj", "embed"):
            arrays, others = [], 0
            for name, entry in header(single).items():
                elements = 1
                for size in entry["shape"]:
                    elements *= size
                if entry["dtype"] in floats and not (keep and keep in name):
                    arrays.append((elements, entry["shape"][-1] if entry["shape"] else 1))
                else:
                    others += entry["data_offsets"][1] - entry["data_offsets"][0]
            extra = ["--keep", "*%s*" % keep] if keep else []
            names = ["bf16", "fp6_e2m3", "int4", *BLOCKS]
            for path in (single, os.path.join(folder, "model.safetensors.index.json")):
                check_sizes(document_of(path, ",".join(names), *extra), names, arrays, others)
                check_trainings(document_of(path, "fp16", "--train", "all", *extra),
                                [("fp16", optimizer) for optimizer in STATES], arrays, others)
            ladder = document_of(single, *extra)["sizes"]
            require(ladder[0]["dtype"] is None and ladder[0]["bytes"] == sum(
                entry["data_offsets"][1] - entry["data_offsets"][0] for entry in header(single).values()), ladder)


def quantized():
    """What quant writes, with padded rows, has the size that mem reports: codes and scales, without the stored
    shapes."""
    with tempfile.TemporaryDirectory() as folder:
        make_checkpoint.write_single(pathlib.Path(folder))
        source, target = (os.path.join(folder, name) for name in ("model.safetensors", "quantized.safetensors"))
        for name in BLOCKS:
            done = subprocess.run([PROGRAM, "quant", source, name, "--pad", "-q", "-o", target, "--force"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            require(done.returncode == 0, name, done.stderr)
            written = sum(entry["data_offsets"][1] - entry["data_offsets"][0]
                          for key, entry in header(target).items() if not key.endswith("_shape"))
            require(document_of(source, name)["sizes"][0]["bytes"] == written, name, written)


def limits():
    """The largest amounts that fit in 64 bits, and the smallest that do not."""
    for name in ("uint8", "bf16", "fp64", "complex128", "int4", "fp6_e3m2", "mxfp4", "nvfp4", "nf4", "q8_0"):
        low, high = 1, LIMIT
        while high - low > 1:  # invariant: low fits, high does not
            middle = (low + high) // 2
            if footprint(name, middle, middle)[0] < LIMIT and middle < LIMIT:
                low = middle
            else:
                high = middle
        if ceil(low, BLOCKS.get(name, (1,))[0]) * BLOCKS.get(name, (1,))[0] < LIMIT:
            check_sizes(document_of(str(low), name), [name], [(low, low)])
        done = run(str(high), name)
        require(done.returncode == 2 and "64 bits" in done.stderr, name, high, done.returncode, done.stderr)


def tables():
    """The table for people shows the document's bytes."""
    for words in (["7B"], ["5x40", "1K", "int4,mxfp4,nvfp4", "--fit", "9kB"]):
        text = run(*words).stdout
        for size in document_of(*words)["sizes"]:
            row = re.search(r"^  %s +.*$" % size["dtype"], text, re.MULTILINE)
            require(row and re.search(r" %d  " % size["bytes"], row[0]), words, size, text)
            require(("fits," in row[0]) == (size["fits"] is True), row, size)
    text = run("1B", "--train", "all").stdout
    for training in document_of("1B", "--train", "all")["trainings"]:
        require(re.search(r"^  %s +fp32 .* %d  " % (training["optimizer"], training["bytes"]), text,
                          re.MULTILINE), training, text)


def known_facts():
    """With 32-bit states momentum costs 4 and Adam 8 bytes per parameter; with 8-bit states 1 and 2."""
    def states(optimizer):
        (training,) = document_of("1B", "--train", optimizer)["trainings"]
        return [part["bytes"] - part["scale_bytes"] for part in training["parts"][2:]]
    require(sum(states("adam")) == 8 * 10 ** 9 and sum(states("adamw")) == 8 * 10 ** 9)
    require(sum(states("momentum")) == 4 * 10 ** 9 and states("sgd") == [])
    require(sum(states("adam8bit")) == 2 * 10 ** 9 and sum(states("momentum8bit")) == 10 ** 9)
    require(run("-q", "176e9", "bf16").stdout == "352000000000\n")
    require(document_of("7B", "--train", "adam", "--dtype", "bf16")["trainings"][0]["bytes_per_parameter"] == 16)


def main():
    for part in (known_facts, amounts, trainings, files, quantized, limits, tables):
        part()
    print("%d checks" % checks)


if __name__ == "__main__":
    main()
