#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`devices --arch` for AMD architectures against LLVM's assembler, as shipped with triton: a fact is in the table if
and only if the assembler accepts an instruction for it.

usage: test_command_amd_instructions.py DTINFO
"""
import json
import os
import subprocess
import sys

SKIPPED = 77
TARGETS = {"CDNA 1": "gfx908", "CDNA 2": "gfx90a", "CDNA 3": "gfx942", "CDNA 4": "gfx950", "RDNA 3": "gfx1100",
           "RDNA 3.5": "gfx1150", "RDNA 4": "gfx1200"}
# fp8 on gfx942 is FNUZ (CDNA3 ISA, 7.1); on the others it is OCP.
FNUZ = {"gfx942": {"fp8_e4m3fn": "fp8_e4m3fnuz", "fp8_e5m2": "fp8_e5m2fnuz"}}
# spellings of an instruction in successive generations; one is enough
INSTRUCTIONS = {
    ("fp64", "arithmetic"): ["v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]"],
    ("fp32", "arithmetic"): ["v_fma_f32 v0, v1, v2, v3"],
    ("fp16", "arithmetic"): ["v_pk_fma_f16 v0, v1, v2, v3"],
    ("bf16", "arithmetic"): ["v_pk_fma_bf16 v0, v1, v2, v3"],
    ("fp64", "matrix"): ["v_mfma_f64_16x16x4f64 v[0:7], v[8:9], v[10:11], v[0:7]"],
    ("fp32", "matrix"): ["v_mfma_f32_16x16x4f32 a[0:3], v4, v5, a[0:3]"],
    ("tf32", "matrix"): ["v_mfma_f32_16x16x8_xf32 v[0:3], v[4:5], v[6:7], v[0:3]"],
    ("fp16", "matrix"): ["v_mfma_f32_16x16x16f16 a[0:3], v[4:5], v[6:7], a[0:3]",
                         "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]",
                         "v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]"],
    ("bf16", "matrix"): ["v_mfma_f32_16x16x8bf16 a[0:3], v4, v5, a[0:3]",
                         "v_mfma_f32_16x16x16_bf16 a[0:3], v[4:5], v[6:7], a[0:3]",
                         "v_wmma_f32_16x16x16_bf16 v[0:7], v[8:15], v[16:23], v[0:7]",
                         "v_wmma_f32_16x16x16_bf16 v[0:7], v[8:11], v[12:15], v[0:7]"],
    ("int8", "matrix"): ["v_mfma_i32_16x16x16i8 a[0:3], v4, v5, a[0:3]",
                         "v_mfma_i32_16x16x32_i8 a[0:3], v[4:5], v[6:7], a[0:3]",
                         "v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[12:15], v[0:7]",
                         "v_wmma_i32_16x16x16_iu8 v[0:7], v[8:9], v[10:11], v[0:7]"],
    ("int4", "matrix"): ["v_dot8_i32_i4 v0, v1, v2, v3", "v_wmma_i32_16x16x16_iu4 v[0:7], v8, v9, v[0:7]"],
    ("fp8_e4m3fn", "matrix"): ["v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], v[0:3]",
                               "v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[10:11], v[0:7]"],
    ("fp8_e5m2", "matrix"): ["v_mfma_f32_16x16x32_bf8_bf8 v[0:3], v[4:5], v[6:7], v[0:3]",
                             "v_wmma_f32_16x16x16_bf8_bf8 v[0:7], v[8:9], v[10:11], v[0:7]"],
    # cbsz and blgp select the formats of A and B: 2 fp6_e2m3, 3 fp6_e3m2, 4 fp4
    ("fp6_e2m3", "matrix"): ["v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:9], v[12:17], v[0:3] cbsz:2 blgp:2"],
    ("fp6_e3m2", "matrix"): ["v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:9], v[12:17], v[0:3] cbsz:3 blgp:3"],
    ("fp4_e2m1", "matrix"): ["v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[12:15], v[0:3] cbsz:4 blgp:4"],
    ("fp8_e4m3fn", "conversion"): ["v_cvt_pk_fp8_f32 v0, v1, v2"],
    ("fp8_e5m2", "conversion"): ["v_cvt_pk_bf8_f32 v0, v1, v2"],
    ("bf16", "conversion"): ["v_cvt_pk_bf16_f32 v0, v1, v2"],
    ("fp6_e2m3", "conversion"): ["v_cvt_scalef32_2xpk16_fp6_f32 v[0:5], v[6:21], v[22:37], v38"],
    ("fp6_e3m2", "conversion"): ["v_cvt_scalef32_2xpk16_bf6_f32 v[0:5], v[6:21], v[22:37], v38"],
    ("fp4_e2m1", "conversion"): ["v_cvt_scalef32_pk_fp4_f32 v0, v1, v2, v3"],
}


def takes(amd, target, line):
    wave = "+wavefrontsize32" if target.startswith("gfx1") else ""
    return len(amd.assemble_amdgcn(line + "\n", "amdgcn-amd-amdhsa", target, wave)) > 0


def main():
    # the assembler reports rejected instructions on standard error
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        from triton._C.libtriton import amd, llvm  # pylint: disable=import-outside-toplevel
        llvm.init_targets()
        if not takes(amd, "gfx950", "v_fma_f32 v0, v1, v2, v3") or takes(amd, "gfx950", "v_nothing v0"):
            raise ImportError("its assembler")
    except (ImportError, TypeError) as error:
        print("skipped: triton with an assembler for gfx950 is not here: %s" % error)
        return SKIPPED
    done = subprocess.run([sys.argv[1], "devices", "--arch", "amd", "--json"], stdout=subprocess.PIPE, check=True)
    failures = checks = 0
    for one in json.loads(done.stdout)["architectures"]:
        target = TARGETS[one["name"]]
        stated = {(fact["dtype"], fact["capability"]) for fact in one["facts"]}
        taken = {(FNUZ.get(target, {}).get(dtype, dtype), what) for (dtype, what), lines in INSTRUCTIONS.items()
                 if any(takes(amd, target, line) for line in lines)}
        checks += len(INSTRUCTIONS)
        for fact in sorted(stated ^ taken):
            failures += 1
            print("FAILED %s: %s %s is %s" % (one["name"], *fact, "in the table only" if fact in stated else
                                              "what %s assembles, but not in the table" % target))
    print("%d checks, %d failures" % (checks, failures))
    return 1 if failures or checks < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
