#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compressed-tensors' pack-quantized format with 2 to 8 bits: codes that cross words (since June 2026) or whole codes
per word (before), symmetric or with zero points, with consecutive groups or weight_g_idx (actorder "group"). The
numbers are those of the original codes. GPTQ with desc_act converts to it and back to the same bytes. Files broken in
one place are refused by name, by check and by the readers. If compressed-tensors is installed, its own packing makes
the same words, and a version that knows weight_g_idx decompresses to the same numbers.

usage: test_packed_words.py DTINFO
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

from harness import Tally, have
from tensor_files import read_file, write_file

PROGRAM = os.path.abspath(sys.argv[1])
warnings.simplefilter("ignore")
np = have("numpy")
if not np:
    print("skipped: needs numpy")
    sys.exit(77)
TALLY = Tally()
RANDOM = np.random.default_rng(20261125)
TYPES = {"I32": "<i4", "I64": "<i8", "F16": "<f2", "F32": "<f4", "I8": "i1"}


def run(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def save(folder, tensors, config):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    write_file(folder + "/model.safetensors", {
        name: (dtype, array.shape, np.ascontiguousarray(array).astype(TYPES[dtype]).tobytes())
        for name, (dtype, array) in tensors.items()})
    with open(folder + "/config.json", "w") as file:
        json.dump({"model_type": "llama", "quantization_config": config}, file)


def load(path):
    path += "/model.safetensors" if os.path.isdir(path) else ""
    return {name: np.frombuffer(raw, TYPES[dtype]).reshape(shape) for name, (dtype, shape, raw) in read_file(path).items()}


def words_of(fields, bits, crossing=True):
    """Rows of fields in 32-bit words, the first in the lowest bits."""
    rows, count = fields.shape
    fields = fields.astype(np.uint64)
    each = 32 // bits
    out = np.zeros((rows, -(-count * bits // 32) if crossing else -(-count // each)), np.uint64)
    for k in range(count):
        at, shift = (k * bits // 32, k * bits % 32) if crossing else (k // each, k % each * bits)
        out[:, at] |= (fields[:, k] << np.uint64(shift)) & np.uint64(0xffffffff)
        if shift + bits > 32:
            out[:, at + 1] |= fields[:, k] >> np.uint64(32 - shift)
    return out.astype(np.uint32).view(np.int32)


class Matrix:
    def __init__(self, rows, columns, bits, length, zeros=True, order=False):
        self.rows, self.columns, self.bits, self.length = rows, columns, bits, length
        self.count, self.middle = columns // length, 1 << (bits - 1)
        self.codes = RANDOM.integers(0, 1 << bits, (rows, columns))
        self.zeros = RANDOM.integers(1, 1 << bits, (rows, self.count)) if zeros else \
            np.full((rows, self.count), self.middle)
        self.scales = (RANDOM.random((rows, self.count)) * 0.1 + 0.01).astype(np.float16)
        self.groups = np.arange(columns) // length
        self.order = order
        if order:
            RANDOM.shuffle(self.groups)

    def numbers(self):
        """Exact products, rounded once to fp32."""
        whole = (self.codes - self.zeros[:, self.groups]).astype(np.float64)
        return (whole * self.scales.astype(np.float64)[:, self.groups]).astype(np.float32)

    def packed(self, crossing=True):
        tensors = {"a.weight_packed": ("I32", words_of(self.codes, self.bits, crossing)),
                   "a.weight_scale": ("F16", self.scales),
                   "a.weight_shape": ("I64", np.array([self.rows, self.columns]))}
        symmetric = bool((self.zeros == self.middle).all())
        if not symmetric:
            tensors["a.weight_zero_point"] = ("I32", words_of(self.zeros.T, self.bits, crossing).T)
        if self.order:
            tensors["a.weight_g_idx"] = ("I32", self.groups)
        args = {"num_bits": self.bits, "type": "int", "symmetric": symmetric, "strategy": "group",
                "group_size": self.length}
        if self.order:
            args["actorder"] = "group"
        return tensors, {"quant_method": "compressed-tensors", "format": "pack-quantized",
                         "config_groups": {"group_0": {"targets": ["Linear"], "weights": args}}}

    def gptq(self):
        return {"a.qweight": ("I32", words_of(self.codes, self.bits).T), "a.g_idx": ("I32", self.groups),
                "a.qzeros": ("I32", words_of(self.zeros.T - 1, self.bits)), "a.scales": ("F16", self.scales.T)}, {
            "quant_method": "gptq", "bits": self.bits, "group_size": self.length, "desc_act": self.order,
            "sym": bool((self.zeros == self.middle).all()), "lm_head": False, "checkpoint_format": "gptq"}


def dequantized(what, source, wanted):
    shutil.rmtree("out", ignore_errors=True)
    for words in (("check", source, "--quantized"), ("inspect", source, "--stats"),
                  ("quant", source, "fp32", "--dequant", "-o", "out")):
        done = run(*words)
        TALLY.check("%s: %s" % (what, words[0]), (done.returncode, done.stdout.decode() if done.returncode else ""),
                    (0, ""))
        if done.returncode:
            print(done.stderr.decode())
    if os.path.exists("out"):
        got = load("out")
        TALLY.check(what + ": names", list(got), ["a.weight"])
        TALLY.check(what + ": numbers", bool((got["a.weight"] == wanted).all()), True)
        done = run("compare", source, "out")
        TALLY.check(what + ": compare", (done.returncode, done.stdout[:5]), (0, b"equal"))


def widths():
    for bits in range(2, 9):
        for rows, columns, length in ((64, 256, 32), (37, 96, 32), (130, 160, 16), (96, 4096, 128)):
            for crossing in (True, False):
                for zeros in (True, False):
                    for order in (True, False):
                        m = Matrix(rows, columns, bits, length, zeros, order)
                        save("in", *m.packed(crossing))
                        dequantized("%d x %d of %d bits, %s%s%s" % (
                            rows, columns, bits, "crossing words" if crossing else "whole ones", zeros * ", zero points",
                            order * ", g_idx"), "in", m.numbers())


def refused(what, tensors, config, wanted):
    save("in", tensors, config)
    shutil.rmtree("out", ignore_errors=True)
    done = run("check", "in", "--quantized")
    TALLY.check(what + ": check", (done.returncode, wanted in done.stdout.decode()), (1, True))
    for words in (("quant", "in", "fp32", "--dequant", "-o", "out"), ("transcode", "in", "--to", "bf16", "-o", "out"),
                  ("transcode", "in", "--to", "gptq_v2", "-o", "out")):
        done = run(*words)
        TALLY.check("%s: %s" % (what, " ".join(words[:4])), (done.returncode, wanted in done.stderr.decode(),
                                                             done.stderr.count(b"\n"), os.path.exists("out")),
                    (3, True, 1, False))


def broken():
    m = Matrix(32, 128, 4, 32, True, True)
    for what, change, wanted in (
            ("a group that is none", lambda g: np.where(np.arange(128) == 5, 4, g), "element 5 is 4, which is not one of its 4"),
            ("minus one", lambda g: np.where(np.arange(128) == 7, -1, g), "element 7 is -1"),
            ("a short order", lambda g: g[:-1], "expected int32 [128]")):
        tensors, config = m.packed()
        tensors["a.weight_g_idx"] = ("I32", change(m.groups))
        refused(what, tensors, config, wanted)
    tensors, config = m.packed()
    tensors["a.weight_g_idx"] = ("I64", m.groups)
    refused("a wide order", tensors, config, "expected int32 [128]")
    for actorder in ("group", True):
        tensors, config = m.packed()
        config["config_groups"]["group_0"]["weights"]["actorder"] = actorder
        del tensors["a.weight_g_idx"]
        refused("no order, actorder %s" % actorder, tensors, config, "there is no tensor '..._g_idx'")
    for actorder in ("weight", "static", None, False):
        usual = Matrix(32, 128, 4, 32, True)
        tensors, config = usual.packed()
        config["config_groups"]["group_0"]["weights"]["actorder"] = actorder
        save("in", tensors, config)
        dequantized("actorder %s" % actorder, "in", usual.numbers())
    for bits, columns in ((3, 30), (5, 10), (7, 8)):   # both packings need the same number of words
        ambiguous = Matrix(8, columns, bits, columns // 2)
        refused("%d columns of %d bits" % (columns, bits), *ambiguous.packed(), "whether codes cross words")


def both_ways():
    for bits in (2, 4, 8):
        for zeros in (True, False):
            m = Matrix(64, 256, bits, 64, zeros, True)
            what = "%d bits%s" % (bits, zeros * ", zero points")
            save("in", *m.gptq())
            for layout, source, wanted in (("compressed-tensors", "in", m.packed()), ("gptq", "there", m.gptq()),
                                           ("gptq_v2", "there", None)):
                out = "there" if source == "in" else "back"
                shutil.rmtree(out, ignore_errors=True)
                done = run("transcode", source, "--to", layout, "-o", out, "--require-lossless")
                TALLY.check("%s -> %s" % (what, layout), (done.returncode, done.stderr), (0, b""))
                if done.returncode:
                    continue
                dequantized("%s -> %s" % (what, layout), out, m.numbers())
                if wanted:
                    tensors, config = wanted
                    got = load(out)
                    TALLY.check("%s -> %s: names" % (what, layout), sorted(got), sorted(tensors))
                    for name, (_, array) in tensors.items():
                        TALLY.check("%s -> %s: %s" % (what, layout, name), name in got and got[name].tolist(),
                                    array.tolist())
                    with open(out + "/config.json") as file:
                        made = json.load(file)["quantization_config"]
                    made = made["config_groups"]["group_0"]["weights"] if layout == "compressed-tensors" else made
                    config = config["config_groups"]["group_0"]["weights"] if layout == "compressed-tensors" else config
                    TALLY.check("%s -> %s: configuration" % (what, layout), {key: made.get(key) for key in config}, config)
            for layout in ("awq", "mlx"):
                done = run("transcode", "there", "--to", layout, "-o", "no")
                TALLY.check("%s -> %s" % (what, layout), (done.returncode, b"an order of their own" in done.stderr,
                                                          b"--to compressed-tensors" in done.stderr, os.path.exists("no")),
                            (2, True, True, False))


def judges():
    torch, library = have("torch"), have("compressed_tensors")
    if not (torch and library):
        TALLY.skip("compressed-tensors is not installed")
        return
    try:
        from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32
        crossing, old = True, None
    except ImportError:
        from compressed_tensors.compressors.quantized_compressors.pack_quantized import (PackedQuantizationCompressor as
                                                                                         old, pack_to_int32)
        crossing = False
    for bits in range(2, 9):
        m = Matrix(40, 160, bits, 32)
        signed = torch.from_numpy((m.codes - m.middle).astype(np.int8))
        TALLY.check("compressed-tensors packs %d bits" % bits, pack_to_int32(signed, bits).tolist(),
                    words_of(m.codes, bits, crossing).tolist())
        down = torch.from_numpy((m.zeros - m.middle).astype(np.int8))
        if crossing or m.rows % (32 // bits) == 0:     # the old packing fails otherwise
            TALLY.check("and zero points", pack_to_int32(down, bits, packed_dim=0).tolist(),
                        words_of(m.zeros.T, bits, crossing).T.tolist())
    if not old:
        TALLY.skip("this compressed-tensors has no weight_g_idx: versions of 2025 have it")
        return
    from compressed_tensors.quantization import QuantizationArgs
    for bits in range(2, 9):
        m = Matrix(40, 160, bits, 32, False, True)
        tensors, config = m.packed(crossing)
        parts = {name[2:]: torch.from_numpy(np.ascontiguousarray(array)) for name, (_, array) in tensors.items()}
        parts["weight_scale"] = parts["weight_scale"].float()
        theirs = old().decompress_weight(parts, QuantizationArgs(**config["config_groups"]["group_0"]["weights"]))
        TALLY.check("compressed-tensors' numbers of %d bits with weight_g_idx" % bits,
                    bool((theirs.numpy() == m.numbers()).all()), True)


with tempfile.TemporaryDirectory(prefix="dtinfo-packed-") as folder:
    os.chdir(folder)
    for part in (widths, broken, both_ways, judges):
        part()
        TALLY.part(part.__name__.replace("_", " "))
    os.chdir("/")
TALLY.finish()
