#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantized files with full disks and files that change: old files or complete new ones. With the word "long"
many more moments."""
import json
import os
import resource
import struct
import subprocess
import sys
import time

from checkpoint_casts import MIB, folder, open_safetensors, read, safetensors, write
from file_casts import MEDIUM, RANDOM, require_failure
from survival import MEASURE, PROGRAM, SANITIZED, SECONDS, check, environment, main, require

LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")
ROUNDS = 100 if LONG else 4
SMALL = MEDIUM[:3 << 20]


def quant(*words, prefix=(), **options):
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    done = subprocess.run(list(prefix) + [PROGRAM, "quant"] + list(words), env=environment(), timeout=SECONDS,
                          stdin=subprocess.DEVNULL, **options)
    done.code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return done


def start(*words):
    return subprocess.Popen([PROGRAM, "quant"] + list(words), env=environment(), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def require_done(done):
    require(done.code == 0, "exit code", done.code, done.stderr)
    return done


def file_of(data):
    """Two tensors to quantize and others that are kept."""
    half = len(data) // 512 // 2 * 512
    rows = half // 512
    return safetensors([("a.weight", "F32", [rows, 128], data[:half]),
                        ("b.weight", "F32", [rows, 128], data[half:2 * half]),
                        ("ids", "I64", [2], b"0123456789abcdef")], {"format": "pt"})


def made(source, *words):
    """The output file of an undisturbed run."""
    require_done(quant(source, *words, "-o", "good.safetensors", "--force", "-q"))
    data = read("good.safetensors")
    os.unlink("good.safetensors")
    return data


def write_shards(path, count):
    os.makedirs(path, exist_ok=True)
    each, places = len(SMALL) // count // 512 * 512, []
    for i in range(count):
        name = "m-%d.safetensors" % i
        write(os.path.join(path, name),
              safetensors([("w.%d" % i, "F32", [each // 512, 128], SMALL[i * each:(i + 1) * each])]))
        places.append('"w.%d": "%s"' % (i, name))
    text = '{"metadata": {"total_size": %d}, "weight_map": {%s}}' % (each * count, ", ".join(places))
    write(os.path.join(path, "model.safetensors.index.json"), text.encode())


@check
def threads_memory_and_levels_change_no_byte():
    with folder():
        write("in.safetensors", file_of(SMALL))
        for words in (["int8", "--affine", "--per", "channel"], ["nvfp4"], ["uint4", "--block", "16"]):
            wanted = made("in.safetensors", *words)
            for more in (["--threads", "1"], ["--threads", "3", "--max-memory", "300KiB"], ["--max-memory", "4KiB"]):
                require(made("in.safetensors", *words, *more) == wanted, "other bytes", words, more)
            for level in ("none", "avx2"):
                options = {"env": environment(DTINFO_CPU=level)}
                done = subprocess.run([PROGRAM, "quant", "in.safetensors", *words, "-o", "level.safetensors", "-q",
                                       "--force"], stderr=subprocess.PIPE, **options)
                if done.returncode != 0:  # the machine lacks this level
                    require(b"DTINFO_CPU" in done.stderr, "failure", done.stderr)
                    continue
                require(read("level.safetensors") == wanted, "other bytes", words, level)


@check
def a_dry_run_makes_nothing_and_tells_the_truth():
    with folder():
        write("in.safetensors", file_of(SMALL))
        write_shards("shards", 3)
        for source, target in (("in.safetensors", "out.safetensors"), ("shards", "new/")):
            before = sorted(os.listdir("."))
            words = [source, "mxfp4", "-o", target, "--json"]
            told = json.loads(require_done(quant(*words, "--dry-run")).stdout)
            require(sorted(os.listdir(".")) == before, "something was made")
            done = json.loads(require_done(quant(*words)).stdout)
            require(told["output"] == done["output"], "another output", told["output"], done["output"])
            for file in done["output"]["files"]:
                require(os.path.getsize(file["path"]) == file["bytes"], "another size", file)
            parts = [[tensor["parts"] for tensor in report["tensors"]] for report in (told, done)]
            require(parts[0] == parts[1], "other parts")


@check
def a_full_disk_leaves_the_old_files_and_no_new_folder():
    script = """mount -t tmpfs -o size=300k none disk || exit 99
        printf old >disk/out.safetensors
        "$@" in.safetensors int8 -o disk/out.safetensors --force; first=$?
        "$@" shards int8 -o disk/new/ 2>second; second=$?
        "$@" in.npy int8 -o disk/out.npy 2>third; third=$?
        test "$(ls -A disk)" = out.safetensors && test "$(cat disk/out.safetensors)" = old || exit 98
        test $first = $second && test $first = $third && grep -q "No space left" second third && exit $first"""
    with folder():
        os.mkdir("disk")
        write("in.safetensors", file_of(SMALL))
        write("in.npy", npy(SMALL))
        write_shards("shards", 3)
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", PROGRAM, "quant"], env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS)
        done.code = done.returncode
        if b"unshare:" in done.stderr or b"mount:" in done.stderr:
            print("        skipped: no file system of its own here")
            return
        require_failure(done, 4, "disk/out.safetensors", "No space left")


def npy(data):
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 128), }" % (len(data) // 512)
    header = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@check
def the_limit_of_file_sizes_is_a_clean_failure():
    with folder():
        write("in.safetensors", file_of(SMALL))
        write("in.npy", npy(SMALL))
        write("out.safetensors", b"old")
        for limit in (0, 1, 4096, 500000):
            def prepare():
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            done = quant("in.safetensors", "int8", "-o", "out.safetensors", "--force", preexec_fn=prepare)
            require_failure(done, 4, "out.safetensors", "File too large")
            require(read("out.safetensors") == b"old", "the target was touched")
            require_failure(quant("in.npy", "int8", "-o", "out.npy", preexec_fn=prepare), 4, "File too large")
            require(not [name for name in os.listdir(".") if name.startswith("out") and name.endswith("npy")],
                    "a part was made", os.listdir("."))


@check
def an_input_that_shrinks_is_never_filled_with_zeros():
    with folder():
        whole = file_of(MEDIUM)
        write("in.safetensors", whole)
        wanted = made("in.safetensors", "int8", "--per", "channel")
        for _ in range(ROUNDS):
            write("in.safetensors", whole)
            child = start("in.safetensors", "int8", "--per", "channel", "-o", "out.safetensors", "--force")
            time.sleep(RANDOM.random() * 0.03)
            os.truncate("in.safetensors", RANDOM.choice((0, 100, 5 * MIB + 1)))
            _, stderr = child.communicate(timeout=SECONDS)
            if child.returncode == 0:
                require(read("out.safetensors") == wanted, "wrong bytes")
                os.unlink("out.safetensors")
            else:
                require(child.returncode == 3 and stderr.count(b"\n") == 1, "failure", child.returncode, stderr)
                require(not os.path.exists("out.safetensors"), "an output was made")


@check
def names_that_meet_are_refused():
    with folder():
        four = struct.pack("<32f", *range(32))
        write("in.safetensors", safetensors([("w", "F32", [32], four), ("w_scale", "F32", [32], four)]))
        require_failure(quant("in.safetensors", "int8", "-o", "out.safetensors"), 3, "w_scale")
        require(not os.path.exists("out.safetensors"), "something was made")
        require_done(quant("in.safetensors", "int8", "-o", "out.safetensors", "--only", "w_scale"))


@check
def little_memory_is_taken_whatever_the_size():
    if SANITIZED:
        return
    with folder():
        size = (4 << 30) if LONG else (128 << 20)
        text = b'{"w":{"dtype":"F32","shape":[%d,4096],"data_offsets":[0,%d]}}' % (size // 16384, size)
        text += b" " * (-len(text) % 8)
        with open("sparse.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            file.truncate(8 + len(text) + size)
        done = subprocess.run([MEASURE, "1", "/dev/null", PROGRAM, "quant", "sparse.safetensors", "mxfp4", "-o",
                               "out.safetensors", "-q"], env=environment(), stdout=subprocess.PIPE, check=True,
                              timeout=600)
        _, _, _, peak, status = map(int, done.stdout.split())
        require(status == 0, "status", status)
        require(peak < 64 * 1024, "KiB of memory", peak)
        tensors = {name: shape for name, _, shape, _ in
                   open_safetensors(read("out.safetensors"))[1]}
        require(tensors == {"w_packed": [size // 16384, 2048], "w_scale": [size // 16384, 128]}, "parts", tensors)


@check
def many_tensors_take_little_time():
    with folder():
        count = 50000 if LONG else 5000
        one = struct.pack("<64f", *range(64))
        header = {"w%d" % i: {"dtype": "F32", "shape": [2, 32], "data_offsets": [256 * i, 256 * i + 256]}
                  for i in range(count)}
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        write("in.safetensors", struct.pack("<Q", len(text)) + text + one * count)
        require_done(quant("in.safetensors", "mxfp8_e4m3", "-o", "out.safetensors", "-q"))
        tensors = open_safetensors(read("out.safetensors"))[1]
        require(len(tensors) == 2 * count, "tensors", len(tensors))
        codes = {data for name, _, _, data in tensors if not name.endswith("_scale")}
        require(len(codes) == 1, "codes differ", len(codes))


if __name__ == "__main__":
    sys.exit(main())
