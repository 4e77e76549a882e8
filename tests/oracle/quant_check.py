# SPDX-License-Identifier: MIT
"""Shared by test_command_quant_files.py, test_command_dequant.py and test_command_dequant_open.py: running the
program, comparing numbers, counting."""
import json
import math
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
    """The dequantized numbers of the only quantized tensor, as bit patterns with a single NaN."""
    write_file("in.safetensors", tensors, metadata)
    run("in.safetensors", "fp32", "--dequant", "-o", path, "--force", "-q", *words_more)
    out = read_file(path)
    judge(what + ": tensors", sorted(out), [name])
    return out.get(name, ("", [], b""))


def ask(command, *arguments, code=0):
    done = subprocess.run([PROGRAM, command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    judge("exit of %s %s" % (command, arguments), done.returncode, code)
    return done.stdout.decode()


def seen_as_one(what, tensors, name, shape, more):
    """inspect and mem see one tensor with all its parts, and its numbers compare equal to those of out.safetensors."""
    if not set(more[::2]) <= {"--bits", "--block"}:
        return    # only --dequant has options for the rest
    parts = sum(len(raw) for _, _, raw in tensors.values())
    file = json.loads(ask("inspect", "in.safetensors", "--stats", "--json", *more))["files"][0]
    tensor = file["tensors"][0]
    judge(what + ": as inspect sees it",
          ([t["name"] for t in file["tensors"]], tensor["shape"], file["totals"]["parameters"], tensor["bytes"],
           sorted(p["name"] for p in tensor["stored_parts"]), file["stored_tensor_count"]),
          ([name], shape, math.prod(shape), parts, sorted(tensors), len(tensors)))
    memory = json.loads(ask("mem", "in.safetensors", "--json", *more))
    codes = next(p["bytes"] for p in tensor["stored_parts"] if p["part"] == "codes")
    judge(what + ": as mem sees it",
          (memory["numbers"], memory["sizes"][0]["bytes"], memory["sizes"][0]["scale_bytes"], memory["other_bytes"]),
          (math.prod(shape), parts, parts - codes, 0))
    ask("compare", "in.safetensors", "out.safetensors", *more)


def check(what, tensors, shape, want, metadata=None, words_more=()):
    dtype, got_shape, raw = numbers_of(what, "out.safetensors", tensors, metadata, words_more)
    judge(what + ": dtype and shape", (dtype, got_shape), ("F32", shape))
    got = floats(raw)
    want = [bits_of(x) for x in want]
    if got != want and len(got) == len(want):
        at = next(i for i in range(len(got)) if got[i] != want[i])
        judge("%s: element %d" % (what, at), hex(got[at]), hex(want[at]))
    judge(what, len(got), len(want))
    seen_as_one(what, tensors, "w", shape, words_more)


def run_parts(parts):
    """Runs the parts in a new folder, then ends the program."""
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None    # every output is synced to disk
    with tempfile.TemporaryDirectory(dir=fast) as folder:
        os.chdir(folder)
        for part in parts:
            before = checked
            part()
            print("%s: %d checks" % (part.__name__, checked - before), flush=True)
        os.chdir("/")
    print("%d checks, %d different" % (checked, different))
    sys.exit(different > 0 or not checked)
