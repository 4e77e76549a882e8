#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Casts on a CUDA device with failing driver, memory or kernels: the bytes of the CPU, or a clean failure.
usage: device_faults.py DTINFO MEASURE FAKE_LIBCUDA [long]; long: every fault at every call."""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

LONG = "long" in sys.argv[4:]
sys.argv[4:] = [word for word in sys.argv[4:] if word != "long"]

from device_casts import (ARRAY, BF16, FAKE, FILE, FP32, KINDS, MISSING, PIPE, Kind, cast, judge,  # noqa: E402
                          require_fallback, sweep)
from survival import AT_ONCE, PROGRAM, SPARSE, check, environment, main, require  # noqa: E402

DEVICES = ["auto", "cuda"]
OUT_OF_MEMORY, UNKNOWN, ILLEGAL_ADDRESS = 2, 999, 700
LEAKS = ["leaked_blocks", "leaked_bytes", "leaked_pinned", "leaked_streams", "leaked_events", "leaked_modules",
         "leaked_contexts", "overruns"]


def calls(kind):
    """How often a successful cast calls each function."""
    report = cast(kind, "cuda").report
    return {name: count for name, count in report.items() if name.startswith("cu")}


def moments(count):
    """Which of `count` calls should fail: each, or the first ones and the last; under sanitizers on a push the first and the last."""
    return range(1, count + 1) if LONG else sorted(({1, count} if SPARSE else {1, 2, count}) & set(range(1, count + 1)))


def everywhere(code, kinds, devices=DEVICES, functions=None):
    return [(kind, device, "fail=%s:%d:%d" % (name, at, code))
            for kind in kinds for name, count in calls(kind).items() if functions is None or name in functions
            for at in moments(count) for device in devices]


def tell(what, counts):
    print("        %s: %d ended with the right bytes, %d failed cleanly" % ((what,) + counts))


@check
def a_cast_on_the_device_gives_the_bytes_of_the_cpu_and_leaves_nothing_behind():
    for kind in KINDS:
        for device in DEVICES + ["cuda:1"]:
            run = cast(kind, device)
            require(run.code == 0, "exit code", run.code, run.stderr)
            judge(run, kind, device)
            require(run.report["kernels"] > 0, "no kernel ran")
            most = 1.02 * (len(kind.source) + len(kind.wanted))
            require(run.report["copied_bytes"] < most, "copied", run.report["copied_bytes"], "and not", most)
            for name in LEAKS:
                require(run.report[name] == 0, name, run.report[name])


@check
def what_is_reported_is_the_same():
    """The losses of random numbers cast to fp8, per element and summed."""
    lossy = Kind("lossy", ["in", "fp8_e4m3fn", "--from", "fp32", "-o", "out", "--force", "--json"],
                 random.Random(3).randbytes(400000), b"")
    documents = []
    for device in ("cpu", "cuda"):
        run = cast(lossy, device)
        require(run.code == 0, "exit code", run.code, run.stderr)
        document = json.loads(run.stdout)
        require(document.pop("device") == {"cpu": "cpu", "cuda": "cuda:0"}[device], "another device")
        require("gpu" in document.pop("host")["kernel"] or device == "cpu", "another kernel")
        documents.append((document, run.output))
    require(documents[0] == documents[1], "cpu and cuda differ", *documents)


@check
def a_library_that_is_not_there():
    require_fallback(FILE, ["/nowhere/libcuda.so.1"], library=MISSING)


@check
def a_driver_without_a_symbol():
    library = FAKE.replace("libfake_cuda.", "libfake_cuda_old.")
    require(os.path.exists(library) and library != FAKE, "no such test library", library)
    require_fallback(FILE, ["cuStreamQuery", "13.2"], library=library)


@check
def the_stub_library_of_the_toolkit():
    require_fallback(FILE, ["stub"], script="stub")


@check
def no_device():
    require_fallback(FILE, ["no"], script="devices=0")
    require_fallback(FILE, ["100"], script="fail=cuInit:1+:100")


@check
def a_driver_too_old_for_the_code():
    require_fallback(FILE, ["10.0"], script="version=9000")
    for code in (222, 209):
        require_fallback(FILE, [str(code), "PTX"], script="fail=cuModuleLoadDataEx:1+:%d" % code)
    require_fallback(FILE, ["803"], script="fail=cuInit:1+:803")


@check
def a_busy_device():
    require_fallback(FILE, ["46", "busy"], script="fail=cuDevicePrimaryCtxRetain:1+:46")
    run = cast(FILE, "auto", "fail=cuDevicePrimaryCtxRetain:1:46")
    judge(run, FILE, "auto")


@check
def memory_that_runs_out_at_every_allocation():
    tell("out of memory", sweep(everywhere(OUT_OF_MEMORY, KINDS, functions=(
        "cuDevicePrimaryCtxRetain", "cuModuleLoadDataEx", "cuMemAlloc_v2", "cuMemHostAlloc", "cuStreamCreate",
        "cuLaunchKernel"))))
    for function in ("cuMemAlloc_v2", "cuMemHostAlloc"):
        for kind in KINDS:
            for device in DEVICES:
                judge(cast(kind, device, "fail=%s:1+:2" % function), kind, device)
    require_fallback(FILE, ["memory"], script="fail=cuDevicePrimaryCtxRetain:1+:2")


@check
def little_memory_makes_the_pieces_smaller():
    """Down to a size that cannot hold a tile."""
    worked = 0
    for kind in KINDS:
        for memory in ("4M", "1M", "256K", "64K", "16K", "1K"):
            for device in DEVICES:
                run = cast(kind, device, "memory=" + memory)
                judge(run, kind, device)
                if device == "cuda":
                    worked += run.code == 0
                    require(run.code == 0 or memory not in ("4M", "1M"), memory, "was too little", run.stderr)
                    require(run.code != 0 or memory != "1K", memory, "was enough")
    require(worked > 6, "no small piece worked", worked)


@check
def a_fault_in_every_kernel():
    jobs = []
    for kind in KINDS:
        count = calls(kind)["cuLaunchKernel"]
        jobs += [(kind, device, "fail=kernel:%d:%d" % (at, code)) for at in moments(count)
                 for code in (700, 719, 702, 214) for device in DEVICES]
    counts = sweep(jobs)
    tell("faults in kernels", counts)
    require(counts[0] == counts[1] == len(jobs) // 2, "every auto works, every cuda fails", counts)


@check
def a_copy_that_fails_and_a_device_that_is_lost_while_it_is_waited_for():
    jobs = everywhere(UNKNOWN, KINDS, functions=("cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"))
    for kind in KINDS:
        copies = calls(kind)["cuMemcpyHtoDAsync_v2"] + calls(kind)["cuMemcpyDtoHAsync_v2"]
        jobs += [(kind, device, "fail=copy:%d:%d" % (at, UNKNOWN)) for at in moments(copies)
                 for device in DEVICES]
    counts = sweep(jobs)
    tell("copies", counts)
    require(counts[0] == counts[1] == len(jobs) // 2, "every auto works, every cuda fails", counts)
    counts = sweep(everywhere(UNKNOWN, KINDS, functions=("cuStreamQuery",)))
    tell("waiting", counts)
    require(counts[1] > 0, "no cast on cuda failed", counts)


@check
def every_call_that_fails():
    for code in (ILLEGAL_ADDRESS,) + (() if SPARSE else (UNKNOWN,)) + ((1, 201, OUT_OF_MEMORY, 100) if LONG else ()):
        tell("code %d" % code, sweep(everywhere(code, KINDS if LONG else [FILE])))


@check
def every_call_that_hangs():
    jobs = [(kind, device, "hang=%s:%d" % (name, at)) for kind in (KINDS if LONG else [PIPE])
            for name, count in calls(kind).items() for at in (moments(count) if LONG else [count])
            for device in DEVICES]
    tell("calls that hang", sweep(jobs))
    jobs = [(kind, device, "hang=kernel:%d" % at) for kind in KINDS
            for at in moments(calls(kind)["cuLaunchKernel"]) for device in DEVICES]
    counts = sweep(jobs)
    tell("kernels that hang", counts)
    require(counts[0] == counts[1] == len(jobs) // 2, "every auto works, every cuda fails", counts)


@check
def an_interrupt_while_a_kernel_hangs():
    for number in (signal.SIGINT, signal.SIGTERM):
        with tempfile.TemporaryDirectory(prefix="dtinfo-device-") as folder:
            with open(os.path.join(folder, "in"), "wb") as file:
                file.write(FILE.source)
            trace = os.path.join(folder, "trace")
            env = environment(DTINFO_LIBCUDA=FAKE, DTINFO_CUDA_TIMEOUT="60",
                              FAKE_CUDA="hang=kernel:1,trace=" + trace)
            child = subprocess.Popen([PROGRAM, "cast"] + FILE.words + ["--device", "cuda"], env=env, cwd=folder,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            begin = time.monotonic()
            while time.monotonic() - begin < AT_ONCE:
                if os.path.exists(trace) and b"cuLaunchKernel" in open(trace, "rb").read():
                    break
                time.sleep(0.01)
            else:
                child.kill()
                require(False, "no kernel was launched")
            time.sleep(0.1)
            require(child.poll() is None, "it did not hang", child.returncode)
            child.send_signal(number)
            child.communicate(timeout=AT_ONCE)
            require(child.returncode == -number, "exit code", child.returncode)
            require(sorted(os.listdir(folder)) == ["in", "trace"], "files:", os.listdir(folder))


@check
def two_streams_of_one_thread_are_at_work_at_once():
    """Chunks of 1 MiB: one is copied in while another is cast or copied out."""
    large = Kind("large", ARRAY.words, FP32[:4 << 17] * 8, BF16[:2 << 17] * 8)
    run = cast(large, "cuda", more=["--threads", "1"])
    require(run.code == 0, "exit code", run.code, run.stderr)
    judge(run, large, "cuda")
    require(run.report["most_busy_streams"] == 2, "streams at once:", run.report["most_busy_streams"])


if __name__ == "__main__":
    sys.argv[3:] = sys.argv[4:]
    sys.exit(main())
