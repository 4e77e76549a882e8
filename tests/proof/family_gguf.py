# SPDX-License-Identifier: MIT
"""GGUF's decoders as compiled: for all bytes of a block, each output is the number that ggml's formula gives, by the same
operations on fp32 in the same order. A code d (q - 8) is proved to have the right bits of the block in q, the right scale and
minimum, one conversion of the integer, one product, and so on; what these operations of fp32 give is not looked at (any function
of their operands would do). The conversion of fp16, which the machine may have as an instruction, is a theorem of its own, for all
65,536 codes. The formulas are those of ggml-quants.c's dequantize_row functions."""
import ctypes
import pathlib
import struct
import subprocess
import tempfile

import z3

from seeded import Bug, native
from structural import Structural, array, integer, multiply, same, space, subtract, written
from symbolic import Run, Scalar, as_float, sort_of
from theorem import Claim, Theorem, compiled, defined

FAMILY = "GGUF's decoders do the arithmetic of the formulas, operation by operation, for all bytes of a block; every fp16"
SOURCE = '''
#include <stdint.h>
extern float half_of(uint32_t bits);
#define GGUF_HALF_OF(bits) half_of(bits)
#include "kernels/gguf/gguf_lanes_grid.h"
#include "kernels/gguf/gguf_lanes_k.h"
#define GGUF_DTYPE(...)
#define GGUF_BLOCKS(id, name, word, elements, bytes, group, others, unit, minima) \\
    void decode_##word(float *x, const unsigned char *p)                         \\
    {                                                                             \\
        struct gguf_block block;                                                  \\
        word(&block, p);                                                          \\
        gguf_multiply(x, &block, elements, group, unit, minima);                  \\
    }
#include "core/dtype/gguf_types.def"
'''
HALF = '''
#include "kernels/gguf/gguf_lanes.h"
float half(uint32_t bits) { return gguf_half_of(bits); }
'''


def nibble(byte, high):
    return z3.Extract(7, 4, byte) if high else z3.Extract(3, 0, byte)


def wide(bits, width=8):
    return z3.ZeroExt(width - bits.size(), bits)


def half(low, high):
    """The fp32 number of an fp16 one: unexplained."""
    return z3.Function("half", z3.BitVecSort(16), z3.BitVecSort(32))(z3.Concat(high, low))


def negated(bits):
    return bits ^ (1 << 31)


# What each output is, from the block's bytes.


def q4_0(p):
    d = half(p[0], p[1])
    return [multiply(integer(wide(nibble(p[2 + i % 16], i // 16)) - 8), d) for i in range(32)]


def q4_1(p):
    d, m = half(p[0], p[1]), half(p[2], p[3])
    return [subtract(multiply(integer(wide(nibble(p[4 + i % 16], i // 16))), d), negated(m)) for i in range(32)]


def fifth(p, at, i):
    return z3.Extract(i % 8, i % 8, p[at + i // 8])


def q5_0(p):
    d = half(p[0], p[1])
    return [multiply(integer(wide(z3.Concat(fifth(p, 2, i), nibble(p[6 + i % 16], i // 16))) - 16), d) for i in range(32)]


def q5_1(p):
    d, m = half(p[0], p[1]), half(p[2], p[3])
    return [subtract(multiply(integer(wide(z3.Concat(fifth(p, 4, i), nibble(p[8 + i % 16], i // 16)))), d), negated(m))
            for i in range(32)]


def q8_0(p):
    d = half(p[0], p[1])
    return [multiply(integer(p[2 + i]), d) for i in range(32)]


def q8_1(p):
    d = half(p[0], p[1])
    return [multiply(integer(p[4 + i]), d) for i in range(32)]


def pair(byte, k):
    return z3.Extract(2 * k + 1, 2 * k, byte)


def q2_k(p):
    d, least, found = half(p[80], p[81]), half(p[82], p[83]), []
    for i in range(256):
        scale, n, r = p[i // 16], i // 128, i % 128
        code = pair(p[16 + 32 * n + r % 32], r // 32)
        found.append(subtract(multiply(integer(wide(code)), multiply(d, integer(wide(nibble(scale, 0))))),
                              multiply(least, integer(wide(nibble(scale, 1))))))
    return found


def q3_k(p):
    d, found = half(p[108], p[109]), []
    for i in range(256):
        g, n, r = i // 16, i // 128, i % 128
        scale = wide(z3.Concat(pair(p[104 + g % 4], g // 4), nibble(p[96 + g % 8], g // 8))) - 32
        third = z3.Extract(i // 32, i // 32, p[i % 32])
        # ggml subtracts 4 where the bit of hmask is 0: the same as the bit's 4, less 4
        code = wide(z3.Concat(third, pair(p[32 + 32 * n + r % 32], r // 32))) - 4
        found.append(multiply(integer(code), multiply(d, integer(scale))))
    return found


def scale_and_minimum(p, j):
    """ggml's get_scale_min_k4, of the 12 bytes from 4 on."""
    q = p[4:16]
    if j < 4:
        return wide(z3.Extract(5, 0, q[j])), wide(z3.Extract(5, 0, q[j + 4]))
    return (wide(z3.Concat(z3.Extract(7, 6, q[j - 4]), nibble(q[j + 4], 0))),
            wide(z3.Concat(z3.Extract(7, 6, q[j]), nibble(q[j + 4], 1))))


def k_with_minima(p, code_of):
    d, least, found = half(p[0], p[1]), half(p[2], p[3]), []
    for i in range(256):
        scale, minimum = scale_and_minimum(p, i // 32)
        found.append(subtract(multiply(integer(wide(code_of(i))), multiply(d, integer(scale))), multiply(least, integer(minimum))))
    return found


def q4_k(p):
    return k_with_minima(p, lambda i: nibble(p[16 + i // 64 * 32 + i % 32], i // 32 % 2))


def q5_k(p):
    return k_with_minima(p, lambda i: z3.Concat(z3.Extract(i // 32, i // 32, p[16 + i % 32]),
                                                nibble(p[48 + i // 64 * 32 + i % 32], i // 32 % 2)))


def q6_k(p):
    d, found = half(p[208], p[209]), []
    for i in range(256):
        n, r = i // 128, i % 128
        low, high = p[64 * n + r % 64], p[128 + 32 * n + r % 32]
        code = wide(z3.Concat(pair(high, r // 32), nibble(low, r // 64))) - 32
        found.append(multiply(integer(code), multiply(d, integer(p[192 + i // 16]))))
    return found


NONLINEAR = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


def choose(index, table):
    found = z3.BitVecVal(table[-1], 8)
    for i in range(len(table) - 2, -1, -1):
        found = z3.If(index == i, z3.BitVecVal(table[i], 8), found)
    return found


def iq4_nl(p):
    d = half(p[0], p[1])
    return [multiply(integer(choose(nibble(p[2 + i % 16], i // 16), NONLINEAR)), d) for i in range(32)]


def tq2_0(p):
    d = half(p[64], p[65])
    return [multiply(integer(wide(pair(p[i // 128 * 32 + i % 32], i % 128 // 32)) - 1), d) for i in range(256)]


TYPES = {"q4_0": (32, 18, q4_0), "q4_1": (32, 20, q4_1), "q5_0": (32, 22, q5_0), "q5_1": (32, 24, q5_1), "q8_0": (32, 34, q8_0),
         "q8_1": (32, 36, q8_1), "q2_k": (256, 84, q2_k), "q3_k": (256, 110, q3_k), "q4_k": (256, 144, q4_k),
         "q5_k": (256, 176, q5_k), "q6_k": (256, 210, q6_k), "iq4_nl": (32, 18, iq4_nl), "tq2_0": (256, 66, tq2_0)}


def stored_half(run, _kind, arguments, path):
    bits = arguments[0].bits
    return Scalar(half(z3.Extract(7, 0, bits), z3.Extract(15, 8, bits)), arguments[0].poison)


def decoder(name):
    def claim():
        elements, size, formula = TYPES[name]
        run = Structural(compiled(SOURCE), calls={"half_of": stored_half})
        data, block = array(run, "byte", size, 8)
        run.call("decode_" + name, [space(run, "x", 4 * elements), block])
        found, want = written(run, "x", 32), formula(data)
        goal = z3.And(defined(found), *[same(one.bits, other) for one, other in zip(found, want, strict=True)])
        return Claim(run, dict(zip(map(str, data), data)), goal)
    return claim


def half_number():
    run, code = Run(compiled(HALF)), z3.BitVec("code", 16)
    found = run.call("half", [z3.ZeroExt(16, code)])
    exact = z3.fpFPToFP(z3.RNE(), as_float(code), sort_of(32))
    goal = z3.And(defined(found), as_float(found.bits) == exact, z3.Extract(31, 31, found.bits) == z3.Extract(15, 15, code))
    return Claim(run, {"code": code}, goal)


def theorems(sample):
    yield Theorem("gguf", "fp16 to fp32, all codes", half_number)
    for name in ("q4_0", "q4_k") if sample else TYPES:
        yield Theorem("gguf", "%s: ggml's formula" % name, decoder(name))


Q4_K = '''
#include "kernels/gguf/gguf_lanes_k.h"
void decode_q4_k(float *x, const unsigned char *p)
{
    struct gguf_block block;
    q4_k(&block, p);
    gguf_multiply(x, &block, 256, 32, 1, true);
}
'''


def dequantized(program, kind, elements, block):
    """The numbers that the program makes of a file with one block."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q", 1) + b"w" + struct.pack("<IQIQ", 1, elements, kind, 0)
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder) / "one.gguf", pathlib.Path(folder) / "one.npy"
        given.write_bytes(head + bytes(-len(head) % 32) + block)
        subprocess.run([program, "quant", str(given), "--dequant", "fp32", "-o", str(made)], check=True, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
        return struct.unpack("<%df" % elements, made.read_bytes()[-4 * elements:])


def exact_q4_k(block):
    """In doubles, which hold these products and differences; rounded to fp32 at the end."""
    d, least = struct.unpack("<ee", block[:4])
    scales, found = block[4:16], []
    for i in range(256):
        j = i // 32
        scale = scales[j] & 63 if j < 4 else scales[j + 4] & 15 | scales[j - 4] >> 6 << 4
        minimum = scales[j + 4] & 63 if j < 4 else scales[j + 4] >> 4 | scales[j] >> 6 << 4
        code = block[16 + i // 64 * 32 + i % 32] >> 4 * (i // 32 % 2) & 15
        found.append(struct.unpack("<f", struct.pack("<f", d * scale * code - least * minimum))[0])
    return found


def q4_k_shown(inputs, program):
    """The first number that differs."""
    block = bytes(inputs["byte%d" % i] for i in range(144))
    with native(Q4_K) as code:
        target = (ctypes.c_float * 256)()
        code.decode_q4_k(target, block)
        wrong = list(target)
    ours, exact = dequantized(program, 12, 256, block), exact_q4_k(block)
    at = next((i for i in range(256) if wrong[i] != exact[i]), 0)
    return wrong[at], ours[at] if list(ours) == exact else ours, exact[at]


PLAIN = dict({"byte%d" % i: 0x11 for i in range(16, 144)}, byte0=0, byte1=0x3c, byte2=0, byte3=0x38)  # d 1, dmin 1/2, codes 1
SEEDED = (
    Bug("the high bits of a scale are one place too low", "kernels/gguf/gguf_lanes_k.h", "b[g] >> 6 << 4;", "b[g] >> 6 << 3;",
        "q4_k: ggml's formula", PLAIN, q4_k_shown),
)
