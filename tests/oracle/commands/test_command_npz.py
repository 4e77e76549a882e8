#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged .npz files, against numpy and zipfile: if they reject a file for a checksum, every command that reads all
data must reject it and write nothing; if they read it, it must be read.

usage: test_command_npz.py DTINFO
"""
import io
import os
import random
import subprocess
import sys
import tempfile
import zipfile
import zlib

try:
    import numpy
except ImportError:
    print("skipped: needs numpy")
    sys.exit(77)

PROGRAM = os.path.abspath(sys.argv[1])
QUICK = "DTI_TEST_QUICK" in os.environ  # a third of the bytes, on each push
checks = 0

FLOATS = {
    "a": numpy.linspace(-3, 3, 6, dtype="<f4").reshape(2, 3),
    "fortran": numpy.asfortranarray(numpy.arange(12, dtype=">f8").reshape(3, 4)),
    "empty": numpy.zeros((0, 3), "<f4"),
    "half": numpy.arange(5, dtype="<f2"),
}
FIELDS = {"fields": numpy.array([(1, 2), (3, 4)], dtype=[("x", "<f4"), ("y", ">i2")])}
ALL = {**FLOATS, **FIELDS}
QUANTIZED = {"w.weight": numpy.arange(-16, 16, dtype=numpy.int8).reshape(4, 8),
             "w.weight_scale": numpy.linspace(0.5, 1, 4, dtype="<f4").reshape(4, 1)}
# A command and the arrays that it reads; GOOD is the undamaged archive.
READERS = {
    "cast": (["cast", "BAD", "fp16", "-o", "out.safetensors"], ALL),
    "cast to one thread": (["cast", "BAD", "bf16", "--threads", "1", "-o", "out.safetensors"], ALL),
    "copy": (["cast", "BAD", "fp16", "--keep", "*", "-o", "out.safetensors"], ALL),
    "cast to npy": (["cast", "BAD", "fp16", "--select", "fortran", "-o", "out.npy"], {"fortran"}),
    "cast to text": (["cast", "BAD", "fp16", "--select", "a", "--as", "text", "-o", "out.txt"], {"a"}),
    "quant": (["quant", "BAD", "int8", "--per", "channel", "-o", "out.safetensors"], FLOATS),
    "dequant": (["quant", "--dequant", "BAD", "fp32", "-o", "out.safetensors"], QUANTIZED),
    "stats": (["inspect", "BAD", "--stats"], ALL),
    "histogram": (["inspect", "BAD", "--histogram"], ALL),
    "compare": (["compare", "GOOD", "BAD"], ALL),
    "compare back": (["compare", "BAD", "GOOD"], ALL),
    "compare orders": (["compare", "ROWS", "BAD"], FLOATS),
    "check values": (["check", "BAD", "--no-nan", "--only", "a"], ALL),
}


def require(holds, *details):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(" ".join(str(detail)[:400] for detail in details))


def run(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


class Pipe(io.RawIOBase):
    """An unseekable file: zipfile then writes descriptors after the data."""
    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += data
        return len(data)


def archive(arrays, extra=None, method=zipfile.ZIP_STORED, pipe=False, wide=False):
    out = Pipe() if pipe else io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as zipped:
        for name, array in arrays.items():
            with zipped.open(name + ".npy", "w", force_zip64=wide) as member:
                numpy.lib.format.write_array(member, array)
        for name, text in (extra or {}).items():
            zipped.writestr(name, text)
    return bytes(out.data) if pipe else out.getvalue()


def numpy_refuses(data, names):
    """Whether numpy fails to read one of the arrays to its end."""
    try:
        with numpy.load(io.BytesIO(data)) as loaded:
            for name in names:
                loaded[name]
    except Exception as error:  # noqa: BLE001: whatever it says, it refuses
        return str(error) or type(error).__name__
    return None


def zipfile_refuses(data):
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as zipped:
            return zipped.testzip()
    except (zipfile.BadZipFile, zlib.error) as error:
        return str(error)


def members(data):
    """(name, first byte, end, size of the .npy header) of each member."""
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        for info in zipped.infolist():
            local = data[info.header_offset:]
            begin = info.header_offset + 30 + int.from_bytes(local[26:28], "little") + \
                int.from_bytes(local[28:30], "little")
            plain = zipped.read(info)
            header = 10 + int.from_bytes(plain[8:10], "little") if info.filename.endswith(".npy") else 0
            yield info.filename, begin, begin + info.compress_size, header


def require_refusal(name, words, bad, data, member):
    before = set(os.listdir("."))
    files = {"BAD": "bad.npz", "GOOD": "good.npz", "ROWS": "rows.npz"}
    write("bad.npz", bad)
    done = run(*[files.get(word, word) for word in words])
    error = done.stderr.decode()
    require(done.returncode == 3, name, "exit code", done.returncode, "for", member, done.stdout, error)
    require(set(os.listdir(".")) == before | {"bad.npz"}, name, "left", set(os.listdir(".")) - before)
    return error


def damaged_data_is_refused_by_every_reader():
    rng = random.Random(1)
    for name, (words, read) in READERS.items():
        arrays = QUANTIZED if name == "dequant" else ALL
        if not set(read) >= set(FIELDS):
            arrays = {key: array for key, array in arrays.items() if key not in FIELDS}
        for wide in (False, True):
            data = archive(arrays, wide=wide, pipe=wide)
            write("good.npz", data)
            write("rows.npz", archive({key: numpy.ascontiguousarray(array)
                                       for key, array in arrays.items()}))
            for member, begin, end, header in members(data):
                key = member[:-len(".npy")]
                if key not in read or name == "check values" and key != "a":
                    continue
                for at in range(begin + header, end, (5 if wide else 1) * (3 if QUICK else 1)):
                    bad = bytearray(data)
                    bad[at] ^= 1 << rng.randrange(8)
                    told = numpy_refuses(bytes(bad), [key])
                    require(told and "Bad CRC-32" in told, "numpy reads", member, "with byte", at, told)
                    error = require_refusal(name, words, bytes(bad), data, member)
                    require("damaged: its CRC-32 is " in error and f"member '{member}'" in error, name, error)


def sums_are_those_of_zlib():
    data = archive(FLOATS)
    for member, begin, end, header in members(data):
        if begin + header == end:
            continue
        bad = bytearray(data)
        bad[end - 1] ^= 0x80
        write("bad.npz", bad)
        crc = [zlib.crc32(part[begin:end]) for part in (bad, data)]
        error = run("inspect", "--stats", "bad.npz").stderr.decode()
        require(f"damaged: its CRC-32 is {crc[0]:08x}, but the directory says {crc[1]:08x}" in error, error)


def headers_count_as_well():
    """Changes to header blanks or a CRC are detected too: in empty arrays nothing else is read."""
    data = archive(FLOATS)
    for member, begin, _, header in members(data):
        bad = bytearray(data)
        require(bad[begin + header - 2:begin + header] == b" \n", "a header of numpy")
        bad[begin + header - 2] = ord("\t")
        require(numpy_refuses(bytes(bad), [member[:-4]]), "numpy reads", member)
        write("bad.npz", bad)
        for words in (["inspect", "bad.npz", "--stats"], ["cast", "bad.npz", "fp16", "-o", "out.safetensors"]):
            done = run(*words)
            require(done.returncode == 3, words, member, done.stderr)
            require(not os.path.exists("out.safetensors"), "left behind")


def check_verifies_all_members():
    """`check` answers the assertion `valid`, other commands end with an error; both name the member."""
    extra = {"notes.txt": "not an array", "packed.npy.txt": "x" * 100}
    rng = random.Random(2)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        data = archive({**ALL, "text": numpy.array(["ab", "c"])}, extra, method)
        write("good.npz", data)
        require(run("check", "good.npz").returncode == 0, "a good archive")
        require(run("check", "good.npz", "--dtype", "*:*", "--no-nan", "--only", "a").returncode in (0, 1, 2))
        for member, begin, end, _ in members(data):
            for at in sorted(rng.sample(range(begin, end), min(12, end - begin)) + [end - 1]):
                bad = bytearray(data)
                bad[at] ^= 1 << rng.randrange(8)
                refused = zipfile_refuses(bytes(bad))
                if refused is None and method == zipfile.ZIP_DEFLATED:
                    continue  # the stream has no end marker, which zipfile ignores once it has all bytes
                write("bad.npz", bad)
                done = run("check", "bad.npz")
                require((done.returncode == 1) == (refused is not None), "check", member, at, refused,
                        done.stdout, done.stderr)
                require(refused is None or b"FAIL  valid" in done.stdout and member.encode() in done.stdout,
                        done.stdout)
                done = run("check", "bad.npz", "--shape", "a:2,3")
                require((done.returncode == 3) == (refused is not None), "check --shape", member, at, refused,
                        done.stdout, done.stderr)


def good_archives_are_read():
    for wide in (False, True):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            write("bad.npz", archive(FLOATS, {"x": "y"}, method, pipe=wide, wide=wide))
            write("good.npz", archive(FLOATS, None, method))
            write("rows.npz", archive({key: numpy.ascontiguousarray(array) for key, array in FLOATS.items()}))
            for name, (words, read) in READERS.items():
                files = {"BAD": "bad.npz", "GOOD": "good.npz", "ROWS": "rows.npz"}
                if name == "dequant":
                    continue
                done = run(*[files.get(word, word) for word in words])
                require(done.returncode == 0, name, done.returncode, done.stderr)
                for out in os.listdir("."):
                    if out.startswith("out."):
                        os.remove(out)


def leaves(array, name):
    """(name, array) of the fields, and of their nested fields."""
    for field in array.dtype.names or ():
        yield from leaves(array[field], f"{name}.{field}")
    if not array.dtype.names:
        yield name, array


def fields_are_tensors_of_their_values():
    """More records than are read at a time; both kinds of file, by rows and by columns; few fields and many."""
    few = numpy.dtype({"names": ["x", "at", "z"], "offsets": [0, 4, 20], "itemsize": 23,
                       "formats": ["<f4", [("y", ">f8"), ("n", "<i2", (3,))], "<f2"]})
    many = numpy.dtype([(f"f{i}", ("<f4", ">f8", "<f2", "<i2", "u1")[i % 5], (1, 2)[i % 7 == 0:][:i % 3]) for i in range(60)])
    rng = numpy.random.default_rng(4)
    for record, shape, order in ((few, (70001,), "C"), (few, (300, 701), "F"), (few, (), "C"), (many, (9001,), "C"),
                                 (many, (90, 101), "C"), (many, (90, 101), "F"), (many, (1,), "C"), (many, (0, 3), "C")):
        array = numpy.zeros(shape, record, order=order)
        for _, values in leaves(array, ""):
            values[...] = rng.integers(0, 200, values.shape)
        numpy.save("in.npy", array)
        write("stored.npz", archive({"r": array}))
        write("packed.npz", archive({"r": array}, method=zipfile.ZIP_DEFLATED))
        for path, name in (("in.npy", "data"), ("stored.npz", "r"), ("packed.npz", "r")):
            wanted = dict(leaves(array, name))
            some = [key for at, key in enumerate(wanted) if at % 9 == 1]
            for words, keys in (([], list(wanted)), (["--select", ",".join(reversed(some))], some)):
                done = run("cast", path, "fp32", "--ints", "-o", "out.npz", *words)
                require(done.returncode == 0, path, shape, done.stderr)
                with numpy.load("out.npz") as made:
                    require(sorted(made) == sorted(keys), path, sorted(made), keys)
                    for key in keys:
                        got, values = made[key], wanted[key]
                        require(got.dtype == "<f4" and got.shape == values.shape and
                                numpy.array_equal(got, values), path, shape, order, key)
                os.remove("out.npz")


def large_arrays_are_checked_in_any_order():
    """Several blocks, threads and tiles: a damaged byte anywhere."""
    rng = numpy.random.default_rng(3)
    big = rng.standard_normal((1500, 1100)).astype("<f4")
    arrays = {"rows": big, "columns": numpy.asfortranarray(big), "thin": numpy.asfortranarray(big.reshape(-1, 3))}
    data = archive(arrays)
    write("good.npz", data)
    writers = [["cast", "bad.npz", "bf16", "--threads", threads, "--max-memory", memory, "-o", "out.safetensors"]
               for threads, memory in (("1", "2MiB"), ("3", "2MiB"), ("2", "64MiB"))]
    commands = writers + [["quant", "bad.npz", "int4", "--per", "channel", "--axis", "1", "--threads", "3",
                           "-o", "out.safetensors"],
                          ["inspect", "bad.npz", "--stats", "--histogram", "--threads", "3"],
                          ["compare", "good.npz", "bad.npz", "--threads", "2"]]
    for words in commands:
        write("bad.npz", data)
        done = run(*words)
        require(done.returncode == 0, words, done.stderr)
        if os.path.exists("out.safetensors"):
            os.remove("out.safetensors")
        for member, begin, end, header in members(data):
            at = int(rng.integers(begin + header, end))
            bad = bytearray(data)
            bad[at] ^= 1
            write("bad.npz", bad)
            done = run(*words)
            require(done.returncode == 3 and f"member '{member}'".encode() in done.stderr, words, member,
                    done.returncode, done.stderr)
            require(not os.path.exists("out.safetensors"), "left behind")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for test in (good_archives_are_read, damaged_data_is_refused_by_every_reader, sums_are_those_of_zlib,
                         headers_count_as_well, check_verifies_all_members,
                         fields_are_tensors_of_their_values, large_arrays_are_checked_in_any_order):
                test()
        finally:
            os.chdir("/")
    print(f"{checks} checks passed")


if __name__ == "__main__":
    main()
