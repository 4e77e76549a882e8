#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tensors with names wider than the page: no line of any command that prints them is wider than the page, at three
widths, short and with -v; both ends of the names are shown, and --wide shows them whole.

    test_command_long_names.py build/dtinfo
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata

PROGRAM = os.path.abspath(sys.argv[1])
FILES = ("A", "B", "I8", "MX", "OUT", "BAD")
WIDTHS = (60, 80, 120)
RANDOM = random.Random(29)
LONG = ("model.language_model.layers.%d.mlp.experts.%d.gate_up_projection_of_" + "a_very_" * 9 + "wide_model.weight")
NAMES = [LONG % (i, j) for i in range(2) for j in range(3)] + ["schicht." + "\u00fc\u4e2d" * 60]
COMMANDS = """
inspect A
inspect --stats A
inspect --stats I8
inspect --raw MX
compare A B
compare A I8
compare MX I8
check A
check B --no-nan --fits fp8_e4m3fn --dtype fp32
check MX --quantized
check A --as fp8_e4m3fn --min-sqnr 90
check BAD --quantized
cast B fp16 -o OUT --force
quant A int8 -o OUT --force
quant A mxfp4 --layout modelopt -o OUT --force
quant I8 bf16 --dequant -o OUT --force
transcode MX --to modelopt -o OUT --force
transcode MX --to compressed-tensors --dtype nvfp4 -o OUT --force
transcode MX --to bf16 -o OUT --force
explain A I8
explain A B
verify A I8 --recipe recipe.json
verify A B --recipe recipe.json
mem A
"""


def write(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def run(words, *options):
    files = [word + ".safetensors" if word in FILES else word for word in words]
    done = subprocess.run([PROGRAM, *options, *files], capture_output=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit("%s: exit %d, %s" % (" ".join(files), done.returncode, done.stderr.decode()))
    return done.stdout.decode()


def make():
    def floats(count):
        return struct.pack("<%df" % count, *(RANDOM.gauss(0, 1) for _ in range(count)))
    a = {name: ("F32", [2, 32], floats(64)) for name in NAMES}
    b = {name: ("F32", [2, 32], floats(64)) for name in NAMES[1:]}
    b[NAMES[2]] = "F32", [2, 32], struct.pack("<f", float("nan")) + a[NAMES[2]][2][4:]
    b[NAMES[3]] = "F32", [32], floats(32)
    b[LONG % (9, 9)] = "I32", [3], bytes(12)
    write("A", a)
    write("B", b)
    for dtype, path in (("int8", "I8"), ("mxfp4", "MX")):
        run(["quant", "A", dtype, "-o", path, "-q"])
    write("BAD", {NAMES[0] + "_packed": ("U8", [2, 16], bytes(32)), NAMES[1] + "_scale": ("U8", [2, 1], bytes(2))})
    with open("recipe.json", "w") as file:
        file.write(run(["explain", "A", "I8", "--json"]))


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def main():
    checked = wrong = 0
    for line in COMMANDS.split("\n"):
        words = line.split()
        if not words:
            continue
        for more in ((), ("-v",)):
            whole = run(words, "--wide", *more)
            named = any(name in whole for name in NAMES)
            for width in WIDTHS:
                answer = run(words, "--width", str(width), *more)
                for shown in answer.split("\n"):
                    checked += 1
                    if columns(shown) > width:
                        wrong += 1
                        print("%s %s: %d columns of %d: %s" % (line, " ".join(more), columns(shown), width, shown))
                if named and "..." not in answer:
                    wrong += 1
                    print("%s at %d: a long name is neither whole nor shortened:\n%s" % (line, width, answer))
    print("%d lines, %d wrong" % (checked, wrong))
    return wrong > 0 or checked < 500


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make()
        code = main()
    sys.exit(code)
