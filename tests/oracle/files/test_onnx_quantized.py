#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantized weights of ONNX models: the numbers that dtinfo reads have the bits that onnx.reference and onnxruntime
compute.

usage: test_onnx_quantized.py DTINFO
"""
import itertools
import os
import tempfile

from onnx_models import (CODES, RANDOM, SCALES, TALLY, array, by_ort, kind, linear, ml_dtypes, model, np, numpy_type,
                         onnx, ort, random_codes, random_scales, reference, same, session, size_of, tensor)

OUR_CODES = {"FLOAT8E4M3FN": "fp8_e4m3fn", "FLOAT8E4M3FNUZ": "fp8_e4m3fnuz", "FLOAT8E5M2": "fp8_e5m2",
             "FLOAT8E5M2FNUZ": "fp8_e5m2fnuz", "FLOAT4E2M1": "fp4_e2m1", "FLOAT6E2M3": "fp6_e2m3",
             "FLOAT6E3M2": "fp6_e3m2"}
COUNTS = {"reference": 0, "onnxruntime": 0}


def judge_linear(subject, codes_type, shape, scales, zeros=False, opset=None, output=None, **attributes):
    """One DequantizeLinear node: by onnx.reference, and by onnxruntime if it supports the types."""
    scale_type = onnx.helper.tensor_dtype_to_string(onnx.helper.np_dtype_to_tensor_dtype(scales.dtype)).split(".")[1]
    initializers = [tensor("x", codes_type, shape, random_codes(codes_type, size_of(shape))), array("s", scales)]
    if zeros:
        plain = codes_type.startswith("FLOAT") or codes_type == "INT32"
        count = size_of(scales.shape)
        initializers.append(tensor("z", codes_type, scales.shape,
                                   [0] * count if plain else random_codes(codes_type, count)))
    if output:
        attributes["output_dtype"] = kind(output)
    node = linear(zero="z" if zeros else None, **attributes)
    six = codes_type.startswith("FLOAT6")
    proto = model([node], initializers, kind_of_output=kind(output or scale_type), opset=opset or (28 if six else 25))
    expected = reference(proto)
    COUNTS["reference"] += 1
    judges = []
    if ort and not six:
        runtime = by_ort(proto)
        if runtime is not None:
            COUNTS["onnxruntime"] += 1
            judges = [(runtime, "onnxruntime")]
    same(subject, proto, expected, form={"format": OUR_CODES.get(codes_type, codes_type.lower()), "layout": "onnx"},
         judges=judges)


def per_tensor_and_axis():
    shapes = [(), (7,), (3, 5), (2, 3, 5), (4, 1, 3, 2), (0, 3)]
    for codes_type, scale_type in itertools.product(CODES, SCALES):
        for shape in shapes:
            for zeros in (False, True):
                if zeros and codes_type.startswith("FLOAT6"):
                    continue
                judge_linear(f"{codes_type} {scale_type} {shape} per tensor, zeros {zeros}", codes_type, shape,
                             random_scales(scale_type, ()), zeros)
        for shape in shapes[1:5]:
            for axis in {0, len(shape) - 1, -1, -len(shape), len(shape) // 2}:
                zeros = not codes_type.startswith("FLOAT6") and RANDOM.random() < 0.6
                judge_linear(f"{codes_type} {scale_type} {shape} axis {axis}, zeros {zeros}", codes_type, shape,
                             random_scales(scale_type, (shape[axis],)), zeros, axis=axis)
    judge_linear("the axis that is not said", "INT8", (4, 6), random_scales("FLOAT", (6,)), True)
    judge_linear("one scale in a list", "INT4", (4, 6), random_scales("FLOAT", (1,)), True, axis=0)
    judge_linear("any axis of one scale", "INT8", (4, 6), random_scales("FLOAT", ()), True, axis=9)
    judge_linear("opset 19", "UINT8", (4, 6), random_scales("FLOAT", (6,)), True, opset=19)
    TALLY.part("per tensor and per axis")


def blocked():
    for codes_type, scale_type in itertools.product(CODES, SCALES):
        for shape, axis, block in (((3, 64), 1, 16), ((3, 50), 1, 16), ((64, 3), 0, 32), ((33, 5), 0, 16),
                                   ((2, 6, 5), 1, 4), ((2, 6, 5), -1, 2), ((9,), 0, 4), ((5, 7), 1, 1), ((5, 7), 1, 99)):
            scales = list(shape)
            scales[axis] = -(-shape[axis] // block)
            zeros = not codes_type.startswith("FLOAT6") and RANDOM.random() < 0.6
            judge_linear(f"{codes_type} {scale_type} {shape} axis {axis} blocks of {block}, zeros {zeros}", codes_type,
                         shape, random_scales(scale_type, scales), zeros, axis=axis, block_size=block)
    for codes_type, output in itertools.product(("INT4", "FLOAT8E4M3FN", "FLOAT4E2M1", "UINT8"), SCALES):
        for scale_type in SCALES:
            judge_linear(f"{codes_type} {scale_type} to {output}", codes_type, (3, 40),
                         random_scales(scale_type, (3, 2)), False, axis=1, block_size=32, output=output)
        powers = np.array([RANDOM.randrange(100, 140) for _ in range(6)], np.uint8).view(ml_dtypes.float8_e8m0fnu)
        judge_linear(f"{codes_type} e8m0 to {output}", codes_type, (3, 64), powers.reshape(3, 2), False, axis=1,
                     block_size=32, output=output)
    judge_linear("longer than a chunk", "INT4", (3, 40001), random_scales("FLOAT16", (3, 1251)), True, axis=1,
                 block_size=32)
    judge_linear("many rows", "UINT2", (20001, 3), random_scales("BFLOAT16", (1251, 3)), True, axis=0, block_size=16)
    judge_linear("a long axis", "INT8", (30000, 2), random_scales("FLOAT", (30000,)), True, axis=0)
    TALLY.part("blocked")


def packed(codes, bits):
    """Rows of codes in bytes, the first in the lowest bits."""
    per_byte = 8 // bits
    codes = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % per_byte)])
    codes = codes.reshape(*codes.shape[:-1], -1, per_byte).astype(np.uint8)
    return np.bitwise_or.reduce(codes << (bits * np.arange(per_byte, dtype=np.uint8)), axis=-1).astype(np.uint8)


def matmul():
    """MatMulNBits of an identity matrix gives its weight, transposed."""
    if not ort:
        TALLY.skip("onnxruntime")
        return
    for bits, (k, n, block), zeros, scale_type in itertools.product(
            (2, 4, 8), ((64, 8, 16), (40, 5, 16), (96, 3, 32), (33, 2, 32), (300, 4, 128)), ("none", "packed", "floats"),
            ("FLOAT", "FLOAT16")):
        if bits == 8 and zeros == "floats":   # onnxruntime lacks this kernel
            continue
        blocks = -(-k // block)
        rows = np.array([RANDOM.randrange(256) for _ in range(n * blocks * block * bits // 8)], np.uint8)
        flat = RANDOM.random() < 0.5
        scales = random_scales(scale_type, (n * blocks,) if flat else (n, blocks))
        initializers = [array("B", rows.reshape(n, blocks, -1)), array("S", scales)]
        if zeros == "packed":
            points = np.array([RANDOM.randrange(1 << bits) for _ in range(n * blocks)]).reshape(n, blocks)
            points = packed(points, bits)
            initializers.append(array("Z", points.reshape(-1) if flat else points))
        elif zeros == "floats":
            points = np.array([RANDOM.uniform(0, 15) for _ in range(n * blocks)]).astype(numpy_type(scale_type))
            initializers.append(array("Z", points if flat else points.reshape(n, blocks)))
        inputs = ["A", "B", "S"] + (["Z"] if zeros != "none" else [])
        wide = kind(scale_type)
        proto = model([onnx.helper.make_node("MatMulNBits", inputs, ["y"], domain="com.microsoft", K=k, N=n, bits=bits,
                                             block_size=block)], initializers,
                      [onnx.helper.make_tensor_value_info("A", wide, None)], kind_of_output=wide, opset=21)
        expected = session(proto, {"A": np.eye(k, dtype=numpy_type(scale_type))}).T
        COUNTS["onnxruntime"] += 1
        same(f"MatMulNBits {bits} bits {k} x {n} by {block}, zeros {zeros}, {scale_type}", proto, expected, "B",
             form={"format": f"uint{bits}", "layout": "onnx"}, product=True)
    TALLY.part("MatMulNBits")


def gather():
    """GatherBlockQuantized of all rows gives its table."""
    if not ort:
        return
    for (codes_type, bits), (rows, columns, block), zeros, scale_type in itertools.product(
            (("INT4", 4), ("UINT4", 4), ("UINT8", 4), ("UINT8", 8)), ((6, 64, 16), (5, 96, 32), (7, 32, 32), (3, 80, 16)),
            (False, True), ("FLOAT", "FLOAT16")):
        blocks = -(-columns // block)
        if codes_type == "UINT8":
            data = array("D", np.array([RANDOM.randrange(256) for _ in range(rows * columns * bits // 8)],
                                       np.uint8).reshape(rows, -1))
            points = packed(np.array([RANDOM.randrange(1 << bits) for _ in range(rows * blocks)]).reshape(rows, blocks),
                            bits)
            zero = array("Z", points)
        else:
            data = tensor("D", codes_type, (rows, columns), random_codes(codes_type, rows * columns))
            zero = tensor("Z", codes_type, (rows, blocks), random_codes(codes_type, rows * blocks))
        initializers = [data, array("I", np.arange(rows)), array("S", random_scales(scale_type, (rows, blocks)))]
        proto = model([onnx.helper.make_node("GatherBlockQuantized", ["D", "I", "S"] + (["Z"] if zeros else []), ["y"],
                                             domain="com.microsoft", gather_axis=0, quantize_axis=1, block_size=block,
                                             bits=bits)], initializers + ([zero] if zeros else []),
                      kind_of_output=kind(scale_type), opset=21)
        expected = session(proto)
        COUNTS["onnxruntime"] += 1
        same(f"GatherBlockQuantized {codes_type} {bits} bits {rows} x {columns} by {block}, zeros {zeros}, {scale_type}",
             proto, expected, "D", form={"layout": "onnx", "axis": 1})
    TALLY.part("GatherBlockQuantized")


with tempfile.TemporaryDirectory(prefix="dtinfo-onnx-") as scratch:
    os.chdir(scratch)
    for part in (matmul, gather, blocked, per_tensor_and_axis):
        part()
    os.chdir("/")
print(COUNTS)
TALLY.finish()
