#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dtinfo transcode of integers in groups: random matrices in the layouts of GPTQ, AWQ, compressed-tensors, MLX, Quark,
ModelOpt and bitsandbytes, to the layouts of compressed-tensors, GPTQ, AWQ and MLX. The original programs unpack the
output: codes, scales and zero points must equal the input's, and so must the numbers if all blocks are reported as
lossless; those of MLX are compared block by block. Transcoded back to the first layout, the bytes equal the input's.
Programs that are not installed are skipped; the sources of GPTQModel and AutoAWQ on PYTHONPATH suffice.

usage: test_transcode_words.py DTINFO [--long]
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

from harness import QUICK, have

PROGRAM = os.path.abspath(sys.argv[1])
LONG = "--long" in sys.argv[2:]
warnings.simplefilter("ignore")
np, torch, safetensors = (have(name) for name in ("numpy", "torch", "safetensors"))
if not (np and torch and safetensors):
    print("skipped: needs numpy, torch and safetensors")
    sys.exit(77)
import safetensors.torch

import word_layouts
from word_layouts import (BRAIN, FLOAT, HALF, Matrix, as_awq, as_gptq, as_gptq_v2, as_int8, as_mlx, as_packed, as_pairs,
                          compressed_config, quark, whole)
from word_readers import (TALLY, IntQuantizationCompressor, PackedQuantizationCompressor, QuantizationConfig, equal,
                          read_awq, read_compressed, read_gptq, read_mlx, same_numbers)

ROUNDS = 40 if LONG else 1 if QUICK else 3
if LONG:
    word_layouts.RANDOM = np.random.default_rng()
RANDOM = word_layouts.RANDOM


def run(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def save(folder, tensors, config, mlx=False):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    safetensors.torch.save_file({name: part.contiguous() for name, part in tensors.items()},
                                folder + "/model.safetensors")
    with open(folder + "/config.json", "w") as file:
        json.dump({"model_type": "llama", "rms_norm_eps": 1e-05, "quantization_config": config,
                   **({"quantization": config} if mlx else {})}, file, indent=2)


def load(folder):
    with open(folder + "/config.json") as file:
        config = json.load(file)
    return safetensors.torch.load_file(folder + "/model.safetensors"), config


def transcode(source, layout, out, *words):
    shutil.rmtree(out, ignore_errors=True)
    done = run("transcode", source, "--to", layout, "-o", out, "--json", *words)
    if done.returncode:
        return None, done.stderr.decode().strip()
    return json.loads(done.stdout.decode()), None


SOURCES = {"gptq": as_gptq, "gptq_v2": as_gptq_v2, "awq": as_awq, "packed": as_packed, "int8": as_int8, "mlx": as_mlx,
           "quark int4 reorder": lambda m: quark(m, "int4", "reorder"),
           "quark uint4 reorder": lambda m: quark(m, "uint4", "reorder"),
           "quark int4 order": lambda m: quark(m, "int4", "order"),
           "quark uint4 order": lambda m: quark(m, "uint4", "order"), "pairs": as_pairs}
BACK = {"gptq": "gptq", "gptq_v2": "gptq_v2", "awq": "awq", "packed": "compressed-tensors",
        "int8": "compressed-tensors", "mlx": "mlx"}
TARGETS = {"compressed-tensors": read_compressed, "gptq": read_gptq, "gptq_v2": read_gptq, "awq": read_awq,
           "mlx": read_mlx}


def holds(layout, m, source=None):
    """Whether a layout can hold such a matrix; source: the layout it is transcoded from, if any."""
    words = m.columns * m.bits % 32 == 0 and m.rows * m.bits % 32 == 0
    divided = m.columns % m.length == 0
    if layout in ("gptq", "gptq_v2"):
        return words and m.bits in (2, 3, 4, 8) and (source is None or (
            m.dtype != FLOAT and not (layout == "gptq" and (m.zeros == 0).any())))
    if m.act:
        return layout == "compressed-tensors" and m.bits in (2, 4, 8) and divided
    if layout == "awq":
        return m.bits == 4 and m.rows % 8 == 0 and divided and (source is None or m.dtype != FLOAT)
    if layout == "packed":
        return m.bits in (2, 4, 8) and divided
    if layout == "int8":
        return m.bits == 8 and divided
    if layout == "compressed-tensors":
        return m.bits in (2, 4, 8) and divided
    if layout == "mlx":
        return m.bits in (2, 3, 4, 5, 6, 8) and m.length in (32, 64, 128) and divided
    middle = (m.zeros == 8).all()
    if layout.startswith("quark"):
        return m.bits == 4 and m.rows % 8 == 0 and divided and (middle or "uint4" in layout) and m.length < m.columns
    return m.bits == 4 and m.rows % 2 == 0 and divided and middle and m.length < m.columns    # pairs


def check(source, m, target, what):
    made = SOURCES[source](m)
    save("in", *made, mlx=source == "mlx")
    answer, error = transcode("in", target, "out")
    if not holds(target, m, source):
        TALLY.check(what + ": refused", (answer is None and error.count("\n") == 0 and "tensor 'a." in error,
                                         os.path.exists("out")), (True, False))
        return
    if not answer:
        TALLY.differ(what, error, "an answer")
        return
    totals = answer["totals"]
    tensors, config = load("out")
    if target == "mlx" and source != "mlx":
        read_mlx(what, m, tensors, config, totals | {"worst_error": totals["worst_error"] or 0})
    elif target == "mlx":
        TALLY.check(what + ": lossless", totals["lossless_blocks"], totals["blocks"])
    else:
        TARGETS[target](what, m, tensors, config)
        if source != "mlx":
            TALLY.check(what + ": lossless", (totals["blocks"], totals["lossless_blocks"]), (m.rows * m.count,) * 2)
    lossless = totals["lossless_blocks"] == totals["blocks"]
    strict, error = transcode("in", target, "strict", "--require-lossless")
    TALLY.check(what + ": required", (strict is not None, os.path.exists("strict")), (lossless, lossless))
    if source not in BACK or not lossless:
        return
    back, error = transcode("out", BACK[source], "back")
    wanted = SOURCES[source](m)[0]
    if source == "int8" and target in ("gptq", "gptq_v2", "mlx"):
        wanted = as_packed(m)[0]    # these do not distinguish signed codes from others
    if source == "packed" and target == "compressed-tensors":
        TALLY.check(what + ": names", sorted(tensors), sorted(wanted))
    if not back:
        if holds(BACK[source], m, target):
            TALLY.differ(what + ": back", error, "an answer")
        return
    got = load("back")[0]
    TALLY.check(what + ": names that came back", sorted(got), sorted(wanted))
    for name in wanted:
        if name in got:
            equal("%s: %s that came back" % (what, name), got[name], wanted[name])


def random_matrix(i, source):
    bits = {"awq": 4, "int8": 8}.get(source, 4 if source.startswith("quark") or source == "pairs" else
                                     int(RANDOM.choice([2, 3, 4, 5, 6, 8])))
    if bits in (5, 6) and source != "mlx":
        bits = 4
    length = int(RANDOM.choice([32, 64, 128, 16, 48]))
    rows, columns = int(RANDOM.integers(1, 12)) * 32, length * int(RANDOM.integers(1, 9))
    if source == "mlx":
        length = int(RANDOM.choice([32, 64, 128]))
        columns = length * int(RANDOM.integers(1, 9))
    if i % 4 == 3 and source in ("packed", "int8"):    # not whole words
        rows = int(RANDOM.integers(1, 100))
    if i % 5 == 4 and source != "mlx":      # one scale per row
        length = columns = 32 * int(RANDOM.integers(2, 20))
    dtype = (HALF, BRAIN, FLOAT)[i % 3]
    zeros = ("any", "above", "middle")[(i + bits) % 3]
    if source in ("quark int4 reorder", "quark int4 order", "pairs"):
        zeros = "middle"
    return Matrix(rows, columns, bits, length, dtype, zeros,
                  "short" if source == "mlx" or i % 2 else "any", act=source.startswith("gptq") and i % 7 == 2,
                  negative=i % 3 == 1)


def random_matrices():
    for source in SOURCES:
        for i in range(ROUNDS * 3):
            m = random_matrix(i, source)
            if not holds(source, m):
                continue
            for target in TARGETS:
                check(source, m, target, "%s %d x %d, %d bits, groups of %d, %s -> %s" % (
                    source, m.rows, m.columns, m.bits, m.length, m.dtype, target))


def large_matrices():
    """More than one chunk and stripe, in both directions, with several threads."""
    shapes = ((4096, 8224), (64, 65536), (40960, 256)) if LONG else ((2080, 4128), (32, 40960))
    for source in ("gptq_v2", "awq", "packed", "mlx"):
        for rows, columns in shapes:
            m = Matrix(rows, columns, 4, 32, BRAIN, "any", "short")
            for target in TARGETS:
                check(source, m, target, "%s %d x %d -> %s" % (source, rows, columns, target))


def wide_words():
    for bits in (2, 3, 8):
        m = Matrix(1056, 2112, bits, 64, HALF, "above", "short")
        for source in ("gptq", "mlx") + (("packed",) if bits != 3 else ()):
            for target in TARGETS:
                check(source, m, target, "%s %d x %d of %d bits -> %s" % (source, m.rows, m.columns, bits, target))


def zero_points_minus_one():
    """Zero point 0 has no code in GPTQ's first format that all programs read alike; it is read as if all bits were
    set."""
    m = Matrix(32, 64, 4, 32, HALF, "above")
    m.zeros[5, 1] = 0
    save("in", *as_awq(m))
    answer, error = transcode("in", "gptq", "out")
    TALLY.check("zero point 0", (answer, "zero point of group 1 of row 5 is 0" in (error or ""), os.path.exists("out")),
                (None, True, False))
    tensors, config = as_gptq(m)
    TALLY.check("the wrap", int(tensors["a.qzeros"][1, 0]) >> 20 & 15, 15)
    save("in", tensors, config)
    check("gptq", m, "awq", "a zero point that wrapped")


def mlx_that_has_no_zero_points():
    m = Matrix(32, 64, 4, 32, HALF, "any", "short")
    tensors, config = as_mlx(m)
    for what, change in (("between", 0.5), ("below", 1), ("above", -16)):
        biases = tensors["a.biases"].clone()
        biases[7, 1] += m.scales[7, 1] * (change + (float(m.zeros[7, 1]) if abs(change) >= 1 else 0))
        save("in", dict(tensors, **{"a.biases": biases}), config, mlx=True)
        for target in ("compressed-tensors", "gptq_v2", "awq"):
            answer, error = transcode("in", target, "out")
            TALLY.check("a bias %s, to %s" % (what, target), (answer, "the bias of group 1 of row 7" in (error or "")),
                        (None, True))
        answer, error = transcode("in", "mlx", "out")
        TALLY.check("mlx stays", answer and answer["totals"]["lossless"], 1)
    nothing = tensors["a.scales"].clone()
    nothing[3, 0] = 0
    biases = tensors["a.biases"].clone()
    biases[3, 0] = 0
    save("in", dict(tensors, **{"a.scales": nothing, "a.biases": biases}), config, mlx=True)
    answer, error = transcode("in", "awq", "out")
    TALLY.check("no scale and no bias", answer and answer["totals"]["lossless"], 1)


def rounded_mlx():
    """Random scales: some blocks are equal, others are not, as decoded by MLX itself."""
    for dtype in (HALF, BRAIN, FLOAT):
        for bits in (2, 3, 4, 5, 6, 8):
            m = Matrix(64, 256, bits if bits not in (5, 6) else 4, 64, dtype, "any")
            exact = RANDOM.random(m.scales.shape) < 0.4
            few = np.ldexp(RANDOM.integers(1, 2 ** 4, m.scales.shape), -9)
            m.scales = torch.where(whole(exact), torch.from_numpy(few).to(dtype), m.scales)
            source = "packed" if m.bits in (2, 4, 8) else "gptq_v2"
            if dtype == FLOAT and source == "gptq_v2":
                continue
            check(source, m, "mlx", "rounded: %s of %d bits" % (dtype, m.bits))
    m = Matrix(32, 32, 8, 32, HALF, "any")
    m.scales[9, 0], m.zeros[9, 0] = 60000, 2
    save("in", *as_packed(m))
    answer, error = transcode("in", "mlx", "out")
    TALLY.check("a bias that is too large", (answer, "exceeds the fp16" in (error or "")), (None, True))


def int8_of_bitsandbytes():
    """Row scales, divided by 127 after the product: equal to a single product for few rows only."""
    codes = RANDOM.integers(-127, 128, (6, 40)).astype(np.int8)
    for largest, fits in ((np.ldexp(127.0, RANDOM.integers(-9, 3, 6)), True), (RANDOM.random(6) + 0.5, False)):
        largest = torch.from_numpy(largest).float()
        tensors = {"a.weight": torch.from_numpy(codes), "a.SCB": largest}
        save("in", tensors, {"quant_method": "bitsandbytes", "load_in_8bit": True})
        answer, error = transcode("in", "compressed-tensors", "out")
        TALLY.check("bitsandbytes", (answer is not None, "each product rounded" in (error or "")), (fits, not fits))
        if not answer:
            continue
        theirs = (torch.from_numpy(codes).float() * largest[:, None]) * 0.007874015718698502
        got, config = load("out")
        if PackedQuantizationCompressor:
            scheme = QuantizationConfig.model_validate(config["quantization_config"]).config_groups["group_0"]
            state = {name[2:]: part for name, part in got.items()}
            same_numbers("bitsandbytes: numbers", IntQuantizationCompressor.decompress(state, scheme)["weight"], theirs)


def stacks_and_scalars():
    """Experts, and one scale for the whole tensor."""
    for bits in (4, 8, 2):
        both = [Matrix(24, 64, bits, 32, BRAIN, "any", "short") for _ in range(3)]
        parts = [as_mlx(m)[0] for m in both]
        stacked = {name: torch.stack([part[name] for part in parts]) for name in parts[0]}
        save("in", stacked, as_mlx(both[0])[1], mlx=True)
        answer, error = transcode("in", "compressed-tensors", "out")
        if not answer:
            TALLY.differ("stack of %d bits" % bits, error, "an answer")
            continue
        got = safetensors.torch.load_file("out/model.safetensors")
        for i, m in enumerate(both):
            wanted = as_packed(m)[0]
            for name in ("a.weight_packed", "a.weight_scale", "a.weight_zero_point"):
                equal("%s of %d bits in a stack" % (name, bits), got[name][i], wanted[name])
        TALLY.check("stack: shape", got["a.weight_shape"].tolist(), [3, 24, 64])
        back, error = transcode("out", "mlx", "back", "--bits", str(bits))
        if not back:
            TALLY.differ("stack: back", error, "an answer")
            continue
        got = safetensors.torch.load_file("back/model.safetensors")
        for name, part in stacked.items():
            equal("stack: %s that came back" % name, got[name], part)
        TALLY.check("stack: to awq", transcode("out", "awq", "other")[0], None)
    m = Matrix(8, 32, 8, 32, FLOAT, "middle")
    tensors = {"a.weight": whole((m.codes - 128).astype(np.int8)), "a.weight_scale": torch.tensor([0.37])}
    config = compressed_config(m, "int-quantized")
    config["config_groups"]["group_0"]["weights"]["strategy"] = "tensor"
    save("in", tensors, config)
    answer, error = transcode("in", "compressed-tensors", "out")
    TALLY.check("one scale", answer and answer["totals"]["blocks"], 1)
    if answer:
        for name, part in load("out")[0].items():
            equal("one scale: " + name, part, tensors[name])
    TALLY.check("one scale: to awq", transcode("in", "awq", "other")[0], None)


with tempfile.TemporaryDirectory(prefix="dtinfo-words-") as folder:
    os.chdir(folder)
    for part in (random_matrices, large_matrices, wide_words, zero_points_minus_one, mlx_that_has_no_zero_points,
                 rounded_mlx, int8_of_bitsandbytes, stacks_and_scalars):
        part()
        TALLY.part(part.__name__.replace("_", " "))
    os.chdir("/")
TALLY.finish()
