#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of tensors: the cast of a large checkpoint compared with cp, dd and Python, the time of inspect, and
commands that read all data compared with loops of pread() or mmap().

    files.py DTINFO MEASURE READ_FLOOR NO_SYNC [--size 2GiB] [--rounds 5] [--tensors 100000]
             [--folder DIR] [--python PYTHON] [--no-python] [--parts cast,inspect,read]

Writes an fp32 file of the given size first, which stays in the page cache. The commands of a part are
interleaved, and medians are compared. Before each run, the output of the previous one is removed and
synced. "unsynced" is dtinfo with an fsync() that does nothing (NO_SYNC, preloaded), which matches cp and dd.
Python's recipes run in PYTHON, import time included; those whose packages are missing are left out.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

UNITS = {"kib": 10, "mib": 20, "gib": 30}
MIB = 1 << 20
READERS = (("copy", 256), ("copy", 1024), ("map", 4096))  # KiB
RECIPES = {
    # the obvious way
    "naive: torch load_file, to, save_file": """
import sys, torch
from safetensors.torch import load_file, save_file
tensors = load_file(sys.argv[1])
save_file({name: tensor.to(torch.bfloat16) for name, tensor in tensors.items()}, sys.argv[2])
""",
    "naive: numpy load_file, astype, save_file": """
import sys, ml_dtypes
from safetensors.numpy import load_file, save_file
tensors = load_file(sys.argv[1])
save_file({name: tensor.astype(ml_dtypes.bfloat16) for name, tensor in tensors.items()}, sys.argv[2])
""",
    "torch safe_open (mmap), to, save_file": """
import sys, torch
from safetensors import safe_open
from safetensors.torch import save_file
with safe_open(sys.argv[1], framework="pt") as source:
    save_file({name: source.get_tensor(name).to(torch.bfloat16) for name in source.keys()}, sys.argv[2])
""",
    # by hand: one tensor at a time from the mapping to the file, without keeping any in memory
    "torch frombuffer (mmap), to, write": """
import json, mmap, struct, sys, warnings
warnings.simplefilter("ignore")
import torch
with open(sys.argv[1], "rb") as file:
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
length = struct.unpack_from("<Q", data)[0]
header, new, end = json.loads(data[8:8 + length]), {}, 0
for name, row in header.items():
    size = (row["data_offsets"][1] - row["data_offsets"][0]) // 2
    new[name] = {"dtype": "BF16", "shape": row["shape"], "data_offsets": [end, end + size]}
    end += size
text = json.dumps(new).encode()
with open(sys.argv[2], "wb", buffering=0) as out:
    out.write(struct.pack("<Q", len(text)) + text)
    for row in header.values():
        begin, stop = row["data_offsets"]
        tensor = torch.frombuffer(data, dtype=torch.float32, offset=8 + length + begin,
                                  count=(stop - begin) // 4)
        out.write(memoryview(tensor.to(torch.bfloat16).view(torch.int16).numpy()))
""",
}


def parse_size(text):
    for unit, shift in UNITS.items():
        if text.lower().endswith(unit):
            return int(text[:-len(unit)]) << shift
    return int(text)


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.written = []
        self.missed = []

    def path(self, name):
        return str(self.folder / name)

    def once(self, words, quiet=False):
        """Returns (seconds, peak KiB) of a run, or None if it failed and quiet is set."""
        for name in self.written:
            if os.path.exists(name):
                os.unlink(name)
        os.sync()
        done = subprocess.run([self.options.measure, "1", "/dev/null", *words],
                              stdout=subprocess.PIPE, universal_newlines=True, check=True)
        _, nanoseconds, _, peak, status = map(int, done.stdout.split())
        if status != 0 and not quiet:
            sys.exit(f"{' '.join(words)[:200]}: wait status {status}")
        return (nanoseconds * 1e-9, peak) if status == 0 else None

    def turns(self, commands, rounds):
        """Interleaves the commands, each round in a random order, since earlier runs determine how much memory
        the system has free. Returns {what: (median seconds, highest peak KiB)}."""
        runs = {what: [] for what in commands}
        order, shuffle = list(commands), random.Random(1).shuffle
        for _ in range(rounds):
            shuffle(order)
            for what in order:
                runs[what].append(self.once(commands[what]))
        found = {}
        for what, results in runs.items():
            times = sorted(seconds for seconds, _ in results)
            found[what] = statistics.median(times), max(peak for _, peak in results)
            print("  %-44s %8.4f s  [%.4f .. %.4f]  %7.1f MiB" %
                  (what, found[what][0], times[0], times[-1], found[what][1] / 1024), flush=True)
        return found

    def target(self, what, figure, text, holds):
        print("  %-44s %-14s target %-22s %s" % (what, figure, text, "met" if holds else "MISSED"),
              flush=True)
        if not holds:
            self.missed.append(what)


def write_checkpoint(path, size):
    """Writes fp32 tensors of 64 MiB each, or a single smaller one, of repeated numbers. Returns the bytes of data."""
    each = 64 * MIB if size >= 64 * MIB else max(4096, size)
    source = random.Random(5)
    block = struct.pack("<262144f", *(source.gauss(0, 0.02) for _ in range(262144)))
    header, offset = {}, 0
    for number in range(max(1, size // each)):
        header["model.layers.%d.weight" % number] = {"dtype": "F32", "shape": [each // 4096, 1024],
                                                     "data_offsets": [offset, offset + each]}
        offset += each
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for begin in range(0, offset, len(block)):
            file.write(block[:offset - begin])
    return offset


def write_many(path, count):
    """Writes `count` tensors of two numbers each."""
    header = {"model.layers.%d.block_sparse_moe.experts.%d.w%d.weight" % (i // 24, i // 3 % 8, i % 3):
              {"dtype": "BF16", "shape": [1, 2], "data_offsets": [4 * i, 4 * i + 4]}
              for i in range(count)}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(4 * count))


def cast(bench, source, size):
    """Casts fp32 to bf16 with the loss report."""
    options, target = bench.options, bench.path("out.safetensors")
    bench.written = [target]
    words = [options.dtinfo, "cast", source, "bf16", "-o", target, "--force"]
    count = "count=%d" % (size // 2 // (4 * MIB) or 1)
    zeros = ["if=/dev/zero", "of=" + target, "bs=4M", count]
    tools = {tool: shutil.which(tool) for tool in ("cp", "dd", "env")}
    print(f"fp32 -> bf16, {size / MIB:.0f} MiB, warm page cache, report on, {options.rounds} rounds")
    commands = {"dtinfo, unsynced": [tools["env"], "LD_PRELOAD=" + options.no_sync, *words],
                "cp of the source": [tools["cp"], source, target],
                "dd of the output": [tools["dd"], *zeros],
                "dtinfo, synced": words,
                "dd of the output, fdatasync": [tools["dd"], *zeros, "conv=fdatasync"]}
    python = {}
    for name, script in RECIPES.items() if not options.no_python else ():
        recipe = [options.python, "-c", script, source, target]
        if bench.once(recipe, quiet=True):
            python[name] = recipe
        else:
            print(f"  left out, it does not run here: {name}")
    found = bench.turns({**commands, **python}, options.rounds)
    ours, synced = found["dtinfo, unsynced"][0], found["dtinfo, synced"]
    copy, floor = found["cp of the source"][0], found["dd of the output"][0]
    disk = found["dd of the output, fdatasync"][0]
    bench.target("against cp of the source", "%.2f x" % (ours / copy), "<= 1 x", ours <= copy)
    bench.target("against the page-cache write floor", "%.2f x" % (ours / floor), "<= 1.3 x",
                 ours <= 1.3 * floor)
    bench.target("synced, against dd conv=fdatasync", "%.2f x" % (synced[0] / disk), "<= 1.1 x",
                 synced[0] <= 1.1 * disk)
    bench.target("peak memory", "%.1f MiB" % (synced[1] / 1024), "<= 24 MiB", synced[1] <= 24 * 1024)
    if python:
        best = min(found[name][0] for name in python)
        slow = max((found[name][0] for name in python if name.startswith("naive")), default=0)
        bench.target("against Python's best recipe", "%.1f x" % (best / ours), ">= 5 x", best >= 5 * ours)
        bench.target("against the naive one", "%.1f x" % (slow / ours), ">= 20 x", slow >= 20 * ours)


def inspect(bench, source, many):
    options = bench.options
    bench.written = []
    print(f"inspect, headers alone: {options.tensors} tensors, and the large file")
    found = bench.turns({"large file": [options.dtinfo, "inspect", source],
                         "many tensors": [options.dtinfo, "inspect", many],
                         "many tensors, --tree": [options.dtinfo, "inspect", many, "--tree"],
                         "many tensors, --json": [options.dtinfo, "inspect", many, "--json"],
                         "check --valid of many": [options.dtinfo, "check", many],
                         "compare of many with themselves": [options.dtinfo, "compare", many, many]},
                        max(5, options.rounds))
    seconds = found["large file"][0]
    bench.target("the large file", "%.2f ms" % (1e3 * seconds), "< 5 ms", seconds < 5e-3)
    for what in ("many tensors", "many tensors, --tree", "many tensors, --json"):
        bench.target(what, "%.3f s" % found[what][0], "< 0.3 s", found[what][0] < 0.3)


def read(bench, source, size):
    """Reads all data on all cores, compared with loops that only read it."""
    options, copy = bench.options, bench.path("copy.safetensors")
    bench.written = []
    shutil.copyfile(source, copy)
    cores = str(len(os.sched_getaffinity(0)))
    print(f"reading {size / MIB:.0f} MiB with {cores} threads, two files for compare")
    floors = {f"{how} of one file, {block} KiB": [options.read_floor, how, cores, str(block << 10), source]
              for how, block in READERS}
    both = {f"{how} of both, {block} KiB": [options.read_floor, how, cores, str(block << 10), source, copy]
            for how, block in READERS}
    found = bench.turns({**floors, "inspect --stats": [options.dtinfo, "inspect", source, "--stats"],
                         "check --no-nan --fits fp16": [options.dtinfo, "check", source, "--no-nan",
                                                        "--fits", "fp16"],
                         **both, "compare": [options.dtinfo, "compare", source, copy]}, options.rounds)
    for what, rivals, files in (("inspect --stats", floors, 1),
                                ("check --no-nan --fits fp16", floors, 1), ("compare", both, 2)):
        floor, seconds = min(found[rival][0] for rival in rivals), found[what][0]
        mapped = min(found[rival][0] for rival in rivals if rival.startswith("map"))
        print("  %-44s %.1f GB/s of %.1f GB/s" % (what, files * size / seconds * 1e-9,
                                                  files * size / floor * 1e-9))
        bench.target(what, "%.0f %%" % (100 * floor / seconds), ">= 80 % of reading",
                     seconds * 0.8 <= floor)
        bench.target(what, "%.2f x" % (seconds / mapped), "<= 1.1 x a mapped sum", seconds <= 1.1 * mapped)
    os.unlink(copy)


def main():
    parser = argparse.ArgumentParser(description="casts and scans of large files beside other programs")
    parser.add_argument("dtinfo")
    parser.add_argument("measure")
    parser.add_argument("read_floor")
    parser.add_argument("no_sync")
    parser.add_argument("--size", default="2GiB", type=parse_size)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--tensors", default=100000, type=int)
    parser.add_argument("--folder", default=None, help="where the files are made")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--no-python", action="store_true")
    parser.add_argument("--parts", default="cast,inspect,read")
    options = parser.parse_args()
    for name in ("dtinfo", "measure", "read_floor", "no_sync"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="dtinfo-bench-") as name:
        if shutil.disk_usage(name).free < 3 * options.size:
            sys.exit(f"{name}: not enough room for three files of {options.size} bytes")
        bench = Bench(options, pathlib.Path(name))
        source, many = bench.path("source.safetensors"), bench.path("many.safetensors")
        size = write_checkpoint(source, options.size)
        write_many(many, options.tensors)
        os.sync()
        if "cast" in options.parts:
            cast(bench, source, size)
        if "inspect" in options.parts:
            inspect(bench, source, many)
        if "read" in options.parts:
            read(bench, source, size)
    print("all targets met" if not bench.missed else "missed: " + "; ".join(bench.missed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
