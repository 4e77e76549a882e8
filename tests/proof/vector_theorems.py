# SPDX-License-Identifier: MIT
"""The theorems about vector kernels, for both levels: which kernel, which parameters, and what it has to compute.

Each kernel is run for one block, whose lanes are all proved. "lengths": the same for arrays around one and two blocks and of
one element, which pass through the buffer, end with an overlapping block, and must not touch a byte outside of the arrays.
"streamed": the same with streaming stores, which need aligned places. The loop over blocks, which all kernels include, is
proved for every length to three blocks and every alignment by `loop`."""
import collections

import z3

import vector_rules as rules
import vectors
from symbolic import Pointer
from theorem import Claim, Theorem, compiled, defined
from x86 import X86Run

# A cast: its function without the level, its file and units, and a list of Case.
Row = collections.namedtuple("Row", "function file level source_bits target_bits block cases")
Case = collections.namedtuple("Case", "name parameters good")  # parameters: a function, called when its turn comes

HARDWARE = ("nearest-even", "zero", "up", "down")
ALL_MODES = HARDWARE + ("nearest-away", "odd")
SMALL = [name for name, f in rules.formats.FORMATS.items()
         if f.kind == "float" and f.width <= 8 and f.man > 0 and (1 << f.exp) - 1 - f.bias <= 64 and not f.posit and name != "hif8"]
TABLES = [(source, target) for source in ("fp8_e4m3fn", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e5m2fnuz", "fp8_e4m3b11fnuz", "fp8_e3m4", "fp8_e8m0",
                                          "fp6_e3m2", "fp6_e2m3", "fp4_e2m1", "int8", "uint8")
          for target in ("fp32", "bf16", "fp16")] + [
    ("fp8_e5m2", "fp8_e4m3fn"), ("fp8_e4m3fn", "fp8_e4m3fnuz"), ("fp8_e4m3fnuz", "fp8_e4m3fn"), ("fp4_e2m1", "fp8_e4m3fn"),
    ("fp8_e4m3fn", "int8"), ("int8", "fp8_e4m3fn")]


def encodings(source, target, modes, nans=vectors.NANS):
    return [Case("%s, NaN %s" % (mode, nan), lambda m=mode, n=nan: vectors.encoder(target, m, "native", n),
                 lambda m=mode, n=nan: rules.float_to_float(source, target, m, n)) for mode in modes for nan in nans]


def plain(good):
    return [Case("", lambda: vectors.NO_PARAMETERS, lambda: good)]


def small_cases():
    """Each format with each policy that gives other codes."""
    found, known = [], set()
    for name in SMALL:
        for overflow in vectors.OVERFLOWS:
            for nan in vectors.NANS:
                pieces = (name, tuple(rules.small_pieces(name, overflow, nan)))
                if pieces not in known:
                    known.add(pieces)
                    found.append(Case("to %s, overflow %s, NaN %s" % (name, overflow, nan),
                                      lambda f=name, o=overflow, n=nan: vectors.encoder(f, "nearest-even", o, n),
                                      lambda f=name, o=overflow, n=nan: rules.float_to_small(f, o, n)))
    return found


def integer_cases(names):
    return [Case("to %s, %s" % (name, mode), lambda f=name, m=mode: vectors.encoder(f, m),
                 lambda f=name, m=mode: rules.float_to_integer("fp32", int(f.lstrip("uint")), f[0] == "i", m))
            for name in names for mode in HARDWARE]


def table_cases(bits):
    return [Case("%s to %s" % (source, target), lambda s=source, t=target: vectors.table(s, t),
                 lambda s=source, t=target: rules.by_list(rules.code_list(s, t), bits))
            for source, target in TABLES if 8 * container(target) == bits]


def container(name):
    return (rules.formats.FORMATS[name].width + 7) // 8


def swapped(bits):
    return lambda x, code: code == z3.Concat(*[z3.Extract(i + 7, i, x) for i in range(0, bits, 8)])


def unpacked(high_first):
    def good(x, code):
        low, high = z3.Extract(3, 0, x), z3.Extract(7, 4, x)
        first, second = (high, low) if high_first else (low, high)
        return code == z3.Concat(z3.BitVecVal(0, 4), second, z3.BitVecVal(0, 4), first)
    return good


def packed(high_first):
    def good(x, code):
        first, second = z3.Extract(3, 0, x), z3.Extract(11, 8, x)
        return code == (z3.Concat(first, second) if high_first else z3.Concat(second, first))
    return good


def with_bits(bits, high_first=False):
    return lambda: vectors.NO_PARAMETERS._replace(bits=bits, high_first=high_first)


def byte_rows(level):
    orders = ((False, "lowest first"), (True, "highest first"))
    rows = [Row("dti_swap_bytes", "bytes_vector", level, bits, bits, 2048 // bits,
                [Case("%d bytes" % (bits // 8), with_bits(bits // 8), lambda b=bits: swapped(b))]) for bits in (16, 32, 64)]
    rows.append(Row("dti_unpack4", "bytes_vector", level, 8, 16, 64,
                    [Case(words, with_bits(4, high), lambda h=high: unpacked(h)) for high, words in orders]))
    rows.append(Row("dti_pack4", "bytes_vector", level, 16, 8, 64,
                    [Case(words, with_bits(4, high), lambda h=high: packed(h)) for high, words in orders]))
    return rows


def common_rows(level):
    """The kernels that both levels have."""
    odd = [Row(function, file, level, bits, target, 32, plain(good)) for function, file, bits, target, good in (
        ("dti_fp64_to_fp32_odd", vectors.odd_file(level), 64, 32, rules.float_to_float("fp64", "fp32", "odd")),
        ("dti_int64_to_fp64_odd", "wide_vector", 64, 64, rules.integer_to_float("fp64", True, "odd")),
        ("dti_uint64_to_fp64_odd", "wide_vector", 64, 64, rules.integer_to_float("fp64", False, "odd")))]
    odd.append(Row("dti_int32_to_fp64", "wide_vector", level, 32, 64, 32, [
        Case("from " + name, lambda f=name: vectors.decoder(f), lambda f=name: rules.integer_to_float("fp64", f == "int32"))
        for name in ("int32", "uint32")]))
    return odd + [
        Row("dti_fp32_to_bf16", "bf16_" + level, level, 32, 16, 64, encodings("fp32", "bf16", ALL_MODES)),
        Row("dti_bf16_to_fp32", "bf16_" + level, level, 16, 32, 64, plain(rules.float_to_float("bf16", "fp32"))),
        Row("dti_fp32_to_fp16", "hardware_vector", level, 32, 16, 64, encodings("fp32", "fp16", HARDWARE)),
        Row("dti_fp16_to_fp32", "hardware_vector", level, 16, 32, 64, plain(rules.float_to_float("fp16", "fp32"))),
        Row("dti_fp64_to_fp32", "hardware_vector", level, 64, 32, 32, encodings("fp64", "fp32", HARDWARE)),
        Row("dti_fp32_to_fp64", "hardware_vector", level, 32, 64, 32, plain(rules.float_to_float("fp32", "fp64"))),
        Row("dti_fp32_to_small", "small_vector", level, 32, 8, 64, small_cases()),
    ] + [Row("dti_fp32_to_integer", "integers_vector", level, 32, bits, 64, integer_cases(["int%d" % bits, "uint%d" % bits]))
         for bits in (8, 16, 32)] + byte_rows(level)


def table_rows(level, file):
    return [Row("dti_table", file, level, 8, bits, 64, table_cases(bits)) for bits in (8, 16, 32)]


def outcome(row, case, n, **how):
    code = vectors.module(row.file, row.level)
    width = per_unit(row)
    return vectors.run_kernel(code, name_of(row), n * width, row.source_bits, row.target_bits, case.parameters(), width, **how)


def name_of(row):
    return "%s_%s" % (row.function, row.level)


def per_unit(row):
    return 2 if row.function in ("dti_unpack4", "dti_pack4") else 1


def block_claim(row, case):
    return vectors.claim([outcome(row, case, row.block)], case.good())


def together(claims):
    """All of several claims, whose variables differ."""
    axioms, undefined, goals, inputs = [], [], [], {}
    for i, each in enumerate(claims):
        terms = each.run.axioms + each.run.undefined + [each.goal]
        pairs = [(name, z3.Const("%s_of_%d" % (name.decl().name(), i), name.sort())) for name in vectors.variables(terms)]
        axioms += [z3.substitute(term, *pairs) for term in each.run.axioms]
        undefined += [z3.substitute(term, *pairs) for term in each.run.undefined]
        goals.append(z3.substitute(each.goal, *pairs))
        inputs.update(("%s_of_%d" % (name, i), z3.substitute(term, *pairs)) for name, term in list(each.inputs.items())[:1])
    return Claim(vectors.Part(axioms, undefined), inputs, z3.And(*goals))


def lengths(row):
    return sorted({1, row.block - 1, row.block + 1, 2 * row.block - 1, 2 * row.block})


def lengths_claim(row, case):
    return vectors.claim([outcome(row, case, n) for n in lengths(row)], case.good())


def streamed_claim(row, case):
    """From an aligned place, and from one that is a unit of the result beyond, with and without prefetching."""
    near = row.target_bits // 8
    shapes = ((0, (0, 1, 4096)), (near, (0, 1, 4096)), (near, (8192, 4, 4096)), (near, (256, 1, 4096)))
    return vectors.claim([outcome(row, case, 2 * row.block + 3, streaming=streaming, misaligned=place) for place, streaming in shapes],
                         case.good())


def of_row(family, row):
    """Each case for a block; of the first one also the lengths and streaming."""
    start = "%s_%s" % (row.function, row.level)
    found = [Theorem(family, ("%s: %s" % (start, case.name)).rstrip(": "), lambda c=case: block_claim(row, c)) for case in row.cases]
    case = row.cases[0]
    also = ("%s: %s" % (start, case.name)).rstrip(": ")
    found.append(Theorem(family, also + ", lengths", lambda: lengths_claim(row, case)))
    found.append(Theorem(family, also + ", streamed", lambda: streamed_claim(row, case)))
    return found


# Casts of two steps: fp64 to fp32 rounded to odd, and then to the format, must be one rounding.


def twice_theorems(family):
    return [Theorem(family, "fp64 by way of fp32 rounded to odd to %s, %s, NaN %s" % (target, mode, nan),
                    lambda t=target, f=file, m=mode, n=nan: twice_claim(t, f, m, n))
            for target, file, modes in (("bf16", "bf16_avx512", ALL_MODES), ("fp16", "hardware_vector", HARDWARE))
            for mode in modes for nan in vectors.NANS]


def twice_claim(target, file, mode, nan):
    wide, narrow = vectors.module("wide_vector", "avx512"), vectors.module(file, "avx512")
    first = vectors.run_kernel(wide, "dti_fp64_to_fp32_odd_avx512", 32, 64, 32)
    second = vectors.run_kernel(narrow, "dti_fp32_to_%s_avx512" % target, 64, 32, 16, vectors.encoder(target, mode, "native", nan))
    return vectors.twice(first, second, rules.float_to_float("fp64", target, mode, nan))


# Packed codes: the arrays as numbers.

PACKING_LENGTHS = (1, 7, 8, 9, 63, 64, 65, 136, 200)


def code_of(terms, index, bits, high_first):
    """The code number `index` among packed bytes: lowest first, the bytes are one number with byte 0 lowest; highest first,
    with byte 0 highest and the first code at the top."""
    first = index * bits // 8
    last = (index * bits + bits - 1) // 8
    part = terms[first:last + 1]
    offset = index * bits - 8 * first
    if high_first:
        number = z3.Concat(*part) if len(part) > 1 else part[0]
        offset = number.size() - offset - bits
    else:
        number = z3.Concat(*reversed(part)) if len(part) > 1 else part[0]
    return z3.ZeroExt(8 - bits, z3.Extract(offset + bits - 1, offset, number))


def packed_bytes(n, bits):
    return (n * bits + 7) // 8


def bytes_claim(outcome, wanted):
    """That the result's bytes are these terms of the source's."""
    goals = [z3.BoolVal(None not in outcome.outputs), z3.BoolVal(len(wanted) == len(outcome.outputs))]
    for value, term in zip(outcome.outputs, wanted):
        if value is not None:
            goals += [defined(value), value.bits == term]
    return Claim(outcome.run, {str(each): each for each in outcome.inputs[:8]}, z3.And(*goals))


def unpack_claim(code, function, bits, high_first, n, streaming=None):
    parameters = vectors.NO_PARAMETERS._replace(bits=bits, high_first=high_first)
    found = vectors.run_bytes(code, function, n, packed_bytes(n, bits), n, parameters, streaming)
    return bytes_claim(found, [code_of(found.inputs, i, bits, high_first) for i in range(n)])


def pack_claim(code, function, bits, high_first, n):
    """Unpacking the result must give the low bits of each code; bits after the last code are zero."""
    parameters = vectors.NO_PARAMETERS._replace(bits=bits, high_first=high_first)
    found = vectors.run_bytes(code, function, n, n, packed_bytes(n, bits), parameters)
    if None in found.outputs:
        return bytes_claim(found, [])
    terms = [each.bits for each in found.outputs]
    goals = [defined(found.outputs), z3.BoolVal(True)]
    goals += [code_of(terms, i, bits, high_first) == z3.ZeroExt(8 - bits, z3.Extract(bits - 1, 0, found.inputs[i])) for i in range(n)]
    spare = 8 * len(terms) - n * bits
    if spare:
        goals.append((z3.Extract(spare - 1, 0, terms[-1]) if high_first else z3.Extract(7, 8 - spare, terms[-1])) == 0)
    return Claim(found.run, {str(each): each for each in found.inputs[:8]}, z3.And(*goals))


def packing_of(family, file, level, unpack, pack, widths, streamed):
    found = []
    for bits in widths:
        for high in (False, True):
            words = "%d bits, %s first, lengths" % (bits, "highest" if high else "lowest")
            found.append(Theorem(family, "%s: %s" % (unpack, words), lambda b=bits, h=high: together([
                unpack_claim(vectors.module(file, level), unpack, b, h, n) for n in PACKING_LENGTHS] + ([
                    unpack_claim(vectors.module(file, level), unpack, b, h, 200, (0, 1, 4096))] if streamed else []))))
            found.append(Theorem(family, "%s: %s" % (pack, words), lambda b=bits, h=high: together([
                pack_claim(vectors.module(file, level), pack, b, h, n) for n in PACKING_LENGTHS])))
    return found


def packing_theorems(family):
    return packing_of(family, "pack_avx512vbmi", "avx512vbmi", "dti_unpack_avx512vbmi", "dti_pack_avx512vbmi", range(1, 8), True) + \
        packing4_theorems(family, "avx512")


def packing4_theorems(family, level):
    return packing_of(family, "bytes_vector", level, "dti_unpack4_" + level, "dti_pack4_" + level, (4,), False)


# The loop over blocks.

LOOP = """
#include "kernels/x86/blocks.h"
typedef uint16_t words __attribute__((vector_size(64)));
typedef uint16_t loose __attribute__((vector_size(64), aligned(1)));
DTI_INLINE void block(const void *constants, unsigned char *dst, const unsigned char *src, bool stream)
{
    const words changed = *(const loose *)(const void *)src ^ 0x5a5a;
    (void)constants;
    if (stream)
        __builtin_nontemporal_store(changed, (words *)(void *)dst);
    else
        *(loose *)(void *)dst = changed;
}
void proof_loop(void *dst, const void *src, size_t n, const struct dti_streaming *streaming)
{
    const struct dti_blocks blocks = {block, 32, 2, 2, false};
    dti_blocks_run(blocks, 0, dst, src, n, streaming);
}
"""


def loop_run(n, place, streaming):
    run = X86Run(compiled(LOOP))
    inputs = vectors.units("x", n, 16)
    source, target = run.object("source", vectors.bytes_of(inputs)), run.object("target", [None] * (2 * n))
    run.addresses.update(source=z3.BitVecVal((1 << 40) + 2, 64), target=z3.BitVecVal((1 << 41) + place, 64))
    stream = Pointer("null", z3.BitVecVal(0, 64), False)
    if streaming:
        stream = run.object("streaming", [z3.BitVecVal(byte, 8) for byte in vectors.streaming_bytes(streaming)])
    run.call("proof_loop", [target, source, z3.BitVecVal(n, 64), stream])
    return vectors.Outcome(run, inputs, vectors.results(run, 16))


def loop_claim(numbers, places, streaming):
    """Every element is changed as its block would change it, whatever the length and the place."""
    return vectors.claim([loop_run(n, place, streaming) for n in numbers for place in places], lambda x, code: code == x ^ 0x5A5A)


def loop_theorems(family):
    every = range(97)  # to three blocks
    shapes = (("cached", every, (0,), None), ("cached, odd place", every, (1,), None), ("streamed", every, (0, 2, 62), (0, 1, 4096)),
              ("streamed, 256 ahead", every, (2,), (256, 1, 4096)), ("streamed, 8192 ahead", every, (2,), (8192, 1, 4096)),
              ("streamed, two pages", (2 * 2048 + 77,), (2,), (0, 2, 4096)), ("streamed, two far apart", (1000, 2048), (2,), (0, 2, 32768)))
    return [Theorem(family, "loop over blocks, %s" % name, lambda n=numbers, p=places, s=streaming: loop_claim(n, p, s))
            for name, numbers, places, streaming in shapes]
