#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times dequantization to bf16 of sharded checkpoints of each layout, and of GGUF files of some types, on two threads,
compared with cp of the input and cp of the output.

    dequantize.py DTINFO MEASURE [--before DTINFO] [--layouts gptq,awq,...] [--rows N] [--columns N] [--tensors 3]
                  [--rounds 5] [--folder DIR]

Commands are interleaved, on files in memory if possible; medians are compared. The output has up to four times the
bytes of the input, and writing them is most of the work. The target is therefore a ratio: the time of cp of the output
divided by that of dtinfo. If other programs keep the CPUs busy, CPU time is more reliable: "on two CPUs" is the CPU
time of cp of the output divided by half that of dtinfo.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "makers"))
import make_checkpoint  # noqa: E402
from make_quantized import FINITE, LAYOUTS, write_checkpoint  # noqa: E402

TARGET = 0.7
# GGUF types: id, elements and bytes of a block
BLOCKS = {"q4_0": (2, 32, 18), "q8_0": (8, 32, 34), "q4_k": (12, 256, 144), "q6_k": (14, 256, 210), "iq4_nl": (20, 32, 18),
          "iq3_s": (21, 256, 110)}


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def write_gguf(path, layout, count, rows, columns):
    number, elements, size = BLOCKS[layout]
    data = FINITE * (rows * columns // elements * size // len(FINITE) + 1)
    tensors = [("w%d" % i, number, (rows, columns), data[:rows * columns // elements * size]) for i in range(count)]
    whole = make_checkpoint.gguf([("general.architecture", "string", "llama")], tensors)
    with open(path, "wb") as file:
        return file.write(whole)


def once(measure, words, out):
    """Runs a command. Returns its seconds and its seconds of CPU time."""
    remove(out)
    done = subprocess.run([measure, "1", "/dev/null", *words], stdout=subprocess.PIPE, universal_newlines=True, check=True)
    _, nanoseconds, cpu, _, status = map(int, done.stdout.split())
    if status != 0:
        sys.exit("%s: wait status %d" % (" ".join(words), status))
    return nanoseconds * 1e-9, cpu * 1e-9


def compare(options, folder, layout):
    ends = (".gguf", ".safetensors", ".safetensors") if layout in BLOCKS else ("", "", "")
    source, plain, out = (os.path.join(folder, name + end) for name, end in zip(("in", "plain", "out"), ends))
    for path in (source, plain):
        remove(path)
    rows, columns = (46080, 2880) if layout == "gpt-oss" else (8192, 8192)  # 8 experts at their real size
    write = write_gguf if layout in BLOCKS else write_checkpoint
    size = write(source, layout, options.tensors, options.rows or rows, options.columns or columns)
    words = [options.program, "quant", source, "bf16", "--dequant", "--threads", "2", "-q", "--no-copy", "-o"]
    subprocess.run(words + [plain], check=True)
    copy = shutil.which("cp")
    commands = {"ours": words + [out], "cp": [copy, "-r", source, out], "cp of the output": [copy, "-r", plain, out]}
    if options.before:
        commands["before"] = [options.before] + words[1:] + [out]
    runs = {what: [] for what in commands}
    for _ in range(options.rounds):
        for what, command in commands.items():
            runs[what].append(once(options.measure, command, out))
    wall, cpu = ({what: statistics.median(run[which] for run in runs[what]) for what in runs} for which in (0, 1))
    ratio = wall["cp of the output"] / wall["ours"]
    print("%-14s %4.0f MiB  %.3f s  of cp %.2f  of cp of the output %.2f  target %.1f %-6s  on two CPUs %.2f%s" %
          (layout, size / 2 ** 20, wall["ours"], wall["cp"] / wall["ours"], ratio, TARGET,
           "met" if ratio >= TARGET else "MISSED", 2 * cpu["cp of the output"] / cpu["ours"],
           "  before %.3f s, CPU %.3f -> %.3f s" % (wall["before"], cpu["before"], cpu["ours"]) if options.before else ""),
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("measure")
    parser.add_argument("--before")
    parser.add_argument("--layouts", default=",".join([*LAYOUTS, *BLOCKS]))
    for name, value in (("rows", 0), ("columns", 0), ("tensors", 3), ("rounds", 5)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--folder", default="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dtinfo-bench-", dir=options.folder) as folder:
        for layout in options.layouts.split(","):
            compare(options, folder, layout)


if __name__ == "__main__":
    main()
