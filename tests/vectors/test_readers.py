# SPDX-License-Identifier: MIT
"""The readers in docs/examples/vectors say nothing about correct casts, and report the wrong ones.

Usage: test_readers.py PROGRAM COMPILER...
"""

import os
import pathlib
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs/examples/vectors"
CASTS_C = """
#include <stdint.h>
#include <string.h>
uint64_t truncated(uint64_t code);
uint64_t truncated(uint64_t code)
{
    return code >> 16;
}
"""
HALF_C = """
#include <stdint.h>
#include <string.h>
uint64_t compiled(uint64_t code);
uint64_t compiled(uint64_t code)
{
    double number;
    memcpy(&number, &code, 8);
    _Float16 half = (_Float16)number;
    uint16_t bits;
    memcpy(&bits, &half, 2);
    return bits;
}
"""
CASTS_PY = '''
import struct


def truncated(code):
    return code >> 16


def by_struct(code):
    """Python's own fp16, which refuses what overflows, and knows no payload."""
    number = struct.unpack("<d", code.to_bytes(8, "little"))[0]
    sign = code >> 48 & 0x8000
    if number != number:
        return sign | 0x7e00 | code >> 42 & 0x3ff
    try:
        return struct.unpack("<H", struct.pack("<e", number))[0]
    except OverflowError:
        return sign | 0x7c00


def through_fp32(code):
    number = struct.unpack("<d", code.to_bytes(8, "little"))[0]
    try:
        narrow = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return code >> 48 & 0x8000 | 0x7c00
    return by_struct(int.from_bytes(struct.pack("<d", narrow), "little"))
'''


def run(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lines = done.stdout.decode().splitlines()
    return done.returncode, lines, done.stderr.decode()


def expect(name, answer, wrong):
    """Right casts give one line, '0 of ...'; wrong ones give lines with the mismatches."""
    status, lines, errors = answer
    count, _, total = lines[-1].split(" ")[:3] if lines else (None, None, None)
    if not lines or status != int(wrong) or (count != "0") != wrong or int(count) != len(lines) - 1 or int(total) < 50:
        sys.exit(f"{name} ended with {status}: {lines[-3:]} {errors[:300]}")
    print(f"{name}: {lines[-1]}")


def python_casts(files):
    reader = EXAMPLES / "read_vectors.py"
    pathlib.Path("casts.py").write_text(CASTS_PY)
    expect("Python, bf16", run(sys.executable, reader, files["fp32:bf16"]), False)
    expect("Python, bf16 truncated", run(sys.executable, reader, files["fp32:bf16"], "casts", "truncated"), True)
    expect("Python, fp16 of struct", run(sys.executable, reader, files["fp64:fp16"], "casts", "by_struct"), False)
    expect("Python, fp16 rounded twice", run(sys.executable, reader, files["fp64:fp16"], "casts", "through_fp32"), True)


def c_casts(compiler, files):
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror"]

    def build(source, cast):
        pathlib.Path("casts.c").write_text(source)
        return run(*compiler, *flags, EXAMPLES / "read_vectors.c", "casts.c", f"-DCAST={cast}", "-o", cast)
    if run(*compiler, *flags, EXAMPLES / "read_vectors.c", "-o", "reader")[0]:
        sys.exit("read_vectors.c does not compile")
    expect("C, bf16", run("./reader", files["fp32:bf16"]), False)
    if build(CASTS_C, "truncated")[0]:
        sys.exit("read_vectors.c does not compile with another cast")
    expect("C, bf16 truncated", run("./truncated", files["fp32:bf16"]), True)
    expect("C, bf16 truncated, toward zero", run("./truncated", files["fp32:bf16"], "zero"), True)
    if build(HALF_C, "compiled")[0]:
        print("skipped: this compiler has no _Float16")
    else:
        expect("C, the compiler's fp16", run("./compiled", files["fp64:fp16"]), False)


def main():
    program, *compiler = sys.argv[1:]
    program = os.path.abspath(program)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        files = {}
        for pair in "fp32:bf16", "fp64:fp16":
            files[pair] = pathlib.Path(pair.replace(":", "-") + ".tsv").resolve()
            status, lines, errors = run(program, "vectors", pair)
            if status:
                sys.exit(f"vectors {pair}: {errors}")
            files[pair].write_text("\n".join(lines) + "\n")
        python_casts(files)
        c_casts(compiler, files)
        os.chdir("/")


if __name__ == "__main__":
    main()
