# SPDX-License-Identifier: MIT
"""Writes a safetensors file with a matrix w in GPTQ or AWQ layout, 64 rows of 32 columns in two groups. The arguments
set its parts, which need not be consistent with each other. With CONFIG it also writes a config.json next to the file;
without, it writes none.

    make_gptq.py FILE [CONFIG] [PART=DTYPE:SHAPE[:BYTE] ...] [-PART ...]

CONFIG is the JSON of quantization_config; PART is qweight, qzeros, scales or g_idx, or another name. -PART leaves it
out. BYTE is the value of all its bytes. In a file whose name has awq in it, parts are those of AWQ.
"""
import json
import os
import struct
import sys

SIZES = {"U8": 1, "I8": 1, "I16": 2, "F16": 2, "BF16": 2, "I32": 4, "F32": 4, "F64": 8, "I64": 8}
ROWS, COLUMNS, GROUPS = 64, 32, 2


def made(seed, count):
    return bytes((seed + 37 * i + i * i // 3) % 251 for i in range(count))


def main(path, *words):
    awq = "awq" in os.path.basename(path)
    codes = [ROWS, COLUMNS // 8] if awq else [ROWS // 8, COLUMNS]
    zeros = [GROUPS, COLUMNS // 8]
    parts = {"qweight": ("I32", codes, made(1, ROWS * COLUMNS // 2)),
             "qzeros": ("I32", zeros, made(2, GROUPS * COLUMNS // 2)),
             "scales": ("F16", [GROUPS, COLUMNS], struct.pack("<64e", *((i - 20) / 64 for i in range(64)))),
             "g_idx": ("I32", [ROWS], struct.pack("<64i", *(k // 32 for k in range(ROWS))))}
    if awq:
        del parts["g_idx"]
    config = None
    for word in words:
        if word.startswith("-"):
            del parts[word[1:]]
        elif word.startswith("{"):
            config = word
        else:
            name, _, kind = word.partition("=")
            dtype, shape, byte = (kind.split(":") + [""])[:3]
            shape = [int(length) for length in shape.split(",") if length]
            count = SIZES[dtype]
            for length in shape:
                count *= length
            parts[name] = dtype, shape, bytes([int(byte)]) * count if byte else made(3, count)
    header, data = {}, b""
    for name, (dtype, shape, raw) in parts.items():
        header["w." + name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    beside = os.path.join(os.path.dirname(path), "config.json")
    if config is not None:
        with open(beside, "w") as file:
            file.write('{"quantization_config": %s}\n' % config)
    elif os.path.exists(beside):
        os.remove(beside)


if __name__ == "__main__":
    main(*sys.argv[1:])
