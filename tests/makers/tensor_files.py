# SPDX-License-Identifier: MIT
"""safetensors files of generated tensors: {name: (dtype as the format spells it, shape, bytes)}, written and read
according to the format description, without its library."""
import json
import struct


def write_file(path, tensors, metadata=None):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_file(path):
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack_from("<Q", content)[0]
    header = json.loads(content[8:8 + length])
    header.pop("__metadata__", None)
    return {name: (t["dtype"], t["shape"], content[8 + length:][slice(*t["data_offsets"])])
            for name, t in header.items()}
