#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `dtinfo inspect` must withstand: deceptive names, headers of any size, truncated files."""
import contextlib
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import time

from make_checkpoint import (HOSTILE, HOSTILE_BYTES, npy, pack, safetensors, write_hostile, write_others,
                             write_single)
from survival import (AT_ONCE, PROGRAM, SANITIZED, check, environment, main, peak_kib, require, require_one_line,
                       run)

# C0 except line feed, DEL, C1, and characters that reorder or hide text, in UTF-8.
DECEPTIVE = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|"
                       rb"\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf")
MODES = [[], ["-v"], ["-q"], ["--tree"], ["--metadata"], ["--stats"], ["--histogram", "--each"],
         ["--sort", "name"], ["--json"], ["--stats", "--json"]]
SOON = 6  # seconds of the processor, also of a slow one: it takes 0.4 at most


@contextlib.contextmanager
def folder(*makers):
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="dtinfo-inspect-") as name:
        os.chdir(name)
        try:
            for maker in makers:
                maker(pathlib.Path(name))
            yield pathlib.Path(name)
        finally:
            os.chdir(before)


def many(count, name):
    """A file with `count` scalars."""
    return safetensors([(name(i), "F32", [1], bytes(4)) for i in range(count)])


@check
def no_name_reaches_the_terminal_as_it_is():
    with folder(write_hostile):
        for file in ("hostile.safetensors", "hostile.npz", "hostile.gguf"):
            for mode in MODES:
                done = run(["inspect", file] + mode)
                require(done.code == 0, "exit code", file, mode, done.code, done.stderr)
                for output in (done.stdout, done.stderr):
                    output.decode("utf-8")
                    found = DECEPTIVE.search(output)
                    require(not found or mode[-1:] == ["--json"] and found[0][0] >= 0x80, "raw bytes:", file,
                            mode, found)


@check
def no_path_reaches_the_terminal_as_it_is():
    with folder():
        for name in (b"esc\x1b[2J.npy", b"rtl\xe2\x80\xaegpj.npy", b"bad\xff.npy", b"line\nbreak.npy"):
            for path, code in ((name, 0), (b"none" + name, 3)):
                pathlib.Path(os.fsdecode(name)).write_bytes(npy("<f4", (1,), pack("F32", [1])))
                done = run(["inspect", path])
                require(done.code == code, "exit code", path, done.code, done.stderr)
                found = DECEPTIVE.search(done.stdout + done.stderr)
                require(not found, "raw bytes:", path, found)


@check
def json_tells_every_name_to_the_last_byte():
    with folder(write_hostile):
        for file, wanted in (("hostile.safetensors", [name.encode() for name in HOSTILE]),
                             ("hostile.npz", [name for name in HOSTILE_BYTES if b"\0" not in name]),
                             ("hostile.gguf", [name for name in HOSTILE_BYTES if len(name) < 64])):
            tensors = json.loads(run(["inspect", file, "--json"]).stdout)["files"][0]["tensors"]
            got = [bytes.fromhex(one["name_hex"]) if one["name_hex"] else one["name"].encode()
                   for one in tensors]
            require(sorted(got) == sorted(wanted), "names:", file, got)


@check
def a_hundred_thousand_tensors_are_read_in_no_time():
    with folder() as here:
        path = here / "many.safetensors"
        path.write_bytes(many(100000, lambda i: "layers.%d.experts.%d.weight" % (i // 100, i % 100)))
        for mode in (["-q"], [], ["--json"], ["--tree"], ["--sort", "name"], ["--stats"]):
            code, peak, seconds = peak_kib(["inspect", str(path)] + mode, b"")
            require(code == 0, "exit code", code)
            require(SANITIZED or seconds < SOON, "took long:", mode, seconds)
            require(SANITIZED or peak < 256 * 1024, "took much memory:", mode, peak)


@check
def the_header_alone_is_read():
    with folder() as here:
        path = here / "large.safetensors"
        size = 6 << 30
        header = json.dumps({"w": {"dtype": "BF16", "shape": [size // 2], "data_offsets": [0, size]}})
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header.encode())
            file.truncate(8 + len(header) + size)
        code, peak, seconds = peak_kib(["inspect", str(path)], b"")
        require(code == 0 and (SANITIZED or peak < 16 * 1024 and seconds < 0.5), "slow:", code, peak, seconds)


@check
def a_million_dimensions_take_little():
    with folder() as here:
        path = here / "deep.safetensors"
        path.write_bytes(safetensors([("w", "F32", [1] * 1000000, bytes(4))]))
        for mode in ([], ["--json"], ["--stats", "--json"]):
            code, peak, seconds = peak_kib(["inspect", str(path)] + mode, b"")
            require(code == 0, "exit code", mode, code)
            require(SANITIZED or peak < 64 * 1024 and seconds < SOON, "slow:", mode, peak, seconds)
        done = run(["inspect", str(path), "--json"])
        require(json.loads(done.stdout)["files"][0]["tensors"][0]["shape"] == [1] * 1000000, "shape")


@check
def trees_of_any_form_take_little():
    forms = {"deep": lambda i: "a." * i, "comb": lambda i: "a." * (i % 300) + "b%d" % i,
             "long": lambda i: "x" * (i * 20) + ".1", "numbers": lambda i: "1" * (i % 40) + ".%d" % (i * 7),
             "flat": lambda i: "%d" % (i * i)}
    with folder() as here:
        for form, name in forms.items():
            path = here / "tree.safetensors"
            path.write_bytes(many(1500, name) if form != "deep" else many(800, name))
            code, peak, seconds = peak_kib(["inspect", str(path), "--tree"], b"")
            require(code == 0, "exit code", form, code)
            require(SANITIZED or peak < 128 * 1024 and seconds < SOON, "slow:", form, peak, seconds)


@check
def one_long_name_makes_no_long_table():
    with folder() as here:
        path = here / "long.safetensors"
        path.write_bytes(many(2000, lambda i: "x" * 5000000 if i == 0 else "t%d" % i))
        done = run(["inspect", str(path)])
        require(done.code == 0 and len(done.stdout) < 6000000, "bytes printed:", len(done.stdout))


@check
def a_file_cut_anywhere_is_refused_in_one_line():
    with folder() as here:
        whole = safetensors([("a.b", "F32", [2], pack("F32", [1, 2])), ("c", "I64", [1], bytes(8))])
        for data, name in ((whole, "cut.safetensors"), (npy("<f4", (2,), bytes(8)), "cut.npy")):
            for size in range(0, len(data), 7 if SANITIZED else 1):
                (here / name).write_bytes(data[:size])
                done = run(["inspect", name])
                line = require_one_line(done, done.code)
                require(done.code in (2, 3) and done.stdout == b"", "not refused:", name, size, done.code)
                require(name in line, "the file is not named:", line)


@check
def threads_memory_and_levels_change_nothing():
    with folder(write_single, write_others):
        for words in (["model.safetensors"], ["arrays.npz"], ["model.gguf"]):
            asked = ["inspect"] + words + ["--stats", "--histogram", "--each", "--json"]
            wanted = run(asked)
            require(wanted.code == 0, "exit code", wanted.code, wanted.stderr)
            for more in (["--threads", "1"], ["--threads", "7"], ["--max-memory", "4KiB"]):
                done = run(asked + more)
                require(done.stdout == wanted.stdout, "another answer:", words, more)
            for level in ("none", "avx2", "avx512"):
                done = run(asked, env=environment(DTINFO_CPU=level))
                require(done.code == 2 or done.stdout == wanted.stdout, "another answer:", words, level)


@check
def output_that_cannot_be_written_is_an_error():
    with folder(write_single) as here:
        (here / "many.safetensors").write_bytes(many(20000, str))
        for mode in ([], ["--json"], ["--tree"], ["--stats"]):
            with open("/dev/full", "wb") as full:
                done = run(["inspect", "many.safetensors"] + mode, stdout=full)
            require_one_line(done, 4)
            if mode == ["--tree"]:
                continue  # output too short to interrupt
            child = subprocess.Popen([PROGRAM, "inspect", "many.safetensors"] + mode, env=environment(),
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            child.stdout.read(100)
            child.stdout.close()
            start = time.monotonic()
            require(child.wait(60) != 0 and time.monotonic() - start < AT_ONCE, "did not stop", mode)
            require(child.stderr.read() == b"", "was not quiet", mode)
            child.stderr.close()


@check
def bad_files_among_good_ones_are_told_in_their_place():
    with folder(write_others) as here:
        (here / "bad.npy").write_bytes(b"\x93NUMPY\x01\x00")
        words = ["inspect", "weights.npy", "none.npy", "bad.npy", "columns.npy"]
        done = run(words)
        lines = done.stderr.decode().splitlines()
        require(done.code == 3 and len(lines) == 2, "exit code", done.code, lines)
        require("none.npy" in lines[0] and "bad.npy" in lines[1], "lines:", lines)
        files = json.loads(run(words + ["--json"]).stdout)["files"]
        require([file["error"] is None for file in files] == [True, False, False, True], "files:", files)
        require(files[1].keys() == files[0].keys(), "members:", files[1].keys() ^ files[0].keys())
        told = []  # one line per tensor, then one for the file without tensors, or only the error
        tensors = []
        for line in run(words + ["--jsonl"]).stdout.splitlines():
            file = json.loads(line)["files"][0]
            if file["tensors"]:
                tensors += file["tensors"]
                continue
            told.append(file if file["error"] else {**file, "tensors": tensors})
            tensors = []
        require(told == files, "--jsonl differs", told)


@check
def nothing_is_drawn_on_standard_error_without_a_terminal():
    with folder(write_single):
        done = run(["inspect", "model.safetensors", "--stats", "--histogram"])
        require(done.code == 0 and done.stderr == b"", "stderr:", done.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
