# SPDX-License-Identifier: MIT
"""Values of small formats, and hand-made files with codes and scales, for test_command_dequant.py."""
import math
import pathlib
import struct
import sys

from tensor_files import read_file, write_file  # noqa: F401

NF4 = [-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1]
BNB_FP4 = [0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4, 0, -1 / 192, -2 / 3, -1, -1 / 3, -1 / 2, -1 / 6, -1 / 4]


# Values. The product of two fp32 values is exact in fp64, and packing rounds it once.

def f32(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def decode(code, exponent, mantissa, bias, signed=True, top=None, nan=()):
    """Decodes a small float. nan: NaN codes without their sign; top: meaning of the highest exponent, 'ieee' or
    None."""
    sign = -1.0 if signed and code >> (exponent + mantissa) else 1.0
    rest = code & ((1 << (exponent + mantissa)) - 1)
    e, m = rest >> mantissa, rest & ((1 << mantissa) - 1)
    if rest in nan or (top == "ieee" and e == (1 << exponent) - 1 and m):
        return math.nan
    if top == "ieee" and e == (1 << exponent) - 1:
        return sign * math.inf
    if e == 0:
        return sign * m * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + m / (1 << mantissa)) * 2.0 ** (e - bias)


E4M3 = [decode(c, 4, 3, 7, nan=(0x7f,)) for c in range(256)]
E5M2 = [decode(c, 5, 2, 15, top="ieee") for c in range(256)]
E2M1 = [decode(c, 2, 1, 1) for c in range(16)]
E2M3 = [decode(c, 2, 3, 1) for c in range(64)]
E3M2 = [decode(c, 3, 2, 3) for c in range(64)]
E8M0 = [math.nan if c == 255 else 2.0 ** (c - 127) for c in range(256)]
INT8 = [float(c - 256 if c > 127 else c) for c in range(256)]


def half(code):
    return struct.unpack("<e", struct.pack("<H", code))[0]


# element values, bits, block length, scales: their dtype in files, bytes
BLOCKS = {"mxfp8_e4m3": (E4M3, 8, 32, "U8", "F8_E4M3"), "mxfp8_e5m2": (E5M2, 8, 32, "U8", "F8_E5M2"),
          "mxint8": ([x / 64 for x in INT8], 8, 32, "U8", "I8"), "mxfp6_e2m3": (E2M3, 6, 32, "U8", "U8"),
          "mxfp6_e3m2": (E3M2, 6, 32, "U8", "U8"), "mxfp4": (E2M1, 4, 32, "U8", "U8"),
          "nvfp4": (E2M1, 4, 16, "F8_E4M3", "U8"), "nf4": ([f32(x) for x in NF4], 4, 64, "F32", "U8"),
          "bnb_fp4": ([f32(x) for x in BNB_FP4], 4, 64, "F32", "U8"),
          "q8_0": (INT8, 8, 32, "F16", "I8"), "q4_0": ([float(c - 8) for c in range(16)], 4, 32, "F16", "U8")}


def scale_number(kind, raw, tensor_scale=1.0):
    if kind == "U8":
        return E8M0[raw]
    if kind == "F8_E4M3":
        return f32(E4M3[raw] * tensor_scale)
    if kind == "F16":
        return half(raw)
    return struct.unpack("<f", struct.pack("<I", raw))[0]


def bits_of(x):
    return 0x7fc00000 if x != x else struct.unpack("<I", struct.pack("<f", x))[0]


def floats(raw):
    return [0x7fc00000 if (b & 0x7fffffff) > 0x7f800000 else b for b in struct.unpack("<%dI" % (len(raw) // 4), raw)]


def scale_bytes(kind, scales):
    return b"".join(struct.pack({"U8": "<B", "F8_E4M3": "<B", "F16": "<H", "F32": "<I"}[kind], s) for s in scales)


def pack(codes, bits, high=False):
    """Packs codes into bytes without gaps, element 0 in the lowest (or highest) bits."""
    if high:
        text = "".join(format(c, "0%db" % bits) for c in codes)
        return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))
    whole = sum(c << (i * bits) for i, c in enumerate(codes))
    return whole.to_bytes((len(codes) * bits + 7) // 8, "little")


def words(rows, bits):
    """Packs each row into 32-bit words."""
    return b"".join(pack(row, bits).ljust(-(-len(row) * bits // 32) * 4, b"\0") for row in rows)


# Files.

def write_gguf(path, tensors, big=False):
    order = ">" if big else "<"
    head, data = b"", b""
    for name, (kind, shape, raw) in tensors.items():
        data += b"\0" * (-len(data) % 32)
        head += struct.pack(order + "Q", len(name)) + name.encode() + struct.pack(order + "I", len(shape))
        head += b"".join(struct.pack(order + "q", n) for n in reversed(shape))
        head += struct.pack(order + "IQ", kind, len(data))
        data += raw
    head = b"GGUF" + struct.pack(order + "IQQ", 3, len(tensors), 0) + head
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % 32) + data)


def npy(path, descr, shape, raw):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, repr(tuple(shape)))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + raw)


def ggml_scale(name, kind, raw, tensor_scale):
    """FP4 scales as ggml reads them: twice the result of ggml_e8m0_to_fp32_half() and ggml_ue4m3_to_fp32() in
    ggml-impl.h."""
    if name == "mxfp4":
        return 2.0 ** (raw - 127)
    if name == "nvfp4":
        return f32({0x7f: 0.0, 0xff: 480.0}.get(raw, E4M3[raw & 0x7f]) * tensor_scale)
    return scale_number(kind, raw)


def gguf_blocks(random, name, count, big, scale=None):
    """Random blocks: their bytes in ggml's layout and their values. scale: the tensor scale."""
    numbers, bits, length, kind, _ = BLOCKS[name]
    numbers = [number + 0.0 for number in numbers]      # no negative zero: ggml's tables are integers
    raw, want = b"", []
    pieces = 4 if name == "nvfp4" else 1
    for i in range(count):
        scales = [(i * pieces + k) % 256 if kind != "F16" else random.getrandbits(16) for k in range(pieces)]
        raw += b"".join(struct.pack(">H" if big else "<H", s) if kind == "F16" else bytes([s]) for s in scales)
        for s in scales:
            codes = [random.randrange(1 << bits) for _ in range(length)]
            raw += bytes(codes) if bits == 8 else bytes(codes[j] | codes[j + length // 2] << 4
                                                        for j in range(length // 2))
            factor = ggml_scale(name, kind, s, scale if scale is not None else 1.0)
            want += [f32(numbers[c] * factor) for c in codes]
    return raw, want


def scale_shapes(shape):
    """Shapes of scales, and the scale index of each element."""
    yield [], lambda at: 0
    yield [1], lambda at: 0
    for axis in range(len(shape)):
        yield [n if i == axis else 1 for i, n in enumerate(shape)], lambda at, axis=axis: at[axis]
        for group in (n for n in (2, 4, 16, 32, 20) if shape[axis] % n == 0 and shape[axis] > n):
            some = [n // group if i == axis else n for i, n in enumerate(shape)]

            def find(at, axis=axis, group=group, some=some):
                index = 0
                for i, n in enumerate(some):
                    index = index * n + (at[i] // group if i == axis else at[i])
                return index
            yield some, find
    yield [shape[0]], lambda at: at[0]
