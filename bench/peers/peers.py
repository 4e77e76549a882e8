#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our array casts with those of numpy, ml_dtypes and torch, interleaved in one process.

    peers.py LIBRARY [--pairs fp32:bf16,...] [--size 1MiB,...] [--threads N] [--time SECONDS] [--json FILE]

LIBRARY is the dtinfo_peers module of the build. Both sides read the same source and, if the other library
takes a destination, write the same one. A round takes a sample of every candidate, in a new random order. A
sample lasts at least 10 ms and is repeated if the thread was preempted. A ratio is the median over the
rounds of their time divided by ours: above 1 we are faster. Missing packages are named and left out.
"bytes" shows whether both results have the same bytes.
"""
import argparse
import ctypes
import gc
import json
import math
import mmap
import random
import resource
import statistics
import sys
import time

SAMPLE_NANOSECONDS = 10_000_000
ROUNDS_MIN, TRIES = 11, 4
PAIRS = ("fp32:bf16,fp32:fp16,bf16:fp32,fp16:fp32,fp64:fp32,fp32:fp8_e4m3fn,fp32:fp8_e5m2,"
         "fp8_e4m3fn:fp32,fp32:int8,int8:fp32")
BYTES = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 2, "fp8_e4m3fn": 1, "fp8_e5m2": 1, "int8": 1}
NUMPY = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "int8": "int8"}
ML_DTYPES = {"bf16": "bfloat16", "fp8_e4m3fn": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2"}
TORCH = dict(NUMPY, **ML_DTYPES)
UNITS = {"": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        print("%s is not installed; left out" % name)
        return None


class Ours:
    """The shared library with our casts."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.dti_peer_open.restype = ctypes.c_void_p
        self.library.dti_peer_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        self.library.dti_peer_close.argtypes = [ctypes.c_void_p]
        self.library.dti_peer_describe.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        self.library.dti_peer_fill.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                               ctypes.c_uint64]
        self.library.dti_peer_cast.restype = ctypes.c_uint64
        self.library.dti_peer_cast.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                                               ctypes.c_size_t, ctypes.c_uint64]

    def open(self, src, dst, threads):
        handle = self.library.dti_peer_open(src.encode(), dst.encode(), threads)
        if not handle:
            sys.exit("%s:%s with %d threads cannot be had" % (src, dst, threads))
        return handle

    def describe(self, handle):
        text = ctypes.create_string_buffer(512)
        self.library.dti_peer_describe(handle, text, 512)
        return text.value.decode()


class Buffer:
    """Memory that all libraries share: already faulted in, and on huge pages if possible."""

    def __init__(self, size):
        self.size = size
        self.memory = mmap.mmap(-1, size)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            self.memory.madvise(mmap.MADV_HUGEPAGE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        ctypes.memset(self.address, 0xA5, size)


def numpy_candidates(np, types, name, src, dst, buffers, n):
    """copyto() into an existing buffer, and astype(), which allocates one."""
    if src not in types or dst not in types:
        return
    source = np.frombuffer(buffers[0].memory, dtype=types[src], count=n)
    target = np.frombuffer(buffers[1].memory, dtype=types[dst], count=n)
    yield name + " copyto", lambda: np.copyto(target, source, casting="unsafe"), True
    yield name + " astype", lambda: source.astype(types[dst]), False


def torch_candidates(torch, src, dst, buffers, n):
    names = [getattr(torch, TORCH.get(name, "?"), None) for name in (src, dst)]
    if None in names:
        return
    source = torch.frombuffer(buffers[0].memory, dtype=names[0], count=n)
    target = torch.frombuffer(buffers[1].memory, dtype=names[1], count=n)
    yield "torch copy_", lambda: target.copy_(source), True
    yield "torch to", lambda: source.to(names[1]), False


def peers_of(modules, src, dst, buffers, n):
    """Yields (name, call, whether it writes the shared destination)."""
    np, ml_dtypes, torch = modules
    if np:
        plain = {name: np.dtype(text) for name, text in NUMPY.items()}
        if src in plain and dst in plain:
            yield from numpy_candidates(np, plain, "numpy", src, dst, buffers, n)
        elif ml_dtypes:
            both = dict(plain, **{name: np.dtype(getattr(ml_dtypes, text))
                                  for name, text in ML_DTYPES.items()})
            yield from numpy_candidates(np, both, "ml_dtypes", src, dst, buffers, n)
    if torch:
        yield from torch_candidates(torch, src, dst, buffers, n)


def preemptions():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def call_passes(call):
    def timed(passes):
        start = time.perf_counter_ns()
        for _ in range(passes):
            call()
        return time.perf_counter_ns() - start
    return timed


def calibrate(timed):
    timed(1)
    passes = 1
    while True:
        taken = timed(passes)
        if taken >= SAMPLE_NANOSECONDS:
            return passes
        passes = int(passes * min(10, 1.1 * SAMPLE_NANOSECONDS / max(taken, 1))) + 1


def sample(timed, passes):
    """Returns the seconds of a pass, and whether the sample ran without preemption."""
    for _ in range(TRIES):
        before = preemptions()
        taken = timed(passes)
        clean = preemptions() == before
        if clean:
            break
    return taken * 1e-9 / passes, clean


def interval(values):
    """The 95 % interval of the median by order statistics, or None."""
    values, below, rank = sorted(values), 0, 0
    for k in range(len(values)):
        below += math.comb(len(values), k)
        if below * 1000 > 25 * 2 ** len(values):
            break
        rank = k + 1
    return (values[rank - 1], values[-rank]) if rank else None


def run_rounds(candidates, seconds, order):
    """Returns the samples of each candidate, round by round: (seconds of a pass, undisturbed)."""
    passes = [calibrate(timed) for _, timed in candidates]
    rounds, end = [], time.monotonic() + seconds
    while len(rounds) < ROUNDS_MIN or time.monotonic() < end:
        row = [None] * len(candidates)
        for i in order.sample(range(len(candidates)), len(candidates)):
            row[i] = sample(candidates[i][1], passes[i])
        rounds.append(row)
        if time.monotonic() > 3 * seconds + end:
            break
    return rounds


def compare_bytes(call, shared, ours, buffers, n, dst):
    """Whether the call writes the same bytes as ours, up to 4 MiB; None if it allocates its result."""
    length = n * BYTES[dst]
    ours(1)
    own = ctypes.string_at(buffers[1].address, min(length, 1 << 22))
    if not shared:
        return None
    ctypes.memset(buffers[1].address, 0x5A, length)
    call()
    return own == ctypes.string_at(buffers[1].address, min(length, 1 << 22))


def measure(ours, modules, src, dst, size, options, order):
    n = size // BYTES[src]
    buffers = Buffer(n * BYTES[src]), Buffer(n * BYTES[dst])
    handle = ours.open(src, dst, options.threads)
    ours.library.dti_peer_fill(handle, buffers[0].address, n, options.seed)

    def own(passes):
        return ours.library.dti_peer_cast(handle, buffers[1].address, buffers[0].address, n, passes)

    peers = list(peers_of(modules, src, dst, buffers, n))
    same = [compare_bytes(call, shared, own, buffers, n, dst) for _, call, shared in peers]
    candidates = [("ours", own)] + [(name, call_passes(call)) for name, call, _ in peers]
    gc.disable()
    rounds = run_rounds(candidates, options.time, order)
    gc.enable()
    clean = [row for row in rounds if all(good for _, good in row)]
    disturbed = len(clean) < 5
    rows = rounds if disturbed else clean
    result = {"src": src, "dst": dst, "src_bytes": n * BYTES[src], "dst_bytes": n * BYTES[dst],
              "elements": n, "threads": options.threads, "kernel": ours.describe(handle),
              "rounds": len(rows), "disturbed": disturbed,
              "median_seconds": statistics.median(row[0][0] for row in rows), "peers": []}
    for i, (name, _) in enumerate(candidates[1:], 1):
        ratios = [row[i][0] / row[0][0] for row in rows]
        ends = interval(ratios)
        result["peers"].append({
            "name": name, "median_seconds": statistics.median(row[i][0] for row in rows),
            "ratio": statistics.median(ratios), "low": ends and ends[0], "high": ends and ends[1],
            "same_bytes": same[i - 1]})
    ours.library.dti_peer_close(handle)
    return result


def show(result):
    each = 1e9 / result["elements"]
    print("%s -> %s  %s  %d thread%s  %s  %d rounds%s" %
          (result["src"], result["dst"], bytes_text(result["src_bytes"]), result["threads"],
           "" if result["threads"] == 1 else "s", result["kernel"], result["rounds"],
           ", disturbed" if result["disturbed"] else ""))
    print("  %-18s %10.4f ns/element" % ("ours", result["median_seconds"] * each))
    for peer in result["peers"]:
        ends = "" if peer["low"] is None else "(%.2f to %.2f)" % (peer["low"], peer["high"])
        same = {None: "", True: "same bytes", False: "other bytes"}[peer["same_bytes"]]
        print("  %-18s %10.4f ns/element  %8.2f x ours  %-20s %s" %
              (peer["name"], peer["median_seconds"] * each, peer["ratio"], ends, same))
    sys.stdout.flush()


def bytes_text(size):
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or size % 1024:
            break
        size //= 1024
    return "%d %s" % (size, unit)


def parse_size(text):
    digits = text.rstrip("KMGiBkmgb")
    unit = text[len(digits):].lower()
    if not digits.isdigit() or unit not in UNITS:
        sys.exit("--size takes bytes, as in 4096,64KiB,1GiB; '%s' is not" % text)
    return int(digits) * UNITS[unit]


def main():
    parser = argparse.ArgumentParser(description="our array casts beside those of other libraries")
    parser.add_argument("library")
    parser.add_argument("--pairs", default=PAIRS)
    parser.add_argument("--size", default="1MiB,64MiB")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--time", type=float, default=1.5, help="seconds for each measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="write the results there, too")
    options = parser.parse_args()
    modules = [optional(name) for name in ("numpy", "ml_dtypes", "torch")]
    versions = {module.__name__: module.__version__ for module in modules if module}
    print("  ".join("%s %s" % item for item in versions.items()) or "nothing to compare with")
    if modules[2]:
        modules[2].set_num_threads(options.threads)
        print("torch on %d thread(s), %s" % (options.threads, modules[2].backends.cpu.get_cpu_capability()))
    ours, order, results = Ours(options.library), random.Random(options.seed), []
    for pair in options.pairs.split(","):
        src, colon, dst = pair.partition(":")
        if not colon or not {src, dst} <= set(BYTES):
            sys.exit("'%s' is not a pair of %s" % (pair, ", ".join(BYTES)))
        for size in options.size.split(","):
            results.append(measure(ours, modules, src, dst, parse_size(size), options, order))
            show(results[-1])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"packages": versions, "results": results}, out, indent=1)
            out.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
