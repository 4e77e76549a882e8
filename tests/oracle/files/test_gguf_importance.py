#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""quant --imatrix: tensors encoded with the weights of an importance matrix, in both forms of the file, against ggml's
own C code or checksums of what it made; rows of all lengths, experts, any number of threads; what has no entry, what
does not fit, and files that are no importance matrix.

test_ggml_encode.py explains which library. Without one, the bytes are judged by the checksums, which are printed by
--sums with the library.

usage: test_gguf_importance.py DTINFO
       test_gguf_importance.py --sums
"""
import ctypes
import json
import pathlib
import struct
import subprocess
import sys
import zlib

import harness
from harness import bytes_of

gguf, numpy = harness.have("gguf"), harness.have("numpy")
if gguf is None or numpy is None:
    print("skipped: needs gguf and numpy")
    sys.exit(77)

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run
TYPES = gguf.GGMLQuantizationType
LIBRARY = harness.ggml_library()
# of all tensors of model() that take blocks of 256 or of 32
SUMS = {
    "q4_0": 0x6e8dec81,
    "q4_1": 0xe999652e,
    "q5_0": 0x08c6831a,
    "q5_1": 0x1b7032f1,
    "q2_k": 0x0789d436,
    "q3_k": 0xd5039d74,
    "q4_k": 0xbfe99d44,
    "q5_k": 0xda5844f1,
    "q6_k": 0x7f3c86b2,
    "iq4_nl": 0xe6d6f2a9,
    "iq4_xs": 0x8775303a,
    "iq1_s": 0x9983adba,
    "iq1_m": 0xb52b44b4,
    "iq2_xxs": 0x2152f694,
    "iq2_xs": 0x04f659db,
    "iq2_s": 0x9efd9428,
    "iq3_xxs": 0x2a446276,
    "iq3_s": 0x6da304c1,
}
ROW, WIDE = 768, 1 << 16    # elements; a row that is longer than what is encoded at once


def numbers(seed, *shape):
    """Sums of three uniform numbers with some large ones, in integer arithmetic: the same everywhere."""
    state = (numpy.arange(int(numpy.prod(shape)), dtype=numpy.uint64) + numpy.uint64(seed * 1000003)) * numpy.uint64(0x9e3779b97f4a7c15)
    state = (state ^ state >> numpy.uint64(29)) * numpy.uint64(0xbf58476d1ce4e5b9)
    state ^= state >> numpy.uint64(32)
    parts = [(state >> numpy.uint64(at) & numpy.uint64(0x3fff)).astype(numpy.int64) - 0x2000 for at in (0, 14, 28)]
    large = numpy.where(state >> numpy.uint64(56) == 0, 16, 1)
    return (sum(parts) * large).astype("<f4").reshape(shape) * numpy.float32(2 ** -17)


def sums_of(seed, *shape):
    """Sums of squares: many small, some large, and zeros."""
    some = numpy.abs(numbers(seed, *shape)) * numpy.float32(16)
    some = some * some * numpy.float32(64)
    some[some < 0.02] = 0
    return some


def model():
    """name -> (numbers, sums, counts); counts: one of each matrix."""
    shapes = {"blk.0.attn_q.weight": (9, ROW), "blk.0.attn_v.weight": (5, 256), "blk.0.ffn_down.weight": (3, WIDE),
              "blk.0.ffn_up_exps.weight": (4, 6, ROW), "blk.0.ffn_gate.weight": (40, 2304)}
    tensors = {}
    for seed, (name, shape) in enumerate(shapes.items()):
        matrices = shape[0] if len(shape) == 3 else 1
        counts = numpy.array([17, 0, 3, 1][:matrices], "<f4")
        tensors[name] = (numbers(seed, *shape), sums_of(seed + 50, matrices, shape[-1]), counts)
    return tensors


def write_model(path, arrays):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("general.file_type", 0)
    for name, array in arrays.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_gguf(path, entries):
    """entries: name -> (sums, counts); sums None, or counts None: there are none."""
    writer = gguf.GGUFWriter(path, "")
    writer.add_type("imatrix")
    writer.add_array("imatrix.datasets", ["calibration.txt"])
    writer.add_uint32("imatrix.chunk_count", 5)
    writer.add_uint32("imatrix.chunk_size", 512)
    for name, (sums, counts) in entries.items():
        if sums is not None:
            writer.add_tensor(name + ".in_sum2", sums)
        if counts is not None:
            writer.add_tensor(name + ".counts", counts.reshape(-1, 1))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def old_form(entries, ending=True):
    """entries: name -> (calls, values)."""
    data = struct.pack("<i", len(entries))
    for name, (calls, values) in entries.items():
        data += struct.pack("<i", len(name)) + name.encode() + struct.pack("<ii", calls, values.size)
        data += values.astype("<f4").tobytes()
    return data + (struct.pack("<ii", 5, 11) + b"calibration" if ending else b"")


def write_old(path, *words, **more):
    with open(path, "wb") as file:
        file.write(old_form(*words, **more))


def read(path):
    return {tensor.name: (tensor.tensor_type.name, tensor.data.tobytes()) for tensor in gguf.GGUFReader(path).tensors}


def weights_of(sums, counts):
    """As llama-quantize computes them: 1 where a matrix has no count."""
    with numpy.errstate(all="ignore"):
        return numpy.where(counts[:, None] > 0, sums / counts[:, None], numpy.float32(1)).astype("<f4")


def encode(word, array, weights):
    """By ggml's C code, for each matrix with its weights; weights may be None."""
    kind = TYPES[word.upper()]
    length, size = gguf.GGML_QUANT_SIZES[kind]
    matrices, out = array.reshape(-1, array.shape[-2], array.shape[-1]), b""
    for at, matrix in enumerate(matrices):
        blocks = numpy.zeros(matrix.size // length * size, "u1")
        own = None if weights is None else numpy.ascontiguousarray(weights[at], "<f4")
        source = numpy.ascontiguousarray(matrix, "<f4")
        getattr(LIBRARY, "quantize_" + word.replace("_k", "_K"))(
            ctypes.c_void_p(source.ctypes.data), ctypes.c_void_p(blocks.ctypes.data), ctypes.c_int64(matrix.shape[0]),
            ctypes.c_int64(matrix.shape[1]), None if own is None else ctypes.c_void_p(own.ctypes.data))
        out += blocks.tobytes()
    return out


GRIDS = ("iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s")    # these need weights
WEIGHTED = ("q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs", *GRIDS)


def judge_types():
    tensors = model()
    write_model("in.gguf", {name: array for name, (array, _, _) in tensors.items()})
    write_gguf("new.gguf", {name: (sums, counts) for name, (_, sums, counts) in tensors.items()})
    write_old("old.dat", {name: (1, weights_of(sums, counts)) for name, (_, sums, counts) in tensors.items()})
    for word in WEIGHTED:
        run("quant", "in.gguf", word, "--imatrix", "new.gguf", "-o", "out.gguf", "--force", "-q", "--threads", 1)
        after = read("out.gguf")
        plain = {}
        if word in GRIDS:
            _, said = run("quant", "in.gguf", word, "-o", "plain.gguf", "--force", status=2)
            require("%s is encoded with the weights of an importance matrix only; add --imatrix FILE" % word in said, said)
        else:
            run("quant", "in.gguf", word, "-o", "plain.gguf", "--force", "-q")
            plain = read("plain.gguf")
        for name, (array, sums, counts) in tensors.items():
            require(after[name][0] == word.upper() and after[name] != plain.get(name), word, name, "has no weights")
            if LIBRARY:
                require(after[name][1] == encode(word, array, weights_of(sums, counts)), word, name, "is not what ggml makes")
        require(SUMS[word] == zlib.crc32(b"".join(after[name][1] for name in tensors)), word, "has another checksum")
        for words in (["--threads", 2], ["--threads", 3, "--max-memory", "64KiB"]):
            run("quant", "in.gguf", word, "--imatrix", "new.gguf", "-o", "again.gguf", "--force", "-q", *words)
            require(bytes_of("again.gguf") == bytes_of("out.gguf"), word, words, "makes other bytes")
        run("quant", "in.gguf", word, "--imatrix", "old.dat", "-o", "again.gguf", "--force", "-q")
        require(read("again.gguf") == after, word, "the old form gives other blocks")


def judge_counts():
    """What divides the sums; an entry of the old form without calls is what it is; it may have no ending."""
    tensors = model()
    name = "blk.0.attn_q.weight"
    array, sums, _ = tensors[name]
    write_model("in.gguf", {name: array})
    made = []
    for form, calls in (("old", 4), ("old", 0), ("old", -1), ("new", 4), ("new", 0)):
        if form == "old":
            write_old("m", {name: (calls, sums)}, ending=calls > 0)
        else:
            write_gguf("m", {name: (sums, numpy.array([calls], "<f4")), "other.weight": (sums, numpy.ones(1, "<f4"))})
        run("quant", "in.gguf", "q6_k", "--imatrix", "m", "-o", "out.gguf", "--force", "-q")
        made.append(read("out.gguf")[name][1])
        if LIBRARY:
            divided = sums / numpy.float32(calls) if calls > 0 else sums if form == "old" else numpy.ones_like(sums)
            require(made[-1] == encode("q6_k", array, divided), form, calls)
    require(made[0] == made[1] == made[2] == made[3] != made[4], "powers of two divide exactly, and ones are others")


def judge_names():
    """Tensors without an entry, types that take no weights, and what the document states."""
    tensors = model()
    arrays = {name: array for name, (array, _, _) in tensors.items()}
    write_model("in.gguf", arrays)
    first, second, *others = tensors
    write_gguf("m.gguf", {name: tensors[name][1:] for name in (first, *others)})
    out, said = run("quant", "in.gguf", "q4_k", "--imatrix", "m.gguf", "-o", "out.gguf", "--force", "--json")
    document = json.loads(out)
    require(document["options"]["imatrix"] == {"path": "m.gguf", "path_hex": None, "tensors": 4, "missing": 1}, document["options"])
    notes = {note["code"]: note["message"] for note in document["warnings"]}
    require("no entry for tensor '%s'" % second in notes["no_weights"], notes)
    run("quant", "in.gguf", "q4_k", "-o", "plain.gguf", "--force", "-q")
    after, plain = read("out.gguf"), read("plain.gguf")
    require([name for name in tensors if after[name] == plain[name]] == [second], "the tensor without an entry")
    out, said = run("quant", "in.gguf", "q8_0", "--imatrix", "m.gguf", "-o", "mixed.gguf", "--json", "--type", first + "=q4_k")
    require(json.loads(out)["options"]["imatrix"] == {"path": "m.gguf", "path_hex": None, "tensors": 1, "missing": 0}, "only one takes weights")
    run("quant", "in.gguf", "q8_0", "-o", "q8_0.gguf", "-q")
    mixed, q8 = read("mixed.gguf"), read("q8_0.gguf")
    require(mixed[first] == after[first] and all(mixed[name] == q8[name] for name in (second, *others)), "q8_0 ignores weights")
    _, said = run("quant", "in.gguf", "q8_0", "--type", "%s=iq2_xs,%s=iq1_s" % (second, first), "--imatrix", "m.gguf", "-o", "bad.gguf", status=3)
    require("'m.gguf' has no entry for tensor '%s', and iq2_xs needs weights; --type" % second in said and said.count("\n") == 1, said)
    _, said = run("quant", "in.gguf", "q8_0", "--type", second + "=iq2_xs", "-o", "bad.gguf", status=2)
    require("iq2_xs is encoded with the weights of an importance matrix only" in said, said)
    _, said = run("quant", "in.gguf", "q4_k", "--imatrix", "m.gguf", "-o", "out.gguf", "--force", "--select", first + "," + second)
    require("no entry for tensor '%s', which is encoded without weights" % second in said, said)


def keys(path):
    """The keys on the matrix, with their types."""
    start = "quantize.imatrix."
    return {name[len(start):]: (field.types[0].name, field.contents()) for name, field in gguf.GGUFReader(path).fields.items()
            if name.startswith(start)}


def judge_keys():
    """The keys of llama-quantize: those of the matrix replace those of the input, and what --set says replaces both."""
    name = "blk.0.attn_q.weight"
    array, sums, counts = model()[name]
    pathlib.Path("folder").mkdir(exist_ok=True)
    write_gguf("folder/new.gguf", {name: (sums, counts), "other.weight": (sums, counts)})
    write_old("old.dat", {name: (1, sums)})
    write_old("short.dat", {name: (1, sums)}, ending=False)
    number = lambda count: ("UINT32", count)
    text = lambda word: ("STRING", word)
    new = {"file": text("new.gguf"), "dataset": text("calibration.txt"), "entries_count": number(2), "chunks_count": number(5)}
    old = {"file": text("old.dat"), "dataset": text("calibration"), "entries_count": number(1), "chunks_count": number(5)}
    short = {"file": text("short.dat"), "entries_count": number(1)}
    write_model("in.gguf", {name: array})
    source = "in.gguf"
    for path, want in (("folder/new.gguf", new), ("old.dat", old), (str(pathlib.Path("folder/new.gguf").resolve()), new), ("short.dat", short)):
        for word in ("q4_k", "iq3_s"):
            run("quant", source, word, "--imatrix", path, "-o", "out.gguf", "--force", "-q")
            require(keys("out.gguf") == want, path, keys("out.gguf"))
        run("quant", "out.gguf", "q8_0", "-o", "again.gguf", "--force", "-q")
        require(keys("again.gguf") == want, "without a matrix the keys stay", keys("again.gguf"))
        run("quant", "again.gguf", "fp32", "--dequant", "-o", "floats.gguf", "--force", "-q")
        source = "floats.gguf"      # with the keys of this matrix
        require(keys(source) == want, "keys stay when numbers are decoded", keys(source))
    run("quant", source, "q4_k", "--imatrix", "old.dat", "-o", "out.gguf", "--force", "-q", "--set", "quantize.imatrix.file=mine",
        "--set", "quantize.imatrix.chunks_count=7")
    require(keys("out.gguf") == {**old, "file": text("mine"), "chunks_count": number(7)}, keys("out.gguf"))
    bad = b"b\xffd.dat"
    with open(bad, "wb") as file:
        file.write(old_form({name: (1, sums)}))
    subprocess.run([DTINFO.path, "quant", "in.gguf", "q4_k", "--imatrix", bad, "-o", "out.gguf", "--force", "-q"], check=True)
    require(keys("out.gguf") == {key: value for key, value in old.items() if key != "file"}, "a name that is no text is left out", keys("out.gguf"))


def judge_checkpoint():
    """Tensors of a checkpoint are found by their names in GGUF."""
    import model_files
    numbers_of_model = model_files.write_model(pathlib.Path("checkpoint"), "llama")
    arrays = {name: array.astype("<f4") for name, array in model_files.converted("llama", numbers_of_model).items()
              if array.ndim == 2 and name.endswith("weight") and not name.endswith("_norm.weight")}
    sums = {name: sums_of(at, 1, array.shape[1]) + numpy.float32(0.01) for at, (name, array) in enumerate(arrays.items())}
    write_gguf("m.gguf", {name: (values, numpy.ones(1, "<f4")) for name, values in sums.items()})
    out = run("quant", "checkpoint", "q4_0", "--imatrix", "m.gguf", "-o", "out.gguf", "--force", "--json")[0]
    require(json.loads(out)["options"]["imatrix"]["tensors"] == len(arrays) > 5, out[-300:])
    after = read("out.gguf")
    for name, array in arrays.items():
        require(after[name][0] == "Q4_0", name)
        if LIBRARY:
            require(after[name][1] == encode("q4_0", array, sums[name]), name, "is not what ggml makes")


def judge_refusals():
    tensors = model()
    name = "blk.0.attn_q.weight"
    array, sums, counts = tensors[name]
    write_model("in.gguf", {name: array})
    write_gguf("good.gguf", {name: (sums, counts)})
    bad = sums.copy()
    forms = {}
    for word, value in (("negative", -1), ("nan", numpy.nan), ("inf", numpy.inf)):
        bad[0, 700] = value
        forms[word] = ({name: (bad.copy(), counts)}, "entry '%s' has a weight that is negative, infinite or NaN" % name)
    forms.update({
        "short": ({name: (sums[:, 1:], counts)}, "has 767 weights for tensor '%s', whose matrices have 768 columns together" % name),
        "experts": ({name: (numpy.repeat(sums, 2, 0), numpy.ones(2, "<f4"))}, "has 1536 weights for tensor"),
        "counts": ({name: (sums, None)}, "entry '%s' has no counts" % name),
        "three": ({name: (sums, numpy.ones(5, "<f4"))}, "has sums and counts that do not fit"),
        "wide": ({name: (sums.astype("<f8"), counts)}, "is not little-endian fp32"),
        "other": ({"x.weight": (sums, counts)}, "has no entry for any tensor that takes weights: 1, the first is '%s'" % name),
        "none": ({name: (None, counts)}, "no tensor is called X.in_sum2"),
    })
    cases = [("good.gguf", ["q8_0"], "q8_0 ignores the weights of an importance matrix; leave out --imatrix"),
             ("good.gguf", ["tq1_0"], "tq1_0 ignores the weights"), ("missing.gguf", ["q4_k"], "missing.gguf")]
    for word, (entries, problem) in forms.items():
        write_gguf(word + ".imatrix", entries)
        cases.append((word + ".imatrix", ["q4_k"], problem))
    for path, words, problem in cases:
        _, said = run("quant", "in.gguf", *words, "--imatrix", path, "-o", "bad.gguf", status=2 if path == "good.gguf" else 3)
        require(problem in said and said.count("\n") == 1, path, said)
    for words in (["in.gguf", "int8", "-o", "bad.safetensors"], ["in.gguf", "fp32", "--dequant", "-o", "bad.gguf"], ["1", "2", "q4_0"]):
        _, said = run("quant", *words, "--imatrix", "good.gguf", status=2)
        require("--imatrix is for" in said and said.count("\n") == 1, words, said)


def judge_hostile():
    """Files of the old form that end anywhere, with any number changed: each is refused in one line, or is none the worse."""
    write_model("in.gguf", {"a.weight": numbers(1, 2, 32)})
    whole = old_form({"a.weight": (3, sums_of(2, 32)), "b": (1, sums_of(3, 2))})
    ends = {len(whole), len(whole) - 19, len(whole) - 15}    # without an ending, and without the name of the text
    for size in range(len(whole)):
        with open("m", "wb") as file:
            file.write(whole[:size])
        status = 0 if size in ends else 3
        _, said = run("quant", "in.gguf", "q4_0", "--imatrix", "m", "-o", "out.gguf", "--force", "-q", status=status)
        require(said.count("\n") == (status > 0), size, said)
    places = [0, 4, 16, 20, 24 + 4 * 32, 24 + 4 * 32 + 5, len(whole) - 15]
    for at in places:
        for value in (-1, -2 ** 31, 2 ** 31 - 1, 0, 1 << 16):
            with open("m", "wb") as file:
                file.write(whole[:at] + struct.pack("<i", value) + whole[at + 4:])
            done = subprocess.run([DTINFO.path, "quant", "in.gguf", "q4_0", "--imatrix", "m", "-o", "out.gguf", "--force", "-q"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            require(done.returncode in (0, 3) and done.stderr.count(b"\n") == done.returncode // 3, at, value, done.stderr)
    with open("m", "wb") as file:
        file.write(whole + b"x")
    _, said = run("quant", "in.gguf", "q4_0", "--imatrix", "m", "-o", "bad.gguf", status=3)
    require("goes on after the end" in said, said)
    write_old("m", {"a.weight": (1, sums_of(2, 32))})
    twice = bytes_of("m")
    with open("m", "wb") as file:
        file.write(struct.pack("<i", 2) + twice[4:-19] + twice[4:])
    _, said = run("quant", "in.gguf", "q4_0", "--imatrix", "m", "-o", "bad.gguf", status=3)
    require("entry 'a.weight' is there twice" in said, said)


def print_sums():
    for word in WEIGHTED:
        made = b"".join(encode(word, array, weights_of(sums, counts)) for array, sums, counts in model().values())
        print('    "%s": 0x%08x,' % (word, zlib.crc32(made)))


def main():
    if LIBRARY:
        harness.ggml_neighbours(LIBRARY)
    if sys.argv[1] == "--sums":
        print_sums()
        return
    harness.in_new_folder(judge_types, judge_counts, judge_names, judge_keys, judge_checkpoint, judge_refusals, judge_hostile)
    print("%d checks%s" % (DTINFO.checks, "" if LIBRARY else ", by checksums only (DTI_GGML_LIBRARY)"))


if __name__ == "__main__":
    main()
