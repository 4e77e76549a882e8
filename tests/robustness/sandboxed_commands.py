#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole commands in the sandbox: the same answers with it as without, no call of theirs refused, and files elsewhere out of reach.
What a reader cannot do in it is the business of tests/unit/test_sandbox.c."""
import ctypes
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys

from checkpoint_casts import safetensors, write
from make_checkpoint import normals, pack
from output_sets import INDEX, folder, name_of
from survival import PROGRAM, check, main, require, run

SHARDS = 3

# After the sandbox is closed: a refusal. Output walks to its folder and tries to list each one on the way; the C library starts
# threads by clone3() first.
REFUSED = re.compile(r"= -1 (EPERM|EACCES|ENOSYS)|SIGSYS")
EXPECTED = re.compile(r"\bopenat\([^,]*, \"[^\"]*\", O_RDONLY\|O_NOFOLLOW\|O_CLOEXEC\|O_DIRECTORY\)|\bclone3\(")


def has_sandbox():
    return run(["inspect", "nowhere.npy", "--sandbox", "always"]).code != 5


def older_kernel(*calls):
    """Makes these system calls of a program to come fail with ENOSYS."""
    steps = [(0x20, 0, 0, 0)] # A = the number
    steps += [(0x15, len(calls) - i, 0, call) for i, call in enumerate(calls)]
    steps += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050026)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))

    class Program(ctypes.Structure):
        _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_void_p)]
    program = Program(len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None)

    def prepare():
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.byref(program)) != 0:
            os._exit(99)
    prepare.kept = code
    return prepare


def both(words, stdin=b""):
    """The answer with the sandbox, which must be that without it."""
    out = [word for word, before in zip(words, [""] + words) if before == "-o" and not word.startswith("/dev")]
    answers = []
    for when in ("never", "always"):
        done = run(words + ["--sandbox", when], stdin=stdin)
        files = {}
        for path in out:
            for name in [path] if os.path.isfile(path) else [os.path.join(path, name) for name in os.listdir(path)]:
                with open(name, "rb") as file:
                    files[name] = file.read()
            shutil.rmtree("out")
            os.mkdir("out")
        answers.append((done.code, done.stdout, done.stderr, files))
    require(answers[0] == answers[1], "the sandbox changes", words, answers[0][:3], answers[1][:3])
    require(answers[0][0] in (0, 1), "exit code", words, answers[0][:3])


def write_model(path):
    os.makedirs(path)
    places = {}
    for at in range(SHARDS):
        names = ["model.layers.%d.%s.weight" % (at, name) for name in ("up_proj", "down_proj")]
        write(os.path.join(path, name_of(at, SHARDS)),
              safetensors([(name, "F32", [64, 128], pack("F32", normals(64 * 128, at))) for name in names], {"format": "pt"}))
        places.update({name: name_of(at, SHARDS) for name in names})
    write(os.path.join(path, INDEX), json.dumps({"metadata": {}, "weight_map": places}).encode())
    write(os.path.join(path, "config.json"), b'{"model_type": "llama", "rms_norm_eps": 1e-05}\n')


def models():
    """A folder of shards, a download cache of links to it, and a folder of links."""
    write_model("blobs")
    os.makedirs("cache/snapshot")
    for name in os.listdir("blobs"):
        os.symlink("../../blobs/" + name, "cache/snapshot/" + name)
    os.mkdir("mixed") # the index is a file, the shards are links
    for name in os.listdir("blobs"):
        if name == INDEX:
            shutil.copy("blobs/" + name, "mixed")
        else:
            os.symlink(os.path.abspath("blobs/" + name), "mixed/" + name)
    os.makedirs("out")


def commands():
    one, cached = "blobs/" + name_of(0, SHARDS), "cache/snapshot/" + INDEX
    yield ["inspect", one]
    yield ["inspect", "cache/snapshot", "--stats"]
    yield ["inspect", cached, "--json", "--stats", "--threads", "2"]
    yield ["inspect", "mixed/" + INDEX, "--digest"]
    yield ["check", "blobs", cached, "mixed"]
    yield ["compare", "blobs", cached, "--threads", "2"]
    yield ["mem", cached, "--fit", "80GB"]
    yield ["cast", one, "bf16", "-o", "out/new.safetensors"]
    yield ["cast", one, "bf16", "-o", "out/new.npz"]
    yield ["cast", cached, "bf16", "-o", "out/new", "--threads", "2"]
    yield ["cast", "blobs", "bf16", "-o", "out/new/" + INDEX] # makes the folder
    yield ["quant", "blobs", "int8", "-o", "out/quantized"]
    yield ["explain", one, one]
    yield ["calc", "sum(@%s:model.layers.0.up_proj.weight) + exp(1)" % one, "fp32"]


@check
def answers_are_the_same_in_it():
    with folder():
        models()
        for words in commands():
            both(words)
        both(["cast", "-", "bf16"], b"1\n2\n")
        both(["cast", "/dev/stdin", "bf16", "--from", "fp32", "-o", "/dev/stdout"], bytes(64))
        os.mkfifo("pipe")
        for when in ("never", "always"):
            with subprocess.Popen(["sh", "-c", "cat blobs/%s > pipe" % INDEX]):
                done = run(["cast", "--input", "pipe", "bf16", "--from", "uint8", "-o", "/dev/null", "--sandbox", when])
            require(done.code == 0, "a named pipe", when, done.stderr)


@check
def no_call_of_a_command_is_refused():
    with folder():
        strace = shutil.which("strace")
        if not strace:
            print("        skipped: there is no strace")
        models()
        for words in commands() if strace else []:
            done = subprocess.run([strace, "-f", "-qq", "-o", "trace", PROGRAM] + words, stdout=subprocess.DEVNULL)
            require(done.returncode in (0, 1), "exit code", words, done.returncode)
            with open("trace", encoding="utf-8", errors="replace") as file:
                trace = file.read().split("seccomp(SECCOMP_SET_MODE_FILTER", 1)
            require(len(trace) == 2, "no sandbox", words)
            for line in trace[1].splitlines():
                require(not REFUSED.search(line) or EXPECTED.search(line), "refused", words, line)
            shutil.rmtree("out")
            os.mkdir("out")


@check
def a_named_file_is_read_through_links_of_folders():
    with folder():
        models()
        os.makedirs("model")
        os.symlink(os.path.abspath("blobs"), "model/below")
        done = run(["check", "model/below/" + name_of(0, SHARDS)])
        require(done.code == 0, "a named file is read by any way", done.stderr)
        os.symlink(os.path.abspath("blobs/" + INDEX), "model/" + INDEX) # its shards are missing here
        require(run(["inspect", "model/" + INDEX]).code == 3, "shards are those of the index's own folder")


@check
def always_fails_where_it_cannot_be_had():
    for words in (["bench", "cast"], ["devices"], ["mem", "7B", "bf16", "--fit", "cuda"], ["cast", "1", "bf16", "--device", "cuda"]):
        done = run(words + ["--sandbox", "always"])
        require(done.code == 5 and b"--sandbox always" in done.stderr, "exit code", words, done.code, done.stderr)


@check
def what_a_kernel_lacks_is_named():
    landlock, seccomp = 444, {"x86_64": 317}.get(platform.machine(), 277)
    of_files, of_calls = b"limits on files (Landlock)", b"filters of system calls (seccomp)"
    with folder():
        models()
        words = ["inspect", "blobs", "--stats"]
        want = run(words + ["--sandbox", "never"])
        for calls, lacks in (((landlock,), of_files), ((seccomp,), of_calls), ((landlock, seccomp), of_files)):
            prepare = older_kernel(*calls)
            require(run(["--version", "-v"], prepare=prepare).stdout.find(b"sandbox    lacks " + lacks) >= 0, "--version -v", calls)
            done = run(words + ["--sandbox", "always"], prepare=prepare)
            require(done.code == 5 and lacks in done.stderr and not done.stdout, "always", calls, done.code, done.stderr)
            for when in ([], ["--sandbox", "auto"]):
                done = run(words + when, prepare=prepare)
                require((done.code, done.stdout, done.stderr) == (want.code, want.stdout, want.stderr), "auto", calls, done.stderr)


if __name__ == "__main__":
    if not has_sandbox():
        print("skipped: this machine or build has no sandbox, or only a part of one")
        sys.exit(77)
    sys.exit(main())
