# SPDX-License-Identifier: MIT
"""Seeded bugs: a fault in the source that a theorem must refute, with inputs that the program itself shows.

A family lists its bugs as SEEDED, rows of Bug:
  name     what is wrong, in words
  file     a file under src
  old, new the text that stands there (once, or the first time), and what is planted in its place
  theorem  the name of the theorem, of this family, that must have a counterexample
  pinned   {input: value}: inputs that are chosen here, such as a random word; else {}
  shows    a function (inputs, program) that gives (planted, program, exact): what the planted code gives for the inputs, compiled
           and run here, what the program `dtinfo` gives, and what is right. The last two must be equal, and differ from the first."""
import collections
import contextlib
import ctypes
import os
import pathlib
import subprocess
import tempfile

import theorem
from theorem import FLAGS, ROOT, clang, include_words

Bug = collections.namedtuple("Bug", "name file old new theorem pinned shows")


@contextlib.contextmanager
def planted(bug):
    """While this lasts, C includes the planted text."""
    text = (ROOT / "src" / bug.file).read_text()
    if bug.old not in text:
        raise ValueError("%s: %r is not in %s" % (bug.name, bug.old, bug.file))
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / bug.file
        target.parent.mkdir(parents=True)
        target.write_text(text.replace(bug.old, bug.new, 1))
        theorem.OVERLAYS.insert(0, folder)
        try:
            yield
        finally:
            theorem.OVERLAYS.remove(folder)


@contextlib.contextmanager
def native(text, flags=()):
    """C source as the machine runs it, a ctypes library: with what is planted. What it calls elsewhere is not there."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "source.c", pathlib.Path(folder) / "source.so"
        source.write_text(text)
        subprocess.run([clang(), *FLAGS, *flags, *include_words(), "-shared", "-fPIC", str(source), "-o", str(target)], check=True)
        yield ctypes.CDLL(str(target), mode=os.RTLD_LAZY)


def array_cast(program, data, source, target, options=()):
    """The bytes that the program makes of an array of one element."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder) / "in.bin", pathlib.Path(folder) / "out.bin"
        given.write_bytes(data)
        subprocess.run([program, "cast", str(given), target, "--from", source, "-o", str(made), *options], check=True,
                       stdout=subprocess.PIPE)
        return made.read_bytes()
