#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No command looks for a driver that it was not asked to use: strace shows every file that is opened.
Usage: leave_drivers_alone.py DTINFO

Skipped if strace is missing or not permitted to trace."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DRIVER = re.compile(rb"libcuda|libnvidia|libcublas|nvidia|/dev/dri")
SKIPPED = 77

# Every command, with and without --device cpu if it has the option.
QUIET = [
    ["cast", "70000", "bf16"],
    ["cast", "70000", "bf16", "--device", "cpu"],
    ["cast", "1/3", "all", "--device", "auto"],
    ["cast", "in.bin", "bf16", "--from", "fp32", "-o", "out.bin", "--force"],
    ["cast", "in.bin", "bf16", "--from", "fp32", "-o", "out.bin", "--force", "--device", "cpu"],
    ["cast", "model/model.safetensors", "bf16", "-o", "out.safetensors", "--force"],
    ["cast", "model/model.safetensors", "bf16", "-o", "out.safetensors", "--force", "--device", "cpu"],
    ["list"], ["finfo"], ["iinfo"], ["bits", "0.1", "bf16"],
    ["inspect", "model/model.safetensors", "--stats"],
    ["compare", "model/model.safetensors", "model/model.safetensors"],
    ["check", "model/model.safetensors", "--no-nan"],
    ["mem", "7B", "--fit", "cpu"], ["mem", "7B", "bf16", "--fit", "24GiB"], ["quant", "1", "2", "int8,mxfp4"],
    ["quant", "model/model.safetensors", "int8", "-o", "out.safetensors", "--force"],
    ["devices", "--device", "cpu"],
    ["bench", "cast", "fp32:bf16", "--size", "4KiB", "--time", "0.05"],
    ["bench", "cast", "fp32:bf16", "--size", "4KiB", "--time", "0.05", "--device", "cpu"],
    ["help"], ["completion", "bash"], ["--version"],
]
# These look for the driver: shows that the test would detect it.
LOUD = [["cast", "70000", "bf16", "--device", "cuda"], ["devices"], ["mem", "7B", "--fit", "auto"],
        ["cast", "in.bin", "bf16", "--from", "fp32", "-o", "out.bin", "--force", "--device", "auto"]]


def opened(program, words, folder):
    """The lines of strace output that name a driver."""
    log = folder / "log"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DTINFO_")}
    subprocess.run(["strace", "-f", "-e", "trace=open,openat,execve,readlink,access,newfstatat", "-o", str(log),
                    program, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)
    lines = log.read_bytes().splitlines() if log.exists() else []
    if not any(b"dtinfo" in line for line in lines):
        print("skipped: strace cannot trace here")
        sys.exit(SKIPPED)
    return [line for line in lines if DRIVER.search(line)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("strace"):
        print("skipped: no strace")
        return SKIPPED
    program = os.path.abspath(sys.argv[1])
    failed = 0
    with tempfile.TemporaryDirectory(prefix="dtinfo-drivers-") as name:
        folder = pathlib.Path(name)
        (folder / "in.bin").write_bytes(bytes(4096))
        subprocess.run([sys.executable, HERE.parent / "makers/make_checkpoint.py", folder / "model", "--single"], check=True)
        for words in QUIET:
            seen = opened(program, words, folder)
            if seen:
                failed += 1
                print("FAILED dtinfo %s: %s" % (" ".join(words), seen[0].decode(errors="replace")))
        for words in LOUD:
            if not opened(program, words, folder):
                failed += 1
                print("FAILED dtinfo %s: no driver is looked for" % " ".join(words))
    print("%d commands, %d failures" % (len(QUIET) + len(LOUD), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
