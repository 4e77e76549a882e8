# SPDX-License-Identifier: MIT
"""What judge_quant_files.py, judge_dequant.py and judge_dequant_open.py share: running the program, comparing
numbers, counting."""
import os
import random
import subprocess
import sys
import tempfile

from dequant_files import bits_of, floats, read_file, write_file

PROGRAM = os.path.abspath(sys.argv[1])
RANDOM = random.Random(20240619)
checked = different = 0


def judge(what, got, want):
    global checked, different
    checked += 1
    if got != want:
        different += 1
        if different <= 20:
            print("DIFFERENT %s\n    got  %s\n    want %s" % (what, repr(got)[:300], repr(want)[:300]))


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, "quant", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    judge("exit of %s" % (arguments,), done.returncode, code)
    return done.stdout.decode(), done.stderr.decode()


def numbers_of(what, path, tensors, metadata=None, words_more=(), name="w"):
    """The numbers that come back of the one quantized tensor, as patterns with one NaN."""
    write_file("in.safetensors", tensors, metadata)
    run("in.safetensors", "fp32", "--dequant", "-o", path, "--force", "-q", *words_more)
    out = read_file(path)
    judge(what + ": tensors", sorted(out), [name])
    return out.get(name, ("", [], b""))


def check(what, tensors, shape, want, metadata=None, words_more=()):
    dtype, got_shape, raw = numbers_of(what, "out.safetensors", tensors, metadata, words_more)
    judge(what + ": dtype and shape", (dtype, got_shape), ("F32", shape))
    got = floats(raw)
    want = [bits_of(x) for x in want]
    if got != want and len(got) == len(want):
        at = next(i for i in range(len(got)) if got[i] != want[i])
        judge("%s: element %d" % (what, at), hex(got[at]), hex(want[at]))
    judge(what, len(got), len(want))


def run_parts(parts):
    """In a folder of their own; ends the program."""
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None    # every output is synced
    with tempfile.TemporaryDirectory(dir=fast) as folder:
        os.chdir(folder)
        for part in parts:
            before = checked
            part()
            print("%s: %d checks" % (part.__name__, checked - before), flush=True)
        os.chdir("/")
    print("%d checks, %d different" % (checked, different))
    sys.exit(different > 0 or not checked)
