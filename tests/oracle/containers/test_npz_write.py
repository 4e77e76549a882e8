#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
""".npz output against zipfile, numpy and unzip: every dtype of numpy, both orders, names, empty and scalar arrays,
dtypes that numpy stores as bytes, many members; tensors that no archive can hold are refused by name.

usage: test_npz_write.py DTINFO [--long]
"""
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import time
import zipfile

import harness
from harness import bytes_of

numpy = harness.have("numpy")
if numpy is None:
    print("skipped: needs numpy")
    sys.exit(77)

DTINFO = harness.Program(sys.argv[1])
require, run = DTINFO.require, DTINFO.run
LONG = "--long" in sys.argv
RANDOM = numpy.random.default_rng(5)
# dtype names of safetensors, then of numpy
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
          "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1", "C64": "<c8"}


def safetensors(path, tensors, metadata=None):
    """tensors: name -> (dtype as the format spells it, shape, bytes)."""
    header, at = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


def array_of(descr, shape):
    count = int(numpy.prod(shape, dtype=numpy.int64))
    if descr == "|b1":
        return RANDOM.integers(0, 2, count).astype(bool).reshape(shape)
    raw = RANDOM.bytes(count * numpy.dtype(descr).itemsize)
    return numpy.frombuffer(raw, descr).reshape(shape)


def members(path, unzip=True):
    """zipfile's members of an archive, after it has checked every CRC; the data of all are aligned."""
    with zipfile.ZipFile(path) as zipped:
        require(zipped.testzip() is None, path, "testzip")
        infos = zipped.infolist()
    with open(path, "rb") as file:
        for info in infos[:50] + infos[-50:]:
            file.seek(info.header_offset)
            local = file.read(30)
            name, extra = struct.unpack("<HH", local[26:30])
            require((info.header_offset + 30 + name + extra) % 64 == 0, info.filename, "is not aligned")
            require(info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size, info.filename)
    if unzip and len(infos) < 1000 and shutil.which("unzip"):
        done = subprocess.run(["unzip", "-tqq", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        require(done.returncode == 0 or (not infos and done.returncode == 1), path, done.stdout)
    return infos


def require_arrays(path, want):
    members(path)
    with numpy.load(path, allow_pickle=False) as loaded:
        require(loaded.files == list(want), loaded.files, list(want))
        for name, array in want.items():
            got = loaded[name]
            require(got.dtype.str == array.dtype.str and got.shape == array.shape, name, got.dtype, got.shape)
            require(got.tobytes() == array.tobytes(), name, "has other numbers")
            require(got.flags.f_contiguous == array.flags.f_contiguous, name, "has another order")


def judge_dtypes():
    tensors, want = {}, {}
    for word, descr in DTYPES.items():
        for shape in ((), (1,), (0, 3), (5,), (2, 3, 4), (129, 65)):
            name = "%s.%s" % (word, "x".join(map(str, shape)))
            want[name] = array_of(descr, shape)
            tensors[name] = (word, shape, want[name].tobytes())
    names = ["a/b/c", "sp ace", "\xfcml\xe4ut", "\u65e5\u672c", "-x", "a\\b", "dot.", "...", "x.npz", "y.npy", "new\nline", "tab\t",
             "'quoted'", "%s", "~", "C:x", "a//b", "x" * 900, "file", "arr_0"]
    for name in names:
        want[name] = array_of("<f4", (3,))
        tensors[name] = ("F32", (3,), want[name].tobytes())
    safetensors("all.safetensors", tensors)
    for threads in (1, 3):
        run("cast", "all.safetensors", "fp32", "--cast-only", "none*", "--allow-unmatched", "--threads", threads, "-o",
            "all.npz", "--force")
        require_arrays("all.npz", want)
    for words in (["inspect", "all.npz", "--stats"], ["check", "all.npz", "--valid"],
                  ["compare", "all.safetensors", "all.npz", "--bitwise"]):
        run(*words)
    run("cast", "all.npz", "fp32", "--cast-only", "none*", "--allow-unmatched", "-o", "again", "--force")
    require(bytes_of("again") == bytes_of("all.npz"), "a second run of our own output makes other bytes")


def judge_casts():
    numbers = {name: RANDOM.standard_normal(shape).astype("<f4")
               for name, shape in (("large", (1500, 1100)), ("small", (7,)), ("odd", (333, 3)))}
    safetensors("w.safetensors", {name: ("F32", array.shape, array.tobytes()) for name, array in numbers.items()})
    for dtype, descr in (("fp16", "<f2"), ("fp64", "<f8"), ("fp32", "<f4")):
        for memory in ("1MiB", "64MiB"):
            run("cast", "w.safetensors", dtype, "-o", "w.npz", "--force", "--max-memory", memory, "--threads", 2)
            require_arrays("w.npz", {name: array.astype(descr) for name, array in numbers.items()})
    _, said = run("cast", "w.safetensors", "bf16", "-o", "w.npz", "--force")
    require("numpy has no bf16" in said and "['large']" in said, said)
    halves = {name: ((array.view("<u4").astype("u8") + 0x7FFF + ((array.view("<u4") >> 16) & 1)) >> 16).astype("<u2")
              for name, array in numbers.items()}
    require_arrays("w.npz", {name: array.view("V2") for name, array in halves.items()})
    run("compare", "w.safetensors", "w.npz", "--assume", "bf16", "--rtol", "0.01")
    run("cast", "w.npz", "fp32", "--assume", "bf16", "-o", "back.npz")
    require_arrays("back.npz", {name: (array.astype("<u4") << 16).view("<f4") for name, array in halves.items()})


def judge_orders():
    arrays = {"rows": RANDOM.standard_normal((40, 30)).astype("<f4"),
              "columns": numpy.asfortranarray(RANDOM.standard_normal((40, 30)).astype("<f4")),
              "swapped": RANDOM.standard_normal((4, 30)).astype(">f8"),
              "cube": numpy.asfortranarray(RANDOM.standard_normal((5, 6, 7)).astype("<f4"))}
    for save, name in ((numpy.savez, "o.npz"), (numpy.savez_compressed, "z.npz")):
        save(name, **arrays)
        run("cast", name, "fp64", "-o", "out.npz", "--force")
        require_arrays("out.npz", {key: array.astype("<f8") for key, array in arrays.items()})
        run("cast", name, "fp64", "--as", "npz", "--select", "columns", "-o", "one", "--force")
        require_arrays("one", {"columns": arrays["columns"].astype("<f8")})


def judge_quantized():
    numbers = {"w.weight": RANDOM.standard_normal((64, 128)).astype("<f4"),
               "v.weight": RANDOM.standard_normal((32, 96)).astype("<f4")}
    numpy.savez("q.npz", **numbers)
    for words in (["int8"], ["int8", "--per", "channel"], ["fp8_e4m3fn"], ["int4", "--block", "32"]):
        run("quant", "q.npz", *words, "-o", "codes.npz", "--force")
        run("quant", "q.npz", *words, "-o", "codes.safetensors", "--force")
        members("codes.npz")
        more = ["--bits", "4", "--block", "32"] if words[0] == "int4" else []
        run("quant", "--dequant", "codes.npz", "fp32", *more, *(["--assume", "fp8_e4m3fn"] if "fp8" in words[0] else []),
            "-o", "back.npz", "--force")
        run("quant", "--dequant", "codes.safetensors", "fp32", "-o", "want.safetensors", "--force")
        members("back.npz")
        run("compare", "want.safetensors", "back.npz", "--bitwise")


def judge_refusals():
    refused = {"": "has an empty name", "a\0b": "has a NUL", "/etc/x": "begins with /", "a/../b": "folder ..",
               "..": "folder ..", "../x": "folder ..", "x" * 65532: "too long"}
    for name, problem in refused.items():
        safetensors("bad.safetensors", {name: ("F32", (1,), bytes(4))})
        _, said = run("cast", "bad.safetensors", "fp16", "-o", "bad.npz", status=3)
        require(problem in said and said.count("\n") == 1 and not os.path.exists("bad.npz"), name[:20], said)
    safetensors("bad.safetensors", {"x": ("F32", (1,), bytes(4)), "x.npy": ("F32", (1,), bytes(4))})
    _, said = run("cast", "bad.safetensors", "fp16", "-o", "bad.npz", status=3)
    require("could not tell" in said, said)
    safetensors("ok.safetensors", {"..." : ("F32", (1,), bytes(4)), "a..b/.x./c..": ("F32", (1,), bytes(4))})
    run("cast", "ok.safetensors", "fp16", "-o", "ok.npz")
    require([info.filename for info in members("ok.npz")] == ["....npy", "a..b/.x./c...npy"])
    safetensors("long.safetensors", {"x" * 65531: ("F32", (1,), bytes(4))})
    run("cast", "long.safetensors", "fp16", "-o", "long.npz")
    require(len(members("long.npz", unzip=False)[0].filename) == 65535)  # unzip itself truncates such names
    _, said = run("cast", "ok.safetensors", "fp16", "--as", "npz", "-o", "-", status=2)
    require("not written in sequence" in said, said)
    safetensors("none.safetensors", {})
    run("cast", "none.safetensors", "fp16", "-o", "none.npz")
    require(members("none.npz") == [])
    with numpy.load("none.npz") as loaded:
        require(loaded.files == [])
    safetensors("told.safetensors", {"x": ("F32", (1,), bytes(4))}, {"format": "pt"})
    _, said = run("cast", "told.safetensors", "fp16", "-o", "told.npz")
    require("1 of 1 metadata entries are left out: npz files hold no metadata" in said, said)


def fields_of(dtype, name, begin=0):
    """(name, dtype, offset in a record) of the fields and nested fields, by numpy."""
    for field in dtype.names or ():
        inner, at = dtype.fields[field][:2]
        yield from fields_of(inner, name + "." + field, begin + at)
    if not dtype.names:
        yield name, dtype, begin


def judge_fields():
    """Structured arrays are listed by field, with numpy's offsets; non-numeric fields do not hide the others."""
    types = [("x", "<f4"), ("y", ">i2", (2, 3)), ("n", "S5"), ("in", [("a", "<f8"), ("b", "V3")]), ("t", "<M8[ns]"),
             (("title", "u"), "u1")]
    plain = numpy.arange(3, dtype="<f4")
    for dtype in (numpy.dtype(types), numpy.dtype(types, align=True), numpy.dtype([(str(i), "u1") for i in range(60)])):
        numpy.savez("s.npz", s=numpy.zeros(4, dtype), plain=plain, void=numpy.zeros(2, "V7"), text=numpy.array(["a"]))
        tensors = json.loads(run("inspect", "s.npz", "--json")[0])["files"][0]["tensors"]
        wanted = list(fields_of(dtype, "s"))
        told = [(one["name"], one["bytes"], one["offset"] - tensors[0]["offset"]) for one in tensors[:len(wanted)]]
        require(told == [(name, 4 * one.itemsize, at) for name, one, at in wanted], told, wanted)
        require([one["refusal"] is None for one in tensors[:len(wanted)]] == [one.base.kind not in "SVM" for _, one, _ in wanted], tensors)
        run("cast", "s.npz", "fp16", "--select", "plain", "-o", "p.npz", "--force")
        require_arrays("p.npz", {"plain": plain.astype("<f2")})
        run("inspect", "s.npz", "--stats")


def judge_calc():
    numpy.save("a.npy", numpy.arange(3000.0).reshape(30, 100))
    run("calc", "@a.npy * 2", "fp32", "-o", "c.npz", "-q")
    require_arrays("c.npz", {"data": (numpy.arange(3000.0).reshape(30, 100) * 2).astype("<f4")})


def judge_many():
    """More members than the 65,535 of the 32-bit end record."""
    count = 1000000 if LONG else 100000
    tensors = {"layer.%d.weight" % i: ("F32", (4,), struct.pack("<4f", i, 1, 2, 3)) for i in range(count)}
    safetensors("many.safetensors", tensors)
    started = time.monotonic()
    run("cast", "many.safetensors", "fp64", "-o", "many.npz", "-q")
    seconds = time.monotonic() - started
    infos = members("many.npz")
    require(len(infos) == count)
    with numpy.load("many.npz") as loaded:
        for i in (0, 1, 65534, 65535, 65536, count - 1):
            require(loaded["layer.%d.weight" % i].tolist() == [i, 1, 2, 3], i)
    run("check", "many.npz")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    print("%d members: %.2f s, at most %d MiB of any command" % (count, seconds, peak))
    require(seconds < 60 + count / 10000, seconds)


def judge_large():
    """Sizes and offsets around 4 GiB, in a sparse file: zip64 where a number needs it, and nowhere else."""
    full = 0xFFFFFFFF
    for first in (full - 128 - 1, full - 128, full - 128 + 1, full - 128 - 320, full + 1000):
        header = {"zeros": {"dtype": "U8", "shape": [first], "data_offsets": [0, first]},
                  "ones": {"dtype": "U8", "shape": [3], "data_offsets": [first, first + 3]},
                  "last": {"dtype": "U8", "shape": [0], "data_offsets": [first + 3, first + 3]}}
        text = json.dumps(header).encode()
        with open("large.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            file.seek(first, os.SEEK_CUR)
            file.write(b"\1\1\1")
        run("cast", "large.safetensors", "fp32", "-o", "large.npz", "--force", "-q")
        infos = members("large.npz", unzip=False)
        require([info.file_size for info in infos] == [first + 128, 131, 128], first, infos)
        require([info.extract_version >= 45 for info in infos] ==
                [max(info.file_size, info.header_offset) >= full for info in infos], first, infos)
        with numpy.load("large.npz", allow_pickle=False) as loaded:
            require(loaded["ones"].tolist() == [1, 1, 1] and loaded["last"].shape == (0,), first)
        run("check", "large.npz")
        os.unlink("large.npz")


def main():
    harness.in_new_folder(judge_dtypes, judge_casts, judge_orders, judge_quantized, judge_refusals, judge_fields, judge_calc,
                          judge_many, *([judge_large] if LONG else []))
    print("%d checks" % DTINFO.checks)


if __name__ == "__main__":
    main()
