#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unreadable disks: whichever read fails, of a window or a copy, once or from then on, the result is exit 3 and one
line that names the file, or the right answer, and no file is left behind. A preloaded library makes the reads fail.
Also inputs that are not regular files: kernel files, devices, folders."""
import json
import os
import shutil
import sys

from file_casts import LARGE, MIB, folder, write
from make_checkpoint import gguf, npz, npy, safetensors
from make_pickles import archive, state, storage, tensor
from survival import check, environment, main, require, require_one_line, run

LIBRARY = os.path.abspath(sys.argv.pop(3))
LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
ROWS, SIZE = 1024, 3 * MIB
HALF = LARGE[:SIZE]
FILES = {
    "in.safetensors": safetensors([("a", "F32", [SIZE // 8 // ROWS, ROWS], HALF[:SIZE // 2]), ("b", "F32", [SIZE // 8 // ROWS, ROWS], HALF[SIZE // 2:])]),
    "in.npz": npz({"a": npy("<f4", (SIZE // 4,), HALF)}),
    "deflated.npz": npz({"a": npy("<f4", (SIZE // 4,), HALF)}, True),
    "in.pt": archive(state({"a": tensor(storage(count=SIZE // 4), shape=(SIZE // 4,))}), {"0": HALF}),
}
COMMANDS = [["inspect", "--stats"], ["inspect", "--digest"], ["check", "--no-nan"], ["check"], ["compare", "SAME"],
            ["cast", "bf16", "-o", "out.safetensors"], ["cast", "bf16", "-o", "-", "--as", "safetensors"], ["quant", "int8", "-o", "out.safetensors"],
            ["calc"]]
BACK = [["quant", "bf16", "--dequant", "-o", "out.safetensors"], ["transcode", "--to", "bf16", "-o", "out.safetensors"],
        ["check", "--quantized"], ["inspect"]]
AGAIN = {"quantized.safetensors": ["quant", "in.safetensors", "int4", "--block", "32", "-o", "quantized.safetensors"]}


def words_of(command, name):
    if command[0] == "calc":
        return ["calc", "sum(@%s:a)" % name, "fp32", "--true-value", "never"]
    return [command[0], name, *(name if word == "SAME" else word for word in command[1:])]


def output(done):
    """Returns and removes what a run wrote."""
    text = done.stdout
    for name in ("out.safetensors", "out.gguf"):
        if os.path.exists(name):
            with open(name, "rb") as file:
                text = file.read()
            os.unlink(name)
    return text


def failing(words, way, at, stays):
    more = {"DTI_TEST_EIO_STAYS": "1"} if stays else {}
    return run(words, env=environment(DTINFO_READ=way, LD_PRELOAD=LIBRARY, DTI_TEST_EIO_AT=str(at), **more))


def require_told(words, name, way, places=(1, 3)):
    """Fails each of the first few reads, and some later ones."""
    right = run(words, env=environment(DTINFO_READ=way))
    require(right.code in (0, 1) if words[0] == "compare" else right.code == 0, "exit code of", words, right.code, right.stderr)
    wanted, before, met = output(right), sorted(os.listdir(".")), 0
    for stays in (False, True):
        for at in range(1, 20) if LONG else places:
            done = failing(words, way, at, stays)
            text = output(done)
            require(sorted(os.listdir(".")) == before, "left behind:", words, os.listdir("."))
            if done.code == right.code and text == wanted:
                continue
            if words[0] == "check" and done.code == 1 and done.stdout.startswith(b"FAIL") and not done.stderr:
                line = done.stdout.decode()
            else:
                require(done.code == 3, "exit code of", words, way, at, stays, done.code, done.stderr, len(text), text == wanted)
                line = require_one_line(done, 3)
            # in npz an unreadable page of a stored array shows up first as a wrong checksum
            told = "Input/output error" in line or (way == "map" and name == "in.npz" and "damaged: its CRC-32" in line)
            require("'%s'" % name in line and told, "another line:", words, way, at, stays, line)
            met += 1
    require(met > 0 or words[0] in ("check", "inspect") and len(words) == 2, "never met:", words, way)


@check
def a_read_that_fails_is_told_by_every_command():
    with folder():
        for name, content in FILES.items():
            write(name, content)
        for words in AGAIN.values():
            require(run(words).code == 0, "not made", words)
        for name in [*FILES, *AGAIN]:
            for command in COMMANDS + (BACK if name in AGAIN else []):
                for way in ("map", "copy") if command[0] not in ("cast", "quant", "calc") or name not in AGAIN else ():
                    require_told(words_of(command, name) + (["--threads", "2"] if "--stats" in command or command[0] == "cast" else []),
                                 name, way, (1, 3, 4) if name == "deflated.npz" and command[0] == "check" else (1, 3))


@check
def key_values_that_cannot_be_copied_are_told():
    with folder():
        pairs = [("general.architecture", "string", "llama"), ("long", "string", "x" * 200000), ("later", "string", "y")]
        write("in.gguf", gguf(pairs, [("a", "F32", (32,), bytes(128))]))
        require_told(["cast", "in.gguf", "bf16", "-o", "out.gguf", "--set", "general.name=x", "-q"], "in.gguf", "copy", range(1, 7))


@check
def gathered_elements_that_cannot_be_read_are_told():
    """Blocks are made of every second element, which are gathered first: from read 4 on."""
    with folder():
        every_second = tensor(storage(count=1 << 19), shape=(128, 2048), strides=(4096, 2))
        write("in.pt", archive(state({"w": every_second}), {"0": HALF[:1 << 21]}))
        require_told("quant in.pt q8_0 -o out.gguf --set general.architecture=none --type w=q8_0 -q".split(), "in.pt", "copy", range(1, 7))


def files_of(path):
    """The files of a folder, {name: bytes}, which it removes."""
    files = {}
    for name in sorted(os.listdir(path) if os.path.isdir(path) else ()):
        with open(os.path.join(path, name), "rb") as file:
            files[name] = file.read()
    shutil.rmtree(path, ignore_errors=True)
    return files


@check
def a_part_of_a_run_needs_all_shards():
    """One shard of three is written. Before that, samples of each are read for its record (reads 1 to 36), and the
    numbers of the others for the tensor scale that they share."""
    with folder():
        os.mkdir("model")
        shards = {"model.layers.0.self_attn.%s_proj.weight" % name: "model-%05d-of-00003.safetensors" % (at + 1) for at, name in enumerate("qkv")}
        for at, (name, shard) in enumerate(shards.items()):
            write("model/" + shard, safetensors([(name, "F32", [64, 64], HALF[at << 14:(at + 1) << 14])]))
        write("model/model.safetensors.index.json", json.dumps({"weight_map": shards}).encode())
        words = "quant model nvfp4 --layout modelopt --part 1/3 -o out -q".split()
        require(run(words).code == 0, "exit code of", words)
        wanted, met = files_of("out"), 0
        require(len(wanted) == 2, "a shard and its record", sorted(wanted))
        for at in range(1, 48) if LONG else (1, 13, 25, *range(34, 42)):
            done = failing(words, "map", at, False)
            made = files_of("out")
            if done.code != 0:
                line = require_one_line(done, 3)
                require("Input/output error" in line and "model-0000" in line and not made, "another line:", at, line, sorted(made))
                met += 1
            else:
                require(made == wanted, "other files:", at, sorted(made))
        require(met > 6, "never met:", met)


@check
def what_is_no_file_is_refused_at_once():
    with folder():
        os.mkdir("folder")
        for path in ("/proc/self/mem", "folder", "/dev/null", "/dev/zero", "/proc/self/maps", "/proc/sys/kernel/hostname"):
            if not os.path.exists(path):
                continue
            for command in (["inspect"], ["check"], ["cast", "bf16", "-o", "out.safetensors"], ["inspect", "--stats"]):
                done = run([command[0], path, *command[1:]])
                if command[0] == "check" and done.code == 1:
                    require(b"FAIL  valid" in done.stdout and done.stdout.count(b"\n") == 1, "check", path, done.stdout)
                else:
                    require(done.code in (2, 3), "exit code", path, command, done.code)
                    require_one_line(done, done.code)
                require(not os.path.exists("out.safetensors"), "made", path)


if __name__ == "__main__":
    sys.exit(main())
