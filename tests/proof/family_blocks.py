# SPDX-License-Identifier: MIT
"""The portable kernel that quantizes blocks, dti_quantize_blocks_scalar(), as a whole: a block of the format's own length in which
every number is symbolic (32 numbers of fp32), its codes and its scale. For each element format of MX and each rule for the scale:

  scale   what the rule says of the largest magnitude, for all fp32: floor(log2 amax) >= e where amax >= 2^e, ceil(log2 amax) >= e
          where amax > 2^(e-1), and so on, each a comparison with one bit pattern; clamped; 0xff with a NaN or an infinity
  code    the element's number nearest to x / 2^e, ties to even, saturating: by the two midpoints around it. x / 2^e is taken
          exactly, in a wider format: so the kernel's product in fp32, which may be subnormal, loses nothing that counts

What is claimed of a block is claimed of a largest magnitude and of any number that is not larger; that the kernel's maximum is the
maximum is a theorem of its own, for 32 and for 16 numbers. The 32 claims are one term but for the number's name, which is checked.
Packing is proved apart: in `integers`, and here for a block's own length and order."""
import bisect
import ctypes
import json
import struct
import subprocess
from fractions import Fraction

import z3

from family_integers import packed_bytes
from lanes import FORMATS, POLICIES, SOURCES, constants, floor_log2, power_of_two, right
from seeded import Bug, native
from structural import Structural, Uniform, array, equal, explained, operations, space, written
from llvm_text import NotTranslated, offset_of
from symbolic import NEAREST_EVEN, Run, Scalar, as_float, lookup
from theorem import Claim, Theorem, compiled, defined

FAMILY = "Blocks of MX, scale by each rule and codes: `quant_lanes_blocks.c`, for all numbers of a block"
C = '''
#include <stddef.h>
struct lane_blocks;
static __attribute__((noinline)) void load_tile(struct lane_blocks *t, const unsigned char *x, size_t n);
#include "kernels/quant/quant_lanes_blocks.c"
#include "kernels/cast/pack.c"
#define encode encode_array
#include "kernels/cast/lanes_encode.c"
#undef encode
static const struct dti_format formats[DTI_DTYPE_COUNT] = {
#define DTYPE(row, row_name, k, w, e, m, b, s, p) \\
    [DTI_##row] = {.name = row_name, .id = DTI_##row, .kind = DTI_KIND_##k, .specials = DTI_SPECIALS_##s, .width = w, .exp_bits = e, \\
                   .man_bits = m, .bias = b, .component = DTI_##p},
#include "core/dtype/dtypes.def"
#undef DTYPE
};
const struct dti_format *dti_format_get(enum dti_dtype id) { return &formats[id]; }
static const struct dti_block_format rows[] = {
#define BLOCK(ID, NAME, ALIASES, FAMILY, ELEMENT, CODE, SCALE, LENGTH, BYTES, SUMMARY) \\
    {.id = DTI_BLOCK_##ID, .family = DTI_BLOCKS_##FAMILY, .code = DTI_##CODE, .scale = DTI_##SCALE, .length = LENGTH, .bytes = BYTES},
#include "core/dtype/blocks.def"
};
void quantize_block(const struct dti_block_parts *parts, unsigned char *codes, unsigned char *scales, const float *x,
    struct dti_quant_count *count, unsigned block, unsigned mx, unsigned nv, unsigned division, uint32_t scale, uint32_t divisor)
{
    const struct dti_block_recipe recipe = {.format = &rows[block], .mx = mx, .nv = nv, .division = division, .tensor_scale = scale,
                                            .tensor_divisor = divisor};
    const struct dti_block_args args = {.recipe = &recipe, .parts = parts, .order = DTI_BLOCK_BYTES, .code_stride = 64, .scale_stride = 4};
    dti_quantize_blocks_scalar(&args, codes, scales, x, rows[block].length, count);
}
uint32_t largest(const float *x, unsigned n, bool *zero, float *copy)
{
    struct lane_blocks t = {.length = n};
    load_tile(&t, (const unsigned char *)x, n);
    memcpy(copy, t.x, 4 * n);
    *zero = t.zero[0];
    return t.amax[0];
}
void pack_block(unsigned char *to, const unsigned char *codes, unsigned length, unsigned bits, unsigned order)
{
    const struct dti_block_shape shape = {.length = length, .code_stride = 64, .bits = bits, .order = order};
    dti_blocks_save(&shape, to, codes, length);
}
'''
BLOCKS = [name for name, _ in (key[::-1] for key in constants() if key[0] == "parts")]  # as in blocks.def
ELEMENTS = {"mxfp8_e4m3": "fp8_e4m3fn", "mxfp8_e5m2": "fp8_e5m2", "mxfp6_e3m2": "fp6_e3m2", "mxfp6_e2m3": "fp6_e2m3",
            "mxfp4": "fp4_e2m1", "mxint8": "int8"}
RULES = ("floor", "ceil", "rceil", "even", "rfloor")  # in the order of enum dti_mx_scale
SATURATING = z3.BitVecVal(POLICIES.index(("saturate", "canonical")), 3)
INFINITY = 0x7f800000


def largest_of(name):
    """The largest number of an element format, the exponent of its leading one, and its mantissa bits."""
    if name == "mxint8":
        return Fraction(127, 64), 0, 6
    fmt = FORMATS[ELEMENTS[name]]
    most = fmt.magnitude(fmt.max_index)
    return most, floor_log2(most), fmt.man


def first_scales(name, rule):
    """For each scale code the first pattern of amax that has it or a higher one; at the end, infinity."""
    most, exponent, mantissa = largest_of(name)
    found = [0]
    for e in range(-126, 128):
        power = power_of_two(e + exponent)
        value, strict = {"floor": (power, False), "ceil": (power / 2, True), "rceil": (most * power_of_two(e - 1), True),
                         "even": (power * (1 - power_of_two(-mantissa - 2)), False), "rfloor": (most * power_of_two(e), False)}[rule]
        found.append(SOURCES["fp32"].pattern(value, strict))
    return found + [INFINITY]


def right_scale(name, rule, amax, scale):
    """scale: 8 bits."""
    first = first_scales(name, rule)
    entries = [lookup([z3.BitVecVal(value, 32) for value in values + values[-1:]], scale, 7) for values in (first[:-1], first[1:])]
    return z3.If(z3.UGE(amax, INFINITY), scale == 0xff,
                 z3.And(scale != 0xff, z3.ULE(entries[0], amax), z3.ULT(amax, entries[1])))


def quotient(run, x, scale):
    """The pattern of x / 2^(scale - 127) in fp64, exact: for mxint8 in steps of 1/64."""
    power = as_float(z3.Concat(z3.BitVecVal(0, 1), z3.BitVecVal(1023 + 127, 11) - z3.ZeroExt(3, scale), z3.BitVecVal(0, 52)))
    return Run.float_bits(run, z3.fpMul(NEAREST_EVEN, z3.fpFPToFP(NEAREST_EVEN, as_float(x), z3.FPSort(11, 53)), power), 64)


def right_step(y, code):
    """mxint8: 64 y to the nearest integer, ties to even, clamped."""
    steps = z3.fpRoundToIntegral(NEAREST_EVEN, z3.fpMul(NEAREST_EVEN, as_float(y), z3.FPVal(64, z3.FPSort(11, 53))))
    limited = z3.If(z3.fpGT(steps, z3.FPVal(127, steps.sort())), z3.FPVal(127, steps.sort()),
                    z3.If(z3.fpLT(steps, z3.FPVal(-128, steps.sort())), z3.FPVal(-128, steps.sort()), steps))
    return z3.fpToSBV(z3.RTZ(), limited, z3.BitVecSort(8)) == code


def number(value):
    return z3.BitVecVal(value, 32)


def cut_at_maximum(amax):
    """load_tile, after which the largest magnitude is any number: what it is, `the largest magnitude` proves."""
    def rule(run, _kind, arguments, path):
        own = run.calls.pop("load_tile")
        run.call("load_tile", arguments, path)
        run.calls["load_tile"] = own
        tile, pointer = run.module.types["%struct.lane_blocks"], arguments[0]
        members = [offset_of(tile, i) for i in range(len(tile[1]))]
        run.store(Scalar(amax, False), ("int", 32), pointer._replace(offset=pointer.offset + members[2]), path)
        special = z3.If(z3.UGE(amax, INFINITY), z3.BitVecVal(1, 8), z3.BitVecVal(0, 8))
        run.store(Scalar(special, False), ("int", 8), pointer._replace(offset=pointer.offset + members[5]), path)
    return {"load_tile": rule}


def block(name, run, x, mx=0, nv=0, division=0, scale=number(0x3f800000), divisor=number(0)):
    """Runs the kernel on one block; the scalars of its codes and its scale."""
    fmt = {"nvfp4": 16}.get(name, 32)
    parts = run.object("parts", [z3.BitVecVal(byte, 8) for byte in constants()["parts", name]])
    count = run.object("count", [z3.BitVecVal(0, 8)] * 24)
    run.call("quantize_block", [parts, space(run, "codes", fmt), space(run, "scales", 1), x, count, number(BLOCKS.index(name)),
                                number(mx), number(nv), number(division), scale, divisor])
    return written(run, "codes", 8), written(run, "scales", 8)[0]


def factor(scale):
    """2^(127 - scale) as fp32: what the kernel multiplies by, of a scale code of 8 bits below 255."""
    zero = z3.BitVecVal(0, 23)
    return z3.If(scale == 254, number(1 << 22), z3.Concat(z3.BitVecVal(0, 1), 254 - scale, zero))


def product(x, scale):
    """x factor(scale) in fp32, in a form in which the solver sees that one significand is 1."""
    power = z3.fpFP(z3.BitVecVal(0, 1), 254 - scale, z3.BitVecVal(0, 23))
    return z3.If(scale == 254, z3.fpMul(NEAREST_EVEN, as_float(x), as_float(number(1 << 22))), z3.fpMul(NEAREST_EVEN, as_float(x), power))


def scaled(a, b, scale):
    """a b, where one may be factor(scale)."""
    for one, other in ((a, b), (b, a)):
        if one.eq(factor(scale)):
            return product(other, scale)
    return z3.fpMul(NEAREST_EVEN, as_float(a), as_float(b))


def sum_of(a, b):
    return z3.fpAdd(NEAREST_EVEN, as_float(a), as_float(b))


def factors(term, x):
    """What x itself is multiplied by in a term."""
    others = [child for each in operations(term, "fp.mul_32", x) for child in each.children() if not child.eq(x)]
    return list({other.get_id(): other for other in others}.values())


def quantized(name, rule):
    """Two claims, cut at the scale: from amax follow the scale and, for each number, the factor; from the scale and a number, the
    code."""
    def claim():
        amax, known = z3.BitVec("amax", 32), z3.BitVec("scale", 8)
        run = Structural(compiled(C), ("fp.mul", "fp.add"), cut_at_maximum(amax))
        numbers, x = array(run, "x", 32, 32)
        codes, scale = block(name, run, x, RULES.index(rule))
        all_alike = Uniform(numbers, "x")
        all_alike.add(0, z3.And(defined(scale), right_scale(name, rule, amax, scale.bits)))
        powers = {power.get_id(): power for code, each in zip(codes, numbers) for power in factors(code.bits, each)}
        for power in powers.values():
            all_alike.add(0, z3.Implies(z3.ULT(amax, INFINITY), power == factor(scale.bits)))
        all_alike.replaced += [(power, factor(known)) for power in powers.values()]
        wanted = z3.BitVec("code", 8)
        value = quotient(run, all_alike.number, known)
        ok = right_step(value, wanted) if name == "mxint8" else right(
            SOURCES["fp64"], FORMATS[ELEMENTS[name]], "nearest-even", value, SATURATING, wanted)
        ok = z3.If(z3.UGE(amax, INFINITY), wanted == 0, ok)
        for i, code in enumerate(codes):
            all_alike.add(i, z3.substitute(z3.And(defined(code), ok), (wanted, all_alike.general(code.bits))))
            for each in run.undefined:
                all_alike.add(i, z3.Not(each))
        run.undefined = []
        (goal,) = explained(run, [all_alike.goal()], {"fp.mul_32": lambda a, b: scaled(a, b, known), "fp.add_32": sum_of})
        run.axioms += [z3.ULE(all_alike.number & 0x7fffffff, amax), known != 255]
        if name == "mxint8":  # its sum with 2^23 + 2^22 needs a quotient that is not far beyond
            run.axioms.append(z3.Or(z3.UGE(amax, INFINITY), right_scale(name, rule, amax, known)))
        return Claim(run, {"x": all_alike.number, "amax": amax, "scale": known}, goal)
    return claim


def maximum(count):
    """By induction: each step gives one of the maximum so far and the next magnitude, and is at least both."""
    def claim():
        run = Run(compiled(C))
        numbers, x = array(run, "x", count, 32)
        found = run.call("largest", [x, number(count), space(run, "zero", 1), space(run, "copy", 4 * count)])
        (zero,) = written(run, "zero", 8)
        goals = [defined(found, zero), equal(written(run, "copy", 32), numbers)]
        goals.append(zero.bits == z3.If(z3.UGE(found.bits, INFINITY), z3.BitVecVal(1, 8), z3.BitVecVal(0, 8)))
        leaves, after = [], z3.simplify(z3.Extract(30, 0, found.bits))
        goals.append(z3.Extract(31, 31, found.bits) == 0)
        so_far = z3.BitVec("so_far", 31)
        while after.decl().kind() == z3.Z3_OP_ITE:
            below = [part for part in after.children()[1:] if part.decl().kind() == z3.Z3_OP_ITE]
            step = z3.substitute(after, *[(part, so_far) for part in below])
            goals += [z3.Or(*[step == part for part in step.children()[1:]]), *[z3.UGE(step, part) for part in step.children()[1:]]]
            leaves += [part for part in after.children()[1:] if part.decl().kind() != z3.Z3_OP_ITE]
            after = below[0] if below else so_far
        sizes = [z3.Extract(30, 0, each) for each in numbers]
        if sorted(each.get_id() for each in leaves) != sorted(each.get_id() for each in sizes):
            raise NotTranslated("a maximum of other numbers")
        return Claim(run, dict(zip(map(str, numbers), numbers), so_far=so_far), z3.And(*goals))
    return claim


def packing(length, bits, order):
    def claim():
        run = Run(compiled(C))
        codes, source = array(run, "code", length, 8)
        run.call("pack_block", [space(run, "to", length * bits // 8), source, number(length), number(bits), number(order)])
        found = written(run, "to", 8)
        return Claim(run, dict(zip(map(str, codes), codes)), z3.And(defined(found), equal(found, packed_bytes(codes, bits, order))))
    return claim


def theorems(sample):
    for count in (16,) if sample else (16, 32):
        yield Theorem("blocks", "the largest magnitude of %d numbers" % count, maximum(count))
    for length, bits in ((32, 6), (32, 4), (16, 4)):
        for order in (0, 1):
            yield Theorem("blocks", "%d codes of %d bits, %s first" % (length, bits, ("low", "high")[order]), packing(length, bits, order))
    for name in ELEMENTS:
        for rule in RULES:
            if not sample or (name, rule) in (("mxfp4", "floor"), ("mxfp8_e4m3", "rceil")):
                yield Theorem("blocks", "%s, scale by %s" % (name, rule), quantized(name, rule))


# What the machine and the program show of a seeded bug.

STUBS = """
const uint32_t dti_nf4_table[16], dti_bnb_fp4_limits[DTI_BNB_FP4_LIMITS];
const uint8_t dti_bnb_fp4_order[DTI_BNB_FP4_LIMITS + 1];
"""


def as_number(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def scale_shown(program, name, rule, numbers):
    """The scale code that the program shows."""
    words = [program, "quant", *[as_number(each).hex() for each in numbers], name, "--mx-scale", rule, "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, universal_newlines=True)
    group = json.loads(done.stdout)["results"][0]["groups"][0]
    return floor_log2(Fraction(group["scale"]["exact"])) + 127


def showing(name, rule):
    """The scale of a block whose largest magnitude is amax: planted, dtinfo's, by rationals."""
    def shows(inputs, program):
        amax = inputs["amax"]
        with native(C + STUBS) as code:
            parts = ctypes.create_string_buffer(constants()["parts", name])
            codes, scale, count = (ctypes.create_string_buffer(64) for _ in range(3))
            block_of = struct.pack("<32I", amax, *[0] * 31)
            code.quantize_block(parts, codes, scale, block_of, count, BLOCKS.index(name), RULES.index(rule), 0, 0, 0x3f800000, 0)
            wrong = scale.raw[0]
        return wrong, scale_shown(program, name, rule, [amax]), bisect.bisect_right(first_scales(name, rule), amax) - 1
    return shows


KERNEL = "kernels/quant/quant_lanes_blocks.c"
SEEDED = (
    Bug("a quotient of exactly 2^e is rounded up", KERNEL, "mantissa > max", "mantissa >= max", "mxfp8_e4m3, scale by rceil", {},
        showing("mxfp8_e4m3", "rceil")),
    Bug("half a step of the next mantissa width", KERNEL, "<< (22 - man_bits)", "<< (21 - man_bits)", "mxfp6_e2m3, scale by even", {},
        showing("mxfp6_e2m3", "even")),
    Bug("the smallest scale is 2^-126", KERNEL, "exponent < -127 ? -127", "exponent < -126 ? -126", "mxfp4, scale by floor", {},
        showing("mxfp4", "floor")),
)
