#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two builds of the program, for different machines, give the same bytes.

Numbers of all kinds, among them NaN with every payload, are cast, quantized, dequantized, scanned and calculated with
by both; output, messages, exit codes and files must be the same. Arithmetic of the machines differs in what it makes
of NaN (x86 and arm keep a payload, RISC-V none; x86's own NaN is negative), in conversions out of range, and in
what compilers contract.

    same_bytes.py build/dtinfo build-cross-riscv64/dtinfo --wrapper 'qemu-riscv64 -L build-cross-riscv64/root'
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROWS, COLUMNS = 8, 512
SIDES = {"a": [ROWS, COLUMNS], "b": [ROWS, COLUMNS], "t": [COLUMNS, ROWS], "v": [ROWS * COLUMNS]}  # files of numbers
FLOATS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1}
CASTS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e5m2", "fp8_e4m3fn", "fp8_e5m2fnuz", "fp8_e4m3fnuz", "fp8_e8m0", "fp6_e3m2",
         "fp4_e2m1", "hif8", "posit8", "posit16", "int4", "int8", "uint8", "int16", "int32", "int64", "uint64", "bool")
LAYOUTS = (
    "int8 --per channel", "int8", "uint8", "uint8 --per channel", "int4 --block 32", "uint4 --block 32", "int16 --per tensor",
    "int8 --per channel --division reciprocal", "int8 --per channel --division exact", "int8 --like torch", "uint8 --like onnx",
    "fp8_e4m3fn --per channel", "fp8_e5m2 --per tensor", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8",
    "mxfp4 --mx-scale ceil", "mxfp4 --mx-scale rceil", "mxfp4 --mx-scale even", "nvfp4", "nvfp4 --nv-scale four-six",
    "nvfp4 --nv-scale unrounded", "nvfp4 --division reciprocal", "nf4 --layout bitsandbytes",
    "nf4 --layout bitsandbytes --nested-absmax", "bnb_fp4 --layout bitsandbytes", "int8 --layout comfy",
    "int8 --layout comfy --convrot 256", "int4 --layout comfy --convrot 64", "mxfp8_e4m3 --layout comfy", "nvfp4 --layout modelopt")
GGUF = ("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs", "tq1_0", "tq2_0", "mxfp4",
        "q1_0", "q2_0", "nvfp4")
# types of ggml: number, numbers in a block, its bytes
BLOCKS = {"q4_0": (2, 32, 18), "q4_1": (3, 32, 20), "q5_0": (6, 32, 22), "q5_1": (7, 32, 24), "q8_0": (8, 32, 34), "q2_k": (10, 256, 84),
          "q3_k": (11, 256, 110), "q4_k": (12, 256, 144), "q5_k": (13, 256, 176), "q6_k": (14, 256, 210), "iq2_xxs": (16, 256, 66),
          "iq2_xs": (17, 256, 74), "iq3_xxs": (18, 256, 98), "iq1_s": (19, 256, 50), "iq4_nl": (20, 32, 18), "iq3_s": (21, 256, 110),
          "iq2_s": (22, 256, 82), "iq4_xs": (23, 256, 136), "iq1_m": (29, 256, 56), "tq1_0": (34, 256, 54), "tq2_0": (35, 256, 66),
          "mxfp4": (39, 32, 17)}
OPERATIONS = ("@a + @b", "@a - @b", "@a * @b", "@a / @b", "fma(@a, @b, @a)", "sqrt(@a)", "rsqrt(@a)", "floor(@a)", "round(@a)",
              "abs(@a)", "neg(@a)", "relu(@a)", "min(@a)", "max(@a)", "sum(@a)", "mean(@a)", "var(@a)", "rowsum(@a)",
              "rowmax(@a)", "matmul(@a, @t)", "dot(@v, @v)", "norm(@v)", "count(@a)")
FUNCTIONS = ("exp(@a)", "sin(@a)", "tanh(@a)", "softmax(@a)", "layernorm(@a)", "gelu(@a)")


def numbers(chance, size, kind):
    """The bytes of ROWS rows: random bits, or numbers of one binade or so, alone or with specials among them."""
    count = ROWS * COLUMNS
    if kind == "bits":
        return chance.randbytes(count * size)
    if size == 8:
        pack = "<d"
    elif size == 4:
        pack = "<f"
    else:
        pack = "<e"
    data = [struct.pack(pack, chance.gauss(0, 1)) for _ in range(count)]
    if kind == "specials":
        nan = {"<d": 0x7FF << 52, "<f": 0xFF << 23, "<e": 0x1F << 10}[pack]
        width = 8 * len(data[0])
        # a row of its own for each kind, so that others have numbers alone
        for i in range(0, COLUMNS, 5):
            data[i] = (nan | chance.getrandbits(width - 1) & (nan & -nan) - 1 | chance.getrandbits(1) << (width - 1)).to_bytes(
                width // 8, "little")  # NaN, seldom infinity
            data[COLUMNS + i] = (nan | chance.getrandbits(1) << (width - 1)).to_bytes(width // 8, "little")
            data[2 * COLUMNS + i] = (chance.getrandbits(1) << (width - 1)).to_bytes(width // 8, "little")
            data[3 * COLUMNS + i] = chance.getrandbits(width // 3).to_bytes(width // 8, "little")  # subnormal
        data[4 * COLUMNS + 7] = (nan | 1).to_bytes(width // 8, "little")  # one signalling NaN
        data[5 * COLUMNS + 7] = (nan | nan >> 1 | 5 | 1 << (width - 1)).to_bytes(width // 8, "little")
    return b"".join(data)


def write_safetensors(path, dtype, shape, data):
    text = json.dumps({"w": {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_gguf(path, number, data):
    def text(words):
        return struct.pack("<Q", len(words)) + words
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text(b"general.architecture") + struct.pack("<I", 8) + text(b"flux")
    head += text(b"w") + struct.pack("<IQQIQ", 2, COLUMNS, ROWS, number, 0)
    path.write_bytes(head + bytes(-len(head) % 32) + data)


def make_inputs(folder):
    chance = random.Random(1)
    for name, (number, length, size) in BLOCKS.items():
        write_gguf(folder / ("bits_%s.gguf" % name), number, chance.randbytes(ROWS * COLUMNS // length * size))
    for kind in ("bits", "plain", "specials"):
        for dtype, size in FLOATS.items():
            if kind != "bits" and dtype not in ("F64", "F32", "F16"):
                continue
            for side, shape in SIDES.items():
                write_safetensors(folder / ("%s_%s_%s.safetensors" % (kind, dtype, side)), dtype, shape, numbers(chance, size, kind))


def commands():
    """Lists of command lines; those of one list run one after the other in one folder."""
    for name in BLOCKS:
        yield ["quant bits_%s.gguf %s --dequant -o %s.safetensors" % (name, to, to) for to in ("fp32", "bf16", "fp16")]
    for kind in ("bits", "plain", "specials"):
        for dtype in FLOATS:
            if kind != "bits" and dtype not in ("F64", "F32", "F16"):
                continue
            a, b = ("%s_%s_%s.safetensors" % (kind, dtype, side) for side in "ab")
            for to in CASTS:
                yield ["cast %s %s --as raw -o out.bin" % (a, to), "cast %s %s --as raw -o s.bin -r stochastic --seed 3" % (a, to),
                       "cast %s %s --as raw -o z.bin -r zero --overflow saturate --nan canonical" % (a, to)]
            yield ["inspect --stats %s --json" % a, "check %s --json" % a, "compare %s %s --json" % (a, b)]
            if dtype in ("F64", "F8_E4M3", "F8_E5M2"):
                continue
            for layout in LAYOUTS:
                yield ["quant %s %s -o out.safetensors" % (a, layout), "quant out.safetensors fp32 --dequant -o back.safetensors",
                       "quant out.safetensors bf16 --dequant -o half.safetensors", "check out.safetensors --quantized --json",
                       "compare %s out.safetensors --json" % b]
            for layout in GGUF if kind == "plain" else ():  # it holds no NaN
                yield ["quant %s %s -o out.gguf --set general.architecture=flux --type '*=%s'" % (a, layout, layout), "quant out.gguf fp32 --dequant -o back.safetensors",
                       "inspect --stats out.gguf --json"]
            for operation in OPERATIONS:
                operation = re.sub(r"@([abtv])\b", r"@%s_%s_\1.safetensors" % (kind, dtype), operation)
                yield ["calc '%s' %s -o %s.npy --json --true-value never" % (operation, to, to) for to in ("fp32", "bf16", "fp8_e4m3fn")]
            for function in FUNCTIONS if kind == "specials" else ():
                yield ["calc '%s' bf16 --json --true-value never" % function.replace("@a", "@" + a)]


def results(program, inputs, lines):
    """What a list of commands leaves: a list of pairs of a name and its bytes."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dtinfo-same-"))
    found = []
    try:
        for path in inputs.iterdir():
            (folder / path.name).symlink_to(path)
        for line in lines:
            done = subprocess.run(["/bin/sh", "-c", program + " " + line], cwd=folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            found += [(line, done.stdout), ("messages of " + line, done.stderr), ("exit code of " + line, b"%d" % done.returncode)]
        for path in sorted(folder.iterdir()):
            if not path.is_symlink():
                found.append(("%s of %s" % (path.name, "; ".join(lines)), path.read_bytes()))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def show(name, want, got):
    """One line on where they differ."""
    if name.startswith("exit code") or len(want) < 200 and len(got) < 200:
        return "%s: %r, %r" % (name, want, got)
    first = next((i for i, (x, y) in enumerate(zip(want, got)) if x != y), min(len(want), len(got)))
    return "%s: %d and %d bytes, %d differ, the first at %d: %s, %s" % (
        name, len(want), len(got), sum(x != y for x, y in zip(want, got)), first, want[first - first % 4:][:40], got[first - first % 4:][:40])


def main():
    parser = argparse.ArgumentParser(description="two builds of the program give the same bytes")
    parser.add_argument("native", type=pathlib.Path)
    parser.add_argument("foreign", type=pathlib.Path)
    parser.add_argument("--wrapper", default="", help="runs the second, as in 'qemu-aarch64 -L root'")
    parser.add_argument("--only", default="", help="the lists of commands that contain this")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    programs = (str(options.native.resolve()), options.wrapper + " " + str(options.foreign.resolve()))
    wrong, checks, total = 0, 0, hashlib.sha256()
    with tempfile.TemporaryDirectory(prefix="dtinfo-inputs-") as name:
        inputs = pathlib.Path(name)
        make_inputs(inputs)
        lists = [lines for lines in commands() if options.only in " ".join(lines)]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for one, other in pool.map(lambda lines: [results(program, inputs, lines) for program in programs], lists):
                if [name for name, _ in one] != [name for name, _ in other]:
                    wrong += 1
                    print("other files of " + one[0][0])
                for (name, want), (_, got) in zip(one, other):
                    checks += 1
                    total.update(want)
                    if want != got:
                        wrong += 1
                        print(show(name, want, got), flush=True)
    print("%d outputs, messages, codes and files compared, %d differ" % (checks, wrong))
    return 1 if wrong or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
