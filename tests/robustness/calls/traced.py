# SPDX-License-Identifier: MIT
"""Runs the program under call_tracer, which counts its system calls and disturbs one of them. usage of a test:

    x.py DTINFO MEASURE CALL_TRACER [WORD...]
"""
import dataclasses
import os
import subprocess
import sys
import tempfile

TRACER = os.path.abspath(sys.argv.pop(3))

from survival import PROGRAM, SECONDS, environment, require  # noqa: E402

CANNOT_TRACE = 126
LOGS = tempfile.TemporaryDirectory(prefix="dtinfo-calls-")
LOG, DATA = os.path.join(LOGS.name, "log"), os.path.join(LOGS.name, "data")


def inode_of(path):
    """As the tracer numbers a file: its inode and device."""
    found = os.stat(path, follow_symlinks=False)
    return (found.st_dev << 40 ^ found.st_ino) & (1 << 64) - 1


@dataclasses.dataclass
class File:
    """A file that a call names; the inode is 0 if there is none. leaf: its name in the folder; "" of a descriptor."""
    inode: int
    folder: int
    leaf: str
    path: str


@dataclasses.dataclass
class Call:
    index: int  # of all calls, from 1
    thread: int
    name: str
    at: int  # of the calls with this name, from 1
    result: int
    arguments: list
    files: list
    position: int  # of what it wrote
    data: bytes
    made: int  # inode of what it opened or created


def variables():
    """Unnamed temporary files go to the folder `t`. LeakSanitizer does not work in a traced process."""
    return environment(TMPDIR="t", ASAN_OPTIONS="detect_leaks=0", LC_ALL="C")


def calls_logged(data):
    calls, done = [], 0
    with open(LOG, encoding="utf-8", errors="surrogateescape") as file:
        lines = file.read().split("\n")[:-1]
    for line in lines:
        words = line.split("\t")
        files = [File(int(words[at]), int(words[at + 1]), words[at + 2], words[at + 3]) for at in (11, 15)]
        position, size, made = map(int, words[19:])
        calls.append(Call(int(words[0]), int(words[1]), words[2], int(words[3]), int(words[4]), list(map(int, words[5:11])), files,
                          position, data[done:done + size], made))
        done += size
    require(done == len(data), "data without a call", done, len(data))
    return calls


def traced(words, *options, data=False):
    """Runs the command under the tracer with these options. Returns the run; .code is the exit code as in a shell, and
    .calls are the calls that were disturbed or, without a disturbance, all."""
    more = ["--data", DATA] if data else []
    done = subprocess.run([TRACER, "--log", LOG, *more, *map(str, options), "--", PROGRAM, *words], env=variables(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS)
    done.code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    require(done.code != CANNOT_TRACE, "the tracer", done.stderr)
    written = b""
    if data:
        with open(DATA, "rb") as file:
            written = file.read()
    done.calls = calls_logged(written)
    return done


def can_trace():
    """Whether programs can be traced on this machine."""
    done = subprocess.run([TRACER, "--", PROGRAM, "--version"], env=variables(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == CANNOT_TRACE:
        print("skipped: %s" % done.stderr.decode().strip())
    return done.returncode != CANNOT_TRACE
