# SPDX-License-Identifier: MIT
"""Quantized tensors through the public functions of the library: the numbers of files that the tools of their layouts
made (tests/data), whole and in random ranges, which begin inside of blocks.

    test_quantized.py PROBE DATA
"""
import json
import os
import shutil
import sys
import tempfile

from probe_files import RANDOM, have, list_of, read, tally

if not have("numpy"):
    print("skipped: needs numpy")
    sys.exit(77)
import numpy as np  # noqa: E402
from test_layouts import layouts  # noqa: E402

RANGES = 40
PLAIN = {"fp32": "<f4", "fp64": "<f8", "fp16": "<f2", "int8": "i1", "uint8": "u1", "int32": "<i4", "int64": "<i8"}


def numbers(form, codes):
    """Codes as floats."""
    if form == "bf16":
        return (np.frombuffer(codes, "<u2").astype("<u4") << 16).view("<f4")
    return np.frombuffer(codes, PLAIN[form])


def same(got, want):
    """All NaNs are one; all other numbers have the same bits."""
    if got.shape != want.shape:
        return False
    nan = np.isnan(got)
    return bool((nan == np.isnan(want)).all()) and got[~nan].tobytes() == want[~nan].tobytes()


def check_layout(name, said, expected):
    path = "in/model.safetensors"
    tensors, _ = list_of(path, "p")
    stored, _ = list_of(path, "ps")
    tally.check(f"{name}: parts are not shown", set(expected) <= set(tensors) and len(tensors) <= len(stored), True)
    for key, want in expected.items():
        tensor = tensors.get(key)
        if tensor is None or tensor.refusal != "-":
            tally.differ(f"{name} {key}", tensor and tensor.refusal, "it is read")
            continue
        tally.check(f"{name} {key}: shape", tensor.shape, want.shape)
        if want.dtype.kind != "f" or tensor.format == "fp16":
            continue
        tally.check(f"{name} {key}: no place in the file", tensor.path == "-" or tensor.quantized == "-", True)
        count, spans = tensor.elements, [(0, tensor.elements)]
        for _ in range(RANGES):
            first = RANDOM.randrange(count)
            spans.append((first, RANDOM.randint(1, min(count - first, RANDOM.choice((5, 40, count))))))
        got = read(path, "p", [(key, *span) for span in spans])
        for (first, length), codes in zip(spans, got):
            there = codes if isinstance(codes, str) else numbers(tensor.format, codes).astype(want.dtype)
            part = want.reshape(-1)[first:first + length]
            tally.check(f"{name} {key} {first}+{length}", there if isinstance(there, str) else same(there, part), True)
    if said is None:  # nothing but the file says how it is quantized
        memory, _ = list_of(path, "m")
        tally.check(f"{name}: from memory", sorted(memory), sorted(tensors))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, path, said, expected in layouts():
            shutil.rmtree("in", ignore_errors=True)
            os.mkdir("in")
            shutil.copy(path, "in/model.safetensors")
            if said:
                with open("in/config.json", "w", encoding="utf-8") as file:
                    json.dump(said, file)
            check_layout(name, said, expected)
            tally.part(name)
        os.chdir("/")
    tally.finish()


if __name__ == "__main__":
    main()
