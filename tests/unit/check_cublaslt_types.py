#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our cuBLASLt constants and structures with cuBLASLt's own header. Skipped without that header.
usage: check_cublaslt_types.py SOURCE_FOLDER COMPILER..."""
import os
import subprocess
import sys
import tempfile

SKIP = 77
FOLDERS = ["/usr/local/cuda/include", "/usr/include", "/opt/cuda/include", "/usr/lib/cuda/include"]
TYPES = ["CUDA_R_32F", "CUDA_R_64F", "CUDA_R_16F", "CUDA_R_8I", "CUDA_R_32I", "CUDA_R_16BF", "CUDA_R_8F_E4M3"]
# our name: theirs
OTHERS = {
    "CUBLAS_OK": "CUBLAS_STATUS_SUCCESS",
    "CUBLAS_INVALID_VALUE": "CUBLAS_STATUS_INVALID_VALUE",
    "CUBLAS_NOT_SUPPORTED": "CUBLAS_STATUS_NOT_SUPPORTED",
    "COMPUTE_32F": "CUBLAS_COMPUTE_32F",
    "COMPUTE_64F": "CUBLAS_COMPUTE_64F",
    "COMPUTE_32I": "CUBLAS_COMPUTE_32I",
    "COMPUTE_32F_FAST_TF32": "CUBLAS_COMPUTE_32F_FAST_TF32",
    "DESC_TRANSPOSE_A": "CUBLASLT_MATMUL_DESC_TRANSA",
    "DESC_TRANSPOSE_B": "CUBLASLT_MATMUL_DESC_TRANSB",
    "DESC_SCALE_A": "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER",
    "DESC_SCALE_B": "CUBLASLT_MATMUL_DESC_B_SCALE_POINTER",
    "OPERATION_NONE": "CUBLAS_OP_N",
    "OPERATION_TRANSPOSE": "CUBLAS_OP_T",
    "PREFERENCE_WORKSPACE_BYTES": "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES",
    "ALGORITHM_ID": "CUBLASLT_ALGO_CONFIG_ID",
    "ALGORITHM_TILE": "CUBLASLT_ALGO_CONFIG_TILE_ID",
}
STRUCTURES = """
#define SAME(a, b) _Static_assert((a) == (b), #a)
SAME(sizeof(cublasLtMatmulAlgo_t), sizeof(struct cublaslt_algorithm));
SAME(sizeof(cublasLtMatmulHeuristicResult_t), sizeof(struct cublaslt_choice));
SAME(offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize), offsetof(struct cublaslt_choice, workspace_bytes));
SAME(offsetof(cublasLtMatmulHeuristicResult_t, state), offsetof(struct cublaslt_choice, state));
SAME(sizeof(cublasStatus_t), sizeof(int));
SAME(sizeof(cublasComputeType_t), sizeof(int));
SAME(sizeof(cudaDataType_t), sizeof(int));
SAME(sizeof(cublasLtMatmulDescAttributes_t), sizeof(int));
"""
# Handles are pointers to structures in the header but void pointers here, and enums are integers here.
FUNCTIONS = """
#define CUBLASLT(name, result, parameters) void *use_##name(void); void *use_##name(void) { return (void *)name; }
CUBLASLT_FUNCTIONS
"""


def program():
    lines = ["#include <stddef.h>", "#include <cublasLt.h>"]
    lines += ["enum { THEIR_%s = %s };" % (name, name) for name in TYPES]
    lines += ["#define %s OUR_%s" % (name, name) for name in TYPES]
    lines.append('#include "bench/engines/cublaslt_types.h"')
    pairs = [("THEIR_" + name, "OUR_" + name) for name in TYPES] + [(b, a) for a, b in OTHERS.items()]
    lines += ['_Static_assert((int)%s == (int)%s, "%s");' % (theirs, ours, ours) for theirs, ours in pairs]
    return "\n".join(lines) + STRUCTURES + FUNCTIONS


def main():
    source, compiler = sys.argv[1], sys.argv[2:]
    folder = next((f for f in FOLDERS if os.path.exists(os.path.join(f, "cublasLt.h"))), None)
    if not folder:
        print("skipped: no cublasLt.h")
        return SKIP
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "check.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program())
        command = compiler + ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-isystem", folder,
                              "-I" + os.path.join(source, "src"), path]
        done = subprocess.run(command, check=False)
    print("cuBLASLt's types: %s" % ("wrong" if done.returncode else "as in " + folder))
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
