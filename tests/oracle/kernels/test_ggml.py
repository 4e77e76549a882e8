#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every block type of GGUF, decoded by quant --dequant at every CPU level, against llama.cpp's package `gguf`, ggml's
own C code if available and, for types that the package lacks, decoders written here from the structs of ggml-common.h.
Then a model of mixed types, as llama-quantize makes it, through all commands that read numbers.

ggml's C code: llama_cpp/lib of an installed llama-cpp-python, or the library in DTI_GGML_LIBRARY: any that has the
functions of ggml-quants.c, such as that file alone, compiled without contraction.

usage: test_ggml.py DTINFO [--long]
       test_ggml.py --hashes        the table of tests/unit/test_gguf_blocks.c
"""
import ctypes
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import harness

np, gguf = harness.have("numpy"), harness.have("gguf")
if np is None or gguf is None:
    print("skipped: needs numpy and gguf")
    sys.exit(77)
import make_checkpoint
from gguf import quants

LEVELS = ("none", "avx2", None)
# id, elements, bytes, offsets of the fp16 fields
TYPES = {
    "Q4_0": (2, 32, 18, [0]), "Q4_1": (3, 32, 20, [0, 2]), "Q5_0": (6, 32, 22, [0]), "Q5_1": (7, 32, 24, [0, 2]),
    "Q8_0": (8, 32, 34, [0]), "Q8_1": (9, 32, 36, [0, 2]), "Q2_K": (10, 256, 84, [80, 82]), "Q3_K": (11, 256, 110, [108]),
    "Q4_K": (12, 256, 144, [0, 2]), "Q5_K": (13, 256, 176, [0, 2]), "Q6_K": (14, 256, 210, [208]),
    "Q8_K": (15, 256, 292, []), "IQ2_XXS": (16, 256, 66, [0]), "IQ2_XS": (17, 256, 74, [0]), "IQ3_XXS": (18, 256, 98, [0]),
    "IQ1_S": (19, 256, 50, [0]), "IQ4_NL": (20, 32, 18, [0]), "IQ3_S": (21, 256, 110, [0]), "IQ2_S": (22, 256, 82, [0]),
    "IQ4_XS": (23, 256, 136, [0]), "IQ1_M": (29, 256, 56, []), "TQ1_0": (34, 256, 54, [52]), "TQ2_0": (35, 256, 66, [64]),
    "MXFP4": (39, 32, 17, []), "NVFP4": (40, 64, 36, []), "Q1_0": (41, 128, 18, [0]), "Q2_0": (42, 64, 18, [0]),
}
SPECIALS = [0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00,
            0xfe00, 0xffff, 0xbc00]
TALLY = harness.Tally()


# Decoders written from the structs, for types that the package lacks.

def halves(blocks, at):
    return blocks[:, at:at + 2].copy().view("<f2").astype(np.float32)


def by_structs(name, blocks):
    if name == "Q1_0":
        bits = np.unpackbits(blocks[:, 2:], axis=1, bitorder="little")
        return np.where(bits == 1, halves(blocks, 0), -halves(blocks, 0))
    if name == "Q2_0":
        codes = (blocks[:, 2:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3).reshape(len(blocks), 64)
        return (codes.astype(np.float32) - 1) * halves(blocks, 0)
    if name == "Q8_1":
        return blocks[:, 4:].view(np.int8).astype(np.float32) * halves(blocks, 0)
    return blocks[:, :4].copy().view("<f4") * blocks[:, 4:260].view(np.int8).astype(np.float32)


def by_package(name, blocks):
    kind = getattr(gguf.GGMLQuantizationType, name, None)
    if kind not in quants._type_traits:
        return None
    return quants.dequantize(blocks, kind)


LIBRARY = harness.ggml_library()


def by_ggml(name, blocks, elements):
    function = getattr(LIBRARY, "dequantize_row_" + (name.lower()[:-1] + "K" if name.endswith("_K") else name.lower()), None)
    if function is None:
        return None
    raw, numbers = np.ascontiguousarray(blocks), np.zeros((len(blocks), elements), np.float32)
    function(ctypes.c_void_p(raw.ctypes.data), ctypes.c_void_p(numbers.ctypes.data), ctypes.c_int64(numbers.size))
    return numbers


def judges(name, blocks):
    """(name, numbers) of every decoder that knows the type."""
    with np.errstate(all="ignore"):
        package = by_package(name, blocks)
        if package is not None:
            yield "the package", package
        else:
            yield "the struct", by_structs(name, blocks)
        theirs = by_ggml(name, blocks, TYPES[name][1]) if LIBRARY else None
        if theirs is not None:
            yield "ggml", theirs


# Blocks.

def put_half(name, blocks, rows, bits):
    """Sets all fp16 fields of each block to the same value; bits: one value per block."""
    bits = np.asarray(bits, np.uint16)
    for at in TYPES[name][3]:
        blocks[rows, at], blocks[rows, at + 1] = bits & 255, bits >> 8
    if name == "IQ1_M":
        for i in range(4):
            at = 49 + 2 * i
            blocks[rows, at] = blocks[rows, at] & 15 | (bits >> (4 * i) & 15) << 4
    if name == "Q8_K":
        blocks[rows, :4] = bits.view(np.float16).astype("<f4").reshape(-1, 1).view(np.uint8)


def make_blocks(name, long):
    """Every value of every byte; every fp16, or some; each special one; the rest is random."""
    random = np.random.default_rng(TYPES[name][0])
    elements, size = TYPES[name][1:3]
    scales = 65536 if long or elements <= 32 else 4096
    blocks = random.integers(0, 256, (256 + scales + 64 * len(SPECIALS), size), dtype=np.uint8)
    with np.errstate(all="ignore"):
        blocks[:256] = (np.arange(256)[:, None] + 7 * np.arange(size)[None]) & 255
        put_half(name, blocks, slice(256, 256 + scales), np.arange(scales) * (65536 // scales) + random.integers(0, 65536 // scales))
        put_half(name, blocks, slice(256 + scales, None), np.repeat(SPECIALS, 64))
    if name == "Q8_K":      # may be any fp32
        blocks[:256, :4] = random.integers(0, 256, (256, 4), dtype=np.uint8)
    return blocks


# The program.

def run(*words, code=0, level=None):
    environment = dict(os.environ, **({"DTINFO_CPU": level} if level else {}))
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    if done.returncode != code:
        sys.exit("dtinfo %s: %d, %s" % (" ".join(words), done.returncode, done.stderr.decode()))
    return done.stdout.decode(), done.stderr.decode()


def write(path, tensors, **options):
    pathlib.Path(path).write_bytes(make_checkpoint.gguf([("general.architecture", "string", "llama")], tensors, **options))


def read(path):
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    kinds = {"F32": np.float32, "F16": np.float16}
    return {name: np.frombuffer(data[8 + length:], kinds[t["dtype"]], offset=t["data_offsets"][0],
                                count=int(np.prod(t["shape"]))).reshape(t["shape"])
            for name, t in json.loads(data[8:8 + length]).items() if name != "__metadata__"}


def same(what, ours, theirs):
    """Bit for bit, except that any NaN matches any NaN."""
    ours, theirs = ours.reshape(-1), np.ascontiguousarray(theirs, np.float32).reshape(-1)
    TALLY.checked += ours.size
    bad = np.flatnonzero((ours.view(np.uint32) != theirs.view(np.uint32)) & ~(np.isnan(ours) & np.isnan(theirs)))
    if bad.size:
        TALLY.differ("%s, %d of %d" % (what, bad.size, ours.size), "element %d: %r" % (bad[0], ours[bad[0]]), repr(theirs[bad[0]]))


def every_type(long):
    for name, (number, elements, size, _) in TYPES.items():
        before, differences = TALLY.checked, TALLY.differences
        blocks = make_blocks(name, long)
        write("in.gguf", [("w", number, (len(blocks), elements), blocks.tobytes())])
        known = list(judges(name, blocks))
        for level in LEVELS:
            run("quant", "in.gguf", "fp32", "--dequant", "-o", "out.safetensors", "--force", "-q", level=level)
            ours = read("out.safetensors")["w"]
            for who, numbers in known:
                same("%s at level %s, by %s" % (name, level or "best", who), ours, numbers)
        print("%-8s %8d blocks  %10d checks, %d different  by %s" %
              (name, len(blocks), TALLY.checked - before, TALLY.differences - differences, ", ".join(who for who, _ in known)), flush=True)


def numbers_of(name, blocks):
    return next(judges(name, blocks))[1]


def tame(random, name, count):
    """Blocks with numbers in the range of weights."""
    blocks = random.integers(0, 256, (count, TYPES[name][2]), dtype=np.uint8)
    if name == "MXFP4":
        blocks[:, 0] = random.integers(115, 123, count)
    put_half(name, blocks, slice(None), random.uniform(0.0001, 0.01, count).astype(np.float16).view(np.uint16))
    return blocks


def a_model():
    """Types mixed as in a Q4_K_M: more bits for half of the value and down projections, and for the output."""
    random = np.random.default_rng(4)
    tensors, want, stored = [], {}, {}

    def add(name, kind, *shape):
        count = int(np.prod(shape))
        if kind == "F32":
            numbers = random.normal(1, 0.1, shape).astype(np.float32)
            tensors.append((name, kind, shape, numbers.tobytes()))
        else:
            blocks = tame(random, kind, count // TYPES[kind][1])
            numbers = numbers_of(kind, blocks).reshape(shape)
            tensors.append((name, TYPES[kind][0], shape, blocks.tobytes()))
        want[name], stored[name] = numbers, (kind, len(tensors[-1][3]))
    add("token_embd.weight", "Q4_K", 320, 512)
    add("output.weight", "Q6_K", 320, 512)
    for layer in range(2):
        at = "blk.%d." % layer
        add(at + "attn_norm.weight", "F32", 512)
        for what in ("q", "k", "output"):
            add(at + "attn_%s.weight" % what, "Q4_K", 512, 512)
        add(at + "attn_v.weight", "Q6_K" if layer else "Q5_0", 512, 512)
        add(at + "ffn_down.weight", "Q6_K" if layer else "Q8_0", 512, 768)
        add(at + "ffn_gate.weight", ("IQ4_NL", "Q5_K")[layer], 768, 512)
        add(at + "ffn_up.weight", ("IQ3_S", "MXFP4")[layer], 768, 512)
    write("model.gguf", tensors)
    header, at, body = {}, 0, b""
    for name, numbers in want.items():
        header[name] = {"dtype": "F32", "shape": numbers.shape, "data_offsets": [at, at + numbers.nbytes]}
        at += numbers.nbytes
        body += numbers.tobytes()
    head = json.dumps(header).encode()
    pathlib.Path("source.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + body)
    run("quant", "model.gguf", "fp32", "--dequant", "-o", "out.safetensors", "--force", "-q")
    out = read("out.safetensors")
    TALLY.check("names of the model", sorted(out), sorted(want))
    for name in want:
        same(name, out[name], want[name])
    listed = json.loads(run("inspect", "model.gguf", "--stats", "--json")[0])["files"][0]
    TALLY.check("no notes", listed["notes"], [])
    for tensor in listed["tensors"]:
        name, numbers = tensor["name"], want[tensor["name"]]
        kind, size = stored[name]
        TALLY.check(name + ": bytes", tensor["bytes"], size)
        if kind == "F32":
            continue
        form, stats = tensor["quantized"], tensor["stats"]
        TALLY.check(name + ": form", (form["format"], form["layout"], form["stored_bytes"]), (kind.lower(), "gguf", size))
        TALLY.check(name + ": least and largest", (np.float32(stats["min"]["value"]), np.float32(stats["max"]["value"])), (numbers.min(), numbers.max()))
        TALLY.check(name + ": zeros", stats["zeros"], int((numbers == 0).sum()))
    TALLY.check("compare to the source", run("compare", "model.gguf", "source.safetensors")[0].startswith("equal"), True)
    run("check", "model.gguf", "--no-nan", "--no-inf", "--quantized", "--dtype", "fp32:*norm*,q4_k:*attn_[qk]*,Q6_K:output*")
    run("check", "model.gguf", "--dtype", "q5_k:*attn_q*", code=1)
    memory = json.loads(run("mem", "model.gguf", "--json")[0])
    total, numbers = sum(size for _, size in stored.values()), sum(x.size for x in want.values())
    TALLY.check("mem", (memory["sizes"][0]["bytes"], memory["sizes"][0]["bits_per_number"]), (total, total * 8 / numbers))
    said = run("cast", "model.gguf", "bf16", "-o", "no.safetensors", code=3)[1]
    TALLY.check("cast says what to do", "--dequant" in said and "blocks of Q4_K" in said, True)
    TALLY.part("a model of mixed types")


def big_endian():
    """Only types with a known big-endian layout."""
    for name, (number, elements, size, _) in TYPES.items():
        write("big.gguf", [("q", "Q8_0", (1, 32), bytes(34)), ("w", number, (1, elements), bytes(size))], order=">")
        known = name in ("Q8_0", "Q4_0", "MXFP4", "NVFP4")
        said = run("quant", "big.gguf", "fp32", "--dequant", "-o", "big.safetensors", "--force", code=0 if known else 3)[1]
        TALLY.check(name + ", big-endian", "blocks of %s in big-endian order" % name in said, not known)
    TALLY.part("big-endian")


def hash_of(numbers):
    words = np.where(np.isnan(numbers), np.float32(np.nan), numbers).astype("<f4").view(np.uint32).reshape(-1)
    words = np.where(words << 1 > 0xff000000, 0x7fc00000, words)
    total = 0x811c9dc5
    for word in words:
        total = (total ^ int(word)) * 0x01000193 & 0xffffffff
    return total


def print_hashes():
    """Prints hashes of three blocks per type, with bytes from the high bits of a linear congruential generator."""
    for name, (number, _, size, _) in TYPES.items():
        state, data = number, []
        for _ in range(3 * size):
            state = (state * 1664525 + 1013904223) & 0xffffffff
            data.append(state >> 24)
        blocks = np.array(data, np.uint8).reshape(3, size)
        print("    {DTI_GGUF_%s, 0x%08x}," % (name, hash_of(numbers_of(name, blocks))))


def listed_sizes():
    """Sizes from the package or, if it is older than a type, from the structs."""
    listed = {row["name"]: row for row in json.loads(run("list", "--json")[0])["gguf_types"]}
    TALLY.check("types that are listed", sorted(listed), sorted(name.lower() for name in TYPES))
    for name, (number, elements, size, _) in TYPES.items():
        if number in set(gguf.GGMLQuantizationType) and name != "Q8_1":  # the package counts an fp32 where ggml.h has an fp16
            elements, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(number)]
        row = listed[name.lower()]
        TALLY.check(name, (row["block_elements"], row["block_bytes"], row["bits_per_weight"]),
                    (elements, size, 8 * size / elements))
        shown = json.loads(run("mem", "3x%d" % (2 * elements - 1), name, "--json")[0])["sizes"][0]
        if name not in ("NVFP4",):  # the block format NVFP4 has a tensor scale
            TALLY.check("mem of " + name, (shown["bytes"], shown["padding_elements"]), (6 * size, 3))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if not LIBRARY:
            print("ggml's C is not there: DTI_GGML_LIBRARY")
        every_type("--long" in sys.argv)
        listed_sizes()
        big_endian()
        a_model()
        os.chdir("/")
    TALLY.finish()


if sys.argv[1:] == ["--hashes"]:
    print_hashes()
else:
    PROGRAM = os.path.abspath(sys.argv[1])
    main()
