# SPDX-License-Identifier: MIT
"""Statistics, histograms, comparisons, casts and quantization of tensors with more than 2^24 elements, where counts
and sums in fp32 would stop growing, against exact integers and rationals. Tensors are runs of equal codes, so that
results follow from a few values and their counts; runs of zeros are holes in a sparse file.

Usage: test_large.py DTINFO [--long]
"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

import harness
from formats import FORMATS, INF, NAN, OVERFLOW, encode, floor_log2

PUSH, LONG = (1 << 24) + 3, (1 << 26) + 5
CHUNK = 1 << 20
SLACK = Fraction(1, 10**12)
SINGLES = Fraction(61, 10**8)     # error sums of numbers that fp32 holds: dtinfo-cast(1)
DTYPES = {"F8_E4M3": "fp8_e4m3fn", "F8_E5M2": "fp8_e5m2", "BF16": "bf16", "F32": "fp32", "F64": "fp64", "U8": "uint8",
          "I64": "int64"}
LARGEST32, LARGEST64 = 0x7F7FFFFF, 0x7FEFFFFFFFFFFFFF
TENTH, ONE32 = 0x3DCCCCCD, 0x3F800000


def tensors(n):
    """name: (safetensors dtype, [(code, count), ...])."""
    return {
        "ones": ("F8_E4M3", [(0x38, n - 3), (0, 2), (0x7F, 1)]),
        "nan": ("F8_E4M3", [(0x38, 1), (0xFF, n - 1)]),
        "inf": ("F8_E5M2", [(0xFC, n - 5), (0x7C, 4), (0xBC, 1)]),
        "negative_subnormal": ("F8_E5M2", [(0x81, n)]),
        "bytes": ("U8", [(255, n - 1), (0, 1)]),
        "halves": ("BF16", [(0x3F81, n - 2), (0xC000, 2)]),
        "lost": ("BF16", [(0x7FC0, n - 1), (0x3F80, 1)]),
        "tenths": ("F32", [(TENTH, n)]),
        "holes": ("F32", [(ONE32, 1), (0, n - 2), (0xC0600000, 1)]),
        "largest": ("F32", [(LARGEST32, 1), (0, n - 1)]),
        "wide": ("F64", [(LARGEST64, 1), (0, n - 1)]),
        "integers": ("I64", [((1 << 53) + 1, 1), (0, n - 2), (3, 1)]),
    }


def others(n):
    """The other side of comparisons for some of them."""
    return {
        "ones": ("F8_E4M3", [(0x39, n - 1), (0x38, 1)]),
        "nan": ("F8_E4M3", [(0x38, n)]),
        "tenths": ("F32", [(0, n - 1), (TENTH, 1)]),
        "largest": ("F32", [(LARGEST32 | 1 << 31, 1), (0, n - 1)]),
        "wide": ("F64", [(LARGEST64 | 1 << 63, 1), (0, n - 1)]),
    }


def write(path, named):
    header, offset = {}, 0
    for name, (dtype, runs) in named.items():
        size = FORMATS[DTYPES[dtype]].width // 8 * sum(count for _, count in runs)
        header[name] = {"dtype": dtype, "shape": [sum(count for _, count in runs)], "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for dtype, runs in named.values():
            size = FORMATS[DTYPES[dtype]].width // 8
            for code, count in runs:
                if code == 0:
                    file.seek(size * count, os.SEEK_CUR)
                    continue
                many = code.to_bytes(size, "little") * min(count, CHUNK)
                for _ in range(count // CHUNK):
                    file.write(many)
                file.write(many[:size * (count % CHUNK)])
        file.truncate(8 + len(text) + offset)


def ask(program, *words):
    done = subprocess.run([program, *words, "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit("%s: exit %d" % (" ".join(words), done.returncode))
    return json.loads(done.stdout)


# Values of runs.

def signed(fmt, code):
    """A finite code's value as a Fraction, or 'inf', '-inf', NAN."""
    cls, negative, value = fmt.decode(code)
    if cls in (NAN, INF):
        return NAN if cls == NAN else "-inf" if negative else "inf"
    return -value if negative else value


def finite(fmt, runs):
    """[(value, count, place of the first)] of the finite runs."""
    found, at = [], 0
    for code, count in runs:
        value = signed(fmt, code)
        if isinstance(value, Fraction):
            found.append((value, count, at))
        at += count
    return found


def count_of(fmt, runs, test):
    return sum(count for code, count in runs if test(signed(fmt, code)))


def first_of(fmt, runs, test):
    at = 0
    for code, count in runs:
        if test(signed(fmt, code)):
            return [at]
        at += count
    return None


def is_subnormal(fmt, value):
    return fmt.is_float and isinstance(value, Fraction) and 0 < abs(value) < fmt.magnitude(fmt.normal_index())


def near(tally, subject, figure, want, slack=SLACK):
    """Compares a JSON figure with a rational, or with the root of one."""
    if figure is None:
        tally.check(subject, None, want)
        return
    got = Fraction(figure["value"])
    tally.check("%s: %s, not %s" % (subject, float(got), float(want)), abs(got - want) <= slack * abs(want), True)


def near_root(tally, subject, figure, square, slack=SLACK):
    got = Fraction(figure["value"]) ** 2
    tally.check("%s: %s, not %s" % (subject, float(got), float(square)), abs(got - square) <= 2 * slack * square, True)


# The commands.

def statistics(tally, program, named):
    answer = ask(program, "inspect", "a.safetensors", "--stats", "--histogram", "--each")["files"][0]
    for row in answer["tensors"]:
        name, got = row["name"], row["stats"]
        dtype, runs = named[name]
        fmt, n = FORMATS[DTYPES[dtype]], sum(count for _, count in runs)
        numbers = finite(fmt, runs)
        lowest, highest = min(v for v, _, _ in numbers), max(v for v, _, _ in numbers)
        known = sum(count for _, count, _ in numbers)
        want = {"elements": n, "finite": known, "nan": count_of(fmt, runs, lambda v: v == NAN),
                "inf": count_of(fmt, runs, lambda v: v in ("inf", "-inf")),
                "negative_inf": count_of(fmt, runs, lambda v: v == "-inf"), "zeros": count_of(fmt, runs, lambda v: v == 0),
                "negative": count_of(fmt, runs, lambda v: v == "-inf" or isinstance(v, Fraction) and v < 0),
                "subnormals": count_of(fmt, runs, lambda v: is_subnormal(fmt, v)),
                "first_nan_index": first_of(fmt, runs, lambda v: v == NAN),
                "first_inf_index": first_of(fmt, runs, lambda v: v in ("inf", "-inf")),
                "min_index": [min(at for v, _, at in numbers if v == lowest)],
                "max_index": [min(at for v, _, at in numbers if v == highest)]}
        for key, value in want.items():
            tally.check("%s: %s" % (name, key), got[key], value)
        tally.check(name + ": min", Fraction(got["min"]["exact"]), lowest)
        tally.check(name + ": max", Fraction(got["max"]["exact"]), highest)
        mean = sum(v * count for v, count, _ in numbers) / known
        near(tally, name + ": mean", got["mean"], mean)
        if max(abs(lowest), abs(highest)) < 2**500:     # squares that fp64 holds
            near_root(tally, name + ": standard deviation", got["standard_deviation"],
                      sum((v - mean) ** 2 * count for v, count, _ in numbers) / known)
        histogram(tally, name, row["histogram"], numbers)


def histogram(tally, name, got, numbers):
    binades = {}
    for value, count, _ in numbers:
        if value:
            binades[floor_log2(abs(value))] = binades.get(floor_log2(abs(value)), 0) + count
    tally.check(name + ": binades", {b["exponent"]: b["count"] for b in got["binades"]}, binades)
    for row in got["ranges"]:
        fmt = FORMATS[row["dtype"]]
        want = {"overflow": 0, "to_zero": 0, "to_subnormal": 0}
        for value, count, _ in numbers:
            if value == 0:
                continue
            code, flags = encode(fmt, "finite", value < 0, abs(value))
            stored = signed(fmt, code)
            want["overflow"] += count * bool(flags & OVERFLOW)
            want["to_zero"] += count * (stored == 0)
            want["to_subnormal"] += count * is_subnormal(fmt, stored)
        tally.check("%s: in the range of %s" % (name, row["dtype"]), {key: row[key] for key in want}, want)


def losses(tally, subject, fmt, got, n, pairs, specials, changed=0):
    """A loss in fmt, from (value, result, count) of finite numbers; changed: special values that became something
    else."""
    errors = [(abs(y - x), x, count) for x, y, count in pairs]
    compared = sum(count for _, _, count in errors)
    want = {"inexact": sum(count for e, _, count in errors if e) + changed, "compared": compared, "nan": specials.get(NAN, 0),
            "inf": specials.get(INF, 0), "to_zero": sum(count for x, y, count in pairs if x and not y)}
    tally.check(subject + ": elements", compared + sum(specials.values()), n)
    tally.check(subject, {key: got[key] for key in want}, want)
    slack = SLACK if fmt.width == 64 else SINGLES
    near(tally, subject + ": mean error", got["mean_absolute_error"], sum(e * count for e, _, count in errors) / compared, slack)
    near_root(tally, subject + ": root mean square", got["root_mean_square_error"],
              sum(e * e * count for e, _, count in errors) / compared, slack)


def specials_of(fmt, runs):
    return {NAN: count_of(fmt, runs, lambda v: v == NAN), INF: count_of(fmt, runs, lambda v: v in ("inf", "-inf"))}


def casts(tally, program, named):
    only = ["ones", "nan", "negative_subnormal", "halves", "tenths", "holes"]
    answer = ask(program, "cast", "a.safetensors", "fp8_e5m2", "-o", "out.safetensors", "--force", "--select", ",".join(only))
    target = FORMATS["fp8_e5m2"]
    for row in answer["tensors"]:
        dtype, runs = named[row["name"]]
        fmt = FORMATS[DTYPES[dtype]]
        if row["loss"] is None:
            tally.check(row["name"] + ": not cast", dtype, "F8_E5M2")
            continue
        pairs = [(v, signed(target, encode(target, "finite" if v else "zero", v < 0, abs(v))[0]), count)
                 for v, count, _ in finite(fmt, runs)]
        losses(tally, row["name"] + " cast", fmt, row["loss"], row["elements"], pairs, specials_of(fmt, runs))


def quantized(tally, program, named):
    """int8 with scales that clip everything except zeros, or nothing."""
    for scale in ("0x1p-10", "0x1p-5"):
        answer = ask(program, "quant", "a.safetensors", "int8", "--scale", scale, "-o", "out.safetensors", "--force", "--select",
                     "halves,lost,tenths,holes")
        step = Fraction(float.fromhex(scale))
        for row in answer["tensors"]:
            dtype, runs = named[row["name"]]
            fmt, subject = FORMATS[DTYPES[dtype]], "%s to int8 by %s" % (row["name"], scale)
            numbers = finite(fmt, runs)
            codes = [(v, max(-128, min(127, round(v / step))), count) for v, count, _ in numbers]
            specials = specials_of(fmt, runs)
            tally.check(subject + ": clipped", row["clipped"],
                        sum(count for v, code, count in codes if code != round(v / step)))
            tally.check(subject + ": special", row["special"], sum(specials.values()))
            losses(tally, subject, fmt, row["loss"], row["elements"], [(v, code * step, count) for v, code, count in codes],
                   specials, sum(specials.values()))


def comparisons(tally, program, named, against):
    answer = ask(program, "compare", "a.safetensors", "b.safetensors", "--only", ",".join(against))
    tally.check("tensors compared", sorted(row["a"]["name"] for row in answer["tensors"]), sorted(against))
    for row in answer["tensors"]:
        name, got = row["a"]["name"], row["figures"]
        dtype, runs = named[name]
        fmt, pairs, differing, unmatched, steps = FORMATS[DTYPES[dtype]], [], 0, 0, 0
        for a, b, count in together(runs, against[name][1]):
            x, y = signed(fmt, a), signed(fmt, b)
            differing += count * (x != y)
            if isinstance(x, Fraction) and isinstance(y, Fraction):
                pairs.append((x, y, count))
                ranks = [(code & ~fmt.sign_bit) * (-1 if code & fmt.sign_bit else 1) for code in (a, b)]
                steps = max(steps, abs(ranks[0] - ranks[1]))
            else:
                unmatched += count * (x != y)
        compared = sum(count for _, _, count in pairs)
        want = {"elements": sum(count for _, count in runs), "differing": differing, "unmatched": unmatched, "compared": compared}
        tally.check(name + " compared", {key: got[key] for key in want}, want)
        tally.check(name + ": steps", got["max_ulp"]["value"], float(steps))
        if name == "wide":      # beyond fp64
            continue
        near(tally, name + ": largest difference", got["max_absolute"], max(abs(x - y) for x, y, _ in pairs))
        near(tally, name + ": mean difference", got["mean_absolute"], sum(abs(x - y) * count for x, y, count in pairs) / compared)
        near_root(tally, name + ": root mean square", got["root_mean_square"],
                  sum((x - y) ** 2 * count for x, y, count in pairs) / compared)


def together(runs, other):
    """(code, other code, count) for two lists of runs."""
    left, right = [list(run) for run in runs], [list(run) for run in other]
    while left:
        count = min(left[0][1], right[0][1])
        yield left[0][0], right[0][0], count
        for side in (left, right):
            side[0][1] -= count
            if side[0][1] == 0:
                side.pop(0)


def main():
    program, long = harness.arguments()
    program = os.path.abspath(program)
    tally, n = harness.Tally(), LONG if long else PUSH
    named, against = tensors(n), others(n)
    with tempfile.TemporaryDirectory(prefix="dtinfo-large-") as folder:
        os.chdir(folder)
        write("a.safetensors", named)
        write("b.safetensors", against)
        statistics(tally, program, named)
        tally.part("statistics and histograms of %d elements" % n)
        comparisons(tally, program, named, against)
        tally.part("comparisons")
        casts(tally, program, named)
        tally.part("casts")
        quantized(tally, program, named)
        tally.part("quantization")
        if long:        # and where 32-bit counts would wrap around
            named = {"beyond": ("F8_E5M2", [(0x81, 1), (0, 2**32 + 3), (0x3C, 1)])}
            write("a.safetensors", named)
            statistics(tally, program, named)
            tally.part("more than 2^32 elements")
        os.chdir("/")
    tally.finish()


main()
