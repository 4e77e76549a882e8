# SPDX-License-Identifier: MIT
"""Shared by the oracle tests: talking to the probe or the program, counting checks, reporting failures.

Usage of every test: test_x.py PROBE [--long]. Exit 0 all right, 1 differences, 77 nothing ran.
"""

import ctypes
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

SHOWN = 12      # differences reported per test before they are only counted
QUICK = "DTI_TEST_QUICK" in os.environ and "--long" not in sys.argv   # a sample, on each push


def have(name):
    """The module, or None if it is not installed."""
    try:
        return __import__(name)
    except ImportError:
        return None


def ggml_library():
    """ggml's C library, or None: the library in DTI_GGML_LIBRARY, or that of an installed llama-cpp-python."""
    path = os.environ.get("DTI_GGML_LIBRARY")
    found = None if path else importlib.util.find_spec("llama_cpp")
    if found:
        path = next(map(str, pathlib.Path(found.origin).parent.glob("lib/libggml-base.so*")), None)
    return ctypes.CDLL(path) if path else None


def ggml_neighbours(library):
    """What ggml computes before it encodes IQ1 to IQ3: by its ids of types, and by the number of points of a grid. Takes
    half a minute."""
    for kind in (16, 17, 19, 22):
        library.iq2xs_init_impl(ctypes.c_int(kind))
    for points in (256, 512):
        library.iq3xs_init_impl(ctypes.c_int(points))


def ask(probe, lines):
    """The probe's answer lines for a list of request lines."""
    text = "\n".join(lines) + "\n"
    done = subprocess.run([probe], input=text.encode(), stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"the probe ended with status {done.returncode}")
    return done.stdout.decode().splitlines()


class Tally:
    """Counts checks by subject and keeps the first differences."""

    def __init__(self):
        self.checked, self.differences, self.shown = 0, 0, 0
        self.skipped = []

    def check(self, subject, got, want):
        self.checked += 1
        if got != want:
            self.differ(subject, got, want)

    def differ(self, subject, got, want):
        self.differences += 1
        if self.shown < SHOWN:
            self.shown += 1
            print(f"DIFFERENT {subject}\n    got  {got}\n    want {want}", flush=True)

    def skip(self, what):
        self.skipped.append(what)
        print(f"skipped: {what}")

    def part(self, what):
        """Called after a part: prints it and the number of checks so far."""
        print(f"{what}: {self.checked} checks, {self.differences} different", flush=True)

    def finish(self):
        print(f"{self.checked} checks, {self.differences} different, {len(self.skipped)} skipped")
        if self.differences:
            sys.exit(1)
        if not self.checked:
            if not self.skipped:
                sys.exit("nothing was checked")
            sys.exit(77)
        sys.exit(0)


class Program:
    """Runs dtinfo and counts checks; the first failure ends the test."""

    def __init__(self, path):
        self.path, self.checks = os.path.abspath(path), 0

    def require(self, holds, *details):
        self.checks += 1
        if not holds:
            raise AssertionError(" ".join(str(detail)[:600] for detail in details))

    def run(self, *words, status=0):
        """(stdout, stderr)"""
        done = subprocess.run([self.path, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900)
        self.require(done.returncode == status, words, done.returncode, done.stdout[-300:], done.stderr[-300:])
        return done.stdout.decode(), done.stderr.decode()


def in_new_folder(*steps):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for step in steps:
                step()
        finally:
            os.chdir("/")


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def arguments():
    """(probe, long) from the command line."""
    words = sys.argv[1:]
    long = "--long" in words
    words = [w for w in words if w != "--long"]
    if len(words) != 1:
        sys.exit("usage: test PROBE [--long]")
    return words[0], long
