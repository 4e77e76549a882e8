# SPDX-License-Identifier: MIT
"""numpy files for the test of the .npy and .npz readers: valid ones, and ways to break them."""

import io
import re
import struct
import zipfile

MAGIC = b"\x93NUMPY"
# numpy's type: ours
FORMATS = {
    "f2": "fp16", "f4": "fp32", "f8": "fp64", "b1": "bool", "c8": "complex64", "c16": "complex128",
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
}
SHAPES = [(), (1,), (3,), (0,), (2, 3), (1, 4), (3, 1, 2), (2, 0, 3), (2, 3, 4), (1,) * 20]
FOREIGN = ["<M8[ns]", ">M8[D]", "<m8", "<m8[25us]", "<U3", ">U1", "|S5", "|V3", "|V2", "|V1", "<f16",
           [("a", "<f4"), ("b", ">i2", (2,))], [("x", [("y", "u1"), ("z", "S3", 4)])],
           [("t\u00e9'\"\n", "<f8")], [("a", "<f4"), ("b", "V2")]]


def save(np, array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version, allow_pickle=True)
    return file.getvalue()


def record_type(np, rng):
    """A structured type of random depth, with padding, titles, sub-arrays and both byte orders."""
    def simple():
        return rng.choice("<>") + rng.choice([*FORMATS, "S3", "U2"])

    def extent():
        return tuple(rng.randrange(1, 4) for _ in range(rng.randrange(3)))

    def made(depth):
        fields = []
        for number in range(rng.randrange(1, 5)):
            name = rng.choice("abxy") + "\u00e9'\"\n\u4e2d"[:rng.choice((0, 0, 0, 1, 2, 5))] + str(number)
            inner = made(depth - 1) if depth > 0 and rng.random() < 0.3 else np.dtype(simple())
            fields.append(((f"t{number}", name) if rng.random() < 0.1 else name, inner, extent()))
        return np.dtype(fields, align=rng.random() < 0.4)
    return made(rng.randrange(4))


def leaves(array, name):
    """The fields of an array, and their nested fields, as (name, array)."""
    if array.dtype.names is None:
        yield name, array
    for field in array.dtype.names or ():
        yield from leaves(array[field], f"{name}.{field}")


def with_header(header, data, major=1):
    text = header if isinstance(header, bytes) else header.encode("utf-8")
    length = struct.pack("<H" if major == 1 else "<I", len(text))
    return MAGIC + bytes([major, 0]) + length + text + data


class Pipe(io.RawIOBase):
    """An unseekable file: zipfile then writes sizes after the data."""

    def __init__(self):
        super().__init__()
        self.parts = []

    def writable(self):
        return True

    def write(self, data):
        self.parts.append(bytes(data))
        return len(data)

    def getvalue(self):
        return b"".join(self.parts)


def archive(members, method=0, wide=False, comment=b"", seek=True):
    """A zip of (name, bytes) as zipfile makes it."""
    file = io.BytesIO() if seek else Pipe()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            with made.open(info, "w", force_zip64=wide) as member:
                member.write(data)
        made.comment = comment
    return file.getvalue()


def with_wide_end(data):
    """The same archive with 64-bit end records."""
    at = data.rfind(b"PK\5\6")
    here, count, size, start = struct.unpack("<HHII", data[at + 8:at + 20])
    wide = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, here, count, size, start)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, at, 1)
    full = struct.pack("<HHII", 0xffff, 0xffff, 0xffffffff, 0xffffffff)
    return data[:at] + wide + locator + data[at:at + 8] + full + data[at + 20:]


TOKENS = [b"'descr'", b"'shape'", b"'fortran_order'", b"True", b"False", b"None", b"'<f4'", b"'>f8'",
          b"'|u1'", b"'<f1'", b"'|V2'", b"'|O'", b"'<W4'", b"'float32'", b"'bfloat16'", b"'int4'", b"()",
          b"(3,)", b"(2, 3)", b"(6)", b"6", b"-1", b"2L", b"0x2", b"1_0", b"02", b"[('a', '<f4')]",
          b"('<f4', 2)", b"[", b"]", b"(", b")", b"{", b"}", b",", b":", b"'", b'"', b" ", b"\n", b"\t",
          b"\r", b"\\", b"\\x3c", b"#", b"u", b"b", b"\0", b"\xe9", b"\xc3\xa9", b"9223372036854775807",
          b"\x0c", b"+", b"''", b"'''", b"1.0", b"1e0", b"True,"]


def broken(rng, data):
    """Changes, cuts, inserts or repeats some bytes, and sets some fields of 1 to 8 bytes to extremes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1:]
        elif kind == 1 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
        elif kind == 2:
            data = data[:at] + data[at + rng.randrange(1, 8):]
        elif kind == 3:
            end = min(len(data), at + rng.randrange(1, 16))
            data = data[:end] + data[at:end] + data[end:]
        else:
            field = rng.choice((1, 2, 4, 8))
            value = rng.choice((0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 63, 2 ** 64 - 1, rng.getrandbits(16)))
            data = data[:at] + (value & 256 ** field - 1).to_bytes(field, "little") + data[at + field:]
    return data


def broken_header(rng, text):
    """The same for whole tokens of a header, or sometimes for its bytes."""
    if rng.randrange(4) == 0:
        return broken(rng, text)
    words = re.findall(rb"'[^']*'|\w+|\s+|.", text, re.DOTALL)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(words))
        kind = rng.randrange(6)
        if kind == 0 and len(words) > 1:
            words.pop(at)
        elif kind == 1:
            words.insert(at, rng.choice(words))
        elif kind == 2:
            words.insert(at, rng.choice((b" ", b"\n", b"\t", b"  ", b"\r", b"#", b",")))
        else:
            same = [token for token in TOKENS if token[:1] == words[at][:1]]
            words[at] = rng.choice(same if same and kind < 5 else TOKENS)
    return b"".join(words)
