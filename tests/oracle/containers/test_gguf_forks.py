#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types of programs that continue ggml: names, sizes and the offsets behind them, in files that are made here. The sizes
are sums of the members of their structures, from ggml-common.h of ik_llama.cpp, and the bytes before each row.

usage: test_gguf_forks.py DTINFO
"""
import json
import random
import struct
import sys

import harness

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run
RANDOM = random.Random(7)
K = 256

# id: name, elements of a block, bytes of a block, bytes before each row
TYPES = {
    133: ("Q6_0", 32, 2 + 8 + 16, 0), 134: ("IQ1_BN", 64, 12 + 1, 2), 135: ("IQ2_BN", 64, 64 // 4, 4),
    136: ("Q8_K64", 64, 4 + 64, 0), 137: ("IQ2_K", K, 2 + 2 + K // 32 + K // 4, 0),
    138: ("IQ3_K", K, 2 + 2 + 2 + K // 32 + K // 4 + K // 8, 0),
    139: ("IQ4_K", K, 2 + 2 + K // 64 + K // 32 + K // 2, 0),
    140: ("IQ5_K", K, 2 + 2 + K // 64 + K // 32 + K // 2 + K // 8, 0),
    141: ("IQ6_K", K, 2 + 2 + K // 16 + K // 2 + K // 4, 0), 144: ("IQ4_KS", K, K // 32 + K // 2, 4),
    145: ("IQ2_KS", K, 2 + K // 64 + K // 4, 2), 146: ("IQ4_KSS", K, 4 * (K // 8), 4), 147: ("Q8_K16", 64, 64, 20),
    148: ("Q8_K32", K, 4 + 4 + K + 2 * (K // 16), 0), 150: ("Q8_K128", 128, 12 + 128, 0), 151: ("Q8_KV", 32, 32, 8),
    152: ("IQ5_KS", K, K // 32 + K // 2 + K // 8, 4), 153: ("IQ2_KT", K, K // 64 + K // 4, 4),
    154: ("IQ3_KT", K, K // 64 + K // 4 + K // 8, 4), 155: ("IQ4_KT", K, 4 * (K // 8), 4),
    156: ("IQ3_KS", K, 2 + K // 64 + K // 4 + K // 8, 2), 157: ("IQ2_KL", K, 2 + K // 64 + K // 4 + K // 16, 2),
    158: ("IQ1_KT", K, K // 32 + K // 8 + K // 16, 4),
    # rows that are interleaved have the size of those that are not
    202: ("Q4_0_R8", 32, 18, 0), 206: ("Q5_0_R4", 32, 22, 0), 208: ("Q8_0_R8", 32, 34, 0), 210: ("Q2_K_R4", K, 84, 0),
    211: ("Q3_K_R4", K, 110, 0), 212: ("Q4_K_R4", K, 144, 0), 213: ("Q5_K_R4", K, 176, 0), 214: ("Q6_K_R4", K, 210, 0),
    216: ("IQ2_XXS_R4", K, 66, 0), 217: ("IQ2_XS_R4", K, 74, 0), 218: ("IQ3_XXS_R4", K, 98, 0),
    219: ("IQ1_S_R4", 32, (16 + 2 * 4) // 4, 2), 220: ("IQ4_NL_R4", 32, 18, 0), 221: ("IQ3_S_R4", K, 110, 0),
    222: ("IQ2_S_R4", K, 82, 0), 223: ("IQ4_XS_R8", K, 136, 0), 229: ("IQ1_M_R4", 32, (16 + 8 + 4) // 4, 2),
    230: ("BF16_R16", 1, 2, 0), 233: ("Q6_0_R4", 32, 26, 0), 335: ("IQ2_BN_R4", 64, 16, 4), 337: ("IQ2_K_R4", K, 76, 0),
    338: ("IQ3_K_R4", K, 110, 0), 339: ("IQ4_K_R4", K, 144, 0), 340: ("IQ5_K_R4", K, 176, 0),
    344: ("IQ4_KS_R4", K, 136, 4), 352: ("IQ5_KS_R4", K, 168, 4), 353: ("MXFP4_R8", 32, 17, 0),
    398: ("Q8_KV_R8", 32, 32, 4), 399: ("Q8_K_R8", K, (2 * 8 + 8 * K) // 8, 0),
}


def write(path, tensors, cut=0):
    """tensors: (name, type, rows, row, bytes)"""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1)
    head += struct.pack("<Q", 20) + b"general.architecture" + struct.pack("<IQ", 8, 5) + b"llama"
    offset, data = 0, b""
    for name, kind, rows, row, size in tensors:
        head += struct.pack("<Q", len(name)) + name + struct.pack("<IQQIQ", 2, row, rows, kind, offset)
        data += RANDOM.randbytes(size) + bytes(-size % 32)
        offset = len(data)
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32) + data[:len(data) - cut])


def inspected(path):
    return json.loads(run("inspect", path, "--json")[0])["files"][0]


def judge_each():
    for kind, (name, block, size, before) in TYPES.items():
        rows, row = 3, block * (5 if block > 1 else 8)
        whole = rows * (before + row // block * size)
        write("f.gguf", [(b"a", kind, rows, row, whole), (b"b", 0, 2, 8, 64)])
        file = inspected("f.gguf")
        first, second = file["tensors"]
        require((first["stored_as"], first["bytes"], first["shape"]) == (name, whole, [rows, row]), kind, first)
        require((second["dtype"], second["bytes"]) == ("fp32", 64), kind, second)
        require([note["code"] for note in file["notes"]] == ["fork_types"], kind, file["notes"])
        out, _ = run("check", "f.gguf", status=1)
        require(name + ", which ggml does not define" in out, out)
        _, said = run("cast", "f.gguf", "bf16", "-o", "never.safetensors", status=3)
        require(f"is {name} of ik_llama.cpp" in said, said)
        # last in the file: a byte less is a truncated file
        write("f.gguf", [(b"b", 0, 2, 8, 64), (b"a", kind, rows, row, whole)])
        require(inspected("f.gguf")["tensors"][1]["bytes"] == whole, kind)
        write("f.gguf", [(b"b", 0, 2, 8, 64), (b"a", kind, rows, row, whole)], cut=1 + -whole % 32)
        _, said = run("inspect", "f.gguf", status=3)
        require("truncated" in said, said)


def judge_others():
    """Ids of another program, rows that are not whole blocks, another size, and ternary numbers of bitnet.cpp."""
    write("f.gguf", [(b"a", 36, 4, 64, 4 * 64 // 4 + 32), (b"b", 0, 2, 8, 64)])
    first = inspected("f.gguf")["tensors"][0]
    require((first["stored_as"], first["bytes"]) == ("I2_S", 96), first)
    _, said = run("cast", "f.gguf", "bf16", "-o", "never.safetensors", status=3)
    require("is I2_S of bitnet.cpp" in said, said)
    for kind, row, size in ((139, 255, 144), (139, 256, 146), (139, 256, 300), (36, 64, 32), (500, 256, 144)):
        write("f.gguf", [(b"a", kind, 1, row, size), (b"b", 0, 2, 8, 64)])
        file = inspected("f.gguf")
        padded = size + -size % 32
        if (kind, size) == (139, 146):
            require(file["tensors"][0]["stored_as"] == "IQ4_K", "padding hides two bytes")
            continue
        require((file["tensors"][0]["stored_as"], file["tensors"][0]["bytes"]) == (f"unknown type {kind}", padded), file)
        require([note["code"] for note in file["notes"]] == ["unknown_types"], file["notes"])
        require(file["tensors"][1]["bytes"] == 64, file)


harness.in_new_folder(judge_each, judge_others)
print(DTINFO.checks, "checks")
