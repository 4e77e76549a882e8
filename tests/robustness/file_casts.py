# SPDX-License-Identifier: MIT
"""Shared by file_failures.py and similar tests, bulk casts of files: arrays, folders, runs, and checks of their
results."""
import contextlib
import os
import random
import shutil
import subprocess
import tempfile

from survival import PROGRAM, QUICK, SANITIZED, SECONDS, environment, require, require_one_line

MIB = 1 << 20
ROUNDS = 10 if SANITIZED or QUICK else 50
RANDOM = random.Random(20240229)


def arrays(count):
    """fp32 numbers that bf16 holds, and their bf16 codes: the expected result, made without a cast."""
    low, high = RANDOM.randbytes(count), bytes(byte & 0xBF for byte in RANDOM.randbytes(count))
    fp32, bf16 = bytearray(4 * count), bytearray(2 * count)
    fp32[2::4] = bf16[0::2] = low
    fp32[3::4] = bf16[1::2] = high
    return bytes(fp32), bytes(bf16)


SMALL, SMALL_CAST = arrays(5000)
LARGE, LARGE_CAST = (part * 16 for part in arrays(MIB))
MEDIUM, MEDIUM_CAST = LARGE[:24 * MIB], LARGE_CAST[:12 * MIB]


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


@contextlib.contextmanager
def folder(within=None):
    """A folder with in.bin; at the end it must contain exactly the files that the check expects."""
    with tempfile.TemporaryDirectory(prefix="dtinfo-files-", dir=within) as path:
        before = os.getcwd()
        os.chdir(path)
        try:
            write("in.bin", SMALL)
            yield path
            strays = [name for name in os.listdir(path) if ".dtinfo-" in name]
            require(not strays, "left behind:", strays)
        finally:
            os.chdir(before)


def words(source="in.bin", target="out.bin", *more):
    return ["cast", source, "bf16", "--from", "fp32", "-o", target] + list(more)


def cast(source="in.bin", target="out.bin", *more, prefix=(), program=PROGRAM, **options):
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(list(prefix) + [program] + words(source, target, *more),
                          env=environment(), timeout=SECONDS, **options)
    done.code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return done


def require_cast(done, path, wanted):
    require(done.code == 0, "exit code", done.code, done.stderr)
    got = read(path)
    require(got == wanted, "wrong bytes:", len(got), "wanted", len(wanted))


def require_failure(done, code, *parts):
    line = require_one_line(done, code)
    for part in parts:
        require(part in line, "not told:", part, line)


def strace_works():
    if SANITIZED or not shutil.which("strace"):
        return False
    done = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", "inject=sync:error=EIO",
                           "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def calls_at_start(calls):
    """How often the loader makes these calls before the program itself runs."""
    subprocess.run(["strace", "-f", "-o", "start.trace", "-e", "trace=write," + calls, PROGRAM,
                    "--version"], stdout=subprocess.DEVNULL, check=True)
    lines = read("start.trace").decode().splitlines()
    first = next(i for i, line in enumerate(lines) if " write(1," in line)
    return first
