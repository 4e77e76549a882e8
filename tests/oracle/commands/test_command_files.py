#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo compare` and `dtinfo check` against the reference formats of tests/oracle, in exact rationals: every figure
for pairs of tensors, every verdict at the limits of a dtype's range; and, if numpy is installed, the mean and the
largest difference between a model and its bfloat16 version.

usage: test_command_files.py DTINFO
"""
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from fractions import Fraction

import formats
import make_checkpoint
from harness import QUICK

try:
    import numpy
except ImportError:
    numpy = None

PROGRAM = os.path.abspath(sys.argv[1])
FORMATS = formats.build()
NAMES = {"F64": "fp64", "F32": "fp32", "F16": "fp16", "BF16": "bf16", "F8_E4M3": "fp8_e4m3fn",
         "F8_E5M2": "fp8_e5m2", "I64": "int64", "U64": "uint64", "I32": "int32", "I8": "int8",
         "U8": "uint8", "BOOL": "bool"}
PAIRS = [("F32", "BF16"), ("BF16", "F32"), ("F32", "F32"), ("F32", "F16"), ("F16", "BF16"),
         ("BF16", "BF16"), ("F8_E4M3", "F8_E5M2"), ("F64", "F32"), ("F64", "F64"), ("I64", "I64"),
         ("I8", "F32"), ("U8", "I8"), ("I64", "F64"), ("U64", "I64"), ("I32", "F32"), ("BOOL", "I8")]
COUNT = 2100 if QUICK else 5000  # one or two tiles and a partial one
SUMS = Fraction(1, 10 ** 13)  # terms of sums are rounded, and so are quotients and roots
checks = 0


def require(holds, *details):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(" ".join(str(detail)[:300] for detail in details))


def run(*words, codes=(0, 1)):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    require(done.returncode in codes, words, done.returncode, done.stderr.decode())
    return done


def answer(*words):
    done = run(*words, "--json")
    return json.loads(done.stdout), done.returncode


def draw(fmt, rng, count):
    """Codes of all kinds, most of ordinary size."""
    def one():
        if fmt.kind == "bool":
            return rng.getrandbits(1)
        if fmt.width == 64 and fmt.is_float and rng.random() < 0.05:  # squares stay in fp64's range
            return rng.choice([0, 1 << 63, 1, rng.getrandbits(52), fmt.canonical_nan(), *fmt.inf])
        if not fmt.is_float or fmt.width <= 8 or rng.random() < 0.05 and fmt.width < 64:
            return rng.getrandbits(fmt.width)
        exponent = fmt.bias + rng.randint(-9, 9)
        return rng.getrandbits(1) << fmt.width - 1 | exponent << fmt.man | rng.getrandbits(fmt.man)
    return [one() for _ in range(count)]


def near(fmt, number, rng):
    """The code of fmt for a number, sometimes another code."""
    cls, negative, value = number
    code = formats.encode(fmt, cls, negative, value)[0]
    chance = rng.random()
    if chance < 0.1:
        return draw(fmt, rng, 1)[0]
    if chance < 0.2 and fmt.kind != "bool":
        return code ^ rng.getrandbits(2)
    return code


def signed(number):
    cls, negative, value = number
    if cls in (formats.INF, formats.NAN):
        return cls if cls == formats.NAN else "-inf" if negative else "inf"
    return -value if negative else value


def bytes_of(fmt, codes):
    return b"".join(code.to_bytes(fmt.width + 7 >> 3, "little") for code in codes)


def finest(a, b):
    """The dtype whose steps are counted: the less precise one."""
    if not (a.is_float and b.is_float):
        return None
    return min((a, b), key=lambda f: (f.man, f.width, f is not b))


def place(fmt, value):
    """The position of a value in the ordered values of a dtype, continued beyond the largest one."""
    magnitude = abs(value)
    if magnitude == 0:
        return Fraction(0)
    exponent = max(formats.floor_log2(magnitude), 1 - fmt.bias)
    index = exponent + fmt.bias - 1 << fmt.man
    position = index + magnitude / formats.power_of_two(exponent - fmt.man)
    return position if value > 0 else -position


def close(figure, want, what):
    if want is None:
        require(figure is None, what, figure)
        return
    if want > Fraction(sys.float_info.max):
        require(figure["text"] == "inf", what, figure["text"])
        return
    got = Fraction(figure["value"])
    require(abs(got - want) <= SUMS * abs(want), what, figure["text"], float(want))


def exact(figure, want, what):
    require(figure["value"] == float(want), what, figure["text"], float(want))


def beyond(a, b, atol, rtol):
    """|a - b| > atol + rtol |b| in fp64, each operation rounded."""
    return float(abs(a - b)) > atol + rtol * float(abs(b))


def root(value):
    """The square root of a rational, to at least 60 bits."""
    scale = 1 << 400
    return Fraction(math.isqrt(int(value * scale * scale)), scale)


def judge(figures, a, b, ulp, atol, rtol, what):
    pairs = list(zip(a, b))
    special = [x in ("nan", "inf", "-inf") or y in ("nan", "inf", "-inf") for x, y in pairs]
    unmatched = [s and x != y for (x, y), s in zip(pairs, special)]
    finite = [pair for pair, s in zip(pairs, special) if not s]
    differences = [x - y for x, y in finite]
    require(figures["elements"] == len(pairs), what, "elements")
    require(figures["differing"] == sum(x != y for x, y in pairs), what, "differing",
            figures["differing"])
    require(figures["unmatched"] == sum(unmatched), what, "unmatched", figures["unmatched"])
    require(figures["compared"] == len(finite), what, "compared", figures["compared"])
    require(figures["exceeding"] == sum(unmatched) + sum(beyond(x, y, atol, rtol) for x, y in finite),
            what, "exceeding", figures["exceeding"])
    largest = max(map(abs, differences))
    exact(figures["max_absolute"], largest, what + " max_absolute")
    if "max_absolute_at" in figures:
        rounded = [float(abs(x - y)) if not s else -1.0 for (x, y), s in zip(pairs, special)]
        at = None if largest == 0 else [rounded.index(max(rounded))]
        require(figures["max_absolute_at"] == at, what, "at", figures["max_absolute_at"], at)
        first = [i for i, (x, y) in enumerate(pairs) if x != y]
        require(figures["first_differing_at"] == (first[:1] or None), what, "first", first[:1])
    close(figures["mean_absolute"], sum(map(abs, differences)) / len(finite), what + " mean")
    squares = sum(d * d for d in differences) / len(finite)
    close(figures["root_mean_square"], root(squares), what + " rms")
    close(figures["max_relative"], max((abs(x - y) / abs(y) for x, y in finite if y), default=0),
          what + " max_relative")
    aa, bb = sum(x * x for x, _ in finite), sum(y * y for _, y in finite)
    ab = sum(x * y for x, y in finite)
    if aa and bb:
        got = Fraction(figures["cosine"]["value"])
        require(abs(got - ab / root(aa * bb)) <= SUMS, what, "cosine", figures["cosine"]["text"])
        close(figures["nmse"], sum(d * d for d in differences) / aa, what + " nmse")
    if ulp:
        steps = max(abs(place(ulp, x) - place(ulp, y)) for x, y in finite)
        close(figures["max_ulp"], steps, what + " max_ulp")
    elif "max_absolute_at" in figures:
        require(figures["max_ulp"] is None, what, "max_ulp", figures["max_ulp"])


def compare_pairs(folder, rng):
    tensors_a, tensors_b, numbers = [], [], {}
    for left, right in PAIRS:
        a, b = FORMATS[NAMES[left]], FORMATS[NAMES[right]]
        name = f"{left} {right}"
        codes = draw(a, rng, COUNT)
        if not b.is_float:  # in the range of the other side
            codes = [code & 0x7f if rng.random() < 0.9 and not a.is_float else code for code in codes]
        others = [near(b, a.decode(code), rng) for code in codes]
        if b.kind == "bool":
            others = [code & 1 for code in others]
        numbers[name] = ([signed(a.decode(c)) for c in codes], [signed(b.decode(c)) for c in others],
                         finest(a, b))
        tensors_a.append((name, left, [COUNT], bytes_of(a, codes)))
        tensors_b.insert(0, (name, right, [COUNT], bytes_of(b, others)))
    (folder / "a.safetensors").write_bytes(make_checkpoint.safetensors(tensors_a))
    (folder / "b.safetensors").write_bytes(make_checkpoint.safetensors(tensors_b))
    files = [str(folder / "a.safetensors"), str(folder / "b.safetensors")]
    first = None
    for options in ([], ["--threads", "3", "--max-memory", "64KiB"], ["--threads", "1"]):
        document, code = answer("compare", *files, "--atol", "1e-3", "--rtol", "0.01", *options)
        require(first is None or document == first, "another answer with", options)
        require(code == 1, "exit code", code)
        first = document
    for tensor in first["tensors"]:
        name = tensor["a"]["name"]
        a, b, ulp = numbers[name]
        judge(tensor["figures"], a, b, ulp, 1e-3, 0.01, name)
        require(tensor["outcome"] == ("different" if tensor["figures"]["exceeding"] else
                                      "within_tolerance"), name, tensor["outcome"])
    total = first["total"]
    require(total["elements"] == COUNT * len(PAIRS), "total elements", total["elements"])
    for key in ("differing", "unmatched", "exceeding", "compared"):
        require(total[key] == sum(t["figures"][key] for t in first["tensors"]), "total", key)
    for key in ("max_absolute", "max_relative"):
        largest = max(float(t["figures"][key]["text"]) for t in first["tensors"])
        require(float(total[key]["text"]) == largest, "total", key)


def model_against_bf16(folder):
    """A typical notebook: cast a model and look at the mean and the largest difference."""
    make_checkpoint.write_single(folder)
    source, target = str(folder / "model.safetensors"), str(folder / "bf16.safetensors")
    run("cast", source, "bf16", "-o", target, "-q", codes=(0,))
    document, code = answer("compare", source, target)
    require(code == 1 and document["outcome"] == "different", "outcome", document["outcome"])
    wide, narrow, count = FORMATS["fp32"], FORMATS["bf16"], 0
    everything = []
    for name, dtype, shape, data in make_checkpoint.model():
        tensor = next(t for t in document["tensors"] if t["a"]["name"] == name)
        if dtype != "F32":
            require(tensor["outcome"] == "equal", name, tensor["outcome"])
            continue
        numbers = [wide.decode(int.from_bytes(data[i:i + 4], "little")) for i in range(0, len(data), 4)]
        stored = [narrow.decode(formats.encode(narrow, *number)[0]) for number in numbers]
        pair = [signed(n) for n in numbers], [signed(n) for n in stored]
        # numpy checks the places below
        figures = {key: figure for key, figure in tensor["figures"].items() if not key.endswith("_at")}
        judge(figures, *pair, narrow, 0, 0, name)
        everything.append((name, shape, pair, tensor["figures"]))
        count += 1
    require(count == 19, "tensors of fp32:", count)
    print(f"a model against its bf16 version: {checks} checks")
    if not numpy:
        print("skipped: numpy is not installed")
        return
    for name, shape, (a, b), figures in everything:
        a = numpy.array([float(x) for x in a], numpy.float32).reshape(shape).astype(numpy.float64)
        b = numpy.array([float(x) for x in b], numpy.float32).reshape(shape).astype(numpy.float64)
        difference = numpy.abs(a - b)
        require(figures["max_absolute"]["value"] == difference.max(), name, "numpy max")
        at = [int(i) for i in numpy.unravel_index(difference.argmax(), shape)]
        require(figures["max_absolute_at"] == at, name, "numpy argmax", at)
        close(figures["mean_absolute"], Fraction(float(difference.mean())), name + " numpy mean")
        if difference.any():
            ratio = 10 * math.log10((a * a).sum() / (difference * difference).sum())
            require(abs(figures["sqnr_db"]["value"] - ratio) < 1e-9, name, "numpy sqnr", ratio)
        nmse = (difference * difference).sum() / (a * a).sum()
        require(abs(figures["nmse"]["value"] - nmse) <= 1e-12 * nmse, name, "numpy nmse", nmse)
        cosine = (a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum())
        require(abs(figures["cosine"]["value"] - cosine) < 1e-12, name, "numpy cosine", cosine)
    print("numpy says the same")


def borders(name):
    """Numbers around the limits of a dtype's range, as fp64."""
    fmt = FORMATS[name]
    top = fmt.decode(fmt.max_code())[2]
    if fmt.is_float:
        step = top - fmt.magnitude(fmt.max_index - 1)
        border = top + step / 2
    else:
        border = top + 1
    found = []
    for middle in (float(top), float(border)):
        found += [middle, math.nextafter(middle, 0), math.nextafter(middle, math.inf)]
    return [number * sign for number in found for sign in (1, -1)]


def check_borders(folder):
    """--fits must agree with a cast of the number."""
    if not hasattr(math, "nextafter"):
        print("skipped: borders of ranges, for which Python is too old")
        return
    for name in ("fp32", "fp16", "bf16", "fp8_e4m3fn", "fp8_e5m2", "fp4_e2m1", "int8", "uint8", "int32"):
        fmt = FORMATS[name]
        for number in borders(name):
            value = Fraction(number)
            mode = "nearest-even" if fmt.is_float else "zero"
            flags = formats.encode(fmt, "finite", value < 0, abs(value), mode)[1]
            fits = not flags & (formats.OVERFLOW | formats.INVALID)
            for others in ([], [0.0, 1.0]):
                data = make_checkpoint.tensor("t", "F64", [len(others) + 1], others + [number])
                (folder / "t.safetensors").write_bytes(make_checkpoint.safetensors([data]))
                document, code = answer("check", str(folder / "t.safetensors"), "--fits", name)
                require(code == (0 if fits else 1) and document["ok"] == fits, name, number, code)
                if not fits:
                    failure = document["files"][0]["assertions"][0]["failures"][0]
                    require(failure["at"] == [len(others)], name, number, failure)
                    require(Fraction(failure["value"]["value"]) == value, name, number, failure)


def check_specials(folder, rng):
    """Counts and first places of NaNs and infinities, across many tiles."""
    for dtype in ("F32", "BF16", "F16", "F64", "F8_E5M2"):
        fmt = FORMATS[NAMES[dtype]]
        codes = [rng.getrandbits(fmt.man) for _ in range(COUNT)]
        nans = sorted(rng.sample(range(COUNT), 7))
        infinities = sorted(set(rng.sample(range(COUNT), 5)) - set(nans))
        for i in nans:
            codes[i] = fmt.canonical_nan()
        for i in infinities:
            codes[i] = fmt.inf[rng.getrandbits(1)]
        data = [("t", dtype, [COUNT // 4, 4], bytes_of(fmt, codes))]
        (folder / "t.safetensors").write_bytes(make_checkpoint.safetensors(data))
        document, _ = answer("check", str(folder / "t.safetensors"), "--no-nan", "--no-inf")
        for assertion, places in zip(document["files"][0]["assertions"], (nans, infinities)):
            failure = assertion["failures"][0]
            require(failure["count"] == len(places), dtype, assertion["name"], failure)
            require(failure["at"] == [places[0] // 4, places[0] % 4], dtype, assertion["name"], failure)


def many_tensors(folder):
    """More tensors than are read at a time."""
    count, odd = 2500, {0: 1.0, 511: 2.0, 1023: 4.0, 1024: 8.0, 2499: 16.0}
    for name, changes in (("a", {}), ("b", odd)):
        tensors = [make_checkpoint.tensor("t.%04d" % i, "F32", [1, 2], [0.5, 3.0 + changes.get(i, 0)])
                   for i in range(count)]
        (folder / (name + ".safetensors")).write_bytes(make_checkpoint.safetensors(tensors))
    files = [str(folder / "a.safetensors"), str(folder / "b.safetensors")]
    document, _ = answer("compare", *files)
    different = {t["a"]["name"]: t["figures"] for t in document["tensors"] if t["outcome"] != "equal"}
    require(list(different) == ["t.%04d" % i for i in odd], "tensors that differ", list(different))
    for i, change in odd.items():
        figures = different["t.%04d" % i]
        require(figures["max_absolute"]["value"] == change and figures["max_absolute_at"] == [0, 1], i,
                figures["max_absolute"])
    require(document["total"]["max_absolute"]["value"] == 16, "total", document["total"])
    require(document["total"]["elements"] == 2 * count, "elements", document["total"]["elements"])
    document, _ = answer("check", files[1], "--max-abs", "3.5")
    failures = document["files"][0]["assertions"][0]["failures"]
    require([f["tensor"] for f in failures] == list(different), "tensors too large", failures)
    require([f["value"]["value"] for f in failures] == [3 + change for change in odd.values()],
            "their numbers", failures)


def large_blocks(folder):
    """Bytes of a type that is not decoded to numbers: where they first differ."""
    size = 144 * 7744
    for place in (None, 0, 262143, 262144, 700001, size - 1):
        for name in ("a", "b"):
            data = bytearray(size)
            if name == "b" and place is not None:
                data[place] = data[-1] = 1
            tensors = [("q", 43, (7744, 256), bytes(data)), ("r", 43, (1, 256), bytes(144))]
            (folder / (name + ".gguf")).write_bytes(make_checkpoint.gguf([], tensors))
        document, code = answer("compare", str(folder / "a.gguf"), str(folder / "b.gguf"))
        require(code == (place is not None), "exit code", place, code)
        require([t["first_differing_byte"] for t in document["tensors"]] == [place, None], place, document)


def main():
    rng = random.Random(4)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compare_pairs(folder, rng)
        print(f"pairs of dtypes: {checks} checks")
        model_against_bf16(folder)
        check_borders(folder)
        check_specials(folder, rng)
        many_tensors(folder)
        large_blocks(folder)
    print(f"{checks} checks, all as they should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
