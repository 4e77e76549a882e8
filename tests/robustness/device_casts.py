# SPDX-License-Identifier: MIT
"""Shared by tests of casts on fake CUDA devices, such as device_faults.py: inputs, runs, and the check of a run in
which something failed: the CPU's bytes, or a clean failure."""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

from file_casts import arrays
from make_checkpoint import safetensors
from survival import PROGRAM, environment, require

FAKE = os.path.abspath(sys.argv[3])
MISSING = "/nowhere/libcuda.so.1"
SECONDS, WORKERS = 60, 8
TIMEOUT, HANGS = 50, 0.3  # seconds for the driver: a short time where it hangs, for on a busy machine each call may be late
FP32, BF16 = arrays(200001)
THIRD = 66000
TENSORS = [(0, THIRD), (THIRD, 40), (THIRD + 40, 200000 - THIRD - 40)]


def file_of(data, dtype, size):
    return safetensors([("layer.%d" % i, dtype, [n], data[first * size:(first + n) * size])
                        for i, (first, n) in enumerate(TENSORS)], {"format": "pt"})


class Kind:
    """A kind of cast: its command, its input and its output."""

    def __init__(self, name, words, source, wanted, piped=False):
        self.name, self.words, self.source, self.wanted, self.piped = name, words, source, wanted, piped


FILE = Kind("file", ["in", "bf16", "-o", "out", "--force"], file_of(FP32, "F32", 4), file_of(BF16, "BF16", 2))
ARRAY = Kind("array", ["in", "bf16", "--from", "fp32", "-o", "out", "--force"], FP32, BF16)
PIPE = Kind("pipe", ["-", "bf16", "--from", "fp32", "-o", "-"], FP32, BF16, piped=True)
KINDS = [FILE, ARRAY, PIPE]


class Run:
    pass


def cast(kind, device, script="", library=None, more=(), **variables):
    """Runs one cast in its own folder."""
    run = Run()
    with tempfile.TemporaryDirectory(prefix="dtinfo-device-") as folder:
        name = os.path.join(folder, "in")
        with open(name, "wb") as file:
            file.write(kind.source)
        if not kind.piped:
            with open(os.path.join(folder, "out"), "wb") as file:
                file.write(b"old")
        report = os.path.join(folder, "report")
        words = ",".join(part for part in (script, "report=" + report) if part)
        env = environment(DTINFO_LIBCUDA=library or FAKE, FAKE_CUDA=words,
                          DTINFO_CUDA_TIMEOUT=str(HANGS if "hang" in script else TIMEOUT), **variables)
        with open(name, "rb") as source:
            done = subprocess.run(
                [PROGRAM, "cast"] + kind.words + ["--device", device] + list(more), env=env,
                cwd=folder, stdin=source if kind.piped else subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS)
        run.code, run.stderr, run.stdout = done.returncode, done.stderr.decode(), done.stdout
        run.report = {}
        if os.path.exists(report):
            with open(report) as file:
                run.report = {line.split()[0]: int(line.split()[1]) for line in file}
            os.unlink(report)
        run.names = sorted(os.listdir(folder))
        run.output = done.stdout
        if not kind.piped:
            with open(os.path.join(folder, "out"), "rb") as file:
                run.output = file.read()
    return run


def judge(run, kind, device, *told):
    """Checks a run. Further arguments: words expected in a failure's line."""
    lines = run.stderr.splitlines()
    require(run.names == (["in"] if kind.piped else ["in", "out"]), "files:", run.names)
    if run.code == 0:
        require(run.output == kind.wanted, "wrong bytes", len(run.output), run.stderr)
        require(len(lines) <= 1, "too many lines:", lines)
        return
    require(device.startswith("cuda"), "failed though the CPU was there:", run.code, run.stderr)
    require(run.code == 5, "exit code", run.code, run.stderr)
    require(len(lines) == 1 and lines[0].startswith("dtinfo"), "stderr is not one line:", lines)
    for part in told:
        require(part in lines[0], "not told:", part, lines[0])
    if kind.piped:
        require(kind.wanted.startswith(run.output), "wrong bytes before the failure")
    else:
        require(run.output == b"old", "the target was touched", len(run.output))


def require_fallback(kind, told, **how):
    """A fault before any work started: falls back to the CPU, or fails with a line that names it."""
    run = cast(kind, "auto", **how)
    require(run.code == 0, "auto failed:", run.code, run.stderr)
    judge(run, kind, "auto")
    run = cast(kind, "cuda", **how)
    require(run.code == 5, "cuda did not fail:", run.code, run.stderr)
    judge(run, kind, "cuda", *told)


def sweep(jobs):
    """Runs many (kind, device, script) in parallel; returns how many succeeded and how many failed."""
    def one(job):
        kind, device, script = job
        run = cast(kind, device, script)
        try:
            judge(run, kind, device)
        except Exception as error:
            raise type(error)("%s, --device %s, %s: %s" % (kind.name, device, script, error))
        return run.code == 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(one, jobs))
    return sum(results), len(results) - sum(results)
