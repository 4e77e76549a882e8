#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`calc` and file-reading commands with little address space: from the minimum that starts the program, every answer
equals the one with unlimited memory, or it is exit 5 and one line; never a signal, never a partial file.

    scarce_memory.py DTINFO MEASURE [long]
"""
import os
import re
import resource
import sys

from file_casts import LARGE, folder, write
from make_checkpoint import npy, safetensors
from survival import SANITIZED, check, main, require, require_one_line, run

LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
KIB, MIB = 1 << 10, 1 << 20
EXPRESSIONS = [["calc", "exp(1/3)+0.1", "bf16,fp16"], ["calc", "sum(rand(30000))", "fp16"],
               ["calc", "layernorm(rand(5000))", "fp16", "--steps"], ["calc", "softmax(randn(40,40))", "bf16", "--json"],
               ["calc", "matmul(@w.npy,@w.npy)", "bf16", "-o", "out.npy"], ["calc", "@w.npy*2", "fp16", "-o", "out.npy"],
               ["calc", "sum(@m.safetensors:a)", "fp16", "--accumulate", "fp32"], ["calc", "1/3+" * 900 + "1", "fp16"],
               ["calc", "mean(rand(20000))", "fp16", "--true-value", "always"]]
FILES = [["inspect", "m.safetensors", "--stats", "--threads", "4"], ["check", "m.safetensors", "--no-nan", "--json"],
         ["quant", "m.safetensors", "int4", "--block", "32", "-o", "out.npy", "--as", "safetensors"]]


def limited(words, limit):
    return run(words, prepare=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))


def least():
    """The least address space with which the program starts: below it, the loader or the kernel reports an error."""
    low, high = MIB, 1 << 31
    while high - low > 16 * KIB:
        middle = (low + high) // 2
        if limited(["--version"], middle).code == 0:
            high = middle
        else:
            low = middle
    return high


def output():
    if not os.path.exists("out.npy"):
        return None
    with open("out.npy", "rb") as file:
        content = file.read()
    os.unlink("out.npy")
    return content


@check
def little_memory_is_the_answer_or_one_line():
    if SANITIZED:
        return
    with folder():
        write("w.npy", npy("<f4", (64, 64), LARGE[:4 * 64 * 64]))
        write("m.safetensors", safetensors([("a", "F32", [256, 1024], LARGE[:MIB]), ("b", "F32", [256, 1024], LARGE[MIB:2 * MIB])]))
        start, before = least(), sorted(os.listdir("."))
        limits = [start + step * KIB for step in (range(0, 4096, 16) if LONG else range(0, 4096, 310))]
        limits += [start + step * MIB for step in (5, 8, 14, 30)]
        failed = 0
        for words in EXPRESSIONS + FILES:
            right = run(words)
            require(right.code == 0, "exit code of", words, right.code, right.stderr)
            wanted = right.stdout, output()
            for limit in limits:
                done = limited(words, limit)
                got = done.stdout, output()
                require(sorted(os.listdir(".")) == before, "left behind:", words, os.listdir("."))
                if done.code == 0 and b"libmpfr is not available" in got[0]:  # it could not be mapped: the rest of the answer is there
                    require(got[0].split()[:4] == wanted[0].split()[:4], "another value:", words, got[0][:200])
                    continue
                if done.code == 0:
                    require(got == wanted, "another answer:", words, limit - start, got[0][:200])
                    continue
                if done.code == 127 and b"shared" in done.stderr:
                    continue  # a system library that is loaded at run time
                require(done.code == 5, "exit code of", words, limit - start, done.code, done.stderr)
                line = require_one_line(done, 5)
                require(re.search("memory|cannot be loaded|threads could be started", line) and got[1] is None, "another line:", words, limit - start, line)
                failed += 1
        print("        %d answers, %d times too little memory" % (len(limits) * len(EXPRESSIONS + FILES) - failed, failed))
        require(failed > 10, "the limits have no effect", failed)


if __name__ == "__main__":
    sys.exit(main())
