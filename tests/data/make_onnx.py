#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ONNX models for tests, assembled from wire-format bytes with the standard library only.

    make_onnx.py FOLDER     writes graph.onnx, quantized.onnx, and external.onnx with external.data
"""
import pathlib
import struct
import sys

WIRE = {"varint": 0, "fixed64": 1, "bytes": 2, "group": 3, "fixed32": 5}


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7f | 0x80])
        number >>= 7
    return out + bytes([number])


def tag(field, wire):
    return varint(field << 3 | WIRE[wire])


def number(field, value):
    return tag(field, "varint") + varint(value)


def block(field, data):
    if isinstance(data, str):
        data = data.encode()
    return tag(field, "bytes") + varint(len(data)) + data


def numbers(field, values, kind, packed):
    """A repeated number field. kind is varint, fixed32 or fixed64; packed is True, False or "mixed"."""
    def spell(value):
        if kind == "varint":
            return varint(value)
        return struct.pack("<I" if kind == "fixed32" else "<Q", value)
    if packed == "mixed":   # unpacked, then packed, an empty run, then unpacked
        third = len(values) // 3
        return (numbers(field, values[:third], kind, False) + numbers(field, values[third:2 * third], kind, True) +
                block(field, b"") + numbers(field, values[2 * third:], kind, False))
    if packed:
        return block(field, b"".join(spell(value) for value in values))
    return b"".join(tag(field, kind) + spell(value) for value in values)


def tensor(name, data_type, dims, *parts):
    """A TensorProto; parts are additional fields."""
    return b"".join(number(1, size) for size in dims) + number(2, data_type) + b"".join(parts) + block(8, name)


def raw(name, data_type, dims, data):
    return tensor(name, data_type, dims, block(9, data))


def external(location, **entries):
    """external_data and data_location of a TensorProto."""
    pairs = [("location", location)] + [(key, str(value)) for key, value in entries.items()]
    return b"".join(block(13, block(1, key) + block(2, value)) for key, value in pairs) + number(14, 1)


def model(*initializers, graph=b"", more=b""):
    """A model with these initializers, additional fields of its graph, and additional fields of its own."""
    body = graph + block(2, "g") + b"".join(block(5, one) for one in initializers)
    return number(1, 10) + block(2, "wire") + block(7, body) + block(8, number(2, 21)) + more


def node(op, name, output, *attributes):
    return block(2, output) + block(3, name) + block(4, op) + b"".join(block(5, one) for one in attributes)


def write(path, data):
    pathlib.Path(path).write_bytes(data)
    return path


def graph():
    """Initializers, a constant, two branches that share a name, a function, a string tensor, a sparse tensor, and
    metadata."""
    def scalar(name, value):
        return raw(name, 1, (1,), struct.pack("<f", value))

    branches = [block(1, name) + block(6, block(5, scalar("bias", value)))
                for name, value in (("then_branch", 1.5), ("else_branch", -1.5))]
    sparse = block(15, block(1, raw("mask", 1, (2,), bytes(8))) + block(2, raw("", 7, (2,), bytes(16))) + number(3, 64))
    nodes = (block(1, node("Constant", "", "steps", block(1, "value") + block(5, tensor(
        "value", 7, (3,), numbers(7, [1, -1, 300], "varint", True))))) +
             block(1, node("If", "choose", "out", *branches)))
    function = block(25, block(1, "scale") + block(7, node("Constant", "c", "factor", block(1, "value") + block(
        5, scalar("", 0.5)))) + block(10, "pkg"))
    return model(raw("weight", 1, (2, 3), struct.pack("<6f", *(i / 4 - 0.5 for i in range(6)))),
                 tensor("half", 10, (3,), numbers(5, [0x3e00, 0xc000, 0x4200], "varint", True)),
                 tensor("codes", 22, (3,), numbers(5, [0xe1, 0x03], "varint", False)),
                 tensor("packed", 1, (2,), numbers(4, [0x3f800000, 0x40000000], "fixed32", True)),
                 tensor("words", 8, (2,), block(6, "a"), block(6, "bc")),
                 graph=nodes + sparse, more=block(14, block(1, "author") + block(2, "tests")) + function)


def use(op, inputs, domain="", **integers):
    """A node with these inputs and integer attributes."""
    attributes = [block(1, name) + number(3, value) + number(20, 2) for name, value in integers.items()]
    return block(1, b"".join(block(1, name) for name in inputs) + node(op, "", inputs[0] + ".y", *attributes) +
                 (block(7, domain) if domain else b""))


def quantized():
    """Weights for each node type that dequantizes: per tensor, per axis, in blocks, packed; one with two scales, one
    whose scale is an input; activations."""
    def floats(name, *values):
        return raw(name, 1, (len(values),), struct.pack("<%df" % len(values), *values))

    branch = block(1, "then_branch") + block(6, use("DequantizeLinear", ["linear", "inner"]) + block(5, raw(
        "inner", 1, (), struct.pack("<f", 2))) + block(5, raw("linear", 3, (2,), b"\1\2")) + block(11, block(1, "bias")) +
        use("DequantizeLinear", ["bias", "inner"]))
    nodes = (use("QuantizeLinear", ["x", "one", "zero"]) + use("DequantizeLinear", ["x.y", "one", "zero"]) +
             use("DequantizeLinear", ["linear", "scales", "zeros"], axis=0) +
             use("DequantizeLinear", ["bias", "one"]) +
             use("DequantizeLinear", ["blocks", "halves", "four"], axis=1, block_size=4, output_dtype=1) +
             use("DequantizeLinear", ["floats", "one"], "ai.onnx") +
             use("DequantizeLinear", ["twice", "one"]) + use("DequantizeLinear", ["twice", "scales"], axis=0) +
             use("DequantizeLinear", ["open", "x"]) +
             use("MatMulNBits", ["x", "words", "eight", "packed"], "com.microsoft", K=20, N=2, bits=4, block_size=16) +
             use("MatMulNBits", ["x", "bytes", "one", "middle"], "com.microsoft", K=8, N=1, bits=8, block_size=8) +
             use("GatherBlockQuantized", ["table", "x", "rows"], "com.microsoft", gather_axis=0, quantize_axis=1,
                 block_size=16, bits=4) +
             block(1, node("If", "choose", "out", branch)))
    return model(raw("linear", 3, (2, 3), bytes(range(250, 256))), floats("scales", 0.5, 0.25), raw("zeros", 3, (2,), b"\1\2"),
                 tensor("bias", 6, (2,), numbers(5, [-70000, 5], "varint", True)), raw("one", 1, (), struct.pack("<f", 0.125)),
                 raw("zero", 3, (), b"\3"), raw("blocks", 22, (3, 5), bytes(range(0x10, 0x90, 0x10))),
                 raw("halves", 10, (3, 2), struct.pack("<6e", *(1 + i / 8 for i in range(6)))),
                 raw("four", 22, (3, 2), b"\x21\x43\xf5"), raw("floats", 17, (3,), b"\x38\x40\x44"),
                 raw("twice", 3, (2,), b"ab"), raw("open", 2, (2,), b"ab"),
                 raw("words", 2, (2, 2, 8), bytes(range(32))), floats("eight", 1, 2, 3, 4), raw("packed", 2, (2, 1), b"\x98\x70"),
                 raw("bytes", 2, (1, 1, 8), bytes(range(124, 132))), raw("middle", 1, (1,), struct.pack("<f", 128)),
                 raw("table", 2, (2, 8), bytes(range(16))), raw("rows", 1, (2, 1), struct.pack("<2f", 1, 0.5)),
                 graph=nodes + block(11, block(1, "x")))


def outside():
    """A model with external data at two offsets of one file."""
    return model(tensor("b", 10, (4,), external("external.data", offset=32, length=8)),
                 tensor("a", 1, (2, 4), external("external.data", offset=0, length=32)), raw("c", 9, (2,), b"\1\0"))


def main():
    folder = pathlib.Path(sys.argv[1])
    write(folder / "graph.onnx", graph())
    write(folder / "quantized.onnx", quantized())
    write(folder / "external.onnx", outside())
    write(folder / "external.data", struct.pack("<8f4e", *range(8), 0.5, 1, 2, 3))


if __name__ == "__main__":
    main()
