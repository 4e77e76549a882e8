#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that another program writes to while they are read: exit 3, one line that names the file, no answer, and no
files left behind. Changes to the file's name, links or permissions only are harmless: the same answer. A preloaded
library makes the change at a given read."""
import json
import os
import subprocess
import sys
import time

from file_casts import LARGE, MIB, folder, write
from make_checkpoint import safetensors
from survival import QUICK, check, environment, main, require, require_one_line, run

LIBRARY = os.path.abspath(sys.argv.pop(3))
ROWS = 1024
NAME, OTHER = "in.safetensors", "other.safetensors"
SHARD = "model/b.safetensors"
HARM = {"append": "its size", "write": "its modification time", "touch": "its modification time", "set-back": "its status"}
HARMLESS = ["chmod", "link", "rename", "replace", "unlink"]
# commands that answer, for a file and for a model's folder; and commands that write OUT
ANSWERS = [["inspect", "--stats", "IN"], ["inspect", "--stats", "IN", "--json"], ["inspect", "--digest", "IN"],
           ["inspect", "IN", "--histogram", "--json"], ["check", "--no-nan", "IN"], ["check", "--fits", "fp8_e4m3fn", "IN"],
           ["check", "--no-nan", "--json", "IN"], ["compare", "IN", OTHER], ["compare", OTHER, "IN", "--json"],
           ["verify", "IN", OTHER, "--recipe", "kept.json"], ["explain", "IN", OTHER], ["calc", "sum(@IN:a)", "fp32"],
           ["calc", "sum(@IN:b)", "fp32", "--json"]]
WRITERS = [["cast", "IN", "bf16"], ["quant", "IN", "int8", "--per", "channel"], ["quant", "IN", "mxfp4"]]


def tensors(names):
    half = 3 * MIB + 4 * ROWS
    return [(name, "F32", [half // 4 // ROWS, ROWS], LARGE[i * half:(i + 1) * half]) for i, name in enumerate(names)]


def write_inputs():
    write(NAME, safetensors(tensors(["a", "b"])))
    write(NAME + ".new", safetensors(tensors(["a"])))
    os.makedirs("model", exist_ok=True)
    write("model/a.safetensors", safetensors(tensors(["a"])))
    write(SHARD, safetensors(tensors(["b"])))
    write(SHARD + ".new", safetensors(tensors(["c"])))
    places = {"a": "a.safetensors", "b": "b.safetensors"}
    write("model/model.safetensors.index.json", json.dumps({"metadata": {}, "weight_map": places}).encode())


def write_others():
    write(OTHER, safetensors(tensors(["a", "b"])))
    write_inputs()
    found = run(["explain", NAME, OTHER, "--json"])
    require(found.code == 0, "explain", found.stderr)
    write("kept.json", found.stdout)


def clean():
    for name in ("out.safetensors", "out"):
        if os.path.exists(name):
            subprocess.run(["rm", "-r", name], check=True)
    for name in (NAME + ".new", SHARD + ".new"):
        if os.path.exists(name):
            os.unlink(name)


def output():
    """The output that the run wrote."""
    if os.path.isdir("out"):
        names = ["out/" + name for name in sorted(os.listdir("out")) if name.endswith(".safetensors")]
    else:
        names = ["out.safetensors"] if os.path.exists("out.safetensors") else []
    return [(name, open(name, "rb").read()) for name in names]


def wait_for_another_time(name):
    """Until a change would give the file another time: the clock of a file system may tick every 10 ms only."""
    while True:
        write("clock", b"x")
        later = os.stat("clock").st_mtime_ns > os.stat(name).st_ctime_ns
        os.unlink("clock")
        if later:
            return
        time.sleep(0.001)


def runs(words, changed, how, at):
    """One run on fresh inputs, with the change at the given read."""
    clean()
    for name in (NAME, SHARD):
        if os.path.exists(name):
            os.unlink(name)
    write_inputs()
    if how != "link":
        size = os.path.getsize(changed)
    else:
        os.unlink(changed + ".new")
        size = os.path.getsize(changed)
    if how in HARM:
        wait_for_another_time(changed)
    env = environment(LD_PRELOAD=LIBRARY, DTI_TEST_TRUNCATE=changed if how else "", DTI_TEST_CHANGE=how or "",
                      DTI_TEST_TRUNCATE_AT=str(at if how else 0), DTI_TEST_TRUNCATE_TO=str(size - 5))
    done = run(words, env=env)
    return done, output()


def cases():
    for words in ANSWERS[::3] if QUICK else ANSWERS:
        yield [word.replace("IN", NAME) for word in words], NAME
    yield ["inspect", "--stats", "model", "--threads", "1"], SHARD
    yield ["check", "--no-inf", "model", "--json", "--threads", "1"], SHARD
    yield ["compare", "model", NAME, "--threads", "1"], SHARD
    for words in WRITERS[:1] if QUICK else WRITERS:
        yield [NAME if word == "IN" else word for word in words] + ["-o", "out.safetensors"], NAME
        yield ["model" if word == "IN" else word for word in words] + ["-o", "out", "--threads", "1"], SHARD
        yield [NAME if word == "IN" else word for word in words] + ["-o", "out.safetensors", "--json"], NAME


@check
def every_change_is_an_error_and_nothing_is_published():
    met = 0
    with folder():
        write_others()
        for words, changed in cases():
            whole, written = runs(words, changed, None, 0)
            require(whole.code in (0, 1), "without a change", words, whole.code, whole.stderr)
            for how, what in HARM.items():
                for at in (1, 2) if how == "write" else (1,):
                    done, now = runs(words, changed, how, at)
                    line = require_one_line(done, 3)
                    require("'%s' changed while it was read (%s)" % (changed, what) in line, "another error", words,
                            how, at, line)
                    require(not now and ".dtinfo-" not in " ".join(os.listdir(".")), "published", words, how)
                    if "--json" in words:  # by then other answers may already be in the pipe
                        document = json.loads(done.stdout)
                        require(document["schema"] == "dtinfo.error/1", "answered", words, how, done.stdout)
                    met += 1
    print("        %d changes" % met)


@check
def a_new_name_link_or_permission_is_no_change():
    with folder():
        write_others()
        for words, changed in cases():
            whole, written = runs(words, changed, None, 0)
            for how in HARMLESS:
                done, now = runs(words, changed, how, 2)
                require(done.code == whole.code, "fails", words, how, done.stderr)
                require(now == written, "other bytes", words, how)


if __name__ == "__main__":
    sys.exit(main())
