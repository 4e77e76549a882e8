# SPDX-License-Identifier: MIT
"""Contexts for a CUDA device, with the pretend driver of tests/fake in place of the real one: the same bytes and reports
as on the CPU, and what happens if the device fails. The library reads no environment variables, so the driver is found
as the loader finds it.

Usage: test_device.py LIBRARY LIBFAKE_CUDA
"""

import ctypes
import os
import random
import subprocess
import sys
import tempfile
from ctypes import byref, c_size_t, c_ssize_t, c_void_p

import harness
from library import BYTES, LOW, Difference, Failure, Library, Report, Stats

CASTS = (("fp32", "bf16", {}), ("fp32", "fp8_e4m3fn", {"overflow": "saturate"}), ("fp16", "fp32", {}), ("fp64", "fp16", {}),
         ("fp32", "fp4_e2m1", {"dst_packing": LOW}), ("fp4_e2m1", "bf16", {"src_packing": LOW}), ("fp32", "bf16", {"dst_swapped": True}),
         ("fp32", "bf16", {"round": "stochastic", "seed": 5}), ("complex64", "complex32", {}))
LENGTHS = (1, 100, 2049, 300000)


def figures(report):
    return str([getattr(report, name) for name, _ in report._fields_])


def data_of(rng, n):
    return rng.randbytes(n)


def check_same(tally, path, word):
    rng = random.Random(33)
    cpu, gpu = Library(path), Library(path, device=word)
    tally.check(f"device of {word}", gpu.lib.dti_context_device(gpu.context), b"cuda:0")
    for src, dst, how in CASTS:
        for n in LENGTHS:
            a, b = cpu.caster(src, dst, **how), gpu.caster(src, dst, **how)
            data = data_of(rng, cpu.lib.dti_caster_src_bytes(a, n))
            subject = f"{word}: {n} {src} to {dst} {how}"
            want = cpu.cast(a, data, n)
            tally.check(subject, gpu.cast(b, data, n) == want, True)
            one, other = Report(), Report()
            tally.check(subject + ", counted", gpu.cast(b, data, n, other) == cpu.cast(a, data, n, one), True)
            tally.check(subject + ", report", figures(other), figures(one))
    tally.check("kernels", gpu.lib.dti_caster_kernels(gpu.caster("fp32", "bf16")) == cpu.lib.dti_caster_kernels(cpu.caster("fp32", "bf16")), False)
    data = data_of(rng, 4 * 600 * 500)
    source, shape, strides = (ctypes.c_ubyte * len(data)).from_buffer_copy(data), (c_size_t * 2)(500, 600), (c_ssize_t * 2)(4, 2000)
    results = []
    for library in (cpu, gpu):
        room = (ctypes.c_ubyte * (len(data) // 2))()
        library.call("dti_caster_run_strided", library.caster("fp32", "bf16"), room, source, 2, shape, strides, None)
        stats, difference = Stats(), Difference()
        library.call("dti_array_stats", library.context, library.format("bf16"), BYTES, room, 300000, byref(stats))
        library.call("dti_array_compare", library.context, library.format("fp32"), source, library.format("bf16"), room, 300000, 0.0, 0.0,
                     byref(difference))
        results.append((bytes(room), stats.nan, stats.max_index, difference.differing, difference.max_index))
    tally.check("transposed, statistics, comparison", results[0] == results[1], True)
    cpu.close()
    gpu.close()
    tally.part(word.decode())


def check_failures(tally, path):
    """FAKE_CUDA makes the driver fail: see tests/fake/README.md."""
    wide = "e15m48"         # no kernel of a device has it
    gpu, any_device = Library(path, device=b"cuda"), Library(path, device=b"auto")
    try:
        gpu.caster(wide, "bf16")
        tally.check("no kernel", "no failure", "unavailable")
    except Failure as failure:
        tally.check(f"no kernel: {failure}", failure.status, "unavailable")
    data = bytes(range(256)) * 64
    tally.check("auto without a kernel", len(any_device.cast(any_device.caster(wide, "bf16"), data, 2048)), 4096)
    gpu.close()
    any_device.close()


def check_broken(tally, path, word):
    """The first kernel fails while it runs. Without a choice that is the answer; with one, the CPU goes on."""
    cpu, library = Library(path), Library(path, device=word)
    data = bytes(range(256)) * 4096
    try:
        got = library.cast(library.caster("fp32", "bf16"), data, len(data) // 4)
        tally.check("the device failed", word, b"auto")
        tally.check("auto goes on", got == cpu.cast(cpu.caster("fp32", "bf16"), data, len(data) // 4), True)
        tally.check("and says so", library.lib.dti_context_device(library.context), b"cpu")
    except Failure as failure:
        tally.check(f"{word}: {failure}", (failure.status, word), (17, b"cuda"))


def again(words, folder, fake):
    """This test in another process: where the loader looks is decided at its start."""
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, **fake}
    return subprocess.run([sys.executable, *words], env=environment, check=False).returncode


def main():
    path, driver, *rest = sys.argv[1:]
    if not rest:
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.abspath(driver), os.path.join(folder, "libcuda.so.1"))
            results = [again([__file__, path, driver, "same"], folder, {}),
                       *(again([__file__, path, driver, word], folder, {"FAKE_CUDA": "fail=kernel:1:700"}) for word in ("cuda", "auto"))]
        sys.exit(max(results))
    tally = harness.Tally()
    if rest[0] == "same":
        check_same(tally, path, b"cuda")
        check_same(tally, path, b"auto")
        check_failures(tally, path)
    else:
        check_broken(tally, path, rest[0].encode())
    tally.finish()


if __name__ == "__main__":
    main()
