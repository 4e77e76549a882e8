# SPDX-License-Identifier: MIT
"""What formats can hold, through the library: limits against the specifications (limits.tsv), numpy, ml_dtypes, torch and the
model of formats.py; names from elsewhere (aliases.tsv); and which format has all numbers of which, against sets of
numbers."""

import os
import random
import sys
from fractions import Fraction

import formats
from formats import FORMATS, floor_log2, power_of_two
from judging import SPARSE, judge, value_text

DATA = os.path.join(os.path.dirname(__file__), "../data")

INTEGERS = {"bits": "bits", "exp": "exponent_bits", "man": "mantissa_bits", "bias": "bias", "p": "precision",
            "digits10": "digits10", "max_digits10": "max_digits10", "minexp": "min_exponent",
            "maxexp": "max_exponent", "sign": "is_signed"}
HEXADECIMAL = {"inf_codes": "inf_codes", "nan_codes": "nan_codes", "integers": "integers_up_to"}
VALUES = {"max": "max", "lowest": "lowest", "smallest_normal": "smallest_normal",
          "smallest_subnormal": "smallest_subnormal", "eps": "eps", "epsneg": "epsneg",
          "step_at_max": "step_at_max", "overflow": "overflow_from", "to_zero": "to_zero_up_to"}


def rows(name):
    with open(os.path.join(DATA, name), encoding="utf-8") as table:
        lines = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def number(text):
    """"2^-126", "0x1.ffp127", a decimal, or "none"."""
    if text == "none":
        return Fraction(0)
    if text.startswith("2^"):
        return power_of_two(int(text[2:]))
    return Fraction(float.fromhex(text) if "0x" in text else float(text))


def specified():
    for row in rows("limits.tsv"):
        want = []
        for column, cell in row.items():
            if cell == "-":
                continue
            if column in INTEGERS:
                want.append(f"{INTEGERS[column]}={cell}")
            elif column in HEXADECIMAL:
                want.append(f"{HEXADECIMAL[column]}={int(cell):x}")
            elif column in VALUES and (column, row["dtype"]) != ("overflow", "fp64"):
                want.append(f"{VALUES[column]}={value_text(number(cell))}")
            elif column == "max_code":
                want.append(f"max_code={int(cell, 16):x}")
            elif column == "nan" and cell != "none":
                want.append(f"nan_code={int(cell, 16):x}")
            elif column == "overflow_inclusive":
                want.append(f"overflow_inclusive={int(cell == 'yes')}")
        for column, member in (("inf", "has_inf"), ("nan", "has_nan"), ("minus_zero", "has_minus_zero"),
                               ("smallest_subnormal", "has_subnormals")):
            if row[column] != "-":
                want.append(f"{member}={int(row[column] != 'none')}")
        for at in range(0, len(want), 20):
            yield ["info", row["dtype"]] + want[at:at + 20]


def modelled():
    """Every format of the model, the ones made of names too."""
    for index, fmt in enumerate(FORMATS.values()):
        bits = 8 if fmt.kind == "bool" else fmt.width
        container = next(size for size in (8, 16, 32, 64) if bits <= size)
        want = [f"bits={bits}", f"container_bits={container}", f"is_signed={int(fmt.signed)}",
                f"packs={int(bits < 8 and fmt.name != 'fp8_ue4m3')}", f"max_code={fmt.max_code():x}",
                f"lowest_code={fmt.lowest_code():x}"]
        for member, code in (("max", fmt.max_code()), ("lowest", fmt.lowest_code())):
            _, negative, value = fmt.decode(code)
            want.append(f"{member}={value_text(-value if negative else value)}")
        if fmt.kind == "bool":
            want.append("finite_codes=2")
        elif fmt.width <= 16 and (fmt.width <= 8 or index % SPARSE == 0):
            classes = [fmt.decode(code)[0] for code in range(1 << fmt.width)]
            for member, names in (("nan_codes", ("nan",)), ("inf_codes", ("inf",)),
                                  ("finite_codes", ("zero", "finite"))):
                want.append(f"{member}={sum(name in names for name in classes):x}")
        elif not fmt.is_float and fmt.width > 16:
            want.append(f"finite_codes={min(1 << fmt.width, (1 << 64) - 1):x}")
        yield ["info", fmt.name] + want
        if not fmt.is_float:
            yield ["info", fmt.name, f"integers_up_to={fmt.max_code():x}", "exponent_bits=0", "eps=0", "has_nan=0",
                   f"max_digits10={len(str(fmt.max_code())) if fmt.max_code() else 1}",
                   f"digits10={max(d for d in range(20) if 10 ** d - 1 <= fmt.max_code())}"]


def peers():
    """finfo and iinfo of other libraries, where they are installed."""
    names = {"fp64": "float64", "fp32": "float32", "fp16": "float16"}
    small = {"bf16": "bfloat16", "fp8_e5m2": "float8_e5m2", "fp8_e4m3fn": "float8_e4m3fn",
             "fp8_e5m2fnuz": "float8_e5m2fnuz", "fp8_e4m3fnuz": "float8_e4m3fnuz", "fp8_e4m3": "float8_e4m3",
             "fp8_e3m4": "float8_e3m4", "fp8_e4m3b11fnuz": "float8_e4m3b11fnuz", "fp6_e3m2": "float6_e3m2fn",
             "fp6_e2m3": "float6_e2m3fn", "fp4_e2m1": "float4_e2m1fn"}
    whole = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    try:
        import numpy
    except ImportError:
        return
    infos = [(name, numpy.finfo(theirs)) for name, theirs in names.items()]
    integers = [(name, numpy.iinfo(name)) for name in whole]
    try:
        import ml_dtypes
        infos += [(name, ml_dtypes.finfo(getattr(ml_dtypes, theirs))) for name, theirs in small.items()]
        integers += [(name, ml_dtypes.iinfo(getattr(ml_dtypes, name))) for name in ("int2", "int4", "uint2", "uint4")]
    except ImportError:
        pass
    for name, info in infos:
        yield ["info", name, f"max={value_text(Fraction(float(info.max)))}",
               f"lowest={value_text(Fraction(float(info.min)))}", f"eps={value_text(Fraction(float(info.eps)))}",
               f"epsneg={value_text(Fraction(float(info.epsneg)))}",
               f"smallest_normal={value_text(Fraction(float(info.smallest_normal)))}",
               f"smallest_subnormal={value_text(Fraction(float(info.smallest_subnormal)))}", f"bits={info.bits}",
               f"mantissa_bits={info.nmant}", f"min_exponent={info.minexp}"]
    for name, info in integers:
        yield ["info", name, f"max={value_text(Fraction(int(info.max)))}",
               f"lowest={value_text(Fraction(int(info.min)))}", f"bits={info.bits}"]


# Which format has all numbers of which.

def numbers(fmt, rng):
    """All numbers of a narrow format; of a wide one those that decide, and some more."""
    if fmt.width <= 8:
        return list(fmt.values())
    codes = set()
    if fmt.is_float:
        binades = range(1 << fmt.exp)
        if len(binades) > 300:
            binades = [0, 1, 2, 3, (1 << fmt.exp) - 2, (1 << fmt.exp) - 1] + rng.sample(binades, 100)
        if fmt.posit:
            codes = set(range(1 << fmt.width - 1))
        else:
            codes = {(field << fmt.man) + low for field in binades for low in (0, 1, (1 << fmt.man) - 1)}
            codes |= {1 << bit for bit in range(fmt.width - 1)} | {(1 << bit) + 1 for bit in range(1, fmt.width - 1)}
    else:
        for bit in range(fmt.width):
            codes |= {1 << bit, (1 << bit) - 1, (1 << bit) + 1}
    codes |= {fmt.max_code(), fmt.lowest_code(), 0, 1} | {rng.getrandbits(fmt.width) for _ in range(300)}
    found = set()
    for code in codes:
        if code >> fmt.width:
            continue
        cls, negative, value = fmt.decode(code)
        if cls in ("zero", "finite"):
            found.add(-value if negative else value)
    return sorted(found, key=lambda value: -abs(value))


def has(fmt, value):
    cls, negative, magnitude = formats.number(value < 0, abs(value))
    code, flags = formats.encode(fmt, cls, negative, magnitude)
    if flags:
        return False
    _, negative, stored = fmt.decode(code)
    return stored == magnitude


def holdings():
    rng = random.Random(5)
    everything = [fmt for fmt in FORMATS.values() if fmt.kind != "bool" or fmt.width == 8]
    known = {fmt.name: fmt.values() for fmt in everything if fmt.width <= 8 and fmt.kind != "bool"}
    for number, src in enumerate(everything):
        own = [Fraction(0), Fraction(1)] if src.kind == "bool" else numbers(src, rng)
        for dst in everything[number % SPARSE::SPARSE]:
            special = (bool(src.inf) <= bool(dst.inf) and bool(src.nan) <= bool(dst.nan)
                       and src.minus_zero <= dst.minus_zero)
            there = known.get(dst.name)
            holds = special and all(value in there if there is not None else has(dst, value) for value in own)
            yield ["holds", src.name, dst.name, int(holds)]
    for src, dst, holds in (("complex64", "complex128", 1), ("complex64", "complex32", 0), ("fp32", "complex64", 1),
                            ("complex32", "fp64", 0), ("bf16", "complex32", 0), ("int8", "complex32", 1)):
        yield ["holds", src, dst, holds]
    # posit16 has 8 bits of fraction down to 2^-16, 7 from 2^16 on: enough for the largest number of ue5m8fn, 1.9921875 x 2^16, but
    # not for all of that binade
    yield ["holds", "ue5m8fn", "posit16", 0]
    yield ["holds", "ue5m7fn", "posit16", 1]


def names():
    for row in rows("aliases.tsv"):
        if row["dtype"] != "-":
            yield ["find", row["alias"], row["dtype"]]
    for name, canonical in (("torch.bfloat16", "bf16"), ("<f4", "fp32"), ("F8_E4M3", "fp8_e4m3fn"), ("E5M2", "fp8_e5m2"),
                            ("np.float16", "fp16"), ("int13", "int13"), ("E4M3FNUZB9", "e4m3fnuzb9"),
                            ("binary10p4sf", "binary10p4sf"), ("e5m10", "fp16"), ("ml_dtypes.int4", "int4")):
        yield ["find", name, canonical]
    yield ["fail", "fp99", "unknown_dtype", "fp64"]
    yield ["fail", "fp8", "ambiguous_dtype", "fp8_e4m3fn"]
    yield ["fail", "mxfp4", "wrong_kind", "fp4_e2m1"]
    yield ["fail", "int65", "unknown_dtype", ""]
    yield ["fail", "", "unknown_dtype", ""]
    for name, system, index, want in (("bf16", "torch", 0, "bfloat16"), ("bf16", "torch", 1, "-"),
                                      ("fp32", "npy", 0, "<f4"), ("fp32", "safetensors", 0, "F32"),
                                      ("fp32", "torch", 1, "float"), ("fp8_e4m3fn", "ml_dtypes", 0, "float8_e4m3fn"),
                                      ("bf16", "gguf", 0, "bf16"), ("bf16", "nowhere", 0, "-"),
                                      ("e5m3", "torch", 0, "-"), ("bf16", "onnx", 0, "BFLOAT16")):
        yield ["alias", name, system, index, want]


def lines():
    for part in (specified, modelled, peers, names, holdings):
        yield from part()


if __name__ == "__main__":
    sys.exit(judge(sys.argv[1], lines()))
