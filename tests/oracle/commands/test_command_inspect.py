#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`dtinfo inspect --json` against the reference formats of tests/oracle, in exact rationals: header contents, totals,
sizes in other dtypes, statistics, exponents, and the effect of casts to narrower dtypes.

usage: test_command_inspect.py DTINFO
"""
import functools
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from fractions import Fraction

import formats
from formats import INF, NAN, OVERFLOW
from harness import QUICK
from make_checkpoint import SIZES, model, npy, npz, pack, safetensors, write_sharded

PROGRAM = os.path.abspath(sys.argv[1])
FORMATS = formats.build()
NAMES = {"F64": "fp64", "F32": "fp32", "F16": "fp16", "BF16": "bf16", "F8_E4M3": "fp8_e4m3fn",
         "F8_E5M2": "fp8_e5m2", "I64": "int64", "U64": "uint64", "I32": "int32", "U32": "uint32",
         "I16": "int16", "U16": "uint16", "I8": "int8", "U8": "uint8", "BOOL": "bool"}
LADDER = ["fp4_e2m1", "fp6_e2m3", "fp6_e3m2", "fp8_e4m3fn", "fp8_e5m2", "fp16", "bf16", "fp32", "fp64"]
RANGES = ["fp16", "bf16", "fp8_e4m3fn", "fp8_e5m2"]
SHAPE = [7, 30, 10] if QUICK else [10, 50, 10]
COUNT = math.prod(SHAPE)  # one or two tiles and a partial one
MEAN = Fraction(1, 10 ** 13)  # relative to the largest magnitude: sums within a tile are rounded
checks = 0


def require(holds, *details):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(" ".join(str(detail)[:300] for detail in details))


def answer(*words):
    done = subprocess.run([PROGRAM, "inspect", *words, "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    require(done.returncode == 0, words, done.returncode, done.stderr.decode())
    return json.loads(done.stdout)["files"][0]


def codes_of(dtype, data):
    size = SIZES[dtype]
    return [int.from_bytes(data[i:i + size], "little") for i in range(0, len(data), size)]


def draw(dtype, rng):
    """Codes of all kinds: numbers near one, arbitrary bits, special values."""
    fmt = FORMATS[NAMES[dtype]]
    if dtype == "BOOL":
        return [rng.randrange(2) for _ in range(COUNT)]
    codes = [rng.getrandbits(fmt.width) for _ in range(COUNT)]
    if fmt.is_float:
        for i in range(0, COUNT, 2):
            value = Fraction(rng.gauss(0, 1)) * Fraction(2) ** rng.randrange(-20, 10)
            codes[i] = formats.encode(fmt, "finite", value < 0, abs(value))[0]
        for i in range(7):
            codes[rng.randrange(COUNT)] = rng.choice([0, fmt.sign_bit, 1, 2])
    return codes


def number(twins):
    """The exact value of a number's twin members."""
    return None if twins is None else Fraction(twins["exact"])


def place(shape, index):
    out = []
    for size in reversed(shape):
        index, at = divmod(index, size)
        out.insert(0, at)
    return out


class Facts:
    """Expected statistics of an array, from the definitions."""

    def __init__(self, name, codes):
        fmt = FORMATS[name]
        smallest = Fraction(2) ** (1 - fmt.bias) if fmt.is_float else 0
        decoded = {code: fmt.decode(code) for code in set(codes)}
        self.format, self.codes = fmt, codes
        self.count = Counter()
        self.values = []  # (value, index) of the finite elements
        self.first = {}
        for index, code in enumerate(codes):
            cls, negative, value = decoded[code]
            if cls in (NAN, INF):
                self.count[cls] += 1
                self.count["negative_inf"] += cls == INF and negative
                self.count["negative"] += cls == INF and negative
                self.first.setdefault(cls, index)
                continue
            value = -abs(value) if negative else abs(value)
            self.count["zeros"] += value == 0
            self.count["negative"] += value < 0
            self.count["subnormals"] += 0 < abs(value) < smallest
            self.values.append((value, index))

    @functools.lru_cache(maxsize=None)
    def fates(self, name):
        """How many numbers overflow, become zero, or become subnormal in a dtype; each rounded individually."""
        target = FORMATS[name]
        smallest = Fraction(2) ** (1 - target.bias)
        fate, count = {}, Counter()
        for value, _ in self.values:
            magnitude = abs(value)
            if magnitude not in fate:
                code, flags = formats.encode(target, "zero" if value == 0 else "finite", False, magnitude)[:2]
                stored = target.decode(code)[2]
                fate[magnitude] = "overflow" if flags & OVERFLOW else "" if value == 0 else \
                    "to_zero" if stored == 0 else "to_subnormal" if stored < smallest else ""
            count[fate[magnitude]] += 1
        return count


def check_statistics(got, facts, shape, name):
    values = facts.values
    require(got["elements"] == len(facts.codes) and got["finite"] == len(values), name, "elements")
    for key, cls in (("nan", NAN), ("inf", INF), ("negative_inf", "negative_inf"), ("zeros", "zeros"),
                     ("negative", "negative"), ("subnormals", "subnormals")):
        require(got[key] == facts.count[cls], name, key, got[key], facts.count[cls])
    for key, cls in (("first_nan_index", NAN), ("first_inf_index", INF)):
        wanted = place(shape, facts.first[cls]) if cls in facts.first else None
        require(got[key] == wanted, name, key, got[key], wanted)
    if not values:
        require(all(got[key] is None for key in ("min", "max", "absmax", "mean", "min_index")), name)
        return
    for key, value in (("min", min(v for v, _ in values)), ("max", max(v for v, _ in values)),
                       ("absmax", max(abs(v) for v, _ in values))):
        sized = [(abs(v) if key == "absmax" else v, i) for v, i in values]
        wanted = place(shape, next(i for v, i in sized if v == value))
        require(number(got[key]) == value, name, key, got[key], value)
        require(got[key + "_index"] == wanted, name, key, got[key + "_index"], wanted)
    largest = max(abs(v) for v, _ in values)
    mean = sum(v for v, _ in values) / len(values)
    require(abs(number(got["mean"]) - mean) <= MEAN * largest, name, got["mean"], float(mean))
    variance = sum((v - mean) ** 2 for v, _ in values) / len(values)
    if got["standard_deviation"] is None:
        require(largest > Fraction(2) ** 500, name, "there is no deviation")
        return
    deviation = number(got["standard_deviation"])
    require(abs(deviation ** 2 - variance) <= 4 * MEAN * largest ** 2, name, got["standard_deviation"])


def check_fits(got, facts, name):
    wanted = []
    extremes = [max(facts.values), min(facts.values)] if facts.values else []
    for target in LADDER:
        fmt = FORMATS[target]
        over = any(formats.encode(fmt, "zero" if v == 0 else "finite", v < 0, abs(v))[1] & OVERFLOW
                   for v, _ in extremes)
        special = (facts.count[NAN] and not fmt.nan) or (facts.count[INF] and not fmt.inf)
        wanted += [] if over or special else [target]
    require(got["fits"] == wanted, name, got["fits"], wanted)


def check_histogram(got, facts, name):
    wanted = Counter(formats.floor_log2(abs(v)) for v, _ in facts.values if v != 0)
    require({row["exponent"]: row["count"] for row in got["binades"]} == wanted, name, "binades")
    require([row["exponent"] for row in got["binades"]] == sorted(wanted), name, "order")
    require(got["finite"] == len(facts.values) and got["zeros"] == facts.count["zeros"], name)
    for row, dtype in zip(got["ranges"], RANGES):
        fates = facts.fates(dtype)
        for key in ("overflow", "to_zero", "to_subnormal"):
            require(row["dtype"] == dtype and row[key] == fates[key], name, dtype, key, row[key],
                    fates[key])


def check_all(folder):
    """Tensors of every dtype of safetensors, alone and together."""
    rng = random.Random(5)
    arrays = [(dtype, draw(dtype, rng)) for dtype in NAMES]
    arrays += [("F32", [0x7FC00000] * COUNT), ("F32", [0x80000000] * COUNT)]
    tensors = [("%s.%d" % (dtype, i), dtype, SHAPE,
                b"".join(code.to_bytes(SIZES[dtype], "little") for code in codes))
               for i, (dtype, codes) in enumerate(arrays)]
    path = folder / "all.safetensors"
    path.write_bytes(safetensors(tensors))
    facts_of = [Facts(NAMES[dtype], codes) for dtype, codes in arrays]
    for more in (["--threads", "1"], ["--threads", "2", "--max-memory", "64KiB"]):
        file = answer(str(path), "--stats", "--histogram", "--each", *more)
        together = Counter()
        for got, (dtype, _), facts in zip(file["tensors"], arrays, facts_of):
            check_statistics(got["stats"], facts, SHAPE, got["name"])
            check_fits(got["stats"], facts, got["name"])
            if dtype not in ("F64", "I64", "U64"):  # their rationals are slow
                check_histogram(got["histogram"], facts, got["name"])
            for key in ("elements", "finite", "nan", "inf", "zeros", "negative", "subnormals"):
                together[key] += got["stats"][key]
            for row in got["histogram"]["binades"]:
                together[row["exponent"]] += row["count"]
        whole = file["stats"]
        require(all(whole[key] == together[key] for key in ("elements", "finite", "nan", "inf", "zeros",
                                                            "negative", "subnormals")), "all tensors")
        every = [got["stats"] for got in file["tensors"] if got["stats"]["finite"] > 0]
        for key, choose in (("min", min), ("max", max), ("absmax", max)):
            require(number(whole[key]) == choose(number(one[key]) for one in every), "all", key)
        require(whole["fits"] == [name for name in LADDER if all(name in one["fits"] for one in every)],
                "all", whole["fits"])
        for row in file["histogram"]["binades"]:
            require(row["count"] == together[row["exponent"]], "all tensors", row)
    return file


def check_together(folder):
    """Mean and deviation of several tensors are those of all their elements together."""
    rng = random.Random(6)
    parts = [[rng.gauss(around, 2.0) for _ in range(size)] for around, size in ((0, 700), (100, 40))]
    values = [Fraction(v) for part in parts for v in part]
    tensors = [("t%d" % i, "F64", [len(part)], pack("F64", part)) for i, part in enumerate(parts)]
    (folder / "two.safetensors").write_bytes(safetensors(tensors))
    answers = [answer(str(folder / "two.safetensors"), "--stats", *more)["stats"]
               for more in ([], ["--reverse"], ["--sort", "elements", "--threads", "2"])]
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / len(values)
    require(answers[0] == answers[1] == answers[2], "the order changes the sums")
    require(math.isclose(answers[0]["mean"]["value"], mean, rel_tol=1e-13), answers[0]["mean"])
    require(math.isclose(answers[0]["standard_deviation"]["value"], math.sqrt(variance), rel_tol=1e-13),
            answers[0]["standard_deviation"])
    require(answers[0]["max_tensor"] == "t1" and answers[0]["min_tensor"] == "t0", answers[0])


def bytes_as(dtype, shape):
    elements = math.prod(shape)
    if dtype == "mxfp4":
        return 0 if elements == 0 else elements // shape[-1] * -(-shape[-1] // 32) * 17
    return elements * {"fp32": 4, "bf16": 2, "fp8_e4m3fn": 1}[dtype]


def check_header(folder):
    """Names, places and totals of a checkpoint, as one file and in two shards."""
    tensors = model(2)
    (folder / "model.safetensors").write_bytes(safetensors(tensors, {"format": "pt"}))
    write_sharded(folder)
    for path in (folder / "model.safetensors", folder / "model.safetensors.index.json"):
        file = answer(str(path))
        got = sorted(file["tensors"], key=lambda one: one["name"])
        for one, (name, dtype, shape, data) in zip(got, sorted(tensors)):
            raw = (folder / file["shards"][one["file"]]["path"]).read_bytes()
            require((one["name"], one["dtype"], one["stored_as"], one["shape"]) ==
                    (name, NAMES[dtype], dtype, shape), one)
            require(raw[one["offset"]:one["offset"] + one["bytes"]] == data, name, "is elsewhere")
            require(one["stats"] is None and one["histogram"] is None and one["order"] == "row-major", one)
        require(len(got) == len(tensors) == file["tensor_count"] == file["totals"]["tensors"], path)
        floats = [one for one in tensors if one[1] != "I64"]
        require(file["totals"]["parameters"] == sum(math.prod(one[2]) for one in floats), file["totals"])
        require(file["totals"]["other_elements"] == 64, file["totals"])
        require(file["totals"]["bytes"] == file["data_bytes"] == sum(len(one[3]) for one in tensors))
        require(file["bytes"] == file["header_bytes"] + file["data_bytes"], "bytes", file["bytes"])
        for dtype, size in file["sizes_as"].items():
            require(size == 512 + sum(bytes_as(dtype, one[2]) for one in floats), dtype, size)
        groups = {group["dtype"]: group for group in file["by_dtype"]}
        for dtype in ("F32", "BF16", "I64"):
            mine = [one for one in tensors if one[1] == dtype]
            require(groups[NAMES[dtype]] == {
                "dtype": NAMES[dtype], "tensors": len(mine), "bytes": sum(len(one[3]) for one in mine),
                "elements": sum(math.prod(one[2]) for one in mine)}, groups[NAMES[dtype]])
        require([(one["key"], one["value"], one["kind"]) for one in file["metadata"]] ==
                [("format", "pt", "string")], file["metadata"])


def check_selection(folder):
    """--only, --grep and --sort against Python's fnmatch, re and sorted."""
    path = str(folder / "model.safetensors")
    names = [one[0] for one in model(2)]
    for words, wanted in (
            (["--grep", "(q|k)_proj"], [n for n in names if re.search("(q|k)_proj", n)]),
            (["--only", "*.1.*,lm_head.weight"], [n for n in names if ".1." in n or n == names[-1]]),
            (["--only", "*.0.*", "--grep", "norm"], [n for n in names if ".0." in n and "norm" in n]),
            (["--reverse"], names[::-1]), (["--sort", "name"], sorted(names)),
            (["--sort", "size"], [n for n, *_ in sorted(model(2), key=lambda one: -len(one[3]))]),
            (["--sort", "dtype"], [n for n, *_ in sorted(model(2), key=lambda one: NAMES[one[1]])])):
        got = [one["name"] for one in answer(path, *words)["tensors"]]
        require(got == wanted, words, got, wanted)


def check_orders(folder):
    """Fortran-order, big-endian and deflated arrays have the same contents as plain ones."""
    values = [float(i * i) for i in range(12)]
    swapped = b"".join(pack("F32", [v])[::-1] for v in values)
    columns = pack("F32", [values[r * 4 + c] for c in range(4) for r in range(3)])
    arrays = {"plain": npy("<f4", (3, 4), pack("F32", values)), "big": npy(">f4", (3, 4), swapped),
              "columns": npy("<f4", (3, 4), columns, fortran=True)}
    for deflated in (False, True):
        (folder / "orders.npz").write_bytes(npz(arrays, deflated))
        file = answer(str(folder / "orders.npz"), "--stats")
        plain, big, fortran = file["tensors"]
        require((big["byte_order"], fortran["order"]) == ("big", "fortran"), big, fortran)
        require(all(one["compressed"] == deflated for one in file["tensors"]), "compressed")
        for one in (plain, big, fortran):
            stats = one["stats"]
            require((number(stats["max"]), stats["max_index"], stats["min_index"]) ==
                    (121, [2, 3], [0, 0]), stats)
            require(stats["mean"] == plain["stats"]["mean"], stats)


def main():
    with tempfile.TemporaryDirectory(prefix="dtinfo-inspect-") as name:
        folder = pathlib.Path(name)
        for check in (check_header, check_selection, check_orders, check_together, check_all):
            check(folder)
    print("%d checks" % checks)
    return 0 if checks > 500 else 1


if __name__ == "__main__":
    sys.exit(main())
