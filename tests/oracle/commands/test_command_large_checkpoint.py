#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A checkpoint of 20 GiB, fp8 in blocks of 128 x 128 and bf16, dequantized, then cast: checks memory, the index and
sampled numbers. Most codes are file holes, which take no space; the output takes up to 30 GiB.

    test_command_large_checkpoint.py DTINFO MEASURE [--gib 20] [--folder DIR]

Skipped if the folder (by default $TMPDIR or /tmp) lacks the space.
"""
import argparse
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

from make_quantized import FINITE, write_files
from survival import MEASURE, PROGRAM, environment

GIB = 1 << 30
ROWS, COLUMNS, SHARDS = 4096, 7168, 40  # 28 MiB of fp8
BF16 = struct.pack("<1021H", *(0x3C00 + 5 * (i % 97) for i in range(1021)))
SCALES = struct.pack("<7f", 0.5, 0.25, 1.5, 2.0, 0.75, 3.0, 0.125)
MOST_KIB = 64 << 10
RANDOM = random.Random(18)
CHECKS = 0


def require(holds, *words):
    global CHECKS
    CHECKS += 1
    if not holds:
        sys.exit("FAILED: " + " ".join(map(str, words)))


def e4m3(code):
    """Decodes a code of fp8_e4m3fn; none here is NaN."""
    exponent, mantissa = code >> 3 & 15, code & 7
    size = mantissa * 2.0 ** -9 if exponent == 0 else (8 + mantissa) * 2.0 ** (exponent - 10)
    return -size if code & 128 else size


def to_bf16(value):
    """Rounds to nearest even; the numbers here are fp32."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16 & 0xFFFF


def make(folder, gib):
    """Half of the bytes as fp8 with scales in the next shard, half as bf16. Every tenth tensor has nonzero numbers."""
    layers = gib * GIB // 2 // (ROWS * COLUMNS)
    files = [{} for _ in range(SHARDS)]
    for i in range(layers):
        at, sampled = i * SHARDS // layers, i % 10 == 3
        name = "model.layers.%d.mlp.up_proj.weight" % i
        files[at][name] = ("F8_E4M3", [ROWS, COLUMNS], FINITE if sampled else None)
        files[(at + 1) % SHARDS][name + "_scale_inv"] = ("F32", [ROWS // 128, COLUMNS // 128], SCALES)
        files[at]["model.layers.%d.norm.weight" % i] = ("BF16", [ROWS // 2, COLUMNS], BF16 if sampled else None)
    config = {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}
    total = write_files(folder, files, {"model_type": "deepseek_v3", "quantization_config": config})
    return total, files


def run(words):
    """Returns the peak memory in KiB; a failure ends the test."""
    done = subprocess.run([MEASURE, "1", "/dev/null", PROGRAM] + words, env=environment(), stdout=subprocess.PIPE, check=True)
    _, nanoseconds, _, peak, status = map(int, done.stdout.split())
    require(status == 0, "wait status", status, words)
    print("%-60s %6.1f s  %5.1f MiB" % (" ".join(words[:4]), nanoseconds * 1e-9, peak / 1024), flush=True)
    return peak


class Folder:
    """The written output, read through its index."""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(path, "model.safetensors.index.json")) as file:
            self.index = json.load(file)
        self.places = {}
        for name in sorted(set(self.index["weight_map"].values())):
            with open(os.path.join(path, name), "rb") as file:
                length = struct.unpack("<Q", file.read(8))[0]
                header = json.loads(file.read(length))
            for tensor, entry in header.items():
                if tensor != "__metadata__":
                    self.places[tensor] = name, 8 + length + entry["data_offsets"][0], entry

    def code(self, tensor, element, size):
        name, begin, _ = self.places[tensor]
        with open(os.path.join(self.path, name), "rb") as file:
            file.seek(begin + element * size)
            return int.from_bytes(file.read(size), "little")


def check_index(out, wanted, dtype):
    """Every tensor is in the file that the index names, with its shape; and the sum of their bytes."""
    require(set(out.places) == set(wanted) == set(out.index["weight_map"]), "tensors", len(out.places), len(wanted))
    total = 0
    for tensor, (_, shape, _) in wanted.items():
        name, _, entry = out.places[tensor]
        require(out.index["weight_map"][tensor] == name, tensor, "is in", name)
        require(entry["shape"] == shape and entry["dtype"] == dtype(tensor), tensor, entry)
        total += entry["data_offsets"][1] - entry["data_offsets"][0]
    require(out.index["metadata"]["total_size"] == total, "total_size", out.index["metadata"], total)


def sampled(wanted):
    for tensor, part in wanted.items():
        count = part[1][0] * part[1][1]
        for _ in range(16 if part[2] is not None else 2):
            yield tensor, part, RANDOM.choice((0, count - 1, RANDOM.randrange(count)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("measure")
    parser.add_argument("--gib", type=int, default=20)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    options = parser.parse_args()
    room = os.statvfs(options.folder)
    if room.f_bavail * room.f_frsize < options.gib * 17 // 10 * GIB:
        print("skipped: %s has less than %d GiB" % (options.folder, options.gib * 17 // 10))
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="dtinfo-large-", dir=options.folder) as folder:
        source, plain, half = (os.path.join(folder, name) for name in ("in", "plain", "half"))
        total, files = make(source, options.gib)
        print("%d tensors, %.1f GiB" % (sum(map(len, files)), total / GIB), flush=True)
        wanted = {name: part for parts in files for name, part in parts.items() if not name.endswith("_inv")}

        require(run(["quant", source, "bf16", "--dequant", "-o", plain, "-q"]) <= MOST_KIB, "memory")
        out = Folder(plain)
        check_index(out, wanted, lambda tensor: "BF16")
        for tensor, (dtype, shape, pattern), element in sampled(wanted):
            got = out.code(tensor, element, 2)
            if pattern is None:
                require(got == 0, tensor, element, got)
            elif dtype == "BF16":
                require(got == struct.unpack_from("<H", BF16, element % 1021 * 2)[0], tensor, element, got)
            else:
                row, column = divmod(element, shape[1])
                scale = struct.unpack_from("<f", SCALES, (row // 128 * (shape[1] // 128) + column // 128) % 7 * 4)[0]
                value = e4m3(FINITE[element % len(FINITE)]) * scale
                require(got == to_bf16(value), tensor, element, got, value)
        with open(os.path.join(plain, "config.json")) as file:
            require(json.load(file) == {"model_type": "deepseek_v3"}, "config.json")
        shutil.rmtree(plain)

        require(run(["cast", source, "fp16", "-o", half, "-q", "--keep", "*.up_proj.*"]) <= MOST_KIB, "memory")
        out = Folder(half)
        everything = {name: part for parts in files for name, part in parts.items()}
        check_index(out, everything, lambda tensor: {"BF16": "F16", "F32": "F32" if "up_proj" in tensor else "F16"}.get(
            everything[tensor][0], everything[tensor][0]))
        for tensor, (dtype, _, pattern), element in sampled(wanted):
            got = out.code(tensor, element, 1 if dtype == "F8_E4M3" else 2)
            if pattern is None:
                require(got == 0, tensor, element, got)
            elif dtype == "F8_E4M3":
                require(got == FINITE[element % len(FINITE)], tensor, element, got)
            else:
                code = struct.unpack_from("<H", BF16, element % 1021 * 2)[0]
                value = struct.unpack("<f", struct.pack("<I", code << 16))[0]
                require(got == int.from_bytes(struct.pack("<e", value), "little"), tensor, element, got)
    print("%d checks, 0 differences" % CHECKS)


if __name__ == "__main__":
    main()
