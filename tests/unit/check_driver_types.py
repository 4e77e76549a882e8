#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our CUDA driver functions and constants with the driver's own header. Skipped without that header.
usage: check_driver_types.py SOURCE_FOLDER COMPILER..."""
import os
import subprocess
import sys
import tempfile

SKIP = 77
FOLDERS = ["/usr/local/cuda/include", "/usr/include", "/opt/cuda/include", "/usr/lib/cuda/include"]
# The header declares old versions of replaced functions only with this macro.
PROGRAM = """
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#undef cuDeviceGetUuid
#undef cuDevicePrimaryCtxRelease
#undef cuEventElapsedTime
#define CUDA_SYMBOL(need, name, parameters) CUresult (*const check_##name) parameters = name;
#include "devices/gpu/cuda_symbols.def"
#undef CUDA_SYMBOL
#define CUDA_VALUE(name, value) _Static_assert((int)name == (value), #name);
#include "devices/gpu/cuda_values.def"
#undef CUDA_VALUE
_Static_assert(sizeof(CUresult) == sizeof(int) && sizeof(CUdevice) == sizeof(int), "int");
_Static_assert(sizeof(CUdevice_attribute) == sizeof(int) && sizeof(CUjit_option) == sizeof(int), "int");
_Static_assert(sizeof(CUdeviceptr) == 8 && sizeof(CUuuid) == 16, "sizes");
"""


def main():
    source, compiler = sys.argv[1], sys.argv[2:]
    folder = next((f for f in FOLDERS if os.path.exists(os.path.join(f, "cuda.h"))), None)
    if not folder:
        print("skipped: no cuda.h")
        return SKIP
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "check.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        command = compiler + ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-isystem", folder,
                              "-I" + os.path.join(source, "src"), path]
        done = subprocess.run(command, check=False)
    print("the driver's types: %s" % ("wrong" if done.returncode else "as in " + folder))
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
