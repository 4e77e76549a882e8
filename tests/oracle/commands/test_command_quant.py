#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo quant` of values against the definition, reimplemented in exact rationals: scales, zero points, quotients,
codes, dequantized values, errors and packed bytes, for random values and options.

usage: test_command_quant.py DTINFO [RUNS]
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
from fractions import Fraction

from quant_groups import group_of, model, pack

BLOCKS, FORMATS, NF4, fp32 = model.BLOCKS, model.FORMATS, model.NF4, model.round32

PROGRAM = os.path.abspath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 400


def wrong(message, *details):
    raise AssertionError(" ".join([message] + [repr(detail)[:300] for detail in details]))


def is_number(found, expected, what):
    """found: the twin members of a number."""
    text = found["text"]
    if math.isnan(expected):
        good = text == "nan" and found["value"] is None
    elif math.isinf(expected):
        good = text == ("inf" if expected > 0 else "-inf") and found["value"] is None
    else:
        good = float(text) == expected and found["value"] == expected
        good = good and math.copysign(1, float(text)) == math.copysign(1, expected)
    if not good:
        wrong(what, found, expected)


def rational(text):
    if "/" in text:
        above, below = text.split("/")
        return rational(above) / rational(below)
    if "x" in text:
        return Fraction(float.fromhex(text))
    return Fraction(text)


def draw(rng, count, scale):
    """Texts of numbers of all kinds, and their fp32 values."""
    size = rng.choice([1.0, 1.0, 1e-3, 300.0, 1e-40, 1e37, 1e4])
    specials = rng.random() < 0.15

    def one():
        kind = rng.random()
        if specials and kind < 0.1:
            return rng.choice(["nan", "inf", "-inf", "1e39", "-1e400"])
        if kind < 0.15:
            return rng.choice(["0", "-0", "1", "-1", "1e-46", "-1e-45"])
        if kind < 0.4 and scale:  # near the boundaries between codes
            half = Fraction(2 * rng.randrange(-300, 300) + 1, 2) * Fraction(scale)
            return fp32(half * (1 + Fraction(rng.choice([-1, 0, 0, 1]), 2 ** 24))).hex()
        if kind < 0.5:
            return "%d/%d" % (rng.randrange(-99, 99), rng.randrange(1, 99))
        if kind < 0.6:
            return fp32(Fraction(rng.gauss(0, 1) * size)).hex()
        return "%.*g" % (rng.randrange(1, 25), rng.gauss(0, 1) * size)

    texts = [one() for _ in range(count)]
    numbers = [fp32(rational(text), text[0] == "-")
               if text not in ("nan", "inf", "-inf") else float(text) for text in texts]
    return texts, numbers


def draw_edges(rng, name, how, count):
    """Numbers of blocks whose largest is at a boundary of the rules, and the others between two codes."""
    if name == "q8_0":
        largest, grid = Fraction(127), Fraction(1, 2)
    elif name == "q4_0":
        largest, grid = Fraction(rng.choice([-8, 8])), Fraction(1, 2)
    elif name == "nf4":
        middles = [fp32((Fraction(a) + Fraction(b)) / 2) for a, b in zip(NF4, NF4[1:])]
        numbers = [rng.choice([1.0, -1.0])] + [rng.choice(middles) for _ in range(count - 1)]
        return [number.hex() for number in numbers], numbers
    elif name == "bnb_fp4":
        numbers = [rng.choice([1.0, -1.0])] + [rng.choice([-1, 1]) * rng.choice(model.BNB_FP4_PIVOTS)
                                               for _ in range(count - 1)]
        return [number.hex() for number in numbers], numbers
    elif name == "nvfp4":
        step = Fraction(2) ** rng.randrange(-4, 5)
        largest = 6 * Fraction(how.get("tensor", 1.0)) * step * (1 + Fraction(2 * rng.randrange(8) + 1, 16))
        grid = largest / 24
    else:
        code = FORMATS[BLOCKS[name][1]]
        largest = Fraction(127, 64) if name == "mxint8" else code.magnitude(code.max_code())
        largest = rng.choice([largest, Fraction(1), largest + code.magnitude(1) / 2])
        grid = largest / 128
    size = Fraction(2) ** rng.choice([0, 0, -3, 7, -20])
    nudged = 1 + Fraction(rng.choice([-1, 0, 0, 1]), 2 ** 24)
    numbers = [fp32(largest * nudged * size)]
    limit = int(abs(largest) / grid)
    numbers += [fp32(rng.randint(-limit, limit) * grid * size) for _ in range(count - 1)]
    rng.shuffle(numbers)
    return [number.hex() for number in numbers], numbers


def draw_options(rng, name):
    """Option words, and their meaning."""
    words, how = [], {"division": "true", "mx_scale": "floor", "rule": "onnx", "specials": "clamp"}
    affine = name not in BLOCKS
    like = rng.choice(["torch", "onnx", None, None])
    if name.startswith("mx"):
        how["mx_scale"] = rng.choice(["floor", "ceil", "rceil", "even", "rfloor"])
        return (["--mx-scale", how["mx_scale"]] if rng.random() < 0.9 or how["mx_scale"] != "floor"
                else []), how
    if name in ("q8_0", "q4_0"):
        return words, how
    if like:
        words += ["--like", like]
        if like == "torch":
            how.update(division="reciprocal", rule="torch", specials="torch")
    elif rng.random() < 0.5:
        how["division"] = rng.choice(["true", "reciprocal", "exact"])
        words += ["--division", how["division"]]
    if name == "nvfp4":
        kind = rng.choice(["auto", "none", "given", ""])
        how["tensor_from"] = kind or "auto"
        how["nv_scale"] = rng.choice(["six", "four-six", "unrounded"])
        words += ["--nv-scale", how["nv_scale"]] if how["nv_scale"] != "six" or rng.random() < 0.5 else []
        if kind == "given":
            how["tensor"] = fp32(Fraction(rng.uniform(1e-4, 2)))
            words += ["--tensor-scale", how["tensor"].hex()]
        elif kind:
            words += ["--tensor-scale", kind]
    if not affine:
        return words, how
    symmetric = name.startswith("int")
    fixed = rng.random() < 0.3
    if fixed:
        how["scale"], symmetric = fp32(Fraction(rng.choice([0.1, 0.01, 1.0, rng.uniform(0, 3)]))), False
        words += ["--scale", how["scale"].hex()]
    if name in model.INTEGERS:
        kind = rng.choice(["--symmetric", "--affine", "", "--symmetry"])
        if kind == "--affine" and not fixed:
            symmetric = False
            words.append(kind)
        elif kind == "--symmetric":
            symmetric = True
            words.append(kind)
        elif kind == "--symmetry" and not like:
            symmetric = True
    how["symmetry"] = "none"
    if symmetric and name in model.INTEGERS:
        how["symmetry"] = "half" if like == "torch" else "full"
        if kind == "--symmetry" and not like:
            how["symmetry"] = rng.choice(["full", "half"])
            words += ["--symmetry", how["symmetry"]]
    how["zero"] = 0
    if fixed and name in model.INTEGERS:
        width = FORMATS[name].width
        if how["symmetry"] != "none":
            how["zero"] = 0 if name.startswith("int") else 1 << width - 1
        elif rng.random() < 0.6:
            low = -(1 << width - 1) if name.startswith("int") else 0
            how["zero"] = rng.randrange(low, low + (1 << width))
            words += ["--zero-point", str(how["zero"])]
    if not fixed and rng.random() < 0.4:
        ends = sorted(fp32(Fraction(rng.gauss(0, 2))) for _ in range(2))
        for key, end in zip(("min", "max"), ends):
            how[key] = end
            words += ["--" + key, end.hex()]
    elif not fixed and rng.random() < 0.4:
        how["block"] = rng.choice([1, 3, 16])
        words += ["--block", str(how["block"])]
        if how["specials"] == "torch":
            how["specials"] = "torch_channel"
    return words, how


def judge_element(found, x, text, group):
    if found["input"] != text or found["x"]["bits"] != "0x%08x" % model.bits(x):
        wrong("input", found["input"], text, found["x"]["bits"], x)
    rounded = text not in ("nan", "inf", "-inf") and (
        not math.isfinite(x) or rational(text) != Fraction(x))
    if found["rounded"] != rounded:
        wrong("rounded", text, rounded)
    quotient = group.quotient(x)
    scaled = None if quotient is None or not math.isfinite(x) or quotient in (
        math.inf, -math.inf) or quotient != quotient else float(quotient)
    if found["scaled"] != scaled:
        wrong("scaled", text, found["scaled"], scaled)
    code, clipped = group.store(x)
    width = FORMATS[group.code_name].width
    if int(found["bits"], 16) != code or found["clipped"] != clipped:
        wrong("code", text, found["bits"], hex(code), found["clipped"], clipped)
    if len(found["bits"]) != 2 + (width + 3) // 4 or found["code"] % (1 << width) != code:
        wrong("spelling", found["bits"], found["code"], code)
    if found["special"] == math.isfinite(x):
        wrong("special", text, found["special"])
    is_number(found["element"], group.number(code), "element")
    back = group.back(code)
    is_number(found["back"], back, "back of %s" % text)
    if not (math.isfinite(x) and math.isfinite(back)):
        if found["error"] is not None:
            wrong("error of a special", text)
        return code, clipped, None
    error = Fraction(back) - Fraction(x)
    relative = float(error / abs(Fraction(x))) if x else None
    if (Fraction(found["error"]["absolute_exact"]) != error or
            found["error"]["absolute"] != float(error) or found["error"]["relative"] != relative):
        wrong("error", text, found["error"], float(error), relative)
    return code, clipped, error


def judge_group(found, numbers, texts, name, how):
    group = group_of(name, how, numbers)
    if name in BLOCKS:
        if int(found["scale"]["bits"], 16) != group.scale_code:
            wrong("scale", found["scale"], hex(group.scale_code), group.amax)
        is_number(found["amax"], group.amax, "amax")
        is_number(found["multiplier"], group.multiplier, "multiplier")
    else:
        is_number(found["scale"], group.scale, "scale")
        if found["zero_point"] != (group.zero if group.integer else None):
            wrong("zero point", found["zero_point"], group.zero, group.scale)
        for key, end in (("min", group.least), ("max", group.most)):
            if end is None and found[key] is not None:
                wrong("a range of no use", found[key])
            if end is not None and float(found[key]["text"]) != end:
                wrong(key, found[key], end)
        ends = [group.low, group.high]
        if not group.integer:
            largest = FORMATS[name].max_code()
            ends = [largest | FORMATS[name].sign_bit, largest]
        for key, end in zip(("lowest", "highest"), ends):
            is_number(found[key], group.back(end % (1 << FORMATS[name].width)), key)
    done = [judge_element(element, x, text, group)
            for element, x, text in zip(found["elements"], numbers, texts)]
    codes = [code for code, _, _ in done]
    if name in BLOCKS:
        codes += [model.ZERO.get(name, 0)] * (group.length - len(codes))
    width = FORMATS[group.code_name].width
    if bytes.fromhex(found["packed"]) != pack(width, codes, how["high"]):
        wrong("packed", found["packed"])
    if name in ("q8_0", "q4_0"):
        if name == "q4_0":
            codes = [a | b << 4 for a, b in zip(codes[:16], codes[16:])]
        if bytes.fromhex(found["ggml"]) != struct.pack("<H", group.scale_code) + bytes(codes):
            wrong("ggml", found["ggml"])
    elif found["ggml"] is not None:
        wrong("bytes of ggml", name)
    if found["clipped"] != sum(clipped for _, clipped, _ in done):
        wrong("clipped", found["clipped"])
    return done


def judge_loss(found, numbers, errors):
    compared = [error for error in errors if error is not None]
    if found["compared"] != len(compared):
        wrong("compared", found["compared"], len(compared))
    if not compared:
        return
    most, mean = max(map(abs, compared)), sum(map(abs, compared)) / len(compared)
    for key, expected in (("max_absolute_error", most), ("mean_absolute_error", mean)):
        if found[key] is None or abs(Fraction(found[key]["text"]) - expected) > expected / 10 ** 12:
            wrong(key, found[key], float(expected))
    signal = sum(Fraction(x) ** 2 for x, error in zip(numbers, errors) if error is not None)
    noise = sum(error ** 2 for error in compared)
    if found["sqnr_db"] and signal and noise:
        expected = 10 * (math.log10(float(signal / noise)) if 1e-300 < signal / noise < 1e300 else 0)
        if abs(found["sqnr_db"]["value"] - expected) > 1e-6:
            wrong("SQNR", found["sqnr_db"], expected)


def judge_run(rng, name):
    words, how = draw_options(rng, name)
    width = FORMATS[BLOCKS[name][1] if name in BLOCKS else name].width
    how["high"] = width < 8 and rng.random() < 0.4
    if how["high"]:
        words += ["--nibble", "high"]
    count = rng.choice([1, 2, 5, 17, 40])
    if name in BLOCKS and rng.random() < 0.6:
        texts, numbers = draw_edges(rng, name, how, count)
    else:
        texts, numbers = draw(rng, count, how.get("scale", 0.25 if rng.random() < 0.5 else 0))
    command = [PROGRAM, "quant", *texts, name, *words, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    if done.returncode != 0:
        wrong("exit %d" % done.returncode, done.stderr, command)
    result = json.loads(done.stdout)["results"][0]
    try:
        if name == "nvfp4" and how["tensor_from"] == "auto":
            finite = [abs(x) for x in numbers if math.isfinite(x)]
            how["tensor"] = fp32(Fraction(max(finite, default=0.0)) / (1536 if how["nv_scale"] == "four-six" else 2688)) or 1.0
        if name == "nvfp4":
            is_number(result["tensor_scale"], how.get("tensor", 1.0), "tensor scale")
        length = BLOCKS[name][3] if name in BLOCKS else how.get("block", count)
        groups, done = result["groups"], []
        if len(groups) != -(-count // length):
            wrong("groups", len(groups))
        for at, group in enumerate(groups):
            part = slice(at * length, min((at + 1) * length, count))
            done += judge_group(group, numbers[part], texts[part], name, how)
        if len(done) != count or result["clipped"] != sum(clipped for _, clipped, _ in done):
            wrong("sums", len(done), result["clipped"])
        judge_loss(result["loss"], numbers, [error for _, _, error in done])
        codes = len(groups) * length if name in BLOCKS else count
        if result["code_bytes"] != (codes * width + 7) // 8:
            wrong("code bytes", result["code_bytes"])
    except AssertionError as error:
        wrong("%s\n    %s" % (error, " ".join(command)))
    return sum(clipped for _, clipped, _ in done)


def main():
    rng, failed, clipped = random.Random(20), 0, 0
    names = [*model.INTEGERS, *model.FLOATS] + 2 * list(BLOCKS) + 3 * ["nvfp4"]
    for number in range(RUNS):
        try:
            clipped += judge_run(rng, names[number % len(names)])
        except AssertionError as error:
            failed += 1
            print("FAILED %s" % error)
    print("%d runs judged, %d numbers clipped, %d failed" % (RUNS, clipped, failed))
    return 1 if failed or clipped == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
