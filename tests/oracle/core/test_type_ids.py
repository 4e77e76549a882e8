#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The numeric ids of ONNX and ggml in the program's tables against the packages onnx and gguf: every id that a package
knows must be in the tables. An older package knows fewer.

    test_type_ids.py dtype_names.def gguf_types.def
"""

import importlib
import re
import sys

# gguf 0.19 says 40 bytes; the struct of ggml has 2 + 2 + 32.
WRONG_IN_GGUF = {"Q8_1"}

different = 0


def check(what, ours, theirs):
    global different
    for name, want in theirs.items():
        if ours.get(name) != want:
            different += 1
            print(f"{what} {name}: {ours.get(name)}, not {want}")


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"skipped: {name} is not installed")
        return None


def system_numbers(path, system):
    with open(path, encoding="ascii") as rows:
        found = re.findall(rf'^NAME\((\w+), +{system}, +"([^"]+)", +(-?\d+)\)', rows.read(), re.M)
    return {name: int(number) for _, name, number in found}


def gguf_rows(path):
    with open(path, encoding="ascii") as rows:
        text = rows.read()
    plain = re.findall(r'^GGUF_DTYPE\( *(\d+), (\w+), +(\d+),', text, re.M)
    blocks = re.findall(r'^GGUF_BLOCKS\( *(\d+), (\w+), +\w+, +(\d+), +(\d+),', text, re.M)
    return {name: (int(number), int(elements), int(size))
            for number, name, elements, size in [(*row[:2], 1, row[2]) for row in plain] + blocks}


def main():
    names, types = sys.argv[1:]
    ran = 0
    onnx = optional("onnx")
    if onnx:
        ran += 1
        theirs = {name: number for name, number in onnx.TensorProto.DataType.items()
                  if name not in ("UNDEFINED", "STRING")}
        check("ONNX", system_numbers(names, "ONNX"), theirs)
    gguf = optional("gguf")
    if gguf:
        ran += 1
        ours = gguf_rows(types)
        theirs = {kind.name: (kind.value, *gguf.GGML_QUANT_SIZES[kind])
                  for kind in gguf.GGMLQuantizationType}
        for name in WRONG_IN_GGUF:
            theirs[name] = (theirs[name][0], *ours[name][1:])
        check("ggml", ours, theirs)
        check("GGUF dtype", system_numbers(names, "GGUF"),
              {name.lower(): number for name, (number, elements, _) in ours.items() if elements == 1})
    if ran == 0:
        sys.exit(77)
    sys.exit(different != 0)


if __name__ == "__main__":
    main()
