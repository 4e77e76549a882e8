#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory use of dequantizing: the same few MiB in every layout and for any tensor size, with a tensor's scales in
another shard than its codes."""
import os
import sys

from make_quantized import LAYOUTS, write_checkpoint
from output_sets import remove
from file_casts import folder
from survival import SANITIZED, check, main, peak_kib, require

MOST_KIB = 64 << 10
WORDS = ["quant", "in", "bf16", "--dequant", "-o", "out", "--threads", "2", "--no-copy"]


def place():
    """In memory, if there is enough."""
    room = os.access("/dev/shm", os.W_OK) and os.statvfs("/dev/shm")
    return "/dev/shm" if room and room.f_bavail * room.f_frsize > 1 << 30 else None


def peak(layout, count, rows, columns, words=()):
    remove("in", "out")
    size = write_checkpoint("in", layout, count, rows, columns)
    code, kib, _ = peak_kib(WORDS + list(words), b"")
    require(code == 0, layout, "exit code", code)
    return size, kib


@check
def dequantizing_takes_64_mib_at_most_in_every_layout():
    if SANITIZED:
        print("        skipped: sanitizers take memory of their own")
        return
    with folder(place()):
        for layout in LAYOUTS:
            # three gpt-oss experts in their original shape, 4 bits per number: dequantized they exceed the limit
            rows, columns = (23040, 2880) if layout == "gpt-oss" else (8192, 4096)
            size, kib = peak(layout, 2, rows, columns)
            print("        %-12s %3d MiB: %.1f MiB" % (layout, size >> 20, kib / 1024))
            require(kib <= MOST_KIB, layout, "KiB", kib)
            require(2 * 2 * rows * columns > MOST_KIB << 10, "the test is too small")


@check
def quantizing_takes_64_mib_at_most():
    if SANITIZED:
        print("        skipped: sanitizers take memory of their own")
        return
    with folder(place()):
        write_checkpoint("in", "int8", 2, 8192, 4096)
        code, kib, _ = peak_kib(["quant", "in", "bf16", "--dequant", "-o", "floats", "--no-copy", "-q"], b"")
        require(code == 0, "exit code", code)
        for words in (["int4", "--per", "block", "--block", "128"], ["nvfp4"], ["mxfp4"],
                      ["nf4", "--layout", "bitsandbytes", "--nested-absmax"]):
            remove("out")
            code, kib, _ = peak_kib(["quant", "floats", *words, "-o", "out", "--threads", "2"], b"")
            print("        %-12s %.1f MiB" % (words[0], kib / 1024))
            require(code == 0 and kib <= MOST_KIB, words, code, "KiB", kib)


if __name__ == "__main__":
    sys.exit(main())
