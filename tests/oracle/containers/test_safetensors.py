#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The safetensors reader and writer against Python's safetensors, the reference implementation.

Generated and mutated files are judged by both. What we accept it accepts, with the same tensors and metadata. If it
accepts a file that we refuse, the file has one of the oddities that are refused on purpose; Python's own JSON reader
confirms this. And the reference reads what we write for the tensors of a file as the same tensors.
"""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

import harness

try:
    import safetensors
except ImportError:
    safetensors = None

PUSH, LONG = 20_000, 1_000_000
BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8,
    "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
    "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}
PIECES = [
    '{', '}', '[', ']', ',', ':', '"', '""', '{}', '[]', ' ', '\t', '\n', '\r', '\0', '\f', '\ufeff',
    '0', '1', '2', '-0', '-1', '2.0', '1e2', '1e307', '1e400', '00', '.5', '1.', '+1', 'NaN', 'Infinity',
    '18446744073709551615', '18446744073709551616', '9223372036854775807', '4294967296', 'null', 'true',
    'false', '"a"', '"b"', '"dtype"', '"shape"', '"data_offsets"', '"__metadata__"', '"F32"', '"F4"',
    '"I64"', '"f32"', '"F16 "', '\\u0000', '\\ud800', '\\ud83d\\ude00', '\\n', '\\x', '\x7f', '\u202e',
    '"dtype":"F32"', '"shape":[2]', '"data_offsets":[0,8]', ',"x":1', ',"x":[{"y":[]}]', '/**/',
    '"__metadata__":{"a":"b"},', '"__metadata__":null,', '["F32",[2],[0,8]]', '{"F32":null}',
]


class Reader:
    """The probe, queried one file at a time."""

    def __init__(self, probe):
        self.process = subprocess.Popen([probe, "safetensors"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def judge(self, data):
        self.process.stdin.write(struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"the probe ended with status {self.process.wait()} on {data!r}")
        return json.loads(line)


def reference(data):
    """{name: (dtype, shape, bytes)} or the error text."""
    try:
        listed = safetensors.deserialize(data)
    except safetensors.SafetensorError as error:
        return str(error)
    return {name.encode(): (t["dtype"], list(t["shape"]), bytes(t["data"])) for name, t in listed}


def reference_metadata(data, folder):
    path = os.path.join(folder, "x.safetensors")
    with open(path, "wb") as file:
        file.write(data)
    with safetensors.safe_open(path, framework="numpy") as opened:
        return opened.metadata() or {}


def ours(answer, data):
    return {bytes.fromhex(t["name"]):
            (t["dtype"], t["shape"], data[t["offset"]:t["offset"] + t["bytes"]])
            for t in answer["tensors"]}


def our_metadata(answer):
    return {bytes.fromhex(k).decode(): bytes.fromhex(v).decode() for k, v in answer["metadata"]}


# ---- files

def name(rng):
    kind = rng.random()
    if kind < 0.6:
        return f"model.layers.{rng.randrange(99)}.{rng.choice(['wq', 'wk', 'norm', 'mlp.up'])}.weight"
    if kind < 0.9:
        return rng.choice("abcdefgh")
    return "".join(rng.choice('a\u00e9\u202e\U0001f600\x00\x1b\n"\\/ \x7f') for _ in range(rng.randrange(6)))


def spelled(text, rng):
    """A JSON string, sometimes with unnecessary escapes."""
    if rng.random() < 0.8:
        return json.dumps(text, ensure_ascii=rng.random() < 0.5)
    return '"' + "".join("".join(f"\\u{ord(c):04x}" for c in surrogates(c)) for c in text) + '"'


def surrogates(c):
    point = ord(c)
    if point < 0x10000:
        return [c]
    return [chr(0xD800 + (point - 0x10000 >> 10)), chr(0xDC00 + (point - 0x10000 & 0x3FF))]


def shape_of(dtype, rng):
    shape = [rng.choice([0, 1, 2, 3, 4, 8]) if rng.random() < 0.3 else rng.randrange(1, 5)
             for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 5]))]
    if BITS[dtype] < 8 and rng.random() < 0.9:
        shape.append(4)
    return shape


def good(rng):
    """(header text, data) of a mostly valid file."""
    tensors, offset = [], 0
    names = {name(rng) for _ in range(rng.choice([0, 1, 1, 2, 3, 5]))} - {"__metadata__"}
    for tensor in sorted(names):
        dtype = rng.choice(list(BITS))
        shape = shape_of(dtype, rng)
        size = BITS[dtype]
        for dim in shape:
            size *= dim
        size = (size + rng.choice([0, 7])) // 8
        members = [f'"dtype":"{dtype}"', f'"shape":{json.dumps(shape)}',
                   f'"data_offsets":[{offset},{offset + size}]']
        if rng.random() < 0.05:
            members.append('"x":' + rng.choice(['1', '1.5e307', '-0', '"y"', '{"dtype":"F32"}', '[[1],2]']))
        if rng.random() < 0.3:
            rng.shuffle(members)
        tensors.append(spelled(tensor, rng) + ":{" + ",".join(members) + "}")
        offset += size
    if rng.random() < 0.3:
        rng.shuffle(tensors)
    if rng.random() < 0.3:
        pairs = ",".join(spelled(name(rng), rng) + ":" + spelled(name(rng), rng)
                         for _ in range(rng.randrange(3)))
        tensors.insert(rng.randrange(len(tensors) + 1), '"__metadata__":{' + pairs + "}")
    text = "{" + ",".join(tensors) + "}"
    if rng.random() < 0.3:
        text += " " * (-len(text) % 8)
    return text, rng.randbytes(offset)


def mutated_text(text, rng):
    at = rng.randrange(len(text) + 1)
    kind = rng.random()
    if kind < 0.35:
        return text[:at] + rng.choice(PIECES) + text[at:]
    if kind < 0.5:
        return text[:at] + text[at + rng.randrange(1, 4):]
    if kind < 0.7:      # replace a number
        digits = [i for i, c in enumerate(text) if c.isdigit()]
        if digits:
            at = rng.choice(digits)
            return text[:at] + rng.choice("0123456789" + "." + "-" + "e") + text[at + 1:]
    if kind < 0.85:     # repeat a piece elsewhere
        start = rng.randrange(len(text) + 1)
        return text[:at] + text[start:start + rng.choice([1, 2, 5, 10, 60])] + text[at:]
    piece = rng.choice(PIECES)
    return text[:at] + piece + text[at + len(piece):]


def made(rng):
    text, data = good(rng)
    for _ in range(rng.choice([0, 0, 1, 1, 1, 2, 3])):
        text = mutated_text(text, rng)
    header = bytearray(text.encode("utf-8", "surrogatepass"))
    length = len(header)
    kind = rng.random()
    if kind < 0.05 and header:
        header[rng.randrange(length)] = rng.randrange(256)
    elif kind < 0.10:
        length = max(0, length + rng.choice([-8, -2, -1, 1, 2, 8]))
    elif kind < 0.12:
        length = rng.choice([0, 2**31, 2**32 + length, 2**63, 2**64 - 8, 2**64 - 1, 100_000_001])
    file = struct.pack("<Q", length) + bytes(header) + data
    kind = rng.random()
    if kind < 0.04:
        file = file[:rng.randrange(len(file) + 1)]
    elif kind < 0.08:
        file += rng.randbytes(rng.randrange(1, 9))
    return file


DIRECTED = [
    '', ' ', '{}', ' {} ', '\r\n\t {}\r\n\t ', 'null', '[]', '"a"', '{"a":null}', '{"a":{}}', '{"a":1}', '{"":{}}',
    '{"__metadata__":null}', '{"__metadata__":{}}', '{"__metadata__":[]}', '{"__metadata__":1}',
    '{"__metadata__":{"a":1}}', '{"__metadata__":{"a":null}}', '{"__metadata__":{"a":"b"},"__metadata__":{}}',
    '{"__metadata__":null,"__metadata__":null}', '{"__metadata__":{"a":"b","a":"b"}}',
    '{"\\u005f_metadata__":{"a":"b"}}', '{"__metadata__":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}',
]
TENSORS = [     # fields of a tensor for which 8 bytes of data exist
    '"dtype":"F32","shape":[2],"data_offsets":[0,8]', '"dtype":"F32","shape":[2],"data_offsets":[0,8],',
    '"dtype":"F32","shape":[2]', '"dtype":"F32","data_offsets":[0,8]', '"shape":[2],"data_offsets":[0,8]',
    '"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]',
    '"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]',
    '"dtype":"F32","shape":[2],"data_offsets":[0,8],"data_offsets":[0,8]',
    '"dtype":"F32","\\u0073hape":[2],"data_offsets":[0,8]', '"dtype":"F\\u00332","shape":[2],"data_offsets":[0,8]',
    '"dtype":"f32","shape":[2],"data_offsets":[0,8]', '"dtype":"F32 ","shape":[2],"data_offsets":[0,8]',
    '"dtype":null,"shape":[2],"data_offsets":[0,8]', '"dtype":{"F32":null},"shape":[2],"data_offsets":[0,8]',
    '"dtype":0,"shape":[2],"data_offsets":[0,8]', '"dtype":"F32","shape":2,"data_offsets":[0,8]',
    '"dtype":"F32","shape":null,"data_offsets":[0,8]', '"dtype":"F32","shape":["2"],"data_offsets":[0,8]',
    '"dtype":"F32","shape":[2.0],"data_offsets":[0,8]', '"dtype":"F32","shape":[2e0],"data_offsets":[0,8]',
    '"dtype":"F32","shape":[-2],"data_offsets":[0,8]', '"dtype":"F32","shape":[-0],"data_offsets":[0,0]',
    '"dtype":"F32","shape":[02],"data_offsets":[0,8]', '"dtype":"F32","shape":[2,],"data_offsets":[0,8]',
    '"dtype":"F32","shape":[[2]],"data_offsets":[0,8]', '"dtype":"F32","shape":[2],"data_offsets":[0]',
    '"dtype":"F32","shape":[2],"data_offsets":[0,8,8]', '"dtype":"F32","shape":[2],"data_offsets":[]',
    '"dtype":"F32","shape":[2],"data_offsets":[8,0]', '"dtype":"F32","shape":[2],"data_offsets":{"0":0,"1":8}',
    '"dtype":"F32","shape":[2],"data_offsets":[0,8.0]', '"dtype":"F32","shape":[2],"data_offsets":[-0,8]',
    '"dtype":"F32","shape":[2],"data_offsets":[4,8]', '"dtype":"F32","shape":[1],"data_offsets":[4,8]',
    '"dtype":"F32","shape":[2],"data_offsets":[0,9]', '"dtype":"F32","shape":[3],"data_offsets":[0,12]',
    '"dtype":"F32","shape":[1],"data_offsets":[0,4]', '"dtype":"I32","shape":[2,2],"data_offsets":[0,4]',
    '"dtype":"F64","shape":[],"data_offsets":[0,8]', '"dtype":"F4","shape":[16],"data_offsets":[0,8]',
    '"dtype":"F4","shape":[15],"data_offsets":[0,8]', '"dtype":"F4","shape":[1],"data_offsets":[0,0]',
    '"dtype":"U8","shape":[2,18446744073709551614],"data_offsets":[0,8]',
    '"dtype":"U8","shape":[2,9223372036854775807],"data_offsets":[0,8]',
    '"dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,8]',
    '"dtype":"U8","shape":[0,18446744073709551615,18446744073709551615],"data_offsets":[0,0]',
    '"dtype":"U8","shape":[18446744073709551615,18446744073709551615,0],"data_offsets":[0,0]',
    '"dtype":"U8","shape":[2305843009213693952,8],"data_offsets":[0,8]',
    '"dtype":"U8","shape":[8],"data_offsets":[18446744073709551608,18446744073709551616]',
    '"dtype":"U8","shape":[8],"data_offsets":[18446744073709551607,18446744073709551615]',
    '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1e307', '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1e309',
    '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":0e999', '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1e-999',
    '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":9' + '9' * 400,
    '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":9' + '9' * 400 + 'e-400',
    '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":0.' + '0' * 400 + '1e700',
    '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":0.' + '0' * 400 + '1e709',
    '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1e99999999999', '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1e-99999999999',
    '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":"\\ud800"', '"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1,"x":2',
] + ['"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":' + '[' * n + ']' * n for n in (1, 124, 125, 126, 2000)
] + ['"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":' + '{"x":' * n + '0' + '}' * n for n in (125, 126)
] + [f'"dtype":"{dtype}","shape":[{64 // bits}],"data_offsets":[0,{64 // bits * bits // 8}]' for dtype, bits in BITS.items()]


def framed(text, data=b""):
    header = text.encode()
    return struct.pack("<Q", len(header)) + header + data


def directed():
    for text in DIRECTED:
        yield framed(text)
    for members in TENSORS:
        yield framed('{"a":{' + members + '}}', bytes(range(8)))
    for text in ('{"a":["F32",[2],[0,8]]}', '{"a":{%s},"a":{%s}}' % (TENSORS[0], TENSORS[0]),
                 '{"a":{%s},"\\u0061":{%s}}' % (TENSORS[0], TENSORS[0]), '\ufeff{"a":{%s}}' % TENSORS[0],
                 '{"a\\u0000":{%s}}' % TENSORS[0], '{"a":{%s}}\0' % TENSORS[0], '{"a":{%s}}{}' % TENSORS[0]):
        yield framed(text, bytes(range(8)))
    whole = framed('{"a":{%s}}' % TENSORS[0], bytes(range(8)))
    for end in range(len(whole)):
        yield whole[:end]
    yield whole + b"x"
    yield struct.pack("<Q", 100_000_001) + b"{}"
    yield struct.pack("<Q", 2**64 - 8) + b"{}"


# ---- judgement

def pairs_with_twins(pairs):
    seen = dict(pairs)
    if len(seen) != len(pairs):
        seen["\0twins"] = True
    return seen


def is_odd_on_purpose(data, error):
    """Whether refusing something that the reference accepts is a documented decision."""
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length], object_pairs_hook=pairs_with_twins,
                        parse_float=lambda text: text, parse_int=lambda text: text)
    metadata = header.get("__metadata__") or {}
    tensors = [t for key, t in header.items() if key not in ("__metadata__", "\0twins")]
    if "occurs twice" in error:
        return "\0twins" in header or "\0twins" in metadata
    if "must be an object" in error:
        return any(isinstance(t, list) for t in tensors)
    if "dtype is not a string" in error:
        return any(isinstance(t, dict) and isinstance(t.get("dtype"), dict) for t in tensors)
    if "out of range" in error:     # between 1e308 and the fp64 maximum
        return any(1e308 <= abs(float(x)) < float("inf") for x in numbers(tensors))
    return False


def numbers(tree):
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            todo.extend(node.values())
        elif isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, str):
            try:
                float(node)
            except ValueError:
                continue
            yield node


class Comparison:
    def __init__(self, probe, folder):
        self.reader, self.folder = Reader(probe), folder
        self.tally = harness.Tally()
        self.both, self.neither, self.odd, self.written = 0, 0, {}, 0

    def compare(self, data):
        answer, wanted = self.reader.judge(data), reference(data)
        tally = self.tally
        if not answer["ok"]:
            if isinstance(wanted, str):
                tally.checked += 1
                self.neither += 1
            else:
                tally.check(f"stricter on {data!r}: {answer['error']}",
                            is_odd_on_purpose(data, answer["error"]), True)
                key = answer["error"].rsplit("'", 1)[-1].strip()
                self.odd[key] = self.odd.get(key, 0) + 1
            return
        self.both += 1
        tally.check(f"tensors of {data!r}", ours(answer, data), wanted)
        if isinstance(wanted, str):
            return
        places = [(t["offset"], t["offset"] + t["bytes"]) for t in answer["tensors"]]
        tally.check(f"order in {data!r}", places, sorted(places))
        metadata = our_metadata(answer)
        if metadata or b"__metadata__" in data:
            tally.check(f"metadata of {data!r}", metadata, reference_metadata(data, self.folder))
        self.check_written(answer, metadata, wanted)

    def check_written(self, answer, metadata, wanted):
        """The header that we write for these tensors, with zeros as their data."""
        self.written += 1
        head = bytes.fromhex(answer["head"])
        file = head + bytes(answer["size"] - len(head))
        self.tally.check("a multiple of 8", len(head) % 8, 0)
        again = reference(file)
        if isinstance(again, str):
            self.tally.differ(f"what was written: {head!r}", again, "accepted")
            return
        self.tally.check(f"what was written: {head!r}",
                         {n: (d, s, len(b)) for n, (d, s, b) in again.items()},
                         {n: (d, s, len(b)) for n, (d, s, b) in wanted.items()})
        header = json.loads(head[8:])
        for tensor in header.values():
            if "data_offsets" in tensor and tensor["data_offsets"][0] != tensor["data_offsets"][1]:
                element = max(BITS[tensor["dtype"]] // 8, 1)
                self.tally.check(f"alignment in {head!r}", tensor["data_offsets"][0] % element, 0)
        if metadata:
            self.tally.check(f"metadata in {head!r}", header["__metadata__"], metadata)
            self.tally.check("metadata first", next(iter(header)), "__metadata__")


def main():
    probe, long = harness.arguments()
    if safetensors is None:
        tally = harness.Tally()
        tally.skip("Python's safetensors is not here")
        tally.finish()
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=folder) as folder:
        comparison = Comparison(probe, folder)
        for data in directed():
            comparison.compare(data)
        comparison.tally.part("directed files")
        seed = 20260101 if not long else int(time.time())
        rng = random.Random(seed)
        for _ in range(LONG if long else PUSH):
            comparison.compare(made(rng))
        comparison.tally.part(f"made files, seed {seed}")
        print(f"accepted by both {comparison.both}, by neither {comparison.neither}, "
              f"written and read {comparison.written}; refused on purpose {comparison.odd}")
        comparison.tally.check("enough of each", min(comparison.both, comparison.neither) > 1000, True)
        comparison.tally.finish()


if __name__ == "__main__":
    main()
