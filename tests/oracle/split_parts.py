# SPDX-License-Identifier: MIT
"""The parts of a split GGUF, byte by byte, for tests of parts that no writer makes."""
import os
import shutil
import struct

U16, U32, I32 = 2, 4, 5


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def part_name(prefix, no, count):
    return "%s-%05d-of-%05d.gguf" % (prefix, no + 1, count)


def text(data):
    return struct.pack("<Q", len(data)) + data


def key(name, kind, value):
    return text(name) + struct.pack("<I", kind) + value


def split_keys(no, count, total, kinds=(U16, U16, I32)):
    forms = {U16: "<H", U32: "<I", I32: "<i"}
    return [key(name, kind, struct.pack(forms[kind], value))
            for name, kind, value in zip((b"split.no", b"split.count", b"split.tensors.count"), kinds, (no, count, total))
            if value is not None]


ARCHITECTURE = key(b"general.architecture", 8, text(b"llama"))
TOKENS = key(b"tokens", 9, struct.pack("<IQ", 4, 50) + struct.pack("<50I", *range(50)))


def write_part(path, names, pairs, kind=0, pad=32):
    head = b"".join([b"GGUF", struct.pack("<IQQ", 3, len(names), len(pairs)), *pairs,
                     *(text(name) + struct.pack("<IQIQ", 1, 8, kind, 32 * i) for i, name in enumerate(names))])
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % pad) + bytes(range(1, 33)) * len(names))


def write_three(folder, prefix="m", total=4):
    for no, names in enumerate(([b"a", b"b"], [b"c"], [b"d"])):
        write_part("%s/%s" % (folder, part_name(prefix, no, 3)), names,
                   ([ARCHITECTURE, TOKENS] if no == 0 else []) + split_keys(no, 3, total))
