# SPDX-License-Identifier: MIT
"""Writes a safetensors file with a tensor w.weight in bitsandbytes' layout. The arguments set its parts, which need
not be consistent with each other.

    make_bitsandbytes.py FILE [STATE] [PART=DTYPE:SHAPE ...] [-PART ...]

STATE is JSON; PART is the end of a name, as in absmax=F32:3. -PART leaves it out.
"""
import json
import struct
import sys

NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
       -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634,
       0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]
SIZES = {"U8": 1, "I8": 1, "F32": 4, "F16": 2, "BF16": 2, "F64": 8, "I64": 8}
STATE = "quant_state.bitsandbytes__nf4"


def main(path, *words):
    state = '{"quant_type": "nf4", "blocksize": 64, "dtype": "float32", "shape": [2, 65]}'
    parts = {"": ("U8", [65, 1], bytes(i % 256 for i in range(65))),
             "absmax": ("F32", [3], struct.pack("<3f", 1, 2, 4)), "quant_map": ("F32", [16], struct.pack("<16f", *NF4))}
    for word in words:
        if word.startswith("-"):
            parts.pop(word[1:], None)
            state = None if word[1:] == STATE else state
        elif "=" in word and not word.startswith("{"):
            name, _, kind = word.partition("=")
            dtype, _, shape = kind.partition(":")
            shape = [int(length) for length in shape.split(",") if length]
            count = 1
            for length in shape:
                count *= length
            parts[name] = dtype, shape, bytes(SIZES[dtype] * count)
        else:
            state = word
    if state is not None and STATE not in parts:
        raw = state.encode()
        parts[STATE] = "U8", [len(raw)], raw
    header, data = {}, b""
    for name, (dtype, shape, raw) in parts.items():
        header["w.weight" + ("." + name if name else "")] = {"dtype": dtype, "shape": shape,
                                                            "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


if __name__ == "__main__":
    main(*sys.argv[1:])
