#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The translation of LLVM IR against the machine: small C functions run natively on chosen and random inputs, and must give what
the terms give for these inputs. Rows of IR say what must count as undefined, and what must not. No theorem is involved.

Usage: test_symbolic.py. Exit 0 all right, 1 differences, 77 z3 or clang is missing."""
import ctypes
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import z3
except ImportError:
    print("skipped: z3-solver is not installed")
    sys.exit(77)
from llvm_text import Module
from symbolic import Run, negation, wrapped
from theorem import FLAGS, clang, compiled, defined

C = r"""
#include <stdint.h>
#include <string.h>
typedef uint64_t u64;
typedef uint32_t u32;
typedef u32 four __attribute__((vector_size(16)));
typedef float floats __attribute__((vector_size(16)));
static float f32(u64 bits) { u32 low = (u32)bits; float x; memcpy(&x, &low, 4); return x; }
static double f64(u64 bits) { double x; memcpy(&x, &bits, 8); return x; }
static u64 b32(float x) { u32 bits; if (x != x) return 0x7fc00000; memcpy(&bits, &x, 4); return bits; }
static u64 b64(double x) { u64 bits; if (x != x) return 0x7ff8000000000000; memcpy(&bits, &x, 8); return bits; }
u64 sums(u64 a, u64 b) { return (a + b) * (a - b) ^ (a * 3 & b) | (a & ~b); }
u64 quotients(u64 a, u64 b) { return a / (b | 1) + a % (b | 1); }
u64 signed_quotients(u64 a, u64 b) { int32_t x = (int32_t)a >> 1, y = (int32_t)b | 1; return (u64)(int64_t)(x / y) + (u64)(x % y); }
u64 shifts(u64 a, u64 b) { return (a << (b & 63)) ^ (a >> (b >> 8 & 63)) ^ (u64)((int64_t)a >> (b >> 16 & 63)); }
u64 turns(u64 a, u64 b) { u32 n = b & 31; u32 x = (u32)a; return (x << n | x >> (-n & 31)) ^ (a << (b & 63) | a >> (-b & 63)); }
u64 counts(u64 a, u64 b) { return a == 0 ? 7 : (u64)(__builtin_clzll(a) * 4096 + __builtin_ctzll(a) * 64 + __builtin_popcountll(a ^ b)); }
u64 turned(u64 a, u64 b) { return __builtin_bswap64(a) ^ __builtin_bswap32((u32)b) ^ __builtin_bswap16((uint16_t)a); }
u64 extremes(u64 a, u64 b) { int32_t x = (int32_t)a, y = (int32_t)b; u64 m = a > b ? a : b; return m ^ (u32)(x < y ? x : y) ^ (u64)(x < 0 ? -(int64_t)x : x); }
u64 overflows(u64 a, u64 b) { int32_t s; u32 u; u64 p; int f = __builtin_add_overflow((int32_t)a, (int32_t)b, &s), g = __builtin_sub_overflow((u32)a, (u32)b, &u), h = __builtin_mul_overflow(a, b, &p); return (u64)(u32)s + u + p + (u64)(f + 2 * g + 4 * h); }
u64 wide(u64 a, u64 b) { unsigned __int128 p = (unsigned __int128)a * b; return (u64)(p >> 64) ^ (u64)p; }
u64 branches(u64 a, u64 b) { u64 r = 1; if (a > b) { r = a - b; if (r & 1) r += b * 3; else if (b & 2) return 5; } else if (a == b || (b & 4 && a & 8)) { r = 17 * a; } return r ^ a; }
u64 chosen(u64 a, u64 b) { switch (a & 7) { case 0: return b; case 1: return b * 5 + 1; case 2: b ^= 99; break; case 5: b = ~b; break; case 6: return 3; default: b += a; } return b * 2; }
u64 rounds(u64 a, u64 b) { for (int i = 0; i < 10; i++) { if (a & 1) a ^= b; a = a * 6364136223846793005ull + 1; b = (b >> 1) + (u64)i; } return a; }
static const uint16_t table[13] = {5, 3, 65535, 9, 0, 77, 1000, 2, 8, 6, 4, 1, 12345};
static const uint8_t codes[8] = {200, 1, 3, 7, 15, 31, 63, 127};
u64 read(u64 a, u64 b) { return a % 16 < 13 ? table[a % 16] : codes[b & 7]; }
u64 memory(u64 a, u64 b) { struct { uint8_t x; u32 y; uint16_t z[3]; u64 w; } s; unsigned char bytes[sizeof s]; memset(&s, 0, sizeof s); s.x = (uint8_t)a; s.y = (u32)b; s.z[1] = (uint16_t)(a >> 9); s.w = a * b; if (a & 1) s.z[2] = 7; memcpy(bytes, &s, sizeof s); u64 r = 0; for (unsigned i = 0; i < sizeof s; i++) r = r * 31 + bytes[i]; return r; }
u64 vectors(u64 a, u64 b) { four x = {(u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32)}, y = __builtin_shufflevector(x, x, 3, 1, 6, 0); four m = (four)(x > y), z = (m & (x - y)) | (~m & x * y); z ^= x << (y & 31); return ((u64)z[0] + z[1]) ^ ((u64)z[2] << 32 | z[3]); }
u64 float_vectors(u64 a, u64 b) { floats x = {f32(a), f32(b), 1.5f, f32(a >> 32)}, y = x * 0.5f + x; return (y[0] == y[0] ? b32(y[0]) : 1) ^ b32(y[1]) << 1 ^ b32(y[2]) << 2 ^ b32(y[3]) << 3; }
u64 float_sums(u64 a, u64 b) { return b32(f32(a) + f32(b)) ^ b32(f32(a) * f32(b)) << 1 ^ b32(f32(a) / f32(b)) << 2 ^ b32(f32(a) - f32(b)) << 3; }
u64 double_sums(u64 a, u64 b) { return b64(f64(a) + f64(b)); }
u64 fused(u64 a, u64 b) { return b32(__builtin_fmaf(f32(a), f32(b), f32(a ^ b << 7))); }
u64 roots(u64 a, u64 b) { return b32(__builtin_sqrtf(__builtin_fabsf(f32(a)))) ^ b32(__builtin_copysignf(f32(a), f32(b))) << 1; }
u64 compared(u64 a, u64 b) { float x = f32(a), y = f32(b); return (u64)((x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * !(x >= y)); }
u64 narrowed(u64 a, u64 b) { return b32((float)f64(a)) ^ b64((double)f32(b)); }
u64 of_integers(u64 a, u64 b) { return b32((float)(int32_t)a) ^ b32((float)(u32)b) << 1 ^ b64((double)(int64_t)(a ^ b)) ^ b64((double)a) << 1; }
u64 to_integers(u64 a, u64 b) { float x = f32(a); double y = f64(b); u64 r = 0; if (x > -2147483904.f && x < 2147483648.f) r = (u64)(int32_t)x; if (y > -1. && y < 18446744073709551616.) r ^= (u64)y << 1; return r; }
"""
STRICT = ("-fno-math-errno",)  # roots are instructions, not calls
NAMES = ["sums", "quotients", "signed_quotients", "shifts", "turns", "counts", "turned", "extremes", "overflows", "wide", "branches",
         "chosen", "rounds", "read", "memory", "vectors", "float_vectors", "float_sums", "double_sums", "fused", "roots", "compared",
         "narrowed", "of_integers", "to_integers"]
EDGES = [0, 1, 2, 3, 0x7f, 0x80, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7f800000, 0xff800000, 0x7fc00001, 0x3f800000,
         0x00800000, 0x807fffff, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff8000000000001, 0x8000000000000000, (1 << 64) - 1]
# (name, parameters, body in IR, arguments, whether LLVM leaves it undefined)
IR = [
    ("shl", "i32 %a, i32 %b", "%r = shl i32 %a, %b", [1, 31], False), ("shl", "", "", [1, 32], True),
    ("lshr", "i8 %a, i8 %b", "%r = lshr i8 %a, %b", [200, 7], False), ("lshr", "", "", [200, 8], True),
    ("add_nsw", "i32 %a, i32 %b", "%r = add nsw i32 %a, %b", [0x7fffffff, 0], False), ("add_nsw", "", "", [0x7fffffff, 1], True),
    ("sub_nuw", "i8 %a, i8 %b", "%r = sub nuw i8 %a, %b", [5, 5], False), ("sub_nuw", "", "", [5, 6], True),
    ("mul_nsw", "i16 %a, i16 %b", "%r = mul nsw i16 %a, %b", [181, 181], False), ("mul_nsw", "", "", [182, 181], True),
    ("mul_nuw", "i16 %a, i16 %b", "%r = mul nuw i16 %a, %b", [255, 257], False), ("mul_nuw", "", "", [256, 256], True),
    ("shl_nuw", "i8 %a, i8 %b", "%r = shl nuw i8 %a, %b", [3, 6], False), ("shl_nuw", "", "", [3, 7], True),
    ("shl_nsw", "i8 %a, i8 %b", "%r = shl nsw i8 %a, %b", [3, 5], False), ("shl_nsw", "", "", [3, 6], True),
    ("exact", "i8 %a, i8 %b", "%r = lshr exact i8 %a, %b", [12, 2], False), ("exact", "", "", [12, 3], True),
    ("udiv", "i8 %a, i8 %b", "%r = udiv i8 %a, %b", [9, 2], False), ("udiv", "", "", [9, 0], True),
    ("sdiv", "i8 %a, i8 %b", "%r = sdiv i8 %a, %b", [128, 254], False), ("sdiv", "", "", [128, 255], True),
    ("frozen", "i8 %a, i8 %b", "%s = shl i8 %a, %b\n%r = freeze i8 %s", [1, 9], False),
    ("select", "i8 %a, i8 %b", "%s = shl i8 %a, %b\n%c = icmp ult i8 %b, 8\n%r = select i1 %c, i8 %s, i8 0", [1, 9], False),
    ("used", "i8 %a, i8 %b", "%s = shl i8 %a, %b\n%c = icmp ult i8 %b, 8\n%r = select i1 %c, i8 0, i8 %s", [1, 9], True),
    ("branch", "i8 %a, i8 %b", "%s = add nuw i8 %a, %b\n%c = icmp eq i8 %s, 0\nbr i1 %c, label %x, label %y\nx:\nbr label %y\ny:\n"
     "%r = phi i8 [ 1, %x ], [ 2, %0 ]", [255, 0], False), ("branch", "", "", [255, 1], True),
    ("switched", "i8 %a, i8 %b", "switch i8 %a, label %y [\n  i8 3, label %x\n  i8 4, label %y\n]\nx:\nunreachable\ny:\n%r = add i8 %b, 0",
     [4, 1], False), ("switched", "", "", [3, 1], True),
    ("outside", "i8 %a, i8 %b", "%i = zext i8 %a to i64\n%p = getelementptr inbounds [3 x i8], ptr @t, i64 0, i64 %i\n%r = load i8, ptr %p",
     [2, 0], False), ("outside", "", "", [3, 0], True),
    ("unwritten", "i8 %a, i8 %b", "%p = alloca i8\n%c = icmp eq i8 %a, 1\nbr i1 %c, label %x, label %y\nx:\nstore i8 %b, ptr %p\n"
     "br label %y\ny:\n%r = load i8, ptr %p", [1, 7], False), ("unwritten", "", "", [2, 7], True),
    ("to_integer", "float %a, i8 %b", "%r = fptosi float %a to i8", [0x42fe0000, 0], False),  # 127
    ("to_integer", "", "", [0x43000000, 0], True),  # 128
    ("assumed", "i8 %a, i8 %b", "%c = icmp ult i8 %a, 9\ncall void @llvm.assume(i1 %c)\n%r = add i8 %a, %b", [8, 0], False),
    ("assumed", "", "", [9, 0], True),
]


def library(folder):
    """The functions as the machine runs them."""
    source, target = folder / "functions.c", folder / "functions.so"
    source.write_text(C)
    subprocess.run([clang(), *FLAGS, *STRICT, "-shared", "-fPIC", str(source), "-o", str(target), "-lm"], check=True)
    return ctypes.CDLL(str(target))


def value_of(term, axioms):
    """The value of a closed term, None if the axioms leave several."""
    if not axioms:
        return z3.simplify(term).as_long()
    solver = z3.Solver()
    solver.add(*axioms)
    if solver.check() != z3.sat:
        return None
    found = solver.model().eval(term, model_completion=True).as_long()
    solver.add(term != found)
    return found if solver.check() == z3.unsat else None


def machine(count):
    """Differences between terms and machine."""
    differences, checked = 0, 0
    module, draw = compiled(C, STRICT), random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        native = library(pathlib.Path(folder))
        for name in NAMES:
            function = getattr(native, name)
            function.restype, function.argtypes = ctypes.c_uint64, [ctypes.c_uint64] * 2
            run, inputs = Run(module), [z3.BitVec("a", 64), z3.BitVec("b", 64)]
            result = run.call(name, inputs)
            pairs = [(a, b) for a in EDGES for b in draw.sample(EDGES, 2)]
            pairs += [(draw.getrandbits(64) >> draw.choice((0, 0, 32, 56)), draw.getrandbits(64)) for _ in range(count)]
            for pair in pairs:
                known = [(variable, z3.BitVecVal(number, 64)) for variable, number in zip(inputs, pair)]
                wrong = [z3.substitute(each, *known) for each in run.undefined + [negation(defined(result))]]
                got = value_of(z3.substitute(result.bits, *known), [z3.substitute(each, *known) for each in run.axioms])
                reached = any(not z3.is_false(z3.simplify(each)) for each in wrong) if not run.axioms else False
                want, checked = function(*pair), checked + 1
                if got != want or reached:
                    differences += 1
                    print("%s(%#x, %#x): the machine gives %#x, the terms %s%s" % (
                        name, *pair, want, got if got is None else hex(got), ", undefined" if reached else ""))
    return differences, checked


def undefined():
    """Differences in what counts as undefined."""
    differences, known = 0, {}
    for name, parameters, body, arguments, wanted in IR:
        if body:
            width = body.rsplit("%r = ", 1)[1]
            kind = width.split(" to ")[1] if " to " in width else next(word.strip(",") for word in width.split() if word.strip(",")[1:].isdigit())
            known[name] = Module("@t = private constant [3 x i8] c\"\\01\\02\\03\"\ndefine %s @f(%s) {\n%s\nret %s %%r\n}\n" % (
                kind, parameters, body, kind)), [int(word[1:]) if word[0] == "i" else 32 for word in parameters.split()[::2]]
        module, widths = known[name]
        run = Run(module)
        result = run.call("f", [wrapped(z3.BitVecVal(number, width)) for number, width in zip(arguments, widths)])
        solver = z3.Solver()
        solver.add(*run.axioms)
        poisoned = [] if result is None else [negation(defined(result))]  # None: no place returns
        solver.add(z3.Or(z3.BoolVal(False), *poisoned, *run.undefined))
        found = solver.check() == z3.sat
        if found != wanted:
            differences += 1
            print("%s%s is %sundefined for the translation" % (name, tuple(arguments), "" if found else "not "))
    return differences, len(IR)


def main():
    if clang() is None:
        print("skipped: there is no clang")
        return 77
    (one, checked), (two, rows) = machine(40), undefined()
    print("%d results and %d rows of undefined behaviour, %d differences" % (checked, rows, one + two))
    return 1 if one + two else 0


if __name__ == "__main__":
    sys.exit(main())
