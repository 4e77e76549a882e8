#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Casts of checkpoints with full disks, signals and files that change: old files or complete new ones. With the word
"long" also tests that take minutes or gigabytes."""
import glob
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

from checkpoint_casts import MIB, cast, folder, make, read, require_done, safetensors, shards_of, write
from file_casts import LARGE, LARGE_CAST, MEDIUM, MEDIUM_CAST, RANDOM, ROUNDS, require_failure
from make_checkpoint import pack
from survival import AT_ONCE, PROGRAM, SANITIZED, SECONDS, check, environment, main, require

LONG = "long" in sys.argv[3:]
if LONG:
    sys.argv.remove("long")


def long_check(function):
    return check(function) if LONG else function


def file_of(data, dtype, size):
    """Three tensors in sequence."""
    third = len(data) // size // 3 // 64 * 64 * size
    parts = [data[:third], data[third:2 * third], data[2 * third:]]
    return safetensors([("layer.%d" % i, dtype, [len(part) // size], part)
                        for i, part in enumerate(parts)], {"format": "pt"})


OLD, NEW = file_of(MEDIUM, "F32", 4), file_of(MEDIUM_CAST, "BF16", 2)


def write_shards(path, count=4):
    """Writes MEDIUM as `count` shards with an index; returns the expected cast of each."""
    os.makedirs(path, exist_ok=True)
    each, places, wanted = len(MEDIUM) // count // 4096 * 4096, [], {}
    for i in range(count):
        name = "model-%05d-of-%05d.safetensors" % (i + 1, count)
        part, result = MEDIUM[i * each:(i + 1) * each], MEDIUM_CAST[i * each // 2:(i + 1) * each // 2]
        write(os.path.join(path, name), safetensors([("w.%d" % i, "F32", [each // 4], part)]))
        wanted[name] = safetensors([("w.%d" % i, "BF16", [each // 4], result)])
        places.append('"w.%d": "%s"' % (i, name))
    text = '{"metadata": {"total_size": %d}, "weight_map": {%s}}' % (each * count, ", ".join(places))
    write(os.path.join(path, "model.safetensors.index.json"), text.encode())
    return wanted


def start(*words):
    return subprocess.Popen([PROGRAM, "cast"] + list(words), env=environment(),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def as_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


@check
def a_folder_that_may_not_be_written_is_reported():
    with folder():
        make("model")
        os.mkdir("closed")
        write("closed/out.safetensors", b"old")
        os.chmod("closed", 0o555)
        os.chmod(".", 0o755)
        options = {"preexec_fn": as_nobody} if os.geteuid() == 0 else {}
        try:
            for target in ("closed/out.safetensors", "closed/new.safetensors", "closed/new/",
                           "closed"):
                done = cast("model", "bf16", target, "--force", **options)
                require_failure(done, 4, "closed", "Permission denied")
        except (PermissionError, subprocess.SubprocessError):
            return  # the program is in a folder that other users cannot access
        finally:
            os.chmod("closed", 0o755)
        require(os.listdir("closed") == ["out.safetensors"], "made", os.listdir("closed"))


@check
def a_full_disk_leaves_the_old_files_and_no_new_folder():
    script = """mount -t tmpfs -o size=8m none disk || exit 99
        printf old >disk/out.safetensors
        "$@" in.safetensors bf16 -o disk/out.safetensors --force; first=$?
        "$@" shards bf16 -o disk/new/ 2>second; second=$?
        "$@" in.safetensors bf16 -o disk/out.npz 2>third; third=$?
        test "$(ls -A disk)" = out.safetensors && test "$(cat disk/out.safetensors)" = old || exit 98
        test $first = $second && test $first = $third && grep -q "No space left" third && grep -q "No space left" second && exit $first"""
    with folder():
        os.mkdir("disk")
        write("in.safetensors", OLD)
        write_shards("shards")
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", PROGRAM, "cast"],
                              env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=SECONDS)
        done.code = done.returncode
        if b"unshare:" in done.stderr or b"mount:" in done.stderr:
            print("        skipped: no file system of its own here")
            return
        require_failure(done, 4, "disk/out.safetensors", "No space left")


@check
def the_limit_of_file_sizes_is_a_clean_failure():
    with folder():
        write("in.safetensors", OLD)
        write_shards("shards")
        write("out.safetensors", b"old")
        for limit in (0, 1, 4096, 3 * MIB):
            def prepare():
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            done = cast("in.safetensors", "bf16", "out.safetensors", "--force", preexec_fn=prepare)
            require_failure(done, 4, "out.safetensors", "File too large")
            require(read("out.safetensors") == b"old", "the target was touched")
            require_failure(cast("in.safetensors", "bf16", "new.npz", "-q", preexec_fn=prepare), 4, "new.npz", "File too large")
            require(not os.path.exists("new.npz"), "an archive was made")
            done = cast("shards", "bf16", "new/", preexec_fn=prepare)
            if limit < 3 * MIB:
                require_failure(done, 4, "File too large")
                require(not os.path.exists("new"), "the folder stayed")


@check
def what_fails_on_the_way_leaves_no_folder():
    with folder():
        write_shards("shards")
        nan = pack("F32", [float("nan")] * 2)
        last = "shards/model-00004-of-00004.safetensors"
        good = read(last)
        write(last, safetensors([("w.3", "F32", [2], nan)]))
        done = cast("shards", "fp4_e2m1", "new/", "--packing", "low", "-q")
        require_failure(done, 3, "model-00004", "'w.3'", "NaN")
        require(not os.path.exists("new"), "the folder stayed")
        for broken in (good[:-1], good + b"\0", b"", good[:7]):
            write(last, broken)
            require_failure(cast("shards", "bf16", "new/"), 3, "model-00004")
            require(not os.path.exists("new"), "the folder stayed")
        os.unlink(last)
        require_failure(cast("shards", "bf16", "new/"), 3, "model-00004")
        require(not os.path.exists("new"), "the folder stayed")


@check
def every_cut_of_a_file_is_refused():
    with folder():
        whole = safetensors([("a", "F32", [2], pack("F32", [1.0, 2.0])), ("b", "I64", [1], b"12345678")],
                            {"format": "pt"})
        for size in range(len(whole)):
            write("in.safetensors", whole[:size])
            done = cast("in.safetensors", "bf16", "out.safetensors")
            require_failure(done, 3, "in.safetensors")
            require(not os.path.exists("out.safetensors"), "an output was made")


@check
def shards_are_old_or_complete_whatever_happens():
    """Into a new folder, which a signal removes; and over old shards, each of which stays complete."""
    with folder():
        wanted = write_shards("shards", 6)
        index = "model.safetensors.index.json"
        begin = time.monotonic()
        require(start("shards", "bf16", "-o", "new/").wait(SECONDS) == 0, "the cast failed")
        longest = (time.monotonic() - begin) * 1.1
        new_index = read("new/" + index)
        counts = {}
        for number in (signal.SIGKILL, signal.SIGTERM):
            for i in range(ROUNDS // 2):
                fresh = i % 2 == 0
                shutil.rmtree("new", ignore_errors=True)
                if not fresh:
                    os.mkdir("new")
                    for name in list(wanted) + [index]:
                        write("new/" + name, b"old")
                child = start("shards", "bf16", "-o", "new/", "--force")
                time.sleep(RANDOM.random() * longest)
                child.send_signal(number)
                child.communicate(timeout=SECONDS)
                names = os.listdir("new") if os.path.isdir("new") else []
                left = [path for path in glob.glob(".*") + glob.glob("new/.*") if ".dtinfo-" in path]
                require(len(left) <= (number == signal.SIGKILL), "left behind", left)
                for path in left:
                    shutil.rmtree(path)
                require(not fresh or len(names) in (0, len(wanted) + 1), "a part of a folder", names)
                done = 0
                for name, result in wanted.items():
                    got = read("new/" + name) if name in names else b"old" if not fresh else None
                    require(got in ((None, result) if fresh else (b"old", result)),
                            "neither old nor new", name)
                    done += got == result
                if index in names and read("new/" + index) == new_index:
                    require(done == len(wanted), "an index before its shards", done)
                kind = "all" if done == len(wanted) else "none" if done == 0 else "some"
                counts[kind] = counts.get(kind, 0) + 1
        print("        new shards: %s" % counts)


@check
def an_input_that_shrinks_is_never_filled_with_zeros():
    with folder():
        whole, wanted = file_of(LARGE, "F32", 4), file_of(LARGE_CAST, "BF16", 2)
        failed = 0
        for _ in range(20):
            write("in.safetensors", whole)
            child = start("in.safetensors", "bf16", "-o", "out.safetensors", "--force")
            time.sleep(RANDOM.random() * 0.04)
            os.truncate("in.safetensors", RANDOM.choice((0, 100, 5 * MIB + 1, 40 * MIB)))
            _, stderr = child.communicate(timeout=SECONDS)
            if child.returncode == 0:
                require(read("out.safetensors") == wanted, "wrong bytes")
                os.unlink("out.safetensors")
            else:
                require(child.returncode == 3 and stderr.count(b"\n") == 1, "failure",
                        child.returncode, stderr)
                require(not os.path.exists("out.safetensors"), "an output was made")
                failed += b"shrank" in stderr
        print("        %d of 20 met the change" % failed)


@check
def an_input_that_grows_or_is_replaced_is_the_one_that_was_opened():
    with folder():
        whole, wanted = file_of(LARGE, "F32", 4), file_of(LARGE_CAST, "BF16", 2)
        for i in range(10):
            write("in.safetensors", whole)
            write("other.safetensors", OLD)
            child = start("in.safetensors", "bf16", "-o", "out.safetensors", "--force")
            time.sleep(RANDOM.random() * 0.03)
            if i % 2:
                os.rename("other.safetensors", "in.safetensors")
            else:
                with open("in.safetensors", "ab") as file:
                    file.write(LARGE[:MIB])
            _, stderr = child.communicate(timeout=SECONDS)
            if child.returncode != 0:  # it had grown before it was opened
                require(i % 2 == 0 and child.returncode == 3, "failure", child.returncode, stderr)
                continue
            require(read("out.safetensors") in ((wanted, NEW) if i % 2 else (wanted,)), "wrong bytes")
            os.unlink("out.safetensors")


@check
def a_reader_that_leaves_ends_the_cast():
    with folder():
        write("in.safetensors", file_of(LARGE, "F32", 4))
        child = start("in.safetensors", "bf16", "-o", "-")
        child.stdout.read(100)
        child.stdout.close()
        begin = time.monotonic()
        stderr = child.stderr.read()
        require(child.wait(SECONDS) == -signal.SIGPIPE and stderr == b"", "ending", child.returncode,
                stderr)
        require(time.monotonic() - begin < AT_ONCE, "took long")
        require_failure(cast("in.safetensors", "bf16", "/dev/full", "--as", "safetensors"), 4,
                        "/dev/full", "No space left")


@check
def more_shards_than_a_process_may_open_at_once_are_cast():
    with folder():
        wanted = write_shards("shards", 150)

        def prepare():
            resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(
                resource.RLIMIT_NOFILE)[1]))
        require_done(cast("shards", "bf16", "new/", preexec_fn=prepare))
        require(all(read("new/" + name) == data for name, data in wanted.items()), "wrong bytes")
        require(len(shards_of("new")[0]) == 150, "the index")
        child = start("shards", "bf16", "-o", "new/", "--force")
        while child.poll() is None and len(glob.glob("new/.*.dtinfo-*/*")) < 100:
            pass
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=SECONDS)
        left = [name for name in os.listdir("new") if ".dtinfo-" in name]
        require(not left, "left behind", len(left))


@long_check
def a_file_of_6_gib_is_cast_within_512_mib_of_addresses():
    if SANITIZED:
        return
    with folder():
        size = 6 << 30
        text = b'{"w":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}}' % (size // 4, size)
        text += b" " * (-len(text) % 8)
        with open("sparse.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            file.truncate(8 + len(text) + size)
            file.seek(-4, os.SEEK_END)
            file.write(struct.pack("<f", 1.0))
        limit = 512 * MIB
        done = subprocess.run([PROGRAM, "cast", "sparse.safetensors", "fp8_e4m3fn", "-o",
                               "out.safetensors"], env=environment(), timeout=600,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                    (limit, limit)))
        require(done.returncode == 0, "exit code", done.returncode, done.stderr)
        with open("out.safetensors", "rb") as file:
            file.seek(-2, os.SEEK_END)
            require(file.read() == b"\0\x38", "the last elements")
        require(b"inexact 0" in done.stdout, "report", done.stdout)


if __name__ == "__main__":
    sys.exit(main())
