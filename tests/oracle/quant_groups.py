# SPDX-License-Identifier: MIT
"""Groups of values that share a scale, from the options of `dtinfo quant`: translates command-line words for the
oracle's model, tests/oracle/quant_model.py."""
import math
import pathlib
import sys

import quant_model as model

DIVISIONS = {"true": model.TRUE, "reciprocal": model.RECIPROCAL, "exact": model.EXACT}
SPECIALS = {"clamp": model.CLAMP, "torch": model.AS_TORCH, "torch_channel": model.AS_TORCH_CHANNEL}
SYMMETRIES = {"none": model.NONE, "full": model.FULL, "half": model.HALF}
ZEROS = {"onnx": model.ZERO_ONNX, "torch": model.ZERO_TORCH}
NV_SCALES = {"six": model.SIX, "four-six": model.FOUR_SIX, "unrounded": model.UNROUNDED}
MX_SCALES = {"floor": model.FLOOR, "ceil": model.CEIL, "rceil": model.RCEIL, "even": model.EVEN, "rfloor": model.RFLOOR}


class Affine:
    """One scale for a whole group; how: the options."""

    def __init__(self, name, how, values):
        self.name, self.code_name, self.integer = name, name, name in model.INTEGERS
        self.division, self.specials = DIVISIONS[how["division"]], SPECIALS[how["specials"]]
        finite = [x for x in values if math.isfinite(x)] or [0.0]
        least, most = how.get("min", min(finite)), how.get("max", max(finite))
        self.scale, self.zero, self.low, self.high = model.choose(
            name, SYMMETRIES[how["symmetry"]], ZEROS[how["rule"]], least, most)
        if self.integer and how["symmetry"] == "none":
            least, most = min(least, 0.0), max(most, 0.0)
        self.least, self.most = least, most
        if "scale" in how:
            self.scale, self.zero, self.least, self.most = how["scale"], how["zero"], None, None

    def quotient(self, x):
        return model.quotient(self.division, x, self.scale)

    def store(self, x):
        """(code, whether it was clipped)."""
        code, what = model.affine_quantize(self.name, self.low, self.high, self.division, self.specials, self.scale,
                                           self.zero, x)
        return code, bool(what & 1)

    def number(self, code):
        return model.value_of(self.name, code)

    def back(self, code):
        return model.affine_back(self.name, self.scale, self.zero, code)


def group_of(name, how, values):
    if name not in model.BLOCKS:
        return Affine(name, how, values)
    rule = NV_SCALES[how.get("nv_scale", "six")] if name == "nvfp4" else MX_SCALES[how["mx_scale"]]
    return model.Block(name, values, rule, DIVISIONS[how["division"]], how.get("tensor", 1.0),
                       how.get("divisor"))


def pack(width, codes, high):
    """Codes without gaps; those of two or more bytes are little-endian."""
    joined, size = 0, (len(codes) * width + 7) // 8
    if not high or width >= 8:
        return sum(code << i * width for i, code in enumerate(codes)).to_bytes(size, "little")
    for code in codes:
        joined = joined << width | code
    return (joined << size * 8 - len(codes) * width).to_bytes(size, "big")
