#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The GGUF reader against llama.cpp's package `gguf`.

Files from its writer, with all types of tensors and key-values and both byte orders, must be read the same by both.
Mutated files: whatever we accept, it must accept and list the same, except for what only the package cannot handle
(types that ggml does not have, names that are not UTF-8 or start like its own fields). If it accepts a file that we
refuse, the reason must be one of ggml's own checks, which the package omits.
"""

import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import warnings

import harness

try:
    import gguf
    import numpy as np
except ImportError:
    gguf = None

PUSH, LONG = 2_500, 400_000
SHOWN = 8           # array elements that are kept
DTYPES = {"F32": "fp32", "F16": "fp16", "BF16": "bf16", "F64": "fp64", "I8": "int8", "I16": "int16",
          "I32": "int32", "I64": "int64", "Q8_0": "q8_0", "Q4_0": "q4_0", "MXFP4": "mxfp4",
          "NVFP4": "nvfp4"}
LATER = {"Q2_0"}    # added to ggml after the package's release
# ggml's checks, and the check that the data are present, by our messages
STRICTER = [
    r"truncated", r"a string at byte", r"is empty$", r"its offset", r"dimensions", r"2\^63",
    r"64 bits", r"arrays nested deeper", r"multiple of the", r"unknown value type",
]
# counts beyond the end of the file, on which the package loops forever
ENDLESS = r"the file is too short for an array|array longer than the limit|do not fit into"
INTERESTING = [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 16, 31, 32, 33, 39, 42, 63, 64, 128, 148, 255, 256,
               2**16, 2**24 - 1, 2**30, 2**30 + 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1,
               2**63, 2**64 - 32, 2**64 - 1]


class Reader:
    """The probe, queried one file at a time."""

    def __init__(self, probe):
        self.process = subprocess.Popen([probe], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def judge(self, data):
        self.process.stdin.write(struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"the probe ended with status {self.process.wait()} on {data!r}")
        return json.loads(line)


def plain(value):
    """A numpy number as the token that we print."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    value = float(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def field_values(field):
    """(type, count, value) of a key-value as the package reads it."""
    first = field.types[0]
    if first == gguf.GGUFValueType.STRING:
        return "string", 1, [bytes(field.parts[field.data[0]]).hex()]
    if first != gguf.GGUFValueType.ARRAY:
        return first.name.lower(), 1, plain(field.parts[field.data[0]][0])
    count = int(field.parts[4][0])
    element = gguf.GGUFValueType(field.parts[3][0])
    if element == gguf.GGUFValueType.ARRAY:
        return "array of arrays", count, None       # flattened by the package: not compared
    parts = [field.parts[i] for i in field.data[:SHOWN]]
    if element == gguf.GGUFValueType.STRING:
        return "array of string", count, [bytes(p).decode("utf-8", "replace") for p in parts]
    return f"array of {element.name.lower()}", count, [plain(p[0]) for p in parts]


def reference(path):
    """What the package finds, or its error text."""
    try:
        reader = gguf.GGUFReader(path)
    except Exception as error:      # the package passes on any numpy exception
        return f"{type(error).__name__}: {error}"
    tensors = [[t.name.encode().hex(), t.tensor_type.name, DTYPES.get(t.tensor_type.name, ""),
                [int(d) for d in reversed(t.shape.tolist())], int(t.data_offset), int(t.n_bytes)]
               for t in reader.tensors]
    metadata = [[f.name.encode().hex(), *field_values(f)] for f in reader.fields.values()
                if not f.name.startswith("GGUF.")]
    return {"tensors": tensors, "metadata": metadata}


def shown(metadata):
    """Our metadata, with invalid UTF-8 and arrays of arrays normalized for the comparison."""
    return [[key, kind, count, None if kind == "array of arrays" else value]
            for key, kind, count, value in metadata]


def excused(answer):
    """Whether a file that we accept contains something that the package cannot handle."""
    if "unknown_types" in answer["notes"] or any(t[1] in LATER for t in answer["tensors"]):
        return "types that the package does not have"
    for text in [t[0] for t in answer["tensors"]] + [m[0] for m in answer["metadata"]]:
        try:
            if bytes.fromhex(text).decode().startswith("GGUF."):
                return "keys that begin with GGUF."
        except UnicodeDecodeError:
            return "names that are not UTF-8"
    if any(max(t[3], default=0) >= 2**31 for t in answer["tensors"]):
        return "empty tensors with huge dimensions"
    return None


def write_all(path, big_endian, rng):
    order = gguf.GGUFEndian.BIG if big_endian else gguf.GGUFEndian.LITTLE
    writer = gguf.GGUFWriter(path, "llama", endianess=order)
    if rng.random() < 0.5:
        writer.add_custom_alignment(rng.choice([8, 16, 32, 64, 256]))
    writer.add_string("a string", rng.choice(["", "x", "t\u00e9st", "\x1b[2J\0", "long " * 1000]))
    for kind, low, high in (("uint8", 0, 2**8), ("int8", -2**7, 2**7), ("uint16", 0, 2**16),
                            ("int16", -2**15, 2**15), ("uint32", 0, 2**32), ("int32", -2**31, 2**31),
                            ("uint64", 0, 2**64), ("int64", -2**63, 2**63)):
        writer_add = getattr(writer, "add_" + kind)
        for name, value in (("low", low), ("high", high - 1), ("any", rng.randrange(low, high))):
            writer_add(f"{kind} {name}", value)
    for i, value in enumerate((0.0, -0.0, 1.0, 0.1, 3.4e38, 1e-45, math.inf, -math.inf, math.nan)):
        writer.add_float32(f"float32 {i}", value)
        writer.add_float64(f"float64 {i}", value if i % 2 else value * 3)
    writer.add_bool("yes", True)
    writer.add_bool("no", False)
    for count in (1, 8, 9, 100):
        writer.add_array(f"words {count}", [f"w\n\"{i}\u00e9" for i in range(count)])
        writer.add_array(f"numbers {count}", [i * 1000 - 5 for i in range(count)])
        writer.add_array(f"floats {count}", [i / 7 for i in range(count)])
        writer.add_array(f"flags {count}", [i % 3 == 0 for i in range(count)])
    # ggml's Q8_1 blocks have 36 bytes; the package says 40, and files do not contain them
    kinds = [kind for kind in gguf.GGMLQuantizationType if kind.name != "Q8_1"]
    rng.shuffle(kinds)
    for kind in kinds:
        size = gguf.GGML_QUANT_SIZES[kind][1]
        shape = [rng.randrange(1, 4) for _ in range(rng.randrange(0, 4))]
        blocks = rng.randrange(1, 4)
        data = np.zeros((*shape, blocks * size), np.uint8)
        writer.add_tensor(f"blk.{kind.name}.weight", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with open(path, "rb") as file:
        return file.read()


def write_small(path, big_endian):
    order = gguf.GGUFEndian.BIG if big_endian else gguf.GGUFEndian.LITTLE
    writer = gguf.GGUFWriter(path, "x", endianess=order)
    writer.add_uint32("n", 7)
    writer.add_array("w", ["a", "bc"])
    writer.add_array("v", [1, 2, 3])
    writer.add_custom_alignment(32)
    writer.add_tensor("t", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("q", np.zeros((2, 34), np.uint8), raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("h", np.ones(4, np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with open(path, "rb") as file:
        return file.read()


def mutate(data, others, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(8)
        if what == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif what == 1 and at < len(data):
            data[at] = rng.choice((0, 1, 8, 9, 32, 127, 255, rng.randrange(256)))
        elif what in (2, 3):
            size = rng.choice((4, 8))
            value = rng.choice(INTERESTING) % (1 << 8 * size)
            data[at:at + size] = value.to_bytes(size, rng.choice(("little", "little", "big")))
        elif what == 4:
            del data[at:at + rng.choice((1, 2, 4, 8, 16, len(data)))]
        elif what == 5:
            data[at:at] = bytes(rng.choice((1, 4, 8, 32)))
        elif what == 6:
            begin = rng.randrange(len(data) + 1)
            data[at:at] = data[begin:begin + rng.randrange(64)]
        else:
            other = rng.choice(others)
            begin = rng.randrange(len(other))
            data[at:at + 24] = other[begin:begin + 24]
    return bytes(data)


def compare(tally, reader, path, data, subject, counts):
    with open(path, "wb") as file:
        file.write(data)
    answer = reader.judge(data)
    if not answer["ok"] and re.search(ENDLESS, answer["error"]):
        counts["not asked"] += 1
        return
    wanted = reference(path)
    if not answer["ok"]:
        if isinstance(wanted, dict):
            counts["we alone refuse"] += 1
            known = any(re.search(pattern, answer["error"]) for pattern in STRICTER)
            tally.check(f"{subject}", known or answer["error"], True)
        else:
            counts["both refuse"] += 1
            tally.check(subject, True, True)
        return
    if isinstance(wanted, str):
        counts["it alone refuses"] += 1
        if not excused(answer):
            tally.differ(f"{subject}", answer, wanted)
        tally.checked += 1
        return
    if any(t[1] == "Q8_1" for t in answer["tensors"]):
        return
    counts["both accept"] += 1
    tally.check(f"{subject}: tensors", answer["tensors"], wanted["tensors"])
    tally.check(f"{subject}: metadata", shown(answer["metadata"]), wanted["metadata"])


def main():
    probe, long = harness.arguments()
    tally = harness.Tally()
    if gguf is None:
        tally.skip("the Python package gguf is not here")
        tally.finish()
    warnings.simplefilter("ignore")
    rng = random.Random(4)
    reader = Reader(probe)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.gguf")
        counts = dict.fromkeys(("both accept", "both refuse", "we alone refuse", "it alone refuses",
                                "not asked"), 0)
        for i in range(20):
            compare(tally, reader, path, write_all(path, i % 2 == 1, rng), f"made file {i}", counts)
        small = [write_small(path, False), write_small(path, True)]
        for data in small:
            compare(tally, reader, path, data, "small file", counts)
        if counts["both accept"] != 22:
            tally.differ("files that the package made", counts, "22 that both accept")
        tally.part(f"made files: {counts}")
        for i in range(LONG if long else PUSH):
            data = mutate(rng.choice(small), small, rng)
            compare(tally, reader, path, data, f"mutation {i}, {data.hex()}", counts)
        tally.part(f"mutations: {counts}")
    tally.finish()


if __name__ == "__main__":
    main()
