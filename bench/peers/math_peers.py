#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our exp(sin x) and dot products with those of torch and numpy, interleaved in one process.

    math_peers.py LIBRARY [--dtypes fp32,bf16,...] [--size 4000000,...] [--threads 1,2]
                  [--capabilities default,avx2] [--time SECONDS] [--json FILE]

LIBRARY is the dtinfo_peers module of the build; sizes are in elements. torch chooses its vector code when
it is loaded, so each capability (ATEN_CPU_CAPABILITY) is measured in its own process, together with our
code. torch and numpy compute exp(sin x) both into existing memory ("out") and into fresh memory ("fresh").
Rounds and ratios are as in peers.py: above 1 we are faster. "ulp" is the largest error of the first 100000
results, compared with fp64 (none for fp64 itself).
"""
import argparse
import ctypes
import gc
import json
import os
import random
import statistics
import subprocess
import sys

import peers

WHATS = ("expsin", "dot")
WIDTHS = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 2}
DIGITS = {"fp32": 24, "fp16": 11, "bf16": 8}
JUDGED = 100000


class Ours:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.dti_math_peer_open.restype = ctypes.c_void_p
        self.library.dti_math_peer_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        self.library.dti_math_peer_close.argtypes = [ctypes.c_void_p]
        self.library.dti_math_peer_describe.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        self.library.dti_math_peer_fill.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                                    ctypes.c_uint64]
        self.library.dti_math_peer_run.restype = ctypes.c_uint64
        self.library.dti_math_peer_run.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_size_t, ctypes.c_uint64]

    def open(self, what, dtype, threads):
        handle = self.library.dti_math_peer_open(what.encode(), dtype.encode(), threads)
        if not handle:
            sys.exit("%s of %s with %d threads cannot be had" % (what, dtype, threads))
        return handle

    def describe(self, handle):
        text = ctypes.create_string_buffer(128)
        self.library.dti_math_peer_describe(handle, text, 128)
        return text.value.decode()


def torch_candidates(torch, what, dtype, buffers, n):
    kind = getattr(torch, peers.TORCH[dtype])
    first, second, out = (torch.frombuffer(b.memory, dtype=kind, count=n) for b in buffers)
    if what == "dot":
        return [("torch dot", lambda: torch.dot(first, second))]

    def into():
        torch.sin(first, out=out)
        torch.exp(out, out=out)
    return [("torch out", into), ("torch fresh", lambda: torch.exp(torch.sin(first)))]


def numpy_candidates(np, what, dtype, buffers, n):
    if dtype not in ("fp64", "fp32"):
        return []       # numpy takes the others through fp32 one by one, 100 times slower
    first, second, out = (np.frombuffer(b.memory, dtype=peers.NUMPY[dtype], count=n) for b in buffers)
    if what == "dot":
        return [("numpy dot", lambda: np.dot(first, second))]

    def into():
        np.sin(first, out=out)
        np.exp(out, out=out)
    return [("numpy out", into), ("numpy fresh", lambda: np.exp(np.sin(first)))]


def largest_error(modules, dtype, buffers, n):
    """Returns the largest error in the last buffer, in ulps of the dtype, or None if it cannot be computed."""
    np, ml_dtypes, _ = modules
    if np is None or dtype not in DIGITS or (dtype == "bf16" and ml_dtypes is None):
        return None
    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bf16" else np.dtype(peers.NUMPY[dtype])
    count = min(n, JUDGED)
    x = np.frombuffer(buffers[0].memory, dtype=kind, count=count).astype("float64")
    got = np.frombuffer(buffers[2].memory, dtype=kind, count=count).astype("float64")
    want = np.exp(np.sin(x))
    return float(np.max(np.abs(got - want) / np.ldexp(1.0, np.frexp(want)[1] - DIGITS[dtype])))


def errors_of(calls, what, modules, dtype, buffers, n):
    """Returns {name: the largest error} of the calls that write to the shared buffer."""
    found = {}
    for name, call in calls:
        if what == "expsin" and "fresh" not in name:
            ctypes.memset(buffers[2].address, 0xFF, n * WIDTHS[dtype])
            call()
            found[name] = largest_error(modules, dtype, buffers, n)
    return found


def measure(ours, modules, what, dtype, n, threads, options, order):
    buffers = [peers.Buffer(max(n * WIDTHS[dtype], 8)) for _ in range(3)]
    handle = ours.open(what, dtype, threads)
    for buffer in buffers[:2]:
        ours.library.dti_math_peer_fill(handle, buffer.address, n, options.seed)

    def own(passes):
        return ours.library.dti_math_peer_run(handle, buffers[2].address, buffers[0].address,
                                              buffers[1].address, n, passes)

    calls = torch_candidates(modules[2], what, dtype, buffers, n) if modules[2] else []
    calls += numpy_candidates(modules[0], what, dtype, buffers, n) if modules[0] else []
    errors = errors_of([("ours", lambda: own(1))] + calls, what, modules, dtype, buffers, n)
    candidates = [("ours", own)] + [(name, peers.call_passes(call)) for name, call in calls]
    gc.disable()
    rounds = peers.run_rounds(candidates, options.time, order)
    gc.enable()
    clean = [row for row in rounds if all(good for _, good in row)]
    disturbed = len(clean) < 5
    rows = rounds if disturbed else clean
    result = {"what": what, "dtype": dtype, "elements": n, "threads": threads,
              "capability": options.capability, "kernel": ours.describe(handle), "rounds": len(rows),
              "disturbed": disturbed, "ulp": errors.get("ours"),
              "median_seconds": statistics.median(row[0][0] for row in rows), "peers": []}
    for i, (name, _) in enumerate(candidates[1:], 1):
        ratios = [row[i][0] / row[0][0] for row in rows]
        ends = peers.interval(ratios)
        result["peers"].append({
            "name": name, "median_seconds": statistics.median(row[i][0] for row in rows),
            "ratio": statistics.median(ratios), "low": ends and ends[0], "high": ends and ends[1],
            "ulp": errors.get(name)})
    ours.library.dti_math_peer_close(handle)
    return result


def show(result):
    each = 1e9 / result["elements"]

    def ulp(error):
        return "" if error is None else "%8.2f ulp" % error
    print("%s %s  %d elements  %d thread%s  %s  %d rounds%s" %
          (result["what"], result["dtype"], result["elements"], result["threads"],
           "" if result["threads"] == 1 else "s", result["kernel"], result["rounds"],
           ", disturbed" if result["disturbed"] else ""))
    print("  %-14s %9.4f ns/element  %30s %s" %
          ("ours", result["median_seconds"] * each, "", ulp(result["ulp"])))
    for peer in result["peers"]:
        ends = "" if peer["low"] is None else "(%.2f to %.2f)" % (peer["low"], peer["high"])
        print("  %-14s %9.4f ns/element  %6.2f x ours  %-16s %s" %
              (peer["name"], peer["median_seconds"] * each, peer["ratio"], ends, ulp(peer["ulp"])))
    sys.stdout.flush()


def run_here(options):
    """Runs all measurements of one capability in this process."""
    modules = [peers.optional(name) for name in ("numpy", "ml_dtypes", "torch")]
    versions = {module.__name__: module.__version__ for module in modules if module}
    print("  ".join("%s %s" % item for item in versions.items()) or "nothing to compare with")
    if modules[2]:
        print("torch: %s" % modules[2].backends.cpu.get_cpu_capability())
    ours, order, results = Ours(options.library), random.Random(options.seed), []
    for what in WHATS:
        for threads in map(int, options.threads.split(",")):
            if modules[2]:
                modules[2].set_num_threads(threads)
            for size in options.size.split(","):
                for dtype in options.dtypes.split(","):
                    results.append(measure(ours, modules, what, dtype, int(size), threads, options,
                                           order))
                    show(results[-1])
    return {"capability": options.capability, "packages": versions, "results": results}


def run_all(options):
    """Runs a process for each capability."""
    results = []
    for capability in options.capabilities.split(","):
        environment = dict(os.environ)
        if capability != "default":
            environment["ATEN_CPU_CAPABILITY"] = capability
        print("== capability %s" % capability)
        sys.stdout.flush()
        part = (options.json or "math_peers.json") + "." + capability
        done = subprocess.run([sys.executable] + sys.argv + ["--capability", capability, "--part", part],
                              env=environment, check=False)
        if done.returncode != 0:
            return done.returncode
        with open(part, encoding="utf-8") as stored:
            results.append(json.load(stored))
        os.remove(part)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(results, out, indent=1)
            out.write("\n")
    return 0


def main():
    parser = argparse.ArgumentParser(description="our exp(sin x) and dot products beside others'")
    parser.add_argument("library")
    parser.add_argument("--dtypes", default="fp32,bf16,fp16,fp64")
    parser.add_argument("--size", default="4000000,16777216", help="elements")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--capabilities", default="default,avx2")
    parser.add_argument("--time", type=float, default=1.0, help="seconds for each measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="write the results there, too")
    parser.add_argument("--capability", help=argparse.SUPPRESS)
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not set(options.dtypes.split(",")) <= set(WIDTHS):
        sys.exit("--dtypes takes some of %s" % ",".join(WIDTHS))
    if not options.capability:
        return run_all(options)
    with open(options.part, "w", encoding="utf-8") as out:
        json.dump(run_here(options), out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
