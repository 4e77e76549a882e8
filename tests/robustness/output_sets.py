# SPDX-License-Identifier: MIT
"""Shared by interrupted_sets.py and output_errors.py: sets of hundreds of tiny shards, runs, and what runs leave
behind."""
import glob
import json
import os
import shutil
import signal
import subprocess
import time

from checkpoint_casts import read, safetensors, write
from file_casts import folder as folder_on_disk
from make_checkpoint import pack
from survival import PROGRAM, SECONDS, Broken, environment, require

SHARDS = 700
INDEX = "model.safetensors.index.json"
NUMBERS = [[float(i % 128), -1.0, 2.0, 3.0] for i in range(SHARDS)]


def folder():
    """In memory if possible, since every file is synced to disk."""
    shared = os.access("/dev/shm", os.W_OK) and os.statvfs("/dev/shm")
    ample = shared and shared.f_bavail * shared.f_frsize > 48 << 20
    return folder_on_disk("/dev/shm" if ample else None)


def name_of(at, count):
    return "model-%05d-of-%05d.safetensors" % (at + 1, count)


def write_shards(path, count):
    """Tiny shards with an index; returns the bf16 version of each, which is exact."""
    os.makedirs(path)
    wanted, places = {}, {}
    for i in range(count):
        name, fp32 = name_of(i, count), pack("F32", NUMBERS[i])
        bf16 = b"".join(fp32[at + 2:at + 4] for at in range(0, len(fp32), 4))
        write(os.path.join(path, name), safetensors([("w.%d" % i, "F32", [4], fp32)]))
        wanted[name] = safetensors([("w.%d" % i, "BF16", [4], bf16)])
        places["w.%d" % i] = name
    text = json.dumps({"metadata": {"total_size": 16 * count}, "weight_map": places})
    write(os.path.join(path, INDEX), text.encode())
    return wanted


def start(*words, prefix=()):
    return subprocess.Popen(list(prefix) + [PROGRAM, "cast"] + list(words), env=environment(),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def kill_at(words, call, at):
    """Runs a command that a signal kills just before the given rename or removal."""
    trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=?" + call,
             "-e", "inject=?%s:error=EIO:signal=KILL:when=%d" % (call, at)]
    return subprocess.run(trace + [PROGRAM] + words, env=environment(), timeout=SECONDS, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def each_kill(words, prepare):
    """For each rename and removal, calls prepare() and runs the command with a kill at that call, and once more per
    kind of call to completion; yields each time whether it was killed."""
    for call in ("renameat", "renameat2", "rename", "linkat", "unlinkat", "unlink"):  # strace counts each call separately
        killed = True
        at = 0
        while killed:
            at += 1
            require(at < 100, "killed again and again", call)
            prepare()
            killed = kill_at(words, call, at) != 0
            yield killed


def strays():
    """Temporary names that a run left, in the current folder and its subfolders."""
    return sorted(os.path.join(at, name) for at, folders, files in os.walk(".")
                  for name in folders + files if ".dtinfo-" in name)


def remove(*paths):
    for path in paths:
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)


def staged():
    """The files that a run has made, or is making, in its staging area."""
    return glob.glob(".*.dtinfo-*/*") + glob.glob("new/.*.dtinfo-*/*")


def stopped_at_work(prepare, *words):
    """A run stopped while it writes its files. If it ends too early, it is repeated."""
    begin = time.monotonic()
    while time.monotonic() - begin < SECONDS:
        prepare()
        child = start(*words)
        while not staged() and child.poll() is None:
            pass
        child.send_signal(signal.SIGSTOP)
        if child.returncode is None:
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if staged():
                return child
        child.send_signal(signal.SIGCONT)
        child.communicate(timeout=SECONDS)
    raise Broken("no run was met at work")


def fill_old(wanted):
    remove("new")
    os.mkdir("new")
    for name in list(wanted) + [INDEX]:
        write("new/" + name, b"old")


def require_old_or_new(wanted, fresh):
    """Each file is the old or the new one; a new folder is complete or missing. Returns how many are new."""
    if fresh and not os.path.isdir("new"):
        return 0
    done = 0
    for name, result in wanted.items():
        got = read("new/" + name)
        require(got in ((result,) if fresh else (b"old", result)), "neither old nor new", name, len(got))
        done += got == result
    require(os.path.exists("new/" + INDEX), "no index")
    require(done == len(wanted) or read("new/" + INDEX) == b"old", "an index before its shards", done)
    return done


def tried(*words, prefix=()):
    """A run under strace, without strace's own messages."""
    done = subprocess.run(list(prefix) + [PROGRAM] + list(words), env=environment(), timeout=SECONDS,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    done.code = done.returncode
    done.stderr = b"".join(line for line in done.stderr.splitlines(True) if not line.startswith(b"strace:"))
    return done
