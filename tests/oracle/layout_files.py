# SPDX-License-Identifier: MIT
"""Files of quantized tensors for tests of the read-only layouts: written from numpy arrays, dequantized by the
program, and compared bit for bit."""
import json
import os
import shutil
import subprocess

import numpy as np
from tensor_files import read_file, write_file

TYPES = {"int8": "I8", "uint8": "U8", "int32": "I32", "int64": "I64", "float32": "F32", "float16": "F16"}


def floats(exponent, mantissa, bias):
    """The numbers of a small float's codes; the caller must avoid codes beyond the finite ones."""
    codes = np.arange(1 << (1 + exponent + mantissa))
    rest = codes & ((1 << (exponent + mantissa)) - 1)
    e, m = rest >> mantissa, (rest & ((1 << mantissa) - 1)).astype(np.float32)
    number = np.where(e == 0, np.ldexp(m, 1 - bias - mantissa), np.ldexp(1 + m / (1 << mantissa), e - bias))
    return np.where(codes >> (exponent + mantissa), -number, number).astype(np.float32)


E4M3, E5M2, E2M1 = floats(4, 3, 7), floats(5, 2, 15), floats(2, 1, 1)
E4M3[[0x7f, 0xff]] = np.nan
E5M2[[c for c in range(256) if c & 0x7c == 0x7c]] = np.nan


def tiles(scales):
    """Scales in the order that matrix kernels expect, by NVIDIA's description: tiles of 128 x 4, in which row r is at
    r % 32 * 16 + r / 32 * 4."""
    rows, columns = scales.shape
    down, right = -(-rows // 128), -(-columns // 4)
    result = np.zeros(down * right * 512, scales.dtype)
    for row in range(rows):
        for column in range(columns):
            tile = row // 128 * right + column // 4
            result[tile * 512 + row % 32 * 16 + row % 128 // 32 * 4 + column % 4] = scales[row, column]
    return result.reshape(down * 128, right * 4)


def part(array):
    """An array, or (dtype as the format spells it, array of the same bytes)."""
    dtype, array = array if isinstance(array, tuple) else (TYPES[array.dtype.name], array)
    return dtype, array.shape, np.ascontiguousarray(array).tobytes()


class Reader:
    def __init__(self, program, tally):
        self.program, self.tally = program, tally

    def write(self, tensors, metadata=None, config=None):
        shutil.rmtree("case", ignore_errors=True)
        os.mkdir("case")
        write_file("case/m.safetensors", {name: part(array) for name, array in tensors.items()}, metadata)
        if config is not None:
            with open("case/config.json", "w") as file:
                json.dump(config, file)

    def run(self, *words):
        return subprocess.run([self.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def read(self, tensors, want, metadata=None, config=None, dtype="fp32", what=""):
        """want: every tensor of the result. bf16 is compared as its bits in uint16."""
        self.write(tensors, metadata, config)
        done = self.run("quant", "case/m.safetensors", dtype, "--dequant", "-o", "case/out.safetensors", "-q")
        if done.returncode:
            return self.tally.check(what + ": is read", done.stderr.decode(), "")
        back = read_file("case/out.safetensors")
        self.tally.check(what + ": names", sorted(back), sorted(want))
        kind = {"fp32": np.float32, "fp16": np.float16, "bf16": np.uint16}[dtype]
        for name, numbers in want.items():
            if name not in back:
                continue
            ours = np.frombuffer(back[name][2], kind).reshape(back[name][1])
            theirs = np.asarray(numbers, kind)
            self.tally.checked += theirs.size
            if ours.shape != theirs.shape:
                self.tally.differ("%s: shape of %s" % (what, name), ours.shape, theirs.shape)
            elif ours.tobytes() != theirs.tobytes():
                at = tuple(np.argwhere(ours.view("u%d" % ours.itemsize) != theirs.view("u%d" % ours.itemsize))[0])
                self.tally.differ("%s: %s at %s" % (what, name, at), ours[at], theirs[at])

    def refuse(self, tensors, words, metadata=None, config=None, what="", logical=True):
        """Requires one printable error line with these words; inspect must show the tensors as stored."""
        self.write(tensors, metadata, config)
        done = self.run("quant", "case/m.safetensors", "fp32", "--dequant", "-o", "case/out.safetensors", "-q")
        text = done.stderr.decode()
        self.tally.check("%s: is refused with %r" % (what, words),
                         (done.returncode in (2, 3), words in text, os.path.exists("case/out.safetensors")),
                         (True, True, False)) or (words in text or print("   ", text))
        self.tally.check("%s: one line" % what, (text.count("\n"), text[:-1].isprintable()), (1, True))
        if not logical:
            return
        shown = self.run("inspect", "case/m.safetensors")
        text = (shown.stdout + shown.stderr).decode()
        self.tally.check("%s: is shown as stored" % what, (shown.returncode, "as stored" in text), (0, True))

    def forms(self):
        """The formats that inspect reports for the tensors of the last case."""
        done = self.run("inspect", "case/m.safetensors", "--json")
        return {t["name"]: t.get("quantized") for t in json.loads(done.stdout)["files"][0]["tensors"]}
