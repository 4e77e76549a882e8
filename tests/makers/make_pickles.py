# SPDX-License-Identifier: MIT
"""PyTorch files built byte by byte: pickles written opcode by opcode, and the archives around them. Python's pickle
module neither writes nor loads any of them."""
import io
import struct
import zipfile

MAGIC = bytes.fromhex("80028a0a6cfc9c46f9206aa850192e")
VERSION = b"\x80\x02M\xe9\x03."


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return b"X" + struct.pack("<I", len(value)) + value


def number(value):
    return b"J" + struct.pack("<i", value) if abs(value) < 2**31 else b"\x8a\x08" + struct.pack("<q", value)


def name(module, function):
    return b"c" + module.encode() + b"\n" + function.encode() + b"\n"


def numbers(values):
    return b"(" + b"".join(number(value) for value in values) + b"t"


def storage(key="0", kind="FloatStorage", count=4, module="torch", last=b""):
    return b"(" + text("storage") + name(module, kind) + text(key) + text("cpu") + number(count) + last + b"tQ"


HOOKS = name("collections", "OrderedDict") + b")R"


def tensor(where=None, offset=0, shape=(4,), strides=(1,), function="_rebuild_tensor_v2", last=b""):
    return (name("torch._utils", function) + b"(" + (where or storage()) + number(offset) + numbers(shape) +
            numbers(strides) + b"\x89" + HOOKS + last + b"tR")


def state(items):
    """A complete pickle: a dict whose values are given as opcodes."""
    return b"\x80\x02}(" + b"".join(text(key) + value for key, value in items.items()) + b"u."


def archive(pickle, data=None, more=(), folder="archive/", first="data.pkl", byteorder="little", method=0):
    """The zip format; more: additional (name, bytes) with names unchanged."""
    out = io.BytesIO()
    members = [(folder + first, pickle)] + ([(folder + "byteorder", byteorder)] if byteorder else [])
    members += [(folder + "data/" + key, content)
                for key, content in (data or {"0": struct.pack("<4f", 1, 2, 3, 4)}).items()]
    with zipfile.ZipFile(out, "w") as target:
        for member, content in members + [(folder + "version", "3\n"), *more]:
            target.writestr(zipfile.ZipInfo(member), content, method)
    return out.getvalue()


def legacy(pickle, keys=("0",), data=None, little=True, after=b""):
    """The format before torch 1.6; data: (number of elements, bytes) of each key."""
    machine = b"\x80\x02}" + text("little_endian") + (b"\x88" if little else b"\x89") + b"s."
    listed = b"\x80\x02](" + b"".join(text(key) for key in keys) + b"e."
    data = data or keys and [(4, struct.pack("<4f", 1, 2, 3, 4))]
    return (MAGIC + VERSION + machine + pickle + listed +
            b"".join(struct.pack("<q", count) + content for count, content in data) + after)
