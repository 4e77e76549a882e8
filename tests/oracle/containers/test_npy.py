#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The readers and the writer of .npy and .npz against numpy: we read what numpy writes, numpy accepts and agrees with
what we accept, and numpy reads what we write. Nothing is ever executed."""

import importlib
import io
import json
import os
import random
import string
import struct
import subprocess
import sys
import tempfile
import warnings

import npy_files
from harness import Tally, arguments

MAX_HEADER = 1 << 21
SHOWN_BYTES = 1 << 20  # bytes of a tensor's data that the probe prints
ML_FORMATS = {
    "bfloat16": "bf16", "float8_e5m2": "fp8_e5m2", "float8_e4m3fn": "fp8_e4m3fn",
    "float8_e4m3": "fp8_e4m3", "float8_e3m4": "fp8_e3m4", "float8_e4m3fnuz": "fp8_e4m3fnuz",
    "float8_e5m2fnuz": "fp8_e5m2fnuz", "float8_e4m3b11fnuz": "fp8_e4m3b11fnuz",
    "float8_e8m0fnu": "fp8_e8m0", "float6_e3m2fn": "fp6_e3m2", "float6_e2m3fn": "fp6_e2m3",
    "float4_e2m1fn": "fp4_e2m1", "int4": "int4", "uint4": "uint4", "int2": "int2", "uint2": "uint2",
}


def ask(probe, files, *words):
    """The probe's verdicts on many in-memory files."""
    frames = b"".join(struct.pack("<I", len(data)) + data for data in files)
    done = subprocess.run([probe, *words], input=frames, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"the probe ended with status {done.returncode}")
    return [json.loads(line) for line in done.stdout.decode("utf-8", "replace").splitlines()]


def bytes_of(array, fortran):
    return array.tobytes("F" if fortran else "C")


def check_array(tally, what, tensor, array, formats):
    """Compares one of our tensors with the expected numpy array."""
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    kind = f"{array.dtype.kind}{array.dtype.itemsize}"
    tally.check(f"{what} format", tensor["format"], formats.get(kind))
    tally.check(f"{what} shape", tensor["shape"], list(array.shape))
    tally.check(f"{what} fortran", tensor["fortran"], fortran)
    tally.check(f"{what} big", tensor["big"], array.dtype.str[0] == ">" and tensor["format"] is not None)
    tally.check(f"{what} bytes", tensor["bytes"], array.nbytes)
    tally.check(f"{what} data", tensor["data"], bytes_of(array, fortran)[:SHOWN_BYTES].hex())


def check_written(tally, np, what, tensor, array):
    """The header that we write for it, followed by the data, is a valid numpy file."""
    if tensor["head"] is None:
        tally.check(f"{what} head", array.dtype.kind in "biufc", False)
        return
    head = bytes.fromhex(tensor["head"])
    if not tensor["big"]:
        fortran = tensor["fortran"]
        want = npy_files.save(np, array)
        if array.dtype.kind in "biufc":
            tally.check(f"{what} file", head + bytes_of(array, fortran), want)
    back = np.load(io.BytesIO(head + bytes(array.nbytes)), allow_pickle=False)
    tally.check(f"{what} shape written", back.shape, array.shape)
    tally.check(f"{what} size written", back.nbytes, array.nbytes)


def numpy_part(tally, probe, np, rng):
    files, wanted = [], []
    for name in npy_files.FORMATS:
        for order in "<>":
            for shape in npy_files.SHAPES:
                dtype = np.dtype(order + name)
                size = int(np.prod(shape)) * dtype.itemsize
                array = np.frombuffer(rng.randbytes(size), dtype).reshape(shape)
                for array in (array, np.asfortranarray(array)):
                    version = rng.choice((None, (1, 0), (2, 0), (3, 0)))
                    files.append(npy_files.save(np, array, version))
                    wanted.append(array)
    for _ in range(300):        # headers of all lengths
        shape = (2, *(1,) * rng.randrange(40), rng.choice((3, 77, 5000, 30000)))
        wanted.append(np.zeros(shape, "u1", order=rng.choice("CF")))
        files.append(npy_files.save(np, wanted[-1]))
    for array, verdict in zip(wanted, ask(probe, files), strict=True):
        what = f"{array.dtype.str} {array.shape}"
        if not verdict["ok"]:
            tally.differ(what, verdict["error"], "accepted")
            continue
        check_array(tally, what, verdict["tensors"][0], array, npy_files.FORMATS)
        check_written(tally, np, what, verdict["tensors"][0], array)


def foreign_part(tally, probe, np):
    """Types that are listed but not read."""
    arrays = [np.zeros((2, 3), dtype) for dtype in npy_files.FOREIGN]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = [npy_files.save(np, array) for array in arrays]
    for array, verdict in zip(arrays, ask(probe, files), strict=True):
        what = str(array.dtype)
        tally.check(f"{what} accepted", verdict["ok"], True)
        if array.dtype.names:
            check_fields(tally, what, verdict["tensors"], array, "data")
            continue
        tensor = verdict["tensors"][0]
        tally.check(f"{what} bytes", tensor["bytes"], array.nbytes)
        tally.check(f"{what} shape", tensor["shape"], [2, 3])
        tally.check(f"{what} refused", tensor["refusal"] is not None and tensor["format"] is None, True)


def check_fields(tally, what, tensors, array, name):
    """The tensors of a structured array against its fields."""
    wanted = list(npy_files.leaves(array, name))
    names = [bytes.fromhex(tensor["name"]).decode("utf-8", "surrogatepass") for tensor in tensors]
    tally.check(f"{what} names", names, [leaf for leaf, _ in wanted])
    if len(tensors) != len(wanted):
        return
    for tensor, (leaf, values) in zip(tensors, wanted, strict=True):
        kind = f"{values.dtype.kind}{values.dtype.itemsize}"
        if tensor["format"] not in ML_FORMATS.values():
            tally.check(f"{what} {leaf} format", tensor["format"], npy_files.FORMATS.get(kind))
        tally.check(f"{what} {leaf} shape", tensor["shape"], list(values.shape))
        tally.check(f"{what} {leaf} bytes", tensor["bytes"], values.nbytes)
        if tensor["format"]:
            tally.check(f"{what} {leaf} order", tensor["big"], values.dtype.str[0] == ">")
            tally.check(f"{what} {leaf} data", tensor["data"], values.tobytes()[:SHOWN_BYTES].hex())


def records_part(tally, probe, np, rng):
    """Structured arrays: each field is a tensor; also in archives, stored and compressed."""
    arrays, files = [], []
    for index in range(600):
        shape = rng.choice([*npy_files.SHAPES, (50000,), (400, 300)] if index % 50 == 0 else npy_files.SHAPES)
        dtype = npy_files.record_type(np, rng)
        count = int(np.prod(shape))
        array = np.frombuffer(rng.randbytes(count * dtype.itemsize), np.uint8)
        array = np.array(array.view(dtype).reshape(shape) if count else np.zeros(shape, dtype),
                         order=rng.choice("CF"), copy=True)
        data = npy_files.save(np, array, rng.choice((None, (3, 0))))
        if index % 3 > 0:
            data = npy_files.archive([("r.npy", data), ("z.npy", npy_files.save(np, np.arange(3.0)))],
                                     (0, 8)[index % 3 - 1])
        arrays.append(array)
        files.append(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdicts = ask(probe, files)
    for index, (array, verdict) in enumerate(zip(arrays, verdicts, strict=True)):
        what = f"record {array.dtype} {array.shape}"
        tally.check(f"{what} accepted: {verdict.get('error')}", verdict["ok"], True)
        if verdict["ok"]:
            tensors = verdict["tensors"] if index % 3 == 0 else verdict["tensors"][:-1]
            check_fields(tally, what, tensors, array, "data" if index % 3 == 0 else "r")


def kinds_part(tally, probe, np):
    """Every type letter with every size and byte order mark: we refuse what numpy refuses; what it reads we read, or
    list with a reason."""
    descrs = [mark + letter + size for mark in ("", "<", ">", "=", "|") for letter in string.ascii_letters + "?"
              for size in ("", *map(str, range(18)), "32", "33")]
    files = [npy_files.with_header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (3,), }}\n",
                                   bytes(range(1, 255)) * 2) for descr in descrs]
    read = 0
    for descr, data, verdict in zip(descrs, files, ask(probe, files), strict=True):
        array, why = numpy_says(np, data)
        tensor = verdict["tensors"][0] if verdict["ok"] else {"refusal": verdict["error"], "format": None}
        if array is not None:
            kind = f"{array.dtype.kind}{array.dtype.itemsize}"
            tally.check(f"{descr} accepted", verdict["ok"], True)
            tally.check(f"{descr} bytes", tensor.get("bytes"), array.nbytes)
            if tensor["refusal"] is None:
                tally.check(f"{descr} format", tensor["format"], npy_files.FORMATS.get(kind))
                tally.check(f"{descr} data", bytes.fromhex(tensor["data"]), array.tobytes())
                tally.check(f"{descr} order", tensor["big"], array.dtype.str[0] == ">")
                read += 1
            else:  # of a size or meaning that the letter does not determine
                tally.check(f"{descr} refused", array.dtype.kind in "SUVMm" or descr[-1] in "lLnNpPgG" or
                            kind in ("f16", "c32"), True)
        elif "allow_pickle" in why:
            tally.check(f"{descr} refused", "pickle" in tensor["refusal"], True)
        elif descr.lstrip("<>=|")[0] in "aNT":
            pass  # only some versions of numpy know it
        elif descr.lstrip("<>=|") not in ("f1", "g2", "W4"):  # numpy writes them for dtypes of ml_dtypes
            tally.check(f"{descr} not accepted", verdict["ok"], False)
            tally.check(f"{descr} named", f"'{descr}'" in tensor["refusal"], True)
    tally.check("types that are read", read, 5 * (14 + 14))  # unsized letters, then sized ones


def ml_dtypes_part(tally, probe, np, ml, rng):
    for name, ours in ML_FORMATS.items():
        if not hasattr(ml, name):
            tally.skip(f"ml_dtypes has no {name}")
            continue
        dtype = np.dtype(getattr(ml, name))
        codes = np.frombuffer(rng.randbytes(64 * dtype.itemsize), f"u{dtype.itemsize}")
        if ours.startswith(("fp4", "fp6", "int", "uint")):
            codes = codes & 3
        array = codes.view(dtype).reshape(8, 8)
        named = npy_files.with_header(
            f"{{'descr': '{name}', 'fortran_order': False, 'shape': (8, 8), }}", array.tobytes())
        for data in (npy_files.save(np, array), named):
            verdict = ask(probe, [data], ours)[0]
            tally.check(f"{name} accepted", verdict["ok"], True)
            tensor = verdict["tensors"][0]
            tally.check(f"{name} format", tensor["format"], ours)
            tally.check(f"{name} data", tensor["data"], array.tobytes().hex())
            back = np.load(io.BytesIO(bytes.fromhex(tensor["head"]) + array.tobytes()))
            tally.check(f"{name} read by numpy", back.view(dtype).tobytes(), array.tobytes())


def numpy_says(np, data):
    """The array, or None and the reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            file = io.BytesIO(data)
            return np.lib.format.read_array(file, allow_pickle=False, max_header_size=MAX_HEADER), ""
    except Exception as error:          # numpy raises various exceptions on broken headers
        return None, f"{type(error).__name__}: {error}"


def agree(tally, np, data, verdict, counts):
    """If we accept a file with a dtype, numpy accepts it as the same array."""
    tensor = verdict["tensors"][0] if verdict["ok"] else None
    array, why = numpy_says(np, data)
    counts["both" if tensor and array is not None else "we" if tensor else
           "numpy" if array is not None else "none"] += 1
    if tensor is None:
        return
    head = data[:200]
    tally.checked += 1
    if array is not None and array.dtype.names and bytes.fromhex(tensor["name"]) != b"data":
        check_fields(tally, f"fields of {head}", verdict["tensors"], array, "data")
        return
    if array is None:
        # types that numpy cannot name either are listed but not read; "<f1" is specific to ml_dtypes
        types = {each["type"].lstrip("<>=|") for each in verdict["tensors"]}
        if tensor["refusal"] is None and not types & {"f1", "g2", "W4"}:
            tally.differ(f"accepted {head}", tensor, why)
        return
    if tensor["shape"] != list(array.shape):
        tally.differ(f"shape of {head}", tensor["shape"], array.shape)
    elif tensor["format"] is not None and tensor["type"].lstrip("<>=|")[0] in "biufc":
        wanted = npy_files.FORMATS.get(f"{array.dtype.kind}{array.dtype.itemsize}", tensor["format"])
        order = "F" if tensor["fortran"] else "C"
        if tensor["format"] != wanted or tensor["bytes"] != array.nbytes:
            tally.differ(f"format of {head}", tensor["format"], array.dtype)
        elif bytes.fromhex(tensor["data"]) != array.tobytes(order)[:SHOWN_BYTES]:
            tally.differ(f"data of {head}", tensor["data"], array.tobytes(order).hex())
    elif tensor["refusal"] is not None and tensor["bytes"] != array.nbytes and "[" not in tensor["type"]:
        if tensor["type"] != "structured":
            tally.differ(f"bytes of {head}", tensor["bytes"], array.nbytes)


def headers(np, rng, count):
    """Broken headers with enough data after them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        good = [npy_files.save(np, np.zeros(shape, dtype)) for shape in ((6,), (2, 3), ())
                for dtype in ("<f4", ">i2", "u1", "?", "<c8", *npy_files.FOREIGN[:-5], npy_files.FOREIGN[-4])]
    texts = [data[10:10 + struct.unpack("<H", data[8:10])[0]].rstrip() for data in good]
    texts += [b"{'descr': '<f4', 'fortran_order': True, 'shape': (2L, 3L), }",
              b"{\"shape\":(3,),\"fortran_order\":False,\"descr\":\"|b1\"}"]
    for _ in range(count):
        text = npy_files.broken_header(rng, rng.choice(texts))
        tail = rng.choice((b"", b"\n", b"   \n", b"\n \n"))
        yield npy_files.with_header(text + tail, bytes(range(256)) * 4, rng.choice((1, 1, 2, 3)))


def broken_part(tally, probe, np, rng, count):
    counts = {"both": 0, "we": 0, "numpy": 0, "none": 0}
    files = list(headers(np, rng, count))
    for data, verdict in zip(files, ask(probe, files), strict=True):
        agree(tally, np, data, verdict, counts)
    print(f"broken headers: {counts['both']} accepted by both, {counts['we']} listed by us alone, "
          f"{counts['numpy']} accepted by numpy alone, {counts['none']} by none")
    tally.check("some are accepted, some are not", min(counts["both"], counts["none"]) > count / 100, True)


def members(np, data):
    """{name: array} as numpy reads the .npy members of an archive; or the reason for a failure."""
    try:
        with warnings.catch_warnings(), np.load(io.BytesIO(data), allow_pickle=False) as archive:
            warnings.simplefilter("ignore")
            names = [name for name in archive.zip.namelist() if name.endswith(".npy")]
            return {name[:-4]: archive[name] for name in names}, ""
    except Exception as error:          # zipfile and numpy raise various exceptions
        return None, f"{type(error).__name__}: {error}"


def archives(np, rng):
    arrays = {"a": np.arange(6, dtype="<f4").reshape(2, 3), "b.c": np.asfortranarray(np.ones((3, 2), ">i2")),
              "\u00e9/../x": np.array(True), "long": np.frombuffer(rng.randbytes(9000), "u1")}
    made = [(name + ".npy", npy_files.save(np, array)) for name, array in arrays.items()]
    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, **arrays)
        yield file.getvalue()
    for method in (0, 8):
        for wide in (False, True):
            for seek in (True, False):
                yield npy_files.archive(made, method, wide, b"PK comment", seek)
                yield npy_files.with_wide_end(npy_files.archive(made, method, wide, b"", seek))
    yield npy_files.archive([])
    yield npy_files.archive([*made, ("note.txt", b"words")])


def check_members(tally, data, verdict, arrays, why):
    """What we read from an archive equals what numpy reads."""
    ours = {bytes.fromhex(t["name"]).decode("utf-8", "replace"): t for t in verdict["tensors"]}
    if arrays is None:
        tally.differ(f"archive {data[:40]}", list(ours), why)
        return
    for name, tensor in ours.items():
        tally.checked += 1
        array = arrays.get(name)
        if array is None:
            tally.differ(f"member {name}", "there", sorted(arrays))
        elif tensor["error"] is None and tensor["data"] != bytes_of(array, tensor["fortran"])[:SHOWN_BYTES].hex():
            tally.differ(f"data of {name}", tensor["data"][:80], bytes_of(array, tensor["fortran"])[:40].hex())


def archive_part(tally, probe, np, rng, count):
    good = list(archives(np, rng))
    for data, verdict in zip(good, ask(probe, good), strict=True):
        arrays, why = members(np, data)
        tally.check("archive accepted", verdict["ok"], True)
        tally.check("archive accepted by numpy", why, "")
        tally.check("members", len(verdict["tensors"]), len(arrays))
        tally.check("errors", [t["error"] for t in verdict["tensors"] if t["error"]], [])
        check_members(tally, data, verdict, arrays, why)
    small = [data for data in good if len(data) < 30000]
    files = [npy_files.broken(rng, rng.choice(small)) for _ in range(count)]
    accepted, refused = 0, 0
    for data, verdict in zip(files, ask(probe, files), strict=True):
        whole = verdict["ok"] and not any(t["error"] for t in verdict["tensors"])
        accepted, refused = accepted + whole, refused + (not whole)
        if whole:
            check_members(tally, data, verdict, *members(np, data))
    print(f"broken archives: {accepted} accepted, {refused} refused")
    tally.check("some are accepted, some are not", min(accepted, refused) > count / 200, True)


def pickle_part(tally, probe, np):
    """Object arrays whose pickle would create a file."""
    with tempfile.TemporaryDirectory() as folder:
        marker = os.path.join(folder, "marker")
        payload = b"cos\nsystem\n(S'touch " + marker.encode() + b"'\ntR."
        files = []
        for descr in ("'|O'", "'O'", "'|O8'", "[('a', '|O')]", "[('a', [('b', 'O', 2)])]", "('O', 2)"):
            for major in (1, 2, 3):
                header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}\n"
                files.append(npy_files.with_header(header, payload, major))
        files += [npy_files.archive([("a.npy", data)], method) for data in files for method in (0, 8)]
        files.append(npy_files.archive([("x/data.pkl", payload)]))
        files.append(payload)
        for data, verdict in zip(files, ask(probe, files), strict=True):
            told = not verdict["ok"] or "pickle" in verdict["tensors"][0]["refusal"]
            tally.check(f"refusal of {data[:80]}", told, True)
        tally.check("nothing is executed", os.listdir(folder), [])


def main():
    probe, long = arguments()
    rng = random.Random(20261121)
    tally = Tally()
    try:
        np = importlib.import_module("numpy")
    except ImportError:
        tally.skip("numpy")
        tally.finish()
    numpy_part(tally, probe, np, rng)
    foreign_part(tally, probe, np)
    kinds_part(tally, probe, np)
    records_part(tally, probe, np, random.Random(20261123))
    tally.part("numpy " + np.__version__)
    try:
        ml_dtypes_part(tally, probe, np, importlib.import_module("ml_dtypes"), rng)
        tally.part("ml_dtypes")
    except ImportError:
        tally.skip("ml_dtypes")
    pickle_part(tally, probe, np)
    broken_part(tally, probe, np, rng, 1000000 if long else 20000)
    tally.part("broken headers")
    archive_part(tally, probe, np, rng, 200000 if long else 5000)
    tally.part("archives")
    tally.finish()


if __name__ == "__main__":
    main()
