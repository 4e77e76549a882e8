#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A 20 GB safetensors file behind a local URL: the cost of reading its header, and a cast of the whole file while the
connection is cut ten times, compared with the cast of the local file. The file is sparse and takes no space; the
output takes up to 5 GB at a time.

    test_command_large_remote.py DTINFO MEASURE [--gb 20] [--folder DIR]

Skipped if the folder (by default $TMPDIR or /tmp) lacks the space.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import range_server as srv
from range_server import check

GB, TENSORS, CUTS = 10 ** 9, 10, 10
MOST_KIB = 80 << 10  # 64 MiB, plus read-ahead buffers


class Sparse(srv.Resource):
    """A file that several requests read concurrently."""

    def __init__(self, path):
        super().__init__(None)
        self.file, self.bytes = os.open(path, os.O_RDONLY), os.stat(path).st_size

    def size(self):
        return self.bytes

    def read(self, first, last):
        return os.pread(self.file, last - first + 1, first)


def make(path, total):
    """fp32 tensors with scattered numbers; the rest are file holes."""
    random.seed(20)
    elements = total // TENSORS // 4
    header = {"t%d" % i: {"dtype": "F32", "shape": [elements], "data_offsets": [i * elements * 4, (i + 1) * elements * 4]}
              for i in range(TENSORS)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        begin = file.tell()
        for at in range(0, total - (1 << 20), 64 << 20):
            file.seek(begin + at // 4 * 4 + 4 * random.randrange(1 << 16))
            file.write(struct.pack("<4096f", *(random.uniform(-500, 500) for _ in range(4096))))
        file.truncate(begin + TENSORS * elements * 4)
    return begin


def cuts(count, total):
    """Cuts a connection once in each of `count` parts of the file, in mid-answer."""
    done = set()

    def hook(handler, first, last, resource):
        part = first * count // total
        if part in done or last - first < 1 << 20:
            return False
        done.add(part)
        return srv.cut_after(700001)(handler, first, last, resource)
    return hook, done


def digest(path):
    found = hashlib.sha256()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(4 << 20), b""):
            found.update(piece)
    os.unlink(path)
    return found.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("measure")
    parser.add_argument("--gb", type=int, default=20)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    options = parser.parse_args()
    program, measure, total = os.path.abspath(options.program), os.path.abspath(options.measure), options.gb * GB
    room = os.statvfs(options.folder)
    if room.f_bavail * room.f_frsize < total // 3:
        print("skipped: %s has less than %d GB" % (options.folder, options.gb // 3))
        return 77
    with tempfile.TemporaryDirectory(prefix="dtinfo-remote-", dir=options.folder) as name:
        folder = pathlib.Path(name)
        made = srv.make_certificate(folder)
        context, certificate = made if made else (None, None)
        server = srv.Server(context)
        environment = srv.environment(certificate)
        header = make(folder / "local.safetensors", total)
        resource = server.resources["/large.safetensors"] = Sparse(folder / "local.safetensors")
        address = server.base() + "/large.safetensors"

        def run(*words):
            """(seconds, peak KiB, requests) of a run that must succeed."""
            server.take()
            done = subprocess.run([measure, "1", "/dev/null", program, *map(str, words)], env=environment, cwd=folder,
                                  capture_output=True, text=True, timeout=3000)
            _, nanoseconds, _, peak, state = map(int, done.stdout.split()[:5])
            asked = server.take()
            if words[1] == address and "needs libcurl" in done.stderr:
                print("skipped:", done.stderr.strip())
                sys.exit(77)
            check(state == 0, words, state, done.stderr)
            print("%-44s %8.1f s %6.1f MiB of memory %6d requests %14d bytes" % (
                " ".join(map(str, words))[-44:] if words[1] != address else words[0] + " " + " ".join(words[2:5]),
                nanoseconds * 1e-9, peak / 1024, len(asked), sum(r.sent for r in asked)), flush=True)
            return peak, asked

        for words in (["inspect", address], ["mem", address], ["check", address], ["cast", address, "fp8_e4m3fn", "--dry-run"]):
            peak, asked = run(*words)
            check(len(asked) <= 2 and sum(r.sent for r in asked) <= header + 65536, words, len(asked))
        run("cast", "local.safetensors", "fp8_e4m3fn", "-o", "local.out", "--as", "safetensors", "-q")
        wanted = digest(folder / "local.out")
        hook, done = cuts(CUTS, total)
        resource.hooks = [hook]
        peak, asked = run("cast", address, "fp8_e4m3fn", "-o", "remote.out", "--as", "safetensors", "-q")
        check(digest(folder / "remote.out") == wanted, "other bytes")
        check(len(done) == CUTS, "cut", len(done), "times")
        check(sum(r.sent for r in asked) < total + (64 << 20), "bytes are asked for again", sum(r.sent for r in asked) - total)
        check(peak <= MOST_KIB, "memory", peak)
    return srv.end()


if __name__ == "__main__":
    sys.exit(main())
