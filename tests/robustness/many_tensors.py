#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of very many small tensors: memory is a fixed number of bytes a tensor, a header that would be too long is
refused before any work, and shards of a given size hold what one file would."""
import json
import os
import struct
import sys

from file_casts import folder
from survival import SANITIZED, check, main, peak_kib, require, require_one_line, run

FEW, MANY = 2000, 22000
# most bytes of a tensor before quantization; three are stored for it. Names have 14 bytes.
MOST = {"quant": 430, "check": 600, "transcode": 620, "inspect": 680, "compare": 1520}
LIMIT = 100000000


def make(path, count, name="t%07d.weight", rows=4, columns=16):
    size = 2 * rows * columns
    header = json.dumps({name % i: {"dtype": "BF16", "shape": [rows, columns], "data_offsets": [i * size, (i + 1) * size]}
                         for i in range(count)}, separators=(",", ":")).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for i in range(count):
            file.write(struct.pack("<%dH" % (rows * columns), *(0x3C00 + (i * 31 + k * 7) % 300 for k in range(rows * columns))))


def commands(count):
    return {"quant": ["quant", "in%d.safetensors" % count, "nvfp4", "-o", "q%d.safetensors" % count, "-q"],
            "check": ["check", "q%d.safetensors" % count, "--quantized", "-q"],
            "transcode": ["transcode", "q%d.safetensors" % count, "--to", "modelopt", "-o", "t%d.safetensors" % count, "-q"],
            "inspect": ["inspect", "q%d.safetensors" % count, "-q"],
            "compare": ["compare", "q%d.safetensors" % count, "q%d.safetensors" % count, "-q"]}


def read(path):
    """The tensors of a file: dtype, shape and bytes by name; the length of its header."""
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])]) for name, entry in header.items()}, length


@check
def memory_is_a_fixed_number_of_bytes_a_tensor():
    if SANITIZED:
        print("        skipped: sanitizers take memory of their own")
        return
    with folder():
        for count in (FEW, MANY):
            make("in%d.safetensors" % count, count)
        for verb in commands(FEW):
            peaks = []
            for count in (FEW, MANY):
                code, kib, _ = peak_kib(commands(count)[verb] + ["--threads", "1"] * (verb != "inspect"), b"")
                require(code == 0, verb, "exit code", code)
                peaks.append(kib)
            each = (peaks[1] - peaks[0]) * 1024 / (MANY - FEW)
            print("        %-10s %5.0f bytes a tensor, at most %d" % (verb, each, MOST[verb]))
            require(each <= MOST[verb], verb, "bytes a tensor", each)


@check
def a_header_that_is_too_long_is_refused_before_any_work():
    with folder():
        make("in.safetensors", 60000, "t%07d" + 1000 * "a" + ".weight", 1, 16)
        before = sorted(os.listdir("."))
        done = run(["quant", "in.safetensors", "nvfp4", "-o", "out.safetensors"])
        require(done.code == 3, "exit code", done.code, done.stderr)
        line = require_one_line(done, 3)
        require("than the %d bytes that safetensors allows" % LIMIT in line and "shard" in line, line)
        require(sorted(os.listdir(".")) == before, "files", os.listdir("."))
        done = run(["quant", "in.safetensors", "nvfp4", "-o", "out", "--max-shard-size", "4GiB", "-q"])
        require(done.code == 0, "exit code", done.code, done.stderr)
        names = set()
        for name in sorted(os.listdir("out")):
            if name.endswith(".json"):
                with open("out/" + name) as file:
                    index = json.load(file)["weight_map"]
                continue
            tensors, length = read("out/" + name)
            require(length <= LIMIT, name, "header", length)
            names.update((tensor, name) for tensor in tensors)
        require(names == set(index.items()) and len(index) == 180000, "index", len(index), len(names))


@check
def shards_hold_what_one_file_would():
    with folder():
        make("in.safetensors", 3000)
        for recipe in (["quant", "in.safetensors", "nvfp4"], ["cast", "in.safetensors", "fp32"]):
            require(run(recipe + ["-o", "one.safetensors", "-q", "--force"]).code == 0, "exit code", recipe)
            whole, _ = read("one.safetensors")
            for most in (3000, 50000, 10 ** 9):
                out = "%s-%d" % (recipe[0], most)
                require(run(recipe + ["-o", out, "-q", "--max-shard-size", str(most)]).code == 0, "exit code", recipe, most)
                shards = sorted(name for name in os.listdir(out) if name.endswith(".safetensors"))
                require(shards == ["model-%05d-of-%05d.safetensors" % (i + 1, len(shards)) for i in range(len(shards))], "names", shards)
                require((len(shards) == 1) == (most == 10 ** 9), "shards", most, len(shards))
                found, stems = {}, {}
                for shard in shards:
                    require(os.path.getsize(out + "/" + shard) <= most, shard, os.path.getsize(out + "/" + shard))
                    tensors, _ = read(out + "/" + shard)
                    for name, tensor in tensors.items():
                        require(found.setdefault(name, tensor) is tensor, "twice", name)
                        require(stems.setdefault(name[:8], shard) == shard, "parts in two shards", name)
                require(found == whole, "other tensors", recipe, most)
                with open(out + "/model.safetensors.index.json") as file:
                    index = json.load(file)
                require(index["metadata"]["total_size"] == sum(len(tensor[2]) for tensor in whole.values()), "metadata", index["metadata"])
                require({name: stems[name[:8]] for name in whole} == index["weight_map"], "index")


if __name__ == "__main__":
    sys.exit(main())
