# SPDX-License-Identifier: MIT
"""Checks that the spellings of a number agree: value, text, exact, hexfloat, shortest and bits.

The references are Python's float and Fraction and the formats of tests/oracle.
"""
import math
import pathlib
import re
import struct
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import formats  # noqa: E402

FORMATS = formats.build()
FP64_MAX_INTEGER = 1 << 64


def fp64_bits(number):
    return struct.pack(">d", number)


def hexfloat_fraction(text):
    """Returns (negative, Fraction) of a C99 hexfloat, without conversion to a float."""
    match = re.fullmatch(r"(-?)0x([01])(?:\.([0-9a-f]+))?p([+-][0-9]+)", text)
    sign, whole, digits, exponent = match.groups()
    digits = digits or ""
    significand = Fraction(int(whole + digits, 16), 16 ** len(digits))
    return sign == "-", significand * Fraction(2) ** int(exponent)


def reference(dtype):
    """Returns the oracle's format, or None for an unknown name."""
    known = FORMATS.get(dtype)
    if known is None:
        match = re.fullmatch(r"e(\d+)m(\d+)", dtype)
        if match:
            exponent, mantissa = int(match.group(1)), int(match.group(2))
            known = formats.ieee(dtype, exponent, mantissa)
    return known


def fits_fp64(magnitude):
    try:
        return Fraction(float(magnitude)) == magnitude
    except OverflowError:
        return False


def expected_text(value, negative):
    """Returns the required `text` of an exact number: Python's repr without a trailing .0, or an integer in full;
    None if neither applies."""
    sign = "-" if negative else ""
    if value == 0:
        return sign + "0"
    if value.denominator == 1 and value < FP64_MAX_INTEGER and value < 10 ** 16:
        return sign + str(value.numerator)
    if not fits_fp64(value):
        return sign + str(value.numerator) if value.denominator == 1 and value < FP64_MAX_INTEGER \
            else None
    text = repr(float(value))
    return sign + (text[:-2] if text.endswith(".0") else text)


def is_number(node):
    return isinstance(node, dict) and {"value", "text", "exact", "hexfloat", "bits"} <= set(node)


def check_finite(node, where, dtype):
    negative, magnitude = hexfloat_fraction(node["hexfloat"])
    exact = node["exact"]
    if exact is not None:
        if exact.startswith("-") != negative or Fraction(exact.lstrip("-")) != magnitude:
            yield "%s: exact %s is not hexfloat %s" % (where, exact[:60], node["hexfloat"])
    value, text = node["value"], node["text"]
    if text.startswith("-") != negative:
        yield "%s: the sign of text %s" % (where, text)
    fits = fits_fp64(magnitude)
    whole = magnitude.denominator == 1 and magnitude < FP64_MAX_INTEGER
    if value is None:
        if fits or whole:
            yield "%s: value is null though a reader could hold %s" % (where, text)
    elif Fraction(value) != (-magnitude if negative else magnitude):
        yield "%s: value %r is not hexfloat %s" % (where, value, node["hexfloat"])
    elif isinstance(value, float) and math.copysign(1, value) != (-1 if negative else 1):
        yield "%s: value %r lost its sign" % (where, value)
    elif value == 0 and negative and not isinstance(value, float):
        yield "%s: value is the integer 0 for minus zero" % where
    if fits and fp64_bits(float(text)) != fp64_bits(float(-magnitude if negative else magnitude)) \
            and not (magnitude == 0 and negative):
        yield "%s: text %s does not read back" % (where, text)
    integer_dtype = dtype is not None and not dtype.is_float
    wanted = str(magnitude.numerator) if integer_dtype else expected_text(magnitude, False)
    if wanted is not None and text.lstrip("-") != wanted:
        yield "%s: text is %s, Python writes %s" % (where, text, wanted)


def check_bits(node, where, dtype):
    cls, negative, value = dtype.decode(int(node["bits"], 16))
    text = node["text"]
    if cls in (formats.NAN, formats.INF):
        wanted = "nan" if cls == formats.NAN else "-inf" if negative else "inf"
        if text != wanted:
            yield "%s: text %s for bits %s, which are %s" % (where, text, node["bits"], wanted)
        return
    if node["hexfloat"] is None:
        yield "%s: bits %s are a number, text is %s" % (where, node["bits"], text)
        return
    spelled_negative, magnitude = hexfloat_fraction(node["hexfloat"])
    if magnitude != abs(value) or spelled_negative != negative:
        yield "%s: bits %s are not hexfloat %s" % (where, node["bits"], node["hexfloat"])
    if len(node["bits"]) != 2 + (dtype.width + 3) // 4:
        yield "%s: bits %s of a dtype of %d bits" % (where, node["bits"], dtype.width)
    shortest = node.get("shortest")
    if shortest is not None and dtype.kind != "bool":  # 255 codes of a bool mean the same number
        number = Fraction(shortest.lstrip("-"))
        spelled = formats.encode(dtype, "zero" if number == 0 else "finite",
                                 shortest.startswith("-"), number)
        if spelled[0] != int(node["bits"], 16):
            yield "%s: shortest %s does not read back as %s" % (where, shortest, node["bits"])


def check_number(node, where, dtype):
    text = node["text"]
    if text in ("nan", "inf", "-inf"):
        for name in ("value", "exact", "hexfloat"):
            if node[name] is not None:
                yield "%s: %s of %s is not null" % (where, name, text)
    elif node["hexfloat"] is None:
        # 10^-n, which no binary float represents exactly
        if fp64_bits(float(node["value"])) != fp64_bits(float(node["text"])) or \
                float(node["exact"]) != float(node["text"]):
            yield "%s: value, text and exact differ" % where
    else:
        yield from check_finite(node, where, dtype)
    if node["bits"] is not None and dtype is not None:
        yield from check_bits(node, where, dtype)


def dtype_of_member(key, dtype, node):
    """Returns the dtype of a member. It differs from the dtype of the enclosing object for means, magnitudes of
    integers, and scales and losses of quantized tensors."""
    if isinstance(node, dict) and "code_dtype" in node and key == "loss":
        return reference("fp64")
    if isinstance(node, dict) and "multiplier" in node and key == "scale":
        return reference(node["scale_dtype"])
    if key in ("mean", "standard_deviation", "as"):  # as: losses
        return reference("fp64")
    if key == "absmax" and dtype is not None and not dtype.is_float:
        return reference("uint64")
    return dtype


def walk(node, where="$", dtype=None):
    """Returns (problems, numbers checked, bits checked) for everything below a node."""
    problems, numbers, codes = [], 0, 0
    if isinstance(node, dict):
        name = node.get("part") or node.get("dtype")
        if isinstance(name, str):
            name = {"complex64": "fp32", "complex128": "fp64"}.get(name, name)
            dtype = reference("fp32" if "code_dtype" in node else name)
        if is_number(node) and node["text"] is not None and "real" not in node:
            numbers += 1
            codes += node["bits"] is not None and dtype is not None
            problems += check_number(node, where, dtype)
    children = node.items() if isinstance(node, dict) else \
        enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        more = walk(child, "%s.%s" % (where, key), dtype_of_member(key, dtype, node))
        problems += more[0]
        numbers += more[1]
        codes += more[2]
    return problems, numbers, codes
