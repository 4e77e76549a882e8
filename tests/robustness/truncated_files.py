#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that shrink while they are read, through windows and by copies: exit 3, one line that names the file, and no
files left behind. A preloaded library truncates the file at a given read."""
import os
import subprocess
import sys

from file_casts import LARGE, MIB, folder, write
from make_checkpoint import safetensors
from survival import PROGRAM, QUICK, check, environment, main, require, require_one_line, run

LIBRARY = os.path.abspath(sys.argv.pop(3))
ROWS = 1024
NAME = "in.safetensors"
# commands that read all data; those of the second list read quantized tensors
READERS = [["inspect", "--stats", NAME], ["inspect", "--histogram", NAME], ["inspect", "--digest", NAME],
           ["check", "--no-nan", NAME], ["check", "--as", "bf16", "--max-error", "1e9", NAME],
           ["compare", NAME, "other.safetensors"], ["compare", "other.safetensors", NAME], ["compare", NAME, NAME]]
WRITERS = [["cast", NAME, "bf16", "-o", "out.safetensors"], ["cast", NAME, "bf16", "-o", "-"],
           ["cast", NAME, "bf16", "--from", "fp32", "-o", "out.bin"],
           ["quant", NAME, "int8", "--per", "channel", "-o", "out.safetensors"],
           ["quant", NAME, "mxfp4", "-o", "out.safetensors"]]
BACK = [["quant", NAME, "bf16", "--dequant", "-o", "out.safetensors"], ["inspect", "--stats", NAME]]
SCHEMES = [["int8", "--per", "channel"], ["int4", "--block", "32"], ["mxfp4"], ["nvfp4"]]


def write_input():
    """Two fp32 tensors that bf16 holds exactly; at least three windows."""
    half = 5 * MIB + 4 * ROWS
    write(NAME, safetensors([("a", "F32", [half // 4 // ROWS, ROWS], LARGE[:half]),
                             ("b", "F32", [half // 4 // ROWS, ROWS], LARGE[half:2 * half])]))


def truncated(words, way, at, size):
    env = environment(DTINFO_READ=way, LD_PRELOAD=LIBRARY, DTI_TEST_TRUNCATE=NAME, DTI_TEST_TRUNCATE_AT=str(at),
                      DTI_TEST_TRUNCATE_TO=str(size))
    return run(words, env=env)


def answer(words, way):
    """The exit code, and the output: from standard output, or from a file, which is removed."""
    done = run(words, env=environment(DTINFO_READ=way))
    output = done.stdout
    for name in ("out.safetensors", "out.bin"):
        if os.path.exists(name):
            with open(name, "rb") as file:
                output = file.read()
            os.unlink(name)
    return done.code, output


def require_truncated(words, whole, sizes):
    """For any way, read and size: the same error; or the same answer if the bytes had already been read."""
    answers = {way: answer(words, way) for way in ("map", "copy")}
    require(answers["map"] == answers["copy"] and answers["map"][0] == 0, "windows change:", words,
            answers["map"][0], answers["copy"][0])
    before, failed = sorted(os.listdir(".")), 0
    for way in ("map", "copy"):
        for at in (1,) if QUICK else (1, 3):
            for size in sizes:
                write(NAME, whole)
                done = truncated(words, way, at, size)
                if done.code == answers[way][0] and os.path.getsize(NAME) == len(whole):
                    continue  # fewer reads happened: a thread may have had little to do
                line = require_one_line(done, 3)
                require("'%s' shrank while being read: it ends at byte " % NAME in line, "another error:", words,
                        way, at, size, line)
                require(sorted(os.listdir(".")) == before, "left behind:", os.listdir("."))
                failed += way == "map"
    write(NAME, whole)
    require(failed > 0, "never met:", words)


def sizes_of(whole):
    return (0, len(whole) // 2 + 5, len(whole) - 1)


@check
def readers_of_a_truncated_file_say_so():
    with folder():
        write_input()
        with open(NAME, "rb") as file:
            whole = file.read()
        write("other.safetensors", whole)
        for words in READERS:
            for threads in ("1", "3") if "--digest" not in words else ("",):
                more = ["--threads", threads] if threads else []
                require_truncated(words + more, whole, sizes_of(whole))


@check
def writers_of_a_truncated_file_leave_nothing_behind():
    with folder():
        write_input()
        with open(NAME, "rb") as file:
            whole = file.read()
        for words in WRITERS:
            for threads in ("1", "3"):
                require_truncated(words + ["--threads", threads], whole, sizes_of(whole))


@check
def quantized_tensors_of_a_truncated_file_are_reported():
    with folder():
        for scheme in SCHEMES:
            write_input()
            done = run(["quant", NAME] + scheme + ["-o", "quantized.safetensors"])
            require(done.code == 0, "exit code", done.code, done.stderr)
            os.replace("quantized.safetensors", NAME)
            with open(NAME, "rb") as file:
                whole = file.read()
            for words in BACK:
                require_truncated(words, whole, sizes_of(whole)[:2])


@check
def transposed_matrices_of_a_truncated_file_are_reported():
    """GPTQ and AWQ, with one thread and with several that load the same stripe."""
    with folder():
        for codes in ([512, 4096], [4096, 512]):
            zeros = [32, 512], b"\x77" * (32 * 512 * 4)
            scales = [32, 4096], b"\x01\x3c" * (32 * 4096)
            whole = safetensors([("w.qzeros", "I32", *zeros), ("w.scales", "F16", *scales),
                                 ("w.qweight", "I32", codes, LARGE[:512 * 4096 * 4])])
            for words in BACK:
                for threads in ("1", "3"):
                    write(NAME, whole)
                    require_truncated(words + ["--threads", threads], whole, sizes_of(whole)[:2])


@check
def zeros_of_a_sparse_file_are_data():
    """Holes have no pages but are read as zeros; after truncation they are gone."""
    size = 48 * MIB
    head = safetensors([("a", "F32", [size // 4 // ROWS, ROWS], bytes(size))])[:-size]
    with folder():
        for words in (["inspect", "--stats", NAME], ["cast", NAME, "fp16", "-o", "-"]):
            with open(NAME, "wb") as file:
                file.write(head)
                file.truncate(len(head) + size)
            outputs = [run(words, env=environment(DTINFO_READ=way)) for way in ("map", "copy")]
            require(outputs[0].code == 0 and outputs[0].stdout == outputs[1].stdout, "different:", words,
                    outputs[0].stderr)
            if words[0] == "cast":
                require(outputs[0].stdout.endswith(bytes(size // 2)), "not zeros")
            for way in ("map", "copy"):
                with open(NAME, "wb") as file:
                    file.write(head)
                    file.truncate(len(head) + size)
                require_one_line(truncated(words, way, 3, len(head) + size // 2), 3)


@check
def a_pipe_gets_no_bytes_that_were_not_read():
    """The reader waits, the file is truncated, the reader continues: it gets a prefix of the right bytes."""
    with folder():
        write_input()
        with open(NAME, "rb") as file:
            whole = file.read()
        words = [PROGRAM, "cast", NAME, "bf16", "-o", "-", "-q", "--threads", "2"]
        wanted = subprocess.run(words, env=environment(), stdout=subprocess.PIPE, check=True).stdout
        for way in ("map", "copy"):
            write(NAME, whole)
            child = subprocess.Popen(words, env=environment(DTINFO_READ=way), stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, bufsize=0)
            first = child.stdout.read(1)
            os.truncate(NAME, len(whole) - 3 * MIB)
            rest, stderr = child.communicate()
            require(child.returncode == 3 and b"shrank while being read" in stderr, "failure", child.returncode, stderr)
            require(wanted.startswith(first + rest), "wrong bytes", way)


if __name__ == "__main__":
    sys.exit(main())
