# SPDX-License-Identifier: MIT
"""numpy arrays in files of torch.save(): what dtinfo copies out equals what torch.load(weights_only=False) unpickles,
bit for bit, in protocols 2 to 5; all other numpy objects are skipped.

usage: test_torch_arrays.py DTINFO
"""
import json
import os
import random
import subprocess
import sys
import tempfile

from harness import Tally, have
from tensor_files import read_file

PROGRAM = os.path.abspath(sys.argv[1])
if not have("torch") or not have("numpy"):
    print("skipped: needs torch and numpy")
    sys.exit(77)
import numpy as np
import torch

TALLY = Tally()
RANDOM = random.Random(20261124)
NUMBERS = np.random.default_rng(20261124)
NAMES = {"f2": "F16", "f4": "F32", "f8": "F64", "i1": "I8", "i2": "I16", "i4": "I32", "i8": "I64", "u1": "U8", "u2": "U16",
         "u4": "U32", "u8": "U64", "b1": "BOOL", "c8": "C64"}
WAYS = [{"pickle_protocol": protocol, "_use_new_zipfile_serialization": new}
        for protocol in (2, 3, 4, 5) for new in (True, False)]
if have("ml_dtypes"):
    import ml_dtypes
    OTHERS = {np.dtype(ml_dtypes.bfloat16): "BF16", np.dtype(ml_dtypes.float8_e4m3fn): "F8_E4M3",
              np.dtype(ml_dtypes.float8_e5m2): "F8_E5M2"}
else:
    OTHERS = {}


def run(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def of(dtype, *shape):
    """Random bytes, so that all byte values occur, including those that protocol 2 encodes in two bytes."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == np.bool_:
        return NUMBERS.integers(0, 2, shape).astype(bool)
    return np.frombuffer(NUMBERS.bytes(count * dtype.itemsize), dtype).reshape(shape).copy()


def name_of(array):
    return OTHERS.get(array.dtype) or NAMES[array.dtype.newbyteorder("<").str[1:]]


def raw(array):
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def same(what, value, **how):
    torch.save(value, "x.pt", **how)
    back = torch.load("x.pt", weights_only=False)
    want = {}
    for name, array in back.items():
        if isinstance(array, torch.Tensor):
            array = array.numpy()
        if isinstance(array, np.ndarray) and array.dtype.kind in "fiubcV" and array.dtype.names is None:
            want[name] = (name_of(array), list(array.shape), raw(array))
    done = run("cast", "x.pt", "fp32", "--keep", "*", "-q", "--force", "-o", "out.safetensors")
    if done.returncode != 0:
        TALLY.differ(what, done.stderr.decode().strip(), "%d arrays" % len(want))
        return
    got = read_file("out.safetensors")
    TALLY.check(what + ": names", sorted(got), sorted(want))
    for name in want:
        TALLY.check("%s: %s" % (what, name), got.get(name), want[name])


def arrays():
    for how in WAYS:
        for dtype in [*NAMES, *OTHERS]:
            base = of(dtype, 3, 4, 5)
            swapped = base if isinstance(dtype, np.dtype) else base.astype(base.dtype.newbyteorder(">"))
            same("%s, %s" % (dtype, how), {
                "a": base, "fortran": np.asfortranarray(base), "view": base[:, 1:3, ::2], "swapped": swapped,
                "transposed": base.T, "one": base[:1, :, :1], "none": base[:0], "scalar": np.array(base[0, 0, 0]),
                "vector": base.ravel()[::-1], "again": base, "torch": torch.arange(3), "swapped fortran": swapped.T}, **how)
        frozen = of("f4", 2, 3)
        frozen.flags.writeable = False
        same("not writeable, %s" % how, {"a": frozen, "b": np.frombuffer(b"12345678", "<u2")}, **how)
        same("large, %s" % how, {"a": of("u1", 300000), "b": of("f4", 1000, 333), "c": of("f8", 77, 1001).T,
                                 "ascii": np.full(2 << 20, 65, np.uint8), "two": np.full((3 << 20) + 1, 0xFF, np.uint8),
                                 "odd": np.concatenate([np.full(65, 65, np.uint8), np.full(2 << 20, 0xE9, np.uint8)])}, **how)
    TALLY.part("arrays")


def shapes():
    for number in range(60):
        how = RANDOM.choice(WAYS)
        value = {}
        for index in range(20):
            shape = [RANDOM.randint(0 if RANDOM.random() < 0.05 else 1, 5) for _ in range(RANDOM.randint(0, 6))]
            array = of(RANDOM.choice(list(NAMES)), *shape)
            array = array.transpose(RANDOM.sample(range(len(shape)), len(shape)))
            value["a%d" % index] = array.copy(order=RANDOM.choice("CFAK"))
        same("shapes %d" % number, value, **how)
    TALLY.part("shapes")


def passed_over():
    """numpy scalars, dtypes, objects, texts, dates and structures are not tensors."""
    others = {"scalar": np.float32(3), "dtype": np.dtype("<f4"), "objects": np.array([1, "a"], object),
              "texts": np.array(["a", "bc"]), "bytes": np.array([b"a"]), "dates": np.array(["2020-01-01"], "M8[D]"),
              "fields": np.zeros(2, [("a", "<f4"), ("b", "<i8")]), "long": np.zeros(2, np.longdouble), "void": np.zeros(2, "V4")}
    for how in WAYS:
        torch.save({"a": of("f4", 2), **others}, "x.pt", **how)
        done = run("inspect", "x.pt", "--json")
        if done.returncode != 0:
            TALLY.differ("others", done.stderr.decode(), "a list")
            continue
        file = json.loads(done.stdout)["files"][0]
        TALLY.check("others: names", [t["name"] for t in file["tensors"]], ["a"])
        TALLY.check("others: note", "%d values are not tensors" % len(others) in str(file["notes"]), True)
        done = run("check", "x.pt", "--pickle", "--json")
        TALLY.check("others: check --pickle", done.returncode, 0)
    TALLY.part("passed over")


def damaged():
    torch.save({"a": np.full(40, 0xE9, np.uint8)}, "x.pt", pickle_protocol=2)
    data = bytearray(open("x.pt", "rb").read())
    at = data.index("\u00e9".encode() * 40)
    for what, change in {"a character beyond": b"\xc4\x80", "no character": b"\xff\xff", "fewer bytes": b"ab"}.items():
        open("y.pt", "wb").write(data[:at] + change + data[at + 2:])
        done = run("inspect", "y.pt", "--stats")
        TALLY.check(what, (done.returncode, b"damaged" in done.stderr), (3, True))
    torch.save({"a": np.full(40, 65, np.uint8)}, "x.pt", pickle_protocol=2)
    open("y.pt", "wb").write(open("x.pt", "rb").read().replace(b"A" * 40, b"A" * 38 + "\u00e9".encode()))
    done = run("inspect", "y.pt", "--stats")
    TALLY.check("more bytes", (done.returncode, b"damaged" in done.stderr), (3, True))
    torch.save({"a": np.zeros(10, np.float32)}, "x.pt", pickle_protocol=3)
    data = open("x.pt", "rb").read()
    for what, old, new in (("another shape", b"K\x01K\x0a\x85", b"K\x01K\x09\x85"), ("a larger shape", b"K\x01K\x0a\x85", b"K\x01K\x0b\x85"),
                           ("another dtype", b"f4", b"f2")):
        TALLY.check(what + " is there", data.count(old) > 0, True)
        open("y.pt", "wb").write(data.replace(old, new))
        TALLY.check(what, run("inspect", "y.pt").returncode, 3)
    TALLY.part("damaged")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    arrays()
    shapes()
    passed_over()
    damaged()
    os.chdir("/")
TALLY.finish()
