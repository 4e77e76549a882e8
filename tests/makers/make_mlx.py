# SPDX-License-Identifier: MIT
"""Writes a safetensors file with the parts of quantized tensors, filled with counting bytes. The arguments set names,
dtypes and shapes, which need not be consistent with each other. A repeated name appears in the file twice. After a
slash: the bytes to fill with, repeated.

    make_mlx.py FILE NAME=DTYPE:SHAPE[/HEX] ...

For example a.weight=U32:2,8 or a.scale=F32:/0000803f.
"""
import struct
import sys

SIZES = {"U8": 1, "I8": 1, "F32": 4, "F16": 2, "BF16": 2, "U32": 4, "I32": 4, "F64": 8, "F8_E8M0": 1, "F8_E4M3": 1,
         "F8_E5M2": 1, "I64": 8}


def main(path, *words):
    entries, data = [], b""
    for word in words:
        name, _, kind = word.partition("=")
        dtype, _, text = kind.partition(":")
        text, _, digits = text.partition("/")
        shape = [int(length) for length in text.split(",") if length]
        count = SIZES[dtype]
        for length in shape:
            count *= length
        count = 0 if count > 1 << 24 else count
        entries.append('"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}'
                       % (name, dtype, ",".join(map(str, shape)), len(data), len(data) + count))
        given = bytes.fromhex(digits)
        data += given * (count // len(given)) if given else bytes(i % 251 for i in range(count))
    header = ("{" + ",".join(entries) + "}").encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)


if __name__ == "__main__":
    main(*sys.argv[1:])
