#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""GGUF output against gguf-py: key-values equal the input's byte for byte, tensors are cast or copied, and output with
nothing to change reproduces itself.

usage: test_gguf_write.py DTINFO
"""
import json
import os
import struct
import sys

import harness
from harness import bytes_of

gguf, numpy = harness.have("gguf"), harness.have("numpy")
if gguf is None or numpy is None:
    print("skipped: needs gguf and numpy")
    sys.exit(77)

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run
RANDOM = numpy.random.default_rng(11)
TYPES = gguf.GGMLQuantizationType


def text(data):
    return struct.pack("<Q", len(data)) + data


def pairs(long):
    """All value types, arrays, and arrays of arrays: (key, the bytes that follow it)."""
    numbers = {0: b"\xfe", 1: b"\x81", 2: b"\x01\xff", 3: b"\x01\xff", 4: b"\1\2\3\xff", 5: b"\1\2\3\xff",
               6: b"\x01\x00\xc0\x7f", 7: b"\1", 10: bytes(range(248, 256)), 11: bytes(range(248, 256)),
               12: b"\1\0\0\0\0\0\xf4\x7f"}
    yield b"general.architecture", struct.pack("<I", 8) + text(b"llama")
    yield b"general.file_type", struct.pack("<II", 4, 15)
    yield b"general.quantization_version", struct.pack("<II", 4, 2)
    for kind, data in numbers.items():
        yield b"number.%d" % kind, struct.pack("<I", kind) + data
        yield b"array.%d" % kind, struct.pack("<IIQ", 9, kind, 33) + data * 33
        yield b"empty.%d" % kind, struct.pack("<IIQ", 9, kind, 0)
    yield b"string.any", struct.pack("<I", 8) + text(bytes(range(256)))
    yield b"string.empty", struct.pack("<I", 8) + text(b"")
    yield b"string.long", struct.pack("<I", 8) + text(b"x" * (3000000 if long else 300))
    yield b"array.string", struct.pack("<IIQ", 9, 8, 2000) + b"".join(text(b"token\xff%d" % i) for i in range(2000))
    yield b"key \xc3\xa9 of any bytes \1", struct.pack("<I", 7) + b"\0"


def write_gguf(path, tensors, more=(), version=3, pad=32):
    """tensors: (name, type, shape, bytes), slowest dimension first. Returns the bytes of the key-values."""
    values = [*pairs(long=version == 2), *more]
    body = b"".join(text(key) + value for key, value in values)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values)) + body
    at = 0
    for name, kind, shape, data in tensors:
        head += text(name.encode()) + struct.pack("<I", len(shape)) + struct.pack("<%dQ" % len(shape), *shape[::-1])
        head += struct.pack("<IQ", kind, at)
        at += -(-len(data) // pad) * pad
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % pad))
        for *_, data in tensors:
            file.write(data + bytes(-len(data) % pad))
    return body


def tensors_of_all_types():
    made = []
    numbers = {TYPES.F32: "<f4", TYPES.F16: "<f2", TYPES.F64: "<f8", TYPES.I8: "i1", TYPES.I16: "<i2",
               TYPES.I32: "<i4", TYPES.I64: "<i8", TYPES.BF16: "<u2"}
    for kind, descr in numbers.items():
        for shape in ((256,), (3, 5), (2, 3, 4, 5), (1,)):
            if descr[-2] == "f":
                array = RANDOM.standard_normal(shape).astype(descr)
            else:
                array = RANDOM.integers(0, 100, shape).astype(descr) << (7 if kind == TYPES.BF16 else 0)
            made.append(("%s.%s" % (kind.name, "x".join(map(str, shape))), kind, shape, array.tobytes()))
    for kind, (length, size) in gguf.GGML_QUANT_SIZES.items():
        if length > 1 and kind != TYPES.Q8_1:  # gguf-py and ggml disagree on its size
            made.append(("blocks." + kind.name, kind, (3, 2 * length), RANDOM.bytes(6 * size)))
            made.append(("small." + kind.name, kind, (length,), RANDOM.bytes(size)))
    return made


def fields_of(path):
    reader = gguf.GGUFReader(path)
    return reader, {name: (field.types, [bytes(part) for part in field.parts])
                    for name, field in reader.fields.items() if not name.startswith("GGUF.")}


def judge(path, body, want, version=3, pad=32, file_type=15):
    """want: name -> (type, shape, bytes), in order. file_type: what the key-values, which have 15, say then."""
    told = text(b"general.file_type") + struct.pack("<I", 4)
    body = body.replace(told + struct.pack("<I", 15), told + struct.pack("<I", file_type))
    data = bytes_of(path)
    require(data[:24 + len(body)] == b"GGUF" + struct.pack("<IQ", version, len(want)) + data[16:24] + body,
            path, "has other key-values")
    reader = gguf.GGUFReader(path)
    require([tensor.name for tensor in reader.tensors] == list(want), path, "names")
    end = 0
    for tensor in reader.tensors:
        kind, shape, raw = want[tensor.name]
        require(tensor.tensor_type == kind, tensor.name, tensor.tensor_type)
        require(tuple(reversed([int(n) for n in tensor.shape])) == tuple(shape), tensor.name, tensor.shape, shape)
        at = int(tensor.data_offset)
        start = int(reader.data_offset)
        require(data[at:at + len(raw)] == raw and tensor.n_bytes == len(raw), tensor.name, "has other bytes")
        require((at - start) % pad == 0, tensor.name)
        end = at + len(raw)
    end += -(end - start) % pad
    require(len(data) == end, path, len(data), end)


def cast(kind, shape, raw, to):
    """numpy's cast of floats; BF16 by hand."""
    source = {TYPES.F32: "<f4", TYPES.F16: "<f2", TYPES.F64: "<f8"}.get(kind)
    array = (numpy.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4") if kind == TYPES.BF16 else \
        numpy.frombuffer(raw, source)
    if to != TYPES.BF16:
        return array.astype({TYPES.F32: "<f4", TYPES.F16: "<f2", TYPES.F64: "<f8"}[to]).tobytes()
    bits = array.astype("<f4").view("<u4").astype("u8")  # F64 values that round twice are left out below
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2").tobytes()


def judge_types():
    tensors = tensors_of_all_types()
    for pad, version in ((32, 3), (64, 2), (8, 3), (4096, 3)):
        more = [(b"general.alignment", struct.pack("<II", 4, pad))] if pad != 32 else []
        body = write_gguf("in.gguf", tensors, more, version, pad)
        floats = (TYPES.F32, TYPES.F16, TYPES.F64, TYPES.BF16)
        for dtype, to in (("bf16", TYPES.BF16), ("fp16", TYPES.F16), ("fp32", TYPES.F32), ("fp64", TYPES.F64)):
            chosen = [t for t in tensors if not (t[1] == TYPES.F64 and to == TYPES.BF16)]
            body = write_gguf("in.gguf", chosen, more, version, pad)
            _, said = run("cast", "in.gguf", dtype, "-o", "out.gguf", "--force")
            blocks = sum(1 for t in chosen if t[0].startswith(("blocks", "small")))
            require("%d tensors of blocks stay as they are" % blocks in said, said)
            judge("out.gguf", body, {name: (to, shape, cast(kind, shape, raw, to)) if kind in floats
                                     else (kind, shape, raw) for name, kind, shape, raw in chosen}, pad=pad)
            require(fields_of("in.gguf")[1] == fields_of("out.gguf")[1], "other fields")
            run("cast", "out.gguf", dtype, "-o", "again.gguf", "--force", "--threads", 2, "-q")
            require(bytes_of("again.gguf") == bytes_of("out.gguf"), "our own output becomes another")
            run("inspect", "out.gguf", "--stats")
            run("check", "out.gguf")
            run("compare", "out.gguf", "again.gguf")
    run("cast", "in.gguf", "int16", "--ints", "--cast-only", "I8.*,I64.*", "-o", "ints.gguf")
    judge("ints.gguf", body, {
        name: (TYPES.I16, shape, numpy.frombuffer(raw, "i1" if kind == TYPES.I8 else "<i8").astype("<i2").tobytes())
        if kind in (TYPES.I8, TYPES.I64) else (kind, shape, raw) for name, kind, shape, raw in chosen}, pad=pad)
    document = json.loads(run("cast", "in.gguf", "bf16", "--select", "small.Q4_K,F32.1", "-o", "two.gguf", "--json")[0])
    require([(t["name"], t["fate"], t["from"], t["to"]) for t in document["tensors"]] ==
            [("F32.1", "cast", "fp32", "bf16"), ("small.Q4_K", "blocks", "q4_k", "q4_k")], document["tensors"])
    require(document["output"]["kind"] == "gguf", document["output"])


def judge_dequantized():
    numbers = {"w.weight": RANDOM.standard_normal((16, 64)).astype("<f4"), "norm": numpy.ones(7, "<f4")}
    for kind in (TYPES.Q8_0, TYPES.Q4_0):
        codes = gguf.quants.quantize(numbers["w.weight"], kind)
        tensors = [("w.weight", kind, (16, 64), codes.tobytes()), ("norm", TYPES.F32, (7,), numbers["norm"].tobytes())]
        body = write_gguf("q.gguf", tensors)
        run("quant", "--dequant", "q.gguf", "fp32", "-o", "d.gguf", "--force")
        judge("d.gguf", body, {"w.weight": (TYPES.F32, (16, 64), gguf.quants.dequantize(codes, kind).tobytes()),
                               "norm": (TYPES.F32, (7,), numbers["norm"].tobytes())}, file_type=0)


def judge_refusals():
    numpy.savez("a.npz", a=numpy.zeros(3, "<f4"))
    write_gguf("in.gguf", [("a", TYPES.F32, (1, 3), bytes(12))])
    for words, problem, status in (
            (["cast", "a.npz", "bf16"], "has the key-values of a model", 2),
            (["cast", "in.gguf", "fp8_e4m3fn"], "gguf files have no name for fp8_e4m3fn", 2),
            (["cast", "in.gguf", "uint8"], "gguf files have no name for uint8", 2),
            (["quant", "in.gguf", "int8"], "is no type that is encoded in gguf files", 2),
            (["calc", "[1,2]", "fp32"], "has no known extension", 2)):
        _, said = run(*words, "-o", "bad.gguf", status=status)
        require(problem in said and not os.path.exists("bad.gguf"), words, said)
    data = bytes_of("in.gguf")
    big = gguf.GGUFWriter("big.gguf", "llama", endianess=gguf.GGUFEndian.BIG)
    big.add_tensor("a", numpy.ones((2, 32), "<f4"))
    big.write_header_to_file()
    big.write_kv_data_to_file()
    big.write_tensors_to_file()
    big.close()
    _, said = run("cast", "big.gguf", "fp16", "-o", "bad.gguf", status=2)
    require("is big-endian" in said, said)
    run("cast", "big.gguf", "fp16", "-o", "big.safetensors", "-q")
    # a value type that only a newer ggml has, between known tensors
    write_gguf("odd.gguf", [("a", TYPES.F32, (1, 3), bytes(12)), ("odd", 77, (32,), bytes(32)),
                            ("b", TYPES.F32, (1, 3), bytes(12))])
    _, said = run("cast", "odd.gguf", "fp16", "-o", "bad.gguf", status=3)
    require("type that ggml does not define" in said and not os.path.exists("bad.gguf"), said)
    write_gguf("none.gguf", [])
    run("cast", "none.gguf", "fp16", "-o", "none2.gguf")
    run("cast", "in.gguf", "fp32", "-o", "in.gguf", "--force", "-q")
    require(bytes_of("in.gguf") == data, "a file over itself")


def main():
    harness.in_new_folder(judge_types, judge_dequantized, judge_refusals)
    print("%d checks" % DTINFO.checks)


if __name__ == "__main__":
    main()
