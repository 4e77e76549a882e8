# SPDX-License-Identifier: MIT
"""Talks to files_probe, and compares what it reads with what is expected."""
import itertools
import os
import pathlib
import random
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent.parent / folder) for folder in ("oracle", "oracle/files", "makers")]
from harness import Tally, have  # noqa: E402, F401

PROBE = os.path.abspath(sys.argv[1])
RANDOM = random.Random(33)
RANGES = 12
tally = Tally()


def run(*words, text=b"", threads=0):
    environment = {**os.environ, "PROBE_THREADS": str(threads)}
    done = subprocess.run([PROBE, *map(str, words)], input=text, stdout=subprocess.PIPE, check=False, env=environment)
    if done.returncode != 0:
        tally.differ(f"files_probe {words}", f"status {done.returncode}", 0)
    return done.stdout


class Tensor:
    """A line of the probe's list."""

    def __init__(self, fields):
        self.name, self.stored_as, self.format = bytes.fromhex(fields[0]).decode(errors="surrogateescape"), fields[1], fields[2]
        self.shape = tuple(map(int, fields[3].split(","))) if fields[3] else ()
        self.elements, self.stored_bytes = int(fields[4]), int(fields[5])
        self.quantized, self.layout, self.packing, self.offset, self.path, self.refusal = fields[6:]


def list_of(path, how, *more):
    """The tensors by name, and the other lines."""
    lines = [line.split("\t") for line in run("list", path, how, *more).decode().splitlines()]
    return ({tensor.name: tensor for tensor in (Tensor(line[1:]) for line in lines if line[0] == "tensor")},
            [line for line in lines if line[0] != "tensor"])


def read(path, how, wanted, *more, threads=0):
    """The codes of (name, first, count), or an error's line."""
    text = "".join(f"{name.encode(errors='surrogateescape').hex()} {first} {count}\n" for name, first, count in wanted)
    out, at, ret = run("read", path, how, *more, text=text.encode(), threads=threads), 0, []
    while at < len(out):
        end = out.index(b"\n", at)
        word, number, *_ = out[at:end].decode().split("\t")
        if word != "codes":
            ret.append(out[at:end].decode())
            at = end + 1
            continue
        at = end + 1 + int(number)
        ret.append(out[end + 1:at])
    return ret


def check_file(path, expected, ways, *more):
    """expected: {name: (format, shape, codes in native order, one or more bytes each)}."""
    for how, threads in itertools.product(ways, (1, 0)):
        tensors, _ = list_of(path, how, *more)
        if "s" not in how:
            tally.check(f"{path} {how}: names", sorted(tensors), sorted(expected))
        wanted, want = [], []
        for name, (form, shape, codes) in expected.items():
            tensor = tensors.get(name)
            if tensor is None:
                continue
            tally.check(f"{path} {how} {name}: format, shape", (tensor.format, tensor.shape, tensor.refusal),
                        (form, tuple(shape), "-"))
            count = tensor.elements
            item = len(codes) // count if count else 1
            spans = [(0, count)]
            for _ in range(RANGES):
                first = RANDOM.randint(0, count)
                spans.append((first, RANDOM.randint(0, min(count - first, RANDOM.choice((9, 100, count))))))
            for first, length in spans:
                wanted.append((name, first, length))
                want.append(codes[first * item:(first + length) * item])
            if tensor.path != "-" and tensor.packing == "2" or (tensor.path != "-" and item * 8 == bits_of(form)):
                with open(tensor.path, "rb") as file:
                    file.seek(int(tensor.offset))
                    tally.check(f"{path} {name}: as it lies in the file", file.read(len(codes)), codes)
        got = read(path, how, wanted, *more, threads=threads)
        tally.check(f"{path} {how}: answers", len(got), len(want))
        for (name, first, length), codes, right in zip(wanted, got, want):
            tally.check(f"{path} {how} {name} {first}+{length}", codes, right)


def bits_of(form):
    known = {"fp64": 64, "fp32": 32, "fp16": 16, "bf16": 16, "bool": 8, "complex64": 64, "complex128": 128, "complex32": 32}
    if form in known:
        return known[form]
    digits = "".join(c for c in form.removeprefix("fp").removeprefix("uint").removeprefix("int").split("_")[0] if c.isdigit())
    return int(digits or 0)
