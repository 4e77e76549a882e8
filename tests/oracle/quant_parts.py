# SPDX-License-Identifier: MIT
"""The parts that a quantized tensor becomes in a file: names, dtypes, shapes and bytes, reimplemented from the layout
descriptions. A part is (dtype as safetensors spells it, shape, bytes)."""
import math
import struct
from fractions import Fraction

from quant_groups import group_of, model, pack

SIZES = {"F32": 4, "F16": 2, "BF16": 2, "F64": 8, "I8": 1, "U8": 1, "I16": 2, "U16": 2, "I32": 4, "I64": 8,
         "F8_E4M3": 1, "F8_E5M2": 1, "F8_E4M3FNUZ": 1, "F8_E5M2FNUZ": 1}
# dtype: what its codes are called in a file, and how they lie
CODES = {"int8": ("I8", 8), "uint8": ("U8", 8), "int16": ("I16", 16), "uint16": ("U16", 16), "int4": ("I32", "words"),
         "uint4": ("I32", "words"), "int2": ("I32", "words"), "uint2": ("I32", "words"),
         "fp8_e4m3fn": ("F8_E4M3", 8), "fp8_e5m2": ("F8_E5M2", 8), "fp8_e4m3fnuz": ("F8_E4M3FNUZ", 8),
         "mxfp8_e4m3": ("F8_E4M3", 8), "mxfp8_e5m2": ("F8_E5M2", 8), "mxint8": ("I8", 8), "q8_0": ("I8", 8),
         "mxfp6_e2m3": ("U8", "bits"), "mxfp6_e3m2": ("U8", "bits"), "mxfp4": ("U8", "bits"), "nvfp4": ("U8", "bits"),
         "nf4": ("U8", "bits"), "bnb_fp4": ("U8", "bits"), "q4_0": ("U8", "bits")}
SCALES = {"fp8_e8m0": "U8", "fp8_e4m3fn": "F8_E4M3", "fp32": "F32", "fp16": "F16"}


def product(shape):
    return math.prod(shape)


class Expected:
    """The expected parts of a tensor."""

    def __init__(self, name, dtype, shape, numbers, ask):
        self.name, self.dtype, self.shape, self.ask = name, dtype, shape, ask
        self.per = "group" if dtype in model.BLOCKS or "block" in ask else ask.get("per", "tensor")
        self.block = dtype in model.BLOCKS
        self.axis = ask.get("axis", 0 if ask.get("per") == "channel" else len(shape) - 1) % len(shape)
        self.how = dict({"symmetry": "none" if dtype.startswith("uint") else "full", "rule": "onnx",
                         "division": "true", "specials": "clamp", "mx_scale": "floor"}, **ask.get("how", {}))
        self.width = model.FORMATS[model.BLOCKS[dtype][1] if self.block else dtype].width
        self.signed = dtype in ("int2", "int4")
        outer, length, inner = product(shape[:self.axis]), shape[self.axis], product(shape[self.axis + 1:])
        per = self.per
        group = model.BLOCKS[dtype][3] if self.block else ask.get("block")
        places = -(-length // group) * group if per == "group" else length
        self.padded = places != length
        self.code_shape = shape[:self.axis] + [places] + shape[self.axis + 1:]
        self.codes = [0] * product(self.code_shape)
        self.scale_shape = [1]
        self.clipped = self.special = self.clipped_blocks = 0
        self.errors, self.signal = [], Fraction(0)
        if dtype == "nvfp4":
            amax = max((abs(x) for x in numbers if math.isfinite(x)), default=0.0)
            self.tensor = model.divide(amax, 1536.0 if self.how.get("nv_scale") == "four-six" else 2688.0) or 1.0
            self.stored_tensor = self.tensor
            if ask.get("layout") != "modelopt":
                self.stored_tensor = model.divide(1.0, self.tensor)
                self.tensor = model.divide(1.0, self.stored_tensor)
                self.how["divisor"] = self.stored_tensor
            self.how["tensor"] = self.tensor
        if per == "tensor":
            runs = [[(0, range(len(numbers)))]]
        elif per == "channel":
            self.scale_shape = [n if i == self.axis else 1 for i, n in enumerate(shape)]
            runs = [[(o * length * inner + a * inner, range(inner)) for o in range(outer)] for a in range(length)]
        else:
            self.scale_shape = [places // group if i == self.axis else n for i, n in enumerate(shape)]
            runs = [[(o, g, i)] for o in range(outer) for g in range(places // group) for i in range(inner)]
        self.scales = []
        for one in runs:
            if per == "group":
                o, g, i = one[0]
                at = [(o * length + a) * inner + i if a < length else None
                      for a in range(g * group, (g + 1) * group)]
                to = [(o * places + a) * inner + i for a in range(g * group, (g + 1) * group)]
            else:
                at = to = [first + k for first, rest in one for k in rest]
            self.quantize(numbers, at, to)

    def quantize(self, numbers, at, to):
        values = [0.0 if i is None else numbers[i] for i in at]
        made = group_of(self.dtype, self.how, values)
        self.scales.append(made)
        clipped = 0
        for i, place, x in zip(at, to, values):
            code, cut = made.store(x)
            self.codes[place] = code
            if i is None:
                continue
            clipped += cut
            back = made.back(code)
            if not self.block and not math.isfinite(x):
                self.special += 1
            if math.isfinite(x) and math.isfinite(back):
                self.errors.append(abs(Fraction(back) - Fraction(x)))
                self.signal += Fraction(x) ** 2
        self.clipped += clipped
        if self.block:
            self.clipped_blocks += clipped > 0
            self.special += made.special

    def words(self, codes, columns):
        """Rows of codes in 32-bit words."""
        raw, in_word = b"", 32 // self.width
        for first in range(0, len(codes), columns):
            row = [code ^ (1 << self.width - 1 if self.signed else 0) for code in codes[first:first + columns]]
            row += [0] * (-len(row) % in_word)
            raw += pack(self.width, row, False)
        return raw

    def zero_points(self):
        zeros, code = [scale.zero for scale in self.scales], CODES[self.dtype][0]
        shape = self.scale_shape
        if CODES[self.dtype][1] != "words":
            size = SIZES[code]
            return code, shape, b"".join((z % (1 << 8 * size)).to_bytes(size, "little") for z in zeros)
        if self.per == "tensor" or len(shape) < 2:
            less = 0 if self.signed else 1 << self.width - 1
            return "I8", shape, b"".join(((z - less) % 256).to_bytes(1, "little") for z in zeros)
        rows, columns = shape[-2:]
        mask, in_word, raw = (1 << self.width) - 1, 32 // self.width, b""
        for first in range(0, len(zeros), rows * columns):
            for row in range(0, rows, in_word):
                for column in range(columns):
                    some = [zeros[first + r * columns + column] & mask for r in range(row, min(row + in_word, rows))]
                    raw += self.words(some, len(some))
        return "I32", shape[:-2] + [-(-rows // in_word), columns], raw

    def parts(self):
        name, (code, how), shape = self.name, CODES[self.dtype], list(self.code_shape)
        bare = self.ask.get("layout") == "modelopt"
        parts = {}
        if how == "words":
            shape[-1] = -(-shape[-1] * self.width // 32)
            raw = self.words(self.codes, self.code_shape[-1])
        elif how == "bits":
            shape[-1] = shape[-1] * self.width // 8
            raw = pack(self.width, self.codes, self.ask.get("high", False))
        else:
            raw = b"".join(c.to_bytes(how // 8, "little") for c in self.codes)
        parts[name + ("_packed" if how in ("words", "bits") and not bare else "")] = code, shape, raw
        scale_shape = self.scale_shape
        if bare and self.per == "tensor":
            scale_shape = []
        if bare and self.per == "channel":
            scale_shape = [product(scale_shape)]
        if self.block:
            kind = SCALES[model.BLOCKS[self.dtype][2]]
            raw = b"".join(s.scale_code.to_bytes(SIZES[kind], "little") for s in self.scales)
        else:
            kind, raw = "F32", b"".join(struct.pack("<f", s.scale) for s in self.scales)
        parts[name + "_scale"] = kind, scale_shape, raw
        if self.dtype in model.INTEGERS and (self.dtype.startswith("u") or self.how["symmetry"] == "none"):
            parts[name + "_zero_point"] = self.zero_points()
        if self.dtype == "nvfp4":
            parts[name + ("_scale_2" if bare else "_global_scale")] = (
                "F32", [] if bare else [1], struct.pack("<f", self.stored_tensor))
        if self.padded or how == "words":
            parts[name + "_shape"] = "I64", [len(self.shape)], struct.pack("<%dq" % len(self.shape), *self.shape)
        return parts
