#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The models of x86.py against the processor: each instruction runs natively on chosen and random inputs, and must give what its
model gives. Instructions that this processor lacks are skipped, by name.

Usage: test_x86.py. Exit 0 all right, 1 differences, 77 z3 or clang is missing, or the processor is another one."""
import collections
import ctypes
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

try:
    import z3
except ImportError:
    print("skipped: z3-solver is not installed")
    sys.exit(77)
from symbolic import Scalar
from theorem import FLAGS, clang, compiled
from vectors import flags
from x86 import X86, X86Run

ROUNDS = 8  # vectors of random inputs for each row
# name, level, what the processor must have, kind of the inputs, the result as C. a, b, c: 64 bytes each.
Row = collections.namedtuple("Row", "name level needs kind text")

PRELUDE = """
#include <immintrin.h>
#define I(p) _mm512_loadu_si512((const void *)(p))
#define S(p) _mm512_loadu_ps((const void *)(p))
#define D(p) _mm512_loadu_pd((const void *)(p))
#define I2(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define S2(p) _mm256_loadu_ps((const void *)(p))
#define D2(p) _mm256_loadu_pd((const void *)(p))
#define I1(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define OUT(x) _mm512_storeu_si512((void *)out, (__m512i)(x))
#define OUT2(x) _mm256_storeu_si256((__m256i *)(void *)out, (__m256i)(x))
#define OUT1(x) _mm_storeu_si128((__m128i *)(void *)out, (__m128i)(x))
"""


def rows():
    found = []

    def add(level, needs, kind, name, text):
        found.append(Row(name, level, needs.split(), kind, text))
    for mode in (0, 1, 2, 3):
        add("avx2", "f16c", "f32", "vcvtps2ph.256 %d" % mode, "OUT1(_mm256_cvtps_ph(S2(a), %d))" % (mode | 8))
        add("avx2", "avx2", "f32", "round.ps.256 %d" % mode, "OUT2(_mm256_round_ps(S2(a), %d))" % (mode | 8))
        add("avx512", "avx512f", "f32", "vcvtps2ph.512 %d" % mode, "OUT2(_mm512_cvtps_ph(S(a), %d))" % (mode | 8))
        add("avx512", "avx512f", "f64", "cvtpd2ps.512 %d" % mode, "OUT2(_mm512_cvt_roundpd_ps(D(a), %d))" % (mode | 8))
        add("avx512", "avx512f", "f32", "cvtps2dq.512 %d" % mode,
            "OUT(_mm512_maskz_cvt_roundps_epi32(0xa5c3, S(a), %d))" % (mode | 8))
        add("avx512", "avx512f", "f32", "cvtps2udq.512 %d" % mode, "OUT(_mm512_cvt_roundps_epu32(S(a), %d))" % (mode | 8))
        add("avx512", "avx512dq", "i", "sitofp.round %d" % mode, "OUT(_mm512_cvt_roundepi64_pd(I(a), %d))" % (mode | 8))
        add("avx512", "avx512dq", "i", "uitofp.round %d" % mode, "OUT(_mm512_cvt_roundepu64_pd(I(a), %d))" % (mode | 8))
    add("avx2", "f16c", "f16", "cvtph2ps (fpext)", "OUT2(_mm256_cvtph_ps(I1(a)))")
    add("avx2", "avx2", "f32", "cvtps2pd (fpext)", "OUT2(_mm256_cvtps_pd((__m128)I1(a)))")
    for name in ("mul", "add"):
        add("avx2", "avx2", "f32", "%s_ps (f%s)" % (name, name), "OUT2(_mm256_%s_ps(S2(a), S2(b)))" % name)
    add("avx2", "avx2", "f64", "avx.cvt.pd2.ps.256", "OUT1(_mm256_cvtpd_ps(D2(a)))")
    add("avx2", "avx2", "f32", "avx.cvtt.ps2dq.256", "OUT2(_mm256_cvttps_epi32(S2(a)))")
    add("avx2", "avx2", "f32", "avx.min.ps.256", "OUT2(_mm256_min_ps(S2(a), S2(b)))")
    add("avx2", "avx2", "f32", "avx.max.ps.256", "OUT2(_mm256_max_ps(S2(a), S2(b)))")
    add("avx512", "avx512f", "f32", "avx512.min.ps.512", "OUT(_mm512_min_ps(S(a), S(b)))")
    add("avx512", "avx512f", "f32", "avx512.max.ps.512", "OUT(_mm512_max_ps(S(a), S(b)))")
    add("avx512", "avx512f", "f32", "avx512.add.ps.512", "OUT(_mm512_add_round_ps(S(a), S(b), 8))")
    add("avx512", "avx512f", "f32", "avx512.vfmadd.ps.512", "OUT(_mm512_fmadd_round_ps(S(a), S(b), S(c), 8))")
    add("avx512vbmi", "avx512_vnni", "i", "avx512.vpdpwssd.512", "OUT(_mm512_dpwssd_epi32(I(a), I(b), I(c)))")
    add("avx512", "avx512dq", "f32", "avx512.mask.range.ps.512", "OUT(_mm512_range_ps(S(a), S(b), 10))")
    add("avx512", "avx512dq", "f64", "avx512.mask.cvttpd2qq.512", "OUT(_mm512_cvttpd_epi64(D(a)))")
    add("avx512", "avx512dq", "f64", "avx512.mask.cvttpd2uqq.512", "OUT(_mm512_cvttpd_epu64(D(a)))")
    add("avx512", "avx512dq", "f32", "avx512.fpclass.ps.512", "OUT1(_mm_set1_epi16((short)_mm512_fpclass_ps_mask(S(a), 0x20)))")
    add("avx512", "avx512dq", "f32", "avx512.fpclass.ps.512, others",
        "OUT1(_mm_set1_epi16((short)_mm512_fpclass_ps_mask(S(a), 0x99)))")
    add("avx512bf16", "avx512_bf16", "f32", "avx512bf16.cvtne2ps2bf16.512", "OUT(_mm512_cvtne2ps_pbh(S(a), S(b)))")
    for name, two, word in (("packssdw", "packs_epi32", "i"), ("packsswb", "packs_epi16", "i"), ("packusdw", "packus_epi32", "i"),
                            ("packuswb", "packus_epi16", "i"), ("pmadd.wd", "madd_epi16", "i"), ("pmadd.ub.sw", "maddubs_epi16", "i"),
                            ("pshuf.b", "shuffle_epi8", "i")):
        add("avx2", "avx2", word, "avx2." + name, "OUT2(_mm256_%s(I2(a), I2(b)))" % two)
        add("avx512", "avx512bw", word, "avx512." + name, "OUT(_mm512_%s(I(a), I(b)))" % two)
    for name, shift in (("avx2.psll.w", "OUT2(_mm256_sll_epi16(I2(a), %s))"), ("avx2.psrl.w", "OUT2(_mm256_srl_epi16(I2(a), %s))"),
                        ("avx512.psrl.w.512", "OUT(_mm512_srl_epi16(I(a), %s))"),
                        ("avx2.psrl.d", "OUT2(_mm256_srl_epi32(I2(a), %s))"), ("avx512.psrl.d.512", "OUT(_mm512_srl_epi32(I(a), %s))"),
                        ("avx512.psrl.q.512", "OUT(_mm512_srl_epi64(I(a), %s))")):
        level, needs = ("avx2", "avx2") if "avx2" in name else ("avx512", "avx512bw")
        add(level, needs, "i", name, shift % "I1(b)")
        add(level, needs, "i", name + ", small", shift % "_mm_and_si128(I1(b), _mm_set_epi64x(-1, 31))")
    add("avx2", "avx2", "i", "avx2.pblendvb", "OUT2(_mm256_blendv_epi8(I2(a), I2(b), I2(c)))")
    add("avx512vbmi", "avx512vbmi", "i", "avx512.permvar.qi.512", "OUT(_mm512_permutexvar_epi8(I(a), I(b)))")
    add("avx512", "avx512f", "i", "avx512.permvar.di.512", "OUT(_mm512_permutexvar_epi64(I(a), I(b)))")
    add("avx512", "avx512bw", "i", "avx512.vpermi2var.hi.512", "OUT(_mm512_permutex2var_epi16(I(a), I(b), I(c)))")
    add("avx512vbmi", "avx512vbmi", "i", "avx512.vpermi2var.qi.512", "OUT(_mm512_permutex2var_epi8(I(a), I(b), I(c)))")
    for table in (0xEA, 0xCA, 0x1B):
        add("avx512", "avx512f", "i", "avx512.pternlog.d.512 %#x" % table, "OUT(_mm512_ternarylogic_epi32(I(a), I(b), I(c), %d))" % table)
        add("avx512", "avx512f", "i", "avx512.pternlog.q.512 %#x" % table, "OUT(_mm512_ternarylogic_epi64(I(a), I(b), I(c), %d))" % table)
    add("avx512vbmi", "avx512vbmi", "i", "avx512.pmultishift.qb.512", "OUT(_mm512_multishift_epi64_epi8(I(a), I(b)))")
    add("avx512vbmi", "avx512_vbmi2", "i", "avx512.mask.compress",
        "OUT(_mm512_mask_compress_epi8(I(a), 0x8421f0f00ff01337ull, I(b)))")
    return found


SPECIAL = {
    "f16": [0, 0x8000, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0xFC00, 0x7C01, 0x7DFF, 0x7E00, 0xFFFF, 0x3C00],
    "f32": [0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFBFFFFF, 0x7FC00000, 0xFFFFFFFF,
            0x3F800000, 0x3F000000, 0x3FC00000, 0x40200000, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F7FFFFF, 0x4F800000,
            0x477FE000, 0x477FF000, 0x477FEFFF, 0x33000000, 0x33000001, 0x387FE000, 0xBF000000, 0xBE99999A, 0x7F7F8000, 0x3F808000,
            0x7F7F7FFF, 0x0000FFFF],
    "f64": [0, 1 << 63, 1, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF0000000000001, 0xFFF7FFFFFFFFFFFF,
            0x7FF8000000000000, 0x43DFFFFFFFFFFFFF, 0x43E0000000000000, 0xC3E0000000000000, 0x43EFFFFFFFFFFFFF, 0x43F0000000000000,
            0x47EFFFFFEFFFFFFF, 0x47EFFFFFF0000000, 0x36A0000000000000, 0x3690000000000001, 0xBFE0000000000000, 0x380FFFFFF0000000],
    "i": [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 63, (1 << 63) - 1, (1 << 64) - 1, (1 << 53) + 1],
}
WIDTH = {"f16": 16, "f32": 32, "f64": 64, "i": 64}


def lane(kind, at, generator):
    """The input for a lane: first the special ones, then numbers of all sizes."""
    if at < len(SPECIAL[kind]):
        return SPECIAL[kind][at]
    width = WIDTH[kind]
    if kind == "i":
        return generator.getrandbits(width) >> generator.choice((0, 0, 11, 33, 50))
    if kind == "f32" and at % 2:
        return struct.unpack("<I", struct.pack("<f", generator.uniform(-300, 300) * 2.0 ** generator.randrange(-30, 31)))[0]
    return generator.getrandbits(width)


def operand(kind, turn, place, generator):
    """64 bytes. turn: the how manieth vector; place: which of the operands, which do not get the same special inputs together."""
    width = WIDTH[kind]
    count, data = 512 // width, b""
    for i in range(count):
        at = turn * count + i
        value = generator.choice(SPECIAL[kind]) if place and at % 3 == 0 else lane(kind, at if place == 0 else 10 ** 6 + at, generator)
        data += value.to_bytes(width // 8, "little")
    return data


def has(needs):
    try:
        words = pathlib.Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False
    return all(each in words for each in needs)


def source(chosen):
    return PRELUDE + "".join("void row%d(unsigned char *out, const unsigned char *a, const unsigned char *b, const unsigned char *c)\n"
                             "{ (void)a, (void)b, (void)c; %s; }\n" % (i, row.text) for i, row in enumerate(chosen))


def modelled(code, index, data):
    """The bytes of the model for these inputs; None for one that belongs to a NaN whose payload the model leaves open."""
    run = X86Run(code)
    places = [run.object(name, [z3.BitVecVal(byte, 8) for byte in each]) for name, each in zip("abc", data)]
    out = run.object("out", [None] * 64)
    run.call("row%d" % index, [out] + places)
    written = {at: byte for at, byte in run.memory["out"].items() if byte is not None}
    if any(not isinstance(byte, Scalar) or byte.poison is not False for byte in written.values()) or run.undefined:
        raise AssertionError("undefined")
    values = []
    for axiom in run.axioms:
        value = z3.simplify(axiom.arg(1))
        if not z3.is_true(z3.simplify(z3.fpIsNaN(value))):
            values.append((axiom.arg(0).arg(0), z3.simplify(z3.fpToIEEEBV(value))))
    found = [z3.simplify(z3.substitute(written[at].bits, *values) if values else written[at].bits) for at in sorted(written)]
    return [each.as_long() if z3.is_bv_value(each) else None for each in found]


def differences(row, library, code, index, generator):
    found = []
    for turn in range(ROUNDS):
        data = [operand(row.kind, turn, place, generator) for place in range(3)]
        out = ctypes.create_string_buffer(64)
        getattr(library, "row%d" % index)(out, *data)
        model = modelled(code, index, data)
        native = list(out.raw[:len(model)])
        for at, (theirs, ours) in enumerate(zip(native, model)):
            if ours is None:  # the model leaves a NaN's payload open: the processor must have one
                ours = theirs if is_nan(native, at - at % 4) else "a NaN"
            if theirs != ours:
                found.append("%s, byte %d: %s by the processor, %s by the model, a = %s, b = %s" % (
                    row.name, at, theirs, ours, data[0].hex(), data[1].hex()))
    return found


def is_nan(native, at):
    return int.from_bytes(bytes(native[at:at + 4]), "little") & 0x7FFFFFFF > 0x7F800000


def untested(code):
    """Names of the table of models that no row's code calls."""
    called = set()
    for each in code:
        for function in each.functions.values():
            for block in function.blocks.values():
                called |= {word[1:] for instruction in block for word in instruction.words if word.startswith("@llvm.")}
    return [name for name in X86 if not any(each == name or each.startswith(name + ".") for each in called)]


def main():
    if clang() is None or not has(["avx2", "f16c"]):
        print("skipped: there is no clang, or this processor has no AVX2 and F16C")
        return 77
    generator, bad, count, skipped, modules = random.Random(34), [], 0, [], []
    for level in ("avx2", "avx512", "avx512vbmi", "avx512bf16"):
        chosen = [row for row in rows() if row.level == level]
        code = compiled(source(chosen), flags(level))
        modules.append(code)
        with tempfile.TemporaryDirectory() as folder:
            text, target = pathlib.Path(folder) / "rows.c", pathlib.Path(folder) / "rows.so"
            text.write_text(source(chosen))
            subprocess.run([clang(), *FLAGS, *flags(level), "-fPIC", "-shared", str(text), "-o", str(target)], check=True)
            library = ctypes.CDLL(str(target))
            for index, row in enumerate(chosen):
                if not has(row.needs):
                    skipped.append(row.name)
                    continue
                bad += differences(row, library, code, index, generator)
                count += 1
    missing = untested(modules)
    for line in bad[:20] + ["no row tests " + name for name in missing]:
        print(line)
    if skipped:
        print("skipped, this processor lacks them:", ", ".join(skipped))
    print("%d rows of instructions, %d vectors each, %d differences" % (count, ROUNDS, len(bad)))
    return 1 if bad or missing else 0


if __name__ == "__main__":
    sys.exit(main())
