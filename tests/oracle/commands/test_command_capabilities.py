#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The CUDA rows of capabilities.def against ptxas: an instruction that a row names must assemble for the compute
capabilities of the row, and for none just outside its range.

usage: test_command_capabilities.py FOLDER_OF_SOURCES [PTXAS]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# compute capability x 10: the target with all of its instructions
TARGETS = {75: "75", 80: "80", 89: "89", 90: "90a", 100: "100a", 103: "103a", 110: "110a", 120: "120a", 121: "121a"}
known = {}
INTEGERS = ".reg .b32 a; .reg .s32 c<4>; ld.global.b32 a,[p]; ld.global.v4.s32 {c0,c1,c2,c3},[p+16];"
FLOATS = ".reg .b32 a; .reg .f32 c<4>; ld.global.b32 a,[p]; ld.global.v4.f32 {c0,c1,c2,c3},[p+16];"
TILES = ".reg .b32 t; .reg .b64 d; .reg .pred q; ld.global.b32 t,[p]; ld.global.b64 d,[p]; setp.eq.u32 q,t,0;"


def mma(shape, kind, dtype):
    return (FLOATS + "mma.sync.aligned.%s.row.col%s.f32.%s.%s.f32 {c0,c1,c2,c3},{a,a,a,a},{a,a},{c0,c1,c2,c3};"
            "st.global.f32 [p],c0;" % (shape, kind, dtype, dtype))


def small_mma(shape, dtype):
    return (INTEGERS + "mma.sync.aligned.%s.row.col.s32.%s.%s.s32 {c0,c1},{a},{a},{c0,c1}; st.global.s32 [p],c0;"
            % (shape, dtype, dtype))


def two(name, kind, more=""):
    return ".reg .b%s a; ld.global.b%s a,[p]; %s a,a,a%s; st.global.b%s [p],a;" % (kind, kind, name, more, kind)


def convert(name):
    """Converts one or two fp32 numbers into a result register."""
    bits = 8 if "e2m1x2" in name else 16 if "x2" in name or "bf16" in name or ".f16." in name else 32
    operands = "a,a" if "x2" in name else "a"
    head = ".reg .f32 a; .reg .b16 h; .reg .b32 w; ld.global.f32 a,[p]; "
    if bits == 8:
        return head + "{ .reg .b8 o; %s o,%s; cvt.u16.u8 h,o; } st.global.b16 [p],h;" % (name, operands)
    out = "h" if bits == 16 else "w"
    return head + "%s %s,%s; st.global.b%d [p],%s;" % (name, out, operands, bits, out)


# keyed by the dtype of a row and a word of its source
PROGRAMS = {
    ("FP64", "fma.f64"): ".reg .f64 a; ld.global.f64 a,[p]; fma.rn.f64 a,a,a,a; st.global.f64 [p],a;",
    ("FP32", "fma.f32"): ".reg .f32 a; ld.global.f32 a,[p]; fma.rn.f32 a,a,a,a; st.global.f32 [p],a;",
    ("FP16", "fma.f16x2"): two("fma.rn.f16x2", 32, ",a"),
    ("FP16", "cvt.f16.f32"): convert("cvt.rn.f16.f32"),
    ("FP16", "wmma.mma"): (
        ".reg .b32 a; .reg .f32 c<8>; ld.global.b32 a,[p]; ld.global.v4.f32 {c0,c1,c2,c3},[p];"
        "ld.global.v4.f32 {c4,c5,c6,c7},[p+16];"
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {c0,c1,c2,c3,c4,c5,c6,c7},{a,a,a,a,a,a,a,a},"
        "{a,a,a,a,a,a,a,a},{c0,c1,c2,c3,c4,c5,c6,c7}; st.global.f32 [p],c0;"),
    ("TF32", "cvt.rna.tf32.f32"): convert("cvt.rna.tf32.f32"),
    ("BF16", "cvt.rn.bf16.f32"): convert("cvt.rn.bf16.f32"),
    ("BF16", "mma"): mma("m16n8k16", "", "bf16"),
    ("FP8_E5M2", "cvt.rn.satfinite.e5m2x2.f32"): convert("cvt.rn.satfinite.e5m2x2.f32"),
    ("FP8_E4M3FN", "cvt.rn.satfinite.e4m3x2.f32"): convert("cvt.rn.satfinite.e4m3x2.f32"),
    ("TF32", "mma"): mma("m16n8k8", "", "tf32"),
    ("BF16", "fma.bf16x2"): two("fma.rn.bf16x2", 32, ",a"),
    ("BF16", "mul.bf16x2"): two("mul.rn.bf16x2", 32),
    ("FP8_E5M2", "mma"): mma("m16n8k32", "", "e5m2"),
    ("FP8_E4M3FN", "mma"): mma("m16n8k32", "", "e4m3"),
    ("INT8", "mma"): small_mma("m8n8k16", "s8"),
    ("INT4", "mma"): small_mma("m8n8k32", "s4"),
}
for ours, theirs in (("FP6_E3M2", "e3m2"), ("FP6_E2M3", "e2m3"), ("FP4_E2M1", "e2m1")):
    PROGRAMS[ours, "tcgen05.mma"] = TILES + "tcgen05.mma.cta_group::1.kind::f8f6f4 [t],d,d,t,q;"
    PROGRAMS[ours, "cvt.rn.satfinite.%sx2.f32" % theirs] = convert("cvt.rn.satfinite.%sx2.f32" % theirs)
    PROGRAMS[ours, "mma"] = mma("m16n8k32", ".kind::f8f6f4", theirs)


def assemble(ptxas, folder, body, target):
    """The size of the machine code; None if it does not assemble."""
    if (body, target) in known:
        return known[body, target]
    source, code = os.path.join(folder, "x.ptx"), os.path.join(folder, "x.cubin")
    pathlib.Path(source).write_text(
        ".version 9.0\n.target sm_%s\n.address_size 64\n.visible .entry k(.param .u64 q0) {\n"
        ".reg .u64 p; ld.param.u64 p,[q0];\n%s\nret; }\n" % (target, body), encoding="ascii")
    done = subprocess.run([ptxas, "-arch=sm_" + target, source, "-o", code], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    known[body, target] = os.path.getsize(code) if done.returncode == 0 else None
    return known[body, target]


def program_of(dtype, source):
    for (wanted, word), body in PROGRAMS.items():
        if wanted == dtype and re.search(r"(?<![\w.])" + re.escape(word) + r"(?![\w.]*\.)", source.split(": ", 1)[1]):
            return body
    return None


def main():
    rows = re.findall(r'^GPU_CAPABLE\((\d+), +(\d+), +(\w+), +(\w+), +"([^"]+)"\)',
                      pathlib.Path(sys.argv[1], "src/devices/machine/capabilities.def").read_text(encoding="utf-8"),
                      flags=re.MULTILINE)
    ptxas = shutil.which("ptxas", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin"]))
    if not ptxas:
        print("skipped: ptxas is not here")
        return SKIPPED
    failures = checks = 0
    with tempfile.TemporaryDirectory(prefix="dtinfo-ptx-") as folder:
        if not assemble(ptxas, folder, PROGRAMS["FP32", "fma.f32"], "121a"):
            print("skipped: ptxas is too old to know compute capability 12.1")
            return SKIPPED
        for first, last, dtype, capability, source in rows:
            if int(last) < min(TARGETS):
                continue
            body = program_of(dtype, source)
            if not body:
                failures += 1
                print("FAILED no program for %s: %s" % (dtype, source))
                continue
            sizes = {number: assemble(ptxas, folder, body, target) for number, target in TARGETS.items()}
            for number, size in sizes.items():
                inside = int(first) <= number <= int(last)
                runs = size is not None
                if "fma.bf16x2" in source:
                    inside = inside or number > int(last)  # the next row adds instructions
                if dtype == "INT4":
                    # without a hardware unit it becomes many instructions: more code than int8 needs
                    other = assemble(ptxas, folder, PROGRAMS["INT8", "mma"], TARGETS[number])
                    runs = runs and size - other < 512
                checks += 1
                if inside != runs:
                    failures += 1
                    print("FAILED %s %s: compute capability %s is %s the row, ptxas %s" %
                          (dtype, source, number / 10, "in" if inside else "outside",
                           "takes it" if size is not None else "refuses it"))
    print("%d rows, %d checks, %d failures" % (len(rows), checks, failures))
    return 1 if failures or checks < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
