#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The GGUF writers, killed at any moment: quant, cast, --dequant and transcode, from GGUF and from safetensors, with
and without an old target. The target is the old file or the complete new one, and at most one leftover remains, which
the next run names and --force removes.

    killed_gguf.py DTINFO MEASURE [long]
"""
import os
import signal
import subprocess
import sys
import time

from file_casts import LARGE, MIB, RANDOM, folder, read, write
from make_checkpoint import gguf, safetensors
from survival import PROGRAM, SECONDS, check, environment, main, require, run

LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
ROUNDS = 60 if LONG else 4
ROWS, SIZE = 256, 4 * MIB
TARGET = "out.gguf"
NAMES = ["blk.0.attn_q.weight", "blk.0.ffn_up.weight", "blk.1.attn_q.weight"]
WRITERS = [["quant", "in.gguf", "q4_k"], ["quant", "in.gguf", "q8_0", "--type", "*ffn*=q6_k"], ["quant", "in.safetensors", "q4_0", "--template", "in.gguf"],
           ["cast", "in.gguf", "bf16"], ["quant", "blocks.gguf", "fp16", "--dequant"], ["quant", "blocks.gguf", "q8_0"]]
SETTINGS = [("general.architecture", "string", "llama"), ("general.name", "string", "x" * 300)]


def inputs():
    tensors = [(name, LARGE[at * SIZE:(at + 1) * SIZE]) for at, name in enumerate(NAMES)]
    write("in.gguf", gguf(SETTINGS, [(name, "F32", [SIZE // 4 // ROWS // 4, ROWS * 4], data) for name, data in tensors]))
    write("in.safetensors", safetensors([(name, "F32", [SIZE // 4 // ROWS // 4, ROWS * 4], data) for name, data in tensors]))
    done = run(["quant", "in.gguf", "q8_0", "-o", "blocks.gguf", "-q"])
    require(done.code == 0, "blocks.gguf", done.stderr)


def words_of(writer, *more):
    return [*writer, "-o", TARGET, "-q", *more]


def killed(writer, moment, number, more=()):
    child = subprocess.Popen([PROGRAM, *words_of(writer, "--force", *more)], env=environment(), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if moment is None:  # once it has begun to write
        begin = time.monotonic()
        while not left() and child.poll() is None and time.monotonic() - begin < SECONDS:
            pass
    else:
        time.sleep(moment)
    child.send_signal(number)
    _, stderr = child.communicate(timeout=SECONDS)
    require(child.returncode in (0, -number), "exit code", writer, child.returncode, stderr)
    return child.returncode


def left():
    return [name for name in os.listdir(".") if ".dtinfo-" in name]


def require_clean(writer, wanted, old):
    """The next run names the leftover, and with --force removes it completely."""
    strays = left()
    require(len(strays) <= 1, "left behind:", strays)
    if strays and not old:  # otherwise the message is about the old file
        done = run([*writer, "-o", TARGET])
        require(strays[0].encode() in done.stderr and b"--force removes it" in done.stderr, "not named", strays, done.stderr)
        require(done.code == 0, "exit code", writer, done.code, done.stderr)
        require(left() == strays, "removed without --force", left())
    done = run(words_of(writer, "--force"))
    require(done.code == 0 and not left() and read(TARGET) == wanted, "the next run", writer, done.code, done.stderr, left())
    return len(strays)


@check
def a_kill_leaves_the_old_file_or_the_new_one():
    with folder():
        inputs()
        met = died = 0
        before = sorted(os.listdir("."))
        for writer in WRITERS:
            begin = time.monotonic()
            done = run(words_of(writer))
            require(done.code == 0, "exit code", writer, done.code, done.stderr)
            longest, wanted = time.monotonic() - begin, read(TARGET)
            require(run(["check", TARGET]).code == 0, "not valid", writer)
            for at in range(ROUNDS):
                os.unlink(TARGET)
                old = at % 2 == 0
                if old:
                    write(TARGET, b"old")
                moment = None if at % 4 < 2 else RANDOM.random() * longest
                code = killed(writer, moment, signal.SIGKILL if at % 8 != 7 else signal.SIGTERM,
                              ("--threads", "1") if at % 3 == 0 else ())
                there = read(TARGET) if os.path.exists(TARGET) else None
                require(there in ((wanted,) if code == 0 else (wanted, b"old" if old else None)), "neither old nor new:", writer,
                        code, there and len(there))
                died += code != 0
                if code == -signal.SIGTERM:
                    require(not left(), "left behind:", left())
                met += require_clean(writer, wanted, there is not None)
            os.unlink(TARGET)
        require(sorted(os.listdir(".")) == before, "left behind:", os.listdir("."))
        print("        %d of %d died, %d left something" % (died, ROUNDS * len(WRITERS), met))
        require(met > 0, "no kill met a run at work")


if __name__ == "__main__":
    sys.exit(main())
