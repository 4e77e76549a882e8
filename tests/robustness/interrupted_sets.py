#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outputs of several files: what remains after signals, kills and concurrent runs."""
import os
import signal
import subprocess
import sys
import time

from checkpoint_casts import cast, read, write
from file_casts import RANDOM, ROUNDS, strace_works
from output_sets import (INDEX, SHARDS, fill_old, folder, name_of, remove, require_old_or_new, start,
                         stopped_at_work, strays, write_shards)
from survival import PROGRAM, SECONDS, check, environment, main, require


SOME = 200  # when the run only has to take some time


def duration(*words):
    begin = time.monotonic()
    require(start(*words).wait(SECONDS) == 0, "the cast failed")
    return time.monotonic() - begin


def wait_until_at_work(child):
    """Waits until the run has made its staging folder or has ended."""
    begin = time.monotonic()
    while not strays() and child.poll() is None and time.monotonic() - begin < SECONDS:
        pass


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@check
def a_signal_leaves_nothing_of_any_number_of_files():
    with folder():
        wanted = write_shards("shards", SHARDS)
        words = ("shards", "bf16", "-o", "new/", "--force")
        longest = duration(*words) * 1.1
        died = 0
        for i in range(max(4, ROUNDS // 16)):
            fresh = i % 2 == 0
            if fresh:
                remove("new")
            else:
                fill_old(wanted)
            child = start(*words)
            time.sleep(RANDOM.random() * longest)
            child.send_signal(RANDOM.choice((signal.SIGTERM, signal.SIGINT, signal.SIGHUP)))
            child.communicate(timeout=SECONDS)
            require(not strays(), "left behind", len(strays()), strays()[:2])
            require_old_or_new(wanted, fresh)
            died += child.returncode != 0
        print("        %d died of it" % died)


@check
def a_kill_leaves_one_thing_that_the_next_run_names_and_force_removes():
    with folder():
        wanted = write_shards("shards", 40)
        words = ("shards", "bf16", "-o", "new/", "--force")
        longest, met = duration(*words), 0
        for i in range(ROUNDS // 5):
            fresh = i % 2 == 0

            def prepare():
                remove("new")
                if not fresh:
                    fill_old(wanted)
            if i % 4 < 2:  # a short run ends before most random delays
                child = stopped_at_work(prepare, *words)
            else:
                prepare()
                child = start(*words)
                time.sleep(RANDOM.random() * longest)
            child.kill()
            child.communicate(timeout=SECONDS)
            left = [name for name in strays() if ".dtinfo-" in os.path.basename(name)]
            require(len(left) <= 1, "left behind", left)
            require_old_or_new(wanted, fresh)
            if not left:
                continue
            met += 1
            before = strays()
            again = cast("shards", "bf16", "new/")
            if os.path.isdir("new") and not fresh:
                require(again.code == 4, "replaced without --force", again.code)
            name = os.path.basename(left[0])
            require(name.encode() in again.stderr and b"--force removes it" in again.stderr,
                    "not named", name, again.stderr)
            require(strays() == before, "removed without --force", before)
            again = cast("shards", "bf16", "new/", "--force")
            require(again.code == 0 and name.encode() in again.stderr and b"removed" in again.stderr,
                    "with --force", again.code, again.stderr)
            require(not strays(), "not removed", strays())
            require(require_old_or_new(wanted, True) == len(wanted), "not complete")
            require(not cast("shards", "bf16", "new/", "--force").stderr, "named again")
        print("        %d of %d kills left something" % (met, ROUNDS // 5))
        require(met > 0, "no kill met a run at work")


@check
def a_file_that_a_kill_left_is_named_and_removed_too():
    with folder():
        os.mkfifo("pipe")
        child = subprocess.Popen([PROGRAM, "cast", "pipe", "bf16", "--from", "fp32", "-o", "out.bin"],
                                 env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        with open("pipe", "wb"):
            wait_until_at_work(child)
            left, = strays()
            other = cast("in.bin", "bf16", "out.bin", "--from", "fp32", "--force")
            require(other.code == 0 and b"another run" in other.stderr, "a run at work", other.stderr)
            require(strays() == [left], "the file of a run at work is gone", strays())
            child.kill()
            child.communicate(timeout=SECONDS)
        name = os.path.basename(left).encode()
        os.unlink("out.bin")
        done = cast("in.bin", "bf16", "out.bin", "--from", "fp32")
        require(done.code == 0 and name in done.stderr and strays() == [left], "named", done.stderr)
        done = cast("in.bin", "bf16", "out.bin", "--from", "fp32", "--force")
        require(done.code == 0 and b"removed" in done.stderr and not strays(), "removed", done.stderr)
        # names that only look like its own, or belong to others, are kept
        others = [".out.bin.dtinfo-abcde", ".out.bin.dtinfo-abcdefg", ".out.bin2.dtinfo-abcdef",
                  "out.bin.dtinfo-abcdef", ".out.bin.dtinfo-abc.ef"]
        for other in others:
            write(other, b"mine")
        done = cast("in.bin", "bf16", "out.bin", "--from", "fp32", "--force")
        require(done.code == 0 and not done.stderr, "a warning", done.stderr)
        require(sorted(os.path.basename(path) for path in strays()) == sorted(others), "removed", strays())
        remove(*others)


@check
def a_run_at_work_is_never_disturbed():
    with folder():
        wanted = write_shards("shards", SOME)
        for fresh in (True, False):
            def prepare():
                remove("new")
                if not fresh:
                    fill_old(wanted)
            child = stopped_at_work(prepare, "shards", "bf16", "-o", "new/", "--force")
            left = strays()
            done = cast("shards", "bf16", "new/", "--force")
            require(done.code == 0 and b"another run" in done.stderr, "second run", done.code, done.stderr)
            require(set(left) <= set(strays()), "removed", left, strays())
            child.send_signal(signal.SIGCONT)
            _, stderr = child.communicate(timeout=SECONDS)
            require(child.returncode == 0, "first run", child.returncode, stderr)
            require(require_old_or_new(wanted, True) == SOME, "not complete")
            require(not strays(), "left behind", strays())


@check
def a_new_folder_comes_whole_by_one_rename():
    if not strace_works():
        print("        skipped: no strace")
        return
    with folder():
        wanted = write_shards("shards", 6)
        for error in (None, "ENOSYS", "EINVAL"):
            remove("new")
            inject = ("-e", "inject=renameat2:error=" + error) if error else ()
            done = cast("shards", "bf16", "new/", prefix=(
                "strace", "-f", "-o", "trace", "-e", "trace=rename,renameat,renameat2,linkat") + inject)
            require(done.code == 0, "exit code", done.code, done.stderr)
            renames = [line for line in read("trace").decode().splitlines()
                       if "rename" in line and "INJECTED" not in line]
            require(len(renames) == 1, "renames", renames)
            require(require_old_or_new(wanted, True) == 6 and not strays(), "files")
            require(os.stat("new").st_mode & 0o777 == 0o777 & ~current_umask(), "mode")


@check
def a_folder_that_appears_meanwhile_is_filled_and_nothing_in_it_replaced():
    with folder():
        wanted = write_shards("shards", SOME)
        for clash in (False, True):
            child = stopped_at_work(lambda: remove("new"), "shards", "bf16", "-o", "new")
            os.mkdir("new")
            write("new/" + (name_of(0, SOME) if clash else "other"), b"theirs")
            child.send_signal(signal.SIGCONT)
            _, stderr = child.communicate(timeout=SECONDS)
            require(not strays(), "left behind", strays()[:3])
            if clash:
                require(child.returncode == 4 and b"exists" in stderr, "clash", child.returncode, stderr)
                require(read("new/" + name_of(0, SOME)) == b"theirs", "replaced")
                require(len(os.listdir("new")) == 1, "others", len(os.listdir("new")))
            else:
                require(child.returncode == 0, "exit code", child.returncode, stderr)
                require(require_old_or_new(wanted, True) == SOME, "files")
                require(read("new/other") == b"theirs", "replaced")


@check
def links_to_files_and_folders_are_followed_by_one_rule():
    with folder():
        wanted = write_shards("shards", 3)
        names = sorted(wanted) + [INDEX]
        os.symlink("real", "link")
        os.symlink("link", "second")
        for made in (True, False):  # a dangling link creates its target, as for files
            done = cast("shards", "bf16", "second/", "--force")
            require(done.code == 0, "exit code", done.code, done.stderr)
            require(sorted(os.listdir("real")) == sorted(names) and os.path.islink("link"), "files")
        # like a hub's cache: each file is a link into another folder
        remove("real", "blobs")
        os.makedirs("real")
        os.makedirs("blobs")
        for i, name in enumerate(names):
            write("blobs/%d" % i, b"old")
            os.symlink("../blobs/%d" % i, "real/" + name)
        done = cast("shards", "bf16", "link", "--force")
        require(done.code == 0, "exit code", done.code, done.stderr)
        for name, result in wanted.items():
            require(os.path.islink("real/" + name) and read("real/" + name) == result, "link", name)
        require(not strays(), "left behind", strays())


if __name__ == "__main__":
    sys.exit(main())
