# SPDX-License-Identifier: MIT
"""Runs the program for the checks of survive_*.py, and the requirements on its results.

Each check is a function whose name states what it tests. usage: x.py DTINFO MEASURE [WORD...]
"""
import itertools
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import zlib

PROGRAM, MEASURE = map(os.path.abspath, sys.argv[1:3])
with open(PROGRAM, "rb") as program:  # a plain program's environment may set sanitizer options too
    SANITIZED = re.search(rb"__(asan|ubsan|msan|tsan)_", program.read()) is not None
QUICK = "DTI_TEST_QUICK" in os.environ and "long" not in sys.argv  # a sample, on each push
SPARSE = "DTI_TEST_SPARSE" in os.environ and "long" not in sys.argv  # of that each third or so: another build has it whole
LEAKS = 4  # with SPARSE leaks are looked for at the end of one run of so many: that takes longer than what most runs do
RUNS = itertools.count()
SECONDS = 60
AT_ONCE = 30  # seconds: enough even on a busy machine for anything that does not block
MEMORY_KIB = 128 * 1024
COMMANDS = [["list"], ["finfo"], ["iinfo"], ["cast", "70000", "bf16"], ["bits", "0x4789"], ["help"],
            ["completion", "bash"], ["--help"], ["--version"], ["cast", "--help"], ["help", "cast"],
            ["cast", "70000", "bf16", "--json"], ["list", "--json"], ["--version", "--json"],
            ["quant", "0.1", "7", "int8,mxfp4"], ["quant", "0.1", "7", "uint4,nvfp4", "--json"],
            ["cast", "-q", "70000", "bf16"], ["finfo", "fp16", "--style", "torch"]]
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Broken(Exception):
    pass


def require(holds, message, *details):
    if not holds:
        raise Broken(" ".join([message] + [repr(detail)[:400] for detail in details]))


def environment(**variables):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("LC_", "LANG", "DTINFO_", "NO_COLOR", "CLICOLOR", "FORCE_COLOR"))}
    if SANITIZED and SPARSE and zlib.crc32(b"%d" % next(RUNS)) % LEAKS:  # in no step with loops over runs
        kept["ASAN_OPTIONS"] = kept.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return dict(kept, **variables)


def run(words, stdin=b"", env=None, prepare=None, **options):
    """Runs the program with a timeout; returns the exit code as in a shell, stdout, stderr."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    done = subprocess.run([PROGRAM] + words, input=stdin, env=environment() if env is None else env,
                          timeout=SECONDS, preexec_fn=prepare, **options)
    done.code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return done


def peak_kib(words, stdin):
    """(exit code, peak resident set in KiB, seconds of CPU time) of one run; its output is discarded. malloc() fill
    options are off: they would touch memory that the program leaves untouched."""
    with tempfile.NamedTemporaryFile() as source:
        source.write(stdin)
        source.flush()
        done = subprocess.run([MEASURE, "1", source.name, PROGRAM] + words, env=environment(MALLOC_PERTURB_="0"),
                              stdout=subprocess.PIPE, check=True, timeout=SECONDS)
    _, _, nanoseconds, peak, status = map(int, done.stdout.split())
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
    return code, peak, nanoseconds * 1e-9


def cpu_seconds():
    """CPU time of all runs so far, independent of other load on the machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def require_one_line(done, code):
    require(done.code == code, "exit code", done.code, "is not", code, done.stderr)
    lines = done.stderr.decode("utf-8").splitlines()
    require(len(lines) == 1 and lines[0].startswith("dtinfo"), "stderr is not one line:", lines)
    require(not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", done.stderr), "raw control bytes:",
            done.stderr)
    return lines[0]


def require_json_error(words, code, name, stdin=b"", env=None):
    done = run(words + ["--json"], stdin, env)
    line = require_one_line(done, code)
    document = json.loads(done.stdout.decode("utf-8"))
    require(document["schema"] == "dtinfo.error/1", "not an error document:", document)
    error = document["error"]
    require(error["code"] == name, "code", error["code"], "is not", name)
    require(line.endswith(error["message"]), "stderr and JSON differ:", line, error["message"])
    return error


def main():
    words = sys.argv[3:]
    passed = failed = 0
    for function in CHECKS:
        name = function.__name__.replace("_", " ")
        if words and not any(word in function.__name__ for word in words):
            continue
        start = time.monotonic()
        try:
            function()
            passed += 1
            print("ok      %5.1f s  %s" % (time.monotonic() - start, name))
        except (Broken, OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
            failed += 1
            print("FAILED  %5.1f s  %s\n        %s: %s" %
                  (time.monotonic() - start, name, type(error).__name__, str(error)[:2000]))
        sys.stdout.flush()
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0
