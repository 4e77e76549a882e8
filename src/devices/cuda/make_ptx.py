#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the device code to PTX and writes it as a C array, compressed with zlib.

  make_ptx.py --probe clang|nvcc COMPILER      whether it makes PTX at all
  make_ptx.py clang|nvcc COMPILER SOURCE OUT.ptx OUT.h DEPFILE INCLUDE..."""
import os
import re
import subprocess
import sys
import tempfile
import zlib

CAPABILITY = 75           # the minimum compute capability that the kernels need
VERSION = "6.3"           # the oldest PTX version with sm_75, accepted by the driver of CUDA 10.0;
DRIVER = 10000            # compilers write their own version, which only newer drivers accept
FLAGS = {
    "clang": ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-std=c++17", "-O3",
              "--cuda-gpu-arch=sm_%d" % CAPABILITY, "-ffp-contract=off", "-fno-unroll-loops",
              "-Wall", "-Wextra", "-Wno-unknown-cuda-version", "-Werror", "-S"],
    "nvcc": ["-x", "cu", "--ptx", "-std=c++17", "-O3", "-arch=compute_%d" % CAPABILITY,
             "--fmad=false", "-Xcompiler", "-Wall", "-Werror", "all-warnings"],
}


def compile_ptx(kind, compiler, source, out, includes, depfile=None):
    command = [compiler] + FLAGS[kind] + ["-I" + folder for folder in includes] + ["-o", out, source]
    if depfile:
        command += ["-MD", "-MF", depfile] if kind == "clang" else ["-MD", "-MF", depfile, "-MT", out]
    return subprocess.run(command, stderr=subprocess.PIPE, universal_newlines=True)


def probe(kind, compiler):
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "probe.cu"), os.path.join(folder, "probe.ptx")
        with open(source, "w", encoding="ascii") as file:
            file.write("extern \"C\" __attribute__((global)) void probe(int *at) { *at = 1; }\n")
        done = compile_ptx(kind, compiler, source, out, [])
        return 0 if done.returncode == 0 and os.path.exists(out) else 1


def cleaned(text):
    """Removes comments and blanks and sets the version. Exits if the PTX calls external functions."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'^\s*\.pragma "used_bytes_mask[^\n]*', "", text, flags=re.MULTILINE)  # only a hint
    text = "\n".join(line.strip() for line in text.split("\n") if line.strip()) + "\n"
    text = re.sub(r"[ \t]+", " ", text).replace(", ", ",")
    text, count = re.subn(r"^\.version .*$", ".version " + VERSION, text, flags=re.MULTILINE)
    if count != 1 or ".target sm_%d" % CAPABILITY not in text:
        sys.exit("make_ptx.py: no version or another target in the PTX")
    outside = re.findall(r"^\.extern .*|^call.*", text, flags=re.MULTILINE)
    if outside:
        sys.exit("make_ptx.py: the PTX calls what it does not have: %s" % outside[0])
    return text


def write_array(out, text):
    plain = text.encode("ascii") + b"\0"
    data = zlib.compress(plain, 9)
    with open(out, "w", encoding="ascii") as file:
        file.write("#define CUDA_PROGRAM_CAPABILITY %d\n" % CAPABILITY)
        file.write("#define CUDA_PROGRAM_DRIVER %d\n" % DRIVER)
        file.write("#define CUDA_PROGRAM_SIZE %d\n" % len(plain))
        file.write("static const unsigned char cuda_packed[%d] = {\n" % len(data))
        for start in range(0, len(data), 32):
            file.write(",".join(str(byte) for byte in data[start:start + 32]) + ",\n")
        file.write("};\n")


def main():
    if sys.argv[1] == "--probe":
        return probe(*sys.argv[2:4])
    kind, compiler, source, ptx, header, depfile, *includes = sys.argv[1:]
    done = compile_ptx(kind, compiler, source, ptx, includes, depfile)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        return 1
    with open(ptx, encoding="ascii") as file:
        text = cleaned(file.read())
    with open(ptx, "w", encoding="ascii") as file:
        file.write(text)
    write_array(header, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
