#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ONNX models broken in one place each, built from wire-format bytes: one error line, exit code 3, within limits on
memory and time. Uses only the standard library, so that the memory measured is dtinfo's.

usage: test_onnx_broken.py DTINFO
"""
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

from harness import Tally

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "data"))
from make_onnx import block, external, model, node, number, numbers, raw, tag, tensor, varint, write  # noqa: E402

DTINFO = os.path.abspath(sys.argv[1])
TALLY = Tally()
RANDOM = random.Random(25)
SANITIZED = b"__asan" in pathlib.Path(DTINFO).read_bytes()


def hostile():
    """Broken files by name: what is wrong, and a word of the message or None."""
    one = raw("a", 1, (2,), bytes(8))
    whole = model(one)
    yield "empty", b"", "graph"
    yield "a version alone", number(1, 10), "graph"
    yield "an empty graph field missing", number(1, 10) + block(2, "x") + block(8, number(2, 1)), "graph"
    yield "a group", whole + tag(3, "group"), "group"
    yield "the end of a group", whole + varint(3 << 3 | 4), "group"
    yield "field 0", whole + varint(0), "tag"
    yield "wire type 6", whole + varint(9 << 3 | 6), "tag"
    yield "wire type 7", whole + varint(9 << 3 | 7), "tag"
    yield "a tag beyond 32 bits", whole + varint(1 << 40), "tag"
    yield "a varint of 11 bytes", whole + tag(5, "varint") + b"\xff" * 10 + b"\1", "varint"
    yield "a varint of 65 bits", whole + tag(5, "varint") + b"\xff" * 9 + b"\2", "varint"
    yield "a varint that never ends", whole + tag(5, "varint") + b"\x80", "breaks off"
    yield "a length of 2^64 - 1", whole + tag(9, "bytes") + varint(2 ** 64 - 1), "bytes"
    yield "a length of 2^63", number(1, 10) + tag(7, "bytes") + varint(2 ** 63), "bytes"
    yield "a fixed32 cut short", whole + tag(9, "fixed32") + b"abc", "breaks off"
    yield "a fixed64 cut short", whole + tag(9, "fixed64") + b"abcdefg", "breaks off"
    yield "an inner length beyond its message", number(1, 10) + block(7, tag(5, "bytes") + varint(100)) + bytes(
        200), None
    yield "a name beyond its tensor", model(number(2, 1) + tag(8, "bytes") + varint(50)) + bytes(60), None
    for depth in (101, 200, 5000):
        inner = one
        for _ in range(depth):
            inner = block(6, block(1, block(5, inner)))
        yield f"depth {depth}", model(graph=block(1, block(5, inner))), "nested"
    for dims, word in (((-1,), "negative"), ((2 ** 63,), "negative"), ((2 ** 62, 2), "2^63"),
                       ((2 ** 40, 2 ** 40), "2^63"), ((2 ** 62,), None), ((2 ** 61,), None), ((1000,), "bytes"),
                       ((1,), "bytes"), ((0,), "bytes"),
                       ((1,) * 65, "dimensions"), ((2 ** 32, 2 ** 32, 2 ** 32), "2^63")):
        yield f"dimensions {dims[:3]} raw", model(raw("a", 1, dims, bytes(8))), word
        yield f"dimensions {dims[:3]} typed", model(tensor("a", 1, dims, numbers(4, [1, 2], "fixed32", True))), None
        yield f"dimensions {dims[:3]} packed", model(block(1, b"".join(map(varint, dims))) + number(2, 1) +
                                                     block(8, "a") + block(9, bytes(8))), word
    yield "no data", model(tensor("a", 1, (2,))), "no raw data"
    yield "data of another field", model(tensor("a", 1, (2,), numbers(5, [1, 2], "varint", True))), "no raw data"
    yield "too few numbers", model(tensor("a", 7, (3,), numbers(7, [1, 2], "varint", True))), "2 numbers"
    yield "too many numbers", model(tensor("a", 7, (1,), numbers(7, [1, 2], "varint", False))), "2 numbers"
    yield "half a float", model(tensor("a", 1, (1,), block(4, b"abcde"))), "whole numbers"
    yield "half a double", model(tensor("a", 11, (1,), block(10, b"abcdefghi"))), "whole numbers"
    yield "a packed varint cut short", model(tensor("a", 7, (1,), block(7, b"\x80"))), "breaks off"
    for kind, value in ((3, 300), (2, 256), (2, -129), (5, 70000), (10, 65536), (9, 256), (17, 1000), (27, 64),
                        (22, 256), (25, 999), (4, -40000)):
        yield f"{value} in type {kind}", model(tensor("a", kind, (1,), numbers(5, [value], "varint", True))), "fit"
    yield "2^32 in UINT32", model(tensor("a", 12, (1,), numbers(11, [2 ** 32], "varint", True))), "fit"
    yield "one name twice", model(one, one), "occurs twice"
    yield "one name twice, with a constant of it", model(one, one, graph=block(1, node("Constant", "c", "a", block(
        1, "value") + block(5, one)))), "occurs twice"
    yield "no name", model(raw("", 1, (2,), bytes(8))), "no name"
    yield "a sparse tensor without a name", model(graph=block(15, number(3, 1))), "no name"
    yield "a long name", model(raw("a" * 4097, 1, (2,), bytes(8))), "limit"
    yield "two tensors in an attribute", model(graph=block(1, node("Constant", "c", "k", block(1, "value") + block(
        5, one) + block(5, one)))), "two parts"
    yield "a key twice", model(one, more=2 * block(14, block(1, "k") + block(2, "v"))), "occurs twice"
    yield "an empty key", model(one, more=block(14, block(2, "v"))), "empty"
    sets = b"".join(block(8, block(1, str(i))) for i in range(300))
    yield "too many sets of operators", model(one, more=sets), "sets"
    for location in ("../x.bin", "sub/../../x.bin", "/etc/passwd", "C:/x", "c:x", "a\\b", "", ".", "./", "sub/",
                     "..", "a/..", "x\0y", "\x1b[2J", "nothing", "sub", "link", "fifo", "linked/x.bin",
                     "x.bin/y", "a" * 4096,
                     "a" * 300):
        yield f"location {location[:20]!r}", model(tensor("a", 1, (2,), external(location))), None
    for key, value in (("offset", "-1"), ("offset", "+1"), ("offset", "1e3"), ("offset", ""), ("offset", " 1"),
                       ("offset", "0x10"), ("offset", "9" * 19), ("offset", "9" * 30), ("offset", "99"),
                       ("offset", "9223372036854775807"), ("length", "7"), ("length", "x"), ("length", "-8"),
                       ("offset", "1\n")):
        yield f"{key} {value!r}", model(tensor("a", 1, (2,), external("x.bin", **{key: value}))), None
    yield "no location", model(tensor("a", 1, (2,), number(14, 1))), "empty"
    yield "a location of another tensor", model(tensor("b", 1, (2,), external("x.bin")), tensor("a", 1, (2,), number(
        14, 1))), "empty"
    yield "hundreds of thousands of empty tensors", model(graph=b"\x2a\0" * 400000), "no name"
    yield "hundreds of thousands of empty nodes and keys", model(graph=b"\x0a\0" * 400000,
                                                                 more=b"\x72\0" * 400000), None
    long = "n" * 4000
    yield "long paths", model(graph=block(1, block(3, long) + b"".join(
        block(5, block(1, "a") + block(6, block(5, raw("w", 1, (), bytes(4))))) for _ in range(20000)))), None


def broken():
    """Each one: exit code 3 and one line, in less than 64 MiB and one second."""
    for name in ("sub", "linked_target"):
        os.makedirs(name, exist_ok=True)
    write("x.bin", bytes(16))
    write("linked_target/x.bin", bytes(16))
    os.makedirs("models/sub", exist_ok=True)
    os.chdir("models")
    write("x.bin", bytes(16))
    os.symlink("../x.bin", "link")
    os.symlink("../linked_target", "linked")
    os.mkfifo("fifo")
    count = 0
    for subject, data, word in hostile():
        write("bad.onnx", data)
        refused(subject, word)
        count += 1
    whole = model(raw("a", 1, (2,), bytes(8)), tensor("b", 7, (2,), numbers(7, [300, -1], "varint", True)),
                  more=block(14, block(1, "k") + block(2, "v")))
    ends = [len(number(1, 10) + block(2, "wire"))]
    for end in range(len(whole)):
        write("bad.onnx", whole[:end])
        done = subprocess.run([DTINFO, "inspect", "bad.onnx", "--json"], capture_output=True, check=False)
        if done.returncode == 0:   # only where the model has a field that ends after its graph
            names = [one["name"] for one in json.loads(done.stdout)["files"][0]["tensors"]]
            TALLY.check(f"cut at {end}", names, ["a", "b"])
            ends.append(end)
        else:
            refused(f"cut at {end}", None)
    TALLY.check("cuts that are models", len(ends), 3)
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(RANDOM.randrange(1, 4)):
            data[RANDOM.randrange(len(data))] = RANDOM.randrange(256)
        write("bad.onnx", bytes(data))
        done = subprocess.run([DTINFO, "inspect", "bad.onnx", "--stats"], capture_output=True, check=False)
        lines = done.stderr.count(b"\n")
        TALLY.check("random changes", (done.returncode, lines) in ((0, 0), (3, 1)), True)
    os.chdir("..")
    print(f"{count} broken files")
    TALLY.part("broken files")


def refused(subject, word):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([DTINFO, "inspect", "bad.onnx"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    TALLY.check(subject, (process.returncode, out, err.count(b"\n")), (3, b"", 1))
    if word:
        TALLY.check(subject + ": " + err.decode(errors="replace").strip()[:200], word in err.decode(), True)
    odd = [byte for byte in err if byte < 32 and byte != 10 or byte == 127]
    TALLY.check(subject + ": control characters", odd, [])
    if not SANITIZED:
        TALLY.check(subject + ": time", seconds < 1, True)


def limits():
    """The peak over all children so far: each stayed below 64 MiB."""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"peak {peak} KiB")
    if not SANITIZED:
        TALLY.check("peak memory of broken files in KiB", peak < 64 << 10, True)


with tempfile.TemporaryDirectory(prefix="dtinfo-onnx-") as scratch:
    os.chdir(scratch)
    broken()
    limits()
    os.chdir("/")
TALLY.finish()
